"""What is like a place that is not there: a near spelling of its name, or what does for it.

Spelling is compared word by word with the names that this home has and those that people have for
them, kinds by the rows of ``chat_alike`` in ``words.yaml``.
"""

from __future__ import annotations

from dataclasses import replace

from navloom.scenes.distances import per_scene
from navloom.scenes.lexicon import canons, known_words, room_names, room_types, word_table
from navloom.scenes.scene import Scene
from navloom.sim.words import label_words
from navloom.tools.chat.english import is_english
from navloom.tools.chat.places import Place, item_names, places_named
from navloom.tools.chat.slips import respell
from navloom.tools.chat.wishes import Wish, canon, is_plain, words_of

MOST_ALIKE = 3
_SHORTEST = 3
_SYNONYMS = canons("chat_synonyms")


def respelled(scene: Scene, words: str) -> str | None:
    """A description in which words that nobody knows are replaced by near ones.

    A word of English is no slip, though nothing here is called so.

    Returns:
        None where there is nothing to mend.

    >>> from navloom.scenes.uri import load_scene
    >>> respelled(load_scene("demo:house"), "the room next to the ktichen")
    'the room next to the kitchen'
    """
    said = list(words_of(words))
    mended = [_mended(scene, word) for word in said]
    return " ".join(mended) if mended != said else None


def _mended(scene: Scene, word: str) -> str:
    here = vocabulary(scene)
    rows = word_table("chat_alike").values()
    known = {word, canon(word)} & (here | known_words()) or any(word in r.split() for r in rows)
    if known or is_plain(word) or is_english(word) or len(word) < _SHORTEST or word.isdigit():
        return word
    return respell(word, here | known_words(), preferred=here) or word


def vocabulary(scene: Scene) -> frozenset[str]:
    """Every word that something here is called, also by other names of the same."""
    return per_scene(scene, "chat_vocabulary", lambda: _names(scene))


def _names(scene: Scene) -> frozenset[str]:
    here = {word for _, name in item_names(scene) for word in name}
    typed = {each for region in scene.regions for each in room_types(region.label)}
    for name in [*room_names(typed), *(label_words(region) for region in scene.regions)]:
        here.update(words_of(name))
    here.update(word for word, head in _SYNONYMS.items() if head in here)
    return frozenset(word for word in here if len(word) >= _SHORTEST)


def alike(scene: Scene, here: str, wish: Wish) -> list[Place]:
    """What does for a thing or a room that is not there; of each name the nearest, nearest first.

    Args:
        scene: the home.
        here: the viewpoint the robot stands on.
        wish: what was asked for; where it is to be is left out of account if need be.
    """
    names = _same_row(wish.head)
    if len(wish.head) > 1:
        # A "garden chair" that is not there is like another chair.
        names.append((wish.head[-1],))
    found: dict[str, Place] = {}
    for name in names:
        for place in places_named(scene, here, replace(wish, head=name)) or places_named(
            scene, here, Wish(name)
        ):
            if place.viewpoint is not None:
                found.setdefault(place.name, place)
                break
    return sorted(found.values(), key=lambda place: place.metres)[:MOST_ALIKE]


def _same_row(head: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The other names in the rows of a name; by its last word where the whole stands in none."""
    for said in ("_".join(head), "_".join(canon(word) for word in head), *map(canon, head[-1:])):
        rows = [row.split() for row in word_table("chat_alike").values()]
        fit = [row for row in rows if said in row]
        if fit:
            return [tuple(name.split("_")) for row in fit for name in row if name != said]
    return []
