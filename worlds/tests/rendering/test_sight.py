"""What is in sight of a viewpoint, and the words that come of it."""

from __future__ import annotations

import math

import pytest

from navloom.scenes.scene import Edge, Floor, Item, Link, Point3, Region, Scene, Viewpoint, Wall
from navloom.scenes.scene_uri import iter_scenes
from navloom.sim.caption_composer import ComposedCaptions
from navloom.sim.captions import captions_for
from navloom.sim.graph import candidates_of
from navloom.sim.protocol import MOST_DESCRIPTION
from navloom.sim.scene_images import can_render
from navloom_worlds.geometry.semantic_ids import item_owner
from navloom_worlds.rendering import embedded
from navloom_worlds.rendering import visible_captions as sight
from navloom_worlds.rendering.visible_captions import (
    RAYS,
    VisibleCaptions,
    scene_captions,
    viewpoint_sight,
)

pytest.importorskip("embreex")

SOFA = Item(
    id="sofa", name="sofa", kind="asset", region="Hall_1", position=(0, 0.4, -5.5), size=(2, 0.8, 1)
)
CUP = Item(
    id="cup", name="cup", kind="object", region="Hall_1", position=(1.5, 1, -5.4),
    size=(0.08, 0.1, 0.08),
)  # fmt: skip


def box(name: str, at: Point3, region: str, side: float = 0.5) -> Item:
    size = (side, side, side)
    return Item(id=name, name=name, kind="asset", region=region, position=at, size=size)


def two_rooms(*items: Item, door: str | None = None) -> Scene:
    """A hall, x from -3 to 3, z from -6 to 2, and a study behind its east wall.

    The way through is 1 m wide, at (3, 0, -2).
    """

    def wall(ax: float, az: float, bx: float, bz: float) -> Wall:
        return Wall(a=(ax, az), b=(bx, bz), bottom=0, height=2.5)

    jambs = ((3.0, -2.5), (3.0, -1.5))
    return Scene(
        id="two-rooms",
        floors=(Floor(id=1, height=0),),
        regions=(
            Region(id="Hall_1", label="hall", center=(0, 0, -2)),
            Region(id="Study_2", label="study", center=(5, 0, -2)),
        ),
        links=(
            Link(
                a="Hall_1", b="Study_2", kind="door", point=(3, 0, -2), width=1, height=2.1,
                door=door, jambs=jambs,
            ),
        ),
        items=items,
        viewpoints=tuple(
            Viewpoint(id=name, position=at, region=region)
            for name, at, region in (
                ("a", (0, 0, 0), "Hall_1"),
                ("b", (0, 0, -2), "Hall_1"),
                ("c", (0, 0, -4), "Hall_1"),
                ("door", (2.4, 0, -2), "Hall_1"),
                ("study", (4, 0, -2), "Study_2"),
            )
        ),
        edges=tuple(
            Edge(a=a, b=b)
            for a, b in (("a", "b"), ("b", "c"), ("b", "door"), ("door", "study"))
        ),
        walls=(
            wall(-3, 2, 3, 2), wall(-3, -6, 3, -6), wall(-3, -6, -3, 2),
            wall(3, -6, 3, -2.5), wall(3, -1.5, 3, 2),
            wall(3, 2, 7, 2), wall(3, -6, 7, -6), wall(7, -6, 7, 2),
        ),
    )  # fmt: skip


def test_the_solid_angle_heading_and_distances_of_a_box() -> None:
    """A square face of 1 m, 2 m ahead: 4 asin(0.25 / (4 + 0.25)) steradians."""
    cube = box("cube", (2.5, 1.5, 0), "Hall_1", side=1.0)
    (found,) = (s for s in viewpoint_sight(two_rooms(cube), "a").seen if s.owner == item_owner(0))
    assert found.steradians == pytest.approx(4 * math.asin(0.25 / 4.25), rel=0.03)
    assert math.degrees(found.heading) == pytest.approx(90, abs=0.5)
    assert found.elevation == pytest.approx(0, abs=0.01)
    assert found.nearest == pytest.approx(2, abs=0.01)
    assert 2 < found.median < 2.2
    half = math.degrees(math.atan(0.25))
    assert math.degrees(found.left) == pytest.approx(half, abs=1)
    assert math.degrees(found.right) == pytest.approx(half, abs=1)


def test_a_sofa_is_told_and_a_cup_beside_it_is_not() -> None:
    words = scene_captions(two_rooms(SOFA, CUP)).at("a")
    assert words.summary == "A hall with a sofa; from here one gets to the study."
    assert words.sectors[0] == "a sofa"
    assert words.objects == ()
    near = scene_captions(two_rooms(SOFA, CUP)).at("c").objects
    assert [each.name for each in near] == ["sofa", "cup"]


def test_a_long_thing_is_told_in_each_sector_whose_middle_it_covers() -> None:
    bench = Item(
        id="bench", name="bench", kind="asset", region="Hall_1", position=(0, 0.4, -3),
        size=(5.8, 0.8, 0.4),
    )  # fmt: skip
    words = scene_captions(two_rooms(bench, box("pot", (2.4, 0.5, -3.8), "Hall_1"))).at("b")
    assert words.sectors[7] == words.sectors[0] == "a bench"
    assert words.sectors[1] == "a pot, a bench"
    assert "bench" not in words.sectors[2]


def test_what_stands_behind_something_is_not_told() -> None:
    screen = Item(
        id="screen", name="screen", kind="asset", region="Hall_1", position=(0, 1.25, -4),
        size=(3, 2.5, 0.05),
    )  # fmt: skip
    words = scene_captions(two_rooms(SOFA, screen)).at("a")
    assert words.sectors[0] == "a screen"
    assert "sofa" not in words.summary


def test_the_largest_comes_first_whichever_is_nearer() -> None:
    small = box("stool", (0.3, 0.25, -1.5), "Hall_1", side=0.2)
    large = box("wardrobe", (0, 1, -3.5), "Hall_1", side=2.0)
    assert scene_captions(two_rooms(small, large)).at("a").sectors[0] == "a wardrobe, a stool"


@pytest.mark.parametrize("door", ["open", "closed"])
def test_the_next_room_is_seen_through_its_open_door(door: str) -> None:
    words = scene_captions(two_rooms(box("desk", (5, 0.5, -2), "Study_2"), door=door))
    way = words.at("b").sectors[2]
    if door == "open":
        assert way == "door to the study, beyond it a desk"
        assert words.towards("door", "study") == "leads to the study; desk"
    else:
        assert way == "closed door to the study"
        assert words.towards("door", "study") == "leads to the study"
    # From here the wall hides the desk, and the door is seen all the same.
    assert "desk" not in " ".join(words.at("c").sectors)
    assert words.at("c").sectors[3].endswith("door to the study")


def test_a_door_behind_a_wardrobe_is_not_told() -> None:
    block = Item(
        id="wardrobe", name="wardrobe", kind="asset", region="Hall_1", position=(1.5, 1.25, -2),
        size=(0.5, 2.5, 3),
    )  # fmt: skip
    words = scene_captions(two_rooms(block)).at("b")
    assert words.sectors[2] == "a wardrobe"
    assert words.summary == "A hall with a wardrobe."
    assert "door to the study" in scene_captions(two_rooms(block)).at("door").sectors[2]


def test_a_way_goes_by_what_nobody_sees_beyond_it() -> None:
    lamp = box("lamp", (2.7, 1, -1), "Hall_1")
    assert scene_captions(two_rooms(lamp)).towards("door", "study") == "leads to the study"
    scene = two_rooms(box("shelf", (2.7, 1, -3.2), "Hall_1"))
    straight = scene.replace(edges=(*scene.edges, Edge(a="b", b="study")))
    assert scene_captions(straight).towards("b", "study") == "leads to the study, by the shelf"


def test_an_empty_way_goes_towards_the_way_out_ahead() -> None:
    words = scene_captions(two_rooms())
    assert words.towards("a", "b") == "further in the hall, towards the study"
    assert not words.towards("b", "a").endswith("the study")


@pytest.mark.parametrize(("door", "said"), [("ajar", "half-open door"), ("locked", "locked door")])
def test_how_a_door_stands_is_told(door: str, said: str) -> None:
    assert scene_captions(two_rooms(door=door)).at("b").sectors[2] == f"{said} to the study"


def test_ways_in_the_same_words_are_told_apart() -> None:
    scene = two_rooms()
    scene = scene.replace(edges=(*scene.edges, Edge(a="a", b="c")), links=())
    said = [scene_captions(scene).towards("a", each) for each in ("b", "c")]
    assert said == ["further in the hall, 2.0 m on", "further in the hall, 4.0 m on"]
    around = scene.replace(
        viewpoints=tuple(
            v.model_copy(update={"position": (0, 0, -4)}) if v.id == "c" else v
            for v in scene.viewpoints
        )
    )
    assert (
        scene_captions(around).towards("b", "a") == "further in the hall, at 180 degrees of the map"
    )


def test_a_thing_whose_size_nobody_says_is_seen_where_nothing_hides_it() -> None:
    vase = Item(id="v", name="vase", kind="object", region="Hall_1", position=(0, 1, -2))
    hidden = vase.model_copy(update={"id": "h", "name": "globe", "position": (3.5, 1, 0)})
    assert [each.name for each in scene_captions(two_rooms(vase, hidden)).at("a").objects] == [
        "vase"
    ]


def test_a_changed_scene_has_words_of_its_own() -> None:
    scene = two_rooms(SOFA)
    assert "sofa" in scene_captions(scene).at("a").sectors[0]
    gone = scene.replace(items=())
    assert scene_captions(gone).at("a").sectors[0] == "nothing of note"


def test_who_cannot_look_goes_by_the_map(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = two_rooms(SOFA)
    assert isinstance(captions_for(scene), VisibleCaptions)
    assert isinstance(captions_for(scene.replace(walls=())), ComposedCaptions)
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    assert not can_render(scene)
    assert isinstance(captions_for(scene), ComposedCaptions)


def test_rays_are_spread_evenly() -> None:
    rays = sight._directions()
    assert rays.shape == (RAYS, 3)
    assert abs(rays.mean(axis=0)).max() < 1e-3
    above = (rays[:, 1] > math.sin(math.radians(30))).mean()
    assert above == pytest.approx(0.25, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["demo:", "home:0-1", pytest.param("home:2-19", marks=pytest.mark.slow)]
)
def test_no_two_ways_of_a_home_are_told_alike(spec: str) -> None:
    for scene in iter_scenes(spec):
        words = captions_for(scene)
        for viewpoint, ways in candidates_of(scene).items():
            said = [words.towards(viewpoint, way.viewpoint) for way in ways]
            assert len(set(said)) == len(said), f"{scene.uri} {viewpoint}: {said}"
            assert all(0 < len(each) <= MOST_DESCRIPTION for each in said)
            for way, text in zip(ways, said, strict=True):
                if way.region != scene.viewpoint_by_id[viewpoint].region:
                    assert text.startswith("leads ")
