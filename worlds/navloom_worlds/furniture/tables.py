"""Builders of tables and desks, easels and boards to draw on."""

from __future__ import annotations

import math
from collections.abc import Iterator

from navloom_worlds.furniture.appliances import drawers
from navloom_worlds.furniture.builder_tools import Builder, item_rng
from navloom_worlds.furniture.furniture_parts import legs
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part


def _glass(pen: SketchPen) -> bool:
    return pen.item.material == "glass"


def _on_legs(thick: float, top: float, inset: float = 0.04) -> Stroke:
    """Return a function that draws a top on four legs; a glass top is thin, on steel."""

    def draw(pen: SketchPen) -> list[Part]:
        (w, h, d), under = pen.size, pen.tone("steel" if _glass(pen) else "own")
        deep = 0.015 if _glass(pen) else top
        feet = legs(w - inset, d - inset, h - 0.015, thick, under)
        return [*draw_parts(pen, block(f"-1,1-{deep},-1 1,1,1")), *feet]

    return draw


def _table(pen: SketchPen) -> Iterator[Part]:
    """Yield parts of a top on four legs, round or square, with an apron unless it is of glass."""
    w, h, d = pen.size
    glass, round_legs = _glass(pen), item_rng(pen.item).random() < 0.4
    thick = min(0.07, max(0.04, w * 0.045))
    under = pen.tone("steel" if glass else "own")
    sides = 4 + 6 * round_legs
    splay = 0.03 * round_legs
    yield from legs(w - 0.04, d - 0.04, h - 0.015, thick, under, sides=sides, splay=splay)
    yield from draw_parts(pen, block("-1,1-.015,-1 1,1,1") if glass else _TOP)


def _books(pen: SketchPen) -> list[Part]:
    """Return the parts of a pile of books on a shelf under the top."""
    dice, room = item_rng(pen.item), int((pen.size[1] * 0.72 - 0.08) / 0.025)
    tones = [dice.choice(("maroon", "navy", "straw", "green", "sky", "rust")) for _ in "abc"]
    low = [f".28+{0.02 + 0.025 * k}" for k in range(4)]
    piles = [
        block(f"-.4-.14,{low[k]},0-.1 -.4+.14,{low[k + 1]},0+.1", tone)
        for k, tone in enumerate(tones[: max(0, room)])
    ]
    return draw_parts(pen, (block("-1+.04,.28,-1+.04 1-.04,.28+.02,1-.04", "own*.95"), piles))


def _either_side(*strokes: Strokes) -> Stroke:
    """Return a function that draws strokes on one side or mirrored, at random."""
    other = flip(*strokes)
    return lambda pen: draw_parts(pen, strokes if item_rng(pen.item).choice((-1, 1)) > 0 else other)


def _either(yes: Strokes, no: Strokes) -> Stroke:
    """Return a function that draws one of two, at random."""
    return lambda pen: draw_parts(pen, yes if item_rng(pen.item).random() < 0.5 else no)


def _dressing(top: str) -> Strokes:
    """Return functions that draw legs and three small drawers under a top."""
    thirds = ("-1+.03 -.333+.01", "-.333+.01 .333-.01", ".333-.01 1-.03")
    feet = [
        rod(f"1-.037,0,{z} 1-.037,{top}-.14,{z}", 0.045, sides=8) for z in ("-1+.037", "1-.037")
    ]
    return (
        block(f"-1,{top}-.025,-1 1,{top},1"),
        mirror(*feet),
        block(f"-1+.015,{top}-.17,-1+.025 1-.015,{top}-.025,1-.025", "own*.92"),
        [drawers(x, f"{top}-.165 {top}-.03", "-1+.02", "own~.18", knobs=True) for x in thirds],
    )


# fmt: off
_APRON = (block("-1+.06,1-.11,-1+.06 1-.06,1-.03,-1+.08", "own*.85"),
    block("-1+.06,1-.11,1-.08 1-.06,1-.03,1-.06", "own*.85"),
    mirror(block("1-.08,1-.11,-1+.06 1-.06,1-.03,1-.06", "own*.85")))
_TOP = (block("-1,1-.035,-1 1,1,1"), _APRON)
_PEDESTAL = (turned("0+.03,0+.08 0+.022,.3 0+.035,.5 0+.02,.8 0+.05,1-.02", sides=12),
    spin(3, bar("0,0+.12,0 .53,0+.06,0 .88,0+.015,0", 0.03), start=math.pi / 2))
_COFFEE = (_on_legs(0.05, 0.04), _books)
_CONSOLE = (_on_legs(0.04, 0.03, 0.03), block("-1+.025,1-.16,-1+.025 1-.025,1-.03,1-.025",
    "own*.9"), block("-1+.03,0+.14,-1+.03 1-.03,0+.16,1-.03"),
    drawers("-1+.06 0", "1-.15 1-.035", "-1+.012", "own~.12", knobs=True),
    drawers("0 1-.06", "1-.15 1-.035", "-1+.012", "own~.12", knobs=True))
_VANITY = "0+.76"
_MIRROR = (wheel("0,.5+.38,1-.03", ".7", 0.02, "mirror", sides=24),
    ring("0,.5+.38,1-.03", ".7-.012", 0.024, around=24))
_DESK = (block("-1,1-.03,-1 1,1,1"), _either_side(block("1-.42,0+.05,-1+.05 1-.02,1-.03,1-.02",
    "own*.92"), block("1-.39,0,-1+.08 1-.05,0+.05,1-.05", "own*.6"),
    drawers("1-.42 1-.02", "0+.05 .42 .66 1-.035", "-1+.03", "own~.14"),
    _either(block("-1+.02,0,-1+.04 -1+.05,1-.03,1-.04"),
    [rod(f"-1+.035,0,{z} -1+.035,1-.03,{z}", 0.05) for z in ("-1+.06", "1-.06")]),
    block("-1+.035,.45,1-.05 1-.42,1-.03,1-.03", "own*.9")))
_CANVAS = (block("-.8,0,0-.01 .8,.42,0+.012", "shell"),
    block("-.67,.04,0-.013 .67,.18,0-.01", "fresh"), block("-.67,.18,0-.013 .67,.37,0-.01", "sky"),
    wheel(".32,.29,0-.014", ".13", 0.004, "yellow"),
    cut("-.67,.18 -.08,.18 -.32,.28", "0-.014", "0-.0125", "grey"))
BY_NAME: dict[str, Builder] = {
    "table": fixture(_table),
    "coffee_table": fixture(_COFFEE),
    "side_table": fixture(_either((_table, block("-1+.03,.3,-1+.03 1-.03,.3+.02,1-.03")),
        (cut(oval(1, n=24), "1-.025", "1", axis="y"), _PEDESTAL))),
    "console_table": fixture(lambda pen: draw_parts(pen, _COFFEE if _glass(pen) else _CONSOLE)),
    "desk": fixture(_DESK),
    "dressing_table": fixture(sized(lambda _w, h, _d: h < 1, _dressing("1"),
        (_dressing(_VANITY), _MIRROR))),
    "easel": fixture(mirror(rod("1-.02,0,-1+.03 0+.06,.97,0", 0.035)),
        rod("0,0,1-.03 0,1-.02,0+.02", 0.035), rod("0,.2,-.7 0,1,0", 0.03),
        block("-.92,.4,-.6-.05 .92,.42,-.6+.03"), rod("-.72,.25,-.7 .72,.25,-.7", 0.03),
        at("0,.42,-.6-.015", lean(0.18, _CANVAS)))
}
# fmt: on
for _names, _name in (
    *(
        ("dining_table kitchen_table garden_table patio_table", "table"),
        ("end_table", "side_table"),
    ),
    *(("vanity", "dressing_table"),),
):
    BY_NAME.update(dict.fromkeys(_names.split(), BY_NAME[_name]))
BY_SHAPE: dict[str, Builder] = {"table": BY_NAME["table"], "desk": BY_NAME["desk"]}
