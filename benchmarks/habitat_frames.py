"""Rendering loop of the habitat-sim benchmark, run by the Python that has habitat-sim.

``PYTHON habitat_frames.py CONFIG SCENE SIDE FOV GPU`` reads one pose ``[x, y, z, heading,
elevation]`` per line. For each it calls ``get_sensor_observations()`` with a colour, a depth and a
semantic sensor, and prints ``[seconds, busy, file]``: wall time, processor time, and the file with
the depth image. It imports nothing of Navloom.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

KINDS = ("COLOR", "DEPTH", "SEMANTIC")


def main(config: str, scene: str, side: int, fov: float, gpu: int) -> None:
    """Render a frame for every pose on stdin until stdin ends."""
    magnum: Any = importlib.import_module("magnum")
    habitat: Any = importlib.import_module("habitat_sim")
    backend = habitat.SimulatorConfiguration()
    backend.scene_dataset_config_file, backend.scene_id = config, scene
    backend.gpu_device_id, backend.enable_physics = gpu, False
    agent = habitat.agent.AgentConfiguration()
    agent.sensor_specifications = []
    for kind in KINDS:
        spec = habitat.CameraSensorSpec()
        spec.uuid, spec.sensor_type = kind, getattr(habitat.SensorType, kind)
        spec.resolution, spec.hfov = magnum.Vector2i(side, side), magnum.Deg(math.degrees(fov))
        spec.position = magnum.Vector3(0.0, 0.0, 0.0)
        agent.sensor_specifications += [spec]
    simulator = habitat.Simulator(habitat.Configuration(backend, [agent]))
    node = simulator.get_agent(0).scene_node
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "depth.npy"
        for line in sys.stdin:
            x, y, z, heading, elevation = json.loads(line)
            turn = magnum.Quaternion.rotation(magnum.Rad(-heading), magnum.Vector3.y_axis())
            tilt = magnum.Quaternion.rotation(magnum.Rad(elevation), magnum.Vector3.x_axis())
            began, worked = time.perf_counter(), time.process_time()
            node.translation, node.rotation = magnum.Vector3(x, y, z), turn * tilt
            seen = simulator.get_sensor_observations()
            seconds, busy = time.perf_counter() - began, time.process_time() - worked
            np.save(file, seen["DEPTH"])
            print(json.dumps([seconds, busy, str(file)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
