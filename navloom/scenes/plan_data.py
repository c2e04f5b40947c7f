"""Content of a floor plan as plain values: rooms, walls, doors, windows, stairs, items, the graph.

Values are by floor, in paper coordinates: x to the right and y = -z up the page, in metres.
:mod:`navloom.scenes.plan_svg` draws them. A floor is cut 1.2 m above its ground, as architects do:
walls that reach through the cut are solid, those below it (under a window) are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from shapely.geometry import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from navloom.scenes.plan_style import (
    UNTOLD,
    distinctive_assets,
    region_shapes,
    room_tints,
    to_words,
)
from navloom.scenes.scene import (
    UNKNOWN,
    Box,
    DoorState,
    Item,
    Leaf,
    Link,
    LinkKind,
    Opening,
    Point2,
    Scene,
)

_CUT = 1.2
"""Metres above its ground at which a floor is cut."""
_HIGHEST = 1.3
"""Items higher above their room's floor (a lamp, a hood) are left out: they hide others."""
_APART = 0.3
"""Gap in metres between two rooms from which their link is a dotted line."""
_SMALLEST = 0.05
"""Width in metres below which a footprint is a dot, unless its shape is known."""
_MOST_FLOORS, _MOST_LINKS = 20, 4_000
"""Maximum numbers drawn of a scene."""
_ARC = 12
"""Pieces of a quarter circle."""

Spot = tuple[float, float]
"""(x, y) on paper."""
Stroke = tuple[Spot, ...]
"""A line through points."""
_CORNERS: Stroke = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
_ROUND = frozenset({"ball", "basket", "bottle", "bowl", "cylinder", "lamp", "plant", "stool"})


@dataclass(frozen=True)
class PlanRoom:
    """Room; ``parts`` are polygons, each its outer ring and then its holes.

    ``name`` is the id behind ``label``, or ``Unknown_5`` if only numbers are shown. ``note`` helps
    to recognize a room of unknown type.
    """

    id: str
    name: str
    label: str
    tint: str
    parts: tuple[tuple[Stroke, ...], ...]
    note: str | None = None

    @property
    def shape(self) -> BaseGeometry:
        """Area of the room."""
        shapes = [Polygon(rings[0], rings[1:]) for rings in self.parts]
        return shapes[0] if len(shapes) == 1 else MultiPolygon(shapes)


@dataclass(frozen=True)
class PlanWall:
    """Piece of wall in plan view; ``cut`` if it reaches through the height of the cut."""

    corners: Stroke
    cut: bool


@dataclass(frozen=True)
class PlanDoor:
    """Passage through a wall.

    ``leaves`` are the door's leaves in their state; ``arc`` is the arc of a hinged leaf. An opening
    without a door has neither.
    """

    a: str
    b: str | None
    jambs: tuple[Spot, Spot]
    leaf: Leaf | None
    state: DoorState | None
    leaves: tuple[Stroke, ...] = ()
    arc: Stroke = ()


@dataclass(frozen=True)
class PlanLink:
    """Link of two rooms without a known opening; ``tie`` joins them if they lie apart."""

    kind: LinkKind
    at: Spot
    tie: tuple[Spot, Spot] | None = None


@dataclass(frozen=True)
class PlanStairs:
    """Stairs: treads and landings in plan view, and the line of ascent.

    ``below``: the stairs are seen from the floor where they end.
    """

    treads: tuple[Stroke, ...]
    landings: tuple[Stroke, ...]
    line: Stroke
    below: bool


@dataclass(frozen=True)
class PlanItem:
    """Item: its outline and strokes; both empty if its size is unknown."""

    id: str
    name: str
    kind: str
    shape: str | None
    at: Spot
    outline: Stroke = ()
    strokes: tuple[Stroke, ...] = ()


@dataclass(frozen=True)
class PlanFloor:
    """Content of one storey; items from the lowest up."""

    id: int
    rooms: tuple[PlanRoom, ...] = ()
    walls: tuple[PlanWall, ...] = ()
    doors: tuple[PlanDoor, ...] = ()
    windows: tuple[tuple[Spot, Spot], ...] = ()
    links: tuple[PlanLink, ...] = ()
    stairs: tuple[PlanStairs, ...] = ()
    items: tuple[PlanItem, ...] = ()
    viewpoints: dict[str, Spot] = field(default_factory=dict)
    edges: tuple[tuple[str, str], ...] = ()

    @cached_property
    def shapes(self) -> dict[str, BaseGeometry]:
        """Area of each room, by its id."""
        return {room.id: room.shape for room in self.rooms}


@dataclass(frozen=True)
class PlanData:
    """Floors of a scene, the lowest first."""

    scene: str
    floors: tuple[PlanFloor, ...]


def plan_data(
    scene: Scene, *, floors: Iterable[int] | None = None, labels: bool = True
) -> PlanData:
    """Return the content of a scene's floor plan.

    Args:
        scene: the scene.
        floors: only these; by default all that have rooms.
        labels: show room types by names and colours; else rooms are numbers.
    """
    wanted = {each.floor for each in scene.regions} or {floor.id for floor in scene.floors}
    wanted = wanted if floors is None else set(floors)
    tints = room_tints(scene) if labels else dict.fromkeys(scene.region_by_id, UNTOLD)
    names = {room.id: room.id if labels else f"{UNKNOWN}_{room.number}" for room in scene.regions}
    if len(set(names.values())) < len(names):
        names = {room: f"{UNKNOWN}_{i}" for i, room in enumerate(names, start=1)}
    found = []
    for floor in sorted(wanted)[:_MOST_FLOORS]:
        shapes = region_shapes(scene, floor)
        notes = distinctive_assets(scene, shapes) if labels else {}
        rooms = tuple(
            PlanRoom(r, names[r], to_words(names[r]), tints[r], tuple(_rings(shape)), notes.get(r))
            for r, shape in shapes.items()
        )
        found.append(_floor(scene, floor, shapes, rooms))
    return PlanData(scene.uri, tuple(found))


def _floor(
    scene: Scene, floor: int, shapes: dict[str, BaseGeometry], rooms: tuple[PlanRoom, ...]
) -> PlanFloor:
    links = scene.links[:_MOST_LINKS]
    doors = [_door(link) for link in links if link.jambs and {link.a, link.b} & set(shapes)]
    built = {(flight.a, flight.b) for flight in scene.stairs if flight.treads or flight.landings}
    outside = [each for each in scene.openings if each.region in shapes]
    viewpoints = {
        v.id: (v.position[0], -v.position[2])
        for v in scene.viewpoints
        if scene.floor_of(v) == floor
    }
    return PlanFloor(
        floor,
        rooms,
        _walls(scene, floor),
        (*doors, *(_way_out(each) for each in outside if each.kind == "door")),
        tuple(_ends(each.jambs) for each in outside if each.kind == "window"),
        tuple(
            found
            for link in links
            if not link.jambs and (link.a, link.b) not in built
            if (found := _link(shapes, link)) is not None
        ),
        _stairs(scene, floor),
        _items(scene, shapes),
        viewpoints,
        tuple((e.a, e.b) for e in scene.edges if e.a in viewpoints and e.b in viewpoints),
    )


def _rings(shape: BaseGeometry) -> Iterable[tuple[Stroke, ...]]:
    for part in shape.geoms if isinstance(shape, MultiPolygon) else [shape]:
        if isinstance(part, Polygon) and not part.is_empty:
            rings = (part.exterior, *part.interiors)
            yield tuple(tuple((float(x), float(y)) for x, y in ring.coords) for ring in rings)


def _walls(scene: Scene, floor: int) -> tuple[PlanWall, ...]:
    heights = {each.id: each.height for each in scene.floors}
    if floor not in heights:
        return ()
    ground = heights[floor]
    # A wall belongs to the highest storey whose ground is not above its foot.
    above = min((h for h in heights.values() if h > ground), default=math.inf)
    lowest = ground == min(heights.values())
    found = []
    for wall in scene.walls:
        if (wall.bottom < ground - 0.05 and not lowest) or wall.bottom >= above - 0.05:
            continue
        (ax, az), (bx, bz) = wall.a, wall.b
        long = math.hypot(bx - ax, bz - az)
        if wall.bottom > ground + _CUT or not long:
            continue
        u, w = (bx - ax) / long * wall.thickness / 2, (bz - az) / long * wall.thickness / 2
        corners = ((ax - w, -(az + u)), (bx - w, -(bz + u)), (bx + w, -(bz - u)),
                   (ax + w, -(az - u)))  # fmt: skip
        found.append(PlanWall(corners, wall.bottom + wall.height > ground + _CUT))
    return tuple(found)


def _ends(jambs: tuple[Point2, Point2]) -> tuple[Spot, Spot]:
    (ax, az), (bx, bz) = jambs
    return (ax, -az), (bx, -bz)


def _door(link: Link) -> PlanDoor:
    assert link.jambs is not None  # noqa: S101 - the caller looked
    ends = _ends(link.jambs)
    leaves, arc = _leaves(ends, link.leaf, link.swing, link.door)
    return PlanDoor(link.a, link.b, ends, link.leaf, link.door, leaves, arc)


def _way_out(door: Opening) -> PlanDoor:
    ends = _ends(door.jambs)
    leaves, arc = _leaves(ends, door.leaf, door.swing, "closed")
    return PlanDoor(door.region, None, ends, door.leaf, "closed", leaves, arc)


def _leaves(
    jambs: tuple[Spot, Spot],
    leaf: Leaf | None,
    swing: Sequence[Point2] | None,
    state: DoorState | None,
) -> tuple[tuple[Stroke, ...], Stroke]:
    """Return a door's leaves in their state, and the arc of a hinged one."""
    wide = {"open": 1.0, "ajar": 0.3}.get(state or "", 0.0)
    a, b = jambs
    along = (b[0] - a[0], b[1] - a[1])
    beside = (-0.06 * along[1], 0.06 * along[0])
    if leaf == "hinged" and swing:
        return _hinged(jambs, [(x, -z) for x, z in swing], wide)
    if leaf == "sliding":
        start = -0.85 * wide
        ends = [(a[0] + t * along[0] + beside[0], a[1] + t * along[1] + beside[1])
                for t in (start, start + 1)]  # fmt: skip
        return (tuple(ends),), ()
    if leaf == "folding":
        reach, folds = 1 - 0.7 * wide, 4
        points = [
            (
                a[0] + reach * k / folds * along[0] + (k % 2) * 3 * beside[0],
                a[1] + reach * k / folds * along[1] + (k % 2) * 3 * beside[1],
            )
            for k in range(folds + 1)
        ]
        return (tuple(points),), ()
    return ((a, b),) if leaf else (), ()


def _hinged(
    jambs: tuple[Spot, Spot], swing: Sequence[Spot], open_: float
) -> tuple[tuple[Stroke, ...], Stroke]:
    hinge = min(jambs, key=lambda end: math.dist(end, swing[0]))
    (latch,) = (end for end in jambs if end is not hinge)
    wide = math.dist(hinge, latch)
    to_latch = ((latch[0] - hinge[0]) / wide, (latch[1] - hinge[1]) / wide)
    middle = (sum(x for x, _ in swing) / len(swing), sum(y for _, y in swing) / len(swing))
    into = (-to_latch[1], to_latch[0])
    if (middle[0] - hinge[0]) * into[0] + (middle[1] - hinge[1]) * into[1] < 0:
        into = (to_latch[1], -to_latch[0])
    turns = [k / _ARC * math.pi / 2 for k in range(_ARC + 1)]
    arc = tuple(
        (
            hinge[0] + wide * (math.cos(t) * to_latch[0] + math.sin(t) * into[0]),
            hinge[1] + wide * (math.cos(t) * to_latch[1] + math.sin(t) * into[1]),
        )
        for t in turns
    )
    return ((hinge, arc[round(open_ * _ARC)] if open_ else latch),), arc


def _link(shapes: dict[str, BaseGeometry], link: Link) -> PlanLink | None:
    a, b = shapes.get(link.a), shapes.get(link.b)
    at = None if link.point is None else (link.point[0], -link.point[2])
    tie = None
    if a is not None and b is not None:
        near_a, near_b = nearest_points(a, b)
        if near_a.distance(near_b) > _APART:
            tie = (near_a.x, near_a.y), (near_b.x, near_b.y)
        at = at or ((near_a.x + near_b.x) / 2, (near_a.y + near_b.y) / 2)
    return None if at is None or (a is None and b is None) else PlanLink(link.kind, at, tie)


def _stairs(scene: Scene, floor: int) -> tuple[PlanStairs, ...]:
    found = []
    for flight in scene.stairs:
        floors = [scene.region_by_id[end].floor for end in (flight.a, flight.b)]
        if floor in floors:
            line = tuple((x, -z) for x, _, z in flight.line)
            treads, landings = (tuple(map(_footprint, part))
                                for part in (flight.treads, flight.landings))  # fmt: skip
            found.append(PlanStairs(treads, landings, line, floor != floors[0]))
    return tuple(found)


def _footprint(box: Box) -> Stroke:
    return tuple((x, -z) for x, z in box.corners())


def _items(scene: Scene, shapes: dict[str, BaseGeometry]) -> tuple[PlanItem, ...]:
    found = []
    ground_of = {room: scene.region_by_id[room].center[1] for room in shapes}
    for item in scene.items:
        told = item.shape is not None and item.size is not None
        if item.region not in shapes or not (item.kind == "asset" or told):
            continue
        x, y, z = item.position
        if told and item.size and y - item.size[1] / 2 > ground_of[item.region] + _HIGHEST:
            continue
        drawn = item_symbol(item)
        if not told and item.size is not None and min(item.size[0], item.size[2]) < _SMALLEST:
            drawn = None
        outline, strokes = drawn or ((), ())
        top = y + item.size[1] / 2 if item.size else y
        plan = PlanItem(item.id, item.name, item.kind, item.shape, (x, -z), outline, strokes)
        found.append((top if told else 0.0, plan))
    # Python's sort is stable: items of unknown shape keep the scene's order.
    return tuple(plan for _, plan in sorted(found, key=lambda each: each[0]))


def _oval(u: float, w: float, wide: float, deep: float, points: int = 20) -> Stroke:
    turns = [2 * math.pi * k / points for k in range(points + 1)]
    return tuple((u + wide / 2 * math.cos(t), w + deep / 2 * math.sin(t)) for t in turns)


def _frame(left: float, front: float, right: float, back: float) -> Stroke:
    return ((left, front), (right, front), (right, back), (left, back), (left, front))


@cache
def _strokes() -> dict[str, tuple[Stroke, ...]]:
    """Return strokes for each shape in the unit square: u left to right, w from the front."""
    cross: tuple[Stroke, ...] = (((-0.5, -0.5), (0.5, 0.5)), ((-0.5, 0.5), (0.5, -0.5)))
    leaves = [
        (0.45 * math.cos(k * math.pi / 4), 0.45 * math.sin(k * math.pi / 4)) for k in range(8)
    ]
    return {
        "appliance": (((-0.5, -0.38), (0.5, -0.38)), ((-0.5, 0.5), (0.5, -0.38))),
        "bathtub": (_oval(0, 0, 0.84, 0.8), _oval(-0.36, 0, 0.06, 0.1)),
        "bed": (
            _frame(-0.42, 0.26, -0.04, 0.44),
            _frame(0.04, 0.26, 0.42, 0.44),
            ((-0.5, 0.16), (0.5, 0.16)),
            ((-0.5, 0.08), (0.5, 0.08)),
        ),
        "cabinet": (((0, -0.5), (0, 0.5)), ((-0.5, -0.36), (0.5, -0.36))),
        "chair": (_frame(-0.5, 0.3, 0.5, 0.5),),
        "desk": (_frame(0.2, -0.42, 0.44, 0.42),),
        "instrument": (((-0.5, -0.1), (0.5, -0.1)), _frame(-0.42, -0.45, 0.42, -0.2)),
        "lamp": (((-0.35, -0.35), (0.35, 0.35)), ((-0.35, 0.35), (0.35, -0.35))),
        "machine": (_oval(0, -0.05, 0.62, 0.62), ((-0.5, 0.38), (0.5, 0.38))),
        "plant": tuple(((0.0, 0.0), leaf) for leaf in leaves),
        "rug": (_frame(-0.44, -0.44, 0.44, 0.44),),
        "shelf": tuple(((u, -0.5), (u, 0.5)) for u in (-0.3, -0.1, 0.1, 0.3)),
        "shower": (*cross, _oval(0, 0, 0.16, 0.16)),
        "sink": (_oval(0, -0.06, 0.7, 0.66), ((0, 0.44), (0, 0.16))),
        "sofa": (
            ((-0.5, 0.26), (0.5, 0.26)),
            ((-0.38, -0.5), (-0.38, 0.26)),
            ((0.38, -0.5), (0.38, 0.26)),
            ((0, -0.5), (0, 0.26)),
        ),
        "stove": tuple(
            _oval(u, w, 0.34, 0.34) for u in (-0.23, 0.23) for w in (-0.23, 0.23)
        ),
        "toilet": (_frame(-0.5, 0.22, 0.5, 0.5), _oval(0, -0.14, 0.72, 0.7)),
        "vehicle": (
            _frame(-0.4, -0.22, 0.4, -0.1),
            _frame(-0.36, 0.26, 0.36, 0.34),
            ((-0.4, -0.1), (-0.36, 0.26)),
            ((0.4, -0.1), (0.36, 0.26)),
        ),
    }  # fmt: skip


def item_symbol(item: Item) -> tuple[Stroke, tuple[Stroke, ...]] | None:
    """Return an item's outline and strokes on paper (x right, -z up); None without a size."""
    if item.size is None:
        return None
    box = Box(center=item.position, size=item.size, yaw=item.yaw)
    corners = box.corners()
    if item.shape is None:
        return tuple((x, -z) for x, z in corners), ()
    (ax, az), (bx, bz), _, (dx, dz) = corners

    def placed(stroke: Stroke) -> Stroke:
        return tuple(
            (
                ax + (bx - ax) * (u + 0.5) + (dx - ax) * (w + 0.5),
                -(az + (bz - az) * (u + 0.5) + (dz - az) * (w + 0.5)),
            )
            for u, w in stroke
        )

    outline = _oval(0, 0, 1, 1)[:-1] if item.shape in _ROUND else _CORNERS
    return placed(outline), tuple(map(placed, _strokes().get(item.shape, ())))
