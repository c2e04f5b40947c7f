"""What an upper storey keeps of the frame below it: all, or all but what it does not need.

What is left out is roof, or a terrace; nothing stands on air.
"""

from __future__ import annotations

from dataclasses import replace

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.frame import SLIMMEST, Bay, SpineFrame, search
from navloom_worlds.homes.rectilinear import Rect

NARROWEST_HALL = 1100


def set_back(
    dice: Dice, frame: SpineFrame, area: float, keep: tuple[Rect, ...], parts: int
) -> SpineFrame | None:
    """A frame for the storey above: the same, less what it does not need.

    Args:
        dice: its own.
        frame: of the storey below.
        area: square metres that it is to hold.
        keep: stairs and lifts, which stay.
        parts: how many things are to stand in its bays.

    Returns:
        None where what would be left is no storey.
    """
    for bay in dice.shuffled(frame.bays):
        if frame.area <= area * 1.12 and len(frame.bays) <= parts:
            return frame
        less = replace(frame, bays=tuple(b for b in frame.bays if b.key != bay.key))
        spared = not any(_inside(bay.whole, rect) for rect in keep)
        least = 0.97 if len(frame.bays) <= parts else 0.85
        if spared and len(less.bays) > 1 and less.area >= area * least:
            frame = _without_dead_ends(less)
    if frame.area <= area * 1.12:
        return frame
    for way in dice.shuffled(("W", "E", "N", "S")):
        cut = _cut(frame, way, area, keep)
        if cut is not None:
            return cut
    return frame if frame.area <= area * 1.35 else None


def _inside(outer: Rect, inner: Rect) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[2] <= outer[2]
        and inner[3] <= outer[3]
    )


def _cut(frame: SpineFrame, way: str, area: float, keep: tuple[Rect, ...]) -> SpineFrame | None:
    """All on one side of a line cut away, so that about the area is left."""
    rects = [*frame.spine, *(bay.whole for bay in frame.bays)]
    axis = 0 if way in "WE" else 1
    first, last = min(r[axis] for r in rects), max(r[axis + 2] for r in rects)

    def left(off: int) -> SpineFrame:
        low, high = (first + off, last) if way in "WN" else (first, last - off)
        window = (low, -99999, high, 99999) if axis == 0 else (-99999, low, 99999, high)
        return _clipped(frame, window)

    off = search(lambda value: -left(value).area, -area, 0, last - first - 4000)
    if off is None:
        return None
    cut = left(off)
    whole = [*cut.spine, *(bay.whole for bay in cut.bays)]
    if not cut.spine or not all(any(_inside(r, k) for r in whole) for k in keep):
        return None
    for gaps in (_gaps(bay, k) for bay in cut.bays for k in keep if _inside(bay.whole, k)):
        if max(gaps) == 0 or any(0 < gap < SLIMMEST for gap in gaps):
            return None
    return cut if 0.9 * area <= cut.area <= 1.2 * area else None


def _gaps(bay: Bay, rect: Rect) -> tuple[int, int]:
    """What is left of a bay on either side of something in it."""
    lo, hi = (rect[0], rect[2]) if bay.side in "NS" else (rect[1], rect[3])
    return lo - bay.lo, bay.hi - hi


def _clip(rect: Rect, window: Rect) -> Rect:
    return (
        max(rect[0], window[0]),
        max(rect[1], window[1]),
        min(rect[2], window[2]),
        min(rect[3], window[3]),
    )


def _clipped(frame: SpineFrame, window: Rect) -> SpineFrame:
    spine = tuple(_clip(rect, window) for rect in frame.spine)
    spine = tuple(r for r in spine if min(r[2] - r[0], r[3] - r[1]) >= NARROWEST_HALL)
    bays = []
    for bay in frame.bays:
        x0, z0, x1, z1 = _clip(bay.whole, window)
        lo, hi = (x0, x1) if bay.side in "NS" else (z0, z1)
        deep = (z1 - z0) if bay.side in "NS" else (x1 - x0)
        near = {"N": z1, "S": z0, "E": x0, "W": x1}[bay.side]
        touch = (max(bay.touch[0], lo), min(bay.touch[1], hi))
        if hi - lo < SLIMMEST or deep < SLIMMEST or near != bay.base or touch[1] - touch[0] < 1000:
            continue
        bays.append(replace(bay, lo=lo, hi=hi, depth=deep, touch=touch))
    return _without_dead_ends(SpineFrame(spine, tuple(bays)))


def _without_dead_ends(frame: SpineFrame) -> SpineFrame:
    """A spine that goes no further than there are bays along it."""
    arms: list[Rect] = []
    for arm in frame.spine:
        along = 0 if arm[2] - arm[0] > arm[3] - arm[1] else 1
        ends = [end for bay in frame.bays for end in _met(bay, arm, along)]
        others = [other for other in frame.spine if other is not arm and _touch(other, arm)]
        ends += [end for other in others for end in (other[along], other[along + 2])]
        lo = max(min(ends, default=arm[along]), arm[along])
        hi = min(max(ends, default=arm[along]), arm[along + 2])
        if hi - lo >= NARROWEST_HALL:
            arms.append((lo, arm[1], hi, arm[3]) if along == 0 else (arm[0], lo, arm[2], hi))
    return replace(frame, spine=tuple(arms))


def _met(bay: Bay, arm: Rect, along: int) -> tuple[int, ...]:
    """From where to where a bay lies along an arm; the end of it that a bay closes."""
    if (bay.side in "NS") == (along == 0):
        beside = bay.base in (arm[1 - along], arm[3 - along])
        return bay.touch if beside else ()
    return (bay.base,) if bay.base in (arm[along], arm[along + 2]) else ()


def _touch(a: Rect, b: Rect) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]
