"""A chat model as the brain of the loopback server: any graph can be run over the wire with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from navloom.models.answer import AnswerError, message_text, read_json_object
from navloom.testing.wire import Call


def brain(
    model: BaseChatModel, *, schema: Mapping[str, Any] | None = None
) -> Callable[[Call], AIMessage]:
    """Let a chat model answer what comes over the wire.

    Args:
        model: the model, such as ``get_model("builtin/heuristic")``.
        schema: the response schema where a request sends none (an unconstrained one sends none,
            and a rule-based model knows its job by the schema's title).

    Returns:
        What a `ModelServer` takes for its replies.
    """

    def answer(call: Call) -> AIMessage:
        asked = call.wire.asked(call.body)
        bound: dict[str, Any] = {}
        if asked.tools:
            bound["tools"] = asked.tools
        shape = asked.schema or (dict(schema) if schema else None)
        if shape is not None:
            bound["response_format"] = shape
        reply = model.invoke(asked.messages, **bound)
        if asked.answer_tool is None or reply.tool_calls:
            return reply
        return _by_tool(reply, asked.answer_tool, f"answer_{call.number}")

    return answer


def _by_tool(reply: AIMessage, tool: str, id_: str) -> AIMessage:
    text = message_text(reply.content)
    try:
        args = read_json_object(text)
    except AnswerError:
        return reply
    call = {"name": tool, "args": args, "id": id_, "type": "tool_call"}
    return reply.model_copy(update={"content": "", "tool_calls": [call]})
