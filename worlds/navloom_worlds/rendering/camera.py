"""Cameras: position, orientation, projection, and the ray of each pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from navloom.scenes.scene import Point3
from navloom_worlds.geometry.arrays import F32, F64, I64

Projection = Literal["pinhole", "equirect", "orthographic"]


@dataclass(frozen=True, slots=True)
class Camera:
    """Camera of one image. A pixel's ray passes through its centre.

    Attributes:
        position: the eye, in metres; for an orthographic camera the centre of the image.
        heading: radians, clockwise from -z seen from above.
        elevation: radians, positive upwards.
        width: pixels.
        height: pixels.
        fov: horizontal field of view in radians, below pi for a pinhole; an equirect's is 2 pi, its
            middle column looks along ``heading``.
        projection: ``orthographic`` looks along ``heading`` and ``elevation`` and is ``span`` wide;
            straight down (-pi/2) with heading 0, up in the image is -z.
        span: width of an orthographic image in metres.
        samples: rays across and down a pixel at edges, for colour only: 2 has soft edges and
            interpolated textures, 1 is fastest. Depth and ids use the ray through a pixel's
            centre.
    """

    position: Point3
    heading: float = 0.0
    elevation: float = 0.0
    width: int = 224
    height: int = 224
    fov: float = math.pi / 2
    projection: Projection = "pinhole"
    span: float = 10.0
    samples: int = 2

    @property
    def axes(self) -> tuple[F64, F64, F64]:
        """Unit vectors to the right, up and ahead, each (3,)."""
        sin, cos = math.sin(self.heading), math.cos(self.heading)
        rise, level = math.sin(self.elevation), math.cos(self.elevation)
        right = np.array([cos, 0.0, sin])
        ahead = np.array([sin * level, rise, -cos * level])
        up = np.array([-sin * rise, level, cos * rise])
        return right, up, ahead

    def rays(
        self, aside: tuple[float, float] = (0.0, 0.0), at: I64 | None = None
    ) -> tuple[F32, F32]:
        """Return origins, (3,) or (n, 3), and directions, (n, 3), of the rays of pixels.

        A direction's length is such that distances in units of it are planar depth in metres for a
        pinhole and an orthographic camera, and the range for an equirect one.

        Args:
            aside: offset of a ray from its pixel's centre, right and down, in pixels.
            at: (n,) row * width + column of the selected pixels; None for all.
        """
        right, up, ahead = self.axes
        across = (np.arange(self.width) + 0.5 + aside[0]) / self.width * 2 - 1
        down = (np.arange(self.height) + 0.5 + aside[1]) / self.height * 2 - 1
        here = np.asarray(self.position, dtype=np.float64)
        if self.projection == "equirect":
            turn = (across * math.pi)[:, None]
            level = np.sin(turn) * right + np.cos(turn) * ahead
            tilt = (-down * math.pi / 2)[:, None, None]
            ways = (np.cos(tilt) * level[None] + np.sin(tilt) * up).reshape(-1, 3)
            return here.astype(np.float32), (ways if at is None else ways[at]).astype(np.float32)
        half = math.tan(self.fov / 2) if self.projection == "pinhole" else self.span / 2
        columns = (across * half)[:, None] * right
        rows = (-down * half * self.height / self.width)[:, None] * up
        if self.projection == "orthographic":
            starts = _summed(rows + here, columns, at)
            return starts, np.broadcast_to(ahead.astype(np.float32), starts.shape)
        return here.astype(np.float32), _summed(rows + ahead, columns, at)

    def pixel(self, distance: float = 1.0) -> float:
        """Return the width of the middle pixel at a distance, in metres."""
        if self.projection == "orthographic":
            return self.span / self.width
        if self.projection == "equirect":
            return distance * 2 * math.pi / self.width
        return distance * 2 * math.tan(self.fov / 2) / self.width


def _summed(rows: F64, columns: F64, at: I64 | None) -> F32:
    """Add each row's vector and each column's: (rows * columns, 3), or for some pixels."""
    # One addition per number is enough, so single precision loses nothing.
    down, across = rows.astype(np.float32), columns.astype(np.float32)
    if at is not None:
        row, column = np.divmod(at, len(across))
        return np.asarray(down.take(row, axis=0) + across.take(column, axis=0))
    found = np.empty((len(down), len(across), 3), dtype=np.float32)
    # Axis by axis, since numpy is slow if the innermost axis has three numbers.
    for axis in range(3):
        np.add(down[:, axis, None], across[None, :, axis], out=found[..., axis])
    return found.reshape(-1, 3)
