"""Ways up and down stairs in the middle: a long body does not get round where its middle could."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.parts import Point3
from navloom.scenes.scene import Scene
from navloom_worlds.motion.stair_drive import rounded

BENDS = (0.5, 0.35, 0.7, 0.0)
"""Metres before a bend of stairs from which it is cut, as tried one after the other."""
_NEAR = 0.8
"""Metres from the foot and the head of stairs at which a way comes by that leads over them."""
_STEP = 0.05


def in_the_middle(scene: Scene, way: Sequence[Point3], bend: float) -> list[Point3]:
    """A way with the middle line of each flight in place of what leads over it.

    Args:
        scene: whose stairs are known.
        way: points on the floor.
        bend: metres before a bend from which it is cut.
    """
    points = list(way)
    for flight in scene.stairs:
        line = list(dict.fromkeys(flight.line))
        dense, number = _dense(points)
        if len(line) < 2 or not len(dense):
            continue
        far = [np.linalg.norm(dense - end, axis=1) for end in (line[0], line[-1])]
        ends, off = [int(np.argmin(each)) for each in far], max(float(each.min()) for each in far)
        if off > _NEAR or ends[0] == ends[1]:
            continue
        over = rounded(line, bend)
        first, last = min(ends), max(ends)
        before = [points[k] for k in range(number[first] + 1)]
        after = [points[k] for k in range(number[last] + 1, len(points))]
        points = [*before, *(over if ends[0] < ends[1] else over[::-1]), *after]
    return points


def _dense(points: Sequence[Point3]) -> tuple[NDArray[np.float64], list[int]]:
    """Points every few centimetres, and after which of the way's each lies."""
    found, number = list[Point3](), list[int]()
    for k, (each, leg) in enumerate(_legs(points)):
        found += each
        number += [k] * leg
    return np.array(found).reshape(-1, 3), number


def _legs(points: Sequence[Point3]) -> Iterator[tuple[list[Point3], int]]:
    for a, b in pairwise(points):
        count = max(1, math.ceil(math.dist(a, b) / _STEP))
        at = np.array(a) + np.arange(count)[:, None] / count * (np.array(b) - np.array(a))
        yield [(float(x), float(y), float(z)) for x, y, z in at], count
