"""Named places of a scene as CapNav's questions use them, with their items and connections.

In a benchmark scene the places are its nodes. Only their names and a few descriptions are known,
not their items. In any other scene the places are its regions, with their items if the source has
any. What bodies can do comes from the annotations or from the links' geometry.

The word lists of the grounding checks are data, in ``lexis.yaml``. Texts come from models and scene
files, so they are untrusted: they are cut to a bounded length and only ever looked up.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Literal

import networkx as nx
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.scenes.bodies import ALIASES, body_names, canonical_name
from navloom.scenes.distances import scene_cached
from navloom.scenes.formats.capnav import NodeIndex
from navloom.scenes.formats.capnav_annotations import load_annotations
from navloom.scenes.lexicon import normalize_words
from navloom.scenes.passability import link_traversability
from navloom.scenes.safe_files import read_yaml
from navloom.scenes.scene import UNKNOWN, Scene
from navloom.scenes.scene_uri import DATA_VARIABLE, get_scene
from navloom.scenes.traversability_table import Traversability

Known = Literal["items", "description"]
"""What a detail of a place can be checked against."""
_SCHEME = "capnav:"


@dataclass(frozen=True)
class NamedPlaces:
    """The places of one scene.

    Attributes:
        scene: the scene.
        truth: its passages, and which bodies can pass them.
    """

    scene: Scene
    truth: Traversability

    @property
    def ids(self) -> tuple[str, ...]:
        """Node ids of a benchmark scene, region ids of any other."""
        return self.truth.nodes

    def name(self, place: str) -> str:
        """Return a place's name as a question uses it; empty for an unnamed place."""
        if self._nodes is None:
            return place
        name = self._nodes.name(place)
        return "" if name == UNKNOWN else name

    def description(self, place: str) -> str:
        """Return the source's description of a place, often empty."""
        if self._nodes is not None:
            return self._nodes.description(place)
        return self.scene.region_by_id[place].description or ""

    def known(self, place: str) -> Known:
        """Return whether a place has an item list ("items") or only a description."""
        return "items" if self.items(place) else "description"

    def items(self, place: str) -> tuple[str, ...]:
        """Return the item names of a place, without repeats; () in a benchmark scene."""
        if self._nodes is not None:
            return ()
        region = self.scene.items_in(place)
        return tuple(dict.fromkeys(" ".join(item.name.split()) for item in region))

    def called(self, place: str) -> tuple[str, ...]:
        """Return the stemmed names of a place, one of which a question must contain."""
        if self._nodes is not None:
            name = self.name(place)
            if not name:
                return ()
            mine = stem(normalize(name))
            # A name that two places share is ambiguous alone, so the id is added.
            return (mine,) if self._shared[mine] == 1 else (f"{mine} {stem(normalize(place))}",)
        label = stem(normalize(self.scene.region_by_id[place].label))
        alone = label != stem(normalize(UNKNOWN)) and self._shared[label] == 1
        return (stem(normalize(place)), label) if alone else (stem(normalize(place)),)

    def resolve(self, text: object) -> str | None:
        """Return the place that a text names, by id, name or near match; None if there is none."""
        if self._nodes is not None:
            return self._nodes.resolve(text).node
        if not isinstance(text, str) or len(text) > 300:
            return None
        return self._by_name.get(normalize(text))

    def is_on_some_route(self, start: str, between: str, end: str) -> bool:
        """Check whether some simple route from ``start`` to ``end`` leads through a place.

        It does if adding an edge between the ends puts all three in one biconnected component.
        """
        graph = self.graph.copy()
        graph.add_edge(start, end)
        return any({start, between, end} <= set(part) for part in nx.biconnected_components(graph))

    def connected(self, start: str, end: str) -> bool:
        """Check whether any route leads there, regardless of the body."""
        return bool(nx.has_path(self.graph, start, end))

    @cached_property
    def graph(self) -> nx.Graph[str]:
        """Undirected graph of the places and their passages, regardless of the body."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(self.ids)
        graph.add_edges_from(self.truth.edges)
        return graph

    @cached_property
    def all_names(self) -> tuple[str, ...]:
        """Stems of the names of all places and items."""
        names = [self.name(place) for place in self.ids]
        names += [region.label for region in self.scene.regions]
        names += [item for place in self.ids for item in self.items(place)]
        return tuple(dict.fromkeys(stem(normalize(name)) for name in names if normalize(name)))

    @cached_property
    def counted(self) -> Counter[str]:
        """Number of items in the scene, by stemmed name."""
        return Counter(stem(normalize(item.name)) for item in self.scene.items)

    @cached_property
    def _nodes(self) -> NodeIndex | None:
        return NodeIndex(self.scene) if self.scene.source == "capnav" else None

    @cached_property
    def _shared(self) -> Counter[str]:
        return Counter(stem(normalize(region.label)) for region in self.scene.regions)

    @cached_property
    def _by_name(self) -> dict[str, str]:
        found = {normalize(place): place for place in self.ids}
        for place in self.ids:
            label = self.scene.region_by_id[place].label
            if self._shared[stem(normalize(label))] == 1:
                found.setdefault(normalize(label), place)
        return found


def traversability_of(scene: Scene | str) -> Traversability:
    """Return a scene's ground-truth traversability: annotated, else driven, else from its links.

    The links of a benchmark scene say nothing of bodies. Without the annotations beside its file,
    all its passages exist and none is labelled.

    Args:
        scene: a scene, or its URI.

    Raises:
        SceneError: the scene or its annotations are broken.
    """
    loaded = get_scene(scene)
    if loaded.source != "capnav":
        return scene_cached(loaded, "truth_geometry", lambda: link_traversability(loaded))
    folder = _folder(loaded.origin)
    name = f"{loaded.id}-traverse.json"
    if folder is None or not any((each / name).is_file() for each in (folder / "traverse", folder)):
        label = {str(v.region): v.id for v in loaded.viewpoints}
        return Traversability(
            nodes=tuple(v.id for v in loaded.viewpoints),
            edges=tuple((edge.a, edge.b) for edge in loaded.edges),
            names={node: loaded.region_by_id[region].label for region, node in label.items()},
            cells={canonical_name(name): {} for name in body_names()},
        )
    return scene_cached(loaded, f"truth_{folder}", lambda: load_annotations(folder, loaded))


def _folder(uri: str) -> Path | None:
    if not uri.startswith(_SCHEME):
        return None
    rest = uri.removeprefix(_SCHEME)
    given = Path(rest).expanduser()
    if rest and given.is_dir():
        return given
    if "/" in rest:
        return Path(rest.rpartition("/")[0] or "/").expanduser()
    return Path(os.environ.get(DATA_VARIABLE, "")).expanduser() / "capnav"


_MOST_BYTES = 100_000
_MOST_TEXT = 4_000
_Phrases = Annotated[
    list[Annotated[str, Field(pattern=r"^[0-9a-z]+( [0-9a-z]+)*$", max_length=60)]],
    Field(min_length=1, max_length=1_000),
]


class _NamesFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    capability: _Phrases
    exempt: _Phrases
    filler: _Phrases
    building: _Phrases
    attribute: _Phrases
    injection: _Phrases


class QuestionWordLists:
    """Word lists of ``lexis.yaml`` for checking generated questions, as stems.

    They are the same for every scene. The file's comments explain each list.

    Attributes:
        capability: phrases that a capability-neutral question must not have.
        exempt: names of items in which such a phrase refers to no body.
        filler: words that name no item.
        building: parts of a building that any place may have.
        attribute: adjectives of items.
        injection: phrases that address a model.
    """

    def __init__(self, read: _NamesFile) -> None:
        bodies = [normalize(name) for name in (*body_names(), *ALIASES)]
        self.capability = _stems([*read.capability, *bodies])
        self.exempt = _stems(read.exempt)
        self.filler = frozenset(_stems(read.filler))
        self.building = frozenset(_stems(read.building))
        self.attribute = frozenset(_stems(read.attribute))
        self.injection = _stems(read.injection)


@cache
def load_lexicon() -> QuestionWordLists:
    """Load the word lists that ship with Navloom (cached)."""
    with as_file(files("navloom.tools.capnav").joinpath("lexis.yaml")) as path:
        return QuestionWordLists(read_yaml(path, TypeAdapter(_NamesFile), most=_MOST_BYTES))


@lru_cache(maxsize=4096)
def normalize(text: str) -> str:
    """Return :func:`navloom.scenes.lexicon.normalize_words` of a bounded text (cached)."""
    return normalize_words(text[:_MOST_TEXT])


@lru_cache(maxsize=4096)
def stem(text: str) -> str:
    """Return a plain text with every word roughly in the singular, so that plurals match.

    >>> stem("glass doors")
    'glass door'
    """
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word
        for word in text.split()
    )


def _stems(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stem(phrase) for phrase in phrases))


def phrases_in(text: str, phrases: Iterable[str]) -> list[str]:
    """Return those of the phrases that occur in a text as whole words, without positions.

    Args:
        text: the stem of a plain text.
        phrases: stems of plain texts.
    """
    padded = f" {text} "
    return [phrase for phrase in phrases if f" {phrase} " in padded]


def phrases_outside(text: str, phrases: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the phrases that occur in a text outside any of the names; all are stems.

    >>> phrases_outside("walk to the walk in closet", ["walk"], ["walk in closet"])
    ['walk']
    >>> phrases_outside("the walk in closet", ["walk"], ["walk in closet"])
    []
    """
    padded = f" {text} "
    named = [span for name in names if name for span in _spans(padded, name)]
    return [
        phrase
        for phrase in phrases
        if any(
            not any(a <= begin and end <= b for a, b in named)
            for begin, end in _spans(padded, phrase)
        )
    ]


def _spans(padded: str, phrase: str) -> list[tuple[int, int]]:
    found, wanted = [], f" {phrase} "
    at = padded.find(wanted)
    while at != -1:
        found.append((at, at + len(wanted)))
        at = padded.find(wanted, at + 1)
    return found
