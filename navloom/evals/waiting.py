"""Samples that wait for their turn, scene by scene."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from navloom.evals.session import Sample


class Waiting:
    """Hands out samples so that each place has few scenes in memory.

    A place keeps to its scene while that has samples, then takes one that nobody has begun; where
    all have been begun, it helps with the one that has most left.

    Args:
        samples: all that wait; those of a scene are handed out in this order.
        places: how many take them.
    """

    def __init__(self, samples: Sequence[Sample], places: int = 1) -> None:
        self._left: dict[str, deque[Sample]] = {}
        for sample in samples:
            self._left.setdefault(sample.scene, deque()).append(sample)
        self._fresh = deque(self._left)
        self._scene: list[str | None] = [None] * places

    def take(self, place: int) -> Sample | None:
        """The next sample for a place; None where none is left."""
        scene = self._scene[place]
        if scene not in self._left:
            while self._fresh and self._fresh[0] not in self._left:
                self._fresh.popleft()
            if not self._left:
                return None
            most = max(self._left, key=lambda each: len(self._left[each]))
            scene = self._scene[place] = self._fresh.popleft() if self._fresh else most
        sample = self._left[scene].popleft()
        if not self._left[scene]:
            del self._left[scene]
        return sample
