"""Conformance checks of frames, actions, several agents, geodesics, and errors."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from navloom.errors import SimulatorError
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import elevation_to, heading_to
from navloom.scenes.scene import distance_3d
from navloom.sim.conformance.testbed import (
    CheckError,
    SkippedError,
    Testbed,
    deferred_step,
    expect,
    expect_angle,
    expect_close,
    expect_refusal,
    expect_unmoved,
    is_identical,
    reset_at,
    reset_two,
    skip_unless,
    step_agent,
)
from navloom.sim.protocol import (
    CAPABILITIES,
    Action,
    Candidate,
    Forward,
    Hop,
    Look,
    Observation,
    Pose,
    Simulator,
    Stop,
    Turn,
    Velocity,
)

_EAST = math.pi / 2
_SNAP_M = 0.1
"""Tolerance in metres: a backend with geometry may snap a body to its floor."""


def check_protocol(bench: Testbed) -> None:
    """Check that it is a Simulator of its scene, and claims only known capabilities."""
    with bench.simulator() as simulator:
        expect(isinstance(simulator, Simulator), "expected every member of the Simulator protocol")
        expect(simulator.scene.uri == bench.scene.uri, "scene: expected the one it was made for")
        unknown = sorted(set(simulator.capabilities) - CAPABILITIES)
        expect(not unknown, f"capabilities: the protocol knows no {', '.join(unknown)}")


def check_reset(bench: Testbed) -> None:
    """Check that ``reset`` returns each agent's observation at its viewpoint, and drops others."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            pose = reset_at(simulator, viewpoint, heading=1.0).pose
            expect(pose.viewpoint == viewpoint, f"on {viewpoint}, found {pose.viewpoint}")
            expect_angle("the heading that was asked for", pose.heading, 1.0)
        both = reset_two(bench, simulator)
        expect(set(both) == {"one", "two"}, f"expected one and two, found {sorted(both)}")
        expect_refusal("an agent of before the reset", lambda: simulator.step({"robot": Turn()}))


def check_place(bench: Testbed) -> None:
    """Check that ``place`` moves one agent as ``reset`` would, which may act; the others stay."""
    there = bench.samples[-1]
    pose = Pose((0.0, 0.0, 0.0), 2.0, 0.0, there)
    with bench.simulator() as simulator:
        expect_refusal("to place before reset", lambda: simulator.place("one", pose))
        alone = reset_at(simulator, there, heading=2.0, agent="one")
        before = reset_two(bench, simulator)
        simulator.step({"one": Stop()})
        placed = simulator.place("one", pose)
        expect(placed.pose == alone.pose, f"placed on {there}: expected the pose of a reset there")
        same = is_identical(placed.candidates, alone.candidates)
        expect(same, f"placed on {there}: other candidates")
        after = simulator.step({})
        expect(after["one"].pose == placed.pose, "the one that was placed is elsewhere")
        expect(after["two"].pose == before["two"].pose, "the one that was not placed moved")
        for way in placed.candidates[:1]:
            moved = step_agent(simulator, Hop(way.viewpoint), agent="one").pose.viewpoint
            expect(moved == way.viewpoint, "placed after a stop, it did not hop")
        expect_refusal("to place nobody", lambda: simulator.place("nobody", pose))
        nowhere = replace(pose, viewpoint="no such viewpoint")
        expect_refusal("to place nowhere", lambda: simulator.place("two", nowhere))
        expect(simulator.step({})["two"].pose == before["two"].pose, "a refused place moved it")


def check_frame(bench: Testbed) -> None:
    """Check that a pose is on the floor under its viewpoint, in metres, y up."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            found = reset_at(simulator, viewpoint).pose.position
            asked = bench.scene.viewpoint_by_id[viewpoint].ground
            apart = distance_3d(found, asked)
            expect(apart <= _SNAP_M, f"{viewpoint}: expected floor {asked}, found {found}")


def check_compass(bench: Testbed) -> None:
    """Check that heading 0 is -z and grows clockwise, elevation is positive up, units metres."""
    known = {"north": (0.0, 2.0), "east": (90.0, 3.0), "south": (180.0, 4.0), "west": (270.0, 1.5)}
    with bench.made() as simulator:
        skip_unless(simulator, "hop")
        for way in reset_at(simulator, "hub").candidates:
            expect(way.viewpoint in known, f"from the hub to {way.viewpoint}: no edge")
            degrees, metres = known[way.viewpoint]
            expect_angle(f"heading to {way.viewpoint}", way.heading, math.radians(degrees))
            expect_close(f"distance to {way.viewpoint}", way.distance, metres)
        stairs = _way(reset_at(simulator, "east"), "upper")
        expect_angle("elevation to upper", stairs.elevation, math.atan2(1.5, 2.0))
        expect_close("distance to upper", stairs.distance, 2.5)


def check_candidates(bench: Testbed) -> None:
    """Check that candidates are exactly the neighbours, with their direction and distance."""
    places = bench.scene.viewpoint_by_id
    near: dict[str, set[str]] = {each: set() for each in places}
    for edge in bench.scene.edges:
        near[edge.a].add(edge.b)
        near[edge.b].add(edge.a)
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            ways = reset_at(simulator, viewpoint).candidates
            found = [way.viewpoint for way in ways]
            expected = near[viewpoint] - {viewpoint}
            expect(sorted(found) == sorted(expected), f"{viewpoint}: {found} for {expected}")
            for way in ways:
                here, there = places[viewpoint].position, places[way.viewpoint].position
                what = f"{viewpoint} to {way.viewpoint}"
                expect_close(f"{what}: distance", way.distance, distance_3d(here, there))
                if math.hypot(here[0] - there[0], here[2] - there[2]) > 1e-3:
                    expect_angle(f"{what}: heading", way.heading, heading_to(here, there))
                expect_angle(f"{what}: elevation", way.elevation, elevation_to(here, there))


def check_candidate_order(bench: Testbed) -> None:
    """Check that candidates are sorted by global heading, whatever the agent's own heading."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            orders = []
            for heading in (0.0, 2.5, 5.0):
                ways = reset_at(simulator, viewpoint, heading).candidates
                headings = [way.heading for way in ways]
                expect(all(0 <= h < 2 * math.pi for h in headings), f"in [0, 2 pi): {headings}")
                expect(headings == sorted(headings), f"{viewpoint}: not sorted: {headings}")
                orders.append([way.viewpoint for way in ways])
            expect(orders[0] == orders[1] == orders[2], f"{viewpoint}: turning changes the order")


def check_hop(bench: Testbed) -> None:
    """Check a hop to every candidate and back: heading after it, distance and elevation back."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            for way in reset_at(simulator, viewpoint).candidates[:4]:
                reset_at(simulator, viewpoint)
                after = step_agent(simulator, Hop(way.viewpoint))
                what = f"{viewpoint} to {way.viewpoint}"
                expect(after.pose.viewpoint == way.viewpoint, f"{what}: on {after.pose.viewpoint}")
                expect_angle(f"{what}: heading afterwards", after.pose.heading, way.heading)
                back = _way(after, viewpoint)
                expect_close(f"{what}: distance back", back.distance, way.distance)
                expect_angle(f"{what}: elevation back", back.elevation, -way.elevation)
                home = step_agent(simulator, Hop(viewpoint)).pose.viewpoint
                expect(home == viewpoint, f"{what} and back: on {home}")


def check_turn(bench: Testbed) -> None:
    """Check that turning is clockwise, wraps, and moves nothing; that looking up is positive."""
    with bench.simulator() as simulator:
        before = reset_at(simulator, bench.start).pose
        after = step_agent(simulator, Turn(math.radians(30))).pose
        expect_angle("after a turn of 30 degrees", after.heading, math.radians(30))
        after = step_agent(simulator, Turn(math.radians(-60))).pose
        expect_angle("after a turn of -60 degrees more", after.heading, math.radians(330))
        expect(0 <= after.heading < 2 * math.pi, f"heading in [0, 2 pi): {after.heading}")
        up = step_agent(simulator, Look(math.radians(30))).pose
        expect_angle("after looking 30 degrees up", up.elevation, math.radians(30))
        expect_close("metres moved", distance_3d(before.position, up.position), 0.0)
        for _ in range(9):
            up = step_agent(simulator, Look(math.radians(30))).pose
        expect(abs(up.elevation) <= math.pi / 2 + 1e-9, "elevation: at most straight up")


def check_forward(bench: Testbed) -> None:
    """Check that Forward goes 0.25 m ahead; a graph backend may refuse it, without moving."""
    with bench.made() as simulator:
        skip_unless(simulator, "discrete")
        before = reset_at(simulator, "hub", _EAST).pose
        try:
            after = step_agent(simulator, Forward()).pose
        except SimulatorError:
            expect("hop" in simulator.capabilities, "Forward is refused, and there is no Hop")
            expect_unmoved(simulator, before)
            return
        expect_close("0.25 m east: x", after.position[0] - before.position[0], 0.25, 0.02)
        expect_close("0.25 m east: z", after.position[2] - before.position[2], 0.0, 0.02)


def check_velocity(bench: Testbed) -> None:
    """Check that 0.5 m/s for a second is half a metre, and that turning is clockwise."""
    with bench.made() as simulator:
        skip_unless(simulator, "continuous")
        before = reset_at(simulator, "hub", _EAST).pose
        after = step_agent(simulator, Velocity(0.5, 0.0, 1.0)).pose
        expect_close("half a metre east: x", after.position[0] - before.position[0], 0.5, 0.05)
        expect_close("half a metre east: z", after.position[2] - before.position[2], 0.0, 0.05)
        turned = step_agent(simulator, Velocity(0.0, math.radians(90), 0.5)).pose
        expect_angle("after turning", turned.heading, _EAST + math.radians(45), math.radians(2))


def check_unclaimed(bench: Testbed) -> None:
    """Check that actions of unclaimed capabilities are refused, and nobody moves."""
    actions: dict[str, tuple[Action, ...]] = {
        "hop": (Hop(bench.start),),
        "discrete": (Forward(), Turn(), Look()),
        "continuous": (Velocity(0.2, 0.0, 1.0),),
    }
    with bench.simulator() as simulator:
        before = reset_at(simulator, bench.start).pose
        left = [name for name in actions if name not in simulator.capabilities]
        if not left:
            raise SkippedError("every kind of action is claimed")
        for name in left:
            for action in actions[name]:
                expect_refusal(
                    f"{type(action).__name__} without '{name}'", deferred_step(simulator, action)
                )
        expect_unmoved(simulator, before)


def check_stop(bench: Testbed) -> None:
    """Check that Stop changes no pose, and that a stopped agent ignores actions."""
    with bench.simulator() as simulator:
        before = reset_at(simulator, bench.start, heading=1.0)
        after = step_agent(simulator, Stop())
        expect(after.pose == before.pose, f"Stop moved it from {before.pose} to {after.pose}")
        for way in before.candidates[:1]:
            after = step_agent(simulator, Hop(way.viewpoint))
        if "discrete" in simulator.capabilities:
            after = step_agent(simulator, Turn())
        expect(after.pose == before.pose, f"after Stop it moved to {after.pose}")


def check_agents(bench: Testbed) -> None:
    """Check that agents move independently, and that a step returns all observations."""
    with bench.simulator() as simulator:
        before = reset_two(bench, simulator)
        after = simulator.step({"one": Stop()})
        expect(set(after) == {"one", "two"}, f"expected both agents, found {sorted(after)}")
        expect(after["two"].pose == before["two"].pose, "the one that is not named moved")
        for way in before["two"].candidates[:1]:
            after = simulator.step({"two": Hop(way.viewpoint)})
            expect(after["one"].pose == before["one"].pose, "one moved with two")
            expect(after["two"].pose.viewpoint == way.viewpoint, "two did not hop")


def check_determinism(bench: Testbed) -> None:
    """Check that the same seed and actions give the same observations, to the last bit."""
    runs = []
    for _ in range(2):
        with bench.simulator() as simulator:
            seen = [reset_at(simulator, bench.start, seed=7)]
            for k in range(6):
                if ways := seen[-1].candidates:
                    seen.append(step_agent(simulator, Hop(ways[k % len(ways)].viewpoint)))
                if "discrete" in bench.capabilities:
                    seen.append(step_agent(simulator, Turn()))
                if "continuous" in bench.capabilities:
                    seen.append(step_agent(simulator, Velocity(0.3, 0.2, 0.5)))
            runs.append(seen)
    for k, (a, b) in enumerate(zip(*runs, strict=True)):
        expect(is_identical(a, b), f"observation {k} differs between two runs with one seed")


def check_closing(bench: Testbed) -> None:
    """Check that ``close`` may be called twice, and before any reset."""
    simulator = bench.make(bench.scene)
    simulator.close()
    simulator = bench.make(bench.scene)
    reset_at(simulator, bench.start)
    simulator.close()
    simulator.close()


def _way(observation: Observation, viewpoint: str) -> Candidate:
    for way in observation.candidates:
        if way.viewpoint == viewpoint:
            return way
    found = [way.viewpoint for way in observation.candidates]
    raise CheckError(f"expected a way to {viewpoint} among {found}")


_NOWHERE = "no such viewpoint"


def check_geodesic_known(bench: Testbed) -> None:
    """Check a geodesic's known length on the test scene, and that it takes the nearest goal."""
    with bench.made() as simulator:
        reset_at(simulator, "hub")
        way = simulator.geodesic("hub", ["upper"], DEFAULT_BODY)
        expect(way is not None, "from hub to upper: expected a way of 5.5 m, found none")
        if way is not None:
            slack = 0.0 if "hop" in simulator.capabilities else 0.3
            expect_close("from hub to upper", way.metres, 5.5, 1e-3 + slack)
            expect_close("where the way ends: x", way.points[-1][0], 3.0, 0.2)
            expect_close("where the way ends, on the floor: y", way.points[-1][1], 1.5, 0.2)
            expect(way.viewpoints in ((), ("hub", "east", "upper")), f"through {way.viewpoints}")
        near = simulator.geodesic("hub", ["south", "north"], DEFAULT_BODY)
        expect(near is not None, "to the nearest of two: found no way")
        if near is not None:
            expect_close("to the nearest of south (4 m) and north (2 m)", near.metres, 2.0, 0.05)


def check_geodesic(bench: Testbed) -> None:
    """Check that geodesics are symmetric, no shorter than straight, and as long as their points."""
    with bench.simulator() as simulator:
        reset_at(simulator, bench.start)
        for goal in bench.samples[1:]:
            way = simulator.geodesic(bench.start, [goal], DEFAULT_BODY)
            back = simulator.geodesic(goal, [bench.start], DEFAULT_BODY)
            what = f"{bench.start} to {goal}"
            expect((way is None) == (back is None), f"{what}: a way in one direction only")
            if way is None or back is None:
                continue
            expect_close(f"{what}: back", back.metres, way.metres, 0.02)
            straight = distance_3d(way.points[0], way.points[-1])
            # Distances are between cameras in some scenes, and points on floors.
            heights = [viewpoint.eye_height for viewpoint in bench.scene.viewpoints]
            rise = max(heights) - min(heights)
            expect(way.metres >= straight - rise - 1e-3, f"{what}: {way.metres} under {straight}")
            length = sum(distance_3d(a, b) for a, b in pairwise(way.points))
            hops = len(way.points) - 1
            expect_close(f"{what}: its points", length, way.metres, 1e-3 + hops * rise)
        here = simulator.geodesic(bench.start, [bench.start], DEFAULT_BODY)
        expect(here is not None and here.metres == 0, "a way to where one stands: expected 0 m")


def check_unreachable(bench: Testbed) -> None:
    """Check that an unreachable goal gives None, and a reachable one beside it is found."""
    with bench.made() as simulator:
        reset_at(simulator, "hub")
        none = simulator.geodesic("hub", ["shed"], DEFAULT_BODY)
        expect(none is None, f"from hub to shed: expected no way, found {none}")
        one = simulator.geodesic("hub", ["shed", "east"], DEFAULT_BODY)
        expect(one is not None, "to shed or east: expected the way to east, found none")


def check_errors(bench: Testbed) -> None:
    """Check that invalid calls raise one-line SimulatorErrors, and nobody moves."""
    with bench.simulator() as simulator:
        expect_refusal("a step before reset", deferred_step(simulator, Stop()))
        expect_refusal("nobody to reset", lambda: simulator.reset({}))
        expect_refusal("a viewpoint that is not there", lambda: reset_at(simulator, _NOWHERE))
        before = reset_at(simulator, bench.start).pose
        expect_refusal("an unknown agent", lambda: simulator.step({"nobody": Stop()}))
        expect_refusal("no goal", lambda: simulator.geodesic(bench.start, [], DEFAULT_BODY))
        expect_refusal(
            "an unknown goal", lambda: simulator.geodesic(bench.start, [_NOWHERE], DEFAULT_BODY)
        )
        expect_unmoved(simulator, before)


def check_errors_hop(bench: Testbed) -> None:
    """Check that a hop without an edge is refused, and that no other agent moves then."""
    with bench.simulator() as simulator:
        before = reset_at(simulator, bench.start)
        reachable = {way.viewpoint for way in before.candidates}
        expect_refusal("a hop to an unknown viewpoint", deferred_step(simulator, Hop(_NOWHERE)))
        far = [v for v in bench.scene.viewpoint_by_id if v not in reachable | {bench.start}]
        if far:
            expect_refusal("a hop along no edge", deferred_step(simulator, Hop(far[0])))
        expect_refusal("a hop to where one stands", deferred_step(simulator, Hop(bench.start)))
        expect_unmoved(simulator, before.pose)
        if not before.candidates:
            raise SkippedError("no viewpoint has an edge")
        reset_two(bench, simulator)
        good, bad = Hop(before.candidates[0].viewpoint), Hop(_NOWHERE)
        expect_refusal("a hop of two", lambda: simulator.step({"one": good, "two": bad}))
        one = simulator.step({})["one"].pose.viewpoint
        expect(one == bench.start, f"one moved to {one} although the step was refused")
