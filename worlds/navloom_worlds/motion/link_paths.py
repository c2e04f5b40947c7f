"""Path search through a link, from the simplest method to the most expensive: disc, then lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely
from scipy import ndimage
from shapely import Point
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import FloorPose, Footprint
from navloom_worlds.geometry.arrays import F64, I64, Bools
from navloom_worlds.motion.link_free_space import CLOSE, HEADINGS, NEAR, LinkFreeSpace, RegionCore
from navloom_worlds.motion.planar_obstacles import grid_distances
from navloom_worlds.motion.se2_lines import LineSpacing, PlannedMotion, SE2Lines


class BoxSearch:
    """Path search for a box-shaped body among exact free intervals at fixed headings.

    Args:
        space: free space around the link.
        lines: (n, 4) obstacle lines, (x, z) metres.
        far: metres around the middle of the link that are searched.
        grain: spacing of lines and headings.
    """

    def __init__(self, space: LinkFreeSpace, lines: F64, far: float, grain: LineSpacing) -> None:
        self._ground, self._lines, self._grain = space, lines, grain
        square = Point(*space.gap).buffer(far, cap_style="square")
        self._within: BaseGeometry = shapely.intersection(space.floor, square)

    def block(self, stand: FloorPose) -> None:
        """Exclude the surroundings of a pose where a drive ended."""
        x, _, z = stand.position
        self._within = self._within.difference(Point(x, z).buffer(_BLOCKED, quad_segs=2))

    def may_succeed(self) -> bool:
        """Check whether a box smaller by half the line spacing on every side would pass."""
        shape, less = self._ground.shape, self._grain.apart / 2
        if self._within.is_empty:
            return False
        slim = replace(shape, ahead=shape.ahead - less, aside=shape.aside - less)
        rails = self._rails(slim, loosely=True)
        (first, _), (last, _) = self._ends(rails)
        return bool(np.isin(rails.part[first], rails.part[last]).any())

    def ways(self, _: int) -> list[list[PlannedMotion]]:
        """Return the path with about the fewest motions; empty if no path exists."""
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

    def _rails(self, shape: Footprint, *, loosely: bool = False) -> SE2Lines:
        turns, axis = not self._ground.mover.body.turning_radius, self._ground.axis
        return SE2Lines(
            self._lines, shape, self._within, axis, self._grain, turns=turns, loosely=loosely
        )

    def _ends(self, rails: SE2Lines) -> list[tuple[I64, F64]]:
        """Return for each core the intervals that hold places of it, and where on them."""
        x0, z0, x1, z1 = self._within.bounds
        middle, reach = ((x0 + x1) / 2, (z0 + z1) / 2), max(x1 - x0, z1 - z0) / 2
        cores = (core.near(*middle, reach + self._grain.apart) for core in self._ground.cores)
        return [_on(rails, core, self._grain.headings) for core in cores]


def _on(rails: SE2Lines, core: RegionCore, headings: int) -> tuple[I64, F64]:
    """Return the intervals that hold places of a core, and where on them."""
    numbers, along = [np.zeros(0, np.int64)], [np.zeros(0)]
    any_ = core.headings < 0
    for k in range(headings):
        mine = any_ | (core.headings * headings == k * core.count)
        found, at = rails.held(k, core.places[mine])
        numbers.append(found[found >= 0])
        along.append(at[found >= 0])
    return np.concatenate(numbers), np.concatenate(along)


_PLAIN, _ROUGH = LineSpacing(0.05, 2), LineSpacing(0.04, 12)
_COARSE, _FINE = LineSpacing(0.02, HEADINGS), LineSpacing(0.005, HEADINGS)
"""Spacings of the search lines of a box: along and across, all headings, close by. The area swept
by a quarter turn is bounded by chords only, which may miss a post: the drive finds it."""
_BLOCKED = 0.1
"""Metres around the end of a failed drive that are excluded."""


class LinkPathSearch:
    """Staged path search for one body through one link."""

    def __init__(self, ground: LinkFreeSpace) -> None:
        self._ground = ground
        self._allowed = ground.allowed()

    def stages(self) -> Iterator[DiscSearch | BoxSearch]:
        """Yield ever more expensive searches; none where not even half the body would pass."""
        ground, shape, plane = self._ground, self._ground.shape, self._ground.plane
        if not all(len(core.places) for core in ground.cores) or not self.may_pass:
            return
        plane = plane.seen_from(self._slim)
        wide = self._slim & plane.disc(shape.outer)
        if self._joined(wide):
            yield DiscSearch(ground, wide)
        if shape.round:
            return
        if ground.fine == 1:
            yield BoxSearch(ground, plane.lines, NEAR, _PLAIN)
            yield BoxSearch(ground, plane.lines, NEAR, _ROUGH)
            return
        rails = BoxSearch(ground, plane.lines, NEAR, _COARSE)
        yield rails
        if rails.may_succeed():
            yield BoxSearch(ground, plane.lines, CLOSE, _FINE)

    @cached_property
    def may_pass(self) -> bool:
        """Return whether half the body's width could get from region to region at all."""
        at = self._ground.frame.places
        areas = [shapely.contains_xy(area, at[..., 0], at[..., 1]) for area in self._ground.areas]
        return _joined(self._slim, areas)

    @cached_property
    def _slim(self) -> Bools:
        """Places where a disc as wide as the body is free, or half a cell less."""
        ground = self._ground
        return self._allowed & ground.plane.disc(ground.shape.aside - ground.frame.cell / 2)

    def _joined(self, free: Bools) -> bool:
        """Check whether a disc's free places connect both cores."""
        return _joined(free, [self._ground.inside(end) for end in (0, 1)])


class DiscSearch:
    """Path search for the circle around a body, among places of a grid."""

    def __init__(self, ground: LinkFreeSpace, free: Bools) -> None:
        self._ground, self._free = ground, free

    def block(self, stand: FloorPose) -> None:
        """Exclude the surroundings of a pose where a drive ended."""
        self._free = self._free.copy()
        i, j = self._ground.frame.place(stand.position[0], stand.position[2])
        reach = round(_BLOCKED / self._ground.frame.cell)
        self._free[max(i - reach, 0) : i + reach + 1, max(j - reach, 0) : j + reach + 1] = False

    def ways(self, count: int) -> list[list[PlannedMotion]]:
        """Return paths from some places of the first region to the nearest one of the second."""
        starts, goals = (self._ground.inside(end) & self._free for end in (0, 1))
        if not _joined(self._free, (starts, goals)):
            return []
        metres, before = grid_distances(self._free, goals)
        found = np.flatnonzero(starts.ravel() & np.isfinite(metres))
        order = found[np.argsort(metres[found], kind="stable")]
        picked = dict.fromkeys(
            int(order[round(k * (len(order) - 1) / max(count - 1, 1) / 2)])
            for k in range(count if len(order) else 0)
        )
        return [self._motions(start, before) for start in picked]

    def _motions(self, start: int, before: I64) -> list[PlannedMotion]:
        """Return the path from a place to the goals, straight runs as one motion."""
        way = [start]
        while before[way[-1]] >= 0:
            way.append(int(before[way[-1]]))
        at = self._ground.frame.places.reshape(-1, 2)[way]
        turned = [k for k in range(1, len(at) - 1) if not _goes_on(*at[k - 1 : k + 2])]
        bends = [(float(x), float(z)) for x, z in at[[0, *turned, -1]]]
        headings = [math.atan2(b[0] - a[0], a[1] - b[1]) for a, b in pairwise(bends)]
        out = [PlannedMotion(*bends[0], headings[0])]
        for place, (x, z), heading in zip(bends, bends[1:], headings, strict=False):
            if heading != out[-1].heading:
                out.append(PlannedMotion(*place, heading))
            out.append(PlannedMotion(x, z, heading))
        return out


def _joined(free: Bools, ends: Sequence[Bools]) -> bool:
    """Check whether free places connect one of some places to one of others."""
    label, count = ndimage.label(free, structure=np.ones((3, 3)))
    held = [np.bincount(label[end & free], minlength=count + 1) > 0 for end in ends]
    return bool((held[0] & held[1])[1:].any())


def _goes_on(a: F64, b: F64, c: F64) -> bool:
    """Check whether c lies straight ahead of b as seen from a."""
    d, e = b - a, c - b
    return bool(abs(d[0] * e[1] - d[1] * e[0]) < 1e-9 and d @ e > 0)
