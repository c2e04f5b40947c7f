"""A relay driven: two bodies in one scene carry it out, in each other's way (CoNavBench 4.1).

Both set out at second 0. Whoever delivers waits by the transfer asset until the object lies there.
What is planned is the relay's own metres over G+ (CoNavBench 3.1.3); ``way`` is the body's own way
as it set out, ``driven`` what it came to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from navloom.errors import SimulatorError
from navloom.scenes.bodies import Embodiment
from navloom.sim.protocol import Pose, Simulator
from navloom.tools.moving.planned import standing
from navloom.tools.moving.surroundings import body_way
from navloom.tools.moving.together import GoalStop, Goer, by_the_thing, go_about
from navloom.tools.navcraft.paths import Anchor
from navloom.tools.navcraft.relay import RelayChoice, RobotName, roles_of
from navloom.tools.navcraft.task import RelayTask


def drive_relay(
    simulator: Simulator,
    task: RelayTask,
    relay: RelayChoice,
    bodies: Mapping[RobotName, Embodiment],
) -> dict[str, Any]:
    """Carry out a relay with two bodies.

    Args:
        simulator: of the task's scene, one that drives bodies; who was in it is forgotten.
        task: the single-robot task that the relay replaces.
        relay: a relay that the tool confirmed.
        bodies: robot_1's and robot_2's.

    Returns:
        JSON: ``done``, whether every leg arrived; ``legs``, each with its ``robot``, ``to``,
        ``region``, metres ``planned``, ``way`` and ``driven``, ``arrived``, ``contacts`` (how
        many), ``displaced`` (the most, in metres), ``touched`` (what), ``waited`` and ``reason``;
        of all legs ``planned``, ``driven`` and ``contacts``; ``seconds``; ``alpha``, robot_1's
        driven metres over its body's way alone, None where that or a leg did not get there.

    Raises:
        SimulatorError: the backend drives no bodies.
    """
    planned = _planned(task, relay)
    starts: dict[RobotName, tuple[str, Anchor | None]] = {
        "robot_1": (task.start_region, task.start_anchor),
        "robot_2": (relay[0], task.helpers[relay[0]].anchor),
    }
    goers = _goers(task, relay, bodies)
    told: dict[str, Any] = {"bodies": {name: body.name for name, body in bodies.items()}}
    poses = {}
    for name, (region, anchor) in starts.items():
        spot = standing(task.scene, region, bodies[name])
        # Where it cannot turn it may be able to stand.
        node = None if anchor is None else anchor.node
        poses[name] = Pose((0.0, 0.0, 0.0), viewpoint=node) if spot is None else Pose(spot)
    try:
        simulator.reset({name: (poses[name], bodies[name]) for name in bodies})
    except SimulatorError as error:
        return {**told, "done": False, "legs": [], "reason": f"A robot cannot start: {error}"}
    seconds = go_about(simulator, goers)
    legs = [
        {"robot": goer.name, "planned": metres, **_leg(stop)}
        for goer in goers
        for stop, metres in zip(goer.stops, planned[goer.name], strict=True)
    ]
    done = all(leg["arrived"] for leg in legs)
    reasons = [f"{leg['robot']}: {leg['reason']}" for leg in legs if leg["reason"]]
    return {
        **told,
        "done": done,
        "planned": sum(leg["planned"] for leg in legs),
        "driven": sum(leg["driven"] for leg in legs),
        "contacts": sum(leg["contacts"] for leg in legs),
        "seconds": seconds,
        "alpha": _alpha(simulator, task, legs, bodies["robot_1"]) if done else None,
        "reason": reasons[0] if reasons else None,
        "legs": legs,
    }


def _goers(
    task: RelayTask, relay: RelayChoice, bodies: Mapping[RobotName, Embodiment]
) -> list[Goer]:
    fetcher, deliverer = roles_of(relay.collab_type)
    handoff = task.transfers[relay[1:3]].item
    fetched = [GoalStop(task.object_item), GoalStop(handoff, carries=True)]
    delivered = [
        GoalStop(handoff),
        GoalStop(task.end_item, carries=True, after=lambda: fetched[1].arrived),
    ]
    stops = {fetcher: fetched, deliverer: delivered}
    return [Goer(name, bodies[name], stops[name]) for name in ("robot_1", "robot_2")]


def _planned(task: RelayTask, relay: RelayChoice) -> dict[str, tuple[float, float]]:
    """Each robot's two legs in metres over G+."""
    fetcher, deliverer = roles_of(relay.collab_type)
    helper, transfer = task.helpers[relay[0]], task.transfers[relay[1:3]]
    fetch = {"robot_1": task.start_to_object, "robot_2": helper.to_object}
    come = {
        "robot_1": transfer.from_start,
        "robot_2": helper.row[transfer.viewpoint] + transfer.spur,
    }
    return {
        fetcher: (fetch[fetcher], transfer.from_object),
        deliverer: (come[deliverer], transfer.to_end),
    }


def _leg(stop: GoalStop) -> dict[str, Any]:
    return {
        "to": stop.item.prompt_name,
        "to_id": stop.item.id,
        "region": stop.item.region,
        "way": stop.way,
        "driven": stop.driven,
        "arrived": stop.arrived,
        "contacts": len(stop.contacts),
        "displaced": max((each.displacement for each in stop.contacts), default=0.0),
        "touched": list(dict.fromkeys(each.what for each in stop.contacts)),
        "waited": stop.waited,
        "seconds": stop.seconds,
        "reason": stop.reason or None,
    }


def _alpha(
    simulator: Simulator, task: RelayTask, legs: list[dict[str, Any]], body: Embodiment
) -> float | None:
    """Robot_1's driven metres over its body's way alone: to the object, and on to the end asset."""
    start = standing(task.scene, task.start_region, body)
    things = [by_the_thing(task.scene, item) for item in (task.object_item, task.end_item)]
    if start is None:
        return None
    there = body_way(simulator, Pose(start), things[0], body)
    on = there and body_way(simulator, Pose(there.points[-1]), things[1], body)
    if there is None or on is None or there.metres + on.metres <= 0:
        return None
    gone = sum(leg["driven"] for leg in legs if leg["robot"] == "robot_1")
    return float(gone / (there.metres + on.metres))
