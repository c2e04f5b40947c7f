"""The scans a dataset walks in, each loaded once, and what of the dataset they do not bear out.

Nothing is dropped unseen: what is left out, and what is kept but odd, is counted and named in the
notes of the task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import networkx as nx

from navloom.errors import DataError, SceneError
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.scenes.distances import metre_table, per_scene
from navloom.scenes.formats.mp3d import load
from navloom.scenes.scene import Scene, distance_3d

_MOST_NAMED = 5


class Scans:
    """The Matterport scans of a folder, loaded when they are first asked for.

    Args:
        data: the folder; see :mod:`navloom.scenes.formats.mp3d` for what lies in it.

    Attributes:
        missing: why a scan could not be loaded, by its name.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.missing: dict[str, str] = {}
        self._scenes: dict[str, Scene] = {}

    def get(self, scan: str) -> Scene | None:
        """A scan; None where it cannot be loaded, and ``missing`` says why."""
        if scan not in self._scenes and scan not in self.missing:
            try:
                self._scenes[scan] = load(self.data, scan)
            except SceneError as error:
                self.missing[scan] = str(error)
        return self._scenes.get(scan)

    def uris(self, names: Sequence[str]) -> Mapping[str, str]:
        """Portable name -> the URI it is loaded by, of some of the scans."""
        return {f"mp3d:{name}": f"mp3d:{self.data}/{name}" for name in names}


class Sieve:
    """What was left out of a dataset, what is odd about the rest, and the notes that say so."""

    def __init__(self) -> None:
        self._left: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._odd: dict[str, list[str]] = defaultdict(list)

    def leave_out(self, why: str, name: str, episodes: int) -> None:
        """Say that ``episodes`` episodes of the record ``name`` are left out, and why."""
        self._left[why][name] += episodes

    def remark(self, what: str, name: str) -> None:
        """Say that the record ``name`` is kept, and what is odd about it."""
        self._odd[what].append(name)

    def notes(self) -> tuple[str, ...]:
        """A line a reason, each with its count and its first names."""
        left = [
            f"{sum(names.values())} episodes are left out: {why}: {_named(list(names))}."
            for why, names in self._left.items()
        ]
        odd = [f"{what} ({len(names)}): {_named(names)}." for what, names in self._odd.items()]
        return (*left, *odd)

    def finish(self, data: TaskData, where: Path) -> TaskData:
        """The task with what is noted here added to its notes.

        Raises:
            DataError: no episode is left.
        """
        notes = self.notes()
        if not data.episodes:
            why = notes[0] if notes else "it holds none."
            raise DataError(f"{where}: expected at least one episode that can be used; {why}")
        return TaskData(data.task, data.split, data.episodes, data.scenes, (*data.notes, *notes))

    def lose(self, scans: Scans, lost: Mapping[str, int]) -> None:
        """Note the episodes of scans that could not be loaded.

        Args:
            scans: the scans.
            lost: scan -> how many episodes it would have had.
        """
        for scan, episodes in lost.items():
            why = f"the scan cannot be loaded ({scans.missing[scan].removesuffix('.')})"
            self.leave_out(why, scan, episodes)

    def unique(self, episodes: Sequence[Episode]) -> tuple[Episode, ...]:
        """The episodes without those whose id was there before, which are noted."""
        kept: dict[str, Episode] = {}
        for episode in episodes:
            if episode.id in kept:
                self.leave_out("an id that stands twice", episode.id, 1)
            kept.setdefault(episode.id, episode)
        return tuple(kept.values())

    def way(self, scene: Scene, path: Sequence[str], name: str, episodes: int) -> float | None:
        """Check a published path against its scan.

        A path with a step between viewpoints that no edge joins is kept, and remarked on. One with
        a viewpoint that is not there, or whose goal no way leads to, is left out.

        Args:
            scene: the scan.
            path: viewpoints.
            name: the record's name, for the notes.
            episodes: how many episodes hang on it.

        Returns:
            Its length in metres, between cameras as R2R measures; None where it is left out.
        """
        unknown = [viewpoint for viewpoint in path if viewpoint not in scene.viewpoint_by_id]
        if unknown:
            self.leave_out(
                "a viewpoint that is not in the scan's graph",
                f"{name} ({scene.id} {unknown[0]})",
                episodes,
            )
            return None
        if metre_table(scene, "3d").path(path[0], path[-1]) is None:
            self.leave_out("no way from the start to the goal", f"{name} ({scene.id})", episodes)
            return None
        graph = _graph(scene)
        gap = next((f"{a}-{b}" for a, b in pairwise(path) if not graph.has_edge(a, b)), None)
        if gap is not None:
            self.remark("Paths with a step along no edge", f"{name} ({scene.id} {gap})")
        return path_metres(scene, path)


def path_metres(scene: Scene, path: Sequence[str]) -> float:
    """The length of a path of viewpoints, in metres between their positions (3-D)."""
    at = scene.viewpoint_by_id
    return sum(distance_3d(at[a].position, at[b].position) for a, b in pairwise(path))


def used(episodes: Sequence[Episode]) -> list[str]:
    """The scans that episodes walk in, in the order they first do."""
    return list(dict.fromkeys(episode.scene.removeprefix("mp3d:") for episode in episodes))


def _graph(scene: Scene) -> nx.Graph[str]:
    return per_scene(scene, "navigation_graph", scene.navigation_graph)


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
