"""The ``habitat`` backend: habitat-sim behind the same door, in a process of its own.

What is in this process never imports habitat_sim: :mod:`~navloom_worlds.habitat.habitat_worker`
does, in an interpreter of its own, and a crash of it is an error of the sample that asked.
:mod:`~navloom_worlds.habitat.habitat_process` starts, asks and ends such processes,
:mod:`~navloom_worlds.habitat.habitat_scenes` says which files of a scene they open, and
:mod:`~navloom_worlds.habitat.walking` what their navmeshes know.
"""

from navloom_worlds.habitat.habitat import HabitatSimulator, make

__all__ = ["HabitatSimulator", "make"]
