"""A way is mended: it fails before, the body arrives after, and no more is done than that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from navloom.errors import SceneError
from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import Stand, get_body
from navloom.scenes.distances import turn_between
from navloom.scenes.scene import Point3
from navloom_worlds.mend.changes import (
    Costs,
    levelling,
    load_costs,
    merged,
    price,
    rebuilt,
    removing,
    sliding,
    widening,
)
from navloom_worlds.mend.mend_report import draw_mend, places_of
from navloom_worlds.mend.route_drive import Drive, drive
from navloom_worlds.mend.search import Cheaper, Mend, link_needs, mend
from navloom_worlds.motion.manoeuvres import manoeuvred
from navloom_worlds.motion.mover import Mover, mover_of
from tests.scenes.test_plan import texts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:6?rooms=6")


def _bathroom(home: Scene) -> int:
    (number,) = (k for k, each in enumerate(home.links) if each.b == "Bathroom_2")
    return number


def test_a_sill_before_a_sweeper_is_taken_away(home: Scene) -> None:
    found = mend(home, get_body("SWEEPER"), "Bedroom_4", "Bathroom_2")
    assert found.proven
    assert not found.before.arrived
    assert [each.kind for each in found.changes] == ["level"]
    assert found.cost == Costs().level
    free = mend(home, get_body("SWEEPER"), "Bedroom_4", "Bedroom_6")
    assert free.before.arrived
    assert not free.proven
    assert not free.changes


def test_a_width_is_no_more_than_it_takes(home: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    door, costs, body = _bathroom(home), Costs(), get_body("WHEELCHAIR")
    wide = widening(home, door, body.width + 0.15, costs)

    def driven(scene: Scene, *_: object) -> Drive:
        link = scene.links[door]
        return Drive((link.width or 0) >= 0.749 and not link.threshold)

    monkeypatch.setattr("navloom_worlds.mend.search.drive", driven)
    cheaper = Cheaper(home, body, ("Bedroom_4", "Bathroom_2"), costs)
    taken = removing(home, home.items[0].id, costs)
    kept, after = cheaper.made(merged([wide, levelling(home, door, costs), taken]), Drive(True))
    assert after.arrived
    assert [(each.kind, each.width) for each in kept] == [("level", None), ("widen", 0.78)]
    sill = Cheaper(home, body, ("Bedroom_4", "Bathroom_2"), costs)
    monkeypatch.setattr(
        "navloom_worlds.mend.search.drive", lambda s, *_: Drive(s.links[door].threshold == 0)
    )
    kept, _ = sill.made((sliding(home, door, costs),), Drive(True))
    assert [each.kind for each in kept] == ["level"]


def test_changes_of_one_door_have_one_mark_with_both_numbers(home: Scene) -> None:
    door, costs = _bathroom(home), Costs()
    both = merged([widening(home, door, 0.8, costs), levelling(home, door, costs)])
    changes = (*both, removing(home, home.items[0].id, costs))
    places = places_of(home, changes)
    assert [each.label for each in places] == ["1, 2", "3"]
    found = Mend("WHEELCHAIR", "Bedroom_4", "Bathroom_2", changes, Drive(False), Drive(True))
    words = texts(draw_mend(home, found))
    for once in ("sill of 3.0 cm", "68 cm wide", "no sill", "80 cm wide", "taken away"):
        assert words.count(once) == 1
    assert words.count("68 cm") == words.count("80 cm") == 1
    assert words.count("1, 2") == 3  # on the plan before and after, and close up


def test_a_wheelchair_gets_through_a_tight_door_by_manoeuvres_alone(
    home: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, costs, body = _bathroom(home), Costs(), get_body("WHEELCHAIR")
    ends = "Bedroom_4", "Bathroom_2"
    wide = rebuilt(home, [widening(home, door, 0.8, costs), levelling(home, door, costs)])
    mover, found = mover_of(wide, body), list[list[Stand]]()

    def noted(mover: Mover, path: Sequence[Stand], way: Sequence[Point3]) -> list[Stand]:
        found.append(manoeuvred(mover, path, way))
        return found[-1]

    monkeypatch.setattr("navloom_worlds.motion.routes.manoeuvred", noted)
    assert drive(wide, body, *ends).arrived
    stands = next(each for each in found if each)
    assert all(mover.fits(each) for each in stands)
    for a, b in pairwise(stands):
        # Ahead or back along its heading, or turned where it is.
        dx, dz = b.position[0] - a.position[0], b.position[2] - a.position[2]
        assert abs(dx * math.cos(a.heading) + dz * math.sin(a.heading)) < 1e-6
        assert math.hypot(dx, dz) < 1e-6 or turn_between(a.heading, b.heading) == pytest.approx(0)
    monkeypatch.setattr("navloom_worlds.motion.routes.manoeuvred", lambda *_: [])
    assert not drive(wide, body, *ends).arrived


def test_a_long_body_climbs_in_the_middle_of_stairs(monkeypatch: pytest.MonkeyPatch) -> None:
    home, body = load_scene("home:17?rooms=7&floors=2"), get_body("QUADRUPEDAL")
    assert drive(home, body, "Living_room_1", "Hallway_5").arrived
    monkeypatch.setattr("navloom_worlds.motion.routes.in_the_middle", lambda _, way, *__: way)
    assert not drive(home, body, "Living_room_1", "Hallway_5").arrived


def test_a_link_needs_what_its_figures_say(home: Scene) -> None:
    door, costs = _bathroom(home), Costs()
    kinds = {
        body: [each.kind for each in link_needs(home, door, get_body(body), costs) or ()]
        for body in ("HUMAN", "WHEELCHAIR", "HUMANOID", "SWEEPER")
    }
    assert kinds == {
        "HUMAN": [],
        "WHEELCHAIR": ["level", "widen"],
        "HUMANOID": ["widen"],
        "SWEEPER": ["level"],
    }


def test_changes_are_made_once_and_cost_what_the_table_says(home: Scene, tmp_path: Path) -> None:
    door, dear = _bathroom(home), Costs(widen=100, widen_metre=1000)
    wide = [widening(home, door, each, dear) for each in (0.8, 0.9)]
    both = merged([*wide, levelling(home, door, dear), wide[0]])
    assert [(each.kind, each.width) for each in both] == [("level", None), ("widen", 0.9)]
    assert price(both) == pytest.approx(80 + 100 + 1000 * (0.9 - 0.68))
    changed = rebuilt(home, both).links[door]
    assert (changed.width, changed.threshold) == (0.9, 0.0)
    item = home.items[0].id
    gone = rebuilt(home, [removing(home, item, dear), removing(home, item, dear)])
    assert item not in gone.item_by_id
    file = tmp_path / "costs.json"
    file.write_text('{"widen": 700}')
    assert load_costs(file).widen == 700
    assert load_costs(file).lift == Costs().lift
    file.write_text('{"widen": -1}')
    with pytest.raises(SceneError, match="widen"):
        load_costs(file)
