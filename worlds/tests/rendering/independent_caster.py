"""Independent camera renderer in plain numpy, without Embree and without code of the product.

It takes the arrays of a mesh only. A triangle covers a pixel if the pixel's ray, written as a
combination of the triangle's three corners (seen from the eye), has no negative weight. So nothing
needs clipping. Headings are clockwise from -z seen from above, elevations positive upwards, both in
radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAIRS = 2_000_000
"""Number of triangle-pixel pairs in one batch."""


@dataclass(frozen=True)
class Pose:
    position: tuple[float, float, float]
    heading: float
    elevation: float
    width: int
    height: int
    fov: float


@dataclass(frozen=True)
class Picture:
    depth: NDArray[np.float64]
    """(height, width) depth in metres; 0 where no face is hit."""
    face: NDArray[np.int64]
    """(height, width) face indices; -1 where no face is hit."""


def seen(
    vertices: NDArray[np.floating],
    faces: NDArray[np.integer],
    pose: Pose,
    shift: tuple[float, float] = (0.0, 0.0),
) -> Picture:
    """Return depth and nearest face at each pixel's centre, moved by ``shift`` pixels."""
    corners = _from_the_eye(vertices, pose)[faces]
    aspect = math.tan(pose.fov / 2)
    xs = ((np.arange(pose.width) + 0.5 + shift[0]) / pose.width - 0.5) * 2 * aspect
    tall = aspect * pose.height / pose.width
    ys = (0.5 - (np.arange(pose.height) + 0.5 + shift[1]) / pose.height) * 2 * tall
    near = np.zeros(pose.width * pose.height)
    face = np.full(pose.width * pose.height, -1)
    left, right, top, bottom = _windows(corners, xs, ys)
    counts = (right - left) * (bottom - top)
    chosen = np.flatnonzero(counts > 0)
    ends = np.cumsum(counts[chosen])
    first = 0
    while first < len(chosen):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + PAIRS, side="right")))
        _drawn(corners, chosen[first:last], (left, right, top, bottom), xs, ys, near, face)
        first = last
    depth = np.where(near > 0, 1 / np.where(near > 0, near, 1), 0)
    shape = (pose.height, pose.width)
    return Picture(depth.reshape(shape), face.reshape(shape))


def direction(
    here: tuple[float, float, float], there: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return heading in [0, 2 pi), elevation, and metres from one place to another."""
    east, up, north = there[0] - here[0], there[1] - here[1], -(there[2] - here[2])
    return (
        math.atan2(east, north) % (2 * math.pi),
        math.atan2(up, math.hypot(east, north)),
        math.sqrt(east * east + up * up + north * north),
    )


def _from_the_eye(vertices: NDArray[np.floating], pose: Pose) -> NDArray[np.float64]:
    """Transform vertices to the eye's frame: right, up and ahead."""
    x, y, z = (vertices.astype(np.float64) - np.array(pose.position, dtype=np.float64)).T
    east, north = x, -z
    right = east * math.cos(pose.heading) - north * math.sin(pose.heading)
    level = east * math.sin(pose.heading) + north * math.cos(pose.heading)
    up = y * math.cos(pose.elevation) - level * math.sin(pose.elevation)
    ahead = y * math.sin(pose.elevation) + level * math.cos(pose.elevation)
    return np.stack([right, up, ahead], axis=1)


def _windows(
    corners: NDArray[np.float64], xs: NDArray[np.float64], ys: NDArray[np.float64]
) -> tuple[NDArray[np.int64], ...]:
    """Return the pixel columns and rows that each triangle may cover; all if it crosses the eye."""
    ahead = corners[:, :, 2]
    before = (ahead > 1e-6).all(axis=1)
    behind = (ahead <= 1e-6).all(axis=1)
    safe = np.where(ahead > 1e-6, ahead, 1)
    x, y = corners[:, :, 0] / safe, corners[:, :, 1] / safe
    left = np.where(before, np.searchsorted(xs, x.min(axis=1) - 1e-9), 0)
    right = np.where(before, np.searchsorted(xs, x.max(axis=1) + 1e-9), len(xs))
    top = np.where(before, np.searchsorted(-ys, -y.max(axis=1) - 1e-9), 0)
    bottom = np.where(before, np.searchsorted(-ys, -y.min(axis=1) + 1e-9), len(ys))
    right = np.where(behind, left, right)
    return left, np.maximum(right, left), top, np.maximum(bottom, top)


def _drawn(
    corners: NDArray[np.float64],
    chosen: NDArray[np.int64],
    windows: tuple[NDArray[np.int64], ...],
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    near: NDArray[np.float64],
    face: NDArray[np.int64],
) -> None:
    """Draw some triangles into the image; ``near`` is one over the depth."""
    left, right, top, bottom = (each[chosen] for each in windows)
    wide, count = right - left, (right - left) * (bottom - top)
    of = np.repeat(np.arange(len(chosen)), count)
    step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    column, row = left[of] + step % wide[of], top[of] + step // wide[of]
    a, b, c = (corners[chosen, k] for k in range(3))
    # The rows of the inverse of [a b c], times its determinant.
    normals = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    volume = np.einsum("ni,ni->n", a, normals[:, 0])
    ray = np.stack([xs[column], ys[row], np.ones(len(of))], axis=1)
    weights = np.einsum("nki,ni->nk", normals[of], ray)
    flat = np.abs(volume) < 1e-15
    weights /= np.where(flat, 1, volume)[of][:, None]
    closeness = weights.sum(axis=1)
    hit = (weights >= 0).all(axis=1) & (closeness > 0) & ~flat[of]
    pixel, closeness, of = (row * len(xs) + column)[hit], closeness[hit], of[hit]
    order = np.lexsort((-closeness, pixel))
    pixels, first = np.unique(pixel[order], return_index=True)
    best = order[first]
    better = closeness[best] > near[pixels]
    near[pixels[better]] = closeness[best][better]
    face[pixels[better]] = chosen[of[best][better]]
