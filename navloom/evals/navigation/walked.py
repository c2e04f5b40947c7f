"""Whose hops a run goes by: the scene's own viewpoints and edges, or those of a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import DataError, RunError
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.run_scenes import names_of
from navloom.evals.tasks.episode import Episode, Stands, TaskData, Walked
from navloom.evals.tasks.registry import load_task, makes_episodes
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene
from navloom.scenes.terrain import LARGE, SETTLE_M, Stand, body_graph, check_room, mover_of
from navloom.scenes.uri import scene_of
from navloom.sim.graph import floor_of

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
        stand = Stand(floor_of(scene.viewpoint_by_id[viewpoint]), heading)
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
        self._loaded: dict[str, Scene] = {}

    def load(self, name: str) -> Scene:
        """A scene by its portable name.

        Raises:
            SceneError: it cannot be found or loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = self._walked(self._names.load(name))
        return self._loaded[name]
