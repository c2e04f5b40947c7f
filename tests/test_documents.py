"""What the documents say is true: commands and Python run, links lead somewhere."""

from __future__ import annotations

import doctest
import itertools
import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.models import get_model
from navloom.testing import ModelServer, reply_with
from tests.cli.help_page import page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CHECKED = [*PAGES, ROOT / "CHANGELOG.md"]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KEYS = {"OPENAI_API_KEY": "k" * 24}


@dataclass(frozen=True)
class Size:
    """For how much a page's command is run, where that is less than it says."""

    homes: int
    most: dict[str, int]


FEW = Size(1, {"--n": 2, "--limit": 1})
SOME = Size(2, {"--n": 4, "--questions": 6, "--limit": 2})
HOMES = re.compile(r"^home:(\d+)-(\d+)$")


def small(words: list[str], size: Size | None) -> list[str]:
    """The same command for few samples; a calibration cannot do with fewer than its page's."""
    if size is None or "calibrate" in words:
        return words

    def less(before: str, word: str) -> str:
        if (homes := HOMES.match(word)) is not None:
            first, last = int(homes[1]), int(homes[2])
            return f"home:{first}-{min(last, first + size.homes - 1)}"
        return str(min(int(word), size.most[before])) if before in size.most else word

    return [less(before, word) for before, word in itertools.pairwise(["", *words])]


def commands(block: str) -> list[list[str]]:
    return [shlex.split(os.path.expandvars(line)) for line in block.splitlines()]


def blocks() -> Iterator[object]:
    """The README's blocks for few samples, and as they stand with the slow tests; others' there.

    The README's studies, what looks at homes, and what is made of real data are only run as they
    stand. Other pages' blocks are run for some samples.
    """
    slow = [pytest.mark.slow, pytest.mark.timeout(1200)]
    for path in PAGES:
        for number, match in enumerate(FENCED.finditer(path.read_text("utf-8"))):
            if match.group(1) != "sh":
                continue
            block, name = match.group(2), f"{path.relative_to(ROOT)}:{number}"
            marks = [pytest.mark.realdata] if "NAVLOOM_DATA" in block else []
            long = bool(marks) or "navloom study" in block
            if path != PAGES[0]:
                yield pytest.param(block, SOME, id=name, marks=[*marks, *slow])
                continue
            few = not long and "navloom scenes" not in block
            if few:
                yield pytest.param(block, FEW, id=name)
            if not few or any(small(words, FEW) != words for words in commands(block)):
                # Fifty homes take minutes on one core.
                yield pytest.param(block, None, id=f"{name} as it stands", marks=[*marks, *slow])


@pytest.mark.parametrize(("block", "size"), list(blocks()))
def test_commands_run(
    block: str,
    size: Size | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if "NAVLOOM_DATA" in block:
        request.getfixturevalue("data_dir")
    monkeypatch.chdir(tmp_path)
    with ModelServer(reply_with(get_model("builtin/heuristic"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        for words in commands(block):
            match small(words, size):
                case ["export", setting]:
                    name = setting.partition("=")[0]
                    monkeypatch.setenv(name, KEYS.get(name) or os.environ[name])
                case ["make", target]:
                    made = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True)
                    assert made.returncode == 0, made.stderr.decode()
                case ["navloom", *arguments]:
                    assert main(arguments) == 0, words
                case _:
                    pytest.fail(f"a document names a command that no test knows: {words}")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path != PAGES[0] else []) for path in PAGES],
    ids=[str(path.relative_to(ROOT)) for path in PAGES],
)
def test_python_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after another, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    typed: dict[str, object] = {"__name__": "document"}
    for match in FENCED.finditer(path.read_text("utf-8")):
        if match.group(1) == "python":
            exec(compile(match.group(2), str(path), "exec", dont_inherit=True), typed)


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text("utf-8"))
    missing = [t for t in targets if "://" not in t and not (path.parent / t).exists()]
    assert not missing


def anchors(path: Path) -> set[str]:
    """What its headings are called in an address, as GitHub and the site make it."""
    found: Counter[str] = Counter()
    for heading in re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text("utf-8")), re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[slug] += 1
        if found[slug] > 1:
            found[f"{slug}-{found[slug] - 1}"] += 1
    return set(found)


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_headings(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*\.md|)#([^)]+)\)", path.read_text("utf-8"))
    missing = [f"{t}#{a}" for t, a in links if a not in anchors(path.parent / t if t else path)]
    assert not missing


SHOWN = [
    ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    for root, package in ((ROOT, "navloom"), (ROOT / "worlds", "navloom_worlds"))
    for file in sorted((root / package).rglob("*.py"))
    if ">>> " in file.read_text("utf-8")
]


@pytest.mark.parametrize("module", SHOWN)
def test_examples_in_docstrings_run(module: str) -> None:
    if module.startswith("navloom_worlds"):
        pytest.importorskip("navloom_worlds")
    found = doctest.testmod(import_module(module))
    assert found.attempted
    assert not found.failed


def test_every_page_is_in_the_site() -> None:
    """In a list at the end of the first page, which has titles of its own for some."""
    listed = re.findall(
        r"^(?:.+ <)?([\w/-]+)>?$", (ROOT / "docs/index.md").read_text("utf-8"), re.M
    )
    pages = {
        str(p.relative_to(ROOT / "docs").with_suffix(""))
        for p in PAGES
        if p.is_relative_to(ROOT / "docs")
    }
    assert pages - {"index"} <= set(listed)


def test_help_page_is_the_help() -> None:
    assert (ROOT / "docs/cli.md").read_text("utf-8") == page(), (
        "the command line changed: .venv/bin/python -m tests.cli.help_page > docs/cli.md"
    )


def test_every_room_has_a_page() -> None:
    rooms = {p.parent.name for p in (ROOT / "navloom").glob("*/__init__.py")} - {"testing"}
    assert rooms <= {path.stem for path in PAGES}


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs/img").iterdir():
        assert picture.stat().st_size < 500_000, picture
