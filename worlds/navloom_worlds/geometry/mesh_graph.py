"""Viewpoints on what can be walked of a mesh: floor by floor, and along the stairs between them.

Level floors get theirs from the maker that homes have (:mod:`navloom.scenes.floor_graph`). Where
two of them are joined by stairs, a ramp or a step, a viewpoint stands at the foot, the head and
every turn of the field's shortest way, and edges run along it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import networkx as nx
import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra
from shapely import Polygon

from navloom.scenes.floor_graph import BODY, FreeFloor, fill
from navloom.scenes.scene import Edge, Floor, Point3, Viewpoint
from navloom_worlds.geometry.mesh import Grid
from navloom_worlds.geometry.walkable import WalkableField, joined

_BAND = 0.1
"""Metres: what is no farther from a floor's height is of that floor."""
_STEEP = 0.04
"""Metres in height for each on the ground: a floor is no steeper on the whole, a ramp is."""
_LEAST = 0.3
"""Square metres of a level floor: what is smaller is part of stairs."""
_STOREY = 1.5
"""Metres above the lowest floor of a storey from which a floor is of the next storey."""
_BEFORE = (0.45, 0.35, 0.25, 0.15)
"""How far from where stairs begin their first viewpoint stands, in metres, if there is room."""
_COARSE = 0.04
"""Metres by which the outline of a floor may be made straighter."""

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Level:
    """A level floor of a field.

    Attributes:
        height: y in metres.
        places: the field's places that are of it.
        polygon: where the middle of a body may be, as (x, z).
    """

    height: float
    places: Ints
    polygon: Polygon


@dataclass(frozen=True, eq=False)
class MeshGraph:
    """What a mesh is, for those who walk in it.

    Attributes:
        floors: its storeys.
        viewpoints: where one can stand; none has a region.
        edges: how one walks between them.
        rooms: the room of each viewpoint; -1 where nobody says.
    """

    floors: tuple[Floor, ...]
    viewpoints: tuple[Viewpoint, ...]
    edges: tuple[Edge, ...]
    rooms: tuple[int, ...]


def mesh_graph(field: WalkableField, rooms_of: Ints | None = None) -> MeshGraph:
    """Place viewpoints on the main part of a field and join them.

    Args:
        field: of a mesh.
        rooms_of: (n,) the room of each place, where somebody knows it: each has its own
            viewpoints then, and one on either side of where two rooms touch.

    Returns:
        Storeys, viewpoints named ``<storey>_<index>`` and edges; one can walk from each viewpoint
        to each other. None at all where there is no place to stand.
    """
    levels = levels_of(field, rooms_of)
    if not levels:
        return MeshGraph((), (), (), ())
    floors, storey_of = _storeys(levels)
    rooms = [_room(i, level) for i, level in enumerate(levels)]
    edges = [edge for way in _ways_between(field, levels) for edge in _climb(field, way, rooms)]
    edges += [edge for room in rooms for edge in fill(room)]
    graph = _renamed(field, floors, rooms, storey_of, edges)
    return graph if rooms_of is None else replace(graph, rooms=_rooms_at(field, graph, rooms_of))


def _room(number: int, level: Level) -> FreeFloor:
    height = round(level.height, 3)
    around = shapely.box(*level.polygon.bounds).buffer(BODY, join_style="mitre")
    return FreeFloor(f"floor {number}", f"{number}", height, around, None, level.polygon)


def levels_of(field: WalkableField, rooms_of: Ints | None = None) -> list[Level]:
    """The level floors of a field's main part, the lowest first; parts of one height are apart."""
    rooms_of = np.full(len(field.cell), -1, dtype=np.int32) if rooms_of is None else rooms_of
    place_height = field.height[field.main]
    owner = np.full(len(field.cell), -1, dtype=np.int32)
    for number, height in enumerate(_heights(place_height, field.grid.cell**2)):
        near = field.main[np.abs(place_height - height) <= _BAND]
        # Bands of two floors may touch: the nearer has it, which the order of finding says.
        owner[near[owner[near] < 0]] = number
    held = owner >= 0
    same = held[:, None] & (owner[field.beside] == owner[:, None])
    same &= rooms_of[field.beside] == rooms_of[:, None]
    _, label = connected_components(joined(field.beside, same), directed=False)
    levels = []
    for each in np.unique(label[held]):
        places = np.flatnonzero((label == each) & held).astype(np.int32)
        if len(places) * field.grid.cell**2 >= _LEAST:
            height = float(np.median(field.height[places]))
            if _slope(field, places) > _STEEP:
                continue
            polygon, kept = _outline(field.grid, field.cell[places], places)
            levels.append(Level(height, kept, polygon))
    return sorted(levels, key=lambda each: (round(each.height, 3), -each.polygon.area))


def _heights(heights: NDArray[np.float64], cell: float) -> Iterator[float]:
    """The heights about which most floor lies, most first."""
    left = np.sort(heights)
    while len(left) * cell >= _LEAST:
        last = np.searchsorted(left, left + _BAND, side="right")
        many = last - np.arange(len(left))
        first = int(np.argmax(many))
        if many[first] * cell < _LEAST:
            return
        middle = float(np.median(left[first : last[first]]))
        yield middle
        left = left[np.abs(left - middle) > _BAND]


def _slope(field: WalkableField, places: Ints) -> float:
    """How steep the plane is that lies best on some places."""
    at = field.grid.middles(field.cell[places])
    plane = np.column_stack([at - at.mean(axis=0), np.ones(len(places))])
    fitted = np.linalg.lstsq(plane, field.height[places], rcond=None)[0]
    return float(np.hypot(fitted[0], fitted[1]))


def _outline(grid: Grid, cells: Ints, places: Ints) -> tuple[Polygon, Ints]:
    """The polygon of some cells that hang together, and those of their places that are well in."""
    # In whole numbers of cells, so that neighbours share their sides to the last bit.
    rows = [
        (low // grid.deep, low % grid.deep, high % grid.deep)
        for low, high in _runs(cells, grid.deep)
    ]
    i, first, last = np.array(rows).T
    whole = shapely.union_all(shapely.box(i, first, i + 1, last + 1))
    corner = np.array([grid.x, grid.z]) - grid.cell / 2
    placed = shapely.transform(whole, lambda at: corner + at * grid.cell)
    # Cells that touch at a corner alone are no way; a hair less keeps them apart.
    parts = shapely.get_parts(placed.buffer(-_COARSE / 10, join_style="mitre"))
    rough = max(parts, key=lambda each: each.area).simplify(_COARSE)
    polygon = max(
        shapely.get_parts(shapely.set_precision(rough, 0.001)), key=lambda each: each.area
    )
    at, inner = grid.middles(cells), polygon.buffer(-_COARSE / 20)
    shapely.prepare(inner)
    return polygon, places[shapely.intersects_xy(inner, at[:, 0], at[:, 1])]


def _runs(cells: Ints, deep: int) -> Iterator[tuple[int, int]]:
    """Cells in a row, as the first and the last of each."""
    breaks = np.flatnonzero((np.diff(cells) != 1) | (cells[1:] % deep == 0))
    firsts = np.concatenate([[0], breaks + 1])
    lasts = np.concatenate([breaks, [len(cells) - 1]])
    yield from zip(cells[firsts].tolist(), cells[lasts].tolist(), strict=True)


def _storeys(levels: Sequence[Level]) -> tuple[tuple[Floor, ...], list[int]]:
    """Storeys, and which each level is of; landings are of the storey that they are nearest to."""
    large = max(level.polygon.area for level in levels) / 10
    bases: list[float] = []
    for level in levels:
        if level.polygon.area >= large and (not bases or level.height - bases[-1] > _STOREY):
            bases.append(level.height)
    floors = tuple(Floor(id=i, height=round(y, 3)) for i, y in enumerate(bases[:99], start=1))
    nearest = [
        min(floors, key=lambda floor: (abs(floor.height - level.height), floor.id)).id
        for level in levels
    ]
    return floors, nearest


@dataclass(frozen=True)
class _Way:
    """From one level to another: places of the field, both ends on their levels."""

    a: int
    b: int
    places: tuple[int, ...]
    metres: float


def _ways_between(field: WalkableField, levels: Sequence[Level]) -> Iterator[_Way]:
    """The shortest way between each two levels that touch the same stairs, as few as will do."""
    level_of = np.full(len(field.cell), -1, dtype=np.int32)
    for number, each in enumerate(levels):
        level_of[each.places] = number
    steps = _steps(field)
    # Parts that are of no level hang together as flights of stairs.
    between = (field.part == 0) & (level_of < 0)
    rows, cols = steps.coords
    inner = between[rows] & between[cols]
    shape = steps.shape
    flights = coo_array((np.ones(inner.sum()), (rows[inner], cols[inner])), shape=shape)
    _, flight_of = connected_components(flights, directed=False)
    touching: dict[int, set[int]] = {}
    crossing = between[rows] & (level_of[cols] >= 0)
    for flight, level in _pairs(flight_of[rows[crossing]], level_of[cols[crossing]]):
        touching.setdefault(flight, set()).add(level)
    for flight in sorted(touching):
        if len(touching[flight]) > 1:
            mine = between & (flight_of == flight)
            yield from _shortest(steps, mine, level_of, sorted(touching[flight]))
    direct = (level_of[rows] >= 0) & (level_of[cols] > level_of[rows])
    nothing = np.zeros(len(field.cell), dtype=np.bool_)
    for a, b in _pairs(level_of[rows[direct]], level_of[cols[direct]]):
        yield from _shortest(steps, nothing, level_of, [a, b])


def _pairs(first: Ints, second: Ints) -> list[tuple[int, int]]:
    return sorted(set(zip(first.tolist(), second.tolist(), strict=True)))


def _steps(field: WalkableField) -> coo_array:
    """Metres from each place of the main part to those beside it, across corners too."""
    main = field.part == 0
    beside = np.where(main[:, None] & (field.beside >= 0) & main[field.beside], field.beside, -1)
    rows, cols = [], []
    for side in range(4):
        here = np.flatnonzero(beside[:, side] >= 0)
        rows.append(here)
        cols.append(beside[here, side])
    for one, other in ((0, 1), (1, 2)):
        first, second = beside[:, one], beside[:, other]
        held = (first >= 0) & (second >= 0)
        there = np.where(held, beside[first, other], -1)
        back = np.where(held, beside[second, one], -2)
        here = np.flatnonzero(held & (there >= 0) & (there == back))
        for a, b in ((here, there[here]), (there[here], here)):
            rows.append(a)
            cols.append(b)
    row, col = np.concatenate(rows), np.concatenate(cols)
    places = field.grid.middles(field.cell)
    flat = np.hypot(*(places[row] - places[col]).T)
    metres = np.hypot(flat, field.height[row] - field.height[col])
    return coo_array((metres, (row, col)), shape=(len(main), len(main)))


def _shortest(
    steps: coo_array, flight: NDArray[np.bool_], level_of: Ints, levels: Sequence[int]
) -> Iterator[_Way]:
    """Ways over a flight that join some levels: of all of them a tree of the shortest."""
    rows, cols = steps.coords
    found: dict[tuple[int, int], _Way] = {}
    for a in levels[:-1]:
        from_a, onward = level_of == a, np.isin(level_of, [b for b in levels if b > a])
        # Out of the first level, over the flight, and into another.
        used = (from_a[rows] | flight[rows]) & (flight[cols] | onward[cols])
        graph = coo_array((steps.data[used], (rows[used], cols[used])), shape=steps.shape).tocsr()
        starts = np.unique(rows[used & from_a[rows]])
        if not len(starts):
            continue
        metres, before, _ = dijkstra(graph, indices=starts, min_only=True, return_predecessors=True)
        for b in levels:
            there = np.flatnonzero(level_of == b)
            if b <= a or not len(there) or not np.isfinite(metres[there]).any():
                continue
            far = np.round(metres[there], 3)
            # Of many that are as near, as where one step is as long as a room, one in the middle.
            best = np.flatnonzero(far == far.min())
            place = int(there[best[len(best) // 2]])
            back = [place]
            while before[back[-1]] >= 0:
                back.append(int(before[back[-1]]))
            found[a, b] = _Way(a, b, tuple(reversed(back)), float(metres[place]))
    tree: nx.Graph[int] = nx.Graph()
    for (a, b), way in found.items():
        tree.add_edge(a, b, weight=way.metres)
    for a, b in nx.minimum_spanning_edges(tree, data=False):
        yield found[min(a, b), max(a, b)]


def _climb(field: WalkableField, way: _Way, rooms: Sequence[FreeFloor]) -> Iterator[Edge]:
    """Edges along a way, with a viewpoint at its foot, its head and its turns."""
    points = [field.position(place) for place in way.places]
    foot = _set_back(rooms[way.a], points[0], points[1])
    head = _set_back(rooms[way.b], points[-1], points[-2])
    turns = _turns(field, [foot, *points, head])
    stands = [rooms[way.a].stand((foot[0], foot[2]))]
    stands += [_stand_at(turn, rooms[way.a], rooms[way.b]) for turn in turns[1:-1]]
    stands.append(rooms[way.b].stand((head[0], head[2])))
    for a, b in pairwise(stands):
        if a is not b:
            yield Edge(a=a.id, b=b.id)


def _stand_at(turn: Point3, *rooms: FreeFloor) -> Viewpoint:
    """A viewpoint on stairs; on a floor where it is within the floor."""
    x, y, z = turn
    for room in rooms:
        if abs(y - room.height) <= _BAND and shapely.intersects_xy(room.free, x, z):
            return room.stand((x, z))
    # Never at the very height of a floor that it is not on.
    return rooms[0].stand((x, z), y + 0.001 if y == rooms[0].height else y)


def _set_back(room: FreeFloor, at: Point3, onward: Point3) -> Point3:
    """The place some way before stairs, straight on and still on the floor."""
    x, _, z = at
    dx, dz = x - onward[0], z - onward[2]
    long = math.hypot(dx, dz)
    for far in _BEFORE:
        u, w = round(x + dx / long * far, 3), round(z + dz / long * far, 3)
        if shapely.covers(room.free, shapely.LineString([(x, z), (u, w)])):
            return u, room.height, w
    return x, room.height, z


def _turns(field: WalkableField, points: Sequence[Point3]) -> list[Point3]:
    """The points of a way where it turns, both ends included."""
    kept, i = [points[0]], 0
    while i < len(points) - 1:
        farther = range(len(points) - 1, i + 1, -1)
        i = next((j for j in farther if field.clear(points[i], points[j])), i + 1)
        kept.append(points[i])
    return kept


def _renamed(
    field: WalkableField,
    floors: tuple[Floor, ...],
    rooms: Sequence[FreeFloor],
    storey_of: Sequence[int],
    edges: Sequence[Edge],
) -> MeshGraph:
    """The graph with viewpoints numbered storey by storey, each as high as the field is there."""
    count = {floor.id: 0 for floor in floors}
    names: dict[str, str] = {}
    viewpoints = []
    for room, storey in zip(rooms, storey_of, strict=True):
        for viewpoint in room.stands:
            names[viewpoint.id] = f"{storey}_{count[storey]}"
            count[storey] += 1
            place = field.place_at(*viewpoint.position)
            x, y, z = viewpoint.position
            y = y if place < 0 else round(float(field.height[place]), 3)
            viewpoints.append(Viewpoint(id=names[viewpoint.id], position=(x, y, z)))
    walked = {frozenset((e.a, e.b)): Edge(a=names[e.a], b=names[e.b]) for e in edges}
    order = sorted(viewpoints, key=lambda each: int(each.id.partition("_")[0]))
    nobody = (-1,) * len(order)
    return MeshGraph(floors, tuple(order), tuple(walked.values()), nobody)


def _rooms_at(field: WalkableField, graph: MeshGraph, rooms_of: Ints) -> tuple[int, ...]:
    """The room of the place that each viewpoint is on, or nearest to."""
    found = []
    for viewpoint in graph.viewpoints:
        place = field.place_at(*viewpoint.position)
        if place < 0:
            near = field.nearest(viewpoint.position)
            place = -1 if near is None else field.place_at(*near)
        found.append(int(rooms_of[place]) if place >= 0 else -1)
    return tuple(found)
