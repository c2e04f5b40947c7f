"""The top-down picture: what is drawn, where, and that odd scenes and names do no harm."""

import os
import subprocess
import sys
from io import BytesIO
from xml.dom import minidom

import numpy as np
import pytest
from PIL import Image
from shapely.geometry import LineString, Point, Polygon, box

from navloom.errors import UsageError
from navloom.scenes.plan_sheet import (
    PlanMark,
    PlanRoute,
    PlanSheet,
    _lanes,
    _runs_on,
    _shifted,
    draw_plan,
)
from navloom.scenes.plan_style import (
    ROUTES,
    TextLayout,
    region_shapes,
    room_tint,
    room_tints,
    to_words,
)
from navloom.scenes.plan_svg import SvgPen
from navloom.scenes.scene import Box, Edge, Floor, Item, Link, Region, Scene, Viewpoint


def _room(name, x, z, floor=1, size=4.0, **more):
    y = 3.0 * (floor - 1)
    box = Box(center=(x, y + 1.25, z), size=(size, 2.5, 4.0))
    return Region(
        id=name, label=name.rsplit("_", 1)[0], floor=floor, center=(x, y, z), box=box, **more
    )


def _home(**changes) -> Scene:
    made = {
        "id": "two-floors",
        "source": "tiny",
        "floors": (Floor(id=1, height=0.0), Floor(id=2, height=3.0)),
        "regions": (
            _room("Kitchen_1", 0, 0),
            _room("Hallway_2", 4, 0),
            _room("Bedroom_3", 4, 0, floor=2),
            _room("Bathroom_4", 0, 0, floor=2),
        ),
        "links": (
            Link(a="Kitchen_1", b="Hallway_2", kind="door", point=(2.0, 0.0, 0.5)),
            Link(a="Hallway_2", b="Bedroom_3", kind="stairs"),
            Link(a="Bedroom_3", b="Bathroom_4"),
        ),
        "items": (
            Item(id="i1", name="table", kind="asset", region="Kitchen_1", position=(0, 0.4, 1),
                 size=(1.0, 0.8, 0.6)),
            Item(id="i2", name="sink", kind="asset", region="Bathroom_4", position=(0, 3.4, 1)),
        ),
        "viewpoints": (
            Viewpoint(id="a", position=(0.0, 0.0, 0.0), region="Kitchen_1"),
            Viewpoint(id="b", position=(4.0, 0.0, 0.0), region="Hallway_2"),
            Viewpoint(id="c", position=(4.0, 3.0, -1.0), region="Bedroom_3"),
        ),
        "edges": (Edge(a="a", b="b"), Edge(a="b", b="c")),
    }  # fmt: skip
    return Scene(**(made | changes))


ROUTE = PlanRoute(((1, 0.0, 0.0), (1, 4.0, 0.0), (2, 4.0, -1.0)), "robot_1", carried_from=1)


def elements(sheet: PlanSheet, tag: str) -> list[minidom.Element]:
    """All elements of a kind of a page, in their order."""
    return list(minidom.parseString(sheet.svg).getElementsByTagName(tag))


def texts(sheet: PlanSheet) -> list[str]:
    """All that is written on a page; lines of one text are apart."""
    return [
        "\n".join(line.firstChild.data for line in text.getElementsByTagName("tspan"))
        for text in elements(sheet, "text")
    ]


def _panels(sheet: PlanSheet) -> list[tuple[float, ...]]:
    """Each floor's x, y, width and height on the page, and the width of its paper in metres."""
    return [
        (
            *(float(panel.getAttribute(name)) for name in ("x", "y", "width", "height")),
            float(panel.getAttribute("viewBox").split()[2]),
        )
        for panel in elements(sheet, "svg")[1:]
    ]


def _boxes(sheet: PlanSheet) -> dict[str, Polygon]:
    """The ground that words within the first floor take, in metres, by what they say."""
    (panel, *_) = elements(sheet, "svg")[1:]
    found = {}
    for text in panel.getElementsByTagName("text"):
        lines = text.getElementsByTagName("tspan")
        size = float(text.getAttribute("font-size"))
        pen = SvgPen(size / 10)
        said = "\n".join(line.firstChild.data for line in lines)
        setting = TextLayout(said, 10.0, text.getAttribute("font-weight") != "bold")
        wide, high = pen.extent(setting)
        x, y = (float(lines[0].getAttribute(name)) for name in ("x", "y"))
        middle = y - 0.35 * size + (len(lines) - 1) / 2 * 1.15 * size
        found[said] = box(x - wide / 2, middle - high / 2, x + wide / 2, middle + high / 2)
    return found


def _overlapping(boxes) -> list[tuple[str, str]]:
    small = {said: each.buffer(-0.05 * each.length / 4) for said, each in boxes.items()}
    return [(a, b) for a in small for b in small if a < b and small[a].intersects(small[b])]


def test_every_floor_is_a_panel_of_the_same_scale_with_its_rooms_named():
    sheet = draw_plan(_home(), title="a home")
    one, two = (panel[2] / panel[4] for panel in _panels(sheet))
    assert one == pytest.approx(two, abs=0.01)
    said = texts(sheet)
    for words in ("floor 1", "floor 2", "a home"):
        assert words in said
    names = {text.replace("\n", " ").replace("\u00a0", " ") for text in said}
    assert {"Kitchen 1", "Hallway 2", "Bedroom 3", "Bathroom 4"} <= names
    assert any(text.startswith("2 m") and "heading 0" in text for text in names)


def test_up_the_page_is_minus_z():
    shapes = region_shapes(_home(regions=(_room("Kitchen_1", 0, -10),), links=(), items=(),
                                 viewpoints=(), edges=()), 1)  # fmt: skip
    assert shapes["Kitchen_1"].centroid.y == pytest.approx(10.0)


def test_a_scene_without_outlines_shows_the_ground_of_its_viewpoints():
    bare = tuple(r.model_copy(update={"box": None}) for r in _home().regions)
    shapes = region_shapes(_home(regions=bare), 1)
    assert shapes["Kitchen_1"].contains(Point(0.5, 0.0))
    assert not shapes["Kitchen_1"].contains(Point(1.5, 0.0))
    nobody = region_shapes(_home(regions=bare), 2)["Bathroom_4"]
    assert nobody.contains(Point(0.0, 0.0))  # no viewpoint: a spot at its centre
    assert len(_panels(draw_plan(_home(regions=bare)))) == 2


def test_a_route_shows_its_half_on_each_floor():
    on_1 = [run.points for run in _runs_on(ROUTE, 0, 2, 1)]
    on_2 = [run.points for run in _runs_on(ROUTE, 0, 2, 2)]
    assert on_1 == [[(0.0, -0.0), (4.0, -0.0), (4.0, 0.5)]]
    assert on_2 == [[(4.0, 0.5), (4.0, 1.0)]]


def test_robots_on_the_same_edge_run_side_by_side_whichever_way_they_go():
    there = PlanRoute(((1, 0.0, 0.0), (1, 4.0, 0.0)), "robot_1")
    back = PlanRoute(((1, 4.0, 0.0), (1, 0.0, 0.0)), "robot_2")
    lanes = _lanes([there, back])
    one = LineString(_shifted([(0.0, 0.0), (4.0, 0.0)], [lanes[0, 0]]))
    two = LineString(_shifted([(4.0, 0.0), (0.0, 0.0)], [lanes[1, 0]]))
    assert one.distance(two) == pytest.approx(2.6)
    assert _lanes([there])[0, 0] == 0.0


def test_standing_still_draws_no_line():
    assert _shifted([(1.0, 1.0), (1.0, 1.0)], [0.0]) is None
    still = PlanRoute(((1, 1.0, 1.0), (1, 1.0, 1.0)), "robot_1", carried_from=0)
    draw_plan(_home(), routes=[still])


def _lines(sheet: PlanSheet, robot: str) -> list[minidom.Element]:
    paths = elements(sheet, "svg")[1].getElementsByTagName("path")
    return [path for path in paths if path.getAttribute("stroke") == ROUTES[robot].colour]


def test_the_carried_part_is_thicker_and_robot_2_is_dashed():
    there = PlanRoute(((1, 0.0, 0.0), (1, 2.0, 0.0), (1, 4.0, 0.0)), "robot_1", carried_from=1)
    other = PlanRoute(((1, 4.0, 0.5), (1, 0.0, 0.5)), "robot_2")
    sheet = draw_plan(_home(), routes=[there, other])
    thin, thick = (float(line.getAttribute("stroke-width")) for line in _lines(sheet, "robot_1"))
    assert thin * 2 < thick
    assert not any(line.hasAttribute("stroke-dasharray") for line in _lines(sheet, "robot_1"))
    assert all(line.hasAttribute("stroke-dasharray") for line in _lines(sheet, "robot_2"))
    assert texts(sheet)[-3:] == ["robot_1", "robot_2", "thick: carrying"]


def test_the_words_at_stairs_say_which_floor():
    said = texts(draw_plan(_home(), routes=[ROUTE]))
    assert "to floor 2" in said
    assert "from floor 1" in said


def test_marks_at_one_place_do_not_hide_one_another_and_are_explained():
    kinds = ("start_1", "start_2", "object", "handoff", "end")
    sheet = draw_plan(_home(), marks=[PlanMark(kind, 1, 0.0, 0.0) for kind in kinds])
    first = elements(sheet, "svg")[1]
    middles = [
        tuple(float(disc.getAttribute(name)) for name in ("cx", "cy"))
        for disc in first.getElementsByTagName("circle")
    ]
    for sign in first.getElementsByTagName("polygon"):
        corners = [tuple(map(float, at.split(","))) for at in sign.getAttribute("points").split()]
        middles.append(tuple(np.mean(corners, axis=0)))
    assert len({(round(x, 2), round(y, 2)) for x, y in middles}) == len(kinds)
    legend = ["robot_1 starts", "robot_2 starts", "object", "handoff", "destination"]
    assert [each for each in texts(sheet) if each not in "12"][-5:] == legend
    assert [each for each in texts(sheet) if each in "12"] == ["1", "2", "1", "2"]


def test_names_in_the_same_floor_do_not_overlap():
    crowd = tuple(_room(f"Walk_in_closet_{i}", 1.3 * i, 0, size=1.2) for i in range(1, 9))
    sheet = draw_plan(_home(regions=crowd, links=(), items=(), viewpoints=(), edges=()))
    assert len(_boxes(sheet)) == len(crowd)
    assert _overlapping(_boxes(sheet)) == []


def test_a_name_that_fits_nowhere_becomes_a_number_that_is_explained():
    hall = _room("Hall_1", 0, 0, size=30.0)
    tiny_box = Box(center=(0, 1, 3), size=(0.4, 2, 0.4))
    closet = Region(id="Walk_in_closet_35", label="closet", center=(0, 0, 3), box=tiny_box)
    scene = _home(regions=(hall, closet), links=(), items=(), viewpoints=(), edges=())
    said = texts(draw_plan(scene))
    assert "35" in said
    assert any("35 Walk in closet 35" in " ".join(text.split()) for text in said)


def test_untrusted_names_are_text_and_nothing_else():
    scene = _home(regions=(_room("Hall_1", 0, 0),), links=(), items=(), viewpoints=(), edges=())
    sheet = draw_plan(scene, title="$\\undefined{ <b>\x00")
    assert "$\\undefined{ <b>" in texts(sheet)
    assert sheet.png().startswith(b"\x89PNG")


@pytest.mark.parametrize("polygon", [
    ((0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 2.0)),  # crosses itself
    ((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)),  # a line
    ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0)),  # a point
])  # fmt: skip
def test_a_broken_outline_is_still_drawn(polygon):
    region = Region(id="Room_1", center=(0, 0, 0), polygon=polygon)
    scene = _home(regions=(region,), links=(), items=(), viewpoints=(), edges=())
    assert region_shapes(scene, 1)["Room_1"].area > 0
    draw_plan(scene)


def test_a_plan_fits_its_part_of_a_page():
    sheet = PlanSheet(576, 432)
    drawn = draw_plan(
        _home(), routes=[ROUTE], items=True, on=sheet, rect=(72.0, 72.0, 360.0, 288.0)
    )
    assert drawn is sheet
    for x, y, wide, high, _ in _panels(sheet):
        assert x >= 72
        assert y >= 72
        assert x + wide <= 432
        assert y + high <= 360


def _pixels(sheet: PlanSheet) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(sheet.png())).convert("RGB"))


def test_the_same_scene_gives_the_same_picture():
    first, again = (
        _pixels(draw_plan(_home(), routes=[ROUTE], marks=[PlanMark("end", 2, 4.0, -1.0)]))
        for _ in range(2)
    )
    assert np.array_equal(first, again)


WITHOUT_FONTS = """
import sys
from navloom.scenes.plan_sheet import PlanSheet
written, blank = PlanSheet(200, 40), PlanSheet(200, 40)
written.write(sys.argv[1], (100, 12), 9.0)
written.write("bold", (50, 30), 9.0, bold=True)
sys.stdout.write(written.png().hex() + " " + blank.png().hex())
assert "matplotlib" not in sys.modules
"""


def test_words_are_drawn_where_no_font_is_installed(tmp_path):
    # resvg draws nothing, and says nothing, where it finds no font.
    bare = {"FONTCONFIG_FILE": os.devnull, "FONTCONFIG_PATH": str(tmp_path), "HOME": str(tmp_path)}
    kept = {key: os.environ[key] for key in ("PYTHONPATH", "SYSTEMROOT") if key in os.environ}
    made = subprocess.run(
        [sys.executable, "-c", WITHOUT_FONTS, "Küche ↑ −z"],
        env=bare | kept, capture_output=True, text=True, check=True,
    )  # fmt: skip
    written, blank = (bytes.fromhex(each) for each in made.stdout.split())
    first, second = (np.asarray(Image.open(BytesIO(each))) for each in (written, blank))
    assert (first[:25] != second[:25]).any(axis=-1).sum() > 200
    assert (first[25:] != second[25:]).any(axis=-1).sum() > 100
    sheet = PlanSheet(200, 40)
    sheet.write("Küche ↑ −z", (100, 12), 9.0)
    sheet.write("bold", (50, 30), 9.0, bold=True)
    assert sheet.png() == written  # no installed font is taken, either


def test_without_its_wheel_a_picture_is_refused_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(UsageError, match=r"pip install resvg-py") as refused:
        draw_plan(_home()).savefig(tmp_path / "plan.png")
    assert "\n" not in str(refused.value)
    draw_plan(_home()).savefig(tmp_path / "plan.svg")
    assert list(tmp_path.iterdir()) == [tmp_path / "plan.svg"]


@pytest.mark.parametrize(("ending", "begins"), [(".pdf", b"%PDF"), (".jpg", b"\xff\xd8")])
def test_other_pictures_are_written_too(ending, begins, tmp_path):
    file = tmp_path / f"plan{ending}"
    draw_plan(_home()).savefig(file)
    assert file.read_bytes().startswith(begins)


def test_small_words():
    assert to_words("Living_room_5") == "Living room 5"
    assert to_words("Unknown_5") == "room 5"
    assert room_tint("master bathroom") == room_tint("Toilet")
    assert room_tint("bedroom") != room_tint("kitchen")
    scene = _home(viewpoints=(Viewpoint(id="x", position=(0, 4.2, 0), eye_height=1.5),), edges=())
    assert scene.floor_of(scene.viewpoints[0]) == 2


def test_of_hundreds_of_rooms_each_has_its_number_and_no_name_is_fitted():
    # Fitted one by one, 1,000 names take minutes.
    rooms = tuple(_room(f"Bedroom_{k}", 4 * (k % 32), -4 * (k // 32)) for k in range(1000))
    sheet = draw_plan(_home(regions=rooms, links=(), items=(), viewpoints=(), edges=()))
    *numbers, note, _ = texts(sheet)
    assert sorted(numbers) == sorted(str(k) for k in range(1000))
    assert note.replace("\u00a0", " ") == "1,000 rooms by their numbers"


def _scan() -> Scene:
    """Two rooms side by side and one apart, of which nothing but viewpoints is known."""
    spots = {"Unknown_1": [(0, 0), (0, 2), (2, 0), (2, 2)], "Unknown_2": [(4, 0), (4, 2), (6, 1)],
             "Unknown_3": [(20, 0)]}  # fmt: skip
    views = [(f"{r}-{k}", r, x, z) for r, all_ in spots.items() for k, (x, z) in enumerate(all_)]
    return _home(
        regions=tuple(Region(id=r, label="Unknown", center=(*spots[r][0], 0.0)) for r in spots),
        links=(Link(a="Unknown_1", b="Unknown_2"),),
        items=tuple(
            Item(id=f"i{k}", name=name, kind="asset", region=room, position=(1, 0.4, 1))
            for k, (name, room) in enumerate(
                [("chair", "Unknown_1"), ("chair", "Unknown_2"), ("bunk_bed", "Unknown_2"),
                 ("desk", "Unknown_2")]
            )
        ),
        viewpoints=tuple(Viewpoint(id=n, position=(x, 0.0, z), region=r) for n, r, x, z in views),
        edges=(Edge(a="Unknown_1-2", b="Unknown_2-0"),),
    )  # fmt: skip


def test_rooms_that_nobody_measured_share_walls_and_lie_on_nobody_elses_ground():
    shapes = region_shapes(_scan(), 1)
    one, two, apart = (shapes[f"Unknown_{k}"] for k in (1, 2, 3))
    assert one.intersection(two).area < 0.01
    assert one.intersection(two).length > 2.0  # a wall half-way, and no gap
    assert one.bounds[2] == pytest.approx(3.0, abs=0.4)
    assert apart.area == pytest.approx(9.0)
    for viewpoint in _scan().viewpoints:
        x, _, z = viewpoint.position
        assert shapes[viewpoint.region].contains(Point(x, -z))


def test_rooms_of_unknown_type_differ_from_neighbours_and_are_known_by_their_things():
    tints = room_tints(_scan())
    assert tints["Unknown_1"] != tints["Unknown_2"]
    said = texts(draw_plan(_scan()))
    assert "2\nbunk bed, desk" in said
    assert "1\nchair" in said
    assert "3" in said


def test_a_graph_of_places_stays_a_graph():
    shapes = region_shapes(_scan().replace(viewpoints=_scan().viewpoints[::4], edges=()), 1)
    assert {round(shape.area, 1) for shape in shapes.values()} == {round(np.pi * 0.36, 1)}


def test_things_and_steps_are_written_beside_their_points_and_hide_nothing():
    points = ((1, 0.0, 0.0), (1, 4.0, 0.0), (1, 0.0, 0.0), (1, 1.0, 1.0))
    walk = PlanRoute(points, "robot_1", numbered=True)
    marks = [PlanMark("object", 1, 0.0, 1.0, label="tea pot"), PlanMark("goal", 1, 4.0, 0.0)]
    boxes = _boxes(draw_plan(_home(), routes=[walk], marks=marks))
    assert {"tea pot", "1", "2", "3"} <= set(boxes)
    assert _overlapping(boxes) == []
    signs = [Point(0.0, 1.0), Point(4.0, 0.0)]  # y is down the page, as in SVG
    assert not [1 for sign in signs for each in boxes.values() if each.contains(sign)]
