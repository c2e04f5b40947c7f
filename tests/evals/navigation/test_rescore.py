"""Submissions, anyone's, and runs: what they score, and what is wrong with them by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.errors import DataError, RunError, UsageError
from navloom.evals.navigation import rescore as scoring
from navloom.evals.navigation import submission
from navloom.evals.navigation.graph_distances import MOST_POSITIONS, InvalidEpisode
from navloom.evals.navigation.rescore import score_run, score_submission
from navloom.evals.navigation.submission import read_submission, read_viewpoints
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.scenes.formats.scene_json import save
from tests.evals.navigation.test_metrics import ROW, episode

Submit = Callable[[Any], Path]


@pytest.fixture
def submit(tmp_path: Path) -> Submit:
    def write(content: Any) -> Path:
        path = tmp_path / "submission.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskData:
    """Two paths with two instructions each, in place of a dataset."""
    uri = str(save(ROW, tmp_path / "row.json"))
    episodes = tuple(
        episode(path, name=f"{number}_{k}", columns={"path_id": number})
        for number, path in ((1, "abcd"), (2, "dcb"))
        for k in (0, 1)
    )
    found = TaskData("r2r", "val_unseen", episodes, {ROW.uri: uri})
    monkeypatch.setattr(scoring, "load_task", lambda *_, **__: found)
    return found


def entry(name: str, path: str) -> dict[str, Any]:
    return {"instr_id": name, "trajectory": [[v, 0.5, 0.0] for v in path]}


WHOLE = [entry("1_0", "abcd"), entry("1_1", "abba"), entry("2_0", "dcb"), entry("2_1", "dc")]


def test_a_whole_submission(task: TaskData, submit: Submit) -> None:
    said = score_submission(submit(WHOLE)).record()
    assert said["n"] == 4
    assert said["invalid"] == []
    assert said["SR"] == 0.75
    assert said["TL"] == (6 + 4 + 4 + 2) / 4
    assert said["intervals"]["SR"] == [0.5, 1.0]
    assert said["bootstrap"]["by"] == "path"
    assert {"TL", "NE", "SR", "OSR", "SPL", "nDTW", "SDTW", "CLS"} <= said.keys()
    json.dumps(said, allow_nan=False)


def test_a_submission_that_names_things_is_scored_on_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, submit: Submit
) -> None:
    uri = str(save(ROW, tmp_path / "row.json"))
    more = {"visible_from": ("d",), "columns": {"path_id": 1, "object": 7}}
    episodes = tuple(episode("abcd", name=f"1_7_{k}", **more) for k in range(4))
    found = TaskData("reverie", "val_unseen", episodes, {ROW.uri: uri})
    monkeypatch.setattr(scoring, "load_task", lambda *_, **__: found)
    entries = [entry(f"1_7_{k}", "abcd") for k in range(4)]
    assert "RGS" not in score_submission(submit(entries), form="reverie").record()
    named = [
        {**each, "predObjId": said} for each, said in zip(entries, (7, "7", 8, []), strict=True)
    ]
    said = score_submission(submit(named), form="reverie").record()
    assert (said["RGS"], said["RGSPL"], said["defined"]["RGS"]) == (0.5, 0.5, 4)


def test_what_is_missing_has_failed_unless_told_otherwise(task: TaskData, submit: Submit) -> None:
    file = submit(WHOLE[:1])
    said = score_submission(file).record()
    assert (said["n"], said["SR"], said["TL"], said["defined"]["TL"]) == (4, 0.25, 6, 1)
    assert [(each["instr_id"], each["reason"]) for each in said["invalid"]] == [
        ("1_1", "missing"), ("2_0", "missing"), ("2_1", "missing"),
    ]  # fmt: skip
    said = score_submission(file, partial=True).record()
    assert (said["n"], said["SR"], said["invalid"]) == (1, 1, [])


@pytest.mark.parametrize(
    ("change", "name", "reason", "success"),
    [
        ([entry("1_0", "abcd")], "1_0", "duplicate", 0.5),
        ([entry("9_0", "abcd")], "9_0", "unknown_id", 0.75),
        ([17], "[4]", "malformed", 0.75),
        ([{"instr_id": 3, "trajectory": []}], "[4]", "malformed", 0.75),
        ([{"trajectory": []}], "[4]", "malformed", 0.75),
        ([{"instr_id": "x" * 201, "trajectory": []}], "[4]", "malformed", 0.75),
    ],
)
def test_an_entry_too_many(
    task: TaskData, submit: Submit, change: list[Any], name: str, reason: str, success: float
) -> None:
    said = score_submission(submit([*WHOLE, *change])).record()
    assert [(each["instr_id"], each["reason"]) for each in said["invalid"]] == [(name, reason)]
    assert (said["n"], said["SR"]) == (4, success)


@pytest.mark.parametrize(
    ("trajectory", "reason"),
    [
        ([], "empty"),
        (None, "malformed"),
        ({"a": 1}, "malformed"),
        ([["a", 0, 0], [0, "b", 0]], "malformed"),
        ([1, 2], "malformed"),
        ([["a", {}]], "malformed"),
        ([[[[["a"]]]]], "malformed"),
        (["b", "c"], "wrong_start"),
        (["a", "c"], "no_edge"),
        (["a", "q"], "unknown_viewpoint"),
        (["a"] * (MOST_POSITIONS + 1), "too_long"),
        ([["a", *[0] * 60_000]], "too_long"),
    ],
)
def test_a_bad_trajectory_fails_its_episode_alone(
    task: TaskData, submit: Submit, trajectory: Any, reason: str
) -> None:
    sheet = score_submission(submit([{"instr_id": "1_0", "trajectory": trajectory}, *WHOLE[1:]]))
    assert [(each.id, each.what.reason) for each in sheet.faults] == [("1_0", reason)]
    assert sheet.record()["SR"] == 0.5
    assert sheet.records["1_0"]["SR"] == 0
    assert sheet.records["1_0"]["invalid"]["reason"] == reason
    assert reason in "\n".join(table.markdown() for table in sheet.tables())


@pytest.mark.parametrize(
    "trajectory",
    [
        ["a", "b", "c"],
        [["a", 0.1, 0.2], ["b", 0.1, None], ["c"]],
        [["a"], ["b", "c"]],
        [[["a", 0, 0]], [["b", 0, 0], ["c", 0, 0]]],
    ],
)
def test_forms_of_a_trajectory(trajectory: list[Any]) -> None:
    assert read_viewpoints(trajectory) == ["a", "b", "c"]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4) | st.sampled_from("abcd"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_viewpoints_or_a_fault(value: Any) -> None:
    found = read_viewpoints(value)
    assert isinstance(found, InvalidEpisode) or all(isinstance(v, str) for v in found)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(
        json_values | st.fixed_dictionaries({"instr_id": json_values, "trajectory": json_values}),
        min_size=1,
    )
)
def test_any_list_is_read(tmp_path_factory: pytest.TempPathFactory, entries: list[Any]) -> None:
    path = tmp_path_factory.mktemp("any") / "s.json"
    path.write_text(json.dumps(entries))
    found = read_submission(path)
    assert found.entries == len(entries)
    assert not found.trajectories.keys() & found.faults.keys()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "expected a submission in JSON"),
        ("[" * 100_000, "expected a submission in JSON"),
        ("[1" + "0" * 5000 + "]", "expected a submission in JSON"),
        ("{}", "expected a list of {instr_id, trajectory}, found {}"),
        ("[]", "expected a list of {instr_id, trajectory}, found []"),
        ([entry("8_0", "a")], "none of its 1 entries names an instruction of r2r val_unseen"),
    ],
)
def test_no_submission_at_all(task: TaskData, submit: Submit, content: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        score_submission(submit(content))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_one_byte_too_large_is_refused(
    task: TaskData, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = submit(WHOLE)
    size = file.stat().st_size
    monkeypatch.setattr(submission, "MOST_BYTES", size)
    assert score_submission(file).record()["n"] == 4
    monkeypatch.setattr(submission, "MOST_BYTES", size - 1)
    with pytest.raises(DataError, match=f"at most {size - 1} bytes, and the file is larger"):
        score_submission(file)


def test_no_such_file_and_no_such_format(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        score_submission(tmp_path / "none.json")
    with pytest.raises(UsageError, match=r"expected one of r2r, r4r, reverie\. Did you mean 'r2r'"):
        score_submission(tmp_path / "none.json", form="r2")


def run_with(folder: Path, lines: list[dict[str, Any]], **request: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    said = {"kind": "navigate", "request": {"task": "none", **request}, "seed": 0}
    (folder / "run.json").write_text(json.dumps(said))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "samples.jsonl").write_text(text)
    return folder


def line(name: str, path: str, given: Episode, **result: Any) -> dict[str, Any]:
    return {
        "id": name,
        "status": "ok",
        "usage": {"input_tokens": 10, "output_tokens": 2},
        "cost_usd": None,
        "seconds": 0.5,
        "result": {
            "trajectory": [[v, 0.0, 0.0] for v in path],
            "end": "stop",
            "counts": {"steps": len(path)},
            "contacts": [],
            "episode": given.model_dump(mode="json"),
            "scores": {},
            **result,
        },
    }


@pytest.fixture
def home(tmp_path: Path) -> Episode:
    """An episode whose scene's name is a file, so that a run finds it without a dataset."""
    return episode(scene=str(save(ROW, tmp_path / "row.json")), columns={"path_id": 1})


def test_a_run_is_measured_anew(tmp_path: Path, home: Episode) -> None:
    run = run_with(
        tmp_path / "run",
        [
            line("e-e1", "abcd", home, scores={"SR": 0.0}),
            line("e-e2", "aab", home),
            line("other", "abcd", home.model_copy(update={"columns": {}}), end="unparsed"),
            line("lost", "ad", home),
        ],
    )
    sheet = score_run(run)
    assert {name: record["SR"] for name, record in sheet.records.items()} == {
        "e-e1": 1, "e-e2": 0, "other": 0, "lost": 0,
    }  # fmt: skip
    assert [(fault.id, fault.what.reason) for fault in sheet.faults] == [("lost", "no_edge")]
    assert sheet.records["e-e1"]["cluster"] == sheet.records["e-e2"]["cluster"]
    assert sheet.records["other"]["cluster"] == "e"
    said = sheet.record()
    assert (said["steps"], said["input_tokens"], said["seconds"]) == (3.25, 10, 0.5)
    assert "cost_usd" not in said


def test_contacts_of_a_run(tmp_path: Path, home: Episode) -> None:
    bump = [{"what": "wall", "displacement": 0.2, "point": [0, 0, 0]}]
    lines = [
        line("bumped", "abcd", home, contacts=bump),
        line("clean", "abcd", home, scores={"SR_telhop": 1.0}),
        line("blind", "abcd", home),
    ]
    records = score_run(run_with(tmp_path / "run", lines)).records
    assert [records["bumped"][k] for k in ("SR_strict", "SR_telhop", "collision_rate")] == [
        0,
        1,
        1 / 3,
    ]
    assert records["clean"]["SR_strict"] == 1
    assert "SR_strict" not in records["blind"]


def test_a_run_that_cannot_be_scored(tmp_path: Path, home: Episode) -> None:
    with pytest.raises(RunError, match="is not a run"):
        score_run(tmp_path / "none")
    with pytest.raises(RunError, match="no finished episode"):
        score_run(run_with(tmp_path / "empty", []))
    for broken in ({"trajectory": 3}, {"episode": {}}, {"contacts": [{}]}, {"contacts": 4}):
        path = "abcd"
        run = run_with(tmp_path / "broken", [line("x", path, home, **broken)])
        if broken == {"trajectory": 3}:
            assert score_run(run).faults[0].what.reason == "malformed"
            continue
        with pytest.raises(
            RunError, match="the sample 'x' has not the form of a navigated episode"
        ):
            score_run(run)
    with pytest.raises(RunError, match="'y' has not the form"):
        score_run(run_with(tmp_path / "task", [{"id": "y", "result": None}]))


@pytest.mark.parametrize(
    ("trajectory", "found"),
    [
        ([[["a", 0, 0]]], ["a"]),
        ([[[["a"]]]], ["a"]),
        ([[[[["a"]]]]], "nested beyond reason"),
        (["a", ["b", None, 0.5]], ["a", "b"]),
        ([[0, "a"]], "its trajectory holds 0"),
        (["a", 0], "its trajectory holds 0"),
        (["a", {"b": 1}], "its trajectory holds"),
        ("a", "expected a list"),
    ],
)
def test_a_trajectory_is_read_three_lists_deep(trajectory: Any, found: list[str] | str) -> None:
    read = read_viewpoints(trajectory)
    if isinstance(found, list):
        assert read == found
    else:
        assert isinstance(read, InvalidEpisode)
        assert found in read.message


def test_a_trajectory_has_ten_thousand_positions_and_four_items_each() -> None:
    assert len(read_viewpoints(["a"] * 10_001)) == 10_001  # type: ignore[arg-type]
    for long in (["a"] * 10_002, [["a", 0, 0, 0] * 10_001]):
        read = read_viewpoints(long)
        assert isinstance(read, InvalidEpisode)
        assert read.reason == "too_long"
    whole = read_viewpoints([["a", *[0] * 3] for _ in range(10_000)])
    assert whole == ["a"] * 10_000


def test_an_instruction_has_200_letters_and_names_one_object(submit: Submit) -> None:
    found = read_submission(
        submit(
            [
                {"instr_id": "x" * 200, "trajectory": [], "predObjId": "o" * 201},
                {"instr_id": "y", "trajectory": [], "predObjId": True},
                {"instr_id": "z", "trajectory": [], "predObjId": 7},
                {"instr_id": "", "trajectory": []},
                {"instr_id": "twice", "trajectory": ["a"]},
                {"instr_id": "twice", "trajectory": ["b"]},
            ]
        )
    )
    assert found.pointed == {"x" * 200: "o" * 200, "z": "7"}
    assert [each.id for each in found.nameless] == ["[3]"]
    assert found.faults["twice"].what.message == "it stands twice, as entries 4 and 5"
    assert "twice" not in found.trajectories
    assert found.entries == 6
