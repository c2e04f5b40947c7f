"""Paths and steps on the navmesh of a body, computed by habitat's process.

A navmesh is computed from the scene for a body: its radius is half the width, its height the
body's, and its climb ``max_step``, or a stair's rise if the body uses stairs. It is cached beside
the scene's export by these settings. A file made for other settings is replaced, with a log
message.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from navloom.errors import SimulatorError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Point3, Scene, distance_3d
from navloom_worlds.habitat.habitat_process import HabitatProcess, OpenScene, habitat_session
from navloom_worlds.habitat.habitat_scenes import SceneFiles
from navloom_worlds.motion.body_field import FloorPath

CELL_M = 0.05
STAIR_RISE_M = 0.2
"""Climb of a body that uses stairs; Habitat's own default."""


@dataclass(frozen=True)
class NavmeshMove:
    """Result of a move on a navmesh.

    Attributes:
        start: its first position on the navmesh.
        end: its last position.
    """

    start: Point3
    end: Point3


def navmesh_settings(body: Embodiment) -> dict[str, Any]:
    """Return a body's navmesh settings, by the names of habitat's ``NavMeshSettings``."""
    rise = max(body.max_step, STAIR_RISE_M) if body.stairs else body.max_step
    return {
        "cell_size": CELL_M,
        # Habitat's own 0.2 m would round a step of 0.1 m to none, and floors by as much.
        "cell_height": CELL_M,
        "agent_height": body.height,
        "agent_radius": body.width / 2,
        # Whole cells count, and a rise of 0.15 / 0.05 is 2.9999 of them.
        "agent_max_climb": rise + 1e-3,
    }


class WalkableScene:
    """Navmesh of a body in a scene.

    Args:
        scene: the scene; navmeshes contain the islands with its viewpoints.
        place: the scene that the process has open.
        files: files of the scene.
        body: the embodiment.
    """

    def __init__(self, scene: Scene, place: OpenScene, files: SceneFiles, body: Embodiment) -> None:
        self._scene, self._place, self._body = scene, place, body
        self._settings = navmesh_settings(body)
        told = json.dumps(self._settings, sort_keys=True).encode()
        self._file = str(files.navmeshes / f"{sha256(told).hexdigest()[:16]}.navmesh")

    def snap_points(self, points: Sequence[Point3]) -> list[Point3 | None]:
        """Return the nearest navmesh position of each point; None if there is none within 0.5 m.

        Raises:
            SimulatorError: there is no navmesh, or habitat_sim is missing.
        """
        found = self._asked("snap", points=list(points))["points"]
        return [None if each is None else _point(each) for each in found]

    def walked(
        self, start: Point3, heading: float, metres: float, *, slide: bool = True
    ) -> NavmeshMove | None:
        """Move straight from a position; return None if the start is on no ground.

        Args:
            start: a position on the floor.
            heading: radians, as everywhere.
            metres: distance ahead.
            slide: whether it slides along obstacles.

        Raises:
            SimulatorError: as :meth:`snapped`.
        """
        way = [metres * math.sin(heading), -metres * math.cos(heading)]
        found = self._asked("walk", start=start, way=way, slide=slide)
        if found["start"] is None:
            return None
        return NavmeshMove(_point(found["start"]), _point(found["end"]))

    def way(self, start: Point3, goals: Sequence[Point3]) -> FloorPath | None:
        """Return the shortest navmesh path to the nearest goal; None if there is none.

        Args:
            start: a position on the floor.
            goals: positions on floors.

        Raises:
            SimulatorError: as :meth:`snapped`.
        """
        found = self._asked("path", start=start, goals=list(goals))
        if not found["points"]:
            return None
        points = tuple(map(_point, found["points"]))
        if distance_3d(points[0], points[-1]) == 0:
            return FloorPath(points[:1], 0.0)
        return FloorPath(points, float(found["metres"]))

    def _asked(self, do: str, **given: Any) -> dict[str, Any]:
        with habitat_session(self._place) as process:
            if self._file not in process.navmeshes:
                self._load(process)
            return process.ask(do, file=self._file, **given)[0]

    def _load(self, process: HabitatProcess) -> None:
        floors = [each.ground for each in self._scene.viewpoints]
        said, _ = process.ask("navmesh", file=self._file, settings=self._settings, floors=floors)
        process.navmeshes.add(self._file)
        if said["made"]:
            # Replacing the navmesh of another body is worth a warning.
            level = logging.WARNING if said["why"] else logging.INFO
            why = f": the one that there was is {said['why']}" if said["why"] else ""
            what = f"{self._scene.uri}: a navmesh was made for {self._body.name}{why}"
            logging.getLogger("navloom").log(level, what)
        if not said["kept"]:
            raise SimulatorError(
                f"{self._scene.uri}: none of its viewpoints is on the navmesh of"
                f" {self._body.name}, {self._body.width:.2f} m wide and {self._body.height:.2f} m"
                " high: take a smaller body, or look whether the scene is in metres."
            )


def _point(found: Sequence[float]) -> Point3:
    x, y, z = found
    return float(x), float(y), float(z)
