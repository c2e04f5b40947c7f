"""What an attack is: many tries at one promise, each of which holds or got through."""

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
"""From an empty folder, dice and a number of tries, one outcome a try: None where the promise held,
else one line that says what got through."""


@dataclass(frozen=True)
class Attack:
    """A way in, and how it is tried.

    Attributes:
        name: of the row.
        promise: what must hold, in a few words.
        tries: see `Tries`. Where the ways are a list, all of them are tried, however many were
            asked for.
        whole: tries in ``python -m tests.attack``.
        share: tries in ``make test-slow``; 0 where what is promised is a time: that says how busy
            a machine is.
    """

    name: str
    promise: str
    tries: Tries
    whole: int
    share: int


@dataclass(frozen=True)
class Row:
    """What came of an attack.

    Attributes:
        attack: which.
        tried: how many tries there were.
        through: what got through, a line each.
        seconds: by the clock.
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
        """The first of what got through, for whoever mends it."""
        shown = [f"    {line[:_MOST_LINE]}" for line in self.through[:_MOST_SHOWN]]
        return "\n".join(shown)


def carry_out(attack: Attack, tries: int, seed: int) -> Row:
    """Try an attack so many times in a folder of its own, with dice of its own."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        # A text seeds the same dice in every process; a tuple or a hash would not.
        dice = random.Random(f"{seed}:{attack.name}")
        outcomes = list(attack.tries(Path(folder), dice, tries))
    through = tuple(outcome for outcome in outcomes if outcome is not None)
    return Row(attack, len(outcomes), through, time.monotonic() - began)
