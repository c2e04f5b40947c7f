"""Data model of a floor plan: rooms, doorways, windows, stairs and walls.

The planner produces it; the furnisher and the scene builder read it. Everything is in whole
millimetres, so that geometry is exact and the same on every machine: ``x`` to the right, ``z``
towards the reader, as in the scene's frame; heights above the lowest floor. All walls run along x
or z. A room's outline is the inner face of its walls; between two rooms lies the thickness of a
wall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from navloom.scenes.scene import Leaf

Spot = tuple[int, int]
"""(x, z) in millimetres."""
Outline = tuple[Spot, ...]
"""Simple rectilinear polygon, without repeating its first corner at the end."""
Zone = Literal["public", "private", "service", "circulation", "outdoor"]


@dataclass(frozen=True)
class PlannedRoom:
    """Room of a floor plan.

    Attributes:
        number: unique in the home, from 1.
        kind: its use, in plain words: ``bedroom``, ``living room``.
        zone: its privacy class.
        floor: its storey, from 1.
        outline: the inner faces of its walls.
        level: its floor height in mm; it may differ from its storey's by a single step.
    """

    number: int
    kind: str
    zone: Zone
    floor: int
    outline: Outline
    level: int

    @property
    def id(self) -> str:
        """Region id ``RegionType_ID``, as models read it."""
        from navloom.scenes.scene import region_id

        return region_id(self.kind, self.number)


@dataclass(frozen=True)
class Doorway:
    """Opening in a wall between two rooms of one storey, or to the outside.

    Attributes:
        a: number of a room.
        b: number of the other room; None if it leads outside.
        leaf: type of its door; None for an opening without a door.
        jambs: both ends on the wall's centre line; their distance is the clear width.
        thickness: of the wall, in mm.
        height: clear height in mm.
        threshold: the sill's height in mm.
        state: the door's state; None for an opening.
        hinge: index of the jamb on which a hinged leaf turns; None for others.
        swings_into: number of the room in which a hinged leaf sweeps.
        swing: square of floor that the leaf sweeps; it stays free of items.
    """

    a: int
    b: int | None
    leaf: Leaf | None
    jambs: tuple[Spot, Spot]
    thickness: int
    height: int = 2050
    threshold: int = 0
    state: Literal["open", "closed", "locked"] | None = None
    hinge: Literal[0, 1] | None = None
    swings_into: int | None = None
    swing: Outline | None = None

    @property
    def width(self) -> int:
        """Clear width in mm."""
        (x0, z0), (x1, z1) = self.jambs
        return abs(x1 - x0) + abs(z1 - z0)


@dataclass(frozen=True)
class Window:
    """Window in an outer wall.

    Attributes:
        room: number of the room that it lights.
        jambs: its ends on the wall's centre line.
        thickness: of the wall, in mm.
        sill: in mm above the room's floor.
        head: the same.
    """

    room: int
    jambs: tuple[Spot, Spot]
    thickness: int
    sill: int
    head: int


@dataclass(frozen=True)
class StairFlight:
    """Stairs or elevator between two rooms of two storeys, or ramp between two rooms of one.

    Attributes:
        kind: stairs, ramp or elevator.
        lower: number of the room at the foot; a stairwell is a room of the lower storey.
        upper: number of the room at the head.
        treads: from the lowest up, each (x0, z0, x1, z1, height of its top), mm.
        landings: flat areas, in the same form.
        line: centre line of the ascent, each (x, height, z), mm, from floor to floor.
        width: clear width in mm.
    """

    kind: Literal["stairs", "ramp", "elevator"]
    lower: int
    upper: int
    treads: tuple[tuple[int, int, int, int, int], ...]
    landings: tuple[tuple[int, int, int, int, int], ...]
    line: tuple[tuple[int, int, int], ...]
    width: int


@dataclass(frozen=True)
class PlannedWall:
    """Straight piece of wall: ends on its centre line, heights in mm above the lowest floor.

    A piece above a doorway begins at the door's head; a window has a piece below and one above.
    """

    a: Spot
    b: Spot
    bottom: int
    top: int
    thickness: int


@dataclass(frozen=True)
class PlannedStorey:
    """Storey: floor height, clear room height, and the outline of its outer wall faces."""

    floor: int
    height: int
    ceiling: int
    footprint: Outline


@dataclass(frozen=True)
class Floorplan:
    """Complete floor plan; only its doors can move.

    ``retries`` counts the plans that were rejected before it because they failed their checks.
    """

    storeys: tuple[PlannedStorey, ...]
    rooms: tuple[PlannedRoom, ...]
    doorways: tuple[Doorway, ...]
    windows: tuple[Window, ...]
    flights: tuple[StairFlight, ...]
    walls: tuple[PlannedWall, ...]
    retries: int = 0
