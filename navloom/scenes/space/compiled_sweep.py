"""Sweeps in compiled code, where numba is installed (extra ``fast``); the same contacts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any


@lru_cache(maxsize=1)
def compiled_sweep() -> Callable[..., Any] | None:
    """The sweep, compiled once and kept on disk by numba; None without numba.

    Where there is one it sweeps from the first motion on: it rounds its last bits otherwise than
    numpy, and a body that is put back in another process must go on exactly.
    """
    if find_spec("numba") is None:
        return None
    from navloom.scenes.space.sweep_numba import compiled

    return compiled
