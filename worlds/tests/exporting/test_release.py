"""Homes written as a benchmark: read back the same, asked without doubt, gone on with."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from navloom.errors import NavloomError
from navloom.evals.capnav.data import Benchmark, load_benchmark
from navloom.evals.capnav.official import OfficialScene
from navloom.evals.capnav.request import Wanted
from navloom.scenes import load_scene
from navloom.scenes.bodies import builtin_bodies, get_body
from navloom.scenes.formats.told_apart import meant_by
from navloom.scenes.passability import truth as truth_of
from navloom_worlds.exporting.capnav_release import (
    NEAR,
    Released,
    Sampled,
    detail_cells,
    release,
    release_all,
)
from tests.evals.capnav.world import load_scorer

LIVE = os.environ.get("NAVLOOM_CAPNAV_SCORER")
HOMES = ["home:3", "home:7"]


def _write(folder: Path) -> list[Released]:
    made = list(release_all(HOMES, folder, Wanted("driven", builtin_bodies(), tours=False)))
    assert all(isinstance(each, Released) for each in made)
    return [each for each in made if isinstance(each, Released)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("release")
    _write(made)
    return made


@pytest.fixture(scope="module")
def data(folder: Path) -> Benchmark:
    return load_benchmark(folder)


@pytest.mark.slow
def test_traversability_is_the_home_s_own(folder: Path, data: Benchmark) -> None:
    for uri, name in zip(HOMES, ("home-3", "home-7"), strict=True):
        truth, table = truth_of(load_scene(uri)), data.traversability[name]
        node = {
            r: n
            for n, r in json.loads((folder / f"notes/{name}.json").read_text())["nodes"].items()
        }
        assert len(table.edges) == len({frozenset(edge) for edge in truth.edges})
        for body in truth.bodies:
            for passage in truth.passages(body):
                read = table.passage(body, node[passage.a], node[passage.b])
                assert (read.traversable, read.note) == (passage.traversable, passage.note)


@pytest.mark.slow
def test_questions_resolve_and_the_public_rules_find_their_ends(data: Benchmark) -> None:
    assert len(data.questions) == 24
    assert not data.unresolved
    for question in data.questions:
        official = OfficialScene(data.nodes(question.scene), data.traversability[question.scene])
        assert official.ends(question.text) == (question.start, question.end)


@pytest.mark.slow
def test_details_mean_one_thing_alone(folder: Path) -> None:
    for uri, name in zip(HOMES, ("home-3", "home-7"), strict=True):
        scene, noted = load_scene(uri), json.loads((folder / f"notes/{name}.json").read_text())
        asked = json.loads((folder / f"qa/{name}_QA.json").read_text())
        for question, things in zip(asked, noted["details"], strict=True):
            involved = question["nodes_involved"]
            for end in ("start", "end"):
                words = involved[f"{end}_detail"].removeprefix(NEAR)
                among = scene.items_in(noted["nodes"][involved[end]])
                assert [item.id for item in meant_by(words, among)] == [things[end]]
                assert f"the {words} in the " in question["question"]


@pytest.mark.slow
def test_a_whole_home_is_kept_and_a_broken_one_written_again(tmp_path: Path) -> None:
    first = _write(tmp_path)
    broken = tmp_path / "qa/home-3_QA.json"
    before = broken.read_bytes()
    broken.write_bytes(before[:-10])
    again = _write(tmp_path)
    assert [each.kept for each in first] == [False, False]
    assert [each.kept for each in again] == [False, True]
    assert broken.read_bytes() == before


@pytest.mark.slow
def test_details_that_a_body_cannot_come_near_are_said() -> None:
    # A table and chairs in the dining room leave a sweeper room to pass, and no person.
    bodies = (get_body("HUMAN"), get_body("SWEEPER"))
    asked = [Sampled("Dining_room_3", "Living_room_8", ("display_cabinet_1", "sofa_1"), {})]
    cells = detail_cells(load_scene("home:62"), bodies, asked)
    assert cells == {
        "HUMAN": {
            "startDetail:node_3": {
                "traversable": False,
                "note": "does not come near the display cabinet",
            },
            "endDetail:node_8": {"traversable": True, "note": ""},
        },
        "SWEEPER": {
            "startDetail:node_3": {"traversable": True, "note": ""},
            "endDetail:node_8": {"traversable": True, "note": ""},
        },
    }


@pytest.mark.slow
def test_what_is_no_home_is_told(tmp_path: Path) -> None:
    wanted = Wanted("driven", builtin_bodies(), tours=False)
    (found,) = release_all(["home:no"], tmp_path, wanted)
    assert isinstance(found, NavloomError)
    assert "\n" not in str(found)


@pytest.mark.slow
@pytest.mark.skipif(not LIVE, reason="NAVLOOM_CAPNAV_SCORER names no copy of the public scorer")
def test_the_public_scorer_agrees_on_feasibility(data: Benchmark) -> None:
    scorer = load_scorer(Path(str(LIVE)), data.folder)
    for question in data.questions:
        graph, traverse = scorer.load_graph_traverse(question.scene)
        names, joined, _ = scorer.build_graph_index(graph)
        ends = scorer.derive_src_tgt_by_reverse_match(question.text, names)
        for body in data.bodies:
            said = scorer.exists_traversable_path(
                joined, traverse, body.name, ends["src_id"], ends["tgt_id"]
            )
            assert said == data.feasible(question, body)


def test_a_small_home_is_judged_by_the_rule_and_has_its_questions(tmp_path: Path) -> None:
    wanted = Wanted("rule", (get_body("HUMANOID"),), questions=2, tours=False)
    made = release("home:7?rooms=4", tmp_path, wanted)
    noted = json.loads((tmp_path / f"notes/{made.id}.json").read_text())
    assert (made.questions, made.frames, made.kept) == (2, 0, False)
    assert noted["truth"] == {}
    assert len(json.loads((tmp_path / f"qa/{made.id}_QA.json").read_text())) == 2
    assert release("home:7?rooms=4", tmp_path, wanted).kept
