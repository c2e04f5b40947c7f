"""Each kind of fault, planted in a plan without any, is found and said in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from navloom_worlds.homes.floorplan import Doorway, Floorplan, PlannedRoom, Spot
from navloom_worlds.homes.home_names import HomeSpec
from navloom_worlds.homes.plan_checks import plan_faults
from navloom_worlds.homes.plan_generator import plan_home
from navloom_worlds.homes.rectilinear import to_rect
from navloom_worlds.homes.rng import Rng

PLAN = plan_home(Rng("home", 11), HomeSpec(rooms=14, floors=2))
Plant = Callable[[Floorplan], Floorplan]


def with_room(plan: Floorplan, room: PlannedRoom) -> Floorplan:
    rooms = tuple(room if each.number == room.number else each for each in plan.rooms)
    return replace(plan, rooms=rooms)


def with_doorway(plan: Floorplan, old: Doorway, new: Doorway) -> Floorplan:
    return replace(plan, doorways=tuple(new if d is old else d for d in plan.doorways))


def of_kind(plan: Floorplan, kind: str) -> PlannedRoom:
    return next(room for room in plan.rooms if room.kind == kind)


def hinged(plan: Floorplan) -> Doorway:
    return next(d for d in plan.doorways if d.leaf == "hinged" and d.b is not None)


def shifted(spots: tuple[Spot, ...], x: int, z: int) -> tuple[Spot, ...]:
    return tuple((a + x, b + z) for a, b in spots)


def no_kitchen(plan: Floorplan) -> Floorplan:
    return with_room(plan, replace(of_kind(plan, "kitchen"), kind="office"))


def twice_the_number(plan: Floorplan) -> Floorplan:
    return replace(plan, rooms=(*plan.rooms[:-1], replace(plan.rooms[-1], number=1)))


def door_to_nowhere(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    return with_doorway(plan, door, replace(door, b=99))


def on_no_floor(plan: Floorplan) -> Floorplan:
    return with_room(plan, replace(plan.rooms[0], floor=4))


def crossed_outline(plan: Floorplan) -> Floorplan:
    room = of_kind(plan, "kitchen")
    x0, z0, x1, z1 = to_rect(room.outline)
    return with_room(plan, replace(room, outline=((x0, z0), (x1, z1), (x1, z0), (x0, z1))))


def unknown_kind(plan: Floorplan) -> Floorplan:
    return with_room(plan, replace(of_kind(plan, "kitchen"), kind="scullery"))


def overlapping(plan: Floorplan) -> Floorplan:
    a, b = plan.rooms[0], next(r for r in plan.rooms[1:] if r.floor == plan.rooms[0].floor)
    return with_room(plan, replace(b, outline=a.outline))


def sliver(plan: Floorplan) -> Floorplan:
    room = of_kind(plan, "bedroom")
    x0, z0, x1, _ = to_rect(room.outline)
    thin = ((x0, z0), (x1, z0), (x1, z0 + 900), (x0, z0 + 900))
    return with_room(plan, replace(room, outline=thin))


def outside(plan: Floorplan) -> Floorplan:
    room = of_kind(plan, "bedroom")
    return with_room(plan, replace(room, outline=shifted(room.outline, 40_000, 0)))


def in_the_air(plan: Floorplan) -> Floorplan:
    lower, upper = plan.storeys
    far = replace(upper, footprint=shifted(upper.footprint, 5_000, 0))
    return replace(plan, storeys=(lower, far))


def walled_in(plan: Floorplan) -> Floorplan:
    number = of_kind(plan, "bathroom").number
    return replace(plan, doorways=tuple(d for d in plan.doorways if number not in (d.a, d.b)))


def no_front_door(plan: Floorplan) -> Floorplan:
    return replace(plan, doorways=tuple(d for d in plan.doorways if d.b is not None))


def locked(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    return with_doorway(plan, door, replace(door, state="locked"))


def too_wide(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    (x0, z0), (x1, z1) = door.jambs
    far = (x1 + 900 * (x1 > x0) - 900 * (x1 < x0), z1 + 900 * (z1 > z0) - 900 * (z1 < z0))
    return with_doorway(plan, door, replace(door, jambs=((x0, z0), far)))


def off_the_wall(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    a, b = shifted(door.jambs, 70, 70)
    return with_doorway(plan, door, replace(door, jambs=(a, b)))


def front_door_within(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    return with_doorway(plan, door, replace(door, b=None))


def high_sill(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    return with_doorway(plan, door, replace(door, threshold=120))


def high_step(plan: Floorplan) -> Floorplan:
    room = of_kind(plan, "bedroom")
    return with_room(plan, replace(room, level=room.level - 400))


def twice_there(plan: Floorplan) -> Floorplan:
    return replace(plan, doorways=(*plan.doorways, hinged(plan)))


def into_a_wall(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    assert door.swing is not None
    return with_doorway(plan, door, replace(door, swing=shifted(door.swing, 9_000, 0)))


def without_swing(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    return with_doorway(plan, door, replace(door, swing=None))


def small_swing(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    assert door.swing is not None
    x0, z0, x1, z1 = to_rect(door.swing)
    less = ((x0, z0), (x1 - 100, z0), (x1 - 100, z1 - 100), (x0, z1 - 100))
    return with_doorway(plan, door, replace(door, swing=less))


def hitting(plan: Floorplan) -> Floorplan:
    return replace(plan, doorways=(*plan.doorways, replace(hinged(plan), threshold=5)))


def window_within(plan: Floorplan) -> Floorplan:
    door = hinged(plan)
    window = replace(plan.windows[0], room=door.a, jambs=door.jambs, thickness=door.thickness)
    return replace(plan, windows=(*plan.windows, window))


def dark_bedroom(plan: Floorplan) -> Floorplan:
    number = of_kind(plan, "bedroom").number
    return replace(plan, windows=tuple(w for w in plan.windows if w.room != number))


def uneven_riser(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    first = (*flight.treads[0][:4], flight.treads[0][4] + 60)
    return replace(plan, flights=(replace(flight, treads=(first, *flight.treads[1:])),))


def short_tread(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    x0, z0, _, _, top = flight.treads[0]
    first = (x0, z0, x0 + 120, z0 + 120, top)
    return replace(plan, flights=(replace(flight, treads=(first, *flight.treads[1:])),))


def small_landing(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    x0, z0, _, _, top = flight.landings[0]
    less = ((x0, z0, x0 + 300, z0 + 300, top), *flight.landings[1:])
    return replace(plan, flights=(replace(flight, landings=less),))


def stairs_elsewhere(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    treads = tuple((a + 9000, b, c + 9000, d, e) for a, b, c, d, e in flight.treads)
    return replace(plan, flights=(replace(flight, treads=treads),))


def stairs_to_nowhere(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    line = (*flight.line[:-1], (flight.line[-1][0] + 50_000, *flight.line[-1][1:]))
    return replace(plan, flights=(replace(flight, line=line),))


def stairs_too_low(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    x, height, z = flight.line[-1]
    return replace(plan, flights=(replace(flight, line=(*flight.line[:-1], (x, height - 300, z))),))


def stairs_within_a_storey(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    return replace(plan, flights=(replace(flight, upper=flight.lower),))


def roofed_stairs(plan: Floorplan) -> Floorplan:
    (flight,) = plan.flights
    well = next(room for room in plan.rooms if room.number == flight.lower)
    other = next(r for r in plan.rooms if r.floor == 2 and r.kind == "bedroom")
    return with_room(plan, replace(other, outline=well.outline))


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (no_kitchen, "no kitchen"),
        (twice_the_number, "room number 1 stands twice"),
        (door_to_nowhere, "a doorway names rooms"),
        (on_no_floor, "is on floor 4"),
        (crossed_outline, "has no simple outline"),
        (unknown_kind, "no known kind of room"),
        (overlapping, " overlap"),
        (sliver, "is narrower than 2600 mm"),
        (outside, "lies outside the house"),
        (in_the_air, "storey 2 stands on nothing"),
        (walled_in, "has no way in"),
        (no_front_door, "no door leads out"),
        (locked, "has the state locked"),
        (too_wide, "mm wide; expected 680 to 1200"),
        (off_the_wall, "is not in a wall of theirs"),
        (front_door_within, "does not lead out"),
        (high_sill, "has a sill of 120 mm"),
        (high_step, "has a step of more than"),
        (twice_there, "overlap"),
        (into_a_wall, "swings into a wall"),
        (without_swing, "expected a swing where it is hinged"),
        (small_swing, "sweeps another square than its own"),
        (hitting, "hit each other"),
        (window_within, "is not in an outer wall of it"),
        (dark_bedroom, "has no window"),
        (uneven_riser, "have a riser of"),
        (short_tread, "have a tread of"),
        (small_landing, "have a landing of less than"),
        (stairs_elsewhere, "lie outside it"),
        (stairs_to_nowhere, "do not begin in"),
        (stairs_too_low, "mm; expected"),
        (stairs_within_a_storey, "not to the next storey"),
        (roofed_stairs, "lies over them"),
    ],
)
def test_a_planted_fault_is_found(plant: Plant, said: str) -> None:
    assert plan_faults(PLAN) == []
    assert any(said in fault for fault in plan_faults(plant(PLAN)))
