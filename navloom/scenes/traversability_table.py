"""Traversability table: whether each body can use each passage of a scene.

A cell is looked up in the direction of travel, then reversed. A pair without either is unlabelled,
which is neither yes nor no.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.bodies import canonical_name

Pair = tuple[str, str]
Source = Literal["annotated", "reversed", "geometry", "unlabelled"]


class PassageCell(BaseModel):
    """Answer for one passage and one body."""

    model_config = ConfigDict(frozen=True)

    traversable: StrictBool
    note: Annotated[str, Field(max_length=2_000)] = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """Passage in one direction of travel, for one body.

    Attributes:
        a: the node it leaves.
        b: the node it enters.
        traversable: None if unlabelled.
        note: the reason against it, in the annotator's words or ours; untrusted.
        source: origin of the answer.
    """

    a: str
    b: str
    traversable: bool | None
    note: str
    source: Source

    def record(self) -> dict[str, Any]:
        """Return the passage as JSON."""
        return {
            "from": self.a,
            "to": self.b,
            "traversable": self.traversable,
            "note": self.note,
            "source": self.source,
        }


@dataclass(frozen=True)
class Traversability:
    """Traversability of every passage of a scene for every body.

    Attributes:
        nodes: ids, in the scene's order.
        edges: the passages, each once; they may be used in both directions.
        names: node -> its name for people.
        cells: body -> (from, to) -> the answer.
        details: body -> ("start" or "end", node) -> the answer for a question's place there.
        hallucinated: questions that the annotators rejected.
        source: ``annotated`` or ``geometry``.
    """

    nodes: tuple[str, ...]
    edges: tuple[Pair, ...]
    names: Mapping[str, str]
    cells: Mapping[str, Mapping[Pair, PassageCell]]
    details: Mapping[str, Mapping[tuple[str, str], PassageCell]] = field(default_factory=dict)
    hallucinated: tuple[str, ...] = ()
    source: Literal["annotated", "geometry"] = "annotated"

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies in the table."""
        return tuple(self.cells)

    def passage(self, body: str, a: str, b: str) -> Passage:
        """Return the answer for a body that goes from ``a`` to ``b``.

        Args:
            body: its name; see :func:`get_body`.
            a: the node it leaves.
            b: the node it enters; an edge need not exist.

        Raises:
            SceneError: the table has no such body.
        """
        name = canonical_name(body)
        if name not in self.cells:
            raise SceneError(
                f"nothing is known of the body '{body}' here.{did_you_mean(body, self.cells)}"
                f" There are {', '.join(self.cells)}."
            )
        cells = self.cells[name]
        if (cell := cells.get((a, b))) is not None:
            return Passage(a, b, cell.traversable, cell.note, self.source)
        if (cell := cells.get((b, a))) is not None:
            return Passage(a, b, cell.traversable, cell.note, "reversed")
        return Passage(a, b, None, "", "unlabelled")

    def passages(self, body: str) -> Iterator[Passage]:
        """Yield every passage in both directions."""
        for a, b in self.edges:
            yield self.passage(body, a, b)
            yield self.passage(body, b, a)
