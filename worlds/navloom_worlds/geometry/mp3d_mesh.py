"""Loader of a Matterport3D scan with a mesh but no connectivity file, as in Habitat's download."""

from __future__ import annotations

from navloom.scenes.formats.mp3d_house import read_house
from navloom.scenes.formats.scan_files import ScanFiles
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.scan_reader import read_scan
from navloom_worlds.geometry.scan_scene import make_scan_scene


def load_scan(files: ScanFiles) -> Scene:
    """Load a scan from its mesh and its ``.house``: rooms from its floors, types from the house.

    Args:
        files: files of the scan.

    Raises:
        SceneError: a file is broken, or a person can stand nowhere in the scan.
    """
    scan = read_scan(files)
    notes = ["There is no connectivity file: viewpoints are made where one can walk in the mesh."]
    if files.looks is None:
        notes.append(f"There is no {files.stem}.glb: the scan is seen grey.")
    if files.numbers is None:
        return make_scan_scene(scan, notes)
    types = {room.number: room.label for room in read_house(files.numbers).rooms}
    return make_scan_scene(scan, notes, lambda _: types)
