"""The report of one or several runs: numbers beside the paper's, and ten tasks one can look at.

``build_report`` collects, ``document`` and ``html`` say it in two ways, ``write_report`` puts
``report.md``, ``report.html`` (nothing outside it is needed) and ``contact_sheet.png`` on disk.
Names come from files and models: they are cells of a table, escaped, never markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from navloom.errors import NavloomError, UsageError
from navloom.evals.kinds import Shown as KindShown
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navcraft.pictures import contact_sheet, pick_tasks, task_picture, tasks_legend
from navloom.evals.navcraft.scores import RunScore, score_run
from navloom.evals.navcraft.tables import all_tables, headline, score_json, title
from navloom.evals.navcraft.task_words import task_story, task_things
from navloom.evals.report.document import (
    Document,
    Shown,
    Table,
    data_uri,
    drawn_or_why,
    named_apart,
    photo_uri,
    png,
)
from navloom.evals.report.intervals import Floats, Spread
from navloom.evals.run_scenes import run_scene
from navloom.files import formed, write_whole
from navloom.scenes.scene import Scene
from navloom.sim.embedded.lookout import can_look
from navloom.sim.embedded.portrait import portrait

SHOWN = 10
"""Tasks that are shown with their plans."""


@dataclass(frozen=True)
class ShownTask:
    """One task as a person looks at it.

    Attributes:
        row: its exported line.
        story: what happens, in plain sentences.
        scene: its scene; None where it could not be loaded.
        problem: why there is no picture; None where there is one.
    """

    row: Mapping[str, Any]
    story: str
    scene: Scene | None
    problem: str | None = None

    @property
    def name(self) -> str:
        """What stands above it."""
        two = self.row.get("phase_2")
        return f"{self.row['scene']} · {two['Collaborative type'] if two else 'one robot'}"

    @property
    def instructions(self) -> list[tuple[str, str]]:
        """Who is told what, word for word."""
        two = self.row.get("phase_2")
        whole = ("alone", self.row["phase_1"]["Task instruction"])
        return [whole, *(sorted(two["Subtask instruction"].items()) if two else ())]


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
            shown += _show(pick_tasks(rows, max(1, SHOWN // len(runs))), run)
    return Report(scores, tuple(all_tables(scores)), valid, tuple(shown[:SHOWN]))


def _show(rows: Sequence[Mapping[str, Any]], run: Path | str) -> list[ShownTask]:
    shown = []
    for row in rows:
        try:
            shown.append(ShownTask(row, task_story(row), run_scene(run, row["scene"])))
        except NavloomError as error:
            shown.append(ShownTask(row, task_story(row), None, str(error)))
    return shown


def document(report: Report) -> Document:
    """The report without pictures."""
    return Document(
        title(report.scores),
        headline(report.scores, report.valid),
        report.tables,
        "Tasks",
        tuple((task.name, task.story) for task in report.shown),
    )


def html(report: Report) -> str:
    """The report as one page that needs nothing outside it."""
    spreads = _spreads_picture(report.scores)
    shown = Shown(
        "Gain and regret",
        data_uri(spreads) if spreads else "",
        "Histograms of gain and regret; a dashed line is the mean.",
        "Relays by gain and by regret; the dashed line is the mean.",
    )
    return document(report).html(
        "navcraft/report.html",
        pictures={"Table 4": shown} if spreads else {},
        tasks=[(task, *_task_image(task), _sights(task)) for task in report.shown],
        legend=data_uri(tasks_legend([task.row for task in report.shown])),
    )


def _task_image(task: ShownTask) -> tuple[str | None, str | None]:
    """The plan as a data URI, or why there is none."""
    scene = task.scene
    if scene is None:
        return None, task.problem
    return drawn_or_why(lambda: task_picture(scene, task.row, legend=False))


def _sights(task: ShownTask) -> list[tuple[str, str]]:
    """What a task is about as robots see it: words and a data URI each; none without geometry."""
    if task.scene is None or not can_look(task.scene):
        return []
    return [
        (words, photo_uri(seen.pixels))
        for words, item in task_things(task.row)
        if (seen := portrait(task.scene, item)) is not None
    ]


def _spreads_picture(scores: Sequence[RunScore]) -> Figure | None:
    """Histograms of gain and regret, one row a run that has relays; all share their axes."""
    with_relays = [score for score in scores if score.gain_alpha.values]
    if not with_relays:
        return None
    figure = Figure(figsize=(9, 2.3 * len(with_relays)), layout="constrained", dpi=110)
    axes = figure.subplots(len(with_relays), 3, squeeze=False, sharey=True)
    kinds = [(s.gain_alpha, s.gain_g, s.regret_g) for s in with_relays]
    gains = _tenths([spread for *both, _ in kinds for spread in both])
    edges = (gains, gains, _tenths([regret for *_, regret in kinds]))
    for row, score in zip(axes, with_relays, strict=True):
        parts = (
            ("gain, 1 − alpha", score.gain_alpha, "#0b62a8"),
            ("gain, 1 − g_rate", score.gain_g, "#35a46b"),
            ("regret of g_rate", score.regret_g, "#e2700c"),
        )
        for ax, bins, (words, spread, colour) in zip(row, edges, parts, strict=True):
            ax.hist(spread.values, bins=bins, color=colour, edgecolor="white", linewidth=0.5)
            if spread.mean is not None:
                ax.axvline(spread.mean, color="#333333", linewidth=1, linestyle="--")
            ax.set_xlabel(words, fontsize=8)
            ax.set_xlim(bins[0], bins[-1])
            ax.yaxis.set_major_locator(MaxNLocator(integer=True))
            ax.tick_params(labelsize=7, labelleft=True)
            ax.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("relays", fontsize=8)
        row[0].set_title(score.name, fontsize=8, loc="left", parse_math=False)
    return figure


def _tenths(spreads: Sequence[Spread]) -> Floats:
    """Edges of bins of all the values: 0 is one, so that no bar holds gains and losses."""
    values = [10 * value for spread in spreads for value in spread.values]
    edges: Floats = np.arange(np.floor(min(values)), np.floor(max(values)) + 2) / 10
    return edges


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
    report = build_report(runs)
    folder = Path(runs[0] if out is None else out)
    written = document(report).write(folder, html(report))
    drawn = {task.row["scene"]: task.scene for task in report.shown if task.scene is not None}
    rows = [task.row for task in report.shown if task.scene is not None]
    if rows:
        try:
            what = f"{title(report.scores)} · {len(rows)} shown"
            sheet = png(contact_sheet(rows, drawn, title=what), dpi=100)
        except NavloomError:
            return report, written  # the page says which task cannot be drawn, and why
        written.append(write_whole(folder / "contact_sheet.png", sheet))
    return report, written


def shown(runs: list[Path], out: Path | None) -> KindShown:
    """What ``navloom report`` shows of runs of ``navloom synth``; as :func:`write_report`."""
    made, written = write_report(runs, out)
    record = {"files": [str(path) for path in written], "runs": [*map(score_json, made.scores)]}
    return KindShown(tables=document(made).screen(), record=record, files=written)
