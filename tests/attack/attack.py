"""Definition of an attack: many tries at one promise, each of which holds or gets through."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_MOST_SHOWN = 5
_MOST_LINE = 300

Tries = Callable[[Path, random.Random, int], Iterator[str | None]]
"""Function from an empty folder, a random generator and a number of tries to one outcome per try:
None if the promise held, else one line that says what got through."""


@dataclass(frozen=True)
class Attack:
    """One attack, and its numbers of tries.

    Attributes:
        name: name of the row.
        promise: what must hold, in a few words.
        tries: see `Tries`. If the cases are a fixed list, all of them may be tried, whatever number
            was asked for.
        whole: number of tries in ``python -m tests.attack``.
        share: number of tries in ``make test-slow``; 0 if the promise is a time, which depends on
            the load of the machine.
    """

    name: str
    promise: str
    tries: Tries
    whole: int
    share: int


@dataclass(frozen=True)
class Row:
    """Result of an attack.

    Attributes:
        attack: the attack.
        tried: number of tries.
        through: what got through, one line each.
        seconds: wall time.
    """

    attack: Attack
    tried: int
    through: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        found = f"{len(self.through)} THROUGH" if self.through else "all held"
        about = f"{self.attack.name}: {self.attack.promise}"
        return f"{about:<88} {self.tried:>6} {self.seconds:>6.0f} s  {found}"

    @property
    def said(self) -> str:
        """First findings, for debugging."""
        shown = [f"    {line[:_MOST_LINE]}" for line in self.through[:_MOST_SHOWN]]
        return "\n".join(shown)


def carry_out(attack: Attack, tries: int, seed: int) -> Row:
    """Carry out an attack in its own folder with its own random generator."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        # A text seeds the same dice in every process; a tuple or a hash would not.
        dice = random.Random(f"{seed}:{attack.name}")
        outcomes = list(attack.tries(Path(folder), dice, tries))
    through = tuple(outcome for outcome in outcomes if outcome is not None)
    return Row(attack, len(outcomes), through, time.monotonic() - began)
