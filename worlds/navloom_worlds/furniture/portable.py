"""Builders of what is carried about, and of what hangs on walls and from ceilings: one table."""

from __future__ import annotations

from navloom_worlds.furniture import (
    carriers,
    clothing,
    gadgets,
    greenery,
    handtools,
    kitchenware,
    lighting,
    luggage,
    ornaments,
    pastimes,
    playthings,
    pocket_tools,
    reading,
    soft_goods,
    toiletries,
    vessels,
    wall_hangings,
)
from navloom_worlds.furniture.making import Builder

_FILES = (
    *(vessels, lighting, greenery, wall_hangings, reading, soft_goods, clothing, gadgets),
    *(
        kitchenware,
        toiletries,
        carriers,
        luggage,
        handtools,
        pocket_tools,
        playthings,
        pastimes,
        ornaments,
    ),
)
BY_NAME: dict[str, Builder] = {k: b for file in _FILES for k, b in file.BY_NAME.items()}
BY_SHAPE: dict[str, Builder] = {k: b for file in _FILES for k, b in file.BY_SHAPE.items()}
