"""Loading of the numba-compiled loop over ray packets (extra ``fast``); results stay the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

ENOUGH = 400_000
"""Rays cast in numpy before numba is loaded; loading takes as long as casting these."""
_drawn = [0]


@lru_cache(maxsize=1)
def compiled_loop() -> Callable[..., None] | None:
    """Return the loop over packets, compiled and cached on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from navloom_worlds.geometry.packet_numba import compiled

    return compiled


def should_compile(rays: int) -> bool:
    """Check whether loading compiled code is worthwhile by now; results are the same without it.

    Args:
        rays: number of rays to cast next.
    """
    if "numba" in sys.modules:
        return True
    _drawn[0] += rays
    return _drawn[0] > ENOUGH
