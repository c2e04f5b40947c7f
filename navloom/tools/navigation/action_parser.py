"""Parser of a navigator's action, checked against the step's options (VLN-MME D.8).

The parser looks for an ``Action`` field and reads the head of its value: an option's number, then
Stop or Ask, then an option's whole description, then a direction that has exactly one option.
Nothing else is an action: not the word "stop" in a sentence, not a number in a description. An
unparsable reply is rejected with the exact fault, for the model to correct. Nothing is guessed.

Fields at the head of a line take precedence over those within a line, and the last one counts,
since models restate a choice after weighing it. Text between thought tags has no fields
(:func:`navloom.tools.navigation.step_options.strip_thoughts`).

Time grows linearly with the text, and a text over ``MOST_REPLY`` characters is not parsed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from navloom.sim.caption_composer import one_line
from navloom.tools.navigation.step_options import (
    DIRECTIONS,
    Direction,
    MoveOption,
    describe_option,
    strip_thoughts,
)

Fault: TypeAlias = Literal["unparsed", "invalid_option", "refusal"]
FAULTS: tuple[Fault, ...] = ("unparsed", "invalid_option", "refusal")
"""No action field; a field that names no option; a model that declines."""
MOST_REPLY = 200_000
MOST_QUESTION = 400
_WINDOW = 240
_MOST_WORDS = 12
_FORMAT = 'Write one line such as "Action: 2. <its description>" or "Action: Stop."'

_FIELD = re.compile(
    r"(?<![^\W_])action(?![a-z])"
    r"(?:[ _]{1,2}(?:id|option|number|choice|taken|chosen|selected))?",
    re.IGNORECASE,
)
_COLON = re.compile(r"[\s*_`\"')\]]{0,8}(?::|：|﹕|︓|꞉|∶|=|->|→|⇒|>)")
_ALONE = re.compile(r"[*_`\])]{0,4}[ \t]{0,4}\r?\n")
_BARE = re.compile(
    r"[*_`\]) \t–—-]{1,8}(?=\d{1,4}[ \t]{0,4}(?:[.:)*\n]|$)|stop[.!*]{0,4}[ \t]{0,4}(?:\n|$))",
    re.IGNORECASE,
)
_EARLIER = ("previous", "last", "prior", "earlier", "past", "wrong")
_HEAD = re.compile(
    r"[\W\d_]{0,40}(?:(?:final|next|chosen|selected|best|my|the|output|recommended)[\s_]{1,3}){0,3}"
)
_TOKEN = re.compile(r"\d+|[^\W\d]\w*(?:'[a-z]+)?")
_UNIT = re.compile(
    r"\s{0,2}(?:°|%|(?:m|cm|km|ft|feet|foot|met(?:er|re)s?|degrees?|steps?|times)\b)"
)
_SECOND = re.compile(r"\s{0,2}(?:,|/|&|\+|-|–|\bor\b|\band\b|\bto\b)\s{0,2}#?\d")
_AFTER_STOP = re.compile(
    r"[\s\"'*_`)\]}>]{0,6}(?:$|[.,:;!?|/(\-–—\n]|(?:here|now|at|in|on|by|near|next|beside|before"
    r"|because|since|as|immediately|moving|navigating|navigation|walking|action)\b)"
)
_NAMED = re.compile(r"\b(?:option|id|number|no\.?|#)\s{0,2}[:#]?\s{0,2}(\d{1,4})\b")
_REFUSAL = re.compile(
    r"\bi(?:'m| am)(?: very| so)? sorry\b|\bi apologi[sz]e\b|\bas an ai\b|\bi must decline\b"
    r"|\bi(?: can't|'m unable to| cannot| can not| am unable to| am not able to| won't| will not)"
    r" (?:help|assist|comply|do|provide|fulfill?|continue|answer|choose|select|engage|respond)\b"
)
_NEUTRAL = (
    "i will would should shall choose select pick chosen is the an option options id number no"
    " marker viewpoint view to with and or by answer decide let's let us we best next"
)
_PASSED_OVER = frozenset(_NEUTRAL.split())
_GOING = "go move walk head turn take proceed navigate continue step face follow towards toward"
_MOTION = frozenset(_GOING.split())
_WAYS: Mapping[str, Direction] = {
    "left": "Left",
    "right": "Right",
    "front": "Front",
    "forward": "Front",
    "forwards": "Front",
    "straight": "Front",
    "ahead": "Front",
    "back": "Back",
    "backward": "Back",
    "backwards": "Back",
    "behind": "Back",
    "around": "Back",
}


class ActionError(ValueError):
    """Raised for a reply without a valid action; the message is one line for the model.

    Attributes:
        kind: one of ``FAULTS``.
    """

    def __init__(self, kind: Fault, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class ParsedAction:
    """A valid action, as a step's record stores it.

    Attributes:
        kind: the action; ``none`` if a step has no action.
        option: the option's number, for a move.
        viewpoint: the viewpoint it leads to, for a move.
        question: the question as one bounded line, for an ask.
    """

    kind: Literal["move", "stop", "ask", "none"]
    option: int | None = None
    viewpoint: str | None = None
    question: str | None = None


def parse_action(text: str, options: Sequence[MoveOption], *, ask: bool = False) -> ParsedAction:
    """Parse the action of a reply.

    Args:
        text: the model's reply.
        options: the options to move to; Stop is always offered.
        ask: whether Ask is offered.

    Raises:
        ActionError: there is no action, or none that is offered.
    """
    if len(text) > MOST_REPLY:
        raise ActionError(
            "unparsed", f"Your reply has {len(text)} characters, too many to read. {_FORMAT}"
        )
    said = strip_thoughts(text)
    window = _field(said)
    if window is None:
        if _refuses(said):
            raise _refusal()
        raise ActionError("unparsed", f'Your reply has no "Action:" field. {_FORMAT}')
    return _Field(window, options, ask).read()


def parse_call(
    calls: Sequence[Mapping[str, Any]], options: Sequence[MoveOption], *, ask: bool = False
) -> ParsedAction:
    """Parse the action of a reply's tool calls: ``move(option)``, ``stop()`` or ``ask(question)``.

    Args:
        calls: the calls, each with ``name`` and ``args``.
        options: see :func:`parse_action`.
        ask: see :func:`parse_action`.

    Raises:
        ActionError: there is not exactly one call, or it is none of these.
    """
    names = "move, stop or ask" if ask else "move or stop"
    if len(calls) != 1:
        many = "no tool call" if not calls else f"{len(calls)} tool calls"
        raise ActionError("unparsed", f"Your reply has {many}: make exactly one, {names}.")
    name, args = str(calls[0].get("name")), calls[0].get("args")
    given = args if isinstance(args, Mapping) else {}
    if name == "move":
        number = _whole(given.get("option"))
        if number is None:
            raise ActionError("invalid_option", f"move needs a number. {_offered(options, ask)}")
        return _move(number, options, ask, "Call move with one of these, or another tool.")
    if name == "stop":
        return ParsedAction("stop")
    if name == "ask" and ask:
        return _question(str(given.get("question") or ""), "Give ask a question in words.")
    raise ActionError("invalid_option", f"There is no tool '{one_line(name, 40)}': use {names}.")


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    said = value.strip() if isinstance(value, str) else ""
    return int(said) if re.fullmatch(r"[0-9]{1,6}", said) else None


def _move(number: int, moves: Sequence[MoveOption], ask: bool, how: str = _FORMAT) -> ParsedAction:
    for option in moves:
        if option.id == number:
            return _to(option)
    shown = str(number) if abs(number) < 10**6 else "that number"
    raise ActionError(
        "invalid_option", f"Option {shown} is not there. {_offered(moves, ask)} {how}"
    )


def _to(option: MoveOption) -> ParsedAction:
    return ParsedAction("move", option.id, option.viewpoint)


def _question(text: str, how: str = 'Write "Action: Ask: <question>".') -> ParsedAction:
    question = one_line(text, MOST_QUESTION).strip(" \"'`*<>{}[]")
    if not re.search(r"[^\W_]", question):
        raise ActionError("invalid_option", f"Ask needs a question. {how}")
    return ParsedAction("ask", question=question)


def _offered(options: Sequence[MoveOption], ask: bool) -> str:
    numbers = [str(option.id) for option in options]
    return f"The options are {', '.join([*numbers, 'Stop', *(['Ask'] if ask else [])])}."


def _refuses(text: str) -> bool:
    return bool(_REFUSAL.search(text[:400].lower().replace("’", "'")))


def _refusal() -> ActionError:
    return ActionError(
        "refusal", f"You declined, but this is a harmless walk in a simulation. {_FORMAT}"
    )


def _field(text: str) -> str | None:
    """Return the text after the ``Action`` field that counts; None if there is no field."""
    head: int | None = None
    within: int | None = None
    for mark in _FIELD.finditer(text):
        leads = _leads_line(text, mark.start())
        start = _value_at(text, mark, leads)
        if start is not None and leads:
            head = start
        elif start is not None:
            within = start
    start = head if head is not None else within
    return None if start is None else text[start : start + 4 * _WINDOW]


def _leads_line(text: str, at: int) -> bool:
    begin = text.rfind("\n", max(0, at - 41), at) + 1
    if begin == 0 and at > 40:
        return False
    return _HEAD.fullmatch(text[begin:at].lower()) is not None


def _value_at(text: str, mark: re.Match[str], leads: bool) -> int | None:
    before = text[max(0, mark.start() - 12) : mark.start()].lower()
    if before.endswith("</") or before.rstrip().endswith(_EARLIER):
        return None
    ways = (_COLON, _ALONE, _BARE) if leads else (_COLON,)
    for way in ways:
        found = way.match(text, mark.end())
        if found is not None:
            return found.end()
    return None


class _Field:
    """Value of an action field, parsed from its head."""

    def __init__(self, window: str, options: Sequence[MoveOption], ask: bool) -> None:
        # Some keyboards write full-width digits and letters.
        plain = unicodedata.normalize("NFKC", window).replace("’", "'")
        # A closing tag ends the field, whatever it closes.
        self.all = plain.partition("</")[0].lstrip()[: 3 * _WINDOW]
        self.text = self.all.split("\n", 1)[0][:_WINDOW]
        self.low = self.text.lower()
        self.options = options
        self.ask = ask

    def read(self) -> ParsedAction:
        if not re.search(r"[^\W_]", self.text):
            raise ActionError("unparsed", f'Your "Action:" field is empty. {_FORMAT}')
        described = self._by_description()
        if described is not None:
            return _to(described)
        ways: list[Direction] = []
        moving = False
        for word in self._head():
            said = word.group()
            if said.isdecimal():
                return self._number(word)
            if said == "stop" and not moving and not ways:
                return self._stop(word.end())
            if said == "ask" and not moving and not ways:
                return self._ask(word.end())
            if said in _WAYS:
                ways.append(_WAYS[said])
            elif said in _MOTION:
                moving = True
            elif said not in _PASSED_OVER:
                break
        if ways:
            return self._direction(ways)
        raise self._unread()

    def _head(self) -> list[re.Match[str]]:
        found = []
        for word in _TOKEN.finditer(self.low):
            found.append(word)
            if len(found) == _MOST_WORDS:
                break
        return found

    def _unread(self) -> ActionError:
        if _refuses(self.text):
            return _refusal()
        return ActionError(
            "invalid_option",
            f'"{one_line(self.text, 60)}" names no option.'
            f" {_offered(self.options, self.ask)} {_FORMAT}",
        )

    def _number(self, word: re.Match[str]) -> ParsedAction:
        before = self.low[max(0, word.start() - 2) : word.start()]
        after = self.low[word.end() :]
        signed = before[-1:] in ("-", "−", ".") and not before[:1].isalpha()
        if signed or re.match(r"[\w°]|[.,]\d", after) or _UNIT.match(after):
            raise self._unread()
        if _SECOND.match(after):
            raise ActionError(
                "invalid_option",
                f'"{one_line(self.text, 60)}" names several: choose one. {_FORMAT}',
            )
        if len(word.group()) > 6:
            raise self._unread()
        return _move(int(word.group()), self.options, self.ask)

    def _stop(self, end: int) -> ParsedAction:
        rest = self.low[end:]
        if not _AFTER_STOP.match(rest):
            raise self._unread()
        ids = {option.id for option in self.options}
        named = {int(n) for n in _NAMED.findall(rest)} & ids
        follows = _TOKEN.search(rest)
        if follows is not None and follows.group().isdecimal() and len(follows.group()) < 5:
            named |= {int(follows.group())} & ids
        if named:
            raise ActionError(
                "invalid_option",
                f'"{one_line(self.text, 60)}" names Stop and option {min(named)}: choose one.',
            )
        return ParsedAction("stop")

    def _ask(self, end: int) -> ParsedAction:
        if not self.ask:
            raise ActionError(
                "invalid_option", f"Ask is not an option now. {_offered(self.options, self.ask)}"
            )
        rest = self.all[end:].lstrip(" \t\r\n:：\"'`*_>-–—{[(")
        return _question(rest.split("\n", 1)[0])

    def _by_description(self) -> MoveOption | None:
        said = _plain(self.text)
        if len(said.split()) < 3 or said.split()[0] in ("stop", "ask"):
            return None
        fit = [
            option
            for option in self.options
            if said in (_plain(describe_option(option)), _plain(option.description))
        ]
        return fit[0] if len(fit) == 1 else None

    def _direction(self, ways: Sequence[Direction]) -> ParsedAction:
        named = [way for way in DIRECTIONS if way in ways]
        if len(named) > 1:
            raise ActionError(
                "invalid_option",
                f"{' and '.join(named)} are several directions: choose one option. {_FORMAT}",
            )
        there = [o for o in self.options if o.direction == named[0] and o.hops == 1]
        if len(there) == 1:
            return _to(there[0])
        numbers = ", ".join(str(option.id) for option in there)
        raise ActionError(
            "invalid_option",
            f"There is no option to the {named[0]}. {_offered(self.options, self.ask)}"
            if not there
            else f"{named[0]} has several options ({numbers}): name one by its number. {_FORMAT}",
        )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
