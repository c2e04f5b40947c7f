"""Search targets in our homes: names of objects, and the viewpoints that count as their goals.

The goals follow from the instruction: the viewpoint nearest to each object that fits it. So "a
chair in the bedroom" is any chair of any bedroom, and no instruction is ambiguous. An object counts
as seen within 3 m in the same room; occlusion by furniture is ignored.

Categories are the 21 goal categories of object navigation in Matterport homes, as in Habitat (Batra
et al. 2020; VLN-MME A.1). Names come from files: they are cut to a bounded length and only ever
looked up, first as a whole and then by their longest ending ("old oak dining table" by "dining
table").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from navloom.evals.tasks.instructions import add_article, item_noun, room_noun
from navloom.scenes.lexicon import word_table
from navloom.scenes.scene import Item, Scene, distance_2d

SIGHT = 3.0
"""Metres within which an object in the same room is seen; REVERIE lists objects within 3 m."""


@dataclass(frozen=True)
class SearchTarget:
    """Objects to find, given by a name or a category.

    Attributes:
        words: the object's name, or the category.
        room: the room type in words; None if it is unknown or does not matter.
        items: ids of the matching objects, sorted.
        goals: for each object the viewpoint of its room that is nearest to it.
        visible_from: the viewpoints that see one of the objects; goals are among them.
    """

    words: str
    room: str | None
    items: tuple[str, ...]
    goals: tuple[str, ...]
    visible_from: tuple[str, ...]


def targets_by_name(scene: Scene) -> list[SearchTarget]:
    """Return a target for each pair of an object name and a room type, sorted by both."""
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in scene.items:
        words = item_noun(item)
        if words is not None and item.kind in ("asset", "object") and item.region is not None:
            room = room_noun(scene.region_by_id[item.region]) or ""
            groups[words, room].append(item)
    return _targets(scene, groups)


def category_targets(scene: Scene) -> dict[str, SearchTarget]:
    """Return a target for each of the 21 categories that the scene has an object of."""
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in scene.items:
        category = category_of(item.name)
        if category is not None and item.region is not None:
            groups[category, ""].append(item)
    return {target.words: target for target in _targets(scene, groups)}


def phrase_target(target: SearchTarget, rng: Random) -> str:
    """Return one sentence about a target, in the style of REVERIE's annotators.

    Args:
        target: the objects to find.
        rng: chooses among sentences that mean the same.
    """
    thing = add_article(target.words, only=len(target.items) == 1)
    if target.room is None:
        return rng.choice([f"Find {thing}.", f"Go and find {thing}.", f"Look for {thing}."])
    room = target.room
    return rng.choice(
        [
            f"Go to the {room} and find {thing}.",
            f"Find {thing} in the {room}.",
            f"Walk to the {room} and stop at {thing}.",
            f"Please check {thing} in the {room}.",
            f"There is {add_article(target.words, only=False)} in the {room}. Go there.",
        ]
    )


def _targets(scene: Scene, groups: Mapping[tuple[str, str], Sequence[Item]]) -> list[SearchTarget]:
    found = []
    for words, room in sorted(groups):
        items = sorted(groups[words, room], key=lambda item: item.id)
        standing = [_standing(scene, item) for item in items]
        goals = _in_order(near for near, _ in standing if near is not None)
        seen = _in_order(viewpoint for _, seers in standing for viewpoint in seers)
        if goals:
            ids = tuple(item.id for item in items)
            found.append(SearchTarget(words, room or None, ids, goals, _in_order([*goals, *seen])))
    return found


def _standing(scene: Scene, item: Item) -> tuple[str | None, list[str]]:
    """Return the viewpoint nearest to an item in its room, and the viewpoints that see it."""
    apart = {
        viewpoint.id: distance_2d(viewpoint.position, item.position)
        for viewpoint in scene.viewpoints_by_region[item.region or ""]
        if not item.height_known or -1.0 <= item.position[1] - viewpoint.ground[1] <= 3.0
    }
    seers = [viewpoint for viewpoint, metres in apart.items() if metres <= SIGHT]
    if not seers:
        return None, []
    return min(seers, key=lambda viewpoint: (apart[viewpoint], viewpoint)), seers


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


CATEGORIES: dict[str, tuple[str, ...]] = {
    category: tuple(names.split(", ")) for category, names in word_table("goal_categories").items()
}
"""Category -> object names, singular and in lower case."""

_NONE = tuple(word_table("goal_none")["names"].split(", "))
"""Endings that name no object of a category."""
_WHOLE_ONLY = frozenset(word_table("goal_none")["whole_only"].split(", "))
"""Names that count only alone, not as the end of a longer name ("back seat", "over shower")."""
_MOST_CHARACTERS = 120
_MOST_WORDS = 3
_WITH = re.compile(r"\s/?w/\s?|\s/w\s|\s/\s|/otherroom|/other room|\s(?:with|behind)\b")


def clean_name(name: str) -> str:
    """Return an object's name in plain words.

    Args:
        name: as in a file, such as ``"table#/w#books"``; untrusted.

    >>> clean_name("coffee#table"), clean_name("table#/w#books"), clean_name("l#shape#sofa")
    ('coffee table', 'table', 'l shape sofa')
    """
    text = name[:_MOST_CHARACTERS].replace("#", " ").replace("_", " ").casefold()
    text = _WITH.split(f"{text} ", maxsplit=1)[0]
    return " ".join(re.findall(r"[a-z0-9]+", text))


@cache
def _names() -> dict[str, str | None]:
    known: dict[str, str | None] = dict.fromkeys(_NONE)
    for category, names in CATEGORIES.items():
        known.update(dict.fromkeys(names, category))
    return known


def category_of(name: str) -> str | None:
    """Return the category of an object's name; None if it has none.

    >>> category_of("throw#pillow"), category_of("toilet#brush"), category_of("tv")
    ('cushion', None, 'tv_monitor')
    """
    words = clean_name(name).split()
    for size in range(min(len(words), _MOST_WORDS), 0, -1):
        for last in _singulars(words[-1]):
            ending = " ".join([*words[-size:-1], last])
            whole = size == len(words)
            if ending in _names() and (whole or ending not in _WHOLE_ONLY):
                return _names()[ending]
    return None


def _singulars(word: str) -> tuple[str, ...]:
    plain = word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word
    return (word, plain, word.removesuffix("es") if len(word) > 4 else word)
