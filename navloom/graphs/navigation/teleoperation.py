"""Continuous motion of a person: a pose every 50 ms (VLNVerse D), recorded like hops.

So that pages and scores read such a walk like an agent's, the body is *at* a viewpoint: the nearest
visible one, which changes when another is nearer by ``NEARER_M``. A step is the path from one to
the next, or the stop. If it passed others unseen, it is one step of several hops. The trajectory
has one pose for each viewpoint, where the body came nearest to it, one more every ``STAND_M`` of a
long step, and the end: as many as hops have, since more points lower nDTW. Repeated contacts with
an object within a step are one contact.

A step of the graph is at most ``BURST`` poses, which is the most that is driven again after a kill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from langgraph.runtime import Runtime

from navloom.graphs.agent_graph import run_off_loop
from navloom.graphs.navigation.human_input import HumanInput, HumanObservation
from navloom.scenes.bodies import has_line_of_sight
from navloom.scenes.distances import heading_to, metre_table, turn_between
from navloom.scenes.scene import Point3, Scene, distance_3d
from navloom.sim import protocol
from navloom.sim.agent_handle import AgentHandle, get_agent_handle
from navloom.sim.scene_images import EYE_M
from navloom.tools.navigation.action_parser import ParsedAction
from navloom.tools.navigation.step_options import (
    NO_DESCRIPTION,
    MoveOption,
    direction_of,
    options_of,
)
from navloom.tools.navigation.step_records import NavStep, contact_names

TICK_S = 0.05
"""Seconds between two poses."""
BURST = 10
STAND_M = 4.0
NEARER_M = 0.3
_FAR_M = 6.0
"""Viewpoints farther than this from the body (metres) are not considered."""
_MOST_LOOKS = 4


def begin_step(state: Mapping[str, Any], walker: AgentHandle, max_steps: int) -> dict[str, Any]:
    """Begin a step: return its draft, with the options at the viewpoint that it begins at."""
    if len(state["steps"]) >= max_steps:
        return {"ending": "max_steps"}
    at = (state.get("leg") or {}).get("to") or state["pose"]["viewpoint"]
    heading, poses = state["pose"]["heading"], state.get("poses") or []
    simulator = walker.simulator
    assert isinstance(simulator, protocol.DrivenSimulator)  # noqa: S101  the request sees to it
    around = simulator.seen_from(at)
    around = replace(around, pose=replace(around.pose, heading=heading))
    options = options_of(around, heading)
    step = NavStep(step=len(state["steps"]) + 1, viewpoint=at, heading=heading, options=options)
    since = max(0, len(poses) - 1)
    leg = {"to": at, "since": since, "stood": since, "metres": 0.0, "touched": {}}
    update: dict[str, Any] = {"draft": step.record(), "leg": leg}
    if not poses:
        x, y, z = state["pose"].get("position") or walker.scene.viewpoint_by_id[at].ground
        update["poses"] = [[0.0, x, y, z, heading]]
    return update


async def drive(state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
    """Drive as keys say: some poses, or to another viewpoint or the end. Return the update."""
    person = runtime.context.person
    burst = await run_off_loop(_Burst, state, await run_off_loop(get_agent_handle, runtime))
    while not burst.over:
        wish = await person.wish(burst.standing)
        await run_off_loop(burst.tick, wish)
    return await run_off_loop(burst.update)


class _Burst:
    """Part of a step of a teleoperated walk: drives the body as a person steers, tick by tick.

    It records a pose at each tick. It ends after ``BURST`` poses, or earlier at another viewpoint
    or when the person stops.
    """

    def __init__(self, state: Mapping[str, Any], walker: AgentHandle) -> None:
        self._walker, self._step = walker, NavStep(**state["draft"])
        self._poses = list(state["poses"])
        # A body is restored from its poses, as the trajectory has fewer points.
        self._now: dict[str, Any] = {**state, "trajectory": self._poses}
        self._seen = walker.look(self._now)
        self._leg = {**state["leg"], "touched": dict(state["leg"]["touched"])}
        self._steps, self._seconds = len(state["steps"]), state.get("seconds") or 0.0
        self._begun, self._stands, self._said = len(self._poses), list[list[Any]](), ""

    @property
    def over(self) -> bool:
        """True if the burst ends here."""
        full = len(self._poses) - self._begun >= BURST
        return bool(self._said) or self._moved or full

    @property
    def _moved(self) -> bool:
        return bool(self._leg["to"] != self._step.viewpoint)

    @property
    def standing(self) -> HumanObservation:
        """The situation that the person is shown."""
        met = contact_names(self._seen.contacts, self._walker.scene)
        return HumanObservation(self._seen.pose, (), self._steps, self._seconds, met)

    def tick(self, wish: HumanInput) -> None:
        """Drive for 50 ms."""
        self._seconds = wish.seconds
        if wish.said:
            self._said = wish.said
            return
        before, after = self._seen.pose, self._go(wish)
        here = after.pose.position
        self._poses.append([round(wish.seconds, 3), *here, after.pose.heading])
        self._leg["metres"] += distance_3d(before.position, here)
        for contact in protocol.displacing_contacts(after.contacts):
            self._touch(contact)
        self._leg["to"] = nearest_visible(self._walker.scene, here, str(self._step.viewpoint))
        if self._leg["metres"] >= STAND_M and not self._moved:
            self._stand(str(self._step.viewpoint), len(self._poses) - 1)

    def _go(self, wish: HumanInput) -> protocol.Observation:
        body = self._walker.embodiment
        forward = body.speed * max(-1.0, min(1.0, wish.forward))
        turn = body.turn_speed * max(-1.0, min(1.0, wish.turn))
        if body.turning_radius:
            most = abs(forward) / body.turning_radius
            turn = max(-most, min(most, turn))
        self._seen = self._walker.step(self._now, protocol.Velocity(forward, turn, TICK_S))
        self._now = {**self._now, "pose": self._walker.pose_record(self._seen.pose)}
        return self._seen

    def _touch(self, contact: protocol.Contact) -> None:
        touched = self._leg["touched"]
        before = touched.get(contact.what)
        metres = contact.displacement + (before["displacement"] if before else 0.0)
        point = before["point"] if before else [float(value) for value in contact.point]
        told = {"step": self._step.step, "what": contact.what}
        touched[contact.what] = {**told, "displacement": metres, "point": point}

    def _stand(self, at: str, number: int) -> None:
        """Append a pose to the trajectory, as the pose at a viewpoint."""
        _, x, y, z, heading = self._poses[number]
        self._stands.append([at, heading, 0.0, x, y, z])
        self._leg |= {"metres": 0.0, "stood": number}

    def _nearest_stand(self, viewpoint: str) -> None:
        """Append the pose that came nearest to a viewpoint, of those after the last one."""
        place = self._walker.scene.viewpoint_by_id[viewpoint].ground
        left = np.array([pose[1:4] for pose in self._poses[self._leg["stood"] :]])
        off = np.linalg.norm(left - np.array(place), axis=1)
        self._stand(viewpoint, self._leg["stood"] + int(off.argmin()))

    def update(self) -> dict[str, Any]:
        """Return the state's update."""
        ended = self._ended() if self._moved or self._said else {}
        return {
            "pose": self._now["pose"],
            **self._walker.saved(),
            "poses": self._poses[self._begun :],
            "trajectory": self._stands,
            "seconds": self._seconds,
            "leg": self._leg,
            **ended,
        }

    def _ended(self) -> dict[str, Any]:
        scene, step = self._walker.scene, self._step
        touched = list(self._leg["touched"].values())
        met = [protocol.Contact(c["what"], c["displacement"], tuple(c["point"])) for c in touched]
        step = step.copy_with(bumped=contact_names(met, scene) or None)
        if self._moved:
            way = metre_table(scene, "3d").path(str(step.viewpoint), self._leg["to"]) or []
            for viewpoint in way[0 if step.step > 1 else 1 : -1]:
                self._nearest_stand(viewpoint)
            step = _moved_to(step, way, scene)
        elif self._poses[-1][1:4] != self._poses[self._leg["stood"]][1:4]:
            self._stand(str(step.viewpoint), len(self._poses) - 1)
        if self._said == "stop":
            if not self._moved:
                step = step.copy_with(action=ParsedAction("stop"))
            self._walker.stop(self._now)
        ending = {"stop": "stop", "time": "max_steps"}.get(self._said)
        return {"steps": [step.record()], "contacts": touched, "ending": ending}


def _moved_to(step: NavStep, way: Sequence[str], scene: Scene) -> NavStep:
    """Return the step with its move; a move of several hops gets an option of its own."""
    found = next((o.id for o in step.options if o.viewpoint == way[-1]), None)
    if found is None or len(way) > 2:
        here, there = (scene.viewpoint_by_id[name].position for name in (way[0], way[-1]))
        turn = turn_between(step.heading or 0.0, heading_to(here, there))
        found, metres = len(step.options) + 1, distance_3d(here, there)
        told = (found, way[-1], direction_of(turn), NO_DESCRIPTION, turn, metres)
        step = step.copy_with(options=[*step.options, MoveOption(*told, hops=len(way) - 1)])
    return step.copy_with(action=ParsedAction("move", found, way[-1]))


def nearest_visible(scene: Scene, here: Point3, own: str) -> str:
    """Return the viewpoint that a body is at: its own, or a nearer one that it sees.

    Args:
        scene: with geometry.
        here: the floor under the body.
        own: the viewpoint that it was at; another must be nearer by ``NEARER_M``.
    """
    places = scene.viewpoint_by_id
    least = distance_3d(places[own].ground, here) - NEARER_M
    table = metre_table(scene, "3d")
    near = [
        (metres, name)
        for name, place in places.items()
        if (metres := distance_3d(place.ground, here)) < min(least, _FAR_M)
    ]
    eye = (here[0], here[1] + EYE_M, here[2])
    for _, name in sorted(near)[:_MOST_LOOKS]:
        x, y, z = places[name].ground
        if not np.isfinite(table.distance(own, name)):
            continue
        if has_line_of_sight(scene, eye, (x, y + EYE_M, z)):
            return name
    return own
