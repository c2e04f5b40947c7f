"""Are a task's numbers and instances those of G+ (CoNavBench 3.1.3)? Rates, metres, regrets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from navloom.evals.navcraft.best import best_rates
from navloom.evals.navcraft.claim import Claim, Fault
from navloom.evals.navcraft.ground import MOST_CHOICES, Ground, Spot
from navloom.scenes.scene import Item

__all__ = ["TOLERANCE", "check_rates"]

TOLERANCE = 1e-6
"""How far a recorded number may be from the recomputed one."""


def check_rates(task: Claim) -> Iterator[Fault]:
    """Recompute what is recorded; for a claim whose rooms, things and words are right."""
    things = _instances(task)
    yield from _not_the_least(task, things)
    if task.relay is not None:
        yield from _not_the_best(task, things)
    ground = task.ground
    spots = [ground.start(task.start), *(ground.anchor(item) for item in things)]
    if task.relay is not None:
        spots.append(ground.start(task.helper))
    if not all(spots):
        spots = [stop or [Spot("", math.inf)] for stop in spots]
    # Any of the viewpoints that tie is right, as long as one choice explains all the numbers.
    choices = islice(product(*spots), MOST_CHOICES)
    answers = [list(_wrong_numbers(task, choice)) for choice in choices]
    yield from min(answers, key=len)


def _instances(task: Claim) -> list[Item]:
    """Object, end asset and transfer asset: as recorded, else those that add least to the route."""
    ground = task.ground
    start = ground.start(task.start)
    pairs = list(
        product(
            _candidates(task, "object_id", task.target, "object", task.object),
            _candidates(task, "end_asset_id", task.end, "asset", task.end_asset),
        )
    )
    thing, asset = min(
        pairs, key=lambda pair: min(ground.routes(start, *(ground.anchor(item) for item in pair)))
    )
    if task.relay is None:
        return [thing, asset]
    found = _candidates(task, "transfer_asset_id", task.handoff, "asset", task.transfer_asset)
    usable = [item for item in found if ground.usable(item)] or found
    return [thing, asset, min(usable, key=lambda item: min(_carried(ground, thing, item, asset)))]


def _candidates(task: Claim, key: str, region: str, kind: Any, name: str | None) -> list[Item]:
    if key in task.rest:
        return [task.ground.items[task.rest[key]]]
    return task.ground.named(region, kind, str(name))


def _carried(ground: Ground, thing: Item, handoff: Item, asset: Item) -> list[float]:
    return ground.routes(ground.anchor(thing), ground.anchor(handoff), ground.anchor(asset))


def _not_the_least(task: Claim, things: list[Item]) -> Iterator[Fault]:
    """Of several instances of a name, the one that adds least to the route is meant.

    Where viewpoints tie, the recorded instance is given the shorter way and the others the longer.
    """
    ground, start = task.ground, task.ground.start(task.start)
    thing, asset = things[:2]
    chosen = min(ground.routes(start, ground.anchor(thing), ground.anchor(asset)))
    best = min(
        max(ground.routes(start, ground.anchor(o), ground.anchor(e)))
        for o in ground.named(task.target, "object", task.object)
        for e in ground.named(task.end, "asset", str(task.end_asset))
    )
    if chosen > best + TOLERANCE:
        said = f"{thing.id!r} and {asset.id!r} make a route of {chosen:.3f} m"
        yield Fault('navloom "object_id"', f"{said}, others of those names one of {best:.3f} m")
    if task.relay is None:
        return
    others = ground.named(task.handoff, "asset", str(task.transfer_asset))
    usable = [item for item in others if ground.usable(item)]
    best = min(max(_carried(ground, thing, item, asset)) for item in usable or others)
    chosen = min(_carried(ground, thing, things[2], asset))
    if not ground.usable(things[2]) or chosen > best + TOLERANCE:
        said = f"by {things[2].id!r} the object is carried {chosen:.3f} m"
        yield Fault('navloom "transfer_asset_id"', f"{said}, by another of that name {best:.3f} m")


def _not_the_best(task: Claim, things: list[Item]) -> Iterator[Fault]:
    """What is recorded as the best over all guarded relays is."""
    for key, (low, high) in best_rates(task, things).items():
        said = task.rest.get(key)
        if said is not None and not low - TOLERANCE <= said <= high + TOLERANCE:
            yield Fault(f'navloom "{key}"', f"{said} is said and the best relay has {low:.6f}")


def _wrong_numbers(task: Claim, spots: tuple[Spot, ...]) -> Iterator[Fault]:
    metres, rest = task.ground.metres, task.rest
    start, thing, asset = spots[:3]
    solo = metres(start, thing) + metres(thing, asset)
    yield from _differs("solo_metres", rest, solo)
    if task.relay is None:
        return
    handoff, helper = spots[3:]
    to_handoff, on = metres(start, handoff), metres(handoff, asset)
    carried_there = metres(thing, handoff)
    by_type = {"Type-A1": to_handoff + on, "Type-A2": metres(start, thing) + carried_there}
    own = by_type.pop(task.kind)
    first, second = (
        (helper, to_handoff) if task.kind == "Type-A1" else (start, metres(helper, handoff))
    )
    both = max(metres(first, thing) + carried_there, second) + on
    if not (0 < solo < math.inf and both < math.inf and metres(helper, thing) < math.inf):
        yield Fault('phase_2 "Transfer region"', "on the navigation graph a robot cannot get there")
        return
    alpha, other = own / solo, by_type.popitem()[1] / solo
    if alpha >= 1:
        yield Fault("phase_2", f"alpha is {alpha:.6f}: the relay spares robot_1 nothing")
    yield from _differs("alpha", rest, alpha)
    yield from _differs("r1_rate", rest, alpha)
    yield from _differs("alpha_other", rest, other)
    yield from _differs("g_rate", rest, both / solo)
    yield from _differs("gain_alpha", rest, 1 - alpha)
    yield from _differs("gain_g", rest, 1 - both / solo)
    yield from _regrets(rest, alpha, both / solo)


def _regrets(rest: dict[str, Any], alpha: float, g_rate: float) -> Iterator[Fault]:
    """Regret is measured from the best that is recorded."""
    best_alpha, best_g = rest.get("best_alpha"), rest.get("best_g_rate")
    if best_alpha is not None and rest.get("regret_alpha") is not None:
        yield from _differs("regret_alpha", rest, alpha - best_alpha)
    if best_g and rest.get("regret_g") is not None:
        # The best is rounded to six decimals, and the quotient magnifies that.
        yield from _differs("regret_g", rest, g_rate / best_g - 1, TOLERANCE * (1 + 2 / best_g))


def _differs(
    key: str, rest: dict[str, Any], right: float, tolerance: float = TOLERANCE
) -> Iterator[Fault]:
    if key not in rest:
        return
    said = rest[key]
    if said is None and math.isinf(right):
        return
    if said is None or not math.isfinite(right) or abs(said - right) > tolerance:
        yield Fault(f'navloom "{key}"', f"{said} is said and {right:.6f} is right")
