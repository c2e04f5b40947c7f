"""The efficiency library: reach, travel time, rendezvous and recommendations."""

from __future__ import annotations

import json
import random

import pytest

from navloom.errors import UsageError
from navloom.scenes.bodies import FETCH
from navloom.scenes.passability import estimate_links
from navloom.scenes.scene import Link, Scene
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.relay import RelayChoice, roles_of
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import Speeds
from navloom.tools.navcraft.task_paths import admissible_triples
from navloom_worlds.teams.efficiency_library import (
    find_place,
    reachable_regions,
    recommend_handoffs,
    rendezvous,
    travel_time,
)
from navloom_worlds.teams.robots import Robot
from tests.tools.navcraft.test_relay import row_task
from tests.tools.navcraft.worlds import item, row_house


def tasks(scene: Scene, wanted: int) -> list[RelayTask]:
    found, triples = [], list(admissible_triples(scene))
    for start, target, end in random.Random(3).sample(triples, k=len(triples)):
        thing, asset = scene.items_in(target, "object"), scene.items_in(end, "asset")
        task = RelayTask(scene, start, target, thing[0].name, end, asset[0].name)
        if len(all_relays(task)):
            found.append(task)
        if len(found) == wanted:
            break
    return found


def robots(task: RelayTask, choice: RelayChoice, speeds: Speeds) -> tuple[Robot, Robot]:
    one, two = task.start_anchor, task.helpers[choice.robot_2_start_region].anchor
    assert one
    assert two
    named = {
        "robot_1": Robot("robot_1", one, speed=speeds.robot_1),
        "robot_2": Robot("robot_2", two, speed=speeds.robot_2),
    }
    fetcher, receiver = roles_of(choice.collab_type)
    return named[fetcher], named[receiver]


def makespan(legs: tuple[float, float, float], leaves: tuple[float, float]) -> float:
    """When the object arrives, told event by event: legs and departures of fetcher and receiver."""
    brought, come = leaves[0] + legs[0], leaves[1] + legs[1]
    return (brought if brought > come else come) + legs[2]


@pytest.mark.parametrize("uri", ["demo:house", "home:3"])
def test_a_rendezvous_is_the_schedules_and_its_latest_departures_delay_nobody(uri: str) -> None:
    draw, waited = random.Random(8), set()
    for task in tasks(load_scene(uri), 4):
        relays = all_relays(task)
        for _ in range(25):
            relay = relays.relay(draw.randrange(len(relays)))
            asset, kind = relay.transfer_asset, relay.collab_type
            choice = RelayChoice(relay.robot_2_start_region, relay.transfer_region, asset, kind)
            speeds = Speeds(draw.uniform(0.3, 2), draw.uniform(0.3, 2))
            schedule = schedule_relay(task, *choice, speeds=speeds)
            fetcher, receiver = robots(task, choice, speeds)
            handoff = task.transfers[choice[1:3]].anchor
            places = task.object_anchor, handoff, task.end_anchor
            met = rendezvous(task.scene, fetcher, receiver, *places)
            assert met["makespan_s"] == pytest.approx(schedule.makespan_s)
            assert met["waits"]["robot"] == schedule.waits["robot"]
            assert met["waits"]["seconds"] == pytest.approx(schedule.waits["seconds"])
            assert met["object_rests_s"] == pytest.approx(schedule.object_rests_s)
            names = fetcher.name, receiver.name
            legs = (
                met["arrive_s"][names[0]],
                met["arrive_s"][names[1]],
                met["makespan_s"] - met["handoff_s"],
            )
            for side, name in enumerate(names):
                late = met["latest_departure_s"][name]
                leaves = [(0.0, 0.0), (0.0, 0.0)]
                leaves = [tuple(t if i == side else 0.0 for i in (0, 1)) for t in (late, late + 1)]
                assert makespan(legs, leaves[0]) == pytest.approx(met["makespan_s"])
                assert makespan(legs, leaves[1]) == pytest.approx(met["makespan_s"] + 1)
                waited |= {late > 0}
    assert waited == {True, False}


def test_reach_names_the_first_barrier_on_the_way() -> None:
    home = row_house()
    links = tuple(
        Link(a=k.a, b=k.b, kind="stairs" if k.b == "Study_4" else k.kind) for k in home.links
    )
    home = home.replace(links=links)
    start = find_place(home, "Bedroom_1")
    said = reachable_regions(home, FETCH, start)
    stairs = {"link": "Living_room_3 <-> Study_4", "barrier": "cannot go up or down stairs"}
    assert said == {
        "body": "FETCH",
        "from": "Bedroom_1",
        "reached": 3,
        "regions": 6,
        "cut_off": [{"region": r, **stairs} for r in ("Study_4", "Pantry_5", "Attic_6")],
        "closed_links": [stairs],
        "more": 0,
    }
    assert reachable_regions(home, None, start)["reached"] == 6
    robot = Robot("robot_1", start, FETCH, FETCH.speed)
    with pytest.raises(UsageError) as caught:
        travel_time(home, robot, start, find_place(home, "Pantry_5"))
    assert str(caught.value) == (
        "robot_1 cannot get from Bedroom_1 to Pantry_5: a FETCH cannot pass"
        " Living_room_3 <-> Study_4 (cannot go up or down stairs)."
    )


def test_reach_is_the_walk_over_the_links_that_a_body_may_use() -> None:
    home = load_scene("home:0")
    table = estimate_links(home, (FETCH,))
    open_to = {frozenset((p.a, p.b)) for p in table.passages("FETCH") if p.traversable}
    start = next(r.id for r in home.regions if home.viewpoints_by_region[r.id])
    known, queue = {start}, [start]
    while queue:
        here = queue.pop()
        more = {r for link in open_to if here in link for r in link} - known
        known |= more
        queue += more
    said = reachable_regions(home, FETCH, find_place(home, start))
    assert said["reached"] == len(known)
    assert {each["region"] for each in said["cut_off"]} == {r.id for r in home.regions} - known
    assert json.loads(json.dumps(said)) == said


def test_travel_time_is_metres_over_speed() -> None:
    home = row_house()
    a, b = find_place(home, "Bedroom_1"), find_place(home, "coffee_table in Living_room_3")
    assert travel_time(home, Robot("robot_2", a, speed=0.5), a, b) == {
        "robot": "robot_2",
        "metres": 10.0,
        "seconds": 20.0,
        "path": ["Bedroom_1 -> Hall_2", "Hall_2 -> Living_room_3"],
    }


def test_a_shared_name_means_what_is_said_else_the_lowest_id() -> None:
    home = row_house(item("coffee table", "asset", "Living_room_3", 11, 2, id="b"))
    name = "coffee_table in Living_room_3"
    assert find_place(home, name).node == "item b"
    assert find_place(home, name, ["coffee-table"]).node == "item coffee-table"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Kitchn", "There is no place 'Kitchn': name a region, or a thing as 'desk in Study_4'."),
        ("desk in Stody_4", "Did you mean 'Study_4'?"),
        ("desk in Study_4", "Study_4 has no asset 'desk'"),
        ("x" * 5000, "There is no place"),
    ],
)
def test_a_place_that_is_not_there_is_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_place(row_house(), name)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


def test_recommended_are_the_best_of_those_that_may_be() -> None:
    relays = all_relays(row_task())
    said = recommend_handoffs(relays, k=2)
    assert said["of"] == len(relays)
    first = said["recommended"][0]
    assert first["alpha"] == pytest.approx(float(relays.alpha.min()))
    assert first["gain_alpha"] == pytest.approx(1 - first["alpha"])
    assert first["why"].startswith("robot_1 walks ")
    kept = relays.alpha > first["alpha"] + 1e-6
    second = recommend_handoffs(relays, kept=kept, k=1)
    assert second["of"] == int(kept.sum())
    assert second["recommended"][0]["alpha"] == pytest.approx(float(relays.alpha[kept].min()))
    assert recommend_handoffs(relays, kept=kept & False)["recommended"] == []
    for wrong in ({"k": 0}, {"k": 11}, {"by": "beauty"}):
        with pytest.raises(UsageError, match="must be"):
            recommend_handoffs(relays, **wrong)  # type: ignore[arg-type]


def test_nobody_hands_over_to_itself() -> None:
    home = row_house()
    a, b = find_place(home, "Bedroom_1"), find_place(home, "Hall_2")
    robot = Robot("robot_1", a)
    with pytest.raises(UsageError, match="robot_1 cannot hand over to itself"):
        rendezvous(home, robot, robot, a, b, a)
