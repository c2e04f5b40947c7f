"""What a navigator remembers: history in words, and a map in words that grows."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

import navloom
from navloom.errors import UsageError
from navloom.graphs.navigation.baseline.prompt_parser import read_view
from navloom.graphs.navigation.context import AGENTS, get_agent
from navloom.graphs.navigation.navigator import Context
from navloom.graphs.navigation.prompt_text import HistoryMemory, MapMemory, get_memory
from navloom.models.builtin import PolicyRequest
from navloom.sim.protocol import Candidate, Observation, Pose
from tests.graphs.navigation.switches_page import page, variants
from tests.graphs.navigation.walks import humans, section, walk
from tests.tools.navcraft.rooms_in_a_row import CORNER, HALL, KITCHEN, SINK, STAIRS

THERE = ["Action: 1", "Action: 1", "Action: 1", "Action: Stop"]


def test_a_move_reads_as_in_the_paper() -> None:
    """VLN-MME, Figure 10, step 1: the same numbers in the same words."""
    before = Pose((0.0, 0.0, 0.0), heading=math.radians(36.90))
    after = Pose((0.0, 0.0, 0.0), heading=math.radians(-0.88 + 360))
    text = "Staircase with glass panels and wall-mounted artwork"
    way = Candidate("v", after.heading, 0.0, 3.42, text)
    assert HistoryMemory().step(1, before, after, way, {}) == (
        "Step 1: Turning heading direction -37.78 degrees from right 36.90 to left 0.88,"
        f" and forward 3.42 meters towards {text}"
    )


def test_the_map_names_what_was_seen_in_the_order_it_was_seen() -> None:
    state, model = walk(THERE, memory="map")
    prompts = [humans(call.messages)[0] for call in model.calls]
    assert section(prompts[0], "Current place: ")[0].startswith("Current place: node_0 - ")
    assert section(prompts[0], "node_") == ["node_0 is connected to node_1, node_2"]
    assert section(prompts[0], "Visited") == ["Visited: node_0"]
    assert section(prompts[0], "Unvisited") == ["Unvisited: node_1, node_2"]
    assert section(prompts[2], "node_") == [
        "node_0 is connected to node_1, node_2",
        "node_1 is connected to node_3, node_0",
        "node_3 is connected to node_4, node_1",
    ]
    assert section(prompts[2], "Visited") == ["Visited: node_0, node_1, node_3"]
    assert section(prompts[2], "Unvisited") == ["Unvisited: node_2, node_4"]
    names = {viewpoint: place["node"] for viewpoint, place in state["seen"].items()}
    assert names == {
        HALL: "node_0", CORNER: "node_1", STAIRS: "node_2", KITCHEN: "node_3", SINK: "node_4",
    }  # fmt: skip
    assert state["seen"][KITCHEN]["joined"] == [SINK, CORNER]
    assert state["seen"][STAIRS]["joined"] is None


def _long_map(visited: int, unvisited: int) -> list[str]:
    """The map's lines after so many places in a row, seen from the last one."""
    seen = {
        f"v{k}": {
            "node": f"node_{k}",
            "description": "",
            "joined": [f"v{max(k - 1, 0)}"] if k < visited else None,
        }
        for k in range(visited + unvisited)
    }
    here = Pose((0.0, 0.0, 0.0), viewpoint=f"v{visited - 1}")
    return MapMemory().map_lines(seen, Observation(here, (), None), extra=True)


def test_what_a_long_map_leaves_out_is_counted() -> None:
    lines = _long_map(80, 20)
    assert not [line for line in lines if "more)" in line]
    lines = _long_map(83, 90)
    assert lines[80:82] == ["node_82 is connected to node_81", "(3 more)"]
    visited, unvisited = lines[82:84]
    assert visited.startswith("Visited: node_3, node_4, ")
    assert visited.endswith(", node_82 (3 more)")
    assert unvisited.startswith("Unvisited: node_93, ")
    assert unvisited.endswith(", node_172 (10 more)")
    assert lines[84::21] == ["Supplementary places:", "(70 more)"]


def test_a_baseline_reads_a_map_that_leaves_places_out() -> None:
    lines = ["Map:", *_long_map(83, 90)]
    text = "\n".join(["Instruction: Go.", *lines, "Action options:", '{"Front": {"1": "A hall"}}'])
    view = read_view(PolicyRequest([HumanMessage(text)]))
    assert view.node == "node_82"
    assert list(view.links) == [f"node_{k}" for k in range(3, 83)]
    assert set(view.links["node_82"]) == {"node_81"}
    assert [choice.text for choice in view.choices] == ["A hall"]


def test_options_say_which_place_they_lead_to_and_whether_it_was_visited() -> None:
    state, _ = walk(THERE, memory="map")
    told = [option["description"] for option in state["steps"][1]["options"]]
    assert told[0].endswith(" (node_3)")
    assert told[1].endswith(" (node_0, visited)")
    assert state["history"][0].endswith(" (node_1)")


def test_places_seen_on_the_way_are_supplementary_with_a_plan() -> None:
    _, model = walk(THERE, memory="map")
    prompts = [humans(call.messages)[0] for call in model.calls]
    assert "Supplementary places:" not in prompts[0]
    assert section(prompts[2], "- node_")[0].startswith("- node_2: ")
    assert "\nPlan: none yet\n" in prompts[0]
    for without in ({"plan": False}, {"prompts": "paper"}):
        _, model = walk(THERE, memory="map", **without)
        said = humans(model.calls[2].messages)[0]
        assert "Supplementary places:" not in said
        assert "\nPlan:" not in said


def test_a_history_alone_keeps_no_map() -> None:
    state, model = walk(THERE)
    assert state["seen"] == {}
    prompt = humans(model.calls[2].messages)[0]
    assert "Map:" not in prompt
    assert "node_" not in prompt
    assert len(section(prompt, "Step ")) == 2


def test_the_map_of_a_place_that_is_crossed_again_keeps_its_names() -> None:
    state, model = walk(["Action: 1", "Action: 2", "Action: Stop"], memory="map")
    prompt = humans(model.calls[2].messages)[0]
    assert section(prompt, "Current place: ")[0].startswith("Current place: node_0 - ")
    assert section(prompt, "Visited") == ["Visited: node_0, node_1"]
    assert len(state["seen"]) == 4


def test_a_long_history_is_cut_at_its_beginning() -> None:
    _, model = walk(["Action: 1", "Action: 2"] * 30 + ["Action: Stop"], max_steps=100)
    prompt = humans(model.calls[60].messages)[0]
    assert "(10 earlier steps)" in prompt
    assert [line.split(":")[0] for line in section(prompt, "Step ")][::49] == ["Step 11", "Step 60"]


def test_names_that_are_near_are_offered() -> None:
    with pytest.raises(UsageError, match=r"'maps' is not a memory.*Did you mean 'map'"):
        get_memory("maps")
    with pytest.raises(UsageError, match=r"'mapgtp' is not an agent.*Did you mean 'mapgpt'"):
        get_agent("mapgtp")
    assert isinstance(get_memory("map"), MapMemory)


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_is_a_setting_of_the_one_graph(name: str) -> None:
    agent = get_agent(name)
    assert agent.name == name
    Context(
        memory=agent.memory, oracle=agent.oracle or "off", model=agent.model or "builtin/random"
    )
    assert agent.description


@pytest.mark.worlds
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "made", "how"),
    [("navigator-switches.md", page, ""), ("navigator-prompts.md", variants, " variants")],
)
def test_the_pages_of_prompts_are_up_to_date(name: str, made: Callable[[], str], how: str) -> None:
    kept = Path(navloom.__file__).parents[1] / "docs" / name
    assert kept.read_text("utf-8") == made(), (
        "prompts or state changed: .venv/bin/python -m tests.graphs.navigation.switches_page"
        f"{how} > docs/{name}"
    )
