"""Where a body shall be next."""

from __future__ import annotations

import math
from dataclasses import dataclass

from navloom.scenes.distances import turn_between
from navloom.scenes.terrain import Moved, Stand
from navloom_worlds.motion.mover import Mover

_ARRIVED = 0.002
"""Metres that a drive may end off what was planned."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Where a body shall be next: straight ahead or back of where it is, or turned.

    Attributes:
        x: of its middle; z likewise.
        z: see x.
        heading: where it faces then; None for a disc, which need not turn.
    """

    x: float
    z: float
    heading: float

    def drive(self, mover: Mover, stand: Stand) -> Moved | None:
        """Go there from where it stands; None where it does not arrive."""
        x, y, z = stand.position
        far, round_ = math.hypot(self.x - x, self.z - z), _round(mover)
        if far < 1e-6:
            if round_:
                return mover.turn(stand, 0.0)
            moved = mover.turn(stand, turn_between(stand.heading, self.heading))
            x, _, z = moved.stand.position
            arrived = math.hypot(self.x - x, self.z - z) <= _ARRIVED
            return moved if arrived and not moved.bumps else None
        if round_:
            moved = mover.follow(stand, [(self.x, y, self.z)], slide=False)
        else:
            ahead = math.sin(stand.heading) * (self.x - x) - math.cos(stand.heading) * (self.z - z)
            moved = mover.forward(stand, math.copysign(far, ahead), slide=False)
        u, _, w = moved.stand.position
        arrived = math.hypot(self.x - u, self.z - w) <= _ARRIVED
        return moved if arrived and not moved.bumps else None


def _round(mover: Mover) -> bool:
    """Whether it may go aside: a disc that turns on an arc may not."""
    return mover.shape.round and not mover.body.turning_radius
