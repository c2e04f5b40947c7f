"""Compare paths of a body's field with paths over a navmesh.

    python -m worlds.tests.motion.check_geodesics home:0-19 --body VLNVERSE

The navmesh is habitat's own (Recast and Detour over the exported home), or with ``--navmesh
pynavmesh`` one made by Recast in Python. The pairs of places are at least 2 m apart, on one floor
and over stairs. Doors keep their state, because an exported home has no agent to open them. Over
stairs the lengths seen from above are compared, because a navmesh path has only its corners.

For a pair that only the field connects, the widest path is measured. If its narrowest place leaves
more than one navmesh cell of spare room, the pair is unexplained. For a pair that only the navmesh
connects, the obstacle on its path is printed. A navmesh climbs risers everywhere as on stairs. A
body climbs no riser off stairs that is higher than its step.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from navloom.scenes.bodies import Embodiment, FloorPose, Footprint, resolve_body
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.scene_uri import list_scenes, load_scene
from navloom_worlds.motion.body_field import BodyField, body_field
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.sweep import clearances
from worlds.tests.motion.recast_mesh import of_pynavmesh

CELL, APART, SAME = 0.05, 2.0, 0.5
Ways = Callable[[Point3, Point3], list[Point3]]


@dataclass
class Found:
    """Results of all pairs."""

    level: list[float] = field(default_factory=list)
    stairs: list[float] = field(default_factory=list)
    neither: int = 0
    alone: Counter[str] = field(default_factory=Counter)

    def told(self) -> list[str]:
        """Return the results as lines."""
        return [
            told("on a floor", self.level),
            told("over stairs, seen from above", self.stairs),
            f"reached by neither: {self.neither}",
            *(f"  {many} {what}" for what, many in self.alone.most_common()),
        ]

    def kept(self) -> bool:
        """Check that medians are within 1.5 %, 90 % of pairs within 4 %, and the rest explained."""
        low, middle, high = np.percentile([*self.level, *self.stairs], [5, 50, 95])
        near = abs(middle - 1) <= 0.015 and low >= 0.96 and high <= 1.04
        return bool(near) and not any("UNEXPLAINED" in each for each in self.alone)


def of_habitat(scene: Scene, body: Embodiment) -> Ways:
    """Return a function for paths over habitat's navmesh of a home."""
    from navloom_worlds.habitat import make
    from navloom_worlds.habitat.navmesh_paths import WalkableScene

    simulator = make(scene)
    ground = WalkableScene(scene, simulator._eyes.place, simulator._eyes.files, body)

    def way(a: Point3, b: Point3) -> list[Point3]:
        if None in ground.snap_points([a, b]):
            return []
        found = ground.way(a, [b])
        return [] if found is None else list(found.points)

    return way


NAVMESHES = {"habitat": of_habitat, "pynavmesh": of_pynavmesh}


def pairs_of(ground: BodyField, count: int, seed: int) -> list[tuple[Point3, Point3]]:
    """Draw pairs of places at least 2 m apart, with 10 cm of extra clearance."""
    rng = np.random.default_rng(seed)
    roomy = np.flatnonzero((ground.clear > ground.body.width / 2 + 0.1) & (ground.part < 3))
    found: list[tuple[Point3, Point3]] = []
    while len(roomy) > 1 and len(found) < count:
        a, b = (ground.position(int(k)) for k in rng.choice(roomy, 2))
        if math.hypot(a[0] - b[0], a[2] - b[2]) >= APART:
            found.append((a, b))
    return found


def flat(points: list[Point3] | tuple[Point3, ...]) -> float:
    """Return the length of a path seen from above."""
    return sum(math.hypot(b[0] - a[0], b[2] - a[2]) for a, b in pairwise(points))


def long(points: list[Point3] | tuple[Point3, ...]) -> float:
    """Return the length of a path."""
    return sum(math.dist(a, b) for a, b in pairwise(points))


def along(points: list[Point3]) -> list[Point3]:
    """Return points every 5 cm of a path."""
    out = []
    for a, b in pairwise(points):
        count = max(1, math.ceil(math.dist(a, b) / CELL))
        out += [
            tuple(p + (q - p) * k / count for p, q in zip(a, b, strict=True)) for k in range(count)
        ]
    return out  # type: ignore[return-value]


def widest(ground: BodyField, a: Point3, b: Point3) -> float:
    """Return the clearance at the narrowest place of the widest path between two places."""
    here, there = ground.at(a), ground.at(b)
    rooms = np.unique(ground.clear[ground.clear <= min(ground.clear[here], ground.clear[there])])
    low, high = 0, len(rooms)
    while high - low > 1:
        middle = (low + high) // 2
        held = ground.clear >= rooms[middle]
        beside = ground.places.beside
        row, side = np.nonzero((beside >= 0) & held[:, None] & held[beside])
        graph = coo_array((np.ones(len(row)), (row, beside[row, side])), (len(held), len(held)))
        label = connected_components(graph, directed=False)[1]
        low, high = (middle, high) if label[here] == label[there] else (low, middle)
    return float(rooms[low])


def why_ours_alone(ground: BodyField, a: Point3, b: Point3) -> str:
    """Explain why only the field connects two places."""
    spare = widest(ground, a, b) - ground.body.width / 2
    if spare <= CELL:
        return f"a narrow place on every way: {spare * 100:.1f} cm to spare, no more than a cell"
    return f"UNEXPLAINED: {spare * 100:.1f} cm to spare on the widest way"


def riser(mover: Mover, points: list[Point3]) -> float:
    """Return the highest rise of the floor from one point to the next."""
    poses = [mover._around.floor_pose(FloorPose(each, 0.0)) for each in points]
    heights = [pose.y for pose in poses if pose is not None]
    return max((abs(b - a) for a, b in pairwise(heights)), default=0.0)


def beside_riser(mover: Mover, spot: Point3) -> bool:
    """Check that the nearest obstacle to a place is a riser or the edge above one."""
    around = mover._around
    pose = around.floor_pose(FloorPose(spot, 0.0))
    if pose is None:
        return False
    lines = around.met(pose, {})
    nearest = int(
        clearances(Footprint(True, 0.0, 0.0), lines.ends, pose.x, pose.z, 0.0, -1.0).argmin()
    )
    return around.name(int(lines.owners[nearest]), {}) in ("step", "edge")


def why_theirs_alone(ground: BodyField, mover: Mover, points: list[Point3]) -> str:
    """Explain why only the navmesh has a path."""
    radius, floor = ground.body.width / 2, ground.found.floor
    middles = ground.grid.centres(floor.cell)
    tree = KDTree(np.stack([middles[:, 0], floor.height, middles[:, 1]], axis=1))
    short = 0.0
    for spot in (each for each in along(points) if not ground.stands(each)):
        metres, k = tree.query(spot)
        if metres > 0.25:
            return "UNEXPLAINED: goes over what is no floor with head room to us"
        room = float(floor.clearance[k])
        if room < radius - 1.5 * CELL:
            rise = riser(mover, [each for each in along(points) if math.dist(each, spot) < SAME])
            if ground.body.max_step + 0.001 < rise <= ground.climb and beside_riser(mover, spot):
                return f"a riser of {rise:.3f} m, climbed on stairs alone, by the navmesh anywhere"
            return f"UNEXPLAINED: passes at {room:.2f} ({mover.clearance(spot):.2f}) m from a thing"
        short = max(short, radius - room)
    if short > 0:
        return f"a place too narrow or too low: by {short * 100:.1f} cm, less than 1.5 cells"
    return "UNEXPLAINED: a step between two places"


def compare(uri: str, body: Embodiment, count: int, navmesh: str, found: Found) -> None:
    """Compare the paths of one home."""
    scene = load_scene(uri)
    ground, mover = body_field(scene, body), mover_of(scene, body)
    ways = NAVMESHES[navmesh](scene, body)
    for a, b in pairs_of(ground, count, seed=len(uri)):
        ours, theirs = ground.way(a, [b]), ways(a, b)
        if ours is None and not theirs:
            found.neither += 1
        elif ours is None or not theirs:
            why = why_ours_alone(ground, a, b) if ours else why_theirs_alone(ground, mover, theirs)
            found.alone[f"{'ours' if ours else navmesh} alone: {why.split(':')[0]}"] += 1
            print(f"{uri} {a} -> {b}: {'ours' if ours else navmesh} alone: {why}")
        else:
            off = math.dist(theirs[0], a) + math.dist(theirs[-1], b)
            steep = max(y for _, y, _ in ours.points) - min(y for _, y, _ in ours.points) > SAME
            if steep:
                found.stairs.append(flat(ours.points) / max(flat(theirs), 1e-6))
            elif off < 0.3:
                found.level.append(ours.metres / max(long(theirs), 1e-6))


def told(what: str, ratios: list[float]) -> str:
    """Format statistics of some ratios as one line."""
    if not ratios:
        return f"{what}: none"
    low, middle, high = np.percentile(ratios, [5, 50, 95])
    return f"{what}: {len(ratios)} pairs, median {middle:.4f}, 5 % {low:.4f}, 95 % {high:.4f}"


def main() -> int:
    """Compare, print, and return 1 if the bounds do not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec")
    parser.add_argument("--body", default="VLNVERSE")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--navmesh", choices=list(NAVMESHES), default="habitat")
    given = parser.parse_args()
    body = resolve_body(given.body).model_copy(update={"doors": False, "elevator": False})
    found = Found()
    for uri in list_scenes(given.spec):
        compare(uri, body, given.pairs, given.navmesh, found)
    print("\n".join(found.told()))
    return 0 if found.kept() else 1


if __name__ == "__main__":
    sys.exit(main())
