"""A way is mended: it fails before, the body arrives after, and no more is done than that."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.errors import SceneError
from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import get_body
from navloom.scenes.mend.changes import levelling, merged, price, rebuilt, removing, widening
from navloom.scenes.mend.costs import Costs, load_costs
from navloom.scenes.mend.link_needs import link_needs
from navloom.scenes.mend.search import mend


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:16")


def _bathroom(home: Scene) -> int:
    (number,) = (k for k, each in enumerate(home.links) if each.b == "Bathroom_2")
    return number


def test_a_sill_before_a_sweeper_is_taken_away(home: Scene) -> None:
    found = mend(home, get_body("SWEEPER"), "Living_room_1", "Bathroom_2")
    assert found.proven
    assert not found.before.arrived
    assert [each.kind for each in found.changes] == ["level"]
    assert found.cost == Costs().level
    free = mend(home, get_body("SWEEPER"), "Living_room_1", "Bedroom_4")
    assert free.before.arrived
    assert not free.proven
    assert not free.changes


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
    assert price(both) == pytest.approx(80 + 100 + 1000 * (0.9 - 0.65))
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
