"""Rooms as nodes of CapNav's graphs: a number, a unique name, and a description.

The benchmark's annotators named rooms by distinguishing features ("Bedroom with white sheets",
"Second floor hallway") and put a node in each. A name here is the room's type alone, or with its
storey if it is the only one of its type there, or with an item that no other room of the type has,
or with a number. No name is part of another: the public scorer searches for names in a question's
words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from navloom.scenes.formats.referring_expressions import landmark_phrases, plain_name
from navloom.scenes.scene import Point3, Region, Scene

_STOREYS = ("Ground", "First", "Second", "Third", "Fourth", "Fifth")
_MOST_TOLD = 5
_MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class CapNavNode:
    """Room as a node of the benchmark.

    Attributes:
        id: ``node_`` and its number.
        name: unique in the scene.
        description: what the room contains; often empty.
        position: of its central viewpoint, else its centre; metres, y up, at the floor.
    """

    id: str
    name: str
    description: str
    position: Point3


def region_nodes(scene: Scene) -> dict[str, CapNavNode]:
    """Return the node of each region, by the region's id."""
    numbers = _numbers(scene)
    names = _names(scene)
    return {
        region.id: CapNavNode(
            f"node_{numbers[region.id]}",
            names[region.id],
            _description(scene, region, names[region.id]),
            _position(scene, region),
        )
        for region in scene.regions
    }


def _numbers(scene: Scene) -> dict[str, str]:
    """Return the regions' own numbers if they are unique, else their positions in the scene."""
    own = {region.id: region.number for region in scene.regions}
    if len(set(own.values())) == len(own) and all(
        n.isascii() and n.isdecimal() for n in own.values()
    ):
        return own
    return {region.id: str(place) for place, region in enumerate(scene.regions, start=1)}


def _position(scene: Scene, region: Region) -> Point3:
    """Return a standing position in a room: of its viewpoints the one nearest to its centre."""
    x, _, z = region.center
    there = scene.viewpoints_by_region.get(region.id, ())
    if not there:
        return region.center
    nearest = min(there, key=lambda v: ((v.position[0] - x) ** 2 + (v.position[2] - z) ** 2, v.id))
    return nearest.ground


def _description(scene: Scene, region: Region, name: str) -> str:
    if region.description:
        return region.description[:400]
    told = [words for words, item in landmark_phrases(scene, region.id) if item.kind == "asset"]
    told = [words for words in told if words not in name][:_MOST_TOLD]
    if not told:
        return ""
    listed = [f"{_article(words)} {words}" for words in told]
    last = f" and {listed[-1]}" if len(listed) > 1 else ""
    return f"With {', '.join(listed[:-1] or listed)}{last}"


def _article(words: str) -> str:
    return "an" if words[0] in "aeiou" else "a"


def _names(scene: Scene) -> dict[str, str]:
    labels = {region.id: _label(region) for region in scene.regions}
    counted = Counter(labels.values())
    ground = min((floor.id for floor in scene.floors), default=1)
    made: dict[str, str] = {}
    for region in scene.regions:
        label = labels[region.id]
        alike = [each for each in scene.regions if labels[each.id] == label]
        tried = [label] if counted[label] == 1 else []
        if sum(each.floor == region.floor for each in alike) == 1 and counted[label] > 1:
            storey = region.floor - ground
            word = _STOREYS[storey] if storey < len(_STOREYS) else f"Level {storey}"
            tried.append(f"{word} floor {label[0].lower()}{label[1:]}")
        tried += [f"{label} with {_article(t)} {t}" for t in _own_things(scene, region, alike)]
        taken = {each.casefold() for each in made.values()}
        fine = (t for t in tried if t.casefold() not in taken and len(t) <= _MOST_NAME)
        made[region.id] = next(fine, "")
    return _without_gaps(_apart(made), labels)


def _own_things(scene: Scene, region: Region, alike: list[Region]) -> list[str]:
    """Return up to three assets that no other room of the type has, the largest first."""
    others = {plain_name(i) for o in alike if o is not region for i in scene.items_in(o.id)}
    own = [words for words, item in landmark_phrases(scene, region.id) if item.kind == "asset"]
    return [words for words in own if not any(words.endswith(name) for name in others)][:3]


def _apart(names: Mapping[str, str]) -> dict[str, str]:
    """Return names, blank if they are part of another name, so that they are replaced."""
    padded = {key: f" {name.casefold()} " for key, name in names.items()}
    return {
        key: ""
        if any(name and padded[key] in padded[other] for other in names if other != key)
        else name
        for key, name in names.items()
    }


def _without_gaps(names: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, str]:
    """Return names in which rooms without a name have a numbered one."""
    made = dict(names)
    for key, name in names.items():
        if name:
            continue
        number = 1
        while True:
            words = f"{labels[key]} {number}"
            if all(f" {words.casefold()} " not in f" {o.casefold()} " for o in made.values()):
                break
            number += 1
        made[key] = words
    return made


def _label(region: Region) -> str:
    """Return a room's type as the start of a name: capitalized, letters and digits only."""
    plain = "".join(c if c.isalnum() else " " for c in region.label)
    words = " ".join(plain.split())[:40] or "Room"
    return f"{words[0].upper()}{words[1:]}"
