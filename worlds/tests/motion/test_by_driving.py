"""Where rule and drive differ the drive's word counts; a drive that gave up has none."""

from __future__ import annotations

import pytest

from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import Embodiment, get_body
from navloom.scenes.by_rule import from_geometry
from navloom_worlds.motion import by_driving
from navloom_worlds.motion.by_driving import Driven, Result

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:16")


def _driven(monkeypatch: pytest.MonkeyPatch, result: Result, by: str) -> None:
    def drive(scene: Scene, body: Embodiment, number: int) -> Driven:
        link = scene.links[number]
        return Driven(number, link.a, link.b, body.name, result, stopped_by=by)

    monkeypatch.setattr(by_driving, "drive_edge", drive)


@pytest.mark.parametrize("result", ["passed", "blocked", "gave up"])
def test_the_drive_s_word_counts(
    monkeypatch: pytest.MonkeyPatch, home: Scene, result: Result
) -> None:
    body, item = get_body("WHEELCHAIR"), home.items[0]
    _driven(monkeypatch, result, item.id)
    rule = list(from_geometry(home, (body,)).passages(body.name))
    made = by_driving.from_driving(home, (body,))
    told = made.record()
    for before, after in zip(rule, made.table.passages(body.name), strict=True):
        if result == "gave up" or before.traversable == (result == "passed"):
            assert after == before
        elif result == "passed":
            assert (after.traversable, after.note) == (
                True,
                f"driven through, though by rule {before.note}",
            )
        else:
            assert (after.traversable, after.note) == (
                False,
                f"driven, it does not get through: {item.name}",
            )
    differ = sum(each.traversable != (result == "passed") for each in rule) // 2
    assert {each.traversable for each in rule} == {True, False}
    assert told["gave_up"] == (differ if result == "gave up" else 0)
    assert len(told["overruled"]) == (0 if result == "gave up" else differ)
