"""Furnishing of a floor plan: furniture, the objects on it, and their arrangement.

The catalogue defines the items and their placement rules, the styles their look; this module
furnishes room by room. Everything is computed in whole millimetres and drawn from :class:`Rng`.

Objects on and in furniture: lamps on tables, books in shelves, pillows at a bed's head.

A kitchen's run of units along its walls: refrigerator, counter, sink, stove, in one line.

A run consists of the catalogue's entries with ``place: run``. Those of variable width (from a small
to a large ``size``) fill the gaps between the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from navloom.scenes.scene import Item, Relation
from navloom_worlds.homes.catalogue import ItemSpec, RoomKey, active_catalogue, room_keys
from navloom_worlds.homes.floorplan import Doorway, Floorplan, PlannedRoom, Spot, Window
from navloom_worlds.homes.home_names import Clutter
from navloom_worlds.homes.item_relations import find_relations
from navloom_worlds.homes.place_floor import PLACES as STANDING
from navloom_worlds.homes.place_wall import PLACES as HANGING
from navloom_worlds.homes.placement import (
    Household,
    PlacedItem,
    RoomDoor,
    RoomState,
    RoomWindow,
    Size,
)
from navloom_worlds.homes.rectilinear import Rect, expand_rect, rect_centre, rects_overlap, to_rect
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_occupancy import RoomOccupancy, WallSide
from navloom_worlds.homes.styles import HomeStyle

_BEFORE = 800
"""mm of floor that stay free in front of a run."""
_DEEP = 600
_HIGH = 900
_LEAST = 300
"""mm: the narrowest unit that fills a gap."""
_WIDEST = 1800
_SHARE = 450
"""mm of run for each square metre of kitchen."""
_LONGEST = 7000

Unit = tuple[ItemSpec, Size]


def build_kitchen_run(room: RoomState, entries: tuple[ItemSpec, ...]) -> int:
    """Place a kitchen's run of units.

    Args:
        room: the kitchen, modified in place.
        entries: the units of a run, the most important first.

    Returns:
        Number of units that found no place.
    """
    fillers = [entry for entry in entries if entry.size[0][1] - entry.size[0][0] >= 600]
    units = [
        (entry, _cut(room.draw_size(entry)))
        for entry in entries
        if entry not in fillers and room.dice.chance(room.share(entry))
    ]
    budget = min(_LONGEST, 2000 + room.ground.area // 1_000_000 * _SHARE)
    taken: list[WallSide] = []
    for _ in range(4):
        span = _longest(room, taken)
        if span is None or (not units and (budget < _LEAST or len(taken) > 1)):
            break
        side, low, high = span
        length = min(high - low, budget)
        chosen, units = _that_fit(units, length)
        wide = sum(size[0] for _, size in chosen)
        # A third wall only takes units that found no place on the first two.
        spare = max(0, length - wide) if len(taken) < 2 else 0
        row = _row(room, chosen, fillers, spare)
        if low != side.low or (high == side.high and room.dice.chance(0.5)):
            low = high - sum(size[0] for _, size in row)
        missed = _build(room, side, low, row)
        units = [*units, *missed]
        budget -= length
        taken.append(side)
    return sum(not _near(room, entry, size) for entry, size in units)


def _near(room: RoomState, entry: ItemSpec, size: Size) -> bool:
    """Place a unit that the run cannot hold beside it, or against a wall if it is essential."""
    names = tuple(dict.fromkeys(t.entry.name for t in room.placed if t.entry.place == "run"))
    at_end = entry.model_copy(update={"to": names, "gap": 2})
    for fitted in dict.fromkeys((size, _cut(room.draw_size(entry, least=True)))):
        if STANDING["beside"](room, at_end, fitted):
            return True
    return entry.turn > 0 or STANDING["wall"](room, entry, size) is not None


def _cut(size: Size) -> Size:
    return size[0], size[1], min(size[2], 700)


def _longest(room: RoomState, taken: list[WallSide]) -> tuple[WallSide, int, int] | None:
    """Return the longest free piece of wall, preferably adjacent to walls already used."""
    found = [
        (end - low + 1500 * any(side.along_x != each.along_x for each in taken), i, low, end)
        for i, side in enumerate(room.ground.sides)
        if side not in taken
        for low, end in room.ground.spans(side, _DEEP, 0, _HIGH, _BEFORE)
        if end - low >= 600
    ]
    if not found:
        return None
    _, i, low, end = max(found)
    return room.ground.sides[i], low, end


def _that_fit(units: list[Unit], length: int) -> tuple[list[Unit], list[Unit]]:
    chosen, left = [], []
    for unit in units:
        if unit[1][0] <= length:
            length -= unit[1][0]
            chosen.append(unit)
        else:
            left.append(unit)
    return chosen, left


def _row(room: RoomState, chosen: list[Unit], fillers: list[ItemSpec], spare: int) -> list[Unit]:
    """Return the units with counters between them; tall units stand at an end."""
    tall = [unit for unit in chosen if unit[1][1] > 1200]
    low = [unit for unit in chosen if unit[1][1] <= 1200]
    gaps = max(1, len(low))
    row = list(tall)
    for i in range(gaps):
        share = spare // (gaps - i) // 20 * 20
        spare -= share
        while share >= _LEAST and fillers:
            filler = room.dice.pick(fillers)
            wide = min(share, filler.size[0][1], _WIDEST)
            _, high, deep = room.draw_size(filler)
            row.append((filler, (wide // 2 * 2, high, deep)))
            share -= wide
        spare += share
        row += low[i : i + 1]
    return row if room.dice.chance(0.5) else row[::-1]


def _build(room: RoomState, side: WallSide, start: int, row: list[Unit]) -> list[Unit]:
    """Put a row of units along a wall.

    Returns:
        The units that found no place.
    """
    missed = []
    for entry, size in row:
        rect = side.rect(start, start + size[0], 0, size[2])
        start += size[0]
        thing = None
        # No unit may block the corner in front of another one that people use.
        if room.ground.fits(rect, 0, size[1]):
            thing = room.put(entry, size, rect_centre(rect), 0, side.quarter)
        if thing is None:
            missed.append((entry, size))
    return missed


_ON_TOP_TRIES = 7
_BOARD = 30
"""mm: thickness of a shelf's boards."""
_INSIDE = frozenset({"shelf", "cabinet", "basket", "bowl", "box", "rack", "appliance"})
"""Shapes that contain the objects placed below their upper side."""


def fill_surfaces(room: RoomState) -> None:
    """Put objects on and in all furniture of a room that can hold objects."""
    done = 0
    while done < len(room.placed):
        holder = room.placed[done]
        done += 1
        if holder.entry.top is None:
            continue
        # Some tables are empty, some are full.
        mood = room.full * room.dice.pick((0.2, 0.5, 0.8, 1.0, 1.2, 1.6))
        for entry, number in active_catalogue().entries_on_holder(holder.entry.name, room.keys):
            if not has_companions(room, entry):
                continue
            rate = number * room.dressing.likes(entry.name) * (1 if entry.with_ else mood)
            rate *= (0, 1, 2)[room.mess] if entry.clutter else 1
            for _ in range(_number(room, min(rate, 24.0))):
                if put_on_holder(room, entry, holder) is None:
                    break


def _number(room: RoomState, rate: float) -> int:
    whole = int(rate)
    return whole + room.dice.chance(rate - whole)


def has_companions(room: RoomState, entry: ItemSpec) -> bool:
    """Check whether the room has one of the items that an entry is used with."""
    return not entry.with_ or any(name in room.by_name for name in entry.with_)


def put_on_holder(room: RoomState, entry: ItemSpec, holder: PlacedItem) -> PlacedItem | None:
    """Put one object of an entry on or in a holder.

    Args:
        room: the room, modified in place.
        entry: the object's catalogue entry.
        holder: the item that carries it; it has a ``top``.

    Returns:
        The object; None if there is no space for it.
    """
    size = room.draw_size(entry)
    top = holder.entry.top
    if entry.shape == "book" and size[1] > size[0] and top is not None and not top.levels:
        size = size[1], size[0], size[2]  # outside a shelf a book lies flat
    for height, area, room_above in _surfaces(room, holder):
        if size[1] > room_above:
            continue
        for turn in (0, 1) if entry.spot == "any" and size[0] != size[2] else (0,):
            wide, deep = (size[2], size[0]) if turn else (size[0], size[2])
            if wide > area[2] - area[0] or deep > area[3] - area[1]:
                continue
            taken = holder.carries.setdefault(height, [])
            for _ in range(_ON_TOP_TRIES):
                u, w = _spot(room, entry, holder, area, wide, deep)
                rect = (u - wide // 2, w - deep // 2, u + wide // 2, w + deep // 2)
                if any(rects_overlap(rect, other) for other in taken):
                    continue
                x, z = holder.place(u, w)
                bottom, quarter = holder.bottom + height, (holder.quarter + turn) % 4
                thing = PlacedItem(
                    len(room.placed) + 1, entry, size, x, z, bottom, quarter,
                    tilt=holder.tilt, on=holder, states=room.draw_states(entry),
                )  # fmt: skip
                thing.inside = bottom < holder.top and holder.entry.shape in _INSIDE
                if thing.top > room.ground.ceiling or (
                    thing.top > holder.top
                    and room.ground.is_occupied(thing.rect, bottom, thing.top, holder.rect)
                ):
                    continue
                room.add(thing)
                taken.append(rect)
                return thing
    return None


def _surfaces(room: RoomState, holder: PlacedItem) -> list[tuple[int, Rect, int]]:
    """Return the holder's surfaces: height above its underside, area, and clear height above."""
    top = holder.entry.top
    if top is None:
        return []
    wide, high, deep = holder.size
    side, back, front = top.rim
    area = (-(wide // 2) + side, -(deep // 2) + front, wide // 2 - side, deep // 2 - back)
    if not top.levels:
        return [(int(high * top.at) // 2 * 2, area, top.room)]
    pitch = (high - _BOARD) // top.levels
    levels = [(_BOARD + pitch * i) // 2 * 2 for i in range(top.levels)]
    return room.dice.shuffled([(level, area, pitch - _BOARD) for level in levels])


def _spot(
    room: RoomState, entry: ItemSpec, holder: PlacedItem, area: Rect, wide: int, deep: int
) -> tuple[int, int]:
    """Sample the object's centre in the holder's own frame."""
    u0, w0 = area[0] + wide // 2, area[1] + deep // 2
    u1, w1 = area[2] - wide // 2, area[3] - deep // 2
    u, w = room.dice.whole(u0, u1), room.dice.whole(w0, w1)
    if entry.spot == "back":
        w = w1 - (w1 - w0) // 8
    elif entry.spot == "front":
        w = w0 + (w1 - w0) // 8
    elif entry.spot == "middle":
        u, w = (u0 + u1) // 2, (w0 + w1) // 2
    elif entry.spot == "side":
        u = room.dice.pick((u0, u1))
    elif entry.spot == "head":
        # Two side by side if the holder is wide enough, the first at either side.
        u = room.dice.pick((-1, 1)) * holder.size[0] // 4 if holder.size[0] >= 2 * wide else 0
        u, w = min(max(u, u0), u1), w1
    return u, w


_LANE = 700
"""mm of floor that stay free in front of every entrance of a room, as wide as the entrance."""
_WIDE, _WIDE_LANE = 1300, 500
"""mm: an entrance so wide lets people pass beside an item in front of it."""
_BESIDE_LANE = 50
_BEFORE_WINDOW = 250
"""mm in front of a window where no item is higher than its sill."""
_STAIR_LANE = 900
_TABLE = "kitchen table"
"""Item at which a home without a dining room eats."""
_TRIES = 10
"""Maximum attempts to furnish a room."""
_QUARTER_TURN = 1.570796
_DEGREE = 0.01745329
_FULLEST = {0: 40, 1: 50, 2: 60}
"""Maximum percentage of a room's floor under items, by clutter level."""
_LOOSE = frozenset({"ball", "basket", "box", "shoe", "toy"})
_STORES: frozenset[RoomKey] = frozenset(
    {"closet", "dressing", "garage", "laundry", "nursery", "pantry"}
)
_MESS: dict[Clutter, int] = {"tidy": 0, "lived-in": 1, "cluttered": 2}
_HOW_UNTIDY: dict[Clutter, float] = {"tidy": 0.25, "lived-in": 0.5, "cluttered": 0.25}
_FULL = {0: 0.6, 1: 1.0, 2: 1.6}
_OWNERS = (0.15, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
"""Factors on the number of objects: some households own more."""


@dataclass(frozen=True)
class Furnishing:
    """Furnishing of a home: items, relations, style and clutter.

    Attributes:
        items: room by room, holders before the objects on them.
        relations: spatial relations between the items.
        style: name of the style.
        clutter: clutter level.
    """

    items: tuple[Item, ...]
    relations: tuple[Relation, ...]
    style: str
    clutter: Clutter


def furnish_home(
    plan: Floorplan, dice: Rng, *, style: str | None = None, clutter: Clutter | None = None
) -> Furnishing:
    """Furnish a home.

    Args:
        plan: its floor plan, assumed valid.
        dice: the only random source; the same plan and stream give the same furnishing.
        style: one of :func:`navloom_worlds.homes.styles.style_names`; None: one is drawn.
        clutter: clutter level; None: it is drawn, too.

    Returns:
        Items and relations. Positions and sizes in metres, rounded to millimetres. Items stay in
        their room, do not overlap, and keep door swings and entrances free. A person of 0.33 m
        radius can walk from every entrance of a room to every other.

    Raises:
        SceneError: there is no such style.
    """
    dressing = HomeStyle(style, dice.split("style"))
    drawn: Clutter = dice.split("clutter").weighted(_HOW_UNTIDY)
    untidy = clutter or drawn
    mess = _MESS[untidy]
    full = dice.split("owners").pick(_OWNERS) * _FULL[mess] * dressing.full
    household = Household(dressing, full, mess)
    settings = _furnished(plan, dice, household)
    namer = _Namer()
    items: list[Item] = []
    relations: list[Relation] = []
    for room, setting in settings:
        made = namer.items(room, setting.placed, dressing)
        items += made
        relations += find_relations(setting.placed, [item.id for item in made])
    return Furnishing(tuple(items), tuple(relations), dressing.name, untidy)


def _furnished(plan: Floorplan, dice: Rng, who: Household) -> list[tuple[PlannedRoom, RoomState]]:
    """Furnish every room of a home, and return the rooms in the plan's order.

    If there is no dining room, one of them gets a table to eat at, a kitchen before others.

    Args:
        plan: the floor plan.
        dice: random stream.
        who: settings of the household: style, number of objects, clutter.

    Returns:
        Each planned room that is furnished, with its state: the items placed in it.
    """
    rooms = [(room, keys) for room in plan.rooms if (keys := room_keys(room.kind))]
    eats = not any("dining" in keys for _, keys in rooms)
    made: dict[int, RoomState] = {}
    for room, keys in sorted(rooms, key=lambda each: "kitchen" not in each[1]):
        setting = _best(plan, room, keys, dice, who._replace(eats=eats))
        eats = eats and _TABLE not in setting.by_name
        made[room.number] = setting
    return [(room, made[room.number]) for room, _ in rooms]


def _best(
    plan: Floorplan, room: PlannedRoom, keys: tuple[RoomKey, ...], dice: Rng, household: Household
) -> RoomState:
    """Furnish a room, again while an essential item (its bed) has no place; return its state."""
    tried: list[tuple[int, RoomState]] = []
    for i in range(_TRIES):
        drawn = dice.split("room", room.number, i)
        setting = _setting(plan, room, keys, drawn, household)
        tried.append((_furnish_room(setting), setting))
        if not tried[-1][0]:
            break
    best = min(tried, key=lambda each: each[0])[1]
    fill_surfaces(best)
    return best


# -- the empty room -------------------------------------------------------------------------------


def _setting(
    plan: Floorplan, room: PlannedRoom, keys: tuple[RoomKey, ...], dice: Rng, household: Household
) -> RoomState:
    storey = next(s for s in plan.storeys if s.floor == room.floor)
    ground = RoomOccupancy(room, storey.ceiling)
    setting = RoomState(room, keys, ground, dice, household)
    for flight in plan.flights:
        if room.number == flight.lower:
            for x0, z0, x1, z1, _ in flight.treads:
                ground.walk.close((x0, z0, x1, z1))
        ends = [flight.line[0]] if room.number == flight.lower else []
        ends += [flight.line[-1]] if room.number == flight.upper else []
        for x, _, z in ends:
            ground.keep(expand_rect((x, z, x, z), _STAIR_LANE // 2), 0)
            ground.walk.add_entrance(x, z)
        if ends:
            for x0, z0, x1, z1, _ in (*flight.treads, *flight.landings):
                ground.keep((x0, z0, x1, z1), 0, 0, storey.ceiling)
                ground.swings.append((x0, z0, x1, z1))
    for door in plan.doorways:
        if room.number in (door.a, door.b):
            _keep_door(setting, door)
    for window in plan.windows:
        if window.room == room.number:
            _keep_window(setting, window)
    return setting


def _wall_of(room: RoomState, jambs: tuple[Spot, Spot], deep: int) -> tuple[WallSide, int, int]:
    """Return the room-side wall of an opening, and the opening's interval along it."""
    (x0, z0), (x1, z1) = jambs
    along_x = z0 == z1
    middle = z0 if along_x else x0
    low, high = (min(x0, x1), max(x0, x1)) if along_x else (min(z0, z1), max(z0, z1))
    near = [
        (abs(abs(side.at - middle) - deep // 2), -min(high, side.high) + max(low, side.low), i)
        for i, side in enumerate(room.ground.sides)
        if side.along_x == along_x and side.low < high and low < side.high
        and abs(side.at - middle) <= deep
    ]  # fmt: skip
    return room.ground.sides[min(near)[2]], low, high


def _keep_door(setting: RoomState, door: Doorway) -> None:
    side, low, high = _wall_of(setting, door.jambs, door.thickness)
    ground = setting.ground
    lane = _LANE if door.width <= _WIDE else _WIDE_LANE
    ground.keep(side.rect(low - _BESIDE_LANE, high + _BESIDE_LANE, 0, lane), 0)
    if door.swing is not None and door.swings_into == setting.room.number:
        swing = to_rect(door.swing)
        ground.keep(swing, 0, 0, door.height)
        ground.swings.append(swing)
    x, z, *_ = side.rect((low + high) // 2, (low + high) // 2, 250, 250)
    ground.walk.add_entrance(x, z)
    setting.doors.append(RoomDoor(side, low, high, door.b is None))


def _keep_window(setting: RoomState, window: Window) -> None:
    side, low, high = _wall_of(setting, window.jambs, window.thickness)
    rect = side.rect(low, high, 0, _BEFORE_WINDOW)
    setting.ground.keep(rect, 0, window.sill, window.head)
    setting.windows.append(RoomWindow(side, low, high, window.sill, window.head))
    if side not in setting.lit:
        setting.lit.append(side)


# -- furnishing it --------------------------------------------------------------------------------


def _furnish_room(room: RoomState) -> int:
    """Place all items of a room except the objects on furniture.

    Returns:
        Number of essential items that found no place.
    """
    ordered = active_catalogue().entries_for_room(room.keys)
    run = tuple(entry for entry in ordered if entry.place == "run")
    missed = build_kitchen_run(room, run) if run else 0
    groups: set[str] = set()
    for entry in ordered:
        if entry.place == "run" or entry.group in groups or not has_companions(room, entry):
            continue
        if entry.group:
            groups.add(entry.group)
            missed += not _stand_one_of(room, [e for e in ordered if e.group == entry.group])
            continue
        for n in range(_wanted(room, entry)):
            full = room.ground.covered * 100 > room.ground.area * _FULLEST[room.mess]
            if entry.turn > 3 and full and entry.place in STANDING:
                break
            if _enough_lies_about(room, entry):
                break
            if _stand(room, entry) is None:
                missed += entry.turn == 0 and n == 0
                break
    return missed


def _stand_one_of(room: RoomState, entries: list[ItemSpec]) -> bool:
    """Place one of several alternative entries, with the probability of all of them together.

    Returns:
        False if none of them found a place.
    """
    weights = {entry.name: room.share(entry) for entry in entries}
    if not room.dice.chance(fsum(weights.values())):
        return True
    while weights:
        name = room.dice.weighted(weights)
        del weights[name]
        if _stand(room, active_catalogue().entries[name]) is not None:
            return True
    return False


def _enough_lies_about(room: RoomState, entry: ItemSpec) -> bool:
    """Check whether the floor of a room that is no store already has enough loose objects."""
    if entry.shape not in _LOOSE or entry.kind != "object" or not _STORES.isdisjoint(room.keys):
        return False
    lying = sum(
        thing.entry.shape in _LOOSE and thing.entry.kind == "object"
        for thing in room.placed
        if thing.on is None and not thing.hung
    )
    return lying > room.mess


def _wanted(room: RoomState, entry: ItemSpec) -> int:
    """Sample the number of items of an entry for a room."""
    if entry.name == _TABLE and not room.household.eats:
        return 0
    likes = room.dressing.likes(entry.name)
    if entry.turn > 2 and not entry.seat:
        likes *= room.rich
    if entry.kind == "object":
        likes *= min(0.4 + 0.6 * room.household.full, 1.6)
    if entry.clutter:
        likes *= (0, 1, 1.6)[room.mess]
    wanted = 0
    for key in room.keys:
        share = entry.rooms.get(key)
        if share is None or not room.dice.chance(min(1.0, share.share * likes)):
            continue
        if share.each:
            n = max(1, int(room.ground.area / 1_000_000 / share.each + room.dice.unit()))
            wanted = max(wanted, min(share.most, n))
        else:
            wanted = max(wanted, room.dice.whole(1, share.most))
    # Chairs face each other across a table, so their number is even.
    return wanted + wanted % 2 if entry.place == "around" and entry.carried else wanted


def _stand(room: RoomState, entry: ItemSpec) -> PlacedItem | None:
    """Place one item by its catalogue rule; return None if it finds no place."""
    for place in (entry.place, entry.otherwise):
        if place == "upon":
            thing = _stand_on(room, entry)
        elif place is not None:
            put = STANDING.get(place) or HANGING[place]
            thing = put(room, entry, room.draw_size(entry))
            if thing is None and entry.size[0][0] < entry.size[0][1]:
                thing = put(room, entry, room.draw_size(entry, least=True))
            if thing is None and entry.turn < 2 and entry.clear:
                thing = put(room, entry.tight, room.draw_size(entry, least=True))
        else:
            thing = None
        if thing is not None:
            return thing
    return None


def _stand_on(room: RoomState, entry: ItemSpec) -> PlacedItem | None:
    for holder in room.items_named(entry.to):
        if not any(thing.on is holder and thing.entry.name == entry.name for thing in room.placed):
            thing = put_on_holder(room, entry, holder)
            if thing is not None:
                room.ground.block(thing.rect, thing.bottom, thing.top)
                return thing
    return None


# -- scene items ---------------------------------------------------------------------------------


class _Namer:
    """Generator of item ids: the name and a running number in the home."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def items(
        self, room: PlannedRoom, things: Sequence[PlacedItem], dressing: HomeStyle
    ) -> list[Item]:
        """Convert a room's placed items to scene items."""
        made: list[Item] = []
        for thing in things:
            title = dressing.title(thing.entry)
            self._seen[title] += 1
            material, colour = dressing.of(thing.entry, room.id)
            wide, high, deep = thing.size
            y = room.level + thing.bottom + high // 2
            low, most = thing.entry.mass
            item = Item(
                id=f"{title.replace(' ', '_').replace('-', '_')}_{self._seen[title]}",
                name=title,
                kind=thing.entry.kind,
                region=room.id,
                position=(thing.x / 1000, y / 1000, thing.z / 1000),
                size=(wide / 1000, high / 1000, deep / 1000),
                yaw=round(thing.quarter * _QUARTER_TURN + thing.tilt * _DEGREE, 6),
                on=None if thing.on is None else made[thing.on.number - 1].id,
                shape=thing.entry.shape,
                colour=colour,
                material=material,
                states=thing.states,
                mass=round(low + (most - low) * (wide / max(1, thing.entry.size[0][1])), 2),
            )
            made.append(item)
        return made
