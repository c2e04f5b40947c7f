"""The structure of the code: no import circles, names that mean one thing, sizes in a budget.

Sizes are in ``tests/budget.toml``. Layers and subjects are import-linter's contracts
(``pyproject.toml``, run by ``make lint``). What it has no contract for is checked here.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import grimp
import networkx as nx
import pytest

import navloom
from tests.behaviour import files_entered

REPOSITORY = Path(navloom.__file__).parents[1]
PACKAGES = (REPOSITORY / "navloom", REPOSITORY / "worlds" / "navloom_worlds")
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
BUDGET = tomllib.loads((REPOSITORY / "tests" / "budget.toml").read_text(encoding="utf-8"))
_COMMANDS_FOLDER = "cli"
_REGISTERED = {("navloom.evals.run_kinds", "KINDS")}


def circles(package: str, named_in: str | None = None) -> list[list[str]]:
    """Modules that import each other, imports under ``TYPE_CHECKING`` and in functions counted.

    Args:
        package: the package to look at.
        named_in: a part of it in which a string that names a module counts as an import of it, by
            whatever function: ``"package.module"``, ``"package.module:name"``, or ``".module"``.
            Docstrings do not count. The table of kinds of runs (``_REGISTERED``) does not count
            either: an entry of a registry imports its registry, as an entry of another package's
            would. Everything that an entry names in turn with ``lazy_function("module:name")``
            counts.
    """
    graph = grimp.build_graph(package, exclude_type_checking_imports=False, cache_dir=None)
    arrows = nx.DiGraph(
        (one, other)
        for one in graph.modules
        for other in graph.find_modules_directly_imported_by(one)
    )
    root = Path(importlib.import_module(package).__file__ or "").parent.parent
    for one in graph.modules:
        file = root.joinpath(*one.split(".")).with_suffix(".py")
        if named_in is not None and f"{one}.".startswith(f"{named_in}.") and file.is_file():
            arrows.add_edges_from((one, each) for each in _named(one, file) & graph.modules)
    return sorted(
        sorted(each) for each in nx.strongly_connected_components(arrows) if len(each) > 1
    )


def _named(module: str, file: Path) -> set[str]:
    """What the strings of a file name, if they name modules."""
    found, nodes = set(), [ast.parse(file.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Assign) and (module, ast.unparse(node.targets[0])) in _REGISTERED:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            found.add(f"{module.rpartition('.')[0]}{name}" if name[:1] == "." else name)
        nodes += [
            each
            for each in ast.iter_child_nodes(node)
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        ]
    return found


def repeated(*packages: Path) -> dict[str, list[str]]:
    """Basenames that stand in several places, each with its places; a command's file is its own."""
    places = defaultdict(list)
    for file, package in ((f, p) for p in packages for f in sorted(p.rglob("*.py"))):
        where = file.relative_to(package)
        if file.name != "__init__.py" and where.parts[0] != _COMMANDS_FOLDER:
            places[file.stem].append(str(where))
    return {name: found for name, found in places.items() if len(found) > 1}


def vocabulary(page: str) -> dict[str, str]:
    """The table under "Words for files" of CONTRIBUTING: a basename, and what it means."""
    section = page.split("## Words for files", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.+?) \|$", section, re.MULTILINE))


def test_nothing_imports_in_a_circle() -> None:
    assert circles("navloom", named_in="navloom.evals") == circles("navloom_worlds") == []


def test_a_circle_would_be_seen(tmp_path: Path, monkeypatch) -> None:
    made = tmp_path / "ringed"
    made.mkdir()
    (made / "__init__.py").touch()
    (made / "one.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import ringed.two\n"
    )
    (made / "two.py").write_text("def late():\n    import ringed.one\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert circles("ringed") == [["ringed.one", "ringed.two"]]


@pytest.mark.parametrize("name", ["ringed.one", "ringed.one:Name", ".one"])
def test_a_circle_through_a_string_would_be_seen(name: str, tmp_path: Path, monkeypatch) -> None:
    made = tmp_path / "ringed"
    made.mkdir()
    (made / "__init__.py").touch()
    (made / "one.py").write_text('"""Not an import: ringed.two"""\nimport ringed.two\n')
    (made / "two.py").write_text(f'def late():\n    """{name}"""\n    import_module("{name}")\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "ringed", raising=False)
    assert circles("ringed") == []
    assert circles("ringed", named_in="ringed") == [["ringed.one", "ringed.two"]]


def test_a_basename_that_repeats_is_in_the_vocabulary() -> None:
    known = vocabulary(CONTRIBUTING.read_text(encoding="utf-8"))
    strangers = {name: found for name, found in repeated(*PACKAGES).items() if name not in known}
    assert strangers == {}


def test_the_vocabulary_defines_each_word_and_only_words_in_use() -> None:
    known = vocabulary(CONTRIBUTING.read_text(encoding="utf-8"))
    stems = Counter(file.stem for package in PACKAGES for file in package.rglob("*.py"))
    assert all(meaning.strip() for meaning in known.values())
    assert [word for word in known if stems[word] < 2] == []


def test_a_stranger_among_the_basenames_would_be_seen(tmp_path: Path) -> None:
    for folder in ("tools/one", "graphs/two"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "helpers.py").touch()
    assert repeated(tmp_path) == {"helpers": ["graphs/two/helpers.py", "tools/one/helpers.py"]}


def test_no_function_outgrows_a_reader() -> None:
    """A function of over 110 lines does not fit on a screen."""
    assert [f"{name}: {lines}" for name, lines in _functions() if lines > 110] == []


def _functions() -> Iterator[tuple[str, int]]:
    for file in (f for p in PACKAGES for f in p.rglob("*.py")):
        # What stands inside a function is no longer than that function.
        nodes = list(ast.parse(file.read_text(encoding="utf-8")).body)
        for node in nodes:
            nodes += getattr(node, "body", []) if isinstance(node, ast.ClassDef | ast.If) else []
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                yield f"{file.relative_to(REPOSITORY)} {node.name}", lines


def test_every_folder_says_what_it_is_for() -> None:
    silent = [
        str(file)
        for package in PACKAGES
        for file in package.rglob("__init__.py")
        if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert silent == []


def sources() -> list[Path]:
    """The .py files of all packages."""
    return sorted(file for package in PACKAGES for file in package.rglob("*.py"))


def lines_of(files: Iterable[Path]) -> dict[Path, int]:
    """How many lines each file has."""
    return {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}


def over_size(lines: Mapping[Path, int], budget: Mapping[str, Any]) -> list[str]:
    """What of the sizes of files breaks the budget, in words."""
    files, most = budget["files"], budget["lines"]
    agents = sum(n for file, n in lines.items() if PACKAGES[0] in file.parents)
    mean = sum(lines.values()) / len(lines)
    found = [f"{file}: {n} lines" for file, n in lines.items() if n > files["most_lines"]]
    if mean < files["mean_lines"]:
        found.append(f"mean lines per file: {mean:.1f}, at least {files['mean_lines']}")
    if sum(lines.values()) > most["total"]:
        found.append(f"lines in all: {sum(lines.values())}, at most {most['total']}")
    if agents > most["navloom"]:
        found.append(f"lines in navloom: {agents}, at most {most['navloom']}")
    return found


_CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)


def repeated_classes(files: Iterable[Path], budget: Mapping[str, Any]) -> dict[str, list[str]]:
    """Class names that more files define than the budget allows, each with its files."""
    places = defaultdict(list)
    for file in files:
        for name in _CLASS.findall(file.read_text(encoding="utf-8")):
            places[name].append(file.name)
    allowed = budget["classes"]
    return {
        name: found
        for name, found in places.items()
        if len(found) > allowed["places"] and name not in allowed["repeated"]
    }


def test_files_and_packages_keep_to_their_sizes() -> None:
    assert over_size(lines_of(sources()), BUDGET) == []


def test_data_files_keep_to_their_size() -> None:
    data = [f for p in PACKAGES for end in ("yaml", "json", "js") for f in p.rglob(f"*.{end}")]
    assert sum(lines_of(data).values()) <= BUDGET["data"]["total"]


def test_a_class_name_means_one_thing() -> None:
    assert repeated_classes(sources(), BUDGET) == {}


_QUESTION = re.compile(r"(?:What|Whether|How|Where|Which|Who|Whose|Whom|When|Why)\b")


def indirect_docstrings(files: Iterable[Path]) -> list[str]:
    """Docstrings that open with a question word; a module's, a class's or a function's."""
    return [
        f"{file}: {docstring.splitlines()[0]}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and _QUESTION.match(docstring := ast.get_docstring(node) or "")
    ]


def test_docstrings_say_what_a_thing_is_or_does() -> None:
    assert indirect_docstrings(sources()) == []


@pytest.mark.parametrize("word", ["What", "Whether", "How", "Where", "Which", "Who"])
def test_a_docstring_that_opens_with_a_question_would_be_seen(word: str, tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(f'"""A module."""\ndef whatever():\n    """{word} it is."""\n')
    assert indirect_docstrings([file]) == [f"{file}: {word} it is."]


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(BUDGET["entered"]))
def test_one_command_enters_few_files(case: str) -> None:
    assert len(files_entered.measure(case)) <= BUDGET["entered"][case]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"files": {"mean_lines": 1, "most_lines": 10}}, "11 lines"),
        ({"files": {"mean_lines": 12, "most_lines": 800}}, "mean lines per file: 11.0"),
        ({"lines": {"total": 10, "navloom": 91_000}}, "lines in all: 11, at most 10"),
        ({"lines": {"total": 140_000, "navloom": 10}}, "lines in navloom: 11, at most 10"),
    ],
)
def test_each_size_would_be_seen(changed: dict[str, Any], words: str) -> None:
    plain = {"files": {"mean_lines": 1, "most_lines": 800}, "lines": BUDGET["lines"]}
    found = over_size({PACKAGES[0] / "one.py": 11}, {**plain, **changed})
    assert len(found) == 1
    assert words in found[0]


def test_a_class_name_of_two_files_would_be_seen(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.py" for name in ("one", "two")]
    for file in files:
        file.write_text("class Place: ...\nclass State: ...\n")
    assert repeated_classes(files, BUDGET) == {"Place": ["one.py", "two.py"]}
