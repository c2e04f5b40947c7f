"""The ground that paths are scored on, and whether a trajectory can have been walked on it at all.

The distance tables of several scenes are one, so that episodes of all of them score at once.
Whoever cannot have walked a trajectory is told where it breaks.

The metrics on it take many paths at once: numbers in, numbers out. All are the field's own, on
geodesics of the navigation graph (edges weigh their length in space):

    TL        metres walked
    NE        metres from the last viewpoint to the nearest goal; inf where no way leads there
    SR        1 where NE is below the radius, strictly (R2R: 3 m)
    OSR       1 where any viewpoint that was visited is within the radius
    SPL       SR x L / max(L, TL), L the shortest way from start to goal (Anderson et al. 2018)
    SPL_gt    the same with L the length of the reference path
    nDTW      exp(-DTW / (radius x positions of the reference)) (Magalhaes et al. 2019)
    SDTW      SR x nDTW
    CLS       coverage x length score (Jain et al. 2019)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from navloom.errors import did_you_mean
from navloom.scenes.checked_files import short
from navloom.scenes.distances import metre_table, per_scene
from navloom.scenes.scene import Scene

MOST_POSITIONS = 10_000
"""Positions a trajectory may have; beam search, the most that is published, needs some hundreds."""

InvalidReason = Literal[
    "missing",
    "duplicate",
    "malformed",
    "empty",
    "too_long",
    "unknown_viewpoint",
    "wrong_start",
    "no_edge",
    "unknown_id",
]


@dataclass(frozen=True)
class Invalid:
    """Why an episode counts as failed without being measured.

    Attributes:
        reason: the kind, for counting.
        message: what was wrong, where, and what was expected; one line.
    """

    reason: InvalidReason
    message: str


def faulty_path(
    path: Sequence[str] | None, start: str, known: dict[str, int], scene: str
) -> Invalid | None:
    """What is wrong with a trajectory that names no, too many or unknown viewpoints."""
    if path is None:
        return Invalid("missing", "there is no trajectory for it")
    if not len(path):
        return Invalid("empty", f"its trajectory is empty: expected at least the start {start}")
    if len(path) > MOST_POSITIONS:
        return Invalid(
            "too_long",
            f"its trajectory has {len(path):,} positions: expected at most {MOST_POSITIONS:,}",
        )
    at, strange = next(((k, v) for k, v in enumerate(path) if v not in known), (-1, ""))
    if at < 0:
        return None
    near = did_you_mean(strange, known, most=1) if len(strange) <= 200 else ""
    return Invalid(
        "unknown_viewpoint", f"[{at}] {short(strange)} is no viewpoint of {scene}.{near}".strip()
    )


def broken_hops(
    ground: Ground, flat: Ids, lengths: Ids, starts: Ids, names: Sequence[str]
) -> dict[int, Invalid]:
    """The paths that begin in the wrong place or hop where no edge leads.

    Args:
        ground: of their scenes.
        flat: all paths one after another, without repeats.
        lengths: (B,) positions of each path, at least 1.
        starts: (B,) where each must begin.
        names: the id of each viewpoint, by its number.

    Returns:
        What is wrong with the first fault of each, by its place in the batch.
    """
    first = np.cumsum(lengths) - lengths
    found = {
        int(b): Invalid(
            "wrong_start",
            f"it begins at {names[flat[first[b]]]}: expected the start {names[starts[b]]}",
        )
        for b in np.flatnonzero(flat[first] != starts)
    }
    later = np.ones(len(flat), np.bool_)
    later[first] = False
    after = np.flatnonzero(later)
    broken = after[~ground.linked(flat[after - 1], flat[after])]
    for place in broken:
        b = int(np.searchsorted(first, place, side="right")) - 1
        hop = int(place - first[b])
        a, z = names[flat[place - 1]], names[flat[place]]
        said = f"hop {hop}, from {a} to {z}, is along no edge of the navigation graph"
        found.setdefault(b, Invalid("no_edge", said))
    return found


Ids = NDArray[np.int64]
"""Numbers of viewpoints, as :class:`Ground` gives them."""
Cell = TypeVar("Cell", np.float64, np.bool_)


class Ground:
    """Geodesics and edges of some scenes, looked up for whole arrays of viewpoints.

    Distances are on the navigation graph, an edge weighing its length in space (3-D), as R2R has
    it. Every viewpoint of every scene has a number; both ends of a lookup are of one scene.

    Args:
        scenes: the scenes, by any name; at least one.

    Attributes:
        numbers: by the scene's name, the number of each viewpoint id.
        row: by number, where a viewpoint's row begins in the table of all.
        column: by number, its place in a row; what is at ``row[a] + column[b]`` is of a and b.
    """

    def __init__(self, scenes: dict[str, Scene]) -> None:
        tables = [metre_table(scene, "3d") for scene in scenes.values()]
        edges = [_linked(scene) for scene in scenes.values()]
        sizes = [len(table.nodes) for table in tables]
        self._metres: NDArray[np.float64] = _joined([table.metres for table in tables])
        self._linked: NDArray[np.bool_] = _joined(edges)
        first = np.cumsum([0, *(n * n for n in sizes)])
        rows = [first[k] + n * np.arange(n) for k, n in enumerate(sizes)]
        self.row: Ids = np.concatenate([np.zeros(0, np.int64), *rows])
        self.column: Ids = np.concatenate([np.zeros(0, np.int64), *map(np.arange, sizes)])
        self.numbers: dict[str, dict[str, int]] = {}
        before = 0
        for name, table in zip(scenes, tables, strict=True):
            self.numbers[name] = {v: before + i for v, i in table.index.items()}
            before += len(table.nodes)

    def metres(self, a: Ids, b: Ids) -> NDArray[np.float64]:
        """Shortest ways in metres between two arrays of viewpoints that broadcast; may be inf."""
        return self.look(self.row.take(a) + self.column.take(b))

    def look(self, cells: Ids) -> NDArray[np.float64]:
        """Shortest ways in metres, by places in the table of all."""
        return self._metres.take(cells)

    def linked(self, a: Ids, b: Ids) -> NDArray[np.bool_]:
        """Whether an edge joins them, or they are one viewpoint."""
        return self._linked.take(self.row.take(a) + self.column.take(b))


def padded(flat: Ids, lengths: Ids) -> Ids:
    """Sequences laid side by side, each filled up with its own last element.

    A path that stays where it ended has the same length, end and nearest points, so that most
    metrics need no mask.

    Args:
        flat: all sequences, one after another.
        lengths: (B,) how long each is, at least 1.

    Returns:
        (longest, B); (0, 0) where there is none.
    """
    if not len(lengths):
        return np.zeros((0, 0), np.int64)
    first = np.cumsum(lengths) - lengths
    steps = np.arange(int(lengths.max()))[:, None]
    return flat.take(first + np.minimum(steps, lengths - 1))


def flattened(sequences: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Sequences one after another, and how long each is."""
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    flat = np.fromiter(chain.from_iterable(sequences), np.int64, int(lengths.sum()))
    return flat, lengths


def without_repeats(flat: Ids, lengths: Ids) -> tuple[Ids, Ids]:
    """Sequences without an element that stands right after itself.

    An agent that turns in place says its viewpoint again; DTW alone would count that.

    Args:
        flat: all sequences, one after another.
        lengths: (B,) how long each is, at least 1.

    Returns:
        The same for what is left.
    """
    if not len(lengths):
        return flat, lengths
    first = np.cumsum(lengths) - lengths
    kept = np.ones(len(flat), np.bool_)
    np.not_equal(flat[1:], flat[:-1], out=kept[1:])
    kept[first] = True
    return flat[kept], np.add.reduceat(kept, first, dtype=np.int64)


def _joined(tables: Iterable[NDArray[Cell]]) -> NDArray[Cell]:
    flat = [table.ravel() for table in tables]
    # One scene's table is used as it is: that of a very large scene is not held twice.
    return flat[0] if len(flat) == 1 else np.concatenate(flat)


def _linked(scene: Scene) -> NDArray[np.bool_]:
    def make() -> NDArray[np.bool_]:
        index = metre_table(scene, "3d").index
        joined = np.eye(len(index), dtype=np.bool_)
        for edge in scene.edges:
            a, b = index[edge.a], index[edge.b]
            joined[a, b] = joined[b, a] = True
        return joined

    return per_scene(scene, "linked_viewpoints", make)


RADIUS_M = 3.0
PATH_METRICS = ("TL", "NE", "SR", "OSR", "SPL", "SPL_gt", "nDTW", "SDTW", "CLS")
_MOST_CELLS = 16_000
"""Positions laid side by side at once: what fits the processor's cache."""
_NOTHING_M = 1e-9
"""Shorter ways are none: the tables hold 1e-12 m between two viewpoints on one spot."""

Floats = NDArray[np.float64]
Columns = dict[str, Floats]


class Truth:
    """What paths are held against, and where all of it lies.

    Args:
        ground: of the scenes they are in.
        references: (R, N) reference paths, each filled up with its last; R at least 1, anything
            where there is none.
        counts: (N,) positions of each, 0 where there is none.
        goals: (G, N) viewpoints that count as the goal, filled up likewise; G at least 1.

    Attributes:
        given: (N,) whether there is a reference that can be walked.
        metres: (N,) its length; 0 where it is not given.
        own: (R, N) 1 for a position of the reference, 0 for one that fills it up.
    """

    def __init__(self, ground: Ground, references: Ids, counts: Ids, goals: Ids) -> None:
        self.ground, self.references, self.goals = ground, references, goals
        length = ground.metres(references[:-1], references[1:]).sum(axis=0)
        self.given = (counts > 0) & np.isfinite(length)
        self.metres: Floats = np.where(self.given, length, 0.0)
        self.counts: Ids = np.maximum(counts, 1)
        self.own: Floats = (np.arange(len(references))[:, None] < self.counts).astype(np.float64)


@dataclass(frozen=True)
class Batch:
    """Paths that were walked.

    Attributes:
        flat: all paths one after another, as numbers of the ground.
        lengths: (B,) positions of each path, at least 1.
        of: (B,) the column of the truth that each is held against.
        stopped: (B,) False where the agent's last place is none that it chose to stop at.
    """

    flat: Ids
    lengths: Ids
    of: Ids
    stopped: NDArray[np.bool_]


def measure(truth: Truth, batch: Batch, *, radius: float = RADIUS_M) -> Columns:
    """Every metric of every path of a batch.

    Args:
        truth: what the paths are held against.
        batch: the paths; a hop along no edge counts as the shortest way.
        radius: what counts as there, and the scale of nDTW and CLS, in metres.

    Returns:
        By name of ``PATH_METRICS``, (B,) values. NE may be ``inf``; what needs a reference is NaN
        where there is none, or where it has a gap that cannot be walked.
    """
    count = len(batch.lengths)
    columns = {name: np.full(count, np.nan) for name in PATH_METRICS}
    first = np.cumsum(batch.lengths) - batch.lengths
    order = np.argsort(-batch.lengths, kind="stable")
    begin = 0
    while begin < count:
        longest = int(batch.lengths[order[begin]])
        room = _MOST_CELLS // max(longest, len(truth.references))
        part = order[begin : begin + max(1, room)]
        for name, values in _measure(truth, batch, part, first, radius).items():
            columns[name][part] = values
        begin += len(part)
    return columns


def _measure(truth: Truth, batch: Batch, part: Ids, first: Ids, radius: float) -> Columns:
    """Of some of the paths, the longest first."""
    ground, lengths, of = truth.ground, batch.lengths[part], batch.of[part]
    goals = truth.goals.take(of, axis=1)
    steps = np.arange(int(lengths[0]))[:, None]
    # Filled up with their own last position, paths keep length, end and nearest points: no mask.
    paths = batch.flat.take(first[part] + np.minimum(steps, lengths - 1))
    walked = ground.metres(paths[:-1], paths[1:]).sum(axis=0)
    near = ground.metres(paths, goals[0])
    for goal in goals[1:]:
        np.minimum(near, ground.metres(paths, goal), out=near)
    success = (near[-1] < radius) & batch.stopped[part]
    columns = {
        "TL": walked,
        "NE": near[-1],
        "SR": success.astype(np.float64),
        "OSR": (near.min(axis=0) < radius).astype(np.float64),
        "SPL": _by_length(success, near[0], walked),
    }
    return columns | _fidelity(truth, of, paths, lengths, columns, radius)


def _fidelity(
    truth: Truth, of: Ids, paths: Ids, lengths: Ids, known: Columns, radius: float
) -> Columns:
    """What is held against the reference path; NaN where there is none."""
    references, counts = truth.references.take(of, axis=1), truth.counts.take(of)
    length, given = truth.metres.take(of), truth.given.take(of)
    warped, nearest = _along(truth.ground, paths, lengths, references)
    ndtw = np.exp(-warped[counts - 1, np.arange(len(of))] / (radius * counts))
    covered = np.exp(nearest / -radius) * truth.own.take(of, axis=1)
    coverage = covered.sum(axis=0) / counts
    columns = {
        "SPL_gt": _by_length(known["SR"] > 0, length, known["TL"]),
        "nDTW": ndtw,
        "SDTW": known["SR"] * ndtw,
        "CLS": coverage * _length_score(coverage * length, known["TL"]),
    }
    for values in columns.values():
        values[~given] = np.nan
    return columns


def _along(ground: Ground, paths: Ids, lengths: Ids, references: Ids) -> tuple[Floats, Floats]:
    """At the end of each path: the sums of DTW, and how near it came to its reference; (R, B)."""
    rows, columns = ground.row.take(paths), ground.column.take(references)
    nearest = ground.look(rows[0] + columns)
    row = first_row(nearest)
    # Longest first: the paths that go on at a step are the first so many, the others are done.
    going = np.searchsorted(-lengths, -np.arange(len(paths)), side="left")
    for step in range(1, len(paths)):
        on = slice(int(going[step]))
        cost = ground.look(rows[step, on] + columns[:, on])
        np.minimum(nearest[:, on], cost, out=nearest[:, on])
        next_row(row[:, on], cost)
    return row, nearest


def _by_length(success: NDArray[np.bool_], least: Floats, walked: Floats) -> Floats:
    """Success weighted by path length; a way of no length, walked as such, counts in full."""
    most = np.maximum(least, walked)
    weight = np.ones_like(most)
    # Only of successes: where the goal is out of reach both are infinite.
    np.divide(least, most, out=weight, where=success & (most > _NOTHING_M))
    return np.where(success, weight, 0.0)


def _length_score(expected: Floats, walked: Floats) -> Floats:
    """How near the length walked is to what the coverage lets expect; 1 where both are none."""
    whole = expected + np.abs(expected - walked)
    score = np.ones_like(whole)
    np.divide(expected, whole, out=score, where=whole > _NOTHING_M)
    return score


def first_row(cost: Floats) -> Floats:
    """The sums at the first position of the paths, (R, B), from its costs, (R, B)."""
    return np.cumsum(cost, axis=0)


def next_row(row: Floats, cost: Floats) -> None:
    """Turn the sums at one position of the paths into those at the next.

    Args:
        row: (R, B), changed in place: the least sum up to each position of the references.
        cost: (R, B) costs at the next position of the paths.
    """
    straight = np.minimum(row[1:], row[:-1])
    row[0] += cost[0]
    for r in range(1, len(row)):
        np.minimum(straight[r - 1], row[r - 1], out=row[r])
        row[r] += cost[r]


def warp(cost: Floats) -> float:
    """The least cost of walking along a path and its reference side by side.

    A step goes forward on either or on both; each pair of positions that is passed costs once.

    Args:
        cost: (P, R) cost of each position of the path beside each of the reference.
    """
    row = first_row(cost[0][:, None])
    for step in cost[1:]:
        next_row(row, step[:, None])
    return float(row[-1, 0])
