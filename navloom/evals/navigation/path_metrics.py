"""What paths over the ground are worth: numbers in, numbers out, many paths at once.

All are the field's own, on
geodesics of the navigation graph (edges weigh their length in space):

    TL          metres walked
    NE          metres from the last viewpoint to the nearest goal; inf where no way leads there
    DTS         max(0, NE - radius): metres that were left to a success (Chaplot et al. 2020)
    GP          L - NE: by how many metres it came nearer to the goal (Thomason et al. 2019)
    SR          1 where NE is below the radius, strictly (R2R: 3 m)
    SR_stopped  the same, and the agent stopped there by itself
    SR_end      the same wherever its walk ended, whatever ended it
    OSR         1 where any viewpoint that was visited is within the radius
    early_stop  1 where it stopped by itself and OSR is 0
    late_stop   1 where it stopped by itself, SR is 0 and OSR is 1
    SPL         SR x L / max(L, TL), L the shortest way from start to goal (Anderson et al. 2018)
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

from navloom.evals.navigation.ground import Ground, Ids

RADIUS_M = 3.0
PATH_METRICS = (
    *("TL", "NE", "SR", "OSR", "SPL", "SPL_gt", "nDTW", "SDTW", "CLS"),
    *("SoftSPL", "SR_stopped", "SR_end", "early_stop", "late_stop", "DTS", "GP"),
)
METRES = ("TL", "NE", "DTS", "GP")
"""Those that are metres; the others are fractions."""
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
        stopped: (B,) whether it stopped by itself.
        chosen: (B,) False where its last place is none that it can be held to.
    """

    flat: Ids
    lengths: Ids
    of: Ids
    stopped: NDArray[np.bool_]
    chosen: NDArray[np.bool_]


def measure(truth: Truth, batch: Batch, *, radius: float = RADIUS_M) -> Columns:
    """Every metric of every path of a batch.

    Args:
        truth: what the paths are held against.
        batch: the paths; a hop along no edge counts as the shortest way.
        radius: what counts as there, and the scale of nDTW and CLS, in metres.

    Returns:
        By name of ``PATH_METRICS``, (B,) values. NE and DTS may be ``inf``, GP is not finite where
        no way leads to a goal; what needs a reference is NaN where there is none, or where it has
        a gap that cannot be walked.
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
        "SPL": weighted(success, near[0], walked),
        "SoftSPL": soft * weighted(soft > 0, near[0], walked),
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
        "SPL_gt": weighted(known["SR"] > 0, length, known["TL"]),
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


def weighted(success: NDArray[np.bool_], least: Floats, walked: Floats) -> Floats:
    """Success weighted by path length; a way of no length, walked as such, counts in full."""
    most = np.maximum(least, walked)
    weight = np.ones_like(most)
    # Only of successes: where the goal is out of reach both are infinite.
    np.divide(least, most, out=weight, where=success & (most > _NOTHING_M))
    return np.where(success, weight, 0.0)


def _nearer_by(first: Floats, last: Floats) -> Floats:
    """Metres to the goal at the start less those at the end; not finite where no way leads on."""
    found = np.full_like(first, np.nan)
    return np.subtract(first, last, out=found, where=np.isfinite(first) | np.isfinite(last))


def _soft_success(first: Floats, last: Floats) -> Floats:
    """The part of the way to the goal that was covered, at least 0; of no way, 1 for no way left.

    Nothing is covered of a way that leads nowhere.
    """
    left = np.where(last > _NOTHING_M, np.inf, 0.0)
    np.divide(last, first, out=left, where=np.isfinite(first) & (first > _NOTHING_M))
    return np.maximum(0.0, 1.0 - left)


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
