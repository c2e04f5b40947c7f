"""Mesh primitives: surfaces, parts, and the simple solids from which parts are made.

A part is a set of triangles with one surface. Its frame is its item's own: the origin in the middle
of the footprint at the item's underside, y up, metres; the front faces -z, right is +x.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navloom_worlds.geometry.arrays import F32, F64, I32, U8

Point = Sequence[float]
RGB = tuple[float, float, float]


def as_f32(values: ArrayLike) -> F32:
    """Return values as an array of float32."""
    return np.asarray(values, dtype=np.float32)


def srgb_to_linear(srgb: ArrayLike) -> F64:
    """Convert sRGB values, clipped to 0 to 1, to linear light."""
    value = np.clip(np.asarray(srgb, dtype=np.float64), 0, 1)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(light: NDArray[Any]) -> NDArray[Any]:
    """Convert linear light, clipped to 0 to 1, to sRGB values of the same precision."""
    value = np.clip(light, 0, 1)
    high = 1.055 * np.power(np.maximum(value, 1e-9), 1 / 2.4) - 0.055
    return np.asarray(np.where(value <= 0.0031308, value * 12.92, high))


@dataclass(frozen=True, eq=False)
class TextureImage:
    """Texture image: (height, width, 3) uint8, sRGB; generated or read from a file.

    Two images are equal only if they are the same object.
    """

    pixels: U8


@dataclass(frozen=True)
class Surface:
    """Appearance of a part: colour, texture, gloss and glow.

    Attributes:
        rgb: its colour, sRGB, each 0 to 1; a texture's own colours are multiplied by it.
        texture: a name known to :func:`navloom_worlds.geometry.textures.texture_pixels` ("" for
            none), or an image.
        repeat: metres after which the texture repeats. An image on an item has coordinates from 0
            to 1 and a repeat of 1.
        gloss: 0 dull to 1 like a mirror.
        glow: emitted light: 1 is as bright as white paper in a lit room.
    """

    rgb: RGB = (0.8, 0.8, 0.8)
    texture: str | TextureImage = ""
    repeat: float = 1.0
    gloss: float = 0.0
    glow: float = 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """Triangles with one surface.

    Attributes:
        vertices: (n, 3) metres in the item's own frame.
        faces: (m, 3) rows of ``vertices``, counter-clockwise seen from outside.
        surface: its surface.
        uv: (n, 2) texture coordinates in metres (``repeat`` of the surface is one whole texture, v
            downwards); None projects the texture flat along the face normal.
        smooth: whether it has smooth shading.
    """

    vertices: F32
    faces: I32
    surface: Surface = Surface()
    uv: F32 | None = None
    smooth: bool = False

    def having(self, vertices: F32) -> Part:
        """Return the part with other vertices."""
        return Part(vertices, self.faces, self.surface, self.uv, self.smooth)

    def moved(self, x: float, y: float, z: float) -> Part:
        """Return the part translated."""
        return self.having(self.vertices + as_f32([x, y, z]))

    def turned(self, yaw: float) -> Part:
        """Return the part turned about y by an angle in radians, clockwise seen from above."""
        return self.having(rotate_yaw(self.vertices, yaw))

    def scaled(self, x: float, y: float, z: float) -> Part:
        """Return the part scaled along the axes; factors above 0."""
        return self.having(self.vertices * as_f32([x, y, z]))

    def tilted(self, angle: float, axis: str = "x") -> Part:
        """Return the part turned about its ``x`` or ``z`` axis, right-handed, in radians."""
        cos, sin = np.cos(angle), np.sin(angle)
        x, y, z = self.vertices.T
        if axis == "x":
            turned = np.stack([x, y * cos - z * sin, y * sin + z * cos], axis=1)
        else:
            turned = np.stack([x * cos - y * sin, x * sin + y * cos, z], axis=1)
        return self.having(turned.astype(np.float32))


Owned = tuple[int, Part]
"""Owner id (:mod:`navloom_worlds.geometry.semantic_ids`) and a part in the scene's frame."""


def area_normals(corners: NDArray[Any]) -> NDArray[Any]:
    """Return the area normals of triangles (m, 3, 3): outwards, twice the area long."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def rotate_yaw(points: F32, yaw: float) -> F32:
    """Return points turned about y like :class:`navloom.scenes.scene.Box`: clockwise from above."""
    cos, sin = np.float32(np.cos(yaw)), np.float32(np.sin(yaw))
    x, y, z = points.T
    return np.stack([x * cos - z * sin, y, x * sin + z * cos], axis=1)


_CUBE_FACES = np.array(
    [
        [0, 1, 5, 4],  # bottom
        [3, 7, 6, 2],  # top
        [0, 3, 2, 1],  # front, -z
        [5, 6, 7, 4],  # back, +z
        [4, 7, 3, 0],  # left, -x
        [1, 2, 6, 5],  # right, +x
    ]
)


def box(low: Point, high: Point, surface: Surface, *, sides: str = "bufklr") -> Part:
    """Return a box between two corners.

    Args:
        low: (x, y, z) of the least corner.
        high: (x, y, z) of the greatest corner.
        surface: its surface.
        sides: letters of its sides: bottom, up, front, k (back), left, right.
    """
    (a, b, c), (d, e, f) = low, high
    corners = as_f32(
        [[a, b, c], [d, b, c], [d, e, c], [a, e, c], [a, b, f], [d, b, f], [d, e, f], [a, e, f]]
    )
    # Every side has its own corners, so that edges stay sharp.
    quads = [_CUBE_FACES["bufklr".index(side)] for side in sides]
    vertices = corners[np.concatenate(quads)]
    return Part(vertices, quad_faces(len(quads)), surface)


def quad_faces(count: int) -> I32:
    """Return the triangles of ``count`` quads, each with four consecutive vertices of its own."""
    first = np.arange(count, dtype=np.int32)[:, None] * 4
    corners = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    faces = first[:, :, None] + corners[None]
    return faces.reshape(-1, 3).astype(np.int32)


def quad(corners: Sequence[Point], surface: Surface, *, whole: bool = False) -> Part:
    """Return a quad of four corners, counter-clockwise from the front, lower left first.

    Args:
        corners: lower left, lower right, upper right, upper left.
        surface: its surface.
        whole: fit the texture once, from corner to corner.
    """
    uv = as_f32([[0, 1], [1, 1], [1, 0], [0, 0]]) * surface.repeat if whole else None
    return Part(as_f32(corners), quad_faces(1), surface, uv)


def lathe(profile: Sequence[tuple[float, float]], surface: Surface, *, sides: int = 16) -> Part:
    """Return a profile revolved around the y axis: plates, bottles, lamp shades, table legs.

    Args:
        profile: (radius, y) from bottom to top; a radius of 0 closes it.
        surface: its surface.
        sides: number of flat sides around.
    """
    around = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    radii, heights = np.array(profile, dtype=np.float64).T
    x = np.cos(around)[None] * radii[:, None]
    z = np.sin(around)[None] * radii[:, None]
    y = np.repeat(heights[:, None], sides, axis=1)
    vertices = np.stack([x, y, z], axis=2).reshape(-1, 3).astype(np.float32)
    rings, step = np.arange(len(profile) - 1)[:, None] * sides, np.arange(sides)[None]
    a, b = rings + step, rings + (step + 1) % sides
    # At a pole one of two triangles has no area; at a doubled rim both have none.
    wide = (np.diff(radii) != 0) | (np.diff(heights) != 0)
    first, second = wide & (radii[1:] > 0), wide & (radii[:-1] > 0)
    faces = np.concatenate(
        [
            np.stack([a, a + sides, b + sides], axis=2)[first].reshape(-1, 3),
            np.stack([a, b + sides, b], axis=2)[second].reshape(-1, 3),
        ]
    )
    return Part(vertices, faces.astype(np.int32), surface, smooth=True)


def cylinder(radius: float, low: float, high: float, surface: Surface, *, sides: int = 16) -> Part:
    """Return a closed upright cylinder around the y axis."""
    # Rims are doubled, so that they stay sharp beside the smooth wall.
    rim = [(0.0, low), (radius, low), (radius, low), (radius, high), (radius, high), (0.0, high)]
    return lathe(rim, surface, sides=sides)


def beam(a: Point, b: Point, thick: float, surface: Surface, *, sides: int = 4) -> Part:
    """Return a straight bar between two points: legs, rails, handles.

    Args:
        a: one end.
        b: the other.
        thick: its diameter, or its width with four sides.
        surface: its surface.
        sides: number of sides; 4 is square, more is round.
    """
    start, end = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
    along = end - start
    long = float(np.linalg.norm(along))
    along = along / long if long else np.array([0.0, 1.0, 0.0])
    helper = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    side = _across(along, helper)
    side /= np.linalg.norm(side)
    other = _across(along, side)
    turn_by = np.pi / 4 if sides == 4 else 0.0
    reach = thick / 2 * (np.sqrt(2) if sides == 4 else 1.0)
    around = np.linspace(0, 2 * np.pi, sides, endpoint=False) + turn_by
    ring = reach * (np.cos(around)[:, None] * side + np.sin(around)[:, None] * other)
    quads = []
    for k in range(sides):
        n = (k + 1) % sides
        quads += [start + ring[k], start + ring[n], end + ring[n], end + ring[k]]
    faces = [quad_faces(sides)]
    caps = [*(start + ring), *(end + ring)]
    base = 4 * sides
    fan = np.arange(1, sides - 1)
    faces.append(np.stack([np.full_like(fan, base), base + fan + 1, base + fan], axis=1))
    top = base + sides
    faces.append(np.stack([np.full_like(fan, top), top + fan, top + fan + 1], axis=1))
    return Part(
        as_f32([*quads, *caps]), np.concatenate(faces).astype(np.int32), surface, smooth=False
    )


def _across(a: F64, b: F64) -> F64:
    """Return the cross product of two vectors; numpy's is ten times as slow for a single pair."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def parts_bounds(parts: Iterable[Part]) -> tuple[F32, F32]:
    """Return the least and the greatest corner of all parts; at least one part."""
    corners = [(p.vertices.min(axis=0), p.vertices.max(axis=0)) for p in parts]
    return np.min([low for low, _ in corners], axis=0), np.max([h for _, h in corners], axis=0)
