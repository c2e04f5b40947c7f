"""OpenAI's and Anthropic's protocols as JSON: parse requests; write replies, complete or streamed.

With :func:`reply_with` a chat model answers the requests, so that any graph can run over the
protocol.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

from navloom.models.builtin import estimate_tokens
from navloom.models.messages import AnswerError, message_text, read_json_object
from navloom.models.structured_output import ANSWER_TOOL


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """The content of a request, in one form for both protocols.

    Attributes:
        messages: the conversation.
        tools: the tools, in OpenAI's form.
        schema: the JSON schema of the final answer, with its title, if one was sent.
        answer_tool: the tool that must carry the final answer, if one was offered.
    """

    messages: list[BaseMessage]
    tools: list[dict[str, Any]]
    schema: dict[str, Any] | None = None
    answer_tool: str | None = None


class WireProtocol(ABC):
    """One wire protocol: parses requests and builds replies."""

    name: str

    @abstractmethod
    def asked(self, body: Mapping[str, Any]) -> ParsedRequest:
        """Parse a request."""

    @abstractmethod
    def reply(self, body: Mapping[str, Any], said: AIMessage, number: int) -> dict[str, Any]:
        """Build a complete reply."""

    @abstractmethod
    def stream(self, body: Mapping[str, Any], said: AIMessage, number: int) -> Iterator[bytes]:
        """Build a reply as server-sent events."""

    @abstractmethod
    def error(self, text: str, code: str | None = None) -> dict[str, Any]:
        """Build an error reply."""

    def usage(self, body: Mapping[str, Any], said: AIMessage) -> tuple[int, int]:
        """Return input and output tokens: those of the message, else an estimate."""
        if said.usage_metadata is not None:
            return said.usage_metadata["input_tokens"], said.usage_metadata["output_tokens"]
        asked = self.asked(body)
        return estimate_tokens(asked.messages, asked.tools), estimate_tokens([said])


@dataclass(frozen=True, slots=True)
class WireCall:
    """One request as it was received.

    Attributes:
        number: its number, from 0, in the order of arrival.
        wire: its protocol.
        body: its JSON body.
        headers: its headers, by name in lower case.
        path: the requested path.
    """

    number: int
    wire: WireProtocol
    body: dict[str, Any]
    headers: dict[str, str]
    path: str


class OpenAIWire(WireProtocol):
    """OpenAI's chat completions protocol."""

    name = "openai"

    def asked(self, body: Mapping[str, Any]) -> ParsedRequest:
        """Parse a request, including vLLM's requests with an answer tool."""
        tools = [t for t in body.get("tools") or [] if not _is_answer(t["function"]["name"])]
        turns: list[Any] = [_readable(turn) for turn in body["messages"]]
        messages = convert_to_messages(turns)
        for tool in body.get("tools") or []:
            function = tool["function"]
            if _is_answer(function["name"]):
                title = function["name"].removeprefix(ANSWER_TOOL)
                schema = {"title": title, **function["parameters"]}
                return ParsedRequest(messages, tools, schema, function["name"])
        named = (body.get("response_format") or {}).get("json_schema")
        shape = {"title": named.get("name"), **named["schema"]} if named else None
        return ParsedRequest(messages, tools, shape)

    def reply(self, body: Mapping[str, Any], said: AIMessage, number: int) -> dict[str, Any]:
        """Build a complete reply."""
        calls = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": args}}
            for id_, name, args in _calls(said, number)
        ]
        message: dict[str, Any] = {"role": "assistant", "content": message_text(said.content)}
        if calls:
            message |= {"content": message["content"] or None, "tool_calls": calls}
        finish = _finish(said, "finish_reason", _OPENAI_FINISH)
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return {
            **self._head(body, number, "chat.completion"),
            "choices": [choice],
            "usage": self._usage(body, said),
        }

    def stream(self, body: Mapping[str, Any], said: AIMessage, number: int) -> Iterator[bytes]:
        """Build a reply as chunks: the text by parts, then each call, then usage if requested."""
        head = self._head(body, number, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return _event({**head, "choices": [choice]})

        yield chunk({"role": "assistant", "content": ""})
        for part in _parts(message_text(said.content)):
            yield chunk({"content": part})
        for index, (id_, name, args) in enumerate(_calls(said, number)):
            function = {"name": name, "arguments": ""}
            call = {"index": index, "id": id_, "type": "function", "function": function}
            yield chunk({"tool_calls": [call]})
            for part in _parts(args):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        yield chunk({}, _finish(said, "finish_reason", _OPENAI_FINISH))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield _event({**head, "choices": [], "usage": self._usage(body, said)})
        yield b"data: [DONE]\n\n"

    def error(self, text: str, code: str | None = None) -> dict[str, Any]:
        """Build an error reply."""
        return {"error": {"message": text, "type": "planned", "param": None, "code": code}}

    def _head(self, body: Mapping[str, Any], number: int, kind: str) -> dict[str, Any]:
        model = body.get("model", "")
        return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": model}

    def _usage(self, body: Mapping[str, Any], said: AIMessage) -> dict[str, int]:
        read, written = self.usage(body, said)
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


class AnthropicWire(WireProtocol):
    """Anthropic's messages protocol."""

    name = "anthropic"

    def asked(self, body: Mapping[str, Any]) -> ParsedRequest:
        """Parse a request."""
        messages: list[BaseMessage] = []
        if body.get("system"):
            messages.append(SystemMessage(content=message_text(body["system"])))
        for turn in body["messages"]:
            messages += _turn(turn)
        tools = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool.get("description", ""),
                    "parameters": tool["input_schema"],
                },
            }
            for tool in body.get("tools") or []
        ]
        shape = (body.get("output_config") or {}).get("format") or {}
        return ParsedRequest(messages, tools, shape.get("schema"))

    def reply(self, body: Mapping[str, Any], said: AIMessage, number: int) -> dict[str, Any]:
        """Build a complete reply."""
        read, written = self.usage(body, said)
        return {
            **self._head(body, number),
            "content": self._blocks(said, number),
            "stop_reason": _finish(said, "stop_reason", _ANTHROPIC_FINISH),
            "usage": {"input_tokens": read, "output_tokens": written},
        }

    def stream(self, body: Mapping[str, Any], said: AIMessage, number: int) -> Iterator[bytes]:
        """Build a reply as Anthropic's events."""
        read, written = self.usage(body, said)
        start = {**self._head(body, number), "content": [], "stop_reason": None}
        start["usage"] = {"input_tokens": read, "output_tokens": 0}
        yield _named_event("message_start", {"message": start})
        for index, block in enumerate(self._blocks(said, number)):
            is_text = block["type"] == "text"
            empty = {**block, "text": ""} if is_text else {**block, "input": {}}
            yield _named_event("content_block_start", {"index": index, "content_block": empty})
            for part in _parts(block["text"] if is_text else json.dumps(block["input"])):
                delta = (
                    {"type": "text_delta", "text": part}
                    if is_text
                    else {"type": "input_json_delta", "partial_json": part}
                )
                yield _named_event("content_block_delta", {"index": index, "delta": delta})
            yield _named_event("content_block_stop", {"index": index})
        reason = _finish(said, "stop_reason", _ANTHROPIC_FINISH)
        stop = {"stop_reason": reason, "stop_sequence": None}
        usage = {"input_tokens": read, "output_tokens": written}
        yield _named_event("message_delta", {"delta": stop, "usage": usage})
        yield _named_event("message_stop", {})

    def error(self, text: str, code: str | None = None) -> dict[str, Any]:
        """Build an error reply."""
        return {"type": "error", "error": {"type": code or "planned", "message": text}}

    def _head(self, body: Mapping[str, Any], number: int) -> dict[str, Any]:
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", ""),
            "stop_sequence": None,
        }

    def _blocks(self, said: AIMessage, number: int) -> list[dict[str, Any]]:
        text = message_text(said.content)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        for id_, name, args in _calls(said, number):
            blocks.append({"type": "tool_use", "id": id_, "name": name, "input": json.loads(args)})
        return blocks


WIRES: dict[str, WireProtocol] = {
    "/v1/chat/completions": OpenAIWire(),
    "/chat/completions": OpenAIWire(),
    "/v1/messages": AnthropicWire(),
}
"""The protocol at each path."""

_OPENAI_FINISH = ("tool_calls", "stop")
_ANTHROPIC_FINISH = ("tool_use", "end_turn")


def _finish(said: AIMessage, key: str, names: tuple[str, str]) -> str:
    metadata = said.response_metadata
    told = metadata.get(key) or metadata.get("finish_reason") or metadata.get("stop_reason")
    called = bool(said.tool_calls or said.invalid_tool_calls)
    return str(told) if told else names[0 if called else 1]


def _calls(said: AIMessage, number: int) -> Iterator[tuple[str, str, str]]:
    calls = [(c["id"], c["name"], json.dumps(c["args"])) for c in said.tool_calls]
    calls += [(c["id"], c["name"] or "", c["args"] or "") for c in said.invalid_tool_calls]
    for index, (id_, name, args) in enumerate(calls):
        yield id_ or f"call_{number}_{index}", name, args


def _is_answer(name: str) -> bool:
    return name.startswith(ANSWER_TOOL)


def _readable(turn: Mapping[str, Any]) -> Mapping[str, Any] | AIMessage:
    """Return a turn as it is, or as a message with invalid tool calls if they cannot be parsed."""
    calls = turn.get("tool_calls") or []
    good, bad = [], []
    for call in calls:
        function = {"name": call["function"]["name"], "id": call["id"]}
        try:
            good.append({**function, "args": dict(json.loads(call["function"]["arguments"]))})
        except (ValueError, TypeError):
            bad.append({**function, "args": call["function"]["arguments"], "error": ""})
    if not bad:
        return turn
    text = message_text(turn.get("content") or "")
    return AIMessage(content=text, tool_calls=good, invalid_tool_calls=bad)


def _turn(turn: Mapping[str, Any]) -> list[BaseMessage]:
    content = turn["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if turn["role"] == "assistant":
        calls = [
            {"name": b["name"], "args": b["input"], "id": b["id"]}
            for b in blocks
            if b["type"] == "tool_use"
        ]
        return [AIMessage(content=message_text(blocks), tool_calls=calls)]
    results: list[BaseMessage] = [
        ToolMessage(content=message_text(b.get("content", "")), tool_call_id=b["tool_use_id"])
        for b in blocks
        if b["type"] == "tool_result"
    ]
    rest = [b for b in blocks if b["type"] != "tool_result"]
    if all(b["type"] == "text" for b in rest):
        return results + [HumanMessage(content=b["text"]) for b in rest]
    return [*results, HumanMessage(content=rest)]


def _parts(text: str) -> Iterator[str]:
    for start in range(0, len(text), 12):
        yield text[start : start + 12]


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _named_event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\n".encode() + _event({"type": name, **data})


_SEED = re.compile(r"^[ \t]*Random seed:[ \t]*(-?\d{1,20})[ \t]*$", re.MULTILINE)
_JOBS = {"navigator": "navigator", "oracle": "oracle", "dialogue_oracle": "oracle", "chat": "chat"}
"""Prompts without a job line, and the job names that rule-based models know."""
_JOB = re.compile(r"^[ \t]*Job:[ \t]*([A-Za-z][\w-]{0,59})[ \t]*$", re.MULTILINE)


def reply_with(model: BaseChatModel, *, job: str | None = None) -> Callable[[WireCall], AIMessage]:
    """Make a reply function that answers requests with a chat model.

    Args:
        model: the model, such as ``get_model("builtin/heuristic")``.
        job: the job of a rule-based model in every request. None: the title of the request's
            schema, else the line ``Job: NAME`` of its first human message, else the job of our
            prompt that its system message begins with. The seed is that of the line
            ``Random seed: N``, and 0 if there is none.

    Returns:
        A function for the ``replies`` of a `ModelServer`.
    """

    def answer(call: WireCall) -> AIMessage:
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


def _told(asked: ParsedRequest, job: str | None) -> dict[str, Any]:
    """Return the job and the seed that a rule-based model needs, as read from the request."""
    first = next((m for m in asked.messages if isinstance(m, HumanMessage)), None)
    text = "" if first is None else message_text(first.content)
    named, seed = _JOB.search(text), _SEED.search(text)
    title = (asked.schema or {}).get("title")
    said = job or title or (named and named[1]) or _job_by_opening(asked.messages)
    return {"job": said, "seed": int(seed[1]) if seed else 0}


def _job_by_opening(messages: Sequence[BaseMessage]) -> str | None:
    """Return the job of our prompt whose first line begins the system message; else None."""
    from navloom.prompts.prompt_loader import load_prompt

    system = next((m for m in messages if isinstance(m, SystemMessage)), None)
    first = "" if system is None else message_text(system.content).partition("\n")[0]
    opens = (job for name, job in _JOBS.items() if load_prompt(name).system.startswith(first))
    return next(opens, None) if first else None


def _by_tool(reply: AIMessage, tool: str, id_: str) -> AIMessage:
    text = message_text(reply.content)
    try:
        args = read_json_object(text)
    except AnswerError:
        return reply
    call = {"name": tool, "args": args, "id": id_, "type": "tool_call"}
    return reply.model_copy(update={"content": "", "tool_calls": [call]})
