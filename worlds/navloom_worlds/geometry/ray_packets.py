"""Ray casting of images in packets of sixteen neighbours: three times as fast as single rays.

embreex casts single rays only. The Embree 4 library in its wheels is called directly, by its C
interface (https://github.com/RenderKit/embree, "Embree API Reference"). Distances are identical.
Where two faces are at one distance, the other of them may be reported. Where the library is not
found, embreex casts images too.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.arrays import F32, I32, U8
from navloom_worlds.geometry.packet_jit import compiled_loop, should_compile

ROWS = 24
"""Values of a ray and its hit: ``RTCRayHit16`` has 21, one more level of instances 23."""
DIRECTION, FAR, MASK, FLAGS, U, FACE, INSTANCE = 4, 8, 9, 11, 15, 17, 19
NO_LIMIT = np.float32(1e37)
_PACKETS = 256
"""Packets filled before they are cast: they stay in the processor's cache."""
_PLACES = ("../embreex.libs/*embree4*", ".dylibs/*embree4*", "*embree4*.dll")
_DEVICE_VERSION, _NATIVE_16, _NATIVE_8 = 0, 34, 33
_TRIANGLES, _INDEX, _VERTEX, _UINT3, _FLOAT3 = 0, 0, 1, 0x5003, 0x9003
_ROBUST, _COHERENT, _ALL_FEATURES = 4, 1 << 16, 0xFFFFFFFF
_POINTER, _SIZE, _INT, _UINT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_uint
_INTERFACE: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "rtcNewDevice": (_POINTER, (ctypes.c_char_p,)),
    "rtcGetDeviceProperty": (ctypes.c_ssize_t, (_POINTER, _INT)),
    "rtcGetDeviceError": (_INT, (_POINTER,)),
    "rtcNewScene": (_POINTER, (_POINTER,)),
    "rtcSetSceneFlags": (None, (_POINTER, _INT)),
    "rtcCommitScene": (None, (_POINTER,)),
    "rtcReleaseScene": (None, (_POINTER,)),
    "rtcNewGeometry": (_POINTER, (_POINTER, _INT)),
    "rtcSetSharedGeometryBuffer": (
        None,
        (_POINTER, _INT, _UINT, _INT, _POINTER, _SIZE, _SIZE, _SIZE),
    ),
    "rtcCommitGeometry": (None, (_POINTER,)),
    "rtcAttachGeometry": (_UINT, (_POINTER, _POINTER)),
    "rtcReleaseGeometry": (None, (_POINTER,)),
    "rtcIntersect16": (None, (_POINTER, _POINTER, _POINTER, _POINTER)),
    "rtcIntersect8": (None, (_POINTER, _POINTER, _POINTER, _POINTER)),
}

Found = tuple[F32, I32, F32, F32]


@dataclass(frozen=True)
class _Embree:
    """Embree library, its device, and its packet size."""

    library: ctypes.CDLL
    device: int
    lanes: int


@lru_cache(maxsize=1)
def _embree() -> _Embree | None:
    """Return Embree 4 from embreex's wheel; None if it is not there."""
    found = find_spec("embreex")
    if found is None or found.origin is None or sys.maxsize < 2**32:
        return None
    folder = Path(found.origin).parent
    for path in (path for place in _PLACES for path in sorted(folder.glob(place))):
        try:
            library = ctypes.CDLL(str(path))
            for name, (result, arguments) in _INTERFACE.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError):
            continue
        device = library.rtcNewDevice(None)
        if device and library.rtcGetDeviceProperty(device, _DEVICE_VERSION) // 10_000 == 4:
            if library.rtcGetDeviceProperty(device, _NATIVE_16):
                return _Embree(library, device, 16)
            if library.rtcGetDeviceProperty(device, _NATIVE_8):
                return _Embree(library, device, 8)
    return None


def make_packets(vertices: F32, faces: I32) -> PacketCaster | None:
    """Return a packet caster for a mesh; None if there is no library for it.

    Args:
        vertices: (n, 3) metres.
        faces: (m, 3) rows of ``vertices``; at least one.
    """
    embree = _embree()
    if embree is None:
        return None
    found = PacketCaster(embree, vertices, faces)
    return None if embree.library.rtcGetDeviceError(embree.device) else found


class PacketCaster:
    """Packet ray caster on one mesh; create it with :func:`make_packets`."""

    def __init__(self, embree: _Embree, vertices: F32, faces: I32) -> None:
        library = embree.library
        self._lanes = embree.lanes
        # Embree reads sixteen bytes at the last corner, which has only twelve.
        corners = np.zeros((len(vertices) + 1, 3), dtype=np.float32)
        corners[:-1] = vertices
        rows = np.ascontiguousarray(faces, dtype=np.int32)
        scene = library.rtcNewScene(embree.device)
        library.rtcSetSceneFlags(scene, _ROBUST)
        shape = library.rtcNewGeometry(embree.device, _TRIANGLES)
        for kind, form, values, count in (
            (_VERTEX, _FLOAT3, corners, len(vertices)),
            (_INDEX, _UINT3, rows, len(rows)),
        ):
            library.rtcSetSharedGeometryBuffer(
                shape, kind, 0, form, values.ctypes.data, 0, 12, count
            )
        library.rtcCommitGeometry(shape)
        library.rtcAttachGeometry(scene, shape)
        library.rtcReleaseGeometry(shape)
        library.rtcCommitScene(scene)
        self._kept = (corners, rows)
        self._scene = scene
        self._meet = library.rtcIntersect16 if embree.lanes == 16 else library.rtcIntersect8
        self._valid = _aligned(16 * 4).view(np.int32)
        self._valid[:] = -1
        self._arguments = _aligned(64).view(np.uint32)
        self._arguments[:2] = _COHERENT, _ALL_FEATURES
        weakref.finalize(self, library.rtcReleaseScene, scene)

    def cast(self, starts: F32, ways: F32, wide: int) -> Found:
        """Return the first hit of each ray.

        Args:
            starts: (n, 3), or (3,) for all of them.
            ways: (n, 3) directions, row by row of the image.
            wide: columns of the image.

        Returns:
            Distances, faces, u and v, as Embree returns them: ``NO_LIMIT`` and -1 for a miss.
        """
        count = len(ways)
        found = (
            np.empty(count, dtype=np.float32),
            np.empty(count, dtype=np.int32),
            np.empty(count, dtype=np.float32),
            np.empty(count, dtype=np.float32),
        )
        high = count // wide
        across = 4 if high > 1 else self._lanes
        tile = (self._lanes // across, across)
        loop = compiled_loop() if should_compile(count) else None
        if loop is None:
            # A long list is cast in parts that stay in the processor's cache.
            part = _PACKETS * self._lanes if high == 1 else count
            for first in range(0, count, part):
                some = slice(first, first + part)
                start = starts if starts.ndim == 1 else starts[some]
                pictures = [each[some].reshape(high, -1) for each in found]
                self._looped(start, ways[some], pictures, tile)
            return found
        packet = self._blank(1)
        loop(
            tuple(np.uintp(each) for each in (*self._pointers(), packet.ctypes.data)),
            np.ascontiguousarray(starts.reshape(-1, 3)),
            np.ascontiguousarray(ways),
            (high, wide, *tile),
            packet[0],
            packet[0].view(np.int32),
            found,
        )
        return found

    def _pointers(self) -> tuple[int, int, int, int]:
        """Return the addresses of the Embree function and of all its arguments but the rays."""
        function = ctypes.cast(self._meet, _POINTER).value or 0
        return function, self._valid.ctypes.data, self._scene, self._arguments.ctypes.data

    def _blank(self, count: int) -> F32:
        """Return packets (count, ROWS, lanes) with the values that all rays share."""
        size = count * ROWS * self._lanes * 4
        rays = _aligned(size).view(np.float32).reshape(count, ROWS, self._lanes)
        rays.view(np.int32)[:, MASK] = -1
        rays.view(np.int32)[:, INSTANCE:] = -1
        return rays

    def _looped(
        self, starts: F32, ways: F32, pictures: list[NDArray[Any]], tile: tuple[int, int]
    ) -> None:
        """Cast rows of tiles one after another, packed and unpacked by numpy."""
        (high, wide), (down, across) = pictures[0].shape, tile
        columns = -(-wide // across)
        step = max(1, _PACKETS // columns) * down
        rays = self._blank(-(-min(step, high) // down) * columns)
        _, valid, scene, arguments = self._pointers()
        meet: Callable[..., None] = self._meet
        for top in range(0, high, step):
            rows = slice(top, min(high, top + step))
            some = rays[: -(-(rows.stop - top) // down) * columns]
            for row, values in ((0, starts), (DIRECTION, ways)):
                if values.ndim == 1:
                    some[:, row : row + 3] = values[:, None]
                else:
                    some[:, row : row + 3] = _tiled(values.reshape(high, wide, 3)[rows], tile)
            some[:, FAR] = NO_LIMIT
            some.view(np.int32)[:, FACE : FACE + 2] = -1
            first, long = some.ctypes.data, some.strides[0]
            for at in range(first, first + len(some) * long, long):
                meet(valid, scene, at, arguments)
            whole = some.view(np.int32)
            read = (some[:, FAR], whole[:, FACE], some[:, U], some[:, U + 1])
            for picture, each in zip(pictures, read, strict=True):
                tiles = each.reshape(-1, columns, down, across).transpose(0, 2, 1, 3)
                back = tiles.reshape(-1, columns * across)
                picture[rows] = back[: rows.stop - top, :wide]


def _tiled(values: F32, tile: tuple[int, int]) -> F32:
    """Return (rows, columns, 3) as (tiles, 3, rays of a tile), padded by repeating the border."""
    down, across = tile
    high, wide = values.shape[:2]
    if high % down or wide % across:
        more = ((0, -high % down), (0, -wide % across), (0, 0))
        values = np.pad(values, more, mode="edge")
        high, wide = values.shape[:2]
    cut = values.reshape(high // down, down, wide // across, across, 3)
    return cut.transpose(0, 2, 4, 1, 3).reshape(-1, 3, down * across)


def _aligned(size: int) -> U8:
    """Return zero bytes at the alignment that Embree needs."""
    raw = np.zeros(size + 64, dtype=np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size]
