"""Standard path metrics, computed for many paths at once on arrays of viewpoint indices.

Distances are geodesics of the navigation graph, where an edge weighs its 3-D length:

    TL          metres walked
    NE          metres from the last viewpoint to the nearest goal; inf if none is reachable
    DTS         max(0, NE - radius): metres missing to a success (Chaplot et al. 2020)
    GP          L - NE: progress towards the goal in metres (Thomason et al. 2019)
    SR          1 where NE is below the radius, strictly (R2R: 3 m)
    SR_stopped  the same, and the agent stopped there by itself
    SR_end      the same, whatever ended the episode
    OSR         1 where any viewpoint that was visited is within the radius
    early_stop  1 where it stopped by itself and OSR is 0
    late_stop   1 where it stopped by itself, SR is 0 and OSR is 1
    SPL         SR x L / max(L, TL), L the shortest path from start to goal (Anderson et al. 2018)
    SoftSPL     max(0, 1 - NE / L) x L / max(L, TL) (Datta et al. 2020; Habitat's ``soft_spl``)
    SPL_gt      SPL with L the length of the reference path
    nDTW        exp(-DTW / (radius x positions of the reference)) (Magalhaes et al. 2019)
    SDTW        SR x nDTW
    CLS         coverage x length score (Jain et al. 2019)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom.evals.navigation.graph_distances import GraphDistances, Ids

RADIUS_M = 3.0
PATH_METRICS = (
    *("TL", "NE", "SR", "OSR", "SPL", "SPL_gt", "nDTW", "SDTW", "CLS"),
    *("SoftSPL", "SR_stopped", "SR_end", "early_stop", "late_stop", "DTS", "GP"),
)
METRES = ("TL", "NE", "DTS", "GP")
"""Metrics in metres. The others are fractions."""
_MOST_CELLS = 16_000
"""Maximum positions processed at once, to fit the processor's cache."""
_NOTHING_M = 1e-9
"""Shorter paths count as zero: tables hold 1e-12 m between viewpoints at one position."""

Floats = NDArray[np.float64]
Columns = dict[str, Floats]


class GroundTruth:
    """Reference paths and goals of the episodes, on the distances of their scenes.

    Args:
        ground: distances of their scenes.
        references: (R, N) reference paths, each padded with its last viewpoint; R is at least 1.
            The values do not matter for an episode without a reference.
        counts: (N,) positions of each reference, 0 if there is none.
        goals: (G, N) goal viewpoints, padded in the same way; G is at least 1.

    Attributes:
        given: (N,) whether there is a traversable reference.
        metres: (N,) its length; 0 if it is not given.
        own: (R, N) 1 for a position of the reference, 0 for padding.
    """

    def __init__(self, ground: GraphDistances, references: Ids, counts: Ids, goals: Ids) -> None:
        self.ground, self.references, self.goals = ground, references, goals
        length = ground.metres(references[:-1], references[1:]).sum(axis=0)
        self.given = (counts > 0) & np.isfinite(length)
        self.metres: Floats = np.where(self.given, length, 0.0)
        self.counts: Ids = np.maximum(counts, 1)
        self.own: Floats = (np.arange(len(references))[:, None] < self.counts).astype(np.float64)


@dataclass(frozen=True)
class PathBatch:
    """Paths to be measured together.

    Attributes:
        flat: all paths concatenated, as viewpoint indices.
        lengths: (B,) positions of each path, at least 1.
        of: (B,) column of the ground truth for each path.
        stopped: (B,) whether the agent stopped by itself.
        chosen: (B,) whether the agent chose its last position; False after a collision, say.
    """

    flat: Ids
    lengths: Ids
    of: Ids
    stopped: NDArray[np.bool_]
    chosen: NDArray[np.bool_]


def measure_paths(truth: GroundTruth, batch: PathBatch, *, radius: float = RADIUS_M) -> Columns:
    """Compute all metrics of all paths of a batch.

    Args:
        truth: references and goals of the paths.
        batch: the paths. A hop without an edge counts as the shortest path.
        radius: success radius, and the scale of nDTW and CLS, in metres.

    Returns:
        Name of ``PATH_METRICS`` -> (B,) values. NE and DTS may be ``inf``, and GP is not finite if
        no goal is reachable. Metrics that need a reference are NaN if there is none, or if it has
        a gap that is not traversable.
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


def _measure(truth: GroundTruth, batch: PathBatch, part: Ids, first: Ids, radius: float) -> Columns:
    """Compute the metrics of some of the paths, ordered by falling length."""
    ground, lengths, of = truth.ground, batch.lengths[part], batch.of[part]
    goals = truth.goals.take(of, axis=1)
    steps = np.arange(int(lengths[0]))[:, None]
    # Padding with the last position keeps length, end and nearest points, so no mask is needed.
    paths = batch.flat.take(first[part] + np.minimum(steps, lengths - 1))
    walked = ground.metres(paths[:-1], paths[1:]).sum(axis=0)
    near = ground.metres(paths, goals[0])
    for goal in goals[1:]:
        np.minimum(near, ground.metres(paths, goal), out=near)
    there, passed = near[-1] < radius, near.min(axis=0) < radius
    stopped, success = batch.stopped[part], there & batch.chosen[part]
    shares = {
        "SR": success,
        "SR_stopped": there & stopped,
        "SR_end": there,
        "OSR": passed,
        "early_stop": stopped & ~passed,
        "late_stop": stopped & passed & ~there,
    }
    soft = _soft_success(near[0], near[-1])
    columns = {
        "TL": walked,
        "NE": near[-1],
        "DTS": np.maximum(0.0, near[-1] - radius),
        "GP": _nearer_by(near[0], near[-1]),
        **{name: share.astype(np.float64) for name, share in shares.items()},
        "SPL": weigh_by_length(success, near[0], walked),
        "SoftSPL": soft * weigh_by_length(soft > 0, near[0], walked),
    }
    return columns | _fidelity(truth, of, paths, lengths, columns, radius)


def _fidelity(
    truth: GroundTruth, of: Ids, paths: Ids, lengths: Ids, known: Columns, radius: float
) -> Columns:
    """Compute the metrics that need a reference path; NaN without one."""
    references, counts = truth.references.take(of, axis=1), truth.counts.take(of)
    length, given = truth.metres.take(of), truth.given.take(of)
    warped, nearest = _along(truth.ground, paths, lengths, references)
    ndtw = np.exp(-warped[counts - 1, np.arange(len(of))] / (radius * counts))
    covered = np.exp(nearest / -radius) * truth.own.take(of, axis=1)
    coverage = covered.sum(axis=0) / counts
    columns = {
        "SPL_gt": weigh_by_length(known["SR"] > 0, length, known["TL"]),
        "nDTW": ndtw,
        "SDTW": known["SR"] * ndtw,
        "CLS": coverage * _length_score(coverage * length, known["TL"]),
    }
    for values in columns.values():
        values[~given] = np.nan
    return columns


def _along(ground: GraphDistances, paths: Ids, lengths: Ids, truths: Ids) -> tuple[Floats, Floats]:
    """Return DTW sums and least distances to the path for each reference position; (R, B)."""
    rows, columns = ground.row.take(paths), ground.column.take(truths)
    nearest = ground.look(rows[0] + columns)
    row = first_dtw_row(nearest)
    # Sorted by falling length, so the paths that continue at a step are the first ones.
    going = np.searchsorted(-lengths, -np.arange(len(paths)), side="left")
    for step in range(1, len(paths)):
        on = slice(int(going[step]))
        cost = ground.look(rows[step, on] + columns[:, on])
        np.minimum(nearest[:, on], cost, out=nearest[:, on])
        next_dtw_row(row[:, on], cost)
    return row, nearest


def weigh_by_length(success: NDArray[np.bool_], least: Floats, walked: Floats) -> Floats:
    """Return success weighted by path length. A path of zero length counts in full."""
    most = np.maximum(least, walked)
    weight = np.ones_like(most)
    # Only for successes: for an unreachable goal both lengths are infinite.
    np.divide(least, most, out=weight, where=success & (most > _NOTHING_M))
    return np.where(success, weight, 0.0)


def _nearer_by(first: Floats, last: Floats) -> Floats:
    """Return goal distance at the start minus that at the end; not finite if out of reach."""
    found = np.full_like(first, np.nan)
    return np.subtract(first, last, out=found, where=np.isfinite(first) | np.isfinite(last))


def _soft_success(first: Floats, last: Floats) -> Floats:
    """Return the covered fraction of the goal distance, at least 0; 0 if the goal is out of reach.

    If the start is at the goal, the fraction is 1 at the goal and 0 elsewhere.
    """
    left = np.where(last > _NOTHING_M, np.inf, 0.0)
    np.divide(last, first, out=left, where=np.isfinite(first) & (first > _NOTHING_M))
    return np.maximum(0.0, 1.0 - left)


def _length_score(expected: Floats, walked: Floats) -> Floats:
    """Return the length score of CLS: 1 if the path has the length its coverage predicts."""
    whole = expected + np.abs(expected - walked)
    score = np.ones_like(whole)
    np.divide(expected, whole, out=score, where=whole > _NOTHING_M)
    return score


def first_dtw_row(cost: Floats) -> Floats:
    """Return the DTW sums at the first path position, (R, B), from its costs, (R, B)."""
    return np.cumsum(cost, axis=0)


def next_dtw_row(row: Floats, cost: Floats) -> None:
    """Update the DTW sums from one path position to the next, in place.

    Args:
        row: (R, B) least sums up to each reference position, changed in place.
        cost: (R, B) costs at the next path position.
    """
    straight = np.minimum(row[1:], row[:-1])
    row[0] += cost[0]
    for r in range(1, len(row)):
        np.minimum(straight[r - 1], row[r - 1], out=row[r])
        row[r] += cost[r]
