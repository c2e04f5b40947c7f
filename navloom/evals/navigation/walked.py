"""The graph that a run walks on, the scene's own or a body's, and paths beside its viewpoints.

A body stands beside its viewpoints where it slid or was stopped. Such a point is joined to the
navigation graph by straight lines to the viewpoint that its body calls its own and to that one's
neighbours: between two viewpoints of an edge, which is where a hop ends that something stopped,
that is the way there is. From a viewpoint to another nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from navloom.errors import DataError, RunError
from navloom.evals.navigation.ground import Ground, padded
from navloom.evals.navigation.path_metrics import Batch, Floats, Truth, measure
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.run_scenes import names_of
from navloom.evals.tasks.episode import Episode, Stands, TaskData, Walked
from navloom.evals.tasks.registry import load_task, makes_episodes
from navloom.scenes.bodies import (
    LARGE,
    SETTLE_M,
    Embodiment,
    Stand,
    body_graph,
    check_room,
    mover_of,
)
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.uri import scene_of
from navloom.sim.graph import candidates_of

_MOST_NAMED = 20
"""Episodes that a note names; run.json has all."""


def walked_of(request: EvalRequest) -> Walked:
    """What gives a scene the viewpoints and edges that a request goes by."""
    if request.physics != "off" and request.embodiment.width > 2 * LARGE:
        return lambda scene: _with_room(
            _walked(request.waypoints, request.embodiment)(scene), request
        )
    return _walked(request.waypoints, request.embodiment)


def _with_room(scene: Scene, request: EvalRequest) -> Scene:
    """A scene in which a large body fits somewhere; what says that it does not, says so at once."""
    check_room(scene, request.embodiment)
    return scene


def walked_by(request: Mapping[str, Any]) -> Walked:
    """The same of a request as ``run.json`` keeps it.

    Raises:
        RunError: its body is none.
    """
    if request.get("waypoints") != "body":
        return _walked("slim", None)
    try:
        return _walked("body", Embodiment.model_validate(request.get("embodiment")))
    except ValidationError:
        raise RunError(
            "its run.json has waypoints of a body, and no such body: it is broken. Make the run"
            " anew"
        ) from None


def _walked(waypoints: str, body: Embodiment | None) -> Walked:
    if waypoints != "body" or body is None:
        return lambda scene: scene
    bare = body.model_copy(update={"description": ""})
    return lambda scene: body_graph(scene, bare)


def _stands_of(request: EvalRequest) -> Stands | None:
    """Where the body of a request can be put down; None where nothing is in anybody's way."""
    if request.physics == "off":
        return None

    def stands(scene: Scene, viewpoint: str, heading: float) -> bool:
        stand = Stand(scene.viewpoint_by_id[viewpoint].ground, heading)
        return mover_of(scene, request.embodiment).settled(stand, reach=SETTLE_M) is not None

    return stands


def physics_of(request: EvalRequest) -> dict[str, Any]:
    """The options of a simulator whose bodies touch what is there; none where they do not."""
    if request.physics == "off":
        return {}
    return {"physics": request.physics, "collision_threshold": request.collision_threshold}


def standing(request: EvalRequest) -> tuple[TaskData, Sequence[str]]:
    """The episodes of a request's dataset, made for its body or such as the body can do.

    Returns:
        The dataset, with a note that names episodes whose start the body cannot stand on, or on
        whose graph it cannot get to a goal, and the ids of all of those.

    Raises:
        DataError: a file is missing or broken, or nothing is left.
        UsageError: no such task or split.
    """
    folder = None if request.data is None else Path(request.data)
    own, stands, options = walked_of(request), _stands_of(request), dict(request.options)
    data = load_task(request.task, folder, request.split, walked=own, stands=stands, **options)
    if not request.embodied or makes_episodes(request.task):
        return data, ()
    kept, gone = list[Episode](), list[str]()
    for episode in data.episodes:
        uri = data.scenes.get(episode.scene)
        # A scene that is missing is named by whoever looks for it next.
        fit = episode if uri is None else _fitted(episode, own(scene_of(uri)), stands)
        kept += [] if fit is None else [fit]
        gone += [episode.id] if fit is None else []
    name = request.embodiment.name
    if not kept:
        raise DataError(
            f"{data.task} {data.split}: the body {name} can go no episode's way, of"
            f" {len(data.episodes)}: choose a slimmer --body, or --waypoints slim"
        )
    if not gone:
        return data, ()
    more = f" and {len(gone) - _MOST_NAMED} more, in run.json" if len(gone) > _MOST_NAMED else ""
    note = (
        f"{len(gone)} of {len(data.episodes)} episodes are left out, since the body {name} cannot"
        f" stand at their start or goal, or not get there: {', '.join(gone[:_MOST_NAMED])}{more}."
    )
    return replace(data, episodes=tuple(kept), notes=(*data.notes, note)), gone


def _fitted(episode: Episode, scene: Scene, stands: Stands | None) -> Episode | None:
    """An episode with what there is of its goals and path; None where it cannot be done."""
    known = scene.viewpoint_by_id
    goals = tuple(goal for goal in episode.goals if goal in known)
    if episode.start not in known or not goals:
        return None
    if stands is not None and not stands(scene, episode.start, episode.heading):
        return None
    table = metre_table(scene, "3d")
    near = min(table.distance(episode.start, goal) for goal in goals)
    if near == float("inf"):
        return None
    path = tuple(place for place in episode.path if place in known)
    seen_from = tuple(place for place in episode.visible_from if place in known)
    told = {"goals": goals, "path": path, "visible_from": seen_from}
    return episode.model_copy(update=told)


class RunScenes:
    """The scenes of a run, each loaded once."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._names = next(names_of(run))
        self._walked = walked_by(run.get("request") or {})
        self._loaded = cache(lambda name: self._walked(self._names.load(name)))

    def load(self, name: str) -> Scene:
        """A scene by its portable name.

        Raises:
            SceneError: it cannot be found or loaded.
        """
        return self._loaded(name)


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
        places = {each.id: np.array(each.ground) for each in scene.viewpoints}
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
    return tuple(known[name].ground if point is None else point for name, point in pairs)


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
