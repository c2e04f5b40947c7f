"""Door leaves in their current state: hinged, sliding and folding; open, ajar and closed.

A leaf's own frame: x from its hinge along the doorway, y up from the floor, z across. A closed leaf
lies around z = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from navloom_worlds.geometry.colours import shade_colour
from navloom_worlds.geometry.finishes import DARK_STEEL, STEEL
from navloom_worlds.geometry.solids import Part, Surface, beam, box
from navloom_worlds.geometry.wall_openings import WallOpening

THICK = 0.04
_GAP = 0.003
_TURNS = {"open": math.pi / 2, "ajar": math.radians(28)}
_FOLDS = {"open": math.radians(80), "ajar": math.radians(38)}
_SHOWN = {"open": 0.1, "ajar": 0.7}
"""Visible part of a sliding door: metres when open; share of the width when ajar."""
_CLOSED_FOLD = math.radians(3)
_PANELS = 4


def leaf_parts(
    way: WallOpening, surface: Surface, *, glazed: bool = False, lift: bool = False
) -> Iterator[Part]:
    """Yield the parts of a door leaf in its current state, in the scene's frame.

    Args:
        way: a doorway with a leaf.
        surface: the leaf's surface.
        glazed: whether its upper part is glazed.
        lift: whether it is an elevator door of two steel halves.
    """
    low, high = way.low + way.sill + 0.006, way.head - _GAP
    if high - low < 0.3:
        return
    state = way.state or "open"
    if lift:
        parts = _lift(way.width, high - low, state)
    elif way.leaf == "folding":
        parts = _folding(way.width, high - low, state, surface)
    elif way.leaf == "sliding":
        parts = _sliding(way.width, high - low, state, surface, glazed=glazed)
    else:
        yield from _hinged(way, low, high, state, surface, glazed=glazed)
        return
    for part in parts:
        yield way.placed(part, low)


def _hinged(
    way: WallOpening, low: float, high: float, state: str, surface: Surface, *, glazed: bool
) -> Iterator[Part]:
    """Yield a leaf that turns about a corner of the doorway."""
    first = way.swing[0] if way.swing else way.a
    at_a = math.dist(first, way.a) <= math.dist(first, way.b)
    hinge, to_latch = (np.array(way.a), way.along) if at_a else (np.array(way.b), -way.along)
    into = way.across * way.inward
    turn = _TURNS.get(state, 0.0)
    ahead = math.cos(turn) * to_latch + math.sin(turn) * into
    beside = math.sin(turn) * to_latch - math.cos(turn) * into
    start = hinge + into * way.thick / 2 + beside * THICK / 2 + ahead * _GAP
    yaw = math.atan2(ahead[1], ahead[0])
    for part in panelled_leaf(way.width - 2 * _GAP, high - low, surface, glazed=glazed):
        yield part.turned(yaw).moved(float(start[0]), low, float(start[1]))


def panelled_leaf(
    wide: float, high: float, surface: Surface, *, glazed: bool = False, handle: bool = True
) -> Iterator[Part]:
    """Yield a leaf of stiles and rails with two panels, and a handle near its far edge."""
    stile, top, bottom = min(0.11, wide / 5), 0.11, 0.2
    lock = (min(0.92, high * 0.45), min(1.06, high * 0.52))
    half = THICK / 2

    def board(x0: float, y0: float, x1: float, y1: float, deep: float, look: Surface) -> Part:
        return box((x0, y0, -deep), (x1, y1, deep), look)

    yield board(0, 0, stile, high, half, surface)
    yield board(wide - stile, 0, wide, high, half, surface)
    for y0, y1 in ((0.0, bottom), lock, (high - top, high)):
        yield board(stile, y0, wide - stile, y1, half, surface)
    inset = replace(surface, rgb=shade_colour(surface.rgb, 0.9))
    yield board(stile, bottom, wide - stile, lock[0], half - 0.012, inset)
    if glazed:
        yield board(stile, 1.55, wide - stile, 1.58, half - 0.01, surface)
        middle = wide / 2
        yield board(middle - 0.015, lock[1], middle + 0.015, high - top, half - 0.012, surface)
    else:
        yield board(stile, lock[1], wide - stile, high - top, half - 0.012, inset)
    if handle:
        yield from _handle(wide - stile / 2, (lock[0] + lock[1]) / 2 + 0.03, half)


def _handle(x: float, y: float, half: float) -> Iterator[Part]:
    for side in (-1.0, 1.0):
        near, far = sorted((side * half, side * (half + 0.008)))
        yield box((x - 0.022, y - 0.1, near), (x + 0.022, y + 0.08, far), STEEL)
        out = side * (half + 0.05)
        yield beam((x, y, side * half), (x, y, out), 0.02, STEEL, sides=6)
        yield beam((x + 0.008, y, out), (x - 0.12, y, out), 0.02, STEEL, sides=6)


def _sliding(w: float, high: float, state: str, look: Surface, *, glazed: bool) -> Iterator[Part]:
    """Yield the visible part of a leaf that slides into the wall."""
    shown = {"open": min(_SHOWN["open"], w / 2), "ajar": w * _SHOWN["ajar"]}.get(state, w)
    hidden = w - shown
    parts = [*panelled_leaf(w, high, look, glazed=glazed, handle=False)]
    for side in (-1.0, 1.0):
        near, far = sorted((side * THICK / 2, side * (THICK / 2 + 0.02)))
        parts.append(box((w - 0.07, 0.88, near), (w - 0.045, 1.2, far), STEEL))
    for part in parts:
        left = part.moved(-hidden, 0, 0)
        x, y, z = left.vertices.T
        if x.max() <= 0:
            continue
        yield replace(left, vertices=np.stack([np.maximum(x, 0), y, z], axis=1))


def _folding(wide: float, high: float, state: str, surface: Surface) -> Iterator[Part]:
    """Yield four narrow leaves, folded against each other, under a rail."""
    turn = _FOLDS.get(state, _CLOSED_FOLD)
    each = wide / _PANELS
    x, z = 0.0, -each * math.sin(turn) / 2
    for number in range(_PANELS):
        way = turn if number % 2 == 0 else -turn
        for part in panelled_leaf(each - 0.004, high - 0.03, surface, handle=False):
            thin = part.scaled(1, 1, 0.6)
            yield thin.turned(way).moved(x, 0, z)
        x += each * math.cos(turn)
        z += each * math.sin(way)
    yield box((0, high - 0.025, -0.02), (wide, high, 0.02), DARK_STEEL)
    knob = x - each * math.cos(turn) * 0.6
    yield beam((knob, 1.0, -0.06), (knob, 1.0, 0.06), 0.03, STEEL, sides=6)


def _lift(wide: float, high: float, state: str) -> Iterator[Part]:
    """Yield two steel halves that part in the middle."""
    half = wide / 2
    shown = {"open": 0.03, "ajar": half * 0.7}.get(state, half) - 0.002
    yield box((0, 0, -0.015), (shown, high, 0.015), STEEL)
    yield box((wide - shown, 0, -0.015), (wide, high, 0.015), STEEL)
