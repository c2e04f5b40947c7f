"""What comes of a reply while it is streamed, and whether it came to its end.

A client of LangChain streams where somebody who listens to its calls wants the pieces, whatever the
model itself was told: its ``streaming`` says nothing about a reply. And it puts pieces of a tool
call together so that half of one looks whole: ``{"place": "bed`` becomes ``{"place": "bed"}``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_core.utils.json import parse_partial_json

MOST_TOLD = 20_000
"""Characters of a reply that are told while it comes: a stream need not have an end."""
COUNTS_WHOLE_ALONE = "navloom_counts_whole_alone"
"""In a model's metadata: its server did not count a reply that it streamed; it is not asked to
stream any more."""
_ENDS = ("finish_reason", "stop_reason", "status")
_WIRES = ("openai", "anthropic")
"""Protocols whose streams say why they end, as LangChain's clients name them in a reply."""


class Pieces(BaseCallbackHandler):
    """Listens to one attempt.

    Attributes:
        came: whether a piece has come, which is to say that the reply is streamed.
    """

    run_inline = True

    def __init__(self) -> None:
        self.came = False
        self._calls: dict[Any, str] = {}

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        """Nothing is made of what is asked."""

    def on_llm_new_token(self, *_: Any, chunk: Any = None, **__: Any) -> None:
        """A piece has come."""
        self.came = True
        for call in getattr(getattr(chunk, "message", None), "tool_call_chunks", ()):
            key = call.get("index")
            key = (len(self._calls),) if key is None else key
            self._calls[key] = self._calls.get(key, "") + (call.get("args") or "")

    def whole(self, reply: AIMessage) -> AIMessage:
        """The reply, its tool calls read as strictly as those of one that comes at once."""
        good, bad = list[ToolCall](), list(reply.invalid_tool_calls)
        made = iter(reply.tool_calls)
        for text in self._calls.values():
            if not _is_object(text, parse_partial_json):
                continue
            call = next(made, None)
            if call is None:
                return reply
            if _is_object(text, json.loads):
                good.append(call)
            else:
                bad.append(invalid_tool_call(name=call["name"], args=text, id=call["id"]))
        return reply.model_copy(update={"tool_calls": [*good, *made], "invalid_tool_calls": bad})

    def is_cut(self, reply: Any, *, streaming: bool) -> bool:
        """Whether a reply that came in pieces has no end: who closes a stream politely leaves half.

        Args:
            reply: the message.
            streaming: whether the model streams all that it says.
        """
        told: Mapping[str, Any] = getattr(reply, "response_metadata", None) or {}
        streamed = streaming or (self.came and told.get("model_provider") in _WIRES)
        return streamed and not any(told.get(key) for key in _ENDS)


class Words(Pieces, _StreamingCallbackHandler[Any]):
    """Listens, and has the reply streamed where the model can.

    Args:
        tell: told all that was written so far, whenever there is more.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell, self._text = tell, ""

    def on_llm_new_token(self, *_: Any, chunk: Any = None, **__: Any) -> None:
        """A piece has come: tell it, if there are words in it."""
        super().on_llm_new_token(*_, chunk=chunk, **__)
        words = str(getattr(getattr(chunk, "message", None), "text", ""))
        if words and len(self._text) < MOST_TOLD:
            self._text = (self._text + words)[:MOST_TOLD]
            with suppress(Exception):
                self._tell(self._text)

    def tap_output_aiter(
        self,
        run_id: UUID,  # noqa: ARG002
        output: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Nothing is done to other things that stream."""
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:  # noqa: ARG002
        """Nothing is done to other things that stream."""
        return output


def _is_object(text: str, read: Callable[[str], Any]) -> bool:
    """Whether a call's arguments are an object; none at all are an empty one."""
    try:
        return not text or isinstance(read(text), dict)
    except ValueError:
        return False
