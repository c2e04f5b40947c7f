"""Shading in compiled code, where numba is installed (extra ``fast``); the same steps as in numpy.

Every number is of single precision and every sum in the same order as in
:mod:`navloom_worlds.rendering.shading`, so that pictures are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

_F = np.float32
_LEVELS = 10
_TO_STEPS = np.float32(8191 / 2.0)
_UNIT = np.float32(1 / 16_384)
_FROM_ALL = np.float32(0.9)


@lru_cache(maxsize=1)
def compiled_kernel() -> Callable[..., None] | None:
    """The kernel, compiled once and kept on disk by numba; None without numba."""
    if find_spec("numba") is None:
        return None
    from numba import njit

    found: Callable[..., None] = njit(cache=True, nogil=True, error_model="numpy")(_kernel)
    return found


def _kernel(
    hits: Any, table: Any, texels: Any, light: Any, curve: Any, pixel: Any, soft: Any, out: Any
) -> None:  # pragma: no cover - compiled
    face, u, v, distance, ways = hits
    rows, texture, gloss = table
    pixels, first, wide, high, linear = texels
    lit, light_wide = light
    bent, sides, zenith, horizon, earth = curve
    zero, one, half = _F(0), _F(1), _F(0.5)
    colour = np.zeros(3, dtype=np.float32)
    tone = np.zeros(3, dtype=np.float32)
    last = len(bent) - 1
    for i in range(len(face)):
        wx, wy, wz = ways[i, 0], ways[i, 1], ways[i, 2]
        f = face[i]
        if f < 0:
            rise = wy / np.sqrt(wx * wx + wy * wy + wz * wz)
            up = np.sqrt(min(max(rise, zero), one))
            down = min(max(-rise * _F(6), zero), one)
            haze = down * down * (_F(3) - _F(2) * down)
            for c in range(3):
                clear = horizon[c] + (zenith[c] - horizon[c]) * up
                colour[c] = clear + (earth[c] - clear) * haze
        else:
            row = rows[f]
            a, b = u[i], v[i]
            nx, ny, nz = row[16], row[17], row[18]
            facing = nx * wx + ny * wy + nz * wz
            across = row[6] + a * row[7] + b * row[8]
            below = row[9] + a * row[10] + b * row[11]
            aslant = np.sqrt(max(abs(facing), _F(0.05)))
            width = max(distance[i] * row[15] * pixel / aslant * _F(1.4142), one)
            level = 0
            while width >= _F(2) and level < _LEVELS - 1:
                width *= half
                level += 1
            size = texture[f] * _LEVELS + level
            across, below = across * _F(wide[size]), below * _F(high[size])
            if soft:
                across, below = across - half, below - half
            left, top = np.floor(across), np.floor(below)
            x, y = np.int32(left) & (wide[size] - 1), np.int32(top) & (high[size] - 1)
            texel = first[size] + y * wide[size] + x
            for c in range(3):
                colour[c] = linear[pixels[texel, c]]
            if soft:
                right, low = across - left, below - top
                next_x = (x + 1) & (wide[size] - 1)
                under = first[size] + ((y + 1) & (high[size] - 1)) * wide[size]
                beside = first[size] + y * wide[size] + next_x
                for c in range(3):
                    upper = colour[c] * (one - right) + linear[pixels[beside, c]] * right
                    lower = (
                        linear[pixels[under + x, c]] * (one - right)
                        + linear[pixels[under + next_x, c]] * right
                    )
                    colour[c] = upper * (one - low) + lower * low
            if light_wide:
                across = row[0] + a * row[1] + b * row[2]
                below = row[3] + a * row[4] + b * row[5]
                column, line = np.int32(across), np.int32(below)
                right, low = across - _F(column), below - _F(line)
                index = line * light_wide + column
                index = min(max(index, 0), len(lit) - light_wide - 2)
                for c in range(3):
                    upper = _F(lit[index, c]) * (one - right) + _F(lit[index + 1, c]) * right
                    lower = (
                        _F(lit[index + light_wide, c]) * (one - right)
                        + _F(lit[index + light_wide + 1, c]) * right
                    )
                    tone[c] = (upper * (one - low) + lower * low) * _UNIT
            else:
                toward = -one if facing > zero else one
                side = nx * sides[0] + ny * sides[1] + nz * sides[2]
                for c in range(3):
                    tone[c] = _FROM_ALL + toward * side
            for c in range(3):
                colour[c] = colour[c] * row[12 + c] * (tone[c] + row[19])
            if gloss[f] > _F(0.02):
                length = np.sqrt(wx * wx + wy * wy + wz * wz)
                facing = facing / length
                rise = wy / length - (facing + facing) * ny
                edge = max(one - abs(facing), zero)
                twice = edge * edge
                part = gloss[f] * (_F(0.05) + _F(0.6) * (twice * twice * edge))
                above = min(max(rise * _F(0.7) + half, _F(0.15)), one)
                around = above * ((tone[0] + tone[1] + tone[2]) * _F(1 / 3))
                for c in range(3):
                    colour[c] = colour[c] + (around - colour[c] * half) * part
        for c in range(3):
            step = np.sqrt(max(colour[c], zero)) * _TO_STEPS
            out[i, c] = bent[min(np.int32(min(step, _F(last))), last)]
