"""Draws that are the same on every machine and in every version of Python.

Only ``random.Random.random`` is used, whose bits are promised to stay; what is made of them is
arithmetic on integers and on exact fractions, never a transcendental function.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import fsum
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A named stream of draws.

    Args:
        *names: what the draws are for; other names, other draws. The same names always give the
            same draws, whatever else was drawn.
    """

    def __init__(self, *names: str | int) -> None:
        self._names = names
        digest = sha256("/".join(str(name) for name in names).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))

    def split(self, *names: str | int) -> Dice:
        """A stream of its own: what is drawn from it moves nothing here."""
        return Dice(*self._names, *names)

    def unit(self) -> float:
        """From 0 up to 1, without 1."""
        return self._random.random()

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def between(self, low: float, high: float) -> float:
        """A number from ``low`` up to ``high``."""
        return low + (high - low) * self._random.random()

    def chance(self, share: float) -> bool:
        """Whether it happens, in this share of draws."""
        return self._random.random() < share

    def pick(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.whole(0, len(choices) - 1)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, each as often as its weight says; of weights that are all 0, any."""
        total = fsum(weights.values())
        if total <= 0:
            return self.pick(list(weights))
        left = self._random.random() * total
        for each, weight in weights.items():
            left -= weight
            if left < 0:
                return each
        return [each for each, weight in weights.items() if weight > 0][-1]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """All of them, in another order."""
        left = list(things)
        for i in range(len(left) - 1, 0, -1):
            j = self.whole(0, i)
            left[i], left[j] = left[j], left[i]
        return left
