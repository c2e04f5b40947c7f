"""Builders of display cabinets, clocks, lockers, filing cabinets, and racks."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from navloom_worlds.furniture.appliances import feet, shell, shut
from navloom_worlds.furniture.builder_tools import Builder, item_rng
from navloom_worlds.furniture.cupboard_contents import china, clothes_on_rail
from navloom_worlds.furniture.furniture_parts import AJAR, carcass, door
from navloom_worlds.furniture.shelving import board_heights
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.solids import Part


def _china(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of glass boards with plates and cups on them."""
    (w, h, d), dice = pen.size, item_rng(pen.item)
    split = min(0.55, h * 0.3)
    # Without more information, items are placed at 61 % of the height.
    for y in (split + 0.01, h * 0.611, h * 0.805 + 0.02):
        yield from draw_parts(
            pen, block(f"-1+.03,0+{y - 0.012},-1+.07 1-.03,0+{y},1-.02", "pale_glass")
        )
        yield from china(0.08 - w / 2, w / 2 - 0.08, y, d, dice.randrange(1000))


def _framed(x0: str, x1: str, low: str) -> Strokes:
    """Return functions that draw the frame of a glass door."""
    return [
        block(f"{a},-1+.022 {b},-1+.04")
        for a, b in (
            (f"{x0},{low}", f"{x0}+.035,1"),
            (f"{x1}-.035,{low}", f"{x1},1"),
            (f"{x0},{low}", f"{x1},{low}+.035"),
            (f"{x0},1-.035", f"{x1},1"),
        )
    ]


def _lockers(pen: SketchPen) -> Iterator[Part]:
    """Yield the parts of narrow steel doors with air slots; if open, coats behind them."""
    w, h, d = pen.size
    count = max(1, round(w / 0.32))
    if "open" in pen.item.states:
        body, step = 0.022 - d * 0.2, w / count
        yield from carcass(w, h, d, pen.own, low=0.1, front=body, board=0.012)
        middle, deep = (body + d / 2) / 2, (d / 2 - body) * 0.8
        rail = (0.03 - w / 2, w / 2 - 0.03, h - 0.3, 0.3, middle, deep)
        yield from clothes_on_rail(*rail, pen.item)
        for k in range(count):
            low = (k * step - w / 2, 0.1)
            far = (low[0] + min(step, (body + d / 2) / math.sin(AJAR)), h)
            yield from door(low, far, body, pen.tone("own~.06"), angle=AJAR)
        return
    step = 2 / count
    slots = [block(f"-.28+0,{y},-1+.019 .28,{y}+.012,-1+.022", "black") for y in _SLOTS]
    leaves = [
        (
            shut(f"{k * step - 1},0+.1 {(k + 1) * step - 1},1", "-1+.022", "own~.06"),
            at(f"{(k + 0.5) * step - 1},0,0", _slots(step / 2, slots)),
        )
        for k in range(count)
    ]
    yield from draw_parts(pen, (block("-1,0+.1,-1+.037 1,1,1", "own*.9"), leaves))


def _slots(half: float, slots: Strokes) -> Stroke:
    return lambda pen: [part.scaled(half, 1, 1) for part in draw_parts(pen, slots)]


def _files(pen: SketchPen) -> list[Part]:
    """Return steel drawers with labels; if open, the upper one is out and holds files."""
    rows, out = max(2, round(pen.size[1] / 0.33)), "open" in pen.item.states
    strokes: list[Strokes] = [block(f"-1,0+.03,{'-.5' if out else '-1'}+.037 1,1-.01,1", "own*.85")]
    for k in range(rows):
        y, z = f"{k / rows}+.035", "-1" if not out or k == rows - 1 else "-.5"
        top = f"{(k + 1) / rows}-.02"
        strokes.append(block(f"-1+.01,{y},{z}+.022 1-.01,{top},{z}+.04"))
        strokes.append(at(f"0,{(k + 0.5) / rows},{z}", _LABEL))
        if out and k == rows - 1:
            strokes.append(block(f"-1+.03,{y}+.03,{z}+.03 1-.03,{top}-.06,-.4", "own*.7"))
            files = block(f"-1+.05,{y},-.9 1-.05,{top}-.02,-.88", "straw")
            strokes.append(row(5, "0,0,.09", files))
    return draw_parts(pen, strokes)


def _bottles(pen: SketchPen) -> list[Part]:
    """Return the parts of bottles and glasses on a bar."""
    count, strokes = int((pen.size[0] - 0.12) / 0.1), []
    tones = ("bottle", "amber", "glass", "wine")
    for k in range(count):
        place = f"{-0.85 + 1.7 * k / max(1, count - 1)},.5,{0.2 + 0.2 * (k % 2)}"
        strokes.append(at(place, _bottle(tones[k * 3 % 4])))
        if k % 2 == 0:
            strokes.append(at(place, at("0+.03,0,-.6", _GLASS)))
    return draw_parts(pen, strokes)


def _bottle(tone: str) -> Strokes:
    return turned("0,0 0+.036,0 0+.036,.25 0+.013,.32 0+.013,.42 0,.42", tone, sides=10)


def _levels(count: int, *strokes: Strokes) -> Stroke:
    """Return a function that draws strokes on each board on which the catalogue places items."""

    def draw(pen: SketchPen) -> list[Part]:
        heights = [max(y, 0.03) for y in board_heights(pen.size[1], count)]
        return [part.moved(0, y, 0) for y in heights for part in draw_parts(pen, strokes)]

    return draw


def _chances(step: float, chance: float, *kinds: Strokes) -> Stroke:
    """Return a function that draws random strokes along the width, some places left empty."""

    def draw(pen: SketchPen) -> list[Part]:
        dice, room = item_rng(pen.item), pen.size[0] - 0.08
        count = max(1, int(room / step))
        spots = [((k + 0.5) / count - 0.5) * room for k in range(count)]
        return [
            part.moved(x, 0, 0)
            for x in spots
            if dice.random() < chance
            for part in draw_parts(pen, dice.choice(kinds))
        ]

    return draw


def _hung(pen: SketchPen) -> list[Part]:
    w, h, d = pen.size
    at_ = h * (0.35 if pen.item.shape else 0.18)
    board = (
        f"-1+.025,0+{at_ - 0.02},-1+.03 1-.025,0+{at_},1-.03",
        f"1-.025,0+{at_ - 0.01},-1+.03 1-.025,0+{at_ - 0.01},1-.03",
    )
    x = w / 2 - 0.025
    clothes = clothes_on_rail(-x * 0.8, x * 0.7, h - 0.04, at_ + 0.1, 0.0, d * 0.75, pen.item)
    return [*draw_parts(pen, (block(board[0]), mirror(rod(board[1], 0.02)))), *clothes]


def _logs(pen: SketchPen) -> list[Part]:
    dice, strokes = item_rng(pen.item), []
    for level in range(int((pen.size[1] * 0.85 - 0.06) / 0.097)):
        count = int((pen.size[0] - 0.1) / 0.11) - level % 2
        for k in range(count):
            r, y = 0.055 * dice.uniform(0.85, 1), 0.11 + 0.097 * level
            place = f"0+{(k - (count - 1) / 2) * 0.11},0+{y},0"
            strokes.append(
                at(place, wheel("0,0,0+.01", r, "2-.04", "ebony", sides=7), _log_end(r * 0.88))
            )
    return draw_parts(pen, strokes)


def _log_end(r: float) -> Stroke:
    return wheel("0,0,-1+.02", r, 0.008, "pale", sides=7)


def _shoes(tone: str, tall: float) -> Strokes:
    """Return functions that draw a pair of shoes or boots."""
    t = f"0+{tall}"
    side = f"-.8,0+.015 .8,0+.015 .8,{t} .24,{t} .08,0+{min(tall, 0.07)} -.56,0+.05 -.8,0+.035"
    sole = block("0+.008,0,-.8 0+.087,0+.018,.8", "shell*.9")
    return mirror((cut(side, "0+.01", "0+.085", tone, axis="x"), sole))


def _coat(tone: str) -> Strokes:
    """Return functions that draw a coat hanging by its collar."""
    return (
        cut("-.17,.9 .17,.9 .47,.84 .53,.5 -.53,.5 -.47,.84", "0-.05", "0+.05", tone),
        mirror(rod(".44,.83,0 .61,.6,0", 0.07, f"{tone}*.9", 6)),
        block("0-.004,.5,0-.054 0+.004,.88,0-.05", f"{tone}*.5"),
    )


# fmt: off
_SLOTS = ("1-.22", "1-.19", "1-.16", "1-.13", "0+.23", "0+.26", "0+.29")
_LABEL = (block("0-.08,0-.03,0+.002 0+.08,0,0+.022", "steel"),
    block("0-.05,0+.05,0+.018 0+.05,0+.09,0+.022", "cream"))
_GLASS = turned("0+.025,0 0+.004,0+.01 0+.004,0+.07 0+.03,0+.1 0+.033,0+.15", "pale_glass",
    sides=10)
_LYING = tuple(at("0,0+.05,0", bar("0,0,1-.02 0,0,-1+.1 0,0,-1+.06 0,0,-1+.03",
    ".074 .074 .028 .028", glass, 7), bar("0,0,-1+.05 0,0,-1+.005", 0.032, foil)) for glass,
    foil in (("bottle", "wine"), ("wine", "gold")))
_DUMBBELL = (rod("0,0,-.36 0,0,.36", 0.028, "chrome", 6),
    wheel("0,0,-.5", 0.06, ".4", "black", sides=6), wheel("0,0,.5", 0.06, ".4", "black", sides=6))
_TOYS = tuple(orb(f"{x},1-.08,{z}", 0.075, tone, 10) for x, z,
    tone in ((-0.6, -0.2, "red"), (-0.2, 0.2, "blue"), (0.2, -0.3, "yellow"), (0.5, 0.1, "green"),
    (-0.5, 0.3, "yellow")))
_CLOCK_FACE = (wheel("0,.825,-.9-.002", ".79", 0.008, "brass", sides=24),
    wheel("0,.825,-.9-.004", ".72", 0.012, "cream", sides=24),
    rod("0,.825,-.9-.014 .06,.825+.1,-.9-.014", 0.01, "black"),
    rod("0,.825,-.9-.014 -.35,.825+.02,-.9-.014", 0.014, "black"),
    *(at(f"{0.6 * math.sin(a)},.825,-.9-.012",
    block(f"0-.006,0+{0.13 * math.cos(a) - 0.009},0 0+.006,0+{0.13 * math.cos(a) + 0.009},0+.004",
    "black")) for a in np.linspace(0, 2 * math.pi, 13)[:-1]))
_SHOE_RACK = fixture(mirror(block("1-.025,0,-1 1,1,-1+.03"), block("1-.025,0,1-.03 1,1,1"),
    block("1-.025,1-.03,-1 1,1,1")), block("-1,1-.02,-1 1,1,1"),
    _levels(3, row(5, "0,0,.46", block("-1,0-.02,-1 1,0,-1+.03")),
    _chances(0.21, 0.75, _shoes("dark", 0.1), _shoes("leather", 0.1), _shoes("shell", 0.1),
    _shoes("red", 0.1), _shoes("navy", 0.14))))
_CLOTHES_RACK = fixture(mirror(rod("1-.025,0+.05,0 1-.025,1,0", 0.03, sides=8),
    rod("1-.025,0+.06,-1+.03 1-.025,0+.06,1-.03", 0.03, sides=8),
    *(wheel(f"1-.025,0+.025,{z}", 0.025, 0.02, "black", "x", 8) for z in ("-1+.04", "1-.04"))),
    rod("-1+.025,1-.02,0 1-.025,1-.02,0", 0.028, sides=8), _hung)
BY_NAME: dict[str, Builder] = {
    "display_cabinet": fixture(shell(0.06, "own~.3"), block("-1,0,-1+.05 1,0+.06,1", "own*.6"),
        block("-1,0+.06,-1+.04 1,.3,1", "own*.9"),
        *((shut(f"{a},0+.06 {b},.3", "-1+.022", "own", hinge=hinge, framed=True),
        _framed(a, b, ".3")) for a, b, hinge in (("-1", "0", "left"), ("0", "1", "right"))),
        mirror(wheel("0+.018,.65,-1+.011", 0.012, 0.022, "brass", sides=8)), _china),
    "locker": fixture(feet(0.02, 0.06, 0.12, 0.03, "black"), _lockers),
    "file_cabinet": fixture(block("-1,1-.02,-1 1,1,1"),
        block("-1+.02,0,-1+.03 1-.02,0+.04,1-.03", "black"), _files,
        wheel("1-.05,1-.035,-1+.018", 0.01, 0.008, "chrome", sides=8)),
    "grandfather_clock": fixture(*(block(f"-{x},{low},{z} {x},{high},{far}", tone) for x, low, z,
        high, far, tone in ((1, "0", "-1", "0+.08", "1", "own*.75"),
        (0.92, "0+.08", "-.92", ".24", ".92", "own"), (1, ".24", "-1", ".24+.04", "1", "own*.75"),
        (0.7, ".24", "-.59", ".72", ".91", "own"), (1, ".72-.03", "-1", ".72+.02", "1", "own*.75"),
        (0.9, ".72", "-.9", ".93", ".9", "own"))),
        cut([(math.cos(t), 0.93 + 0.07 * math.sin(t)) for t in np.linspace(math.pi, 0, 11)], "-1",
        "1", "own*.75"), _CLOCK_FACE, block("-.44,.24+.12,-.59-.006 .44,.72-.1,-.59-.003", "dark"),
        rod("0+.02,.72-.1,-.59-.012 0+.05,.24+.26,-.59-.012", 0.012, "brass"),
        wheel("0+.05,.24+.24,-.59-.014", ".3", 0.012, "brass", sides=20),
        rod("0-.06,.72-.1,-.59-.012 0-.06,.24+.47,-.59-.012", 0.008, "brass"),
        wheel("0-.06,.24+.45,-.59-.014", 0.02, "0+.09", "brass", "y", 8),
        mirror(block(".44-.012,.24+.12,-.59-.014 .44+.012,.72-.1,-.59", "own*.75"))),
    "bar_cabinet": fixture(feet(0.02, 0.04, 0.12, 0.045, "own*.6"), shell(0.1, "own*.6", 0.02),
        block("-1,0+.1,-1+.04 1,.5,1", "own*.9"),
        shut("-1,0+.1 0,.5", "-1+.022", "own", framed=True),
        shut("0,0+.1 1,.5", "-1+.022", "own", hinge="right", framed=True), _bottles),
    "safe": fixture(soft("-1,0+.02,-1+.05 1,1,1", 0.015, steps=1),
        block("-1+.03,0,-1+.06 1-.03,0+.03,1-.06", "black"),
        soft("-1+.035,0+.055,-1+.036 1-.035,1-.035,-1+.06", 0.01, "own~.2", 1),
        wheel(".04,.66,-1+.028", 0.045, 0.025, "black"),
        wheel(".04,.66,-1+.02", 0.03, 0.02, "chrome"),
        *(rod(f".04+{-x},.38+{-y},-1+.015 .04+{x},.38+{y},-1+.015", 0.014, "chrome", 6) for x,
        y in ((0.081, 0.025), (0.019, 0.083), (-0.062, 0.058))),
        wheel(".04,.38,-1+.02", 0.025, 0.035, "chrome", sides=10),
        row(2, "0,.5,0", wheel("-1+.03,.25,-1+.042", 0.014, "0+.08", "chrome", "y", 8))),
    "toy_chest": fixture(mirror(block("1-.02,0,-1 1,1-.03,1")), block("-1,0,-1 1,0+.02,1"),
        block("-1,0,-1+.004 1,1-.03,-1+.02"), block("-1,0,1-.02 1,1-.03,1"),
        *(wheel(f"{x},.5,-1+.002", 0.07, 0.004, tone, sides=n) for x, tone,
        n in ((-0.56, "red|blue", 4), (0, "yellow|red", 5), (0.56, "green|yellow", 16))),
        when("open",
        (block("-1,.3,1-.045 1,1,1-.02", "own~.2"),
        block("-1+.02,1-.05,-1+.03 1-.02,1-.012,1-.03", "grey"), _TOYS),
        soft("-1,1-.03,-1 1,1,1", 0.012, "own~.2", 1))),
    # racks
    "clothes_rack": _CLOTHES_RACK,
    "shoe_rack": _SHOE_RACK,
    "rack": by(lambda _w, h, _d: h > 1.2, _CLOTHES_RACK, _SHOE_RACK),
    "coat_rack": fixture(turned("0+.035,0+.05 0+.025,.3 0+.025,1-.06 0+.035,1-.04 0,1", sides=10),
        spin(4, bar("0,0+.12,0 .5,0+.08,0 .97,0+.015,0", 0.03), start=math.pi / 4),
        *(spin(4, bar(f"0,{y}-.05,0 .55,{y},0 .8,{y}+.09,0", 0.018),
        orb(f".8,{y}+.1,0", 0.016, "own", 6), start=a) for y,
        a in (("1-.12", 0.0), ("1-.3", math.pi / 4))), at("0,0,-.55", _coat("ebony")),
        at(".3,0,.45", _coat("slate")),
        at("-.1,1-.1,0", turned("0,0 0+.14,0 0+.14,0+.012 0+.075,0+.02 0+.07,0+.09 0,0+.1",
        "dark*2"))),
    "wine_rack": fixture(mirror(block("1-.03,0,-1 1,1,1")), block("-1,1-.03,-1 1,1,1"),
        _levels(4, block("-1,0-.025,-1+.02 1,0,1"), block("-1,0,-1+.05 1,0+.015,-1+.07", "own*.9"),
        _chances(0.1, 0.78, *_LYING))),
    "firewood_holder": fixture(*(mirror(rod(f"1-.02,0,{z} 1-.02,1-.02,{z}", 0.025),
        rod(f"0,0+.04,{z} 1-.02,0+.04,{z}", 0.025)) for z in ("-1+.03", "1-.03")),
        mirror(rod("1-.02,1-.02,-1+.03 1-.02,1-.02,1-.03", 0.025),
        rod(".6,0+.03,-1 .6,0+.03,1", 0.02)), _logs),
    "dumbbell_rack": fixture(mirror(rod("1-.03,0+.02,-1+.02 1-.03,0+.02,1-.02", 0.05),
        rod("1-.03,0,1-.04 1-.03,1,1-.1", 0.05)),
        _levels(2, block("-1+.03,0-.02,-1+.02 1-.03,0,1-.06"),
        _chances(0.16, 1.0, at("0,0+.06,0", _DUMBBELL))), block("-1+.03,1-.02,-.2 1-.03,1,1-.05"))
}
# fmt: on
BY_NAME["filing_cabinet"] = BY_NAME["file_cabinet"]
BY_NAME["coat_stand"] = BY_NAME["coat_rack"]
BY_NAME["shoe_case"] = BY_NAME["shoe_rack"]
BY_SHAPE: dict[str, Builder] = {"rack": BY_NAME["rack"]}
