"""The efficiency library as an agent is given it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from navloom.evals.navcraft.run import LIBRARY_TOKENS
from navloom.graphs.navcraft.collab import LIBRARY
from navloom.scenes.bodies import FETCH, SPOT
from navloom.scenes.scene import Link
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.relay_spec import RelaySpec
from navloom.tools.navcraft.relay_task import RelayTask
from navloom_worlds.teams.efficiency_library import BODIES, library_tools
from tests.tools.navcraft.test_relay import row_task
from tests.tools.navcraft.worlds import ROW, row_house
from worlds.tests.teams.test_efficiency_library import tasks

RELAY = {
    "robot_2_start_region": "Attic_6",
    "transfer_region": "Living_room_3",
    "transfer_asset": "coffee_table",
    "collab_type": "Type-A1",
}
WALK = {"robot": "robot_2", "start": "Attic_6", "goal": "Bedroom_1"}


def ask(name: str, args: dict[str, Any], task: RelayTask | None = None, **given: Any) -> Any:
    tools = {tool.name: tool for tool in library_tools(task or row_task(), **given)}
    call = {"type": "tool_call", "id": "1", "name": name, "args": args}
    return json.loads(tools[name].invoke(call).content)


def test_they_have_the_papers_names_and_list_what_there_is() -> None:
    held = {t.name: convert_to_openai_tool(t)["function"] for t in library_tools(row_task())}
    assert tuple(held) == LIBRARY
    arguments = {name: f["parameters"]["properties"] for name, f in held.items()}
    assert list(arguments["travel_time"]) == ["robot", "start", "goal"]
    assert list(arguments["rendezvous"]) == list(RELAY)
    assert arguments["rendezvous"]["transfer_region"]["enum"] == [*ROW]
    assert arguments["reach"]["body"]["enum"] == ["robot_1", "robot_2", *BODIES]
    assert {"FETCH", "SPOT", "WHEELCHAIR"} < set(BODIES)
    free = library_tools(row_task(), constrain=False)
    assert "enum" not in convert_to_openai_tool(free[3])["function"]["parameters"]["properties"]


def test_what_they_say_is_the_schedules() -> None:
    task = row_task()
    schedule = schedule_relay(task, *RELAY.values())
    met = ask("rendezvous", RELAY)
    assert met["makespan_s"] == pytest.approx(schedule.makespan_s)
    assert met["waits"] == {"robot": "robot_1", "seconds": pytest.approx(schedule.wait.seconds)}
    told = ask("interference", RELAY)
    assert told["more"] == 0
    together = sum(e["seconds"] for e in told["meetings"] if e["kind"] == "handoff")
    assert together == pytest.approx(sum(o.seconds for o in schedule.overlaps))
    walked = ask("travel_time", WALK)
    assert (walked["metres"], walked["seconds"]) == (20.0, 20.0)
    best = ask("recommend", {"k": 1})["recommended"][0]
    assert best["transfer_asset"] == "coffee_table"
    route = ask(
        "revise_route",
        {
            **WALK,
            "reserved": [{"where": "Study_4 <-> Pantry_5", "from_s": 2, "to_s": 30}],
            "depart_s": 1,
        },
    )
    assert [(w["region"], w["to_s"]) for w in route["waits"]] == [("Pantry_5", 30.0)]
    assert route["arrive_s"] == pytest.approx(30 + 16)


def test_recommended_is_what_is_asked_for() -> None:
    free = ask("recommend", {"k": 5})["recommended"]
    assert free
    wish = RelaySpec(type="Type-A2")
    assert {r["collab_type"] for r in ask("recommend", {}, wish=wish)["recommended"]} <= {"Type-A2"}
    assert ask("recommend", {}, wish=RelaySpec(min_gain=0.99)) == {"recommended": [], "of": 0}


def test_bodies_bar_and_hurry() -> None:
    home = row_house()
    links = tuple(
        Link(a=k.a, b=k.b, kind="stairs" if k.b == "Study_4" else "opening") for k in home.links
    )
    home = home.replace(links=links)
    task = row_task(scene=home)
    both = {"task": task, "bodies": (FETCH, SPOT)}
    assert ask("travel_time", WALK, **both)["seconds"] == round(20 / SPOT.speed, 3)
    barred = ask("travel_time", {**WALK, "robot": "robot_1"}, **both)["error"]
    assert "a FETCH cannot pass Living_room_3 <-> Study_4 (cannot go up or down stairs)" in barred
    for name in ("robot_1", "FETCH"):
        said = ask("reach", {"body": name, "place": "Bedroom_1"}, **both)
        assert [each["region"] for each in said["cut_off"]] == ["Study_4", "Pantry_5", "Attic_6"]
    assert ask("reach", {"body": "robot_1", "place": "Bedroom_1"}, task)["cut_off"] == []


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("travel_time", {**WALK, "robot": "robot_3"}, "no robot 'robot_3': use robot_1 or robot_2"),
        ("travel_time", {**WALK, "goal": "Bedrom_1"}, "Did you mean 'Bedroom_1'"),
        ("travel_time", {"robot": "robot_1"}, "start: Field required"),
        ("reach", {"body": "FETCHER", "place": "Hall_2"}, "no body 'FETCHER'"),
        ("reach", {"body": "FETCH", "place": "desk in Hall_2"}, "Hall_2 has no asset 'desk'"),
        ("rendezvous", {**RELAY, "transfer_region": "Hall"}, "transfer_region 'Hall' is not"),
        ("rendezvous", {**RELAY, "transfer_asset": "sofa"}, "has no asset 'sofa'"),
        ("interference", {**RELAY, "collab_type": "A3"}, "use Type-A1 or Type-A2"),
        ("interference", {**RELAY, "robot_2_start_region": "x"}, "robot_2_start_region 'x'"),
        ("recommend", {"k": 6}, "k must be 1 to 5, not 6"),
        ("recommend", {"k": 0}, "k must be 1 to 5, not 0"),
        ("recommend", {"k": "many"}, "k: Input should be a valid integer"),
        ("revise_route", {**WALK, "closed": ["Hall_2 <-> Attic_6"]}, "No link joins Hall_2 and"),
        ("revise_route", {**WALK, "depart_s": math.nan}, "depart_s must be a second from 0 on"),
        (
            "revise_route",
            {**WALK, "reserved": [{"where": "Hall_2 <-> Living_room_3", "from_s": 3, "to_s": 1}]},
            "from second 3.0 to 1.0",
        ),
    ],
)
def test_a_mistake_is_one_line_to_act_on(name: str, args: dict[str, Any], said: str) -> None:
    answer = ask(name, args)
    assert set(answer) == {"error"}
    assert said in answer["error"]
    assert "\n" not in answer["error"]


@pytest.mark.parametrize("uri", ["demo:house", "home:3"])
def test_answers_are_as_short_as_a_dry_run_reckons(uri: str) -> None:
    for task in tasks(load_scene(uri), 3):
        relays = all_relays(task)
        relay = relays.relay(len(relays) // 2)
        asked = {name: getattr(relay, name) for name in RELAY}
        walk = {"robot": "robot_1", "start": task.start_region, "goal": relay.transfer_region}
        for name, args in (
            ("recommend", {"k": 5}),
            ("reach", {"body": "FETCH", "place": task.start_region}),
            ("travel_time", walk),
            ("rendezvous", asked),
            ("interference", asked),
            ("revise_route", walk),
        ):
            answer = ask(name, args, task)
            assert "error" not in answer, answer
            # Numbers and names take a token every two characters or more.
            assert len(json.dumps(answer)) / 2 < LIBRARY_TOKENS
