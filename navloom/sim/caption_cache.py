"""Captions that a model wrote, kept in one JSON file a scene.

    {"version": "navloom.captions/1", "scene": "demo:flat", "made_by": "openai/gpt-4o-mini",
     "viewpoints": {"1_0": {"summary": "...", "sectors": ["", ...], "towards": {"1_1": "..."}}}}

Every part may be missing: what the file does not say is asked of the source under it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.files import read_bytes, short, validated, write_atomic
from navloom.scenes.scene import Name, Scene
from navloom.sim.bounds import MOST_CAPTION, MOST_DESCRIPTION, MOST_SUMMARY
from navloom.sim.protocol import Captions
from navloom.sim.words import one_line

if TYPE_CHECKING:
    from navloom.sim.caption_sources import CaptionSource

__all__ = ["CaptionCache"]

_Text = Annotated[str, Field(max_length=20_000)]


class _Words(BaseModel):
    """What is known of one viewpoint."""

    model_config = ConfigDict(extra="forbid")

    summary: _Text = ""
    sectors: Annotated[list[_Text], Field(max_length=8)] = []
    towards: dict[Name, _Text] = {}


class _File(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid")

    version: Literal["navloom.captions/1"] = "navloom.captions/1"
    scene: Name
    made_by: Annotated[str, Field(max_length=200)] = ""
    viewpoints: dict[Name, _Words] = {}


_FILE = TypeAdapter(_File)


class CaptionCache:
    """Captions of a file over those of another source; a :class:`CaptionSource` itself.

    Args:
        scene: whose captions they are.
        under: where what the file does not say comes from.
        made_by: the model that writes them, as ``provider/name``.
    """

    def __init__(self, scene: Scene, under: CaptionSource, made_by: str = "") -> None:
        self._under = under
        self._scene = scene
        self._file = _File(scene=scene.uri, made_by=one_line(made_by, 200))

    @classmethod
    def read(cls, path: Path, scene: Scene, under: CaptionSource) -> CaptionCache:
        """The captions of a file.

        Raises:
            SimulatorError: the file is missing or broken, or belongs to another scene.
        """
        try:
            file = validated(_FILE, read_bytes(path), path)
        except SceneError as error:
            raise SimulatorError(str(error)) from error
        if file.scene != scene.uri:
            raise SimulatorError(
                f"{path}: scene: expected captions of {scene.uri}, found {short(file.scene)}."
            )
        unknown = next((v for v in file.viewpoints if v not in scene.viewpoint_by_id), None)
        if unknown is not None:
            raise SimulatorError(f"{path}: {scene.uri} has no viewpoint {short(unknown)}.")
        if any(len(words.sectors) not in (0, 8) for words in file.viewpoints.values()):
            raise SimulatorError(f"{path}: sectors: expected eight captions a viewpoint, or none.")
        cache = cls(scene, under, file.made_by)
        cache._file = file
        return cache

    def save(self, path: Path) -> None:
        """Write the captions to a file that is whole at every instant.

        Raises:
            SimulatorError: it cannot be written.
        """
        text = json.dumps(self._file.model_dump(exclude_defaults=False), ensure_ascii=False)
        try:
            write_atomic(path, text + "\n")
        except SceneError as error:
            raise SimulatorError(str(error)) from error

    def put(
        self,
        viewpoint: str,
        *,
        summary: str | None = None,
        sectors: Sequence[str] | None = None,
        towards: Mapping[str, str] | None = None,
    ) -> None:
        """Keep what a model said of a viewpoint; what is None stays as it is.

        Args:
            viewpoint: one of the scene.
            summary: one sentence about the place.
            sectors: eight captions, the k-th around heading k x 45 degrees.
            towards: neighbour -> one line about what lies that way; joins what is known.

        Raises:
            SimulatorError: the viewpoint or a neighbour is not there, or there are not 8 sectors.
        """
        for each in (viewpoint, *(towards or ())):
            if each not in self._scene.viewpoint_by_id:
                raise SimulatorError(f"{self._scene.uri} has no viewpoint {short(each)}.")
        if sectors is not None and len(sectors) != 8:
            raise SimulatorError(f"Expected 8 sector captions of {viewpoint}, got {len(sectors)}.")
        words = self._file.viewpoints.setdefault(viewpoint, _Words())
        if summary is not None:
            words.summary = one_line(summary, MOST_SUMMARY)
        if sectors is not None:
            words.sectors = [one_line(text, MOST_CAPTION) for text in sectors]
        for neighbour, text in (towards or {}).items():
            words.towards[neighbour] = one_line(text, MOST_DESCRIPTION)

    def has(self, viewpoint: str) -> bool:
        """Whether the cache itself says anything about a viewpoint."""
        return viewpoint in self._file.viewpoints

    def at(self, viewpoint: str) -> Captions:
        """What the file says of a viewpoint, and the source under it where it says nothing."""
        under = self._under.at(viewpoint)
        words = self._file.viewpoints.get(viewpoint)
        if words is None:
            return under
        return replace(
            under,
            summary=one_line(words.summary, MOST_SUMMARY) or under.summary,
            sectors=tuple(
                one_line(own, MOST_CAPTION) or other
                for own, other in zip(words.sectors, under.sectors or ("",) * 8, strict=True)
            )
            if words.sectors
            else under.sectors,
        )

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """What the file says lies that way, and the source under it where it says nothing."""
        words = self._file.viewpoints.get(viewpoint)
        text = one_line(words.towards.get(neighbour, ""), MOST_DESCRIPTION) if words else ""
        return text or self._under.towards(viewpoint, neighbour)
