"""A way is mended: it fails before, the body arrives after, and no more is done than that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from navloom.errors import SceneError
from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import FloorPose, get_body
from navloom.scenes.distances import turn_between
from navloom.scenes.scene import Point3
from navloom_worlds.mend.home_changes import (
    ChangeCosts,
    apply_changes,
    load_costs,
    merge_changes,
    removal_change,
    sill_change,
    sliding_change,
    total_cost,
    widening_change,
)
from navloom_worlds.mend.mend_report import change_sites, draw_mend
from navloom_worlds.mend.mend_search import Mend, MendReducer, find_mend, required_changes
from navloom_worlds.mend.route_drive import RouteDrive, drive_route
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.recovery_moves import recovery_path
from tests.scenes.test_plan_sheet import texts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:6?rooms=6")


def _bathroom(home: Scene) -> int:
    (number,) = (k for k, each in enumerate(home.links) if each.b == "Bathroom_2")
    return number


def test_a_sill_before_a_sweeper_is_taken_away(home: Scene) -> None:
    found = find_mend(home, get_body("SWEEPER"), "Bedroom_4", "Bathroom_2")
    assert found.proven
    assert not found.before.arrived
    assert [each.kind for each in found.changes] == ["level"]
    assert found.cost == ChangeCosts().level
    free = find_mend(home, get_body("SWEEPER"), "Bedroom_4", "Bedroom_6")
    assert free.before.arrived
    assert not free.proven
    assert not free.changes


def test_a_width_is_no_more_than_it_takes(home: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    door, costs, body = _bathroom(home), ChangeCosts(), get_body("WHEELCHAIR")
    wide = widening_change(home, door, body.width + 0.15, costs)

    def driven(scene: Scene, *_: object) -> RouteDrive:
        link = scene.links[door]
        return RouteDrive((link.width or 0) >= 0.749 and not link.threshold)

    monkeypatch.setattr("navloom_worlds.mend.mend_search.drive_route", driven)
    cheaper = MendReducer(home, body, ("Bedroom_4", "Bathroom_2"), costs)
    taken = removal_change(home, home.items[0].id, costs)
    kept, after = cheaper.made(
        merge_changes([wide, sill_change(home, door, costs), taken]), RouteDrive(True)
    )
    assert after.arrived
    assert [(each.kind, each.width) for each in kept] == [("level", None), ("widen", 0.78)]
    sill = MendReducer(home, body, ("Bedroom_4", "Bathroom_2"), costs)
    monkeypatch.setattr(
        "navloom_worlds.mend.mend_search.drive_route",
        lambda s, *_: RouteDrive(s.links[door].threshold == 0),
    )
    kept, _ = sill.made((sliding_change(home, door, costs),), RouteDrive(True))
    assert [each.kind for each in kept] == ["level"]


def test_changes_of_one_door_have_one_mark_with_both_numbers(home: Scene) -> None:
    door, costs = _bathroom(home), ChangeCosts()
    both = merge_changes([widening_change(home, door, 0.8, costs), sill_change(home, door, costs)])
    changes = (*both, removal_change(home, home.items[0].id, costs))
    places = change_sites(home, changes)
    assert [each.label for each in places] == ["1, 2", "3"]
    found = Mend(
        "WHEELCHAIR", "Bedroom_4", "Bathroom_2", changes, RouteDrive(False), RouteDrive(True)
    )
    words = texts(draw_mend(home, found))
    for once in ("sill of 3.0 cm", "68 cm wide", "no sill", "80 cm wide", "taken away"):
        assert words.count(once) == 1
    assert words.count("68 cm") == words.count("80 cm") == 1
    assert words.count("1, 2") == 3  # on the plan before and after, and close up


def test_a_wheelchair_gets_through_a_tight_door_by_manoeuvres_alone(
    home: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, costs, body = _bathroom(home), ChangeCosts(), get_body("WHEELCHAIR")
    ends = "Bedroom_4", "Bathroom_2"
    wide = apply_changes(
        home, [widening_change(home, door, 0.8, costs), sill_change(home, door, costs)]
    )
    mover, found = mover_of(wide, body), list[list[FloorPose]]()

    def noted(mover: Mover, path: Sequence[FloorPose], way: Sequence[Point3]) -> list[FloorPose]:
        found.append(recovery_path(mover, path, way))
        return found[-1]

    monkeypatch.setattr("navloom_worlds.motion.body_planner.recovery_path", noted)
    assert drive_route(wide, body, *ends).arrived
    stands = next(each for each in found if each)
    assert all(mover.fits(each) for each in stands)
    for a, b in pairwise(stands):
        # Ahead or back along its heading, or turned where it is.
        dx, dz = b.position[0] - a.position[0], b.position[2] - a.position[2]
        assert abs(dx * math.cos(a.heading) + dz * math.sin(a.heading)) < 1e-6
        assert math.hypot(dx, dz) < 1e-6 or turn_between(a.heading, b.heading) == pytest.approx(0)
    monkeypatch.setattr("navloom_worlds.motion.body_planner.recovery_path", lambda *_: [])
    assert not drive_route(wide, body, *ends).arrived


def test_a_long_body_climbs_in_the_middle_of_stairs(monkeypatch: pytest.MonkeyPatch) -> None:
    home, body = load_scene("home:17?rooms=7&floors=2"), get_body("QUADRUPEDAL")
    assert drive_route(home, body, "Living_room_1", "Hallway_5").arrived
    monkeypatch.setattr(
        "navloom_worlds.motion.body_planner.centre_on_stairs", lambda _, way, *__: way
    )
    assert not drive_route(home, body, "Living_room_1", "Hallway_5").arrived


def test_a_link_needs_what_its_figures_say(home: Scene) -> None:
    door, costs = _bathroom(home), ChangeCosts()
    kinds = {
        body: [each.kind for each in required_changes(home, door, get_body(body), costs) or ()]
        for body in ("HUMAN", "WHEELCHAIR", "HUMANOID", "SWEEPER")
    }
    assert kinds == {
        "HUMAN": [],
        "WHEELCHAIR": ["level", "widen"],
        "HUMANOID": ["widen"],
        "SWEEPER": ["level"],
    }


def test_changes_are_made_once_and_cost_what_the_table_says(home: Scene, tmp_path: Path) -> None:
    door, dear = _bathroom(home), ChangeCosts(widen=100, widen_metre=1000)
    wide = [widening_change(home, door, each, dear) for each in (0.8, 0.9)]
    both = merge_changes([*wide, sill_change(home, door, dear), wide[0]])
    assert [(each.kind, each.width) for each in both] == [("level", None), ("widen", 0.9)]
    assert total_cost(both) == pytest.approx(80 + 100 + 1000 * (0.9 - 0.68))
    changed = apply_changes(home, both).links[door]
    assert (changed.width, changed.threshold) == (0.9, 0.0)
    item = home.items[0].id
    gone = apply_changes(home, [removal_change(home, item, dear), removal_change(home, item, dear)])
    assert item not in gone.item_by_id
    file = tmp_path / "costs.json"
    file.write_text('{"widen": 700}')
    assert load_costs(file).widen == 700
    assert load_costs(file).lift == ChangeCosts().lift
    file.write_text('{"widen": -1}')
    with pytest.raises(SceneError, match="widen"):
        load_costs(file)
