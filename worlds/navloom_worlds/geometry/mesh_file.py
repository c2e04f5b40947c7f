"""Reader of mesh files: any ``.glb``, ``.gltf`` or ``.obj`` as named nodes made of parts.

glTF is in metres and y up, and so is an ``.obj`` assumed to be. Transforms of nodes are applied.
Surfaces have base colours, textures and vertex colours (one colour per face, at most 256). glTF's
linear factors are converted to sRGB. Transparency, normal maps and animation are ignored.
Every error in a file is reported in one line.

Files that a mesh file names are read only from the mesh's own folder.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray
from PIL import Image

from navloom.errors import SceneError
from navloom.scenes.formats.scene_json import load_file
from navloom.scenes.safe_files import MESH_ENDINGS, read_bytes, repr_of
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry.arrays import F32, F64, I64
from navloom_worlds.geometry.mesh_validation import (
    MOST_BYTES,
    check_extent,
    check_gltf,
    load_texture,
    one_line_errors,
    resolve_sidecar,
)
from navloom_worlds.geometry.solids import (
    RGB,
    Part,
    Surface,
    TextureImage,
    linear_to_srgb,
    parts_bounds,
    srgb_to_linear,
)


class SidecarResolver(trimesh.resolvers.Resolver):
    """trimesh resolver that reads the files that a mesh names, only from its own folder.

    Attributes:
        refused: reason why the first refused file was refused; "" if none was.
        missing: names of files that do not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file_name = path.name
        self.refused = ""
        self.missing: list[str] = []
        self._left = MOST_BYTES

    def get(self, key: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            SceneError: it may not be read, does not exist or is too large.
        """
        try:
            found = resolve_sidecar(self.path, key)
            raw = read_bytes(found, most=self._left)
        except SceneError as error:
            # trimesh ignores files that it cannot read, so the refusal is stored.
            if "no such file" in str(error):
                self.missing.append(key)
                gone = f"{self.path}: names {repr_of(key)}, and there is no such file beside it."
                raise SceneError(gone) from error
            self.refused = self.refused or str(error)
            raise
        self._left -= len(raw)
        return raw

    def write(self, name: str, data: Any) -> None:
        """Raise NotImplementedError: the files beside a mesh are only read."""
        raise NotImplementedError

    def namespaced(self, namespace: str) -> SidecarResolver:
        """Raise NotImplementedError: subfolders cannot be used as namespaces."""
        raise NotImplementedError

    def keys(self) -> list[str]:
        """Return an empty list: files beside a mesh are read by name, never listed."""
        return []


_SHELL = "mesh"
"""Name that Navloom gives to unnamed geometry."""
MOST_FACES, _MOST_OF_ONE = 20_000_000, 50_000
"""Most triangles of a home, and of one item, as a home may have dozens of it."""
GENERATOR = "navloom"
"""Generator named in GLB files that Navloom wrote."""
_MOST_SIDE = 2_048
"""Longest side in pixels; larger textures are downscaled."""
_MOST_PIXELS = 100_000_000
_MOST_COLOURS = 256
_MOST_NAME = 200
_UNNAMED = re.compile(r"(geometry|mesh|node|object|primitive|gltf|world|root|default)?[\s._-]*\d*")


@dataclass(frozen=True, eq=False)
class MeshNode:
    """One named node of a mesh file with its parts.

    Attributes:
        name: its name in the file, unique there; "" for unnamed geometry.
        parts: its triangles in the scene's frame.
    """

    name: str
    parts: tuple[Part, ...]

    @property
    def box(self) -> tuple[F32, F32]:
        """Least and greatest corner."""
        return parts_bounds(self.parts)

    @property
    def middle(self) -> Point3:
        """Middle of the box, rounded to millimetres."""
        low, high = self.box
        x, y, z = (round(float(each), 3) for each in (low + high) / 2)
        return x, y, z


@dataclass(frozen=True, eq=False)
class MeshFile:
    """Content of a mesh file.

    Attributes:
        path: path of the file.
        nodes: its nodes, those with a name first.
        placed: position and yaw of each named node as an item: the middle of its box and 0, or the
            pose in the scene beside the file.
        beside: the scene beside it, if there is one.
        missing: files that it names but that do not exist.
    """

    path: Path
    nodes: tuple[MeshNode, ...]
    placed: dict[str, tuple[Point3, float]]
    beside: Scene | None = None
    missing: tuple[str, ...] = ()


def load_mesh_file(path: Path) -> MeshFile:
    """Read a mesh file; the last two are cached.

    Args:
        path: a .glb, .gltf or .obj.

    Raises:
        SceneError: it is missing, of another kind, broken, too large, empty, not in metres, or
            names files outside its folder.
    """
    if path.suffix.casefold() not in MESH_ENDINGS:
        raise SceneError(f"{path}: expected a mesh: a name that ends in {', '.join(MESH_ENDINGS)}.")
    changed = 0
    try:
        stat = path.stat()
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror}.") from error
    near = path.with_suffix(".json")
    with contextlib.suppress(OSError):
        changed = near.stat().st_mtime_ns
    return _kept(path.absolute(), path, (stat.st_mtime_ns, stat.st_size, changed))


@lru_cache(maxsize=2)
def _kept(_: Path, path: Path, _stamp: tuple[int, ...]) -> MeshFile:
    nodes, missing = _read(path, MOST_FACES)
    if len(nodes) == 1:
        # A single node is the home itself, not an item in it.
        nodes = (MeshNode("", nodes[0].parts),)
    low, high = parts_bounds([part for node in nodes for part in node.parts])
    check_extent(path, low.tolist(), high.tolist())
    near = path.with_suffix(".json")
    scene = load_file(near) if near.is_file() else None
    return MeshFile(path, nodes, _standing(nodes, scene), scene, missing)


@lru_cache(maxsize=32)
def model_parts(path: Path) -> tuple[Part, ...]:
    """Return the triangles of one item's model file, in the file's own unit, its front along -z.

    Args:
        path: a .glb, .gltf or .obj, whose front is +z, as in glTF.

    Raises:
        SceneError: it is broken, empty, too large, or names files outside its folder.
    """
    nodes, _ = _read(path, _MOST_OF_ONE)
    return tuple(part.turned(math.pi) for node in nodes for part in node.parts)


def _read(path: Path, most: int) -> tuple[tuple[MeshNode, ...], tuple[str, ...]]:
    """Return the nodes of a file with at most ``most`` triangles, and its missing files."""
    beside = SidecarResolver(path)
    loaded, named = _loaded(path, beside)
    if beside.refused:
        raise SceneError(beside.refused)
    looks = _Looks(path)
    grouped: dict[str, list[Part]] = {}
    faces = 0
    for name, geometry, transform in _placed(loaded, path, named):
        faces += len(geometry.faces)
        if faces > most:
            raise SceneError(
                f"{path}: expected at most {most:,} triangles. Make it coarser, or cut it."
            )
        grouped.setdefault(name, []).extend(_parts(path, name, geometry, transform, looks))
    nodes = tuple(
        MeshNode(name, tuple(parts))
        for name, parts in sorted(grouped.items(), key=lambda each: not each[0])
    )
    if not faces:
        raise SceneError(f"{path}: there is no triangle in it: expected a mesh with faces.")
    return nodes, tuple(beside.missing)


def _standing(nodes: tuple[MeshNode, ...], scene: Scene | None) -> dict[str, tuple[Point3, float]]:
    if scene is None:
        return {node.name: (node.middle, 0.0) for node in nodes if node.name}
    items = scene.item_by_id
    held = [items[node.name] for node in nodes if node.name in items]
    return {item.id: (item.position, item.yaw) for item in held}


def _loaded(path: Path, beside: SidecarResolver) -> tuple[trimesh.Scene, bool]:
    """Load a file, and tell whether Navloom wrote it, so that all node names are item names."""
    raw = read_bytes(path, most=MOST_BYTES)
    ending = path.suffix.casefold()[1:]
    more: dict[str, Any] = {}
    named = False
    if ending == "obj":
        split = "split_objects" if re.search(rb"^o\s", raw, re.MULTILINE) else "split_groups"
        more = {split: True, "process": False}
    else:
        said = check_gltf(path, raw).get("asset")
        named = isinstance(said, dict) and said.get("generator") == GENERATOR
    with one_line_errors(f"{path}: cannot be read as {ending}"), np.errstate(all="ignore"):
        scene = trimesh.load_scene(io.BytesIO(raw), file_type=ending, resolver=beside, **more)
    return scene, named


def _placed(scene: trimesh.Scene, path: Path, named: bool) -> Iterator[tuple[str, Any, F64]]:
    """Yield each geometry with triangles: its node name, the geometry, and its transform."""
    names = _object_names(path) if path.suffix.casefold() == ".obj" else []
    parents = scene.graph.transforms.parents
    for node in scene.graph.nodes_geometry:
        transform, geometry_name = scene.graph[node]
        geometry = scene.geometry[geometry_name]
        if not isinstance(geometry, trimesh.Trimesh) or not len(geometry.faces):
            continue
        name = str(node)
        above = str(parents.get(node, node))
        # trimesh makes child nodes of the primitives of one node.
        if geometry.metadata.get("from_gltf_primitive") or name.startswith(f"{above}."):
            name = above
        if names:
            held = [each for each in names if name == each or name.startswith(f"{each}_")]
            name = max(held, key=len, default="")
        elif path.suffix.casefold() == ".obj":
            name = ""
        unnamed = name == _SHELL if named else _UNNAMED.fullmatch(name.casefold())
        yield ("" if unnamed else name[:_MOST_NAME]), geometry, transform


def _object_names(path: Path) -> list[str]:
    """Return the names of an .obj's objects, or of its groups if it has no objects."""
    text = read_bytes(path, most=MOST_BYTES).decode("utf-8", "replace")
    for letter in "og":
        found = re.findall(rf"^{letter}[ \t]+(.+?)\s*$", text, re.MULTILINE)
        if found:
            return list(dict.fromkeys(found))
    return []


def _parts(path: Path, name: str, geometry: Any, transform: F64, looks: _Looks) -> Iterator[Part]:
    where = f"{path}: {name or 'a node without a name'}"
    points = np.asarray(geometry.vertices, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        found = ", ".join(f"{each:.3g}" for each in points[bad[0]])
        raise SceneError(f"{where}: vertex {bad[0]} is ({found}): expected numbers.")
    faces = np.asarray(geometry.faces, dtype=np.int64)
    if faces.min() < 0 or faces.max() >= len(points):
        raise SceneError(f"{where}: a triangle names a vertex that is not there.")
    if not np.isfinite(transform).all():
        raise SceneError(f"{where}: its place is not made of numbers.")
    vertices = trimesh.transform_points(points, transform).astype(np.float32)
    smooth = "vertex_normals" in geometry._cache.cache
    surface, uv, colours = looks.of(geometry)
    if colours is None:
        yield Part(vertices, faces.astype(np.int32), surface, uv, smooth)
        return
    shades, which = _few(colours)
    for k, shade in enumerate(shades):
        mine = faces[which == k]
        used, again = np.unique(mine, return_inverse=True)
        look = Surface(shade, gloss=surface.gloss, glow=surface.glow)
        yield Part(vertices[used], again.reshape(-1, 3).astype(np.int32), look, None, smooth)


class _Looks:
    """Surfaces of a file's materials, each texture made once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pictures: dict[int, tuple[Any, TextureImage]] = {}

    def of(self, geometry: Any) -> tuple[Surface, F32 | None, F64 | None]:
        """Return a geometry's surface, texture coordinates, and linear face colours."""
        visual = geometry.visual
        if visual.kind in ("vertex", "face"):
            light = self._path.suffix.casefold() != ".obj"
            return Surface(), None, _face_colours(geometry, visual.kind, light)
        material = getattr(visual, "material", None)
        if material is None:
            return Surface(), None, None
        rgb, image, gloss, glow = _material(material)
        uv = getattr(visual, "uv", None)
        if image is not None and uv is not None and len(uv) == len(geometry.vertices):
            flat = np.nan_to_num(np.asarray(uv, dtype=np.float32)[:, :2])
            flat = np.stack([flat[:, 0], 1 - flat[:, 1]], axis=1)
            return Surface(rgb, self._picture(image), 1.0, gloss, glow), flat, None
        own = getattr(visual, "vertex_attributes", {}).get("color")
        if own is not None and len(own) == len(geometry.vertices):
            tint = _unit(np.asarray(own))[np.asarray(geometry.faces)].mean(axis=1)
            tint = linear_to_srgb(tint * srgb_to_linear(rgb))
            return Surface(gloss=gloss, glow=glow), None, tint
        return Surface(rgb, gloss=gloss, glow=glow), None, None

    def _picture(self, image: Image.Image) -> TextureImage:
        # Keyed by id(); the image is stored, too, so that its id is not reused.
        if id(image) not in self._pictures:
            self._pictures[id(image)] = (image, self._read(image))
        return self._pictures[id(image)][1]

    def _read(self, image: Image.Image) -> TextureImage:
        wide, high = image.size
        if wide * high > _MOST_PIXELS:
            raise SceneError(
                f"{self._path}: a picture is {wide} x {high}: expected at most "
                f"{_MOST_PIXELS:,} pixels."
            )
        with one_line_errors(f"{self._path}: a picture in it is broken"):
            return load_texture(image, _MOST_SIDE)


def _material(material: Any) -> tuple[RGB, Image.Image | None, float, float]:
    """Return the colour, image, gloss and glow of a material."""
    if isinstance(material, trimesh.visual.material.PBRMaterial):
        factor = material.baseColorFactor
        light = np.ones(3) if factor is None else _unit(np.asarray(factor))[:3]
        rough = 1.0 if material.roughnessFactor is None else float(material.roughnessFactor)
        shine = material.emissiveFactor
        glow = 0.0 if shine is None else float(np.clip(np.max(shine), 0, 4))
        gloss = float(np.clip(1 - rough, 0, 1))
        return _rgb(linear_to_srgb(light)), material.baseColorTexture, gloss, glow
    colour = _unit(np.asarray(getattr(material, "diffuse", [204, 204, 204]), dtype=np.uint8))[:3]
    image = getattr(material, "image", None)
    return _rgb(np.ones(3) if image is not None else colour), image, 0.0, 0.0


def _rgb(colour: F64) -> RGB:
    r, g, b = (round(float(each), 4) for each in np.nan_to_num(np.clip(colour, 0, 1)))
    return r, g, b


def _unit(colours: NDArray[Any]) -> F64:
    """Return colours of any type as RGB from 0 to 1."""
    most = np.iinfo(colours.dtype).max if np.issubdtype(colours.dtype, np.integer) else 1
    return np.clip(np.nan_to_num(colours[..., :3].astype(np.float64) / most), 0, 1)


def _face_colours(geometry: Any, kind: str, light: bool) -> F64:
    if kind == "face":
        colours = _unit(np.asarray(geometry.visual.face_colors))
    else:
        given = _unit(np.asarray(geometry.visual.vertex_colors))
        colours = given[np.asarray(geometry.faces)].mean(axis=1)
    return linear_to_srgb(colours) if light else colours


def _few(colours: F64) -> tuple[list[RGB], I64]:
    """Reduce colours to at most 256; return them, and the index for each face."""
    levels = np.round(np.clip(colours, 0, 1) * 255).astype(np.uint8)
    kinds, which = np.unique(levels, axis=0, return_inverse=True)
    which = which.reshape(-1)
    if len(kinds) > _MOST_COLOURS:
        strip = Image.fromarray(kinds[None]).quantize(_MOST_COLOURS)
        named = np.asarray(strip)[0]
        palette = np.asarray(strip.convert("RGB"))[0]
        kept, first, again = np.unique(named, return_index=True, return_inverse=True)
        kinds, which = palette[first], again.reshape(-1)[which]
        del kept
    return [_rgb(each / 255) for each in kinds], which
