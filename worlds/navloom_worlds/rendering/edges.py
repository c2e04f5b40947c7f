"""Where a picture has edges: the only pixels for which more than one ray is worth its time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from navloom_worlds.geometry.rays import Hits
from navloom_worlds.geometry.solids import Ints
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.facets import Facets

_STEP = np.float32(1.08)
"""Neighbours whose distances differ by more have an edge between them."""


def edge_codes(facets: Facets) -> Ints:
    """(m,) a number for each owner, look and way of facing; faces of one have no edge between."""
    mesh = facets.mesh
    way = np.rint(facets.normal * 3).astype(np.int64) + 3
    code = mesh.owners.astype(np.int64) * 65_537 + mesh.surface
    code = ((code * 7 + way[:, 0]) * 7 + way[:, 1]) * 7 + way[:, 2]
    numbers: Ints = np.unique(code, return_inverse=True)[1].astype(np.int32)
    return numbers


def edges(camera: Camera, hits: Hits, codes: Ints) -> NDArray[np.int64]:
    """The pixels on either side of an edge, as rows of ``hits``, in order."""
    shape = (camera.height, camera.width)
    code = codes.take(hits.face, mode="clip")
    code[hits.face < 0] = -1
    code = code.reshape(shape)
    far = hits.distance.reshape(shape)
    found = np.zeros(shape, dtype=np.bool_)
    for one, other in (
        ((slice(1, None), slice(None)), (slice(None, -1), slice(None))),
        ((slice(None), slice(1, None)), (slice(None), slice(None, -1))),
    ):
        apart = code[one] != code[other]
        apart |= far[one] > far[other] * _STEP
        apart |= far[other] > far[one] * _STEP
        found[one] |= apart
        found[other] |= apart
    return np.flatnonzero(found)
