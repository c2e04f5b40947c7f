"""The augmented metric graph G+ of CoNavBench 3.1.3, as lookups.

G+ is the navigation graph G with 2-D weights, plus an anchor for each item at its own position,
joined by a straight spur to the nearest viewpoint of its region. A distance between two anchors is
therefore spur + table + spur, and no graph is ever built.

Where a region has no viewpoint, its items hang on the nearest viewpoint of the same floor; where
the floor has none either, they cannot be reached and have no anchor. A robot starts at the
viewpoint nearest its region's centre; in a region without viewpoints none can start. Of viewpoints
equally near, the first in the scene is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.distances import DistanceTable, metre_table, per_scene
from navloom.scenes.scene import Item, Point3, Scene, Viewpoint, distance_2d

__all__ = ["ITEM_NODE", "Anchor", "MetricGraph", "metric_graph", "whereabouts"]

ITEM_NODE = "item "
"""Goes before an item's id in the name of its node, to keep it apart from a viewpoint's."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place on G+.

    Attributes:
        node: its name on a route: a viewpoint id, or an item id.
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
        return MetricGraph(table, _item_anchors(scene, table), _start_anchors(scene, table))

    return per_scene(scene, "g_plus", make)


def whereabouts(scene: Scene, node: str) -> Viewpoint | Item:
    """What a node of G+ is."""
    return scene.viewpoint_by_id.get(node) or scene.item_by_id[node.removeprefix(ITEM_NODE)]


def _start_anchors(scene: Scene, table: DistanceTable) -> dict[str, Anchor]:
    starts: dict[str, Anchor] = {}
    for region in scene.regions:
        viewpoints = scene.viewpoints_by_region[region.id]
        if viewpoints:
            chosen, _ = _nearest(region.center, viewpoints)
            starts[region.id] = Anchor(chosen.id, table.index[chosen.id], 0.0)
    return starts


def _item_anchors(scene: Scene, table: DistanceTable) -> dict[str, Anchor]:
    anchors: dict[str, Anchor] = {}
    for region in scene.regions:
        viewpoints = scene.viewpoints_by_region[region.id] or _on_floor(scene, region.floor)
        for item in scene.items_in(region.id) if viewpoints else ():
            chosen, spur = _nearest(item.position, viewpoints)
            anchors[item.id] = Anchor(f"{ITEM_NODE}{item.id}", table.index[chosen.id], spur)
    return anchors


def _on_floor(scene: Scene, floor: int) -> tuple[Viewpoint, ...]:
    regions = scene.region_by_id
    return tuple(
        viewpoint
        for viewpoint in scene.viewpoints
        if viewpoint.region is not None and regions[viewpoint.region].floor == floor
    )


def _nearest(point: Point3, viewpoints: tuple[Viewpoint, ...]) -> tuple[Viewpoint, float]:
    """The nearest viewpoint on the ground plane and how far it is; of equals, the scene's first."""
    metres = [distance_2d(viewpoint.position, point) for viewpoint in viewpoints]
    least = min(metres)
    return viewpoints[metres.index(least)], least
