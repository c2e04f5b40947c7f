"""Whether a question is about a scene, and the same for every body (CapNav, supplementary A).

A question is accepted where nothing is wrong with it. What cannot be found out is not passed as
true: a detail is ``verified`` where every thing it names is known to be there, and ``unverifiable``
where some of its words can be held against nothing (a colour; anything at all in a benchmark's
node, of which no list of things exists). It is refused where things are listed and it names others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from navloom.tools.capnav.details import Detail, check_detail, same_detail, says
from navloom.tools.capnav.lexis import found_in, found_outside, load_words, plain, stem
from navloom.tools.capnav.named_places import Places
from navloom.tools.capnav.questions import schema_faults, trimmed
from navloom.tools.forms import Violation, listed, quoted
from navloom.tools.untrusted import paragraph

AGENT = "[Agent]"
"""What stands in a question for the body."""
_MOST_TEXT = 1_000
_ODD = re.compile(r"[\[\]{}<>`|\\]|https?:|www\.")
_ENDS: tuple[Literal["start", "end"], ...] = ("start", "end")


@dataclass(frozen=True)
class Checked:
    """What came of one question.

    Attributes:
        question: with the benchmark's keys, places as ids; None where it breaks the schema.
        violations: what is wrong with it; none where it is accepted.
        details: of ``start_detail`` and ``end_detail``, what could be found out.
    """

    question: dict[str, Any] | None
    violations: list[Violation]
    details: dict[str, Detail] = field(default_factory=dict)

    def grounding(self) -> dict[str, Any]:
        """What could be found out, as JSON: status and the words nobody can vouch for."""
        return {key: detail.record() for key, detail in self.details.items()}


def check_question(
    given: Mapping[str, Any], places: Places, taken: Sequence[Mapping[str, Any]] = ()
) -> Checked:
    """Check one question.

    Args:
        given: as a model wrote it.
        places: the scene.
        taken: questions of the scene that are accepted already.
    """
    if wrong := schema_faults(given):
        return Checked(None, wrong)
    question = trimmed(given)
    wrong = list(_text_faults(question))
    start, end = (places.resolve(question["nodes_involved"][key]) for key in _ENDS)
    wrong += _node_faults(question, places, start, end)
    if start is None or end is None or start == end:
        return Checked(question, wrong)
    involved = question["nodes_involved"]
    involved |= {"start": start, "end": end}
    involved["intermediate"], faults = _between(involved["intermediate"], places, start, end)
    wrong += faults
    details = {}
    for key, place in (("start_detail", start), ("end_detail", end)):
        details[key], fault = check_detail(involved[key], place, places, key=key)
        wrong += fault
        if not fault and not says(question["question"], involved[key]):
            wrong.append(Violation("detail_not_said", f"question does not say its {key}: add it"))
    wrong += _wording_faults(question, places)
    if (other := duplicate_of(question, taken)) is not None:
        wrong.append(Violation("duplicate", f"it repeats a question that exists: {quoted(other)}"))
    return Checked(question, wrong, details)


def _text_faults(question: Mapping[str, Any]) -> Iterator[Violation]:
    """Markup, words for a model, and the form of the sentence."""
    text = question["question"]
    if text.count(AGENT) != 1:
        yield Violation(
            "agent", f"question has {text.count(AGENT)} times {AGENT}: expected it exactly once"
        )
    if not text.endswith("?"):
        yield Violation("no_question", "question does not end with a question mark")
    involved = question["nodes_involved"]
    texts = {key: question[key] for key in ("question", "reason")}
    texts |= {key: involved[key] for key in ("start_detail", "end_detail")}
    for key, said in texts.items():
        bare = said.replace(AGENT, "agent") if key in ("question", "reason") else said
        if _ODD.search(bare) or paragraph(bare, _MOST_TEXT) != bare:
            yield Violation("markup", f"{key} holds markup, links or headings: use plain words")
        if phrases := found_in(stem(plain(said)), load_words().injection):
            yield Violation(
                "injection", f"{key} says {quoted(phrases[0])}: speak of the scene alone"
            )


def _node_faults(
    question: Mapping[str, Any], places: Places, start: str | None, end: str | None
) -> Iterator[Violation]:
    for key, place in zip(_ENDS, (start, end), strict=True):
        said = question["nodes_involved"][key]
        if place is None:
            names = listed(places.ids, near=str(said))
            yield Violation("no_such_node", f"{key} {quoted(said)} is no node; nodes: {names}")
            continue
        called = places.called(place)
        if not called:
            yield Violation("nameless_node", f"{key} {place} has no name: take another node")
        elif not found_in(stem(plain(question["question"])), called):
            name = places.name(place)
            yield Violation(
                "not_mentioned", f"question does not name its {key}: say {quoted(name)}"
            )
    if start is None or end is None:
        return
    if start == end:
        yield Violation("same_node", f"start and end are the same node {start}: take two")
    elif not places.connected(start, end):
        yield Violation("no_route", f"no way leads from {start} to {end}: take other nodes")


def _between(
    said: Sequence[str], places: Places, start: str, end: str
) -> tuple[list[str], list[Violation]]:
    wrong: list[Violation] = []
    found: list[str] = []
    for text in said:
        place = places.resolve(text)
        if place is None:
            wrong.append(Violation("no_such_node", f"intermediate {quoted(text)} is no node"))
        elif place in (start, end) or place in found:
            wrong.append(Violation("intermediate", f"intermediate names {place} a second time"))
        elif places.connected(start, end) and not places.on_some_route(start, place, end):
            wrong.append(
                Violation("off_route", f"no route from {start} to {end} leads through {place}")
            )
        else:
            found.append(place)
    return found, wrong


def _wording_faults(question: Mapping[str, Any], places: Places) -> Iterator[Violation]:
    involved = question["nodes_involved"]
    for key, said in (
        ("question", question["question"].replace(AGENT, " | ")),
        ("start_detail", involved["start_detail"]),
        ("end_detail", involved["end_detail"]),
    ):
        # A walk-in closet, the "Human resources office": names are nobody's wording.
        names = (*places.all_names, *load_words().exempt)
        for phrase in found_outside(stem(plain(said)), load_words().capability, names)[:2]:
            yield Violation(
                "capability",
                f"{key} says {quoted(phrase)}: a question names no body, ability or way of moving",
            )


def duplicate_of(question: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str | None:
    """The text of the first of some questions that a question repeats; None where it is new.

    It repeats one that has the same words, or leads from and to the same nodes by details that
    say the same or nearly so.
    """
    mine, text = question["nodes_involved"], plain(question["question"])
    for other in others:
        its = other["nodes_involved"]
        alike = (mine["start"], mine["end"]) == (its["start"], its["end"]) and all(
            same_detail(mine[key], its[key]) for key in ("start_detail", "end_detail")
        )
        if alike or plain(other["question"]) == text:
            return str(other["question"])
    return None
