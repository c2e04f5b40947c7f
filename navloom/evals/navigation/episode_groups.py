"""Batch scoring of the episodes of several scenes on their joined distance tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.evals.navigation import path_metrics
from navloom.evals.navigation.graph_distances import (
    MOST_POSITIONS,
    GraphDistances,
    Ids,
    InvalidEpisode,
    drop_repeats,
    find_broken_hops,
    flatten_paths,
    indices_of,
    pad_paths,
    viewpoint_fault,
)
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Scene

STOP, COLLISION = "stop", "collision"
"""Ends of an episode: the agent's own stop, and a collision."""
NO_CHOICE = frozenset({"unparsed", COLLISION})
"""Ends that are no success at any position, since the agent chose none."""


class EpisodeGroup:
    """Episodes of several scenes whose distance tables are joined."""

    def __init__(
        self,
        episodes: Sequence[Episode],
        places: Mapping[str, Sequence[int]],
        scenes: dict[str, Scene],
    ) -> None:
        self.ground = GraphDistances(scenes)
        self.names = [name for known in self.ground.numbers.values() for name in known]
        self.members = np.array([k for name in scenes for k in places[name]], np.int64)
        self.episodes = [episodes[k] for k in self.members]
        self.asked: list[tuple[list[str], dict[str, int], int]] = []
        for name, known in self.ground.numbers.items():
            first = sum(len(ids) for ids, _, _ in self.asked)
            self.asked.append(([episodes[k].id for k in places[name]], known, first))
        truth = [_numbered(each, self.ground.numbers[each.scene]) for each in self.episodes]
        self.starts = np.array([start for start, _, _ in truth], np.int64)
        goals = pad_paths(*flatten_paths([ends for _, ends, _ in truth]))
        # Without a reference the start stands in for it, and the result is dropped.
        given, lengths = flatten_paths([path or [start] for start, _, path in truth])
        self.counts = np.where([bool(path) for _, _, path in truth], lengths, 0)
        self.truth = path_metrics.GroundTruth(
            self.ground, pad_paths(given, lengths), self.counts, goals
        )

    def score(
        self,
        trajectories: Mapping[str, Sequence[str]],
        ends: Mapping[str, str],
        radius: float,
        invalid: dict[int, InvalidEpisode],
    ) -> path_metrics.Columns:
        """Return the metric columns of this group, and add faults to ``invalid``."""
        flat, lengths, faults = self._read(trajectories)
        rows = np.delete(np.arange(len(self.episodes)), list(faults))
        flat, lengths = drop_repeats(flat, lengths)
        broken = find_broken_hops(self.ground, flat, lengths, self.starts[rows], self.names)
        if broken:
            sound = np.ones(len(rows), np.bool_)
            sound[list(broken)] = False
            faults |= {int(rows[b]): fault for b, fault in broken.items()}
            flat, lengths, rows = flat[np.repeat(sound, lengths)], lengths[sound], rows[sound]
        invalid |= {int(self.members[b]): fault for b, fault in faults.items()}
        how = [ends.get(self.episodes[b].id, STOP) for b in rows] if ends else [STOP] * len(rows)
        said = np.array(how, np.str_)
        chosen = ~np.isin(said, sorted(NO_CHOICE))
        batch = path_metrics.PathBatch(flat, lengths, rows, said == STOP, chosen)
        columns = {name: self._failed(name) for name in path_metrics.PATH_METRICS}
        for name, values in path_metrics.measure_paths(self.truth, batch, radius=radius).items():
            columns[name][rows] = values
        return columns

    def _read(
        self, trajectories: Mapping[str, Sequence[str]]
    ) -> tuple[Ids, Ids, dict[int, InvalidEpisode]]:
        """Return the viewpoint indices of valid trajectories, and the faults of the others."""
        read: list[tuple[Ids, Ids]] = []
        faults: dict[int, InvalidEpisode] = {}
        for ids, known, first in self.asked:
            paths: list[Any] = list(map(trajectories.get, ids))
            try:
                counts = np.fromiter(map(len, paths), np.int64, len(ids))
                if counts.min() > 0 and counts.max() <= MOST_POSITIONS:
                    named = map(known.__getitem__, chain.from_iterable(paths))
                    read.append((np.fromiter(named, np.int64, counts.sum()), counts))
                    continue
            except (KeyError, TypeError):
                pass
            # A trajectory of this scene is faulty: check one by one to report which.
            sound: list[list[int]] = []
            for b, path in enumerate(paths, start=first):
                episode = self.episodes[b]
                if fault := viewpoint_fault(path, episode.start, known, episode.scene):
                    faults[b] = fault
                else:
                    sound.append([known[viewpoint] for viewpoint in path])
            read.append(flatten_paths(sound))
        flat, lengths = zip(*read, strict=True)
        return np.concatenate(flat), np.concatenate(lengths), faults

    def _failed(self, name: str) -> NDArray[np.float64]:
        """Return the scores of invalid episodes: 0, or NaN for metrics undefined for all."""
        if name in path_metrics.METRES:
            return np.full(len(self.episodes), np.nan)
        if name in ("SPL_gt", "nDTW", "SDTW", "CLS"):
            return np.where(self.counts > 0, 0.0, np.nan)
        return np.zeros(len(self.episodes))


def _numbered(episode: Episode, known: dict[str, int]) -> tuple[int, list[int], list[int]]:
    where = f"episode {episode.id} of {episode.task}, in {episode.scene}"
    (start,) = indices_of([episode.start], known, where)
    return start, indices_of(episode.goals, known, where), indices_of(episode.path, known, where)
