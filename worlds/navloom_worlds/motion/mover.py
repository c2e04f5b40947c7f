"""Bodies that move through a scene: they stop at what they meet or slide along it, and tell it all.

A body stands where nothing reaches into it between the height that it steps over and its own; that
is said of a place alone, not of how it came there, so a way that was open is open backwards. It
keeps half a millimetre from everything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, Shape, shape_of
from navloom.scenes.distances import per_scene
from navloom.scenes.parts import Point3
from navloom.scenes.scene import Scene
from navloom.scenes.terrain import NOBODY, Moved, Others, Stand
from navloom_worlds.motion.met import Surroundings
from navloom_worlds.motion.stands import finite
from navloom_worlds.motion.walk import Walk

_TRIES = 4
"""Times that a body turns to the same point."""
_NEARER, _AT = 0.01, 0.1
"""Metres by which it must come nearer each time, and that it may be off a point."""
_STEPPED = 0.3
"""Metres that the floor where one arrives may be off what was said."""


def mover_of(scene: Scene, body: Embodiment, gone: frozenset[int] = frozenset()) -> Mover:
    """What moves a body through a scene; made once per scene, body and what is gone.

    Args:
        scene: with geometry.
        body: what moves.
        gone: owners (:mod:`navloom_worlds.geometry.owners`) whose things it does not meet.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    key = f"mover {body.model_dump_json()} {sorted(gone)}"
    return per_scene(scene, key, lambda: Mover(scene, body, gone))


class Mover:
    """Moves one body through one scene.

    Args:
        scene: with geometry.
        body: what moves.
        gone: owners whose things it does not meet.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """

    def __init__(self, scene: Scene, body: Embodiment, gone: frozenset[int] = frozenset()) -> None:
        self.scene, self.body = scene, body
        self._around = Surroundings(scene, body, gone)

    @property
    def shape(self) -> Shape:
        """The body's footprint."""
        return self._around.shape

    def lines(self, y: float, box: tuple[float, float, float, float]) -> NDArray[np.float64]:
        """(n, 4) lines (x0, z0, x1, z1) that the body may not cross on level floor at y.

        Args:
            y: of the floor, metres.
            box: x0, z0, x1, z1 of where to look.
        """
        return self._around.lines(y, box).ends

    def fits(self, stand: Stand, others: Others = NOBODY) -> bool:
        """Whether the body overlaps nothing there and has floor beneath."""
        return self._around.fits(stand, others)

    def clearance(self, position: Point3) -> float:
        """Metres from a place to the nearest obstacle at the body's height; 10 where all is far."""
        return self._around.clearance(position)

    def settled(self, stand: Stand, others: Others = NOBODY, reach: float = 1.0) -> Stand | None:
        """The nearest place where the body fits, facing the same way; None within ``reach``."""
        return self._around.settled(stand, others, reach)

    def forward(
        self, stand: Stand, metres: float, *, slide: bool = True, others: Others = NOBODY
    ) -> Moved:
        """Go straight ahead; back where ``metres`` is negative.

        Raises:
            SceneError: it stands inside something, or ``metres`` is no number.
        """
        finite(metres=metres)
        pose = self._around.started(stand, others)
        walk = Walk(self._around, pose, others)
        _, _, ux, uz = pose.at
        walk.straight(ux * metres, uz * metres, slide=slide)
        return walk.moved(pose.x + ux * metres, pose.z + uz * metres)

    def shift(
        self, stand: Stand, dx: float, dz: float, *, slide: bool = False, others: Others = NOBODY
    ) -> Moved:
        """Be moved along the ground plane without turning: what a slide does, asked for alone.

        Raises:
            SceneError: it stands inside something, or a value is no number.
        """
        finite(dx=dx, dz=dz)
        pose = self._around.started(stand, others)
        walk = Walk(self._around, pose, others)
        walk.straight(dx, dz, slide=slide)
        return walk.moved(pose.x + dx, pose.z + dz)

    def turn(self, stand: Stand, radians: float, *, others: Others = NOBODY) -> Moved:
        """Turn on the spot, or on an arc of ``turning_radius`` where the body has one.

        Raises:
            SceneError: it stands inside something, or ``radians`` is no number.
        """
        finite(radians=radians)
        pose = self._around.started(stand, others)
        walk = Walk(self._around, pose, others)
        end = walk.round(self._around.aside(radians), radians)
        return walk.moved(end.x, end.z)

    def drive(
        self,
        stand: Stand,
        forward: float,
        turn: float,
        seconds: float,
        *,
        slide: bool = True,
        others: Others = NOBODY,
    ) -> Moved:
        """Drive at a speed and a rate of turning for some time: along an arc.

        Args:
            stand: where it is.
            forward: metres a second; negative is backwards.
            turn: radians a second, clockwise seen from above.
            seconds: how long.
            slide: whether it slides along what it meets.
            others: who stands in the way.

        Raises:
            SceneError: it stands inside something, or a value is no number.
        """
        finite(forward=forward, turn=turn, seconds=seconds)
        if seconds < 0:
            raise SceneError(f"seconds: expected 0 or more, found {seconds:g}.")
        angle, metres = turn * seconds, forward * seconds
        if abs(angle) < 1e-9:
            return self.forward(stand, metres, slide=slide, others=others)
        pose = self._around.started(stand, others)
        walk = Walk(self._around, pose, others)
        end = walk.round(metres / angle, angle, on=slide)
        if slide and walk.stopped:
            walk.struggle(metres, angle)
        return walk.moved(end.x, end.z)

    def follow(
        self, stand: Stand, points: Sequence[Point3], *, slide: bool = True, others: Others = NOBODY
    ) -> Moved:
        """Go along a line: turn to each point and go there; a disc need not turn to go.

        It stops where it comes no nearer than 0.1 m to a point.
        """
        pose = self._around.started(stand, others)
        walk = Walk(self._around, pose, others)
        for x, _, z in points:
            finite(x=x, z=z)
            # What slid along a thing has not come all the way, and is turned there anew.
            for _ in range(_TRIES if slide else 1):
                far = walk.off(x, z)
                if far < 1e-6:
                    break
                walk.face(x, z)
                _, _, ux, uz = walk.pose.at
                if shape_of(self.body).round:
                    walk.straight(x - walk.pose.x, z - walk.pose.z, slide=slide)
                else:
                    walk.straight(ux * far, uz * far, slide=slide)
                if far - walk.off(x, z) < _NEARER:
                    break
            if walk.off(x, z) > _AT:
                break
        last = points[-1] if points else stand.position
        return walk.moved(last[0], last[2])

    def passes(self, a: Point3, b: Point3) -> bool:
        """Whether it gets straight from a place to another, facing along, and touches nothing."""
        dx, dz = b[0] - a[0], b[2] - a[2]
        far = math.hypot(dx, dz)
        stand = Stand(a, math.atan2(dx, -dz) if far > 0 else 0.0)
        if not self.fits(stand):
            return False
        moved = self.forward(stand, far, slide=False)
        x, y, z = moved.stand.position
        arrived = math.hypot(b[0] - x, b[2] - z) < 1e-6 and abs(b[1] - y) <= _STEPPED
        return arrived and not moved.bumps
