"""Seeded plan of faults that does not depend on the order of calls.

A plan by call numbers would give faults to other samples as soon as two calls change places. Here a
fault belongs to a conversation, identified by the ``Random seed:`` line of its opening, and to one
of its turns. The seed alone determines which samples meet a fault, and where.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

from navloom.testing.faults import Fault
from navloom.testing.wire_protocols import WireCall

Maker: TypeAlias = Callable[[random.Random, str], Fault]
"""Function that draws a fault, from a random generator and the name of the protocol."""

_SEED = re.compile(r"Random seed:[ \t]*(-?\d{1,20})")
_FIRST_TURNS = 2
"""A fault occurs in one of the first so many turns, which every errand has."""


@dataclass(frozen=True)
class Fate:
    """Planned fault of a conversation.

    Attributes:
        turn: turn of the fault: number of model replies before it.
        for_good: True if every call from that turn on fails; else as many as the plan says.
    """

    turn: int
    for_good: bool


class ConversationPlan:
    """Plan that gives a share of the conversations a fault, some of them a permanent one."""

    def __init__(
        self, make: Maker, *, share: float, for_good: float, times: int = 1, seed: int = 0
    ) -> None:
        """Create the plan.

        Args:
            make: draws the fault of a call.
            share: share of the conversations with a fault, 0 to 1.
            for_good: share of these with a permanent fault, 0 to 1.
            times: number of failing calls in a row if the fault is not permanent.
            seed: the same seed gives the same conversations the same faults.
        """
        self._make, self._times, self._seed = make, times, seed
        self._share, self._for_good = share, for_good
        self._lock = threading.Lock()
        self.met: Counter[tuple[str, int]] = Counter()
        """Calls that met a fault, by conversation and turn."""

    def fate(self, name: str) -> Fate | None:
        """Return the fault of the conversation of this name, or None."""
        dice = random.Random(f"{self._seed}:{name}")
        if dice.random() >= self._share:
            return None
        return Fate(dice.randrange(_FIRST_TURNS), dice.random() < self._for_good)

    def meet(self, call: WireCall) -> Fault | None:
        """Return the fault of a call, or None."""
        name, turn = conversation(call.body)
        fate = self.fate(name)
        if fate is None or turn < fate.turn:
            return None
        with self._lock:
            before = self.met[name, turn]
            if not fate.for_good and (turn > fate.turn or before >= self._times):
                return None
            self.met[name, turn] += 1
        dice = random.Random(f"{self._seed}:{name}:{turn}:{before}")
        return self._make(dice, call.wire.name)


def conversation(body: dict[str, Any]) -> tuple[str, int]:
    """Return the conversation that a request continues, and its number of model replies.

    Returns:
        Its name (the number in the ``Random seed:`` line of its first human message, or a digest
        of that message if there is no such line) and the turn, from 0.
    """
    turns = body.get("messages", [])
    first = next((turn["content"] for turn in turns if turn["role"] == "user"), "")
    text = first if isinstance(first, str) else json.dumps(first)
    found = _SEED.search(text)
    name = found.group(1) if found else blake2b(text.encode(), digest_size=8).hexdigest()
    return name, sum(turn["role"] == "assistant" for turn in turns)
