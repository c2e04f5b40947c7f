"""Files that a mesh file names, given to trimesh out of the mesh's own folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trimesh

from navloom.errors import SceneError
from navloom.scenes.checked_files import read_bytes, short
from navloom_worlds.geometry.mesh_guard import MOST_BYTES, inside


class Beside(trimesh.resolvers.Resolver):
    """Gives a mesh the files that it names, out of its own folder alone.

    Attributes:
        refused: why the first file was not given that may not be; "" where all may.
        missing: names that are not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file_name = path.name
        self.refused = ""
        self.missing: list[str] = []
        self._left = MOST_BYTES

    def get(self, key: str) -> bytes:
        """The bytes of a file.

        Raises:
            SceneError: it may not be read, is not there or is too large.
        """
        try:
            found = inside(self.path, key)
            raw = read_bytes(found, most=self._left)
        except SceneError as error:
            # trimesh goes on without what it cannot read, so what was refused is kept.
            if "no such file" in str(error):
                self.missing.append(key)
                gone = f"{self.path}: names {short(key)}, and there is no such file beside it."
                raise SceneError(gone) from error
            self.refused = self.refused or str(error)
            raise
        self._left -= len(raw)
        return raw

    def write(self, name: str, data: Any) -> None:
        """Nothing is ever written."""
        raise NotImplementedError

    def namespaced(self, namespace: str) -> Beside:
        """A folder within the folder is not a place of its own."""
        raise NotImplementedError

    def keys(self) -> list[str]:
        """Names are asked for, never listed."""
        return []
