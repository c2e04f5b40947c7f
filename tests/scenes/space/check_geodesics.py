"""``python -m tests.scenes.space.check_geodesics home:0-19 --against habitat --body VLNVERSE``.

The ways of a body's field against ways over a navmesh that somebody else made: habitat's own
(Detour over the exported home), or Recast's in pure Python (``pip install pynavmesh``, slow: give
it few homes). Pairs of places at least 2 m apart, on one floor and over stairs. Doors are left as
they stand: an exported home has no one to open them. Over stairs the plan's lengths are compared,
since a navmesh's way tells only its corners. Pairs that one reaches and the other does not are
printed with what is there.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from navloom.scenes.bodies import Embodiment, body_of
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.space.body_field import BodyField, body_field
from navloom.scenes.space.body_mesh import body_mesh
from navloom.scenes.space.mover import mover_of
from navloom.scenes.uri import list_scenes, load_scene

CELL, APART, SAME = 0.05, 2.0, 0.5
Ways = Callable[[Point3, Point3], list[Point3]]


@dataclass
class Found:
    """What came of all pairs."""

    level: list[float] = field(default_factory=list)
    stairs: list[float] = field(default_factory=list)
    neither: int = 0
    alone: Counter[str] = field(default_factory=Counter)


def of_habitat(scene: Scene, body: Embodiment) -> Ways:
    """Ways over habitat's navmesh of a home."""
    from navloom.sim.habitat import make
    from navloom.sim.habitat.walking import Ground

    simulator = make(scene)
    ground = Ground(scene, simulator._eyes.place, simulator._eyes.files, body)

    def way(a: Point3, b: Point3) -> list[Point3]:
        if None in ground.snapped([a, b]):
            return []
        found = ground.way(a, [b])
        return [] if found is None else list(found.points)

    return way


def of_recast(scene: Scene, body: Embodiment) -> Ways:
    """Ways over a navmesh that pynavmesh bakes of what the body meets."""
    from pathfinder import PathFinder
    from pathfinder.navmesh_baker import NavmeshBaker

    mesh = body_mesh(scene, body)
    corners = mesh.vertices[mesh.faces]
    low, high = (f(each.height for each in scene.floors) for f in (min, max))
    seen = (corners[:, :, 1].max(axis=1) > low - 0.3) & (corners[:, :, 1].min(axis=1) < high + 2)
    baker = NavmeshBaker()
    faces = [[int(k) for k in face] for face in mesh.faces[seen]]
    baker.add_geometry([tuple(map(float, each)) for each in mesh.vertices], faces)
    climb = max(body.max_step, 0.2) if body.stairs else body.max_step
    baker.bake(
        cell_size=CELL,
        cell_height=CELL,
        agent_height=body.height,
        agent_radius=body.width / 2,
        agent_max_climb=climb + 1e-3,
        region_min_size=4,
    )
    finder = PathFinder(*baker.get_polygonization())

    def way(a: Point3, b: Point3) -> list[Point3]:
        return list(finder.search_path(a, b) or [])

    return way


def pairs_of(ground: BodyField, count: int, seed: int) -> list[tuple[Point3, Point3]]:
    """Places at random at least 2 m apart, a hand's breadth off all that is in the way."""
    rng = np.random.default_rng(seed)
    roomy = np.flatnonzero((ground.clear > ground.body.width / 2 + 0.1) & (ground.part < 3))
    found: list[tuple[Point3, Point3]] = []
    while len(roomy) > 1 and len(found) < count:
        a, b = (ground.position(int(k)) for k in rng.choice(roomy, 2))
        if math.hypot(a[0] - b[0], a[2] - b[2]) >= APART:
            found.append((a, b))
    return found


def flat(points: list[Point3] | tuple[Point3, ...]) -> float:
    """How long a way is seen from above."""
    return sum(math.hypot(b[0] - a[0], b[2] - a[2]) for a, b in pairwise(points))


def long(points: list[Point3] | tuple[Point3, ...]) -> float:
    """How long a way is."""
    return sum(math.dist(a, b) for a, b in pairwise(points))


def along(points: list[Point3]) -> list[Point3]:
    """Points every 5 cm of a way."""
    out = []
    for a, b in pairwise(points):
        count = max(1, math.ceil(math.dist(a, b) / CELL))
        out += [
            tuple(p + (q - p) * k / count for p, q in zip(a, b, strict=True)) for k in range(count)
        ]
    return out  # type: ignore[return-value]


def why_ours_alone(ground: BodyField, points: tuple[Point3, ...]) -> str:
    """What a way of ours has that the navmesh lacks."""
    spots = [k for each in along(list(points)) if (k := ground.at(each)) >= 0]
    spare = min(float(ground.clear[k]) for k in spots) - ground.body.width / 2
    heights = [float(ground.found.height[k]) for k in spots]
    step = max((abs(b - a) for a, b in pairwise(heights)), default=0.0)
    if spare < 1.5 * CELL:
        return f"a narrow place: {spare * 100:.0f} cm to spare, less than 1.5 cells"
    if step > 0.05:
        return f"a step of {step:.2f} m"
    return f"UNEXPLAINED, {spare:.2f} m to spare"


def why_theirs_alone(ground: BodyField, mover: Any, points: list[Point3]) -> str:
    """What a way of theirs meets."""
    radius, worst = ground.body.width / 2, "UNEXPLAINED"
    for spot in along(points):
        if not ground.stands(spot):
            floor = ground.nearest(spot)
            if floor is not None and math.dist(floor, spot) < 0.15:
                continue
            room = mover.clearance(spot)
            if room <= 0:
                return "goes over what is no floor to us: a low thing, a sill, an edge"
            return f"passes at {room:.2f} m from a thing, less than {radius:.2f} m"
    spare = [ground.clearance(spot) for spot in along(points)]
    return f"a narrow place within a cell of the width ({worst})" if min(spare) == 0 else worst


def compare(uri: str, body: Embodiment, against: str, count: int, found: Found) -> None:
    """One home."""
    scene = load_scene(uri)
    ground, mover = body_field(scene, body), mover_of(scene, body)
    ways = (of_habitat if against == "habitat" else of_recast)(scene, body)
    for a, b in pairs_of(ground, count, seed=len(uri)):
        ours, theirs = ground.way(a, [b]), ways(a, b)
        if ours is None and not theirs:
            found.neither += 1
        elif ours is None or not theirs:
            why = (
                why_ours_alone(ground, ours.points)
                if ours
                else why_theirs_alone(ground, mover, theirs)
            )
            found.alone[f"{'ours' if ours else against} alone: {why.split(':')[0]}"] += 1
            print(f"{uri} {a} -> {b}: {'ours' if ours else against} alone: {why}")
        else:
            off = math.dist(theirs[0], a) + math.dist(theirs[-1], b)
            steep = max(y for _, y, _ in ours.points) - min(y for _, y, _ in ours.points) > SAME
            if steep:
                found.stairs.append(flat(ours.points) / max(flat(theirs), 1e-6))
            elif off < 0.3:
                found.level.append(ours.metres / max(long(theirs), 1e-6))


def told(what: str, ratios: list[float]) -> str:
    """A line about some ratios."""
    if not ratios:
        return f"{what}: none"
    low, middle, high = np.percentile(ratios, [5, 50, 95])
    return f"{what}: {len(ratios)} pairs, median {middle:.4f}, 5 % {low:.4f}, 95 % {high:.4f}"


def main() -> int:
    """Compare, print, and say by the exit code whether the bounds are kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec")
    parser.add_argument("--against", choices=["habitat", "recast"], default="habitat")
    parser.add_argument("--body", default="VLNVERSE")
    parser.add_argument("--pairs", type=int, default=40)
    given = parser.parse_args()
    body = body_of(given.body).model_copy(update={"doors": False, "elevator": False})
    found = Found()
    for uri in list_scenes(given.spec):
        compare(uri, body, given.against, given.pairs, found)
    print(told("on a floor", found.level))
    print(told("over stairs, seen from above", found.stairs))
    print(f"reached by neither: {found.neither}")
    for what, many in found.alone.most_common():
        print(f"  {many} {what}")
    low, middle, high = np.percentile([*found.level, *found.stairs], [5, 50, 95])
    kept = abs(middle - 1) <= 0.015 and low >= 0.96 and high <= 1.04
    return 0 if kept and not any("UNEXPLAINED" in each for each in found.alone) else 1


if __name__ == "__main__":
    sys.exit(main())
