"""Textures made in code, by name."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=64)
def texture(name: str) -> NDArray[np.uint8]:  # noqa: ARG001
    """A texture that repeats without a seam.

    Args:
        name: one of those that surfaces name.

    Returns:
        (height, width, 3) uint8, sRGB; white is the surface's own colour.
    """
    return np.full((4, 4, 3), 255, dtype=np.uint8)
