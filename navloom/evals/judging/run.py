"""Judging as a batch: one sample an explanation or a step, a run folder like any other.

A run's line has the verdict with prompt and replies under ``result``; its ``status`` is ``ok``
where there is a verdict, whatever it says, and ``failed`` where the item is unscored. What the file
held besides is in ``left.jsonl``. The same command on the same folder goes on; a file with other
content is another request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from navloom.errors import DataError, UsageError
from navloom.evals.dry import DryRun, dry_asks
from navloom.evals.engine import run_batch
from navloom.evals.jsonl import encode_line
from navloom.evals.judging.rows import Answers, lines_of, read_answers, sample_name, unique
from navloom.evals.run_folder import RunFolder, read_samples
from navloom.evals.sample import Sample, sample_seed
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.files import write_whole
from navloom.graphs.judging import reasoning, rubric
from navloom.judges.rubric_file import Rubric, load_rubric
from navloom.judges.trace import Step, steps_of
from navloom.models.registry import model_of
from navloom.prompts.load import load_prompt

__all__ = [
    "JudgeRequest",
    "Judging",
    "ReasoningJob",
    "RubricJob",
    "Totals",
    "judge_answers",
    "judge_traces",
    "plan_answers",
    "plan_traces",
    "read_steps",
    "totals",
]

REASONING, TRACE = "judge_reasoning", "judge_trace"
_SHOWN = 4_000
"""Characters of an explanation that a line keeps; all of it went to the judge's fence."""


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """Everything the outcome of a judging depends on, besides what is judged."""

    model: str = "builtin/heuristic"
    max_reasks: int = 1
    constrain: bool = True
    seed: int = 0
    rubric: str = "trace"
    """Of traces: the rubric's name or file."""

    def __post_init__(self) -> None:
        if not 0 <= self.max_reasks <= 10:
            raise UsageError(f"max_reasks is {self.max_reasks}: expected 0 to 10")

    def record(self, kind: str) -> dict[str, Any]:
        """As ``run.json`` keeps it."""
        own = {key: value for key, value in asdict(self).items() if key != "rubric"}
        if kind == REASONING:
            return {**own, "prompt": load_prompt(reasoning.PROMPT).record}
        rubric_file = load_rubric(self.rubric).model_dump(mode="json")
        return {**own, "rubric": rubric_file, "prompt": load_prompt(rubric.PROMPT).record}


@dataclass(frozen=True)
class ReasoningJob:
    """How a batch judges one explanation.

    Attributes:
        request: how.
        given: explanation and record by sample id.
        bare: ids of samples that are shown without defences, for measuring.
    """

    request: JudgeRequest
    given: Mapping[str, tuple[str, dict[str, Any]]]
    bare: frozenset[str] = frozenset()

    @property
    def model(self) -> str:
        """The judge."""
        return self.request.model

    def build(self, checkpointer: Any) -> Any:
        """The graph."""
        return reasoning.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """One explanation with its record."""
        explanation, record = self.given[sample.id]
        return {"seed": sample.seed, "explanation": explanation, "record": record}

    def context(self, sample: Sample, model: Any = None) -> reasoning.Context:
        """The graph's context; ``model`` stands in for the request's."""
        asked, fenced = self.request, sample.id not in self.bare
        judge = model or model_of(asked.model)
        return reasoning.Context(judge, fenced, asked.max_reasks, asked.constrain)

    def record(self, _: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict."""
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


@dataclass(frozen=True)
class RubricJob:
    """How a batch grades one step."""

    request: JudgeRequest
    steps: Mapping[str, Step]

    @property
    def model(self) -> str:
        """The judge."""
        return self.request.model

    def build(self, checkpointer: Any) -> Any:
        """The graph."""
        return rubric.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """One step."""
        return {"seed": sample.seed, "step": self.steps[sample.id].model_dump(mode="json")}

    def context(self, _: Sample, model: Any = None) -> rubric.Context:
        """The graph's context; ``model`` stands in for the request's."""
        asked = self.request
        return rubric.Context(
            model=model or model_of(asked.model),
            rubric=self._rubric,
            max_reasks=asked.max_reasks,
            constrain=asked.constrain,
        )

    @property
    def _rubric(self) -> Rubric:
        return load_rubric(self.request.rubric)

    def record(self, _: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """The grades."""
        return {key: state.get(key) for key in ("status", "reason", "message", "result")}


@dataclass(frozen=True)
class Judging:
    """A judging that is worked out and not begun.

    Attributes:
        kind: of the run.
        samples: one an item.
        job: how each is judged.
        asked: what is judged, by content; with the judge it is the run's request.
        where: where the items are on this machine.
    """

    kind: str
    samples: list[Sample]
    job: ReasoningJob | RubricJob
    asked: Mapping[str, Any]
    where: Mapping[str, str] = field(default_factory=dict)

    def dry_run(self, session: Session | None = None) -> DryRun:
        """Say what it would do; neither a model nor a folder is touched.

        Raises:
            ModelError: the judge cannot be named.
            UsageError: a sample is not in the run.
        """
        return dry_asks(self.job, self.samples, session, reasks=self.job.request.max_reasks)

    def run(self, out: Path, session: Session | None = None) -> Summary:
        """Judge, or go on with it.

        Raises:
            RunError: the folder cannot be used.
            ModelError: the judge cannot be named or used.
            UsageError: a sample is not in the run.
        """
        return asyncio.run(self._run(out, session or Session()))

    async def _run(self, out: Path, session: Session) -> Summary:
        session.check_models(self.job.model)
        session.picked(self.samples)
        request = self.job.request
        shape = TRACE if isinstance(self.job, RubricJob) else REASONING
        asked = {**request.record(shape), **self.asked}
        with RunFolder(
            out, kind=self.kind, request=asked, seed=request.seed, where=self.where
        ) as folder:
            return await run_batch(folder, self.samples, self.job, session)


def plan_answers(path: Path, request: JudgeRequest) -> tuple[Judging, Answers]:
    """What judging a file of explanations would be, and what the file held.

    Args:
        path: one JSON object a line (:mod:`navloom.evals.judging.rows`).
        request: how.

    Raises:
        DataError: the file cannot be read or holds nothing to judge.
    """
    answers = read_answers(path)
    samples = [
        Sample(
            row.name,
            sample_seed(request.seed, row.name),
            row.scene,
            columns={
                "answer_id": row.id,
                "agent": row.agent,
                "explanation": row.explanation[:_SHOWN],
            },
        )
        for row in answers.rows
    ]
    job = ReasoningJob(request, {row.name: (row.explanation, row.record) for row in answers.rows})
    asked, where = {"answers": answers.digest}, {"answers": str(path)}
    return Judging(REASONING, samples, job, asked, where), answers


def judge_answers(
    path: Path, out: Path, request: JudgeRequest, session: Session | None = None
) -> tuple[Summary, Answers]:
    """Judge a file of explanations, or go on with it.

    Args:
        path: one JSON object a line (:mod:`navloom.evals.judging.rows`).
        out: the run's folder.
        request: how.
        session: how to go through it; one of its own unless given.

    Raises:
        DataError: the file cannot be read or holds nothing to judge.
        RunError: the folder cannot be used.
        ModelError: the judge cannot be named or used.
    """
    judging, answers = plan_answers(path, request)
    summary = judging.run(out, session)
    if answers.left:
        write_whole(
            out / "left.jsonl", b"".join(encode_line(asdict(each)) for each in answers.left)
        )
    return summary, answers


def plan_traces(where: Path, request: JudgeRequest) -> tuple[Judging, list[str]]:
    """What grading every step of a navigation run, or of a file of its lines, would be.

    Returns:
        The judging, and one line for each episode that could not be read.

    Raises:
        DataError: there is no step to grade, or the rubric is broken.
    """
    steps, faults = read_steps(where)
    taken: set[str] = set()
    named = {unique(sample_name(step.id), taken): step for step in steps}
    samples = [
        Sample(name, sample_seed(request.seed, name), step.scene, columns={"of": step.id})
        for name, step in named.items()
    ]
    told = json.dumps([step.model_dump(mode="json") for step in steps], sort_keys=True)
    job, asked = RubricJob(request, named), {"steps": _digest(told)}
    return Judging(TRACE, samples, job, asked, {"steps": str(where)}), faults


def judge_traces(
    where: Path, out: Path, request: JudgeRequest, session: Session | None = None
) -> tuple[Summary, list[str]]:
    """Grade every step of a navigation run, or of a file of its lines, or go on with it.

    Returns:
        The run's totals, and one line for each episode that could not be read.

    Raises:
        DataError: there is no step to grade, or the rubric is broken.
        RunError: the folder cannot be used.
        ModelError: the judge cannot be named or used.
    """
    judging, faults = plan_traces(where, request)
    return judging.run(out, session), faults


def read_steps(where: Path) -> tuple[list[Step], list[str]]:
    """The steps with a reasoning of a run's folder, or of a file of its lines.

    Returns:
        Them, and one line for each episode that could not be read.

    Raises:
        DataError: there is none, or the file cannot be read.
    """
    steps: list[Step] = []
    faults: list[str] = []
    for row in read_samples(where) if where.is_dir() else _rows(where, faults):
        try:
            steps += steps_of(row)
        except DataError as error:
            faults.append(str(error))
    if not steps:
        first = f" The first fault: {faults[0]}." if faults else ""
        raise DataError(
            f"{where}: no step says why; run the navigator with --cot to have reasons.{first}"
        )
    return steps, faults


def _rows(path: Path, faults: list[str]) -> list[dict[str, Any]]:
    rows = []
    for number, line in lines_of(path):
        try:
            row = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            faults.append(f"line {number}: not JSON")
            continue
        if isinstance(row, dict):
            rows.append(row)
        elif row is not None:
            faults.append(f"line {number}: expected an object")
    return rows


def _digest(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Totals:
    """What judged explanations come to.

    Attributes:
        items: all of them.
        correct: found correct.
        wrong: found not correct.
        unscored: without a verdict; neither.
        partial: the mean share of barriers named, of those where it is known.
    """

    items: int
    correct: int
    wrong: int
    unscored: int
    partial: float | None


def totals(run: Path) -> Totals:
    """Add up a run of explanations."""
    results = [row["result"] or {} for row in read_samples(run)]
    verdicts = [result.get("correct") for result in results]
    shares = [r["partial"] for r in results if isinstance(r.get("partial"), int | float)]
    return Totals(
        len(results),
        verdicts.count(True),
        verdicts.count(False),
        verdicts.count(None),
        sum(shares) / len(shares) if shares else None,
    )
