"""A furnished home keeps the catalogue's promises, checked from its items alone, with shapely."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product

import pytest
from shapely import Point, Polygon, STRtree, box, unary_union
from shapely.geometry.base import BaseGeometry

from navloom.errors import SceneError
from navloom.scenes.lexicon import classify
from navloom.scenes.scene import Box, Item
from navloom_worlds.homes.catalogue import active_catalogue
from navloom_worlds.homes.floorplan import Floorplan, PlannedRoom
from navloom_worlds.homes.furnisher import Furnishing, furnish_home
from navloom_worlds.homes.home_names import HomeSpec
from navloom_worlds.homes.placement import PlacedItem
from navloom_worlds.homes.plan_generator import plan_home
from navloom_worlds.homes.rng import Rng
from worlds.tests.homes.small_plans import HOME, MORE

TINY = 0.0011
"""Metres: a corner of what stands askew is rounded."""
SEEDS = range(12)
CASES = [("home", seed) for seed in SEEDS[:4]] + [("more", seed) for seed in SEEDS[:4]]
CASES += [("drawn", seed) for seed in SEEDS]


@cache
def furnished(name: str, seed: int) -> tuple[Floorplan, Furnishing]:
    plan = {"home": HOME, "more": MORE}.get(name) or plan_home(Rng("plan", seed), HomeSpec())
    return plan, furnish_home(plan, Rng("furniture", seed))


def body(item: Item) -> Polygon:
    assert item.size is not None
    return Polygon(Box(center=item.position, size=item.size, yaw=item.yaw).corners())


def heights(item: Item) -> tuple[float, float]:
    assert item.size is not None
    return item.position[1] - item.size[1] / 2, item.position[1] + item.size[1] / 2


def outline(room: PlannedRoom) -> Polygon:
    return Polygon([(x / 1000, z / 1000) for x, z in room.outline])


def by_room(plan: Floorplan, made: Furnishing) -> list[tuple[PlannedRoom, list[Item]]]:
    groups = defaultdict(list)
    for item in made.items:
        groups[item.region].append(item)
    return [(room, groups[room.id]) for room in plan.rooms]


def carriers(item: Item, by_id: dict[str, Item]) -> set[str]:
    found: set[str] = set()
    while item.on is not None:
        found.add(item.on)
        item = by_id[item.on]
    return found


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_everything_is_in_its_room_and_nothing_overlaps(name: str, seed: int) -> None:
    plan, made = furnished(name, seed)
    by_id = {item.id: item for item in made.items}
    assert len(by_id) == len(made.items) > 40
    ceilings = {storey.floor: storey.ceiling / 1000 for storey in plan.storeys}
    for room, items in by_room(plan, made):
        shape, level = outline(room).buffer(TINY), room.level / 1000
        shapes = [body(item) for item in items]
        if not items:
            continue
        for item, each in zip(items, shapes, strict=True):
            assert shape.covers(each), item
            low, high = heights(item)
            assert level - 1e-9 <= low < high <= level + ceilings[room.floor] + 1e-9, item
        for i, j in STRtree(shapes).query(shapes, predicate="intersects").T:
            a, b = items[i], items[j]
            if i >= j or "rug" in (a.shape, b.shape):
                continue
            if b.id in carriers(a, by_id) or a.id in carriers(b, by_id):
                continue
            (low, high), (bottom, top) = heights(a), heights(b)
            if low < top - 1e-9 and bottom < high - 1e-9:
                assert shapes[i].intersection(shapes[j]).area < TINY * 2, (a, b)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_doors_swing_and_the_floor_before_them_is_free(name: str, seed: int) -> None:
    plan, made = furnished(name, seed)
    rooms = {room.number: room for room in plan.rooms}
    groups = {room.id: items for room, items in by_room(plan, made)}
    for door in plan.doorways:
        (x0, z0), (x1, z1) = ((x / 1000, z / 1000) for x, z in door.jambs)
        reach = door.thickness / 2000 + 0.5
        lane = box(
            min(x0, x1) - (reach if x0 == x1 else 0), min(z0, z1) - (reach if z0 == z1 else 0),
            max(x0, x1) + (reach if x0 == x1 else 0), max(z0, z1) + (reach if z0 == z1 else 0),
        )  # fmt: skip
        for number in (door.a, door.b):
            if number is None:
                continue
            room = rooms[number]
            zones = [lane.intersection(outline(room))]
            if door.swing is not None and door.swings_into == number:
                zones.append(Polygon([(x / 1000, z / 1000) for x, z in door.swing]))
            for item in groups[room.id]:
                low, _ = heights(item)
                if low - room.level / 1000 >= door.height / 1000 - 0.2 or item.shape == "rug":
                    continue
                for zone in zones:
                    assert zone.intersection(body(item)).area < TINY, (door, item)


def floor_of_a_person(room: PlannedRoom, items: Sequence[Item]) -> BaseGeometry:
    """Where the middle of a person of 0.3 m radius may be, among what stands in a room."""
    things = [
        body(item).buffer(0.299, cap_style="square", join_style="mitre")
        for item in items
        if heights(item)[0] < room.level / 1000 + 1.8
        and heights(item)[1] > room.level / 1000 + 0.05
    ]
    return outline(room).buffer(-0.299, join_style="mitre").difference(unary_union(things))


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_person_walks_from_every_door_to_every_other(name: str, seed: int) -> None:
    plan, made = furnished(name, seed)
    for room, items in by_room(plan, made):
        free = floor_of_a_person(room, items)
        parts = list(getattr(free, "geoms", [free]))
        seen = set()
        for door in plan.doorways:
            if room.number in (door.a, door.b):
                (x0, z0), (x1, z1) = door.jambs
                at = Point((x0 + x1) / 2000, (z0 + z1) / 2000)
                near = min(range(len(parts)), key=lambda i: parts[i].distance(at))
                assert parts[near].distance(at) < 0.45, (room, door)
                seen.add(near)
        assert len(seen) <= 1, room


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_what_stands_on_a_thing_stands_at_its_surface_within_its_edges(
    name: str, seed: int
) -> None:
    _, made = furnished(name, seed)
    by_id = {item.id: item for item in made.items}
    carried = [item for item in made.items if item.on is not None]
    assert carried
    for item in carried:
        holder = by_id[item.on or ""]
        assert holder.region == item.region
        assert body(holder).buffer(TINY * 2).covers(body(item)), (item, holder)
        low, _ = heights(item)
        bottom, top = heights(holder)
        assert bottom <= low <= top + 1e-9, (item, holder)
    for a, b in combinations(carried, 2):
        if a.on == b.on and heights(a)[0] == heights(b)[0]:
            assert body(a).intersection(body(b)).area < TINY, (a, b)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_names_are_of_the_kind_that_the_lexicon_knows(name: str, seed: int) -> None:
    _, made = furnished(name, seed)
    for item in made.items:
        assert item.kind == classify(item.name)
        assert None not in (item.shape, item.colour, item.material, item.mass)


def test_the_same_draws_give_the_same_home_and_others_another() -> None:
    plan = HOME
    assert furnish_home(plan, Rng("a", 1)) == furnish_home(plan, Rng("a", 1))
    assert furnish_home(plan, Rng("a", 1)) != furnish_home(plan, Rng("a", 2))


@pytest.mark.slow
def test_clutter_and_style_are_as_wished() -> None:
    counts = []
    for clutter in ("tidy", "lived-in", "cluttered"):
        made = [furnish_home(HOME, Rng("c", n), clutter=clutter, style="rustic") for n in range(6)]
        assert {each.style for each in made} == {"rustic"}
        assert {each.clutter for each in made} == {clutter}
        counts.append(sum(len(each.items) for each in made))
    assert counts == sorted(counts)
    with pytest.raises(SceneError, match="Did you mean 'rustic'"):
        furnish_home(HOME, Rng(1), style="rustik")


def test_things_that_belong_together_stand_together() -> None:
    made = [furnished("home", seed)[1] for seed in SEEDS[:4]]
    assert all("Dining_room_7" in {item.region for item in each.items} for each in made)
    for each in made:
        here = [item for item in each.items if item.region == "Dining_room_7"]
        tables = [item for item in here if item.name in ("dining table", "table")]
        for chair in here:
            if chair.name == "dining chair":
                assert min(body(chair).distance(body(table)) for table in tables) < 0.5
        keyboards = [item for item in each.items if item.name == "keyboard"]
        assert all((item.on or "").startswith("desk") for item in keyboards)


def test_the_catalogue_is_as_large_as_it_says() -> None:
    kinds = [entry.kind for entry in active_catalogue().entries.values()]
    assert kinds.count("asset") >= 80
    assert kinds.count("object") >= 140


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_nothing_tall_stands_before_a_window(name: str, seed: int) -> None:
    plan, made = furnished(name, seed)
    rooms = {room.number: room for room in plan.rooms}
    groups = {room.id: items for room, items in by_room(plan, made)}
    for window in plan.windows:
        room = rooms[window.room]
        (x0, z0), (x1, z1) = ((x / 1000, z / 1000) for x, z in window.jambs)
        reach = window.thickness / 2000 + 0.2
        before = box(
            min(x0, x1) - (reach if x0 == x1 else 0), min(z0, z1) - (reach if z0 == z1 else 0),
            max(x0, x1) + (reach if x0 == x1 else 0), max(z0, z1) + (reach if z0 == z1 else 0),
        )  # fmt: skip
        sill, head = (room.level + window.sill) / 1000, (room.level + window.head) / 1000
        for item in groups[room.id]:
            low, high = heights(item)
            if item.on is None and item.shape != "curtain" and low < head and high > sill + TINY:
                assert before.intersection(body(item)).area < TINY, (window, item)


@pytest.mark.parametrize("seed", SEEDS)
def test_bedrooms_have_a_wardrobe_and_no_bed_has_its_head_at_a_window(seed: int) -> None:
    plan, made = furnished("drawn", seed)
    for room, items in by_room(plan, made):
        if room.kind != "bedroom":
            continue
        assert "wardrobe" in {item.name for item in items}, room
        walls = outline(room).exterior
        for bed in items:
            if bed.name != "bed" or bed.size is None:
                continue
            x, _, z = bed.position
            back = bed.size[2] / 2
            head = Point(x - back * math.sin(bed.yaw), z + back * math.cos(bed.yaw))
            assert walls.distance(head) < 0.1, bed
            for window in (each for each in plan.windows if each.room == room.number):
                (x0, z0), (x1, z1) = ((x / 1000, z / 1000) for x, z in window.jambs)
                hole = box(min(x0, x1), min(z0, z1), max(x0, x1), max(z0, z1))
                reach = window.thickness / 2000 + TINY
                assert hole.distance(head) > reach, (window, bed)


USED = ("toilet", "stove", "stovetop", "refrigerator", "fridge", "wardrobe", "washing machine")


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_one_can_stand_before_what_is_used(name: str, seed: int) -> None:
    """A quarter of a metre before it nothing stands, but for what hangs flat at a side wall."""
    plan, made = furnished(name, seed)
    found = 0
    for _, items in by_room(plan, made):
        for item in items:
            if item.name not in USED or item.size is None:
                continue
            found += 1
            x, z = item.position[0], item.position[2]
            away = item.size[2] / 2 + 0.125
            x, z = x + away * math.sin(item.yaw), z - away * math.cos(item.yaw)
            size = (item.size[0] - 0.01, 1.0, 0.24)
            before = Polygon(Box(center=(x, 0, z), size=size, yaw=item.yaw).corners())
            for other in items:
                flat = other.shape in ("rug", "curtain") or (other.size or (0, 0, 0))[2] <= 0.06
                if other.on is None and heights(other)[0] < heights(item)[0] + 1.5 and not flat:
                    assert before.intersection(body(other)).area < TINY, (item, other)
    assert found


def test_a_place_on_a_thing_that_stands_askew_is_where_its_box_says() -> None:
    chair = active_catalogue().entries["office chair"]
    for quarter, tilt in product(range(4), (-20, -10, 0, 15)):
        thing = PlacedItem(1, chair, (600, 900, 640), 1000, 2000, 0, quarter, tilt)
        turn = math.radians(90 * quarter + tilt)
        corners = Box(center=(1, 0, 2), size=(0.6, 1, 0.64), yaw=turn).corners()
        spots = [(-300, -320), (300, -320), (300, 320), (-300, 320)]
        for (u, w), (x, z) in zip(spots, corners, strict=True):
            assert thing.place(u, w) == pytest.approx((x * 1000, z * 1000), abs=3)
        x0, z0, x1, z1 = thing.rect
        assert x0 <= min(x for x, _ in corners) * 1000 + 1
        assert x1 >= max(x for x, _ in corners) * 1000 - 1
        assert z0 <= min(z for _, z in corners) * 1000 + 1
        assert z1 >= max(z for _, z in corners) * 1000 - 1


def test_hoods_hang_over_stoves_and_mirrors_over_basins() -> None:
    over: dict[str, list[str]] = defaultdict(list)
    for name, seed in CASES:
        _, made = furnished(name, seed)
        by_id = {item.id: item for item in made.items}
        for relation in made.relations:
            if relation.kind == "above":
                over[by_id[relation.a].name].append(by_id[relation.b].name)
    hoods = over["range hood"] + over["ventilation hood"]
    assert hoods
    assert set(hoods) <= {"stove", "oven", "stovetop"}
    assert {"sink", "washbasin", "sink cabinet", "wash cabinet"} & set(over["mirror"])


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_person_can_come_to_all_furniture(name: str, seed: int) -> None:
    """From the first door to 0.45 m, along both axes, from each thing that stands on the floor."""
    plan, made = furnished(name, seed)
    for room, items in by_room(plan, made):
        doors = [door for door in plan.doorways if room.number in (door.a, door.b)]
        stand = [
            item for item in items if item.on is None and heights(item)[0] * 1000 < room.level + 50
        ]
        if not doors or not stand:
            continue
        free = floor_of_a_person(room, items)
        (x0, z0), (x1, z1) = doors[0].jambs
        at = Point((x0 + x1) / 2000, (z0 + z1) / 2000)
        walked = min(getattr(free, "geoms", [free]), key=lambda part: part.distance(at))
        for item in stand:
            if item.shape != "rug":
                assert walked.distance(body(item)) < 0.45 * math.sqrt(2) + 0.06, item
