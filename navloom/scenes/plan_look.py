"""How plans look: every colour, width, dash and sign, for whoever draws them.

Pictures, SVG files and pages draw from here; a page's routes and marks are given :func:`looks`.
Widths and sizes are points, 1/72 inch. Marks and routes are those of CoNavBench's figure 11; none
differs by its colour alone from those that it is seen with.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, get_args

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
    """A line's colour, its width, what it goes around, and its dashes in line widths."""

    line: str
    width: float
    fill: str = "none"
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


_DOTTED = (1.0, 1.65)
ROOM = Ink("#8a8a8a", 0.8)
"""Its fill is the room's own tint."""
WALL, LOW_WALL = Ink("#4a4a4a", 0.4, "#4a4a4a"), Ink("#4a4a4a", 0.4, "#ffffff")
WINDOW_GAP, WINDOW = Ink("#ffffff", 2.4), Ink("#4f8fc0", 1.0)
DOOR_GAP, ARC, OPENING = Ink("#ffffff", 1.6), Ink("#9a9a9a", 0.4), Ink("#9a9a9a", 0.5, dash=_DOTTED)
LEAF, LOCKED_LEAF = Ink("#5b5b5b", 1.0), Ink("#b3261e", 1.0)
STAIRS, STAIRS_BELOW = Ink("#777777", 0.5, "#f7f7f7"), Ink("#b5b5b5", 0.5)
STAIRS_LINE = Ink("#777777", 0.6)
TIE, LINK = Ink("#777777", 0.9, dash=_DOTTED), Ink("#666666", 0.7, "#ffffff")
RUNG = Ink("#000000", 0.6)
"""Stairs and lifts that nobody measured are three rungs."""
LINK_SIZE, RUNG_GAP = 3.2, 2.2
THING, OBJECT = Ink("#8a8a8a", 0.5, "#ffffff"), Ink("#8a8a8a", 0.35, "#ffffff")
STROKE_WIDTH = 0.35
"""Of the strokes within a thing."""
THING_BOX = Ink("#999999", 0.5, "#ffffff", opacity=0.7)
"""A thing of unknown shape."""
THING_DOT, THING_DOT_SIZE = "#777777", 1.0
EDGE, VIEWPOINT, VIEWPOINT_SIZE = Ink("#9aa3ad", 0.5), "#7c858f", 1.25
NAME, KEY, HEAD, SCALE = "#1d1d1d", "#444444", "#555555", "#333333"
THING_NAME = "#7a1f4b"
HALO, HALO_OPACITY = 1.8, 0.85
"""Of white around words; points."""


class RouteLook(NamedTuple):
    """A route's colour, its dashes in line widths, its width, and that while it carries."""

    colour: str
    dash: tuple[float, ...] = ()
    width: float = 1.2
    carrying: float = 2.6


_ROBOTS = (
    RouteLook("#0b62a8"),
    RouteLook("#e2700c", (4.0, 1.6)),
    RouteLook("#00796b", _DOTTED),
    RouteLook("#444444", (6.0, 1.4, 1.4, 1.4)),
    RouteLook("#6a4fc0", (8.0, 2.0)),
    RouteLook("#8a5a00", (2.0, 1.0)),
)
"""Of a team's robots in turn; the number at its start tells the seventh from the first."""
_STARTS: tuple[RobotStart, ...] = get_args(RobotStart)
ROUTES: dict[str, RouteLook] = {
    **{f"robot_{n}": _ROBOTS[(n - 1) % len(_ROBOTS)] for n in range(1, len(_STARTS) + 1)},
    "walk": RouteLook("#0b62a8"),
    "true": RouteLook("#e2700c", (4.0, 1.6)),
    "other": RouteLook("#444444", width=0.8),
    "cut": RouteLook("#b3261e", _DOTTED, width=1.6),
    "unknown": RouteLook("#777777", (1.0, 3.0), width=0.8),
    "object": RouteLook("#7a1f4b", _DOTTED),
}
"""Solid blue and dashed orange, which colour-blind readers can tell apart."""
LANE = 2.6
"""Between two lines that run along the same edge."""
ARROW, ARROW_CARRYING, ARROWS_APART = 5.5, 7.0, 42.0


class MarkLook(NamedTuple):
    """A mark's sign (a key of :data:`SIGNS`), its colour, its size, and its words in a legend."""

    marker: str
    colour: str
    size: float
    says: str


MARKS: dict[MarkKind, MarkLook] = {
    **{
        kind: MarkLook("o", ROUTES[f"robot_{n}"].colour, 10, f"robot_{n} starts")
        for n, kind in enumerate(_STARTS, 1)
    },
    "object": MarkLook("^", "#ffffff", 10, "object"),
    "handoff": MarkLook("*", "#ffd21f", 15, "handoff"),
    "end": MarkLook("D", "#35a46b", 8, "destination"),
    "start": MarkLook("o", "#ffffff", 9, "start"),
    "goal": MarkLook("*", "#ffd21f", 17, "goal"),
    "stop": MarkLook("s", ROUTES["robot_1"].colour, 9, "where it stopped"),
    "deviation": MarkLook("X", "#d6303a", 9, "first deviation"),
    "other_way": MarkLook("X", "#9fd8c0", 9, "another way from here"),
    "bump": MarkLook("P", "#f2a900", 8, "where it bumped"),
    "change": MarkLook("v", "#d6303a", 9, "what is changed"),
    "oracle": MarkLook("p", "#9fd8c0", 10, "nearest to the goal"),
    "contact": MarkLook("P", "#f2a900", 8, "contact"),
    "barrier": MarkLook("8", "#d6303a", 10, "must open"),
    "cut": MarkLook("s", "#ffffff", 7, "every way meets one of these"),
    "revisit": MarkLook("o", "#b9d3ee", 6, "stood on again"),
}


def thing_ink(kind: str, shape: str | None) -> Ink:
    """How a thing's outline is drawn, by whether it is furniture or portable, and its shape."""
    if shape is None:
        ink = THING_BOX._replace(width=OBJECT.width) if kind == "object" else THING_BOX
    else:
        ink = OBJECT if kind == "object" else THING
    return ink._replace(fill="none") if shape == "rug" else ink


def looks() -> dict[str, Any]:
    """Routes, marks and signs as JSON, for a page that draws on a plan.

    ``signs`` are polygons in the unit square around (0, 0), y down; a disc is the empty one.
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
    """A regular polygon, or a star, within the unit circle; the first corner up the page."""
    count = corners * (1 if inner == 1.0 else 2)
    return [
        (r * math.sin(angle), -r * math.cos(angle))
        for k in range(count)
        for angle in (turn + 2 * math.pi * k / count,)
        for r in (0.5 if k % 2 == 0 or inner == 1.0 else 0.5 * inner,)
    ]


def _cross(turn: float) -> list[tuple[float, float]]:
    """A plus of arms a third wide."""
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
