"""Kinds of information that an oracle's answer discloses, measured in every answer.

An oracle guides in words. These kinds tell how much of its help is knowledge of the route, and how
much is the choice itself:

- ``id``, ``option``, ``coordinates``: forbidden (:mod:`navloom.tools.navigation.leaks`), counted
  whether withheld or not;
- ``text``: an option in its own words: four consecutive words, or all of them if it has fewer, that
  do not occur in every option; a looser paraphrase is not detected;
- ``direction``: where to turn or go: left, right, ahead, behind, degrees, up, down;
- ``arrival``: whether this is the goal: "you have arrived", "not yet", "stop here".

An oracle that must not disclose arrival neither answers such a question (``asks_arrival``) nor
states it (``find_arrival``). Both match English words only. An answer that names a candidate, or a
missing answer, still discloses something.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias, get_args

from navloom.scenes.scene import Scene
from navloom.tools.navigation.leaks import Leak, find_leaks
from navloom.tools.navigation.step_options import MoveOption, strip_notes

Given: TypeAlias = Literal["id", "option", "coordinates", "text", "direction", "arrival"]
KINDS: tuple[Given, ...] = get_args(Given)
"""Every kind, in the order of tables."""
_RUN = 4
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_DIRECTION = re.compile(
    r"\b(?:left|right(?!\s(?:here|now|away|place|spot|one))|straight|ahead|forwards?|backwards?|"
    r"behind|turn\saround|(?:go|turn|head|walk)\sback|\d{1,3}\s?(?:degrees?\b|°)|\d{1,2}\so'clock|"
    r"clockwise|upstairs|downstairs|(?:go|walk|climb|head|lies?|further)\s(?:up|down)|,\s"
    r"(?:up|down)\b)",
    re.IGNORECASE,
)
_NAMED = r"(?:goal|destination|target|end|(?:right|correct)\s(?:place|room|spot))"
_ARRIVAL = re.compile(
    r"\b(?:(?:have|has|had|'ve)\s?(?:not|n't)?\s?(?:yet\s)?(?:arrived|reached|got\sthere)|arrived|"
    r"not\s(?:yet|there|arrived|done|the\s(?:goal|destination|place))|"
    r"(?:you\sare|you're|are\syou)\s(?:there|done|at\s(?:the|your))|"
    rf"(?:this|here|that|it)(?:\sis|'s|\sis\snot|\sisn't)\s(?:it\b|(?:the|your|where)\b(?=[^.!?]{{0,40}}\b"
    rf"(?:{_NAMED}|ends?|stop)\b))|"
    r"(?:should|can|may|must|could|do|don't|do\snot|never|now|please|not\sto|to)\sstop|stop\s(?:here|now)|"
    r"^stop\b|stay\shere|the\sgoal\sis\s(?:right\s)?here)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:arrived?|there\syet|(?:am|are)\s(?:i|we)\s(?:there|done|at\b|near|close|in\sthe\sright)|"
    rf"(?:is|was)\s(?:this|here|it|that)\b[^.!?]{{0,40}}\b(?:{_NAMED}|it|where)\b|"
    r"(?:should|can|do|may|must|shall|could)\s(?:i|we)\s(?:now\s)?stop|(?:stop|stay)\s(?:here|now)|"
    r"(?:have|has|did)\s(?:i|we)\s(?:\w+\s)?(?:reach(?:ed)?|found|finished|made)|"
    r"(?:right|correct)\s(?:place|spot|room))",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")


def disclosed_kinds(text: str, options: Sequence[MoveOption], scene: Scene) -> list[Given]:
    """Return the kinds of information that an answer discloses, in the order of ``KINDS``.

    Args:
        text: the answer as the model gave it, before anything is withheld.
        options: the navigator's options when it reads the answer.
        scene: the scene whose viewpoint ids are looked for.
    """
    found = {leak.kind for leak in find_leaks(text, scene)}
    held = {
        "text": _quotes(text, options),
        "direction": _DIRECTION.search(text) is not None,
        "arrival": next(find_arrival(text), None) is not None,
    }
    return [kind for kind in KINDS if kind in found or held.get(kind, False)]


def _quotes(text: str, options: Sequence[MoveOption]) -> bool:
    """Check for a run of an option's words that not every option has."""
    runs = [_runs(_words(strip_notes(option.description))) for option in options]
    counts = Counter(run for each in runs for run in each)
    telling = {run for run, many in counts.items() if many < len(runs) or many == 1}
    said = _words(text)
    return any(
        tuple(said[at : at + many]) in telling
        for many in {len(run) for run in telling}
        for at in range(len(said) - many + 1)
    )


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    many = min(_RUN, len(words))
    # A single word, such as "bed", is too common to count as a quotation.
    if many < 2:
        return set()
    return {tuple(words[at : at + many]) for at in range(len(words) - many + 1)}


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def asks_arrival(question: str) -> bool:
    """Check whether a question asks if this is the goal, or whether to stop.

    >>> [asks_arrival(each) for each in ("Have I arrived?", "Which way is the goal?")]
    [True, False]
    """
    return _ASKED.search(question) is not None


def find_arrival(text: str) -> Iterator[Leak]:
    """Yield the sentences that disclose whether this is the goal, as leaks to withhold.

    >>> [leak.text for leak in find_arrival("No, not yet. Go left.")]
    ['No, not yet.']
    """
    for sentence in _SENTENCE.finditer(text):
        said = sentence[0].strip()
        if _ARRIVAL.search(said):
            start = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip())
            yield Leak("arrival", start, start + len(said), said)
