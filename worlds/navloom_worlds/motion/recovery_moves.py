"""Recovery of a stuck box-shaped body: short moves ahead, back and turning that get it past.

Paths over a field keep half the body's width from obstacles. Its corners need more where it turns.
So from where it stopped, or a little back along its path, lines of 2 cm spacing and 36 headings are
searched for moves that lead to the rest of its path. These moves are driven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import shapely
import shapely.ops

from navloom.scenes.bodies import FloorPose
from navloom.scenes.distances import turn_between
from navloom.scenes.scene import Point3
from navloom_worlds.motion.collision_motion import Mover
from navloom_worlds.motion.se2_lines import LineSpacing, SE2Lines

_APART, _GRAIN = 0.025, LineSpacing(0.02, 36)
_REACH = 1.5
"""Metres around the start that are searched."""
_BACK = (0.0, 0.5, 1.0)
"""Metres back along the path from which a search starts."""
_ON = 0.9
"""Metres ahead along the path from which the body counts as past the obstacle."""
_NEAR, _SKIN = 0.15, 0.001


def recovery_path(
    mover: Mover, path: Sequence[FloorPose], way: Sequence[Point3]
) -> list[FloorPose]:
    """Return the poses of a body that gets past the obstacle at which it stopped.

    Args:
        mover: motion of the body.
        path: poses of the body so far, the last where it stopped.
        way: path from there to the goal, on the floor.

    Returns:
        Poses from a pose of the path on; empty if no path was found, or the body is a disc.
    """
    if mover.shape.round or len(way) < 2:
        return []
    ahead = shapely.LineString([(x, z) for x, _, z in way])
    if ahead.length < _APART:
        return []
    on = shapely.ops.substring(ahead, min(_ON, 0.9 * ahead.length), _REACH * 2)
    for start in _starts(path):
        if mover.fits(start) and (found := _from(mover, start, on)):
            return found
    return []


def _starts(path: Sequence[FloorPose]) -> Iterator[FloorPose]:
    """Yield where the body stopped, and earlier positions on its path."""
    for back in _BACK:
        left = back
        for after, before in pairwise(reversed(path)):
            (x, y, z), (u, _, w) = after.position, before.position
            leg = math.hypot(u - x, w - z)
            if leg >= left > 0 or back == 0:
                share = left / leg if leg else 0.0
                yield FloorPose((x + share * (u - x), y, z + share * (w - z)), after.heading)
                break
            left -= leg


def _from(mover: Mover, start: FloorPose, on: shapely.Geometry) -> list[FloorPose]:
    """Return the poses from a start to a line; empty if no drivable ones are found."""
    x, y, z = start.position
    square = shapely.box(x - _REACH, z - _REACH, x + _REACH, z + _REACH)
    pad = _REACH + mover.shape.outer + 0.05
    lines = mover.lines(y, (x - pad, z - pad, x + pad, z + pad))
    facing = math.sin(start.heading), -math.cos(start.heading)
    # A body that slid along a wall is nearer to it than search lines come.
    slim = replace(mover.shape, ahead=mover.shape.ahead - _SKIN, aside=mover.shape.aside - _SKIN)
    rails = SE2Lines(lines, slim, square, facing, _GRAIN)
    begun, along = rails.held(0, np.array([[x, z]]))
    if begun[0] < 0:
        return []
    places, of, at = rails.sample_places(np.arange(len(rails.row)), _APART)
    near = shapely.dwithin(shapely.points(places), on, _NEAR)
    way = rails.way(begun, of[near])
    if not way:
        return []
    stands = [start]
    # A box is symmetric front to back, so its first heading may be off by half a turn.
    motions = rails.motions(way, float(along[0]), at[near & (of == way[-1])])
    off = turn_between(motions[0].heading, start.heading)
    for motion in motions[1:]:
        moved = replace(motion, heading=motion.heading + off).drive(mover, stands[-1])
        if moved is None:
            return []
        stands.append(moved.stand)
    return stands
