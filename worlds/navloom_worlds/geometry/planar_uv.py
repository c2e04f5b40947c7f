"""Planar texture coordinates for faces that have none, projected along the face normal."""

from __future__ import annotations

import numpy as np

from navloom_worlds.geometry.arrays import F32


def project_uv(corners: F32, normal: F32) -> F32:
    """Return texture coordinates of faces: metres across and down, seen along the normal.

    Args:
        corners: (n, 3, 3) corners of each face, metres.
        normal: (n, 3) unit normals.

    Returns:
        (n, 3, 2) coordinates of each corner.
    """
    across, down = plane_tangents(normal)
    return np.stack(
        [
            np.einsum("nki,ni->nk", corners.astype(np.float64), across),
            np.einsum("nki,ni->nk", corners.astype(np.float64), down),
        ],
        axis=2,
    ).astype(np.float32)


def plane_tangents(normal: F32) -> tuple[F32, F32]:
    """Return two unit vectors in each plane: across, horizontal, and down (+z if it is level).

    Args:
        normal: (n, 3) unit.
    """
    level = np.abs(normal[:, 1]) > 0.9
    flat = np.hypot(normal[:, 0], normal[:, 2])
    flat = np.where(flat > 1e-6, flat, 1)
    across = np.stack([normal[:, 2] / flat, np.zeros(len(normal)), -normal[:, 0] / flat], axis=1)
    # Nearly level faces use the scene's own axes.
    tilt = np.maximum(np.hypot(normal[:, 0], normal[:, 1]), 1e-6)
    east = np.stack([normal[:, 1] / tilt, -normal[:, 0] / tilt, np.zeros(len(normal))], axis=1)
    east *= np.where(normal[:, 1] < 0, -1, 1)[:, None]
    across = np.where(level[:, None], east, across)
    down = np.cross(across, normal)
    down *= np.where(level & (normal[:, 1] < 0), -1, 1)[:, None]
    # A wall's texture points down, whatever the winding of its triangles.
    down *= np.where(~level & (down[:, 1] > 0), -1, 1)[:, None]
    return across.astype(np.float32), down.astype(np.float32)
