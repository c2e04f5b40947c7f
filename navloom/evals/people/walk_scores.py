"""What people's walks score, each rater's apart, beside blind picks and the agent they repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.navigation.scores import RunScores, scores_for, spoken
from navloom.evals.people.study_folder import BY_LOT, WALKS, People
from navloom.evals.report.document import NOTHING, Table
from navloom.evals.run_folder import read_run, read_samples

_SHOWN = ("SR", "OSR", "SPL", "nDTW", "NE", "TL")


def walk_table(people: People) -> Table | None:
    """Scores of all walks, of each rater's, of blind picks and of the agent; None before any walk.

    Raises:
        RunError: a run of the study is broken.
    """
    run = people.path / WALKS
    lines = read_samples(run) if (run / "run.json").is_file() else []
    if not lines:
        return None
    asked, walked = read_run(run)["request"], {line["id"] for line in lines}
    episodes = {str(line["result"]["episode"]["id"]) for line in lines}
    raters = list(dict.fromkeys(str(line["rater"]) for line in lines))
    found = [("people", _scores(asked, lines))]
    if len(raters) > 1:
        mine = ([line for line in lines if line["rater"] == rater] for rater in raters)
        found += [(rater, _scores(asked, some)) for rater, some in zip(raters, mine, strict=True)]
    found += _run_row(people.path / BY_LOT, "blind picks", walked)
    source = Path(str(people.file.request.get("sources", [""])[0]))
    found += _run_row(source, "", episodes)
    note = (
        "Over the episodes that were walked; 95 % bootstrap intervals. Success: it ended strictly"
        " within 3 m of a goal; NE and TL are metres. Blind picks are a draw among the ways on at"
        " each hop (`by-lot` in the study)."
    )
    header = ("who", "walks", *_SHOWN)
    rows = tuple(_row(name, scores) for name, scores in found)
    return Table("Walks", note, header, rows, record={name: each.record() for name, each in found})


def _scores(asked: dict[str, Any], lines: Iterable[dict[str, Any]]) -> RunScores:
    found = scores_for(asked)
    for line in lines:
        found.add(line)
    return found


def _run_row(run: Path, name: str, ids: set[str]) -> Iterator[tuple[str, RunScores]]:
    """A run's scores over some of its samples; nothing where it has none of them."""
    try:
        asked = read_run(run)["request"] if (run / "run.json").is_file() else None
        lines = [line for line in read_samples(run) if line["id"] in ids] if asked else []
    except NavloomError:
        return
    if asked and lines:
        yield name or f"agent {asked.get('agent')} ({run.name})", _scores(asked, lines)


def _row(name: str, scores: RunScores) -> tuple[str, ...]:
    measured = scores.record()["metrics"]
    cells = [_cell(metric, measured.get(metric)) for metric in _SHOWN]
    return name, str(scores.episodes), *cells


def _cell(name: str, measured: dict[str, Any] | None) -> str:
    if measured is None or measured["mean"] is None:
        return NOTHING
    said, ends = spoken(name, measured["mean"]), measured["interval"] or ()
    between = ", ".join(spoken(name, end).removesuffix("%") for end in ends)
    return f"{said} [{between}]" if between else said
