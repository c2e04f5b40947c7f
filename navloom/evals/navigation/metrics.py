"""Navigation metrics: those of the path, of REVERIE and of contacts.

The definitions are in :mod:`navloom.evals.navigation.path_metrics` and, in words, in
``docs/metrics.md``. Beside those of the path there are:

    SR_visible      1 where the last viewpoint sees the target (REVERIE)
    RGS             1 where it does and the right object was named at the end (REVERIE)
    RGSPL           RGS x L / max(L, TL), L the length of the reference path, as REVERIE's script
    collision_rate  contacts an action; of a run, all contacts / all actions (VLNVerse, Table 8)
    contacts        contacts of an episode
    collided        1 where a collision ended it (VLNVerse 5.3, Strict): a failure, whatever is near
    SR_strict       SR, and no contact displaced the body by 0.1 m or more (VLNVerse 5.3, Strict)
    SR_telhop       SR, whatever was touched on the way (VLNVerse 5.3, Tel-Hop)

A trajectory that is impossible on the graph is *invalid*: the episode counts as failed, every
fraction is 0, TL and NE are undefined, and the reason is recorded. Undefined is None in records,
never a NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from navloom.errors import DataError
from navloom.evals.navigation import path_metrics
from navloom.evals.navigation.embodied_graph import PosedPath, measure_poses
from navloom.evals.navigation.episode_groups import COLLISION, NO_CHOICE, STOP, EpisodeGroup
from navloom.evals.navigation.graph_distances import (
    GraphDistances,
    InvalidEpisode,
    drop_repeats,
    flatten_paths,
    indices_of,
    pad_paths,
)
from navloom.evals.navigation.request import NOTICEABLE_M
from navloom.evals.report import intervals
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Point3, Scene

METRICS = (
    *path_metrics.PATH_METRICS,
    *("SR_visible", "RGS", "RGSPL"),
    *("collision_rate", "contacts", "collided", "SR_strict", "SR_telhop"),
)
"""All metrics. All but ``METRES``, the rate and the contacts are fractions."""
SHARES = frozenset(METRICS) - {*path_metrics.METRES, "collision_rate", "contacts"}
_OF_CONTACTS = ("collision_rate", "contacts", "collided", "SR_strict", "SR_telhop")
ACTIONS = "actions"
_OF_OBJECTS = ("RGS", "RGSPL")
_MOST_CELLS = 16_000_000
"""Maximum cells of a joined distance table: 128 MB."""


@dataclass(frozen=True)
class EpisodeContacts:
    """Contacts of one episode, for simulators that report them.

    Attributes:
        displacements: displacement of the body by each contact, in metres.
        actions: number of actions of the agent.
        noticeable: minimum displacement in metres that fails an episode under Strict.
    """

    displacements: tuple[float, ...]
    actions: int
    noticeable: float = NOTICEABLE_M


@dataclass(frozen=True)
class EpisodeScore:
    """Scores of one episode.

    Attributes:
        id: id of the episode.
        values: metric -> value, None if undefined. Metrics that do not apply are absent.
        cluster: key that the episodes of one path share; see :func:`cluster_of`.
        invalid: reason for not measuring it; None if it was measured.
        undefined: metric -> reason that its value is None.
        actions: number of actions, if contacts are reported.
    """

    id: str
    values: Mapping[str, float | None]
    cluster: str
    invalid: InvalidEpisode | None = None
    undefined: Mapping[str, str] = field(default_factory=dict)
    actions: int | None = None

    @property
    def success(self) -> bool:
        """True if SR is 1."""
        return self.values["SR"] == 1

    def record(self) -> dict[str, Any]:
        """Return the scores as JSON: one key a metric, ``cluster``, ``invalid``, ``undefined``."""
        said = self.invalid and {"reason": self.invalid.reason, "message": self.invalid.message}
        return {
            **self.values,
            **({} if self.actions is None else {ACTIONS: self.actions}),
            "cluster": self.cluster,
            "invalid": said,
            "undefined": dict(self.undefined),
        }


@dataclass(frozen=True)
class ScoreColumns:
    """Scores of many episodes, one array a metric.

    Attributes:
        episodes: the episodes, in order.
        columns: metric -> (N,) values; NaN if undefined, NE is ``inf`` if no goal is reachable.
        invalid: index of each unmeasured episode -> the reason.
        actions: index -> number of actions, if contacts are reported.
    """

    episodes: tuple[Episode, ...]
    columns: path_metrics.Columns
    invalid: Mapping[int, InvalidEpisode]
    actions: Mapping[int, int] = field(default_factory=dict)

    def each(self) -> Iterator[EpisodeScore]:
        """Yield the scores episode by episode."""
        lists = {name: values.tolist() for name, values in self.columns.items()}
        for k, episode in enumerate(self.episodes):
            row = {name: values[k] for name, values in lists.items()}
            for asked in (_OF_CONTACTS, _OF_OBJECTS):
                if all(math.isnan(row[name]) for name in asked):
                    row = {name: value for name, value in row.items() if name not in asked}
            if not episode.visible_from:
                del row["SR_visible"]
            fault = self.invalid.get(k)
            values = {name: v if math.isfinite(v) else None for name, v in row.items()}
            why = {name: _why(name, episode, fault) for name, v in values.items() if v is None}
            named = episode.id, values, cluster_of(episode), fault, why
            yield EpisodeScore(*named, self.actions.get(k))


class NavigationScorer:
    """Ground truth of a dataset, prepared to score any number of sets of trajectories.

    Args:
        episodes: the episodes, with unique ids.
        scene_of: loads a scene by its portable name, called once a scene.
        radius: success radius in metres.

    Raises:
        DataError: an episode names a viewpoint that its scene lacks.
        SceneError: a scene is missing or broken.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        scene_of: Callable[[str], Scene],
        *,
        radius: float = path_metrics.RADIUS_M,
    ) -> None:
        self.episodes = tuple(episodes)
        self.radius = radius
        self._scene_of = scene_of
        places: dict[str, list[int]] = {}
        for k, episode in enumerate(self.episodes):
            places.setdefault(episode.scene, []).append(k)
        self._visible = [
            (k, episode.id, frozenset(episode.visible_from))
            for k, episode in enumerate(self.episodes)
            if episode.visible_from
        ]
        self._groups: list[EpisodeGroup] = []
        held: dict[str, Scene] = {}
        for name in places:
            scene = scene_of(name)
            cells = sum(len(each.viewpoints) ** 2 for each in (scene, *held.values()))
            if held and cells > _MOST_CELLS:
                self._groups.append(EpisodeGroup(self.episodes, places, held))
                held = {}
            held[name] = scene
        if held:
            self._groups.append(EpisodeGroup(self.episodes, places, held))

    def score(
        self,
        trajectories: Mapping[str, Sequence[str]],
        *,
        ends: Mapping[str, str] | None = None,
        contacts: Mapping[str, EpisodeContacts] | None = None,
        pointed: Mapping[str, str | None] | None = None,
        points: Mapping[str, Sequence[Point3]] | None = None,
    ) -> ScoreColumns:
        """Score one set of trajectories.

        Args:
            trajectories: episode id -> viewpoints. Consecutive repeats count once. An episode
                without a trajectory is invalid; unknown ids are ignored.
            ends: episode id -> how the episode ended. An agent that is not listed counts as having
                stopped by itself. If no reply could be read (``unparsed``) or the body collided,
                the agent chose no position, so only ``SR_end`` can be a success.
            contacts: episode id -> contacts, if the simulator reports them.
            pointed: episode id -> object named at the end, None if none was named. Only episodes
                that ask for an object are listed.
            points: episode id -> floor position of the body at each viewpoint of its trajectory,
                if known. Path metrics then use these positions
                (:mod:`navloom.evals.navigation.embodied_graph`).
        """
        count = len(self.episodes)
        columns, ended = {name: np.full(count, np.nan) for name in METRICS}, ends or {}
        invalid: dict[int, InvalidEpisode] = {}
        for group in self._groups:
            for name, values in group.score(trajectories, ended, self.radius, invalid).items():
                columns[name][group.members] = values
        for k, episode in enumerate(self.episodes if points else ()):
            stood = (points or {}).get(episode.id)
            if stood is not None and k not in invalid:
                end, scene = ended.get(episode.id, STOP), self._scene_of(episode.scene)
                walked = PosedPath(tuple(trajectories[episode.id]), tuple(stood))
                how = (end == STOP, end not in NO_CHOICE, self.radius)
                for name, value in measure_poses(scene, episode, walked, *how).items():
                    columns[name][k] = value
        seen = columns["SR_visible"]
        for k, name, seen_from in self._visible:
            sound = k not in invalid and ended.get(name) not in NO_CHOICE
            seen[k] = sound and trajectories[name][-1] in seen_from
        actions = self._touch(contacts or {}, ended, columns)
        self._ground(pointed or {}, columns)
        return ScoreColumns(self.episodes, columns, dict(sorted(invalid.items())), actions)

    def _ground(self, pointed: Mapping[str, str | None], columns: path_metrics.Columns) -> None:
        """Fill in RGS and RGSPL of episodes that ask for an object, with REVERIE's visibility."""
        given = np.zeros(len(self.episodes))
        for group in self._groups:
            given[group.members] = group.truth.metres
        for k, episode in enumerate(self.episodes if pointed else ()):
            if episode.id in pointed and "object" in episode.columns:
                named = pointed[episode.id] == str(episode.columns["object"])
                right = np.array([named and columns["SR_visible"][k] == 1])
                went = columns["TL"][k : k + 1]
                columns["RGS"][k] = right[0]
                columns["RGSPL"][k] = path_metrics.weigh_by_length(right, given[k : k + 1], went)[0]

    def _touch(
        self,
        contacts: Mapping[str, EpisodeContacts],
        ends: Mapping[str, str],
        columns: path_metrics.Columns,
    ) -> dict[int, int]:
        actions: dict[int, int] = {}
        for k, episode in enumerate(self.episodes if contacts else ()):
            touched = contacts.get(episode.id)
            if touched is None:
                continue
            success = columns["SR"][k]
            noticed = any(metres >= touched.noticeable for metres in touched.displacements)
            columns["SR_telhop"][k] = success
            columns["SR_strict"][k] = 0.0 if noticed else success
            columns["contacts"][k] = len(touched.displacements)
            columns["collided"][k] = ends.get(episode.id) == COLLISION
            actions[k] = touched.actions
            if touched.actions > 0:
                columns["collision_rate"][k] = len(touched.displacements) / touched.actions
        return actions


def score_episodes(
    episodes: Sequence[Episode],
    trajectories: Mapping[str, Sequence[str]],
    scene_of: Callable[[str], Scene],
    *,
    radius: float = path_metrics.RADIUS_M,
    ends: Mapping[str, str] | None = None,
    contacts: Mapping[str, EpisodeContacts] | None = None,
    pointed: Mapping[str, str | None] | None = None,
    points: Mapping[str, Sequence[Point3]] | None = None,
) -> list[EpisodeScore]:
    """Score trajectories against their episodes; arguments as of :class:`NavigationScorer`."""
    scorer = NavigationScorer(episodes, scene_of, radius=radius)
    found = scorer.score(trajectories, ends=ends, contacts=contacts, pointed=pointed, points=points)
    return list(found.each())


def score_paths(
    scene: Scene,
    paths: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    goals: Sequence[Sequence[str]],
    *,
    radius: float = path_metrics.RADIUS_M,
) -> path_metrics.Columns:
    """Measure paths in one scene. Only the viewpoint names are checked.

    Args:
        scene: scene of all paths.
        paths: viewpoints of each path, at least one. A hop without an edge counts as the shortest
            path.
        references: reference path of each; empty if there is none.
        goals: goal viewpoints of each path, at least one.
        radius: success radius in metres.

    Returns:
        Name of ``PATH_METRICS`` -> array with one value a path. NE may be ``inf``. Metrics that
        need a reference are NaN without one.

    Raises:
        DataError: a viewpoint is not in the scene, a path or its goals are empty, or the three
            lengths differ.
    """
    if not len(paths) == len(references) == len(goals):
        raise DataError(
            f"{len(paths)} paths, {len(references)} references and {len(goals)} goals: expected as"
            " many of each"
        )
    ground = GraphDistances({scene.uri: scene})
    known = ground.numbers[scene.uri]
    walked = [indices_of(path, known, f"path {k}", least=1) for k, path in enumerate(paths)]
    given = [indices_of(path, known, f"reference {k}") for k, path in enumerate(references)]
    ends = [indices_of(path, known, f"goals {k}", least=1) for k, path in enumerate(goals)]
    flat, lengths = drop_repeats(*flatten_paths(walked))
    filled, counts = flatten_paths([path or [0] for path in given])
    held = pad_paths(filled, counts), np.where([bool(path) for path in given], counts, 0)
    truth = path_metrics.GroundTruth(ground, *held, pad_paths(*flatten_paths(ends)))
    every = np.ones(len(paths), np.bool_)
    batch = path_metrics.PathBatch(flat, lengths, np.arange(len(paths)), every, every)
    return path_metrics.measure_paths(truth, batch, radius=radius)


def cluster_of(episode: Episode) -> str:
    """Return the bootstrap cluster of an episode: its scene and path id, else its own id.

    For joined paths (R4R) it is the first path's, since episodes with one start fail alike.
    """
    path = episode.columns.get("first_path_id", episode.columns.get("path_id"))
    return episode.id if path is None else f"{episode.scene}/{path}"


def _why(name: str, episode: Episode, fault: InvalidEpisode | None) -> str:
    if name in path_metrics.METRES and fault is None:
        return "no way leads from the last viewpoint to a goal"
    if name == "collision_rate":
        return "no action was taken"
    if name in path_metrics.METRES:
        return "invalid"
    return "the reference path has a gap" if episode.path else "there is no reference path"


def mean_metrics(
    records: Sequence[Mapping[str, Any]],
    metrics: Sequence[str] | None = None,
    *,
    by: intervals.By = "path",
    seed: int = 0,
) -> list[intervals.MetricEstimate]:
    """Return the mean of each metric over episodes, with its 95 % interval.

    Args:
        records: as given by ``EpisodeScore.record()``. A value that is None or missing is left out
            of the metric's mean and of ``n``. The collision rate is all contacts over all actions.
        metrics: names in order. By default all of ``METRICS`` that any record has.
        by: draw whole paths (records' ``cluster``) or single episodes.
        seed: seed of the bootstrap.
    """
    names = [
        name
        for name in (METRICS if metrics is None else metrics)
        if metrics is not None or any(record.get(name) is not None for record in records)
    ]
    clusters = intervals.cluster_labels(records) if by == "path" else None
    weights = np.ones((len(records), len(names)))
    for m, name in enumerate(names):
        if name == "collision_rate":
            # Old runs do not record the number of actions.
            weights[:, m] = [record.get(ACTIONS) or 1 for record in records]
    table = intervals.record_matrix(records, names)
    return intervals.estimate_metrics(names, table, clusters, seed=seed, weights=weights)
