"""Single-robot task placed on G+, and its quality: plausibility, ambiguity and difficulty.

Every relay of a task is a few lookups. This module resolves which instance a shared name means. The
object and the end asset are the pair that minimizes ``d(s, o) + d(o, a_e)``. A transfer asset is
the instance that minimizes the carried route ``d(o, x) + d(x, a_e)``, because that is what the
handoff adds to the object's path, whichever robot carries it. Instances with a usable surface come
before those without. Ties go to the lowest id.

Faults of a helper start or a transfer asset that do not depend on the combination are found here
once, as plain sentences an agent can act on. :mod:`navloom.tools.navcraft.relay` adds those that
depend on both.

CoNavBench 3.1 requires valid tasks, but a valid task may put a painting on a toilet. Plausibility
is read from ``belongs.yaml`` beside this file: how often an object is asked for, the rooms it
belongs in, and the furniture it is put on or in. The score is the geometric mean of the three
grades, so that one low grade cannot be compensated by the others. The words and the grades are
ours; their agreement with real homes is measured in docs/dataset.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import UsageError, did_you_mean
from navloom.scenes.distances import hop_table
from navloom.scenes.lexicon import ROOM_TYPES, lookup_forms, room_types
from navloom.scenes.safe_files import read_yaml
from navloom.scenes.scene import Item, ItemKind, Scene, prompt_name
from navloom.tools.model_output import Violation
from navloom.tools.navcraft import task_paths

SHORTEST_SIDE = 0.30
"""Metres: minimum width of a usable surface (our rule)."""
LOWEST_TOP, HIGHEST_TOP = 0.25, 1.40
"""Metres above the floor between which a robot can put objects down (our rule)."""
SHORTEST_ROUTE = 1e-6
"""Metres: minimum route length for which a rate is meaningful."""
LEAST_GAIN = 1e-9
"""Metres: tolerance for rounding in sums of the same legs."""
MAX_LISTED = 12
"""Maximum number of names in a message."""
HELPER = 'phase_2 "Collaborative robot start region"'
_HANDOFF = 'phase_2 "Transfer region"'


@dataclass(frozen=True, slots=True)
class TransferPlace:
    """A place to hand the object over: an asset with its distances.

    Attributes:
        region: its region.
        name: its name as models write it.
        item: the instance meant.
        anchor: its anchor on G+; None if it has none.
        viewpoint: column of the anchor's viewpoint; -1 without an anchor.
        spur: metres from that viewpoint to the asset.
        from_start: ``d(s, x)`` in metres, ``inf`` if not connected.
        from_object: ``d(o, x)`` in metres, likewise.
        to_end: ``d(x, a_e)`` in metres, likewise.
        broken: the guards it breaks with every helper.
    """

    region: str
    name: str
    item: Item
    anchor: task_paths.Anchor | None
    viewpoint: int
    spur: float
    from_start: float
    from_object: float
    to_end: float
    broken: tuple[Violation, ...]

    @property
    def carried(self) -> float:
        """Metres the object is carried by way of this place: ``d(o, x) + d(x, a_e)``."""
        return self.from_object + self.to_end


@dataclass(frozen=True, slots=True)
class HelperStart:
    """A start region for robot_2, with its distances.

    Attributes:
        region: the region.
        anchor: robot_2's start anchor; None if the region has no viewpoint.
        row: metres from there to every viewpoint; empty without an anchor.
        to_object: metres to the object, ``inf`` if not connected.
        neighbours: the regions one link away.
        broken: the guards it breaks with every transfer asset.
    """

    region: str
    anchor: task_paths.Anchor | None
    row: list[float]
    to_object: float
    neighbours: frozenset[str]
    broken: tuple[Violation, ...]


@dataclass(frozen=True, eq=False)
class RelayTask:
    """A single-robot task: take an object from one region to an asset in another.

    Names are accepted as models write them (``coffee_table``) or as the scene does.

    Attributes:
        scene: the scene.
        start_region: where robot_1 starts.
        target_region: where the object is.
        object_name: the object to take.
        end_region: where it goes.
        end_asset: the asset it is put on.
        meant: ids of the intended instances of shared names; they take precedence over the nearest.
        over: G+ with another choice among tied anchors; None: the scene's own.

    Raises:
        UsageError: a region, the object or the end asset does not exist.
    """

    scene: Scene
    start_region: str
    target_region: str
    object_name: str
    end_region: str
    end_asset: str
    meant: frozenset[str] = frozenset()
    over: task_paths.MetricGraph | None = None

    def __post_init__(self) -> None:
        for argument in ("start_region", "target_region", "end_region"):
            if getattr(self, argument) not in self.scene.region_by_id:
                raise UsageError(
                    task_paths.region_not_found(
                        self.scene, getattr(self, argument), argument=argument
                    )
                )
        wanted: tuple[tuple[str, str, ItemKind], ...] = (
            (self.target_region, self.object_name, "object"),
            (self.end_region, self.end_asset, "asset"),
        )
        for region, name, kind in wanted:
            if not self._instances(region, name, kind):
                raise UsageError(item_not_found(self.scene, region, name, kind))

    @cached_property
    def graph(self) -> task_paths.MetricGraph:
        """G+ of the scene."""
        return self.over or task_paths.metric_graph(self.scene)

    @property
    def object_item(self) -> Item:
        """The intended instance of the object."""
        return self._pair[0]

    @property
    def end_item(self) -> Item:
        """The intended instance of the end asset."""
        return self._pair[1]

    @property
    def start_anchor(self) -> task_paths.Anchor | None:
        """Start anchor of robot_1; None if its region has no viewpoint."""
        return self.graph.starts.get(self.start_region)

    @property
    def object_anchor(self) -> task_paths.Anchor | None:
        """Anchor of the object on G+; None if the object has no anchor."""
        return self.graph.items.get(self.object_item.id)

    @property
    def end_anchor(self) -> task_paths.Anchor | None:
        """Anchor of the end asset on G+; None if the asset has no anchor."""
        return self.graph.items.get(self.end_item.id)

    @cached_property
    def start_to_object(self) -> float:
        """``d(s, o)`` in metres, ``inf`` if not connected."""
        return self._metres(self.start_anchor, self.object_anchor)

    @cached_property
    def solo_metres(self) -> float | None:
        """``C_solo = d(s, o) + d(o, a_e)`` in metres; None if not connected."""
        metres = self.start_to_object + self._metres(self.object_anchor, self.end_anchor)
        return metres if math.isfinite(metres) else None

    @cached_property
    def shorter_bound(self) -> float:
        """Metres below which a route counts as shorter than the solo route despite rounding."""
        return (self.solo_metres or 0.0) - LEAST_GAIN

    @cached_property
    def broken(self) -> tuple[Violation, ...]:
        """Violations that rule out every relay of this task."""
        reasons = []
        if self.start_region == self.end_region:
            said = f"The task starts and ends in {self.start_region}: start and end must differ."
            reasons.append(Violation("same_start_end", said))
        if self.solo_metres is None:
            said = (
                f"robot_1 cannot walk from {self.start_region} to the "
                f"{self.object_item.prompt_name} in {self.target_region} and on to the "
                f"{self.end_item.prompt_name} in {self.end_region}, so there is nothing to "
                "compare a relay with."
            )
            found = "on the navigation graph a robot cannot get there"
            reasons.append(Violation("not_walkable", said, _HANDOFF, found))
        elif self.solo_metres < SHORTEST_ROUTE:
            said = "robot_1's own route is 0 m long: no relay can shorten it."
            reasons.append(Violation("no_route", said, _HANDOFF, said))
        return tuple(reasons)

    @cached_property
    def transfers(self) -> dict[tuple[str, str], TransferPlace]:
        """Every asset of the scene as a transfer place, by (region, name), in scene order."""
        groups: dict[tuple[str, str], list[Item]] = {}
        for region in self.scene.regions:
            for item in self.scene.items_in(region.id, "asset"):
                groups.setdefault((region.id, item.prompt_name), []).append(item)
        return {key: self._transfer(*key, items) for key, items in groups.items()}

    @cached_property
    def helpers(self) -> dict[str, HelperStart]:
        """Every region of the scene as a start for robot_2, in scene order."""
        return {region.id: self._helper(region.id) for region in self.scene.regions}

    @cached_property
    def fit_transfers(self) -> dict[tuple[str, str], TransferPlace]:
        """Transfer places that break no guard; none if the task rules relays out."""
        return {} if self.broken else {k: x for k, x in self.transfers.items() if not x.broken}

    @cached_property
    def fit_helpers(self) -> dict[str, HelperStart]:
        """Helper starts that break no guard; none if the task rules relays out."""
        return {} if self.broken else {k: h for k, h in self.helpers.items() if not h.broken}

    @cached_property
    def _pair(self) -> tuple[Item, Item]:
        """Object and end asset: the pair of instances with the shortest solo route."""
        start = self.start_anchor
        anchors = self.graph.items
        pairs = [
            (thing, asset)
            for thing in self._instances(self.target_region, self.object_name, "object")
            for asset in self._instances(self.end_region, self.end_asset, "asset")
        ]

        def route(pair: tuple[Item, Item]) -> tuple[float, str, str]:
            thing, asset = (anchors.get(item.id) for item in pair)
            metres = self._metres(start, thing) + self._metres(thing, asset)
            return metres, pair[0].id, pair[1].id

        return min(pairs, key=route)

    def _instances(self, region: str, name: str, kind: ItemKind) -> list[Item]:
        wanted = prompt_name(name[:200])
        found = [i for i in self.scene.items_in(region, kind) if i.prompt_name == wanted]
        return [item for item in found if item.id in self.meant] or found

    def _metres(self, a: task_paths.Anchor | None, b: task_paths.Anchor | None) -> float:
        return math.inf if a is None or b is None else self.graph.distance(a, b)

    def _linked(self, a: str, b: str) -> bool:
        # Not the same as a path over G+: items of a region without viewpoints are joined to a
        # viewpoint of another region.
        return hop_table(self.scene).distance(a, b) is not None

    def _transfer(self, region: str, name: str, items: list[Item]) -> TransferPlace:
        items = [item for item in items if item.id in self.meant] or items
        usable = [item for item in items if has_usable_surface(self.scene, item)]

        def carried(item: Item) -> tuple[float, str]:
            via = self.graph.items.get(item.id)
            metres = self._metres(self.object_anchor, via) + self._metres(via, self.end_anchor)
            return metres, item.id

        item = min(usable or items, key=carried)
        via = self.graph.items.get(item.id)
        from_start = self._metres(self.start_anchor, via)
        return TransferPlace(
            region=region,
            name=name,
            item=item,
            anchor=via,
            viewpoint=via.viewpoint if via else -1,
            spur=via.spur if via else math.inf,
            from_start=from_start,
            from_object=self._metres(self.object_anchor, via),
            to_end=self._metres(via, self.end_anchor),
            broken=tuple(self._transfer_faults(region, name, bool(usable), from_start)),
        )

    def _transfer_faults(
        self, region: str, name: str, usable: bool, from_start: float
    ) -> Iterable[Violation]:
        if region == self.target_region:
            yield Violation(
                "transfer_in_target",
                f"transfer_region {region} is the target region, where the object already is. "
                "Choose another transfer region.",
                _HANDOFF,
                f"{region} is the target object's region",
            )
        if region == self.end_region and name == self.end_item.prompt_name:
            yield Violation(
                "transfer_is_end",
                f"The {name} in {region} is the end asset itself, so nothing would be handed over. "
                "Choose another transfer asset.",
                _HANDOFF,
                f"the {name} in {region} is the end asset: nothing is handed over",
            )
        if not usable:
            low, high = f"{LOWEST_TOP:.2f}", f"{HIGHEST_TOP:.2f}"
            fault = f"he {name} in {region} has no usable surface"
            yield Violation(
                "no_surface",
                f"T{fault} (at least {SHORTEST_SIDE:.2f} m wide, top {low} to {high} m above the "
                "floor). Choose another transfer asset.",
                'phase_2 "Subtask instruction"',
                f"t{fault} ({SHORTEST_SIDE:.2f} m wide, {low} to {high} m up)",
            )
        if math.isinf(from_start) or not self._linked(self.start_region, region):
            yield Violation(
                "transfer_cut_off",
                f"robot_1 cannot reach the {name} in {region} from {self.start_region}. "
                "Choose another transfer region.",
                _HANDOFF,
                f"robot_1 cannot reach {region} from {self.start_region}",
            )

    def _helper(self, region: str) -> HelperStart:
        hops = hop_table(self.scene)
        row = hops.hops[hops.index[region]]
        anchor = self.graph.starts.get(region)
        to_object = self._metres(anchor, self.object_anchor)
        return HelperStart(
            region=region,
            anchor=anchor,
            row=self.graph.row(anchor) if anchor else [],
            to_object=to_object,
            neighbours=frozenset(hops.nodes[i] for i in (row == 1).nonzero()[0]),
            broken=tuple(self._helper_faults(region, anchor, to_object)),
        )

    def _helper_faults(
        self, region: str, anchor: task_paths.Anchor | None, to_object: float
    ) -> Iterable[Violation]:
        hops = hop_table(self.scene).distance(self.start_region, region)
        change = "Choose another robot_2_start_region."
        if hops == 0:
            yield Violation(
                "helper_with_robot_1",
                f"robot_2 may not start in robot_1's start region {region}. {change}",
                HELPER,
                f"robot_2 starts in robot_1's own region {region}",
            )
        if hops == 1:
            yield Violation(
                "helper_next_to_robot_1",
                f"robot_2_start_region {region} is next to robot_1's start region "
                f"{self.start_region}. {change}",
                HELPER,
                f"robot_2's {region} is next to robot_1's {self.start_region}",
            )
        if anchor is None:
            said = f"No robot can start in {region}: it has no viewpoint."
            yield Violation("helper_cut_off", f"{said} {change}", HELPER, said)
        elif math.isinf(to_object) or not self._linked(region, self.target_region):
            yield Violation(
                "helper_cut_off",
                f"robot_2 cannot reach the {self.object_item.prompt_name} in {self.target_region} "
                f"from {region}. {change}",
                HELPER,
                f"robot_2 cannot reach the target region {self.target_region} from {region}",
            )


def has_usable_surface(scene: Scene, item: Item) -> bool:
    """Check whether objects can be put on an asset, as far as its size is known.

    The shorter side of its footprint must be at least 0.30 m, and its top 0.25 to 1.40 m above its
    floor. An asset of unknown size passes, and one of unknown height is judged by its footprint
    (CoNavBench A.7 shows the failure this avoids; the figures are ours).
    """
    if item.size is None:
        return True
    width, height, depth = item.size
    if min(width, depth) < SHORTEST_SIDE:
        return False
    if not item.height_known or item.region is None:
        return True
    floor = scene.region_by_id[item.region].floor
    bottom = next(f.height for f in scene.floors if f.id == floor)
    # A table of exactly 0.25 m must not fail by a rounding error.
    above = round(item.position[1] + height / 2 - bottom, 6)
    return LOWEST_TOP <= above <= HIGHEST_TOP


def item_not_found(scene: Scene, region: str, name: str, kind: ItemKind) -> str:
    """Return a message that a region holds no item of that name and kind, and which it holds."""
    asked = name[: task_paths.MAX_QUOTED]
    known = list(dict.fromkeys(i.prompt_name for i in scene.items_in(region, kind)))
    if not known:
        return f"{region} has no {kind} {asked!r}: it has no {kind} at all."
    more = ", ..." if len(known) > MAX_LISTED else ""
    return (
        f"{region} has no {kind} {asked!r}.{did_you_mean(asked, known)} "
        f"It has: {', '.join(known[:MAX_LISTED])}{more}."
    )


_MOST_BYTES = 200_000
_HOME, _ALSO, _ODD = 1.0, 0.5, 0.1
_LATER, _MOST_LATER = 0.03, 4
"""Deduction from a grade per rank in its list, and the number of ranks that count."""
_UNKNOWN = 0.5
"""Neutral grade of an object or room that the file does not list."""
_CARRY = {"often": 1.0, "seldom": 0.4, "never": 0.05}
SENSIBLE = 0.6
"""Score from which a task is plausible: all three grades are at least medium."""

_ANY = "any"

T = TypeVar("T")


class Plausibility(NamedTuple):
    """Plausibility of a task, with its grades.

    Attributes:
        score: the geometric mean of the grades, 0 to 1; 0 if the furniture cannot hold the object.
        carry: how often people ask for the object to be carried.
        room: how well it belongs in the destination room.
        on: how well it belongs on the furniture it is put on.
    """

    score: float
    carry: float
    room: float
    on: float


def solo_task_quality(scene: Scene, errand: task_paths.SoloTask) -> dict[str, Any]:
    """Return the quality of a valid single-robot task as JSON; docs/dataset.md lists the keys.

    Args:
        scene: its scene.
        errand: a valid task: :func:`navloom.tools.navcraft.task_paths.read_solo_task` finds no
            fault.

    Returns:
        ``plausible`` and its grades ``carry``, ``room`` and ``on`` (0 to 1); ``unambiguous``: the
        sentence fits exactly one object and one asset of their regions; ``objects`` and ``assets``:
        how many it fits; ``namesakes``: items of those names in other regions; ``doors``: on the
        path, None if the scene names none; ``storeys``: storeys the path touches; ``belongs``: the
        version of the file with the grades.
    """
    score = grade_plausibility(
        errand.object, errand.end_asset, scene.region_by_id[errand.end].label
    )
    things = _rooms_of(scene, "object", errand.object)
    places = _rooms_of(scene, "asset", errand.end_asset)
    objects, assets = things.count(errand.target), places.count(errand.end)
    steps = [step.split(" -> ") for step in task_paths.shortest_path(scene, errand)]
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
    """Return the region of every item with a name."""
    return [i.region for i in scene.items if i.kind == kind and i.prompt_name == name and i.region]


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _Holder(_FrozenModel):
    names: tuple[str, ...]
    particular: bool = False
    in_: dict[str, str] = Field(default_factory=dict, alias="in")


class _Thing(_FrozenModel):
    names: tuple[str, ...]
    carry: Literal["often", "seldom", "never"]
    home: tuple[str, ...]
    also: tuple[str, ...]
    put_on: tuple[str, ...]
    or_on: tuple[str, ...]


class _Belongs(_FrozenModel):
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
    return next((table[each] for each in lookup_forms(name) if each in table), None)


@lru_cache(maxsize=20_000)
def can_hold(asset: str, object_name: str | None = None) -> bool:
    """Check whether furniture of this name can hold an object, as far as names tell.

    Args:
        asset: its name, in the scene's words or as models write it.
        object_name: the object to hold; None: anything. A particular piece (a refrigerator) holds
            only objects that are listed for it.

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
"""Violation code of a proposal that puts an object where none can be put."""


def cannot_place_text(asset: str, region: str, object_name: str) -> str:
    """Return the message for a generator that chose furniture which cannot hold the object."""
    return f"One cannot put a {object_name} on or in the {asset} in {region}."


@lru_cache(maxsize=100_000)
def grade_plausibility(object_name: str, asset: str, room: str) -> Plausibility:
    """Grade how plausible it is to bring an object to a room and put it there.

    Args:
        object_name: the object, in the scene's words or as models write it.
        asset: the furniture it is put on or in, likewise.
        room: the label of the destination room (``"kitchen/living room"``); if a label fits several
            types of the paper, the one that suits best counts.

    Returns:
        The score and its grades. An unlisted object or room gets the medium grade. Within a list,
        earlier entries get slightly higher grades.

    >>> [grade_plausibility("book", *at).score for at in (("bookcase", "study"), ("sink", "wc"))]
    [1.0, 0.0]
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


def room_purpose(room: str) -> str:
    """Return the purpose of a room with this label in a few words; empty if unlisted."""
    types = room_types(room)
    return "; ".join(words for each, words in _belongs().rooms.items() if each in types)


@lru_cache(maxsize=20_000)
def carry_grade(object_name: str) -> float:
    """Return how often people ask for an object to be carried: 1 often, .4 seldom, .05 never."""
    thing = _looked_up(object_name, _things())
    return _CARRY[thing.carry] if thing else _UNKNOWN


@lru_cache(maxsize=100_000)
def room_grade(object_name: str, room: str) -> float:
    """Return how well an object belongs in a room: 1 home, .5 also or unlisted, .1 odd.

    Args:
        object_name: the object, in the scene's words or as models write it.
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
