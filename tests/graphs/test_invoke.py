"""The ways into a graph: names instead of things, and a call without await."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from navloom.errors import ModelError, NavloomError, SceneError, UsageError
from navloom.graphs.invocation import run
from navloom.models.model_registry import resolve_model
from navloom.scenes.scene_uri import SCENES_KEPT, get_scene
from tests.cli.small import small_file, small_scene


class State(TypedDict, total=False):
    number: int
    loop: int


def graph(node: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    return builder.compile()


async def double(state: State) -> State:
    await asyncio.sleep(0)
    return {"number": state["number"] * 2, "loop": id(asyncio.get_running_loop())}


def test_run_works_twice_on_one_loop() -> None:
    first, second = run(graph(double), {"number": 2}), run(graph(double), {"number": 3})
    assert (first["number"], second["number"]) == (4, 6)
    assert first["loop"] == second["loop"]


async def test_run_works_where_a_loop_is_running_as_in_a_notebook() -> None:
    assert run(graph(double), {"number": 2})["number"] == 4


def test_run_raises_what_the_graph_raises() -> None:
    async def fail(state: State) -> State:
        raise SceneError("no such home")

    with pytest.raises(SceneError, match="no such home"):
        run(graph(fail), {"number": 1})


def test_run_inside_a_graph_is_refused_and_does_not_hang() -> None:
    async def nested(state: State) -> State:
        return {"number": run(graph(double), {"number": 1})["number"]}

    with pytest.raises(UsageError, match="ainvoke"):
        run(graph(nested), {"number": 1})


def test_a_scene_is_itself_or_its_uri_loaded_once(tmp_path: Path) -> None:
    scene = small_scene()
    assert get_scene(scene) is scene
    uri = small_file(tmp_path)
    assert get_scene(uri) == scene
    assert get_scene(uri) is get_scene(uri)


def test_only_a_few_scenes_are_kept(tmp_path: Path) -> None:
    uris = [small_file(tmp_path, f"s{number}") for number in range(SCENES_KEPT + 1)]
    first = get_scene(uris[0])
    assert [get_scene(uri).id for uri in uris] == [f"s{n}" for n in range(SCENES_KEPT + 1)]
    assert get_scene(uris[0]) is not first


def test_a_model_is_itself_or_its_name_made_once() -> None:
    model = resolve_model("builtin/heuristic")
    assert resolve_model("builtin/heuristic") is model
    assert resolve_model(model) is model


@pytest.mark.parametrize("call", [lambda: get_scene("hm4d:x"), lambda: resolve_model("opnai/x")])
def test_unknown_names_are_one_line(call: Any) -> None:
    with pytest.raises(NavloomError) as error:
        call()
    assert isinstance(error.value, SceneError | ModelError)
    assert "\n" not in str(error.value)
