"""Which way one point lies from another, in the frame of all scenes."""

from __future__ import annotations

import math

from navloom.scenes.scene import Point3
from navloom.sim.protocol import wrapped

__all__ = ["SECTOR_RAD", "STEEP_RAD", "elevation_to", "heading_to", "sector_of", "up_or_down"]

SECTOR_RAD = math.radians(45)
STEEP_RAD = math.radians(12)
"""From here on a way goes up or down. Of the 10,274 ways of 25 Matterport scans 93 % rise or fall
by less than 10 degrees and 6 % by more than 12: hardly anything lies between a floor that is not
quite level and stairs."""
_SAME = 1e-9


def heading_to(start: Point3, end: Point3) -> float:
    """The heading from one point to another in radians in [0, 2 pi); 0 straight up or down.

    >>> round(math.degrees(heading_to((0, 0, 0), (1, 0, 0))))
    90
    """
    dx, dz = end[0] - start[0], end[2] - start[2]
    if abs(dx) < _SAME and abs(dz) < _SAME:
        return 0.0
    return wrapped(math.atan2(dx, -dz))


def elevation_to(start: Point3, end: Point3) -> float:
    """The elevation from one point to another in radians in [-pi/2, pi/2], positive upwards."""
    return math.atan2(end[1] - start[1], math.hypot(end[0] - start[0], end[2] - start[2]))


def sector_of(heading: float) -> int:
    """Which of eight sectors a heading (radians) lies in; the k-th is centred on k x 45 degrees."""
    return math.floor((wrapped(heading) + SECTOR_RAD / 2) / SECTOR_RAD) % 8


def up_or_down(elevation: float) -> str:
    """``"up"``, ``"down"``, or ``""`` for a way that is about level.

    Args:
        elevation: of the way, in radians.
    """
    if abs(elevation) < STEEP_RAD:
        return ""
    return "up" if elevation > 0 else "down"
