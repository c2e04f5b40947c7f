"""Motion of a body on its navmesh: a cylinder that slides along the navmesh's borders.

A navmesh keeps its distance from obstacles, by up to a cell more than half the body's width. The
object that was touched is determined in the scene itself. Other agents, of which a navmesh knows
nothing, are avoided by sweeping discs against footprints, as in the scene's own mover. The scene
also gives the true floor height.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from navloom.errors import NavloomError, SimulatorError
from navloom.scenes.bodies import (
    NOBODY,
    BodyContact,
    Embodiment,
    FloorPose,
    Footprint,
    MotionResult,
    Others,
)
from navloom.scenes.distances import turn_between, wrap_angle
from navloom.scenes.scene import Point3, Scene, distance_2d
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.geometry.arrays import F64
from navloom_worlds.geometry.semantic_ids import owner_name
from navloom_worlds.habitat.navmesh_paths import CELL_M, WalkableScene
from navloom_worlds.motion import sweep
from navloom_worlds.motion.obstacles import BodyPose, ObstacleLines, body_outline, covering_body

_LOOK_M = 0.35
"""Maximum distance of a navmesh from the floor, on stairs."""
EDGE = "edge"
"""Name of the contact where no object is in the way: the floor ends."""
_REACH_M = 0.3
"""Maximum distance of a navmesh from obstacles beyond the body's radius."""
_TURNS = np.radians(np.arange(-60, 61, 10))
_HEIGHTS = (0.06, 0.3, 0.55, 0.8, 0.97)
"""Heights of the rays as shares of the body's height."""


def floor_height(scene: Scene, at: Point3) -> float | None:
    """Return the floor height under a navmesh position in metres; None if it is unknown.

    Args:
        scene: the scene.
        at: the position.
    """
    if not has_geometry(scene):
        return None
    start = np.array([[at[0], at[1] + _LOOK_M, at[2]]], dtype=np.float32)
    try:
        hits = scene_mesh(scene).caster.cast(start, np.array([[0, -1, 0]], dtype=np.float32))
    except NavloomError:
        return None
    if hits.face[0] < 0 or hits.distance[0] > 2 * _LOOK_M:
        return None
    return float(start[0, 1] - hits.distance[0])


def find_contact(scene: Scene, at: Point3, heading: float, body: Embodiment) -> tuple[str, Point3]:
    """Return the object that stopped a body, and the contact point.

    Args:
        scene: the scene.
        at: its position on the floor.
        heading: the intended direction, radians.
        body: the embodiment.

    Returns:
        The item's id, or ``wall``, ``door A <-> B`` and so on as
        :func:`navloom_worlds.geometry.semantic_ids.owner_name` returns them; ``edge`` if nothing is
        near; ``wall`` if the scene has no geometry or no name for the object.
    """
    reach = body.width / 2 + _REACH_M
    ahead = (at[0] + reach * math.sin(heading), at[1], at[2] - reach * math.cos(heading))
    if not has_geometry(scene):
        return "wall", ahead
    turns = heading + np.repeat(_TURNS, len(_HEIGHTS))
    ways = np.stack([np.sin(turns), np.zeros_like(turns), -np.cos(turns)], axis=1)
    starts = np.tile(np.asarray(at), (len(ways), 1))
    starts[:, 1] += np.tile(np.asarray(_HEIGHTS) * body.height, len(_TURNS))
    try:
        mesh = scene_mesh(scene)
        hits = mesh.caster.cast(starts.astype(np.float32), ways.astype(np.float32))
    except NavloomError:
        return "wall", ahead
    metres = np.where(hits.face >= 0, hits.distance, np.inf)
    nearest = int(metres.argmin())
    if metres[nearest] > reach:
        return EDGE, ahead
    x, y, z = (starts[nearest] + ways[nearest] * metres[nearest]).tolist()
    return owner_name(scene, int(mesh.owners[hits.face[nearest]])) or "wall", (x, y, z)


_LEVEL_M = 0.1
_TOUCH_M = 0.005
"""Minimum shortfall of a move that counts as a contact."""
_PIECE_M = 0.1
"""Length of a piece of motion near other agents or on an arc; its chord is within 1 mm."""
_RING_M = 0.1
_SLIDES = 3
_ARRIVED_M = 0.1


class NavmeshMotion:
    """Motion on a navmesh; see :class:`navloom_worlds.motion.motion_backend.MotionModel`.

    Args:
        scene: the scene.
        ground: the navmesh.
        body: the embodiment; a box moves as the cylinder of its width.
    """

    def __init__(self, scene: Scene, ground: WalkableScene, body: Embodiment) -> None:
        self.scene, self.ground, self.body = scene, ground, body
        self.shape = Footprint(True, body.width / 2, body.width / 2)

    def fits(self, stand: FloorPose, others: Others = NOBODY) -> bool:
        """Check whether a pose is on the navmesh, to a cell, and collides with no other agent."""
        found = self.ground.snap_points([stand.position])[0]
        near = found is not None and distance_2d(found, stand.position) <= CELL_M
        return near and not self._in_somebody(stand.position, others)

    def settled(
        self, stand: FloorPose, others: Others = NOBODY, reach: float = 1.0
    ) -> FloorPose | None:
        """Return the nearest free pose on the navmesh; None if there is none."""
        x, y, z = stand.position
        rings = [(x, y, z)]
        if others:
            count = round(reach / _RING_M)
            steps = [k * _RING_M for k in range(-count, count + 1)]
            rings += [(x + dx, y, z + dz) for dx in steps for dz in steps]
        found = [each for each in self.ground.snap_points(rings) if each is not None]
        found.sort(key=lambda each: distance_2d(each, stand.position))
        for each in found:
            near = distance_2d(each, stand.position)
            if near <= reach and not self._in_somebody(each, others):
                # Within a cell the navmesh is no more exact than the given position.
                there = each if near > CELL_M else (x, each[1], z)
                return FloorPose(self.snap_to_floor(there, y), stand.heading)
        return None

    def forward(
        self, stand: FloorPose, metres: float, *, slide: bool = True, others: Others = NOBODY
    ) -> MotionResult:
        """Move straight ahead, or back; return the motion's result."""
        walk = _NavmeshMove(self, stand, others, slide)
        walk.straight(stand.heading if metres >= 0 else stand.heading + math.pi, abs(metres))
        return walk.moved(_ahead(stand.position, stand.heading, metres))

    def turn(self, stand: FloorPose, radians: float, *, others: Others = NOBODY) -> MotionResult:
        """Turn without contacts, on the spot or by the turning radius; return the result."""
        radius = self.body.turning_radius or 0.0
        return self.drive(stand, abs(radians) * radius, radians, 1.0, others=others)

    def drive(
        self,
        stand: FloorPose,
        forward: float,
        turn: float,
        seconds: float,
        *,
        slide: bool = True,
        others: Others = NOBODY,
    ) -> MotionResult:
        """Move along an arc, in chords; return the motion's result."""
        metres, angle = forward * seconds, turn * seconds
        walk = _NavmeshMove(self, stand, others, slide)
        free = stand.position
        count = max(1, math.ceil(abs(metres) / _PIECE_M), math.ceil(abs(angle) / 0.2))
        count = 1 if not angle or not metres else count
        part = angle / count
        # A chord is shorter than its arc.
        chord = metres / count * (math.sin(part / 2) / (part / 2) if part else 1.0)
        for _ in range(count):
            middle = walk.heading + part / 2
            if chord and not walk.stopped:
                walk.straight(middle if chord >= 0 else middle + math.pi, abs(chord))
            free = _ahead(free, middle, chord)
            walk.heading += part
        return walk.moved(free)

    def follow(
        self,
        stand: FloorPose,
        points: Sequence[Point3],
        *,
        slide: bool = True,
        others: Others = NOBODY,
    ) -> MotionResult:
        """Go to each point, unless one is missed by over 0.1 m; return the motion's result."""
        walk = _NavmeshMove(self, stand, others, slide)
        for point in points:
            x, _, z = walk.position
            far = math.hypot(point[0] - x, point[2] - z)
            if far < 1e-6:
                continue
            heading = math.atan2(point[0] - x, z - point[2])
            walk.heading += turn_between(walk.heading, heading)
            walk.straight(walk.heading, far)
            if distance_2d(walk.position, point) > _ARRIVED_M:
                break
        return walk.moved(points[-1] if points else stand.position)

    def snap_to_floor(self, point: Point3, usual: float) -> Point3:
        """Return a navmesh position moved to the true floor height.

        Args:
            point: the position, some centimetres above the floor, on stairs more.
            usual: the height if the navmesh is as far off the floor as at the last position.
        """
        x, top, z = point
        floor = floor_height(self.scene, point)
        return x, max(top - _LEVEL_M, min(top, usual)) if floor is None else floor, z

    def _in_somebody(self, at: Point3, others: Others) -> bool:
        x, y, z = at
        pose = BodyPose(x, z, 0.0, y)
        if covering_body(pose, self.body.height, others) is not None:
            return True
        lines, _ = self.outlines(at, others)
        return bool(len(lines) and sweep.clearances(self.shape, lines, *pose.at).min() < -1e-3)

    def outlines(self, at: Point3, others: Others) -> tuple[F64, list[str]]:
        """Return the footprint edges of other agents at a position's height, and their names."""
        sides, whose = [np.zeros((0, 4))], []
        for name, (body, stand) in others.items():
            low = stand.position[1]
            if low < at[1] + self.body.height and low + body.height > at[1]:
                sides.append(body_outline(body, stand))
                whose += [name] * len(sides[-1])
        return np.concatenate(sides), whose


class _NavmeshMove:
    """State of one action on a navmesh: pose, length and contacts."""

    def __init__(self, moves: NavmeshMotion, stand: FloorPose, others: Others, slide: bool) -> None:
        self.position, self.heading = stand.position, stand.heading
        self.stopped = False
        self._moves, self._others, self._slide = moves, others, slide
        self._metres = 0.0
        self._bumps: dict[str, BodyContact] = {}

    def moved(self, free: Point3) -> MotionResult:
        """Return the result, where ``free`` is the end of an unobstructed motion."""
        stand = FloorPose(self.position, wrap_angle(self.heading))
        short = distance_2d(self.position, free)
        return MotionResult(stand, self._metres, short, tuple(self._bumps.values()))

    def straight(self, heading: float, metres: float) -> None:
        """Move in one direction; near other agents in pieces, sliding along them."""
        pieces = max(1, math.ceil(metres / _PIECE_M)) if self._others else 1
        for _ in range(pieces):
            if self.stopped:
                return
            self._piece(wrap_angle(heading), metres / pieces, _SLIDES)

    def _piece(self, heading: float, metres: float, slides: int) -> None:
        free, whom, normal, point = self._until(heading, metres)
        before = self.position
        self._walk(heading, free)
        lines, _ = self._moves.outlines(self.position, self._others)
        if len(lines) and self._gap(lines) < -1e-3:
            # It slid into another agent.
            self.position, whom = before, whom or next(iter(self._others))
            free, normal = 0.0, (0.0, 0.0)
        left = metres - free
        if whom is None or left <= 0:
            return
        ux, uz = math.sin(heading), -math.cos(heading)
        into = ux * normal[0] + uz * normal[1]
        ax, az = (ux - into * normal[0]) * left, (uz - into * normal[1]) * left
        along = math.hypot(ax, az)
        stuck = not self._slide or normal == (0.0, 0.0) or along < 1e-9 or slides == 0
        self._bumped(whom, left if stuck else left - along, point)
        if stuck:
            self.stopped = not self._slide
            return
        self._piece(math.atan2(ax, -az), along, slides - 1)

    def _until(
        self, heading: float, metres: float
    ) -> tuple[float, str | None, tuple[float, float], Point3]:
        """Return the free distance to other agents, which one, contact normal and contact point."""
        x, y, z = self.position
        lines, whose = self._moves.outlines(self.position, self._others)
        if not whose or metres <= 0:
            return metres, None, (0.0, 0.0), self.position
        shape, at = self._moves.shape, BodyPose(x, z, heading, y).at
        way = (metres * math.sin(heading), -metres * math.cos(heading))
        found = ObstacleLines(lines, np.zeros(len(lines), dtype=np.int32))
        share, k, _ = sweep.limit_motion(shape, found, at, way, None)
        if k < 0:
            return metres, None, (0.0, 0.0), self.position
        stop = BodyPose(x + way[0] * share, z + way[1] * share, heading, y)
        nx, nz, px, pz = sweep.touch_point(shape, lines[k], stop.at)
        return metres * share, whose[k], (nx, nz), (px, y, pz)

    def _gap(self, lines: F64) -> float:
        x, y, z = self.position
        at = BodyPose(x, z, 0.0, y).at
        return float(sweep.clearances(self._moves.shape, lines, *at).min())

    def _walk(self, heading: float, metres: float) -> None:
        """Move on the navmesh, regardless of other agents."""
        if metres <= 1e-9:
            return
        moves = self._moves
        found = moves.ground.walked(self.position, heading, metres, slide=self._slide)
        if found is None:
            x, y, z = self.position
            raise SimulatorError(
                f"({x:.2f}, {y:.2f}, {z:.2f}) is on no floor that {moves.body.name},"
                f" {moves.body.width:.2f} m wide, can stand on."
            )
        end = moves.snap_to_floor(found.end, self.position[1] + found.end[1] - found.start[1])
        gone = end[0] - found.start[0], end[2] - found.start[2]
        along = gone[0] * math.sin(heading) - gone[1] * math.cos(heading)
        self._metres += math.hypot(*gone)
        self.position = end
        if metres - along > _TOUCH_M:
            what, point = find_contact(moves.scene, end, heading, moves.body)
            self._bumped(what, metres - along, point)
            self.stopped = not self._slide

    def _bumped(self, what: str, displacement: float, point: Point3) -> None:
        before = self._bumps.get(what)
        if before is not None:
            displacement, point = displacement + before.displacement, before.point
        self._bumps[what] = BodyContact(what, displacement, point)


def _ahead(point: Point3, heading: float, metres: float) -> Point3:
    x, y, z = point
    return x + metres * math.sin(heading), y, z - metres * math.cos(heading)
