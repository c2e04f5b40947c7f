"""Check images against an independent ray caster.

    python -m worlds.tests.rendering.check_poses --poses 200

It compares depth within 1 cm and ids, pixel by pixel, and the directions of candidates. It prints
the worst pose.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass

import numpy as np

from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim.graph import candidates_of
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from worlds.tests.rendering.independent_caster import Pose, direction, seen

SHARE = 0.995
CM = 0.01


@dataclass(frozen=True)
class Compared:
    scene: str
    pose: Pose
    depth: float
    """Share of pixels with a depth within 1 cm."""
    ids: float
    """Share of pixels with the same owner."""
    both: float
    worst: float
    """Largest difference in depth, in metres."""


def poses_of(scene: Scene, count: int, rng: np.random.Generator) -> list[Pose]:
    """Draw poses at viewpoints at eye height, with random headings, tilts and fields of view."""
    found = []
    for _ in range(count):
        x, y, z = scene.viewpoints[rng.integers(len(scene.viewpoints))].position
        found.append(
            Pose(
                (x, y + rng.uniform(0.9, 1.7), z),
                rng.uniform(0, 2 * math.pi),
                rng.uniform(-0.7, 0.5),
                int(rng.integers(60, 120)),
                int(rng.integers(50, 100)),
                rng.uniform(0.8, 1.9),
            )
        )
    return found


def compared(
    name: str, renderer: Renderer, pose: Pose, shift: tuple[float, float] = (0.0, 0.0)
) -> Compared:
    """Compare one pose; ``shift`` moves the independent image by so many pixels."""
    mesh: SceneMesh = renderer.mesh
    camera = Camera(pose.position, pose.heading, pose.elevation, pose.width, pose.height, pose.fov)
    frame = renderer.frame(camera)
    other = seen(mesh.vertices, mesh.faces, pose, shift)
    owners = np.where(other.face >= 0, mesh.owners[other.face], 0)
    apart = np.abs(frame.depth - other.depth)
    near, same = apart <= CM, frame.ids == owners
    return Compared(name, pose, near.mean(), same.mean(), (near & same).mean(), float(apart.max()))


def wrong_ways(scene: Scene) -> int:
    """Count candidates whose directions differ from those between the two viewpoints' positions."""
    places = {each.id: each.position for each in scene.viewpoints}
    wrong = 0
    for here, ways in candidates_of(scene).items():
        for way in ways:
            heading, elevation, metres = direction(places[here], places[way.viewpoint])
            turn = abs((way.heading - heading + math.pi) % (2 * math.pi) - math.pi)
            if abs(elevation) > math.pi / 2 - 1e-6:
                turn = 0.0  # straight up or down every heading is the right one
            off = max(turn, abs(way.elevation - elevation), abs(way.distance - metres))
            wrong += off > 1e-6
    return wrong


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--poses", type=int, default=200)
    parser.add_argument("--homes", type=int, default=10)
    parser.add_argument("--shift", type=float, default=0.0, help="plant a shift of so many pixels")
    chosen = parser.parse_args(arguments)
    rng = np.random.default_rng(16)
    found: list[Compared] = []
    ways = wrong = 0
    for seed in range(chosen.homes):
        scene = load_scene(f"home:{seed}")
        renderer = Renderer(scene_mesh(scene), light="flat")
        count = chosen.poses * (seed + 1) // chosen.homes - chosen.poses * seed // chosen.homes
        for pose in poses_of(scene, count, rng):
            found.append(compared(scene.uri, renderer, pose, (chosen.shift, 0.0)))
        ways += sum(len(each) for each in candidates_of(scene).values())
        wrong += wrong_ways(scene)
    worst = min(found, key=lambda each: each.both)
    below = sum(each.both < SHARE for each in found)
    for said, value in (("depth within 1 cm", "depth"), ("ids equal", "ids"), ("both", "both")):
        shares = [getattr(each, value) for each in found]
        print(f"{said:18} {np.mean(shares):9.4%} of pixels, least {min(shares):9.4%} at one pose")
    print(f"{len(found)} poses in {chosen.homes} homes; {below} below {SHARE:.1%}")
    print(f"candidates: {ways - wrong} of {ways} where their positions say")
    print(f"worst: {worst}")
    return int(np.mean([each.both for each in found]) < SHARE or wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
