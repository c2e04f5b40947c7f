"""The report of one or several runs: numbers beside the paper's, and ten tasks one can look at.

``build_report`` collects, ``document`` says it in words, ``write_report`` puts ``report.md`` and
``contact_sheet.png`` on disk; :mod:`navloom.evals.navcraft.report_blocks` is what a page shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, UsageError
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navcraft.scores import RunScore, score_run
from navloom.evals.navcraft.tables import all_tables, headline, title
from navloom.evals.navcraft.task_words import pick_tasks, task_story
from navloom.evals.report.document import Document, Table, named_apart
from navloom.evals.run_scenes import run_scene
from navloom.files import formed, write_whole
from navloom.scenes.scene import Scene

SHOWN = 10
"""Tasks that are shown."""


@dataclass(frozen=True)
class ShownTask:
    """One task as a person looks at it.

    Attributes:
        run: the folder of its run.
        row: its exported line.
        story: what happens, in plain sentences.
    """

    run: Path | str
    row: Mapping[str, Any]
    story: str

    @property
    def scene(self) -> Scene | None:
        """Its scene; None where it could not be loaded."""
        return self._loaded[0]

    @property
    def problem(self) -> str | None:
        """Why there is no picture; None where there is one."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Scene | None, str | None]:
        try:
            return run_scene(self.run, self.row["scene"]), None
        except NavloomError as error:
            return None, str(error)

    @property
    def name(self) -> str:
        """What stands above it."""
        two = self.row.get("phase_2")
        return f"{self.row['scene']} · {two['Collaborative type'] if two else 'one robot'}"


@dataclass(frozen=True)
class Report:
    """What is said of some runs."""

    scores: tuple[RunScore, ...]
    tables: tuple[Table, ...]
    valid: int
    """Valid tasks in all runs."""
    shown: tuple[ShownTask, ...]


def build_report(runs: Sequence[Path | str]) -> Report:
    """Read runs and work out what to say of them.

    Raises:
        RunError: a folder is no run, or is broken.
        UsageError: one is given twice.
    """
    whole = [Path(run).resolve() for run in runs]
    for run, path in zip(runs, whole, strict=True):
        if whole.count(path) > 1:
            raise UsageError(f"{run} is given twice: its tasks would count twice")
    scores = tuple(
        replace(score_run(run), name=name)
        for run, name in zip(runs, named_apart(runs), strict=True)
    )
    valid, shown = 0, []
    for run in runs:
        with formed(f"{run}: a sample", "a NavCraft task"):
            rows = export_lines(run)
            valid += len(rows)
            # Several runs share the ten places.
            picked = pick_tasks(rows, max(1, SHOWN // len(runs)))
            shown += [ShownTask(run, row, task_story(row)) for row in picked]
    return Report(scores, tuple(all_tables(scores)), valid, tuple(shown[:SHOWN]))


def document(report: Report) -> Document:
    """The report without pictures."""
    return Document(
        title(report.scores),
        headline(report.scores, report.valid),
        report.tables,
        "Tasks",
        tuple((task.name, task.story) for task in report.shown),
    )


def write_report(
    runs: Sequence[Path | str], out: Path | str | None = None
) -> tuple[Report, list[Path]]:
    """Write a report of runs.

    Args:
        runs: their folders.
        out: the folder to write to; the first run's own unless given.

    Returns:
        The report, and the files written.

    Raises:
        RunError: a folder is no run or is broken, or nothing can be written.
        UsageError: a run is given twice.
    """
    from navloom.evals.navcraft.pictures import contact_sheet

    report = build_report(runs)
    folder = Path(runs[0] if out is None else out)
    written = [document(report).write(folder)]
    drawn = {task.row["scene"]: task.scene for task in report.shown if task.scene is not None}
    rows = [task.row for task in report.shown if task.scene is not None]
    if rows:
        try:
            what = f"{title(report.scores)} · {len(rows)} shown"
            sheet = contact_sheet(rows, drawn, title=what).png()
        except NavloomError:
            return report, written  # a task's page says that it cannot be drawn, and why
        written.append(write_whole(folder / "contact_sheet.png", sheet))
    return report, written
