"""Names of rooms and things as a person says them.

Both come from files, so they are data: what is not a letter or a digit is dropped, and a name is
bounded, so that none can carry a sentence.
"""

from __future__ import annotations

import re

from navloom.scenes.scene import Item, Region, prompt_name

__all__ = ["article", "item_words", "room_words", "some"]

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
