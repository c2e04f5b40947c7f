"""One row of a run before it ran, and what a batch needs to know to run it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from navloom.errors import RunError, UsageError, did_you_mean

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=@-]{0,199}")


def check_id(name: str) -> str:
    """Return a sample id if it is safe as a file name.

    Raises:
        RunError: it is empty, too long, starts with a dot or holds a slash, a colon or a space.
    """
    if not _SAFE_ID.fullmatch(name):
        raise RunError(
            f"{name!r} cannot be a sample id: use letters, digits and . _ + = @ -,"
            " a letter or digit first, at most 200"
        )
    return name


def make_id(scene: str, attempt: int) -> str:
    """The id of an attempt in a scene, safe as a file name.

    ``make_id("hm3d:00006-HkseAnWCgqk", 3)`` is ``"hm3d-00006-HkseAnWCgqk-00003"``; ids of one scene
    sort by attempt. Scenes whose URIs differ in nothing but characters that a file
    name may not hold would share ids: the caller gives URIs as ``Scene.uri`` has them.
    """
    return check_id(f"{re.sub(r'[^A-Za-z0-9._+=@]+', '-', scene).strip('-.')}-{attempt:05d}")


def sample_seed(run_seed: int, sample_id: str) -> int:
    """A sample's seed, from the run's seed and the sample's id alone.

    Returns:
        An integer below 2**48, the same on every machine and in any order of samples.
    """
    digest = blake2b(f"{run_seed}:{sample_id}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")


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


@dataclass(frozen=True)
class Job:
    """What a batch does with each sample; a kind of run says how by its own.

    Attributes:
        plan: what the run is to do (:class:`navloom.evals.kinds.Plan`).
    """

    plan: Any

    @property
    def model(self) -> str:
        """``provider/name`` of the model whose calls are counted where a reply does not say."""
        return str(self.plan.request.models[0])

    def build(self, checkpointer: Any) -> Any:
        """The compiled graph, with this checkpointer."""
        raise NotImplementedError

    def input(self, sample: Sample) -> dict[str, Any]:
        """What the graph is called with."""
        raise NotImplementedError

    def context(self, sample: Sample, model: Any = None) -> Any:
        """The graph's context; scenes load here, when their sample's turn has come.

        Args:
            sample: whose.
            model: stands in for all models of the job, in a dry run.
        """
        raise NotImplementedError

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of a finished sample's line that its state decides.

        At least ``status`` (``"ok"`` or ``"failed"``), and ``reason``, ``message``, ``result``.
        """
        del sample
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


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
