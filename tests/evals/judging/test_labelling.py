"""Labelling failed walks as a run: which are, what is shown, what is written, resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import DataError, RunError
from navloom.evals.judging.labelling import count_labels, read_failed_episodes
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.navigation.failure_analysis import analyse
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.failure_narrative import describe_rollout
from navloom.evals.run_folder import read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.models import scripted
from navloom.tools.navigation.step_records import Trajectory
from tests.evals.judging.test_run import written
from tests.evals.judging.test_scores import run_with
from tests.evals.navigation.walks import PATH, episode, result, scene

WALKS = {"a/1": ("1_0", "2_0", "2_6", "2_3"), "b": ("1_0", "2_0"), "c": (*PATH, "4_1", "4_0")}


def line(name: str, *walk: str, status: str = "failed") -> str:
    said = {**result(*walk), "episode": episode().model_dump(mode="json")}
    return json.dumps({"id": name, "scene": episode().scene, "status": status, "result": said})


@pytest.fixture
def walks(tmp_path: Path) -> Path:
    good = line("good", *PATH, status="ok")
    failed = (line(name, *walk) for name, walk in WALKS.items())
    return written(tmp_path / "walks.jsonl", *failed, good)


def label(cause: Any, second: Any = "none") -> str:
    return json.dumps({"why": "because", "cause": cause, "second": second, "sure": True})


def labels(run: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in (run / "labels.jsonl").read_text().splitlines()]


def test_the_failed_walks_of_a_file_are_read_and_what_is_none_is_named(walks: Path) -> None:
    walks.write_text(walks.read_text() + '{"id": "x"}\n[1]\n')
    failed, faults = read_failed_episodes(walks)
    assert [each.id for each in failed] == [*WALKS]
    assert faults[0] == "line 6: expected an object"
    assert faults[1].startswith("x: no navigated episode: ")


@pytest.mark.parametrize("text", ["", '{"id": "x"}\n', "?\n"])
def test_a_file_without_a_failed_walk_says_so(text: str, tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text(text)
    with pytest.raises(DataError, match="no failed walk to label"):
        read_failed_episodes(file)


def test_the_rules_label_without_a_model(walks: Path, tmp_path: Path) -> None:
    summary = run_request(JudgeRequest(kind="judge_failures", of=str(walks)), tmp_path / "r")
    assert (summary.ok, summary.failed, summary.left) == (3, 0, 0)
    found = labels(tmp_path / "r")
    assert [each["id"] for each in found] == [*WALKS]
    for each in found:
        seen = analyse(result(*WALKS[each["id"]]), episode(), scene(), success=False)
        assert each["cause"] == seen.cause
        others = [cause for cause in seen.evidence["causes"] if cause != seen.cause]
        assert each["second"] == (others[0] if others else None)
    assert len({each["cause"] for each in found}) > 1


def test_a_model_reads_the_account_and_not_the_verdict(walks: Path, tmp_path: Path) -> None:
    asked = []

    def reader(request: Any) -> str:
        asked.append(str(request[-1].content))
        return label("object", "region") if len(asked) > 1 else "I do not know."

    scripted.register("labelling-reader", reader)
    try:
        request = JudgeRequest(
            kind="judge_failures", of=str(walks), model="scripted/labelling-reader", max_reasks=0
        )
        summary = run_request(request, tmp_path / "r", Session(max_connections=1))
    finally:
        scripted.unregister("labelling-reader")
    assert (summary.ok, summary.failed, summary.error) == (2, 1, 0)
    for told, walk in zip(asked, WALKS.values(), strict=True):
        assert describe_rollout(Trajectory.read(result(*walk)), episode(), scene()) in told
    found = labels(tmp_path / "r")
    assert found[0] == {"id": "a/1", "cause": None, "second": None, "sure": False}
    assert found[1] == {"id": "b", "cause": "object", "second": "region", "sure": True}
    rows = {row["of"]: row["result"] for row in read_samples(tmp_path / "r")}
    assert rows["b"]["rules"] == "premature_stop"


def test_a_run_goes_on_and_is_no_other(walks: Path, tmp_path: Path) -> None:
    request, out = JudgeRequest(kind="judge_failures", of=str(walks)), tmp_path / "r"
    assert run_request(request, out, Session(limit=1)).left == 2
    assert [each["id"] for each in labels(out)] == ["a/1"]
    assert run_request(request, out).left == 0
    assert len(labels(out)) == 3
    walks.write_text(walks.read_text().replace("1_0", "1_1", 1))
    with pytest.raises(RunError, match="another run"):
        run_request(request, out)


def test_a_drawn_label_is_one_of_the_causes(walks: Path, tmp_path: Path) -> None:
    request = JudgeRequest(kind="judge_failures", of=str(walks), model="builtin/random")
    assert run_request(request, tmp_path / "r").ok == 3
    assert {each["cause"] for each in labels(tmp_path / "r")} <= {*CAUSES} - {"none"}


def test_labels_are_counted_and_how_often_they_are_the_rules_own(tmp_path: Path) -> None:
    given = [("region", "region"), (None, "region"), ("object", "region"), ("region", "region")]
    rows = [{"result": {"cause": cause, "rules": rules}} for cause, rules in given]
    counted, same = count_labels(run_with(tmp_path, rows))
    assert list(counted.items()) == [("region", 2), ("unscored", 1), ("object", 1)]
    assert same == 2


def test_a_walk_without_an_id_is_called_as_its_episode_and_what_ended_well_is_none(
    tmp_path: Path,
) -> None:
    rows = [json.loads(line(name, *walk)) for name, walk in WALKS.items()]
    del rows[0]["id"]
    rows[1]["status"] = "ok"
    rows[2]["result"]["episode"] = None
    file = written(tmp_path / "walks.jsonl", *map(json.dumps, rows))
    failed, faults = read_failed_episodes(file)
    assert [each.id for each in failed] == ["e1"]
    assert len(faults) == 1
