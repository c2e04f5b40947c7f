"""Cameras: where one is, which way it looks, and the ray of each of its pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.scene import Point3

Projection = Literal["pinhole", "equirect", "orthographic"]


@dataclass(frozen=True, slots=True)
class Camera:
    """One picture's camera. A pixel's ray goes through its middle.

    Attributes:
        position: the eye, in metres; of an orthographic one the middle of the picture.
        heading: radians, clockwise from -z seen from above.
        elevation: radians, positive upwards.
        width: pixels.
        height: pixels.
        fov: horizontal field of view in radians, of a pinhole below pi; an equirect's is 2 pi, its
            middle column looks along ``heading``.
        projection: ``orthographic`` looks as ``heading`` and ``elevation`` say, ``span`` wide;
            straight down (-pi/2) with heading 0, up in the picture is -z.
        span: metres that an orthographic picture is wide.
    """

    position: Point3
    heading: float = 0.0
    elevation: float = 0.0
    width: int = 224
    height: int = 224
    fov: float = math.pi / 2
    projection: Projection = "pinhole"
    span: float = 10.0

    @property
    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Unit vectors to the right, up and ahead, each (3,)."""
        sin, cos = math.sin(self.heading), math.cos(self.heading)
        rise, level = math.sin(self.elevation), math.cos(self.elevation)
        right = np.array([cos, 0.0, sin])
        ahead = np.array([sin * level, rise, -cos * level])
        up = np.array([-sin * rise, level, cos * rise])
        return right, up, ahead

    def rays(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Origins, (3,) or (height * width, 3), and directions, (height * width, 3), row by row.

        A direction's length is such that distances in lengths of it are planar depth in metres for
        a pinhole and an orthographic camera, and the range for an equirect one.
        """
        right, up, ahead = self.axes
        across = (np.arange(self.width) + 0.5) / self.width * 2 - 1
        down = (np.arange(self.height) + 0.5) / self.height * 2 - 1
        if self.projection == "equirect":
            turn, tilt = np.meshgrid(across * math.pi, -down * math.pi / 2)
            level, rise = np.cos(tilt), np.sin(tilt)
            local = (level * np.sin(turn), rise, level * np.cos(turn))
            directions = np.stack([each.ravel() for each in local], axis=1) @ np.stack(
                [right, up, ahead]
            )
            return np.asarray(self.position, dtype=np.float32), directions.astype(np.float32)
        half = math.tan(self.fov / 2) if self.projection == "pinhole" else self.span / 2
        x, y = np.meshgrid(across * half, -down * half * self.height / self.width)
        offsets = x.reshape(-1, 1) * right + y.reshape(-1, 1) * up
        if self.projection == "orthographic":
            origins = np.asarray(self.position) + offsets
            return origins.astype(np.float32), np.broadcast_to(
                ahead.astype(np.float32), offsets.shape
            )
        return np.asarray(self.position, dtype=np.float32), (offsets + ahead).astype(np.float32)
