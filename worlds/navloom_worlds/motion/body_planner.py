"""Planner that drives a body between positions with its exact shape: plan on the field, then drive.

The field only knows the width of a body straight ahead; where it turns, its corners count too. So
paths with room to turn are tried first, then the shortest, and last with recovery moves where it
stops (:mod:`navloom_worlds.motion.recovery_moves`). The first that the body itself can follow
counts.

Between the places of a field, costs are higher where the circle around the body would stick out.
The cheapest path is cut into straight lines that end, if possible, at places with room to turn. On
stairs it follows the centre line, as a long body cannot turn wherever its middle could be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from navloom.scenes.bodies import (
    BodyContact,
    Embodiment,
    FloorPose,
    footprint_of,
    inner_radius,
    outer_radius,
)
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry.arrays import F64
from navloom_worlds.motion.body_field import BodyField, body_field
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.recovery_moves import recovery_path
from navloom_worlds.motion.stair_climbing import round_bends

_TIGHT = 6.0
"""Extra cost of a metre where clearance is only half the body's width."""
_AIR = 0.1
"""Extra clearance in metres that a disc, which need not turn, keeps where it can."""
_MOST_LAYERS = 40
_SHARES = (1.0, 0.7, 0.4)
"""Shares of the circle's clearance that count as room to turn, tried in order."""


class ClearanceGraph:
    """Clearance graph of a field: costs grow where clearance beyond half the body's width is low.

    Args:
        scene: scene whose floors tell storeys apart.
        field: field of a body.
    """

    def __init__(self, scene: Scene, field: BodyField) -> None:
        self.field = field
        self.cell = field.grid.cell
        self.needed = max(_AIR, outer_radius(field.body) - inner_radius(field.body))
        self.along, self.across = np.divmod(field.found.cell, field.grid.deep)
        heights = np.array(sorted({floor.height for floor in scene.floors}))[:_MOST_LAYERS]
        layer = np.searchsorted(heights, field.found.height + 0.5 * _storey(heights)) - 1
        self.layer = np.clip(layer, 0, len(heights) - 1)
        shape = (len(heights), self.along.max(initial=0) + 3, self.across.max(initial=0) + 3)
        self.at = np.full(shape, -1, dtype=np.int32)
        self.at[self.layer, self.along + 1, self.across + 1] = np.arange(len(field))
        self.spare: F64 = field.clear - inner_radius(field.body)
        self.graph = self._graph()

    def _graph(self) -> csr_array:
        beside = self.field.places.beside
        rows, sides = np.nonzero(beside >= 0)
        columns = beside[rows, sides]
        short = np.clip(1 - self.spare / max(self.needed, 1e-9), 0, 1)
        cost = self.cell * (1 + _TIGHT * short[columns])
        return csr_array((cost, (rows, columns)), shape=(len(self.field),) * 2)

    def ways(self, begin: Point3, end: Point3) -> Iterator[tuple[Point3, ...]]:
        """Yield paths between two positions, the most careful first; none if there is no path."""
        first, last = self.field.at(begin), self.field.at(end)
        if first < 0 or last < 0:
            return
        _, before = dijkstra(
            self.graph, directed=True, indices=np.array(first), return_predecessors=True
        )
        here, run = last, [last]
        while here != first and before[here] >= 0:
            here = int(before[here])
            run.append(here)
        if here != first:
            return
        run.reverse()
        for share in _SHARES:
            turns = self._turns(run, share * self.needed)
            yield (begin, *(self.field.position(each) for each in turns[1:-1]), end)

    def _turns(self, run: list[int], room: float) -> list[int]:
        """Return the places at which a path is cut."""
        kept, i = [run[0]], 0
        while i < len(run) - 1:
            seen = [j for j in self._ahead(run, i) if self._straight(run, i, j)]
            wide = [j for j in seen if self.spare[run[j]] >= room - 1e-9]
            i = max(wide or seen or [i + 1])
            kept.append(run[i])
        return kept

    def _ahead(self, run: list[int], i: int) -> list[int]:
        far = range(i + 2, len(run))
        return [j for j in far if (j - i) % 3 == 2 or j == len(run) - 1]

    def _straight(self, run: list[int], i: int, j: int) -> bool:
        """Check whether a straight line has as much clearance as the path that it cuts short."""
        a, b = run[i], run[j]
        if self.layer[a] != self.layer[b]:
            return False
        count = max(2, math.ceil(abs(self.along[b] - self.along[a])), 2 * (j - i) // 2)
        u = np.rint(np.linspace(self.along[a], self.along[b], 2 * count)).astype(int) + 1
        w = np.rint(np.linspace(self.across[a], self.across[b], 2 * count)).astype(int) + 1
        on = self.at[self.layer[a], u, w]
        if (on < 0).any():
            return False
        least = min(float(self.spare[run[i : j + 1]].min()), self.needed)
        return bool(self.spare[on].min() >= least - self.cell / 2)


def _storey(heights: F64) -> float:
    return float(np.diff(heights).min()) if len(heights) > 1 else 1.0


def clearance_graph(scene: Scene, field: BodyField) -> ClearanceGraph:
    """Return the clearance graph of a body's field; made once per scene and body."""
    key = f"mend:roomy {field.body.model_dump_json()}"
    return scene_cached(scene, key, lambda: ClearanceGraph(scene, field))


BENDS = (0.5, 0.35, 0.7, 0.0)
"""Metres before a bend of stairs at which it is cut to an arc, tried in order."""
_NEAR = 0.8
"""Metres from the foot and the top of stairs within which a path over them passes."""
_STEP = 0.05


def centre_on_stairs(scene: Scene, way: Sequence[Point3], bend: float) -> list[Point3]:
    """Return a path with the stretch over each flight of stairs replaced by its centre line.

    Args:
        scene: scene with stairs.
        way: points on the floor.
        bend: metres before a bend at which it is cut to an arc.
    """
    points = list(way)
    for flight in scene.stairs:
        line = list(dict.fromkeys(flight.line))
        dense, number = _dense(points)
        if len(line) < 2 or not len(dense):
            continue
        far = [np.linalg.norm(dense - end, axis=1) for end in (line[0], line[-1])]
        ends, off = [int(np.argmin(each)) for each in far], max(float(each.min()) for each in far)
        if off > _NEAR or ends[0] == ends[1]:
            continue
        over = round_bends(line, bend)
        first, last = min(ends), max(ends)
        before = [points[k] for k in range(number[first] + 1)]
        after = [points[k] for k in range(number[last] + 1, len(points))]
        points = [*before, *(over if ends[0] < ends[1] else over[::-1]), *after]
    return points


def _dense(points: Sequence[Point3]) -> tuple[F64, list[int]]:
    """Return points every few centimetres, and the index of the path point before each."""
    found, number = list[Point3](), list[int]()
    for k, (each, leg) in enumerate(_legs(points)):
        found += each
        number += [k] * leg
    return np.array(found).reshape(-1, 3), number


def _legs(points: Sequence[Point3]) -> Iterator[tuple[list[Point3], int]]:
    for a, b in pairwise(points):
        count = max(1, math.ceil(math.dist(a, b) / _STEP))
        at = np.array(a) + np.arange(count)[:, None] / count * (np.array(b) - np.array(a))
        yield [(float(x), float(y), float(z)) for x, y, z in at], count


_ARRIVED = 0.15
_STOREY = 1.0
"""Least height difference in metres within a path over stairs."""
_MOST_PAST = 6
"""Most recoveries on one path."""
_AGAIN = 3
"""Most times that a path is planned again from where a body stopped."""


@dataclass(frozen=True, slots=True)
class DriveResult:
    """Result of driving a body along planned paths.

    Attributes:
        arrived: whether the body reached the goal.
        path: its stands from the start; each straight ahead or back of the one before, or turned
            on the spot.
        touched: names of the obstacles that it touched, each once, in order.
        why: reason why it did not arrive; empty if it did.
        bumps: every contact, in order.
    """

    arrived: bool
    path: tuple[FloorPose, ...] = ()
    touched: tuple[str, ...] = ()
    why: str = ""
    bumps: tuple[BodyContact, ...] = ()


def drive_to_goal(
    scene: Scene, body: Embodiment, start: Sequence[FloorPose] | Point3, goal: Point3
) -> DriveResult | None:
    """Drive a body from a start to a goal.

    Args:
        scene: a scene with geometry.
        body: the body.
        start: its stands so far, the last the current one; or a position on the floor, where it
            faces along its path.
        goal: a position on the floor.

    Returns:
        The first drive that reaches the goal, else the last one tried; None if no path is wide
        enough for half of the body.

    Raises:
        SceneError: the scene has no geometry.
    """
    mover, field = mover_of(scene, body), body_field(scene, body)
    been, begin = _where(start)
    tried: DriveResult | None = None
    for points in _ways(scene, field, begin, goal):
        tried = _persisted(mover, field, points, been[-1:] or _begun(mover, points))
        if tried.arrived:
            return tried
    if tried is None:
        return None
    careful = next(clearance_graph(scene, field).ways(begin, goal), None)
    if careful is None:
        return tried
    points = tuple(centre_on_stairs(scene, careful, BENDS[0]))
    return _patient(scene, mover, field, points, been or _begun(mover, points))


def _where(start: Sequence[FloorPose] | Point3) -> tuple[list[FloorPose], Point3]:
    """Return the stands of a start, if it has any, and its position."""
    been = [each for each in start if isinstance(each, FloorPose)]
    if been:
        return been, been[-1].position
    x, y, z = (each for each in start if not isinstance(each, FloorPose))
    return [], (x, y, z)


def _ways(
    scene: Scene, field: BodyField, begin: Point3, end: Point3
) -> Iterator[tuple[Point3, ...]]:
    """Yield paths to try: with room to turn, the shortest, then centred on stairs."""
    yield from clearance_graph(scene, field).ways(begin, end)
    shortest = field.way(begin, [end])
    if shortest is None:
        return
    yield shortest.points
    heights = [y for _, y, _ in shortest.points]
    if footprint_of(field.body).round or max(heights) - min(heights) < _STOREY:
        return
    roomiest = next(clearance_graph(scene, field).ways(begin, end), shortest.points)
    for bend in BENDS:
        yield tuple(centre_on_stairs(scene, roomiest, bend))


def _begun(mover: Mover, points: Sequence[Point3]) -> list[FloorPose]:
    """Return the stand at the start of a path, facing along it; empty if the body does not fit."""
    (x, _, z), (u, _, w) = points[0], points[min(1, len(points) - 1)]
    ahead = math.atan2(u - x, -(w - z)) if (x, z) != (u, w) else 0.0
    stand = mover.settled(FloorPose(points[0], ahead))
    return [] if stand is None else [stand]


def _persisted(
    mover: Mover, field: BodyField, points: Sequence[Point3], been: Sequence[FloorPose]
) -> DriveResult:
    """Follow a path, and replan a few times where the body stops; return the drive's result."""
    if not been:
        return DriveResult(False, why="it does not fit where it starts")
    path, met, goal = [been[-1]], list[BodyContact](), points[-1]
    for _ in range(_AGAIN + 1):
        moved = mover.follow(path[-1], points)
        path += moved.path[1:]
        met += moved.bumps
        at = path[-1].position
        if _is_at(at, goal):
            return _told(path, met, arrived=True)
        way = field.way(at, [goal])
        if way is None:
            break
        points = way.points
    return _told(path, met, arrived=False)


def _patient(
    scene: Scene, mover: Mover, field: BodyField, way: Sequence[Point3], been: Sequence[FloorPose]
) -> DriveResult:
    """Follow a path, with recovery moves where the body stops; return the drive's result."""
    if not been:
        return DriveResult(False, why="it does not fit where it starts")
    rooms, goal = clearance_graph(scene, field), way[-1]
    path, met = list(been), list[BodyContact]()
    for _ in range(_MOST_PAST):
        moved = mover.follow(path[-1], way)
        path += moved.path[1:]
        met += moved.bumps
        at = path[-1].position
        if _is_at(at, goal):
            return _told(path[len(been) - 1 :], met, arrived=True)
        ahead = next(rooms.ways(field.nearest(at) or at, goal), None)
        past = recovery_path(mover, path, ahead) if ahead else []
        if not past:
            break
        path += past
        on = field.nearest(past[-1].position)
        ahead = next(rooms.ways(on, goal), None) if on else None
        if ahead is None:
            break
        way = centre_on_stairs(scene, ahead, BENDS[0])
    return _told(path[len(been) - 1 :], met, arrived=False)


def _is_at(at: Point3, goal: Point3) -> bool:
    return math.hypot(at[0] - goal[0], at[2] - goal[2]) <= _ARRIVED


def _told(path: Sequence[FloorPose], met: Sequence[BodyContact], *, arrived: bool) -> DriveResult:
    # Each once, in order of the last contact: the last one stopped it.
    last = tuple(dict.fromkeys(bump.what for bump in reversed(met)))[::-1]
    x, _, z = path[-1].position
    why = f"it stops at ({x:.2f}, {z:.2f}), at {last[-1] if last else 'an edge'}"
    return DriveResult(arrived, tuple(path), last, "" if arrived else why, tuple(met))
