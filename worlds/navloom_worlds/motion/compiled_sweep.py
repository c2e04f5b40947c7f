"""Sweeps in compiled code, where numba is installed (extra ``fast``); the same to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from navloom_worlds.motion import first_contact


@lru_cache(maxsize=1)
def compiled_sweep() -> Callable[..., Any] | None:
    """The first contact, compiled once and kept on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from numba import njit

    # Copies that know one another as compiled; those of the module itself stay as they are.
    known = dict(vars(first_contact))
    for name, each in vars(first_contact).items():
        if isinstance(each, FunctionType):
            known[name] = njit(cache=True)(FunctionType(each.__code__, known, name))
    compiled: Callable[..., Any] = known["first_contact"]
    return compiled
