"""Ways for the loopback server to misbehave, one class each.

A fault may act at three moments: before the request is answered (`before`), on the message that is
to be said (`message`), on the bytes of a whole reply (`body`). The plan of a server says which
fault, if any, each call meets.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from langchain_core.messages import AIMessage

if TYPE_CHECKING:
    from navloom.testing.server import Exchange

__all__ = ["Delay", "Drop", "Fault", "Garble", "Plan", "Status", "plan_of", "seeded_plan"]


class Fault:
    """One way to misbehave; this one behaves."""

    def before(self, exchange: Exchange) -> bool:  # noqa: ARG002
        """Act before the answer is made; True where the exchange is over with that."""
        return False

    def message(self, message: AIMessage) -> AIMessage:
        """Change what is said."""
        return message

    def body(self, body: bytes) -> bytes:
        """Change the bytes of a reply that is not streamed."""
        return body


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
