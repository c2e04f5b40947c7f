"""A plan in millimetres becomes a scene in metres, with every field where it belongs."""

from __future__ import annotations

import networkx as nx
import pytest

from navloom.scenes.floor_graph import BlockedError
from navloom.scenes.scene import Item, Relation, Scene
from navloom_worlds.homes.floorplan import (
    Doorway,
    Floorplan,
    PlannedRoom,
    PlannedStorey,
    PlannedWall,
    StairFlight,
    Window,
)
from navloom_worlds.homes.home_generator import build_scene

# An L of a living room with stairs along its lower wall, a kitchen in its notch a step lower, and
# a bedroom above.
PLAN = Floorplan(
    storeys=(
        PlannedStorey(1, 0, 2600, ((-200, -200), (8200, -200), (8200, 6200), (-200, 6200))),
        PlannedStorey(2, 2900, 2500, ((-200, -200), (8200, -200), (8200, 6200), (-200, 6200))),
    ),
    rooms=(
        PlannedRoom(
            1, "living room", "public", 1,
            ((0, 0), (5000, 0), (5000, 3000), (8000, 3000), (8000, 6000), (0, 6000)), 0,
        ),
        PlannedRoom(
            2, "kitchen", "public", 1, ((5100, 0), (8000, 0), (8000, 2900), (5100, 2900)), -150
        ),
        PlannedRoom(3, "bedroom", "private", 2, ((0, 0), (8000, 0), (8000, 4700), (0, 4700)), 2900),
    ),
    doorways=(
        Doorway(
            1, 2, "hinged", ((5050, 1000), (5050, 1850)), 100, threshold=20, state="open",
            hinge=1, swings_into=2,
            swing=((5100, 1000), (5950, 1000), (5950, 1850), (5100, 1850)),
        ),
        Doorway(1, None, "hinged", ((-100, 1000), (-100, 1900)), 200, state="closed"),
    ),
    windows=(Window(2, ((6000, -100), (7200, -100)), 200, 900, 2100),),
    flights=(
        StairFlight(
            "stairs", 1, 3,
            tuple((1500 + i * 250, 4900, 1750 + i * 250, 5900, (i + 1) * 170) for i in range(16)),
            (), ((1500, 0, 5400), (5500, 2900, 5400), (5500, 2900, 4600)), 1000,
        ),
    ),
    walls=(PlannedWall((5050, 0), (5050, 1000), 0, 2600, 100),),
)  # fmt: skip


def item(x: float, z: float) -> Item:
    return Item(
        id="1.1",
        name="sofa",
        kind="asset",
        region="Living_room_1",
        position=(x, 0.4, z),
        size=(2.0, 0.8, 0.9),
    )


def made(*items: Item, relations: tuple[Relation, ...] = ()) -> Scene:
    return build_scene(PLAN, items, relations, id="7", source="home", notes=("hand-made",))


def test_rooms_links_and_openings_are_in_metres() -> None:
    home = made(item(2.5, 0.5))
    assert home.uri == "home:7"
    living, kitchen, _ = home.regions
    assert living.id == "Living_room_1"
    assert living.polygon is not None
    assert living.polygon[3] == (8.0, 3.0)
    assert living.center == (2.5, 0.0, 3.0), "the middle of the larger part of the L"
    assert living.box is not None
    assert living.box.size == (8.0, 2.6, 6.0)
    assert kitchen.center == (6.55, -0.15, 1.45)
    door, up = home.links
    assert (door.kind, door.leaf, door.door) == ("door", "hinged", "open")
    assert (door.width, door.height, door.threshold, door.step) == (0.85, 2.05, 0.02, -0.15)
    assert door.point == (5.05, 0.0, 1.425)
    assert door.jambs == ((5.05, 1.0), (5.05, 1.85))
    assert door.swing is not None
    assert door.swing[0] == (5.1, 1.85), "the corner at the hinge"
    assert len(door.swing) == 4
    assert (up.kind, up.width, up.step) == ("stairs", 1.0, 2.9)
    out, window = home.openings
    assert (out.kind, out.region, out.bottom) == ("door", "Living_room_1", 0.0)
    assert (window.bottom, window.height) == (0.75, 1.2), "above the kitchen's own floor"
    assert home.walls[0].thickness == 0.1
    assert [floor.height for floor in home.floors] == [0.0, 2.9]


def test_stairs_are_solid_and_walked() -> None:
    home = made()
    (stairs,) = home.stairs
    assert stairs.treads[0].bottom == pytest.approx(0)
    assert [round(tread.top, 3) for tread in stairs.treads[:2]] == [0.17, 0.34]
    assert stairs.line[0] == (1.5, 0.0, 5.4)
    assert nx.is_connected(home.navigation_graph())
    assert {v.region for v in home.viewpoints} == {region.id for region in home.regions}


def test_furniture_in_somebodys_way_is_refused() -> None:
    with pytest.raises(BlockedError, match="Living_room_1"):
        made(item(4.5, 1.4))


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([item(7.5, 4.5)], "Living_room_1: 1.1 is not inside"),
        ([item(2.5, 4.5).model_copy(update={"position": (2.5, 2.4, 4.0)})], "floor or the ceiling"),
        ([item(2.5, 0.5), item(3.5, 1.2).model_copy(update={"id": "1.2"})], "1.1 and 1.2 overlap"),
        (
            [
                item(5.5, 2.0).model_copy(
                    update={
                        "region": "Kitchen_2",
                        "size": (0.4, 0.8, 0.9),
                        "position": (5.5, 0.25, 2),
                    }
                )
            ],
            "Kitchen_2: 1.1 stands where a door sweeps",
        ),
        (
            [item(3.0, 5.4).model_copy(update={"position": (3, 0.01, 5.4), "size": (1, 0.02, 1)})],
            "Living_room_1: 1.1 is on stairs",
        ),
    ],
)
def test_furniture_that_cannot_be_there_is_refused(others: list[Item], words: str) -> None:
    with pytest.raises(BlockedError, match=words):
        made(*others)


def test_what_is_in_or_on_a_thing_and_a_rug_may_share_its_space() -> None:
    sofa = item(2.5, 0.5)
    inside = sofa.model_copy(update={"id": "1.2", "size": (0.3, 0.3, 0.3)})
    rug = sofa.model_copy(update={"id": "1.3", "position": (2.5, 0.01, 1.0), "size": (2, 0.02, 2)})
    within = Relation(a="1.2", kind="in", b="1.1")
    assert len(made(sofa, inside, rug, relations=(within,)).items) == 3
    assert len(made(sofa, inside.model_copy(update={"on": "1.1"}), rug).items) == 3
    with pytest.raises(BlockedError, match="overlap"):
        made(sofa, inside, rug)


def test_relations_are_kept() -> None:
    sofa, rug = item(2.5, 0.5), item(2.5, 2.0).model_copy(update={"id": "1.2"})
    facing = Relation(a="1.1", kind="facing", b="1.2")
    assert made(sofa, rug, relations=(facing,)).relations == (facing,)
