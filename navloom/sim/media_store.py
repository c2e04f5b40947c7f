"""Content-addressed image stores: images are kept under the hash of their bytes, each once.

A graph's state holds the name that ``put`` returned; readers call ``get``. A name is the SHA-256 of
the bytes with the ending of their format. Nothing else is accepted as a name, so that no text of a
model or a checkpoint can form a path.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from typing import Protocol, runtime_checkable

from navloom.errors import SceneError, SimulatorError
from navloom.files import replace_file
from navloom.scenes.safe_files import read_bytes, repr_of

MOST_BYTES = 16_000_000
"""Largest image. Providers accept less (:mod:`navloom.models.messages`)."""
MOST_KEPT = 256_000_000
"""Default capacity of a store in memory, in bytes."""

_NAME = re.compile(r"[0-9a-f]{64}\.(?:png|jpg|gif|webp)")
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF8", "gif"))


@runtime_checkable
class MediaStore(Protocol):
    """Interface of a store that keeps images by name."""

    def put(self, data: bytes) -> str:
        """Store an image and return its name.

        Raises:
            SimulatorError: it is no image, too large, or cannot be written.
        """
        ...

    def get(self, name: str) -> bytes:
        """Return the image of a name.

        Raises:
            SimulatorError: this is no valid name, or there is no such image.
        """
        ...


def media_name(data: bytes) -> str:
    """Return the name of an image: the SHA-256 of its bytes and the ending of its format.

    Args:
        data: a PNG, JPEG, GIF or WebP file of at most ``MOST_BYTES``.

    Raises:
        SimulatorError: it is none of these, or larger.
    """
    if len(data) > MOST_BYTES:
        raise SimulatorError(f"A picture of {len(data):,} bytes: expected at most {MOST_BYTES:,}.")
    ending = next((ending for magic, ending in _MAGIC if data.startswith(magic)), None)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        ending = "webp"
    if ending is None:
        raise SimulatorError(f"Expected a PNG, JPEG, GIF or WebP picture, got {data[:8]!r}...")
    return f"{sha256(data).hexdigest()}.{ending}"


def _checked(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SimulatorError(
            f"{repr_of(name)} names no picture: expected 64 hexadecimal digits and .png, .jpg, .gif"
            " or .webp."
        )
    return name


class FolderMedia:
    """Image store in a folder, one file an image, written atomically.

    Args:
        path: the folder; created with the first image.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def put(self, data: bytes) -> str:
        """Write an image unless it is there, and return its name; see :meth:`MediaStore.put`."""
        name = media_name(data)
        file = self.path / name
        try:
            if not file.is_file() or file.stat().st_size != len(data):
                self.path.mkdir(parents=True, exist_ok=True)
                replace_file(file, data)
        except OSError as error:
            raise SimulatorError(f"{file}: cannot be written: {error.strerror}.") from error
        return name

    def get(self, name: str) -> bytes:
        """Read an image and verify its hash; see :meth:`MediaStore.get`."""
        file = self.path / _checked(name)
        try:
            data = read_bytes(file, most=MOST_BYTES)
        except SceneError as error:
            raise SimulatorError(str(error)) from error
        if sha256(data).hexdigest() != name.partition(".")[0]:
            raise SimulatorError(f"{file}: the file was changed: its content has another hash.")
        return data


class MemoryMedia:
    """Image store in memory; if it is full, the least recently used image is dropped.

    Args:
        most: maximum number of bytes.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._held = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def put(self, data: bytes) -> str:
        """Store an image and return its name; see :meth:`MediaStore.put`."""
        name = media_name(data)
        if name not in self._kept:
            self._kept[name] = bytes(data)
            self._held += len(data)
        self._kept.move_to_end(name)
        while self._held > self._most and len(self._kept) > 1:
            self._held -= len(self._kept.popitem(last=False)[1])
        return name

    def get(self, name: str) -> bytes:
        """Return the image of a name; see :meth:`MediaStore.get`."""
        if _checked(name) not in self._kept:
            raise SimulatorError(f"{name}: there is no such picture in memory, or no longer.")
        self._kept.move_to_end(name)
        return self._kept[name]
