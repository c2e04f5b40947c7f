"""The check from outside finds what is wrong: a home is broken in one way, and it says which."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from navloom_worlds.homes.home_generator import make_home
from navloom_worlds.homes.home_names import HomeSpec
from worlds.tests.homes.check_homes import Home

Json = dict[str, Any]
WHOLE = make_home(4, HomeSpec(rooms=14, floors=2)).model_dump_json()


def standing(home: Json) -> Json:
    """A thing on the floor of the first region that has one of some size."""
    return next(
        i
        for i in home["items"]
        if i["size"][1] > 0.5 and i["size"][0] > 0.4 and i["position"][1] < i["size"][1]
    )


def swinging(home: Json) -> Json:
    return next(link for link in home["links"] if link["swing"])


def middle(swing: list[list[float]]) -> tuple[float, float]:
    return sum(p[0] for p in swing) / len(swing), sum(p[1] for p in swing) / len(swing)


def into(item: Json, x: float, z: float, region: str) -> None:
    item["position"] = [x, item["size"][1] / 2, z]
    item["region"] = region


def shift_room(home: Json) -> None:
    room = home["regions"][0]
    room["polygon"] = [[x + 0.5, z + 0.5] for x, z in room["polygon"]]


def double_item(home: Json) -> None:
    home["items"].append({**standing(home), "id": "twin"})


def carry_out(home: Json) -> None:
    standing(home)["position"][0] += 40


def sink(home: Json) -> None:
    standing(home)["position"][1] -= 0.3


def narrow_door(home: Json) -> None:
    swinging(home)["width"] += 0.1


def move_door(home: Json) -> None:
    link = swinging(home)
    link["jambs"] = [[x + 0.8, z + 0.8] for x, z in link["jambs"]]


def two_doors(home: Json) -> None:
    home["links"].append(swinging(home))


def stand_in_swing(home: Json) -> None:
    link = swinging(home)
    x, z = middle(link["swing"])
    item = standing(home)
    item["size"] = [0.2, 0.8, 0.2]
    for region in (link["a"], link["b"]):
        home["items"].append({**item, "id": region, "position": [x, 0.4, z], "region": region})


def high_step(home: Json) -> None:
    home["stairs"][0]["treads"] = home["stairs"][0]["treads"][::2]


def short_stairs(home: Json) -> None:
    home["stairs"][0]["line"] = home["stairs"][0]["line"][:-2]


def cut_off(home: Json) -> None:
    last = home["regions"][-1]["id"]
    home["links"] = [link for link in home["links"] if last not in (link["a"], link["b"])]


def lock(home: Json) -> None:
    for link in home["links"]:
        link["door"] = "locked"


def lose_viewpoints(home: Json) -> None:
    gone = {v["id"] for v in home["viewpoints"] if v["region"] == home["regions"][1]["id"]}
    home["viewpoints"] = [v for v in home["viewpoints"] if v["id"] not in gone]
    home["edges"] = [e for e in home["edges"] if not {e["a"], e["b"]} & gone]


def fly(home: Json) -> None:
    home["viewpoints"][0]["position"][1] += 0.5


def stand_on_viewpoint(home: Json) -> None:
    v = home["viewpoints"][0]
    into(standing(home), v["position"][0], v["position"][2], v["region"])


def lose_edges(home: Json) -> None:
    home["edges"] = home["edges"][::3]


def walk_through_walls(home: Json) -> None:
    first = [v for v in home["viewpoints"] if v["position"][1] == 0]
    home["edges"] += [{"a": first[0]["id"], "b": v["id"]} for v in first[1:]]


def float_on(home: Json) -> None:
    item = next(i for i in home["items"] if i["on"] is not None)
    item["position"] = [p + 0.5 if axis == 1 else p for axis, p in enumerate(item["position"])]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (shift_room, "rooms overlap"),
        (double_item, "items overlap"),
        (carry_out, "item outside its room"),
        (sink, "item in floor or ceiling"),
        (narrow_door, "door"),
        (move_door, "door"),
        (two_doors, "doors overlap"),
        (two_doors, "swings overlap"),
        (stand_in_swing, "item in a swing"),
        (high_step, "stairs"),
        (short_stairs, "stairs"),
        (cut_off, "region not reachable"),
        (lock, "region not reachable"),
        (lose_viewpoints, "region without a viewpoint"),
        (fly, "viewpoint"),
        (stand_on_viewpoint, "viewpoint"),
        (lose_edges, "not reachable on foot"),
        (walk_through_walls, "edge"),
        (float_on, "on"),
    ],
)
def test_a_fault_is_found(change: Callable[[Json], None], kind: str) -> None:
    home = json.loads(WHOLE)
    assert Home(home).check() == []
    change(home)
    assert kind in {name for name, _ in Home(home).check()}
