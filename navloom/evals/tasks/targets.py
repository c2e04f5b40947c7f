"""Things to find in a home of ours: which words name them, and where one stands at them.

What counts as the goal follows from the words: every viewpoint from which a thing that the words
fit is at hand. So "a chair in the bedroom" is any chair of any bedroom, and no instruction is
ambiguous. Being seen is taken as being within 3 m in the same room; furniture hides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from navloom.evals.tasks.categories import category_of
from navloom.evals.tasks.route import article, ground, item_words, room_words
from navloom.scenes.scene import Item, Scene, Viewpoint, distance_2d

SIGHT = 3.0
"""Metres within which a thing in the same room is seen; REVERIE lists objects within 3 m."""


@dataclass(frozen=True)
class Target:
    """What is to be found.

    Attributes:
        words: the thing's name, or the category.
        room: the room type's words, where it is known.
        items: the things that the words fit, sorted by id.
        goals: for each thing the viewpoint of its room that is nearest to it.
        visible_from: the viewpoints that see one of the things; goals are among them.
    """

    words: str
    room: str | None
    items: tuple[str, ...]
    goals: tuple[str, ...]
    visible_from: tuple[str, ...]


def by_words(scene: Scene) -> list[Target]:
    """A target for each pair of a thing's name and a room type, in order of both."""
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in scene.items:
        words = item_words(item)
        if words is not None and item.kind in ("asset", "object") and item.region is not None:
            room = room_words(scene.region_by_id[item.region]) or ""
            groups[words, room].append(item)
    return _targets(scene, groups)


def by_category(scene: Scene) -> dict[str, Target]:
    """A target for each of the 21 categories that the scene has a thing of."""
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in scene.items:
        category = category_of(item.name)
        if category is not None and item.region is not None:
            groups[category, ""].append(item)
    return {target.words: target for target in _targets(scene, groups)}


def say(target: Target, rng: Random) -> str:
    """One sentence about a target, as REVERIE's annotators write them.

    Args:
        target: what is to be found.
        rng: chooses among sentences that mean the same.
    """
    thing = article(target.words, only=len(target.items) == 1)
    if target.room is None:
        return rng.choice([f"Find {thing}.", f"Go and find {thing}.", f"Look for {thing}."])
    room = target.room
    return rng.choice(
        [
            f"Go to the {room} and find {thing}.",
            f"Find {thing} in the {room}.",
            f"Walk to the {room} and stop at {thing}.",
            f"Please check {thing} in the {room}.",
            f"There is {article(target.words, only=False)} in the {room}. Go there.",
        ]
    )


def _targets(scene: Scene, groups: Mapping[tuple[str, str], Sequence[Item]]) -> list[Target]:
    found = []
    for words, room in sorted(groups):
        items = sorted(groups[words, room], key=lambda item: item.id)
        standing = [_standing(scene, item) for item in items]
        goals = _in_order(near for near, _ in standing if near is not None)
        seen = _in_order(viewpoint for _, seers in standing for viewpoint in seers)
        if goals:
            ids = tuple(item.id for item in items)
            found.append(Target(words, room or None, ids, goals, _in_order([*goals, *seen])))
    return found


def _standing(scene: Scene, item: Item) -> tuple[str | None, list[str]]:
    """The viewpoint nearest to a thing in its room, and those that see it."""
    apart = {
        viewpoint.id: distance_2d(viewpoint.position, item.position)
        for viewpoint in scene.viewpoints_by_region[item.region or ""]
        if _same_storey(item, viewpoint)
    }
    seers = [viewpoint for viewpoint, metres in apart.items() if metres <= SIGHT]
    if not seers:
        return None, []
    return min(seers, key=lambda viewpoint: (apart[viewpoint], viewpoint)), seers


def _same_storey(item: Item, viewpoint: Viewpoint) -> bool:
    return not item.height_known or -1.0 <= item.position[1] - ground(viewpoint)[1] <= 3.0


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
