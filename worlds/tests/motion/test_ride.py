"""Bodies on their way a moment at a time: at their own speed, blocked by each other, filmed."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.scenes.bodies import VLNVERSE, Stand
from navloom.scenes.scene import Scene
from navloom.scenes.uri import load_scene
from navloom_worlds.motion.body_field import body_field
from navloom_worlds.motion.mover import mover_of
from navloom_worlds.motion.ride import Ride, ridden
from navloom_worlds.rendering.body_film import body_film, overlook

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
    ride = Ride(mover_of(scene, VLNVERSE), Stand(way[0], 0.0), way[1:])
    instants = list(ridden("it", ride, 10))
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
    one, other = Ride(mover, Stand(way[0], 0.0), way[1:]), Ride(mover, Stand(way[-1], 0.0), ())
    other.lead(way[-2::-1])
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
    ride = Ride(mover_of(scene, VLNVERSE), Stand(way[0], 0.0), way[1:2])
    instants = list(ridden("it", ride, 2))[:2]
    view = overlook(way[:2], size=(64, 48))
    frames = list(body_film(scene, instants, view, cut=way[0][1] + 1.2))
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


def test_a_film_goes_to_an_mp4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["scenes", "drive", "demo:flat", "--from", "0,0", "--to", "1,1"]
    assert main([*asked, "--video", str(tmp_path / "film.gif")]) != 0
    assert "ends in .mp4" in capsys.readouterr().err
