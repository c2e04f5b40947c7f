"""Loader of an HM3D home as a scene: ``NNNNN-ID/ID.semantic.glb``, ``.semantic.txt``, ``ID.glb``.

``docs/formats/hm3d.md`` describes it in full. The release gives the object of each triangle, and
the category and region number of each object. The rest is inferred here: rooms from their floors,
links from touching floors, viewpoints from the walkable area.
"""

from __future__ import annotations

from navloom.scenes.formats.scan_files import ScanFiles
from navloom.scenes.safe_files import scene_errors
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.scan_reader import read_scan
from navloom_worlds.geometry.scan_rooms import Labels
from navloom_worlds.geometry.scan_scene import make_scan_scene


def load_home(files: ScanFiles, labels: Labels | None = None) -> Scene:
    """Load one home of the release as a scene.

    Args:
        files: files of the home.
        labels: gives the types of rooms, if another file has them.

    Raises:
        SceneError: a file is missing or broken, or a person can stand nowhere in the home.
    """
    with scene_errors(files.folder):
        scan = read_scan(files)
        notes = []
        if files.looks is None and files.packed is not None:
            notes.append(
                f"{files.packed.name} has textures packed for graphics cards (basis), which are "
                f"not read: the home is seen grey. {files.stem}.glb of the release has plain ones."
            )
        elif files.looks is None:
            notes.append(f"There is no {files.stem}.glb: the home is seen grey.")
        return make_scan_scene(scan, notes, labels)
