"""Scoring of a submission or a run from its trajectories, with intervals and a list of faults.

The source is not trusted. For a submission, every instruction of the split counts. One without a
valid trajectory is a failed episode and is listed. For a run, the finished samples are measured
from their trajectories, not from the scores in their lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from navloom.errors import DataError, RunError, UsageError, did_you_mean
from navloom.evals.navigation import scores
from navloom.evals.navigation.embodied_graph import body_points, recorded_graph
from navloom.evals.navigation.graph_distances import InvalidEpisode
from navloom.evals.navigation.metrics import METRICS, NavigationScorer, cluster_of, mean_metrics
from navloom.evals.navigation.submission import SubmissionFault, read_submission
from navloom.evals.report.formatting import NOTHING, Table
from navloom.evals.report.intervals import LEVEL, RESAMPLES, By, MetricEstimate
from navloom.evals.run_kinds import read_run_of_kind
from navloom.evals.tasks.registry import TASKS, load_task
from navloom.files import check_format
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.scene_uri import load_scene

FORMATS = {"r2r": "r2r", "r4r": "r4r", "reverie": "reverie"}
"""Submission format -> task. A new format is one entry here."""
_ALWAYS = ("TL", "NE", "SR", "OSR", "SPL", "nDTW", "SDTW", "CLS")
_MOST_LISTED = 10_000
_MOST_SHOWN = 20
_MOST_HINTS = 3


@dataclass(frozen=True)
class ScoreSheet:
    """Scores of one submission or run.

    Attributes:
        source: file or folder.
        task: name of the dataset.
        split: split of the dataset; None if the source does not name it.
        records: instruction or sample id -> ``EpisodeScore.record()`` with effort.
        faults: episodes that fail without being measured, and entries of no episode.
        rows: mean and interval of each metric.
        by: unit that the bootstrap draws.
        seed: seed of the bootstrap.
    """

    source: str
    task: str
    split: str | None
    records: Mapping[str, Mapping[str, Any]]
    faults: Sequence[SubmissionFault]
    rows: Sequence[MetricEstimate]
    by: By
    seed: int

    def record(self) -> dict[str, Any]:
        """Return the scores as JSON: fractions and metres by metric, null if undefined."""
        means = dict.fromkeys(_ALWAYS) | {row.metric: row.mean for row in self.rows}
        return {
            "source": self.source,
            "task": self.task,
            "split": self.split,
            "n": len(self.records),
            **means,
            "intervals": {row.metric: row.interval for row in self.rows},
            "defined": {row.metric: row.n for row in self.rows},
            "bootstrap": {"by": self.by, "resamples": RESAMPLES, "level": LEVEL, "seed": self.seed},
            "invalid_count": len(self.faults),
            "invalid": [fault.record() for fault in self.faults[:_MOST_LISTED]],
        }

    def tables(self) -> Iterator[Table]:
        """Yield the table of scores and, if there are faults, the table of faults."""
        drawn = "whole paths" if self.by == "path" else "episodes one by one"
        note = (
            "TL, NE, DTS and GP in metres, over the episodes where they are defined. Brackets:"
            f" {LEVEL:.0%} bootstrap, {RESAMPLES:,} draws of {drawn}."
        )
        where = f"{self.task} {self.split}" if self.split else self.task
        title = f"{self.source}: {len(self.records):,} episodes of {where}"
        yield Table(title, note, ("metric", "mean", "interval", "n"), tuple(map(_cells, self.rows)))
        if self.faults:
            yield self._invalid()

    def _invalid(self) -> Table:
        counts = Counter(fault.what.reason for fault in self.faults)
        said = ", ".join(f"{count:,} x {reason}" for reason, count in counts.most_common())
        more = len(self.faults) - _MOST_SHOWN
        note = (
            "Each counts as a failed episode, but for entries that name none: those count nowhere."
        )
        if more > 0:
            note = f"{more:,} more are not listed (--json lists them). {note}"
        rows = [(fault.id, fault.what.reason, fault.what.message) for fault in self.faults]
        head = ("id", "reason", "what was wrong")
        return Table(f"Invalid: {said}", note, head, tuple(rows[:_MOST_SHOWN]))


def score_submission(
    file: Path | str,
    *,
    form: str = "r2r",
    data: Path | str | None = None,
    split: str | None = None,
    partial: bool = False,
    by: By = "path",
    seed: int = 0,
) -> ScoreSheet:
    """Score a submission file.

    Args:
        file: a list of ``{instr_id, trajectory}``; see :mod:`navloom.evals.navigation.submission`.
        form: one of ``FORMATS``.
        data: folder of the dataset; by default ``$NAVLOOM_DATA/mp3d``.
        split: split of the dataset; by default its default split.
        partial: score only the instructions in the file; otherwise missing ones count as failed.
        by: unit that the bootstrap draws.
        seed: seed of the bootstrap.

    Raises:
        DataError: a file is missing or broken, or none of its instructions is in the split.
        UsageError: the format or split is unknown.
    """
    if form not in FORMATS:
        raise UsageError(
            f"there is no format '{form}': expected one of {', '.join(FORMATS)}."
            + did_you_mean(form, FORMATS)
        )
    given = read_submission(file)
    task = load_task(FORMATS[form], data, split)
    known = {episode.id for episode in task.episodes}
    named = given.trajectories.keys() | given.faults.keys()
    if not named & known:
        raise DataError(
            f"{file}: none of its {given.entries:,} entries names an instruction of {task.task}"
            f" {task.split}, such as {min(known)}: another --split or --format?"
        )
    episodes = [e for e in task.episodes if not partial or e.id in named]
    scorer = NavigationScorer(episodes, lambda name: load_scene(task.scenes[name]))
    # A submission that names an object anywhere is scored for objects everywhere.
    pointed = {e.id: given.pointed.get(e.id) for e in episodes if given.pointed}
    scored = [
        replace(score, invalid=given.faults[score.id].what) if score.id in given.faults else score
        for score in scorer.score(given.trajectories, pointed=pointed).each()
    ]
    faults = [SubmissionFault(score.id, score.invalid) for score in scored if score.invalid]
    faults += given.nameless
    faults += _strangers([*given.trajectories, *given.faults], known, f"{task.task} {task.split}")
    records = {score.id: score.record() for score in scored}
    return _sheet(str(file), task.task, task.split, records, faults, by, seed)


def _strangers(names: Sequence[str], known: set[str], where: str) -> Iterator[SubmissionFault]:
    strange = sorted({name for name in names if name not in known})
    for k, name in enumerate(strange):
        hint = did_you_mean(name, known, most=1) if k < _MOST_HINTS else ""
        yield SubmissionFault(
            name, InvalidEpisode("unknown_id", f"there is no such instruction in {where}.{hint}")
        )


def score_run(
    run: Path | str, *, data: Path | str | None = None, by: By = "path", seed: int = 0
) -> ScoreSheet:
    """Score a run's finished trajectories again.

    Args:
        run: folder of an evaluation.
        data: folder of the dataset, if it has moved.
        by: unit that the bootstrap draws.
        seed: seed of the bootstrap.

    Raises:
        RunError: the folder is not a run, has no finished episode, or holds a broken line.
        DataError: the dataset is missing or broken.
        SceneError: a scene is missing or broken.
    """
    said, trials = read_run_of_kind(run, "navigate"), list(scores.read_finished(run))
    if not trials:
        raise RunError(f"{run} has no finished episode to score: run it on, or see errors.jsonl")
    scenes, walked = _scenes(said, data), recorded_graph(said["request"])

    @cache
    def scene_of(name: str) -> Scene:
        return walked(load_scene(scenes.get(name, name)))

    # Each epoch of an episode is a sample of its own.
    scorer = NavigationScorer([t.episode.model_copy(update={"id": t.id}) for t in trials], scene_of)
    scored = scorer.score(
        {t.id: t.path for t in trials if not isinstance(t.path, InvalidEpisode)},
        ends={t.id: t.end for t in trials if t.end},
        contacts={t.id: t.contacts for t in trials if t.contacts is not None},
        pointed={name: said for t in trials for name, said in t.pointed.items()},
        points=dict(_points(trials, scene_of)),
    )
    records, faults = {}, []
    for t, score in zip(trials, scored.each(), strict=True):
        whole = replace(score, invalid=t.path) if isinstance(t.path, InvalidEpisode) else score
        effort = {name: value for name, value in t.effort.items() if value is not None}
        records[t.id] = {**whole.record(), **effort, "cluster": cluster_of(t.episode)}
        if whole.invalid is not None:
            faults.append(SubmissionFault(t.id, whole.invalid))
    first = trials[0].episode.task
    split = said["request"].get("split")
    return _sheet(str(run), first, split and str(split), records, faults, by, seed)


def _points(
    trials: Sequence[scores.FinishedSample], scene_of: Callable[[str], Scene]
) -> Iterator[tuple[str, Sequence[Point3]]]:
    """Yield the floor positions of bodies that left their viewpoints, by trial id."""
    for trial in trials:
        if any(trial.points) and not isinstance(trial.path, InvalidEpisode):
            stood = body_points(trial.path, trial.points, scene_of(trial.episode.scene))
            if stood is not None:
                yield trial.id, stood


def _scenes(said: Mapping[str, Any], data: Path | str | None) -> Mapping[str, str]:
    """Return the URI of each scene by portable name; empty if the names are enough."""
    request, where = said["request"], said.get("where") or {}
    name = request.get("task")
    if name not in TASKS:
        return {}
    with check_format("the options of its run.json", "a run of `navloom eval`"):
        options = {**(request.get("options") or {})}
    if where.get("scenes"):
        options["scenes"] = where["scenes"]
    walked = recorded_graph(request)
    folder = data or where.get("data")
    return load_task(name, folder, request.get("split"), walked=walked, **options).scenes


def _sheet(
    source: str,
    task: str,
    split: str | None,
    records: Mapping[str, Mapping[str, Any]],
    faults: Sequence[SubmissionFault],
    by: By,
    seed: int,
) -> ScoreSheet:
    held = list(records.values())
    names = [
        name
        for name in (*METRICS, *scores.EFFORT)
        if name in _ALWAYS or any(record.get(name) is not None for record in held)
    ]
    rows = mean_metrics(held, names, by=by, seed=seed)
    return ScoreSheet(source, task, split, records, faults, rows, by, seed)


def _cells(row: MetricEstimate) -> tuple[str, ...]:
    ends = scores.format_interval(row.metric, row.interval or (), " to ")
    return row.metric, scores.format_metric(row.metric, row.mean), ends or NOTHING, f"{row.n:,}"
