"""A home of HM3D's release as a scene: ``NNNNN-ID/ID.semantic.glb``, ``.semantic.txt``, ``ID.glb``.

``docs/formats/hm3d.md`` has the whole of it. The release says of each triangle which thing it is
of, and of each thing its category and the number of its region. All else is found out here: rooms
from their floors, links where floors meet, viewpoints where one can walk.
"""

from __future__ import annotations

from navloom.scenes.checked_files import checked
from navloom.scenes.formats.scan_files import ScanFiles
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.scan import read_scan
from navloom_worlds.geometry.scan_rooms import Labels
from navloom_worlds.geometry.scan_scene import scan_scene


def load_home(files: ScanFiles, labels: Labels | None = None) -> Scene:
    """One home of the release.

    Args:
        files: where it is.
        labels: gives the types of rooms, where another file says them.

    Raises:
        SceneError: a file is missing or broken, or nobody can stand in the home.
    """
    with checked(files.folder):
        scan = read_scan(files)
        notes = []
        if files.looks is None and files.packed is not None:
            notes.append(
                f"{files.packed.name} has textures packed for graphics cards (basis), which are "
                f"not read: the home is seen grey. {files.stem}.glb of the release has plain ones."
            )
        elif files.looks is None:
            notes.append(f"There is no {files.stem}.glb: the home is seen grey.")
        return scan_scene(scan, notes, labels)
