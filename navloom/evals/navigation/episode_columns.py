"""What an episode's line has of its own in a table of samples, and what makes two lines a pair."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from navloom.evals.navigation.episode_pair import beside
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.metrics import METRICS, SHARES
from navloom.evals.navigation.path_metrics import METRES, PATH_METRICS
from navloom.evals.navigation.scores import EFFORT, effort_of, spoken
from navloom.evals.report.line_columns import Cell, Column, Line, Pairing

_COUNTED = (
    *("SR", "SR_stopped", "SR_end", "OSR", "early_stop", "late_stop"),
    *("SR_visible", "RGS", "collided", "SR_strict", "SR_telhop"),
)
_TOUCHES = ("collision_rate", "contacts", "collided")
_IDENTITY = ("scene", "start", "goals", "instruction")
_LESS = frozenset({"NE", "DTS", "early_stop", "late_stop", *_TOUCHES, *EFFORT})
_NEITHER = frozenset({"TL"})
_DRAWN = ("SPL", "NE", "nDTW", "steps")
_SHOWN = ("SR", "SPL", "NE", "OSR", "nDTW", "RGS", "contacts")
_SEEN_FROM = ("reverie", "objectnav", "scene")
"""Tasks whose episodes say whence the target is seen."""
_BODILY = (*_TOUCHES, "SR_strict", "SR_telhop")
_HELP = {
    "TL": "Metres walked.",
    "NE": "Metres from the last viewpoint to the nearest goal.",
    "SR": "1 where it ended within 3 m of a goal.",
    "OSR": "1 where it ever was within 3 m of a goal.",
    "SPL": "Success, weighted by the shortest way over the way walked.",
    "SPL_gt": "SPL by the length of the given way.",
    "nDTW": "How closely the walk follows the given way.",
    "SDTW": "nDTW where it succeeded, else 0.",
    "CLS": "How much of the given way it covers, at its length.",
    "SoftSPL": "SPL with the part of the way to the goal in place of success.",
    "SR_stopped": "1 where it stopped there by itself.",
    "SR_end": "1 where its walk ended there, whatever ended it.",
    "early_stop": "1 where it stopped and never was near a goal.",
    "late_stop": "1 where it was near a goal and stopped elsewhere.",
    "DTS": "Metres that were left to a success.",
    "GP": "By how many metres it came nearer to the goal.",
    "SR_visible": "1 where the target is seen from its end.",
    "RGS": "1 where the right object was named as well.",
    "RGSPL": "RGS, weighted by the given way over the way walked.",
    "collision_rate": "Contacts an action.",
    "contacts": "Contacts in all.",
    "collided": "1 where a collision ended it.",
    "SR_strict": "Success without a contact that displaced the body.",
    "SR_telhop": "Success, whatever was touched.",
}


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
        _count("steps", "Moves, the stop, and what questions cost.", shown=True),
        *map(_metric, first),
        Column(name="behaviours", of=_behaviours, form="tags", facet=True,
               help="All that the agent did wrong on the way, or none."),
        Column(name="behaviour", of=lambda line: _behaviours(line)[0], form="text", facet=True,
               shown=False, help="The one of them that the episode is counted under."),
        Column(name="cause", of=_cause, form="text", facet=True,
               help="Why it left the right way, by rules."),
        Column(name="deviation", of=_deviation, form="count",
               help="The step, from 1, at which it first left the right way."),
        Column(name="left_at", of=lambda line: line["result"]["tags"]["first_deviation"]["at"],
               form="text", shown=False, help="The viewpoint where it first left the right way."),
        Column(name="end", of=lambda line: line["result"]["end"], form="text", facet=True,
               shown=False, help="What ended it: its stop, its steps, a reply, a collision."),
        _count("reprompts", "Replies that were sent back."),
        _count("revisions", "Choices that were taken back after a reflection."),
        _count("questions", "Questions that it asked.", shown=bool(asked.get("dialogue"))),
        _count("oracle_calls", "Times that an oracle spoke unasked.", shown=told),
        *(_metric(name, shown=False) for name in metrics if name not in first),
    )  # fmt: skip


_QUIET = (None, "auto", "embedded", "graph", "habitat", "panorama")
"""Backends that report contacts only where there are physics."""


def _count(name: str, words: str, *, shown: bool = False) -> Column:
    return Column(name=name, of=partial(_counted, name), form="count", shown=shown, help=words)


def _counted(name: str, line: Line) -> Cell:
    found: Cell = line["result"]["counts"].get(name)
    return found


def _metric(name: str, *, shown: bool = True) -> Column:
    form: Literal["share", "metres", "number"]
    form = "share" if name in SHARES else "metres" if name in METRES else "number"
    better: Literal["more", "less"] | None = "less" if name in _LESS else "more"
    return Column(
        name=name,
        of=partial(_scored, name),
        form=form,
        shown=shown,
        help=_HELP[name],
        better=None if name in _NEITHER else better,
    )


def _scored(name: str, line: Line) -> Cell:
    found: Cell = line["result"]["scores"].get(name)
    return found


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
    less=_LESS,
    neither=_NEITHER,
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
