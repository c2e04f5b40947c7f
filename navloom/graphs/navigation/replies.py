"""From a reply to a step: the tools a model may call, what it said, and what it is told back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, WithJsonSchema, create_model

from navloom.graphs.navigation.context import Context
from navloom.models.messages import message_text
from navloom.tools.navigation.options import Option, Remarks, read_remarks
from navloom.tools.navigation.parse_action import (
    ActionError,
    ParsedAction,
    parse_action,
    parse_call,
)
from navloom.tools.navigation.steps import NOTHING, Step

MOST_REPLY_KEPT = 4_000
"""Characters of a reply that a step's record keeps."""
_DECLINED = frozenset({"refusal", "content_filter"})


@lru_cache(maxsize=256)
def move_tools(options: int, ask: bool) -> tuple[BaseTool, ...]:
    """The tools of a step: ``move``, ``stop`` and, where it may ask, ``ask``.

    Args:
        options: how many options there are; their numbers are enumerated, so that a backend that
            holds a model to a schema cannot name another.
        ask: whether to offer ``ask``.
    """
    # Of a field LangChain hands on only what stands in its annotation.
    numbers = WithJsonSchema({"type": "integer", "enum": list(range(1, options + 1))})
    moved = create_model(
        "move", option=(Annotated[int, numbers], Field(description="The option's number."))
    )
    asked = create_model(
        "ask", question=(str, Field(description="One short question about the way or the place."))
    )
    tools = [
        _tool("move", "Go to one of the action options.", moved),
        _tool("stop", "Stop for good: this is where the instruction ends.", create_model("stop")),
    ]
    return (*tools, _tool("ask", "Ask instead of moving.", asked)) if ask else tuple(tools)


def _tool(name: str, description: str, arguments: type[BaseModel]) -> BaseTool:
    def call(**_: Any) -> str:
        raise NotImplementedError("the navigator's graph carries actions out")

    return StructuredTool.from_function(
        call, name=name, description=description, args_schema=arguments
    )


def read_reply(
    reply: AIMessage, context: Context, options: Sequence[Option], *, ask: bool
) -> ParsedAction:
    """The action of a reply, in the way the context asks for.

    Raises:
        ActionError: it has none that is among the options.
    """
    if context.act == "text":
        text = words_of(reply)
        try:
            return parse_action(text, options, ask=ask)
        except ActionError as error:
            raise _declined(reply, error) from None
    if reply.invalid_tool_calls and not reply.tool_calls:
        raise ActionError("unparsed", "The arguments of your tool call are no JSON. Call again.")
    try:
        return parse_call(reply.tool_calls, options, ask=ask)
    except ActionError as error:
        raise _declined(reply, error) from None


def _declined(reply: AIMessage, error: ActionError) -> ActionError:
    """A reply without an action that its server marks as a refusal is one, whatever it says."""
    if error.kind != "unparsed":
        return error
    told = reply.response_metadata
    reasons = {told.get("finish_reason"), told.get("stop_reason")}
    if reply.additional_kwargs.get("refusal") or reasons & _DECLINED:
        return ActionError("refusal", f"You declined. {error}")
    return error


def words_of(reply: AIMessage) -> str:
    """What a reply says in words; a refusal that stands beside an empty content counts as such."""
    said = message_text(reply.content)
    return said if said.strip() else str(reply.additional_kwargs.get("refusal") or "")


def reply_text(reply: AIMessage) -> str:
    """A reply as a record keeps it: its words and its tool calls, cut in the middle if long."""
    calls = [
        f"{call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})"
        for call in reply.tool_calls
    ]
    text = "\n".join(part for part in (words_of(reply), *calls) if part)
    if len(text) <= MOST_REPLY_KEPT:
        return text
    half = MOST_REPLY_KEPT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"


def with_reply(step: Step, reply: AIMessage, found: ParsedAction | ActionError) -> Step:
    """The step with a reply, what stood beside its action, and the action or the fault."""
    remarks = read_remarks(words_of(reply)) if words_of(reply) else Remarks()
    failed = isinstance(found, ActionError)
    return step.but(
        reply=reply_text(reply),
        **asdict(remarks),
        action=NOTHING if isinstance(found, ActionError) else found,
        faults=[*step.faults, f"{found.kind}: {found}"] if failed else step.faults,
    )


def told_back(reply: AIMessage, message: str) -> list[AnyMessage]:
    """The messages that answer a reply: servers want every tool call answered first."""
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    answers: list[AnyMessage] = [
        ToolMessage(
            "Not carried out.",
            tool_call_id=call.get("id") or "",
            name=call.get("name") or "",
            status="error",
        )
        for call in calls
    ]
    return [*answers, HumanMessage(message)]
