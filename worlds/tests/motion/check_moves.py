"""``python -m worlds.tests.motion.check_moves``: check random actions against shapely.

Two bodies move at random in a home. After every action, independent polygons are used to check four
properties: no body penetrates a solid by more than a millimetre, it can go back the way it came, it
reports a contact if it moved less far than commanded, and every reported contact exists.
``--fault`` plants an error that the check must detect.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np

from navloom.errors import SceneError
from navloom.scenes.bodies import (
    Embodiment,
    FloorPose,
    Footprint,
    MotionResult,
    Others,
    builtin_bodies,
)
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.motion import sweep
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.sweep import SKIN
from worlds.tests.motion.scene_solids import REACHES, SceneSolids, footprint

Act = Callable[[Mover, FloorPose, Others], MotionResult]
BACK = 1e-4
"""Tolerance in metres and radians for a return to the start."""


@dataclass
class Found:
    """Counts of a check, and the first of each fault."""

    actions: int = 0
    bumps: int = 0
    metres: float = 0.0
    close: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def fault(self, kind: str, text: str) -> None:
        self.faults[kind] += 1
        if self.faults[kind] <= 3:
            self.shown.append(f"{kind}: {text}")


def act(rng: np.random.Generator) -> tuple[str, Act]:
    """Draw a random action, of the kinds that discrete and continuous simulator actions use."""
    kind = str(rng.choice(["forward", "back", "turn", "far", "drive", "shift"]))
    slide = bool(rng.random() < 0.7)
    if kind == "turn":
        angle = math.radians(float(rng.choice([-30, -15, 15, 30, 90, -180])))
        return f"turn {angle:.3f}", lambda m, at, o: m.turn(at, angle, others=o)
    if kind == "drive":
        v, w, t = rng.uniform(-0.6, 1.2), rng.uniform(-1.5, 1.5), rng.uniform(0.1, 1.5)
        return f"drive {v:.3f} {w:.3f} {t:.3f}", lambda m, at, o: m.drive(
            at, v, w, t, slide=slide, others=o
        )
    if kind == "shift":
        dx, dz = rng.normal(0, 0.3, 2)
        return f"shift {dx:.3f} {dz:.3f}", lambda m, at, o: m.shift(
            at, dx, dz, slide=slide, others=o
        )
    metres = {"forward": 0.25, "back": -0.25, "far": float(rng.uniform(0.5, 3))}[kind]
    return f"forward {metres:.2f}", lambda m, at, o: m.forward(at, metres, slide=slide, others=o)


def back(mover: Mover, moved: MotionResult, others: Others) -> FloorPose:
    """Return the pose after reversing every leg of a motion, from the last to the first."""
    at = moved.stand
    for before, after in reversed(list(pairwise(moved.path))):
        dx, dz = (b - a for a, b in zip(after.position[::2], before.position[::2], strict=True))
        turn = math.remainder(before.heading - after.heading, math.tau)
        chord = math.hypot(dx, dz)
        if abs(turn) < 1e-12:
            at = mover.shift(at, dx, dz, others=others).stand
        else:
            # A chord leaves its arc's start half the angle aside.
            along = after.heading + turn / 2
            ahead = dx * math.sin(along) - dz * math.cos(along)
            arc = math.copysign(chord * abs(turn) / (2 * math.sin(abs(turn) / 2)), ahead)
            at = mover.drive(at, arc, turn, 1.0, slide=False, others=others).stand
    return at


def starts(mover: Mover, scene: Scene, rng: np.random.Generator) -> Iterator[FloorPose]:
    """Yield poses near viewpoints where the body fits."""
    for k in rng.permutation(len(scene.viewpoints)):
        heading = float(rng.uniform(0, math.tau))
        stand = mover.settled(FloorPose(scene.viewpoints[k].position, heading), reach=0.5)
        if stand is not None:
            yield stand


def beside(mover: Mover, one: FloorPose, places: Sequence[FloorPose]) -> FloorPose:
    """Return the nearest pose where a second body fits; far away if there is none."""
    for each in sorted(places, key=lambda place: math.dist(place.position, one.position)):
        stand = mover.settled(each, {"one": (mover.body, one)})
        if stand is not None:
            return stand
    return FloorPose((1e3, 0.0, 1e3), 0.0)


def check(scene: Scene, body: Embodiment, count: int, seed: int, found: Found) -> None:
    """Move a body and a second one of its kind through a scene."""
    rng = np.random.default_rng(seed)
    mover, solids = mover_of(scene, body), SceneSolids(scene, body)
    places = list(islice(starts(mover, scene, rng), max(3, count // 20)))
    for number in range(count):
        if number % 40 == 0:
            if not places:
                found.fault("nowhere", f"{scene.uri}: {body.name} fits nowhere")
                return
            one = places[(number // 40) % len(places)]
            other = beside(mover, one, places)
        others: Others = {"other": (body, other)}
        name, action = act(rng)
        found.actions += 1
        try:
            moved = action(mover, one, others)
            judge(found, mover, solids, one, name, moved, others)
        except SceneError as error:
            found.fault("refused", f"{scene.uri} {body.name} {name} from {one}: {error}")
            one = places[int(rng.integers(len(places)))]
            other = beside(mover, one, places)
            continue
        one = moved.stand
        if number % 10 == 9 and other.position[0] < 1e3:
            one, other = other, one


def judge(
    found: Found,
    mover: Mover,
    solids: SceneSolids,
    start: FloorPose,
    name: str,
    moved: MotionResult,
    others: Others,
) -> None:
    """Check all properties of one action."""
    body = mover.body
    where = f"{mover.scene.uri} {body.name} {name} from {start} to {moved.stand}"
    found.bumps += len(moved.bumps)
    found.metres += moved.metres
    for stand in moved.path[1:]:
        if inside := solids.met(stand):
            found.fault("penetrates", f"{where}: {inside} at {stand}")
            break
    ((other, at),) = others.values()
    apart = footprint(body, moved.stand, 0.001).intersects(footprint(other, at))
    if apart and abs(at.position[1] - moved.stand.position[1]) < body.height:
        found.fault("penetrates", f"{where}: the other at {at}")
    if moved.short > 1e-6 and not moved.bumps:
        found.fault("silent", f"{where}: short by {moved.short:.4f} without a contact")
    for bump in moved.bumps:
        if bump.displacement < 0 or not math.isfinite(bump.displacement):
            found.fault("measure", f"{where}: {bump}")
        if solids.near(bump, REACHES.get(bump.what, 0.02)) is False:
            found.fault("name", f"{where}: {bump} is not there")
    if not mover._around.fits(start, others, SKIN - 1e-6):
        found.close += 1  # the other body is nearer than the mover itself would approach
        return
    end = back(mover, moved, others)
    off = math.dist(end.position, start.position)
    if off > BACK or abs(math.remainder(end.heading - start.heading, math.tau)) > BACK:
        found.fault("no way back", f"{where}: back at {end}, {off:.4f} m off")


def plant(fault: str) -> None:
    """Break the mover, so that it ignores straight motion (``sweep``) or turns (``turn``)."""
    meet = sweep.limit_motion

    def broken(
        shape: Footprint,
        lines: sweep.Floats,
        at: tuple[float, float, float, float],
        way: tuple[float, float],
        angle: float | None,
    ) -> sweep.Meeting:
        if (angle is None) == (fault == "sweep"):
            return 1.0, -1, sweep.FREE
        return meet(shape, lines, at, way, angle)

    if fault:
        sweep.limit_motion = broken


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=10_000, help="for each body, in all")
    parser.add_argument("--homes", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--body", default="")
    parser.add_argument("--fault", choices=["sweep", "turn"])
    chosen = parser.parse_args(arguments)
    plant(chosen.fault or "")
    bad = 0
    totals = {body.name: Found() for body in builtin_bodies() if chosen.body in ("", body.name)}
    begun = time.monotonic()
    for seed in range(chosen.first, chosen.first + chosen.homes):
        scene = load_scene(f"home:{seed}")
        for body in builtin_bodies():
            if body.name in totals:
                check(scene, body, chosen.actions // chosen.homes, seed, totals[body.name])
    for name, found in totals.items():
        print(
            f"{name:12} {found.actions} actions, {found.metres:8.0f} m, {found.bumps} contacts; "
            f"{found.close} not asked "
            f"back; faults: {dict(found.faults) or 'none'}"
        )
        print("".join(f"    {each}\n" for each in found.shown[:12]), end="")
        bad += sum(n for kind, n in found.faults.items() if kind != "nowhere")
    print(f"{chosen.homes} homes, {time.monotonic() - begun:.0f} s")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
