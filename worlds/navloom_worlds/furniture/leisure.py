"""Builders of leisure fixtures: hearths, instruments, games, vehicles, gym and workplaces."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from navloom_worlds.furniture.appliances import drawers
from navloom_worlds.furniture.builder_tools import Builder, hue_colour, item_rng, lightness
from navloom_worlds.furniture.furniture_parts import framed_hole, legs
from navloom_worlds.furniture.rounded_shapes import sheet
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part, Surface, lathe


def _flames(pen: SketchPen) -> Iterator[Part]:
    dice = item_rng(pen.item)
    yield from draw_parts(pen, block("-.5,0+.052,0-.08 .5,0+.075,0+.08", "ember"))
    reach = pen.size[0] * 0.25
    for k in range(9):
        x, r = reach * (0.2 * k - 0.8), dice.uniform(0.03, 0.055)
        high = dice.uniform(0.16, 0.34) * (1.2 - abs(x) / (reach * 1.6))
        tone = Surface((1.0, 0.45 + 0.3 * (k % 2), 0.08 + 0.12 * (k % 2)), glow=1.3)
        flame = lathe([(0, 0), (r, high / 4), (r * 0.7, high * 0.55), (0, high)], tone, sides=8)
        yield flame.moved(x, 0.2, dice.uniform(-0.05, 0.05))


def _keys(pen: SketchPen) -> list[Part]:
    """Return the parts of white keys in a row, with black ones between most of them."""
    step, low = 2 / 28, min(0.74, pen.size[1] * 0.62) - 0.03
    lines, black = (block(c, t, s) for c, t, s in (_LINE, _BLACK_KEY))
    marks = [at(f"{step * k - 1},0,0", lines) for k in range(1, 28)]
    marks += [at(f"{step * (k + 1) - 1},0,0", black) for k in range(27) if k % 7 not in (2, 6)]
    return draw_parts(
        pen, at(f"0,0+{low},0", (block("-1+.06,0,-1+.03 1-.06,0+.018,-.2", "shell"), marks))
    )


def _life(pen: SketchPen) -> list[Part]:
    """Return the parts of the weeds and fish of an aquarium."""
    dice, strokes = item_rng(pen.item), []
    for k in range(9):
        x, z = dice.uniform(-0.85, 0.85), dice.uniform(-0.1, 0.6)
        tall, sway = dice.uniform(0.12, 0.26), dice.uniform(-0.05, 0.05)
        stem = f"{x},.62,{z} {x}+{sway},{0.58 + tall * 0.6},{z} {x}+{-sway},{0.58 + tall},{z}"
        strokes.append(bar(stem, 0.025, f"leaf*{1 + 0.3 * (k % 3)}", 4))
    for k, tone in enumerate(("orange", "yellow", "red", "white", "blue", "orange", "yellow")):
        way, place = dice.choice((-1, 1)), f"{-0.8 + 0.26 * k},{dice.uniform(0.66, 0.86)},-.6"
        tail = f"0+{-way * 0.03},0 0+{-way * 0.06},0+.025 0+{-way * 0.06},0-.025"
        body = orb("0,0,0", "0+.04,0+.022,0+.01", tone)
        strokes.append(at(place, body, cut(tail, "0-.003", "0+.003", tone)))
    return draw_parts(pen, strokes)


def _glass_all_round(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of a car's cabin: glass between the belt and a painted roof, with posts."""
    glass = pen.tone("@1f262e'")
    low = [pen.put(p)[0] for p in ("-.87,.55,-.49", "-.87,.58,.9")]
    high = [pen.put(p)[0] for p in ("-.67,.965,-.18", "-.67,.965,.68")]

    def flip(p: tuple[float, ...]) -> tuple[float, ...]:
        return (-p[0], *p[1:])

    yield from (sheet([[low[k], flip(low[k])], [high[k], flip(high[k])]], glass) for k in (0, 1))
    yield sheet([low, high], glass)
    yield sheet([list(map(flip, low)), list(map(flip, high))], glass)
    posts = "-.87,.55,-.49 -.67,.965,-.18|-.87,.58,.9 -.67,.965,.68|-.87,.565,.2 -.67,.965,.25"
    yield from draw_parts(pen, mirror([rod(each, 0.07) for each in posts.split("|")]))


def _paint(*strokes: Strokes) -> Stroke:
    """Return a function that draws in the item's colour, or a bright one if it is near white."""

    def draw(pen: SketchPen) -> list[Part]:
        rgb = pen.own.rgb
        if lightness(pen.own) > 0.85:
            rgb = hue_colour(item_rng(pen.item).random(), 0.7, 0.6)
        return draw_parts(
            SketchPen(pen.item, Surface(rgb, gloss=0.6), pen.size, metric=True), strokes
        )

    return draw


def _hole(inset: float, more: float, low: float, high: float, tone: str = "own") -> Stroke:
    """Return a function that draws a frame, inset from the sides, between two depths."""

    def draw(pen: SketchPen) -> list[Part]:
        w, h, d = (pen.size[0] - 2 * inset, pen.size[1], pen.size[2] - 2 * inset)
        return framed_hole(w, d, w - 2 * more, d - 2 * more, h - low, h - high, pen.tone(tone))

    return draw


def _men(pen: SketchPen) -> list[Part]:
    """Return the parts of the rods and the men of table football."""
    strokes = []
    teams = zip((1, 2, 3, 5, 5, 3, 2, 1), (1, 1, -1, 1, -1, 1, -1, -1), strict=True)
    for k, (count, s) in enumerate(teams):
        x, tone = f"{(k - 3.5) * 0.22:.3f}", "red" if s > 0 else "blue"
        strokes += [rod(f"{x},1-.055,-1+.02 {x},1-.055,1-.02", 0.018, "chrome", 6)]
        strokes += [wheel(f"{x},1-.055,{s}+{-s * 0.05}", 0.02, 0.1, "black", sides=8)]
        for m in range(count):
            z = (m - (count - 1) / 2) * 1.1 / count
            strokes.append(block(f"{x}-.014,1-.122,{z}-.015 {x}+.014,1-.015,{z}+.015", tone))
    return draw_parts(pen, strokes)


def _scratched(pen: SketchPen) -> list[Part]:
    """Return the parts of a cat's scratching posts, wound with rope."""
    return draw_parts(
        pen,
        [
            at(
                f"{x},0,{z}",
                disc("0+.045", "0+.04", y, "straw"),
                [ring(f"0,{k / 10}+.04,0", 0.045, 0.01, "straw*.8", "y", 8, 4) for k in rings],
            )
            for x, z, y, rings in (
                (0.56, 0.5, "1-.03", range(1, 10)),
                (-0.6, 0.4, ".62", range(1, 6)),
            )
        ],
    )


# fmt: off
_LINE = ("0-.0015,0+.0175,-1+.03 0+.0015,0+.0188,-.2", "grey", "uf")
_BLACK_KEY = ("0-.012,0+.018,-.7 0+.012,0+.033,-.2", "black", "uflr")
_SPOKED = (ring("0,0,0", 0.305, 0.035, "rubber", around=24),
    ring("0,0,0", 0.275, 0.016, "steel", around=22, sides=3),
    wheel("0,0,0", 0.02, 0.08, "steel", sides=8),
    *(rod(f"0+{-x:.3f},0+{-y:.3f},0 0+{x:.3f},0+{y:.3f},0", 0.004, "steel") for x,
    y in ((0.28 * math.cos(a), 0.28 * math.sin(a)) for a in np.linspace(0, math.pi, 8)[:-1])))
_BIKE = fixture(*(rod(ends, thick, tone, 6) for ends, thick,
    tone in (("-.26,.78,0 -.12,.27,0", 0.032, "own"), ("-.26,.78,0 .44,.8,0", 0.032, "own"),
    ("-.12,.27,0 .45,.72,0", 0.036, "own"), ("-.26,.78,0 -.3,.9,0", 0.025, "chrome"),
    (".42,.93,0 .45,.7,0", 0.036, "own"), (".42,.92,0 .42,1-.02,0", 0.028, "chrome"))),
    *(rod(f"{a},0+{z} {b},0+{z}", thick, "own", 6) for z in (-0.035, 0.035) for a, b,
    thick in (("-.12,.27", "-1+.33,0+.32", 0.018), ("-.26,.78", "-1+.33,0+.32", 0.016),
    (".45,.7", "1-.33,0+.32", 0.022))), at("-1+.325,0+.3225,0", _SPOKED),
    at("1-.325,0+.3225,0", _SPOKED), at("-.3,0,0",
    cut([(x / 0.85, z / 0.3) for x, z in ((-0.13, -0.08), (-0.13, 0.08), (0, 0.05), (0.14, 0.018),
    (0.14, -0.018), (0, -0.05))], ".9-.01", ".9+.045", "black", axis="y")),
    *(bar(f".42,1-.02,0 .44,1-.02,{s * 0.6} .32,1-.02,{s * 0.94} .24,1-.02,{s * 0.96}", 0.026,
    "black") for s in (-1, 1)),
    *((rod(f"-.12,.27,0+{s * 0.06} -.12+{s * 0.1},.27+{-s * 0.12},0+{s * 0.06}", 0.02, "steel", 6),
    at(f"-.12+{s * 0.1},.27+{-s * 0.12},0+{s * 0.1}",
    block("0-.045,0-.01,0-.04 0+.045,0+.01,0+.04", "black")),
    rod(f"-.12,.27+{s * 0.075},0+.045 -1+.33,0+.32+{s * 0.03},0+.045", 0.008, "iron", 6))
    for s in (-1, 1)), ring("-.12,.27,0+.045", 0.08, 0.012, "steel", around=16, sides=4),
    orb(".5,.85,0", 0.035, "chrome"), along="x")
_BODY = "-1,.16 -1,.36 -.94,.44 -.88,.48 -.4,.57 .84,.6 .96,.55 1,.4 1,.18 .9,.13 -.9,.13"
_CAR = _paint(cut(_BODY, "-.87", ".87", axis="x"), _glass_all_round,
    soft("-.7,.95,-.2 .7,1,.72", 0.03), mirror(*(at(f".87-.05,0+.33,{z}",
    wheel("0,0+.02,0", 0.38, 0.22, "black", "x", 20),
    wheel("0+.06,0,0", 0.33, 0.17, "rubber", "x", 20),
    wheel("0+.14,0,0", 0.2, 0.03, "steel", "x", 10), wheel("0+.15,0,0", 0.06, 0.03, "iron", "x", 8))
    for z in (-0.64, 0.62)), soft(".6-.17,.38,-1 .6+.17,.46,-1+.14", 0.03, "shell"),
    block(".6-.1,.42,1-.06 .6+.12,.54,1", "red"), soft(".87,.56,-.34 1,.56+.13,-.26", 0.03),
    *(block(f".87,.56-.07,{z} .87+.012,.56-.04,{z}+.16", "own*.5") for z in (-0.04, 0.38)),
    *(block(f".87,.2,{z} .87+.003,.56,{z}+.012", "own*.4") for z in (-0.4, 0.2, 0.54))),
    block("-.43,.22,-1 .43,.34,-1+.02", "black"), block("0-.26,.24,-1 0+.26,.3,-1+.015", "paper"),
    block("0-.26,.3,1-.012 0+.26,.37,1", "straw"),
    block("-.87,.13,-1+.02 .87,.17,1-.02", "own*.35"))
_BURNT = "@171413"
_LOG = (rod("-.5,0,0 .5,0,0", 0.1, "@4d3324", 8), mirror(wheel(".5,0,0", 0.04, 0.006, "pale", "x",
    8)))
_COLOURS = ("yellow", "blue", "red", "purple", "orange", "black")
_BALLS = [at(f".36+{0.055 * r},1-.013,0+{(k - r / 2) * 0.06}",
    orb("0,0,0", 0.028, _COLOURS[r * (r + 1) // 2 + k], 8)) for r in range(3) for k in range(r + 1)]
_FOLDED = [soft(f"{x}-.12,.45+{0.02 + 0.06 * j},-.7 {x}+.12,.45+{0.078 + 0.06 * j},.6", 0.02, tone)
    for x, tone in ((-0.58, "straw*1.1"), (0, "shell"), (0.58, "rose")) for j in range(3)]
_UMBRELLAS = [at(f"{x},0,{z}", turned("0+.012,0+.03 0+.035,.55 0+.03,1-.19 0+.01,1-.15", tone,
    sides=8), bar("0,1-.17,0 0,1-.03,0 0+.02,1-.01,0 0+.045,1-.015,0 0+.055,1-.05,0", 0.016,
    "@593319")) for x, z, tone in ((0.4, 0, "red"), (-0.2, 0.35, "navy"), (-0.2, -0.35, "dark"))]
_HANDLEBAR = bar("0,.88,-.4 .7,.88,-.4 .84,.92,-.6 .84,.97,-.72", 0.032, "black")
BY_NAME: dict[str, Builder] = {
    # hearths and music
    "fireplace": fixture(block("-1,1-.07,-1 1,1,1"),
        block("-1+.03,1-.12,-1+.03 1-.03,1-.07,1", "own*.92"),
        block("-1+.06,.68,-1+.06 1-.06,1-.1,1"), block("-1,0,-1 1,0+.05,1", "own*.8"),
        block("-.6+.05,0+.05,1-.04 .6-.05,.68,1", _BURNT),
        mirror(block(".6-.06,0+.05,-1+.11 .6-.05,.68,1", _BURNT),
        block(".6-.06,0+.05,-1+.06 1-.06,.68,1"), block(".6-.03,0+.2,-1+.04 1-.09,.68-.05,-1+.06",
        "own*1.04"), block(".6-.07,0+.05,-1+.03 1-.05,0+.16,-1+.06", "own*.9"),
        rod(".3,0+.05,-1+.09 .3,0+.26,-1+.09", 0.03, "iron"),
        orb(".3,0+.28,-1+.09", 0.025, "brass")), at("0,0+.12,0-.05", _LOG),
        at("0,0+.12,0+.06", _LOG), at("0,0+.21,0", lean(0.06, _LOG, axis="z")),
        when("on", _flames)),
    "piano": fixture(block("-1,0+.03,-.16 1,1-.03,1"), block("-1,1-.03,-.2 1,1,1", "own*.85"),
        block("-1+.06,0+.12,-.18 1-.06,.5,-.16", "own~.12"),
        block("-1+.06,.76,-.18 1-.06,1-.06,-.16", "own~.12"), block("-1,.53,-1 1,.6,-.16"),
        block("-1,0,-.16 1,0+.08,1", "own*.8"),
        mirror(block("1-.05,.53,-1 1,.69,-.16"), block("1-.05,0,-1+.02 1,0+.06,-.16"),
        rod("1-.025,0+.05,-1+.05 1-.025,.53,-1+.05", 0.05, sides=8)), _keys,
        when("closed", block("-1+.05,.68,-.6 1-.05,.7,-.16")),
        block("0-.3,.8,-.28 0+.3,.81,-.16", "own*.8"),
        mirror(block("0+.01,.81,-.24 0+.22,.97,-.2", "white"),
        row(6, "0,.024,0", block("0+.03,.83,-.25 0+.2,.83+.004,-.24", "black"))),
        row(3, "0+.06,0,0", block("0-.07,0+.03,-.4 0-.04,0+.045,-.16", "brass"))),
    "aquarium": fixture(block("-1+.01,0+.05,-1+.02 1-.01,.58-.03,1", "ebony"),
        block("-1+.03,0,-1+.03 1-.03,0+.05,1-.03", "black"),
        block("-1,.58-.03,-1 1,.58,1", "ebony*.8"), block("-1,1-.06,-1 1,1,1", "black"),
        block("-1+.03,1-.066,-1+.05 1-.03,1-.06,1-.05", "light"),
        block("-1+.01,.58,1-.012 1-.01,1-.06,1", "@2973ad"),
        block("-1+.01,.58,-1+.02 1-.01,.58+.05,1-.01", "sand"),
        block("-1+.015,1-.1,-1+.02 1-.015,1-.098,1-.02", "pool"),
        mirror(block("0+.004,0+.07,-1+.006 1-.015,.58-.05,-1+.02", "ebony~.1"),
        block("0+.024,.29,-1 0+.036,.38,-1+.008", "steel"),
        rod("1-.008,.58,-1+.008 1-.008,1-.05,-1+.008", 0.016, "black"),
        rod("1-.008,.58,1-.008 1-.008,1-.05,1-.008", 0.016, "black"),
        block("1-.012,.58,-1+.05 1-.006,1-.1,1", "sky")),
        rod("-1,.58+.008,-1+.008 1,.58+.008,-1+.008", 0.016, "black"),
        orb("-.5,.58+.07,0", "0+.08,0+.05,0+.06", "grey"), _life),
    "grill": fixture(block("-.7,0+.08,-1+.08 .7,.5,1-.03", "dark"),
        block("-.7,.5,-1+.05 .7,.74,1", "black"),
        block("-.7+.01,.54,-1+.03 .7-.01,.64,-1+.05", "steel"),
        cut("-.9,.74 -.88,.85 -.6,.97 .1,1 .7,.96 .97,.85 1,.74", "-.7", ".7", "dark*2", axis="x"),
        rod("-.49,.74+.1,-1+.02 .49,.74+.1,-1+.02", 0.028, "steel", 8),
        wheel("0,.74+.16,-1+.05", 0.035, 0.03, "white", sides=14),
        row(4, ".3,0,0", wheel("-.45,.59,-1+.018", 0.025, 0.035, "black", sides=12)),
        mirror(rod(".45,.74+.1,-1+.02 .45,.74+.1,-1+.09", 0.02, "steel"),
        wheel(".7-.02,0+.08,1-.1", 0.08, 0.04, "black", "x"),
        rod(".7-.03,0,-1+.11 .7-.03,.5,-1+.11", 0.04, "iron"),
        block(".7,.74-.04,-1+.08 1,.74,1-.05", "steel"),
        block("0+.006,0+.12,-1+.07 .7-.02,.48,-1+.08", "black"),
        block("0+.022,.28,-1+.05 0+.038,.42,-1+.07", "steel"))),
    # games
    "pool_table": fixture(block("-1+.03,1-.24,-1+.03 1-.03,1-.06,1-.03", "own*.9"),
        block("-1+.05,1-.06,-1+.05 1-.05,1-.04,1-.05", "@146b38"), _hole(0, 0.11, 0.1, 0),
        _hole(0.1, 0.04, 0.05, 0.005, "@146b38"),
        lambda pen: legs(pen.size[0] - 0.16, pen.size[2] - 0.16, pen.size[1] - 0.2, 0.14,
        pen.tone("own*.8"), sides=8), [at(f"{x},0,{z}",
        disc("0+.055", "1-.05", "1-.001", "black", sides=12)) for x in ("-1+.1", "0", "1-.1")
        for z in ("-1+.09", "1-.09")], _BALLS, orb("-.5,1-.013,0+.05", 0.028, "white", 8),
        rod("-.84,1-.015,.4 .2,1-.015,.56", 0.022, "oak", 6)),
    "foosball_table": fixture(lambda pen: legs(pen.size[0] - 0.02, pen.size[2] - 0.3,
        pen.size[1] - 0.24, 0.09, pen.tone("own*.8")),
        lambda pen: framed_hole(pen.size[0], pen.size[2] - 0.28, pen.size[0] - 0.08,
        pen.size[2] - 0.34, pen.size[1] - 0.28, pen.size[1] - 0.02, pen.own),
        block("-1+.03,1-.23,-1+.165 1-.03,1-.13,1-.165", "@298033"),
        block("0-.006,1-.13,-1+.17 0+.006,1-.128,1-.17", "white"),
        orb(".14,1-.112,0+.03", 0.018, "white", 8), _men),
    # vehicles and training
    "bicycle": _BIKE,
    "car": fixture(_CAR),
    "rocking_horse": fixture(mirror(bar([(1.0, 0.02 + 0.1 * t * t, t * 0.97)
        for t in np.linspace(-1, 1, 11)], 0.035, "red"), rod(".77,0+.06,-.6 .4,.5,-.33", 0.05),
        rod(".77,0+.06,.62 .4,.5,.36", 0.05), cut("-.6,.9 -.54,.9 -.57,1", ".2-.012", ".2+.012",
        axis="x"), orb(".28,.86,-.78", 0.012, "black", 6)),
        *(block(f"-1,0+.045,{z}-.03 1,0+.065,{z}+.03", "red") for z in (-0.6, 0.64)),
        orb("0,.55,0+.02", ".6,.13,.54", sides=14), rod("0,.57,-.36 0,.86,-.62", 0.1, sides=8),
        orb("0,.84,-.72", ".32,.075,.24", sides=12),
        cut("-.4,.62 -.28,.66 -.48,.94 -.62,.95", "0-.018", "0+.018", "walnut", axis="x"),
        soft("-.62,.58,-.12 .62,.7,.28", 0.03, "red"),
        bar("0,.6,.52 0,.55,.72 0,.35,.8", 0.05, "walnut"),
        rod("-1+.01,.78,-.6 1-.01,.78,-.6", 0.025, "red", 8)),
    "treadmill": fixture(block("-1,0+.03,-.96 1,0+.12,.96", "grey"),
        block("-.62,0+.11,-.94 .62,0+.16,.94", "rubber"), soft("-1,0,.6 1,0+.28,1", 0.05, "grey"),
        mirror(block(".66,0+.1,-.94 1,0+.18,.64", "black"),
        rod("1-.05,0+.1,.72 1-.05,1-.16,.78", 0.06, "grey"),
        bar("1-.05,1-.2,.72 1-.05,1-.24,.52 1-.05,1-.26,.24", 0.045, "black")),
        row(6, "0,0,.22", block("-.6,0+.16,-.8 .6,0+.162,-.8+.012", "grey*.6")),
        at("0,1-.15,.7", lean(0.7, soft("-1,0-.03,0-.14 1,0+.04,0+.14", 0.025, "black", 1),
        block("-.5,0+.04,0-.08 .5,0+.048,0+.1", "on?blue_light:dark_glass"))),
        block("-.56,1-.2,.72-.15 .56,1-.18,.72-.13", "grey"),
        rod("-1+.05,1-.28,.72 1-.05,1-.28,.72", 0.05, "grey")),
    "exercise_bike": fixture(rod("-1+.02,0+.035,-1+.06 1-.02,0+.035,-1+.06", 0.07, "black", 8),
        rod("-1+.02,0+.035,1-.06 1-.02,0+.035,1-.06", 0.07, "black", 8),
        rod("0,0+.05,-1+.06 0,0+.05,1-.06", 0.06, "red"),
        wheel("0,.27,-.44", 0.2, 0.06, "iron", "x", 24),
        ring("0,.27,-.44", 0.2, 0.035, "chrome", "x", 24),
        wheel("0,.27,-.44", 0.07, 0.08, "red", "x"),
        *(rod(ends, 0.05, "red") for ends in ("0,.27,-.44 0,.68,-.32", "0,.27,-.44 0,.26,.16",
        "0,.26,.16 0,.5,-.28", "0,0+.05,.24 0,.66,.48")),
        rod("0,.55,.44 0,.7,.5", 0.035, "chrome", 8),
        rod("0,.66,-.32 0,.88,-.4", 0.035, "chrome", 8),
        wheel("0,.26,.16", 0.09, 0.05, "steel", "x"),
        at("0,.72,.56",
        cut("0-.09,0+.12 0+.09,0+.12 0+.03,0-.08 0+.02,0-.15 0-.02,0-.15 0-.03,0-.08", "0-.02",
        "0+.04", "black", axis="y")),
        *((rod(f"0+{s * 0.06},.26,.16 0+{s * 0.06},.26+{s * 0.1},.16+{s * 0.1}", 0.025, "steel"),
        at(f"0+{s * 0.11},.26+{s * 0.1},.16+{s * 0.1}",
        block("0-.05,0-.012,0-.05 0+.05,0+.012,0+.05", "black"))) for s in (-1, 1)),
        mirror(_HANDLEBAR), block("0-.09,.88,-.46 0+.09,1,-.38", "black"),
        block("0-.07,.9,-.38 0+.07,.985,-.37", "blue_light")),
    "rowing_machine": fixture(rod("0,.36,-1+.05 0,.36,1-.54", 0.06, "steel"),
        block("0-.03,.36+.03,-1+.05 0+.03,.36+.04,1-.54", "chrome"),
        rod("-1+.02,0+.03,-1+.08 1-.02,0+.03,-1+.08", 0.05, "black", 8),
        rod("0,0+.03,-1+.08 0,.36,-1+.12", 0.05, "steel"),
        rod("-1+.02,0+.03,1-.1 1-.02,0+.03,1-.1", 0.05, "black", 8),
        rod("0,0+.03,1-.1 0,.27+.08,1-.28", 0.06, "black"),
        rod("0,.36,1-.56 0,.27+.08,1-.28", 0.08, "black"),
        wheel("0,.27+.08,1-.28", 0.23, 0.14, "iron", "x", 24),
        wheel("0,.27+.08,1-.28", 0.09, 0.17, "steel", "x"),
        soft("0-.16,.36+.05,-.4 0+.16,.36+.12,-.4+.24", 0.03, "black"),
        row(4, "0+.06,0,0", ring("0-.09,.27+.08,1-.28", 0.26, 0.014, "black", "x", 24, 4)),
        mirror(at("0+.13,.36-.03,1-.66", lean(-0.6,
        block("0-.06,0,0-.01 0+.06,0+.3,0+.01", "black"),
        block("0-.065,0+.12,0-.03 0+.065,0+.16,0+.012", "orange")))),
        rod("0-.24,.36+.22,1-.69 0+.24,.36+.22,1-.69", 0.035, "black", 8),
        rod("0,.36+.22,1-.69 0,.27+.2,1-.33", 0.012, "chrome"),
        rod("0,.27+.1,1-.28 0,1-.1,1-.5", 0.04, "black"),
        block("0-.1,1-.14,1-.54 0+.1,1,1-.5", "black"),
        block("0-.08,1-.12,1-.543 0+.08,1-.02,1-.54", "blue_light")),
    "punching_bag": fixture(turned("0,0 1,0 1,0+.06 .8,0+.14 0,0+.15", "black", sides=20),
        disc("0+.05", "0+.12", ".3", "steel"), turned("0,.3 .75,.3 .9,.3+.05 .9,1-.06 .7,1 0,1",
        sides=20), row(5, "0,.05,0", ring("0,.1,0", 0.06, 0.02, "iron", "y", 12)),
        *(disc(".905", y, f"{y}+.05", "own~.5", sides=20) for y in (".3+.12", "1-.19")),
        block("0-.06,.6,-.92 0+.06,.6+.03,-.86", "own~.5")),
    # rooms' workplaces
    "workbench": fixture(block("-1,1-.07,-1 1,1,1"),
        lambda pen: legs(pen.size[0] - 0.04, pen.size[2] - 0.04, pen.size[1] - 0.07, 0.09,
        pen.tone("own*.85")), block("-1+.04,0+.18,-1+.04 1-.04,0+.21,1-.04", "own*.9"),
        block("1-.6,1-.4,-1+.06 1-.1,1-.07,1-.1", "own*.8"),
        drawers("1-.6 1-.1", "1-.4 1-.235 1-.075", "-1+.04", "own~.18"),
        at("-1+.28,1,-1", block("0-.12,0-.16,0+.001 0+.12,0-.01,0+.04", "iron"),
        wheel("0,0-.1,0+.02", 0.025, 0.04, "steel", sides=10),
        rod("0-.1,0-.1,0+.008 0+.1,0-.1,0+.008", 0.014, "steel")),
        at("-.36,0+.21,0", block("0-.21,0,0-.12 0+.21,0+.17,0+.12", "red"),
        block("0-.1,0+.19,0-.01 0+.1,0+.21,0+.01", "black"),
        mirror(block("0+.085,0+.17,0-.01 0+.1,0+.21,0+.01", "black")))),
    "changing_table": fixture(lambda pen: legs(pen.size[0], pen.size[2], pen.size[1], 0.045,
        pen.own), *(block(f"-1+.01,{y},-1+.01 1-.01,{y}+.02,1-.01")
        for y in ("0+.12", ".45", "1-.09")), mirror(block("1-.02,1-.11,-1 1,1,1")),
        block("-1,1-.11,1-.02 1,1,1"), block("-1,1-.11,-1 1,1-.06,-1+.02"),
        soft("-1+.03,1-.07,-1+.03 1-.03,1-.004,1-.03", 0.03, "sky"),
        mirror(soft("1-.14,1-.05,-1+.04 1-.04,1,1-.04", 0.03, "sky")), _FOLDED,
        mirror(block(".08,0+.14,-.7 .8,0+.34,.7", "card"))),
    "trolley": fixture(mirror(*(wheel(f"1-.04,0+.03,{z}", 0.03, 0.025, "black", "x", 8)
        for z in ("-1+.04", "1-.04"))), *(mirror(rod(f"1-.02,0+.06,{z} 1-.02,1,{z}", 0.022, "steel",
        6)) for z in ("-1+.02", "1-.02")), *(block(f"-1+.005,{y},-1+.005 1-.005,{y}+.03,1-.005")
        for y in ("0+.12", ".52", "1-.03")),
        *(block(f"-1+.01,{y}+.07,{z}-.005 1-.01,{y}+.08,{z}+.005", "steel")
        for y in ("0+.12", ".52") for z in ("-1+.012", "1-.012")),
        rod("-1+.01,.85,-1+.02 -1+.01,.85,1-.02", 0.02, "steel")),
    "ironing_board": fixture(*(cut("-1+.22,-1 .2,-1 .75,-.62 1,0 .75,.62 .2,1 -1+.22,1", low, high,
        tone, axis="y") for low, high, tone in (("1-.03", "1-.006", "steel"),
        ("1-.02", "1", "own"))), block("-1,1-.035,-.7 -1+.22,1-.025,.7", "iron"),
        row(4, "0,0,.38", rod("-1,1-.022,-.57 -1+.22,1-.022,-.57", 0.01, "steel")),
        *(rod(f"{a},0+.012,{s * 0.7} {b},1-.03,{s * 0.3}", 0.024, "steel", 6) for s in (-1, 1)
        for a, b in ((-0.72, 0.6), (0.72, -0.55))),
        *(rod(f"{x},0+.012,-.9 {x},0+.012,.9", 0.024, "white", 6) for x in (-0.72, 0.72)),
        along="x"),
    # items on a foot
    "plant_stand": fixture(cut(oval(1, n=20), "1-.02", "1", axis="y"),
        cut(oval(0.68), ".3", ".3+.015", axis="y"),
        spin(4, bar(".68,0+.01,.68 .47,.25,.47 .42,.6,.42 .58,1-.015,.58", 0.02))),
    "umbrella_stand": fixture(disc(".95", "0", "0+.03", sides=18),
        ring("0,.75,0", ".97", 0.02, "own", "y"), ring("0,.37,0", ".97", 0.015, "own", "y"),
        spin(14, rod(".95,0+.02,0 .95,.75,0", 0.012)), _UMBRELLAS),
    "ladder": fixture(mirror(rod("1-.02,0,-1+.03 .6,1-.03,0-.02", 0.04),
        rod("1-.02,0,1-.03 .6,1-.03,0+.02", 0.035)),
        *(block(f"{x}-.03,{t}-.012,{z}-.04 {-x}+.03,{t}+.012,{z}+.04") for t, x,
        z in ((k / 6, -1 + 0.4 * k / 6, k / 6 - 1) for k in range(1, 6))),
        block("-.66,1-.05,0-.08 .66,1,0+.08", "own~.25"), rod("-.8,.35,.64 .8,.35,.64", 0.02)),
    "scratching_post": fixture(block("-1,0,-1 1,0+.04,1"), block("-1,.62,-.75 .4,.65,.75"),
        block("-.2,1-.03,-.3 1,1,.9"), _scratched, block("-.9,0+.04,-.9 .24,.3,.2"),
        wheel("-.33,.165,-.904", 0.085, 0.006, "black", sides=18),
        rod("-.6,.62,-.6 -.6,.45,-.6", 0.006, "iron"), orb("-.6,.43,-.6", 0.03, "red"))
}
# fmt: on
for _names, _name in (("upright_piano", "piano"), ("barbecue", "grill"), ("bike", "bicycle")):
    BY_NAME[_names] = BY_NAME[_name]
BY_NAME["stationary_bike"] = BY_NAME["exercise_bike"]
BY_SHAPE: dict[str, Builder] = {"vehicle": BY_NAME["bicycle"]}
