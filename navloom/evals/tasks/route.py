"""A path as legs: straight stretches, the turn before each, what they pass and what they enter.

Viewpoints zigzag where a person walks straight on, so a path's corners are those of its outline on
the ground plane, simplified (Douglas-Peucker). Headings are radians clockwise from -z. And the
words for it: a scene's names as somebody would say them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from navloom.scenes.distances import turn_between, wrapped
from navloom.scenes.scene import Item, Link, Region, Scene, Viewpoint, distance_2d, prompt_name

_NAMELESS = frozenset(
    (
        *("unknown", "other", "room", "other_room", "no_label", "junk", "misc", "stuff"),
        *("item", "object", "objects", "unknown_object", "unkown_object", "thing", "things"),
        *("clutter", "decoration", "decor", "frame", "panel"),
    )
)
_MOST_CHARACTERS = 40


def item_words(item: Item) -> str | None:
    """A thing's name in words; None where the name says nothing or is too long to be one.

    >>> from navloom.scenes.scene import Item
    >>> item_words(Item(id="1", name="coffee#table", kind="asset", position=(0, 0, 0)))
    'coffee table'
    """
    return _words(item.name)


def room_words(region: Region) -> str | None:
    """A region's type in words, such as ``living room``; None where nobody knows it.

    Of a compound label two types are said: ``kitchen/living room/hallway`` is
    ``kitchen and living room``.
    """
    return _words(" and ".join(region.label.split("/")[:2]))


def _words(name: str) -> str | None:
    plain = re.sub(r"_\d+$", "", prompt_name(name))
    if plain in _NAMELESS or len(plain) > _MOST_CHARACTERS or not re.search("[a-z]", plain):
        return None
    return plain.replace("_", " ")


def article(words: str, *, only: bool) -> str:
    """A name with its article: ``the`` for the only one there is, else ``a``, ``an`` or ``some``.

    >>> article("fridge", only=True), article("oven", only=False), article("keys", only=False)
    ('the fridge', 'an oven', 'some keys')
    """
    return f"the {words}" if only else some(words)


def some(words: str) -> str:
    """A name with ``a``, ``an`` or ``some``."""
    if words.endswith("s") and not words.endswith(("ss", "us")):
        return f"some {words}"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


STRAIGHT = 0.75
"""Metres a viewpoint may lie beside the straight line between two corners."""
FLIGHT = 1.0
"""A step of the path that rises more than this share of its length on the ground is on stairs."""
NEAR = 1.8
"""Metres from a leg within which a thing is passed."""
_LEAST_RISE = 0.4


@dataclass(frozen=True)
class Passed:
    """A thing beside a leg.

    Attributes:
        item: the thing.
        along: how far along the leg it is, as a share of its length, 0 to 1.
        side: metres to the right of the leg, negative to the left.
    """

    item: Item
    along: float
    side: float


@dataclass(frozen=True)
class Leg:
    """A straight stretch.

    Attributes:
        viewpoints: those it goes through, both ends included.
        heading: of the stretch.
        turn: from the heading before, clockwise positive, in (-pi, pi].
        metres: its length on the ground plane.
        rise: how much higher it ends, in metres.
        entered: the regions it comes into, in order.
        through: the link used to come into each, where the scene has one.
        passed: the things beside it, nearest to it first.
    """

    viewpoints: tuple[Viewpoint, ...]
    heading: float
    turn: float
    metres: float
    rise: float
    entered: tuple[Region, ...]
    through: tuple[Link | None, ...]
    passed: tuple[Passed, ...]


def legs_of(scene: Scene, path: Sequence[str], heading: float) -> list[Leg]:
    """The legs of a path.

    Args:
        scene: the scene.
        path: viewpoints, at least one.
        heading: where the walker looks at first.

    Returns:
        One leg or more; none for a path of one viewpoint.
    """
    points = [scene.viewpoint_by_id[viewpoint] for viewpoint in path]
    legs: list[Leg] = []
    for first, last in pairwise(_corners(points)):
        leg = _leg(scene, points[first : last + 1], heading)
        heading = leg.heading
        legs.append(leg)
    return legs


def ground(viewpoint: Viewpoint) -> tuple[float, float, float]:
    """The floor under a viewpoint."""
    x, y, z = viewpoint.position
    return x, y - viewpoint.eye_height, z


def _corners(points: Sequence[Viewpoint]) -> list[int]:
    """Indices of the ends and the corners; where stairs begin or end is a corner, too."""
    on_stairs = [_climbs(a, b) for a, b in pairwise(points)]
    fixed = [i for i in range(1, len(on_stairs)) if on_stairs[i - 1] != on_stairs[i]]
    ends = sorted({0, *fixed, len(points) - 1})
    return sorted({i for a, b in pairwise(ends) for i in _simplified(points, a, b)} | set(ends))


def _climbs(a: Viewpoint, b: Viewpoint) -> bool:
    rise = abs(ground(b)[1] - ground(a)[1])
    return rise > _LEAST_RISE and rise > FLIGHT / 3 * distance_2d(a.position, b.position)


def _simplified(points: Sequence[Viewpoint], first: int, last: int) -> list[int]:
    """Douglas-Peucker, without recursion: paths come from files and may be long."""
    kept, todo = [first, last], [(first, last)]
    while todo:
        a, b = todo.pop()
        beside = [(_beside(points[a], points[b], points[i]), i) for i in range(a + 1, b)]
        if beside and max(beside)[0] > STRAIGHT:
            corner = max(beside)[1]
            kept.append(corner)
            todo += [(a, corner), (corner, b)]
    return kept


def _beside(a: Viewpoint, b: Viewpoint, point: Viewpoint) -> float:
    along, side, metres = _seen_from(a, b, point.position)
    over = max(0.0, -along, along - metres)
    return math.hypot(side, over)


def _seen_from(
    a: Viewpoint, b: Viewpoint, point: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Metres along the line from a to b, metres to its right, and its length, on the ground."""
    dx, dz = b.position[0] - a.position[0], b.position[2] - a.position[2]
    metres = math.hypot(dx, dz)
    px, pz = point[0] - a.position[0], point[2] - a.position[2]
    if metres < 1e-9:
        return 0.0, math.hypot(px, pz), 0.0
    return (px * dx + pz * dz) / metres, (pz * dx - px * dz) / metres, metres


def _leg(scene: Scene, points: Sequence[Viewpoint], before: float) -> Leg:
    first, last = points[0], points[-1]
    metres = distance_2d(first.position, last.position)
    dx, dz = last.position[0] - first.position[0], last.position[2] - first.position[2]
    heading = wrapped(math.atan2(dx, -dz)) if metres > 1e-6 else before
    crossings = [
        (scene.region_by_id[b.region], _link(scene, a.region, b.region))
        for a, b in pairwise(points)
        if b.region is not None and b.region != a.region
    ]
    return Leg(
        viewpoints=tuple(points),
        heading=heading,
        turn=turn_between(before, heading),
        metres=metres,
        rise=ground(last)[1] - ground(first)[1],
        entered=tuple(region for region, _ in crossings),
        through=tuple(link for _, link in crossings),
        passed=_passed(scene, points),
    )


def _link(scene: Scene, a: str | None, b: str) -> Link | None:
    return next((link for link in scene.links if {link.a, link.b} == {a, b}), None)


def _passed(scene: Scene, points: Sequence[Viewpoint]) -> tuple[Passed, ...]:
    rooms = dict.fromkeys(point.region for point in points if point.region is not None)
    found: list[tuple[float, Passed]] = []
    for item in (item for room in rooms for item in scene.items_in(room)):
        along, side, metres = _seen_from(points[0], points[-1], item.position)
        over = max(0.0, -along, along - metres)
        away = math.hypot(side, over)
        if away <= NEAR and _same_height(item, points[0], points[-1]):
            share = min(1.0, max(0.0, along / metres)) if metres > 1e-9 else 1.0
            found.append((away, Passed(item, share, side)))
    return tuple(passed for _, passed in sorted(found, key=lambda pair: (pair[0], pair[1].item.id)))


def _same_height(item: Item, first: Viewpoint, last: Viewpoint) -> bool:
    """Whether a thing is on the storey of a leg: not under it and not above it."""
    low, high = sorted((ground(first)[1], ground(last)[1]))
    return not item.height_known or low - 0.5 <= item.position[1] <= high + 2.2
