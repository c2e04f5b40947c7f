"""Where a body can turn on the spot, and the narrow places between, which it gets through straight.

A clearing is what hangs together of places with room for the circle around the body. A disc's
clearings are all that it can reach but for places hardly wider than itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from navloom.scenes.floor_graph import LONGEST
from navloom.scenes.parts import Point3
from navloom_worlds.geometry.walkable import joined
from navloom_worlds.motion.body_field import BodyField, reached
from navloom_worlds.motion.dilation import nearest_in
from navloom_worlds.motion.marching import Places, Spot, marched, taut

_SPARE = 0.036
"""Metres more than the circle needs: half a cell from corner to corner, so that what is straight
over such places is free in truth."""
_LEAST = 0.25
"""Square metres: a smaller clearing is passed by."""
_ACROSS = 3.0
"""Metres: a narrow place is no longer, from clearing to clearing."""
_TRIES = 12
"""Ways through a narrow place that are tried, the shortest first."""

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Clearings:
    """The clearings of a field.

    Attributes:
        ground: the field.
        places: its places, those with room to turn alone joined.
        label: (n,) int32, the clearing of each place; -1 for none.
    """

    ground: BodyField
    places: Places
    label: Ints

    @cached_property
    def numbers(self) -> list[int]:
        """The clearings there are, the largest first."""
        found, many = np.unique(self.label[self.label >= 0], return_counts=True)
        order = np.lexsort((found, -many))
        least = _LEAST / self.ground.grid.cell**2
        return [int(found[k]) for k in order if many[k] >= least]

    def area(self, clearing: int) -> float:
        """Square metres."""
        return float(np.count_nonzero(self.label == clearing)) * self.ground.grid.cell**2

    def middle(self, clearing: int) -> int:
        """The place of a clearing that has most room."""
        here = np.flatnonzero(self.label == clearing)
        return int(here[int(np.argmax(self.ground.clear[here]))])

    @cached_property
    def _tree(self) -> tuple[KDTree | None, Ints]:
        here = np.flatnonzero(self.label >= 0).astype(np.int32)
        found = self.ground.found
        at = np.stack([found.x[here], found.z[here]], axis=1)
        return (KDTree(at) if len(here) else None), here

    def near(self, position: Point3, reach: float, storey: float) -> Iterator[int]:
        """The places of clearings around a position, the nearest first.

        Args:
            position: on the floor.
            reach: how far, in metres.
            storey: how much higher or lower, in metres.
        """
        tree, here = self._tree
        if tree is None:
            return
        found = self.ground.found
        x, y, z = position
        there = here[np.sort(np.array(tree.query_ball_point((x, z), reach), dtype=np.int64))]
        there = there[np.abs(found.height[there] - y) <= storey]
        far = np.hypot(found.x[there] - x, found.z[there] - z)
        yield from there[np.argsort(np.round(far, 6), kind="stable")].tolist()

    def way(self, starts: Sequence[Spot], ends: Sequence[Spot]) -> list[Spot] | None:
        """The shortest way within clearings from some spots to others, no leg too long."""
        found = marched(self.places, starts, [end[0] for end in ends], strict=True)
        far, turns = min(
            (reached(self.places, found, end) for end in ends), key=lambda each: each[0]
        )
        if not np.isfinite(far):
            return None
        out: list[Spot] = []
        for a, b in pairwise(taut(self.places, turns[::-1])):
            under = self.places.under(a[0], a[1:], b[1:])
            far = float(np.hypot(b[1] - a[1], b[2] - a[2])) * self.ground.grid.cell
            count = int(np.ceil(far / LONGEST - 1e-6))
            out.append(a)
            for k in range(1, count):
                place, _ = min(under, key=lambda each: abs(each[1] - k / count))
                out.append((place, float(self.places.x[place]), float(self.places.z[place])))
            last = b
        return [*out, last] if out else None

    def narrows(self, passes: Callable[[Point3, Point3], bool]) -> Iterator[tuple[int, int]]:
        """Places on either side of narrow places that the body passes straight.

        Args:
            passes: whether it gets from one to the other and back.
        """
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(self.numbers)
        found = sorted(self._facing(), key=lambda each: each[0])
        for _, a, b, pairs in found:
            if nx.has_path(graph, a, b):
                continue
            for p, q in pairs:
                if passes(self.ground.position(p), self.ground.position(q)):
                    graph.add_edge(a, b)
                    yield p, q
                    break

    def _facing(self) -> Iterator[tuple[float, int, int, list[tuple[int, int]]]]:
        """Clearings near each other: how near, which, and pairs of places that may be ends."""
        found, part = self.ground.found, self.ground.part
        at = np.stack([found.x, found.height * 2, found.z], axis=1)
        trees = {k: np.flatnonzero(self.label == k) for k in self.numbers}
        kept = {k: KDTree(at[here]) for k, here in trees.items()}
        for i, a in enumerate(self.numbers):
            for b in self.numbers[i + 1 :]:
                if part[trees[a][0]] != part[trees[b][0]]:
                    continue
                metres, which = nearest_in(kept[b], at[trees[a]], _ACROSS)
                near = np.flatnonzero(np.isfinite(metres))
                near = near[np.argsort(np.round(metres[near], 3), kind="stable")]
                pairs = []
                for k in near.tolist():
                    p, q = int(trees[a][k]), int(trees[b][int(which[k])])
                    one, other = self.ground.spot_of(p), self.ground.spot_of(q)
                    if self.ground.places.sees(p, one[1:], q, other[1:]) >= 0:
                        pairs.append((p, q))
                    if len(pairs) >= _TRIES or metres[k] > metres[near[0]] + 0.5:
                        break
                if pairs:
                    yield float(metres[near[0]]), a, b, pairs


def clearings_of(ground: BodyField, radius: float) -> Clearings:
    """The clearings of a body.

    Args:
        ground: its field.
        radius: of the circle around it, in metres.
    """
    places = ground.roomy(radius + _SPARE)
    wide = ground.clear >= radius + _SPARE
    _, part = connected_components(joined(places.beside, places.beside >= 0), directed=False)
    return Clearings(ground, places, np.where(wide, part, -1).astype(np.int32))
