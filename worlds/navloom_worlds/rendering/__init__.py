"""The ``embedded`` backend: images of homes and meshes with pip-installable packages alone."""

from navloom_worlds.rendering.embedded import EmbeddedSimulator, make
from navloom_worlds.rendering.sensors import RIGS, Rig, Sensor, rig_of

__all__ = ["RIGS", "EmbeddedSimulator", "Rig", "Sensor", "make", "rig_of"]
