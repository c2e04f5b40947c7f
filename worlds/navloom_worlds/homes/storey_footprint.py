"""Footprint of a storey before it has rooms: a circulation spine, and bays along its sides.

A spine is a hall (or, in open plans, part of the living room). A bay is a rectangle with one side
on the spine, to be divided into rooms that all open onto it, as in the corridor placement of
Marson and Musse (2010, section 4). The hall is straight, bent, U-shaped or a central hall. Bays
that are shortened or left out give the footprint its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

from navloom_worlds.homes.rectilinear import Rect
from navloom_worlds.homes.rng import Rng

Side = Literal["N", "S", "E", "W"]
HallShape = Literal["straight", "bent", "U", "central", "open"]
"""Circulation of the lowest storey; ``open``: its doors open onto the living room."""
SNAP = 50
SLIMMEST = 2700
"""Minimum depth and length of a bay, mm."""


def snap_to_grid(value: float) -> int:
    """Round a coordinate to the wall grid."""
    return SNAP * int(value / SNAP + 0.5)


@dataclass(frozen=True)
class Bay:
    """Rectangle beside the spine, to be divided into rooms.

    Attributes:
        key: the same on every storey.
        side: its direction from the spine.
        base: coordinate of the line where it meets the spine.
        lo: its start along the spine.
        hi: its end along the spine.
        depth: its extent away from the spine.
        touch: interval of the bay along which the spine lies.
    """

    key: int
    side: Side
    base: int
    lo: int
    hi: int
    depth: int
    touch: tuple[int, int]

    def rect(self, lo: int, near: int, hi: int, far: int) -> Rect:
        """Return the rectangle ``lo`` to ``hi`` along the spine and ``near`` to ``far`` off it."""
        if self.side == "N":
            return lo, self.base - far, hi, self.base - near
        if self.side == "S":
            return lo, self.base + near, hi, self.base + far
        if self.side == "E":
            return self.base + near, lo, self.base + far, hi
        return self.base - far, lo, self.base - near, hi

    @property
    def whole(self) -> Rect:
        """Rectangle of the whole bay."""
        return self.rect(self.lo, 0, self.hi, self.depth)


@dataclass(frozen=True)
class SpineFrame:
    """Footprint of a storey: the rectangles of the spine, in order, and the bays."""

    spine: tuple[Rect, ...]
    bays: tuple[Bay, ...]

    @property
    def area(self) -> float:
        """Area in square metres, including half of the walls."""
        rects = [*self.spine, *(bay.whole for bay in self.bays)]
        return sum((r[2] - r[0]) * (r[3] - r[1]) for r in rects) / 1e6


def draw_shape(dice: Rng, area: float, rooms: int) -> HallShape:
    """Sample the shape of the hall on a lowest storey.

    Args:
        dice: its own random stream.
        area: square metres of the storey.
        rooms: total number of regions of the home.
    """
    if rooms <= 5:
        return "open"
    size = sum(area >= least for least in (65, 95, 200))
    return dice.weighted({shape: share[size] for shape, share in _SHAPES.items()})


_SHAPES: Mapping[HallShape, tuple[float, float, float, float]] = {
    "straight": (0.25, 0.2, 0.15, 0.3),
    "bent": (0.2, 0.22, 0.25, 0.4),
    "U": (0.0, 0.08, 0.2, 0.3),
    "central": (0.15, 0.2, 0.25, 0.0),
    "open": (0.4, 0.25, 0.15, 0.0),
}
"""Weight of each hall shape on small, medium, large and very large storeys."""


def draw_frame(
    dice: Rng, shape: HallShape, area: float, living: float | None, parts: int, largest: float
) -> SpineFrame | None:
    """Sample the footprint of a lowest storey.

    Args:
        dice: its own.
        shape: of the hall.
        area: required square metres.
        living: square metres of the living room if it is the spine.
        parts: number of room groups to place in its bays.
        largest: square millimetres of the largest of them.

    Returns:
        None if the draws give no valid footprint.
    """
    if living is not None:
        return _hub(dice, area, living)
    if shape == "open":
        # Along a spine of many rooms the living room would be a corridor.
        shape = "central" if parts > 2 else "straight"
    if shape == "bent":
        return _bent(dice, area, parts, largest)
    if shape == "straight":
        return _straight(dice, area, parts, largest)
    return (_u_shaped if shape == "U" else _central)(dice, area, parts)


def _depth(dice: Rng, area: float) -> int:
    return snap_to_grid((3450 + 8 * min(max(area - 45, 0), 150)) * dice.between(0.92, 1.12))


def _deep_enough(dice: Rng, depth: int, largest: float) -> int:
    """Return a depth at which the largest room does not become a passage."""
    return max(depth, min(snap_to_grid(sqrt(largest / dice.between(1.3, 2.1))), 6500))


def _hub(dice: Rng, area: float, living: float) -> SpineFrame | None:
    wide = dice.whole(32, 46) * 100
    long = snap_to_grid(living * 1.06e6 / wide)
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
        south = min(_depth(dice, area), snap_to_grid(left * 1e6 / long))
        bays.append(Bay(1, "S", north + wide, 0, long, south, (0, long)))
        left -= long * south / 1e6
    if left > 5.5:
        lo = 0 if dice.chance(0.6) else north
        high = north + wide - lo
        deep = snap_to_grid(left * 1e6 / high)
        if deep < 2300:
            high = snap_to_grid(left * 1e6 / 2700)
            lo, deep = north + wide - high, 2700
        if deep > 6000 or high < 2300:
            return None
        bays.append(Bay(2, side, base, lo, lo + high, deep, (max(lo, north), north + wide)))
    return SpineFrame((spine,), tuple(bays))


def _straight(dice: Rng, area: float, parts: int, largest: float) -> SpineFrame | None:
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
        deep = snap_to_grid(dice.between(3600, 5200) * (0.85 if area < 80 else 1.0))
        lo, hi = _end_range(dice, north, hall, high, snap_to_grid(deep * 1.6))
        ends.append(Bay(key, side, 0, lo, hi, deep, (north, north + hall)))  # type: ignore[arg-type]
        left -= deep * (hi - lo)
    long = snap_to_grid(left / high)
    if not 3600 <= long <= 9000 + 75 * area:
        return None
    cut = [0, 0]
    if south and dice.chance(0.4) and long > 6500:
        at = dice.whole(0, 1)
        # Between two wings people leave a court, not a slit.
        least = 2800 if any(end.side == "WE"[at] for end in ends) else 1400
        cut[at] = snap_to_grid(dice.between(least, max(least, min(3600, long - 4500))))
    long += snap_to_grid(sum(cut) * south / high)
    bays = [Bay(0, "N", north, 0, long, north, (0, long))]
    if south:
        lo, hi = cut[0], long - cut[1]
        bays.append(Bay(1, "S", north + hall, lo, hi, south, (lo, hi)))
    bays += [replace(end, base=long if end.side == "E" else 0) for end in ends]
    spine = ((0, north, long, north + hall),)
    return SpineFrame(spine, tuple(bays))


def _end_range(dice: Rng, north: int, hall: int, high: int, longest: int) -> tuple[int, int]:
    """Draw at random where a bay at an end of the hall starts and ends across the house.

    A bay is a rectangle beside the hall (the spine) that is later divided into rooms.

    Args:
        dice: random numbers.
        north: depth of the north bay, mm.
        hall: width of the hall, mm.
        high: depth of the house, mm: north bay, hall and south bay.
        longest: maximum length of the interval, mm.

    Returns:
        Start and end in mm from the house's north side.
    """
    extra = snap_to_grid(dice.between(900, 2400)) if dice.chance(0.3) else 0
    long = min(longest, high + extra)
    if high - long < 900:
        return 0, long
    if dice.chance(0.5) and long >= north + hall + 400:
        return 0, long
    lo = min(high + extra - long, north - 400)
    return lo, lo + long


def _bent(dice: Rng, area: float, parts: int, largest: float) -> SpineFrame | None:
    hall = dice.whole(11, 15) * 100
    depths = [_depth(dice, area) for _ in range(4)]
    deepest = dice.whole(0, 1)
    depths[deepest] = _deep_enough(dice, depths[deepest], largest)
    north, east, south, west = depths
    ratio = dice.between(0.55, 1.0)

    def built(first: int) -> SpineFrame:
        second = snap_to_grid(first * ratio)
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

    first = search_size(lambda value: built(value).area, area, 3000, 22000)
    if first is None or snap_to_grid(first * ratio) < 3000:
        return None
    return built(first)


def _central(dice: Rng, area: float, parts: int) -> SpineFrame | None:
    """Sample a squarish hall with bays on three or four sides, each past one corner of the next."""
    if parts < 3:
        return None
    four = parts > 3 and area > 80
    inside = max(0.115 * area, 6.5) * 1e6
    wide = snap_to_grid(max(sqrt(inside) * dice.between(0.9, 1.25), 2500))
    deep = max(snap_to_grid(inside / wide), 2300)
    ratios = [dice.between(0.8, 1.3) for _ in range(4)]
    # Where nothing lies south of the hall, its sides may reach past it and make a porch.
    past = [snap_to_grid(dice.between(0, 1500)) if dice.chance(0.5) else 0 for _ in range(2)]

    def built(depth: int) -> SpineFrame:
        north, east, south, west = (snap_to_grid(depth * ratio) for ratio in ratios)
        right, low = west + wide, north + deep
        end = low + (south if four else past[0])
        bays = [
            Bay(0, "N", north, west, right + east, north, (west, right)),
            Bay(2, "E", right, north, end, east, (north, low)),
            Bay(3, "W", west, 0, low + (0 if four else past[1]), west, (north, low)),
        ]
        if four:
            bays.append(Bay(4, "S", low, 0, right, south, (west, right)))
        return SpineFrame(((west, north, right, low),), tuple(bays))

    depth = search_size(lambda value: built(value).area, area, 2600, 6500)
    return None if depth is None else built(depth)


def _u_shaped(dice: Rng, area: float, parts: int) -> SpineFrame | None:
    """Sample a hall around three sides of a block of rooms, with bays on its outer sides."""
    if parts < 4:
        return None
    hall = dice.whole(11, 14) * 100
    north, east, west = (snap_to_grid(_depth(dice, area) * 0.92) for _ in range(3))
    ratio = dice.between(0.65, 1.0)

    def built(inner: int) -> SpineFrame:
        arm = max(snap_to_grid(inner * ratio), SLIMMEST)
        corner, left = north + hall, west + hall
        right = left + inner
        low = corner + arm
        spine = (
            (west, corner, left, low),
            (west, north, right + hall, corner),
            (right, corner, right + hall, low),
        )
        bays = (
            Bay(0, "N", north, west, right + hall + east, north, (west, right + hall)),
            Bay(2, "E", right + hall, north, low, east, (north, low)),
            Bay(3, "W", west, 0, low, west, (north, low)),
            Bay(4, "S", corner, left, right, arm, (left, right)),
        )
        return SpineFrame(spine, bays)

    inner = search_size(lambda value: built(value).area, area, 2700, 12000)
    return None if inner is None else built(inner)


def search_size(measure: Callable[[int], float], wanted: float, low: int, high: int) -> int | None:
    """Find by bisection where a growing measure reaches a value; None if it is out of range."""
    if not measure(low) <= wanted <= measure(high):
        return None
    while high - low > SNAP:
        middle = snap_to_grid((low + high) / 2)
        if middle in (low, high):
            break
        low, high = (middle, high) if measure(middle) < wanted else (low, middle)
    return low
