"""Lexicon of item names and room types, and the scene JSON that a model reads.

The words are data, in ``lexicon.yaml`` beside this file. A name that is not listed is classified by
its head: the longest listed ending ("stack of old towels" by "towel"). A head that is too general
is not used, since a wrong kind is worse than none: a robot would be asked to carry a fuse box.
Names come from scene files, so they are untrusted. They are cut to a bounded length and only looked
up.

``scene_json`` is the scene as models read it, the JSON of CoNavBench A.10.1:
``{"floor_1": {"region": [{"id": ...}], "link": ["A_1 <-> B_2", ...],
"item": [{"region": ..., "asset": [...], "object": [...]}]}}``. Names are unique within a list and
safe to quote (see :func:`navloom.scenes.scene.prompt_name`); structure is left out. A link between
floors is listed with the lower one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from navloom.errors import did_you_mean
from navloom.scenes.distances import cached_on_scene
from navloom.scenes.safe_files import read_yaml
from navloom.scenes.scene import ItemKind, Scene

ROOM_TYPES: tuple[str, ...] = (
    "Bedroom",
    "Bathroom",
    "Kitchen",
    "Dining Room",
    "Living Room",
    "Study / Office",
    "Laundry Room",
    "Closet / Storage Room",
    "Hallway / Corridor",
    "Garage",
    "Kids Room / Nursery",
    "Balcony / Terrace",
    "Media Room / Home Theater",
    "Gym / Fitness Room",
    "Library",
    "Meeting Room",
    "Lounge / Waiting Room",
    "Pantry / Bar",
    "Dressing Room",
    "Entryway / Foyer",
)
"""Room types, in the paper's words and order (CoNavBench A.12)."""

Group = Literal["surface", "asset", "object", "structure"]
_GROUPS: tuple[Group, ...] = ("surface", "asset", "object", "structure")
_NO_TYPE = "none"
_MOST_BYTES = 500_000
_MOST_CHARACTERS = 120
_MOST_WORDS = 5
"""Number of words in the longest ending that is looked up."""

_NUMBERED = re.compile(r"\s*_\d+$")
_ELSEWHERE = re.compile(r"\s*/\s*(other\s?room|outside)\b|\s+behind$")
_WITH = re.compile(r"\s*/w\s+|\s+w/\s+|\s+(?:with|for|in|on|behind)\s+")
_AND = re.compile(r"\s*/\s*|\s+(?:and|or)\s+|\s*&\s*")
_OF = re.compile(r"\s+of\s+")


class Lexicon(BaseModel):
    """Content of a ``lexicon.yaml``; the file's comments explain each key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    surface: tuple[str, ...]
    asset: tuple[str, ...]
    object: tuple[str, ...]
    structure: tuple[str, ...]
    structure_first: tuple[str, ...]
    whole_only: tuple[str, ...]
    measures: tuple[str, ...]
    room_types: dict[str, tuple[str, ...]]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        names = [name for group in _GROUPS for name in getattr(self, group)]
        labels = [label for labels in self.room_types.values() for label in labels]
        for each in (names, labels, self.structure_first, self.whole_only, self.measures):
            seen: set[str] = set()
            for name in each:
                if name in seen:
                    raise ValueError(f"{name!r} stands twice")
                if normalize_words(name) != name or not name:
                    raise ValueError(f"{name!r} is not in plain lower case with single spaces")
                seen.add(name)
        for name in set(self.whole_only) - set(names):
            raise ValueError(f"whole_only: {name!r} is in no group")
        for room_type in set(self.room_types) - {*ROOM_TYPES, _NO_TYPE}:
            near = did_you_mean(room_type, ROOM_TYPES)
            raise ValueError(f"room_types: {room_type!r} is not a room type of the paper.{near}")
        return self


_LEXICON = TypeAdapter(Lexicon)


def load_lexicon(path: Path) -> Lexicon:
    """Load and validate a lexicon.

    Args:
        path: a YAML file with the keys of :class:`Lexicon`.

    Raises:
        SceneError: the file is missing or not YAML, a key is unknown or missing, a name is listed
            twice or is not in plain lower case, or a room type is not one of the paper's.
    """
    return read_yaml(path, _LEXICON, most=_MOST_BYTES)


@cache
def _lexicon() -> Lexicon:
    return load_lexicon(Path(str(files("navloom.scenes").joinpath("lexicon.yaml"))))


@cache
def word_table(name: str) -> dict[str, str]:
    """Return a table of ``words.yaml``, the word lists of rule-based code; read once.

    Args:
        name: of the table.

    Returns:
        Each head word -> the words that belong to it, as the file's text.
    """
    path = Path(str(files("navloom.scenes").joinpath("words.yaml")))
    return read_yaml(path, TypeAdapter(dict[str, dict[str, str]]), most=_MOST_BYTES)[name]


def canonical_words(table: str) -> dict[str, str]:
    """Return each word of a synonym table -> its head word."""
    return {word: head for head, words in word_table(table).items() for word in words.split()}


@cache
def _groups() -> dict[str, Group]:
    lexicon = _lexicon()
    return {name: group for group in _GROUPS for name in getattr(lexicon, group)}


def classify(name: str) -> ItemKind | None:
    """Classify a name as an asset, an object or structure.

    Args:
        name: an item's name in its source's words, such as ``"stack of towels"`` or
            ``"chair _2"``.

    Returns:
        ``"asset"`` (fixed furniture, appliances: CoNavBench A.10.1), ``"object"`` (portable),
        ``"structure"`` (neither), or None if the lexicon does not know it.

    >>> classify("kitchen cabinet"), classify("cabinet door"), classify("stack of towels")
    ('asset', 'structure', 'object')
    """
    group = _group(name)
    return "asset" if group == "surface" else group


def is_surface(name: str) -> bool:
    """Check by its name whether an item is an asset that objects can be put on.

    >>> is_surface("coffee table"), is_surface("bathtub"), is_surface("cup")
    (True, False, False)
    """
    return _group(name) == "surface"


def count_unlisted(names: Iterable[str]) -> Counter[str]:
    """Count the names that :func:`classify` does not know, most frequent first when printed."""
    return Counter(name for name in names if classify(name) is None)


@lru_cache(maxsize=20_000)
def _group(name: str) -> Group | None:
    text = _unnumbered(name)
    whole = _groups().get(normalize_words(text))
    if whole is not None:
        return whole
    text = _WITH.split(text, maxsplit=1)[0]
    return _same([_phrase(part) for part in _AND.split(text) if part.strip()])


def _unnumbered(name: str) -> str:
    text = _NUMBERED.sub("", name[:_MOST_CHARACTERS].casefold().strip())
    return _ELSEWHERE.sub("", text.strip())


def lookup_forms(name: str) -> Iterator[str]:
    """Yield the forms by which a name may be looked up in a word table, most specific first.

    They are the whole name, then the endings of its head, longest first. Each is given as it stands
    and in its possible singulars.

    Args:
        name: an item's name in its source's words, or as models write it (``coffee_table``).

    >>> list(lookup_forms("stack of old towels"))[-4:]
    ['old towels', 'old towel', 'towels', 'towel']
    """
    text = _unnumbered(name.replace("_", " "))
    whole = normalize_words(text).split()
    if whole:
        yield from (" ".join([*whole[:-1], last]) for last in _singulars(whole[-1]))
    for part in _AND.split(_WITH.split(text, maxsplit=1)[0]):
        yield from _head_endings(_head(part))


def lexicon_name(name: str) -> str | None:
    """Return the lexicon entry that matches a name; None if there is none.

    >>> lexicon_name("stack of old towels"), lexicon_name("gadget")
    ('towel', None)
    """
    return next((ending for ending in lookup_forms(name) if ending in _groups()), None)


def _head(text: str) -> list[str]:
    """Return the words of a phrase's head noun: the towels of "stack of towels"."""
    head, *rest = _OF.split(text, maxsplit=1)
    if (
        rest
        and normalize_words(head).split()[-1:]
        and normalize_words(head).split()[-1] in _lexicon().measures
    ):
        head = rest[0]
    return normalize_words(head).split()


def _head_endings(words: list[str]) -> Iterator[str]:
    for size in range(min(len(words), _MOST_WORDS), 0, -1):
        for last in _singulars(words[-1]):
            yield " ".join([*words[-size:-1], last])


def normalize_words(text: str) -> str:
    """Normalize a text to lower-case letters and digits with single spaces between words.

    >>> normalize_words("The  L-shaped sofa!")
    'the l shaped sofa'
    """
    return re.sub(r"[^0-9a-z]+", " ", text.casefold()).strip()


def _same(groups: list[Group | None]) -> Group | None:
    """Return the one group of all parts; a surface and another asset make an asset."""
    found = set(groups)
    if found == {"surface", "asset"}:
        return "asset"
    return found.pop() if len(found) == 1 else None


def _phrase(text: str) -> Group | None:
    words = _head(text)
    if any(" ".join(words).startswith(f"{first} ") for first in _lexicon().structure_first):
        return "structure"
    for name in _head_endings(words):
        whole = name.count(" ") == len(words) - 1
        if name in _groups() and (whole or name not in _lexicon().whole_only):
            return _groups()[name]
    return None


def _singulars(word: str) -> list[str]:
    """Return the word as it stands, then its possible singulars."""
    forms = [word]
    for ending, singular in (("ves", "f"), ("ves", "fe"), ("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            forms.append(word.removesuffix(ending) + singular)
    return forms


def room_types(label: str) -> frozenset[str]:
    """Return the paper's room types that a label fits.

    Args:
        label: a region's type in its source's words. A compound label, such as
            ``"kitchen/living room"``, fits the type of each of its parts.

    Returns:
        Some of :data:`ROOM_TYPES`; empty if none fits (``"other"``, ``"Unknown"``).
    """
    table = _room_table()
    whole = table.get(normalize_words(label[:_MOST_CHARACTERS]))
    if whole is not None:
        return whole
    parts = [
        table.get(normalize_words(part), frozenset())
        for part in label[:_MOST_CHARACTERS].split("/")
    ]
    return frozenset().union(*parts)


def room_names(types: Collection[str]) -> list[str]:
    """Return the lexicon's names for rooms of the given types, in plain lower case."""
    return [name for name, found in _room_table().items() if found & set(types)]


@cache
def lexicon_words() -> frozenset[str]:
    """Return every single word of the lexicon's names, which need no spelling correction."""
    return frozenset(word for name in (*_groups(), *_room_table()) for word in name.split())


@cache
def _room_table() -> dict[str, frozenset[str]]:
    table = {label: frozenset[str]() for label in _lexicon().room_types.get(_NO_TYPE, ())}
    for room_type in ROOM_TYPES:
        names = [room_type, *room_type.split("/"), *_lexicon().room_types.get(room_type, ())]
        table.update({normalize_words(name): frozenset({room_type}) for name in names})
    return table


def item_names(scene: Scene, region: str, kind: ItemKind) -> list[str]:
    """Return the distinct names of a region's items of one kind, for models, in scene order."""
    return list(dict.fromkeys(item.prompt_name for item in scene.items_in(region, kind)))


def scene_prompt(scene: Scene) -> dict[str, Any]:
    """Return the scene as models read it; the module's docstring describes the form."""
    floor_of = {region.id: region.floor for region in scene.regions}
    floors: dict[str, Any] = {}
    for floor in sorted(scene.floors, key=lambda f: f.id):
        regions = [region.id for region in scene.regions if region.floor == floor.id]
        links = [
            f"{link.a} <-> {link.b}"
            for link in scene.links
            if min(floor_of[link.a], floor_of[link.b]) == floor.id
        ]
        items = [
            {
                "region": region,
                "asset": item_names(scene, region, "asset"),
                "object": item_names(scene, region, "object"),
            }
            for region in regions
            if scene.items_in(region, "asset") or scene.items_in(region, "object")
        ]
        if regions:
            floors[f"floor_{floor.id}"] = {
                "region": [{"id": region} for region in regions],
                "link": list(dict.fromkeys(links)),
                "item": items,
            }
    return floors


@cached_on_scene
def scene_json(scene: Scene) -> str:
    """Return the scene as JSON text for the paper's prompts, made once per scene."""
    return json.dumps(scene_prompt(scene))
