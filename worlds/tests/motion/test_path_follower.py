"""Bodies on their way a moment at a time: at their own speed, blocked by each other, filmed."""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.scenes.bodies import VLNVERSE, FloorPose, get_body
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.motion.body_field import body_field
from navloom_worlds.motion.body_planner import drive_to_goal
from navloom_worlds.motion.collision_motion import mover_of
from navloom_worlds.motion.path_follower import PathFollower, follow_alone
from navloom_worlds.rendering.body_film import film_bodies, overhead_camera

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scene() -> Scene:
    return load_scene("demo:flat")


@pytest.fixture(scope="module")
def way(scene: Scene) -> tuple[tuple[float, float, float], ...]:
    spots = [each.position for each in scene.viewpoints]
    field = body_field(scene, VLNVERSE)
    free = [spot for spot in spots if field.clearance(spot) > 0.4]
    found = [field.way(free[0], [spot], driven=True) for spot in free[1:]]
    return max((each for each in found if each), key=lambda each: each.metres).points


def test_it_arrives_in_its_own_time(
    scene: Scene, way: tuple[tuple[float, float, float], ...]
) -> None:
    ride = PathFollower(mover_of(scene, VLNVERSE), FloorPose(way[0], 0.0), way[1:])
    instants = list(follow_alone("it", ride, 10))
    assert ride.arrived
    straight = sum(math.dist(a, b) for a, b in itertools.pairwise(way))
    assert ride.metres == pytest.approx(straight, rel=0.02)
    assert instants[-1].second >= ride.metres / VLNVERSE.speed
    for before, after in itertools.pairwise(instants):
        gone = math.dist(before.bodies["it"][1].position, after.bodies["it"][1].position)
        assert gone <= VLNVERSE.speed / 10 + 1e-6


def test_two_block_each_other_until_one_goes_back(
    scene: Scene, way: tuple[tuple[float, float, float], ...]
) -> None:
    mover = mover_of(scene, VLNVERSE)
    one, other = (
        PathFollower(mover, FloorPose(way[0], 0.0), way[1:]),
        PathFollower(mover, FloorPose(way[-1], 0.0), ()),
    )
    other.set_path(way[-2::-1])
    for _ in range(600):
        one.go_on(0.1, {"other": (VLNVERSE, other.stand)})
        other.go_on(0.1, {"one": (VLNVERSE, one.stand)})
        if one.stuck and other.stuck:
            break
    assert {bump.what for bump in one.bumps} >= {"other"}
    apart = math.dist(one.stand.position, other.stand.position)
    assert VLNVERSE.width <= apart <= VLNVERSE.width + 0.05
    other.back(0.1, 1.0, {"one": (VLNVERSE, one.stand)})
    assert math.dist(one.stand.position, other.stand.position) > apart + 0.01


def test_a_film_shows_it(scene: Scene, way: tuple[tuple[float, float, float], ...]) -> None:
    ride = PathFollower(mover_of(scene, VLNVERSE), FloorPose(way[0], 0.0), way[1:2])
    instants = list(follow_alone("it", ride, 2))[:2]
    view = overhead_camera(way[:2], size=(64, 48))
    frames = list(film_bodies(scene, instants, view, cut=way[0][1] + 1.2))
    assert [frame.shape for frame in frames] == [(48, 64, 3)] * 2
    assert (frames[0] != frames[1]).any()


def test_the_command_tells_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    scene = load_scene("demo:flat")
    a, b = scene.regions[0].id, scene.regions[1].id
    assert (
        main(["scenes", "drive", "demo:flat", "--body", "HUMAN", "--from", a, "--to", b, "--json"])
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["arrived"]
    assert told["driven_m"] == pytest.approx(told["planned_m"], rel=0.1)
    assert main(["scenes", "drive", "demo:flat", "--from", "nowhere", "--to", b]) != 0
    assert main(["scenes", "drive", "demo:flat", "--from", "1,x", "--to", b]) != 0
    assert "no place" in capsys.readouterr().err
    assert main(["scenes", "drive", "demo:flat", "--from", "999,0,0", "--to", b]) != 0
    assert "Start there instead: --from=" in capsys.readouterr().err


def test_a_body_drives_where_embreex_has_no_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = (each.id for each in load_scene("demo:flat").regions[:2])
    asked = ["scenes", "drive", "demo:flat", "--body", "HUMAN", "--from", a, "--to", b]
    told = []
    for folder in ("with", "without"):
        # Nothing is taken from the cache.
        monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path / folder))
        told.append((main([*asked, "--json"]), capsys.readouterr().out))
        monkeypatch.setitem(sys.modules, "embreex", None)
        for name in ("mesh_construction", "rtcore_scene"):
            monkeypatch.setitem(sys.modules, f"embreex.{name}", None)
    assert told[0] == told[1]
    assert json.loads(told[0][1])["driven_m"] > 1
    film = str(tmp_path / "film.mp4")
    assert main([*asked, "--video", film]) != 0
    assert "Pictures need embreex" in capsys.readouterr().err


def test_a_film_goes_to_an_mp4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["scenes", "drive", "demo:flat", "--from", "0,0", "--to", "1,1"]
    assert main([*asked, "--video", str(tmp_path / "film.gif")]) != 0
    assert "ends in .mp4" in capsys.readouterr().err


def test_a_long_box_gets_by_its_route_where_its_shortest_way_is_none() -> None:
    home, spot = load_scene("home:0?rooms=6&floors=1"), get_body("SPOT")
    start, goal = (home.viewpoint_by_id[each].ground for each in ("6_1", "3_3"))
    mover, field = mover_of(home, spot), body_field(home, spot)
    shortest = field.way(start, [goal], driven=True)
    found = drive_to_goal(home, spot, start, goal)
    assert shortest is not None
    assert found is not None
    assert found.arrived
    rides = (
        PathFollower(mover, found.path[0], shortest.points[1:]),
        PathFollower(mover, found.path[0], ()),
    )
    rides[1].set_path((), found.path)
    for ride in rides:
        for _ in follow_alone("spot", ride, 4):
            pass
    assert [ride.arrived for ride in rides] == [False, True]
    assert rides[1].bumps == []
    assert math.dist(rides[1].stand.position, goal) < 0.2
