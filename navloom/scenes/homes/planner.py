"""Floor plans: a programme, a frame for every storey, rooms cut into it, and how one gets about.

The way of working is that of Marson and Musse (2010): rooms by squarish subdivision, and a corridor
that all can be reached from; here the corridor comes first, so that nothing must be mended. A plan
that fails its own checks is never handed out: the next sub-seed is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import fsum

from navloom.errors import SceneError
from navloom.scenes.homes.dice import Dice
from navloom.scenes.homes.floorplan import (
    Doorway,
    Flight,
    Floorplan,
    PlannedWall,
    Room,
    Spot,
    Storey,
    Window,
)
from navloom.scenes.homes.frame import Bay, Frame, draw_frame, set_back
from navloom.scenes.homes.home_spec import HomeSpec
from navloom.scenes.homes.layout import Fixed, lay_out
from navloom.scenes.homes.plan_checks import faults
from navloom.scenes.homes.programme import Programme, StoreyWishes, draw_extent, draw_programme
from navloom.scenes.homes.rectilinear import Rect, area
from navloom.scenes.homes.stairs import BuiltStairs, StairSize, build_stairs, moved, stair_size
from navloom.scenes.homes.storeys import (
    DrawnStorey,
    Gap,
    draw_storey,
    furnish_ways,
    halls_of,
    rooms_of,
    solid,
)
from navloom.scenes.homes.units import draw_units

_MOST_TRIES = 240
_SAME_EXTENT, _SAME_PROGRAMME = 80, 4
_STOREY_TRIES = 5
_SLAB = 300


def plan_home(dice: Dice, spec: HomeSpec) -> Floorplan:
    """Draw up a home.

    Args:
        dice: the seed's; what is drawn here moves nothing else.
        spec: wishes; what it leaves open is drawn.

    Returns:
        A plan without a fault (:func:`~navloom.scenes.homes.plan_checks.faults`).

    Raises:
        SceneError: the wishes contradict one another, or no plan for them was found.
    """
    for attempt in range(_MOST_TRIES):
        # A size is given up last: if it went with each failed try, small homes would crowd in.
        extent = draw_extent(dice.split("extent", attempt // _SAME_EXTENT), spec)
        own = dice.split("programme", attempt // _SAME_PROGRAMME)
        programme = draw_programme(own, extent)
        plan = _drawn(dice.split("plan", attempt), programme)
        if plan is not None and not faults(plan):
            return replace(plan, retries=attempt)
    raise SceneError(
        f"no home of {_said(spec)} was found in {_MOST_TRIES} tries. "
        "Ask for another number of rooms, or for more room."
    )


def _said(spec: HomeSpec) -> str:
    wishes = [f"{k}={v}" for k in ("rooms", "floors", "area") if (v := getattr(spec, k))]
    return ", ".join(wishes) or "any kind"


@dataclass
class _Shaft:
    """Stairs between two storeys, at one place in both."""

    stairs: BuiltStairs
    bay: Bay
    lo: int
    size: StairSize
    lower: int

    @property
    def rect(self) -> Rect:
        return self.bay.rect(self.lo, 0, self.lo + self.size.wide, self.size.deep)


@dataclass
class _Site:
    """A home in the making: what all its storeys share, and those that stand."""

    programme: Programme
    rise: int
    outer: int
    front: float
    frames: list[Frame] = field(default_factory=list)
    shafts: list[_Shaft] = field(default_factory=list)
    storeys: list[DrawnStorey] = field(default_factory=list)


def _drawn(dice: Dice, programme: Programme) -> Floorplan | None:
    site = _Site(
        programme,
        rise=dice.whole(9, 12) * 50 + 2000 + _SLAB,
        outer=dice.pick((200, 240, 300)),
        front=float(dice.whole(0, 1)),
    )
    for wishes in programme.storeys:
        for attempt in range(_STOREY_TRIES):
            if _raised(dice.split("storey", wishes.floor, attempt), site, wishes):
                break
        else:
            return None
    return _turned(dice, _whole(site.storeys, site.shafts))


def _raised(dice: Dice, site: _Site, wishes: StoreyWishes) -> bool:
    """Put a storey on those that stand; False where the draws make none."""
    frame = _frame(dice, site, wishes)
    if frame is None:
        return False
    shafts = list(site.shafts)
    height = (wishes.floor - 1) * site.rise
    if wishes.floor < len(site.programme.storeys):
        shaft = _shaft(dice.split("stairs"), frame, shafts, wishes.floor, height, site.rise)
        if shaft is None:
            return False
        shafts.append(shaft)
    storey = Storey(wishes.floor, height, site.rise - _SLAB, ())
    drawn = _storey(dice, site, wishes, frame, shafts, storey)
    if drawn is None:
        return False
    site.frames.append(frame)
    site.shafts = shafts
    site.storeys.append(drawn)
    return True


def _frame(dice: Dice, site: _Site, wishes: StoreyWishes) -> Frame | None:
    stairs = (wishes.floor < len(site.programme.storeys)) + (wishes.floor > 1)
    net = fsum(room.area for room in wishes.rooms)
    wanted = max(wishes.area, net) * 1.075 + 7.5 * stairs
    if not site.frames:
        living = [room.area for room in wishes.rooms if room.kind == "living room"]
        return draw_frame(dice.split("frame"), wanted, None if wishes.halls else living[0])
    keep = tuple(shaft.rect for shaft in site.shafts if shaft.lower == wishes.floor - 1)
    return set_back(dice.split("frame"), site.frames[-1], wanted, keep)


def _shaft(
    dice: Dice, frame: Frame, shafts: list[_Shaft], floor: int, height: int, rise: int
) -> _Shaft | None:
    size = stair_size(dice, rise)
    places = []
    for bay in frame.bays:
        lo, hi = max(bay.lo, bay.touch[0]), min(bay.hi, bay.touch[1])
        if bay.depth < size.deep or hi - lo < size.wide + 2800:
            continue
        middle = (lo + hi - size.wide) // 100 * 50
        for at in (lo, hi - size.wide, middle):
            if at == middle and middle - lo < 2800:
                continue
            rect = bay.rect(at - 2800, 0, at + size.wide + 2800, size.deep)
            if not any(_near(rect, shaft.rect) for shaft in shafts):
                places.append((bay, at))
    if not places:
        return None
    bay, at = dice.pick(places)
    deep = bay.depth if bay.depth - size.deep < 700 else size.deep
    size = replace(size, deep=deep)
    stairs = build_stairs(bay, at, size, height, rise, dice.chance(0.5))
    return _Shaft(stairs, bay, at, size, floor)


def _near(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _storey(
    dice: Dice,
    site: _Site,
    wishes: StoreyWishes,
    frame: Frame,
    shafts: list[_Shaft],
    storey: Storey,
) -> DrawnStorey | None:
    here = [s for s in shafts if s.lower in (wishes.floor, wishes.floor - 1)]
    fixed = [
        Fixed(
            "stairwell" if s.lower == wishes.floor else None,
            s.bay.key,
            s.lo,
            s.lo + s.size.wide,
            min(s.size.deep, next(b.depth for b in frame.bays if b.key == s.bay.key)),
        )
        for s in here
    ]
    units = draw_units(dice.split("units"), wishes.rooms, wishes.halls == 0)
    cells = lay_out(dice.split("layout"), frame, fixed, units, site.front)
    if cells is None:
        return None
    halls = halls_of(dice, frame, wishes.halls)
    drawn = draw_storey(storey, halls + cells, site.outer)
    if drawn is None:
        return None
    gaps = [_gap(s, drawn, wishes.floor) for s in here]
    wanted = [room.area for room in wishes.outdoors]
    if not furnish_ways(dice.split("ways"), drawn, gaps, wanted, wishes.floor == 1):
        return None
    return drawn


def _gap(shaft: _Shaft, drawn: DrawnStorey, floor: int) -> Gap:
    cell = next(
        i
        for i, c in enumerate(drawn.cells)
        if c.kind in (None, "stairwell") and c.rects[0] == shaft.rect
    )
    head = shaft.lower != floor
    lo, hi = shaft.stairs.head if head else shaft.stairs.foot
    return Gap(cell, shaft.bay.rect(lo, -99, hi, 99), lo, hi, head)


def _whole(storeys: list[DrawnStorey], shafts: list[_Shaft]) -> Floorplan:
    rooms: list[Room] = []
    doorways: list[Doorway] = []
    windows: list[Window] = []
    walls: list[PlannedWall] = []
    number: dict[tuple[int, int], int] = {}
    for drawn in storeys:
        floor = drawn.storey.floor
        here = rooms_of(drawn, len(rooms) + 1)
        for cell, room in zip(sorted(drawn.kinds), here, strict=True):
            number[floor, cell] = room.number
        rooms += here
        for d in drawn.doorways:
            doorways.append(
                replace(
                    d,
                    a=number[floor, d.a],
                    b=None if d.b is None else number[floor, d.b],
                    swings_into=None if d.swings_into is None else number[floor, d.swings_into],
                )
            )
        windows += [replace(w, room=number[floor, w.room]) for w in drawn.windows]
        walls += solid(drawn)
    flights = []
    for shaft in shafts:
        below, above = storeys[shaft.lower - 1], storeys[shaft.lower]
        well = next(
            i
            for i, c in enumerate(below.cells)
            if c.kind == "stairwell" and c.rects[0] == shaft.rect
        )
        flights.append(
            replace(
                shaft.stairs.flight,
                lower=number[shaft.lower, well],
                upper=number[shaft.lower + 1, above.landing or 0],
            )
        )
    return Floorplan(
        tuple(drawn.storey for drawn in storeys),
        tuple(rooms),
        tuple(doorways),
        tuple(windows),
        tuple(flights),
        tuple(walls),
    )


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
