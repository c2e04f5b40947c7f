"""Items placed in a room, and the state of a room while it is being furnished."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from navloom_worlds.homes.catalogue import ItemSpec, RoomKey
from navloom_worlds.homes.floorplan import PlannedRoom
from navloom_worlds.homes.rectilinear import Rect, expand_rect, to_rect
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_occupancy import RoomOccupancy, WallSide, rotate_offset
from navloom_worlds.homes.styles import HomeStyle

TILTS: dict[int, tuple[int, int]] = {0: (1000, 0), 10: (985, 174), 15: (966, 259), 20: (940, 342)}
"""Tilt of an item in degrees -> cosine and sine in thousandths."""

TYPICAL: dict[RoomKey, int] = {
    "bedroom": 15, "bathroom": 6, "toilet": 2, "kitchen": 15, "dining": 15, "living": 26,
    "office": 12, "laundry": 6, "closet": 4, "hallway": 12, "garage": 30, "nursery": 12,
    "balcony": 9, "media": 18, "gym": 15, "library": 14, "lounge": 18, "pantry": 3,
    "dressing": 7, "entry": 6, "stairs": 8,
}  # fmt: skip
"""Typical area in square metres; the amount of furniture grows as the square root of the area."""
_ROOMS = (0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.3, 1.7)
"""Factors by which rooms of one home differ in the amount of furniture."""

_USED = frozenset({"cabinet", "appliance", "stove", "sink", "toilet", "desk", "shelf", "machine"})
"""Shapes that are used from the front."""
_REACH = 450
"""mm: distance from which a person reaches an item."""

Size = tuple[int, int, int]
"""Across, up, deep in mm, each even, so that half of it is whole."""


@dataclass(slots=True)
class PlacedItem:
    """Item with a position in a room; heights above the room's floor, all in mm.

    Attributes:
        number: unique in the room, from 1.
        entry: its catalogue entry.
        size: across, up, deep.
        x, z: its centre.
        bottom: its underside.
        quarter: quarter turns clockwise.
        tilt: additional rotation in degrees, clockwise positive.
        on: its holder.
        inside: whether it is in its holder, not on it.
        states: such as ``open``.
        hung: whether it hangs on a wall or from the ceiling.
        anchor: the item beside which it was placed: a chair's table.
        carries: rectangles of the objects on it, in its own frame, by their height.
    """

    number: int
    entry: ItemSpec
    size: Size
    x: int
    z: int
    bottom: int
    quarter: int
    tilt: int = 0
    on: PlacedItem | None = None
    inside: bool = False
    states: tuple[str, ...] = ()
    hung: bool = False
    anchor: PlacedItem | None = None
    carries: dict[int, list[Rect]] = field(default_factory=dict)

    @property
    def top(self) -> int:
        """Height of the item's upper side above the room's floor, in mm."""
        return self.bottom + self.size[1]

    @property
    def rect(self) -> Rect:
        """Axis-aligned bounding rectangle of the item's footprint."""
        return footprint_rect(self.x, self.z, self.size[0], self.size[2], self.quarter, self.tilt)

    def place(self, u: int, w: int) -> tuple[int, int]:
        """Convert a point of the item's own frame to (x, z) in the plan."""
        if self.tilt:
            cos, sin = TILTS[abs(self.tilt)]
            sin = sin if self.tilt > 0 else -sin
            u, w = (u * cos - w * sin) // 1000, (u * sin + w * cos) // 1000
        dx, dz = rotate_offset(self.quarter, u, w)
        return self.x + dx, self.z + dz

    def zone(self, u0: int, w0: int, u1: int, w1: int) -> Rect:
        """Convert a rectangle of the item's own frame to an axis-aligned one in the plan."""
        return to_rect((self.place(u0, w0), self.place(u1, w1)))

    def before(self, near: int, far: int) -> Rect:
        """Return the zone in front of the item, as wide as the item."""
        half, front = self.size[0] // 2, -(self.size[2] // 2)
        return self.zone(-half, front - far, half, front - near)


def footprint_rect(x: int, z: int, wide: int, deep: int, quarter: int, tilt: int = 0) -> Rect:
    """Return the bounding rectangle of a turned footprint, rounded outwards to whole mm."""
    if tilt:
        cos, sin = TILTS[abs(tilt)]
        across, along = wide * cos + deep * sin, wide * sin + deep * cos
        wide, deep = (across + 1999) // 2000 * 2, (along + 1999) // 2000 * 2
    if quarter % 2:
        wide, deep = deep, wide
    return x - wide // 2, z - deep // 2, x + wide // 2, z + deep // 2


class RoomWindow(NamedTuple):
    """Window as seen from its room: its wall, and the interval along the wall in mm."""

    side: WallSide
    low: int
    high: int
    sill: int
    head: int


class RoomDoor(NamedTuple):
    """Doorway as seen from its room."""

    side: WallSide
    low: int
    high: int
    outside: bool
    """Whether it leads outside."""


class Household(NamedTuple):
    """Household-wide settings of the furnishing."""

    dressing: HomeStyle
    full: float
    """Factor on the number of objects."""
    mess: int
    """Clutter level: 0 tidy, 1 lived-in, 2 cluttered."""
    eats: bool = False
    """Whether the home still needs a table to eat at."""


class RoomState:
    """Room while it is being furnished.

    Args:
        room: its plan.
        keys: its furnishing keys.
        ground: its floor.
        dice: its own random stream.
        household: settings of the home.
    """

    def __init__(
        self,
        room: PlannedRoom,
        keys: tuple[RoomKey, ...],
        ground: RoomOccupancy,
        dice: Rng,
        household: Household,
    ) -> None:
        self.room, self.keys, self.ground, self.dice = room, keys, ground, dice
        self.household = household
        self.dressing, self.mess = household.dressing, household.mess
        area = ground.area / 1_000_000 / sum(TYPICAL[key] for key in keys)
        self.rich = math.sqrt(min(max(area, 0.4), 2.5)) * dice.pick(_ROOMS)
        """Factor on the number of items that are not essential."""
        self.full = household.full * self.rich
        """Factor on the number of objects."""
        self._shares: dict[str, float] = {}
        self.windows: list[RoomWindow] = []
        self.doors: list[RoomDoor] = []
        self.lit: list[WallSide] = []
        """Walls with a window."""
        self.placed: list[PlacedItem] = []
        self.by_name: dict[str, list[PlacedItem]] = {}

    def share(self, entry: ItemSpec) -> float:
        """Return the probability that the room gets an entry, by catalogue and style; at most 1."""
        name = entry.name
        if name not in self._shares:
            shares = [entry.rooms[key].share for key in self.keys if key in entry.rooms]
            self._shares[name] = min(1.0, max(shares, default=0.0) * self.dressing.likes(name))
        return self._shares[name]

    def draw_size(self, entry: ItemSpec, least: bool = False) -> Size:
        """Sample a size for an entry; ``least``: its smallest size."""
        (w0, w1), (h0, h1), (d0, d1) = entry.size
        if least:
            return w0 - w0 % 2, h0 - h0 % 2, d0 - d0 % 2
        unit = self.dice.unit()  # one draw, so that a wide item is deep as well
        sizes = [low + int((high - low) * unit) for low, high in ((w0, w1), (h0, h1), (d0, d1))]
        w, h, d = (each - each % (10 if each >= 300 else 2) for each in sizes)
        return w, h, d

    def draw_states(self, entry: ItemSpec) -> tuple[str, ...]:
        """Sample one state from each of an entry's sets of states; an empty name means no state."""
        drawn = (self.dice.weighted(each) for each in entry.states)
        return tuple(state for state in drawn if state)

    def put(
        self,
        entry: ItemSpec,
        size: Size,
        spot: tuple[int, int],
        bottom: int,
        quarter: int,
        *,
        tilt: int = 0,
        hung: bool = False,
        anchor: PlacedItem | None = None,
        walked: bool = True,
        zone: Rect | None = None,
    ) -> PlacedItem | None:
        """Put an item on the floor or a wall, at a position that is known to fit.

        Returns:
            The item; None, with the room unchanged, if it would block the paths through the room.
        """
        thing = PlacedItem(
            len(self.placed) + 1, entry, size, spot[0], spot[1], bottom, quarter, tilt,
            states=self.draw_states(entry), hung=hung, anchor=anchor,
        )  # fmt: skip
        if entry.shape != "rug":
            front = None if hung else self._front(thing, zone)
            if walked and not self.ground.take(thing.rect, bottom, bottom + size[1], front):
                return None
            if not walked:
                self.ground.block(thing.rect, bottom, bottom + size[1])
        self.add(thing)
        if entry.clear:
            self.ground.keep(zone or thing.before(0, entry.clear), thing.number)
        return thing

    def _front(self, thing: PlacedItem, zone: Rect | None) -> Rect:
        """Return where a person must be able to stand: in front of an item, or around it."""
        if thing.entry.clear and zone is None and thing.entry.shape in _USED:
            return thing.before(0, max(thing.entry.clear, _REACH))
        return expand_rect(thing.rect, _REACH)

    def add(self, thing: PlacedItem) -> None:
        """Record an item that is in place."""
        self.placed.append(thing)
        self.by_name.setdefault(thing.entry.name, []).append(thing)

    def items_named(self, names: Iterable[str]) -> list[PlacedItem]:
        """Return the room's items with the given names, in the order of the names."""
        return [thing for name in names for thing in self.by_name.get(name, ())]
