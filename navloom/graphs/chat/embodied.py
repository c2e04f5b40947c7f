"""A robot whose body drives: where it stands beside the graph, and what it touches on its way.

A pose in a conversation's state always names a viewpoint: the one that the body stands on, else the
one that it stands by, with ``beside`` and its position. From there it sees and knows its ways as
from that viewpoint, and a walk begins by driving onto it. Without physics a body stands on
viewpoints alone, and nothing here differs from the graph.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from navloom.errors import SimulatorError
from navloom.scenes.distances import heading_to, turn_between, wrapped
from navloom.scenes.scene import Point3, Scene, distance_3d
from navloom.scenes.terrain import is_carried
from navloom.sim.graph import floor_of, nearest_viewpoint, region_of
from navloom.sim.protocol import (
    Contact,
    DrivenSimulator,
    Forward,
    Observation,
    Pose,
    Turn,
    Waypoint,
)
from navloom.sim.walker import Walker, pose_entry, pose_record

_STRIDE_M = 0.25
_LEAST = 0.5
"""A stride that gets less far than this part of it has come up against something."""


@dataclass(frozen=True)
class Moved:
    """What a move came to.

    Attributes:
        update: ``pose`` and ``simulator`` of the state.
        metres: how far the body came.
        contacts: what it touched.
        arrived: whether it is where it was to be.
    """

    update: dict[str, Any]
    metres: float
    contacts: tuple[Contact, ...] = ()
    arrived: bool = True

    @property
    def pose(self) -> dict[str, Any]:
        """The new pose, as the state holds it."""
        pose: dict[str, Any] = self.update["pose"]
        return pose


def looked(state: Mapping[str, Any], walker: Walker) -> Observation:
    """What the robot perceives where the state says it stands."""
    seen = walker.look(_exact(state, walker))
    if seen.pose.viewpoint is not None or not isinstance(walker.simulator, DrivenSimulator):
        return seen
    name = str(state["pose"]["viewpoint"])
    there = walker.simulator.seen_from(name)
    pose = replace(seen.pose, viewpoint=name)
    return replace(seen, pose=pose, candidates=there.candidates, captions=there.captions)


def pictures(state: Mapping[str, Any], walker: Walker) -> tuple[bytes, ...]:
    """The PNG files a model is shown."""
    return walker.pictures(_exact(state, walker))


def began(walker: Walker, pose: Pose, seed: int) -> dict[str, Any]:
    """Put the robot into its home: ``pose`` and ``simulator`` of the state."""
    return _stood(walker, walker.start(pose, seed))


def entry(pose: Mapping[str, Any]) -> list[Any]:
    """A pose as a trajectory holds it."""
    return pose_entry(pose)


def hopped(state: Mapping[str, Any], walker: Walker, viewpoint: str) -> Moved:
    """Go one hop, or back onto the graph.

    Raises:
        SimulatorError: no edge leads there.
    """
    before, inner = state["pose"], _exact(state, walker)
    place = walker.scene.viewpoint_by_id[viewpoint]
    if before.get("beside"):
        try:
            seen = walker.step(inner, Waypoint(floor_of(place)))
        except SimulatorError:
            # Nobody has moved: what is in its way is told where the walk is.
            return Moved(_kept(state), 0.0, (), arrived=False)
    else:
        seen = walker.hop(inner, viewpoint)
        if seen.pose.viewpoint != viewpoint and _carries(walker, before["viewpoint"], viewpoint):
            heading = heading_to(_position(before, walker.scene), floor_of(place))
            seen = walker.place(inner, Pose(place.position, heading, 0.0, viewpoint))
    metres = distance_3d(_position(before, walker.scene), seen.pose.position)
    if not walker.physical:
        here = walker.scene.viewpoint_by_id[before["viewpoint"]]
        metres = distance_3d(here.position, place.position)
    arrived = seen.pose.viewpoint == viewpoint
    return Moved(_stood(walker, seen), metres, seen.contacts, arrived)


def turned(state: Mapping[str, Any], walker: Walker, heading: float) -> Moved:
    """Look another way: on the spot, or on the arc that a body needs.

    Raises:
        SimulatorError: no finite heading.
    """
    inner, pose = _exact(state, walker), state["pose"]
    if not walker.physical:
        name = pose["viewpoint"]
        there = walker.scene.viewpoint_by_id[name].position
        seen = walker.place(inner, Pose(there, wrapped(heading), 0.0, name))
        return Moved(_stood(walker, seen), 0.0)
    seen = walker.step(inner, Turn(turn_between(pose["heading"], heading)))
    return Moved(_stood(walker, seen), 0.0, seen.contacts)


def driven(state: Mapping[str, Any], walker: Walker, metres: float) -> Moved:
    """Drive straight on, or back where metres are negative, until something is in the way."""
    inner, contacts = dict(_exact(state, walker)), list[Contact]()
    begun, left, seen = _position(state["pose"], walker.scene), metres, None
    trail = list(inner["trajectory"])
    while abs(left) > 1e-9:
        step = math.copysign(min(abs(left), _STRIDE_M), left)
        before = Pose(_position(inner["pose"], walker.scene))
        seen = walker.step(inner, Forward(step))
        contacts += seen.contacts
        left -= step
        pose = walker.pose_record(seen.pose)
        trail = [*trail, pose_entry(pose)]
        inner |= {"pose": pose, **walker.saved(), "trajectory": trail}
        if distance_3d(before.position, seen.pose.position) < _LEAST * abs(step):
            break
    if seen is None:
        return Moved(_kept(state), 0.0)
    gone = distance_3d(begun, seen.pose.position)
    short = abs(metres) - gone
    return Moved(_stood(walker, seen), gone, tuple(contacts), arrived=short <= _STRIDE_M / 2)


def _carries(walker: Walker, a: str, b: str) -> bool:
    return walker.physical and is_carried(walker.scene, a, b, walker.embodiment)


def _stood(walker: Walker, seen: Observation) -> dict[str, Any]:
    """The pose and the simulator's state after something was done."""
    pose = seen.pose
    record = walker.pose_record(pose)
    if pose.viewpoint is None:
        record |= {"viewpoint": _by(walker.scene, pose), "beside": True}
    return {"pose": record, "simulator": None, **walker.saved()}


def _kept(state: Mapping[str, Any]) -> dict[str, Any]:
    return {"pose": state["pose"], "simulator": state.get("simulator")}


def _by(scene: Scene, pose: Pose) -> str:
    """The viewpoint that a body stands by: the nearest of its room, where that is known."""
    room = scene.viewpoints_by_region.get(region_of(scene, pose) or "", ())
    if not room:
        return nearest_viewpoint(scene, pose.position)[0]
    return min(room, key=lambda each: (distance_3d(floor_of(each), pose.position), each.id)).id


def _exact(state: Mapping[str, Any], walker: Walker) -> Mapping[str, Any]:
    """The state as a walker reads it: a body beside a viewpoint stands on none."""
    pose = {name: value for name, value in state["pose"].items() if name != "beside"}
    if not walker.physical:
        named = Pose((0.0, 0.0, 0.0), pose["heading"], pose["elevation"], pose["viewpoint"])
        return {**state, "pose": pose_record(named), "simulator": None}
    if state["pose"].get("beside"):
        pose["viewpoint"] = None
    return {**state, "pose": pose}


def _position(pose: Mapping[str, Any], scene: Scene) -> Point3:
    at = pose.get("position")
    if at is None:
        return floor_of(scene.viewpoint_by_id[pose["viewpoint"]])
    x, y, z = at
    return x, y, z
