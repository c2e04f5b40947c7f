"""Homes written as a benchmark: read back the same, asked without doubt, gone on with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from navloom.errors import NavloomError, SceneError
from navloom.evals.capnav.benchmark_data import CapnavBenchmark, load_benchmark
from navloom.evals.capnav.official_scorer import OfficialScorer
from navloom.evals.capnav.request import CapnavExportOptions
from navloom.scenes import load_scene
from navloom.scenes.bodies import builtin_bodies, get_body
from navloom.scenes.formats.referring_expressions import match_phrase
from navloom.scenes.passability import estimate_links
from navloom.scenes.passability import link_traversability as truth_of
from navloom.scenes.scene import Floor, Item, Link, Region, Scene
from navloom_worlds.exporting import capnav_release
from navloom_worlds.exporting.capnav_release import (
    NEAR,
    ReleasedScene,
    SampledQuestion,
    capnav_files,
    detail_cells,
    first_shown,
    question_ends,
    release_scene,
    release_scenes,
    sample_questions,
    total_answers,
)
from navloom_worlds.rendering.tour import Tour
from tests.evals import tiny
from tests.evals.capnav.world import load_scorer

LIVE = os.environ.get("NAVLOOM_CAPNAV_SCORER")
HOMES = ["home:3", "home:7"]


def _write(folder: Path) -> list[ReleasedScene]:
    made = list(
        release_scenes(HOMES, folder, CapnavExportOptions("driven", builtin_bodies(), tours=False))
    )
    assert all(isinstance(each, ReleasedScene) for each in made)
    return [each for each in made if isinstance(each, ReleasedScene)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("release")
    _write(made)
    return made


@pytest.fixture(scope="module")
def data(folder: Path) -> CapnavBenchmark:
    return load_benchmark(folder)


@pytest.mark.slow
def test_traversability_is_the_home_s_own(folder: Path, data: CapnavBenchmark) -> None:
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
def test_questions_resolve_and_the_public_rules_find_their_ends(data: CapnavBenchmark) -> None:
    assert len(data.questions) == 24
    assert not data.unresolved
    for question in data.questions:
        official = OfficialScorer(data.nodes(question.scene), data.traversability[question.scene])
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
                assert [item.id for item in match_phrase(words, among)] == [things[end]]
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
    asked = [SampledQuestion("Dining_room_3", "Living_room_8", ("display_cabinet_1", "sofa_1"), {})]
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
    wanted = CapnavExportOptions("driven", builtin_bodies(), tours=False)
    (found,) = release_scenes(["home:no"], tmp_path, wanted)
    assert isinstance(found, NavloomError)
    assert "\n" not in str(found)


@pytest.mark.slow
@pytest.mark.skipif(not LIVE, reason="NAVLOOM_CAPNAV_SCORER names no copy of the public scorer")
def test_the_public_scorer_agrees_on_feasibility(data: CapnavBenchmark) -> None:
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
    wanted = CapnavExportOptions("rule", (get_body("HUMANOID"),), questions=2, tours=False)
    made = release_scene("home:7?rooms=4", tmp_path, wanted)
    noted = json.loads((tmp_path / f"notes/{made.id}.json").read_text())
    assert (made.questions, made.frames, made.kept) == (2, 0, False)
    assert noted["truth"] == {}
    assert len(json.loads((tmp_path / f"qa/{made.id}_QA.json").read_text())) == 2
    assert release_scene("home:7?rooms=4", tmp_path, wanted).kept


KITCHEN, LIVING, BATH = "Kitchen_3", "Living_room_7", "Bathroom_6"
"""Of the home of eight rooms: the kitchen is next to the living room, two doors from the bath."""


def _asked(
    *pairs: tuple[str, str], scene: Scene | None = None, shown: dict[str, str] | None = None
) -> list[SampledQuestion]:
    home = scene or tiny.home()
    return sample_questions(home, estimate_links(home, (get_body("HUMAN"),)), pairs, shown)


def test_things_of_a_room_take_turns() -> None:
    home = tiny.home()
    shelf = home.item_by_id["shelf-1"]
    vase = shelf.model_copy(update={"id": "vase-1", "name": "vase", "position": (11, 0.4, 6)})
    pairs = [(KITCHEN, LIVING)] * 3 + [(LIVING, KITCHEN), (BATH, LIVING)]
    asked = _asked(*pairs, scene=home.replace(items=(*home.items, vase)))
    things = [item for _, item in question_ends(home.replace(items=(*home.items, vase)))[LIVING]]
    assert set(things) == {"shelf-1", "lamp-1", "vase-1"}
    assert [each.things for each in asked] == [
        *(("bowl-1", thing) for thing in things),
        (things[0], "bowl-1"),
        ("sink-1", things[1]),
    ]


def test_a_question_names_both_ends_by_their_things() -> None:
    (asked,) = _asked((KITCHEN, LIVING))
    assert asked.question["question"] == (
        "Can [Agent] move from the bowl in the Kitchen to the shelf in the Living room?"
    )
    assert asked.question["nodes_involved"] == {
        "start": "node_3",
        "start_detail": "near the bowl",
        "intermediate": [],
        "end": "node_7",
        "end_detail": "near the shelf",
    }


def test_a_room_is_named_by_four_things_at_most_and_by_none_that_confuses() -> None:
    home = tiny.home()
    names = (
        "sofa",
        "clock",
        "piano",
        "vase",
        "mirror",
        "way to go",
        "sink from italy",
        "wheelchair",
    )
    more = tuple(
        Item(
            id=f"{k}",
            name=name,
            kind="asset",
            region="Garage_8",
            position=(10, 0.4, 9 + k / 9),
            size=(0.6, 0.8, 0.6),
        )
        for k, name in enumerate(names)
    )
    found = question_ends(home.replace(items=(*home.items, *more)))["Garage_8"]
    assert len(found) == 4
    assert {said for said, _ in found} <= {"sofa", "clock", "piano", "vase", "mirror"}
    # A word that names another room is no word for a thing.
    kitchen = more[0].model_copy(update={"name": "kitchen"})
    assert "Garage_8" not in question_ends(home.replace(items=(*home.items, kitchen)))
    assert "Garage_8" not in question_ends(home.replace(items=(*home.items, *more[5:])))


def test_a_reason_tells_the_route_and_where_the_tour_shows_its_ends() -> None:
    def reason(start: str, end: str, *seen: str) -> str:
        (asked,) = _asked((start, end), shown=dict.fromkeys(seen, "00:26"))
        return str(asked.question["reason"])

    assert reason(KITCHEN, LIVING) == "The shortest route has 1 passage."
    assert reason(KITCHEN, LIVING, KITCHEN) == "The shortest route has 1 passage."
    far = "The shortest route has 2 passages, by the Hallway."
    assert reason(KITCHEN, BATH) == far
    shown = "At 00:26 the video shows the Kitchen, at 00:26 the Bathroom. "
    assert reason(KITCHEN, BATH, KITCHEN, BATH) == shown + far


def _row(rooms: int) -> Scene:
    """Rooms in a row, each with a thing of its own name."""
    names = ["Attic", "Bar", "Cellar", "Den", "Entry", "Foyer", "Gym"][:rooms]
    things = ["sofa", "clock", "piano", "vase", "mirror", "stove", "chair"]
    return Scene(
        id="row",
        source="tiny",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(
            Region(id=f"{name}_{k}", label=name, center=(5.0 * k, 0, 0))
            for k, name in enumerate(names, 1)
        ),
        links=tuple(
            Link(a=f"{a}_{k}", b=f"{b}_{k + 1}", kind="door")
            for k, (a, b) in enumerate(pairwise(names), 1)
        ),
        items=tuple(
            Item(
                id=f"i{k}",
                name=t,
                kind="asset",
                region=f"{n}_{k}",
                position=(5.0 * k, 0, 0),
                size=(0.6, 0.8, 0.6),
            )
            for k, (n, t) in enumerate(zip(names, things, strict=False), 1)
        ),
    )


@pytest.mark.parametrize(("rooms", "between"), [(6, 4), (7, 0), (2, 0)])
def test_at_most_four_rooms_between_the_ends_are_listed(rooms: int, between: int) -> None:
    row = _row(rooms)
    (asked,) = _asked((row.regions[0].id, row.regions[-1].id), scene=row)
    listed = asked.question["nodes_involved"]["intermediate"]
    assert listed == [f"node_{k}" for k in range(2, 2 + between)]


def test_files_have_each_passage_once_a_direction_and_the_details() -> None:
    row = _row(3)
    truth = estimate_links(row, (get_body("HUMAN"),))
    detail = {"startDetail:node_1": {"traversable": True, "note": ""}}
    files = capnav_files(row, truth, {"HUMAN": detail})
    graph, cells = (json.loads(text) for text in files.values())
    assert list(files) == ["graphs/tiny-row-graph.json", "traverse/tiny-row-traverse.json"]
    assert [(each["from"], each["to"]) for each in graph["edges"]] == [
        ("node_1", "node_2"),
        ("node_2", "node_3"),
    ]
    assert graph["nodes"][1]["position"] == {"x": 10.0, "y": 0.0, "z": 0.0}
    both = ["node_1|node_2", "node_2|node_1", "node_2|node_3", "node_3|node_2"]
    assert list(cells["HUMAN"]) == [*both, "startDetail:node_1"]
    assert list(json.loads(capnav_files(row, truth)[list(files)[1]])["HUMAN"]) == both


def test_a_tour_shows_a_region_from_its_first_second_there() -> None:
    seen = [(0.0, "a"), (1.0, None), (59.4, "a"), (59.6, "b"), (60.0, "b"), (125.0, "c")]
    tour = SimpleNamespace(
        moments=lambda rate: [SimpleNamespace(second=s, region=r) for s, r in seen if rate == 1]
    )
    assert first_shown(cast(Tour, tour)) == {"a": "00:00", "b": "01:00", "c": "02:05"}


def test_a_scene_is_written_again_where_a_file_of_it_was_changed(tmp_path: Path) -> None:
    uri, folder = tiny.scene_file(tmp_path), tmp_path / "out"
    wanted = CapnavExportOptions("rule", (get_body("HUMAN"),), questions=3, tours=False)
    (first,) = release_scenes([uri], folder, wanted)
    assert isinstance(first, ReleasedScene)
    assert (first.kept, first.questions, first.frames) == (False, 3, 0)
    assert release_scene(uri, folder, wanted).kept
    # Another wish is another release.
    assert not release_scene(uri, folder, replace(wanted, questions=2)).kept
    assert not release_scene(uri, folder, wanted).kept
    notes = folder / "notes" / f"{first.id}.json"
    whole = json.loads(notes.read_text())
    assert whole["tour"]["frames"] == 0
    assert whole["truth"] == {}
    for broken in (
        "{",
        "[]",
        json.dumps({**whole, "sha256": {}}),
        json.dumps({**whole, "tour": 0}),
    ):
        notes.write_text(broken)
        assert not release_scene(uri, folder, wanted).kept
    assert release_scene(uri, folder, wanted).kept


def test_questions_of_several_scenes_are_summed_by_body() -> None:
    def made(**bodies: dict[str, int]) -> ReleasedScene:
        return ReleasedScene("s", "s", False, 1, 0, {"bodies": bodies}, ())

    summed = total_answers(
        [made(HUMAN={"can": 2, "cannot": 1}), made(HUMAN={"can": 1}, SWEEPER={"can": 1})]
    )
    assert summed == {"HUMAN": {"can": 3, "cannot": 1}, "SWEEPER": {"can": 1}}


def test_rooms_without_a_name_for_a_thing_are_no_ends(tmp_path: Path) -> None:
    wanted = CapnavExportOptions("driven", (get_body("HUMAN"),), questions=200, tours=False)
    made = release_scene(tiny.scene_file(tmp_path), tmp_path, wanted)
    asked = json.loads((tmp_path / f"qa/{made.id}_QA.json").read_text())
    ends = {each["nodes_involved"][end] for each in asked for end in ("start", "end")}
    # The garage has no thing. A home without walls is judged by the rule.
    assert ends == {f"node_{number}" for number in range(1, 8)}
    assert json.loads((tmp_path / f"notes/{made.id}.json").read_text())["truth"] == {}


@pytest.mark.parametrize(
    ("processes", "homes", "started"), [(1, 3, None), (4, 1, None), (4, 2, 2), (2, 3, 2)]
)
def test_no_more_processes_than_scenes_are_started(
    processes: int, homes: int, started: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int] = []

    def pool(workers: int, _: object) -> ThreadPoolExecutor:
        pools.append(workers)
        return ThreadPoolExecutor(workers)

    monkeypatch.setattr(capnav_release, "ProcessPoolExecutor", pool)
    wanted = CapnavExportOptions("rule", (get_body("HUMAN"),), questions=1, tours=False)
    uris = [f"nowhere:{number}" for number in range(homes)]
    found = list(release_scenes(uris, tmp_path, wanted, processes))
    assert sorted(str(each).split(":")[1] for each in found) == [str(n) for n in range(homes)]
    assert pools == ([] if started is None else [started])


@pytest.mark.parametrize(
    ("x", "height", "part", "near"),
    [
        # The shelf begins at 10.7 m, the room's floor is at 2 m.
        (9.75, 2.0, 1, True),
        (9.65, 2.0, 1, False),
        (9.75, 2.29, 1, True),
        (9.75, 1.71, 1, True),
        (9.75, 2.31, 1, False),
        (9.75, 1.69, 1, False),
        (9.75, 2.0, 2, False),
    ],
)
def test_a_thing_is_near_within_a_metre_on_the_floor_of_its_room(
    x: float, height: float, part: int, near: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = SimpleNamespace(
        x=np.array([8.0, x]), z=np.array([5.0, 5.0]), height=np.array([2.0, height])
    )
    field = SimpleNamespace(found=cells, part=np.array([1, part]), at=lambda middle: 0)
    monkeypatch.setattr(capnav_release, "body_field", lambda *_: field)
    monkeypatch.setattr(capnav_release, "roomiest_point", lambda *_: (8.0, 2.0, 5.0))
    home = tiny.home()
    high = tuple(
        region.model_copy(update={"center": (10.0, 2.0, 5.0)}) if region.id == LIVING else region
        for region in home.regions
    )
    asked = [SampledQuestion(LIVING, LIVING, ("shelf-1", "shelf-1"), {})]
    cell = {"traversable": near, "note": "" if near else "does not come near the shelf"}
    assert detail_cells(home.replace(regions=high), (get_body("HUMAN"),), asked) == {
        "HUMAN": {"startDetail:node_7": cell, "endDetail:node_7": cell}
    }


@pytest.mark.parametrize("lost", ["middle", "size", "outline"])
def test_what_has_no_place_is_never_near(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = SimpleNamespace(x=np.array([11.0]), z=np.array([5.0]), height=np.array([0.0]))
    field = SimpleNamespace(found=cells, part=np.array([1]), at=lambda middle: 0)
    monkeypatch.setattr(capnav_release, "body_field", lambda *_: field)
    monkeypatch.setattr(
        capnav_release, "roomiest_point", lambda *_: None if lost == "middle" else (11.0, 0.0, 5.0)
    )
    home = tiny.home()
    gone = {"size": {"size": None}, "outline": {"box": None}}.get(lost, {})
    items = tuple(item.model_copy(update=gone if lost == "size" else {}) for item in home.items)
    regions = tuple(
        region.model_copy(update=gone if lost == "outline" else {}) for region in home.regions
    )
    asked = [SampledQuestion(LIVING, LIVING, ("shelf-1", "lamp-1"), {})]
    found = detail_cells(home.replace(items=items, regions=regions), (get_body("HUMAN"),), asked)
    assert {each["traversable"] for each in found["HUMAN"].values()} == {False}


def test_each_end_is_held_against_its_own_thing(monkeypatch: pytest.MonkeyPatch) -> None:
    # A body that stands at the shelf is 1.7 m from the lamp.
    cells = SimpleNamespace(x=np.array([11.0]), z=np.array([5.0]), height=np.array([0.0]))
    field = SimpleNamespace(found=cells, part=np.array([1]), at=lambda middle: 0)
    monkeypatch.setattr(capnav_release, "body_field", lambda *_: field)
    monkeypatch.setattr(capnav_release, "roomiest_point", lambda *_: (11.0, 0.0, 5.0))
    asked = [SampledQuestion(LIVING, LIVING, ("shelf-1", "lamp-1"), {})]
    assert detail_cells(tiny.home(), (get_body("HUMAN"),), asked)["HUMAN"] == {
        "startDetail:node_7": {"traversable": True, "note": ""},
        "endDetail:node_7": {"traversable": False, "note": "does not come near the lamp"},
    }


def test_the_notes_name_the_thing_of_each_end(tmp_path: Path) -> None:
    wanted = CapnavExportOptions("rule", (get_body("HUMAN"),), questions=3, tours=False)
    made = release_scene(tiny.scene_file(tmp_path), tmp_path, wanted)
    noted = json.loads((tmp_path / f"notes/{made.id}.json").read_text())
    asked = json.loads((tmp_path / f"qa/{made.id}_QA.json").read_text())
    assert len(noted["details"]) == len(asked) == 3
    for things, question in zip(noted["details"], asked, strict=True):
        for end, thing in things.items():
            item, involved = tiny.home().item_by_id[thing], question["nodes_involved"]
            assert item.region == noted["nodes"][involved[end]]
            assert involved[f"{end}_detail"] == f"{NEAR}{item.name}"


def test_a_tour_is_filmed_at_a_frame_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: dict[str, int] = {}

    def rendered(tour: Tour, rate: int) -> Iterator[tuple[None, bytes]]:
        rates["rendered"] = rate
        yield from [(None, b"frame")] * 3

    def written(film: Path, frames: Iterator[bytes], rate: int) -> int:
        rates["written"] = rate
        film.write_bytes(b"".join(frames))
        return 3

    monkeypatch.setattr(capnav_release, "render_tour", rendered)
    monkeypatch.setattr(capnav_release, "write_video", written)
    wanted = CapnavExportOptions("rule", (get_body("HUMAN"),), questions=1, tours=True)
    made = release_scene(tiny.scene_file(tmp_path), tmp_path, wanted)
    assert (made.frames, rates) == (3, {"rendered": 1, "written": 1})
    film = tmp_path / f"{made.id}.mp4"
    assert film.read_bytes() == b"frame" * 3
    (asked,) = json.loads((tmp_path / f"qa/{made.id}_QA.json").read_text())
    assert asked["reason"].startswith("At 0")
    assert release_scene(tiny.scene_file(tmp_path), tmp_path, wanted).kept
    # A film that was changed is made again.
    film.write_bytes(b"other")
    assert not release_scene(tiny.scene_file(tmp_path), tmp_path, wanted).kept


def test_a_scene_without_links_is_no_release(tmp_path: Path) -> None:
    path = tmp_path / "bare.json"
    path.write_text(tiny.home().replace(links=()).model_dump_json())
    with pytest.raises(SceneError, match="expected rooms and links"):
        release_scene(
            str(path), tmp_path, CapnavExportOptions("rule", (get_body("HUMAN"),), tours=False)
        )
