"""Options of a navigation step, and the remarks a model writes beside its action.

Options are candidate viewpoints one hop away, grouped by direction relative to the current heading.

Source: VLN-MME D.2 and Figure 10: options under Left, Front, Right and Back, each ``ID ->
description``, with Stop beside them. Heading, distance and elevation precede the description, as
NavGPT prints them for each viewpoint; they are relative to the agent's heading. Options with equal
descriptions say how they differ. The paper's own options are a number and a description only.

Remarks are reasoning, reflection, decision and plan (VLN-MME D.4, D.8). They are kept as metadata.
The text between thought tags is also ignored when the action is parsed
(:mod:`navloom.tools.navigation.action_parser`). Parsing takes one pass over the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from navloom.scenes.distances import turn_between, up_or_down
from navloom.sim.caption_composer import one_line
from navloom.sim.protocol import Observation
from navloom.tools.model_output import sanitize_line

Direction: TypeAlias = Literal["Left", "Front", "Right", "Back"]
DIRECTIONS: tuple[Direction, ...] = ("Left", "Front", "Right", "Back")
"""In the order of prompts and images."""
VISITED = "Visited"
"""Group of the places to jump back to, which have no direction."""
STOP_TEXT = "The instruction ends here: stop and stay."
PAPER_STOP_TEXT = "Have reach the destination and stop here."
"""As VLN-MME prints it (Figure 10)."""
NO_DESCRIPTION = "no description"
ASK_TEXT = "Ask one question of {}, in place of moving."
MOST_DESCRIPTION = 300
"""Maximum characters of a shown description, since captions are untrusted text."""
_SUSPECT = frozenset(":<>`\uff1a\ufe55\u2236")
_NOTE = re.compile(r"\s?\((?:node_\d{1,6}(?:, visited)?|the [^()]{1,30} alike[^()]{0,20})\)")
_QUARTER = math.pi / 4
_ROUNDING = 1e-6
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
_SAME_WAY, _SLOPE, _SAME_M = math.radians(20), math.radians(10), 0.5
"""Least differences by which two equal options are told apart: angles, then metres."""


@dataclass(frozen=True, slots=True)
class MoveOption:
    """One candidate viewpoint that a step offers, as its record stores it.

    Attributes:
        id: its number among the options of one step, from 1.
        viewpoint: the viewpoint it leads to; never shown to a model.
        direction: its quarter relative to the agent's heading.
        description: one bounded line; untrusted.
        turn: turn towards it, radians, positive to the right; None if unknown.
        distance: metres; None if unknown.
        elevation: radians, upwards positive.
        hops: number of moves; over 1 for a jump back.
    """

    id: int
    viewpoint: str
    direction: Direction
    description: str
    turn: float | None = None
    distance: float | None = None
    elevation: float = 0.0
    hops: int = 1


def direction_of(turn: float) -> Direction:
    """Return the quarter of a turn; the exact boundaries belong to Front or Back.

    >>> [direction_of(math.radians(degrees)) for degrees in (45, 46, -90, 180)]
    ['Front', 'Right', 'Left', 'Back']
    """
    # Positions in a grid lie at exactly 45 degrees; rounding must not move them left or right.
    if abs(turn) <= _QUARTER + _ROUNDING:
        return "Front"
    if abs(turn) >= 3 * _QUARTER - _ROUNDING:
        return "Back"
    return "Right" if turn > 0 else "Left"


def options_of(observation: Observation, heading: float, *, apart: bool = True) -> list[MoveOption]:
    """Return the options of a step, numbered from 1 in the uninformative order of the candidates.

    Args:
        observation: its candidates are the options.
        heading: the agent's heading, radians.
        apart: whether options with equal descriptions say how they differ.
    """
    options = []
    for number, candidate in enumerate(observation.candidates, 1):
        turn = turn_between(heading, candidate.heading)
        options.append(
            MoveOption(
                id=number,
                viewpoint=candidate.viewpoint,
                direction=direction_of(turn),
                description=caption_text(candidate.description, MOST_DESCRIPTION) or NO_DESCRIPTION,
                turn=turn,
                distance=candidate.distance,
                elevation=candidate.elevation,
            )
        )
    return _apart(options) if apart else options


def _apart(options: Sequence[MoveOption]) -> list[MoveOption]:
    """Return the options, with a note in brackets on those with equal descriptions."""
    alike: dict[str, list[MoveOption]] = {}
    for option in sorted(options, key=lambda each: each.turn or 0.0):
        if option.description != NO_DESCRIPTION:
            alike.setdefault(option.description, []).append(option)
    said: dict[int, str] = {}
    for group in alike.values():
        if len(group) == 2:
            said |= dict(zip((o.id for o in group), _of_two(*group), strict=True))
        elif len(group) > 2:
            said |= {
                option.id: f"the {ordinal(place)} of {len(group)} alike from the left"
                for place, option in enumerate(group, 1)
            }
    return [
        replace(option, description=f"{option.description} ({said[option.id]})")
        if option.id in said
        else option
        for option in options
    ]


def ordinal(number: int) -> str:
    """Return a number as ``first``, ``second`` and so on, from 11 as ``11th``."""
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"


def _of_two(left: MoveOption, right: MoveOption) -> tuple[str, str]:
    between = (right.turn or 0.0) - (left.turn or 0.0)
    if between < _SAME_WAY:
        for name, words, least in (
            ("elevation", ("lower", "upper"), _SLOPE),
            ("distance", ("nearer", "farther"), _SAME_M),
        ):
            first, second = getattr(left, name) or 0.0, getattr(right, name) or 0.0
            if abs(first - second) >= least:
                less, more = (f"the {word} of 2 alike" for word in words)
                return (less, more) if first < second else (more, less)
    return "the left one of 2 alike", "the right one of 2 alike"


def describe_option(option: MoveOption) -> str:
    """Describe an option in words: its position, then its description.

    >>> door = MoveOption(3, "v", "Right", "a door", math.radians(62), 2.25, math.radians(-14))
    >>> describe_option(door)
    '62 degrees right, 2.2 m, 14 degrees down: a door'
    """
    if option.turn is None or option.distance is None:
        return option.description
    where = f"{turn_text(option.turn)}, {option.distance:.1f} m, {_slope(option.elevation)}"
    return f"{where}: {option.description}"


def turn_text(turn: float) -> str:
    """Describe a turn in words and whole degrees.

    >>> [turn_text(math.radians(degrees)) for degrees in (0.4, -30, 180)]
    ['straight ahead', '30 degrees left', 'straight behind']
    """
    degrees = round(math.degrees(turn))
    if degrees == 0:
        return "straight ahead"
    if abs(degrees) == 180:
        return "straight behind"
    return f"{abs(degrees)} degrees {'right' if degrees > 0 else 'left'}"


def _slope(elevation: float) -> str:
    way = up_or_down(elevation)
    return f"{abs(round(math.degrees(elevation)))} degrees {way}" if way else "level"


def annotate_options(options: Sequence[MoveOption], notes: Mapping[str, str]) -> list[MoveOption]:
    """Return the options with the notes of their viewpoints in brackets after the descriptions."""
    return [
        replace(option, description=f"{option.description} ({notes[option.viewpoint]})")
        if option.viewpoint in notes
        else option
        for option in options
    ]


def strip_notes(description: str) -> str:
    """Return a description without the notes added for the map or for equal options.

    >>> strip_notes("a door (the left one of 2 alike) (node_4, visited)")
    'a door'
    """
    return _NOTE.sub("", description)


def render_options(
    options: Sequence[MoveOption], ask: str | None = None, *, paper: bool = False
) -> str:
    """Return the options as the JSON that a navigator reads.

    Args:
        options: candidate viewpoints.
        ask: whom a question may be put to, in words; None offers none.
        paper: print them as VLN-MME does: descriptions alone, and its words for Stop.
    """
    shown: dict[str, Any] = {direction: {} for direction in DIRECTIONS}
    for option in options:
        group = shown[option.direction] if option.hops == 1 else shown.setdefault(VISITED, {})
        group[str(option.id)] = option.description if paper else describe_option(option)
    shown["Stop"] = PAPER_STOP_TEXT if paper else STOP_TEXT
    if ask is not None:
        shown["Ask"] = ASK_TEXT.format(ask)
    return json.dumps(shown, indent=2, ensure_ascii=False)


def caption_text(text: str, most: int) -> str:
    """Return a caption as one bounded line that opens no section and closes no tag."""
    if len(text) <= most and text.isprintable() and _SUSPECT.isdisjoint(text):
        return " ".join(text.split())
    return sanitize_line(text, most)


MOST_REMARK = 2_000
"""Maximum characters of each remark."""
_NAMES = {
    "think": "thought",
    "thinking": "thought",
    "reasoning": "reasoning",
    "thought": "reasoning",
    "thoughts": "reasoning",
    "reflection": "reflection",
    "plan": "plan",
    "planning": "plan",
    "action": "action",
    "decision": "decision",
}
_TAG = re.compile(
    r"<\s{0,3}(/?)\s{0,3}(think|thinking|reasoning|reflection|plan|planning)\s{0,3}>", re.IGNORECASE
)
_LABEL = re.compile(
    r"^[^\w\n]{0,8}(?:(?:new|next|final|updated|my)[ _]{1,3})?"
    r"(reasoning|thoughts?|reflection|plan|planning|decision|action)[^\w\n:：]{0,6}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_DECISION = re.compile(
    r"(</\s{0,3})?(?:final[\s_]{1,3})?decision[\s*_`\"')\]]{0,6}[:：>=\-–]", re.IGNORECASE
)
_VERDICT = re.compile(r"(?<![a-z])(keep|kept|revise|revised|re-?plan)(?![a-z])", re.IGNORECASE)
_NOT = re.compile(
    r"(?:\b(?:not|no|never|without)|n't)\s{1,3}(?:\w{1,12}\s{1,3}){0,3}$", re.IGNORECASE
)
_NEAR = 100


@dataclass(frozen=True, slots=True)
class Remarks:
    """Remarks beside the action, each bounded; None for a missing one."""

    reasoning: str | None = None
    reflection: str | None = None
    decision: Literal["keep", "revise"] | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    name: str
    start: int
    inside: int
    inside_end: int
    end: int


def strip_thoughts(text: str) -> str:
    """Return the text outside thought tags.

    A closed block is removed. An unclosed ``<think>`` extends to the end. A lone ``</think>`` ends
    a thought that began before the reply (as some servers send it).
    """
    parts, at = [], 0
    for block in _blocks(text):
        parts.append(text[at : block.start])
        at = max(at, block.end)
    return "\n".join([*parts, text[at:]])


def read_remarks(text: str) -> Remarks:
    """Parse the remarks of a reply; tags take precedence over labels such as ``Reflection:``.

    Args:
        text: the whole reply; at most some hundred thousand characters.
    """
    found = {block.name: text[block.inside : block.inside_end] for block in _blocks(text)}
    marks = [*_LABEL.finditer(text)]
    for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(text)], strict=False):
        found.setdefault(_NAMES[mark.group(1).lower()], text[mark.end() : end])
    kept = {
        name: one_line(_TAG.sub(" ", said[: 4 * MOST_REMARK]).strip(" \n:：*"), MOST_REMARK) or None
        for name, said in found.items()
    }
    return Remarks(
        reasoning=kept.get("reasoning") or kept.get("thought"),
        reflection=kept.get("reflection"),
        decision=_decision(text),
        plan=kept.get("plan"),
    )


def _blocks(text: str) -> list[_Block]:
    found: list[_Block] = []
    pending: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        name = _NAMES[tag.group(2).lower()]
        opened = pending and _NAMES[pending.group(2).lower()]
        if not tag.group(1):
            # Tags inside a thought are part of it; any other unclosed tag is dropped.
            pending = tag if opened != "thought" else pending
        elif pending is not None and opened == name:
            found.append(_Block(name, pending.start(), pending.end(), tag.start(), tag.end()))
            pending = None
        elif name == "thought" and pending is None:
            found = [_Block(name, 0, 0, tag.start(), tag.end())]
    if pending is not None and _NAMES[pending.group(2).lower()] == "thought":
        found.append(_Block("thought", pending.start(), pending.end(), len(text), len(text)))
    return found


def _decision(text: str) -> Literal["keep", "revise"] | None:
    """Return the verdict of the last ``Decision`` field, if it is unambiguous."""
    fields = [field.end() for field in _DECISION.finditer(text) if not field.group(1)]
    if not fields:
        return None
    near = text[fields[-1] : fields[-1] + _NEAR]
    said = _VERDICT.search(near)
    if said is None:
        return None
    keep = said.group(1).lower() in ("keep", "kept")
    if _NOT.search(near[: said.start()]):
        keep = not keep
    return "keep" if keep else "revise"
