"""Room programme of a home: its rooms, their areas and their storeys.

Options of the user come first, then random draws. Each kind of room is about as frequent as in the
homes of HM3D, and occurs only in homes that are large enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

from navloom.errors import SceneError
from navloom.files import package_yaml
from navloom_worlds.homes.floorplan import Zone
from navloom_worlds.homes.home_names import LARGEST, MOST_ROOMS, SMALLEST, HomeSpec
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.storey_footprint import HallShape


@dataclass(frozen=True)
class RoomKind:
    """Kind of room, with its limits.

    Attributes:
        zone: its privacy class.
        least: minimum area in square metres.
        usual: its area in a medium-sized home.
        most: maximum area.
        side: minimum clear width in mm, in both directions.
        share: share of a home's rooms that are of this kind.
        limit: maximum number in one home.
        rooms: minimum number of rooms of a home that has it.
    """

    zone: Zone
    least: float
    usual: float
    most: float
    side: int
    share: float = 0.0
    limit: int = 1
    rooms: int = 4


_ROOMS = package_yaml("navloom_worlds.homes", "rooms.yaml")
KINDS: Mapping[str, RoomKind] = {name: RoomKind(*kind) for name, kind in _ROOMS["kinds"].items()}

SMALL = ("bathroom", "toilet", "closet", "storage", "dressing room", "laundry", "pantry")
"""Room kinds that may share a strip's depth with another room."""
_DOWN: Mapping[str, float] = _ROOMS["down"]
_SIZES = {4: 1, 6: 8, 9: 22, 12: 26, 15: 17, 18: 12, 21: 9, 24: 5, 28: 2}
_LEAST_EACH, _MOST_EACH = 8.6, 18.0
"""Square metres per room, halls included: plans are usually found within these limits."""


@dataclass(frozen=True)
class RoomRequest:
    """Room to be planned: its kind and approximate area in square metres."""

    kind: str
    area: float


@dataclass(frozen=True)
class StoreyRooms:
    """Rooms that a storey must hold besides halls, stairs and lifts."""

    floor: int
    rooms: tuple[RoomRequest, ...]
    outdoors: tuple[RoomRequest, ...]
    halls: int
    """0: all doors open onto the living room."""


@dataclass(frozen=True)
class HomeExtent:
    """Size of a home: total regions, floors, and indoor floor area in square metres."""

    rooms: int
    floors: int
    area: float


@dataclass(frozen=True)
class RoomProgramme:
    """Room programme of a home, storey by storey."""

    storeys: tuple[StoreyRooms, ...]
    elevator: bool
    shape: HallShape


def min_rooms(floors: int) -> int:
    """Return the least number of regions for a number of floors, stairs and halls included."""
    return {1: 4, 2: 7, 3: 11}[floors]


def min_floor_area(rooms: int, floors: int) -> float:
    """Return the least floor area for a number of rooms."""
    return max(SMALLEST, _LEAST_EACH * rooms, 36.0 * floors if floors > 1 else 0.0)


def max_floor_area(rooms: int) -> float:
    """Return the maximum floor area that rooms of usual size can fill."""
    return _MOST_EACH * rooms + 10


def draw_extent(dice: Rng, spec: HomeSpec) -> HomeExtent:
    """Sample the size of a home where the options leave it open.

    Raises:
        SceneError: the options contradict each other; the message says how.
    """
    _possible(spec)
    rooms = spec.rooms if spec.rooms is not None else _draw_rooms(dice, spec)
    floors = spec.floors if spec.floors is not None else _draw_floors(dice, rooms, spec)
    if spec.area is not None:
        return HomeExtent(rooms, floors, float(spec.area))
    low = min_floor_area(rooms, floors)
    high = min(LARGEST, max_floor_area(rooms))
    return HomeExtent(rooms, floors, min(high, max(low * 1.08, rooms * dice.between(9.0, 17.0))))


def draw_programme(dice: Rng, extent: HomeExtent, shape: HallShape) -> RoomProgramme:
    """Return the sampled rooms of a home, by storey, for its size and hall shape."""
    rooms, floors = extent.rooms, extent.floors
    halls = [int(shape != "open")] + [1] * (floors - 1)
    if halls[0] and shape != "central" and rooms >= 14 and dice.chance(0.3):
        halls[0] += 1
    elevator = floors > 1 and rooms >= 12 and dice.chance(0.2)
    spare = rooms - sum(halls) - (floors - 1) - floors * elevator
    kinds = _kinds(dice, spare, rooms)
    return RoomProgramme(_storeys(dice, kinds, floors, extent.area, halls), elevator, shape)


def _possible(spec: HomeSpec) -> None:
    floors, rooms, area = spec.floors or 1, spec.rooms, spec.area
    if rooms is not None and rooms < min_rooms(floors):
        raise SceneError(
            f"rooms={rooms} with floors={floors}: a home of {floors} floors has at least "
            f"{min_rooms(floors)} rooms, stairs and halls counted. Ask for more, or for fewer "
            "floors."
        )
    least = min_floor_area(rooms or min_rooms(floors), floors)
    if area is not None and area < least:
        raise SceneError(
            f"area={area} is too small: {_wish(rooms, floors)} need at least {least:.0f} square "
            "metres. Ask for more, or for less to fit in."
        )
    if area is not None and rooms is not None and area > max_floor_area(rooms):
        raise SceneError(
            f"area={area} is too large for rooms={rooms}: they would be halls, not rooms; expected "
            f"at most {max_floor_area(rooms):.0f} square metres. Ask for more rooms."
        )


def _wish(rooms: int | None, floors: int) -> str:
    return f"{floors} floors" if rooms is None else f"{rooms} rooms on {floors} floors"


def _draw_rooms(dice: Rng, spec: HomeSpec) -> int:
    low, high = min_rooms(spec.floors or 1), MOST_ROOMS
    if spec.area is not None:
        high = min(high, int(spec.area / _LEAST_EACH))
        low = max(low, -int(-(spec.area - 10) // _MOST_EACH))
        while min_floor_area(low, spec.floors or 1) > spec.area:
            low -= 1
    drawn = dice.weighted(_SIZES) + dice.whole(-1, 1)
    if spec.area is not None:
        drawn = round(spec.area / dice.between(9.5, 16.0))
    return min(max(drawn, low), max(low, high))


def _draw_floors(dice: Rng, rooms: int, spec: HomeSpec) -> int:
    if rooms <= 7:
        weights = {1: 1.0}
    elif rooms <= 10:
        weights = {1: 0.5, 2: 0.5}
    elif rooms <= 14:
        weights = {1: 0.3, 2: 0.62, 3: 0.08}
    elif rooms <= 19:
        weights = {1: 0.12, 2: 0.43, 3: 0.45}
    else:
        weights = {1: 0.03, 2: 0.42, 3: 0.55}
    area = spec.area if spec.area is not None else LARGEST
    return dice.weighted(
        {
            floors: weight
            for floors, weight in weights.items()
            if rooms >= min_rooms(floors) and area >= min_floor_area(rooms, floors)
        }
    )


def _kinds(dice: Rng, spare: int, rooms: int) -> list[str]:
    have = Counter({"living room": 1, "kitchen": 1, "bedroom": 1, "bathroom": 1})
    while sum(have.values()) < spare:
        weights = {}
        for name, kind in KINDS.items():
            if have[name] >= kind.limit or rooms < kind.rooms or not kind.share:
                continue
            weights[name] = max(kind.share * rooms * 1.15 - have[name], kind.share * 0.3)
        if have["bathroom"] >= have["bedroom"]:
            weights.pop("bathroom", None)
        if have["closet"] + have["dressing room"] > have["bedroom"]:
            weights.pop("closet", None)
        have[dice.weighted(weights)] += 1
    return [kind for kind in KINDS for _ in range(have[kind])]


def _storeys(
    dice: Rng, kinds: list[str], floors: int, area: float, halls: list[int]
) -> tuple[StoreyRooms, ...]:
    where: list[list[str]] = [[] for _ in range(floors)]
    first = Counter[str]()
    for kind in kinds:
        first[kind] += 1
        if floors == 1 or dice.chance(_DOWN.get(kind, 0.0)):
            floor = 0
        elif kind == "balcony":
            floor = dice.whole(0, floors - 1)
        else:
            floor = _emptiest(where[1:]) + 1
        where[floor].append(kind)
    _balance(where)
    built = [fsum(_gross(kind) for kind in storey) + 10 for storey in where]
    areas = [area * part / fsum(built) for part in built]
    found = []
    for i, storey in enumerate(where):
        inside = [kind for kind in storey if kind != "balcony"]
        sizes = _sized(dice, inside, areas[i] * (0.86 if halls[i] else 1.0))
        rooms = tuple(RoomRequest(kind, size) for kind, size in zip(inside, sizes, strict=True))
        outdoors = tuple(
            RoomRequest("balcony", dice.between(4, 16)) for _ in range(len(storey) - len(inside))
        )
        found.append(StoreyRooms(i + 1, rooms, outdoors, halls[i]))
    return tuple(found)


def _gross(kind: str) -> float:
    return 0.0 if kind == "balcony" else KINDS[kind].usual


def _emptiest(storeys: list[list[str]]) -> int:
    load = [fsum(_gross(kind) for kind in storey) for storey in storeys]
    return load.index(min(load))


def _balance(where: list[list[str]]) -> None:
    """Move rooms so that no storey is larger than the one below; bathrooms go to bedrooms."""
    for above in range(len(where) - 1, 0, -1):
        below = above - 1
        while True:
            load = [fsum(_gross(kind) for kind in storey) for storey in where]
            movable = [k for k in where[above] if KINDS[k].zone != "public" and k != "balcony"]
            if load[above] <= load[below] * 1.02 + 4 or len(movable) < 2:
                break
            kind = max(movable, key=lambda k: (movable.count(k), _gross(k)))
            where[above].remove(kind)
            where[below].append(kind)
    for storey in where:
        if "bedroom" in storey and "bathroom" not in storey:
            giver = max(where, key=lambda other: other.count("bathroom"))
            if giver.count("bathroom") > 1:
                giver.remove("bathroom")
                storey.append("bathroom")
    if not {"toilet", "bathroom"} & set(where[0]):
        _toilet_below(where)


def _toilet_below(where: list[list[str]]) -> None:
    """Ensure a toilet on the ground floor: from upstairs, else in place of a minor room."""
    for storey in where[1:]:
        if "toilet" in storey:
            storey.remove("toilet")
            where[0].append("toilet")
            return
    for spare in ("closet", "storage", "pantry", "office", "library", "laundry"):
        if spare in where[0]:
            where[0].remove(spare)
            where[0].append("toilet")
            return
    for spare in ("bathroom", "closet", "dressing room", "office", "bedroom"):
        giver = max(where[1:], key=lambda storey: storey.count(spare))
        if giver.count(spare) > (spare in ("bathroom", "bedroom")):
            giver.remove(spare)
            where[0].append("toilet")
            return


def _sized(dice: Rng, kinds: list[str], area: float) -> list[float]:
    """Sample room areas that sum to about this area, each within the limits of its kind."""
    usual = [KINDS[kind].usual * dice.between(0.8, 1.25) for kind in kinds]
    low, high = 0.3, 4.0
    sizes: list[float] = []
    for _ in range(9):
        by = (low + high) / 2
        sizes = [
            min(max(each * by, KINDS[kind].least * 1.03), KINDS[kind].most)
            for kind, each in zip(kinds, usual, strict=True)
        ]
        low, high = (by, high) if fsum(sizes) < area else (low, by)
    return [round(size, 2) for size in sizes]
