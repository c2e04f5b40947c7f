"""A body that stands where its caller's state says: look, hop, place, on any simulator.

A state is any mapping with ``pose`` (as :func:`pose_record` writes one), ``seed`` and
``trajectory``, every pose it stood in. A simulator has a pose of its own: before every use the two
are compared, and where they differ (another process went on from a checkpoint, another task used
the same simulator) the agent is put on the state's pose. A drive may take longer than an event loop
should wait: graphs call from the threads that LangGraph has for nodes that are not ``async``, and
each use of a simulator, the comparison included, holds its lock.

Simulators are mutable, so that none is shared: a context's :class:`Leases` has one a run and
thread.
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
from navloom.scenes.uri import scene_of
from navloom.sim.protocol import (
    Action,
    Hop,
    Observation,
    Pose,
    RestorableSimulator,
    Simulator,
    Stop,
)
from navloom.sim.registry import seeing_simulator

MOST_LEASED = 32
"""Simulators that a context holds at once; the one that was used longest ago is closed first."""

_DEALT_BY = b"options 47"


@dataclass
class _Kept:
    scene: Scene
    hops: int
    pose: dict[str, Any]
    observation: Observation
    pictures: dict[int, tuple[bytes, ...]] = field(default_factory=dict)


_LOCKS: weakref.WeakKeyDictionary[Simulator, threading.RLock] = weakref.WeakKeyDictionary()
_KEPT: weakref.WeakKeyDictionary[Simulator, dict[str, _Kept]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Walker:
    """One agent of a simulator.

    Attributes:
        simulator: where it walks.
        agent: what it is called there.
        embodiment: whose body it is.
        views: how many views a model is shown of it (:mod:`navloom.sim.views`); 0 shows none.
        by_lot: whether candidates come in an order that says nothing of where they lie, so that
            neither a habit of taking the first nor a text alone finds the way; else they are
            sorted by their global heading, as the paper's are (VLN-MME 3.3).
    """

    simulator: Simulator
    agent: str
    embodiment: Embodiment = DEFAULT_BODY
    views: int = 4
    by_lot: bool = True

    @property
    def scene(self) -> Scene:
        """Where it is."""
        return self.simulator.scene

    @property
    def physical(self) -> bool:
        """Whether its body touches what is there, so that it may stand beside its viewpoint."""
        return getattr(self.simulator, "physics", "off") != "off"

    def pose_record(self, pose: Pose) -> dict[str, Any]:
        """A pose as a state holds it, with its position where that is not its viewpoint's."""
        return pose_record(pose, exact=self.physical)

    def saved(self) -> dict[str, Any]:
        """What a state keeps besides, so that the body is put back exactly.

        Returns:
            ``simulator`` and what it says of itself; nothing where a pose is enough.
        """
        if not self.physical or "restore" not in self.simulator.capabilities:
            return {}
        assert isinstance(self.simulator, RestorableSimulator)  # noqa: S101  it claims to be one
        return {"simulator": self.simulator.state()}

    def start(self, pose: Pose, seed: int) -> Observation:
        """Put it alone into the scene, whatever was there before.

        Raises:
            SimulatorError: the pose is nowhere.
        """
        return enter([(self, pose)], seed)[0]

    def look(self, state: Mapping[str, Any]) -> Observation:
        """What it perceives where the state says it stands."""
        with _alone(self.simulator):
            kept = self._kept(state)
            return kept.observation if kept else self._restored(state)

    def step(self, state: Mapping[str, Any], action: Action) -> Observation:
        """Act once; the observation's pose is what the trajectory goes on with.

        Raises:
            SimulatorError: the simulator refuses; nobody has moved then.
        """
        with _alone(self.simulator):
            self.look(state)
            seen = self.simulator.step({self.agent: action})[self.agent]
            return _keep(self, len(state["trajectory"]), seen)

    def hop(self, state: Mapping[str, Any], viewpoint: str) -> Observation:
        """Go to a viewpoint next to it.

        Raises:
            SimulatorError: no edge leads there, or it did not come to stand on a viewpoint. A body
                that something stopped on the way has that which it came from.
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
        """Tell the simulator that it has arrived."""
        with _alone(self.simulator):
            self.look(state)
            self.simulator.step({self.agent: Stop()})

    def place(self, state: Mapping[str, Any], pose: Pose) -> Observation:
        """Put it somewhere else; who is with it in the scene stays.

        Raises:
            SimulatorError: the pose is nowhere.
        """
        with _alone(self.simulator):
            self.look(state)
            seen = self.simulator.place(self.agent, pose)
            return _keep(self, len(state["trajectory"]), seen)

    def pictures(self, state: Mapping[str, Any]) -> tuple[bytes, ...]:
        """The PNG files a model is shown; none where the simulator has no pictures."""
        seen = self.look(state)
        if not self.views or not seen.images.get("rgb"):
            return ()
        from navloom.sim.views import strip

        kept = self._kept(state)
        if kept is not None and self.views in kept.pictures:
            return kept.pictures[self.views]
        drawn = tuple(strip(seen, seen.pose.heading, self.views, markers=True))
        if kept is not None:
            kept.pictures[self.views] = drawn
        return drawn

    def _kept(self, state: Mapping[str, Any]) -> _Kept | None:
        kept = _in(self.simulator).get(self.agent)
        if kept is None or kept.hops != len(state["trajectory"]) - 1:
            return None
        if kept.scene is not self.simulator.scene:
            # Changed since: a door was opened, a thing moved.
            return None
        return kept if kept.pose == state["pose"] else None

    def _restored(self, state: Mapping[str, Any]) -> Observation:
        saved, others = state.get("simulator"), _in(self.simulator).keys() - {self.agent}
        if self.physical and saved is not None and not others:
            assert isinstance(self.simulator, RestorableSimulator)  # noqa: S101  it gave a state
            seen = self.simulator.restore(saved)
            return _keep(self, len(state["trajectory"]) - 1, seen[self.agent])
        pose = pose_of(state["pose"], self.scene)
        if not others:
            seen = self.simulator.reset({self.agent: (pose, self.embodiment)}, seed=state["seed"])
            return _keep(self, len(state["trajectory"]) - 1, seen[self.agent])
        return _keep(self, len(state["trajectory"]) - 1, self.simulator.place(self.agent, pose))


def enter(walkers: Sequence[tuple[Walker, Pose]], seed: int) -> list[Observation]:
    """Put walkers into the simulator that they share; who was there before is forgotten.

    Raises:
        SimulatorError: nobody, or a pose that is nowhere.
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
    """A pose as a state holds it: JSON, and its position where it is on no viewpoint.

    Args:
        pose: what it is of.
        exact: give the position of one on a viewpoint, too.
    """
    record: dict[str, Any] = {
        "viewpoint": pose.viewpoint,
        "heading": pose.heading,
        "elevation": pose.elevation,
    }
    if exact or pose.viewpoint is None:
        record["position"] = [float(value) for value in pose.position]
    return record


def pose_entry(record: Mapping[str, Any]) -> list[Any]:
    """A pose as a trajectory holds it: ``[viewpoint, heading, elevation]``, then ``x, y, z``."""
    viewpoint, heading, elevation = (record[key] for key in ("viewpoint", "heading", "elevation"))
    return [viewpoint, heading, elevation, *record.get("position", ())]


def pose_of(record: Mapping[str, Any], scene: Scene) -> Pose:
    """The pose that a state holds.

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
    """Hold a simulator: nobody else uses it meanwhile."""
    try:
        return _LOCKS.setdefault(simulator, threading.RLock())
    except TypeError:
        # One that cannot be referred to weakly is nobody else's.
        return nullcontext()


def _in(simulator: Simulator) -> dict[str, _Kept]:
    try:
        return _KEPT.get(simulator, {})
    except TypeError:
        # One that cannot be hashed or referred to weakly is put in place each time.
        return {}


def _keep(walker: Walker, hops: int, seen: Observation) -> Observation:
    # Options and the marks in pictures are numbered alike, whatever order a backend gives.
    here = seen.pose.viewpoint or ""
    if walker.by_lot:
        dealt = sorted(seen.candidates, key=lambda way: _drawn(here, way.viewpoint))
    else:
        dealt = sorted(seen.candidates, key=lambda way: (way.heading, way.viewpoint))
    observation = replace(seen, candidates=tuple(dealt))
    with suppress(TypeError):
        kept = _KEPT.setdefault(walker.simulator, {})
        kept[walker.agent] = _Kept(
            walker.simulator.scene, hops, walker.pose_record(observation.pose), observation
        )
    return observation


def _drawn(here: str, there: str) -> tuple[bytes, str]:
    """A place in an order that is the same in every process."""
    said = json.dumps([here, there]).encode()
    return blake2b(said, digest_size=8, key=_DEALT_BY).digest(), there


def walker_of(runtime: Runtime[Any]) -> Walker:
    """The body of a graph's context, as this run and thread has it.

    The context has ``simulator``, ``scene``, ``agent``, ``embodiment``, ``views``, ``shown_views``
    (0 where its model takes no pictures) and ``leases``. A simulator that is given is used as it
    is; one that has to be made, by the name of its backend or by a function that makes one, is kept
    in the leases.

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
        given = partial(seeing_simulator, given, scene_of(context.scene), context.views)
    if callable(given):
        given = context.leases.get((info.thread_id or info.run_id) if info else None, given)
    by_lot = getattr(context, "prompts", None) != "paper"
    return Walker(given, context.agent, context.embodiment, context.shown_views, by_lot)


class Leases:
    """The simulators that were made for one context, one a run and thread.

    They are closed when the context is gone, or when ``MOST_LEASED`` others were used since;
    whoever comes back then gets a new one, which a walker puts where its state says.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[str | None, Simulator] = OrderedDict()
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._held)

    def get(self, thread: str | None, make: Callable[[], Simulator]) -> Simulator:
        """The simulator of a thread: the one it had, or a new one.

        Args:
            thread: which of the context's runs; None where there is but one.
            make: makes one.
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
