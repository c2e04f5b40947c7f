"""Bodies of agents in the images of a scene, without rebuilding the scene's mesh.

Rays are cast at the scene and at the few triangles of the bodies, and the nearer hit is drawn, so
that bodies may have another position in every image. They cast a soft shadow on the floor around
them; mirrors show the scene without bodies. A scene may be cut open at a height, to look into it
from above.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from navloom.scenes.bodies import Embodiment, FloorPose, footprint_of
from navloom.scenes.scene import Point3
from navloom_worlds.geometry.arrays import F32, I32, U8, Bools
from navloom_worlds.geometry.embodiment_meshes import body_parts
from navloom_worlds.geometry.mesh import SceneMesh, merge_parts
from navloom_worlds.geometry.ray_casting import RayHits
from navloom_worlds.geometry.semantic_ids import GROUND, NOTHING, agent_owner
from navloom_worlds.geometry.solids import RGB, Part, Surface, cylinder, lathe, rotate_yaw
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import CameraFrame, Renderer

Bodies = Mapping[int, tuple[Embodiment, FloorPose]]
"""Bodies and their poses by agent number; their owner is ``agent_owner(number)``."""
COLOURS: tuple[RGB | None, ...] = (
    None,
    (0.75, 0.15, 0.45),
    (0.2, 0.6, 0.2),
    (0.5, 0.25, 0.7),
    (0.1, 0.6, 0.65),
)
"""Colours of the first body of a kind, the second, and so on; None is the kind's own colour."""
_CUT = (52, 56, 66)
_MARK = Surface((1.0, 0.12, 0.1), glow=1.0)
_MARK_M, _PIN_M = 0.06, 1.35
_SHADOW_M = 0.12
_DARKEST = 0.5


def add_bodies(
    renderer: Renderer, bodies: Bodies, *, marks: Sequence[Point3] = (), cut: float | None = None
) -> Renderer | BodiesRenderer:
    """Return the renderer of a scene with bodies in it.

    Args:
        renderer: of the scene.
        bodies: bodies and poses; without bodies, marks and cut the renderer itself is returned.
        marks: positions of red pins, which mark collisions.
        cut: y in metres above which the scene, but no body, is invisible from above.
    """
    if not bodies and not marks and cut is None:
        return renderer
    return BodiesRenderer(renderer, bodies, marks, cut)


def visible_bodies(camera: Camera, bodies: Bodies) -> dict[int, tuple[Embodiment, FloorPose]]:
    """Return the bodies that a camera is not inside of; robots may share a viewpoint."""
    return {n: each for n, each in bodies.items() if not _holds(*each, camera.position)}


def _holds(body: Embodiment, stand: FloorPose, point: Point3) -> bool:
    x, y, z = (there - here for there, here in zip(point, stand.position, strict=True))
    return -0.01 <= y <= body.height + 0.01 and float(_off(body, stand, x, z)) <= 0


def _off(body: Embodiment, at: FloorPose, x: F32 | float, z: F32 | float) -> NDArray[np.floating]:
    """Return metres from a body's outline to points relative to its centre; 0 or less inside."""
    shape = footprint_of(body)
    if shape.round:
        return np.asarray(np.hypot(x, z) - shape.ahead)
    ux, uz = math.sin(at.heading), -math.cos(at.heading)
    along = np.abs(x * ux + z * uz) - shape.ahead
    across = np.abs(z * ux - x * uz) - shape.aside
    beyond = np.hypot(np.maximum(along, 0), np.maximum(across, 0))
    return np.asarray(beyond + np.minimum(np.maximum(along, across), 0))


class BodiesRenderer:
    """Renderer of a scene with bodies in it, like :class:`Renderer`, for one moment.

    Args:
        renderer: of the scene.
        bodies: bodies and their poses.
        marks: see :func:`add_bodies`.
        cut: see :func:`add_bodies`.
    """

    def __init__(
        self, renderer: Renderer, bodies: Bodies, marks: Sequence[Point3], cut: float | None
    ) -> None:
        self._scene, self._stands, self._cut = renderer, tuple(bodies.values()), cut
        self._first = len(renderer.mesh.faces)
        mesh = _standing(bodies, marks)
        self._bodies = Renderer(mesh, light="flat") if len(mesh.faces) else None

    @property
    def caster(self) -> BodiesRenderer:
        """Ray caster: itself."""
        return self

    @cached_property
    def owners(self) -> I32:
        """Owner of each face, (m,)."""
        if self._bodies is None:
            return self._scene.owners
        return np.concatenate([self._scene.owners, self._bodies.owners])

    @cached_property
    def edge_codes(self) -> I32:
        """Edge codes, (m,), as :attr:`Renderer.edge_codes`."""
        codes = self._scene.edge_codes
        if self._bodies is None:
            return codes
        return np.concatenate([codes, self._bodies.edge_codes + codes.max() + 1])

    def frame(self, camera: Camera) -> CameraFrame:
        """Return the frame of a camera; an image is rendered only when it is read."""
        return CameraFrame(self, camera)

    def cast_picture(self, origins: F32, directions: F32, wide: int) -> RayHits:
        """Return the first hits of an image's rays, in the scene or on a body."""
        starts, gone = self._opened(origins, directions)
        hits = self._scene.caster.cast_picture(starts, directions, wide)
        if gone is not None:
            hits = replace(hits, distance=hits.distance + gone)
        if self._bodies is None:
            return hits
        return self._nearer(hits, self._bodies.caster.cast_picture(origins, directions, wide))

    def cast(self, origins: F32, directions: F32) -> RayHits:
        """Return the first hits of rays, in the scene or on a body; the cut is ignored."""
        hits = self._scene.caster.cast(origins, directions)
        if self._bodies is None:
            return hits
        return self._nearer(hits, self._bodies.caster.cast(origins, directions))

    def _opened(self, origins: F32, ways: F32) -> tuple[F32, F32 | None]:
        """Return the origins of rays into the cut scene, and the distance covered up to there."""
        if self._cut is None:
            return origins, None
        high = np.broadcast_to(origins, ways.shape)[:, 1] - np.float32(self._cut)
        fall = np.minimum(ways[:, 1], np.float32(-1e-6))
        gone = np.where((high > 0) & (ways[:, 1] < 0), high / -fall, np.float32(0))
        return (origins + ways * gone[:, None]).astype(np.float32), gone.astype(np.float32)

    def _nearer(self, scene: RayHits, body: RayHits) -> RayHits:
        is_body = body.distance < scene.distance
        return RayHits(
            np.where(is_body, body.distance, scene.distance),
            np.where(is_body, body.face + np.int32(self._first), scene.face),
            np.where(is_body, body.u, scene.u),
            np.where(is_body, body.v, scene.v),
        )

    def shade(self, hit: RayHits, starts: F32, ways: F32, pixel: float, soft: bool = True) -> U8:
        """Return the colours of ray hits, as :meth:`Renderer.shade`."""
        is_body = hit.face >= self._first
        rest = replace(hit, face=np.where(is_body, np.int32(-1), hit.face))
        pixels = self._scene.shade(rest, starts, ways, pixel, soft)
        self._darken(pixels, rest, starts, ways)
        if self._cut is not None:
            pixels[self._is_cut(rest, starts, ways)] = _CUT
        at = np.flatnonzero(is_body)
        if len(at) and self._bodies is not None:
            face = hit.face[at] - np.int32(self._first)
            own = RayHits(hit.distance[at], face, hit.u[at], hit.v[at])
            begun = starts if starts.ndim == 1 else starts[at]
            pixels[at] = self._bodies.shade(own, begun, ways[at], pixel, soft)
        return pixels

    def _is_cut(self, hits: RayHits, starts: F32, ways: F32) -> Bools:
        """Return which rays began inside a solid, where the scene was cut."""
        owners = self._scene.owners.take(hits.face, mode="clip")
        owners[hits.face < 0] = NOTHING
        found = self._is_within(hits.face, ways) & (owners < 0)
        # Walls have no underside: a ray inside one may hit the ground.
        at = np.flatnonzero(owners == GROUND)
        begun, _ = self._opened(starts if starts.ndim == 1 else starts[at], ways[at])
        if len(at) and begun.ndim > 1:
            level = np.broadcast_to(np.array([1, 0, 0.01], dtype=np.float32), begun.shape)
            found[at] = self._is_within(self._scene.caster.cast(begun, level).face, level)
        return found

    def _is_within(self, face: I32, ways: F32) -> Bools:
        """Return which rays hit a face from behind."""
        normal = self._scene.facets.normal.take(face, axis=0, mode="clip")
        return np.asarray(((normal * ways).sum(axis=1) > 0) & (face >= 0))

    def _darken(self, pixels: U8, hits: RayHits, eyes: F32, rays: F32) -> None:
        """Draw a soft shadow on the floor under and around each body."""
        seen = np.flatnonzero(hits.face >= 0)
        begun = eyes if eyes.ndim == 1 else eyes[seen]
        points = begun + rays[seen] * hits.distance[seen][:, None]
        for body, stand in self._stands:
            x, y, z = stand.position
            near = np.flatnonzero(np.abs(points[:, 1] - np.float32(y)) < 0.05)
            off = _off(body, stand, points[near, 0] - x, points[near, 2] - z)
            part = 1 - _DARKEST * np.exp(-np.square(np.maximum(off, 0) / _SHADOW_M))
            at = seen[near]
            pixels[at] = (pixels[at] * part[:, None]).astype(np.uint8)


def _standing(bodies: Bodies, marks: Sequence[Point3]) -> SceneMesh:
    """Return the mesh of bodies at their poses, and of marks."""
    parts: list[tuple[int, Part]] = []
    kinds: list[str] = []
    for number, (body, stand) in bodies.items():
        kinds.append(body.name)
        colour = COLOURS[(kinds.count(body.name) - 1) % len(COLOURS)]
        x, y, z = stand.position
        for part in _built(body, colour):
            moved = rotate_yaw(part.vertices, stand.heading) + np.array([x, y, z], dtype=np.float32)
            parts.append((agent_owner(number), replace(part, vertices=moved)))
    for place in marks:
        parts += [(NOTHING, part.moved(*place)) for part in _pin()]
    return merge_parts(parts)


@lru_cache(maxsize=64)
def _built(body: Embodiment, colour: RGB | None) -> tuple[Part, ...]:
    return body_parts(body, colour)


@lru_cache(maxsize=1)
def _pin() -> tuple[Part, ...]:
    angles = np.linspace(-math.pi / 2, math.pi / 2, 7)
    ball = [(_MARK_M * max(math.cos(a), 0.0), _MARK_M * math.sin(a)) for a in angles]
    ball[0], ball[-1] = (0.0, -_MARK_M), (0.0, _MARK_M)
    head = lathe(ball, _MARK, sides=12).moved(0, _PIN_M, 0)
    return cylinder(0.012, 0.0, _PIN_M, _MARK, sides=6), head
