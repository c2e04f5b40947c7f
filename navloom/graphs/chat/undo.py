"""What the person takes back: how much had grown before each instruction, and the way there.

Words that stopped a walk and began none of their own ("stop", "where are you?") belong to that
walk: both go together. Words that began another walk, or took the walk up again, are an instruction
of their own: taken back, the robot stands where they were said, and the walk is unfinished again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.types import Overwrite

from navloom.graphs.chat.exchange import told_by
from navloom.models.messages import answered_calls
from navloom.tools.chat.tools import MOVING

_GROWN = ("trajectory", "messages", "transcript", "past", "begun")
_KEPT = ("goal", "pose", "simulator")
_POSE = ("viewpoint", "heading", "elevation")


def mark_of(state: Mapping[str, Any], *, cuts_in: bool) -> dict[str, Any]:
    """What undo goes back to: lengths of what grows, values of what does not.

    Args:
        state: the conversation before the words.
        cuts_in: whether the words stopped a walk.
    """
    sizes = {name: len(state.get(name, [])) for name in _GROWN}
    return {**sizes, **{name: state.get(name) for name in _KEPT}, "cuts_in": cuts_in}


def instructions(state: Mapping[str, Any]) -> list[int]:
    """The line of the transcript that each instruction begins with, in their order."""
    return [int(state["marks"][first]["transcript"]) for first in _firsts(state)]


def _firsts(state: Mapping[str, Any]) -> list[int]:
    """The mark that each instruction begins with."""
    marks = state.get("marks") or []
    return [
        number
        for number, mark in enumerate(marks)
        if not number or not mark.get("cuts_in") or _moved(state["messages"], marks, number)
    ]


def undone(state: Mapping[str, Any]) -> dict[str, Any]:
    """The update that goes back to before an instruction; what was paid stays paid.

    It is the one that the line ``undo_to`` of the transcript belongs to, else the last one. Before
    the first there is nothing to undo.
    """
    update: dict[str, Any] = {
        **{"undo": False, "undo_to": None, "halt": False},
        **{"said": None, "over": False},
    }
    marks, line = state.get("marks") or [], state.get("undo_to")
    firsts = _firsts(state)
    if line is not None:
        firsts = [each for each in firsts if marks[each]["transcript"] <= line]
    if not firsts:
        return update
    first = firsts[-1]
    mark = marks[first]
    # One of an older version has the poses of its trajectory alone.
    stood = state["trajectory"][mark["trajectory"] - 1]
    return {
        **update,
        # A conversation of an older version has no "begun".
        **{name: Overwrite(state.get(name, [])[: mark.get(name, 0)]) for name in _GROWN},
        **{name: mark.get(name) for name in _KEPT},
        "marks": Overwrite(marks[:first]),
        "pose": mark.get("pose") or dict(zip(_POSE, stood, strict=False)),
        "turn": state["turn"] - (len(marks) - first),
        "thought": 0,
        "walk": None,
        "question": None,
    }


def _moved(messages: Sequence[AnyMessage], marks: Sequence[Mapping[str, Any]], number: int) -> bool:
    """Whether the words of a mark began a walk, or turned the robot."""
    start = marks[number]["messages"]
    end = marks[number + 1]["messages"] if number + 1 < len(marks) else None
    return any(
        call["name"] in MOVING and {"arrived", "turned"} & set(told_by(answer) or ())
        for call, answer in answered_calls(messages[start:end])
    )
