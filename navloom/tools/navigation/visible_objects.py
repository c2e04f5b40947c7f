"""Objects visible from a viewpoint, as prompt lines of a pointing task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from navloom.scenes.distances import turn_between
from navloom.sim.caption_composer import one_line
from navloom.tools.navigation.step_options import turn_text

_MOST_THINGS = 200
_MOST_NAME = 60


class VisibleObject(TypedDict):
    """Object visible from a viewpoint."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
    name: Annotated[str, Field(max_length=200)]
    """Untrusted."""
    heading: Annotated[float, Field(allow_inf_nan=False)]
    """Its direction, radians clockwise from -z."""


Things = Annotated[list[VisibleObject], Field(max_length=_MOST_THINGS)]


def object_lines(things: Sequence[VisibleObject], heading: float) -> list[str]:
    """Return one line an object, from left to right of the heading: id, name and angle."""
    turns = [(turn_between(heading, each["heading"]), each) for each in things]
    ordered = sorted(turns, key=lambda pair: (pair[0], pair[1]["id"]))
    return [
        f"{each['id']}: {one_line(each['name'], _MOST_NAME) or 'a thing'} ({turn_text(turn)})"
        for turn, each in ordered
    ]
