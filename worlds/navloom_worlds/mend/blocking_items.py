"""Items to remove so that a body can pass through a home, at the lowest cost.

A shortest path is searched on the body's field in the home without items. Entering the place of an
item costs as much as its removal, so the cheapest path determines the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import shapely
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from shapely import Polygon

from navloom.scenes.bodies import Embodiment, inner_radius, outer_radius
from navloom.scenes.scene import Box, Item, Point3, Scene
from navloom_worlds.geometry.arrays import F64, Bools
from navloom_worlds.mend.home_changes import ChangeCosts, removal_change
from navloom_worlds.mend.route_drive import plan_legs, roomiest_point
from navloom_worlds.motion.body_field import BodyField, body_field

_METRE = 0.5
"""Cost per metre: a detour is preferred to the removal of an item."""
_BESIDE = 0.05
"""Additional clearance around an item in metres, since cells are 5 cm wide."""
_LOW = 0.05


def blocked_steps(
    bare: Scene, body: Embodiment, path: Sequence[str]
) -> list[tuple[str, str]] | None:
    """Return the steps of a path of regions that stay impassable for a body without any items.

    Args:
        bare: a home without items.
        body: the embodiment.
        path: ids of regions.

    Returns:
        None if the body fits nowhere in one of the regions.
    """
    field = body_field(bare, body)
    found = []
    lifts = {frozenset((link.a, link.b)) for link in bare.links if link.kind == "elevator"}
    spots = {region: roomiest_point(bare, field, region) for region in path}
    for a, b in pairwise(path):
        first, last = spots[a], spots[b]
        if first is None or last is None:
            return None
        if frozenset((a, b)) in lifts:
            continue
        if field.part[field.at(first)] != field.part[field.at(last)]:
            found.append((a, b))
    return found


def cheapest_removals(
    scene: Scene,
    bare: Scene,
    body: Embodiment,
    ends: tuple[Point3 | None, Point3 | None],
    costs: ChangeCosts,
    tried: int,
) -> tuple[str, ...]:
    """Return the items on the path whose removal costs least.

    Args:
        scene: a home through which the body does not get.
        bare: the same without items.
        body: the embodiment.
        ends: start and goal positions.
        costs: costs of changes.
        tried: number of failed drives; each one increases the clearance.

    Returns:
        Ids; () if no item blocks the path, or removing items does not help.
    """
    field = body_field(bare, body)
    spots = [end and field.nearest(end) for end in ends]
    if spots[0] is None or spots[1] is None:
        return ()
    legs = plan_legs(bare, body, field, spots[0], spots[1]) or []
    more = max(0.0, min(1.0, (tried - 2) / 3)) * (outer_radius(body) - inner_radius(body))
    things = [item for item in scene.items if _in_way(scene, item, body)]
    inside = _inside(field, things, inner_radius(body) + more + min(tried, 2) * _BESIDE, body)
    prices = np.array([removal_change(scene, item.id, costs).cost for item in things])
    graph = _graph(field, inside, prices)
    met: dict[str, None] = {}
    for begin, end in legs:
        first, last = field.at(begin), field.at(end)
        _, before = dijkstra(
            graph, directed=True, indices=np.array(first), return_predecessors=True
        )
        here = last
        met.update({things[k].id: None for k in np.flatnonzero(inside[first])})
        while here != first and here >= 0:
            met.update({things[k].id: None for k in np.flatnonzero(inside[here])})
            here = int(before[here])
    return tuple(met)


def _in_way(scene: Scene, item: Item, body: Embodiment) -> bool:
    """Check whether an item is at a body's height and stands or hangs by itself."""
    if item.size is None or item.on is not None or item.region is None:
        return False
    floor = scene.region_by_id[item.region].center[1]
    low, high = item.position[1] - item.size[1] / 2, item.position[1] + item.size[1] / 2
    return high > floor + max(_LOW, body.max_step) and low < floor + body.height


def _inside(field: BodyField, things: Sequence[Item], reach: float, body: Embodiment) -> Bools:
    """Return whether a body at a position would collide with an item, (positions, items)."""
    x, z, height = field.found.x, field.found.z, field.found.height
    found = np.zeros((len(field), len(things)), dtype=bool)
    for k, item in enumerate(things):
        assert item.size is not None  # noqa: S101 - an item without a size is no obstacle
        box = Box(center=item.position, size=item.size, yaw=item.yaw)
        area = Polygon(box.corners()).buffer(reach)
        left, near, right, far = area.bounds
        close = np.flatnonzero(
            (x >= left)
            & (x <= right)
            & (z >= near)
            & (z <= far)
            & (height < box.top)
            & (height + body.height > box.bottom)
        )
        found[close, k] = shapely.contains_xy(area, x[close], z[close])
    return found


def _graph(field: BodyField, inside: Bools, prices: F64) -> csr_array:
    """Return the positions as a graph, weighted by the cost of entering each from a neighbour."""
    beside = field.places.beside
    rows, sides = np.nonzero(beside >= 0)
    columns = beside[rows, sides]
    cost = np.full(len(rows), field.grid.cell * _METRE)
    if inside.shape[1]:
        cost += (inside[columns] & ~inside[rows]) @ prices
    return csr_array((cost, (rows, columns)), shape=(len(field), len(field)))
