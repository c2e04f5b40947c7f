"""Ways through a link for a box, on rails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Point
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import Shape
from navloom.scenes.terrain import Stand
from navloom_worlds.motion.link_ground import Core, LinkGround
from navloom_worlds.motion.motions import Motion
from navloom_worlds.motion.rails import Grain, Rails

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BLOCKED = 0.1


class RailStage:
    """Ways for a box among exact stretches of rails.

    Args:
        ground: the ground about the link.
        lines: (n, 4) that it may not meet, (x, z) metres.
        reach: metres around the middle of the link that are looked at.
        grain: how fine rails lie.
    """

    def __init__(self, ground: LinkGround, lines: Floats, reach: float, grain: Grain) -> None:
        self._ground, self._lines, self._grain = ground, lines, grain
        square = Point(*ground.gap).buffer(reach, cap_style="square")
        self._within: BaseGeometry = shapely.intersection(ground.floor, square)

    def block(self, stand: Stand) -> None:
        """Try no more to be where a drive ended."""
        x, _, z = stand.position
        self._within = self._within.difference(Point(x, z).buffer(_BLOCKED, quad_segs=2))

    def hopeful(self) -> bool:
        """Whether one that needs half as much less on every side as rails lie apart would pass."""
        shape, less = self._ground.shape, self._grain.apart / 2
        if self._within.is_empty:
            return False
        slim = replace(shape, ahead=shape.ahead - less, aside=shape.aside - less)
        rails = self._rails(slim, loosely=True)
        (first, _), (last, _) = self._ends(rails)
        return bool(np.isin(rails.part[first], rails.part[last]).any())

    def ways(self, _: int) -> list[list[Motion]]:
        """The way of about the fewest motions, if there is one."""
        if self._within.is_empty:
            return []
        rails = self._rails(self._ground.shape)
        ends = self._ends(rails)
        way = rails.way(ends[0][0], ends[1][0])
        if not way:
            return []
        first, last = (
            along[numbers == way[k]] for (numbers, along), k in zip(ends, (0, -1), strict=True)
        )
        return [rails.motions(way, float(first[0]), last)]

    def _rails(self, shape: Shape, *, loosely: bool = False) -> Rails:
        turns, axis = not self._ground.mover.body.turning_radius, self._ground.axis
        return Rails(
            self._lines, shape, self._within, axis, self._grain, turns=turns, loosely=loosely
        )

    def _ends(self, rails: Rails) -> list[tuple[Ints, Floats]]:
        """Of each core, which stretches hold places of it, and where on them."""
        x0, z0, x1, z1 = self._within.bounds
        middle, reach = ((x0 + x1) / 2, (z0 + z1) / 2), max(x1 - x0, z1 - z0) / 2
        cores = (core.near(*middle, reach + self._grain.apart) for core in self._ground.cores)
        return [_on(rails, core, self._grain.headings) for core in cores]


def _on(rails: Rails, core: Core, headings: int) -> tuple[Ints, Floats]:
    """Which stretches hold places of a core, and where on them."""
    numbers, along = [np.zeros(0, np.int64)], [np.zeros(0)]
    any_ = core.headings < 0
    for k in range(headings):
        mine = any_ | (core.headings * headings == k * core.count)
        found, at = rails.held(k, core.places[mine])
        numbers.append(found[found >= 0])
        along.append(at[found >= 0])
    return np.concatenate(numbers), np.concatenate(along)
