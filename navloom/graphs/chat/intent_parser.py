"""Rule-based parser of a person's words into tool calls, for some thirty English wordings.

Words are cut into clauses, one for each order or question. ``wordings.yaml`` maps clauses to tool
calls. A short phrase without a verb names a place to go to. "And the sofa?" repeats the last
question about the sofa. Anything else gets an answer that says what is understood, and how to
choose a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter

from navloom.scenes.safe_files import read_yaml

_MOST_READ = 400
_MOST_ORDERS = 6
_MOST_NAMED = 8
"""Most words in a phrase that may name a place."""
_MARKED = re.compile(r"(?<!\?P)<(\w+)>")
_GROUP = re.compile(r"\((?!\?)")
_SLOT = re.compile(r"\{(\w+)\}")
_TOKEN = re.compile(r"\d+\.\d+|[a-z0-9]+(?:['_][a-z0-9]+)*|[.,!?;]")
_STOPS = re.compile(r"\s*[!?;.]+(?:\s+|$)")
_VERBS = (
    "go|walk|turn|take|come|stop|wait|look|tell|bring|drive|move|show|find|where|what|how|is|keep"
)
_AND = re.compile(
    rf",? \b(?:and then|and after that|then|and (?=(?:{_VERBS}|to)\b))|, (?=(?:{_VERBS})\b)"
)
_CORRECTED = re.compile(r",? (?:no wait|wait no|no sorry|sorry|i mean|actually|no)\b,? ")
_BUT = re.compile(r"^not [^,]+(?:,| but) (?:but )?(?=\S)")
_VERB = re.compile(
    r"\b(?:is|are|was|am|do|does|did|can|could|will|would|should|why|how|when|who|what|where|which|i"
    r"|you|me|we|he|she|they|it|have|has|had|be|if|because|not|want|like|tell|think|make|give)\b"
)
_WHERE = re.compile(r"\b(?:where|that is|which is)\b.*$")
"""A relative clause after a name: "the room where the piano is"."""
_LEAD = re.compile(r"^(?:(?:a|an|the|any|some|my|your|our|it to)\s+)+")
_TAIL = re.compile(
    r"(?:(?: |^)(?:near(?:by)?|here|around|there|from here|in (?:this|the) (?:home|house)))+$"
)
_WITHIN = re.compile(r" ?\b(?:in|on|at|near|upstairs|downstairs)\b.*$")
_TURNS = {"left": "left", "right": "right"}
_AHEAD = ("ahead", "straight", "on", "forward", "forwards", "straight ahead", "straight on")
_NUMBERS = {
    "a": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "ten": 10.0,
    "thirty": 30.0, "forty five": 45.0, "ninety": 90.0, "half a": 0.5, "one and a half": 1.5,
    "two and a half": 2.5,
}  # fmt: skip
_MEASURED = re.compile(
    rf"(?<![\w.])(?P<number>\d{{1,4}}(?:[.,]\d{{1,2}})?"
    rf"|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    r"[ -]?(?:(?P<metres>m|met(?:re|er)s?)|(?P<centimetres>cms?|centimet(?:re|er)s?)"
    r"|(?P<degrees>°|deg(?:rees?)?))(?!\w)"
)


@dataclass(frozen=True)
class Intent:
    """One order or question: a tool with its arguments, or a ready answer.

    Attributes:
        tool: its name; None for a ready answer.
        args: its arguments.
        words: the ready answer, or the aspect of the tool's answer that was asked for.
    """

    tool: str | None
    args: dict[str, Any] = field(default_factory=dict)
    words: str = ""


@dataclass(frozen=True)
class PreviousTurn:
    """The person's previous turn.

    Attributes:
        calls: the calls that it led to: tool and arguments.
        offers: whether the answer offered something similar to a missing place.
        how: the aspect that was last asked of places: how many, how far.
    """

    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    offers: bool = False
    how: str = ""

    @property
    def thing(self) -> str:
        """The item that was looked up last; empty where there is none."""
        tool, args = self.calls[-1] if self.calls else ("", {})
        return str(args.get("thing", "")) if tool == "find" else ""

    @property
    def asked(self) -> str:
        """The tool of the last question; empty where the last words were an order."""
        tool = self.calls[-1][0] if self.calls else ""
        return tool if tool in ("find", "describe") else ""


class _Wording(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    said: tuple[str, ...]
    args: dict[str, str | bool | float] = {}
    asked: str = ""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    spelled: dict[str, str]
    parts: dict[str, str]
    openers: tuple[str, ...]
    corrects: tuple[str, ...]
    closers: tuple[str, ...]
    wordings: tuple[_Wording, ...]
    answers: dict[str, str]


class _Table(NamedTuple):
    spelled: Mapping[str, str]
    opener: re.Pattern[str]
    corrects: re.Pattern[str]
    closer: re.Pattern[str]
    wordings: Sequence[tuple[re.Pattern[str], _Wording]]
    answers: Mapping[str, str]


@cache
def _table() -> _Table:
    """Load and compile the table of wordings, once."""
    path = Path(str(files("navloom.graphs.chat").joinpath("wordings.yaml")))
    table = read_yaml(path, TypeAdapter(_File), most=20_000)

    def compiled(text: str) -> re.Pattern[str]:
        text = _MARKED.sub(lambda part: table.parts[part[1]], text)
        return re.compile(_GROUP.sub("(?:", _SLOT.sub(r"(?P<\1>\\S.*?)", text)))

    return _Table(
        {word: meant for meant, words in table.spelled.items() for word in words.split()},
        compiled(rf"(?:{'|'.join(table.openers)})(?:$|,? )"),
        compiled(rf"(?:{'|'.join(table.corrects)})(?:$|,? )"),
        compiled(rf"(?:^|,? )(?:{'|'.join(table.closers)})$"),
        [(compiled(said), each) for each in table.wordings for said in each.said],
        table.answers,
    )


def canned_answer(name: str) -> Intent:
    """Return a ready answer of the table as an intent."""
    return Intent(None, words=_table().answers[name])


def normalize(said: str) -> str:
    """Normalize words: lower case, contractions expanded, numbers with units as ``1.5 metres``.

    >>> normalize("What's here?"), normalize("go forward half a metre"), normalize("drive 50 cm on")
    ('what is here?', 'go forward 0.5 metres', 'drive 0.5 metres on')
    """
    text = said[:_MOST_READ].casefold().replace("’", "'").replace("-", " ").replace(":", ",")
    tokens = _TOKEN.findall(_MEASURED.sub(_in_units, text))
    words = " ".join(_table().spelled.get(token, token) for token in tokens)
    return re.sub(r" (?=[.,!?;])", "", words).replace("'", "")


def _in_units(found: re.Match[str]) -> str:
    number = _NUMBERS.get(found["number"]) or float(found["number"].replace(",", "."))
    if found["degrees"]:
        return f"{round(number)} degrees"
    return f"{number / 100 if found['centimetres'] else number:g} metres"


def parse_intents(said: str, before: PreviousTurn | None = None) -> list[Intent]:
    """Parse the person's words into intents, in order; a ready answer where none is understood.

    Args:
        said: the person's words.
        before: the person's previous turn.
    """
    before, text, found = before or PreviousTurn(), normalize(said), list[Intent]()
    start = 0
    for stop in [*_STOPS.finditer(text), None]:
        sentence = text[start : stop.start() if stop else None].strip(" ,")
        if _opened(sentence)[1]:
            # "Go to the kitchen. No, the study": the correction discards what came before.
            found = []
        if sentence:
            found += _sentence(sentence, before, asks=bool(stop and "?" in stop.group()))
        start = stop.end() if stop else start
    orders = [each for each in found if each.tool is not None][:_MOST_ORDERS]
    orders = [each for each in orders if each.words != "corrected"] or orders
    walks = any(each.tool in ("go_to", "go_on", "go") for each in orders)
    # "Stop. Go to the hall": orders after a stop replace it.
    orders = [each for each in orders if each.tool != "stop" or not walks or each is orders[-1]]
    return orders or found[-1:] or [canned_answer("lost")]


def _sentence(text: str, before: PreviousTurn, *, asks: bool) -> list[Intent]:
    if not _BUT.match(text):
        # "The bathroom, no sorry, the bedroom": the last one counts.
        text = next((part for part in _CORRECTED.split(text)[::-1] if part.strip(" ,")), text)
    found = list[Intent]()
    for clause in _AND.split(text):
        if clause.strip(" ,"):
            found += _clause(clause.strip(" ,"), before, asks=asks)
    return [each for each in found if each.tool is not None] or found[-1:]


def _opened(clause: str) -> tuple[str, bool]:
    """Strip introductory words from a clause; return it, and whether they made a correction."""
    corrects = False
    for _ in range(8):
        wrong = _table().corrects.match(clause)
        found = wrong or _BUT.match(clause) or _table().opener.match(clause)
        if found is None:
            break
        corrects |= found.re is not _table().opener
        clause = clause[found.end() :].lstrip(" ,")
    return clause, corrects


def _clause(text: str, before: PreviousTurn, *, asks: bool) -> list[Intent]:
    """Return the intents of one clause."""
    whole = _worded(text.replace(",", ""))
    if whole is not None and not {"place", "thing", "towards"} & whole.args.keys():
        return [whole]
    clause, corrected = _opened(text)
    for _ in range(4):
        clause = _table().closer.sub("", clause)
    clause = clause.replace(",", "")
    if not clause:
        if corrected and (
            not before.calls or before.calls[-1][0] in ("go_to", "go", "go_back", "go_on")
        ):
            return [Intent("go_to", {"place": "the other one"}, "corrected")]
        if before.offers and text.startswith(("yes", "okay", "please")):
            return [Intent("go_to", {"place": "there"})]
        return [canned_answer("thanks")]
    if (worded := _worded(clause)) is not None:
        return [worded]
    if len(clause.split()) > _MOST_NAMED or _VERB.search(_WHERE.sub("", clause)):
        return [canned_answer("lost")]
    on = text.startswith(("and", "what about", "how about"))
    if not corrected and (asks or (on and before.asked)):
        return [_asked_again(clause, before)]
    named = re.match(r"(?:the|my|your|that|this|our)\b", clause)
    return [Intent("go_to", {"place": clause}, "named" if named else "guess")]


def _asked_again(clause: str, before: PreviousTurn) -> Intent:
    """Return the intent of "and the kitchen?", or of "and in the kitchen?" about the last item."""
    if before.thing and _WITHIN.match(clause):
        return Intent("find", {"thing": f"{_WITHIN.sub('', before.thing)} {clause}"}, before.how)
    if before.asked == "describe":
        return Intent("describe", {"place": clause})
    return Intent("find", {"thing": _bare(clause)}, before.how)


def _bare(thing: str) -> str:
    return _LEAD.sub("", _TAIL.sub("", thing).strip()) or thing


def _worded(clause: str) -> Intent | None:
    """Return the intent of a clause that matches a wording of the table, or None."""
    for said, wording in _table().wordings:
        if found := said.fullmatch(clause):
            if wording.tool in _table().answers:
                return canned_answer(wording.tool)
            slots = {name: value for name, value in found.groupdict().items() if value}
            return Intent(wording.tool, _arguments(wording, slots), wording.asked)
    return None


def _arguments(wording: _Wording, slots: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a wording's call, without those that were not said."""
    made = dict[str, Any]()
    for name, value in wording.args.items():
        filled = _SLOT.sub(lambda slot: slots.get(slot[1], ""), str(value))
        if not isinstance(value, str):
            made[name] = value
        elif name in ("metres", "degrees"):
            backwards = wording.args["direction"] == "behind"
            number = float(filled or (90 if name == "degrees" else 0.5 * backwards))
            made |= {name: number} if number else {}
        elif name == "direction" and wording.tool == "turn":
            made[name] = _TURNS.get(filled, "around")
        elif name == "direction":
            on = filled in _AHEAD or not (filled or "through_door" in wording.args)
            made[name] = "ahead" if on else filled
        elif name == "thing":
            made[name] = _bare(filled) if filled else "it"
        elif filled:
            made[name] = filled
    return made
