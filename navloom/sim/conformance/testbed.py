"""Support code of the conformance checks: backend under test, test scene, and assertions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from navloom.errors import SimulatorError
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import turn_between
from navloom.scenes.scene import Box, Edge, Floor, Item, Point3, Region, Scene, Viewpoint, Wall
from navloom.sim.protocol import Action, Observation, Pose, Simulator, View

Make = Callable[..., Simulator]
"""Creates a simulator of a scene; takes ``physics`` by name if it supports it."""
EYE_M = 1.5
_SAMPLES = 12


class CheckError(AssertionError):
    """Error of a failed check; the message says what was expected and what was found."""


class SkippedError(Exception):
    """Error of a check that does not apply here; the message says why."""


@dataclass
class Testbed:
    """Backend under test, and a scene for it.

    Attributes:
        make: creates a simulator of a scene.
        scene: the scene; it must have viewpoints.
    """

    make: Make
    scene: Scene

    @contextmanager
    def simulator(self, scene: Scene | None = None) -> Iterator[Simulator]:
        """Yield a new simulator, and close it afterwards."""
        simulator = self.make(self.scene if scene is None else scene)
        try:
            yield simulator
        finally:
            simulator.close()

    @contextmanager
    def made(self) -> Iterator[Simulator]:
        """Yield a new simulator of the test scene; skip if the backend does not support it."""
        try:
            simulator = self.make(make_test_scene())
        except SimulatorError as error:
            raise SkippedError(f"the backend takes no made scene: {error}") from error
        try:
            yield simulator
        finally:
            simulator.close()

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """Capabilities that the backend claims in this scene."""
        with self.simulator() as simulator:
            return frozenset(simulator.capabilities)

    @cached_property
    def samples(self) -> list[str]:
        """Viewpoints sampled over the scene, the one with most edges first."""
        degree = dict.fromkeys(self.scene.viewpoint_by_id, 0)
        for edge in self.scene.edges:
            degree[edge.a] += 1
            degree[edge.b] += 1
        names = list(degree)
        spread = names[:: max(1, len(names) // _SAMPLES)][:_SAMPLES]
        return list(dict.fromkeys([max(names, key=lambda v: degree[v]), *spread]))

    @cached_property
    def start(self) -> str:
        """Viewpoint with most edges."""
        return self.samples[0]


def reset_at(
    simulator: Simulator,
    viewpoint: str,
    heading: float = 0.0,
    seed: int = 0,
    *,
    agent: str = "robot",
) -> Observation:
    """Reset the simulator with one agent on a viewpoint, and return its observation."""
    pose = Pose((0.0, 0.0, 0.0), heading, 0.0, viewpoint)
    return simulator.reset({agent: (pose, DEFAULT_BODY)}, seed=seed)[agent]


def step_agent(simulator: Simulator, action: Action, *, agent: str = "robot") -> Observation:
    """Execute one agent's action and return its observation."""
    return simulator.step({agent: action})[agent]


def reset_two(bench: Testbed, simulator: Simulator) -> dict[str, Observation]:
    """Reset with two agents, ``one`` and ``two``, on one viewpoint; return the observations."""
    pose = Pose((0.0, 0.0, 0.0), 0.0, 0.0, bench.start)
    return dict(simulator.reset(dict.fromkeys(("one", "two"), (pose, DEFAULT_BODY))))


def deferred_step(simulator: Simulator, action: Action) -> Callable[[], Observation]:
    """Return a function that executes the agent's action when it is called."""
    return lambda: step_agent(simulator, action)


def expect_unmoved(simulator: Simulator, before: Pose) -> None:
    """Fail if the single agent has moved."""
    (after,) = (seen.pose for seen in simulator.step({}).values())
    expect(after == before, f"a refused action moved it from {before} to {after}")


def skip_unless(simulator: Simulator, capability: str) -> None:
    """Skip the check if a capability is not claimed."""
    if capability not in simulator.capabilities:
        raise SkippedError(f"'{capability}' is not claimed")


def expect(true: bool, message: str) -> None:
    """Fail with a message unless a condition is true."""
    if not true:
        raise CheckError(message)


def expect_close(what: str, found: float, expected: float, within: float = 1e-3) -> None:
    """Fail unless two numbers are about equal."""
    expect(
        math.isfinite(found) and abs(found - expected) <= within,
        f"{what}: expected {expected:.4f}, found {found:.4f}",
    )


def expect_angle(what: str, found: float, expected: float, within: float = 1e-3) -> None:
    """Fail unless two headings in radians are about equal; the message uses degrees."""
    expect(
        math.isfinite(found) and abs(turn_between(expected, found)) <= within,
        f"{what}: expected {math.degrees(expected):.2f} degrees, found {math.degrees(found):.2f}",
    )


def expect_refusal(what: str, call: Callable[[], object]) -> None:
    """Fail unless a call raises a SimulatorError of one line."""
    try:
        call()
    except SimulatorError as error:
        text = str(error)
        expect(bool(text) and "\n" not in text, f"{what}: expected one line, got {text!r}")
        return
    except Exception as error:
        raise CheckError(
            f"{what}: expected a SimulatorError, got {type(error).__name__}: {error}"
        ) from error
    raise CheckError(f"{what}: expected a SimulatorError, and nothing was raised")


def is_identical(a: Any, b: Any) -> bool:
    """Check whether two observations, or parts of them, are bit-identical."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    if isinstance(a, Observation | View) and type(a) is type(b):
        return all(is_identical(getattr(a, each.name), getattr(b, each.name)) for each in fields(a))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(is_identical(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(is_identical(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def make_test_scene() -> Scene:
    """Build the test scene, in which every heading and length is known.

    Four viewpoints around a hub, a flight of steps, and a shed without an edge to the rest; the
    camera is 1.5 m above the floor everywhere:

        north (0, 0, -2)                    upper (3, 1.5, -2), above east's far side
        west  (-1.5, 0, 0)  hub (0, 0, 0)  east (3, 0, 0)
        south (0, 0, 4)                     shed, shed_end (20, 0, 0) and (21, 0, 0)

    A wall stands at x = -3, from z = -4 to 4, and a lamp of 0.3 x 1 x 0.3 m at (0.6, -1.8). hub to
    east is 3 m, east to upper 2.5 m (1.5 up and 2 ahead), so hub to upper is 5.5 m.
    """
    floors = {
        "hub": (0.0, 0.0, 0.0),
        "north": (0.0, 0.0, -2.0),
        "east": (3.0, 0.0, 0.0),
        "south": (0.0, 0.0, 4.0),
        "west": (-1.5, 0.0, 0.0),
        "upper": (3.0, 1.5, -2.0),
        "shed": (20.0, 0.0, 0.0),
        "shed_end": (21.0, 0.0, 0.0),
    }
    joined = ["north", "east", "south", "west"]
    return Scene(
        id="compass",
        source="conformance",
        floors=(Floor(id=1, height=0.0),),
        regions=(
            _region("Hall_1", "hall", (0.0, 0.0, 0.0), (12.0, 3.0, 12.0)),
            _region("Shed_2", "shed", (20.5, 0.0, 0.0), (5.0, 3.0, 5.0)),
        ),
        items=(
            Item(
                id="lamp",
                name="lamp",
                kind="object",
                region="Hall_1",
                position=(0.6, 0.5, -1.8),
                size=(0.3, 1.0, 0.3),
            ),
            Item(id="bench", name="bench", kind="asset", region="Hall_1", position=(3.5, 0.3, 1.0)),
        ),
        viewpoints=tuple(
            Viewpoint(
                id=name,
                position=(x, y + EYE_M, z),
                region="Shed_2" if name.startswith("shed") else "Hall_1",
                eye_height=EYE_M,
            )
            for name, (x, y, z) in floors.items()
        ),
        edges=(
            *(Edge(a="hub", b=each) for each in joined),
            Edge(a="upper", b="east"),
            Edge(a="shed", b="shed_end"),
        ),
        walls=(Wall(a=(-3.0, -4.0), b=(-3.0, 4.0), bottom=0.0, height=2.5),),
    )


def _region(name: str, label: str, center: Point3, size: Point3) -> Region:
    x, y, z = center
    box = Box(center=(x, y + size[1] / 2, z), size=size)
    return Region(id=name, label=label, center=center, box=box)
