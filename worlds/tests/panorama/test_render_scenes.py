"""Panoramas are written whole, go on after any stop, and are mended where they are broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from navloom.errors import RunError, SceneError, SimulatorError
from navloom.scenes import load_scene
from navloom.scenes.formats.scene_json import save
from navloom.sim import get_simulator
from navloom.sim.panorama.manifest import RenderRequest, read_manifest
from navloom_worlds.rendering.panorama_export import RenderOutcome, render_scenes
from worlds.tests.panorama.conftest import ASKED, HOME

SMALL = RenderRequest(size=16, light="flat")


def files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def stop_after(blocks: int) -> Callable[[RenderOutcome], None]:
    def tell(outcome: RenderOutcome) -> None:
        if outcome.rendered >= 4 * blocks:
            raise KeyboardInterrupt

    return tell


@pytest.mark.slow
def test_what_was_stopped_goes_on(written: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        render_scenes([HOME], tmp_path, ASKED, tell=stop_after(2))
    with pytest.raises(SimulatorError, match="holds no panoramas of demo:flat"):
        get_simulator("panorama", HOME, folder=tmp_path)
    said: list[str] = []
    outcome = render_scenes([HOME], tmp_path, ASKED, note=said.append)
    assert (outcome.kept, outcome.rendered, said) == (8, 20, [])
    assert files(tmp_path) == files(written)


@pytest.mark.slow
def test_a_kill_leaves_nothing_half_done(written: Path, tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from navloom.sim.panorama.manifest import RenderRequest
from navloom_worlds.rendering.panorama_export import render_scenes
render_scenes([{HOME!r}], Path({str(tmp_path)!r}), RenderRequest(**{ASKED.model_dump()!r}))
"""
    process = subprocess.Popen([sys.executable, "-c", program])
    journal = tmp_path / "demo-flat" / "rendered.jsonl"
    while process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") > 4:
            os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait()
    outcome = render_scenes([HOME], tmp_path, ASKED)
    assert outcome.kept >= 4
    whole = {name: data for name, data in files(tmp_path).items() if "/." not in name}
    assert whole == files(written)


@pytest.mark.slow
def test_two_processes_write_what_one_does(written: Path, tmp_path: Path) -> None:
    outcome = render_scenes([HOME], tmp_path, ASKED, processes=2)
    assert outcome.rendered == 28
    assert files(tmp_path) == files(written)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["views/0003/rgb-2.png", "views/0005/ids-0.png", "words.json", "manifest.json"]
)
def test_exactly_what_is_broken_is_made_again(cache: Path, written: Path, name: str) -> None:
    broken = cache / "demo-flat" / name
    broken.write_bytes(broken.read_bytes()[:-30])
    times = {path: path.stat().st_mtime_ns for path in cache.rglob("views/*/*")}
    said: list[str] = []
    render_scenes([HOME], cache, ASKED, note=said.append)
    assert len(said) == 1, said
    assert files(cache) == files(written)
    again = {path for path, before in times.items() if path.stat().st_mtime_ns != before}
    if name.startswith("views"):
        assert again == {broken}
        assert f"{name}: missing or changed, rendered again" in said[0]
    said.clear()
    outcome = render_scenes([HOME], cache, ASKED, note=said.append)
    assert (outcome.rendered, said) == (0, [])


def test_another_form_needs_another_folder(cache: Path) -> None:
    with pytest.raises(RunError, match=r"4 views of 48 pixels.* 4 views of 16 pixels"):
        render_scenes([HOME], cache, SMALL)


@pytest.mark.slow
def test_another_renderer_begins_anew(cache: Path, written: Path) -> None:
    path = cache / "demo-flat" / "manifest.json"
    path.write_text(path.read_text().replace(read_manifest(path.parent).renderer, "of before"))
    said: list[str] = []
    outcome = render_scenes([HOME], cache, ASKED, note=said.append)
    assert outcome.rendered == 28
    assert "all of it is rendered again" in said[0]
    assert files(cache) == files(written)


def test_a_scene_without_pictures_is_skipped(tmp_path: Path) -> None:
    bare = load_scene(HOME).replace(id="bare", source="scene", walls=())
    uri = str(save(bare, tmp_path / "bare.json"))
    with pytest.raises(SimulatorError, match="no geometry"):
        render_scenes([uri], tmp_path / "one", SMALL)
    said: list[str] = []
    outcome = render_scenes([uri, "demo:none"], tmp_path / "two", SMALL, note=said.append)
    assert set(outcome.failed) == {uri, "demo:none"}
    assert len(said) == 2
    with pytest.raises(SceneError):
        render_scenes(["demo:none"], tmp_path / "three", SMALL)


@pytest.mark.slow
def test_sweeps_and_jpeg(tmp_path: Path) -> None:
    asked = RenderRequest(size=16, views=24, format="jpg", light="flat")
    with pytest.raises(KeyboardInterrupt):
        render_scenes([HOME], tmp_path, asked, tell=stop_after(1))
    line = json.loads((tmp_path / "demo-flat" / "rendered.jsonl").read_text().splitlines()[1])
    assert len(line["files"]) == 24
    first = tmp_path / "demo-flat" / line["files"]["0"]["file"]
    assert first.read_bytes().startswith(b"\xff\xd8\xff")
