"""Three homes written by hand that ship with the package: ``demo:flat``, ``:house``, ``:villa``.

Their geometry is true: rooms that tile a plan, doors in the walls between them, furniture with
real sizes that stands clear of the doors, things that stand on furniture. Each is a scene.json in
``demo_homes/``; ``tests/scenes/homes`` holds what they were written as, and the program that lays
them out.
"""

from __future__ import annotations

from pathlib import Path

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.files import ids_in
from navloom.scenes.formats.scene_json import load_file
from navloom.scenes.scene import Scene

HOMES = Path(__file__).with_name("demo_homes")


def list_ids(folder: Path) -> list[str]:  # noqa: ARG001 - every format is asked the same way
    """The names of the demo homes; the folder does not count."""
    return ids_in(HOMES, ".json")


def load(folder: Path, scene_id: str) -> Scene:
    """Load one demo home.

    Args:
        folder: does not count; the homes lie in the package.
        scene_id: ``flat``, ``house`` or ``villa``.

    Raises:
        SceneError: where there is no such home.
    """
    known = list_ids(folder)
    if scene_id not in known:
        raise SceneError(
            f"There is no demo home '{scene_id[:80]}', expected one of {', '.join(known)}."
            + did_you_mean(scene_id, known)
        )
    return load_file(HOMES / f"{scene_id}.json")
