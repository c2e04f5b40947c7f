"""What a link needs so that a body may use it, as far as its own figures tell.

Furniture and room to turn are no figures of a link: driving finds what is missing of those.
"""

from __future__ import annotations

from collections.abc import Iterator

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Scene
from navloom_worlds.mend.changes import (
    Change,
    levelling,
    merged,
    opening,
    ramping,
    removing,
    widening,
)
from navloom_worlds.mend.costs import Costs
from navloom_worlds.mend.rebuild import ramp_over, standing_on, widest

BESIDE = 0.15
"""Metres that a doorway is made wider than a body: an open leaf and its handle take some."""
STEP = 0.1
"""Metres by which a doorway is made wider again where that is not enough."""
_EPS = 1e-9


def link_needs(
    scene: Scene, link: int, body: Embodiment, costs: Costs
) -> tuple[Change, ...] | None:
    """The changes after which nothing that a link says keeps a body out.

    Args:
        scene: whose links say what they are.
        link: a link's number.
        body: whose.
        costs: what changes cost.

    Returns:
        () where none is needed; None where no change that is known helps: stairs, a lift that the
        body cannot operate, a wall too short, a lintel too low.
    """
    here = scene.links[link]
    stopped = (here.kind == "stairs" and not body.stairs) or (
        here.kind == "elevator" and not body.elevator
    )
    if stopped or (here.height is not None and here.height + _EPS < body.height):
        return None
    narrow = here.width is not None and here.width + _EPS < body.width
    if narrow and widest(scene, here) < body.width + _EPS:
        return None
    try:
        return merged(list(_needed(scene, link, body, costs)))
    except SceneError:
        return None


def _needed(scene: Scene, link: int, body: Embodiment, costs: Costs) -> Iterator[Change]:
    here = scene.links[link]
    if here.door == "locked" or (here.door in ("ajar", "closed") and not body.doors):
        yield opening(scene, link, costs)
    if here.width is not None and here.width + _EPS < body.width:
        yield widening(scene, link, min(body.width + BESIDE, widest(scene, here)), costs)
    if here.threshold is not None and here.threshold > body.max_step + _EPS:
        yield levelling(scene, link, costs)
    stepped = here.kind in ("door", "opening") and here.step is not None
    if stepped and abs(here.step or 0.0) > body.max_step + _EPS:
        yield ramping(scene, link, costs)
        ramp = ramp_over(scene, here)
        for item in standing_on(scene, ramp.floor, ramp.low):
            yield removing(scene, item.id, costs)
