"""A seeded plan of faults that does not depend on the order in which calls arrive.

A plan by the number of a call gives another run's faults to other samples as soon as two calls
change places. Here a fault belongs to a conversation, known by the ``Random seed:`` line of its
opening, and to one of its turns: which samples meet a fault, and where, follows from the seed.
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
"""Draws a fault, given dice and the name of the protocol."""

_SEED = re.compile(r"Random seed:[ \t]*(-?\d{1,20})")
_FIRST_TURNS = 2
"""A fault comes at one of the first so many turns: every errand takes as many."""


@dataclass(frozen=True)
class Fate:
    """What a conversation meets.

    Attributes:
        turn: the turn at which it meets the fault: replies of the model before it.
        for_good: every call from that turn on meets it; else as many as the plan says.
    """

    turn: int
    for_good: bool


class ConversationPlan:
    """Gives a share of the conversations a fault, and some of these for good."""

    def __init__(
        self, make: Maker, *, share: float, for_good: float, times: int = 1, seed: int = 0
    ) -> None:
        """Write the plan.

        Args:
            make: draws the fault that a call meets.
            share: how many of the conversations meet it at all, 0 to 1.
            for_good: how many of these meet it for good, 0 to 1.
            times: calls in a row that meet it where it is not for good.
            seed: the same seed gives the same conversations the same faults.
        """
        self._make, self._times, self._seed = make, times, seed
        self._share, self._for_good = share, for_good
        self._lock = threading.Lock()
        self.met: Counter[tuple[str, int]] = Counter()
        """Calls that met a fault, by conversation and turn."""

    def fate(self, name: str) -> Fate | None:
        """What the conversation of this name meets, or None."""
        dice = random.Random(f"{self._seed}:{name}")
        if dice.random() >= self._share:
            return None
        return Fate(dice.randrange(_FIRST_TURNS), dice.random() < self._for_good)

    def meet(self, call: WireCall) -> Fault | None:
        """The fault that a call meets."""
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
    """Which conversation a request goes on with, and how often the model has spoken in it.

    Returns:
        Its name (the number in the ``Random seed:`` line of its first human message, or a digest
        of that message where there is no such line) and the turn, from 0.
    """
    turns = body.get("messages", [])
    first = next((turn["content"] for turn in turns if turn["role"] == "user"), "")
    text = first if isinstance(first, str) else json.dumps(first)
    found = _SEED.search(text)
    name = found.group(1) if found else blake2b(text.encode(), digest_size=8).hexdigest()
    return name, sum(turn["role"] == "assistant" for turn in turns)
