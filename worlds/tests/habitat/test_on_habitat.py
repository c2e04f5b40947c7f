"""The real habitat_sim behind the protocol, wherever it can be imported."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene import Scene
from navloom.sim import Forward, Hop, Observation, Pose, Simulator, Turn, get_simulator
from navloom.sim.conformance import CHECKS, make_test_scene, run_check
from navloom_worlds.exporting.habitat_files import save_habitat
from navloom_worlds.habitat import HabitatSimulator
from navloom_worlds.habitat.habitat_process import close_habitat
from navloom_worlds.rendering import Sensor

pytestmark = pytest.mark.usefixtures("habitat")
FLAT = load_scene("demo:flat")
KINDS: tuple[Any, ...] = ("rgb", "depth", "ids")
AROUND = tuple(
    Sensor(sensor, heading=k * math.pi / 2, width=96, height=96, follows="compass")
    for sensor in KINDS
    for k in range(4)
)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    close_habitat()


def small(scene: Scene, **options: Any) -> Simulator:
    return get_simulator("habitat", scene, rig=AROUND, **options)


def at(viewpoint: str, heading: float = 0.0) -> Pose:
    return Pose((0.0, 0.0, 0.0), heading, viewpoint=viewpoint)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("uri", ["demo:flat", "compass"])
def test_the_habitat_backend_passes(name: str, uri: str) -> None:
    result = run_check(name, small, make_test_scene() if uri == "compass" else FLAT)
    expected = "skipped" if name in ("unclaimed", "no-captions", "no-contacts") else "passed"
    assert result.status == expected, result.detail


def both(rig: tuple[Sensor, ...], pose: Pose) -> tuple[Observation, Observation]:
    """What the same sensors see on habitat and on embedded."""
    seen = []
    for name, own in (("habitat", {}), ("embedded", {"light": "flat"})):
        simulator = get_simulator(name, FLAT, rig=rig, **own)
        seen.append(simulator.reset({"robot": (pose, DEFAULT_BODY)})["robot"])
    return seen[0], seen[1]


@pytest.mark.parametrize(
    "form",
    [
        {"width": 120, "height": 80, "fov": math.radians(100)},
        {"width": 80, "height": 120, "follows": "head"},
        {"width": 160, "height": 80, "fov": 2 * math.pi, "projection": "equirect"},
        {"width": 64, "height": 64, "position": (0.1, 0.7, 0.2), "far": 2.5},
    ],
    ids=["wide", "high, tilted", "equirect", "low, near"],
)
def test_pictures_of_any_form_are_those_of_the_embedded_backend(form: dict[str, Any]) -> None:
    rig = tuple(Sensor(each, **form) for each in ("depth", "ids"))  # type: ignore[arg-type]
    pose = Pose((0.0, 0.0, 0.0), 0.7, -0.4, FLAT.viewpoints[0].id)
    ours, theirs = both(rig, pose)
    depth = [each.images["depth"][0].image for each in (ours, theirs)]
    ids = [each.images["ids"][0].image for each in (ours, theirs)]
    # An edge lies half a pixel off here and there, and an equirect is read out of a cube's texels.
    slack = 0.02 + 0.03 * depth[1] if form.get("projection") else 0.02
    assert (np.abs(depth[0] - depth[1]) < slack).mean() > 0.97
    assert (ids[0] == ids[1]).mean() > 0.98
    assert len(np.unique(ids[0])) > 5
    if "far" in form:
        assert depth[0].max() == pytest.approx(2.5)


def test_two_agents_in_one_simulator_see_what_each_sees_alone() -> None:
    first, second = FLAT.viewpoints[0].id, FLAT.viewpoints[-1].id
    poses = {"one": at(first, 0.3), "two": replace(at(second, 2.0), elevation=0.2)}
    rig = tuple(Sensor(each, width=64, height=64, follows="head") for each in KINDS)
    together = get_simulator("habitat", FLAT, rig=rig)
    seen = together.reset({name: (pose, DEFAULT_BODY) for name, pose in poses.items()})
    pictures = {
        (name, kind): seen[name].images[kind][0].image for kind in KINDS for name in ("one", "two")
    }
    for name, pose in poses.items():
        alone = get_simulator("habitat", FLAT, rig=rig)
        by_itself = alone.reset({name: (pose, DEFAULT_BODY)})[name]
        for kind in KINDS:
            assert np.array_equal(pictures[name, kind], by_itself.images[kind][0].image)
    assert not np.array_equal(pictures["one", "rgb"], pictures["two", "rgb"])


def test_forward_leaves_the_graph_and_comes_back_to_it() -> None:
    simulator = get_simulator("habitat", make_test_scene(), rig=AROUND)
    simulator.reset({"robot": (at("hub", math.radians(90)), DEFAULT_BODY)})
    for _ in range(4):
        seen = simulator.step({"robot": Forward()})["robot"]
        assert seen.contacts == ()
    x, y, z = seen.pose.position
    assert (x, y, z) == pytest.approx((1.0, 0.0, 0.0), abs=0.03)
    assert seen.pose.viewpoint is None
    assert seen.candidates == ()
    assert seen.captions is not None
    with pytest.raises(SimulatorError, match="robot stands off the graph"):
        simulator.step({"robot": Hop("east")})
    # Poses are taken as they were given, and ways lead from anywhere.
    assert simulator.place("robot", seen.pose).pose == seen.pose
    way = simulator.geodesic(seen.pose, ["east", "west"], DEFAULT_BODY)
    assert way is not None
    assert way.metres == pytest.approx(2.0, abs=0.05)
    assert way.viewpoints == ()
    # No edge leads to the shed, and the ground around does.
    assert simulator.geodesic("hub", ["shed"], DEFAULT_BODY) is None
    around = simulator.geodesic(seen.pose, ["shed"], DEFAULT_BODY)
    assert around is not None
    assert around.metres == pytest.approx(19.0, abs=0.1)
    view = seen.images["depth"][0]
    assert view.position == pytest.approx((x, y + 1.5, z))
    for _ in range(8):
        seen = simulator.step({"robot": Forward()})["robot"]
    assert seen.pose.viewpoint == "east"
    assert [way.viewpoint for way in seen.candidates] == ["upper", "hub"]
    with pytest.raises(SimulatorError, match=r"ROBOT, .* does not fit there, nor"):
        simulator.place("robot", Pose((0.0, 30.0, 0.0)))


def test_what_is_in_the_way_is_touched_and_slid_along() -> None:
    simulator = get_simulator("habitat", make_test_scene(), rig=AROUND)
    simulator.reset({"robot": (at("west", math.radians(270 + 45)), DEFAULT_BODY)})
    seen = simulator.step({"robot": Forward(2.0)})["robot"]
    (contact,) = seen.contacts
    assert contact.what == "wall"
    assert contact.displacement == pytest.approx(2.0 - 1.2 * math.sqrt(2), abs=0.35)
    assert contact.point[0] == pytest.approx(-3.0, abs=0.1)
    # It went as far north as it wanted, along the wall.
    assert seen.pose.position[2] == pytest.approx(-math.sqrt(2), abs=0.15)
    simulator.reset({"robot": (at("hub", math.atan2(0.6, 1.8)), DEFAULT_BODY)})
    (contact,) = simulator.step({"robot": Forward(1.9)})["robot"].contacts
    assert contact.what == "lamp"
    assert simulator.step({"robot": Turn()})["robot"].contacts == ()


def test_a_wide_body_has_a_navmesh_of_its_own_and_another_bodys_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    caplog.set_level(logging.INFO, "navloom")
    scene = FLAT.replace()
    slim, wide = Embodiment(name="SLIM", width=0.2), Embodiment(name="WIDE", width=1.2)
    start, goal = FLAT.viewpoints[0].id, FLAT.viewpoints[-1].id
    simulator = get_simulator("habitat", scene, rig=AROUND)
    assert isinstance(simulator, HabitatSimulator)
    there = simulator.floor_path(start, [goal], slim)
    straight = simulator.geodesic(start, [goal], slim)
    assert there is not None
    assert straight is not None
    assert there.metres <= straight.metres + 0.2
    assert there.points[0][1] == pytest.approx(FLAT.viewpoints[0].ground[1], abs=0.1)
    # Doors of a flat are 0.9 m wide.
    assert simulator.floor_path(start, [goal], wide) is None
    files = sorted(tmp_path.rglob("*.navmesh"), key=lambda each: each.stat().st_mtime_ns)
    assert len(files) == 2
    files[1].write_bytes(files[0].read_bytes())
    close_habitat()
    again = get_simulator("habitat", scene.replace(), rig=AROUND)
    assert isinstance(again, HabitatSimulator)
    caplog.clear()
    assert again.floor_path(start, [goal], wide) is None
    assert "made for WIDE: the one that there was is of another body" in caplog.text


def test_roofs_are_no_ground() -> None:
    simulator = get_simulator("habitat", FLAT, rig=AROUND)
    x, y, z = FLAT.viewpoints[0].ground
    top = max(wall.bottom + wall.height for wall in FLAT.walls)
    for above in np.arange(y + 0.8, top + 0.8, 0.1):
        with pytest.raises(SimulatorError, match="does not fit there"):
            simulator.reset({"robot": (Pose((x + 0.3, float(above), z)), DEFAULT_BODY)})


def test_a_scene_in_centimetres_and_a_broken_one_are_one_line(tmp_path: Path) -> None:
    config = save_habitat([FLAT], tmp_path / "homes")
    stage = tmp_path / "homes/stages/demo-flat.stage_config.json"
    said = json.loads(stage.read_text())

    def look() -> Any:
        close_habitat()
        simulator = get_simulator("habitat", FLAT, rig=AROUND[:1], dataset=config)
        seen = simulator.reset({"robot": (at(FLAT.viewpoints[0].id), DEFAULT_BODY)})["robot"]
        return seen.images["rgb"][0].image

    stage.write_text(json.dumps({**said, "scale": [100, 100, 100]}))
    with pytest.raises(SimulatorError, match=r"m long: expected 1 to 500 m\. Is it in cent"):
        look()
    stage.write_text(json.dumps(said))
    (stage.parent / "demo-flat.glb").write_bytes(b"glTF, or not")
    with pytest.raises(SimulatorError, match="habitat cannot open scenes/demo-flat") as caught:
        look()
    assert "\n" not in str(caught.value)


def test_a_walk_up_the_stairs_ends_on_the_floor_above() -> None:
    scene = load_scene("home:7")
    (stairs,) = (each for each in scene.links if each.kind == "stairs")
    simulator = get_simulator("habitat", scene, rig=AROUND)
    assert isinstance(simulator, HabitatSimulator)
    below, above = (
        next(each for each in scene.viewpoints if each.region == region)
        for region in sorted((stairs.a, stairs.b), key=lambda r: scene.region_by_id[r].center[1])
    )
    way = simulator.floor_path(below.id, [above.id], DEFAULT_BODY)
    assert way is not None
    seen = simulator.reset({"robot": (at(below.id), DEFAULT_BODY)})["robot"]
    for x, _, z in way.points[1:]:
        for _ in range(3):
            here = seen.pose.position
            turn = math.atan2(x - here[0], here[2] - z) - seen.pose.heading
            simulator.step({"robot": Turn(turn)})
            metres = math.hypot(x - here[0], z - here[2])
            seen = simulator.step({"robot": Forward(metres)})["robot"]
    assert seen.pose.position == pytest.approx(above.ground, abs=0.15)
    assert seen.pose.position[1] == pytest.approx(above.ground[1], abs=0.01)
