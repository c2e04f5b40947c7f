"""Cache of one scene's rendered panoramas, read from disk on access.

Every file is compared with its hash in the manifest before it is decoded. The most recently read
images stay in memory, over all scenes at most ``MOST_HELD`` bytes.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from navloom.errors import SimulatorError, did_you_mean
from navloom.files import join_some
from navloom.scenes.distances import scene_cached, scene_hash
from navloom.scenes.safe_files import read_bytes, repr_of
from navloom.scenes.scene import Scene
from navloom.sim.panorama.image_codec import decode_image, read_image_file
from navloom.sim.panorama.manifest import (
    MANIFEST,
    HashedFile,
    Manifest,
    SensorSpec,
    ViewpointsFile,
    checked_path,
    read_manifest,
    read_viewpoints,
    render_command,
    scene_folder_name,
)

_MOST_NAMED = 5
MOST_HELD = 16_000_000
"""Maximum bytes of images in memory, over all caches of the process."""


class ImageCache:
    """Least-recently-used cache of decoded images in memory.

    Args:
        most: maximum bytes of all images.
    """

    def __init__(self, most: int = MOST_HELD) -> None:
        self.most = most
        self.held = 0
        self._kept: OrderedDict[Hashable, NDArray[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, read: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return a cached image, else read and cache it; the image is read-only."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        picture = read()
        picture.flags.writeable = False
        with self._lock:
            if key not in self._kept:
                self._kept[key] = picture
                self.held += picture.nbytes
            while self.held > self.most and len(self._kept) > 1:
                self.held -= self._kept.popitem(last=False)[1].nbytes
        return picture

    def has(self, key: Hashable) -> bool:
        """Check whether an image is cached."""
        return key in self._kept

    def forget(self) -> None:
        """Drop all images."""
        with self._lock:
            self._kept.clear()
            self.held = 0


LAST = ImageCache()
"""Images of all caches of the process."""
_STRIP = 4
_POOL = ThreadPoolExecutor(_STRIP - 1, thread_name_prefix="panoramas")
"""Threads that decode, started on demand."""


class PanoramaCache:
    """Rendered panoramas of one scene; a source of images.

    Args:
        root: the output folder of ``navloom scenes render``.
        folder: the scene's own folder below it.
        manifest: the scene's manifest.
        words: captions and candidates.
    """

    def __init__(self, root: Path, folder: Path, manifest: Manifest, words: ViewpointsFile) -> None:
        self.root, self.folder, self.manifest, self.words = root, folder, manifest, words

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors with images at each viewpoint."""
        return self.manifest.sensors

    def read(self, viewpoint: str, number: int) -> NDArray[Any]:
        """Return the image of one sensor at one viewpoint.

        The other images of the same strip are decoded with it, in parallel.

        Args:
            viewpoint: a viewpoint of the scene.
            number: the sensor's index.

        Raises:
            SimulatorError: the file is missing, was changed, or is no such image; the message names
                the viewpoint and the command that renders it again.
        """
        beside: list[Future[None]] = []
        if not LAST.has(self._key(viewpoint, number)):
            mates = self._mates[number]
            beside = [_POOL.submit(self._ahead, viewpoint, each) for each in mates]
        picture = self._kept(viewpoint, number)
        wait(beside)
        return picture

    @cached_property
    def _mates(self) -> list[list[int]]:
        """For each sensor, the others of the same modality and elevation, if they are few."""
        looks = [(each.modality, each.elevation) for each in self.sensors]
        mates = [[k for k, each in enumerate(looks) if each == look] for look in looks]
        return [
            [k for k in found if k != number] if len(found) <= _STRIP else []
            for number, found in enumerate(mates)
        ]

    def _key(self, viewpoint: str, number: int) -> Hashable:
        named = self.manifest.viewpoints[viewpoint][number]
        return str(self.folder), named.file, named.sha256

    def _kept(self, viewpoint: str, number: int) -> NDArray[Any]:
        return LAST.get(self._key(viewpoint, number), lambda: self._read(viewpoint, number))

    def _ahead(self, viewpoint: str, number: int) -> None:
        # An error is reported when this image itself is read.
        with contextlib.suppress(SimulatorError):
            self._kept(viewpoint, number)

    def _read(self, viewpoint: str, number: int) -> NDArray[Any]:
        named = self.manifest.viewpoints[viewpoint][number]
        shot = self.sensors[number]
        path = checked_path(self.folder, named.file)
        data = self._checked(path, named, f"the {shot.modality} picture of viewpoint {viewpoint}")
        where = f"{path} (viewpoint {viewpoint})"
        return decode_image(shot.modality, data, shot.width, shot.height, where)

    def _checked(self, path: Path, named: HashedFile, what: str) -> bytes:
        command = render_command(self.manifest.scene, self.root)
        try:
            data = read_image_file(path)
        except FileNotFoundError as error:
            raise SimulatorError(f"{path}: {what} is missing: {command} makes it again.") from error
        if sha256(data).hexdigest() != named.sha256:
            raise SimulatorError(
                f"{path}: {what} was changed: its checksum is not the manifest's. "
                f"{command} makes it again."
            )
        return data


def open_cache(root: Path, scene: Scene) -> PanoramaCache:
    """Open the rendered panoramas of a scene, once per scene and folder.

    Args:
        root: the output folder of ``navloom scenes render``, or the scene's folder in it.
        scene: the scene they must show.

    Raises:
        SimulatorError: no such folder, or nothing of the scene in it; a manifest that is broken, of
            another version, or of another scene or version of it; a missing image.
    """
    return scene_cached(scene, f"panoramas:{root}", lambda: _opened(root, scene))


def find_cache(root: Path, uri: str) -> Path | None:
    """Return the folder of a scene's manifest in a cache; None if there is none."""
    for folder in (root / scene_folder_name(uri), root):
        if (folder / MANIFEST).is_file():
            return folder
    return None


def panorama_hashes(root: Path, scenes: Sequence[Scene]) -> list[str]:
    """Return hashes of the images of scenes, from their manifests, which contain all hashes.

    Args:
        root: the folder of a cache, or of scans.
        scenes: the scenes to be used.

    Returns:
        A hash per scene; for Matterport's own images, which never change, a fixed text.

    Raises:
        SimulatorError: some scenes have no images there.
    """
    found = {each.uri: find_cache(root, each.uri) for each in scenes}
    missing = [each for each in scenes if found[each.uri] is None and each.source != "mp3d"]
    if missing:
        names = join_some([each.uri for each in missing], _MOST_NAMED)
        raise SimulatorError(
            f"{root} holds no panoramas of {names}: "
            f"{render_command(missing[0].origin, root)} makes them."
        )
    return [
        f"{uri} skyboxes" if folder is None else sha256(read_bytes(folder / MANIFEST)).hexdigest()
        for uri, folder in found.items()
    ]


def _opened(root: Path, scene: Scene) -> PanoramaCache:
    folder = find_cache(root, scene.uri)
    command = render_command(scene.origin, root)
    if folder is None:
        if not root.is_dir():
            raise SimulatorError(f"{root}: there is no such folder of panoramas: {command}.")
        there = sorted(each.parent.name for each in root.glob(f"*/{MANIFEST}"))
        raise SimulatorError(
            f"{root} holds no panoramas of {scene.uri}: {command} makes them."
            + did_you_mean(scene_folder_name(scene.uri), there)
        )
    manifest = read_manifest(folder)
    _check_scene(folder, manifest, scene, command)
    for viewpoint, files in manifest.viewpoints.items():
        for shot, named in zip(manifest.sensors, files, strict=True):
            path = checked_path(folder, named.file)
            if not path.is_file():
                raise SimulatorError(
                    f"{path}: the {shot.modality} picture of viewpoint {viewpoint} is missing: "
                    f"{command} makes it again."
                )
    empty = ViewpointsFile(scene=scene.uri, viewpoints={})
    cache = PanoramaCache(folder if folder == root else root, folder, manifest, empty)
    path = checked_path(folder, manifest.words.file)
    raw = cache._checked(path, manifest.words, "the file of words")
    cache.words = read_viewpoints(path, raw, scene)
    return cache


def _check_scene(folder: Path, manifest: Manifest, scene: Scene, command: str) -> None:
    path = folder / MANIFEST
    if manifest.scene != scene.uri:
        raise SimulatorError(
            f"{path}: these are panoramas of {manifest.scene}, and the scene is {scene.uri}: "
            f"{command} makes its own."
        )
    if manifest.scene_sha256 != scene_hash(scene):
        raise SimulatorError(
            f"{path}: these are panoramas of another make of {scene.uri} (its hash is another): "
            f"load {folder / manifest.scene_file.file}, or {command} into another folder."
        )
    for each in (*scene.viewpoint_by_id, *manifest.viewpoints):
        if (each in manifest.viewpoints) != (each in scene.viewpoint_by_id):
            raise SimulatorError(
                f"{path}: viewpoint {repr_of(each)} of {scene.uri}: expected pictures of every "
                f"viewpoint and of no other. {command} makes them again."
            )
