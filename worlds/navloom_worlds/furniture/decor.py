"""Sketches of decoration: wall art, lamps, plants, cloth, ornaments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.belongings import folded_or, heap, pile
from navloom_worlds.furniture.builder_tools import (
    Builder,
    fit_to_size,
    item_roll,
    pick,
    shade,
    size_of,
)
from navloom_worlds.furniture.household_items import VASES
from navloom_worlds.furniture.procedural_images import (
    MOTIFS,
    PAINTINGS,
    PHOTOS,
    POSTERS,
    Motif,
    item_artwork,
    item_print,
    rug_weave,
)
from navloom_worlds.furniture.rounded_shapes import arc, front_panel, relief, sheet, top_panel, tube
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part, Point, Surface, as_f32, box

# -- archetypes: what hangs on walls


def framed_panel(
    w: float, h: float, d: float, bar: float, frame: Surface, inner: Surface, mat: float = 0.0
) -> Iterator[Part]:
    """Build a panel in a frame and a white mat, its back at d/2, its front towards -z."""
    z, back, sunk, edge, white = -d / 2, d / 2, -d * 0.15, bar + mat, Surface((0.93, 0.93, 0.91))
    yield box((-w / 2, 0, z), (w / 2, bar, back), frame)
    yield box((-w / 2, h - bar, z), (w / 2, h, back), frame)
    yield box((-w / 2, bar, z), (bar - w / 2, h - bar, back), frame, sides="fklr")
    yield box((w / 2 - bar, bar, z), (w / 2, h - bar, back), frame, sides="fklr")
    yield front_panel(w - 2 * edge, edge, h - edge, sunk, inner)
    yield box((bar - w / 2, bar, sunk), (w / 2 - bar, h - bar, back), white, sides="k")
    if mat:
        # Around the art, not behind it: covered faces would get no baked light.
        for low, high in ((bar, edge), (h - edge, h - bar)):
            yield front_panel(w - 2 * bar, low, high, sunk, white)
        for s in (-1, 1):
            yield front_panel(mat, edge, h - edge, sunk, white, x=s * (w / 2 - bar - mat / 2))


def _hung(
    frames: str, motifs: Sequence[Motif] = (), rim: float = 0.06, mats: int = 2, *, own: str = ""
) -> Builder:
    """Return a builder of a framed picture, or of a mirror if there are no motifs."""

    def build(item: Item) -> Iterable[Part]:
        (w, h, d), pen = size_of(item), make_pen(item, own, None, False)
        bar, mat = min(w, h) * rim, min(w, h) * 0.12 * (item_roll(item, "mat", 5) < mats)
        if motifs:
            art = item_artwork(item, motifs, w - 2 * (bar + mat), h - 2 * (bar + mat))
        else:
            art = pen.tone("mirror")
        # A mirror whose material is glass has a frame of another material.
        words = "black|wood|steel|white" if item.material == "glass" else frames
        return framed_panel(w, h, d, bar, pen.tone(pick(item, words.split("|"), "frame")), art, mat)

    return build


def _sheet(art: str = "", motifs: Sequence[Motif] = ()) -> Builder:
    """Return a builder of a sheet or canvas with an image from edge to edge."""

    def build(item: Item) -> list[Part]:
        w, h, d = size_of(item)
        shown = item_artwork(item, motifs, w, h) if motifs else item_print(item, art, 0.75)
        return [
            box((-w / 2, 0, -d / 2), (w / 2, h, d / 2), Surface((0.9, 0.89, 0.85)), sides="buklr"),
            front_panel(w, 0, h, -d / 2, shown),
        ]

    return build


def _photo(item: Item) -> list[Part]:
    (w, h, d), pen = size_of(item), make_pen(item, "dark wood silver", None, False)
    bar = min(w, h) * 0.1
    mat = min(w, h) * 0.06 * item_roll(item, "mat", 2)
    thick = min(0.012, d * 0.3)
    art = item_artwork(
        item,
        PHOTOS,
        w - 2 * (bar + mat),
        h - 2 * (bar + mat),
        pick(item, ("multicoloured", "multicoloured", "black and white"), "tone"),
    )
    panel = [part.tilted(0.15) for part in framed_panel(w, h, thick, bar, pen.own, art, mat)]
    return fit_to_size(
        [
            *panel,
            box((-w * 0.06, 0, 0), (w * 0.06, h * 0.7, thick / 2), pen.tone("black"))
            .tilted(-0.18)
            .moved(0, 0, h * 0.24),
        ],
        (w, h, d),
    )


def _flag(item: Item) -> list[Part]:
    (w, h, d), n = size_of(item), 10
    x, z = np.linspace(w / 2, -w / 2, n), np.sin(np.linspace(0, 9, n)) * d * 0.45
    cloth = sheet(
        [np.stack([x, np.full(n, y), z], axis=1) for y in (h, 0.0)], item_print(item, "flag", 1.6)
    )
    return [replace(cloth, uv=as_f32([(u, v) for v in (0.0, 1.0) for u in np.linspace(0, 1, n)]))]


def _round(rim: str, print_: str, inset: float) -> Builder:
    """Return a builder of a round wall item with a printed face."""
    return sketch(
        rim, turned("!0,0 1,0 1,1 0,1", lie="z", sides=24), dial(1 - inset, 0, f"#{print_}")
    )


def _needles(pen: SketchPen) -> Iterator[Part]:
    for k, a in enumerate(np.linspace(0, 2 * math.pi, 40, endpoint=False).tolist()):
        out, (x, y) = (-0.22, 0.0, 0.22)[k % 3], (math.cos(a), math.sin(a))
        u, v = 0.2 * math.sin(a + 0.5), 0.2 * math.cos(a + 0.5)
        tip = (x * (1 + out) - u, y * (1 + out) + v, -0.1)
        leaf = as_f32([(x, y, 0.02), (x * (1.1 + out), y * (1.1 + out), -0.16), tip])
        face = np.array([[0, 1, 2]], dtype=np.int32)
        yield Part(leaf, face, shade(pen.own, (0.7, 1.0, 1.3)[k % 3]))


def _shade(low: float) -> Strokes:
    """Return functions that draw a lampshade from ``low`` to 1, glowing if on, and its bulb."""
    tone, mid = _SHADE, (low + 1) / 2
    cones = [
        turned(f"1,{low} {n},1 {float(n) * 0.97},1 .97,{low}", tone, sides=18)
        for n in (".55", ".72", ".95")
    ]
    bulb = orb(f"0,{mid},0", f".22,{(1 - low) * 0.3},.22", _BULB, 8, 5)
    return one_of(*cones, salt="narrow"), bulb


def _candle(radius: float, low: float, high: float) -> Strokes:
    """Return functions that draw a candle with its wick, and its flame if it is lit."""
    tall, wide = high - low, radius * 0.16
    return (
        disc(radius, low, high, "cream"),
        disc(radius * 0.06, high, high + tall * 0.12, "black", sides=4),
        when("on", orb(f"0,{high + tall * 0.2},0", f"{wide},{tall * 0.16},{wide}", "flame")),
    )


# -- archetypes: plants


def leaf(foot: Point, at: float, long: float, wide: float, rise: float, tone: Surface) -> Part:
    """Build a leaf from a point, turned about y, rising by radians and bent down at its tip."""
    across = np.array([-math.sin(at), 0, math.cos(at)])
    out = np.array([math.cos(at), 0, math.sin(at)])
    spine = [np.array(foot, dtype=np.float64)]
    for bend, share in ((0.0, 0.35), (0.45, 0.35), (1.0, 0.3)):
        spine.append(
            spine[-1] + long * share * (out * math.cos(rise - bend) + [0, math.sin(rise - bend), 0])
        )
    sides = [
        at_ + side * across * wide * half
        for at_, half in ((spine[1], 0.5), (spine[2], 0.42))
        for side in (-1, 1)
    ]
    return Part(
        as_f32([spine[0], *sides, spine[3]]),
        np.array([[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]], np.int32),
        tone,
    )


def leaves(
    count: int,
    reach: Range,
    y: Range,
    long: Range,
    wide: float,
    rise: Range,
    *,
    stalks: bool = False,
    tone: str = "own",
) -> Stroke:
    """Return a function that draws leaves around the middle; ranges give start, length and rise."""

    def draw(pen: SketchPen) -> Iterator[Part]:
        dice, green = Random(item_roll(pen.item, "leaves")), pen.tone(tone)
        for k in range(count):
            turn, out, up = k * 2.4, dice.uniform(*reach), dice.uniform(*y)
            foot = (out * math.cos(turn), up, out * math.sin(turn))
            if stalks:
                stalk = [(0, y[0] - 0.3, 0), (foot[0] * 0.4, up * 0.7, foot[2] * 0.4), foot]
                yield tube(stalk, 0.035, shade(green, 0.75), sides=3)
            reach_, steep = dice.uniform(*long), dice.uniform(*rise)
            look = shade(green, dice.uniform(0.78, 1.25))
            yield leaf(foot, turn, reach_, wide, steep, look)

    return draw


def _crown(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of a trunk under a ball of many small leaves."""
    dice = Random(item_roll(pen.item, "leaves"))
    trunk = bar("0,0,0 .06,.6,.02 0,1.1,0", 0.09, "ebony")
    yield from draw_parts(pen, (trunk, orb("0,1.35,0", ".6,.58,.6", "own*.6", 8, 5)))
    for _ in range(52):
        turn, lift = dice.uniform(0, 2 * math.pi), dice.uniform(-1, 1)
        flat = math.sqrt(1 - lift * lift) * 0.62
        foot = (flat * math.cos(turn), 1.35 + lift * 0.6, flat * math.sin(turn))
        rise, tone = dice.uniform(-0.3, 0.7), shade(pen.own, dice.uniform(0.75, 1.25))
        yield leaf(foot, turn, 0.38, 0.22, rise, tone)


def _fronds(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of a palm: arching stems with leaflets on both sides."""
    dice = Random(item_roll(pen.item, "leaves"))
    yield from draw_parts(pen, bar("0,0,0 .05,.4,0", ".2 .12", "ebony"))
    for k in range(8):
        turn, rise = k * 2.4 + dice.uniform(-0.2, 0.2), dice.uniform(0.9, 1.35)
        stem = [
            (
                t * math.cos(rise) * 1.4 * math.cos(turn),
                0.4 + t * 1.4 * math.sin(rise) - 0.55 * t * t,
                t * math.cos(rise) * 1.4 * math.sin(turn),
            )
            for t in (0.0, 0.35, 0.7, 1.0)
        ]
        yield tube(stem, 0.025, shade(pen.own, 0.7), sides=3)
        for foot in stem[1:]:
            for s in (-1, 1):
                look = shade(pen.own, dice.uniform(0.85, 1.2))
                yield leaf(foot, turn + s * 0.8, 0.55, 0.13, 0.4, look)


def _blooms(count: int, reach: Range, y: Range, size: float, *, stems: bool = True) -> Stroke:
    """Return a function that draws flowers with five petals, on stems."""

    def draw(pen: SketchPen) -> Iterator[Part]:
        dice = Random(item_roll(pen.item, "blooms"))
        for k in range(count):
            turn, out, up = k * 2.4 + 1, dice.uniform(*reach), dice.uniform(*y)
            foot = (out * math.cos(turn), up, out * math.sin(turn))
            petal = pen.tone("red|yellow|orange|purple" if k % 2 else "white|pink|blue|yellow")
            for a in np.linspace(0, 2 * math.pi, 6)[:5].tolist():
                yield leaf(foot, turn + a, size * 1.3, size, 0.55, petal)
            heart = turned(f"{size * 0.35},.02 0,{size * 0.3}", "yellow*.9", sides=5)
            yield from draw_parts(pen, at(f"{foot[0]},{up},{foot[2]}", heart))
            if stems:
                stem = [(foot[0] * 0.15, 0.6, foot[2] * 0.15), foot]
                yield tube(stem, 0.03, shade(pen.own, 0.8), sides=3)

    return draw


def _potted(high: float, *plant: Strokes, wide: float = 0.62) -> Strokes:
    """Return functions that draw a plant in a pot."""
    pot = hollow(
        f"{wide * 0.7},0 {wide},{high * 0.92} {wide * 1.06},{high}",
        "clay|white|dark*2|sand|slate",
        sides=12,
    )
    return pot, fill(wide * 0.98, high * 0.88, "earth"), at(f"0,{high * 0.88},0", plant)


# -- archetypes: cloth on floors, beds and rails


def _rug(item: Item) -> Iterator[Part]:
    """Build a woven rug, some of the longer ones with fringes."""
    (w, h, d), pen = size_of(item), make_pen(item, "cloth", None, False)
    fringe = 0.0 if item_roll(item, "fringe", 5) < 2 or max(w, d) < 1 else max(w, d) * 0.025
    long_x = w >= d
    bw, bd = (w - 2 * fringe, d) if long_x else (w, d - 2 * fringe)
    texture = pen.own.texture if isinstance(pen.own.texture, str) else ""
    art = rug_weave(pen.own.rgb, texture, 1.5 if long_x else 0.67, item_roll(item, "w"))
    yield box((-bw / 2, 0, -bd / 2), (bw / 2, h * 0.9, bd / 2), shade(pen.own, 0.8))
    yield top_panel(bw, bd, h, Surface((1, 1, 1), art))
    for k in range(14 if fringe else 0):
        across = ((k + 0.5) / 14 - 0.5) * (bd if long_x else bw)
        half = (bd if long_x else bw) / 14 * 0.3
        size = (w, half * 2) if long_x else (half * 2, d)
        strip = top_panel(*size, h * 0.5, pen.tone("cream*.93"))
        yield strip.moved(0, 0, across) if long_x else strip.moved(across, 0, 0)


def _pad(puff: float) -> Stroke:
    """Return a function that draws a pillow; ``puff`` below 1 makes it fuller, above 1 flatter."""
    steps = np.sin(np.linspace(-math.pi / 2, math.pi / 2, 8))
    u, v = np.meshgrid(steps, steps, indexing="ij")
    rise = np.clip((1 - u**4) * (1 - v**4), 0, 1) ** puff
    # The sides are drawn in a little between the corners, as on stuffed cloth.
    x, z = u * (1 - 0.06 * (1 - v**2)), v * (1 - 0.06 * (1 - u**2))
    up = np.stack([x, 0.5 + rise / 2, z], axis=2)
    grid = np.concatenate([up, up[::-1] * [1, -1, 1] + [0, 1, 0]])
    return lambda pen: [sheet(grid, pen.own)]


def _quilt(pen: SketchPen) -> list[Part]:
    wave = np.abs(np.sin(np.linspace(0, 4 * math.pi, 13)))
    return [relief(2, 2, 0.55 + 0.45 * (wave[:, None] * wave[None]) ** 0.5, pen.own)]


def _draped(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of a cloth over a bar: two wavy layers, the front one longer."""
    u = np.linspace(-1, 1, 11)
    for low, z, tone in ((0.0, -0.56, "own"), (0.12, 0.4, "own*.85")):
        rows = [
            np.stack(
                [
                    u * (1 - 0.06 * t),
                    np.full(11, t),
                    (1 - t**6) * z + 0.1 * t + np.cos(u * 9) * 0.44 * (1 - 0.7 * t),
                ],
                1,
            )
            for t in (low, 0.5, 0.9, 1.0)
        ]
        yield sheet(np.stack(rows), pen.tone(tone))
    hem = [np.stack([u, np.full(11, y), np.cos(u * 9) * 0.44 - 0.6], 1) for y in (0.08, 0.13)]
    yield sheet(np.stack(hem), pen.tone("own!"))


def _cloth(own: str, *bands: Strokes) -> Builder:
    return sketch(own, folded_or(heap(), pile(), bands))


def _earth(pen: SketchPen) -> list[Part]:
    """Return the parts of a globe with a world map."""
    a, rise = np.meshgrid(np.linspace(0, 2 * math.pi, 19), np.linspace(0, math.pi, 10))
    unit = np.stack([np.cos(a) * np.sin(rise), np.cos(rise), np.sin(a) * np.sin(rise)], axis=2)
    uv = np.stack([a / (2 * math.pi), rise / math.pi], axis=2).reshape(-1, 2)
    return [replace(sheet(unit * 0.85 + [0, 1.25, 0], pen.tone("#world/1.6")), uv=as_f32(uv))]


# fmt: off
_OPAL, _SHADE = "on?lit:shell", "on?lit:cream|shell|sand*1.1"
# -- archetypes: lamps

_BULB = "on?bulb:shell"
_FEET = (*(turned(f"0,0 {foot} .06,.5")
    for foot in (".4,0 .6,.12 .62,.25 .3,.42", ".5,0 .5,.03 .07,.05", ".36,0 .3,.2 .42,.34 .2,.46",
    ".45,0 .45,.05 .2,.08 .28,.3")),)
_TABLE_LAMP = sketch("slate brass wood shell", one_of(*_FEET), disc(0.03, 0.48, 0.62, "brass"),
    _shade(0.52))
_FLOOR_LAMP = sketch("dark brass silver", one_of((spin(3, bar(".06,.72,0 .75,0,0", 0.06, "wood")),
    disc(0.06, 0.68, 0.82)), *((turned("0,0 .7,0 .7,.012 .1,.025"), disc(0.05, 0.02, 0.86)),) * 2),
    _shade(0.8))
_CORD = (turned(".2,.96 .2,1 0,1", sides=12), disc(0.02, 0.5, 0.97, "black", sides=5))
_PENDANT = sketch("dark brass", one_of((_CORD,
    turned("1,0 .45,.55 .44,.55 .97,0", _SHADE, sides=18),
    orb("0,.27,0", ".22,.16,.22", _BULB, 8, 5)), (_CORD, orb("0,.33,0", "1,.33,1", _OPAL, 16, 10)),
    (_CORD, disc(0.03, 0.4, 0.97), orb("0,.42,0", 0.12),
    spin(5, bar(".06,.45,0 .4,.2,0 .8,.25,0 .82,.4,0", 0.05),
    at(".82,0,0", turned(".05,.38 .12,.4 .18,.62 .16,.62", _OPAL))))))
_FLUSH = sketch("silver", turned("0,0 .45,.06 .75,.25 .92,.6 .94,.78", _OPAL, sides=20),
    turned(".94,.74 1,.76 1,1 0,1", sides=20))
Range = tuple[float, float]
_TUFT = leaves(5, (0, 0.25), (0, 0), (0.6, 0.9), 0.2, (1.1, 1.7), tone="leaf")
_BLADES = leaves(13, (0.05, 0.3), (0, 0), (1.1, 1.9), 0.24, (1.5, 1.9))
_BROAD = leaves(12, (0.2, 0.75), (0.35, 1.5), (0.5, 0.75), 0.5, (0.2, 0.7), stalks=True)
_ROSETTE = (leaves(11, (0, 0), (0.05, 0.05), (0.75, 0.85), 0.32, (0.7, 0.9)),
    leaves(9, (0, 0), (0.05, 0.05), (0.6, 0.7), 0.32, (1.2, 1.6)))
_CACTUS = (turned("0,0 .3,0 .38,.5 .34,1.1 .18,1.35 0,1.4", sides=9),
    bar(".3,.75,0 .62,.8,0 .65,1.25,0", ".26 .26 .16"),
    bar("-.3,.35,0 -.62,.4,0 -.65,.85,0", ".26 .26 .16"), orb("0,1.42,0", 0.1, "pink"))
_PLANT = sketch("leaf", sized(lambda _w, h, _d: h > 0.55,
    sized(lambda w, h, _d: h < 1.6 * w, one_of(*(_potted(0.75, p)
    for p in (_BLADES, _fronds, _BROAD, _crown))),
    one_of(*(_potted(0.6, p) for p in (_BLADES, _fronds, _BROAD, _crown)))),
    one_of(*(_potted(0.75, p) for p in (_BLADES, _BROAD, _ROSETTE, _CACTUS, _crown)))), plain=True)
_VASED = (one_of(*(scaled(".42,.95,.42", hollow(v, "clay|white|slate|sand|ice", wall=0.08,
    sides=12)) for v in VASES), salt="vase"), leaves(9, (0.1, 0.35), (1.1, 1.4), (0.35, 0.45), 0.16,
    (0.4, 0.7)), _blooms(9, (0.2, 0.7), (1.55, 2.1), 0.21))
_FLAT = block("-1,0,-1 1,.9,1", "own*.8")
# -- archetypes: ornaments

_FIGURE = (turned("!0,0 .5,0 .5,.1 0,.1", "own*.6"),
    turned(".38,.1 .3,.6 .2,1 .26,1.35 .1,1.5 0,1.52"), orb("0,1.7,0", ".17,.2,.17"),
    mirror(bar(".24,1.35,0 .4,1,-.1 .3,.75,-.22", ".13 .12 .09")))
_PLINTH = block("-.55,0,-.9 .55,.1,.9", "own*.6")
_BIRD = (_PLINTH, orb("0,.75,.1", ".35,.4,.6", sides=10), orb("0,1.25,-.4", ".24,.26,.26"),
    at("0,1.22,-.62", turned(".09,0 0,.3", "brass", lie="z", sides=5)),
    orb("0,.8,.85", ".16,.08,.4", "own*.8"), mirror(bar(".13,.1,0 .13,.5,0", 0.07, "brass")))
_BEAST = (_PLINTH, orb("0,.85,.05", ".28,.3,.7", sides=10),
    mirror(row(2, "0,0,.95", bar(".17,.8,-.45 .17,.1,-.45", ".2 .12")),
    orb(".1,1.55,-.78", ".06,.14,.05")), bar("0,.95,-.5 0,1.3,-.75", ".34 .24"),
    orb("0,1.35,-.88", ".16,.18,.32"), bar("0,.95,.7 0,.9,.95 0,.5,1", 0.12, "own*.8"))
_FOOT = block("-.5,0,-.4 .5,.18,.4", "black")
_FORMS = ((_FOOT, bar([(0.45 * math.sin(6 * a), 0.2 + 1.6 * a, 0.35 * math.cos(6 * a))
    for a in np.linspace(0, 1, 15)], " ".join(f"{0.1 + 0.22 * math.sin(math.pi * a):.2f}"
    for a in np.linspace(0, 1, 15)), sides=8)),
    (_FOOT, bar([(0.6 * math.cos(a), 0.9 + 0.7 * math.sin(a), 0)
    for a in np.linspace(0, 2 * math.pi, 19)], 0.26, sides=8), orb(".1,.5,0", 0.24, "own*.7")),
    (_FOOT, orb("0,.5,0", ".5,.34,.4", sides=12), orb(".08,1,0", ".36,.26,.3", "own*1.2", 12),
    orb("-.02,1.4,0", ".24,.2,.22")), (_FOOT, swing(0.3, block("-.3,.18,-.25 .3,.8,.25")),
    swing(0.9, block("-.24,.8,-.22 .24,1.35,.22", "own*.8")),
    swing(1.5, block("-.16,1.35,-.16 .16,1.8,.16"))))
_ORB = (turned("0,0 .5,0 .45,.08 .2,.16 .3,.25", "ebony"), orb("0,.85,0", 0.66, sides=14, rings=10),
    hoop(0.85, 0.66, 0.05, "own*.7"))
_DISH = (turned("0,0 .3,0 .12,.2 .14,.4 .6,.6 1,.75"), turned(".98,.74 .5,.55 0,.5", "own*.8"))
_FIRED = "shell slate rust dark"
_SMALL = sketch(_FIRED, sized(lambda w, h, d: h < 0.8 * max(w, d), one_of(_BIRD, _DISH, _FORMS[2]),
    sized(lambda w, h, d: h > 1.6 * max(w, d), one_of(_FIGURE, _FORMS[0], _FORMS[3]),
    one_of(_BIRD, _BEAST, _FORMS[1], _ORB, _FIGURE))), gloss=0.4)
_DIGITS = [front(0.2, y, y + 0.05, "ember", x=x, z=-0.52) for k,
    x in enumerate((0.62, 0.3, -0.2, -0.52)) for y in ((0.15, 0.45, 0.75) if k % 2 else (0.75,))]
BY_NAME: dict[str, Builder] = {
    # on walls
    "picture": _hung("black|walnut|wood|brass|white", MOTIFS),
    "painting": any_of(_sheet(motifs=PAINTINGS), *(_hung("brass|ebony|wood|black", PAINTINGS, 0.08,
        0),) * 2),
    "poster": _sheet(motifs=POSTERS),
    "calendar": _sheet("calendar"),
    "flag": _flag,
    "photo_frame": _photo,
    "mirror": _hung("own", rim=0.05, mats=0, own="dark wood brass"),
    "hand_mirror": sketch("shell", cut(oval(1, 0.9), 0, 0.26, "brass|black|white", axis="y"),
        cut(oval(0.85, 0.77), 0.25, 0.3, "mirror", axis="y"),
        block("-.14,0,-2.2 .14,.22,-.85", "brass|black|white"), long=True),
    "wall_clock": _round("dark wood shell", "dial", 0.1),
    "dartboard": _round("black", "dartboard", 0.02),
    "wreath": sketch("leaf", bar([(math.cos(a), math.sin(a), 0)
        for a in np.linspace(0, 2 * math.pi, 19)], 0.24, "own*.7"), _needles,
        *(orb(f"{math.cos(a):.3f},{math.sin(a):.3f},-.15", 0.07, "red", 6, 4)
        for a in np.linspace(0, 5.4, 7))),
    "clock": sketch("leather dark", one_of((cut([(1, 0),
        *((math.cos(a), 0.9 + 0.7 * math.sin(a)) for a in np.linspace(0, math.pi, 11)), (-1, 0)],
        -0.4, 0.4), dial(0.68, 0.86, "#dial", -0.4)),
        (block("-1,0,-.4 1,2,.4"), block("-1.1,1.95,-.5 1.1,2.05,.5", "own*.7"),
        dial(0.75, 1.05, "#dial", -0.4))), block("-1.1,-.08,-.5 1.1,.06,.5", "own*.7")),
    "alarm_clock": sketch("red dark silver", one_of((slab(-1, 1, r=0.2, axis="z"),
        front(1.7, 0.1, 0.9, "black"), scaled("1,1,1.96", _DIGITS,
        row(4, ".38,0,0", front(0.05, 0.15, 0.8, "ember", x=-0.6, z=-0.52)))),
        *((turned("!0,-.45 1,-.45 1,.45 0,.45", lie="z", sides=18), dial(0.86, 0, "#dial", -0.46),
        mirror(orb(".55,1,0", ".36,.26,.3", "steel"), bar(".5,-.8,0 .75,-1.15,0", 0.16, "steel")),
        bar("-.3,1.15,0 0,1.4,0 .3,1.15,0", 0.08, "steel")),) * 2)),
    # lamps
    "lamp": by(lambda _w, h, _d: h > 1, _FLOOR_LAMP, _TABLE_LAMP),
    "table_lamp": _TABLE_LAMP,
    "floor_lamp": _FLOOR_LAMP,
    "ceiling_lamp": by(lambda w, h, _d: h < 0.4 * w, _FLUSH, _PENDANT),
    "desk_lamp": sketch("dark red silver", disc(0.32, 0, 0.05),
        bar("0,.05,.1 0,.52,.4 0,.92,-.2", 0.05, "steel"), orb("0,.52,.4", 0.05, "black"),
        at("0,.74,-.28", lean(-0.5, turned(".02,.2 .14,.16 .3,0 .28,0"))),
        orb("0,.76,-.29", 0.1, _BULB), gloss=0.4),
    "lantern": sketch("dark", block("-1,0,-1 1,.08,1"),
        spin(4, bar(".9,.08,.9 .9,.66,.9", 0.14, sides=4)),
        swing(math.pi / 4, turned("1.5,.66 .5,.84 0,.86", sides=4)), _candle(0.35, 0.08, 0.4),
        loop(0.86, 0.4, 0.13, 0.1)),
    "candle": sketch("cream red moss", one_of(turned("0,0 .96,0 .96,.86 .8,.88 0,.82"),
        (turned("0,0 1,0 1,.9 .92,.9 .92,.7", "ice"), fill(0.93, 0.7, "own"),
        turned("1.01,.15 1.01,.62"))), disc(0.05, 0.7, 0.96, "black"),
        when("on", orb("0,.97,0", ".14,.13,.14", "flame")), plain=True, gloss=0.2),
    "candlestick": sketch("brass silver",
        turned("0,0 1,0 .95,.04 .25,.1 .18,.16 .32,.22 .14,.3 .12,.44 .45,.54 0,.56"),
        _candle(0.18, 0.56, 0.93), gloss=0.5),
    "night_light": sketch("sky pink", turned("0,0 .9,0 1,.12 .8,.25 0,.25"),
        orb("0,.6,0", ".85,.4,.85", _OPAL, 12, 8),
        mirror(orb(".45,.95,0", ".18,.16,.12"), orb(".25,.68,-.8", ".08,.05,.06", "black"))),
    # plants
    "plant": _PLANT,
    "flower_vase": sketch("leaf", _VASED, plain=True),
    "flowerpot": sketch("leaf", _potted(0.95, leaves(26, (0.15, 0.75), (0.05, 0.1), (0.5, 0.8),
        0.26, (0.7, 1.4)), _blooms(7, (0, 0.6), (0.5, 0.7), 0.2, stems=False), wide=0.7),
        plain=True),
    "planter": sketch("wood", block("-1,0,-1 1,.5,1"), block("-.94,.45,-.9 .94,.505,.9", "earth"),
        [at(f"{x},.48,{z}", scaled("1,.25,1", _TUFT)) for x in np.linspace(-0.7, 0.7, 4).tolist()
        for z in (-0.4, 0.4)]),
    # cloth
    "rug": _rug,
    "mat": sketch("cloth", _FLAT, block("-.94,.8,-.9 .94,1,.9")),
    "doormat": sketch("ochre", _FLAT, block("-.94,.8,-.9 .94,.97,.9"),
        row(7, ".19,0,0", top(0.1, 0.5, "own*.4", x=-0.57, y=0.99))),
    "yoga_mat": by(lambda _w, h, _d: h > 0.05, sketch("purple moss",
        turned("!0,-3 1,-3 1,3 0,3", lie="z"),
        turned("!0,-.2 1.02,-.2 1.02,.2 0,.2", "own!", lie="z"),
        bar([((1 - t * 0.8) * math.sin(t * 14), (1 - t * 0.8) * math.cos(t * 14), -3.02)
        for t in np.linspace(0, 0.95, 20)], 0.08, "own!", 3), plain=True, long=True),
        sketch("purple sky", _FLAT, block("-1,.8,-1 1,.99,1"), top(0.04, 1.8, "own*1.3"),
        top(1.4, 0.03, "own*1.3"), plain=True)),
    "pillow": sketch("shell sky sand", _pad(0.55)),
    "cushion": sketch("cloth red blue yellow", _pad(0.45),
        bar("-.95,.5,-.95 .95,.5,-.95 .95,.5,.95 -.95,.5,.95 -.95,.5,-.95", 0.03, "own*.7", 3),
        one_of((), orb("0,.98,0", ".06,.02,.06", "own!"))),
    "blanket": _cloth("cloth", top(1.94, 0.08, "own!", z=-0.56), top(1.94, 0.08, "own!", z=-0.4)),
    "duvet": sketch("shell cloth", _quilt),
    "towel": by(lambda _w, h, d: h > 2.5 * d,
        sketch("shell cloth", _draped, bar("-1,.975,.1 1,.975,.1", 0.05, "silver")),
        _cloth("shell cloth", top(1.94, 0.12, "own!", z=-0.5))),
    "napkin": by(lambda _w, h, _d: h < 0.012, sketch("cloth bright", pile(2)),
        _cloth("cloth bright")),
    "tablecloth": sketch("shell cloth", block("-1,0,-1 1,.95,1"),
        row(2, "0,0,1.68", top(1.92, 0.06, "own*.7", y=0.97, z=-0.84)),
        mirror(top(0.04, 1.68, "own*.7", y=0.97, x=0.94))),
    "dog_bed": sketch("cloth", scaled("1,1.6,1", bar([(0.8 * math.cos(a), 0.5, 0.8 * math.sin(a))
        for a in np.linspace(0, 2 * math.pi, 21)], 0.4, sides=7)), disc(0.9, 0.2, 0.7, "own*.8"),
        turned(".85,.75 .35,.85 0,.82", "sand|own*1.4|own*.6")),
    # ornaments
    "ornament": _SMALL,
    "figurine": sketch(_FIRED, one_of(_FIGURE, _FIGURE, _BEAST), gloss=0.35),
    "sculpture": sketch(f"{_FIRED} gold", one_of(*_FORMS), gloss=0.4),
    "statue": sketch("stone shell", one_of(_FIGURE,
        (block("-.5,0,-.5 .5,.12,.5", "own*.8"), block("-.35,.12,-.35 .35,.6,.35"),
        block("-.42,.6,-.42 .42,.68,.42", "own*.85"),
        scaled("1,1,.6", turned(".18,.68 .3,.8 .62,1.05 .55,1.25 .2,1.38 .17,1.5")),
        orb("0,1.75,-.02", ".24,.32,.28", sides=12), orb("0,1.86,.06", ".27,.26,.28", "own*.85"),
        block("-.04,1.68,-.36 .04,1.8,-.24")))),
    "globe": sketch("ebony", turned("0,0 .6,0 .55,.08 .12,.14 .1,.3"), _earth,
        bar(arc((0, 1.25, 0), (0.95, 0.95), -1.87, 1.27, n=10), 0.06, "brass")),
    "trophy": sketch("gold silver", block("-.45,0,-.45 .45,.28,.45", "black"),
        front(0.6, 0.1, 0.2, "brass", z=-0.45),
        turned(".3,.28 .1,.42 .1,.6 .35,.75 .55,1.1 .6,1.5 .54,1.5 .3,.85 0,.8", sides=16),
        mirror(bar(".55,1.4,0 .9,1.35,0 .85,1,0 .42,.85,0", 0.09)), gloss=0.7),
    "firewood": sketch("ebony", cut(oval(1, 0.87, n=6), -2, 2, "own*.7"),
        *(cut(oval(r, r * 0.9, n=8), -2 - e, 2 + e, tone) for r, e,
        tone in ((0.84, 0.01, "pale"), (0.4, 0.02, "pale*.75"))),
        at(".1,.7,.8", disc(0.2, 0, 0.35, "own*.6", sides=6)), long=True)
}
# fmt: on
for _names, _name in (
    *(
        ("picture_frame photo", "photo_frame"),
        ("clock/cylinder", "wall_clock"),
        ("bedside_lamp", "table_lamp"),
    ),
    *(("pendant_lamp chandelier", "ceiling_lamp"), ("decorative_plant potted_plant", "plant")),
    *(
        ("flower_pot", "flowerpot"),
        ("flower", "flower_vase"),
        ("carpet", "rug"),
        ("figure", "figurine"),
    ),
    *(("bath_mat bathroom_rug", "mat"), ("tea_towel", "towel"), ("cloth dishrag", "napkin")),
):
    BY_NAME.update(dict.fromkeys(_names.split(), BY_NAME[_name]))
BY_SHAPE: dict[str, Builder] = {
    **{shape: BY_NAME[shape] for shape in ("picture", "mirror", "lamp", "plant", "rug", "cushion")},
    "cloth": BY_NAME["blanket"],
}
