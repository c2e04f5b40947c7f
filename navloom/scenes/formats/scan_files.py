"""Locations of scan files: HM3D's release, and Matterport3D in habitat's layout.

    DIR/[SPLIT/]NNNNN-ID/ID.semantic.glb, ID.semantic.txt, ID.glb, ID.basis.glb        hm3d
    DIR/[scans/]SCAN/SCAN.glb, SCAN_semantic.ply, SCAN.house                            mp3d

Only names are read here, no contents.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import SceneError
from navloom.plugins import load_plugin
from navloom.scenes.scene import Scene

_SPLITS = ("train", "val", "minival", "test", "example")
_SCANS = ("scans", "v1/scans")


@dataclass(frozen=True)
class ScanFiles:
    """Files of one scan; missing ones are None.

    Attributes:
        source: ``hm3d`` or ``mp3d``.
        id: the scene's id.
        folder: the scan's own folder.
        stem: prefix of its files' names.
        looks: a GLB with textures that can be read.
        packed: a GLB whose textures are compressed for GPUs.
        semantic: the mesh that gives the object of each face.
        numbers: the objects' names: ``ID.semantic.txt``, or ``SCAN.house``.
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
        """True if there is a mesh among the files."""
        return any(path is not None for path in (self.looks, self.packed, self.semantic))

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Name, modification time and size of each file, to detect changes."""
        there = (self.looks, self.packed, self.semantic, self.numbers)
        stats = [(str(path), path.stat()) for path in there if path is not None]
        return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def find_hm3d_homes(folder: Path) -> dict[str, ScanFiles]:
    """Return the homes of HM3D's release in a folder and its splits, by folder name.

    Args:
        folder: holds ``NNNNN-ID`` folders, or splits such as ``train`` and ``val`` that hold them.
    """
    return _all_in(folder, _SPLITS, _hm3d_files)


def find_mp3d_scans(folder: Path) -> dict[str, ScanFiles]:
    """Return a folder's Matterport3D scans that have a mesh or house file of their own."""
    return _all_in(folder, _SCANS, _mp3d_files)


def _all_in(
    folder: Path, parts: Iterable[str], read: Callable[[Path], ScanFiles | None]
) -> dict[str, ScanFiles]:
    """Return the scans of a folder and some sub-folders, by id; the first of an id counts."""
    found: dict[str, ScanFiles] = {}
    for place in (folder, *(folder / part for part in parts)):
        for home in _folders(place):
            if (files := read(home)) is not None:
                found.setdefault(files.id, files)
    return dict(sorted(found.items()))


def scan_files_of(scene: Scene) -> ScanFiles | None:
    """Return the scan files that a scene was loaded from; None if there are none.

    They follow from its origin: ``hm3d:DIR/ID``, or ``hm3d:ID`` in ``$NAVLOOM_DATA/hm3d``.
    """
    scheme, colon, rest = scene.origin.partition(":")
    homes = {"hm3d": find_hm3d_homes, "mp3d": find_mp3d_scans}.get(scheme)
    if not colon or homes is None or scene.source != scheme:
        return None
    folder, slash, name = rest.rstrip("/").rpartition("/")
    where = Path(folder or "/") if slash else Path(os.environ.get("NAVLOOM_DATA", "")) / scheme
    where = where.expanduser()
    return homes(where).get(name) if where.is_dir() else None


def load_scan(files: ScanFiles, *given: Any) -> Scene:
    """Load a scene from a scan's mesh by another package (group ``navloom.scans``).

    Args:
        files: the scan's files.
        given: further arguments of the reader.

    Raises:
        SceneError: no package reads such meshes; a file is missing or broken, or the scan has no
            floor to stand on.
    """
    read = load_plugin("navloom.scans", files.source, f"The mesh of {files.folder}", SceneError)
    scene: Scene = read(files, *given)
    return scene


def missing_file(files: ScanFiles, what: str, expected: str) -> SceneError:
    """Return a one-line error about a file that a scan should have."""
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
