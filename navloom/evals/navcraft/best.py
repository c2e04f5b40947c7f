"""The best relay a task could have, searched anew: what a recorded optimum is held against.

Every guarded helper start, transfer asset and type is looked at (docs/tools.md has the guards).
Where viewpoints tie, the best is known between two bounds only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from navloom.evals.navcraft.claim import Claim
from navloom.evals.navcraft.ground import Spot
from navloom.scenes.scene import Item

__all__ = ["Bounds", "best_rates"]

Bounds = tuple[float, float]
"""(least, greatest) that a value may be."""
Pick = Callable[[Iterable[float]], float]


class _Best(NamedTuple):
    own: float
    """Metres of robot_1."""
    both: float
    """Metres until the object is there, at equal speed."""


def best_rates(task: Claim, things: list[Item]) -> dict[str, Bounds]:
    """The least alpha and the least g_rate over all guarded relays, each by itself.

    Args:
        task: a claim whose rooms, things and words are right.
        things: its object and its end asset, and what else was recorded.

    Returns:
        Bounds of ``best_alpha`` and ``best_g_rate``; infinite where no relay keeps the guards.
    """
    ground = task.ground
    start, thing, asset = ground.start(task.start), *map(ground.anchor, things[:2])
    solo = ground.routes(start, thing, asset)
    low, high = _search(task, things, min), _search(task, things, max)
    return {
        "best_alpha": (low.own / max(solo), high.own / min(solo)),
        "best_g_rate": (low.both / max(solo), high.both / min(solo)),
    }


def _search(task: Claim, things: list[Item], pick: Pick) -> _Best:
    ground = task.ground

    def way(a: list[Spot], b: list[Spot]) -> float:
        return pick([ground.metres(p, q) for p in a for q in b] or [math.inf])

    start, thing, asset = ground.start(task.start), *map(ground.anchor, things[:2])
    to_thing = way(start, thing)
    helpers = {
        region: (spots, way(spots, thing)) for region, spots in _helpers(task) if spots and thing
    }
    own = both = math.inf
    for region, handoff in _handoffs(task, things):
        come, carried, on = way(start, handoff), way(thing, handoff), way(handoff, asset)
        near = ground.near[region] if task.strict else frozenset[str]()
        met = [(way(spots, handoff), to) for h, (spots, to) in helpers.items() if h not in near]
        met = [(there, to) for there, to in met if max(there, to) < math.inf]
        if not met or come == math.inf:
            continue
        fetch_1, fetch_2 = to_thing + carried, min(to for _, to in met) + carried
        own = min(own, come + on, fetch_1)
        both = min(both, max(fetch_2, come) + on, max(fetch_1, min(t for t, _ in met)) + on)
    return _Best(own, both)


def _helpers(task: Claim) -> Iterator[tuple[str, list[Spot]]]:
    ground = task.ground
    barred = {task.start, *ground.near[task.start]}
    if task.strict:
        barred |= ground.near[task.target]
    for region in ground.regions:
        if region not in barred and ground.hops(region, task.target) is not None:
            yield region, ground.start(region)


def _handoffs(task: Claim, things: list[Item]) -> Iterator[tuple[str, list[Spot]]]:
    """Each region and name of an asset that may take the object, as the instance meant."""
    ground = task.ground
    thing, asset = map(ground.anchor, things[:2])
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in ground.scene.items:
        if item.kind == "asset" and item.region is not None and ground.usable(item):
            groups.setdefault((item.region, item.prompt_name), []).append(item)
    for (region, name), items in groups.items():
        if region == task.target or (region, name) == (task.end, task.end_asset):
            continue
        if ground.hops(task.start, region) is not None:
            anchors = map(ground.anchor, items)
            yield region, min(anchors, key=lambda x: min(ground.routes(thing, x, asset)))
