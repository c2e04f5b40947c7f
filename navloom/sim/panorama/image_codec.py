"""Encoding and decoding of one image as one file, with bounds; lossless except for JPEG.

rgb     PNG or JPEG
depth   PNG of 16 bits: millimetres, 0 for no hit, 65,535 from 65.535 m on
ids     PNG of four channels of 8 bits: R + 256 G + 65,536 B + 16,777,216 A, a signed number of
        32 bits
"""

from __future__ import annotations

import os
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from navloom.errors import SimulatorError
from navloom.sim.panorama.manifest import Format, Modality

MOST_BYTES = 64_000_000
"""Maximum bytes of one file."""
QUALITY = 90
"""JPEG quality."""
_MODES = {"rgb": ("RGB", "L", "P", "RGBA", "CMYK"), "depth": ("I;16", "I"), "ids": ("RGBA",)}


def file_suffix(modality: Modality, picture_format: Format) -> str:
    """Return the file name suffix of a modality."""
    return picture_format if modality == "rgb" else "png"


def encode_image(modality: Modality, image: NDArray[Any], picture_format: Format) -> bytes:
    """Encode an image as a file's content.

    Args:
        modality: what it shows.
        image: as in :class:`navloom.sim.protocol.View`.
        picture_format: file format of colour images.
    """
    out = BytesIO()
    if modality == "rgb":
        picture = Image.fromarray(np.ascontiguousarray(image))
        if picture_format == "jpg":
            picture.save(out, "JPEG", quality=QUALITY)
            return out.getvalue()
    elif modality == "depth":
        seen = np.where(np.isfinite(image), image, 0)
        millimetres = np.clip(np.rint(seen * 1000), 0, 65_535).astype(np.uint16)
        picture = Image.fromarray(millimetres)
    else:
        numbers = np.ascontiguousarray(image, dtype="<i4")
        picture = Image.fromarray(numbers.view(np.uint8).reshape(*image.shape, 4), "RGBA")
    picture.save(out, "PNG", compress_level=4)
    return out.getvalue()


def decode_image(
    modality: Modality, data: bytes, width: int, height: int, where: object
) -> NDArray[Any]:
    """Decode a file's content into an image.

    Args:
        modality: what it shows.
        data: the file's content.
        width: required width in pixels, checked before decoding.
        height: likewise.
        where: the image's name, for messages.

    Returns:
        As in :class:`navloom.sim.protocol.View`.

    Raises:
        SimulatorError: it is no such image, is truncated, or has another size.
    """
    try:
        with Image.open(BytesIO(data), formats=("PNG", "JPEG")) as picture:
            if picture.size != (width, height):
                found = f"{picture.width} x {picture.height}"
                raise SimulatorError(
                    f"{where}: expected a picture of {width} x {height} pixels, found {found}."
                )
            if picture.mode not in _MODES[modality]:
                raise SimulatorError(f"{where}: no picture of {modality}: it is {picture.mode}.")
            if modality == "rgb" and picture.mode != "RGB":
                return np.asarray(picture.convert("RGB"))
            pixels = np.asarray(picture)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        why = " ".join(str(error).replace(repr(BytesIO), "").split())[:100]
        raise SimulatorError(f"{where}: no whole PNG or JPEG picture: {why}.") from error
    if modality == "rgb":
        return pixels
    if modality == "depth":
        return (pixels.astype(np.float32) / np.float32(1000)).astype(np.float32)
    return pixels.view("<i4").reshape(height, width).astype(np.int32)


def read_image_file(path: Path) -> bytes:
    """Read a file without following links.

    Raises:
        FileNotFoundError: there is none.
        SimulatorError: it cannot be read, or is too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            # A buffer of the maximum size would cost more than the file.
            data = stream.read(min(os.fstat(handle).st_size, MOST_BYTES) + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SimulatorError(f"{path}: cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise SimulatorError(f"{path}: expected at most {MOST_BYTES:,} bytes.")
    return data


def matches_digest(path: Path, digest: str) -> bool:
    """Check whether a file exists with this SHA-256."""
    try:
        return sha256(read_image_file(path)).hexdigest() == digest
    except (FileNotFoundError, SimulatorError):
        return False
