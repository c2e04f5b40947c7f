"""Whether bodies come near the things by which questions name their ends.

The benchmark's tables have cells ``startDetail:node_N`` and ``endDetail:node_N`` beside those of
passages. A cell here is about everything that questions name at that end of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import shapely
from shapely import Polygon

from navloom.scenes.bodies import Embodiment, canonical
from navloom.scenes.formats.capnav_nodes import nodes_of
from navloom.scenes.parts import Box, Item
from navloom.scenes.scene import Scene
from navloom_worlds.exporting.question_sampler import Sampled
from navloom_worlds.mend.route_drive import spot
from navloom_worlds.motion.body_field import body_field

NEAR_M = 1.0
"""Metres from a body's middle to a thing that it is near."""
_LEVEL = 0.3
End = Literal["start", "end"]


def detail_cells(
    scene: Scene, bodies: Sequence[Embodiment], questions: Sequence[Sampled]
) -> dict[str, dict[str, Any]]:
    """Of each body the cells of the questions' details.

    Args:
        scene: with geometry.
        bodies: whose.
        questions: on the scene.

    Returns:
        body -> ``startDetail:node_N`` -> ``traversable`` and ``note``: a thing is near where the
        body can stand within a metre of it, in its room, and get there from most of the room.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    named: dict[tuple[End, str], dict[str, None]] = {}
    for each in questions:
        named.setdefault(("start", each.start), {})[each.things[0]] = None
        named.setdefault(("end", each.end), {})[each.things[1]] = None
    nodes = nodes_of(scene)
    cells: dict[str, dict[str, Any]] = {}
    for body in bodies:
        mine = cells.setdefault(canonical(body.name), {})
        for (end, region), things in named.items():
            items = [scene.item_by_id[each] for each in things]
            far = [item.name for item in items if not _near(scene, body, region, item)]
            note = f"does not come near the {', the '.join(far)}" if far else ""
            mine[f"{end}Detail:{nodes[region].id}"] = {"traversable": not far, "note": note}
    return cells


def _near(scene: Scene, body: Embodiment, region: str, item: Item) -> bool:
    """Whether a body can stand near a thing, and is not cut off from its room there."""
    field, where = body_field(scene, body), scene.region_by_id[region]
    middle = spot(scene, field, region)
    if middle is None or item.size is None or where.outline is None:
        return False
    found = field.found
    thing = Polygon(Box(center=item.position, size=item.size, yaw=item.yaw).corners())
    around = thing.buffer(NEAR_M).intersection(Polygon(where.outline))
    there = shapely.contains_xy(around, found.x, found.z)
    there &= np.abs(found.height - where.center[1]) < _LEVEL
    return bool((there & (field.part == field.part[field.at(middle)])).any())
