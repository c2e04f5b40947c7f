"""The report of a navigation run: scores, what went wrong, and a dozen episodes to look at.

``write_nav_report`` puts ``report.md`` and ``errors.png`` into the run's folder; a page shows
:mod:`navloom.evals.navigation.run_blocks`, and of those episodes what was to be seen at each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.episode_detail import detail
from navloom.evals.navigation.failures import Analysis, tallies_of
from navloom.evals.navigation.pictures import errors_picture
from navloom.evals.navigation.scores import read_scores
from navloom.evals.navigation.shown_episodes import Case, pick_cases, read_case, tags_of
from navloom.evals.navigation.tables import Took, headline, request_table, run_tables, title
from navloom.evals.navigation.walked import walked_by
from navloom.evals.report.blocks import Detail
from navloom.evals.report.document import Document, Table, png
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.run_scenes import names_of
from navloom.files import formed, write_whole
from navloom.scenes.scene import Scene
from navloom.sim.embedded.lookout import can_look

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
        tagged: every episode's tags.
        shown: the episodes to look at.
    """

    title: str
    headline: str
    tables: tuple[Table, ...]
    tagged: tuple[Analysis, ...]
    shown: tuple[ShownCase, ...]


def build_nav_report(run: Path | str) -> NavReport:
    """Read a run and work out what to say of it.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    said, lines = read_run_of(run, "navigate"), read_samples(run)
    by_id = {line["id"]: line for line in lines}
    errors = sum(line["id"] not in by_id for line in read_errors(run))
    well = sum(line.get("status") == "ok" for line in lines)
    scenes = RunScenes(said)
    tagged, cases = [], []
    with formed(f"{run}: a sample", "a navigated episode"):
        took, scores = Took(), read_scores(run).record()
        for line in lines:
            took.add(line)
            tags = tags_of(line, scenes.load)
            if tags is not None:
                tagged.append(tags)
                case = read_case(line, tags)
                cases += [] if case is None else [case]
        tables = [
            request_table(said),
            *run_tables(said["request"], scores, took),
            *tallies_of(tagged).tables(),
        ]
        return NavReport(
            title=title(said, len(lines)),
            headline=headline(said, len(lines), well, errors),
            tables=tuple(tables),
            tagged=tuple(tagged),
            shown=tuple(_show(case, by_id, scenes) for case in pick_cases(cases, SHOWN)),
        )


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


def _show(case: Case, lines: Mapping[str, Mapping[str, Any]], scenes: RunScenes) -> ShownCase:
    try:
        return ShownCase(case, lines[case.id], scenes.load(case.episode.scene))
    except NavloomError as error:
        return ShownCase(case, lines[case.id], None, str(error))


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
