"""A navigator's simulator: made where only a scene is named, and put back where the state says.

A state holds a pose; a simulator has one of its own. Before every use the two are compared, and
where they differ (another process went on from a checkpoint, another task used the same simulator)
the simulator is put on the state's pose. Between the comparison and the use nothing is awaited.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from navloom.errors import SimulatorError, UsageError
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.sim.protocol import Hop, Observation, Pose, Simulator, Stop

if TYPE_CHECKING:
    from navloom.graphs.navigation.navigator import Context

__all__ = [
    "AGENT",
    "hop",
    "look",
    "pictures",
    "place",
    "pose_record",
    "simulator_of",
    "stay",
]

AGENT = "navigator"
"""What the agent is called in its simulator."""


@dataclass
class _Kept:
    hops: int
    pose: dict[str, Any]
    observation: Observation
    pictures: dict[int, list[bytes]] = field(default_factory=dict)


_KEPT: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()
_MADE: WeakKeyDictionary[Context, Simulator] = WeakKeyDictionary()


def simulator_of(context: Context) -> Simulator:
    """The context's simulator, or one on the navigation graph of its scene.

    Raises:
        UsageError: the context has neither.
        SceneError: the scene cannot be loaded.
        SimulatorError: it has no navigation graph.
    """
    if context.simulator is not None:
        return context.simulator
    if context.scene is None:
        raise UsageError("A navigator needs a simulator, or a scene such as 'demo:house'.")
    if context not in _MADE:
        _MADE[context] = _make(context.scene)
    return _MADE[context]


def _make(scene: Scene | str) -> Simulator:
    from navloom.sim.caption_sources import captions_for
    from navloom.sim.registry import get_simulator

    home = scene_of(scene)
    return get_simulator("graph", home, captions=captions_for(home))


def place(context: Context, pose: Mapping[str, Any], seed: int, hops: int = 0) -> Observation:
    """Put the agent somewhere, whatever it did before.

    Raises:
        SimulatorError: the simulator cannot.
    """
    simulator = simulator_of(context)
    name = pose["viewpoint"]
    asked = Pose(
        position=simulator.scene.viewpoint_by_id[name].position,
        heading=pose["heading"],
        elevation=pose["elevation"],
        viewpoint=name,
    )
    observation = simulator.reset({AGENT: (asked, context.embodiment)}, seed=seed)[AGENT]
    return _keep(simulator, hops, observation)


def look(context: Context, pose: Mapping[str, Any], seed: int, hops: int) -> Observation:
    """What the agent perceives at its pose after so many hops."""
    kept = _kept(context, pose, hops)
    return kept.observation if kept else place(context, pose, seed, hops)


def hop(
    context: Context, pose: Mapping[str, Any], seed: int, hops: int, viewpoint: str
) -> Observation:
    """Go to a viewpoint next to it.

    Raises:
        SimulatorError: no edge leads there, or the agent did not come to stand on a viewpoint.
    """
    look(context, pose, seed, hops)
    simulator = simulator_of(context)
    observation = simulator.step({AGENT: Hop(viewpoint)})[AGENT]
    if observation.pose.viewpoint is None:
        raise SimulatorError(
            f"The hop from {pose['viewpoint']} to {viewpoint} ended on no viewpoint: "
            "a navigator walks from viewpoint to viewpoint."
        )
    return _keep(simulator, hops + 1, observation)


def stay(context: Context, pose: Mapping[str, Any], seed: int, hops: int) -> None:
    """Tell the simulator that the agent has stopped."""
    look(context, pose, seed, hops)
    simulator_of(context).step({AGENT: Stop()})


def pictures(context: Context, pose: Mapping[str, Any], seed: int, hops: int) -> tuple[bytes, ...]:
    """The PNG files a model is shown at a pose; none where the simulator has no pictures."""
    observation = look(context, pose, seed, hops)
    if not context.views or not observation.images.get("rgb"):
        return ()
    from navloom.sim.views import strip

    kept = _kept(context, pose, hops)
    if kept is not None and context.views in kept.pictures:
        return tuple(kept.pictures[context.views])
    drawn = strip(observation, observation.pose.heading, context.views, markers=True)
    if kept is not None:
        kept.pictures[context.views] = drawn
    return tuple(drawn)


def pose_record(pose: Pose) -> dict[str, Any]:
    """A pose as the state holds it."""
    return {
        "viewpoint": pose.viewpoint,
        "heading": pose.heading,
        "elevation": pose.elevation,
    }


def _kept(context: Context, pose: Mapping[str, Any], hops: int) -> _Kept | None:
    try:
        kept = _KEPT.get(simulator_of(context))
    except TypeError:
        # One that cannot be hashed or referred to weakly is put in place each time.
        return None
    return kept if kept is not None and (kept.hops, kept.pose) == (hops, dict(pose)) else None


def _keep(simulator: Simulator, hops: int, seen: Observation) -> Observation:
    # Options and the marks in pictures are numbered alike, whatever order a backend gives.
    ordered = sorted(seen.candidates, key=lambda c: (c.heading, c.viewpoint))
    observation = replace(seen, candidates=tuple(ordered))
    with suppress(TypeError):
        _KEPT[simulator] = _Kept(hops, pose_record(observation.pose), observation)
    return observation
