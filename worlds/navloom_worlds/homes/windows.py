"""Windows in outer walls, as rooms of each kind have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.floorplan import Doorway, Window
from navloom_worlds.homes.programme import KINDS
from navloom_worlds.homes.rectilinear import Stretch, overlap, rect_of
from navloom_worlds.homes.storeys import DrawnStorey

_CORNER = 250
"""From a window to the next corner's middle line at least, in mm."""
_BETWEEN = 700
# (least width, most width, sill, head, share of walls that have one)
_USUAL = (900, 1800, 900, 2100, 0.85)
_KINDS: Mapping[str, tuple[int, int, int, int, float]] = {
    "living room": (1400, 3000, 400, 2200, 0.95),
    "family room": (1200, 2600, 400, 2200, 0.95),
    "dining room": (1200, 2400, 600, 2200, 0.95),
    "kitchen": (900, 1800, 1050, 2100, 0.9),
    "bathroom": (500, 900, 1300, 2100, 0.75),
    "toilet": (400, 600, 1400, 2000, 0.7),
    "laundry": (500, 900, 1200, 2100, 0.6),
    "closet": (400, 600, 1500, 2000, 0.05),
    "storage": (400, 600, 1500, 2000, 0.15),
    "pantry": (400, 600, 1400, 2000, 0.1),
    "dressing room": (500, 900, 1300, 2100, 0.4),
    "garage": (600, 1200, 1400, 2000, 0.35),
    "hallway": (600, 1200, 900, 2100, 0.45),
    "entryway": (500, 900, 900, 2100, 0.4),
    "stairwell": (600, 900, 900, 2100, 0.6),
    "media room": (900, 1500, 1000, 2100, 0.4),
}
LIT = ("living room", "bedroom", "nursery", "kids room", "kitchen", "office", "dining room")
"""Kinds that people want a window in; the first four have one always."""


def put_windows(dice: Dice, drawn: DrawnStorey) -> None:
    """Draw a storey's windows; doors that lead outdoors are kept free."""
    kinds = {i: k for i, k in drawn.kinds.items() if KINDS[k].zone != "outdoor"}
    outer, doorways = drawn.outer, drawn.doorways
    found: list[Window] = []
    lit: set[int] = set()
    outside = [w for w in drawn.walls if (w.minus is None) != (w.plus is None)]
    for wall in sorted(outside, key=lambda w: (-w.length, w.axis, w.at, w.lo)):
        cell = wall.plus if wall.minus is None else wall.minus
        if cell is None or cell not in kinds:
            continue
        narrow, broad, sill, head, share = _KINDS.get(kinds[cell], _USUAL)
        must = cell not in lit and kinds[cell] in LIT[:4]
        if not must and not dice.chance(share if cell not in lit else share * 0.55):
            continue
        off = -wall.inward(cell) * (outer // 2 - 50)
        for lo, hi in _free(wall, doorways, narrow):
            wide = min(hi - lo, narrow + 100 * dice.whole(0, (broad - narrow) // 100))
            count = 1 if hi - lo < 2 * wide + _BETWEEN or wall.length < 4500 else 2
            for i in range(count):
                part = (hi - lo) // count
                at = lo + i * part + (part - wide) // 2 // 10 * 10
                ends = wall.spot(at, off), wall.spot(at + wide, off)
                low = 0 if wide >= 1800 and sill < 500 and dice.chance(0.3) else sill
                found.append(Window(cell, ends, outer, low, head))
            lit.add(cell)
            break
    drawn.windows = found


def _free(wall: Stretch, doorways: Sequence[Doorway], least: int) -> list[tuple[int, int]]:
    """Where along an outer wall a window may be, the longest place first."""
    places = [(wall.lo + _CORNER, wall.hi - _CORNER)]
    band = wall.rect(wall.lo, wall.hi, -400, 400)
    for doorway in doorways:
        x0, z0, x1, z1 = rect_of(doorway.jambs)
        if not overlap(band, (x0 - 1, z0 - 1, x1 + 1, z1 + 1)):
            continue
        if (z0 == z1) != (wall.axis == "x"):
            continue
        lo, hi = (x0, x1) if wall.axis == "x" else (z0, z1)
        places = [
            part for a, b in places for part in ((a, min(b, lo - 200)), (max(a, hi + 200), b))
        ]
    return sorted((p for p in places if p[1] - p[0] >= least), key=lambda p: (p[0] - p[1], p))
