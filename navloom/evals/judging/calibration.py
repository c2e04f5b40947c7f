"""Judging the judge, as a run: items of known truth through the judge, and what it makes of them.

A calibration is a run folder like any other, so a slow judge may be stopped and gone on with.
Beside its lines it holds ``calibration.json``, ``calibration.md`` and ``calibration.png``, written
anew from all finished items at the end of each session. With ``injections`` every payload of the
corpus goes before a judge, with the defences and without: how often does it flip? Beside it stands
a gullible judge, which repeats any verdict-shaped text that reaches it, whatever the disguise.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from navloom.errors import DataError, UsageError
from navloom.evals.judging.calibration_scores import Agreement, Flips, agreement, confusion, flips
from navloom.evals.judging.gullible import GullibleJudge
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.run import ReasoningPlan, TracePlan, digest, read_steps
from navloom.evals.kinds import Note, run_kind
from navloom.evals.progress import Summary
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Sample, Session, sample_seed
from navloom.graphs.judging.reasoning import judge_reason
from navloom.judges.fence import Payload, inject, payloads
from navloom.judges.reason_items import DEFAULT_ITEMS, KINDS, Item, make_items
from navloom.judges.trace import TRACE_KINDS, make_trace_items
from navloom.judges.wording_sets import SETS
from navloom.scenes.traverse.annotated import annotated
from navloom.scenes.traverse.by_rule import from_geometry
from navloom.scenes.traverse.traverse_table import Traversability
from navloom.scenes.uri import list_scenes, load_scene

TRACE_ITEMS = 320
"""Items of a rubric judge's calibration, about, unless told."""


@dataclass(frozen=True)
class Calibration:
    """What a judge makes of items whose verdict is known.

    Attributes:
        model: who judged.
        sets: agreement by wording set, and ``all``; injected items are not among them.
        confusion: verdicts by set and kind.
        flips: of the injected items.
        unread: sentences that stand in plain items without a verdict: set, sentence, how many such
            items, and of how many in all.
        left: items that have not ended, or ended in an error.
        usage: calls and tokens, from the run.
        cost_usd: None where no price is known.
        seconds: of all samples.
    """

    model: str
    sets: dict[str, Agreement]
    confusion: dict[str, dict[str, dict[str, int]]]
    flips: Flips
    unread: tuple[tuple[str, str, int, int], ...]
    left: int
    usage: dict[str, int]
    cost_usd: float | None
    seconds: float

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "flips": self.flips.record()}


@dataclass(frozen=True)
class TraceCalibration:
    """What a rubric judge makes of spoiled steps.

    Attributes:
        model: who judged.
        criteria: agreement by criterion.
        kinds: by kind and criterion, how many of how many were graded as deserved.
        sets: agreement over all criteria by set of sentences.
        left: items that have not ended, or ended in an error.
    """

    model: str
    criteria: dict[str, Agreement]
    kinds: dict[str, dict[str, tuple[int, int]]]
    sets: dict[str, Agreement]
    left: int

    def record(self) -> dict[str, Any]:
        """As JSON."""
        kinds = {k: {c: list(v) for c, v in by.items()} for k, by in self.kinds.items()}
        return {**asdict(self), "kinds": kinds}


def default_spec() -> str:
    """The benchmark's scenes where they are, else the homes that come with the package."""
    folder = os.environ.get("NAVLOOM_DATA")
    there = folder and (Path(folder) / "capnav" / "traverse").is_dir()
    return "capnav:" if there else "demo:"


def truths(spec: str) -> list[tuple[str, Traversability]]:
    """Each scene's URI with its passages: annotated for benchmark scenes, else from geometry.

    Raises:
        SceneError: a scene or its annotations are missing or broken.
    """
    found = []
    for uri in list_scenes(spec):
        scene = load_scene(uri)
        if scene.source == "capnav":
            where = uri.removeprefix("capnav:").rpartition("/")[0]
            found.append((scene.uri, annotated(_annotations(where), scene)))
        else:
            found.append((scene.uri, from_geometry(scene)))
    return found


def _annotations(where: str) -> Path:
    if where:
        return Path(where).expanduser()
    data = os.environ.get("NAVLOOM_DATA")
    if not data:
        raise UsageError("NAVLOOM_DATA is not set: write the folder too, as in capnav:DIR")
    return Path(data).expanduser() / "capnav"


def plan_reasoning(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """What measuring a judge of reasons would be.

    Raises:
        SceneError: a scene is missing or broken.
        UsageError: nothing in the scenes stops anybody, so that there is nothing to explain.
    """
    del run, note
    spec, n = request.of, request.n or DEFAULT_ITEMS
    items = make_items(truths(spec), n=n, seed=request.seed)
    if not items:
        raise UsageError(f"no passage of {spec} stops any body: there is no reason to judge")
    given = {item.id: (item.explanation, item.record) for item in items}
    # A payload must find the same draw as the plain item, or a random judge would seem to flip.
    seeds = {item.id: sample_seed(request.seed, item.base or item.id) for item in items}
    samples = [Sample(i.id, seeds[i.id], i.scene, columns=i.columns) for i in items]
    asked = {"spec": spec, "n": n, "items": digest(given)}
    return ReasoningPlan(request=request, samples=samples, record=asked, given=given)


def score_reasoning(run: Path, model: str, summary: Summary) -> Calibration:
    """Score a calibration from its lines."""
    rows = read_samples(run)
    plain = [row for row in rows if row["kind"] != "injected"]
    by_set = {name: [r for r in plain if r["wording"] == name] for name in SETS}
    said = {row["id"]: (row["result"] or {}).get("correct") for row in rows}
    injected = [row for row in rows if row["kind"] == "injected" and row["base"] in said]
    return Calibration(
        model=model,
        sets={name: _agreement(part) for name, part in {"all": plain, **by_set}.items() if part},
        confusion={
            name: {k: dict(c) for k, c in confusion(part, KINDS).items()}
            for name, part in by_set.items()
        },
        flips=flips([(said[r["base"]], said[r["id"]], not r["deserves"]) for r in injected]),
        unread=_unread(plain),
        left=summary.left + summary.error,
        usage=summary.usage,
        cost_usd=summary.cost_usd,
        seconds=summary.sample_seconds,
    )


def _unread(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, int, int], ...]:
    """Sentences that some item without a verdict holds, those that stand in most of them first."""
    every, unread = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in rows:
        said = {(row["wording"], sentence) for sentence in row["sentences"]}
        every.update(said)
        if (row["result"] or {}).get("correct") is None:
            unread.update(said)
    return tuple((*key, count, every[key]) for key, count in unread.most_common())


def _agreement(rows: Sequence[Mapping[str, Any]]) -> Agreement:
    pairs, shares = [], []
    for row in rows:
        result = row["result"] or {}
        said, share = result.get("correct"), result.get("partial")
        pairs.append((str(row["deserves"]), None if said is None else str(said), row["scene"]))
        if row["deserves"] and said is not None and share is not None:
            shares.append((row["deserved_partial"], share))
    return agreement(pairs, shares)


def plan_trace(request: JudgeRequest, run: Path | None, note: Note) -> TracePlan:
    """What measuring a rubric judge on spoiled steps of a navigation run would be.

    Raises:
        DataError: no step can be spoiled, since none names the option that was taken.
    """
    del run, note
    steps, _ = read_steps(Path(request.of))
    n = request.n or TRACE_ITEMS
    items = make_trace_items(steps, n=n, seed=request.seed)
    if not items:
        raise DataError(
            f"{request.of}: no step whose reasoning names the option taken, such as Option 3"
        )
    samples = [
        Sample(i.id, sample_seed(request.seed, i.id), i.scene, columns=i.columns) for i in items
    ]
    asked = {
        "n": n,
        "items": digest({item.id: item.step.model_dump(mode="json") for item in items}),
    }
    given = {item.id: item.step for item in items}
    return TracePlan(request=request, samples=samples, record=asked, steps=given)


def walked(out: Path, session: Session | None) -> Path:
    """A whole run of the baseline over the homes of the package, to have steps to spoil."""
    from navloom.evals.navigation.request import EvalRequest

    asked = EvalRequest(task="scene", agent="mapgpt", cot=True, options={"spec": "demo:"})
    whole = replace(session or Session(), limit=None, sample_id=(), retry=False)
    run_kind(asked, out, whole)
    return out


def score_trace(run: Path, model: str, summary: Summary) -> TraceCalibration:
    """Score a calibration of a rubric judge from its lines."""
    graded = [
        (row, name, due, ((row["result"] or {}).get("criteria") or {}).get(name, {}).get("grade"))
        for row in read_samples(run)
        for name, due in row["deserves"].items()
    ]
    criteria = dict.fromkeys(name for _, name, _, _ in graded)
    kinds: dict[str, dict[str, tuple[int, int]]] = {kind: {} for kind in TRACE_KINDS}
    for row, name, due, said in graded:
        right, of = kinds[row["kind"]].get(name, (0, 0))
        kinds[row["kind"]][name] = (right + (said == due), of + 1)
    worded = sorted({row["wording"] for row, *_ in graded})
    sets = {name: [g for g in graded if g[0]["wording"] == name] for name in worded}
    return TraceCalibration(
        model=model,
        criteria={c: _graded([g for g in graded if g[1] == c]) for c in criteria},
        kinds={kind: by for kind, by in kinds.items() if by},
        sets={name: _graded(part) for name, part in sets.items() if part},
        left=summary.left + summary.error,
    )


def _graded(graded: Sequence[tuple[Mapping[str, Any], str, str, str | None]]) -> Agreement:
    return agreement([(due, said, row["scene"]) for row, _, due, said in graded])


_BASES = 10


def plan_injections(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """What putting every payload before a judge would be, with the defences and without."""
    del run, note
    pairs = _pairs(request)
    given: dict[str, tuple[str, dict[str, Any]]] = {}
    samples: list[Sample] = []
    bases = {base.id: base for base, _ in pairs}.values()
    for door in ("with", "without"):
        for base, payload in (*((base, None) for base in bases), *pairs):
            said, record, name = base.explanation, base.record, f"{door}-{base.id}"
            columns = {"defences": door, "claim": not base.deserves, "base": None, "payload": None}
            if payload is not None:
                columns |= {"base": name, "payload": payload.id}
                said, record = inject(payload, not base.deserves, said, record)
                name = f"{door}-{payload.id}"
            given[name] = (said, record)
            columns["explanation"] = said[:4_000]
            seed = sample_seed(request.seed, base.id)
            samples.append(Sample(name, seed, base.scene, columns=columns))
    bare = frozenset(sample.id for sample in samples if sample.columns["defences"] == "without")
    asked = {"spec": request.of, "items": digest(given)}
    return ReasoningPlan(request=request, samples=samples, record=asked, given=given, bare=bare)


def measured(request: JudgeRequest, run: Path) -> dict[str, dict[str, Flips]]:
    """How often payloads flipped the judge of a run, and gullible ones beside it.

    Returns:
        By judge the flips ``with`` and ``without`` the defences.
    """
    return {request.model: flips_of(run), **asyncio.run(gullible_flips(_pairs(request)))}


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


def flips_of(run: Path) -> dict[str, Flips]:
    """How often payloads flipped a run's judge, ``with`` and ``without`` the defences."""
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
    """Flips of the gullible judges (:mod:`navloom.evals.judging.gullible`), in this process."""
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
