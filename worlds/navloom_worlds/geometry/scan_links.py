"""Which rooms of a scan one can walk between: where places of two rooms lie side by side.

A place of the walkable field is of the room whose floor, rug or stairs it is on; a place on
anything else (a threshold) is of the room that is nearest on foot. Where two rooms' places
touch there is a link, one for each run of such places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from navloom.scenes.parts import Box, Link, LinkKind, Point2, Point3, Region
from navloom_worlds.geometry.rays import RayCaster
from navloom_worlds.geometry.scan import Scan
from navloom_worlds.geometry.walkable import WalkableField

STAIRS_RISE = 1.0
"""Metres between two rooms' floors above which their link is stairs."""
_LIES = re.compile(r"\b(floor|flooring|rug|carpet|mat|stairs?|steps?|staircase|landing)$")
"""Of names: what is walked on, and lies in one room."""
_ABOVE = 0.1
_IN_DOOR = 0.2
"""Metres from a way through to the box of a door that is in it."""
_HINGE = 0.1
_FILLS = 0.6
"""Of the width of a way through: a door that hangs at its side is no narrower."""
_SPECK = 0.2
"""Square metres: a smaller patch of a region that has a larger one is a spill of its label."""
_NEAREST = 3.0
"""Metres on foot from a region's floor to what is counted to it."""
_RUN = 0.3
"""Metres: touching places that are nearer to one another are of one way through."""
_BODY = 0.2

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Crossing:
    """Where one walks from one room into another.

    Attributes:
        a: number of a region.
        b: of the other, a greater one.
        point: its middle, on the floor.
        along: (x, z) of the first and the last place where they touch.
        width: how wide it is for the middle of a body, in metres.
    """

    a: int
    b: int
    point: Point3
    along: tuple[Point2, Point2]
    width: float

    @property
    def jambs(self) -> tuple[Point2, Point2]:
        """About where it ends: a body's radius beyond the first and the last place."""
        (a, b), (c, d) = self.along
        far = max(self.width, 1e-6)
        u, w = (c - a) / far * _BODY, (d - b) / far * _BODY
        return (a - u, b - w), (c + u, d + w)


def place_regions(scan: Scan, field: WalkableField, numbers: Sequence[int]) -> Ints:
    """The number of the region that each place is of.

    Args:
        scan: whose field it is.
        field: the places.
        numbers: regions that count; what lies on others' floors is of the nearest of these.

    Returns:
        (n,) int32, -1 where no region is to be reached on foot.
    """
    region = np.full(max((x.number for x in scan.lines), default=0) + 1, -1, dtype=np.int32)
    held = set(numbers)
    for line in scan.lines:
        if line.region in held and _LIES.search(line.name):
            region[line.number] = line.region
    face_region = region[scan.numbers]
    level = np.flatnonzero((scan.rise > 0.5) & (face_region >= 0))
    out = np.full(len(field.cell), -1, dtype=np.int32)
    if len(level):
        at = field.grid.middles(field.cell)
        start = np.stack([at[:, 0], field.height + _ABOVE, at[:, 1]], axis=1).astype(np.float32)
        down = np.broadcast_to(np.array([0, -1, 0], dtype=np.float32), start.shape)
        used, again = np.unique(scan.faces[level], return_inverse=True)
        caster = RayCaster(scan.vertices[used], again.reshape(-1, 3).astype(np.int32))
        hits = caster.cast(start, down)
        near = (hits.face >= 0) & (hits.distance < 2.5 * _ABOVE)
        out[near] = face_region[level[hits.face[near]]]
    return _spread(field, _without_specks(field, out))


def _without_specks(field: WalkableField, known: Ints) -> Ints:
    """Places without what labels spilt: a region's patch that is small beside its largest."""
    same = (field.beside >= 0) & (known[field.beside] == known[:, None]) & (known >= 0)[:, None]
    rows, sides = np.nonzero(same)
    pairs = (rows, field.beside[rows, sides])
    joined = coo_array((np.ones(len(rows), dtype=np.int8), pairs), shape=(len(known),) * 2)
    count, label = connected_components(joined, directed=False)
    size = np.bincount(label, minlength=count) * field.grid.cell**2
    first = np.zeros(count, dtype=np.int64)
    first[label] = np.arange(len(known))
    region = known[first]
    largest = np.zeros(int(known.max(initial=0)) + 2)
    np.maximum.at(largest, region, size)
    speck = (size < _SPECK) & (size < largest[region])
    return np.where(speck[label], -1, known).astype(np.int32)


def _spread(field: WalkableField, known: Ints) -> Ints:
    """Places of no region get that of the nearest place on foot that has one."""
    rows, sides = np.nonzero(field.beside >= 0)
    cols = field.beside[rows, sides]
    given = np.flatnonzero(known >= 0)
    if not len(given) or len(given) == len(known):
        return known
    rise = np.abs(field.height[rows] - field.height[cols])
    metres = np.hypot(field.grid.cell, rise)
    graph = coo_array((metres, (rows, cols)), shape=(len(known),) * 2).tocsr()
    found = dijkstra(graph, indices=given, min_only=True, return_predecessors=True, limit=_NEAREST)
    far, _, source = found
    return np.where(np.isfinite(far), known[np.maximum(source, 0)], -1).astype(np.int32)


def crossings(field: WalkableField, region: Ints) -> list[Crossing]:
    """Every place where two regions of the field's main part touch, the widest of a pair first."""
    main = field.part == 0
    rows, sides = np.nonzero((field.beside[:, :2] >= 0) & main[:, None])
    cols = field.beside[rows, sides]
    touch = main[cols] & (region[rows] >= 0) & (region[cols] >= 0) & (region[rows] != region[cols])
    rows, cols = rows[touch], cols[touch]
    low = np.minimum(region[rows], region[cols])
    high = np.maximum(region[rows], region[cols])
    at = field.grid.middles(field.cell)
    middle = (at[rows] + at[cols]) / 2
    height = np.maximum(field.height[rows], field.height[cols])
    found = []
    for a, b in sorted(set(zip(low.tolist(), high.tolist(), strict=True))):
        mine = np.flatnonzero((low == a) & (high == b))
        points = np.column_stack([middle[mine], height[mine]])
        for run in _runs(points):
            found.append(_crossing(a, b, points[run]))
    return sorted(found, key=lambda each: (each.a, each.b, -each.width, each.point))


def _runs(points: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    from scipy.spatial import KDTree

    pairs = KDTree(points).query_pairs(_RUN, output_type="ndarray")
    joined = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points),) * 2)
    count, label = connected_components(joined, directed=False)
    return [np.flatnonzero(label == each) for each in range(count)]


def _crossing(a: int, b: int, points: NDArray[np.float64]) -> Crossing:
    flat = points[:, :2]
    centre = flat.mean(axis=0)
    _, _, ways = np.linalg.svd(flat - centre, full_matrices=False)
    along = (flat - centre) @ ways[0]
    first, last = flat[along.argmin()], flat[along.argmax()]
    spot = (first + last) / 2
    middle = int(((flat - spot) ** 2).sum(axis=1).argmin())
    x, z, y = points[middle]
    return Crossing(
        a,
        b,
        (round(float(x), 3), round(float(y), 3), round(float(z), 3)),
        ((float(first[0]), float(first[1])), (float(last[0]), float(last[1]))),
        float(np.ptp(along)),
    )


def scan_links(
    ways: Sequence[Crossing], regions: Mapping[int, Region], doors: Sequence[Box]
) -> tuple[Link, ...]:
    """Links of what was found: a door where a door is in it, stairs where heights differ.

    Args:
        ways: where rooms touch.
        regions: by number.
        doors: boxes of doors.
    """
    links = []
    for way in ways:
        a, b = regions[way.a], regions[way.b]
        rise = round(b.center[1] - a.center[1], 3)
        through = _door_in(way, doors)
        kind: LinkKind = "stairs" if abs(rise) > STAIRS_RISE else "opening"
        if through is not None and kind == "opening":
            kind = "door"
        links.append(
            Link(
                a=a.id,
                b=b.id,
                kind=kind,
                point=way.point,
                width=round(way.width + 2 * _BODY, 2),
                step=rise,
                door="open" if kind == "door" else None,
            )
        )
    return tuple(links)


def _door_in(way: Crossing, doors: Sequence[Box]) -> Box | None:
    """The door whose box is in a way through, or that hangs at one side of it and would fill it."""
    x, y, z = way.point
    for door in doors:
        if door.distance((x, y + 1.0, z)) <= _IN_DOOR:
            return door
        fills = max(door.size[0], door.size[2]) >= _FILLS * (way.width + 2 * _BODY)
        sides = (door.distance((u, y + 1.0, w)) for u, w in way.jambs)
        if fills and min(sides) <= _HINGE:
            return door
    return None
