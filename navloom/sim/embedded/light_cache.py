"""Light kept on disk by what it was worked out from: one npz file a mesh, in the user's cache.

Nothing in a file names code to be run. One that is broken is worked out anew; when the folder
grows over its bound, what was not used for longest goes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path

import numpy as np

from navloom.models.cache import LIGHT, cache_folder
from navloom.sim.embedded.atlas import Light
from navloom.sim.embedded.facets import Facets

FORMAT = 7
"""Raised when light is worked out in another way."""
MOST_BYTES = 1_000_000_000
_counter = count()
_said: set[str] = set()


def light_folder(given: Path | str | None = None) -> Path:
    """Where light is kept: ``light`` in the folder of the cache."""
    return cache_folder(given) / LIGHT


def light_key(facets: Facets) -> str:
    """The name of a mesh's light: a hash of all that it depends on."""
    mesh = facets.mesh
    whole = sha256(f"navloom light {FORMAT}".encode())
    parts = (mesh.vertices, mesh.faces, mesh.owners, mesh.smooth, facets.albedo, facets.glow)
    for part in parts:
        whole.update(f"{part.dtype.str}{part.shape}".encode())
        whole.update(np.ascontiguousarray(part).data)
    return whole.hexdigest()


def kept(facets: Facets, make: Callable[[], Light], folder: Path | None = None) -> Light:
    """The light of a mesh from disk, or made and put there.

    Args:
        facets: the mesh.
        make: works the light out.
        folder: where it is kept; None is the user's cache folder.
    """
    where = folder or light_folder()
    path = where / f"{light_key(facets)}.npz"
    found = _read(path, len(facets.area))
    if found is None:
        found = make()
        _write(path, found)
    return found


def entries(folder: Path | None = None) -> Iterator[tuple[Path, os.stat_result]]:
    """The files of light that there are, and how large and old each is."""
    for path in sorted((folder or light_folder()).glob("*.npz*")):
        with contextlib.suppress(FileNotFoundError):
            yield path, path.stat()


def prune_light(folder: Path, older_than: float | None = None) -> tuple[int, int]:
    """Delete light.

    Args:
        folder: where it is kept.
        older_than: only what was not used for so many seconds; None deletes all.

    Returns:
        How many files, and their bytes.
    """
    before, number, size = time.time() - (older_than or 0.0), 0, 0
    for path, found in entries(folder):
        if older_than is None or found.st_mtime < before:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
                number, size = number + 1, size + found.st_size
    return number, size


def _read(path: Path, faces: int) -> Light | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            light = Light(parts["texels"], int(parts["wide"]), parts["place"])
        sound = (
            light.texels.dtype == np.uint16
            and light.texels.ndim == 2
            and light.texels.shape[1] == 3
            and light.place.dtype == np.float32
            and light.place.shape == (faces, 6)
            and light.wide > 0
            and len(light.texels) % light.wide == 0
        )
        if not sound:
            raise ValueError("not what was written")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
        with contextlib.suppress(OSError):
            path.unlink()
        why = str(error) or type(error).__name__
        _once("broken", f"light in {path.parent}: a broken entry is worked out anew ({why})")
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return light


def _write(path: Path, light: Light) -> None:
    half = path.with_name(f"{path.name}.{os.getpid()}-{next(_counter)}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with half.open("wb") as file:
            np.savez(file, texels=light.texels, wide=np.int64(light.wide), place=light.place)
        half.replace(path)
        _bounded(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)
        why = error.strerror or type(error).__name__
        _once("full", f"light in {path.parent}: {why}; it is not kept")


def _bounded(newest: Path) -> None:
    """Drop what was not used for longest, until the folder keeps to its bound."""
    there = sorted(entries(newest.parent), key=lambda each: (each[1].st_mtime, each[0].name))
    size = sum(found.st_size for _, found in there)
    for path, found in there:
        if size <= MOST_BYTES:
            break
        if path != newest:
            with contextlib.suppress(OSError):
                path.unlink()
            size -= found.st_size


def _once(kind: str, text: str) -> None:
    if kind not in _said:
        _said.add(kind)
        logging.getLogger("navloom").warning(text)
