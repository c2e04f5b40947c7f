"""Reader of submissions to R2R, R4R or REVERIE, as untrusted data.

A JSON list of ``{"instr_id": ..., "trajectory": [...]}``, where a trajectory is a list of
``[viewpoint, heading, elevation]``. Two other common forms are accepted: viewpoints as plain
strings, and lists of viewpoints passed in one step (``[["a"], ["b", "c"]]``). Headings are ignored.
A faulty entry is recorded with its id, and the other entries are still read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from navloom.errors import DataError
from navloom.evals.navigation.graph_distances import MOST_POSITIONS, InvalidEpisode
from navloom.files import open_file
from navloom.scenes.safe_files import repr_of

MOST_BYTES = 256 * 1024 * 1024
MOST_ENTRIES = 1_000_000
_DEEPEST = 3
_MOST_ITEMS = 4 * MOST_POSITIONS


@dataclass(frozen=True)
class SubmissionFault:
    """Fault in a submission: a failed episode, or an entry that belongs to none.

    Attributes:
        id: id of the instruction, or the index of the entry.
        what: the fault.
    """

    id: str
    what: InvalidEpisode

    def record(self) -> dict[str, str]:
        """Return the fault as JSON."""
        return {"instr_id": self.id, "reason": self.what.reason, "message": self.what.message}


@dataclass(frozen=True)
class Submission:
    """Content of a submission file.

    Attributes:
        entries: number of entries.
        trajectories: instruction id -> viewpoints, for readable entries.
        faults: instruction id -> fault of the entry.
        nameless: faults of entries without an instruction id.
        pointed: instruction id -> object that the entry names (REVERIE's ``predObjId``).
    """

    entries: int
    trajectories: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, SubmissionFault]
    nameless: tuple[SubmissionFault, ...]
    pointed: Mapping[str, str] = field(default_factory=dict)


def read_submission(path: Path | str) -> Submission:
    """Read a submission.

    An instruction that occurs twice is faulty, since it is unknown which trajectory is meant.

    Raises:
        DataError: the file is missing, too large, not JSON, or not a list of entries.
    """
    entries = _load(Path(path))
    trajectories: dict[str, tuple[str, ...]] = {}
    faults: dict[str, SubmissionFault] = {}
    nameless: list[SubmissionFault] = []
    seen: dict[str, int] = {}
    names: dict[str, str] = {}
    pointed: dict[str, str] = {}
    for k, entry in enumerate(entries):
        name = entry.get("instr_id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name or len(name) > 200:
            said = f"expected an object with instr_id and trajectory, found {repr_of(entry)}"
            nameless.append(SubmissionFault(f"[{k}]", InvalidEpisode("malformed", said)))
            continue
        if name in seen:
            twice = f"it stands twice, as entries {seen[name]} and {k}"
            faults[name] = SubmissionFault(name, InvalidEpisode("duplicate", twice))
            trajectories.pop(name, None)
            continue
        seen[name] = k
        named = entry.get("predObjId")
        if isinstance(named, str | int) and not isinstance(named, bool):
            pointed[name] = str(named)[:200]
        found = read_viewpoints(entry.get("trajectory"))
        if isinstance(found, InvalidEpisode):
            faults[name] = SubmissionFault(name, found)
        else:
            # Thousands of trajectories share a few hundred names, so each name is stored once.
            trajectories[name] = tuple(names.setdefault(v, v) for v in found)
    return Submission(len(entries), trajectories, faults, tuple(nameless), pointed)


def read_viewpoints(trajectory: Any) -> list[str] | InvalidEpisode:
    """Return the viewpoints of a trajectory in any accepted form, or its fault.

    Args:
        trajectory: a list of ``[viewpoint, heading, elevation]``, of viewpoints, or of lists of
            either, nested at most three deep.
    """
    if not isinstance(trajectory, list):
        return InvalidEpisode(
            "malformed", f"its trajectory is {repr_of(trajectory)}: expected a list"
        )
    found: list[str] = []
    for count, item in enumerate(_items(trajectory, _DEEPEST)):
        if isinstance(item, InvalidEpisode):
            return item
        if count >= _MOST_ITEMS or len(found) > MOST_POSITIONS:
            said = f"its trajectory is too long: expected at most {MOST_POSITIONS:,} positions"
            return InvalidEpisode("too_long", said)
        if isinstance(item, str):
            found.append(item)
    return found


def _items(values: list[Any], depth: int) -> Iterator[str | InvalidEpisode | None]:
    """Yield the viewpoints in order, None for an angle, and ``InvalidEpisode`` for other values."""
    for k, value in enumerate(values):
        if isinstance(value, list):
            if depth == 0:
                yield InvalidEpisode("malformed", "its trajectory is nested beyond reason")
            else:
                yield from _items(value, depth - 1)
        elif isinstance(value, str):
            yield value
        elif k and depth < _DEEPEST and (value is None or isinstance(value, int | float)):
            yield None
        else:
            yield InvalidEpisode(
                "malformed",
                f"its trajectory holds {repr_of(value)}: expected [viewpoint, heading, elevation]",
            )


def _load(path: Path) -> list[Any]:
    try:
        with open_file(path) as stream:
            raw = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path}: cannot be read: {why}.") from None
    if len(raw) > MOST_BYTES:
        raise DataError(f"{path}: expected at most {MOST_BYTES:,} bytes, and the file is larger.")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected a submission in JSON: {str(error)[:200]}.") from None
    if not isinstance(content, list) or not content:
        raise DataError(
            f"{path}: expected a list of {{instr_id, trajectory}}, found {repr_of(content)}."
        )
    if len(content) > MOST_ENTRIES:
        raise DataError(f"{path}: expected at most {MOST_ENTRIES:,} entries, got {len(content):,}.")
    return content
