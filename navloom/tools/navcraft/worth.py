"""Whether a task is worth giving: would a person ask for it, can it be misread, how hard is it?

CoNavBench 3.1 asks that a task be valid; a valid task may still have a painting put on a toilet.
What is plausible is read from ``belongs.yaml`` beside this file: how readily a thing is asked for,
the rooms it is at home in, and the furniture it is put on or in. The score is the geometric mean of
the three grades, so that one that is odd cannot be made up for by the others. Both the words and
the grades are ours; how far they are true of real homes is measured (docs/dataset.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.scenes.checked_files import read_yaml
from navloom.scenes.lexicon import ROOM_TYPES, endings, room_types
from navloom.scenes.scene import ItemKind, Scene
from navloom.tools.navcraft.errand import Errand, shortest_path

_MOST_BYTES = 200_000
_HOME, _ALSO, _ODD = 1.0, 0.5, 0.1
_LATER, _MOST_LATER = 0.03, 4
"""What each place further down a list takes off a grade, and how many places do."""
_UNKNOWN = 0.5
"""The grade of what the file says nothing of: neither praised nor blamed."""
_CARRY = {"often": 1.0, "seldom": 0.4, "never": 0.05}
SENSIBLE = 0.6
"""From this score on nothing about a task is odd: all three grades are at least middling."""

_ANY = "any"

T = TypeVar("T")


class Plausibility(NamedTuple):
    """How far a person would ask for it, and why.

    Attributes:
        score: the geometric mean of the grades, 0 to 1; 0 where the furniture holds nothing.
        carry: how readily one asks for the thing to be carried.
        room: how well it belongs in the room where it goes.
        on: how well it belongs on the furniture where it is put.
    """

    score: float
    carry: float
    room: float
    on: float


def errand_worth(scene: Scene, errand: Errand) -> dict[str, Any]:
    """What an errand is worth beside being valid, as JSON; docs/dataset.md lists the keys.

    Args:
        scene: its scene.
        errand: a valid task: :func:`navloom.tools.navcraft.errand.read_errand` finds no fault.

    Returns:
        ``plausible`` and its grades ``carry``, ``room`` and ``on`` (0 to 1); ``unambiguous``: the
        sentence fits one object of its room and one asset of its; ``objects`` and ``assets``: how
        many it fits; ``namesakes``: things of those names in other rooms; ``doors``: on the way,
        None where the scene names none; ``storeys``: storeys the way touches; ``belongs``: the
        version of the file that the grades are of.
    """
    score = plausibility(errand.object, errand.end_asset, scene.region_by_id[errand.end].label)
    things = _rooms_of(scene, "object", errand.object)
    places = _rooms_of(scene, "asset", errand.end_asset)
    objects, assets = things.count(errand.target), places.count(errand.end)
    steps = [step.split(" -> ") for step in shortest_path(scene, errand)]
    kinds = {frozenset((link.a, link.b)): link.kind for link in scene.links}
    doors = sum(kinds[frozenset(step)] == "door" for step in steps)
    floors = {scene.region_by_id[room].floor for room in (errand.start, *(b for _, b in steps))}
    return {
        "belongs": _belongs().version,
        "plausible": score.score,
        "carry": score.carry,
        "room": score.room,
        "on": score.on,
        "unambiguous": objects == assets == 1,
        "objects": objects,
        "assets": assets,
        "namesakes": len(things) + len(places) - objects - assets,
        "doors": doors if "door" in kinds.values() else None,
        "storeys": len(floors),
    }


def _rooms_of(scene: Scene, kind: ItemKind, name: str) -> list[str]:
    """The room of every item of a name."""
    return [i.region for i in scene.items if i.kind == kind and i.prompt_name == name and i.region]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _Holder(_Part):
    names: tuple[str, ...]
    particular: bool = False
    in_: dict[str, str] = Field(default_factory=dict, alias="in")


class _Thing(_Part):
    names: tuple[str, ...]
    carry: Literal["often", "seldom", "never"]
    home: tuple[str, ...]
    also: tuple[str, ...]
    put_on: tuple[str, ...]
    or_on: tuple[str, ...]


class _Belongs(_Part):
    version: Literal[1]
    rooms: dict[str, str]
    holders: dict[str, _Holder]
    things: dict[str, _Thing]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        _once(name for holder in self.holders.values() for name in holder.names)
        _once(name for thing in self.things.values() for name in thing.names)
        rooms = [*self.rooms, *(each for holder in self.holders.values() for each in holder.in_)]
        kinds = [each for holder in self.holders.values() for each in holder.in_.values()]
        for thing in self.things.values():
            _once([*thing.home, *thing.also])
            _once([*thing.put_on, *thing.or_on])
            rooms += [*thing.home, *thing.also]
            kinds += [*thing.put_on, *thing.or_on]
        for room in set(rooms) - {*ROOM_TYPES, _ANY}:
            raise ValueError(f"{room!r} is not a room type of the paper")
        for kind in set(kinds) - set(self.holders):
            raise ValueError(f"{kind!r} is not a kind of holder")
        return self


def _once(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{name!r} stands twice")
        seen.add(name)


@cache
def _belongs() -> _Belongs:
    path = Path(str(files("navloom.tools.navcraft").joinpath("belongs.yaml")))
    return read_yaml(path, TypeAdapter(_Belongs), most=_MOST_BYTES)


@cache
def _holders() -> dict[str, str]:
    return {name: kind for kind, holder in _belongs().holders.items() for name in holder.names}


@cache
def _things() -> dict[str, _Thing]:
    return {name: thing for thing in _belongs().things.values() for name in thing.names}


def _looked_up(name: str, table: Mapping[str, T]) -> T | None:
    return next((table[each] for each in endings(name) if each in table), None)


@lru_cache(maxsize=20_000)
def can_hold(asset: str, object_name: str | None = None) -> bool:
    """Whether furniture of this name holds a thing, as far as a name can say.

    Args:
        asset: its name, in the scene's words or as models write it.
        object_name: what it is to hold; None: anything. A particular piece (a refrigerator) holds
            only what is named for it.

    >>> can_hold("coffee_table"), can_hold("toilet"), can_hold("fridge"), can_hold("fridge", "milk")
    (True, False, False, True)
    """
    kind = _looked_up(asset, _holders())
    if kind is None:
        return False
    if not _belongs().holders[kind].particular:
        return True
    thing = _looked_up(object_name, _things()) if object_name else None
    return thing is not None and kind in (*thing.put_on, *thing.or_on)


HOLDS_NOTHING = "holds_nothing"
"""The code of a proposal that puts a thing where none can be put."""


def holds_nothing(asset: str, region: str, object_name: str) -> str:
    """What a generator is told of such furniture."""
    return f"One cannot put a {object_name} on or in the {asset} in {region}."


@lru_cache(maxsize=100_000)
def plausibility(object_name: str, asset: str, room: str) -> Plausibility:
    """How far a person would ask for a thing to be taken to a room and put there.

    Args:
        object_name: the thing, in the scene's words or as models write it.
        asset: the furniture it is put on or in, likewise.
        room: the label of the room where it goes (``"kitchen/living room"``); where a label fits
            several types of the paper, the one that suits best counts.

    Returns:
        The score and its grades. A thing, or a room, of which nothing is said gets the middle; of
        what is listed, what is listed first belongs a little better.

    >>> plausibility("book", "bookcase", "study").score, plausibility("book", "sink", "wc").score
    (1.0, 0.0)
    """
    thing = _looked_up(object_name, _things())
    types = room_types(room)
    carry, belongs = carry_grade(object_name), room_grade(object_name, room)
    if not can_hold(asset, object_name):
        return Plausibility(0.0, carry, belongs, 0.0)
    kind = _looked_up(asset, _holders()) or ""
    roles = _belongs().holders[kind].in_
    as_what = {kind, *(roles[each] for each in types if each in roles)}
    on = max(_grade(each, thing.put_on, thing.or_on) for each in as_what) if thing else _UNKNOWN
    return Plausibility((carry * belongs * on) ** (1 / 3), carry, belongs, on)


def purpose(room: str) -> str:
    """What a room of this label is for, in a few words; empty where nothing is said."""
    types = room_types(room)
    return "; ".join(words for each, words in _belongs().rooms.items() if each in types)


@lru_cache(maxsize=20_000)
def carry_grade(object_name: str) -> float:
    """How readily a person asks for a thing to be carried: 1 often, .4 seldom, .05 never."""
    thing = _looked_up(object_name, _things())
    return _CARRY[thing.carry] if thing else _UNKNOWN


@lru_cache(maxsize=100_000)
def room_grade(object_name: str, room: str) -> float:
    """How well a thing belongs in a room: 1 at home, .5 as well, .1 odd; .5 where nothing is said.

    Args:
        object_name: the thing, in the scene's words or as models write it.
        room: the label of the room.
    """
    thing, types = _looked_up(object_name, _things()), room_types(room)
    if thing is None or not types:
        return _UNKNOWN
    return max(_grade(each, thing.home, thing.also) for each in types)


def _grade(what: str, first: tuple[str, ...], second: tuple[str, ...]) -> float:
    for words, best in ((first, _HOME), (second, _ALSO)):
        if what in words:
            return best - _LATER * min(words.index(what), _MOST_LATER)
    return _ALSO - _LATER * _MOST_LATER if _ANY in second else _ODD
