"""Bodies: what an agent's body can pass, climb and open (CapNav B.1, the agent profile).

An embodiment says what a body is; whether it can use a certain link is
:mod:`navloom.scenes.traverse`, and moving it is the simulator's.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_Metres = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class Embodiment(BaseModel):
    """An agent's body and abilities.

    Sizes are in metres. ``width`` is across the direction of travel, ``depth`` along it; of a
    cylinder ``width`` is the diameter and ``depth`` is None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[
        str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]*$")
    ]
    shape: Literal["cylinder", "box"] = "cylinder"
    height: _Metres = 1.5
    width: _Metres = 0.4
    depth: _Metres | None = None
    max_step: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.1
    """The highest single step it can cross (``max_vertical_cross_height_m``)."""
    stairs: bool = True
    """Whether it can go up or down stairs."""
    elevator: bool = True
    """Whether it can operate an elevator."""
    doors: bool = True
    """Whether it can open a door."""
    turning_radius: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    """None where nobody said."""
    description: Annotated[str, Field(max_length=4000)] = ""


DEFAULT_BODY = Embodiment(name="ROBOT")
"""A slim body that uses stairs, elevators and doors: what R2R's graphs assume."""
