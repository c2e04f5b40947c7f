"""One single-robot task, laid out on G+ so that every relay of it is a few lookups.

Which instance a shared name means is settled here. The object and the end asset are the pair that
makes ``d(s, o) + d(o, a_e)`` least; a transfer asset is the instance that makes the carried route
``d(o, x) + d(x, a_e)`` least, because whoever carries it, that is what the handoff adds to the
object's way. Instances with a usable surface come before those without. Ties go to the lowest id.

What is wrong with a helper start or a transfer asset whatever it is combined with is found here
too, once, as plain sentences an agent can act on; :mod:`navloom.tools.navcraft.relay` adds what
depends on both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from navloom.errors import UsageError, did_you_mean
from navloom.scenes.distances import hop_table
from navloom.scenes.scene import Item, ItemKind, Scene, prompt_name
from navloom.tools.forms import Violation
from navloom.tools.navcraft.paths import (
    MAX_QUOTED,
    Anchor,
    MetricGraph,
    metric_graph,
    unknown_region,
)

SHORTEST_SIDE = 0.30
"""Metres: a surface narrower than this holds nothing (a rule of ours)."""
LOWEST_TOP, HIGHEST_TOP = 0.25, 1.40
"""Metres above the floor between which a robot can put things down (a rule of ours)."""
SHORTEST_ROUTE = 1e-6
"""Metres: below this a route is no route, and a rate over it means nothing."""
LEAST_GAIN = 1e-9
"""Metres: two sums of the same legs differ by less than this in their last bits."""
MAX_LISTED = 12
"""How many names a message lists."""
HELPER = 'phase_2 "Collaborative robot start region"'
_HANDOFF = 'phase_2 "Transfer region"'


@dataclass(frozen=True, slots=True)
class Transfer:
    """A place to hand the object over.

    Attributes:
        region: its region.
        name: its name as models write it.
        item: the instance meant.
        anchor: its anchor on G+; None where it has none.
        viewpoint: column of the anchor's viewpoint; -1 without an anchor.
        spur: metres from that viewpoint to the asset.
        from_start: ``d(s, x)`` in metres, ``inf`` where there is no way.
        from_object: ``d(o, x)`` in metres, likewise.
        to_end: ``d(x, a_e)`` in metres, likewise.
        broken: the guards it breaks with every helper.
    """

    region: str
    name: str
    item: Item
    anchor: Anchor | None
    viewpoint: int
    spur: float
    from_start: float
    from_object: float
    to_end: float
    broken: tuple[Violation, ...]

    @property
    def carried(self) -> float:
        """``d(o, x) + d(x, a_e)`` in metres: how far the object is carried by way of it."""
        return self.from_object + self.to_end


@dataclass(frozen=True, slots=True)
class Helper:
    """A region robot_2 may start from.

    Attributes:
        region: the region.
        anchor: where in it robot_2 stands; None where the region has no viewpoint.
        row: metres from there to every viewpoint; empty without an anchor.
        to_object: metres to the object, ``inf`` where there is no way.
        neighbours: the regions one link away.
        broken: the guards it breaks with every transfer asset.
    """

    region: str
    anchor: Anchor | None
    row: list[float]
    to_object: float
    neighbours: frozenset[str]
    broken: tuple[Violation, ...]


@dataclass(frozen=True, eq=False)
class RelayTask:
    """A single-robot task: take an object from one region to an asset in another.

    Names are taken as models write them (``coffee_table``) or as the scene does.

    Attributes:
        scene: the scene.
        start_region: where robot_1 starts.
        target_region: where the object is.
        object_name: what to take.
        end_region: where it goes.
        end_asset: the asset it is put on.
        meant: ids of instances that are meant, where a name is shared, whatever is nearest.
        over: G+ where an anchor that ties is chosen otherwise; None: the scene's own.

    Raises:
        UsageError: a region, the object or the end asset is not there.
    """

    scene: Scene
    start_region: str
    target_region: str
    object_name: str
    end_region: str
    end_asset: str
    meant: frozenset[str] = frozenset()
    over: MetricGraph | None = None

    def __post_init__(self) -> None:
        for argument in ("start_region", "target_region", "end_region"):
            if getattr(self, argument) not in self.scene.region_by_id:
                raise UsageError(
                    unknown_region(self.scene, getattr(self, argument), argument=argument)
                )
        wanted: tuple[tuple[str, str, ItemKind], ...] = (
            (self.target_region, self.object_name, "object"),
            (self.end_region, self.end_asset, "asset"),
        )
        for region, name, kind in wanted:
            if not self._instances(region, name, kind):
                raise UsageError(no_such_item(self.scene, region, name, kind))

    @cached_property
    def graph(self) -> MetricGraph:
        """G+ of the scene."""
        return self.over or metric_graph(self.scene)

    @property
    def object_item(self) -> Item:
        """The instance of the object that is meant."""
        return self._pair[0]

    @property
    def end_item(self) -> Item:
        """The instance of the end asset that is meant."""
        return self._pair[1]

    @property
    def start_anchor(self) -> Anchor | None:
        """Where robot_1 stands; None where its region has no viewpoint."""
        return self.graph.starts.get(self.start_region)

    @property
    def object_anchor(self) -> Anchor | None:
        """The object's place on G+; None where it has none."""
        return self.graph.items.get(self.object_item.id)

    @property
    def end_anchor(self) -> Anchor | None:
        """The end asset's place on G+; None where it has none."""
        return self.graph.items.get(self.end_item.id)

    @cached_property
    def start_to_object(self) -> float:
        """``d(s, o)`` in metres, ``inf`` where there is no way."""
        return self._metres(self.start_anchor, self.object_anchor)

    @cached_property
    def solo_metres(self) -> float | None:
        """``C_solo = d(s, o) + d(o, a_e)`` in metres; None where there is no way."""
        metres = self.start_to_object + self._metres(self.object_anchor, self.end_anchor)
        return metres if math.isfinite(metres) else None

    @cached_property
    def shorter(self) -> float:
        """Metres below which a route is shorter than the solo route, by more than rounding."""
        return (self.solo_metres or 0.0) - LEAST_GAIN

    @cached_property
    def broken(self) -> tuple[Violation, ...]:
        """What rules out every relay of this task."""
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
    def transfers(self) -> dict[tuple[str, str], Transfer]:
        """Every asset of the scene as a transfer place, by (region, name), in scene order."""
        groups: dict[tuple[str, str], list[Item]] = {}
        for region in self.scene.regions:
            for item in self.scene.items_in(region.id, "asset"):
                groups.setdefault((region.id, item.prompt_name), []).append(item)
        return {key: self._transfer(*key, items) for key, items in groups.items()}

    @cached_property
    def helpers(self) -> dict[str, Helper]:
        """Every region of the scene as a start for robot_2, in scene order."""
        return {region.id: self._helper(region.id) for region in self.scene.regions}

    @cached_property
    def fit_transfers(self) -> dict[tuple[str, str], Transfer]:
        """The transfer places that break no guard; none where the task rules relays out."""
        return {} if self.broken else {k: x for k, x in self.transfers.items() if not x.broken}

    @cached_property
    def fit_helpers(self) -> dict[str, Helper]:
        """The helper starts that break no guard; none where the task rules relays out."""
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

    def _metres(self, a: Anchor | None, b: Anchor | None) -> float:
        return math.inf if a is None or b is None else self.graph.distance(a, b)

    def _linked(self, a: str, b: str) -> bool:
        # Not the same as a way over G+, where the things of a room without viewpoints hang on a
        # viewpoint of another room.
        return hop_table(self.scene).distance(a, b) is not None

    def _transfer(self, region: str, name: str, items: list[Item]) -> Transfer:
        items = [item for item in items if item.id in self.meant] or items
        usable = [item for item in items if usable_surface(self.scene, item)]

        def carried(item: Item) -> tuple[float, str]:
            anchor = self.graph.items.get(item.id)
            metres = self._metres(self.object_anchor, anchor) + self._metres(
                anchor, self.end_anchor
            )
            return metres, item.id

        item = min(usable or items, key=carried)
        anchor = self.graph.items.get(item.id)
        from_start = self._metres(self.start_anchor, anchor)
        return Transfer(
            region=region,
            name=name,
            item=item,
            anchor=anchor,
            viewpoint=anchor.viewpoint if anchor else -1,
            spur=anchor.spur if anchor else math.inf,
            from_start=from_start,
            from_object=self._metres(self.object_anchor, anchor),
            to_end=self._metres(anchor, self.end_anchor),
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

    def _helper(self, region: str) -> Helper:
        hops = hop_table(self.scene)
        row = hops.hops[hops.index[region]]
        anchor = self.graph.starts.get(region)
        to_object = self._metres(anchor, self.object_anchor)
        return Helper(
            region=region,
            anchor=anchor,
            row=self.graph.row(anchor) if anchor else [],
            to_object=to_object,
            neighbours=frozenset(hops.nodes[i] for i in (row == 1).nonzero()[0]),
            broken=tuple(self._helper_faults(region, anchor, to_object)),
        )

    def _helper_faults(
        self, region: str, anchor: Anchor | None, to_object: float
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


def usable_surface(scene: Scene, item: Item) -> bool:
    """Whether one can put things on an asset, as far as its size is known.

    The shorter side of its footprint must be 0.30 m or more, and its top 0.25 to 1.40 m above its
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
    # A table of exactly 0.25 m must not fall to the last bit of a float.
    above = round(item.position[1] + height / 2 - bottom, 6)
    return LOWEST_TOP <= above <= HIGHEST_TOP


def no_such_item(scene: Scene, region: str, name: str, kind: ItemKind) -> str:
    """Say that a region holds no item of that name and kind, and what it does hold."""
    asked = name[:MAX_QUOTED]
    known = list(dict.fromkeys(i.prompt_name for i in scene.items_in(region, kind)))
    if not known:
        return f"{region} has no {kind} {asked!r}: it has no {kind} at all."
    more = ", ..." if len(known) > MAX_LISTED else ""
    return (
        f"{region} has no {kind} {asked!r}.{did_you_mean(asked, known)} "
        f"It has: {', '.join(known[:MAX_LISTED])}{more}."
    )
