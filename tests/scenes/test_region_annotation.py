"""Annotation against the paper's equations, read literally by plain loops over small graphs."""

from __future__ import annotations

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.region_annotation import (
    annotate_regions,
    apply_room_types,
    neighbour_consensus,
    relabel_regions,
    restore_contiguity,
    vote_regions,
)
from navloom.scenes.scene import Edge, Floor, Item, Link, Opening, Region, Scene, Stairs, Viewpoint

Case = tuple[list[int], list[tuple[int, int]], np.ndarray]


@st.composite
def labelled_graphs(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 14))
    labels = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    every = [(a, b) for a in range(n) for b in range(a + 1, n)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True, max_size=24)) if every else []
    # Distinct random coordinates: ties have tests of their own.
    points = np.random.default_rng(draw(st.integers(0, 9999))).uniform(0, 9, (n, 3))
    return labels, pairs, points


def arrays(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels, pairs, points = case
    return np.array(labels), np.array(pairs, dtype=np.int64).reshape(-1, 2), points


def graph_of(case: Case) -> nx.Graph:
    graph: nx.Graph = nx.Graph(case[1])
    graph.add_nodes_from(range(len(case[0])))
    return graph


@given(labelled_graphs())
def test_consensus_is_the_equation(case: Case) -> None:
    labels, _, points = case
    graph = graph_of(case)
    expected = list(labels)
    for i in graph:
        near = sorted(graph[i], key=lambda j: math.dist(points[i][[0, 2]], points[j][[0, 2]]))
        labelled = [j for j in near if labels[j] != -1]
        if 2 <= len(near) <= 4 and all(labels[j] != labels[i] for j in near) and labelled:
            expected[i] = labels[labelled[0]]
    assert neighbour_consensus(*arrays(case)).tolist() == expected


@given(labelled_graphs())
def test_contiguity_is_the_equation(case: Case) -> None:
    labels, _, points = case
    graph = graph_of(case)
    expected, deleted = list(labels), set()
    for c in set(labels) - {-1}:
        members = [i for i in graph if labels[i] == c]
        parts = list(nx.connected_components(graph.subgraph(members)))
        parts.sort(key=lambda part: (-len(part), min(part)))
        for part in parts[1:]:
            border = {j for i in part for j in graph[i]} - part
            border = {j for j in border if labels[j] != -1}
            centroid = np.mean([points[i] for i in part], axis=0)
            mean = {
                other: np.mean(
                    [math.dist(points[j], centroid) for j in border if labels[j] == other]
                )
                for other in {labels[j] for j in border}
            }
            for i in part:
                expected[i] = min(mean, key=lambda other: mean[other]) if mean else -1
            deleted |= set() if mean else part
    after, gone = restore_contiguity(*arrays(case))
    assert after.tolist() == expected
    assert set(np.flatnonzero(gone).tolist()) == deleted


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(0, 9999), st.integers(1, 9), st.integers(1, 5))
def test_voting_is_the_equation(seed: int, m: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    here, there = rng.uniform(0, 9, (6, 2)), rng.uniform(0, 9, (m, 2))
    classes = rng.integers(0, 3, m)
    expected = []
    for p in here:
        nearest = sorted(range(m), key=lambda o: math.dist(p, there[o]))[:k]
        votes = Counter(int(classes[o]) for o in nearest)
        most = max(votes.values())
        expected.append(next(int(classes[o]) for o in nearest if votes[classes[o]] == most))
    assert vote_regions(here, there, classes, k=k).tolist() == expected


def test_a_tied_vote_goes_to_the_nearest_object() -> None:
    objects = np.array([[3.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert vote_regions(np.zeros((1, 2)), objects, np.array([0, 1, 2])).tolist() == [1]


def test_two_lone_neighbours_swap_since_consensus_is_simultaneous() -> None:
    # A chain 2-0-1-2 whose middle pair is closest: each reads the other's label of before.
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [-5.0, 0, 0], [6.0, 0, 0]])
    pairs = np.array([[0, 2], [0, 1], [1, 3]])
    assert neighbour_consensus(np.array([0, 1, 2, 2]), pairs, points).tolist() == [1, 0, 2, 2]


@pytest.mark.parametrize("seed", range(12))
def test_a_lone_viewpoint_takes_the_label_of_the_nearest_on_the_ground_plane(seed: int) -> None:
    points = np.random.default_rng(seed).uniform(-9, 9, (3, 3))
    near = [math.dist(points[0][[0, 2]], points[k][[0, 2]]) for k in (1, 2)]
    after = neighbour_consensus(np.array([0, 1, 2]), np.array([[0, 1], [0, 2]]), points)
    assert after.tolist() == [1 if near[0] < near[1] else 2, 1, 2]


@pytest.mark.parametrize("degree", [1, 2, 4, 5])
def test_consensus_keeps_to_its_degree_guard(degree: int) -> None:
    points = np.arange(3.0 * (degree + 1)).reshape(-1, 3)
    pairs = np.array([[0, i] for i in range(1, degree + 1)])
    after = neighbour_consensus(np.array([0] + [1] * degree), pairs, points)
    assert after[0] == (1 if 2 <= degree <= 4 else 0)


def test_of_equal_components_the_one_with_the_earliest_viewpoint_stays() -> None:
    points = np.array([[float(i), 0, 0] for i in range(3)])
    after, gone = restore_contiguity(np.array([0, 1, 0]), np.array([[0, 1], [1, 2]]), points)
    assert after.tolist() == [0, 1, 1]
    assert not gone.any()


def home(*, upper: bool = False) -> Scene:
    """A kitchen and a bedroom side by side, each with three things and two viewpoints."""

    def item(i: int, region: str, x: float, y: float = 0.5) -> Item:
        return Item(id=f"i{i}", name="thing", kind="object", region=region, position=(x, y, 0))

    above = [item(9, "Unknown_3", x, 3.5) for x in (0.0,)] if upper else []
    return Scene(
        id="home",
        floors=(Floor(id=1, height=0.0), Floor(id=2, height=3.0)),
        regions=(
            Region(id="Kitchen_1", label="kitchen", center=(0, 0, 0)),
            Region(id="Bedroom_2", label="bedroom", center=(9, 0, 0)),
            Region(id="Unknown_3", floor=2, center=(0, 3, 0)),
        ),
        links=(Link(a="Kitchen_1", b="Bedroom_2"), Link(a="Kitchen_1", b="Unknown_3")),
        items=(
            *(item(i, "Kitchen_1", 0.1 * i) for i in range(3)),
            *(item(3 + i, "Bedroom_2", 9 + 0.1 * i) for i in range(3)),
            *above,
        ),
        viewpoints=(
            Viewpoint(id="a", position=(0, 1.5, 0), region="Bedroom_2", eye_height=1.5),
            Viewpoint(id="b", position=(1, 1.5, 0), eye_height=1.5),
            Viewpoint(id="c", position=(9, 1.5, 0), eye_height=1.5),
            Viewpoint(id="up", position=(0, 4.5, 0), eye_height=1.5),
        ),
        edges=(Edge(a="a", b="b"), Edge(a="b", b="c"), Edge(a="a", b="up"), Edge(a="b", b="a")),
    )


def test_a_scene_is_annotated_and_what_it_said_before_is_not_read() -> None:
    done = annotate_regions(home(upper=True))
    assert done.voted == {"a": "Kitchen_1", "b": "Kitchen_1", "c": "Bedroom_2", "up": "Unknown_3"}
    assert done.restored == done.agreed == done.voted
    assert done.scene.viewpoint_by_id["a"].region == "Kitchen_1"
    assert all(v.inferred for v in done.scene.viewpoints)
    assert done.scene.links == home().links
    assert "annotated" in done.scene.notes[-1]


def test_only_the_viewpoints_own_floor_votes() -> None:
    done = annotate_regions(home())
    assert done.voted["up"] is None  # nothing is labelled upstairs
    assert annotate_regions(home(upper=True)).voted["up"] == "Unknown_3"


@pytest.mark.parametrize("floor", [1, 2])
@pytest.mark.parametrize("x", [-9.0, 0.0, 1.0, 9.0])
def test_a_half_landing_is_of_its_own_regions_storey(x: float, floor: int) -> None:
    landing = Region(id="Hallway_7", label="hallway", floor=floor, center=(x, 1.6, 0))
    lamp = Item(id="l", name="lamp", kind="asset", region="Hallway_7", position=(1, 2.5, 0))
    scene = home(upper=True)
    scene = scene.replace(
        regions=(*scene.regions, landing),
        items=(*scene.items, lamp),
        viewpoints=(Viewpoint(id="half", position=(0.9, 1.6, 0)),),
        edges=(),
    )
    assert annotate_regions(scene, k=1).voted == {"half": "Hallway_7"}


def test_a_detached_island_is_deleted_with_its_edges() -> None:
    scene = home(upper=True)
    far = (Viewpoint(id="x", position=(0.2, 0, 3)), Viewpoint(id="y", position=(0.2, 0, 4)))
    scene = scene.replace(
        viewpoints=(*scene.viewpoints, *far), edges=(*scene.edges, Edge(a="x", b="y"))
    )
    done = annotate_regions(scene)  # as large as the kitchen's other part, but later in the scene
    assert done.deleted == ("x", "y")
    assert done.agreed["x"] == "Kitchen_1"
    assert not {"x", "y"} & set(done.restored)
    assert not {"x", "y"} & set(done.scene.viewpoint_by_id)
    assert len(done.scene.edges) == len(scene.edges) - 1


def test_an_island_off_an_unlabelled_place_is_deleted_and_so_is_the_edge_between_them() -> None:
    scene = home()  # nothing votes upstairs
    scene = scene.replace(
        viewpoints=(*scene.viewpoints, Viewpoint(id="x", position=(0.2, 0, 3))),
        edges=(*scene.edges[:2], Edge(a="x", b="up")),
    )
    done = annotate_regions(scene)
    assert done.deleted == ("x",)
    assert done.restored["up"] is None
    assert done.scene.edges == scene.edges[:2]


def test_a_scene_without_labelled_items_is_refused() -> None:
    with pytest.raises(SceneError, match="no item knows its region"):
        annotate_regions(home().replace(items=()))


def test_a_scene_without_viewpoints_stays_as_it_is() -> None:
    done = annotate_regions(home().replace(viewpoints=(), edges=()))
    assert done.scene.viewpoints == () == done.deleted
    assert done.voted == {}


def test_retype_renames_a_region_everywhere() -> None:
    scene = annotate_regions(home(upper=True)).scene
    typed = apply_room_types(scene, {"Unknown_3": "Study / Office"})
    assert typed.region_by_id["Study_office_3"].label == "study / office"
    assert "Unknown_3" not in typed.model_dump_json()
    assert [link.b for link in typed.links] == ["Bedroom_2", "Study_office_3"]
    assert len(typed.items_in("Study_office_3")) == 1
    assert typed.viewpoint_by_id["up"].region == "Study_office_3"


def test_retype_leaves_what_was_not_typed() -> None:
    assert apply_room_types(home(), {"Unknown_3": None}) == home()


def test_relabel_refuses_an_unknown_region() -> None:
    with pytest.raises(SceneError, match=r"no region 'Kitchen_2'.*Did you mean 'Kitchen_1'"):
        relabel_regions(home(), {"Kitchen_2": "bedroom"})


def test_relabel_renames_a_region_wherever_it_is_named() -> None:
    (room, other, *_) = home().regions
    stood = home().replace(
        openings=(
            Opening(kind="window", region=room.id, jambs=((0, 0), (1, 0)), bottom=1, height=1),
        ),
        stairs=(Stairs(a=room.id, b=other.id, treads=(), line=((0, 0, 0), (0, 3, 3))),),
    )
    done = relabel_regions(stood, {room.id: "cellar"})
    name = f"Cellar_{room.number}"
    assert done.openings[0].region == name
    assert (done.stairs[0].a, done.stairs[0].b) == (name, other.id)
