"""The sixteen kinds of fault that a run must survive, by number and name.

The right status of an affected sample depends on the fault. A fault of the server is retried. If it
stays, the sample is an ``error``, which says nothing about the agent. A bad or empty reply of the
model is for the agent to handle. If it cannot, the sample is ``failed``.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from navloom.errors import UsageError, did_you_mean
from navloom.testing.faults import (
    BadArguments,
    ContentFiltered,
    Cut,
    Empty,
    Fault,
    Garble,
    Outage,
    Silence,
    Stall,
    Status,
    UnknownTool,
)
from tests.testing.fault_plan import Maker

_SILENT_S = 120.0
"""Longer than the timeout of any client; a server that stops does not wait for it."""
_OUTAGE_S = 0.1


@dataclass(frozen=True)
class Kind:
    """One kind of fault.

    Attributes:
        number: 1 to 16.
        name: short name.
        about: behaviour of the server.
        make: draws one.
        whose: the side at fault, "server" or "model".
        times: number of failing calls in a row, unless permanent.
        streamed: True if replies are streamed in its tests.
        silent: True if only a client's own timeout ends it.
    """

    number: int
    name: str
    about: str
    make: Maker
    whose: Literal["server", "model"] = "server"
    times: int = 1
    streamed: bool = False
    silent: bool = False

    def blames(self, wire: str) -> str:
        """Return the side at fault in a protocol; Anthropic allows empty content in a reply."""
        return "model" if self.number == 12 and wire == "anthropic" else self.whose

    def for_good(self, wire: str) -> Literal["error", "failed"]:
        """Return the right status of a sample with this fault permanently."""
        return "error" if self.blames(wire) == "server" else "failed"


def _wait_told(dice: Random, _: str) -> Fault:
    return Status(429, retry_after=round(dice.uniform(0.05, 0.2), 3))


def _rate(_: Random, __: str) -> Fault:
    return Status(429)


def _gateway(dice: Random, _: str) -> Fault:
    return Status(dice.choice((502, 503)))


def _malformed(dice: Random, _: str) -> Fault:
    return Garble(dice.choice((None, b"", b'{"choices": [', b"null", b"[]")))


def _odd_bytes(dice: Random, _: str) -> Fault:
    page = Garble(b"<html><body>Bad gateway</body></html>", content_type="text/html")
    latin = Garble(b'{"id": "caf\xe9", "choices": [\xff\xfe]}')
    return dice.choice((page, latin))


def _bad_arguments(dice: Random, wire: str) -> Fault:
    # Anthropic sends arguments as JSON, not as a text that may be none.
    broken = ("broken",) if wire == "openai" else ()
    return BadArguments(dice.choice((*broken, "wrong", "huge")))


KINDS: tuple[Kind, ...] = (
    Kind(1, "429-retry-after", "429, asks to wait", _wait_told),
    Kind(2, "429", "429, asks nothing", _rate),
    Kind(3, "429-burst", "429 three times running", _rate, times=3),
    Kind(4, "500", "500", lambda *_: Status(500)),
    Kind(5, "502-503", "502 or 503", _gateway),
    Kind(6, "529", "529, overloaded", lambda *_: Status(529)),
    Kind(7, "refused", "restarts; connections are refused", lambda *_: Outage(_OUTAGE_S)),
    Kind(8, "silent", "no answer in time", lambda *_: Silence(_SILENT_S), silent=True),
    Kind(
        9, "stall", "stalls in mid-stream", lambda *_: Stall(_SILENT_S), streamed=True, silent=True
    ),
    Kind(
        10,
        "cut",
        "hangs up in mid-stream",
        lambda dice, _: Cut(politely=dice.random() < 0.5),
        streamed=True,
    ),
    Kind(11, "malformed", "JSON that is none", _malformed),
    Kind(12, "empty", "no choices", lambda *_: Empty()),
    Kind(13, "odd-bytes", "HTML, or bytes that are not UTF-8", _odd_bytes),
    Kind(14, "unknown-tool", "calls a tool there is not", lambda *_: UnknownTool(), "model"),
    Kind(15, "bad-arguments", "broken, wrong or huge arguments", _bad_arguments, "model"),
    Kind(16, "filtered", "stops for a content filter", lambda *_: ContentFiltered(), "model"),
)
"""The sixteen kinds, in order."""


def kind_of(name: str) -> Kind:
    """Return the kind of this number or name.

    Raises:
        UsageError: there is none.
    """
    known = {key: kind for kind in KINDS for key in (str(kind.number), kind.name)}
    # "429" is the name of a kind, and numbers end at 16.
    if name not in known:
        raise UsageError(
            f"no fault is called {name!r}.{did_you_mean(name, known)} Give 1 to {len(KINDS)}, "
            "or a name of the table."
        )
    return known[name]
