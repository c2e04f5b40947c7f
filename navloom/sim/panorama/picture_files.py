"""One picture as one file, and back: bounded, and without loss but for JPEG.

rgb     PNG or JPEG
depth   PNG of 16 bits: millimetres, 0 where nothing was hit, 65,535 from 65.535 m on
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
"""Of one file."""
QUALITY = 90
"""Of JPEG."""
_MODES = {"rgb": ("RGB", "L", "P", "RGBA", "CMYK"), "depth": ("I;16", "I"), "ids": ("RGBA",)}


def ending(modality: Modality, picture_format: Format) -> str:
    """How a file's name ends."""
    return picture_format if modality == "rgb" else "png"


def encoded(modality: Modality, image: NDArray[Any], picture_format: Format) -> bytes:
    """A picture as a file.

    Args:
        modality: what it shows.
        image: as :class:`navloom.sim.protocol.View` has it.
        picture_format: of colour.
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


def decoded(
    modality: Modality, data: bytes, width: int, height: int, where: object
) -> NDArray[Any]:
    """The picture that a file holds.

    Args:
        modality: what it shows.
        data: the file.
        width: pixels it must have; none is decoded before that is seen.
        height: likewise.
        where: which picture it is, for the message.

    Returns:
        As :class:`navloom.sim.protocol.View` has it.

    Raises:
        SimulatorError: it is no such picture, is cut off, or has another size.
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


def read_picture(path: Path) -> bytes:
    """The bytes of a file; no link is followed.

    Raises:
        FileNotFoundError: there is none.
        SimulatorError: it cannot be read, or is too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            # A buffer of the most there may be would cost more than the file.
            data = stream.read(min(os.fstat(handle).st_size, MOST_BYTES) + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SimulatorError(f"{path}: cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise SimulatorError(f"{path}: expected at most {MOST_BYTES:,} bytes.")
    return data


def fits(path: Path, digest: str) -> bool:
    """Whether a file is there and holds what it should."""
    try:
        return sha256(read_picture(path)).hexdigest() == digest
    except (FileNotFoundError, SimulatorError):
        return False
