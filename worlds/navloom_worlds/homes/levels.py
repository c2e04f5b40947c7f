"""Floors a step above or below their storey's, and ramps where one comes down without a step."""

from __future__ import annotations

from collections.abc import Mapping

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.floorplan import Doorway, Flight
from navloom_worlds.homes.rectilinear import Rect, Stretch, covers, overlap, rect_of
from navloom_worlds.homes.storeys import HALF, DrawnStorey

_SUNKEN: Mapping[str, float] = {
    "living room": 0.1, "family room": 0.12, "garage": 0.6, "laundry": 0.06, "library": 0.05,
}  # fmt: skip
"""How often a room on the ground lies lower than the hall."""
_RAMPS = 0.45
_SLOPE = 9
"""Length of a ramp over its rise."""
_SLICE = 12
"""Ramps are built of slices no higher than this, in mm: what rolls gets over each."""
_WIDEST = 1400


def draw_levels(dice: Dice, drawn: DrawnStorey) -> None:
    """Sink rooms of the lowest storey by a step; some of them get a ramp."""
    for cell, kind in sorted(drawn.kinds.items()):
        if not dice.chance(_SUNKEN.get(kind, 0.0)):
            continue
        low = drawn.storey.height - 10 * dice.whole(10, 18)
        drawn.levels[cell] = low
        if dice.chance(_RAMPS):
            ramp = _ramp(drawn, cell, low)
            drawn.ramps += [ramp] if ramp else []


def _ramp(drawn: DrawnStorey, cell: int, low: int) -> Flight | None:
    """A ramp down from an opening, where the room has floor for it that no door needs."""
    rise = drawn.storey.height - low
    swings = [rect_of(d.swing) for d in drawn.doorways if d.swing]
    for doorway in drawn.doorways:
        if doorway.leaf is not None or cell not in (doorway.a, doorway.b) or doorway.b is None:
            continue
        other = doorway.b if doorway.a == cell else doorway.a
        if drawn.levels.get(other) != drawn.storey.height or drawn.kinds[other] == "stairwell":
            continue
        wall = _wall(drawn, doorway, cell, other)
        lo, hi = _middle(wall, doorway)
        sign = wall.inward(cell)
        floor = wall.rect(lo, hi, sign * HALF, sign * (HALF + rise * _SLOPE + 600))
        ways = [_before(d) for d in drawn.doorways if d is not doorway]
        if not covers(drawn.inner[cell], floor) or any(overlap(floor, r) for r in swings + ways):
            continue
        return _sloped(wall, (lo, hi), sign, (cell, other), (low, rise))
    return None


def _wall(drawn: DrawnStorey, doorway: Doorway, cell: int, other: int) -> Stretch:
    box = rect_of(doorway.jambs)
    return next(
        wall
        for wall in drawn.walls
        if {wall.minus, wall.plus} == {cell, other}
        and _lies_on(wall.rect(wall.lo, wall.hi, 0, 0), box)
    )


def _lies_on(line: Rect, part: Rect) -> bool:
    """Whether a straight line has another as its part."""
    return line[0] <= part[0] and line[1] <= part[1] and part[2] <= line[2] and part[3] <= line[3]


def _middle(wall: Stretch, doorway: Doorway) -> tuple[int, int]:
    x0, z0, x1, z1 = rect_of(doorway.jambs)
    lo, hi = (x0, x1) if wall.axis == "x" else (z0, z1)
    wide = min(hi - lo, _WIDEST) // 20 * 20
    start = (lo + hi - wide) // 2
    return start, start + wide


def _before(doorway: Doorway) -> Rect:
    x0, z0, x1, z1 = rect_of(doorway.jambs)
    return x0 - 600, z0 - 600, x1 + 600, z1 + 600


def _sloped(
    wall: Stretch,
    across: tuple[int, int],
    sign: int,
    cells: tuple[int, int],
    rises: tuple[int, int],
) -> Flight:
    (lo, hi), (low, rise) = across, rises
    long = rise * _SLOPE
    count = -(-rise // _SLICE)
    slices = []
    for i in range(count):
        near, far = (HALF + long * part // count for part in (count - 1 - i, count - i))
        rect = wall.rect(lo, hi, sign * near, sign * far)
        slices.append((*rect, low + rise * (i + 1) // count))
    line = []
    for off, height in ((HALF + long, low), (HALF, low + rise), (-HALF, low + rise)):
        x, z = wall.spot((lo + hi) // 2, sign * off)
        line.append((x, height, z))
    return Flight("ramp", *cells, tuple(slices), (), tuple(line), hi - lo)
