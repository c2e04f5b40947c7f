"""What a page shows of one or several runs of NavCraft: tables, gain and regret, ten tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import floor
from pathlib import Path
from urllib.parse import quote

from navloom.evals.kinds import Shown
from navloom.evals.navcraft.report import Report, ShownTask, build_report, document, write_report
from navloom.evals.navcraft.scores import RunScore
from navloom.evals.navcraft.shown_tasks import detail
from navloom.evals.navcraft.tables import headline, score_json, title
from navloom.evals.navcraft.task_columns import rest_of, result_of
from navloom.evals.navcraft.task_words import task_things
from navloom.evals.report.blocks import (
    Bars,
    Block,
    Columns,
    Detail,
    Dot,
    Grid,
    Picture,
    Prose,
    Scatter,
    Segment,
    Variants,
    in_run,
    to_sample,
)
from navloom.evals.report.document import Table, photo
from navloom.evals.report.intervals import Spread
from navloom.evals.run_folder import read_samples

_MOST_BARS = 20
_SPREADS = (
    ("Gain: 1 − alpha", "gain_alpha", "gain"),
    ("Sooner: 1 − g_rate", "gain_g", "sooner"),
    ("Regret of g_rate", "regret_g", "regret_g"),
)
"""What relays are counted by: its title, of a score, and the column of a sample."""


def tables(run: Path) -> list[Block]:
    """What is seen of one run.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    return report_blocks([run], build_report([run]))


def shown(runs: list[Path], out: Path | None) -> Shown:
    """What ``navloom report`` shows of runs of ``navloom synth``; as :func:`write_report`."""
    made, written = write_report(runs, out)
    return Shown(
        tables=document(made).screen(),
        record={"runs": [*map(score_json, made.scores)]},
        files=written,
        blocks=report_blocks(runs, made),
        details=dict(_details(made)),
    )


def report_blocks(runs: Sequence[Path | str], report: Report) -> list[Block]:
    """What is seen of one run, or of several together.

    Args:
        runs: their folders, in the report's order.
        report: what is said of them. Of several, addresses lead into runs by their names.
    """
    names = [score.name if len(runs) > 1 else "" for score in report.scores]
    with_relays = [
        each for each in zip(runs, names, report.scores, strict=True) if _relays(each[2])
    ]
    drawn = [
        (score.name, tuple(_spreads(run, name, score, [each[2] for each in with_relays])))
        for run, name, score in with_relays
    ]
    spreads = [block for _, blocks in drawn for block in blocks]
    if len(drawn) > 1:
        spreads = [Variants(title="Gain and regret", variants=tuple(drawn))]
    return [
        Prose(title=title(report.scores), text=headline(report.scores, report.valid)),
        *spreads,
        *(Grid(table=table) for table in report.tables),
        *_tasks(report, dict(zip(map(str, runs), names, strict=True))),
    ]


def _relays(score: RunScore) -> bool:
    return bool(score.gain_alpha.values)


def _spreads(
    run: Path | str, name: str, score: RunScore, beside: Sequence[RunScore]
) -> Iterator[Block]:
    """Relays as dots, and counted by gain and by regret."""
    dots = tuple(
        Dot(
            x=rest["gain_alpha"],
            y=rest["gain_g"],
            name=f"{line['id']}: {result_of(line)['phase_2']['Collaborative type']}",
            to=in_run(name, to_sample(line["id"])),
        )
        for line in read_samples(run)
        if (rest := rest_of(line)).get("gain_g") is not None
    )
    yield Scatter(
        title="What relays spare",
        note="A dot a relay: what robot_1 is spared of its way, and what both are of its time.",
        x="gain: 1 − alpha",
        y="sooner: 1 − g_rate",
        dots=dots,
    )
    bars = []
    for words, key, column in _SPREADS:
        every = [value for each in beside for value in getattr(each, key).values]
        if every:
            bars.append((_counted(words, getattr(score, key), every, column, name),))
    yield Columns(
        title="Relays by gain and by regret",
        note="How many relays lie between two values; a click shows them.",
        columns=tuple(bars),
    )


def _counted(words: str, spread: Spread, every: Sequence[float], column: str, name: str) -> Bars:
    """A histogram: 0 is an edge, so that no bar holds gains and losses."""
    # Cells of a page have six digits: a bar counts what its filter finds.
    low, high = (floor(round(10 * each, 5)) for each in (min(every), max(every)))
    wide = next(n for n in (1, 2, 5, 10, 20, 50, 100, 10**9) if (high - low) / n < _MOST_BARS)
    counts = Counter(floor(round(10 * value, 5)) // wide for value in spread.values)
    bars = []
    for at in range(low // wide, high // wide + 1):
        ends = [f"{each * wide / 10:g}" for each in (at, at + 1)]
        words_of = quote(f"{column}>={ends[0]} {column}<{ends[1]}", safe="")
        to = in_run(name, f"samples?filter={words_of}")
        parts = (Segment(name="relays", count=counts[at], to=to),) if counts[at] else ()
        bars.append((f"{ends[0]} to {ends[1]}", parts))
    mean = "" if spread.mean is None else f"mean {spread.mean:.3f}, median {spread.median:.3f}"
    return Bars(title=words, note=mean, bars=tuple(bars), unit="relays")


def _tasks(report: Report, names: dict[str, str]) -> Iterator[Grid]:
    """The tasks to look at, and where each is."""
    rows = tuple((f"{n}. {task.name}", task.story) for n, task in enumerate(report.shown, 1))
    if rows:
        note = (
            "Of relays, those that end sooner than robot_1 alone would, where there are any. A row"
            " leads to its plan and to who is told what."
        )
        to = (in_run(names[str(task.run)], to_sample(_id(task))) for task in report.shown)
        table = Table("Tasks to look at", note, ("task", "what happens"), rows)
        yield Grid(table=table, to=tuple(to))


def _id(task: ShownTask) -> str:
    return str(task.row["navloom"]["id"])


def _details(report: Report) -> Iterator[tuple[tuple[Path, str], Detail]]:
    """The tasks to look at, with what they are about as robots see it."""
    for run in dict.fromkeys(task.run for task in report.shown):
        lines = {line["id"]: line for line in read_samples(run)}
        for task in report.shown:
            if task.run == run and (sights := _sights(task)):
                whole = detail(Path(run), lines[_id(task)])
                blocks = (*whole.blocks[:1], *sights, *whole.blocks[1:])
                yield (
                    (Path(run), _id(task)),
                    Detail(title=whole.title, headline=whole.headline, blocks=blocks),
                )


def _sights(task: ShownTask) -> list[Block]:
    """What a task is about, as robots see it; nothing without geometry."""
    from navloom.sim.viewer import can_look, portrait

    if task.scene is None or not can_look(task.scene):
        return []
    found = tuple(
        (Picture(data=photo(seen.pixels), alt=f"{words}, as a robot sees it", note=words),)
        for words, item in task_things(task.row)
        if (seen := portrait(task.scene, item)) is not None
    )
    return [Columns(title="As a robot sees them", columns=found, private=True)] if found else []
