"""A scan as a scene: rooms, things with boxes, links, and where one can walk.

What it cannot know is said in the scene's ``notes``.

Elevators of a scan: rooms over one another that hold what is called one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.formats.scene_notes import apart_note, unlisted_note
from navloom.scenes.lexicon import classify
from navloom.scenes.parts import Edge, Floor, Item, Link, Point2, Region, Viewpoint, distance_2d
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.mesh_graph import MeshGraph, mesh_graph
from navloom_worlds.geometry.scan import Scan, is_surface
from navloom_worlds.geometry.scan_links import STAIRS_RISE, crossings, place_regions, scan_links
from navloom_worlds.geometry.scan_mesh import GREY, item_name
from navloom_worlds.geometry.scan_rooms import Labels, Rooms, scan_rooms
from navloom_worlds.geometry.walkable import WalkableField, passable, walkable_field

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


DOOR_NAME = re.compile(
    r"^(?!.*\b(cabinet|cupboard|wardrobe|oven|fridge|refrigerator|shower|closet|frame|handle|"
    r"knob|mat)\b).*\bdoors?\b"
)
"""Of names: what is walked through, however it stands."""
WINDOW_NAME = re.compile(r"^windows?( glass)?$")
_LEAF = 0.4
"""Metres: a door whose box is no thicker is closed."""
_SILL = 0.1
"""Metres above a door's lower end up to which there is what one treads on."""


def scan_scene(scan: Scan, notes: Sequence[str], labels: Labels | None = None) -> Scene:
    """Make a scene of a scan.

    Args:
        scan: as it was read.
        notes: what its format has to say.
        labels: gives the types of rooms by their numbers, where somebody says them.

    Raises:
        SceneError: there is no place in it where one can stand, or it is larger than a scene.
    """
    field = _field(scan)
    rooms = scan_rooms(scan, labels) if scan.lines else None
    if rooms is None or not rooms.regions:
        graph = mesh_graph(field)
        _stand_check(scan, graph)
        items = _items(scan, {})
        return _scene(scan, graph.floors, (), items, (), (graph.viewpoints, graph.edges),
                      [*scan.notes, *notes, *_notes(scan, items, field)])  # fmt: skip
    numbers = sorted(rooms.by_number)
    region_of = place_regions(scan, field, numbers)
    graph = mesh_graph(field, region_of)
    _stand_check(scan, graph)
    doors = [scan.boxes[n] for n in _called(scan, DOOR_NAME) if n in scan.boxes]
    lifts = lift_links(scan, rooms)
    links = (*scan_links(crossings(field, region_of), rooms.by_number, doors), *lifts)
    items = _items(scan, {n: each.id for n, each in rooms.by_number.items()})
    viewpoints, edges = _in_rooms(graph, rooms)
    walk = (viewpoints, (*edges, *lift_edges(lifts, viewpoints)))
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
    # Land of no region around a home would make its terraces part of the wide world.
    land = [line.number for line in scan.lines if line.name == "ground" and line.region < 0]
    bare = _bare_mesh(scan).without(_of_doors(scan, doors))
    return walkable_field(passable(bare, land, windows), rough=True)


def _of_doors(scan: Scan, doors: Sequence[int]) -> NDArray[np.bool_]:
    """(m,) faces that doors are of, but what one treads on there.

    Labels spill: floor that is called a door stays, and what is within a closed door goes, whatever
    it is called.
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
    """The semantic mesh without looks; whose a face is are the release's numbers."""
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
    """Every thing with triangles that is not floor, wall or ceiling."""
    items = []
    for line in scan.lines:
        box = scan.boxes.get(line.number)
        if box is None or is_surface(line.name):
            continue
        items.append(
            Item(
                id=item_name(scan.files, line.number),
                name=line.name,
                kind=classify(line.name) or "structure",
                region=regions.get(line.region),
                position=box.center,
                size=box.size,
                yaw=box.yaw,
            )
        )
    return tuple(items)


def _in_rooms(graph: MeshGraph, rooms: Rooms) -> tuple[tuple[Viewpoint, ...], tuple[Edge, ...]]:
    """Viewpoints with their regions, named after them."""
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
    rooms: Rooms, links: Sequence[Link], viewpoints: Sequence[Viewpoint]
) -> Iterable[str]:
    yield (
        "Rooms are the floors of the source's regions; links are where one walks from one floor "
        "onto another, their widths what is left for a body, in steps of 5 cm."
    )
    if rooms.guessed:
        yield f"Rooms without a floor, as the hull of their things: {', '.join(rooms.guessed[:9])}."
    if rooms.lost:
        lost = ", ".join(str(each) for each in rooms.lost[:9])
        yield f"Regions of the source of which nothing says where they are: {lost}."
    stood = {each.region for each in viewpoints}
    shut = [region.id for region in rooms.regions if region.id not in stood]
    if shut:
        yield f"{len(shut)} rooms cannot be walked into: {', '.join(shut[:9])}."
    yield from apart_note((each.id for each in rooms.regions if each.id in stood), links)
