"""Navigation graph on the walkable area of a mesh: on level floors, and along the stairs between.

Level floors get viewpoints from the same generator as homes (:mod:`navloom.scenes.floor_graph`).
Where stairs, a ramp or a step join two of them, there is a viewpoint at the foot, at the top and at
every turn of the field's shortest path, and edges run along it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import networkx as nx
import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra
from shapely import Polygon

from navloom.scenes.floor_graph import BODY, FreeFloor, fill_floor
from navloom.scenes.scene import Edge, Floor, Point3, Viewpoint
from navloom_worlds.geometry.arrays import F64, I32, Bools
from navloom_worlds.geometry.mesh import CellGrid
from navloom_worlds.geometry.walkable_area import WalkableField, place_adjacency

_BAND = 0.1
"""Height difference in metres within which a place belongs to a floor."""
_STEEP = 0.04
"""Slope above which a surface is a ramp and not a floor."""
_LEAST = 0.3
"""Least area of a level floor in square metres; smaller ones are part of stairs."""
_STOREY = 1.5
"""Metres above the lowest floor of a storey from which a floor belongs to the next storey."""
_BEFORE = (0.45, 0.35, 0.25, 0.15)
"""Distances in metres of the first viewpoint before stairs, tried in order."""
_COARSE = 0.04
"""Tolerance in metres to which the outline of a floor is simplified."""


@dataclass(frozen=True, eq=False)
class LevelFloor:
    """Level floor of a walkable field.

    Attributes:
        height: y in metres.
        places: places of the field that belong to it.
        polygon: area where the middle of a body may be, as (x, z).
    """

    height: float
    places: I32
    polygon: Polygon


@dataclass(frozen=True, eq=False)
class MeshGraph:
    """Navigation graph of a mesh: storeys, viewpoints and edges.

    Attributes:
        floors: its storeys.
        viewpoints: standing positions; none has a region.
        edges: walkable connections.
        rooms: room number of each viewpoint; -1 if unknown.
    """

    floors: tuple[Floor, ...]
    viewpoints: tuple[Viewpoint, ...]
    edges: tuple[Edge, ...]
    rooms: tuple[int, ...]


def build_mesh_graph(field: WalkableField, rooms_of: I32 | None = None) -> MeshGraph:
    """Place viewpoints on the main part of a field and connect them.

    Args:
        field: field of a mesh.
        rooms_of: (n,) room of each place, if known. Each room has its own viewpoints then, and
            there is one on either side of where two rooms touch.

    Returns:
        Storeys, viewpoints named ``<storey>_<index>`` and edges. All viewpoints are connected.
        The graph is empty if there is no place to stand.
    """
    levels = find_levels(field, rooms_of)
    if not levels:
        return MeshGraph((), (), (), ())
    floors, storey_of = _storeys(levels)
    rooms = [_room(i, level) for i, level in enumerate(levels)]
    edges = [edge for way in _ways_between(field, levels) for edge in _climb(field, way, rooms)]
    edges += [edge for room in rooms for edge in fill_floor(room)]
    graph = _renamed(field, floors, rooms, storey_of, edges)
    return graph if rooms_of is None else replace(graph, rooms=_rooms_at(field, graph, rooms_of))


def _room(number: int, level: LevelFloor) -> FreeFloor:
    height = round(level.height, 3)
    around = shapely.box(*level.polygon.bounds).buffer(BODY, join_style="mitre")
    return FreeFloor(f"floor {number}", f"{number}", height, around, None, level.polygon)


def find_levels(field: WalkableField, rooms_of: I32 | None = None) -> list[LevelFloor]:
    """Return the level floors of a field's main part, the lowest first, one per connected part."""
    rooms_of = np.full(len(field.cell), -1, dtype=np.int32) if rooms_of is None else rooms_of
    place_height = field.height[field.main]
    owner = np.full(len(field.cell), -1, dtype=np.int32)
    for number, height in enumerate(_heights(place_height, field.grid.cell**2)):
        near = field.main[np.abs(place_height - height) <= _BAND]
        # Bands of two floors may overlap: the one found first keeps the place.
        owner[near[owner[near] < 0]] = number
    held = owner >= 0
    same = held[:, None] & (owner[field.beside] == owner[:, None])
    same &= rooms_of[field.beside] == rooms_of[:, None]
    _, label = connected_components(place_adjacency(field.beside, same), directed=False)
    levels = []
    for each in np.unique(label[held]):
        places = np.flatnonzero((label == each) & held).astype(np.int32)
        if len(places) * field.grid.cell**2 >= _LEAST:
            height = float(np.median(field.height[places]))
            if _slope(field, places) > _STEEP:
                continue
            polygon, kept = _outline(field.grid, field.cell[places], places)
            levels.append(LevelFloor(height, kept, polygon))
    return sorted(levels, key=lambda each: (round(each.height, 3), -each.polygon.area))


def _heights(heights: F64, cell: float) -> Iterator[float]:
    """Yield the heights with most floor around them, the largest first."""
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


def _slope(field: WalkableField, places: I32) -> float:
    """Return the slope of the plane fitted to some places."""
    at = field.grid.centres(field.cell[places])
    plane = np.column_stack([at - at.mean(axis=0), np.ones(len(places))])
    fitted = np.linalg.lstsq(plane, field.height[places], rcond=None)[0]
    return float(np.hypot(fitted[0], fitted[1]))


def _outline(g: CellGrid, cells: I32, places: I32) -> tuple[Polygon, I32]:
    """Return the polygon of connected cells, and their places that are well inside it."""
    # In integer cell units, so that neighbours share their sides exactly.
    rows = [(low // g.deep, low % g.deep, high % g.deep) for low, high in _runs(cells, g.deep)]
    i, first, last = np.array(rows).T
    whole = shapely.union_all(shapely.box(i, first, i + 1, last + 1))
    corner = np.array([g.x, g.z]) - g.cell / 2
    placed = shapely.transform(whole, lambda at: corner + at * g.cell)
    # Cells that touch only at a corner are not connected: a tiny erosion separates them.
    parts = shapely.get_parts(placed.buffer(-_COARSE / 10, join_style="mitre"))
    rough = max(parts, key=lambda each: each.area).simplify(_COARSE)
    parts = shapely.get_parts(shapely.set_precision(rough, 0.001))
    polygon = max(parts, key=lambda each: each.area)
    at, inner = g.centres(cells), polygon.buffer(-_COARSE / 20)
    shapely.prepare(inner)
    return polygon, places[shapely.intersects_xy(inner, at[:, 0], at[:, 1])]


def _runs(cells: I32, deep: int) -> Iterator[tuple[int, int]]:
    """Yield cells in a row, as the first and the last of each run."""
    breaks = np.flatnonzero((np.diff(cells) != 1) | (cells[1:] % deep == 0))
    firsts = np.concatenate([[0], breaks + 1])
    lasts = np.concatenate([breaks, [len(cells) - 1]])
    yield from zip(cells[firsts].tolist(), cells[lasts].tolist(), strict=True)


def _storeys(levels: Sequence[LevelFloor]) -> tuple[tuple[Floor, ...], list[int]]:
    """Return the storeys, and the storey of each level; landings belong to the nearest storey."""
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
class _LevelPath:
    """Shortest path from one level floor to another, as places of the field."""

    a: int
    b: int
    places: tuple[int, ...]
    metres: float


def _ways_between(field: WalkableField, levels: Sequence[LevelFloor]) -> Iterator[_LevelPath]:
    """Yield the shortest path between levels that touch the same stairs, as few as suffice."""
    level_of = np.full(len(field.cell), -1, dtype=np.int32)
    for number, each in enumerate(levels):
        level_of[each.places] = number
    steps = _steps(field)
    # Connected places of no level are flights of stairs.
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


def _pairs(first: I32, second: I32) -> list[tuple[int, int]]:
    return sorted(set(zip(first.tolist(), second.tolist(), strict=True)))


def _steps(field: WalkableField) -> coo_array:
    """Return metres from each main place to its neighbours, diagonal ones included."""
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
    places = field.grid.centres(field.cell)
    flat = np.hypot(*(places[row] - places[col]).T)
    metres = np.hypot(flat, field.height[row] - field.height[col])
    return coo_array((metres, (row, col)), shape=(len(main), len(main)))


def _shortest(
    steps: coo_array, flight: Bools, level_of: I32, levels: Sequence[int]
) -> Iterator[_LevelPath]:
    """Yield paths over a flight that join some levels, as a minimum spanning tree."""
    rows, cols = steps.coords
    found: dict[tuple[int, int], _LevelPath] = {}
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
            # Of many equally near places, as along a step as long as a room, take the middle one.
            best = np.flatnonzero(far == far.min())
            place = int(there[best[len(best) // 2]])
            back = [place]
            while before[back[-1]] >= 0:
                back.append(int(before[back[-1]]))
            found[a, b] = _LevelPath(a, b, tuple(reversed(back)), float(metres[place]))
    tree: nx.Graph[int] = nx.Graph()
    for (a, b), way in found.items():
        tree.add_edge(a, b, weight=way.metres)
    for a, b in nx.minimum_spanning_edges(tree, data=False):
        yield found[min(a, b), max(a, b)]


def _climb(field: WalkableField, way: _LevelPath, rooms: Sequence[FreeFloor]) -> Iterator[Edge]:
    """Yield edges along a path, with viewpoints at its foot, its top and its turns."""
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
    """Return a viewpoint on stairs, or on a floor if it lies within one."""
    x, y, z = turn
    for room in rooms:
        if abs(y - room.height) <= _BAND and shapely.intersects_xy(room.free, x, z):
            return room.stand((x, z))
    # Never at exactly the height of a floor that it is not on.
    return rooms[0].stand((x, z), y + 0.001 if y == rooms[0].height else y)


def _set_back(room: FreeFloor, at: Point3, onward: Point3) -> Point3:
    """Return the position a little before stairs, straight back and still on the floor."""
    x, _, z = at
    dx, dz = x - onward[0], z - onward[2]
    long = math.hypot(dx, dz)
    for far in _BEFORE:
        u, w = round(x + dx / long * far, 3), round(z + dz / long * far, 3)
        if shapely.covers(room.free, shapely.LineString([(x, z), (u, w)])):
            return u, room.height, w
    return x, room.height, z


def _turns(field: WalkableField, points: Sequence[Point3]) -> list[Point3]:
    """Return the points of a path where it turns, with both ends."""
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
    """Return the graph with viewpoints numbered by storey, at the field's heights."""
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


def _rooms_at(field: WalkableField, graph: MeshGraph, rooms_of: I32) -> tuple[int, ...]:
    """Return the room of the place at, or nearest to, each viewpoint."""
    found = []
    for viewpoint in graph.viewpoints:
        place = field.place_at(*viewpoint.position)
        if place < 0:
            near = field.nearest(viewpoint.position)
            place = -1 if near is None else field.place_at(*near)
        found.append(int(rooms_of[place]) if place >= 0 else -1)
    return tuple(found)
