"""Evaluations with a body: contacts, collisions, whose hops, and what is kept of all that."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from navloom.cli.main import main
from navloom.errors import RunError, SceneError, SimulatorError, UsageError
from navloom.evals.navigation import embodied_graph
from navloom.evals.navigation.metrics import score_episodes
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.rescore import score_run
from navloom.evals.navigation.results import write_report
from navloom.evals.navigation.run import plan
from navloom.evals.navigation.studies import study_bodies
from navloom.evals.report.blocks import Grid
from navloom.evals.report.report_files import read_report
from navloom.evals.report.run_comparison import compare_runs
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.runner import run_request
from navloom.evals.session import Session
from navloom.evals.tasks.episode import Episode
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.context import Context
from navloom.scenes.bodies import Embodiment, FloorPose, get_body
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim.registry import BACKENDS
from navloom_worlds.motion.collision_motion import mover_of
from tests.evals.navigation.bumpy import body_graph, hop_kind, make
from tests.evals.tasks.folder import folder
from tests.web.one_file import said_in

pytestmark = pytest.mark.slow

OFF = EvalRequest(task="scene", options={"spec": "demo:flat", "n": 12})


def asked(**changes: Any) -> EvalRequest:
    told = {"physics": "slide", "backend": "bumpy", "agent": "random", "max_steps": 12, **changes}
    return EvalRequest(task="scene", options={"spec": "demo:flat", "n": 12}, **told)


@pytest.fixture(autouse=True)
def _bumpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "bumpy", "tests.evals.navigation.bumpy:make")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run that slides, and one that is strict."""
    folder = tmp_path_factory.mktemp("runs")
    BACKENDS["bumpy"] = "tests.evals.navigation.bumpy:make"
    for physics in ("slide", "strict"):
        assert run_request(asked(physics=physics), folder / physics).error == 0
    del BACKENDS["bumpy"]
    return {physics: folder / physics for physics in ("slide", "strict")}


def test_an_episode_starts_where_its_body_can_stand() -> None:
    scene, starts = load_scene("home:0"), {}
    moves = mover_of(scene, get_body("WHEELCHAIR"))
    for physics in ("off", "slide"):
        told = {"options": {"spec": "home:0", "n": 30}, "body": "WHEELCHAIR", "physics": physics}
        made, gone = embodied_graph.load_feasible(EvalRequest(task="scene", **told))
        assert (len(made.episodes), gone) == (30, ())
        starts[physics] = [
            moves.settled(FloorPose(scene.viewpoint_by_id[each.start].ground, each.heading))
            for each in made.episodes
        ]
    assert None in starts["off"]
    assert None not in starts["slide"]


def hops(line: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Where each move led from, to where it should, and where the body was then."""
    result = line["result"]
    moves = [s["action"]["viewpoint"] for s in result["steps"] if s["action"]["kind"] == "move"]
    stood = [pose[0] for pose in result["trajectory"]]
    return list(zip(stood, moves, stood[1:], strict=False))


def test_without_physics_a_request_is_what_it_was() -> None:
    told = OFF.record()
    assert not told.keys() & {"body", "physics", "waypoints", "collision_threshold", "embodiment"}
    assert (OFF.physics, OFF.waypoints, OFF.embodiment.name) == ("off", "slim", "ROBOT")


def test_with_physics_it_keeps_whose_body_it_was(tmp_path: Path) -> None:
    mine = {"name": "TROLLEY", "width": 0.9, "height": 1.0}
    (tmp_path / "mine.json").write_text(json.dumps([mine, {**mine, "name": "CART"}]))
    request = asked(body=f"{tmp_path / 'mine.json'}#trolley", physics="strict")
    run_request(request, tmp_path / "r")
    kept = read_run(tmp_path / "r")["request"]
    assert (kept["body"], kept["physics"], kept["collision_threshold"]) == (
        "TROLLEY",
        "strict",
        0.1,
    )
    assert kept["embodiment"]["width"] == 0.9
    assert EvalRequest.read(tmp_path / "r").embodiment == request.embodiment
    (tmp_path / "mine.json").write_text(json.dumps([{**mine, "width": 0.8}]))
    with pytest.raises(RunError, match="embodiment"):
        run_request(asked(body=f"{tmp_path / 'mine.json'}", physics="strict"), tmp_path / "r")
    with pytest.raises(RunError, match="physics"):
        run_request(asked(body=request.body, physics="slide"), tmp_path / "r")


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"collision_threshold": -1.0}, UsageError, "collision_threshold is -1.0"),
        ({"collision_threshold": float("nan")}, UsageError, "collision_threshold is nan"),
        ({"physics": "sticky"}, UsageError, "expected one of off, slide, strict, telhop"),
    ],
)
def test_what_cannot_be_is_refused(
    changes: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        asked(**changes)


def test_a_backend_without_bodies_says_so(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="no body 'GIRAFFE'"):
        run_request(asked(body="GIRAFFE"), tmp_path / "r")
    with pytest.raises(SimulatorError, match="physics"):
        run_request(asked(backend="graph"), tmp_path / "r")


def test_who_slides_goes_on_from_where_it_stood(runs: dict[str, Path]) -> None:
    scene, kinds = load_scene("demo:flat"), set()
    for line in read_samples(runs["slide"]):
        result = line["result"]
        touched = 0
        for before, target, after in hops(line):
            kind = hop_kind(scene, before, target)
            kinds.add(kind)
            assert (after == target) == (kind != "shut")
            touched += kind != "free"
        assert len(result["contacts"]) == touched
        for viewpoint, *_, x, y, z in result["trajectory"][1:]:
            own = scene.viewpoint_by_id[viewpoint].ground
            assert (x, y, z) in ((own[0] + 0.2, *own[1:]), own)
        bumped = [step.get("bumped") for step in result["steps"] if step.get("bumped")]
        assert bumped == ["a wall"] * touched
    assert kinds == {"free", "grazed", "shut"}


def test_a_collision_ends_a_strict_episode_as_a_failure(runs: dict[str, Path]) -> None:
    lines = read_samples(runs["strict"])
    ended = [line for line in lines if line["result"]["end"] == "collision"]
    assert 0 < len(ended) < len(lines)
    for line in ended:
        scores = line["result"]["scores"]
        assert (line["status"], line["reason"]) == ("failed", "collision")
        assert scores["SR"] == 0
        assert scores["collided"] == 1
        assert line["result"]["tags"]["behaviour"][0] == "collision"
        # What stopped it half way left it with the viewpoint that it came from.
        assert line["result"]["trajectory"][-1][0] == line["result"]["steps"][-1]["viewpoint"]
    assert all(line["result"]["scores"]["collided"] == 0 for line in lines if line not in ended)


def test_the_collision_rate_is_all_contacts_over_all_actions(runs: dict[str, Path]) -> None:
    lines = read_samples(runs["slide"])
    said = json.loads((runs["slide"] / "summary.json").read_text())["scores"]["metrics"]
    contacts = sum(len(line["result"]["contacts"]) for line in lines)
    actions = sum(len(line["result"]["trajectory"]) - 1 for line in lines)
    assert said["collision_rate"]["mean"] == pytest.approx(contacts / actions)
    low, high = said["collision_rate"]["interval"]
    assert low < contacts / actions < high
    assert said["contacts"]["mean"] == pytest.approx(contacts / len(lines))


def test_scored_anew_a_run_scores_the_same(runs: dict[str, Path]) -> None:
    for run in runs.values():
        said = json.loads((run / "summary.json").read_text())["scores"]["metrics"]
        again = {row.metric: row.mean for row in score_run(run).rows}
        assert {name: again[name] for name in said} == {n: v["mean"] for n, v in said.items()}


def test_what_says_nothing_of_contacts_is_not_scored(tmp_path: Path) -> None:
    run_request(OFF, tmp_path / "r")
    (line, *_) = read_samples(tmp_path / "r")
    assert not line["result"]["scores"].keys() & {"collision_rate", "contacts", "collided"}


def test_reports_show_where_it_bumped_and_runs_compare(runs: dict[str, Path]) -> None:
    assert main(["report", str(runs["slide"])]) == 0
    page = said_in(runs["slide"] / "report.html", "source/0/sample")
    assert "bumping into a wall" in page
    found = {each.metric: each for each in compare_runs(runs["slide"], runs["strict"]).metrics}
    assert found["collided"].a == 0 < found["collided"].b


def test_the_agent_reads_what_it_bumped_into() -> None:
    scene = load_scene("demo:flat")
    simulator = make(scene, physics="slide")
    context = Context(simulator=simulator, model="builtin/random", max_steps=12)
    graph = navigator.build_graph(InMemorySaver())
    given = {"instruction": "Go to the kitchen.", "start": scene.viewpoints[0].id, "seed": 3}
    where: Any = {"configurable": {"thread_id": "one"}}
    asyncio.run(graph.ainvoke(given, where, context=context))  # type: ignore[arg-type]
    told = graph.get_state(where).values
    steps = [step for step in told["steps"] if step["action"]["kind"] == "move"]
    for line, step in zip(told["history"], steps, strict=True):
        missed, touched = bool(step.get("missed")), bool(step.get("bumped"))
        assert ("You bumped into a wall" in line) == (touched and not missed)
        assert ("You did not get there: you bumped into a wall" in line) == missed
    assert any(step.get("missed") for step in steps)


def test_metrics_are_of_where_the_body_stood() -> None:
    """By hand: half way along an edge of 2 m towards a goal that is 2 m on."""
    scene = load_scene("demo:flat")
    places = {each.id: each.ground for each in scene.viewpoints}
    edge = next(each for each in scene.edges)
    a, b = places[edge.a], places[edge.b]
    half = tuple((p + q) / 2 for p, q in zip(a, b, strict=True))
    long = sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5
    episode = Episode(
        id="e", task="scene", scene="s", start=edge.a, instruction="Go.", goals=(edge.b,),
        path=(edge.a, edge.b),
    )  # fmt: skip
    (score,) = score_episodes(
        [episode], {"e": [edge.a, edge.a]}, lambda _: scene, points={"e": [a, half]},  # type: ignore[dict-item, list-item]
        ends={"e": "collision"}, radius=long,
    )  # fmt: skip
    assert score.values["TL"] == pytest.approx(long / 2)
    assert score.values["NE"] == pytest.approx(long / 2)
    assert score.values["SR"] == 0
    assert score.values["SR_end"] == 1


def test_on_hops_of_its_own_a_body_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embodied_graph.bodies, "body_graph", body_graph)
    arms = [
        f"heuristic-{waypoints}-{p}" for waypoints in ("body", "slim") for p in ("slide", "strict")
    ]
    request = EvalRequest(**{**told_of_a_body(), "body": "VLNVERSE"})
    table = study_bodies(request, tmp_path / "s", Session(limit=6), arms)
    rates = {name: run["metrics"]["collision_rate"]["mean"] for name, run in table.record.items()}
    assert [rates[name] for name in arms[:2]] == [0, 0]
    assert min(rates[name] for name in arms[2:]) > 0
    (line,) = [
        row for row in table.rows if row[0].startswith("map-history w/ CoT") and "42.2%" in row
    ]
    assert line[-3:] == ("", "", "")
    assert write_report(tmp_path / "s" / arms[0]).blocks
    (said,) = read_report(tmp_path / "s").blocks
    assert isinstance(said, Grid)
    assert (said.table.rows, said.table.pale) == (table.rows, table.pale)
    assert said.to[:4] == tuple(f"run/{name}/scores" for name in arms)
    assert set(said.to[4:]) == {""}
    with pytest.raises(UsageError, match="Did you mean 'heuristic-body-slide'"):
        study_bodies(request, tmp_path / "t", None, ["heuristic-body-slid"])


def told_of_a_body() -> dict[str, Any]:
    return {"task": "scene", "options": {"spec": "demo:flat", "n": 12}, "backend": "bumpy"}


def test_what_a_body_cannot_do_is_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = str(folder(tmp_path / "data"))
    whole = plan(EvalRequest(task="r2r", data=data), None, print)
    gone = next(iter(whole.episodes.values())).start

    def without(scene: Scene, body: Embodiment) -> Scene:
        assert body.name == "WHEELCHAIR"
        kept = tuple(each for each in scene.viewpoints if each.id != gone)
        edges = tuple(each for each in scene.edges if gone not in (each.a, each.b))
        return scene.replace(viewpoints=kept, edges=edges)

    monkeypatch.setattr(embodied_graph.bodies, "body_graph", without)
    asked = EvalRequest(task="r2r", data=data, waypoints="body", body="wheelchair")
    made = plan(asked, None, print)
    left = whole.episodes.keys() - made.episodes.keys()
    assert left
    assert set(made.record["left_out"]) == left
    assert all(name in made.notes[-1] for name in left)
    for episode in made.episodes.values():
        assert gone not in (episode.start, *episode.goals, *episode.path)
