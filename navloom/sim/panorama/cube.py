"""Six faces of a cube as Matterport3D has them, and views resampled from them.

What was assumed, and from where. Of a viewpoint the faces are numbered 0 up, 1 to 4 around, 5 down.
The connectivity files of Matterport3DSimulator say of their 4 x 4 ``pose`` that it takes a skybox
to the scan's frame (z up), "based on the assumption that the camera is facing skybox image 3".
Which way each face is turned follows from how that simulator draws them (``NavGraph.cpp``,
``MatterSim.cpp``): faces 2, 4, 0, 5, 1, 3 are OpenGL's +x, -x, +y, -y, +z, -z; the cube is turned
by the pose and looked at through an inversion in the origin (heading 0 looks along -y of what it
draws, and rows are read from below), so a direction ``d`` in the pose's own frame is looked up as
``-d``. With the pose's columns as right, down and ahead this comes to the table below: face 3
ahead, 4 right, 1 behind, 2 left, and up and down hinged on face 1: the lower edge of 0 and the
upper edge of 5 meet it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
"""(6, 3, 3): of each face what is right, down and ahead in its picture, in the pose's own frame,
whose axes are right, down and ahead of face 3."""


def pose_turn(pose: list[float]) -> Floats:
    """How a pose turns a cube, in the scene's frame.

    Args:
        pose: 16 numbers, row by row, as a connectivity file has them (z up).

    Returns:
        (3, 3): its columns are right, down and ahead of face 3 in the scene's frame (y up).
    """
    turn = np.array(pose, dtype=np.float64).reshape(4, 4)[:3, :3]
    x, y, z = turn
    return np.stack([x, z, -y])


def view_rays(heading: float, elevation: float, fov: float, width: int, height: int) -> Floats:
    """The direction of each pixel of a view, (height, width, 3), one long along its middle.

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


def where_on_cube(rays: Floats, turn: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Which face each ray meets, and where.

    Args:
        rays: (..., 3) in the scene's frame.
        turn: the cube's; see :func:`pose_turn`.

    Returns:
        Faces, and from -1 to 1 how far right and how far down in their pictures; each (...).
    """
    local = rays @ turn
    axis = np.abs(local).argmax(axis=-1)
    positive = np.take_along_axis(local, axis[..., None], axis=-1)[..., 0] > 0
    face = np.where(positive, np.array([4, 5, 3])[axis], np.array([2, 0, 1])[axis])
    right, down, ahead = (np.einsum("...k,...k", local, FACES[face, k]) for k in range(3))
    return face, right / ahead, down / ahead


def resampled(faces: NDArray[np.uint8], rays: Floats, turn: Floats) -> NDArray[np.uint8]:
    """A view of a cube's faces, bilinear within each.

    Args:
        faces: (6, n, n, 3).
        rays: (height, width, 3); see :func:`view_rays`.
        turn: the cube's.

    Returns:
        (height, width, 3).
    """
    size = faces.shape[1]
    face, right, down = where_on_cube(rays, turn)
    x = np.clip((right + 1) / 2 * size - 0.5, 0, size - 1).astype(np.float32)
    y = np.clip((down + 1) / 2 * size - 0.5, 0, size - 1).astype(np.float32)
    left, top = x.astype(np.intp), y.astype(np.intp)
    next_x, next_y = np.minimum(left + 1, size - 1), np.minimum(top + 1, size - 1)
    across, along = (x - left)[..., None], (y - top)[..., None]
    upper = faces[face, top, left] * (1 - across) + faces[face, top, next_x] * across
    lower = faces[face, next_y, left] * (1 - across) + faces[face, next_y, next_x] * across
    seen: NDArray[np.uint8] = np.rint(upper * (1 - along) + lower * along).astype(np.uint8)
    return seen


def resampled_depth(faces: NDArray[np.uint16], rays: Floats, turn: Floats) -> NDArray[np.float32]:
    """Planar depth of a view, of faces that hold distances; the nearest pixel is taken.

    Args:
        faces: (6, n, n), quarters of a millimetre from the camera's place, 0 for none.
        rays: (height, width, 3), one long along the view's middle.
        turn: the cube's.

    Returns:
        (height, width) metres.
    """
    size = faces.shape[1]
    face, right, down = where_on_cube(rays, turn)
    x = np.clip((right + 1) / 2 * size, 0, size - 1).astype(np.intp)
    y = np.clip((down + 1) / 2 * size, 0, size - 1).astype(np.intp)
    metres = faces[face, y, x] / 4000.0 / np.linalg.norm(rays, axis=-1)
    planar: NDArray[np.float32] = metres.astype(np.float32)
    return planar
