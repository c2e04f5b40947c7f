"""What stands in a body's way at some height: triangles cut to a band and seen from above.

A triangle that reaches into a band of heights is cut to it; what is left is a polygon, and its
sides seen from above are lines that nothing may cross. That is exact for every triangle, however it
is tilted. Triangles are found by square cells of the ground plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.mesh import SceneMesh

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
_CELL = 0.5
_SAME = 1e4
"""One over the metres within which two lines are one."""
_SHORT = 1e-5
_UPRIGHT = 1e-12
"""Twice the square metres that a triangle covers at least which is not upright."""
_MIXED = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5],
    dtype=np.uint64,
)
_MOST = 4_000
"""Cells along a side; larger scenes have larger cells."""


@dataclass(frozen=True, eq=False)
class Lines:
    """What stands in the way, seen from above.

    Attributes:
        ends: (n, 4) x0, z0, x1, z1 in metres.
        owners: (n,) whose each is.
    """

    ends: Floats
    owners: Ints

    @cached_property
    def low(self) -> Floats:
        """(2, n) the least x and z of each."""
        return np.minimum(self.ends[:, :2], self.ends[:, 2:]).T.copy()

    @cached_property
    def high(self) -> Floats:
        """(2, n) the greatest."""
        return np.maximum(self.ends[:, :2], self.ends[:, 2:]).T.copy()


class Obstacles:
    """A mesh's triangles by the cell that they lie over.

    Args:
        mesh: the triangles.
    """

    def __init__(self, mesh: SceneMesh) -> None:
        self._corners = mesh.vertices[mesh.faces].astype(np.float64)
        self._owners = mesh.owners
        self._low = self._corners.min(axis=1)
        self._high = self._corners.max(axis=1)
        if not len(self._corners):
            self._low = self._high = np.zeros((1, 3))
        self._first = self._low.min(axis=0)[[0, 2]]
        extent = self._high.max(axis=0)[[0, 2]] - self._first
        self._cell = max(_CELL, float(extent.max()) / _MOST)
        self._wide, self._deep = (int(each / self._cell) + 1 for each in extent)
        self._start: NDArray[np.int64]
        self._held: Ints
        self._start, self._held = self._hashed()

    def _hashed(self) -> tuple[NDArray[np.int64], Ints]:
        low = ((self._low[:, [0, 2]] - self._first) / self._cell).astype(np.int64)
        high = ((self._high[:, [0, 2]] - self._first) / self._cell).astype(np.int64)
        wide = high - low + 1
        many = wide[:, 0] * wide[:, 1]
        faces = np.repeat(np.arange(len(many), dtype=np.int32), many)
        place = np.arange(len(faces)) - np.repeat(np.cumsum(many) - many, many)
        i = low[faces, 0] + place // wide[faces, 1]
        j = low[faces, 1] + place % wide[faces, 1]
        cell = i * self._deep + j
        order = np.argsort(cell, kind="stable")
        start = np.searchsorted(cell[order], np.arange(self._wide * self._deep + 1))
        return start, faces[order]

    def within(self, x0: float, z0: float, x1: float, z1: float) -> NDArray[np.int64]:
        """The triangles that may lie over a rectangle of the ground plane."""
        first, cell = self._first, self._cell
        i0, i1 = (int((x - first[0]) // cell) for x in (x0, x1))
        j0, j1 = (int((z - first[1]) // cell) for z in (z0, z1))
        i0, j0 = max(i0, 0), max(j0, 0)
        i1, j1 = min(i1, self._wide - 1), min(j1, self._deep - 1)
        if i0 > i1 or j0 > j1:
            return np.zeros(0, dtype=np.int64)
        rows = np.arange(i0, i1 + 1) * self._deep
        held = [self._held[self._start[row + j0] : self._start[row + j1 + 1]] for row in rows]
        # In order, those of several cells once: np.unique would take four times as long.
        each = np.sort(np.concatenate(held)).astype(np.int64)
        faces = each[np.append(True, each[1:] != each[:-1])[: len(each)]]
        low, high = self._low[faces], self._high[faces]
        over = (low[:, 0] <= x1) & (high[:, 0] >= x0) & (low[:, 2] <= z1) & (high[:, 2] >= z0)
        found: NDArray[np.int64] = faces[over]
        return found

    def over(self, x: float, y: float, z: float) -> tuple[int, float]:
        """The triangle that is met first straight above a point, and its y there; -1 for none."""
        faces = self.within(x, z, x, z)
        corners = self._corners[faces]
        at = corners[..., [0, 2]] - np.array([x, z])
        # Twice the areas that the point makes with each side, seen from above.
        ends = at[:, [1, 2, 0]], at[:, [2, 0, 1]]
        shares = ends[0][..., 0] * ends[1][..., 1] - ends[0][..., 1] * ends[1][..., 0]
        area = shares.sum(axis=1)
        held = np.abs(area) > _UPRIGHT
        held &= ((shares >= 0) | (area < 0)[:, None]).all(axis=1)
        held &= ((shares <= 0) | (area > 0)[:, None]).all(axis=1)
        found = np.flatnonzero(held)
        heights = (shares[found] * corners[found, :, 1]).sum(axis=1) / area[found]
        heights[heights < y] = np.inf
        if not len(found) or heights.min() == np.inf:
            return -1, np.inf
        first = int(heights.argmin())
        return int(faces[found[first]]), float(heights[first])

    def owners(self, faces: NDArray[np.int64]) -> Ints:
        """Whose triangles are."""
        return self._owners[faces]

    def top(self, faces: NDArray[np.int64]) -> Floats:
        """The greatest y of triangles."""
        top: Floats = self._high[faces, 1]
        return top

    def lines(self, faces: NDArray[np.int64], low: Floats, high: float, owners: Ints) -> Lines:
        """Triangles cut to a band of heights, each line once.

        Args:
            faces: which.
            low: (n,) y of where the band begins for each.
            high: y of where it ends.
            owners: (n,) whose each is said to be.
        """
        ends, of = self._cut(faces, low, high)
        return _distinct(ends, owners[of])

    def cut(self, faces: NDArray[np.int64], low: Floats, high: float) -> Floats:
        """The ends (n, 4) of such lines, some of them several times."""
        return self._cut(faces, low, high)[0]

    def _cut(
        self, faces: NDArray[np.int64], low: Floats, high: float
    ) -> tuple[Floats, NDArray[np.int64]]:
        """The ends of lines, and which of the faces each is of."""
        of = np.flatnonzero((self._high[faces, 1] > low) & (self._low[faces, 1] < high))
        faces, low = faces[of], low[of]
        corners = self._corners[faces]
        top = np.full(len(faces), high)
        found: list[Floats] = []
        whose: list[NDArray[np.int64]] = []
        crossings: dict[str, list[tuple[Floats, NDArray[np.bool_]]]] = {"low": [], "high": []}
        for a, b in ((0, 1), (1, 2), (2, 0)):
            p, q = corners[:, a], corners[:, b]
            rise = q[:, 1] - p[:, 1]
            by = np.where(np.abs(rise) < 1e-12, 1.0, rise)
            shares = {"low": (low - p[:, 1]) / by, "high": (top - p[:, 1]) / by}
            first = np.where(rise > 0, shares["low"], shares["high"])
            last = np.where(rise > 0, shares["high"], shares["low"])
            level = np.abs(rise) < 1e-12
            inside = (p[:, 1] >= low) & (p[:, 1] <= top)
            first = np.where(level, np.where(inside, 0.0, 2.0), np.maximum(first, 0.0))
            last = np.where(level, 1.0, np.minimum(last, 1.0))
            keep = first <= last
            step = (q - p)[:, [0, 2]]
            start = p[:, [0, 2]] + first[:, None] * step
            end = p[:, [0, 2]] + last[:, None] * step
            found.append(np.concatenate([start, end], axis=1)[keep])
            whose.append(of[keep])
            for name, share in shares.items():
                crossed = ~level & (share >= 0) & (share <= 1)
                crossings[name].append((p[:, [0, 2]] + share[:, None] * step, crossed))
        for three in crossings.values():
            for (p, one), (q, two) in (
                (three[0], three[1]),
                (three[1], three[2]),
                (three[2], three[0]),
            ):
                both = one & two
                found.append(np.concatenate([p, q], axis=1)[both])
                whose.append(of[both])
        return np.concatenate(found), np.concatenate(whose)


def _distinct(ends: Floats, owners: Ints) -> Lines:
    """Lines once each, without those that are points of others."""
    whole = np.round(ends * _SAME).astype(np.int64)
    turned = (whole[:, 0] > whole[:, 2]) | (
        (whole[:, 0] == whole[:, 2]) & (whole[:, 1] > whole[:, 3])
    )
    whole = np.where(turned[:, None], whole[:, [2, 3, 0, 1]], whole)
    # Four numbers as one, since rows compare slowly; two of 2**64 hardly ever are the same.
    key = (whole.astype(np.uint64) * _MIXED).sum(axis=1, dtype=np.uint64)
    _, kept = np.unique(key ^ (key >> np.uint64(29)), return_index=True)
    kept.sort()
    ends, owners = ends[kept], owners[kept]
    long = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]) > _SHORT
    return Lines(np.ascontiguousarray(ends[long]), owners[long])
