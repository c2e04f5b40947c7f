"""A plan as a drawing of plain values: what a page draws, and what an SVG file says.

As matplotlib draws it (:mod:`navloom.scenes.plan_building`), from the same data and looks. In
metres: x to the right and y = z DOWN the page, as SVG has it, so that -z is up. What a scene says
is text of a node and nothing else: no tag and no attribute comes from it but ``data-id``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from navloom.scenes import plan_look as look
from navloom.scenes.plan_data import PlanData, PlanDoor, PlanFloor, PlanItem, PlanLink, PlanStairs
from navloom.scenes.plan_look import Ink
from navloom.scenes.plan_names import Name, choose_names, explained
from navloom.scenes.plan_pen import LINE, Node, Pen, cm, halo, said, title
from navloom.scenes.plan_shapes import readable
from navloom.scenes.plan_symbols import Stroke

_ONE, _EACH = (7.0, 6.0), (5.5, 5.0)
"""Inches, wide and high, that a floor is drawn in where it is the only one, and else the largest:
there words and lines are as large as they are meant."""
_MARGIN = 0.5
"""Metres of paper around the rooms."""
_MARK = 8.0
"""Points around a place that its name leaves to marks."""
_MOST_THINGS = 4_000
"""Things of a floor that are drawn."""


@dataclass(frozen=True)
class FloorDrawing:
    """A storey: ``nodes`` in their order, then routes, then ``names``, then marks.

    Attributes:
        id: its number.
        box: the least x, the least y, the width and the height that it takes, metres.
        nodes: the building, in layers: ``rooms``, ``graph``, ``stairs``, ``things``, ``walls``.
        names: what stands for rooms.
        key: what names that are numbers mean.
    """

    id: int
    box: tuple[float, float, float, float]
    nodes: tuple[Node, ...]
    names: tuple[Node, ...]
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """A scene's floors, the lowest first.

    Attributes:
        scene: its URI.
        point: metres on paper that 1/72 inch is, where it is drawn as large as it is meant.
        floors: each storey.
        faint: layers that stand back where something else is looked at.
    """

    scene: str
    point: float
    floors: tuple[FloorDrawing, ...]
    faint: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """As JSON, with how routes and marks on it look."""
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
            "looks": look.looks(),
            "floors": floors,
        }


def plan_drawing(plan: PlanData, *, items: bool = True, graph: bool = False) -> Drawing:
    """Draw a scene's plan.

    Args:
        plan: what is drawn.
        items: things, too; of a floor with more than 4,000 the first.
        graph: viewpoints and edges, too.

    Returns:
        Floors at one scale. Things stand back (``faint``) where no shapes of them are known, and
        the graph where there are walls.
    """
    boxes = [_box(floor) for floor in plan.floors]
    wide, high = _ONE if len(boxes) == 1 else _EACH
    point = max((max(box[2] / wide, box[3] / high) for box in boxes), default=1.0) / 72
    floors = tuple(
        _floor(floor, box, point, items=items, graph=graph)
        for floor, box in zip(plan.floors, boxes, strict=True)
    )
    walls = any(floor.walls for floor in plan.floors)
    told = any(item.outline for floor in plan.floors for item in floor.items)
    faint = (("graph",) if walls else ()) + (() if walls and told else ("things",))
    return Drawing(said(plan.scene), point, floors, faint)


def _box(floor: PlanFloor) -> tuple[float, float, float, float]:
    bounds = [shape.bounds for shape in floor.shapes.values()]
    bounds += [(x, y, x, y) for x, y in floor.viewpoints.values()]
    if not bounds:
        return (-1.0, -1.0, 2.0, 2.0)
    left, right = min(b[0] for b in bounds) - _MARGIN, max(b[2] for b in bounds) + _MARGIN
    low, high = min(b[1] for b in bounds) - _MARGIN, max(b[3] for b in bounds) + _MARGIN
    return left, -high, right - left, high - low


def _floor(
    floor: PlanFloor,
    box: tuple[float, float, float, float],
    point: float,
    *,
    items: bool,
    graph: bool,
) -> FloorDrawing:
    pen = Pen(point)
    layers = {
        "rooms": list(_rooms(floor, pen)),
        "graph": list(_graph(floor, pen)) if graph else [],
        "stairs": list(_stairs(floor, pen)),
        "things": [_thing(each, pen) for each in floor.items[:_MOST_THINGS]] if items else [],
        "walls": list(_walls(floor, pen)),
    }
    looks = {
        "rooms": {**pen.ink(look.ROOM, fill=False), "fill-rule": "evenodd"},
        "things": pen.ink(look.OBJECT),
    }
    nodes = tuple(
        Node("g", {"data-layer": name, **looks.get(name, {})}, tuple(found))
        for name, found in layers.items()
        if found
    )
    labels = {room.id: room for room in floor.rooms}
    by_name = {room.name: room.id for room in floor.rooms}
    shapes = {room.name: floor.shapes[room.id] for room in floor.rooms}
    notes = {room.name: room.note for room in floor.rooms if room.note}
    # Where rooms are one place each (CapNav's graphs), what happens there lies on their middles.
    places = floor.viewpoints.values() if len(floor.viewpoints) <= len(floor.rooms) else ()
    spots = [(x, y, _MARK * point) for x, y in places]
    names, numbered = choose_names(shapes, pen.extent, spots=spots, notes=notes)
    written = tuple(
        _name(name, by_name[name.room], labels[by_name[name.room]].label, pen) for name in names
    )
    return FloorDrawing(
        floor.id, box, nodes, written, tuple(map(said, explained(len(shapes), numbered)))
    )


def _rooms(floor: PlanFloor, pen: Pen) -> Iterator[Node]:
    # Small rooms lie on top of large ones: boxes overlap in real homes.
    for room in sorted(floor.rooms, key=lambda r: -floor.shapes[r.id].area):
        rings = [ring for part in room.parts for ring in part]
        words = room.label + (f": {room.note}" if room.note else "")
        yield Node(
            "path",
            {"data-id": said(room.id), "fill": room.tint, "d": pen.lines(rings, close=True)},
            (title(words),),
        )


def _graph(floor: PlanFloor, pen: Pen) -> Iterator[Node]:
    at = floor.viewpoints
    ends = [(at[a], at[b]) for a, b in floor.edges]
    if ends:
        yield pen.draw(ends, look.EDGE)
    dots = tuple(
        Node("path", {"data-id": said(name), "d": pen.dot(spot)}) for name, spot in at.items()
    )
    yield Node("g", pen.dots(look.VIEWPOINT, look.VIEWPOINT_SIZE), dots)


def _stairs(floor: PlanFloor, pen: Pen) -> Iterator[Node]:
    for flight in floor.stairs:
        ink = look.STAIRS_BELOW if flight.below else look.STAIRS
        yield pen.draw([*flight.landings, *flight.treads], ink, close=True)
    for link in floor.links:
        if link.tie is not None:
            yield pen.draw([link.tie], look.TIE)
    for flight in floor.stairs:
        if not flight.below and len(flight.line) > 1:
            yield pen.draw([flight.line, _head(flight, pen.point)], look.STAIRS_LINE)


def _head(flight: PlanStairs, point: float) -> Stroke:
    (ax, ay), (bx, by) = flight.line[-2:]
    way = math.atan2(by - ay, bx - ax)
    left, right = (
        (bx - 4.5 * point * math.cos(way + turn), by - 4.5 * point * math.sin(way + turn))
        for turn in (0.46, -0.46)
    )
    return left, (bx, by), right


def _thing(item: PlanItem, pen: Pen) -> Node:
    shared = {"data-id": said(item.id)}
    name = title(readable(item.name))
    if not item.outline:
        dot = {"d": pen.dot(item.at), **pen.dots(look.THING_DOT, look.THING_DOT_SIZE)}
        return Node("path", shared | dot, (name,))
    ink = look.thing_ink(item.kind, item.shape)
    plain = pen.ink(look.OBJECT)
    own = {name: value for name, value in pen.ink(ink).items() if plain.get(name) != value}
    if not item.strokes or ink.width == look.STROKE_WIDTH:
        drawn = pen.lines([item.outline], close=True) + pen.lines(item.strokes)
        return Node("path", shared | own | {"d": drawn}, (name,))
    width = {"stroke-width": own.pop("stroke-width")}
    outline = Node("path", width | {"d": pen.lines([item.outline], close=True)})
    # White on white: that its strokes are filled is not seen.
    return Node("g", shared | own, (name, outline, Node("path", {"d": pen.lines(item.strokes)})))


def _walls(floor: PlanFloor, pen: Pen) -> Iterator[Node]:
    for cut, ink in ((False, look.LOW_WALL), (True, look.WALL)):
        walls = [wall.corners for wall in floor.walls if wall.cut is cut]
        if walls:
            yield pen.draw(walls, ink, close=True)
    doors = floor.doors
    strokes: tuple[tuple[Iterable[Stroke], Ink], ...] = (
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


def _link(link: PlanLink, pen: Pen) -> Node:
    x, y = link.at
    half = look.LINK_SIZE / 2 * pen.point
    if link.kind in ("stairs", "elevator"):
        rungs = [((x - 1.3 * half, y + k), (x + 1.3 * half, y + k))
                 for k in (-look.RUNG_GAP * pen.point, 0.0, look.RUNG_GAP * pen.point)]  # fmt: skip
        return pen.draw(rungs, look.RUNG)
    corners = (
        (x - half, y - half),
        (x + half, y - half),
        (x + half, y + half),
        (x - half, y + half),
    )
    return pen.draw([corners], look.LINK, close=True)


def _name(name: Name, room: str, label: str, pen: Pen) -> Node:
    lines = name.setting.text.split("\n")
    size = name.setting.size * pen.point
    x, middle = name.at[0], -name.at[1]
    # As baselines: letters sit 0.35 of their size above the middle of their line.
    y = middle - (len(lines) - 1) / 2 * size * LINE + 0.35 * size
    weight = {} if name.setting.full else {"font-weight": "bold"}
    spans = tuple(
        Node("tspan", {"x": cm(x), "y": cm(y + k * size * LINE)}, (said(line),))
        for k, line in enumerate(lines)
    )
    shared = {"data-id": said(room), "x": cm(x), "y": cm(middle), "font-size": cm(size, 3)}
    return Node("text", shared | weight, (*spans, title(label)))


_FONT = "system-ui, 'DejaVu Sans', Arial, sans-serif"
_AROUND, _HEAD, _FOOT = 12.0, 16.0, 9.0
"""Points between floors, above one for its name, and below one for a line of its key."""


def svg_text(drawing: Drawing, *, heading: str = "") -> str:
    """A drawing as a file of its own: floors in rows, their names above, a scale below.

    Args:
        drawing: what to write.
        heading: one line above it.
    """
    head = _HEAD if len(drawing.floors) > 1 else 0.0
    found: list[Node] = []
    top, right = _AROUND + (_HEAD if heading else 0.0), 60 * _AROUND / 4
    for row in _in_rows(drawing.floors):
        left = _AROUND
        foot = top + head + max(floor.box[3] for floor in row) / drawing.point
        for floor in row:
            if head:
                found.append(_word(f"floor {floor.id}", left, top + 9, 7.5, look.HEAD))
            found.append(_placed(floor, (left, top + head), drawing.point))
            found += [
                _word(entry, left, foot + _FOOT * line, 5.6, look.KEY)
                for line, entry in enumerate(floor.key, start=1)
            ]
            left += floor.box[2] / drawing.point + _AROUND
        right = max(right, left)
        top = foot + _FOOT * max(len(floor.key) for floor in row) + _AROUND
    if heading:
        found.append(_word(said(heading), _AROUND, _AROUND + 6, 9.5, look.NAME))
    found += _scale_bar(top, drawing.point)
    size = cm(right), cm(top + _AROUND)
    paper = Node("rect", {"width": size[0], "height": size[1], "fill": "#ffffff"})
    shared = {"xmlns": "http://www.w3.org/2000/svg", "font-family": _FONT, "fill": "none"}
    box = {"viewBox": f"0 0 {size[0]} {size[1]}", "width": f"{size[0]}pt", "height": f"{size[1]}pt"}
    return _xml(Node("svg", shared | box, (paper, *found))) + "\n"


def _in_rows(floors: Sequence[FloorDrawing]) -> list[Sequence[FloorDrawing]]:
    """Floors in the rows that come nearest to a page that is a third wider than high."""
    best: list[Sequence[FloorDrawing]] = []
    least = math.inf
    for across in range(1, len(floors) + 1):
        rows = [floors[i : i + across] for i in range(0, len(floors), across)]
        wide = max(sum(floor.box[2] for floor in row) for row in rows)
        high = sum(max(floor.box[3] for floor in row) for row in rows)
        if max(wide / 4, high / 3) < least:
            best, least = rows, max(wide / 4, high / 3)
    return best


def _placed(floor: FloorDrawing, at: tuple[float, float], point: float) -> Node:
    left, top, _, _ = floor.box
    scale = 1 / point
    move = f"translate({at[0] - left * scale:.3f} {at[1] - top * scale:.3f}) scale({scale:.4f})"
    names = {**halo(point), "fill": look.NAME, "text-anchor": "middle"}
    return Node("g", {"transform": move}, (*floor.nodes, Node("g", names, floor.names)))


def _word(words: str, x: float, y: float, size: float, ink: str) -> Node:
    where = {"x": cm(x), "y": cm(y), "font-size": f"{size:g}", "fill": ink}
    return Node("text", where, (words,))


def _scale_bar(top: float, point: float) -> list[Node]:
    metres = max((each for each in (1, 2, 5, 10) if each / point <= 90), default=1)
    end = _AROUND + metres / point
    line = {"d": f"M{_AROUND:g} {top:.1f}H{end:.1f}", "stroke": look.SCALE, "stroke-width": "2"}
    words = f"{metres} m    ↑ heading 0 (−z)"
    return [Node("path", line), _word(words, end + 5, top + 2.4, 6.5, look.SCALE)]


def _xml(node: Node) -> str:
    attributes = "".join(f' {name}="{escape(said)}"' for name, said in node.attributes.items())
    below = "".join(
        escape(each, quote=False) if isinstance(each, str) else _xml(each) for each in node.children
    )
    return f"<{node.tag}{attributes}>{below}</{node.tag}>"
