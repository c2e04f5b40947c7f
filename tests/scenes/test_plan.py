"""The top-down picture: what is drawn, where, and that odd scenes and names do no harm."""

import matplotlib
import numpy as np
import pytest
from matplotlib._pylab_helpers import Gcf
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from shapely.geometry import LineString, Point

from navloom.scenes.plan import Mark, Route, draw_into, draw_plan
from navloom.scenes.plan_lines import _lanes, _runs_on, _shifted
from navloom.scenes.plan_look import ROUTES
from navloom.scenes.plan_shapes import readable, region_shapes, room_tints, tint
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


ROUTE = Route(((1, 0.0, 0.0), (1, 4.0, 0.0), (2, 4.0, -1.0)), "robot_1", carried_from=1)


def _texts(figure: Figure) -> list[str]:
    found = [text.get_text() for axes in figure.axes for text in axes.texts]
    return found + [axes.get_title() for axes in figure.axes] + [t.get_text() for t in figure.texts]


def test_every_floor_is_a_panel_of_the_same_scale_with_its_rooms_named():
    figure = draw_plan(_home(), title="a home")
    assert len(figure.axes) == 2
    scales = []
    for axes in figure.axes:
        low, high = axes.get_xlim()
        inches = axes.get_position().width * figure.get_figwidth()
        scales.append((high - low) / inches)
    assert scales[0] == pytest.approx(scales[1])
    said = _texts(figure)
    for words in ("floor 1", "floor 2", "a home"):
        assert words in said
    names = {text.replace("\n", " ").replace("\u00a0", " ") for text in said}
    assert {"Kitchen 1", "Hallway 2", "Bedroom 3", "Bathroom 4"} <= names
    assert any(text.startswith("2 m") and "heading 0" in text for text in said)


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
    assert isinstance(draw_plan(_home(regions=bare)), Figure)


def test_a_route_shows_its_half_on_each_floor():
    on_1 = [run.points for run in _runs_on(ROUTE, 0, 2, 1)]
    on_2 = [run.points for run in _runs_on(ROUTE, 0, 2, 2)]
    assert on_1 == [[(0.0, -0.0), (4.0, -0.0), (4.0, 0.5)]]
    assert on_2 == [[(4.0, 0.5), (4.0, 1.0)]]


def test_robots_on_the_same_edge_run_side_by_side_whichever_way_they_go():
    there = Route(((1, 0.0, 0.0), (1, 4.0, 0.0)), "robot_1")
    back = Route(((1, 4.0, 0.0), (1, 0.0, 0.0)), "robot_2")
    lanes = _lanes([there, back])
    one = LineString(_shifted([(0.0, 0.0), (4.0, 0.0)], [lanes[0, 0]]))
    two = LineString(_shifted([(4.0, 0.0), (0.0, 0.0)], [lanes[1, 0]]))
    assert one.distance(two) == pytest.approx(2.6)
    assert _lanes([there])[0, 0] == 0.0


def test_standing_still_draws_no_line():
    assert _shifted([(1.0, 1.0), (1.0, 1.0)], [0.0]) is None
    still = Route(((1, 1.0, 1.0), (1, 1.0, 1.0)), "robot_1", carried_from=0)
    draw_plan(_home(), routes=[still])


def _lines(figure: Figure, robot: str) -> list:
    colour = to_rgba(ROUTES[robot].colour)
    return [
        line
        for axes in figure.axes
        for line in axes.lines
        if to_rgba(line.get_color()) == colour and len(line.get_xdata()) > 1
    ]


def test_the_carried_part_is_thicker_and_robot_2_is_dashed():
    other = Route(((1, 4.0, 0.5), (1, 0.0, 0.5)), "robot_2")
    figure = draw_plan(_home(), routes=[ROUTE, other])
    widths = sorted({line.get_linewidth() for line in _lines(figure, "robot_1")})
    assert widths[0] * 2 < widths[-1]
    assert all(line.get_linestyle() == "-" for line in _lines(figure, "robot_1"))
    assert all(line.get_linestyle() != "-" for line in _lines(figure, "robot_2"))


def test_the_words_at_stairs_say_which_floor():
    said = _texts(draw_plan(_home(), routes=[ROUTE]))
    assert "to floor 2" in said
    assert "from floor 1" in said


def test_marks_at_one_place_do_not_hide_one_another_and_are_explained():
    marks = [Mark(kind, 1, 0.0, 0.0) for kind in ("start_1", "start_2", "object", "handoff", "end")]
    figure = draw_plan(_home(), marks=marks)
    spots = {
        (round(float(line.get_xdata()[0]), 3), round(float(line.get_ydata()[0]), 3))
        for line in figure.axes[0].lines
        if line.get_marker() in ("o", "^", "*", "D")
    }
    assert len(spots) == len(marks)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["robot_1 starts", "robot_2 starts", "object", "handoff", "destination"]


def test_names_in_the_same_floor_do_not_overlap():
    crowd = tuple(_room(f"Walk_in_closet_{i}", 1.3 * i, 0, size=1.2) for i in range(1, 9))
    figure = draw_plan(_home(regions=crowd, links=(), items=(), viewpoints=(), edges=()))
    figure.canvas.draw()
    boxes = [
        text.get_window_extent()
        for text in figure.axes[0].texts
        if text.get_text().strip() and "closet 1  ·" not in text.get_text()
    ]
    clashes = [
        (i, j)
        for i in range(len(boxes))
        for j in range(i)
        if boxes[i].shrunk(0.9, 0.9).overlaps(boxes[j].shrunk(0.9, 0.9))
    ]
    assert clashes == []


def test_a_name_that_fits_nowhere_becomes_a_number_that_is_explained():
    hall = _room("Hall_1", 0, 0, size=30.0)
    tiny_box = Box(center=(0, 1, 3), size=(0.4, 2, 0.4))
    closet = Region(id="Walk_in_closet_35", label="closet", center=(0, 0, 3), box=tiny_box)
    scene = _home(regions=(hall, closet), links=(), items=(), viewpoints=(), edges=())
    said = _texts(draw_plan(scene))
    assert "35" in said
    assert any("35 Walk in closet 35" in " ".join(text.split()) for text in said)


def test_untrusted_names_are_text_and_nothing_else():
    scene = _home(regions=(_room("Hall_1", 0, 0),), links=(), items=(), viewpoints=(), edges=())
    figure = draw_plan(scene, title="$\\undefined{ <b>")
    figure.canvas.draw()
    assert "$\\undefined{ <b>" in _texts(figure)


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


def test_drawing_touches_no_global_state_and_fits_its_rect():
    before, shown = dict(matplotlib.rcParams), len(Gcf.figs)
    figure = Figure(figsize=(8, 6))
    draw_into(figure, (1.0, 1.0, 5.0, 4.0), _home(), routes=[ROUTE], items=True)
    after = dict(matplotlib.rcParams)
    assert {k: v for k, v in after.items() if k != "backend"} == {
        k: v for k, v in before.items() if k != "backend"
    }
    assert len(Gcf.figs) == shown
    for axes in figure.axes:
        spot = axes.get_position()
        assert spot.x0 >= 1.0 / 8 - 1e-6
        assert spot.x1 <= 6.0 / 8 + 1e-6
        assert spot.y0 >= 1.0 / 6 - 1e-6
        assert spot.y1 <= 5.0 / 6 + 1e-6


def test_the_same_scene_gives_the_same_picture():
    def pixels():
        figure = draw_plan(_home(), routes=[ROUTE], marks=[Mark("end", 2, 4.0, -1.0)])
        figure.canvas.draw()
        return np.asarray(figure.canvas.buffer_rgba())

    assert np.array_equal(pixels(), pixels())


def test_small_words():
    assert readable("Living_room_5") == "Living room 5"
    assert readable("Unknown_5") == "room 5"
    assert tint("master bathroom") == tint("Toilet")
    assert tint("bedroom") != tint("kitchen")
    scene = _home(viewpoints=(Viewpoint(id="x", position=(0, 4.2, 0), eye_height=1.5),), edges=())
    assert scene.floor_of(scene.viewpoints[0]) == 2


def test_of_hundreds_of_rooms_each_has_its_number_and_no_name_is_fitted():
    # Fitted one by one, 1,000 names take minutes.
    rooms = tuple(_room(f"Bedroom_{k}", 4 * (k % 32), -4 * (k // 32)) for k in range(1000))
    (axes,) = draw_plan(_home(regions=rooms, links=(), items=(), viewpoints=(), edges=())).axes
    *numbers, note = [text.get_text() for text in axes.texts]
    assert sorted(numbers) == sorted(str(k) for k in range(1000))
    assert note == "1,000 rooms by their numbers"


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
    said = _texts(draw_plan(_scan()))
    assert "2\nbunk bed, desk" in said
    assert "1\nchair" in said
    assert "3" in said


def test_a_graph_of_places_stays_a_graph():
    shapes = region_shapes(_scan().replace(viewpoints=_scan().viewpoints[::4], edges=()), 1)
    assert {round(shape.area, 1) for shape in shapes.values()} == {round(np.pi * 0.36, 1)}


def test_things_and_steps_are_written_beside_their_points_and_hide_nothing():
    points = ((1, 0.0, 0.0), (1, 4.0, 0.0), (1, 0.0, 0.0), (1, 1.0, 1.0))
    walk = Route(points, "robot_1", numbered=True)
    marks = [Mark("object", 1, 0.0, 1.0, label="tea pot"), Mark("goal", 1, 4.0, 0.0)]
    figure = draw_plan(_home(), routes=[walk], marks=marks)
    figure.canvas.draw()
    written = {text.get_text(): text for text in figure.axes[0].texts if text.get_text().strip()}
    assert {"tea pot", "1", "2", "3"} <= set(written)
    boxes = [text.get_window_extent().shrunk(0.9, 0.9) for text in written.values()]
    assert not [1 for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
