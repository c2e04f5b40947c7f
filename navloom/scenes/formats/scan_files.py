"""Where the files of a scan lie: HM3D's release, and Matterport3D as habitat's users have it.

    DIR/[SPLIT/]NNNNN-ID/ID.semantic.glb, ID.semantic.txt, ID.glb, ID.basis.glb        hm3d
    DIR/[scans/]SCAN/SCAN.glb, SCAN_semantic.ply, SCAN.house                            mp3d

Nothing is read here but names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import SceneError
from navloom.plugins import plugin
from navloom.scenes.scene import Scene

_SPLITS = ("train", "val", "minival", "test", "example")
_SCANS = ("scans", "v1/scans")


@dataclass(frozen=True)
class ScanFiles:
    """The files of one scan; those that are not there are None.

    Attributes:
        source: ``hm3d`` or ``mp3d``.
        id: the scene's id.
        folder: the scan's own folder.
        stem: what its files' names begin with.
        looks: a GLB with textures that can be read.
        packed: a GLB whose textures are packed for graphics cards.
        semantic: the mesh that says whose each face is.
        numbers: what the things are: ``ID.semantic.txt``, or ``SCAN.house``.
    """

    source: str
    id: str
    folder: Path
    stem: str
    looks: Path | None = None
    packed: Path | None = None
    semantic: Path | None = None
    numbers: Path | None = None

    @property
    def seen(self) -> bool:
        """Whether there is a mesh among them."""
        return any(path is not None for path in (self.looks, self.packed, self.semantic))

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """What changes where one of the files does."""
        there = (self.looks, self.packed, self.semantic, self.numbers)
        stats = [(str(path), path.stat()) for path in there if path is not None]
        return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def hm3d_homes(folder: Path) -> dict[str, ScanFiles]:
    """The homes of HM3D's release in a folder, in its splits too; by the names of their folders.

    Args:
        folder: holds ``NNNNN-ID`` folders, or ``train``, ``val``, ``minival`` that hold such.
    """
    return _all_in(folder, _SPLITS, _hm3d_files)


def mp3d_scans(folder: Path) -> dict[str, ScanFiles]:
    """The scans of Matterport3D in a folder that have a mesh or a house file of their own."""
    return _all_in(folder, _SCANS, _mp3d_files)


def _all_in(
    folder: Path, parts: Iterable[str], read: Callable[[Path], ScanFiles | None]
) -> dict[str, ScanFiles]:
    """The scans of a folder and of some of its folders, by id; of one id the first counts."""
    found: dict[str, ScanFiles] = {}
    for place in (folder, *(folder / part for part in parts)):
        for home in _folders(place):
            if (files := read(home)) is not None:
                found.setdefault(files.id, files)
    return dict(sorted(found.items()))


def scan_of(scene: Scene) -> ScanFiles | None:
    """The scan that a scene was loaded by; None where it was by none.

    By its origin: ``hm3d:DIR/ID``, or ``hm3d:ID``, which is in ``$NAVLOOM_DATA/hm3d``.
    """
    scheme, colon, rest = scene.origin.partition(":")
    homes = {"hm3d": hm3d_homes, "mp3d": mp3d_scans}.get(scheme)
    if not colon or homes is None or scene.source != scheme:
        return None
    folder, slash, name = rest.rstrip("/").rpartition("/")
    where = Path(folder or "/") if slash else Path(os.environ.get("NAVLOOM_DATA", "")) / scheme
    where = where.expanduser()
    return homes(where).get(name) if where.is_dir() else None


def load_scan(files: ScanFiles, *given: Any) -> Scene:
    """A scene from the mesh of a scan, which another package reads (group ``navloom.scans``).

    Args:
        files: where it is.
        given: what else the reader takes.

    Raises:
        SceneError: no package reads such meshes; a file is missing or broken, or nobody can stand
            in the scan.
    """
    read = plugin("navloom.scans", files.source, f"The mesh of {files.folder}", SceneError)
    scene: Scene = read(files, *given)
    return scene


def missing(files: ScanFiles, what: str, expected: str) -> SceneError:
    """One line about a file that a scan should have."""
    return SceneError(f"{files.folder}: there is no {what}: expected {expected}.")


def _folders(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        return
    for entry in sorted(os.scandir(place), key=lambda each: each.name):
        if not entry.name.startswith(".") and entry.is_dir():
            yield Path(entry.path)


def _hm3d_files(home: Path) -> ScanFiles | None:
    stem = home.name.partition("-")[2] or home.name
    looks, packed = home / f"{stem}.glb", home / f"{stem}.basis.glb"
    semantic, numbers = home / f"{stem}.semantic.glb", home / f"{stem}.semantic.txt"
    if not any(path.is_file() for path in (looks, packed, semantic, numbers)):
        return None
    return ScanFiles(
        "hm3d",
        home.name,
        home,
        stem,
        *(_there(each) for each in (looks, packed, semantic, numbers)),
    )


def _mp3d_files(home: Path) -> ScanFiles | None:
    stem = home.name
    looks, semantic = home / f"{stem}.glb", home / f"{stem}_semantic.ply"
    house = home / f"{stem}.house"
    if not any(path.is_file() for path in (looks, semantic, house)):
        return None
    return ScanFiles("mp3d", stem, home, stem, _there(looks), None, _there(semantic), _there(house))


def _there(path: Path) -> Path | None:
    return path if path.is_file() else None
