"""A scene as the validator sees it: its own search over rooms and over G+, from the loaded file.

Nothing here is shared with what generates tasks: a mistake there cannot hide here. H is searched
breadth first, G by Dijkstra with a heap, both when first asked and kept.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from itertools import islice, pairwise, product
from typing import NamedTuple

from navloom.scenes.scene import Item, ItemKind, Scene, Viewpoint

__all__ = ["MOST_CHOICES", "Ground", "Spot"]

_TIE = 1e-9
"""Metres by which two viewpoints may differ and still be equally near."""
_MOST_TIES = 4
MOST_CHOICES = 256
"""Choices among tying viewpoints that are looked at, at most."""
_SIDE, _LOW, _HIGH = 0.30, 0.25, 1.40
"""A surface things can be put on: its shorter side, and its top's least and greatest height."""


class Spot(NamedTuple):
    """A place on G+: a viewpoint, and the straight metres from it."""

    viewpoint: str
    spur: float


class Ground:
    """One scene's rooms, links, items and walkable ground.

    Args:
        scene: the scene as its loader gives it.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.name = scene.uri
        self.regions = {region.id: region for region in scene.regions}
        self.near: dict[str, set[str]] = {region: set() for region in self.regions}
        for link in scene.links:
            self.near[link.a].add(link.b)
            self.near[link.b].add(link.a)
        self.items = {item.id: item for item in scene.items}
        self._stands: dict[str, list[Viewpoint]] = {region: [] for region in self.regions}
        for viewpoint in scene.viewpoints:
            if viewpoint.region is not None:
                self._stands[viewpoint.region].append(viewpoint)
        self._ways = self._weigh()
        self._hops: dict[str, dict[str, int]] = {}
        self._metres: dict[str, dict[str, float]] = {}
        self._anchors: dict[str, list[Spot]] = {}

    def _weigh(self) -> dict[str, dict[str, float]]:
        at = {viewpoint.id: viewpoint.position for viewpoint in self.scene.viewpoints}
        ways: dict[str, dict[str, float]] = {viewpoint: {} for viewpoint in at}
        for edge in self.scene.edges:
            length = _flat(at[edge.a], at[edge.b])
            ways[edge.a][edge.b] = ways[edge.b][edge.a] = length
        return ways

    def hops(self, a: str, b: str) -> int | None:
        """The fewest links between two regions; None where there is no way."""
        if a not in self._hops:
            found, queue = {a: 0}, deque([a])
            while queue:
                here = queue.popleft()
                for there in self.near[here]:
                    if there not in found:
                        found[there] = found[here] + 1
                        queue.append(there)
            self._hops[a] = found
        return self._hops[a].get(b)

    def metres(self, a: Spot, b: Spot) -> float:
        """The shortest way over G+ on the ground plane; ``inf`` where there is none."""
        return a.spur + self._walk(a.viewpoint).get(b.viewpoint, math.inf) + b.spur

    def _walk(self, source: str) -> dict[str, float]:
        if source not in self._metres:
            done: dict[str, float] = {}
            heap = [(0.0, source)]
            while heap:
                metres, here = heapq.heappop(heap)
                if here in done:
                    continue
                done[here] = metres
                for there, length in self._ways[here].items():
                    if there not in done:
                        heapq.heappush(heap, (metres + length, there))
            self._metres[source] = done
        return self._metres[source]

    def start(self, region: str) -> list[Spot]:
        """Where a robot starts: the viewpoint nearest the region's centre; several where tied."""
        nearest = _nearest(self.regions[region].center, self._stands[region])
        return [Spot(spot.viewpoint, 0.0) for spot in nearest]

    def anchor(self, item: Item) -> list[Spot]:
        """Where an item joins G+: the nearest viewpoint of its region; several where tied.

        In a region without viewpoints it is the nearest viewpoint of the same floor.
        """
        if item.id not in self._anchors:
            self._anchors[item.id] = self._anchored(item)
        return self._anchors[item.id]

    def _anchored(self, item: Item) -> list[Spot]:
        if item.region is None:
            return []
        stands = self._stands[item.region]
        if not stands:
            floor = self.regions[item.region].floor
            stands = [v for r, each in self._stands.items() if self.regions[r].floor == floor
                      for v in each]  # fmt: skip
        return _nearest(item.position, stands)

    def named(self, region: str, kind: ItemKind, name: str) -> list[Item]:
        """The instances of a name in a region, in the scene's order."""
        return [
            item
            for item in self.scene.items
            if item.region == region and item.kind == kind and item.prompt_name == name
        ]

    def usable(self, item: Item) -> bool:
        """Whether one can put things on it, as far as its size is known."""
        if item.size is None:
            return True
        wide, high, deep = item.size
        if min(wide, deep) < _SIDE:
            return False
        if not item.height_known or item.region is None:
            return True
        floor = self.regions[item.region].floor
        bottom = next(f.height for f in self.scene.floors if f.id == floor)
        return _LOW - 1e-6 <= item.position[1] + high / 2 - bottom <= _HIGH + 1e-6

    def routes(self, *stops: list[Spot]) -> list[float]:
        """Metres over all stops in order, for each choice among viewpoints that tie."""
        choices = islice(product(*stops), MOST_CHOICES)
        metres = [sum(self.metres(a, b) for a, b in pairwise(choice)) for choice in choices]
        return metres or [math.inf]


def _nearest(point: tuple[float, float, float], stands: list[Viewpoint]) -> list[Spot]:
    """The nearest viewpoints; two that tie to the last bits are both right."""
    spots = [Spot(v.id, _flat(point, v.position)) for v in stands]
    least = min((spot.spur for spot in spots), default=0.0)
    return [spot for spot in spots if spot.spur <= least + _TIE][:_MOST_TIES]


def _flat(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    return math.hypot(a[0] - b[0], a[2] - b[2])
