"""What is saved is read back exactly, and what is no state is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from navloom.errors import SceneError, SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene_diff import apply_diff, diff_scenes
from navloom.sim import Hop, Pose, Turn
from navloom.sim.graph import GraphSimulator
from navloom_worlds.mend.scene_edits import door_labels, edit_scene

FLAT = load_scene("demo:flat")


def test_a_changed_copy_is_told_in_little_and_made_again_to_the_bit() -> None:
    moved = next(item for item in FLAT.items if item.kind == "object" and item.size)
    changed = edit_scene(FLAT, "flat-2", ajar=["1"], remove=[moved.id])
    told = json.loads(json.dumps(diff_scenes(FLAT, changed)))
    again = apply_diff(FLAT, told)
    assert again == changed
    assert again.model_dump_json() == changed.model_dump_json()
    assert again.origin == changed.origin
    assert set(told) >= {"loaded", "id", "links", "items", "notes"}
    assert len(json.dumps(told)) < len(FLAT.model_dump_json()) / 5
    assert apply_diff(FLAT, diff_scenes(FLAT, FLAT)) == FLAT
    assert door_labels(again) == door_labels(changed)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"lynks": []}, "no field 'lynks'"),
        ({"items": "all"}, "items: expected a list"),
        ({"items": [[0, 10_000_000]]}, "expected a run within"),
        ({"items": [[3, 1]]}, "expected a run within"),
        ({"items": [[0.0, 1.0]]}, "expected a run"),
        ({"items": [[0, 2]] * 600_000}, "at most 1,000,000 parts"),
        ({"items": [[0, 1], [0, 1]]}, "stands twice"),
        ({"viewpoints": [{"id": 3}]}, "viewpoints"),
    ],
)
def test_what_is_no_difference(told: dict[str, Any], said: str) -> None:
    with pytest.raises(SceneError, match=said) as refused:
        apply_diff(FLAT, told)
    assert "\n" not in str(refused.value)


def home() -> GraphSimulator:
    simulator = GraphSimulator(FLAT)
    first = FLAT.viewpoints[0].id
    simulator.reset({"a": (Pose((0, 0, 0), 0.3, 0.0, first), DEFAULT_BODY)})
    return simulator


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    simulator = home()
    simulator.step({"a": Turn(0.123456789)})
    state: dict[str, Any] = json.loads(json.dumps(simulator.state()))
    change(state)
    return state


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["agents"].append(s["agents"][0]), "'a' is named twice"),
        (lambda s: s.update(agents=[]), "agents"),
        (lambda s: s.update(scene="home:7"), "expected one of this very scene"),
        (lambda s: s.update(scene_sha256="0" * 64), "an older or a changed one"),
        (lambda s: s.update(scene_sha256="0"), "scene_sha256"),
        (lambda s: s["agents"][0].update(heading=float("nan")), "heading"),
        (lambda s: s["agents"][0].update(heading=-0.5), r"a heading in \[0, 2 pi\)"),
        (lambda s: s["agents"][0].update(viewpoint="9_9"), "'9_9', which is not there"),
        (lambda s: s["agents"][0].update(viewpoint=None), "expected the floor of its viewpoint"),
        (lambda s: s["agents"][0].update(position=[1, 2, 3]), "expected the floor"),
        (lambda s: s["agents"][0].update(position=[1e300, 0, 0]), "position"),
        (lambda s: s["agents"][0]["body"].update(width=-1), "width"),
        (lambda s: s.update(changed={"items": 3}), "changed: a changed demo:flat: items"),
        (lambda s: s.update(changed={"viewpoints": [[1, 2]], "edges": []}), "is not there"),
    ],
)
def test_what_is_no_state(change: Callable[[dict[str, Any]], object], said: str) -> None:
    simulator = home()
    before = simulator.step({"a": Turn(1.0)})
    with pytest.raises(SimulatorError, match=said) as refused:
        simulator.restore(broken(change))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400
    assert simulator.step({}) == before


def test_an_agent_is_named_once() -> None:
    pose = Pose((0, 0, 0), viewpoint=FLAT.viewpoints[0].id)
    twice: Any = [("a", (pose, DEFAULT_BODY)), ("a", (pose, DEFAULT_BODY))]
    with pytest.raises(SimulatorError, match="'a' is named twice"):
        GraphSimulator(FLAT).reset(twice)
    with pytest.raises(SimulatorError, match="expected a mapping"):
        GraphSimulator(FLAT).reset(twice[:1])


def test_a_state_of_panoramas_of_a_changed_scene_is_refused() -> None:
    class Pictures(GraphSimulator):
        capabilities = GraphSimulator.capabilities - {"change"}

    simulator = home()
    simulator.change(edit_scene(FLAT, "flat-2", ajar=["1"]))
    seen = simulator.step({"a": Hop(simulator.step({})["a"].candidates[0].viewpoint)})
    assert GraphSimulator(FLAT).restore(simulator.state()) == seen
    with pytest.raises(SimulatorError, match="was changed, and here it cannot be"):
        Pictures(FLAT).restore(simulator.state())
