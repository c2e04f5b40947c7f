"""A body that follows a line at its own speeds, a moment at a time, so that others may move too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from navloom.scenes.bodies import NOBODY, Bump, Embodiment, Others, Stand
from navloom.scenes.distances import heading_to, turn_between
from navloom.scenes.scene import Point3
from navloom_worlds.motion.mover import Mover

REACHED_M = 0.02
_AIMED = 1e-4
_STUCK_SECONDS = 1.5
"""After so long without coming nearer it has given up."""
_NEARER_M = 0.02
_ONE_S = 1.0
LONGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Instant:
    """Where bodies are at one moment.

    Attributes:
        second: since the beginning.
        bodies: who stands where, by name.
        bumps: who touched what since the moment before.
    """

    second: float
    bodies: Mapping[str, tuple[Embodiment, Stand]]
    bumps: tuple[tuple[str, Bump], ...] = ()


class Ride:
    """One body on its way along a line.

    Args:
        mover: what moves it.
        stand: where it is.
        points: where to, one after another, on the floor.
        speed: the part of its own speeds that it is to go at.

    Attributes:
        stand: where it is now.
        metres: how far it went.
        speed: the part of its own speeds that it goes at.
        bumps: what it touched, in order; a thing touched again within a second is told once.
    """

    def __init__(
        self, mover: Mover, stand: Stand, points: Sequence[Point3], speed: float = 1.0
    ) -> None:
        self.mover, self.stand, self.metres = mover, stand, 0.0
        self.bumps: list[Bump] = []
        self.speed, self._clock = speed, 0.0
        self._touched: dict[str, tuple[int, float]] = {}
        self.lead(points)

    def lead(self, points: Sequence[Point3], stands: Sequence[Stand] = ()) -> None:
        """Give it another line; backwards it goes by :meth:`back`.

        Args:
            points: where to, one after another.
            stands: where it is to stand before that, each straight ahead or back of the one before
                or turned on the spot, as routes have them.
        """
        self._points, self._stands = list(points), list(stands)
        self._waited, self._nearest = 0.0, math.inf

    @property
    def arrived(self) -> bool:
        """Whether it is at the end of its line."""
        return not self._points and not self._stands

    @property
    def stuck(self) -> bool:
        """Whether it has come no nearer to its next point for a while."""
        return self._waited >= _STUCK_SECONDS

    def go_on(self, seconds: float, others: Others = NOBODY) -> tuple[Bump, ...]:
        """Turn to the next point and go there, for some time.

        Returns:
            What it touched.

        Raises:
            SceneError: it stands inside something.
        """
        found: list[Bump] = []
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

    def _traced(self, goal: Stand, left: float, others: Others, found: list[Bump]) -> float:
        """Go straight to a stand, or turn on the spot as it does, for the time that it takes."""
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

    def back(self, metres: float, seconds: float, others: Others = NOBODY) -> tuple[Bump, ...]:
        """Go straight back, so far at most as it comes in the time."""
        self._clock += seconds
        most = min(metres, self.mover.body.speed * self.speed * seconds)
        moved = self.mover.forward(self.stand, -most, others=others)
        self.stand, self.metres = moved.stand, self.metres + moved.metres
        return self._kept(list(moved.bumps))

    def _turned(
        self, point: Point3, left: float, others: Others, found: list[Bump]
    ) -> float | None:
        """Turn towards a point for the time that it takes; None where it faces it."""
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

    def _gone(self, far: float, left: float, others: Others, found: list[Bump]) -> float:
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
        # Who turns towards its goal comes nearer, too.
        far = _metres(self.stand, point) + abs(turn) * 0.1
        self._waited += seconds
        if far < self._nearest - _NEARER_M:
            self._nearest, self._waited = far, 0.0

    def _kept(self, found: list[Bump]) -> tuple[Bump, ...]:
        for bump in found:
            number, last = self._touched.get(bump.what, (-1, -math.inf))
            if self._clock - last <= _ONE_S:
                before = self.bumps[number]
                taken = before.displacement + bump.displacement
                self.bumps[number] = Bump(bump.what, taken, before.point)
            else:
                number = len(self.bumps)
                self.bumps.append(bump)
            self._touched[bump.what] = number, self._clock
        return tuple(found)


def ridden(name: str, ride: Ride, rate: int) -> Iterator[Instant]:
    """A body alone on its way until it is there or stuck, as often a second as ``rate`` says."""
    body, count = ride.mover.body, 0
    bumps: tuple[Bump, ...] = ()
    while True:
        told = tuple((name, bump) for bump in bumps)
        yield Instant(count / rate, {name: (body, ride.stand)}, told)
        if ride.arrived or ride.stuck or count >= rate * LONGEST_SECONDS:
            return
        bumps = ride.go_on(1 / rate)
        count += 1


def _metres(stand: Stand, point: Point3) -> float:
    return math.hypot(point[0] - stand.position[0], point[2] - stand.position[2])
