"""Search for the cheapest changes that let a body pass between two regions, and their proof.

Each link costs the changes that it requires by rule; the cheapest path over regions gives the first
changes. Then the body is driven through the changed home. If it does not arrive, changes for what
it touched are added and it is driven again; if nothing helps, the next path is tried. Changes that
turn out to be unnecessary are dropped, and others are replaced by cheaper ones that suffice. A mend
is valid only if the body fails in the original home and arrives in the changed one.

The changes a link requires follow from its own data. Furniture and turning space are not in that
data; driving finds them.

A platform lift needs floor that is clear of walls, stairs and doors on both storeys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Link, Point2, Region, Scene
from navloom_worlds.geometry.semantic_ids import door_owner, owner_name
from navloom_worlds.mend.blocking_items import blocked_steps, cheapest_removals
from navloom_worlds.mend.building_changes import LIFT, items_on_area, max_door_width, plan_ramp
from navloom_worlds.mend.home_changes import (
    ChangeCosts,
    HomeChange,
    apply_changes,
    lift_change,
    merge_changes,
    opening_change,
    ramp_change,
    removal_change,
    sill_change,
    sliding_change,
    total_cost,
    widening_change,
)
from navloom_worlds.mend.route_drive import RouteDrive, drive_route, roomiest_point
from navloom_worlds.motion.body_field import body_field

WIDER = 0.05
"""Step in metres between the widths that are tried for a doorway."""
_MOST_PRUNED = 14
_CHEAPER_EPS = 1e-6
_Kept = tuple[tuple[HomeChange, ...], RouteDrive]


@dataclass
class MendReducer:
    """Reducer that makes a proven mend cheaper, and proves each result again.

    Attributes:
        scene: the original home.
        body: the embodiment.
        ends: start and goal regions.
        costs: costs of changes.
        tried: number of changed homes that were driven through.
    """

    scene: Scene
    body: Embodiment
    ends: tuple[str, str]
    costs: ChangeCosts
    tried: int = 0

    def made(self, changes: tuple[HomeChange, ...], after: RouteDrive) -> _Kept:
        """Return cheaper changes that suffice, and the drive that proves them.

        Args:
            changes: changes with which the body arrives.
            after: its drive.
        """
        changes, after = self._pruned(changes, after)
        for change in sorted(changes, key=lambda each: -each.cost):
            if change.link is not None:
                changes, after = self._instead(changes, after, change, change.link)
        return changes, after

    def _drive(self, changes: Sequence[HomeChange]) -> RouteDrive | None:
        self.tried += 1
        try:
            found = drive_route(apply_changes(self.scene, changes), self.body, *self.ends)
        except SceneError:
            return None
        return found if found.arrived else None

    def _pruned(self, changes: tuple[HomeChange, ...], after: RouteDrive) -> _Kept:
        """Return the changes without unnecessary ones, found by bisection, and their drive."""
        waiting = [sorted(changes, key=lambda each: -each.cost)]
        while waiting and self.tried < _MOST_PRUNED:
            part = waiting.pop(0)
            fewer = tuple(each for each in changes if each not in part)
            found = self._drive(fewer) if fewer else None
            if found is not None:
                changes, after = fewer, found
            elif len(part) > 1:
                half = (len(part) + 1) // 2
                waiting += [part[:half], part[half:]]
        return changes, after

    def _instead(
        self, changes: tuple[HomeChange, ...], after: RouteDrive, change: HomeChange, link: int
    ) -> _Kept:
        """Replace a change of a link by the cheapest that suffices."""
        rest = tuple(each for each in changes if each is not change)
        for other in self._others(link):
            if other.cost < change.cost and other.what not in {each.what for each in rest}:
                found = self._drive((*rest, other))
                if found is not None:
                    return merge_changes((*rest, other)), found
        if change.width is None:
            return changes, after
        widths = self._widths(link, change.width)
        low, high = 0, len(widths)
        while low < high:
            middle = (low + high) // 2
            slim = widening_change(self.scene, link, widths[middle], self.costs)
            found = self._drive((*rest, slim))
            if found is None:
                low = middle + 1
            else:
                high, changes, after = middle, merge_changes((*rest, slim)), found
        return changes, after

    def _others(self, link: int) -> list[HomeChange]:
        """Return all other possible changes of a link, the cheapest first."""
        here = self.scene.links[link]
        found = []
        if here.door not in (None, "open"):
            found.append(opening_change(self.scene, link, self.costs))
        if here.threshold:
            found.append(sill_change(self.scene, link, self.costs))
        if here.leaf not in (None, "sliding"):
            found.append(sliding_change(self.scene, link, self.costs))
        return sorted(found, key=lambda each: each.cost)

    def _widths(self, link: int, most: float) -> list[float]:
        """Return doorway widths below a maximum, and not below the body's width."""
        now = self.scene.links[link].width or 0.0
        widths = np.arange(now + WIDER, most - _CHEAPER_EPS, WIDER)
        return [float(each) for each in widths if each > self.body.width - _CHEAPER_EPS]


_STEP = 0.2
_BEFORE = 0.7
"""Metres in front of a doorway that a lift leaves free."""
_CLEAR = 0.3
"""Metres around the platform that must be free of items."""
_MOST_SITES = 3
_LAST = ("bathroom", "toilet", "bedroom", "nursery", "kids room")
"""Room kinds in which a lift is undesirable."""
_UNWANTED = 5_000.0
Site = tuple[HomeChange, tuple[HomeChange, ...], float]


def lift_sites(scene: Scene, body: Embodiment, costs: ChangeCosts) -> tuple[Site, ...]:
    """Return possible lifts, each with the items to remove for it.

    Args:
        scene: a scene whose regions have outlines.
        body: the embodiment; there are none if it cannot operate lifts.
        costs: costs of changes.

    Returns:
        At most three between two storeys, the best first: the lift, the removals for it, and the
        penalty of its rooms. There are none for bodies that use stairs.
    """
    if not body.elevator or body.stairs:
        return ()
    key = f"mend:lifts:{costs.model_dump_json()}"
    return scene_cached(scene, key, lambda: tuple(_sites(scene, costs)))


def _sites(scene: Scene, costs: ChangeCosts) -> Iterator[Site]:
    floors = sorted(scene.floors, key=lambda floor: floor.height)
    for low, high in pairwise(floors):
        found = []
        below = [(r, _open(scene, r)) for r in scene.regions if r.floor == low.id]
        above = [(r, _open(scene, r)) for r in scene.regions if r.floor == high.id]
        for a, first in below:
            for b, second in above:
                if (best := _best(scene, a, b, first.intersection(second), costs)) is not None:
                    found.append(best)
        found.sort(key=lambda each: each[0])
        for _, site in found[:_MOST_SITES]:
            yield site


def _open(scene: Scene, region: Region) -> BaseGeometry:
    """Return the floor of a region that no wall, door, stairs or lift needs."""
    if region.outline is None or "elevator" in region.label.casefold():
        return Polygon()
    kept = []
    for link in scene.links:
        if region.id in (link.a, link.b):
            kept += list(_lift_sites_needed(link))
    for each in scene.openings:
        if each.region == region.id and each.kind == "door":
            kept.append(shapely.LineString(each.jambs).buffer(_BEFORE, cap_style="flat"))
    for flight in scene.stairs:
        if region.id in (flight.a, flight.b):
            boxes = [Polygon(box.corners()) for box in (*flight.treads, *flight.landings)]
            kept.append(shapely.union_all(boxes).buffer(_BEFORE))
    return Polygon(region.outline).buffer(-0.02).difference(shapely.union_all(kept))


def _lift_sites_needed(link: Link) -> Iterator[BaseGeometry]:
    if link.jambs is not None:
        yield shapely.LineString(link.jambs).buffer(_BEFORE, cap_style="flat")
    if link.swing is not None:
        yield Polygon(link.swing)


def _best(
    scene: Scene, low: Region, high: Region, free: BaseGeometry, costs: ChangeCosts
) -> tuple[tuple[float, str, str], Site] | None:
    """Return the position of a lift between two regions with the cheapest removals."""
    best: tuple[float, Point2, list[str]] | None = None
    if free.is_empty:
        return None
    left, near, right, far = free.bounds
    for wide, deep in (LIFT, LIFT[::-1]):
        xs = np.arange(left + wide / 2, right - wide / 2 + 1e-6, _STEP)
        zs = np.arange(near + deep / 2, far - deep / 2 + 1e-6, _STEP)
        for x in xs.tolist():
            for z in zs.tolist():
                box = shapely.box(x - wide / 2, z - deep / 2, x + wide / 2, z + deep / 2)
                if not free.covers(box):
                    continue
                about = box.buffer(_CLEAR, join_style="mitre")
                gone = [item.id for r in (low, high) for item in items_on_area(scene, about, r.id)]
                cost = sum(removal_change(scene, each, costs).cost for each in gone)
                if best is None or cost < best[0]:
                    best = (cost, (round(x, 3), round(z, 3)), gone)
                if cost == 0:
                    break
            if best is not None and best[0] == 0:
                break
    if best is None:
        return None
    cost, at, gone = best
    unwanted = sum(_UNWANTED for each in (low, high) if each.label.casefold() in _LAST)
    lift = lift_change((low.id, high.id), at, costs)
    taken = tuple(removal_change(scene, each, costs) for each in gone)
    return (cost + unwanted, low.id, high.id), (lift, taken, unwanted)


BESIDE = 0.15
"""Metres by which a widened doorway exceeds the body: an open leaf and its handle take some."""
STEP = 0.1
"""Metres by which a doorway is widened further if that is not enough."""
_EPS = 1e-9


def required_changes(
    scene: Scene, link: int, body: Embodiment, costs: ChangeCosts
) -> tuple[HomeChange, ...] | None:
    """Return the changes after which a link's own data no longer stop a body.

    Args:
        scene: a scene with link data.
        link: index of the link.
        body: the embodiment.
        costs: costs of changes.

    Returns:
        () if none is needed; None if no known change helps: stairs, a lift that the body cannot
        operate, a wall too short, a lintel too low.
    """
    here = scene.links[link]
    stopped = (here.kind == "stairs" and not body.stairs) or (
        here.kind == "elevator" and not body.elevator
    )
    if stopped or (here.height is not None and here.height + _EPS < body.height):
        return None
    narrow = here.width is not None and here.width + _EPS < body.width
    if narrow and max_door_width(scene, here) < body.width + _EPS:
        return None
    try:
        return merge_changes(list(_needed(scene, link, body, costs)))
    except SceneError:
        return None


def _needed(home: Scene, link: int, body: Embodiment, costs: ChangeCosts) -> Iterator[HomeChange]:
    here = home.links[link]
    if here.door == "locked" or (here.door in ("ajar", "closed") and not body.doors):
        yield opening_change(home, link, costs)
    if here.width is not None and here.width + _EPS < body.width:
        wide = min(body.width + BESIDE, max_door_width(home, here))
        yield widening_change(home, link, wide, costs)
    if here.threshold is not None and here.threshold > body.max_step + _EPS:
        yield sill_change(home, link, costs)
    stepped = here.kind in ("door", "opening") and here.step is not None
    if stepped and abs(here.step or 0.0) > body.max_step + _EPS:
        yield ramp_change(home, link, costs)
        ramp = plan_ramp(home, here)
        for item in items_on_area(home, ramp.floor, ramp.low):
            yield removal_change(home, item.id, costs)


_PATHS = 3
_DRIVES = 8
_NEAR = 1.5
"""Maximum distance in metres from a stopped body to the doorway that may block it."""
_SWEPT = 0.1
"""Minimum area of a room in square metres that an obstructing leaf sweeps."""
_HOP = 0.01
"""Cost of a link that needs no change: of two equal paths the one with fewer links wins."""


@dataclass(frozen=True)
class Mend:
    """Changes that let a body pass between two regions, with the drives that prove it.

    Attributes:
        body: its name.
        start: a region's id.
        goal: a region's id.
        changes: the changes; () if it arrives without any.
        before: the drive through the original home.
        after: the drive through the changed home; None if no mend was found.
        path: the planned regions.
        tried: number of changed homes that were driven through.
        why: why no mend was found; empty if one was.
    """

    body: str
    start: str
    goal: str
    changes: tuple[HomeChange, ...]
    before: RouteDrive
    after: RouteDrive | None
    path: tuple[str, ...] = ()
    tried: int = 0
    why: str = ""
    costs: ChangeCosts = field(default_factory=ChangeCosts, repr=False)

    @property
    def proven(self) -> bool:
        """Return whether the body fails before and arrives after."""
        return not self.before.arrived and self.after is not None and self.after.arrived

    @property
    def cost(self) -> float:
        """Total cost of the changes."""
        return total_cost(self.changes)

    def record(self) -> dict[str, Any]:
        """Return the mend as JSON."""
        after = self.after
        return {
            "body": self.body,
            "start": self.start,
            "goal": self.goal,
            "proven": self.proven,
            "cost": round(self.cost, 2),
            "changes": [each.record() for each in self.changes],
            "before": {"arrived": self.before.arrived, "why": self.before.why},
            "after": after and {"arrived": after.arrived, "metres": round(after.metres, 2)},
            "path": list(self.path),
            "homes_driven": self.tried,
            "why": self.why,
        }


def find_mend(
    scene: Scene, body: Embodiment, start: str, goal: str, costs: ChangeCosts | None = None
) -> Mend:
    """Find the cheapest changes that let a body through, and prove them by driving.

    Args:
        scene: a scene with walls and link data.
        body: the embodiment.
        start: a region's id.
        goal: a region's id.
        costs: costs of changes; the defaults unless given.

    Raises:
        SceneError: the scene has no geometry, or a region is unknown.
    """
    prices = ChangeCosts() if costs is None else costs
    before = drive_route(scene, body, start, goal)
    if before.arrived:
        return Mend(body.name, start, goal, (), before, before, costs=prices)
    tried, why = 0, "by rule no change that is known opens a way"
    for path, needed in _plans(scene, body, start, goal, prices):
        found, used, why = _proven(scene, body, (start, goal), path, needed, prices)
        tried += used
        if found is not None:
            changes, after = found
            return Mend(body.name, start, goal, changes, before, after, path, tried, "", prices)
    return Mend(body.name, start, goal, (), before, None, (), tried, why, prices)


def _plans(
    scene: Scene, body: Embodiment, start: str, goal: str, costs: ChangeCosts
) -> Iterator[tuple[tuple[str, ...], tuple[HomeChange, ...]]]:
    """Yield paths over regions with their required changes, the cheapest first."""
    graph = scene_cached(
        scene,
        f"mend:graph:{body.model_dump_json()}:{costs.model_dump_json()}",
        lambda: _needs_graph(scene, body, costs),
    )
    if start not in graph or goal not in graph or not nx.has_path(graph, start, goal):
        return
    paths = nx.shortest_simple_paths(graph, start, goal, weight="cost")
    for path in islice(paths, _PATHS):
        steps = [graph.edges[step]["needs"] for step in pairwise(path)]
        yield tuple(path), merge_changes([change for needs in steps for change in needs])


def _needs_graph(scene: Scene, body: Embodiment, costs: ChangeCosts) -> nx.Graph[str]:
    """Build the graph of regions, with the required changes and cost of each connection."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(region.id for region in scene.regions)
    ways: list[tuple[str, str, tuple[HomeChange, ...]]] = []
    for number, link in enumerate(scene.links):
        needs = required_changes(scene, number, body, costs)
        if needs is not None:
            ways.append((link.a, link.b, needs))
    unwanted = {}
    for lift, gone, less in lift_sites(scene, body, costs):
        ways.append((*(lift.ends or ("", "")), (lift, *gone)))
        unwanted[ways[-1]] = less
    for way in ways:
        a, b, needs = way
        cost = _HOP + total_cost(needs) + unwanted.get(way, 0.0)
        if not graph.has_edge(a, b) or cost < graph.edges[a, b]["cost"]:
            graph.add_edge(a, b, cost=cost, needs=needs)
    return graph


def _proven(
    scene: Scene,
    body: Embodiment,
    ends: tuple[str, str],
    path: Sequence[str],
    needed: tuple[HomeChange, ...],
    costs: ChangeCosts,
) -> tuple[tuple[tuple[HomeChange, ...], RouteDrive] | None, int, str]:
    """Drive and add changes for contacts until the body passes; return result, tries and reason."""
    asked = _MendQuestion(scene, body, ends, tuple(path), costs)
    changes, why = asked.ahead(needed), ""
    for tried in range(1, _DRIVES + 1):
        try:
            changed = apply_changes(scene, changes)
            found = drive_route(changed, body, *ends)
        except SceneError as error:
            return None, tried, str(error)
        if found.arrived:
            cheaper = MendReducer(scene, body, ends, costs)
            kept = cheaper.made(changes, found)
            return kept, tried + cheaper.tried, ""
        why = found.why
        grown = merge_changes([*changes, *asked.learned(changed, changes, found, tried)])
        if grown == changes:
            return None, tried, why
        changes = grown
    return None, _DRIVES, why


@dataclass(frozen=True)
class _MendQuestion:
    """Mend problem that proposes further changes."""

    scene: Scene
    body: Embodiment
    ends: tuple[str, str]
    path: tuple[str, ...]
    costs: ChangeCosts

    def ahead(self, needed: tuple[HomeChange, ...]) -> tuple[HomeChange, ...]:
        """Return the links' changes, plus removals of items that block the first plan."""
        try:
            changed = apply_changes(self.scene, needed)
            if blocked_steps(self.bare(needed), self.body, self.path):
                return needed
            there = self._blockers(changed, needed, 1)
        except SceneError:
            return needed
        return merge_changes(
            [*needed, *(removal_change(self.scene, each, self.costs) for each in there)]
        )

    def bare(self, changes: Sequence[HomeChange]) -> Scene:
        """Return the changed home without items, cached per building."""
        built = tuple(each for each in changes if each.kind != "remove")

        def made() -> Scene:
            return apply_changes(self.scene.replace(items=(), relations=()), built)

        return scene_cached(self.scene, f"mend:bare:{[each.record() for each in built]}", made)

    def _blockers(
        self, changed: Scene, changes: Sequence[HomeChange], tried: int
    ) -> tuple[str, ...]:
        # The ends are free in the original home: no bed is removed to reach its own place.
        now = body_field(self.scene, self.body)
        first, last = (roomiest_point(self.scene, now, region) for region in self.ends)
        bare = self.bare(changes)
        if first is None or last is None:
            field_there = body_field(bare, self.body)
            first = first or roomiest_point(bare, field_there, self.ends[0])
            last = last or roomiest_point(bare, field_there, self.ends[1])
        return cheapest_removals(changed, bare, self.body, (first, last), self.costs, tried)

    def learned(
        self, changed: Scene, changes: Sequence[HomeChange], found: RouteDrive, tried: int
    ) -> Iterator[HomeChange]:
        """Yield changes that may help a body that did not arrive: wider doorways, removals."""
        closed = blocked_steps(self.bare(changes), self.body, self.path)
        if closed:
            yield from self._wider(changed, closed)
            for number in _swung(changed, closed) if tried > 1 else ():
                yield sliding_change(self.scene, number, self.costs)
            return
        last = found.touched[-2:]
        things = [_foot(changed, each) for each in last if each in changed.item_by_id]
        more = self._blockers(changed, changes, tried)
        for each in dict.fromkeys([*things, *more]):
            yield removal_change(self.scene, each, self.costs)
        swinging = list(_leaves(changed, last))
        for number in swinging:
            yield sliding_change(self.scene, number, self.costs)
        if found.path and not things and not swinging:
            at = found.path[-1][-1]
            near = sorted(
                (math.dist(at, link.point), link.a, link.b)
                for link in changed.links
                if link.point and {link.a, link.b} <= {*self.path}
            )
            if near and near[0][0] < _NEAR:
                yield from self._wider(changed, [near[0][1:]])

    def _wider(self, changed: Scene, steps: Sequence[tuple[str, str]]) -> Iterator[HomeChange]:
        """Yield slight widenings of the doorways of some steps, as far as their walls allow."""
        for number, link in enumerate(changed.links[: len(self.scene.links)]):
            if link.width is None or not any({link.a, link.b} == {a, b} for a, b in steps):
                continue
            most = max_door_width(self.scene, self.scene.links[number])
            if link.kind in ("door", "opening", "ramp") and most > link.width + 0.01:
                width = min(max(link.width + STEP, self.body.width + BESIDE), most)
                yield widening_change(self.scene, number, width, self.costs)


def _swung(scene: Scene, steps: Sequence[tuple[str, str]]) -> Iterator[int]:
    """Yield the links whose leaf swings over the floor of a room of these steps."""
    floors = [scene.region_by_id[each].outline for step in steps for each in step]
    rooms = shapely.union_all([Polygon(each) for each in floors if each])
    ends = {each for step in steps for each in step}
    for number, link in enumerate(scene.links):
        near = link.leaf == "hinged" and {link.a, link.b} & ends
        if near and link.swing and Polygon(link.swing).intersection(rooms).area > _SWEPT:
            yield number


def _leaves(scene: Scene, touched: Sequence[str]) -> Iterator[int]:
    """Yield the links whose swinging leaf or frame was touched."""
    for number, link in enumerate(scene.links):
        if link.leaf == "hinged" and owner_name(scene, door_owner(number)) in touched:
            yield number


def _foot(scene: Scene, item: str) -> str:
    """Return the item at the bottom of a stack, which is the one to remove."""
    on = scene.item_by_id[item].on
    return item if on is None else _foot(scene, on)
