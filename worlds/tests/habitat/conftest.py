"""Fixtures of the habitat tests: a fake habitat_sim that can fail in given ways."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from navloom_worlds.habitat.habitat_process import (
    PYTHON,
    check_rendering,
    close_habitat,
    missing_reason,
)

MAGNUM = """
class Vector3:
    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z
    x_axis = y_axis = staticmethod(lambda: Vector3())

class Quaternion:
    rotation = staticmethod(lambda turn, axis: Quaternion())
    def __mul__(self, other):
        return self

def Vector2i(*sides): return sides
def Rad(angle): return angle
def Deg(angle): return angle
"""
HABITAT = """
import os, signal, sys, time
from pathlib import Path
from types import SimpleNamespace as Plain

import numpy as np

__version__ = "stand-in"
MODE = Path(__file__).with_name("mode")
if MODE.read_text() == "no library":
    raise ImportError("libEGL.so.1: cannot open shared object file")

class Spec:
    pass

CameraSensorSpec = EquirectangularSensorSpec = SimulatorConfiguration = Spec
SensorType = Plain(COLOR="color", DEPTH="depth", SEMANTIC="semantic")
agent = Plain(AgentConfiguration=Spec)

def Configuration(backend, agents): return Plain(backend=backend, agents=agents)

class Sensor:
    def __init__(self, spec, node):
        self.spec, self.node = spec, node
    def draw_observation(self):
        mode = MODE.read_text()
        if mode == "no memory":
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "hang":
            time.sleep(60)
    def get_observation(self):
        high, wide = self.spec.resolution
        place = self.node.translation
        if self.spec.sensor_type == "color":
            return np.full((high, wide, 4), 9, np.uint8)
        if self.spec.sensor_type == "depth":
            return np.full((high, wide), abs(place.x) + abs(place.z), np.float32)
        return np.ones((high, wide), np.uint32)

class Simulator:
    def __init__(self, config):
        mode = MODE.read_text()
        if mode == "crash once":
            MODE.write_text("fine")
        if mode.startswith("crash") and config.backend.scene_id != "NONE":
            sys.stderr.write("reading the scene\\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGSEGV)
        if mode == "no EGL":
            sys.stderr.write("unable to find CUDA device 0 among 1 EGL devices in total\\n")
            sys.stderr.write("WindowlessContext: Unable to create windowless context\\n")
            sys.stderr.flush()
            os._exit(1)
        if mode == "broken scene" and config.backend.scene_id != "NONE":
            raise RuntimeError("Cannot load stage")
        self.node, self._sensors = Plain(), {}
        self.semantic_scene = Plain(objects=[] if mode == "no semantics" else [1])
        for spec in config.agents[0].sensor_specifications:
            self.add_sensor(spec, 0)
    def add_sensor(self, spec, agent_id):
        self._sensors[spec.uuid] = Sensor(spec, self.node)
    def get_active_scene_graph(self):
        box = Plain(min=Plain(x=0, y=0, z=0), max=Plain(x=9, y=3, z=9))
        return Plain(get_root_node=lambda: Plain(cumulative_bb=box))
    def get_agent(self, number): return Plain(scene_node=self.node)
    def close(self): pass
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Yield a function that sets the behaviour of a fake habitat_sim."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "magnum.py").write_text(MAGNUM)
    (site / "habitat_sim.py").write_text(HABITAT)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv(PYTHON, str(python))
    close_habitat()
    check_rendering.cache_clear()
    yield (site / "mode").write_text
    close_habitat()
    check_rendering.cache_clear()


@pytest.fixture(scope="session")
def habitat() -> None:
    """Skip the test with the reason if the real habitat_sim is missing."""
    if why := missing_reason():
        pytest.skip(why)
