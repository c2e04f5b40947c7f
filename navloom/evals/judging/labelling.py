"""Labelling of failed walks: a model states why each walk left the ground-truth path.

Each sample is a failed episode of a navigation run. The model gets the account that human readers
get (:mod:`navloom.evals.navigation.failure_narrative`), never the rules' answer.
With ``builtin/heuristic`` no model is called: the rules themselves answer from the scene
(:mod:`navloom.evals.navigation.failure_cause`). ``labels.jsonl`` holds the labels in the form of a
reader's file; ``cause`` is null without a label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import DataError
from navloom.evals.judging.answer_file import safe_file_name, unique_name
from navloom.evals.judging.request import JudgeRequest
from navloom.evals.judging.run import json_digest, read_rows
from navloom.evals.navigation.embodied_graph import RunScenes
from navloom.evals.navigation.failure_analysis import analyse
from navloom.evals.navigation.failure_cause import MEANS
from navloom.evals.navigation.failure_narrative import describe_rollout
from navloom.evals.request import HEURISTIC
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_kinds import Note, RunPlan
from navloom.evals.session import Job, Sample
from navloom.evals.tasks.episode import Episode
from navloom.files import encode_line, write_run_file
from navloom.graphs.judging import failure_labeller
from navloom.models.builtin import BuiltinChatModel
from navloom.models.model_spec import read_spec
from navloom.scenes.safe_files import first_problem
from navloom.tools.navigation.step_records import Trajectory

LABELS = "labels.jsonl"


@dataclass(frozen=True)
class FailedEpisode:
    """A failed walk.

    Attributes:
        id: the sample's id in the run.
        episode: its episode.
        result: the navigator's result in the line.
    """

    id: str
    episode: Episode
    result: Mapping[str, Any]


def read_failed_episodes(where: Path) -> tuple[list[FailedEpisode], list[str]]:
    """Read the failed walks of a run's folder, or of a file of its lines.

    Returns:
        The walks, and a message for each episode that could not be read.

    Raises:
        DataError: there are none, or the file cannot be read.
    """
    faults: list[str] = []
    failed = []
    for row in read_rows(where, faults, "navigate"):
        result = row.get("result")
        given = result.get("episode") if isinstance(result, dict) else None
        try:
            episode = Episode.model_validate(given)
        except ValidationError as error:
            faults.append(f"{row.get('id')}: no navigated episode: {first_problem(error)}")
            continue
        if row.get("status") != "ok":
            name = str(row.get("id") or episode.id)
            failed.append(FailedEpisode(name, episode, dict(result or {})))
    if not failed:
        first = f" The first fault: {faults[0]}." if faults else ""
        raise DataError(f"{where}: no failed walk to label.{first}")
    return failed, faults


@dataclass(kw_only=True)
class LabelPlan(RunPlan):
    """The plan of a labelling run: failed walks by sample id, and their scenes."""

    walks: Mapping[str, FailedEpisode]
    scenes: RunScenes


@dataclass(frozen=True)
class LabelJob(Job):
    """The job that labels one failed walk."""

    plan: LabelPlan

    graph = failure_labeller

    def input(self, sample: Sample) -> dict[str, Any]:
        """Return the graph's input: the walk described in words, and the causes."""
        walk = self.plan.walks[sample.id]
        told = describe_rollout(Trajectory.read(walk.result), walk.episode, self._scene(walk))
        return {"seed": sample.seed, "account": told, "causes": dict(MEANS)}

    def context(self, sample: Sample, model: Any = None) -> Any:
        """Return the graph's context; ``model`` replaces the request's."""
        if model is None and read_spec(self.plan.request.model).bare == HEURISTIC:
            said = self._rules(sample)
            model = BuiltinChatModel(
                model_name="heuristic",
                policies={failure_labeller.PROMPT: lambda request: request.answer(said)},
            )
        return self.settings(model)

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the label, and the rules' cause as this version computes it."""
        line = super().record(sample, state)
        return {**line, "result": {**line["result"], "rules": self._rules(sample)["cause"]}}

    def _scene(self, walk: FailedEpisode) -> Any:
        return self.plan.scenes.load(walk.episode.scene)

    def _rules(self, sample: Sample) -> dict[str, Any]:
        """Return the cause that the rules find, in the form of a label."""
        walk = self.plan.walks[sample.id]
        seen = analyse(walk.result, walk.episode, self._scene(walk), success=False)
        others = [cause for cause in seen.evidence.get("causes", ()) if cause != seen.cause]
        second = others[0] if others else failure_labeller.NO_SECOND
        return {"why": "by the rules", "cause": seen.cause, "second": second, "sure": False}


def plan_labels(request: JudgeRequest, run: Path | None, note: Note) -> LabelPlan:
    """Return the plan to label the failed walks of a navigation run, or of a file of its lines.

    Raises:
        DataError: there are no failed walks.
    """
    del run, note
    where, taken = Path(request.of), set[str]()
    failed, _ = read_failed_episodes(where)
    walks = {unique_name(safe_file_name(each.id), taken): each for each in failed}
    told = [[each.id, each.episode.model_dump(mode="json"), each.result] for each in failed]
    return LabelPlan(
        request=request,
        samples=[
            Sample.of(request.seed, name, each.episode.scene, of=each.id)
            for name, each in walks.items()
        ],
        record={"walks": json_digest(told), "causes": dict(MEANS)},
        walks=walks,
        scenes=RunScenes(read_run(where) if where.is_dir() else {}),
    )


def write_labels(plan: LabelPlan, run: Path) -> dict[str, Any]:
    """Write the labels so far, in the order of the walks, as a reader's file."""
    found = {row["id"]: row for row in read_samples(run)}
    rows = [found[sample.id] for sample in plan.samples if sample.id in found]
    write_run_file(
        run / LABELS,
        b"".join(
            encode_line({"id": row["of"], **{key: row["result"][key] for key in _KEPT}})
            for row in rows
        ),
    )
    return {}


def count_labels(run: Path) -> tuple[dict[str, int], int]:
    """Return the frequency of each cause, descending, and how often the rules agree."""
    results = [row["result"] for row in read_samples(run)]
    counted = Counter(each["cause"] or "unscored" for each in results)
    return dict(counted.most_common()), sum(each["cause"] == each["rules"] for each in results)


_KEPT = ("cause", "second", "sure")
