"""Loop over ray packets, compiled by numba; imported only if numba is installed.

The rows of a packet are those of :mod:`navloom_worlds.geometry.ray_packets`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_NO_LIMIT = np.float32(1e37)


def _meeting(_: Any, _function: Any, _valid: Any, _scene: Any, _rays: Any, _more: Any) -> Any:

    # Functions of other libraries are called by their address, which cannot be kept on disk.
    def code(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 4)
        called = builder.inttoptr(given[0], kind.as_pointer())
        builder.call(called, [builder.inttoptr(each, pointer) for each in given[1:]])
        return context.get_dummy_value()

    return types.void(*[types.uintp] * 5), code


# These are at module level: numba's disk cache of a nested function is not valid in the next
# process.
_meet: Any = intrinsic(_meeting)


def _loop(
    pointers: Any, starts: Any, ways: Any, shape: Any, ray: Any, whole: Any, found: Any
) -> None:  # pragma: no cover - compiled
    function, valid, scene, more, rays = pointers
    high, wide, down, across = shape
    distance, face, u, v = found
    one = len(starts) == 1
    for top in range(0, high, down):
        for left in range(0, wide, across):
            for lane in range(down * across):
                row = min(top + lane // across, high - 1)
                at = row * wide + min(left + lane % across, wide - 1)
                start = 0 if one else at
                for axis in range(3):
                    ray[axis, lane] = starts[start, axis]
                    ray[4 + axis, lane] = ways[at, axis]
                ray[8, lane] = _NO_LIMIT
                whole[17, lane] = -1
                whole[18, lane] = -1
            _meet(function, valid, scene, rays, more)
            for lane in range(down * across):
                row = min(top + lane // across, high - 1)
                at = row * wide + min(left + lane % across, wide - 1)
                distance[at] = ray[8, lane]
                face[at] = whole[17, lane]
                u[at] = ray[15, lane]
                v[at] = ray[16, lane]


compiled: Callable[..., None] = njit(cache=True, nogil=True)(_loop)
