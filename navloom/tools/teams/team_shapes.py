"""Shapes of plans: who carries what, and in which order each robot does its legs.

Each errand has one handoff at most; where it is a shape leaves open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product

Hands = tuple[int, ...]
"""Who carries an errand's object: one robot, or two in turn."""
Step = tuple[int, int, int]
"""(robot, errand, 0 for its first leg or 1 for its second)."""
Order = tuple[Step, ...]
"""A shape: its legs, none before one that it waits for."""


def hands_of(order: Order) -> dict[int, Hands]:
    """By errand, who carries it."""
    carried: dict[int, Hands] = {}
    for robot, errand, _ in sorted(order, key=lambda step: step[2]):
        carried[errand] = (*carried.get(errand, ()), robot)
    return carried


def orders_of(hands: Mapping[int, Hands]) -> Iterator[Order]:
    """Every shape with these hands: each robot's legs in every order that can be done."""
    steps = [(r, e, part) for e, each in hands.items() for part, r in enumerate(each)]
    robots = sorted({step[0] for step in steps})
    lists = ([*permutations([step for step in steps if step[0] == r])] for r in robots)
    for chosen in product(*lists):
        order = executable(step for each in chosen for step in each)
        if len(order) == len(steps):
            yield order


def orders_with(order: Order, errand: int, hands: Hands) -> Iterator[Order]:
    """A shape with one more errand, wherever its robots can fit it in."""
    mine = {r: [step for step in order if step[0] == r] for r in hands}
    others = [step for step in order if step[0] not in hands]
    for places in product(*(range(len(mine[r]) + 1) for r in hands)):
        steps = [*others]
        for part, (r, place) in enumerate(zip(hands, places, strict=True)):
            steps += [*mine[r][:place], (r, errand, part), *mine[r][place:]]
        made = executable(steps)
        if len(made) == len(steps):
            yield made


def executable(steps: Iterable[Step]) -> Order:
    """Legs so that none stands before one it waits for, each robot's in the order given.

    Those that wait for each other in a circle are left out.
    """
    lists = defaultdict[int, list[Step]](list)
    for step in steps:
        lists[step[0]].append(step)
    done: dict[Step, None] = {}
    brought: set[int] = set()
    grown = True
    while grown:
        grown = False
        for robot in sorted(lists):
            while lists[robot] and (lists[robot][0][2] == 0 or lists[robot][0][1] in brought):
                step = lists[robot].pop(0)
                done[step] = None
                brought.add(step[1])
                grown = True
    return tuple(done)
