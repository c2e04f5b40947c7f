"""Memory or time: of many homes in turn, what is large and soon made again need not be kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Sparing:
    """What this process is sparing with.

    Attributes:
        meshes: of how many scenes, the last ones, triangles are kept, and what rays are sought in:
            7 to 25 MB a home, made again in half a second. None: of all that live, as whoever goes
            to and fro between them wants it.
    """

    meshes: int | None = None


SPARING = Sparing()
