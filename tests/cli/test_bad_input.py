"""What people, files and models get wrong: one clear line, the right exit code, nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals.navcraft.export import export_run
from navloom.evals.progress import Summary
from navloom.evals.run_folder import read_run, read_samples
from navloom.scenes.formats.scene_json import save
from tests.cli.small import small_scene
from tests.evals.lines import checked, records
from tests.tools.navcraft.worlds import row_house

BLANK = {"Age": 1, "Gender": "", "Marital Status": "", "Occupation": ""}
HOME: dict[str, Any] = {
    "rooms": [
        {"id": i, "label": label, "centroid": [4 * i, 1.25, 0], "dims": [4, 2.5, 4]}
        for i, label in enumerate(["kitchen", "hallway", "bedroom", "office", "bathroom"])
    ],
    "connections": [[0, 1], [1, 2], [2, 3], [3, 4]],
    "objects": [
        {"id": 10 + i, "name": name, "position": [4 * i + 0.3, 0.5, 0.2]}
        for i, name in enumerate(["cup", "table", "book", "desk", "towel"])
    ],
}


def home(name: str, change: Callable[[dict[str, Any]], object] = lambda _: None) -> str:
    data = json.loads(json.dumps({"scene": name, **HOME}))
    change(data)
    return json.dumps(data)


def run(command: str) -> int:
    return main(command.split())


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one of everything that may be wrong, and a run that is not."""
    here = tmp_path_factory.mktemp("place")
    files: dict[str, str | bytes] = {
        "cut.json": home("cut")[:200],
        "binary.json": b"\x00\xff\xfe" * 50,
        "type.json": home("type", lambda d: d["rooms"][3]["dims"].__setitem__(1, "two")),
        "nan.json": home("nan", lambda d: d["objects"][1]["position"].__setitem__(0, float("nan"))),
        "huge.json": home("huge", lambda d: d["objects"][1]["position"].__setitem__(0, 1e300)),
        "key.json": home("key", lambda d: d["rooms"][2].pop("centroid")),
        "twice.json": home("twice", lambda d: d["rooms"][2].__setitem__("id", 1)),
        "deep.json": "[" * 100_000,
    }
    for name, content in files.items():
        put(here / "broken" / name, content)
    put(here / "mixed/good.json", home("good"))
    put(here / "mixed/bad.json", "{")
    put(here / "mixed/bare.json", home("bare", lambda d: d["objects"].clear()))
    put(here / "mixed/apart.json", home("apart", lambda d: d["connections"].clear()))
    put(here / "scan/connectivity/S_connectivity.json", '[{"image_id": "a"}]')
    put(here / "scan2/connectivity/S_connectivity.json", viewpoint())
    put(here / "scan2/house/S.house", "ASCII 1.1\nR 0 0 0 0 ? 1 1 1 0 0 0 1 1 1 1\n")
    old = small_scene().model_dump_json()
    put(here / "old.json", old.replace("navloom.scene/1", "navloom.scene/9"))
    put(here / "field.json", old.replace('"source"', '"colour": 1, "source"', 1))
    put(here / "far/far.json", old.replace("8.0", "1e308", 1))
    put(here / "file", "x")
    put(here / "other/thing.txt", "x")
    (here / "empty").mkdir()
    put(here / "list.yaml", "- a\n")
    put(here / "digits.yaml", "Age: " + "9" * 5_000)
    put(here / "day.yaml", "Age: 2020-13-45")
    os.mkfifo(here / "pipe")
    put(here / "half.yaml", "Age: 3\n")
    put(here / "object.yaml", "!!python/object/apply:os.system ['true']\n")
    put(here / "old.yaml", json.dumps({**BLANK, "Age": 999, "Lifestyle Description": "x"}))
    put(here / "stray/notes.json", "{}")
    put(here / "flags.yaml", "n: many\n")
    put(here / "nothing.jsonl", "")
    put(here / "garbage.jsonl", b"\xff\xfe\n{\n[1]\n" + b"[" * 100_000 + b"\n")
    put(here / "wide.jsonl", b'{"a": "' + b"x" * 400_000 + b'"}\n')
    put(here / "away.jsonl", json.dumps({"scene": "hm3d:../../etc/passwd"}) + "\n")
    before = Path.cwd()
    os.chdir(here)
    try:
        assert run("synth single demo:flat --n 2 --out run --display none") == 0
        assert run("eval scene demo:flat --n 1 --out walked --display none") == 0
    finally:
        os.chdir(before)
    put(here / "nameless/run.json", "{")
    return here


def viewpoint() -> str:
    pose = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1.5, 0, 0, 0, 1]
    one = {"image_id": "a", "pose": pose, "included": True, "unobstructed": [False], "height": 1.5}
    return json.dumps([one])


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for name in list(os.environ):
        if name.startswith("NAVLOOM_") or name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)


SCENES = [
    ("scenes show hm3d:broken/cut", "cut.json: line 1, column 201: expected JSON"),
    ("scenes show hm3d:broken/binary", "binary.json: byte 1: expected text in UTF-8"),
    ("scenes show hm3d:broken/type", "rooms[3].dims[1]: Input should be a valid number"),
    ("scenes show hm3d:broken/nan", "objects[1].position[0]: Input should be a finite number"),
    ("scenes show hm3d:broken/huge", "objects[1].position[0]: Input should be less than"),
    ("scenes show hm3d:broken/key", "rooms[2].centroid: Field required"),
    ("scenes show hm3d:broken/twice", "twice.json: rooms[2].id: expected each id once, and 1"),
    ("scenes show hm3d:broken/deep", "nested beyond reason"),
    ("scenes show mp3d:scan/S", "S_connectivity.json: [0].pose: Field required"),
    ("scenes show mp3d:scan2/S", "S.house: line 2 (R), word 6: expected a room's letter"),
    ("scenes show old.json", "version 'navloom.scene/9', and this Navloom reads"),
    ("scenes show far/far.json", "less than or equal to 10000, found 1e+308"),
    ("scenes show --out x.png far/far.json", "less than or equal to 10000, found 1e+308"),
    ("scenes show field.json", "field.json: colour: Extra inputs are not permitted"),
    ("scenes show demo:vila", "Did you mean 'villa'"),
    ("scenes show demo:", "names 3 scenes and one was expected"),
    ("scenes show hm4d:x", "Did you mean 'hm3d'"),
    ("scenes show hm3d:broken/../../../etc/passwd", "etc"),
    ("scenes show hm3d:broken/..", "names 2 scenes and one was expected"),
    ("scenes show demo:../../etc/passwd", "is not an id of a scene"),
    ("scenes show demo:/etc/passwd", "is not an id of a scene"),
    ("scenes show hm3d:ID", "NAVLOOM_DATA is not set"),
    ("scenes show " + "x" * 5000, "cannot be looked up: File name too long"),
    ("scenes show ~nobody-of-that-name/x", "cannot be looked up"),
    ("eval r2r --data ~nobody-of-that-name/x --out q", "no user of the name after '~'"),
    ("score " + "x" * 300, "' can be no file: File name too long."),
    ("synth single demo:flat --n 1 --out q --profile digits.yaml", "digits.yaml: is not YAML"),
    ("synth single demo:flat --n 1 --out q --profile day.yaml", "day.yaml: is not YAML"),
    ("synth single demo:flat --n 1 --out q --run-config pipe", "pipe: the whole file"),
    ("score pipe", "pipe: expected a submission"),
    ("scenes show home:x", "home:x: 'x' is no seed; expected a seed as in home:7"),
    ("scenes show home:7?rooms=400", "rooms=400: expected a whole number from 4 to 30"),
    ("scenes list home:0-10000000", "that is 10,000,001 homes, and at most 100,000"),
    ("scenes list home:3-1", "a range goes up: did you mean home:1-3?"),
    ("scenes show home:7?room=5", "'room' is nothing one may ask of a home"),
    ("scenes show home:7?rooms=4&floors=3", "a home of 3 floors has at least 11 rooms"),
    ("scenes export demo: --out x.json", "demo: is 3 homes: give --out a folder, not x.json"),
    ("scenes edit demo:flat --remove piano --out x.json", "demo:flat has no thing 'piano'"),
    ("scenes edit demo:flat --out x.json", "say what to change with --close, --open, --ajar"),
    ("scenes edit demo:flat --close 9 --out x.json", "door 9: demo:flat has"),
    ("scenes edit demo:flat --move sofa --out x.json", "'sofa' is no move: write THING@REGION"),
    ("scenes list empty", "empty holds no scene: expected *.json files"),
    ("scenes list hm3d:empty", "empty holds no hm3d scene"),
    ("scenes list nowhere", "There is no file or folder 'nowhere'"),
    ("scenes list file", "expected a name that ends in .json, .glb"),
    ("scenes export demo:flat --out file/x.json", "file/x.json is a file, or lies in one"),
    ("scenes export demo:flat --out empty", "empty is a folder: give a file in it"),
    ("scenes annotate demo:flat", "--out scene.json, or how right it is with --evaluate"),
    ("scenes annotate demo: --out x.json", "is 3 homes: give --out a folder"),
    ("scenes annotate demo: --out file", "file is a file, or lies in one"),
    ("scenes import hm3d --rooms no --objects no --out o", "no: expected a folder"),
]
SYNTH = [
    ("synth single", "Missing"),
    ("synth single demo:flat", "Missing option '--out'"),
    ("synth singel demo:", "Did you mean 'single'"),
    ("synth single demo:flat --out q --nn 3", "No such option: --nn"),
    ("synth single demo:flat --out q --n 0", "greater than or equal to 1"),
    ("synth single demo:flat --out q --n 99999999", "less than or equal to 1000000"),
    ("synth single demo:flat --out q --tau 99", "at least 99 links apart"),
    ("synth single demo:flat --out q --seed x", "--seed"),
    ("synth single demo:flat --out q --display fancy", ": 'fancy' is not one of 'rich'"),
    ("synth single demo:flat --out q --sample-id x", "Ids are such as 'demo-flat-00000'"),
    ("synth single demo:flatt --out q", "Did you mean 'flat'"),
    ("synth single hm3d:mixed/bad --out q", "mixed/bad.json: line 1"),
    ("synth single hm3d:mixed/bare --out q", "no errand is possible in any scene"),
    ("synth single empty --out q", "empty holds no scene"),
    ("synth single demo:flat --out q --profile lawer", "Did you mean 'lawyer'"),
    ("synth single demo:flat --out q --profile list.yaml", "list.yaml: it is a list; the keys"),
    ("synth single demo:flat --out q --profile half.yaml", "half.yaml: 'Gender': Field required"),
    ("synth single demo:flat --out q --profile old.yaml", "old.yaml: 'Age': Input should be less"),
    ("synth single demo:flat --out q --profile object.yaml", "object.yaml: is not YAML or JSON"),
    ("synth single demo:flat --out q --profile no.yaml", "no.yaml: cannot be read"),
    ("synth single demo:flat --out q --model opnai/gpt", "Did you mean 'openai/gpt-4o'"),
    ("synth single demo:flat --out q --model gpt-4o", "Did you mean 'openai/gpt-4o'"),
    ("synth single demo:flat --out q --model openai/x", "set OPENAI_API_KEY"),
    ("synth single demo:flat --out q --model vllm/x", "set VLLM_BASE_URL"),
    ("synth collab --out q", "say which homes"),
    ("synth collab --from nowhere --out q", "nowhere is not a run"),
    ("synth collab demo:villa --from run --out q", "which demo:villa does not hold"),
    ("synth collab --from run --tau 5 --out q", "leave --tau 5 out"),
    ("synth collab --from run --profile child --out q", "leave --profile out"),
]
FOLDERS = [
    ("synth single demo:flat --n 3 --out run", "run holds another run: n was 2, now 3"),
    ("synth single demo:flat --out other", "other holds other files (thing.txt)"),
    ("synth single demo:flat --out file", "file is a file, or lies in one"),
    ("synth single demo:flat --out file/sub", "file/sub is a file"),
    ("synth single demo:flat --out nameless", "nameless/run.json is broken"),
    ("synth single demo:flat --out " + "x" * 300, "File name too long"),
    ("study relays demo:flat --out run", "run holds a run: give --out a new folder"),
    ("study profiles demo:nowhere --out q", "There is no demo scene 'nowhere'"),
    ("demo --out file", "file/run is a file"),
    ("export nowhere --out x.jsonl", "nowhere is not a run"),
    ("export run --out empty", "empty is a folder: give a file, such as empty/tasks.jsonl"),
    ("export run --out file/x.jsonl", "file is a file, or lies in one"),
    ("export run --out x --format foo", "'foo' is not one of 'navcraft'"),
    ("report nowhere", "nowhere is not a run"),
    ("report .", ". is not a run: it has no run.json. Runs inside: "),
    ("synth collab demo:flat --n 2 --out run", "run holds another run: it is a 'single', asked"),
    ("report run run", "run is given twice"),
    ("report run --out file", "file is a file, or lies in one"),
    ("validate nowhere.jsonl", "nowhere.jsonl cannot be read: No such file"),
    ("validate empty", "empty cannot be read: Is a directory"),
    ("validate nothing.jsonl --scenes nowhere", "There is no file or folder 'nowhere'"),
]
KINDS = "run is a run of `navloom synth single`: expected one of `navloom eval`"
OTHERS = [
    ("judge trace run --out q", KINDS),
    ("judge failures run --out q", KINDS),
    ("score run", KINDS),
    ("export walked --out x.jsonl", "walked is a run of `navloom eval`, which makes no dataset"),
    ("chat demo:flat --start nowhere", "has 28. There is '1_0' in Entryway_1, '2_0' in Living_r"),
    ("chat demo:house --start bedroom", "There is '8_0' in Bedroom_8."),
    ("chat demo:flat --start 1_O", "Did you mean '1_"),
]
AT_ONCE = [
    ("synth single demo: --out file", "file is a file, or lies in one: give another folder"),
    ("synth collab --from walked --out q", "expected one of `navloom synth single`"),
    ("study profiles demo: --out file", "file is a file, or lies in one"),
    ("subset scene --scenes demo: --n 2 --out file/x.json", "file/x.json is a file, or lies in"),
    ("scenes annotate demo:flat --out file/x.json", "file/x.json is a file, or lies in one"),
    ("scenes show demo:flat --out empty", "empty is a folder: give a file in it"),
    ("synth single demo: --n 1 --profile grandma --out q", "or a .yaml or .json file."),
    ("scenes show hm3d:stray/nope", "stray holds no hm3d scene, and no folder 'nope' of them."),
    ("synth single demo: --out q --run-config flags.yaml", "Invalid value for 'n' in flags.yaml:"),
    ("synth single demo: --out q --n many", "Invalid value for '--n': Input should be a valid"),
]
"""What is said before anything is looked for, and nothing beside it."""


@pytest.mark.parametrize(("command", "said"), AT_ONCE)
def test_what_is_wrong_is_all_that_is_said(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert "Did you mean" not in line
    assert "NAVLOOM_" not in line
    assert not Path("q").exists()


def test_a_run_of_another_kind_is_no_dataset_from_python_too() -> None:
    with pytest.raises(RunError, match="walked is a run of `navloom eval`: expected one of `navl"):
        export_run("walked", "x.jsonl")


@pytest.mark.parametrize(("command", "said"), SCENES + SYNTH + FOLDERS + OTHERS)
def test_a_mistake_is_one_line_that_says_what_to_do(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("navloom: ")] == lines[-1:]
    assert said in lines[-1]
    assert "Traceback" not in lines[-1]
    assert not Path("q").exists(), "a mistake has claimed a folder"


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("NAVLOOM_N", "abc", "valid integer"),
        ("NAVLOOM_TAU", "0", "greater than or equal to 1"),
        ("NAVLOOM_SEED", "1.5", "valid integer"),
        ("NAVLOOM_JSON", "maybe", "valid boolean"),
        ("NAVLOOM_CONSTRAIN", "2", "valid boolean"),
        ("NAVLOOM_DISPLAY", "fancy", "not one of"),
        ("NAVLOOM_MAX_CONNECTIONS", "0", "greater than or equal to 1"),
        ("NAVLOOM_LIMIT", "0", "greater than or equal to 1"),
        ("NAVLOOM_MODEL", "nope/x", "No model provider 'nope'"),
        ("NAVLOOM_PROFILE", "lawer", "Did you mean 'lawyer'"),
    ],
)
def test_a_wrong_variable_is_named(
    variable: str,
    value: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, value)
    assert run("synth single demo:flat --out q") == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert variable in err or "provider" in err or "profile" in err
    assert not Path("q").exists()


def test_homes_that_are_left_out_are_said_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("synth single hm3d:mixed --n 2 --out some --display plain") == 0
    err = capsys.readouterr().err
    assert "skipped 1 of 4 scenes: broken (hm3d:mixed/bad)" in err
    assert "broken: mixed/bad.json: line 1, column 2: expected JSON" in err
    assert "skipped 1 of 4 scenes: there are no objects (hm3d:bare)" in err
    assert {row["scene"] for row in read_samples("some")} == {"hm3d:good"}
    assert run("report some --json") == 0
    (one,) = json.loads(capsys.readouterr().out)["runs"]
    assert one["scenes_used"] == 1
    assert sorted(one["scenes_skipped"].values()) == [1, 1, 1]
    assert one["scenes_skipped"]["broken"] == 1
    assert one["left"] == 0
    assert run("report some") == 0
    out, err = capsys.readouterr()
    assert "3 homes were left out" in " ".join(out.split())
    assert len((out + err).splitlines()) <= 24
    assert "wrote some/report.html" in err
    assert "| some: left out: there are no objects | 1 |" in Path("some/report.md").read_text()
    Path("some/scenes.json").unlink()
    assert run("report some") == 0
    assert "left out" not in capsys.readouterr().out


def test_a_broken_home_does_not_stop_the_annotation_of_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("scenes annotate hm3d:mixed --out placed --json") == 1
    out, err = capsys.readouterr()
    assert [Path(line["file"]).name for line in json.loads(out)] == ["apart.json", "good.json"]
    assert "skipped hm3d:mixed/bad: mixed/bad.json" in err


@pytest.mark.slow
def test_from_lifts_every_valid_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("synth single demo:flat --n 23 --out many --display none") == 0
    assert run("synth collab --from many --out lifted --display none") == 0
    assert "of 23 samples" in capsys.readouterr().err.splitlines()[-2]
    put(Path("barren/run.json"), Path("many/run.json").read_text())
    assert run("synth collab --from barren --out none") == 1
    assert "barren has no valid task to lift" in capsys.readouterr().err
    assert not Path("none").exists()


def test_an_edited_profile_is_another_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = put(tmp_path / "mine.yaml", json.dumps({**BLANK, "Lifestyle Description": "x"}))
    words = ["synth", "single", "demo:flat", "--n", "1", "--profile", str(mine), "--out"]
    assert main([*words, "chosen"]) == 0
    assert read_run("chosen")["request"]["profile"][0]["Age"] == 1
    assert main([*words, "chosen"]) == 0
    put(mine, json.dumps({**BLANK, "Age": 2, "Lifestyle Description": "x"}))
    capsys.readouterr()
    assert main([*words, "chosen"]) == 1
    assert "chosen holds another run: profile was" in capsys.readouterr().err


def change_line(name: str, change: Callable[[dict[str, Any]], object]) -> Path:
    first, *others = records(Path("run"))
    change(first)
    folder = Path(name)
    put(folder / "run.json", Path("run/run.json").read_text())
    put(folder / "samples.jsonl", "".join(checked(folder, row) for row in [first, *others]))
    return folder


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("scene", lambda r: r.pop("scene"), "has not the form of a NavCraft task"),
        ("status", lambda r: r.update(status=5), "line 1: its status is a int"),
        ("usage", lambda r: r.update(usage=7), "line 1: its usage is a int"),
        ("counts", lambda r: r.update(usage={"calls": "x"}), "its usage holds no counts"),
        ("seconds", lambda r: r.update(seconds="x"), "line 1: its seconds is a str"),
        ("phase", lambda r: r["result"].update(phase_1=3), "has not the form of a"),
        ("object", lambda r: r["result"]["phase_1"].update({"Target object": []}), "form of a"),
        ("id", lambda r: r.pop("id"), "line 1: it is not a JSON object with an id"),
    ],
)
def test_a_run_changed_by_other_hands_is_refused(
    name: str,
    change: Callable[[dict[str, Any]], object],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = change_line(f"changed-{name}", change)
    assert main(["report", str(folder)]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_dataset_that_is_none_has_its_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "garbage.jsonl"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split(":")[1] for line in out[:-1]] == ["1", "2", "3", "4"]
    assert out[-1] == "4 tasks: 0 valid, 4 not valid (4 findings)"
    assert main(["validate", "wide.jsonl"]) == 1
    assert "longer than 262144 bytes: not read" in capsys.readouterr().out
    assert main(["validate", "away.jsonl"]) == 1
    assert "etc" not in [line.split(":")[1] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert main(["validate", "nothing.jsonl"]) == 0
    assert "nothing.jsonl is empty: there was nothing to check" in capsys.readouterr().err


@pytest.mark.slow
def test_a_report_of_what_has_not_ended(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("synth single demo:flat --n 5 --limit 2 --out part --display none") == 0
    assert "3 samples are left for another session" in capsys.readouterr().err
    assert main(["report", "part"]) == 0
    assert "3 attempts have not ended" in capsys.readouterr().out
    put(Path("young/run.json"), Path("run/run.json").read_text())
    assert main(["report", "young"]) == 0
    out = capsys.readouterr().out
    assert "There is no attempt to count. 2 attempts have not ended" in out
    assert main(["export", "young", "--out", "deep/er/young.jsonl"]) == 0
    assert Path("deep/er/young.jsonl").read_bytes() == b""


def ended(**changes: Any) -> Summary:
    whole = Summary(4, 4, 0, 0, 0, False, {}, 0.0, None, 0.0, 0.0)
    return replace(whole, **changes)


@pytest.mark.parametrize(
    ("command", "summary", "code"),
    [
        ("study relays demo:flat --n-each 4 --out st1", ended(ok=1, left=3, interrupted=True), 130),
        ("study profiles demo:flat --out st2", ended(ok=1, left=3, interrupted=True), 130),
        ("study relays demo:flat --n-each 4 --out st3", ended(ok=1, error=3), 2),
        ("demo --out st4", ended(ok=1, left=3, interrupted=True), 130),
    ],
)
def test_half_a_run_is_no_study_and_no_demo(
    command: str,
    summary: Summary,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    calls = []

    def stopped(*_: object, **__: object) -> Summary:
        calls.append(1)
        return summary

    monkeypatch.setattr("navloom.evals.runner.run_request", stopped)
    monkeypatch.setattr("navloom.evals.study.run_request", stopped)
    monkeypatch.setattr("navloom.evals.study.read_errors", lambda _: [{"message": "no key"}])
    assert run(command) == code
    assert len(calls) == 1, "what follows a stopped run must not begin"
    out, err = capsys.readouterr()
    assert out == ""
    assert "left" in err or "3 of 4 samples ended in an error, no key" in err


@pytest.mark.parametrize(
    ("words", "environment", "to", "code"),
    [
        (["scenes", "show", "demo:flat"], {"PYTHONIOENCODING": "ascii"}, os.devnull, 0),
        (["scenes", "show", "demo:flat"], {}, "/dev/full", 1),
    ],
)
def test_an_output_that_takes_less_is_no_defect(
    words: list[str], environment: dict[str, str], to: str, code: int
) -> None:
    if not Path(to).exists():
        pytest.skip(f"no {to} on this system")
    with Path(to).open("w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "navloom.cli.main", *words],
            stdout=stdout,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            text=True,
            check=False,
        )
    assert done.returncode == code
    assert done.stderr.count("\n") == (1 if code else 0)
    assert "Traceback" not in done.stderr


def test_weird_names_of_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weird = tmp_path / 'we ird $(x); "q" \u2603' / os.fsdecode(b"\xff")
    try:
        weird.mkdir(parents=True)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    save(row_house(), weird / "homes" / "a.json")
    words = ["synth", "single", str(weird / "homes"), "--n", "1", "--display", "none", "--out"]
    assert main([*words, str(weird / "run")]) == 0
    assert f"navloom report '{tmp_path}/we ird" in capsys.readouterr().err
    assert main([*words, str(weird / "run")]) == 0
    assert main(["report", str(weird / "run")]) == 0
    assert main(["export", str(weird / "run"), "--out", str(weird / "t.jsonl")]) == 0
    assert main(["validate", str(weird / "t.jsonl"), "--scenes", str(weird / "homes")]) == 0
