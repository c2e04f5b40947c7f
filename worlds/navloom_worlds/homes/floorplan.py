"""A floor plan: what the planner draws up and the furnisher, the walls and the scene are made from.

Everything is in whole millimetres, so that geometry is exact and the same on every machine: ``x``
to the right, ``z`` towards the reader, as in the scene's frame; heights above the lowest floor. All
walls run along x or z. A room's outline is the inner face of its walls; between two rooms lies the
thickness of a wall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from navloom.scenes.scene import Leaf

Spot = tuple[int, int]
"""(x, z) in millimetres."""
Outline = tuple[Spot, ...]
"""A simple rectilinear polygon, without its first corner again at the end."""
Zone = Literal["public", "private", "service", "circulation", "outdoor"]


@dataclass(frozen=True)
class Room:
    """A room.

    Attributes:
        number: unique in the home, from 1.
        kind: what it is for, in plain words: ``bedroom``, ``living room``.
        zone: who goes there.
        floor: its storey, from 1.
        outline: the inner faces of its walls.
        level: its floor's height in mm, a single step above or below its storey where it differs.
    """

    number: int
    kind: str
    zone: Zone
    floor: int
    outline: Outline
    level: int

    @property
    def id(self) -> str:
        """``RegionType_ID``, as models read it."""
        from navloom.scenes.scene import region_id

        return region_id(self.kind, self.number)


@dataclass(frozen=True)
class Doorway:
    """A way through a wall between two rooms of one storey, or out of the home.

    Attributes:
        a: a room's number.
        b: the other's; None where it leads out.
        leaf: how its door moves; None for an opening without a door.
        jambs: both ends on the middle line of the wall; their distance is the clear width.
        thickness: of the wall, in mm.
        height: clear height in mm.
        threshold: the sill's height in mm.
        state: the door's state; None for an opening.
        hinge: which jamb a hinged leaf turns on; None for others.
        swings_into: the number of the room in which a hinged leaf sweeps.
        swing: the square of floor which that leaf sweeps; nothing stands there.
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
    """A window in an outer wall.

    Attributes:
        room: the number of the room that it lights.
        jambs: its ends on the wall's middle line.
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
class Flight:
    """Stairs, a ramp or an elevator between two rooms of two storeys (a ramp: of one).

    Attributes:
        kind: how one goes up.
        lower: number of the room at the foot; a stairwell is a room of the lower storey.
        upper: number of the room at the head.
        treads: from the lowest up, each (x0, z0, x1, z1, height of its top), mm.
        landings: the same; flat places on the way.
        line: the middle of the way up, each (x, height, z), mm, from floor to floor.
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
    """A straight piece of wall: ends on its middle line, and heights in mm above the lowest floor.

    Over a doorway it begins at the door's head; under and over a window there is a piece each.
    """

    a: Spot
    b: Spot
    bottom: int
    top: int
    thickness: int


@dataclass(frozen=True)
class Storey:
    """A storey: its floor's height, its rooms' clear height, and the outer face of its walls."""

    floor: int
    height: int
    ceiling: int
    footprint: Outline


@dataclass(frozen=True)
class Floorplan:
    """All that is built; nothing of it moves but doors.

    ``retries`` is how many plans were thrown away before it, since they failed their checks.
    """

    storeys: tuple[Storey, ...]
    rooms: tuple[Room, ...]
    doorways: tuple[Doorway, ...]
    windows: tuple[Window, ...]
    flights: tuple[Flight, ...]
    walls: tuple[PlannedWall, ...]
    retries: int = 0
