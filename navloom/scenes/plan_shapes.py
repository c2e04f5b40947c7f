"""What a room covers on paper, and its colour. Paper coordinates: x right, -z up, metres."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import networkx as nx
import shapely
from shapely.geometry import LineString, MultiPoint, Point, Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.scene import UNKNOWN, Region, Scene

_REACH, _NODE = 1.5, 0.6
"""Metres to the walls around a viewpoint whose room has no outline, where no other room's viewpoint
is nearer; and the radius of a room of which no more than one place is known."""
_STEP = 0.5
"""Metres between the points of a walk within a room, which is the room's ground too."""

_TINTS: tuple[tuple[str, str], ...] = (
    (r"bath|toilet|shower|spa|sauna|wash|powder", "#cfe5ef"),
    (r"bed|nursery|dressing|sleep|dorm|kid|child", "#dcd7ee"),
    (r"kitchen|dining|pantry|bar|breakfast", "#f6e3c5"),
    (r"living|lounge|family|tv|rec|game|theat|den|sitting|media|library", "#d9ead3"),
    (r"office|study|work|meeting|conference|class", "#e3e8c4"),
    (r"hall|entry|foyer|lobby|stair|corridor|landing|porch|tie", "#ececec"),
    (r"laundry|closet|storage|garage|utility|junk|mud|boiler", "#e5d8cc"),
    (r"balcony|terrace|outdoor|patio|garden|deck|pool", "#d3e8d8"),
    (r"gym|workout|fitness", "#f3d9dc"),
)
_PLAIN = UNTOLD = "#f4f1ea"
"""A room that no word above is about, or of which nobody shall know what it is for."""
_UNTOLD = ("#f0e6cf", "#d8e6e0", "#e6dbe8", "#dbe4f1", "#f1dcd5", "#e2e7cd", "#eae7e1")
"""Rooms of unknown type, none beside one of its own colour."""


def tint(label: str) -> str:
    """The soft colour of a room by what its label says it is for, as ``#rrggbb``."""
    folded = label.casefold()
    return next((colour for words, colour in _TINTS if re.search(words, folded)), _PLAIN)


def room_tints(scene: Scene) -> dict[str, str]:
    """Each room's soft colour, by its label; where that is unknown, unlike its neighbours'."""
    order = nx.greedy_color(scene.region_graph(), strategy="DSATUR")
    return {
        region.id: _UNTOLD[order[region.id] % len(_UNTOLD)]
        if region.label == UNKNOWN
        else tint(region.label)
        for region in scene.regions
    }


def telling_things(scene: Scene, regions: Iterable[str]) -> dict[str, str]:
    """What to know rooms of unknown type by: the two assets of each that the fewest rooms have."""
    names: dict[str, set[str]] = {}
    for item in scene.items:
        if item.kind == "asset" and item.region is not None:
            names.setdefault(item.region, set()).add(item.name)
    rooms = Counter(name for each in names.values() for name in each)
    wanted = [r for r in regions if scene.region_by_id[r].label == UNKNOWN and r in names]
    return {
        region: readable(", ".join(sorted(names[region], key=lambda name: (rooms[name], name))[:2]))
        for region in wanted
    }


def readable(name: str) -> str:
    """An id as a person reads it: ``Living_room_5`` is ``Living room 5``.

    A room of which nobody knows the type is a ``room 5``.
    """
    known = not name.startswith(f"{UNKNOWN}_")
    return (name if known else f"room_{name.removeprefix(f'{UNKNOWN}_')}").replace("_", " ")


def region_shapes(scene: Scene, floor: int) -> dict[str, BaseGeometry]:
    """What each region of a floor covers on paper.

    Returns:
        Region id to a non-empty polygon (or several): the outline where the scene has one, else
        the ground around the region's viewpoints, up to where another room's are nearer.
    """
    here = [region for region in scene.regions if region.floor == floor]
    shapes = {region.id: shape for region in here if (shape := _outlined(region))}
    return shapes | _walked(scene, [region for region in here if region.id not in shapes])


def _outlined(region: Region) -> BaseGeometry | None:
    if region.outline is None:
        return None
    shape: BaseGeometry = Polygon([(x, -z) for x, z in region.outline])
    if not shape.is_valid:
        shape = shape.buffer(0)
    # A box of no width still has to be seen.
    return shape if shape.area > 0.05 else shape.envelope.buffer(0.2)


def _walked(scene: Scene, regions: Sequence[Region]) -> dict[str, BaseGeometry]:
    """Rooms that nobody measured, from where one can stand in them."""
    stands = {
        region.id: {v.id: (v.position[0], -v.position[2]) for v in found}
        for region in regions
        if (found := scene.viewpoints_by_region.get(region.id, ()))
    }
    nodes: dict[str, BaseGeometry] = {
        region.id: Point(region.center[0], -region.center[2]).buffer(_NODE) for region in regions
    }
    if all(len(spots) < 2 for spots in stands.values()):
        # A graph of places, such as CapNav's, and no survey of rooms.
        return nodes | {name: Point(*s.values()).buffer(_NODE) for name, s in stands.items()}
    walks: dict[str, list[LineString]] = {name: [] for name in stands}
    for edge in scene.edges:
        room = scene.viewpoint_by_id[edge.a].region or ""
        ends = stands.get(room, {})
        if edge.a in ends and edge.b in ends:
            walks[room].append(LineString([ends[edge.a], ends[edge.b]]))
    grounds = {
        name: shapely.union_all([MultiPoint(list(spots.values())), *walks[name]])
        for name, spots in stands.items()
    }
    return nodes | _shared(grounds)


def _walled(ground: BaseGeometry) -> BaseGeometry:
    # A plain convex hull would swallow the neighbours of a room with a corner.
    hull = shapely.concave_hull(ground, ratio=0.4).simplify(_REACH / 3)
    return hull.buffer(_REACH, join_style="mitre", cap_style="square", mitre_limit=1.5)


def _shared(grounds: Mapping[str, BaseGeometry]) -> dict[str, BaseGeometry]:
    """Rooms with walls half-way to what is known of the others (a Voronoi diagram)."""
    owner: dict[tuple[float, float], str] = {}
    for name, ground in grounds.items():
        for x, y in shapely.get_coordinates(shapely.segmentize(ground, _STEP)).round(3).tolist():
            owner.setdefault((x, y), name)
    reach = {name: _walled(ground) for name, ground in grounds.items()}
    around = shapely.union_all(list(reach.values())).envelope.buffer(10 * _REACH)
    cells = shapely.voronoi_polygons(MultiPoint(list(owner)), extend_to=around, ordered=True).geoms
    rooms = {}
    for name, shape in reach.items():
        own = [cell for cell, of in zip(cells, owner.values(), strict=True) if of == name]
        rooms[name] = shape.intersection(shapely.union_all(own))
    # Straight walls, and the same one on both sides.
    straight = shapely.coverage_simplify(list(rooms.values()), _REACH / 2)
    return dict(zip(rooms, straight, strict=True))
