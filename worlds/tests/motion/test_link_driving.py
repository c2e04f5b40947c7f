"""Where estimate and drive differ the drive's word counts; one that gave up has none."""

from __future__ import annotations

import pytest

from navloom.scenes import Scene, load_scene
from navloom.scenes.bodies import Embodiment, get_body
from navloom.scenes.passability import estimate_links
from navloom_worlds.motion import link_driving
from navloom_worlds.motion.link_driving import LinkResult, Result

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:3")


def _driven(monkeypatch: pytest.MonkeyPatch, result: Result, by: str) -> None:
    def drive(scene: Scene, body: Embodiment, number: int) -> LinkResult:
        link = scene.links[number]
        return LinkResult(number, link.a, link.b, body.name, result, stopped_by=by)

    monkeypatch.setattr(link_driving, "drive_link", drive)


@pytest.mark.parametrize(("result", "speed"), [("passed", 0.5), ("blocked", 0.6), ("gave up", 0.7)])
def test_the_drive_s_word_counts(
    monkeypatch: pytest.MonkeyPatch, home: Scene, result: Result, speed: float
) -> None:
    # A body of its own: what is kept on disk of others is none of these drives.
    body, item = (get_body("WHEELCHAIR").model_copy(update={"speed": speed}), home.items[0])
    _driven(monkeypatch, result, item.id)
    guess = list(estimate_links(home, (body,)).passages(body.name))
    made = link_driving.driven_ground_truth(home, (body,))
    told = made.record()
    for before, after in zip(guess, made.table.passages(body.name), strict=True):
        if result == "gave up" or before.traversable == (result == "passed"):
            assert after == before
        elif result == "passed":
            said = f"driven through, though by its figures {before.note}"
            assert (after.traversable, after.note) == (True, said)
        else:
            said = f"driven, it does not get through: {item.prompt_name} in the way"
            assert (after.traversable, after.note) == (False, said)
    differ = sum(each.traversable != (result == "passed") for each in guess) // 2
    assert {each.traversable for each in guess} == {True, False}
    assert told["gave_up"] == (told["driven"] if result == "gave up" else 0)
    assert len(told["overruled"]) == (0 if result == "gave up" else differ)
