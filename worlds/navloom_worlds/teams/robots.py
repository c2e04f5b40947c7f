"""Robots with bodies, and G+ restricted to the links that a body can pass.

G+ for a body lacks the edges that cross a link it cannot pass. Passability is estimated
(:mod:`navloom.scenes.passability`). A link without dimensions is open to every body, as are HM3D's.
An edge crosses the link that is nearest to its midpoint; an edge between regions without a link is
open. Anchors are the same for all bodies, so a place means the same for every robot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from navloom.errors import UsageError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import metre_table_without, scene_cached
from navloom.scenes.passability import faults_text, link_faults
from navloom.scenes.scene import Scene
from navloom.tools.navcraft.schedule import ScheduledRobot
from navloom.tools.navcraft.task_paths import Anchor, MetricGraph, crossed_link, metric_graph


@dataclass(frozen=True, slots=True)
class Robot:
    """Robot of a team.

    Attributes:
        name: ``robot_1``, ...; unique within a plan.
        start: its position at second 0.
        body: its embodiment; None, the papers' robots, passes every link.
        speed: metres a second.

    Raises:
        UsageError: the speed is not above 0.
    """

    name: str
    start: Anchor
    body: Embodiment | None = None
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.speed) and self.speed > 0):
            raise UsageError(
                f"{self.name}'s speed must be above 0 metres a second, not {self.speed}."
            )

    def graph(self, scene: Scene) -> MetricGraph:
        """Return the graph G+ with only the links that the robot's body can pass."""
        return passable_graph(scene, self.body)

    def carrier(self, scene: Scene) -> ScheduledRobot:
        """Return the robot's start, graph and speed for scheduling."""
        return ScheduledRobot(self.start, self.graph(scene), self.speed)


def passable_graph(scene: Scene, body: Embodiment | None) -> MetricGraph:
    """Return G+ of a scene restricted to one body, computed on first use.

    Args:
        scene: the scene.
        body: the body; None, the papers' robots, passes every link.
    """
    graph = metric_graph(scene)
    if body is None or not (shut := closed_links(scene, body)):
        return graph

    def make() -> MetricGraph:
        closed = [edge for edge, link in edges_over_links(scene) if link in shut]
        return MetricGraph(metre_table_without(scene, closed), graph.items, graph.starts)

    # Bodies with the same impassable links share one table.
    return scene_cached(scene, f"passable_graph {sorted(shut)}", make)


def closed_links(scene: Scene, body: Embodiment) -> dict[int, str]:
    """Return the links that a body cannot pass, index in ``scene.links`` -> reason in words."""

    def make() -> dict[int, str]:
        found = ((i, link_faults(link, body)) for i, link in enumerate(scene.links))
        return {i: faults_text(each) for i, each in found if each}

    return scene_cached(scene, f"closed_links {body.model_dump_json()}", make)


def edges_over_links(scene: Scene) -> tuple[tuple[tuple[str, str], int], ...]:
    """Return each edge of G that crosses a link: two viewpoints, and the link's index."""

    def make() -> Iterator[tuple[tuple[str, str], int]]:
        at = scene.viewpoint_by_id
        for edge in scene.edges:
            here, there = at[edge.a], at[edge.b]
            if here.region and there.region and here.region != there.region:
                link = crossed_link(scene, here, there)
                if link is not None:
                    yield (edge.a, edge.b), link

    return scene_cached(scene, "edges_over_links", lambda: tuple(make()))


def first_barrier(
    scene: Scene, body: Embodiment | None, start: Anchor, goal: Anchor
) -> tuple[int, str] | None:
    """Return the first impassable link on the unrestricted shortest path, and why, or None."""
    nodes = metric_graph(scene).walk(start, goal)
    return first_closed_link(scene, body, nodes) if nodes and body else None


def first_closed_link(scene: Scene, body: Embodiment, nodes: list[str]) -> tuple[int, str] | None:
    """Return the first link on a path that a body cannot pass, and why; None if there is none.

    Args:
        scene: the scene.
        body: the body.
        nodes: nodes of G+, in the order of travel.
    """
    shut = closed_links(scene, body)
    crossed = dict(edges_over_links(scene))
    for step in pairwise(nodes):
        link = crossed.get(step, crossed.get(step[::-1], -1))
        if link in shut:
            return link, shut[link]
    return None
