"""The panorama backend: what was rendered is what is read, and whatever is broken is said."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from navloom.errors import SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.scene import Scene
from navloom.sim import Candidate, Observation, Pose, Simulator, get_simulator
from navloom.sim.conformance import run_suite
from navloom.sim.panorama.panorama_cache import LAST, ImageCache
from navloom.sim.views import hidden_candidates, view_pngs
from navloom_worlds.rendering.sensors import RIGS
from worlds.tests.panorama.conftest import ASKED, HOME


@pytest.fixture(scope="module")
def home() -> Scene:
    return load_scene(HOME)


def standing(simulator: Simulator, viewpoint: str, heading: float = 0.0) -> Observation:
    pose = Pose((0, 0, 0), heading, viewpoint=viewpoint)
    return simulator.reset({"robot": (pose, DEFAULT_BODY)})["robot"]


def ways_of(seen: Observation) -> list[Candidate]:
    """Its candidates; which are hidden is worked out of depth, or known."""
    return [replace(each, hidden=None) for each in seen.candidates]


def embedded(home: Scene) -> Simulator:
    rig = tuple(
        replace(each, width=ASKED.size, height=ASKED.size)
        for each in RIGS["vln-mme"]
        if each.modality in ASKED.modalities
    )
    return get_simulator("embedded", home, rig=rig, light=ASKED.light)


@pytest.mark.slow
def test_what_is_read_is_what_was_rendered(written: Path, home: Scene) -> None:
    rendered, read = embedded(home), get_simulator("panorama", home, folder=written)
    for place in home.viewpoints[::5]:
        one, other = standing(rendered, place.id, 1.0), standing(read, place.id, 1.0)
        assert (other.captions, ways_of(other)) == (one.captions, ways_of(one))
        assert hidden_candidates(other) == hidden_candidates(one)
        assert list(other.images) == ["rgb", "depth", "ids"]
        for kind, most in {"rgb": 0, "ids": 0, "depth": 5.01e-4}.items():
            pairs = list(zip(one.images[kind], other.images[kind], strict=True))
            for a, b in pairs:
                look = (a.heading, a.elevation, a.fov, a.position)
                assert look == (b.heading, b.elevation, b.fov, b.position)
                assert b.image.dtype == a.image.dtype
                assert np.abs(a.image.astype(float) - b.image).max() <= most
        assert view_pngs(other, 1.0, markers=True) == view_pngs(one, 1.0, markers=True)


@pytest.mark.slow
def test_the_suite_passes(written: Path, home: Scene) -> None:
    results = run_suite(lambda scene: get_simulator("panorama", scene, folder=written), home)
    assert not [str(each) for each in results if each.status == "failed"]
    assert {each.name for each in results if each.status == "passed"} >= {"images", "captions"}


def test_a_scene_out_of_the_cache_is_the_same(written: Path, home: Scene) -> None:
    copy = load_scene(str(written / "demo-flat" / "scene.json"))
    read = get_simulator("panorama", copy, folder=written)
    seen = standing(read, home.viewpoints[3].id)
    before = standing(embedded(home), home.viewpoints[3].id)
    assert (seen.captions, ways_of(seen)) == (before.captions, ways_of(before))


@pytest.mark.slow
def test_neither_renderer_nor_mesh_is_made(written: Path) -> None:
    program = f"""
import sys
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.sim import Pose, get_simulator
from navloom.sim.views import view_pngs
home = load_scene({HOME!r})
sim = get_simulator("panorama", home, folder={str(written)!r})
pose = Pose((0, 0, 0), viewpoint=home.viewpoints[0].id)
seen = sim.reset({{"robot": (pose, DEFAULT_BODY)}})["robot"]
assert len(view_pngs(seen, 0.0, markers=True)) == 1
heavy = ["embreex", "trimesh", "navloom_worlds.rendering.renderer"]
made = [each for each in home.__dict__["_derived"] if "mesh" in each or "sight" in each]
print([each for each in heavy if each in sys.modules], made)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[] []\n", done.stderr


def test_pictures_in_memory_are_bounded() -> None:
    kept = ImageCache(most=1000)
    for number in range(50):
        kept.get(number, lambda: np.zeros(300, np.uint8))
    assert kept.held <= 1000
    again = kept.get(49, lambda: pytest.fail("it is kept"))
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 1


def manifest_of(cache: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((cache / "demo-flat" / "manifest.json").read_text())
    return content


def rewrite(cache: Path, **changes: Any) -> None:
    content = manifest_of(cache) | changes
    (cache / "demo-flat" / "manifest.json").write_text(json.dumps(content))


def refusal(cache: Path, *, look: bool = False) -> str:
    """What is said of a cache, when it is opened or looked at."""
    LAST.forget()
    home = load_scene(HOME)

    def use() -> None:
        simulator = get_simulator("panorama", home, folder=cache)
        assert look, "it was opened"
        assert standing(simulator, home.viewpoints[0].id).images["rgb"][0].image.size

    with pytest.raises(SimulatorError) as refused:
        use()
    said = str(refused.value)
    assert "\n" not in said
    return said


def first_picture(cache: Path) -> Path:
    return cache / "demo-flat" / "views" / "0000" / "rgb-0.png"


def name_in_manifest(cache: Path, data: bytes) -> None:
    """Put a picture there as whoever made the manifest would have."""
    first_picture(cache).write_bytes(data)
    content = manifest_of(cache)
    first = next(iter(content["viewpoints"].values()))[0]
    first["sha256"] = sha256(data).hexdigest()
    rewrite(cache, viewpoints=content["viewpoints"])


def test_no_such_folder(tmp_path: Path) -> None:
    assert "no such folder" in refusal(tmp_path / "none")
    assert "`navloom scenes render demo:flat --out" in refusal(tmp_path / "none")
    assert "holds no panoramas of demo:flat" in refusal(tmp_path)


def test_another_version(cache: Path) -> None:
    rewrite(cache, version="navloom.panoramas/9")
    assert "'navloom.panoramas/9', and this Navloom reads 'navloom.panoramas/1'" in refusal(cache)


def test_another_scene(cache: Path) -> None:
    rewrite(cache, scene="demo:house")
    assert "panoramas of demo:house, and the scene is demo:flat" in refusal(cache)


def test_another_make_of_the_scene(cache: Path) -> None:
    rewrite(cache, scene_sha256="0" * 64)
    assert "another make of demo:flat" in refusal(cache)


def test_a_missing_picture_names_its_viewpoint(cache: Path, home: Scene) -> None:
    first_picture(cache).unlink()
    said = refusal(cache)
    assert f"viewpoint {home.viewpoints[0].id} is missing" in said
    assert "`navloom scenes render demo:flat --out" in said


def test_a_changed_picture(cache: Path, home: Scene) -> None:
    data = bytearray(first_picture(cache).read_bytes())
    data[-20] ^= 1
    first_picture(cache).write_bytes(data)
    said = refusal(cache, look=True)
    assert f"viewpoint {home.viewpoints[0].id} was changed" in said
    assert "makes it again" in said


@pytest.mark.parametrize("name", ["../../outside.png", "/etc/passwd", "views/../../x", "a//b", ""])
def test_a_path_that_climbs_out(cache: Path, name: str) -> None:
    content = manifest_of(cache)
    next(iter(content["viewpoints"].values()))[0]["file"] = name
    rewrite(cache, viewpoints=content["viewpoints"])
    assert "file" in refusal(cache)


@pytest.mark.parametrize("of_folder", [False, True])
def test_a_link(cache: Path, tmp_path: Path, of_folder: bool) -> None:
    place = first_picture(cache).parent if of_folder else first_picture(cache)
    moved = tmp_path / "outside"
    place.rename(moved)
    place.symlink_to(moved)
    assert f"{place} is a link" in refusal(cache)


def test_a_picture_of_another_size(cache: Path) -> None:
    out = BytesIO()
    Image.new("RGB", (200, 100)).save(out, "PNG")
    name_in_manifest(cache, out.getvalue())
    assert "expected a picture of 48 x 48 pixels, found 200 x 100" in refusal(cache, look=True)


@pytest.mark.slow
def test_a_bomb_is_not_unpacked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = BytesIO()
    Image.new("1", (16000, 16000)).save(out, "PNG")
    name_in_manifest(cache, out.getvalue())
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", lambda _: pytest.fail("unpacked"))
    said = refusal(cache, look=True)
    assert "viewpoint" in said
    assert "16000" in said or "256000000" in said


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_picture_cut_off(cache: Path, kind: str) -> None:
    out = BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (48, 48, 3), dtype=np.uint8)
    Image.fromarray(noise).save(out, kind)
    name_in_manifest(cache, out.getvalue()[: len(out.getvalue()) // 2])
    assert "no whole PNG or JPEG picture" in refusal(cache, look=True)


def test_no_folder_is_given() -> None:
    with pytest.raises(SimulatorError, match="give it with --panoramas DIR"):
        get_simulator("panorama", HOME)
