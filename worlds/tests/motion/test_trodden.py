"""Bodies in mesh files, whose floors and stairs may be things or nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest
import trimesh

from navloom.scenes import load_scene
from navloom.scenes.bodies import FloorPose, resolve_body
from navloom.scenes.scene import Scene
from navloom_worlds.motion.body_field import body_field, floor_position
from navloom_worlds.motion.collision_motion import mover_of

pytestmark = pytest.mark.slow


def stairs_of(folder: Path, named: bool) -> Scene:
    """Two floors of 4 x 4 m with eight treads between, walls and a table, in one node or many."""
    solids = {
        "floor_low": ((4, 0.1, 4), (2, -0.05, 2)),
        "Plane.003": ((4, 0.1, 4), (8, 1.39, 2)),
        "wall_1": ((10, 4, 0.1), (5, 2, -0.05)),
        "wall_2": ((10, 4, 0.1), (5, 2, 4.05)),
        "wall_3": ((0.1, 4, 4.2), (-0.05, 2, 2)),
        "wall_4": ((0.1, 4, 4.2), (10.05, 2, 2)),
        "ceiling": ((10.2, 0.1, 4.2), (5, 4.05, 2)),
        "rug": ((1, 0.02, 1), (1, 0.01, 1)),
        "table": ((1.0, 0.75, 0.8), (2.5, 0.375, 3.4)),
    }
    for k in range(8):
        top = 0.16 * (k + 1)
        solids[f"stairs.{k}"] = ((0.25, top, 4), (4.125 + 0.25 * k, top / 2, 2))
    boxes = {
        name: trimesh.creation.box(size).apply_translation(at)
        for name, (size, at) in solids.items()
    }
    scene = trimesh.Scene()
    if named:
        for name, each in boxes.items():
            scene.add_geometry(each, node_name=name, geom_name=name)
    else:
        scene.add_geometry(trimesh.util.concatenate(list(boxes.values())))
    path = folder / f"house{named}.glb"
    path.write_bytes(trimesh.exchange.gltf.export_glb(scene))
    return load_scene(str(path))


@pytest.mark.parametrize("named", [True, False])
def test_floors_and_stairs_of_a_mesh_file_are_trodden(tmp_path: Path, named: bool) -> None:
    scene = stairs_of(tmp_path, named)
    body = resolve_body("HUMAN")
    field = body_field(scene, body)
    low, high = (1.0, 0.0, 1.0), (8.0, 1.44, 2.0)
    assert field.way(low, [high]) is not None, "the storeys are not joined"
    stood = [v for v in scene.viewpoints if field.stands(floor_position(v))]
    assert len(stood) >= 0.6 * len(scene.viewpoints)
    moved = mover_of(scene, body).follow(FloorPose(low, 0.0), [low, (1.0, 0.0, 2.0), high])
    assert abs(moved.stand.position[1] - high[1]) < 0.02, moved
    # What is on legs or on no legs is no floor where a name says what it is.
    if named:
        assert not field.stands((2.5, 0.75, 3.4))
    slow = resolve_body("WHEELCHAIR")
    assert body_field(scene, slow).way(low, [high]) is None
