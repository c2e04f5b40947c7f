"""Baselines for the job ``chat``: a robot that understands plain orders and questions, by rules.

It sees what a language model would see, the conversation and what its tools returned, and answers
by tool calls and sentences. It knows English patterns alone (`chat_intents`) and remembers nothing
of its own: "the other one" is for the tools to find out. The random one takes no notice of what was
said.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from navloom.graphs.chat.intents import Intent, choose, intents_of
from navloom.models.answer import message_text
from navloom.models.builtin import Request, ToolResult

_MOVING = ("go_to", "go", "go_back")
_NONE = ("no", "none", "neither", "never mind", "nevermind")
_NOTHING = "nothing of note"
_GO_ON = ("keep going", "go on", "continue", "carry on", "move on", "go there")


def heuristic_chat(request: Request) -> AIMessage:
    """Do what the person's last words ask for, then say what came of it."""
    words, done = _turn(request)
    intents = _resumed(request, words) or intents_of(words)
    calls = [intent for intent in intents if intent.tool is not None]
    if not done:
        return _calls(request, calls) if calls else AIMessage(intents[0].words)
    last = done[-1]
    if last.name == "ask_person":
        return _answered(request, done)
    several = next((r for r in done[::-1] if _which(r)), None)
    if several is not None:
        after = done[len(done) - 1 - done[::-1].index(several) :]
        if all(result.name != "ask_person" for result in after):
            return request.call("ask_person", question=str(several.result["question"]))
    left = _not_done(done, calls)
    if left and _failed(last) is None:
        return _calls(request, left)
    return AIMessage(_report(done, intents))


def random_chat(request: Request) -> AIMessage:
    """Call some tool that needs no thought, then say so."""
    _, done = _turn(request)
    if done:
        return AIMessage("I did something.")
    draw = random.Random(f"{request.seed} {len(request.messages)}")
    tool = draw.choice(["look", "where", "go", "turn"])
    sides = {"go": ["ahead", "left", "right", "behind"], "turn": ["left", "right"]}
    args = {"direction": draw.choice(sides[tool])} if tool in sides else {}
    return request.call(tool, **args)


def _turn(request: Request) -> tuple[str, list[ToolResult]]:
    """The person's last words, and what tools returned since."""
    messages = request.messages
    start = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=0)
    said = message_text(messages[start].content) if messages else ""
    return said, Request(messages[start:]).tool_results()


def _resumed(request: Request, words: str) -> list[Intent]:
    """The walk that was stopped last, where the words say to go on."""
    walks = [r for r in request.tool_results() if r.name in _MOVING]
    if not walks or words.casefold().strip(" .!,") not in _GO_ON:
        return []
    told = walks[-1].result
    if not isinstance(told, Mapping) or not told.get("stopped"):
        return []
    args = {"place": str(told["id"])} if told.get("id") else walks[-1].args
    return [Intent("go_to" if told.get("id") else walks[-1].name, args)]


def _calls(request: Request, intents: Sequence[Intent]) -> AIMessage:
    before = sum(len(m.tool_calls) for m in request.messages if isinstance(m, AIMessage))
    calls = [
        {"name": str(intent.tool), "args": intent.args, "id": f"call_{before + number}"}
        for number, intent in enumerate(intents, 1)
    ]
    return AIMessage("", tool_calls=calls)


def _which(result: ToolResult) -> bool:
    return isinstance(result.result, Mapping) and bool(result.result.get("which"))


def _answered(request: Request, done: Sequence[ToolResult]) -> AIMessage:
    """Go on with what the person answered to a question."""
    last = done[-1].result
    answer = str(last.get("answer", "")) if isinstance(last, Mapping) else ""
    several = next((r for r in reversed(done) if _which(r)), None)
    chosen = choose(answer, list(several.result["which"])) if several else None
    if chosen is not None:
        return request.call("go_to", place=chosen)
    # A bare name is an answer; words with a verb are another order.
    orders = [i for i in intents_of(answer) if i.tool and not (i.tool == "go_to" and i.words)]
    if orders:
        return _calls(request, orders)
    asked = sum(result.name == "ask_person" for result in done)
    if (
        several is None
        or asked > 2
        or answer.casefold().strip(" .!") in ("no", "none", "never mind")
    ):
        return AIMessage("I leave it, then. Tell me where to go.")
    return request.call("ask_person", question=f"Sorry, which? {several.result['question']}")


def _not_done(done: Sequence[ToolResult], calls: Sequence[Intent]) -> list[Intent]:
    """Orders that came after one which had to be asked about."""
    refused = [r for r in done if "Not done" in (_failed(r) or "")]
    again = done[-1].name in _MOVING and len(refused) > 0 and any(map(_which, done))
    made = [(r.name, r.args) for r in refused]
    later = done[done.index(refused[-1]) + 1 :] if refused else []
    if not again or any((r.name, r.args) in made for r in later):
        return []
    return [intent for intent in calls if (intent.tool, intent.args) in made]


def _failed(result: ToolResult) -> str | None:
    """Why a call failed, where it did."""
    if isinstance(result.result, Mapping):
        error = result.result.get("error")
        return str(error) if error else None
    return str(result.result)


def _report(done: Sequence[ToolResult], intents: Sequence[Intent]) -> str:
    """One sentence or two about what came of it all."""
    said = []
    for result in done:
        failed = _failed(result)
        if result.name == "ask_person" or _which(result) or "Not done" in (failed or ""):
            continue
        intent = next((i for i in intents if i.tool == result.name), Intent(None))
        if failed and not (result.name == "find" and isinstance(result.result, Mapping)):
            only = failed.startswith("There is only one")
            said.append(f"{failed} Tell me where to go instead." if only else failed)
        else:
            said.append(_sentence(result, intent))
    if len(said) > 1:
        # Of several walks in a row the last says where it is.
        walks = [i for i, sentence in enumerate(said) if sentence.startswith("I am ")]
        said = [s for i, s in enumerate(said) if i not in walks[:-1]]
    return " ".join(dict.fromkeys(said)) or "Done."


def _sentence(result: ToolResult, intent: Intent) -> str:
    told: Mapping[str, Any] = result.result
    match result.name:
        case "look":
            sides = told.get("sides") or {}
            if side := intent.words:
                return f"{_SIDE_WORDS[side]}: {sides.get(side, _NOTHING)}."
            parts = [
                f"{_SIDE_WORDS[s]}: {text}." for s, text in sides.items() if "nothing" not in text
            ]
            return " ".join([str(told.get("summary", "")), *parts]).strip()
        case "where":
            floor = f", on floor {told.get('floor')}" if told.get("floors", 1) > 1 else ""
            beside = [f"the {room} ({side})" for room, side in (told.get("next_to") or {}).items()]
            on = f" From here one gets to {', '.join(beside)}." if beside else ""
            return f"I am in the {told.get('room')}{floor}.{on}"
        case "find":
            return _found(told)
        case "rooms":
            rooms = told.get("rooms") or []
            names = [f"{r['name']}{' (here)' if r.get('here') else ''}" for r in rooms]
            return f"There are {len(names)} rooms: {', '.join(names)}."
        case "turn":
            way = str(told.get("turned", ""))
            named = way in ("left", "right", "around", "back", "behind")
            return f"I turned {way if named else f'to {way}'}."
        case "stop":
            return f"I stay here, in the {told.get('room')}."
    return _arrived(told, result.name)


def _arrived(told: Mapping[str, Any], tool: str) -> str:
    place, room = str(told.get("place", "")), str(told.get("room", ""))
    if told.get("already_there"):
        return f"I am already in the {room}."
    note = f" ({told['note']})" if told.get("note") else ""
    if tool == "go" and place.startswith("a place "):
        return f"I went {told.get('metres')} m on; I am in the {room}."
    at = f"at the {place} in the {room}" if place not in (room, "") and tool == "go_to" else ""
    return f"I am {at or f'in the {room}'} now{note}."


_SIDE_WORDS = {
    "left": "On my left", "right": "On my right", "ahead": "Ahead", "behind": "Behind me",
}  # fmt: skip


def _found(told: Mapping[str, Any]) -> str:
    found = told.get("found") or []
    if not found:
        return str(told.get("error", "I know of none."))
    first = found[0]
    name, metres = str(first.get("name")), first.get("metres")
    if first.get("kind") == "room":
        if first.get("here"):
            return f"Yes, this is the {name}."
        return f"The {name} is {metres:.0f} m from here; the way begins {_at(first)}."
    where = f"in the {first.get('room')}"
    if first.get("here"):
        where = f"here in the {first.get('room')}, {_at(first)}"
    more = f" I know of {told.get('count')} in all." if told.get("count", 1) > 1 else ""
    if metres is None:
        return f"There is a {name} {where}, but no way leads there."
    head = "Yes, there is" if first.get("here") or first.get("near") else "The nearest is"
    article = "an" if name[:1] in "aeio" else "a"
    return f"{head} {article} {name} {where}, {metres:.0f} m from here.{more}"


def _at(found: Mapping[str, Any]) -> str:
    side = str(found.get("side") or found.get("way") or "ahead")
    return {"left": "on my left", "right": "on my right", "behind": "behind me"}.get(side, "ahead")
