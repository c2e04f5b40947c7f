"""Compare action sequences in embedded and in habitat: the distance between their ends.

``python -m worlds.tests.habitat.check_walks --strings 200 --homes home:0-19``: each sequence has 20
actions, a step of 0.25 m or a turn of 15 or 30 degrees, by VLNVerse's body. The body opens no doors
here, because a navmesh has none that open. The script prints the distribution of the distances
between the two ends. For the worst sequences it prints where the two diverged, and what each had
touched by then.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import VLNVERSE, FloorPose
from navloom.scenes.scene import Scene, distance_3d
from navloom.scenes.scene_uri import list_scenes
from navloom.sim import Action, Forward, Observation, Pose, Simulator, Turn, get_simulator
from navloom_worlds.motion.collision_motion import mover_of

BODY = VLNVERSE.model_copy(update={"doors": False})
LENGTH = 20
_APART_M = 0.1
_LEVEL_M = 0.05


@dataclass(frozen=True)
class Walk:
    """One action sequence in both simulators.

    Attributes:
        scene: the scene.
        start: start viewpoint, and heading in radians.
        actions: the actions.
        ours: observations of embedded, with the start.
        theirs: observations of habitat, with the start.
    """

    scene: Scene
    start: Pose
    actions: tuple[Action, ...]
    ours: tuple[Observation, ...]
    theirs: tuple[Observation, ...]

    @property
    def apart(self) -> float:
        """Distance between the two ends in metres."""
        return distance_3d(self.ours[-1].pose.position, self.theirs[-1].pose.position)

    @property
    def metres(self) -> float:
        """Length of embedded's path in metres."""
        return sum(distance_3d(a.pose.position, b.pose.position) for a, b in pairwise(self.ours))

    @property
    def touches(self) -> int:
        """Number of embedded's actions with a contact."""
        return sum(bool(seen.contacts) for seen in self.ours)

    @property
    def gaps(self) -> list[float]:
        """Distance between the two after each action in metres."""
        return [
            distance_3d(a.pose.position, b.pose.position)
            for a, b in zip(self.ours, self.theirs, strict=True)
        ]

    @property
    def parted(self) -> int:
        """Index of the first action after which they were over 0.1 m apart, else of the last."""
        gaps = self.gaps
        return next((k for k, gap in enumerate(gaps) if gap > _APART_M), len(gaps) - 1)

    @property
    def why(self) -> str:
        """Likely reason for the divergence."""
        k = self.parted
        if any(
            abs(a.pose.position[1] - b.pose.position[1]) > _LEVEL_M
            for a, b in zip(self.ours, self.theirs, strict=True)
        ):
            return "a rise or a low thing stops ours, and a navmesh takes 0.2 m anywhere"
        ours, theirs = (self._touched(each, k) for each in (self.ours, self.theirs))
        if ours == theirs:
            return "both slid along the same, a navmesh a cell farther off: round it or not"
        if "nothing" in (ours, theirs):
            return "one touched what the other passed"
        return "they touched different things"

    def told(self) -> str:
        """Describe where the two diverged, and the likely reason."""
        gaps, k = self.gaps, self.parted
        ours, theirs = (self._touched(each, k) for each in (self.ours, self.theirs))
        x, y, z = self.ours[k].pose.position
        room = mover_of(self.scene, BODY).clearance((x, y, z)) - BODY.width / 2
        return (
            f"{self.scene.uri} from {self.start.viewpoint}: {self.apart:.2f} m apart; at action {k}"
            f" ({x:.2f}, {y:.2f}, {z:.2f}) by {gaps[k]:.2f} m, {room:.3f} m beside it are free;"
            f" embedded had touched {ours}; habitat {theirs}: {self.why}"
        )

    @staticmethod
    def _touched(seen: tuple[Observation, ...], k: int) -> str:
        names = [contact.what for each in seen[: k + 1] for contact in each.contacts]
        return ", ".join(dict.fromkeys(names)) or "nothing"


def walks(uri: str, count: int, seed: int = 0) -> list[Walk]:
    """Run some sequences of one home in both simulators."""
    scene = load_scene(uri)
    rng = random.Random(f"{uri} {seed}")
    ours, theirs = (get_simulator(name, scene) for name in ("embedded", "habitat"))
    mover, found = mover_of(scene, BODY), []
    fitting = [
        each.id
        for each in scene.viewpoints
        if mover.fits(FloorPose(each.ground, 0.0)) and _can_go(theirs, each.id)
    ]
    for _ in range(count):
        start = Pose((0, 0, 0), rng.uniform(0, 2 * math.pi), 0.0, rng.choice(fitting))
        turns = [Turn(math.radians(each)) for each in (15, -15, 30, -30)]
        actions = tuple(
            Forward() if rng.random() < 0.6 else rng.choice(turns) for _ in range(LENGTH)
        )
        both = [_walked(each, start, actions) for each in (ours, theirs)]
        found.append(Walk(scene, start, actions, both[0], both[1]))
    return found


def _can_go(simulator: Simulator, viewpoint: str) -> bool:
    """Check that a viewpoint is on the navmesh; near a door it may not be."""
    simulator.reset({"robot": (Pose((0, 0, 0), viewpoint=viewpoint), BODY)})
    try:
        seen = simulator.step({"robot": Forward(0.0)})["robot"]
    except SimulatorError:
        return False
    return distance_3d(seen.pose.position, simulator.scene.viewpoint_by_id[viewpoint].ground) < 0.01


def _walked(
    simulator: Simulator, start: Pose, actions: tuple[Action, ...]
) -> tuple[Observation, ...]:
    seen = [simulator.reset({"robot": (start, BODY)})["robot"]]
    seen += [simulator.step({"robot": action})["robot"] for action in actions]
    return tuple(seen)


def main() -> None:
    """Print the distribution and the worst sequences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strings", type=int, default=200)
    parser.add_argument("--homes", default="home:0-19")
    parser.add_argument("--worst", type=int, default=10)
    asked = parser.parse_args()
    uris = list_scenes(asked.homes)
    found: list[Walk] = []
    for number, uri in enumerate(uris):
        more = asked.strings * (number + 1) // len(uris) - len(found)
        found += walks(uri, more)
        print(uri, f"{np.median([each.apart for each in found]):.3f}", file=sys.stderr, flush=True)
    apart = np.array([each.apart for each in found])
    spread = ", ".join(f"p{q} {np.percentile(apart, q):.3f}" for q in (5, 25, 50, 75, 90, 95, 100))
    print(f"{len(found)} strings of {LENGTH} actions over {len(uris)} homes: {BODY.name}")
    print(f"metres between the ends: {spread}; mean {apart.mean():.3f}")
    free = np.array([each.apart for each in found if not each.touches])
    met = np.array([each.apart for each in found if each.touches])
    for what, some in (("touched nothing", free), ("touched something", met)):
        if len(some):
            told = f"median {np.median(some):.3f}, p95 {np.percentile(some, 95):.3f}"
            print(f"{len(some)} {what} in embedded: {told}, most {some.max():.3f}")
    for why, count in Counter(each.why for each in found if each.apart > _APART_M).most_common():
        print(f"{count} end over {_APART_M} m apart: {why}")
    print(f"median length {np.median([each.metres for each in found]):.2f} m")
    for each in sorted(found, key=lambda walk: -walk.apart)[: asked.worst]:
        print(each.told())


if __name__ == "__main__":
    main()
