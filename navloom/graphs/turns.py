"""What two generators share: one model turn, one tool turn, and the memory of what failed.

A conversation in a graph's state holds only what was said after the opening; the opening (system
prompt, scene) is rendered from the context each time, so that no scene is ever checkpointed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from navloom.models.answer import answered_calls, message_text
from navloom.tools.violations import Violation

__all__ = [
    "Call",
    "TurnLimits",
    "after_propose",
    "calls_made",
    "given_up",
    "go_on",
    "out_of_turns",
    "said",
    "sent_back",
    "tool_turn",
    "turns",
]

MOST_CALLS = 8
"""Tool calls answered in one turn; further ones are told to wait."""
_LATER = f"Only {MOST_CALLS} calls are answered at a time. Call again later."
_MOST_ARGUMENTS = 2_000
REPEATED = "repeated_call"
REJECTED = "Your answer breaks these rules:"
AGAIN = "Your answer breaks the rules. Answer again."


class Call(NamedTuple):
    """One tool call of a conversation and what came of it."""

    name: str
    args: dict[str, Any]
    result: dict[str, Any] | None
    """The tool's JSON; None where the call was refused or broke."""

    @property
    def signature(self) -> str:
        """Equal for identical calls."""
        return f"{self.name}{json.dumps(self.args, sort_keys=True, default=str)}"


@dataclass(frozen=True, kw_only=True)
class TurnLimits:
    """The part of a context that bounds a conversation."""

    max_turns: int = 12
    """Model calls at most."""
    max_repairs: int = 3
    """Answers sent back at most."""
    precise_repairs: bool = True
    """Say what is wrong with an answer that is sent back, not only that it is."""


def said(state: Mapping[str, Any]) -> list[AnyMessage]:
    """The conversation so far, after the opening."""
    messages: list[AnyMessage] = state.get("messages", [])
    return messages


def given_up(reason: str, message: str) -> dict[str, Any]:
    """The update that ends an attempt: a code to count by and one line for a person."""
    return {"status": "failed", "reason": reason, "message": message}


def turns(messages: Sequence[AnyMessage]) -> int:
    """How often the model has spoken."""
    return sum(isinstance(message, AIMessage) for message in messages)


def calls_made(messages: Sequence[AnyMessage]) -> list[Call]:
    """Every tool call that was looked at, in the order of the answers.

    Calls that were told to wait are none: to make them again is not to repeat a failing call.
    """
    return [
        Call(call["name"], call["args"], _json_of(answer))
        for call, answer in answered_calls(messages)
        if answer.content != _LATER
    ]


def _json_of(message: ToolMessage) -> dict[str, Any] | None:
    try:
        value = json.loads(message_text(message.content))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def sent_back(
    state: Mapping[str, Any], wrong: Sequence[Violation], limits: TurnLimits
) -> dict[str, Any]:
    """The update that tells the model what is wrong, one line a violation, or gives up."""
    if state.get("repairs", 0) >= limits.max_repairs:
        return given_up(wrong[0].code, wrong[0].message)
    lines = "\n".join(f"- {violation.message}" for violation in wrong)
    text = f"{REJECTED}\n{lines}\nMend it and answer again." if limits.precise_repairs else AGAIN
    return {
        "messages": [HumanMessage(text)],
        "violations": [violation.code for violation in wrong],
        "repairs": 1,
    }


async def out_of_turns(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG001
    """Give up: the model had all its turns."""
    most = runtime.context.max_turns
    return given_up("out_of_turns", f"no accepted answer in {most} model calls")


def after_propose(state: Mapping[str, Any]) -> Literal["consult", "check"]:
    """Tool calls are answered, anything else is an answer."""
    last = said(state)[-1]
    calls = isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls)
    return "consult" if calls else "check"


def go_on(
    state: Mapping[str, Any], runtime: Runtime[Any]
) -> Literal["propose", "out_of_turns", "__end__"]:
    """Back to the model, unless the attempt has ended or the turns are used up."""
    if state.get("status"):
        return "__end__"
    return "out_of_turns" if turns(said(state)) >= runtime.context.max_turns else "propose"


async def tool_turn(
    messages: Sequence[AnyMessage],
    tools: Sequence[BaseTool],
    *,
    failed: Callable[[Call], bool],
    advise: Callable[[Call, list[Call]], str],
) -> dict[str, Any]:
    """Answer the tool calls of the last message; the update of the graph's state.

    A call identical to one that failed is answered with what was tried and what is left; when it
    comes a third time the attempt is given up.

    Args:
        messages: the conversation; its last message is the model's.
        tools: what may be called.
        failed: whether an answered call was of no use.
        advise: what to say to a repeated failing call, given it and all earlier calls.
    """
    last, before = messages[-1], calls_made(messages[:-1])
    assert isinstance(last, AIMessage)  # noqa: S101  the router sends nothing else here
    answers: list[ToolMessage] = []
    stuck = False
    node = ToolNode(list(tools), handle_tool_errors=True)
    for place, call in enumerate(last.tool_calls):
        asked = Call(call["name"], call["args"], None)
        refusal = _refusal(place, asked)
        same = [c for c in before if c.signature == asked.signature]
        # A call that was answered with advice has no result: it failed before as well.
        repeats = len(same) if any(failed(c) for c in same) else 0
        if refusal is None and repeats >= 2:
            stuck, refusal = True, "This call failed three times. The attempt ends here."
        elif refusal is None and repeats == 1:
            refusal = advise(next(c for c in same if failed(c)), before)
        if refusal is None:
            answers += await _run(node, call)
        else:
            answers.append(_answer(call["id"], call["name"], refusal))
        before.append(Call(asked.name, asked.args, _json_of(answers[-1])))
    for broken in last.invalid_tool_calls:
        text = "The arguments are not valid JSON. Call again with a JSON object."
        answers.append(_answer(broken.get("id"), broken.get("name"), text))
    over = given_up(REPEATED, "one failing call came three times") if stuck else {}
    return {"messages": answers, **over}


def _refusal(place: int, call: Call) -> str | None:
    if place >= MOST_CALLS:
        return _LATER
    if len(json.dumps(call.args, default=str)) > _MOST_ARGUMENTS:
        return f"The arguments are over {_MOST_ARGUMENTS} characters long. Pass plain names."
    return None


async def _run(node: ToolNode, call: ToolCall) -> list[ToolMessage]:
    found = await node.ainvoke({"messages": [AIMessage("", tool_calls=[call])]})
    messages: list[ToolMessage] = found["messages"]
    return messages


def _answer(call_id: str | None, name: str | None, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id or "", name=name or "", status="error")
