"""The ``panorama`` backend: pictures from disk, with no renderer and no mesh (VLN-MME 3.3).

:mod:`~navloom.sim.panorama.manifest` says how a cache lies on disk,
:mod:`~navloom_worlds.rendering.render_scenes` writes one from any backend that has pictures, and
:mod:`~navloom.sim.panorama.skybox` reads Matterport's own.
"""

from navloom.sim.panorama.panorama import PanoramaSimulator, make

__all__ = ["PanoramaSimulator", "make"]
