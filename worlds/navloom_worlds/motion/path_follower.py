"""Path follower: steps a body along a path at its own speed, so several bodies can move at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from navloom.scenes.bodies import NOBODY, BodyContact, Embodiment, FloorPose, Others
from navloom.scenes.distances import heading_to, turn_between
from navloom.scenes.scene import Point3
from navloom_worlds.motion.collision_motion import Mover

REACHED_M = 0.02
_AIMED = 1e-4
_STUCK_SECONDS = 1.5
"""Seconds without progress after which the body counts as stuck."""
_NEARER_M = 0.02
_ONE_S = 1.0
LONGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class MotionSnapshot:
    """Poses and contacts of bodies at one moment.

    Attributes:
        second: seconds since the start.
        bodies: body and stand, by name.
        bumps: contacts since the previous moment, each with the body's name.
    """

    second: float
    bodies: Mapping[str, tuple[Embodiment, FloorPose]]
    bumps: tuple[tuple[str, BodyContact], ...] = ()


class PathFollower:
    """One body on its way along a path, moved in small time steps.

    Args:
        mover: motion of the body.
        stand: its pose at the start.
        points: the path, on the floor.
        speed: factor on the body's own speeds.

    Attributes:
        stand: its current pose.
        metres: the distance driven.
        speed: factor on the body's own speeds.
        bumps: contacts in order; a repeated contact within a second is merged into the first.
    """

    def __init__(
        self, mover: Mover, stand: FloorPose, points: Sequence[Point3], speed: float = 1.0
    ) -> None:
        self.mover, self.stand, self.metres = mover, stand, 0.0
        self.bumps: list[BodyContact] = []
        self.speed, self._clock = speed, 0.0
        self._touched: dict[str, tuple[int, float]] = {}
        self.set_path(points)

    def set_path(self, points: Sequence[Point3], stands: Sequence[FloorPose] = ()) -> None:
        """Set another path; it is driven forwards, :meth:`back` drives backwards.

        Args:
            points: the path.
            stands: stands to reach before that, each straight ahead or back of the one before or
                turned on the spot, as in a route.
        """
        self._points, self._stands = list(points), list(stands)
        self._waited, self._nearest = 0.0, math.inf

    @property
    def arrived(self) -> bool:
        """Return whether the body is at the end of its path."""
        return not self._points and not self._stands

    @property
    def stuck(self) -> bool:
        """Return whether the body has come no nearer to its path's next point for a while."""
        return self._waited >= _STUCK_SECONDS

    def go_on(self, seconds: float, others: Others = NOBODY) -> tuple[BodyContact, ...]:
        """Turn to the next point and drive there, for some time.

        Returns:
            The contacts.

        Raises:
            SceneError: the body overlaps an obstacle.
        """
        found: list[BodyContact] = []
        left = seconds
        self._clock += seconds
        while left > 1e-9 and self._stands:
            left -= self._traced(self._stands[0], left, others, found)
        while left > 1e-9 and self._points:
            point = self._points[0]
            far = _metres(self.stand, point)
            if far <= REACHED_M:
                self._points.pop(0)
                self._waited, self._nearest = 0.0, math.inf
                continue
            spent = self._turned(point, left, others, found)
            if spent is None:
                spent = self._gone(far, left, others, found)
            left -= spent
        self._wait(seconds)
        return self._kept(found)

    def _traced(
        self, goal: FloorPose, left: float, others: Others, found: list[BodyContact]
    ) -> float:
        """Drive straight to a pose, or turn on the spot; return the seconds spent."""
        body, far = self.mover.body, _metres(self.stand, goal.position)
        turn = turn_between(self.stand.heading, goal.heading)
        if far <= _AIMED and abs(turn) <= _AIMED:
            self._stands.pop(0)
            self._waited, self._nearest = 0.0, math.inf
            return 0.0
        if far <= _AIMED:
            rate = body.turn_speed * self.speed
            part = max(-rate * left, min(rate * left, turn))
            moved, spent = self.mover.turn(self.stand, part, others=others), abs(part) / rate
        else:
            speed = body.speed * self.speed
            metres = min(far, speed * left)
            share = metres / far
            dx, dz = ((goal.position[k] - self.stand.position[k]) * share for k in (0, 2))
            moved = self.mover.shift(self.stand, dx, dz, slide=True, others=others)
            spent = metres / speed
        stuck = moved.stand == self.stand
        self.stand, self.metres = moved.stand, self.metres + moved.metres
        found += moved.bumps
        return left if stuck or moved.bumps else spent

    def back(self, far: float, seconds: float, others: Others = NOBODY) -> tuple[BodyContact, ...]:
        """Drive straight back, by at most ``far`` metres or the time; return the contacts."""
        self._clock += seconds
        most = min(far, self.mover.body.speed * self.speed * seconds)
        moved = self.mover.forward(self.stand, -most, others=others)
        self.stand, self.metres = moved.stand, self.metres + moved.metres
        return self._kept(list(moved.bumps))

    def _turned(
        self, point: Point3, left: float, others: Others, found: list[BodyContact]
    ) -> float | None:
        """Turn towards a point and return the seconds spent; None if the body faces it."""
        turn = turn_between(self.stand.heading, heading_to(self.stand.position, point))
        if abs(turn) <= _AIMED:
            return None
        rate = self.mover.body.turn_speed * self.speed
        part = max(-rate * left, min(rate * left, turn))
        moved = self.mover.turn(self.stand, part, others=others)
        stuck = moved.stand == self.stand
        self.stand, self.metres = moved.stand, self.metres + moved.metres
        found += moved.bumps
        return left if stuck else abs(part) / rate

    def _gone(self, far: float, left: float, others: Others, found: list[BodyContact]) -> float:
        speed = self.mover.body.speed * self.speed
        metres = min(far, speed * left)
        moved = self.mover.forward(self.stand, metres, others=others)
        self.stand, self.metres = moved.stand, self.metres + moved.metres
        found += moved.bumps
        return left if moved.bumps else metres / speed

    def _wait(self, seconds: float) -> None:
        if self.arrived:
            return
        point = self._stands[0].position if self._stands else self._points[0]
        turn = turn_between(self.stand.heading, heading_to(self.stand.position, point))
        # Turning towards the next point counts as progress, too.
        far = _metres(self.stand, point) + abs(turn) * 0.1
        self._waited += seconds
        if far < self._nearest - _NEARER_M:
            self._nearest, self._waited = far, 0.0

    def _kept(self, found: list[BodyContact]) -> tuple[BodyContact, ...]:
        for bump in found:
            number, last = self._touched.get(bump.what, (-1, -math.inf))
            if self._clock - last <= _ONE_S:
                before = self.bumps[number]
                taken = before.displacement + bump.displacement
                self.bumps[number] = BodyContact(bump.what, taken, before.point)
            else:
                number = len(self.bumps)
                self.bumps.append(bump)
            self._touched[bump.what] = number, self._clock
        return tuple(found)


def follow_alone(name: str, ride: PathFollower, rate: int) -> Iterator[MotionSnapshot]:
    """Yield snapshots of a single body at ``rate`` per second until it arrives or is stuck."""
    body, count = ride.mover.body, 0
    bumps: tuple[BodyContact, ...] = ()
    while True:
        told = tuple((name, bump) for bump in bumps)
        yield MotionSnapshot(count / rate, {name: (body, ride.stand)}, told)
        if ride.arrived or ride.stuck or count >= rate * LONGEST_SECONDS:
            return
        bumps = ride.go_on(1 / rate)
        count += 1


def _metres(stand: FloorPose, point: Point3) -> float:
    return math.hypot(point[0] - stand.position[0], point[2] - stand.position[2])
