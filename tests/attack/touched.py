"""Modified files must be detected: no changed line counts, and no conversation becomes another."""

from __future__ import annotations

import contextlib
import io
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.attack.attack import Attack
from tests.attack.handed import LINES, PAGES, done, typed
from tests.attack.mutations import alone, called

_EXPORT = "export run --out tasks.jsonl"
_CHAT = "chat demo:flat --thread t --threads . --display none"


def _ended(command: str, *lines: str) -> tuple[int, str, str]:
    """Run a command and return its exit code, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), typed(*lines):
        return called(command), out.getvalue(), err.getvalue()


def _counted(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    """Damage lines of a run; the export must have lines that the run wrote, or nothing."""
    with contextlib.chdir(folder), alone():
        done("synth single demo:flat --n 4 --out run --display none")
        done(_EXPORT)
        samples, made = Path("run/samples.jsonl"), Path("tasks.jsonl")
        whole, right = samples.read_bytes(), set(made.read_bytes().splitlines())
        for _ in range(tries):
            way = dice.choice(LINES)
            samples.write_bytes(way(whole, dice))
            made.unlink(missing_ok=True)
            code, _, err = _ended(_EXPORT)
            if code == 0:
                strange = set(made.read_bytes().splitlines()) - right
                yield f"{way.__name__}: exported {strange}" if strange else None
            else:
                named = f"{samples} line " in err or f"{samples} holds the id" in err
                yield None if named and err.count("\n") == 1 else f"{way.__name__}: {err[:200]}"


def _remembered(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    """Damage a conversation's file; it must open unchanged, or be kept aside with a message."""
    with contextlib.chdir(folder), alone():
        _ended(_CHAT, "go to the kitchen", "go to the study")
        file = Path("t.sqlite")
        _, right, _ = _ended(_CHAT, "where are you?")
        shutil.copyfile(file, "whole")
        whole = Path("whole").read_bytes()
        _, right, _ = _ended(_CHAT, "where are you?")
        for _ in range(tries):
            for path in Path().glob("t.sqlite*"):
                path.unlink()
            way = dice.choice(PAGES)
            changed = way(whole, dice)
            file.write_bytes(changed)
            code, out, err = _ended(_CHAT, "where are you?")
            aside = Path("t.sqlite.broken-1")
            if code == 0:
                # A file without a byte is one that was just made.
                yield None if out == right or not changed else f"{way.__name__}: said {out[:200]!r}"
            elif aside.exists():
                kept = aside.read_bytes() == changed and f"kept as {aside}" in err
                yield None if kept else f"{way.__name__}: {err[:200]}"
            else:
                yield None if "t.sqlite" in err or "'t'" in err else f"{way.__name__}: {err[:200]}"


ATTACKS: tuple[Attack, ...] = (
    Attack("touched lines of a run", "none is exported", _counted, 10_000, 150),
    Attack("touched conversations", "none is a new chat", _remembered, 2_000, 60),
)
