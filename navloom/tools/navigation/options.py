"""What a navigator may do next: places one hop away, grouped by where they lie as it looks now.

Source: VLN-MME D.2 and Figure 10: options under Left, Front, Right and Back, each ``ID ->
description``, numbered by global heading, and Stop beside them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from navloom.scenes.distances import turn_between
from navloom.sim.protocol import Observation
from navloom.tools.untrusted import paragraph

Direction: TypeAlias = Literal["Left", "Front", "Right", "Back"]
DIRECTIONS: tuple[Direction, ...] = ("Left", "Front", "Right", "Back")
"""In the order prompts and pictures show them."""
STOP_TEXT = "The instruction ends here: stop and stay."
ASK_TEXT = "Ask one question of somebody who knows this building, in place of moving."
MOST_DESCRIPTION = 300
"""Characters of a description that are shown: captions are a source's own words."""
_SUSPECT = frozenset(":<>`\uff1a\ufe55\u2236")
_QUARTER = math.pi / 4
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Option:
    """One place to go to, as a step's record keeps it.

    Attributes:
        id: its number among the options of one step, from 1.
        viewpoint: where it leads; never shown to a model.
        direction: where it lies as the agent looks now.
        description: one bounded line; untrusted.
    """

    id: int
    viewpoint: str
    direction: Direction
    description: str


def direction_of(turn: float) -> Direction:
    """The quarter that a turn ends in; what lies exactly between two goes to Front or Back.

    >>> [direction_of(math.radians(degrees)) for degrees in (45, 46, -90, 180)]
    ['Front', 'Right', 'Left', 'Back']
    """
    # Positions in a grid lie at exactly 45 degrees; rounding must not put them left or right.
    if abs(turn) <= _QUARTER + _ROUNDING:
        return "Front"
    if abs(turn) >= 3 * _QUARTER - _ROUNDING:
        return "Back"
    return "Right" if turn > 0 else "Left"


def options_of(observation: Observation, heading: float) -> list[Option]:
    """The options of a step, numbered from 1 by global heading.

    Args:
        observation: its candidates are the options.
        heading: where the agent looks, radians.
    """
    found = sorted(observation.candidates, key=lambda c: (c.heading, c.viewpoint))
    return [
        Option(
            id=number,
            viewpoint=candidate.viewpoint,
            direction=direction_of(turn_between(heading, candidate.heading)),
            description=shown(candidate.description, MOST_DESCRIPTION) or "no description",
        )
        for number, candidate in enumerate(found, 1)
    ]


def noted(options: Sequence[Option], notes: Mapping[str, str]) -> list[Option]:
    """The options with a note in brackets after their descriptions, by viewpoint."""
    return [
        replace(option, description=f"{option.description} ({notes[option.viewpoint]})")
        if option.viewpoint in notes
        else option
        for option in options
    ]


def render_options(options: Sequence[Option], ask: bool = False) -> str:
    """The options as the JSON that a navigator reads.

    Args:
        options: places to go to.
        ask: offer a question, too.
    """
    shown: dict[str, Any] = {
        direction: {str(o.id): o.description for o in options if o.direction == direction}
        for direction in DIRECTIONS
    }
    shown["Stop"] = STOP_TEXT
    if ask:
        shown["Ask"] = ASK_TEXT
    return json.dumps(shown, indent=2, ensure_ascii=False)


def shown(text: str, most: int) -> str:
    """A caption as a prompt shows it: one bounded line that opens no section and closes no tag."""
    if len(text) <= most and text.isprintable() and _SUSPECT.isdisjoint(text):
        return " ".join(text.split())
    return paragraph(text, most)
