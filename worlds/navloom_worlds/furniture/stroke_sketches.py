"""Stroke language for items: rows of strokes in any unit, stretched to the item's size.

A sketch has its item's colours and strokes. A stroke is a function from a pen to a few parts. Its
numbers are text (``"0,0 .9,0 1,.03"``), its surface a word (:meth:`SketchPen.tone`). Most sketches
use x and z from -1 to 1 and y from 0 to 1; the front is -z. ``long`` ones are long along z.

A fixture is drawn in metres and not stretched. Its x and z count half its width and depth, its y
its height, and a number may add metres (``-1+.03`` is 3 cm inside the left side or the front).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from navloom.scenes.scene import Extents, Item
from navloom_worlds.furniture import rounded_shapes
from navloom_worlds.furniture.builder_tools import (
    COLOURS,
    PALETTE,
    Builder,
    contrasting,
    fit_to_size,
    has_state,
    item_roll,
    own_surface,
    pick,
    shade,
    size_of,
)
from navloom_worlds.furniture.procedural_images import item_print
from navloom_worlds.geometry import solids
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import RGB, Part, Surface

Outline = str | Sequence[Sequence[float]]


@dataclass(frozen=True)
class SketchPen:
    """Context in which the strokes of one item are drawn.

    Attributes:
        item: the item.
        own: its own surface.
        size: its size along the axes of the sketch.
        metric: whether numbers count shares of that size.
    """

    item: Item
    own: Surface
    size: Extents
    metric: bool = False

    def put(self, path: Outline, axes: str = "xyz") -> list[tuple[float, ...]]:
        """Return points in drawing units; ``r`` is half the footprint's shorter side."""
        rows = _numbers(path) if isinstance(path, str) else [[(v, 0.0) for v in p] for p in path]
        w, h, d = self.size
        unit = {"x": w / 2, "y": h, "z": d / 2, "r": min(w, d) / 2} if self.metric else {}
        return [
            tuple(
                share * unit.get(axis, 1.0) + more
                for axis, (share, more) in zip(axes, each, strict=False)
            )
            for each in rows
        ]

    def ends(self, path: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the two points of a path."""
        first, last = self.put(path)
        return first, last

    def length(self, value: float | str, axis: str = "r") -> float:
        """Return a length: a number unchanged, text as a point's coordinate."""
        return self.put(value, axis)[0][0] if isinstance(value, str) else value

    def tone(self, word: str) -> Surface:
        """Return the surface that a word names.

        The word is a name of the palette or ``own``. ``own*.7`` is darker by that factor, ``own!``
        visibly lighter or darker, ``own~.2`` by that share, ``own+knit`` textured if it is plain.
        ``red|white`` is one of them. ``on?led:grey`` is the first if the item is in the state.
        ``#cover`` is a print, ``#cover/.75`` one of that width over height. ``@8a4020`` is a
        colour.
        """
        if word.startswith("@"):
            r, g, b = bytes.fromhex(word[1:7])
            return Surface((r / 255, g / 255, b / 255), gloss=0.3 * word.endswith("'"))
        if "~" in word:
            name, _, step = word.partition("~")
            return contrasting(self.tone(name), float(step))
        if "?" in word:
            state, _, words = word.partition("?")
            yes, _, no = words.partition(":")
            return self.tone(yes if has_state(self.item, state) else no)
        if "|" in word:
            return self.tone(pick(self.item, word.split("|"), word))
        if word.startswith("#"):
            name, _, wide = word[1:].partition("/")
            return item_print(self.item, name, float(wide or 1))
        name, _, factor = word.removesuffix("!").partition("*")
        name, _, texture = name.partition("+")
        found = self.own if name == "own" else PALETTE[name]
        if texture and not found.texture:
            found = replace(found, texture=texture)
        if word.endswith("!"):
            return shade(found, 0.6 if sum(found.rgb) > 0.8 else 1.8)
        return shade(found, float(factor)) if factor else found


Stroke = Callable[[SketchPen], Iterable[Part]]
Strokes = Stroke | Sequence["Strokes"]


def draw_parts(pen: SketchPen, strokes: Strokes) -> list[Part]:
    """Return the parts that strokes, and strokes in nested groups, draw."""
    if callable(strokes):
        return list(strokes(pen))
    return [part for each in strokes for part in draw_parts(pen, each)]


def parse_colours(words: str) -> list[RGB]:
    """Return the colours that words name; a word may name several colours."""
    return [PALETTE[name].rgb for word in words.split() for name in COLOURS.get(word, (word,))]


def sketch(
    own: str, *strokes: Strokes, gloss: float | None = None, plain: bool = False, long: bool = False
) -> Builder:
    """Return a builder that draws an item by strokes.

    Args:
        own: the possible colours if the item has none.
        strokes: the strokes.
        gloss: its own gloss.
        plain: without its material's texture.
        long: drawn along z, and placed along the longer side of its footprint.
    """

    def build(item: Item) -> list[Part]:
        pen = make_pen(item, own, gloss, plain, long)
        return fit_to_size(draw_parts(pen, strokes), size_of(item), long=long)

    return build


def make_pen(
    item: Item, own: str, gloss: float | None, plain: bool, long: bool = False
) -> SketchPen:
    """Return the pen for an item."""
    w, h, d = size_of(item)
    size = (d, h, w) if long and w > d else (w, h, d)
    return SketchPen(item, own_surface(item, *parse_colours(own), plain=plain, gloss=gloss), size)


def by(test: Callable[[float, float, float], bool], yes: Builder, no: Builder) -> Builder:
    """Return a builder that chooses between two by width, height and depth."""
    return lambda item: (yes if test(*size_of(item)) else no)(item)


def state(word: str, yes: Builder, no: Builder) -> Builder:
    """Return a builder that chooses between two by an item's state."""
    return lambda item: (yes if has_state(item, word) else no)(item)


def any_of(*builders: Builder) -> Builder:
    """Return a builder that uses one of several builders, chosen by the item."""
    return lambda item: pick(item, builders, "kind")(item)


def fixture(*strokes: Strokes, along: str = "") -> Builder:
    """Return a builder in metres; with ``along="x"`` its items are turned along the longer side."""

    def build(item: Item) -> list[Part]:
        w, h, d = size_of(item)
        turn = along == "x" and w < d
        pen = SketchPen(item, item_surface(item), (d, h, w) if turn else (w, h, d), metric=True)
        parts = draw_parts(pen, strokes)
        return [part.turned(math.pi / 2) for part in parts] if turn else parts

    return build


_TERM = re.compile(r"[-+]?[\d.]+(?:e-?\d+)?")


@lru_cache(maxsize=8192)
def _numbers(text: str) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Parse the points of a text, each number as a share and metres to add."""
    found = []
    for each in text.split():
        terms = [[float(term) for term in _TERM.findall(number)] for number in each.split(",")]
        found.append(tuple((term[0], sum(term[1:])) for term in terms))
    return tuple(found)


def points(text: str) -> list[tuple[float, ...]]:
    """Parse the points of a text as numbers."""
    return [tuple(share for share, _ in each) for each in _numbers(text)]


# -- strokes


def turned(profile: str, tone: str = "own", *, lie: str = "", sides: int = 14) -> Stroke:
    """Return a function that draws a profile turned around y; ``lie`` lays it around x or z.

    A profile that begins with ``!`` keeps its edges sharp. With ``lie="z"`` its top is at the
    front.
    """
    twice = 1 + profile.startswith("!")
    lying = {"": None, "x": (math.pi / 2, "z"), "z": (-math.pi / 2, "x")}[lie]

    def draw(pen: SketchPen) -> list[Part]:
        path = [(r, y) for r, y in pen.put(profile.removeprefix("!"), "ry") for _ in range(twice)]
        path = path[twice - 1 : len(path) - twice + 1]
        part = solids.lathe(path, pen.tone(tone), sides=sides)
        return [part.tilted(*lying) if lying else part]

    return draw


def disc(
    radius: float | str, low: float | str, high: float | str, tone: str = "own", *, sides: int = 14
) -> Stroke:
    """Return a function that draws a closed cylinder around y between two heights."""
    return turned(f"!0,{low} {radius},{low} {radius},{high} 0,{high}", tone, sides=sides)


def hollow(profile: str, tone: str = "own", *, wall: float = 0.06, sides: int = 16) -> Stroke:
    """Return a function that draws an open vessel: the outside profile, and an inner one within."""
    outside = [(r, y) for r, y in points(profile)]
    inside = [(max(r - wall, 0.01), max(y, wall)) for r, y in reversed(outside)]
    path = [(0, 0), *outside, *inside, (0, wall)]
    return lambda pen: [solids.lathe(path, pen.tone(tone), sides=sides)]


def block(corners: str, tone: str = "own", sides: str = "bufklr") -> Stroke:
    """Return a function that draws a box between two corners."""
    return lambda pen: [solids.box(*pen.ends(corners), pen.tone(tone), sides=sides)]


def soft(corners: str, radius: float, tone: str = "own", steps: int = 2) -> Stroke:
    """Return a function that draws a box with rounded edges between two corners."""
    return lambda pen: [
        rounded_shapes.rounded_box(*pen.ends(corners), radius, pen.tone(tone), steps=steps)
    ]


def cut(
    outline: Outline,
    low: float | str,
    high: float | str,
    tone: str = "own",
    *,
    axis: str = "z",
    smooth: bool = False,
) -> Stroke:
    """Return a function that draws an outline extruded along ``x`` (as z, y) or ``y`` (as x, z)."""

    def draw(pen: SketchPen) -> list[Part]:
        flat = [(a, b) for a, b in pen.put(outline, {"x": "zy", "y": "xz", "z": "xy"}[axis])]
        ends = pen.length(low, axis), pen.length(high, axis)
        return [rounded_shapes.prism(flat, *ends, pen.tone(tone), axis=axis, smooth=smooth)]

    return draw


def oval(rx: float, ry: float = 0.0, x: float = 0.0, y: float = 0.0, n: int = 14) -> Outline:
    """Return the outline of an ellipse."""
    around = np.linspace(0, 2 * math.pi, n, endpoint=False)
    return [(x + rx * math.cos(a), y + (ry or rx) * math.sin(a)) for a in around.tolist()]


def slab(
    y0: float, y1: float, tone: str = "own", *, r: float = 0.1, inset: float = 1.0, axis: str = "y"
) -> Stroke:
    """Return a function that draws the item's footprint (``y``) or front (``z``), extruded.

    The radius of its round corners is a share of the shorter side, in the item's proportions.
    """

    def draw(pen: SketchPen) -> list[Part]:
        w, h, d = pen.size
        tall = d if axis == "y" else h
        radius = min(w, tall) * r
        x, z = w * inset / 2 - radius, tall * inset / 2 - radius
        outline = [
            (sx * x + radius * math.cos(a), sz * z + radius * math.sin(a))
            for turn, (sx, sz) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)])
            for a in np.linspace(turn * math.pi / 2, (turn + 1) * math.pi / 2, 4).tolist()
        ]
        if axis == "y":
            flat = [(x * 2 / w, z * 2 / d) for x, z in outline]
        else:
            flat = [(x * 2 / w, 0.5 + y / h) for x, y in outline]
        return [rounded_shapes.prism(flat, y0, y1, pen.tone(tone), axis=axis)]

    return draw


def bar(path: Outline, thick: float | str, tone: str = "own", sides: int = 6) -> Stroke:
    """Return a function that draws a round bar along points, ``thick`` in diameter."""
    wide = thick if isinstance(thick, float) else [float(t) for t in str(thick).split()]
    return lambda pen: [rounded_shapes.tube(pen.put(path), wide, pen.tone(tone), sides=sides)]


def rod(path: str, thick: float, tone: str = "own", sides: int = 4) -> Stroke:
    """Return a function that draws a straight bar between points, square if it has four sides."""
    return lambda pen: [solids.beam(*pen.ends(path), thick, pen.tone(tone), sides=sides)]


def wheel(
    at: str, r: float | str, wide: float | str, tone: str = "own", axis: str = "z", sides: int = 16
) -> Stroke:
    """Return a function that draws a closed disc about a point and an axis: a wheel, a knob."""

    def draw(pen: SketchPen) -> list[Part]:
        size, look = (pen.length(r), pen.length(wide, axis)), pen.tone(tone)
        return [rounded_shapes.wheel(pen.put(at)[0], *size, look, axis=axis, sides=sides)]

    return draw


def ring(
    at: str,
    radius: float | str,
    thick: float,
    tone: str = "own",
    axis: str = "z",
    around: int = 20,
    sides: int = 5,
) -> Stroke:
    """Return a function that draws a hoop about a point and an axis."""

    def draw(pen: SketchPen) -> list[Part]:
        middle, size, look = pen.put(at)[0], pen.length(radius), pen.tone(tone)
        more = {"around": around, "sides": sides}
        return [rounded_shapes.ring(middle, size, thick, look, axis=axis, **more)]

    return draw


def ear(x: float, y: float, rx: float, ry: float, thick: float) -> Stroke:
    """Return a function that draws a cup's handle: an arc at its right."""
    return bar(rounded_shapes.arc((x, y, 0), (rx, ry), -1.35, 1.35), thick, sides=5)


def loop(
    y: float, rx: float, ry: float, thick: float, tone: str = "own", *, z: float = 0.0, n: int = 8
) -> Stroke:
    """Return a function that draws a handle over the top: half an ellipse from side to side."""
    return bar(rounded_shapes.arc((0, y, z), (rx, ry), 0, math.pi, n=n), thick, tone, 5)


def orb(at: str, radii: str | float, tone: str = "own", sides: int = 9, rings: int = 6) -> Stroke:
    """Return a function that draws an ellipsoid about a point, with one radius or three."""
    return lambda pen: [
        rounded_shapes.ball(
            pen.put(at)[0],
            pen.put(radii)[0] if isinstance(radii, str) else radii,
            pen.tone(tone),
            sides=sides,
            rings=rings,
        )
    ]


def hoop(y: float, radius: float, thick: float, tone: str = "own", *, sides: int = 16) -> Stroke:
    """Return a function that draws a ring around y."""
    return ring(f"0,{y},0", radius, thick, tone, "y", sides)


def front(
    w: float, low: float, high: float, tone: str, *, x: float = 0.0, z: float = -1.0
) -> Stroke:
    """Return a function that draws a flat panel just before z that shows its whole image."""
    return lambda pen: [rounded_shapes.front_panel(w, low, high, z - 0.01, pen.tone(tone), x=x)]


def top(w: float, d: float, tone: str, *, y: float = 1.0, x: float = 0.0, z: float = 0.0) -> Stroke:
    """Return a function that draws a flat panel just above y, its image upright from the front."""
    return lambda pen: [rounded_shapes.top_panel(w, d, y + 0.004, pen.tone(tone), x=x, z=z)]


def dial(radius: float, y: float, tone: str, z: float = -1.0) -> Stroke:
    """Return a function that draws a round flat panel just before z that shows its whole image."""
    sides = 20
    around = np.linspace(0, 2 * math.pi, sides, endpoint=False)
    x, up = np.append(np.cos(around), 0), np.append(np.sin(around), 0)
    at = solids.as_f32(
        np.stack([x * radius, y + up * radius, np.full(sides + 1, z - 0.02)], axis=1)
    )
    step = np.arange(sides)
    faces = np.stack([step, (step + 1) % sides, np.full(sides, sides)], axis=1).astype(np.int32)
    uv = solids.as_f32(np.stack([0.5 - x / 2, 0.5 - up / 2], axis=1))
    return lambda pen: [Part(at, faces, pen.tone(tone), uv)]


def fill(radius: float, y: float, tone: str) -> Stroke:
    """Return a function that draws the level of a vessel's content at y."""
    return turned(f"{radius},{y} 0,{y + 0.001}", tone, sides=12)


# -- strokes of strokes


def _each(change: Callable[[Part], Part], strokes: Strokes) -> Stroke:
    return lambda pen: [change(part) for part in draw_parts(pen, strokes)]


def at(offset: str, *strokes: Strokes) -> Stroke:
    """Return a function that draws strokes moved by an offset."""
    return lambda pen: [part.moved(*pen.put(offset)[0]) for part in draw_parts(pen, strokes)]


def scaled(factors: str, *strokes: Strokes) -> Stroke:
    """Return a function that draws strokes stretched by factors."""
    return _each(lambda part: part.scaled(*points(factors)[0]), strokes)


def lean(angle: float, *strokes: Strokes, axis: str = "x") -> Stroke:
    """Return a function that draws strokes tilted about x (or z) by an angle in radians.

    A quarter turn about x lays a front on its back.
    """
    return _each(lambda part: part.tilted(angle, axis), strokes)


def swing(angle: float, *strokes: Strokes) -> Stroke:
    """Return a function that draws strokes turned about y by an angle in radians."""
    return _each(lambda part: part.turned(angle), strokes)


def flip(*strokes: Strokes) -> Stroke:
    """Return a function that draws the mirror image of strokes in x."""

    def over(part: Part) -> Part:
        flipped = part.vertices * solids.as_f32([-1, 1, 1])
        return replace(part, vertices=flipped, faces=part.faces[:, ::-1])

    return _each(over, strokes)


def mirror(*strokes: Strokes) -> Strokes:
    """Return the given strokes, followed by their mirror images in x."""
    return (*strokes, flip(*strokes))


def spin(count: int, *strokes: Strokes, start: float = 0.0) -> Strokes:
    """Return copies of strokes, evenly spaced around y."""
    return [swing(start + 2 * math.pi * k / count, *strokes) for k in range(count)]


def row(count: int, step: str, *strokes: Strokes) -> Stroke:
    """Return a function that draws copies of strokes, each moved by a step from the last."""

    def draw(pen: SketchPen) -> list[Part]:
        (x, y, z), parts = pen.put(step)[0], draw_parts(pen, strokes)
        return [part.moved(k * x, k * y, k * z) for k in range(count) for part in parts]

    return draw


def when(word: str, yes: Strokes, no: Strokes = ()) -> Stroke:
    """Return a function that draws ``yes`` in one of some states (``open|on``), else ``no``."""
    return lambda pen: draw_parts(pen, yes if has_state(pen.item, *word.split("|")) else no)


def one_of(*groups: Strokes, salt: str = "kind") -> Stroke:
    """Return a function that draws one of several groups of strokes, chosen by the item."""
    return lambda pen: draw_parts(pen, groups[item_roll(pen.item, salt, len(groups))])


def sized(test: Callable[[float, float, float], bool], yes: Strokes, no: Strokes = ()) -> Stroke:
    """Return a function that draws ``yes`` if the item's size passes a test, else ``no``."""
    return lambda pen: draw_parts(pen, yes if test(*pen.size) else no)
