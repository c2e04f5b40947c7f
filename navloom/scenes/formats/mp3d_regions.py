"""The rooms of a Matterport3D scan: who is in which, storeys, and the ways between rooms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

import networkx as nx
import numpy as np

from navloom.errors import SceneError
from navloom.scenes.formats.mp3d_house import House, HouseRoom
from navloom.scenes.scene import UNKNOWN, Box, Floor, Link, Point3, Region, distance_3d, region_id

STOREY = 2.0
"""Rooms whose floors are at most this far apart in height are one storey, in metres. A rule of
gaps between heights (1.5 m) chains storeys through a landing halfway up the stairs: it finds fewer
of them in 15 of 60 scans."""
STAIRS = 1.0
"""A way between two rooms that rises more than this is stairs, in metres."""


@dataclass(frozen=True)
class Rooms:
    """What the source says about rooms.

    Attributes:
        given: included viewpoint -> region id.
        labels: region id -> type in the source's words, in order of number.
        boxes: region id -> box, where the source has one.
        centers: region id -> a place on its floor, for rooms that have geometry.
        storeys: region id -> height of its storey, where the source says.
        notes: what a reader must know.
    """

    given: dict[str, str]
    labels: dict[str, str]
    boxes: dict[str, Box] = field(default_factory=dict)
    centers: dict[str, Point3] = field(default_factory=dict)
    storeys: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def place(
        self, ground: Mapping[str, Point3], room_of: Mapping[str, str]
    ) -> tuple[tuple[Region, ...], tuple[Floor, ...], list[str]]:
        """Put every room somewhere: the mean of its viewpoints, at the height of its floor.

        Storeys are the source's, else found in the floors of rooms; without rooms, of viewpoints.

        Args:
            ground: viewpoint -> the floor under it.
            room_of: viewpoint -> region id.

        Returns:
            The regions, the storeys, and the ids of rooms nothing says the place of.
        """
        members: dict[str, list[Point3]] = defaultdict(list)
        for viewpoint, region in room_of.items():
            members[region].append(ground[viewpoint])
        centers = {
            region: _middle(members[region]) if members[region] else self.centers[region]
            for region in self.labels
            if members[region] or region in self.centers
        }
        empty = [region for region in self.labels if region not in centers]
        heights = self.storeys or _storeys({n: at[1] for n, at in (centers or ground).items()})
        floors = {height: i for i, height in enumerate(sorted(set(heights.values())), start=1)}
        regions = tuple(
            Region(
                id=region,
                label=self.labels[region],
                floor=floors[heights[region]],
                center=center,
                box=self.boxes.get(region),
            )
            for region, center in centers.items()
        )
        return regions, tuple(Floor(id=i, height=height) for height, i in floors.items()), empty


def rooms_of_house(house: House, viewpoints: Mapping[str, Point3]) -> Rooms:
    """Rooms with types, boxes and storeys, as a ``.house`` file has them.

    Args:
        house: the file.
        viewpoints: the included viewpoints, which alone are given a room.
    """
    names = {room.number: region_id(room.label, room.number) for room in house.rooms}
    ordered = sorted(house.rooms, key=lambda room: room.number)
    return Rooms(
        given={v: names[r] for v, r in house.room_of.items() if v in viewpoints},
        labels={names[room.number]: room.label for room in ordered},
        boxes={names[room.number]: room.box for room in ordered},
        centers={names[room.number]: room.center for room in ordered},
        storeys={names[room.number]: _storey(house, room) for room in ordered},
    )


def _storey(house: House, room: HouseRoom) -> float:
    # A room may name no level (-1): it is on the nearest one, or on its own where there is none.
    if room.level in house.levels:
        return house.levels[room.level]
    floor = room.center[1]
    return min(house.levels.values(), key=lambda height: abs(height - floor), default=floor)


def rooms_without_types(
    panoramas: Mapping[str, Sequence[str]], viewpoints: Mapping[str, Point3], path: Path, scan: str
) -> Rooms:
    """Rooms as ``house_region_to_panorama.json`` has them: numbers and viewpoints, no types.

    Args:
        panoramas: region number -> its viewpoints.
        viewpoints: the included viewpoints; others that are listed are passed over.
        path: the file, for messages.
        scan: the scan, for messages.

    Raises:
        SceneError: where a viewpoint is in two rooms.
    """
    given: dict[str, str] = {}
    labels: dict[str, str] = {}
    for number in sorted(panoramas, key=int):
        region = region_id(UNKNOWN, int(number))
        labels[region] = UNKNOWN
        for viewpoint in panoramas[number]:
            if given.get(viewpoint, region) != region:
                raise SceneError(
                    f"{path}: {scan}.{number}: expected each viewpoint in one room, and "
                    f"{viewpoint[:60]!r} is in {given[viewpoint]} too."
                )
            if viewpoint in viewpoints:
                given[viewpoint] = region
    note = "The source gives rooms no types: they are called Unknown."
    return Rooms(given=given, labels=labels, notes=(note,))


def fill_rooms(
    graph: nx.Graph[str], position: Mapping[str, Point3], given: Mapping[str, str]
) -> dict[str, str]:
    """A room for every viewpoint: its own, else that of its nearest labelled neighbour.

    The neighbour is looked for along the edges, all at one hop, then all at two, and so on; of
    those at the same hop the nearest in space counts. Where no edge leads to a labelled
    viewpoint, the nearest in space does.

    Args:
        graph: the navigation graph.
        position: viewpoint -> position, in metres.
        given: viewpoint -> room, for some; at least one.

    Returns:
        Viewpoint -> room, for all of them, in the order of ``position``.
    """

    def nearest(viewpoint: str) -> str:
        here = position[viewpoint]
        for ring in nx.bfs_layers(graph, viewpoint):
            labelled: list[str] = [v for v in ring if v in given]
            if labelled:
                return min(labelled, key=lambda v: (distance_3d(here, position[v]), v))
        return min(given, key=lambda v: (distance_3d(here, position[v]), v))

    return {v: given[v] if v in given else given[nearest(v)] for v in position}


def crossings(
    graph: nx.Graph[str],
    ground: Mapping[str, Point3],
    room_of: Mapping[str, str],
    regions: Sequence[Region],
) -> tuple[Link, ...]:
    """A link for every two rooms that an edge of the navigation graph joins.

    Args:
        graph: the navigation graph.
        ground: viewpoint -> the floor under it.
        room_of: viewpoint -> region id.
        regions: the rooms, in the order links are wanted in.

    Returns:
        Links whose point is the middle of the shortest crossing edge, on the floor.
    """
    order = {region.id: i for i, region in enumerate(regions)}
    center = {region.id: region.center for region in regions}
    best: dict[tuple[str, str], tuple[float, str, str]] = {}
    for edge in graph.edges:
        one, other = sorted(edge, key=lambda v: (order[room_of[v]], v))
        pair = room_of[one], room_of[other]
        if pair[0] != pair[1]:
            candidate = distance_3d(ground[one], ground[other]), one, other
            best[pair] = min(best.get(pair, candidate), candidate)
    links = []
    for a, b in sorted(best, key=lambda pair: (order[pair[0]], order[pair[1]])):
        _, one, other = best[a, b]
        start, end = ground[one], ground[other]
        rise = max(abs(start[1] - end[1]), abs(center[a][1] - center[b][1]))
        kind = "stairs" if rise > STAIRS else "opening"
        middle = tuple((s + e) / 2 for s, e in zip(start, end, strict=True))
        links.append(Link.model_validate({"a": a, "b": b, "kind": kind, "point": middle}))
    return tuple(links)


def _middle(points: Sequence[Point3]) -> Point3:
    # The median height: a camera that looks over a stairwell has a height that is far off.
    return fmean(p[0] for p in points), median(p[1] for p in points), fmean(p[2] for p in points)


def _storeys(heights: Mapping[str, float]) -> dict[str, float]:
    """Each room's storey, as the median height of the rooms on it."""
    if len(heights) == 1:
        return dict(heights)
    from scipy.cluster.hierarchy import fcluster, linkage

    labels = fcluster(
        linkage(np.array(list(heights.values()))[:, None], "complete"), STOREY, "distance"
    )
    groups: dict[int, list[float]] = defaultdict(list)
    for label, height in zip(labels, heights.values(), strict=True):
        groups[int(label)].append(height)
    return {r: median(groups[int(label)]) for r, label in zip(heights, labels, strict=True)}
