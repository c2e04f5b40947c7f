"""Judging as a batch: one sample an explanation or a step, a run folder like any other.

A run's line has the verdict with prompt and replies under ``result``; its ``status`` is ``ok``
where there is a verdict, whatever it says, and ``failed`` where the item is unscored. What the file
held besides is in ``left.jsonl``. The same command on the same folder goes on; a file with other
content is another request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from navloom.errors import DataError
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.rows import lines_of, read_answers, sample_name, unique
from navloom.evals.kinds import Calls, Note, Plan, read_run_of
from navloom.evals.run_folder import read_samples
from navloom.evals.session import Job, Sample
from navloom.files import encode_line
from navloom.graphs.judging import reasoning, rubric
from navloom.judges.trace import Step, load_rubric, steps_of

_SHOWN = 4_000
"""Characters of an explanation that a line keeps; all of it went to the judge's fence."""


@dataclass(kw_only=True)
class ReasoningPlan(Plan):
    """Explanations to judge.

    Attributes:
        given: explanation and record by sample id.
        bare: ids of samples that are shown without defences, for measuring.
    """

    given: Mapping[str, tuple[str, dict[str, Any]]]
    bare: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReasoningJob(Job):
    """How one explanation is judged."""

    plan: ReasoningPlan

    graph = reasoning

    def input(self, sample: Sample) -> dict[str, Any]:
        """One explanation with its record."""
        explanation, record = self.plan.given[sample.id]
        return {"seed": sample.seed, "explanation": explanation, "record": record}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """The graph's context; ``model`` stands in for the request's."""
        return self.settings(model, defences=sample.id not in self.plan.bare)


@dataclass(kw_only=True)
class TracePlan(Plan):
    """Steps to grade, by sample id."""

    steps: Mapping[str, Step]


@dataclass(frozen=True)
class RubricJob(Job):
    """How one step is graded."""

    plan: TracePlan

    graph = rubric

    def input(self, sample: Sample) -> dict[str, Any]:
        """One step."""
        return {"seed": sample.seed, "step": self.plan.steps[sample.id].model_dump(mode="json")}

    def context(self, _: Sample, model: Any = None) -> Any:
        """The graph's context; ``model`` stands in for the request's."""
        return self.settings(model, rubric=load_rubric(self.plan.request.rubric))


def plan_answers(request: JudgeRequest, run: Path | None, note: Note) -> ReasoningPlan:
    """What judging a file of explanations would be (:mod:`navloom.evals.judging.rows`).

    Raises:
        DataError: the file cannot be read or holds nothing to judge.
    """
    del run, note
    answers = read_answers(Path(request.of))
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
    """What grading every step of a navigation run, or of a file of its lines, would be.

    Raises:
        DataError: there is no step to grade, or the rubric is broken.
    """
    del run, note
    steps, _ = read_steps(Path(request.of))
    taken: set[str] = set()
    named = {unique(sample_name(step.id), taken): step for step in steps}
    samples = [
        Sample.of(request.seed, name, step.scene, of=step.id) for name, step in named.items()
    ]
    told = digest([step.model_dump(mode="json") for step in steps])
    return TracePlan(request=request, samples=samples, record={"steps": told}, steps=named)


def read_steps(where: Path) -> tuple[list[Step], list[str]]:
    """The steps with a reasoning of a run's folder, or of a file of its lines.

    Returns:
        Them, and one line for each episode that could not be read.

    Raises:
        DataError: there is none, or the file cannot be read.
    """
    steps: list[Step] = []
    faults: list[str] = []
    for row in rows_of(where, faults, "navigate"):
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


def rows_of(where: Path, faults: list[str], *kinds: str) -> list[dict[str, Any]]:
    """The lines of a run's folder, or of a file of them; what is no object is added to faults.

    Args:
        where: the folder or the file.
        faults: what is wrong with lines; added to.
        kinds: of which one a folder's run must be.
    """
    if where.is_dir():
        read_run_of(where, *kinds)
        return read_samples(where)
    rows = []
    for number, line in lines_of(where):
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


def digest(value: Any) -> str:
    """What a run remembers items by."""
    return sha256(json.dumps(value, sort_keys=True, default=list).encode()).hexdigest()


def calls(made: Plan) -> Calls:
    """Of any judging: one question an item, sent back as often as may be."""
    return Calls.of_asks(made.request.model, made.request.max_reasks)
