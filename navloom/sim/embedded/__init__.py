"""The ``embedded`` backend: pictures of homes and meshes with pip alone."""

from navloom.sim.embedded.embedded import EmbeddedSimulator, make

__all__ = ["EmbeddedSimulator", "make"]
