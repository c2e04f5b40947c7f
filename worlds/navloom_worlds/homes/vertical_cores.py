"""Vertical cores: stairs and lifts, which have the same position on several storeys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from navloom_worlds.homes.floorplan import StairFlight
from navloom_worlds.homes.rectilinear import HALF, Axis, Rect, rect_centre, rects_overlap
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_layout import FixedCell
from navloom_worlds.homes.stairs import BuiltStairs, Shape, build_stairs, draw_stair_size
from navloom_worlds.homes.storey_footprint import SLIMMEST, Bay, SpineFrame

_BESIDE = SLIMMEST + 100
_REACHED = 1100
"""Length of the spine to leave for a door to the adjacent room."""
_INNER, _BEHIND = 1, 5
"""Keys of the bay in the corner of a bent spine, and of its remainder behind stairs."""
_ABSORBED = 700
"""Maximum depth of floor behind stairs that is added to their landing."""


@dataclass(frozen=True)
class VerticalCore:
    """Stairs from one storey to the next, or a lift through all, at one position.

    Attributes:
        bay: its bay.
        lo: its start along the spine.
        wide: length of its cell along the spine.
        deep: depth of its cell away from the spine.
        lower: its lowest storey.
        upper: its highest one.
        stairs: None for a lift.
        alone: whether its cell was removed from its bay, so that no part of the bay is behind it.
    """

    bay: Bay
    lo: int
    wide: int
    deep: int
    lower: int
    upper: int
    stairs: BuiltStairs | None = None
    alone: bool = False

    @property
    def rect(self) -> Rect:
        """Rectangle of the cell that the core takes in its bay."""
        return self.bay.rect(self.lo, 0, self.lo + self.wide, self.deep)

    def at(self, floor: int) -> FixedCell | None:
        """Return the core's cell on a storey; None if the core does not reach that storey."""
        if not self.lower <= floor <= self.upper:
            return None
        kind = "elevator" if self.stairs is None else "stairwell" if floor < self.upper else None
        return FixedCell(kind, self.bay.key, self.lo, self.lo + self.wide, self.deep, self.alone)

    def way(self, floor: int) -> tuple[Axis, int, int, int] | None:
        """Return where the core's stairs meet the spine: axis, line, start, end; else None."""
        if self.stairs is None:
            return None
        axis: Axis = "x" if self.bay.side in "NS" else "z"
        if floor == self.lower:
            return axis, self.bay.base, *self.stairs.foot
        if not self.alone:
            return axis, self.bay.base, *self.stairs.head
        # The exit is at the bay's upper end, at the other arm of a bent spine (S bays).
        near, far = (self.bay.base + end for end in self.stairs.head)
        return "z", self.lo + self.wide, near, far


def lift_flight(shaft: VerticalCore, level: int, rise: int) -> StairFlight:
    """Return a lift's connection from a storey to the next."""
    x, z = rect_centre(shaft.rect)
    line = ((x, level, z), (x, level + rise, z))
    return StairFlight("elevator", 0, 0, (), (), line, shaft.wide - 2 * HALF)


def draw_lift(dice: Rng, frame: SpineFrame, floors: int) -> VerticalCore | None:
    """Return a sampled lift beside the spine, through all storeys; None without space."""
    wide, deep = dice.whole(31, 35) * 50, dice.whole(33, 38) * 50
    places = _places(frame, (), wide, deep)
    if not places:
        return None
    bay, at = dice.pick(places)
    return VerticalCore(bay, at, wide, deep, 1, floors)


def draw_stairs(
    dice: Rng, frame: SpineFrame, cores: Sequence[VerticalCore], floor: int, level: int, rise: int
) -> VerticalCore | None:
    """Sample stairs up from a storey; None if there is no space.

    Args:
        dice: its own random stream.
        frame: footprint of the storey.
        cores: the other stairs and lifts.
        floor: the lower storey.
        level: its height in mm.
        rise: to the next storey.
    """
    if len(frame.spine) > 1 and dice.chance(0.55):
        shaft = _in_corner(dice, frame, cores, floor, level, rise)
        if shaft is not None:
            return shaft
    shape: Shape = "half-turn" if dice.chance(0.6) else "two-turns"
    size = draw_stair_size(dice, rise, shape)
    places = _places(frame, cores, size.wide, size.deep)
    if not places:
        return None
    bay, at = dice.pick(places)
    if bay.depth - size.deep < _ABSORBED:
        size = replace(size, deep=bay.depth)
    stairs = build_stairs(bay, at, size, level, rise, dice.chance(0.5))
    return VerticalCore(bay, at, size.wide, size.deep, floor, floor + 1, stairs)


def _places(
    frame: SpineFrame, standing: Sequence[VerticalCore], wide: int, deep: int
) -> list[tuple[Bay, int]]:
    """Return positions for a cell that leave space for rooms beside it."""
    places = []
    for bay in frame.bays:
        lo, hi = bay.touch
        if bay.depth < deep or bay.hi - bay.lo < wide + _BESIDE or bay.key == _BEHIND:
            continue
        if hi - lo < wide + _REACHED:
            continue
        middle = (lo + hi - wide) // 100 * 50
        spots = [at for at, end in ((lo, bay.lo), (hi - wide, bay.hi - wide)) if at == end]
        spots += [middle] if middle - lo >= _BESIDE else []
        for at in spots:
            around = bay.rect(at - _BESIDE, 0, at + wide + _BESIDE, deep)
            if not any(rects_overlap(around, shaft.rect) for shaft in standing):
                places.append((bay, at))
    return places


def _in_corner(
    dice: Rng, frame: SpineFrame, cores: Sequence[VerticalCore], floor: int, level: int, rise: int
) -> VerticalCore | None:
    """Sample stairs in the inner corner of a bent spine: in from one arm, out to the other."""
    bay = next((bay for bay in frame.bays if bay.key == _INNER), None)
    arm = frame.spine[1]
    if bay is None or bay.hi != arm[0] or any(shaft.bay.key == _INNER for shaft in cores):
        return None
    shapes: list[Shape] = ["straight", "quarter-turn"]
    for shape in shapes if dice.chance(0.6) else shapes[::-1]:
        size = draw_stair_size(dice, rise, shape)
        if shape == "quarter-turn" and 0 <= bay.depth - size.deep < SLIMMEST:
            size = replace(size, deep=bay.depth)
        at = bay.hi - size.wide
        stairs = build_stairs(bay, at, size, level, rise, turned=False)
        shaft = VerticalCore(bay, at, size.wide, size.deep, floor, floor + 1, stairs, alone=True)
        if exclude_core(frame, shaft):
            return shaft
    return None


def exclude_core(frame: SpineFrame, shaft: VerticalCore) -> SpineFrame | None:
    """Return a footprint without the corner of stairs; floor behind them adjoins the other arm.

    Returns:
        None if no room fits beside them.
    """
    bay = next((bay for bay in frame.bays if bay.key == _INNER), None)
    if bay is None or len(frame.spine) < 2 or bay.hi != frame.spine[1][0]:
        return None
    end, rest = frame.spine[1][3], bay.depth - shaft.deep
    if shaft.lo - bay.lo < _BESIDE or bay.base + shaft.deep > end or 0 < rest < SLIMMEST:
        return None
    less = replace(bay, hi=shaft.lo, touch=(bay.touch[0], shaft.lo))
    bays = [less if b is bay else b for b in frame.bays]
    if rest:
        lo, hi = bay.base + shaft.deep, bay.base + bay.depth
        if rest < 0 or min(hi, end) - lo < SLIMMEST:
            return None
        bays.append(Bay(_BEHIND, "W", bay.hi, lo, hi, shaft.wide, (lo, min(hi, end))))
    return replace(frame, bays=tuple(bays))
