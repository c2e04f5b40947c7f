"""The relations of a home are true: each is computed again from the items' boxes alone, in metres.

The definitions are those of :mod:`navloom_worlds.homes.item_relations`, read from its docstring.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest

from navloom.scenes.scene import Box, Item
from navloom_worlds.homes.item_relations import FRONTED
from worlds.tests.homes.test_furnisher import CASES, furnished

TINY = 0.0015
Rect = tuple[float, float, float, float]


def rect(item: Item) -> Rect:
    assert item.size is not None
    corners = Box(center=item.position, size=item.size, yaw=item.yaw).corners()
    xs, zs = [x for x, _ in corners], [z for _, z in corners]
    return min(xs), min(zs), max(xs), max(zs)


def span(item: Item) -> tuple[float, float]:
    assert item.size is not None
    return item.position[1] - item.size[1] / 2, item.position[1] + item.size[1] / 2


def gap(a: Rect, b: Rect) -> float:
    return max(a[0] - b[2], b[0] - a[2], a[1] - b[3], b[1] - a[3], 0.0)


def ahead(item: Item, other: tuple[float, float]) -> tuple[float, float]:
    """How far before an item's front a place is, and how far to its side; by whole quarters."""
    assert item.size is not None
    yaw = round(item.yaw / (math.pi / 2)) * math.pi / 2
    dx, dz = other[0] - item.position[0], other[1] - item.position[2]
    front = dx * math.sin(yaw) - dz * math.cos(yaw)
    side = dx * math.cos(yaw) + dz * math.sin(yaw)
    return front - item.size[2] / 2, side


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_each_is_true(name: str, seed: int) -> None:
    _, made = furnished(name, seed)
    by_id = {item.id: item for item in made.items}
    assert made.relations
    for relation in made.relations:
        a, b = by_id[relation.a], by_id[relation.b]
        assert a.region == b.region
        assert a is not b
        assert a.size is not None
        assert b.size is not None
        ra, rb, low, (bottom, top) = rect(a), rect(b), span(a)[0], span(b)
        if relation.kind == "in":
            assert a.on == b.id
            assert bottom <= low < top
        elif relation.kind == "next_to":
            assert gap(ra, rb) <= (0.3 if a.on is None else 0.15) + TINY
            assert a.on == b.on
            assert low < top or a.on is not None
        elif relation.kind == "in_front_of":
            front, side = ahead(b, (a.position[0], a.position[2]))
            assert -TINY <= front <= 1 + TINY
            assert abs(side) <= b.size[0] / 2 + TINY
            assert b.shape in FRONTED
        elif relation.kind == "facing":
            corners = [ahead(a, (x, z)) for x in (rb[0], rb[2]) for z in (rb[1], rb[3])]
            sides = [side for _, side in corners]
            assert min(sides) <= a.size[0] / 4 + TINY
            assert max(sides) >= -a.size[0] / 4 - TINY
            assert max(front for front, _ in corners) > 0
            assert min(front for front, _ in corners) <= 5
        else:
            over, under = (a, b) if relation.kind == "above" else (b, a)
            assert gap(rect(over), rect(under)) < TINY
            assert span(under)[1] <= span(over)[0] + TINY
            assert under.on is None


@pytest.mark.parametrize(("name", "seed"), CASES[:8])
def test_they_are_few_and_said_once(name: str, seed: int) -> None:
    _, made = furnished(name, seed)
    assert len(made.relations) <= 2 * len(made.items)
    assert max(Counter((r.a, r.kind, r.b) for r in made.relations).values()) == 1
    pairs = {frozenset((r.a, r.b)) for r in made.relations if r.kind == "next_to"}
    assert len(pairs) == sum(r.kind == "next_to" for r in made.relations)


def test_each_kind_is_said_and_chairs_face_their_table() -> None:
    kinds: Counter[str] = Counter()
    facing = defaultdict(list)
    chairs = turned = 0
    for name, seed in CASES:
        _, made = furnished(name, seed)
        kinds.update(relation.kind for relation in made.relations)
        by_id = {item.id: item for item in made.items}
        for relation in made.relations:
            if relation.kind == "facing":
                facing[by_id[relation.a].name].append(by_id[relation.b].name)
        for item in made.items:
            if item.name == "dining chair":
                chairs += 1
                turned += any(
                    relation.a == item.id and "table" in relation.b
                    for relation in made.relations
                    if relation.kind == "facing"
                )
    assert set(kinds) == {"in", "next_to", "in_front_of", "facing", "above", "below"}
    assert turned > 0.85 * chairs > 0
    assert "tv" in facing["sofa"] + facing["couch"]
