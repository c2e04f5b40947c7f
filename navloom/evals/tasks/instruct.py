"""Step-by-step instructions from a path's geometry: a small grammar and a seeded choice of words.

What is said is true of the path: turns come from headings, rooms from the regions it comes into,
doors and stairs from the links it takes, landmarks from the things beside it. Turns below 30
degrees are not said; below 60 one bears, above 135 one turns around. The grammar, one sentence or
half of one a leg:

    instruction  ->  leg+ stop
    leg          ->  [turn] [motion]
    motion       ->  stairs | [past a landmark] into a room | past a landmark | straight on
    stop         ->  beside a landmark | in a room | there

The path comes as legs: straight stretches, the turn before each, what they pass and what they
enter. Viewpoints zigzag where a person walks straight on, so a path's corners are those of its
outline on the ground plane, simplified (Douglas-Peucker). Headings are radians clockwise from -z.
A scene's names are said as somebody would say them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from navloom.scenes.distances import turn_between, wrapped
from navloom.scenes.scene import (
    Item,
    Link,
    Region,
    Scene,
    Viewpoint,
    distance_2d,
    distance_3d,
    prompt_name,
)

_SAID, _TURN, _AROUND = map(math.radians, (30, 60, 135))
_STAIRS = 0.8
"""A leg that rises more than this, in metres, goes up the stairs."""
_BESIDE = 2.0
"""Metres from the goal within which a thing says where to stop."""
_SHORT = 2.0
_ASIDE = 0.4
"""Metres beside a leg from which a thing is on one side of it."""
_KINDS = ("asset", "object")


def instruct(scene: Scene, path: Sequence[str], heading: float, rng: Random) -> str:
    """Say how to walk a path.

    Args:
        scene: where.
        path: viewpoints from start to goal, two at least.
        heading: where the walker looks at first, radians clockwise from -z.
        rng: chooses the words, never the facts.

    Returns:
        A few English sentences that name no viewpoint.
    """
    writer = _Writer(scene, rng)
    legs = legs_of(scene, path, heading)
    said = [writer.leg(leg, first=i == 0, last=leg is legs[-1]) for i, leg in enumerate(legs)]
    sentences = [sentence for sentence in said if sentence]
    return " ".join([*_joined(sentences, rng), writer.stop(path[-1])])


def _joined(sentences: Sequence[str], rng: Random) -> list[str]:
    """Some neighbours as one sentence with ``then``."""
    joined: list[str] = []
    for sentence in sentences:
        short = bool(joined) and ", then " not in joined[-1] and len(joined[-1]) < 60
        if short and rng.random() < 0.5:
            joined[-1] = f"{joined[-1].removesuffix('.')}, then {sentence[0].lower()}{sentence[1:]}"
        else:
            joined.append(sentence)
    return joined


@dataclass
class _Writer:
    """Writes one instruction, and remembers which landmarks it has used."""

    scene: Scene
    rng: Random
    used: set[str] = field(default_factory=set)

    def leg(self, leg: Leg, *, first: bool, last: bool) -> str:
        """One sentence; empty where there is nothing worth saying."""
        parts = [self._turn(leg, first=first), *self._motion(leg, last=last)]
        said = [part for part in parts if part]
        if not said:
            return ""
        text = " and ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)
        return f"{text[0].upper()}{text[1:]}."

    def _turn(self, leg: Leg, *, first: bool) -> str:
        side, size = ("right" if leg.turn > 0 else "left"), abs(leg.turn)
        if size < _SAID or leg.metres < 1e-6:
            return ""
        if size > _AROUND:
            return self._one("Turn around", "Make a U-turn" if first else "Turn right around")
        if size < _TURN:
            return self._one(f"Bear {side}", f"Turn slightly to the {side}", f"Veer {side}")
        return self._one(f"Turn {side}", f"Make a {side} turn", f"Turn to your {side}")

    def _motion(self, leg: Leg, *, last: bool) -> list[str]:
        if abs(leg.rise) > _STAIRS:
            return [self._climb(leg)]
        into = self._into(leg)
        past = "" if into and leg.metres <= 2 * _SHORT else self._past(leg)
        return [past, into] if past or into else [self._straight(leg, last=last)]

    def _climb(self, leg: Leg) -> str:
        way = "up" if leg.rise > 0 else "down"
        if any(link is not None and link.kind == "elevator" for link in leg.through):
            return f"take the elevator {way}"
        return f"{self._one('go', 'walk', 'head')} {way} the stairs{self._arrive(leg)}"

    def _straight(self, leg: Leg, *, last: bool) -> str:
        if leg.metres < _SHORT:
            return "" if last else self._one("take a few steps", "step forward")
        metres = round(leg.metres)
        plain = self._one("walk straight ahead", "go forward", "keep going straight")
        return f"{plain} for about {metres} metres" if metres >= 2 * _SHORT else plain

    def _into(self, leg: Leg) -> str:
        """Coming into rooms: the last of them, by the door one takes, and one on the way."""
        if not leg.entered:
            return ""
        here = leg.viewpoints[0].region
        before = None if here is None else room_words(self.scene.region_by_id[here])
        target = self._room(leg.entered[-1].id, before)
        on_the_way = [room_words(region) for region in leg.entered[:-1]]
        named = [words for words in on_the_way if words and words not in target]
        if named:
            return f"{self._one('go', 'walk')} through the {named[-1]} into {target}"
        link = leg.through[-1]
        if link is not None and link.kind == "door":
            verb = self._one("go through the door into", "walk through the doorway into")
            return f"{verb} {target}"
        return f"{self._one('walk into', 'go into', 'enter')} {target}"

    def _arrive(self, leg: Leg) -> str:
        words = room_words(leg.entered[-1]) if leg.entered else None
        return f" to the {words}" if words and "stair" not in words else ""

    def _room(self, region: str, before: str | None) -> str:
        words = room_words(self.scene.region_by_id[region])
        if words is None:
            return "the next room"
        return f"the next {words}" if words == before else f"the {words}"

    def _past(self, leg: Leg) -> str:
        """A thing beside the leg, well before its end and on one side."""
        seen = [p for p in leg.passed if 0.15 <= p.along <= 0.85 and self._fit(p.item)]
        if not seen or leg.metres < _SHORT:
            return ""
        landmark = self._best(seen)
        self.used.add(landmark.item.id)
        words = self._name(landmark.item)
        side = "right" if landmark.side > 0 else "left"
        beside = self._one(f" on your {side}", f" to your {side}")
        where = beside if abs(landmark.side) > _ASIDE else ""
        return f"{self._one('walk past', 'go past', 'pass')} {words}{where}"

    def stop(self, viewpoint: str) -> str:
        """The last sentence: where to stop."""
        here = self.scene.viewpoint_by_id[viewpoint]
        near = [
            Passed(item, 1.0, 0.0)
            for item in self.scene.items_in(here.region or "")
            if self._fit(item) and _away(item, here.ground) <= _BESIDE
        ]
        near.sort(key=lambda passed: (_away(passed.item, here.ground), passed.item.id))
        verb = self._one("Stop", "Wait", "Come to a stop")
        if near:
            words = self._name(self._best(near).item)
            return f"{verb} {self._one('next to', 'by', 'beside')} {words}."
        room = None if here.region is None else room_words(self.scene.region_by_id[here.region])
        return f"{verb} in the {room}." if room else "Stop there."

    def _best(self, seen: Sequence[Passed]) -> Passed:
        """The easiest to tell: the only one of its name in its room, furniture first."""
        return min(
            enumerate(seen),
            key=lambda pair: (not self._only(pair[1].item), pair[1].item.kind != "asset", pair[0]),
        )[1]

    def _fit(self, item: Item) -> bool:
        return item.kind in _KINDS and item.id not in self.used and item_words(item) is not None

    def _name(self, item: Item) -> str:
        return article(item_words(item) or "", only=self._only(item))

    def _only(self, item: Item) -> bool:
        same = self.scene.items_in(item.region or "")
        return sum(item_words(other) == item_words(item) for other in same) == 1

    def _one(self, *options: str) -> str:
        return self.rng.choice(options)


def _away(item: Item, floor: tuple[float, float, float]) -> float:
    x, y, z = item.position
    return distance_3d((x, floor[1], z), floor) if abs(y - floor[1]) < 2.5 else math.inf


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


def _corners(points: Sequence[Viewpoint]) -> list[int]:
    """Indices of the ends and the corners; where stairs begin or end is a corner, too."""
    on_stairs = [_climbs(a, b) for a, b in pairwise(points)]
    fixed = [i for i in range(1, len(on_stairs)) if on_stairs[i - 1] != on_stairs[i]]
    ends = sorted({0, *fixed, len(points) - 1})
    return sorted({i for a, b in pairwise(ends) for i in _simplified(points, a, b)} | set(ends))


def _climbs(a: Viewpoint, b: Viewpoint) -> bool:
    rise = abs(b.ground[1] - a.ground[1])
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
        (
            scene.region_by_id[b.region],
            next((link for link in scene.links if {link.a, link.b} == {a.region, b.region}), None),
        )
        for a, b in pairwise(points)
        if b.region is not None and b.region != a.region
    ]
    return Leg(
        viewpoints=tuple(points),
        heading=heading,
        turn=turn_between(before, heading),
        metres=metres,
        rise=last.ground[1] - first.ground[1],
        entered=tuple(region for region, _ in crossings),
        through=tuple(link for _, link in crossings),
        passed=_passed(scene, points),
    )


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
    low, high = sorted((first.ground[1], last.ground[1]))
    return not item.height_known or low - 0.5 <= item.position[1] <= high + 2.2
