"""Paths of a body that stands beside its viewpoints: what it slid to, or where it was stopped.

A point is joined to the navigation graph by straight lines to the viewpoint that its body calls its
own and to that one's neighbours: between two viewpoints of an edge, which is where a hop ends that
something stopped, that is the way there is. From a viewpoint to another nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from navloom.evals.navigation.ground import Ground, padded
from navloom.evals.navigation.path_metrics import Batch, Floats, Truth, measure
from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Point3, Scene
from navloom.sim.graph import candidates_of, floor_of


@dataclass(frozen=True)
class Posed:
    """Where a body stood.

    Attributes:
        viewpoints: the viewpoint that it was at, or came from, one a stand.
        points: the floor under it, in metres, as many.
    """

    viewpoints: tuple[str, ...]
    points: tuple[Point3, ...]


class PosedGround(Ground):
    """The ground of one scene with the points of one walk in it, numbered after the viewpoints.

    Args:
        scene: it has every viewpoint of the walk.
        posed: the walk.
    """

    def __init__(self, scene: Scene, posed: Posed) -> None:
        table, ways = metre_table(scene, "3d"), candidates_of(scene)
        places = {each.id: np.array(floor_of(each)) for each in scene.viewpoints}
        many, more = len(table.nodes), len(posed.points)
        near = [[name, *(w.viewpoint for w in ways[name])] for name in posed.viewpoints]
        points = [np.array(point) for point in posed.points]
        metres: Floats = np.full((many + more, many + more), np.inf)
        metres[:many, :many] = table.metres
        for k, (names, point) in enumerate(zip(near, points, strict=True)):
            straight = np.array([np.linalg.norm(point - places[name]) for name in names])
            rows = table.metres[[table.index[name] for name in names]]
            metres[many + k, :many] = metres[:many, many + k] = (straight[:, None] + rows).min(0)
        to = metres[many:, :many]
        for k, point in enumerate(points):
            for other in range(k + 1):
                way = float((to[k] + to[other]).min())
                if posed.viewpoints[other] in near[k]:
                    way = float(np.linalg.norm(point - points[other]))
                metres[many + k, many + other] = metres[many + other, many + k] = way
        size = many + more
        self._metres = metres.ravel()
        self._linked = np.isfinite(self._metres)
        self.row = size * np.arange(size)
        self.column = np.arange(size)
        self.numbers = {scene.uri: dict(table.index)}
        self.first = many


def stood_at(
    viewpoints: Sequence[str], points: Sequence[Point3 | None], scene: Scene
) -> tuple[Point3, ...] | None:
    """Where a body stood, viewpoints' floors where nothing else was said.

    Returns:
        None where it always stood on its viewpoints, or one of them is not in the scene.
    """
    known = scene.viewpoint_by_id
    if len(points) != len(viewpoints) or not any(points) or not known.keys() >= {*viewpoints}:
        return None
    pairs = zip(viewpoints, points, strict=True)
    return tuple(floor_of(known[name]) if point is None else point for name, point in pairs)


def measure_posed(
    scene: Scene, episode: Episode, posed: Posed, stopped: bool, chosen: bool, radius: float
) -> dict[str, float]:
    """What a walk is worth, measured along where the body really stood.

    Args:
        scene: where.
        episode: what it was to do.
        posed: where it stood, the start first.
        stopped: whether the agent stopped by itself.
        chosen: whether it can be held to where it ended.
        radius: what counts as there, in metres.

    Returns:
        By name of ``PATH_METRICS``.
    """
    ground = PosedGround(scene, posed)
    known = ground.numbers[scene.uri]
    given = [known[name] for name in episode.path]
    goals = [known[name] for name in episode.goals]
    reference = _column(given or goals[:1])
    truth = Truth(ground, reference, np.array([len(given)]), _column(goals))
    moved = [k for k, point in enumerate(posed.points) if k == 0 or point != posed.points[k - 1]]
    flat = ground.first + np.array(moved, np.int64)
    one = np.zeros(1, np.int64)
    batch = Batch(flat, one + len(flat), one, np.array([stopped]), np.array([chosen]))
    return {name: float(v[0]) for name, v in measure(truth, batch, radius=radius).items()}


def _column(numbers: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return padded(np.array(numbers, np.int64), np.array([len(numbers)], np.int64))
