"""A way that a long body can drive without touching: over the viewpoints of its own graph.

The field of a body knows where its middle may be, half its width from everything; a long body that
cuts a corner there touches it. The edges of its graph (:mod:`navloom_worlds.motion.body_graph`)
were swept by its whole shape, and it can turn where they meet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, inner, outer
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.terrain import body_graph, is_carried, mover_of
from navloom.sim.graph import floor_of
from navloom.sim.protocol import Path

_NEAREST = 8
_TRIED = 40
"""Ways on and off the graph that are swept."""


def is_long(body: Embodiment) -> bool:
    """Whether a body needs more room to turn than to go straight."""
    return outer(body) > inner(body) + 0.01


def planned_way(
    scene: Scene, start: Point3, goals: Sequence[Point3], body: Embodiment
) -> Path | None:
    """The shortest way over a body's graph to a goal; None where it leads to none.

    Args:
        scene: with geometry.
        start: where the body's middle is, on the floor.
        goals: where it may end.
        body: whose way it is.
    """
    try:
        graph, at = per_scene(scene, f"planned {body.model_dump_json()}", lambda: _of(scene, body))
    except SceneError:
        return None
    mover = mover_of(scene, body)
    on = [
        name
        for name in _nearest(at, start)
        if math.dist(at[name], start) < 0.01 or mover.passes(start, at[name])
    ]
    if not on:
        return None
    reached: Any = nx.multi_source_dijkstra(graph, set(on), weight="metres")
    metres: dict[str, float] = reached[0]
    ways: dict[str, list[str]] = reached[1]
    pairs = sorted(
        (metres[name] + math.dist(at[name], goal), name, goal)
        for goal in goals
        for name in _nearest(at, goal)
        if name in metres
    )
    for _, name, goal in pairs[:_TRIED]:
        if math.dist(at[name], goal) < 0.01 or mover.passes(at[name], goal):
            points = [start, *(at[each] for each in ways[name]), goal]
            kept = _apart(points)
            return Path(tuple(kept), sum(map(math.dist, kept, kept[1:])))
    return None


def standing(scene: Scene, region: str, body: Embodiment) -> Point3 | None:
    """Where a body can stand and turn in a region, nearest its middle; None where it can nowhere.

    Raises:
        SimulatorError: what its graph is made with is not installed.
    """
    try:
        own = body_graph(scene, body)
    except SceneError:
        return None
    middle = scene.region_by_id[region].center
    inside = own.viewpoints_by_region[region]
    nearest = min(
        inside, key=lambda each: (math.dist(floor_of(each), middle), each.id), default=None
    )
    return None if nearest is None else floor_of(nearest)


def _of(scene: Scene, body: Embodiment) -> tuple[nx.Graph[str], dict[str, Point3]]:
    own = body_graph(scene, body)
    at = {each.id: floor_of(each) for each in own.viewpoints}
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(at)
    graph.add_weighted_edges_from(
        (
            (edge.a, edge.b, math.dist(at[edge.a], at[edge.b]))
            for edge in own.edges
            if not is_carried(own, edge.a, edge.b, body)
        ),
        weight="metres",
    )
    return graph, at


def _nearest(at: dict[str, Point3], point: Point3) -> list[str]:
    return sorted(at, key=lambda name: (math.dist(at[name], point), name))[:_NEAREST]


def _apart(points: Iterable[Point3]) -> list[Point3]:
    kept: list[Point3] = []
    for point in points:
        if not kept or math.dist(kept[-1], point) > 0.01:
            kept.append(point)
    return kept
