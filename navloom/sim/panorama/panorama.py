"""The ``panorama`` backend: an agent on the navigation graph, pictures from disk.

It moves as on the ``graph`` backend. A picture is read when it is looked at; nothing is rendered
and no mesh is made. Words and ways on come from the cache where it has them, so that prompts are
those of the backend that it was rendered with.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Point3, Scene
from navloom.sim.captions import CaptionCache, captions_for
from navloom.sim.graph import GraphSimulator
from navloom.sim.panorama.manifest import SaidHere, Shot
from navloom.sim.panorama.panorama_cache import PanoramaCache, find_cache, open_cache
from navloom.sim.protocol import (
    THRESHOLD_M,
    Captions,
    CaptionSource,
    Observation,
    Pose,
    RenderedView,
    View,
    check_no_physics,
)

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Of glibc's malloc.h."""


class Pictures(Protocol):
    """Where a viewpoint's pictures come from."""

    @property
    def sensors(self) -> tuple[Shot, ...]:
        """What there are pictures of, at every viewpoint."""
        ...

    def read(self, viewpoint: str, number: int) -> NDArray[Any]:
        """The picture of one sensor at one viewpoint."""
        ...


def make(
    scene: Scene,
    *,
    folder: Path | str | None = None,
    captions: CaptionSource | Path | str | None = None,
    views: int = 4,
    size: int = 512,
    physics: str = "off",
    collision_threshold: float = THRESHOLD_M,
) -> PanoramaSimulator:
    """The backend as the registry makes it.

    Args:
        scene: the scene.
        folder: what ``navloom scenes render`` wrote, or scans with
            ``SCAN/matterport_skybox_images``.
        captions: a source of captions, or the file of a caption cache; None takes what the
            panoramas came with, else what there is.
        views: how many views skyboxes are seen in: 4, 12, 24 or 36. What was rendered is taken as
            it is.
        size: pixels that a view of a skybox is wide and high.
        physics: ``off``: among pictures nothing is touched.
        collision_threshold: of no account.

    Raises:
        SimulatorError: there is to be physics; no folder, or nothing of this scene in it; a
            manifest, picture or cache of captions that is broken or another scene's.
    """
    check_no_physics("the panorama simulator", physics, collision_threshold)
    if folder is None:
        raise SimulatorError(
            "The simulator 'panorama' reads pictures from a folder, and none was given: make one "
            f"with `navloom scenes render {scene.origin} --out DIR`, and give it with "
            "--panoramas DIR."
        )
    _hold_memory()
    root = Path(folder).expanduser()
    if find_cache(root, scene.uri) is None and scene.source == "mp3d" and root.exists():
        from navloom.sim.panorama.skybox import open_skyboxes

        boxes = open_skyboxes(root, scene, views, size)
        if captions is None or isinstance(captions, (str, Path)):
            captions = captions_for(scene, captions)
        return PanoramaSimulator(scene, boxes, captions)
    pictures = open_cache(root, scene)
    words: CaptionSource = CachedWords(pictures)
    if isinstance(captions, (str, Path)):
        path = Path(captions)
        key = f"captions_on_panoramas:{path}:{root}"
        words = per_scene(scene, key, lambda: CaptionCache.read(path, scene, CachedWords(pictures)))
    elif captions is not None:
        words = captions
    return PanoramaSimulator(scene, pictures, words, pictures.words.viewpoints)


@cache
def _hold_memory() -> None:
    """Have glibc keep freed megabytes for the next picture.

    Otherwise it gives them back and gets them anew page by page: half of a strip's time.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_TRIM_THRESHOLD, 64 << 20)
        library.mallopt(_MMAP_THRESHOLD, 32 << 20)


class CachedWords:
    """The words that lie beside panoramas; a :class:`CaptionSource`.

    Args:
        cache: the panoramas.
    """

    def __init__(self, cache: PanoramaCache) -> None:
        self._said = cache.words.viewpoints

    def at(self, viewpoint: str) -> Captions:
        """What is said of a viewpoint."""
        return self._said[viewpoint].captions

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """What is said to lie that way."""
        ways = self._said[viewpoint].candidates
        return next((each.description for each in ways if each.viewpoint == neighbour), "")


class ViewOnDisk(RenderedView):
    """A picture that is read whenever it is looked at; the view itself keeps none."""

    __slots__ = ("_read",)
    _read: Callable[[], NDArray[Any]]

    def __init__(
        self, shot: Shot, read: Callable[[], NDArray[Any]], position: Point3 | None
    ) -> None:
        super().__init__(shot.heading, shot.elevation, shot.fov, read, position)
        object.__setattr__(self, "_read", read)

    @property
    def image(self) -> NDArray[Any]:
        """The picture; nobody may write into it."""
        return self._read()


class PanoramaSimulator(GraphSimulator):
    """See the module's docstring.

    Args:
        scene: with viewpoints.
        pictures: where its pictures come from.
        captions: where words come from.
        said: of each viewpoint, its ways on; worked out where they are not there.

    Raises:
        SimulatorError: the scene has no viewpoints.
    """

    def __init__(
        self,
        scene: Scene,
        pictures: Pictures,
        captions: CaptionSource,
        said: Mapping[str, SaidHere] | None = None,
    ) -> None:
        super().__init__(scene, captions)
        self._pictures = pictures
        self._eyes = {name: each.eye for name, each in (said or {}).items()}
        if said is not None:
            self._ways = {name: each.candidates for name, each in said.items()}
        kinds = {shot.modality for shot in pictures.sensors}
        self.capabilities = (GraphSimulator.capabilities - {"change"}) | kinds

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """Refuse: the pictures show the scene as it was.

        Raises:
            SimulatorError: always.
        """
        raise SimulatorError(
            f"{scene.uri}: pictures on disk show {self.scene.uri} as it was rendered: use --backend"
            " embedded, or render the changed copy."
        )

    def _observe(self, pose: Pose) -> Observation:
        return replace(super()._observe(pose), images=self._images(pose.viewpoint or ""))

    def _images(self, viewpoint: str) -> Mapping[str, tuple[View, ...]]:
        views: dict[str, list[View]] = {}
        eye = self._eyes.get(viewpoint, self.scene.viewpoint_by_id[viewpoint].position)
        for number, shot in enumerate(self._pictures.sensors):
            read = partial(self._pictures.read, viewpoint, number)
            views.setdefault(shot.modality, []).append(ViewOnDisk(shot, read, eye))
        return {modality: tuple(each) for modality, each in views.items()}
