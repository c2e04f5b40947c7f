"""``navloom chat`` in plain lines: commands, files, threads, mistakes."""

from __future__ import annotations

import io
import json
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from navloom.cli.chat import chat
from navloom.cli.main import main
from navloom.graphs.agent_graph import is_damage
from navloom.models.model_call import call_settings


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


class Spoken:
    """Runs the command with lines on stdin."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capsys = monkeypatch, capsys
        self.code = 0
        self.err = ""

    def __call__(self, *lines: str, options: str = "", scene: str = "demo:house") -> list[str]:
        self._patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        self.code = main(["chat", scene, *options.split()])
        out, self.err = self._capsys.readouterr()
        return out.splitlines()


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Spoken:
    return Spoken(monkeypatch, capsys)


def test_a_conversation_in_lines(spoken: Spoken) -> None:
    out = spoken("is there a fridge near?", "go to the kitchen", "no, the study", "/quit", "never")
    assert spoken.code == 0
    assert out[0].startswith("builtin/heuristic thinks. The robot is in the entryway of demo:house")
    assert out[1:] == [
        "robot: The nearest is a fridge in the kitchen, 11 m from here.",
        "  · living room",
        "  · dining room",
        "  · kitchen",
        "robot: I am in the kitchen now.",
        "  · dining room",
        "  · living room",
        "  · study",
        "robot: I am in the study now.",
    ]


def test_no_more_than_the_robots_words(spoken: Spoken) -> None:
    out = spoken("go to the kitchen", "/help", options="--display none")
    assert out == ["robot: I am in the kitchen now."]


def test_undo_goes_back_by_instructions(spoken: Spoken) -> None:
    walks, undone = ["go to the kitchen", "go to the study"], ["/undo"] * 3
    out = spoken(*walks, "/undo", "where are you?", *undone, "where are you?")
    heads = ("robot: I am in the", "Undone", "There is no")
    said = [line for line in out if line.startswith(heads)]
    assert "Undone: go to the study" in said
    assert "robot: I am in the kitchen. From here" in "\n".join(said)
    assert said[-2:] == [
        "There is nothing to undo.",
        "robot: I am in the entryway. From here one gets to the living room (right).",
    ]


def test_undo_goes_back_by_so_many(spoken: Spoken) -> None:
    walks = ["go to the kitchen", "go to the study", "turn left"]
    out = spoken(*walks, "/undo 2", "where are you?", "/undo 0", "/undo x", "/undo 3", "/undo 2")
    assert "Undone: go to the study" in out
    assert "robot: I am in the kitchen. From here" in "\n".join(out)
    wrong = "expected how many instructions to take back, of 2."
    assert [line for line in out if line.startswith("! ")] == [
        f"! /undo {given}: {wrong}" for given in ("0", "x", "3")
    ]
    assert out[-1] == "Undone: go to the kitchen"


def test_save_replay_and_map(spoken: Spoken, tmp_path: Path) -> None:
    out = spoken("go to the kitchen", "/save walk", "/map plan", "/save walk", "/map")
    saved = json.loads((tmp_path / "walk.json").read_text())
    assert saved["scene"] == "demo:house"
    assert [line["who"] for line in saved["transcript"]] == ["person", "robot"]
    assert saved["trajectory"][0][0] == "1_0"
    for name in ("walk.png", "plan.png"):
        with Image.open(tmp_path / name) as picture:
            assert picture.width > 500
    asked = "is there already: give another name, or type /save! walk to replace it."
    assert f"! walk.json {asked}" in out
    assert any("kitchen" in line and "│" in line for line in out)
    again = spoken("/replay walk.json", "/replay")
    assert "you: go to the kitchen" in again
    assert "robot: I am in the kitchen now." in again


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "nothere.json: there is no such file."),
        ("no json", "nothere.json: line 1, column 1: expected JSON"),
        ({}, "nothere.json: format: Field required"),
        ({"scene": "demo:flat"}, "is a conversation in demo:flat, and this is demo:house."),
        ({"trajectory": [["9_9_9", 0, 0]]}, "demo:house has no viewpoint '9_9_9'."),
        ({"trajectory": [["1_0", float("inf"), 0]]}, "nothere.json: trajectory[0][1]: "),
        ({"transcript": [{"who": "root"}]}, "nothere.json: transcript[0].who: "),
    ],
)
def test_bad_files_are_one_line(spoken: Spoken, content: Any, line: str, tmp_path: Path) -> None:
    if isinstance(content, dict) and content:
        whole = {
            "format": "navloom.chat/1",
            "scene": "demo:house",
            "model": "m",
            "transcript": [],
            "trajectory": [["1_0", 0, 0]],
        }
        content = {**whole, **content}
    if content is not None:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "nothere.json").write_text(text)
    out = spoken("/replay nothere.json")
    assert [each for each in out if each.startswith("! ") and line in each]


def test_commands_that_are_none_and_models(spoken: Spoken) -> None:
    out = spoken("/mop", "/model builtin/random", "/model nope/x", "/model", "hello", "/help")
    assert any(line.startswith("! There is no command /mop. Did you mean 'map'") for line in out)
    assert out.count("builtin/random thinks.") == 2
    assert any(line.startswith("! No model provider 'nope'") for line in out)
    assert "robot: I did something." in out
    assert any(line.startswith("/undo") for line in out)


def test_captions_of_a_model_go_before_the_homes_own(spoken: Spoken, tmp_path: Path) -> None:
    file = tmp_path / "run/captions/demo-house.json"
    file.parent.mkdir(parents=True)
    words = {"1_0": {"summary": "A parlour with a purple piano."}}
    file.write_text(json.dumps({"scene": "demo:house", "viewpoints": words}))
    for given in ("run", "run/captions/demo-house.json"):
        out = spoken("what do you see?", options=f"--captions {given}")
        assert "purple piano" in "\n".join(out), given
    assert "purple piano" not in "\n".join(spoken("what do you see?"))
    spoken("hello", scene="demo:flat", options="--captions run")
    assert (spoken.code, spoken.err.count("\n")) == (1, 1)
    assert "--captions run has no captions of demo:flat" in spoken.err


def test_coming_back_by_thread(spoken: Spoken, tmp_path: Path) -> None:
    spoken("go to the kitchen", options="--thread tuesday")
    assert (tmp_path / "data/navloom/threads/tuesday.sqlite").exists()
    out = spoken("where are you?", "no, the study", options="--thread tuesday")
    assert out[1:4] == [
        "You come back to 'tuesday'.",
        "you: go to the kitchen",
        "robot: I am in the kitchen now.",
    ]
    assert out[4].startswith("robot: I am in the kitchen.")
    assert out[-1] == "robot: I am in the study now."


def test_threads_are_listed_renamed_and_deleted(spoken: Spoken, tmp_path: Path) -> None:
    assert spoken("/threads", options="--threads kept")[1] == "No conversation is kept in kept."
    for name in ("monday", "friday"):
        spoken("go to the kitchen", options=f"--thread {name} --threads kept")
    (tmp_path / "kept/torn.sqlite").write_text("no database" * 99)
    typed = ["/rename monday evening", "/delete friday", "/delete now", "/rename x", "/delete ../x"]
    out = spoken("/threads", *typed, "/threads", options="--thread now --threads kept")
    listed = [line for line in out if " demo:house, 20" in line]
    assert [line.partition(" ")[0] for line in listed] == [
        *("now", "friday", "monday"),
        *("now", "evening"),
    ]
    assert "0 lines, this one" in listed[0]
    assert listed[1].endswith(" UTC, 2 lines: I am in the kitchen now.")
    assert "'monday' is called 'evening' now." in out
    assert "'friday' is deleted." in out
    wrong = [line for line in out if line.startswith("! ")]
    assert [line[:40] for line in wrong if "torn" not in line] == [
        "! The conversation 'now' is open in a ch",
        "! /rename: expected two names, such as /",
        "! --thread '../x': expected a plain name",
    ]
    assert sum("! torn.sqlite cannot be read" in line for line in wrong) == 2
    assert (
        spoken(options="--thread evening --threads kept")[-1] == "robot: I am in the kitchen now."
    )


@pytest.mark.slow
def test_a_question_waits_for_another_process(spoken: Spoken) -> None:
    options = "--thread q --threads kept"
    out = spoken("go to the hallway", scene="demo:villa", options=options)
    assert "Which one?" in out[-1]
    out = spoken("upstairs", scene="demo:villa", options=options)
    assert "Which one?" in out[3]
    assert out[-1] == "robot: I am in the hallway now."


@pytest.mark.parametrize(
    ("scene", "options", "line"),
    [
        ("demo:hose", "", "Did you mean 'house'"),
        ("demo:house", "--model nope/x", "No model provider 'nope'"),
        ("demo:house", "--backend grap", "'grap' is not a simulator"),
        ("demo:house", "--thread ../x", "--thread '../x': expected a plain name"),
        ("demo:house", "--thread x --threads file", "file: "),
        ("demo:house", "--thread broken --threads .", "broken.sqlite is broken"),
        ("demo:house", "--thread folder --threads .", "folder.sqlite cannot be used"),
        ("demo:house", "--thread busy --threads .", "busy.sqlite is in use"),
        ("demo:house", "--thread flat --threads .", "is in demo:flat, not in demo:house"),
        ("demo:house", "--display rich", "--display rich needs a terminal"),
        ("demo:house", "--captions nothere.json", "nothere.json: there is no such file"),
        ("demo:house", "--captions file", "file: line 1, column 1: expected JSON"),
        ("demo:house", "--start 77", "start viewpoint '77' is not in demo:house"),
    ],
)
def test_mistakes_are_one_line(
    spoken: Spoken, tmp_path: Path, scene: str, options: str, line: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "broken.sqlite").write_text("no database, however long one reads on" * 50)
    (tmp_path / "folder.sqlite").mkdir()
    busy = sqlite3.connect(tmp_path / "busy.sqlite", isolation_level=None)
    busy.execute("BEGIN EXCLUSIVE")
    if "flat" in options:
        spoken("hello", scene="demo:flat", options=options)
    spoken("hello", scene=scene, options=options)
    busy.close()
    assert spoken.code == 1
    assert line in spoken.err
    assert spoken.err.count("\n") == 1


@pytest.mark.parametrize(
    "damage",
    [
        "update checkpoints set checkpoint = x'00ff12'",
        "update checkpoints set checkpoint = x'81a176c0'",
        "update checkpoints set metadata = 'nope'",
    ],
)
def test_a_thread_that_holds_something_else_is_one_line(spoken: Spoken, damage: str) -> None:
    options = "--thread odd --threads ."
    spoken("go to the kitchen", options=options)
    with sqlite3.connect("odd.sqlite") as file:
        file.execute(damage)
    file.close()
    spoken("where are you?", options=options)
    assert spoken.code == 1
    assert "The conversation 'odd' is broken" in spoken.err
    assert "It is kept as odd.sqlite.broken-1, and nothing was begun in its place" in spoken.err
    assert spoken.err.count("\n") == 1
    assert [path.name for path in Path().glob("odd*")] == ["odd.sqlite.broken-1"]
    assert "The robot is in the entryway" in spoken("where are you?", options=options)[0]
    assert spoken.code == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("update checkpoints set parent_checkpoint_id = 'x' where rowid = 9", "is gone"),
        ("delete from checkpoints where rowid = 5", "is gone"),
        ("alter table writes rename column channel to chanel", "no such column: channel"),
        ("alter table writes rename to wrote", "it holds a table 'wrote'"),
    ],
)
def test_a_thread_with_a_part_gone_is_kept_aside(spoken: Spoken, damage: str, said: str) -> None:
    options = "--thread odd --threads ."
    spoken("go to the kitchen", options=options)
    with sqlite3.connect("odd.sqlite") as file:
        file.execute(damage)
    file.close()
    spoken("where are you?", options=options)
    assert spoken.code == 1
    assert said in spoken.err
    assert Path("odd.sqlite.broken-1").exists()


def test_a_thread_whose_faults_cannot_be_spelled_is_kept_aside(spoken: Spoken) -> None:
    options = "--thread odd --threads ."
    spoken("go to the kitchen", options=options)
    data = Path("odd.sqlite").read_bytes()
    Path("odd.sqlite").write_bytes(
        data.replace(b"CREATE TABLE writes", b"CREATE \xc4\xff\xe0\x80\x90 wri")
    )
    spoken("where are you?", options=options)
    assert spoken.code == 1
    assert Path("odd.sqlite.broken-1").exists()


def test_a_thread_whose_text_is_no_utf_8_is_kept_aside(spoken: Spoken) -> None:
    spoken("go to the kitchen", options="--thread odd --threads .")
    with sqlite3.connect("odd.sqlite") as file:
        file.execute(
            "update checkpoints set type = cast(x'6d73ff7061636b' as text) where rowid = 2"
        )
    file.close()
    spoken("where are you?", options="--thread odd --threads .")
    assert spoken.code == 1
    assert "odd.sqlite is broken: a text in its table 'checkpoints' is no UTF-8" in spoken.err
    assert "It is kept as odd.sqlite.broken-1" in spoken.err
    assert spoken.err.count("\n") == 1


def test_a_thread_whose_header_forbids_to_write_is_kept_aside(spoken: Spoken) -> None:
    spoken("go to the kitchen", options="--thread odd --threads .")
    data = bytearray(Path("odd.sqlite").read_bytes())
    data[18] ^= 8
    Path("odd.sqlite").write_bytes(data)
    spoken("where are you?", options="--thread odd --threads .")
    assert "It is kept as odd.sqlite.broken-1" in spoken.err
    assert Path("odd.sqlite.broken-1").read_bytes() == data


def test_what_python_cannot_read_is_damage_and_a_disk_is_none() -> None:
    said = sqlite3.OperationalError("Could not decode to UTF-8 column 'type' with text 'ms'")
    assert is_damage(said)
    said.sqlite_errorcode = sqlite3.SQLITE_ERROR
    assert is_damage(said)
    for code in (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN_ISDIR):
        said.sqlite_errorcode = code
        assert not is_damage(said)


def test_a_thread_with_flipped_bytes_is_never_a_new_chat(spoken: Spoken) -> None:
    options = "--thread t --threads kept"
    spoken("go to the kitchen", "go to the study", options=options)
    file, dice = Path("kept/t.sqlite"), random.Random(1)
    whole = file.read_bytes()
    before = spoken(options=options)
    asides = 0
    for _ in range(25):
        changed = bytearray(whole)
        for _ in range(8):
            changed[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        file.write_bytes(changed)
        out = spoken(options=options)
        if spoken.code == 0:
            assert out == before
            continue
        asides += 1
        assert spoken.err.count("\n") == 1
        aside = Path(f"kept/t.sqlite.broken-{asides}")
        assert f"It is kept as {aside}" in spoken.err
        assert aside.read_bytes() == changed
        assert not file.exists()
    assert asides > 5


def test_a_thread_under_another_name_is_no_new_chat(spoken: Spoken) -> None:
    spoken("go to the kitchen", options="--thread t --threads .")
    Path("t.sqlite").rename("u.sqlite")
    spoken("where are you?", options="--thread u --threads .")
    assert spoken.code == 1
    assert "The file of the conversation 'u' holds one named 't'" in spoken.err
    assert Path("u.sqlite").exists()


def test_a_folder_is_no_file_to_save_in(spoken: Spoken, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    out = spoken("/save kept")
    assert out[-1] == "! kept is a folder: name a file in it, such as kept/walk.json."
    assert not list(tmp_path.glob("kept.*"))


def test_a_file_is_replaced_when_that_is_asked_for(spoken: Spoken, tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("mine")
    (tmp_path / "walk.png").write_text("mine, too")
    out = spoken("/save notes", "/save walk", "/map walk", "/save! notes", "/map! walk")
    said = [line for line in out if line.startswith(("! ", "Saved", "The map"))]
    assert said == [
        "! notes.json is there already: give another name, or type /save! notes to replace it.",
        "! walk.png is there already: give another name, or type /save! walk to replace it.",
        "! walk.png is there already: give another name, or type /map! walk to replace it.",
        "Saved: notes.json and notes.png.",
        "The map is in walk.png.",
    ]
    # Half a save is none.
    assert not (tmp_path / "walk.json").exists()
    assert json.loads((tmp_path / "notes.json").read_text())["scene"] == "demo:house"
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")
    os.mkfifo(tmp_path / "pipe.json")
    assert spoken("/save! pipe")[-1].startswith("! pipe.json is a device or the like")


def test_panes_that_are_not_installed(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "find_spec", lambda name: None)
    spoken("hello", options="--display rich")
    assert spoken.code == 1
    assert "pip install 'navloom[tui]'" in spoken.err
    out = spoken("hello")
    assert out[-1].startswith("robot: Hello.")


@pytest.mark.slow
def test_a_model_that_fails_does_not_end_the_conversation(
    spoken: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "z" * 40)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with call_settings(max_retries=0):
        out = spoken("/model openai/x", "hello", "/model builtin/heuristic", "hello")
    assert any(line.startswith("! openai/x: no connection to the server") for line in out)
    assert "z" * 40 not in "\n".join(out)
    assert out[-1].startswith("robot: Hello.")


def test_a_sitting_has_limits(spoken: Spoken) -> None:
    out = spoken("go to the kitchen", "go to the study", "/quit", options="--token-limit 10")
    assert spoken.code == 0
    assert (
        out[1:]
        == ["  · living room", "  · dining room", "  · kitchen"]
        + ["! --token-limit 10 is reached"] * 2
    )


def test_a_limit_of_cost_holds_for_the_next_model_too(
    spoken: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-0123456789")
    out = spoken("/model openai/nobody-9", "/quit", options="--cost-limit 0.01")
    assert "no price is known for openai/nobody-9" in "".join([*out, spoken.err])


def test_a_key_that_slipped_into_the_words_is_kept_nowhere(
    spoken: Spoken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-quince-and-zebra-000111222"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    options = f"--thread t --threads {tmp_path / 'threads'}"
    out = spoken(f"go to {key}", "/save walk.json", "/quit", options=options)
    assert out
    kept = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert {"walk.json", "walk.png", "t.sqlite"} <= {each.name for each in kept}
    for each in kept:
        assert key.encode() not in each.read_bytes(), each
    assert "OPENAI_API_KEY" in (tmp_path / "walk.json").read_text()


def test_what_can_be_no_file_is_one_line(spoken: Spoken) -> None:
    names = ("a" * 300, "~nosuchuser/x", ".", "/")
    typed = [f"/{command} {name}" for command in ("save", "map", "replay") for name in names]
    out = spoken(*typed, "/replay /dev/zero", "/quit")
    said = [line for line in out if line.startswith("! ")]
    assert len(said) == len(typed) + 1
    assert all(len(line) < 200 for line in said)
    assert "it is a device" in said[-1]
    assert spoken.code == 0


@pytest.mark.worlds
@pytest.mark.slow
def test_what_the_robot_sees_is_saved(spoken, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = spoken("/look here", "go to the kitchen", "/look there", "/look here")
    assert "What the robot sees is in here.png." in out
    assert any(line.startswith("! here.png is there already") for line in out)
    here, there = (Path(name).read_bytes() for name in ("here.png", "there.png"))
    assert here != there
    assert here.startswith(b"\x89PNG")
