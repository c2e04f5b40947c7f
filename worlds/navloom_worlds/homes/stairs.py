"""Geometry of stairs with real treads: steps, landings, and the intervals to enter and leave them.

All are drawn beside a bay's spine, as (along it, away from it); the bay maps them to the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from navloom_worlds.homes.floorplan import Spot, StairFlight
from navloom_worlds.homes.rectilinear import HALF, to_rect
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.storey_footprint import Bay, snap_to_grid

_RISER = 175
_GAP = 100
_LANDING = 900
_BEFORE = 900
"""Floor in front of the lowest step of straight stairs."""
Shape = Literal["half-turn", "two-turns", "quarter-turn", "straight"]
"""Half-turn and two-turns end beside their foot; the others at the bay's upper end."""
_Block = tuple[int, int, int, int, int]
_Local = tuple[int, int, int, int, int]
"""(along from, along to, away from, away to, steps up)."""


@dataclass(frozen=True)
class StairSize:
    """Dimensions of stairs, in mm.

    Attributes:
        shape: their shape in plan.
        wide: length of their cell along the spine.
        deep: depth of their cell away from it.
        risers: number of steps, including the one onto the upper floor.
        width: clear width of a flight.
        going: depth of a tread.
    """

    shape: Shape
    wide: int
    deep: int
    risers: int
    width: int
    going: int


def draw_stair_size(dice: Rng, rise: int, shape: Shape) -> StairSize:
    """Return sampled dimensions of stairs with a given rise and shape."""
    risers = (rise + _RISER // 2) // _RISER
    width = dice.whole(18, 21) * 50
    going = dice.whole(25, 28) * 10
    if shape == "half-turn":
        wide = 2 * width + _GAP
        deep = (risers - risers // 2 - 1) * going + _LANDING + 150
    elif shape == "two-turns":
        back = (risers - _TURN_STEPS + 1) // 2 - 1
        wide, deep = 2 * width + (_TURN_STEPS - 1) * going, back * going + width
    elif shape == "quarter-turn":
        wide = width + (risers - risers // 2 - 1) * going
        deep = (risers // 2 - 1) * going + width + 300
    else:
        wide, deep = _BEFORE + (risers - 1) * going, width
    cell = snap_to_grid(wide + 2 * HALF + 20), snap_to_grid(deep + 2 * HALF + 20)
    return StairSize(shape, *cell, risers, width, going)


_TURN_STEPS = 4
"""Risers from the first to the second landing of stairs with two turns."""


@dataclass(frozen=True)
class BuiltStairs:
    """Flight of stairs, and the intervals where it is entered below and left above.

    ``foot`` is along the spine. So is ``head``, except for stairs that end at the bay's upper end,
    where it is away from the spine.
    """

    flight: StairFlight
    foot: tuple[int, int]
    head: tuple[int, int]


def build_stairs(
    bay: Bay, lo: int, size: StairSize, level: int, rise: int, turned: bool
) -> BuiltStairs:
    """Build stairs up from a bay's spine.

    Args:
        bay: their bay.
        lo: start of their cell along the spine.
        size: dimensions of the cell and the steps.
        level: height of the lower floor in mm.
        rise: height from floor to floor in mm.
        turned: whether to ascend on the far side instead of the near one, if the shape allows it.
    """
    draw = {
        "half-turn": _half_turn,
        "two-turns": _two_turns,
        "quarter-turn": _quarter_turn,
        "straight": _straight,
    }[size.shape]
    treads, landings, way = draw(size)
    inner = size.wide - 2 * HALF
    flip = turned and size.shape in ("half-turn", "two-turns")

    def along(u: int) -> int:
        return lo + HALF + (inner - u if flip else u)

    def place(u: int, v: int) -> Spot:
        x0, z0, _, _ = bay.rect(along(u), HALF + v, along(u), HALF + v)
        return x0, z0

    def block(b: _Local) -> _Block:
        u0, u1, v0, v1, steps = b
        rect = to_rect((place(u0, v0), place(u1, v1)))
        return (*rect, level + rise * steps // size.risers)

    line = []
    for u, v, steps in way:
        x, z = place(u, v)
        line.append((x, level + rise * steps // size.risers, z))
    flight = StairFlight(
        "stairs", 0, 0, tuple(map(block, treads)), tuple(map(block, landings)), tuple(line),
        size.width,
    )  # fmt: skip
    foot = sorted((along(HALF), along(size.width - HALF)))
    end_u, end_v, _ = way[-1]
    if size.shape in ("half-turn", "two-turns"):
        half = size.width // 2 - HALF
        head = sorted((along(end_u - half), along(end_u + half)))
    else:
        head = [HALF + end_v - size.width // 2 + HALF, HALF + end_v + size.width // 2 - HALF]
    return BuiltStairs(flight, (foot[0], foot[1]), (head[0], head[1]))


_Drawn = tuple[list[_Local], list[_Local], list[tuple[int, int, int]]]


def _half_turn(size: StairSize) -> _Drawn:
    """Lay out two parallel flights with a landing between them."""
    first, w, g = size.risers // 2, size.width, size.going
    back = size.risers - first - 1
    deep, wide = size.deep - 2 * HALF, size.wide - 2 * HALF
    turn, start = back * g, (back - first + 1) * g
    treads = [(0, w, start + i * g, start + (i + 1) * g, i + 1) for i in range(first - 1)]
    treads += [
        (wide - w, wide, turn - (i + 1) * g, turn - i * g, first + 1 + i) for i in range(back)
    ]
    middle = (turn + deep) // 2
    up, down = w // 2, wide - w // 2
    way = [(up, 0, 0), (up, start, 0), (up, turn, first), (up, middle, first)]
    way += [(down, middle, first), (down, turn, first), (down, 0, size.risers)]
    return treads, [(0, wide, turn, deep, first)], [*way, (down, -2 * HALF, size.risers)]


def _two_turns(size: StairSize) -> _Drawn:
    """Lay out a flight up, a few steps across at the far wall, and a flight back, around a well."""
    w, g, n = size.width, size.going, size.risers
    deep, wide = size.deep - 2 * HALF, size.wide - 2 * HALF
    back = (n - _TURN_STEPS + 1) // 2 - 1
    first = n - _TURN_STEPS - back - 1
    turn = back * g
    start = turn - (first - 1) * g
    treads = [(0, w, start + i * g, start + (i + 1) * g, i + 1) for i in range(first - 1)]
    across = (wide - 2 * w) // (_TURN_STEPS - 1)
    for i in range(_TURN_STEPS - 1):
        end = w + (i + 1) * across if i < _TURN_STEPS - 2 else wide - w
        treads.append((w + i * across, end, turn, deep, first + 1 + i))
    second = first + _TURN_STEPS
    treads += [
        (wide - w, wide, turn - (i + 1) * g, turn - i * g, second + 1 + i) for i in range(back)
    ]
    landings = [(0, w, turn, deep, first), (wide - w, wide, turn, deep, second)]
    up, down, middle = w // 2, wide - w // 2, (turn + deep) // 2
    way = [(up, 0, 0), (up, start, 0), (up, turn, first), (up, middle, first), (w, middle, first)]
    way += [(wide - w, middle, second), (down, middle, second), (down, turn, second)]
    return treads, landings, [*way, (down, 0, n), (down, -2 * HALF, n)]


def _quarter_turn(size: StairSize) -> _Drawn:
    """Lay out a flight up, a corner landing, and a flight along the far wall."""
    w, g, n = size.width, size.going, size.risers
    deep, wide = size.deep - 2 * HALF, size.wide - 2 * HALF
    first = n // 2
    turn = deep - w
    start = turn - (first - 1) * g
    treads = [(0, w, start + i * g, start + (i + 1) * g, i + 1) for i in range(first - 1)]
    on = n - first - 1
    begin = wide - on * g
    treads += [(begin + i * g, begin + (i + 1) * g, turn, deep, first + 1 + i) for i in range(on)]
    middle = turn + w // 2
    way = [(w // 2, 0, 0), (w // 2, start, 0), (w // 2, turn, first), (w // 2, middle, first)]
    way += [(begin, middle, first), (wide, middle, n), (wide + 2 * HALF, middle, n)]
    return treads, [(0, begin, turn, deep, first)], way


def _straight(size: StairSize) -> _Drawn:
    """Lay out one straight flight along the spine's wall."""
    g, n = size.going, size.risers
    deep, wide = size.deep - 2 * HALF, size.wide - 2 * HALF
    begin, middle = wide - (n - 1) * g, size.width // 2
    treads = [(begin + i * g, begin + (i + 1) * g, 0, deep, i + 1) for i in range(n - 1)]
    return treads, [], [(begin, middle, 0), (wide, middle, n), (wide + 2 * HALF, middle, n)]


def transform_flight(flight: StairFlight, to: Callable[[Spot], Spot]) -> StairFlight:
    """Return a flight of stairs after a coordinate transform: mirrored, rotated or shifted."""

    def blocks(given: Sequence[_Block]) -> tuple[_Block, ...]:
        return tuple((*to_rect((to((b[0], b[1])), to((b[2], b[3])))), b[4]) for b in given)

    line = tuple((to((x, z))[0], y, to((x, z))[1]) for x, y, z in flight.line)
    treads, landings = blocks(flight.treads), blocks(flight.landings)
    return replace(flight, treads=treads, landings=landings, line=line)
