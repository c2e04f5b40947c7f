"""``langgraph dev`` can open and call every graph there is."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from langgraph.graph.state import CompiledStateGraph

import navloom
from tests.graphs.states import run

ROOT = Path(navloom.__file__).parents[1]
LISTED = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
RECORD = {"edges": [{"from": "a", "to": "b", "traversable": False, "note": "door too narrow"}]}
STEP = {
    "id": "s1",
    "instruction": "Find the bath.",
    "options": [{"id": 1, "direction": "Front", "description": "leads to the bath"}],
    "action": {"kind": "move", "option": 1},
    "reasoning": "Option 1 speaks of bath.",
}
GIVEN = {
    "navcraft_collab": {"phase_1": None},
    "oracle": {"instruction": "Find the bath.", "trajectory": ["1_0"], "goals": ["5_0"]},
    "pointing": {
        "instruction": "Find the bath.",
        "things": [{"id": "7", "name": "bath", "heading": 0.0}],
    },
    "navigator": {"instruction": "Find the bath.", "start": "1_0"},
    "capnav_answer": {"question": "Can [Agent] get from the kitchen to the bathroom?"},
    "reasoning_judge": {"explanation": "The door is too narrow.", "record": RECORD},
    "rubric_judge": {"step": STEP},
    "preference_judge": {"a": "Take the book from the kitchen.", "b": "Take the sink."},
}
"""What a graph needs besides a seed."""


def test_every_graph_is_listed() -> None:
    packages = ROOT / "navloom" / "graphs", ROOT / "worlds" / "navloom_worlds"
    there = {
        f"{'.'.join(path.relative_to(base).with_suffix('').parts)}:graph"
        for base, room in zip((ROOT, ROOT / "worlds"), packages, strict=True)
        for path in room.rglob("*.py")
        if "\ngraph = " in path.read_text()
    }
    assert set(LISTED.values()) == there


@pytest.mark.parametrize("name", LISTED)
def test_listed_graph_compiles_and_takes_names_for_scene_and_model(name: str) -> None:
    module, _, attribute = LISTED[name].partition(":")
    graph = getattr(import_module(module), attribute)
    assert isinstance(graph, CompiledStateGraph)
    given = {"scene": "demo:flat", "model": "builtin/heuristic"}
    known = import_module(module).Context.__dataclass_fields__
    # What `langgraph dev` sends: plain JSON for the context, which LangGraph makes a Context of.
    state = run(
        graph,
        {"seed": 3, **GIVEN.get(name, {})},
        context={key: value for key, value in given.items() if key in known},
    )
    assert state["status"] == "ok"
