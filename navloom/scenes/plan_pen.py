"""What an SVG of a plan is made with: nodes of an allow-list, short paths, text of any scene."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from shapely.geometry import LineString

from navloom.scenes.plan_look import HALO, HALO_OPACITY, Ink
from navloom.scenes.plan_names import Setting
from navloom.scenes.plan_symbols import Stroke

TAGS = frozenset({"g", "path", "polygon", "polyline", "line", "circle", "text", "tspan", "title"})
ATTRIBUTES = frozenset(
    {"class", "cx", "cy", "d", "data-id", "data-layer", "fill", "fill-rule"}
    | {"font-size", "font-weight"}
    | {"opacity", "paint-order", "points", "r", "stroke", "stroke-dasharray", "stroke-linecap"}
    | {"stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor", "x", "y", "dy"}
)
_MOST_LETTERS = 120
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""What no XML holds."""


@dataclass(frozen=True)
class Node:
    """An element: one of :data:`TAGS` with some of :data:`ATTRIBUTES`; its text is a child."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Node | str, ...] = ()

    def record(self) -> list[Any]:
        """``[tag, attributes, *children]``, as JSON."""
        below = [each if isinstance(each, str) else each.record() for each in self.children]
        return [self.tag, dict(self.attributes), *below]


LINE = 1.15
"""Heights of letters from one line to the next."""
_FEW, _OFF = 6, 0.006
"""Points of a line from which on those are left out that lie so few metres off it."""
_LETTERS = (("iljI.,:;'|! \u00a0·", 0.33), ("frt()-1", 0.45), ("mwMW%@…", 0.95))


def _length(line: str) -> float:
    """How long a line is in any plain font, in sizes of its letters; rather too long."""
    return sum(
        next(
            (wide for letters, wide in _LETTERS if letter in letters), 0.6 + 0.1 * letter.isupper()
        )
        for letter in line
    )


@dataclass(frozen=True)
class Pen:
    """Draws at a scale: ``point`` is metres of paper."""

    point: float

    def width(self, points: float) -> str:
        """So many points."""
        return cm(points * self.point, 3)

    def ink(self, ink: Ink, *, fill: bool = True) -> dict[str, str]:
        """Attributes that draw as an ink does."""
        made = {"stroke": ink.line, "stroke-width": self.width(ink.width)}
        if fill:
            made["fill"] = ink.fill
        if ink.dash:
            made["stroke-dasharray"] = " ".join(self.width(d * ink.width) for d in ink.dash)
        if ink.opacity != 1.0:
            made["opacity"] = f"{ink.opacity:g}"
        return made

    def draw(self, lines: Iterable[Stroke], ink: Ink, *, close: bool = False) -> Node:
        """Lines in an ink, as one node; areas where they ``close``."""
        return Node("path", {**self.ink(ink), "d": self.lines(lines, close=close)})

    def dots(self, colour: str, size: float) -> dict[str, str]:
        """Of lines without a length, whose round ends are discs: the shortest way to say them."""
        return {"stroke": colour, "stroke-width": self.width(2 * size), "stroke-linecap": "round"}

    def dot(self, at: tuple[float, float]) -> str:
        """A dot at a place of the paper, for :meth:`dots`."""
        return f"M{cm(at[0])} {cm(-at[1])}h0"

    def lines(self, lines: Iterable[Stroke], *, close: bool = False) -> str:
        """Lines of the paper as the ``d`` of a path."""
        return "".join(_path(line, close) for line in lines)

    def extent(self, setting: Setting) -> tuple[float, float]:
        """Width and height of words in metres, in any plain font."""
        lines = setting.text.split("\n")
        wide = max(map(_length, lines)) * setting.size + 3
        return wide * self.point, (len(lines) * setting.size * LINE + 1.5) * self.point


def halo(point: float) -> dict[str, str]:
    """Attributes of white around words."""
    shape = {"paint-order": "stroke", "stroke": "#ffffff", "stroke-linejoin": "round"}
    width = {"stroke-width": cm(HALO * point, 3), "stroke-opacity": f"{HALO_OPACITY:g}"}
    return shape | width


def _path(line: Stroke, close: bool) -> str:
    """Steps in whole centimetres from where the last one ended: short, and nothing adds up."""
    kept = LineString(line).simplify(_OFF).coords if len(line) > _FEW else line
    spots = [(round(100 * x), round(-100 * y)) for x, y in kept]
    if close and len(spots) > 1 and spots[0] == spots[-1]:
        spots.pop()
    (x, y), last = spots[0], ""
    said = f"M{cm(x / 100)} {cm(y / 100)}"
    for (ax, ay), (bx, by) in pairwise(spots):
        along, down = cm((bx - ax) / 100), cm((by - ay) / 100)
        if "0" in (along, down):
            said += f"h{along}" if down == "0" else f"v{down}"
            last = ""
        else:
            said += f"{last or 'l'}{along} {down}"
            last = " "
    return said.replace(" -", "-") + ("z" if close else "h0" if len(spots) == 1 else "")


def cm(value: float, places: int = 2) -> str:
    """A number as short as it can be said, to the centimetre."""
    digits = f"{value:.{places}f}".rstrip("0").rstrip(".")
    if digits in ("-0", ""):
        return "0"
    return digits.replace("0.", ".", 1) if digits.startswith(("0.", "-0.")) else digits


def title(words: str) -> Node:
    """What is said of a node that is pointed at."""
    return Node("title", {}, (said(words),))


def said(words: str) -> str:
    """What a scene says, as text that any XML and JSON holds."""
    said = _ILLEGAL.sub("", words)
    return said if len(said) <= _MOST_LETTERS else f"{said[: _MOST_LETTERS - 1]}…"
