"""Mesh of a building: walls with openings, floors, ceilings, doors, windows and stairs.

It includes the exterior (the ground, steps before its doors, railings of balconies), stairs and
ramps with treads, risers and handrails where one could fall, and the interior of elevators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.scene import Box, Scene, Stairs
from navloom_worlds.geometry.arrays import F64, Bools
from navloom_worlds.geometry.building import Building, BuildingRoom, building_of
from navloom_worlds.geometry.building_surfaces import shell_parts
from navloom_worlds.geometry.finishes import DARK_STEEL, GRASS, STEEL, STONE, TRIM, Finishes
from navloom_worlds.geometry.prism_union import polygons_in
from navloom_worlds.geometry.semantic_ids import CEILING, GROUND, STAIRS, WALL
from navloom_worlds.geometry.solids import Owned, Part, Surface, as_f32, beam, box, quad, quad_faces
from navloom_worlds.geometry.wall_openings import WallOpening, wall_footprint
from navloom_worlds.geometry.woodwork import skirting_parts, woodwork_parts

_BOARD, _NOSING = 0.035, 0.025
_FLIGHTS_RAIL = 0.92
_DROP = 0.4
"""Drop in metres above which there is a handrail."""
_INSET = 0.035
_LAMP = Surface((1.0, 0.98, 0.94), glow=1.0)

Spot = F64
Place = tuple[float, float, float]


def stair_parts(building: Building, finishes: Finishes) -> Iterator[Owned]:
    """Yield the parts of stairs, ramps, and elevator cabins."""
    kinds = {(link.a, link.b): link.kind for link in building.scene.links}
    rooms = {room.region.id: room for storey in building.storeys for room in storey.rooms}
    for flight in building.scene.stairs:
        kind = kinds.get((flight.a, flight.b), "stairs")
        if kind == "ramp" and flight.treads:
            yield STAIRS, _ramp(flight, finishes)
        elif flight.treads:
            for part in _stairs(flight, rooms.get(flight.a), finishes):
                yield STAIRS, part
    for room in rooms.values():
        if "elevator" in room.region.label.casefold():
            yield from _cabin(building, room)


def _ramp(flight: Stairs, finishes: Finishes) -> Part:
    """Return a wedge from the foot of a ramp to its top."""
    (x0, y0, z0), (x1, y1, z1) = flight.line[0], flight.line[1]
    along = np.array([x1 - x0, z1 - z0])
    along = along / (float(np.linalg.norm(along)) or 1.0)
    wide = max(min(box.size[0], box.size[2]) for box in flight.treads)
    wide = max(wide, *(max(box.size[0], box.size[2]) for box in flight.treads)) / 2
    u, w = -along[1] * wide, along[0] * wide
    foot = [(x0 - u, y0, z0 - w), (x0 + u, y0, z0 + w)]
    head = [(x1 + u, y1, z1 + w), (x1 - u, y1, z1 - w)]
    under = [(x, y0, z) for x, _, z in head]
    corners = [
        *foot, *head,
        foot[1], under[0], head[0], foot[1],
        foot[0], head[1], under[1], foot[0],
        head[1], head[0], under[0], under[1],
    ]  # fmt: skip
    return Part(as_f32(corners), quad_faces(4), finishes.stairs)


def _stairs(flight: Stairs, foot: BuildingRoom | None, finishes: Finishes) -> Iterator[Part]:
    steps = sorted((*flight.treads, *flight.landings), key=lambda each: each.top)
    for number, step in enumerate(steps):
        x, _, z = step.center
        w, d = step.size[0] / 2, step.size[2] / 2
        body = box((-w, 0, -d), (w, step.size[1] - _BOARD, d), TRIM, sides="fklr")
        yield body.turned(step.yaw).moved(x, step.bottom, z)
        (x0, z0), (x1, z1) = _nosed(step, steps, number)
        board = box((x0, step.size[1] - _BOARD, z0), (x1, step.size[1], z1), finishes.stairs)
        yield board.turned(step.yaw).moved(x, step.bottom, z)
    base = min(step.bottom for step in steps)
    for way in _rails(list(_guards(steps, base, foot))):
        yield from _balustrade(way, finishes)


def _nosed(step: Box, steps: Sequence[Box], number: int) -> tuple[Spot, Spot]:
    """Return a tread's board, (x, z) in the step's frame, with a nosing on the approach side."""
    low = np.array([-step.size[0] / 2, -step.size[2] / 2])
    high = -low
    other = steps[number - 1] if number else steps[min(1, len(steps) - 1)]
    toward = np.array([other.center[0] - step.center[0], other.center[2] - step.center[2]])
    toward = toward if number else -toward
    cos, sin = np.cos(step.yaw), np.sin(step.yaw)
    local = np.array([toward[0] * cos + toward[1] * sin, -toward[0] * sin + toward[1] * cos])
    reach = high + np.array([other.size[0] / 2, other.size[2] / 2])
    axis = int(np.argmax(np.abs(local) - reach))
    if local[axis] < 0:
        low[axis] -= _NOSING
    else:
        high[axis] += _NOSING
    return low, high


@dataclass(frozen=True)
class _StepEdge:
    """Edge of a step above a drop: its ends, and the step's top."""

    a: Spot
    b: Spot
    y: float
    number: int

    @property
    def points(self) -> list[Place]:
        """Posts of its handrail: the middle of a tread, or both ends of a landing."""
        middle = (self.a + self.b) / 2
        ends = [self.a, self.b] if np.linalg.norm(self.b - self.a) > 0.5 else [middle]
        return [(float(x), self.y, float(z)) for x, z in ends]


def _guards(steps: Sequence[Box], base: float, foot: BuildingRoom | None) -> Iterator[_StepEdge]:
    """Yield edges of steps with a deep drop beyond them, but no wall."""
    shapes = [Polygon(step.corners()).buffer(0.005) for step in steps]
    shapely.prepare(shapes)
    tops = np.array([step.top for step in steps])
    for number, step in enumerate(steps):
        if step.top - base < _DROP:
            continue
        corners = np.array(step.corners())
        middle = corners.mean(axis=0)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            long = float(np.linalg.norm(b - a))
            out = (a + b) / 2 - middle
            out /= float(np.linalg.norm(out)) or 1.0
            share = (np.arange(max(2, round(long / 0.05))) + 0.5) / max(2, round(long / 0.05))
            at = a + share[:, None] * (b - a) + out * 0.04
            high = np.full(len(at), base)
            for shape, top in zip(shapes, tops, strict=True):
                high = np.where(shapely.contains_xy(shape, at), np.maximum(high, top), high)
            drop = step.top - high > _DROP
            if foot is not None:
                drop &= shapely.contains_xy(foot.area, at)
            inward = out * _INSET
            for first, last in _runs(drop):
                ends = [a + (b - a) * t - inward for t in (first / len(at), last / len(at))]
                yield _StepEdge(ends[0], ends[1], step.top, number)


def _runs(flags: Bools) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of set flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _apart(a: Place, b: Place) -> float:
    """Return the horizontal distance between two positions in metres."""
    return math.hypot(a[0] - b[0], a[2] - b[2])


def _rails(guards: Sequence[_StepEdge]) -> list[list[Place]]:
    """Return the paths of handrails, each from bottom to top."""
    ways: list[tuple[int, list[Place]]] = []
    for guard in sorted(guards, key=lambda each: each.number):
        best: tuple[float, int, list[Place]] | None = None
        for index, (number, way) in enumerate(ways):
            points = guard.points
            if _apart(points[-1], way[-1]) < _apart(points[0], way[-1]):
                points.reverse()
            away = _apart(points[0], way[-1])
            if guard.number - number <= 2 and away < 0.55 and (best is None or away < best[0]):
                best = away, index, points
        if best is None:
            ways.append((guard.number, guard.points))
        else:
            ways[best[1]] = guard.number, [*ways[best[1]][1], *best[2]]
    return [way for _, way in ways]


def _balustrade(way: Sequence[Place], finishes: Finishes) -> Iterator[Part]:
    """Yield a handrail on bars, with posts at its ends."""
    held = [(x, y + _FLIGHTS_RAIL, z) for x, y, z in way]
    for foot, top in zip(way, held, strict=True):
        thick = 0.06 if foot in (way[0], way[-1]) else 0.022
        end = (top[0], top[1] + (0.06 if thick > 0.03 else -0.01), top[2])
        yield beam(foot, end, thick, TRIM)
    for a, b in pairwise(held):
        if np.linalg.norm(np.subtract(a, b)) > 0.02:
            yield beam(a, b, 0.05, finishes.stairs)
            count = int(np.hypot(b[0] - a[0], b[2] - a[2]) / 0.15)
            for k in range(1, count):
                x, y, z = (p + (q - p) * k / count for p, q in zip(a, b, strict=True))
                yield beam((x, y - _FLIGHTS_RAIL, z), (x, y, z), 0.022, TRIM)


def _cabin(building: Building, room: BuildingRoom) -> Iterator[Owned]:
    """Yield the handrail, buttons and lamp of an elevator cabin."""
    storey = building.storey_at(room.level)
    left, near, right, far = room.area.bounds
    if storey is None:
        return
    top = storey.ceiling - 0.01
    x, z = (left + right) / 2, (near + far) / 2
    x0, z0, x1, z1 = x - 0.4, z - 0.4, x + 0.4, z + 0.4
    lamp = [(x0, top, z0), (x1, top, z0), (x1, top, z1), (x0, top, z1)]
    yield CEILING, quad(lamp, _LAMP)
    doors = [way for way in building.ways if room.region.id in way.rooms and way.leaf]
    inner = room.area.buffer(-0.06, join_style="mitre")
    corners = shapely.get_coordinates(inner)
    for a, b in pairwise(corners):
        line = shapely.LineString([a, b])
        if any(line.distance(shapely.LineString([way.a, way.b])) < 0.3 for way in doors):
            continue
        y = room.level + 0.9
        yield WALL, beam((a[0], y, a[1]), (b[0], y, b[1]), 0.035, DARK_STEEL, sides=8)
    for way in doors[:1]:
        yield from _buttons(way, room)


def _buttons(way: WallOpening, room: BuildingRoom) -> Iterator[Owned]:
    """Yield the button panels beside an elevator's door, inside and out."""
    x = way.width + 0.16
    for side in (-1.0, 1.0):
        face = side * way.thick / 2
        before = way.b + way.along * 0.16 + way.across * (face + side * 0.05)
        inside = shapely.intersects_xy(room.area, *before)
        near, far = sorted((face, face + side * 0.012))
        panel = ((x - 0.05, 0.95, near), (x + 0.05, 1.4 if inside else 1.11, far))
        yield WALL, way.placed(box(*panel, DARK_STEEL), way.low)
        near, far = sorted((face + side * 0.012, face + side * 0.018))
        for k in range(4 if inside else 1):
            knob = ((x - 0.018, 1.0 + 0.1 * k, near), (x + 0.018, 1.036 + 0.1 * k, far))
            yield WALL, way.placed(box(*knob, STEEL), way.low)


_AROUND = 40.0
"""Metres of ground around a home."""
_HIGH = 0.5
"""Metres above the ground from which outdoor rooms have a railing."""
_RAIL, _BARS = 1.0, 0.12
_STEP = (1.0, 0.25)
"""Depth of a doorstep, and its overhang on both sides of the door, in metres."""


def exterior_parts(building: Building) -> Iterator[Owned]:
    """Yield everything around a home: ground, doorsteps and railings."""
    walls = building.scene.walls
    xs = [x for wall in walls for x, _ in (wall.a, wall.b)]
    zs = [z for wall in walls for _, z in (wall.a, wall.b)]
    left, right = min(xs) - _AROUND, max(xs) + _AROUND
    near, far = min(zs) - _AROUND, max(zs) + _AROUND
    y = building.ground
    yield GROUND, quad([(left, y, far), (right, y, far), (right, y, near), (left, y, near)], GRASS)
    for way in building.ways:
        if way.kind == "way out" and way.low < y + _HIGH:
            yield from _doorstep(building, way)
    for storey in building.storeys:
        for room in storey.rooms:
            if room.outdoors and room.level > y + _HIGH:
                yield from _railing(building, room)


def _doorstep(building: Building, way: WallOpening) -> Iterator[Owned]:
    storey = building.storey_at(way.low)
    if storey is None:
        return
    before = way.middle + way.across * (way.thick / 2 + 0.2)
    inside = shapely.intersects_xy(storey.footprint, *before)
    side = -1.0 if inside else 1.0
    deep, wider = _STEP
    near, far = sorted((side * way.thick / 2, side * (way.thick / 2 + deep)))
    step = box(
        (-wider, building.ground - 0.05, near), (way.width + wider, way.low - 0.03, far), STONE
    )
    yield WALL, way.placed(step)


def _railing(building: Building, room: BuildingRoom) -> Iterator[Owned]:
    """Yield bars along the sides of a balcony that have neither wall nor parapet."""
    held: list[BaseGeometry] = [
        wall_footprint(wall)
        for wall in building.scene.walls
        if wall.bottom < room.level + 0.5 < wall.bottom + wall.height
    ]
    held += [each.footprint for each in building.storeys if abs(each.floor - room.level) < 0.4]
    taken = shapely.union_all(held).buffer(0.05)
    for polygon in polygons_in(room.area.buffer(-0.03, join_style="mitre")):
        for a, b in pairwise(shapely.get_coordinates(polygon.exterior)):
            line = shapely.LineString([a, b])
            for part in shapely.get_parts(line.difference(taken.buffer(0.05))):
                ends = shapely.get_coordinates(part)
                if len(ends) == 2 and np.linalg.norm(ends[1] - ends[0]) > 0.1:
                    yield from _bars(ends[0], ends[1], room.level)


def _bars(a: np.ndarray, b: np.ndarray, low: float) -> Iterator[Owned]:
    top = low + _RAIL
    for y, thick in ((top, 0.05), (low + 0.1, 0.03)):
        yield WALL, beam((a[0], y, a[1]), (b[0], y, b[1]), thick, DARK_STEEL)
    count = max(1, round(float(np.linalg.norm(b - a)) / _BARS))
    for k in range(count + 1):
        x, z = a + (b - a) * k / count
        post = k in (0, count)
        thick, foot = (0.05, low) if post else (0.016, low + 0.1)
        yield WALL, beam((x, foot, z), (x, top, z), thick, DARK_STEEL)


def structure_parts(scene: Scene) -> Iterator[Owned]:
    """Yield everything in a scene that is no item, in the scene's frame.

    Args:
        scene: scene with walls, regions, links (doors in their state), openings and stairs.
    """
    if not scene.walls:
        return
    building = building_of(scene)
    # Not seeded by the id: a changed copy (with a door opened, say) keeps its finishes.
    finishes = Finishes(" ".join(f"{each.id} {each.center}" for each in scene.regions))
    parts, panels = shell_parts(building, finishes)
    yield from parts
    yield from skirting_parts(panels, finishes)
    yield from woodwork_parts(building, finishes)
    yield from stair_parts(building, finishes)
    yield from exterior_parts(building)
