"""What a person means, by rules: words to the tool calls of the chat, or to a ready answer.

Only the patterns that people use with a robot at home are known. What is not understood is said to
be so; nothing is guessed but that a short phrase without a verb names a place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

MOST_READ = 400
"""Characters of what was said that are read."""
_THEN = re.compile(r"(?:,|;|\.)? (?:and then|then|and after that|after that) |; |\. ")
_AND = re.compile(
    r",? and (?=(?:go|walk|turn|take|come|stop|look|head|move|tell|say|bring|drive)\b)"
)
_POLITE = re.compile(
    r"^(?:(?:please|ok|okay|now|hey|hi|well|robot|so|and|then|can you|could you|would you|will you"
    r"|i want you to|i would like you to|i'd like you to|let us|let's|i want to|i would like to"
    r"|i'd like to)\b[ ,]*){0,6}"
)
_CORRECTED = re.compile(
    r"^(?:(?:no|nope|not there|not that one|not that|not here|wrong|wrong (?:room|one|way|place)"
    r"|sorry|actually|i meant|i mean|i said|instead|that is wrong|that's wrong"
    r"|that is not it|that's not it)\b[ ,.!:-]*){1,6}"
)
_GO = re.compile(
    r"^(?:go|walk|move|head|drive|navigate|run|come|get|return|proceed"
    r"|take (?:me|us)|bring (?:me|us)|lead (?:me|us)|guide (?:me|us)|show (?:me|us)"
    r"|follow me)\b ?"
    r"(?:over |along |me )?(?:to |into |in |towards? |through to )?(?P<rest>.*)$"
)
_BACK = re.compile(
    r"^(?:(?:come|go|walk|head|turn|get) back(?: here| again| please)?|return(?: here)?"
    r"|go where you were(?: before)?|undo that)$"
)
_STOP = re.compile(
    r"^(?:stop|halt|wait|freeze|stay|stand still|hold on|don't move|do not move|enough)\b"
)
_TURN = re.compile(
    r"^(?:turn|look|face|rotate|spin)(?: to)?(?: the| your)? "
    r"(?P<side>left|right|around|back|behind)(?: by)?(?: (?P<degrees>\d{1,3}))?"
)
_TOWARDS = re.compile(r"^(?:turn|look|face) (?:to|towards?|at) (?P<thing>.+)$")
_FACE = re.compile(r"^face (?P<thing>.+)$")
_DOOR = re.compile(r"\b(?:door|doorway|opening|gate)s?\b")
_SIDE = re.compile(r"\b(left|right|ahead|straight|forwards?|front|behind|backwards?|back)\b")
_STOREY = re.compile(r"^(?:up|down)(?:stairs| the (?:stairs|staircase|steps)| (?:a|one) floor)?$")
_STEP = re.compile(
    r"^(?:(?:a|one|two|some)? ?(?:bit|little|steps?|further|more)? ?)?(?:to (?:the|your) )?"
    r"(?P<side>left|right|straight|ahead|forwards?|backwards?|on|straight ahead|straight on)"
    r"(?: ahead| on| a (?:bit|little)| (?:for )?(?P<metres>\d{1,2})(?: ?m| metres?| meters?))?$"
)
_ON = re.compile(r"^(?:keep going|go on|continue|carry on|move on|further|forward|straight on)\b")
_FOR = re.compile(r"\b(\d{1,2}) ?(?:m|metres?|meters?)\b")
_SEES = re.compile(
    r"\b(?:what (?:do|can) you see|what is (?:on |to |in )?(?:your |the )?(?:left|right|ahead|front"
    r"|behind|there|around|here|near)|what's (?:on|to|in|there|around|here|near|ahead|behind)"
    r"|look around|describe|what is around|tell me what you see)\b"
)
_WHERE = re.compile(
    r"\b(?:where are (?:you|we)|where am i|(?:which|what) (?:room|place|floor)"
    r" (?:is this|are (?:you|we)|am i)|your position)\b"
)
_ROOMS = re.compile(
    r"\b(?:(?:which|what|how many|list|name)(?: are)?(?: all)?(?: the)? rooms|what is in this "
    r"(?:home|house|flat)|where can (?:you|we|i) go)\b"
)
_FIND = re.compile(
    r"^(?:is there|are there|do you see|can you see|have you seen|do you know of|do you know where"
    r"|have (?:you|we)(?: got)?|is|where is|where are|where's|how far(?: is it)? to"
    r"|how far(?: away)? is|find|locate|search for|look for|any)\b ?(?P<rest>.+)$"
)
_TAIL = re.compile(
    r"(?: |^)(?:near(?: here|by)?|nearby|around(?: here)?|here"
    r"|in (?:this|the) (?:home|house|flat|room)|close(?: by)?"
    r"|anywhere|somewhere|from here|please|now|is|are|again|at all|too|instead|there"
    r"|for me)$"
)
_LEAD = re.compile(r"^(?:a|an|the|any|some|my|your|to|not|of)\s+")
_HELLO = re.compile(r"^(?:hello|hi|hey|good (?:morning|evening|day))\b")
_THANKS = re.compile(r"^(?:thanks|thank you|good|great|perfect|well done|nice|ok|okay|yes|fine)\b")
_NUMBERS = {
    "1": 0, "one": 0, "first": 0, "2": 1, "two": 1, "second": 1, "3": 2, "three": 2, "third": 2,
    "4": 3, "four": 3, "fourth": 3, "5": 4, "five": 4, "fifth": 4, "last": -1,
}  # fmt: skip
_HELP = (
    "I did not understand that. Tell me where to go (go to the kitchen, turn left, upstairs, stop,"
    " come back) or ask what I see, where I am, or where something is."
)
_SIDES = {
    "left": "left", "right": "right", "ahead": "ahead", "straight": "ahead", "forward": "ahead",
    "forwards": "ahead", "front": "ahead", "on": "ahead", "behind": "behind", "back": "behind",
    "backward": "behind", "backwards": "behind", "straight ahead": "ahead", "straight on": "ahead",
}  # fmt: skip


@dataclass(frozen=True)
class Intent:
    """One thing that was asked for: a tool and its arguments, or words to answer with.

    Attributes:
        tool: its name; None for a ready answer.
        args: its arguments.
        words: the ready answer, or the side of ``look`` that was asked about.
    """

    tool: str | None
    args: dict[str, Any] = field(default_factory=dict)
    words: str = ""


def intents_of(said: str) -> list[Intent]:
    """What was asked for, in order; one ready answer where nothing was understood."""
    text = " ".join(said[:MOST_READ].casefold().replace("’", "'").replace("?", " ").split())
    parts = [each for part in _THEN.split(text) for each in _AND.split(part)]
    found = [_intent(part.strip(" .!,")) for part in parts[:6] if part.strip(" .!,")]
    if len(found) > 1:
        found = [each for each in found if each.tool is not None] or found[:1]
    return found or [Intent(None, words=_HELP)]


def _intent(text: str) -> Intent:
    text = text[_POLITE.match(text).end() :] or text  # type: ignore[union-attr]
    corrected = _CORRECTED.match(text)
    if corrected:
        rest = text[corrected.end() :].strip(" ,.!")
        if not rest:
            return Intent("go_to", {"place": "the other one"})
        rest = rest[_POLITE.match(rest).end() :] or rest  # type: ignore[union-attr]
        return _question(rest) or _order(rest) or Intent("go_to", {"place": rest})
    known = _question(text) or _order(text) or _small_talk(text)
    if known:
        return known
    # A few words without a verb name a place; anything else was not understood.
    if re.match(r"^[a-z]", text) and len(text.split()) <= 5 and not _AUXILIARY.search(text):
        return Intent("go_to", {"place": text}, words=_HELP)
    return Intent(None, words=_HELP)


def _question(text: str) -> Intent | None:
    if _WHERE.search(text):
        return Intent("where")
    if _ROOMS.search(text):
        return Intent("rooms")
    if _SEES.search(text):
        side = _SIDE.search(text)
        return Intent("look", words=_SIDES.get(side.group(1), "") if side else "")
    found = _FIND.match(text)
    if found is None:
        return None
    thing = found.group("rest")
    for _ in range(4):
        thing = _LEAD.sub("", _TAIL.sub("", thing.strip(" .,!")).strip())
    return Intent("find", {"thing": thing}) if thing else Intent("look")


def _order(text: str) -> Intent | None:
    if _BACK.match(text):
        return Intent("go_back")
    if _STOP.match(text):
        return Intent("stop")
    turn = _TURN.match(text)
    if turn:
        degrees = float(turn.group("degrees") or 90)
        return Intent("turn", {"direction": turn.group("side"), "degrees": degrees})
    towards = _TOWARDS.match(text) or _FACE.match(text)
    if towards:
        return Intent("turn", {"towards": towards.group("thing")})
    if _ON.match(text):
        return _walk("ahead", text)
    going = _GO.match(text)
    return _going(going.group("rest").strip(" .!,"), text) if going else _going_bare(text)


def _going(rest: str, text: str) -> Intent | None:
    if not rest:
        return Intent(None, words="Where to? Name a room, a thing or a direction.")
    return _going_bare(rest) or _side_step(rest, text) or Intent("go_to", {"place": rest})


def _going_bare(rest: str) -> Intent | None:
    """Directions that need no verb: upstairs, through the door on the left."""
    if _STOREY.match(rest):
        return Intent("go", {"direction": "upstairs" if rest.startswith("up") else "downstairs"})
    if _DOOR.search(rest) and re.match(r"(?:through|out|leave|enter|use|take)\b", rest):
        side = _SIDE.search(rest)
        direction = _SIDES[side.group(1)] if side else ""
        return Intent("go", {"direction": direction, "through_door": True})
    return _side_step(rest, rest)


def _side_step(rest: str, text: str) -> Intent | None:
    step = _STEP.match(rest)
    if step:
        return _walk(_SIDES[step.group("side")], text)
    return Intent("go", {"direction": "behind"}) if rest in ("back", "backwards") else None


def _walk(direction: str, text: str) -> Intent:
    far = _FOR.search(text)
    metres = {"metres": float(far.group(1))} if far else {}
    return Intent("go", {"direction": direction, **metres})


def _small_talk(text: str) -> Intent | None:
    if _HELLO.match(text):
        return Intent(None, words="Hello. Where shall I go, or what would you like to know?")
    if _THANKS.match(text) and len(text.split()) < 5:
        return Intent(None, words="Good. What next?")
    return None


_AUXILIARY = re.compile(r"\b(?:is|are|was|do|does|did|can|will|would|why|how|when|who|i|you)\b")


def choose(answer: str, which: list[dict[str, Any]]) -> str | None:
    """The place that an answer to "which one?" means; None where it means none or several.

    Args:
        answer: the person's words.
        which: what go_to gave: ``place``, ``name`` and ``about`` each.
    """
    words = re.findall(r"[0-9a-z]+", answer[:MOST_READ].casefold())
    if set(words) & {"nearest", "closest", "any", "either", "whichever"}:
        return str(min(which, key=_metres)["place"])
    if set(words) & {"farthest", "furthest"}:
        return str(max(which, key=_metres)["place"])
    named = [c for c in which if " ".join(words).endswith(_plain(str(c["place"])))]
    if len(named) == 1:
        return str(named[0]["place"])
    telling = [word for word in words if word not in _DULL]
    scores = [
        len({*telling} & {*re.findall(r"[0-9a-z]+", f"{c['place']} {c['about']}".casefold())})
        for c in which
    ]
    best = max(scores, default=0)
    if best and scores.count(best) == 1:
        return str(which[scores.index(best)]["place"])
    # "The one by the door" counts nothing; "one" alone does.
    counts = words in (["one"], ["number", "one"])
    counted = [_NUMBERS[word] for word in words if word in _NUMBERS and (counts or word != "one")]
    return str(which[counted[-1]]["place"]) if counted and counted[-1] < len(which) else None


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[0-9a-z]+", name.casefold()))


_DULL = frozenset(
    ["the", "to", "next", "one", "room", "a", "of", "m", "away", "in", "and", "1", "2"]
)


def _metres(place: dict[str, Any]) -> float:
    found = re.search(r"(\d{1,5}) m away", str(place.get("about")))
    return float(found.group(1)) if found else 0.0
