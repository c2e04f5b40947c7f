"""Comparison of task pairs by a judge: which task a person would rather give.

``judge prefer A B`` pairs the tasks of two runs or datasets by home and counts which side is
preferred. ``judge calibrate prefer`` makes pairs of known order
(:mod:`navloom.judges.preference_items`) and counts how often the judge finds that order. Each
sample is a pair, asked in both orders (:mod:`navloom.graphs.judging.preference_judge`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import DataError, UsageError
from navloom.evals.judging.answer_file import safe_file_name
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.run import json_digest, read_rows
from navloom.evals.run_kinds import CallBounds, Note, RunPlan
from navloom.evals.session import Job, Sample
from navloom.graphs.judging import preference_judge
from navloom.judges.preference_items import (
    PREFERENCE_PAIRS,
    ErrandRequest,
    make_preference_pairs,
    plain_name,
    plausible_errands,
)
from navloom.scenes.safe_files import first_problem
from navloom.scenes.scene_uri import iter_scenes
from navloom.tools.navcraft.relay_task import SENSIBLE
from navloom.tools.navcraft.task_paths import SoloTaskAnswer

_MOST_FAULTS = 100


@dataclass(kw_only=True)
class PreferencePlan(RunPlan):
    """The plan of a comparison: pairs of tasks as text, by sample id."""

    pairs: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class PreferenceJob(Job):
    """The job that compares one pair of tasks."""

    plan: PreferencePlan

    graph = preference_judge

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: seed and both tasks."""
        a, b = self.plan.pairs[sample.id]
        return {"seed": sample.seed, "a": a, "b": b}


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a run or a dataset.

    Attributes:
        asked: the tasks as they are put to a judge.
        sensible: ids of tasks with a plausibility score of at least ``SENSIBLE``.
        faults: a message for each task that could not be read.
    """

    asked: tuple[ErrandRequest, ...]
    sensible: frozenset[str]
    faults: tuple[str, ...]


def read_tasks(where: Path) -> TaskSet:
    """Read the valid tasks of a run's folder, or the lines of a dataset.

    Raises:
        DataError: there are none, or the file cannot be read.
    """
    faults: list[str] = []
    asked: list[ErrandRequest] = []
    sensible = set()
    for row in read_rows(where, faults, "single", "collab"):
        if row.get("status", "ok") != "ok":
            continue
        try:
            each, score = _task(row)
        except (ValidationError, DataError) as error:
            fault = first_problem(error) if isinstance(error, ValidationError) else str(error)
            faults.append(f"{row.get('id') or _rest(row).get('id')}: no task: {fault}")
            continue
        asked.append(each)
        if isinstance(score, int | float) and score >= SENSIBLE:
            sensible.add(each.id)
    if not asked:
        first = f" The first fault: {faults[0]}." if faults else ""
        raise DataError(
            f"{where}: no task; expected a run of `navloom synth single` or `collab`, or what"
            f" `navloom export` made of one.{first}"
        )
    return TaskSet(tuple(asked), frozenset(sensible), tuple(faults[:_MOST_FAULTS]))


def _rest(row: Mapping[str, Any]) -> Mapping[str, Any]:
    rest = row.get("navloom")
    return rest if isinstance(rest, dict) else {}


def _task(row: Mapping[str, Any]) -> tuple[ErrandRequest, Any]:
    """Return a row's task, and the plausibility score in its record."""
    result = row.get("result")
    task: Mapping[str, Any] = result if isinstance(result, dict) else row
    if not isinstance(task.get("phase_1"), dict):
        raise DataError("it has no phase_1")
    errand = SoloTaskAnswer.model_validate(task["phase_1"]).errand
    if not errand.end_asset:
        raise DataError("its instruction names no asset")
    rest = _rest(task)
    worth = rest.get("worth")
    name = str(row.get("id") or rest.get("id") or "")
    return ErrandRequest(
        id=name,
        scene=str(row.get("scene") or ""),
        thing=plain_name(errand.object),
        source=plain_name(errand.target),
        asset=plain_name(errand.end_asset),
        room=plain_name(errand.end),
        relay=_relay(task.get("phase_2"), rest),
    ), worth.get("plausible") if isinstance(worth, dict) else None


def _relay(phase_2: Any, rest: Mapping[str, Any]) -> str:
    """Describe the hand-over of a relay in a sentence; "" for no relay."""
    if not isinstance(phase_2, dict) or not rest.get("transfer_asset"):
        return ""
    where = f"the {plain_name(str(rest['transfer_asset']))[:80]}"
    room = plain_name(str(phase_2.get("Transfer region", "")))[:80]
    return f" Two robots share it and hand it over at {where} in the {room}."


def plan_prefer(request: JudgeRequest, run: Path | None, note: Note) -> PreferencePlan:
    """Return the plan to compare two runs or datasets: tasks paired by home, homes in turn.

    Raises:
        DataError: one side has no task, or they share no home.
    """
    del run, note
    sides = [read_tasks(Path(where)).asked for where in (request.of, request.against)]
    by_home = [_by_home(side, request.seed) for side in sides]
    homes = sorted(by_home[0].keys() & by_home[1].keys())
    if not homes:
        raise DataError(
            f"{request.of} and {request.against} share no home: expected tasks of the same scenes"
        )
    paired = [list(zip(by_home[0][home], by_home[1][home], strict=False)) for home in homes]
    turns = [(k, home, pair) for home in paired for k, pair in enumerate(home)]
    pairs = [pair for _, _, pair in sorted(turns, key=lambda turn: turn[0])][: request.n]
    samples = []
    given = {}
    for number, (a, b) in enumerate(pairs):
        name = safe_file_name(f"pair-{number:05d}")
        given[name] = (a.said, b.said)
        told = {"a": a.said, "b": b.said, "a_id": a.id, "b_id": b.id}
        samples.append(Sample.of(request.seed, name, a.scene, **told))
    record = {"pairs": json_digest(given)}
    return PreferencePlan(request=request, samples=samples, record=record, pairs=given)


def _by_home(tasks: Sequence[ErrandRequest], seed: int) -> dict[str, list[ErrandRequest]]:
    found: dict[str, list[ErrandRequest]] = {}
    for each in random.Random(f"{seed}/prefer").sample(list(tasks), len(tasks)):
        found.setdefault(each.scene, []).append(each)
    return found


def plan_calibrate(request: JudgeRequest, run: Path | None, note: Note) -> PreferencePlan:
    """Return the plan to calibrate a judge on a run's plausible tasks, or on objects in homes.

    Raises:
        DataError: the file has no task.
        SceneError: a scene is missing or broken.
        UsageError: no task can be corrupted.
    """
    del run, note
    n = request.n or PREFERENCE_PAIRS
    if Path(request.of).exists() and not _is_scene(request.of):
        tasks = read_tasks(Path(request.of))
        errands = [replace(each, relay="") for each in tasks.asked if each.id in tasks.sensible]
    else:
        errands = [each for scene in iter_scenes(request.of) for each in plausible_errands(scene)]
    pairs = make_preference_pairs(errands, n=n, seed=request.seed)
    if not pairs:
        raise UsageError(
            f"{request.of}: of {len(errands)} tasks that make sense none can be spoiled by a thing"
            " of another: give homes of several rooms, or a run of more tasks"
        )
    samples = [Sample.of(request.seed, pair.id, pair.a.scene, **pair.columns) for pair in pairs]
    given = {pair.id: (pair.a.said, pair.b.said) for pair in pairs}
    record = {"n": n, "pairs": json_digest({pair.id: pair.columns for pair in pairs})}
    return PreferencePlan(request=request, samples=samples, record=record, pairs=given)


def _is_scene(where: str) -> bool:
    path = Path(where)
    return not (path.suffix == ".jsonl" or (path / "run.json").is_file())


def calls(made: RunPlan) -> CallBounds:
    """Return the bounds of calls: each pair is asked in both orders, plus retries."""
    asks = len(preference_judge.ORDERS)
    most = CallBounds.of_questions(made.request.model, made.request.max_reasks, questions=asks)
    return replace(most, least=asks)
