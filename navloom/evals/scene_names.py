"""Scenes by their portable names: ``hm3d:ID`` in a dataset, wherever the files are."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property

from navloom.errors import SceneError
from navloom.scenes.scene import Scene
from navloom.scenes.uri import list_scenes, load_scene

__all__ = ["SceneNames"]


class SceneNames:
    """Where to find the scenes that a dataset names.

    A name in a file is untrusted: it only ever picks from what a spec lists, or goes to
    ``load_scene`` in the form ``scheme:ID``.

    Args:
        specs: where scenes are, such as ``hm3d:DIR``. Without any, a name is looked up as it is:
            in the package or under ``$NAVLOOM_DATA``.

    Raises:
        SceneError: a spec names no scene.
    """

    def __init__(self, specs: str | Sequence[str] | None = None) -> None:
        self._given = [specs] if isinstance(specs, str) else list(specs or ())
        self._where = {_portable(uri): uri for spec in self._given for uri in list_scenes(spec)}

    def load(self, name: str) -> Scene:
        """Load a scene by its portable name.

        Raises:
            SceneError: it is not there, is broken, or is not the one asked for.
        """
        if name in self._where:
            scene = load_scene(self._where[name])
        elif name in self._files:
            scene = load_scene(self._files[name])
        elif name.startswith("demo:") or not self._given:
            if "/" in name or ":" not in name:
                raise SceneError(f"'{name}' is not a scene's portable name, such as 'hm3d:ID'")
            scene = load_scene(name)
        else:
            raise SceneError(f"'{name}' is not a scene of {', '.join(self._given)}")
        if scene.uri != name:
            raise SceneError(f"'{name}' was asked for and the scene there is '{scene.uri}'")
        return scene

    @cached_property
    def _files(self) -> dict[str, str]:
        """Where each scene.json is, by its scene's name: a file's own name says nothing of it."""
        found: dict[str, str] = {}
        for spec in self._given:
            for uri in list_scenes(spec) if ":" not in spec.split("/")[0] else ():
                # One broken file is no reason not to find the others.
                with contextlib.suppress(SceneError):
                    found[load_scene(uri).uri] = uri
        return found


def _portable(uri: str) -> str:
    """``hm3d:some/where/ID`` is ``hm3d:ID``."""
    scheme, colon, rest = uri.partition(":")
    return f"{scheme}:{rest.rstrip('/').rpartition('/')[2]}" if colon else uri
