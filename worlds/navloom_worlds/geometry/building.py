"""Building of a scene for rendering: storeys, rooms, wall openings and solids.

Scenes say as much as their format knows. Missing values (heights of doorways, their ends) are taken
from the walls around.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import shapely
from shapely import Polygon
from shapely.affinity import rotate
from shapely.geometry.base import BaseGeometry

from navloom.scenes.scene import Region, Scene, Wall
from navloom_worlds.geometry.prism_union import GRID, Prism, polygons_in
from navloom_worlds.geometry.wall_openings import (
    OUTDOORS,
    WallOpening,
    find_openings,
    wall_footprint,
)

_CEILING = 2.5
_ROOF = 0.25
_OVERHANG = 0.3
_COURT = 12.0
"""Square metres above which an enclosed area that is no room is an open courtyard."""


@dataclass(frozen=True)
class BuildingRoom:
    """Region with its outline and floor level.

    Attributes:
        region: the region.
        area: its outline, (x, z) metres.
        level: y of its floor.
        outdoors: whether it is open to the sky.
    """

    region: Region
    area: BaseGeometry
    level: float
    outdoors: bool


@dataclass(frozen=True)
class BuildingStorey:
    """Storey of a building: rooms, walls, footprint and stair wells.

    Attributes:
        floor: y of its floor.
        ceiling: y of its ceiling.
        rooms: its rooms.
        walls: its walls.
        footprint: rooms, walls and the area between them, without outdoor rooms.
        wells: openings in the floor where stairs come up, each with the room that they come from.
    """

    floor: float
    ceiling: float
    rooms: tuple[BuildingRoom, ...]
    walls: tuple[Wall, ...]
    footprint: BaseGeometry
    wells: tuple[tuple[BaseGeometry, BuildingRoom], ...]


@dataclass(frozen=True)
class Building:
    """Building of a scene: its storeys, wall openings and ground level.

    Attributes:
        scene: the scene.
        storeys: from the lowest.
        ways: doorways and windows.
        ground: y of the ground around it.
    """

    scene: Scene
    storeys: tuple[BuildingStorey, ...]
    ways: tuple[WallOpening, ...]
    ground: float

    @cached_property
    def solids(self) -> tuple[list[Prism], list[Prism]]:
        """Solid prisms of the building, and the prisms that are cut out of the solid ones."""
        solids = [
            Prism(wall_footprint(w), w.bottom, w.bottom + w.height)
            for s in self.storeys
            for w in s.walls
        ]
        holes = list(self._cuts())
        for way in self.ways:
            storey = self.storey_at(way.low)
            if storey is not None and way.kind != "window" and way.head < storey.ceiling - GRID:
                solids.append(Prism(way.strip(), way.head, storey.ceiling))
        for number, storey in enumerate(self.storeys):
            solids += self._floors(number, storey)
            holes += [Prism(area, self._under(number), storey.floor) for area, _ in storey.wells]
            sunk = [r for r in storey.rooms if r.level < storey.floor - GRID and not r.outdoors]
            holes += [Prism(r.area, r.level, storey.floor) for r in sunk]
            raised = [r for r in storey.rooms if r.level > storey.floor + GRID]
            solids += [Prism(r.area, storey.floor, r.level) for r in raised if not r.outdoors]
        return solids, holes

    def _cuts(self) -> Iterator[Prism]:
        """Yield holes for openings in walls that have none."""
        walls = [w for s in self.storeys for w in s.walls]
        tree = shapely.STRtree([wall_footprint(w) for w in walls])
        for way in self.ways:
            strip = way.strip().buffer(-0.01)
            met = [walls[i] for i in tree.query(strip, predicate="intersects")]
            low = way.low
            if any(w.bottom < way.head - 0.01 and w.bottom + w.height > low + 0.01 for w in met):
                yield Prism(way.strip(GRID), low, way.head)
            storey = self.storey_at(low)
            if storey is not None and low < storey.floor - GRID:
                # Between rooms that are a step lower.
                yield Prism(way.strip(GRID), low, storey.floor)

    def _under(self, number: int) -> float:
        """Return the y at which the floor slab of a storey begins: at the ceiling below."""
        if number == 0:
            return self.ground - 0.05
        return min(self.storeys[number - 1].ceiling, self.storeys[number].floor - 0.05)

    def _floors(self, number: int, storey: BuildingStorey) -> Iterator[Prism]:
        under = self._under(number)
        below = self.storeys[number - 1].footprint if number else Polygon()
        whole = shapely.union_all([storey.footprint, below], grid_size=GRID)
        yield Prism(whole, under, storey.floor)
        for room in storey.rooms:
            if room.outdoors:
                yield Prism(room.area, under if number == 0 else room.level - 0.2, room.level)
        if number == len(self.storeys) - 1:
            wide = storey.footprint.buffer(_OVERHANG, join_style="mitre")
            yield Prism(wide, storey.ceiling, storey.ceiling + _ROOF)

    @property
    def roofs(self) -> list[float]:
        """Heights of the upper sides of slabs and roof, y in metres."""
        return [s.floor for s in self.storeys[1:]] + [s.ceiling + _ROOF for s in self.storeys[-1:]]

    def storey_at(self, y: float) -> BuildingStorey | None:
        """Return the storey that a height lies in."""
        found = [s for s in self.storeys if s.floor <= y + 0.3]
        return found[-1] if found else (self.storeys[0] if self.storeys else None)


def building_of(scene: Scene) -> Building:
    """Return the building of a scene with walls."""
    rooms = [room for region in scene.regions if (room := _room(region)) is not None]
    floors = sorted({f.height for f in scene.floors})
    heights = {f.id: f.height for f in scene.floors}
    storeys: list[BuildingStorey] = []
    for number, floor in enumerate(floors):
        here = tuple(r for r in rooms if heights[r.region.floor] == floor)
        above = floors[number + 1] if number + 1 < len(floors) else math.inf
        first = -math.inf if number == 0 else floor - 0.3
        walls = tuple(w for w in scene.walls if first <= w.bottom < above - 0.3)
        if not (here or walls):
            continue
        top = _ceiling(floor, above, here, walls)
        footprint = _outline(here, walls, top)
        wells = tuple(_wells(scene, storeys, here, rooms)) if storeys else ()
        storeys.append(BuildingStorey(floor, top, here, walls, footprint, wells))
    lowest = min([r.level for r in storeys[0].rooms] + [storeys[0].floor]) if storeys else 0.0
    ways = find_openings(scene, [s.walls for s in storeys], [s.floor for s in storeys])
    return Building(scene, tuple(storeys), tuple(ways), lowest - 0.12)


def _room(region: Region) -> BuildingRoom | None:
    if region.outline is None:
        return None
    area = Polygon(region.outline).buffer(0)
    if area.is_empty:
        return None
    outdoors = OUTDOORS.search(region.label.casefold()) is not None
    return BuildingRoom(region, area, region.center[1], outdoors)


def _ceiling(
    floor: float, above: float, rooms: Sequence[BuildingRoom], walls: Sequence[Wall]
) -> float:
    """Return the ceiling height of a storey, from the tops of its walls."""
    tops = [w.bottom + w.height for w in walls if w.bottom + w.height > floor + 1.9]
    tops = tops or [r.region.box.top for r in rooms if r.region.box is not None]
    return min(max(tops, default=floor + _CEILING), above - 0.05)


def _outline(rooms: Sequence[BuildingRoom], walls: Sequence[Wall], ceiling: float) -> BaseGeometry:
    """Return the area under a storey's ceiling."""
    high = [wall_footprint(w) for w in walls if w.bottom + w.height > ceiling - 0.3]
    indoors = [r.area for r in rooms if not r.outdoors]
    whole = shapely.union_all([*high, *indoors], grid_size=GRID)
    out = shapely.union_all([r.area for r in rooms if r.outdoors])
    filled = []
    for each in polygons_in(whole):
        open_ = [
            Polygon(ring)
            for ring in each.interiors
            if Polygon(ring).area > _COURT or Polygon(ring).intersection(out).area > 0.5
        ]
        filled.append(Polygon(each.exterior, [hole.exterior for hole in open_]))
    return shapely.union_all(filled, grid_size=GRID)


def _wells(
    scene: Scene,
    below: Sequence[BuildingStorey],
    here: Sequence[BuildingRoom],
    rooms: Sequence[BuildingRoom],
) -> Iterator[tuple[BaseGeometry, BuildingRoom]]:
    """Yield the openings in a storey's floor for the stairs that come up to it."""
    by_id = {room.region.id: room for room in rooms}
    arriving = {room.region.id for room in here}
    under = {room.region.id for room in below[-1].rooms}
    floor = shapely.union_all([room.area for room in here])
    told = set()
    for flight in scene.stairs:
        foot = by_id.get(flight.a)
        if foot is None or flight.b not in arriving or flight.a not in under or not flight.treads:
            continue
        told.add((flight.a, flight.b))
        steps = [Polygon(box.corners()) for box in (*flight.treads, *flight.landings)]
        way = shapely.union_all(steps)
        well = foot.area.difference(floor)
        mostly = well.intersection(way).area > 0.6 * way.area
        yield (well if mostly else way.envelope), foot
    for link in scene.links:
        if link.kind == "stairs" and (link.a, link.b) not in told and link.b in arriving:
            # Hand-written homes have stairs as an item in a room.
            for item in scene.items_in(link.a):
                if item.prompt_name == "stairs" and item.size is not None and link.a in by_id:
                    x, _, z = item.position
                    u, _, w = item.size
                    box = shapely.box(x - u / 2, z - w / 2, x + u / 2, z + w / 2)
                    turned = rotate(box, item.yaw, use_radians=True)
                    yield turned, by_id[link.a]
