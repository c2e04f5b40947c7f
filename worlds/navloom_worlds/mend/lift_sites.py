"""Where a platform lift could go through a floor: clear of walls, stairs and doors on both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene
from navloom.scenes.parts import Link, Point2, Region
from navloom.scenes.scene import Scene
from navloom_worlds.mend.changes import Change, lifting, removing
from navloom_worlds.mend.costs import Costs
from navloom_worlds.mend.rebuild import LIFT, standing_on

_STEP = 0.2
_BEFORE = 0.7
"""Metres before a doorway that a lift keeps free."""
_CLEAR = 0.3
"""Metres beside the platform that are to be free of things."""
_MOST_SITES = 3
_LAST = ("bathroom", "toilet", "bedroom", "nursery", "kids room")
"""Rooms where nobody wants a lift."""
_UNWANTED = 5_000.0
Site = tuple[Change, tuple[Change, ...], float]


def lift_sites(scene: Scene, body: Embodiment, costs: Costs) -> tuple[Site, ...]:
    """Lifts that could be built, each with the things that are taken away for it.

    Args:
        scene: whose regions have outlines.
        body: for whom; none for those who cannot operate one.
        costs: what things cost.

    Returns:
        At most three between any two storeys, the best first: the lift, what is taken away for it,
        and by how much a dearer one elsewhere is preferred; none for whoever uses stairs.
    """
    if not body.elevator or body.stairs:
        return ()
    key = f"mend:lifts:{costs.model_dump_json()}"
    return per_scene(scene, key, lambda: tuple(_sites(scene, costs)))


def _sites(scene: Scene, costs: Costs) -> Iterator[Site]:
    floors = sorted(scene.floors, key=lambda floor: floor.height)
    for low, high in pairwise(floors):
        found = []
        below = [(r, _open(scene, r)) for r in scene.regions if r.floor == low.id]
        above = [(r, _open(scene, r)) for r in scene.regions if r.floor == high.id]
        for a, first in below:
            for b, second in above:
                if (best := _best(scene, a, b, first.intersection(second), costs)) is not None:
                    found.append(best)
        found.sort(key=lambda each: each[0])
        for _, site in found[:_MOST_SITES]:
            yield site


def _open(scene: Scene, region: Region) -> BaseGeometry:
    """The floor of a region that no wall, door, stairs or lift needs."""
    if region.outline is None or "elevator" in region.label.casefold():
        return Polygon()
    kept = []
    for link in scene.links:
        if region.id in (link.a, link.b):
            kept += list(_needed(link))
    for opening in scene.openings:
        if opening.region == region.id and opening.kind == "door":
            kept.append(shapely.LineString(opening.jambs).buffer(_BEFORE, cap_style="flat"))
    for flight in scene.stairs:
        if region.id in (flight.a, flight.b):
            boxes = [Polygon(box.corners()) for box in (*flight.treads, *flight.landings)]
            kept.append(shapely.union_all(boxes).buffer(_BEFORE))
    return Polygon(region.outline).buffer(-0.02).difference(shapely.union_all(kept))


def _needed(link: Link) -> Iterator[BaseGeometry]:
    if link.jambs is not None:
        yield shapely.LineString(link.jambs).buffer(_BEFORE, cap_style="flat")
    if link.swing is not None:
        yield Polygon(link.swing)


def _best(
    scene: Scene, low: Region, high: Region, free: BaseGeometry, costs: Costs
) -> tuple[tuple[float, str, str], Site] | None:
    """The place of a lift between two regions for which least is taken away."""
    best: tuple[float, Point2, list[str]] | None = None
    if free.is_empty:
        return None
    left, near, right, far = free.bounds
    for wide, deep in (LIFT, LIFT[::-1]):
        xs = np.arange(left + wide / 2, right - wide / 2 + 1e-6, _STEP)
        zs = np.arange(near + deep / 2, far - deep / 2 + 1e-6, _STEP)
        for x in xs.tolist():
            for z in zs.tolist():
                box = shapely.box(x - wide / 2, z - deep / 2, x + wide / 2, z + deep / 2)
                if not free.covers(box):
                    continue
                about = box.buffer(_CLEAR, join_style="mitre")
                gone = [item.id for r in (low, high) for item in standing_on(scene, about, r.id)]
                cost = sum(removing(scene, each, costs).cost for each in gone)
                if best is None or cost < best[0]:
                    best = (cost, (round(x, 3), round(z, 3)), gone)
                if cost == 0:
                    break
            if best is not None and best[0] == 0:
                break
    if best is None:
        return None
    cost, at, gone = best
    unwanted = sum(_UNWANTED for each in (low, high) if each.label.casefold() in _LAST)
    lift = lifting((low.id, high.id), at, costs)
    taken = tuple(removing(scene, each, costs) for each in gone)
    return (cost + unwanted, low.id, high.id), (lift, taken, unwanted)
