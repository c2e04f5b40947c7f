"""What changes of a home cost: a table of prices, yours or ours.

Ours are rough prices of a craftsman in euros, to be told apart by their order of magnitude: to open
a door is next to nothing, a lift is a car. Whoever knows better gives a JSON file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.scenes.checked_files import read_json

_MOST_BYTES = 100_000
_Price = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class Costs(BaseModel):
    """A price of each kind of change; a key that is left out keeps ours."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    open: _Price = 5.0
    """Leave a closed door open, or unlock one."""
    remove: _Price = 15.0
    """Take a thing away, with what stands on it."""
    remove_kilogram: _Price = 0.5
    """And for each kilogram of it."""
    remove_fixed: _Price = 600.0
    """And where it is fitted: sinks, kitchens, toilets, stoves."""
    slide: _Price = 400.0
    """Hang a sliding door in place of one that swings."""
    level: _Price = 80.0
    """Take a sill away."""
    ramp: _Price = 200.0
    """Lay a ramp over a step."""
    ramp_metre: _Price = 2_000.0
    """And for each metre that it rises."""
    widen: _Price = 900.0
    """Widen a doorway, with a new door."""
    widen_metre: _Price = 2_000.0
    """And for each metre that it grows."""
    lift: _Price = 15_000.0
    """Build a platform lift through a floor."""


_FILE = TypeAdapter(Costs)


def load_costs(path: Path | None) -> Costs:
    """The prices of a JSON file, such as ``{"widen": 700}``; ours where there is none.

    Raises:
        SceneError: the file is missing or broken, or has a key that is no price.
    """
    if path is None:
        return Costs()
    found: Costs = read_json(path, _FILE, most=_MOST_BYTES)
    return found
