"""Walls with their openings, floors, ceilings, doors, windows and stairs as triangles."""

from __future__ import annotations

from collections.abc import Iterator

from navloom.scenes.scene import Scene
from navloom_worlds.geometry.building import building_of
from navloom_worlds.geometry.finishes import Finishes
from navloom_worlds.geometry.flights import flights
from navloom_worlds.geometry.outside import outside
from navloom_worlds.geometry.painting import shell
from navloom_worlds.geometry.solids import Owned
from navloom_worlds.geometry.woodwork import skirting, woodwork


def structure_parts(scene: Scene) -> Iterator[Owned]:
    """All that is no item, in the scene's frame.

    Args:
        scene: its walls, regions, links (doors as they stand), openings and stairs are built.
    """
    if not scene.walls:
        return
    building = building_of(scene)
    # Not by its id: a changed copy is the same home, and nobody paints walls by opening a door.
    finishes = Finishes(" ".join(f"{each.id} {each.center}" for each in scene.regions))
    parts, panels = shell(building, finishes)
    yield from parts
    yield from skirting(panels, finishes)
    yield from woodwork(building, finishes)
    yield from flights(building, finishes)
    yield from outside(building)
