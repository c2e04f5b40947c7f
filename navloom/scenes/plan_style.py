"""Style and label placement of floor plans: colours, line widths, symbols, room shapes, labels.

SVG files, images and web pages share this style; a page gets routes and marks by
:func:`plan_styles`. Widths and sizes are in points, 1/72 inch. Marks and routes are those of
CoNavBench's figure 11. Marks and lines shown together never differ by colour alone.

Paper coordinates: x right, -z up, metres.

A name stands inside its room, off lines and marks. Rooms in real homes overlap, are a metre wide,
and have routes through them. Each name is tried in ever smaller sizes over the positions of its
room. If it fits nowhere, the room's number stands instead, and a key below the floor explains the
numbers.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, get_args

import networkx as nx
import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiPoint, MultiPolygon, Point, Polygon, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import unary_union

from navloom.scenes.scene import UNKNOWN, Region, Scene

RobotStart = Literal[
    "start_1", "start_2", "start_3", "start_4", "start_5", "start_6",
    "start_7", "start_8", "start_9", "start_10", "start_11", "start_12",
]  # fmt: skip
MarkKind = Literal[
    RobotStart,
    "object",
    "end",
    "handoff",
    "start",
    "goal",
    "stop",
    "deviation",
    "other_way",
    "bump",
    "change",
    "oracle",
    "contact",
    "barrier",
    "cut",
    "revisit",
]


class Ink(NamedTuple):
    """Line style: stroke colour, width, fill colour, dashes in line widths, and opacity."""

    line: str
    width: float
    fill: str = "none"
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


_DOTTED = (1.0, 1.65)
ROOM = Ink("#8a8a8a", 0.8)
"""The fill is the room's own tint."""
WALL, LOW_WALL = Ink("#4a4a4a", 0.4, "#4a4a4a"), Ink("#4a4a4a", 0.4, "#ffffff")
WINDOW_GAP, WINDOW = Ink("#ffffff", 2.4), Ink("#4f8fc0", 1.0)
DOOR_GAP, ARC, OPENING = Ink("#ffffff", 1.6), Ink("#9a9a9a", 0.4), Ink("#9a9a9a", 0.5, dash=_DOTTED)
LEAF, LOCKED_LEAF = Ink("#5b5b5b", 1.0), Ink("#b3261e", 1.0)
STAIRS, STAIRS_BELOW = Ink("#777777", 0.5, "#f7f7f7"), Ink("#b5b5b5", 0.5)
STAIRS_LINE, STAIRS_ON_PHOTO = Ink("#777777", 0.6), Ink("#2b2b2b", 0.6)
TIE, LINK = Ink("#777777", 0.9, dash=_DOTTED), Ink("#666666", 0.7, "#ffffff")
RUNG = Ink("#000000", 0.6)
"""Stairs and lifts without geometry are drawn as three rungs."""
LINK_SIZE, RUNG_GAP = 3.2, 2.2
THING, OBJECT = Ink("#8a8a8a", 0.5, "#ffffff"), Ink("#8a8a8a", 0.35, "#ffffff")
STROKE_WIDTH = 0.35
"""Width of the strokes within an item."""
THING_BOX = Ink("#999999", 0.5, "#ffffff", opacity=0.7)
"""Item of unknown shape."""
THING_DOT, THING_DOT_SIZE = "#777777", 1.0
EDGE, VIEWPOINT, VIEWPOINT_SIZE = Ink("#9aa3ad", 0.5), "#7c858f", 1.25
NAME, KEY, HEAD, SCALE = "#1d1d1d", "#444444", "#555555", "#333333"
THING_NAME = "#7a1f4b"
HALO, HALO_OPACITY = 1.8, 0.85
"""Width in points and opacity of the white halo around text."""


class RouteStyle(NamedTuple):
    """Style of a route: colour, dashes in line widths, and widths without and with the object."""

    colour: str
    dash: tuple[float, ...] = ()
    width: float = 1.2
    carrying: float = 2.6


_ROBOTS = (
    RouteStyle("#0b62a8"),
    RouteStyle("#e2700c", (4.0, 1.6)),
    RouteStyle("#00796b", _DOTTED),
    RouteStyle("#444444", (6.0, 1.4, 1.4, 1.4)),
    RouteStyle("#6a4fc0", (8.0, 2.0)),
    RouteStyle("#8a5a00", (2.0, 1.0)),
)
"""Styles of a team's robots in turn. The number at the start tells the seventh from the first."""
_STARTS: tuple[RobotStart, ...] = get_args(RobotStart)
ROUTES: dict[str, RouteStyle] = {
    **{f"robot_{n}": _ROBOTS[(n - 1) % len(_ROBOTS)] for n in range(1, len(_STARTS) + 1)},
    "walk": RouteStyle("#0b62a8"),
    "true": RouteStyle("#e2700c", (4.0, 1.6)),
    "other": RouteStyle("#444444", width=0.8),
    "cut": RouteStyle("#b3261e", _DOTTED, width=1.6),
    "unknown": RouteStyle("#777777", (1.0, 3.0), width=0.8),
    "object": RouteStyle("#7a1f4b", _DOTTED),
}
"""Solid blue and dashed orange, which colour-blind readers can tell apart."""
LANE = 2.6
"""Points between two lines that run along the same edge."""
ARROW, ARROW_CARRYING, ARROWS_APART = 5.5, 7.0, 42.0


class MarkStyle(NamedTuple):
    """Style of a mark: symbol (a key of :data:`SIGNS`), colour, size, and legend text."""

    marker: str
    colour: str
    size: float
    says: str


MARKS: dict[MarkKind, MarkStyle] = {
    **{
        kind: MarkStyle("o", ROUTES[f"robot_{n}"].colour, 10, f"robot_{n} starts")
        for n, kind in enumerate(_STARTS, 1)
    },
    "object": MarkStyle("^", "#ffffff", 10, "object"),
    "handoff": MarkStyle("*", "#ffd21f", 15, "handoff"),
    "end": MarkStyle("D", "#35a46b", 8, "destination"),
    "start": MarkStyle("o", "#ffffff", 9, "start"),
    "goal": MarkStyle("*", "#ffd21f", 17, "goal"),
    "stop": MarkStyle("s", ROUTES["robot_1"].colour, 9, "where it stopped"),
    "deviation": MarkStyle("X", "#d6303a", 9, "first deviation"),
    "other_way": MarkStyle("X", "#9fd8c0", 9, "another way from here"),
    "bump": MarkStyle("P", "#f2a900", 8, "where it bumped"),
    "change": MarkStyle("v", "#d6303a", 9, "what is changed"),
    "oracle": MarkStyle("p", "#9fd8c0", 10, "nearest to the goal"),
    "contact": MarkStyle("P", "#f2a900", 8, "contact"),
    "barrier": MarkStyle("8", "#d6303a", 10, "must open"),
    "cut": MarkStyle("s", "#ffffff", 7, "every way meets one of these"),
    "revisit": MarkStyle("o", "#b9d3ee", 6, "stood on again"),
}


def item_ink(kind: str, shape: str | None) -> Ink:
    """Return the line style of an item's outline, by its kind (asset or object) and shape."""
    if shape is None:
        ink = THING_BOX._replace(width=OBJECT.width) if kind == "object" else THING_BOX
    else:
        ink = OBJECT if kind == "object" else THING
    return ink._replace(fill="none") if shape == "rug" else ink


def plan_styles() -> dict[str, Any]:
    """Return the styles of routes, marks and symbols as JSON, for a page that draws on a plan.

    ``signs`` are polygons in the unit square around (0, 0), y down; an empty one is a disc.
    """
    return {
        "lane": LANE,
        "arrow": [ARROW, ARROW_CARRYING, ARROWS_APART],
        "routes": {name: list(look) for name, look in ROUTES.items()},
        "marks": {kind: list(look) for kind, look in MARKS.items()},
        "signs": {
            sign: [[round(x, 3), round(y, 3)] for x, y in points] for sign, points in SIGNS.items()
        },
    }


def _round(corners: int, turn: float = 0.0, inner: float = 1.0) -> list[tuple[float, float]]:
    """Return a regular polygon or a star in a circle of diameter 1, first corner up the page."""
    count = corners * (1 if inner == 1.0 else 2)
    return [
        (r * math.sin(angle), -r * math.cos(angle))
        for k in range(count)
        for angle in (turn + 2 * math.pi * k / count,)
        for r in (0.5 if k % 2 == 0 or inner == 1.0 else 0.5 * inner,)
    ]


def _cross(turn: float) -> list[tuple[float, float]]:
    """Return a plus sign with arms a third wide, rotated by ``turn``."""
    arm = [(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1),
           (-3, -1), (-1, -1)]  # fmt: skip
    c, s = math.cos(turn) / 6, math.sin(turn) / 6
    return [(x * c - y * s, x * s + y * c) for x, y in arm]


SIGNS: dict[str, list[tuple[float, float]]] = {
    "o": [],
    "^": [(0.0, -0.5), (0.5, 0.5), (-0.5, 0.5)],
    "v": [(0.0, 0.5), (0.5, -0.5), (-0.5, -0.5)],
    "s": [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)],
    "D": [(x * math.sqrt(2), y * math.sqrt(2)) for x, y in _round(4)],
    "*": _round(5, inner=0.382),
    "p": _round(5),
    "8": _round(8, turn=math.pi / 8),
    "P": _cross(0.0),
    "X": _cross(math.pi / 4),
}
"""Polygons by matplotlib's letters for markers; the empty one is a disc."""


_REACH, _NODE = 1.5, 0.6
"""Metres from a viewpoint to the assumed walls of a room without an outline, unless another room's
viewpoint is nearer. Radius of a room with a single known position."""
_STEP = 0.5
"""Metres between sample points of an edge within a room; they belong to the room's area too."""

_TINTS: tuple[tuple[str, str], ...] = (
    (r"bath|toilet|shower|spa|sauna|wash|powder", "#cfe5ef"),
    (r"bed|nursery|dressing|sleep|dorm|kid|child", "#dcd7ee"),
    (r"kitchen|dining|pantry|bar|breakfast", "#f6e3c5"),
    (r"living|lounge|family|tv|rec|game|theat|den|sitting|media|library", "#d9ead3"),
    (r"office|study|work|meeting|conference|class", "#e3e8c4"),
    (r"hall|entry|foyer|lobby|stair|corridor|landing|porch|tie", "#ececec"),
    (r"laundry|closet|storage|garage|utility|junk|mud|boiler", "#e5d8cc"),
    (r"balcony|terrace|outdoor|patio|garden|deck|pool", "#d3e8d8"),
    (r"gym|workout|fitness", "#f3d9dc"),
)
_PLAIN = UNTOLD = "#f4f1ea"
"""Colour of rooms that match no word above, or whose types are hidden."""
_UNKNOWN_TINTS = ("#f0e6cf", "#d8e6e0", "#e6dbe8", "#dbe4f1", "#f1dcd5", "#e2e7cd", "#eae7e1")
"""Colours of rooms of unknown type; neighbours differ."""


def room_tint(label: str) -> str:
    """Return a room's fill colour by the type in its label, as ``#rrggbb``."""
    folded = label.casefold()
    return next((colour for words, colour in _TINTS if re.search(words, folded)), _PLAIN)


def room_tints(scene: Scene) -> dict[str, str]:
    """Return each room's fill colour; unknown types get colours unlike their neighbours'."""
    order = nx.greedy_color(scene.region_graph(), strategy="DSATUR")
    return {
        region.id: _UNKNOWN_TINTS[order[region.id] % len(_UNKNOWN_TINTS)]
        if region.label == UNKNOWN
        else room_tint(region.label)
        for region in scene.regions
    }


def distinctive_assets(scene: Scene, regions: Iterable[str]) -> dict[str, str]:
    """Return for each room of unknown type its two assets that occur in the fewest rooms."""
    names: dict[str, set[str]] = {}
    for item in scene.items:
        if item.kind == "asset" and item.region is not None:
            names.setdefault(item.region, set()).add(item.name)
    rooms = Counter(name for each in names.values() for name in each)
    wanted = [r for r in regions if scene.region_by_id[r].label == UNKNOWN and r in names]
    return {
        region: to_words(", ".join(sorted(names[region], key=lambda name: (rooms[name], name))[:2]))
        for region in wanted
    }


def to_words(name: str) -> str:
    """Return an id in words: ``Living_room_5`` becomes ``Living room 5``.

    A room of unknown type becomes ``room 5``.
    """
    known = not name.startswith(f"{UNKNOWN}_")
    return (name if known else f"room_{name.removeprefix(f'{UNKNOWN}_')}").replace("_", " ")


def region_shapes(scene: Scene, floor: int) -> dict[str, BaseGeometry]:
    """Return the area of each region of a floor on paper.

    Returns:
        Region id to a non-empty polygon (or several): the outline if the scene has one, else the
        ground around the region's viewpoints, up to where another room's are nearer.
    """
    here = [region for region in scene.regions if region.floor == floor]
    shapes = {region.id: shape for region in here if (shape := _outlined(region))}
    return shapes | _walked(scene, [region for region in here if region.id not in shapes])


def _outlined(region: Region) -> BaseGeometry | None:
    if region.outline is None:
        return None
    shape: BaseGeometry = Polygon([(x, -z) for x, z in region.outline])
    if not shape.is_valid:
        shape = shape.buffer(0)
    # A box of no width must still be visible.
    return shape if shape.area > 0.05 else shape.envelope.buffer(0.2)


def _walked(scene: Scene, regions: Sequence[Region]) -> dict[str, BaseGeometry]:
    """Return the areas of rooms without outlines, from their viewpoints and edges."""
    stands = {
        region.id: {v.id: (v.position[0], -v.position[2]) for v in found}
        for region in regions
        if (found := scene.viewpoints_by_region.get(region.id, ()))
    }
    nodes: dict[str, BaseGeometry] = {
        region.id: Point(region.center[0], -region.center[2]).buffer(_NODE) for region in regions
    }
    if all(len(spots) < 2 for spots in stands.values()):
        # One viewpoint a room, such as CapNav's graphs: rooms have no extent.
        return nodes | {name: Point(*s.values()).buffer(_NODE) for name, s in stands.items()}
    walks: dict[str, list[LineString]] = {name: [] for name in stands}
    for edge in scene.edges:
        room = scene.viewpoint_by_id[edge.a].region or ""
        ends = stands.get(room, {})
        if edge.a in ends and edge.b in ends:
            walks[room].append(LineString([ends[edge.a], ends[edge.b]]))
    grounds = {
        name: shapely.union_all([MultiPoint(list(spots.values())), *walks[name]])
        for name, spots in stands.items()
    }
    return nodes | _shared(grounds)


def _walled(ground: BaseGeometry) -> BaseGeometry:
    # A convex hull of an L-shaped room would cover its neighbours.
    hull = shapely.concave_hull(ground, ratio=0.4).simplify(_REACH / 3)
    return hull.buffer(_REACH, join_style="mitre", cap_style="square", mitre_limit=1.5)


def _shared(grounds: Mapping[str, BaseGeometry]) -> dict[str, BaseGeometry]:
    """Return room areas with borders half-way between known ground (a Voronoi diagram)."""
    owner: dict[tuple[float, float], str] = {}
    for name, ground in grounds.items():
        for x, y in shapely.get_coordinates(shapely.segmentize(ground, _STEP)).round(3).tolist():
            owner.setdefault((x, y), name)
    reach = {name: _walled(ground) for name, ground in grounds.items()}
    around = shapely.union_all(list(reach.values())).envelope.buffer(10 * _REACH)
    cells = shapely.voronoi_polygons(MultiPoint(list(owner)), extend_to=around, ordered=True).geoms
    rooms = {}
    for name, shape in reach.items():
        own = [cell for cell, of in zip(cells, owner.values(), strict=True) if of == name]
        rooms[name] = shape.intersection(shapely.union_all(own))
    # Straight walls, and the same one on both sides.
    straight = shapely.coverage_simplify(list(rooms.values()), _REACH / 2)
    return dict(zip(rooms, straight, strict=True))


_NAME_SIZES = (7.5, 6.5, 5.6)
"""Sizes in points; smaller text is not readable."""
_MOST_NAMED = 80
"""Most rooms of one floor that get names; with more, only numbers are shown."""
_GOOD, _BAD = 0.12, 0.55
"""Penalties below which a position is taken at once, and above which it is rejected."""

_BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 1), (-0.8, 1), (0.8, -1), (-0.8, -1))
"""Directions of a label's position from its point."""

Disc = tuple[float, float, float]
"""(x, y, radius) in paper metres."""


class TextLayout(NamedTuple):
    """Layout of a text on a floor plan.

    Attributes:
        text: the text, with line breaks.
        size: points.
        full: True for a whole name; False, and bold, for a room's number or a mark's label.
    """

    text: str
    size: float
    full: bool


Extent = Callable[[TextLayout], tuple[float, float]]
"""Returns the width and height of a text in paper metres."""


class RoomLabel(NamedTuple):
    """Label of a room, and its centre on paper."""

    room: str
    setting: TextLayout
    at: tuple[float, float]


@dataclass
class LabelObstacles:
    """Lines and areas that a floor's labels must not cover."""

    lines: BaseGeometry
    taken: list[Polygon]

    @classmethod
    def of(cls, lines: Sequence[LineString], spots: Sequence[Disc]) -> Self:
        """Return the obstacles formed by routes and marks."""
        boxes = [box(x - r, y - r, x + r, y + r) for x, y, r in spots]
        return cls(unary_union(list(lines)), boxes)

    def penalties(self, spots: Any, room: BaseGeometry) -> NDArray[np.float64]:
        """Return a penalty for each box of ``spots``: 0 is perfect, 1 and more unreadable."""
        outside = 1 - shapely.area(shapely.intersection(spots, room)) / shapely.area(spots)
        low, high = shapely.bounds(spots)[:, 1], shapely.bounds(spots)[:, 3]
        crossed = shapely.length(shapely.intersection(spots, self.lines)) / (high - low)
        hidden = np.zeros(len(spots), dtype=bool)
        # Of hundreds of labels few are near: the others are ruled out by their bounds.
        around = box(*shapely.total_bounds(spots))
        for other in np.array(self.taken)[shapely.intersects(self.taken, around)]:
            hidden |= shapely.intersects(spots, other)
        cost = outside * 1.2 + np.minimum(0.5, 0.12 * crossed)
        return np.asarray(np.where(hidden, 2.0 + cost, cost))


def label_rooms(
    shapes: Mapping[str, BaseGeometry],
    extent: Extent,
    *,
    lines: Sequence[LineString] = (),
    spots: Sequence[Disc] = (),
    taken: Sequence[Polygon] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[RoomLabel], list[str]]:
    """Choose the labels for the rooms of a floor and their positions.

    Args:
        shapes: region id to its area, in paper metres.
        extent: returns the size of a text.
        lines: routes, which labels avoid if they can.
        spots: (x, y, radius) of marks, which labels never cover.
        taken: other areas that labels never cover.
        notes: hints that help to recognize rooms of unknown type, by id.

    Returns:
        A label for every room, and the rooms whose numbers need a key.
    """
    if len(shapes) > _MOST_NAMED:
        # So many names would not be readable.
        points = {room: shape.representative_point() for room, shape in shapes.items()}
        return [
            RoomLabel(
                room, TextLayout(room.rsplit("_", 1)[-1], _NAME_SIZES[-1], False), (at.x, at.y)
            )
            for room, at in points.items()
        ], []
    ground = LabelObstacles.of(lines, spots)
    ground.taken += taken
    seen = _visible(shapes)
    names: list[RoomLabel] = []
    numbered: list[str] = []
    # The tightest rooms choose first.
    for region in sorted(shapes, key=lambda r: (seen[r].area, r)):
        setting, at = _choose(extent, region, seen[region], ground, notes.get(region))
        if not setting.full and not region.startswith(f"{UNKNOWN}_"):
            numbered.append(region)
        names.append(RoomLabel(region, setting, at))
    return names, sorted(numbered)


class PointLabel(NamedTuple):
    """Label beside a point (x, y) of the plan: a name, a route's next floor, or a step's number.

    ``radius`` is that of the mark there; labels of a lower ``rank`` are placed first.
    """

    setting: TextLayout
    x: float
    y: float
    ink: str
    radius: float = 0.0
    rank: int = 0
    italic: bool = False


def place_labels(
    words: Sequence[PointLabel],
    extent: Extent,
    panel: Polygon,
    rooms: Sequence[BaseGeometry],
    *,
    lines: Sequence[LineString],
    spots: Sequence[Disc],
) -> list[tuple[PointLabel, tuple[float, float], Polygon]]:
    """Find positions for labels beside their points.

    Args:
        words: the labels.
        extent: returns the size of a text.
        panel: the paper.
        rooms: labels stay in the room of their point if they can.
        lines: routes, which labels avoid if they can.
        spots: (x, y, radius) of marks, which labels never cover.

    Returns:
        Each label, its centre, and the area that it takes.
    """
    ground = LabelObstacles.of(lines, spots)
    found = []
    for word in sorted(words, key=lambda word: word.rank):
        wide, high = extent(word.setting)
        reach = word.radius + 0.15 * high + np.array([wide, high]) / 2
        rings = np.repeat([1.0, 1.35, 1.8, 2.4], len(_BESIDE))
        at = np.array([word.x, word.y]) + np.tile(_BESIDE, (4, 1)) * reach * rings[:, None]
        half = np.array([wide, high]) / 2
        boxes = shapely.box(*(at - half).T, *(at + half).T)
        here = shapely.Point(word.x, word.y)
        room = next((each for each in rooms if each.intersects(here)), panel)
        abroad = 1 - shapely.area(shapely.intersection(boxes, room)) / shapely.area(boxes)
        cost = ground.penalties(boxes, panel) + 0.2 * abroad + 0.25 * (rings - 1)
        best = int(np.argmin(cost))
        ground.taken.append(boxes[best])
        found.append((word, (float(at[best, 0]), float(at[best, 1])), boxes[best]))
    return found


def number_key(rooms: int, numbered: Sequence[str]) -> list[str]:
    """Return the entries of the key to the room numbers on a floor."""
    if rooms > _MOST_NAMED:
        return [f"{rooms:,} rooms by their numbers"]
    return [f"{region.rsplit('_', 1)[-1]} {to_words(region)}" for region in numbered]


def _visible(shapes: Mapping[str, BaseGeometry]) -> dict[str, BaseGeometry]:
    """Return each room without the smaller rooms drawn over it; all of it if little is left."""
    order = sorted(shapes, key=lambda r: shapes[r].area)
    seen: dict[str, BaseGeometry] = {}
    near = shapely.STRtree([shapes[r] for r in order])
    for i, region in enumerate(order):
        over = sorted(k for k in near.query(shapes[region], predicate="intersects") if k < i)
        left = shapes[region].difference(unary_union([shapes[order[k]] for k in over]))
        seen[region] = left if left.area > 0.2 * shapes[region].area else shapes[region]
    return seen


def _choose(
    extent: Extent, region: str, room: BaseGeometry, ground: LabelObstacles, note: str | None
) -> tuple[TextLayout, tuple[float, float]]:
    best: tuple[float, TextLayout, tuple[float, float], Polygon] | None = None
    inside = _spots(room)
    for setting in _settings(region, note):
        # A small name is better than a number, but not a name across other rooms.
        if best is not None and best[1].full and not setting.full and best[0] <= _BAD:
            break
        wide, high = extent(setting)
        # A number hidden by marks may stand beside its room.
        spots = inside if setting.full else np.vstack([inside, _beside(room, wide, high)])
        x, y = spots[:, 0], spots[:, 1]
        boxes = shapely.box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
        costs = ground.penalties(boxes, room)
        i = int(np.argmin(costs))
        if best is None or costs[i] < best[0] - 1e-9:
            best = (float(costs[i]), setting, (float(x[i]), float(y[i])), boxes[i])
        if best[0] <= _GOOD:
            break
    assert best is not None  # noqa: S101 - there is always a setting and a spot
    _, setting, at, spot = best
    ground.taken.append(spot)
    return setting, at


def _settings(region: str, note: str | None) -> Iterator[TextLayout]:
    if region.startswith(f"{UNKNOWN}_"):
        for width in (16, 10) if note else ():
            words = "\n".join([region.rsplit("_", 1)[-1], wrap_words(note or "", width)])
            yield TextLayout(words, 5.6, True)
        yield TextLayout(region.rsplit("_", 1)[-1], 7.5, False)
        return
    words = to_words(region if len(region) <= 40 else f"{region[:30]}… {region[-8:]}")
    head, _, number = words.rpartition(" ")
    # The number stays with the last word, but for the narrowest layout.
    kept = f"{head}\u00a0{number}" if head else words
    layouts = dict.fromkeys(
        [wrap_words(kept, 14), wrap_words(kept, 9), words, wrap_words(words, 4)]
    )
    for size in _NAME_SIZES:
        for layout in layouts:
            yield TextLayout(layout, size, True)
    yield TextLayout(region.rsplit("_", 1)[-1], 6.5, False)


def wrap_words(words: str, width: int) -> str:
    """Wrap text to lines of at most ``width`` letters; longer words are not broken."""
    return "\n".join(textwrap.wrap(words, width, break_long_words=False))


def _spots(room: BaseGeometry) -> NDArray[np.float64]:
    """Return (n, 2) points inside a room, those with most free space around them first."""
    parts = list(room.geoms) if isinstance(room, MultiPolygon) else [room]
    largest = max((part for part in parts if isinstance(part, Polygon)), key=lambda p: p.area)
    circle = shapely.maximum_inscribed_circle(largest, max(0.05, largest.length / 200))
    low_x, low_y, high_x, high_y = room.bounds
    xs, ys = np.linspace(low_x, high_x, 13)[1:-1], np.linspace(low_y, high_y, 13)[1:-1]
    grid = np.array([(x, y) for x in xs for y in ys])
    grid = grid[shapely.contains_xy(room, grid[:, 0], grid[:, 1])]
    depth = np.asarray(shapely.distance(shapely.points(grid), room.boundary))
    return np.vstack([circle.coords[0], largest.centroid.coords[0], grid[np.argsort(-depth)]])


def _beside(room: BaseGeometry, wide: float, high: float) -> NDArray[np.float64]:
    low_x, low_y, high_x, high_y = room.bounds
    middle_x, middle_y = (low_x + high_x) / 2, (low_y + high_y) / 2
    right, up = (high_x - low_x + wide) / 2, (high_y - low_y + high) / 2
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return np.array([(middle_x + a * right, middle_y + b * up) for a, b in sides])
