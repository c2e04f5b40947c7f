"""Navloom's own ``scene.json`` format: one scene in one file, versioned, exact.

``load_file(save(scene, path)) == scene``, to the last bit of every number. The form is the
:class:`~navloom.scenes.scene.Scene` model's own JSON; ``docs/formats/scene-json.md`` describes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from navloom.errors import SceneError
from navloom.scenes.safe_files import parse_json, read_bytes, repr_of, scene_errors, write_atomic
from navloom.scenes.scene import Scene

VERSION: str = get_args(Scene.model_fields["version"].annotation)[0]
"""Version that this Navloom writes, and the only one it reads."""
MOST_BYTES = 64_000_000
"""Largest file that is read; the largest of 98 real and demo scenes has under 1 MB."""


def list_ids(folder: Path) -> list[str]:
    """Return the sorted names of a folder's ``*.json`` files, without their ending."""
    return sorted(path.stem for path in folder.glob("*.json") if path.is_file())


def load(folder: Path, scene_id: str) -> Scene:
    """Load the scene in ``folder/scene_id.json``; errors as :func:`load_file`."""
    # Users may name files freely, so any single name is valid; a path is not.
    if Path(scene_id).name != scene_id or scene_id == "..":
        raise SceneError(f"{repr_of(scene_id)} is not the name of a file in {folder}.")
    return load_file(folder / f"{scene_id}.json")


def load_file(path: Path) -> Scene:
    """Load the scene in a file that :func:`save` wrote.

    Raises:
        SceneError: path, field and expectation if the file is missing, too large, not JSON, of
            another version or broken.
    """
    raw = read_bytes(path, most=MOST_BYTES)
    data = parse_json(raw, path)
    if not isinstance(data, dict) or "version" not in data:
        raise SceneError(
            f"{path}: version: expected a scene that 'navloom scenes export' wrote, an object with "
            f'"version": "{VERSION}", and there is no version.'
        )
    if data["version"] != VERSION:
        raise SceneError(
            f"{path}: version: this file is of version {repr_of(data['version'])}, and this "
            f"Navloom reads {VERSION!r}."
        )
    with scene_errors(path):
        # Strict: a number given as a string is refused, else files would not round-trip.
        return Scene.model_validate_json(raw, strict=True)


def save(scene: Scene, path: Path) -> Path:
    """Write a scene to a file atomically.

    Returns:
        ``path``.

    Raises:
        SceneError: the file cannot be written.
    """
    write_atomic(path, scene.model_dump_json(indent=1) + "\n")
    return path
