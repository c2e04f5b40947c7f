"""Frame rate of the embedded renderer compared with habitat-sim, on the same triangles and cameras.

Both render colour, depth and semantic ids of one home of 200,000 triangles at 224 x 224.
habitat-sim runs in its own process, and only its ``get_sensor_observations()`` is timed. The
embedded renderer has baked light and casts one ray per pixel; it is measured in numpy and, if
installed, with numba. Habitat's colours are unlit. Both may use all cores.

``NAVLOOM_GPU_DEVICE`` selects the device that habitat-sim renders on. The default is -1, which
means software rendering where there is no GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import Claim
from benchmarks.rendering import (
    HOME,
    SIDE,
    TRIANGLES,
    list_kernels,
    sample_cameras,
    subdivide_mesh,
    use_kernels,
)
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.exporting.face_orientation import orient_faces
from navloom_worlds.exporting.habitat_files import save_habitat, scene_handle
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.habitat.habitat_backend import configured_gpu
from navloom_worlds.habitat.habitat_process import PYTHON, missing_reason
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer

VIEWS, ROUNDS = 24, 3
WANTED = {"in numpy": 1.4, "with numba": 2.3}
NEAR_M, SHARE = 0.02, 0.995


def claims() -> list[Claim]:
    """Measure frames per second against habitat-sim's, with and without numba."""
    what = f"habitat-sim, software GL, {SIDE}x{SIDE}, the same {TRIANGLES:,} triangles of {HOME}"
    if configured_gpu() >= 0:
        what = what.replace("software GL", f"GPU {configured_gpu()}")
    ways = list_kernels()
    if missing_reason():
        note = "habitat_sim is not installed (docs/habitat.md): not compared"
        return [
            Claim(f"RGB, depth and ids, {name}", f"{what}; NOT MEASURED", 0.0, 0.0, note=note)
            for name in ways
        ]
    with tempfile.TemporaryDirectory() as folder:
        spent, busy, alike = _spent(Path(folder), ways)
    count = ROUNDS * VIEWS
    load = os.getloadavg()[0]
    theirs = count / spent["habitat"]
    return [
        Claim(
            f"RGB, depth and ids, {name}",
            what,
            count / spent[name] / theirs,
            WANTED[name],
            alike > SHARE,
            f"{count / spent[name]:.0f} frames/s, habitat {theirs:.0f}; of the processors "
            f"{1000 * busy[name] / count:.1f} ms a frame, habitat "
            f"{1000 * busy['habitat'] / count:.1f}; depths within 2 cm of each other at "
            f"{alike:.2%} of pixels; load {load:.1f} on {os.cpu_count()} cores",
        )
        for name in ways
    ]


Seconds = dict[str, float]


def _spent(folder: Path, ways: Any) -> tuple[Seconds, Seconds, float]:
    """Return wall time in seconds, processor time in seconds, and the share of equal depths."""
    scene, mesh = load_one_sided_home(HOME, TRIANGLES)
    config = save_habitat([scene], folder)
    cameras, renderer = sample_cameras(scene, VIEWS), Renderer(mesh)
    nothing = dict.fromkeys([*ways, "habitat"], 0.0)
    spent, busy, alike = dict(nothing), dict(nothing), []
    with _habitat(config, scene_handle(scene), cameras[0].fov) as draw:
        for turn in range(ROUNDS + 1):
            for camera in cameras:
                seconds, worked, theirs = draw(camera)
                spent["habitat"] += seconds
                busy["habitat"] += worked
                for name, way in ways.items():
                    renderer.forget()
                    with use_kernels(way):
                        began, worked = time.perf_counter(), time.process_time()
                        frame = renderer.frame(camera)
                        _, depth, _ = frame.rgb, frame.depth, frame.ids
                        spent[name] += time.perf_counter() - began
                        busy[name] += time.process_time() - worked
                alike.append((np.abs(depth - theirs) <= NEAR_M).mean())
            if turn == 0:
                # The first round compiles code and fills caches, so it is not counted.
                spent, busy = dict(nothing), dict(nothing)
    return spent, busy, float(np.mean(alike))


def load_one_sided_home(home: str, triangles: int) -> tuple[Scene, SceneMesh]:
    """Return a home with so many front-facing triangles, as exported for habitat-sim."""
    plain = load_scene(home)
    mesh, _ = orient_faces(scene_mesh(plain))
    mesh = subdivide_mesh(mesh, triangles)
    scene = Scene.model_validate(plain.model_dump())
    # All code that uses this scene gets the mesh that is cached under this name.
    return scene, scene_cached(scene, "mesh", lambda: mesh)


@contextmanager
def _habitat(config: Path, scene: str, fov: float) -> Iterator[Any]:
    """Yield a function from a camera to habitat-sim's wall time, processor time and depth image."""
    python = os.environ.get(PYTHON, "").strip() or sys.executable
    script = Path(__file__).with_name("habitat_frames.py")
    child = subprocess.Popen(
        [python, str(script), str(config), scene, str(SIDE), str(fov), str(configured_gpu())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}
        | dict(os.environ),
    )
    assert child.stdin is not None
    assert child.stdout is not None

    def draw(camera: Camera) -> tuple[float, float, Any]:
        pose = [*camera.position, camera.heading, camera.elevation]
        print(json.dumps(pose), file=child.stdin, flush=True)
        for line in child.stdout or ():
            if line.startswith("["):
                seconds, busy, file = json.loads(line)
                return seconds, busy, np.load(file)
        raise RuntimeError(f"habitat-sim ended with {child.wait()}")

    try:
        yield draw
    finally:
        child.stdin.close()
        child.wait()
