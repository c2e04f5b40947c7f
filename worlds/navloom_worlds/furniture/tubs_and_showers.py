"""Builders of bathtubs, showers and towel racks."""

from __future__ import annotations

import math

from navloom.scenes.scene import Item
from navloom_worlds.furniture import rounded_shapes
from navloom_worlds.furniture.builder_tools import CHROME, WATER, Builder, has_state, shade, size_of
from navloom_worlds.furniture.furniture_parts import framed_hole
from navloom_worlds.furniture.rounded_shapes import ball, loft, prism, ring_plate, tube
from navloom_worlds.furniture.stroke_sketches import *
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, cylinder


def bathtub(item: Item) -> list[Part]:
    """Build a white bathtub along its longer side, with a tap at one end; if full, with water."""
    w, h, d = size_of(item)
    look = item_surface(item)
    along = w >= d
    long, wide = (w, d) if along else (d, w)
    outside = rounded_shapes.oval(long / 2 - 0.01, wide / 2 - 0.01, 0.25, 28)
    rim = rounded_shapes.oval(long / 2, wide / 2, 0.25, 28)
    inner = rounded_shapes.oval(long / 2 - 0.07, wide / 2 - 0.07, 0.5, 28)
    floor = rounded_shapes.oval(long / 2 - 0.2, wide / 2 - 0.16, 0.55, 28)
    parts = [
        loft(outside, 0, rim, h - 0.04, shade(look, 0.97)),
        loft(rim, h - 0.04, rim, h, look),
        ring_plate(rim, inner, h, look),
        loft(floor, 0.1, inner, h, shade(look, 0.95)),
        prism(floor, 0.098, 0.1, shade(look, 0.95), axis="y"),
        rounded_shapes.wheel((long / 2 - 0.3, 0.103, 0), 0.025, 0.006, CHROME, axis="y", sides=10),
        rounded_shapes.wheel((long / 2 - 0.098, h - 0.14, 0), 0.03, 0.02, CHROME, sides=10),
    ]
    if has_state(item, "full"):
        t = 0.72
        water = [
            (a + (c - a) * t, b + (e - b) * t) for (a, b), (c, e) in zip(floor, inner, strict=True)
        ]
        parts.append(prism(water, h * t, h * t + 0.002, WATER, axis="y"))
    end = long / 2 - 0.035
    for s in (-1, 1):
        parts.append(cylinder(0.018, h, h + 0.05, CHROME, sides=8).moved(end, 0, s * 0.09))
        parts.append(ball((end, h + 0.06, s * 0.09), (0.024, 0.012, 0.024), CHROME, sides=8))
    spout = [
        (end, h, 0),
        (end, h + 0.1, 0),
        (long / 2 - 0.09, h + 0.12, 0),
        (long / 2 - 0.15, h + 0.08, 0),
    ]
    parts.append(tube(spout, 0.028, CHROME))
    return parts if along else [p.turned(math.pi / 2) for p in parts]


def _tray(pen: SketchPen) -> list[Part]:
    w, _, d = pen.size
    return framed_hole(w, d, w - 0.12, d - 0.12, 0.0, 0.1, pen.tone("white"))


def _head(wall: str) -> Strokes:
    """Return functions that draw a shower rail with hand and overhead shower, and a mixer."""
    return at(
        f"0,0,{wall}",
        bar("0,.5,0-.04 0,.93-.05,0-.04 0,.93,0-.1 0,.93,0-.34", 0.024, "chrome"),
        wheel("0,.93-.025,0-.34", 0.11, 0.015, "chrome", "y", 18),
        wheel("0,.93-.034,0-.34", 0.1, 0.006, "black", "y", 18),
        wheel("0,.5,0-.045", 0.035, 0.24, "chrome", "x", 10),
        bar("0+.02,.5,0-.05 0+.14,.34,0-.07 0+.2,.45,0-.07 0+.09,.66,0-.09", 0.016, "chrome"),
        wheel("0+.09,.69,0-.12", 0.045, 0.03, "chrome", sides=12),
        rod("0,.67,0-.04 0+.09,.67,0-.1", 0.025, "chrome", 6),
    )


def _bands(right: str) -> Strokes:
    """Return functions that draw a glass cabin's frosted bands; clear glass is not drawn."""
    return row(
        5,
        "0,0+.12,0",
        block(f"-1+.03,0+.62,-1+.012 {right},0+.66,-1+.018", "glass"),
        block("1-.018,0+.62,-1+.03 1-.012,0+.66,1-.02", "glass"),
    )


# fmt: off
_TILES = "@ccdee3'"
_SHOWER: Strokes = (_tray, block("-1+.05,0,-1+.05 1-.05,0+.06,1-.05", "shell"),
    wheel("0,0+.065,0", 0.05, 0.01, "chrome", "y", 14), block("-1,0+.1,1-.02 1,1,1", _TILES),
    mirror(rod("1-.015,0+.1,-1+.015 1-.015,1,-1+.015", 0.03, "chrome"),
    *(rod(f"1-.015,{y},-1 1-.015,{y},1", 0.03, "chrome") for y in ("0+.115", "1-.015"))),
    *(rod(f"-1,{y},-1+.015 1,{y},-1+.015", 0.03, "chrome") for y in ("0+.115", "1-.015")),
    when("open", (_bands(".05"), rod(".05-.1,0+.1,-1+.04 .05-.1,1,-1+.04", 0.02, "chrome")),
    _bands("1-.03")), rod(".05,0+.1,-1+.015 .05,1,-1+.015", 0.02, "chrome"),
    rod(".05+.08,.45,-1+.012 .05+.08,.58,-1+.012", 0.022, "chrome", 6))
BY_NAME: dict[str, Builder] = {
    "bathtub": bathtub,
    "shower": fixture(_SHOWER, _head("1-.02")),
    "shower_cabin": fixture(_SHOWER, block("-1,1-.06,-1 1,1,1", "white"),
        block("-1,0+.1,-1+.1 -1+.02,1-.06,1", _TILES),
        block("0-.12,.2,1-.06 0+.12,.85,1-.02", "grey"), _head("1-.06")),
    "towel_rack": fixture(mirror(*(rod(f"1-.015,0,{z} 1-.015,1-.015,{z}", 0.026, sides=6)
        for z in ("-1+.015", "1-.015")), rod("1-.015,1-.015,-1 1-.015,1-.015,1", 0.026, sides=6)),
        row(3, "0,.33,0", row(5, "0,0,.45", rod("-1+.015,0+.02,-.9 1-.015,0+.02,-.9", 0.018,
        sides=6))), *(rod(f"-1+.015,1-.015,{z} 1-.015,1-.015,{z}", 0.022, sides=6)
        for z in ("-1+.015", "1-.015")), block("-.6,.45,-1+.003 .24,1,-1+.015", "sky"),
        block("-.6,.6,-1+.015 .24,1,-1+.04", "sky"))
}
# fmt: on
BY_SHAPE: dict[str, Builder] = {name: BY_NAME[name] for name in ("bathtub", "shower")}
