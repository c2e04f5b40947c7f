"""Calibration items for a judge of tasks: pairs of a plausible errand and a corrupted copy of it.

An errand is plausible if it takes an object to where such an object really is in some home
(`plausible_errands`), or if a run's own record says so. It is corrupted by another object: one of
an errand that ends in another kind of room and on other furniture, and of which no errand of the
set ends in this kind of room. The two sentences differ in that object alone, and their order is
drawn. Homes hold oddities (a book in a bathroom, a towel in a study), so that nobody, a person
included, will find all pairs in the expected order.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import Item, Scene, prompt_name
from navloom.tools.navcraft.relay_task import can_hold, grade_plausibility

PREFERENCE_PAIRS = 200
"""Approximate number of pairs in a calibration, by default."""
_NEAR, _ABOVE, _BELOW = 0.8, 0.4, 1.2
"""Metres on the ground, and above and below it, within which an object is taken to be on or in
something: scenes give the position of its centre."""
_NUMBER = re.compile(r"_\d+$")
_SENTENCE = re.compile(
    r"Take the (?P<thing>.{1,120}?) from the (?P<source>.{1,120}?) to the (?P<asset>.{1,120}?)"
    r" in the (?P<room>.{1,120}?)\."
)


@dataclass(frozen=True)
class ErrandRequest:
    """An errand as a person would request it: names in plain words.

    Attributes:
        id: of its task, or of its object in its home.
        scene: the home's URI.
        thing: the object to take.
        source: the room where it is said to be.
        asset: the furniture it is put on or in.
        room: the room of that furniture.
        relay: how a second robot helps; "" where none does.
    """

    id: str
    scene: str
    thing: str
    source: str
    asset: str
    room: str
    relay: str = ""

    @property
    def said(self) -> str:
        """The request as a sentence."""
        to = f"to the {self.asset} in the {self.room}."
        return f"Take the {self.thing} from the {self.source} {to}{self.relay}"


def parse_request(said: str) -> dict[str, str]:
    """Return the names in a sentence of :class:`ErrandRequest`; {} if it is no such sentence."""
    found = _SENTENCE.match(said)
    return found.groupdict() if found else {}


def plain_name(name: str) -> str:
    """Return the name of a region or an item in plain words.

    >>> plain_name("Kitchen_living_room_9"), plain_name("coffee_table")
    ('kitchen living room', 'coffee table')
    """
    return _NUMBER.sub("", name).replace("_", " ").casefold()


def match_room_types(said: str) -> frozenset[str]:
    """Return the paper's room types that a plain name fits; a name with two fits both."""
    words = said.split()
    splits = ["/".join((" ".join(words[:k]), " ".join(words[k:]))) for k in range(1, len(words))]
    return next((types for each in (said, *splits) if (types := room_types(each))), frozenset())


def plausible_errands(scene: Scene) -> list[ErrandRequest]:
    """Return errands that take a home's objects from another room to where they really are.

    For objects that people ask for (``carry`` of ``belongs.yaml``), with the nearest furniture that
    can hold something beside or below them; each name once per room.
    """
    rng = random.Random(f"0/{scene.uri}")
    rooms = [region for region in scene.regions if room_types(region.label)]
    found: dict[tuple[str, str], ErrandRequest] = {}
    for room in rooms:
        others = [plain_name(other.id) for other in rooms if other.label != room.label]
        holders = [each for each in scene.items_in(room.id, "asset") if can_hold(each.name)]
        for thing in scene.items_in(room.id, "object") if others else ():
            asset = find_support(thing, holders)
            if asset and grade_plausibility(thing.name, "table", room.label).carry == 1:
                found.setdefault(
                    (thing.name, room.id),
                    ErrandRequest(
                        id=f"{scene.id}-{thing.id}",
                        scene=scene.uri,
                        thing=plain_name(prompt_name(thing.name)),
                        source=rng.choice(others),
                        asset=plain_name(prompt_name(asset.name)),
                        room=plain_name(room.id),
                    ),
                )
    return list(found.values())


def find_support(thing: Item, holders: Iterable[Item]) -> Item | None:
    """Return the nearest furniture that an object may stand on or in, or None.

    Args:
        thing: an object with a position.
        holders: furniture of its room that can hold something.
    """
    near = [each for each in holders if _is_by(thing, each)]
    return min(near, key=lambda each: _metres(thing, each), default=None)


def _metres(a: Item, b: Item) -> float:
    return math.hypot(a.position[0] - b.position[0], a.position[2] - b.position[2])


def _is_by(thing: Item, holder: Item) -> bool:
    above = thing.position[1] - holder.position[1]
    return _metres(thing, holder) < _NEAR and -_ABOVE < above < _BELOW


@dataclass(frozen=True)
class PreferencePair:
    """Two errands of which a person would prefer one.

    Attributes:
        id: unique in the set, safe as a file name.
        a: the errand called a.
        b: the errand called b.
        better: the name of the plausible one.
        spoiled_by: id of the errand whose object is in the other.
    """

    id: str
    a: ErrandRequest
    b: ErrandRequest
    better: str
    spoiled_by: str

    @property
    def columns(self) -> dict[str, Any]:
        """The pair's fields in a row of a run."""
        good, bad = (self.a, self.b) if self.better == "a" else (self.b, self.a)
        spoiled = {"thing": good.thing, "by": bad.thing, "of": self.spoiled_by}
        said = {"a": self.a.said, "b": self.b.said}
        return {**said, "task": good.id, "better": self.better, "spoiled": spoiled}


def make_preference_pairs(
    errands: Sequence[ErrandRequest], *, n: int = PREFERENCE_PAIRS, seed: int = 0
) -> list[PreferencePair]:
    """Pair each plausible errand with a copy whose object does not belong there.

    Args:
        errands: the plausible errands; homes take turns.
        n: most pairs.
        seed: fixes what is drawn.
    """
    rng = random.Random(f"{seed}/preference")
    at_home = {(each.thing, kind) for each in errands for kind in match_room_types(each.room)}
    turns: dict[str, int] = {}
    ranked = []
    for each in rng.sample(list(errands), len(errands)):
        turns[each.scene] = turns.get(each.scene, 0) + 1
        ranked.append((turns[each.scene], each))
    pairs: list[PreferencePair] = []
    for _, good in sorted(ranked, key=lambda pair: pair[0]):
        kinds = match_room_types(good.room)
        others = [
            each
            for each in errands
            if each.asset != good.asset
            and not kinds & match_room_types(each.room)
            and not any((each.thing, kind) in at_home for kind in kinds)
        ]
        if not kinds or not others or len(pairs) == n:
            continue
        other, better = rng.choice(others), rng.choice("ab")
        bad = replace(good, thing=other.thing)
        a, b = (good, bad) if better == "a" else (bad, good)
        pairs.append(PreferencePair(f"pair-{len(pairs):04d}", a, b, better, other.id))
    return pairs
