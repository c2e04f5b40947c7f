"""What an episode's line has of its own in a table of samples, and what makes two lines a pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navloom.evals.navigation.episode_pair import beside
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.path_metrics import PATH_METRICS
from navloom.evals.navigation.score_words import LESS, NEITHER, TOUCHES, count_column, metric_column
from navloom.evals.navigation.scores import EFFORT, effort_of, spoken
from navloom.evals.report.line_columns import Cell, Column, Line, Pairing

_COUNTED = (
    *("SR", "SR_stopped", "SR_end", "OSR", "early_stop", "late_stop"),
    *("SR_visible", "RGS", "collided", "SR_strict", "SR_telhop"),
)
_IDENTITY = ("scene", "start", "goals", "instruction")
_DRAWN = ("SPL", "NE", "nDTW", "steps")
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


def pairing() -> Pairing:
    """Episodes by id: one scene, start, goals and instruction, and paths are drawn whole."""
    return PAIRING


def _identity(line: Line) -> Any:
    episode = line["result"]["episode"]
    return {key: episode[key] for key in _IDENTITY}


def _scores(line: Line) -> Mapping[str, float | None]:
    scores = line["result"]["scores"]
    return {**{name: scores[name] for name in METRICS if name in scores}, **effort_of(line)}


def _path(line: Line) -> Any:
    return line["result"]["scores"].get("cluster")


PAIRING = Pairing(
    identity=_identity,
    scores=_scores,
    what="an episode",
    less=LESS,
    neither=NEITHER,
    effort=frozenset({*EFFORT, "contacts"}),
    counted=frozenset(_COUNTED),
    cluster=_path,
    cluster_name="path",
    order=(*METRICS, *EFFORT),
    drawn=_DRAWN,
    said=spoken,
    holds="episode and scores",
    beside=beside,
)
