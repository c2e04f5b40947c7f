"""Body motion in a furnished home: forward steps per second, for each built-in body.

A body moves 0.25 m ahead with sliding, again and again. Where it is stopped it turns by a random
angle, and where it cannot turn it moves back one step. Only the forward steps are counted, in
processor time, on paths that were walked before, so that the collision geometry around them is
prepared. The promises are 4,000 steps per second in numpy and 20,000 with numba.

For comparison, pybullet (extra ``bench``) runs one simulation step with a cylinder of the same size
among the same triangles, and a query of its contacts.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from unittest import mock

import numpy as np

from benchmarks import Claim
from navloom.scenes.bodies import Embodiment, FloorPose, MotionResult, builtin_bodies
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.motion import sweep
from navloom_worlds.motion.collision_mesh import body_mesh
from navloom_worlds.motion.collision_motion import Mover, mover_of

HOME = "home:4"
STEP_M, STOPPED_M = 0.25, 0.05
STARTS, STEPS, RUNS = 12, 60, 3
PROMISED = {False: 4_000.0, True: 20_000.0}
"""Promised steps per second, without and with numba."""

TimedWalk = tuple[list[MotionResult], float, float]


def claims() -> list[Claim]:
    """Walk each body through the home, in numpy and, if installed, with numba."""
    scene = load_scene(HOME)
    compiled = find_spec("numba") is not None
    out = []
    for body in builtin_bodies():
        mover = mover_of(scene, body)
        stands = find_start_poses(scene, mover)
        if not stands:
            continue
        first = walk_body(mover, stands, compiled=False)
        bullet = measure_pybullet_rate(scene, body, [each.stand for each in first[0]])
        plain = min((walk_body(mover, stands, compiled=False) for _ in range(RUNS)), key=_took)
        out.append(_claim(body, plain, first, bullet, compiled=False))
        if not compiled:
            continue
        walk_body(mover, stands, compiled=True)
        quick = min((walk_body(mover, stands, compiled=True) for _ in range(RUNS)), key=_took)
        same = have_equal_positions(plain[0], quick[0])
        out.append(_claim(body, quick, first, bullet, compiled=True, equal=same))
    return out


def _took(taken: TimedWalk) -> float:
    return taken[1]


def _claim(
    body: Embodiment,
    taken: TimedWalk,
    first: TimedWalk,
    bullet: float | None,
    *,
    compiled: bool,
    equal: bool | None = None,
) -> Claim:
    steps, ahead, turns = taken
    rate = len(steps) / ahead
    stopped = sum(bool(each.bumps) for each in steps) / len(steps)
    note = (
        f"{rate:,.0f} steps a second, {100 * stopped:.0f} % of them with a contact; turns between"
    )
    note += f" them take {turns / ahead:.1f} times as long together"
    if not compiled:
        note += f"; where nobody was yet {len(first[0]) / first[1]:,.0f} steps a second"
    if bullet is None:
        note += "; pybullet is not installed (pip install 'navloom[bench]'): not compared"
    else:
        note += f"; {rate / bullet:.1f} times pybullet's {bullet:,.0f}"
    how = "with numba" if compiled else "in numpy"
    return Claim(
        f"steps of {body.name} {how}",
        f"the promise, {PROMISED[compiled]:,.0f} a second; {HOME}, {len(steps)} of {STEP_M} m",
        rate / PROMISED[compiled],
        1.0,
        equal,
        note,
    )


def find_start_poses(scene: Scene, mover: Mover) -> list[FloorPose]:
    """Return the poses where the body can stand, at viewpoints all over the home."""
    every = max(1, len(scene.viewpoints) // STARTS)
    found = (mover.settled(FloorPose(each.position, 0.0)) for each in scene.viewpoints[::every])
    return [each for each in found if each is not None]


def walk_body(mover: Mover, stands: Sequence[FloorPose], *, compiled: bool) -> TimedWalk:
    """Walk the body along seeded random paths.

    Returns:
        The forward steps, the seconds that they took, and the seconds that the turns took.
    """
    chance = random.Random(4)
    steps: list[MotionResult] = []
    ahead = turns = 0.0
    # Calling a Mock would take as long as the measured code.
    plain = mock.patch.object(sweep, "compiled_sweep", lambda: None)  # noqa: PT008
    with nullcontext() if compiled else plain:
        for stand in stands:
            stand, way = mover.turn(stand, chance.uniform(-3, 3)).stand, STEP_M
            for _ in range(STEPS):
                began = time.process_time()
                moved = mover.forward(stand, way)
                ahead += time.process_time() - began
                steps.append(moved)
                stand, way = moved.stand, STEP_M
                if moved.short > STOPPED_M:
                    angle = chance.choice((-1, 1)) * chance.uniform(0.3, 2.5)
                    began = time.process_time()
                    turned = mover.turn(stand, angle)
                    turns += time.process_time() - began
                    stand, way = turned.stand, -STEP_M if turned.bumps else STEP_M
    return steps, ahead, turns


def have_equal_positions(ours: Sequence[MotionResult], theirs: Sequence[MotionResult]) -> bool:
    """Check whether two walks have equal positions, to a tenth of a millimetre."""
    pairs = zip(ours, theirs, strict=True)
    return all(math.dist(a.stand.position, b.stand.position) < 1e-4 for a, b in pairs)


def measure_pybullet_rate(
    scene: Scene, body: Embodiment, stands: Sequence[FloorPose]
) -> float | None:
    """Return pybullet's simulation steps per second with the body at some poses.

    Returns None if pybullet is not installed or fails.
    """
    if find_spec("pybullet") is None:
        return None
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    try:
        mesh = body_mesh(scene, body)
        triangles = pybullet.createCollisionShape(
            pybullet.GEOM_MESH,
            vertices=mesh.vertices.astype(np.float64).tolist(),
            indices=mesh.faces.ravel().tolist(),
            flags=pybullet.GEOM_FORCE_CONCAVE_TRIMESH,
        )
        pybullet.createMultiBody(0, triangles)
        tall = body.height - body.max_step
        cylinder = pybullet.createCollisionShape(
            pybullet.GEOM_CYLINDER, radius=body.width / 2, height=tall
        )
        there = pybullet.createMultiBody(50.0, cylinder)
        upright = pybullet.getQuaternionFromEuler((math.pi / 2, 0, 0))
        took = 0.0
        for stand in stands:
            x, y, z = stand.position
            speed = math.sin(stand.heading), 0.0, -math.cos(stand.heading)
            began = time.process_time()
            middle = (x, y + body.max_step + tall / 2, z)
            pybullet.resetBasePositionAndOrientation(there, middle, upright)
            pybullet.resetBaseVelocity(there, speed)
            pybullet.stepSimulation()
            pybullet.getContactPoints(there)
            took += time.process_time() - began
    except pybullet.error:
        return None
    finally:
        pybullet.disconnect(client)
    return len(stands) / took
