"""Where the chat's robot is: its simulator, put back where the state says before each use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from navloom.errors import UsageError, did_you_mean
from navloom.graphs.navigation import navigator
from navloom.graphs.navigation.body import hop, look, pictures, place, pose_record, simulator_of
from navloom.scenes.distances import metre_table
from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import Scene, distance_3d
from navloom.sim.protocol import Observation, wrapped
from navloom.tools.chat.ways import Now

if TYPE_CHECKING:
    from navloom.graphs.chat.chat import Context

__all__ = ["DEFAULT_START", "now_of", "pictures_of", "put", "start_of", "step_to"]

DEFAULT_START = ""
_WALKERS: WeakKeyDictionary[Context, navigator.Context] = WeakKeyDictionary()


def _walker(context: Context) -> navigator.Context:
    """The same as a navigator's context: both walk alike."""
    if context not in _WALKERS:
        _WALKERS[context] = navigator.Context(
            simulator=context.simulator,
            scene=context.scene,
            embodiment=context.embodiment,
            views=context.views,
        )
    return _WALKERS[context]


def start_of(context: Context) -> Scene:
    """The home.

    Raises:
        UsageError: the context names none.
        SceneError, SimulatorError: it cannot be loaded or stood in.
    """
    return simulator_of(_walker(context)).scene


def put(context: Context, viewpoint: str, heading: float, seed: int) -> dict[str, Any]:
    """Put the robot on a viewpoint, looking somewhere; the pose as the state holds it.

    Args:
        context: the chat's.
        viewpoint: ``DEFAULT_START`` is a place by the entrance.
        heading: radians.
        seed: the simulator's.

    Raises:
        UsageError: no such viewpoint, or no finite heading.
    """
    scene = start_of(context)
    name = viewpoint or _by_the_entrance(scene)
    if name not in scene.viewpoint_by_id:
        shown = str(name)[:100]
        raise UsageError(
            f"The start viewpoint '{shown}' is not in {scene.uri}, which has"
            f" {len(scene.viewpoints)}.{did_you_mean(shown, scene.viewpoint_by_id)}"
        )
    if not isinstance(heading, (int, float)) or not math.isfinite(heading):
        raise UsageError(f"The heading is {str(heading)[:40]}: expected radians.")
    asked = {"viewpoint": name, "heading": wrapped(heading), "elevation": 0.0}
    return pose_record(place(_walker(context), asked, seed).pose)


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


def _seen(state: Mapping[str, Any], context: Context) -> Observation:
    hops = len(state["trajectory"]) - 1
    return look(_walker(context), state["pose"], state["seed"], hops)


def now_of(state: Mapping[str, Any], context: Context) -> Now:
    """The robot as its tools are told of it."""
    return Now(
        scene=start_of(context),
        observation=_seen(state, context),
        past=state.get("past", []),
        came_from=state.get("came_from"),
    )


def step_to(
    state: Mapping[str, Any], context: Context, viewpoint: str
) -> tuple[dict[str, Any], float]:
    """Go one hop; the new pose, and the metres walked.

    Raises:
        SimulatorError: no edge leads there.
    """
    hops, before = len(state["trajectory"]) - 1, state["pose"]
    after = hop(_walker(context), before, state["seed"], hops, viewpoint)
    places = start_of(context).viewpoint_by_id
    metres = distance_3d(places[before["viewpoint"]].position, places[viewpoint].position)
    return pose_record(after.pose), metres


def pictures_of(state: Mapping[str, Any], context: Context) -> tuple[bytes, ...]:
    """The PNG files the model is shown; none where the simulator has no pictures."""
    hops = len(state["trajectory"]) - 1
    return pictures(_walker(context), state["pose"], state["seed"], hops)
