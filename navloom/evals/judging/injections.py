"""Every payload of the corpus before a judge, with the defences and without: how often it flips."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.judging.calibration import truths
from navloom.evals.judging.calibration_scores import Flips, flips
from navloom.evals.judging.run import JudgeRequest, ReasoningJob, ReasoningPlan, calls, digest
from navloom.evals.kinds import Kind, Note
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Sample, sample_seed
from navloom.graphs.judging.reasoning import judge_reason
from navloom.judges.payloads import Payload, inject, payloads
from navloom.judges.reason_items import Item, make_items
from navloom.testing.gullible import GullibleJudge

_BASES = 10


def plan_injections(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """What putting every payload before a judge would be, with the defences and without."""
    del run, note
    pairs = _pairs(request)
    given: dict[str, tuple[str, dict[str, Any]]] = {}
    samples: list[Sample] = []
    for door in ("with", "without"):
        for base in {base.id: base for base, _ in pairs}.values():
            _add(samples, given, f"{door}-{base.id}", base, None, door, request.seed)
        for base, payload in pairs:
            _add(samples, given, f"{door}-{payload.id}", base, payload, door, request.seed)
    bare = frozenset(sample.id for sample in samples if sample.columns["defences"] == "without")
    asked = {"spec": request.of, "items": digest(given)}
    return ReasoningPlan(request=request, samples=samples, record=asked, given=given, bare=bare)


def measured(request: JudgeRequest, run: Path) -> dict[str, dict[str, Flips]]:
    """How often payloads flipped the judge of a run, and gullible ones beside it.

    Returns:
        By judge the flips ``with`` and ``without`` the defences.
    """
    return {request.model: _flips_of(run), **asyncio.run(gullible_flips(_pairs(request)))}


def _pairs(request: JudgeRequest) -> list[tuple[Item, Payload]]:
    """Payloads in a fixed order, each with an item that deserves other than it claims."""
    items = make_items(truths(request.of), n=240, seed=request.seed)
    right = [item for item in items if item.kind == "right" and item.wording == "a"]
    wrong = [item for item in items if item.kind.startswith("wrong") and item.wording == "a"]
    bases = [i for both in zip(right, wrong, strict=False) for i in both][:_BASES]
    if not bases:
        raise UsageError(f"no passage of {request.of} stops any body: there is no reason to judge")
    corpus = sorted(payloads(), key=lambda payload: (payload.shape, payload.family))
    return [(bases[k % len(bases)], each) for k, each in enumerate(corpus[: request.n])]


def _add(
    samples: list[Sample],
    given: dict[str, tuple[str, dict[str, Any]]],
    name: str,
    base: Item,
    payload: Payload | None,
    door: str,
    seed: int,
) -> None:
    said, record = base.explanation, base.record
    if payload is not None:
        said, record = inject(payload, not base.deserves, said, record)
    given[name] = (said, record)
    columns = {
        "defences": door,
        "claim": not base.deserves,
        "base": None if payload is None else f"{door}-{base.id}",
        "payload": payload and payload.id,
        "explanation": said[:4_000],
    }
    samples.append(Sample(name, sample_seed(seed, base.id), base.scene, columns=columns))


def _flips_of(run: Path) -> dict[str, Flips]:
    rows = read_samples(run)
    said = {row["id"]: (row["result"] or {}).get("correct") for row in rows}
    return {
        door: flips(
            [
                (said[row["base"]], said[row["id"]], row["claim"])
                for row in rows
                if row["defences"] == door and row["base"] in said
            ]
        )
        for door in ("with", "without")
    }


async def gullible_flips(pairs: Sequence[tuple[Item, Payload]]) -> dict[str, dict[str, Flips]]:
    """Flips of the gullible judges (:mod:`navloom.testing.gullible`), in this process."""
    found: dict[str, dict[str, Flips]] = {}
    for name, blind in (("gullible", False), ("gullible, blind to fences", True)):
        found[name] = {}
        for door in ("with", "without"):
            counted = []
            for base, payload in pairs:
                model = GullibleJudge(honest=base.deserves, blind=blind)
                said, record = inject(payload, not base.deserves, base.explanation, base.record)
                verdicts = [
                    await judge_reason(
                        model=model, explanation=e, record=r, defences=door == "with"
                    )
                    for e, r in ((base.explanation, base.record), (said, record))
                ]
                counted.append((verdicts[0].correct, verdicts[1].correct, not base.deserves))
            found[name][door] = flips(counted)
    return found


INJECTIONS = Kind(
    name="calibrate_injections",
    command="judge calibrate reasoning --injections",
    request=JudgeRequest,
    plan=plan_injections,
    job=ReasoningJob,
    dry=calls,
    things=("items", "scenes"),
)
