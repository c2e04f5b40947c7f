"""Builder of curtains: closed before a window, or open at its sides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import (
    BRASS,
    IRON,
    Builder,
    has_state,
    item_rng,
    lightness,
    size_of,
)
from navloom_worlds.furniture.rounded_shapes import ball, ring, sheet
from navloom_worlds.geometry.colours import item_surface
from navloom_worlds.geometry.solids import Part, beam


def curtain(item: Item) -> Iterator[Part]:
    """Build two lengths of pleated cloth on a rod; those of an open curtain are at its ends."""
    w, h, d = size_of(item)
    look = item_surface(item)
    rod = h - 0.025
    metal = IRON if lightness(look) > 0.4 else BRASS
    yield beam((-w / 2 + 0.02, rod, 0), (w / 2 - 0.02, rod, 0), 0.024, metal, sides=8)
    for s in (-1, 1):
        knob = 0.4 * d
        yield ball((s * (w / 2 - knob), rod, 0), (knob, 0.022, knob), metal, sides=8)
    each = w * 0.2 if has_state(item, "open") else w / 2 - 0.03
    folds = max(4, round(each / (0.07 if has_state(item, "open") else 0.12)))
    top, t = rod - 0.02, np.linspace(0, 1, folds * 5 + 1)
    # Waves grow wider downwards and stay before the rod, clear of casings and sills behind it.
    wave = np.sin(2 * np.pi * (folds * t + item_rng(item).random()))
    waves = [wave * d * 0.34 * wide - d * 0.16 for wide in (0.55, 0.8, 0.95, 1.0)]
    heights = np.array([top, top * 0.75, top * 0.4, 0.0])
    for s in (-1, 1):
        start = s * (w / 2 - 0.03)
        end = start - s * each
        x, y = np.meshgrid(start + (end - start) * t, heights)
        yield sheet(np.stack([x, y, waves], axis=2), look)
        for k in range(folds):
            at = start + (end - start) * (k + 0.5) / folds
            yield ring((at, top + 0.018, 0), 0.02, 0.006, metal, around=8, sides=3)


BY_NAME: dict[str, Builder] = {"curtain": curtain, "curtains": curtain, "drapes": curtain}
BY_SHAPE: dict[str, Builder] = {"curtain": curtain}
