"""Sketches of clothes, bags, reading matter, toys and pastimes; one row per item."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

import numpy as np

from navloom_worlds.furniture.builder_tools import COLOURS, Builder, item_roll
from navloom_worlds.furniture.household_items import grip, kit, tin
from navloom_worlds.furniture.procedural_images import MOTIFS, item_artwork
from navloom_worlds.furniture.rounded_shapes import arc, prism, relief, sheet, top_panel
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part

_INKS = "muted red blue yellow green shell"


# -- archetypes: cloth


def pile(layers: int = 0, *tones: str) -> Stroke:
    """Return a function that draws a pile of folded cloth, its number of layers by its height."""

    def draw(pen: SketchPen) -> Iterator[Part]:
        _, h, d = pen.size
        count = layers or max(2, min(5, round(h / 0.03)))
        words, r = tones or ("own", "own*.9"), h / count / d
        for k in range(count):
            fold = [
                (r - 1 - r * math.sin(a), (k + 0.5 + math.cos(a) / 2) / count)
                for a in np.linspace(0, math.pi, 6)
            ]
            outline, half = [*fold, (1, k / count), (1, (k + 1) / count)], 1 - 0.03 * (k % 2)
            yield prism(outline, -half, half, pen.tone(words[k % len(words)]), axis="x")

    return draw


def heap(tone: str = "own", salt: str = "crumple") -> Stroke:
    """Return a function that draws dropped cloth with ridges and hollows."""

    def draw(pen: SketchPen) -> list[Part]:
        rough = np.random.default_rng(item_roll(pen.item, salt)).random((9, 9))
        soft = (rough + np.roll(rough, 1, 0) + np.roll(rough, 1, 1) + np.roll(rough, -1, 0)) / 4
        far = np.abs(np.linspace(-1, 1, 9))
        rim = 1 - 0.75 * np.maximum(far[:, None], far[None]) ** 2.5
        return [relief(2, 2, np.clip((0.35 + soft) * rim, 0.06, None), pen.tone(tone))]

    return draw


def folded_or(loose: Strokes, *folded: Strokes) -> Strokes:
    """Return a function that draws ``loose`` for an item of a known shape that is not folded."""
    return lambda pen: draw_parts(
        pen, loose if pen.item.shape and "folded" not in pen.item.states else folded
    )


def _garment(own: str, *, sleeve: float, buttons: str) -> Strokes:
    """Return functions that draw a garment of height 1, its sleeves reaching down to ``sleeve``."""
    torso = "-.12,.98 -.3,.95 -.32,.7 -.33,0 .33,0 .32,.7 .3,.95 .12,.98"
    return (
        cut(torso, -0.5, 0.5, own),
        mirror(
            cut(f".28,.95 .5,{sleeve + 0.05} .37,{sleeve} .3,.72", -0.42, 0.42, f"{own}*.85"),
            cut(".02,.86 .1,1 .17,.97 .13,.85", -0.56, 0.5, "own!"),
            cut(".12,.2 .28,.2 .28,.24 .12,.24", -0.54, -0.5, "own!"),
        ),
        block("-.012,0,-.53 .012,.88,-.49", "own!"),
        row(4, "0,.2,0", block(".015,.12,-.55 .04,.145,-.5", buttons)),
    )


def _hooked(*garment: Strokes, deep: float = 1.0) -> Strokes:
    """Return functions that draw a garment on a hanger's hook."""
    hook = [(0, 0.98, 0), (0, 1.03, 0), *arc((0, 1.05, 0), (0.03, 0.03), -1.5, 2.5, n=5)]
    return scaled(f"1,1,{deep}", garment), bar(hook, 0.012, "steel", 4)


def _skin(rows: str, x: float) -> Stroke:
    """Return a function that draws a shoe's upper over half rings (z, half width, height)."""
    turn = np.linspace(0, math.pi, 7)
    grid = [
        [(x + half * math.cos(a), 0.05 + (high - 0.05) * math.sin(a) ** 0.55, z) for a in turn]
        for z, half, high in points(rows)
    ]
    return lambda pen: [sheet(grid, pen.own)]


def _pair(*one: Strokes) -> Strokes:
    """Return functions that draw two mirrored copies, side by side."""
    return mirror(at(".25,0,0", *one))


def _sack(rows: str, tone: str = "own") -> Stroke:
    """Return a function that draws a soft bag over rings (y, half width, half depth)."""
    turn = np.linspace(0, 2 * math.pi, 14, endpoint=False)
    x, z = (np.abs(c) ** 0.55 * np.sign(c) for c in (np.cos(turn), np.sin(turn)))
    grid = [np.stack([x * w, np.full(14, y), z * d], axis=1) for y, w, d in points(rows)]
    return lambda pen: [sheet(np.stack(grid), pen.tone(tone), closed=True)]


# -- archetypes: books and paper


def _volume(cover: str, bands: bool = True) -> Strokes:
    """Return functions that draw an upright book, its spine to the front."""
    spine = (front(1.6, 0.62, 0.8, "brass"), front(1.6, 0.12, 0.15, "brass")) if bands else ()
    return (
        block("-1,0,-1 -.8,1,1", cover),
        block(".8,0,-1 1,1,1", cover),
        block("-1,0,-1 1,1,-.96", cover),
        block("-.8,.02,-.96 .8,.98,.95", "paper"),
        spine,
    )


def _lying(cover: str, *on_top: Strokes) -> Strokes:
    """Return functions that draw a book lying flat, its spine on the left from the front."""
    return (
        block("-1,0,-1 1,.15,1", cover),
        block("-1,.85,-1 1,.99,1", cover),
        block(".95,0,-1 1,.99,1", cover),
        block("-.95,.15,-.96 .95,.85,.96", "paper"),
        on_top,
    )


def _books(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of books side by side if they stand, stacked if they lie flat."""
    (w, h, d), dice = pen.size, Random(item_roll(pen.item, "row"))
    stands = h >= 0.6 * min(w, d) and h > 0.1
    tones = ("own", "own", *COLOURS["muted"], *COLOURS["bright"])
    total, least, most = (w, 0.016, 0.042) if stands else (h, 0.02, 0.04)
    done = 0.0
    while done < total - 0.005:
        thick = min(dice.uniform(least, most), total - done)
        thick = total - done if total - done - thick < 0.012 else thick
        share, place, tone = thick / total, done / total, dice.choice(tones)
        if stands:
            size = f"{share * 0.97},{dice.uniform(0.8, 1)},{dice.uniform(0.85, 1)}"
            one = at(f"{2 * place + share - 1},0,0", scaled(size, _volume(tone)))
        else:
            turn, wide = dice.uniform(-0.1, 0.1), dice.uniform(0.8, 0.95)
            one = at(f"0,{place},0", swing(turn, scaled(f"{wide},{share},.9", _lying(tone))))
        yield from draw_parts(pen, one)
        done += thick


def _art(w: float, d: float, z: float = 0.0) -> Stroke:
    """Return a function that draws a photograph on top."""

    def draw(pen: SketchPen) -> list[Part]:
        wide, deep = w * pen.size[0], d * pen.size[2]
        photo = item_artwork(pen.item, MOTIFS, wide, deep, "multicoloured")
        return [top_panel(w, d, 1.0, photo, z=z)]

    return draw


def _sheets(count: int, *on_top: Strokes, tone: str = "own") -> Strokes:
    """Return functions that draw stacked sheets or cases, slightly rotated, the top one printed."""
    layer = block(f"-1,0,-1 1,{0.95 / count},1", tone)
    turns = [0.08 * (k * 2.4 % 2 - 1) * (count > 1) for k in range(count)]
    return [at(f"0,{k / count},0", swing(turn, layer)) for k, turn in enumerate(turns)], on_top


def _letter(name: str) -> Builder:
    return sketch("paper", block("-1,0,-1 1,1,1"), top(1.96, 1.96, f"#{name}/.75"), plain=True)


# -- archetypes: toys


def _wheels(x: float, y: float, z: str, wide: float, tone: str = "tyre") -> Strokes:
    """Return functions that draw wheels at both sides, at each z."""
    return mirror(
        *(
            at(
                f"{x},{y},{one}",
                turned(f"!0,{-wide} {y},{-wide} {y},{wide} 0,{wide}", tone, lie="x", sides=9),
                turned(f"{y * 0.5},{-wide * 1.1} 0,{-wide * 1.1}", "grey", lie="x", sides=7),
            )
            for one in z.split()
        )
    )


def _bear(ears: Strokes, *more: Strokes) -> Strokes:
    """Return functions that draw a sitting stuffed animal."""
    limbs = mirror(
        orb(".18,1.55,-.39", ".06,.07,.05", "black", 5, 3),
        ears,
        orb(".55,.85,-.15", ".18,.36,.2", sides=6, rings=4),
        orb(".36,.22,-.45", ".22,.22,.4", sides=6, rings=4),
        orb(".36,.24,-.82", ".16,.17,.06", "own*1.35", 6, 3),
    )
    return (
        orb("0,.6,.1", ".55,.6,.5"),
        orb("0,.55,-.18", ".36,.42,.26", "own*1.35", 8, 4),
        orb("0,1.45,0", ".48,.44,.44"),
        orb("0,1.34,-.38", ".2,.16,.18", "own*1.35", 6, 3),
        orb("0,1.42,-.54", ".08,.06,.05", "black", 6, 4),
        limbs,
        more,
    )


def _chessmen(pen: SketchPen) -> list[Part]:
    """Return the parts of a chess board's dark squares and the men of both sides."""
    squares = [
        top(0.22, 0.22, "ebony", y=0.26, x=(c - 3.5) * 0.22, z=(r - 3.5) * 0.22)
        for r in range(8)
        for c in range(8)
        if (r + c) % 2
    ]
    men = [
        at(
            f"{(c - 3.5) * 0.22},.25,{(r - 3.5) * 0.22}",
            scaled(
                f".22,{0.75 if c in (3, 4) and r in (0, 7) else 0.47},.22",
                turned(".36,0 .14,.6 .24,.8 0,1", "white" if r < 2 else "black", sides=4),
            ),
        )
        for r in (0, 1, 6, 7)
        for c in range(0, 8, 1 if r in (0, 7) else 2)
    ]
    return draw_parts(pen, [squares, men])


def _half(outline: str) -> list[tuple[float, float]]:
    """Return an outline together with its mirror image."""
    right = [(p[0], p[1]) for p in points(outline)]
    return [*right, *((-x, y) for x, y in reversed(right) if x > 0)]


def _strings(pen: SketchPen) -> list[Part]:
    across = [
        bar([(x, 0.1, 0.6 - r), (x, 0.1, 0.6 + r)], 0.015, "white", 4)
        for x in np.linspace(-0.36, 0.36, 7)
        for r in (0.6 * math.sqrt(1 - (x / 0.48) ** 2),)
    ]
    along = [
        bar([(-r, 0.1, 0.6 + z), (r, 0.1, 0.6 + z)], 0.015, "white", 4)
        for z in np.linspace(-0.5, 0.5, 9)
        for r in (0.47 * math.sqrt(1 - (z / 0.61) ** 2),)
    ]
    return draw_parts(pen, [across, along])


# fmt: off
_SOLE = "0,-.5 -.1,-.47 -.17,-.3 -.17,-.1 -.12,.25 -.1,.46 .1,.46 .12,.25 .17,-.1 .17,-.3 .1,-.47"
_UPPER = _skin("-.49,.06,.1 -.42,.14,.17 -.25,.17,.21 0,.15,.3 .12,.14,.36 .45,.13,.36 .5,.1,.3", 0)
_OPEN_BOOK = (block("-1,0,-1 1,.2,1"),
    lambda pen: [relief(1.92, 1.9, np.repeat(0.35 + 0.65 * np.abs(np.sin(np.linspace(-math.pi,
    math.pi, 9)))[:, None] ** 0.6, 2, axis=1), pen.tone("paper"))],
    mirror(top(0.76, 1.7, "#text/.75", x=0.46)))
_BOOK = state("open", sketch("muted bright", _OPEN_BOOK, plain=True),
    by(lambda w, h, _d: h > 0.05 and (w > 0.05 or h < 0.1),
    sketch("muted bright", _books, plain=True),
    by(lambda w, h, d: h >= 0.6 * min(w, d), sketch("muted bright", _volume("own"), plain=True),
    sketch("muted bright", _lying("own", top(1.88, 1.88, "#cover/.75")), plain=True))))
_ENVELOPE = sketch("shell card", block("-1,0,-1 1,1,1"),
    cut("1,1 -1,1 0,-.1", 1, 1.003, "own*.86", axis="y"),
    top(0.2, 0.32, "green|red|blue", x=-0.8, z=-0.72), plain=True)
_CAR = sketch("bright", cut("-1,.42 1,.42 1,.55 .75,.6 .45,1 -.15,1 -.45,.62 -.95,.6 -1,.5", -0.5,
    0.5, axis="x"), block("-.4,.2,-.98 .4,.43,.98", "own*.7"),
    cut("-.36,.64 -.12,.94 .1,.94 .1,.64", -0.505, 0.505, "sky", axis="x"),
    cut("-.24,.9 -.44,.64 -.46,.64 -.26,.9", -0.4, 0.4, "sky", axis="x"),
    cut(".18,.64 .18,.94 .42,.94 .64,.64", -0.505, 0.505, "sky", axis="x"),
    mirror(orb(".3,.45,-1", ".1,.08,.04", "yellow", 6, 4)), _wheels(0.48, 0.22, "-.6 .6", 0.07),
    plain=True, gloss=0.4, long=True)
_BLOCKS = sketch("bright", *(at(f"{x},{y},{z}",
    swing(a, block("-.45,0,-.45 .45,.9,.45", tone), front(0.5, 0.2, 0.7, "cream", z=-0.45))) for x,
    y, z, a, tone in ((-0.6, 0, -0.3, 0.3, "red"), (0.5, 0, -0.4, -0.4, "blue"),
    (0, 0, 0.5, 0.1, "yellow"), (-0.1, 0.9, 0, -0.2, "green"), (0.1, 1.8, 0.1, 0.4, "orange"))),
    cut("-.45,2.7 .45,2.7 0,3.3", -0.3, 0.5), plain=True)
_RINGS = sketch("bright", disc(1, 0, 0.15, "wood"),
    *(hoop(0.33 + 0.32 * k, 0.72 - 0.11 * k, 0.36, tone, sides=14) for k,
    tone in enumerate(COLOURS["bright"][:5])), orb("0,2,0", 0.2),
    disc(0.12, 0.1, 1.9, "wood", sides=6), plain=True)
_ROBOT = sketch("silver red blue", block("-.5,.6,-.3 .5,1.4,.3"),
    block("-.35,1.48,-.28 .35,2,.28", "own*1.2"), disc(0.1, 1.38, 1.5, "grey"),
    bar("0,2,0 0,2.25,0", 0.05, "grey"), orb("0,2.3,0", 0.09, "red"),
    front(0.6, 0.8, 1.15, "red|yellow|green", z=-0.3), front(0.4, 1.55, 1.62, "black", z=-0.28),
    mirror(orb(".16,1.8,-.28", 0.09, "yellow"), bar(".55,1.3,0 .72,.9,0 .7,.6,-.2", 0.18, "grey"),
    block(".13,.15,-.15 .43,.6,.15", "grey"), block(".08,0,-.35 .48,.17,.25", "red|yellow|green")),
    plain=True, gloss=0.3)
_TRAIN = sketch("bright", *(at(f"0,0,{1.5 * k}", block("-.4,.2,-.65 .4,.32,.6", "black"),
    _wheels(0.42, 0.2, "-.4 .35", 0.05), inside) for k,
    inside in enumerate(((at("0,.62,-.15", turned("!0,-.5 .33,-.5 .33,.45 0,.45", lie="z")),
    block("-.4,.3,.1 .4,1.1,.6"), at("0,0,-.4", turned(".09,.9 .16,1.25 0,1.25", "black", sides=8)),
    block("-.46,1.08,.05 .46,1.16,.65", "red")),
    *((block("-.4,.32,-.6 .4,.75,.55", tone), block("-.34,.7,-.54 .34,.9,.49", "wood"))
    for tone in ("blue|green", "yellow|orange"))))), plain=True, long=True)
_DOLL = (turned(".5,.55 .42,.8 .22,1.25 .24,1.5 .1,1.58"), turned(".51,.5 .51,.58", "white"),
    orb("0,1.85,0", ".3,.32,.28", "skin"), orb("0,1.92,.06", ".34,.34,.3", "ebony|straw|rust"),
    front(0.1, 1.73, 1.75, "red", z=-0.28), mirror(orb(".1,1.86,-.27", ".035,.045,.03", "black", 5,
    3), bar(".22,1.45,0 .45,1.15,-.05 .5,.9,-.1", 0.13, "skin"),
    bar(".15,.6,0 .16,.1,0", 0.16, "skin"), orb(".16,.07,-.06", ".1,.08,.16", "black", 7, 4),
    orb(".33,1.7,.1", ".09,.25,.09", "ebony|straw|rust", 6, 4)))
_DECK = "-2,.8 -1.4,.55 1.4,.55 2,.8 2,.86 1.4,.61 -1.4,.61 -2,.86"
_GAME = (block("-.98,0,-.98 .98,.4,.98", "own*.75"), block("-1,.3,-1 1,.99,1"),
    top(1.92, 1.92, "#cover/1.33"), front(1, 0.45, 0.85, "cream"))
_GUITAR = _half("0,0 .55,.05 .92,.3 .85,.6 .58,.78 .62,.9 .55,1.15 .25,1.28")
_VIOLIN = _half("0,1.3 .42,1.22 .5,.85 .3,.62 .3,.45 .42,.3 .36,0 0,-.08")
_WASTE = [orb(f"{0.4 * math.cos(a)},{0.9 + 0.02 * k},{0.4 * math.sin(a)}", ".35,.08,.3", tone, 7, 5)
    for k, (a, tone) in enumerate(((0, "white"), (1.7, "paper"), (3.4, "card"), (5.1, "moss")))]
_LAUNDRY = [orb(f"{0.38 * math.cos(a)},.86,{0.38 * math.sin(a)}", ".5,.12,.42", tone, 9, 5) for a,
    tone in ((0, "maroon|sky"), (1.7, "blue|cream"), (3.4, "taupe|red"), (5.1, "navy|white"))]
_GOLF_BAG = sketch("moss dark", turned("0,0 .8,0 .85,.05 .75,.4 .9,.68 .9,.72 .7,.7"),
    block("-.5,.12,-.98 .5,.42,-.6", "own!"), bar(".8,.65,0 1.05,.5,0 .85,.25,0", 0.12, "black", 4),
    *((bar(f"{x * 0.6},.5,{z * 0.6} {x},{y},{z}", 0.05, "steel"),
    orb(f"{x * 1.15},{y + 0.02},{z * 1.15}", ".2,.03,.12", "black", 7, 4)) for x, z,
    y in ((0.45, 0, 0.88), (-0.33, 0.3, 0.91), (0.04, -0.45, 0.94), (0.27, 0.36, 0.97),
    (-0.44, -0.08, 0.9))))
_HOLDALL = sketch("muted", cut(oval(0.9, 0.31, 0, 0.31), -1, 1, axis="x"),
    block("-.9,.6,-.05 .9,.635,.05", "steel"), mirror(block(".4,0,-.93 .5,.6,.93", "own!")),
    *(loop(0.5, 0.45, 0.5, 0.08, "own!", z=z) for z in (-0.55, 0.55)),
    block("-.3,.1,-1 .3,.42,-.86", "own*.85"))
_TOTE = sketch("muted", scaled("1,.66,1", _sack("0,.9,.45 .08,1,.5 .5,.98,.45 1,.9,.25")),
    *(loop(0.62, 0.4, 0.38, 0.07, "own!", z=z) for z in (-0.2, 0.2)),
    front(0.8, 0.15, 0.42, "own!", z=-0.5))
BY_NAME: dict[str, Builder] = {
    # carriers
    "box": sketch("card",
        when("open", (block("-.8,0,-.8 .8,.74,-.78"), block("-.8,0,.78 .8,.74,.8"),
        mirror(block(".78,0,-.8 .8,.74,.8")), block("-.78,0,-.78 .78,.02,.78", "own*.6"),
        mirror(cut(".8,.72 .82,.74 1,1 .98,1", -0.78, 0.78, "own*.9")),
        cut("-.8,.72 -.82,.74 -1,.92 -.98,.92", -0.78, 0.78, "own*.9", axis="x"),
        cut(".8,.72 .82,.74 1,.92 .98,.92", -0.78, 0.78, "own*.9", axis="x")),
        (block("-1,0,-1 1,.995,1"), top(2, 0.28, "straw", y=0.995),
        mirror(block("1,.78,-.14 1.005,.995,.14", "straw")),
        front(0.6, 0.25, 0.5, "white", x=0.4))), plain=True),
    "storage_box": sketch("ice red blue yellow green",
        when("open", swing(math.pi / 4, hollow("1.2,0 1.3,.9", wall=0.03, sides=4)),
        (slab(0, 0.86, inset=0.92, r=0.08), slab(0.84, 0.95, "grey|white|blue|slate", r=0.08),
        slab(0.95, 1, "grey|white|blue|slate", inset=0.8, r=0.06))),
        mirror(block(".9,.6,-.2 .99,.9,.2", "grey|white|blue|slate")),
        row(5, ".34,0,0", block("-.7,.06,-.95 -.66,.8,-.9", "own*.8")), plain=True),
    "crate": sketch("wood", block("-1,0,-1 1,.05,1", "own*.7"),
        row(3, "0,.333,0", block("-1,.02,-1 1,.29,-.93"), block("-1,.02,.93 1,.29,1"),
        mirror(block(".93,.02,-.93 1,.29,.93", "own*.9"))),
        mirror(block(".82,0,-.93 .93,1,-.8", "own*.8"), block(".82,0,.8 .93,1,.93", "own*.8"))),
    "basket": sketch("card", sized(lambda w, _h, _d: w < 0.5,
        mirror(bar([(0.95, 0.86 + 0.14 * math.sin(a), 0.4 * math.cos(a))
        for a in np.linspace(0, math.pi, 7)], 0.06, "own*.8", 5)),
        mirror(block(".9,.76,-.2 .98,.84,.2", "black"))),
        scaled("1.2,.86,1.2", swing(math.pi / 8,
        hollow(".84,0 .88,.04 1,.95", "own+wicker", wall=0.06, sides=8),
        hoop(0.95, 0.97, 0.1, "own*.85", sides=8),
        when("full", _LAUNDRY, fill(0.85, 0.12, "own*.5"))))),
    "trash_can": by(lambda _w, h, _d: h > 0.42,
        sketch("silver dark slate", turned(".96,.05 1,.08 1,.82", sides=18),
        disc(0.98, 0, 0.06, "black"), when("full",
        (turned("1.01,.78 1.03,.84 .8,.9 0,.88", "black"), _WASTE),
        turned("1.02,.82 1.02,.86 .9,.93 .5,.98 0,1", "own*.85", sides=18)),
        block("-.2,.015,-1.15 .2,.045,-.9", "steel")),
        sketch("silver dark slate", hollow(".78,0 .82,.03 1,1", wall=0.04, sides=18),
        hoop(0.99, 0.99, 0.05, "own*.8"), fill(0.9, 0.4, "black"), when("full", _WASTE))),
    "bucket": sketch("red blue grey", hollow(".72,0 .74,.03 .96,.74 1,.75 1,.78", wall=0.05),
        loop(0.7, 1, 0.3, 0.05, "steel", n=10), bar("-.2,.985,0 .2,.985,0", 0.1, "black"),
        when("full", fill(0.9, 0.62, "water")), plain=True, gloss=0.2),
    "paint_can": sketch("silver", scaled("1,.9,1", tin("red|blue|yellow|green|white", "paper")),
        block("-.3,.62,-1 -.18,.86,-.95", "red|blue|yellow|green|white"),
        loop(0.6, 1.02, 0.4, 0.04, "steel")),
    "tool_box": sketch("red blue", kit(0.55, 0.6,
        (bar("-.7,.5,-.4 .6,.6,-.3", 0.06, "steel"), bar("-.6,.5,.1 .7,.58,.2", 0.06, "wood")),
        cut("-1,.55 1,.55 .6,.85 -.6,.85", -1, 1, "own*.85", axis="x"),
        block("-1.01,.53,-1.01 1.01,.57,1.01", "black"),
        mirror(front(0.16, 0.43, 0.61, "steel", x=0.6)), grip(0.84, 0.98)), plain=True, gloss=0.3),
    "litter_box": sketch("shell blue", block("-1,0,-1 1,.3,1", "own*.9"),
        mirror(block(".9,.3,-1 1,.6,1"), block(".9,.6,-.2 1,1,.2")), block("-1,.3,-1 1,.6,-.92"),
        block("-1,.3,.92 1,1,1"), top(1.8, 1.84, "sand", y=0.3), plain=True),
    "pencil_case": sketch("red blue yellow green", turned("!0,-2.2 1,-2.2 1,2.2 0,2.2", lie="x"),
        block("-2,.97,-.1 2,1.02,.1", "steel"), block("1.7,1,-.05 1.95,1.08,.3", "brass")),
    # bags
    "suitcase": sketch("red blue slate", scaled("1,.8,1",
        at("0,.09,0", slab(-1, 1, r=0.15, axis="z"),
        scaled("1.01,1,1", slab(-0.04, 0.04, "black", r=0.15, axis="z")),
        row(5, ".34,0,0", block("-.7,.08,-1.03 -.66,.92,-.98", "own*.8")))),
        _wheels(0.8, 0.045, "-.7 .7", 0.06), bar("-.4,.86,.4 -.4,1,.4 .4,1,.4 .4,.86,.4", 0.05,
        "steel", 5), at("0,0,-.2", grip(0.86, 0.92)), gloss=0.25),
    "briefcase": sketch("leather dark", scaled("1,.86,1", slab(-1, 1, r=0.06, axis="z")),
        block("-1.01,.01,-.06 1.01,.862,.06", "own*.5"),
        mirror(front(0.18, 0.68, 0.78, "brass", x=0.6)), grip(0.85, 0.98, "own*.7")),
    "handbag": sketch("maroon dark pale",
        scaled("1,.68,.85", _sack("0,.9,.45 .08,1,.5 .5,.98,.45 .85,.86,.25 1,.75,.12")),
        cut("-.8,.68 .8,.68 .62,.4 -.62,.4", -0.46, -0.1, "own!"),
        block("-.1,.38,-.49 .1,.48,-.44", "brass"),
        *(loop(0.64, 0.5, 0.36, 0.07, "own!", z=z) for z in (-0.1, 0.1))),
    "bag": by(lambda _w, h, _d: h > 0.8, _GOLF_BAG,
        by(lambda w, h, _d: h < 0.8 * w, _HOLDALL, any_of(_HOLDALL, _TOTE))),
    "golf_bag": _GOLF_BAG,
    "backpack": sketch("red blue yellow green navy",
        scaled("1,1,.75", _sack("0,.9,.45 .08,1,.5 .5,.98,.45 .85,.86,.3 1,.6,.22")),
        at("0,.08,-.36", scaled(".72,.45,.35",
        _sack("0,.9,.45 .1,1,.5 .9,.95,.4 1,.9,.3", "own*.85"))),
        block("-.62,.54,-.42 .62,.57,-.34", "black"),
        orb("0,.9,-.05", ".8,.13,.42", "own*.6", 12, 5),
        loop(0.98, 0.18, 0.1, 0.06, "black", z=0.2),
        mirror(bar(".45,.95,.3 .6,.6,.5 .55,.1,.4", 0.16, "own!", 4))),
    "shopping_bag": sketch("card shell red", block("-1,0,-1 1,.76,-.98"), block("-1,0,.98 1,.76,1"),
        mirror(block(".98,0,-1 1,.76,1")), block("-1,0,-1 1,.02,1", "own*.6"),
        front(1, 0.22, 0.5, "blue|purple|green"),
        *(loop(0.74, 0.4, 0.26, 0.03, "own*.6", z=z) for z in (-0.97, 0.97)), plain=True),
    # clothes
    "shirt": sketch(_INKS, folded_or(lean(math.pi / 2,
        _garment("own", sleeve=0.66, buttons="white")), scaled("1,.85,1", pile(2)),
        mirror(cut(".02,.4 .2,.04 .44,.6 .28,.92", 0.84, 1, "own!", axis="y")),
        block("-.04,.84,-.88 .04,.9,.08", "own!"),
        row(3, "0,0,.26", block("-.02,.88,-.7 .02,.94,-.66", "white")))),
    "sweater": sketch(_INKS, scaled("1,.9,1", pile(3)),
        at("0,0,.5", scaled("1,.4,1", hoop(2.25, 0.32, 0.3, "own*.8")))),
    "jacket": by(lambda _w, h, d: h > 1.5 * d and d < 0.1,
        sketch(_INKS, _hooked(_garment("own", sleeve=0.22, buttons="own!"), deep=0.5)),
        by(lambda _w, h, _d: h > 0.2, sketch(_INKS, _garment("own", sleeve=0.22, buttons="own!")),
        sketch(_INKS, lean(math.pi / 2, _garment("own", sleeve=0.22, buttons="own!"))))),
    "clothes": by(lambda _w, h, d: h > 2 * d and h > 0.4,
        sketch(_INKS,
        *(at(f"{0.55 * k},{0.1 * (k % 2)},{0.3 * k}",
        scaled(f"1,{1 - 0.1 * (k % 2)},.15", _hooked(_garment(tone, sleeve=s, buttons="steel"))))
        for k, (tone, s) in enumerate((("own", 0.25), ("green|sky|maroon", 0.66),
        ("yellow|navy|cream", 0.25))))),
        sketch(_INKS, folded_or((heap(), at(".1,.5,0",
        scaled(".6,.5,.6", heap("navy|cream|maroon", "second")))),
        pile(0, "own", "moss|sky|shell", "own*.85", "navy|ochre|maroon")))),
    "bathrobe": by(lambda _w, h, d: h < 1.5 * max(d, 0.2), sketch(_INKS, pile()),
        sketch(_INKS, _hooked(_garment("own", sleeve=0.25, buttons="own"),
        block("-.34,.48,-.53 .34,.54,.5", "own!"), block("-.05,.2,-.58 -.01,.5,-.52", "own!"),
        block(".02,.24,-.58 .06,.5,-.52", "own!")))),
    "scarf": sketch(_INKS, at("0,0,.1", scaled("1,1,.9", pile(3))),
        *(top(1.94, 0.07, "own!", z=z) for z in (-0.5, -0.35, -0.2, 0.5)),
        row(11, ".18,0,0", bar("-.9,.6,-.78 -.9,.1,-1", 0.05, sides=4))),
    "hat": sketch(_INKS, turned(".5,.1 1,0 1,.05 .55,.18", sides=20),
        turned(".56,.12 .53,.75 .42,.95 .2,.88 0,.86", sides=20),
        turned(".575,.16 .56,.36", "own!", sides=20)),
    "cap": sketch(_INKS, turned(".98,0 1,.25 .8,.7 .45,.95 0,1"),
        cut(oval(0.85, 0.95, 0, -0.6), 0, 0.08, "own!", axis="y"), orb("0,1,0", 0.07, "own!")),
    "shoe": sketch(_INKS, _pair(_UPPER, cut(_SOLE, 0, 0.07, "white|tyre", axis="y"),
        cut(oval(0.09, 0.15, 0, 0.28), 0.3, 0.362, "black", axis="y"),
        row(3, "0,.035,.08", block("-.08,.22,-.16 .08,.25,-.13", "white|own!"))), plain=True,
        gloss=0.15),
    "boot": sketch("leather dark moss", _pair(_UPPER, cut(_SOLE, 0, 0.08, "tyre", axis="y"),
        at("0,0,.27", turned(".14,.2 .15,.5 .18,1.2 .16,1.2 .13,.6", sides=10),
        hoop(1.2, 0.17, 0.05, "own!"))), plain=True, gloss=0.3),
    "slipper": sketch(_INKS, _pair(cut(_SOLE, 0, 0.07, "own*.55", axis="y"),
        cut([(x * 0.9, z * 0.95) for x, z in points(_SOLE)], 0.07, 0.1, "cream", axis="y"),
        _skin("-.5,.1,.1 -.42,.17,.2 -.22,.19,.29 -.04,.19,.32", 0)), plain=True),
    "hanger": sketch("wood dark", bar("-1,0,-.5 0,0,.1 1,0,-.5", 0.09),
        bar("-1,0,-.5 1,0,-.5", 0.06), bar([(0, 0, 0.1), (0, 0, 0.3),
        *arc((0, 0, 0.45), (0.13, 0.15), -1.57, 2.6, "xz", 7)], 0.05, "steel")),
    "gloves": sketch("dark leather", mirror(at(".5,0,0",
        cut(oval(0.29, 0.4, 0, 0.1), 0, 0.26, axis="y"),
        cut("-.24,.4 .24,.4 .3,.85 -.3,.85", 0.02, 0.24, "own!", axis="y"),
        *(bar(f"{x},.15,-.1 {x},.14,{-z} {x},.14,{-z - 0.06}", ".15 .13 .02") for x,
        z in ((-0.21, 0.75), (-0.07, 0.88), (0.07, 0.84), (0.21, 0.66))),
        bar(".2,.15,.2 .45,.14,-.2 .47,.14,-.26", ".18 .14 .02"))), plain=True),
    # reading
    "book": _BOOK,
    "photo_album": sketch("leather dark", _lying("own"), _art(0.9, 0.7, 0.2)),
    "magazine": sketch("paper", sized(lambda _w, h, _d: h > 0.008, _sheets(4, tone="paper"),
        _sheets(1, tone="paper")), top(2, 2, "#cover/.75")),
    "newspaper": sketch("paper", row(3, "0,.333,0", block("-1,0,-1 1,.27,1", "paper*.95")),
        top(1.96, 1.96, "#newspaper/.75", y=0.94)),
    "paper": _letter("text"),
    "document": _letter("text"),
    "sheet_music": _letter("music"),
    "letter": _ENVELOPE,
    "folder": sketch("straw blue", block("-1,0,-1 1,.2,1"),
        block("-.94,.2,-.94 .98,.8,.92", "paper"), block("-1,.8,-1 1,.99,.88"),
        top(0.8, 0.3, "white", z=0.2), plain=True),
    "binder": sketch("blue dark red", _volume("own", False), front(1.3, 0.45, 0.85, "white"),
        at("0,.2,-1.01", scaled(".4,.06,1",
        bar([(math.cos(a), math.sin(a), 0) for a in np.linspace(0, 6.28, 11)], 0.4, "steel", 4))),
        plain=True),
    "dvd": sketch("dark blue", sized(lambda _w, h, _d: h > 0.02, _sheets(3), _sheets(1)),
        _art(1.8, 1.8), plain=True),
    "notebook": sketch("muted bright", block("-1,0,-1 .94,.8,1", "paper"),
        block("-1,.8,-1 .94,.95,1"), row(9, "0,0,.21", block(".86,0,-.86 1,1,-.82", "steel")),
        top(1, 0.3, "white", y=0.95, z=0.3), plain=True),
    "wallet": sketch("leather dark", block("-1,0,-1 1,.45,1"),
        block("-.92,.45,-.96 .92,.55,.88", "white"), block("-1,.55,-1 1,1,1"),
        block("-.16,.4,-1.06 .16,1.01,-.6", "own*.7")),
    # toys
    "toy": by(lambda w, h, d: h < 0.85 * max(w, d), any_of(_CAR, _BLOCKS, _TRAIN),
        any_of(_BLOCKS, _RINGS, _ROBOT)),
    "toy_car": _CAR,
    "toy_train": _TRAIN,
    "blocks": _BLOCKS,
    "stuffed_animal": sketch("wood straw leather grey",
        one_of(_bear(orb(".36,1.82,0", ".17,.17,.1", sides=7, rings=4)),
        _bear((orb(".2,2.15,.05", ".13,.42,.09", sides=6, rings=4),
        orb(".2,2.12,-.02", ".07,.3,.06", "own*1.35", 6, 3))),
        _bear(orb(".36,1.82,0", ".17,.17,.1", sides=7, rings=4),
        mirror(orb(".16,1.06,-.42", ".15,.1,.08", "red|blue", 6, 4))))),
    "doll": by(lambda w, h, d: h < max(w, d),
        sketch("bright", lean(math.pi / 2, *_DOLL), plain=True, long=True),
        sketch("bright", _DOLL, plain=True)),
    "ball": sketch("bright", orb("0,0,0", 1.0, sides=16, rings=10),
        one_of(lean(0.5, spin(3, lean(math.pi / 2, hoop(0, 1.0, 0.06, "white|navy")))), ()),
        plain=True, gloss=0.2),
    "exercise_ball": sketch("bright grey", orb("0,0,0", 1.0, sides=16, rings=10),
        *(hoop(y, math.sqrt(1 - y * y) + 0.005, 0.03, "own*.8") for y in (-0.45, 0.0, 0.45)),
        plain=True, gloss=0.3),
    "skateboard": sketch("wood red blue", cut(_DECK, -0.5, 0.5, axis="x"),
        at("0,.03,0", cut(_DECK, -0.49, 0.49, "dark", axis="x")),
        *(block(f"-.35,.2,{z - 0.1} .35,.56,{z + 0.1}", "steel") for z in (-1.2, 1.2)),
        _wheels(0.42, 0.2, "-1.2 1.2", 0.1, "red|blue|yellow"), long=True),
    "sled": sketch("wood", mirror(bar(".8,.05,1.8 .8,.05,-1.3 .8,.35,-1.8 .8,.75,-1.7", 0.12,
        "steel|red", 5), row(3, "0,0,1.05", bar(".8,.05,-.8 .72,.6,-.8", 0.1, sides=4))),
        row(5, ".375,0,0", block("-.9,.6,-1.3 -.6,.68,1.8")),
        bar("-.75,.7,-1.7 0,.55,-2 .75,.7,-1.7", 0.05, "cream", 4), long=True),
    # pastimes
    "board_game": sketch("red blue green orange", _GAME, plain=True),
    "puzzle": sketch("red blue green orange", _GAME,
        row(4, ".4,0,0", top(0.016, 1.8, "paper", y=1.004, x=-0.6)),
        row(3, "0,0,.5", top(1.8, 0.02, "paper", y=1.004, z=-0.5)), plain=True),
    "chess_set": sketch("leather", block("-1,0,-1 1,.25,1"), top(1.76, 1.76, "cream", y=0.25),
        _chessmen),
    "crayon": sketch("yellow", block("-1,0,-.1 1,.5,1", "yellow"),
        *(at(f"{0.237 * k - 0.83},.34,-.05",
        scaled(f"1,1,{1 + 0.1 * (k % 2)}", turned("0,0 .03,.8 .11,.68 .11,0", tone, lie="z",
        sides=6))) for k, tone in enumerate((*COLOURS["bright"], "black", "pink"))),
        front(1.2, 0.1, 0.4, "red", z=-0.1)),
    "guitar": sketch("pale rust", lean(0.08, cut(_GUITAR, -0.32, 0.32, "own*.6"),
        cut(_GUITAR, -0.335, -0.32), cut(oval(0.22, 0.2, 0, 0.78), -0.345, -0.335, "black"),
        block("-.28,.34,-.38 .28,.4,-.33", "ebony"), block("-.1,.95,-.42 .1,2.35,-.3", "ebony"),
        cut("-.1,2.33 .1,2.33 .16,2.7 -.16,2.7", -0.4, -0.28),
        mirror(row(3, "0,.09,0", block(".15,2.42,-.37 .25,2.46,-.31", "steel"))),
        row(4, ".04,0,0", block("-.065,.38,-.44 -.055,2.5,-.425", "steel")))),
    "violin": sketch("rust", cut(_VIOLIN, 0, 0.3, "own*.7", axis="y"),
        cut(_VIOLIN, 0.3, 0.33, axis="y"), block("-.06,.3,-.95 .06,.42,.35", "black"),
        orb("0,.35,-1", ".09,.1,.14"), block("-.15,.33,.6 .15,.5,.63", "wood"),
        cut("-.09,.75 .09,.75 .06,1.2 -.06,1.2", 0.4, 0.46, "black", axis="y"),
        bar(".55,.1,-1 .6,.1,1.3", 0.05, "wood"), gloss=0.4, long=True),
    "tennis_racket": sketch("red blue dark",
        bar([(0.48 * math.cos(a), 0.1, 0.62 * math.sin(a) + 0.6)
        for a in np.linspace(0, 2 * math.pi, 21)], 0.1, sides=5), _strings,
        mirror(bar(".3,.1,.1 0,.1,-.3", 0.08)), bar("0,.1,-.25 0,.1,-.9 0,.1,-.95", ".15 .15 .19",
        "black"), plain=True, long=True),
    "helmet": sketch("bright", scaled(".78,1,1", turned("1,0 1.02,.2 .9,.6 .6,.9 0,1", sides=16),
        hoop(0.05, 1.0, 0.12, "black")), *(orb(f"{x},{y - abs(x) * 0.4},{z}", ".09,.08,.2", "black",
        5, 4) for x in (-0.3, 0.0, 0.3) for z, y in ((-0.55, 0.8), (0, 1.0), (0.55, 0.8))),
        bar("-.7,.1,-.1 -.3,-.25,-.2 .3,-.25,-.2 .7,.1,-.1", 0.08, "black", 4), plain=True,
        gloss=0.4),
    "dumbbell": sketch("dark silver", turned("!0,-1 .25,-1 .25,1 0,1", "steel", lie="z", sides=8),
        *(at(f"0,0,{z}", turned(f"!0,-.2 {r},-.2 {r},.2 0,.2", lie="z", sides=12)) for z,
        r in ((-1.5, 0.8), (-1.1, 1), (1.1, 1), (1.5, 0.8))), gloss=0.4, long=True)
}
# fmt: on
for _names, _name in (
    *(("cardboard_box", "box"), ("laundry_basket", "basket"), ("bin trashcan", "trash_can")),
    *(("toolbox", "tool_box"), ("coat", "jacket"), ("cookbook", "book"), ("mail", "letter")),
    *(("plush_toy teddy_bear", "stuffed_animal"), ("bicycle_helmet", "helmet")),
):
    BY_NAME.update(dict.fromkeys(_names.split(), BY_NAME[_name]))
BY_SHAPE: dict[str, Builder] = {
    "basket": BY_NAME["basket"],
    "shoe": BY_NAME["shoe"],
    "book": BY_NAME["book"],
    "toy": BY_NAME["toy"],
    "ball": BY_NAME["ball"],
    "instrument": BY_NAME["guitar"],
}
