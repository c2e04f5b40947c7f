"""Distances over a scene, computed once and looked up ever after.

``hop_table(scene)`` is all pairs of H (hops; ties broken by metres); ``metre_table(scene, metric)``
all pairs of G under ``metric="2d"`` (NavCraft) or ``"3d"`` (R2R). A disconnected graph is fine:
what cannot be reached is at infinity. Tables are kept for as long as their scene is alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from navloom.scenes.scene import Scene

Metric = Literal["2d", "3d"]
T = TypeVar("T")
_HOP = 1e6
"""A hop outweighs any metres on the way, so metres only break ties."""


def per_scene(scene: Scene, key: str, make: Callable[[], T]) -> T:
    """Make something once per scene and keep it as long as the scene lives.

    Args:
        scene: the scene it belongs to.
        key: its name among the scene's derived things.
        make: computes it; called at most once per scene and key.
    """
    # A frozen model still has a __dict__ (cached_property uses it), and pydantic compares fields
    # alone, so what is kept here never touches equality or what is written to disk.
    kept: dict[str, Any] = scene.__dict__.setdefault("_derived", {})
    if key not in kept:
        kept[key] = make()
    value: T = kept[key]
    return value


@dataclass(frozen=True)
class DistanceTable:
    """All-pairs shortest paths over G.

    Attributes:
        nodes: viewpoint ids; row and column i belong to ``nodes[i]``.
        index: the row of each viewpoint id.
        metres: (n, n) shortest distances, ``inf`` where there is no way.
        before: (n, n) predecessor of column on the way from row, negative where there is none.
    """

    nodes: tuple[str, ...]
    index: dict[str, int]
    metres: NDArray[np.float64]
    before: NDArray[np.int32]

    def distance(self, a: str, b: str) -> float:
        """Metres from viewpoint a to viewpoint b; ``inf`` where there is no way."""
        return float(self.metres[self.index[a], self.index[b]])

    def path(self, a: str, b: str) -> list[str] | None:
        """Viewpoints from a to b, both included; None where there is no way."""
        return _walk_back(self.nodes, self.before, self.index[a], self.index[b], self.metres)


@dataclass(frozen=True)
class HopTable:
    """All-pairs shortest paths over H: fewest hops, and among those the fewest metres.

    Attributes:
        nodes: region ids; row and column i belong to ``nodes[i]``.
        index: the row of each region id.
        hops: (n, n) hop counts, -1 where there is no way.
        before: (n, n) predecessors, negative where there is none.
    """

    nodes: tuple[str, ...]
    index: dict[str, int]
    hops: NDArray[np.int32]
    before: NDArray[np.int32]

    def distance(self, a: str, b: str) -> int | None:
        """Hops from region a to region b; None where there is no way."""
        hops = int(self.hops[self.index[a], self.index[b]])
        return None if hops < 0 else hops

    def path(self, a: str, b: str) -> list[str] | None:
        """Regions from a to b, both included; None where there is no way."""
        return _walk_back(self.nodes, self.before, self.index[a], self.index[b], self.hops)


def _walk_back(
    nodes: tuple[str, ...], before: NDArray[np.int32], a: int, b: int, reach: NDArray[Any]
) -> list[str] | None:
    if a != b and not (0 <= reach[a, b] < math.inf):
        return None
    back = [b]
    while back[-1] != a:
        back.append(int(before[a, back[-1]]))
    return [nodes[i] for i in reversed(back)]


def hop_table(scene: Scene) -> HopTable:
    """The all-pairs table over H, made on first use."""

    def make() -> HopTable:
        nodes, index, cost, before = _all_pairs(
            scene.region_graph(), lambda data: _HOP + data["metres"]
        )
        finite = np.isfinite(cost)
        hops = np.full(cost.shape, -1, dtype=np.int32)
        hops[finite] = np.floor(cost[finite] / _HOP).astype(np.int32)
        return HopTable(nodes, index, hops, before)

    return per_scene(scene, "hop_table", make)


def metre_table(scene: Scene, metric: Metric = "2d") -> DistanceTable:
    """The all-pairs table over G, made on first use.

    Args:
        scene: the scene.
        metric: ``"2d"`` weighs an edge by its length on the ground plane (CoNavBench 3.1.3),
            ``"3d"`` by its length in space (R2R).
    """

    def make() -> DistanceTable:
        weight = "metres_2d" if metric == "2d" else "metres_3d"
        return DistanceTable(*_all_pairs(scene.navigation_graph(), lambda data: data[weight]))

    return per_scene(scene, f"metre_table_{metric}", make)


def _all_pairs(
    graph: nx.Graph[str], weight: Callable[[dict[str, Any]], float]
) -> tuple[tuple[str, ...], dict[str, int], NDArray[np.float64], NDArray[np.int32]]:
    nodes = tuple(graph)
    index = {node: i for i, node in enumerate(nodes)}
    n = len(nodes)
    if n == 0:
        return nodes, index, np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int32)
    edges = [(index[a], index[b], weight(data)) for a, b, data in graph.edges(data=True)]
    rows = np.array([i for i, _, _ in edges], dtype=np.int64)
    columns = np.array([j for _, j, _ in edges], dtype=np.int64)
    # csgraph reads a stored zero as "no edge": two viewpoints above one another are 1e-12 m apart.
    weights = np.maximum(np.array([w for _, _, w in edges], dtype=np.float64), 1e-12)
    matrix = csr_array((weights, (rows, columns)), shape=(n, n))
    cost, before = dijkstra(matrix, directed=False, return_predecessors=True)
    return nodes, index, cost, before.astype(np.int32)
