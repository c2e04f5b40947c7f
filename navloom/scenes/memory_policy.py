"""Memory policy of the process: how many scenes keep their large, quickly rebuilt mesh data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class MemoryPolicy:
    """Limit on cached scene data in this process.

    Attributes:
        meshes: number of most recent scenes whose triangles and ray-casting index stay in memory:
            7 to 25 MB a home, rebuilt in half a second. None keeps those of all live scenes, for
            callers that alternate between scenes.
    """

    meshes: int | None = None


SPARING = MemoryPolicy()
