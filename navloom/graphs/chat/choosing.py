"""What may be answered to a question of the robot, and which of several places an answer means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from navloom.graphs.chat.exchange import told_by
from navloom.tools.chat.wishes import NUMBERS

MOST_READ = 400
_WORD = re.compile(r"[0-9a-z]+")
_ANY = {
    "nearest", "closest", "nearer", "closer", "any", "either", "whichever", "whatever", "choose",
    "matter", "decide", "care", "pick",
}  # fmt: skip
_FAR = frozenset(["farthest", "furthest", "farther", "further"])
_NUMBERS = NUMBERS | {
    "1": 0, "one": 0, "2": 1, "two": 1, "3": 2, "three": 2, "4": 3, "four": 3, "5": 4, "five": 4,
    "6": 5, "six": 5, "7": 6, "seven": 6, "8": 7, "eight": 7, "9": 8, "nine": 8,
}  # fmt: skip
_COUNTING = {*_NUMBERS, "number", "option", "the", "one", "please"}
_DULL = {
    "the", "to", "next", "one", "room", "a", "of", "m", "away", "in", "and", "1", "2", "with", "i",
    "it", "is", "go", "please", "where", "am", "an", "you", "me",
}  # fmt: skip
_ID = re.compile(r"[0-9A-Za-z]+")
_SENTENCE = re.compile(r"(?<=[.!?]) +")
_ASKS_IF = re.compile(r"(?:shall|should|may|can) i\b|(?:do|did|would) you (?:mean|want|like)\b")
_YES = re.compile(r"^(?:yes|okay|right|correct|exactly|that one|that|this|please do|do|go|sure)\b")
_NO = re.compile(r"^(?:no|none|neither|not)\b")


def choose(answer: str, which: Sequence[Mapping[str, Any]]) -> str | None:
    """The place that an answer to "which one?" means; None where it means none or several.

    Args:
        answer: the person's words, in plain lower case.
        which: what go_to gave: ``place``, ``name`` and ``about`` each.
    """
    words = _WORD.findall(answer[:MOST_READ].casefold())
    if len(which) == 1 and _YES.match(answer.casefold()):
        return str(which[0]["place"])
    if _NO.match(answer) and len(words) > 1:
        # "No, the second": what was wrong is not what is meant now.
        words = words[1:]
    if set(words) & _ANY:
        return str(min(which, key=_metres)["place"])
    if set(words) & _FAR:
        return str(max(which, key=_metres)["place"])
    named = [c for c in which if " ".join(words).endswith(_plain(str(c["place"])))]
    if len(named) == 1:
        return str(named[0]["place"])
    if set(words) <= _COUNTING:
        # "Number 4" is not the one that is 4 m away, nor Bedroom_4.
        return _counted(words, which) or _told(words, which)
    return _told(words, which) or _counted(words, which)


def choices_of(question: str, messages: Sequence[AnyMessage]) -> list[str]:
    """What may be answered to a question, each as a person's words.

    Args:
        question: what the robot asks.
        messages: the conversation up to it.

    Returns:
        One for each of several places, or yes and no; none where any words may be an answer.
    """
    which: Sequence[Mapping[str, Any]] = ()
    for message in reversed(messages):
        told = told_by(message) if isinstance(message, ToolMessage) else None
        if isinstance(message, HumanMessage) or (told and told.get("arrived")):
            break
        if told and told.get("which"):
            which = told["which"]
            break
    if len(which) > 1:
        return [f"{each['about']} ({' '.join(_ID.findall(each['place']))})" for each in which]
    asked = _SENTENCE.split(question.strip())[-1].casefold()
    return ["yes", "no"] if which or (_ASKS_IF.match(asked) and " or " not in asked) else []


def counts(answer: str) -> bool:
    """Whether an answer says yes, a number, or that any will do."""
    words = set(_WORD.findall(answer))
    return bool(_YES.match(answer) or words & (_ANY | _FAR | {*_NUMBERS} - {"one"}))


def _told(words: Sequence[str], which: Sequence[Mapping[str, Any]]) -> str | None:
    """By words of what was said about each."""
    telling = {word for word in words if word not in _DULL}
    scores = [
        len(telling & {*_WORD.findall(f"{c['place']} {c['about']}".casefold())}) for c in which
    ]
    best = max(scores, default=0)
    return str(which[scores.index(best)]["place"]) if best and scores.count(best) == 1 else None


def _counted(words: Sequence[str], which: Sequence[Mapping[str, Any]]) -> str | None:
    # "The one by the door" counts nothing; "one" alone does.
    counts = list(words) in (["one"], ["number", "one"])
    counted = [_NUMBERS[word] for word in words if word in _NUMBERS and (counts or word != "one")]
    return str(which[counted[-1]]["place"]) if counted and counted[-1] < len(which) else None


def _plain(name: str) -> str:
    return " ".join(_WORD.findall(name.casefold()))


def _metres(place: Mapping[str, Any]) -> float:
    found = re.search(r"(\d{1,5}) m away", str(place.get("about")))
    return float(found.group(1)) if found else 0.0
