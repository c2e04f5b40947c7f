"""Deterministic random streams: the same draws on every machine and in every version of Python.

Only ``random.Random.random`` is used, whose bits are guaranteed to stay the same. Everything else
is arithmetic on integers and exact fractions, never a transcendental function.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import fsum
from typing import TypeVar

T = TypeVar("T")


class Rng:
    """Named stream of random draws.

    Args:
        *names: the seed of the stream. The same names always give the same draws, regardless of
            other streams.
    """

    def __init__(self, *names: str | int) -> None:
        self._names = names
        digest = sha256("/".join(str(name) for name in names).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))

    def split(self, *names: str | int) -> Rng:
        """Return an independent stream; draws from the new stream do not affect this stream."""
        return Rng(*self._names, *names)

    def unit(self) -> float:
        """Return a random number from 0 (included) to 1 (excluded)."""
        return self._random.random()

    def whole(self, low: int, high: int) -> int:
        """Return a random integer from ``low`` to ``high``, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def between(self, low: float, high: float) -> float:
        """Return a random number from ``low`` (included) to ``high`` (excluded)."""
        return low + (high - low) * self._random.random()

    def chance(self, share: float) -> bool:
        """Return True with the given probability."""
        return self._random.random() < share

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of the choices, sampled uniformly."""
        return choices[self.whole(0, len(choices) - 1)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Return a key sampled in proportion to its weight; uniformly if all weights are 0."""
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
        """Return the choices in random order."""
        left = list(things)
        for i in range(len(left) - 1, 0, -1):
            j = self.whole(0, i)
            left[i], left[j] = left[j], left[i]
        return left
