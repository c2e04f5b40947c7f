"""Published scores to show beside those of a run. They enter no statistic.

They are VLN-MME's Table 2 (zero-shot language models) and Table 6 (navigators trained on the task),
copied from the paper into ``published.yaml``. Each row states its episodes: all of val_unseen, or
the paper's own subset, whose size its tables do not print (its error analysis has 200 walks). Runs
with a body are shown beside VLNVerse's Table 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from navloom.evals.navigation.metrics import SHARES
from navloom.evals.navigation.scores import format_metric
from navloom.evals.report.formatting import Table
from navloom.files import package_yaml

SPLIT = "val_unseen"
_COLUMNS = ("SR", "OSR", "SPL", "NE", "TL", "nDTW", "SDTW", "CLS")
_FAMILIES = {"mapgpt": "MapGPT"}
"""Paper's name of our agents. All other agents are compared with NavGPT."""


@dataclass(frozen=True)
class PublishedRow:
    """One row of a paper's table, for one task.

    Attributes:
        source: paper and table.
        trained: whether the navigator was trained on the task.
        group: the agent, or the kind of navigator.
        model: name of the model.
        task: our name of the task.
        part: ``subset``, or ``val_unseen`` for the whole split.
        values: metric -> value, as fractions and metres.
    """

    source: str
    trained: bool
    group: str
    model: str
    task: str
    part: str
    values: Mapping[str, float]


@cache
def _typed() -> Any:
    return package_yaml("navloom.evals.navigation", "published.yaml")


@cache
def published_rows() -> tuple[PublishedRow, ...]:
    """Return all rows of VLN-MME, in the order of its table."""
    said = _typed()
    return tuple(row for table in said["tables"] for row in _rows(said["source"], table))


def _rows(source: str, table: Mapping[str, Any]) -> Iterator[PublishedRow]:
    columns = table["columns"].split()
    for group, rows in table["rows"].items():
        for model, line in rows.items():
            numbers = [float(number) for number in line.split()]
            for k, block in enumerate(table["blocks"]):
                task, part = block.split()
                printed = numbers[k * len(columns) : (k + 1) * len(columns)]
                # A row may end before the last task.
                values = {
                    name: value / 100 if name in SHARES else value
                    for name, value in zip(columns, printed, strict=bool(printed))
                }
                if values:
                    where = f"{source} {table['table']}"
                    trained = table["kind"] != "zero-shot"
                    yield PublishedRow(where, trained, group, model, task, part, values)


def physics_rows(columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield VLNVerse's rows of agents with physics as cells: agent, task, physics, metrics.

    Args:
        columns: names of metrics. A value that the source lacks gives an empty cell.
    """
    said = _typed()["physics"]
    for row in said["rows"]:
        values = {name: v / 100 if name in SHARES else v for name, v in row["values"].items()}
        cells = (format_metric(name, values[name]) if name in values else "" for name in columns)
        yield (f"{row['agent']} ({said['source']}, {row['grain']})", "", row["physics"], *cells)


def comparable_rows(request: Mapping[str, Any], *, every: bool = False) -> list[PublishedRow]:
    """Return the published rows comparable to a run: same task, and same kind of agent.

    Args:
        request: request as recorded in ``run.json``.
        every: return the rows of all agents of the task.
    """
    if request.get("split") != SPLIT:
        return []
    flags = [word for key, word in (("cot", "CoT"), ("reflect", "Reflection")) if request.get(key)]
    family = _FAMILIES.get(str(request.get("agent")), "NavGPT")
    own = f"{family} w/ {' & '.join(flags)}" if flags else family
    part = "subset" if request.get("subset_ids") else SPLIT
    rows = [row for row in published_rows() if row.task == request.get("task")]
    return [row for row in rows if every or (row.part == part if row.trained else row.group == own)]


def published_table(
    request: Mapping[str, Any], scores: Mapping[str, Any], *, every: bool = False
) -> Iterator[Table]:
    """Yield a table of a run's means above the comparable rows; nothing without such rows."""
    rows = comparable_rows(request, every=every)
    if not rows:
        return
    means = {name: found["mean"] for name, found in scores["metrics"].items()}
    model = scores["model"] + " (a baseline)" * scores["model"].startswith("builtin/")
    ours = (f"{scores['agent']}, this run", model, f"{scores['episodes']} of it")
    note = (
        "Published, not measured here, and in no statistic: VLN-MME, Table 2 (zero-shot) and Table"
        " 6 (trained on the task). Other prompts, pictures and episodes: its subset of val_unseen"
        " is its own; its tables do not print how large it is (its error analysis has 200 walks)."
    )
    shown = (_cells((row.group, row.model, _OF[row.part]), row.values) for row in rows)
    yield Table(
        "Published rows beside it",
        note,
        ("agent", "model", SPLIT, *_COLUMNS),
        (_cells(ours, means), *shown),
        pale=len(rows),
        folded="All published rows of this task" if every else "",
    )


_OF = {"subset": "published: its subset", SPLIT: "published: all"}


def _cells(head: Sequence[str], values: Mapping[str, float | None]) -> tuple[str, ...]:
    return (*head, *(format_metric(name, values.get(name)) for name in _COLUMNS))


def published_text(request: Mapping[str, Any]) -> str:
    """Return a sentence with the published range of SR; empty without comparable rows."""
    said = []
    for trained in (False, True):
        rows = [row for row in comparable_rows(request) if row.trained == trained]
        rates = sorted(row.values["SR"] for row in rows)
        if rates:
            who = "navigators trained on it" if trained else f"{rows[0].group}, models as they come"
            ends = f"{format_metric('SR', rates[0])} to {format_metric('SR', rates[-1])}"
            of = "its subset" if rows[0].part == "subset" else SPLIT
            said.append(f"{who} {ends} ({rows[0].source}, {of})")
    return f"Published SR, not measured here: {'; '.join(said)}." if said else ""
