"""Places of scenes on maps, for every kind of run that shows one."""

from __future__ import annotations

from collections.abc import Iterable

from navloom.evals.report.blocks import Spot
from navloom.scenes.scene import Point3, Scene
from navloom.sim.graph import nearest_viewpoint


def spot_of(scene: Scene, point: Point3) -> Spot:
    """A point of the floor on a plan; its floor is that of the nearest viewpoint.

    Args:
        scene: it must have viewpoints.
        point: (x, y, z) in metres.
    """
    nearest, _ = nearest_viewpoint(scene, point)
    return scene.floor_of(scene.viewpoint_by_id[nearest]), point[0], point[2]


def spots_of(scene: Scene, names: Iterable[str]) -> tuple[Spot, ...]:
    """Viewpoints on a plan; those that the scene lacks are left out, never guessed.

    Lines of a run may be older than its scene.
    """
    known = [scene.viewpoint_by_id[name] for name in names if name in scene.viewpoint_by_id]
    return tuple((scene.floor_of(v), v.position[0], v.position[2]) for v in known)
