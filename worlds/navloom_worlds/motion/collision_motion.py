"""Motion of bodies through a scene with exact contacts: they stop or slide, and report contacts.

A pose is free if no obstacle reaches into the footprint between the body's step height and its top.
That depends on the pose alone, not on the path to it, so a free path is free in both directions. A
body keeps half a millimetre from everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from navloom.errors import SceneError
from navloom.scenes.bodies import (
    NOBODY,
    BodyContact,
    Embodiment,
    FloorPose,
    Footprint,
    MotionResult,
    Others,
    footprint_of,
)
from navloom.scenes.distances import scene_cached, turn_between
from navloom.scenes.scene import Point2, Point3, Scene
from navloom_worlds.geometry.arrays import F64
from navloom_worlds.geometry.semantic_ids import WALL
from navloom_worlds.motion import sweep
from navloom_worlds.motion.local_obstacles import EDGE, PIECE, STEP, CollisionWorld, ObstacleTile
from navloom_worlds.motion.obstacles import BodyPose, ObstacleLines, check_finite, rotate_pose
from navloom_worlds.motion.planar_obstacles import simplify_lines

_STILL = 1e-4
"""Radians of turn within which a touched obstacle counts as met at once."""
_CHUNK = 0.04
"""Length of a leg in metres where floors of several heights are near."""
_SLIDES = 5
_MOST_LINES = 200
"""Number of rectangles whose lines are cached."""
_PARTS = 16
"""Parts of a short motion that are tried if there is no floor at its end."""


@dataclass(frozen=True, slots=True)
class _Contact:
    """Contact of a body: owner, normal away from the obstacle, and point."""

    owner: int
    nx: float
    nz: float
    point: Point3


class SlidingMotion:
    """One action of a body: its pose, contacts and path, with sliding along obstacles."""

    def __init__(self, around: CollisionWorld, pose: BodyPose, others: Others) -> None:
        self._around, self._others = around, others
        self.pose = self._free = pose
        self._metres = 0.0
        self._bumps: dict[str, BodyContact] = {}
        self._path = [pose.stand]
        self._even = True
        self.stopped = 0.0

    def off(self, x: float, z: float) -> float:
        """Return metres from the body to a position."""
        return math.hypot(x - self.pose.x, z - self.pose.z)

    def moved(self, x: float, z: float) -> MotionResult:
        """Return the result of the action; (x, z) is where it would end without obstacles."""
        stand = self.pose.stand
        self._around.ended = stand, self._even
        return MotionResult(
            stand, self._metres, self.off(x, z), tuple(self._bumps.values()), tuple(self._path)
        )

    def _bumped(self, contact: _Contact, displacement: float) -> None:
        what = self._around.name(contact.owner, self._others)
        known = self._bumps.get(what)
        point = contact.point
        if known is not None:
            displacement, point = displacement + known.displacement, known.point
        self._bumps[what] = BodyContact(what, displacement, point)

    def straight(self, dx: float, dz: float, *, slide: bool) -> None:
        """Drive straight to a contact, and slide on along the obstacle."""
        before: _Contact | None = None
        wanted = (dx, dz)
        for tries in range(_SLIDES):
            if math.hypot(dx, dz) < 1e-9:
                return
            share, contact = self._glide(dx, dz)
            self._path.append(self.pose.stand)
            if contact is None:
                return
            dx, dz = dx * (1 - share), dz * (1 - share)
            left = math.hypot(dx, dz)
            into = min(dx * contact.nx + dz * contact.nz, 0.0)
            ax, az = dx - into * contact.nx, dz - into * contact.nz
            stuck = not slide or into >= 0 or ax * wanted[0] + az * wanted[1] <= 1e-12
            # Wedged between two obstacles it can slide along neither.
            if before is not None and ax * before.nx + az * before.nz < -1e-12:
                stuck = True
            if stuck or tries == _SLIDES - 1:
                self._bumped(contact, left)
                return
            self._bumped(contact, left - math.hypot(ax, az))
            before, dx, dz = contact, ax, az

    def _glide(self, dx: float, dz: float) -> tuple[float, _Contact | None]:
        """Drive straight until a contact; return the share driven and the contact."""
        far = math.hypot(dx, dz)
        pieces = max(1, math.ceil(far / PIECE - 1e-9))
        way = dx / pieces, dz / pieces
        for number in range(pieces):
            share, contact = self._piece(way, None, far / pieces)
            self._metres += far / pieces * share
            if contact is not None:
                return (number + share) / pieces, contact
        return 1.0, None

    def round(self, side: float, angle: float, *, on: bool = False) -> BodyPose:
        """Turn about a point beside the body; return the pose reached without obstacles.

        Args:
            side: offset of the point to the body's right, in metres.
            angle: radians.
            on: whether the rest of a blocked arc is tried by :meth:`struggle`.
        """
        pose = self.pose
        rx, rz = math.cos(pose.heading), math.sin(pose.heading)
        pivot = pose.x + rx * side, pose.z + rz * side
        end = rotate_pose(pose, pivot, angle)
        shape = self._around.shape
        self.stopped = 0.0
        if abs(angle) < 1e-12 or (shape.round and abs(side) < 1e-9):
            self.pose = end
            self._path.append(end.stand)
            return end
        reach = abs(side) + (0.0 if shape.round else shape.outer)
        pieces = max(1, math.ceil(abs(angle) / 2), math.ceil(abs(angle * side) / PIECE - 1e-9))
        for number in range(pieces):
            part = angle / pieces
            share, contact = self._piece(pivot, part, abs(part) * reach)
            self._metres += abs(part * side) * share
            if contact is not None:
                self.stopped = 1 - (number + share) / pieces
                away = math.hypot(contact.point[0] - pivot[0], contact.point[2] - pivot[1])
                lost = 0.0 if on else abs(angle) * self.stopped * max(away, abs(side))
                self._bumped(contact, lost)
                break
        self._path.append(self.pose.stand)
        return end

    def _piece(
        self, way: tuple[float, float], angle: float | None, far: float
    ) -> tuple[float, _Contact | None]:
        """Move within one tile, in legs on uneven floor; return the share done and any contact.

        Args:
            way: as in :meth:`_leg`.
            angle: as in :meth:`_leg`.
            far: most metres that any point of the body moves.
        """
        near = self._around.tile(self.pose, self.pose.y, False)
        if near.level:
            return self._leg(way, angle, near, level=True)
        legs = max(1, math.ceil(far / _CHUNK - 1e-9))
        gone, share, contact = self._freely(way, angle, legs, near)
        if contact is not None:
            return share, contact
        if angle is None:
            way = way[0] / legs, way[1] / legs
        else:
            angle /= legs
        for number in range(gone, legs):
            near = self._around.tile(self.pose, self.pose.y, False)
            share, contact = self._leg(way, angle, near, level=False)
            if contact is not None:
                return (number + share) / legs, contact
        return 1.0, None

    def _freely(
        self, way: tuple[float, float], angle: float | None, legs: int, near: ObstacleTile
    ) -> tuple[int, float, _Contact | None]:
        """Advance as many legs as lie on one floor and are free however the body is lifted.

        Returns:
            The number of legs; or the share of the motion and the contact that ended it, where
            that is as certain as within one leg.
        """
        around, pose, gone = self._around, self.pose, 0
        end = _gone(pose, way, angle, 1.0)
        if (angle is None or (pose.x, pose.z) == way) and near.is_level(pose, end):
            gone = legs
        while gone < legs:
            there = _gone(pose, way, angle, (gone + 1) / legs)
            if near.under(there.x, there.z) != pose.y:
                break
            gone += 1
        if not gone:
            return 0, 0.0, None
        part = gone / legs
        swept = ((way[0] * part, way[1] * part), None) if angle is None else (way, angle * part)
        lines = around.tile(pose, pose.y, False, top=near.top).lines
        lines = around.having(lines, pose, self._others)
        share, k, how = sweep.limit_motion(around.shape, lines, pose.at, *swept)
        if how != sweep.FREE:
            gone = 0 if how == sweep.INSIDE else int(share * gone)
        there = _gone(pose, way, angle, gone / legs)
        if angle is None and how in (sweep.MET, sweep.TOUCHED) and lines.owners[k] != EDGE:
            share = share * part if how == sweep.MET else 0.0
            stop = _gone(pose, way, angle, share)
            # Without a lift there it meets the same lines.
            if around.lift(there) == (pose.y, False) and near.under(stop.x, stop.z) == pose.y:
                self.pose, self._even = stop, True
                return 0, share, self._contact(lines, k, stop, way, angle)
        if gone:
            self.pose, self._even = there, True
        return gone, 0.0, None

    def _leg(
        self, way: tuple[float, float], angle: float | None, under: ObstacleTile, *, level: bool
    ) -> tuple[float, _Contact | None]:
        """Move straight by ``way``, or around it; return the share done and any contact.

        Args:
            way: displacement (x, z), or the pivot.
            angle: radians; None for a straight motion.
            under: the tile around, for a body that is not lifted.
            level: whether there is only one floor all around.
        """
        around, pose, near = self._around, self.pose, under
        end = _gone(pose, way, angle, 1.0)
        floor, sure = near.under(end.x, end.z), True
        if not level and floor is not None:
            end = BodyPose(end.x, end.z, end.heading, floor)
            lifts = around.lift(pose), around.lift(end)
            band = BodyPose(pose.x, pose.z, pose.heading, min(pose.y, floor))
            low, on_stairs = min(lifts[0][0], lifts[1][0]), lifts[0][1] and lifts[1][1]
            near = around.tile(band, low, on_stairs, max(pose.y, floor))
            sure = lifts[1][0] <= low
        self._even = level
        lines = around.having(near.lines, pose, self._others)
        share, k, how = sweep.limit_motion(around.shape, lines, pose.at, way, angle)
        if how == sweep.FREE and floor is not None:
            return self._ended(end, 1.0, None, sure=sure)
        if how == sweep.INSIDE:
            self._even = False
            return 0.0, self._contact(lines, k, pose, way, angle)
        if how == sweep.TOUCHED:
            if angle is None or abs(angle) * share < _STILL:
                return 0.0, self._contact(lines, k, pose, way, angle)
            # It separates first: the rest of the turn is checked from where it is apart.
            away = rotate_pose(pose, way, angle * share / 2)
            gone, contact = self._ended(away, share / 2, None, sure=level)
            if contact is None:
                under = around.tile(self.pose, self.pose.y, False)
                rest, contact = self._leg(way, angle * (1 - gone), under, level=level)
                gone += (1 - gone) * rest
            return gone, contact
        for part in range(_PARTS, -1, -1):
            stop = _gone(pose, way, angle, share * part / _PARTS)
            floor = under.under(stop.x, stop.z)
            if floor is not None or part == 0:
                break
        stop = BodyPose(stop.x, stop.z, stop.heading, pose.y if level or floor is None else floor)
        contact = _Contact(EDGE, 0.0, 0.0, (end.x, pose.y, end.z))
        if part == _PARTS:
            contact = self._contact(lines, k, stop, way, angle)
        return self._ended(stop, share * part / _PARTS, contact, sure=level)

    def _ended(
        self, pose: BodyPose, share: float, contact: _Contact | None, *, sure: bool
    ) -> tuple[float, _Contact | None]:
        """End a leg at a pose, or at its start if that overlaps; return its share and contact.

        Args:
            pose: pose at which it would end.
            share: share of the leg up to there.
            contact: contact that ended it.
            sure: whether the leg was swept against all obstacles that count at its end.
        """
        if not sure:
            lines = self._around.met(pose, self._others)
            still = (0.0, 0.0)
            _, k, how = sweep.limit_motion(self._around.shape, lines, pose.at, still, None)
            if how == sweep.INSIDE:
                return 0.0, contact or self._contact(lines, k, self.pose, still, None)
        self.pose = pose
        return share, contact

    def _contact(
        self, lines: ObstacleLines, k: int, pose: BodyPose, way: Point2, angle: float | None
    ) -> _Contact:
        way = way if angle is None else (0.0, 0.0)
        nx, nz, px, pz = sweep.touch_point(self._around.shape, lines.ends[k], pose.at, way)
        owner = int(lines.owners[k])
        if owner == STEP and not self._around.is_riser(lines, (px, pose.y, pz), (nx, nz)):
            owner = WALL
        return _Contact(owner, nx, nz, (px, pose.y, pz))

    def finish_arc(self, far: float, angle: float) -> None:
        """Carry out the rest of a blocked arc in small turns and straight moves by turns."""
        rest = self.stopped
        n = min(16, max(1, math.ceil(abs(far * rest) / 0.05), math.ceil(abs(angle * rest) / 0.1)))
        for _ in range(n):
            self.round(0.0, angle * rest / n)
            _, _, ux, uz = self.pose.at
            step = far * rest / n
            self.straight(ux * step, uz * step, slide=True)

    def face(self, x: float, z: float) -> None:
        """Turn to face a position, as far as possible."""
        for _ in range(3):
            heading = math.atan2(x - self.pose.x, self.pose.z - z)
            angle = turn_between(self.pose.heading, heading)
            if abs(angle) < 1e-9:
                return
            self.round(self._around.aside(angle), angle)
            if self.stopped or not self._around.body.turning_radius:
                return


def _gone(pose: BodyPose, way: tuple[float, float], angle: float | None, share: float) -> BodyPose:
    """Return the pose after a share of a short motion."""
    if angle is None:
        return BodyPose(pose.x + way[0] * share, pose.z + way[1] * share, pose.heading, pose.y)
    return rotate_pose(pose, way, angle * share)


_TRIES = 4
"""Times that a body turns to face the same point."""
_NEARER, _AT = 0.01, 0.1
"""Metres of progress needed each time, and metres within which a point counts as reached."""
_STEPPED = 0.3
"""Height error in metres allowed at the end of a straight passage."""


def mover_of(scene: Scene, body: Embodiment, gone: frozenset[int] = frozenset()) -> Mover:
    """Return the mover of a body in a scene; made once per scene, body and ignored owners.

    Args:
        scene: a scene with geometry.
        body: the body.
        gone: owners (:mod:`navloom_worlds.geometry.semantic_ids`) that are ignored as obstacles.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    key = f"mover {body.model_dump_json()} {sorted(gone)}"
    return scene_cached(scene, key, lambda: Mover(scene, body, gone))


class Mover:
    """Exact motion of one body through one scene.

    Args:
        scene: a scene with geometry.
        body: the body.
        gone: owners that are ignored as obstacles.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """

    def __init__(self, scene: Scene, body: Embodiment, gone: frozenset[int] = frozenset()) -> None:
        self.scene, self.body = scene, body
        self._around = CollisionWorld(scene, body, gone)
        self._lines: dict[tuple[float, tuple[float, float, float, float]], F64] = {}

    @property
    def shape(self) -> Footprint:
        """Footprint of the body."""
        return self._around.shape

    def lines(self, y: float, box: tuple[float, float, float, float]) -> F64:
        """Return (n, 4) lines (x0, z0, x1, z1) that the body may not cross on level floor at y.

        They are simplified (:func:`navloom_worlds.motion.planar_obstacles.simplify_lines`).

        Args:
            y: height of the floor, metres.
            box: x0, z0, x1, z1 of the search area.
        """
        if (y, box) not in self._lines:
            if len(self._lines) >= _MOST_LINES:
                self._lines.clear()
            found = self._around.lines(y, box)
            things = found.owners > 0
            some = found.ends[~things], simplify_lines(found.ends[things])
            self._lines[y, box] = np.concatenate(some)
        return self._lines[y, box]

    def fits(self, stand: FloorPose, others: Others = NOBODY) -> bool:
        """Check whether the body overlaps nothing at a stand and has floor under it."""
        return self._around.fits(stand, others)

    def clearance(self, position: Point3) -> float:
        """Return metres to the nearest obstacle at the body's height, at most 10."""
        return self._around.clearance(position)

    def settled(
        self, stand: FloorPose, others: Others = NOBODY, reach: float = 1.0
    ) -> FloorPose | None:
        """Return the nearest pose, heading kept, where the body fits; None if out of ``reach``."""
        return self._around.settled(stand, others, reach)

    def forward(
        self, stand: FloorPose, metres: float, *, slide: bool = True, others: Others = NOBODY
    ) -> MotionResult:
        """Drive straight, backwards if ``metres`` is negative; return the motion's result.

        Raises:
            SceneError: the body overlaps an obstacle, or ``metres`` is not finite.
        """
        check_finite(metres=metres)
        pose = self._around.started(stand, others)
        walk = SlidingMotion(self._around, pose, others)
        _, _, ux, uz = pose.at
        walk.straight(ux * metres, uz * metres, slide=slide)
        return walk.moved(pose.x + ux * metres, pose.z + uz * metres)

    def shift(
        self,
        stand: FloorPose,
        dx: float,
        dz: float,
        *,
        slide: bool = False,
        others: Others = NOBODY,
    ) -> MotionResult:
        """Translate along the floor without turning, as a slide does; return the result.

        Raises:
            SceneError: the body overlaps an obstacle, or a value is not finite.
        """
        check_finite(dx=dx, dz=dz)
        pose = self._around.started(stand, others)
        walk = SlidingMotion(self._around, pose, others)
        walk.straight(dx, dz, slide=slide)
        return walk.moved(pose.x + dx, pose.z + dz)

    def turn(self, stand: FloorPose, radians: float, *, others: Others = NOBODY) -> MotionResult:
        """Turn on the spot, or on an arc of ``turning_radius``; return the motion's result.

        Raises:
            SceneError: the body overlaps an obstacle, or ``radians`` is not finite.
        """
        check_finite(radians=radians)
        pose = self._around.started(stand, others)
        walk = SlidingMotion(self._around, pose, others)
        end = walk.round(self._around.aside(radians), radians)
        return walk.moved(end.x, end.z)

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
        """Drive along an arc at a speed and a turn rate; return the motion's result.

        Args:
            stand: its stand at the start.
            forward: metres per second; negative is backwards.
            turn: radians per second, clockwise seen from above.
            seconds: duration.
            slide: whether it slides along obstacles.
            others: other bodies as obstacles.

        Raises:
            SceneError: the body overlaps an obstacle, or a value is not finite.
        """
        check_finite(forward=forward, turn=turn, seconds=seconds)
        if seconds < 0:
            raise SceneError(f"seconds: expected 0 or more, found {seconds:g}.")
        angle, metres = turn * seconds, forward * seconds
        if abs(angle) < 1e-9:
            return self.forward(stand, metres, slide=slide, others=others)
        pose = self._around.started(stand, others)
        walk = SlidingMotion(self._around, pose, others)
        end = walk.round(metres / angle, angle, on=slide)
        if slide and walk.stopped:
            walk.finish_arc(metres, angle)
        return walk.moved(end.x, end.z)

    def follow(
        self,
        stand: FloorPose,
        points: Sequence[Point3],
        *,
        slide: bool = True,
        others: Others = NOBODY,
    ) -> MotionResult:
        """Drive to each point of a path, turning first unless a disc; return the result.

        It stops if it misses a point by more than 0.1 m.
        """
        pose = self._around.started(stand, others)
        walk = SlidingMotion(self._around, pose, others)
        for x, _, z in points:
            check_finite(x=x, z=z)
            # A body that slid along an obstacle is short of the point and turns to it again.
            for _ in range(_TRIES if slide else 1):
                far = walk.off(x, z)
                if far < 1e-6:
                    break
                walk.face(x, z)
                _, _, ux, uz = walk.pose.at
                if footprint_of(self.body).round:
                    walk.straight(x - walk.pose.x, z - walk.pose.z, slide=slide)
                else:
                    walk.straight(ux * far, uz * far, slide=slide)
                if far - walk.off(x, z) < _NEARER:
                    break
            if walk.off(x, z) > _AT:
                break
        last = points[-1] if points else stand.position
        return walk.moved(last[0], last[2])

    def passes(self, a: Point3, b: Point3) -> bool:
        """Check whether the body drives straight from a to b, facing along, without contact."""
        dx, dz = b[0] - a[0], b[2] - a[2]
        far = math.hypot(dx, dz)
        stand = FloorPose(a, math.atan2(dx, -dz) if far > 0 else 0.0)
        if not self.fits(stand):
            return False
        moved = self.forward(stand, far, slide=False)
        x, y, z = moved.stand.position
        arrived = math.hypot(b[0] - x, b[2] - z) < 1e-6 and abs(b[1] - y) <= _STEPPED
        return arrived and not moved.bumps
