"""The ``habitat`` backend: habitat-sim behind the same interface, in a separate process.

This process never imports habitat_sim. :mod:`~navloom_worlds.habitat.habitat_worker` does, in an
interpreter of its own, and a crash of it is an error of the sample that used it.
:mod:`~navloom_worlds.habitat.habitat_process` starts, queries and ends such processes,
:mod:`~navloom_worlds.habitat.habitat_scenes` provides the scene files that they open, and
:mod:`~navloom_worlds.habitat.navmesh_paths` queries their navmeshes.
"""

from navloom_worlds.habitat.habitat_backend import HabitatSimulator, make

__all__ = ["HabitatSimulator", "make"]
