"""Scenes by their portable names: ``hm3d:ID`` in a dataset, wherever the files are."""

from __future__ import annotations

from collections.abc import Sequence

from navloom.errors import SceneError
from navloom.scenes.scene import Scene
from navloom.scenes.uri import iter_scenes, list_scenes, load_scene

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
        elif name.startswith("demo:") or not self._given:
            scene = load_scene(self._plain(name))
        else:
            scene = self._search(name)
        if scene.uri != name:
            raise SceneError(f"'{name}' was asked for and the scene there is '{scene.uri}'")
        return scene

    def _plain(self, name: str) -> str:
        if "/" in name or ":" not in name:
            raise SceneError(f"'{name}' is not a scene's portable name, such as 'hm3d:ID'")
        return name

    def _search(self, name: str) -> Scene:
        """Look into scene.json files, whose names say nothing of the scenes in them."""
        for spec in self._given:
            if ":" not in spec.split("/")[0]:
                for scene in iter_scenes(spec):
                    if scene.uri == name:
                        return scene
        raise SceneError(f"'{name}' is not a scene of {', '.join(self._given)}")


def _portable(uri: str) -> str:
    """``hm3d:some/where/ID`` is ``hm3d:ID``."""
    scheme, colon, rest = uri.partition(":")
    return f"{scheme}:{rest.rstrip('/').rpartition('/')[2]}" if colon else uri
