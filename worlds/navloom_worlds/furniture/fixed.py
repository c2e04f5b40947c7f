"""The builders of what stays where it stands: furniture, appliances, baths and kitchens."""

from __future__ import annotations

from navloom_worlds.furniture import (
    appliances,
    bathroom,
    beds,
    cases,
    chairs,
    cupboards,
    drapes,
    electronics,
    hearth,
    kitchen,
    machines,
    ovens,
    racks,
    riding,
    shelving,
    showers,
    sofas,
    sport,
    tables,
    upright,
    worktops,
)
from navloom_worlds.furniture.making import Builder

_FILES = (
    appliances,
    bathroom,
    beds,
    cases,
    chairs,
    cupboards,
    drapes,
    kitchen,
    machines,
    ovens,
    showers,
    sofas,
    tables,
    electronics,
    hearth,
    racks,
    shelving,
    riding,
    sport,
    upright,
    worktops,
)
BY_NAME: dict[str, Builder] = {name: make for file in _FILES for name, make in file.BY_NAME.items()}
BY_SHAPE: dict[str, Builder] = {
    word: make for file in _FILES for word, make in file.BY_SHAPE.items()
}
