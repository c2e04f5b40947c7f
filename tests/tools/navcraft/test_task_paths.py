"""check_path_and_adjacency and check_two_path_and_adjacency."""

from __future__ import annotations

import json
from collections.abc import Iterable

import networkx as nx
import pytest
from hypothesis import given

from benchmarks.reference import check_path, crossing_graph
from navloom.scenes.bodies import FETCH, SPOT
from navloom.scenes.scene import Edge, Floor, Link, Region, Scene, Viewpoint
from navloom.tools.navcraft.task_paths import (
    admissible_triples,
    anchor_at,
    check_path_and_adjacency,
    check_two_path_and_adjacency,
    count_admissible_triples,
    crossed_link,
    metric_graph,
    plan_position,
    region_paths,
    resolve_node,
    tied_graphs,
)
from navloom_worlds.teams.robots import closed_links, first_closed_link, passable_graph
from tests.tools.navcraft.worlds import ROW, item, row_house, scenes


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
            if _leads_through_nowhere(scene, region_paths(scene).get((a, b), ())):
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
    link, why = first_closed_link(house, FETCH, nodes) or (None, "")
    assert link == 1
    assert "sill" in why
    assert first_closed_link(house, SPOT, nodes) is None


def _leads_through_nowhere(scene: Scene, path: Iterable[str]) -> bool:
    regions = {name for step in path for name in step.split(" -> ")}
    return any(not scene.viewpoints_by_region[region] for region in regions)


def test_an_unknown_name_is_cut_at_80_characters() -> None:
    said = check_path_and_adjacency(row_house(), "x" * 81, "Hall_2")["error"]
    assert f"'{'x' * 80}'" in said


def test_legs_need_two_hops_where_nothing_is_said() -> None:
    answer = check_two_path_and_adjacency(row_house(), "Bedroom_1", "Living_room_3", "Hall_2")
    assert (answer["s2t_valid"], answer["t2e_valid"], answer["valid"]) == (True, False, False)
    other = check_two_path_and_adjacency(row_house(), "Bedroom_1", "Living_room_3", "Pantry_5")
    assert other["valid"]


def test_a_way_on_g_plus_has_its_ends_and_its_metres() -> None:
    graph = metric_graph(row_house(item("stool", "asset", "Hall_2", 6, 0)))
    cup, counter = graph.items["cup"], graph.items["kitchen-counter"]
    # 1 m from the cup to its viewpoint, 8 m on, and 3 m to the counter.
    assert graph.distance(cup, counter) == 12
    assert graph.distance(cup, cup) == 0
    assert graph.distances([cup, counter], [graph.starts["Attic_6"]]).tolist() == [[9], [19]]
    assert graph.row(cup) == [12, 8, 4, 0, 4, 8]
    assert graph.walk(cup, counter) == [
        "item cup", "vStudy_4", "vLiving_room_3", "vHall_2", "item kitchen-counter",
    ]  # fmt: skip
    hall, study = graph.starts["Hall_2"], graph.starts["Study_4"]
    assert graph.walk(hall, study) == ["vHall_2", "vLiving_room_3", "vStudy_4"]
    assert graph.walk(cup, cup) == ["item cup"]
    assert graph.walk(study, cup) == ["vStudy_4", "item cup"]
    assert graph.walk(cup, study) == ["item cup", "vStudy_4"]


def two_floors() -> Scene:
    """A hall and a bare room on floor 1, an attic on floor 2; the attic is nearer to the room."""
    points = {"vH": ("Hall_1", (0.0, 0.0, 0.0)), "vA": ("Attic_3", (4.0, 3.0, 0.0))}
    return Scene(
        id="floors",
        floors=(Floor(id=1, height=0.0), Floor(id=2, height=3.0)),
        regions=(
            Region(id="Hall_1", center=(0, 0, 0), floor=1),
            Region(id="Bare_2", center=(4, 0, 0), floor=1),
            Region(id="Attic_3", center=(4, 3, 0), floor=2),
        ),
        viewpoints=(
            *(Viewpoint(id=v, position=at, region=r) for v, (r, at) in points.items()),
            Viewpoint(id="vX", position=(4.0, 0.0, 0.0)),
        ),
        edges=(Edge(a="vH", b="vA"),),
        items=(item("vase", "asset", "Bare_2", 3, 4),),
    )


def test_a_place_without_viewpoints_hangs_on_those_of_its_floor() -> None:
    scene = two_floors()
    vase = metric_graph(scene).items["vase"]
    # 5 m from the hall's viewpoint; the attic's is nearer, and another one is in no region.
    assert (metric_graph(scene).table.nodes[vase.viewpoint], vase.spur) == ("vH", 5)
    point = anchor_at(scene, (3.0, 1.0, 4.0), "Bare_2")
    assert point is not None
    assert (point.viewpoint, point.spur) == (vase.viewpoint, 5)
    inside = anchor_at(scene, (4.0, 3.0, 2.0), "Attic_3")
    assert inside is not None
    assert (metric_graph(scene).table.nodes[inside.viewpoint], inside.spur) == ("vA", 2)
    bare = scene.replace(viewpoints=(), edges=())
    assert anchor_at(bare, (3.0, 1.0, 4.0), "Bare_2") is None
    assert metric_graph(bare).items == metric_graph(bare).starts == {}


def test_a_node_is_a_viewpoint_an_item_or_a_point() -> None:
    scene = two_floors()
    point = anchor_at(scene, (3.0, 1.5, 4.0), "Bare_2")
    assert point is not None
    stand = resolve_node(scene, point.node)
    assert isinstance(stand, Viewpoint)
    assert (stand.position, stand.region) == ((3, 1.5, 4), "Bare_2")
    assert resolve_node(scene, "vA") is scene.viewpoint_by_id["vA"]
    assert resolve_node(scene, "item vase") is scene.item_by_id["vase"]
    assert plan_position(scene, "vA") == (2, 4, 0)
    assert plan_position(scene, "item vase") == (1, 3, 4)
    # A viewpoint may be called as a point is.
    odd = Viewpoint(id="point 1 2 3 Hall_1", position=(9.0, 0.0, 9.0), region="Hall_1")
    other = scene.replace(viewpoints=(*scene.viewpoints, odd))
    assert resolve_node(other, odd.id) == odd


def test_an_edge_crosses_the_link_nearest_its_middle() -> None:
    scene = row_house()
    at = [(4.0, 0.0, 3.0), (4.0, 0.0, -1.0), (4.0, 0.0, 2.0)]
    links = tuple(Link(a="Bedroom_1", b="Hall_2", point=point) for point in at)
    far = Link(a="Hall_2", b="Bedroom_1", point=(0.0, 0.0, 0.0))
    several = scene.replace(links=(scene.links[1], far, *links))
    bedroom, hall, living = scene.viewpoints[:3]
    assert crossed_link(several, bedroom, hall) == crossed_link(several, hall, bedroom) == 3
    assert crossed_link(several, hall, living) == 0
    assert crossed_link(several, bedroom, living) is None
    # A link that nobody has placed counts as being there.
    unplaced = several.replace(links=(*several.links, Link(a="Bedroom_1", b="Hall_2")))
    assert crossed_link(unplaced, bedroom, hall) == 5
    # Of two that are as near, the first one.
    first = Link(a="Bedroom_1", b="Hall_2", point=(4.0, 0.0, 1.0))
    assert crossed_link(several.replace(links=(first, *links)), bedroom, hall) == 0
    close = Link(a="Bedroom_1", b="Hall_2", point=(4.5, 0.0, 0.0))
    assert crossed_link(several.replace(links=(close, *links)), bedroom, hall) == 0


def twins(count: int, off: float = 0.0) -> Scene:
    """A hall with viewpoints 1 m around its middle, the later ones a little further off."""
    stands = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (-0.6, 0.8)][:count]
    return Scene(
        id="twins",
        floors=(Floor(id=1, height=0.0),),
        regions=(Region(id="Hall_1", center=(0, 0, 0)), Region(id="Bare_2", center=(9, 0, 9))),
        viewpoints=tuple(
            Viewpoint(id=f"v{k}", position=(x * (1 + off * k), 0, z * (1 + off * k)),
                      region="Hall_1")
            for k, (x, z) in enumerate(stands)
        ),
        items=(item("vase", "asset", "Hall_1", 0, 0), item("ghost", "asset", None, 0, 0)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("count", "off", "ties"), [(1, 0.0, 1), (3, 0.0, 3), (5, 0.0, 4), (3, 1e-6, 1)]
)
def test_viewpoints_that_tie_may_each_be_taken(count: int, off: float, ties: int) -> None:
    scene = twins(count, off)
    graphs = list(tied_graphs(scene, ["Hall_1"], ["vase"]))
    chosen = [(g.starts["Hall_1"].node, g.items["vase"].viewpoint) for g in graphs]
    expected = [(f"v{a}", b) for a in range(ties) for b in range(ties)]
    assert chosen == expected
    assert metric_graph(scene).starts["Hall_1"].node == "v0"


def test_what_hangs_nowhere_is_left_out_of_every_choice() -> None:
    scene = twins(2)
    graphs = list(tied_graphs(scene, ["Hall_1", "Bare_2"], ["ghost"]))
    assert [sorted(graph.starts) for graph in graphs] == [["Hall_1"], ["Hall_1"]]
    assert all("ghost" not in graph.items for graph in graphs)


def test_256_choices_are_looked_at() -> None:
    scene = twins(4)
    more = tuple(item(f"vase {k}", "asset", "Hall_1", 0, 0) for k in range(4))
    names = [each.id for each in more]
    assert len(list(tied_graphs(scene.replace(items=more), [], names))) == 256
    assert len(list(tied_graphs(scene.replace(items=more), ["Hall_1"], names))) == 256


def test_triples_have_legs_of_two_hops_and_end_elsewhere() -> None:
    # The cup is in the study; assets are in the hall and in the living room, one link from it.
    scene = row_house()
    found = list(admissible_triples(scene))
    assert found == [("Bedroom_1", "Study_4", "Hall_2"), ("Attic_6", "Study_4", "Hall_2")]
    assert count_admissible_triples(scene) == 2
    assert list(admissible_triples(scene, 1)) == found
    assert list(admissible_triples(scene, 3)) == []
    assert count_admissible_triples(scene, 3) == 0
    bed = item("bed", "asset", "Bedroom_1", 2, 1)
    more = list(admissible_triples(row_house(bed), 3))
    assert more == []
    assert (
        len(list(admissible_triples(row_house(bed))))
        == count_admissible_triples(row_house(bed))
        == 4
    )
