"""Elevators of a scan: rooms over one another that hold what is called one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from navloom.scenes.parts import Edge, Link, Point2, Viewpoint, distance_2d
from navloom_worlds.geometry.scan import Scan
from navloom_worlds.geometry.scan_links import STAIRS_RISE
from navloom_worlds.geometry.scan_rooms import Rooms

LIFT_NAME = re.compile(r"^(elevator|lift)( (floor|wall|ceiling|doors?|cabin|car|shaft))?$")
"""Of names: what an elevator is, or is built of."""
_SAME_SHAFT = 1.0
"""Metres, seen from above, between the middles of what is one elevator on two storeys."""


def lift_links(scan: Scan, rooms: Rooms) -> tuple[Link, ...]:
    """A link between each two rooms, next above one another, that hold parts of one elevator.

    Args:
        scan: as it was read.
        rooms: its rooms.
    """
    held: dict[int, list[Point2]] = {}
    for line in scan.lines:
        if line.region in rooms.by_number and LIFT_NAME.search(line.name):
            # Floors and walls have no boxes: their room is the elevator.
            box = scan.boxes.get(line.number)
            x, _, z = rooms.by_number[line.region].center if box is None else box.center
            held.setdefault(line.region, []).append((x, z))
    stops = [(rooms.by_number[number], np.mean(at, axis=0)) for number, at in held.items()]
    shafts: list[list[int]] = []
    for index in sorted(range(len(stops)), key=lambda k: (stops[k][0].center[1], k)):
        for shaft in shafts:
            if math.dist(stops[shaft[-1]][1], stops[index][1]) <= _SAME_SHAFT:
                shaft.append(index)
                break
        else:
            shafts.append([index])
    links = []
    for shaft in shafts:
        for low, high in pairwise(shaft):
            (a, at), (b, _) = stops[low], stops[high]
            rise = b.center[1] - a.center[1]
            if rise > STAIRS_RISE:
                x, z = (round(float(each), 3) for each in at)
                point = (x, round(a.center[1] + rise / 2, 3), z)
                links.append(
                    Link(a=a.id, b=b.id, kind="elevator", point=point, step=round(rise, 3))
                )
    return tuple(links)


def lift_edges(links: Sequence[Link], viewpoints: Sequence[Viewpoint]) -> tuple[Edge, ...]:
    """For each elevator an edge between the viewpoints of its two rooms that are nearest to it."""
    edges = []
    for link in links:
        point = link.point
        ends = [[v for v in viewpoints if v.region == room] for room in (link.a, link.b)]
        if point is not None and all(ends):
            a, b = (min(v, key=lambda each: distance_2d(each.position, point)).id for v in ends)
            edges.append(Edge(a=a, b=b))
    return tuple(edges)
