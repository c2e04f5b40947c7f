"""Threads: what is listed of them, another name, an end; and those that cannot be touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from navloom.errors import UsageError
from navloom.graphs.chat.chat_driver import ChatDisplay, ChatDriver
from navloom.graphs.chat.state import Context
from navloom.graphs.chat.threads import (
    delete_thread,
    list_threads,
    open_thread,
    rename_thread,
    thread_file,
)
from navloom.sim.graph import GraphSimulator
from tests.graphs.chat.chat_home import home


class Silent(ChatDisplay):
    def said(self, who: str, text: str) -> None: ...

    def moved(self, pose: object) -> None: ...


async def speak(folder: Path, name: str, *lines: str) -> list[str]:
    async with open_thread(thread_file(name, folder)) as saver:
        talk = ChatDriver(Context(simulator=GraphSimulator(home())), saver, Silent(), thread=name)
        await talk.open(start="c0")
        for line in lines:
            await talk.hear(line)
        said = [line["text"] for line in talk.transcript]
        await talk.close()
    return said


HOLD = """
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("PRAGMA locking_mode=EXCLUSIVE")
file.execute("BEGIN EXCLUSIVE")
file.execute("COMMIT")
print("held", flush=True)
sys.stdin.read()
"""


async def test_what_is_listed_of_each_and_broken_ones_are_notes(tmp_path: Path) -> None:
    assert await list_threads(tmp_path / "none") == ([], [])
    await speak(tmp_path, "first", "go to the kitchen")
    await speak(tmp_path, "second")
    (tmp_path / "torn.sqlite").write_bytes(b"no database at all" * 99)
    (tmp_path / "notes.txt").write_text("none of ours")
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    found, notes = await list_threads(tmp_path)
    assert [(each.name, each.lines, each.last, each.held) for each in found] == [
        ("second", 0, "", False),
        ("first", 2, "I am in the kitchen now.", False),
    ]
    assert (found[1].scene, found[1].model) == (home().uri, "builtin/heuristic")
    assert found[0].model is None
    assert found[0].when > found[1].when
    (note,) = notes
    assert note.startswith("torn.sqlite cannot be read: ")
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


async def test_one_that_is_open_is_listed_and_left_alone(tmp_path: Path) -> None:
    await speak(tmp_path, "theirs", "go to the kitchen")
    file = thread_file("theirs", tmp_path)
    async with open_thread(thread_file("ours", tmp_path)) as saver:
        talk = ChatDriver(Context(simulator=GraphSimulator(home())), saver, Silent(), thread="ours")
        await talk.open(start="c0")
        await talk.hear("turn left")
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            found, notes = await list_threads(tmp_path)
            assert [(each.name, each.lines, each.held) for each in found] == [
                ("ours", 2, True),
                ("theirs", 2, True),
            ]
            assert notes == []
            for name in ("ours", "theirs"):
                with pytest.raises(UsageError, match=f"'{name}' is open in a chat: leave that"):
                    rename_thread(tmp_path, name, "new")
                with pytest.raises(UsageError, match=f"'{name}' is open in a chat: leave that"):
                    delete_thread(tmp_path, name)
            other.communicate(b"")
        # Our own lock held through all of it.
        script = (
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], 0).execute('SELECT 1 FROM writes')"
        )
        alone = subprocess.run(
            [sys.executable, "-c", script, str(thread_file("ours", tmp_path))],
            capture_output=True,
            check=False,
        )
        assert b"locked" in alone.stderr
        await talk.hear("turn left")
        assert talk.transcript[-1]["who"] == "robot"
        await talk.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ours.sqlite", "theirs.sqlite"]


async def test_one_that_changes_is_read_anew_and_one_of_another_name_is_a_note(
    tmp_path: Path,
) -> None:
    await speak(tmp_path, "one", "go to the kitchen")
    for lines in (2, 4, 6):
        (found,), notes = await list_threads(tmp_path)
        assert (found.lines, notes) == (lines, [])
        await speak(tmp_path, "one", "turn left")
    (tmp_path / "one.sqlite").rename(tmp_path / "two.sqlite")
    # What has not begun is none yet.
    async with open_thread(tmp_path / "new.sqlite"):
        assert await list_threads(tmp_path) == (
            [],
            ["two.sqlite cannot be read: it holds no conversation of this name"],
        )


async def test_another_name_goes_on_with_the_same_words(tmp_path: Path) -> None:
    said = await speak(tmp_path, "old", "go to the kitchen")
    await speak(tmp_path, "other")
    rename_thread(tmp_path, "old", "new")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new.sqlite", "other.sqlite"]
    assert await speak(tmp_path, "new") == said
    for old, new, why in [
        ("new", "other", "There is a conversation 'other' already"),
        ("gone", "fresh", "There is no conversation 'gone'"),
        ("new", "../x", "expected a plain name"),
        ("new", "new", "There is a conversation 'new' already"),
    ]:
        with pytest.raises(UsageError, match=why):
            rename_thread(tmp_path, old, new)
    assert await speak(tmp_path, "new", "where are you?") != said


async def test_an_end_takes_all_files_along(tmp_path: Path) -> None:
    await speak(tmp_path, "done", "go to the kitchen")
    torn = tmp_path / "torn.sqlite"
    torn.write_bytes(b"no database at all" * 99)
    Path(f"{torn}-wal").write_bytes(b"torn")
    for name in ("done", "torn"):
        delete_thread(tmp_path, name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="There is no conversation 'done'"):
        delete_thread(tmp_path, "done")
