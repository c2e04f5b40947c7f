"""Drawing of a floor as SVG nodes in metres, shared by web pages, SVG files and images of plans.

x points right and y = z DOWN the page, as in SVG, so that -z is up. Text from a scene becomes text
of a node only: no tag and no attribute comes from it but ``data-id``.
:mod:`navloom.scenes.plan_sheet` sets floors, routes and marks on a page and renders it to PNG.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html import escape
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFont
from shapely.geometry import LineString, Polygon

from navloom.files import truncate
from navloom.scenes import plan_style as look
from navloom.scenes.plan_data import (
    PlanData,
    PlanDoor,
    PlanFloor,
    PlanItem,
    PlanLink,
    PlanRoom,
    PlanStairs,
    Spot,
    Stroke,
)

TAGS = frozenset({"g", "path", "polygon", "polyline", "line", "circle", "text", "tspan", "title"})
ATTRIBUTES = frozenset(
    {"class", "cx", "cy", "d", "data-id", "data-layer", "fill", "fill-rule"}
    | {"font-size", "font-weight"}
    | {"opacity", "paint-order", "points", "r", "stroke", "stroke-dasharray", "stroke-linecap"}
    | {"stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor", "x", "y", "dy"}
)
_MOST_LETTERS = 120
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML does not allow."""


@dataclass(frozen=True)
class SvgNode:
    """SVG element: one of :data:`TAGS` with some of :data:`ATTRIBUTES`; its text is a child."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[SvgNode | str, ...] = ()

    def record(self) -> list[Any]:
        """Return the element as JSON: ``[tag, attributes, *children]``."""
        below = [each if isinstance(each, str) else each.record() for each in self.children]
        return [self.tag, dict(self.attributes), *below]


LINE = 1.15
"""Line spacing in font sizes."""
_FEW, _OFF = 6, 0.006
"""Lines of more points are simplified within this tolerance in metres."""


@cache
def font_files() -> tuple[str, str, str]:
    """Return the DejaVu Sans files (regular, bold, oblique) of matplotlib's package."""
    found = find_spec("matplotlib")
    folder = Path((found and found.origin) or "").parent / "mpl-data/fonts/ttf"
    names = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSans-Oblique.ttf")
    regular, bold, oblique = (str(folder / name) for name in names)
    return regular, bold, oblique


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_files()[bold], 256, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(8192)
def text_width(line: str, *, bold: bool = False) -> float:
    """Return the width of a line of DejaVu Sans in font sizes; few fonts are wider."""
    return _font(bold).getlength(line) / 256


@dataclass(frozen=True)
class SvgPen:
    """Factory of SVG nodes at a drawing scale: ``point`` is metres of paper."""

    point: float

    def width(self, points: float) -> str:
        """Return a length in points as a number of metres of paper."""
        return fmt_num(points * self.point, 3)

    def ink(self, ink: look.Ink, *, fill: bool = True) -> dict[str, str]:
        """Return the SVG attributes of a line style."""
        made = {"stroke": ink.line, "stroke-width": self.width(ink.width)}
        if fill:
            made["fill"] = ink.fill
        if ink.dash:
            made["stroke-dasharray"] = " ".join(self.width(d * ink.width) for d in ink.dash)
        if ink.opacity != 1.0:
            made["opacity"] = f"{ink.opacity:g}"
        return made

    def draw(self, lines: Iterable[Stroke], ink: look.Ink, *, close: bool = False) -> SvgNode:
        """Return lines in a style as one node; closed areas if ``close``."""
        return SvgNode("path", {**self.ink(ink), "d": self.lines(lines, close=close)})

    def ring(self, corners: Iterable[tuple[float, float]], **attributes: str) -> SvgNode:
        """Return a small polygon, to the millimetre."""
        points = " ".join(f"{fmt_num(x, 3)},{fmt_num(-y, 3)}" for x, y in corners)
        return SvgNode("polygon", {**attributes, "stroke-linejoin": "round", "points": points})

    def sign(self, kind: look.MarkKind, at: Spot, size: float) -> Iterator[SvgNode]:
        """Yield the nodes of a mark of ``size`` points; a robot's start has its number on it."""
        told, (x, y), wide = look.MARKS[kind], at, size * self.point
        ink = self.ink(look.Ink("#000000", 0.8, told.colour))
        if corners := look.SIGNS[told.marker]:
            yield self.ring(((x + wide * u, y - wide * v) for u, v in corners), **ink)
        else:
            yield SvgNode(
                "circle", {**ink, "cx": fmt_num(x), "cy": fmt_num(-y), "r": fmt_num(wide / 2, 3)}
            )
        if kind.startswith("start_"):
            number = look.TextLayout(kind.removeprefix("start_"), 0.65 * size, False)
            yield self.words(number, at, "#ffffff", halo=False)

    def spans(self, setting: look.TextLayout, at: Spot) -> tuple[SvgNode, ...]:
        """Return the lines of a text centred vertically on a point of the paper."""
        lines, size = setting.text.split("\n"), setting.size * self.point
        # Baselines lie 0.35 of the size below the middle of their line.
        top = -at[1] - (len(lines) - 1) / 2 * size * LINE + 0.35 * size
        return tuple(
            SvgNode(
                "tspan",
                {"x": fmt_num(at[0]), "y": fmt_num(top + k * size * LINE)},
                (safe_text(line),),
            )
            for k, line in enumerate(lines)
        )

    def words(
        self, setting: look.TextLayout, at: Spot, ink: str, *, halo: bool = True,
        anchor: str = "middle", italic: bool = False,
    ) -> SvgNode:  # fmt: skip
        """Return text at a point of the paper, bold unless ``setting.full``."""
        looks = {"font-size": self.width(setting.size), "fill": ink, "text-anchor": anchor}
        looks |= {} if setting.full else {"font-weight": "bold"}
        looks |= {"font-style": "italic"} if italic else {}
        looks |= halo_of(self.point) if halo else {}
        return SvgNode("text", looks, self.spans(setting, at))

    def dots(self, colour: str, size: float) -> dict[str, str]:
        """Return the attributes of dots: zero-length lines with round ends, compact in SVG."""
        return {"stroke": colour, "stroke-width": self.width(2 * size), "stroke-linecap": "round"}

    def dot(self, at: Spot) -> str:
        """Return the path data of a dot, for :meth:`dots`."""
        return f"M{fmt_num(at[0])} {fmt_num(-at[1])}h0"

    def lines(self, lines: Iterable[Stroke], *, close: bool = False) -> str:
        """Return lines of the paper as the path data ``d``."""
        return "".join(_path(line, close) for line in lines)

    def extent(self, setting: look.TextLayout) -> tuple[float, float]:
        """Return the width and height of a text in metres."""
        lines = setting.text.split("\n")
        wide = max(text_width(line, bold=not setting.full) for line in lines) * setting.size + 3
        return wide * self.point, (len(lines) * setting.size * LINE + 1.5) * self.point


def halo_of(point: float) -> dict[str, str]:
    """Return the SVG attributes of a white halo around text."""
    shape = {"paint-order": "stroke", "stroke": "#ffffff", "stroke-linejoin": "round"}
    width = fmt_num(look.HALO * point, 3)
    return shape | {"stroke-width": width, "stroke-opacity": f"{look.HALO_OPACITY:g}"}


def _path(line: Stroke, close: bool) -> str:
    """Return path data in relative whole centimetres: short, and rounding errors never add up."""
    kept = LineString(line).simplify(_OFF).coords if len(line) > _FEW else line
    spots = [(round(100 * x), round(-100 * y)) for x, y in kept]
    if close and len(spots) > 1 and spots[0] == spots[-1]:
        spots.pop()
    (x, y), last = spots[0], ""
    said = f"M{fmt_num(x / 100)} {fmt_num(y / 100)}"
    for (ax, ay), (bx, by) in pairwise(spots):
        along, down = fmt_num((bx - ax) / 100), fmt_num((by - ay) / 100)
        if "0" in (along, down):
            said += f"h{along}" if down == "0" else f"v{down}"
            last = ""
        else:
            said += f"{last or 'l'}{along} {down}"
            last = " "
    return said.replace(" -", "-") + ("z" if close else "h0" if len(spots) == 1 else "")


def fmt_num(value: float, places: int = 2) -> str:
    """Return a number in its shortest decimal form, to the centimetre by default."""
    digits = f"{value:.{places}f}".rstrip("0").rstrip(".")
    if digits in ("-0", ""):
        return "0"
    return digits.replace("0.", ".", 1) if digits.startswith(("0.", "-0.")) else digits


def title_node(words: str) -> SvgNode:
    """Return a title node, which browsers show on hover."""
    return SvgNode("title", {}, (safe_text(words),))


def safe_text(words: str) -> str:
    """Return scene text bounded and without characters that XML or JSON cannot hold."""
    return truncate(_ILLEGAL.sub("", words), _MOST_LETTERS)


_ONE, _EACH = (7.0, 6.0), (5.5, 5.0)
"""Width and height in inches of a single floor, and of the largest of several, at which text and
lines have their intended size."""
_MARGIN = 0.5
"""Metres of paper around the rooms."""
_MARK = 8.0
"""Points around a viewpoint that its label leaves free for marks."""
_MOST_THINGS = 4_000
"""Most items of a floor that are drawn."""
_DOTS = 150 / 72
"""Dots a point of a top-down image."""


@dataclass(frozen=True, eq=False)
class TopDownImage:
    """Top-down image of a floor, drawn under its routes and labels.

    Attributes:
        pixels: (height, width, 3) uint8, -z up.
        bounds: the least x, the least y = -z, the greatest x and the greatest y it shows, metres.
    """

    pixels: NDArray[np.uint8]
    bounds: tuple[float, float, float, float]


@dataclass(frozen=True)
class FloorDrawing:
    """Drawing of a storey: ``nodes`` in their order, then routes, then ``names``, then marks.

    Attributes:
        id: its number.
        box: the least x, the least y, the width and the height that it takes, metres.
        nodes: the building, in layers: ``rooms``, ``graph``, ``stairs``, ``things``, ``walls``.
        names: the room labels.
        key: meanings of labels that are numbers.
    """

    id: int
    box: tuple[float, float, float, float]
    nodes: tuple[SvgNode, ...]
    names: tuple[SvgNode, ...]
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanDrawing:
    """Drawing of a scene's floors, the lowest first.

    Attributes:
        scene: its URI.
        point: metres of paper that 1/72 inch covers at the intended size.
        floors: each storey.
        faint: layers that are dimmed while something else is highlighted.
    """

    scene: str
    point: float
    floors: tuple[FloorDrawing, ...]
    faint: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the drawing as JSON, with the styles of routes and marks."""
        floors = [
            {
                "id": floor.id,
                "box": [round(each, 2) for each in floor.box],
                "nodes": [node.record() for node in floor.nodes],
                "names": [node.record() for node in floor.names],
                "key": list(floor.key),
            }
            for floor in self.floors
        ]
        return {
            "scene": self.scene,
            "point": round(self.point, 5),
            "faint": list(self.faint),
            "looks": look.plan_styles(),
            "floors": floors,
        }


def plan_drawing(plan: PlanData, *, items: bool = True, graph: bool = False) -> PlanDrawing:
    """Draw a scene's floor plan as SVG nodes.

    Args:
        plan: the plan's content.
        items: also draw items; the first 4,000 of a floor.
        graph: also draw viewpoints and edges.

    Returns:
        Floors at one scale. Items are ``faint`` if none has a known shape, the graph if there are
        walls.
    """
    boxes = []
    for floor in plan.floors:
        bounds = paper_bounds(floor, floor.viewpoints.values())
        left, low, right, high = bounds or (-1.0, -1.0, 1.0, 1.0)
        boxes.append((left, -high, right - left, high - low))
    wide, high = _ONE if len(boxes) == 1 else _EACH
    point = max((max(box[2] / wide, box[3] / high) for box in boxes), default=1.0) / 72
    floors = []
    for floor, box in zip(plan.floors, boxes, strict=True):
        # If rooms are single viewpoints (CapNav's graphs), marks stand on their centres.
        places = floor.viewpoints.values() if len(floor.viewpoints) <= len(floor.rooms) else ()
        spots = [(x, y, _MARK * point) for x, y in places]
        names, key = draw_room_labels(floor, SvgPen(point), spots=spots)
        nodes = draw_floor(floor, SvgPen(point), items=items, graph=graph)
        floors.append(FloorDrawing(floor.id, box, nodes, names, key))
    walls = any(floor.walls for floor in plan.floors)
    told = any(item.outline for floor in plan.floors for item in floor.items)
    faint = (("graph",) if walls else ()) + (() if walls and told else ("things",))
    return PlanDrawing(safe_text(plan.scene), point, tuple(floors), faint)


def paper_bounds(
    floor: PlanFloor, spots: Iterable[Spot] = ()
) -> tuple[float, float, float, float] | None:
    """Return the bounds (x, y, x, y) of a floor's rooms and spots with a margin; None if empty."""
    bounds = [shape.bounds for shape in floor.shapes.values()] + [(x, y, x, y) for x, y in spots]
    if not bounds:
        return None
    lows, highs = ([f(side) for side in zip(*bounds, strict=True)] for f in (min, max))
    return lows[0] - _MARGIN, lows[1] - _MARGIN, highs[2] + _MARGIN, highs[3] + _MARGIN


def draw_floor(
    floor: PlanFloor,
    pen: SvgPen,
    *,
    items: bool = True,
    graph: bool = False,
    above: TopDownImage | None = None,
) -> tuple[SvgNode, ...]:
    """Return the drawing of a floor without its labels, one node for each layer.

    Args:
        floor: the floor.
        pen: the scale.
        items: also draw items; the first 4,000.
        graph: also draw viewpoints and edges.
        above: its top-down image, drawn instead of rooms, walls, doors and items.
    """
    drawn: dict[str, Callable[[], Iterable[SvgNode]]] = {
        "rooms": lambda: _rooms(floor, pen),
        "graph": lambda: _graph(floor, pen) if graph else (),
        "stairs": lambda: _stairs(floor, pen),
        "things": lambda: (_thing(each, pen) for each in floor.items[: _MOST_THINGS * items]),
        "walls": lambda: _walls(floor, pen),
    }
    if above is not None:
        drawn = {
            "above": lambda: [_photo(above, pen)],
            "graph": drawn["graph"],
            "stairs": lambda: _flights_on_photo(floor, pen),
        }
    rooms = {**pen.ink(look.ROOM, fill=False), "fill-rule": "evenodd"}
    looks = {"rooms": rooms, "things": pen.ink(look.OBJECT)}
    layers = {name: tuple(draw()) for name, draw in drawn.items()}
    return tuple(
        SvgNode("g", {"data-layer": name, **looks.get(name, {})}, nodes)
        for name, nodes in layers.items()
        if nodes
    )


def draw_room_labels(
    floor: PlanFloor,
    pen: SvgPen,
    *,
    lines: Sequence[LineString] = (),
    spots: Sequence[look.Disc] = (),
    taken: Sequence[Polygon] = (),
) -> tuple[tuple[SvgNode, ...], tuple[str, ...]]:
    """Draw the room labels of a floor.

    Args:
        floor: the floor.
        pen: the scale.
        lines: routes, which labels avoid if they can.
        spots: (x, y, radius) of marks, which labels never cover.
        taken: other areas that labels never cover.

    Returns:
        Labels without their halo and colour, and the key to those that are numbers.
    """
    rooms = {room.name: room for room in floor.rooms}
    shapes = {room.name: floor.shapes[room.id] for room in floor.rooms}
    notes = {room.name: room.note for room in floor.rooms if room.note}
    names, numbered = look.label_rooms(
        shapes, pen.extent, lines=lines, spots=spots, taken=taken, notes=notes
    )
    written = tuple(_name(name, rooms[name.room], pen) for name in names)
    return written, tuple(map(safe_text, look.number_key(len(shapes), numbered)))


def _photo(above: TopDownImage, pen: SvgPen) -> SvgNode:
    left, low, right, high = above.bounds
    picture = Image.fromarray(above.pixels)
    most = _DOTS * max(right - left, high - low) / pen.point
    # An occupancy map's cells stay square; an image has no more dots than are drawn.
    cells = {"image-rendering": "optimizeSpeed"} if max(picture.size) < most / 2 else {}
    picture.thumbnail((max(1, round(most)),) * 2, Image.Resampling.LANCZOS)
    held = BytesIO()
    picture.save(held, "PNG")
    href = "data:image/png;base64," + base64.b64encode(held.getvalue()).decode("ascii")
    place = {"x": fmt_num(left, 3), "y": fmt_num(-high, 3), "width": fmt_num(right - left, 3)}
    place |= {"height": fmt_num(high - low, 3), "preserveAspectRatio": "none"}
    # Paler, so that what is drawn on top stands out.
    return SvgNode("image", {**place, **cells, "opacity": "0.85", "href": href})


def _rooms(floor: PlanFloor, pen: SvgPen) -> Iterator[SvgNode]:
    # Small rooms lie on top of large ones: boxes overlap in real homes.
    for room in sorted(floor.rooms, key=lambda r: -floor.shapes[r.id].area):
        rings = [ring for part in room.parts for ring in part]
        words = room.label + (f": {room.note}" if room.note else "")
        yield SvgNode(
            "path",
            {"data-id": safe_text(room.id), "fill": room.tint, "d": pen.lines(rings, close=True)},
            (title_node(words),),
        )


def _graph(floor: PlanFloor, pen: SvgPen) -> Iterator[SvgNode]:
    at = floor.viewpoints
    ends = [(at[a], at[b]) for a, b in floor.edges]
    if ends:
        yield pen.draw(ends, look.EDGE)
    dots = tuple(SvgNode("path", {"data-id": safe_text(n), "d": pen.dot(p)}) for n, p in at.items())
    yield SvgNode("g", pen.dots(look.VIEWPOINT, look.VIEWPOINT_SIZE), dots)


def _stairs(floor: PlanFloor, pen: SvgPen) -> Iterator[SvgNode]:
    for flight in floor.stairs:
        ink = look.STAIRS_BELOW if flight.below else look.STAIRS
        yield pen.draw([*flight.landings, *flight.treads], ink, close=True)
    for link in floor.links:
        if link.tie is not None:
            yield pen.draw([link.tie], look.TIE)
    for flight in floor.stairs:
        if not flight.below:
            yield from _upwards(flight, look.STAIRS_LINE, pen)


def _flights_on_photo(floor: PlanFloor, pen: SvgPen) -> Iterator[SvgNode]:
    """Yield treads, which a top-down image does not show, and arrows of ascent."""
    for flight in floor.stairs:
        yield pen.draw([*flight.landings, *flight.treads], look.STAIRS_ON_PHOTO, close=True)
        yield from _upwards(flight, look.STAIRS_ON_PHOTO, pen)


def _upwards(flight: PlanStairs, ink: look.Ink, pen: SvgPen) -> Iterator[SvgNode]:
    """Yield an arrow up a flight; none for a lift, whose line is a point from above."""
    if max((math.dist(flight.line[0], each) for each in flight.line), default=0.0) > 0.05:
        yield pen.draw([flight.line, arrow_head(flight.line, pen)], ink)


def arrow_head(line: Stroke, pen: SvgPen) -> Stroke:
    """Return the two strokes of an arrow head at a line's end."""
    (ax, ay), (bx, by) = line[-2:]
    way = math.atan2(by - ay, bx - ax)
    left, right = (
        (bx - 4.5 * pen.point * math.cos(turn), by - 4.5 * pen.point * math.sin(turn))
        for turn in (way + 0.46, way - 0.46)
    )
    return left, (bx, by), right


def _thing(item: PlanItem, pen: SvgPen) -> SvgNode:
    shared = {"data-id": safe_text(item.id)}
    name = title_node(look.to_words(item.name))
    if not item.outline:
        dot = {"d": pen.dot(item.at), **pen.dots(look.THING_DOT, look.THING_DOT_SIZE)}
        return SvgNode("path", shared | dot, (name,))
    ink = look.item_ink(item.kind, item.shape)
    plain = pen.ink(look.OBJECT)
    own = {name: value for name, value in pen.ink(ink).items() if plain.get(name) != value}
    if not item.strokes or ink.width == look.STROKE_WIDTH:
        drawn = pen.lines([item.outline], close=True) + pen.lines(item.strokes)
        return SvgNode("path", shared | own | {"d": drawn}, (name,))
    width = {"stroke-width": own.pop("stroke-width")}
    outline = SvgNode("path", width | {"d": pen.lines([item.outline], close=True)})
    # The strokes are filled white on white, which does not show.
    return SvgNode(
        "g", shared | own, (name, outline, SvgNode("path", {"d": pen.lines(item.strokes)}))
    )


def _walls(floor: PlanFloor, pen: SvgPen) -> Iterator[SvgNode]:
    for cut, ink in ((False, look.LOW_WALL), (True, look.WALL)):
        walls = [wall.corners for wall in floor.walls if wall.cut is cut]
        if walls:
            yield pen.draw(walls, ink, close=True)
    doors = floor.doors
    strokes: tuple[tuple[Iterable[Stroke], look.Ink], ...] = (
        (floor.windows, look.WINDOW_GAP),
        ((door.jambs for door in doors), look.DOOR_GAP),
        (floor.windows, look.WINDOW),
        ((door.arc for door in doors if door.arc), look.ARC),
        ((door.jambs for door in doors if door.leaf is None), look.OPENING),
        (_leaves(doors, locked=False), look.LEAF),
        (_leaves(doors, locked=True), look.LOCKED_LEAF),
    )
    for lines, ink in strokes:
        if found := list(lines):
            yield pen.draw(found, ink)
    yield from (_link(link, pen) for link in floor.links)


def _leaves(doors: Sequence[PlanDoor], *, locked: bool) -> list[Stroke]:
    return [leaf for door in doors if (door.state == "locked") is locked for leaf in door.leaves]


def _link(link: PlanLink, pen: SvgPen) -> SvgNode:
    x, y = link.at
    h = look.LINK_SIZE / 2 * pen.point
    if link.kind in ("stairs", "elevator"):
        rungs = [((x - 1.3 * h, y + k), (x + 1.3 * h, y + k))
                 for k in (-look.RUNG_GAP * pen.point, 0.0, look.RUNG_GAP * pen.point)]  # fmt: skip
        return pen.draw(rungs, look.RUNG)
    corners = ((x - h, y - h), (x + h, y - h), (x + h, y + h), (x - h, y + h))
    return pen.draw([corners], look.LINK, close=True)


def _name(name: look.RoomLabel, room: PlanRoom, pen: SvgPen) -> SvgNode:
    weight = {} if name.setting.full else {"font-weight": "bold"}
    x, y = fmt_num(name.at[0]), fmt_num(-name.at[1])
    size = pen.width(name.setting.size)
    shared = {"data-id": safe_text(room.id), "x": x, "y": y, "font-size": size}
    spans = pen.spans(name.setting, name.at)
    return SvgNode("text", shared | weight, (*spans, title_node(room.label)))


def to_xml(node: SvgNode) -> str:
    """Return a node as XML text."""
    attributes = "".join(f' {name}="{escape(said)}"' for name, said in node.attributes.items())
    below = "".join(
        escape(each, quote=False) if isinstance(each, str) else to_xml(each)
        for each in node.children
    )
    return f"<{node.tag}{attributes}>{below}</{node.tag}>"
