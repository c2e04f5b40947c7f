"""Report of one or several NavCraft runs: scores beside published ones, gain, regret, tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import floor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from navloom.errors import NavloomError, UsageError
from navloom.evals.navcraft import task_results
from navloom.evals.navcraft.driven_relays import driven_table
from navloom.evals.navcraft.export import export_lines
from navloom.evals.navcraft.scores import PUBLISHED, RunScore, TaskQuality, score_run
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import (
    NOTHING,
    Table,
    encode_jpeg,
    percent,
    rate_cell,
    run_labels,
    with_interval,
)
from navloom.evals.report.intervals import ValueDistribution
from navloom.evals.report.report_files import write_markdown
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import CommandOutput
from navloom.evals.run_scenes import load_run_scene
from navloom.files import check_format, write_run_file
from navloom.scenes.scene import Scene

_MOST_REASONS = 30
_SPREADS = (
    *("gain_alpha", "gain_g", "gain_alone"),
    *("regret_g", "regret_alpha", "regret_asked"),
    "seconds",
)
"""Fields of a score that hold a value for each relay or each attempt."""


def report_title(scores: Sequence[RunScore]) -> str:
    """Return the title of a report: tasks, models, homes and number of attempts."""
    kinds = {"single": "NavCraft-S errands", "collab": "NavCraft-C relays"}
    tasks = " and ".join(dict.fromkeys(kinds.get(score.kind, "NavCraft") for score in scores))
    models = ", ".join(dict.fromkeys(score.model for score in scores))
    homes = ", ".join(sorted({scene.partition(":")[0] for s in scores for scene in s.scenes}))
    counts = " + ".join(str(score.attempts) for score in scores)
    return " · ".join(filter(None, [tasks, models, homes, f"n = {counts}"]))


def report_headline(scores: Sequence[RunScore], valid: int) -> str:
    """Return the outcome of the runs in a few sentences."""
    attempts = sum(score.attempts for score in scores)
    scenes = len({scene for score in scores for scene in score.scenes})
    homes = f"{scenes} home{'' if scenes == 1 else 's'}"
    said = f"{valid} valid tasks from {attempts} attempts in {homes}."
    if not attempts:
        said = "There is no attempt to count."
    elif not valid:
        said = f"No valid task in {attempts} attempts: the tables below say why."
    left = sum(score.left or 0 for score in scores)
    if left:
        said += f" {left} attempts have not ended: the same command goes on with them."
    skipped = sum(count for score in scores for _, count in score.scenes_skipped)
    if skipped:
        said += f" {skipped} homes were left out: the table of homes says why."
    errors = sum(score.errors for score in scores)
    if errors:
        said += f" {errors} samples ended in an error of the machinery and count for nothing."
    if any(score.is_baseline for score in scores):
        said += " builtin models are baselines: rules in the place of a language model."
    return said


def report_tables(scores: Sequence[RunScore]) -> Iterator[Table]:
    """Yield every table that has data."""
    yield table_4(scores)
    if any(score.regret_g.values for score in scores):
        yield _regret(scores)
    if driven := [(score.name, score.driven) for score in scores if score.driven is not None]:
        yield driven_table(driven)
    if any(score.merits.plausible.values for score in scores):
        yield quality_table([(score.name, score.merits) for score in scores])
    if any(score.merits.tasks for score in scores):
        yield variety_table([(score.name, score.merits) for score in scores])
    if any(score.diversity and score.diversity[0].tasks for score in scores):
        yield _diversity(scores)
    yield from _outcomes(scores)
    if any(score.scenes_skipped for score in scores):
        yield _homes(scores)
    if any(score.models for score in scores):
        yield _calls(scores)


def table_4(scores: Sequence[RunScore]) -> Table:
    """Return CoNavBench's Table 4: one row a run, then the published rows, pale."""
    ours = [_scored(score) for score in scores]
    theirs = [
        (
            f"{row.model} (published)",
            f"{row.single:.0%}",
            f"{row.collab:.2%}",
            NOTHING,
            f"{row.gain_max:.2%}",
            f"{row.gain_mean:.2%}",
            NOTHING,
            NOTHING,
            NOTHING,
            f"{row.cost_usd:.3f}",
            f"{row.seconds:.2f}",
        )
        for row in PUBLISHED
    ]
    header = (
        "model",
        "single",
        "collab, a valid single",
        "collab, an attempt",
        "gain max",
        "gain mean",
        "1 − g max",
        "1 − g mean",
        "better robot alone",
        "cost $",
        "s an iteration",
    )
    note = (
        "Success of task generation, as in CoNavBench's Table 4; brackets are 95 % intervals"
        " (Wilson for shares, bootstrap for means). Gain is 1 − alpha, the part of robot_1's way"
        " that a relay spares; 1 − g is what it spares in time, below zero where two robots are"
        " slower than one. Better robot alone is what the better placed of the two would spare in"
        " time by itself, a mean: no relay spares more, and Type-A2 none. Cost is of the whole run;"
        " seconds are by the clock, other attempts beside; published rows are as printed there, on"
        " other homes."
    )
    return Table("Table 4", note, header, (*ours, *theirs), pale=len(theirs))


def _scored(score: RunScore) -> tuple[str, ...]:
    name = f"{score.name}: {score.model}" + (", baseline (rule-based)" if score.is_baseline else "")
    relays = score.kind == "collab"
    return (
        name,
        rate_cell(score.single),
        rate_cell(score.relays) if relays else NOTHING,
        rate_cell(score.relays_per_attempt) if relays else NOTHING,
        percent(score.gain_alpha.max),
        percent(score.gain_alpha.mean, score.gain_alpha.interval),
        percent(score.gain_g.max),
        percent(score.gain_g.mean, score.gain_g.interval),
        percent(score.gain_alone.mean, score.gain_alone.interval),
        "unknown" if score.cost_usd is None else f"{score.cost_usd:.3f}",
        NOTHING if score.seconds.mean is None else f"{score.seconds.mean:.2f}",
    )


def _regret(scores: Sequence[RunScore]) -> Table:
    rows = []
    for score in scores:
        for words, spread in (
            ("g_rate", score.regret_g),
            ("alpha", score.regret_alpha),
            ("alpha, among those as asked", score.regret_asked),
        ):
            if spread.values:
                numbers = (spread.median, spread.mean, spread.p90, spread.max)
                rows.append((f"{score.name}: {words}", *map(percent, numbers)))
    note = (
        "How much worse a relay is than the best there is for its task, over all guarded helper"
        " starts, transfer assets and types: g_rate over the best g_rate, minus 1; alpha minus the"
        " best alpha. 0 is the best. As asked: of the type, start and gain that the sample was"
        " asked for, on furniture that holds the object; what is left there is the model's."
    )
    return Table("Regret", note, ("regret of", "median", "mean", "p90", "max"), tuple(rows))


def quality_table(named: Sequence[tuple[str, TaskQuality]]) -> Table:
    """Return a table of the quality of valid tasks, one row for each named set."""
    rows = tuple(
        (
            name,
            str(each.tasks),
            _mean(each.plausible, 2),
            rate_cell(each.sensible),
            rate_cell(each.unambiguous),
            _mean(each.hops),
            _mean(each.metres),
            _mean(each.doors),
            _mean(each.storeys),
            _mean(each.namesakes),
        )
        for name, each in named
    )
    header = (
        *("valid tasks of", "tasks", "plausible", "nothing odd", "unambiguous"),
        *("hops", "metres", "doors", "storeys", "namesakes"),
    )
    note = (
        "Plausible: would a person ask for it? The geometric mean of three grades, 0 to 1: is it a"
        " thing one asks for, does it belong in that room, and on that furniture. Nothing odd: .6"
        " and above. Unambiguous: the sentence fits one object and one asset. The others are means,"
        " with 95 % intervals (bootstrap); doors only where a home names them."
    )
    return Table("Worth", note, header, rows)


def variety_table(named: Sequence[tuple[str, TaskQuality]]) -> Table:
    """Return a table of the variety of valid tasks, one row for each named set."""

    def number(value: float | None) -> str:
        return NOTHING if value is None else f"{value:.2f}"

    rows = tuple(
        (
            name,
            str(each.tasks),
            number(each.distinct_2),
            number(each.self_bleu),
            number(each.rooms),
            number(each.objects),
            number(each.types),
        )
        for name, each in named
    )
    header = ("valid tasks of", "tasks", "distinct-2", "self-BLEU", "end rooms", "objects", "types")
    note = (
        "distinct-2: different pairs of neighbouring words over all pairs; self-BLEU: BLEU-4 of a"
        " sentence against all others, lower is more varied. Then entropies in bits: of the end"
        " rooms' types, the objects' names, the relays' types (1 is A1 and A2 in balance). Rooms'"
        " numbers are left out. All but the last depend on how many tasks there are."
    )
    return Table("Variety", note, header, rows)


def _mean(spread: ValueDistribution, digits: int = 1) -> str:
    return with_interval(spread.mean, spread.interval, digits)


def _diversity(scores: Sequence[RunScore]) -> Table:
    rows = tuple(
        (
            f"{score.name}: {each.profile}",
            str(each.tasks),
            str(each.objects),
            str(each.instructions),
            str(each.pairs),
            f"{percent(each.type_a1 / each.relays)} / {percent(1 - each.type_a1 / each.relays)}"
            if each.relays
            else NOTHING,
        )
        for score in scores
        for each in score.diversity
        if each.tasks
    )
    header = ("valid tasks for", "tasks", "objects", "instructions", "room pairs", "A1 / A2")
    note = (
        "Different names of objects, different instructions, and different pairs of target and end"
        " region; A1: the helper fetches, A2: the helper delivers."
    )
    return Table("Diversity", note, header, rows)


def _outcomes(scores: Sequence[RunScore]) -> Iterator[Table]:
    rows: list[tuple[str, ...]] = []
    for score in scores:
        for what, count in (
            ("finding: no relay is worth it", score.not_worth_it),
            ("declined: the model found no relay, and one is worth it", score.declined),
        ):
            if count:
                rows.append((f"{score.name}: {what}", str(count)))
        rows += [
            (f"{score.name}: failed: {why}", str(n)) for why, n in score.reasons[:_MOST_REASONS]
        ]
        rows += [
            (f"{score.name}: error: {message}", str(count))
            for message, count in score.error_messages[:_MOST_REASONS]
        ]
        if score.left:
            rows.append((f"{score.name}: has not ended", str(score.left)))
    if rows:
        note = (
            "A finding is an answer and no failure; a failure counts against the model; an error is"
            " the machinery's and counts for nothing."
        )
        yield Table("What did not become a task", note, ("what", "samples"), tuple(rows))


def _calls(scores: Sequence[RunScore]) -> Table:
    rows = tuple(
        (
            f"{score.name}: {part.model}, {part.role}",
            f"{part.calls:,}",
            f"{part.cached_calls:,}",
            f"{part.retries:,}",
            f"{part.input_tokens:,}",
            f"{part.output_tokens:,}",
            f"{part.seconds:.1f}",
            "unknown" if part.cost_usd is None else f"{part.cost_usd:.4f}",
        )
        for score in scores
        for part in score.models
    )
    header = ("model and role", "calls", "cached", "retries", "tokens in", "out", "s", "cost $")
    note = (
        "Replies from the cache were paid for by an earlier run and cost nothing here. Seconds are"
        " those that calls took, added up. A price that nobody knows is unknown, not nothing."
    )
    return Table("Calls", note, header, rows)


def _homes(scores: Sequence[RunScore]) -> Table:
    rows: list[tuple[str, ...]] = []
    for score in scores:
        if score.scenes_used is not None:
            rows.append((f"{score.name}: used", str(score.scenes_used)))
        rows += [(f"{score.name}: left out: {why}", str(n)) for why, n in score.scenes_skipped]
    note = "No attempt is made in a home that is left out. The run's scenes.json names each."
    return Table("Homes", note, ("what", "homes"), tuple(rows))


def score_record(score: RunScore) -> dict[str, Any]:
    """Return a run's score as JSON: summary numbers, without values of single relays."""
    spreads = {
        name: {
            "mean": spread.mean,
            "mean_95": spread.interval,
            "median": spread.median,
            "p90": spread.p90,
            "max": spread.max,
            "n": len(spread.values),
        }
        for name in _SPREADS
        for spread in [getattr(score, name)]
    }
    rates = {
        name: rate and {**asdict(rate), "share": rate.share, "share_95": rate.interval}
        for name in ("single", "relays", "relays_per_attempt")
        for rate in [getattr(score, name)]
    }
    return {
        "name": score.name,
        "kind": score.kind,
        "model": score.model,
        "baseline": score.is_baseline,
        "scenes": len(score.scenes),
        "scenes_used": score.scenes_used,
        "scenes_skipped": dict(score.scenes_skipped),
        "left": score.left,
        **rates,
        **spreads,
        "not_worth_it": score.not_worth_it,
        "declined": score.declined,
        "errors": score.errors,
        "cost_usd": score.cost_usd,
        "tokens": {"input": score.tokens[0], "output": score.tokens[1]},
        "models": [part.record() for part in score.models],
        "failed": dict(score.reasons),
        "broken": dict(score.error_messages),
        "diversity": [asdict(each) for each in score.diversity],
        "merits": score.merits.record(),
        **({} if score.driven is None else {"driven": score.driven.record()}),
    }


SHOWN = 10
"""Maximum number of tasks that a report shows."""


@dataclass(frozen=True)
class TaskPreview:
    """One task as a report shows it.

    Attributes:
        run: folder of its run.
        row: its exported dataset line.
        story: description of the task in plain sentences.
    """

    run: Path | str
    row: ui.Line
    story: str

    @property
    def scene(self) -> Scene | None:
        """Scene of the task; None if the scene cannot be loaded."""
        return self._loaded[0]

    @property
    def problem(self) -> str | None:
        """Error of loading the scene; None if the scene is loaded."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Scene | None, str | None]:
        try:
            return load_run_scene(self.run, self.row["scene"]), None
        except NavloomError as error:
            return None, str(error)

    @property
    def name(self) -> str:
        """Heading of the task."""
        two = self.row.get("phase_2")
        return f"{self.row['scene']} · {two['Collaborative type'] if two else 'one robot'}"


@dataclass(frozen=True)
class SynthReport:
    """Content of a report on some runs."""

    scores: tuple[RunScore, ...]
    tables: tuple[Table, ...]
    valid: int
    """Number of valid tasks in all runs."""
    shown: tuple[TaskPreview, ...]


def build_report(runs: Sequence[Path | str]) -> SynthReport:
    """Read runs and build their report.

    Raises:
        RunError: a folder is not a run, or is broken.
        UsageError: a run is given twice.
    """
    whole = [Path(run).resolve() for run in runs]
    for run, path in zip(runs, whole, strict=True):
        if whole.count(path) > 1:
            raise UsageError(f"{run} is given twice: its tasks would count twice")
    scores = tuple(
        replace(score_run(run), name=name) for run, name in zip(runs, run_labels(runs), strict=True)
    )
    valid, shown = 0, []
    for run in runs:
        with check_format(f"{run}: a sample", "a NavCraft task"):
            rows = export_lines(run)
            valid += len(rows)
            # The runs share the ``SHOWN`` tasks.
            picked = task_results.pick_tasks(rows, max(1, SHOWN // len(runs)))
            shown += [TaskPreview(run, row, task_results.task_story(row)) for row in picked]
    return SynthReport(scores, tuple(report_tables(scores)), valid, tuple(shown[:SHOWN]))


_MOST_BARS = 20
_COUNTED = (
    ("Gain: 1 − alpha", "gain_alpha", "gain"),
    ("Sooner: 1 − g_rate", "gain_g", "sooner"),
    ("Regret of g_rate", "regret_g", "regret_g"),
)
"""Histograms of relays: title, field of a score, and column of a sample."""


def tables(run: Path) -> list[ui.Block]:
    """Return the report blocks of one run.

    Raises:
        RunError: the folder is not a run, or is broken.
    """
    return report_blocks([run], build_report([run]))


def write_report(runs: Sequence[Path], out: Path | None = None) -> CommandOutput:
    """Write a report of runs: ``report.md`` and ``contact_sheet.png``.

    Args:
        runs: their folders.
        out: the folder to write to; by default that of the first run.

    Returns:
        Report blocks, scores, written files, and task pages with rendered views.

    Raises:
        RunError: a folder is not a run or is broken, or a file cannot be written.
        UsageError: a run is given twice.
    """
    from navloom.evals.navcraft.task_figures import contact_sheet

    report = build_report(runs)
    blocks = report_blocks(runs, report)
    folder = runs[0] if out is None else out
    files = [write_markdown(folder, blocks)]
    drawn = {task.row["scene"]: task.scene for task in report.shown if task.scene is not None}
    rows = [task.row for task in report.shown if task.scene is not None]
    # The page of a task that cannot be drawn shows the error.
    with suppress(NavloomError):
        if rows:
            what = f"{report_title(report.scores)} · {len(rows)} shown"
            sheet = contact_sheet(rows, drawn, title=what).png()
            files.append(write_run_file(folder / "contact_sheet.png", sheet))
    record = {"runs": [*map(score_record, report.scores)]}
    return CommandOutput(blocks=blocks, record=record, files=files, details=dict(_details(report)))


def report_blocks(runs: Sequence[Path | str], report: SynthReport) -> list[ui.Block]:
    """Return the report blocks of one run, or of several together.

    Args:
        runs: their folders, in the report's order.
        report: their report. With several runs, links address a run by its name.
    """
    names = [score.name if len(runs) > 1 else "" for score in report.scores]
    with_relays = [row for row in zip(runs, names, report.scores, strict=True) if _relays(row[2])]
    drawn = [
        (score.name, tuple(_spreads(run, name, score, [each[2] for each in with_relays])))
        for run, name, score in with_relays
    ]
    spreads = [block for _, blocks in drawn for block in blocks]
    if len(drawn) > 1:
        spreads = [ui.Variants(title="Gain and regret", variants=tuple(drawn))]
    headline = report_headline(report.scores, report.valid)
    return [
        ui.Prose(title=report_title(report.scores), text=headline),
        *spreads,
        *map(ui.Grid, report.tables),
        *_tasks(report, dict(zip(map(str, runs), names, strict=True))),
    ]


def _relays(score: RunScore) -> bool:
    return bool(score.gain_alpha.values)


def _spreads(
    run: Path | str, name: str, score: RunScore, beside: Sequence[RunScore]
) -> Iterator[ui.Block]:
    """Yield a scatter plot of the relays, and histograms of gain and regret."""
    dots = tuple(
        ui.Dot(
            rest["gain_alpha"],
            rest["gain_g"],
            f"{line['id']}: {task_results.result_of(line)['phase_2']['Collaborative type']}",
            to=ui.run_address(name, ui.sample_address(line["id"])),
        )
        for line in read_samples(run)
        if (rest := task_results.record_of(line)).get("gain_g") is not None
    )
    yield ui.Scatter(
        title="What relays spare",
        note="A dot a relay: what robot_1 is spared of its way, and what both are of its time.",
        x="gain: 1 − alpha",
        y="sooner: 1 − g_rate",
        dots=dots,
    )
    bars = []
    for words, key, column in _COUNTED:
        every = [value for each in beside for value in getattr(each, key).values]
        if every:
            bars.append((_counted(words, getattr(score, key), every, column, name),))
    yield ui.Columns(
        title="Relays by gain and by regret",
        note="How many relays lie between two values; a click shows them.",
        columns=tuple(bars),
    )


def _counted(
    words: str, spread: ValueDistribution, every: Sequence[float], column: str, name: str
) -> ui.Bars:
    """Return a histogram. Zero is a bin edge, so that no bar mixes gains and losses."""
    # Page cells have six digits, so a bar must count what its filter finds.
    low, high = (floor(round(10 * each, 5)) for each in (min(every), max(every)))
    wide = next(n for n in (1, 2, 5, 10, 20, 50, 100, 10**9) if (high - low) / n < _MOST_BARS)
    counts = Counter(floor(round(10 * value, 5)) // wide for value in spread.values)
    bars = []
    for at in range(low // wide, high // wide + 1):
        ends = [f"{each * wide / 10:g}" for each in (at, at + 1)]
        words_of = quote(f"{column}>={ends[0]} {column}<{ends[1]}", safe="")
        to = ui.run_address(name, f"samples?filter={words_of}")
        parts = (ui.Segment("relays", counts[at], to=to),) if counts[at] else ()
        bars.append((f"{ends[0]} to {ends[1]}", parts))
    mean = "" if spread.mean is None else f"mean {spread.mean:.3f}, median {spread.median:.3f}"
    return ui.Bars(title=words, note=mean, bars=tuple(bars), unit="relays")


def _tasks(report: SynthReport, names: dict[str, str]) -> Iterator[ui.Grid]:
    """Yield the table of shown tasks, each linked to its page."""
    rows = tuple((f"{n}. {task.name}", task.story) for n, task in enumerate(report.shown, 1))
    if rows:
        note = (
            "Of relays, those that end sooner than robot_1 alone would, where there are any. A row"
            " leads to its plan and to who is told what."
        )
        to = (ui.run_address(names[str(t.run)], ui.sample_address(_id(t))) for t in report.shown)
        table = Table("Tasks to look at", note, ("task", "what happens"), rows)
        yield ui.Grid(table, to=tuple(to))


def _id(task: TaskPreview) -> str:
    return str(task.row["navloom"]["id"])


def _details(report: SynthReport) -> Iterator[tuple[tuple[Path, str], ui.SampleDetail]]:
    """Yield the pages of the shown tasks, with rendered views of their items."""
    for run in dict.fromkeys(task.run for task in report.shown):
        lines = {line["id"]: line for line in read_samples(run)}
        for task in report.shown:
            if task.run == run and (sights := _sights(task)):
                whole = task_results.detail(Path(run), lines[_id(task)])
                blocks = (*whole.blocks[:1], *sights, *whole.blocks[1:])
                yield (
                    (Path(run), _id(task)),
                    ui.SampleDetail(title=whole.title, headline=whole.headline, blocks=blocks),
                )


def _sights(task: TaskPreview) -> list[ui.Block]:
    """Return rendered views of a task's items; empty for a scene without geometry."""
    from navloom.sim.scene_images import can_render, render_item

    if task.scene is None or not can_render(task.scene):
        return []
    found = tuple(
        (ui.Picture(data=encode_jpeg(seen.pixels), alt=f"{words}, as a robot sees it", note=words),)
        for words, item in task_results.task_items(task.row)
        if (seen := render_item(task.scene, item)) is not None
    )
    return [ui.Columns(title="As a robot sees them", columns=found, private=True)] if found else []
