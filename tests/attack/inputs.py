"""User errors on the command line, in input files and in the chat: each must give one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from navloom.cli.main import main
from tests.attack.attack import Attack
from tests.cli.small import small_scene
from tests.evals.lines import checked, records

_MOST_S = 10.0
_MOST_LINE = 1_000
_NESTED = 50_000
FILES: dict[str, bytes] = {
    "deep.yaml": b"[" * _NESTED,
    "deep.json": b"[" * _NESTED,
    "deep.jsonl": b'{"a":' * _NESTED + b"\n",
    "unfolds.yaml": b"a: &a [x, x, x]\n" + b"b: &b [*a, *a, *a]\nc: [*b, *b, *b]\n",
    "noise": random.Random(0).randbytes(3_000),
    "zeros.json": b"\0" * 100,
    "list.json": b"[1, 2]",
    "number.json": b"1",
    "digits.json": b'{"a": ' + b"9" * 5_000 + b"}",
    "digits.yaml": b"n: " + b"9" * 5_000 + b"\n",
    "endless.yaml": b"n: .inf\nseed: .nan\nmodel: [a]\n",
    "day.yaml": b"n: 2020-13-45\n? [a]\n: b\n",
    "halves.json": b'{"id": "\\ud800", "scene": "\\udfff"}',
    "empty": b"",
}
"""Contents that no command expects."""
NAMES = (
    *FILES, "folder", "pipe", "/dev/zero", "/dev/null", "nowhere", "x" * 300, "~nosuchuser/x",
    "", ".", "a\0b", "\udcff", "http://x", "-",
)  # fmt: skip
COMMANDS = (
    "scenes list {}", "scenes show {}", "scenes show hm3d:{}", "scenes show mp3d:{}",
    "scenes show capnav:{}", "scenes export {} --out q", "scenes annotate {} --out q",
    "scenes show home:{}", "scenes edit {} --remove x --out q.json",
    "scenes edit demo:flat --move {}@x --close {} --out q.json",
    "scenes edit demo:flat --move keys@{} --out q.json",
    "scenes import hm3d {} --out q", "scenes show demo:flat --out {}/x.png",
    "synth single demo:flat --n 1 --out q --profile {}", "synth single {} --n 1 --out q",
    "synth single demo:flat --n 1 --out q --run-config {}", "synth collab {} --n 1 --out q",
    "synth capnav {} --questions 1 --out q", "eval r2r --data {} --limit 1 --out q",
    "eval reverie --data {} --limit 1 --out q", "eval scene {} --limit 1 --out q",
    "eval capnav --data {} --limit 1 --out q", "subset r2r --data {} --n 2 --out q",
    "score {}", "compare {} folder", "caption {} --out q", "judge reasoning {} --out q",
    "judge trace {} --out q", "judge failures {} --out q",
    "judge calibrate reasoning {} --limit 1 --out q", "retry {}",
    "export {} --out q", "validate {}", "report {}", "cache info --cache {}",
    "study oracle {} --out q", "chat {}", "chat demo:flat --replay {}",
)  # fmt: skip
"""Every command that takes a file or a folder, with a place for it."""
SLASHES = ("/save {}", "/save! {}", "/map {}.png", "/replay {}", "/model {}", "/undo {}", "{}")


def _said(words: list[str], typed: str = "") -> tuple[Any, str, float]:
    """Run a command and return its exit code, output and seconds."""
    said, began = io.StringIO(), time.monotonic()
    before, sys.stdin = sys.stdin, io.StringIO(typed)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code: Any = main(words)
    except BaseException as error:
        code = repr(error)
    finally:
        sys.stdin = before
    return code, said.getvalue(), time.monotonic() - began


def _wrong(words: list[str], typed: str = "") -> str | None:
    """Return what was wrong with a command's end; None for success or a one-line message."""
    code, said, seconds = _said(words, typed)
    last = (said.strip().splitlines() or [""])[-1]
    fine = code in (0, 1, 2) and "Traceback" not in said and len(last) <= _MOST_LINE
    if fine and seconds <= _MOST_S:
        return None
    return f"{' '.join(words)[:80]!r} {typed[:60]!r}: {code}, {seconds:.0f} s: {last[:160]!r}"


@contextlib.contextmanager
def _within(folder: Path) -> Iterator[None]:
    """Work in a folder that has one of each bad file."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    # What is imported the first time takes seconds, and says nothing of an input.
    _said(["chat", "demo:flat", "--display", "plain"], "/quit\n")
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _typed_wrong(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    every = [(command, name) for command in COMMANDS for name in NAMES]
    with _within(folder):
        for command, name in dice.sample(every, min(tries, len(every))):
            yield _wrong([word.replace("{}", name) for word in command.split()])


def _said_wrong(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    every = [slash.replace("{}", name) for slash in SLASHES for name in NAMES]
    start = ["chat", "demo:flat", "--display", "plain"]
    with _within(folder):
        for line in dice.sample(every, min(tries, len(every))):
            yield _wrong(start, f"{line}\n/quit\n")


WRONG: tuple[Any, ...] = ("x", None, {}, [["a"]], 1e308, -1, True, "9" * 400)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value[:1]) if isinstance(value, list) else inner:
        yield from _places(each, (*path, key))


def _changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    made = json.loads(json.dumps(value))
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return made


def _value_wrong(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    """Run a report with another value in one place of a run, with a valid line check."""
    run = folder / "run"
    made = f"synth single demo:flat --n 1 --out {run} --display none".split()
    assert _said(made)[0] == 0
    whole = {name: (run / name).read_text() for name in ("run.json", "summary.json")}
    (line,) = records(run)
    parts = {name: json.loads(text) for name, text in whole.items()} | {"samples.jsonl": line}
    every = [(name, path, new) for name, part in parts.items() for path in _places(part)
             for new in WRONG]  # fmt: skip
    for name, path, new in dice.sample(every, min(tries, len(every))):
        for each, text in whole.items():
            (run / each).write_text(text)
        (run / "samples.jsonl").write_text(checked(run, line))
        changed = _changed(parts[name], path, new)
        text = checked(run, changed) if name == "samples.jsonl" else json.dumps(changed)
        (run / name).write_text(text)
        wrong = _wrong(["report", str(run)])
        yield wrong and f"{name} {path} = {new!r}: {wrong}"


def _number_wrong(folder: Path, dice: random.Random, tries: int) -> Iterator[str | None]:
    """Draw a scene file with a number that no home has."""
    home = json.loads(small_scene().model_dump_json())
    every = [
        (path, new)
        for path in _places(home)
        for new in (1e308, -1e308, 1e150, 1e9, 10_001, 5e-324, "1", None, [1e308])
    ]
    file = folder / "home.json"
    for path, new in dice.sample(every, min(tries, len(every))):
        file.write_text(json.dumps(_changed(home, path, new)))
        show = ["scenes", "show", str(file), "--out", str(folder / "home.png")]
        wrong = _wrong(show)
        yield wrong and f"{path} = {new!r}: {wrong}"


ATTACKS: tuple[Attack, ...] = (
    Attack("typed", "a mistake at the command line is a line", _typed_wrong, 900, 10),
    Attack("chatted", "a mistake in the chat is a line", _said_wrong, 200, 10),
    Attack("values", "a wrong value in a run folder is a line", _value_wrong, 500, 3),
    Attack("numbers", "a wrong number in a scene file is a line", _number_wrong, 400, 15),
)
