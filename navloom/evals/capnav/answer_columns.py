"""What an answer of a CapNav run has in a table of samples, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from navloom.evals.capnav.rules import AnswerScore
from navloom.evals.report.document import NOTHING, percent
from navloom.evals.report.line_columns import Cell, Column, Line, Pairing

TRUTH = {True: "yes", False: "no", None: "unknown"}


def score_of(line: Line) -> AnswerScore:
    """What an answer is worth."""
    return AnswerScore.read(line["result"]["score"])


def _of(take: Callable[[AnswerScore], Cell]) -> Callable[[Line], Cell]:
    return lambda line: take(score_of(line))


def _share(value: float | bool | None) -> float | None:
    return None if value is None else float(value)


def columns(run: Mapping[str, Any]) -> list[Column]:
    """What a line of a run of CapNav has of its own."""
    del run
    return [
        Column(name="body", of=_of(lambda s: s.body), form="text", facet=True),
        Column(
            name="answer",
            of=_of(lambda s: s.answer or "unparsed"),
            form="text",
            facet=True,
            help="yes, no, or a reply that could not be read",
        ),
        Column(
            name="truth",
            of=_of(lambda s: TRUTH[s.truth]),
            form="text",
            facet=True,
            help="unknown: it hangs on a passage that nobody labelled",
        ),
        Column(
            name="outcome",
            of=_of(lambda s: s.bucket or "unknown"),
            form="text",
            facet=True,
            shown=False,
            help="TP, FP, FN, TN; yes is positive",
        ),
        Column(name="right", of=_of(lambda s: _share(s.right)), form="share", better="more"),
        Column(
            name="PV",
            of=_of(lambda s: _share(s.valid)),
            form="share",
            better="more",
            help="path validity: 100 % where the answered path goes along passages that are there,"
            " no place twice, from start to goal",
        ),
        Column(
            name="RTA",
            of=_of(lambda s: _share(s.traversable)),
            form="share",
            better="more",
            help="of a yes with a valid path, the share of its passages that the body can use",
        ),
        Column(
            name="RV",
            of=_of(lambda s: _share(s.reason_valid)),
            form="share",
            better="more",
            help="of a no, whether its reason is right, as the judge has it",
        ),
        Column(
            name="barrier",
            of=_of(lambda s: list(s.barriers)),
            form="tags",
            facet=True,
            help="the kinds of barrier that every way meets, by the notes on a minimum cut",
        ),
        Column(
            name="passages",
            of=_of(lambda s: s.hops),
            form="count",
            facet=True,
            help="of the shortest route, whatever body",
        ),
        Column(
            name="fault",
            of=_of(lambda s: [each.replace("_", " ") for each in s.faults]),
            form="tags",
            facet=True,
            help="what is wrong with the path",
        ),
        Column(name="question", of=_of(lambda s: s.question_id), form="text", shown=False),
    ]


def _said(name: str, value: float | None, sign: str) -> str:
    """Every score is a share."""
    del name
    if value is None:
        return NOTHING
    return f"{100 * value:+.1f}" if sign else percent(value)


def pairing() -> Pairing:
    """Two runs by question and body."""

    def scores(line: Line) -> dict[str, float | None]:
        found = score_of(line)
        return {
            "right": _share(found.right),
            "yes": None if found.answer is None else float(found.answer == "yes"),
            "PV": _share(found.valid),
            "RTA": _share(found.traversable),
            "RV": _share(found.reason_valid),
        }

    return Pairing(
        identity=lambda line: [score_of(line).question_id, score_of(line).body],
        scores=scores,
        what="a question of one body",
        neither=frozenset({"yes"}),
        said=_said,
        counted=frozenset({"right", "yes", "PV"}),
        cluster=lambda line: score_of(line).question_id,
        cluster_name="question",
    )
