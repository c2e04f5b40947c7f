"""A chat model as the brain of the loopback server: any graph can be run over the wire with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage

from navloom.models.answer import AnswerError, message_text, read_json_object
from navloom.testing.wire import Asked, Call

_SEED = re.compile(r"^[ \t]*Random seed:[ \t]*(-?\d{1,20})[ \t]*$", re.MULTILINE)
_JOB = re.compile(r"^[ \t]*Job:[ \t]*([A-Za-z][\w-]{0,59})[ \t]*$", re.MULTILINE)


def brain(model: BaseChatModel, *, job: str | None = None) -> Callable[[Call], AIMessage]:
    """Let a chat model answer what comes over the wire.

    Args:
        model: the model, such as ``get_model("builtin/heuristic")``.
        job: what every request asks a rule-based model to do. None: what the title of the
            request's schema says, else the line ``Job: NAME`` of its first human message; a
            request says no more of it, and what it draws by is the line ``Random seed: N``.

    Returns:
        What a `ModelServer` takes for its replies.
    """

    def answer(call: Call) -> AIMessage:
        asked = call.wire.asked(call.body)
        bound = _told(asked, job) if getattr(type(model), "takes_job", False) else {}
        if asked.tools:
            bound["tools"] = asked.tools
        if asked.schema is not None:
            bound["response_format"] = asked.schema
        reply = model.invoke(asked.messages, **bound)
        if asked.answer_tool is None or reply.tool_calls:
            return reply
        return _by_tool(reply, asked.answer_tool, f"answer_{call.number}")

    return answer


def _told(asked: Asked, job: str | None) -> dict[str, Any]:
    """What a caller in this process would have bound, as far as the words of a request say it."""
    first = next((m for m in asked.messages if isinstance(m, HumanMessage)), None)
    text = "" if first is None else message_text(first.content)
    named, seed = _JOB.search(text), _SEED.search(text)
    title = (asked.schema or {}).get("title")
    return {
        "job": job or title or (named and named[1]),
        "seed": int(seed[1]) if seed else 0,
    }


def _by_tool(reply: AIMessage, tool: str, id_: str) -> AIMessage:
    text = message_text(reply.content)
    try:
        args = read_json_object(text)
    except AnswerError:
        return reply
    call = {"name": tool, "args": args, "id": id_, "type": "tool_call"}
    return reply.model_copy(update={"content": "", "tool_calls": [call]})
