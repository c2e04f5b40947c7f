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

TOUCHES = ("collision_rate", "contacts", "collided")
LESS = frozenset({"NE", "DTS", "early_stop", "late_stop", *TOUCHES, *EFFORT})
NEITHER = frozenset({"TL"})
SCORES: Mapping[str, str] = {
    "TL": "How far it walked.",
    "NE": "From its last viewpoint to the nearest goal, by the shortest way.",
    "SR": "Success: 100 % where it ended within 3 m of a goal, else 0.",
    "OSR": "100 % where it ever was within 3 m of a goal, wherever it ended.",
    "SPL": "Success, times the shortest way over the way walked, 1 at most: 100 % is no detour.",
    "SPL_gt": "SPL by the length of the given way instead of the shortest.",
    "nDTW": "How closely the walk follows the given way, place by place.",
    "SDTW": "nDTW where it succeeded, else 0.",
    "CLS": "How much of the given way it covers, at about its length.",
    "SoftSPL": "SPL with the part of the way to the goal that was made in place of success.",
    "SR_stopped": "100 % where it succeeded and stopped there by itself.",
    "SR_end": "100 % where its walk ended within 3 m of a goal, whatever ended it.",
    "early_stop": "100 % where it stopped by itself and never had been within 3 m of a goal: the"
    " behaviour 'early stop'. A cause 'premature stop' says why: it stopped on the right way.",
    "late_stop": "100 % where it was within 3 m of a goal and stopped elsewhere by itself: among"
    " behaviours a 'missed stop'. A cause 'late stop' says only that it walked on there.",
    "DTS": "What was left to a success: NE less 3 m, 0 at least.",
    "GP": "By how much it came nearer to the goal.",
    "SR_visible": "100 % where the target is seen from its end.",
    "RGS": "100 % where the right object was named as well.",
    "RGSPL": "RGS, times the given way over the way walked, 1 at most.",
    "collision_rate": "Contacts an action.",
    "contacts": "Contacts in all.",
    "collided": "100 % where a collision ended it.",
    "SR_strict": "Success without a contact that displaced the body by 0.1 m.",
    "SR_telhop": "Success, whatever was touched.",
}
COUNTED: Mapping[str, str] = {
    "steps": "Moves, the stop, and what questions cost.",
    "reprompts": "Replies that were sent back.",
    "unparsed": "Replies in which no action could be read.",
    "invalid_option": "Replies that chose what was not among the options.",
    "refusal": "Replies that refused.",
    "revisions": "Choices that were taken back after a reflection.",
    "questions": "Questions that it asked.",
    "oracle_calls": "Times that an oracle spoke unasked.",
    "leaks": "Answers that told more than whoever answered may tell.",
}
BEHAVED: Mapping[str, str] = {
    "generation_error": "a reply was no action, none of the options, or a refusal",
    "collision": "a contact that displaced its body ended it",
    "loop": "it stood on one place three times or more, or went the same round twice in a row",
    "missed_stop": "it was within 3 m of a goal and did not end there",
    "time_out": "its steps ran out",
    "early_stop": "it stopped by itself and never had been within 3 m of a goal",
    "dead_end": "there was nowhere to go",
    "detour": "it succeeded by a way more than 3 m longer than the right one",
}
"""What behaviours are (:mod:`navloom.evals.navigation.failure_behaviour` has the rules)."""


def metric_column(name: str, *, shown: bool = True) -> Column:
    """A score as a column."""
    form: Literal["share", "metres", "number"]
    form = "share" if name in SHARES else "metres" if name in METRES else "number"
    better: Literal["more", "less"] | None = "less" if name in LESS else "more"
    return Column(
        name=name,
        of=partial(_scored, name),
        form=form,
        shown=shown,
        help=SCORES[name],
        better=None if name in NEITHER else better,
    )


def count_column(name: str, *, shown: bool = False) -> Column:
    """A count as a column."""
    return Column(
        name=name, of=partial(_counted, name), form="count", shown=shown, help=COUNTED[name]
    )


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
            name="instruction",
            of=lambda line: line["result"]["episode"]["instruction"],
            form="text",
        ),
        Column(name="kind", of=_kind, form="text", facet=True, shown=False,
               help="Of instruction, where they are made: fine, goal or object."),
        *_RATER[: asked.get("agent") == "human"],
        count_column("steps", shown=True),
        *map(metric_column, first),
        Column(name="behaviours", of=_behaviours, form="tags", facet=True,
               help="All that the agent did wrong on the way, or none."),
        Column(name="behaviour", of=lambda line: _behaviours(line)[0], form="text", shown=False,
               help="The one of them that bars count the episode under."),
        Column(name="cause", of=_cause, form="text", facet=True,
               help="Why it left the right way, by rules."),
        Column(name="deviation", of=_deviation, form="count",
               help="The step, from 1, at which it first left the right way."),
        Column(name="left_at", of=lambda line: line["result"]["tags"]["first_deviation"]["at"],
               form="text", shown=False, help="The viewpoint where it first left the right way."),
        Column(name="end", of=lambda line: line["result"]["end"], form="text", facet=True,
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
    Column(name="rater", of=lambda line: line.get("rater"), form="text", facet=True,
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
