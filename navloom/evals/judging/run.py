"""Batch judging of explanations and navigation steps, one sample for each.

A line of the run has the verdict with prompt and replies under ``result``. Its ``status`` is ``ok``
with any verdict, and ``failed`` if the item is unscored. Lines of the file that are not judged are
in ``left.jsonl``. The same command on the same folder resumes the run; a file with other content is
a different request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from navloom.errors import DataError
from navloom.evals.judging import answer_file
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import CallBounds, Note, RunPlan, read_run_of_kind
from navloom.evals.session import Job, Sample
from navloom.files import encode_line
from navloom.graphs.judging import reasoning_judge, rubric_judge
from navloom.judges.trace_rubric import TraceStep, load_rubric, trace_steps

_SHOWN = 4_000
"""Characters of an explanation that a line keeps; the judge gets all of it."""


@dataclass(kw_only=True)
class ReasoningPlan(RunPlan):
    """The plan of a run that judges explanations.

    Attributes:
        given: explanation and record by sample id.
        bare: ids of samples that are judged without defences, to measure these.
    """

    given: Mapping[str, tuple[str, dict[str, Any]]]
    bare: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReasoningJob(Job):
    """The job that judges one explanation."""

    plan: ReasoningPlan

    graph = reasoning_judge

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: an explanation with its record."""
        explanation, record = self.plan.given[sample.id]
        return {"seed": sample.seed, "explanation": explanation, "record": record}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the graph's context; ``model`` replaces the request's."""
        return self.settings(model, defences=sample.id not in self.plan.bare)


@dataclass(kw_only=True)
class TracePlan(RunPlan):
    """The plan of a run that grades steps, by sample id."""

    steps: Mapping[str, TraceStep]


@dataclass(frozen=True)
class RubricJob(Job):
    """The job that grades one step."""

    plan: TracePlan

    graph = rubric_judge

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: seed and step."""
        return {"seed": sample.seed, "step": self.plan.steps[sample.id].model_dump(mode="json")}

    def context(self, _: Sample, model: Any = None) -> Any:
        """Return the graph's context; ``model`` replaces the request's."""
        return self.settings(model, rubric=load_rubric(self.plan.request.rubric))


def plan_answers(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """Return the plan to judge a file of explanations (:mod:`navloom.evals.judging.answer_file`).

    Raises:
        DataError: the file cannot be read or holds nothing to judge.
    """
    del run, note
    answers = answer_file.read_answers(Path(request.of))
    samples = [
        Sample.of(
            request.seed,
            row.name,
            row.scene,
            answer_id=row.id,
            agent=row.agent,
            explanation=row.explanation[:_SHOWN],
        )
        for row in answers.rows
    ]
    left = b"".join(encode_line(asdict(each)) for each in answers.left)
    return ReasoningPlan(
        request=request,
        samples=samples,
        record={"answers": answers.digest},
        files={"left.jsonl": left} if left else {},
        given={row.name: (row.explanation, row.record) for row in answers.rows},
    )


def plan_traces(request: JudgeRequest, run: Path | None, note: Note) -> TracePlan:
    """Return the plan to grade every step of a navigation run, or of a file of its lines.

    Raises:
        DataError: there is no step to grade, or the rubric is broken.
    """
    del run, note
    steps, _ = read_steps(Path(request.of))
    taken: set[str] = set()
    named = {
        answer_file.unique_name(answer_file.safe_file_name(step.id), taken): step for step in steps
    }
    samples = [Sample.of(request.seed, key, step.scene, of=step.id) for key, step in named.items()]
    told = json_digest([step.model_dump(mode="json") for step in steps])
    return TracePlan(request=request, samples=samples, record={"steps": told}, steps=named)


def read_steps(where: Path) -> tuple[list[TraceStep], list[str]]:
    """Read the steps that have a reasoning from a run's folder, or a file of its lines.

    Returns:
        The steps, and a message for each episode that could not be read.

    Raises:
        DataError: there are none, or the file cannot be read.
    """
    steps: list[TraceStep] = []
    faults: list[str] = []
    for row in read_rows(where, faults, "navigate"):
        try:
            steps += trace_steps(row)
        except DataError as error:
            faults.append(str(error))
    if not steps:
        first = f" The first fault: {faults[0]}." if faults else ""
        raise DataError(
            f"{where}: no step says why; run the navigator with --cot to have reasons.{first}"
        )
    return steps, faults


def read_rows(where: Path, faults: list[str], *kinds: str) -> list[dict[str, Any]]:
    """Read the lines of a run's folder, or of a JSON-lines file.

    Args:
        where: the folder or the file.
        faults: messages about lines that are no JSON objects are appended to it.
        kinds: allowed kinds of a folder's run.
    """
    if where.is_dir():
        read_run_of_kind(where, *kinds)
        return read_samples(where)
    rows = []
    for number, line in answer_file.numbered_lines(where):
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


def json_digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, in hex."""
    return sha256(json.dumps(value, sort_keys=True, default=list).encode()).hexdigest()


def calls(made: RunPlan) -> CallBounds:
    """Return the bounds of calls of any judge run: one question for each item, plus retries."""
    return CallBounds.of_questions(made.request.model, made.request.max_reasks)
