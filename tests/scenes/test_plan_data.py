"""What a plan draws, as data: walls cut, doors as they stand, stairs, windows, things by shape."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import pytest
from shapely.geometry import Polygon

from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_sheet import draw_plan
from navloom.scenes.plan_style import UNTOLD
from navloom.scenes.scene import (
    Box,
    Edge,
    Floor,
    Item,
    Link,
    Opening,
    Region,
    Scene,
    Stairs,
    Viewpoint,
    Wall,
)
from tests.scenes.test_plan_sheet import elements, texts


def square(name: str, x: float, floor: int = 1) -> Region:
    """A room of 4 m by 4 m whose lower left corner on the ground plane is (x, 0)."""
    corners = ((x, 0.0), (x + 4, 0.0), (x + 4, 4.0), (x, 4.0))
    y = 3.0 * (floor - 1)
    return Region(
        id=name, label=name.split("_")[0], floor=floor, center=(x + 2, y, 2), polygon=corners
    )


def house() -> Scene:
    """Two rooms and a hinged door between them, a window, a way out, stairs up to a third."""
    return Scene(
        id="house",
        source="made",
        floors=(Floor(id=1, height=0.0), Floor(id=2, height=3.0)),
        regions=(square("Kitchen_1", 0), square("Hall_2", 4.2), square("Bedroom_3", 4.2, floor=2)),
        links=(
            Link(
                a="Kitchen_1",
                b="Hall_2",
                kind="door",
                leaf="hinged",
                door="open",
                point=(4.1, 0, 1.4),
                width=0.8,
                jambs=((4.1, 1.0), (4.1, 1.8)),
                swing=((4.1, 1.0), (4.9, 1.0), (4.9, 1.8), (4.1, 1.8)),
            ),
            Link(a="Hall_2", b="Bedroom_3", kind="stairs", point=(5, 1.5, 2.5)),
        ),
        items=(
            Item(id="b", name="bed", kind="asset", region="Bedroom_3", position=(6, 3.25, 2),
                 size=(1.6, 0.5, 2.0), shape="bed"),
            Item(id="r", name="rug", kind="object", region="Bedroom_3", position=(6, 3.01, 2),
                 size=(2.0, 0.02, 3.0), shape="rug", yaw=math.pi / 2),
            Item(id="c", name="cup", kind="object", region="Kitchen_1", position=(1, 0.8, 1),
                 size=(0.1, 0.1, 0.1)),
            Item(id="l", name="lamp", kind="object", region="Kitchen_1", position=(2, 2.3, 2),
                 size=(0.4, 0.3, 0.4), shape="lamp"),
            Item(id="o", name="oven", kind="asset", region="Kitchen_1", position=(1, 0.4, 3)),
        ),
        viewpoints=(
            Viewpoint(id="v", position=(2, 0, 2), region="Kitchen_1"),
            Viewpoint(id="w", position=(6, 0, 2), region="Hall_2"),
            Viewpoint(id="u", position=(6, 3, 2), region="Bedroom_3"),
        ),
        edges=(Edge(a="v", b="w"), Edge(a="w", b="u")),
        walls=(
            Wall(a=(4.1, 0), b=(4.1, 1.0), bottom=0, height=2.7, thickness=0.2),
            Wall(a=(4.1, 1.0), b=(4.1, 1.8), bottom=2.05, height=0.65, thickness=0.2),
            Wall(a=(0, 0), b=(2, 0), bottom=0, height=0.9, thickness=0.3),
            Wall(a=(4.2, 0), b=(8.2, 0), bottom=3.0, height=2.7, thickness=0.3),
        ),
        openings=(
            Opening(kind="window", region="Kitchen_1", jambs=((0, 0), (2, 0)), bottom=0.9,
                    height=1),
            Opening(kind="door", region="Hall_2", jambs=((8.2, 1), (8.2, 2)), bottom=0, height=2,
                    leaf="hinged", swing=((8.2, 2), (7.2, 2), (7.2, 1), (8.2, 1))),
        ),
        stairs=(
            Stairs(
                a="Hall_2",
                b="Bedroom_3",
                treads=tuple(Box(center=(5, 0.1 * k, 3), size=(0.9, 0.2, 0.3)) for k in (1, 2)),
                line=((5, 0, 3), (5, 3, 2)),
            ),
        ),
    )  # fmt: skip


def test_walls_have_their_thickness_and_those_below_a_window_are_not_cut() -> None:
    ground, above = plan_data(house()).floors
    by_cut = {wall.cut: Polygon(wall.corners) for wall in ground.walls}
    assert len(ground.walls) == 2  # what is over a door is above the cut
    assert by_cut[True].bounds == pytest.approx((4.0, -1.0, 4.2, 0.0))
    assert by_cut[False].bounds == pytest.approx((0.0, -0.15, 2.0, 0.15))
    assert [wall.cut for wall in above.walls] == [True]
    assert ground.windows == (((0.0, 0.0), (2.0, 0.0)),)


def test_a_hinged_door_stands_as_its_state_says_and_sweeps_a_quarter_circle() -> None:
    inner, outer = plan_data(house()).floors[0].doors
    (hinge, edge), radius = inner.leaves[0], 0.8
    assert hinge == (4.1, -1.0)
    assert edge == pytest.approx((4.9, -1.0))  # open: square to the wall, into the hall
    assert inner.arc[0] == pytest.approx((4.1, -1.8))
    assert all(math.dist(hinge, point) == pytest.approx(radius) for point in inner.arc)
    assert outer.b is None
    assert outer.leaves == (((8.2, -2), (8.2, -1)),)  # closed: from jamb to jamb
    assert outer.arc[-1] == pytest.approx((7.2, -2))


def test_stairs_are_seen_from_both_floors_and_their_link_has_no_mark_of_its_own() -> None:
    ground, above = plan_data(house()).floors
    assert [flight.below for flight in (*ground.stairs, *above.stairs)] == [False, True]
    assert len(ground.stairs[0].treads) == 2
    assert [link.kind for link in ground.links] == []


def test_things_lie_from_the_floor_up_and_portable_ones_need_a_shape() -> None:
    ground, above = plan_data(house()).floors
    assert [item.id for item in above.items] == ["r", "b"]
    assert [item.id for item in ground.items] == ["o"]  # and no lamp under the ceiling
    assert ground.items[0].outline == ()
    rug, bed = above.items
    assert Polygon(rug.outline).bounds == pytest.approx((4.5, -3, 7.5, -1))  # turned
    pillows = [point for stroke in bed.strokes[:2] for point in stroke]
    assert max(y for _, y in pillows) < -2.4  # at the head: the back of what faces -z


def test_it_is_json_and_without_labels_tells_nothing() -> None:
    told = json.dumps(asdict(plan_data(house())))
    assert json.loads(told)["floors"][0]["rooms"][0]["label"] == "Kitchen 1"
    assert json.loads(told)["floors"][0]["viewpoints"] == {"v": [2.0, -2.0], "w": [6.0, -2.0]}
    (room, *_) = plan_data(house(), labels=False).floors[0].rooms
    assert (room.name, room.label) == ("Unknown_1", "room 1")
    assert room.tint == UNTOLD
    said = set(texts(draw_plan(house(), labels=False, items=True)))
    assert {"1", "2", "3"} <= said
    assert not any("itchen" in text for text in said)


def test_a_scene_without_such_geometry_has_none_of_it_drawn() -> None:
    bare = house().replace(walls=(), openings=(), stairs=(), links=(), items=())
    (ground, _) = plan_data(bare).floors
    assert (ground.walls, ground.doors, ground.windows, ground.stairs) == ((), (), (), ())
    layers = [
        {each.getAttribute("data-layer") for each in elements(draw_plan(scene), "g")}
        for scene in (bare, house())
    ]
    assert not layers[0] & {"walls", "stairs", "things"}
    assert layers[1] >= {"walls", "stairs"}
