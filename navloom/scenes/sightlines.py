"""Which places on a floor see each other: what shortest ways round furniture are found on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import networkx as nx
import numpy as np
import shapely
from shapely import Polygon

from navloom.scenes.parts import Point2

_SLACK = 0.002
"""Metres that rounding to millimetres may move a corner, and more."""


def see_each_other(floor: Polygon, points: Sequence[Point2]) -> tuple[Polygon, nx.Graph[Point2]]:
    """What sees what, of places on a floor and the corners round which a shortest way may turn.

    Args:
        floor: a polygon; the shortest way between two of its places turns at corners of it alone,
            those at which it has more than half a turn.
        points: places on it.

    Returns:
        The floor, a little wider, prepared for tests of what it covers: corners are rounded to
        millimetres. And the graph of the points and such corners, each edge with its ``metres``.
    """
    roomy = floor.buffer(_SLACK, join_style="mitre")
    shapely.prepare(roomy)
    nodes = list(dict.fromkeys([*points, *_inner_corners(floor)]))
    places = np.array(nodes)
    first, second = np.triu_indices(len(nodes), 1)
    ways = shapely.linestrings(np.stack([places[first], places[second]], axis=1))
    clear = np.flatnonzero(shapely.covers(roomy, ways))
    sight: nx.Graph[Point2] = nx.Graph()
    sight.add_nodes_from(nodes)
    for i, j in zip(first[clear].tolist(), second[clear].tolist(), strict=True):
        sight.add_edge(nodes[i], nodes[j], metres=math.dist(nodes[i], nodes[j]))
    return roomy, sight


def _inner_corners(floor: Polygon) -> list[Point2]:
    """The corners at which a floor has more than half a turn, to the millimetre."""
    found: set[Point2] = set()
    turned = shapely.orient_polygons(floor)
    for ring in (turned.exterior, *turned.interiors):
        at = shapely.get_coordinates(ring)[:-1]
        before, after = at - np.roll(at, 1, axis=0), np.roll(at, -1, axis=0) - at
        bends = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0] < 0
        found.update((round(x, 3), round(z, 3)) for x, z in at[bends].tolist())
    return sorted(found)
