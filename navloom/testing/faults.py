"""Ways for the loopback server to misbehave, one class each.

A fault may act at five moments: before the request is answered (`before`), on the message that is
to be said (`message`), on the JSON of a whole reply (`reply`) and its bytes (`body`), and while
bytes are sent (`pieces`). The plan of a server says which fault, if any, each call meets.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from langchain_core.messages import AIMessage

from navloom.testing.wire import Call, Wire

HUGE = 300_000
"""Characters of a huge argument: more than anything in Navloom reads."""


class HungUpError(Exception):
    """The server closes the connection before the reply is whole."""


class Exchange(Protocol):
    """One request and its reply, as far as a fault may act on them.

    Attributes:
        wire: the protocol that is spoken.
        content_type: what the reply claims to be.
    """

    wire: Wire
    content_type: str

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a whole reply."""

    def send_json(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Send a whole JSON reply."""

    def drop(self) -> None:
        """Close the connection without a word."""

    def wait(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""

    def outage(self, seconds: float) -> None:
        """Drop this call and refuse every new connection for some seconds."""


class Fault:
    """One way to misbehave; this one behaves."""

    def before(self, exchange: Exchange) -> bool:  # noqa: ARG002
        """Act before the answer is made; True where the exchange is over with that."""
        return False

    def message(self, message: AIMessage) -> AIMessage:
        """Change what is said."""
        return message

    def reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Change the JSON of a reply that is not streamed."""
        return reply

    def body(self, body: bytes) -> bytes:
        """Change the bytes of a reply that is not streamed."""
        return body

    def pieces(self, exchange: Exchange, pieces: Sequence[bytes]) -> Iterator[bytes]:  # noqa: ARG002
        """Send a reply piece by piece: the events of a stream, or the halves of a whole reply.

        Raises:
            HungUpError: to close the connection at this place.
        """
        yield from pieces


@dataclass(frozen=True)
class Status(Fault):
    """An HTTP error.

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
        """Answer with the error, in the form of the protocol that was spoken."""
        headers = dict(self.headers)
        if self.retry_after is not None:
            headers["Retry-After"] = f"{self.retry_after}"
        exchange.send_json(self.status, exchange.wire.error(self.text, self.code), headers)
        return True


@dataclass(frozen=True)
class Delay(Fault):
    """A wait of some seconds before the answer."""

    seconds: float

    def before(self, exchange: Exchange) -> bool:  # noqa: ARG002
        """Wait, then let the answer be made."""
        time.sleep(self.seconds)
        return False


class Drop(Fault):
    """The connection is closed without a word."""

    def before(self, exchange: Exchange) -> bool:
        """Close the connection."""
        exchange.drop()
        return True


@dataclass(frozen=True)
class Silence(Fault):
    """No answer for some seconds, then none at all: what a client's read time-out is for."""

    seconds: float

    def before(self, exchange: Exchange) -> bool:
        """Wait, then close the connection."""
        exchange.wait(self.seconds)
        exchange.drop()
        return True


@dataclass(frozen=True)
class Outage(Fault):
    """The server goes away with this call: for some seconds every new connection is refused."""

    seconds: float

    def before(self, exchange: Exchange) -> bool:
        """Stop listening, drop this call, listen again after a while."""
        exchange.outage(self.seconds)
        return True


@dataclass(frozen=True)
class Cut(Fault):
    """The reply ends in the middle.

    Attributes:
        politely: a stream is closed as if that had been all of it, as some proxies do.
        after: so many pieces are sent; None: half of them.
    """

    politely: bool = False
    after: int | None = None

    def pieces(self, exchange: Exchange, pieces: Sequence[bytes]) -> Iterator[bytes]:  # noqa: ARG002
        """Send the first pieces and hang up."""
        half = max(1, len(pieces) // 2)
        yield from pieces[: half if self.after is None else self.after]
        if not self.politely:
            raise HungUpError


@dataclass(frozen=True)
class Stall(Fault):
    """The reply stops in the middle for some seconds, and never goes on."""

    seconds: float

    def pieces(self, exchange: Exchange, pieces: Sequence[bytes]) -> Iterator[bytes]:
        """Send the first half, wait, hang up."""
        yield from pieces[: max(1, len(pieces) // 2)]
        exchange.wait(self.seconds)
        raise HungUpError


class Empty(Fault):
    """A reply without choices; in Anthropic's protocol, without content."""

    def reply(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Take out what was said."""
        return {**reply, ("choices" if "choices" in reply else "content"): []}


@dataclass(frozen=True)
class UnknownTool(Fault):
    """The model calls a tool that it was not offered."""

    name: str = "teleport"

    def message(self, message: AIMessage) -> AIMessage:
        """Put the call in the place of what was said."""
        call = {"name": self.name, "args": {"to": "Kitchen_1"}, "id": "call_unknown"}
        return message.model_copy(update={"content": "", "tool_calls": [call]})


@dataclass(frozen=True)
class BadArguments(Fault):
    """Tool calls with arguments that mean nothing; an answer in JSON is spoiled likewise.

    Attributes:
        how: "broken" (JSON that is cut off), "wrong" (other keys and types) or "huge".
    """

    how: str = "broken"

    def message(self, message: AIMessage) -> AIMessage:
        """Spoil what was said."""
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


class Filtered(Fault):
    """The model stops for a content filter: a whole reply that says nothing."""

    def message(self, message: AIMessage) -> AIMessage:
        """Say nothing, and why."""
        stop = {"finish_reason": "content_filter", "stop_reason": "refusal"}
        return message.model_copy(
            update={"content": "", "tool_calls": [], "response_metadata": stop}
        )


@dataclass(frozen=True)
class Garble(Fault):
    """A reply that cannot be read.

    Attributes:
        raw: the bytes to send in place of the reply; None sends its first half.
        content_type: what the reply claims to be.
    """

    raw: bytes | None = None
    content_type: str = "application/json"

    def before(self, exchange: Exchange) -> bool:
        """Set the content type; where the bytes are given, send them."""
        exchange.content_type = self.content_type
        if self.raw is None:
            return False
        exchange.send(200, self.raw, {})
        return True

    def body(self, body: bytes) -> bytes:
        """Cut the reply in half."""
        return body[: len(body) // 2]


Plan: TypeAlias = Callable[[int], Fault | None]
"""Says which fault a call meets, by its number from 0; safe to ask from several threads."""


class CallPlan(Protocol):
    """Says which fault a call meets by what is in the call; safe to ask from several threads."""

    def meet(self, call: Call) -> Fault | None:
        """The fault that a call meets."""


def plan_of(faults: Plan | Sequence[Fault | None]) -> Plan:
    """A plan, of a list of faults for the first calls or a plan as it is."""
    if callable(faults):
        return faults
    listed = tuple(faults)
    return lambda number: listed[number] if number < len(listed) else None


def seeded_plan(faults: Sequence[Fault], *, share: float, seed: int = 0) -> Plan:
    """A plan in which each call meets one of the faults with some probability.

    Args:
        faults: the faults to draw from.
        share: how many of the calls meet one, 0 to 1.
        seed: the same seed gives the same fault to the same call number.
    """

    def plan(number: int) -> Fault | None:
        draw = random.Random(json.dumps([seed, number]))
        return draw.choice(list(faults)) if draw.random() < share else None

    return plan
