"""Stair climbing: drives a body along the centre line of stairs, up and down."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import shapely

from navloom.errors import SceneError
from navloom.scenes.bodies import FloorPose
from navloom.scenes.scene import Link, Point3, Stairs
from navloom_worlds.geometry.arrays import F64
from navloom_worlds.motion.collision_motion import Mover
from navloom_worlds.motion.link_free_space import LinkFreeSpace

_BENDS = (0.0, 0.5, 0.35, 0.7)
"""Metres before a bend of the line at which it is cut to an arc, tried in order."""
_ARRIVED = 0.2
_LEVEL = 0.3
_FOOT = 1.0
"""Metres up a flight within which a body counts as having entered its region."""
_NEAR = 2.0


def link_stairs(mover: Mover, link: Link) -> Stairs | None:
    """Return the stairs that belong to a link; None if the link has none."""
    ends = {link.a, link.b}
    return next((each for each in mover.scene.stairs if {each.a, each.b} == ends), None)


def drive_stairs(mover: Mover, flight: Stairs) -> tuple[tuple[FloorPose, ...], float, str, int]:
    """Drive the centre line of stairs up and back.

    Returns:
        The body's stands, metres one way, the obstacle that stopped it (empty for none), and the
        number of paths tried.
    """
    line = list(dict.fromkeys(flight.line))
    found: tuple[tuple[FloorPose, ...], float, str] = ((), 0.0, "no room")
    # Another bend helps neither bodies that cannot climb nor discs, which turn anywhere.
    tried = _BENDS if mover.body.stairs and not mover.shape.round else _BENDS[:1]
    for number, bend in enumerate(tried):
        path, metres, by = _driven(mover, round_bends(line, bend))
        if not by or metres > found[1] or not number:
            found = path, metres, by
        if not by:
            back = _driven(mover, round_bends(line, bend)[::-1])
            if not back[2]:
                return *found, number + 1
            found = back
    return *found, len(tried)


def _driven(mover: Mover, way: Sequence[Point3]) -> tuple[tuple[FloorPose, ...], float, str]:
    (x, y, z), (u, _, w) = way[0], way[1]
    stand = mover.settled(FloorPose((x, y, z), math.atan2(u - x, z - w)), reach=0.5)
    if stand is None:
        return (), 0.0, "no room"
    path, metres = [stand], 0.0
    for goal in way[1:]:
        try:
            moved = mover.follow(path[-1], [goal], slide=True)
        except SceneError:
            return tuple(path), metres, "no floor"
        metres += moved.metres
        path.append(moved.stand)
        x, y, z = moved.stand.position
        if math.hypot(goal[0] - x, goal[2] - z) > _ARRIVED or abs(goal[1] - y) > _LEVEL:
            return tuple(path), metres, moved.bumps[0].what if moved.bumps else "edge"
    return tuple(path), metres, ""


def round_bends(line: Sequence[Point3], bend: float) -> list[Point3]:
    """Return a path with its bends cut to arcs, as seen from above."""
    at = np.array(line)
    plan = at[:, [0, 2]]
    far = np.append(0.0, np.cumsum(np.hypot(*np.diff(plan, axis=0).T)))
    bends = [k for k in range(1, len(at) - 1) if _turns(*plan[k - 1 : k + 2])]
    ends = [0, *bends, len(at) - 1]
    parts = [plan[:1]]
    for before, here, after in zip(ends, ends[1:], ends[2:], strict=False):
        legs = (far[here] - far[before], far[after] - far[here])
        cut = min(bend, legs[0] / 2, legs[1] / 2)
        if cut < 0.05:
            parts.append(plan[here][None])
            continue
        parts.append(_arc(*(_along(plan, far, far[here] + each) for each in (-cut, 0.0, cut))))
    parts.append(plan[-1:])
    # Straight runs keep their points, so that the floor is known where treads begin and end.
    way, line_ = np.concatenate(parts), shapely.LineString(plan)
    own: F64 = np.asarray(shapely.line_locate_point(line_, shapely.points(way)))
    kept = [k for k in range(len(at)) if np.abs(own - far[k]).min() > 2 * bend]
    way, own = np.concatenate([way, plan[kept]]), np.concatenate([own, far[kept]])
    order = np.argsort(own, kind="stable")
    heights = np.interp(own, far, at[:, 1])
    return [(float(way[k, 0]), float(heights[k]), float(way[k, 1])) for k in order]


def _turns(a: F64, b: F64, c: F64) -> bool:
    """Check whether a line bends."""
    d, e = b - a, c - b
    return bool(abs(d[0] * e[1] - d[1] * e[0]) > 1e-6)


def _along(plan: F64, far: F64, metres: float) -> F64:
    """Return the position on a line at a distance from its start."""
    return np.array([np.interp(metres, far, plan[:, k]) for k in (0, 1)])


def _arc(first: F64, middle: F64, last: F64) -> F64:
    """Return an arc as a rational curve that leaves toward a point and arrives from it."""
    legs = (middle - first, last - middle)
    far = [float(np.hypot(leg[0], leg[1])) for leg in legs]
    weight = math.sqrt(max(0.0, 1 + float(legs[0] @ legs[1]) / (far[0] * far[1])) / 2)
    share = np.linspace(0, 1, 13)[:, None]
    a, b, c = (1 - share) ** 2, 2 * weight * share * (1 - share), share**2
    out: F64 = (a * first + b * middle + c * last) / (a + b + c)
    return out


def enter_stairs(ground: LinkFreeSpace, flight: Stairs) -> tuple[tuple[FloorPose, ...], float]:
    """Drive through a doorway onto the stairs right behind it, or up to their foot, and back.

    Returns:
        The body's stands and metres one way; empty and 0 if it did not get there.
    """
    mover = ground.mover
    inside = 0 if ground.ends[0].id == flight.a else 1
    core, end = ground.cores[1 - inside], ground.ends[1 - inside]
    gap = np.array(ground.gap)
    line = [point for point in flight.line if abs(point[1] - flight.line[0][1]) < _FOOT]
    x, y, z = min(line, key=lambda point: math.hypot(point[0] - gap[0], point[2] - gap[1]))
    far = np.hypot(*(core.places - gap).T) if len(core.places) else np.zeros(0)
    order = np.argsort(far, kind="stable")
    order = order[far[order] < _NEAR]
    for k in order[:: max(1, len(order) // 12)]:
        u, w = core.places[k].tolist()
        stand = FloorPose((u, end.center[1], w), math.atan2(gap[0] - u, w - gap[1]))
        if not mover.fits(stand):
            continue
        there = [(float(gap[0]), y, float(gap[1])), (x, y, z)]
        try:
            moved = mover.follow(stand, there, slide=True)
            back = mover.follow(moved.stand, [*there[-2::-1], (u, y, w)], slide=True)
        except SceneError:
            continue
        a, b = moved.stand.position, back.stand.position
        arrived = math.hypot(a[0] - x, a[2] - z), math.hypot(b[0] - u, b[2] - w)
        if max(arrived) <= _ARRIVED:
            return (stand, *moved.path), moved.metres
    return (), 0.0
