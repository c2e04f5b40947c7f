"""Where bodies stand, and what comes of a motion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, shape_of
from navloom.scenes.distances import wrapped
from navloom.scenes.terrain import Others, Stand

_CORNERS = 96
"""Of the polygon that stands for a disc: it juts out by a two-thousandth of the radius."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a body is while it moves: its middle, where it faces, the floor under its middle."""

    x: float
    z: float
    heading: float
    y: float

    @property
    def at(self) -> tuple[float, float, float, float]:
        """Where its middle is, x and z, and its direction ahead, x and z."""
        return self.x, self.z, math.sin(self.heading), -math.cos(self.heading)

    @property
    def stand(self) -> Stand:
        """The same for those outside."""
        return Stand((self.x, self.y, self.z), wrapped(self.heading))


def swung(pose: Pose, pivot: tuple[float, float], angle: float) -> Pose:
    """A pose turned about a point (x, z) by an angle, clockwise seen from above."""
    cos, sin = math.cos(angle), math.sin(angle)
    dx, dz = pose.x - pivot[0], pose.z - pivot[1]
    x, z = pivot[0] + dx * cos - dz * sin, pivot[1] + dx * sin + dz * cos
    return Pose(x, z, pose.heading + angle, pose.y)


def outline(body: Embodiment, stand: Stand) -> NDArray[np.float64]:
    """The sides of another body: of a disc those of a polygon around it."""
    shape = shape_of(body)
    x, _, z = stand.position
    if shape.round:
        turns = np.arange(_CORNERS) * (2 * math.pi / _CORNERS)
        far = shape.ahead / math.cos(math.pi / _CORNERS)
        corners = np.stack([x + far * np.cos(turns), z + far * np.sin(turns)], axis=1)
    else:
        ux, uz = math.sin(stand.heading), -math.cos(stand.heading)
        signs = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
        a, b = signs[:, 0] * shape.ahead, signs[:, 1] * shape.aside
        corners = np.stack([x + a * ux - b * uz, z + a * uz + b * ux], axis=1)
    return np.concatenate([corners, np.roll(corners, -1, axis=0)], axis=1)


def who_covers(pose: Pose, height: float, others: Others) -> str | None:
    """In whose outline the middle of a body of some height is, which may reach none of its sides.

    Args:
        pose: where the body is.
        height: its own.
        others: who else is there.
    """
    for name, (body, stand) in others.items():
        x, y, z = stand.position
        far = math.hypot(pose.x - x, pose.z - z)
        if far > shape_of(body).outer or not (y - height < pose.y < y + body.height):
            continue
        a, b, c, d = outline(body, stand).T
        side = (c - a) * (pose.z - b) - (d - b) * (pose.x - a)
        if bool((side > 0).all() or (side < 0).all()):
            return name
    return None


def finite(**values: float) -> None:
    """Refuse values that are no numbers.

    Raises:
        SceneError: one is NaN or infinite.
    """
    for name, value in values.items():
        if not math.isfinite(value):
            raise SceneError(f"{name}: expected a number, found {value}.")
