"""Conformance checks of frames, actions, several agents, geodesics, and errors."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from navloom.errors import SimulatorError
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import elevation_to, heading_to
from navloom.scenes.scene import distance_3d
from navloom.sim.conformance.bench import (
    Bench,
    CheckError,
    SkippedError,
    act,
    acting,
    close_to,
    expect,
    needs,
    put,
    put_two,
    refuses,
    same,
    same_angle,
    unmoved,
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


def protocol(bench: Bench) -> None:
    """Check that it is a Simulator of its scene, and claims only known capabilities."""
    with bench.simulator() as simulator:
        expect(isinstance(simulator, Simulator), "expected every member of the Simulator protocol")
        expect(simulator.scene.uri == bench.scene.uri, "scene: expected the one it was made for")
        unknown = sorted(set(simulator.capabilities) - CAPABILITIES)
        expect(not unknown, f"capabilities: the protocol knows no {', '.join(unknown)}")


def reset(bench: Bench) -> None:
    """Check that ``reset`` returns each agent's observation at its viewpoint, and drops others."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            pose = put(simulator, viewpoint, heading=1.0).pose
            expect(pose.viewpoint == viewpoint, f"on {viewpoint}, found {pose.viewpoint}")
            same_angle("the heading that was asked for", pose.heading, 1.0)
        both = put_two(bench, simulator)
        expect(set(both) == {"one", "two"}, f"expected one and two, found {sorted(both)}")
        refuses("an agent of before the reset", lambda: simulator.step({"robot": Turn()}))


def place(bench: Bench) -> None:
    """Check that ``place`` moves one agent as ``reset`` would, which may act; the others stay."""
    there = bench.samples[-1]
    pose = Pose((0.0, 0.0, 0.0), 2.0, 0.0, there)
    with bench.simulator() as simulator:
        refuses("to place before reset", lambda: simulator.place("one", pose))
        alone = put(simulator, there, heading=2.0, agent="one")
        before = put_two(bench, simulator)
        simulator.step({"one": Stop()})
        placed = simulator.place("one", pose)
        expect(placed.pose == alone.pose, f"placed on {there}: expected the pose of a reset there")
        expect(same(placed.candidates, alone.candidates), f"placed on {there}: other candidates")
        after = simulator.step({})
        expect(after["one"].pose == placed.pose, "the one that was placed is elsewhere")
        expect(after["two"].pose == before["two"].pose, "the one that was not placed moved")
        for way in placed.candidates[:1]:
            moved = act(simulator, Hop(way.viewpoint), agent="one").pose.viewpoint
            expect(moved == way.viewpoint, "placed after a stop, it did not hop")
        refuses("to place nobody", lambda: simulator.place("nobody", pose))
        nowhere = replace(pose, viewpoint="no such viewpoint")
        refuses("to place nowhere", lambda: simulator.place("two", nowhere))
        expect(simulator.step({})["two"].pose == before["two"].pose, "a refused place moved it")


def frame(bench: Bench) -> None:
    """Check that a pose is on the floor under its viewpoint, in metres, y up."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            found = put(simulator, viewpoint).pose.position
            asked = bench.scene.viewpoint_by_id[viewpoint].ground
            apart = distance_3d(found, asked)
            expect(apart <= _SNAP_M, f"{viewpoint}: expected floor {asked}, found {found}")


def compass(bench: Bench) -> None:
    """Check that heading 0 is -z and grows clockwise, elevation is positive up, units metres."""
    known = {"north": (0.0, 2.0), "east": (90.0, 3.0), "south": (180.0, 4.0), "west": (270.0, 1.5)}
    with bench.made() as simulator:
        needs(simulator, "hop")
        for way in put(simulator, "hub").candidates:
            expect(way.viewpoint in known, f"from the hub to {way.viewpoint}: no edge")
            degrees, metres = known[way.viewpoint]
            same_angle(f"heading to {way.viewpoint}", way.heading, math.radians(degrees))
            close_to(f"distance to {way.viewpoint}", way.distance, metres)
        stairs = _way(put(simulator, "east"), "upper")
        same_angle("elevation to upper", stairs.elevation, math.atan2(1.5, 2.0))
        close_to("distance to upper", stairs.distance, 2.5)


def candidates(bench: Bench) -> None:
    """Check that candidates are exactly the neighbours, with their direction and distance."""
    places = bench.scene.viewpoint_by_id
    near: dict[str, set[str]] = {each: set() for each in places}
    for edge in bench.scene.edges:
        near[edge.a].add(edge.b)
        near[edge.b].add(edge.a)
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            ways = put(simulator, viewpoint).candidates
            found = [way.viewpoint for way in ways]
            expected = near[viewpoint] - {viewpoint}
            expect(sorted(found) == sorted(expected), f"{viewpoint}: {found} for {expected}")
            for way in ways:
                here, there = places[viewpoint].position, places[way.viewpoint].position
                what = f"{viewpoint} to {way.viewpoint}"
                close_to(f"{what}: distance", way.distance, distance_3d(here, there))
                if math.hypot(here[0] - there[0], here[2] - there[2]) > 1e-3:
                    same_angle(f"{what}: heading", way.heading, heading_to(here, there))
                same_angle(f"{what}: elevation", way.elevation, elevation_to(here, there))


def candidate_order(bench: Bench) -> None:
    """Check that candidates are sorted by global heading, whatever the agent's own heading."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            orders = []
            for heading in (0.0, 2.5, 5.0):
                ways = put(simulator, viewpoint, heading).candidates
                headings = [way.heading for way in ways]
                expect(all(0 <= h < 2 * math.pi for h in headings), f"in [0, 2 pi): {headings}")
                expect(headings == sorted(headings), f"{viewpoint}: not sorted: {headings}")
                orders.append([way.viewpoint for way in ways])
            expect(orders[0] == orders[1] == orders[2], f"{viewpoint}: turning changes the order")


def hop(bench: Bench) -> None:
    """Check a hop to every candidate and back: heading after it, distance and elevation back."""
    with bench.simulator() as simulator:
        for viewpoint in bench.samples:
            for way in put(simulator, viewpoint).candidates[:4]:
                put(simulator, viewpoint)
                after = act(simulator, Hop(way.viewpoint))
                what = f"{viewpoint} to {way.viewpoint}"
                expect(after.pose.viewpoint == way.viewpoint, f"{what}: on {after.pose.viewpoint}")
                same_angle(f"{what}: heading afterwards", after.pose.heading, way.heading)
                back = _way(after, viewpoint)
                close_to(f"{what}: distance back", back.distance, way.distance)
                same_angle(f"{what}: elevation back", back.elevation, -way.elevation)
                home = act(simulator, Hop(viewpoint)).pose.viewpoint
                expect(home == viewpoint, f"{what} and back: on {home}")


def turn(bench: Bench) -> None:
    """Check that turning is clockwise, wraps, and moves nothing; that looking up is positive."""
    with bench.simulator() as simulator:
        before = put(simulator, bench.start).pose
        after = act(simulator, Turn(math.radians(30))).pose
        same_angle("after a turn of 30 degrees", after.heading, math.radians(30))
        after = act(simulator, Turn(math.radians(-60))).pose
        same_angle("after a turn of -60 degrees more", after.heading, math.radians(330))
        expect(0 <= after.heading < 2 * math.pi, f"heading in [0, 2 pi): {after.heading}")
        up = act(simulator, Look(math.radians(30))).pose
        same_angle("after looking 30 degrees up", up.elevation, math.radians(30))
        close_to("metres moved", distance_3d(before.position, up.position), 0.0)
        for _ in range(9):
            up = act(simulator, Look(math.radians(30))).pose
        expect(abs(up.elevation) <= math.pi / 2 + 1e-9, "elevation: at most straight up")


def forward(bench: Bench) -> None:
    """Check that Forward goes 0.25 m ahead; a graph backend may refuse it, without moving."""
    with bench.made() as simulator:
        needs(simulator, "discrete")
        before = put(simulator, "hub", _EAST).pose
        try:
            after = act(simulator, Forward()).pose
        except SimulatorError:
            expect("hop" in simulator.capabilities, "Forward is refused, and there is no Hop")
            unmoved(simulator, before)
            return
        close_to("0.25 m east: x", after.position[0] - before.position[0], 0.25, 0.02)
        close_to("0.25 m east: z", after.position[2] - before.position[2], 0.0, 0.02)


def velocity(bench: Bench) -> None:
    """Check that 0.5 m/s for a second is half a metre, and that turning is clockwise."""
    with bench.made() as simulator:
        needs(simulator, "continuous")
        before = put(simulator, "hub", _EAST).pose
        after = act(simulator, Velocity(0.5, 0.0, 1.0)).pose
        close_to("half a metre east: x", after.position[0] - before.position[0], 0.5, 0.05)
        close_to("half a metre east: z", after.position[2] - before.position[2], 0.0, 0.05)
        turned = act(simulator, Velocity(0.0, math.radians(90), 0.5)).pose
        same_angle("after turning", turned.heading, _EAST + math.radians(45), math.radians(2))


def unclaimed(bench: Bench) -> None:
    """Check that actions of unclaimed capabilities are refused, and nobody moves."""
    actions: dict[str, tuple[Action, ...]] = {
        "hop": (Hop(bench.start),),
        "discrete": (Forward(), Turn(), Look()),
        "continuous": (Velocity(0.2, 0.0, 1.0),),
    }
    with bench.simulator() as simulator:
        before = put(simulator, bench.start).pose
        left = [name for name in actions if name not in simulator.capabilities]
        if not left:
            raise SkippedError("every kind of action is claimed")
        for name in left:
            for action in actions[name]:
                refuses(f"{type(action).__name__} without '{name}'", acting(simulator, action))
        unmoved(simulator, before)


def stop(bench: Bench) -> None:
    """Check that Stop changes no pose, and that a stopped agent ignores actions."""
    with bench.simulator() as simulator:
        before = put(simulator, bench.start, heading=1.0)
        after = act(simulator, Stop())
        expect(after.pose == before.pose, f"Stop moved it from {before.pose} to {after.pose}")
        for way in before.candidates[:1]:
            after = act(simulator, Hop(way.viewpoint))
        if "discrete" in simulator.capabilities:
            after = act(simulator, Turn())
        expect(after.pose == before.pose, f"after Stop it moved to {after.pose}")


def agents(bench: Bench) -> None:
    """Check that agents move independently, and that a step returns all observations."""
    with bench.simulator() as simulator:
        before = put_two(bench, simulator)
        after = simulator.step({"one": Stop()})
        expect(set(after) == {"one", "two"}, f"expected both agents, found {sorted(after)}")
        expect(after["two"].pose == before["two"].pose, "the one that is not named moved")
        for way in before["two"].candidates[:1]:
            after = simulator.step({"two": Hop(way.viewpoint)})
            expect(after["one"].pose == before["one"].pose, "one moved with two")
            expect(after["two"].pose.viewpoint == way.viewpoint, "two did not hop")


def determinism(bench: Bench) -> None:
    """Check that the same seed and actions give the same observations, to the last bit."""
    runs = []
    for _ in range(2):
        with bench.simulator() as simulator:
            seen = [put(simulator, bench.start, seed=7)]
            for k in range(6):
                if ways := seen[-1].candidates:
                    seen.append(act(simulator, Hop(ways[k % len(ways)].viewpoint)))
                if "discrete" in bench.capabilities:
                    seen.append(act(simulator, Turn()))
                if "continuous" in bench.capabilities:
                    seen.append(act(simulator, Velocity(0.3, 0.2, 0.5)))
            runs.append(seen)
    for k, (a, b) in enumerate(zip(*runs, strict=True)):
        expect(same(a, b), f"observation {k} differs between two runs with one seed")


def closing(bench: Bench) -> None:
    """Check that ``close`` may be called twice, and before any reset."""
    simulator = bench.make(bench.scene)
    simulator.close()
    simulator = bench.make(bench.scene)
    put(simulator, bench.start)
    simulator.close()
    simulator.close()


def _way(observation: Observation, viewpoint: str) -> Candidate:
    for way in observation.candidates:
        if way.viewpoint == viewpoint:
            return way
    found = [way.viewpoint for way in observation.candidates]
    raise CheckError(f"expected a way to {viewpoint} among {found}")


_NOWHERE = "no such viewpoint"


def geodesic_known(bench: Bench) -> None:
    """Check a geodesic's known length on the test scene, and that it takes the nearest goal."""
    with bench.made() as simulator:
        put(simulator, "hub")
        way = simulator.geodesic("hub", ["upper"], DEFAULT_BODY)
        expect(way is not None, "from hub to upper: expected a way of 5.5 m, found none")
        if way is not None:
            slack = 0.0 if "hop" in simulator.capabilities else 0.3
            close_to("from hub to upper", way.metres, 5.5, 1e-3 + slack)
            close_to("where the way ends: x", way.points[-1][0], 3.0, 0.2)
            close_to("where the way ends, on the floor: y", way.points[-1][1], 1.5, 0.2)
            expect(way.viewpoints in ((), ("hub", "east", "upper")), f"through {way.viewpoints}")
        near = simulator.geodesic("hub", ["south", "north"], DEFAULT_BODY)
        expect(near is not None, "to the nearest of two: found no way")
        if near is not None:
            close_to("to the nearest of south (4 m) and north (2 m)", near.metres, 2.0, 0.05)


def geodesic(bench: Bench) -> None:
    """Check that geodesics are symmetric, no shorter than straight, and as long as their points."""
    with bench.simulator() as simulator:
        put(simulator, bench.start)
        for goal in bench.samples[1:]:
            way = simulator.geodesic(bench.start, [goal], DEFAULT_BODY)
            back = simulator.geodesic(goal, [bench.start], DEFAULT_BODY)
            what = f"{bench.start} to {goal}"
            expect((way is None) == (back is None), f"{what}: a way in one direction only")
            if way is None or back is None:
                continue
            close_to(f"{what}: back", back.metres, way.metres, 0.02)
            straight = distance_3d(way.points[0], way.points[-1])
            # Distances are between cameras in some scenes, and points on floors.
            heights = [viewpoint.eye_height for viewpoint in bench.scene.viewpoints]
            rise = max(heights) - min(heights)
            expect(way.metres >= straight - rise - 1e-3, f"{what}: {way.metres} under {straight}")
            length = sum(distance_3d(a, b) for a, b in pairwise(way.points))
            hops = len(way.points) - 1
            close_to(f"{what}: its points", length, way.metres, 1e-3 + hops * rise)
        here = simulator.geodesic(bench.start, [bench.start], DEFAULT_BODY)
        expect(here is not None and here.metres == 0, "a way to where one stands: expected 0 m")


def unreachable(bench: Bench) -> None:
    """Check that an unreachable goal gives None, and a reachable one beside it is found."""
    with bench.made() as simulator:
        put(simulator, "hub")
        none = simulator.geodesic("hub", ["shed"], DEFAULT_BODY)
        expect(none is None, f"from hub to shed: expected no way, found {none}")
        one = simulator.geodesic("hub", ["shed", "east"], DEFAULT_BODY)
        expect(one is not None, "to shed or east: expected the way to east, found none")


def errors(bench: Bench) -> None:
    """Check that invalid calls raise one-line SimulatorErrors, and nobody moves."""
    with bench.simulator() as simulator:
        refuses("a step before reset", acting(simulator, Stop()))
        refuses("nobody to reset", lambda: simulator.reset({}))
        refuses("a viewpoint that is not there", lambda: put(simulator, _NOWHERE))
        before = put(simulator, bench.start).pose
        refuses("an unknown agent", lambda: simulator.step({"nobody": Stop()}))
        refuses("no goal", lambda: simulator.geodesic(bench.start, [], DEFAULT_BODY))
        refuses(
            "an unknown goal", lambda: simulator.geodesic(bench.start, [_NOWHERE], DEFAULT_BODY)
        )
        unmoved(simulator, before)


def errors_hop(bench: Bench) -> None:
    """Check that a hop without an edge is refused, and that no other agent moves then."""
    with bench.simulator() as simulator:
        before = put(simulator, bench.start)
        reachable = {way.viewpoint for way in before.candidates}
        refuses("a hop to an unknown viewpoint", acting(simulator, Hop(_NOWHERE)))
        far = [v for v in bench.scene.viewpoint_by_id if v not in reachable | {bench.start}]
        if far:
            refuses("a hop along no edge", acting(simulator, Hop(far[0])))
        refuses("a hop to where one stands", acting(simulator, Hop(bench.start)))
        unmoved(simulator, before.pose)
        if not before.candidates:
            raise SkippedError("no viewpoint has an edge")
        put_two(bench, simulator)
        good, bad = Hop(before.candidates[0].viewpoint), Hop(_NOWHERE)
        refuses("a hop of two", lambda: simulator.step({"one": good, "two": bad}))
        one = simulator.step({})["one"].pose.viewpoint
        expect(one == bench.start, f"one moved to {one} although the step was refused")
