"""What one action does to one body: where it ends, what it touched, whether that ends its run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from navloom.scenes.scene import Point3, distance_2d
from navloom.scenes.terrain import Moved, Moves, Others, Stand
from navloom.sim.graph import STANDING_M
from navloom.sim.physics import PhysicsRules
from navloom.sim.protocol import Contact

_PIECE_M = 0.02
"""Where a contact ends the run it is looked for in pieces so long: it ends so near to where the
threshold was passed."""
_EXACT_M = 1e-3
_STOREY_M = 1.0
_TRIES = 4


class BodyMotion:
    """One action of one body, as it is carried out.

    Args:
        moves: how the body moves.
        stand: where it is.
        others: as below.
        rules: what a touch comes to.

    Attributes:
        others: who else is there.
        stand: where it is now.
        contacts: what it touched, one contact a thing: all that the thing took of its motion, and
            where it was touched first.
        collision: whether a contact came to the threshold where that has consequences; from then
            on it stays where it is.
    """

    def __init__(self, moves: Moves, stand: Stand, others: Others, rules: PhysicsRules) -> None:
        self.stand = stand
        self.contacts: dict[str, Contact] = {}
        self.collision = False
        self.others = others
        self._moves, self._rules = moves, rules

    def forward(self, metres: float) -> None:
        """Straight on; back where metres are negative."""

        def go(stand: Stand, part: float) -> Moved:
            return self._moves.forward(stand, metres * part, others=self.others)

        self._go(go, abs(metres))

    def turn(self, radians: float) -> None:
        """On the spot, or on the body's arc."""

        def go(stand: Stand, part: float) -> Moved:
            return self._moves.turn(stand, radians * part, others=self.others)

        self._go(go, abs(radians))

    def velocity(self, forward: float, turn: float, seconds: float) -> None:
        """Metres and radians a second."""

        def go(stand: Stand, part: float) -> Moved:
            return self._moves.drive(stand, forward, turn, seconds * part, others=self.others)

        self._go(go, max(abs(forward), abs(turn)) * seconds)

    def along(self, points: Sequence[Point3]) -> None:
        """From point to point, looking the way it goes."""
        if self.collision or not points:
            return
        whole = self._moves.follow(self.stand, points, others=self.others)
        if not self._ends(whole):
            self._take(whole)
            return
        for point in points:
            self._leg(point)

    def to(self, goal: Point3, way: Callable[[Point3], Sequence[Point3]]) -> bool:
        """To a point, by ways: one who was pushed off its way plans anew from where it is.

        Args:
            goal: on the floor.
            way: the points after a start; none where there is no way.

        Returns:
            Whether it is there, to 0.1 m.
        """
        for _ in range(_TRIES):
            before = self.stand.position
            self.along(way(before))
            gone = distance_2d(before, self.stand.position)
            if self.collision or self.at(goal) or gone <= STANDING_M:
                break
        return self.at(goal)

    def _leg(self, point: Point3) -> None:
        x, y, z = point
        start, _, begun = self.stand.position

        def go(stand: Stand, part: float) -> Moved:
            here, _, there = stand.position
            # Always the same way: whoever was displaced a little does not turn back for it.
            goal = (here + (x - start) * part, y, there + (z - begun) * part)
            return self._moves.follow(stand, [goal], others=self.others)

        self._go(go, math.hypot(x - start, z - begun))

    def put(self, goal: Stand | None, asked: Stand) -> None:
        """Put there at once; that the body does not fit where it was asked to is a contact.

        Args:
            goal: the free place nearest to that; None where there is none, and it stays.
            asked: where it was to be.
        """
        start = self.stand if goal is None else goal
        metres = distance_2d(start.position, asked.position)
        if goal is not None:
            self.stand = goal
        if metres <= _EXACT_M:
            return
        met = self._moves.follow(start, [asked.position], slide=False, others=self.others).bumps
        what, point = (met[0].what, met[0].point) if met else ("wall", asked.position)
        self.touched(Contact(what, metres, point))

    def at(self, goal: Point3) -> bool:
        """Whether it is where it was to go, to 0.1 m, and on its storey."""
        x, y, z = self.stand.position
        return math.hypot(goal[0] - x, goal[2] - z) <= STANDING_M and abs(goal[1] - y) <= _STOREY_M

    def touched(self, contact: Contact) -> None:
        """Count a contact, with those of the same thing."""
        before = self.contacts.get(contact.what)
        if before is not None:
            contact = replace(before, displacement=before.displacement + contact.displacement)
        self.contacts[contact.what] = contact
        if self._rules.strict and contact.displacement >= self._rules.threshold:
            self.collision = True

    def _go(self, go: Callable[[Stand, float], Moved], long: float) -> None:
        if self.collision:
            return
        whole = go(self.stand, 1.0)
        if not self._ends(whole):
            self._take(whole)
            return
        pieces = max(1, math.ceil(long / _PIECE_M))
        for _ in range(pieces):
            self._take(go(self.stand, 1 / pieces))
            if self.collision:
                return

    def _ends(self, moved: Moved) -> bool:
        """Whether a contact would come to the threshold."""
        if not self._rules.strict or not moved.bumps:
            return False
        metres: dict[str, float] = {}
        for bump in moved.bumps:
            before = self.contacts.get(bump.what)
            told = metres.get(bump.what, before.displacement if before else 0.0)
            metres[bump.what] = told + bump.displacement
        return max(metres.values()) >= self._rules.threshold

    def _take(self, moved: Moved) -> None:
        self.stand = moved.stand
        for bump in moved.bumps:
            self.touched(Contact(bump.what, bump.displacement, bump.point))
