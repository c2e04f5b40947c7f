"""Geodesic distances and edges of several scenes in joined tables, and checks of trajectories.

Joined tables let the episodes of all scenes be scored at once. The checks report where a trajectory
is not possible on the navigation graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from navloom.errors import DataError, did_you_mean
from navloom.scenes.distances import cached_on_scene, metre_table
from navloom.scenes.safe_files import repr_of
from navloom.scenes.scene import Scene

MOST_POSITIONS = 10_000
"""Maximum positions of a trajectory. Beam search, the longest published, needs some hundreds."""

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
class InvalidEpisode:
    """Reason that an episode counts as failed without being measured.

    Attributes:
        reason: kind of fault, for counting.
        message: one line with the fault, its location and the expected value.
    """

    reason: InvalidReason
    message: str


def viewpoint_fault(
    path: Sequence[str] | None, start: str, known: dict[str, int], scene: str
) -> InvalidEpisode | None:
    """Return the fault of a trajectory with no, too many or unknown viewpoints, or None."""
    if path is None:
        return InvalidEpisode("missing", "there is no trajectory for it")
    if not len(path):
        return InvalidEpisode(
            "empty", f"its trajectory is empty: expected at least the start {start}"
        )
    if len(path) > MOST_POSITIONS:
        return InvalidEpisode(
            "too_long",
            f"its trajectory has {len(path):,} positions: expected at most {MOST_POSITIONS:,}",
        )
    at, strange = next(((k, v) for k, v in enumerate(path) if v not in known), (-1, ""))
    if at < 0:
        return None
    near = did_you_mean(strange, known, most=1) if len(strange) <= 200 else ""
    return InvalidEpisode(
        "unknown_viewpoint", f"[{at}] {repr_of(strange)} is no viewpoint of {scene}.{near}".strip()
    )


def find_broken_hops(
    ground: GraphDistances, flat: Ids, lengths: Ids, starts: Ids, names: Sequence[str]
) -> dict[int, InvalidEpisode]:
    """Find paths with a wrong start or with a hop along no edge.

    Args:
        ground: distances of their scenes.
        flat: all paths concatenated, without consecutive repeats.
        lengths: (B,) positions of each path, at least 1.
        starts: (B,) required start of each path.
        names: id of each viewpoint by its index.

    Returns:
        Index in the batch -> first fault of the path.
    """
    first = np.cumsum(lengths) - lengths
    found = {
        int(b): InvalidEpisode(
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
        found.setdefault(b, InvalidEpisode("no_edge", said))
    return found


Ids = NDArray[np.int64]
"""Indices of viewpoints, as assigned by :class:`GraphDistances`."""
Cell = TypeVar("Cell", np.float64, np.bool_)


class GraphDistances:
    """Geodesic distances and edges of several scenes, with lookup for arrays of viewpoints.

    Distances are on the navigation graph, where the weight of an edge is its 3-D length, as in R2R.
    Every viewpoint of every scene has an index. Both ends of a lookup must be in the same scene.

    Args:
        scenes: the scenes by any name, at least one.

    Attributes:
        numbers: scene name -> viewpoint id -> index.
        row: index -> offset of the viewpoint's row in the joined table.
        column: index -> position in a row; the cell ``row[a] + column[b]`` belongs to a and b.
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
        """Return shortest distances in metres of two broadcast index arrays; may be inf."""
        return self.look(self.row.take(a) + self.column.take(b))

    def look(self, cells: Ids) -> NDArray[np.float64]:
        """Return shortest distances in metres by cells of the joined table."""
        return self._metres.take(cells)

    def linked(self, a: Ids, b: Ids) -> NDArray[np.bool_]:
        """Check elementwise whether one edge joins two viewpoints, or the two are the same.

        Args:
            a: indices of viewpoints.
            b: likewise; broadcast against ``a``.

        Returns:
            An array of booleans. A path of several edges does not count.
        """
        return self._linked.take(self.row.take(a) + self.column.take(b))


def indices_of(path: Sequence[str], known: dict[str, int], where: str, least: int = 0) -> list[int]:
    """Return the indices of viewpoints.

    Args:
        path: viewpoint ids.
        known: index of each known viewpoint id.
        where: source of the ids, for error messages.
        least: minimum number of viewpoints.

    Raises:
        DataError: a viewpoint is unknown, or there are too few.
    """
    if len(path) < least:
        raise DataError(f"{where}: expected at least one viewpoint")
    try:
        return [known[viewpoint] for viewpoint in path]
    except KeyError as error:
        strange = str(error.args[0])
        raise DataError(
            f"{where}: there is no viewpoint '{strange}'.{did_you_mean(strange, known, most=1)}"
        ) from None


def pad_paths(flat: Ids, lengths: Ids) -> Ids:
    """Return sequences side by side, each padded with its own last element.

    A path that repeats its end has the same length, end and nearest points, so most metrics need no
    mask.

    Args:
        flat: all sequences, concatenated.
        lengths: (B,) length of each, at least 1.

    Returns:
        Array of shape (longest, B), or (0, 0) for no sequences.
    """
    if not len(lengths):
        return np.zeros((0, 0), np.int64)
    first = np.cumsum(lengths) - lengths
    steps = np.arange(int(lengths.max()))[:, None]
    return flat.take(first + np.minimum(steps, lengths - 1))


def flatten_paths(sequences: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Return sequences concatenated, and the length of each."""
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    flat = np.fromiter(chain.from_iterable(sequences), np.int64, int(lengths.sum()))
    return flat, lengths


def drop_repeats(flat: Ids, lengths: Ids) -> tuple[Ids, Ids]:
    """Drop elements that equal the one before them in their sequence.

    An agent that turns in place repeats its viewpoint, and only DTW would count that.

    Args:
        flat: all sequences, concatenated.
        lengths: (B,) length of each, at least 1.

    Returns:
        The remaining elements, concatenated, and the new lengths.
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
    # A single table is not copied, so that a very large scene is not held twice.
    return flat[0] if len(flat) == 1 else np.concatenate(flat)


@cached_on_scene
def _linked(scene: Scene) -> NDArray[np.bool_]:
    index = metre_table(scene, "3d").index
    joined = np.eye(len(index), dtype=np.bool_)
    for edge in scene.edges:
        a, b = index[edge.a], index[edge.b]
        joined[a, b] = joined[b, a] = True
    return joined
