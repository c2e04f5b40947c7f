"""Skyboxes of a home in Matterport's layout, and views of them as Matterport3DSimulator renders.

Both follow that simulator's sources and none of our code. Faces 2, 4, 0, 5, 1, 3 are OpenGL's +x,
-x, +y, -y, +z, -z (``NavGraph.cpp``). The cube is rotated by the pose, the camera by ``rotate(-90
degrees + elevation, x) * rotate(180 degrees + heading, z)``, and rows are read from the bottom
without flipping (``MatterSim.cpp``). The mapping of the cube's faces is OpenGL's own table (OpenGL
2.1, 3.8.6).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial.transform import Rotation

from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry import scene_mesh
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from navloom_worlds.rendering.visible_captions import EYE_M

Floats = NDArray[np.float64]
GL_OF_FACE = {2: "+x", 4: "-x", 0: "+y", 5: "-y", 1: "+z", 3: "-z"}
# Direction (x, y, z) of s and t, with major axis 1, from the specification's table 3.19.
_GL = {
    "+x": lambda s, t: (np.ones_like(s), -t, -s),
    "-x": lambda s, t: (-np.ones_like(s), -t, s),
    "+y": lambda s, t: (s, np.ones_like(s), t),
    "-y": lambda s, t: (s, -np.ones_like(s), -t),
    "+z": lambda s, t: (s, -t, np.ones_like(s)),
    "-z": lambda s, t: (-s, -t, -np.ones_like(s)),
}


@dataclass(frozen=True, slots=True)
class Facing(Camera):
    """Camera with any orientation, given as right, up and ahead."""

    turned: tuple[Point3, Point3, Point3] = ((1, 0, 0), (0, 1, 0), (0, 0, -1))

    @property
    def axes(self) -> Any:
        return tuple(np.array(each, dtype=np.float64) for each in self.turned)


def y_up(directions: Floats) -> Floats:
    """Convert a direction of a scan's frame (z up) to ours."""
    x, y, z = np.moveaxis(directions, -1, 0)
    return np.stack([x, z, -y], axis=-1)


def z_up(point: Point3) -> Point3:
    """Convert a point of our frame to a scan's (z up)."""
    x, y, z = point
    return x, -z, y


def drawn_rotation(heading: float, elevation: float) -> Floats:
    """Return the simulator's view matrix."""
    tilt = Rotation.from_euler("x", -math.pi / 2 + elevation)
    turn = Rotation.from_euler("z", math.pi + heading)
    return np.asarray((tilt * turn).as_matrix())


def true_of_drawn() -> Floats:
    """Return the rotation from the simulator's world to the true one (z up).

    It follows from the view at heading 0, which is +y with +x to the right (``populateNavigable``).
    The rows of an image are in the opposite order to OpenGL's.
    """
    camera = drawn_rotation(0.0, 0.0)
    right, up_on_screen, back = camera
    true = np.stack([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)])
    drawn = np.stack([right, -up_on_screen, -back])
    return np.asarray(true.T @ drawn)


def drawn(
    faces: list[NDArray[np.uint8]], pose: Floats, heading: float, elevation: float, size: int
) -> NDArray[np.uint8]:
    """Render the simulator's view, 90 degrees wide, by nearest-neighbour sampling of the faces."""
    across = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(across, across)  # the first row read is the lowest
    camera = np.stack([x, y, -np.ones_like(x)], axis=-1)
    cube = camera @ drawn_rotation(heading, elevation) @ pose
    shown = np.zeros((size, size, 3), np.uint8)
    for face, name in GL_OF_FACE.items():
        axis, sign = "xyz".index(name[1]), 1 if name[0] == "+" else -1
        ours = (np.abs(cube).argmax(axis=-1) == axis) & (cube[..., axis] * sign > 0)
        u = cube[ours] / np.abs(cube[ours][:, axis : axis + 1])
        s, t = _s_and_t(name, u)
        n = len(faces[face])
        column = np.clip(((s + 1) / 2 * n).astype(int), 0, n - 1)
        row = np.clip(((t + 1) / 2 * n).astype(int), 0, n - 1)
        shown[ours] = faces[face][row, column]
    return shown


def _s_and_t(name: str, u: Floats) -> tuple[Floats, Floats]:
    zero, one = np.zeros(1), np.ones(1)
    middle = np.array(_GL[name](zero, zero)).ravel()
    s_axis = np.array(_GL[name](one, zero)).ravel() - middle
    t_axis = np.array(_GL[name](zero, one)).ravel() - middle
    return u @ s_axis, u @ t_axis


def face_axes(face: int, pose: Floats) -> tuple[Point3, Point3, Point3]:
    """Return right, up and ahead of a face's image in our frame."""

    def seen(s: float, t: float) -> Floats:
        cube = np.array(_GL[GL_OF_FACE[face]](np.array(s), np.array(t)), dtype=np.float64)
        return y_up(true_of_drawn() @ (pose @ cube))

    ahead = seen(0, 0)
    right, down = seen(1, 0) - ahead, seen(0, 1) - ahead
    made = [tuple(float(v) for v in each) for each in (right, -down, ahead)]
    return made[0], made[1], made[2]  # type: ignore[return-value]


def random_pose(rng: np.random.Generator) -> Floats:
    """Draw the rotation of a camera that is level within a degree or two: right, down and ahead."""
    level = Rotation.from_euler("x", -math.pi / 2)  # ahead is +y, down is -z
    tilt = Rotation.from_rotvec(rng.normal(0, math.radians(1.5), 3))
    turn = Rotation.from_euler("z", rng.uniform(0, 2 * math.pi))
    return np.asarray((turn * tilt * level).as_matrix())


def export(scene: Scene, viewpoints: list[str], root: Path, size: int, seed: int = 0) -> None:
    """Write connectivity and skyboxes of some viewpoints, each with its own rotation.

    Args:
        scene: a home.
        viewpoints: some of its viewpoints.
        root: gets ``connectivity/`` and ``SCAN/matterport_skybox_images/``; SCAN is ``scan0``.
        size: width of a face in pixels.
        seed: seed of the poses.
    """
    rng = np.random.default_rng(seed)
    renderer = Renderer(scene_mesh(scene), light="flat")
    images = root / "scan0" / "matterport_skybox_images"
    images.mkdir(parents=True)
    (root / "connectivity").mkdir()
    near = {frozenset((e.a, e.b)) for e in scene.edges}
    records = []
    for here in viewpoints:
        place = scene.viewpoint_by_id[here]
        x, y, z = place.position
        eye = (x, y if place.eye_height else y + EYE_M, z)
        pose = random_pose(rng)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = pose, z_up(eye)
        cameras = [
            Facing(eye, width=size, height=size, turned=face_axes(k, pose)) for k in range(6)
        ]
        frames = renderer.frames(cameras)
        for k, frame in enumerate(frames):
            Image.fromarray(frame.rgb).save(images / f"{here}_skybox{k}_sami.jpg", quality=98)
        _save_depth(images / f"{here}_skybox_depth_small.png", [each.depth for each in frames])
        records.append(
            {
                "image_id": here,
                "pose": [float(v) for v in matrix.ravel()],
                "included": True,
                "visible": [True] * len(viewpoints),
                "unobstructed": [frozenset((here, there)) in near for there in viewpoints],
                "height": place.eye_height or EYE_M,
            }
        )
    (root / "connectivity" / "scan0_connectivity.json").write_text(json.dumps(records))


def _save_depth(path: Path, depths: list[NDArray[np.float32]]) -> None:
    size = len(depths[0])
    across = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(across, across)
    far = np.sqrt(x**2 + y**2 + 1)
    row = np.concatenate([each * far * 4000 for each in depths], axis=1)
    Image.fromarray(np.clip(row, 0, 65_535).astype(np.uint16)).save(path)
