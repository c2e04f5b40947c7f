"""Agreement of the walkable field found in a home's triangles with its true free floor.

python -m worlds.tests.geometry.free_floor home:0-19
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import shapely

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import iter_scenes
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.mesh_graph import build_mesh_graph
from navloom_worlds.geometry.semantic_ids import door_owner, opening_owner
from navloom_worlds.geometry.walkable_area import WalkableField, build_walkable_field, walkable_mesh
from navloom_worlds.homes.viewpoint_placement import _cleared


def walked_in(home: Scene) -> SceneMesh:
    """Return a home's mesh without the doors between rooms, and with panes in its windows."""
    doors = [door_owner(index) for index in range(len(home.links))]
    windows = [opening_owner(index) for index in range(len(home.openings))]
    return walkable_mesh(scene_mesh(home), doors, windows)


def overlap(home: Scene, field: WalkableField) -> dict[int, float]:
    """Return each storey's intersection over union of both free floors, without stairs."""
    rooms, _, _ = _cleared(home.regions, home.links, home.items, home.stairs)
    true = {name: room.free for name, room in rooms.items()}
    steps = [shapely.Polygon(t.corners()) for s in home.stairs for t in [*s.treads, *s.landings]]
    stairs = shapely.union_all(steps).buffer(0.1)
    cells = np.arange(field.grid.wide * field.grid.deep, dtype=np.int32)
    x, z = field.grid.centres(cells).T
    counted = ~shapely.contains_xy(stairs, x, z)
    shares = {}
    for floor in home.floors:
        rooms = shapely.union_all([true[r.id] for r in home.regions if r.floor == floor.id])
        # Free floor that the home's own graph does not reach is left out.
        stands = shapely.MultiPoint(
            [
                (v.position[0], v.position[2])
                for v in home.viewpoints
                if home.floor_of(v) == floor.id
            ]
        )
        parts = [part for part in shapely.get_parts(rooms) if part.intersects(stands)]
        rooms = shapely.union_all(parts)
        free = shapely.contains_xy(rooms, x, z) & counted
        found = np.zeros(len(cells), dtype=np.bool_)
        near = field.main[np.abs(field.height[field.main] - floor.height) < 0.3]
        found[field.cell[near]] = True
        found &= counted
        shares[floor.id] = float((free & found).sum() / (free | found).sum())
    return shares


def main(spec: str) -> None:
    """Print a line per home, and the minimum and the median over all storeys."""
    every: list[float] = []
    for home in iter_scenes(spec):
        mesh = walked_in(home)
        assert mesh.caster
        begun = time.process_time()
        field = build_walkable_field(mesh)
        found = time.process_time()
        graph = build_mesh_graph(field)
        ended = time.process_time()
        shares = overlap(home, field)
        every += shares.values()
        print(
            f"{home.uri}: {len(home.regions)} rooms, {len(mesh.faces)} triangles, "
            f"field {found - begun:.2f} s, graph {ended - found:.2f} s, "
            f"{len(graph.viewpoints)} viewpoints, "
            f"{len(graph.floors)} of {len(home.floors)} storeys, "
            + " ".join(f"{share:.3f}" for share in shares.values())
        )
    print(f"least {min(every):.3f}, median {statistics.median(every):.3f}, {len(every)} storeys")


if __name__ == "__main__":
    main(sys.argv[1])
