"""What a body moves on: a small protocol, which backends answer each with what they have.

``embedded`` answers with the exact mover of a scene's mesh (:mod:`navloom.scenes.space.mover`) and
its field, ``habitat`` with the navmesh of its process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.scene import Point3
from navloom.scenes.space.body_field import Way
from navloom.scenes.space.stands import Moved, Others, Stand


class Moves(Protocol):
    """How one body moves in a scene; :class:`navloom.scenes.space.mover.Mover` is one."""

    def fits(self, stand: Stand, others: Others = ...) -> bool:
        """Whether the body overlaps nothing there, with floor beneath."""
        ...

    def settled(self, stand: Stand, others: Others = ..., reach: float = ...) -> Stand | None:
        """The nearest place where it fits; None where there is none within reach, in metres."""
        ...

    def forward(
        self, stand: Stand, metres: float, *, slide: bool = ..., others: Others = ...
    ) -> Moved:
        """Straight on, or back where metres are negative."""
        ...

    def turn(self, stand: Stand, radians: float, *, others: Others = ...) -> Moved:
        """Clockwise, on the spot or on the arc of the body's turning radius."""
        ...

    def drive(
        self,
        stand: Stand,
        forward: float,
        turn: float,
        seconds: float,
        *,
        slide: bool = ...,
        others: Others = ...,
    ) -> Moved:
        """Metres and radians a second, for so many seconds."""
        ...

    def follow(
        self, stand: Stand, points: Sequence[Point3], *, slide: bool = ..., others: Others = ...
    ) -> Moved:
        """From point to point on the floor, looking the way it goes."""
        ...


@dataclass(frozen=True)
class Footing:
    """What one body has under it in a scene.

    Attributes:
        made: makes what it moves by; called when it first moves.
        way: its shortest way from a point to the nearest of some; None where there is none.
    """

    made: Callable[[], Moves]
    way: Callable[[Point3, Sequence[Point3]], Way | None]

    @cached_property
    def moves(self) -> Moves:
        """How it moves.

        Raises:
            SimulatorError: that cannot be made of the scene.
        """
        try:
            return self.made()
        except SceneError as error:
            raise SimulatorError(f"Nothing can be driven on: {error}") from error
