"""Conformance checks of contacts: bodies that drive, touch obstacles, and block each other.

They use a test scene: from ``start`` (0, 0, 0) a gate of 0.8 m in a wall at x = 2 leads to
``beyond``, and a sill of 0.1 m lies before ``south``. A block stands on the edge to ``north``, and
a pillar on the viewpoint ``pillar``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from navloom.errors import SimulatorError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Edge, Item, Point3, Scene, Viewpoint, Wall, distance_3d
from navloom.sim.conformance.testbed import (
    EYE_M,
    SkippedError,
    Testbed,
    deferred_step,
    expect,
    expect_angle,
    expect_close,
    expect_refusal,
    expect_unmoved,
    make_test_scene,
    step_agent,
)
from navloom.sim.protocol import (
    Action,
    Contact,
    Forward,
    Hop,
    Observation,
    Pose,
    Simulator,
    Turn,
    Velocity,
    Waypoint,
)

_NORTH, _EAST, _SOUTH, _WEST = (k * math.pi / 2 for k in range(4))
_GATE_X = 2.0
_NEAR_M = 0.15
"""Tolerance in metres: a navmesh keeps a cell or two more than a body's radius."""
_FLOORS: dict[str, Point3] = {
    "start": (0.0, 0.0, 0.0),
    "beyond": (4.0, 0.0, 0.0),
    "south": (0.0, 0.0, 4.0),
    "north": (0.0, 0.0, -4.0),
    "pillar": (-4.0, 0.0, 0.0),
}
_SLIM = Embodiment(name="SLIM", width=0.4)
_WIDE = Embodiment(name="WIDE", width=1.0)
_CLIMBING = Embodiment(name="CLIMBING", max_step=0.15, stairs=False)
_ROLLING = Embodiment(name="ROLLING", max_step=0.02, stairs=False)
_STILL = Embodiment(name="STATUE", speed=0.0, turn_speed=0.0)
_GIANT = Embodiment(name="GIANT", width=20.0)


def make_course() -> Scene:
    """Build the test scene of the module's docstring."""
    hall = next(each for each in make_test_scene().regions if each.id == "Hall_1")
    return Scene(
        id="course",
        source="conformance",
        floors=make_test_scene().floors,
        regions=(hall,),
        items=(
            _item("sill", (0.0, 0.05, 2.0), (4.0, 0.1, 0.3)),
            _item("block", (0.1, 0.5, -2.0), (0.3, 1.0, 0.3)),
            _item("pillar", (-4.0, 1.0, 0.0), (0.3, 2.0, 0.3)),
        ),
        viewpoints=tuple(
            Viewpoint(id=name, position=(x, y + EYE_M, z), region="Hall_1", eye_height=EYE_M)
            for name, (x, y, z) in _FLOORS.items()
        ),
        edges=tuple(Edge(a="start", b=name) for name in _FLOORS if name != "start"),
        walls=tuple(
            Wall(a=(_GATE_X, a), b=(_GATE_X, b), bottom=0.0, height=2.5)
            for a, b in ((-5.0, -0.4), (0.4, 5.0))
        ),
    )


def _item(name: str, position: Point3, size: Point3) -> Item:
    return Item(id=name, name=name, kind="asset", region="Hall_1", position=position, size=size)


@contextmanager
def _course(bench: Testbed, physics: str | None = None) -> Iterator[Simulator]:
    """Yield a new simulator of the test scene; skip if the backend does not support it."""
    try:
        if physics is None:
            simulator = bench.make(make_course())
        else:
            simulator = bench.make(make_course(), physics=physics)
    except TypeError as error:
        raise SkippedError(f"the backend is made without physics: {error}") from error
    except SimulatorError as error:
        raise SkippedError(f"the backend takes no made scene: {error}") from error
    try:
        yield simulator
    finally:
        simulator.close()


def _put(simulator: Simulator, heading: float, body: Embodiment = _SLIM) -> Observation:
    pose = Pose(_FLOORS["start"], heading, 0.0, "start")
    return simulator.reset({"robot": (pose, body)})["robot"]


def _touched(seen: Observation, what: str, metres: float, near: Point3) -> Contact:
    """Return the one contact with an obstacle, after checking its displacement and position."""
    found = [contact for contact in seen.contacts if contact.what == what]
    named = [contact.what for contact in seen.contacts]
    expect(len(found) == 1, f"expected one contact with {what}, found {named}")
    expect_close(f"what {what} took of the motion", found[0].displacement, metres, _NEAR_M)
    x, _, z = found[0].point
    off = math.hypot(x - near[0], z - near[2])
    expect(off <= 2 * _NEAR_M, f"{what}: touched at {found[0].point}, expected it near {near}")
    return found[0]


def check_body_width(bench: Testbed) -> None:
    """Check that a gate stops a wide body, reports the contact, and lets a slim body pass."""
    with _course(bench) as simulator:
        _put(simulator, _EAST)
        slim = step_agent(simulator, Forward(3.5))
        expect_close("a slim body through the gate: x", slim.pose.position[0], 3.5, 0.03)
        expect(not slim.contacts, f"it touched {slim.contacts} in a gate twice as wide")
        _put(simulator, _EAST, _WIDE)
        wide = step_agent(simulator, Forward(3.5))
        x = wide.pose.position[0]
        expect(x < _GATE_X, f"a body 1 m wide went through a gate of 0.8 m, to x = {x:.2f}")
        expect(x > _GATE_X - 0.9, f"it was stopped {_GATE_X - x:.2f} m before the gate")
        found = _touched(wide, "wall", 3.5 - x, (_GATE_X, 0.0, 0.4 * math.copysign(1, _side(wide))))
        expect(found.point[0] > x, "it touched the gate behind it")


def _side(seen: Observation) -> float:
    return next((each.point[2] for each in seen.contacts if each.what == "wall"), 0.0)


def check_body_step(bench: Testbed) -> None:
    """Check that a sill of 0.1 m stops only a body that cannot step so high."""
    with _course(bench) as simulator:
        _put(simulator, _SOUTH, _CLIMBING)
        over = step_agent(simulator, Forward(3.5))
        expect_close("who climbs 0.15 m: z", over.pose.position[2], 3.5, 0.05)
        _put(simulator, _SOUTH, _ROLLING)
        stopped = step_agent(simulator, Forward(3.5))
        z = stopped.pose.position[2]
        expect(z < 1.85, f"who climbs 0.02 m went over a sill of 0.1 m, to z = {z:.2f}")
        _touched(stopped, "sill", 3.5 - z, (0.0, 0.0, 1.85))


def check_back_and_forth(bench: Testbed) -> None:
    """Check that driving backwards undoes driving forwards, with the heading unchanged."""
    with _course(bench) as simulator:
        start = _put(simulator, 1.0)
        there = step_agent(simulator, Forward(0.75))
        expect_close("0.75 m on", distance_3d(start.pose.position, there.pose.position), 0.75, 0.02)
        expect(there.candidates == (), "off the graph there are candidates")
        back = step_agent(simulator, Forward(-0.75))
        off = distance_3d(start.pose.position, back.pose.position)
        expect_close("0.75 m back: metres off", off, 0.0, 0.02)
        expect_angle("its heading", back.pose.heading, 1.0)
        expect(back.pose.viewpoint == "start", f"back on start, found {back.pose.viewpoint}")


def check_contacts(bench: Testbed) -> None:
    """Check a contact's item, displacement and position, and that the next action starts anew."""
    with _course(bench) as simulator:
        _put(simulator, _NORTH)
        met = step_agent(simulator, Forward(3.0))
        gone = -met.pose.position[2]
        _touched(met, "block", 3.0 - gone, (0.1, 0.0, -1.85))
        expect(not met.collision, "a collision, and nothing was said to end here")
        away = step_agent(simulator, Forward(-0.25))
        expect(not away.contacts, f"backwards off the block it touched {away.contacts}")


def check_blocking(bench: Testbed) -> None:
    """Check that agents block each other by name, and act in the mapping's order."""
    with _course(bench) as simulator:
        one = Pose(_FLOORS["start"], _EAST, 0.0, "start")
        two = Pose((1.2, 0.0, 0.0), _WEST)
        simulator.reset({"one": (one, _SLIM), "two": (two, _SLIM)})
        seen = simulator.step({"one": Forward(2.0)})
        expect_close("up to the other: x", seen["one"].pose.position[0], 0.8, 0.03)
        _touched(seen["one"], "two", 1.2, (1.0, 0.0, 0.0))
        expect(not seen["two"].contacts, "who stood still is told a contact")
        expect_close("the other: x", seen["two"].pose.position[0], 1.2, 0.03)
        simulator.reset({"one": (one, _SLIM), "two": (two, _SLIM)})
        seen = simulator.step({"one": Forward(0.6), "two": Forward(0.6)})
        expect_close("the first: x", seen["one"].pose.position[0], 0.6, 0.03)
        expect(not seen["one"].contacts, "the first to act was blocked by where the other went")
        _touched(seen["two"], "one", 0.4, (0.8, 0.0, 0.0))
        seen = simulator.step({"two": Turn(), "one": Forward(-0.25)})
        expect(not seen["one"].contacts, "they do not come apart")


def check_velocity_arc(bench: Testbed) -> None:
    """Check that driving while turning is an arc: a quarter circle ends a radius on and aside."""
    with _course(bench) as simulator:
        _put(simulator, _SOUTH)
        seen = step_agent(simulator, Velocity(0.5, math.pi / 4, 2.0))
        radius = 0.5 / (math.pi / 4)
        expect_close("a quarter circle to the right: x", seen.pose.position[0], -radius, 0.02)
        expect_close("a quarter circle to the right: z", seen.pose.position[2], radius, 0.02)
        expect_angle("its heading", seen.pose.heading, _WEST, math.radians(1))


def check_waypoint(bench: Testbed) -> None:
    """Check that a waypoint is reached around obstacles, and an unreachable one refused."""
    with _course(bench) as simulator:
        goal = (0.0, 0.0, -3.0)
        _put(simulator, _EAST)
        seen = step_agent(simulator, Waypoint(goal))
        off = distance_3d(seen.pose.position, goal)
        expect_close("metres off the point", off, 0.0, 0.1)
        expect_refusal("a point in a thing", deferred_step(simulator, Waypoint((-4.0, 0.0, 0.0))))
        expect_refusal("a point nowhere", deferred_step(simulator, Waypoint((90.0, 0.0, 0.0))))
        expect_unmoved(simulator, seen.pose)


def check_physics_free(bench: Testbed) -> None:
    """Check that under all physics a free hop ends on its viewpoint without a contact."""
    for physics in ("off", "slide", "strict", "telhop"):
        with _course(bench, physics) as simulator:
            _put(simulator, 0.0)
            for way in ("beyond", "start"):
                seen = step_agent(simulator, Hop(way))
                what = f"{physics}: the hop to {way}"
                expect(seen.pose.viewpoint == way, f"{what} ended on {seen.pose.viewpoint}")
                off = distance_3d(seen.pose.position, _FLOORS[way])
                expect_close(f"{what}: metres off", off, 0.0, 0.1)
                expect(not seen.contacts, f"{what} touched {seen.contacts}")
                expect(not seen.collision, f"{what} is a collision")


def check_physics_met(bench: Testbed) -> None:
    """Check a hop past a block: off ignores it, slide passes, strict ends, telhop teleports."""
    for physics in ("off", "slide", "strict", "telhop"):
        with _course(bench, physics) as simulator:
            _put(simulator, 0.0)
            seen = step_agent(simulator, Hop("north"))
            named = [contact.what for contact in seen.contacts]
            expected = ["block"] if physics in ("slide", "strict") else []
            expect(named == expected, f"{physics}: expected contacts {expected}, found {named}")
            ended = physics == "strict"
            expect(seen.collision == ended, f"{physics}: collision is {seen.collision}")
            if not ended:
                on = seen.pose.viewpoint
                expect(on == "north", f"{physics}: expected it on north, found {on}")
                continue
            expect(seen.contacts[0].displacement >= 0.1, "a collision under the threshold")
            again = step_agent(simulator, Hop("start"))
            expect(again.pose == seen.pose, "after a collision it moved")
            expect(again.collision, "a collision is over without place()")
            placed = simulator.place("robot", Pose(_FLOORS["start"], viewpoint="start"))
            expect(not placed.collision, "a collision stays after place()")
            on = step_agent(simulator, Hop("beyond")).pose.viewpoint
            expect(on == "beyond", f"placed after a collision it went to {on}")


def check_physics_settled(bench: Testbed) -> None:
    """Check that a body that does not fit on a viewpoint stands beside it, by its name."""
    for physics in ("slide", "telhop"):
        with _course(bench, physics) as simulator:
            _put(simulator, 0.0)
            seen = step_agent(simulator, Hop("pillar"))
            on = seen.pose.viewpoint
            expect(on == "pillar", f"{physics}: expected it on pillar, found {on}")
            off = distance_3d(seen.pose.position, _FLOORS["pillar"])
            expect(0.3 < off < 1.0, f"{physics}: {off:.2f} m from the middle of a pillar")
            expect(bool(seen.candidates), f"{physics}: no candidates on pillar")
            if physics == "telhop":
                _touched(seen, "pillar", off, _FLOORS["pillar"])
            home = step_agent(simulator, Hop("start")).pose.viewpoint
            expect(home == "start", f"{physics}: back from pillar: on {home}")


def check_errors_body(bench: Testbed) -> None:
    """Check that impossible actions of a body raise one-line errors, and nobody moves."""
    nan = math.nan
    with _course(bench) as simulator:
        before = _put(simulator, _EAST)
        wrong: dict[str, Action] = {
            "a velocity of NaN": Velocity(nan, 0.0, 1.0),
            "a velocity for -1 seconds": Velocity(0.1, 0.0, -1.0),
            "a turn for ever": Turn(math.inf),
            "NaN forward": Forward(nan),
            "a waypoint of NaN": Waypoint((0.0, nan, 0.0)),
        }
        for what, action in wrong.items():
            expect_refusal(what, deferred_step(simulator, action))
        expect_unmoved(simulator, before.pose)
        in_block = Pose((0.1, 0.0, -2.0))
        expect_refusal("a start in a thing", lambda: simulator.place("robot", in_block))
        expect_unmoved(simulator, before.pose)
        _put(simulator, _EAST, _STILL)
        expect_refusal("a body without motion to drive", deferred_step(simulator, Forward()))
    with _course(bench, "slide") as simulator:
        expect_refusal("a body that fits nowhere", lambda: _put(simulator, 0.0, _GIANT))
    course = make_course()
    expect_refusal(
        "a threshold of -1", lambda: bench.make(course, physics="strict", collision_threshold=-1)
    )
    expect_refusal("physics of no kind", lambda: bench.make(course, physics="slippery"))
