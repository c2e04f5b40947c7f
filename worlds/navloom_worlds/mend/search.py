"""The cheapest changes by which a body gets from one region to another, and their proof.

Links cost what they need by rule; the cheapest path over regions says what to change. Then the body
is driven through the changed home: where it does not arrive, what it met is added and it is driven
again; where nothing helps, the next path is tried. What turns out not to be needed is left as it
was, and in place of what is needed the cheapest that does it is kept. A mend stands only if the
body fails in the home as it is and arrives in the changed one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import shapely
from shapely import Polygon

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.owners import door_owner, owner_name
from navloom_worlds.mend.blockers import blockers, cut_off
from navloom_worlds.mend.changes import Change, merged, price, rebuilt, removing, sliding, widening
from navloom_worlds.mend.cheaper import Cheaper
from navloom_worlds.mend.costs import Costs
from navloom_worlds.mend.lift_sites import lift_sites
from navloom_worlds.mend.link_needs import BESIDE, STEP, link_needs
from navloom_worlds.mend.rebuild import widest
from navloom_worlds.mend.route_drive import Drive, drive, spot
from navloom_worlds.motion.body_field import body_field

_PATHS = 3
_DRIVES = 8
_NEAR = 1.5
"""Metres from where a body stopped to a doorway that may be to blame."""
_SWEPT = 0.1
"""Square metres of a room that a leaf sweeps if it can be in a way."""
_HOP = 0.01
"""What a link costs that needs nothing: of two ways that cost the same, the one of fewer links."""


@dataclass(frozen=True)
class Mend:
    """How a body gets where it could not.

    Attributes:
        body: its name.
        start: a region's id.
        goal: a region's id.
        changes: what is done; () where it arrives as things are.
        before: the drive through the home as it is.
        after: the drive through the changed home; None where no mend was found.
        path: the regions that were planned.
        tried: homes that were changed and driven through.
        why: why no mend was found; empty where one was.
    """

    body: str
    start: str
    goal: str
    changes: tuple[Change, ...]
    before: Drive
    after: Drive | None
    path: tuple[str, ...] = ()
    tried: int = 0
    why: str = ""
    costs: Costs = field(default_factory=Costs, repr=False)

    @property
    def proven(self) -> bool:
        """Whether it fails before and arrives after."""
        return not self.before.arrived and self.after is not None and self.after.arrived

    @property
    def cost(self) -> float:
        """What the changes cost together."""
        return price(self.changes)

    def record(self) -> dict[str, Any]:
        """As JSON."""
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


def mend(scene: Scene, body: Embodiment, start: str, goal: str, costs: Costs | None = None) -> Mend:
    """Find the cheapest changes that let a body through, and prove them by driving.

    Args:
        scene: with walls, and links that say what they are.
        body: whose.
        start: a region's id.
        goal: a region's id.
        costs: prices; ours unless given.

    Raises:
        SceneError: the scene has no geometry, or a region is not there.
    """
    prices = Costs() if costs is None else costs
    before = drive(scene, body, start, goal)
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
    scene: Scene, body: Embodiment, start: str, goal: str, costs: Costs
) -> Iterator[tuple[tuple[str, ...], tuple[Change, ...]]]:
    """Paths over regions with what they need, the cheapest first."""
    graph = per_scene(
        scene,
        f"mend:graph:{body.model_dump_json()}:{costs.model_dump_json()}",
        lambda: _needs_graph(scene, body, costs),
    )
    if start not in graph or goal not in graph or not nx.has_path(graph, start, goal):
        return
    paths = nx.shortest_simple_paths(graph, start, goal, weight="cost")
    for path in islice(paths, _PATHS):
        steps = [graph.edges[step]["needs"] for step in pairwise(path)]
        yield tuple(path), merged([change for needs in steps for change in needs])


def _needs_graph(scene: Scene, body: Embodiment, costs: Costs) -> nx.Graph[str]:
    """Regions and ways between them, each with what it needs and costs."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(region.id for region in scene.regions)
    ways: list[tuple[str, str, tuple[Change, ...]]] = []
    for number, link in enumerate(scene.links):
        needs = link_needs(scene, number, body, costs)
        if needs is not None:
            ways.append((link.a, link.b, needs))
    unwanted = {}
    for lift, gone, less in lift_sites(scene, body, costs):
        ways.append((*(lift.ends or ("", "")), (lift, *gone)))
        unwanted[ways[-1]] = less
    for way in ways:
        a, b, needs = way
        cost = _HOP + price(needs) + unwanted.get(way, 0.0)
        if not graph.has_edge(a, b) or cost < graph.edges[a, b]["cost"]:
            graph.add_edge(a, b, cost=cost, needs=needs)
    return graph


def _proven(
    scene: Scene,
    body: Embodiment,
    ends: tuple[str, str],
    path: Sequence[str],
    needed: tuple[Change, ...],
    costs: Costs,
) -> tuple[tuple[tuple[Change, ...], Drive] | None, int, str]:
    """Drive, add what was met, drive again; then make it cheaper."""
    asked = _MendQuestion(scene, body, ends, tuple(path), costs)
    changes, why = asked.ahead(needed), ""
    for tried in range(1, _DRIVES + 1):
        try:
            changed = rebuilt(scene, changes)
            found = drive(changed, body, *ends)
        except SceneError as error:
            return None, tried, str(error)
        if found.arrived:
            cheaper = Cheaper(scene, body, ends, costs)
            kept = cheaper.made(changes, found)
            return kept, tried + cheaper.tried, ""
        why = found.why
        grown = merged([*changes, *asked.learned(changed, changes, found, tried)])
        if grown == changes:
            return None, tried, why
        changes = grown
    return None, _DRIVES, why


@dataclass(frozen=True)
class _MendQuestion:
    """What is to be mended, to be asked what might help next."""

    scene: Scene
    body: Embodiment
    ends: tuple[str, str]
    path: tuple[str, ...]
    costs: Costs

    def ahead(self, needed: tuple[Change, ...]) -> tuple[Change, ...]:
        """What links need, with the things that the first plan already runs into."""
        try:
            changed = rebuilt(self.scene, needed)
            if cut_off(self.bare(needed), self.body, self.path):
                return needed
            there = self._blockers(changed, needed, 1)
        except SceneError:
            return needed
        return merged([*needed, *(removing(self.scene, each, self.costs) for each in there)])

    def bare(self, changes: Sequence[Change]) -> Scene:
        """The changed home without any thing, made once for each building."""
        built = tuple(each for each in changes if each.kind != "remove")

        def made() -> Scene:
            return rebuilt(self.scene.replace(items=(), relations=()), built)

        return per_scene(self.scene, f"mend:bare:{[each.record() for each in built]}", made)

    def _blockers(self, changed: Scene, changes: Sequence[Change], tried: int) -> tuple[str, ...]:
        # Where nothing stands now: nobody takes a bed away to come to where it is.
        now = body_field(self.scene, self.body)
        first, last = (spot(self.scene, now, region) for region in self.ends)
        bare = self.bare(changes)
        if first is None or last is None:
            field_there = body_field(bare, self.body)
            first = first or spot(bare, field_there, self.ends[0])
            last = last or spot(bare, field_there, self.ends[1])
        return blockers(changed, bare, self.body, (first, last), self.costs, tried)

    def learned(
        self, changed: Scene, changes: Sequence[Change], found: Drive, tried: int
    ) -> Iterator[Change]:
        """What might help a body that did not arrive: wider doorways, things taken away."""
        closed = cut_off(self.bare(changes), self.body, self.path)
        if closed:
            yield from self._wider(changed, closed)
            for number in _swung(changed, closed) if tried > 1 else ():
                yield sliding(self.scene, number, self.costs)
            return
        last = found.touched[-2:]
        things = [_foot(changed, each) for each in last if each in changed.item_by_id]
        more = self._blockers(changed, changes, tried)
        for each in dict.fromkeys([*things, *more]):
            yield removing(self.scene, each, self.costs)
        swinging = list(_leaves(changed, last))
        for number in swinging:
            yield sliding(self.scene, number, self.costs)
        if found.path and not things and not swinging:
            at = found.path[-1][-1]
            near = sorted(
                (math.dist(at, link.point), link.a, link.b)
                for link in changed.links
                if link.point and {link.a, link.b} <= {*self.path}
            )
            if near and near[0][0] < _NEAR:
                yield from self._wider(changed, [near[0][1:]])

    def _wider(self, changed: Scene, steps: Sequence[tuple[str, str]]) -> Iterator[Change]:
        """Each of some ways a little wider, where its wall has room."""
        for number, link in enumerate(changed.links[: len(self.scene.links)]):
            if link.width is None or not any({link.a, link.b} == {a, b} for a, b in steps):
                continue
            most = widest(self.scene, self.scene.links[number])
            if link.kind in ("door", "opening", "ramp") and most > link.width + 0.01:
                width = min(max(link.width + STEP, self.body.width + BESIDE), most)
                yield widening(self.scene, number, width, self.costs)


def _swung(scene: Scene, steps: Sequence[tuple[str, str]]) -> Iterator[int]:
    """The links whose leaf swings over the floor of a room of some steps."""
    floors = [scene.region_by_id[each].outline for step in steps for each in step]
    rooms = shapely.union_all([Polygon(each) for each in floors if each])
    ends = {each for step in steps for each in step}
    for number, link in enumerate(scene.links):
        near = link.leaf == "hinged" and {link.a, link.b} & ends
        if near and link.swing and Polygon(link.swing).intersection(rooms).area > _SWEPT:
            yield number


def _leaves(scene: Scene, touched: Sequence[str]) -> Iterator[int]:
    """The links whose swinging leaf, or its frame, was touched."""
    for number, link in enumerate(scene.links):
        if link.leaf == "hinged" and owner_name(scene, door_owner(number)) in touched:
            yield number


def _foot(scene: Scene, item: str) -> str:
    """What a thing stands on at last: that is what is carried away."""
    on = scene.item_by_id[item].on
    return item if on is None else _foot(scene, on)
