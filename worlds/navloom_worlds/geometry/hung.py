"""Flat things on walls, where a scene says it only roughly: their backs to it, fronts to the room.

Homes written by hand give pictures and mirrors a place on their wall's middle line, and a turn that
tells only along which wall they hang. As they are drawn they lie on the wall and face the room.
"""

from __future__ import annotations

import math

from navloom.scenes.scene import Item, Scene, Wall

_FLAT = 0.12
"""Metres: what is deeper stands."""
_NEAR = 0.02
_GAP = 0.002


def pose_of(scene: Scene, item: Item) -> tuple[float, float, float]:
    """Where a thing is drawn: x, z in metres, and its yaw in radians.

    Args:
        scene: whose walls it may hang on.
        item: of a known size. What stands on another, what is deep, and what is away from walls
            is drawn as the scene has it.
    """
    x, _, z = item.position
    if item.size is None or item.on is not None or item.size[2] > min(_FLAT, item.size[0] / 2):
        return x, z, item.yaw
    front = (math.sin(item.yaw), -math.cos(item.yaw))
    beside = [found for wall in scene.walls if (found := _reach(wall, item, front)) is not None]
    if not beside:
        return x, z, item.yaw
    off, out, half = min(beside, key=lambda found: abs(found[0]))
    side = math.copysign(1.0, off)
    push = side * max(0.0, half + item.size[2] / 2 + _GAP - abs(off)) if abs(off) < half else 0.0
    turned = item.yaw + math.pi if side * (front[0] * out[0] + front[1] * out[1]) < 0 else item.yaw
    return x + push * out[0], z + push * out[1], turned


def _reach(
    wall: Wall, item: Item, front: tuple[float, float]
) -> tuple[float, tuple[float, float], float] | None:
    """How far a thing's middle is from a wall's middle line, the wall's normal, half its thickness.

    None where the thing is not parallel to it and at it.
    """
    (ax, az), (bx, bz) = wall.a, wall.b
    x, y, z = item.position
    long = math.hypot(bx - ax, bz - az)
    if not long or not wall.bottom <= y <= wall.bottom + wall.height:
        return None
    ux, uz = (bx - ax) / long, (bz - az) / long
    off = (x - ax) * -uz + (z - az) * ux
    depth = 0.0 if item.size is None else item.size[2]
    if (
        abs(front[0] * ux + front[1] * uz) > 0.05
        or not 0 <= (x - ax) * ux + (z - az) * uz <= long
        or abs(off) > wall.thickness / 2 + depth / 2 + _NEAR
    ):
        return None
    return off, (-uz, ux), wall.thickness / 2
