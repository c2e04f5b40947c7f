"""The ``embedded`` backend: images of homes and meshes, using pip-installable packages only."""

from navloom_worlds.rendering.embedded import EmbeddedSimulator, make
from navloom_worlds.rendering.sensors import RIGS, Rig, Sensor, resolve_rig

__all__ = ["RIGS", "EmbeddedSimulator", "Rig", "Sensor", "make", "resolve_rig"]
