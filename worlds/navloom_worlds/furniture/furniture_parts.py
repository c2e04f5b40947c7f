"""Shared furniture parts: legs, drawers, doors with handles, carcasses, basins, taps.

All functions return parts in the frame of the item they belong to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from navloom_worlds.furniture.builder_tools import (
    CHROME,
    IRON,
    STEEL,
    contrasting,
    lightness,
    shade,
)
from navloom_worlds.furniture.rounded_shapes import rounded_box, slab, tube, wheel
from navloom_worlds.geometry.solids import Part, Surface, beam, box, cylinder, lathe

Pair = tuple[float, float]

GAP = 0.004
"""Gap between two fronts in metres, so that the seam is visible."""
THICK = 0.018
"""Thickness of a front in metres."""
HANDLE = 0.022
"""Distance in metres by which a handle projects from a front."""
AJAR = 1.25
"""Opening angle of an open door, in radians."""


def front_face_z(d: float) -> float:
    """Return z of the face of an item's fronts, such that handles stay within the item's depth."""
    return -d / 2 + HANDLE


def split_doors(w: float, about: float, least: int = 1) -> list[tuple[float, float, str]]:
    """Return door leaves side by side over a width: x of start and end, and the hinge's side.

    Args:
        w: the width.
        about: approximate width of one leaf.
        least: minimum number of leaves.
    """
    count = max(least, round(w / about))
    starts = [-w / 2 + w / count * k for k in range(count)]
    return [(x, x + w / count, "right" if k % 2 else "left") for k, x in enumerate(starts)]


def legs(
    w: float,
    d: float,
    high: float,
    thick: float,
    look: Surface,
    *,
    splay: float = 0.0,
    sides: int = 4,
    back: float = 0.0,
) -> list[Part]:
    """Build four legs at the corners of a footprint, within it.

    Args:
        w: width of the footprint.
        d: its depth.
        high: height of their tops.
        thick: their width.
        look: their surface.
        splay: inward offset of their tops.
        sides: 4 for square legs, more for round ones.
        back: distance by which the front ones are set back.
    """
    x, z = w / 2 - thick / 2, d / 2 - thick / 2
    near = -z + back
    return [
        beam(
            (sx * x, 0.0, z if sz > 0 else near),
            (sx * (x - splay), high, z - splay if sz > 0 else near + splay),
            thick,
            look,
            sides=sides,
        )
        for sx in (-1, 1)
        for sz in (-1, 1)
    ]


def handle(x: float, y: float, z: float, long: float, look: Surface, *, up: bool = False) -> Part:
    """Build a bar handle before a front, its middle at (x, y), its back at z."""
    half = long / 2
    if up:
        return box((x - 0.006, y - half, z - 0.022), (x + 0.006, y + half, z), look)
    return box((x - half, y - 0.006, z - 0.022), (x + half, y + 0.006, z), look)


def knob(x: float, y: float, z: float, look: Surface) -> Part:
    """Build a round knob before a front, its back at z."""
    return wheel((x, y, z - 0.011), 0.014, 0.022, look, axis="z", sides=8)


def handle_metal(look: Surface) -> Surface:
    """Return the metal of handles that contrasts with a front."""
    return IRON if lightness(look) > 0.55 else STEEL


def _seam(low: Pair, high: Pair, z: float, look: Surface) -> Part:
    """Build the dark strip visible between two fronts whose faces are at z."""
    return box((*low, z + 0.01), (*high, z + THICK - 0.001), shade(look, 0.35), sides="f")


def drawer(
    low: Pair,
    high: Pair,
    front: float,
    look: Surface,
    *,
    knobs: bool = False,
    pulled: float = 0.0,
    deep: float = 0.3,
) -> Iterator[Part]:
    """Build a drawer's front with its handle; if pulled out, with its box.

    Args:
        low: (x, y) of its front's lower corner.
        high: of its upper corner.
        front: z of the front's face when closed.
        look: its surface.
        knobs: knobs instead of a bar.
        pulled: distance by which it is pulled out.
        deep: depth of its box.
    """
    (x0, y0), (x1, y1) = low, high
    z = front - pulled
    metal = handle_metal(look)
    yield box((x0 + GAP, y0 + GAP, z), (x1 - GAP, y1 - GAP, z + 0.018), look)
    if not pulled:
        yield _seam(low, high, z, look)
    x, y, w = (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0
    if knobs and w > 0.6:
        yield from (knob(x + s * w / 4, y, z, metal) for s in (-1, 1))
    elif knobs:
        yield knob(x, y, z, metal)
    else:
        yield handle(x, y, z, min(0.16, w * 0.5), metal)
    if pulled:
        inside, far = contrasting(look, 0.15), z + deep
        top = y1 - 0.03
        yield box((x0 + 0.02, y0 + 0.02, z), (x0 + 0.03, top, far), inside)
        yield box((x1 - 0.03, y0 + 0.02, z), (x1 - 0.02, top, far), inside)
        yield box((x0 + 0.02, y0 + 0.02, z), (x1 - 0.02, y0 + 0.03, far), inside)


def door(
    low: Pair,
    high: Pair,
    front: float,
    look: Surface,
    *,
    hinge: str = "left",
    angle: float = 0.0,
    framed: bool = False,
    knobs: bool = False,
) -> Iterator[Part]:
    """Build a furniture door with its handle, opened outward about its hinge.

    Args:
        low: (x, y) of its lower corner.
        high: of its upper corner.
        front: z of its face when closed.
        look: its surface.
        hinge: ``left`` or ``right``: the item's own -x or +x.
        angle: opening angle in radians.
        framed: with a panel set into a frame.
        knobs: a knob instead of a bar.
    """
    (x0, y0), (x1, y1) = (low[0] + GAP, low[1] + GAP), (high[0] - GAP, high[1] - GAP)
    w, thick = x1 - x0, 0.018
    parts = []
    if framed:
        rim = min(0.06, w * 0.18)
        panel = contrasting(look, 0.12)
        parts += [
            box((x0, y0, 0), (x0 + rim, y1, thick), look),
            box((x1 - rim, y0, 0), (x1, y1, thick), look),
            box((x0 + rim, y0, 0), (x1 - rim, y0 + rim, thick), look),
            box((x0 + rim, y1 - rim, 0), (x1 - rim, y1, thick), look),
            box((x0 + rim, y0 + rim, 0.008), (x1 - rim, y1 - rim, thick - 0.002), panel),
        ]
    else:
        parts.append(box((x0, y0, 0), (x1, y1, thick), look))
    if not angle:
        parts.append(_seam(low, high, 0.0, look))
    metal = handle_metal(look)
    x = x1 - 0.04 if hinge == "left" else x0 + 0.04
    high_up = y0 + 0.95 < y1
    y = 1.0 if high_up and y0 < 0.9 < y1 - 0.1 else (y0 + y1) / 2
    if knobs:
        parts.append(knob(x, y, 0, metal))
    else:
        parts.append(handle(x, y, 0, min(0.18, (y1 - y0) * 0.4), metal, up=True))
    pivot = x0 if hinge == "left" else x1
    swing = angle if hinge == "left" else -angle
    for p in parts:
        yield p.moved(-pivot, 0, 0).turned(-swing).moved(pivot, 0, front)


def carcass(
    w: float,
    high: float,
    d: float,
    look: Surface,
    *,
    low: float = 0.0,
    board: float = 0.02,
    back: Surface | None = None,
    front: float | None = None,
) -> list[Part]:
    """Build a cupboard without fronts: sides, bottom, top and back.

    Args:
        w: its width.
        high: its upper side.
        d: its depth.
        look: its surface.
        low: its underside.
        board: thickness of its boards.
        back: the surface of its back.
        front: z where it begins, if not at -d / 2.
    """
    x, far = w / 2, d / 2
    z = -d / 2 if front is None else front
    return [
        box((-x, low, z), (-x + board, high, far), look),
        box((x - board, low, z), (x, high, far), look),
        box((-x + board, low, z), (x - board, low + board, far), look),
        box((-x + board, high - board, z), (x - board, high, far), look),
        box(
            (-x + board, low + board, far - 0.01),
            (x - board, high - board, far),
            back or shade(look, 0.8),
        ),
    ]


def tap(x: float, y: float, z: float, *, high: float = 0.2, reach: float = 0.15) -> list[Part]:
    """Build a mixer tap at (x, y, z) that reaches towards the front."""
    bend = [
        (x, y, z),
        (x, y + high * 0.7, z),
        (x, y + high * 0.95, z - reach * 0.25),
        (x, y + high * 0.95, z - reach * 0.75),
        (x, y + high * 0.7, z - reach),
    ]
    return [
        tube(bend, 0.022, CHROME),
        cylinder(0.022, 0, 0.02, CHROME, sides=8).moved(x, y, z),
        beam((x + 0.015, y + 0.05, z), (x + 0.06, y + 0.075, z), 0.012, CHROME),
    ]


def basin(
    w: float,
    d: float,
    deep: float,
    top: float,
    look: Surface,
    *,
    x: float = 0,
    z: float = 0,
    sides: int = 16,
) -> list[Part]:
    """Build the inside of a bowl let into a top, open above.

    Args:
        w: its width at the rim.
        d: its depth.
        deep: distance from rim to bottom.
        top: the rim's height.
        look: its surface.
        x: x of its centre.
        z: z of its centre.
        sides: number of sides; 4 gives a square bowl.
    """
    corner = math.sqrt(2) if sides == 4 else 1.0
    profile = [(0.0, 0.0), (0.75, 0.0), (0.92, 0.3), (1.0, 1.0)]
    bowl = lathe([(r * corner, y * deep) for r, y in profile], look, sides=sides)
    if sides == 4:
        bowl = Part(bowl.vertices, bowl.faces, look, smooth=False).turned(math.pi / 4)
    bowl = bowl.scaled(w / 2, 1, d / 2).moved(x, top - deep, z)
    return [bowl, cylinder(0.02, top - deep, top - deep + 0.004, CHROME, sides=8).moved(x, 0, z)]


def framed_hole(
    w: float,
    d: float,
    hole_w: float,
    hole_d: float,
    low: float,
    high: float,
    look: Surface,
    *,
    x: float = 0,
    z: float = 0,
) -> list[Part]:
    """Build a slab of w by d with a rectangular hole about (x, z)."""
    left, right = x - hole_w / 2, x + hole_w / 2
    near, far = z - hole_d / 2, z + hole_d / 2
    return [
        box((-w / 2, low, -d / 2), (left, high, d / 2), look),
        box((right, low, -d / 2), (w / 2, high, d / 2), look),
        box((left, low, -d / 2), (right, high, near), look),
        box((left, low, far), (right, high, d / 2), look),
    ]


def cushion(x: Pair, y: Pair, z: Pair, look: Surface, *, soft: float = 0.05) -> Part:
    """Build an upholstered block between two x, two y and two z."""
    return rounded_box((x[0], y[0], z[0]), (x[1], y[1], z[1]), soft, look)


def plinth(w: float, d: float, high: float, look: Surface, *, back: float = 0.05) -> Part:
    """Build the set-back base of fitted cupboards."""
    return slab(w, d - back, 0, high, look, z=back / 2)
