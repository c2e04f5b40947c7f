"""Routes around closed links and reservations, against a search of every tick."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.errors import UsageError
from navloom.scenes.bodies import FETCH
from navloom.scenes.scene import Edge, Floor, Region, Scene, Viewpoint, distance_2d
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.efficiency_library import find_interference, find_place
from navloom_worlds.teams.revise_route import (
    Reservation,
    RevisedRoute,
    revise_route,
    route_reservations,
)
from navloom_worlds.teams.robots import Robot
from tests.tools.navcraft.worlds import row_house

SIDE = 3
LAST_TICK = 60
CELLS = [(x, z) for x in range(SIDE) for z in range(SIDE)]
PAIRS = [
    (a, b)
    for a in CELLS
    for b in CELLS
    if a < b and (a[0] == b[0] or a[1] == b[1]) and math.dist(a, b) <= 2
]
Cell = tuple[int, int]


def name_of(cell: Cell) -> str:
    return f"v{cell[0]}{cell[1]}"


def grid(pairs: list[tuple[Cell, Cell]]) -> Scene:
    """Nine viewpoints on a grid of 1 m; edges along it are 1 or 2 m long."""
    return Scene(
        id="grid",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=(Region(id="Hall_1", center=(0, 0, 0)),),
        viewpoints=tuple(
            Viewpoint(id=name_of(c), position=(c[0], 0.0, c[1]), region="Hall_1") for c in CELLS
        ),
        edges=tuple(Edge(a=name_of(a), b=name_of(b)) for a, b in pairs),
    )


def spot(scene: Scene, cell: Cell) -> Anchor:
    return find_place(scene, name_of(cell))


spells = st.tuples(st.integers(0, 9), st.integers(1, 6)).map(lambda s: (s[0], s[0] + s[1]))
node_spells = st.lists(st.tuples(st.sampled_from(CELLS), spells), max_size=12)


@st.composite
def worlds(draw: st.DrawFn):
    pairs = draw(st.lists(st.sampled_from(PAIRS), unique=True, min_size=6, max_size=len(PAIRS)))
    taken = draw(node_spells)
    edges = draw(st.lists(st.tuples(st.sampled_from(pairs), spells), max_size=10))
    closed = draw(st.lists(st.sampled_from([*CELLS, *pairs]), unique=True, max_size=2))
    return pairs, taken, edges, closed, draw(st.sampled_from(CELLS)), draw(st.integers(0, 3))


def by_ticks(pairs, taken, edges, closed, goal, depart) -> int | None:
    """The earliest arrival from the corner, going through every second and every place."""
    cells = {(c, tick) for c, (a, b) in taken for tick in range(a, b)}
    steps = {(e, tick) for e, (a, b) in edges for tick in range(a, b)}

    def bars(cell: Cell, second: int) -> bool:
        # Taken just before and just after: nobody may come by.
        return (cell, second - 1) in cells and (cell, second) in cells

    here = {(0, 0)} if (0, 0) not in closed else set()
    at = {depart: here}
    for second in range(depart, LAST_TICK):
        for cell in at.get(second, ()):
            if cell == goal:
                return second
            if (cell, second) not in cells:
                at.setdefault(second + 1, set()).add(cell)
            for a, b in pairs:
                if cell not in (a, b) or (a, b) in closed:
                    continue
                there, lasts = (b if cell == a else a), round(math.dist(a, b))
                on_the_way = any(((a, b), second + k) in steps for k in range(lasts))
                if there not in closed and not on_the_way and not bars(there, second + lasts):
                    at.setdefault(second + lasts, set()).add(there)
    return None


@settings(max_examples=4 * settings.default.max_examples, deadline=None)
@given(worlds())
def test_it_arrives_when_the_search_of_every_second_does(world) -> None:
    pairs, taken, edges, closed, goal, depart = world
    scene = grid(pairs)
    robot = Robot("robot_1", spot(scene, (0, 0)))
    asked = {
        "closed": [name_of(c) if c in CELLS else _edge(c) for c in closed],
        "reserved": [
            *(Reservation(name_of(c), *spell) for c, spell in taken),
            *(Reservation(_edge(e), *spell) for e, spell in edges),
        ],
        "depart_s": float(depart),
    }
    expected = by_ticks(pairs, taken, edges, closed, goal, depart)
    standing = [(a, b) for c, (a, b) in taken if c == (0, 0)]
    if _taken_at(standing, depart):
        with pytest.raises(UsageError, match="which is reserved until second"):
            revise_route(scene, robot, spot(scene, (0, 0)), spot(scene, goal), **asked)
        return
    if expected is None:
        with pytest.raises(UsageError, match="robot_1 cannot get from "):
            revise_route(scene, robot, spot(scene, (0, 0)), spot(scene, goal), **asked)
        return
    route = revise_route(scene, robot, spot(scene, (0, 0)), spot(scene, goal), **asked)
    assert route.stops[-1].arrive == expected
    keeps_apart(route, asked["reserved"])


def _edge(pair: tuple[Cell, Cell]) -> str:
    return f"{name_of(pair[0])} <-> {name_of(pair[1])}"


def _taken_at(spells: list[tuple[int, int]], second: int) -> bool:
    ticks = {tick for a, b in spells for tick in range(a, b)}
    return {second - 1, second} <= ticks


def keeps_apart(route: RevisedRoute, reserved: list[Reservation]) -> None:
    """No step and no stand of a route overlaps what others have."""
    for here, there in pairwise(route.stops):
        metres = distance_2d(here.position, there.position)
        assert there.arrive == pytest.approx(here.leave + metres)
        names = {f"{here.node} <-> {there.node}", f"{there.node} <-> {here.node}"}
        for where, begin, end in reserved:
            if where in names:
                assert min(there.arrive, end) - max(here.leave, begin) <= 1e-9
            if where == here.node:
                assert min(here.leave, end) - max(here.arrive, begin) <= 1e-9


def walker(scene: Scene, start: str) -> Robot:
    return Robot("robot_1", find_place(scene, start))


def test_it_waits_for_a_doorway_rather_than_going_nowhere() -> None:
    scene = row_house()
    a, b = find_place(scene, "Bedroom_1"), find_place(scene, "coffee_table in Living_room_3")
    taken = [Reservation("Hall_2 <-> Living_room_3", 3.0, 20.0)]
    route = revise_route(scene, walker(scene, "Bedroom_1"), a, b, reserved=taken)
    (wait,) = route.waits
    assert (wait.region, wait.leave) == ("Hall_2", 20.0)
    assert route.record()["path"] == ["Bedroom_1 -> Hall_2", "Hall_2 -> Living_room_3"]
    assert route.metres == pytest.approx(metric_graph(scene).distance(a, b))
    assert route.stops[-1].arrive == pytest.approx(20 + 4 + 2)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"closed": ["Hall_2 <-> Study_4"]}, "No link joins Hall_2 and Study_4; Hall_2 is joined"),
        ({"closed": ["Hal_2 <-> Study_4"]}, "Did you mean 'Hall_2'"),
        ({"closed": ["vHall_2 <-> vStudy_4"]}, "is no edge: vHall_2 is not joined to vStudy_4"),
        ({"closed": ["Hall_2"]}, "is no viewpoint, edge or link here"),
        ({"closed": ["Hall_2 <-> Living_room_3"]}, "with Hall_2 <-> Living_room_3 closed"),
        ({"reserved": [Reservation("vHall_2", 2.0, math.inf)]}, "reserved leaves no way"),
        ({"reserved": [Reservation("vHall_2", math.nan, 3.0)]}, "from second nan to 3.0"),
        ({"reserved": [Reservation("vHall_2", 3.0, 3.0)]}, "the later second"),
        ({"reserved": [Reservation("vBedroom_1", 0.0, 3.0)], "depart_s": 1.0}, "until second 3"),
        ({"depart_s": math.nan}, "depart_s must be a second from 0 on, not nan"),
        ({"depart_s": -1.0}, "depart_s must be a second from 0 on, not -1.0"),
        ({"closed": ["x"] * 501}, "At most 500 things may be closed"),
    ],
)
def test_what_makes_no_sense_is_one_line(asked: dict, said: str) -> None:
    scene = row_house()
    ends = find_place(scene, "Bedroom_1"), find_place(scene, "Study_4")
    with pytest.raises(UsageError) as caught:
        revise_route(scene, walker(scene, "Bedroom_1"), *ends, **asked)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_body_that_climbs_no_stairs_needs_the_elevator() -> None:
    scene = load_scene("home:7")
    start = next(r.id for r in scene.regions if r.floor == 1 and r.label != "stairwell")
    above = next(r.id for r in scene.regions if r.floor != 1)
    robot = Robot("robot_1", find_place(scene, start), FETCH, FETCH.speed)
    ends = find_place(scene, start), find_place(scene, above)
    elevator = next(f"{k.a} <-> {k.b}" for k in scene.links if k.kind == "elevator")
    assert revise_route(scene, robot, *ends).stops[-1].region == above
    with pytest.raises(UsageError, match=f"with {elevator} closed"):
        revise_route(scene, robot, *ends, closed=[elevator])


def test_a_route_around_another_meets_nobody() -> None:
    scene = load_scene("demo:house")
    names = [r.id for r in scene.regions if scene.viewpoints_by_region[r.id]]
    crossed = 0
    for a, b in [(x, y) for x in names for y in names if x != y]:
        one, two = find_place(scene, a), find_place(scene, b)
        first = revise_route(scene, Robot("robot_1", one), one, two).stops
        other = Robot("robot_2", two)
        try:
            second = revise_route(scene, other, two, one, reserved=route_reservations(first))
        except UsageError:
            continue
        plain = revise_route(scene, other, two, one)
        crossed += bool(find_interference(scene, first, plain.stops))
        met = find_interference(scene, first, second.stops)
        assert [each for each in met if each.kind in ("edge", "handoff")] == []
    assert crossed
