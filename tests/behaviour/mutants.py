"""Mutation testing of the rules, by seed: ``python -m tests.behaviour.mutants --seed 7 --n 60``.

A mutant is the package with one small mistake in a module of rules: ``<`` for ``<=``, ``and`` for
``or``, 5 for 4. Useful tests fail with it (*killed*). A mutant that lives is either equivalent or
shows a missing test. ``--list`` prints the drawn mutants and runs nothing.

Libraries do not fit. mutmut 3.8 does not mutate constants of modules, and has no sample and no seed
(boxed/mutmut#306). It wraps every function, which breaks tools and pydantic models made from
signatures. cosmic-ray 8.7 mutates the work tree in place, runs one test command for all mutants,
and draws no sample either. Only the list of operators below would remain of both.

* Modules: ``RULES`` lists them, the one place to edit when modules move. A file gets at most three
  mutants. The draw depends on the text of a mutant, not on its place, so a module that only moved
  keeps its mutants.
* Tests: the test files that import the module, directly or indirectly, nearest first. Tests marked
  ``slow`` are left out. If the nearest files pass, the others run until the budget is spent.
* Isolation: mutants are written to a copy of the tree. At the end every test that killed a mutant
  runs once without it. If it fails then too, its mutants count as alive.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"navloom": "navloom", "navloom_worlds": "worlds/navloom_worlds"}
"""Folder of each package."""
RULES = {
    "navloom/tools": "model_output",
    "navloom/tools/capnav": "[a-s]*",
    "worlds/navloom_worlds/exporting": "capnav_release",
    "navloom/tools/navcraft": "relay_optimum task_paths relay schedule relay_task",
    "navloom/tools/navigation": "disclosures oracle_facts leaks step_options action_parser"
    " step_records oracle_triggers",
    "navloom/graphs/captions": "captioner",
    "navloom/graphs/judging": "failure_labeller reasoning_judge rubric_judge",
    "navloom/evals": "agreement quota",
    "navloom/evals/report": "intervals",
    "navloom/evals/capnav": "question_set official* answer_scoring scores",
    "navloom/evals/judging": "labelling scores",
    "navloom/evals/navcraft": "task_rules scores dataset_check",
    "navloom/evals/people": "question_results",
    "navloom/evals/navigation": "failure_[bcfw]* failure_analysis metrics path_metrics scores"
    " submission subset",
    "navloom/judges": "injection traversability verdict",
    "navloom/models": "structured_output model_call call_failure usage",
    "navloom/scenes": "region_annotation bodies distances floor_graph box_graph",
    "worlds/navloom_worlds/mend": "scene_edits",
    "worlds/navloom_worlds/homes": "viewpoint_placement",
    "navloom/sim": "caption_composer",
}
"""Folders of the packages, and globs of the modules in them that contain rules."""
MOST_A_FILE = 3
NEAREST = 6
"""Number of test files that run first; they kill most mutants."""
BUDGET_S = 180.0
TEST_S = 90

COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
SPOKEN = {"print", "warn", "debug", "info", "warning", "error", "exception", "log", "echo"}
QUIET = re.compile(r"timeout|maxsize|indent|stacklevel|width|__all__", re.IGNORECASE)
"""Names of settings that are not rules: timeouts, caches, layout."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: bytes ``start`` to ``end`` of a file replaced by ``text``."""

    file: str
    line: int
    what: str
    start: int
    end: int
    text: str
    key: str
    """Key of the draw: the function, the original code, and its number among equal ones."""

    def of(self, source: bytes) -> bytes:
        """Return the source of the file with the mistake in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


@dataclass
class Fate:
    """Result of a mutant: ``by`` is the test that failed, ``None`` if all passed."""

    mutant: Mutant
    by: str | None
    seconds: float
    whole: bool = True
    """True if every test file that reaches the module was run."""


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield ``node`` with each possible mistake."""

    def with_(**fields: object) -> ast.AST:
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        return other

    match node:
        case ast.Compare(ops=ops):
            for n, op in enumerate(ops):
                yield with_(ops=[*ops[:n], COMPARE[type(op)](), *ops[n + 1 :]])
        case ast.BoolOp(op=op):
            yield with_(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.AugAssign(op=op) | ast.BinOp(op=op) if type(op) in ARITHMETIC:
            sides = [getattr(node, name, None) for name in ("left", "right", "value")]
            # For string concatenation and paths the mutant would only crash.
            if not any(
                isinstance(s, ast.JoinedStr | ast.List | ast.Tuple) or _text(s) for s in sides
            ):
                yield with_(op=ARITHMETIC[type(op)]())
        case ast.Constant(value=int() | float() as value) if _is_rule(value):
            if isinstance(value, float) and 0 < value < 1:
                yield with_(value=round(value * 2, 6))
            else:
                yield with_(value=value + 1)
                yield with_(value=value - 1)
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield with_(func=ast.Name(CALLS[name]))
        case ast.Return(value=ast.Constant(value=bool() as value)):
            yield with_(value=ast.Constant(not value))


def _is_rule(value: float) -> bool:
    """Check that a number is no large limit and no tolerance for rounding errors."""
    return not isinstance(value, bool) and (value == 0 or 1e-5 < value < 1e6)


def _text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that may hold rules, without annotations, messages and settings."""
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.Assert():
            return
        case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test) or "__name__" in ast.unparse(
            test
        ):
            return
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in SPOKEN:
            return
        case ast.keyword(arg=str() as name) | ast.Assign(targets=[ast.Name(id=name)]) if (
            QUIET.search(name)
        ):
            return
        case ast.AnnAssign(target=target, value=value):
            if value is not None and not QUIET.search(ast.unparse(target)):
                yield value
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None)
            yield from node.body
        case ast.ClassDef():
            yield from node.body
        case _:
            yield from ast.iter_child_nodes(node)


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of one module."""
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    found: list[Mutant] = []
    seen: Counter[str] = Counter()

    def look(node: ast.AST, where: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            where = f"{where}.{node.name}"
        ways = [ast.unparse(other) for other in changes(node)]
        was = ast.unparse(node) if ways else ""
        key = f"{where}: {was}"
        seen[key] += bool(ways)
        for now in ways:
            text = now if isinstance(node, ast.stmt) else f"({now})"
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            what = f"{_short(was)}  ->  {_short(now)}"
            found.append(Mutant(file, node.lineno, what, start, end, text, f"{key} #{seen[key]}"))
        for part in _parts(node):
            look(part, where)

    look(ast.parse(source), "")
    return found


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else f"{text[:60]} ... {text[-25:]}"


def modules() -> list[Path]:
    """Return the files of ``RULES``; raise an error for a glob that matches nothing."""
    found: list[Path] = []
    for folder, names in RULES.items():
        for name in names.split():
            here = sorted((ROOT / folder).glob(f"{name}.py"))
            if not here:
                raise FileNotFoundError(f"RULES of {__file__}: no {folder}/{name}.py")
            found += here
    return list(dict.fromkeys(found))


def draw(seed: int, n: int) -> list[Mutant]:
    """Draw ``n`` mutants, at most ``MOST_A_FILE`` per file, the same for the same seed."""
    lots = []
    for path in modules():
        places: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants_of(path.relative_to(ROOT).as_posix(), path.read_bytes()):
            places[mutant.key].append(mutant)
        for key, ways in places.items():
            dice = random.Random(f"{seed}/{key}")
            lots.append((dice.random(), dice.choice(ways)))
    drawn: list[Mutant] = []
    of_file: Counter[str] = Counter()
    for _, mutant in sorted(lots, key=lambda lot: (lot[0], lot[1].file, lot[1].line)):
        if len(drawn) < n and of_file[mutant.file] < MOST_A_FILE:
            of_file[mutant.file] += 1
            drawn.append(mutant)
    return sorted(drawn, key=lambda m: (m.file, m.line, m.start))


def importers() -> dict[str, set[str]]:
    """Return, by file, the files that import it; a module name in a string counts as an import."""
    files: dict[str, str] = {}
    for folder in (*PACKAGES.values(), "tests", "worlds/tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            file = path.relative_to(ROOT).as_posix()
            name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            files[name.replace("worlds.navloom_worlds", "navloom_worlds")] = file
    back: dict[str, set[str]] = {file: set() for file in files.values()}
    for file in files.values():
        for node in ast.walk(ast.parse((ROOT / file).read_bytes())):
            match node:
                case ast.Import(names=names):
                    said = [alias.name for alias in names]
                case ast.ImportFrom(module=str() as module, names=names):
                    said = [module, *(f"{module}.{alias.name}" for alias in names)]
                case ast.Constant(value=str() as module):
                    said = [module.partition(":")[0]]
                case _:
                    continue
            for name in said:
                if name in files:
                    back[files[name]].add(file)
    return back


def seen_by(file: str, back: dict[str, set[str]]) -> list[str]:
    """Return the test files that reach a module, nearest first.

    A test file with a name like the module's comes two steps earlier.
    """
    steps, queue = {file: 0}, deque([file])
    while queue:
        here = queue.popleft()
        for other in sorted(back[here]):
            if other not in steps:
                steps[other] = steps[here] + 1
                queue.append(other)
    words = set(re.split(r"[/_.]", file))

    def distance(test: str) -> tuple[int, int, str]:
        said = Path(test).stem.removeprefix("test_")
        named = said.startswith(Path(file).stem) or Path(file).stem.startswith(said)
        return steps[test] - 2 * named, -len(words & set(re.split(r"[/_.]", test))), test

    return sorted((t for t in steps if Path(t).name.startswith("test_")), key=distance)


def pytest(tree: Path, tests: list[str], budget_s: float, *more: str) -> tuple[int | None, str]:
    """Run tests in a tree; return the exit status (``None``: out of time) and the output."""
    command = [sys.executable, "-m", "pytest", *more, "-vv", "-rfE", "--tb=no", "-m", "not slow"]
    command += [
        "-pno:cacheprovider",
        "-pno:anyio",
        "--hypothesis-seed=0",
        "--hypothesis-profile=many",
        f"--timeout={TEST_S}",
        *tests,
    ]
    packages = os.pathsep.join(map(str, (tree, tree / "worlds")))
    env = {**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}
    shutil.rmtree(tree / ".hypothesis", ignore_errors=True)
    with tempfile.TemporaryFile("w+") as said:
        run = subprocess.Popen(
            command, cwd=tree, env=env, stdout=said, stderr=said, start_new_session=True
        )
        try:
            status: int | None = run.wait(max(budget_s, 1.0))
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            status = None
        said.seek(0)
        return status, said.read()


def failures_in(said: str) -> list[str]:
    """Return the tests that failed or could not be collected, from pytest's summary."""
    return re.findall(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\w+)*)", said, re.MULTILINE)


def try_out(mutant: Mutant, tree: Path, tests: list[str], budget_s: float) -> Fate:
    """Run the tests of a mutant until one fails or the time is over."""
    path, began = tree / mutant.file, time.monotonic()
    path.write_bytes(mutant.of((ROOT / mutant.file).read_bytes()))
    by, status = None, 0
    try:
        for some in (tests[:NEAREST], tests[NEAREST:]):
            left = budget_s - (time.monotonic() - began)
            if some and by is None and status is not None:
                status, said = pytest(tree, some, left, "-x")
                if status in (1, 2):
                    by = (failures_in(said) or ["?"])[0]
                elif status == 3 and time.monotonic() - began >= TEST_S:
                    # An endless loop whose timeout broke pytest's report: blame the last test.
                    by = (re.findall(r"^(\S+?\.py(?:::\w+)+)", said, re.M) or some)[-1]
                elif status not in (0, 5, None):
                    raise SystemExit(f"pytest ended with {status} for {mutant}:\n{said}")
    finally:
        shutil.copy2(ROOT / mutant.file, path)
    return Fate(mutant, by, time.monotonic() - began, status is not None)


def line_of(fate: Fate) -> str:
    """Format a mutant and its result as one line."""
    lived = "LIVED" if fate.whole else "LIVED (not all tests in the time given)"
    mutant = fate.mutant
    end = f"killed by {fate.by}" if fate.by else lived
    return f"{mutant.file}:{mutant.line}: {mutant.what}: {end} ({fate.seconds:.0f} s)"


def run(drawn: list[Mutant], jobs: int, budget_s: float) -> list[Fate]:
    """Run all mutants, with one copy of the tree per job, and recheck every killing test once."""
    back = importers()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        leave = shutil.ignore_patterns(
            ".git", ".*_cache", ".hypothesis", ".venv", "__pycache__", "/runs"
        )
        for n in range(jobs):
            free.put(Path(shutil.copytree(ROOT, Path(folder) / str(n), ignore=leave)))

        def one(mutant: Mutant) -> Fate:
            tree = free.get()
            try:
                fate = try_out(mutant, tree, seen_by(mutant.file, back), budget_s)
            finally:
                free.put(tree)
            print(line_of(fate), flush=True)
            return fate

        with ThreadPoolExecutor(jobs) as pool:
            fates = list(pool.map(one, drawn))
        killers = sorted({fate.by for fate in fates if fate.by})
        status, said = pytest(free.get(), killers, 60.0 + 30.0 * len(killers))
        broken = set(killers) if status is None else set(failures_in(said))
    for fate in fates:
        if fate.by in broken:
            print(f"{fate.by} fails without the mutant too")
            fate.by = None
    return fates


def main() -> int:
    """Run the command; return 0 if at most one mutant in twelve lives (55 of 60 are killed)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds a mutant")
    parser.add_argument("--only", default="", help="a pattern for file:line")
    parser.add_argument("--list", action="store_true", help="show the draw, run nothing")
    parser.add_argument("--out", type=Path, help="the fates as JSON")
    asked = parser.parse_args()
    drawn = [m for m in draw(asked.seed, asked.n) if re.search(asked.only, f"{m.file}:{m.line}:")]
    if asked.list:
        for mutant in drawn:
            print(f"{mutant.file}:{mutant.line}: {mutant.what}")
        return 0
    began = time.monotonic()
    fates = run(drawn, asked.jobs, asked.budget)
    lived = [fate for fate in fates if fate.by is None]
    if asked.out:
        asked.out.write_text(json.dumps([asdict(fate) for fate in fates], indent=1))
    for fate in lived:
        print(line_of(fate))
    minutes = (time.monotonic() - began) / 60
    print(f"seed {asked.seed}: {len(fates) - len(lived)} of {len(fates)} killed, {minutes:.0f} min")
    return int(len(lived) > len(fates) / 12)


if __name__ == "__main__":
    sys.exit(main())
