"""Woodwork of a building: door and window casings, door leaves, sills and skirting boards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import shapely

from navloom_worlds.geometry.building import Building
from navloom_worlds.geometry.building_surfaces import WallPanel
from navloom_worlds.geometry.door_leaves import leaf_parts
from navloom_worlds.geometry.finishes import DARK_STEEL, STEEL, STONE, TRIM, Finishes
from navloom_worlds.geometry.semantic_ids import WALL
from navloom_worlds.geometry.solids import Owned, Part, Surface, as_f32, box, quad_faces
from navloom_worlds.geometry.wall_openings import OUTDOORS, WallOpening

_CASING = 0.07
_PROUD = 0.018
"""Metres by which casings protrude from the wall."""
_BOARD = 0.024
"""Metres by which window boards protrude; curtains hang in front of them."""
_SKIRTING = (0.08, 0.012)
_LIGHT = 0.85
"""Width in metres above which a window is divided."""


def woodwork_parts(building: Building, looks: Finishes, *, leaves: bool = True) -> Iterator[Owned]:
    """Yield the parts in doorways and windows; without ``leaves`` only the fixed parts."""
    for way in building.ways:
        parts = _window(building, way) if way.kind == "window" else _door(way, looks)
        for part in parts:
            yield way.owner, way.placed(part)
        if way.leaf is None or not leaves:
            continue
        out = any(OUTDOORS.search(room.casefold()) for room in way.rooms)
        lift = _is_lift(way)
        look = looks.front if way.kind == "way out" else TRIM if out else looks.doors
        for part in leaf_parts(way, look, glazed=out, lift=lift):
            yield way.owner, part


def _is_lift(way: WallOpening) -> bool:
    return any("elevator" in room.casefold() for room in way.rooms)


def _inner_sides(building: Building, way: WallOpening) -> tuple[float, ...]:
    """Return the sides of an opening that face the home: -1 and 1 along its z."""
    across = way.across * (way.thick / 2 + 0.1)
    storey = building.storey_at(way.low)
    rooms = [] if storey is None else [r.area for r in storey.rooms if r.region.id in way.rooms]
    if not rooms:
        return (-1.0, 1.0)
    found = tuple(
        side
        for side in (-1.0, 1.0)
        if any(shapely.intersects_xy(area, *(way.middle + across * side)) for area in rooms)
    )
    return found or (-1.0, 1.0)


def _casing(
    way: WallOpening, side: float, low: float, surface: Surface, wide: float
) -> Iterator[Part]:
    """Yield boards around an opening on one face of its wall, in the opening's frame."""
    near, far = sorted((side * way.thick / 2, side * (way.thick / 2 + _PROUD)))
    long = way.width
    for x0, x1 in ((-wide, 0.0), (long, long + wide)):
        yield box((x0, low, near), (x1, way.head, far), surface)
    yield box((-wide, way.head, near), (long + wide, way.head + wide, far), surface)


def _door(way: WallOpening, finishes: Finishes) -> Iterator[Part]:
    half = way.thick / 2
    if way.leaf is not None:
        lift = _is_lift(way)
        for side in (-1.0, 1.0):
            yield from _casing(way, side, way.low, STEEL if lift else TRIM, _CASING)
        if way.leaf == "hinged":
            yield from _stops(way)
    if way.sill > 0:
        look = DARK_STEEL if way.kind == "way out" else finishes.threshold
        yield box((0, way.low, -half), (way.width, way.low + way.sill, half), look)


def _stops(way: WallOpening) -> Iterator[Part]:
    """Yield the strips that a closed leaf rests against."""
    if not way.swing:
        return
    side = way.inward
    near, far = sorted((side * (way.thick / 2 - 0.045), side * (way.thick / 2 - 0.075)))
    low = way.low + way.sill
    for x0, x1 in ((0.0, 0.012), (way.width - 0.012, way.width)):
        yield box((x0, low, near), (x1, way.head, far), TRIM)
    yield box((0.012, way.head - 0.012, near), (way.width - 0.012, way.head, far), TRIM)


def _window(building: Building, way: WallOpening) -> Iterator[Part]:
    """Yield a frame with lights, boards around it inside, and sills; no glass."""
    inner = _inner_sides(building, way)[0]
    half, long = way.thick / 2, way.width
    storey = building.storey_at(way.low)
    french = storey is not None and way.low < storey.floor + 0.05
    low = way.low if french else way.low + 0.025
    middle = -inner * half * 0.3
    yield from _frame(long, low, way.head, middle)
    yield from _casing(way, inner, way.low, TRIM, 0.06)
    if french:
        return
    face = inner * half
    near, far = sorted((middle + inner * 0.03, face + inner * _BOARD))
    yield box((0, way.low, near), (long, low, far), TRIM)
    # The board's ends lie in front of the wall.
    ear = sorted((face, face + inner * _BOARD))
    for x0, x1 in ((-0.09, 0.0), (long, long + 0.09)):
        yield box((x0, way.low, ear[0]), (x1, low, ear[1]), TRIM)
    near, far = sorted((middle - inner * 0.03, -face - inner * 0.04))
    yield box((0, way.low, near), (long, low, far), STONE)


def _frame(long: float, low: float, high: float, z: float) -> Iterator[Part]:
    """Yield a frame and its sashes around z."""
    edge, deep = 0.045, 0.03

    def bar(x0: float, y0: float, x1: float, y1: float, thick: float) -> Part:
        return box((x0, y0, z - thick), (x1, y1, z + thick), TRIM)

    yield bar(0, low, edge, high, deep)
    yield bar(long - edge, low, long, high, deep)
    yield bar(edge, low, long - edge, low + edge, deep)
    yield bar(edge, high - edge, long - edge, high, deep)
    lights = max(1, round(long / _LIGHT))
    wide = (long - 2 * edge) / lights
    for number in range(1, lights):
        x = edge + number * wide
        yield bar(x - 0.03, low + edge, x + 0.03, high - edge, deep)
    if high - low > 1.3:
        y = high - 0.3 * (high - low)
        for number in range(lights):
            x0 = edge + number * wide + (0.03 if number else 0)
            x1 = edge + (number + 1) * wide - (0.03 if number < lights - 1 else 0)
            yield bar(x0, y - 0.015, x1, y + 0.015, deep - 0.01)
    x = edge + wide + (0.022 if lights == 1 else 0.0)
    yield box(
        (x - 0.01, (low + high) / 2 - 0.06, z - 0.05), (x + 0.01, (low + high) / 2, z + 0.05), STEEL
    )


def skirting_parts(panels: Iterable[WallPanel], finishes: Finishes) -> Iterator[Owned]:
    """Yield the skirting boards of rooms that have them, as one part."""
    high, deep = _SKIRTING
    corners: list[list[float]] = []
    for panel in panels:
        room = panel.room
        if room is None or room.outdoors or not finishes.wall(room.region).skirting:
            continue
        if abs(panel.low - room.level) > 0.02 or panel.high < panel.low + high:
            continue
        a, b = np.array(panel.a), np.array(panel.b)
        long = float(np.linalg.norm(b - a))
        if long < 0.02:
            continue
        along = (b - a) / long
        out = np.array([along[1], -along[0]]) * deep
        (x0, z0), (x1, z1) = a + out, b + out
        y0, y1 = panel.low, panel.low + high
        corners += [[x1, y0, z1], [x0, y0, z0], [x0, y1, z0], [x1, y1, z1]]
        corners += [[x1, y1, z1], [x0, y1, z0], [a[0], y1, a[1]], [b[0], y1, b[1]]]
        corners += [[x0, y0, z0], [a[0], y0, a[1]], [a[0], y1, a[1]], [x0, y1, z0]]
        corners += [[b[0], y0, b[1]], [x1, y0, z1], [x1, y1, z1], [b[0], y1, b[1]]]
    if corners:
        yield WALL, Part(as_f32(corners), quad_faces(len(corners) // 4), TRIM)
