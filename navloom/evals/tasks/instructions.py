"""Step-by-step instructions from a path's geometry: a small grammar with seeded choice of words.

Every statement is true of the path: turns come from headings, rooms from the regions it enters,
doors and stairs from the links it uses, landmarks from the items beside it. Turns below 30 degrees
are not mentioned; below 60 degrees the text says "bear", above 135 "turn around". Each leg gives a
sentence or half of one, by this grammar:

    instruction  ->  leg+ stop
    leg          ->  [turn] [motion]
    motion       ->  stairs | [past a landmark] into a room | past a landmark | straight on
    stop         ->  beside a landmark | in a room | there

The path is split into legs: straight stretches with the turn before each, the landmarks passed and
the rooms entered. Viewpoints zigzag along straight walks, so corners are those of the path on the
ground plane, simplified (Douglas-Peucker). Headings are radians clockwise from -z. Names of items
and rooms are turned into plain words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from navloom.scenes.distances import turn_between, wrap_angle
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
"""Height difference in metres from which a leg goes up or down stairs."""
_BESIDE = 2.0
"""Metres from the goal within which an item can mark where to stop."""
_SHORT = 2.0
_ASIDE = 0.4
"""Metres beside a leg from which an item is on its left or right."""
_KINDS = ("asset", "object")


def write_instruction(scene: Scene, path: Sequence[str], heading: float, rng: Random) -> str:
    """Return an instruction to follow a path.

    Args:
        scene: the scene.
        path: viewpoints from start to goal, at least two.
        heading: the heading at the start, radians clockwise from -z.
        rng: chooses the words, never the facts.

    Returns:
        A few English sentences that name no viewpoint.
    """
    writer = _Writer(scene, rng)
    legs = split_legs(scene, path, heading)
    said = [writer.leg(leg, first=i == 0, last=leg is legs[-1]) for i, leg in enumerate(legs)]
    sentences = [sentence for sentence in said if sentence]
    return " ".join([*_joined(sentences, rng), writer.stop(path[-1])])


def _joined(sentences: Sequence[str], rng: Random) -> list[str]:
    """Join some pairs of neighbouring sentences with ``then``."""
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
    """Writer of one instruction; it remembers which landmarks it has used."""

    scene: Scene
    rng: Random
    used: set[str] = field(default_factory=set)

    def leg(self, leg: PathLeg, *, first: bool, last: bool) -> str:
        """Return one sentence for a leg; empty if there is nothing worth saying."""
        parts = [self._turn(leg, first=first), *self._motion(leg, last=last)]
        said = [part for part in parts if part]
        if not said:
            return ""
        text = " and ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)
        return f"{text[0].upper()}{text[1:]}."

    def _turn(self, leg: PathLeg, *, first: bool) -> str:
        side, size = ("right" if leg.turn > 0 else "left"), abs(leg.turn)
        if size < _SAID or leg.metres < 1e-6:
            return ""
        if size > _AROUND:
            return self._one("Turn around", "Make a U-turn" if first else "Turn right around")
        if size < _TURN:
            return self._one(f"Bear {side}", f"Turn slightly to the {side}", f"Veer {side}")
        return self._one(f"Turn {side}", f"Make a {side} turn", f"Turn to your {side}")

    def _motion(self, leg: PathLeg, *, last: bool) -> list[str]:
        if abs(leg.rise) > _STAIRS:
            return [self._climb(leg)]
        into = self._into(leg)
        past = "" if into and leg.metres <= 2 * _SHORT else self._past(leg)
        return [past, into] if past or into else [self._straight(leg, last=last)]

    def _climb(self, leg: PathLeg) -> str:
        way = "up" if leg.rise > 0 else "down"
        if any(link is not None and link.kind == "elevator" for link in leg.through):
            return f"take the elevator {way}"
        return f"{self._one('go', 'walk', 'head')} {way} the stairs{self._arrive(leg)}"

    def _straight(self, leg: PathLeg, *, last: bool) -> str:
        if leg.metres < _SHORT:
            return "" if last else self._one("take a few steps", "step forward")
        metres = round(leg.metres)
        plain = self._one("walk straight ahead", "go forward", "keep going straight")
        return f"{plain} for about {metres} metres" if metres >= 2 * _SHORT else plain

    def _into(self, leg: PathLeg) -> str:
        """Return the phrase for the rooms that a leg enters: the last one, and one before it."""
        if not leg.entered:
            return ""
        here = leg.viewpoints[0].region
        before = None if here is None else room_noun(self.scene.region_by_id[here])
        target = self._room(leg.entered[-1].id, before)
        on_the_way = [room_noun(region) for region in leg.entered[:-1]]
        named = [words for words in on_the_way if words and words not in target]
        if named:
            return f"{self._one('go', 'walk')} through the {named[-1]} into {target}"
        link = leg.through[-1]
        if link is not None and link.kind == "door":
            verb = self._one("go through the door into", "walk through the doorway into")
            return f"{verb} {target}"
        return f"{self._one('walk into', 'go into', 'enter')} {target}"

    def _arrive(self, leg: PathLeg) -> str:
        words = room_noun(leg.entered[-1]) if leg.entered else None
        return f" to the {words}" if words and "stair" not in words else ""

    def _room(self, region: str, before: str | None) -> str:
        words = room_noun(self.scene.region_by_id[region])
        if words is None:
            return "the next room"
        return f"the next {words}" if words == before else f"the {words}"

    def _past(self, leg: PathLeg) -> str:
        """Return the phrase for a landmark beside the leg, well before its end."""
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
        """Return the last sentence, which says where to stop."""
        here = self.scene.viewpoint_by_id[viewpoint]
        near = [
            Landmark(item, 1.0, 0.0)
            for item in self.scene.items_in(here.region or "")
            if self._fit(item) and _away(item, here.ground) <= _BESIDE
        ]
        near.sort(key=lambda passed: (_away(passed.item, here.ground), passed.item.id))
        verb = self._one("Stop", "Wait", "Come to a stop")
        if near:
            words = self._name(self._best(near).item)
            return f"{verb} {self._one('next to', 'by', 'beside')} {words}."
        room = None if here.region is None else room_noun(self.scene.region_by_id[here.region])
        return f"{verb} in the {room}." if room else "Stop there."

    def _best(self, seen: Sequence[Landmark]) -> Landmark:
        """Choose the best landmark: the only one of its name in its room, then furniture."""
        return min(
            enumerate(seen),
            key=lambda pair: (not self._only(pair[1].item), pair[1].item.kind != "asset", pair[0]),
        )[1]

    def _fit(self, item: Item) -> bool:
        return item.kind in _KINDS and item.id not in self.used and item_noun(item) is not None

    def _name(self, item: Item) -> str:
        return add_article(item_noun(item) or "", only=self._only(item))

    def _only(self, item: Item) -> bool:
        same = self.scene.items_in(item.region or "")
        return sum(item_noun(other) == item_noun(item) for other in same) == 1

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


def item_noun(item: Item) -> str | None:
    """Return an item's name in words; None if it says nothing or is too long.

    >>> from navloom.scenes.scene import Item
    >>> item_noun(Item(id="1", name="coffee#table", kind="asset", position=(0, 0, 0)))
    'coffee table'
    """
    return _words(item.name)


def room_noun(region: Region) -> str | None:
    """Return a region's type in words, such as ``living room``; None if it is unknown.

    Of a compound label two types are used: ``kitchen/living room/hallway`` is
    ``kitchen and living room``.
    """
    return _words(" and ".join(region.label.split("/")[:2]))


def _words(name: str) -> str | None:
    plain = re.sub(r"_\d+$", "", prompt_name(name))
    if plain in _NAMELESS or len(plain) > _MOST_CHARACTERS or not re.search("[a-z]", plain):
        return None
    return plain.replace("_", " ")


def add_article(words: str, *, only: bool) -> str:
    """Add an article to a name: ``the`` for the only one there is, else ``a``, ``an`` or ``some``.

    >>> [add_article("fridge", only=True)] + [add_article(n, only=False) for n in ("oven", "keys")]
    ['the fridge', 'an oven', 'some keys']
    """
    return f"the {words}" if only else add_indefinite(words)


def add_indefinite(words: str) -> str:
    """Add ``a``, ``an`` or ``some`` to a name."""
    if words.endswith("s") and not words.endswith(("ss", "us")):
        return f"some {words}"
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


STRAIGHT = 0.75
"""Largest distance of a viewpoint from the line between two corners, in metres."""
FLIGHT = 1.0
"""A step of the path is on stairs if its slope (rise over run) is above a third of this."""
NEAR = 1.8
"""Metres from a leg within which an item is passed."""
_LEAST_RISE = 0.4


@dataclass(frozen=True)
class Landmark:
    """An item beside a leg, as a possible landmark.

    Attributes:
        item: the item.
        along: its position along the leg, as a share of the length, 0 to 1.
        side: metres to the right of the leg, negative to the left.
    """

    item: Item
    along: float
    side: float


@dataclass(frozen=True)
class PathLeg:
    """A straight stretch of a path.

    Attributes:
        viewpoints: its viewpoints, both ends included.
        heading: its heading, radians.
        turn: from the heading before, clockwise positive, in (-pi, pi].
        metres: its length on the ground plane.
        rise: height difference from its start to its end, in metres.
        entered: the regions it enters, in order.
        through: the link by which it enters each; None if the scene has none.
        passed: the items beside it, nearest first.
    """

    viewpoints: tuple[Viewpoint, ...]
    heading: float
    turn: float
    metres: float
    rise: float
    entered: tuple[Region, ...]
    through: tuple[Link | None, ...]
    passed: tuple[Landmark, ...]


def split_legs(scene: Scene, path: Sequence[str], heading: float) -> list[PathLeg]:
    """Split a path into its legs.

    Args:
        scene: the scene.
        path: viewpoints, at least one.
        heading: the heading at the start, radians.

    Returns:
        The legs in order; none for a path of one viewpoint.
    """
    points = [scene.viewpoint_by_id[viewpoint] for viewpoint in path]
    legs: list[PathLeg] = []
    for first, last in pairwise(_corners(points)):
        leg = _leg(scene, points[first : last + 1], heading)
        heading = leg.heading
        legs.append(leg)
    return legs


def _corners(points: Sequence[Viewpoint]) -> list[int]:
    """Return the indices of the ends and corners; stairs begin and end at corners as well."""
    on_stairs = [_climbs(a, b) for a, b in pairwise(points)]
    fixed = [i for i in range(1, len(on_stairs)) if on_stairs[i - 1] != on_stairs[i]]
    ends = sorted({0, *fixed, len(points) - 1})
    return sorted({i for a, b in pairwise(ends) for i in _simplified(points, a, b)} | set(ends))


def _climbs(a: Viewpoint, b: Viewpoint) -> bool:
    rise = abs(b.ground[1] - a.ground[1])
    return rise > _LEAST_RISE and rise > FLIGHT / 3 * distance_2d(a.position, b.position)


def _simplified(points: Sequence[Viewpoint], first: int, last: int) -> list[int]:
    """Simplify by Douglas-Peucker, without recursion: paths from files may be long."""
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
    """Return metres along the line from a to b, metres to its right, and its length (2-D)."""
    dx, dz = b.position[0] - a.position[0], b.position[2] - a.position[2]
    metres = math.hypot(dx, dz)
    px, pz = point[0] - a.position[0], point[2] - a.position[2]
    if metres < 1e-9:
        return 0.0, math.hypot(px, pz), 0.0
    return (px * dx + pz * dz) / metres, (pz * dx - px * dz) / metres, metres


def _leg(scene: Scene, points: Sequence[Viewpoint], before: float) -> PathLeg:
    first, last = points[0], points[-1]
    metres = distance_2d(first.position, last.position)
    dx, dz = last.position[0] - first.position[0], last.position[2] - first.position[2]
    heading = wrap_angle(math.atan2(dx, -dz)) if metres > 1e-6 else before
    crossings = [
        (
            scene.region_by_id[b.region],
            next((link for link in scene.links if {link.a, link.b} == {a.region, b.region}), None),
        )
        for a, b in pairwise(points)
        if b.region is not None and b.region != a.region
    ]
    return PathLeg(
        viewpoints=tuple(points),
        heading=heading,
        turn=turn_between(before, heading),
        metres=metres,
        rise=last.ground[1] - first.ground[1],
        entered=tuple(region for region, _ in crossings),
        through=tuple(link for _, link in crossings),
        passed=_passed(scene, points),
    )


def _passed(scene: Scene, points: Sequence[Viewpoint]) -> tuple[Landmark, ...]:
    rooms = dict.fromkeys(point.region for point in points if point.region is not None)
    found: list[tuple[float, Landmark]] = []
    for item in (item for room in rooms for item in scene.items_in(room)):
        along, side, metres = _seen_from(points[0], points[-1], item.position)
        over = max(0.0, -along, along - metres)
        away = math.hypot(side, over)
        if away <= NEAR and _same_height(item, points[0], points[-1]):
            share = min(1.0, max(0.0, along / metres)) if metres > 1e-9 else 1.0
            found.append((away, Landmark(item, share, side)))
    return tuple(passed for _, passed in sorted(found, key=lambda pair: (pair[0], pair[1].item.id)))


def _same_height(item: Item, first: Viewpoint, last: Viewpoint) -> bool:
    """Check whether an item is on the storey of a leg: not below it and not above it."""
    low, high = sorted((first.ground[1], last.ground[1]))
    return not item.height_known or low - 0.5 <= item.position[1] <= high + 2.2
