"""Bodies among a home's things: random actions against shapely, contacts by hand, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, FloorPose, get_body
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim.protocol import Contact
from navloom.tools.navigation.step_records import contact_names
from navloom_worlds.motion import sweep
from navloom_worlds.motion.collision_motion import Mover, mover_of
from worlds.tests.motion.check_moves import Found, check

pytestmark = pytest.mark.slow

SLIM = Embodiment(name="SLIM", width=0.3, height=1.2)


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene("home:0")


@pytest.fixture(scope="module")
def start(home: Scene) -> FloorPose:
    """A free place in a room."""
    mover = mover_of(home, get_body("HUMAN"))
    for viewpoint in home.viewpoints:
        found = mover.settled(FloorPose(viewpoint.position, 0.0))
        if found is not None and mover.clearance(found.position) > 0.5:
            return found
    raise AssertionError("no free place")


def test_what_is_low_before_a_wall_is_no_step(home: Scene, start: FloorPose) -> None:
    mover, met = mover_of(home, get_body("WHEELCHAIR")), list[str]()
    for heading in np.arange(0, 2 * math.pi, 0.3):
        at = mover.settled(FloorPose(start.position, float(heading)))
        met += [] if at is None else [each.what for each in mover.forward(at, 30).bumps]
    assert "wall" in met
    assert "step" not in met


def test_a_wheelchair_before_a_riser_meets_a_step() -> None:
    home = load_scene("home:44")
    mover = mover_of(home, get_body("WHEELCHAIR"))
    (link,) = (each for each in home.links if (each.a, each.b) == ("Living_room_1", "Kitchen_4"))
    room = home.region_by_id["Living_room_1"]
    assert link.point is not None
    assert home.region_by_id["Kitchen_4"].center[1] - room.center[1] == pytest.approx(0.18)
    x, z = link.point[0], link.point[2]
    off = math.dist(room.center[::2], (x, z))
    before = [(a + (b - a) * 0.9 / off) for a, b in zip((x, z), room.center[::2], strict=True)]
    stand = mover.settled(FloorPose((before[0], room.center[1], before[1]), 0.0))
    assert stand is not None
    moved = mover.follow(stand, [(x, room.center[1], z)], slide=False)
    assert [each.what for each in moved.bumps] == ["step"]
    assert "step" in contact_names(
        [Contact(each.what, each.displacement, each.point) for each in moved.bumps], home
    )
    # The wall under a low window is no riser either.
    under = FloorPose((10.1, -0.18, -7.2), 1.9465)
    bumps = mover_of(home, get_body("SWEEPER")).forward(under, 3.0).bumps
    assert {each.what for each in bumps} == {"wall"}
    climber = get_body("HUMAN")
    assert not mover_of(home, climber).follow(stand, [(x, room.center[1], z)], slide=False).bumps


@pytest.mark.parametrize("name", ["HUMAN", "WHEELCHAIR"])
def test_random_actions_hold_against_shapely(home: Scene, name: str) -> None:
    found = Found()
    check(home, get_body(name), 60, 3, found)
    assert (found.actions, dict(found.faults)) == (60, {}), found.shown
    assert found.bumps > 10


def test_a_mover_that_sweeps_nothing_is_found_out(
    home: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "limit_motion", lambda *_: (1.0, -1, sweep.FREE))
    found = Found()
    check(home, get_body("HUMAN"), 40, 3, found)
    assert found.faults["penetrates"] > 0


def test_a_wall_ends_what_does_not_slide(home: Scene, start: FloorPose) -> None:
    mover = mover_of(home, SLIM)
    for heading in np.arange(0, 2 * math.pi, 0.7):
        moved = mover.forward(FloorPose(start.position, float(heading)), 30, slide=False)
        (bump,) = moved.bumps
        assert moved.metres + moved.short == pytest.approx(30)
        assert bump.displacement == pytest.approx(moved.short)
        far = math.dist(bump.point[::2], moved.stand.position[::2])
        assert bump.what == "edge" or far == pytest.approx(0.15, abs=0.002)


def test_bodies_block_each_other(home: Scene, start: FloorPose) -> None:
    mover = mover_of(home, SLIM)
    x, y, z = start.position
    ahead = FloorPose((x, y, z - 0.4), 0.0)
    for other in (SLIM, Embodiment(name="CUBE", shape="box", width=0.3, height=0.5)):
        moved = mover.forward(
            FloorPose(start.position, 0.0), 0.4, slide=False, others={"robot_2": (other, ahead)}
        )
        assert [bump.what for bump in moved.bumps] == ["robot_2"]
        assert moved.metres == pytest.approx(0.1, abs=0.01)
    assert not mover.fits(ahead, {"robot_2": (SLIM, ahead)})


def test_a_turn_by_nothing_beside_a_wall_is_no_turn(home: Scene, start: FloorPose) -> None:
    mover = mover_of(home, get_body("WHEELCHAIR"))
    beside = mover.forward(mover.settled(start) or start, 30.0).stand
    assert mover.turn(beside, 0.0).stand == beside


def test_a_turning_radius_moves_the_body_on_an_arc(home: Scene, start: FloorPose) -> None:
    cart = SLIM.model_copy(update={"turning_radius": 0.2})
    moved = mover_of(home, cart).turn(start, math.pi / 2)
    dx, _, dz = np.subtract(moved.stand.position, start.position)
    assert (dx, dz) == (pytest.approx(0.2), pytest.approx(-0.2))
    assert moved.metres == pytest.approx(0.2 * math.pi / 2)
    back = mover_of(home, cart).drive(moved.stand, -moved.metres, -math.pi / 2, 1.0)
    assert back.stand.position == pytest.approx(start.position)


def test_a_disc_follows_and_a_drive_adds_up(home: Scene, start: FloorPose) -> None:
    mover: Mover = mover_of(home, SLIM)
    x, y, z = start.position
    corners = [(x + 0.2, y, z), (x + 0.2, y, z + 0.2), (x, y, z)]
    moved = mover.follow(start, corners)
    assert moved.stand.position == pytest.approx(start.position)
    assert moved.metres == pytest.approx(0.4 + 0.2 * math.sqrt(2))
    assert moved.short == pytest.approx(0)
    assert not moved.bumps
    assert mover.drive(start, 0.1, 0.0, 2.0).metres == pytest.approx(0.2)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_velocity_that_is_no_number_is_one_line(
    home: Scene, start: FloorPose, value: float
) -> None:
    with pytest.raises(SceneError, match="expected a number"):
        mover_of(home, SLIM).drive(start, value, 0.0, 1.0)


def test_a_start_in_a_wall_offers_a_free_place(home: Scene) -> None:
    (ax, az), (bx, bz) = home.walls[0].a, home.walls[0].b
    inside = FloorPose(((ax + bx) / 2, home.walls[0].bottom, (az + bz) / 2), 0.0)
    with pytest.raises(SceneError, match=r"SLIM cannot be at .*free place is"):
        mover_of(home, SLIM).forward(inside, 0.25)
