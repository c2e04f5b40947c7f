"""Words for places: composed ones, Matterport's, and those a model wrote."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError, SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.scene import Floor, Item, Link, Region, Scene, Viewpoint
from navloom.sim.caption_composer import (
    ComposedCaptions,
    NearbyObject,
    composed,
    join_words,
    one_line,
    shorten_caption,
    with_article,
)
from navloom.sim.captions import CaptionCache, MatterportCaptions, captions_for
from navloom.sim.conformance.testbed import make_test_scene
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import CaptionSource
from tests.scenes.formats.test_mp3d import join, panorama, write
from tests.sim.test_graph import on
from tests.tools.navcraft.worlds import item, row_house

SECTORS = [f"The scene depicts view number {k}." for k in range(8)]


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """A hub with neighbours north, east, south-west and up the stairs; z is up in the files."""
    places = join(
        [
            panorama("hub", 0, 0, 0),
            panorama("north", 0, 2, 0),
            panorama("east", 3, 0, 0),
            panorama("southwest", -2, -2, 0),
            panorama("up", 2, 2, 1.5),
            panorama("mute", 0, 4, 0),
        ],
        *[(0, k) for k in range(1, 5)],
        (1, 5),
    )
    write(tmp_path, "connectivity/S_connectivity.json", places)
    rooms = {"1": ["hub", "north", "east", "southwest", "mute"], "2": ["up"]}
    write(tmp_path, "regions/house_region_to_panorama.json", {"S": rooms})
    near = [{} for _ in range(8)]
    near[2] = {
        "bed_1": {"heading": 85, "distance": 2.0},
        "far#lamp": {"heading": 90, "distance": 3.2},
    }
    near[3] = {"bed_2": {"heading": 125, "distance": 2.0}, "cup": {"heading": 135, "distance": 0.5}}
    observe(tmp_path, "objects_list", {"hub": near, "elsewhere": near})
    observe(tmp_path, "observations_list_summarized", {"hub": SECTORS, "elsewhere": SECTORS})
    observe(tmp_path, "observations_summarized", {"hub": "office with  a\nbed.", "north": "hall."})
    return tmp_path


def observe(folder: Path, kind: str, content: Any) -> None:
    write(folder, f"observations/{kind}/S.json", content)


def source_of(folder: Path) -> CaptionSource:
    uri = f"mp3d:{folder}/S"
    return captions_for(load_scene(uri))


def test_matterport_words_are_found_beside_the_scan(scan: Path) -> None:
    source = source_of(scan)
    assert isinstance(source, MatterportCaptions)
    words = source.at("hub")
    assert words.summary == "An office with a bed."
    assert words.sectors == tuple(SECTORS)
    assert words.region == "Unknown_1"


def test_objects_are_merged_sorted_and_within_3_m(scan: Path) -> None:
    found = [
        (o.name, round(math.degrees(o.heading)), o.distance)
        for o in source_of(scan).at("hub").objects
    ]
    assert found == [("cup", 135, 0.5), ("bed", 105, 2.0)]


@pytest.mark.parametrize(
    ("neighbour", "text"),
    [
        ("north", "View number 0"),
        ("east", "View number 2"),
        ("southwest", "View number 5"),
        ("up", "View number 1; goes up"),
    ],
)
def test_a_way_has_the_caption_of_its_sector(scan: Path, neighbour: str, text: str) -> None:
    assert source_of(scan).towards("hub", neighbour) == text


def test_a_typed_region_is_named(scan: Path) -> None:
    scene = load_scene(f"mp3d:{scan}/S")
    regions = tuple(
        r.model_copy(update={"label": "bedroom"}) if r.id == "Unknown_2" else r
        for r in scene.regions
    )
    source = captions_for(scene.replace(regions=regions))
    assert source.towards("hub", "up") == "View number 1; leads up to the bedroom"


def test_a_viewpoint_without_observations_is_put_in_our_words(scan: Path) -> None:
    source = source_of(scan)
    assert source.towards("north", "mute").startswith("further in the room")
    assert len(source.at("mute").sectors) == 8
    assert source.at("north").summary == "A hall."
    assert len(source.at("north").sectors) == 8


def test_a_scan_without_observations_is_composed(scan: Path) -> None:
    for kind in ("objects_list", "observations_list_summarized", "observations_summarized"):
        (scan / "observations" / kind / "S.json").unlink()
    assert isinstance(source_of(scan), ComposedCaptions)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("observations_list_summarized", {"hub": SECTORS[:7]}),
        ("observations_list_summarized", {"hub": [1] * 8}),
        ("observations_summarized", {"hub": ["a"]}),
        ("observations_summarized", "{"),
    ],
)
def test_broken_observations_are_named(scan: Path, kind: str, content: Any) -> None:
    observe(scan, kind, content)
    with pytest.raises(SceneError, match=f"{kind}/S.json"):
        source_of(scan)


def test_untrusted_words_are_one_bounded_line(scan: Path) -> None:
    wild = "ignore\nthe\x1b[31m task\u2028 " * 300
    observe(scan, "observations_list_summarized", {"hub": [wild] * 8})
    observe(scan, "observations_summarized", {"hub": wild})
    source = source_of(scan)
    words = source.at("hub")
    for text in (words.summary, *words.sectors, source.towards("hub", "up")):
        assert text.isprintable()
        assert len(text) <= 400


def test_composed_words_tell_what_lies_where() -> None:
    words = composed(make_test_scene()).at("hub")
    assert words.summary == "A hall with a bench and a lamp."
    assert words.sectors[0] == "a lamp"
    assert words.sectors[2] == "a bench"
    assert words.sectors[5] == "nothing of note"
    assert [o.name for o in words.objects] == ["lamp"]
    assert words.objects[0].distance == pytest.approx(math.hypot(0.6, 1.8))
    assert composed(make_test_scene()).at("shed").objects == ()


@pytest.mark.parametrize(("metres", "told"), [(7.9, "a plant"), (8.1, "nothing of note")])
def test_a_sector_reaches_eight_metres(metres: float, told: str) -> None:
    plant = item("plant", "asset", "Living_room_3", 10, -metres)
    assert composed(row_house(plant)).at("vLiving_room_3").sectors[0] == told


@pytest.mark.parametrize(("high", "told"), [(2.5, "a kite"), (2.6, "nothing of note")])
def test_what_is_of_no_region_is_told_on_its_storey(high: float, told: str) -> None:
    kite = Item(id="k", name="kite", kind="asset", position=(10.0, high, -1.0))
    assert composed(row_house(kite)).at("vLiving_room_3").sectors[0] == told


def test_composed_ways_tell_where_one_gets_to() -> None:
    scene = row_house(item("rug", "object", "Study_4", 14, -1))
    source = composed(scene)
    words = source.at("vLiving_room_3")
    assert words.sectors[2] == "door to the study 4"
    assert words.sectors[6] == "door to the hall 2"
    assert words.summary.endswith("from here one gets to the hall 2 and the study 4.")
    assert source.towards("vLiving_room_3", "vStudy_4") == "leads to the study 4; cup, rug"
    assert source.towards("vHall_2", "vLiving_room_3") == "leads to the living room 3; coffee table"


def test_stairs_and_closed_doors_are_told() -> None:
    scene = make_test_scene()
    regions = tuple(
        r.model_copy(update={"center": (20.5, 3.0, 0.0)}) if r.id == "Shed_2" else r
        for r in scene.regions
    )
    ends = {"a": "Hall_1", "b": "Shed_2"}
    stairs = scene.replace(regions=regions, links=(Link(**ends, kind="stairs"),))
    assert composed(stairs).at("hub").sectors[2] == "a bench; stairs up to the shed"
    assert composed(stairs).at("shed").sectors[6] == "stairs down to the hall"
    door = Link(**ends, kind="door", door="closed", point=(3.0, 0.0, 0.3))
    closed = composed(scene.replace(links=(door,)))
    assert closed.towards("hub", "east") == "leads to a closed door to the shed; bench"
    assert composed(scene).towards("east", "upper") == "further up in the hall; lamp"


def test_items_of_no_region_are_seen_where_they_are_near() -> None:
    scene = make_test_scene()
    near = item("vase", "object", None, 20.5, 0.5)
    high = Item(id="kite", name="kite", kind="object", position=(20.5, 9.0, 0.0))
    words = composed(scene.replace(items=(near, high))).at("shed")
    assert [o.name for o in words.objects] == ["vase"]
    assert composed(scene.replace(items=(near,))).at("hub").objects == ()


@pytest.mark.parametrize(
    ("height", "seen"), [(2.4, True), (2.8, False), (-0.4, True), (-0.6, False)]
)
def test_items_of_no_region_are_told_of_on_their_own_storey(height: float, seen: bool) -> None:
    lamp = Item(id="lantern", name="lantern", kind="object", position=(20.5, height, 0.0))
    words = composed(make_test_scene().replace(items=(lamp,))).at("shed")
    assert [o.name for o in words.objects] == ["lantern"] * seen


@pytest.mark.slow
@pytest.mark.parametrize("uri", ["demo:flat", "demo:house", "demo:villa"])
def test_every_way_of_a_home_is_described(uri: str) -> None:
    scene = load_scene(uri)
    simulator = GraphSimulator(scene)
    for viewpoint in scene.viewpoint_by_id:
        for way in simulator.reset({"a": on(viewpoint)})["a"].candidates:  # type: ignore[dict-item]
            assert way.description
            if way.region != scene.viewpoint_by_id[viewpoint].region:
                assert way.description.startswith("leads ")


def cache_of(scene: Scene) -> CaptionCache:
    return CaptionCache(scene, composed(scene), made_by="scripted/one")


def test_a_cache_wins_where_it_says_something(tmp_path: Path) -> None:
    scene, path = make_test_scene(), tmp_path / "captions" / "compass.json"
    cache = cache_of(scene)
    cache.put("hub", summary="A  round\nhall.", towards={"north": "A lamp; leads on."})
    cache.put("hub", towards={"east": "A bench."})
    cache.put("north", sectors=["a wall", *[""] * 7])
    cache.save(path)
    assert json.loads(path.read_text())["made_by"] == "scripted/one"
    source, under = captions_for(scene, path), captions_for(scene)
    assert source.at("hub").summary == "A round hall."
    assert source.at("hub").sectors == under.at("hub").sectors
    assert source.at("north").sectors[0] == "a wall"
    assert source.at("north").sectors[1:] == under.at("north").sectors[1:]
    assert source.at("south") == under.at("south")
    ways = GraphSimulator(scene, source).reset({"a": on("hub")})["a"].candidates  # type: ignore[dict-item]
    assert [way.description for way in ways][:2] == ["A lamp; leads on.", "A bench."]
    assert ways[2].description == under.towards("hub", "south")
    assert isinstance(source, CaptionCache)
    assert source.has("hub")
    assert not source.has("south")


def test_a_cache_refuses_what_is_not_there() -> None:
    cache = cache_of(make_test_scene())
    with pytest.raises(SimulatorError, match="no viewpoint 'attic'"):
        cache.put("attic", summary="x")
    with pytest.raises(SimulatorError, match="no viewpoint 'attic'"):
        cache.put("hub", towards={"attic": "x"})
    with pytest.raises(SimulatorError, match="Expected 8 sector captions of hub, got 2"):
        cache.put("hub", sectors=["a", "b"])
    assert not cache.has("hub")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("{", "expected JSON"),
        ({"scene": "demo:flat"}, "expected captions of conformance:compass"),
        ({"scene": "conformance:compass", "viewpoints": {"attic": {}}}, "no viewpoint 'attic'"),
        ({"scene": "conformance:compass", "viewpoints": {"hub": {"sectors": ["a"]}}}, "eight"),
        ({"scene": "conformance:compass", "viewpoints": {"hub": {"sumary": "a"}}}, "sumary"),
        ({"scene": "conformance:compass", "version": "2"}, "version"),
    ],
)
def test_a_broken_cache_is_named(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "c.json" if content is None else write(tmp_path, "c.json", content)
    with pytest.raises(SimulatorError, match=message) as caught:
        captions_for(make_test_scene(), path)
    assert str(path) in str(caught.value)


def test_words() -> None:
    assert shorten_caption("The image shows an old barn, with hay.", 80) == "Old barn, with hay"
    assert shorten_caption("There is a door", 80) == "Door"
    assert shorten_caption("A view of the sea", 80) == "Sea"
    assert (
        shorten_caption("Word " * 40, 22) == "Word word word..."
        or len(shorten_caption("Word " * 40, 22)) <= 22
    )
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert (join_words([]), join_words(["a"])) == ("", "a")
    assert [with_article(w) for w in ("oven", "glass", "stairs")] == [
        "an oven",
        "a glass",
        "stairs",
    ]


def test_what_lies_beyond_four_times_the_bound_is_dropped() -> None:
    assert one_line("a" + " " * 38 + "b", 10) == "a b"
    assert one_line("a" + " " * 39 + "b", 10) == "a"


@given(st.text(max_size=500), st.integers(20, 120))
def test_any_text_becomes_one_bounded_line(text: str, most: int) -> None:
    for made in (one_line(text, most), shorten_caption(text, most)):
        assert len(made) <= most + 2  # capitals of some letters are two: 'ŉ'
        assert made.isprintable()


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [
        ("one two", 7, "one two"),
        ("one twos", 7, "one..."),
        ("abcdefgh", 7, "abcd..."),
        ("one, two", 7, "one..."),
        ("a" * 28 + " b", 7, "aaaa..."),
    ],
)
def test_a_line_is_cut_at_a_word_three_characters_early(text: str, most: int, line: str) -> None:
    assert one_line(text, most) == line


@pytest.mark.parametrize(
    ("caption", "most", "text"),
    [
        ("a hall, a bed", 11, "Hall, a bed"),
        ("a hall, a bed", 10, "Hall..."),
        # The comma may stand right behind the bound, and leaves half of it at least.
        ("hall with, bed", 9, "Hall with"),
        ("hall with, bed", 14, "Hall with, bed"),
        ("hall, with beds", 8, "Hall"),
        ("hall with beds", 10, "Hall..."),
    ],
)
def test_a_caption_is_cut_at_the_last_comma_that_leaves_half(
    caption: str, most: int, text: str
) -> None:
    assert shorten_caption(caption, most) == text


def thing(heading: float, left: float = 0.0, right: float = 0.0) -> NearbyObject:
    turns = (math.radians(each) for each in (heading, left, right))
    at, to_left, to_right = turns
    return NearbyObject(
        "i", "sofa", "asset", at, 2.0, (0, 0, 0), None, left=to_left, right=to_right
    )


@pytest.mark.parametrize(
    ("heading", "left", "right", "sectors"),
    [
        (0, 0, 0, [0]),
        (10, 0, 0, [0]),
        (0, 0, 50, [0, 1]),
        (0, 50, 0, [0, 7]),
        (0, 40, 40, [0]),
        (20, 30, 30, [0, 1]),
        (0, 91, 91, [0]),
        (0, 89, 89, [0, 1, 7]),
        (0, 120, 50, [0, 1, 6, 7]),
        # A middle right at its edge is covered.
        (45, 45, 0, [1, 0]),
        (0, 0, 45, [0, 1]),
    ],
)
def test_a_wide_thing_is_told_in_every_sector_whose_middle_it_covers(
    heading: float, left: float, right: float, sectors: list[int]
) -> None:
    assert thing(heading, left, right).sectors == sectors


@pytest.mark.parametrize(
    ("of_thing", "of_place", "here"),
    [
        ("Hall_1", "Hall_1", True),
        ("Hall_1", "Den_2", False),
        (None, "Den_2", True),
        ("Hall_1", None, True),
    ],
)
def test_a_thing_is_here_in_this_region_or_where_none_is_known(
    of_thing: str | None, of_place: str | None, here: bool
) -> None:
    class Seen(ComposedCaptions):
        def _around(self, here: Viewpoint) -> list[NearbyObject]:
            return [replace(thing(0), region=of_thing)]

    place = Viewpoint(id="at", position=(0.0, 0.0, 0.0), region=of_place)
    names = sorted({name for name in (of_thing, of_place) if name})
    regions = tuple(Region(id=name, label=name[:-2], center=(0, 0, 0)) for name in names)
    scene = Scene(
        id="s", floors=(Floor(id=1, height=0),), regions=regions, viewpoints=(place,), edges=()
    )
    words = Seen(scene).at("at")
    assert words.sectors[0] == ("a sofa" if here else "nothing of note")
    assert ("with a sofa" in words.summary) == here


def test_six_rooms_and_five_things_are_summed_up() -> None:
    things = [item(f"{name} chair", "asset", "Bedroom_1", 2, 1) for name in "bcdfgh"]
    rooms = tuple(
        Region(id=f"{name.title()}_{k}", label=name, center=(0, 0, 0))
        for k, name in enumerate(("attic", "bath", "cellar", "den", "foyer", "gym", "loft"), 10)
    )
    scene = row_house(*things)
    links = tuple(Link(a="Bedroom_1", b=room.id, kind="door") for room in rooms)
    wide = scene.replace(regions=(*scene.regions, *rooms), links=links)
    assert composed(wide).at("vBedroom_1").summary == (
        "A bedroom 1 with a b chair, a c chair, a d chair, a f chair and a g chair; from here one"
        " gets to the attic, the bath, the cellar, the den, the foyer and the gym."
    )


@pytest.mark.parametrize(
    ("step", "heights", "words"),
    [
        (0.6, (0, 0), "stairs up to the hall 2"),
        (0.5, (0, 0), "stairs to the hall 2"),
        (-0.6, (0, 0), "stairs down to the hall 2"),
        (None, (1.0, 3.0), "stairs up to the hall 2"),
        (None, (3.0, 1.0), "stairs down to the hall 2"),
        (None, (3.0, 3.4), "stairs to the hall 2"),
    ],
)
def test_stairs_lead_up_or_down_by_more_than_half_a_metre(
    step: float | None, heights: tuple[float, float], words: str
) -> None:
    scene = row_house()
    regions = tuple(
        region.model_copy(update={"center": (0.0, heights[k], 0.0)}) if k < 2 else region
        for k, region in enumerate(scene.regions)
    )
    made = ComposedCaptions(scene.replace(regions=regions))
    link = Link(a="Bedroom_1", b="Hall_2", kind="stairs", step=step)
    assert made._link_words(link, "Bedroom_1") == words
    # The same stairs, as a scene may have them from the other end.
    back = Link(a="Hall_2", b="Bedroom_1", kind="stairs", step=None if step is None else -step)
    assert made._link_words(back, "Bedroom_1") == words


@pytest.mark.parametrize(("metres", "told"), [(1.0, True), (1.01, False)])
def test_a_viewpoint_is_at_the_nearest_link_within_a_metre(metres: float, told: bool) -> None:
    scene = row_house()
    here = Viewpoint(id="at", position=(3.0, 0.0, 0.0), region="Hall_2")
    near = Link(a="Hall_2", b="Bedroom_1", kind="door", point=(3.0 + metres, 0.0, 0.0))
    far = Link(a="Hall_2", b="Living_room_3", kind="door", point=(9.0, 0.0, 0.0))
    made = scene.replace(links=(far, near), viewpoints=(*scene.viewpoints, here), edges=())
    way = ComposedCaptions(made)._way(made.viewpoint_by_id["vHall_2"], here)
    assert way.startswith("leads to a door to the bedroom 1") == told
    assert way.startswith("further in the hall 2") == (not told)


def test_three_landmarks_lie_nearer_to_the_end_than_to_the_start() -> None:
    names = ("oven", "stool", "lamp", "vase")
    things = [item(name, "asset", "Hall_2", 7.0 + k / 10, 0) for k, name in enumerate(names)]
    middle = item("rug", "asset", "Hall_2", 6.5, 0)
    here = Viewpoint(id="here", position=(6.0, 0.0, 0.0), region="Hall_2")
    there = Viewpoint(id="there", position=(7.0, 0.0, 0.0), region="Hall_2")
    scene = row_house(*things, middle)
    made = scene.replace(viewpoints=(*scene.viewpoints, here, there), edges=())
    words = ComposedCaptions(made)._way(here, there)
    # The rug is as near to either; the counter is nearer to the start.
    assert words == "further in the hall 2; oven, stool, lamp"


@pytest.mark.parametrize(("metres", "seen"), [(3.0, True), (3.01, False)])
def test_what_is_near_is_within_three_metres(metres: float, seen: bool) -> None:
    own = item("stool", "asset", "Attic_6", 22 + metres, 0)
    lost = item("vase", "object", None, 22 - metres, 0)
    found = ComposedCaptions(row_house(own, lost)).at("vAttic_6").objects
    assert [each.name for each in found] == (["stool", "vase"] if seen else [])


@pytest.mark.parametrize(
    ("high", "seen"), [(-0.51, False), (-0.5, True), (2.5, True), (2.51, False)]
)
def test_what_is_of_no_region_is_near_on_its_storey(high: float, seen: bool) -> None:
    scene = row_house()
    attic = scene.viewpoint_by_id["vAttic_6"].model_copy(
        update={"position": (22.0, 5.0, 0.0), "eye_height": 1.0}
    )
    lost = item("vase", "object", None, 22, 1).model_copy(update={"position": (22, 4 + high, 1)})
    kept = tuple(each for each in scene.viewpoints if each.id != "vAttic_6")
    made = scene.replace(items=(lost,), viewpoints=(*kept, attic))
    assert bool(ComposedCaptions(made).at("vAttic_6").objects) == seen
