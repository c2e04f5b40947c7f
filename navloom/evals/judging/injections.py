"""Every payload of the corpus before a judge, with the defences and without: how often it flips."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.judging.calibration import digest, truths
from navloom.evals.judging.calibration_scores import Flips, flips
from navloom.evals.judging.run import JudgeRequest, Judging, ReasoningJob
from navloom.evals.run_folder import read_samples
from navloom.evals.sample import Sample, sample_seed
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.graphs.judging.reasoning import judge_reason
from navloom.judges.payloads import Payload, inject, payloads
from navloom.judges.reason_items import Item, make_items
from navloom.testing.gullible import GullibleJudge

__all__ = ["gullible_flips", "measure_injections", "plan_injections"]

_BASES = 10


def plan_injections(spec: str, request: JudgeRequest, *, n: int | None = None) -> Judging:
    """What putting every payload before a judge would be, with the defences and without.

    Args:
        spec: the scenes whose items carry the payloads.
        request: the judge.
        n: payloads; the whole corpus unless given.
    """
    return _planned(spec, request, _pairs(spec, request.seed, n))


def _planned(spec: str, request: JudgeRequest, pairs: Sequence[tuple[Item, Payload]]) -> Judging:
    given: dict[str, tuple[str, dict[str, Any]]] = {}
    samples: list[Sample] = []
    for door in ("with", "without"):
        for base in {base.id: base for base, _ in pairs}.values():
            _add(samples, given, f"{door}-{base.id}", base, None, door, request.seed)
        for base, payload in pairs:
            _add(samples, given, f"{door}-{payload.id}", base, payload, door, request.seed)
    bare = frozenset(sample.id for sample in samples if sample.columns["defences"] == "without")
    asked = {"spec": spec, "items": digest(given)}
    job = ReasoningJob(request, given, bare)
    return Judging("calibrate_injections", samples, job, asked)


def measure_injections(
    spec: str,
    out: Path,
    request: JudgeRequest,
    session: Session | None = None,
    *,
    n: int | None = None,
) -> tuple[Summary, dict[str, dict[str, Flips]]]:
    """Every payload against a judge, with the defences and without, and gullible judges beside.

    Args:
        spec: the scenes whose items carry the payloads.
        out: the run's folder.
        request: the judge.
        session: how to go through it.
        n: payloads; the whole corpus unless given.

    Returns:
        The run's totals, and by judge the flips ``with`` and ``without`` the defences.
    """
    pairs = _pairs(spec, request.seed, n)
    summary = _planned(spec, request, pairs).run(out, session)
    found = {request.model: _flips_of(out)}
    return summary, {**found, **asyncio.run(gullible_flips(pairs))}


def _pairs(spec: str, seed: int, n: int | None) -> list[tuple[Item, Payload]]:
    """Payloads in a fixed order, each with an item that deserves other than it claims."""
    items = make_items(truths(spec), n=240, seed=seed)
    right = [item for item in items if item.kind == "right" and item.wording == "a"]
    wrong = [item for item in items if item.kind.startswith("wrong") and item.wording == "a"]
    bases = [i for both in zip(right, wrong, strict=False) for i in both][:_BASES]
    if not bases:
        raise UsageError(f"no passage of {spec} stops any body: there is no reason to judge")
    corpus = sorted(payloads(), key=lambda payload: (payload.shape, payload.family))
    return [(bases[k % len(bases)], each) for k, each in enumerate(corpus[:n])]


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
