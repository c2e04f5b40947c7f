"""Drawn pose of flat items on walls, whose scenes give it only roughly: backs to the wall.

Hand-written homes place pictures and mirrors on their wall's middle line, with a yaw that only
gives the direction of the wall. When drawn, they lie on the wall's face and face the room.
"""

from __future__ import annotations

import math

from navloom.scenes.scene import Item, Scene, Wall

_FLAT = 0.12
"""Depth in metres above which an item does not hang flat."""
_NEAR = 0.02
_GAP = 0.002


def drawn_pose(scene: Scene, item: Item) -> tuple[float, float, float]:
    """Return the pose at which an item is drawn: x, z in metres, and yaw in radians.

    Args:
        scene: scene with the walls.
        item: an item of known size. Items on others, deep items and items away from walls keep
            their pose in the scene.
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
    """Return an item's offset from a wall's middle line, the wall's normal, and half its thickness.

    None if the item is not parallel to the wall and at it.
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
