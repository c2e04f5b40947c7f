"""Landmarks of a place: items and passages that identify it in a question because they are unique.

Best first: furniture that occurs once in the place (small objects may be moved), then items that
its name or description mentions ("Bedroom with white sheets"), then its passages, told apart by the
place they come from. For most places of a benchmark scene, adjacency is all that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from navloom.scenes.lexicon import room_types
from navloom.tools.capnav.named_places import (
    NamedPlaces,
    load_lexicon,
    normalize,
    phrases_outside,
    stem,
)

ENTRANCE = "entrance from the "
_WAY = re.compile(
    r"^(?:the )?(?:main )?(entrance|entry|entryway|passage|passageway|opening|way|doorway|door)"
    r"(?: \w+){0,2}? (?:from|to|into|of|toward|towards) (?:the )?(.+)$"
)
_PARTS = re.compile(r"[.,;:()]|\b(?:and|with|including|has|having|as well as)\b", re.IGNORECASE)
_LEAD = re.compile(r"^(?:(?:the|a|an|its|own|only|some|just) )+", re.IGNORECASE)
_REST = re.compile(r"\s(?:in|on|at|of|by|near|next|to|from|facing|leading)\s.*$", re.IGNORECASE)
_NOT_FIRST = frozenset(("no", "without", "of", "at", "on", "in", "to", "next", "between"))
_MOST_WORDS = 6


def list_landmarks(places: NamedPlaces, place: str) -> tuple[str, ...]:
    """Return the landmarks of a place, best first; () without any, not even a named neighbour."""
    things = [*_furniture(places, place), *_told(places, place)]
    body = load_lexicon().capability
    names = (*places.all_names, *load_lexicon().exempt)
    neutral = [each for each in things if not phrases_outside(stem(normalize(each)), body, names)]
    return tuple(dict.fromkeys([*neutral, *_entrances(places, place)]))


def _furniture(places: NamedPlaces, place: str) -> list[str]:
    """Return the names of furniture that are unique in the place, the rarest in the scene first."""
    every = [stem(normalize(item.name)) for item in places.scene.items_in(place)]
    there = [item.name for item in places.scene.items_in(place, "asset")]
    alone = [name for name in there if len(matching_names(stem(normalize(name)), every)) == 1]
    return sorted(alone, key=lambda name: places.counted[stem(normalize(name))])


def matching_names(said: str, names: Iterable[str]) -> list[str]:
    """Return the names that a detail may mean ("table": a table, a dining table); all are stems."""
    return [name for name in names if f" {name}".endswith(f" {said}")]


def _told(places: NamedPlaces, place: str) -> Iterator[str]:
    """Yield the items that the place's own name and description mention."""
    words = load_lexicon()
    empty = words.filler | words.building | words.attribute
    name, _, with_ = places.name(place).partition(" with ")
    # "Hallway to the bedroom with a brown rug": the rug is elsewhere.
    for told in (places.description(place), "" if _REST.search(name) else with_):
        for part in _PARTS.split(told):
            thing = _REST.sub("", f" {_LEAD.sub('', part.strip())} ").strip()
            said = stem(normalize(thing)).split()
            names_one = any(len(word) > 2 and word not in empty for word in said)
            is_one = names_one and said[-1] not in words.building and not room_types(thing)
            if is_one and said[0] not in _NOT_FIRST and len(said) <= _MOST_WORDS:
                yield thing


def _entrances(places: NamedPlaces, place: str) -> Iterator[str]:
    """Yield the passages as "entrance from the NAME", with the id where neighbours share a name."""
    joined = [each for each in places.graph[place] if places.name(each)]
    names = [places.name(each) for each in joined]
    for each, name in zip(joined, names, strict=True):
        yield f"{ENTRANCE}{name if names.count(name) == 1 else f'{name} {each}'}"


def named_passages(said: str, place: str, places: NamedPlaces) -> list[str] | None:
    """Return the adjacent places that a detail names by a passage ("entrance from the Kitchen").

    Returns:
        Their ids; empty if no adjacent place has that name; None if the detail names no passage to
        a place.
    """
    found = _WAY.match(stem(normalize(said)))
    if found is None:
        return None
    other = found[2]
    there = [each for each in places.ids if other in _names(places, each)]
    return [each for each in there if each in places.graph[place]] if there else None


def _names(places: NamedPlaces, place: str) -> set[str]:
    name, own = stem(normalize(places.name(place))), stem(normalize(place))
    return {name, own, f"{name} {own}"} - {""}
