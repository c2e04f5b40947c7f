"""What a proven mend can do without: changes left out, and cheaper ones in place of dear ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Scene
from navloom_worlds.mend.changes import (
    Change,
    levelling,
    merged,
    opening,
    rebuilt,
    sliding,
    widening,
)
from navloom_worlds.mend.costs import Costs
from navloom_worlds.mend.route_drive import Drive, drive

WIDER = 0.05
"""Metres between the widths that are tried for a doorway."""
_MOST_PRUNED = 14
_EPS = 1e-6
_Kept = tuple[tuple[Change, ...], Drive]


@dataclass
class Cheaper:
    """Makes a mend that is proven cheaper, and proves it anew each time.

    Attributes:
        scene: the home as it is.
        body: whose.
        ends: the regions that it goes between.
        costs: prices.
        tried: homes that were changed and driven through.
    """

    scene: Scene
    body: Embodiment
    ends: tuple[str, str]
    costs: Costs
    tried: int = 0

    def made(self, changes: tuple[Change, ...], after: Drive) -> _Kept:
        """Changes that are enough, and the drive that proves it.

        Args:
            changes: after which the body arrives.
            after: how it did.
        """
        changes, after = self._pruned(changes, after)
        for change in sorted(changes, key=lambda each: -each.cost):
            if change.link is not None:
                changes, after = self._instead(changes, after, change, change.link)
        return changes, after

    def _drive(self, changes: Sequence[Change]) -> Drive | None:
        self.tried += 1
        try:
            found = drive(rebuilt(self.scene, changes), self.body, *self.ends)
        except SceneError:
            return None
        return found if found.arrived else None

    def _pruned(self, changes: tuple[Change, ...], after: Drive) -> _Kept:
        """The changes without those that need not be made: by halves, the dearest first."""
        waiting = [sorted(changes, key=lambda each: -each.cost)]
        while waiting and self.tried < _MOST_PRUNED:
            part = waiting.pop(0)
            fewer = tuple(each for each in changes if each not in part)
            found = self._drive(fewer) if fewer else None
            if found is not None:
                changes, after = fewer, found
            elif len(part) > 1:
                half = (len(part) + 1) // 2
                waiting += [part[:half], part[half:]]
        return changes, after

    def _instead(
        self, changes: tuple[Change, ...], after: Drive, change: Change, link: int
    ) -> _Kept:
        """The changes with the cheapest in place of one that is made to a link."""
        rest = tuple(each for each in changes if each is not change)
        for other in self._others(link):
            if other.cost < change.cost and other.what not in {each.what for each in rest}:
                found = self._drive((*rest, other))
                if found is not None:
                    return merged((*rest, other)), found
        if change.width is None:
            return changes, after
        widths = self._widths(link, change.width)
        low, high = 0, len(widths)
        while low < high:
            middle = (low + high) // 2
            slim = widening(self.scene, link, widths[middle], self.costs)
            found = self._drive((*rest, slim))
            if found is None:
                low = middle + 1
            else:
                high, changes, after = middle, merged((*rest, slim)), found
        return changes, after

    def _others(self, link: int) -> list[Change]:
        """All else that could be done to a link, the cheapest first."""
        here = self.scene.links[link]
        found = []
        if here.door not in (None, "open"):
            found.append(opening(self.scene, link, self.costs))
        if here.threshold:
            found.append(levelling(self.scene, link, self.costs))
        if here.leaf not in (None, "sliding"):
            found.append(sliding(self.scene, link, self.costs))
        return sorted(found, key=lambda each: each.cost)

    def _widths(self, link: int, most: float) -> list[float]:
        """Widths of a doorway that are narrower than one, and no narrower than the body."""
        now = self.scene.links[link].width or 0.0
        widths = np.arange(now + WIDER, most - _EPS, WIDER)
        return [float(each) for each in widths if each > self.body.width - _EPS]
