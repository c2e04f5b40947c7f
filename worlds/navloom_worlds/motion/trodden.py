"""What of a mesh file or a scan is trodden: their floors, stairs and doors may be things.

Told by names, by what is under the viewpoints, and by the stairs that edges lead over. A home's
own triangles say it themselves.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.parts import Item
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.owners import CEILING, FLOOR, SHELL, STAIRS, WALL, item_owner
from navloom_worlds.geometry.scan_scene import DOOR_NAME

_NAMES = (
    (re.compile(r"\b(floors?|flooring|ground|landing|ramp)$"), FLOOR),
    (re.compile(r"\b(stairs?|staircase|stairway|steps?|treads?)$"), STAIRS),
    (re.compile(r"\bwalls?$"), WALL),
    (re.compile(r"\b(ceilings?|roofs?)$"), CEILING),
)
_SILL = 0.1
"""Metres above a door's lower end up to which there is what one treads on."""
_KNEE = 0.3
_LEVEL, _UPRIGHT = 0.7, 0.3
_THICK = 0.15
"""Metres above and below the floor of a viewpoint within which a thing is that floor."""
_BROAD = 0.1
"""Square metres from which what is stepped over is laid flat: a scan has no floor under it."""
_BESIDE = 0.7
"""Metres to either side of an edge over stairs within which their treads are."""
_OFF = 0.35
_RISER = 0.3

Bools = NDArray[np.bool_]


def trodden(scene: Scene, mesh: SceneMesh, low: list[Item], *, doors: bool) -> SceneMesh:
    """A mesh file's or a scan's triangles with owners that say what is floor.

    Args:
        scene: whose.
        mesh: its triangles.
        low: things that are stepped over; broad ones are laid flat and are floor, as a rug whose
            floor no camera saw.
        doors: whether what is called a door is walked through: all but its sill is left out.
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


def structural(item: Item) -> bool:
    """Whether a thing is called as a part of a building."""
    return any(pattern.search(item.name) for pattern, _ in _NAMES)


def _under(scene: Scene, mesh: SceneMesh) -> Bools:
    """(m,) faces of what lies under viewpoints, level with their floor."""
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
    """(m,) faces of treads and risers under edges that go up or down over steps."""
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
    """(m,) faces of doors, but what one treads on there."""
    top = mesh.vertices[mesh.faces][:, :, 1].max(axis=1)
    out = np.zeros(len(mesh.faces), dtype=np.bool_)
    for index, item in enumerate(scene.items):
        if item.size is not None and DOOR_NAME.search(item.name):
            foot = item.position[1] - item.size[1] / 2
            out |= (mesh.owners == item_owner(index)) & (top > foot + _SILL)
    return out
