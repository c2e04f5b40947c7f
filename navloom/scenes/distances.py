"""Shortest-path tables of a scene, per-scene caching, and headings between points.

``hop_table(scene)`` holds all pairs of H (hops; ties broken by metres). ``metre_table(scene,
metric)`` holds all pairs of G under ``metric="2d"`` (NavCraft) or ``"3d"`` (R2R). Graphs may be
disconnected: unreachable pairs are at infinity. Tables are kept as long as their scene is alive.

Headings and elevations are in radians; heading 0 looks along -z and grows clockwise seen from
above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from itertools import pairwise
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from navloom.scenes.scene import Point3, Scene, distance_3d

Metric = Literal["2d", "3d"]
P = ParamSpec("P")
T = TypeVar("T")
_HOP = 1e6
"""Cost of a hop: it outweighs any metres of a path, so metres only break ties."""


SECTOR_RAD = math.radians(45)
STEEP_RAD = math.radians(12)
"""Elevation from which an edge counts as up or down. Of 10,274 directed edges of 25 Matterport
scans 93 % rise or fall by less than 10 degrees and 6 % by more than 12. Hardly any lie between
uneven floors and stairs."""
_SAME = 1e-9


def scene_cached(scene: Scene, key: Hashable, make: Callable[[], T]) -> T:
    """Compute a value once per scene and cache it as long as the scene lives.

    Args:
        scene: the scene it belongs to.
        key: its name among the scene's cached values.
        make: computes it; called at most once per scene and key.
    """
    # A frozen model still has a __dict__ (cached_property uses it). Pydantic compares and writes
    # fields only, so cached values affect neither equality nor files.
    kept: dict[Hashable, Any] = scene.__dict__.setdefault("_derived", {})
    if key not in kept:
        kept[key] = make()
    value: T = kept[key]
    return value


def cached_on_scene(make: Callable[Concatenate[Scene, P], T]) -> Callable[Concatenate[Scene, P], T]:
    """Return the function with results cached by scene and arguments (:func:`scene_cached`)."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def kept(scene: Scene, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (name, *args, *sorted(kwargs.items()))
        return scene_cached(scene, key, lambda: make(scene, *args, **kwargs))

    return kept


def drop_cached(scene: Scene, key: Hashable) -> None:
    """Drop a value that :func:`scene_cached` cached; it is computed again on the next use."""
    scene.__dict__.get("_derived", {}).pop(key, None)


@cached_on_scene
def scene_hash(scene: Scene) -> str:
    """Return a SHA-256 of a scene's whole content, computed once per scene."""
    return sha256(scene.model_dump_json().encode()).hexdigest()


@dataclass(frozen=True)
class DistanceTable:
    """All-pairs shortest paths over G.

    Attributes:
        nodes: viewpoint ids; row and column i belong to ``nodes[i]``.
        index: the row of each viewpoint id.
        metres: (n, n) shortest distances, ``inf`` for unreachable pairs.
        before: (n, n) predecessor of column on the path from row, negative for none.
    """

    nodes: tuple[str, ...]
    index: dict[str, int]
    metres: NDArray[np.float64]
    before: NDArray[np.int32]

    def distance(self, a: str, b: str) -> float:
        """Return metres from viewpoint a to viewpoint b; ``inf`` if unreachable."""
        return float(self.metres[self.index[a], self.index[b]])

    def path(self, a: str, b: str) -> list[str] | None:
        """Return the viewpoints from a to b, both included; None if unreachable."""
        return _walk_back(self.nodes, self.before, self.index[a], self.index[b], self.metres)


@dataclass(frozen=True)
class HopTable:
    """All-pairs shortest paths over H: fewest hops, and among those the fewest metres.

    Attributes:
        nodes: region ids; row and column i belong to ``nodes[i]``.
        index: the row of each region id.
        hops: (n, n) hop counts, -1 for unreachable pairs.
        before: (n, n) predecessors, negative for none.
    """

    nodes: tuple[str, ...]
    index: dict[str, int]
    hops: NDArray[np.int32]
    before: NDArray[np.int32]

    def distance(self, a: str, b: str) -> int | None:
        """Return hops from region a to region b; None if unreachable."""
        hops = int(self.hops[self.index[a], self.index[b]])
        return None if hops < 0 else hops

    def path(self, a: str, b: str) -> list[str] | None:
        """Return the regions from a to b, both included; None if unreachable."""
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


@cached_on_scene
def hop_table(scene: Scene) -> HopTable:
    """Return the all-pairs table over H, computed on first use."""
    nodes, index, cost, before = _all_pairs(scene.region_graph(), lambda d: _HOP + d["metres"])
    finite = np.isfinite(cost)
    hops = np.full(cost.shape, -1, dtype=np.int32)
    hops[finite] = np.floor(cost[finite] / _HOP).astype(np.int32)
    return HopTable(nodes, index, hops, before)


def metre_table(scene: Scene, metric: Metric = "2d") -> DistanceTable:
    """Return the all-pairs table over G, computed on first use.

    Args:
        scene: the scene.
        metric: ``"2d"`` weighs an edge by its length on the ground plane (CoNavBench 3.1.3),
            ``"3d"`` by its length in space (R2R).
    """

    def make() -> DistanceTable:
        weight = "metres_2d" if metric == "2d" else "metres_3d"
        return DistanceTable(*_all_pairs(scene.navigation_graph(), lambda data: data[weight]))

    return scene_cached(scene, f"metre_table_{metric}", make)


def path_metres(scene: Scene, way: Iterable[str]) -> float:
    """Return the length of a path along viewpoints, in metres."""
    at = scene.viewpoint_by_id
    return round(sum(distance_3d(at[a].position, at[b].position) for a, b in pairwise(way)), 1)


def metre_table_without(scene: Scene, closed: Iterable[tuple[str, str]]) -> DistanceTable:
    """Compute the all-pairs table over G under ``"2d"`` without some edges.

    Args:
        scene: the scene.
        closed: the two viewpoints of each removed edge, in either order.

    Returns:
        A table whose rows are those of :func:`metre_table`.
    """
    graph = scene.navigation_graph()
    graph.remove_edges_from(closed)
    return DistanceTable(*_all_pairs(graph, lambda data: data["metres_2d"]))


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


def wrap_angle(angle: float) -> float:
    """Wrap an angle in radians to [0, 2 pi)."""
    turned = angle % (2 * math.pi)
    return 0.0 if turned == 2 * math.pi else turned


def turn_between(start: float, end: float) -> float:
    """Return the shorter turn between two headings, radians in (-pi, pi], clockwise positive.

    >>> round(math.degrees(turn_between(math.radians(350), math.radians(20))))
    30
    """
    turned = wrap_angle(end - start)
    return turned - 2 * math.pi if turned > math.pi else turned


def heading_to(start: Point3, end: Point3) -> float:
    """Return the heading between two points, radians in [0, 2 pi); 0 straight up or down.

    >>> round(math.degrees(heading_to((0, 0, 0), (1, 0, 0))))
    90
    """
    dx, dz = end[0] - start[0], end[2] - start[2]
    if abs(dx) < _SAME and abs(dz) < _SAME:
        return 0.0
    return wrap_angle(math.atan2(dx, -dz))


def elevation_to(start: Point3, end: Point3) -> float:
    """Return the elevation between two points, radians in [-pi/2, pi/2], positive upwards."""
    return math.atan2(end[1] - start[1], math.hypot(end[0] - start[0], end[2] - start[2]))


def sector_of(heading: float) -> int:
    """Return which of eight sectors holds a heading; the k-th is centred on k x 45 degrees."""
    return math.floor((wrap_angle(heading) + SECTOR_RAD / 2) / SECTOR_RAD) % 8


def up_or_down(elevation: float) -> str:
    """Return ``"up"``, ``"down"``, or ``""`` for a direction that is about level.

    Args:
        elevation: of the direction, in radians.
    """
    if abs(elevation) < STEEP_RAD:
        return ""
    return "up" if elevation > 0 else "down"
