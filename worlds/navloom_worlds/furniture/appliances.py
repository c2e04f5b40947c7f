"""Builders of appliances: white goods, stoves, office machines, screens, musical instruments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from navloom_worlds.furniture.builder_tools import Builder, has_state, lightness
from navloom_worlds.furniture.furniture_parts import carcass, door, drawer, legs, tap
from navloom_worlds.furniture.rounded_shapes import loft
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part, quad


def feet(across: float, deep: float, high: float, thick: float, tone: str = "black") -> Stroke:
    """Return a function that takes a pen and returns the parts of four feet.

    Args:
        across: total inset from the item's width in metres, half of it on each side.
        deep: total inset from its depth in metres.
        high: height of the feet in metres.
        thick: width of a foot in metres.
        tone: word for the surface, as in :meth:`SketchPen.tone`.
    """

    def draw(pen: SketchPen) -> list[Part]:
        w, _, d = pen.size
        return legs(w - across, d - deep, high, thick, pen.tone(tone))

    return draw


def pull(x: str, low: str, high: str, z: str, tone: str) -> Strokes:
    """Return functions that draw a long upright handle before a front at z."""
    return (
        rod(f"{x},{low},{z}-.03 {x},{high},{z}-.03", 0.02, tone, 6),
        block(f"{x}-.008,{low}+.02,{z}-.03 {x}+.008,{low}+.035,{z}", tone),
        block(f"{x}-.008,{high}-.035,{z}-.03 {x}+.008,{high}-.02,{z}", tone),
    )


def drawers(
    x: str, heights: str, z: str, tone: str = "own~.1", *, knobs: bool = False, pulled: float = 0.0
) -> Stroke:
    """Return a function that draws stacked drawers between two x, with their faces at z.

    If the item is open, the uppermost is pulled out by a share of the depth.
    """

    def draw(pen: SketchPen) -> Iterator[Part]:
        (x0,), (x1,) = pen.put(x, "x")
        ys = [y for (y,) in pen.put(heights, "y")]
        face, look = pen.length(z, "z"), pen.tone(tone)
        for low, high in itertools.pairwise(ys):
            out = pen.size[2] * pulled if high == ys[-1] and has_state(pen.item, "open") else 0.0
            drawn_out = {"pulled": out, "deep": out + 0.05}
            yield from drawer((x0, low), (x1, high), face, look, knobs=knobs, **drawn_out)

    return draw


def shut(
    corners: str,
    z: str,
    tone: str = "own~.1",
    *,
    hinge: str = "left",
    framed: bool = False,
    knobs: bool = False,
) -> Stroke:
    """Return a function that draws a closed furniture door between two corners (x, y)."""

    def draw(pen: SketchPen) -> Iterator[Part]:
        low, high = ((x, y) for x, y in pen.put(corners, "xy"))
        face, look = pen.length(z, "z"), pen.tone(tone)
        return door(low, high, face, look, hinge=hinge, framed=framed, knobs=knobs)

    return draw


def shell(low: float, back: str, board: float = 0.03, front: float = 0.04) -> Stroke:
    """Return a function that draws a carcass without fronts, set back from the front by metres."""

    def draw(pen: SketchPen) -> list[Part]:
        w, h, d = pen.size
        z, tone = front - d / 2, pen.tone(back)
        return carcass(w, h, d, pen.own, low=low, front=z, back=tone, board=board)

    return draw


def _screen(x: str, low: str, high: str, z: str, shown: str) -> Stroke:
    """Return a function that draws a flat screen that faces -z, dark if it is off."""

    def draw(pen: SketchPen) -> list[Part]:
        (a, y0, near), (b, y1, _) = pen.put(f"1-{x},{low},{z} -1+{x},{high},{z}")
        corners = [(a, y0, near), (b, y0, near), (b, y1, near), (a, y1, near)]
        return [quad(corners, pen.tone(f"on?#{shown}/1.6:dark_glass"), whole=True)]

    return draw


def _tv(pen: SketchPen) -> list[Part]:
    """Return the parts of a flat screen in a thin black frame, on two feet unless it hangs."""
    # In homes that record what items stand on, one that stands on nothing hangs on its wall.
    hung = pen.item.shape is not None and pen.item.on is None
    low = "0" if hung or pen.size[1] < 0.3 else "0+.05"
    frame = "own" if lightness(pen.own) < 0.5 else "black"
    foot = cut(
        f"-1,0 1,0 1,0+.008 0,{low}+.01 -1,0+.008", ".64-.012", ".64+.012", "steel", axis="x"
    )
    strokes = (
        block(f"-1,{low},-1+.002 1,1,-1+.03", frame),
        block(f"-.6,{low}+.04,-.2 .6,.75,1", f"{frame}*.8"),
        _screen("0.012", f"{low}+.022", "1-.012", "-1", "film"),
        () if hung else mirror(foot),
        block(f"0-.008,{low}+.006,-1 0+.008,{low}+.012,-1+.004", "on?green_light:red_light"),
    )
    return draw_parts(pen, strokes)


def _oven(low: str, high: str) -> Strokes:
    """Return functions that draw an oven's door with a dark window and a bar across it."""
    return (
        block(f"-1+.004,{low},-1+.035 1-.004,{high},-1+.051"),
        block(f"-1+.07,{low}+.05,-1+.031 1-.07,{high}-.11,-1+.035", "on?ember:dark_glass"),
        rod(f"-1+.05,{high}-.05,-1+.011 1-.05,{high}-.05,-1+.011", 0.018, "steel", 6),
        mirror(block(f"1-.075,{high}-.056,-1+.015 1-.06,{high}-.044,-1+.035", "steel")),
    )


def _panel(low: str, high: str) -> Strokes:
    """Return functions that draw an oven's two knobs and its clock."""
    return (
        block(f"-1+.004,{low},-1+.035 1-.004,{high},-1+.051", "own*.85"),
        block(f"0-.07,{low}+.028,-1+.032 0+.07,{high}-.028,-1+.035", "on?blue_light:dark_glass"),
        mirror(wheel(f".64,{low}+.05,-1+.021", 0.024, 0.028, "steel", sides=12)),
    )


def _tall_oven(pen: SketchPen) -> list[Part]:
    """Return the parts of an oven at eye height in a tall unit, with drawers and a cupboard."""
    low = min(0.65, pen.size[1] * 0.42)
    a, b = f"0+{low}", f"0+{low + 0.6}"
    strokes = (
        block("-1,0,-1+.1 1,0+.1,1", "black"),
        block("-1,0+.1,-1+.051 1,1,1", _FRONTS),
        drawers("-1 1", f"0+.1 0+{(low + 0.1) / 2} {a}", "-1+.035", _FRONTS),
        *(_oven(f"{a}+.01", f"{b}-.11"), _panel(f"{b}-.1", b)),
        shut(f"-1,{b} 1,1", "-1+.035", _FRONTS) if pen.size[1] > low + 0.75 else (),
    )
    return draw_parts(pen, strokes)


def _drum(*door: Strokes) -> Strokes:
    """Return functions that draw a washer or dryer: body, panel, door and, if open, drum."""
    opened = (
        wheel(f"{_HUB}-.006", ".7", 0.012, "own*.8", sides=28),
        wheel(f"{_HUB}-.01", ".58", 0.012, "black", sides=28),
        ring(f"{_HUB}-.014", ".6", 0.03, "grey", around=28),
        orb("-.2,.4,-1+.036", "0+.1,0+.06,0+.02", "sky"),
        orb(".15,.38,-1+.036", "0+.1,0+.06,0+.02", "shell"),
        block("1-.05,.3,-1+.01 1-.03,.64,-1+.04", "chrome"),
    )
    return (
        feet(0.05, 0.1, 0.03, 0.04),
        soft("-1,0+.025,-1+.05 1,1-.02,1", 0.012, steps=1),
        block("-1,1-.025,-1+.05 1,1,1", "own*1.03"),
        block("-1+.01,1-.15,-1+.044 1-.01,1-.03,-1+.05", "own*.9"),
        block("-1+.02,0+.05,-1+.046 1-.02,0+.13,-1+.05", "own*.85"),
        wheel("0,1-.09,-1+.034", 0.03, 0.03, "chrome", sides=14),
        block(".24,1-.115,-1+.041 .64,1-.065,-1+.045", "on?blue_light:dark_glass"),
        row(3, "0+.024,0,0", wheel(".72,1-.09,-1+.04", 0.008, 0.01, "steel", sides=8)),
        when("open", opened, door),
    )


def _open_body(share: float, inside: str, low: float = 0.06) -> Stroke:
    """Return a function that draws a body set back, so that its open door is in the footprint."""

    def draw(pen: SketchPen) -> list[Part]:
        w, h, d = pen.size
        front, back = -d / 2 + d * share, pen.tone(inside)
        return carcass(w, h, d, pen.own, low=low, board=0.04, front=front, back=back)

    return draw


def _flake(x: str, y: str, z: str) -> Strokes:
    """Return functions that draw a snowflake, the mark of a freezer."""
    ends = [(0.09 * math.cos(k), 0.09 * math.sin(k)) for k in (0.0, math.pi / 3, -math.pi / 3)]
    return [rod(f"{x}+{-a},{y}+{-b},{z} {x}+{a},{y}+{b},{z}", 0.012, "sky*.8") for a, b in ends]


def _slope(pen: SketchPen) -> list[Part]:
    """Return the parts of the sloping sides of a hood, up to its shaft."""
    low, high = (
        [(x, z) for x, _, z in pen.put(corners)]
        for corners in ("-1,0,-1 1,0,-1 1,0,1 -1,0,1", "-.44,0,0 .44,0,0 .44,0,1 -.44,0,1")
    )
    return [loft(low, pen.size[1] * 0.1, high, pen.size[1] * 0.44, pen.tone("own*.95"))]


def _tap(pen: SketchPen) -> list[Part]:
    return [p.scaled(0.7, 0.7, 0.7).moved(*pen.put(".48,.56,.6")[0]) for p in tap(0, 0, 0)]


def _doors(*leaves: str) -> Strokes:
    """Return functions that draw a fridge's doors, each between two corners (x and y)."""
    corners = [leaf.split(" ") for leaf in leaves]
    return [
        soft(f"{a}+.003,-1+.04 {b}-.003,-1+.09", 0.012, steps=1)
        for a, b in ((a.replace(",", "+.003,"), b.replace(",", "-.003,")) for a, b in corners)
    ]


# fmt: off
_HUB = "0,.47,-1+.05"
_FRONTS = "@e0ded6"
_JARS = tuple(at(f"{x},0,{z}", disc(f"0+{r}", "0", f"0+{h}", tone, sides=8)) for x, z, r, h,
    tone in ((-0.75, -0.1, 0.04, 0.13, "red"), (-0.45, -0.05, 0.035, 0.16, "green"),
    (-0.1, -0.1, 0.045, 0.1, "straw"), (0.3, -0.05, 0.035, 0.15, "white"),
    (0.6, -0.1, 0.04, 0.12, "orange")))
_OPEN_FRIDGE = (_open_body(0.42, "shell"),
    row(5, "0,.18,0", block("-1+.04,0+.1,-.12 1-.04,0+.108,1-.02", "ice"), at("0,0+.108,0", _JARS)),
    block("1-.06,0+.06,-1+.01 1-.02,1,-.16"), block("1-.02,.4,-1+.04 1,.65,-1+.06", "steel"),
    row(3, "0,.2,0", block("1-.13,.3,-1+.04 1-.06,.3+.06,-.2", "ice"),
    at("1-.095,.3+.02,-.5", disc("0+.03", "0", "0+.17", "green|rust|sky", sides=8))))


_WIDE_FRIDGE = (_doors("-1,.38+.037 0,1", "0,.38+.037 1,1", "-1,0+.06 1,.38+.037"),
    pull("0-.05", ".38+.137", "1-.3", "-1+.04", "steel*.8"),
    pull("0+.05", ".38+.137", "1-.3", "-1+.04", "steel*.8"),
    rod("-.7,.38-.043,-1+.01 .7,.38-.043,-1+.01", 0.02, "steel*.8", 6),
    block("-.72,.6,-1+.036 -.36,.75,-1+.04", "dark_glass"))
_FRIDGE = (_doors("-1,0+.06 1,.36+.038", "-1,.36+.038 1,1"),
    pull("-1+.06", ".36+.088", ".36+.438", "-1+.04", "steel*.8"),
    pull("-1+.06", ".36-.282", ".36-.012", "-1+.04", "steel*.8"),
    *(block(f"0+{x},.36+{y},-1+.036 0+{x + 0.06},.36+{y + 0.07},-1+.04", tone) for x, y,
    tone in ((-0.05, 0.59, "white"), (0.04, 0.69, "yellow|sky"), (0.13, 0.59, "green|rose"))))
_MINI = (feet(0.05, 0.12, 0.04, 0.03), block("-1,0+.03,-1+.09 1,1,1", "own*.88"),
    block("-1+.01,0+.05,-1+.06 1-.01,1-.02,-1+.09", "dark"),
    soft("-1,0+.06,-1+.04 1,1-.035,-1+.085", 0.014, steps=1),
    block("-1,1-.03,-1+.05 1,1,-1+.1", "own*.7"),
    pull("-1+.05", ".45", ".85", "-1+.04", "steel*.8"),
    block(".2,1-.1,-1+.037 .64,1-.075,-1+.04", "steel*.8"))
_UPRIGHT_FREEZER = fixture(_MINI, _flake("0", ".68", "-1+.038"),
    wheel(".6,1-.016,-1+.045", 0.008, 0.012, "green_light", sides=8))
_CHEST_FREEZER = fixture(block("-1+.03,0,-1+.03 1-.03,0+.05,1-.03", "black"),
    soft("-1,0+.04,-1+.03 1,1-.09,1", 0.02), block("-1+.01,1-.095,-1+.035 1-.01,1-.078,1-.015",
    "dark"), soft("-1,1-.082,-1+.02 1,1,1", 0.025, "own*1.02"),
    block("0-.12,1-.07,-1 0+.12,1-.04,-1+.025", "steel"), _flake("-.6", ".6", "-1+.028"),
    block(".5,0+.1,-1+.024 .84,0+.24,-1+.03", "dark"),
    wheel(".6,0+.3,-1+.025", 0.012, 0.012, "green_light", sides=8))
_PLATE = lean(0.2, wheel("0,0+.11,0", 0.11, 0.012, "shell", sides=14))
_WIRES = (row(7, "0,0,.3", rod("-1+.05,.2,-.9 1-.05,.2,-.9", 0.008, "white")),
    row(6, "0,0,.16", at("-.36,.2,-.9", _PLATE)),
    row(6, "0,0,.17", rod("-1+.05,.55,-.1 1-.05,.55,-.1", 0.008, "white")),
    row(3, "0,0,.3", at(".4,.55,.1", disc("0+.035", "0", "0+.1", "white", sides=10))))
_GLASS_DOOR = (wheel(f"{_HUB}-.012", ".7", 0.024, "chrome", sides=28),
    ring(f"{_HUB}-.024", ".63", 0.03, "chrome", around=28),
    wheel(f"{_HUB}-.02", ".56", 0.03, "@29333d'", sides=24))
_ROUND_DOOR = (wheel(f"{_HUB}-.012", ".7", 0.024, "own*.6", sides=28),
    ring(f"{_HUB}-.024", ".63", 0.03, "own~.3", around=28),
    wheel(f"{_HUB}-.022", ".62", 0.02, sides=28),
    wheel(f"{_HUB}-.03", ".31", 0.01, "@29333d'", sides=20),
    row(6, "0+.03,0,0", block(".1,0+.065,-1+.043 .1+.015,0+.115,-1+.047", "dark")))
_SOAP_DRAWER = (block("-1+.02,1-.135,-1+.04 -.32,1-.045,-1+.046"),
    block("-.8,1-.12,-1+.036 -.5,1-.108,-1+.042", "dark"))
_HOBS = tuple((wheel(f"{x},1+.002,{z}", f"{r}", 0.006, tone, "y", 20),
    ring(f"{x},1+.002,{z}", f"{r}", 0.01, "steel", "y"),
    wheel(f"{x},1+.004,{z}", f"{r * 0.35}", 0.006, "black", "y", 10)) for x, z, r,
    tone in ((-0.48, -0.4, 0.3, "on?red_light:steel*.45"), (0.48, -0.4, 0.24, "steel*.45"),
    (-0.48, 0.44, 0.24, "steel*.45"), (0.48, 0.44, 0.3, "steel*.45")))
_BUILT_IN = (block("-1,0,-1+.051 1,1,1"), _oven("0+.02", "1-.11"), _panel("1-.1", "1"))
BY_NAME: dict[str, Builder] = {
    # kitchens and laundries
    "refrigerator": fixture(block("-1+.02,0,-1+.09 1-.02,0+.06,1-.03", "black"),
        when("open", _OPEN_FRIDGE,
        (block("-1,0+.06,-1+.1 1,1,1", "own*.9"),
        block("-1+.01,0+.06,-1+.06 1-.01,1,-1+.1", "dark"),
        sized(lambda w, _h, _d: w >= 0.8, _WIDE_FRIDGE, _FRIDGE),
        block(".4,1-.1,-1+.037 .72,1-.08,-1+.04", "steel*.8")))),
    "mini_fridge": fixture(_MINI),
    "freezer": lambda item: (_CHEST_FREEZER
        if item.size and (item.size[0] >= 0.7 or "chest" in item.name) else _UPRIGHT_FREEZER)(item),
    "dishwasher": fixture(when("open",
        (_open_body(0.4, "steel", 0.09), block("-1+.01,0+.1,-1 1-.01,0+.14,-.2"),
        block("-1+.03,0+.14,-1+.02 1-.03,0+.145,-.2", "steel"), _WIRES),
        (block("-1+.01,0,-1+.09 1-.01,0+.09,1-.01", "black"),
        block("-1,0+.08,-1+.055 1,1,1", "own*.85"), block("-1,1-.03,-1+.035 1,1,1", "own*1.03"),
        block("-1+.004,0+.1,-1+.035 1-.004,1-.15,-1+.055"),
        block("-1+.004,1-.145,-1+.035 1-.004,1-.035,-1+.055", "own*.75"),
        rod("-.72,1-.19,-1+.011 .72,1-.19,-1+.011", 0.02, "steel", 6),
        block("0-.06,1-.11,-1+.031 0+.06,1-.07,-1+.035", "dark_glass"),
        row(4, "0+.04,0,0", wheel(".4,1-.09,-1+.031", 0.011, 0.01, "chrome", sides=8)),
        ring("0,.45,-1+.035", ".32", 0.008, "own*.6", sides=4),
        ring("0,.45,-1+.035", ".18", 0.008, "own*.6", sides=4)))),
    "washing_machine": fixture(_drum(_GLASS_DOOR), _SOAP_DRAWER),
    "dryer": fixture(_drum(_ROUND_DOOR)),
    "stove": fixture(block("-1,0,-1+.045 1,0+.06,1", "black"), block("-1,0+.06,-1+.047 1,1-.02,1"),
        block("-1,1-.02,-1+.01 1,1,1", "dark_glass"), _HOBS,
        block("-1,1-.15,-1+.035 1,1-.02,-1+.055", "own*.92"),
        row(5, ".34,0,0", wheel("-.68,1-.085,-1+.021", 0.022, 0.028, "steel*.6", sides=12),
        block("-.68-.003,1-.085,-1+.005 -.68+.003,1-.065,-1+.008", "white")),
        _oven("0+.22", "1-.16"), block("-1+.004,0+.07,-1+.035 1-.004,0+.21,-1+.051")),
    "oven": by(lambda _w, h, _d: h < 0.75, fixture(_BUILT_IN), fixture(_tall_oven)),
    "range_hood": fixture(block("-1,0,-1 1,.1,1"), block("-.8,0-.002,-.7 .8,0+.004,.7", "own*.4"),
        block("-.44,.44,0 .44,1,1"), _slope,
        mirror(wheel(".6,0+.006,-.6", 0.03, 0.012, "on?light:white", "y", 10)),
        row(4, "0+.04,0,0", block("0-.07,.04,-1 0-.05,.08,-1+.006", "black"))),
    "play_kitchen": fixture(block("-1,0,-1+.035 1,.56-.03,1", "white"),
        block("-1,.56-.03,-1 1,.56,1", "oak"), block("-1,.56,1-.03 1,1,1"),
        block("-1,.8,1-.16 1,.82,1", "oak"), mirror(block("1-.02,.56,1-.16 1,.9,1")),
        ring(".48,.56,0", ".3", 0.02, "steel", "y"),
        wheel(".48,.56+.002,0", ".3", 0.004, "steel*.8", "y"), _tap,
        *((wheel(f"-.48,.56+.004,{z}", ".28", 0.008, "black", "y"),
        ring(f"-.48,.56+.008,{z}", ".18", 0.008, tone, "y")) for z,
        tone in ((-0.36, "red"), (0.36, "orange"))),
        at("-.48,.56+.01,.36", turned("0,0 0+.065,0 0+.075,0+.05", "red")),
        at("-.48,0,0", scaled(".5,1,1", _oven("0+.06", ".56-.12"))),
        row(3, ".24,0,0", wheel("-.72,.56-.075,-1+.014", 0.018, 0.02, "red|green|blue", sides=10)),
        shut("0+.02,0+.05 1-.01,.56-.05", "-1+.02", "own~.3", hinge="right", knobs=True),
        *(at(f"{x},.82,1-.09", disc("0+.035", "0", "0+.08", tone, sides=10)) for x,
        tone in ((-0.6, "yellow"), (-0.1, "green"), (0.4, "purple")))),
    "microwave": fixture(feet(0.06, 0.08, 0.02, 0.03),
        soft("-1,0+.012,-1+.025 1,1,1", 0.01, steps=1),
        block("-1+.02,0+.03,-1+.017 .48-.005,1-.02,-1+.025", "own*.8"),
        block("-1+.05,0+.06,-1+.014 .48-.06,1-.05,-1+.018", "on?ember:dark_glass"),
        pull(".48-.03", "0+.05", "1-.04", "-1+.025", "steel"),
        block(".48+.005,0+.03,-1+.017 1-.015,1-.02,-1+.025", "black"),
        block(".48+.02,1-.075,-1+.014 1-.03,1-.04,-1+.018", "on?green_light:moss"),
        row(4, "0,.15,0", row(3, ".14,0,0", block(".48+.03,.16,-1+.014 .48+.044,.16+.018,-1+.018",
        "white*.8")))),
    "coffee_machine": fixture(block("-1,0,-1 1,.12,1", "dark"),
        block("-.8,.12,-.92 .8,.135,-.2", "steel"), soft("-1,.1,-.1 1,1,1", 0.02, steps=1),
        soft("-1,.66,-.88 1,1,.2", 0.02, steps=1), block("-.64,.74,-.89 .64,.9,-.87", "dark_glass"),
        at("0,0,-.48", disc(".32", ".55", ".67", "dark", sides=12),
        mirror(at("0+.018,0,0", disc("0+.008", ".47", ".56", "chrome", sides=6)))),
        at("0,0,-.52", disc("0+.03", ".135", ".135+.06", "white", sides=12)),
        mirror(wheel(".4,.82,-.9", 0.012, 0.008, "on?green_light:steel", sides=8)),
        rod("0,.6,-.6 0,.58,-1+.01", 0.025, "black", 6)),
    "boiler": fixture(at("0,0,0+.015", (turned("0,0+.08 .8,0+.08 1,0+.14 1,1-.2 .8,1-.14 0,1-.14",
        sides=24))), feet(0.15, 0.15, 0.11, 0.04),
        *((rod(f"{x},1-.17,0+.02 {x},1,0+.02", 0.035, "@b86b3d'", 8),
        wheel(f"{x},1-.06,0+.02", 0.03, 0.03, tone, sides=8)) for x,
        tone in ((-0.44, "red"), (0.44, "blue"))),
        block("-.4,.22,-1+.01 .4,.36,-1+.042", "own*.55"),
        wheel("0,.58,-1+.017", 0.055, 0.03, "chrome", sides=18),
        wheel("0,.58,-1+.004", 0.045, 0.012, "white", sides=18),
        rod("0,.58,-1 0+.025,.58+.025,-1", 0.007, "red_light"),
        wheel(".2,.29,-1+.008", 0.022, 0.012, "black", sides=10),
        wheel("-.2,.29,-1+.008", 0.012, 0.012, "on?red_light:iron", sides=8)),
    "water_dispenser": fixture(soft("-1,0,-1+.04 1,.66,1", 0.02, steps=1),
        turned(".3,.64 .35,.69 .87,.75 .87,.95 .76,1 0,1", "empty?ice:@73ade6'", sides=20),
        block("-.72,.33,-1+.037 .72,.57,-1+.04", "own*.45"),
        block("-.6,.33,-1+.005 .6,.35,-1+.04", "black"),
        row(3, "0,.08,0", ring("0,.77,0", ".86", 0.012, "empty?ice:sky", "y", sides=4)),
        *((block(f"{x}-.015,.475,-1+.005 {x}+.015,.515,-1+.04", "white"),
        block(f"{x}-.02,.515,-1+.002 {x}+.02,.54,-1+.04", tone)) for x,
        tone in ((-0.36, "red"), (0.36, "blue"))),
        block("-.8,0+.05,-1+.036 .8,.277,-1+.04", "own~.08")),
    # offices
    "printer": fixture(soft("-1,0,-.6 1,.42,1", 0.015, steps=1),
        block("-1+.02,.4,-.5 1-.02,.5,1-.02", "own~.5"), soft("-1,.5,-.6 1,.78,1", 0.015, steps=1),
        mirror(block("1-.04,.42,-.6 1-.01,.52,1")), block("-.68,.41,-1 .68,.43,-.4", "own~.5"),
        block("-.52,.43,-1+.01 .52,.45,-.45", "white"), block("-.6,.06,-.62 .6,.28,-.6", "own*.85"),
        block("-.56,.76,1-.056 .56,1,1-.044", "white"),
        block("-.6,.74,1-.037 .6,.95,1-.022", "own~.5"),
        block(".4,.58,-.62 .88,.72,-.6", "dark_glass"),
        block(".48,.61,-.63 .72,.69,-.61", "on?blue_light:own~.5"),
        wheel(".8,.65,-.62", 0.008, 0.008, "green_light", sides=8)),
    "tv": fixture(_tv),
    "monitor": fixture(soft("-.44,0,-1 .44,0+.015,1", 0.006, "own*.85", 1),
        rod("0,0+.01,.4 0,.6,.2", 0.045, "own*.85"),
        block("-1,.28,-.4+.002 1,1,-.4+.03", "own*.85"),
        block("-.6,.28+.06,-.4+.03 .6,1-.06,-.4+.06", "own*.7"),
        _screen("0.012", ".28+.03", "1-.012", "-.4", "desktop"),
        block("0-.02,.28+.01,-.4-.001 0+.02,.28+.016,-.4+.003", "steel")),
    "projector_screen": fixture(soft("-1,1-.09,-1 1,1,1", 0.02, "shell*.93", 1),
        block("-1+.03,0+.02,0-.004 1-.03,1-.08,0+.004", "black"),
        block("-1+.08,0+.07,0-.006 1-.08,1-.12,0", "white"),
        block("-1+.02,0,-.5 1-.02,0+.03,.5", "iron")),
    "pc_tower": fixture(feet(0, 0.06, 0.02, 0.03), soft("-1,0+.015,-1+.008 1,1,1", 0.008, steps=1),
        row(2, "0,.11,0", block("-.84,.73,-1+.004 .84,.81,-1+.008", "own~.3")),
        wheel("0,.64,-1+.005", 0.018, 0.008, "on?blue_light:steel", sides=12),
        mirror(block("0+.03,.56,-1+.005 0+.05,.57,-1+.008", "white")),
        row(7, "0,.058,0", block("-.76,.1,-1+.005 .76,.13,-1+.008", "own~.3")),
        row(5, "0,0+.03,0", block("-1,.3,-.2 -1+.002,.3+.012,.6", "own~.3"))),
    # music
    "record_player": fixture(feet(0.03, 0.03, 0.02, 0.035),
        soft("-1,0+.015,-1 1,.62,1", 0.008, steps=1),
        at("-.2,.62,0", disc(".8", "0", "0+.012", "steel", sides=28),
        disc(".78", "0+.012", "0+.016", "dark_glass", sides=28),
        disc(".27", "0+.016", "0+.0175", "orange", sides=18),
        disc("0+.005", "0+.016", "0+.026", "chrome", sides=6),
        *(ring("0,0+.0165,0", f"{r}", 0.002, "steel*.4", "y", 28, 4) for r in (0.44, 0.56, 0.68))),
        at(".76,.62,.56", disc("0+.025", "0", "0+.035", "steel", sides=12)),
        rod(".76,.62+.034,.56+.04 .76,.62+.034,-.2", 0.01, "chrome", 6),
        rod(".76,.62+.034,-.2 .3,.62+.024,-.48", 0.01, "chrome", 6),
        wheel(".8,.62,-.76", 0.018, 0.016, "steel", "y", 12),
        block("-1+.005,.62,1-.012 1-.005,1,1", "ice")),
    "stereo": fixture(feet(0.06, 0.08, 0.015, 0.035), block("-1,0+.012,-1+.033 1,1,1"),
        block("-1,0+.012,-1+.025 1,1,-1+.035", "own~.12"),
        block("-.4,.6,-1+.022 .44,.85,-1+.025", "on?blue_light:dark_glass"),
        wheel(".74,.58,-1+.013", "0+.03", 0.024, "steel", sides=18),
        block("-.84,.16,-1+.022 -.2,.36,-1+.025", "black"),
        row(5, ".13,0,0", wheel("-.04,.28,-1+.018", 0.008, 0.014, "steel", sides=10)),
        wheel("-.8,.7,-1+.019", 0.01, 0.012, "steel", sides=10),
        row(8, "0,0,.14", block("-.7,1-.001,-.4 .7,1,-.4+.008", "black"))),
    "soundbar": fixture(soft("-1,0,-1+.004 1,1,1", 0.02),
        block("-1+.03,0+.01,-1+.001 1-.03,1-.012,-1+.014", "own*.6"),
        block("0-.03,.4,-1 0+.03,.55,-1+.004", "on?green_light:steel"),
        block("0-.05,1-.004,-.3 0+.05,1,.3", "black"),
        mirror(row(4, "0-.085,0,0", ring("1-.09,.5,-1+.002", "0+.02", 0.005, "steel*.5", around=14,
        sides=4)))),
    "subwoofer": fixture(feet(0.04, 0.06, 0.02, 0.04),
        soft("-1,0+.018,-1+.02 1,1,1", 0.012, steps=1),
        ring("0,.55,-1+.02", ".72", 0.03, "steel", around=24),
        wheel("0,.55,-1+.018", ".67", 0.008, "own~.15", sides=24),
        ring("0,.55,-1+.014", ".52", 0.022, "black", around=24),
        wheel("0,.55,-1+.008", ".23", 0.012, "steel"),
        wheel("0,.1,-1+.018", 0.018, 0.006, "black", sides=14),
        wheel(".72,.1,-1+.018", 0.006, 0.008, "on?green_light:steel", sides=8))
}
# fmt: on
for _names, _name in (
    *(("fridge", "refrigerator"), ("washer", "washing_machine"), ("clothes_dryer", "dryer")),
    *(
        ("stovetop oven/stove", "stove"),
        ("ventilation_hood", "range_hood"),
        ("television screen", "tv"),
    ),
    *(("water_heater", "boiler"), ("coffee_maker", "coffee_machine")),
):
    BY_NAME.update(dict.fromkeys(_names.split(), BY_NAME[_name]))
BY_SHAPE: dict[str, Builder] = {
    **{"appliance": BY_NAME["mini_fridge"], "stove": BY_NAME["stove"]},
    **{"hood": BY_NAME["range_hood"], "screen": BY_NAME["tv"]},
}
