"""What is around a body in the scene itself: the floor under it, and what stopped it."""

from __future__ import annotations

import math

import numpy as np

from navloom.errors import NavloomError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.geometry.owners import owner_name

_LOOK_M = 0.35
"""A navmesh lies so far off the floor at most, on stairs."""
EDGE = "edge"
"""What is touched where nothing stands in the way: the floor ends."""
_REACH_M = 0.3
"""A navmesh keeps so much farther off than the body is wide, at most."""
_TURNS = np.radians(np.arange(-60, 61, 10))
_HEIGHTS = (0.06, 0.3, 0.55, 0.8, 0.97)
"""Of the body's own."""


def floor_under(scene: Scene, at: Point3) -> float | None:
    """How high the floor is under a place of a navmesh, in metres; None where nobody knows.

    Args:
        scene: where it is.
        at: the place.
    """
    if not has_geometry(scene):
        return None
    start = np.array([[at[0], at[1] + _LOOK_M, at[2]]], dtype=np.float32)
    try:
        hits = scene_mesh(scene).caster.cast(start, np.array([[0, -1, 0]], dtype=np.float32))
    except NavloomError:
        return None
    if hits.face[0] < 0 or hits.distance[0] > 2 * _LOOK_M:
        return None
    return float(start[0, 1] - hits.distance[0])


def touched(scene: Scene, at: Point3, heading: float, body: Embodiment) -> tuple[str, Point3]:
    """What stopped a body, and where.

    Args:
        scene: where it is.
        at: its place on the floor.
        heading: the way it wanted to go, radians.
        body: how wide and high it is.

    Returns:
        The item's id, or ``wall``, ``door A <-> B`` and so on as
        :func:`navloom_worlds.geometry.owners.owner_name` has it; ``edge`` where nothing is near;
        ``wall`` where the scene does not say what its walls are.
    """
    reach = body.width / 2 + _REACH_M
    ahead = (at[0] + reach * math.sin(heading), at[1], at[2] - reach * math.cos(heading))
    if not has_geometry(scene):
        return "wall", ahead
    turns = heading + np.repeat(_TURNS, len(_HEIGHTS))
    ways = np.stack([np.sin(turns), np.zeros_like(turns), -np.cos(turns)], axis=1)
    starts = np.tile(np.asarray(at), (len(ways), 1))
    starts[:, 1] += np.tile(np.asarray(_HEIGHTS) * body.height, len(_TURNS))
    try:
        mesh = scene_mesh(scene)
        hits = mesh.caster.cast(starts.astype(np.float32), ways.astype(np.float32))
    except NavloomError:
        return "wall", ahead
    metres = np.where(hits.face >= 0, hits.distance, np.inf)
    nearest = int(metres.argmin())
    if metres[nearest] > reach:
        return EDGE, ahead
    x, y, z = (starts[nearest] + ways[nearest] * metres[nearest]).tolist()
    return owner_name(scene, int(mesh.owners[hits.face[nearest]])) or "wall", (x, y, z)
