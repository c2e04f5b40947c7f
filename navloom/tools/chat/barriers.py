"""Why a robot's body cannot get to a place that a slim one could get to."""

from __future__ import annotations

from navloom.scenes.scene import distance_2d
from navloom.sim.graph import nearest_viewpoint
from navloom.tools.chat.bumped import touched_words
from navloom.tools.chat.places import Place
from navloom.tools.chat.robot import Now
from navloom.tools.moving.barred import first_barrier, first_obstacle


def why_barred(now: Now, place: Place) -> str:
    """A sentence, with a space before it; "" where no body gets there, or nobody knows why.

    Args:
        now: the robot.
        place: where no way of its own leads.
    """
    whole = now.whole
    if whole is None:
        return ""
    at = now.scene.viewpoint_by_id[now.viewpoint].position
    here = now.viewpoint
    if here not in whole.viewpoint_by_id:
        here = nearest_viewpoint(whole, at)[0]
    item = whole.item_by_id.get(place.id)
    region = whole.region_by_id.get(place.region or "")
    if region is None or not whole.viewpoints_by_region[region.id]:
        return ""
    point = item.position if item else region.center
    ends = whole.viewpoints_by_region[region.id]
    there = min(ends, key=lambda each: (distance_2d(each.position, point), each.id)).id
    barrier = first_barrier(whole, here, there, now.body)
    if barrier is None:
        obstacle = first_obstacle(whole, here, there, now.body)
        if obstacle is not None:
            what = touched_words(whole, obstacle.what, obstacle.point)
            leaves = "leave" if what.endswith("stairs") else "leaves"
            return f" On the way {what} {leaves} my body ({now.body.name}) too little room."
        return f" My body ({now.body.name}) can stand and turn nowhere there."
    verb = "are" if barrier.kind == "stairs" else "is"
    return f" In my way {verb} {barrier.words(whole)}: {barrier.note}."
