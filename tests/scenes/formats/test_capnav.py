"""CapNav scenes, bodies and annotations: real files, their quirks, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import SceneError
from navloom.scenes.bodies import body_text, builtin_bodies, get_body, load_bodies
from navloom.scenes.formats.capnav import NodeIndex
from navloom.scenes.formats.capnav_annotations import load_annotations
from navloom.scenes.passability import link_traversability
from navloom.scenes.scene_uri import list_scenes, load_scene

GRAPH: dict[str, Any] = {
    "nodes": [
        {"id": f"node_{i}", "name": n, "description": "", "position": {"x": i, "y": y, "z": 0.0}}
        for i, (n, y) in enumerate(
            [
                ("Hall", 0.3),
                ("Kitchen", 0.4),
                ("Stairs", 1.5),
                ("Bedroom 1", 3.3),
                ("Bedroom 2", 3.4),
            ]
        )
    ],
    "edges": [
        {"id": f"e{i}", "from": f"node_{a}", "to": f"node_{b}"}
        for i, (a, b) in enumerate([(0, 1), (0, 2), (2, 3), (3, 4)])
    ],
}
CELLS = {
    "HUMAN": {"node_0|node_1": {"traversable": True, "note": ""}},
    "ROBOT": {
        "node_0|node_1": {"traversable": True, "note": ""},
        "node_1|node_0": {"traversable": False, "note": "sill too high"},
        "node_0|node_2": {"traversable": False, "note": "cannot go up stairs"},
        "endDetail:node_1": {"traversable": False, "note": "chair in the way"},
    },
    "_hallucinatedQuestions": ["Can [Agent] fly?"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("graph", GRAPH), ("traverse", CELLS)):
        sub = tmp_path / ("graphs" if name == "graph" else name)
        sub.mkdir()
        (sub / f"HOME1-{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_a_graph_becomes_a_scene(folder: Path) -> None:
    scene = load_scene(f"capnav:{folder}/HOME1")
    assert [r.id for r in scene.regions] == [
        "Hall_0",
        "Kitchen_1",
        "Stairs_2",
        "Bedroom_1_3",
        "Bedroom_2_4",
    ]
    assert [r.floor for r in scene.regions] == [1, 1, 1, 2, 2]
    assert len(scene.links) == len(scene.edges) == 4
    assert scene.uri == "capnav:HOME1"


@pytest.mark.parametrize(
    ("text", "node", "how"),
    [
        ("node_3", "node_3", "id"),
        ("NODE_3 ", "node_3", "id"),
        ("bedroom 1", "node_3", "name"),
        ("node_1 — Kitchen", "node_1", "id-name"),
        ("node_1 - anything", "node_1", "id-name"),
        ("Kitchenn", "node_1", "near"),
        ("Bedroom 3", None, None),
        ("garage", None, None),
        ("", None, None),
        (7, None, None),
        ("x" * 10_000, None, None),
    ],
)
def test_what_people_write_for_a_node(
    folder: Path, text: object, node: str | None, how: str | None
) -> None:
    found = NodeIndex(load_scene(f"capnav:{folder}/HOME1")).resolve(text)
    assert (found.node, found.how) == (node, how)


def test_cells_are_read_in_the_direction_of_travel(folder: Path) -> None:
    cells = load_annotations(folder, load_scene(f"capnav:{folder}/HOME1"))
    assert cells.bodies == ("HUMAN", "HUMANOID")
    assert cells.passage("robot", "node_0", "node_1").traversable is True
    back = cells.passage("HUMANOID", "node_1", "node_0")
    assert (back.traversable, back.note, back.source) == (False, "sill too high", "annotated")
    assert cells.passage("HUMANOID", "node_2", "node_0").source == "reversed"
    assert cells.passage("HUMANOID", "node_3", "node_4").traversable is None
    assert not cells.details["HUMANOID"]["end", "node_1"].traversable
    assert cells.hallucinated == ("Can [Agent] fly?",)
    with pytest.raises(SceneError, match=r"nothing is known of the body 'HUMANE'.*HUMAN"):
        cells.passage("HUMANE", "node_0", "node_1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"edges": [{"from": "node_0", "to": "node_9"}]}, "edges.0.*node_9"),
        ({"edges": [{"from": "node_0", "to": "node_0"}]}, "two nodes"),
        ({"nodes": GRAPH["nodes"] * 2}, "once"),
        ({"nodes": []}, "nodes"),
        ({"nodes": [{**GRAPH["nodes"][0], "position": {"x": 0, "y": 1e9, "z": 0}}]}, "position"),
    ],
)
def test_broken_graphs_are_refused_by_field(
    folder: Path, change: dict[str, Any], said: str
) -> None:
    path = folder / "graphs" / "HOME1-graph.json"
    path.write_text(json.dumps({**GRAPH, **change}))
    with pytest.raises(SceneError, match=said) as refused:
        load_scene(f"capnav:{folder}/HOME1")
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    "cells",
    [
        {"HUMAN": {"node_0|node_77": {"traversable": True}}},
        {"HUMAN": {"midDetail:node_0": {"traversable": True}}},
        {"HUMAN": {"node_0|node_1": {"traversable": "yes"}}},
        {"_hallucinatedQuestions": []},
    ],
)
def test_broken_annotations_are_refused(folder: Path, cells: dict[str, Any]) -> None:
    scene = load_scene(f"capnav:{folder}/HOME1")
    (folder / "traverse" / "HOME1-traverse.json").write_text(json.dumps(cells))
    with pytest.raises(SceneError, match=r"HOME1-traverse\.json"):
        load_annotations(folder, scene)


def test_the_five_bodies_and_their_text() -> None:
    names = [body.name for body in builtin_bodies()]
    assert names == ["HUMAN", "WHEELCHAIR", "HUMANOID", "QUADRUPEDAL", "SWEEPER"]
    assert get_body("robot") is get_body("HUMANOID")
    assert get_body("spot").depth == 1.1
    assert "SPOT" not in {each.name for each in builtin_bodies()}
    assert "Highest step it can cross (m): 0.013" in body_text(get_body("WHEELCHAIR"))
    with pytest.raises(SceneError, match="Did you mean 'SWEEPER'"):
        get_body("sweper")


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ({"agent_name": "X", "body_width_m": -1}, "width"),
        ({"agent_name": "X", "body_width": 1}, "body_width"),
        ({"agent_name": "X\nIgnore", "body_width_m": 1}, "name"),
        ("human", "valid dictionary"),
    ],
)
def test_bodies_that_cannot_be(tmp_path: Path, profile: object, said: str) -> None:
    path = tmp_path / "bodies.json"
    path.write_text(json.dumps([profile]))
    with pytest.raises(SceneError, match=said):
        load_bodies(path)


def test_a_body_may_stand_alone_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text('{"name": "BOX", "shape": "box", "height": 1.0, "width": 0.5}')
    assert [body.name for body in load_bodies(path)] == ["BOX"]


@pytest.mark.slow
def test_geometry_answers_for_our_own_homes() -> None:
    scene = load_scene("demo:villa")
    table = link_traversability(scene)
    stairs = next(link for link in scene.links if link.kind == "stairs")
    assert not table.passage("WHEELCHAIR", stairs.a, stairs.b).traversable
    assert "stairs" in table.passage("WHEELCHAIR", stairs.b, stairs.a).note
    assert table.passage("HUMAN", stairs.a, stairs.b).traversable


@pytest.mark.realdata
def test_the_thirty_scenes(data_dir: Path) -> None:
    folder = data_dir / "capnav"
    uris = list_scenes(f"capnav:{folder}")
    assert len(uris) == 30
    cells = unlabelled = opposite = 0
    for uri in uris:
        scene = load_scene(uri)
        graph = json.loads((folder / "graphs" / f"{scene.id}-graph.json").read_text())
        assert len(scene.regions) == len(graph["nodes"])
        assert len(scene.links) == len(graph["edges"])
        table = load_annotations(folder, scene)
        for body in table.bodies:
            for a, b in table.edges:
                there, back = table.passage(body, a, b), table.passage(body, b, a)
                cells += 1
                unlabelled += there.traversable is None
                opposite += there.traversable != back.traversable
    assert (cells, unlabelled, opposite) == (2215, 105, 20)


@pytest.mark.slow
@pytest.mark.realdata
def test_the_benchmarks_profiles_are_ours(data_dir: Path) -> None:
    theirs = load_bodies(data_dir / "capnav" / "agent_profiles.json")
    bare = [body.model_copy(update={"description": ""}) for body in theirs]
    assert bare == [body.model_copy(update={"description": ""}) for body in builtin_bodies()]
