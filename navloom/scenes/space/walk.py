"""One motion of a body: how far it comes, what it meets, and how it slides along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from navloom.scenes.distances import turn_between
from navloom.scenes.parts import Point3
from navloom.scenes.space import sweep
from navloom.scenes.space.met import EDGE, PIECE, Surroundings
from navloom.scenes.space.obstacles import Lines
from navloom.scenes.space.stands import Bump, Moved, Others, Pose, swung

_STILL = 1e-4
"""Radians: what it touches and meets within so small a turn, it meets at once."""
_CHUNK = 0.04
"""Metres that it goes at once where floors of several heights are near."""
_SLIDES = 5
_PARTS = 16
"""Of a short motion, that are tried where there is no floor at its end."""


@dataclass(frozen=True, slots=True)
class _Contact:
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
        self._bumps: dict[str, Bump] = {}
        self._path = [pose.stand]
        self._even = True
        self.stopped = 0.0

    def off(self, x: float, z: float) -> float:
        """Metres from where it is to a place."""
        return math.hypot(x - self.pose.x, z - self.pose.z)

    def moved(self, x: float, z: float) -> Moved:
        """What came of it, where (x, z) is where it would have ended freely."""
        stand = self.pose.stand
        self._around.ended = stand, self._even
        return Moved(
            stand, self._metres, self.off(x, z), tuple(self._bumps.values()), tuple(self._path)
        )

    def _bumped(self, contact: _Contact, displacement: float) -> None:
        what = self._around.name(contact.owner, self._others)
        known = self._bumps.get(what)
        point = contact.point
        if known is not None:
            displacement, point = displacement + known.displacement, known.point
        self._bumps[what] = Bump(what, displacement, point)

    def straight(self, dx: float, dz: float, *, slide: bool) -> None:
        """Go so far, or to what is met, and on along it."""
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
            # Between two things there is no way along either.
            if before is not None and ax * before.nx + az * before.nz < -1e-12:
                stuck = True
            if stuck or tries == _SLIDES - 1:
                self._bumped(contact, left)
                return
            self._bumped(contact, left - math.hypot(ax, az))
            before, dx, dz = contact, ax, az

    def _glide(self, dx: float, dz: float) -> tuple[float, _Contact | None]:
        """Straight on until something is met: the share of it that was gone, and what."""
        far = math.hypot(dx, dz)
        done, pieces = 0.0, max(1, math.ceil(far / PIECE - 1e-9))
        whole, around = 1.0 / pieces, self._around
        for _ in range(pieces):
            chunks = max(1, math.ceil(far * whole / _CHUNK - 1e-9))
            near = around.tile(self.pose, self.pose.y, False)
            flat = around.flat(near, self.pose, dx * whole, dz * whole, chunks)
            chunks = 1 if flat else chunks
            for _ in range(chunks):
                part = whole / chunks
                share, contact = self._leg((dx * part, dz * part), None, flat=flat)
                done += part * share
                self._metres += far * part * share
                if contact is not None:
                    return done, contact
        return 1.0, None

    def round(self, side: float, angle: float, *, on: bool = False) -> Pose:
        """Turn about a point beside it; where it would have come without anything in the way.

        Args:
            side: metres from it to the point, to its right.
            angle: radians.
            on: whether it tries what is left in another way.
        """
        pose = self.pose
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
            flat = self._around.even(self.pose, abs(side))
            arc = abs(angle) / pieces * reach
            chunks = 1 if flat else max(1, math.ceil(arc / _CHUNK - 1e-9))
            for chunk in range(chunks):
                part = angle / pieces / chunks
                share, contact = self._leg(pivot, part, flat=flat)
                self._metres += abs(part * side) * share
                if contact is not None:
                    gone = (number + (chunk + share) / chunks) / pieces
                    self.stopped = 1 - gone
                    away = math.hypot(contact.point[0] - pivot[0], contact.point[2] - pivot[1])
                    lost = 0.0 if on else abs(angle) * self.stopped * max(away, abs(side))
                    self._bumped(contact, lost)
                    self._path.append(self.pose.stand)
                    return end
        self._path.append(self.pose.stand)
        return end

    def _leg(
        self, way: tuple[float, float], angle: float | None, *, flat: bool
    ) -> tuple[float, _Contact | None]:
        """A short motion: straight by ``way``, or by an angle about the point ``way``.

        Args:
            way: see above.
            angle: radians; None where it goes straight.
            flat: whether nothing beneath its way is higher or lower.
        """
        around, pose = self._around, self.pose
        near = under = around.tile(pose, pose.y, False)
        end = _gone(pose, way, angle, 1.0)
        floor = near.under(end.x, end.z)
        if not flat and floor is not None:
            end = Pose(end.x, end.z, end.heading, floor)
            lifts = around.lift(pose), around.lift(end)
            band = Pose(pose.x, pose.z, pose.heading, min(pose.y, floor))
            low, on_stairs = min(lifts[0][0], lifts[1][0]), lifts[0][1] and lifts[1][1]
            near = around.tile(band, low, on_stairs, max(pose.y, floor))
        self._even = flat
        lines = around.having(near.lines, pose, self._others)
        share, k, how = sweep.meet(around.shape, lines, pose.at, way, angle)
        if how == sweep.FREE and floor is not None:
            self.pose = end
            return 1.0, None
        if how == sweep.INSIDE:
            self._even = False
            return 0.0, self._contact(lines, k, pose)
        if how == sweep.TOUCHED:
            if angle is None or abs(angle) * share < _STILL:
                return 0.0, self._contact(lines, k, pose)
            # It comes away first: what is left is asked from where it is away.
            self.pose = swung(pose, way, angle * share / 2)
            rest, contact = self._leg(way, angle * (1 - share / 2), flat=flat)
            return share / 2 + (1 - share / 2) * rest, contact
        for part in range(_PARTS, -1, -1):
            stop = _gone(pose, way, angle, share * part / _PARTS)
            floor = under.under(stop.x, stop.z)
            if floor is not None or part == 0:
                break
        y = pose.y if flat or floor is None else floor
        self.pose = stop = Pose(stop.x, stop.z, stop.heading, y)
        if part == _PARTS:
            return share, self._contact(lines, k, stop)
        return share * part / _PARTS, _Contact(EDGE, 0.0, 0.0, (end.x, pose.y, end.z))

    def _contact(self, lines: Lines, k: int, pose: Pose) -> _Contact:
        nx, nz, px, pz = sweep.touch(self._around.shape, lines.ends[k], pose.at)
        return _Contact(int(lines.owners[k]), nx, nz, (px, pose.y, pz))

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
            self.round(self._around.aside(angle), angle)
            if self.stopped or not self._around.body.turning_radius:
                return


def _gone(pose: Pose, way: tuple[float, float], angle: float | None, share: float) -> Pose:
    """Where a share of a short motion ends."""
    if angle is None:
        return Pose(pose.x + way[0] * share, pose.z + way[1] * share, pose.heading, pose.y)
    return swung(pose, way, angle * share)
