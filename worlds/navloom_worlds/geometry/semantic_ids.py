"""Owner ids of triangles: the numbers in semantic frames, and their meanings.

0          nothing was hit
1 ... n    scene.items[number - 1]
below 0    no item: walls, floors, doors; see the constants
"""

from __future__ import annotations

from collections import Counter

from navloom.scenes.scene import Scene

NOTHING = 0
WALL = -1
FLOOR = -2
CEILING = -3
STAIRS = -4
GROUND = -5
"""The ground around a home."""
SHELL = -6
"""Unlabelled parts of a mesh."""
_DOORS = 1_000
_OPENINGS = 100_000
_AGENTS = 1_000_000


def door_owner(index: int) -> int:
    """Return the id of the door of ``scene.links[index]``: its leaf, frame and sill."""
    return -_DOORS - index


def opening_owner(index: int) -> int:
    """Return the id of ``scene.openings[index]``: a window, or a door that leads out."""
    return -_OPENINGS - index


def agent_owner(number: int) -> int:
    """Return the id of the agent numbered 0, 1, ... by the simulator."""
    return -_AGENTS - number


def item_owner(index: int) -> int:
    """Return the id of ``scene.items[index]``."""
    return index + 1


def owner_name(scene: Scene, owner: int) -> str:
    """Return the name of an id: an item's id, ``wall``, ``door Hall_1 <-> Kitchen_2``, ``agent 0``.

    Args:
        scene: the scene of the frames.
        owner: an id from a semantic frame.

    Returns:
        A name; ``""`` for 0, and for an id that this scene does not have.
    """
    if 0 < owner <= len(scene.items):
        return scene.items[owner - 1].id
    plain = {
        WALL: "wall",
        FLOOR: "floor",
        CEILING: "ceiling",
        STAIRS: "stairs",
        GROUND: "ground",
        SHELL: "mesh",
    }
    if owner in plain:
        return plain[owner]
    if owner <= -_AGENTS:
        return f"agent {-owner - _AGENTS}"
    if 0 <= -owner - _OPENINGS < len(scene.openings):
        opening = scene.openings[-owner - _OPENINGS]
        return f"{opening.kind} of {opening.region}"
    if 0 <= -owner - _DOORS < len(scene.links):
        link = scene.links[-owner - _DOORS]
        return f"{link.kind} {link.a} <-> {link.b}"
    return ""


def unique_owner_names(scene: Scene) -> dict[int, str]:
    """Return every id of a scene with a unique name.

    Names come from :func:`owner_name`; a repeated name gets ``(2)`` and so on after it.
    """
    numbers = [item_owner(index) for index in range(len(scene.items))]
    numbers += [WALL, FLOOR, CEILING, STAIRS, GROUND, SHELL]
    numbers += [door_owner(index) for index in range(len(scene.links))]
    numbers += [opening_owner(index) for index in range(len(scene.openings))]
    names: dict[int, str] = {}
    taken: Counter[str] = Counter()
    for number in numbers:
        name = plain = owner_name(scene, number)
        while taken[name]:
            taken[plain] += 1
            name = f"{plain} ({taken[plain]})"
        taken[name] += 1
        names[number] = name
    return names


def structure_owners(scene: Scene) -> dict[str, int]:
    """Return the ids of everything but items, by the names of :func:`unique_owner_names`."""
    return {name: number for number, name in unique_owner_names(scene).items() if number < 0}
