"""May a trajectory be scored at all? Whoever cannot have walked it is told where it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from navloom.errors import did_you_mean
from navloom.evals.navigation.metrics_ground import Ground, Ids
from navloom.scenes.files import short

__all__ = ["MOST_POSITIONS", "Invalid", "InvalidReason", "broken_hops", "faulty_path"]

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
