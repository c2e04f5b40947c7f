"""Mesh primitives beyond boxes: rounded boxes, prisms, tubes, rings, sheets, lofts, panels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from navloom_worlds.geometry.arrays import F64, I32
from navloom_worlds.geometry.solids import Part, Point, Surface, as_f32, box, cylinder, lathe, quad


def slab(
    w: float, d: float, low: float, high: float, look: Surface, *, x: float = 0, z: float = 0
) -> Part:
    """Build a box between two heights, centred over (x, z)."""
    return box((x - w / 2, low, z - d / 2), (x + w / 2, high, z + d / 2), look)


def rounded_box(low: Point, high: Point, radius: float, look: Surface, *, steps: int = 2) -> Part:
    """Build a box with rounded edges: cushions, mattresses, worn corners.

    Args:
        low: (x, y, z) of the minimum corner.
        high: of the maximum corner.
        radius: of the edges in metres; at most half of the shortest side.
        look: its surface.
        steps: flat strips per quarter circle.
    """
    start, end = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    r = min(radius, float((end - start).min()) / 2)
    inner = (end - start) / 2 - r
    quarter = np.linspace(0, np.pi / 2, steps + 1)
    # Angles at the axes occur twice, so that the sides between two quarters are flat.
    azimuth = np.concatenate([quarter + k * np.pi / 2 for k in range(4)])
    sign_x = np.repeat([1, -1, -1, 1], steps + 1)
    sign_z = np.repeat([1, 1, -1, -1], steps + 1)
    height = np.concatenate([quarter - np.pi / 2, quarter])
    sign_y = np.repeat([-1, 1], steps + 1)
    level = np.cos(height)[:, None]
    x = sign_x * inner[0] + r * level * np.cos(azimuth)
    z = sign_z * inner[2] + r * level * np.sin(azimuth)
    y = np.broadcast_to((sign_y * inner[1] + r * np.sin(height))[:, None], x.shape)
    points = np.stack([x, y, z], axis=2).reshape(-1, 3) + (start + end) / 2
    rows, around = len(height), len(azimuth)
    faces = _woven(rows, around, closed=True)
    last = (rows - 1) * around
    corners = np.arange(4) * (steps + 1)
    caps = [[*corners[[0, 1, 2]]], [*corners[[0, 2, 3]]]]
    tops = [[last + c for c in reversed(cap)] for cap in caps]
    whole = np.concatenate([faces, np.array(caps + tops, dtype=np.int32)])
    return Part(as_f32(points), whole, look, smooth=True)


def _woven(rows: int, around: int, *, closed: bool) -> I32:
    """Return triangles between the rows of a vertex grid; ``closed`` joins each row's ends."""
    step = np.arange(around if closed else around - 1)
    a = (np.arange(rows - 1)[:, None] * around + step).ravel()
    b = (np.arange(rows - 1)[:, None] * around + (step + 1) % around).ravel()
    faces = np.stack([a, a + around, b + around, a, b + around, b], axis=1)
    return faces.reshape(-1, 3).astype(np.int32)


def prism(
    outline: Sequence[tuple[float, float]],
    low: float,
    high: float,
    look: Surface,
    *,
    axis: str = "x",
    smooth: bool = False,
) -> Part:
    """Build an outline extruded along an axis: arms, runners, a car's side.

    Args:
        outline: its corners: (z, y) for axis ``x``, (x, z) for ``y``, (x, y) for ``z``. It must be
            star-shaped about the mean of its corners.
        low: where it begins along the axis.
        high: where it ends.
        look: its surface.
        axis: ``x``, ``y`` or ``z``.
        smooth: whether its wall is shaded smoothly.
    """
    flat = np.array(outline, dtype=np.float64)
    n = len(flat)

    def at(height: float, points: F64) -> F64:
        along = np.full(len(points), height)
        a, b = points.T
        columns = {"x": (along, b, a), "y": (a, along, b), "z": (a, b, along)}[axis]
        return np.stack(columns, axis=1)

    middle = flat.mean(axis=0)[None]
    if smooth:
        wall_points = np.concatenate([at(low, flat), at(high, flat)])
        wall = _woven(2, n, closed=True)
    else:
        pairs = flat[np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)].reshape(-1, 2)
        wall_points = np.concatenate([at(low, pairs), at(high, pairs)])
        a = np.arange(n) * 2
        wall = np.stack([a, a + 1, a + 1 + 2 * n, a, a + 1 + 2 * n, a + 2 * n], axis=1)
        wall = wall.reshape(-1, 3)
    points, faces = [wall_points], [wall]
    for height in (low, high):
        first = sum(map(len, points))
        points.append(at(height, np.concatenate([flat, middle])))
        ring = np.arange(n)
        faces.append(first + np.stack([ring, (ring + 1) % n, np.full(n, n)], axis=1))
    return Part(
        as_f32(np.concatenate(points)), np.concatenate(faces).astype(np.int32), look, smooth=smooth
    )


def tube(
    points: ArrayLike, thick: ArrayLike, look: Surface, *, sides: int = 6, closed: bool = False
) -> Part:
    """Build a round bar along points: bent legs, taps, handlebars, rims.

    Args:
        points: (n, 3), at least two, no two equal in a row; if the last equals the first, they
            join.
        thick: its diameter, or one at each point.
        look: its surface.
        sides: flat strips around it.
        closed: whether its end joins its beginning.
    """
    path = np.array(points, dtype=np.float64)
    if closed:
        along = np.roll(path, -1, axis=0) - np.roll(path, 1, axis=0)
    else:
        along = np.gradient(path, axis=0)
        if np.allclose(path[0], path[-1]):
            along[0] = along[-1] = path[1] - path[-2]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    # One helper axis for the whole tube, the least aligned one, keeps it from twisting.
    helper = np.eye(3)[np.abs(along).sum(axis=0).argmin()]
    side = np.cross(along, helper)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    other = np.cross(side, along)
    turn = np.linspace(0, 2 * np.pi, sides, endpoint=False)[None, :, None]
    radius = np.broadcast_to(np.asarray(thick, dtype=np.float64) / 2, len(path))
    rings = path[:, None] + radius[:, None, None] * (
        np.cos(turn) * side[:, None] + np.sin(turn) * other[:, None]
    )
    grid = np.concatenate([rings, rings[:1]]) if closed else rings
    n = len(grid)
    faces: list[I32] = [_woven(n, sides, closed=True)]
    vertices = grid.reshape(-1, 3)
    if not closed:
        fan = np.arange(1, sides - 1)
        caps = np.stack([np.zeros_like(fan), fan, fan + 1], axis=1)
        ends = np.concatenate([rings[0], rings[-1]])
        flat = np.concatenate([caps, sides + caps[:, ::-1]]) + len(vertices)
        faces.append(flat.astype(np.int32))
        vertices = np.concatenate([vertices, ends])
    return Part(as_f32(vertices), np.concatenate(faces).astype(np.int32), look, smooth=True)


def ring(
    middle: Point,
    radius: float,
    thick: float,
    look: Surface,
    *,
    axis: str = "x",
    around: int = 20,
    sides: int = 6,
) -> Part:
    """Build a hoop about an axis: tyres, rims, door seals."""
    turn = np.linspace(0, 2 * np.pi, around, endpoint=False)
    a, b, none = radius * np.cos(turn), radius * np.sin(turn), np.zeros(around)
    columns = {"x": (none, a, b), "y": (a, none, b), "z": (a, b, none)}[axis]
    return tube(np.stack(columns, axis=1) + middle, thick, look, sides=sides, closed=True)


def wheel(
    middle: Point, radius: float, wide: float, look: Surface, *, axis: str = "x", sides: int = 16
) -> Part:
    """Build a closed disc about an axis: castors, weights, knobs, hobs, round doors."""
    x, y, z = middle
    disc = cylinder(radius, -wide / 2, wide / 2, look, sides=sides)
    if axis == "x":
        disc = disc.tilted(np.pi / 2, "z")
    elif axis == "z":
        disc = disc.tilted(-np.pi / 2)
    return disc.moved(x, y, z)


def ball(
    middle: Point, radii: float | Point, look: Surface, *, sides: int = 12, rings: int = 0
) -> Part:
    """Build an ellipsoid with one radius or three; ``rings`` is its number of strips in height."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, (rings or sides // 2) + 1)
    profile = [(float(np.cos(t)), float(np.sin(t))) for t in turn]
    x, y, z = (radii, radii, radii) if isinstance(radii, int | float) else radii
    return lathe(profile, look, sides=sides).scaled(x, y, z).moved(*middle)


def sheet(grid: ArrayLike, look: Surface, *, smooth: bool = True, closed: bool = False) -> Part:
    """Build a surface through a grid of points: cloth, a duvet, a curtain, a shoe's skin.

    Args:
        grid: (rows, columns, 3).
        look: its surface, visible from both sides.
        smooth: whether it is shaded smoothly.
        closed: whether each row joins its own beginning.
    """
    points = np.array(grid, dtype=np.float64)
    rows, columns, _ = points.shape
    faces = _woven(rows, columns, closed=closed)
    return Part(as_f32(points.reshape(-1, 3)), faces, look, smooth=smooth)


Oval = list[tuple[float, float]]


def oval(a: float, b: float, power: float, steps: int) -> Oval:
    """Return a superellipse around 0: an ellipse at power 1, squarer below."""
    turn = 2 * np.pi * np.arange(steps) / steps
    c, s = np.cos(turn), np.sin(turn)
    x, z = (np.copysign(np.abs(each) ** power, each) for each in (c, s))
    return list(zip((x * a).tolist(), (z * b).tolist(), strict=True))


def egg(w: float, near: float, far: float) -> Oval:
    """Return an egg-shaped outline (x, z) of a seat: round at the front, blunter behind."""
    mid = near + (far - near) * 0.55
    return [(x, mid + z * (far - mid if z > 0 else mid - near)) for x, z in oval(w / 2, 1, 1, 20)]


def loft(low: Oval, y0: float, high: Oval, y1: float, look: Surface) -> Part:
    """Build a wall between two outlines at two heights."""
    grid = [[(x, y, z) for x, z in [*oval, oval[0]]] for oval, y in ((low, y0), (high, y1))]
    return sheet(grid, look)


def ring_plate(outer: Oval, inner: Oval, y: float, look: Surface) -> Part:
    """Build a flat rim between two outlines with equally many corners, at one height."""
    grid = [[(x, y, z) for x, z in [*oval, oval[0]]] for oval in (outer, inner)]
    return sheet(grid, look, smooth=False)


def arc(
    mid: Point, radii: tuple[float, float], start: float, end: float, axes: str = "xy", n: int = 8
) -> list[tuple[float, float, float]]:
    """Return points on an arc; angles in radians from the first axis towards the second."""
    points = []
    for a in np.linspace(start, end, n + 1):
        point = [float(each) for each in mid]
        point["xyz".index(axes[0])] += radii[0] * math.cos(a)
        point["xyz".index(axes[1])] += radii[1] * math.sin(a)
        points.append((point[0], point[1], point[2]))
    return points


def relief(w: float, d: float, heights: ArrayLike, surface: Surface) -> Part:
    """Build a sheet on 0 with a height field as upper side: folded, crumpled or heaped cloth.

    Args:
        w: its width.
        d: its depth.
        heights: (n, m) heights over a grid of its width and depth.
        surface: its surface.
    """
    top = np.asarray(heights, dtype=np.float64)
    n, m = top.shape
    level = np.zeros((n + 2, m + 2))
    level[1:-1, 1:-1] = top
    xs = np.concatenate([[-w / 2], np.linspace(-w / 2, w / 2, n), [w / 2]])
    zs = np.concatenate([[-d / 2], np.linspace(-d / 2, d / 2, m), [d / 2]])
    x, z = np.meshgrid(xs, zs, indexing="ij")
    return sheet(np.stack([x, level, z], axis=2), surface)


def front_panel(
    w: float, low: float, high: float, z: float, surface: Surface, *, x: float = 0.0
) -> Part:
    """Build a flat upright panel that faces -z and shows its whole image."""
    a, b = x + w / 2, x - w / 2
    return quad([(a, low, z), (b, low, z), (b, high, z), (a, high, z)], surface, whole=True)


def top_panel(
    w: float, d: float, y: float, surface: Surface, *, x: float = 0.0, z: float = 0.0
) -> Part:
    """Build a flat panel that faces up, its image upright as seen from the front (-z)."""
    a, b, near, far = x + w / 2, x - w / 2, z - d / 2, z + d / 2
    return quad([(a, y, near), (b, y, near), (b, y, far), (a, y, far)], surface, whole=True)
