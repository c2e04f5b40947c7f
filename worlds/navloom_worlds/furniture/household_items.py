"""Sketches of small items of kitchens, bathrooms, desks and tool cupboards; one row per item."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import (
    Builder,
    fit_to_size,
    has_state,
    own_surface,
    size_of,
)
from navloom_worlds.furniture.rounded_shapes import arc, front_panel
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part, box

VASES = (
    ".5,0 .9,.2 1,.4 .75,.65 .4,.82 .38,.9 .55,1",
    ".6,0 .62,.05 .8,.5 1,1",
    ".45,0 .95,.18 1,.32 .6,.5 .3,.65 .28,.92 .4,1",
    ".9,0 1,.05 1,.9 .8,.97 .8,1",
    ".7,0 .4,.12 .7,.4 1,.68 .9,.85 .6,.93 .7,1",
)


# -- archetypes: strokes that several items share


def _bottle(y: float, neck: float, cap: str = "black|white|red|steel") -> Strokes:
    """Return functions that draw a bottle with a label and a cap."""
    return (
        turned(f"0,0 .94,0 1,.03 1,{y} .85,{y + 0.08} {neck},{y + 0.18} {neck},.91"),
        turned(f"!0,.91 {neck},.91 {neck},1 0,1", cap),
        turned(f"1.015,.16 1.015,{y * 0.85}", "label|white|red|blue"),
    )


def tin(label: str, band: str = "cream") -> Strokes:
    """Return functions that draw a can between two rims, with a label and a band."""
    return (
        turned("!0,0 .98,0 1,.03 .95,.06 .95,.94 1,.97 .94,1 .9,.96 0,.96", "steel"),
        turned("1,.1 1,.9", label),
        turned("1.015,.4 1.015,.62", band),
    )


def carton() -> Strokes:
    """Return functions that draw a cardboard box with a print on its broad sides."""
    cover = front(1.92, 0.02, 0.98, "#cover/.75")
    sides = (cover, swing(math.pi, cover))
    return block("-1,0,-1 1,1,1"), sized(lambda w, _, d: w >= d, sides, swing(math.pi / 2, *sides))


def kit(low: float, lid: float, inside: Strokes, *shut: Strokes) -> Strokes:
    """Return functions that draw a case with a lid: closed, or open with its lid upright."""
    body = block(f"-1,0,-1 1,{low},1")
    rim = (
        block(f"-1,0,-1 1,{low},-.9"),
        block(f"-1,0,.9 1,{low},1"),
        mirror(block(f".9,0,-.9 1,{low},.9")),
        block(f"-.9,0,-.9 .9,{low * 0.6},.9", "own*.5"),
    )
    opened = (*rim, inside, block(f"-1,{low},.8 1,1,1", "own*.85"))
    return when("open", opened, (body, block(f"-1,{low},-1 1,{lid},1", "own*.85"), *shut))


def grip(y: float, high: float, tone: str = "black") -> Strokes:
    """Return functions that draw a carrying handle in the middle of a top."""
    return bar(f"-.35,{y},0 -.28,{high},0 .28,{high},0 .35,{y},0", 0.07, tone, 5)


def _cup_with(*things: Strokes) -> Strokes:
    """Return functions that draw a beaker with items in it."""
    return hollow(".8,0 .95,.03 1,.6", wall=0.1), things


def _keys(rows: int, cols: int, tone: str, y: float, w: float, d: float, z: float = 0.0) -> Strokes:
    """Return functions that draw rows of keys on top, over a rectangle of w by d about z."""
    x, step = w / cols, d / rows
    key = top(x * 0.8, step * 0.78, tone, y=y, x=(x - w) / 2, z=z + (step - d) / 2)
    return row(rows, f"0,0,{step}", row(cols, f"{x},0,0", key))


def _slate(case: str, *on_top: Strokes, r: float = 0.1, long: bool = False) -> Builder:
    """Return a builder of a flat device lying on its back: its case, and strokes on it."""
    return sketch(case, slab(0, 0.96, r=r), *on_top, plain=True, gloss=0.4, long=long)


def handled(head: Strokes, size: str = ".26 .22 .16", tone: str = "own", y: float = 0.2) -> Strokes:
    """Return functions that draw a lying tool: a handle from the back, its head in front."""
    return bar(f"0,{y},1 0,{y},.4 0,{y},-.8", size, tone), head


def _stick(head: Strokes, tone: str = "wood", low: float = 0.15) -> Strokes:
    """Return functions that draw a standing tool: a stick in the middle of its head."""
    return scaled("1,1,2", bar(f"0,{low},0 0,1,0", 0.15, tone)), head


def _pan_handle(pen: SketchPen) -> list[Part]:
    # A third of a long pan is its handle; a square pan's is short.
    reach = max(0.7, 2 * pen.size[2] / pen.size[0] - 2)
    return draw_parts(pen, bar([(0, 0.7, -0.95), (0, 0.95, -1 - reach)], 0.16, "black"))


def _laptop(item: Item) -> Iterable[Part]:
    """Build a laptop, closed or open; an open lid rises above the size of the closed one."""
    if not has_state(item, "open", "on"):
        return _SHUT_LAPTOP(item)
    w, h, d = size_of(item)
    case = own_surface(item, (0.72, 0.73, 0.75), (0.16, 0.16, 0.17), plain=True, gloss=0.4)
    pen = make_pen(item, "silver", 0.4, True)
    tall, lean_by = d * 0.92, 0.28
    lid = [
        box((-w / 2, 0, 0), (w / 2, tall, h * 0.3), case),
        front_panel(w * 0.97, tall * 0.03, tall * 0.98, -0.0006, pen.tone("black")),
        front_panel(w * 0.93, tall * 0.07, tall * 0.94, -0.0012, pen.tone("#desktop/1.6")),
    ]
    back = d / 2 - tall * math.sin(lean_by) - h * 0.3
    base = fit_to_size(_LAPTOP_BASE(item), (w, h * 0.66, d))
    return [*base, *(part.tilted(lean_by).moved(0, h * 0.6, back) for part in lid)]


def _spices(item: Item) -> Iterable[Part]:
    w, h, _ = size_of(item)
    rows, count = 2 if h > 0.18 else 1, max(3, min(9, round(w / 0.07)))
    x, y = 2 / count, 1 / rows
    jars = [
        at(
            f"{x * (k + 0.5) - 1},{y * 0.07},.1",
            scaled(
                f"{x * 0.42},{y * 0.72},.7",
                turned("1,0 1,.75 .8,.8", tone, sides=7),
                turned("!.9,.8 .9,1 0,1", "black", sides=7),
            ),
        )
        for k, tone in enumerate(("rust", "ochre", "green", "maroon", "straw") * 2)
        if k < count
    ]
    shelf = (block(f"-1,0,-1 1,{y * 0.07},1"), block(f"-1,{y * 0.3},-1 1,{y * 0.36},-.9"))
    return sketch("wood", mirror(block(".95,0,-1 1,1,1")), row(rows, f"0,{y},0", *shelf, jars))(
        item
    )


def _lens(tone: str) -> Strokes:
    return mirror(cut(oval(0.4, 0.43, 0.5, 0.5), -1.02, -0.98, tone))


# fmt: off
_SHUT_LAPTOP = sketch("silver dark", slab(0.12, 1, r=0.06),
    block("-.97,.45,-1.01 .97,.55,.98", "black"), cut(oval(0.07, 0.1), 1, 1.01, "steel", axis="y"),
    plain=True, gloss=0.4)
_LAPTOP_BASE = sketch("silver dark", slab(0, 0.97, r=0.05),
    _keys(5, 13, "dark", 0.97, 1.76, 0.96, 0.28), top(0.64, 0.52, "own*.8", y=0.97, z=-0.6),
    plain=True, gloss=0.4)
_BRISTLES = row(6, "0,0,.17", block("-.27,.02,-.9 .27,.42,-.86", "straw*.7"))
_CROSS = (front(0.9, 0.36, 0.56, "red"), front(0.34, 0.2, 0.72, "red"))
_APPLE: Strokes = (turned("0,.08 .35,0 .8,.3 1,.85 .85,1.4 .45,1.6 0,1.4", sides=12),
    bar("0,1.4,0 .06,1.65,0 .15,1.8,0", 0.09, "wood", 4))
_PEAR: Strokes = (turned("0,0 .6,.05 1,.6 .8,1.2 .45,1.8 .2,2.1 0,2.15", sides=12),
    bar("0,2.1,0 .1,2.4,0", 0.1, "wood", 4))
_ORANGE: Strokes = (orb("0,1,0", 1.0, sides=12, rings=8), orb("0,1.98,0", ".12,.05,.12", "leaf"))
_PACKET: Strokes = (cut("-.5,0 .5,0 .5,.8 .4,.9 -.4,.9 -.5,.8", -0.3, 0.3),
    block("-.45,.88,-.05 .45,1,.05", "own*.75"), front(0.8, 0.25, 0.6, "cream", z=-0.3),
    front(0.8, 0.3, 0.38, "own*.6", z=-0.31))
_PUMP: Strokes = (turned("0,0 .95,0 1,.03 1,.55 .8,.64 .35,.68 .35,.72"),
    turned("1.012,.18 1.012,.42", "white|lime"), disc(0.12, 0.7, 0.95, "steel|black"),
    disc(0.38, 0.69, 0.76, "steel|black"), bar("-.3,.97,0 .5,.98,0 .8,.96,0 .85,.92,0", 0.05,
    "steel|black"))
_GLASSES = (mirror(bar(arc((0.5, 0.5, -1), (0.42, 0.45), 0, 2 * math.pi, n=12), 0.1, sides=4),
    bar(".95,.65,-1 .95,.62,.4 .92,.1,.95", 0.1, sides=4)),
    bar("-.1,.6,-1 0,.66,-1 .1,.6,-1", 0.09))
_DRYER: Strokes = (at("0,.55,0", turned(".3,-1 .34,-.2 .55,.1 .55,.6 .35,.75 0,.76", lie="x"),
    turned(".36,-1.25 .32,-.98 .2,-.98", "black", lie="x")),
    bar("-.25,.5,-.3 -.3,.45,-1 -.35,.4,-1.5", ".5 .42 .36"),
    block("-.4,.6,-.9 -.2,.72,-.65", "black"))
_PENS = tuple(bar(f"{-x},.1,0 {x},{y},{z}", 0.14, tone, 5) for x, y, z,
    tone in ((0.4, 0.9, 0.1, "blue|green"), (-0.45, 1.0, -0.1, "red|orange"),
    (0.1, 0.95, 0.35, "yellow|purple")))
_BRUSH: Strokes = (turned("0,-.16 .12,-.12 .12,.12 0,.16", "white", lie="x"),)
_SPOONS = (*(bar(f"{-x * 0.6},.1,{-z * 0.6} {x},{y},{z}", 0.1, tone, 5) for x, y, z,
    tone in ((0.5, 1.6, 0.3, "wood"), (-0.6, 1.7, 0.1, "steel"), (0.0, 1.8, -0.5, "black"),
    (-0.2, 1.65, 0.6, "steel"))), orb(".55,1.75,.33", ".2,.28,.09", "wood"),
    orb("-.66,1.85,.1", ".2,.28,.09", "steel"), block("-.2,1.75,-.55 .2,2.15,-.5", "black"),
    orb("-.2,1.8,.65", ".2,.25,.1", "steel"))
# -- rows, one an item
BY_NAME: dict[str, Builder] = {
    # kitchens
    "bottle": sketch("bottle amber glass",
        one_of(_bottle(0.62, 0.4), _bottle(0.66, 0.32), _bottle(0.56, 0.26)), gloss=0.6),
    "wine_bottle": sketch("bottle amber", _bottle(0.6, 0.34, "wine|black"),
        turned("1.03,.38 1.03,.42", "wine"), gloss=0.6),
    "water_bottle": sketch("bright", turned("0,0 .95,0 1,.03 1,.72 .8,.8 .8,.82"),
        turned("!.7,.82 .72,.92 .3,.92", "black"), bar("-.3,.9,0 -.3,.96,0 .3,.96,0 .3,.9,0", 0.08,
        "black", 4), gloss=0.5),
    "wine_glass": sketch("glass",
        turned("0,0 .85,.005 .8,.02 .1,.04 .08,.46 .5,.52 .92,.64 1,.74 .86,1 .8,.99 .93,.74 "
        ".85,.66 .4,.56 0,.53", "glass"), when("full", fill(0.93, 0.76, "wine"))),
    "glass": sketch("glass", hollow(".8,0 .84,.05 1,1", "glass"),
        when("full", fill(0.9, 0.78, "water"))),
    "cup": sketch("bright fired", one_of(hollow(".55,0 .75,.08 .95,.45 1,1", wall=0.08),
        hollow(".92,0 .98,.04 1,1", wall=0.08)), when("full", fill(0.9, 0.82, "coffee")),
        ear(0.92, 0.52, 0.42, 0.3, 0.14), gloss=0.35),
    "plate": sketch("shell ice", turned("0,0 .55,0 .62,.2 1,.9 1,1 .64,.42 .6,.3 0,.3", sides=20),
        hoop(0.93, 0.93, 0.03, "own*.72"), when("full",
        (orb(".2,.5,.1", ".28,.5,.25", "crust"), orb("-.22,.4,.15", ".25,.45,.2", "green"),
        orb("-.05,.4,-.25", ".3,.5,.18", "straw"))), gloss=0.4),
    "bowl": sketch("fired", hollow(".42,0 .42,.08 .7,.25 .92,.6 1,1", wall=0.05, sides=18),
        when("full", fill(0.85, 0.6, "soup")), gloss=0.35),
    "tray": sketch("wood", block("-1,0,-1 1,.25,1", "own*.85"), mirror(block(".94,0,-1 1,1,1")),
        block("-1,0,-1 1,.8,-.94"), block("-1,0,.94 1,.8,1")),
    "pan": sketch("dark", hollow(".82,0 .86,.1 1,1", wall=0.04, sides=18),
        fill(0.9, 0.3, "full?straw:black"), _pan_handle, gloss=0.5, long=True),
    "pot": sketch("silver red slate", hollow(".96,0 1,.05 1,.8 1.04,.82", wall=0.05, sides=18),
        when("full|empty", fill(0.96, 0.6, "full?soup:own*.5"),
        (turned("1.02,.81 .95,.86 .4,.92 0,.93", sides=18),
        orb("0,.96,0", ".14,.06,.14", "black"))),
        mirror(bar(arc((1.02, 0.66, 0), (0.2, 0.25), -1.57, 1.57, "xz", 5), 0.09, "black", 4)),
        gloss=0.5),
    "kettle": sketch("silver red", turned("0,.06 .9,.06 .95,.12 .82,.55 .55,.74 .3,.79 0,.8"),
        disc(0.9, 0, 0.06, "black"), orb("0,.82,0", ".12,.05,.12", "black"),
        bar("-.7,.4,0 -.95,.6,0 -1.15,.74,0", ".4 .3 .2"),
        bar(".65,.7,0 .85,.92,0 .4,1,0 -.3,.98,0 -.45,.75,0", 0.14, "black"),
        block(".7,.12,-.1 .98,.2,.1", "on?ember:black"), gloss=0.6),
    "teapot": sketch("fired", turned("0,0 .5,0 .5,.05 .85,.2 1,.42 .85,.66 .5,.78 .3,.87 0,.88"),
        orb("0,.94,0", ".14,.07,.14"), bar("-.8,.35,0 -1.15,.5,0 -1.35,.72,0 -1.5,.8,0",
        ".45 .3 .2 .18"), ear(0.85, 0.45, 0.55, 0.27, 0.13), gloss=0.5),
    "jug": sketch("fired ice", hollow(".6,0 .85,.12 .95,.35 .75,.7 .62,.82 .75,1", wall=0.07),
        bar("-.5,.9,0 -.85,.98,0", ".4 .2"), ear(0.7, 0.6, 0.55, 0.28, 0.14),
        when("full", fill(0.6, 0.85, "water")), gloss=0.45),
    "vase": sketch("fired blue yellow green",
        one_of(*(hollow(v, wall=0.08) for v in VASES), salt="vase"),
        one_of((), (), hoop(0.42, 0.92, 0.06, "own*.6"), salt="band"), gloss=0.5),
    "jar": sketch("glass", turned("0,0 .95,0 1,.04 1,.72 .86,.8 .86,.84", "glass"),
        turned("!.9,.82 .9,1 0,1", "steel|red|black"),
        when("empty", (), turned("1.012,.05 1.012,.62", "earth|red|straw|cream|ebony")),
        turned("1.02,.22 1.02,.5", "label")),
    "cookie_jar": sketch("fired", turned("0,0 .75,0 1,.25 1,.5 .8,.74"),
        turned("!.86,.74 .86,.78 .5,.9 0,.92", "own*.8"), orb("0,.95,0", ".14,.06,.14", "own*.8"),
        at("0,.4,-1", scaled("1,.4,1", turned("!0,0 .3,0 .3,.06 0,.06", "crust", lie="z"))),
        gloss=0.4),
    "toaster": sketch("silver red", slab(-1, 1, r=0.25, axis="z"),
        block("-1.01,0,-1.01 1.01,.14,1.01", "black"),
        row(2, "0,0,.8", block("-.7,.99,-.5 .7,1.01,-.3", "black")),
        block("1,.5,-.2 1.12,.6,.2", "black"), one_of((),
        at("0,.85,.4", block("-.6,0,-.1 .6,.3,.1", "crust")), salt="toast"), gloss=0.5),
    "mixer": sketch("red lime", cut(oval(0.4, 0.85), 0, 0.1, axis="y"),
        block("-.22,.1,.3 .22,1,.7"), orb("0,1.12,-.02", ".3,.22,.75", sides=10),
        at("0,0,-.32", turned("0,.1 .2,.1 .22,.16 .4,.45 .42,.7", "steel"),
        hoop(0.7, 0.42, 0.04, "steel"), turned(".02,.9 .02,.66 .15,.5 0,.3", "grey", sides=6)),
        orb("-.29,1.1,.1", 0.07, "black"), gloss=0.4),
    "knife": sketch("black", cut("-.1,0 .1,0 .1,-1.2 -.02,-1.6 -.1,-1.6", 0.02, 0.05, "steel",
        axis="y"), block("-.1,0,0 .1,.09,1.05", "black|wood"), long=True),
    "knife_holder": sketch("wood dark", swing(math.pi / 2,
        cut("-.5,0 .6,0 .6,.9 -.1,1.15 -.5,.45", -0.4, 0.4)),
        row(3, ".22,0,0", bar("-.22,.62,-.2 -.22,1.04,-.82", 0.11, "steel", 4),
        bar("-.22,.88,0 -.22,1.3,-.55", 0.11, "grey", 4))),
    "cutting_board": by(lambda _w, h, _d: h > 0.1, sketch("straw", slab(-1, 1, axis="z")),
        sketch("straw", slab(0, 0.98), cut(oval(0.05, 0.24, -0.84), 0.98, 1, "black", axis="y"),
        row(2, "0,0,1.68", top(1.44, 0.04, "own*.7", x=0.1, z=-0.84)))),
    "kitchen_utensil": sketch("shell slate", hollow(".42,0 .5,.06 .5,1", wall=0.06), _SPOONS),
    "spice_rack": _spices,
    "dish_rack": sketch("silver", bar("-1,.12,-1 1,.12,-1 1,.12,1 -1,.12,1 -1,.12,-1", 0.05),
        bar("-1,.8,-1 1,.8,-1 1,.8,1 -1,.8,1 -1,.8,-1", 0.05),
        mirror(bar("1,0,-1 1,.8,-1", 0.05), bar("1,0,1 1,.8,1", 0.05)),
        row(9, ".25,0,0", bar("-1,.12,-1 -1,.12,1", 0.03, sides=4),
        bar("-1,.12,.1 -1,.7,.1", 0.03, sides=4)),
        scaled("1,1,1.5",
        row(3, ".25,0,0", at(".1,.56,0", lean(0.1,
        turned("0,0 .25,0 .44,.06 .25,.03 0,.03", "white", lie="x"), axis="z")))), gloss=0.5),
    "paper_towel": sketch("paper", turned("!.3,.07 1,.07 1,.92 .3,.92", "paper"),
        disc(0.1, 0, 1, "wood|steel|black"), disc(0.95, 0, 0.05, "wood|steel|black"),
        block(".3,.07,-1.02 1,.92,-.99", "paper*.95")),
    "bread": sketch("crust", cut([(0.45, 0), *((x, y) for x, y,
        _ in arc((0, 0.55, 0), (0.55, 0.45), 0, math.pi)), (-0.45, 0)], -1, 1, "crust",
        smooth=True), row(3, "0,0,.5", bar("-.25,.99,-.6 .25,.99,-.4", 0.07, "cream")), long=True),
    "apple": sketch("red fresh", _APPLE, plain=True, gloss=0.25),
    "fruit": sketch("orange red", one_of(_ORANGE, _APPLE, _PEAR), plain=True, gloss=0.2),
    "cereal_box": sketch("yellow red blue", carton(), plain=True),
    "food": sketch("bright", one_of(carton(), tin("own"), _PACKET), plain=True),
    "milk_carton": sketch("shell", block("-.5,0,-.5 .5,1.35,.5"),
        cut("-.5,1.35 .5,1.35 .03,1.72 -.03,1.72", -0.5, 0.5),
        block("-.03,1.7,-.5 .03,1.9,.5", "blue|green|red"),
        front(1, 0.3, 0.8, "blue|green|red", z=-0.5),
        swing(1.571, front(1, 0.3, 0.8, "blue|green|red", z=-0.5)), plain=True),
    "pizza_box": sketch("card shell", block("-1,0,-1 1,.96,1"),
        cut(oval(0.76), 0.96, 0.97, "crust", axis="y"),
        cut(oval(0.66), 0.97, 0.98, "yellow", axis="y"),
        *(cut(oval(0.1, 0.1, x, z), 0.98, 1, "red", axis="y") for x,
        z in ((0, 0), (0.4, 0.1), (-0.35, 0.25), (0.1, 0.45), (-0.1, -0.42), (0.35, -0.35),
        (-0.42, -0.2))), plain=True),
    "sponge": sketch("yellow sky", slab(0, 0.7), slab(0.7, 1, "moss"), plain=True),
    "salt_shaker": sketch("shell ebony", turned("0,0 1,0 .85,.35 .72,.72"),
        turned(".74,.72 .74,.85 .5,.97 0,1", "steel"),
        spin(4, orb(".3,.985,0", ".07,.02,.07", "black"))),
    "can": sketch("silver", tin("red|blue|yellow|green|orange")),
    "container": sketch("ice blue yellow green", slab(0, 0.84, inset=0.94),
        slab(0.82, 1, "white|grey"), mirror(block(".94,.62,-.2 1,.84,.2", "white|grey")),
        front(0.7, 0.3, 0.55, "white", z=-0.95), plain=True),
    # baths
    "toothbrush": by(lambda w, h, d: h > 1.4 * max(w, d),
        sketch("white ice", _cup_with(_PENS[:2], at(".4,.95,.1", _BRUSH),
        at("-.4,1.02,-.1", _BRUSH))), sketch("bright",
        handled((block("-.09,.02,-1 .09,.12,-.6"), block("-.08,.12,-.97 .08,.36,-.64", "white")),
        ".2 .16 .1", y=0.1), long=True, plain=True)),
    "toothpaste": sketch("shell", cut("1,0 -.5,.02 -.95,.2 -.95,.45 -.5,.65 1,.1", -0.45, 0.45,
        axis="x"), cut(".3,0 -.1,0 -.1,.54 .3,.4", -0.46, 0.46, "red|blue|green", axis="x"),
        at("0,.33,-.9", lean(-math.pi / 2, disc(0.26, 0, 0.4, "red|blue|green"))), plain=True,
        long=True),
    "soap": sketch("pastel", slab(0, 0.25, "white|wood|grey", r=0.35),
        orb("0,.58,0", ".84,.42,.8", sides=14, rings=8), plain=True, gloss=0.3),
    "soap_dispenser": sketch("shell slate pastel", _PUMP, gloss=0.35),
    "shampoo": sketch("pastel red blue green", slab(0, 0.84, r=0.4),
        slab(0.84, 0.88, r=0.3, inset=0.6), slab(0.87, 1, "white|black|gold", r=0.3, inset=0.52),
        front(1.4, 0.15, 0.6, "white|straw|slate"), front(1.4, 0.4, 0.46, "own*.6", z=-1.02),
        plain=True, gloss=0.3),
    "detergent": sketch("blue orange shell", cut("-1,0 1,0 1,1.1 .5,1.5 -.2,1.6 -.5,1.6 -1,1.2",
        -0.45, 0.45), cut(".45,.8 .75,.8 .75,1.1 .45,1.2", -0.46, 0.46, "black"),
        at("-.35,0,0", disc(0.32, 1.55, 1.95, "red|white|blue")),
        front(1.2, 0.2, 0.95, "white", x=-0.25, z=-0.45),
        front(0.8, 0.4, 0.7, "red|green|purple", x=-0.25, z=-0.46), plain=True, gloss=0.2),
    "perfume": sketch("rose sky straw", one_of((block("-.5,0,-.35 .5,.7,.35"),
        front(0.5, 0.2, 0.45, "white", z=-0.35)), turned("0,0 .3,0 .5,.3 .42,.55 .15,.68")),
        disc(0.12, 0.66, 0.78, "brass"), disc(0.2, 0.76, 1, "brass|black|steel"), gloss=0.8),
    "cosmetics": sketch("pastel red", at("-.3,0,-.1", disc(0.42, 0, 0.34),
        disc(0.44, 0.34, 0.52, "brass|black|steel")),
        at(".35,0,-.35", disc(0.14, 0, 0.5, "brass|black|steel"), disc(0.1, 0.5, 0.68, "red")),
        at(".45,0,.2", turned("0,0 .2,0 .2,.6 .08,.68 .08,1 0,1", "own*.75")), plain=True,
        gloss=0.3),
    "razor": sketch("red blue dark",
        handled((block("-.5,.2,-1 .5,.5,-.75"), block("-.45,.15,-1.04 .45,.46,-.98", "steel")),
        ".24 .3 .18"), plain=True, long=True),
    "bathroom_utensil": sketch("shell pastel", _cup_with(_PENS, at(".4,.95,.1", _BRUSH)),
        gloss=0.3),
    "toilet_paper": sketch("paper", turned("!1,0 1,2 .36,2 .36,1.2", "paper", sides=20),
        turned(".36,2.01 .3,2.01 .3,1.2 0,1.2", "card"),
        turned(".72,2.006 .66,2.006", "paper*.85", sides=20),
        block("0,.02,-1.03 1.25,1.98,-.99", "paper*.94")),
    "toilet_brush": sketch("shell silver", turned("0,0 1,0 .9,.32 .75,.35 .3,.36"),
        disc(0.12, 0.34, 0.92, "steel"), turned(".14,.84 .22,.88 .22,.97 .1,1 0,1", sides=10)),
    "scale": sketch("ice dark", slab(0.4, 0.95), row(2, "0,0,1.4",
        mirror(at(".7,0,-.7", disc(0.14, 0, 0.4, "black")))),
        top(0.6, 0.28, "black", y=0.95, z=0.64), row(3, ".12,0,0",
        top(0.08, 0.18, "led", y=0.98, x=-0.12, z=0.64)),
        mirror(top(0.36, 1.0, "steel", y=0.95, x=0.54, z=-0.16)), gloss=0.7),
    "hairdryer": sketch("red dark shell", _DRYER, plain=True, gloss=0.3),
    "hair_brush": sketch("wood dark red", cut(oval(0.5, 0.85, 0, -0.7), 0, 0.3, axis="y"),
        bar("0,.15,0 0,.15,1.3 0,.15,1.6", ".2 .26 .16"),
        cut(oval(0.4, 0.7, 0, -0.7), 0.3, 0.4, "black", axis="y"),
        row(3, ".2,0,0", row(4, "0,0,.25", block("-.22,.4,-1.12 -.18,.6,-1.08", "grey"))),
        long=True),
    "comb": sketch("dark leather", block("-.1,0,-1 .5,1,1"),
        row(22, "0,0,.09", block("-.5,.2,-.98 .12,.8,-.93")), plain=True, long=True),
    "tissue_box": sketch("pastel slate", block("-1,0,-1 1,.78,1"),
        row(2, "0,.16,0", front(2, 0.23, 0.3, "own*.75")),
        cut(oval(0.6, 0.36), 0.78, 0.785, "black", axis="y"),
        *(swing(a, cut("-.48,.78 .48,.78 .24,.9 .32,1 -.04,.95 -.28,.98", -0.04, 0.04, "white"))
        for a in (0.0, 0.7)), plain=True),
    "first_aid_kit": sketch("shell", scaled("1,.88,1", slab(-0.95, 1, axis="z"),
        at("0,0,.05", *_CROSS)), grip(0.86, 0.98, "grey"), plain=True, gloss=0.2),
    "jewelry_box": sketch("leather shell", kit(0.5, 0.97,
        (block("-.88,.3,-.88 .88,.48,.88", "maroon"), orb("0,.52,0", ".1,.06,.1", "gold")),
        top(1.5, 1.4, "own*.6", y=0.97)), block("-.1,.4,-1.05 .1,.6,-.9", "brass")),
    # desks and sockets
    "laptop": _laptop,
    "tablet": _slate("dark", top(1.8, 1.8, "on?#desktop/.75:screen", y=0.96), r=0.08),
    "phone": _slate("dark silver", slab(0.9, 1, "screen", inset=0.93),
        top(0.5, 0.04, "grey", z=0.84), r=0.14),
    "keyboard": sketch("dark shell", cut("-1,.4 1,.9 1,0 -1,0", -1, 1, axis="x"),
        lean(-0.25, at("0,.68,0", _keys(5, 15, "own!", 0, 1.9, 1.64))), plain=True),
    "mouse": sketch("dark shell", scaled(".62,1,1", turned("1,0 .98,.3 .75,.75 .4,.96 0,1")),
        orb("0,.72,-.55", ".06,.16,.14", "grey"), block("-.01,.6,-.97 .01,.97,-.1", "grey"),
        plain=True, gloss=0.3, long=True),
    "headphones": sketch("dark shell red blue", bar(arc((0, 0.45, 0), (1, 1), 0, math.pi, "xz", 10),
        0.24), mirror(at(".8,.45,-.35", turned("!0,-.2 .5,-.2 .5,.2 .42,.3 0,.3", "black",
        lie="x")), bar("1,.45,.1 .95,.45,-.3", 0.14, "steel")), plain=True),
    "camera": sketch("dark", block("-1,0,-.35 1,1.15,.35"),
        block(".62,0,-.55 1.02,1.1,-.3", "black"),
        cut("-.4,1.15 .4,1.15 .28,1.5 -.28,1.5", -0.3, 0.3),
        at("-.1,.58,0", turned("!.55,.3 .55,.75 .5,.75 .5,1.2 .4,1.15", "black", lie="z"),
        dial(0.42, 0, "lens", -1.12)), at(".7,0,0", disc(0.16, 1.15, 1.3, "steel")), plain=True),
    "telephone": sketch("dark shell red", cut("-1,0 1,0 1,.75 .4,.7 -1,.25", -0.9, 0.9, axis="x"),
        at(".2,.47,-.35", lean(-0.31, _keys(4, 3, "white", 0, 0.7, 0.8))),
        bar("-.62,.85,-.75 -.62,.98,0 -.62,1,.75", ".3 .26 .3", "own*.8"),
        orb("-.62,.62,-.7", ".24,.2,.26", "own*.8"), orb("-.62,.85,.72", ".24,.2,.26", "own*.8"),
        plain=True, gloss=0.3),
    "remote_control": _slate("dark", _keys(5, 3, "grey", 0.96, 1.3, 1.0, -0.2),
        cut(oval(0.5, 0.2, 0, 0.6), 0.9, 0.98, "grey", axis="y"),
        top(0.4, 0.1, "red", x=0.4, z=0.85), r=0.3, long=True),
    "calculator": _slate("dark", _keys(5, 4, "white", 0.96, 1.7, 1.16, -0.28),
        top(1.64, 0.36, "lime", y=0.96, z=0.64)),
    "charger": sketch("shell dark", block("-.35,0,.2 .35,.7,.9"),
        mirror(bar(".16,.35,.9 .16,.35,1.15", 0.09, "steel")),
        bar([(0, 0.3, 0.2), *((0.75 * math.cos(a) * (1 - a / 60), 0.1 + a / 30,
        -0.35 + 0.55 * math.sin(a) * (1 - a / 60)) for a in np.linspace(0.6, 4 * math.pi, 26))],
        0.1, sides=4), plain=True),
    "speaker": sketch("dark ebony", block("-1,0,-.94 1,1,1"),
        front(1.84, 0.03, 0.97, "black", z=-0.94),
        *(at(f"0,{y},-.94",
        scaled(f"{r},{r * 0.28},1", turned("1,0 1,.06 .88,.07 .5,.02 .28,.02 .2,.05 0,.06", "grey",
        lie="z"))) for y, r in ((0.32, 0.7), (0.76, 0.4))),
        front(0.1, 0.04, 0.06, "on?led:black", x=0.7, z=-0.97)),
    "radio": sketch("ebony red straw", scaled("1,.86,1", slab(-0.9, 1, r=0.15, axis="z"),
        front(1, 0.15, 0.85, "sand", x=0.4, z=-0.9),
        row(5, "0,.13,0", front(0.96, 0.2, 0.24, "black", x=0.4, z=-0.92)),
        front(0.68, 0.6, 0.82, "on?lit:cream", x=-0.54, z=-0.9),
        *(at(f"{x},.32,-.88", lean(-math.pi / 2, disc(0.14, 0, 0.12, "steel")))
        for x in (-0.74, -0.36))), bar("-.7,.82,0 -.6,.98,0 .6,.98,0 .7,.82,0", 0.06, "black", 4)),
    "video_game": sketch("dark shell", block("-1,0,-1 1,.25,1"),
        block("-.96,.25,-.96 .96,.3,.96", "black"), block("-1,.3,-1 1,.55,1"),
        front(0.4, 0.26, 0.29, "on?led:grey", x=0.4),
        mirror(bar(".2,.75,0 .44,.75,-.1 .5,.7,-.5", ".36 .42 .25", "own!")),
        block("-.28,.6,-.16 .28,.9,.16", "own!"), mirror(at(".26,0,0", disc(0.1, 0.8, 1, "grey"))),
        plain=True, gloss=0.3),
    "baby_monitor": sketch("shell sky", cut("-.8,0 .8,0 1,.5 .9,1.3 .5,1.7 -.5,1.7 -.9,1.3 -1,.5",
        -0.5, 0.5), at("0,1.1,-.5", turned("!.4,0 .4,.16 0,.16", "black", lie="z"),
        dial(0.18, 0, "lens", -0.18)), bar(".6,1.5,0 .65,2.4,0", 0.16, "grey"),
        row(3, "0,.13,0", front(1, 0.25, 0.3, "grey", z=-0.5)),
        front(0.12, 0.66, 0.76, "on?led:grey", x=0.5, z=-0.5), plain=True),
    "scissors": sketch("red blue dark", mirror(cut("0,.05 .12,0 .2,-1", 0.02, 0.08, "steel",
        axis="y"), bar("0,.06,0 -.2,.06,.4", 0.08),
        bar([(-x, 0.06, z) for x, z in (*oval(0.17, 0.27, 0.3, 0.62, 11), (0.47, 0.62))], 0.09,
        sides=5)), disc(0.06, 0, 0.12, "grey"), plain=True, long=True),
    "pen": sketch("red blue dark", turned("0,0 .2,0 .9,.12 1,.2 1,.95 .7,1 0,1", lie="z", sides=8),
        turned(".98,.13 .25,0", "steel", lie="z", sides=8),
        block("-.2,1,-.97 .2,1.25,-.65", "steel"), plain=True, gloss=0.4, long=True),
    "stapler": sketch("dark red", block("-.5,0,-1 .5,.2,1", "black"),
        cut("-1,.62 -.95,1 .85,.9 1,.3 .6,.25", -0.45, 0.45, axis="x"),
        block("-.3,.45,-.98 .3,.6,.6", "steel"), plain=True, gloss=0.3, long=True),
    "key": sketch("silver gold", (bar([(0.34 * math.cos(a), 0.12, 0.5 + 0.34 * math.sin(a))
        for a in np.linspace(0, 6.28, 13)], 0.07, "steel")),
        *(at(f"0,{0.08 * k},.3", swing(a, cut(oval(0.26, 0.24, 0, -0.1, 8), 0, 0.07, tone,
        axis="y"), block("-.07,0,-1 .07,.07,-.3", tone),
        row(3, "0,0,.17", block(".06,0,-.95 .15,.07,-.87", tone)))) for k,
        (a, tone) in enumerate(((0.5, "own"), (-0.15, "brass"), (-0.75, "steel")))),
        block("-.75,0,.4 -.3,.2,.95", "red|blue|black")),
    "glasses": sketch("dark leather", _GLASSES, _lens("clear"), plain=True),
    "sunglasses": sketch("dark leather", _GLASSES, _lens("screen"), plain=True),
    "telescope": sketch("shell navy", spin(3, bar("0,.62,0 .9,0,0", 0.06, "black"), start=0.5),
        at("0,.72,0",
        scaled("1,.55,1",
        lean(0.5, turned("!0,-.9 .09,-.9 .09,-.55 .17,-.5 .17,.7 .22,.72 .22,1 .18,1", lie="z"),
        turned(".2,.98 0,.97", "clear", lie="z"), bar("0,.2,-.3 0,.2,.2", 0.08, "black")))),
        orb("0,.64,0", 0.1, "black"), gloss=0.3),
    # tools and household machines
    "broom": sketch("wood red blue", _stick((cut("-1,0 1,0 .85,.13 -.85,.13", -0.5, 0.5,
        "straw|own*.7"), block("-.87,.12,-.4 .87,.16,.4"),
        row(9, ".2,0,0", block("-.8,0,-.52 -.77,.12,-.5", "straw*.6"))), "own|wood")),
    "mop": sketch("red blue",
        _stick((block("-.4,.12,-.25 .4,.17,.25"),
        *(bar(f"{x * 0.35},.14,0 {x * 0.75},.09,{z * 0.5} {x},0,{z}", ".16 .2 .2", "fabric", 4)
        for x, z in zip(np.linspace(-1, 1, 11).tolist(), (-0.45, 0.45) * 6, strict=False))), "own"),
        plain=True),
    "shovel": sketch("silver dark", _stick((cut("-.9,.28 .9,.28 1,.12 .5,.02 0,0 -.5,.02 -1,.12",
        -0.3, -0.1), bar("0,.92,0 -.5,.97,0 0,.995,0 .5,.97,0 0,.92,0", 0.04, "ebony")), low=0.2),
        gloss=0.4),
    "hammer": sketch("wood", handled((at("0,.2,-.82",
        turned("!0,-.55 .2,-.55 .2,.1 0,.1", "steel", lie="x", sides=10)),
        cut("-.1,-1 -.1,-.66 -.45,-.7 -.62,-.86 -.45,-.84", 0.1, 0.3, "steel", axis="y")),
        tone="wood"), long=True),
    "screwdriver": sketch("yellow red", turned("0,0 .9,.02 1,.15 .75,.35 1,.42 .6,.48 0,.48",
        lie="z", sides=6), turned("!.28,.48 .28,.95 0,.95", "steel", lie="z", sides=8),
        block("-.4,-.1,-1 .4,.1,-.93", "steel"), plain=True, gloss=0.3, long=True),
    "wrench": sketch("silver",
        cut("-.3,-.7 -.5,-.9 -.4,-1.1 -.2,-1.2 -.2,-1 .2,-1 .2,-1.2 .4,-1.1 .5,-.9 .3,-.7", 0, 0.3,
        axis="y"), block("-.18,.03,-.8 .18,.27,.75"), at("0,.15,.9", hoop(0, 0.26, 0.2)), gloss=0.6,
        long=True),
    "drill": sketch("yellow slate", at("0,1.25,0", turned("!0,-.6 .3,-.6 .3,.55 0,.55", lie="x"),
        lean(-math.pi / 2, turned(".26,.55 .2,.8 .08,.95 0,.95", "black"), axis="z"),
        bar(".9,0,0 1.35,0,0", 0.07, "steel")), cut("-.5,.25 -.1,.25 .05,1.05 -.4,1.1", -0.18, 0.18,
        "black"), block("-.65,0,-.27 .25,.28,.27"), block("-.02,.8,-.08 .1,1,.08", "red"),
        plain=True, gloss=0.2),
    "tape_measure": sketch("yellow", at(".2,0,0", slab(-1, 1, r=0.3, axis="z"),
        cut(oval(0.6, 0.3, 0, 0.5), -1.08, 1.08, "black")),
        block("-1.2,.03,-.6 -.7,.08,.6", "yellow"), block("-1.24,0,-.6 -1.18,.1,.6", "steel"),
        plain=True, gloss=0.2),
    "flashlight": sketch("dark red", turned("0,0 .6,0 .65,.04 .65,.65 .95,.8 1,1 .85,1", lie="z"),
        turned(".86,.98 0,.96", "white", lie="z"), block("-.15,.38,-.75 .15,.5,-.6", "red"),
        gloss=0.4, long=True),
    "iron": sketch("blue shell",
        *(scaled(f"{s},1,{s}", cut("-1,0 -.4,.42 .5,.48 .95,.4 .95,-.4 .5,-.48 -.4,-.42", low, high,
        tone, axis="y")) for s, low, high, tone in ((1, 0, 0.1, "steel"), (0.9, 0.1, 0.42, "own"),
        (0.65, 0.42, 0.55, "own*.85"))), bar("-.4,.5,0 -.3,.92,0 .1,1,0 .75,.95,0 .82,.5,0", 0.22,
        "black"), disc(0.16, 0.55, 0.62, "on?red:white"), plain=True, gloss=0.3),
    "brush": sketch("wood red blue", cut(oval(0.3, 0.55, 0, -0.45), 0.45, 0.75, axis="y"),
        block("-.25,0,-.95 .25,.45,.05", "straw"), _BRISTLES,
        bar("0,.6,.05 0,.7,.6 0,.72,1", ".3 .24 .28"), long=True),
    "vacuum_cleaner": by(lambda _w, h, _d: h > 0.7,
        sketch("red blue", cut(oval(1, 0.55, 0, -0.65), 0, 0.09, "black", axis="y"),
        scaled("1,1,.8", turned("0,.1 .55,.1 .65,.2 .6,.5 .4,.62 .15,.66")),
        at("0,0,-.22", turned(".5,.16 .52,.4", "grey")),
        bar("0,.6,.1 0,.95,.55 0,1,.75", ".14 .12 .16", "black"),
        bar(".4,.2,.4 .75,.45,.4 .3,.75,.4", 0.1, "grey"), plain=True, gloss=0.3),
        sketch("red blue", orb("0,.36,.3", ".75,.36,.8", sides=12, rings=8),
        mirror(at(".72,.32,.55", turned("!0,-.06 .32,-.06 .32,.06 0,.06", "black", lie="x"))),
        bar("0,.5,-.4 0,.9,-.75 .5,1,-.6 .85,.5,-.6 .85,.1,-.9", 0.16, "black"),
        block(".4,0,-1.15 1.2,.14,-.85", "black"), plain=True, gloss=0.3)),
    "fan": sketch("shell dark", turned("0,0 .75,0 .7,.05 .12,.1", sides=16),
        bar("0,.1,0 0,.7,0", 0.15), at("0,.7,0",
        scaled("1,.3,1", orb("0,0,.25", ".26,.26,.4"),
        *(bar(arc((0, 0, z), (1, 1), 0, 2 * math.pi, n=20), 0.05, "steel", 4) for z in (-0.3, 0.0)),
        *(bar(f"0,0,-.42 {math.cos(a):.2f},{math.sin(a):.2f},-.3", 0.03, "steel", 3)
        for a in np.linspace(0, 6.28, 11)[:-1]), *(cut([(r * math.cos(a + t), r * math.sin(a + t))
        for r, t in ((0.1, 0), (0.85, -0.3), (0.85, 0.0), (0.85, 0.5))], -0.16, -0.12, "own*.7")
        for a in (0.3, 2.4, 4.5)))), plain=True, gloss=0.2),
    "air_purifier": sketch("shell", slab(0, 0.97, r=0.2), slab(0.97, 1, "grey", r=0.2, inset=0.85),
        row(9, "0,.05,0", front(1.4, 0.12, 0.14, "grey")), front(0.6, 0.82, 0.86, "on?led:black"),
        gloss=0.3),
    "fire_extinguisher": sketch("red", turned("0,0 .85,0 .9,.03 .9,.66 .7,.78 .3,.82 .25,.88"),
        turned(".915,.3 .915,.5", "white"), disc(0.2, 0.85, 0.93, "brass"),
        bar("-.1,.9,0 .7,.95,0", 0.09, "black"), bar("-.1,.96,0 .7,1,0", 0.09, "black"),
        bar("-.2,.9,0 -.8,.88,0 -1,.6,0 -.98,.25,0", ".12 .14 .14 .24", "black"), plain=True,
        gloss=0.4),
    "umbrella": sketch("dark red blue yellow",
        turned(".15,.05 .55,.12 .85,.55 .8,.66 .2,.7", sides=8), disc(0.12, 0, 0.08, "steel"),
        turned(".9,.48 .92,.52", "own!", sides=8), bar([(0, 0.66, 0), (0, 0.9, 0),
        *arc((0.45, 0.92, 0), (0.45, 0.08), math.pi, 0, n=6)], 0.24, "wood"), plain=True),
    "watering_can": sketch("green silver", turned("0,0 .6,0 .62,.04 .55,.8 .3,.9"),
        bar("0,.15,-.5 0,.6,-1 0,.95,-1.35", ".3 .2 .16"),
        at("0,.95,-1.38", lean(-0.9, disc(0.24, 0, 0.08, "own*.7"))),
        bar("0,.9,-.2 0,1.15,.2 0,.9,.7 0,.35,.55", 0.12, "own*.8"), gloss=0.3, long=True)
}
# fmt: on
for _names, _name in (
    *(("mug", "cup"), ("frying_pan", "pan"), ("pitcher", "jug"), ("hair_dryer", "hairdryer")),
    *(("liquid_soap dish_soap", "soap_dispenser"), ("lotion", "shampoo")),
    *(("bottle_of_detergent", "detergent"), ("remote", "remote_control")),
):
    BY_NAME.update(dict.fromkeys(_names.split(), BY_NAME[_name]))
BY_SHAPE: dict[str, Builder] = {
    shape: BY_NAME[name]
    for shape, name in (
        ("bottle", "bottle"),
        ("bowl", "bowl"),
        ("rack", "dish_rack"),
        ("screen", "tablet"),
    )
}
