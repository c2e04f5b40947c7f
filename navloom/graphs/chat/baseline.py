"""Baselines for the job ``chat``: a robot that understands plain orders and questions, by rules.

It sees what a language model would see, the conversation and what its tools returned, and answers
by tool calls and sentences. It knows English wordings alone (:mod:`.wordings`, :mod:`.intents`) and
remembers nothing of its own: what was talked of, where a walk was going and what was done are for
the tools to say. The random one takes no notice of what was said.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from navloom.graphs.chat.asked import Before, Intent
from navloom.graphs.chat.choosing import choose, counts
from navloom.graphs.chat.intents import OFFERED, intents_of
from navloom.graphs.chat.sentences import asks_which, failed, report
from navloom.graphs.chat.wordings import plain
from navloom.models.answer import message_text
from navloom.models.builtin import Request, ToolResult

_MOVING = ("go_to", "go", "go_back", "go_on")
_ASKING = ("look", "where", "find", "rooms", "describe", "recall")
_NO = re.compile(
    r"^(?:no|none|neither|nothing|never ?mind|no thanks|no thank you|forget (?:it|that)|cancel)"
    r"(?: of (?:them|these|those|the two|either))?(?: please| thanks)?$"
)
_YES = re.compile(
    r"^(?:yes|okay|right|exactly|sure|please|do|go|of course|why not|that would be|good|great|fine"
    r"|go ahead|go there|lead on|perfect|correct)\b(?! to | (?:go|take me|walk) to (?!it|there))"
)
_SHORT = 5
"""Words in an answer that may count or say that any will do."""
_MOST_ASKED = 3
_LEFT = "I leave it, then. Tell me where to go."


def heuristic_chat(request: Request) -> AIMessage:
    """Do what the person's last words ask for, then say what came of it."""
    words, done = _turn(request)
    intents = intents_of(words, _before(request))
    calls = [intent for intent in intents if intent.tool is not None]
    if not done:
        return _calls(request, calls) if calls else AIMessage(intents[-1].words)
    last = done[-1]
    if last.name == "ask_person":
        return _answered(request, done)
    asked = [place for place, result in enumerate(done) if result.name == "ask_person"]
    since = done[asked[-1] + 1 :] if asked else done
    several = next((r for r in reversed(since) if asks_which(r)), None)
    if several is not None:
        return _ask(request, since, several)
    if asked:
        intents = intents_of(_answer_of(done[asked[-1]]), _before(request))
        if again := _asked_again(request, done, since, intents):
            return again
    if (offered := _offer(request, since, intents)) is not None:
        return offered
    left = _not_done(done, calls) or _taken_up(done)
    if left and failed(last) is None:
        return _calls(request, left)
    return AIMessage(report(since, intents))


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
    start = _spoken(request)[-1:] or [0]
    said = message_text(messages[start[0]].content) if messages else ""
    return said, Request(messages[start[0] :]).tool_results()


def _spoken(request: Request) -> list[int]:
    return [i for i, each in enumerate(request.messages) if isinstance(each, HumanMessage)]


def _before(request: Request) -> Before:
    """What was asked and said before the person's last words."""
    spoken = _spoken(request)
    # The first message that looks like a person's words opens the conversation.
    if len(spoken) < 3:
        return Before()
    earlier = Request(request.messages[spoken[-2] : spoken[-1]])
    results = earlier.tool_results()
    said = [message_text(m.content) for m in earlier.messages if isinstance(m, AIMessage)]
    offers = bool(results) and results[-1].name == "go_to" and bool(_told(results[-1]).get("alike"))
    calls = [(result.name, result.args) for result in results]
    how = _how_asked([_human(request, each) for each in spoken[-_MOST_ASKED - 1 : -1]])
    return Before(calls, next((text for text in reversed(said) if text), ""), offers, how)


def _human(request: Request, number: int) -> str:
    return message_text(request.messages[number].content)


def _how_asked(said: Sequence[str]) -> str:
    """What the last of several questions in a row asked of a place, "and the bath?" too."""
    how = ""
    for words in said:
        asked = intents_of(words, Before([("find", {})], how=how))
        how = asked[-1].words if asked[-1].tool == "find" else ""
    return how


def _told(result: ToolResult) -> Mapping[str, Any]:
    return result.result if isinstance(result.result, Mapping) else {}


def _calls(request: Request, intents: Sequence[Intent]) -> AIMessage:
    before = sum(len(m.tool_calls) for m in request.messages if isinstance(m, AIMessage))
    calls = [
        {"name": str(intent.tool), "args": intent.args, "id": f"call_{before + number}"}
        for number, intent in enumerate(intents, 1)
    ]
    return AIMessage("", tool_calls=calls)


def _ask(request: Request, since: Sequence[ToolResult], several: ToolResult) -> AIMessage:
    """Ask which one is meant; what came of the rest is said before it."""
    question = str(several.result["question"])
    walked = [r for r in since if r.name in _MOVING and _told(r).get("arrived")]
    said = report(walked, []) if walked else ""
    return request.call("ask_person", question=f"{said} {question}".strip())


def _offer(
    request: Request, since: Sequence[ToolResult], intents: Sequence[Intent]
) -> AIMessage | None:
    """Ask whether to go to what was named in words that may be no order."""
    last = since[-1] if since else None
    if last is None or last.name != "find" or intents[-1].words != OFFERED:
        return None
    found = _told(last).get("found") or []
    if not found:
        return None
    return request.call("ask_person", question=f"Shall I go to the {found[0]['name']}?")


def _answer_of(result: ToolResult) -> str:
    return str(_told(result).get("answer", ""))


def _answered(request: Request, done: Sequence[ToolResult]) -> AIMessage:
    """Go on with what the person answered to a question."""
    answer = _answer_of(done[-1])
    several = next((r for r in reversed(done) if asks_which(r)), None)
    said = plain(answer).strip(" .!,?")
    if several is None and not _NO.match(said):
        return _agreed(request, done, answer)
    if _NO.match(said) or several is None:
        return AIMessage(_LEFT)
    which = list(several.result["which"])
    intents = [each for each in intents_of(answer, _before(request)) if each.tool]
    # A bare name is an answer; words with a verb may be another order.
    named = all(each.tool == "go_to" for each in intents)
    storey = all(each.args.get("direction") in ("upstairs", "downstairs") for each in intents)
    short = len(said.split()) <= _SHORT
    asks = any(each.tool in _ASKING for each in intents)
    answers = named or storey or (counts(said) and short and not asks)
    chosen = choose(said, which) if answers else None
    if chosen is not None:
        return request.call("go_to", place=chosen)
    if intents and not all(each.words == "corrected" for each in intents):
        return _calls(request, intents)
    if sum(result.name == "ask_person" for result in done) >= _MOST_ASKED:
        return AIMessage(_LEFT)
    return request.call("ask_person", question=f"Sorry, which? {several.result['question']}")


def _agreed(request: Request, done: Sequence[ToolResult], answer: str) -> AIMessage:
    """Go where it was offered to go, or do what was said instead."""
    offered = next((r for r in reversed(done) if r.name == "find"), None)
    if offered is not None and _YES.match(plain(answer)):
        return request.call("go_to", place=str(offered.args["thing"]))
    intents = [each for each in intents_of(answer, _before(request)) if each.tool]
    return _calls(request, intents) if intents else AIMessage(_LEFT)


def _asked_again(
    request: Request,
    done: Sequence[ToolResult],
    since: Sequence[ToolResult],
    intents: Sequence[Intent],
) -> AIMessage | None:
    """The question once more, where the answer was a question itself, or named nothing there is."""
    several = next((r for r in reversed(done) if asks_which(r)), None)
    asked = sum(result.name == "ask_person" for result in done)
    aside = all(
        r.name in _ASKING or (r.name == "go_to" and failed(r) and not _told(r).get("barred"))
        for r in since
    )
    if several is None or not since or not aside or asked >= _MOST_ASKED:
        return None
    said = f"{report(since, intents)} {several.result['question']}"
    return request.call("ask_person", question=said)


def _not_done(done: Sequence[ToolResult], calls: Sequence[Intent]) -> list[Intent]:
    """Orders that came after one which had to be asked about."""
    refused = [r for r in done if "Not done" in (failed(r) or "")]
    again = done[-1].name in _MOVING and len(refused) > 0 and any(map(asks_which, done))
    made = [(r.name, r.args) for r in refused]
    later = done[done.index(refused[-1]) + 1 :] if refused else []
    if not again or any((r.name, r.args) in made for r in later):
        return []
    return [intent for intent in calls if (intent.tool, intent.args) in made]


def _taken_up(done: Sequence[ToolResult]) -> list[Intent]:
    """What was to follow a walk that was stopped, now that it has been taken up again."""
    last = done[-1]
    if last.name != "go_on":
        return []
    return [Intent(each["name"], dict(each["args"])) for each in _told(last).get("left", [])]
