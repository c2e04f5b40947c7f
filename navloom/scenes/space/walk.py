"""One motion of a body: how far it comes, what it meets, and how it slides along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from navloom.scenes.distances import turn_between
from navloom.scenes.parts import Point3
from navloom.scenes.space import sweep
from navloom.scenes.space.met import EDGE, OVERLAP, PIECE, Surroundings
from navloom.scenes.space.obstacles import Lines
from navloom.scenes.space.stands import Bump, Moved, Others, Pose, swung

SKIN = 0.0005
"""Metres that a body keeps from what it meets."""
_TIGHT = 1e-9
_CHUNK = 0.04
"""Metres that it goes at once where floors of several heights are near."""
_SLIDES = 5


@dataclass(frozen=True, slots=True)
class Contact:
    """What was met: whose it is, the direction away from it, and where."""

    owner: int
    nx: float
    nz: float
    point: Point3


class Walk:
    """One action: where the body is, what it met, and the way it came."""

    def __init__(self, around: Surroundings, pose: Pose, others: Others) -> None:
        self._around, self._others = around, others
        self.pose = self._free = pose
        self._metres = 0.0
        self._bumps: list[Bump] = []
        self._path = [pose.stand]
        self.stopped = 0.0

    def off(self, x: float, z: float) -> float:
        """Metres from where it is to a place."""
        return math.hypot(x - self.pose.x, z - self.pose.z)

    def moved(self, x: float, z: float) -> Moved:
        """What came of it, where (x, z) is where it would have ended freely."""
        stand = self.pose.stand
        return Moved(stand, self._metres, self.off(x, z), tuple(self._bumps), tuple(self._path))

    def _bumped(self, contact: Contact, displacement: float) -> None:
        what = self._around.name(contact.owner, self._others)
        if self._bumps and self._bumps[-1].what == what:
            displacement += self._bumps.pop().displacement
        self._bumps.append(Bump(what, displacement, contact.point))

    def straight(self, dx: float, dz: float, *, slide: bool) -> None:
        """Go so far, or to what is met, and on along it."""
        before: tuple[float, float] | None = None
        wanted = (dx, dz)
        for _ in range(_SLIDES):
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
            if before is not None and ax * before[0] + az * before[1] < -1e-12:
                stuck = True
            self._bumped(contact, left if stuck else left - math.hypot(ax, az))
            if stuck:
                return
            before, dx, dz = (contact.nx, contact.nz), ax, az
        if math.hypot(dx, dz) > 0 and self._bumps:
            last = self._bumps.pop()
            self._bumps.append(Bump(last.what, last.displacement + math.hypot(dx, dz), last.point))

    def _glide(self, dx: float, dz: float) -> tuple[float, Contact | None]:
        """Straight on until something is met: the share of it that was gone, and what."""
        far = math.hypot(dx, dz)
        done, pieces = 0.0, max(1, math.ceil(far / PIECE - 1e-9))
        for _ in range(pieces):
            whole = 1.0 / pieces
            level = self._around.tile(self.pose, self.pose.y, False).level
            chunks = 1 if level else max(1, math.ceil(far * whole / _CHUNK - 1e-9))
            for _ in range(chunks):
                part = whole / chunks
                share, contact = self._leg((dx * part, dz * part), None)
                done += part * share
                self._metres += far * part * share
                if contact is not None:
                    return done, contact
        return 1.0, None

    def round(self, radius: float, angle: float, *, signed: bool = False) -> Pose:
        """Turn about a point beside it; how far it would have come without anything in the way.

        Args:
            radius: from it to the point; to its right where it turns clockwise, unless signed.
            angle: radians.
            signed: a positive radius is to the right.
        """
        pose = self.pose
        side = radius if signed or angle >= 0 else -radius
        rx, rz = math.cos(pose.heading), math.sin(pose.heading)
        pivot = pose.x + rx * side, pose.z + rz * side
        end = swung(pose, pivot, angle)
        shape = self._around.shape
        self.stopped = 0.0
        if shape.round and abs(side) < 1e-9:
            self.pose = end
            self._path.append(end.stand)
            return end
        reach = abs(side) + (0.0 if shape.round else shape.outer)
        pieces = max(1, math.ceil(abs(angle) / 2), math.ceil(abs(angle * side) / PIECE - 1e-9))
        for number in range(pieces):
            level = self._around.tile(self.pose, self.pose.y, False).level
            arc = abs(angle) / pieces * reach
            chunks = 1 if level else max(1, math.ceil(arc / _CHUNK - 1e-9))
            for chunk in range(chunks):
                part = angle / pieces / chunks
                share, contact = self._leg(pivot, part)
                self._metres += abs(part * side) * share
                if contact is not None:
                    gone = (number + (chunk + share) / chunks) / pieces
                    self.stopped = 1 - gone
                    away = math.hypot(contact.point[0] - pivot[0], contact.point[2] - pivot[1])
                    self._bumped(contact, abs(angle) * self.stopped * max(away, abs(side)))
                    self._path.append(self.pose.stand)
                    return end
        self._path.append(self.pose.stand)
        return end

    def _leg(self, way: tuple[float, float], angle: float | None) -> tuple[float, Contact | None]:
        """A short motion: straight by ``way``, or by an angle about the point ``way``."""
        around, pose = self._around, self.pose
        near = around.tile(pose, pose.y, False)
        end = Pose(pose.x + way[0], pose.z + way[1], pose.heading, pose.y)
        if angle is not None:
            end = swung(pose, way, angle)
        if not near.level:
            floor = around.floors.floor(end.x, end.z, pose.y, around.stair)
            if floor is None:
                return 0.0, Contact(EDGE, 0.0, 0.0, (end.x, pose.y, end.z))
            end = Pose(end.x, end.z, end.heading, floor)
            lifts = around.lift(pose), around.lift(end)
            low = min(lifts[0][0], lifts[1][0])
            stairs = lifts[0][1] and lifts[1][1]
            band = Pose(pose.x, pose.z, pose.heading, min(pose.y, floor))
            near = around.tile(band, low, stairs)
        lines = around.having(near, pose, self._others).lines
        if not len(lines.owners):
            self.pose = end
            return 1.0, None
        gaps = sweep.gaps(around.shape, lines.ends, *pose.at)
        k = int(np.argmin(gaps))
        if gaps[k] < -OVERLAP:
            return 0.0, self._contact(lines, k, pose)
        room = np.minimum(gaps, SKIN) - _TIGHT
        if angle is None:
            share, k = sweep.straight(around.shape, lines.ends, room, pose.at, way)
        else:
            share, k = sweep.round_about(around.shape, lines.ends, room, pose.at, way, angle)
        if k < 0:
            self.pose = end
            return 1.0, None
        if angle is None:
            x, z = pose.x + way[0] * share, pose.z + way[1] * share
            stop = Pose(x, z, pose.heading, pose.y)
        else:
            stop = swung(pose, way, angle * share)
        floor = around.floors.floor(stop.x, stop.z, pose.y, around.stair)
        if not near.level and floor is not None:
            stop = Pose(stop.x, stop.z, stop.heading, floor)
        self.pose = stop
        return share, self._contact(lines, k, stop)

    def _contact(self, lines: Lines, k: int, pose: Pose) -> Contact:
        nx, nz, px, pz = sweep.touch(self._around.shape, lines.ends[k], pose.at)
        return Contact(int(lines.owners[k]), nx, nz, (px, pose.y, pz))

    def struggle(self, metres: float, angle: float) -> None:
        """The rest of an arc on which something was met: a little of each motion by turns."""
        rest = self.stopped
        count = min(
            16, max(1, math.ceil(abs(metres * rest) / 0.05), math.ceil(abs(angle * rest) / 0.1))
        )
        for _ in range(count):
            self.round(0.0, angle * rest / count)
            _, _, ux, uz = self.pose.at
            step = metres * rest / count
            self.straight(ux * step, uz * step, slide=True)

    def face(self, x: float, z: float) -> None:
        """Turn to a place, as far as it can."""
        for _ in range(3):
            heading = math.atan2(x - self.pose.x, self.pose.z - z)
            angle = turn_between(self.pose.heading, heading)
            if abs(angle) < 1e-9:
                return
            self.round(self._around.body.turning_radius or 0.0, angle)
            if self.stopped or not self._around.body.turning_radius:
                return
