"""Worker process that runs habitat_sim: renders images and computes paths, one request at a time.

It is run as a file, ``PYTHON habitat_worker.py FD``, by the Python that has habitat_sim. It imports
nothing of Navloom, and nothing newer than Python 3.9. FD is a socket. A request is one JSON
message, ``{"do": ..., ...}``. The answer is one JSON message and, for an image, one of bytes.
``{"error": ..., "kind": ...}`` is an answer, too. It ends when the socket closes.

Its camera is one node, moved to the pose of each image: any number of agents share one set of
sensors, and no two sensors can interfere.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

STEP_M = 0.05
"""Length in metres of the pieces of a move. ``try_step`` does not move at all if its end is nearer
to a floor behind a wall than to the one in front of it."""
LEAST_M, MOST_M = 1.0, 500.0
"""Minimum and maximum extent of a scene."""
NEAR_M, LEVEL_M = 0.5, 0.5
"""Maximum horizontal and vertical distance of a position on a navmesh. Habitat's own search also
accepts positions 2 m away, or on the floor above."""


class WorkerError(Exception):
    """Failed request, described in one line.

    Args:
        kind: ``import``, ``scene``, ``navmesh`` or ``ask``.
        text: the message.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class HabitatWorker:
    """State of a habitat process: open scene, its sensors, and the bodies' navmeshes by file."""

    def __init__(self) -> None:
        try:
            self.magnum: Any = importlib.import_module("magnum")
            self.habitat: Any = importlib.import_module("habitat_sim")
        except Exception as error:
            raise WorkerError("import", f"{type(error).__name__}: {error}") from error
        self.asked: dict[str, Any] = {}
        self.simulator: Any = None
        self.meshes: dict[str, Navmesh] = {}

    def enter(self, config: str, scene: str, gpu: int, modalities: list[str]) -> dict[str, Any]:
        """Set the scene and return {}; the first request that needs the scene opens it."""
        self.asked = {"config": config, "scene": scene, "gpu": gpu, "modalities": modalities}
        return {}

    def look(
        self, shape: list[Any], position: list[float], heading: float, elevation: float
    ) -> Any:
        """Render one image; return its shape and type, and its pixels."""
        uuid = _uuid(shape)
        if self.simulator is None:
            # Data that the first sensors do not need cannot be loaded later.
            kinds = {*self.asked.get("modalities", []), shape[0]}
            # HM3D's ids are in textures, which are loaded only if colours are requested.
            kinds |= {"rgb"} if "ids" in kinds else set()
            others = sorted(kinds - {shape[0]})
            first = [[each, "pinhole", 8, 8, 1.0] for each in others]
            self.simulator = self._opened([shape, *first])
        elif uuid not in self.simulator._sensors:
            self.simulator.add_sensor(self._spec(shape), 0)
        if shape[0] == "ids" and not len(self.simulator.semantic_scene.objects):
            # Habitat would draw zeros.
            raise WorkerError("semantics", "habitat finds no semantic annotations of it")
        magnum = self.magnum
        node = self.simulator.get_agent(0).scene_node
        turn = magnum.Quaternion.rotation(magnum.Rad(-heading), magnum.Vector3.y_axis())
        tilt = magnum.Quaternion.rotation(magnum.Rad(elevation), magnum.Vector3.x_axis())
        node.translation = magnum.Vector3(*position)
        node.rotation = turn * tilt
        sensor = self.simulator._sensors[uuid]
        sensor.draw_observation()
        image = _plain(shape, np.asarray(sensor.get_observation()))
        return {"shape": list(image.shape), "dtype": image.dtype.str}, image

    def renderer(self) -> dict[str, Any]:
        """Render an empty image as a test, and return the version of habitat_sim."""
        self.look(["rgb", "pinhole", 8, 8, 1.0], [0.0, 0.0, 0.0], 0.0, 0.0)
        return {"version": str(getattr(self.habitat, "__version__", "unknown"))}

    def navmesh(
        self, file: str, settings: dict[str, Any], floors: list[list[float]]
    ) -> dict[str, Any]:
        """Load the navmesh of a body, or compute and save it; return a record of it."""
        if file in self.meshes:
            return dict(self.meshes[file].said, made=False, why="")
        wanted = self.habitat.NavMeshSettings()
        wanted.set_defaults()
        for name, value in settings.items():
            setattr(wanted, name, value)
        finder, why = self.habitat.PathFinder(), ""
        there = Path(file).exists()
        sound = there and finder.load_nav_mesh(file) and finder.is_loaded
        made = not sound or finder.nav_mesh_settings != wanted
        if made:
            why = "of another body" if sound else "broken" if there else ""
            finder, why = self._made(wanted, why)
            half = Path(f"{file}.{os.getpid()}.part")
            half.parent.mkdir(parents=True, exist_ok=True)
            if finder.save_nav_mesh(str(half)):
                half.replace(file)
        self.meshes[file] = Navmesh(self.magnum, finder, floors)
        return dict(self.meshes[file].said, made=made, why=why)

    def snap(self, file: str, points: list[list[float]]) -> dict[str, Any]:
        """Return the navmesh position of each point; None if none is near."""
        mesh = self.meshes[file]
        return {"points": [_listed(mesh.near(each)) for each in points]}

    def walk(
        self, file: str, start: list[float], way: list[float], slide: bool = True
    ) -> dict[str, Any]:
        """Move by (x, z) metres from a position, along obstacles; return the start and the end."""
        mesh = self.meshes[file]
        here = mesh.near(start)
        if here is None:
            return {"start": None, "end": None}
        begun = here
        step = mesh.finder.try_step if slide else mesh.finder.try_step_no_sliding
        pieces = math.ceil(math.hypot(*way) / STEP_M - 1e-9)
        for _ in range(pieces):
            there = self.magnum.Vector3(here.x + way[0] / pieces, here.y, here.z + way[1] / pieces)
            here = step(here, there)
        return {"start": _listed(begun), "end": _listed(here)}

    def path(self, file: str, start: list[float], goals: list[list[float]]) -> dict[str, Any]:
        """Return the shortest path to the nearest goal: points and metres; no points if none."""
        mesh = self.meshes[file]
        here, ends = mesh.near(start), [mesh.near(each) for each in goals]
        reached = [(number, end) for number, end in enumerate(ends) if end is not None]
        if here is None or not reached:
            return {"points": [], "metres": None, "goal": None}
        path = self.habitat.MultiGoalShortestPath()
        path.requested_start = here
        path.requested_ends = [end for _, end in reached]
        found = mesh.finder.find_path(path)
        if not found or not math.isfinite(path.geodesic_distance):
            return {"points": [], "metres": None, "goal": None}
        return {
            "points": [[float(each) for each in point] for point in path.points],
            "metres": float(path.geodesic_distance),
            "goal": reached[path.closest_end_point_index][0],
        }

    def _made(self, wanted: Any, why: str) -> Any:
        """Compute a navmesh; return it and the reason why an existing one was not used."""
        own = self.simulator is None
        simulator = self._opened([]) if own else self.simulator
        shipped = simulator.pathfinder
        if not why and shipped.is_loaded and shipped.nav_mesh_settings != wanted:
            why = "of another body"
        finder = self.habitat.PathFinder()
        made = simulator.recompute_navmesh(finder, wanted) and finder.is_loaded
        if own:
            simulator.close()
        if not made or not finder.navigable_area > 0:
            raise WorkerError("navmesh", "nowhere is a floor that the body can stand on")
        return finder, why

    def _opened(self, shapes: list[Any]) -> Any:
        habitat, asked = self.habitat, self.asked
        if not asked:
            raise WorkerError("ask", "no scene was named yet")
        backend = habitat.SimulatorConfiguration()
        backend.scene_dataset_config_file = asked["config"]
        backend.scene_id = asked["scene"]
        backend.gpu_device_id = asked["gpu"]
        backend.enable_physics = False
        backend.load_semantic_mesh = any(each[0] == "ids" for each in shapes)
        agent = habitat.agent.AgentConfiguration()
        agent.sensor_specifications = [self._spec(each) for each in shapes]
        try:
            simulator = habitat.Simulator(habitat.Configuration(backend, [agent]))
        except Exception as error:
            raise WorkerError("scene", f"{type(error).__name__}: {error}") from error
        if asked["scene"] != "NONE":
            self._check_size(simulator)
        return simulator

    def _check_size(self, simulator: Any) -> None:
        box = simulator.get_active_scene_graph().get_root_node().cumulative_bb
        long = max(float(high - low) for low, high in _pairs(box.min, box.max))
        if not LEAST_M <= long <= MOST_M:
            simulator.close()
            raise WorkerError(
                "scene",
                f"it is {long:,.2f} m long: expected {LEAST_M:g} to {MOST_M:g} m. Is it in"
                ' centimetres? "scale": [0.01, 0.01, 0.01] in its stage\'s config makes metres',
            )

    def _spec(self, shape: Any) -> Any:
        modality, projection, width, height, fov = shape
        habitat, magnum = self.habitat, self.magnum
        if projection == "equirect":
            spec = habitat.EquirectangularSensorSpec()
        else:
            spec = habitat.CameraSensorSpec()
            spec.hfov = magnum.Deg(math.degrees(fov))
        spec.uuid = _uuid(shape)
        kinds = {"rgb": "COLOR", "depth": "DEPTH", "ids": "SEMANTIC"}
        spec.sensor_type = getattr(habitat.SensorType, kinds[modality])
        spec.resolution = magnum.Vector2i(height, width)
        # By default a sensor is 1.5 m above its node.
        spec.position = magnum.Vector3(0.0, 0.0, 0.0)
        spec.orientation = magnum.Vector3(0.0, 0.0, 0.0)
        return spec


class Navmesh:
    """Navmesh, and its islands with viewpoints: roofs and table tops are islands, too.

    Args:
        magnum: the module.
        finder: Habitat's path finder.
        floors: floor positions of viewpoints; without any, every island counts.
    """

    def __init__(self, magnum: Any, finder: Any, floors: list[list[float]]) -> None:
        self.magnum, self.finder = magnum, finder
        every = list(range(int(finder.num_islands)))
        stood = [finder.snap_point(self._vector(each)) for each in floors]
        on = [_is_near(self._vector(floor), at) for floor, at in zip(floors, stood)]  # noqa: B905
        held = {int(finder.get_island(at)) for at, is_on in zip(stood, on) if is_on}  # noqa: B905
        self.islands = sorted(held) if floors else every
        area = sum(float(finder.island_area(each)) for each in self.islands)
        self.said = {"islands": len(every), "kept": len(self.islands), "area": area}

    def near(self, point: list[float]) -> Any:
        """Return the nearest position to a point on an island that counts, or None."""
        asked = self._vector(point)
        found = self.finder.snap_point(asked)
        if _is_near(asked, found) and int(self.finder.get_island(found)) in self.islands:
            return found
        places = [self.finder.snap_point(asked, each) for each in self.islands]
        places = [each for each in places if _is_near(asked, each)]
        return min(places, key=lambda each: (each - asked).length(), default=None)

    def _vector(self, point: list[float]) -> Any:
        return self.magnum.Vector3(*point)


def _pairs(low: Any, high: Any) -> Any:
    return ((low.x, high.x), (low.y, high.y), (low.z, high.z))


def _is_near(asked: Any, found: Any) -> bool:
    # NaN is near nothing.
    aside = math.hypot(found.x - asked.x, found.z - asked.z)
    return aside <= NEAR_M and abs(found.y - asked.y) <= LEVEL_M


def _listed(point: Any) -> Any:
    return None if point is None else [float(point.x), float(point.y), float(point.z)]


def _uuid(shape: Any) -> str:
    modality, projection, width, height, fov = shape
    return f"{modality}-{projection}-{width}x{height}-{fov:.9f}"


def _plain(shape: list[Any], image: np.ndarray) -> np.ndarray:
    """Convert an image for sending: colours without alpha, signed ids, ranges for equirects."""
    modality, projection, width, height, _ = shape
    if modality == "rgb":
        return np.ascontiguousarray(image[..., :3])
    if modality == "ids":
        return np.ascontiguousarray(image, dtype=np.int32)
    if projection == "equirect":
        # Habitat gives the planar depth of the cube face on which a pixel lies.
        turn = ((np.arange(width) + 0.5) / width * 2 - 1) * math.pi
        tilt = (0.5 - (np.arange(height) + 0.5) / height)[:, None] * math.pi
        along = np.stack([np.cos(tilt) * np.sin(turn), np.cos(tilt) * np.cos(turn)])
        most = np.maximum(np.abs(along).max(axis=0), np.abs(np.sin(tilt)))
        image = image / most
    return np.ascontiguousarray(image, dtype=np.float32)


_DOES = ("enter", "look", "renderer", "navmesh", "snap", "walk", "path")


def main() -> None:
    """Answer requests until the socket closes."""
    # Navloom's modules beside this file must not shadow habitat's.
    beside = Path(__file__).resolve().parent
    sys.path[:] = [each for each in sys.path if Path(each).resolve() != beside]
    link = Connection(int(sys.argv[1]))
    worker = None
    while True:
        try:
            asked = json.loads(link.recv_bytes())
        except (EOFError, OSError):
            return
        image = None
        try:
            if worker is None:
                worker = HabitatWorker()
            name = asked.pop("do")
            if name not in _DOES:
                raise WorkerError("ask", f"nobody knows how to {name}")
            answer = getattr(worker, name)(**asked)
            if isinstance(answer, tuple):
                answer, image = answer
        except WorkerError as error:
            answer = {"error": str(error), "kind": error.kind}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}", "kind": "other"}
        link.send_bytes(json.dumps(answer).encode())
        if image is not None:
            link.send_bytes(memoryview(image).cast("B"))


if __name__ == "__main__":
    main()
