"""The report of a navigation run: scores, what went wrong, and a dozen episodes to look at.

``write_nav_report`` puts ``report.md`` and ``errors.png`` into the run's folder; a page shows
:mod:`navloom.evals.navigation.run_blocks`, and of those episodes what was to be seen at each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.episode_detail import detail
from navloom.evals.navigation.failures import Analysis, tallies_of
from navloom.evals.navigation.pictures import errors_picture
from navloom.evals.navigation.scores import RunScores, scores_for
from navloom.evals.navigation.shown_episodes import Case, pick_cases, read_case, tags_of
from navloom.evals.navigation.tables import Took, headline, request_table, run_tables, title
from navloom.evals.navigation.walked import walked_by
from navloom.evals.report.blocks import Detail
from navloom.evals.report.document import Document, Table, png
from navloom.evals.run_folder import each_sample, fold_samples, read_errors
from navloom.evals.run_scenes import names_of
from navloom.files import formed, write_whole
from navloom.scenes.scene import Scene
from navloom.sim.viewer import can_look

SHOWN = 12
"""Episodes that are named, to be looked at step by step."""


@dataclass(frozen=True)
class ShownCase:
    """One episode as a person looks at it.

    Attributes:
        case: the episode and how it went.
        line: the same as ``samples.jsonl`` has it.
        scene: its scene; None where it could not be loaded.
        problem: why there is no plan; None where there is one.
    """

    case: Case
    line: Mapping[str, Any]
    scene: Scene | None
    problem: str | None = None


@dataclass(frozen=True)
class NavReport:
    """What is said of a run.

    Attributes:
        title: what the run is.
        headline: what happened, in a sentence or two.
        tables: the request, scores, cost and errors.
        scores: as ``summary.json`` has them.
        tagged: every episode's tags.
        shown: the episodes to look at.
    """

    title: str
    headline: str
    tables: tuple[Table, ...]
    scores: Mapping[str, Any]
    tagged: tuple[Analysis, ...]
    shown: tuple[ShownCase, ...]


def build_nav_report(run: Path | str) -> NavReport:
    """Read a run and work out what to say of it.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    said = read_run_of(run, "navigate")
    scenes = RunScenes(said)
    read = _Read(scenes, scores_for(said["request"]))
    fold_samples(run, read.add, "a navigated episode")
    errors = sum(line["id"] not in read.ended for line in read_errors(run))
    with formed(f"{run}: a sample", "a navigated episode"):
        scores = read.scores.record()
        tables = [
            request_table(said),
            *run_tables(said["request"], scores, read.took),
            *tallies_of(read.tagged).tables(),
        ]
    ended, picked = len(read.ended), pick_cases(read.cases, SHOWN)
    names = {case.id for case in picked}
    lines = {line["id"]: line for line in each_sample(run) if line["id"] in names}
    return NavReport(
        title=title(said, ended),
        headline=headline(said, ended, sum(read.ended.values()), errors),
        tables=tuple(tables),
        scores=scores,
        tagged=tuple(read.tagged),
        shown=tuple(_show(case, lines[case.id], scenes) for case in picked),
    )


@dataclass
class _Read:
    """What is gathered of a run's lines, one after another: a large run's fit no memory."""

    scenes: RunScenes
    scores: RunScores
    took: Took = field(default_factory=Took)
    ended: dict[str, bool] = field(default_factory=dict)
    tagged: list[Analysis] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Add a line of ``samples.jsonl``."""
        self.scores.add(line)
        self.took.add(line)
        self.ended[line["id"]] = line.get("status") == "ok"
        tags = tags_of(line, self.scenes.load)
        if tags is None:
            return
        self.tagged.append(tags)
        case = read_case(line, tags)
        if case is not None:
            # Of the walk itself nothing is needed to choose among episodes.
            self.cases.append(replace(case, result={"episode": line["result"]["episode"]}))


class RunScenes:
    """The scenes of a run, each loaded once."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._names = next(names_of(run))
        self._walked = walked_by(run.get("request") or {})
        self._loaded: dict[str, Scene] = {}

    def load(self, name: str) -> Scene:
        """A scene by its portable name.

        Raises:
            SceneError: it cannot be found or loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = self._walked(self._names.load(name))
        return self._loaded[name]


def _show(case: Case, line: Mapping[str, Any], scenes: RunScenes) -> ShownCase:
    try:
        return ShownCase(case, line, scenes.load(case.episode.scene))
    except NavloomError as error:
        return ShownCase(case, line, None, str(error))


def document(report: NavReport) -> Document:
    """The report in words."""
    cases = tuple((shown.case.id, shown.case.title) for shown in report.shown)
    return Document(report.title, report.headline, report.tables, "Episodes", cases)


def details(report: NavReport, run: Path) -> Iterator[tuple[tuple[Path, str], Detail]]:
    """The episodes to look at with what there was to see at each step, where that can be made."""
    for each in report.shown:
        if each.scene is not None and can_look(each.scene):
            yield (run, each.case.id), detail(run, each.line, renders=True)


def write_nav_report(
    run: Path | str, out: Path | str | None = None
) -> tuple[NavReport, list[Path]]:
    """Write the report of a navigation run.

    Args:
        run: its folder.
        out: the folder to write to; the run's own unless given.

    Returns:
        What it says, and the files: ``report.md`` and, of episodes that went wrong,
        ``errors.png``.

    Raises:
        RunError: the folder is no run or is broken, or nothing can be written.
    """
    report = build_nav_report(run)
    folder = Path(run if out is None else out)
    written = [document(report).write(folder)]
    errors = errors_picture(report.tagged)
    if errors is not None:
        written.append(write_whole(folder / "errors.png", png(errors)))
    return report, written
