"""Homes made from a seed: nothing is read, and ``home:7`` is the same home on every machine."""

from __future__ import annotations

from pathlib import Path

from navloom.scenes.homes.home_names import FIRST, read_name, read_names
from navloom.scenes.homes.home_spec import VERSION as VERSION
from navloom.scenes.scene import Scene


def list_ids(folder: Path) -> list[str]:  # noqa: ARG001 - there is no folder
    """The names of the first homes; there is no end of them."""
    return read_names(FIRST)


def load(folder: Path, scene_id: str) -> Scene:  # noqa: ARG001
    """Make the home of a portable name.

    Raises:
        SceneError: it is no name of a home, or no home is as the name wishes.
    """
    from navloom.scenes.homes.maker import make_home

    return make_home(*read_name(scene_id))
