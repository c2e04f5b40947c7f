"""What a room covers on paper, and its colour. Paper coordinates: x right, -z up, metres."""

from __future__ import annotations

import re

import shapely
from shapely.geometry import MultiPoint, Point, Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.scene import UNKNOWN, Region, Scene

_REACH = 0.6
"""Metres of ground that a viewpoint vouches for, where a room has no outline."""

_TINTS: tuple[tuple[str, str], ...] = (
    (r"bath|toilet|shower|spa|sauna|wash|powder", "#cfe5ef"),
    (r"bed|nursery|dressing|sleep|dorm|kid|child", "#dcd7ee"),
    (r"kitchen|dining|pantry|bar|breakfast", "#f6e3c5"),
    (r"living|lounge|family|tv|rec|game|theat|den|sitting|media|library", "#d9ead3"),
    (r"office|study|work|meeting|conference|class", "#e3e8c4"),
    (r"hall|entry|foyer|lobby|stair|corridor|landing|porch|tie", "#ececec"),
    (r"laundry|closet|storage|garage|utility|junk|mud|boiler", "#e5d8cc"),
    (r"balcony|terrace|outdoor|patio|garden|deck|pool", "#d3e8d8"),
    (r"gym|workout|fitness", "#f3d9dc"),
)
_PLAIN = "#f4f1ea"


def tint(label: str) -> str:
    """The soft colour of a room by what its label says it is for, as ``#rrggbb``."""
    folded = label.casefold()
    return next((colour for words, colour in _TINTS if re.search(words, folded)), _PLAIN)


def readable(name: str) -> str:
    """An id as a person reads it: ``Living_room_5`` is ``Living room 5``.

    A room of which nobody knows the type is a ``room 5``.
    """
    known = not name.startswith(f"{UNKNOWN}_")
    return (name if known else f"room_{name.removeprefix(f'{UNKNOWN}_')}").replace("_", " ")


def region_shapes(scene: Scene, floor: int) -> dict[str, BaseGeometry]:
    """What each region of a floor covers on paper.

    Returns:
        Region id to a non-empty polygon (or several): the outline where the scene has one, else
        the ground around the region's viewpoints.
    """
    return {
        region.id: _outlined(region) or _walked(scene, region)
        for region in scene.regions
        if region.floor == floor
    }


def _outlined(region: Region) -> BaseGeometry | None:
    if region.outline is None:
        return None
    shape: BaseGeometry = Polygon([(x, -z) for x, z in region.outline])
    if not shape.is_valid:
        shape = shape.buffer(0)
    # A box of no width still has to be seen.
    return shape if shape.area > 0.05 else shape.envelope.buffer(0.2)


def _walked(scene: Scene, region: Region) -> BaseGeometry:
    stands = scene.viewpoints_by_region.get(region.id, ())
    spots = [(v.position[0], -v.position[2]) for v in stands]
    if not spots:
        return Point(region.center[0], -region.center[2]).buffer(_REACH)
    # A plain convex hull would swallow the neighbours of a room with a corner.
    ground = shapely.concave_hull(MultiPoint(spots), ratio=0.4)
    return ground.buffer(_REACH)
