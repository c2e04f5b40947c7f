"""Walls with their openings, floors, ceilings, doors, windows and stairs as triangles."""

from __future__ import annotations

from collections.abc import Iterator

from navloom.scenes.geometry.building import building_of
from navloom.scenes.geometry.finishes import GRASS, Finishes
from navloom.scenes.geometry.flights import flights
from navloom.scenes.geometry.owners import GROUND
from navloom.scenes.geometry.painting import shell
from navloom.scenes.geometry.solids import Owned, quad
from navloom.scenes.geometry.woodwork import skirting, woodwork
from navloom.scenes.scene import Scene

_AROUND = 40.0
"""Metres of ground around a home."""


def structure_parts(scene: Scene) -> Iterator[Owned]:
    """All that is no item, in the scene's frame.

    Args:
        scene: its walls, regions, links (doors as they stand), openings and stairs are built.
    """
    if not scene.walls:
        return
    building = building_of(scene)
    finishes = Finishes(scene.id)
    parts, panels = shell(building, finishes)
    yield from parts
    yield from skirting(panels, finishes)
    yield from woodwork(building, finishes)
    yield from flights(building, finishes)
    xs = [x for wall in scene.walls for x, _ in (wall.a, wall.b)]
    zs = [z for wall in scene.walls for _, z in (wall.a, wall.b)]
    left, right = min(xs) - _AROUND, max(xs) + _AROUND
    near, far = min(zs) - _AROUND, max(zs) + _AROUND
    y = building.ground
    yield GROUND, quad([(left, y, far), (right, y, far), (right, y, near), (left, y, near)], GRASS)
