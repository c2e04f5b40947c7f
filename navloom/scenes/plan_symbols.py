"""What a thing looks like from above, by its shape kind: its outline, and a few strokes in it.

In the unit square: u from left to right, w from the front (-0.5) to the back (0.5) of the thing.
"""

from __future__ import annotations

import math
from functools import cache

from navloom.scenes.scene import Box, Item

Stroke = tuple[tuple[float, float], ...]
"""A line through points."""

_CORNERS: Stroke = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
_ROUND = frozenset({"ball", "basket", "bottle", "bowl", "cylinder", "lamp", "plant", "stool"})


def _oval(u: float, w: float, wide: float, deep: float, points: int = 20) -> Stroke:
    turns = [2 * math.pi * k / points for k in range(points + 1)]
    return tuple((u + wide / 2 * math.cos(t), w + deep / 2 * math.sin(t)) for t in turns)


def _frame(left: float, front: float, right: float, back: float) -> Stroke:
    return ((left, front), (right, front), (right, back), (left, back), (left, front))


@cache
def _strokes() -> dict[str, tuple[Stroke, ...]]:
    cross: tuple[Stroke, ...] = (((-0.5, -0.5), (0.5, 0.5)), ((-0.5, 0.5), (0.5, -0.5)))
    leaves = [
        (0.45 * math.cos(k * math.pi / 4), 0.45 * math.sin(k * math.pi / 4)) for k in range(8)
    ]
    return {
        "appliance": (((-0.5, -0.38), (0.5, -0.38)), ((-0.5, 0.5), (0.5, -0.38))),
        "bathtub": (_oval(0, 0, 0.84, 0.8), _oval(-0.36, 0, 0.06, 0.1)),
        "bed": (
            _frame(-0.42, 0.26, -0.04, 0.44),
            _frame(0.04, 0.26, 0.42, 0.44),
            ((-0.5, 0.16), (0.5, 0.16)),
            ((-0.5, 0.08), (0.5, 0.08)),
        ),
        "cabinet": (((0, -0.5), (0, 0.5)), ((-0.5, -0.36), (0.5, -0.36))),
        "chair": (_frame(-0.5, 0.3, 0.5, 0.5),),
        "desk": (_frame(0.2, -0.42, 0.44, 0.42),),
        "instrument": (((-0.5, -0.1), (0.5, -0.1)), _frame(-0.42, -0.45, 0.42, -0.2)),
        "lamp": (((-0.35, -0.35), (0.35, 0.35)), ((-0.35, 0.35), (0.35, -0.35))),
        "machine": (_oval(0, -0.05, 0.62, 0.62), ((-0.5, 0.38), (0.5, 0.38))),
        "plant": tuple(((0.0, 0.0), leaf) for leaf in leaves),
        "rug": (_frame(-0.44, -0.44, 0.44, 0.44),),
        "shelf": tuple(((u, -0.5), (u, 0.5)) for u in (-0.3, -0.1, 0.1, 0.3)),
        "shower": (*cross, _oval(0, 0, 0.16, 0.16)),
        "sink": (_oval(0, -0.06, 0.7, 0.66), ((0, 0.44), (0, 0.16))),
        "sofa": (
            ((-0.5, 0.26), (0.5, 0.26)),
            ((-0.38, -0.5), (-0.38, 0.26)),
            ((0.38, -0.5), (0.38, 0.26)),
            ((0, -0.5), (0, 0.26)),
        ),
        "stove": tuple(
            _oval(u, w, 0.34, 0.34) for u in (-0.23, 0.23) for w in (-0.23, 0.23)
        ),
        "toilet": (_frame(-0.5, 0.22, 0.5, 0.5), _oval(0, -0.14, 0.72, 0.7)),
        "vehicle": (
            _frame(-0.4, -0.22, 0.4, -0.1),
            _frame(-0.36, 0.26, 0.36, 0.34),
            ((-0.4, -0.1), (-0.36, 0.26)),
            ((0.4, -0.1), (0.36, 0.26)),
        ),
    }  # fmt: skip


def symbol(item: Item) -> tuple[Stroke, tuple[Stroke, ...]] | None:
    """A thing's outline and strokes on paper (x right, -z up, metres); None without a size."""
    if item.size is None:
        return None
    box = Box(center=item.position, size=item.size, yaw=item.yaw)
    corners = box.corners()
    if item.shape is None:
        return tuple((x, -z) for x, z in corners), ()
    (ax, az), (bx, bz), _, (dx, dz) = corners

    def placed(stroke: Stroke) -> Stroke:
        return tuple(
            (
                ax + (bx - ax) * (u + 0.5) + (dx - ax) * (w + 0.5),
                -(az + (bz - az) * (u + 0.5) + (dz - az) * (w + 0.5)),
            )
            for u, w in stroke
        )

    outline = _oval(0, 0, 1, 1)[:-1] if item.shape in _ROUND else _CORNERS
    return placed(outline), tuple(map(placed, _strokes().get(item.shape, ())))
