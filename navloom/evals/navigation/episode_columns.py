"""An episode in a table of samples: columns, what scores mean, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.metrics import METRICS, SHARES
from navloom.evals.navigation.path_metrics import METRES, PATH_METRICS
from navloom.evals.navigation.scores import EFFORT
from navloom.evals.report.blocks import Cell, Column, Line
from navloom.files import packaged

TOUCHES = ("collision_rate", "contacts", "collided")
LESS = frozenset({"NE", "DTS", "early_stop", "late_stop", *TOUCHES, *EFFORT})
NEITHER = frozenset({"TL"})
_WORDS = packaged("navloom.evals.navigation", "meanings.yaml")
SCORES: Mapping[str, str] = _WORDS["scores"]
COUNTED: Mapping[str, str] = _WORDS["counts"]
BEHAVED: Mapping[str, str] = _WORDS["behaviours"]
"""What behaviours are (:mod:`navloom.evals.navigation.failure_behaviour` has the rules)."""


def metric_column(name: str, *, shown: bool = True) -> Column:
    """A score as a column."""
    form: Literal["share", "metres", "number"]
    form = "share" if name in SHARES else "metres" if name in METRES else "number"
    better: Literal["more", "less"] | None = "less" if name in LESS else "more"
    return Column(
        name,
        partial(_scored, name),
        form,
        shown=shown,
        help=SCORES[name],
        better=None if name in NEITHER else better,
    )


def count_column(name: str, *, shown: bool = False) -> Column:
    """A count as a column."""
    return Column(name, partial(_counted, name), "count", shown=shown, help=COUNTED[name])


def score_columns(scores: Mapping[str, Any], counts: Mapping[str, Any]) -> list[Column]:
    """Columns of the scores and counts that an episode has, in the order of tables."""
    return [
        *(metric_column(name) for name in METRICS if name in scores),
        *(count_column(name) for name in COUNTED if counts.get(name)),
    ]


def _scored(name: str, line: Line) -> Cell:
    found: Cell = line["result"]["scores"].get(name)
    return found


def _counted(name: str, line: Line) -> Cell:
    found: Cell = line["result"]["counts"].get(name)
    return found


_SHOWN = ("SR", "SPL", "NE", "OSR", "nDTW", "RGS", "contacts")
_SEEN_FROM = ("reverie", "objectnav", "scene")
"""Tasks whose episodes say whence the target is seen."""
_BODILY = (*TOUCHES, "SR_strict", "SR_telhop")


def columns(run: Mapping[str, Any]) -> tuple[Column, ...]:
    """What lines of a run have of their own.

    Args:
        run: what its ``run.json`` says.
    """
    asked = run["request"]
    task, metrics = asked.get("task"), [*PATH_METRICS]
    metrics += ["SR_visible"] if task in _SEEN_FROM else []
    metrics += ["RGS", "RGSPL"] if task == "reverie" else []
    if asked.get("physics", "off") != "off" or asked.get("backend") not in _QUIET:
        metrics += _BODILY
    first = [name for name in _SHOWN if name in metrics]
    told = bool(asked.get("dialogue")) or asked.get("oracle", "off") != "off"
    return (
        Column(
            "instruction",
            lambda line: line["result"]["episode"]["instruction"],
            "text",
        ),
        Column("kind", _kind, "text", facet=True, shown=False,
               help="Of instruction, where they are made: fine, goal or object."),
        *_RATER[: asked.get("agent") == "human"],
        count_column("steps", shown=True),
        *map(metric_column, first),
        Column("behaviours", _behaviours, "tags", facet=True,
               help="All that the agent did wrong on the way, or none."),
        Column("behaviour", lambda line: _behaviours(line)[0], "text", shown=False,
               help="The one of them that bars count the episode under."),
        Column("cause", _cause, "text", facet=True,
               help="Why it left the right way, by rules."),
        Column("deviation", _deviation, "count",
               help="The step, from 1, at which it first left the right way."),
        Column("left_at", lambda line: line["result"]["tags"]["first_deviation"]["at"],
               "text", shown=False, help="The viewpoint where it first left the right way."),
        Column("end", lambda line: line["result"]["end"], "text", facet=True,
               shown=False, help="What ended it: its stop, its steps, a reply, a collision."),
        count_column("reprompts"),
        count_column("revisions"),
        count_column("questions", shown=bool(asked.get("dialogue"))),
        count_column("oracle_calls", shown=told),
        *(metric_column(name, shown=False) for name in metrics if name not in first),
    )  # fmt: skip


_QUIET = (None, "auto", "embedded", "graph", "habitat", "panorama")
"""Backends that report contacts only where there are physics."""


_RATER = (
    Column("rater", lambda line: line.get("rater"), "text", facet=True,
           help="Who walked, by pseudonym."),
)  # fmt: skip


def _kind(line: Line) -> Cell:
    found: Cell = line["result"]["episode"]["columns"].get("kind")
    return found


def _behaviours(line: Line) -> list[str]:
    said = line["result"]["tags"]["behaviour"]
    return [each for each in said if each in BEHAVIOURS]


def _cause(line: Line) -> Cell:
    found = line["result"]["tags"]["cause"]
    return found if found in CAUSES else None


def _deviation(line: Line) -> Cell:
    return int(line["result"]["tags"]["first_deviation"]["step"]) + 1
