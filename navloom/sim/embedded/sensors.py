"""Sensors and rigs: which pictures an agent takes wherever it stands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from navloom.errors import SimulatorError, did_you_mean

Modality = Literal["rgb", "depth", "ids"]


@dataclass(frozen=True, slots=True)
class Sensor:
    """One picture that is taken at every step.

    Attributes:
        modality: what it measures.
        heading: radians from the agent's own heading, clockwise; from north where ``compass``.
        elevation: radians, positive upwards.
        width: pixels.
        height: pixels.
        fov: horizontal, radians.
        compass: whether ``heading`` is from -z, however the agent is turned.
    """

    modality: Modality
    heading: float = 0.0
    elevation: float = 0.0
    width: int = 512
    height: int = 512
    fov: float = math.pi / 2
    compass: bool = False


Rig = tuple[Sensor, ...]

RIGS: dict[str, Rig] = {
    "vln-mme": tuple(
        Sensor(modality, heading=k * math.pi / 2, compass=True)
        for modality in ("rgb", "depth", "ids")
        for k in range(4)
    )
}
"""Rigs by name."""


def rig_of(rig: str | Rig) -> Rig:
    """A rig by name, or itself.

    Raises:
        SimulatorError: there is no such rig.
    """
    if not isinstance(rig, str):
        return rig
    if rig not in RIGS:
        raise SimulatorError(
            f"There is no rig '{rig}': expected one of {', '.join(RIGS)}.{did_you_mean(rig, RIGS)}"
        )
    return RIGS[rig]
