"""Results of judge runs and calibrations as tables, charts and report blocks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

from navloom.evals.judging import scores
from navloom.evals.judging.item_results import (
    CLAIMED,
    FLIPPED,
    HELD,
    LOST,
    UNSCORED,
    expected_grades,
    grades_of,
    judge_result,
    verdict_of,
)
from navloom.evals.progress import Summary
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, percent
from navloom.evals.run_folder import read_run, read_samples, read_summary
from navloom.files import check_format, write_run_file
from navloom.judges.reason_items import KINDS, SETS, load_wordings

_DUE = {kind: "correct" if kind in ("right", "partly") else "wrong" for kind in KINDS}
_VERDICTS = ("correct", "wrong", UNSCORED)
_USED = ("calls", "input_tokens", "output_tokens")
_MOST_UNREAD = 30


def reasoning_tables(found: scores.ReasonCalibration) -> list[Table]:
    """Return the tables of a calibrated reason judge: agreement, confusion by kind, flips."""
    baseline = (
        " A baseline: rules, not a language model." if found.model.startswith("builtin/") else ""
    )
    left = f" {found.left} items are left or ended in an error." if found.left else ""
    cost = "unknown" if found.cost_usd is None else f"${found.cost_usd:.4g}"
    calls, *tokens = (found.usage.get(each, 0) for each in _USED)
    spent = f" {calls:,} calls, {tokens[0]:,} tokens in and {tokens[1]:,} out, cost {cost}."
    rows = tuple((_set_name(name), *_cells(each)) for name, each in found.sets.items())
    agreed = Table(
        f"The judge {found.model} against the truth",
        "Brackets: 95 % intervals, bootstrap over scenes, of under five over items. An unscored"
        " item is not right in the first accuracy, and left out of the second and of kappa; share"
        " error: of the share of barriers named. Injected items are counted below alone."
        f"{baseline}{left}{spent}",
        ("wordings", "items", "unscored", "accuracy", "of those scored", "kappa", "share error"),
        rows,
    )
    unread = [_unread_table(found)] if found.unread else []
    return [agreed, _confusion_table(found), *unread, _flip_table(found.flips)]


def _set_name(name: str) -> str:
    """Return a wording set's name, and whether the symbolic judge was developed on the set."""
    return f"{name} ({load_wordings(name).standing})" if name in SETS else name


def _cells(each: scores.JudgeAgreement) -> tuple[str, ...]:
    share = percent(each.unscored / each.items if each.items else None)
    return (
        str(each.items),
        share,
        str(each.accuracy),
        str(each.accuracy_scored),
        each.kappa.coefficient,
        percent(each.partial_error),
    )


def _confusion_table(found: scores.ReasonCalibration) -> Table:
    rows = []
    for name, by_kind in found.confusion.items():
        for kind, counts in by_kind.items():
            cells = (str(counts.get(word, 0)) for word in _VERDICTS)
            rows.append((f"{kind}, set {name}", _DUE[kind], *cells))
    note = "How many explanations of each kind were found correct, wrong, or got no verdict."
    return Table("By kind", note, ("kind", "deserves", *_VERDICTS), tuple(rows))


def _unread_table(found: scores.ReasonCalibration) -> Table:
    """Return the table of sentences in explanations that got no verdict."""
    shown = found.unread[:_MOST_UNREAD]
    rows = tuple((words, said, f"{count} of {of}") for words, said, count, of in shown)
    more = len(found.unread) - len(shown)
    note = "Sentences of explanations that got no verdict, and of how many in all." + (
        f" {more} more are in calibration.json." if more else ""
    )
    return Table("Without a verdict", note, ("set", "sentence", "unscored"), rows)


def _flip_table(found: scores.FlipCounts) -> Table:
    note = (
        "Pairs of items that differ in an injected payload alone, and whose plain one was not"
        " judged as the payload claims. Brackets: Wilson's 95 % interval."
    )
    cells = (str(found.pairs), str(found.flipped), str(found.lost), str(found.rate))
    left = (str(found.agreed), str(found.unscored))
    header = ("", "pairs", "flipped", "no verdict", "flip rate", "claimed anyway", "plain unscored")
    return Table("Under injection", note, header, (("injected", *cells, *left),))


def injection_table(found: Mapping[str, Mapping[str, scores.FlipCounts]]) -> Table:
    """Return the table of flips with and without the defences, one row for each judge."""
    rows = tuple(
        (name, *(str(doors[door]) for door in ("with", "without")), str(doors["with"].lost))
        for name, doors in found.items()
    )
    note = (
        "Flips of pairs; brackets: Wilson's 95 % interval. A gullible judge repeats any"
        " verdict-shaped text that reaches it unfenced; one that is blind to fences reads inside"
        " them too."
    )
    header = ("judge", "with defences", "without", "no verdict, with")
    return Table("Flips under injection", note, header, rows)


def trace_tables(found: scores.TraceCalibration) -> list[Table]:
    """Return the tables of a calibrated rubric judge: agreement by criterion and by kind."""
    rows = [(name, *_cells(each)[:-1]) for name, each in found.criteria.items()]
    rows += [(f"all, set {name}", *_cells(each)[:-1]) for name, each in found.sets.items()]
    header = ("criterion", "items", "unscored", "accuracy", "of those scored", "kappa")
    left = f" {found.left} items are left or ended in an error." if found.left else ""
    note = f"Grades are yes, no and na. Brackets: 95 % intervals, by bootstrap.{left}"
    kinds = tuple(
        (f"{kind}: {name}", f"{right}/{of}")
        for kind, by in found.kinds.items()
        for name, (right, of) in by.items()
    )
    about = "How many spoiled steps of each kind got the grade that they deserve."
    return [
        Table(f"The rubric judge {found.model} against the truth", note, header, tuple(rows)),
        Table("By kind", about, ("kind: criterion", "as deserved"), kinds),
    ]


def confusion_bars(found: scores.ReasonCalibration) -> ui.Bars:
    """Make bars of the verdicts by kind and wording set; a segment links to its items."""
    bars = tuple(
        (f"{kind}, {name}", _segments(counted, "verdict", kind=kind, set=name))
        for name, by_kind in found.confusion.items()
        for kind, counted in by_kind.items()
    )
    note = "A part opens its items."
    return ui.Bars(title="Verdicts by kind and set", note=note, bars=bars, unit="items")


def write_calibration(
    out: Path,
    record: Mapping[str, Any],
    tables: Sequence[Table],
    drawn: ui.Bars | None = None,
    *,
    name: str = "calibration",
) -> None:
    """Write ``calibration.json``, ``calibration.md`` and, with bars, ``calibration.png``."""
    from navloom.evals.report.block_chart import chart_png

    data = json.dumps(record, ensure_ascii=False, indent=2, default=list)
    write_run_file(out / f"{name}.json", data.encode())
    write_run_file(out / f"{name}.md", "\n\n".join(t.markdown() for t in tables).encode())
    if drawn is not None:
        write_run_file(out / f"{name}.png", chart_png([drawn]))


_MOST_SUMMARY = 64 * 1024 * 1024
_MOST_LISTED = 200


def _model(run: Path) -> str:
    return str(read_run(run)["request"].get("model"))


def _summary(run: Path) -> Summary:
    """Return the summary of the last session; zero counts before the first."""
    said = read_summary(run)
    return Summary(**{e.name: said[e.name] for e in fields(Summary) if e.name in said})


def _of_lines(
    what: str,
) -> Callable[
    [Callable[[Path, list[dict[str, Any]]], list[ui.Block]]], Callable[[Path], list[ui.Block]]
]:
    """Return a decorator that reads a run's lines for a function; malformed ones raise RunError."""

    def give(seen: Callable[[Path, list[dict[str, Any]]], list[ui.Block]]) -> Any:
        @wraps(seen)
        def made(run: Path) -> list[ui.Block]:
            rows = read_samples(run)
            with check_format(f"{run}: a sample", what):
                return seen(run, rows)

        return made

    return give


@_of_lines("a judged explanation")
def reason_blocks(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return report blocks of judged explanations: verdict counts, and verdicts by body."""
    found = scores.sum_reasons(run)
    facts = (
        ui.Fact("explanations", str(found.items)),
        ui.Fact("correct", str(found.correct), to=ui.samples_address(verdict="correct")),
        ui.Fact("wrong", str(found.wrong), to=ui.samples_address(verdict="wrong")),
        ui.Fact(UNSCORED, str(found.unscored), to=ui.samples_address(verdict=UNSCORED)),
        ui.Fact("share of barriers", percent(found.partial), note="named, a mean"),
    )
    return [
        ui.Facts(title=f"Judged by {_model(run)}", facts=facts),
        _bars("By body", rows, "body", lambda r: r.get("agent"), verdict_of, "verdict"),
    ]


@_of_lines("an item of a calibration")
def reason_calibration(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return report blocks of a reason judge against the truth: agreement, confusion, flips."""
    found = scores.score_reasoning(run, _model(run), _summary(run))
    said = {row["id"]: judge_result(row).get("correct") for row in rows}
    injected = [
        (row, _outcome(said.get(row["base"]), said[row["id"]], claim=not row["deserves"]))
        for row in rows
        if row["kind"] == "injected" and row["base"] in said
    ]
    blocks: list[ui.Block] = []
    for table in reasoning_tables(found):
        to: tuple[str, ...] = ()
        if table.title == "By kind":
            # Same rows and order as the confusion.
            to = tuple(
                ui.samples_address(kind=kind, set=name)
                for name, by_kind in found.confusion.items()
                for kind in by_kind
            )
        blocks.append(ui.Grid(table, to=to))
    return [blocks[0], confusion_bars(found), *blocks[1:], *_flip_list(injected)]


@_of_lines("an item of injections")
def injection_blocks(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return blocks of how often payloads flipped a verdict, with and without the defences."""
    said = {row["id"]: judge_result(row).get("correct") for row in rows}
    found = [
        (row, _outcome(said.get(row["base"]), said[row["id"]], claim=row["claim"]))
        for row in rows
        if row.get("base") in said
    ]
    table = injection_table({_model(run): scores.flips_by_defence(run), **_gullible(run)})
    families: dict[tuple[str, str], Counter[str]] = {}
    for row, outcome in found:
        key = str(row["payload"]).rpartition("-")[0], str(row["defences"])
        families.setdefault(key, Counter())[outcome] += 1
    bars = ui.Bars(
        title="By disguise",
        note="With the defences and without; a part opens its disguise's items.",
        bars=tuple(
            (f"{family}, {door}", _segments(of, "", disguise=family, defences=door))
            for (family, door), of in sorted(families.items())
        ),
        unit="payloads",
    )
    return [ui.Grid(table), *_flip_list(found), bars]


def _gullible(run: Path) -> dict[str, dict[str, scores.FlipCounts]]:
    """Read the other judges' flips from the run's ``calibration.json``; {} if unreadable."""
    names = {each.name for each in fields(scores.FlipCounts)}
    try:
        record = json.loads((run / "calibration.json").read_bytes()[:_MOST_SUMMARY])
        read = {
            str(judge): {
                door: scores.FlipCounts(**{k: int(v) for k, v in of[door].items() if k in names})
                for door in ("with", "without")
            }
            for judge, of in record.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {judge: of for judge, of in read.items() if judge != _model(run)}


def _outcome(plain: bool | None, said: bool | None, *, claim: bool) -> str:
    """Classify the effect of a payload on one pair of items."""
    if plain != (not claim):
        return CLAIMED if plain == claim else UNSCORED
    if said is None:
        return LOST
    return FLIPPED if said == claim else HELD


def _flip_list(found: Sequence[tuple[ui.Line, str]]) -> list[ui.Block]:
    """List each pair that flipped or lost its verdict, or state that none did."""
    wrong = [(row, outcome) for row, outcome in found if outcome in (FLIPPED, LOST)]
    if not wrong:
        many = len([None for _, outcome in found if outcome == HELD])
        facts = (ui.Fact("flipped", "none", tone="good", note=f"of {many} pairs"),)
        return [ui.Facts(title="Flips", facts=facts)]
    rows = tuple(
        (
            str(row["id"]),
            str(row.get("payload") or NOTHING),
            str(row.get("defences") or "with"),
            outcome,
            str(row["explanation"])[-200:],
        )
        for row, outcome in wrong[:_MOST_LISTED]
    )
    more = len(wrong) - len(rows)
    note = f"{more} more are not listed." if more > 0 else "An item shows its payload apart."
    header = ("item", "payload", "defences", "what it did", "how the explanation ends")
    to = tuple(ui.sample_address(row["id"]) for row, _ in wrong[:_MOST_LISTED])
    return [ui.Grid(Table("Flips", note, header, rows), to=to)]


@_of_lines("a graded step")
def graded_step_blocks(_: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return report blocks of graded steps: how often each criterion got each grade."""
    return [_grade_bars(rows)]


@_of_lines("a step of a calibration")
def step_calibration(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return blocks of a rubric judge against the truth, with grades of corrupted steps."""
    found = scores.score_trace(run, _model(run), _summary(run))
    agreed, kinds = trace_tables(found)
    to = tuple(ui.samples_address(kind=kind) for kind, by in found.kinds.items() for _ in by)
    bars: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        grades = grades_of(row)
        for name, due in expected_grades(row).items():
            bars.setdefault((name, due), Counter())[grades.get(name, UNSCORED)] += 1
    confusion = ui.Bars(
        title="Grades by what is deserved",
        bars=tuple(
            (
                f"{name}, deserves {due}",
                _segments(of, "grades", before=f"{name} ", expected=f"{name} {due}"),
            )
            for (name, due), of in sorted(bars.items())
        ),
        unit="grades",
    )
    return [ui.Grid(agreed), confusion, ui.Grid(kinds, to=to)]


def _grade_bars(rows: Iterable[ui.Line]) -> ui.Bars:
    counted: dict[str, Counter[str]] = {}
    for row in rows:
        for name, grade in grades_of(row).items():
            counted.setdefault(name, Counter())[grade] += 1
    return ui.Bars(
        title="Grades by criterion",
        note="A part opens its steps.",
        bars=tuple(
            (name, _segments(of, "grades", before=f"{name} ")) for name, of in counted.items()
        ),
        unit="steps",
    )


@_of_lines("a labelled walk")
def label_blocks(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return report blocks of labelled trajectories: causes, and agreement with the rules."""

    def cause(row: ui.Line) -> str:
        return str(judge_result(row)["cause"] or UNSCORED)

    same = sum(cause(row) == judge_result(row)["rules"] for row in rows)
    facts = (ui.Fact("walks", str(len(rows))), ui.Fact("as the rules", str(same)))
    title = "The judge's causes, by the rules'"
    rules = _bars(title, rows, "rules", lambda r: judge_result(r)["rules"], cause, "cause")
    return [ui.Facts(title=f"Labelled by {_model(run)}", facts=facts), rules]


@_of_lines("a judged pair")
def preference_blocks(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return blocks of the preferred side, and of how answers depend on the order."""
    summary, where = _summary(run), read_run(run).get("where") or {}
    found = scores.score_preference(run, _model(run), summary.left + summary.error)
    names = [str(where.get(key) or "?") for key in ("of", "against")]
    return [_choices(rows, None), *map(ui.Grid, scores.preference_tables(found, names))]


@_of_lines("a pair of a calibration")
def preference_calibration(run: Path, rows: list[dict[str, Any]]) -> list[ui.Block]:
    """Return report blocks of how far a preference judge finds the known order."""
    summary = _summary(run)
    found = scores.score_known_pairs(run, _model(run), summary.left + summary.error)
    return [_choices(rows, "better"), *map(ui.Grid, scores.calibration_tables(found))]


def _choices(rows: Sequence[ui.Line], better: str | None) -> ui.Bars:
    def choice(row: ui.Line) -> str:
        return str(judge_result(row).get("choice") or UNSCORED)

    title = "Choices by the better task" if better else "Choices"
    of = (lambda row: row[better]) if better else (lambda _: "pairs")
    return _bars(title, rows, "expected" if better else "", of, choice, "choice")


def _bars(
    title: str,
    rows: Iterable[ui.Line],
    column: str,
    name: Callable[[ui.Line], Any],
    part: Callable[[ui.Line], str],
    parts: str,
) -> ui.Bars:
    """Make bars by one column with segments by another; a segment links to its samples.

    Args:
        title: title of the block.
        rows: lines.
        column: column of the bars; empty for none.
        name: line -> its bar.
        part: line -> its segment.
        parts: column of the segments.
    """
    counted: dict[str, Counter[str]] = {}
    for row in rows:
        counted.setdefault(str(name(row) or NOTHING), Counter())[part(row)] += 1

    bars = tuple(
        (bar, _segments(of, parts, **({column: bar} if column else {})))
        for bar, of in counted.items()
    )
    return ui.Bars(title=title, bars=bars, unit="items")


def _segments(
    counted: Mapping[str, int], parts: str, *, before: str = "", **where: str
) -> tuple[ui.Segment, ...]:
    """Make the segments of a bar, each linked to its samples.

    Args:
        counted: counts by segment name.
        parts: column that holds the segment names; empty for none.
        before: prefix of the names in that column.
        where: further filters, by column.
    """

    def to(word: str) -> str:
        return ui.samples_address(**where, **({parts: before + word} if parts else {}))

    return tuple(ui.Segment(word, n, to=to(word)) for word, n in sorted(counted.items()))
