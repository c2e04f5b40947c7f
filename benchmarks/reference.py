"""CoNavBench's reference searches in plain networkx, used by benchmarks and tests.

Written after CoNavBench A.10.2 and A.11.2, with the rules of docs/tools.md so that the answers can
be compared. Every pair of viewpoints of the two regions is searched, with one shortest path each,
and the best is kept. The module uses the scene and networkx, and nothing of ``navloom.tools``.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, TypeAlias

import networkx as nx

from navloom.scenes.scene import Item, Scene, distance_2d

__all__ = ["Collab", "check_path", "crossing_graph", "viewpoint_graph"]

Graph: TypeAlias = "nx.Graph[str]"


def viewpoint_graph(scene: Scene) -> Graph:
    """Build the paper's G: nodes have ``region`` and ``position``, edges a 2-D ``weight``."""
    graph: Graph = nx.Graph()
    for viewpoint in scene.viewpoints:
        graph.add_node(viewpoint.id, region=viewpoint.region, position=viewpoint.position)
    for edge in scene.edges:
        a, b = (graph.nodes[end]["position"] for end in (edge.a, edge.b))
        graph.add_edge(edge.a, edge.b, weight=distance_2d(a, b))
    return graph


def crossing_graph(scene: Scene) -> Graph:
    """Build a viewpoint graph whose shortest paths count the links of H that they cross.

    An edge within a region costs 0, and an edge over a link of H costs 1. Edges between regions
    without a link in H are left out. H treats a region as one place and every link as open. So the
    parts of a disconnected region are joined at no cost, and a link without an edge gets one. Only
    as many edges are added as this needs, so that the searches do not become slower.
    """
    links = {frozenset((link.a, link.b)) for link in scene.links}
    graph: Graph = nx.Graph()
    for viewpoint in scene.viewpoints:
        if viewpoint.region is not None:
            graph.add_node(viewpoint.id, region=viewpoint.region)
    crossed = set()
    for edge in scene.edges:
        if edge.a not in graph or edge.b not in graph:
            continue
        ends = frozenset(graph.nodes[end]["region"] for end in (edge.a, edge.b))
        if len(ends) == 1:
            graph.add_edge(edge.a, edge.b, hops=0)
        elif ends in links:
            graph.add_edge(edge.a, edge.b, hops=1)
            crossed.add(ends)
    inside = {r: [v.id for v in members] for r, members in scene.viewpoints_by_region.items()}
    for nodes in inside.values():
        pieces = [min(piece) for piece in nx.connected_components(graph.subgraph(nodes))]
        graph.add_edges_from(pairwise(pieces), hops=0)
    for a, b in (sorted(link) for link in links - crossed):
        if inside[a] and inside[b]:
            graph.add_edge(inside[a][0], inside[b][0], hops=1)
    return graph


def check_path(
    graph: Graph, region_a: str, region_b: str, *, weight: str | None = "hops"
) -> dict[str, Any]:
    """Run the nested search of A.10.2 over :func:`crossing_graph`.

    Args:
        graph: the viewpoints.
        region_a: complete region id.
        region_b: another complete region id.
        weight: ``"hops"`` for the fewest links; None for the fewest viewpoints, as printed.
    """
    starts = [node for node in graph.nodes if graph.nodes[node]["region"] == region_a]
    targets = [node for node in graph.nodes if graph.nodes[node]["region"] == region_b]
    adjacency = any(graph.has_edge(a, b) for a in starts for b in targets)
    best: list[str] | None = None
    least = math.inf
    for start in starts:
        for target in targets:
            try:
                path = nx.shortest_path(graph, source=start, target=target, weight=weight)
            except nx.NetworkXNoPath:
                continue
            length = len(_regions(graph, path)) if weight else len(path)
            if length < least:
                least, best = length, path
    if best is None:
        return {"connect": False, "adjacency": adjacency, "path_length": 0, "path": []}
    steps = _regions(graph, best)
    transitions = [f"{a} -> {b}" for a, b in pairwise(steps)]
    return {
        "connect": True,
        "adjacency": adjacency,
        "path_length": len(transitions),
        "path": transitions,
    }


def _regions(graph: Graph, path: list[str]) -> list[str]:
    steps: list[str] = []
    for node in path:
        region = graph.nodes[node]["region"]
        if not steps or region != steps[-1]:
            steps.append(region)
    return steps


class Collab:
    """Search of A.11.2: G+ is built as a graph, and each leg is one shortest path.

    Args:
        scene: the scene.
        start_region: start region of robot_1.
        thing: the object.
        end_asset: the end asset.
    """

    def __init__(self, scene: Scene, start_region: str, thing: Item, end_asset: Item) -> None:
        self.scene = scene
        self.graph = viewpoint_graph(scene)
        self.start = self._centre(start_region)
        self._insert("object", thing)
        self._insert("end", end_asset)
        self.solo = self._metres(self.start, "object") + self._metres("object", "end")

    def check(self, robot_2_region: str, transfer: Item, collab_type: str) -> dict[str, Any]:
        """Return the paper's answer for one relay; ``{"efficient": False}`` if a leg is missing."""
        helper = self._centre(robot_2_region)
        self._insert("transfer", transfer)
        fetcher, receiver = (
            (helper, self.start) if collab_type == "Type-A1" else (self.start, helper)
        )
        try:
            to_object = self._metres(fetcher, "object")
            carried = self._metres("object", "transfer")
            come = self._metres(receiver, "transfer")
            deliver = self._metres("transfer", "end")
        except (nx.NetworkXNoPath, nx.NodeNotFound):
            return {"efficient": False}
        finally:
            self.graph.remove_node("transfer")
        g_cost = max(to_object + carried, come) + deliver
        r1_cost = come + deliver if collab_type == "Type-A1" else to_object + carried
        return {
            "g_efficient": g_cost < self.solo,
            "r1_efficient": r1_cost < self.solo,
            "efficient": g_cost < self.solo or r1_cost < self.solo,
            "g_rate": g_cost / self.solo,
            "r1_rate": r1_cost / self.solo,
        }

    def _metres(self, a: str, b: str) -> float:
        return float(nx.shortest_path_length(self.graph, source=a, target=b, weight="weight"))

    def _centre(self, region: str) -> str:
        return self._nearest(region, self.scene.region_by_id[region].center)

    def _nearest(self, region: str, point: tuple[float, float, float]) -> str:
        nodes: list[str] = [
            name for name, data in self.graph.nodes(data=True) if data.get("region") == region
        ]
        at = self.graph.nodes
        return min(nodes, key=lambda node: distance_2d(at[node]["position"], point))

    def _insert(self, name: str, item: Item) -> None:
        nearest = self._nearest(item.region or "", item.position)
        spur = distance_2d(self.graph.nodes[nearest]["position"], item.position)
        self.graph.add_node(name, position=item.position)
        self.graph.add_edge(name, nearest, weight=spur)
