"""Caption sources: text about an agent's viewpoint and about each candidate.

    matterport   the observations of a Matterport3D scan
                 (:mod:`navloom.scenes.formats.mp3d_observations`)
    seen         composed from visible items, if a scene has geometry and embreex is installed
                 (:func:`navloom.sim.scene_images.sight_captions`)
    composed     composed from regions, links and items of any scene
                 (:mod:`navloom.sim.caption_composer`)
    cache        captions that a model wrote, in one JSON file a scene

A cache file has this form. Entries it lacks come from the source under it:

    {"version": "navloom.captions/1", "scene": "demo:flat", "made_by": "openai/gpt-4o-mini",
     "viewpoints": {"1_0": {"summary": "...", "sectors": ["", ...], "towards": {"1_1": "..."}}}}

Everything that a source reads is untrusted: every text returned here is one line and bounded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, SimulatorError
from navloom.scenes import distances
from navloom.scenes.formats.mp3d_observations import ViewpointReport, read_observations
from navloom.scenes.safe_files import read_json, repr_of, write_atomic
from navloom.scenes.scene import UNKNOWN, Name, Scene
from navloom.scenes.scene_uri import DATA_VARIABLE
from navloom.sim import protocol
from navloom.sim.caption_composer import composed, label_phrase, one_line, shorten_caption
from navloom.sim.scene_images import can_render, sight_captions


def captions_for(scene: Scene, cache: Path | str | None = None) -> protocol.CaptionSource:
    """Return the best caption source for a scene.

    Args:
        scene: the scene; its origin, ``mp3d:DIR/SCAN``, says where observations lie.
        cache: a file of captions that a model wrote; its entries take precedence.

    Returns:
        Matterport's observations if ``DIR/observations`` has the scan (for ``mp3d:SCAN``, and
        for a scene.json of a scan, ``$NAVLOOM_DATA/mp3d``). Else captions of visible items, if the
        scene has geometry and embreex is installed. Else captions composed from regions and items.
        Made once per scene.

    Raises:
        SceneError: a file of observations is broken.
        SimulatorError: the cache is missing, broken or another scene's.
    """
    source = _matterport(scene) or (sight_captions(scene) if can_render(scene) else composed(scene))
    return source if cache is None else CaptionCache.read(Path(cache), scene, source)


def _matterport(scene: Scene) -> MatterportCaptions | None:
    folder = matterport_folder(scene.origin) if scene.source == "mp3d" else None
    return None if folder is None else _read_matterport(scene, folder)


@distances.cached_on_scene
def _read_matterport(scene: Scene, folder: Path) -> MatterportCaptions | None:
    seen = read_observations(folder, scene.id, scene.viewpoint_by_id)
    return MatterportCaptions(scene, seen) if seen else None


def matterport_folder(uri: str) -> Path | None:
    """Return the Matterport data folder that an ``mp3d:`` URI names.

    For any other URI it is ``$NAVLOOM_DATA/mp3d``, or None if the variable is not set.
    """
    scheme, colon, rest = uri.partition(":")
    if colon and scheme == "mp3d" and rest:
        given = Path(rest).expanduser()
        # A scan's own folder, with its images, may lie beside the connectivity folder.
        beside = (given.parent / "connectivity").is_dir() and not (given / "connectivity").is_dir()
        if given.is_dir() and not beside:
            return given
        if "/" in rest:
            return given.parent
    base = os.environ.get(DATA_VARIABLE)
    return Path(base).expanduser() / "mp3d" if base else None


class MatterportCaptions:
    """Captions from Matterport observations, else composed ones for viewpoints without any.

    Args:
        scene: the scan.
        seen: the observations of its viewpoints.
    """

    def __init__(self, scene: Scene, seen: dict[str, ViewpointReport]) -> None:
        self._scene = scene
        self._seen = seen
        self._else = composed(scene)
        self._kept, self._kept_ways = cache(self._words), cache(self._way)

    def at(self, viewpoint: str) -> protocol.Captions:
        """Return a viewpoint's observations; objects further than 3 m are left out."""
        return self._kept(viewpoint)

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Return the short caption of the candidate's sector, and its room if it is known."""
        return self._kept_ways(viewpoint, neighbour)

    def _words(self, viewpoint: str) -> protocol.Captions:
        seen = self._seen.get(viewpoint)
        if seen is None:
            return self._else.at(viewpoint)
        near = tuple(
            protocol.SeenObject(one_line(each.name, protocol.MOST_NAME), each.heading, each.metres)
            for each in seen.near
            if each.metres <= protocol.NEAR_M
        )
        return protocol.Captions(
            summary=_sentence(seen.summary) or self._else.at(viewpoint).summary,
            sectors=tuple(one_line(text, protocol.MOST_CAPTION) for text in seen.sectors)
            or self._else.at(viewpoint).sectors,
            objects=near,
            region=self._scene.viewpoint_by_id[viewpoint].region,
        )

    def _way(self, viewpoint: str, neighbour: str) -> str:
        seen = self._seen.get(viewpoint)
        if seen is None or not seen.sectors:
            return self._else.towards(viewpoint, neighbour)
        places = self._scene.viewpoint_by_id
        here, there = places[viewpoint], places[neighbour]
        caption = seen.sectors[
            distances.sector_of(distances.heading_to(here.position, there.position))
        ]
        steep = distances.up_or_down(distances.elevation_to(here.position, there.position))
        tail = f"; goes {steep}" if steep else ""
        if there.region is not None and there.region != here.region:
            region = self._scene.region_by_id[there.region]
            if region.label != UNKNOWN:
                tail = f"; leads{f' {steep}' if steep else ''} to the {label_phrase(region)}"
        return shorten_caption(caption, protocol.MOST_DESCRIPTION - len(tail)) + tail


def _sentence(text: str) -> str:
    """Return a summary with its article, which the source leaves out after "This is"."""
    plain = one_line(text, protocol.MOST_SUMMARY)
    if not plain or plain[0].isupper() or plain.startswith(("a ", "an ", "the ")):
        return plain
    whole = f"{'An' if plain[0] in 'aeio' else 'A'} {plain}"
    return one_line(whole, protocol.MOST_SUMMARY)


_Text = Annotated[str, Field(max_length=20_000)]


class _CachedCaptions(BaseModel):
    """Cached captions of one viewpoint."""

    model_config = ConfigDict(extra="forbid")

    summary: _Text = ""
    sectors: Annotated[list[_Text], Field(max_length=8)] = []
    towards: dict[Name, _Text] = {}


class _CaptionsFile(BaseModel):
    """Content of a cache file."""

    model_config = ConfigDict(extra="forbid")

    version: Literal["navloom.captions/1"] = "navloom.captions/1"
    scene: Name
    made_by: Annotated[str, Field(max_length=200)] = ""
    viewpoints: dict[Name, _CachedCaptions] = {}


_FILE = TypeAdapter(_CaptionsFile)


class CaptionCache:
    """Captions of a file, layered over another source; itself a :class:`CaptionSource`.

    Args:
        scene: the scene.
        under: source of captions that the file lacks.
        made_by: the model that writes them, as ``provider/name``.
    """

    def __init__(self, scene: Scene, under: protocol.CaptionSource, made_by: str = "") -> None:
        self._under = under
        self._scene = scene
        self._file = _CaptionsFile(scene=scene.uri, made_by=one_line(made_by, 200))

    @classmethod
    def read(cls, path: Path, scene: Scene, under: protocol.CaptionSource) -> CaptionCache:
        """Load a cache from its file.

        Raises:
            SimulatorError: the file is missing or broken, or belongs to another scene.
        """
        try:
            file = read_json(path, _FILE)
        except SceneError as error:
            raise SimulatorError(str(error)) from error
        if file.scene != scene.uri:
            raise SimulatorError(
                f"{path}: scene: expected captions of {scene.uri}, found {repr_of(file.scene)}."
            )
        unknown = next((v for v in file.viewpoints if v not in scene.viewpoint_by_id), None)
        if unknown is not None:
            raise SimulatorError(f"{path}: {scene.uri} has no viewpoint {repr_of(unknown)}.")
        if any(len(words.sectors) not in (0, 8) for words in file.viewpoints.values()):
            raise SimulatorError(f"{path}: sectors: expected eight captions a viewpoint, or none.")
        cache = cls(scene, under, file.made_by)
        cache._file = file
        return cache

    def save(self, path: Path) -> None:
        """Write the cache to a file atomically.

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
        """Store a model's captions of a viewpoint; arguments of None change nothing.

        Args:
            viewpoint: one of the scene.
            summary: one sentence about the place.
            sectors: eight captions, the k-th around heading k x 45 degrees.
            towards: neighbour -> one line about that direction; added to the stored ones.

        Raises:
            SimulatorError: the viewpoint or a neighbour does not exist, or there are not 8 sectors.
        """
        for each in (viewpoint, *(towards or ())):
            if each not in self._scene.viewpoint_by_id:
                raise SimulatorError(f"{self._scene.uri} has no viewpoint {repr_of(each)}.")
        if sectors is not None and len(sectors) != 8:
            raise SimulatorError(f"Expected 8 sector captions of {viewpoint}, got {len(sectors)}.")
        words = self._file.viewpoints.setdefault(viewpoint, _CachedCaptions())
        if summary is not None:
            words.summary = one_line(summary, protocol.MOST_SUMMARY)
        if sectors is not None:
            words.sectors = [one_line(text, protocol.MOST_CAPTION) for text in sectors]
        for neighbour, text in (towards or {}).items():
            words.towards[neighbour] = one_line(text, protocol.MOST_DESCRIPTION)

    def has(self, viewpoint: str) -> bool:
        """Check whether the cache itself has an entry for a viewpoint."""
        return viewpoint in self._file.viewpoints

    def at(self, viewpoint: str) -> protocol.Captions:
        """Return a viewpoint's captions from the file, completed from the source that it caches."""
        under = self._under.at(viewpoint)
        words = self._file.viewpoints.get(viewpoint)
        if words is None:
            return under
        return replace(
            under,
            summary=one_line(words.summary, protocol.MOST_SUMMARY) or under.summary,
            sectors=tuple(
                one_line(own, protocol.MOST_CAPTION) or other
                for own, other in zip(words.sectors, under.sectors or ("",) * 8, strict=True)
            )
            if words.sectors
            else under.sectors,
        )

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Return the file's line on a candidate, else the line of the source that it caches."""
        own = self._file.viewpoints.get(viewpoint)
        text = one_line(own.towards.get(neighbour, ""), protocol.MOST_DESCRIPTION) if own else ""
        return text or self._under.towards(viewpoint, neighbour)
