"""Generator of homes: ``make_home(7)`` returns the same scene on every machine.

Plans are drawn until one is valid, and furnished until a person can walk through the whole home.
The scene's notes say how many draws were needed. A home that failed a check is never returned.

The scene is built from the floor plan and its furniture; here millimetres become metres. The
furniture is checked: no item lies outside its room, in another item, or in the sweep of a door.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import shapely
from shapely import Polygon, STRtree

from navloom.errors import SceneError
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
from navloom_worlds.homes.catalogue import files_digest
from navloom_worlds.homes.floorplan import (
    Doorway,
    Floorplan,
    Outline,
    PlannedRoom,
    Spot,
    StairFlight,
)
from navloom_worlds.homes.furnisher import Furnishing, furnish_home
from navloom_worlds.homes.home_names import OWN, VERSION, HomeSpec, home_name
from navloom_worlds.homes.plan_generator import plan_home
from navloom_worlds.homes.rectilinear import covers_rect, to_rect
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.viewpoint_placement import FLAT, HEAD, PERSON, place_viewpoints

_TOUCH = 0.002
"""Metres by which two items may overlap, since the corners of turned items are rounded."""


def furnishing_faults(
    regions: Sequence[Region],
    items: Sequence[Item],
    relations: Sequence[Relation],
    ways: Sequence[Link | Opening],
    stairs: Sequence[Stairs] = (),
) -> Iterator[tuple[str, str]]:
    """Yield the faults in a home's furniture.

    Two boxes may overlap if one item is in or on the other (a sofa's box contains the objects on
    its seat). A rug may lie under any item.

    Args:
        regions: with polygons, in metres.
        items: with sizes, each in a region.
        relations: of the items.
        ways: doors, with the floor that each sweeps.
        stairs: no item may lie on their treads.

    Yields:
        A region, and the fault in it.
    """
    if not items:
        return
    index = {region.id: i for i, region in enumerate(regions)}
    room = np.array([index[str(item.region)] for item in items])
    feet = np.array([Polygon(_corners(item)) for item in items])
    grown = [Polygon(r.polygon or ()).buffer(_TOUCH, join_style="mitre") for r in regions]
    inside = shapely.covers(np.array(grown)[room], feet)
    for i in np.flatnonzero(~inside).tolist():
        yield str(items[i].region), f"{items[i].id} is not inside."
    middle = np.array([item.position[1] for item in items])
    half = np.array([item.size[1] if item.size else 0.0 for item in items]) / 2
    floor = np.array([region.center[1] for region in regions])[room]
    ceiling = np.array([r.box.top if r.box else np.inf for r in regions])[room]
    low, high = middle - half, middle + half
    for i in np.flatnonzero((low < floor - _TOUCH) | (high > ceiling + _TOUCH)).tolist():
        yield str(items[i].region), f"{items[i].id} is in the floor or the ceiling."
    for flight in stairs:
        treads = shapely.union_all([Polygon(box.corners()) for box in flight.treads])
        for i in np.flatnonzero(shapely.intersects(treads.buffer(-_TOUCH), feet)).tolist():
            if items[i].region in (flight.a, flight.b) and low[i] < floor[i] + HEAD:
                yield str(items[i].region), f"{items[i].id} is on stairs."
    stands = np.flatnonzero(high > floor + FLAT)
    tree = STRtree(feet[stands])
    held = {(r.a, r.b) for r in relations if r.kind == "in"} | {(i.id, i.on) for i in items}
    for i, j in _pairs(tree, stands, low, high):
        a, b = items[i], items[j]
        if (a.id, b.id) not in held and (b.id, a.id) not in held:
            yield str(a.region), f"{a.id} and {b.id} overlap."
    for way in ways:
        if way.swing is None:
            continue
        sweep = Polygon(way.swing).buffer(-_TOUCH)
        for i in stands[tree.query(sweep, predicate="intersects")].tolist():
            region = str(items[i].region)
            if region in _sides(way) and low[i] < floor[i] + (way.height or np.inf):
                yield region, f"{items[i].id} stands where a door sweeps."


def _corners(item: Item) -> tuple[Point2, ...]:
    """Return the footprint's corners, slightly shrunk."""
    width, height, depth = item.size or (0.0, 0.0, 0.0)
    size = (max(width - _TOUCH, 0), height, max(depth - _TOUCH, 0))
    return Box.model_construct(center=item.position, size=size, yaw=item.yaw).corners()


def _pairs(
    tree: STRtree, stands: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Iterator[tuple[int, int]]:
    """Yield the index pairs of items that overlap in floor and in height."""
    first, second = (stands[each] for each in tree.query(tree.geometries, predicate="intersects"))
    shared = np.minimum(high[first], high[second]) - np.maximum(low[first], low[second])
    kept = (first < second) & (shared > _TOUCH)
    yield from zip(first[kept].tolist(), second[kept].tolist(), strict=True)


def _sides(way: Link | Opening) -> tuple[str, ...]:
    return (way.a, way.b) if isinstance(way, Link) else (way.region,)


def build_scene(
    plan: Floorplan, items: Sequence[Item], relations: Sequence[Relation], **said: Any
) -> Scene:
    """Build the scene of a plan and its furniture, with viewpoints on the free floor.

    Args:
        plan: in millimetres.
        items: in metres, in the regions of the plan's rooms.
        relations: of the items.
        **said: other fields of the scene: ``id``, ``source``, ``notes``.

    Raises:
        BlockedError: furniture blocks a path, or has an invalid position.
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
    viewpoints, edges = place_viewpoints(regions, links, items, stairs, PERSON)
    return Scene(
        floors=tuple(Floor(id=s.floor, height=mm_to_m(s.height)) for s in plan.storeys),
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
                bottom=mm_to_m(wall.bottom),
                height=mm_to_m(wall.top - wall.bottom),
                thickness=mm_to_m(wall.thickness),
            )
            for wall in plan.walls
        ),
        openings=openings,
        stairs=stairs,
        **said,
    )


def mm_to_m(millimetres: float) -> float:
    """Convert millimetres to metres; midpoints may have half millimetres."""
    return round(millimetres / 1000, 4)


def _point(spot: Spot) -> Point2:
    return mm_to_m(spot[0]), mm_to_m(spot[1])


def _outline(outline: Outline) -> tuple[Point2, ...]:
    return tuple(_point(spot) for spot in outline)


def _region(room: PlannedRoom, ceiling: int) -> Region:
    left, near, right, far = to_rect(room.outline)
    across, along = mm_to_m((left + right) / 2), mm_to_m((near + far) / 2)
    x, z = _middle(room.outline)
    return Region(
        id=room.id,
        label=room.kind,
        floor=room.floor,
        center=(mm_to_m(x), mm_to_m(room.level), mm_to_m(z)),
        box=Box(
            center=(across, mm_to_m((room.level + ceiling) / 2), along),
            size=(mm_to_m(right - left), mm_to_m(ceiling - room.level), mm_to_m(far - near)),
        ),
        polygon=_outline(room.outline),
    )


def _middle(outline: Outline) -> tuple[float, float]:
    """Return the centre of a room's largest inscribed rectangle."""
    xs, zs = (sorted({spot[axis] for spot in outline}) for axis in (0, 1))
    best = (0, 0.0, 0.0)
    for i, left in enumerate(xs):
        for right in xs[i + 1 :]:
            for j, near in enumerate(zs):
                for far in zs[j + 1 :]:
                    area = (right - left) * (far - near)
                    if area > best[0] and covers_rect(outline, (left, near, right, far)):
                        best = (area, (left + right) / 2, (near + far) / 2)
    return best[1], best[2]


def _link(door: Doorway, a: PlannedRoom, b: PlannedRoom) -> Link:
    (x0, z0), (x1, z1) = door.jambs
    return Link(
        a=a.id,
        b=b.id,
        kind="opening" if door.leaf is None else "door",
        point=(mm_to_m((x0 + x1) / 2), mm_to_m(max(a.level, b.level)), mm_to_m((z0 + z1) / 2)),
        width=mm_to_m(door.width),
        step=mm_to_m(b.level - a.level),
        door=door.state,
        leaf=door.leaf,
        height=mm_to_m(door.height),
        threshold=mm_to_m(door.threshold),
        jambs=(_point(door.jambs[0]), _point(door.jambs[1])),
        swing=_swing(door),
    )


def _swing(door: Doorway) -> tuple[Point2, ...] | None:
    """Return the floor that a leaf sweeps, starting at the corner of its hinge."""
    if door.swing is None or door.hinge is None:
        return None
    x, z = door.jambs[door.hinge]
    away = [abs(u - x) + abs(w - z) for u, w in door.swing]
    first = away.index(min(away))
    return _outline((*door.swing[first:], *door.swing[:first]))


def _way_up(flight: StairFlight, rooms: dict[int, PlannedRoom]) -> Link:
    line = [_place(each) for each in flight.line]
    return Link(
        a=rooms[flight.lower].id,
        b=rooms[flight.upper].id,
        kind=flight.kind,
        point=_halfway(line),
        width=mm_to_m(flight.width),
        step=mm_to_m(rooms[flight.upper].level - rooms[flight.lower].level),
    )


def _place(each: tuple[int, int, int]) -> Point3:
    return mm_to_m(each[0]), mm_to_m(each[1]), mm_to_m(each[2])


def _halfway(line: Sequence[Point3]) -> Point3:
    """Return the midpoint of a line's middle segment."""
    a, b = line[(len(line) - 1) // 2], line[len(line) // 2]
    x, y, z = ((one + other) / 2 for one, other in zip(a, b, strict=True))
    return round(x, 3), round(y, 3), round(z, 3)


def _stairs(flight: StairFlight, rooms: dict[int, PlannedRoom]) -> Stairs:
    base = rooms[flight.lower].level

    def block(each: tuple[int, int, int, int, int]) -> Box:
        x0, z0, x1, z1, top = each
        return Box(
            center=(mm_to_m((x0 + x1) / 2), mm_to_m((base + top) / 2), mm_to_m((z0 + z1) / 2)),
            size=(mm_to_m(x1 - x0), mm_to_m(top - base), mm_to_m(z1 - z0)),
        )

    return Stairs(
        a=rooms[flight.lower].id,
        b=rooms[flight.upper].id,
        treads=tuple(block(each) for each in flight.treads),
        landings=tuple(block(each) for each in flight.landings),
        line=tuple(_place(each) for each in flight.line),
    )


def _openings(plan: Floorplan, rooms: dict[int, PlannedRoom]) -> list[Opening]:
    windows = [
        Opening(
            kind="window",
            region=rooms[window.room].id,
            jambs=(_point(window.jambs[0]), _point(window.jambs[1])),
            bottom=mm_to_m(rooms[window.room].level + window.sill),
            height=mm_to_m(window.head - window.sill),
        )
        for window in plan.windows
    ]
    doors = [
        Opening(
            kind="door",
            region=rooms[door.a].id,
            jambs=(_point(door.jambs[0]), _point(door.jambs[1])),
            bottom=mm_to_m(rooms[door.a].level),
            height=mm_to_m(door.height),
            leaf=door.leaf,
            swing=_swing(door),
        )
        for door in plan.doorways
        if door.b is None
    ]
    return [*doors, *windows]


MOST_PLANS = 20
"""Maximum number of plans that are furnished for one home."""
_FURNISHINGS = 3
"""Furnishing attempts for each plan."""


def make_home(seed: int, spec: HomeSpec | None = None) -> Scene:
    """Generate a furnished home.

    Args:
        seed: selects the home.
        spec: options; those left open are drawn from the seed.

    Returns:
        A scene of source ``home``, whose id is :func:`~navloom_worlds.homes.home_names.home_name`.

    Raises:
        SceneError: no home fulfils the options; the message says why.
    """
    wish = spec or HomeSpec()
    name = home_name(seed, wish)
    reason = ""
    for drawn, tried in product(range(MOST_PLANS), range(_FURNISHINGS)):
        dice = Rng("home", VERSION, seed, drawn)
        if tried == 0:
            plan = plan_home(dice.split("plan"), wish)
        inside = furnish_home(
            plan, dice.split("furnish", tried), style=wish.style, clutter=wish.clutter
        )
        again = plan.retries, drawn * _FURNISHINGS + tried
        try:
            return build_scene(
                plan,
                inside.items,
                inside.relations,
                id=name,
                source="home",
                notes=tuple(_notes(inside, *again)),
            )
        except BlockedError as error:
            reason = str(error)
    raise SceneError(f"home:{name}: {MOST_PLANS} plans were furnished, and none held: {reason}")


def _notes(inside: Furnishing, plans: int, furnishings: int) -> Iterator[str]:
    yield f"Made by version {VERSION} of the homes: {inside.style}, {inside.clutter}."
    if own := files_digest(os.environ.get(OWN, "")):
        yield f"Furnished with kinds of {OWN}, too: {own[:12]}."
    if plans or furnishings:
        yield (
            f"Plans drawn before one held: {plans}; furnishings that stood in the way:"
            f" {furnishings}."
        )
