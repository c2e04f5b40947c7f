"""Stairs with real treads: where they stand, how they rise, and where one steps on and off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from navloom.scenes.homes.dice import Dice
from navloom.scenes.homes.floorplan import Flight, Spot
from navloom.scenes.homes.frame import Bay, snap
from navloom.scenes.homes.rectilinear import rect_of

_HALF = 50
"""Half a wall: from the cell's edge to the face."""
_RISER = 175
_GAP = 100
_LANDING = 900
_Block = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class StairSize:
    """The cell that stairs of two flights and a landing need: along the spine, and away from it."""

    wide: int
    deep: int
    risers: int


def stair_size(dice: Dice, rise: int) -> StairSize:
    """Draw how large stairs of this rise are, in mm."""
    risers = (rise + _RISER // 2) // _RISER
    wide = 2 * dice.whole(18, 21) * 50 + _GAP + 2 * _HALF
    going = dice.whole(25, 28) * 10
    back = risers - risers // 2 - 1
    return StairSize(wide, snap(back * going + _LANDING + 150) + 2 * _HALF, risers)


@dataclass(frozen=True)
class BuiltStairs:
    """A flight, and the two ways onto it: (from, to) along the spine, below and above."""

    flight: Flight
    foot: tuple[int, int]
    head: tuple[int, int]


def build_stairs(
    bay: Bay, lo: int, size: StairSize, level: int, rise: int, turned: bool
) -> BuiltStairs:
    """Stairs up from a bay's spine, round at a landing, and back to the spine above.

    Args:
        bay: where they stand.
        lo: where their cell begins along the spine.
        size: of the cell.
        level: height of the lower floor in mm.
        rise: from floor to floor.
        turned: whether one goes up on the far side instead of on the near one.
    """
    width = (size.wide - 2 * _HALF - _GAP) // 2
    near, far = lo + _HALF, lo + size.wide - _HALF - width
    up, down = (far, near) if turned else (near, far)
    first = size.risers // 2
    back = size.risers - first - 1
    going = min(300, (size.deep - 2 * _HALF - _LANDING) // back)
    turn = _HALF + back * going

    def top(i: int) -> int:
        return level + (rise * i) // size.risers

    def block(at: int, wide: int, v0: int, v1: int, i: int) -> _Block:
        x0, z0, x1, z1 = bay.rect(at, v0, at + wide, v1)
        return x0, z0, x1, z1, top(i)

    start = turn - (first - 1) * going
    treads = [
        block(up, width, start + i * going, start + (i + 1) * going, i + 1)
        for i in range(first - 1)
    ]
    treads += [
        block(down, width, turn - (i + 1) * going, turn - i * going, first + 1 + i)
        for i in range(back)
    ]
    landing = block(min(up, down), far + width - near, turn, size.deep - _HALF, first)
    middle = (turn + size.deep - _HALF) // 2
    line = _line(
        bay,
        [
            (up + width // 2, level, _HALF),
            (up + width // 2, level, start),
            (up + width // 2, top(first), turn),
            (up + width // 2, top(first), middle),
            (down + width // 2, top(first), middle),
            (down + width // 2, top(first), turn),
            (down + width // 2, level + rise, _HALF),
            (down + width // 2, level + rise, -_HALF),
        ],
    )
    flight = Flight("stairs", 0, 0, tuple(treads), (landing,), line, width)
    return BuiltStairs(
        flight, (up + _HALF, up + width - _HALF), (down + _HALF, down + width - _HALF)
    )


def _line(bay: Bay, points: list[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    found = []
    for along, height, away in points:
        x0, z0, _, _ = bay.rect(along, away, along, away)
        found.append((x0, height, z0))
    return tuple(found)


def moved(flight: Flight, to: Callable[[Spot], Spot]) -> Flight:
    """The same flight elsewhere: mirrored, turned, shifted."""

    def block(b: _Block) -> _Block:
        return (*rect_of((to((b[0], b[1])), to((b[2], b[3])))), b[4])

    line = tuple((to((x, z))[0], y, to((x, z))[1]) for x, y, z in flight.line)
    return Flight(
        flight.kind,
        flight.lower,
        flight.upper,
        tuple(block(b) for b in flight.treads),
        tuple(block(b) for b in flight.landings),
        line,
        flight.width,
    )
