"""Interface of the motion and planning that a simulator backend provides for a body.

``embedded`` provides the exact mover of a scene's mesh
(:mod:`navloom_worlds.motion.collision_motion`) and its field. ``habitat`` provides the navmesh of
its process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from navloom.errors import SceneError, SimulatorError
from navloom.scenes.bodies import FloorPose, MotionModel, MotionResult
from navloom.scenes.scene import Point3
from navloom_worlds.motion.body_field import FloorPath


@dataclass(frozen=True)
class MotionBackend:
    """Motion, shortest path and driving of one body in a scene.

    Attributes:
        made: builds the motion; called when the body first moves.
        way: returns the shortest path from a point to the nearest of some goals; None if none.
        route: drives the body from its path so far to a goal that it did not reach on its shortest
            path; None where it does not arrive.
    """

    made: Callable[[], MotionModel]
    way: Callable[[Point3, Sequence[Point3]], FloorPath | None]
    route: Callable[[Sequence[FloorPose], Point3], MotionResult | None] = lambda _, __: None

    @cached_property
    def moves(self) -> MotionModel:
        """Motion of the body, built on first use.

        Raises:
            SimulatorError: it cannot be built from the scene.
        """
        try:
            return self.made()
        except SceneError as error:
            raise SimulatorError(f"Nothing can be driven on: {error}") from error
