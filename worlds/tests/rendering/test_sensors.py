"""Sensors by specification, rigs by name and from files, and what an agent with a rig is given."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.sim import Look, get_simulator
from navloom.sim.conformance import make_test_scene
from navloom.sim.conformance.testbed import reset_at
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Observation, Pose
from navloom.sim.registry import auto_backend
from navloom.sim.views import FORMS, view_pngs
from navloom_worlds.mend.scene_edits import edit_scene
from navloom_worlds.rendering import RIGS, EmbeddedSimulator, Sensor, embedded, resolve_rig
from navloom_worlds.rendering.sensors import rig_for_views

COMPASS = make_test_scene()


def on_the_hub(rig: Any, heading: float = 0.0) -> Observation:
    simulator = get_simulator("embedded", COMPASS, rig=rig, light="flat")
    return reset_at(simulator, "hub", heading)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"modality": "rgbd"}, r"modality is 'rgbd': expected one of rgb, depth, .*mean 'rgb'"),
        ({"width": 0}, "width is 0: expected 1 to 8,192 pixels"),
        ({"height": 100_000}, "height is 100000: expected 1 to 8,192 pixels"),
        ({"width": 8192, "height": 8192}, "8192 x 8192 pixels: expected at most"),
        ({"width": 2.5}, "width is 2.5"),
        ({"fov": math.pi}, "fov is 3.14.*above 0 and at most 177 degrees"),
        ({"fov": 0.0}, "fov is 0.0"),
        ({"fov": math.nan}, "fov is nan"),
        ({"heading": math.inf}, "heading is inf"),
        ({"elevation": 2.0}, "elevation is 2.0.*-90 to 90"),
        ({"far": 0.0}, "far is 0.0: expected metres"),
        ({"rate": math.nan}, "rate is nan: expected 0.001 to 1,000 pictures a second"),
        ({"position": (0.0, math.nan, 0.0)}, "position is .*three metres"),
        ({"follows": "compas"}, "Did you mean 'compass'"),
        ({"projection": "lidar"}, "projection is 'lidar': expected lidar for a lidar"),
        ({"samples": 5}, "samples is 5: expected 1 to 4"),
        ({"samples": True}, "samples is True: expected 1 to 4"),
        ({"samples": 2.0}, "samples is 2.0: expected 1 to 4"),
        ({"projection": "fisheye"}, "projection is 'fisheye': expected one of pinhole"),
    ],
)
def test_a_value_that_makes_no_sense_is_one_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(SimulatorError, match=f"Sensor 'front'.*{said}") as error:
        Sensor(**{"modality": "rgb", "name": "front", **wrong})
    assert "\n" not in str(error.value)


def test_rigs_are_those_of_the_papers() -> None:
    def of(rig: str, modality: str) -> list[Sensor]:
        return [each for each in RIGS[rig] if each.modality == modality]

    degrees = [round(math.degrees(each.heading)) for each in of("vlnverse", "rgb")]
    assert degrees == list(range(0, 360, 30))
    assert {(s.width, s.height, s.far) for s in of("vlnverse", "rgb")} == {(224, 224, None)}
    assert {(s.width, s.height, s.far) for s in of("vlnverse", "depth")} == {(256, 256, 10.0)}
    assert {math.degrees(s.fov) for s in RIGS["vlnverse"]} == {90.0}
    # To the left is the other way about from the paper's sign.
    sides = [(s.name, round(math.degrees(s.heading))) for s in of("conavbench", "rgb")]
    assert sides == [("rgb_left", -60), ("rgb_front", 0), ("rgb_right", 60)]
    assert [round(math.degrees(s.heading)) for s in of("vln-mme", "rgb")] == [0, 90, 180, 270]
    for rig in RIGS.values():
        assert len({each.name for each in rig}) == len(rig)


def test_an_unknown_rig_is_named_and_rigs_are_joined() -> None:
    with pytest.raises(SimulatorError, match=r"no rig 'vlnvers'.*Did you mean 'vlnverse'"):
        resolve_rig("vlnvers")
    with pytest.raises(SimulatorError, match=r"no rig 'nope'"):
        get_simulator("auto", COMPASS, rig="nope")
    assert [each.modality for each in resolve_rig("vlnverse-front+lidar")] == [
        "rgb",
        "depth",
        "lidar",
    ]
    with pytest.raises(SimulatorError, match="at least one"):
        resolve_rig(())
    with pytest.raises(SimulatorError, match="5 views"):
        rig_for_views(5)


def test_a_file_of_sensors_is_a_rig(tmp_path: Path) -> None:
    given = [
        {"modality": "rgb", "name": "front", "width": 32, "height": 24, "fov_deg": 60},
        {"modality": "depth", "heading_deg": -90, "far": 5, "position": [0.1, 1.2, 0.0]},
        {"modality": "lidar", "width": 90, "height": 4},
    ]
    (tmp_path / "a.json").write_text(json.dumps(given))
    (tmp_path / "a.yaml").write_text(json.dumps(given))
    rig = resolve_rig(tmp_path / "a.json")
    assert rig == resolve_rig(str(tmp_path / "a.yaml"))
    assert [each.name for each in rig] == ["front", "depth", "lidar"]
    assert (rig[0].fov, rig[1].heading) == pytest.approx((math.radians(60), -math.pi / 2))
    assert rig[2].projection == "lidar"
    for wrong, said in (
        ([{**given[0], "fov_deg": 200}], r"\[0\]: Sensor 'front': fov"),
        ([{**given[0], "fow": 1}], "fow"),
        ([given[0], given[0]], "Two sensors are called 'front'"),
        ([], "the whole file"),
    ):
        (tmp_path / "b.json").write_text(json.dumps(wrong))
        with pytest.raises(SimulatorError, match=said):
            resolve_rig(tmp_path / "b.json")
    with pytest.raises(SimulatorError, match=r"c\.yaml"):
        resolve_rig(tmp_path / "c.yaml")


def test_every_form_of_views_has_its_rig() -> None:
    for views in FORMS:
        small = tuple(
            Sensor(s.modality, heading=s.heading, elevation=s.elevation, fov=s.fov, width=16,
                   height=12, follows="compass")
            for s in RIGS[rig_for_views(views)]
            if s.modality == "rgb"
        )  # fmt: skip
        assert len(view_pngs(on_the_hub(small), 1.0, views)) == (1 if views == 4 else views)


def test_what_a_sensor_follows() -> None:
    rig = tuple(
        Sensor("depth", name=follows, width=8, height=8, heading=0.5, follows=follows)
        for follows in ("compass", "heading", "head")
    )
    simulator = get_simulator("embedded", COMPASS, rig=rig)
    reset_at(simulator, "hub", 1.0)
    views = simulator.step({"robot": Look(0.25)})["robot"].images["depth"]
    assert [(v.heading, v.elevation) for v in views] == [(0.5, 0.0), (1.5, 0.0), (1.5, 0.25)]


def test_an_eye_is_where_its_sensor_says_and_never_above_the_body() -> None:
    def eye(sensor: Sensor, heading: float, body: Any = DEFAULT_BODY) -> tuple[float, ...]:
        simulator = get_simulator("embedded", COMPASS, rig=(sensor,))
        pose = Pose((0.0, 0.0, 0.0), heading, 0.0, "hub")
        (view,) = simulator.reset({"robot": (pose, body)})["robot"].images["rgb"]
        assert view.position is not None
        return view.position

    assert eye(Sensor("rgb"), 0.0) == (0.0, 1.5, 0.0)
    offset = Sensor("rgb", position=(0.2, 0.8, 0.5))
    assert eye(offset, 0.0) == pytest.approx((0.2, 0.8, -0.5))
    assert eye(offset, math.pi / 2) == pytest.approx((0.5, 0.8, 0.2))
    low = DEFAULT_BODY.model_copy(update={"height": 0.3})
    assert eye(Sensor("rgb"), 0.0, low)[1] == 0.3


def test_far_cuts_depth_and_range_and_a_sphere_knows_the_wall() -> None:
    seen = on_the_hub(
        (
            Sensor("depth", name="near", width=9, height=9, heading=-math.pi / 2, far=2.0),
            Sensor("depth", name="all", width=9, height=9, heading=-math.pi / 2),
            Sensor("depth", name="sphere", width=72, height=36, fov=2 * math.pi,
                   projection="equirect"),
            Sensor("lidar", width=72, height=5, fov=2 * math.pi, projection="lidar"),
        )
    )  # fmt: skip
    near, whole, sphere = seen.images["depth"]
    assert near.image[4, 4] == 2.0
    assert whole.image[4, 4] == pytest.approx(2.95, abs=0.06)
    # West is a quarter of the way across: the heading, north, is in the middle.
    assert sphere.image[18, 17] == pytest.approx(2.95, abs=0.1)
    (lidar,) = seen.images["lidar"]
    assert (lidar.image.shape, lidar.image.dtype, lidar.projection) == (
        (5, 72),
        np.float32,
        "lidar",
    )
    assert lidar.image[2, 17] == pytest.approx(2.95, abs=0.1)
    assert lidar.image[2, 53] == 0 or lidar.image[2, 53] > 3.5


def test_capabilities_are_those_of_the_rig() -> None:
    plain = GraphSimulator.capabilities | {"continuous", "waypoint", "collide"}
    for rig, sensors in (("lidar", {"lidar"}), ("vlnverse-front", {"rgb", "depth"})):
        assert get_simulator("embedded", COMPASS, rig=rig).capabilities == plain | sensors


def test_auto_is_what_a_scene_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = COMPASS.replace(walls=())
    assert (auto_backend(COMPASS), auto_backend(bare)) == ("embedded", "graph")
    assert isinstance(get_simulator("auto", COMPASS), EmbeddedSimulator)
    assert not isinstance(get_simulator("auto", bare), EmbeddedSimulator)
    with pytest.raises(SimulatorError, match="no geometry to see"):
        get_simulator("embedded", bare)
    with pytest.raises(SimulatorError, match=r"no light 'bakd': .*Did you mean 'baked'"):
        get_simulator("auto", COMPASS, light="bakd")
    monkeypatch.setattr("navloom.sim.registry.find_spec", lambda _: None)
    assert auto_backend(COMPASS) == "graph"


def test_one_cast_of_rays_serves_all_that_one_camera_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    cast: list[Any] = []

    class Counted(embedded.Renderer):
        def frame(self, camera: Any) -> Any:
            cast.append(camera)
            return super().frame(camera)

    monkeypatch.setattr(embedded, "Renderer", Counted)
    scene = COMPASS.replace(id="counted")
    simulator = get_simulator("embedded", scene, light="flat")
    seen = reset_at(simulator, "hub")
    simulator.step({})
    assert cast == []
    assert seen.images["rgb"][1].image is seen.images["rgb"][1].image
    assert seen.images["depth"][1].image.shape == seen.images["ids"][1].image.shape
    assert len(cast) == 1


def test_samples_are_of_colour_alone_and_share_the_rays_of_depth() -> None:
    rig = (Sensor("rgb", samples=1, width=64, height=64), Sensor("depth", width=64, height=64))
    hard = on_the_hub(rig).images
    soft = on_the_hub(tuple(replace(each, samples=4) for each in rig)).images
    assert (hard["depth"][0].image == soft["depth"][0].image).all()
    assert (hard["rgb"][0].image != soft["rgb"][0].image).any()


@pytest.mark.slow
def test_a_thing_is_taken_away_while_somebody_looks_at_it() -> None:
    scene = load_scene("demo:flat")
    rig = tuple(
        Sensor("ids", heading=k * math.pi / 2, width=96, height=96, follows="compass")
        for k in range(4)
    )
    simulator = get_simulator("embedded", scene, rig=rig)
    assert isinstance(simulator, EmbeddedSimulator)
    before = reset_at(simulator, "1_0", 1.0)
    thing = next(item for item in scene.items if _seen(scene, before, item.id))
    after = simulator.change(edit_scene(scene, "less", remove=[thing.id]))["robot"]
    assert after.pose == before.pose
    assert thing.id not in {item.id for item in simulator.scene.items}
    assert not _seen(simulator.scene, after, thing.id)
    assert _seen(scene, before, thing.id)


def _seen(scene: Any, seen: Observation, item: str) -> bool:
    numbers = [number for number, each in enumerate(scene.items, 1) if each.id == item]
    return any((view.image == number).any() for view in seen.images["ids"] for number in numbers)
