"""Which thing each triangle of a semantic GLB is of: by its texture, or by its corners' colours.

A texture says it to the pixel, a triangle has one owner here: the thing that most of seven places
on it show. Colours of corners are linear in a glTF, those of the text are sRGB.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial import KDTree

from navloom.errors import SceneError
from navloom_worlds.geometry.glb_triangles import Floats, GlbTriangles, Ints

MOST_PIXELS = 300_000_000
"""Of one image of a semantic GLB."""
_NEAR = 2.1
"""Levels of 256 by which a colour may be off: files round them."""
_PLACES = np.array(
    [
        [1 / 3, 1 / 3, 1 / 3],
        [0.6, 0.2, 0.2],
        [0.2, 0.6, 0.2],
        [0.2, 0.2, 0.6],
        [0.45, 0.45, 0.1],
        [0.1, 0.45, 0.45],
        [0.45, 0.1, 0.45],
    ]
)
"""Weights of a triangle's corners: where on it its texture is looked at, its middle first."""
_BATCH = 200_000


@dataclass(frozen=True, eq=False)
class FaceNumbers:
    """Whose each face is.

    Attributes:
        numbers: (m,) int32; 0 for nobody's.
        strange: colours that nobody knows, 0xRRGGBB, the most frequent first.
        plain: whether colours of corners were found to be sRGB as they stand, not linear.
    """

    numbers: Ints
    strange: tuple[int, ...]
    plain: bool


def face_numbers(glb: GlbTriangles, numbers: Sequence[int], colours: Sequence[int]) -> FaceNumbers:
    """Find the thing of each face by colour.

    Args:
        glb: a semantic GLB.
        numbers: the numbers of things, above 0.
        colours: the colour of each, 0xRRGGBB in sRGB.

    Raises:
        SceneError: it has no colours at all, or an image in it is broken.
    """
    known = _Known(numbers, colours)
    textured = glb.textured
    coloured = ~textured & np.isfinite(glb.colours[glb.faces[:, 0], 0])
    if not (textured.any() or coloured.any()):
        raise SceneError(
            f"{glb.path}: has neither colours of corners nor textures that can be read: expected "
            "the colours of things, as a semantic GLB has them."
        )
    out = np.zeros(len(glb.faces), dtype=np.int32)
    codes: list[NDArray[np.int64]] = []
    if textured.any():
        out[textured] = _by_texture(glb, textured, known, codes)
    plain = False
    if coloured.any():
        corners = glb.faces[coloured]
        linear = _levels(_srgb(glb.colours[corners]))
        out[coloured] = known.most(linear)
        if not (out[coloured] > 0).mean() > 0.5:
            as_is = _levels(glb.colours[corners])
            other = known.most(as_is)
            if (other > 0).sum() > (out[coloured] > 0).sum():
                out[coloured], linear, plain = other, as_is, True
        codes.append(linear[:, 0][out[coloured] == 0])
    lost = np.concatenate(codes) if codes else np.zeros(0, dtype=np.int64)
    strange, many = np.unique(lost, return_counts=True)
    order = np.argsort(-many, kind="stable")
    return FaceNumbers(out, tuple(strange[order].tolist()), plain)


class _Known:
    """Numbers by colour."""

    def __init__(self, numbers: Sequence[int], colours: Sequence[int]) -> None:
        order = np.argsort(np.asarray(colours, dtype=np.int64), kind="stable")
        self._colours = np.asarray(colours, dtype=np.int64)[order]
        self._numbers = np.asarray(numbers, dtype=np.int32)[order]
        self._tree = KDTree(_bytes(self._colours))

    def of(self, codes: NDArray[np.int64]) -> Ints:
        """The number of each colour, 0 where nobody has it."""
        kinds, again = np.unique(codes, return_inverse=True)
        at = np.minimum(np.searchsorted(self._colours, kinds), len(self._colours) - 1)
        found = np.where(self._colours[at] == kinds, self._numbers[at], 0)
        lost = np.flatnonzero(found == 0)
        if len(lost):
            far, near = _nearest(self._tree, _bytes(kinds[lost]))
            held = np.isfinite(far)
            found[lost[held]] = self._numbers[near[held]]
        out: Ints = found[again.reshape(codes.shape)].astype(np.int32)
        return out

    def most(self, codes: NDArray[np.int64]) -> Ints:
        """(m, k) colours of places on each face -> the number that most of them have."""
        found = self.of(codes)
        votes = (found[:, :, None] == found[:, None, :]).sum(axis=2) * (found > 0)
        best: Ints = found[np.arange(len(found)), votes.argmax(axis=1)]
        return best


def _by_texture(
    glb: GlbTriangles, textured: NDArray[np.bool_], known: _Known, codes: list[NDArray[np.int64]]
) -> Ints:
    faces = np.flatnonzero(textured)
    images = np.array([-1 if image is None else image for _, image in glb.materials])
    which = images[glb.material[faces]]
    out = np.zeros(len(faces), dtype=np.int32)
    for image in np.unique(which).tolist():
        pixels = _pixels(glb, image)
        mine = np.flatnonzero(which == image)
        for first in range(0, len(mine), _BATCH):
            some = mine[first : first + _BATCH]
            corners = glb.uv[glb.faces[faces[some]]].astype(np.float64)
            at = np.einsum("pk,mkc->mpc", _PLACES, corners)
            at -= np.floor(at)
            high, wide = pixels.shape
            x = np.minimum((at[..., 0] * wide).astype(np.int64), wide - 1)
            y = np.minimum((at[..., 1] * high).astype(np.int64), high - 1)
            seen = pixels[y, x].astype(np.int64)
            out[some] = known.most(seen)
            codes.append(seen[:, 0][out[some] == 0])
    return out


def _pixels(glb: GlbTriangles, image: int) -> Ints:
    """An image's colours as 0xRRGGBB."""
    raw = glb.images[image] if 0 <= image < len(glb.images) else None
    if raw is None:
        return np.full((1, 1), -1, dtype=np.int32)
    try:
        with Image.open(io.BytesIO(raw)) as opened:
            if opened.size[0] * opened.size[1] > MOST_PIXELS:
                raise SceneError(
                    f"{glb.path}: images[{image}] is {opened.size[0]} x {opened.size[1]}: expected "
                    f"at most {MOST_PIXELS:,} pixels."
                )
            rgb = np.asarray(opened.convert("RGB"), dtype=np.uint8)
    except SceneError:
        raise
    except Exception as error:
        # Pillow meets broken images with errors of every kind.
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise SceneError(f"{glb.path}: images[{image}] is broken: {why}.") from error
    out = rgb[..., 0].astype(np.int32) << 16
    out |= rgb[..., 1].astype(np.int32) << 8
    out |= rgb[..., 2]
    return out


def _bytes(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.stack([codes >> 16 & 255, codes >> 8 & 255, codes & 255], axis=1).astype(np.float64)


def _nearest(tree: KDTree, at: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    far, near = tree.query(at, distance_upper_bound=_NEAR)
    return np.asarray(far), np.asarray(near)


def _levels(colours: Floats) -> NDArray[np.int64]:
    """(..., 3) colours from 0 to 1 as 0xRRGGBB."""
    level = np.round(np.clip(np.nan_to_num(colours), 0, 1) * 255).astype(np.int64)
    return level[..., 0] << 16 | level[..., 1] << 8 | level[..., 2]


def _srgb(linear: Floats) -> Floats:
    high = 1.055 * np.power(np.maximum(linear, 1e-9), 1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, linear * 12.92, high).astype(np.float32)
