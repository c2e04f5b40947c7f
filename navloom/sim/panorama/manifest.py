"""Manifest of rendered panoramas, and the layout of their files.

    DIR/home-7/manifest.json       sensors, files and their hashes
    DIR/home-7/scene.json          the scene itself, as ``navloom scenes export`` writes it
    DIR/home-7/words.json          captions and candidates of each viewpoint
    DIR/home-7/views/0004/rgb-2.png    the image of the fifth viewpoint's third sensor
    DIR/home-7/rendered.jsonl      finished viewpoints, while rendering

A manifest is written last, when all its files exist. It is untrusted: a name in it must be a plain
path below its own folder, and no link is followed there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.safe_files import parse_json, read_bytes, repr_of, scene_errors
from navloom.scenes.scene import Name, Point3, Scene
from navloom.sim.protocol import Candidate, Captions

VERSION = "navloom.panoramas/1"
MANIFEST, SCENE, WORDS, JOURNAL = "manifest.json", "scene.json", "words.json", "rendered.jsonl"
MOST_PIXELS = 4096
"""Maximum width and height of an image in pixels."""
_MOST_BYTES = 128_000_000

Modality = Literal["rgb", "depth", "ids"]
Format = Literal["png", "jpg"]
_PLAIN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,5}$"
_FROZEN = ConfigDict(extra="forbid", frozen=True)


class SensorSpec(BaseModel):
    """One image sensor: its modality, direction and size.

    Attributes:
        modality: what its images show.
        heading: of the optical axis, radians in the scene's frame.
        elevation: of the optical axis, radians.
        fov: horizontal field of view, radians.
        width: pixels.
        height: pixels.
    """

    model_config = _FROZEN

    modality: Modality
    heading: Annotated[float, Field(ge=0, lt=6.2832, allow_inf_nan=False)]
    elevation: Annotated[float, Field(ge=-1.5708, le=1.5708, allow_inf_nan=False)]
    fov: Annotated[float, Field(gt=0, lt=3.1415, allow_inf_nan=False)]
    width: Annotated[int, Field(ge=1, le=MOST_PIXELS)]
    height: Annotated[int, Field(ge=1, le=MOST_PIXELS)]


class HashedFile(BaseModel):
    """A file below the manifest's folder, and the SHA-256 of its content."""

    model_config = _FROZEN

    file: Annotated[str, Field(pattern=_PLAIN, max_length=300)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class RenderRequest(BaseModel):
    """Options of ``navloom scenes render``; a cache has one such request.

    Attributes:
        backend: the simulator whose images are stored.
        views: views per viewpoint: 4, 12, 24 or 36.
        size: width and height of a view in pixels.
        format: file format of colour images; depth and ids are PNG.
        depth: whether depth is stored.
        ids: whether ids are stored.
        light: of ``embedded``: baked, or flat, which takes no time.
    """

    model_config = _FROZEN

    backend: Annotated[str, Field(min_length=1, max_length=100)] = "embedded"
    views: Literal[4, 12, 24, 36] = 4
    size: Annotated[int, Field(ge=16, le=MOST_PIXELS)] = 512
    format: Format = "png"
    depth: bool = False
    ids: bool = False
    light: Literal["baked", "flat"] = "baked"

    @property
    def modalities(self) -> tuple[Modality, ...]:
        """Modalities stored for each view."""
        more: tuple[tuple[Modality, bool], ...] = (("depth", self.depth), ("ids", self.ids))
        return ("rgb", *(name for name, kept in more if kept))

    def __str__(self) -> str:
        kinds = ", ".join(self.modalities)
        of = f"{self.format}, {self.backend}" + (", flat" if self.light == "flat" else "")
        return f"{self.views} views of {self.size} pixels ({kinds}; {of})"


class Manifest(BaseModel):
    """Content of ``manifest.json``.

    Attributes:
        version: the format's version.
        scene: the scene's portable name.
        scene_sha256: hash of the scene; see :func:`navloom.scenes.distances.scene_hash`.
        asked: the request it was rendered for.
        renderer: a hash of the renderer.
        sensors: the sensors of each viewpoint, in order.
        scene_file: the scene itself.
        words: captions and candidates.
        viewpoints: a file for each sensor, by viewpoint.
    """

    model_config = _FROZEN

    version: Literal["navloom.panoramas/1"] = "navloom.panoramas/1"
    scene: Name
    scene_sha256: str
    asked: RenderRequest
    renderer: Annotated[str, Field(max_length=100)]
    sensors: Annotated[tuple[SensorSpec, ...], Field(min_length=1, max_length=1000)]
    scene_file: HashedFile
    words: HashedFile
    viewpoints: dict[Name, tuple[HashedFile, ...]]


class ViewpointText(BaseModel):
    """Captions and candidates of one viewpoint.

    Attributes:
        captions: of the viewpoint.
        candidates: in the simulator's order.
        eye: position of the camera, in metres.
    """

    model_config = _FROZEN

    captions: Captions
    candidates: tuple[Candidate, ...]
    eye: Point3 | None = None


class ViewpointsFile(BaseModel):
    """Content of ``words.json``."""

    model_config = _FROZEN

    version: Literal["navloom.panorama-words/1"] = "navloom.panorama-words/1"
    scene: Name
    viewpoints: dict[Name, ViewpointText]


_WORDS = TypeAdapter(ViewpointsFile)


def scene_folder_name(uri: str) -> str:
    """Return the name of a scene's folder: ``home:7`` is ``home-7``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", uri).strip(".-")[:150] or "scene"


def render_command(uri: str, root: Path) -> str:
    """Return the command that renders or repairs a scene's panoramas."""
    return f"`navloom scenes render {uri} --out {root}`"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of one scene's folder.

    Raises:
        SimulatorError: it is missing, broken, or of another version.
    """
    path = folder / MANIFEST
    try:
        raw = read_bytes(path, most=_MOST_BYTES)
        content = parse_json(raw, path)
        version = content.get("version") if isinstance(content, dict) else None
        if version != VERSION:
            raise SimulatorError(
                f"{path}: version: this cache is of version {repr_of(version)}, and this Navloom "
                f"reads {VERSION!r}: render it again into another folder."
            )
        with scene_errors(path):
            manifest = Manifest.model_validate_json(raw)
    except SceneError as error:
        raise SimulatorError(str(error)) from error
    for viewpoint, files in manifest.viewpoints.items():
        if len(files) != len(manifest.sensors):
            raise SimulatorError(
                f"{path}: viewpoints.{repr_of(viewpoint)}: expected {len(manifest.sensors)} "
                f"pictures, one a sensor, found {len(files)}."
            )
    return manifest


def read_viewpoints(path: Path, raw: bytes, scene: Scene) -> ViewpointsFile:
    """Parse the captions and candidates of a cache.

    Args:
        path: the file, for messages.
        raw: its content.
        scene: the scene it must belong to.

    Raises:
        SimulatorError: the file is broken or belongs to another scene.
    """
    try:
        parse_json(raw, path)
        with scene_errors(path):
            words = _WORDS.validate_json(raw)
    except SceneError as error:
        raise SimulatorError(str(error)) from error
    if words.scene != scene.uri or set(words.viewpoints) != set(scene.viewpoint_by_id):
        raise SimulatorError(
            f"{path}: expected words of every viewpoint of {scene.uri}, and of no other."
        )
    return words


def checked_path(folder: Path, name: str) -> Path:
    """Return the path of a manifest's file, after checking it.

    Args:
        folder: the manifest's folder.
        name: the file's name in the manifest.

    Raises:
        SimulatorError: the path leaves the folder, or contains a link.
    """
    if not re.fullmatch(_PLAIN[1:-1], name):
        raise SimulatorError(f"{folder / MANIFEST}: {repr_of(name)} is no plain path below it.")
    place = folder
    for part in name.split("/"):
        place = place / part
        if place.is_symlink():
            raise SimulatorError(
                f"{place} is a link: a cache is read from its own folder alone. Put the file there."
            )
    return place
