"""Words for where an agent stands and for each way on from there: one protocol, three sources.

    matterport   the observations of a Matterport3D scan
    (:mod:`navloom.scenes.formats.mp3d_observations`) composed     regions, links and items of any
    scene, put into words (:mod:`navloom.sim.composed`) cache        a file that a model's captions
    were written to (:mod:`navloom.sim.caption_cache`)

Whatever a source reads is untrusted: every text that leaves here is one line and bounded.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol, runtime_checkable

from navloom.scenes.distances import per_scene
from navloom.scenes.formats.mp3d_observations import Seen, read_observations
from navloom.scenes.scene import UNKNOWN, Scene
from navloom.scenes.uri import DATA_VARIABLE
from navloom.sim.bearing import elevation_to, heading_to, sector_of, up_or_down
from navloom.sim.bounds import (
    MOST_CAPTION,
    MOST_DESCRIPTION,
    MOST_NAME,
    MOST_SUMMARY,
    NEAR_M,
)
from navloom.sim.caption_cache import CaptionCache
from navloom.sim.composed import ComposedCaptions, composed, label_words
from navloom.sim.protocol import Captions, SeenObject
from navloom.sim.words import briefly, one_line

__all__ = [
    "CaptionCache",
    "CaptionSource",
    "ComposedCaptions",
    "MatterportCaptions",
    "captions_for",
    "composed",
]


@runtime_checkable
class CaptionSource(Protocol):
    """Where a simulator without pictures has its words from."""

    def at(self, viewpoint: str) -> Captions:
        """What can be said about a viewpoint of the scene."""
        ...

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """One line about what lies that way: the description of a candidate."""
        ...


def captions_for(scene: Scene, cache: Path | str | None = None) -> CaptionSource:
    """The best words there are for a scene.

    Args:
        scene: the scene; its origin, ``mp3d:DIR/SCAN``, says where observations lie.
        cache: a file of captions that a model wrote; where it says something, it wins.

    Returns:
        Matterport's observations where ``DIR/observations`` has the scan (for ``mp3d:SCAN``, and
        for a scene.json of a scan, ``$NAVLOOM_DATA/mp3d``); else captions composed from regions
        and items. Made once per scene.

    Raises:
        SceneError: a file of observations is broken.
        SimulatorError: the cache is missing, broken or another scene's.
    """
    source = _matterport(scene) or composed(scene)
    return source if cache is None else CaptionCache.read(Path(cache), scene, source)


def _matterport(scene: Scene) -> MatterportCaptions | None:
    folder = _folder(scene.origin) if scene.source == "mp3d" else None
    if folder is None:
        return None

    def make() -> MatterportCaptions | None:
        seen = read_observations(folder, scene.id, scene.viewpoint_by_id)
        return MatterportCaptions(scene, seen) if seen else None

    return per_scene(scene, f"matterport_captions:{folder}", make)


def _folder(uri: str) -> Path | None:
    """The folder that an mp3d scene's URI means; the general one for any other URI."""
    scheme, colon, rest = uri.partition(":")
    if colon and scheme == "mp3d" and rest:
        given = Path(rest).expanduser()
        if given.is_dir():
            return given
        if "/" in rest:
            return given.parent
    base = os.environ.get(DATA_VARIABLE)
    return Path(base).expanduser() / "mp3d" if base else None


class MatterportCaptions:
    """The words of Matterport observations; a viewpoint without any is put into our own.

    Args:
        scene: the scan.
        seen: what its viewpoints look like.
    """

    def __init__(self, scene: Scene, seen: dict[str, Seen]) -> None:
        self._scene = scene
        self._seen = seen
        self._else = composed(scene)
        self._at: dict[str, Captions] = {}
        self._towards: dict[tuple[str, str], str] = {}

    def at(self, viewpoint: str) -> Captions:
        """What the observations say; objects further than 3 m are left out."""
        if viewpoint not in self._at:
            self._at[viewpoint] = self._words(viewpoint)
        return self._at[viewpoint]

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """The caption of the sector the way lies in, made short, and where it leads if known."""
        key = viewpoint, neighbour
        if key not in self._towards:
            self._towards[key] = self._way(viewpoint, neighbour)
        return self._towards[key]

    def _words(self, viewpoint: str) -> Captions:
        seen = self._seen.get(viewpoint)
        if seen is None:
            return self._else.at(viewpoint)
        near = tuple(
            SeenObject(one_line(each.name, MOST_NAME), each.heading, each.metres)
            for each in seen.near
            if each.metres <= NEAR_M
        )
        return Captions(
            summary=_sentence(seen.summary) or self._else.at(viewpoint).summary,
            sectors=tuple(one_line(text, MOST_CAPTION) for text in seen.sectors)
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
        caption = seen.sectors[sector_of(heading_to(here.position, there.position))]
        tail = self._tail(
            up_or_down(elevation_to(here.position, there.position)), here.region, there.region
        )
        return briefly(caption, MOST_DESCRIPTION - len(tail)) + tail

    def _tail(self, steep: str, here: str | None, there: str | None) -> str:
        region = self._scene.region_by_id[there] if there is not None else None
        if region is not None and there != here and region.label != UNKNOWN:
            way = f"leads {steep} to" if steep else "leads to"
            return f"; {way} the {label_words(region)}"
        return f"; goes {steep}" if steep else ""


def _sentence(text: str) -> str:
    """The source's summaries go on from "This is a": they get their article back."""
    plain = one_line(text, MOST_SUMMARY)
    if not plain or plain[0].isupper() or plain.startswith(("a ", "an ", "the ")):
        return plain
    whole = f"{'An' if plain[0] in 'aeio' else 'A'} {plain}"
    return one_line(whole, MOST_SUMMARY)
