"""The ``panorama`` simulator: an agent on the navigation graph, with images from disk.

It moves as on the ``graph`` backend. An image is read when it is accessed; nothing is rendered and
no mesh is built. Captions and candidates come from the cache if it has them, so that prompts equal
those of the backend it was rendered with.
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
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Point3, Scene
from navloom.sim import protocol
from navloom.sim.captions import CaptionCache, captions_for
from navloom.sim.graph import GraphSimulator
from navloom.sim.panorama.manifest import SensorSpec, ViewpointText
from navloom.sim.panorama.panorama_cache import PanoramaCache, find_cache, open_cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Constants of glibc's malloc.h."""


class ImageSource(Protocol):
    """Protocol of a source of viewpoint images."""

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors with images at every viewpoint."""
        ...

    def read(self, viewpoint: str, number: int) -> NDArray[Any]:
        """Return the image of one sensor at one viewpoint."""
        ...


def make(
    scene: Scene,
    *,
    folder: Path | str | None = None,
    captions: protocol.CaptionSource | Path | str | None = None,
    views: int = 4,
    size: int = 512,
    physics: str = "off",
    collision_threshold: float = protocol.THRESHOLD_M,
) -> PanoramaSimulator:
    """Make the simulator, for the registry.

    Args:
        scene: the scene.
        folder: output folder of ``navloom scenes render``, or scans with
            ``SCAN/matterport_skybox_images``.
        captions: a source of captions, or the file of a caption cache; None uses those of the
            panoramas, else any available.
        views: number of views taken from a skybox: 4, 12, 24 or 36. Rendered panoramas keep their
            own.
        size: width and height in pixels of a view of a skybox.
        physics: must be ``off``, since images have no contacts.
        collision_threshold: unused.

    Raises:
        SimulatorError: physics is requested; no folder, or nothing of this scene in it; a manifest,
            image or cache of captions that is broken or of another scene.
    """
    protocol.check_no_physics("the panorama simulator", physics, collision_threshold)
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
    words: protocol.CaptionSource = CachedCaptions(pictures)
    if isinstance(captions, (str, Path)):
        path = Path(captions)
        key = f"captions_on_panoramas:{path}:{root}"
        words = scene_cached(
            scene, key, lambda: CaptionCache.read(path, scene, CachedCaptions(pictures))
        )
    elif captions is not None:
        words = captions
    return PanoramaSimulator(scene, pictures, words, pictures.words.viewpoints)


@cache
def _hold_memory() -> None:
    """Make glibc keep freed megabytes for the next image.

    Otherwise it returns them to the system and gets them back page by page, which takes half of the
    time of a strip of views.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_TRIM_THRESHOLD, 64 << 20)
        library.mallopt(_MMAP_THRESHOLD, 32 << 20)


class CachedCaptions:
    """Captions stored beside panoramas; a :class:`CaptionSource`.

    Args:
        cache: the panoramas.
    """

    def __init__(self, cache: PanoramaCache) -> None:
        self._said = cache.words.viewpoints

    def at(self, viewpoint: str) -> protocol.Captions:
        """Return the captions of a viewpoint."""
        return self._said[viewpoint].captions

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Return the description of a candidate; "" if there is none."""
        ways = self._said[viewpoint].candidates
        return next((each.description for each in ways if each.viewpoint == neighbour), "")


class ViewOnDisk(protocol.RenderedView):
    """View whose image is read on each access and not stored in the view."""

    __slots__ = ("_read",)
    _read: Callable[[], NDArray[Any]]

    def __init__(
        self, shot: SensorSpec, read: Callable[[], NDArray[Any]], position: Point3 | None
    ) -> None:
        super().__init__(shot.heading, shot.elevation, shot.fov, read, position)
        object.__setattr__(self, "_read", read)

    @property
    def image(self) -> NDArray[Any]:
        """The image, read-only."""
        return self._read()


class PanoramaSimulator(GraphSimulator):
    """Simulator on the navigation graph with images from disk.

    Args:
        scene: a scene with viewpoints.
        pictures: the source of images.
        captions: the source of captions.
        said: text of each viewpoint with its candidates, which are computed if it is None.

    Raises:
        SimulatorError: the scene has no viewpoints.
    """

    def __init__(
        self,
        scene: Scene,
        pictures: ImageSource,
        captions: protocol.CaptionSource,
        said: Mapping[str, ViewpointText] | None = None,
    ) -> None:
        super().__init__(scene, captions)
        self._pictures = pictures
        self._eyes = {name: each.eye for name, each in (said or {}).items()}
        if said is not None:
            self._ways = {name: each.candidates for name, each in said.items()}
        kinds = {shot.modality for shot in pictures.sensors}
        self.capabilities = (GraphSimulator.capabilities - {"change"}) | kinds

    def change(self, scene: Scene) -> Mapping[str, protocol.Observation]:
        """Refuse: the images show the unchanged scene.

        Raises:
            SimulatorError: always.
        """
        raise SimulatorError(
            f"{scene.uri}: pictures on disk show {self.scene.uri} as it was rendered: use --backend"
            " embedded, or render the changed copy."
        )

    def _observe(self, pose: protocol.Pose) -> protocol.Observation:
        return replace(super()._observe(pose), images=self._images(pose.viewpoint or ""))

    def _images(self, viewpoint: str) -> Mapping[str, tuple[protocol.View, ...]]:
        views: dict[str, list[protocol.View]] = {}
        eye = self._eyes.get(viewpoint, self.scene.viewpoint_by_id[viewpoint].position)
        for number, shot in enumerate(self._pictures.sensors):
            read = partial(self._pictures.read, viewpoint, number)
            views.setdefault(shot.modality, []).append(ViewOnDisk(shot, read, eye))
        return {modality: tuple(each) for modality, each in views.items()}
