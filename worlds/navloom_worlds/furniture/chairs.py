"""Builders of chairs, stools and benches, as rows of strokes in metres."""

from __future__ import annotations

import math

import numpy as np

from navloom_worlds.furniture.builder_tools import Builder, item_rng
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part


def _stool(count: int) -> Strokes:
    """Return functions that draw splayed legs with rungs between them."""
    start, step = math.pi / 2 + math.pi / count, 2 * math.pi / count
    feet = [(math.cos(start + k * step), math.sin(start + k * step)) for k in range(count)]
    strokes: list[Strokes] = []
    for k, (x, z) in enumerate(feet):
        u, v = feet[(k + 1) % count]
        y, r = 0.3 + 0.06 * (k % 2), 0.8
        strokes.append(rod(f"{x * 0.92},0,{z * 0.92} {x / 2},1-.03,{z / 2}", 0.034, sides=8))
        strokes.append(rod(f"{x * r},{y},{z * r} {u * r},{y},{v * r}", 0.02, sides=6))
    return strokes


def _back(pen: SketchPen) -> list[Part]:
    """Return the parts of a chair's back: slats, rungs or a board, and on some a seat pad."""
    dice = item_rng(pen.item)
    pad = dice.random() < 0.5
    return draw_parts(pen, (_PAD if pad else (), _BACKS[dice.randrange(3)]))


def _bar_chair(pen: SketchPen) -> list[Part]:
    """Return the parts of the frame of a bar chair, of steel or black."""
    tone = "steel" if item_rng(pen.item).random() < 0.5 else "black"
    legs = [
        rod(f"1-.015,0,{z}+{-0.015 * z} 1-.065,.65-.03,{z}+{-0.065 * z}", 0.03, tone, 6)
        for z in (-1, 1)
    ]
    side = rod(f"{_HIGH}-.02,.26,-{_HIGH}+.02 {_HIGH}-.02,.26,{_HIGH}-.02", 0.02, tone)
    strokes = (
        mirror(legs, side, rod(".64,.65-.05,1-.08 .64,1-.05,1-.03", 0.025, tone)),
        [
            rod(f"-{_HIGH}+.02,.26,{z} {_HIGH}-.02,.26,{z}", 0.02, tone)
            for z in (f"-{_HIGH}+.02", f"{_HIGH}-.02")
        ],
    )
    return draw_parts(pen, strokes)


# fmt: off
_PAD = soft("-1+.02,.5-.03,-1+.015 1-.02,.5+.012,1-.1", 0.018, "own~.35")
_BACKS: tuple[Strokes, ...] = (row(5, ".333,0,0", rod("-.667,.5,1-.08 -.667,1-.06,1-.026", 0.024)),
    (block("-1+.02,.5+.12,1-.073 1-.02,.5+.18,1-.049"),
    sized(lambda _w, h, _d: h > 0.86, block("-1+.02,.5+.24,1-.056 1-.02,.5+.3,1-.032"))),
    block("-1+.02,.5+.14,1-.06 1-.02,1-.09,1-.036"))
_CHAIR = fixture(mirror(rod("1-.02,0,-1+.02 1-.02,.5-.02,-1+.02", 0.04),
    rod("1-.02,0,1-.08 1-.02,.5,1-.08", 0.04), rod("1-.02,.5,1-.08 1-.02,1-.01,1-.02", 0.04),
    rod("1-.02,.2,-1+.02 1-.02,.2,1-.08", 0.022)), soft("-1,.5-.035,-1 1,.5,1-.06", 0.012),
    block("-1+.02,1-.11,1-.037 1-.02,1-.01,1-.013"), _back)
_RUNNER = bar([(0.97, 0.02 + 0.1 * t * t, t * 0.95) for t in np.linspace(-1, 1, 11)], 0.04)
_HIGH = 0.94
BY_NAME: dict[str, Builder] = {
    "chair": _CHAIR,
    "garden_chair": fixture(mirror(rod("1-.02,0,-1+.02 1-.02,.48+.2,-1+.02", 0.04),
        rod("1-.02,0,1-.12 1-.02,1,1-.02", 0.04), block("1-.05,.48+.2,-1 1,.48+.225,1-.06"),
        rod("1-.02,.48-.04,-1+.02 1-.02,.48-.04,1-.08", 0.03)),
        row(6, "0,0,.28", block("-1+.02,.48-.025,-1+.01 1-.02,.48,-1+.09")),
        row(5, "0,.095,.02", block("-1+.02,.53,1-.085 1-.02,.53+.06,1-.061"))),
    "office_chair": fixture(*((rod(f"0,0+.1,0 {x},0+.065,{z}", 0.035, "black"),
        wheel(f"{x},0+.028,{z}", 0.028, 0.04, "black", "x", 8)) for x,
        z in ((0.9 * math.cos(a), 0.9 * math.sin(a))
        for a in np.linspace(math.pi / 2, 2.5 * math.pi, 6)[:-1])),
        disc("0+.03", "0+.08", ".29", "black"), disc("0+.02", ".27", ".45-.08", "chrome"),
        block("-.4,.45-.1,-.35 .4,.45-.07,.35", "black"),
        soft("-.8,.45-.08,-1+.02 .8,.45,.64", 0.035),
        at("0,.45+.08,.72", lean(0.1, soft("-.74,0,0-.04 .74,.55-.09,0+.035", 0.035))),
        bar("0,.45-.09,.3 0,.45-.08,.8 0,.45+.25,.86", 0.04, "black"),
        mirror(bar(".6,.45-.085,.15 1-.035,.45-.07,.15 1-.035,.45+.18,.15", 0.028, "black"),
        soft("1-.07,.45+.17,-.32 1,.45+.2,.48", 0.012, "black"))),
    "rocking_chair": fixture(mirror(_RUNNER, rod("1-.02,0+.06,-.64 1-.02,.42+.22,-.64", 0.035),
        rod("1-.02,0+.03,.4 1-.02,.42,.4", 0.035), rod("1-.02,.42-.04,.4 1-.02,1-.01,.8", 0.035),
        block("1-.062,.42+.21,-.64-.04 1-.002,.42+.235,.4+.06")),
        block("-1+.01,.42-.04,-.64-.06 1-.01,.42,.4+.02"),
        soft("-1+.05,.42-.02,-.64-.02 1-.05,.42+.012,.4-.02", 0.012, "own~.45"),
        row(5, ".333,0,0", rod("-.667,.42-.02,.4 -.667,1-.04,.8", 0.025)),
        block("-1,1-.12,.8-.03 1,1,.8+.01")),
    "high_chair": fixture(mirror(*(rod(f"1-.017,0,{z}+{-0.017 * z} .62,.55,{0.62 * z}", 0.035)
        for z in (-1, 1))), soft("-.6,.55-.02,-.4 .6,.55+.03,.56", 0.02, "own~.4"),
        block("-.6,.55,.52 .6,1,.64"), soft("-.6+.02,.55+.03,.4 .6-.02,1-.03,.56", 0.025, "own~.4"),
        mirror(block(".6,.55,-.36 .6+.025,.55+.2,.6")),
        soft("-1,.55+.19,-1 1,.55+.22,-.1", 0.012, "white"),
        block("-.6,.22,-.66-.05 .6,.22+.02,-.66+.05"),
        *(rod(f"-.84,.165,{z} .84,.165,{z}", 0.022) for z in (-0.84, 0.84))),
    "stool": fixture(cut(oval(1, n=22), "1-.04", "1", axis="y"),
        lambda pen: draw_parts(pen, _stool(item_rng(pen.item).choice((3, 4))))),
    "bar_chair": fixture(_bar_chair, soft("-1+.02,.65-.06,-1+.01 1-.02,.65,1-.05", 0.028),
        soft("-1+.03,1-.18,1-.05 1-.03,1,1", 0.022)),
    "bench": fixture(row(3, "0,0,.667", block("-1,1-.04,-1+.004 1,1,-.333-.004")),
        mirror(rod("1-.14,0,-1+.03 1-.14,1-.04,-1+.06", 0.05),
        rod("1-.14,0,1-.03 1-.14,1-.04,1-.06", 0.05),
        block("1-.165,1-.1,-1+.03 1-.115,1-.04,1-.03")), rod("-1+.14,.35,0 1-.14,.35,0", 0.04)),
    "piano_bench": fixture(mirror(*(rod(f"1-.045,0,{z} 1-.045,1-.12,{z}", 0.05, sides=8)
        for z in ("-1+.025", "1-.025")), wheel("1-.012,1-.1,0", 0.025, 0.024, "own*.6", "x", 10)),
        block("-1+.02,1-.14,-1 1-.02,1-.07,1"), soft("-1+.02,1-.08,-1 1-.02,1,1", 0.03, "dark"),
        row(4, ".435,0,0",
        row(2, "0,0,.91", block("-.652-.01,1-.004,-.455-.01 -.652+.01,1,-.455+.01", "black")))),
    "weight_bench": fixture(soft("-.44,1-.09,-1 .44,1,1-.24", 0.035),
        rod("0,1-.1,-1+.1 0,1-.1,1-.12", 0.06, "steel"),
        rod("0,0+.03,-1+.15 0,1-.1,-1+.2", 0.06, "steel"),
        rod("-.6,0+.025,-1+.15 .6,0+.025,-1+.15", 0.05, "steel"),
        rod("-.7,0+.025,1-.12 .7,0+.025,1-.12", 0.05, "steel"),
        rod("-1,1-.06,1-.09 1,1-.06,1-.09", 0.028, "chrome", 8),
        mirror(rod(".6,0,1-.12 .6,1,1-.12", 0.05, "steel"),
        wheel("1-.085,1-.06,1-.09", 0.08, 0.03, "black", "x"),
        wheel("1-.05,1-.06,1-.09", 0.06, 0.03, "black", "x")))
}
# fmt: on
BY_NAME.update(dict.fromkeys(("dining_chair", "desk_chair", "lone_chair"), _CHAIR))
BY_NAME["bar_stool"] = BY_NAME["bar_chair"]
BY_SHAPE: dict[str, Builder] = {name: BY_NAME[name] for name in ("chair", "stool", "bench")}
