"""Step-by-step instructions from a path's geometry: a small grammar and a seeded choice of words.

What is said is true of the path: turns come from headings, rooms from the regions it comes into,
doors and stairs from the links it takes, landmarks from the things beside it. Turns below 30
degrees are not said; below 60 one bears, above 135 one turns around. The grammar, one sentence or
half of one a leg:

    instruction  ->  leg+ stop
    leg          ->  [turn] [motion]
    motion       ->  stairs | [past a landmark] into a room | past a landmark | straight on
    stop         ->  beside a landmark | in a room | there
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from navloom.evals.tasks.route import Leg, Passed, article, ground, item_words, legs_of, room_words
from navloom.scenes.scene import Item, Link, Scene, distance_3d

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
        if _has_door(leg.through[-1]):
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
            if self._fit(item) and _away(item, ground(here)) <= _BESIDE
        ]
        near.sort(key=lambda passed: (_away(passed.item, ground(here)), passed.item.id))
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
            key=lambda pair: (
                not self._only(pair[1].item),
                pair[1].item.kind != "asset",
                pair[0],
            ),
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


def _has_door(link: Link | None) -> bool:
    return link is not None and link.kind == "door"


def _away(item: Item, floor: tuple[float, float, float]) -> float:
    x, y, z = item.position
    return distance_3d((x, floor[1], z), floor) if abs(y - floor[1]) < 2.5 else math.inf
