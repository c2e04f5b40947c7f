"""Renderer of a mesh: the first hit of each pixel's ray, and its colour.

Colour, depth and ids of one camera share one cast of rays, and each is computed when first read.
Only pixels at edges get more than one ray.

Baked light is cached on disk by its inputs: one npz file per mesh.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import IO, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from navloom.disk_cache import LIGHT, content_key
from navloom.errors import SimulatorError, did_you_mean
from navloom_worlds.geometry.arrays import F32, I32, I64, U8
from navloom_worlds.geometry.mesh import SceneMesh
from navloom_worlds.geometry.ray_casting import RayHits
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.facets import Facets, build_facets
from navloom_worlds.rendering.light_baking import DARK, LightMap, bake_light
from navloom_worlds.rendering.shading import FaceTable, face_table, shade_hits

FORMAT = 8
"""Version of the light computation, incremented when it changes."""


def light_cache_key(facets: Facets) -> str:
    """Return the cache key of a mesh's light: a hash of all its inputs."""
    mesh = facets.mesh
    parts = (mesh.vertices, mesh.faces, mesh.owners, mesh.smooth, facets.albedo, facets.glow)
    return content_key(f"navloom light {FORMAT}", *parts)


def cached_light(facets: Facets, make: Callable[[], LightMap]) -> LightMap:
    """Return the light of a mesh from the disk cache, or compute and store it.

    Args:
        facets: the mesh.
        make: computes the light.
    """
    faces = len(facets.area)
    return LIGHT.kept(
        f"{light_cache_key(facets)}.npz", make, _save, lambda file: _load(file, faces)
    )


def _load(file: IO[bytes], faces: int) -> LightMap:
    with np.load(file, allow_pickle=False) as parts:
        light = LightMap(parts["texels"], int(parts["wide"]), parts["place"])
    sound = (
        light.texels.dtype == np.uint16
        and light.texels.ndim == 2
        and light.texels.shape[1] == 3
        and light.place.dtype == np.float32
        and light.place.shape == (faces, 6)
        and light.wide > 0
        and len(light.texels) % light.wide == 0
    )
    if not sound:
        raise ValueError("not what was written")
    return light


def _save(file: IO[bytes], light: LightMap) -> None:
    np.savez(file, texels=light.texels, wide=np.int64(light.wide), place=light.place)


_STEP = np.float32(1.08)
"""Ratio of distances above which neighbouring pixels have an edge between them."""


def edge_codes(facets: Facets) -> I32:
    """Return a code for each face, (m,): owner, surface and direction; equal codes have no edge."""
    mesh = facets.mesh
    way = np.rint(facets.normal * 3).astype(np.int64) + 3
    code = mesh.owners.astype(np.int64) * 65_537 + mesh.surface
    code = ((code * 7 + way[:, 0]) * 7 + way[:, 1]) * 7 + way[:, 2]
    numbers: I32 = np.unique(code, return_inverse=True)[1].astype(np.int32)
    return numbers


def edge_pixels(camera: Camera, hits: RayHits, codes: I32) -> I64:
    """Return the pixels on both sides of edges, as sorted rows of ``hits``."""
    shape = (camera.height, camera.width)
    code = codes.take(hits.face, mode="clip")
    code[hits.face < 0] = -1
    code = code.reshape(shape)
    far = hits.distance.reshape(shape)
    found = np.zeros(shape, dtype=np.bool_)
    for one, other in (
        ((slice(1, None), slice(None)), (slice(None, -1), slice(None))),
        ((slice(None), slice(1, None)), (slice(None), slice(None, -1))),
    ):
        apart = code[one] != code[other]
        apart |= far[one] > far[other] * _STEP
        apart |= far[other] > far[one] * _STEP
        found[one] |= apart
        found[other] |= apart
    return np.flatnonzero(found)


Lighting = Literal["baked", "flat"]
LIGHTINGS: tuple[Lighting, ...] = get_args(Lighting)
_MIRROR = 0.92
"""Gloss from which a surface is a mirror."""
_FRAMES = 8
"""Number of cached frames, so that images of one pose share their rays."""
_last: list[weakref.ref[Renderer]] = []
"""The last active renderer: only it caches frames, which take as much memory as a home."""


def parse_lighting(name: str) -> Lighting:
    """Return the lighting mode of this name.

    Raises:
        SimulatorError: the name is unknown.
    """
    for light in LIGHTINGS:
        if name == light:
            return light
    raise SimulatorError(
        f"There is no light '{name}': expected {' or '.join(LIGHTINGS)}."
        f"{did_you_mean(name, LIGHTINGS)}"
    )


class Renderer:
    """Renderer of one mesh.

    Args:
        mesh: the mesh.
        light: ``baked`` is computed with rays for the first image and cached on disk;
            ``flat`` is daylight from all around, and takes no time.

    Raises:
        SimulatorError: embreex is not installed, the mesh is empty, or the light is unknown.
    """

    def __init__(self, mesh: SceneMesh, *, light: Lighting = "baked") -> None:
        if find_spec("embreex") is None:
            raise SimulatorError(
                "Pictures need embreex, which is not installed: 'pip install embreex' (it has "
                "wheels for Linux on x86-64, macOS and Windows); elsewhere use --backend graph or "
                "panorama."
            )
        self.mesh = mesh
        self.caster = mesh.caster
        self.lighting = parse_lighting(light)
        self._recent: OrderedDict[Camera, CameraFrame] = OrderedDict()

    @cached_property
    def facets(self) -> Facets:
        """Shading data of the faces."""
        return build_facets(self.mesh)

    @cached_property
    def light(self) -> LightMap | None:
        """Light map of the mesh; None for flat light, dark for photographed textures."""
        if self.mesh.photographed:
            return DARK
        if self.lighting == "flat":
            return None
        return cached_light(self.facets, lambda: bake_light(self.facets))

    @property
    def owners(self) -> I32:
        """Owner of each face, (m,)."""
        return self.mesh.owners

    @cached_property
    def edge_codes(self) -> I32:
        """Edge code of each face, (m,); see :func:`edge_codes`."""
        return edge_codes(self.facets)

    @cached_property
    def _table(self) -> FaceTable:
        return face_table(self.facets, self.light)

    def frame(self, camera: Camera) -> CameraFrame:
        """Return the frame of a camera; an image is rendered only when it is read."""
        return self.frames([camera])[0]

    def frames(self, cameras: Sequence[Camera]) -> list[CameraFrame]:
        """Return the frames of several cameras.

        Args:
            cameras: in any order; frames of recent cameras are reused.
        """
        for each in _last:
            other = each()
            if other is not None and other is not self:
                other.forget()
        _last[:] = [weakref.ref(self)]
        found: list[CameraFrame] = []
        recent = self._recent
        for camera in cameras:
            known = recent.pop(camera, None) or CameraFrame(self, camera)
            recent[camera] = known
            found.append(known)
        while len(recent) > _FRAMES:
            recent.popitem(last=False)
        return found

    def forget(self) -> None:
        """Drop the cached frames."""
        # Another thread may be using the old ones.
        self._recent = OrderedDict()

    def shade(self, hits: RayHits, starts: F32, ways: F32, pixel: float, soft: bool = True) -> U8:
        """Return the colours of ray hits, (n, 3) sRGB, with reflections in mirrors.

        Args:
            hits: the hits.
            starts: (n, 3) or (3,) origins of the rays.
            ways: (n, 3) directions of the rays.
            pixel: width of a pixel at a distance of 1.
            soft: interpolate textures between texels.
        """
        pixels = shade_hits(self.facets, self._table, self.light, hits, ways, pixel, soft)
        if self._has_mirrors:
            self._mirror(pixels, hits, starts, ways, pixel)
        return pixels

    @cached_property
    def _has_mirrors(self) -> bool:
        return bool((self.facets.gloss >= _MIRROR).any())

    def _mirror(self, pixels: U8, hits: RayHits, starts: F32, ways: F32, pixel: float) -> None:
        """Draw reflections into mirrors; a mirror in a mirror is grey."""
        at = np.flatnonzero((hits.face >= 0) & (self.facets.gloss[hits.face] >= _MIRROR))
        if not len(at):
            return
        way = ways[at]
        normal = self.facets.normal[hits.face[at]]
        turned = way - 2 * (way * normal).sum(axis=1, keepdims=True) * normal
        start = (starts if starts.ndim == 1 else starts[at]) + way * hits.distance[at][:, None]
        # The mip level depends on the whole length of the path, to the mirror and beyond.
        start = start + turned * np.float32(1e-3)
        second = self.caster.cast_picture(start, turned, len(turned))
        whole = RayHits(second.distance + hits.distance[at], second.face, second.u, second.v)
        seen = shade_hits(self.facets, self._table, self.light, whole, turned, pixel)
        pixels[at] = (seen.astype(np.uint16) * 7 + pixels[at]) // 8


class ImageCaster(Protocol):
    """Protocol of an object that casts an image's rays."""

    def cast_picture(self, origins: F32, directions: F32, wide: int) -> RayHits:
        """Cast rays as :meth:`navloom_worlds.geometry.ray_casting.RayCaster.cast_picture` does."""
        ...


class Renderable(Protocol):
    """Protocol of a mesh that can be rendered, with or without bodies in the scene."""

    @property
    def caster(self) -> ImageCaster:
        """Ray caster of the mesh."""
        ...

    @property
    def owners(self) -> I32:
        """Owner id of each of the mesh's m faces (:mod:`navloom_worlds.geometry.semantic_ids`)."""
        ...

    @property
    def edge_codes(self) -> I32:
        """Edge code of each face, (m,); see :func:`edge_codes`."""
        ...

    def shade(self, hits: RayHits, starts: F32, ways: F32, pixel: float, soft: bool = True) -> U8:
        """Return the colours of ray hits, as :meth:`Renderer.shade`."""
        ...


class CameraFrame:
    """Frame of one camera, each kind of image rendered when it is first read.

    Args:
        renderer: renderer of the mesh.
        camera: the camera.
    """

    def __init__(self, renderer: Renderable, camera: Camera) -> None:
        self.renderer = renderer
        self.camera = camera
        self._hits: RayHits | None = None

    def read(self, sensor: str) -> NDArray[Any]:
        """Return one kind of image.

        Args:
            sensor: ``rgb``, ``depth`` or ``ids``.
        """
        if sensor == "rgb":
            return self.rgb
        return self.depth if sensor == "depth" else self.ids

    @property
    def hits(self) -> RayHits:
        """Hit of each pixel's ray, row by row."""
        return self._met(*self.camera.rays()) if self._hits is None else self._hits

    @cached_property
    def depth(self) -> F32:
        """Planar depth in metres, (height, width); 0 where nothing was hit."""
        metres = np.where(self.hits.face >= 0, self.hits.distance, np.float32(0))
        return metres.reshape(self.camera.height, self.camera.width)

    @cached_property
    def ids(self) -> I32:
        """Owner of each pixel, (height, width); see :mod:`navloom_worlds.geometry.semantic_ids`."""
        found = self.renderer.owners.take(self.hits.face, mode="clip")
        found[self.hits.face < 0] = 0
        return found.reshape(self.camera.height, self.camera.width)

    @cached_property
    def rgb(self) -> U8:
        """Colour image, (height, width, 3) sRGB."""
        camera, renderer = self.camera, self.renderer
        starts, ways = camera.rays()
        hits = self._met(starts, ways)
        pixels = renderer.shade(hits, starts, ways, camera.pixel(), camera.samples > 1)
        if camera.samples > 1:
            self._soften(pixels)
        return pixels.reshape(camera.height, camera.width, 3)

    def _met(self, starts: F32, ways: F32) -> RayHits:
        """Return the hits of the camera's rays, cast once."""
        if self._hits is None:
            self._hits = self.renderer.caster.cast_picture(starts, ways, self.camera.width)
        return self._hits

    def _soften(self, pixels: U8) -> None:
        """Redraw the pixels at edges, each as the mean of several rays."""
        camera, renderer = self.camera, self.renderer
        at = edge_pixels(camera, self.hits, renderer.edge_codes)
        if not len(at):
            return
        total = np.zeros((len(at), 3), dtype=np.uint16)
        count = camera.samples**2
        for ray in range(count):
            # A rotated grid: no two rays share a row or column, so that level edges are soft too.
            row, column = divmod(ray, camera.samples)
            across = (column + (row + 0.5) / camera.samples) / camera.samples - 0.5
            down = (row + (camera.samples - column - 0.5) / camera.samples) / camera.samples - 0.5
            starts, ways = camera.rays((across, down), at)
            hits = renderer.caster.cast_picture(starts, ways, len(ways))
            total += renderer.shade(hits, starts, ways, camera.pixel() / camera.samples)
        pixels[at] = (total + count // 2) // count
