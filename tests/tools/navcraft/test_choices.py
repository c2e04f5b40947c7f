"""NavCraft in small choices: what is offered, bounded and admissible, in a row of six rooms."""

from __future__ import annotations

import pytest

from navloom.graphs.navcraft.choices import Thing, read_thing, things
from navloom.graphs.navcraft.errand_choices import far_places, far_rooms
from navloom.graphs.navcraft.relay_choices import blind_handoffs, ranked_handoffs, relay_facts
from navloom.graphs.navcraft.single import Context
from navloom.scenes.prompt import item_names
from navloom.scenes.scene import Edge, Scene
from navloom.scenes.uri import load_scene
from navloom.tools.navcraft.errand import admissible_triples
from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.task import RelayTask
from tests.tools.navcraft.worlds import item, row_house

BLIND = Context(scene="demo:flat", compact=True, choices="blind")
RANKED = Context(scene="demo:flat", compact=True)
BARE = Context(scene="demo:flat", compact=True, show_adjacency=False)
SHELF = item("book shelf", "asset", "Bedroom_1", 2, 1)


def errand(scene: Scene) -> RelayTask:
    """From Living_room_3 to the cup in Study_4 and on to the shelf in Bedroom_1: 5 + 1 + 13 m."""
    return RelayTask(scene, "Living_room_3", "Study_4", "cup", "Bedroom_1", "book_shelf")


def told(task: RelayTask, seed: int) -> dict[str, float]:
    """What a blind list says: handoff -> what robot_1 walks then."""
    return {str(each): each.metres for each in blind_handoffs(task, seed)}


def test_handoffs_are_those_that_spare_robot_1_a_part_of_its_way() -> None:
    task = errand(row_house(SHELF))
    assert task.solo_metres == 4 + 1 + 1 + 12 + 1
    # The counter is 3 m from the hall's viewpoint, the table 2 m from the living room's: robot_1
    # alone brings the cup on (A1) or gets it there (A2).
    assert told(task, 0) == {
        "coffee_table in Living_room_3 with Type-A1": 2 + 2 + 8 + 1,
        "coffee_table in Living_room_3 with Type-A2": 4 + 1 + 1 + 4 + 2,
        "kitchen_counter in Hall_2 with Type-A1": 4 + 3 + 3 + 4 + 1,
        "kitchen_counter in Hall_2 with Type-A2": 4 + 1 + 1 + 8 + 3,
    }
    assert [*task.fit_helpers] == ["Bedroom_1", "Pantry_5", "Attic_6"]
    facts = relay_facts(task, 0, BLIND).splitlines()
    assert facts[0] == relay_facts(task, 0, BARE) == "Alone robot_1 walks 19 m."
    assert facts[1] == "robot_2 may start in: Bedroom_1, Pantry_5, Attic_6."
    assert len(facts) == 3 + 4
    assert "kitchen_counter in Hall_2 with Type-A2: 17 m" in facts


def test_ranked_handoffs_are_the_tools_best_first_with_metres_and_time() -> None:
    task = errand(row_house(SHELF))
    # By hand: from Pantry_5 robot_2 has the cup after 4 + 1 m and is at the table after 1 + 4 + 2
    # more, where robot_1 has been since 2 m, and on it goes for 2 + 8 + 1. From Bedroom_1 it is at
    # the table before robot_1 is: 8 + 2 m against 12.
    assert relay_facts(task, 0, RANKED).splitlines()[2:] == [
        "The best handoffs, the one in which robot_1 walks least first:",
        "coffee_table in Living_room_3 with Type-A2, robot_2 from Bedroom_1: robot_1 walks 12 m, "
        "done after 23 s",
        "coffee_table in Living_room_3 with Type-A1, robot_2 from Pantry_5: robot_1 walks 13 m, "
        "done after 23 s",
        "kitchen_counter in Hall_2 with Type-A1, robot_2 from Pantry_5: robot_1 walks 15 m, "
        "done after 25 s",
        "kitchen_counter in Hall_2 with Type-A2, robot_2 from Bedroom_1: robot_1 walks 17 m, "
        "done after 25 s",
    ]


@pytest.mark.parametrize("name", ["house", "villa", "flat"])
def test_the_first_ranked_handoff_is_the_best_that_is_shown(name: str) -> None:
    scene = load_scene(f"demo:{name}")
    for start, target, end in [*admissible_triples(scene)][::50]:
        thing, asset = (item_names(scene, r, k)[0] for r, k in ((target, "object"), (end, "asset")))
        task = RelayTask(scene, start, target, thing, end, asset)
        ranked = ranked_handoffs(task)
        metres = [each.metres for each in ranked]
        assert metres == sorted(metres)
        assert len({(each.place.region, each.kind) for each in ranked}) == len(ranked) <= 6
        best = all_relays(task).best("alpha")
        if ranked and best and Thing(best.transfer_asset, best.transfer_region) == ranked[0].place:
            assert ranked[0].metres / (task.solo_metres or 0) == pytest.approx(best.alpha)
        # No blind pick is better than the first of the ranked.
        blind = blind_handoffs(task, 0)
        assert bool(blind) == bool(ranked)
        assert all(each.metres >= metres[0] - 1e-9 for each in blind)


def test_a_handoff_that_spares_nothing_is_not_offered() -> None:
    far = item("work table", "asset", "Attic_6", 22, 1)
    beside = item("desk", "asset", "Bedroom_1", 2, 1)
    offered = told(errand(row_house(SHELF, far, beside)), 0)
    # Fetched first from the attic it would be 13 + 21 + 1 m; brought to the desk, 19 m as alone.
    assert {name: metres for name, metres in offered.items() if "attic" in name.lower()} == {
        "work_table in Attic_6 with Type-A2": 4 + 1 + 1 + 8 + 1
    }
    assert {name: metres for name, metres in offered.items() if "desk" in name} == {
        "desk in Bedroom_1 with Type-A1": 8 + 1 + 1 + 1
    }


def test_at_most_six_handoffs_are_shown_and_the_seed_says_which() -> None:
    tables = [item(f"table {k}", "asset", "Hall_2", 6, 0.1 * k) for k in range(5)]
    task = errand(row_house(SHELF, *tables))
    shown = blind_handoffs(task, 1)
    assert len({str(each) for each in shown}) == 6
    assert shown == blind_handoffs(task, 1)
    assert len({tuple(blind_handoffs(task, seed)) for seed in range(5)}) > 1


def test_where_the_errand_cannot_be_walked_nothing_spares_anything() -> None:
    scene = row_house(SHELF, item("side table", "asset", "Living_room_3", 10, 0.1))
    # The study is cut off, and the shelf's room is a hand's breadth from the start.
    at = {"vBedroom_1": (9.7, 0.0, 0.0)}
    shelf = item("book shelf", "asset", "Bedroom_1", 9.7, 0.1)
    scene = scene.replace(
        viewpoints=tuple(
            v.model_copy(update={"position": at.get(v.id, v.position)}) for v in scene.viewpoints
        ),
        items=tuple(shelf if thing.name == "book shelf" else thing for thing in scene.items),
        edges=(Edge(a="vBedroom_1", b="vLiving_room_3"), Edge(a="vStudy_4", b="vPantry_5")),
    )
    task = errand(scene)
    assert task.solo_metres is None
    (place,) = (x for key, x in task.transfers.items() if key[1] == "side_table")
    assert place.from_start + place.to_end < 1
    assert blind_handoffs(task, 0) == ranked_handoffs(task) == []
    assert relay_facts(task, 0, BARE) == "Alone robot_1 walks 0 m."


def test_far_rooms_are_so_many_hops_away_or_more_and_reachable() -> None:
    scene = row_house(SHELF)
    assert far_rooms(scene, "Hall_2", 2) == ["Study_4", "Pantry_5", "Attic_6"]
    assert far_rooms(scene, "Hall_2", 4) == ["Attic_6"]
    cut = scene.replace(links=scene.links[:2])
    assert far_rooms(cut, "Hall_2", 1) == ["Bedroom_1", "Living_room_3"]
    assert far_places(scene, "Study_4", 2) == [
        "book_shelf in Bedroom_1",
        "kitchen_counter in Hall_2",
    ]


def test_six_names_of_a_room_are_offered_surfaces_first() -> None:
    stools = [item(f"stool {letter}", "asset", "Hall_2", 6, 1) for letter in "abcdefg"]
    offered = [
        thing.name for thing in things(row_house(*stools), "asset") if thing.region == "Hall_2"
    ]
    assert len(offered) == 6
    assert offered[0] == "kitchen_counter"


def test_a_thing_is_read_by_its_name_and_room() -> None:
    scene = row_house(SHELF)
    assert read_thing(" cup in Study_4 ", scene, "object") == Thing("cup", "Study_4")
    assert "names no room" in str(read_thing("cup", scene, "object"))
    assert read_thing("cup in Hall_2", scene, "object") == (
        "There is no object 'cup' in Hall_2. There: none."
    )
    assert read_thing("cup in Study_4", scene, "asset") == (
        "There is no asset 'cup' in Study_4. There: none."
    )
