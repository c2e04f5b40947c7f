"""Evaluation of navigators: what a run holds, what makes it the same, what a cut leaves behind."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import DataError, RunError, SceneError, SimulatorError, UsageError
from navloom.evals.captions.request import CaptionRequest
from navloom.evals.dry_run import dry_run
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.run import plan, spread_episodes
from navloom.evals.navigation.scores import score_sample
from navloom.evals.navigation.subset import build_subset, save_subset
from navloom.evals.run_folder import read_errors, read_run, read_samples
from navloom.evals.runner import arun_request, run_request
from navloom.evals.session import Session
from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.models import get_model
from navloom.scenes import scene_uri as scene_uris
from navloom.scenes.safe_files import read_bytes
from navloom.scenes.scene_uri import load_scene
from navloom.testing import ModelServer, reply_with
from tests.evals.stopping import AT_ONCE, asked_of, cut_short, slow
from tests.evals.tasks.folder import folder

KEYS = {
    "trajectory",
    "stopped",
    "end",
    "steps",
    "counts",
    "contacts",
    "prompt",
    "episode",
    "scores",
}


def homes(**changes: Any) -> EvalRequest:
    return EvalRequest(**{"task": "scene", "options": {"spec": "demo:", "n": 6}, **changes})


def walks(data: Path, **changes: Any) -> EvalRequest:
    return EvalRequest(**{"task": "r2r", "data": str(data), **changes})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return folder(tmp_path / "data")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model over the loopback that says one thing."""
    opened: list[ModelServer] = []

    def say(reply: Any) -> ModelServer:
        server = ModelServer(reply if callable(reply) else lambda _: reply).__enter__()
        opened.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-a-test-0123456789")
        return server

    yield say
    for server in opened:
        server.__exit__(None, None, None)


def test_a_line_holds_the_episode_its_scores_and_what_went_wrong(tmp_path: Path) -> None:
    summary = run_request(homes(), tmp_path / "r")
    rows = read_samples(tmp_path / "r")
    assert len(rows) == summary.ok + summary.failed == 6
    for row in rows:
        result = row["result"]
        assert result.keys() >= KEYS
        assert result["episode"]["id"] == row["id"]
        assert (row["status"] == "ok") == (result["scores"]["SR"] == 1)
        assert (row["reason"] is None) == (row["message"] is None) == (row["status"] == "ok")
        assert result["tags"]["success"] == (row["status"] == "ok")
        assert row["usage"]["calls"] == result["counts"]["steps"]
        assert [part["role"] for part in row["models"]] == ["navigator"]


def test_the_summary_has_the_means_of_the_lines(tmp_path: Path) -> None:
    summary = run_request(homes(), tmp_path / "r")
    kept = json.loads((tmp_path / "r/summary.json").read_text())["scores"]
    assert kept == json.loads(json.dumps(summary.scores))
    rows = [row["result"]["scores"] for row in read_samples(tmp_path / "r")]
    for name in ("SR", "SPL", "NE", "TL"):
        assert kept["metrics"][name]["mean"] == pytest.approx(sum(r[name] for r in rows) / 6)
    low, high = kept["metrics"]["TL"]["interval"]
    assert low < kept["metrics"]["TL"]["mean"] < high


def test_the_shortest_path_is_the_upper_bound(data: Path, tmp_path: Path) -> None:
    scores = run_request(walks(data, agent="shortest-path"), tmp_path / "r").scores
    assert scores["episodes"] == 6
    assert (scores["metrics"]["SR"]["mean"], scores["metrics"]["SPL"]["mean"]) == (1, 1)
    assert scores["ends"] == {"stop": 6}


def test_same_request_same_walks_and_another_seed_others(tmp_path: Path) -> None:
    def paths(name: str, seed: int, at_once: int) -> Any:
        run_request(
            homes(agent="random", seed=seed), tmp_path / name, Session(max_connections=at_once)
        )
        rows = read_samples(tmp_path / name)
        assert len(rows) == 6
        return [row["result"]["trajectory"] for row in rows]

    assert paths("a", 1, 1) == paths("b", 1, 8)
    assert paths("c", 2, 8) != paths("d", 1, 8)


@pytest.mark.slow
def test_epochs_try_each_episode_again(data: Path, tmp_path: Path) -> None:
    request = walks(data, agent="random", epochs=2)
    run_request(request, tmp_path / "r")
    rows = read_samples(tmp_path / "r")
    assert len(rows) == 12
    assert {row["id"] for row in rows} >= {"1_0-e1", "1_0-e2"}
    assert {row["result"]["episode"]["id"] for row in rows} == {"1_0", "1_1", "1_2",
                                                                "2_0", "2_1", "2_2"}  # fmt: skip
    seeds = {row["seed"] for row in rows}
    assert len(seeds) == 12
    # A reply that is kept for one try is none of another.
    assert {s.epoch for s in plan(request, None, print).samples} == {0, 1}


@pytest.mark.slow
def test_limit_and_sample_id_do_part_of_a_run(data: Path, tmp_path: Path) -> None:
    request, out = walks(data), tmp_path / "r"
    assert run_request(request, out, Session(limit=2)).scores["episodes"] == 2
    one_of_each = {row["id"] for row in read_samples(out)}
    assert {name[0] for name in one_of_each} == {"1", "2"}
    run_request(request, out, Session(sample_id=["2_1"]))
    assert {row["id"] for row in read_samples(out)} == {*one_of_each, "2_1"}
    assert run_request(request, out).scores["episodes"] == 6
    with pytest.raises(UsageError, match="Did you mean '2_1'"):
        run_request(request, out, Session(sample_id=["2_11"]))


def test_a_subset_is_its_episodes(data: Path, tmp_path: Path) -> None:
    index = tmp_path / "s.json"
    subset = build_subset(load_task("r2r", data), 2, seed=3)
    save_subset(subset, index)
    out = tmp_path / "r"
    run_request(walks(data, subset=str(index)), out)
    assert {row["id"] for row in read_samples(out)} == set(subset.ids)
    save_subset(build_subset(load_task("r2r", data), 1, seed=3), index)
    with pytest.raises(RunError, match="subset_ids was"):
        run_request(walks(data, subset=str(index)), out)
    with pytest.raises(DataError, match="the subset is of r2r val_unseen"):
        plan(EvalRequest(task="reverie", data=str(data), subset=str(index)), None, print)


def test_files_are_what_they_hold_and_not_where_they_lie(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    run_request(walks(data), out, Session(limit=1))
    moved = tmp_path / "moved"
    shutil.move(data, moved)
    assert run_request(walks(moved), out).scores["episodes"] == 6
    file = moved / "r2r/R2R_val_unseen.json"
    file.write_text(file.read_text().replace("Walk 1", "Run 1"))
    with pytest.raises(RunError, match="episodes was"):
        run_request(walks(moved), out)


def test_another_connectivity_is_another_run(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    run_request(walks(data), out, Session(limit=1))
    (file,) = (data / "connectivity").glob("*_connectivity.json")
    poses = json.loads(file.read_text())
    poses[-1]["height"] += 0.01
    file.write_text(json.dumps(poses))
    scene_uris._kept_scene.cache_clear()  # another session would read it anew
    with pytest.raises(RunError, match="scenes was"):
        run_request(walks(data), out)


def test_what_decides_nothing_is_no_part_of_the_request(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    run_request(walks(data, max_questions=2, oracle_budget=9), out, Session(limit=1))
    run_request(walks(data), out, Session(limit=1))
    with pytest.raises(RunError, match="dialogue was false, now true"):
        run_request(walks(data, dialogue=True), out)
    with pytest.raises(RunError, match="max_steps was 15, now 3"):
        run_request(walks(data, max_steps=3), out)
    prompts = read_run(out)["request"]["prompt_files"]
    assert [prompt["name"] for prompt in prompts] == ["navigator"]


def test_a_request_comes_back_from_its_run(data: Path, tmp_path: Path) -> None:
    asked = [
        homes(agent="mapgpt", reflect=True, max_revisions=2, dialogue=True, max_questions=1),
        walks(data, epochs=2, views=12, agent="random"),
    ]
    for number, request in enumerate(asked):
        out = tmp_path / str(number)
        run_request(request, out, Session(limit=1))
        there = EvalRequest.read(out)
        assert there == replace(request, split=there.split, model=request.navigator_model)
        assert run_request(there, out, Session(limit=1)).scores["episodes"] == 1
    with pytest.raises(RunError, match="it is a 'single'"):
        EvalRequest.read(_other_run(tmp_path))


def _other_run(tmp_path: Path) -> Path:
    from navloom.evals.navcraft.request import SynthRequest
    from navloom.evals.runner import run_request

    run_request(SynthRequest(kind="single", spec="demo:flat", n=1), tmp_path / "synth")
    return tmp_path / "synth"


def test_a_reply_that_is_no_action_is_never_a_stop(data: Path, tmp_path: Path, said: Any) -> None:
    file = data / "r2r/R2R_val_unseen.json"
    records = json.loads(file.read_text())
    records[1]["path"] = ["v1"]  # it stands on the goal from the start
    file.write_text(json.dumps(records))
    said("Ich weiß es nicht, tut mir leid.")
    run_request(walks(data, agent="navgpt", model="openai/mute"), tmp_path / "r")
    rows = {row["id"]: row for row in read_samples(tmp_path / "r")}
    row = rows["2_0"]
    assert (row["status"], row["reason"]) == ("failed", "unparsed")
    assert row["result"]["counts"]["unparsed"] == 3
    assert row["result"]["counts"]["reprompts"] == 2
    scores = row["result"]["scores"]
    assert (scores["SR"], scores["SPL"], scores["SDTW"], scores["NE"], scores["OSR"]) == (
        0, 0, 0, 0, 1,
    )  # fmt: skip
    assert row["result"]["tags"]["behaviour"][0] == "generation_error"


@pytest.mark.parametrize(
    ("reply", "reason", "end"),
    [("Action: Stop.", "stopped_away", "stop"), ("Action: 1.", "max_steps", "max_steps")],
)
def test_models_that_stop_at_once_or_never(
    reply: str, reason: str, end: str, data: Path, tmp_path: Path, said: Any
) -> None:
    said(reply)
    request = walks(data, agent="navgpt", model="openai/stubborn", max_steps=4)
    summary = run_request(request, tmp_path / "r", Session(sample_id=["1_0"]))
    (row,) = read_samples(tmp_path / "r")
    assert (row["status"], row["reason"], row["result"]["end"]) == ("failed", reason, end)
    assert "m from the goal" in row["message"]
    assert row["result"]["counts"]["steps"] == (1 if end == "stop" else 4)
    assert summary.scores["ends"] == {end: 1}


@pytest.mark.slow
def test_a_question_is_answered_and_paid_for_as_the_oracle(tmp_path: Path, said: Any) -> None:
    asked = Counter[str]()

    def reply(call: Any) -> str:
        job = "oracle" if "Asked because" in json.dumps(call.body) else "navigator"
        asked[job] += 1
        first = job == "navigator" and asked[job] == 1
        return "Go on." if job == "oracle" else "Action: Ask: Where?" if first else "Action: Stop."

    said(reply)
    request = homes(agent="mapgpt", model="openai/a", oracle_model="openai/b", dialogue=True)
    run_request(request, tmp_path / "r", Session(limit=1))
    (row,) = read_samples(tmp_path / "r")
    assert row["result"]["counts"]["questions"] == 1
    assert {(part["model"], part["role"], part["calls"]) for part in row["models"]} == {
        ("openai/a", "navigator", 2),
        ("openai/b", "oracle", 1),
    }


@pytest.mark.slow
def test_failures_of_an_earlier_run_are_shown_but_no_ones_own(tmp_path: Path) -> None:
    run_request(homes(agent="random", options={"spec": "demo:", "n": 12}), tmp_path / "first")
    request = homes(few_shot_failures=2, failures_from=str(tmp_path / "first"))
    shown = dry_run(request, Session(limit=1)).prompts[0].messages[0][1]
    assert [k for k in range(1, 4) if f"Failure {k}: Told" in shown] == [1, 2]
    own = plan(request, None, print).episodes[plan(request, None, print).samples[0].id].instruction
    assert own not in shown
    run_request(request, tmp_path / "r", Session(limit=1))
    assert read_run(tmp_path / "r")["request"]["failure_examples"]["count"] > 2
    with pytest.raises(UsageError, match="go together"):
        homes(few_shot_failures=2)


def test_a_dry_run_bounds_what_it_would_take(data: Path) -> None:
    asked = walks(data, agent="navgpt", model="openai/gpt-4o-mini", max_steps=10, reflect=True)
    dry = dry_run(asked)
    assert dry.samples == 6
    # Ten steps, each reply sent back twice, and revised once with two more.
    assert dry.calls == (6, 6 * 10 * 3 * 2)
    assert "Instruction: Walk " in dry.prompts[0].messages[1][1]
    assert dry.cost_usd is not None
    assert 0 < dry.cost_usd[0] < dry.cost_usd[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"reflect": True, "cot": True},
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"dialogue": True}, marks=pytest.mark.slow),
        pytest.param({"agent": "random"}, marks=pytest.mark.slow),
    ],
    ids=lambda changes: "-".join(changes) or "plain",
)
def test_bounds_of_a_dry_run_hold(changes: dict[str, Any], tmp_path: Path, data: Path) -> None:
    request = walks(data, **changes)
    dry = dry_run(request)
    used = run_request(request, tmp_path / "run").usage
    for low_high, key in ((dry.calls, "calls"), (dry.input_tokens, "input_tokens"),
                          (dry.output_tokens, "output_tokens")):  # fmt: skip
        assert low_high[0] <= used[key] <= low_high[1], key


def test_bad_places_are_one_line_each(data: Path, tmp_path: Path) -> None:
    bad = [
        (walks(tmp_path / "nowhere"), DataError, "no such folder"),
        (walks(data, task="r3r"), UsageError, "no task 'r3r'"),
        (walks(data, split="tset"), UsageError, "no split 'tset'"),
        (walks(data, subset=str(tmp_path / "no.json")), DataError, "no.json"),
        (walks(data, captions=str(tmp_path / "no.json")), UsageError, "no.json"),
        (walks(data, backend="grahp"), SimulatorError, "Did you mean 'graph'"),
        (homes(options={"spec": "demo:vila"}), SceneError, "Did you mean 'villa'"),
    ]
    for request, kind, words in bad:
        with pytest.raises(kind, match=words) as error:
            run_request(request, tmp_path / "r")
        assert "\n" not in str(error.value)
        assert not (tmp_path / "r").exists(), "a folder was made for a request that is wrong"


@pytest.mark.parametrize(
    "changes",
    [{"max_steps": 0}, {"epochs": 0}, {"max_questions": -1}, {"few_shot_failures": 4},
     {"agent": "navgtp"}],
)  # fmt: skip
def test_requests_that_make_no_sense(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        homes(**changes)


@pytest.mark.slow
def test_captions_of_a_model_go_before_the_datasets_own(tmp_path: Path) -> None:
    run = tmp_path / "captions-run"
    run_request(CaptionRequest(spec="demo:flat", job=("summary",)), run)
    (file,) = run.glob("captions/*.json")
    there = json.loads(file.read_text())
    for words in there["viewpoints"].values():
        words["summary"] = "A place that a model described."
    file.write_text(json.dumps(there))
    request = homes(options={"spec": "demo:", "n": 12}, captions=str(run))
    shown = {p.sample[:9]: p.messages[1][1] for p in dry_run(request).prompts}
    assert {home for home, text in shown.items() if "that a model described" in text} == {
        "demo-flat"
    }
    assert len(shown) == 3
    assert plan(request, None, print).notes[-1] == (
        f"--captions {run} has no captions of demo:house, demo:villa (2 of 3 scenes):"
        " their own are used there."
    )
    one = {"spec": "demo:flat", "n": 2}
    for given in (run, file):
        made = plan(homes(options=one, captions=str(given)), None, print)
        assert not any("--captions" in note for note in made.notes)
    run_request(request, tmp_path / "r", Session(limit=1))
    there["viewpoints"].popitem()
    file.write_text(json.dumps(there))
    with pytest.raises(RunError, match="caption_files was"):
        run_request(request, tmp_path / "r", Session(limit=1))


def test_captions_are_read_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "long.json").write_text("x" * 40)
    bounded = partial(read_bytes, most=39)
    monkeypatch.setattr("navloom.evals.navigation.run.read_bytes", bounded)
    with pytest.raises(UsageError, match=r"long\.json: expected at most 39 bytes"):
        plan(homes(captions=str(tmp_path / "long.json")), None, print)


def test_a_hop_where_no_edge_is_scores_nothing_and_is_named(data: Path) -> None:
    request = walks(data)
    made = plan(request, None, print)
    episode, scene = made.episodes["1_0"], load_scene(made.scenes["mp3d:scanA"])
    state = {
        "message": None,
        "result": {
            "trajectory": [["v0", 0.0, 0.0], ["v3", 0.0, 0.0]],
            "stopped": True,
            "end": "stop",
            "steps": [],
            "counts": {},
            "contacts": [],
        },
    }
    line = score_sample(episode, state, scene)
    assert (line["status"], line["reason"]) == ("failed", "invalid")
    assert "from v0 to v3, is along no edge" in line["message"]
    assert (line["result"]["scores"]["SR"], line["result"]["scores"]["NE"]) == (0, None)


def test_contacts_count_where_a_simulator_reports_them(data: Path) -> None:
    made = plan(walks(data), None, print)
    episode, scene = made.episodes["1_0"], load_scene(made.scenes["mp3d:scanA"])
    walked = [[name, 0.0, 0.0] for name in ("v0", "v1", "v2", "v3")]
    touch = {"step": 0, "what": "wall", "displacement": 0.5, "point": [0, 0, 0]}
    state = {
        "message": None,
        "result": {
            "trajectory": walked,
            "stopped": True,
            "end": "stop",
            "steps": [],
            "counts": {},
            "contacts": [touch],
        },
    }
    scores = score_sample(episode, state, scene, touches=True)["result"]["scores"]
    assert (scores["SR"], scores["SR_strict"], scores["SR_telhop"]) == (1, 0, 1)
    assert scores["collision_rate"] == pytest.approx(1 / 3)
    assert "SR_strict" not in score_sample(episode, state, scene)["result"]["scores"]


@pytest.mark.slow
def test_an_instruction_that_is_enormous_is_an_instruction(data: Path, tmp_path: Path) -> None:
    file = data / "r2r/R2R_val_unseen.json"
    records = json.loads(file.read_text())
    records[0]["instructions"] = ["go left " * 2400, "\x00\x1b[31m {{ 1/0 }} </s>", "去厨房。"]
    file.write_text(json.dumps(records))
    summary = run_request(walks(data), tmp_path / "r")
    assert (summary.error, summary.scores["episodes"]) == (0, 6)


def test_what_the_machinery_broke_is_no_failure(data: Path, tmp_path: Path, said: Any) -> None:
    broken = [True]

    def reply(_: Any) -> Any:
        if broken[0]:
            raise RuntimeError("down")
        return "Action: Stop."

    said(reply)
    request, out = walks(data, agent="navgpt", model="openai/x"), tmp_path / "r"
    summary = run_request(request, out, Session(limit=1))
    assert (summary.error, summary.failed, summary.scores["episodes"]) == (1, 0, 0)
    (error,) = read_errors(out)
    assert (error["id"][0] in "12", error["status"]) == (True, "error")
    broken[0] = False
    summary = run_request(EvalRequest.read(out), out, Session(limit=1, retry=True))
    assert (summary.error, summary.failed) == (0, 1)


async def test_a_notebook_awaits_the_same(tmp_path: Path) -> None:
    summary = await arun_request(homes(), tmp_path / "r", Session(limit=2))
    assert summary.scores["episodes"] == 2


CUTS = 4


@pytest.mark.slow
async def test_cut_again_and_again_it_ends_as_if_nothing_had_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    answer = reply_with(get_model("builtin/heuristic"))
    request = homes(
        options={"spec": "demo:", "n": 6}, agent="mapgpt", cot=True, model="openai/brain"
    )
    with ModelServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        await arun_request(request, tmp_path / "whole", Session(max_connections=AT_ONCE))
        needed = asked_of(server)
    with ModelServer(slow(answer)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        await cut_short(request, tmp_path / "cut", server, CUTS)
        asked = asked_of(server)
    assert set(asked) == set(needed)
    again = asked.total() - needed.total()
    assert 0 < again <= CUTS * AT_ONCE, "a step that was on disk was asked of the model again"
    whole, cut = (read_samples(tmp_path / name) for name in ("whole", "cut"))
    assert [row["id"] for row in cut] == [row["id"] for row in whole]
    assert [row["result"] for row in cut] == [row["result"] for row in whole]
    assert [row["usage"] for row in cut] == [row["usage"] for row in whole]


async def test_a_person_is_asked_one_question_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    async def noted(folder: Any, samples: Any, job: Any, session: Session) -> Any:
        seen.append(session.max_connections)
        raise RunError("enough")

    monkeypatch.setattr("navloom.evals.runner.run_batch", noted)
    for model in ("builtin/human", "builtin/human,max_retries=0", "builtin/random"):
        with pytest.raises(RunError, match="enough"):
            await arun_request(homes(agent="navgpt", model=model), tmp_path / model)
    assert seen == [1, 1, 8]


def test_the_first_of_an_evaluation_are_a_fair_share_of_it() -> None:
    def made(scene: str, path: int, told: int) -> Episode:
        return Episode(
            id=f"{scene}-{path}_{told}", task="r2r", scene=f"demo:{scene}", start="a",
            instruction="Go.", goals=("b",), columns={"path_id": path},
        )  # fmt: skip

    every = [made(s, p, t) for s in ("flat", "house", "villa") for p in range(4) for t in range(3)]
    dealt = spread_episodes(every, 0)
    assert sorted(e.id for e in dealt) == sorted(e.id for e in every)
    for turn in range(0, 36, 3):
        assert {e.scene for e in dealt[turn : turn + 3]} == {e.scene for e in every}
    for first in range(0, 36, 12):
        paths = {(e.scene, e.columns["path_id"]) for e in dealt[first : first + 12]}
        assert len(paths) == 12
    assert spread_episodes(every[::-1], 0) == dealt != spread_episodes(every, 1)
