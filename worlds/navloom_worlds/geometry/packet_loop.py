"""Packets of rays in compiled code, where numba is installed (extra ``fast``); the same packets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

ENOUGH = 400_000
"""Rays that are drawn in numpy before numba is loaded, which takes as long as they do."""
_drawn = [0]


@lru_cache(maxsize=1)
def compiled_loop() -> Callable[..., None] | None:
    """The loop over packets, compiled once and kept on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from navloom_worlds.geometry.packet_numba import compiled

    return compiled


def pays(rays: int) -> bool:
    """Whether compiled code is worth its loading by now; pictures are the same without it.

    Args:
        rays: that are to be drawn next.
    """
    if "numba" in sys.modules:
        return True
    _drawn[0] += rays
    return _drawn[0] > ENOUGH
