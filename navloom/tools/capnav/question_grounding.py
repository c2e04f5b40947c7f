"""Checks that a CapNav question fits its scene and is the same for every body (supplementary A).

A question is accepted if it has no violations. A detail that cannot be checked does not count as
true: it is ``verified`` if everything it names is known to be there, and ``unverifiable`` if some
of its words cannot be checked (a colour; most items of a benchmark node, which has no item list).
It is refused if the place has an item list and the detail names other items, or is ambiguous among
several, and if it names a passage to a place that is not adjacent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from navloom.tools.capnav.answer_parser import normalize_question, schema_violations
from navloom.tools.capnav.landmarks import list_landmarks, matching_names, named_passages
from navloom.tools.capnav.named_places import (
    NamedPlaces,
    load_lexicon,
    normalize,
    phrases_in,
    phrases_outside,
    stem,
)
from navloom.tools.model_output import Violation, list_names, quote, sanitize_line

AGENT = "[Agent]"
"""Placeholder of the body in a question."""
_MOST_TEXT = 1_000
_ODD = re.compile(r"[\[\]{}<>`|\\]|https?:|www\.")
_DOORS = frozenset(("door", "doorway"))
_ENDS: tuple[Literal["start", "end"], ...] = ("start", "end")


@dataclass(frozen=True)
class QuestionCheck:
    """Result of checking one question.

    Attributes:
        question: the question with the benchmark's keys and places as ids; None if it breaks the
            schema.
        violations: what is wrong with it; empty if it is accepted.
        details: the checks of ``start_detail`` and ``end_detail``.
    """

    question: dict[str, Any] | None
    violations: list[Violation]
    details: dict[str, DetailCheck] = field(default_factory=dict)

    def grounding(self) -> dict[str, Any]:
        """Return the detail checks as JSON: status and the words that could not be verified."""
        return {key: detail.record() for key, detail in self.details.items()}


def check_question(
    given: Mapping[str, Any], places: NamedPlaces, taken: Sequence[Mapping[str, Any]] = ()
) -> QuestionCheck:
    """Check one question against its scene.

    Args:
        given: the question as a model wrote it.
        places: the places of the scene.
        taken: questions of the scene that are already accepted.
    """
    if wrong := schema_violations(given):
        return QuestionCheck(None, wrong)
    question = normalize_question(given)
    wrong = list(_text_faults(question))
    start, end = (places.resolve(question["nodes_involved"][key]) for key in _ENDS)
    wrong += _node_faults(question, places, start, end)
    if start is None or end is None or start == end:
        return QuestionCheck(question, wrong)
    involved = question["nodes_involved"]
    involved |= {"start": start, "end": end}
    involved["intermediate"], faults = _between(involved["intermediate"], places, start, end)
    wrong += faults
    details = {}
    for key, place in (("start_detail", start), ("end_detail", end)):
        details[key], fault = check_detail(involved[key], place, places, key=key)
        wrong += fault
        if not fault and not mentions_detail(question["question"], involved[key]):
            wrong.append(Violation("detail_not_said", f"question does not say its {key}: add it"))
    wrong += _wording_faults(question, places)
    if (other := find_duplicate(question, taken)) is not None:
        wrong.append(Violation("duplicate", f"it repeats a question that exists: {quote(other)}"))
    return QuestionCheck(question, wrong, details)


def _text_faults(question: Mapping[str, Any]) -> Iterator[Violation]:
    """Check for markup, injected instructions and the form of the sentence."""
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
        if _ODD.search(bare) or sanitize_line(bare, _MOST_TEXT) != bare:
            yield Violation("markup", f"{key} holds markup, links or headings: use plain words")
        if found := phrases_in(stem(normalize(said)), load_lexicon().injection):
            yield Violation("injection", f"{key} says {quote(found[0])}: speak of the scene alone")


def _node_faults(
    question: Mapping[str, Any], places: NamedPlaces, start: str | None, end: str | None
) -> Iterator[Violation]:
    for key, place in zip(_ENDS, (start, end), strict=True):
        said = question["nodes_involved"][key]
        if place is None:
            names = list_names(places.ids, near=str(said))
            yield Violation("no_such_node", f"{key} {quote(said)} is no node; nodes: {names}")
            continue
        called = places.called(place)
        if not called:
            yield Violation("nameless_node", f"{key} {place} has no name: take another node")
        elif not phrases_in(stem(normalize(question["question"])), called):
            name = places.name(place)
            yield Violation("not_mentioned", f"question does not name its {key}: say {quote(name)}")
    if start is None or end is None:
        return
    if start == end:
        yield Violation("same_node", f"start and end are the same node {start}: take two")
    elif not places.connected(start, end):
        yield Violation("no_route", f"no way leads from {start} to {end}: take other nodes")


def _between(
    said: Sequence[str], places: NamedPlaces, start: str, end: str
) -> tuple[list[str], list[Violation]]:
    wrong: list[Violation] = []
    found: list[str] = []
    for text in said:
        place = places.resolve(text)
        if place is None:
            wrong.append(Violation("no_such_node", f"intermediate {quote(text)} is no node"))
        elif place in (start, end) or place in found:
            wrong.append(Violation("intermediate", f"intermediate names {place} a second time"))
        elif places.connected(start, end) and not places.is_on_some_route(start, place, end):
            wrong.append(
                Violation("off_route", f"no route from {start} to {end} leads through {place}")
            )
        else:
            found.append(place)
    return found, wrong


def _wording_faults(question: Mapping[str, Any], places: NamedPlaces) -> Iterator[Violation]:
    involved = question["nodes_involved"]
    for key, said in (
        ("question", question["question"].replace(AGENT, " | ")),
        ("start_detail", involved["start_detail"]),
        ("end_detail", involved["end_detail"]),
    ):
        # Names such as "walk-in closet" or "Human resources office" do not describe a body.
        names = (*places.all_names, *load_lexicon().exempt)
        for phrase in phrases_outside(stem(normalize(said)), load_lexicon().capability, names)[:2]:
            yield Violation(
                "capability",
                f"{key} says {quote(phrase)}: a question names no body, ability or way of moving",
            )


def find_duplicate(question: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the text of the first question that a question repeats; None if it is new.

    A question repeats another if both have the same words, or if both lead from and to the same
    nodes by details that mean the same.
    """
    mine, text = question["nodes_involved"], normalize(question["question"])
    for other in others:
        its = other["nodes_involved"]
        alike = (mine["start"], mine["end"]) == (its["start"], its["end"]) and all(
            is_same_detail(mine[key], its[key]) for key in ("start_detail", "end_detail")
        )
        if alike or normalize(other["question"]) == text:
            return str(other["question"])
    return None


ALIKE = 0.75
"""Jaccard similarity of the words from which two details count as the same."""


@dataclass(frozen=True, slots=True)
class DetailCheck:
    """Result of checking a detail against its place.

    Attributes:
        status: see :mod:`navloom.tools.capnav.question_grounding`.
        against: what it was checked against.
        unknown: its words that nothing confirms.
        fits: how many items or passages of the place it may mean; None if unknown.
    """

    status: Literal["verified", "unverifiable", "refused"]
    against: Literal["items", "description", "passages"]
    unknown: tuple[str, ...] = ()
    fits: int | None = None

    def record(self) -> dict[str, Any]:
        """Return the check as JSON."""
        said = {"status": self.status, "against": self.against, "unknown": list(self.unknown)}
        return {**said, "fits": self.fits}


def check_detail(
    said: str, place: str, places: NamedPlaces, *, key: str
) -> tuple[DetailCheck, list[Violation]]:
    """Check a detail against what is known of its place.

    Args:
        said: the detail.
        place: the place it describes.
        places: the places of the scene.
        key: the detail's name in messages.
    """
    if not content_words(said) and not building_words(said):
        fault = Violation("detail_empty", f"{key} {quote(said)} names no thing: name one")
        return DetailCheck("refused", places.known(place)), [fault]
    if (joined := named_passages(said, place, places)) is not None:
        return _by_passages(said, place, places, joined, key)
    if places.known(place) == "items":
        return _by_items(said, place, places, key)
    return _by_description(said, place, places), []


def content_words(said: str) -> list[str]:
    """Return the words of a detail that name or describe items, as stems."""
    words = load_lexicon()
    return [w for w in stem(normalize(said)).split() if w not in words.filler | words.building]


def building_words(said: str) -> list[str]:
    """Return the words of a detail that name parts of a building, as stems."""
    return [word for word in stem(normalize(said)).split() if word in load_lexicon().building]


def mentions_detail(question: str, said: str) -> bool:
    """Check whether a question mentions a detail by at least one of its naming words."""
    words = set(content_words(said) or building_words(said))
    return bool(words & set(stem(normalize(question)).split()))


def is_same_detail(one: str, other: str) -> bool:
    """Check whether two details mean the same, or nearly so."""
    mine, its = ({*content_words(text), *building_words(text)} for text in (one, other))
    return mine == its or len(mine & its) >= ALIKE * len(mine | its)


def _by_passages(
    said: str, place: str, places: NamedPlaces, joined: Sequence[str], key: str
) -> tuple[DetailCheck, list[Violation]]:
    """Check a detail against the passages; whether a passage has a door is not known."""
    if not joined:
        names = list_names([places.name(each) or each for each in places.graph[place]], near=said)
        fault = f"{key} {quote(said)} leads nowhere: {place} is joined to {names}"
        return DetailCheck("refused", "passages"), [Violation("detail_not_there", fault)]
    unknown = tuple(word for word in building_words(said) if word in _DOORS)
    status: Literal["verified", "unverifiable"] = "unverifiable" if unknown else "verified"
    return DetailCheck(status, "passages", unknown, len(joined)), []


def _by_items(
    said: str, place: str, places: NamedPlaces, key: str
) -> tuple[DetailCheck, list[Violation]]:
    every = [stem(normalize(item.name)) for item in places.scene.items_in(place)]
    words = stem(normalize(said)).split()
    covered = _covered(words, [name.split() for name in every if name])
    about = set(stem(normalize(f"{places.name(place)} {places.description(place)}")).split())
    known = load_lexicon()
    left = [word for at, word in enumerate(words) if at not in covered]
    strange = [w for w in left if w not in known.filler | known.building | known.attribute | about]
    there = f"{place} holds {list_names(places.items(place), near=said)}"
    if strange:
        why = f"{key} names {quote(' '.join(strange))}, which is not there: {there}"
        return DetailCheck("refused", "items", tuple(strange)), [Violation("detail_not_there", why)]
    if not covered:
        fault = Violation("detail_no_item", f"{key} {quote(said)} names no item: {there}")
        return DetailCheck("refused", "items"), [fault]
    named = " ".join(word for at, word in enumerate(words) if at in covered)
    fits = len(matching_names(named, every)) or None
    unknown = tuple(w for w in left if w in known.attribute | known.building and w not in about)
    if fits and fits > 1 and not unknown:
        alone = list_names(list_landmarks(places, place), near=said)
        why = f"{key} {quote(said)} may be each of {fits} in {place}: say which, or one of {alone}"
        return DetailCheck("refused", "items", (), fits), [Violation("detail_alike", why)]
    return DetailCheck("unverifiable" if unknown else "verified", "items", unknown, fits or 1), []


def _covered(words: list[str], names: list[list[str]]) -> set[int]:
    """Return the positions of words that name an item, by its whole name or its last words."""
    covered: set[int] = set()
    for name in names:
        for size in range(len(name), 0, -1):
            ending = name[-size:]
            for at in range(len(words) - size + 1):
                if words[at : at + size] == ending:
                    covered.update(range(at, at + size))
    return covered


def _by_description(said: str, place: str, places: NamedPlaces) -> DetailCheck:
    """Check a detail against the description, and against what a name has after "with"."""
    vouched = set(stem(normalize(places.description(place))).split())
    name, _, told = normalize(places.name(place)).partition(" with ")
    vouched |= set(stem(told).split())
    named = set(stem(name).split())
    words = content_words(said)
    unknown = [w for w in words if w not in vouched | named] + building_words(said)
    sure = not unknown and any(word in vouched for word in words)
    # "The doorway" may mean any adjacent passage; an item in a description is taken as unique.
    fits = 1 if sure else None if words else len(places.graph[place])
    return DetailCheck("verified" if sure else "unverifiable", "description", tuple(unknown), fits)
