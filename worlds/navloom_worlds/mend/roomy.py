"""Ways on which a body keeps from things, and turns where it has room: else it goes straight.

Between the places of a field it costs more to be where the circle around the body would stick out.
The cheapest way is cut into straight lines that end, where it can be, at places with room to turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from navloom.scenes.bodies import inner, outer
from navloom.scenes.distances import per_scene
from navloom.scenes.parts import Point3
from navloom.scenes.scene import Scene
from navloom_worlds.motion.body_field import BodyField

_TIGHT = 6.0
"""How much more a metre costs where there is no more room than half the width."""
_AIR = 0.1
"""Metres that a body that need not turn, a disc, keeps from things where it can."""
_MOST_LAYERS = 40
_SHARES = (1.0, 0.7, 0.4)
"""What counts as room to turn, as a share of what the circle needs: the first that works."""


class Roomy:
    """A field with how much more room each place has than half the body's width.

    Args:
        scene: whose floors tell storeys apart.
        field: of a body.
    """

    def __init__(self, scene: Scene, field: BodyField) -> None:
        self.field = field
        self.cell = field.grid.cell
        self.needed = max(_AIR, outer(field.body) - inner(field.body))
        self.along, self.across = np.divmod(field.found.cell, field.grid.deep)
        heights = np.array(sorted({floor.height for floor in scene.floors}))[:_MOST_LAYERS]
        layer = np.searchsorted(heights, field.found.height + 0.5 * _storey(heights)) - 1
        self.layer = np.clip(layer, 0, len(heights) - 1)
        shape = (len(heights), self.along.max(initial=0) + 3, self.across.max(initial=0) + 3)
        self.at = np.full(shape, -1, dtype=np.int32)
        self.at[self.layer, self.along + 1, self.across + 1] = np.arange(len(field))
        self.spare: NDArray[np.float64] = field.clear - inner(field.body)
        self.graph = self._graph()

    def _graph(self) -> csr_array:
        beside = self.field.places.beside
        rows, sides = np.nonzero(beside >= 0)
        columns = beside[rows, sides]
        short = np.clip(1 - self.spare / max(self.needed, 1e-9), 0, 1)
        cost = self.cell * (1 + _TIGHT * short[columns])
        return csr_array((cost, (rows, columns)), shape=(len(self.field),) * 2)

    def ways(self, begin: Point3, end: Point3) -> Iterator[tuple[Point3, ...]]:
        """Lines of points from a position to another, the most careful first; none without way."""
        first, last = self.field.at(begin), self.field.at(end)
        if first < 0 or last < 0:
            return
        _, before = dijkstra(
            self.graph, directed=True, indices=np.array(first), return_predecessors=True
        )
        here, run = last, [last]
        while here != first and before[here] >= 0:
            here = int(before[here])
            run.append(here)
        if here != first:
            return
        run.reverse()
        for share in _SHARES:
            turns = self._turns(run, share * self.needed)
            yield (begin, *(self.field.position(each) for each in turns[1:-1]), end)

    def _turns(self, run: list[int], room: float) -> list[int]:
        """The places at which a way is cut."""
        kept, i = [run[0]], 0
        while i < len(run) - 1:
            seen = [j for j in self._ahead(run, i) if self._straight(run, i, j)]
            wide = [j for j in seen if self.spare[run[j]] >= room - 1e-9]
            i = max(wide or seen or [i + 1])
            kept.append(run[i])
        return kept

    def _ahead(self, run: list[int], i: int) -> list[int]:
        far = range(i + 2, len(run))
        return [j for j in far if (j - i) % 3 == 2 or j == len(run) - 1]

    def _straight(self, run: list[int], i: int, j: int) -> bool:
        """Whether a straight line has as much room as the way that it cuts off."""
        a, b = run[i], run[j]
        if self.layer[a] != self.layer[b]:
            return False
        count = max(2, math.ceil(abs(self.along[b] - self.along[a])), 2 * (j - i) // 2)
        u = np.rint(np.linspace(self.along[a], self.along[b], 2 * count)).astype(int) + 1
        w = np.rint(np.linspace(self.across[a], self.across[b], 2 * count)).astype(int) + 1
        on = self.at[self.layer[a], u, w]
        if (on < 0).any():
            return False
        least = min(float(self.spare[run[i : j + 1]].min()), self.needed)
        return bool(self.spare[on].min() >= least - self.cell / 2)


def _storey(heights: NDArray[np.float64]) -> float:
    return float(np.diff(heights).min()) if len(heights) > 1 else 1.0


def roomy(scene: Scene, field: BodyField) -> Roomy:
    """The places of a body's field with their room; made once per scene and body."""
    key = f"mend:roomy {field.body.model_dump_json()}"
    return per_scene(scene, key, lambda: Roomy(scene, field))
