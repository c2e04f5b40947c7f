"""What one may ask of a home: ``home:7?rooms=12&floors=2&style=rustic&clutter=tidy``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

VERSION = 1
"""Raised by every change that alters a home: a seed means a home of one version."""

Clutter = Literal["tidy", "lived-in", "cluttered"]
FEWEST_ROOMS, MOST_ROOMS = 4, 30
SMALLEST, LARGEST = 35, 350
"""Square metres of floor in all."""


class HomeSpec(BaseModel):
    """Wishes; what is None is drawn by the seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rooms: Annotated[int, Field(ge=FEWEST_ROOMS, le=MOST_ROOMS)] | None = None
    """Regions in all, hallways and stairwells, too."""
    floors: Annotated[int, Field(ge=1, le=3)] | None = None
    area: Annotated[int, Field(ge=SMALLEST, le=LARGEST)] | None = None
    """Square metres, over all floors."""
    style: Annotated[str, Field(pattern=r"^[a-z-]{1,30}$")] | None = None
    """The name of a style of the catalogue."""
    clutter: Clutter | None = None
