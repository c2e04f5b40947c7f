"""Matterport3D scans in R2R's form: ``mp3d:DIR/SCAN``.

Files read, and their content (details in ``docs/formats/mp3d.md``):

    connectivity/SCAN_connectivity.json          viewpoints (camera positions) and edges
    house/SCAN.house                             rooms with types, storeys, objects; else
    regions/house_region_to_panorama.json        rooms without types: Unknown_5; else no rooms
    observations/objects_list/SCAN.json          objects, if no .house gives them
    SCAN/SCAN.glb, SCAN/SCAN_semantic.ply        mesh, and the object of each face

Files are z up; a point (x, y, z) there is (x, z, -y) here, which makes R2R's headings ours.
Everything inferred, approximated or left out is listed in ``scene.notes``.

The module also assigns viewpoints to rooms, and finds storeys and links between rooms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Annotated

import networkx as nx
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError
from navloom.scenes.formats.mp3d_house import House, HouseRoom, read_house, y_up
from navloom.scenes.formats.scan_files import find_mp3d_scans, load_scan
from navloom.scenes.safe_files import (
    check_scene_id,
    find_file,
    list_file_ids,
    read_json,
    repr_of,
    scene_errors,
)
from navloom.scenes.scene import (
    UNKNOWN,
    Box,
    Edge,
    Finite,
    Floor,
    Item,
    ItemKind,
    Link,
    Name,
    Point3,
    Region,
    Scene,
    Viewpoint,
    distance_3d,
    prompt_name,
    region_id,
)

STOREY = 2.0
"""Greatest height difference in metres of room floors on one storey. A rule of gaps between heights
(1.5 m) merges storeys through a landing halfway up the stairs: it finds fewer of them in 15 of 60
scans."""
STAIRS = 1.0
"""Rise in metres above which a link between two rooms is stairs."""


@dataclass(frozen=True)
class Mp3dRooms:
    """Room data of the source.

    Attributes:
        given: included viewpoint -> region id.
        labels: region id -> type in the source's words, in order of number.
        boxes: region id -> box, if the source has one.
        centers: region id -> a point on its floor, for rooms that have geometry.
        storeys: region id -> height of its storey, if the source has it.
        notes: remarks for the scene.
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
        """Compute the position of each room: the mean of its viewpoints, at floor height.

        Storeys are the source's, else clustered from the floor heights of rooms, or of viewpoints
        if there are no rooms.

        Args:
            ground: viewpoint -> the floor under it.
            room_of: viewpoint -> region id.

        Returns:
            The regions, the storeys, and the ids of rooms without a known position.
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


def rooms_of_house(house: House, viewpoints: Mapping[str, Point3]) -> Mp3dRooms:
    """Return rooms with types, boxes and storeys from a ``.house`` file.

    Args:
        house: the file.
        viewpoints: the included viewpoints; only these get a room.
    """
    names = {room.number: region_id(room.label, room.number) for room in house.rooms}
    ordered = sorted(house.rooms, key=lambda room: room.number)
    return Mp3dRooms(
        given={v: names[r] for v, r in house.room_of.items() if v in viewpoints},
        labels={names[room.number]: room.label for room in ordered},
        boxes={names[room.number]: room.box for room in ordered},
        centers={names[room.number]: room.center for room in ordered},
        storeys={names[room.number]: _storey(house, room) for room in ordered},
    )


def _storey(house: House, room: HouseRoom) -> float:
    # A room without a level (-1) is on the nearest one, or on its own if there are none.
    if room.level in house.levels:
        return house.levels[room.level]
    floor = room.center[1]
    return min(house.levels.values(), key=lambda height: abs(height - floor), default=floor)


def rooms_without_types(
    panoramas: Mapping[str, Sequence[str]], viewpoints: Mapping[str, Point3], path: Path, scan: str
) -> Mp3dRooms:
    """Return rooms from ``house_region_to_panorama.json``: numbers and viewpoints, no types.

    Args:
        panoramas: region number -> its viewpoints.
        viewpoints: the included viewpoints; other listed ones are ignored.
        path: the file, for messages.
        scan: the scan, for messages.

    Raises:
        SceneError: a viewpoint is in two rooms.
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
    return Mp3dRooms(given=given, labels=labels, notes=(note,))


def assign_rooms(
    graph: nx.Graph[str], position: Mapping[str, Point3], given: Mapping[str, str]
) -> dict[str, str]:
    """Assign a room to every viewpoint: its own, else that of its nearest labelled neighbour.

    Neighbours are searched along the edges, all at one hop, then all at two, and so on. Of those at
    the same hop the nearest in space counts. If no edge leads to a labelled viewpoint, the nearest
    in space counts.

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


def room_links(
    graph: nx.Graph[str],
    ground: Mapping[str, Point3],
    room_of: Mapping[str, str],
    regions: Sequence[Region],
) -> tuple[Link, ...]:
    """Return a link for every two rooms that an edge of the navigation graph joins.

    Args:
        graph: the navigation graph.
        ground: viewpoint -> the floor under it.
        room_of: viewpoint -> region id.
        regions: the rooms, in the order of the links.

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
    # The median height, since a camera above a stairwell has an outlier.
    return fmean(p[0] for p in points), median(p[1] for p in points), fmean(p[2] for p in points)


def _storeys(heights: Mapping[str, float]) -> dict[str, float]:
    """Return each room's storey, as the median height of the rooms on it."""
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


_ENDING = "_connectivity.json"
NO_ROOMS = (
    "Rooms are not known: the scan has neither house/SCAN.house nor a place in"
    " regions/house_region_to_panorama.json."
)


class _Panorama(BaseModel):
    """Record of a connectivity file."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    image_id: Name
    pose: Annotated[list[Finite], Field(min_length=16, max_length=16)]
    included: bool
    unobstructed: list[bool]
    height: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


_PANORAMAS = TypeAdapter(Annotated[list[_Panorama], Field(min_length=1, max_length=5000)])
_NUMBER = Annotated[str, Field(pattern=r"^[0-9]{1,6}$")]
_REGIONS = TypeAdapter(dict[str, dict[_NUMBER, list[str]]])


@dataclass(frozen=True)
class ScanGraph:
    """Navigation graph of a scan in our frame.

    Attributes:
        camera: viewpoint -> camera position, in the file's order.
        height: viewpoint -> height of the camera above the floor.
        graph: the included viewpoints and the unobstructed edges between them.
    """

    camera: dict[str, Point3]
    height: dict[str, float]
    graph: nx.Graph[str]

    @property
    def ground(self) -> dict[str, Point3]:
        """Floor point under each viewpoint."""
        return {v: (x, y - self.height[v], z) for v, (x, y, z) in self.camera.items()}


def list_ids(folder: Path) -> list[str]:
    """Return the sorted scans of a folder: those with a connectivity file or a mesh."""
    seen = (name for name, files in find_mp3d_scans(folder).items() if files.seen)
    return sorted({*list_file_ids(folder, _ENDING, "connectivity"), *seen})


def load(folder: Path, scene_id: str) -> Scene:
    """Load one scan.

    Args:
        folder: holds ``connectivity/`` and, if present, ``house/``, ``regions/`` and
            ``observations/``. Connectivity and ``.house`` files may also lie in the folder itself.
        scene_id: the scan, for example ``"17DRP5sb8fy"``.

    Returns:
        The scene. ``viewpoint.position`` is the camera and ``eye_height`` its height above the
        floor; regions without a type are ``Unknown_5``; ``notes`` say what was inferred.

    Raises:
        SceneError: path, field and expectation if a file is missing or broken.
    """
    scan = check_scene_id(scene_id, what="mp3d")
    files = find_mp3d_scans(folder).get(scan)
    with scene_errors(f"{folder}: {scan}"):
        path = find_file(folder, "connectivity", f"{scan}{_ENDING}")
        if files is None or not files.seen or path.is_file():
            return _build(folder, scan, None if files is None else files.numbers)
        # The mesh reader is imported only if there is a mesh.
        return load_scan(files)


def read_camera_poses(folder: Path, scene_id: str) -> dict[str, list[float]]:
    """Return the camera poses of a scan, which a scene does not keep.

    Args:
        folder: as for :func:`load`.
        scene_id: the scan.

    Returns:
        Included viewpoint -> the 16 numbers of its pose matrix, row by row, in the file's frame (z
        up).

    Raises:
        FileNotFoundError: the folder has no connectivity file of this scan.
        SceneError: the file is broken.
    """
    path = find_file(folder, "connectivity", f"{check_scene_id(scene_id, what='mp3d')}{_ENDING}")
    if not path.is_file():
        raise FileNotFoundError(path)
    return {each.image_id: each.pose for each in read_json(path, _PANORAMAS) if each.included}


def _build(folder: Path, scan: str, beside: Path | None) -> Scene:
    walk = _read_walk(find_file(folder, "connectivity", f"{scan}{_ENDING}"))
    house_file = find_file(folder, "house", f"{scan}.house")
    house_file = beside if beside is not None and not house_file.is_file() else house_file
    house = read_house(house_file) if house_file.is_file() else None
    rooms = _read_rooms(folder, scan, house, walk)
    room_of = assign_rooms(walk.graph, walk.camera, rooms.given) if rooms.given else {}
    regions, floors, empty = rooms.place(walk.ground, room_of)
    notes = [*rooms.notes, *_notes_on_walk(walk, rooms, empty)]
    items, item_notes = _read_items(folder, scan, house, rooms, walk, room_of)
    return Scene(
        id=scan,
        source="mp3d",
        floors=floors,
        regions=regions,
        links=room_links(walk.graph, walk.ground, room_of, regions) if regions else (),
        items=items,
        viewpoints=tuple(
            Viewpoint(
                id=viewpoint,
                position=position,
                region=room_of.get(viewpoint),
                inferred=viewpoint in room_of and viewpoint not in rooms.given,
                eye_height=walk.height[viewpoint],
            )
            for viewpoint, position in walk.camera.items()
        ),
        edges=tuple(Edge(a=a, b=b) for a, b in walk.graph.edges),
        notes=(*notes, *item_notes),
    )


def _read_walk(path: Path) -> ScanGraph:
    panoramas = read_json(path, _PANORAMAS)
    for i, panorama in enumerate(panoramas):
        if len(panorama.unobstructed) != len(panoramas):
            raise SceneError(
                f"{path}: [{i}].unobstructed: expected {len(panoramas)} values, one a viewpoint, "
                f"got {len(panorama.unobstructed)}."
            )
    included: dict[str, _Panorama] = {}
    for i, panorama in enumerate(panoramas):
        if panorama.included and panorama.image_id in included:
            name = repr_of(panorama.image_id)
            raise SceneError(f"{path}: [{i}].image_id: expected each id once, {name} stands twice.")
        if panorama.included:
            included[panorama.image_id] = panorama
    if not included:
        raise SceneError(f"{path}: included: expected at least one viewpoint that is included.")
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(included)
    for here in included.values():
        for there, free in zip(panoramas, here.unobstructed, strict=True):
            if free and there.included and there.image_id != here.image_id:
                graph.add_edge(here.image_id, there.image_id)
    camera = {v: y_up(p.pose[3], p.pose[7], p.pose[11]) for v, p in included.items()}
    return ScanGraph(camera, {v: p.height for v, p in included.items()}, graph)


def _read_rooms(folder: Path, scan: str, house: House | None, walk: ScanGraph) -> Mp3dRooms:
    if house is not None:
        rooms = rooms_of_house(house, walk.camera)
        where = str(find_file(folder, "house", f"{scan}.house"))
    else:
        path = find_file(folder, "regions", "house_region_to_panorama.json")
        regions = read_json(path, _REGIONS) if path.is_file() else {}
        if scan not in regions:
            return Mp3dRooms({}, {}, notes=(NO_ROOMS,))
        rooms = rooms_without_types(regions[scan], walk.camera, path, scan)
        where = str(path)
    if not rooms.given:
        raise SceneError(
            f"{where}: expected at least one room of {scan} that holds an included viewpoint."
        )
    return rooms


def _notes_on_walk(walk: ScanGraph, rooms: Mp3dRooms, empty: list[str]) -> list[str]:
    notes = []
    inferred = len(walk.camera) - len(rooms.given)
    if inferred and rooms.given:
        notes.append(
            f"{inferred} of {len(walk.camera)} viewpoints are in no room of the source and took "
            "their nearest labelled neighbour's (inferred=true)."
        )
    if empty:
        notes.append(f"Rooms without an included viewpoint are left out: {', '.join(empty)}.")
    parts = nx.number_connected_components(walk.graph)
    if parts > 1:
        notes.append(f"The navigation graph is in {parts} parts with no way between them.")
    return notes


def _read_items(
    folder: Path,
    scan: str,
    house: House | None,
    rooms: Mp3dRooms,
    walk: ScanGraph,
    room_of: Mapping[str, str],
) -> tuple[tuple[Item, ...], list[str]]:
    if house is not None and house.objects:
        return _items_of_house(house, rooms)
    path = find_file(folder, "observations/objects_list", f"{scan}.json")
    if not path.is_file():
        return (), ["No objects: the source has none for this scan."]
    from navloom.scenes.formats.mp3d_observations import merge_sightings, read_sightings

    sightings = read_sightings(path, walk.ground)
    seen = merge_sightings(sightings)
    kinds, notes = _kinds(each.name for each in seen)
    items = tuple(
        Item(
            id=f"o{i}",
            name=each.name,
            kind=kinds[each.name],
            region=room_of.get(each.viewpoint),
            position=each.position,
            height_known=False,
        )
        for i, each in enumerate(seen)
    )
    notes.insert(
        0,
        f"{len(items)} objects merged from {len(sightings)} sightings: their place is good to "
        "about a metre, their height is unknown.",
    )
    return items, notes


def _items_of_house(house: House, rooms: Mp3dRooms) -> tuple[tuple[Item, ...], list[str]]:
    names = {int(region.rsplit("_", 1)[-1]): region for region in rooms.labels}
    kinds, notes = _kinds(each.name for each in house.objects)
    items = tuple(
        Item(
            id=f"o{each.number}",
            name=each.name,
            kind=kinds[each.name],
            region=names[each.room],
            position=each.box.center,
            size=each.box.size,
            yaw=each.box.yaw,
        )
        for each in house.objects
    )
    if house.skipped:
        notes.append(f"{house.skipped} objects of no room or no name are left out.")
    return items, notes


def _kinds(names: Iterable[str]) -> tuple[dict[str, ItemKind], list[str]]:
    """Return the kind of each name, and a note on names that the lexicon does not know."""
    from navloom.scenes.lexicon import classify

    known = {name: classify(name) for name in dict.fromkeys(names)}
    unknown = sorted({prompt_name(name) for name, kind in known.items() if kind is None})
    kinds: dict[str, ItemKind] = {name: kind or "structure" for name, kind in known.items()}
    if not unknown:
        return kinds, []
    shown = ", ".join(unknown[:30]) + (", ..." if len(unknown) > 30 else "")
    return kinds, [f"{len(unknown)} names not in the lexicon, kept as structure: {shown}."]
