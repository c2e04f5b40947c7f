"""Navigation metrics of a whole submission, compared with a plain Python reference.

The reference follows the papers: one function per metric over lists and dictionaries, with
geodesics from networkx in a lookup table. Both sides start from trajectories in memory and prebuilt
distance tables, and return one value per episode and metric.

Two claims are measured. The first compares the metrics alone. The second includes preprocessing on
both sides: removing repeated viewpoints, checking starts and edges, and on our side mapping names
to numbers. The two sides take turns and the best round of each counts, so that other processes on
the machine matter less. Without real data, random walks in a demo home are scored and nothing is
promised.
"""

from __future__ import annotations

import gc
import itertools
import math
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from benchmarks import Claim
from navloom.evals.navigation.graph_distances import (
    GraphDistances,
    Ids,
    drop_repeats,
    flatten_paths,
    pad_paths,
)
from navloom.evals.navigation.metrics import NavigationScorer, cluster_of
from navloom.evals.navigation.path_metrics import GroundTruth, PathBatch, measure_paths
from navloom.evals.report.intervals import bootstrap_intervals
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene

WANTED = 50.0
ROUNDS = 9
RADIUS = 3.0
SAME = 1e-9
WALKS, SEED = 2_349, 5
RESAMPLES = 2_000

Walks = dict[str, list[str]]
Table = dict[str, dict[str, float]]


@dataclass(frozen=True)
class _Given:
    """The submission to score."""

    where: str
    episodes: list[Episode]
    scenes: dict[str, Scene]
    walks: Walks
    real: bool


def claims() -> list[Claim]:
    """Time the metrics, their preprocessing, their distance tables and the confidence intervals."""
    given = _given()
    began = time.perf_counter()
    reference = _Reference(given.scenes)
    tables = time.perf_counter() - began
    copies = {name: scene.replace() for name, scene in given.scenes.items()}
    began = time.perf_counter()
    scorer = NavigationScorer(given.episodes, copies.__getitem__)
    ours = time.perf_counter() - began
    return [
        *_metrics(given, reference, scorer),
        Claim(
            "tables of all geodesics",
            f"networkx, all pairs, a dictionary; scenes: {len(given.scenes)}, for information",
            tables / ours,
            0.0,
            note=f"{tables * 1e3:.0f} ms against {ours * 1e3:.0f} ms, ground truth laid out",
        ),
        _intervals(given, scorer),
    ]


def _metrics(given: _Given, reference: _Reference, scorer: NavigationScorer) -> Iterator[Claim]:
    truth, batch = _numbered(given)
    walks = reference.checked(given.episodes, given.walks)
    alone = _timed(lambda: reference.score(walks), lambda: measure_paths(truth, batch))
    whole = _timed(
        lambda: reference.score(reference.checked(given.episodes, given.walks)),
        lambda: scorer.score(given.walks),
    )
    theirs, columns = reference.score(walks), scorer.score(given.walks).columns
    apart = max(
        float(np.max(np.abs(mine[name] - np.array(values))))
        for name, values in theirs.items()
        for mine in (columns, measure_paths(truth, batch))
    )
    name = f"{len(theirs)} metrics of {len(given.walks):,} trajectories"
    said = "plain Python, a function a metric, geodesics looked up"
    for claim, versus, (slow, fast), wanted in (
        (name, f"{said}; {given.where}", alone, WANTED if given.real else 0.0),
        (f"{name}, checked", f"the same, start and edges checked; {given.where}", whole, 0.0),
    ):
        yield Claim(
            claim,
            versus,
            slow / fast,
            wanted,
            equal=apart <= SAME,
            note=(
                f"{slow * 1e3:.0f} ms against {fast * 1e3:.2f} ms, tables built; "
                f"answers at most {apart:.1e} apart"
                + ("" if given.real else "; no promise on made-up walks: set NAVLOOM_DATA")
            ),
        )


def _timed(slow: Callable[[], Any], fast: Callable[[], Any]) -> tuple[float, float]:
    """Return the best time of each function in seconds, taking turns."""
    rounds = [(_seconds(slow), min(_seconds(fast) for _ in range(3))) for _ in range(ROUNDS)]
    theirs, ours = zip(*rounds, strict=True)
    return min(theirs), min(ours)


def _numbered(given: _Given) -> tuple[GroundTruth, PathBatch]:
    """Return trajectories and ground truth as viewpoint numbers, in the order of the episodes."""
    ground = GraphDistances(given.scenes)

    def numbers(paths: Iterable[tuple[Episode, Sequence[str]]]) -> tuple[Ids, Ids]:
        return flatten_paths([[ground.numbers[e.scene][v] for v in path] for e, path in paths])

    flat, lengths = drop_repeats(*numbers((e, given.walks[e.id]) for e in given.episodes))
    path, counts = numbers((e, e.path) for e in given.episodes)
    goals = pad_paths(*numbers((e, e.goals) for e in given.episodes))
    of = np.arange(len(lengths))
    truth = GroundTruth(ground, pad_paths(path, counts), counts, goals)
    every = np.ones(len(of), np.bool_)
    return truth, PathBatch(flat, lengths, of, every, every)


def _intervals(given: _Given, scorer: NavigationScorer) -> Claim:
    success = scorer.score(given.walks).columns["SR"]
    names = [cluster_of(episode) for episode in given.episodes]
    fast = min(_seconds(lambda: bootstrap_intervals(success[:, None], names)) for _ in range(3))
    values = success.tolist()
    slow = _seconds(lambda: _bootstrap(values, names))
    return Claim(
        "an interval by 2,000 resamples",
        "plain Python, clusters drawn with random.choices, for information",
        slow / fast,
        0.0,
        note=f"{slow * 1e3:.0f} ms against {fast * 1e3:.1f} ms",
    )


def _bootstrap(values: list[float], clusters: list[str]) -> tuple[float, float]:
    draw = random.Random(0)
    groups: dict[str, list[float]] = {}
    for value, name in zip(values, clusters, strict=True):
        groups.setdefault(name, []).append(value)
    sums = [(sum(group), len(group)) for group in groups.values()]
    means = []
    for _ in range(RESAMPLES):
        drawn = draw.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]


class _Reference:
    """Reference definitions of the metrics, one function each, sharing no code with ours."""

    def __init__(self, scenes: dict[str, Scene]) -> None:
        self.graphs = {name: scene.navigation_graph() for name, scene in scenes.items()}
        self.tables: dict[str, Table] = {
            name: dict(nx.all_pairs_dijkstra_path_length(graph, weight="metres_3d"))
            for name, graph in self.graphs.items()
        }

    def checked(self, episodes: list[Episode], walks: Walks) -> list[_Walk]:
        """Pair each trajectory with its episode, after checking its start and its edges."""
        found = []
        for episode in episodes:
            walk = _Walk(self.tables[episode.scene], _once(walks[episode.id]), episode)
            assert walk.path[0] == episode.start, episode.id
            for a, b in itertools.pairwise(walk.path):
                assert self.graphs[episode.scene].has_edge(a, b), episode.id
            found.append(walk)
        return found

    def score(self, walks: list[_Walk]) -> dict[str, list[float]]:
        return {name: [metric(walk) for walk in walks] for name, metric in _METRICS.items()}


def _once(path: list[str]) -> list[str]:
    return [v for k, v in enumerate(path) if k == 0 or v != path[k - 1]]


@dataclass
class _Walk:
    """One path, with the episode and the distance table that it is scored against."""

    table: Table
    path: list[str]
    episode: Episode

    def distance(self, a: str, b: str) -> float:
        return self.table[a][b]

    def length(self, path: Sequence[str]) -> float:
        return sum(self.distance(a, b) for a, b in itertools.pairwise(path))

    def to_goal(self, viewpoint: str) -> float:
        return min(self.distance(viewpoint, goal) for goal in self.episode.goals)

    def weighted(self, least: float) -> float:
        most = max(least, self.tl())
        return self.sr() * (least / most if most else 1.0)

    def tl(self) -> float:
        return self.length(self.path)

    def ne(self) -> float:
        return self.to_goal(self.path[-1])

    def sr(self) -> float:
        return 1.0 if self.ne() < RADIUS else 0.0

    def osr(self) -> float:
        return 1.0 if min(self.to_goal(v) for v in self.path) < RADIUS else 0.0

    def spl(self) -> float:
        return self.weighted(self.to_goal(self.path[0]))

    def spl_gt(self) -> float:
        return self.weighted(self.length(self.episode.path))

    def soft_spl(self) -> float:
        least, left = self.to_goal(self.path[0]), self.ne()
        if least == 0:
            return self.weighted(least)
        if math.isinf(least):
            return 0.0
        return max(0.0, 1 - left / least) * least / max(least, self.tl())

    def dts(self) -> float:
        return max(0.0, self.ne() - RADIUS)

    def gp(self) -> float:
        return self.to_goal(self.path[0]) - self.ne()

    def early_stop(self) -> float:
        return 1 - self.osr()

    def late_stop(self) -> float:
        return self.osr() - self.sr()

    def ndtw(self) -> float:
        path, reference = self.path, self.episode.path
        sums = [[math.inf] * (len(reference) + 1) for _ in range(len(path) + 1)]
        sums[0][0] = 0.0
        for i in range(1, len(path) + 1):
            for j in range(1, len(reference) + 1):
                before = min(sums[i - 1][j], sums[i][j - 1], sums[i - 1][j - 1])
                sums[i][j] = self.distance(path[i - 1], reference[j - 1]) + before
        return math.exp(-sums[-1][-1] / (RADIUS * len(reference)))

    def sdtw(self) -> float:
        return self.sr() * self.ndtw()

    def cls(self) -> float:
        reference = self.episode.path
        near = [min(self.distance(v, w) for w in self.path) for v in reference]
        coverage = sum(math.exp(-metres / RADIUS) for metres in near) / len(near)
        expected, walked = coverage * self.length(reference), self.tl()
        if expected == walked == 0:
            return coverage
        return coverage * expected / (expected + abs(expected - walked))


_METRICS: dict[str, Callable[[_Walk], float]] = {
    "TL": _Walk.tl,
    "NE": _Walk.ne,
    "SR": _Walk.sr,
    "OSR": _Walk.osr,
    "SPL": _Walk.spl,
    "SPL_gt": _Walk.spl_gt,
    "nDTW": _Walk.ndtw,
    "SDTW": _Walk.sdtw,
    "CLS": _Walk.cls,
    "SoftSPL": _Walk.soft_spl,
    "SR_stopped": _Walk.sr,
    "SR_end": _Walk.sr,
    "early_stop": _Walk.early_stop,
    "late_stop": _Walk.late_stop,
    "DTS": _Walk.dts,
    "GP": _Walk.gp,
}


def _given() -> _Given:
    folder = os.environ.get("NAVLOOM_DATA")
    data = Path(folder) / "mp3d" if folder else None
    if data is None or not (data / "trajectories").is_dir():
        return _made()
    from navloom.evals.navigation.submission import read_submission
    from navloom.evals.tasks import r2r

    task = r2r.load(data, "val_unseen")
    file = data / "trajectories" / "prevalent_val_unseen.json"
    read = read_submission(file)
    walks = {name: list(path) for name, path in read.trajectories.items()}
    scenes = {name: load_scene(uri) for name, uri in task.scenes.items()}
    return _Given(file.name, list(task.episodes), scenes, walks, real=True)


def _made() -> _Given:
    """Draw random walks in a demo home, each with the shortest path from its start to its goal."""
    scene = load_scene("demo:villa")
    graph, draw = scene.navigation_graph(), random.Random(SEED)
    largest = sorted(max(nx.connected_components(graph), key=len))
    episodes, walks = [], {}
    for k in range(WALKS):
        path = nx.dijkstra_path(graph, *draw.sample(largest, 2), weight="metres_3d")
        walk = [path[0]]
        for _ in range(draw.randint(0, 8)):
            walk.append(draw.choice(sorted(graph[walk[-1]])))
        walks[f"w{k}"] = walk
        episodes.append(
            Episode(
                id=f"w{k}",
                task="made",
                scene=scene.uri,
                start=path[0],
                instruction="walk",
                goals=(path[-1],),
                path=tuple(path),
            )
        )
    return _Given(f"made-up walks in {scene.uri}", episodes, {scene.uri: scene}, walks, real=False)


def _seconds(work: Callable[[], Any]) -> float:
    gc.collect()
    gc.disable()  # as timeit does: a garbage collection would distort the measurement
    try:
        # Processor time, so that other processes on the machine do not count.
        begin = time.thread_time()
        work()
        return time.thread_time() - begin
    finally:
        gc.enable()
