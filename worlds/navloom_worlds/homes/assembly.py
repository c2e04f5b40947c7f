"""A floor plan and what stands in it, as a scene: here millimetres become metres."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from navloom.scenes.floor_graph import BlockedError
from navloom.scenes.scene import (
    Box,
    Floor,
    Item,
    Link,
    Opening,
    Point2,
    Point3,
    Region,
    Relation,
    Scene,
    Stairs,
    Wall,
)
from navloom_worlds.homes.floorplan import Doorway, Flight, Floorplan, Outline, Room, Spot
from navloom_worlds.homes.freespace import place_viewpoints
from navloom_worlds.homes.furnishing_checks import furnishing_faults


def assemble(
    plan: Floorplan, items: Sequence[Item], relations: Sequence[Relation], **said: Any
) -> Scene:
    """The scene of a plan and its furniture, with viewpoints on the free floor.

    Args:
        plan: in millimetres.
        items: in metres, in the regions of the plan's rooms.
        relations: of the items.
        **said: other fields of the scene: ``id``, ``source``, ``notes``.

    Raises:
        BlockedError: furniture stands in somebody's way, or where it cannot be.
    """
    rooms = {room.number: room for room in plan.rooms}
    ceilings = {storey.floor: storey.height + storey.ceiling for storey in plan.storeys}
    regions = tuple(_region(room, ceilings[room.floor]) for room in plan.rooms)
    inner = [door for door in plan.doorways if door.b is not None]
    links = (
        *(_link(door, rooms[door.a], rooms[door.b or 0]) for door in inner),
        *(_way_up(flight, rooms) for flight in plan.flights),
    )
    stairs = tuple(_stairs(flight, rooms) for flight in plan.flights)
    openings = tuple(_openings(plan, rooms))
    for region, fault in furnishing_faults(regions, items, relations, (*links, *openings), stairs):
        raise BlockedError(region, fault)
    viewpoints, edges = place_viewpoints(regions, links, items, stairs)
    return Scene(
        floors=tuple(Floor(id=s.floor, height=metres(s.height)) for s in plan.storeys),
        regions=regions,
        links=links,
        items=tuple(items),
        relations=tuple(relations),
        viewpoints=viewpoints,
        edges=edges,
        walls=tuple(
            Wall(
                a=_point(wall.a),
                b=_point(wall.b),
                bottom=metres(wall.bottom),
                height=metres(wall.top - wall.bottom),
                thickness=metres(wall.thickness),
            )
            for wall in plan.walls
        ),
        openings=openings,
        stairs=stairs,
        **said,
    )


def metres(millimetres: float) -> float:
    """Millimetres as metres; the middle of two places may be half a millimetre off them."""
    return round(millimetres / 1000, 4)


def _point(spot: Spot) -> Point2:
    return metres(spot[0]), metres(spot[1])


def _outline(outline: Outline) -> tuple[Point2, ...]:
    return tuple(_point(spot) for spot in outline)


def _region(room: Room, ceiling: int) -> Region:
    xs, zs = [x for x, _ in room.outline], [z for _, z in room.outline]
    left, right, near, far = min(xs), max(xs), min(zs), max(zs)
    x, z = _middle(room.outline)
    return Region(
        id=room.id,
        label=room.kind,
        floor=room.floor,
        center=(metres(x), metres(room.level), metres(z)),
        box=Box(
            center=(
                metres((left + right) / 2),
                metres((room.level + ceiling) / 2),
                metres((near + far) / 2),
            ),
            size=(metres(right - left), metres(ceiling - room.level), metres(far - near)),
        ),
        polygon=_outline(room.outline),
    )


def _middle(outline: Outline) -> tuple[float, float]:
    """The middle of a room; of one with corners that look inwards, of its largest rectangle."""
    xs, zs = (sorted({spot[axis] for spot in outline}) for axis in (0, 1))
    best = (0, 0.0, 0.0)
    for i, left in enumerate(xs):
        for right in xs[i + 1 :]:
            for j, near in enumerate(zs):
                for far in zs[j + 1 :]:
                    area = (right - left) * (far - near)
                    if area > best[0] and _holds(outline, left, near, right, far):
                        best = (area, (left + right) / 2, (near + far) / 2)
    return best[1], best[2]


def _holds(outline: Outline, left: int, near: int, right: int, far: int) -> bool:
    """Whether a rectangle, whose sides are on lines of the outline, lies in it."""
    xs = sorted({x for x, _ in outline if left <= x <= right})
    zs = sorted({z for _, z in outline if near <= z <= far})
    return all(
        _inside(outline, x0 + x1, z0 + z1) for x0, x1 in pairwise(xs) for z0, z1 in pairwise(zs)
    )


def _inside(outline: Outline, twice_x: int, twice_z: int) -> bool:
    """Whether a place is inside; twice its coordinates, since the middle of two may be a half."""
    crossed = 0
    for (x0, z0), (x1, z1) in zip(outline, (*outline[1:], outline[0]), strict=True):
        if x0 == x1 and 2 * x0 > twice_x and min(z0, z1) * 2 < twice_z < max(z0, z1) * 2:
            crossed += 1
    return crossed % 2 == 1


def _link(door: Doorway, a: Room, b: Room) -> Link:
    (x0, z0), (x1, z1) = door.jambs
    return Link(
        a=a.id,
        b=b.id,
        kind="opening" if door.leaf is None else "door",
        point=(metres((x0 + x1) / 2), metres(max(a.level, b.level)), metres((z0 + z1) / 2)),
        width=metres(door.width),
        step=metres(b.level - a.level),
        door=door.state,
        leaf=door.leaf,
        height=metres(door.height),
        threshold=metres(door.threshold),
        jambs=(_point(door.jambs[0]), _point(door.jambs[1])),
        swing=_swing(door),
    )


def _swing(door: Doorway) -> tuple[Point2, ...] | None:
    """The floor that a leaf sweeps, from the corner at its hinge on."""
    if door.swing is None or door.hinge is None:
        return None
    x, z = door.jambs[door.hinge]
    away = [abs(u - x) + abs(w - z) for u, w in door.swing]
    first = away.index(min(away))
    return _outline((*door.swing[first:], *door.swing[:first]))


def _way_up(flight: Flight, rooms: dict[int, Room]) -> Link:
    line = [_place(each) for each in flight.line]
    return Link(
        a=rooms[flight.lower].id,
        b=rooms[flight.upper].id,
        kind=flight.kind,
        point=_halfway(line),
        width=metres(flight.width),
        step=metres(rooms[flight.upper].level - rooms[flight.lower].level),
    )


def _place(each: tuple[int, int, int]) -> Point3:
    return metres(each[0]), metres(each[1]), metres(each[2])


def _halfway(line: Sequence[Point3]) -> Point3:
    """The middle of the middle piece of a line."""
    a, b = line[(len(line) - 1) // 2], line[len(line) // 2]
    x, y, z = ((one + other) / 2 for one, other in zip(a, b, strict=True))
    return round(x, 3), round(y, 3), round(z, 3)


def _stairs(flight: Flight, rooms: dict[int, Room]) -> Stairs:
    base = rooms[flight.lower].level

    def block(each: tuple[int, int, int, int, int]) -> Box:
        x0, z0, x1, z1, top = each
        return Box(
            center=(metres((x0 + x1) / 2), metres((base + top) / 2), metres((z0 + z1) / 2)),
            size=(metres(x1 - x0), metres(top - base), metres(z1 - z0)),
        )

    return Stairs(
        a=rooms[flight.lower].id,
        b=rooms[flight.upper].id,
        treads=tuple(block(each) for each in flight.treads),
        landings=tuple(block(each) for each in flight.landings),
        line=tuple(_place(each) for each in flight.line),
    )


def _openings(plan: Floorplan, rooms: dict[int, Room]) -> list[Opening]:
    windows = [
        Opening(
            kind="window",
            region=rooms[window.room].id,
            jambs=(_point(window.jambs[0]), _point(window.jambs[1])),
            bottom=metres(rooms[window.room].level + window.sill),
            height=metres(window.head - window.sill),
        )
        for window in plan.windows
    ]
    doors = [
        Opening(
            kind="door",
            region=rooms[door.a].id,
            jambs=(_point(door.jambs[0]), _point(door.jambs[1])),
            bottom=metres(rooms[door.a].level),
            height=metres(door.height),
            leaf=door.leaf,
            swing=_swing(door),
        )
        for door in plan.doorways
        if door.b is None
    ]
    return [*doors, *windows]
