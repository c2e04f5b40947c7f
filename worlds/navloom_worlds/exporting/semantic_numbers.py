"""The numbers, colours and regions that a home's things have as HM3D-Semantics writes them.

A file ``ID.semantic.txt`` has a header and a line for each thing: its number, its colour, its
category and its region (HM3D-Semantics v0.2). The first lines are the scene's items in their order;
after them come floors, ceilings, walls, doors, windows and stairs, by region. Regions have numbers
and no types there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SceneError
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Region, Scene
from navloom_worlds.exporting.face_regions import NOWHERE, face_regions
from navloom_worlds.exporting.seen_sides import mesh_to_export
from navloom_worlds.geometry.owners import (
    CEILING,
    FLOOR,
    GROUND,
    SHELL,
    STAIRS,
    WALL,
    door_owner,
    item_owner,
    opening_owner,
)

HEADER = "HM3D Semantic Annotations"
"""The first line of a file of them."""
MOST_NUMBERS = 65_535
"""Habitat keeps numbers in 16 bits."""
_STRUCTURE = {
    FLOOR: "floor",
    CEILING: "ceiling",
    WALL: "wall",
    STAIRS: "stairs",
    GROUND: "ground",
    SHELL: "unknown",
}
_SPREAD = 0x9E3779
"""Odd, so that number times it, cut to 24 bits, is another colour for each number."""


@dataclass(frozen=True)
class SemanticLine:
    """One line of a ``ID.semantic.txt``.

    Attributes:
        number: 1, 2, ...: what a semantic sensor sees.
        colour: six hex digits, sRGB; no two lines have the same, none is black.
        category: what it is, in plain words; no quotation mark in it.
        region: the number of its region; -1 where it has none.
        owner: its number in frames of ids (:mod:`navloom_worlds.geometry.owners`). All floors have
            one owner, and so have all ceilings, walls and stairs.
    """

    number: int
    colour: str
    category: str
    region: int
    owner: int

    @property
    def rgb(self) -> tuple[int, int, int]:
        """The colour as three bytes, sRGB."""
        r, g, b = bytes.fromhex(self.colour)
        return r, g, b

    @property
    def text(self) -> str:
        """The line as it is written."""
        return f'{self.number},{self.colour},"{self.category}",{self.region}'


def semantic_lines(scene: Scene) -> tuple[SemanticLine, ...]:
    """Every number that a scene's semantic files have, in order; made once per scene.

    Line k - 1 has number k. Number k is ``scene.items[k - 1]`` for the first ones, also where an
    item has no triangles; what follows has triangles: floors of each region in the scene's order
    (of no region last), then ceilings, walls, doors, windows, stairs and the rest.

    Args:
        scene: it must have geometry.

    Raises:
        SceneError: it has no geometry, or more things than the format has numbers for.
    """
    return _numbered(scene)[0]


def face_numbers(scene: Scene) -> NDArray[np.int32]:
    """(m,) the number of each face of :func:`navloom_worlds.geometry.mesh.scene_mesh`.

    Raises:
        SceneError: as :func:`semantic_lines`.
    """
    return _numbered(scene)[1]


def region_numbers(scene: Scene) -> dict[str, int]:
    """The number of each region: the one in its id, where that is one; another free one else."""
    numbers: dict[str, int] = {}
    rest = []
    for region in scene.regions:
        text = region.number
        if text.isascii() and text.isdigit() and len(text) < 7 and str(int(text)) == text:
            numbers[region.id] = int(text)
        else:
            rest.append(region.id)
    first = max(numbers.values(), default=-1) + 1
    return {**numbers, **{each: first + k for k, each in enumerate(rest)}}


def _numbered(scene: Scene) -> tuple[tuple[SemanticLine, ...], NDArray[np.int32]]:
    return per_scene(scene, "semantic_numbers", lambda: _made(scene))


def _made(scene: Scene) -> tuple[tuple[SemanticLine, ...], NDArray[np.int32]]:
    mesh = mesh_to_export(scene)
    numbers = mesh.owners.copy()
    regions = region_numbers(scene)
    lines = [_line(k + 1, each.name, regions.get(each.region or "", NOWHERE), item_owner(k))
             for k, each in enumerate(scene.items)]  # fmt: skip
    of_region = face_regions(scene, mesh)
    there = np.unique(np.stack([mesh.owners, of_region], axis=1), axis=0).tolist()
    places = [regions[each.id] for each in scene.regions]
    for owner, index, category in _structure(scene, {(o, i) for o, i in there if o < 0}):
        number = len(lines) + 1
        if owner in (FLOOR, CEILING, WALL) and index >= 0 and _is_lift(scene.regions[index]):
            # Rooms have no types there: so much can be said of what they are built of.
            category = f"elevator {category}"
        lines.append(_line(number, category, NOWHERE if index < 0 else places[index], owner))
        numbers[(mesh.owners == owner) & (of_region == index)] = number
    if len(lines) > MOST_NUMBERS:
        raise SceneError(
            f"{scene.uri} has {len(lines):,} things and surfaces: expected at most "
            f"{MOST_NUMBERS:,}, which is what Habitat has numbers for."
        )
    return tuple(lines), numbers


def _structure(scene: Scene, there: set[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """(owner, region's index, category) of what is no item, in the order of the lines."""
    categories = dict(_STRUCTURE)
    order = [FLOOR, CEILING, WALL]
    order += [door_owner(k) for k in range(len(scene.links))]
    categories |= {door_owner(k): "door" for k in range(len(scene.links))}
    order += [opening_owner(k) for k in range(len(scene.openings))]
    categories |= {opening_owner(k): each.kind for k, each in enumerate(scene.openings)}
    order += [STAIRS, GROUND, SHELL]
    rank = {owner: k for k, owner in enumerate(order)}
    last = len(scene.regions)
    for owner, index in sorted(there, key=lambda each: (rank[each[0]], each[1] % (last + 1))):
        yield owner, index, categories[owner]


def _is_lift(region: Region) -> bool:
    return "elevator" in region.label.casefold()


def _line(number: int, name: str, region: int, owner: int) -> SemanticLine:
    # Categories stand in quotation marks, and nothing in the format escapes one within.
    category = " ".join(name.replace('"', "'").split()) or "thing"
    colour = number * _SPREAD & 0xFFFFFF
    return SemanticLine(number, f"{colour:06X}", category, region, owner)
