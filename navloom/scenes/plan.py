"""The one top-down picture: a scene's floors side by side, with what happens in it on top.

x runs to the right and -z up the page, so heading 0 points up; every floor has the same scale.
Rooms are filled by what they are for and carry their names; a scene without outlines (an R2R
navigation graph) shows the ground its viewpoints cover. The marks are those of CoNavBench's
figure 11: a disc where a robot starts, a triangle for the object, a diamond for where it goes, a
star for the handoff. robot_1 is solid blue and robot_2 dashed orange, which colour-blind readers
can tell apart; a robot's line is thick while it carries the object.

Matplotlib's object-oriented API alone is used, so drawing changes no global state.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from navloom.scenes.plan_building import FromAbove, draw_building
from navloom.scenes.plan_data import PlanData, PlanFloor, plan_data
from navloom.scenes.plan_labels import Word, place_labels, place_words
from navloom.scenes.plan_legend import Rect, draw_legend, legend_handles, legend_height
from navloom.scenes.plan_lines import Mark, Route, Spot, draw_marks, draw_routes
from navloom.scenes.plan_look import HEAD, SCALE
from navloom.scenes.scene import Scene

_GAP = 0.15
_TITLE = 0.32
_FOOT = 0.5
"""Inches below the rooms for the numbers' key and the scale."""
_ROW_GAP = 0.28
"""Inches between rows of floors: a numbers' key fits in."""
_MARGIN = 0.5
"""Metres of paper kept free around the rooms."""


@dataclass(frozen=True)
class _Panel:
    data: PlanFloor
    bounds: tuple[float, float, float, float]
    above: FromAbove | None = None

    @property
    def floor(self) -> int:
        return self.data.id

    @property
    def width(self) -> float:
        return self.bounds[2] - self.bounds[0]

    @property
    def height(self) -> float:
        return self.bounds[3] - self.bounds[1]


def draw_plan(
    scene: Scene,
    *,
    routes: Sequence[Route] = (),
    marks: Sequence[Mark] = (),
    title: str | None = None,
    items: bool = False,
    floors: Iterable[int] | None = None,
    legend: bool = True,
    graph: bool = False,
    labels: bool = True,
    above: Mapping[int, FromAbove] | None = None,
    width: float = 10.0,
    height: float = 7.0,
) -> Figure:
    """Draw a scene from above as a figure of its own.

    Args:
        scene: what to draw.
        routes: where robots go.
        marks: the points that matter.
        title: one line above the plan.
        items: also draw the assets, as outlines where sizes are known and dots elsewhere.
        floors: draw these floors only; all by default.
        legend: say below the plan what lines and marks mean.
        graph: also draw viewpoints and edges.
        labels: whether names and colours tell what rooms are for; else rooms are numbers.
        above: floors that are shown as they look from above, each by its id.
        width: inches the figure may be wide.
        height: inches the figure may be high.

    Returns:
        A figure no larger than asked, cut to the plan's own proportions.
    """
    panels = _panels(plan_data(scene, floors=floors, labels=labels), routes, marks, above)
    around = (_TITLE if title else 0.0) + _FOOT
    around += legend_height(len(legend_handles(routes, marks)), width) if legend else 0.0
    layout = _arrange(panels, width, height - around)
    size = (max(layout.width, min(6.0, width)), layout.height + around)
    figure = Figure(figsize=size, dpi=150)
    _paint(figure, (0.0, 0.0, *size), panels, routes, marks, title, items, legend, graph)
    return figure


def draw_into(
    figure: Figure,
    rect: Rect,
    scene: Scene,
    *,
    routes: Sequence[Route] = (),
    marks: Sequence[Mark] = (),
    title: str | None = None,
    items: bool = False,
    floors: Iterable[int] | None = None,
    legend: bool = True,
    graph: bool = False,
    labels: bool = True,
    above: Mapping[int, FromAbove] | None = None,
) -> None:
    """Draw a scene into a part of a figure; the arguments are those of :func:`draw_plan`.

    Args:
        figure: the figure to draw on.
        rect: where on it, in inches.
        scene: what to draw.
        routes: where robots go.
        marks: the points that matter.
        title: one line above the plan.
        items: also draw the assets.
        floors: draw these floors only; all by default.
        legend: say below the plan what lines and marks mean.
        graph: also draw viewpoints and edges.
        labels: whether names and colours tell what rooms are for.
        above: floors that are shown as they look from above, each by its id.
    """
    panels = _panels(plan_data(scene, floors=floors, labels=labels), routes, marks, above)
    _paint(figure, rect, panels, routes, marks, title, items, legend, graph)


def _paint(
    figure: Figure,
    rect: Rect,
    panels: Sequence[_Panel],
    routes: Sequence[Route],
    marks: Sequence[Mark],
    title: str | None,
    items: bool,
    legend: bool,
    graph: bool,
) -> None:
    if not isinstance(figure.canvas, FigureCanvasAgg):
        FigureCanvasAgg(figure)
    left, bottom, width, height = rect
    handles = legend_handles(routes, marks) if legend else []
    below = bottom + _FOOT + (legend_height(len(handles), width) if handles else 0.0)
    room = height - (below - bottom) - (_TITLE if title else 0.0)
    layout = _arrange(panels, width, room)
    top = below + (room + layout.height) / 2
    if title:
        middle = ((left + width / 2) / figure.get_figwidth(), top / figure.get_figheight())
        figure.text(*middle, title, ha="center", va="bottom", fontsize=9.5, parse_math=False)
    for row in layout.rows:
        wide = sum(panel.width for panel in row) * layout.scale + _GAP * (len(row) - 1)
        high = max(panel.height for panel in row) * layout.scale
        top -= layout.head + high
        x = left + (width - wide) / 2
        for panel in row:
            size = (panel.width * layout.scale, panel.height * layout.scale)
            axes = _axes(figure, (x, top + (high - size[1]) / 2, *size), panel)
            if layout.head:
                axes.set_title(f"floor {panel.floor}", fontsize=7.5, color=HEAD, pad=3)
            _draw_panel(axes, panel, routes, marks, items, graph)
            x += size[0] + _GAP
        top -= _ROW_GAP
    _scale_bar(figure, (left + 0.2, below - _FOOT), layout.scale)
    if handles:
        draw_legend(figure, rect, handles)


@dataclass(frozen=True)
class _Layout:
    """Floors in rows, in inches: the scale in inches a metre and the size of it all."""

    rows: list[list[_Panel]]
    scale: float
    head: float
    """Inches for a floor's name above it; 0 for a single floor, which needs none."""

    @property
    def width(self) -> float:
        return max(
            sum(panel.width for panel in row) * self.scale + _GAP * (len(row) + 1)
            for row in self.rows
        )

    @property
    def height(self) -> float:
        tall = sum(max(panel.height for panel in row) for row in self.rows) * self.scale
        return tall + self.head * len(self.rows) + _ROW_GAP * (len(self.rows) - 1)


def _arrange(panels: Sequence[_Panel], width: float, height: float) -> _Layout:
    """Floors side by side, or in rows where that makes them at least a quarter larger."""
    best: _Layout | None = None
    head = 0.22 if len(panels) > 1 else 0.0
    for count in range(1, len(panels) + 1):
        size = math.ceil(len(panels) / count)
        rows = [list(panels[i : i + size]) for i in range(0, len(panels), size)]
        free = height - head * len(rows) - _ROW_GAP * (len(rows) - 1)
        scale = min(
            free / sum(max(panel.height for panel in row) for row in rows),
            *((width - _GAP * (len(r) + 1)) / sum(p.width for p in r) for r in rows),
        )
        if best is None or scale > 1.25 * best.scale:
            best = _Layout(rows, max(scale, 1e-3), head)
    assert best is not None  # noqa: S101 - a plan has at least one panel
    return best


def _panels(
    plan: PlanData,
    routes: Sequence[Route],
    marks: Sequence[Mark],
    above: Mapping[int, FromAbove] | None = None,
) -> list[_Panel]:
    panels = []
    for data in plan.floors:
        spots = [(x, -z) for route in routes for at, x, z in route.points if at == data.id]
        spots += [(mark.x, -mark.z) for mark in marks if mark.floor == data.id]
        boxes = [shape.bounds for shape in data.shapes.values()] + [(x, y, x, y) for x, y in spots]
        if not boxes:
            continue
        low_x, low_y = min(b[0] for b in boxes), min(b[1] for b in boxes)
        high_x, high_y = max(b[2] for b in boxes), max(b[3] for b in boxes)
        bounds = (low_x - _MARGIN, low_y - _MARGIN, high_x + _MARGIN, high_y + _MARGIN)
        panels.append(_Panel(data, bounds, (above or {}).get(data.id)))
    return panels or [_Panel(PlanFloor(1), (-1.0, -1.0, 1.0, 1.0))]


def _axes(figure: Figure, box: Rect, panel: _Panel) -> Axes:
    wide, high = figure.get_figwidth(), figure.get_figheight()
    axes = figure.add_axes((box[0] / wide, box[1] / high, box[2] / wide, box[3] / high))
    axes.set_xlim(panel.bounds[0], panel.bounds[2])
    axes.set_ylim(panel.bounds[1], panel.bounds[3])
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes


def _draw_panel(
    axes: Axes,
    panel: _Panel,
    routes: Sequence[Route],
    marks: Sequence[Mark],
    items: bool,
    graph: bool,
) -> None:
    draw_building(axes, panel.data, items=items, graph=graph, above=panel.above)
    here = [mark for mark in marks if mark.floor == panel.floor]
    spots = draw_marks(axes, here)
    lines, taken = draw_routes(axes, panel.floor, routes, spots)
    words = [Word(mark.label, *spot) for mark, spot in zip(here, spots, strict=True) if mark.label]
    words += [Word(said, x, -z, 0.0, step=True) for said, x, z in _steps(routes, panel.floor)]
    rooms = panel.data.rooms
    shapes = {room.name: panel.data.shapes[room.id] for room in rooms}
    notes = {room.name: room.note for room in rooms if room.note}
    said = place_words(axes, shapes, words, lines=lines, spots=[*spots, *taken])
    place_labels(axes, shapes, lines=lines, spots=[*spots, *taken], taken=said, notes=notes)


def _steps(routes: Sequence[Route], floor: int) -> list[tuple[str, float, float]]:
    """The numbers of the steps that led to each point of the routes that number theirs."""
    numbers: dict[Spot, list[str]] = {}
    for route in routes:
        for number, point in enumerate(route.points if route.numbered else ()):
            if number and point[0] == floor:
                numbers.setdefault(point, []).append(str(number))
    return [(", ".join(said), x, z) for (_, x, z), said in numbers.items()]


def _scale_bar(figure: Figure, at: tuple[float, float], scale: float) -> None:
    """A bar of a round length at (x, y) inches, where one metre is ``scale`` inches."""
    wide, high = figure.get_figwidth(), figure.get_figheight()
    metres = max((m for m in (1, 2, 5, 10) if m * scale <= 1.2), default=1)
    x, y = at[0] / wide, (at[1] + 0.08) / high
    end = x + metres * scale / wide
    figure.add_artist(Line2D([x, end], [y, y], color=SCALE, lw=2))
    words = f"{metres} m    ↑ heading 0 (−z)"
    figure.text(end + 0.06 / wide, y, words, fontsize=6.5, va="center", color=SCALE)
