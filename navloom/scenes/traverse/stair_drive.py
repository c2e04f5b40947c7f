"""Up and down stairs: the middle line of the way up, driven."""

from __future__ import annotations

import math
from itertools import pairwise

from navloom.errors import SceneError
from navloom.scenes.scene import Link
from navloom.scenes.space.mover import Mover, Stand


def climbed(mover: Mover, link: Link) -> tuple[tuple[Stand, ...], float, str]:
    """Drive the line of stairs there and back.

    Returns:
        Where the body was, metres one way, and what stopped it; empty for nothing.
    """
    ends = {link.a, link.b}
    flight = next(each for each in mover.scene.stairs if {each.a, each.b} == ends)
    line = list(dict.fromkeys(flight.line))
    path: list[Stand] = []
    metres = 0.0
    for way in (line, line[::-1]):
        (x, y, z), (u, _, w) = way[0], way[1]
        heading = math.atan2(u - x, z - w)
        stand = mover.settled(Stand((x, y, z), heading), reach=0.5)
        if stand is None:
            return tuple(path), metres, "no room"
        path.append(stand)
        for a, b in pairwise(way):
            del a
            try:
                moved = mover.follow(path[-1], [b], slide=True)
            except SceneError:
                return tuple(path), metres, "no floor"
            metres += moved.metres
            path.append(moved.stand)
            x, y, z = moved.stand.position
            if math.hypot(b[0] - x, b[2] - z) > 0.15 or abs(b[1] - y) > 0.3:
                return tuple(path), metres, moved.bumps[0].what if moved.bumps else "edge"
    return tuple(path), metres / 2, ""
