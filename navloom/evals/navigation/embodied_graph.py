"""Navigation graph of a run (the scene's or the body's), and metrics for off-viewpoint positions.

A body that slid or was stopped is not at a viewpoint. Such a position is joined to the navigation
graph by straight lines to the viewpoint assigned to it and to that viewpoint's neighbours. A hop
that was stopped ends between the two viewpoints of an edge, where these lines are the path.
Distances between viewpoints do not change.
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
from navloom.evals.navigation.graph_distances import GraphDistances, pad_paths
from navloom.evals.navigation.path_metrics import Floats, GroundTruth, PathBatch, measure_paths
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.run_scenes import scene_lookups
from navloom.evals.tasks.episode import Episode, Stands, TaskData, Walked
from navloom.evals.tasks.registry import load_task, makes_episodes
from navloom.scenes import bodies
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.scene_uri import get_scene
from navloom.sim.graph import candidates_of

_MOST_NAMED = 20
"""Maximum number of episodes that a note names; run.json has all."""


def request_graph(request: EvalRequest) -> Walked:
    """Return the function that gives a scene the navigation graph of a request."""
    if request.physics != "off" and request.embodiment.width > 2 * bodies.LARGE:
        return lambda scene: _with_room(
            _walked(request.waypoints, request.embodiment)(scene), request
        )
    return _walked(request.waypoints, request.embodiment)


def _with_room(scene: Scene, request: EvalRequest) -> Scene:
    """Return the scene, after a check that a large body fits somewhere in it."""
    bodies.check_body_fits(scene, request.embodiment)
    return scene


def recorded_graph(request: Mapping[str, Any]) -> Walked:
    """Return the function that gives a scene the navigation graph of a recorded request.

    Raises:
        RunError: the recorded body is invalid.
    """
    if request.get("waypoints") != "body":
        return _walked("slim", None)
    try:
        return _walked("body", bodies.Embodiment.model_validate(request.get("embodiment")))
    except ValidationError:
        raise RunError(
            "its run.json has waypoints of a body, and no such body: it is broken. Make the run"
            " anew"
        ) from None


def _walked(waypoints: str, body: bodies.Embodiment | None) -> Walked:
    if waypoints != "body" or body is None:
        return lambda scene: scene
    bare = body.model_copy(update={"description": ""})
    return lambda scene: bodies.body_graph(scene, bare)


def _stands_of(request: EvalRequest) -> Stands | None:
    """Return a check whether the body of a request fits at a pose; None without physics."""
    if request.physics == "off":
        return None

    def stands(scene: Scene, viewpoint: str, heading: float) -> bool:
        stand = bodies.FloorPose(scene.viewpoint_by_id[viewpoint].ground, heading)
        return (
            bodies.motion_model_of(scene, request.embodiment).settled(stand, reach=bodies.SETTLE_M)
            is not None
        )

    return stands


def physics_options(request: EvalRequest) -> dict[str, Any]:
    """Return the simulator options for the physics of a request; empty without physics."""
    if request.physics == "off":
        return {}
    return {"physics": request.physics, "collision_threshold": request.collision_threshold}


def load_feasible(request: EvalRequest) -> tuple[TaskData, Sequence[str]]:
    """Load the episodes of a request's dataset that its body can do.

    Returns:
        The dataset and the ids of all dropped episodes, which a note of the dataset names. An
        episode is dropped if the body does not fit at its start or cannot reach a goal.

    Raises:
        DataError: a file is missing or broken, or no episode is left.
        UsageError: the task or split is unknown.
    """
    folder = None if request.data is None else Path(request.data)
    own, stands, options = request_graph(request), _stands_of(request), dict(request.options)
    data = load_task(request.task, folder, request.split, walked=own, stands=stands, **options)
    if not request.uses_body or makes_episodes(request.task):
        return data, ()
    kept, gone = list[Episode](), list[str]()
    for episode in data.episodes:
        uri = data.scenes.get(episode.scene)
        # A missing scene is reported later, when it is loaded.
        fit = episode if uri is None else _fitted(episode, own(get_scene(uri)), stands)
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
    """Return an episode with its known goals and path; None if the body cannot do it."""
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
    """Scenes of a run with its navigation graph, each loaded once."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._names = next(scene_lookups(run))
        self._walked = recorded_graph(run.get("request") or {})
        self._loaded = cache(lambda name: self._walked(self._names.load(name)))

    def load(self, name: str) -> Scene:
        """Return a scene by its portable name.

        Raises:
            SceneError: the scene cannot be found or loaded.
        """
        return self._loaded(name)


@dataclass(frozen=True)
class PosedPath:
    """Positions of a body along a trajectory.

    Attributes:
        viewpoints: viewpoint that the body was at, or came from, for each position.
        points: floor position in metres, for each position.
    """

    viewpoints: tuple[str, ...]
    points: tuple[Point3, ...]


class PoseDistances(GraphDistances):
    """Distances of one scene, extended by the positions of one trajectory.

    The positions are indexed after the viewpoints.

    Args:
        scene: the scene, with every viewpoint of the trajectory.
        posed: the trajectory.
    """

    def __init__(self, scene: Scene, posed: PosedPath) -> None:
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


def body_points(
    viewpoints: Sequence[str], points: Sequence[Point3 | None], scene: Scene
) -> tuple[Point3, ...] | None:
    """Return the positions of a body: recorded points, else the floor of the viewpoint.

    Returns:
        None if the body was always at its viewpoints, or the scene lacks one of them.
    """
    known = scene.viewpoint_by_id
    if len(points) != len(viewpoints) or not any(points) or not known.keys() >= {*viewpoints}:
        return None
    pairs = zip(viewpoints, points, strict=True)
    return tuple(known[name].ground if point is None else point for name, point in pairs)


def measure_poses(
    scene: Scene, episode: Episode, posed: PosedPath, stopped: bool, chosen: bool, radius: float
) -> dict[str, float]:
    """Compute the path metrics of a trajectory along the real positions of the body.

    Args:
        scene: the scene.
        episode: the episode.
        posed: positions of the body, the start first.
        stopped: whether the agent stopped by itself.
        chosen: whether the agent chose its last position.
        radius: success radius in metres.

    Returns:
        Name of ``PATH_METRICS`` -> value.
    """
    ground = PoseDistances(scene, posed)
    known = ground.numbers[scene.uri]
    given = [known[name] for name in episode.path]
    goals = [known[name] for name in episode.goals]
    reference = _column(given or goals[:1])
    truth = GroundTruth(ground, reference, np.array([len(given)]), _column(goals))
    moved = [k for k, point in enumerate(posed.points) if k == 0 or point != posed.points[k - 1]]
    flat = ground.first + np.array(moved, np.int64)
    one = np.zeros(1, np.int64)
    batch = PathBatch(flat, one + len(flat), one, np.array([stopped]), np.array([chosen]))
    return {name: float(v[0]) for name, v in measure_paths(truth, batch, radius=radius).items()}


def _column(numbers: Sequence[int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return pad_paths(np.array(numbers, np.int64), np.array([len(numbers)], np.int64))
