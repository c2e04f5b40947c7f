"""Generator of floor plans: room programme, footprint of each storey, rooms, doorways and stairs.

The method follows Marson and Musse (2010): rooms by squarish subdivision, and a corridor from which
all can be reached. Here the corridor comes first, so that no repair is needed. A plan that fails
its own checks is rejected, and the next sub-seed is tried.

Windows are placed in outer walls, by room kind.

Balconies and patios are an outdoor room in front of an outer wall, a door to it, and a parapet.

Floors may lie a step above or below their storey's; some of these steps get a ramp.

An upper storey keeps the footprint below it, or only the part that it needs. The rest is roof or a
terrace; no storey overhangs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from navloom.errors import SceneError
from navloom.files import package_yaml
from navloom_worlds.homes.doorways import DoorwayPlacer
from navloom_worlds.homes.floorplan import (
    Doorway,
    Floorplan,
    PlannedRoom,
    PlannedStorey,
    PlannedWall,
    Spot,
    StairFlight,
    Window,
)
from navloom_worlds.homes.home_names import LARGEST, SMALLEST, HomeSpec
from navloom_worlds.homes.plan_checks import plan_faults
from navloom_worlds.homes.rectilinear import (
    HALF,
    Rect,
    WallStretch,
    covers_rect,
    expand_rect,
    is_rect_inside,
    outline_area,
    rect_outline,
    rects_overlap,
    to_rect,
)
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_groups import RoomGroup, draw_groups
from navloom_worlds.homes.room_layout import StoreyCell, lay_out
from navloom_worlds.homes.room_programme import (
    KINDS,
    RoomProgramme,
    StoreyRooms,
    draw_extent,
    draw_programme,
)
from navloom_worlds.homes.stairs import transform_flight
from navloom_worlds.homes.storey_footprint import (
    SLIMMEST,
    Bay,
    SpineFrame,
    draw_frame,
    draw_shape,
    search_size,
)
from navloom_worlds.homes.storey_layout import (
    StairGap,
    StoreyDraft,
    add_doorways,
    cut_walls,
    draw_storey,
    hall_cells,
    planned_rooms,
)
from navloom_worlds.homes.vertical_cores import (
    VerticalCore,
    draw_lift,
    draw_stairs,
    exclude_core,
    lift_flight,
)

NARROWEST_HALL = 1100


def upper_footprint(
    dice: Rng, frame: SpineFrame, area: float, keep: tuple[Rect, ...], parts: int
) -> SpineFrame | None:
    """Return the footprint of the storey above: the same, less the area that it does not need.

    Args:
        dice: its own random stream.
        frame: footprint of the storey below.
        area: required square metres.
        keep: stairs and lifts, which stay.
        parts: number of room groups to place in its bays.

    Returns:
        None if the remaining area is no valid storey.
    """
    for bay in dice.shuffled(frame.bays):
        if frame.area <= area * 1.12 and len(frame.bays) <= parts:
            return frame
        less = replace(frame, bays=tuple(b for b in frame.bays if b.key != bay.key))
        spared = not any(is_rect_inside(bay.whole, rect) for rect in keep)
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


def _cut(frame: SpineFrame, way: str, area: float, keep: tuple[Rect, ...]) -> SpineFrame | None:
    """Return a frame cut off along a line to about the required area; None if none is valid."""
    rects = [*frame.spine, *(bay.whole for bay in frame.bays)]
    axis = 0 if way in "WE" else 1
    first, last = min(r[axis] for r in rects), max(r[axis + 2] for r in rects)

    def left(off: int) -> SpineFrame:
        low, high = (first + off, last) if way in "WN" else (first, last - off)
        window = (low, -99999, high, 99999) if axis == 0 else (-99999, low, 99999, high)
        return _clipped(frame, window)

    off = search_size(lambda value: -left(value).area, -area, 0, last - first - 4000)
    if off is None:
        return None
    cut = left(off)
    whole = [*cut.spine, *(bay.whole for bay in cut.bays)]
    if not _in_one(cut.spine) or not all(any(is_rect_inside(r, k) for r in whole) for k in keep):
        return None
    for gaps in (_gaps(bay, k) for bay in cut.bays for k in keep if is_rect_inside(bay.whole, k)):
        if max(gaps) == 0 or any(0 < gap < SLIMMEST for gap in gaps):
            return None
    return cut if 0.9 * area <= cut.area <= 1.2 * area else None


def _in_one(spine: Sequence[Rect]) -> bool:
    """Check whether a spine of at most three arms is connected: each touches another."""
    return len(spine) == 1 or (
        bool(spine)
        and all(any(_touch(arm, other) for other in spine if other is not arm) for arm in spine)
    )


def _gaps(bay: Bay, rect: Rect) -> tuple[int, int]:
    """Return the free lengths of a bay on both sides of a rectangle in it."""
    lo, hi = (rect[0], rect[2]) if bay.side in "NS" else (rect[1], rect[3])
    return lo - bay.lo, bay.hi - hi


def _clip(rect: Rect, window: Rect) -> Rect:
    (x0, z0, x1, z1), (a0, b0, a1, b1) = rect, window
    return max(x0, a0), max(z0, b0), min(x1, a1), min(z1, b1)


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
    """Shorten a spine to the extent of the bays along it."""
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
    """Return the interval of an arm that a bay touches, or the end of the arm that it closes."""
    if (bay.side in "NS") == (along == 0):
        beside = bay.base in (arm[1 - along], arm[3 - along])
        return bay.touch if beside else ()
    return (bay.base,) if bay.base in (arm[along], arm[along + 2]) else ()


def _touch(a: Rect, b: Rect) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


_SUNKEN: Mapping[str, float] = {
    "living room": 0.1, "family room": 0.12, "garage": 0.6, "laundry": 0.06, "library": 0.05,
}  # fmt: skip
"""Probability that a ground-floor room lies lower than the hall."""
_RAMPS = 0.45
_SLOPE = 9
"""Ratio of a ramp's length to its rise."""
_SLICE = 12
"""Maximum height in mm of the slices of a ramp: wheels get over each."""
_WIDEST = 1400


def lower_rooms(dice: Rng, drawn: StoreyDraft) -> None:
    """Lower rooms of the lowest storey by a step; some of them get a ramp."""
    for cell, kind in sorted(drawn.kinds.items()):
        if not dice.chance(_SUNKEN.get(kind, 0.0)):
            continue
        low = drawn.storey.height - 10 * dice.whole(10, 18)
        drawn.levels[cell] = low
        if dice.chance(_RAMPS):
            ramp = _ramp(drawn, cell, low)
            drawn.ramps += [ramp] if ramp else []


def _ramp(drawn: StoreyDraft, cell: int, low: int) -> StairFlight | None:
    """Return a ramp down from an opening, where the room has floor that no door needs."""
    rise = drawn.storey.height - low
    swings = [to_rect(d.swing) for d in drawn.doorways if d.swing]
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
        ways = [expand_rect(to_rect(d.jambs), 600) for d in drawn.doorways if d is not doorway]
        if not covers_rect(drawn.inner[cell], floor) or any(
            rects_overlap(floor, r) for r in swings + ways
        ):
            continue
        return _sloped(wall, (lo, hi), sign, (cell, other), (low, rise))
    return None


def _wall(drawn: StoreyDraft, doorway: Doorway, cell: int, other: int) -> WallStretch:
    box = to_rect(doorway.jambs)
    return next(
        wall
        for wall in drawn.walls
        if {wall.minus, wall.plus} == {cell, other}
        and is_rect_inside(wall.rect(wall.lo, wall.hi, 0, 0), box)
    )


def _middle(wall: WallStretch, doorway: Doorway) -> tuple[int, int]:
    x0, z0, x1, z1 = to_rect(doorway.jambs)
    lo, hi = (x0, x1) if wall.axis == "x" else (z0, z1)
    wide = min(hi - lo, _WIDEST) // 20 * 20
    start = (lo + hi - wide) // 2
    return start, start + wide


def _sloped(
    wall: WallStretch,
    across: tuple[int, int],
    sign: int,
    cells: tuple[int, int],
    rises: tuple[int, int],
) -> StairFlight:
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
    return StairFlight("ramp", *cells, tuple(slices), (), tuple(line), hi - lo)


_ORDER = ("living room", "dining room", "kitchen", "family room", "bedroom", "office", "hallway")
_LEAST_WALL = 2300
_LONGEST, _LEAST_DEPTH, _MOST_DEPTH = 6000, 1300, 3600
_PARAPET = 100
_LOWER = (0, 0, 20, 50, 120, 150)
"""Depth of its floor below the storey's, in mm."""


def add_outdoor_area(dice: Rng, drawn: StoreyDraft, extent: float) -> bool:
    """Add a balcony or patio of about the given area in m2; return False if none fits."""
    kind = "patio" if drawn.storey.floor == 1 else "balcony"
    rank = {kind: i for i, kind in enumerate(_ORDER)}
    places = []
    for wall in drawn.walls:
        cell = wall.plus if wall.minus is None else wall.minus
        if None not in (wall.minus, wall.plus) or cell not in drawn.kinds:
            continue
        if wall.length >= _LEAST_WALL and drawn.kinds[cell] in rank:
            places.append((rank[drawn.kinds[cell]] + dice.between(0, 2.5), wall, cell))
    for _, wall, cell in sorted(places, key=lambda place: place[0]):
        if _built(dice, drawn, kind, extent, wall, cell):
            return True
    return False


def _built(
    dice: Rng, drawn: StoreyDraft, kind: str, extent: float, wall: WallStretch, cell: int
) -> bool:
    sign, face = -wall.inward(cell), drawn.outer - HALF
    lo = wall.lo + _PARAPET
    long = min(wall.hi - _PARAPET - lo, _LONGEST)
    deep = min(max(int(extent * 1e6 / long) // 50 * 50, _LEAST_DEPTH), _MOST_DEPTH)
    rect = wall.rect(lo, lo + long, sign * face, sign * (face + deep))
    taken = wall.rect(
        lo - _PARAPET, lo + long + _PARAPET, sign * face, sign * (face + deep + _PARAPET)
    )
    house = (r for c in drawn.cells for r in c.rects)
    if any(rects_overlap(taken, expand_rect(r, face)) for r in house):
        return False
    number = len(drawn.cells)
    ends = (cell, number) if wall.minus == cell else (number, cell)
    beyond = WallStretch(wall.axis, wall.at, lo, lo + long, *ends)
    doors = DoorwayPlacer([beyond], drawn.inner, {**drawn.kinds, number: kind}, drawn.outer)
    doors.swings = [to_rect(d.swing) for d in drawn.doorways if d.swing]
    doors.before = [expand_rect(to_rect(d.jambs), 300) for d in drawn.doorways]
    if not doors.between(dice, cell, number, "wide"):
        return False
    drawn.doorways.append(_thick(doors.built[0], wall, sign, drawn.outer))
    drawn.cells.append(StoreyCell(kind, [rect]))
    drawn.inner[number] = rect_outline(rect)
    drawn.levels[number] = drawn.storey.height - dice.pick(_LOWER)
    if kind == "balcony":
        drawn.parapets += _parapet(drawn, beyond, sign * face, sign * (face + deep))
    return True


def _thick(doorway: Doorway, wall: WallStretch, sign: int, outer: int) -> Doorway:
    """Return the same doorway in an outer wall."""
    along = 0 if wall.axis == "x" else 1
    ends = [wall.spot(jamb[along], sign * (outer // 2 - HALF)) for jamb in doorway.jambs]
    return replace(doorway, jambs=(ends[0], ends[1]), thickness=outer)


def _parapet(drawn: StoreyDraft, wall: WallStretch, near: int, far: int) -> list[PlannedWall]:
    """Return low walls on the three free sides, none overlapping."""
    half = _PARAPET // 2
    out = half if far > near else -half
    bottom, top = drawn.storey.height - max(_LOWER), drawn.storey.height + 1000
    lines = [(wall.spot(wall.lo - _PARAPET, far + out), wall.spot(wall.hi + _PARAPET, far + out))]
    lines += [(wall.spot(at, near), wall.spot(at, far)) for at in (wall.lo - half, wall.hi + half)]
    return [PlannedWall(a, b, bottom, top, _PARAPET) for a, b in lines]


_CORNER = 250
"""Minimum distance of a window from the next corner's centre line, in mm."""
_BETWEEN = 700
# (minimum width, maximum width, sill, head, share of walls that have one)
_USUAL = (900, 1800, 900, 2100, 0.85)
_ROOMS = package_yaml("navloom_worlds.homes", "rooms.yaml")
_KINDS: Mapping[str, tuple[int, int, int, int, float]] = _ROOMS["windows"]
LIT = ("living room", "bedroom", "nursery", "kids room", "kitchen", "office", "dining room")
"""Room kinds that should have a window; the first four always have one."""


def add_windows(dice: Rng, drawn: StoreyDraft) -> None:
    """Sample a storey's windows; doors that lead outdoors stay free."""
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


def _free(wall: WallStretch, doorways: Sequence[Doorway], least: int) -> list[tuple[int, int]]:
    """Return the intervals of an outer wall that are free for a window, the longest first."""
    places = [(wall.lo + _CORNER, wall.hi - _CORNER)]
    band = wall.rect(wall.lo, wall.hi, -400, 400)
    for doorway in doorways:
        x0, z0, x1, z1 = to_rect(doorway.jambs)
        if not rects_overlap(band, expand_rect((x0, z0, x1, z1), 1)):
            continue
        if (z0 == z1) != (wall.axis == "x"):
            continue
        lo, hi = (x0, x1) if wall.axis == "x" else (z0, z1)
        places = [
            part for a, b in places for part in ((a, min(b, lo - 200)), (max(a, hi + 200), b))
        ]
    return sorted((p for p in places if p[1] - p[0] >= least), key=lambda p: (p[0] - p[1], p))


_MOST_TRIES = 240
_SAME_EXTENT, _SAME_SHAPE, _SAME_PROGRAMME = 80, 16, 2
_EASY = 0.2
"""Share of homes that are wheelchair-accessible, except for stairs."""
_STOREY_TRIES = 5
_SLAB = 300
_OFF = 0.1
"""Tolerated relative deviation from the requested area."""


def plan_home(dice: Rng, spec: HomeSpec) -> Floorplan:
    """Generate a floor plan.

    Args:
        dice: random stream of the seed; draws here affect nothing else.
        spec: options; those left open are drawn.

    Returns:
        A plan without faults (:func:`~navloom_worlds.homes.plan_checks.plan_faults`).

    Raises:
        SceneError: the options contradict each other, or no plan was found for them.
    """
    for attempt in range(_MOST_TRIES):
        # The size is redrawn last: otherwise small homes, which rarely fail, would be too common.
        extent = draw_extent(dice.split("extent", attempt // _SAME_EXTENT), spec)
        own = dice.split("programme", attempt // _SAME_PROGRAMME)
        # So is the hall's shape, since straight halls rarely fail.
        shapes = dice.split("shape", attempt // _SAME_SHAPE)
        shape = draw_shape(shapes, extent.area / extent.floors, extent.rooms)
        programme = draw_programme(own, extent, shape)
        plan = _drawn(dice.split("plan", attempt), programme)
        if plan is not None and _as_large(plan, extent.area) and not plan_faults(plan):
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
    """State of a home being planned: shared dimensions and the storeys so far."""

    programme: RoomProgramme
    rise: int
    outer: int
    front: float
    easy: bool
    frames: list[SpineFrame] = field(default_factory=list)
    shafts: list[VerticalCore] = field(default_factory=list)
    storeys: list[StoreyDraft] = field(default_factory=list)


def _drawn(dice: Rng, programme: RoomProgramme) -> Floorplan | None:
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


def _raised(dice: Rng, site: _Site, wishes: StoreyRooms) -> bool:
    """Plan the next storey; return False if the draws give none."""
    floor, floors = wishes.floor, len(site.programme.storeys)
    height = (floor - 1) * site.rise
    hub = wishes.halls == 0 and floors == 1 and len(wishes.rooms) <= 8 and dice.chance(0.6)
    if wishes.halls == 0 and not hub:
        wishes = _opened(wishes)
    units = draw_groups(dice.split("units"), wishes.rooms, hub)
    base = _frame(dice.split("frame"), site, wishes, units, hub)
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
    storey = PlannedStorey(floor, height, site.rise - _SLAB, ())
    drawn = _storey(dice, site, wishes, units, frame, shafts, storey)
    if drawn is None:
        return False
    site.frames.append(base)
    site.shafts = shafts
    site.storeys.append(drawn)
    return True


def _opened(wishes: StoreyRooms) -> StoreyRooms:
    """Return the storey's rooms with a smaller living room, since the spine becomes part of it."""
    spine = 0.11 * fsum(room.area for room in wishes.rooms)
    least = KINDS["living room"].least
    rooms = tuple(
        replace(room, area=max(room.area - spine, least)) if room.kind == "living room" else room
        for room in wishes.rooms
    )
    return replace(wishes, rooms=rooms)


def _frame(
    dice: Rng, site: _Site, wishes: StoreyRooms, units: Sequence[RoomGroup], hub: bool
) -> SpineFrame | None:
    stairs = (wishes.floor < len(site.programme.storeys)) + (wishes.floor > 1)
    net = fsum(room.area for room in wishes.rooms)
    wanted = net * (1.05 if hub else 1.19) + 7.5 * stairs
    parts = len(units) - stairs + 1
    if not site.frames:
        living = [room.area for room in wishes.rooms if room.kind == "living room"]
        largest = max(unit.area for unit in units)
        shape = site.programme.shape
        return draw_frame(dice, shape, wanted, living[0] if hub else None, parts, largest)
    keep = tuple(shaft.rect for shaft in site.shafts if shaft.at(wishes.floor))
    return upper_footprint(dice, site.frames[-1], wanted, keep, parts)


def _with_corners(base: SpineFrame, cores: Sequence[VerticalCore], floor: int) -> SpineFrame | None:
    """Return a storey's footprint without the corners that stairs take."""
    frame: SpineFrame | None = base
    for shaft in cores:
        if frame is not None and shaft.alone and shaft.at(floor):
            frame = exclude_core(frame, shaft)
    return frame


def _storey(
    dice: Rng,
    site: _Site,
    wishes: StoreyRooms,
    units: Sequence[RoomGroup],
    frame: SpineFrame,
    shafts: Sequence[VerticalCore],
    storey: PlannedStorey,
) -> StoreyDraft | None:
    floor = wishes.floor
    fixed = [thing for shaft in shafts if (thing := shaft.at(floor))]
    cells = lay_out(dice.split("layout"), frame, fixed, units, site.front)
    if cells is None:
        return None
    halls = hall_cells(dice, frame, wishes.halls)
    for cell in [cell for cell in cells if not wishes.halls and cell.kind == "living room"]:
        # In an open plan the living room and the spine are one room.
        cells.remove(cell)
        halls[0].rects += cell.rects
    drawn = draw_storey(storey, halls + cells, site.outer)
    if drawn is None:
        return None
    gaps = [
        StairGap(_cell(drawn, shaft), *way, head=shaft.upper == floor)
        for shaft in shafts
        if shaft.at(floor) and (way := shaft.way(floor))
    ]
    if not add_doorways(dice.split("ways"), drawn, gaps, floor == 1, site.easy):
        return None
    for room in wishes.outdoors:
        if not add_outdoor_area(dice.split("outdoors"), drawn, room.area):
            return None
    if floor == 1:
        lower_rooms(dice.split("levels"), drawn)
    add_windows(dice.split("windows"), drawn)
    return drawn


def _cell(drawn: StoreyDraft, shaft: VerticalCore) -> int:
    """Return the number of the cell that a shaft occupies on a storey."""
    return next(i for i, cell in enumerate(drawn.cells) if cell.rects == [shaft.rect])


def _whole(site: _Site) -> Floorplan:
    rooms: list[PlannedRoom] = []
    doorways: list[Doorway] = []
    windows: list[Window] = []
    walls: list[PlannedWall] = []
    number: dict[tuple[int, int], int] = {}
    for drawn in site.storeys:
        floor = drawn.storey.floor
        here = planned_rooms(drawn, len(rooms) + 1)
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
        walls += cut_walls(drawn)
    return Floorplan(
        tuple(drawn.storey for drawn in site.storeys),
        tuple(rooms),
        tuple(doorways),
        tuple(windows),
        tuple(_flights(site, number)),
        tuple(walls),
    )


def _flights(site: _Site, number: Mapping[tuple[int, int], int]) -> Iterator[StairFlight]:
    """Yield the stairs first, from the lowest up, then lifts and ramps."""
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


def _turned(dice: Rng, plan: Floorplan) -> Floorplan:
    """Return the plan mirrored and rotated at random; all are drawn in one orientation."""
    swap, flip_x, flip_z = (dice.chance(0.5) for _ in range(3))

    def to(spot: Spot) -> Spot:
        x, z = spot if not swap else (spot[1], spot[0])
        return (-x if flip_x else x), (-z if flip_z else z)

    return transform_plan(plan, to, mirrored=swap ^ flip_x ^ flip_z)


def transform_plan(plan: Floorplan, to: Callable[[Spot], Spot], mirrored: bool) -> Floorplan:
    """Return a plan after a coordinate transform; its outlines stay clockwise on the page."""

    def outline(spots: tuple[Spot, ...]) -> tuple[Spot, ...]:
        found = tuple(to(spot) for spot in spots)
        return (found[0], *found[:0:-1]) if mirrored else found

    def jambs(pair: tuple[Spot, Spot]) -> tuple[Spot, Spot]:
        return to(pair[0]), to(pair[1])

    return replace(
        plan,
        storeys=tuple(replace(s, footprint=outline(s.footprint)) for s in plan.storeys),
        rooms=tuple(replace(r, outline=outline(r.outline)) for r in plan.rooms),
        doorways=tuple(
            replace(d, jambs=jambs(d.jambs), swing=outline(d.swing) if d.swing else None)
            for d in plan.doorways
        ),
        windows=tuple(replace(w, jambs=jambs(w.jambs)) for w in plan.windows),
        flights=tuple(transform_flight(flight, to) for flight in plan.flights),
        walls=tuple(replace(w, a=to(w.a), b=to(w.b)) for w in plan.walls),
    )


def floor_area(plan: Floorplan) -> float:
    """Return the indoor floor area in square metres."""
    return sum(outline_area(room.outline) for room in plan.rooms if room.zone != "outdoor") / 1e6
