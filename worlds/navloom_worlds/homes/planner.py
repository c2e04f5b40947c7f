"""Floor plans: a programme, a frame for every storey, rooms cut into it, and how one gets about.

The way of working is that of Marson and Musse (2010): rooms by squarish subdivision, and a corridor
that all can be reached from; here the corridor comes first, so that nothing must be mended. A plan
that fails its own checks is never handed out: the next sub-seed is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from navloom.errors import SceneError
from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.floorplan import (
    Doorway,
    Flight,
    Floorplan,
    PlannedWall,
    Room,
    Spot,
    Storey,
    Window,
)
from navloom_worlds.homes.frame import SpineFrame, draw_frame
from navloom_worlds.homes.home_spec import LARGEST, SMALLEST, HomeSpec
from navloom_worlds.homes.layout import lay_out
from navloom_worlds.homes.levels import draw_levels
from navloom_worlds.homes.outdoors import put_outdoors
from navloom_worlds.homes.plan_checks import faults
from navloom_worlds.homes.programme import Programme, StoreyWishes, draw_extent, draw_programme
from navloom_worlds.homes.rectilinear import area
from navloom_worlds.homes.set_back import set_back
from navloom_worlds.homes.shafts import Shaft, draw_lift, draw_stairs, lift_flight, set_aside
from navloom_worlds.homes.stairs import moved
from navloom_worlds.homes.storeys import (
    DrawnStorey,
    Gap,
    draw_storey,
    halls_of,
    put_ways,
    rooms_of,
    solid,
)
from navloom_worlds.homes.units import Unit, draw_units
from navloom_worlds.homes.windows import put_windows

_MOST_TRIES = 240
_SAME_EXTENT, _SAME_PROGRAMME = 80, 4
_EASY = 0.2
"""The share of homes built for a wheelchair, stairs apart."""
_STOREY_TRIES = 5
_SLAB = 300
_OFF = 0.1
"""The share by which a home may be larger or smaller than wished."""


def plan_home(dice: Dice, spec: HomeSpec) -> Floorplan:
    """Draw up a home.

    Args:
        dice: the seed's; what is drawn here moves nothing else.
        spec: wishes; what it leaves open is drawn.

    Returns:
        A plan without a fault (:func:`~navloom_worlds.homes.plan_checks.faults`).

    Raises:
        SceneError: the wishes contradict one another, or no plan for them was found.
    """
    for attempt in range(_MOST_TRIES):
        # A size is given up last: if it went with each failed try, small homes would crowd in.
        extent = draw_extent(dice.split("extent", attempt // _SAME_EXTENT), spec)
        own = dice.split("programme", attempt // _SAME_PROGRAMME)
        programme = draw_programme(own, extent)
        plan = _drawn(dice.split("plan", attempt), programme)
        if plan is not None and _as_large(plan, extent.area) and not faults(plan):
            return replace(plan, retries=attempt)
    raise SceneError(
        f"no home of {_said(spec)} was found in {_MOST_TRIES} tries. "
        "Ask for another number of rooms, or for more room."
    )


def _as_large(plan: Floorplan, wanted: float) -> bool:
    found = floor_area(plan)
    return abs(found - wanted) <= _OFF * wanted and SMALLEST <= found <= LARGEST


def _said(spec: HomeSpec) -> str:
    wishes = [f"{k}={v}" for k in ("rooms", "floors", "area") if (v := getattr(spec, k))]
    return ", ".join(wishes) or "any kind"


@dataclass
class _Site:
    """A home in the making: what all its storeys share, and those that stand."""

    programme: Programme
    rise: int
    outer: int
    front: float
    easy: bool
    frames: list[SpineFrame] = field(default_factory=list)
    shafts: list[Shaft] = field(default_factory=list)
    storeys: list[DrawnStorey] = field(default_factory=list)


def _drawn(dice: Dice, programme: Programme) -> Floorplan | None:
    site = _Site(
        programme,
        rise=dice.whole(9, 12) * 50 + 2000 + _SLAB,
        outer=dice.pick((200, 240, 300)),
        front=float(dice.whole(0, 1)),
        easy=dice.chance(_EASY),
    )
    for wishes in programme.storeys:
        for attempt in range(_STOREY_TRIES):
            if _raised(dice.split("storey", wishes.floor, attempt), site, wishes):
                break
        else:
            return None
    return _turned(dice, _whole(site))


def _raised(dice: Dice, site: _Site, wishes: StoreyWishes) -> bool:
    """Put a storey on those that stand; False where the draws make none."""
    floor, floors = wishes.floor, len(site.programme.storeys)
    height = (floor - 1) * site.rise
    units = draw_units(dice.split("units"), wishes.rooms, wishes.halls == 0)
    base = _frame(dice.split("frame"), site, wishes, units)
    if base is None:
        return False
    shafts = list(site.shafts)
    if floor == 1 and site.programme.elevator:
        lift = draw_lift(dice.split("lift"), base, floors)
        if lift is None:
            return False
        shafts.append(lift)
    if floor < floors:
        stairs = draw_stairs(dice.split("stairs"), base, shafts, floor, height, site.rise)
        if stairs is None:
            return False
        shafts.append(stairs)
    frame = _with_corners(base, shafts, floor)
    if frame is None:
        return False
    storey = Storey(floor, height, site.rise - _SLAB, ())
    drawn = _storey(dice, site, wishes, units, frame, shafts, storey)
    if drawn is None:
        return False
    site.frames.append(base)
    site.shafts = shafts
    site.storeys.append(drawn)
    return True


def _frame(
    dice: Dice, site: _Site, wishes: StoreyWishes, units: Sequence[Unit]
) -> SpineFrame | None:
    stairs = (wishes.floor < len(site.programme.storeys)) + (wishes.floor > 1)
    net = fsum(room.area for room in wishes.rooms)
    wanted = net * (1.19 if wishes.halls else 1.05) + 7.5 * stairs
    parts = len(units) - stairs + 1
    if not site.frames:
        living = [room.area for room in wishes.rooms if room.kind == "living room"]
        largest = max(unit.area for unit in units)
        return draw_frame(dice, wanted, None if wishes.halls else living[0], parts, largest)
    keep = tuple(shaft.rect for shaft in site.shafts if shaft.at(wishes.floor))
    return set_back(dice, site.frames[-1], wanted, keep, parts)


def _with_corners(base: SpineFrame, shafts: Sequence[Shaft], floor: int) -> SpineFrame | None:
    """A storey's frame less the corners that stairs stand in."""
    frame: SpineFrame | None = base
    for shaft in shafts:
        if frame is not None and shaft.alone and shaft.at(floor):
            frame = set_aside(frame, shaft)
    return frame


def _storey(
    dice: Dice,
    site: _Site,
    wishes: StoreyWishes,
    units: Sequence[Unit],
    frame: SpineFrame,
    shafts: Sequence[Shaft],
    storey: Storey,
) -> DrawnStorey | None:
    floor = wishes.floor
    fixed = [thing for shaft in shafts if (thing := shaft.at(floor))]
    cells = lay_out(dice.split("layout"), frame, fixed, units, site.front)
    if cells is None:
        return None
    halls = halls_of(dice, frame, wishes.halls)
    drawn = draw_storey(storey, halls + cells, site.outer)
    if drawn is None:
        return None
    gaps = [
        Gap(_cell(drawn, shaft), *way, head=shaft.upper == floor)
        for shaft in shafts
        if shaft.at(floor) and (way := shaft.way(floor))
    ]
    if not put_ways(dice.split("ways"), drawn, gaps, floor == 1, site.easy):
        return None
    for room in wishes.outdoors:
        if not put_outdoors(dice.split("outdoors"), drawn, room.area):
            return None
    if floor == 1:
        draw_levels(dice.split("levels"), drawn)
    put_windows(dice.split("windows"), drawn)
    return drawn


def _cell(drawn: DrawnStorey, shaft: Shaft) -> int:
    """The number of the cell that a shaft is on a storey."""
    return next(i for i, cell in enumerate(drawn.cells) if cell.rects == [shaft.rect])


def _whole(site: _Site) -> Floorplan:
    rooms: list[Room] = []
    doorways: list[Doorway] = []
    windows: list[Window] = []
    walls: list[PlannedWall] = []
    number: dict[tuple[int, int], int] = {}
    for drawn in site.storeys:
        floor = drawn.storey.floor
        here = rooms_of(drawn, len(rooms) + 1)
        for cell, room in zip(sorted(drawn.kinds), here, strict=True):
            number[floor, cell] = room.number
        rooms += here
        doorways += [
            replace(
                d,
                a=number[floor, d.a],
                b=None if d.b is None else number[floor, d.b],
                swings_into=None if d.swings_into is None else number[floor, d.swings_into],
            )
            for d in drawn.doorways
        ]
        windows += [replace(w, room=number[floor, w.room]) for w in drawn.windows]
        walls += solid(drawn)
    return Floorplan(
        tuple(drawn.storey for drawn in site.storeys),
        tuple(rooms),
        tuple(doorways),
        tuple(windows),
        tuple(_flights(site, number)),
        tuple(walls),
    )


def _flights(site: _Site, number: Mapping[tuple[int, int], int]) -> Iterator[Flight]:
    """Stairs first, from the lowest up, then lifts and ramps."""
    for shaft in sorted(site.shafts, key=lambda shaft: shaft.stairs is None):
        for floor in range(shaft.lower, shaft.upper):
            below, above = site.storeys[floor - 1], site.storeys[floor]
            foot = number[floor, _cell(below, shaft)]
            if shaft.stairs is not None:
                head = number[floor + 1, above.landing or 0]
                yield replace(shaft.stairs.flight, lower=foot, upper=head)
            else:
                head = number[floor + 1, _cell(above, shaft)]
                way = lift_flight(shaft, below.storey.height, site.rise)
                yield replace(way, lower=foot, upper=head)
    for floor, drawn in enumerate(site.storeys, start=1):
        for ramp in drawn.ramps:
            ends = number[floor, ramp.lower], number[floor, ramp.upper]
            yield replace(ramp, lower=ends[0], upper=ends[1])


def _turned(dice: Dice, plan: Floorplan) -> Floorplan:
    """The plan mirrored and turned as the dice fall: frames are all drawn one way round."""
    swap, flip_x, flip_z = (dice.chance(0.5) for _ in range(3))

    def to(spot: Spot) -> Spot:
        x, z = spot if not swap else (spot[1], spot[0])
        return (-x if flip_x else x), (-z if flip_z else z)

    return mapped(plan, to, mirrored=swap ^ flip_x ^ flip_z)


def mapped(plan: Floorplan, to: Callable[[Spot], Spot], mirrored: bool) -> Floorplan:
    """A plan with every place moved; outlines stay clockwise on the page."""

    def outline(spots: tuple[Spot, ...]) -> tuple[Spot, ...]:
        found = tuple(to(spot) for spot in spots)
        return (found[0], *found[:0:-1]) if mirrored else found

    def jambs(pair: tuple[Spot, Spot]) -> tuple[Spot, Spot]:
        return to(pair[0]), to(pair[1])

    flights: list[Flight] = [moved(flight, to) for flight in plan.flights]
    return replace(
        plan,
        storeys=tuple(replace(s, footprint=outline(s.footprint)) for s in plan.storeys),
        rooms=tuple(replace(r, outline=outline(r.outline)) for r in plan.rooms),
        doorways=tuple(
            replace(d, jambs=jambs(d.jambs), swing=outline(d.swing) if d.swing else None)
            for d in plan.doorways
        ),
        windows=tuple(replace(w, jambs=jambs(w.jambs)) for w in plan.windows),
        flights=tuple(flights),
        walls=tuple(replace(w, a=to(w.a), b=to(w.b)) for w in plan.walls),
    )


def floor_area(plan: Floorplan) -> float:
    """Square metres of floor indoors."""
    return sum(area(room.outline) for room in plan.rooms if room.zone != "outdoor") / 1e6
