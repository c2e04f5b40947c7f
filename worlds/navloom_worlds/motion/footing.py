"""What a body moves on: a small protocol, which backends answer each with what they have.

``embedded`` answers with the exact mover of a scene's mesh (:mod:`navloom_worlds.motion.mover`) and
its field, ``habitat`` with the navmesh of its process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.bodies import Moved, Moves, Stand
from navloom.scenes.scene import Point3
from navloom_worlds.motion.body_field import Way


@dataclass(frozen=True)
class Footing:
    """What one body has under it in a scene.

    Attributes:
        made: makes what it moves by; called when it first moves.
        way: its shortest way from a point to the nearest of some; None where there is none.
        route: how it gets to a place where it has stopped on its shortest way, from where it was;
            None where it does not.
    """

    made: Callable[[], Moves]
    way: Callable[[Point3, Sequence[Point3]], Way | None]
    route: Callable[[Sequence[Stand], Point3], Moved | None] = lambda _, __: None

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
