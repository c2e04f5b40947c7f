"""Baselines for the job ``chat``: a rule-based robot for plain orders, and a random one.

The heuristic sees what a language model would see, the conversation and its tools' results, and
answers with tool calls and sentences. It knows few English wordings (:mod:`.listener`). It keeps no
memory: its tools report what was talked of, the goal of a stopped walk and past actions. The random
one ignores what was said.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from navloom.graphs.chat.intent_parser import (
    Intent,
    PreviousTurn,
    canned_answer,
    normalize,
    parse_intents,
)
from navloom.models.builtin import PolicyRequest, ToolResult
from navloom.models.messages import message_text
from navloom.scenes.lexicon import lexicon_words
from navloom.sim.caption_composer import join_words, with_article
from navloom.tools.chat.place_query import NUMBERS, is_english, split_words

_MOVING = ("go_to", "go", "go_back", "go_on")
_ASKING = ("look", "where", "find", "rooms", "describe", "recall")
_NO = re.compile(
    r"^(?:no|none|neither|nothing|never ?mind|no thanks|forget (?:it|that)|cancel)"
    r"(?: of (?:them|these|those))?(?: please| thanks)?$"
)
_YES = re.compile(r"^(?:yes|okay|right|correct|exactly|that one|that|this|please do|do|go|sure)\b")
_WRONG = re.compile(r"^(?:no|none|neither|not)\b")
_SHORT = 5
"""Most words in an answer that is read as a number or as "any of them"."""
_MOST_ASKED = 3
_LEFT = "I leave it, then. Tell me where to go."
_MOST_READ = 400
_WORD = re.compile(r"[0-9a-z]+")
_ANY = {"nearest", "closest", "nearer", "closer", "any", "either", "whichever", "choose", "pick"}
_FAR = {"farthest", "furthest", "farther", "further"}
_NUMBERS = NUMBERS | {
    "1": 0, "one": 0, "2": 1, "two": 1, "3": 2, "three": 2, "4": 3, "four": 3, "5": 4, "five": 4,
    "6": 5, "six": 5, "7": 6, "seven": 6, "8": 7, "eight": 7, "9": 8, "nine": 8,
}  # fmt: skip
_COUNTING = {*_NUMBERS, "number", "option", "the", "one", "please"}
_DULL = {
    "the", "to", "next", "one", "room", "a", "of", "m", "away", "in", "and", "1", "2", "with", "i",
    "it", "is", "go", "please", "where", "am", "an", "you", "me",
}  # fmt: skip
_SIDES = {"left": "On my left", "right": "On my right", "ahead": "Ahead", "behind": "Behind me"}
_MOST_NAMED = 12
_BUMP_CM = 10
"""Displacement in centimetres from which a brush is called a bump."""


def heuristic_chat(request: PolicyRequest) -> AIMessage:
    """Return tool calls that carry out the person's last words, then a report of the results."""
    words, done = _turn(request)
    intents = parse_intents(words, _before(request))
    calls = [intent for intent in intents if intent.tool is not None]
    if not done:
        return _calls(request, calls) if calls else AIMessage(intents[-1].words)
    last = done[-1]
    if last.name == "ask_person":
        return _answered(request, done)
    asked = [place for place, result in enumerate(done) if result.name == "ask_person"]
    since = done[asked[-1] + 1 :] if asked else done
    several = next((r for r in reversed(since) if _asks_which(r)), None)
    if several is not None:
        return _ask(request, since, several)
    if asked:
        intents = parse_intents(_answer_of(done[asked[-1]]), _before(request))
        if again := _asked_again(request, done, since, intents):
            return again
    left = _not_done(done, calls) or _taken_up(done)
    if left and _failed(last) is None:
        return _calls(request, left)
    return AIMessage(_report(since, intents))


def random_chat(request: PolicyRequest) -> AIMessage:
    """Return a random tool call that needs no planning, then a report that something was done."""
    _, done = _turn(request)
    if done:
        return AIMessage("I did something.")
    draw = random.Random(f"{request.seed} {len(request.messages)}")
    tool = draw.choice(["look", "where", "go", "turn"])
    sides = {"go": ["ahead", "left", "right", "behind"], "turn": ["left", "right"]}
    args = {"direction": draw.choice(sides[tool])} if tool in sides else {}
    return request.call(tool, **args)


def _turn(request: PolicyRequest) -> tuple[str, list[ToolResult]]:
    """Return the person's last words and the tool results since."""
    messages = request.messages
    start = _spoken(request)[-1:] or [0]
    said = message_text(messages[start[0]].content) if messages else ""
    return said, PolicyRequest(messages[start[0] :]).tool_results()


def _spoken(request: PolicyRequest) -> list[int]:
    return [i for i, each in enumerate(request.messages) if isinstance(each, HumanMessage)]


def _before(request: PolicyRequest) -> PreviousTurn:
    """Return the tool calls of the person's previous turn."""
    spoken = _spoken(request)
    # The first message that looks like a person's words opens the conversation.
    if len(spoken) < 3:
        return PreviousTurn()
    results = PolicyRequest(request.messages[spoken[-2] : spoken[-1]]).tool_results()
    offers = bool(results) and results[-1].name == "go_to" and bool(_told(results[-1]).get("alike"))
    how = ""
    for each in spoken[-_MOST_ASKED - 1 : -1]:
        # "And the bath?" repeats the previous question about the bath.
        said = message_text(request.messages[each].content)
        asked = parse_intents(said, PreviousTurn([("find", {})], how=how))
        how = asked[-1].words if asked[-1].tool == "find" else ""
    return PreviousTurn([(result.name, result.args) for result in results], offers, how)


def _told(result: ToolResult) -> Mapping[str, Any]:
    return result.result if isinstance(result.result, Mapping) else {}


def _calls(request: PolicyRequest, intents: Sequence[Intent]) -> AIMessage:
    before = sum(len(m.tool_calls) for m in request.messages if isinstance(m, AIMessage))
    calls = [
        {"name": str(intent.tool), "args": intent.args, "id": f"call_{before + number}"}
        for number, intent in enumerate(intents, 1)
    ]
    return AIMessage("", tool_calls=calls)


def _ask(request: PolicyRequest, since: Sequence[ToolResult], several: ToolResult) -> AIMessage:
    """Return a question for the place that is meant, after a report on the walks done."""
    question = str(several.result["question"])
    walked = [r for r in since if r.name in _MOVING and _told(r).get("arrived")]
    said = _report(walked, []) if walked else ""
    return request.call("ask_person", question=f"{said} {question}".strip())


def _answer_of(result: ToolResult) -> str:
    return str(_told(result).get("answer", ""))


def _answered(request: PolicyRequest, done: Sequence[ToolResult]) -> AIMessage:
    """Return the next message after the person's answer to a question."""
    told = _answer_of(done[-1])
    several = next((r for r in reversed(done) if _asks_which(r)), None)
    said = normalize(told).strip(" .!,?")
    if _NO.match(said) or several is None:
        return AIMessage(_LEFT)
    intents = [each for each in parse_intents(told, _before(request)) if each.tool]
    # A bare name is an answer; words with a verb may be another order.
    named = all(each.tool == "go_to" for each in intents)
    storey = all(each.args.get("direction") in ("upstairs", "downstairs") for each in intents)
    short = len(said.split()) <= _SHORT
    asks = any(each.tool in _ASKING for each in intents)
    answers = named or storey or (_counts(said) and short and not asks)
    chosen = choose_place(said, several.result["which"]) if answers else None
    if chosen is not None:
        return request.call("go_to", place=chosen)
    if intents and not all(each.words == "corrected" for each in intents):
        return _calls(request, intents)
    if sum(result.name == "ask_person" for result in done) >= _MOST_ASKED:
        return AIMessage(_LEFT)
    return request.call("ask_person", question=f"Sorry, which? {several.result['question']}")


def _asked_again(
    request: PolicyRequest,
    done: Sequence[ToolResult],
    since: Sequence[ToolResult],
    intents: Sequence[Intent],
) -> AIMessage | None:
    """Repeat the question if the answer was a question or named nothing here, else return None."""
    several = next((r for r in reversed(done) if _asks_which(r)), None)
    asked = sum(result.name == "ask_person" for result in done)
    aside = all(
        r.name in _ASKING or (r.name == "go_to" and _failed(r) and not _told(r).get("barred"))
        for r in since
    )
    if several is None or not since or not aside or asked >= _MOST_ASKED:
        return None
    said = f"{_report(since, intents)} {several.result['question']}"
    return request.call("ask_person", question=said)


def _not_done(done: Sequence[ToolResult], calls: Sequence[Intent]) -> list[Intent]:
    """Return the orders that were refused because an earlier one needed a question."""
    refused = [r for r in done if "Not done" in (_failed(r) or "")]
    again = done[-1].name in _MOVING and len(refused) > 0 and any(map(_asks_which, done))
    made = [(r.name, r.args) for r in refused]
    later = done[done.index(refused[-1]) + 1 :] if refused else []
    if not again or any((r.name, r.args) in made for r in later):
        return []
    return [intent for intent in calls if (intent.tool, intent.args) in made]


def _taken_up(done: Sequence[ToolResult]) -> list[Intent]:
    """Return the orders that follow a stopped walk, once it has been resumed."""
    last = done[-1]
    if last.name != "go_on":
        return []
    return [Intent(each["name"], dict(each["args"])) for each in _told(last).get("left", [])]


def choose_place(answer: str, which: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the id of the place that an answer to "which one?" selects.

    Args:
        answer: the person's words, in plain lower case.
        which: the candidates from go_to: ``place``, ``name`` and ``about`` each.

    Returns:
        None where the answer selects none or several.
    """
    words = _WORD.findall(answer[:_MOST_READ].casefold())
    if len(which) == 1 and _YES.match(answer.casefold()):
        return str(which[0]["place"])
    if _WRONG.match(answer) and len(words) > 1:
        # "No, the second": the words after the "no" select the place.
        words = words[1:]
    if set(words) & _ANY:
        return str(min(which, key=_metres)["place"])
    if set(words) & _FAR:
        return str(max(which, key=_metres)["place"])
    named = [c for c in which if " ".join(words).endswith(_bare(str(c["place"])))]
    if len(named) == 1:
        return str(named[0]["place"])
    if set(words) <= _COUNTING:
        # "Number 4" means the fourth one, not the one 4 m away or Bedroom_4.
        return _counted(words, which) or _described_by(words, which)
    return _described_by(words, which) or _counted(words, which)


def _counts(said: str) -> bool:
    """Check whether an answer says yes, a number, or that any will do."""
    words = set(_WORD.findall(said))
    return bool(_YES.match(said) or words & (_ANY | _FAR | {*_NUMBERS} - {"one"}))


def _described_by(words: Sequence[str], which: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the one place whose description shares most words with the answer, or None."""
    telling = {word for word in words if word not in _DULL}
    scores = [
        len(telling & {*_WORD.findall(f"{c['place']} {c['about']}".casefold())}) for c in which
    ]
    best = max(scores, default=0)
    return str(which[scores.index(best)]["place"]) if best and scores.count(best) == 1 else None


def _counted(words: Sequence[str], which: Sequence[Mapping[str, Any]]) -> str | None:
    # "The one by the door" holds no number; "one" alone is one.
    counts = list(words) in (["one"], ["number", "one"])
    counted = [_NUMBERS[word] for word in words if word in _NUMBERS and (counts or word != "one")]
    return str(which[counted[-1]]["place"]) if counted and counted[-1] < len(which) else None


def _bare(name: str) -> str:
    return " ".join(_WORD.findall(name.casefold()))


def _metres(place: Mapping[str, Any]) -> float:
    found = re.search(r"(\d{1,5}) m away", str(place.get("about")))
    return float(found.group(1)) if found else 0.0


def _failed(result: ToolResult) -> str | None:
    """Return the error message of a failed call, or None."""
    if isinstance(result.result, Mapping):
        error = result.result.get("error")
        return str(error) if error else None
    return str(result.result)


def _asks_which(result: ToolResult) -> bool:
    """Check whether a call returned several candidate places."""
    return bool(_told(result).get("which"))


def _report(done: Sequence[ToolResult], intents: Sequence[Intent]) -> str:
    """Return a report on the results of calls, in one or more sentences.

    Args:
        done: the calls and their answers.
        intents: the orders and questions that they came from.
    """
    said: list[str] = []
    told = [r for r in done if not _is_silent(r)]
    walks = [r for r in told if _told(r).get("arrived")]
    told = [r for r in told if r.name != "stop" or not walks or r is done[-1]]
    for result in told:
        why = _failed(result)
        like = [i for i in intents if i.tool == result.name]
        intent = next((i for i in like if i.args == result.args), (like or [Intent(None)])[0])
        if why is not None and intent.words == "guess" and not _names_a_place(result):
            said.append(canned_answer("lost").words if len(told) == 1 else "")
        elif why is not None:
            said.append(f"{why} Where to, then?" if why.startswith("There is only one") else why)
        elif result in walks[:-1]:
            # The last of several walks reports the robot's position.
            if result is walks[-2]:
                places = dict.fromkeys(str(_told(walk).get("place")) for walk in walks[:-1])
                said.append(f"I have been to the {join_words([*places])}.")
        else:
            said.append(_sentence(result, intent))
    return " ".join(dict.fromkeys(each for each in said if each)) or "Done."


def _names_a_place(result: ToolResult) -> bool:
    """Check whether a call's words may name a place, known, similar or unknown."""
    said = split_words(str(result.args.get("place", "")))
    named = set(said) & lexicon_words() or not all(is_english(word) for word in said)
    return bool(named or _told(result).get("alike"))


def _is_silent(result: ToolResult) -> bool:
    not_done = "Not done" in (_failed(result) or "")
    return result.name == "ask_person" or _asks_which(result) or not_done


def _sentence(result: ToolResult, intent: Intent) -> str:
    told: Mapping[str, Any] = result.result
    match result.name:
        case "look":
            sides = (told.get("sides") or {}).items()
            parts = [f"{_SIDES[s]}: {text}." for s, text in sides if "nothing" not in text]
            return " ".join([str(told.get("summary", "")), *parts]).strip()
        case "where":
            return _where(told)
        case "find":
            return _found(told, intent)
        case "rooms":
            return _rooms(told)
        case "describe":
            return _described(told)
        case "recall":
            did = told.get("did") or []
            return f"I {join_words(did)}." if did else "I have not moved yet."
        case "turn":
            towards, side = result.args.get("towards"), result.args.get("direction")
            if towards:
                thing = re.sub("^the ", "", str(towards))
                what = "it" if thing in ("it", "that", "them", "there") else f"the {thing}"
                return f"I look at {what} now.{_touched(told)}"
            return f"I turned {side}.{_touched(told)}" if side else f"I turned.{_touched(told)}"
        case "stop":
            return f"I stay here, in the {told.get('room')}."
    return _arrived(told, result.name)


def _arrived(told: Mapping[str, Any], tool: str) -> str:
    place, room = str(told.get("place", "")), str(told.get("room", ""))
    if told.get("already_there"):
        return f"I am already in the {room}."
    note = f" ({told['note']})" if told.get("note") else ""
    if place.startswith("a place "):
        on = "back" if told.get("backwards") else "on"
        return f"I went {told.get('metres')} m {on}; I am in the {room}.{_touched(told)}"
    named = tool in ("go_to", "go_on") and place not in (room, "")
    at = f"at the {place} in the {room}" if named else f"in the {room}"
    return f"I am {at} now{note}.{_touched(told)}"


def _touched(told: Mapping[str, Any]) -> str:
    """Describe in a sentence what the body touched on its path."""
    by = f" The way was barred by {told['stopped_by']}." if told.get("stopped_by") else ""
    touched = told.get("touched") or []
    brushed = [str(e["what"]) for e in touched if e["centimetres"] < _BUMP_CM]
    bumped = [str(e["what"]) for e in touched if e["centimetres"] >= _BUMP_CM]
    if by and not brushed and len(bumped) < 2:
        return by
    said = [f"bumped into {join_words(bumped)}"] if bumped else []
    said += [f"brushed {join_words(brushed)}"] if brushed else []
    return f" I {' and '.join(said)}.{by}" if said else by


def _where(told: Mapping[str, Any]) -> str:
    floor = f", on floor {told.get('floor')}" if int(told.get("floors", 1)) > 1 else ""
    beside = [f"the {room} ({side})" for room, side in (told.get("next_to") or {}).items()]
    on = f" From here one gets to {', '.join(beside)}." if beside else ""
    return f"I am in the {told.get('room')}{floor}.{on}"


def _found(told: Mapping[str, Any], intent: Intent) -> str:
    found = told.get("found") or []
    if not found:
        return str(told.get("error", "I know of none."))
    first, asked, count = found[0], intent.words, int(told.get("count", 1))
    if asked == "count":
        return _how_many(told, count)
    if first.get("metres") is None:
        return f"There is {with_article(str(first['name']))} {_in(first)}, but no way leads there."
    name, metres = str(first["name"]), float(first["metres"])
    if asked == "far":
        near = "close" if metres <= 5 else "not far" if metres <= 12 else "far"
        return f"The {name} is {metres:.0f} m from here; that is {near}."
    more = f" I know of {count} in all." if count > 1 else ""
    if first.get("kind") == "room":
        if first.get("here"):
            return f"Yes, this is the {name}."
        if re.search(r"est\b", str(intent.args.get("thing", ""))):
            more = ""
        return f"The {name} is {metres:.0f} m from here; the way begins {_at(first)}.{more}"
    head = "Yes, there is" if first.get("here") or first.get("near") else "The nearest is"
    return f"{head} {with_article(name)} {_in(first)}, {metres:.0f} m from here.{more}"


def _in(found: Mapping[str, Any]) -> str:
    if found.get("kind") == "room":
        return f"(the {found.get('name')})"
    if found.get("here"):
        return f"here in the {found.get('room')}, {_at(found)}"
    return f"in the {found.get('room')}"


def _at(found: Mapping[str, Any]) -> str:
    side = str(found.get("side") or found.get("way") or "ahead")
    return {"left": "on my left", "right": "on my right", "behind": "behind me"}.get(side, "ahead")


def _how_many(told: Mapping[str, Any], count: int) -> str:
    found = told["found"]
    name, rooms = str(found[0]["name"]), found[0].get("kind") == "room"
    if count == 1:
        where = "" if rooms else f" {_in(found[0])}"
        return f"There is only one {name} that I know of{where}."
    listed, more = f"in the {join_words(told['rooms'])}", ""
    if rooms:
        reached = [f"{each['metres']:.0f} m away" for each in found if each["metres"] is not None]
        listed, more = join_words(reached), ", ..." if count > len(found) else ""
    return f"There are {count} of them ({name}): {listed}{more}."


def _rooms(told: Mapping[str, Any]) -> str:
    rooms, names = told.get("rooms") or [], dict[str, int]()
    for each in rooms:
        names[each["name"]] = names.get(each["name"], 0) + 1
    listed = join_words([name if n == 1 else f"{n} {name}s" for name, n in names.items()])
    return f"There are {len(rooms)} rooms: {listed}."


def _described(told: Mapping[str, Any]) -> str:
    if "thing" in told:
        on = f", on the {told['stands_on']}" if told.get("stands_on") else ""
        head = f"The {told['thing']} is in the {told.get('room')}{on}."
        if held := told.get("on_it") or []:
            return f"{head} On it: {', '.join(held[:_MOST_NAMED])}."
        near = told.get("near") or []
        return f"{head} Near it: {', '.join(near[:6])}." if near else head
    where = "Here in" if told.get("here") else "In"
    things = told.get("things") or []
    more = ", and more" if len(things) > _MOST_NAMED else ""
    listed = ", ".join(things[:_MOST_NAMED]) or "nothing"
    head = f"{where} the {told.get('room')}"
    return f"{head} I know of: {listed}{more}."
