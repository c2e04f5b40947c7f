"""Judging the rubric judge: steps of real traces, spoiled in ways whose grades are known.

The traces are anyone's navigation run. What a spoiled step deserves is known for one criterion
each; the others are not counted. Sentences come in two sets: the symbolic judge knows set ``a``.

    clean            as it was                                     grounded yes, action_follows yes
    other_place      the options of a step elsewhere in the run    grounded no
    invented         it sees a thing that is not there             grounded no
    remembers        it tells the step before as it was            history yes
    denies_history   at a later step it says it is the first       history no
    other_action     the action is another option's                action_follows no
    stops            the action is to stop where it wants to go on action_follows no
    empty            nothing is said                               all three na
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from navloom.judges.reason_items import SETS
from navloom.judges.trace import Step

_CHOSEN = re.compile(r"\boption (\d{1,3})\b", re.IGNORECASE)
_THINGS = ("grand piano", "fountain", "escalator", "horse", "vending machine", "totem pole")
_WORDS = re.compile(r"[a-z]{4,}")
_SAID: Mapping[str, Mapping[str, Sequence[str]]] = {
    "a": {
        "invented": ("I see a {thing} ahead.", "There is a {thing} on the left."),
        "remembers": ("In step {k} I chose option {o}: {d}.",),
        "denies_history": ("This is my first step.", "I have not moved yet."),
    },
    "b": {
        "invented": ("Next to me stands a {thing}, so this must be it.",),
        "remembers": ("Earlier, at {k}, I went for number {o}, {d}, and build on that.",),
        "denies_history": ("Nothing has happened so far, the walk only begins here.",),
    },
}


@dataclass(frozen=True)
class TraceItem:
    """A step and the grades that it deserves; criteria that are not there are not counted."""

    id: str
    kind: str
    wording: str
    step: Step
    deserves: Mapping[str, str]

    @property
    def scene(self) -> str:
        """Its scene."""
        return self.step.scene

    @property
    def columns(self) -> dict[str, Any]:
        """What its line in a run says of it."""
        return {
            "kind": self.kind,
            "wording": self.wording,
            "deserves": dict(self.deserves),
            "of": self.step.id,
        }


Made = tuple[dict[str, Any], dict[str, str]]
"""Changes of a step, and what it deserves then."""


def make_trace_items(steps: Sequence[Step], *, n: int = 320, seed: int = 0) -> list[TraceItem]:
    """The calibration set of a run's steps.

    Args:
        steps: of as many episodes as there are; those whose reasoning names the option that was
            taken can be spoiled.
        n: how many items, about.
        seed: fixes the choice.
    """
    usable = [step for step in steps if _takes_what_it_names(step)]
    random.Random(f"{seed}/trace").shuffle(usable)
    items: list[TraceItem] = []
    wanted = max(1, round(n / len(_KINDS) / len(SETS)))
    for kind, make in _KINDS.items():
        made = 0
        for step in usable:
            if made == wanted:
                break
            pair = [
                (words, make(step, usable, _SAID[words], random.Random(f"{seed}/{kind}/{step.id}")))
                for words in SETS
            ]
            # What no sentence of ours is added to is the same in both sets: once is enough.
            pair = pair if kind in _SAID["a"] else pair[:1]
            for words, found in pair:
                if found:
                    changes, deserves = found
                    spoiled = step.model_copy(update=changes)
                    name = f"{kind}-{words}-{len(items):04d}"
                    items.append(TraceItem(name, kind, words, spoiled, deserves))
            made += bool(pair[0][1])
    return items


def _takes_what_it_names(step: Step) -> bool:
    named = {int(number) for number in _CHOSEN.findall(step.reasoning)}
    return step.action.kind == "move" and named == {step.action.option}


def _other_place(step: Step, others: Sequence[Step], _: Any, rng: random.Random) -> Made | None:
    """Options of a step in which hardly a word of this reasoning stands."""
    words = set(_WORDS.findall(step.reasoning.casefold().partition("speaks of")[2]))
    found = [
        other
        for other in rng.sample(list(others), min(40, len(others)))
        if words
        and not words & set(_WORDS.findall(_told(other)))
        and any(o.id == step.action.option for o in other.options)
    ]
    words &= set(_WORDS.findall(step.instruction.casefold()))
    if not found or words:
        return None
    return {"options": found[0].options}, {"grounded": "no"}


def _told(step: Step) -> str:
    return " ".join(option.description for option in step.options).casefold()


def _invented(step: Step, _: Any, said: Any, rng: random.Random) -> Made:
    thing = rng.choice(_THINGS)
    words = rng.choice(said["invented"]).format(thing=thing)
    return {"reasoning": f"{words} {step.reasoning}"}, {"grounded": "no"}


def _remembers(step: Step, _: Any, said: Any, rng: random.Random) -> Made | None:
    last = re.fullmatch(
        r"Step (\d{1,4}): go to option (\d{1,3}): (.{1,400})", (step.history or ("",))[-1]
    )
    if last is None:
        return None
    told = last[3].partition(";")[0].partition("(")[0].strip()
    words = rng.choice(said["remembers"]).format(k=last[1], o=last[2], d=told)
    return {"reasoning": f"{words} {step.reasoning}"}, {"history": "yes"}


def _denies(step: Step, _: Any, said: Any, rng: random.Random) -> Made | None:
    if not step.history:
        return None
    words = rng.choice(said["denies_history"])
    return {"reasoning": f"{words} {step.reasoning}"}, {"history": "no"}


def _other_action(step: Step, _: Any, __: Any, rng: random.Random) -> Made | None:
    others = [option.id for option in step.options if option.id != step.action.option]
    if not others:
        return None
    action = step.action.model_copy(update={"option": rng.choice(others)})
    return {"action": action}, {"action_follows": "no"}


def _stops(step: Step, _: Any, __: Any, ___: random.Random) -> Made:
    action = step.action.model_copy(update={"kind": "stop", "option": None})
    return {"action": action}, {"action_follows": "no"}


_KINDS: Mapping[str, Callable[..., Made | None]] = {
    "clean": lambda *_: ({}, {"grounded": "yes", "action_follows": "yes"}),
    "other_place": _other_place,
    "invented": _invented,
    "remembers": _remembers,
    "denies_history": _denies,
    "other_action": _other_action,
    "stops": _stops,
    "empty": lambda *_: (
        {"reasoning": "-"},
        dict.fromkeys(("grounded", "history", "action_follows"), "na"),
    ),
}
TRACE_KINDS = tuple(_KINDS)
