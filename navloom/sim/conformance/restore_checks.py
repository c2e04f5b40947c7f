"""Conformance checks of saving a simulator's state and continuing from it exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from navloom.sim import protocol
from navloom.sim.conformance.testbed import (
    CheckError,
    Testbed,
    expect,
    expect_refusal,
    is_identical,
    reset_at,
    reset_two,
    step_agent,
)


def check_restore(bench: Testbed) -> None:
    """Check that a state saved as JSON gives the same observations in another simulator."""
    with bench.simulator() as one, bench.simulator() as other:
        reset_two(bench, one)
        for turn in range(4):
            seen = one.step(_action(bench, one, turn))
            _goes_on(bench, _restorable(one), _restorable(other), seen, turn)
        seen = one.step({"one": protocol.Stop()})
        _goes_on(bench, _restorable(one), _restorable(other), seen, 0)


def check_restore_changed(bench: Testbed) -> None:
    """Check that a restore brings scene changes back, and undoes later ones."""
    with bench.made() as made, bench.made() as another:
        one, other = _restorable(made), _restorable(another)
        reset_at(one, "hub")
        before, scene = _saved(one), one.scene
        bare = scene.replace(items=scene.items[1:])
        assert isinstance(made, protocol.ChangingSimulator)  # noqa: S101  as it claims
        seen = made.change(bare)
        found = other.restore(_saved(one))
        expect(other.scene == bare, "the lamp is there again after a restore")
        expect(is_identical(seen, found), _OTHERWISE)
        other.restore(before)
        expect(other.scene == scene, "the lamp is gone after a restore of before it was")


def check_errors_restore(bench: Testbed) -> None:
    """Check that an invalid state is refused in one line, and nothing changes."""
    with bench.simulator() as made:
        simulator = _restorable(made)
        expect_refusal("a state before reset", simulator.state)
        reset_at(simulator, bench.start)
        good = _saved(simulator)
        before = step_agent(simulator, protocol.Stop())
        broken: dict[str, dict[str, Any]] = {
            "an empty state": {},
            "a state with more in it": {**good, "and": "more"},
            "a state without its first part": dict(list(good.items())[1:]),
        }
        for what, state in broken.items():
            expect_refusal(what, partial(simulator.restore, state))
        (after,) = simulator.step({}).values()
        expect(is_identical(before, after), "a state that was refused has changed something")


_OTHERWISE = "it observes something else after a restore"


def _restorable(simulator: protocol.Simulator) -> protocol.RestorableSimulator:
    if not isinstance(simulator, protocol.RestorableSimulator):
        raise CheckError("'restore' is claimed: expected state() and restore()")
    return simulator


def _goes_on(
    bench: Testbed,
    one: protocol.RestorableSimulator,
    other: protocol.RestorableSimulator,
    seen: Mapping[str, protocol.Observation],
    turn: int,
) -> None:
    state = _saved(one)
    expect(is_identical(other.restore(state), seen), _OTHERWISE)
    expect(_saved(other) == state, "the state after a restore is another one")
    action = _action(bench, one, turn + 1)
    expect(is_identical(one.step(action), other.step(action)), f"a step later {_OTHERWISE}")
    one.restore(state)


def _saved(simulator: protocol.RestorableSimulator) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(json.dumps(simulator.state()))
    return state


def _action(bench: Testbed, simulator: protocol.Simulator, turn: int) -> dict[str, protocol.Action]:
    seen = simulator.step({})["one"]
    if turn % 2 and "continuous" in bench.capabilities:
        return {"one": protocol.Velocity(0.3, 0.4, 0.5)}
    if "hop" in bench.capabilities and seen.candidates:
        return {"one": protocol.Hop(seen.candidates[turn % len(seen.candidates)].viewpoint)}
    return (
        {"one": protocol.Turn()} if "discrete" in bench.capabilities else {"one": protocol.Stop()}
    )
