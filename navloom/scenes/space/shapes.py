"""A body seen from above: a disc, or a rectangle that turns with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from navloom.scenes.bodies import Embodiment

STAIR = 0.25
"""Metres: the highest riser that a body takes which goes up stairs."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a body covers of the floor, in metres.

    Attributes:
        round: whether it is a disc.
        ahead: from its middle to its front; a disc's radius.
        aside: from its middle to its sides; a disc's radius.
    """

    round: bool
    ahead: float
    aside: float

    @property
    def outer(self) -> float:
        """The radius of the circle around it."""
        return self.ahead if self.round else math.hypot(self.ahead, self.aside)


def shape_of(body: Embodiment) -> Shape:
    """The footprint of a body: of a cylinder a disc, of a box ``width`` across and ``depth`` along.

    A box that does not say how deep it is is square.
    """
    aside = body.width / 2
    if body.shape == "cylinder":
        return Shape(True, aside, aside)
    return Shape(False, aside if body.depth is None else body.depth / 2, aside)


def inner(body: Embodiment) -> float:
    """Half of what it needs straight ahead, in metres."""
    return body.width / 2


def outer(body: Embodiment) -> float:
    """The radius of what it needs to turn on the spot, in metres."""
    return shape_of(body).outer


def climbs(body: Embodiment) -> float:
    """The highest single rise that a body takes anywhere, stairs included, in metres."""
    return max(body.max_step, STAIR) if body.stairs else body.max_step
