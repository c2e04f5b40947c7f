"""Traversability record of a path: the ground truth of each passage on it (CapNav, C.2).

    {"total_edges": 2, "traversable": 1, "non_traversable": 1, "unlabelled": 0, "missing": 0,
     "agent": "WHEELCHAIR",
     "edges": [{"from", "to", "from_name", "to_name", "exists", "traversable", "note",
                "ground_truth": {"exists", "traversable", "note"}}, ...]}

``unlabelled``, ``missing`` and ``agent`` are ours; a record without them is valid too. An
unlabelled passage has ``traversable`` null: it is neither a barrier nor open. A step along no edge
has ``exists`` false and counts as a barrier. ``ground_truth`` repeats these values, as the
benchmark's files do; where the two differ, ``ground_truth`` counts.

A note is an annotator's words ("door sill", "dooe too narrow", "sofa block thw way") or those of
:func:`navloom.scenes.passability.link_traversability`. It may name several kinds of barrier
(`barrier_causes`), by which calibration and its tables count. A note that names no kind known here
("invalid node") has none, and calibration skips its passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from navloom.errors import DataError
from navloom.scenes.bodies import canonical_name
from navloom.scenes.safe_files import first_problem
from navloom.scenes.traversability_table import Traversability

NO_EDGE = "there is no passage between the two"
_Name = Annotated[str, Field(max_length=300)]
_Note = Annotated[str, Field(max_length=4_000)]
_MOST_EDGES = 2_000


class _Truth(BaseModel):
    model_config = ConfigDict(frozen=True)

    exists: StrictBool = True
    traversable: StrictBool | None
    note: _Note | None = ""


class PathEdge(_Truth):
    """One passage of the path, in the direction of travel."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    a: Annotated[_Name, Field(alias="from")]
    b: Annotated[_Name, Field(alias="to")]
    from_name: _Name | None = None
    to_name: _Name | None = None
    ground_truth: _Truth | None = None

    @property
    def truth(self) -> _Truth:
        """The values that count: ``ground_truth`` if present, else those of the passage."""
        return self.ground_truth or self

    @property
    def is_barrier(self) -> bool:
        """True if the passage stops the body; False where the passage is unlabelled."""
        return self.truth.traversable is False or not self.truth.exists

    @property
    def name(self) -> str:
        """The edge's name in verdicts, ``node_1->node_2``."""
        return f"{self.a}->{self.b}"


class PathRecord(BaseModel):
    """A validated record; counts are computed from the edges, whatever the file says."""

    model_config = ConfigDict(frozen=True)

    edges: Annotated[tuple[PathEdge, ...], Field(max_length=_MOST_EDGES)]
    agent: _Name | None = None

    @property
    def barriers(self) -> tuple[PathEdge, ...]:
        """The passages that stop the body, along the path."""
        return tuple(edge for edge in self.edges if edge.is_barrier)


def build_record(traversability: Traversability, body: str, path: Sequence[str]) -> dict[str, Any]:
    """Return the record of a path, as JSON.

    Args:
        traversability: every passage of the scene.
        body: the body's name.
        path: nodes, both ends included; consecutive nodes need not be joined. The steps of an
            unknown node count as missing.

    Raises:
        SceneError: the body has no labels at all.
    """
    there = {*traversability.edges, *((b, a) for a, b in traversability.edges)}
    edges = [_edge(traversability, body, a, b, (a, b) in there) for a, b in pairwise(path)]
    return {
        "total_edges": len(edges),
        "traversable": sum(edge["traversable"] is True for edge in edges),
        "non_traversable": sum(edge["traversable"] is False for edge in edges),
        "unlabelled": sum(edge["traversable"] is None for edge in edges),
        "missing": sum(not edge["exists"] for edge in edges),
        "agent": canonical_name(body),
        "edges": edges,
    }


def _edge(table: Traversability, body: str, a: str, b: str, exists: bool) -> dict[str, Any]:
    passage = table.passage(body, a, b)
    truth = {
        "exists": exists,
        "traversable": passage.traversable if exists else False,
        "note": passage.note if exists else NO_EDGE,
    }
    names = table.names
    ends = {"from": a, "to": b, "from_name": names.get(a, a), "to_name": names.get(b, b)}
    return {**ends, **truth, "ground_truth": truth}


def read_record(value: Any) -> PathRecord:
    """Validate a record.

    Args:
        value: parsed JSON.

    Raises:
        DataError: it is not a record; the message names the field.
    """
    if not isinstance(value, dict):
        raise DataError(
            f"record: expected a traversability record with edges, found {type(value).__name__}"
        )
    try:
        return PathRecord.model_validate(value)
    except ValidationError as error:
        raise DataError(f"record: {first_problem(error)}") from error


_PATTERNS = {
    "narrow": r"narrow|\bno\w? enough space|enough space|space between|not fit",
    "stairs": r"\bstairs?\b(?!-side| landing)",
    "door": r"open the door|open door|cannot open|door is locked|locked door",
    "rise": r"\bsills?\b|height|tiny step|\brise of\b|tatami|threshold|too thick|think fur|step\b",
    "elevator": r"elevator|\blift\b",
    "turn": r"\bturn(?:ing)?\b",
    "clutter": r"clutter|\bblock(?:s|ed)?\b|in the way|\bbench\b|prevents entering",
    "terrain": r"terrain|steep|sewage|gravel|grass",
    "missing": re.escape(NO_EDGE),
}
_COMPILED = {cause: re.compile(pattern, re.IGNORECASE) for cause, pattern in _PATTERNS.items()}
_ASIDE = re.compile(
    r"next to the stairs?|between (?:the )?stairs?\b|stair[- ]side|to stair|at the stair",
    re.IGNORECASE,
)
"""Stairs that a note mentions as a location, not as the barrier."""


def barrier_causes(note: str) -> frozenset[str]:
    """Return the kinds of barrier that a note names; empty where it names none known.

    >>> sorted(barrier_causes("cannot go up/down stairs; door too narrow"))
    ['narrow', 'stairs']
    """
    text = _ASIDE.sub(" ", note[:4_000])
    return frozenset(cause for cause, pattern in _COMPILED.items() if pattern.search(text))
