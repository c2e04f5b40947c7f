"""What a touch comes to: the options of a simulator with bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from navloom.errors import SimulatorError, did_you_mean
from navloom.scenes.checked_files import short

Physics: TypeAlias = Literal["off", "slide", "strict", "telhop"]
PHYSICS: tuple[Physics, ...] = get_args(Physics)
THRESHOLD_M = 0.1
"""A contact that displaces a body by so much is a collision (VLNVerse A.2.4)."""


@dataclass(frozen=True, slots=True)
class PhysicsRules:
    """What a touch comes to.

    Attributes:
        physics: ``off``: a hop follows the graph and touches nothing. ``slide``: bodies drive,
            and slide along what is in the way. ``strict``: the same, and a contact that displaces
            the body by the threshold ends its run. ``telhop``: a hop puts the body at its end, or
            at the nearest free place, which counts as a contact.
        threshold: in metres.
    """

    physics: Physics = "off"
    threshold: float = THRESHOLD_M

    @property
    def strict(self) -> bool:
        """Whether a contact can end a run."""
        return self.physics == "strict"


def physics_rules(physics: str, threshold: Any) -> PhysicsRules:
    """The rules that a backend's options say.

    Args:
        physics: one of :data:`PHYSICS`.
        threshold: in metres.

    Raises:
        SimulatorError: there is no such physics, or the threshold is none.
    """
    known = next((each for each in PHYSICS if each == physics), None)
    if known is None:
        raise SimulatorError(
            f"There is no physics {short(physics)}: expected one of {', '.join(PHYSICS)}."
            + (did_you_mean(physics, PHYSICS) if isinstance(physics, str) else "")
        )
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not math.isfinite(threshold) or threshold < 0:
        raise SimulatorError(
            f"A collision threshold of {short(threshold)}: expected metres, 0 or more."
        )
    return PhysicsRules(known, float(threshold))


def check_no_physics(backend: str, physics: str, threshold: Any) -> None:
    """Refuse physics where nothing can be touched.

    Args:
        backend: the one that has no bodies.
        physics: as :func:`physics_rules`; ``off`` is what it has.
        threshold: as there.

    Raises:
        SimulatorError: it is anything else.
    """
    if physics_rules(physics, threshold).physics != "off":
        raise SimulatorError(
            f"{backend} has nothing to touch, so no physics {physics}: use --backend embedded or"
            " habitat on a scene with geometry."
        )
