"""Every relay of a task, the best of them, and every admissible triple."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from navloom.scenes.scene import Scene
from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    RelayChoice,
    check_collab_path_efficient,
    guard_violations,
)
from navloom.tools.navcraft.relay_optimum import (
    Measure,
    RelayTable,
    _reasons,
    all_relays,
    recommend,
    relay_record,
)
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.schedule import Speeds
from navloom.tools.navcraft.task_paths import (
    admissible_triples,
    check_two_path_and_adjacency,
    count_admissible_triples,
)
from tests.evals import tiny
from tests.tools.navcraft.test_relay import cut_off, row_task
from tests.tools.navcraft.worlds import item, near, row_house, scenes

LAST_BIT = 1e-9
MEASURES: tuple[Measure, ...] = ("alpha", "g_rate", "makespan")


def test_the_row_house_has_four_helpers_one_table_and_two_types() -> None:
    relays = all_relays(row_task())
    assert len(relays) == 4 * 1 * 2
    assert {relays.relay(i).robot_2_start_region for i in range(8)} == {
        "Living_room_3",
        "Study_4",
        "Pantry_5",
        "Attic_6",
    }


def test_the_best_by_hand() -> None:
    # Alpha is 0.76 by A1 whoever helps. The helper nearest the cup starts in the Study itself:
    # first leg 1 + 7 = 8, robot_1 at the table at 10, so g = (10 + 9) / 25 = 0.76 too.
    best = all_relays(row_task()).best("alpha")
    assert best is not None
    assert best.robot_2_start_region == "Study_4"
    assert best.collab_type == "Type-A1"
    assert (best.alpha, best.g_rate) == (near(0.76), near(0.76))
    assert best.makespan_s == near(19)


def test_speeds_change_the_best_makespan_and_nothing_else() -> None:
    even, slow = (all_relays(row_task(), speeds=s) for s in (Speeds(), Speeds(robot_1=0.5)))
    assert (even.alpha == slow.alpha).all()
    assert (even.g_rate == slow.g_rate).all()
    best = slow.best("makespan")
    assert best is not None
    assert best.makespan_s == near(38)  # robot_1: 10 m to the table, 9 m on, at half speed


def test_the_strict_rule_leaves_fewer_helpers() -> None:
    relays = all_relays(row_task(), strict=True)
    assert {relays.relay(i).robot_2_start_region for i in range(len(relays))} == {"Attic_6"}


def test_no_relay_no_best() -> None:
    for relays in (
        all_relays(row_task(scene=cut_off("vBedroom_1-vHall_2"))),
        all_relays(row_task(scene=row_house().replace(items=row_house().items[:2]))),
    ):
        assert len(relays) == 0
        assert relays.best("alpha") is None
        assert len(relays.ranking("g_rate")) == 0
        assert relays.regret(0.5, 0.5) is None
        assert recommend(relays, "transfer_asset") == []


def test_regret_is_taken_from_the_best_of_each() -> None:
    regret = all_relays(row_task()).regret(0.8, 1.16)
    assert regret is not None
    assert regret.best_alpha == near(0.76)
    assert regret.best_g_rate == near(0.76)
    assert regret.regret_alpha == near(0.04)
    assert regret.regret_g == near(1.16 / 0.76 - 1)


def test_ties_are_settled_by_scene_order() -> None:
    twin = item("side table", "asset", "Living_room_3", 10, -2)
    best = all_relays(row_task(twin)).best("g_rate")
    assert best is not None
    assert best.transfer_asset == "coffee_table"


def test_recommendations_differ_and_say_why() -> None:
    relays = all_relays(row_task(item("shelf", "asset", "Pantry_5", 18, 1)))
    starts = recommend(relays, "helper_start", by="g_rate", k=2)
    assert [r.choice for r in starts] == ["Study_4", "Living_room_3"]
    assets = recommend(relays, "transfer_asset", by="alpha")
    assert [r.choice for r in assets] == ["coffee_table in Living_room_3", "shelf in Pantry_5"]
    types = recommend(relays, "collab_type", by="alpha")
    assert [r.choice for r in types] == ["Type-A1", "Type-A2"]
    assert types[0].relay == relays.best("alpha")
    assert "robot_1 walks 19.0 m instead of 25.0 m (alpha 0.76)." in types[0].reasons


@given(scenes(), st.randoms(use_true_random=False), st.booleans())
def test_the_table_is_every_guarded_call_of_the_tool(
    scene: Scene, random: Any, strict: bool
) -> None:
    objects = [i for i in scene.items if i.kind == "object"]
    assets = [i for i in scene.items if i.kind == "asset"]
    if not objects or not assets:
        return
    thing, end = random.choice(objects), random.choice(assets)
    start = random.choice(scene.regions).id
    task = RelayTask(scene, start, thing.region, thing.name, end.region, end.name)
    relays = all_relays(task, strict=strict)
    rows = iter(map(relays.relay, range(len(relays))))
    for helper, transfer in itertools.product(task.helpers, task.transfers):
        guarded = not guard_violations(task, helper, *transfer, strict=strict)
        for collab_type in COLLAB_TYPES:
            answer = check_collab_path_efficient(
                task, helper, *transfer, collab_type, strict=strict
            )
            assert ("error" not in answer) is guarded
            if not guarded:
                continue
            row = next(rows)
            assert row.robot_2_start_region == helper
            assert (row.transfer_region, row.transfer_asset) == transfer
            assert row.collab_type == collab_type
            assert (row.alpha, row.g_rate) == (answer["r1_rate"], answer["g_rate"])
            # The way of robot_2 alone, leg by leg.
            solo, on = task.solo_metres or 0.0, task.graph.distance
            assert task.object_anchor
            assert task.end_anchor
            other = task.helpers[helper].to_object + on(task.object_anchor, task.end_anchor)
            assert row.best_alone == near(min(1.0, other / solo))
            timed = schedule_relay(task, helper, *transfer, collab_type)
            assert row.makespan_s == near(timed.makespan_s)
    assert next(rows, None) is None
    for by, column in zip(MEASURES, (relays.alpha, relays.g_rate, relays.makespan), strict=True):
        best = relays.best(by)
        assert (best is None) is (len(relays) == 0)
        if best is not None:
            value = {"alpha": best.alpha, "g_rate": best.g_rate, "makespan": best.makespan_s}[by]
            assert value == near(column.min(), abs=1e-8)


@given(scenes(), st.randoms(use_true_random=False))
def test_no_relay_is_done_before_the_better_placed_robot_alone(scene: Scene, random: Any) -> None:
    objects = [i for i in scene.items if i.kind == "object"]
    assets = [i for i in scene.items if i.kind == "asset"]
    if not objects or not assets:
        return
    thing, end = random.choice(objects), random.choice(assets)
    start = random.choice(scene.regions).id
    bounded_by_one_robot(
        all_relays(RelayTask(scene, start, thing.region, thing.name, end.region, end.name))
    )


def bounded_by_one_robot(relays: RelayTable) -> None:
    """Type-A1 can be no sooner than robot_2 alone, Type-A2 no sooner than robot_1 alone."""
    assert (relays.g_rate >= relays.best_alone - LAST_BIT).all()
    assert (relays.best_alone <= 1).all()
    assert (relays.g_rate[relays.type_index == COLLAB_TYPES.index("Type-A2")] >= 1 - LAST_BIT).all()


def test_by_hand_the_helper_alone_is_sooner_than_with_robot_1() -> None:
    # Solo: 25 m. From the Study the helper has the cup after 1 m and the counter 12 m on, 13 by
    # itself; over the table robot_1 is done after 19.
    best = all_relays(row_task()).best("g_rate")
    assert best is not None
    assert (best.g_rate, best.best_alone) == (near(19 / 25), near(13 / 25))


@given(scenes(), st.integers(1, 4))
def test_triples_are_those_the_tool_calls_valid(scene: Scene, tau: int) -> None:
    ids = [region.id for region in scene.regions]
    expected = [
        (start, target, end)
        for start, target, end in itertools.product(ids, repeat=3)
        if check_two_path_and_adjacency(scene, start, target, end, tau=tau)["valid"]
        and scene.items_in(target, "object")
        and scene.items_in(end, "asset")
    ]
    assert list(admissible_triples(scene, tau)) == expected
    assert count_admissible_triples(scene, tau) == len(expected)


GOLDEN = RelayChoice("Dining_room_4", "Kitchen_3", "counter", "Type-A1")
CUP = ("Bedroom_1", "Office_5", "cup", "Living_room_7", "shelf")


def test_the_record_of_a_relay_by_hand() -> None:
    # The home of eight rooms: 38 m alone; its docstrings tell every leg.
    found = relay_record(RelayTask(tiny.home(), *CUP), GOLDEN)
    assert {key: found[key] for key in ("best_alpha", "best_g_rate")} == near(
        {"best_alpha": 18 / 38, "best_g_rate": 20 / 38}
    )
    expected = {
        "alpha": 18 / 38, "alpha_other": 33 / 38, "alpha_either": 18 / 38, "r1_rate": 18 / 38,
        "g_rate": 25 / 38, "gain_alpha": 20 / 38, "gain_g": 13 / 38, "best_alone": 23 / 38,
        "regret_alpha": 0.0, "regret_g": 25 / 20 - 1, "makespan_s": 25.0,
    }  # fmt: skip
    assert {key: found[key] for key in expected} == near(expected)
    assert (found["transfer_asset"], found["transfer_asset_id"]) == ("counter", "counter-1")
    assert found["robot_2_start_region"] == "Dining_room_4"
    other = relay_record(RelayTask(tiny.home(), *CUP), GOLDEN._replace(collab_type="Type-A2"))
    assert (other["alpha"], other["alpha_other"]) == (near(33 / 38), near(18 / 38))
    assert other["alpha_either"] == near(18 / 38)


def test_without_a_choice_the_record_has_the_optimum_alone() -> None:
    found = relay_record(RelayTask(tiny.home(), *CUP), None)
    assert set(found) == {"best_alpha", "best_g_rate", "guarded_relays"}
    assert found["guarded_relays"] == len(all_relays(RelayTask(tiny.home(), *CUP)))
    alone = row_house().replace(
        items=tuple(each for each in row_house().items if each.name != "coffee table")
    )
    only = relay_record(row_task(scene=alone), None)
    assert only == {
        "best_alpha": None, "best_g_rate": None, "guarded_relays": 0,
    }  # fmt: skip


def test_reasons_say_what_a_relay_spares() -> None:
    (first, *_) = recommend(all_relays(RelayTask(tiny.home(), *CUP)), "transfer_asset", k=1)
    walks, arrives, takes = first.reasons
    assert walks == "robot_1 walks 18.0 m instead of 38.0 m (alpha 0.47)."
    assert "arrives sooner" in arrives
    assert first.choice == "counter in Kitchen_3"
    assert "a handoff at the counter in Kitchen_3 (Type-A1)" in takes
    # At a rate of 1 nothing is sooner: the relay of the row house takes as long as robot_1 alone.
    slow = next(
        relay
        for relay in map(all_relays(row_task()).relay, range(8))
        if relay.robot_2_start_region == "Attic_6" and relay.collab_type == "Type-A1"
    )
    assert "arrives no sooner than by robot_1 alone (g_rate 1.00)" in _reasons(slow, row_task())[1]


def test_ranked_by_hand() -> None:
    relays = all_relays(row_task())
    ranked = [relays.relay(int(k)) for k in relays.ranking("alpha")]
    assert [round(each.alpha, 4) for each in ranked] == [0.76] * 4 + [0.8] * 4
    # Of equal alphas the one that arrives sooner goes first, then the order of the home.
    assert [each.robot_2_start_region for each in ranked[:4]] == [
        "Study_4", "Living_room_3", "Pantry_5", "Attic_6",
    ]  # fmt: skip
