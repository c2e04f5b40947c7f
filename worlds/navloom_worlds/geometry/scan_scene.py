"""Scene of a scan: rooms, items with boxes, links, elevators, and the navigation graph.

Information that a scan lacks is listed in the scene's ``notes``.

A place of the walkable field belongs to the room of the floor, rug or stairs under it. A place on
anything else (a threshold) belongs to the room nearest on foot. Where places of two rooms touch
there is a link, one for each connected run of such places. Elevators link rooms above one another
that hold an object named elevator.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import KDTree

from navloom.errors import SceneError
from navloom.scenes.formats.hm3d import known_step, parts_note, step_note, unlisted_note
from navloom.scenes.lexicon import classify
from navloom.scenes.scene import (
    Box,
    Edge,
    Floor,
    Item,
    Link,
    LinkKind,
    Point2,
    Point3,
    Region,
    Scene,
    Viewpoint,
    distance_2d,
)
from navloom_worlds.geometry.arrays import F64, I32, Bools
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.mesh_graph import MeshGraph, build_mesh_graph
from navloom_worlds.geometry.ray_casting import RayCaster
from navloom_worlds.geometry.scan_mesh import GREY, item_id_of
from navloom_worlds.geometry.scan_reader import Scan, is_structure
from navloom_worlds.geometry.scan_rooms import Labels, ScanRooms, find_rooms
from navloom_worlds.geometry.walkable_area import (
    WalkableField,
    build_walkable_field,
    place_adjacency,
    walkable_mesh,
)

STAIRS_RISE = 1.0
"""Height difference of two rooms' floors in metres above which their link is stairs."""
_LIES = re.compile(r"\b(floor|flooring|rug|carpet|mat|stairs?|steps?|staircase|landing)$")
"""Names of walkable objects that lie in one room."""
_ABOVE = 0.1
_IN_DOOR = 0.2
"""Metres from a crossing within which the box of a door is in it."""
_HINGE = 0.1
_FILLS = 0.6
"""Share of a crossing's width that a door at its side must have."""
_SPECK = 0.2
"""Square metres below which a patch of a region is label bleeding, if it has a larger one."""
_NEAREST = 3.0
"""Metres on foot from a region's floor within which places belong to it."""
_RUN = 0.3
"""Metres within which touching places belong to one crossing."""
_BODY = 0.2


@dataclass(frozen=True, eq=False)
class RoomPassage:
    """Passage between two rooms, found where their places touch.

    Attributes:
        a: number of a region.
        b: number of the other region, which is greater.
        point: its middle, on the floor.
        along: (x, z) of the first and the last place where they touch.
        width: its width for the middle of a body, in metres.
    """

    a: int
    b: int
    point: Point3
    along: tuple[Point2, Point2]
    width: float

    @property
    def jambs(self) -> tuple[Point2, Point2]:
        """Approximate ends: a body's radius beyond the first and the last place."""
        (a, b), (c, d) = self.along
        far = max(self.width, 1e-6)
        u, w = (c - a) / far * _BODY, (d - b) / far * _BODY
        return (a - u, b - w), (c + u, d + w)


def assign_regions(scan: Scan, field: WalkableField, numbers: Sequence[int]) -> I32:
    """Return the region number of each place.

    Args:
        scan: the scan of the field.
        field: the places.
        numbers: regions that count; places on other floors belong to the nearest of these.

    Returns:
        (n,) int32, -1 where no region can be reached on foot.
    """
    region = np.full(max((x.number for x in scan.lines), default=0) + 1, -1, dtype=np.int32)
    held = set(numbers)
    for line in scan.lines:
        if line.region in held and _LIES.search(line.name):
            region[line.number] = line.region
    face_region = region[scan.numbers]
    level = np.flatnonzero((scan.rise > 0.5) & (face_region >= 0))
    out = np.full(len(field.cell), -1, dtype=np.int32)
    if len(level):
        at = field.grid.centres(field.cell)
        start = np.stack([at[:, 0], field.height + _ABOVE, at[:, 1]], axis=1).astype(np.float32)
        down = np.broadcast_to(np.array([0, -1, 0], dtype=np.float32), start.shape)
        used, again = np.unique(scan.faces[level], return_inverse=True)
        caster = RayCaster(scan.vertices[used], again.reshape(-1, 3).astype(np.int32))
        hits = caster.cast(start, down)
        near = (hits.face >= 0) & (hits.distance < 2.5 * _ABOVE)
        out[near] = face_region[level[hits.face[near]]]
    return _spread(field, _without_specks(field, out))


def _without_specks(field: WalkableField, known: I32) -> I32:
    """Remove label bleeding: a region's patch that is small beside its largest."""
    same = (known[field.beside] == known[:, None]) & (known >= 0)[:, None]
    count, label = connected_components(place_adjacency(field.beside, same), directed=False)
    size = np.bincount(label, minlength=count) * field.grid.cell**2
    first = np.zeros(count, dtype=np.int64)
    first[label] = np.arange(len(known))
    region = known[first]
    largest = np.zeros(int(known.max(initial=0)) + 2)
    np.maximum.at(largest, region, size)
    speck = (size < _SPECK) & (size < largest[region])
    return np.where(speck[label], -1, known).astype(np.int32)


def _spread(field: WalkableField, known: I32) -> I32:
    """Return each place's region; a place without one gets that of the nearest place with one."""
    rows, sides = np.nonzero(field.beside >= 0)
    cols = field.beside[rows, sides]
    given = np.flatnonzero(known >= 0)
    if not len(given) or len(given) == len(known):
        return known
    rise = np.abs(field.height[rows] - field.height[cols])
    metres = np.hypot(field.grid.cell, rise)
    graph = coo_array((metres, (rows, cols)), shape=(len(known),) * 2).tocsr()
    found = dijkstra(graph, indices=given, min_only=True, return_predecessors=True, limit=_NEAREST)
    far, _, source = found
    return np.where(np.isfinite(far), known[np.maximum(source, 0)], -1).astype(np.int32)


def find_crossings(field: WalkableField, region: I32) -> list[RoomPassage]:
    """Return all passages between regions of the field's main part, the widest of a pair first."""
    main = field.part == 0
    rows, sides = np.nonzero((field.beside[:, :2] >= 0) & main[:, None])
    cols = field.beside[rows, sides]
    touch = main[cols] & (region[rows] >= 0) & (region[cols] >= 0) & (region[rows] != region[cols])
    rows, cols = rows[touch], cols[touch]
    low = np.minimum(region[rows], region[cols])
    high = np.maximum(region[rows], region[cols])
    at = field.grid.centres(field.cell)
    middle = (at[rows] + at[cols]) / 2
    height = np.maximum(field.height[rows], field.height[cols])
    found = []
    for a, b in sorted(set(zip(low.tolist(), high.tolist(), strict=True))):
        mine = np.flatnonzero((low == a) & (high == b))
        points = np.column_stack([middle[mine], height[mine]])
        for run in _runs(points):
            found.append(_crossing(a, b, points[run]))
    return sorted(found, key=lambda each: (each.a, each.b, -each.width, each.point))


def _runs(points: F64) -> list[NDArray[np.intp]]:
    pairs = KDTree(points).query_pairs(_RUN, output_type="ndarray")
    near = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(points),) * 2)
    count, label = connected_components(near, directed=False)
    return [np.flatnonzero(label == each) for each in range(count)]


def _crossing(a: int, b: int, points: F64) -> RoomPassage:
    flat = points[:, :2]
    centre = flat.mean(axis=0)
    _, _, ways = np.linalg.svd(flat - centre, full_matrices=False)
    along = (flat - centre) @ ways[0]
    first, last = flat[along.argmin()], flat[along.argmax()]
    spot = (first + last) / 2
    middle = int(((flat - spot) ** 2).sum(axis=1).argmin())
    x, z, y = points[middle]
    return RoomPassage(
        a,
        b,
        (round(float(x), 3), round(float(y), 3), round(float(z), 3)),
        ((float(first[0]), float(first[1])), (float(last[0]), float(last[1]))),
        float(np.ptp(along)),
    )


def make_links(
    ways: Sequence[RoomPassage], regions: Mapping[int, Region], doors: Sequence[Box]
) -> tuple[Link, ...]:
    """Return links for crossings: doors where a door is in it, stairs where heights differ.

    Args:
        ways: crossings of rooms.
        regions: regions by number.
        doors: boxes of doors.
    """
    links = []
    for way in ways:
        a, b = regions[way.a], regions[way.b]
        rise = round(b.center[1] - a.center[1], 3)
        through = _door_in(way, doors)
        kind: LinkKind = "stairs" if abs(rise) > STAIRS_RISE else "opening"
        if through is not None and kind == "opening":
            kind = "door"
        links.append(
            Link(
                a=a.id,
                b=b.id,
                kind=kind,
                point=way.point,
                width=round(way.width + 2 * _BODY, 2),
                step=known_step(rise),
                door="open" if kind == "door" else None,
            )
        )
    return tuple(links)


def _door_in(way: RoomPassage, doors: Sequence[Box]) -> Box | None:
    """Return the door whose box is in a crossing, or is at one side of it and would fill it."""
    x, y, z = way.point
    for door in doors:
        if door.distance((x, y + 1.0, z)) <= _IN_DOOR:
            return door
        fills = max(door.size[0], door.size[2]) >= _FILLS * (way.width + 2 * _BODY)
        sides = (door.distance((u, y + 1.0, w)) for u, w in way.jambs)
        if fills and min(sides) <= _HINGE:
            return door
    return None


LIFT_NAME = re.compile(r"^(elevator|lift)( (floor|wall|ceiling|doors?|cabin|car|shaft))?$")
"""Names of elevators and their parts."""
_SAME_SHAFT = 1.0
"""Horizontal distance in metres between the middles of one elevator on two storeys, at most."""


def elevator_links(scan: Scan, rooms: ScanRooms) -> tuple[Link, ...]:
    """Return links between rooms directly above one another that hold parts of one elevator.

    Args:
        scan: the scan.
        rooms: its rooms.
    """
    held: dict[int, list[Point2]] = {}
    for line in scan.lines:
        if line.region in rooms.by_number and LIFT_NAME.search(line.name):
            # Floors and walls of an elevator have no boxes: take the room's centre.
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
                step = round(rise, 3)
                links.append(Link(a=a.id, b=b.id, kind="elevator", point=point, step=step))
    return tuple(links)


def elevator_edges(links: Sequence[Link], viewpoints: Sequence[Viewpoint]) -> tuple[Edge, ...]:
    """Return for each elevator an edge between the nearest viewpoints of its two rooms."""
    edges = []
    for link in links:
        point = link.point
        ends = [[v for v in viewpoints if v.region == room] for room in (link.a, link.b)]
        if point is not None and all(ends):
            a, b = (min(v, key=lambda each: distance_2d(each.position, point)).id for v in ends)
            edges.append(Edge(a=a, b=b))
    return tuple(edges)


DOOR_NAME = re.compile(
    r"^(?!.*\b(cabinet|cupboard|wardrobe|oven|fridge|refrigerator|shower|closet|frame|handle|"
    r"knob|mat)\b).*\bdoors?\b"
)
"""Names of doors, which are walked through in any state."""
WINDOW_NAME = re.compile(r"^windows?( glass)?$")
_LEAF = 0.4
"""Thickness in metres up to which a door's box is that of a closed door."""
_SILL = 0.1
"""Metres above a door's lower edge up to which it is a sill that one steps on."""


def make_scan_scene(scan: Scan, notes: Sequence[str], labels: Labels | None = None) -> Scene:
    """Build the scene of a scan.

    Args:
        scan: the scan.
        notes: notes of its format.
        labels: gives the types of rooms by number, if known.

    Raises:
        SceneError: a person can stand nowhere in it, or it is larger than a scene may be.
    """
    field = _field(scan)
    rooms = find_rooms(scan, labels) if scan.lines else None
    if rooms is None or not rooms.regions:
        graph = build_mesh_graph(field)
        _stand_check(scan, graph)
        items = _items(scan, {})
        return _scene(scan, graph.floors, (), items, (), (graph.viewpoints, graph.edges),
                      [*scan.notes, *notes, *_notes(scan, items, field)])  # fmt: skip
    numbers = sorted(rooms.by_number)
    region_of = assign_regions(scan, field, numbers)
    graph = build_mesh_graph(field, region_of)
    _stand_check(scan, graph)
    doors = [scan.boxes[n] for n in _called(scan, DOOR_NAME) if n in scan.boxes]
    lifts = elevator_links(scan, rooms)
    links = (*make_links(find_crossings(field, region_of), rooms.by_number, doors), *lifts)
    items = _items(scan, {n: each.id for n, each in rooms.by_number.items()})
    viewpoints, edges = _in_rooms(graph, rooms)
    walk = (viewpoints, (*edges, *elevator_edges(lifts, viewpoints)))
    told = [*scan.notes, *notes, *_notes(scan, items, field), *_room_notes(rooms, links, walk[0])]
    return _scene(scan, rooms.floors, rooms.regions, items, links, walk, told)


def _scene(
    scan: Scan,
    floors: tuple[Floor, ...],
    regions: tuple[Region, ...],
    items: tuple[Item, ...],
    links: tuple[Link, ...],
    walk: tuple[tuple[Viewpoint, ...], tuple[Edge, ...]],
    notes: Sequence[str],
) -> Scene:
    return Scene(
        id=scan.files.id,
        source=scan.files.source,
        floors=floors,
        regions=regions,
        links=links,
        items=items,
        viewpoints=walk[0],
        edges=walk[1],
        notes=tuple(notes),
    )


def _field(scan: Scan) -> WalkableField:
    doors, windows = _called(scan, DOOR_NAME), _called(scan, WINDOW_NAME)
    # Land without a region around a home would join its terraces to the surroundings.
    land = [line.number for line in scan.lines if line.name == "ground" and line.region < 0]
    bare = _bare_mesh(scan).without(_of_doors(scan, doors))
    return build_walkable_field(walkable_mesh(bare, land, windows), rough=True)


def _of_doors(scan: Scan, doors: Sequence[int]) -> Bools:
    """Return (m,) whether each face belongs to a door, except its sill.

    Labels bleed: floor that is labelled as a door stays, and faces inside a closed door's box go,
    whatever their label.
    """
    middles = scan.vertices[scan.faces].mean(axis=1)
    out = np.zeros(len(scan.faces), dtype=np.bool_)
    for number in doors:
        box = scan.boxes.get(number)
        if box is None:
            continue
        away = middles - np.array(box.center)
        cos, sin = np.cos(box.yaw), np.sin(box.yaw)
        u, w = away[:, 0] * cos + away[:, 2] * sin, away[:, 2] * cos - away[:, 0] * sin
        half = np.array(box.size) / 2 + 0.02
        within = (np.abs(u) < half[0]) & (np.abs(away[:, 1]) < half[1]) & (np.abs(w) < half[2])
        if min(box.size[0], box.size[2]) > _LEAF:
            within &= scan.numbers == number
        out |= within & (away[:, 1] > _SILL - half[1])
    return out


def _bare_mesh(scan: Scan) -> SceneMesh:
    """Return the semantic mesh without textures; owners are the release's object numbers."""
    nothing = np.zeros(len(scan.faces), dtype=np.int32)
    uv = np.full((len(scan.vertices), 2), np.nan, dtype=np.float32)
    return SceneMesh(
        scan.vertices, scan.faces, scan.numbers, (GREY,), nothing, uv, nothing.astype(np.bool_)
    )


def _called(scan: Scan, pattern: re.Pattern[str]) -> list[int]:
    return [line.number for line in scan.lines if pattern.search(line.name)]


def _stand_check(scan: Scan, graph: MeshGraph) -> None:
    if not graph.viewpoints:
        raise SceneError(
            f"{scan.files.semantic or scan.files.looks or scan.files.packed}: there is no place in "
            "it where a person can stand: expected level floor with 1.8 m of head room and 0.2 m "
            "to every side, in metres, z up."
        )


def _items(scan: Scan, regions: Mapping[int, str]) -> tuple[Item, ...]:
    """Return every object with triangles that is not floor, wall or ceiling as an item."""
    items = []
    for line in scan.lines:
        box = scan.boxes.get(line.number)
        if box is None or is_structure(line.name):
            continue
        items.append(
            Item(
                id=item_id_of(scan.files, line.number),
                name=line.name,
                kind=classify(line.name) or "structure",
                region=regions.get(line.region),
                position=box.center,
                size=box.size,
                yaw=box.yaw,
            )
        )
    return tuple(items)


def _in_rooms(graph: MeshGraph, rooms: ScanRooms) -> tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]:
    """Return viewpoints with their regions and named after them, and the edges between them."""
    count: dict[str, int] = {}
    names: dict[str, str] = {}
    viewpoints = []
    for viewpoint, number in zip(graph.viewpoints, graph.rooms, strict=True):
        region = rooms.by_number.get(number)
        first = "x" if region is None else region.number
        names[viewpoint.id] = f"{first}_{count.get(first, 0)}"
        count[first] = count.get(first, 0) + 1
        viewpoints.append(
            viewpoint.model_copy(
                update={"id": names[viewpoint.id], "region": None if region is None else region.id}
            )
        )
    edges = tuple(Edge(a=names[e.a], b=names[e.b]) for e in graph.edges)
    return tuple(viewpoints), edges


def _notes(scan: Scan, items: Sequence[Item], field: WalkableField) -> Iterable[str]:
    there = set(np.unique(scan.numbers).tolist())
    gone = [line for line in scan.lines if line.number not in there]
    if gone:
        yield f"{len(gone)} things of the text have no triangles and are left out."
    if _called(scan, DOOR_NAME):
        yield "Doors are walked through, however they stand in the scan."
    if field.other_area >= 1:
        yield f"{field.other_area:.0f} m² of floor are left out: nothing leads to them."
    yield from unlisted_note(item.name for item in items)


def _room_notes(
    rooms: ScanRooms, links: Sequence[Link], viewpoints: Sequence[Viewpoint]
) -> Iterable[str]:
    yield (
        "Rooms are the floors of the source's regions; links are where one walks from one floor "
        "onto another, their widths what is left for a body, in steps of 5 cm."
    )
    yield from step_note(links)
    if rooms.guessed:
        yield f"Rooms without a floor, as the hull of their things: {', '.join(rooms.guessed[:9])}."
    if rooms.lost:
        lost = ", ".join(str(each) for each in rooms.lost[:9])
        yield f"Regions of the source of which nothing says where they are: {lost}."
    stood = {each.region for each in viewpoints}
    shut = [region.id for region in rooms.regions if region.id not in stood]
    if shut:
        yield f"{len(shut)} rooms cannot be walked into: {', '.join(shut[:9])}."
    yield from parts_note((each.id for each in rooms.regions if each.id in stood), links)
