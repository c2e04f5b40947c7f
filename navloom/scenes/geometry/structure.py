"""Walls with their openings, floors, ceilings, doors, windows and stairs as triangles."""

from __future__ import annotations

import math
from collections.abc import Iterator

from navloom.scenes.geometry.owners import STAIRS, WALL
from navloom.scenes.geometry.solids import Owned, Surface, box
from navloom.scenes.scene import Scene


def structure_parts(scene: Scene) -> Iterator[Owned]:
    """All that is no item, in the scene's frame.

    Args:
        scene: its walls, regions, links (doors as they stand), openings and stairs are built.
    """
    for wall in scene.walls:
        (x, z), (u, w) = wall.a, wall.b
        long, half = math.hypot(u - x, w - z), wall.thickness / 2
        yaw = math.atan2(w - z, u - x)
        part = box((0, 0, -half), (long, wall.height, half), Surface((0.9, 0.9, 0.88)))
        yield WALL, part.turned(yaw).moved(x, wall.bottom, z)
    for flight in scene.stairs:
        for tread in [*flight.treads, *flight.landings]:
            w, h, d = (each / 2 for each in tread.size)
            part = box((-w, -h, -d), (w, h, d), Surface((0.6, 0.45, 0.3)))
            yield STAIRS, part.turned(tread.yaw).moved(*tread.center)
