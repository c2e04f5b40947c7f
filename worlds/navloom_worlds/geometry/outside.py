"""What lies around a home: the ground, steps before its doors, railings of balconies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from navloom_worlds.geometry.bands import polygons
from navloom_worlds.geometry.building import Building, Room
from navloom_worlds.geometry.finishes import DARK_STEEL, GRASS, STONE
from navloom_worlds.geometry.owners import GROUND, WALL
from navloom_worlds.geometry.solids import Owned, beam, box, quad
from navloom_worlds.geometry.wall_holes import WallHole, footprint

_AROUND = 40.0
"""Metres of ground around a home."""
_HIGH = 0.5
"""Metres above the ground from which on what lies outdoors has a railing."""
_RAIL, _BARS = 1.0, 0.12
_STEP = (1.0, 0.25)
"""How deep a doorstep is, and how much wider than its door on both sides, in metres."""


def outside(building: Building) -> Iterator[Owned]:
    """All that stands around a home."""
    walls = building.scene.walls
    xs = [x for wall in walls for x, _ in (wall.a, wall.b)]
    zs = [z for wall in walls for _, z in (wall.a, wall.b)]
    left, right = min(xs) - _AROUND, max(xs) + _AROUND
    near, far = min(zs) - _AROUND, max(zs) + _AROUND
    y = building.ground
    yield GROUND, quad([(left, y, far), (right, y, far), (right, y, near), (left, y, near)], GRASS)
    for way in building.ways:
        if way.kind == "way out" and way.low < y + _HIGH:
            yield from _doorstep(building, way)
    for storey in building.storeys:
        for room in storey.rooms:
            if room.outdoors and room.level > y + _HIGH:
                yield from _railing(building, room)


def _doorstep(building: Building, way: WallHole) -> Iterator[Owned]:
    across = np.array([-way.along[1], way.along[0]])
    middle = (np.array(way.a) + np.array(way.b)) / 2
    storey = building.storey_at(way.low)
    if storey is None:
        return
    inside = shapely.intersects_xy(storey.footprint, *(middle + across * (way.thick / 2 + 0.2)))
    side = -1.0 if inside else 1.0
    deep, wider = _STEP
    near, far = sorted((side * way.thick / 2, side * (way.thick / 2 + deep)))
    step = box(
        (-wider, building.ground - 0.05, near), (way.width + wider, way.low - 0.03, far), STONE
    )
    turned = step.turned(float(np.arctan2(way.along[1], way.along[0])))
    yield WALL, turned.moved(way.a[0], 0, way.a[1])


def _railing(building: Building, room: Room) -> Iterator[Owned]:
    """Bars along the sides of a balcony that have neither wall nor parapet."""
    held: list[BaseGeometry] = [
        footprint(wall)
        for wall in building.scene.walls
        if wall.bottom < room.level + 0.5 < wall.bottom + wall.height
    ]
    held += [
        storey.footprint for storey in building.storeys if abs(storey.floor - room.level) < 0.4
    ]
    taken = shapely.union_all(held).buffer(0.05)
    for polygon in polygons(room.area.buffer(-0.03, join_style="mitre")):
        for a, b in pairwise(shapely.get_coordinates(polygon.exterior)):
            line = shapely.LineString([a, b])
            for part in shapely.get_parts(line.difference(taken.buffer(0.05))):
                ends = shapely.get_coordinates(part)
                if len(ends) == 2 and np.linalg.norm(ends[1] - ends[0]) > 0.1:
                    yield from _bars(ends[0], ends[1], room.level)


def _bars(a: np.ndarray, b: np.ndarray, low: float) -> Iterator[Owned]:
    top = low + _RAIL
    for y, thick in ((top, 0.05), (low + 0.1, 0.03)):
        yield WALL, beam((a[0], y, a[1]), (b[0], y, b[1]), thick, DARK_STEEL)
    count = max(1, round(float(np.linalg.norm(b - a)) / _BARS))
    for k in range(count + 1):
        x, z = a + (b - a) * k / count
        post = k in (0, count)
        thick, foot = (0.05, low) if post else (0.016, low + 0.1)
        yield WALL, beam((x, foot, z), (x, top, z), thick, DARK_STEEL)
