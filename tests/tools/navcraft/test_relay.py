"""RelayTask, check_collab_path_efficient and the guards.

The golden relay is the row house (rooms 4 m apart, viewpoints at x = 2, 6, ... 22). Robot_1 starts
in Bedroom_1 (x = 2); the cup is in Study_4 at (14, 1), 1 m from its viewpoint; the counter in
Hall_2 at (6, 3), 3 m from its; the coffee table in Living_room_3 at (10, 2), 2 m from its; robot_2
starts in Attic_6 (x = 22). Then, in metres:

    d(s, o) = 12 + 1 = 13        d(o, e) = 1 + 8 + 3 = 12      C_solo = 25
    d(s, x) = 8 + 2 = 10         d(o, x) = 1 + 4 + 2 = 7       d(x, e) = 2 + 4 + 3 = 9
    d(h, o) = 8 + 1 = 9          d(h, x) = 12 + 2 = 14
    A1: first leg 9 + 7 = 16, parallel max(16, 10) = 16, g 16 + 9 = 25, r1 10 + 9 = 19
    A2: first leg 13 + 7 = 20, parallel max(20, 14) = 20, g 20 + 9 = 29, r1 20
"""

from __future__ import annotations

import json
import math
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.reference import Collab
from navloom.errors import UsageError
from navloom.scenes.scene import Item, Link, Region, Scene, Viewpoint
from navloom.tools.navcraft.relay import check_collab_path_efficient, guard_violations
from navloom.tools.navcraft.relay_task import RelayTask, has_usable_surface, item_not_found
from navloom.tools.navcraft.task_paths import metric_graph
from tests.tools.navcraft.worlds import item, row_house, scenes

RELAY = ("Attic_6", "Living_room_3", "coffee_table")


def row_task(*more: Item, scene: Scene | None = None, **changes: Any) -> RelayTask:
    given: dict[str, str] = {
        "start_region": "Bedroom_1",
        "target_region": "Study_4",
        "object_name": "cup",
        "end_region": "Hall_2",
        "end_asset": "kitchen_counter",
    }
    return RelayTask(scene or row_house(*more), **(given | changes))


def broken(task: RelayTask, *relay: str, strict: bool = False) -> list[str]:
    """What a model is told of each guard that a relay breaks."""
    return [each.message for each in guard_violations(task, *relay, strict=strict)]


def test_golden_relay_a1() -> None:
    assert check_collab_path_efficient(row_task(), *RELAY, "Type-A1") == {
        "g_efficient": False,
        "r1_efficient": True,
        "efficient": True,
        "g_rate": pytest.approx(25 / 25),
        "r1_rate": pytest.approx(19 / 25),
        "path_info": {
            "r2_to_target": pytest.approx(9),
            "target_to_transfer": pytest.approx(7),
            "robot2_first_leg": pytest.approx(16),
            "r1_to_transfer": pytest.approx(10),
            "parallel_leg": pytest.approx(16),
            "transfer_to_end": pytest.approx(9),
            "type": "Type-A1",
        },
    }


def test_golden_relay_a2() -> None:
    assert check_collab_path_efficient(row_task(), *RELAY, "Type-A2") == {
        "g_efficient": False,
        "r1_efficient": True,
        "efficient": True,
        "g_rate": pytest.approx(29 / 25),
        "r1_rate": pytest.approx(20 / 25),
        "path_info": {
            "r1_to_target": pytest.approx(13),
            "target_to_transfer": pytest.approx(7),
            "robot1_first_leg": pytest.approx(20),
            "r2_to_transfer": pytest.approx(14),
            "parallel_leg": pytest.approx(20),
            "transfer_to_end": pytest.approx(9),
            "type": "Type-A2",
        },
    }


def test_the_solo_route_is_measured_at_the_items_own_places() -> None:
    task = row_task()
    assert task.solo_metres == pytest.approx(25)
    assert (task.object_item.id, task.end_item.id) == ("cup", "kitchen-counter")


@pytest.mark.parametrize("written", ["coffee_table", "coffee table", "Coffee Table"])
def test_names_are_taken_as_models_or_scenes_write_them(written: str) -> None:
    answer = check_collab_path_efficient(row_task(), *RELAY[:2], written, "Type-A1")
    assert answer["r1_rate"] == pytest.approx(0.76)


def test_a_shared_object_name_means_the_pair_that_adds_least() -> None:
    # A second cup 5 m off the viewpoint, and a second counter on it: the near ones are meant.
    task = row_task(
        item("cup", "object", "Study_4", 14, 5, id="a-far-cup"),
        item("kitchen counter", "asset", "Hall_2", 6, 0, id="z-near-counter"),
    )
    assert (task.object_item.id, task.end_item.id) == ("cup", "z-near-counter")
    assert task.solo_metres == pytest.approx(22)


def test_a_shared_transfer_name_means_the_least_carried_route() -> None:
    task = row_task(item("coffee table", "asset", "Living_room_3", 10, -1, id="near"))
    transfer = task.transfers["Living_room_3", "coffee_table"]
    assert transfer.item.id == "near"
    answer = check_collab_path_efficient(task, *RELAY, "Type-A1")
    assert answer["path_info"]["transfer_to_end"] == pytest.approx(8)


def test_ties_go_to_the_lowest_id() -> None:
    task = row_task(
        item("cup", "object", "Study_4", 14, -1, id="b-cup"),
        item("coffee table", "asset", "Living_room_3", 10, -2, id="a-table"),
    )
    assert task.object_item.id == "b-cup"  # before "cup", 1 m to the other side
    assert task.transfers["Living_room_3", "coffee_table"].item.id == "a-table"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"start_region": "Bedrom_1"}, r"start_region 'Bedrom_1'.*Did you mean 'Bedroom_1'"),
        ({"end_region": "Hall"}, r"end_region 'Hall'.*'Hall_2'"),
        ({"object_name": "cups"}, r"Study_4 has no object 'cups'\. Did you mean 'cup'\?"),
        ({"object_name": "coffee_table"}, r"Study_4 has no object 'coffee_table'"),
        ({"end_asset": "sofa"}, r"Hall_2 has no asset 'sofa'\. It has: kitchen_counter\."),
        ({"end_region": "Attic_6"}, r"Attic_6 has no asset .*: it has no asset at all"),
    ],
)
def test_a_task_with_a_wrong_name_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        row_task(**changes)


@pytest.mark.parametrize(
    ("relay", "said"),
    [
        (("Nowhere_9", "Living_room_3", "coffee_table"), "robot_2_start_region 'Nowhere_9'"),
        (("Attic_6", "Living_3", "coffee_table"), "Did you mean 'Living_room_3'?"),
        (("Attic_6", "Living_room_3", "table"), "It has: coffee_table, door."),
        (("Attic_6", "Pantry_5", "coffee_table"), "it has no asset at all"),
        (("Attic_6", "Study_4", "desk"), "transfer_region Study_4 is the target region"),
        (("Attic_6", "Hall_2", "kitchen_counter"), "is the end asset itself"),
        (("Bedroom_1", "Living_room_3", "coffee_table"), "may not start in robot_1's start"),
        (("Hall_2", "Living_room_3", "coffee_table"), "is next to robot_1's start region"),
        (("Attic_6", "Living_room_3", "door"), "no usable surface"),
    ],
)
def test_each_guard_refuses_with_a_sentence(relay: tuple[str, str, str], said: str) -> None:
    task = row_task(
        item("desk", "asset", "Study_4", 14, 2),
        item("door", "asset", "Living_room_3", 11, 1, size=(1.0, 2.0, 0.1)),
    )
    (violation,) = guard_violations(task, *relay)
    assert said in violation.message
    for collab_type in ("Type-A1", "Type-A2"):
        assert check_collab_path_efficient(task, *relay, collab_type) == {
            "efficient": False,
            "error": violation.message,
        }


def test_every_broken_guard_is_told_at_once() -> None:
    task = row_task(item("desk", "asset", "Study_4", 14, 2))
    assert len(broken(task, "Bedroom_1", "Study_4", "desk")) == 2
    assert len(broken(task, "Nowhere_9", "Study_4", "desk")) == 2
    assert broken(task, *RELAY) == []


def test_an_unknown_type_is_refused() -> None:
    answer = check_collab_path_efficient(row_task(), *RELAY, "Type-B1")
    assert answer["efficient"] is False
    assert "'Type-B1'" in answer["error"]


@pytest.mark.parametrize(
    ("start", "strict_says"),
    [
        ("Pantry_5", ["target region Study_4"]),
        ("Study_4", ["transfer region Living_room_3"]),  # in the target is not next to it
        ("Living_room_3", ["target region Study_4"]),
        ("Attic_6", []),
    ],
)
def test_the_stricter_rule_keeps_the_helper_from_next_door(
    start: str, strict_says: list[str]
) -> None:
    task = row_task()
    relay = (start, *RELAY[1:])
    assert broken(task, *relay) == []
    said = broken(task, *relay, strict=True)
    assert len(said) == len(strict_says)
    assert all(part in sentence for part, sentence in zip(strict_says, said, strict=True))
    answer = check_collab_path_efficient(task, *relay, "Type-A1", strict=True)
    assert ("error" in answer) is bool(strict_says)


def cut_off(*edges: str) -> Scene:
    """The row house without some of the edges of G; its links still join every room."""
    scene = row_house()
    return scene.replace(edges=tuple(e for e in scene.edges if f"{e.a}-{e.b}" not in edges))


def test_a_helper_that_cannot_come_is_refused() -> None:
    task = row_task(scene=cut_off("vPantry_5-vAttic_6"))
    said = " ".join(broken(task, *RELAY))
    assert "robot_2 cannot reach the cup in Study_4 from Attic_6" in said
    assert check_collab_path_efficient(task, *RELAY, "Type-A1")["efficient"] is False


def test_a_task_that_cannot_be_walked_has_no_relay_and_no_cost() -> None:
    task = row_task(scene=cut_off("vBedroom_1-vHall_2"))
    assert task.solo_metres is None
    answer = check_collab_path_efficient(task, *RELAY, "Type-A2")
    assert answer["efficient"] is False
    assert "robot_1 cannot walk from Bedroom_1 to the cup" in answer["error"]
    json.dumps(answer, allow_nan=False)


def test_a_task_that_ends_where_it_starts_has_no_relay() -> None:
    scene = row_house(item("bed", "asset", "Bedroom_1", 2, 2))
    task = row_task(scene=scene, end_region="Bedroom_1", end_asset="bed")
    assert "start and end must differ" in broken(task, *RELAY)[0]


def test_a_solo_route_of_no_length_is_no_division_by_zero() -> None:
    # All three in one spot: the rooms' viewpoints lie above one another.
    scene = row_house()
    scene = scene.replace(
        viewpoints=tuple(v.model_copy(update={"position": (0, 0, 0)}) for v in scene.viewpoints),
        items=tuple(i.model_copy(update={"position": (0, 0, 0)}) for i in scene.items),
    )
    answer = check_collab_path_efficient(row_task(scene=scene), *RELAY, "Type-A1")
    assert answer["efficient"] is False
    assert "0 m long" in answer["error"]


def test_an_item_hangs_on_a_viewpoint_of_its_own_region() -> None:
    # At x = 8.1 the coffee table is nearest to the Living room's viewpoint by a whisker less than
    # to the Hall's; at x = 7 it is nearer to the Hall's and still hangs on its own room's.
    scene = row_house(item("shelf", "asset", "Living_room_3", 7, 0))
    anchor = metric_graph(scene).items["shelf"]
    assert scene.viewpoints[anchor.viewpoint].id == "vLiving_room_3"
    assert anchor.spur == pytest.approx(3)


def test_of_viewpoints_equally_near_the_first_is_meant() -> None:
    scene = row_house(item("shelf", "asset", "Hall_2", 6.5, 0))
    twins = [Viewpoint(id=f"twin{x}", position=(x, 0, 0), region="Hall_2") for x in (6.25, 6.75)]
    anchors = []
    for first, second in (twins, reversed(twins)):
        g_plus = metric_graph(scene.replace(viewpoints=(first, second, *scene.viewpoints)))
        anchors.append(g_plus.table.nodes[g_plus.items["shelf"].viewpoint])
    assert anchors == ["twin6.25", "twin6.75"]


def closet(floor: int) -> Scene:
    """The row house with a seventh room that has a cup and no viewpoint, on some floor."""
    scene = row_house()
    return scene.replace(
        floors=(*scene.floors, scene.floors[0].model_copy(update={"id": 2, "height": 3.0})),
        regions=(*scene.regions, Region(id="Closet_7", center=(22, 0, 4), floor=floor)),
        links=(*scene.links, Link(a="Attic_6", b="Closet_7")),
        items=(*scene.items, item("cup", "object", "Closet_7", 22, 4, id="c7")),
    )


def test_a_region_without_viewpoints_borrows_the_nearest_of_its_floor() -> None:
    task = row_task(scene=closet(1), target_region="Closet_7")
    assert task.solo_metres == pytest.approx(20 + 4 + 4 + 16 + 3)
    assert any(
        "Closet_7: it has no viewpoint" in said for said in broken(task, "Closet_7", *RELAY[1:])
    )


def test_the_last_bit_of_a_sum_is_no_gain() -> None:
    # Beside the end asset, as far from its viewpoint but for rounding.
    beside = item("stool", "asset", "Hall_2", 6, -3 + 1e-11)
    task = row_task(beside)
    found = check_collab_path_efficient(task, RELAY[0], "Hall_2", "stool", "Type-A2")
    assert 1 - 1e-12 < found["r1_rate"] < 1
    assert found["efficient"] is found["r1_efficient"] is False


def test_a_region_without_links_is_no_place_to_hand_over() -> None:
    scene = closet(1)
    walled_up = scene.replace(
        links=tuple(link for link in scene.links if link.b != "Closet_7"),
        items=(*scene.items, item("shelf", "asset", "Closet_7", 22, 4)),
    )
    task = row_task(scene=walled_up)
    assert math.isfinite(task.transfers["Closet_7", "shelf"].from_start)
    (said,) = broken(task, RELAY[0], "Closet_7", "shelf")
    assert "robot_1 cannot reach the shelf in Closet_7" in said


def test_a_floor_without_viewpoints_cannot_be_reached() -> None:
    task = row_task(scene=closet(2), target_region="Closet_7")
    assert task.solo_metres is None
    assert check_collab_path_efficient(task, *RELAY, "Type-A1")["efficient"] is False


@pytest.mark.parametrize(
    ("size", "y", "usable"),
    [
        ((1.0, 0.7, 0.6), 0.35, True),
        ((1.0, 0.7, 0.29), 0.35, False),  # too narrow
        ((0.3, 0.25, 0.3), 0.125, True),  # just wide and just high enough
        ((1.0, 0.2, 0.6), 0.1, False),  # too low
        ((1.0, 1.4, 0.6), 0.7, True),
        ((1.0, 2.0, 0.6), 1.0, False),  # too high
    ],
)
def test_a_usable_surface(size: tuple[float, float, float], y: float, usable: bool) -> None:
    thing = Item(id="t", name="t", kind="asset", region="Hall_2", position=(6, y, 0), size=size)
    assert has_usable_surface(row_house(thing), thing) is usable
    # Seen from a floor 10 m up, the same thing stands just as high above its own floor.
    scene = row_house().replace(floors=(row_house().floors[0].model_copy(update={"height": 10}),))
    up = thing.model_copy(update={"position": (6, y + 10, 0)})
    assert has_usable_surface(scene, up) is usable


def test_unknown_sizes_and_heights_are_not_held_against_an_asset() -> None:
    scene = row_house()
    thing = item("shelf", "asset", "Hall_2", 6, 1)
    assert has_usable_surface(scene, thing)
    high = thing.model_copy(update={"size": (1.0, 3.0, 1.0)})
    assert not has_usable_surface(scene, high)
    assert has_usable_surface(scene, high.model_copy(update={"height_known": False}))


def test_an_instance_one_can_use_comes_before_a_nearer_one() -> None:
    narrow = item("coffee table", "asset", "Living_room_3", 10, 0, id="a", size=(1, 0.5, 0.1))
    task = row_task(narrow)
    assert task.transfers["Living_room_3", "coffee_table"].item.id == "coffee-table"


def solo_of(scene: Scene, start: str, thing: Item, asset: Item) -> float:
    """C_solo of one pair of instances by plain networkx; inf where there is no way."""
    try:
        return Collab(scene, start, thing, asset).solo
    except (nx.NetworkXNoPath, nx.NodeNotFound, ValueError):
        return math.inf


@given(scenes(), st.randoms(use_true_random=False))
def test_relays_are_those_of_plain_networkx(scene: Scene, random: Any) -> None:
    objects = [i for i in scene.items if i.kind == "object"]
    assets = [i for i in scene.items if i.kind == "asset"]
    assume(objects and assets)
    thing, end = random.choice(objects), random.choice(assets)
    start = random.choice(scene.regions).id
    task = RelayTask(scene, start, thing.region, thing.prompt_name, end.region, end.prompt_name)
    least = min(
        solo_of(scene, start, o, a)
        for o in objects
        if (o.region, o.name) == (thing.region, thing.name)
        for a in assets
        if (a.region, a.name) == (end.region, end.name)
    )
    # Items of a room without viewpoints are anchored by us and not by the reference.
    assume(all(scene.viewpoints_by_region[i.region] for i in (thing, end)))
    assert (task.solo_metres or math.inf) == pytest.approx(least)
    if task.broken:
        return
    reference = Collab(scene, start, task.object_item, task.end_item)
    for transfer in task.transfers.values():
        for helper in task.helpers:
            for collab_type in ("Type-A1", "Type-A2"):
                ours = check_collab_path_efficient(
                    task, helper, transfer.region, transfer.name, collab_type
                )
                json.dumps(ours, allow_nan=False)
                if "error" in ours:
                    assert ours["efficient"] is False
                    continue
                if not scene.viewpoints_by_region[transfer.region]:
                    continue
                theirs = reference.check(helper, transfer.item, collab_type)
                assert ours["g_rate"] == pytest.approx(theirs["g_rate"])
                assert ours["r1_rate"] == pytest.approx(theirs["r1_rate"])


@given(scenes())
def test_distances_over_g_plus_are_networkx_s(scene: Scene) -> None:
    graph = scene.navigation_graph()
    g_plus = metric_graph(scene)
    for anchor in g_plus.items.values():
        graph.add_edge(anchor.node, scene.viewpoints[anchor.viewpoint].id, metres_2d=anchor.spur)
    anchors = [*g_plus.items.values(), *g_plus.starts.values()]
    for a in anchors:
        lengths = nx.single_source_dijkstra_path_length(graph, a.node, weight="metres_2d")
        for b in anchors:
            assert g_plus.distance(a, b) == pytest.approx(lengths.get(b.node, math.inf))
            walk = g_plus.walk(a, b)
            if b.node in lengths:
                assert nx.path_weight(graph, walk, "metres_2d") == pytest.approx(lengths[b.node])
            else:
                assert walk is None


def test_a_handoff_knows_how_far_the_object_is_carried() -> None:
    # 7 m from the cup to the coffee table, 9 m on to the counter.
    assert row_task().transfers["Living_room_3", "coffee_table"].carried == 16


def test_a_route_is_shorter_by_more_than_rounding() -> None:
    task = row_task()
    assert task.solo_metres == 25
    assert 25 - 1e-8 < task.shorter_bound < 25
    # Where there is no way nothing is shorter.
    home = row_house()
    cut = row_task(scene=home.replace(edges=home.edges[1:]))
    assert cut.solo_metres is None
    assert -1e-8 < cut.shorter_bound < 0


def test_names_of_200_letters_are_read() -> None:
    long = item("x" * 200, "object", "Study_4", 14, 0, id="long")
    assert row_task(long, object_name="x" * 200).object_item.id == "long"
    assert row_task(long, object_name="x" * 201).object_item.id == "long"


def test_an_instance_that_is_meant_comes_before_a_nearer_one() -> None:
    far = item("cup", "object", "Study_4", 14, 3, id="far-cup")
    away = item("kitchen counter", "asset", "Hall_2", 6, 4, id="far-counter")
    table = item("coffee table", "asset", "Living_room_3", 10, 3, id="far-table")
    home = row_house(far, away, table)
    names = ("Bedroom_1", "Study_4", "cup", "Hall_2", "kitchen_counter")

    def chosen(*meant: str) -> tuple[str, str, str]:
        task = RelayTask(home, *names, meant=frozenset(meant))
        handoff = task.transfers["Living_room_3", "coffee_table"].item.id
        return task.object_item.id, task.end_item.id, handoff

    near = ("cup", "kitchen-counter", "coffee-table")
    assert chosen() == chosen("nothing") == near
    assert chosen("far-cup") == ("far-cup", *near[1:])
    assert chosen("far-counter") == (near[0], "far-counter", near[2])
    assert chosen("far-table") == (*near[:2], "far-table")


def test_an_asset_that_hangs_nowhere_is_infinitely_far() -> None:
    home = row_house()
    lost = home.replace(viewpoints=(), edges=(), items=home.items)
    place = row_task(scene=lost).transfers["Living_room_3", "coffee_table"]
    assert (place.anchor, place.viewpoint, place.spur) == (None, -1, math.inf)
    assert place.carried == math.inf


@pytest.mark.parametrize(("names", "more"), [(12, False), (13, True)])
def test_twelve_names_of_a_region_are_listed(names: int, more: bool) -> None:
    extra = [item(f"n{k:02}", "object", "Attic_6", 22, 0) for k in range(names)]
    said = item_not_found(row_house(*extra), "Attic_6", "zzz", "object")
    assert said.endswith(f"It has: {', '.join(f'n{k:02}' for k in range(12))}{', ...' * more}.")


@pytest.mark.parametrize(("y", "usable"), [(0.25, True), (0.2499994, False), (0.2499996, True)])
def test_the_height_of_a_top_is_rounded_to_a_millionth(y: float, usable: bool) -> None:
    low = item("low", "asset", "Hall_2", 6, 0, size=(1.0, 0.0, 1.0))
    placed = low.model_copy(update={"position": (6.0, y, 0.0)})
    assert has_usable_surface(row_house(), placed) == usable
