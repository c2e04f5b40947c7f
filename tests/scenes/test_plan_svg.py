"""Plans as SVG: plain values of an allow-list, the same as in a picture, names as text, sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import get_args, get_type_hints
from xml.dom import minidom

import pytest

from navloom.evals.report.blocks import MapRoute, Track
from navloom.scenes import plan_style
from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_sheet import draw_plan
from navloom.scenes.plan_style import MarkKind, region_shapes
from navloom.scenes.plan_svg import ATTRIBUTES, TAGS, PlanDrawing, SvgNode, plan_drawing, to_xml
from navloom.scenes.scene import Item, Scene, Viewpoint
from navloom.scenes.scene_uri import list_scenes, load_scene
from tests.scenes.test_plan_sheet import _home, _room, elements

HOSTILE = "</text><script>alert(1)</script>\" onload='x' &\x00\x1b"


def _nodes(drawing: PlanDrawing) -> Iterator[SvgNode]:
    def below(node: SvgNode) -> Iterator[SvgNode]:
        yield node
        for each in node.children:
            if isinstance(each, SvgNode):
                yield from below(each)

    for floor in drawing.floors:
        for node in (*floor.nodes, *floor.names):
            yield from below(node)


@pytest.mark.parametrize("uri", ["home:4", "demo:villa"])
def test_a_page_and_a_file_draw_the_same_building(uri):
    scene = load_scene(uri)
    drawing = plan_drawing(plan_data(scene), graph=True)
    panels = elements(draw_plan(scene, items=True, graph=True, legend=False), "svg")[1:]
    for floor, panel in zip(drawing.floors, panels, strict=True):
        theirs = [
            (each.getAttribute("data-id"), each.getAttribute("fill"), each.getAttribute("d"))
            for each in panel.getElementsByTagName("path")
            if each.getAttribute("data-id")
        ]
        page = minidom.parseString("<svg>" + "".join(map(to_xml, floor.nodes)) + "</svg>")
        ours = [
            (each.getAttribute("data-id"), each.getAttribute("fill"), each.getAttribute("d"))
            for each in page.getElementsByTagName("path")
            if each.getAttribute("data-id")
        ]
        assert ours == theirs
        assert {each for each, _, _ in ours} >= {room.id for room in scene.regions
                                                 if room.floor == floor.id}  # fmt: skip


def test_north_is_up_and_floors_are_in_order():
    scene = _home(
        regions=(_room("South_1", 0, 4), _room("North_2", 0, -4), _room("Attic_3", 0, 0, floor=2)),
        links=(), items=(), viewpoints=(), edges=(),
    )  # fmt: skip
    first, second = plan_drawing(plan_data(scene)).floors
    assert (first.id, second.id) == (1, 2)
    at = {node.attributes["data-id"]: float(node.attributes["y"]) for node in first.names}
    assert at == {"North_2": pytest.approx(-4, abs=1), "South_1": pytest.approx(4, abs=1)}
    rooms = {node.attributes["data-id"]: node for node in first.nodes[0].children}
    start = re.match(r"M(-?[\d.]+) ?(-?[\d.]+)", rooms["North_2"].attributes["d"])
    assert start is not None
    assert float(start[2]) < 0


def test_whatever_a_scene_says_is_text():
    rooms = (_room("Hall_1", 0, 0).model_copy(update={"id": HOSTILE, "label": HOSTILE}),)
    view = Viewpoint(id='v"><script>', position=(0.0, 0.0, 0.0))
    thing = Item(id="<g onclick>", name=HOSTILE, kind="asset", region=HOSTILE, position=(0, 0, 0))
    scene = _home(regions=rooms, links=(), items=(thing,), edges=(), viewpoints=(view,))
    drawing = plan_drawing(plan_data(scene), graph=True)
    for node in _nodes(drawing):
        assert node.tag in TAGS
        assert set(node.attributes) <= ATTRIBUTES
    said = [each for node in _nodes(drawing) for each in node.children if isinstance(each, str)]
    assert any("<script>alert(1)" in each for each in said)
    sheet = draw_plan(scene, items=True, graph=True, title=HOSTILE + "\ud800")
    page = minidom.parseString(sheet.svg)  # it is XML, whatever was said
    assert {each.tagName for each in page.getElementsByTagName("*")} <= {*TAGS, "svg", "rect"}
    assert sheet.png().startswith(b"\x89PNG")
    names = {name for each in page.getElementsByTagName("*") for name, _ in each.attributes.items()}
    assert not [name for name in names if name.startswith("on")]
    json.dumps(drawing.record()).encode()


def test_the_same_scene_gives_the_same_bytes_and_metres_stay_what_they_are():
    drawing = plan_drawing(plan_data(_home()), graph=True)
    assert drawing.record() == plan_drawing(plan_data(_home()), graph=True).record()
    left, top, wide, high = drawing.floors[0].box
    shapes = region_shapes(_home(), 1)
    low_x = min(shape.bounds[0] for shape in shapes.values())
    high_y = max(shape.bounds[3] for shape in shapes.values())
    assert (left, top) == (pytest.approx(low_x - 0.5), pytest.approx(-high_y - 0.5))
    assert (wide, high) == (pytest.approx(9.0), pytest.approx(5.0))


def _kilobytes(scene: Scene) -> float:
    record = plan_drawing(plan_data(scene), graph=True).record()
    return len(json.dumps(record, separators=(",", ":"))) / 1000


@pytest.mark.parametrize("uri", ["home:4", "home:7", "demo:villa"])
def test_homes_are_small(uri):
    assert _kilobytes(load_scene(uri)) < 80


@pytest.mark.slow
@pytest.mark.realdata
def test_scenes_of_hundreds_of_things_are_small():
    scenes = [load_scene(uri) for uri in list_scenes("hm3d:")]
    largest = max(scenes, key=lambda scene: len(scene.items) + len(scene.viewpoints))
    assert len(largest.items) > 500
    assert _kilobytes(largest) < 150


def test_every_mark_and_route_has_a_look_and_a_sign():
    looks = plan_style.plan_styles()
    assert set(looks["marks"]) == set(get_args(MarkKind))
    assert {mark[0] for mark in looks["marks"].values()} <= set(looks["signs"])
    styles = {
        *get_args(get_type_hints(MapRoute)["style"]),
        *get_args(get_type_hints(Track)["style"]),
    }
    assert styles <= set(looks["routes"])
