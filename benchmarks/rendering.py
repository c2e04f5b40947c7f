"""Frame rate of the renderer compared with pybullet's software renderer, and time to a first frame.

Both render colour, depth and ids of one home of 200,000 triangles from the same cameras, in one
process, taking turns. pybullet (extra ``bench``) uses TinyRenderer without shadows. Ours has baked
light and, as by default, 2 x 2 rays per pixel at edges; it is measured in numpy and, if
installed, with numba. One ray per pixel is measured as well. TinyRenderer's depth is accurate to a
few centimetres.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import Claim
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry import ray_packets
from navloom_worlds.geometry.mesh import SceneMesh, scene_mesh
from navloom_worlds.rendering import shading
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer

HOME, TRIANGLES, SIDE, VIEWS, ROUNDS = "home:7", 200_000, 224, 24, 3
WANTED = {"in numpy": 1.0, "with numba": 2.5}
NEAR, FAR = 0.05, 60.0
FIRST = {"flat": 4.0, "baked": 10.0, "warm": 0.3}
"""Promised time to a first frame, in seconds."""
_CHUNK = 40_000
_FIRST_FRAME = """
import json, sys, time
began = time.perf_counter()
from navloom.scenes.scene_uri import load_scene
from navloom_worlds.geometry.mesh import scene_mesh
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
scene = load_scene(sys.argv[1])
mesh = scene_mesh(scene)
loaded = time.perf_counter()
x, y, z = scene.viewpoints[0].position
Renderer(mesh, light=sys.argv[2]).frame(Camera((x, y + 1.5, z))).rgb
now = time.perf_counter()
print(json.dumps([now - began, now - loaded]))
"""


def claims() -> list[Claim]:
    """Measure frames per second against pybullet, with and without numba, and first frames."""
    return [*_frames(), *_first_frames()]


def _frames() -> list[Claim]:
    scene = load_scene(HOME)
    mesh = subdivide_mesh(scene_mesh(scene), TRIANGLES)
    cameras = sample_cameras(scene, VIEWS)
    renderer = Renderer(mesh)
    ways = list_kernels()
    try:
        other = _pybullet(mesh)
    except ImportError:
        other = None
    timed = [(name, samples) for name in ways for samples in (2, 1)]
    spent = dict.fromkeys([*timed, ("pybullet", 1)], 0.0)
    alike = []
    for turn in range(ROUNDS + 1):
        for camera in cameras:
            renderer.forget()
            depth = np.zeros(0)
            for name, samples in timed:
                began = time.perf_counter()
                with use_kernels(ways[name]):
                    frame = renderer.frame(replace(camera, samples=samples))
                    _, depth, _ = frame.rgb, frame.depth, frame.ids
                spent[name, samples] += time.perf_counter() - began
                renderer.forget()
            if other is not None:
                began = time.perf_counter()
                theirs = other(camera)
                spent["pybullet", 1] += time.perf_counter() - began
                alike.append(float((np.abs(theirs - depth) < 0.05).mean()))
        if turn == 0:
            spent = dict.fromkeys(spent, 0.0)  # the first round compiles code and fills caches
    count = ROUNDS * VIEWS
    return [_row(name, samples, spent, count, alike) for name, samples in timed]


Kernels = tuple[object, object]


def list_kernels() -> dict[str, Kernels]:
    """Return the available pairs of shading and ray code: numpy, and numba if installed."""
    kernel = shading.compiled_kernel()
    found: dict[str, Kernels] = {"in numpy": (None, None)}
    return found | ({"with numba": (kernel, ray_packets.compiled_loop())} if kernel else {})


@contextmanager
def use_kernels(way: Kernels) -> Iterator[None]:
    """Make the renderer use this pair of shading and ray code within the context."""
    kept = shading.compiled_kernel, ray_packets.compiled_loop
    kernel, loop = way
    shading.compiled_kernel = lambda: kernel  # type: ignore[assignment,return-value]
    ray_packets.compiled_loop = lambda: loop  # type: ignore[assignment,return-value]
    try:
        yield
    finally:
        shading.compiled_kernel, ray_packets.compiled_loop = kept


def _row(
    name: str, samples: int, spent: dict[tuple[str, int], float], count: int, alike: list[float]
) -> Claim:
    ours = count / spent[name, samples]
    said = f"{ours:.0f} frames/s"
    label = f"RGB, depth and ids, {name}" + ("" if samples > 1 else ", one ray a pixel")
    what = f"pybullet's TinyRenderer, {SIDE}x{SIDE}, {TRIANGLES:,} triangles of {HOME}"
    if not alike:
        note = f"{said}; pybullet is not installed (pip install 'navloom[bench]'): not compared"
        return Claim(label, f"{what}; NOT MEASURED", 0.0, 0.0, note=note)
    theirs = count / spent["pybullet", 1]
    note = (
        f"{said}, pybullet {theirs:.0f}; depths within 5 cm of each other in "
        f"{np.median(alike):.1%} of pixels of a view"
    )
    wanted = WANTED[name] if samples > 1 else 0.0
    return Claim(label, what, ours / theirs, wanted, bool(np.median(alike) > 0.95), note)


def sample_cameras(scene: Scene, count: int) -> list[Camera]:
    """Return cameras at random viewpoints with random headings."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        x, y, z = scene.viewpoints[rng.integers(len(scene.viewpoints))].position
        heading = float(rng.uniform(0, 2 * math.pi))
        found.append(Camera((x, y + 1.5, z), heading, -0.1, SIDE, SIDE, samples=1))
    return found


def subdivide_mesh(mesh: SceneMesh, count: int) -> SceneMesh:
    """Subdivide a mesh to so many triangles by halving the largest at their longest sides."""
    while len(mesh.faces) < count:
        corners = mesh.vertices[mesh.faces]
        area = np.linalg.norm(
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
        )
        most = min(count - len(mesh.faces), max(1, len(mesh.faces) // 2))
        big = np.argsort(-area, kind="stable")[:most]
        sides = np.linalg.norm(corners[big] - corners[big][:, [1, 2, 0]], axis=2)
        turn = (sides.argmax(axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(mesh.faces[big], turn, axis=1).T
        middle = np.arange(len(big), dtype=np.int32) + len(mesh.vertices)
        faces = mesh.faces.copy()
        faces[big] = np.stack([a, middle, c], axis=1)
        keep = [mesh.owners, mesh.surface, mesh.smooth]
        owners, surface, smooth = (np.concatenate([each, each[big]]) for each in keep)
        mesh = replace(
            mesh,
            vertices=np.concatenate([mesh.vertices, (mesh.vertices[a] + mesh.vertices[b]) / 2]),
            faces=np.concatenate([faces, np.stack([middle, b, c], axis=1)]),
            owners=owners,
            surface=surface,
            smooth=smooth,
            uv=np.concatenate([mesh.uv, (mesh.uv[a] + mesh.uv[b]) / 2]),
        )
    return mesh


def _pybullet(mesh: SceneMesh) -> Any:
    """Return a function from a camera to pybullet's depth image in metres.

    It renders colour and ids too, as ours does.
    """
    bullet = importlib.import_module("pybullet")
    bullet.connect(bullet.DIRECT)
    for first in range(0, len(mesh.faces), _CHUNK):
        faces = mesh.faces[first : first + _CHUNK]
        used, rows = np.unique(faces, return_inverse=True)
        # Both sides of a face are drawn, as in our renderer.
        shape = bullet.createVisualShape(
            bullet.GEOM_MESH,
            vertices=mesh.vertices[used].astype(float).tolist(),
            indices=rows.ravel().astype(int).tolist(),
            normals=[[0.0, 1.0, 0.0]] * len(used),
            rgbaColor=[0.8, 0.8, 0.8, 1],
        )
        bullet.createMultiBody(baseVisualShapeIndex=shape)

    def draw(camera: Camera) -> Any:
        _, up, ahead = camera.axes
        here = np.asarray(camera.position)
        view = bullet.computeViewMatrix(here.tolist(), (here + ahead).tolist(), up.tolist())
        projection = bullet.computeProjectionMatrixFOV(math.degrees(camera.fov), 1.0, NEAR, FAR)
        _, _, _, depth, _ = bullet.getCameraImage(
            camera.width,
            camera.height,
            view,
            projection,
            shadow=0,
            renderer=bullet.ER_TINY_RENDERER,
        )
        depth = np.asarray(depth).reshape(camera.height, camera.width)
        metres = FAR * NEAR / (FAR - (FAR - NEAR) * depth)
        return np.where(depth < 1, metres, 0)

    return draw


def _first_frames() -> list[Claim]:
    with tempfile.TemporaryDirectory() as folder:
        flat = _first("flat", folder)
        baked = _first("baked", folder)
        warm = _first("baked", folder)
    note = (
        f"from {HOME}, imports and all: {flat[0]:.1f} s flat, {baked[0]:.1f} s baked "
        f"(promised: {FIRST['flat']:.0f} and {FIRST['baked']:.0f}); from the mesh with its "
        f"light on disk: {warm[1]:.2f} s (promised: {FIRST['warm']})"
    )
    found = {"flat": flat[0], "baked": baked[0], "warm": warm[1]}
    return [
        Claim(
            f"the first frame, {name}",
            f"the {FIRST[name]:g} s that are promised",
            FIRST[name] / found[name],
            0.0,
            note=note if name == "baked" else "",
        )
        for name in FIRST
    ] + [Claim("the first frame, flat", "the same, baked", baked[0] / flat[0], 0.0)]


def _first(light: str, folder: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_FRAME, HOME, light],
        env={**os.environ, "XDG_CACHE_HOME": folder, "NAVLOOM_CACHE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    whole, rest = json.loads(done.stdout)
    return float(whole), float(rest)
