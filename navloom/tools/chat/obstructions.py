"""Contacts and obstructions of the robot's body, described in words.

Each touched object is reported once, the largest displacement first. An obstruction is the first
barrier on the path that a slim body would take. A link's figures
(:mod:`navloom.scenes.passability`) are reported first. If no link on the path explains the failure,
there is too little clearance somewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from navloom.scenes.bodies import BodyContact, Embodiment, FloorPose, motion_model_of
from navloom.scenes.distances import heading_to, metre_table, scene_cached
from navloom.scenes.passability import estimate_links
from navloom.scenes.scene import Link, Scene, distance_2d
from navloom.sim.caption_composer import label_phrase, one_line
from navloom.sim.graph import nearest_viewpoint
from navloom.sim.protocol import Contact
from navloom.tools.chat.places import Place, RobotContext

NOTICED_M = 0.02
"""Contacts with less displacement (metres) are not reported."""
_MOST = 3
_STEP_M = 0.5
"""A body that does not fit on a viewpoint may pass it within this distance (metres)."""
_KINDS = {"opening": "way", "door": "door", "stairs": "stairs", "elevator": "elevator"}
_FRAME_M = 0.35
"""A contact with a wall this close to a door's jamb (metres) is with the door frame."""
_PLAIN = {
    "wall": "a wall", "step": "a step", "floor": "the floor", "stairs": "the stairs",
    "ceiling": "the ceiling", "edge": "the edge of the floor", "ground": "the ground",
    "mesh": "something",
}  # fmt: skip


def contact_records(contacts: Iterable[Contact]) -> list[dict[str, Any]]:
    """Return contacts as JSON-ready records for the graph's state."""
    return [
        {"what": each.what, "displacement": each.displacement, "point": list(each.point)}
        for each in contacts
    ]


def contact_summary(touched: Iterable[Mapping[str, Any]], scene: Scene) -> list[dict[str, Any]]:
    """Summarize contacts by object: ``what`` in words and the displacement in ``centimetres``.

    Args:
        touched: contacts of one walk, as :func:`contact_records` returns them.
        scene: used to name the objects.
    """
    worst: dict[str, float] = {}
    for each in touched:
        words = name_contact(scene, str(each["what"]), each["point"])
        worst[words] = worst.get(words, 0.0) + float(each["displacement"])
    told = sorted(worst.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        {"what": words, "centimetres": round(100 * metres)}
        for words, metres in told[:_MOST]
        if metres >= NOTICED_M
    ]


def name_contact(scene: Scene, what: str, point: Iterable[float]) -> str:
    """Return a plain name of what was touched at a point: ``the sofa``, ``a wall``."""
    if (item := scene.item_by_id.get(what)) is not None:
        return f"the {one_line(item.prompt_name.replace('_', ' '), 60)}"
    x, y, z = point
    if what == "wall":
        beside = [link for link in scene.links if _is_frame(link, (x, y, z))]
        return f"the door frame {_between(scene, beside[0])}" if beside else _PLAIN[what]
    for link in scene.links:
        if what == f"{link.kind} {link.a} <-> {link.b}":
            return f"the {'frame of the opening' if link.kind == 'opening' else link.kind}" + (
                f" {_between(scene, link)}"
            )
    return _PLAIN.get(what) or one_line(what, 60)


def _is_frame(link: Link, point: tuple[float, float, float]) -> bool:
    if link.jambs is None or link.point is None or abs(link.point[1] - point[1]) > 2.5:
        return False
    return min(distance_2d((x, 0.0, z), point) for x, z in link.jambs) <= _FRAME_M


def _between(scene: Scene, link: Link) -> str:
    one, other = (label_phrase(scene.region_by_id[each]) for each in (link.a, link.b))
    return f"between the {one} and the {other}"


def explain_barrier(now: RobotContext, place: Place) -> str:
    """Return a sentence, with a leading space, that says why the body cannot reach a place.

    Args:
        now: the robot.
        place: a place that the body's own graph does not reach.

    Returns:
        "" where no body gets there, or the reason is unknown.
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
            what = name_contact(whole, obstacle.what, obstacle.point)
            leaves = "leave" if what.endswith("stairs") else "leaves"
            return f" On the way {what} {leaves} my body ({now.body.name}) too little room."
        return f" My body ({now.body.name}) can stand and turn nowhere there."
    verb = "are" if barrier.kind == "stairs" else "is"
    return f" In my way {verb} {barrier.words(whole)}: {barrier.note}."


@dataclass(frozen=True)
class BlockedLink:
    """A link that a body cannot pass.

    Attributes:
        a: the region before it.
        b: the region behind it.
        kind: of the link: ``door``, ``stairs``, ...
        note: the reason, in words.
    """

    a: str
    b: str
    kind: str
    note: str

    def words(self, scene: Scene) -> str:
        """Return the barrier in words: ``the door between the hallway and the kitchen``."""
        one, other = (label_phrase(scene.region_by_id[each]) for each in (self.a, self.b))
        return f"the {_KINDS.get(self.kind, self.kind)} between the {one} and the {other}"


def first_barrier(scene: Scene, start: str, goal: str, body: Embodiment) -> BlockedLink | None:
    """Return the first link on the shortest path along the graph that a body cannot pass.

    Args:
        scene: with the graph of a slim body.
        start: the viewpoint that the path starts at.
        goal: the viewpoint that it ends at.
        body: the body to check.

    Returns:
        None where no body can get there, or no link on the path is a barrier.
    """
    at = scene.viewpoint_by_id
    passed = [at[each].region for each in metre_table(scene, "3d").path(start, goal) or ()]
    key = f"estimate {body.model_dump_json()}"
    links = scene_cached(scene, key, lambda: estimate_links(scene, (body,)))
    for a, b in pairwise(passed):
        if a is None or b is None or a == b:
            continue
        found = links.passage(body.name, a, b)
        if found.traversable is False:
            kinds = [link.kind for link in scene.links if {link.a, link.b} == {a, b}]
            return BlockedLink(a, b, kinds[0] if kinds else "opening", found.note)
    return None


def first_obstacle(scene: Scene, start: str, goal: str, body: Embodiment) -> BodyContact | None:
    """Return the contact that stops a body driving along the graph of a slim body.

    Args:
        scene: with geometry, and the graph of a slim body.
        start: the viewpoint it comes from.
        goal: the viewpoint it goes to.
        body: a body that cannot get there.

    Returns:
        The contact with the largest displacement on the first hop that fails; None where none does.
    """
    mover, at = motion_model_of(scene, body), scene.viewpoint_by_id
    way = [at[each].ground for each in metre_table(scene, "3d").path(start, goal) or ()]
    for a, b in pairwise(way):
        stand = mover.settled(FloorPose(a, heading_to(a, b)), {}, _STEP_M)
        if stand is None:
            continue
        gone = mover.follow(stand, [b])
        if gone.bumps and math.dist(gone.stand.position, b) > _STEP_M:
            return max(gone.bumps, key=lambda each: each.displacement)
    return None
