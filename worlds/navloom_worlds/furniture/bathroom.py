"""Builders of bathroom fixtures: toilets, bidets, sinks and sink cabinets."""

from __future__ import annotations

import math
from collections.abc import Iterator

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import (
    BLACK,
    CERAMIC,
    CHROME,
    WATER,
    WHITE,
    Builder,
    contrasting,
    has_state,
    shade,
    size_of,
)
from navloom_worlds.furniture.furniture_parts import (
    basin,
    door,
    framed_hole,
    plinth,
    split_doors,
    tap,
)
from navloom_worlds.furniture.kitchen import kitchen_sink
from navloom_worlds.furniture.rounded_shapes import (
    egg,
    loft,
    oval,
    prism,
    ring_plate,
    rounded_box,
    slab,
    tube,
    wheel,
)
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, Surface, box, lathe

_LOW_TAP = {"high": 0.14, "reach": 0.12}
"""Size of a mixer tap on a basin's rim; it rises above the item's height."""


def toilet(item: Item) -> Iterator[Part]:
    """Yield the parts of a toilet: tank with button, bowl on a foot, seat, and lid (up if open)."""
    w, h, d = size_of(item)
    look = item_surface(item)
    near, far = -d / 2, d / 2
    seat = min(0.43, h * 0.54)
    tank = 0.17
    bowl_far = far - tank + 0.02
    rim = egg(w * 0.94, near, bowl_far)
    foot = egg(w * 0.55, near + d * 0.22, bowl_far + 0.06)
    neck = egg(w * 0.6, near + d * 0.16, bowl_far + 0.04)
    yield loft(foot, 0.0, neck, seat * 0.45, look)
    yield loft(neck, seat * 0.45, rim, seat - 0.05, look)
    yield loft(rim, seat - 0.05, rim, seat - 0.02, look)
    yield rounded_box(
        (-w / 2 + 0.01, seat - 0.04, far - tank), (w / 2 - 0.01, h - 0.03, far), 0.03, look
    )
    yield rounded_box(
        (-w / 2, h - 0.045, far - tank - 0.01), (w / 2, h - 0.008, far), 0.015, look, steps=1
    )
    yield wheel((0, h - 0.005, far - tank / 2), 0.025, 0.01, CHROME, axis="y", sides=12)
    lid_look = shade(look, 0.97)
    yield box((-w * 0.28, 0, far - tank - 0.02), (w * 0.28, seat - 0.02, far - 0.01), lid_look)
    hole = egg(w * 0.62, near + 0.08, bowl_far - 0.1)
    depth = egg(w * 0.3, near + 0.2, bowl_far - 0.16)
    yield ring_plate(rim, hole, seat - 0.02, look)
    yield loft(depth, seat - 0.2, hole, seat - 0.02, shade(look, 0.9))
    yield prism(depth, seat - 0.205, seat - 0.2, WATER, axis="y")
    seat_rim = egg(w * 0.96, near, bowl_far - 0.03)
    if has_state(item, "open"):
        yield ring_plate(seat_rim, hole, seat, lid_look)
        yield loft(seat_rim, seat - 0.018, seat_rim, seat, lid_look)
        lid = prism([(x, z - bowl_far + 0.03) for x, z in seat_rim], 0, 0.02, lid_look, axis="y")
        high = min(1.0, (h - seat - 0.02) / (bowl_far - 0.03 - near))
        raised = lid.scaled(1, 1, high).tilted(math.pi / 2 - 0.12)
        yield raised.moved(0, seat, far - tank - 0.035)
    else:
        under = shade(lid_look, 0.9)
        yield prism(seat_rim, seat - 0.018, seat - 0.002, under, axis="y", smooth=False)
        yield prism(seat_rim, seat, seat + 0.022, lid_look, axis="y")
        for s in (-1, 1):
            yield wheel((s * 0.07, seat + 0.015, bowl_far - 0.03), 0.014, 0.04, CHROME, sides=8)


def bidet(item: Item) -> Iterator[Part]:
    """Build a bidet: a low bowl like a toilet's, with a tap and no tank."""
    w, h, d = size_of(item)
    look = item_surface(item)
    near, far = -d / 2, d / 2
    top = h * 0.93
    rim = egg(w, near, far)
    yield loft(
        egg(w * 0.55, near + d * 0.25, far), 0, egg(w * 0.6, near + d * 0.2, far), top * 0.5, look
    )
    yield loft(egg(w * 0.6, near + d * 0.2, far), top * 0.5, rim, top - 0.05, look)
    yield loft(rim, top - 0.05, rim, top, look)
    hole = egg(w * 0.72, near + 0.06, far - 0.17)
    depth = egg(w * 0.4, near + 0.16, far - 0.26)
    yield ring_plate(rim, hole, top, look)
    yield loft(depth, top - 0.13, hole, top, shade(look, 0.93))
    yield prism(depth, top - 0.132, top - 0.13, shade(look, 0.93), axis="y")
    yield wheel((0, top - 0.128, far - d * 0.5), 0.02, 0.006, CHROME, axis="y", sides=8)
    small = tap(0, 0, 0, high=max(0.05, h - top), reach=0.1)
    yield from (p.moved(0, top, far - 0.08) for p in small)


def sink(item: Item) -> Iterator[Part]:
    """Build a pedestal sink with its tap; a kitchen sink if it is of stainless steel."""
    w, h, d = size_of(item)
    if item.material == "stainless steel":
        yield from kitchen_sink(item)
        return
    look = item_surface(item) if item.material else CERAMIC
    # A rounded block with an oval bowl in it.
    bowl_w, bowl_d, z, deep, steps = w * 0.8, d * 0.62, -d * 0.06, 0.13, 24
    outer = oval(w / 2, d / 2, 0.45, steps)
    under = [(x * 0.62, y * 0.62 + d * 0.1) for x, y in outer]
    hole = [(x, z + y) for x, y in oval(bowl_w / 2, bowl_d / 2, 1.0, steps)]
    yield loft(under, h - deep - 0.05, outer, h - 0.05, look)
    yield loft(outer, h - 0.05, outer, h, look)
    yield ring_plate(outer, hole, h, look)
    yield prism(under, h - deep - 0.052, h - deep - 0.05, look, axis="y")
    yield from basin(bowl_w, bowl_d, deep, h, shade(look, 0.94), z=z, sides=steps)
    column = [(0.13, 0.0), (0.11, 0.05), (0.085, h * 0.5), (0.1, h - 0.16)]
    yield lathe(column, shade(look, 0.97), sides=14).moved(0, 0, d / 2 - 0.17)
    yield from tap(0, h, d / 2 - 0.07, **_LOW_TAP)


def _under_basin(x0: float, x1: float, low: float, high: float, front: float) -> list[Part]:
    """Build the interior behind an open door: a dark back, a pipe with its bend, bottles."""
    z = front + 0.014
    middle = (x0 + x1) / 2
    bend = [
        (middle, high, z),
        (middle, (low + high) / 2, z),
        (middle + 0.04, (low + high) / 2 - 0.04, z),
        (middle + 0.08, (low + high) / 2 + 0.02, z),
    ]
    bottles = [(x0 + 0.05, (0.85, 0.6, 0.1)), (x0 + 0.12, (0.2, 0.45, 0.8))]
    return [
        box((x0, low, front + 0.015), (x1, high, front + 0.02), Surface((0.12, 0.11, 0.10))),
        tube(bend, 0.02, WHITE),
        *(slab(0.05, 0.012, low, low + 0.2, Surface(c), x=x, z=z) for x, c in bottles),
    ]


def sink_cabinet(item: Item) -> Iterator[Part]:
    """Build a cabinet with white basins let into its top, and taps behind them."""
    w, h, d = size_of(item)
    look = item_surface(item)
    front = -d / 2 + 0.03
    top = h - 0.03
    count = 2 if w > 1.05 else 1
    yield plinth(w - 0.04, d - 0.02, 0.08, BLACK)
    yield box((-w / 2, 0.08, front + 0.018), (w / 2, top, d / 2), shade(look, 0.9))
    first, *others = split_doors(w, 0.45)
    for x0, x1, hinge in others if has_state(item, "open") else [first, *others]:
        yield from door((x0, 0.08), (x1, top), front, contrasting(look, 0.08), hinge=hinge)
    if has_state(item, "open"):
        # The pipes leave no room to set the body back, so the open door is left out.
        yield from _under_basin(first[0] + 0.02, first[1] - 0.02, 0.1, top - 0.02, front)
    bowl_w, bowl_d = min(0.5, w / count * 0.7), d / 2 - 0.05
    middles = [0.0] if count == 1 else [-w / 4, w / 4]
    z = -d / 4
    # The rim of the bowls hides the seam of a top made of strips.
    for x in middles:
        hole = framed_hole(w / count, d, bowl_w * 0.96, bowl_d * 0.96, top, h, CERAMIC, z=z)
        yield from (part.moved(x, 0, 0) for part in hole)
    for x in middles:
        yield from basin(bowl_w, bowl_d, 0.12, h - 0.002, shade(CERAMIC, 0.94), x=x, z=z, sides=4)
        yield from tap(x, h, 0.05, **_LOW_TAP)


BY_NAME: dict[str, Builder] = {
    "toilet": toilet,
    "bidet": bidet,
    "sink": sink,
    "washbasin": sink,
    "basin": sink,
    "sink_cabinet": sink_cabinet,
    "wash_cabinet": sink_cabinet,
}
BY_SHAPE: dict[str, Builder] = {"toilet": toilet, "sink": sink}
