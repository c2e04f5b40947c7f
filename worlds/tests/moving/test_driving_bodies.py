"""Bodies that drive: through links, up to things, and what is said where they cannot."""

from __future__ import annotations

import pytest

from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.sim.protocol import Pose, Simulator
from navloom.sim.registry import get_simulator
from navloom_worlds.moving.driving import drive_link, move_to
from navloom_worlds.moving.moving_tools import clearance
from navloom_worlds.moving.relay_drive import GoalStop, MovingBody, drive_all
from navloom_worlds.moving.surroundings import can_drive, geodesic

pytestmark = pytest.mark.slow

WIDE = Embodiment(name="WIDE", width=0.95)


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return get_simulator("embedded", "demo:flat", physics="slide")


def entered(simulator: Simulator, region: str, body: Embodiment = DEFAULT_BODY) -> Simulator:
    start = simulator.scene.viewpoints_by_region[region][0].id
    simulator.reset({"robot": (Pose((0, 0, 0), viewpoint=start), body)})
    return simulator


def test_a_body_drives_as_far_as_was_planned(simulator: Simulator) -> None:
    assert can_drive(entered(simulator, "Kitchen_3"))
    far = geodesic(simulator, "Kitchen_3", "Bedroom_4")
    drive = move_to(simulator, "Bedroom_4")
    assert drive.arrived
    assert drive.driven == pytest.approx(drive.planned, rel=0.1)
    assert drive.planned == pytest.approx(far["metres"], rel=0.3)


def test_a_link_that_is_wide_enough_and_one_that_is_not(simulator: Simulator) -> None:
    entered(simulator, "Living_room_2")
    assert drive_link(simulator, "Living_room_2", "Bedroom_4")["through"]
    entered(simulator, "Living_room_2", WIDE)
    told = drive_link(simulator, "Living_room_2", "Bedroom_4", body=WIDE)
    assert told["through"] is False
    assert "too narrow: 0.80 m for a body of 0.95 m" in told["reason"]


def test_room_to_move_is_measured(simulator: Simulator) -> None:
    told = clearance(simulator.scene, "Living_room_2")
    assert told["fits"]
    assert told["clearance"] > told["to_pass"] == 0.2


def test_two_go_about_and_the_one_waits_for_the_other(simulator: Simulator) -> None:
    scene = simulator.scene
    thing = scene.items_in("Kitchen_3", "asset")[0]
    fetched, waits = GoalStop(thing), GoalStop(thing, after=lambda: fetched.arrived)
    goers = [MovingBody("a", DEFAULT_BODY, [fetched]), MovingBody("b", DEFAULT_BODY, [waits])]
    starts = [scene.viewpoints_by_region[each][0].id for each in ("Living_room_2", "Bedroom_4")]
    simulator.reset(
        {
            goer.name: (Pose((0, 0, 0), viewpoint=start), goer.body)
            for goer, start in zip(goers, starts, strict=True)
        }
    )
    seconds = drive_all(simulator, goers)
    assert (fetched.arrived, waits.arrived) == (True, True), (fetched.reason, waits.reason)
    assert waits.waited >= fetched.seconds - 0.5 > 0
    assert seconds > waits.seconds - 0.5
