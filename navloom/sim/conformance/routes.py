"""Checks of the conformance suite: ways, and mistakes."""

from __future__ import annotations

from itertools import pairwise

from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene import distance_3d
from navloom.sim.conformance.bench import (
    Bench,
    SkippedError,
    acting,
    close_to,
    expect,
    put,
    put_two,
    refuses,
    unmoved,
)
from navloom.sim.protocol import Hop, Stop

_NOWHERE = "no such viewpoint"


def geodesic_known(bench: Bench) -> None:
    """On the made scene a way has its known length, and leads to the nearest goal."""
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
    """A way is as long there as back, no shorter than straight, and as long as its points."""
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
            rise = _eyes(bench)
            expect(way.metres >= straight - rise - 1e-3, f"{what}: {way.metres} under {straight}")
            length = sum(distance_3d(a, b) for a, b in pairwise(way.points))
            hops = len(way.points) - 1
            close_to(f"{what}: its points", length, way.metres, 1e-3 + hops * rise)
        here = simulator.geodesic(bench.start, [bench.start], DEFAULT_BODY)
        expect(here is not None and here.metres == 0, "a way to where one stands: expected 0 m")


def unreachable(bench: Bench) -> None:
    """Where no way leads the geodesic is None, and a reachable goal beside it is found."""
    with bench.made() as simulator:
        put(simulator, "hub")
        none = simulator.geodesic("hub", ["shed"], DEFAULT_BODY)
        expect(none is None, f"from hub to shed: expected no way, found {none}")
        one = simulator.geodesic("hub", ["shed", "east"], DEFAULT_BODY)
        expect(one is not None, "to shed or east: expected the way to east, found none")


def errors(bench: Bench) -> None:
    """Mistakes are SimulatorErrors of one line, and nobody has moved."""
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
    """A hop along no edge is refused; where one agent's action is, the other has not moved."""
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


def _eyes(bench: Bench) -> float:
    """How much eye heights differ: distances are between cameras in some scenes, ways on floors."""
    heights = [viewpoint.eye_height for viewpoint in bench.scene.viewpoints]
    return max(heights) - min(heights)
