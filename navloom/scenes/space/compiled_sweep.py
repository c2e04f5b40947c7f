"""Sweeps in compiled code, where numba is installed (extra ``fast``); the same contacts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

ENOUGH = 3_000
"""Motions that are swept in numpy before numba is loaded, which takes as long as they do."""
_swept = [0]


@lru_cache(maxsize=1)
def compiled_sweep() -> Callable[..., Any] | None:
    """The sweep, compiled once and kept on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from navloom.scenes.space.sweep_numba import compiled

    return compiled


def pays(motions: int) -> bool:
    """Whether compiled code is worth its loading by now.

    Args:
        motions: that are to be swept next.
    """
    if "numba" in sys.modules:
        return True
    _swept[0] += motions
    return _swept[0] > ENOUGH
