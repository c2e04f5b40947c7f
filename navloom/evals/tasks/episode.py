"""Episodes with their ground truth, in one form for all datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from navloom.errors import DataError
from navloom.scenes.scene import Scene
from navloom.sim.graph import nearest_viewpoint
from navloom.tools.navigation.visible_objects import VisibleObject

_Id = Annotated[str, Field(min_length=1, max_length=200)]


Place = _Id | tuple[float, float, float]
"""A viewpoint, or a point on the floor in metres (JSON: three numbers)."""
MOST_OFF_M = 3.0
"""Largest distance from a point to its nearest viewpoint; R2R's hops are about 2 m long."""


class PlacedEpisode(BaseModel):
    """A navigation episode: instruction, start, goals and ground-truth path.

    Its places may be points, for simulators and datasets without a navigation graph.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=@-]{0,199}$")]
    """Unique in its dataset and safe as a file name: the sample's id. R2R: ``PATHID_K``."""
    task: _Id
    """The dataset's name, such as ``r2r``."""
    scene: _Id
    """The scene's portable name, such as ``mp3d:2azQ1b91cZZ``."""
    start: Place
    """The start position."""
    heading: Annotated[float, Field(ge=-7, le=7, allow_inf_nan=False)] = 0.0
    """Heading at the start, radians clockwise from -z."""
    instruction: Annotated[str, Field(min_length=1, max_length=20_000)]
    goals: Annotated[tuple[Place, ...], Field(min_length=1)]
    """Positions that count as the goal; distances are to the nearest."""
    path: tuple[Place, ...] = ()
    """The ground-truth path, start and goal included; empty if unknown."""
    visible_from: tuple[_Id, ...] = ()
    """Viewpoints that see the target, if the dataset gives them (REVERIE)."""
    category: str | None = None
    """The target's category, of object navigation."""
    derived: bool = False
    """True if the episode was derived from another dataset and is not a published one."""
    columns: Mapping[str, Any] = Field(default_factory=dict)
    """Further fields of the dataset, for records (``path_id``, ``instruction_index``, ...)."""


class Episode(PlacedEpisode):
    """An episode on a navigation graph: all places are viewpoints, as metrics need them."""

    start: _Id
    """The start viewpoint."""
    goals: Annotated[tuple[_Id, ...], Field(min_length=1)]
    """Viewpoints that count as the goal; distances are to the nearest."""
    path: tuple[_Id, ...] = ()
    """The ground-truth path, start and goal included; empty if unknown."""


def snap_to_graph(episode: PlacedEpisode, scene: Scene) -> Episode:
    """Replace every point of an episode by the nearest viewpoint.

    The original points are kept in ``columns["points"]``.

    Raises:
        DataError: a point is over ``MOST_OFF_M`` from every viewpoint, or there are none.
    """
    if isinstance(episode, Episode):
        return episode
    places = (episode.start, *episode.goals, *episode.path)
    fields = episode.model_dump()
    points = {key: fields[key] for key in ("start", "goals", "path")}
    if any(not isinstance(place, str) for place in places):
        fields["columns"] = {**episode.columns, "points": points}
    goals = dict.fromkeys(_viewpoint(place, episode, scene) for place in episode.goals)
    way = [_viewpoint(place, episode, scene) for place in episode.path]
    fields["start"] = _viewpoint(episode.start, episode, scene)
    fields["goals"] = tuple(goals)
    # Points are denser than viewpoints: several may map to the same one.
    fields["path"] = tuple(place for place, _ in groupby(way))
    return Episode(**fields)


def _viewpoint(place: Place, episode: PlacedEpisode, scene: Scene) -> str:
    if isinstance(place, str):
        return place
    if not scene.viewpoints:
        raise DataError(f"{episode.id}: its places are points, and {scene.uri} has no viewpoints")
    nearest, metres = nearest_viewpoint(scene, place)
    if not metres <= MOST_OFF_M:
        raise DataError(
            f"{episode.id}: the point {place} is {metres:.1f} m from the nearest viewpoint of"
            f" {scene.uri}, {nearest}: expected at most {MOST_OFF_M:g} m"
        )
    return nearest


Walked: TypeAlias = Callable[[Scene], Scene]
"""Returns a scene with the viewpoints and edges to navigate on: a copy of it, or itself."""
Stands: TypeAlias = Callable[[Scene, str, float], bool]
"""Checks whether the body fits on or beside a scene's viewpoint at a heading (radians)."""


@dataclass(frozen=True)
class TaskData:
    """A dataset's split, loaded.

    Attributes:
        task: its name.
        split: the split's name.
        episodes: in the dataset's order.
        scenes: the URI to load each scene by, by its portable name.
        notes: what a reader must know: derived, left out, inferred.
        things: the objects visible from each viewpoint, by scene and viewpoint, if the dataset asks
            at the end which object is meant; ``columns["object"]`` of an episode is its id.
    """

    task: str
    split: str
    episodes: tuple[Episode, ...]
    scenes: Mapping[str, str]
    notes: tuple[str, ...] = ()
    things: Mapping[str, Mapping[str, list[VisibleObject]]] = field(default_factory=dict)
