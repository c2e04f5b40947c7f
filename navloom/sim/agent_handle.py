"""Handle on one agent of a simulator, whose pose follows a graph's state: look, hop, place.

A state is any mapping with ``pose`` (in the form of :func:`pose_record`), ``seed`` and
``trajectory``, all poses so far. A simulator has a pose of its own. Before every use the two are
compared. If they differ (another process continued from a checkpoint, another task used the same
simulator), the agent is put at the state's pose. A drive may take longer than an event loop should
wait. Graphs therefore call from the threads that LangGraph uses for nodes that are not ``async``,
and each use of a simulator, the comparison included, holds its lock.

Simulators are mutable, so they are not shared: a context's :class:`SimulatorLeases` keep one a run
and thread.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import Any

from langgraph.runtime import Runtime

from navloom.errors import SimulatorError, UsageError
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.sim.protocol import (
    Action,
    Hop,
    Observation,
    Pose,
    RestorableSimulator,
    Simulator,
    Stop,
)
from navloom.sim.registry import simulator_for_views

MOST_LEASED = 32
"""Most simulators of a context; the least recently used one is closed first."""

_DEALT_BY = b"options 47"


@dataclass
class _LastObservation:
    scene: Scene
    hops: int
    pose: dict[str, Any]
    observation: Observation
    pictures: dict[int, tuple[bytes, ...]] = field(default_factory=dict)


_LOCKS: weakref.WeakKeyDictionary[Simulator, threading.RLock] = weakref.WeakKeyDictionary()
_KEPT: weakref.WeakKeyDictionary[Simulator, dict[str, _LastObservation]] = (
    weakref.WeakKeyDictionary()
)


@dataclass(frozen=True, slots=True)
class AgentHandle:
    """Handle on one agent of a simulator.

    Attributes:
        simulator: the simulator.
        agent: the agent's name there.
        embodiment: its body.
        views: number of views that a model sees (:mod:`navloom.sim.views`); 0 shows none.
        by_lot: shuffle candidates by a hash, so that their order says nothing about directions.
            Otherwise they are sorted by global heading, as the paper's are (VLN-MME 3.3).
    """

    simulator: Simulator
    agent: str
    embodiment: Embodiment = DEFAULT_BODY
    views: int = 4
    by_lot: bool = True

    @property
    def scene(self) -> Scene:
        """Scene of the simulator."""
        return self.simulator.scene

    @property
    def has_contacts(self) -> bool:
        """True if the body has contacts, so that it may stand beside its viewpoint."""
        return getattr(self.simulator, "physics", "off") != "off"

    def pose_record(self, pose: Pose) -> dict[str, Any]:
        """Return a pose for a state, with its position if it may differ from the viewpoint's."""
        return pose_record(pose, exact=self.has_contacts)

    def saved(self) -> dict[str, Any]:
        """Return further state entries that restore the body exactly.

        Returns:
            ``simulator`` and its saved state; empty if a pose is enough.
        """
        if not self.has_contacts or "restore" not in self.simulator.capabilities:
            return {}
        assert isinstance(self.simulator, RestorableSimulator)  # noqa: S101  it claims to be one
        return {"simulator": self.simulator.state()}

    def start(self, pose: Pose, seed: int) -> Observation:
        """Reset the simulator with this agent alone, and return its first observation.

        Args:
            pose: its pose at the start.
            seed: the simulator's seed.

        Raises:
            SimulatorError: the agent cannot be put at the pose, as on an unknown viewpoint.
        """
        return reset_agents([(self, pose)], seed)[0]

    def look(self, state: Mapping[str, Any]) -> Observation:
        """Return the observation at the state's pose."""
        with _alone(self.simulator):
            kept = self._kept(state)
            return kept.observation if kept else self._restored(state)

    def step(self, state: Mapping[str, Any], action: Action) -> Observation:
        """Execute one action and return the observation, whose pose continues the trajectory.

        Raises:
            SimulatorError: the simulator refuses; then nobody has moved.
        """
        with _alone(self.simulator):
            self.look(state)
            seen = self.simulator.step({self.agent: action})[self.agent]
            return _keep(self, len(state["trajectory"]), seen)

    def hop(self, state: Mapping[str, Any], viewpoint: str) -> Observation:
        """Hop to a neighbouring viewpoint and return the observation.

        Raises:
            SimulatorError: no edge leads there, or the hop ended on no viewpoint. A body stopped by
                a collision keeps the viewpoint it came from, without an error.
        """
        seen = self.step(state, Hop(viewpoint))
        if seen.pose.viewpoint is None and seen.collision:
            came_from = replace(seen.pose, viewpoint=state["pose"]["viewpoint"])
            return _keep(self, len(state["trajectory"]), replace(seen, pose=came_from))
        if seen.pose.viewpoint is None:
            raise SimulatorError(
                f"The hop from {state['pose']['viewpoint']} to {viewpoint} ended on no viewpoint: "
                "a navigator walks from viewpoint to viewpoint."
            )
        return seen

    def stop(self, state: Mapping[str, Any]) -> None:
        """Tell the simulator that the agent has arrived."""
        with _alone(self.simulator):
            self.look(state)
            self.simulator.step({self.agent: Stop()})

    def place(self, state: Mapping[str, Any], pose: Pose) -> Observation:
        """Put the agent at another pose and return the observation; other agents stay.

        Raises:
            SimulatorError: the pose is nowhere.
        """
        with _alone(self.simulator):
            self.look(state)
            seen = self.simulator.place(self.agent, pose)
            return _keep(self, len(state["trajectory"]), seen)

    def pictures(self, state: Mapping[str, Any]) -> tuple[bytes, ...]:
        """Return the PNG files that a model sees; empty if the simulator has no images."""
        seen = self.look(state)
        if not self.views or not seen.images.get("rgb"):
            return ()
        from navloom.sim.views import view_pngs

        kept = self._kept(state)
        if kept is not None and self.views in kept.pictures:
            return kept.pictures[self.views]
        drawn = tuple(view_pngs(seen, seen.pose.heading, self.views, markers=True))
        if kept is not None:
            kept.pictures[self.views] = drawn
        return drawn

    def _kept(self, state: Mapping[str, Any]) -> _LastObservation | None:
        kept = _in(self.simulator).get(self.agent)
        if kept is None or kept.hops != len(state["trajectory"]) - 1:
            return None
        if kept.scene is not self.simulator.scene:
            # Changed since: a door was opened, an item moved.
            return None
        return kept if kept.pose == state["pose"] else None

    def _restored(self, state: Mapping[str, Any]) -> Observation:
        saved, others = state.get("simulator"), _in(self.simulator).keys() - {self.agent}
        if self.has_contacts and saved is not None and not others:
            assert isinstance(self.simulator, RestorableSimulator)  # noqa: S101  it gave a state
            seen = self.simulator.restore(saved)
            return _keep(self, len(state["trajectory"]) - 1, seen[self.agent])
        pose = read_pose(state["pose"], self.scene)
        if not others:
            seen = self.simulator.reset({self.agent: (pose, self.embodiment)}, seed=state["seed"])
            return _keep(self, len(state["trajectory"]) - 1, seen[self.agent])
        return _keep(self, len(state["trajectory"]) - 1, self.simulator.place(self.agent, pose))


def reset_agents(walkers: Sequence[tuple[AgentHandle, Pose]], seed: int) -> list[Observation]:
    """Reset a shared simulator to these agents alone, and return their observations.

    Raises:
        SimulatorError: no agent, or a pose that is nowhere.
    """
    if not walkers:
        raise SimulatorError("No agent to put in the scene: expected at least one.")
    simulator = walkers[0][0].simulator
    asked = {walker.agent: (pose, walker.embodiment) for walker, pose in walkers}
    with _alone(simulator):
        seen = simulator.reset(asked, seed=seed)
        with suppress(TypeError):
            _KEPT[simulator] = {}
        return [_keep(walker, 0, seen[walker.agent]) for walker, _ in walkers]


def pose_record(pose: Pose, *, exact: bool = False) -> dict[str, Any]:
    """Return a pose as JSON for a state, with its position if it is on no viewpoint.

    Args:
        pose: the pose.
        exact: include the position on a viewpoint, too.
    """
    record: dict[str, Any] = {
        "viewpoint": pose.viewpoint,
        "heading": pose.heading,
        "elevation": pose.elevation,
    }
    if exact or pose.viewpoint is None:
        record["position"] = [float(value) for value in pose.position]
    return record


def trajectory_entry(record: Mapping[str, Any]) -> list[Any]:
    """Return a pose for a trajectory: ``[viewpoint, heading, elevation]``, then ``x, y, z``."""
    viewpoint, heading, elevation = (record[key] for key in ("viewpoint", "heading", "elevation"))
    return [viewpoint, heading, elevation, *record.get("position", ())]


def read_pose(record: Mapping[str, Any], scene: Scene) -> Pose:
    """Return the pose of a state's record.

    Raises:
        SimulatorError: it names a viewpoint that the scene does not have.
    """
    name = record["viewpoint"]
    if name is None:
        x, y, z = record["position"]
        return Pose((x, y, z), record["heading"], record["elevation"])
    if name not in scene.viewpoint_by_id:
        raise SimulatorError(f"{scene.uri} has no viewpoint '{str(name)[:80]}'.")
    position = tuple(record.get("position") or scene.viewpoint_by_id[name].position)
    return Pose(position, record["heading"], record["elevation"], name)


def _alone(simulator: Simulator) -> AbstractContextManager[object]:
    """Return a lock that gives exclusive use of a simulator."""
    try:
        return _LOCKS.setdefault(simulator, threading.RLock())
    except TypeError:
        # A simulator without weak references is not shared.
        return nullcontext()


def _in(simulator: Simulator) -> dict[str, _LastObservation]:
    try:
        return _KEPT.get(simulator, {})
    except TypeError:
        # Without hash or weak references nothing is cached: its pose is set on each use.
        return {}


def _keep(walker: AgentHandle, hops: int, seen: Observation) -> Observation:
    # One order for options and markers in images, whatever order a backend gives.
    here = seen.pose.viewpoint or ""
    if walker.by_lot:
        dealt = sorted(seen.candidates, key=lambda way: _drawn(here, way.viewpoint))
    else:
        dealt = sorted(seen.candidates, key=lambda way: (way.heading, way.viewpoint))
    observation = replace(seen, candidates=tuple(dealt))
    with suppress(TypeError):
        kept = _KEPT.setdefault(walker.simulator, {})
        kept[walker.agent] = _LastObservation(
            walker.simulator.scene, hops, walker.pose_record(observation.pose), observation
        )
    return observation


def _drawn(here: str, there: str) -> tuple[bytes, str]:
    """Return a sort key for candidates that is pseudo-random, and the same in every process."""
    said = json.dumps([here, there]).encode()
    return blake2b(said, digest_size=8, key=_DEALT_BY).digest(), there


def get_agent_handle(runtime: Runtime[Any]) -> AgentHandle:
    """Return the agent handle of a graph's context for this run and thread.

    The context has ``simulator``, ``scene``, ``agent``, ``embodiment``, ``views``, ``shown_views``
    (0 if its model takes no images) and ``leases``. A given simulator is used as it is. One given
    by its backend's name or by a factory function is created, and kept in the leases.

    Raises:
        UsageError: the context has neither.
        SceneError: the scene cannot be loaded.
        SimulatorError: it has no navigation graph.
    """
    context, info = runtime.context, runtime.execution_info
    given = context.simulator
    if isinstance(given, str):
        if context.scene is None:
            raise UsageError("A navigator needs a simulator, or a scene such as 'demo:house'.")
        given = partial(simulator_for_views, given, get_scene(context.scene), context.views)
    if callable(given):
        given = context.leases.get((info.thread_id or info.run_id) if info else None, given)
    by_lot = getattr(context, "prompts", None) != "paper"
    return AgentHandle(given, context.agent, context.embodiment, context.shown_views, by_lot)


class SimulatorLeases:
    """Simulators created for one context, one a run and thread.

    They are closed when the context is garbage-collected, or when ``MOST_LEASED`` others were used
    since. A run that returns later gets a new one, which its handle puts at the state's pose.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[str | None, Simulator] = OrderedDict()
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._held)

    def get(self, thread: str | None, make: Callable[[], Simulator]) -> Simulator:
        """Return the simulator of a thread: its existing one, or a new one.

        Args:
            thread: key of the run; None if there is only one.
            make: creates a simulator.
        """
        with self._lock:
            if thread not in self._held:
                self._held[thread] = make()
            self._held.move_to_end(thread)
            while len(self._held) > MOST_LEASED:
                self._held.popitem(last=False)[1].close()
            return self._held[thread]


def _close(held: OrderedDict[str | None, Simulator]) -> None:
    while held:
        held.popitem()[1].close()
