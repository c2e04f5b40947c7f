"""How a long body gets on where it stopped: ahead, back and turns among exact lines, nearby.

Ways over a field keep half the body's width from things; its corners need more where it turns. So
from where it came by before it stopped, or from a little farther back, places of 2.5 cm and 20
headings are searched for motions that lead to where its way goes on, and these are driven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import shapely
import shapely.ops
from numpy.typing import NDArray

from navloom.scenes.distances import turn_between
from navloom.scenes.parts import Point3
from navloom.scenes.terrain import Stand
from navloom_worlds.motion.lattice import CELL, FEW, GridFrame, Plane, States
from navloom_worlds.motion.lattice_ways import motions_of
from navloom_worlds.motion.link_ground import states_of
from navloom_worlds.motion.mover import Mover

_CELL = CELL / 2
_REACH = 1.5
"""Metres around where it stopped that are searched."""
_BACK = (0.0, 0.5, 1.0)
"""Metres back along the way it came, from where ways are sought."""
_ON = 0.9
"""Metres on along its way, beyond where it stopped, from which it has come past."""
_NEAR = 0.15
_TRIES = 6
_TURN = math.radians(40)
"""Headings that are no farther from its own than this are as good to begin with."""


def manoeuvred(mover: Mover, path: Sequence[Stand], way: Sequence[Point3]) -> list[Stand]:
    """Get past where a body stopped.

    Args:
        mover: of the body.
        path: where it was, the last where it stopped.
        way: from there to where it is to come, on the floor.

    Returns:
        Where it was, from a stand of the path on; () where no way was found, or it is a disc.
    """
    if mover.shape.round or len(way) < 2:
        return []
    ahead = shapely.LineString([(x, z) for x, _, z in way])
    if ahead.length < _CELL:
        return []
    on = shapely.ops.substring(ahead, min(_ON, 0.9 * ahead.length), _REACH * 2)
    for start in _starts(path):
        if mover.fits(start) and (found := _from(mover, start, on)):
            return found
    return []


def _starts(path: Sequence[Stand]) -> Iterator[Stand]:
    """Where it stopped, and places that it came by before that."""
    for back in _BACK:
        left = back
        for after, before in pairwise(reversed(path)):
            (x, y, z), (u, _, w) = after.position, before.position
            leg = math.hypot(u - x, w - z)
            if leg >= left > 0 or back == 0:
                share = left / leg if leg else 0.0
                yield Stand((x + share * (u - x), y, z + share * (w - z)), after.heading)
                break
            left -= leg


def _from(mover: Mover, start: Stand, on: shapely.Geometry) -> list[Stand]:
    x, y, z = start.position
    count = 2 * round(_REACH / _CELL) + 1
    corner = (x - _REACH, z - _REACH)
    frame = GridFrame(corner, (1.0, 0.0), count, count, _CELL)
    pad = 2 * _REACH + 1.0
    lines = mover.lines(y, (corner[0] - 1, corner[1] - 1, corner[0] + pad, corner[1] + pad))
    plane = Plane(frame, lines)
    slim = plane.disc(mover.shape.aside - _CELL / 2)
    states = states_of(plane.seen_from(slim), mover.shape, slim, FEW)
    near = shapely.dwithin(shapely.points(frame.places), on, _NEAR)
    return _motions_driven(mover, start, frame, states, states.free & near)


def _motions_driven(
    mover: Mover, start: Stand, frame: GridFrame, states: States, goals: NDArray[np.bool_]
) -> list[Stand]:
    """Where it was on the first of some ways that it can drive; () for none."""
    metres, before = states.ways(goals)
    here = round(_REACH / _CELL)
    begun = []
    for k, step in enumerate(FEW):
        number = int(np.ravel_multi_index((k, here, here), states.free.shape))
        turn = turn_between(start.heading, frame.heading(step))
        turn -= math.copysign(math.pi, turn) if abs(turn) > math.pi / 2 else 0.0
        if np.isfinite(metres[number]):
            begun.append((round(abs(turn) / _TURN), float(metres[number]), number, turn))
    for *_, number, turn in sorted(begun)[:_TRIES]:
        turned = mover.turn(start, turn)
        motions = motions_of(frame, states, number, before)
        # A box is the same from behind.
        off = turned.stand.heading - motions[0].heading
        stands = [start, turned.stand]
        for motion in motions[1:]:
            moved = replace(motion, heading=motion.heading + off).drive(mover, stands[-1])
            if moved is None:
                break
            stands.append(moved.stand)
        if not turned.bumps and len(stands) == len(motions) + 1:
            return stands
    return []
