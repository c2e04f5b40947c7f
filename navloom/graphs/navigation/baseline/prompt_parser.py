"""Parser of a navigator's prompt, which reads nothing but its text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from navloom.errors import ModelError
from navloom.graphs.navigation.baseline.instruction_parser import word_set
from navloom.models.builtin import PolicyRequest

SIDES = ("Front", "Right", "Back", "Left")
"""Clockwise, as ids grow."""
_HEADS = frozenset(
    (
        "Instruction:", "History:", "Map:", "Plan:", "Guidance:", "Dialogue:", "Shortest path:",
        "Current heading:", "Surroundings:", "Near:", "Pictures:", "Action options:",
        "Current place:", "Visited:", "Unvisited:",
    )
)  # fmt: skip
_NUMBER = r"\d{1,6}(?:\.\d{1,6})?"
_ID = re.compile(r"[1-9][0-9]{0,5}")
_STEP = re.compile(
    rf"Step \d{{1,6}}: Turning heading direction (-?{_NUMBER}) degrees"
    rf" from \w{{4,5}} {_NUMBER} to \w{{4,5}} {_NUMBER},"
    rf" and forward {_NUMBER} meters towards (.*)"
)
_WHERE = re.compile(
    rf"(?:(straight ahead|straight behind)|(\d{{1,3}}) degrees (left|right)), {_NUMBER} m, "
    r"(?:level|\d{1,2} degrees (?:up|down)): "
)
_ALIKE = re.compile(r" \(the [a-z0-9 ]{1,30} of \d{1,3} alike(?: from the left)?\)$")
_SIDE = re.compile(rf"({'|'.join(SIDES)}), [^:]{{1,30}}$")
_NODE = re.compile(r" ?\((node_\d{1,6})(, visited)?\)$")
_NAME = re.compile(r"node_\d{1,6}")
_LINKS = re.compile(r"(node_\d{1,6}) is connected to (.*)")
_NEAR = re.compile(rf"([^,()]{{1,80}}) \(({_NUMBER}) m\b")
_BEYOND = "; from here one gets to"
_ROOM = re.compile(r"An? ([^,.;]{1,100}?)(?: with |[.;]|$)")
_EXACT = ("further ", "leads ")
_LINK = re.compile(
    r"(?:(?:half-open |closed |locked )?door|opening|stairs(?: up| down)?|elevator) to the "
)
_TO_LINK = re.compile(
    r"^leads(?: up| down)? to an? "
    r"(?:(?:half-open |closed |locked )?door|opening|stairs|elevator)\b[^;]*"
)
REACH_M = 2.2
"""Objects within this distance (metres) count as reached; R2R's goals have a radius of 3 m."""


@dataclass(frozen=True, slots=True)
class PastStep:
    """A past step.

    Attributes:
        turned: relative, radians, to the right positive.
        text: description of its destination.
    """

    turned: float
    text: str


@dataclass(frozen=True, slots=True)
class PromptOption:
    """An option.

    Attributes:
        id: as it is written.
        side: Left, Front, Right or Back.
        angle: turn towards it, radians to the right; the middle of its side where none is given.
        text: its description.
        node: its name on the map, where there is one.
        visited: whether the map marks it visited.
    """

    id: int
    side: str
    angle: float
    text: str
    node: str | None
    visited: bool

    @property
    def words(self) -> frozenset[str]:
        """Informative words of the description."""
        return word_set(self.text)


@dataclass(frozen=True)
class PromptView:
    """A navigator's prompt, parsed.

    Attributes:
        instruction: the navigator's instruction.
        past: the past steps, first to last.
        choices: the options, clockwise from Front.
        summary: the description of the place.
        sides: the captions, by side.
        near: objects within reach, each with its metres.
        node: the place's name on the map, where there is one.
        links: visited place -> its neighbours, as the map has them.
        guidance: the newest words of an oracle that speaks unasked, or "".
        told: questions and answers, oldest first.
        shown: the text of the shortest path's line, if there is one.
        may_ask: whether a question is among the options.
    """

    instruction: str
    past: tuple[PastStep, ...] = ()
    choices: tuple[PromptOption, ...] = ()
    summary: str = ""
    sides: dict[str, str] = field(default_factory=dict)
    near: tuple[tuple[str, float], ...] = ()
    node: str | None = None
    links: dict[str, tuple[str, ...]] = field(default_factory=dict)
    guidance: str = ""
    told: tuple[tuple[str, str], ...] = ()
    shown: str | None = None
    may_ask: bool = False

    @cached_property
    def around(self) -> frozenset[str]:
        """Words of everything seen from here, on any side."""
        return self.here.union(*(word_set(_own(text)) for text in self.sides.values()))

    @cached_property
    def exact(self) -> bool:
        """True if the descriptions are generated from scene data, not from images."""
        return any(choice.text.startswith(_EXACT) for choice in self.choices)

    @cached_property
    def reach(self) -> frozenset[str]:
        """Words of the current room and objects within ``REACH_M``; for exact descriptions."""
        room = _ROOM.match(self.summary.split(_BEYOND)[0])
        near = " ".join(name for name, metres in self.near if metres <= REACH_M)
        return word_set(f"{room.group(1) if room else ''} {near}")

    @cached_property
    def here(self) -> frozenset[str]:
        """Words of the place's own description and of objects within reach."""
        return word_set(self.summary.split(_BEYOND)[0]) | word_set(
            " ".join(name for name, _ in self.near)
        )


def read_view(request: PolicyRequest) -> PromptView:
    """Parse a request's prompt.

    Raises:
        ModelError: where it has no options that can be read.
    """
    return parse_view(request.first_human)


def parse_view(text: str) -> PromptView:
    """Parse a prompt's human message.

    Raises:
        ModelError: where it has no options that can be read.
    """
    parts = _sections(text)
    options = _options(parts.get("Action options:", ""))
    surroundings = parts.get("Surroundings:", "").split("\n")
    place = parts.get("Current place:", "")
    node = _NAME.match(place)
    return PromptView(
        instruction=parts.get("Instruction:", "").strip("` \n"),
        past=tuple(_pasts(parts.get("History:", ""))),
        choices=_choices(options),
        summary=surroundings[0],
        sides=_sides(surroundings[1:]),
        near=tuple((n.strip(), float(d)) for n, d in _NEAR.findall(parts.get("Near:", ""))),
        node=node.group() if node else None,
        links=dict(_links(place)),
        guidance=parts.get("Guidance:", "").split("\n")[-1],
        told=_told(parts.get("Dialogue:", "")),
        shown=parts.get("Shortest path:"),
        may_ask="Ask" in options,
    )


def _options(text: str) -> dict[str, dict[str, str]]:
    try:
        read, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict) or not all(isinstance(read.get(s, {}), dict) for s in SIDES):
        raise ModelError(
            "A builtin navigator needs the options as JSON after 'Action options:' in its prompt, "
            "grouped by Left, Front, Right and Back."
        )
    return read


def _sides(lines: list[str]) -> dict[str, str]:
    """Return the captions of each side, joined over its directions."""
    found: dict[str, list[str]] = {}
    for line in lines:
        where, colon, caption = line.removeprefix("- ").partition(": ")
        side = _SIDE.match(where)
        if colon and side:
            found.setdefault(side.group(1), []).append(caption)
    return {side: " / ".join(dict.fromkeys(captions)) for side, captions in found.items()}


def _links(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in text.split("\n"):
        found = _LINKS.match(line)
        if found:
            yield found.group(1), tuple(_NAME.findall(found.group(2)))


def strip_link(text: str) -> str:
    """Return an option's description, with the door or stairs that it leads to left out."""
    return _TO_LINK.sub("leads on", text)


def _own(caption: str) -> str:
    """Return a caption without the doors and stairs that lead elsewhere."""
    parts = caption.replace(" / ", "; ").split("; ")
    return "; ".join(part for part in parts if not _LINK.match(part))


def _told(text: str) -> tuple[tuple[str, str], ...]:
    told, asked = [], ""
    for line in text.split("\n"):
        if line.startswith("Q: "):
            asked = line[3:]
        elif line.startswith("A: "):
            told.append((asked, line[3:]))
    return tuple(told)


def _sections(text: str) -> dict[str, str]:
    """Split the prompt by headings; a repeated heading continues its section."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.split("\n"):
        head = line[: line.find(":") + 1]
        if head in _HEADS:
            current = found.setdefault(head, [])
            line = line[len(head) :].strip()
        current.append(line)
    return {head: "\n".join(lines) for head, lines in found.items()}


def _pasts(text: str) -> Iterator[PastStep]:
    for line in text.split("\n"):
        found = _STEP.match(line)
        if found:
            yield PastStep(math.radians(float(found.group(1))), _NODE.sub("", found.group(2)))


def _choices(options: dict[str, dict[str, str]]) -> tuple[PromptOption, ...]:
    """Return the options, clockwise from Front."""
    found = [
        _choice(int(number), side, angle, str(text))
        for side, angle in zip(SIDES, (0.0, math.pi / 2, math.pi, -math.pi / 2), strict=True)
        for number, text in options.get(side, {}).items()
        if _ID.fullmatch(number)
    ]
    return tuple(sorted(found, key=lambda each: (SIDES.index(each.side), each.angle, each.id)))


def _choice(number: int, side: str, angle: float, text: str) -> PromptOption:
    where = _WHERE.match(text)
    if where is not None:
        text = text[where.end() :]
        straight, degrees, way = where.groups()
        angle = math.radians(int(degrees or 0)) * (-1 if way == "left" else 1)
        angle = math.pi if straight == "straight behind" else angle
    note = _NODE.search(text)
    node, visited = (note.group(1), bool(note.group(2))) if note else (None, False)
    text = _ALIKE.sub("", text[: note.start()] if note else text)
    return PromptOption(number, side, angle, text, node, visited=visited)
