"""Ways from room to room in hops, over H, and from place to place in metres, over G+.

H, the region graph (CoNavBench 3.1.2, A.10.2): can one walk from region to region, and over how
many links; ties are broken by metres. Regions are matched by whole id, so ``Kitchen_4`` is never
``Bedroom_4``. A name that is not there gives an answer with an ``error`` that names near matches,
because the caller may be a model that can mend its call. All-pairs paths are kept once per scene;
every answer is a fresh dict with fresh lists, so a caller may change what it was given.

G+, the augmented metric graph (3.1.3), as lookups: the navigation graph G with 2-D weights, plus an
anchor for each item at its own position, joined by a straight spur to the nearest viewpoint of its
region. A distance between two anchors is therefore spur + table + spur; no graph is ever built.
Where a region has no viewpoint, its items hang on the nearest viewpoint of the same floor; where
the floor has none either, they cannot be reached and have no anchor. A robot starts at the
viewpoint nearest its region's centre; in a region without viewpoints none can start. Of viewpoints
equally near, the first in the scene is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from navloom.errors import did_you_mean
from navloom.scenes.distances import DistanceTable, hop_table, metre_table, per_scene
from navloom.scenes.scene import Item, Link, Point3, Region, Scene, Viewpoint, distance_2d

Ways = dict[tuple[str, str], tuple[str, ...]]
"""The transitions from region to region; () to itself, missing where there is no way."""
MAX_QUOTED = 80
"""How much of an unknown name is repeated back, in characters."""


class PathAnswer(TypedDict):
    """What :func:`check_path_and_adjacency` says; ``error`` is there only where a name is wrong."""

    connect: bool
    adjacency: bool
    path_length: int
    path: list[str]
    error: NotRequired[str]


class TwoPathAnswer(TypedDict):
    """What :func:`check_two_path_and_adjacency` says; ``error`` only where there is one."""

    start_2_target: PathAnswer
    target_2_end: PathAnswer
    s2t_valid: bool
    t2e_valid: bool
    valid: bool
    error: NotRequired[str]


def check_path_and_adjacency(scene: Scene, region_a: str, region_b: str) -> PathAnswer:
    """The shortest way from one region to another (CoNavBench A.10.2).

    Args:
        scene: the scene.
        region_a: whole region id to start from.
        region_b: whole region id to reach.

    Returns:
        ``connect`` (is there a way), ``adjacency`` (does one link join them), ``path_length``
        (links crossed; 0 where there is no way, and from a region to itself) and ``path`` (the
        transitions, ``"Kitchen_4 -> Hallway_6"``). A region that is not there gives
        ``connect: False`` and an ``error``.
    """
    way = region_ways(scene).get((region_a, region_b))
    if way is not None:
        return {
            "connect": True,
            "adjacency": len(way) == 1,
            "path_length": len(way),
            "path": [*way],
        }
    answer: PathAnswer = {"connect": False, "adjacency": False, "path_length": 0, "path": []}
    unknown = _unknown_regions(scene, (region_a, region_b))
    if unknown:
        answer["error"] = unknown
    return answer


def check_two_path_and_adjacency(
    scene: Scene, start_region: str, target_region: str, end_region: str, *, tau: int = 2
) -> TwoPathAnswer:
    """Whether a single-robot task may go start, target, end (CoNavBench 3.1.2 and A.10.2).

    A leg is valid where it is connected and at least ``max(2, tau)`` hops long. The task is valid
    where both legs are, and start and end differ.

    Args:
        scene: the scene.
        start_region: where the robot starts.
        target_region: where the object is.
        end_region: where the object goes.
        tau: fewest hops of a leg; below 2 it changes nothing.

    Returns:
        ``start_2_target`` and ``target_2_end`` (see :func:`check_path_and_adjacency`),
        ``s2t_valid``, ``t2e_valid`` and ``valid``. An ``error`` is added where a region is not
        there or start and end are one.
    """
    needed = least_hops(tau)
    s2t = check_path_and_adjacency(scene, start_region, target_region)
    t2e = check_path_and_adjacency(scene, target_region, end_region)
    s2t_valid = s2t["path_length"] >= needed
    t2e_valid = t2e["path_length"] >= needed
    answer: TwoPathAnswer = {
        "start_2_target": s2t,
        "target_2_end": t2e,
        "s2t_valid": s2t_valid,
        "t2e_valid": t2e_valid,
        "valid": s2t_valid and t2e_valid and start_region != end_region,
    }
    if "error" in s2t or "error" in t2e:
        answer["error"] = _unknown_regions(scene, (start_region, target_region, end_region))
    elif start_region == end_region:
        answer["error"] = (
            f"start_region and end_region are both {start_region}: a task must end in another "
            "region than it starts in. Choose another start or another end region."
        )
    return answer


def region_ways(scene: Scene) -> Ways:
    """Every pair of connected regions and the transitions of the way, made on first use."""
    return per_scene(scene, "region_ways", lambda: _find_ways(scene))


def least_hops(tau: int) -> int:
    """The fewest hops of an admissible leg: ``max(2, tau)`` (CoNavBench 3.1.2)."""
    return max(2, tau)


def unknown_region(scene: Scene, name: str, *, argument: str = "region") -> str:
    """Say that a region is not there, and which near ones are.

    Args:
        scene: the scene.
        name: what was asked for.
        argument: what to call it in the message.
    """
    asked = name[:MAX_QUOTED]
    return (
        f"{argument} {asked!r} is not a region of this scene; use a whole region id."
        f"{did_you_mean(asked, scene.region_by_id)}"
    )


def _unknown_regions(scene: Scene, names: tuple[str, ...]) -> str:
    missing = dict.fromkeys(name for name in names if name not in scene.region_by_id)
    return " ".join(unknown_region(scene, name) for name in missing)


def _find_ways(scene: Scene) -> Ways:
    table = hop_table(scene)
    ways: Ways = {}
    # Nearest first, so that the way to the region before is always there to be drawn out by one.
    order = np.argsort(table.hops, axis=1, kind="stable").tolist()
    for a, (columns, before, hops) in enumerate(
        zip(order, table.before.tolist(), table.hops.tolist(), strict=True)
    ):
        start = table.nodes[a]
        for b in columns:
            end = table.nodes[b]
            if a == b:
                ways[start, end] = ()
            elif hops[b] > 0:
                last = table.nodes[before[b]]
                ways[start, end] = (*ways[start, last], f"{last} -> {end}")
    return ways


ITEM_NODE = "item "
"""Goes before an item's id in the name of its node, to keep it apart from a viewpoint's."""
POINT_NODE = "point "
"""Goes before a point's coordinates and region in the name of its node."""
MOST_TIES = 256
"""Choices among viewpoints that tie that are looked at."""
_TIE, _MOST_TYING = 1e-9, 4
"""Metres by which two viewpoints may differ and still tie, and how many may."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place on G+.

    Attributes:
        node: its name on a route: a viewpoint id, or an item's or a point's after ``ITEM_NODE`` or
            ``POINT_NODE``.
        viewpoint: row of its viewpoint in the metre table.
        spur: metres on the ground plane from the place to that viewpoint.
    """

    node: str
    viewpoint: int
    spur: float


@dataclass(frozen=True)
class MetricGraph:
    """Anchors of one scene and the distances between them.

    Attributes:
        table: the all-pairs table of G with 2-D weights.
        items: each item's anchor by item id; an item that cannot be anchored is missing.
        starts: each region's starting place; a region without viewpoints is missing.
    """

    table: DistanceTable
    items: dict[str, Anchor]
    starts: dict[str, Anchor]
    _rows: dict[int, list[float]] = field(default_factory=dict, repr=False, compare=False)

    def distance(self, a: Anchor, b: Anchor) -> float:
        """Metres from anchor to anchor over G+; ``inf`` where there is no way."""
        if a.node == b.node:
            return 0.0
        return a.spur + self.table.metres.item(a.viewpoint, b.viewpoint) + b.spur

    def row(self, anchor: Anchor) -> list[float]:
        """Metres from an anchor's viewpoint to every viewpoint, for lookups one at a time."""
        # A list answers several times faster than an array does, one number at a time.
        kept = self._rows.get(anchor.viewpoint)
        if kept is None:
            kept = self._rows[anchor.viewpoint] = self.table.metres[anchor.viewpoint].tolist()
        return kept

    def distances(self, rows: list[Anchor], columns: list[Anchor]) -> NDArray[np.float64]:
        """(rows, columns) metres between different anchors; ``inf`` where there is no way."""
        down = np.array([a.viewpoint for a in rows], dtype=np.intp)
        across = np.array([a.viewpoint for a in columns], dtype=np.intp)
        spurs = np.add.outer([a.spur for a in rows], [a.spur for a in columns])
        metres: NDArray[np.float64] = self.table.metres[np.ix_(down, across)] + spurs
        return metres

    def walk(self, a: Anchor, b: Anchor) -> list[str] | None:
        """The nodes from anchor to anchor, both included; None where there is no way."""
        if a.node == b.node:
            return [a.node]
        nodes = self.table.nodes
        path = self.table.path(nodes[a.viewpoint], nodes[b.viewpoint])
        if path is None:
            return None
        before = [] if a.node == path[0] else [a.node]
        after = [] if b.node == path[-1] else [b.node]
        return [*before, *path, *after]


def metric_graph(scene: Scene) -> MetricGraph:
    """G+ of a scene, made on first use."""

    def make() -> MetricGraph:
        table = metre_table(scene, "2d")
        starts = {region.id: _starts_of(scene, table, region) for region in scene.regions}
        items = {item.id: _anchors_of(scene, table, item) for item in scene.items}
        return MetricGraph(
            table,
            items={name: anchors[0] for name, anchors in items.items() if anchors},
            starts={name: anchors[0] for name, anchors in starts.items() if anchors},
        )

    return per_scene(scene, "g_plus", make)


def anchor_at(scene: Scene, point: Point3, region: str) -> Anchor | None:
    """Any point of a region as a place on G+, joined to its nearest viewpoint as items are.

    Args:
        scene: the scene.
        point: (x, y, z) in metres.
        region: the id of the region it lies in.

    Returns:
        Its anchor; None where neither the region nor its floor has a viewpoint.
    """
    viewpoints = scene.viewpoints_by_region[region] or _on_floor(scene, region)
    if not viewpoints:
        return None
    viewpoint, spur = _nearest(point, viewpoints)[0]
    x, y, z = point
    # repr keeps every bit, so that the node alone says where the point is.
    node = f"{POINT_NODE}{x!r} {y!r} {z!r} {region}"
    return Anchor(node, metre_table(scene, "2d").index[viewpoint.id], spur)


def whereabouts(scene: Scene, node: str) -> Viewpoint | Item:
    """What a node of G+ is; of a point (:func:`anchor_at`) a viewpoint that stands there."""
    if node.startswith(POINT_NODE) and node not in scene.viewpoint_by_id:
        x, y, z, region = node.removeprefix(POINT_NODE).split(" ", 3)
        return Viewpoint(id=node, position=(float(x), float(y), float(z)), region=region)
    return scene.viewpoint_by_id.get(node) or scene.item_by_id[node.removeprefix(ITEM_NODE)]


def link_crossed(scene: Scene, here: Viewpoint, there: Viewpoint) -> int | None:
    """The link that an edge of G crosses: of those between its regions, the one nearest its middle.

    Returns:
        Its index in ``scene.links``; None where the edge stays in a region, or no link joins its
        two.
    """
    regions = {here.region, there.region}
    x, _, z = ((one + other) / 2 for one, other in zip(here.position, there.position, strict=True))

    def off(numbered: tuple[int, Link]) -> tuple[float, int]:
        number, link = numbered
        metres = 0.0 if link.point is None else distance_2d((x, 0.0, z), link.point)
        return metres, number

    links = [(i, link) for i, link in enumerate(scene.links) if {link.a, link.b} == regions]
    return min(links, key=off)[0] if links else None


def spot_of(scene: Scene, node: str) -> tuple[int, float, float]:
    """Where a node of G+ is on a plan: its floor, and x and z in metres."""
    place = whereabouts(scene, node)
    if isinstance(place, Viewpoint):
        floor = scene.floor_of(place)
    else:
        floor = scene.region_by_id[place.region or ""].floor
    return floor, place.position[0], place.position[2]


def tied_graphs(
    scene: Scene, regions: Sequence[str], items: Sequence[str]
) -> Iterator[MetricGraph]:
    """G+ with each choice among viewpoints that tie, the scene's own first.

    Two viewpoints that tie to the last bits are both right; whoever made a dataset may have taken
    the other.

    Args:
        scene: the scene.
        regions: whose starting places may vary.
        items: the ids of items whose anchors may.
    """
    graph = metric_graph(scene)
    starts = [_starts_of(scene, graph.table, scene.region_by_id[region]) for region in regions]
    anchors = [_anchors_of(scene, graph.table, scene.item_by_id[item]) for item in items]
    tied: list[list[Anchor | None]] = [[*found] or [None] for found in (*starts, *anchors)]
    for choice in islice(product(*tied), MOST_TIES):
        placed = dict(zip((*regions, *items), choice, strict=True))
        known = {name: anchor for name, anchor in placed.items() if anchor is not None}
        yield replace(
            graph,
            starts={**graph.starts, **{r: known[r] for r in regions if r in known}},
            items={**graph.items, **{i: known[i] for i in items if i in known}},
        )


def _starts_of(scene: Scene, table: DistanceTable, region: Region) -> list[Anchor]:
    """Where a robot may start: one place, more where viewpoints tie, none without a viewpoint."""
    nearest = _nearest(region.center, scene.viewpoints_by_region[region.id])
    return [Anchor(viewpoint.id, table.index[viewpoint.id], 0.0) for viewpoint, _ in nearest]


def _anchors_of(scene: Scene, table: DistanceTable, item: Item) -> list[Anchor]:
    """Where an item may hang: one place, more where viewpoints tie, none where none is near."""
    if item.region is None:
        return []
    viewpoints = scene.viewpoints_by_region[item.region]
    nearest = _nearest(item.position, viewpoints or _on_floor(scene, item.region))
    node = f"{ITEM_NODE}{item.id}"
    return [Anchor(node, table.index[viewpoint.id], spur) for viewpoint, spur in nearest]


def _on_floor(scene: Scene, region: str) -> tuple[Viewpoint, ...]:
    regions = scene.region_by_id
    return tuple(
        viewpoint
        for viewpoint in scene.viewpoints
        if viewpoint.region and regions[viewpoint.region].floor == regions[region].floor
    )


def _nearest(point: Point3, viewpoints: tuple[Viewpoint, ...]) -> list[tuple[Viewpoint, float]]:
    """The nearest viewpoints on the ground plane and how far; of equals, the scene's first."""
    far = sorted(
        ((viewpoint, distance_2d(viewpoint.position, point)) for viewpoint in viewpoints),
        key=lambda pair: pair[1],
    )
    return [
        (viewpoint, metres) for viewpoint, metres in far[:_MOST_TYING] if metres <= far[0][1] + _TIE
    ]
