"""The ``panorama`` backend: images from disk, without renderer or mesh (VLN-MME 3.3).

:mod:`~navloom.sim.panorama.manifest` defines a cache's files,
:mod:`~navloom_worlds.rendering.panorama_export` writes one from any backend with images, and
:mod:`~navloom.sim.panorama.skybox` reads Matterport's own.
"""

from navloom.sim.panorama.panorama_simulator import PanoramaSimulator, make

__all__ = ["PanoramaSimulator", "make"]
