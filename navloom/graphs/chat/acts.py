"""What each act of the table of wordings comes to: tool calls of the chat, or a ready answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from navloom.graphs.chat.asked import Before, Intent, counted_within
from navloom.graphs.chat.wordings import Said, closed_off, mentioned, wordings
from navloom.scenes.lexicon import room_types

_TAIL = re.compile(
    r"(?: |^)(?:near(?: here|by)?|nearby|around(?: here)?|here|close(?: by)?|anywhere|somewhere"
    r"|is|are|in (?:this|the) (?:home|house|flat|villa|apartment|room|place)|from here|at all|there"
    r"|left|remaining|available"
    r"|in here)$"
)
_LEAD = re.compile(r"^(?:a|an|the|any|some|my|your|our|to|of|for|also|all|only)\s+")
_BUT_NOT = re.compile(
    r"(?:,| but| and)? (?:not|instead of|rather than|but not|except|without|avoiding)\b"
    r" (?:to |in |into |going |passing |walking |entering |at |through |via |by )*"
    r"(?:the|my|your|that|this|a|one|room)\b.*$"
)
_JOINED = re.compile(r",? and |, ")
_LISTED = re.compile(r" and (?=(?:the|my|your|a|our|that)\b)")
_RELATION = re.compile(r"\b(?:next|between|with|beside|near|by|from|to)\b.*$")
_FOR = re.compile(
    r"\b(?:place|room|somewhere|something|spot|anywhere|anything)"
    r"(?: [a-z]+(?= to ))?(?:(?: where)? (?:i|we|you|one|people) can| where (?:i|we|you|people)"
    r"| for me)? (?:to |where )?"
    r"(?P<to>.+?)(?: on| in| from)?"
    r"(?P<at> (?:in|on|near|by|next to) .+| upstairs| downstairs| here)?$"
)
_IT = re.compile(r"\b(?:it|that|him|her|them|they|those|these)\b")
_VIA = re.compile(
    r"^(?P<to>(?:(?! not ).)+?) (?:via|through|by way of|passing(?: by| through)?)"
    r" (?P<by>(?:the|my) .+)$"
)
_WHERE = re.compile(
    r"^(?:the (?:place|spot) )?where (?P<of>(?:the|my|a|your) .+?) (?:is|are|stands?)$"
)
_PAST = re.compile(r"^through (?P<by>the .+?) (?:in)?to (?P<to>the .+)$")
_SHOWN = re.compile(
    r"lead (?:the way|on)|after you|i (?:will )?follow|follow me"
    r"|(?:show|take|bring|lead|guide|walk|get|drive) (?:me|us)"
)
_DOWN = re.compile(r"\b(?:down|downstairs|descend|lower|ground|bottom|first)\b")
_ON_STOREY = re.compile(
    r"^rooms? (?:are |there )*(?:on )?(?:the )?"
    r"(?P<storey>upstairs|downstairs|(?:this|first|second|third|ground|upper|lower|top) floor)"
)
_MORE = re.compile(r"^(?:a second|more than one|any other|just one|only one|two|several)\b")
_CERTAIN = re.compile(r"^(?:the|that|this) (?:[a-z]+ )?(?:ones?|other|first|second|last)\b")
"""A thing as it is named that was talked of."""
_MANY = ("they", "them", "those", "these")
_WALKS = ("go_to", "go", "go_on")
_SIDES = {
    "left": "left", "right": "right", "ahead": "ahead", "straight": "ahead", "forward": "ahead",
    "forwards": "ahead", "front": "ahead", "on": "ahead", "behind": "behind", "back": "behind",
    "backward": "behind", "backwards": "behind", "straight ahead": "ahead", "straight on": "ahead",
    "further": "ahead", "to the left": "left", "to the right": "right",
}  # fmt: skip


@dataclass(frozen=True)
class _Heard:
    """A clause: what stood in its slots, itself, what was asked last, what was asked before it."""

    slots: Mapping[str, str]
    text: str
    before: Before
    earlier: Sequence[Intent]

    def place(self, name: str = "place") -> str:
        return closed_off(self.slots.get(name, ""))


_Act: TypeAlias = Callable[[_Heard], list[Intent]]


def answer(act: str) -> Intent:
    """A ready answer of the table."""
    return Intent(None, words=wordings().answers[act])


def meaning(said: Said, text: str, before: Before, earlier: Sequence[Intent] = ()) -> list[Intent]:
    """What a clause asks for.

    Args:
        said: its act.
        text: the clause.
        before: what was asked last.
        earlier: what the same words asked for before it.
    """
    if said.act not in _ACTS:
        return [answer(said.act)]
    return _ACTS[said.act](_Heard(said.slots, text, before, earlier))


def without_denied(clause: str) -> str:
    """A clause without "not the kitchen" at its end."""
    return _BUT_NOT.sub("", clause)


def goings(words: str) -> list[Intent]:
    """Going to each of several places; "the room between the hall and the study" is one."""
    words = _WHERE.sub(r"\g<of>", words.removeprefix("both "))
    bare = _JOINED.split(words)
    # "Kitchen and bathroom": two names, where each is one by itself.
    named = len(bare) > 1 and all(mentioned(each) == each for each in bare)
    places = bare if named else [words] if _RELATION.search(words) else _LISTED.split(words)
    return [Intent("go_to", {"place": _purpose(closed_off(each) or each)}) for each in places]


def _purpose(words: str) -> str:
    """A description; what "a place to sit" is for, by the table."""
    found = _FOR.search(words)
    wanted = found["to"] if found else words
    fit = (name for name, said in wordings().purposes.items() if said.fullmatch(wanted))
    at = (found["at"] or "").removesuffix(" here") if found else ""
    return next((f"the nearest {name}{at}" for name in fit), words)


def finding(words: str, asked: str = "") -> Intent:
    """Looking something up by its name."""
    name = words
    for _ in range(4):
        name = _LEAD.sub("", _TAIL.sub("", closed_off(name)).strip())
    return Intent("find", {"thing": _purpose(name or words)}, asked)


def _call(tool: str, words: str = "", **args: Any) -> _Act:
    return lambda _: [Intent(tool, args, words)]


def _about(words: str) -> _Act:
    """A question about a place that is found; the one talked of last where none is named."""
    return lambda heard: _findings(heard.place() or heard.place("thing") or "it", words)


def _findings(words: str, asked: str) -> list[Intent]:
    """Each of several things that were asked about."""
    names = [words] if _RELATION.search(words) else re.split(r",? and ", words)
    return [finding(each, asked) for each in names]


def _go(heard: _Heard) -> list[Intent]:
    place = without_denied(heard.slots.get("place", "")).strip()
    if not place:
        if _SHOWN.match(heard.text) or heard.before.asked:
            return [Intent("go_to", {"place": "there"})]
        return [answer("whereto")]
    if place in ("here", "back here", "back") and any(e.tool in _WALKS for e in heard.earlier):
        return _back(heard)
    via = _VIA.search(place) or _PAST.search(place)
    return [*goings(via["by"]), *goings(via["to"])] if via else goings(place)


def _back(heard: _Heard) -> list[Intent]:
    """Back by one walk; "and come back here" goes back by all that were asked for before it."""
    told = {"two": 2, "twice": 2, "three": 3, "four": 4}
    said = heard.slots.get("walks", "1")
    walks = sum(each.tool in _WALKS for each in heard.earlier) or told.get(said) or int(said)
    return [Intent("go_back", {"walks": walks} if walks > 1 else {})]


def _turn(heard: _Heard) -> list[Intent]:
    side = heard.slots.get("side", "around")
    side = side if side in ("left", "right") else "around"
    degrees = float(heard.slots.get("degrees") or (30 if heard.slots.get("little") else 90))
    twice = 2 if heard.text.endswith(("twice", "two times")) else 1
    return [Intent("turn", {"direction": side, "degrees": degrees})] * twice


def _step(heard: _Heard) -> list[Intent]:
    far = _metres(heard)
    side = _SIDES.get(heard.slots.get("side", "ahead"), "ahead")
    return [Intent("go", {"direction": side, **({"metres": far} if far else {})})]


def _metres(heard: _Heard) -> float:
    return float(heard.slots.get("metres") or 0) or int(heard.slots.get("centimetres") or 0) / 100


def _back_up(heard: _Heard) -> list[Intent]:
    """Backwards, without turning round; half a metre where nobody said how far."""
    return [Intent("go", {"direction": "behind", "metres": _metres(heard) or 0.5})]


def _door(heard: _Heard) -> list[Intent]:
    side = _SIDES.get(heard.slots.get("side2") or heard.slots.get("side") or "", "")
    nth = heard.slots.get("nth", "")
    nth = "" if nth in ("next", "nearest") or (nth == "first" and not side) else nth
    return [Intent("go", {"direction": f"{nth} {side}".strip(), "through_door": True})]


def _storey(heard: _Heard) -> list[Intent]:
    return [Intent("go", {"direction": "downstairs" if _DOWN.search(heard.text) else "upstairs"})]


def _both(heard: _Heard) -> list[Intent]:
    """Every place that was asked about last."""
    names = [args.get("thing") for tool, args in heard.before.calls if tool == "find"]
    places = [Intent("go_to", {"place": str(name)}) for name in dict.fromkeys(names) if name]
    return places or [answer("whereto")]


def _again(heard: _Heard) -> list[Intent]:
    calls = [Intent(tool, dict(args)) for tool, args in heard.before.calls if tool != "ask_person"]
    return calls or [answer("whereto")]


def _pardon(heard: _Heard) -> list[Intent]:
    return [Intent(None, words=heard.before.said) if heard.before.said else answer("pardon")]


def _fetch(heard: _Heard) -> list[Intent]:
    return [Intent("go_to", {"place": heard.place()}, "fetch")]


def _look(heard: _Heard) -> list[Intent]:
    if heard.text in ("see", "have a look", "take a look") and heard.before.asked:
        return [Intent("go_to", {"place": "there"})]
    side = heard.slots.get("side2") or heard.slots.get("side") or ""
    return [Intent("look", words=_SIDES.get(side, ""))]


def _describe(heard: _Heard) -> list[Intent]:
    place = heard.place()
    here = not place and not _IT.search(heard.text)
    return [Intent("describe", {} if here else {"place": place or "it"}, "things")]


def _beside(heard: _Heard) -> list[Intent]:
    place = heard.place() or ("it" if _IT.search(heard.text) else "")
    return [Intent("describe", {"place": place} if place else {}, "beside")]


def _find(heard: _Heard) -> list[Intent]:
    """Where something is; where all of them are, after they were counted."""
    place, thing = heard.place() or heard.place("thing"), heard.before.thing
    counted = heard.before.how in ("count", "more", "only") and heard.text.startswith("where")
    if thing and (place in _MANY or (not place and counted)):
        return [finding(thing, "all")]
    return _findings(place or "it", "")


def _room_at(heard: _Heard) -> list[Intent]:
    """What lies opposite of a room or beyond it; beside a thing, what is near."""
    if not room_types(finding(heard.place()).args["thing"]):
        return _beside(heard)
    return [finding(f"the room {heard.slots['how']} {heard.place()}", "way")]


def _which_room(heard: _Heard) -> list[Intent]:
    """Of the thing that was asked about, else of the robot."""
    asked = heard.before.asked
    return [Intent("describe", {"place": "it"}, "things") if asked else Intent("where")]


def _compare(heard: _Heard) -> list[Intent]:
    far = "farther" if heard.slots["how"].startswith(("far", "fur")) else "closer"
    return [finding(heard.slots[each], far) for each in ("a", "b")]


def _sizes(heard: _Heard) -> list[Intent]:
    return [Intent("describe", {"place": heard.place(each)}, "size") for each in ("a", "b")]


def _size(heard: _Heard) -> list[Intent]:
    if heard.place():
        return [Intent("describe", {"place": heard.place()}, "size")]
    small = heard.slots.get("how") in ("smallest", "tiniest")
    how = "smallest" if small else "largest"
    return [Intent("describe", {"place": f"the {how} room"}, how)]


def _count(heard: _Heard) -> list[Intent]:
    if heard.slots.get("only", "").startswith("more of"):
        return [Intent("find", {"thing": heard.before.thing or "the other one"}, "more")]
    if heard.slots.get("only"):
        said = finding(heard.slots["only"]).args["thing"]
        thing = _MORE.sub("other", said)
        asked = "only" if thing == said and not said.startswith(("other", "another")) else "more"
        return [Intent("find", {"thing": "the other one" if thing == "one" else thing}, asked)]
    where = f" {heard.slots.get('in', '')} {heard.slots.get('where', '')}".rstrip()
    thing = heard.slots["thing"]
    if thing in ("of them", "of those", "of these", "them") and heard.before.thing:
        thing = heard.before.thing
    of, within = counted_within(heard.text, thing)
    if within and not room_types(named := finding(of).args["thing"]):
        return [Intent("find", {"thing": f"{named} in {within}"}, "count")]
    counted = _findings(thing + where, "count")
    if storey := _ON_STOREY.match(counted[0].args["thing"]):
        return [Intent("rooms", words=storey["storey"])]
    rooms = counted[0].args["thing"] in ("room", "rooms")
    return [Intent("rooms", words="count")] if rooms else counted


def _rooms(heard: _Heard) -> list[Intent]:
    return [Intent("rooms", words=heard.slots.get("storey", ""))]


def _farthest(heard: _Heard) -> list[Intent]:
    how = "furthest" if heard.slots["how"][:3] in ("far", "fur", "mos") else "nearest"
    compared = heard.slots["how"] in ("closer", "nearer", "farther", "further")
    if compared and heard.before.asked and how == "nearest" and not heard.place("kind"):
        return [Intent("find", {"thing": "the closer of them"}, "name")]
    kind = heard.place("kind") or ("one" if compared and heard.before.asked else "room")
    if (meant := _purpose(kind)) != kind:
        return [Intent("find", {"thing": meant})]
    if kind in ("one", "of them"):
        return [Intent("find", {"thing": f"the {how} one"}, "name")]
    return [Intent("find", {"thing": f"{how} {'room' if kind == 'thing' else kind}"}, "name")]


def _is_at(heard: _Heard) -> list[Intent]:
    """Whether a thing is somewhere."""
    thing = finding(heard.slots["thing"]).args["thing"]
    if thing in ("it", "that", "there"):
        beside = heard.slots["how"] not in ("in", "inside", "on")
        return [Intent("describe", {"place": "it"}, "beside" if beside else "things")]
    return [Intent("find", {"thing": f"{thing} {heard.slots['how']} {heard.slots['where']}"}, "is")]


def _want(heard: _Heard) -> list[Intent]:
    """Who wants a room or a certain thing wants to be there; some thing, to know where it is."""
    thing, wanted = heard.slots["thing"], finding(heard.slots["thing"])
    certain = _CERTAIN.match(thing) or (thing.startswith("the ") and "want" in heard.text)
    return goings(thing) if certain or room_types(wanted.args["thing"]) else [wanted]


def _passed(heard: _Heard) -> list[Intent]:
    return [Intent("recall", {}, f"passed {heard.place()}")]


def _can_not(heard: _Heard) -> list[Intent]:
    """What cannot be done with a thing: where that is can be said."""
    named = mentioned(heard.text)
    return [finding(named, "cannot")] if named else [answer("can_not")]


def _people(heard: _Heard) -> list[Intent]:
    """Who has, took or left a thing is not known, but where it is."""
    named = mentioned(heard.text)
    return [finding(named)] if named else [answer("people")]


def _not_this(heard: _Heard) -> list[Intent]:
    return [Intent("go_to", {"place": f"the other {heard.place()}"}, "corrected")]


_RECALLED = (
    "did", "came", "been", "first", "started", "going", "left", "walked", "said", "said_first",
    "not_seen",
)  # fmt: skip
_ACTS: Mapping[str, _Act] = {
    "go_on": _call("go_on"),
    "stop": _call("stop"),
    "give_up": _call("stop", give_up=True),
    "start": _call("go_to", place="where we started"),
    "back": _back,
    "back_up": _back_up,
    "came_from": _call("go_to", place="the room you came from"),
    **dict.fromkeys(("passed", "been_in"), _passed),
    "again": _again,
    "pardon": _pardon,
    "turn": _turn,
    "towards": lambda heard: [Intent("turn", {"towards": heard.place("thing")})],
    "storey": _storey,
    "door": _door,
    "step": _step,
    **{each: _call("recall", each) for each in _RECALLED},
    "where": _call("where"),
    "which_room": _which_room,
    "floor": _call("where", "floor"),
    "floors": _call("where", "floors"),
    "compare": _compare,
    "compare_size": _sizes,
    "size": _size,
    "count": _count,
    "rooms": _rooms,
    "which_rooms": lambda heard: [finding(heard.slots["thing"], "rooms")],
    "between": lambda heard: [
        finding(f"the room between {heard.slots['a']} and {heard.slots['b']}")
    ],
    "which_has": lambda heard: [finding(f"{heard.slots['kind']} with {heard.slots['thing']}")],
    "can_not": _can_not,
    "people": _people,
    "farthest": _farthest,
    "beside": _beside,
    "look": _look,
    "describe": _describe,
    "which_floor": _about("floor"),
    "far": _about("far"),
    "way": _about("way"),
    "find": _find,
    "room_at": _room_at,
    "after": lambda heard: [Intent("recall", {}, f"{heard.slots['when']} {heard.place()}")],
    "nth": lambda heard: [Intent("recall", {}, f"nth {heard.slots['nth']}")],
    "both": _both,
    "fetch": _fetch,
    "is_at": _is_at,
    "want": _want,
    "similar": lambda _: [Intent("find", {"thing": "it"})],
    "not_this": _not_this,
    "go": _go,
}
