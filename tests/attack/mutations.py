"""Damaged input files: whatever a file contains, a command ends with a message and an exit code.

Each try changes one file, runs one command on it in this process, and restores the folder.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer

import navloom.cli.main as door
from navloom.errors import NavloomError
from tests.attack.attack import Attack
from tests.attack.handed import HANDED, Handed, typed
from tests.attack.mutators import Mutator, in_checked_lines

HANG_S = 10.0
"""Limit of processor time in seconds; other processes on the machine do not count."""
_BLOCKED_S = 60.0
"""Limit of wall time in seconds, for a command that waits without working."""
_SLOW = 0.04
MOST_MIB = 600
"""Limit of the growth of this process's peak memory in one try."""
_ENDS = (0, 1, 2)
_APP = typer.main.get_command(door.app)
_NAMES = ("NAVLOOM_", "VLLM_", "XDG_")


class HungError(BaseException):
    """Raised when a command takes too long."""


def _tries(kind: Handed, folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    whole, here = folder / "whole", folder / "here"
    whole.mkdir()
    with contextlib.chdir(whole), alone():
        kind.write()
    handed = [path for path in sorted(whole.rglob("*")) if ".cache" not in path.parts]
    files = [path for path in handed if path.is_file() and _ways(kind, path)]
    _warm(kind, whole, here, files[0].relative_to(whole))
    for _ in range(tries):
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(whole, here)
        file = dice.choice(files)
        way = dice.choice(_ways(kind, file))
        name = file.relative_to(whole)
        if file.name in ("samples.jsonl", "errors.jsonl") and dice.random() < 0.7:
            way = in_checked_lines(_key(file.parent))
        # Where the damage is drawn says which try it was, also where dice change elsewhere.
        own = dice.getrandbits(64)
        data = way(file.read_bytes(), random.Random(own))
        (here / name).write_bytes(data)
        command = _command(kind, name, dice)
        with contextlib.chdir(here), alone():
            said = _said(command, kind.typed)
        if said:
            keep = os.environ.get("ATTACK_KEEP")
            if keep:
                kept = Path(keep) / f"{kind.name.replace(' ', '-')}-{own:016x}"
                shutil.copytree(here, kept, dirs_exist_ok=True)
            said = f"navloom {command}: {name}, {_name(way)} {own:#x}: {said}"
        yield said


def _warm(kind: Handed, whole: Path, here: Path, name: Path) -> None:
    """Run each slow command once on intact files, so that imports and caches do not count."""
    for line in kind.slow:
        shutil.copytree(whole, here)
        filled = line.format(**_fits(name))
        quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
        with contextlib.chdir(here), alone(), quiet[0], quiet[1], typed(*kind.typed):
            called(filled)
        shutil.rmtree(here)


def _ways(kind: Handed, path: Path) -> Sequence[Mutator]:
    found = (ways for pattern, ways in kind.ways.items() if path.match(pattern))
    return next(found, ()) if path.name != ".lock" else ()


def _command(kind: Handed, name: Path, dice: random.Random) -> str:
    """Draw a command that reads this file, if one names it or its folder."""
    fits = _fits(name)
    fast = [*kind.commands, *kind.readers]
    some = kind.slow if not fast or (kind.slow and dice.random() < _SLOW) else fast
    lines = [each.format(**fits) for each in some]
    naming = [each for each in lines if {str(name), *name.parts} & set(each.split())]
    return dice.choice(naming or lines)


def _fits(name: Path) -> dict[str, object]:
    return {"file": name, "stem": name.stem, "top": name.parts[0], "run": name.parent}


def _key(run: Path) -> bytes:
    return str(json.loads((run / "run.json").read_text()).get("line_check", "")).encode()


def _name(way: Mutator) -> str:
    return getattr(way, "__name__", "within")


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Hide the user's keys, addresses, caches and settings, and undo changes to them."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(_NAMES) or name.endswith(("_API_KEY", "_BASE_URL")):
            del os.environ[name]
    os.environ |= {"NAVLOOM_NO_CACHE": "1", "NAVLOOM_DEBUG": "1", "HOME": str(Path.cwd())}
    try:
        # Commands are made once, and not for each try.
        with patch.object(door, "app", _APP):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def called(line: str) -> int:
    """Run a command, or one reader only, and return the exit code."""
    first, *rest = line.split()
    module, colon, name = first.partition(":")
    if not colon:
        return door.main(line.split())
    try:
        getattr(import_module(module), name)(*map(Path, rest))
    except NavloomError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _said(line: str, lines: Sequence[str]) -> str | None:
    """Return a command's forbidden behaviour; None if it kept to messages and exit codes."""
    out, err, began = io.StringIO(), io.StringIO(), time.process_time()
    before, code = _peak(), None
    try:
        to = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with _stopped_in_time(), to[0], to[1], typed(*lines):
            code = called(line)
    except HungError as error:
        return f"hung: {error}"
    except BaseException as error:
        steps = traceback.extract_tb(error.__traceback__)
        where = [f"{step.filename}:{step.lineno}" for step in steps if "/navloom/" in step.filename]
        return f"raised {type(error).__name__}: {str(error)[:200]} {where[-1:]}"
    text = err.getvalue()
    if code not in _ENDS or "Traceback" in text:
        lines_said = [each.strip() for each in text.splitlines() if each.strip()]
        where = [each for each in lines_said if "navloom/" in each and each.startswith("File")]
        return f"exit code {code}: {lines_said[-1:]} {where[-1:]}"
    if (seconds := time.process_time() - began) > HANG_S:
        return f"worked {seconds:.0f} s"
    if (grown := _peak() - before) > MOST_MIB:
        return f"took {grown:.0f} MiB"
    if code == 1 and not text.strip() and not out.getvalue().strip():
        return "said nothing of what is wrong"
    return None


@contextlib.contextmanager
def _stopped_in_time() -> Iterator[None]:
    """Raise HungError if the block works or waits too long."""

    def hung(number: int, _: Any) -> None:
        worked = number == signal.SIGPROF
        raise HungError(f"{HANG_S:g} s of work" if worked else f"{_BLOCKED_S:g} s by the clock")

    before = [(each, signal.signal(each, hung)) for each in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, HANG_S)
    signal.setitimer(signal.ITIMER_REAL, _BLOCKED_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for each, handler in before:
            signal.signal(each, handler)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


ATTACKS: tuple[Attack, ...] = tuple(
    Attack(
        name=f"mutated {kind.name}",
        promise="no traceback, no hang, bounded memory",
        tries=partial(_tries, kind),
        whole=10_000,
        share=150,
    )
    for kind in HANDED
)
