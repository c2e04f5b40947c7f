"""What may be wrong with furniture: outside its room, in another thing, in the sweep of a door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import shapely
from shapely import Polygon, STRtree

from navloom.scenes.parts import Box, Item, Link, Opening, Point2, Region, Relation, Stairs
from navloom_worlds.homes.freespace import FLAT, HEAD

_TOUCH = 0.002
"""Metres that two things may share, since turned corners are rounded."""


def furnishing_faults(
    regions: Sequence[Region],
    items: Sequence[Item],
    relations: Sequence[Relation],
    ways: Sequence[Link | Opening],
    stairs: Sequence[Stairs] = (),
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the furniture of a home.

    Two boxes may share space where one thing is in or on the other (a sofa's box holds what lies
    on its seat); and a rug lies under whatever stands on it.

    Args:
        regions: with polygons, in metres.
        items: with sizes, each in a region.
        relations: of the items.
        ways: doors, with the floor that each sweeps.
        stairs: nothing lies on their treads.

    Yields:
        A region, and what is wrong in it.
    """
    if not items:
        return
    index = {region.id: i for i, region in enumerate(regions)}
    room = np.array([index[str(item.region)] for item in items])
    feet = np.array([Polygon(_corners(item)) for item in items])
    grown = [Polygon(r.polygon or ()).buffer(_TOUCH, join_style="mitre") for r in regions]
    inside = shapely.covers(np.array(grown)[room], feet)
    for i in np.flatnonzero(~inside).tolist():
        yield str(items[i].region), f"{items[i].id} is not inside."
    middle = np.array([item.position[1] for item in items])
    half = np.array([item.size[1] if item.size else 0.0 for item in items]) / 2
    floor = np.array([region.center[1] for region in regions])[room]
    ceiling = np.array([r.box.top if r.box else np.inf for r in regions])[room]
    low, high = middle - half, middle + half
    for i in np.flatnonzero((low < floor - _TOUCH) | (high > ceiling + _TOUCH)).tolist():
        yield str(items[i].region), f"{items[i].id} is in the floor or the ceiling."
    for flight in stairs:
        treads = shapely.union_all([Polygon(box.corners()) for box in flight.treads])
        for i in np.flatnonzero(shapely.intersects(treads.buffer(-_TOUCH), feet)).tolist():
            if items[i].region in (flight.a, flight.b) and low[i] < floor[i] + HEAD:
                yield str(items[i].region), f"{items[i].id} is on stairs."
    stands = np.flatnonzero(high > floor + FLAT)
    tree = STRtree(feet[stands])
    held = {(r.a, r.b) for r in relations if r.kind == "in"} | {(i.id, i.on) for i in items}
    for i, j in _pairs(tree, stands, low, high):
        a, b = items[i], items[j]
        if (a.id, b.id) not in held and (b.id, a.id) not in held:
            yield str(a.region), f"{a.id} and {b.id} overlap."
    for way in ways:
        if way.swing is None:
            continue
        sweep = Polygon(way.swing).buffer(-_TOUCH)
        for i in stands[tree.query(sweep, predicate="intersects")].tolist():
            region = str(items[i].region)
            if region in _sides(way) and low[i] < floor[i] + (way.height or np.inf):
                yield region, f"{items[i].id} stands where a door sweeps."


def _corners(item: Item) -> tuple[Point2, ...]:
    """The footprint, a little smaller than it is."""
    width, height, depth = item.size or (0.0, 0.0, 0.0)
    size = (max(width - _TOUCH, 0), height, max(depth - _TOUCH, 0))
    return Box.model_construct(center=item.position, size=size, yaw=item.yaw).corners()


def _pairs(
    tree: STRtree, stands: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Iterator[tuple[int, int]]:
    """Pairs that share floor and height."""
    first, second = (stands[each] for each in tree.query(tree.geometries, predicate="intersects"))
    shared = np.minimum(high[first], high[second]) - np.maximum(low[first], low[second])
    kept = (first < second) & (shared > _TOUCH)
    yield from zip(first[kept].tolist(), second[kept].tolist(), strict=True)


def _sides(way: Link | Opening) -> tuple[str, ...]:
    return (way.a, way.b) if isinstance(way, Link) else (way.region,)
