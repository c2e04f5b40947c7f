"""``langgraph dev`` can open and call every graph there is."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from langgraph.graph.state import CompiledStateGraph

import navloom
from navloom import graphs
from navloom.graphs.invoke import run

ROOT = Path(navloom.__file__).parents[1]
LISTED = json.loads((ROOT / "langgraph.json").read_text())["graphs"]


def test_every_graph_is_listed() -> None:
    folder = Path(graphs.__file__).parent
    there = {path.stem for path in folder.glob("*.py") if "\ngraph = " in path.read_text()}
    assert set(LISTED) == there


@pytest.mark.parametrize("name", LISTED)
def test_listed_graph_compiles_and_takes_names_for_scene_and_model(name: str) -> None:
    module, _, attribute = LISTED[name].partition(":")
    graph = getattr(import_module(module), attribute)
    assert isinstance(graph, CompiledStateGraph)
    # What `langgraph dev` sends: plain JSON for the context, which LangGraph makes a Context of.
    state = run(
        graph,
        {"seed": 3, "phase_1": None} if "collab" in name else {"seed": 3},
        context={"scene": "demo:flat", "model": "builtin/heuristic"},
    )
    assert state["status"] == "ok"
