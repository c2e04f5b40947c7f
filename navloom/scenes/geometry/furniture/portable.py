"""Builders of what is carried about, and of what hangs on walls and from ceilings: one table."""

from __future__ import annotations

from navloom.scenes.geometry.furniture import (
    greenery,
    lighting,
    reading,
    soft_goods,
    vessels,
    wall_hangings,
)
from navloom.scenes.geometry.furniture.making import Builder

_FILES = (vessels, lighting, greenery, wall_hangings, reading, soft_goods)
BY_NAME: dict[str, Builder] = {k: b for file in _FILES for k, b in file.BY_NAME.items()}
BY_SHAPE: dict[str, Builder] = {k: b for file in _FILES for k, b in file.BY_SHAPE.items()}
