"""Faults that the loopback server can inject, one class each.

A fault can act at five moments: before the request is answered (`before`), on the message to send
(`message`), on the JSON of a complete reply (`reply`) and its bytes (`body`), and while bytes are
sent (`pieces`). The plan of a server gives the fault, if any, of each call.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from langchain_core.messages import AIMessage

from navloom.testing.wire_protocols import WireCall, WireProtocol

HUGE = 300_000
"""Length of a huge argument in characters: over every limit in Navloom."""


class HungUpError(Exception):
    """Raised to close the connection before the reply is complete."""


class Exchange(Protocol):
    """One request and its reply, with the actions that a fault can take.

    Attributes:
        wire: the protocol of the request.
        content_type: the content type of the reply.
    """

    wire: WireProtocol
    content_type: str

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a complete reply."""

    def send_json(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Send a complete JSON reply."""

    def drop(self) -> None:
        """Close the connection without a reply."""

    def wait(self, seconds: float) -> None:
        """Wait, but at most until the server stops."""

    def outage(self, seconds: float) -> None:
        """Drop this call and refuse every new connection for some seconds."""


class Fault:
    """Base class of faults, which changes nothing itself."""

    def before(self, exchange: Exchange) -> bool:  # noqa: ARG002
        """Act before the reply is made; return True to end the exchange."""
        return False

    def message(self, message: AIMessage) -> AIMessage:
        """Return the changed message to send."""
        return message

    def reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Return the changed JSON of a reply that is not streamed."""
        return reply

    def body(self, body: bytes) -> bytes:
        """Return the changed bytes of a reply that is not streamed."""
        return body

    def pieces(self, exchange: Exchange, pieces: Sequence[bytes]) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the pieces of a reply: the events of a stream, or the halves of a whole reply.

        Raises:
            HungUpError: to close the connection at this point.
        """
        yield from pieces


@dataclass(frozen=True)
class Status(Fault):
    """An HTTP error status.

    Attributes:
        status: the status code.
        retry_after: the Retry-After header: seconds, or a date as text.
        text: the error's message.
        code: the error's code, such as "insufficient_quota".
        headers: further headers.
    """

    status: int
    retry_after: float | str | None = None
    text: str = "planned fault"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def before(self, exchange: Exchange) -> bool:
        """Reply with the error, in the form of the request's protocol."""
        headers = dict(self.headers)
        if self.retry_after is not None:
            headers["Retry-After"] = f"{self.retry_after}"
        exchange.send_json(self.status, exchange.wire.error(self.text, self.code), headers)
        return True


@dataclass(frozen=True)
class Delay(Fault):
    """A delay of some seconds before the reply."""

    seconds: float

    def before(self, exchange: Exchange) -> bool:  # noqa: ARG002
        """Wait, then let the reply be made."""
        time.sleep(self.seconds)
        return False


class Drop(Fault):
    """The connection is closed without a reply."""

    def before(self, exchange: Exchange) -> bool:
        """Close the connection."""
        exchange.drop()
        return True


@dataclass(frozen=True)
class Silence(Fault):
    """No reply for some seconds, then a closed connection; triggers a client's read timeout."""

    seconds: float

    def before(self, exchange: Exchange) -> bool:
        """Wait, then close the connection."""
        exchange.wait(self.seconds)
        exchange.drop()
        return True


@dataclass(frozen=True)
class Outage(Fault):
    """The server goes down with this call and refuses connections for some seconds."""

    seconds: float

    def before(self, exchange: Exchange) -> bool:
        """Stop listening, drop this call, and listen again after some seconds."""
        exchange.outage(self.seconds)
        return True


@dataclass(frozen=True)
class Cut(Fault):
    """The reply ends in the middle.

    Attributes:
        politely: whether to close a stream as if it were complete, as some proxies do.
        after: the number of pieces to send; None: half of them.
    """

    politely: bool = False
    after: int | None = None

    def pieces(self, exchange: Exchange, pieces: Sequence[bytes]) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the first pieces, then hang up."""
        half = max(1, len(pieces) // 2)
        yield from pieces[: half if self.after is None else self.after]
        if not self.politely:
            raise HungUpError


@dataclass(frozen=True)
class Stall(Fault):
    """The reply stops in the middle for some seconds and is never completed."""

    seconds: float

    def pieces(self, exchange: Exchange, pieces: Sequence[bytes]) -> Iterator[bytes]:
        """Yield the first half, wait, hang up."""
        yield from pieces[: max(1, len(pieces) // 2)]
        exchange.wait(self.seconds)
        raise HungUpError


class Empty(Fault):
    """A reply without choices, or without content in Anthropic's protocol."""

    def reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Remove the choices or the content."""
        return {**reply, ("choices" if "choices" in reply else "content"): []}


@dataclass(frozen=True)
class UnknownTool(Fault):
    """A call of a tool that the model was not offered."""

    name: str = "teleport"

    def message(self, message: AIMessage) -> AIMessage:
        """Replace the message by a call of the unknown tool."""
        call = {"name": self.name, "args": {"to": "Kitchen_1"}, "id": "call_unknown"}
        return message.model_copy(update={"content": "", "tool_calls": [call]})


@dataclass(frozen=True)
class BadArguments(Fault):
    """Tool calls with invalid arguments; a JSON answer is damaged in the same way.

    Attributes:
        how: "broken" (JSON that is cut off), "wrong" (other keys and types) or "huge".
    """

    how: str = "broken"

    def message(self, message: AIMessage) -> AIMessage:
        """Return the message with damaged arguments or text."""
        if not message.tool_calls:
            text = str(message.content)
            said = {"broken": text[: len(text) // 2], "wrong": "[1, 2]", "huge": "x" * HUGE}
            return message.model_copy(update={"content": said[self.how]})
        if self.how == "broken":
            broken = [
                {"name": c["name"], "args": json.dumps(c["args"])[:-9], "id": c["id"], "error": ""}
                for c in message.tool_calls
            ]
            return message.model_copy(update={"tool_calls": [], "invalid_tool_calls": broken})
        args = {"wrong": {"regoin": [None, -1]}, "huge": {"start_region": "x" * HUGE}}[self.how]
        calls = [{**call, "args": args} for call in message.tool_calls]
        return message.model_copy(update={"tool_calls": calls})


class ContentFiltered(Fault):
    """The model stops at a content filter: a complete reply without content."""

    def message(self, message: AIMessage) -> AIMessage:
        """Remove the content and set the stop reason."""
        stop = {"finish_reason": "content_filter", "stop_reason": "refusal"}
        return message.model_copy(
            update={"content": "", "tool_calls": [], "response_metadata": stop}
        )


@dataclass(frozen=True)
class Garble(Fault):
    """A reply that cannot be parsed.

    Attributes:
        raw: the bytes to send in place of the reply; None sends its first half.
        content_type: the content type of the reply.
    """

    raw: bytes | None = None
    content_type: str = "application/json"

    def before(self, exchange: Exchange) -> bool:
        """Set the content type; if raw bytes are given, send them."""
        exchange.content_type = self.content_type
        if self.raw is None:
            return False
        exchange.send(200, self.raw, {})
        return True

    def body(self, body: bytes) -> bytes:
        """Return the first half of the reply."""
        return body[: len(body) // 2]


Plan: TypeAlias = Callable[[int], Fault | None]
"""Returns the fault for a call by its number from 0; must be thread-safe."""


class CallPlan(Protocol):
    """Chooses the fault of a call by its content; must be thread-safe."""

    def meet(self, call: WireCall) -> Fault | None:
        """Return the fault for a call, or None."""


def make_plan(faults: Plan | Sequence[Fault | None]) -> Plan:
    """Make a plan from a list of faults for the first calls; return a plan unchanged."""
    if callable(faults):
        return faults
    listed = tuple(faults)
    return lambda number: listed[number] if number < len(listed) else None


def seeded_plan(faults: Sequence[Fault], *, share: float, seed: int = 0) -> Plan:
    """Make a plan in which each call gets one of the faults with some probability.

    Args:
        faults: the faults to draw from.
        share: the probability of a fault, 0 to 1.
        seed: the same seed gives the same fault for the same call number.
    """

    def plan(number: int) -> Fault | None:
        draw = random.Random(json.dumps([seed, number]))
        return draw.choice(list(faults)) if draw.random() < share else None

    return plan
