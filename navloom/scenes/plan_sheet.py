"""Floor plan of a scene as one page: floors side by side, with routes and marks on top.

x runs to the right and -z up the page, so heading 0 points up; every floor has the same scale.
Rooms are coloured by type and labelled. A scene without outlines (an R2R navigation graph) shows
the ground that its viewpoints cover. The marks are those of CoNavBench's figure 11: a disc for a
robot's start, a triangle for the object, a diamond for its destination, a star for the handoff.
robot_1 is solid blue and robot_2 dashed orange, which colour-blind readers can distinguish. A
robot's line is thick while it carries the object.

A :class:`PlanSheet` is the page. It is SVG, and resvg renders it to PNG. Only DejaVu Sans from
matplotlib's package is used, so that the image is the same on every machine.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import LineString, box

from navloom.errors import UsageError
from navloom.files import replace_file
from navloom.scenes import plan_style as look
from navloom.scenes.plan_data import PlanData, PlanFloor, Stroke, plan_data
from navloom.scenes.plan_svg import (
    SvgNode,
    SvgPen,
    TopDownImage,
    draw_floor,
    draw_room_labels,
    fmt_num,
    font_files,
    halo_of,
    paper_bounds,
    text_width,
    to_xml,
)
from navloom.scenes.scene import Scene

_GAP, _TITLE, _FOOT = 11.0, 23.0, 36.0
"""Points between floors, above the rooms for a title, and below them for the number key and the
scale."""
_ROW_GAP, _HEAD = 20.0, 16.0
"""Points between rows of floors, enough for a number key, and above a floor for its name."""
_LEGEND = 14.0
"""Line height in points of a legend with 7-point letters; samples are 2.2 letters wide."""
_FONT = "'DejaVu Sans', Verdana, sans-serif"
_MOST_PIXELS = 16_000

Spot = tuple[int, float, float]
"""(floor, x, z): a point of the ground plane in metres, on a floor."""
Rect = tuple[float, float, float, float]
"""(left, top, width, height) in points from the page's upper left corner."""


@dataclass(frozen=True)
class PlanRoute:
    """Route of one robot through a scene.

    Attributes:
        points: (floor, x, z) in metres, in order.
        robot: ``robot_1`` or ``robot_2``.
        carried_from: index of the point from which it carries the object; None: never.
        label: its name in the legend, if not the robot's.
        numbered: whether each point carries the number of the step that led to it.
    """

    points: tuple[Spot, ...]
    robot: str
    carried_from: int | None = None
    label: str | None = None
    numbered: bool = False

    @property
    def look(self) -> look.RouteStyle:
        """Line style of the route."""
        return look.ROUTES.get(self.robot, look.RouteStyle("#444444"))


@dataclass(frozen=True)
class PlanMark:
    """Marked point: a start, the object, the destination or the handoff.

    Attributes:
        kind: kind of mark.
        floor: where it is; ``x`` and ``z`` in metres.
        label: its name, written beside it.
    """

    kind: look.MarkKind
    floor: int
    x: float
    z: float
    label: str | None = None


@dataclass
class PlanSheet:
    """White page in points (1/72 inch) from its upper left corner.

    Attributes:
        width: of the page; ``height`` likewise.
        dpi: dots an inch of its PNG.
        nodes: SVG nodes, the bottom one first.
    """

    width: float
    height: float
    dpi: float = 150.0
    nodes: list[SvgNode] = field(default_factory=list)

    def write(
        self, words: str, at: tuple[float, float], size: float, ink: str = look.NAME,
        *, bold: bool = False, anchor: str = "middle",
    ) -> None:  # fmt: skip
        """Write text at a point (``anchor``: start, middle or end of the text)."""
        setting = look.TextLayout(words, size, not bold)
        node = SvgPen(1.0).words(setting, (at[0], -at[1]), ink, halo=False, anchor=anchor)
        self.nodes += [node] if words else []

    def place(self, nodes: Sequence[SvgNode], bounds: Rect, at: Rect, *, cut: bool = False) -> None:
        """Draw nodes given in metres of paper into a part of the page.

        Args:
            nodes: the nodes to draw.
            bounds: the least x, the least y = -z, the greatest x and the greatest y of the paper.
            at: the part of the page.
            cut: clip at the part's border.
        """
        left, low, right, high = bounds
        x, y, wide, tall = (fmt_num(each, 3) for each in at)
        view = " ".join(fmt_num(each, 3) for each in (left, -high, right - left, high - low))
        shown = {"x": x, "y": y, "width": wide, "height": tall, "viewBox": view}
        shown["overflow"] = "hidden" if cut else "visible"
        self.nodes.append(SvgNode("svg", shown, tuple(nodes)))

    @property
    def svg(self) -> str:
        """Page as the text of an SVG file; names stay text, and items keep their ids."""
        wide, high = fmt_num(self.width), fmt_num(self.height)
        white = SvgNode("rect", {"width": wide, "height": high, "fill": "#ffffff"})
        shared = {"xmlns": "http://www.w3.org/2000/svg", "font-family": _FONT, "fill": "none"}
        size = {"viewBox": f"0 0 {wide} {high}", "width": f"{wide}pt", "height": f"{high}pt"}
        return to_xml(SvgNode("svg", shared | size, (white, *self.nodes))) + "\n"

    def png(self, dpi: float | None = None) -> bytes:
        """Render the page as a PNG file with ``dpi`` dots an inch.

        Raises:
            UsageError: resvg-py is not installed.
        """
        try:
            from resvg_py import svg_to_bytes
        except ImportError as error:
            raise UsageError(
                "Pictures of plans need resvg-py, which is not installed: 'pip install resvg-py',"
                " or draw to a file that ends in .svg."
            ) from error
        most = 72 * _MOST_PIXELS / max(self.width, self.height)
        fonts, dots = list(font_files()), min(dpi or self.dpi, most)
        made = svg_to_bytes(svg_string=self.svg, dpi=dots, font_files=fonts, skip_system_fonts=True)
        return bytes(made)

    def savefig(self, path: Path | str, dpi: float | None = None) -> None:
        """Write the page as ``.svg`` or ``.png``, or in another Pillow format (``.pdf``).

        Raises:
            UsageError: resvg-py is not installed.
            OSError: it cannot be written there.
            ValueError: its ending is no image format.
        """
        file = Path(path)
        ending = file.suffix.casefold()
        data = self.svg.encode() if ending == ".svg" else self.png(dpi)
        if ending not in (".svg", ".png"):
            from PIL import Image

            held = BytesIO()
            form = Image.registered_extensions().get(ending)
            if form not in Image.SAVE:
                raise ValueError("expected a name that ends in .png, .svg or .pdf")
            Image.open(BytesIO(data)).convert("RGB").save(held, form, resolution=dpi or self.dpi)
            data = held.getvalue()
        replace_file(file, data)


class _Panel(NamedTuple):
    data: PlanFloor
    bounds: Rect
    above: TopDownImage | None = None

    @property
    def width(self) -> float:
        return self.bounds[2] - self.bounds[0]

    @property
    def height(self) -> float:
        return self.bounds[3] - self.bounds[1]


def draw_plan(
    scene: Scene,
    *,
    routes: Sequence[PlanRoute] = (),
    marks: Sequence[PlanMark] = (),
    title: str | None = None,
    items: bool = False,
    floors: Iterable[int] | None = None,
    legend: bool = True,
    graph: bool = False,
    labels: bool = True,
    above: Mapping[int, TopDownImage] | None = None,
    width: float = 10.0,
    height: float = 7.0,
    on: PlanSheet | None = None,
    rect: Rect | None = None,
) -> PlanSheet:
    """Draw a scene's floor plan on a page of its own or on a part of one.

    Args:
        scene: the scene to draw.
        routes: routes of robots.
        marks: points to mark.
        title: one line above the plan.
        items: also draw the assets, as outlines if their sizes are known, else as dots.
        floors: draw only these floors; all by default.
        legend: explain lines and marks below the plan.
        graph: also draw viewpoints and edges.
        labels: show room types by names and colours; else rooms are numbers.
        above: top-down images of floors, by floor id.
        width: maximum width in inches of a page of its own.
        height: maximum height in inches of a page of its own.
        on: the page to draw on.
        rect: the part of it, in points; all of it by default.

    Returns:
        The page. One of its own is no larger than asked, cut to the plan's proportions.
    """
    panels = _panels(plan_data(scene, floors=floors, labels=labels), routes, marks, above)
    entries = legend_entries(routes, marks) if legend else []
    head = _TITLE if title else 0.0
    most = rect[2] if rect else on.width if on else 72 * width
    foot = _FOOT + legend_height(entries, most)
    if on is None:
        layout = _arrange(panels, most, 72 * height - head - foot)
        on = PlanSheet(max(layout.width, min(432.0, most)), layout.height + head + foot)
        rect = None
    left, top, wide, high = rect or (0.0, 0.0, on.width, on.height)
    layout = _arrange(panels, wide, high - head - foot)
    bottom = top + high - foot
    top += head + (high - head - foot - layout.height) / 2
    if title:
        on.write(title, (left + wide / 2, top - 11), 9.5)
    for row in layout.rows:
        x = left + (wide - layout.wide(row)) / 2
        tall = max(panel.height for panel in row) * layout.scale
        for panel in row:
            size = (panel.width * layout.scale, panel.height * layout.scale)
            place = (x, top + layout.head + (tall - size[1]) / 2, *size)
            if layout.head:
                on.write(f"floor {panel.data.id}", (x + size[0] / 2, place[1] - 8), 7.5, look.HEAD)
            nodes, key = _drawn(panel, 1 / layout.scale, routes, marks, items, graph)
            on.place(nodes, panel.bounds, place)
            told = "  ·  ".join(entry.replace(" ", "\u00a0") for entry in key)
            for number, line in enumerate(
                look.wrap_words(told, max(20, int(size[0] / 4.2))).splitlines()
            ):
                under = place[1] + size[1] + 7 + 6.5 * number
                on.write(line, (x + size[0] / 2, under), 5.6, look.KEY)
            x += size[0] + _GAP
        top += layout.head + tall + _ROW_GAP
    _scale_bar(on, (left + 14, bottom + 30), layout.scale)
    draw_legend(on, (left, bottom + _FOOT, wide, foot - _FOOT), entries)
    return on


_CELL, _MOST_ACROSS = (374.4, 316.8), 4
"""Width and height in points of a home on a sheet of several, and homes in a row."""
MOST_PLANS = 24


def draw_sheet(
    scenes: Sequence[Scene],
    *,
    labels: bool = True,
    above: Callable[[Scene], Mapping[int, TopDownImage]] | None = None,
) -> PlanSheet:
    """Draw the plans of several homes in rows; a single home fills the page, floor by floor.

    Args:
        scenes: one home or more, in reading order.
        labels: show room types by names and colours; else rooms are numbers.
        above: returns the top-down images of a home's floors; floors are drawn unless given.

    Returns:
        A page of 100 dots an inch.
    """
    across = min(_MOST_ACROSS, len(scenes))
    sheet = PlanSheet(_CELL[0] * across, _CELL[1] * -(-len(scenes) // across))
    for number, scene in enumerate(scenes):
        row, column = divmod(number, across)
        place = (_CELL[0] * column + 7, _CELL[1] * row + 7, _CELL[0] - 14, _CELL[1] - 14)
        drawn = draw_plan(
            scene, title=scene.uri, items=True, legend=False, labels=labels,
            above=above and above(scene), width=16.0, height=10.0,
            on=sheet if len(scenes) > 1 else None, rect=place if len(scenes) > 1 else None,
        )  # fmt: skip
    drawn.dpi = 100.0
    return drawn


class _Layout(NamedTuple):
    """Floors in rows: the scale in points a metre, and the total size in points."""

    rows: list[list[_Panel]]
    scale: float
    head: float
    """Above each floor for its name; 0 for a single floor, which needs none."""

    def wide(self, row: Sequence[_Panel]) -> float:
        """Return the width of a row in points."""
        return sum(panel.width for panel in row) * self.scale + _GAP * (len(row) - 1)

    @property
    def width(self) -> float:
        return max(map(self.wide, self.rows)) + 2 * _GAP

    @property
    def height(self) -> float:
        tall = sum(max(panel.height for panel in row) for row in self.rows) * self.scale
        return tall + self.head * len(self.rows) + _ROW_GAP * (len(self.rows) - 1)


def _arrange(panels: Sequence[_Panel], width: float, height: float) -> _Layout:
    """Lay out floors side by side, or in rows if that makes them at least a quarter larger."""
    best: _Layout | None = None
    head = _HEAD if len(panels) > 1 else 0.0
    for count in range(1, len(panels) + 1):
        size = math.ceil(len(panels) / count)
        rows = [list(panels[i : i + size]) for i in range(0, len(panels), size)]
        free = height - head * len(rows) - _ROW_GAP * (len(rows) - 1)
        scale = min(
            free / sum(max(panel.height for panel in row) for row in rows),
            *((width - _GAP * (len(r) + 1)) / sum(p.width for p in r) for r in rows),
        )
        if best is None or scale > 1.25 * best.scale:
            best = _Layout(rows, max(scale, 0.05), head)
    assert best is not None  # noqa: S101 - a plan has at least one panel
    return best


def _panels(
    plan: PlanData,
    routes: Sequence[PlanRoute],
    marks: Sequence[PlanMark],
    above: Mapping[int, TopDownImage] | None = None,
) -> list[_Panel]:
    panels = []
    for data in plan.floors:
        spots = [(x, -z) for route in routes for at, x, z in route.points if at == data.id]
        spots += [(mark.x, -mark.z) for mark in marks if mark.floor == data.id]
        if bounds := paper_bounds(data, spots):
            panels.append(_Panel(data, bounds, (above or {}).get(data.id)))
    return panels or [_Panel(PlanFloor(1), (-1.0, -1.0, 1.0, 1.0))]


def _drawn(
    panel: _Panel,
    point: float,
    routes: Sequence[PlanRoute],
    marks: Sequence[PlanMark],
    items: bool,
    graph: bool,
) -> tuple[list[SvgNode], tuple[str, ...]]:
    """Draw a floor at ``point`` metres a point; also return the key to its room numbers."""
    pen, floor, here = SvgPen(point), panel.data, [m for m in marks if m.floor == panel.data.id]
    spots: list[look.Disc] = []
    signs: list[SvgNode] = []
    words = [*_stairs(routes, floor.id), *_steps(routes, floor.id)]
    for mark in here:
        size = look.MARKS[mark.kind].size
        x, y = _free_spot(mark.x, -mark.z, size / 2 * point, spots)
        spots.append((x, y, size / 2 * point))
        signs += pen.sign(mark.kind, (x, y), size)
        if mark.label:
            told = look.TextLayout(look.wrap_words(mark.label, 16), 7.0, False)
            words.append(look.PointLabel(told, x, y, look.THING_NAME, size / 2 * point))
    drawn: list[SvgNode] = []
    arrows: list[SvgNode] = []
    lines: list[LineString] = []
    for line, width, its in _lines(routes, floor.id, point):
        drawn += _line_nodes(line, its, width, pen)
        arrows += _arrow_nodes(line, its, width, pen)
        lines.append(LineString(line))
    rooms = [floor.shapes[room.id] for room in floor.rooms]
    said = look.place_labels(words, pen.extent, box(*panel.bounds), rooms, lines=lines, spots=spots)
    names, key = draw_room_labels(
        floor, pen, lines=lines, spots=spots, taken=[ground for _, _, ground in said]
    )
    around = {"fill": look.NAME, "text-anchor": "middle", **halo_of(point)}
    return [
        *draw_floor(floor, pen, items=items, graph=graph, above=panel.above),
        *drawn,
        *arrows,
        SvgNode("g", around, names),
        *signs,
        *(pen.words(word.setting, at, word.ink, italic=word.italic) for word, at, _ in said),
    ], key


def _steps(routes: Sequence[PlanRoute], floor: int) -> Iterator[look.PointLabel]:
    """Yield labels with the numbers of the steps that led to each point of numbered routes."""
    numbers: dict[Spot, list[str]] = defaultdict(list)
    for route in routes:
        for number, point in enumerate(route.points if route.numbered else ()):
            if number and point[0] == floor:
                numbers[point].append(str(number))
    for (_, x, z), said in numbers.items():
        setting = look.TextLayout(look.wrap_words(", ".join(said), 16), 5.8, False)
        yield look.PointLabel(setting, x, -z, look.ROUTES["robot_1"].colour, rank=2)


def _stairs(routes: Sequence[PlanRoute], floor: int) -> Iterator[look.PointLabel]:
    """Yield labels where routes leave and reach a floor."""
    notes: dict[look.PointLabel, None] = {}
    for route in routes:
        for (fa, xa, za), (fb, xb, zb) in pairwise(route.points):
            if fa != fb and floor in (fa, fb):
                words = f"to floor {fb}" if fa == floor else f"from floor {fa}"
                at = (xa + xb) / 2, -(za + zb) / 2
                setting = look.TextLayout(words, 6.0, True)
                notes[look.PointLabel(setting, *at, route.look.colour, rank=1, italic=True)] = None
    yield from notes


def _lines(
    routes: Sequence[PlanRoute], floor: int, point: float
) -> Iterator[tuple[Stroke, float, look.RouteStyle]]:
    """Yield each route's parts on a floor with width and style, side by side on shared edges."""
    lanes = _lanes(routes)
    for number, route in enumerate(routes):
        last = len(route.points) - 1
        split = last if route.carried_from is None else min(route.carried_from, last)
        width, carrying = route.look.width, route.look.carrying
        for first, end, wide in ((0, split, width), (split, last, carrying)):
            for run in _runs_on(route, first, end, floor):
                shifts = [lanes.get((number, i), 0.0) * point for i in run.steps]
                line = _shifted(run.points, shifts)
                if line is not None:
                    yield tuple(line), wide, route.look


def _line_nodes(line: Stroke, its: look.RouteStyle, width: float, pen: SvgPen) -> list[SvgNode]:
    path = {"d": pen.lines([line]), "stroke-linejoin": "round"}
    pale = {"stroke-opacity": "0.7", **pen.ink(look.Ink("#ffffff", width + 1.2))}
    ink = pen.ink(look.Ink(its.colour, width, dash=its.dash))
    return [SvgNode("path", pale | path), SvgNode("path", ink | path)]


def _arrow_nodes(line: Stroke, its: look.RouteStyle, wide: float, pen: SvgPen) -> Iterator[SvgNode]:
    """Yield triangles spread evenly along a line, never at a corner."""
    path = LineString(line)
    size = look.ARROW_CARRYING if wide == its.carrying else look.ARROW
    reach = size / 2 * pen.point
    count = max(1, round(path.length / (look.ARROWS_APART * pen.point)))
    for k in range(count):
        along = (k + 0.5) * path.length / count
        behind, at, ahead = (path.interpolate(max(0, along + d)) for d in (-0.05, 0.0, 0.05))
        way = math.atan2(ahead.y - behind.y, ahead.x - behind.x)
        turns = (way, way + 2 * math.pi / 3, way - 2 * math.pi / 3)
        corners = ((at.x + reach * math.cos(t), at.y + reach * math.sin(t)) for t in turns)
        yield pen.ring(corners, **pen.ink(look.Ink("#ffffff", 0.5, its.colour)))


class _Run(NamedTuple):
    points: list[tuple[float, float]]
    steps: list[int]


def _runs_on(route: PlanRoute, first: int, last: int, floor: int) -> Iterator[_Run]:
    """Yield the parts of points[first..last] on a floor; a step between floors shows its half."""
    run = _Run([], [])
    for i in range(first, last):
        (fa, xa, za), (fb, xb, zb) = route.points[i], route.points[i + 1]
        if floor not in (fa, fb):
            continue
        middle = ((xa + xb) / 2, -(za + zb) / 2)
        a = (xa, -za) if fa == floor else middle
        b = (xb, -zb) if fb == floor else middle
        if run.points and run.points[-1] != a:
            yield run
            run = _Run([], [])
        run.points.extend([b] if run.points else [a, b])
        run.steps.append(i)
        if fb != floor:
            yield run
            run = _Run([], [])
    if run.points:
        yield run


def _lanes(routes: Sequence[PlanRoute]) -> dict[tuple[int, int], float]:
    """Return the offset in points of each step (route, index) from its edge's centre line.

    The side is counted from the edge's own direction, not the robot's, so that both directions of
    travel are told apart as well as two robots are.
    """
    on_edge: dict[tuple[Spot, Spot], list[tuple[int, int]]] = defaultdict(list)
    for number, route in enumerate(routes):
        for i, (a, b) in enumerate(pairwise(route.points)):
            on_edge[min(a, b), max(a, b)].append((number, i))
    lanes: dict[tuple[int, int], float] = {}
    for (a, _), steps in on_edge.items():
        for rank, (number, i) in enumerate(steps):
            side = 1.0 if routes[number].points[i] == a else -1.0
            lanes[number, i] = side * (rank - (len(steps) - 1) / 2) * look.LANE
    return lanes


def _shifted(
    points: Sequence[tuple[float, float]], shifts: Sequence[float]
) -> list[tuple[float, float]] | None:
    """Return the polyline with each step moved left by its shift (metres), joints averaged."""
    kept: list[tuple[float, float]] = [points[0]]
    moves: list[NDArray[np.float64]] = []
    for b, shift in zip(points[1:], shifts, strict=True):
        step = np.subtract(b, kept[-1])
        length = math.hypot(*step)
        if length > 1e-9:
            moves.append(np.array([-step[1], step[0]]) / length * shift)
            kept.append(b)
    if not moves:
        return None
    ends = [moves[0], *((u + v) / 2 for u, v in pairwise(moves)), moves[-1]]
    return [(float(p[0] + m[0]), float(p[1] + m[1])) for p, m in zip(kept, ends, strict=True)]


def _free_spot(x: float, y: float, radius: float, kept: Sequence[look.Disc]) -> tuple[float, float]:
    """Return the position nearest to a mark's own where it hides no placed mark."""
    for ring in range(4):
        for turn in range(8 if ring else 1):
            angle = math.pi / 4 * turn
            px = x + ring * radius * 1.1 * math.cos(angle)
            py = y + ring * radius * 1.1 * math.sin(angle)
            if all(math.hypot(px - qx, py - qy) >= 0.9 * (radius + r) for qx, qy, r in kept):
                return px, py
    return x, y


class LegendEntry(NamedTuple):
    """Legend entry: text with a line or a mark before it."""

    words: str
    line: look.Ink | None
    mark: look.MarkKind | None = None

    def width(self, size: float) -> float:
        """Return the width in points at letters of ``size`` points, with the gap behind it."""
        return (text_width(self.words) + 4.2) * size


def legend_entries(routes: Sequence[PlanRoute], marks: Sequence[PlanMark]) -> list[LegendEntry]:
    """Return an entry for each robot, line style and mark that occurs."""
    entries = []
    for robot in ("robot_1", "robot_2"):
        words = next((route.label or robot for route in routes if route.robot == robot), None)
        if words is not None:
            line = look.ROUTES[robot]
            entries.append(LegendEntry(words, look.Ink(line.colour, 1.3, dash=line.dash)))
    if any(route.carried_from is not None for route in routes):
        entries.append(LegendEntry("thick: carrying", look.Ink("#555555", 3.0)))
    kinds = {mark.kind for mark in marks}
    return entries + [LegendEntry(look.MARKS[k].says, None, k) for k in look.MARKS if k in kinds]


def _legend_rows(
    entries: Sequence[LegendEntry], width: float, size: float
) -> list[list[LegendEntry]]:
    count = math.ceil(sum(entry.width(size) for entry in entries) / width)
    across = max(1, math.ceil(len(entries) / max(1, count)))
    while across > 1:
        rows = [list(entries[i : i + across]) for i in range(0, len(entries), across)]
        if all(sum(entry.width(size) for entry in row) <= width for row in rows):
            return rows
        across -= 1
    return [[entry] for entry in entries]


def legend_height(entries: Sequence[LegendEntry], width: float, size: float = 7.0) -> float:
    """Return the height of a legend in points for a given width in points."""
    rows = len(_legend_rows(entries, width, size))
    return size / 7 * _LEGEND * rows + 4 if rows else 0.0


def draw_legend(
    sheet: PlanSheet, rect: Rect, entries: Sequence[LegendEntry], size: float = 7.0
) -> None:
    """Draw a legend into a part of a page, in letters of ``size`` points."""
    pen = SvgPen(1.0)
    y = rect[1] + size / 7 * _LEGEND / 2
    for row in _legend_rows(entries, rect[2], size):
        # The gap behind the last entry is not part of the row.
        x = rect[0] + (rect[2] - sum(entry.width(size) for entry in row) + 1.2 * size) / 2
        for entry in row:
            if entry.line:
                sheet.nodes.append(pen.draw([((x, -y), (x + 2.2 * size, -y))], entry.line))
            if entry.mark:
                wide = min(9.0, 0.8 * look.MARKS[entry.mark].size)
                sheet.nodes += pen.sign(entry.mark, (x + 1.1 * size, -y), wide)
            sheet.write(entry.words, (x + 3 * size, y), size, anchor="start")
            x += entry.width(size)
        y += size / 7 * _LEGEND


def _scale_bar(sheet: PlanSheet, at: tuple[float, float], scale: float) -> None:
    """Draw a scale bar of a round length; one metre is ``scale`` points."""
    metres = max((m for m in (1, 2, 5, 10) if m * scale <= 86), default=1)
    end = at[0] + metres * scale
    bar = ((at[0], -at[1]), (end, -at[1]))
    sheet.nodes.append(SvgPen(1.0).draw([bar], look.Ink(look.SCALE, 2.0)))
    words = f"{metres} m\u00a0\u00a0\u00a0\u00a0↑ heading 0 (−z)"
    sheet.write(words, (end + 4, at[1]), 6.5, look.SCALE, anchor="start")
