"""A storey before it has rooms: a spine that all rooms lie along, and bays on its sides.

A spine is a hall (or, in small homes, the living room); a bay is a rectangle with one side on the
spine, to be cut across into rooms that all open onto it, as in double-loaded plans and in the
corridor placement of Marson and Musse (2010, section 4). What is cut off or left out gives the
footprint its shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.rectilinear import Rect

Side = Literal["N", "S", "E", "W"]
SNAP = 50
SLIMMEST = 2700
"""A bay that is less deep or less long holds nothing."""


def snap(value: float) -> int:
    """The nearest place a wall may stand."""
    return SNAP * int(value / SNAP + 0.5)


@dataclass(frozen=True)
class Bay:
    """A rectangle beside the spine.

    Attributes:
        key: the same on every storey.
        side: where it lies, seen from the spine.
        base: the line where it meets the spine.
        lo: where it begins, along the spine.
        hi: where it ends.
        depth: away from the spine.
        touch: from where to where the spine lies along it.
    """

    key: int
    side: Side
    base: int
    lo: int
    hi: int
    depth: int
    touch: tuple[int, int]

    def rect(self, lo: int, near: int, hi: int, far: int) -> Rect:
        """From ``lo`` to ``hi`` along the spine, ``near`` to ``far`` away from it, in the plan."""
        if self.side == "N":
            return lo, self.base - far, hi, self.base - near
        if self.side == "S":
            return lo, self.base + near, hi, self.base + far
        if self.side == "E":
            return self.base + near, lo, self.base + far, hi
        return self.base - far, lo, self.base - near, hi

    @property
    def whole(self) -> Rect:
        """All of it."""
        return self.rect(self.lo, 0, self.hi, self.depth)


@dataclass(frozen=True)
class SpineFrame:
    """The spine's rectangles, in order, and its bays."""

    spine: tuple[Rect, ...]
    bays: tuple[Bay, ...]

    @property
    def area(self) -> float:
        """Square metres, walls counted half."""
        rects = [*self.spine, *(bay.whole for bay in self.bays)]
        return sum((r[2] - r[0]) * (r[3] - r[1]) for r in rects) / 1e6


def draw_frame(
    dice: Dice, area: float, living: float | None, parts: int, largest: float
) -> SpineFrame | None:
    """Draw a lowest storey's frame.

    Args:
        dice: its own.
        area: square metres that it is to hold.
        living: where the living room is the spine, its square metres.
        parts: how many things are to stand in its bays.
        largest: square millimetres of the largest of them.

    Returns:
        None where the draws do not make a house.
    """
    if living is not None:
        return _hub(dice, area, living)
    if parts > 4 and area > 75 and dice.chance(0.45 if area < 180 else 0.7):
        return _bent(dice, area, parts, largest)
    return _straight(dice, area, parts, largest)


def _depth(dice: Dice, area: float) -> int:
    return snap((3450 + 8 * min(max(area - 45, 0), 150)) * dice.between(0.92, 1.12))


def _deep_enough(dice: Dice, depth: int, largest: float) -> int:
    """So deep that the largest room is no passage."""
    return max(depth, min(snap(sqrt(largest / dice.between(1.3, 2.1))), 6500))


def _hub(dice: Dice, area: float, living: float) -> SpineFrame | None:
    wide = dice.whole(32, 46) * 100
    long = snap(living * 1.06e6 / wide)
    if not 0.8 * wide <= long <= 2.2 * wide:
        return None
    north = _depth(dice, area)
    spine = (0, north, long, north + wide)
    top = Bay(0, "N", north, 0, long, north, (0, long))
    left = area * 1.05 - (long * (north + wide)) / 1e6
    bays = [top]
    side: Side = "E" if dice.chance(0.5) else "W"
    base = long if side == "E" else 0
    if left < 5.5:
        return SpineFrame((spine,), (top,)) if left > -2 else None
    if left > long * 2.8 / 1e3 * 1.1:
        south = min(_depth(dice, area), snap(left * 1e6 / long))
        bays.append(Bay(1, "S", north + wide, 0, long, south, (0, long)))
        left -= long * south / 1e6
    if left > 5.5:
        lo = 0 if dice.chance(0.6) else north
        high = north + wide - lo
        deep = snap(left * 1e6 / high)
        if deep < 2300:
            high = snap(left * 1e6 / 2700)
            lo, deep = north + wide - high, 2700
        if deep > 6000 or high < 2300:
            return None
        bays.append(Bay(2, side, base, lo, lo + high, deep, (max(lo, north), north + wide)))
    return SpineFrame((spine,), tuple(bays))


def _straight(dice: Dice, area: float, parts: int, largest: float) -> SpineFrame | None:
    hall = dice.whole(11, 15) * 100
    depths = [_depth(dice, area), _depth(dice, area)]
    depths[dice.whole(0, 1)] = _deep_enough(dice, max(depths), largest)
    north, south = depths
    if area < 60 and dice.chance(0.3):
        south = 0
    high = north + hall + south
    ends: list[Bay] = []
    left = area * 1e6
    for key, side in ((2, "W"), (3, "E")):
        if parts < 4 + len(ends) or not dice.chance(0.55) or left < 45e6:
            continue
        deep = snap(dice.between(3600, 5200) * (0.85 if area < 80 else 1.0))
        lo, hi = _end_range(dice, north, hall, high, snap(deep * 1.6))
        ends.append(Bay(key, side, 0, lo, hi, deep, (north, north + hall)))  # type: ignore[arg-type]
        left -= deep * (hi - lo)
    long = snap(left / high)
    if not 3600 <= long <= 9000 + 75 * area:
        return None
    cut = [0, 0]
    if south and dice.chance(0.4) and long > 6500:
        at = dice.whole(0, 1)
        # Between two wings people leave a court, not a slit.
        least = 2800 if any(end.side == "WE"[at] for end in ends) else 1400
        cut[at] = snap(dice.between(least, max(least, min(3600, long - 4500))))
    long += snap(sum(cut) * south / high)
    bays = [Bay(0, "N", north, 0, long, north, (0, long))]
    if south:
        lo, hi = cut[0], long - cut[1]
        bays.append(Bay(1, "S", north + hall, lo, hi, south, (lo, hi)))
    bays += [replace(end, base=long if end.side == "E" else 0) for end in ends]
    spine = ((0, north, long, north + hall),)
    return SpineFrame(spine, tuple(bays))


def _end_range(dice: Dice, north: int, hall: int, high: int, longest: int) -> tuple[int, int]:
    """From where to where a bay at the end of a spine lies, across the house."""
    extra = snap(dice.between(900, 2400)) if dice.chance(0.3) else 0
    long = min(longest, high + extra)
    if high - long < 900:
        return 0, long
    if dice.chance(0.5) and long >= north + hall + 400:
        return 0, long
    lo = min(high + extra - long, north - 400)
    return lo, lo + long


def _bent(dice: Dice, area: float, parts: int, largest: float) -> SpineFrame | None:
    hall = dice.whole(11, 15) * 100
    depths = [_depth(dice, area) for _ in range(4)]
    deepest = dice.whole(0, 1)
    depths[deepest] = _deep_enough(dice, depths[deepest], largest)
    north, east, south, west = depths
    ratio = dice.between(0.55, 1.0)

    def built(first: int) -> SpineFrame:
        second = snap(first * ratio)
        corner = north + hall
        bays = [
            Bay(0, "N", north, 0, first + hall + east, north, (0, first + hall)),
            Bay(1, "S", corner, 0, first, south, (0, first)),
            Bay(2, "E", first + hall, north, corner + second, east, (north, corner + second)),
        ]
        if second - south > 3200 and parts > 5:
            lo, hi = corner + south, corner + second
            bays.append(Bay(3, "W", first, lo, hi, west, (lo, hi)))
        arms = ((0, north, first + hall, corner), (first, corner, first + hall, corner + second))
        return SpineFrame(arms, tuple(bays))

    first = search(lambda value: built(value).area, area, 3000, 22000)
    if first is None or snap(first * ratio) < 3000:
        return None
    return built(first)


def search(measure: Callable[[int], float], wanted: float, low: int, high: int) -> int | None:
    """Where a growing measure comes to what is wanted, to a step; None where it does not."""
    if not measure(low) <= wanted <= measure(high):
        return None
    while high - low > SNAP:
        middle = snap((low + high) / 2)
        if middle in (low, high):
            break
        low, high = (middle, high) if measure(middle) < wanted else (low, middle)
    return low
