"""Matterport3D's own panoramas: six cube faces a viewpoint, resampled to views in any direction.

    DIR/SCAN/matterport_skybox_images/VP_skybox0_sami.jpg ... VP_skybox5_sami.jpg
    DIR/SCAN/matterport_skybox_images/VP_skybox_small.jpg    six faces side by side
    DIR/SCAN/matterport_skybox_images/VP_skybox_depth_small.png    depth, if all have it

``DIR`` may have ``v1/scans`` above the scans. The folder of images may be a zip file, as it is
downloaded, and ``DIR`` itself may be a zip file of scans.

Orientation of the faces, and its sources. The faces of a viewpoint are numbered 0 up, 1 to 4
around, 5 down. The connectivity files of Matterport3DSimulator say that their 4 x 4 ``pose`` takes
a skybox to the scan's frame (z up), "based on the assumption that the camera is facing skybox image
3". The rotation of each face follows from how that simulator draws them (``NavGraph.cpp``,
``MatterSim.cpp``): faces 2, 4, 0, 5, 1, 3 are OpenGL's +x, -x, +y, -y, +z, -z; the cube is rotated
by the pose and seen through an inversion in the origin (heading 0 looks along -y of what it
draws, and rows are read from below), so a direction ``d`` in the pose's own frame is looked up as
``-d``. With the pose's columns as right, down and ahead this gives the table below: face 3
ahead, 4 right, 1 behind, 2 left, and up and down hinged on face 1: the lower edge of 0 and the
upper edge of 5 meet it.
"""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from math import pi, radians
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.distances import scene_cached
from navloom.scenes.formats.mp3d import read_camera_poses
from navloom.scenes.scene import Scene
from navloom.sim.captions import matterport_folder
from navloom.sim.panorama.image_codec import MOST_BYTES, read_image_file
from navloom.sim.panorama.manifest import MOST_PIXELS, SensorSpec
from navloom.sim.panorama.panorama_cache import LAST
from navloom.sim.views import FORMS

Floats = NDArray[np.float64]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def _minus(axis: tuple[float, float, float]) -> tuple[float, float, float]:
    return -axis[0], -axis[1], -axis[2]


FACES: Floats = np.array(
    [
        (_minus(_X), _minus(_Z), _minus(_Y)),
        (_minus(_X), _Y, _minus(_Z)),
        (_Z, _Y, _minus(_X)),
        (_X, _Y, _Z),
        (_minus(_Z), _Y, _X),
        (_minus(_X), _Z, _Y),
    ]
)
"""(6, 3, 3): for each face the directions right, down and ahead in its image, in the pose's own
frame, whose axes are right, down and ahead of face 3."""


def pose_rotation(pose: list[float]) -> Floats:
    """Return the rotation of a cube by its pose, in the scene's frame.

    Args:
        pose: 16 numbers, row by row, as in a connectivity file (z up).

    Returns:
        (3, 3): its columns are right, down and ahead of face 3 in the scene's frame (y up).
    """
    turn = np.array(pose, dtype=np.float64).reshape(4, 4)[:3, :3]
    x, y, z = turn
    return np.stack([x, z, -y])


def view_rays(heading: float, elevation: float, fov: float, width: int, height: int) -> Floats:
    """Return the ray of each pixel of a view, (height, width, 3), of length 1 along its axis.

    Args:
        heading: radians in the scene's frame.
        elevation: radians.
        fov: horizontal, radians.
        width: pixels.
        height: pixels.
    """
    sin, cos, rise, level = np.sin(heading), np.cos(heading), np.sin(elevation), np.cos(elevation)
    right = np.array([cos, 0.0, sin])
    ahead = np.array([sin * level, rise, -cos * level])
    up = np.array([-sin * rise, level, cos * rise])
    half = np.tan(fov / 2)
    x = ((np.arange(width) + 0.5) / width * 2 - 1) * half
    y = (1 - (np.arange(height) + 0.5) / height * 2) * half * height / width
    rays: Floats = x[None, :, None] * right + y[:, None, None] * up + ahead
    return rays


def cube_coordinates(rays: Floats, turn: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the face that each ray hits, and the coordinates on it.

    Args:
        rays: (..., 3) in the scene's frame.
        turn: the cube's rotation; see :func:`pose_rotation`.

    Returns:
        Face indices, and coordinates from -1 to 1 to the right and down in their images; each
            (...).
    """
    local = rays @ turn
    axis = np.abs(local).argmax(axis=-1)
    positive = np.take_along_axis(local, axis[..., None], axis=-1)[..., 0] > 0
    face = np.where(positive, np.array([4, 5, 3])[axis], np.array([2, 0, 1])[axis])
    right, down, ahead = (np.einsum("...k,...k", local, FACES[face, k]) for k in range(3))
    return face, right / ahead, down / ahead


def resample_view(faces: NDArray[np.uint8], rays: Floats, turn: Floats) -> NDArray[np.uint8]:
    """Resample a view from a cube's faces, bilinear within each face.

    Args:
        faces: (6, n, n, 3).
        rays: (height, width, 3); see :func:`view_rays`.
        turn: the cube's rotation.

    Returns:
        (height, width, 3).
    """
    size = faces.shape[1]
    face, right, down = cube_coordinates(rays, turn)
    x = np.clip((right + 1) / 2 * size - 0.5, 0, size - 1).astype(np.float32)
    y = np.clip((down + 1) / 2 * size - 0.5, 0, size - 1).astype(np.float32)
    left, top = x.astype(np.intp), y.astype(np.intp)
    next_x, next_y = np.minimum(left + 1, size - 1), np.minimum(top + 1, size - 1)
    across, along = (x - left)[..., None], (y - top)[..., None]
    upper = faces[face, top, left] * (1 - across) + faces[face, top, next_x] * across
    lower = faces[face, next_y, left] * (1 - across) + faces[face, next_y, next_x] * across
    seen: NDArray[np.uint8] = np.rint(upper * (1 - along) + lower * along).astype(np.uint8)
    return seen


def resample_depth(faces: NDArray[np.uint16], rays: Floats, turn: Floats) -> NDArray[np.float32]:
    """Resample a view's planar depth from faces with distances, by the nearest pixel.

    Args:
        faces: (6, n, n), quarters of a millimetre from the camera's position, 0 for none.
        rays: (height, width, 3), of length 1 along the view's axis.
        turn: the cube's rotation.

    Returns:
        (height, width) metres.
    """
    size = faces.shape[1]
    face, right, down = cube_coordinates(rays, turn)
    x = np.clip((right + 1) / 2 * size, 0, size - 1).astype(np.intp)
    y = np.clip((down + 1) / 2 * size, 0, size - 1).astype(np.intp)
    metres = faces[face, y, x] / 4000.0 / np.linalg.norm(rays, axis=-1)
    planar: NDArray[np.float32] = metres.astype(np.float32)
    return planar


_FOLDER = "matterport_skybox_images"
_SMALL, _DEPTH = "{}_skybox_small.jpg", "{}_skybox_depth_small.png"
_FACE = "{}_skybox{}_sami.jpg"


class SkyboxFiles:
    """Files of one scan's skyboxes, in a folder or a zip file.

    Args:
        place: a folder, or a zip file.
        scan: the scan's name; a zip file may contain other scans as well.
    """

    def __init__(self, place: Path, scan: str) -> None:
        self.place = place
        self._zip: zipfile.ZipFile | None = None
        if place.is_dir():
            self.names = {each.name: each.name for each in place.iterdir() if each.is_file()}
            return
        try:
            self._zip = zipfile.ZipFile(place)
            pattern = rf"(?:(?:.*/)?{re.escape(scan)}/)?(?:{_FOLDER}/)?([^/]+)"
            found = ((re.fullmatch(pattern, name), name) for name in self._zip.namelist())
            self.names = {match[1]: name for match, name in found if match}
        except (OSError, zipfile.BadZipFile) as error:
            raise SimulatorError(f"{place}: cannot be read as a zip file: {error}.") from error

    def read(self, name: str) -> bytes:
        """Return a file's content.

        Raises:
            SimulatorError: it is missing, a link, too large, or broken.
        """
        try:
            if self._zip is None:
                return read_image_file(self.place / name)
            info = self._zip.getinfo(self.names[name])
            if info.file_size > MOST_BYTES:
                raise SimulatorError(
                    f"{self.place}: {name}: expected at most {MOST_BYTES:,} bytes."
                )
            return self._zip.read(info)
        except (FileNotFoundError, KeyError) as error:
            raise SimulatorError(f"{self.place}: {name} is missing.") from error
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise SimulatorError(f"{self.place}: {name} cannot be read: {error}.") from error


class Skyboxes:
    """Views of a scan's skyboxes; a source of images.

    Args:
        files: the files of the faces.
        turns: the rotation of each viewpoint's cube.
        sensors: the views to resample.
    """

    def __init__(
        self, files: SkyboxFiles, turns: dict[str, Floats], sensors: tuple[SensorSpec, ...]
    ) -> None:
        self._files, self._turns, self._sensors = files, turns, sensors

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The views available at each viewpoint."""
        return self._sensors

    def read(self, viewpoint: str, number: int) -> NDArray[Any]:
        """Return one view.

        Args:
            viewpoint: a viewpoint of the scan.
            number: the sensor's index.

        Raises:
            SimulatorError: a face is missing, broken or of another form.
        """
        shot = self._sensors[number]
        key = (str(self._files.place), viewpoint, shot)
        return LAST.get(key, lambda: self._view(viewpoint, shot))

    def _view(self, viewpoint: str, shot: SensorSpec) -> NDArray[Any]:
        rays = view_rays(shot.heading, shot.elevation, shot.fov, shot.width, shot.height)
        key = (str(self._files.place), viewpoint, shot.modality, shot.width)
        if shot.modality == "depth":
            cube = LAST.get(key, lambda: self._depth_faces(viewpoint))
            return resample_depth(cube, rays, self._turns[viewpoint])
        cube = LAST.get(key, lambda: self._faces(viewpoint, shot.width))
        return resample_view(cube, rays, self._turns[viewpoint])

    def _faces(self, viewpoint: str, size: int) -> NDArray[Any]:
        """Return the faces, (6, n, n, 3), decoded no larger than needed."""
        if _FACE.format(viewpoint, 0) not in self._files.names:
            return _six(self._picture(viewpoint, _SMALL.format(viewpoint), 6))
        faces = [self._picture(viewpoint, _FACE.format(viewpoint, k), 1, size) for k in range(6)]
        if len({each.shape for each in faces}) > 1:
            raise SimulatorError(
                f"{self._files.place}: viewpoint {viewpoint}: expected six faces of one size."
            )
        return np.stack(faces)

    def _depth_faces(self, viewpoint: str) -> NDArray[Any]:
        return _six(self._picture(viewpoint, _DEPTH.format(viewpoint), 6).astype(np.uint16))

    def _picture(self, viewpoint: str, name: str, faces: int, size: int = 0) -> NDArray[Any]:
        """Read an image of one face or six; JPEG is decoded at reduced size if that is enough."""
        where = f"{self._files.place / name} (viewpoint {viewpoint})"
        data = self._files.read(name)
        try:
            with Image.open(BytesIO(data), formats=("JPEG", "PNG")) as picture:
                if picture.width != faces * picture.height or picture.height > MOST_PIXELS:
                    raise SimulatorError(
                        f"{where}: expected {faces} square face{'s' * (faces > 1)} of at most "
                        f"{MOST_PIXELS} pixels, found {picture.width} x {picture.height}."
                    )
                if size:
                    picture.draft("RGB", (size, size))
                deep = picture.mode.startswith("I")
                return np.array(picture if deep else picture.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            why = " ".join(str(error).split())[:100]
            raise SimulatorError(f"{where}: no whole picture: {why}.") from error


def _six(strip: NDArray[Any]) -> NDArray[Any]:
    """Split an image of six faces side by side, to (6, n, n, ...)."""
    return np.stack(np.split(strip, 6, axis=1))


def open_skyboxes(root: Path, scene: Scene, views: int, size: int) -> Skyboxes:
    """Open the skyboxes of a scan, once per scene, folder and form.

    Args:
        root: the folder of the scans.
        scene: a scene of Matterport3D.
        views: 4, 12, 24 or 36.
        size: width and height of a view in pixels.

    Raises:
        SimulatorError: there are none of this scan, or a viewpoint lacks some faces; unsupported
            number of views.
        SceneError: the connectivity file is broken.
    """
    if views not in FORMS or not views:
        raise SimulatorError(f"{views} views cannot be taken: expected 4, 12, 24 or 36.")
    key = f"skyboxes:{root}:{views}:{size}"
    return scene_cached(scene, key, lambda: _opened(root, scene, views, size))


def _opened(root: Path, scene: Scene, views: int, size: int) -> Skyboxes:
    files = SkyboxFiles(_place(root, scene), scene.id)
    for viewpoint in scene.viewpoint_by_id:
        faces = [_FACE.format(viewpoint, k) for k in range(6)]
        missing = [each for each in faces if each not in files.names]
        if missing and _SMALL.format(viewpoint) not in files.names:
            raise SimulatorError(
                f"{files.place}: viewpoint {viewpoint} has no {missing[0]}, nor "
                f"{_SMALL.format(viewpoint)}: expected one or the other of every viewpoint."
            )
    deep = all(_DEPTH.format(each) in files.names for each in scene.viewpoint_by_id)
    count, elevations = FORMS[views]
    sensors = tuple(
        SensorSpec(
            modality=modality,
            heading=2 * pi * k / count,
            elevation=radians(elevation),
            fov=pi / 2,
            width=size,
            height=size,
        )
        for modality in (("rgb", "depth") if deep else ("rgb",))
        for elevation in elevations
        for k in range(count)
    )
    return Skyboxes(files, _turns(root, scene), sensors)


def _place(root: Path, scene: Scene) -> Path:
    if root.is_file():
        return root
    for folder in (root / scene.id, root / "v1" / "scans" / scene.id, root):
        for place in (folder / _FOLDER, folder / f"{_FOLDER}.zip"):
            if place.exists() and (folder != root or root.name == scene.id):
                return place
    raise SimulatorError(
        f"{root} holds no panoramas of {scene.uri}: expected {scene.id}/{_FOLDER}, or "
        f"`navloom scenes render {scene.origin} --out {root}` where its scene has geometry."
    )


def _turns(root: Path, scene: Scene) -> dict[str, Floats]:
    folders = [matterport_folder(scene.origin), root, root / scene.id]
    for folder in [each for each in folders if each is not None and each.is_dir()]:
        try:
            poses = read_camera_poses(folder, scene.id)
        except FileNotFoundError:
            continue
        except SceneError as error:
            raise SimulatorError(str(error)) from error
        if set(scene.viewpoint_by_id) <= set(poses):
            return {each: pose_rotation(poses[each]) for each in scene.viewpoint_by_id}
    raise SimulatorError(
        f"{scene.uri}: skyboxes are turned as connectivity/{scene.id}_connectivity.json says, and "
        f"there is none with all its viewpoints in {', '.join(str(e) for e in folders if e)}."
    )
