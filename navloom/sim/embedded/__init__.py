"""The ``embedded`` backend: pictures of homes and meshes with pip alone."""

from navloom.sim.embedded.embedded import EmbeddedSimulator, make
from navloom.sim.embedded.sensors import RIGS, Rig, Sensor, rig_of

__all__ = ["RIGS", "EmbeddedSimulator", "Rig", "Sensor", "make", "rig_of"]
