"""One row of a run before it ran, and what a batch needs to know to run it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from navloom.errors import UsageError, did_you_mean
from navloom.evals.run_folder import check_id

__all__ = ["Job", "Sample", "select"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of a run, before it ran.

    Attributes:
        id: unique in the run, safe as a file name.
        seed: of everything random in it; see ``run.sample_seed``.
        scene: the URI of its scene.
        attempt: which attempt in that scene it is, from 0.
        columns: further columns of its line that are known beforehand, however it ends.
        epoch: which of several tries at one thing; a cached reply of one is not that of another.
    """

    id: str
    seed: int
    scene: str
    attempt: int = 0
    columns: Mapping[str, Any] = field(default_factory=dict)
    epoch: int = 0

    def __post_init__(self) -> None:
        check_id(self.id)


class Job(Protocol):
    """What a batch does with each sample."""

    @property
    def model(self) -> str:
        """``provider/name`` of the model whose calls are counted, for the price."""

    def build(self, checkpointer: Any) -> Any:
        """The compiled graph, with this checkpointer."""

    def input(self, sample: Sample) -> dict[str, Any]:
        """What the graph is called with."""

    def context(self, sample: Sample, model: Any = None) -> Any:
        """The graph's context; scenes load here, when their sample's turn has come.

        Args:
            sample: whose.
            model: stands in for all models of the job, in a dry run.
        """

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of a finished sample's line that its state decides.

        At least ``status`` (``"ok"`` or ``"failed"``), and ``reason``, ``message``, ``result``.
        """


def select(
    samples: Sequence[Sample], *, limit: int | None = None, ids: Iterable[str] | None = None
) -> set[str]:
    """The ids that ``--limit`` and ``--sample-id`` leave of a run.

    Args:
        samples: all samples of the run, in its order.
        limit: keep the first so many.
        ids: keep these; with ``limit``, the first so many of these.

    Raises:
        UsageError: an id is not in the run.
    """
    wanted = set(ids or ())
    known = {sample.id for sample in samples}
    for name in sorted(wanted - known):
        hint = did_you_mean(name, known) or f" Ids are such as '{min(known)}'."
        raise UsageError(f"no sample '{name}' in this run.{hint}")
    kept = [sample.id for sample in samples if not wanted or sample.id in wanted]
    return set(kept[:limit])
