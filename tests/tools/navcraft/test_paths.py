"""check_path_and_adjacency and check_two_path_and_adjacency."""

from __future__ import annotations

import json
from collections.abc import Iterable

import networkx as nx
import pytest
from hypothesis import given

from benchmarks.reference import check_path, crossing_graph
from navloom.scenes.bodies import FETCH, SPOT
from navloom.scenes.scene import Floor, Link, Region, Scene
from navloom.tools.navcraft.paths import (
    check_path_and_adjacency,
    check_two_path_and_adjacency,
    metric_graph,
    region_ways,
)
from navloom_worlds.teams.robots import closed_links, first_closed, passable_graph
from tests.tools.navcraft.worlds import ROW, row_house, scenes


def place(links: list[tuple[str, str]], **centers: tuple[float, float]) -> Scene:
    return Scene(
        id="place",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(Region(id=n, center=(x, 0.0, z)) for n, (x, z) in centers.items()),
        links=tuple(Link(a=a, b=b) for a, b in links),
    )


def test_a_way_is_told_link_by_link() -> None:
    assert check_path_and_adjacency(row_house(), "Study_4", "Hall_2") == {
        "connect": True,
        "adjacency": False,
        "path_length": 2,
        "path": ["Study_4 -> Living_room_3", "Living_room_3 -> Hall_2"],
    }


def test_neighbours_are_adjacent() -> None:
    answer = check_path_and_adjacency(row_house(), "Hall_2", "Bedroom_1")
    assert answer["adjacency"] is True
    assert answer["path_length"] == 1


def test_a_region_is_connected_with_itself_and_not_next_to_itself() -> None:
    assert check_path_and_adjacency(row_house(), "Hall_2", "Hall_2") == {
        "connect": True,
        "adjacency": False,
        "path_length": 0,
        "path": [],
    }


def test_no_way() -> None:
    scene = place([], A_1=(0, 0), B_2=(4, 0))
    assert check_path_and_adjacency(scene, "A_1", "B_2") == {
        "connect": False,
        "adjacency": False,
        "path_length": 0,
        "path": [],
    }


def test_among_ways_of_equal_hops_the_shortest_in_metres_is_taken() -> None:
    around = {"A_1": (0.0, 0.0), "Far_2": (4.0, 30.0), "Near_3": (4.0, 1.0), "B_4": (8.0, 0.0)}
    links = [("A_1", "Far_2"), ("Far_2", "B_4"), ("A_1", "Near_3"), ("Near_3", "B_4")]
    scene = place(links, **around)
    assert check_path_and_adjacency(scene, "A_1", "B_4")["path"] == [
        "A_1 -> Near_3",
        "Near_3 -> B_4",
    ]


def test_fewer_hops_beat_fewer_metres() -> None:
    around = {"A_1": (0.0, 0.0), "Far_2": (4.0, 300.0), "B_3": (8.0, 0.0)}
    around |= {"C_4": (2.0, 0.0), "D_5": (5.0, 0.0)}
    links = [("A_1", "Far_2"), ("Far_2", "B_3"), ("A_1", "C_4"), ("C_4", "D_5"), ("D_5", "B_3")]
    assert check_path_and_adjacency(place(links, **around), "A_1", "B_3")["path_length"] == 2


def test_regions_are_matched_by_whole_id() -> None:
    scene = row_house()
    answer = check_path_and_adjacency(scene, "Kitchen_4", "Hall_2")
    assert answer["connect"] is False
    assert "'Kitchen_4' is not a region" in answer["error"]
    assert check_path_and_adjacency(scene, "Studdy_4", "Hall_2")["error"].endswith(
        "Did you mean 'Study_4'?"
    )
    # The same number twice, or another letter case, is no match either.
    assert "error" in check_path_and_adjacency(scene, "Hall_2", "study_4")


def test_an_unknown_name_is_quoted_on_one_short_line() -> None:
    error = check_path_and_adjacency(row_house(), "x\n" * 5000, "Hall_2")["error"]
    assert len(error) < 400
    assert "\n" not in error


def test_a_changed_answer_changes_nothing_else() -> None:
    scene = row_house()
    first = check_path_and_adjacency(scene, "Study_4", "Hall_2")
    first["path"].append("Hall_2 -> Nowhere_9")
    first["connect"] = False
    second = check_path_and_adjacency(scene, "Study_4", "Hall_2")
    assert second["connect"] is True
    assert second["path_length"] == len(second["path"]) == 2
    both = check_two_path_and_adjacency(scene, "Bedroom_1", "Study_4", "Hall_2")
    both["target_2_end"]["path"].clear()
    assert check_path_and_adjacency(scene, "Study_4", "Hall_2")["path_length"] == 2


def test_a_valid_triple_has_exactly_the_listing_s_keys() -> None:
    answer = check_two_path_and_adjacency(row_house(), "Bedroom_1", "Study_4", "Hall_2")
    assert list(answer) == ["start_2_target", "target_2_end", "s2t_valid", "t2e_valid", "valid"]
    assert answer["valid"] is True
    assert answer["start_2_target"]["path_length"] == 3
    json.dumps(answer)


@pytest.mark.parametrize(
    ("tau", "s2t", "t2e"),
    [(0, True, True), (1, True, True), (2, True, True), (3, True, False), (4, False, False)],
)
def test_tau_lengthens_legs_and_never_below_two(tau: int, s2t: bool, t2e: bool) -> None:
    answer = check_two_path_and_adjacency(row_house(), "Bedroom_1", "Study_4", "Hall_2", tau=tau)
    assert (answer["s2t_valid"], answer["t2e_valid"]) == (s2t, t2e)
    assert answer["valid"] is (s2t and t2e)


def test_an_adjacent_leg_is_not_valid_even_with_tau_one() -> None:
    answer = check_two_path_and_adjacency(row_house(), "Hall_2", "Study_4", "Pantry_5", tau=1)
    assert (answer["s2t_valid"], answer["t2e_valid"], answer["valid"]) == (True, False, False)
    assert "error" not in answer


def test_start_and_end_must_differ() -> None:
    answer = check_two_path_and_adjacency(row_house(), "Hall_2", "Study_4", "Hall_2")
    assert answer["s2t_valid"] is True
    assert answer["t2e_valid"] is True
    assert answer["valid"] is False
    assert "start_region and end_region are both Hall_2" in answer["error"]


def test_every_unknown_name_is_named_once() -> None:
    answer = check_two_path_and_adjacency(row_house(), "Moon_1", "Study_4", "Mars_2")
    assert answer["valid"] is False
    assert answer["error"].count("'Moon_1'") == answer["error"].count("'Mars_2'") == 1


@given(scenes())
def test_answers_are_those_of_the_nested_searches(scene: Scene) -> None:
    graph = crossing_graph(scene)
    with_viewpoints = [r for r, inside in scene.viewpoints_by_region.items() if inside]
    for a in with_viewpoints:
        for b in with_viewpoints:
            ours = dict(check_path_and_adjacency(scene, a, b))
            theirs = check_path(graph, a, b)
            # H may lead through a region nobody can stand in; the viewpoints cannot follow.
            if _leads_through_nowhere(scene, region_ways(scene).get((a, b), ())):
                continue
            keys = ("connect", "path_length") if a == b else ("connect", "adjacency", "path_length")
            assert [ours[key] for key in keys] == [theirs[key] for key in keys]


@given(scenes())
def test_paths_are_shortest_over_links_of_h(scene: Scene) -> None:
    graph = scene.region_graph()
    for a in graph:
        for b in graph:
            answer = check_path_and_adjacency(scene, a, b)
            assert answer["connect"] is nx.has_path(graph, a, b)
            if not answer["connect"]:
                assert answer["path"] == []
                continue
            assert answer["path_length"] == nx.shortest_path_length(graph, a, b)
            assert answer["adjacency"] is graph.has_edge(a, b)
            steps = [tuple(step.split(" -> ")) for step in answer["path"]]
            assert all(graph.has_edge(*step) for step in steps)
            walked = sum(graph.edges[step]["metres"] for step in steps)
            ways = nx.all_shortest_paths(graph, a, b)
            assert walked == pytest.approx(min(nx.path_weight(graph, w, "metres") for w in ways))


def narrow(scene: Scene) -> Scene:
    """The row with a sill between hall and living room that wheels do not cross."""
    sills = [
        Link(a=x.a, b=x.b, kind="door", threshold=0.1) if x.a == ROW[1] else x for x in scene.links
    ]
    return scene.replace(links=tuple(sills))


def test_a_body_walks_no_link_that_it_cannot_pass() -> None:
    house = narrow(row_house())
    everybody, spot, fetch = (passable_graph(house, body) for body in (None, SPOT, FETCH))
    assert everybody is spot is metric_graph(house)
    here, there = everybody.starts[ROW[0]], everybody.starts[ROW[5]]
    assert everybody.distance(here, there) == 20.0
    assert fetch.distance(here, there) == float("inf")
    assert fetch.distance(here, everybody.starts[ROW[1]]) == 4.0
    assert set(closed_links(house, FETCH)) == {1}
    nodes = everybody.walk(here, there)
    assert nodes is not None
    link, why = first_closed(house, FETCH, nodes) or (None, "")
    assert link == 1
    assert "sill" in why
    assert first_closed(house, SPOT, nodes) is None


def _leads_through_nowhere(scene: Scene, path: Iterable[str]) -> bool:
    regions = {name for step in path for name in step.split(" -> ")}
    return any(not scene.viewpoints_by_region[region] for region in regions)
