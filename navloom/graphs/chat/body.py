"""Where the chat's robot is: its start, what its tools are told of it, and a hop's metres."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from navloom.errors import UsageError, did_you_mean
from navloom.scenes.distances import metre_table
from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import Scene, distance_3d
from navloom.sim.protocol import Pose, wrapped
from navloom.sim.walker import Walker, pose_record
from navloom.tools.chat.ways import Now


def pose_at(scene: Scene, viewpoint: str, heading: float) -> Pose:
    """A pose on a viewpoint, looking somewhere.

    Args:
        scene: the home.
        viewpoint: "" is a place by the entrance.
        heading: radians.

    Raises:
        UsageError: no such viewpoint, or no finite heading.
    """
    name = viewpoint or _by_the_entrance(scene)
    if name not in scene.viewpoint_by_id:
        shown = str(name)[:100]
        raise UsageError(
            f"The start viewpoint '{shown}' is not in {scene.uri}, which has"
            f" {len(scene.viewpoints)}.{did_you_mean(shown, scene.viewpoint_by_id)}"
        )
    if not isinstance(heading, (int, float)) or not math.isfinite(heading):
        raise UsageError(f"The heading is {str(heading)[:40]}: expected radians.")
    return Pose(scene.viewpoint_by_id[name].position, wrapped(heading), 0.0, name)


def turned(state: Mapping[str, Any], walker: Walker, heading: float) -> dict[str, Any]:
    """Look another way on the spot; the new pose as the state holds it.

    Raises:
        UsageError: no finite heading.
    """
    there = pose_at(walker.scene, state["pose"]["viewpoint"], heading)
    return pose_record(walker.place(state, there).pose)


def _by_the_entrance(scene: Scene) -> str:
    """A viewpoint from which most of the home is reached, of an entryway or hall at best."""
    table = metre_table(scene, "3d")

    def rank(viewpoint: str) -> tuple[int, int, str]:
        region = scene.viewpoint_by_id[viewpoint].region
        types = room_types(scene.region_by_id[region].label) if region else frozenset[str]()
        wanted = ("Entryway / Foyer", "Hallway / Corridor", "Living Room")
        kind = next((i for i, name in enumerate(wanted) if name in types), len(wanted))
        reached = int((table.metres[table.index[viewpoint]] < math.inf).sum())
        return -reached, kind, viewpoint

    return min(rank(viewpoint.id) for viewpoint in scene.viewpoints)[2]


def now_of(state: Mapping[str, Any], walker: Walker) -> Now:
    """The robot as its tools are told of it."""
    return Now(
        scene=walker.scene,
        observation=walker.look(state),
        past=state.get("past", []),
        came_from=state.get("came_from"),
    )


def step_to(
    state: Mapping[str, Any], walker: Walker, viewpoint: str
) -> tuple[dict[str, Any], float]:
    """Go one hop; the new pose, and the metres walked.

    Raises:
        SimulatorError: no edge leads there.
    """
    after, places = walker.hop(state, viewpoint), walker.scene.viewpoint_by_id
    here = places[state["pose"]["viewpoint"]]
    return pose_record(after.pose), distance_3d(here.position, places[viewpoint].position)
