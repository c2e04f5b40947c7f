"""Count the files that one command enters: ``python -m tests.behaviour.files_entered [--list]``.

A file counts if a function, method, lambda or comprehension defined in a file of a package
(``navloom/``, ``worlds/navloom_worlds/``) is called, in any thread. Code that runs at import is
left out: module and class bodies, and all calls made while the body of a Navloom module runs
(decorators, tables built once). Code that ``dataclass`` and pydantic generate belongs to no file.

Each case has its own process and home folder, without a reply cache, as in the tests. Its homes,
meshes and visibility are in the cache, because the case runs once before. A case enters through the
command line only:

- synth: one sample of ``navloom synth single demo:house``, from the command to the exit code;
- eval: one episode of ``navloom eval scene demo:house``, likewise;
- chat: one message to ``navloom chat demo:house``, from reading it to the robot's answer;
- page: one episode of a finished ``navloom eval scene home:1`` in the app of ``navloom view``: the
  five documents that a browser requests.

``--list`` adds the files in the order of their first calls, with their calls and functions.
"""

from __future__ import annotations

import argparse
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = (
    f"{REPOSITORY / 'navloom'}{os.sep}",
    f"{REPOSITORY / 'worlds' / 'navloom_worlds'}{os.sep}",
)
MESSAGE, REPLY = "go to the kitchen\n", "robot: "
LIMITS = tomllib.loads((REPOSITORY / "tests" / "budget.toml").read_text("utf-8"))["entered"]
"""Maximum number of files per case, checked by ``tests/test_structure.py``."""
WORDS = {
    "synth": "synth single demo:house --n 1 --model builtin/heuristic --out first --display none",
    "eval": "eval scene demo:house --n 1 --agent heuristic",
    "chat": "chat demo:house",
    "page": "view run",
}
BEFORE = "eval scene home:1 --n 1 --agent heuristic --out run --display none"
"""Command that prepares the run of the page case; it is not counted."""

Calls = dict[str, Counter[str]]
"""Number of calls of each function, by file, in the order of first calls."""


def _short(file: str) -> str:
    """Return a file's path relative to its package; of navloom_worlds, relative to ``worlds``."""
    return file.removeprefix(PACKAGES[0]).removeprefix(f"{REPOSITORY / 'worlds'}{os.sep}")


class Profiler(threading.local):
    """Profile function for ``sys.setprofile``; each thread has its own import depth."""

    calls: Calls = {}  # noqa: RUF012  shared by all threads
    on = False
    """Set on the class, so that all threads share it."""

    def __init__(self) -> None:
        self.importing = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(PACKAGES):
            return
        if code.co_name == "<module>":
            self.importing += 1 if event == "call" else -1
        elif (
            event == "call"
            and Profiler.on
            and not self.importing
            and code.co_flags & inspect.CO_OPTIMIZED  # a class body is not
        ):
            function = code.co_qualname.partition(".<locals>")[0]
            self.calls.setdefault(_short(code.co_filename), Counter())[function] += 1


class Person(io.StringIO):
    """Stdin with one message; reading it starts the count."""

    def read(self, size: int | None = -1, /) -> str:
        Profiler.on = True
        return super().read(size)

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        Profiler.on = True
        return super().readline(size)


class Screen(io.StringIO):
    """Stdout; the robot's first answer ends the count."""

    def write(self, text: str, /) -> int:
        if text.startswith(REPLY):
            Profiler.on = False
        return super().write(text)


def count(case: str) -> Calls:
    """Count the calls of a case in this process, by file."""
    profiler, screen = Profiler(), Screen()
    sys.argv, sys.stdin = ["navloom", *WORDS[case].split()], Person(MESSAGE)
    Profiler.on = case not in ("chat", "page")
    threading.setprofile(profiler)
    sys.setprofile(profiler)
    try:
        from navloom.cli import main as door

        with redirect_stdout(screen):
            code = look() if case == "page" else door.main()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert not code, f"{case} ended with {code}"
    assert str(door.__file__).startswith(PACKAGES), f"another Navloom: {door.__file__}"
    assert case != "chat" or REPLY in screen.getvalue(), screen.getvalue()
    return profiler.calls


def look() -> int:
    """Request the documents of an episode's page, as a browser does."""
    from starlette.testclient import TestClient

    from navloom.web.app import make_app
    from navloom.web.documents import Documents
    from navloom.web.source_discovery import open_sources

    documents, token = Documents(open_sources(["run"], print)), "a-token-of-this-script"
    app = make_app(documents, token=token, port=8765)
    page = TestClient(app, "http://localhost:8765", headers={"X-Navloom-Token": token})

    def doc(path: str) -> Any:
        answer = page.get(f"/doc/{path}.json")
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return answer.json()

    Profiler.on = True
    doc("list"), doc("source/0")
    (row,) = doc("source/0/rows/0")
    shown = json.dumps(doc(f"source/0/sample/{row[0]}"))
    key = shown.partition('"plan": "')[2].partition('"')[0]
    assert doc(f"plan/{key}"), "no plan"
    Profiler.on = False
    return 0


def measure(case: str) -> Calls:
    """Count the calls of a case in a new process with its own home folder, by file."""
    with tempfile.TemporaryDirectory() as root:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("NAVLOOM_", "XDG_"))}
        told = {
            "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'worlds'}",
            "NAVLOOM_NO_CACHE": "1",
            "NAVLOOM_CACHE": root,
        }
        for name in ("before", "counted"):
            # The page case shows the run made before; the other cases start in a new folder.
            home = Path(root, "home" if case == "page" else name)
            home.mkdir(exist_ok=True)
            words = ["-m", __spec__.name, "--case", case]
            if case == "page" and name == "before":
                words = ["-m", "navloom.cli.main", *BEFORE.split()]
            done = subprocess.run(
                [sys.executable, *words],
                env={**kept, **told, "HOME": str(home)},
                cwd=home,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
    return {file: Counter(calls) for file, calls in json.loads(done.stdout).items()}


def main() -> None:
    """Print the table of cases and their numbers of files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="the files, too")
    parser.add_argument("--case", choices=WORDS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        print(json.dumps(count(asked.case)))
        return
    found = {case: measure(case) for case in WORDS}
    print(f"{'case':6}{'files':>6}{'in cli':>8}{'limit':>7}")
    for case, files in found.items():
        inside = sum(file.startswith(f"cli{os.sep}") for file in files)
        print(f"{case:6}{len(files):6}{inside:8}{LIMITS[case]:7}")
    for case, files in found.items() if asked.list else ():
        print(f"\n{case}: navloom {WORDS[case]}\n    calls functions file")
        for place, (file, calls) in enumerate(files.items(), 1):
            names = f"  ({', '.join(calls)})" if len(calls) <= 3 else ""
            print(f"{place:3}{calls.total():7}{len(calls):5}  {file}{names}")


if __name__ == "__main__":
    main()
