"""Collision mesh of a body: pushed doors have no leaves, and low items are left out.

A body that can open doors pushes their leaves aside, open or shut, unless they are locked. Doors
that lead out of the scene stay shut, and windows have panes. In a mesh file a door's leaf and frame
cannot be told apart, so both are left out where the leaf is pushed. Elevator doors open to bodies
that can use elevators. Ramps count as floor: triangles owned by stairs are treads.

In mesh files and scans, walkable faces are found by item names, by what lies under the viewpoints,
and by the stairs that edges lead over. Procedural homes label their triangles themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Item, Link, Point3, Scene
from navloom_worlds.geometry.arrays import I32, Bools
from navloom_worlds.geometry.building import building_of
from navloom_worlds.geometry.door_leaves import leaf_parts
from navloom_worlds.geometry.finishes import Finishes
from navloom_worlds.geometry.mesh import SceneMesh, has_geometry, merge_parts, scene_mesh
from navloom_worlds.geometry.scan_scene import DOOR_NAME
from navloom_worlds.geometry.semantic_ids import (
    CEILING,
    FLOOR,
    SHELL,
    STAIRS,
    WALL,
    door_owner,
    item_owner,
    opening_owner,
)
from navloom_worlds.geometry.solids import Owned, Surface, quad
from navloom_worlds.geometry.woodwork import woodwork_parts

_NAMES = (
    (re.compile(r"\b(floors?|flooring|ground|landing|ramp)$"), FLOOR),
    (re.compile(r"\b(stairs?|staircase|stairway|steps?|treads?)$"), STAIRS),
    (re.compile(r"\bwalls?$"), WALL),
    (re.compile(r"\b(ceilings?|roofs?)$"), CEILING),
)
_SILL = 0.1
"""Metres above a door's lower edge up to which it is a sill that one steps on."""
_KNEE = 0.3
_LEVEL, _UPRIGHT = 0.7, 0.3
_THICK = 0.15
"""Height difference in metres within which an item is the floor of a viewpoint."""
_BROAD = 0.1
"""Square metres from which a low item is flattened to floor: a scan has no floor under it."""
_BESIDE = 0.7
"""Metres to either side of an edge over stairs within which treads lie."""
_OFF = 0.35
_RISER = 0.3
_STOREY = 1.0
"""Height difference in metres within which a door is on a body's storey."""


def mark_walkable(scene: Scene, mesh: SceneMesh, low: list[Item], *, doors: bool) -> SceneMesh:
    """Return a mesh with the owners of floor and stair faces marked, for mesh files and scans.

    Args:
        scene: the scene.
        mesh: its triangles.
        low: items that are stepped over; broad ones are flattened and become floor, such as a rug
            over floor that no camera saw.
        doors: whether doors are walked through: all but their sills is left out.
    """
    owners = mesh.owners.copy()
    for index, item in enumerate(scene.items):
        for pattern, owner in _NAMES:
            if pattern.search(item.name):
                owners[mesh.owners == item_owner(index)] = owner
                break
    owners[_under(scene, mesh)] = FLOOR
    owners[_flights(scene, mesh) & ((owners > 0) | (owners == SHELL))] = STAIRS
    vertices = mesh.vertices.copy()
    places = {item.id: index for index, item in enumerate(scene.items)}
    for item in low:
        own = owners == item_owner(places[item.id])
        if item.size is not None and item.size[0] * item.size[2] >= _BROAD:
            vertices[mesh.faces[own], 1] = item.position[1] - item.size[1] / 2
            owners[own] = FLOOR
    told = replace(mesh, owners=owners, vertices=vertices)
    return told.without(_leaves(scene, mesh)) if doors else told


def is_structural(item: Item) -> bool:
    """Check whether an item is named as a part of a building."""
    return any(pattern.search(item.name) for pattern, _ in _NAMES)


def _under(scene: Scene, mesh: SceneMesh) -> Bools:
    """Return (m,) whether each face belongs to an item under a viewpoint, level with its floor."""
    out = np.zeros(len(mesh.faces), dtype=np.bool_)
    feet = [(x, y - v.eye_height, z) for v in scene.viewpoints for x, y, z in [v.position]]
    starts = np.array(feet, dtype=np.float32) + np.array([0, _KNEE, 0], dtype=np.float32)
    down = np.broadcast_to(np.array([0, -2 * _KNEE, 0], dtype=np.float32), starts.shape)
    hits = mesh.caster.cast(starts, down)
    spots = [(int(f), y) for f, d, (_, y, _) in zip(hits.face, hits.distance, feet, strict=True)
             if d <= 1 and mesh.owners[f] > 0]  # fmt: skip
    heights = mesh.vertices[mesh.faces][:, :, 1]
    for owner, height in {(int(mesh.owners[f]), round(y, 2)) for f, y in spots}:
        near = np.abs(heights - height).max(axis=1) <= _THICK
        out |= near & (mesh.owners == owner)
    return out


def _flights(scene: Scene, mesh: SceneMesh) -> Bools:
    """Return (m,) whether each face is a tread or riser under an edge that climbs steps."""
    out = np.zeros(len(mesh.faces), dtype=np.bool_)
    feet = {v.id: (v.position[0], v.position[1] - v.eye_height, v.position[2])
            for v in scene.viewpoints}  # fmt: skip
    steep = [(feet[e.a], feet[e.b]) for e in scene.edges
             if abs(feet[e.a][1] - feet[e.b][1]) > _OFF / 2]  # fmt: skip
    if not steep:
        return out
    corners = mesh.vertices[mesh.faces].astype(np.float64)
    middle = corners.mean(axis=1)
    small = np.ptp(corners[:, :, 1], axis=1) <= _RISER
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rise = np.abs(normal[:, 1]) / np.maximum(np.linalg.norm(normal, axis=1), 1e-12)
    for (ax, ay, az), (bx, by, bz) in steep:
        dx, dz = bx - ax, bz - az
        long = math.hypot(dx, dz)
        if long < 1e-6:
            continue
        u = ((middle[:, 0] - ax) * dx + (middle[:, 2] - az) * dz) / long
        w = ((middle[:, 2] - az) * dx - (middle[:, 0] - ax) * dz) / long
        off = middle[:, 1] - ay - (by - ay) * np.clip(u / long, 0, 1)
        held = small & (u > -_RISER) & (u < long + _RISER) & (np.abs(w) <= _BESIDE)
        held &= (np.abs(off) <= _OFF) & ((rise >= _LEVEL) | (rise <= _UPRIGHT))
        # A ramp has no risers, and is floor.
        if (held & (rise <= _UPRIGHT)).sum() > 1:
            out |= held
    return out


def _leaves(scene: Scene, mesh: SceneMesh) -> Bools:
    """Return (m,) whether each face is of a door, except its sill."""
    top = mesh.vertices[mesh.faces][:, :, 1].max(axis=1)
    out = np.zeros(len(mesh.faces), dtype=np.bool_)
    for index, item in enumerate(scene.items):
        if item.size is not None and DOOR_NAME.search(item.name):
            foot = item.position[1] - item.size[1] / 2
            out |= (mesh.owners == item_owner(index)) & (top > foot + _SILL)
    return out


SHUT = ("closed", "ajar")
"""States of doors that have to be opened to go through."""
LOW = 0.05
"""Metres: every body steps over lower items, such as rugs."""
_EPS = 1e-6


def body_mesh(scene: Scene, body: Embodiment) -> SceneMesh:
    """Return the triangles that a body collides with; made once per scene and kind of body.

    Args:
        scene: any scene with geometry.
        body: with ``doors`` it pushes leaves aside (locked doors stay), with ``elevator`` those
            of elevators; items no higher above their floor than ``max_step`` are left out.

    Raises:
        SceneError: the scene has no geometry, or its mesh file is broken.
    """
    if not has_geometry(scene):
        raise SceneError(
            f"{scene.uri} is a graph without walls or a mesh, so no body can move among them:"
            " expected a scene with geometry, such as home:7, a mesh file or a scan."
        )
    over = max(LOW, body.max_step)
    key = f"body_mesh {body.doors} {body.elevator} {over}"
    return scene_cached(scene, key, lambda: _made(scene, body, over))


def structure_mesh(scene: Scene, body: Embodiment) -> SceneMesh:
    """Return the collision mesh without items; made once for all bodies that open the same doors.

    Raises:
        SceneError: as :func:`body_mesh`.
    """
    mesh = body_mesh(scene, body)
    # In a mesh file, which items count as floor depends on what is stepped over.
    over = "" if scene.walls else f" {max(LOW, body.max_step)}"
    key = f"built_mesh {body.doors} {body.elevator}{over}"
    return scene_cached(scene, key, lambda: mesh.without(mesh.owners > 0))


def find_low_items(scene: Scene, over: float) -> tuple[Item, ...]:
    """Return the items whose top is at most ``over`` metres above their floor."""
    items = (item for item in scene.items if not is_structural(item))
    return tuple(item for item in items if _is_low(scene, item, over))


def _is_low(scene: Scene, item: Item, over: float) -> bool:
    if item.size is None or not item.height_known:
        return False
    top = item.position[1] + item.size[1] / 2
    if item.region is not None:
        floor = scene.region_by_id[item.region].center[1]
    else:
        below = [each.height for each in scene.floors if each.height <= top]
        floor = max(below, default=min(each.height for each in scene.floors))
    return top <= floor + over + _EPS


def _made(scene: Scene, body: Embodiment, over: float) -> SceneMesh:
    mesh = scene_mesh(scene)
    things = find_low_items(scene, over)
    if not scene.walls:
        mesh = mark_walkable(scene, mesh, list(things), doors=body.doors)
    low = {item.id for item in things}
    hidden = [item_owner(k) for k, item in enumerate(scene.items) if item.id in low]
    pushed = [k for k, link in enumerate(scene.links) if can_push_door(scene, body, link)]
    hidden += [door_owner(k) for k in pushed]
    owners = _without_ramps(scene, mesh)
    mesh = replace(mesh, owners=owners).without(np.isin(mesh.owners, hidden))
    more = list(_panes(scene))
    if scene.walls and pushed:
        more += _frames(scene, pushed)
    return _joined(mesh, merge_parts(more)) if more else mesh


def can_push_door(scene: Scene, body: Embodiment, link: Link) -> bool:
    """Check whether a body pushes aside the leaf of a link's door, if there is one."""
    lift = any("elevator" in scene.region_by_id[end].label.casefold() for end in (link.a, link.b))
    return (body.elevator if lift else body.doors) and link.door != "locked"


def _frames(scene: Scene, links: Collection[int]) -> Iterator[Owned]:
    """Yield the fixed parts in the doorways of links."""
    building = building_of(scene)
    wanted = {door_owner(k) for k in links}
    ways = tuple(way for way in building.ways if way.owner in wanted)
    yield from woodwork_parts(replace(building, ways=ways), Finishes(scene.id), leaves=False)


def find_moved_doors(scene: Scene, body: Embodiment, path: Sequence[Point3]) -> tuple[int, ...]:
    """Return the links whose door leaves a body pushed aside on a path, or stands in.

    Args:
        scene: a scene with walls; in others leaves are unknown.
        body: the body; one that opens no doors moves none.
        path: positions of its middle on the floor, joined by straight lines.
    """
    if not path or not (body.doors or body.elevator) or not scene.walls:
        return ()
    leaves = scene_cached(scene, "leaves", lambda: _leaves_from_above(scene))
    at = [(x, z) for x, _, z in path]
    swept = shapely.LineString(at if len(at) > 1 else at * 2).buffer(body.width / 2)
    low, high = min(y for _, y, _ in path), max(y for _, y, _ in path)
    return tuple(
        k
        for k, (leaf, floor) in leaves.items()
        if low - _STOREY < floor < high + _STOREY
        and can_push_door(scene, body, scene.links[k])
        and swept.intersects(leaf)
    )


def _leaves_from_above(scene: Scene) -> dict[int, tuple[BaseGeometry, float]]:
    """Return by link number the area of each door leaf on the floor, and its height."""
    owners = {door_owner(k): k for k in range(len(scene.links))}
    found = {}
    for way in building_of(scene).ways:
        if way.leaf is not None and way.owner in owners:
            parts = [part.vertices[:, [0, 2]] for part in leaf_parts(way, Surface())]
            if parts:
                hull = shapely.MultiPoint(np.concatenate(parts)).convex_hull
                found[owners[way.owner]] = hull, way.low
    return found


def _panes(scene: Scene) -> Iterator[Owned]:
    """Yield the panes of windows, which are not rendered."""
    for k, opening in enumerate(scene.openings):
        if opening.kind == "window":
            (ax, az), (bx, bz) = opening.jambs
            low, high = opening.bottom, opening.bottom + opening.height
            corners = [(ax, low, az), (bx, low, bz), (bx, high, bz), (ax, high, az)]
            yield opening_owner(k), quad(corners, Surface())


def _without_ramps(scene: Scene, mesh: SceneMesh) -> I32:
    """Return the owner of each face, with ramps counted as floor."""
    ramps = {(link.a, link.b) for link in scene.links if link.kind == "ramp"}
    areas = [
        shapely.Polygon(box.corners()).buffer(0.05)
        for flight in scene.stairs
        if (flight.a, flight.b) in ramps
        for box in flight.treads
    ]
    owners = mesh.owners
    if areas:
        of_stairs = np.flatnonzero(owners == STAIRS)
        middle = mesh.vertices[mesh.faces[of_stairs]].mean(axis=1)
        inside = shapely.contains_xy(shapely.union_all(areas), middle[:, 0], middle[:, 2])
        owners = owners.copy()
        owners[of_stairs[inside]] = FLOOR
    return owners


def _joined(first: SceneMesh, second: SceneMesh) -> SceneMesh:
    """Join two meshes; ``photographed`` is the first's."""
    both: Sequence[SceneMesh] = (first, second)
    starts = (0, len(first.vertices))
    return replace(
        first,
        vertices=np.concatenate([each.vertices for each in both]),
        faces=np.concatenate(
            [each.faces + start for each, start in zip(both, starts, strict=True)]
        ).astype(np.int32),
        owners=np.concatenate([each.owners for each in both]),
        surfaces=(*first.surfaces, *second.surfaces),
        surface=np.concatenate([first.surface, second.surface + len(first.surfaces)]),
        uv=np.concatenate([each.uv for each in both]),
        smooth=np.concatenate([each.smooth for each in both]),
    )
