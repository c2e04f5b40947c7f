"""CapNav runs as tables, and the report that puts them on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from navloom.evals.capnav.data import Benchmark, Question
from navloom.evals.capnav.scores import CapnavScores, Measure, Totals, read_capnav
from navloom.evals.report.document import NOTHING, Document, Table, named_apart, percent
from navloom.evals.report.intervals import wilson
from navloom.models.spec import read_spec
from navloom.scenes.traverse.traverse_table import Passage

_SHOWN = ("F1", "precision", "recall", "accuracy", "balanced", "PV", "RTA", "RV", "composite")
_RULES = ("builtin/heuristic", "builtin/random", "builtin/always-yes", "builtin/always-no")
_OF_GROUPS = ("F1", "PV", "RTA", "RV", "composite")
_OF_YES = ("feasible", "F1")
"""Columns that say nothing where every pair is infeasible."""
_TITLES = {
    "body": "By body",
    "barrier": "By what is in the way (infeasible pairs)",
    "passages": "By passages of the shortest route",
}
_OF_ALL_GROUPS = (
    "Brackets: 95 % intervals, Wilson's for right and PV, bootstrap over questions for the others,"
    " which have none where a group has one question. composite: the mean of {over}; a part that an"
    " answerer gives no occasion for is 0 in it."
)
_NOTES = {
    "body": "",
    "barrier": " A pair stands under every kind that the notes of its blocking passages name, so"
    " rows overlap. Right: the answer was no. No pair is feasible, so F1 is 0 in the composite and"
    " is left out.",
    "passages": " Whatever the body; a longer route has more places to be wrong about.",
}


def run_table(runs: Mapping[str, CapnavScores], *, official: bool = False) -> Table:
    """Several runs, a row each.

    Args:
        runs: by name.
        official: by the public scorer's rules.
    """
    made = {n: (s.official_totals() if official else s.totals()) for n, s in runs.items()}
    over = sorted({" + ".join(each.over) for each in made.values()})
    title = "By the public scorer's rules" if official else "CapNav"
    note = (
        "Brackets: 95 % bootstrap intervals over questions. balanced: the mean of the shares of"
        " feasible and infeasible pairs answered rightly, 50% for whoever always says the same."
        f" composite: the mean of {' or of '.join(over)}; a part that an answerer gives no occasion"
        " for is 0 in it. RV without a judge is unscored; `navloom judge reasoning RUN` grades"
        " the reasons."
    )
    if any(read_spec(scores.model).bare in _RULES for scores in runs.values()):
        note += " builtin models are baselines: rules, no language models."
    left = sum(each.not_counted for each in made.values())
    if left:
        each = ", ".join(f"{t.not_counted} of {n}" for n, t in made.items() if t.not_counted)
        note += f" Not counted by these rules (docs/capnav.md): {each}."
    rows = []
    for name, found in made.items():
        model, counted = runs[name].model, found.answers - found.not_counted
        shown = (_cell(found.measures[key], found, key) for key in _SHOWN)
        label = name if model in name else f"{name}: {model}"
        said = _share(found.said_yes, counted)
        rows.append((label, str(counted), str(found.unparsed), said, *shown))
    header = ("run", "n", "unparsed", "said yes", *_SHOWN)
    return Table(title, note, header, tuple(rows))


def _cell(measure: Measure, found: Totals, key: str) -> str:
    if measure.value is None:
        return "unscored" if key == "RV" and found.unscored else NOTHING
    low, high = measure.low, measure.high
    return percent(measure.value, None if low is None or high is None else (low, high))


def _share(hits: int, of: int) -> str:
    return percent(hits / of) if of else NOTHING


def group_tables(scores: CapnavScores) -> Iterator[Table]:
    """One run's answers by body, by barrier, by length of the route."""
    for kind, title in _TITLES.items():
        groups = list(scores.by(kind))
        rows = tuple(_group_row(name, found) for name, found in groups)
        if rows:
            over = " + ".join(groups[0][1].over)
            note = _OF_ALL_GROUPS.format(over=over) + _NOTES[kind]
            header = (kind, "n", "feasible", "said yes", "right", *_OF_GROUPS)
            kept = [k for k, name in enumerate(header) if kind != "barrier" or name not in _OF_YES]
            yield Table(title, note, _of(header, kept), tuple(_of(row, kept) for row in rows))
    if scores.faults:
        most = sorted(scores.faults.items(), key=lambda item: (-item[1], item[0]))
        parsed = sum(score.answer is not None for score in scores.scores)
        faults = tuple((n.replace("_", " "), str(c), _share(c, parsed)) for n, c in most)
        note = "Of answers that could be read; a path may have several."
        yield Table("What is wrong with paths", note, ("fault", "answers", "share"), faults)


def _of(row: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[k] for k in columns)


def _group_row(name: str, found: Totals) -> tuple[str, ...]:
    right = found.confusion["TP"] + found.confusion["TN"]
    known = sum(found.confusion.values())
    feasible = found.confusion["TP"] + found.confusion["FN"]
    return (
        name,
        str(found.answers),
        _share(feasible, known),
        _share(found.said_yes, found.answers),
        _wilson(right, known),
        *(_group_cell(found.measures[key], found, key) for key in _OF_GROUPS),
    )


def _group_cell(measure: Measure, found: Totals, key: str) -> str:
    if key == "PV" and measure.value is not None:
        return _wilson(round(measure.value * measure.n), measure.n)
    return _cell(measure, found, key)


def _wilson(hits: int, of: int) -> str:
    return percent(hits / of, wilson(hits, of)) if of else NOTHING


def report_tables(read: Mapping[str, CapnavScores]) -> list[Table]:
    """All tables of some runs' report, by the runs' names."""
    tables = [run_table(read), run_table(read, official=True)]
    for name, scores in read.items():
        tables += [
            table if len(read) == 1 else replace(table, title=f"{name}: {table.title}")
            for table in group_tables(scores)
        ]
    return tables


def write_capnav_report(
    runs: Sequence[Path], out: Path | None = None
) -> tuple[Document, list[Path]]:
    """Write ``report.md`` of some runs.

    Args:
        runs: their folders.
        out: where to; the first run's folder unless given.

    Returns:
        What it says, and the file.

    Raises:
        RunError: a folder is no run of this evaluation, or cannot be written.
    """
    read = {name: read_capnav(run) for name, run in zip(named_apart(runs), runs, strict=True)}
    tables = report_tables(read)
    models = ", ".join(dict.fromkeys(scores.model for scores in read.values()))
    counts = " + ".join(str(len(scores.scores)) for scores in read.values())
    report = Document(f"CapNav · {models} · n = {counts}", "", tuple(tables))
    return report, [report.write(runs[0] if out is None else out)]


_WORDS = {True: "feasible", False: "not", None: "unknown"}


def truth_record(benchmark: Benchmark) -> dict[str, Any]:
    """Per scene and body: how many questions are feasible, not, or unknown; and what is there."""
    scenes = {name: _of_scene(benchmark, name) for name in benchmark.scenes}
    bodies: dict[str, Counter[str]] = {body.name: Counter() for body in benchmark.bodies}
    for found in scenes.values():
        for name, counts in found["bodies"].items():
            bodies[name].update(counts)
    return {
        "folder": str(benchmark.folder),
        "compat_edges": benchmark.compat_edges,
        "questions": len(benchmark.questions),
        "hallucinated": [q.id for q in benchmark.questions if q.hallucinated],
        "unresolved": list(benchmark.unresolved),
        "bodies": {name: dict(counts) for name, counts in bodies.items()},
        "scenes": scenes,
    }


def _of_scene(benchmark: Benchmark, scene: str) -> dict[str, Any]:
    table = benchmark.traversability[scene]
    asked = [q for q in benchmark.questions if q.scene == scene]
    bodies = {}
    for body in benchmark.bodies:
        if body.name in table.bodies:
            counts = Counter(_WORDS[benchmark.feasible(q, body)] for q in asked if not q.problem)
            bodies[body.name] = {word: counts[word] for word in _WORDS.values()}
    unlabelled = sum(
        table.passage(name, a, b).traversable is None
        for name in table.bodies
        for a, b in table.edges
    )
    return {
        "nodes": len(table.nodes),
        "edges": len(table.edges),
        "questions": len(asked),
        "unresolved": sum(q.problem is not None for q in asked),
        "unlabelled_cells": unlabelled,
        "bodies": bodies,
    }


def truth_tables(benchmark: Benchmark) -> Iterator[Table]:
    """The same as tables: a row a scene, and all together."""
    record = truth_record(benchmark)
    names = [body.name for body in benchmark.bodies]
    how = "blocked" if benchmark.compat_edges else "unknown"
    note = (
        "feasible / not / unknown, of each scene's questions, those struck out included. An"
        f" unlabelled passage is taken as {how}. Cells: pairs of edge and body without a label."
    )
    rows = [
        (
            scene,
            *(str(of[key]) for key in ("nodes", "edges", "questions", "unresolved")),
            str(of["unlabelled_cells"]),
            *(_counts(of["bodies"].get(name)) for name in names),
        )
        for scene, of in record["scenes"].items()
    ]
    totals = [
        sum(of[key] for of in record["scenes"].values())
        for key in ("nodes", "edges", "questions", "unresolved", "unlabelled_cells")
    ]
    whole = ("all", *map(str, totals), *(_counts(record["bodies"][name]) for name in names))
    header = ("scene", "nodes", "edges", "questions", "unresolved", "cells", *names)
    yield Table("Who gets there", note, header, (*rows, whole))


def _counts(counts: dict[str, int] | None) -> str:
    if counts is None:
        return "–"
    return " / ".join(str(counts.get(word, 0)) for word in _WORDS.values())


def why_not(benchmark: Benchmark) -> Iterator[tuple[Question, str, list[Passage]]]:
    """Each infeasible question and body with what blocks it; nothing where no route leads there."""
    for question in benchmark.questions:
        if question.problem:
            continue
        for body in benchmark.bodies:
            if body.name not in benchmark.traversability[question.scene].bodies:
                continue
            if benchmark.feasible(question, body) is False:
                yield question, body.name, list(benchmark.truth(question, body).blocking)
