"""Wall openings of a scene: doorways and windows, with missing values inferred.

Procedural homes give the ends of each opening and the swing of its door. Hand-written homes give a
point and a width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import LineString, Point, Polygon

from navloom.scenes.scene import Box, Leaf, Link, Opening, Point2, Scene, Wall
from navloom_worlds.geometry.arrays import F64
from navloom_worlds.geometry.semantic_ids import door_owner, opening_owner
from navloom_worlds.geometry.solids import Part

OUTDOORS = re.compile(r"balcony|terrace|outdoor|patio|garden|deck|pool|porch|yard|veranda")
"""Labels of regions that are open to the sky."""
_HEAD = 2.05
_NARROWEST = 0.05
_WIDEST_HINGED = 1.25
"""Width in metres above which a door slides."""
_ASIDE = 0.25
"""Metres from a wall's middle line within which a doorway's point may lie."""
_PAST = 0.3
"""Clearance in metres that a path needs from an open leaf."""
_BARRED = 0.3
"""Cost of a path blocked by the leaf, in square metres of items that it would sweep over."""


@dataclass(frozen=True)
class WallOpening:
    """Opening in a wall: a doorway or a window.

    Attributes:
        owner: its owner id.
        a: one end on the wall's middle line, (x, z).
        b: the other end.
        low: y of its sill or floor.
        head: y of its upper end.
        thick: thickness of the wall, metres.
        kind: ``door``, ``opening``, ``window`` or ``way out``.
        leaf: type of its door leaf; None for none.
        state: state of its door.
        swing: floor area that a hinged leaf sweeps, its first corner at the hinge.
        sill: height of the threshold.
        rooms: regions on both sides; only one for an opening that leads out.
    """

    owner: int
    a: Point2
    b: Point2
    low: float
    head: float
    thick: float
    kind: str
    leaf: Leaf | None
    state: str | None
    swing: tuple[Point2, ...] | None
    sill: float
    rooms: tuple[str, ...]

    @property
    def width(self) -> float:
        """Clear width in metres."""
        return math.dist(self.a, self.b)

    @property
    def along(self) -> F64:
        """Unit vector from a to b, (x, z)."""
        return np.subtract(self.b, self.a) / self.width

    @property
    def across(self) -> F64:
        """Unit vector from one face of the wall to the other, (x, z)."""
        u, w = self.along
        return np.array([-w, u])

    @property
    def middle(self) -> F64:
        """Midpoint of a and b, (x, z)."""
        return np.add(self.a, self.b) / 2

    @property
    def inward(self) -> float:
        """Side to which the leaf swings, as a sign of :attr:`across`; 1 if unknown."""
        if not self.swing:
            return 1.0
        return 1.0 if (np.mean(self.swing, axis=0) - self.a) @ self.across >= 0 else -1.0

    def placed(self, part: Part, y: float = 0.0) -> Part:
        """Return a part moved from the opening's frame (x from a to b, z across) to the scene's."""
        return part.turned(math.atan2(self.along[1], self.along[0])).moved(self.a[0], y, self.a[1])

    def strip(self, wider: float = 0.0) -> Polygon:
        """Return the (x, z) area of the opening in its wall, widened at both faces of the wall."""
        return LineString([self.a, self.b]).buffer(self.thick / 2 + wider, cap_style="flat")


def wall_footprint(wall: Wall) -> Polygon:
    """Return the footprint of a wall, (x, z)."""
    return LineString([wall.a, wall.b]).buffer(wall.thickness / 2, cap_style="flat")


@dataclass(frozen=True)
class _Walls:
    """Walls of a storey with a spatial index."""

    walls: tuple[Wall, ...]
    tree: shapely.STRtree

    def near(self, point: Point2, reach: float) -> list[Wall]:
        found = self.tree.query(Point(point), predicate="dwithin", distance=reach)
        return [self.walls[i] for i in sorted(found)]


def find_openings(
    scene: Scene, walls: Sequence[tuple[Wall, ...]], floors: Sequence[float]
) -> Iterator[WallOpening]:
    """Yield the doorways and windows of a scene.

    Args:
        scene: scene with links and openings.
        walls: walls of each storey, from the lowest.
        floors: heights of the storeys.
    """
    if not floors:
        return
    storeys = [_Walls(each, shapely.STRtree([wall_footprint(w) for w in each])) for each in walls]

    def storey(y: float) -> _Walls:
        return storeys[max([i for i, floor in enumerate(floors) if floor <= y + 0.3], default=0)]

    for index, link in enumerate(scene.links):
        if link.kind in ("door", "opening") or (link.kind == "ramp" and link.jambs):
            low = max(scene.region_by_id[each].center[1] for each in (link.a, link.b))
            found = _doorway(scene, index, low, storey(low))
            if found is not None:
                yield found
    for index, opening in enumerate(scene.openings):
        if math.dist(*opening.jambs) > _NARROWEST:
            yield _hole(opening, index, storey(opening.bottom))


def _middle(ends: tuple[Point2, Point2]) -> Point2:
    (ax, az), (bx, bz) = ends
    return (ax + bx) / 2, (az + bz) / 2


def _doorway(scene: Scene, index: int, low: float, walls: _Walls) -> WallOpening | None:
    """Return a link's doorway; None if there is no wall that it could be in."""
    link = scene.links[index]
    jambs, thick = link.jambs, 0.1
    if jambs is not None:
        over = walls.near(_middle(jambs), 0.02) or walls.near(jambs[0], 0.06)
        thick = max((w.thickness for w in over if _in_line(w, jambs)), default=0.1)
    elif link.point is not None:
        wide = link.width or 0.9
        spot = (link.point[0], link.point[2])
        aside = [(_off(w, spot), w) for w in walls.near(spot, wide / 2 + _ASIDE)]
        aside = [pair for pair in aside if pair[0] < _ASIDE]
        if not aside:
            return None
        wall = min(aside, key=lambda pair: round(pair[0], 3))[1]
        jambs, thick = _on_line(wall, spot, wide), wall.thickness
    if jambs is None or math.dist(*jambs) < _NARROWEST:
        return None
    kind = link.kind if link.kind != "ramp" else "door" if link.leaf else "opening"
    usual = _HEAD if kind == "door" else _HEAD + 0.15
    head = _head(walls, jambs, low, low + (link.height or usual))
    leaf = _leaf(scene, link) if kind == "door" else None
    swing = link.swing
    if leaf == "hinged" and swing is None:
        swing = _swing(scene, link, jambs, thick)
    state = (link.door or "open") if leaf else None
    return WallOpening(
        door_owner(index), *jambs, low, head, thick, kind, leaf, state, swing,
        link.threshold or 0.0, (link.a, link.b),
    )  # fmt: skip


def _hole(opening: Opening, index: int, walls: _Walls) -> WallOpening:
    over = [w for w in walls.near(_middle(opening.jambs), 0.02) if _in_line(w, opening.jambs)]
    thick = max((w.thickness for w in over), default=0.2)
    leaf = (opening.leaf or "hinged") if opening.kind == "door" else None
    top = opening.bottom + opening.height
    head = top if opening.kind == "window" else _head(walls, opening.jambs, opening.bottom, top)
    return WallOpening(
        opening_owner(index), *opening.jambs, opening.bottom, head, thick,
        "window" if opening.kind == "window" else "way out", leaf, leaf and "closed",
        opening.swing, 0.0, (opening.region,),
    )  # fmt: skip


def _in_line(wall: Wall, jambs: tuple[Point2, Point2]) -> bool:
    return _off(wall, jambs[0]) < 0.03 and _off(wall, jambs[1]) < 0.03


def _off(wall: Wall, spot: Point2) -> float:
    """Return the distance of a position from a wall's middle line, extended to infinity."""
    (ax, az), (bx, bz) = wall.a, wall.b
    long = math.hypot(bx - ax, bz - az) or 1.0
    return abs((bx - ax) * (spot[1] - az) - (bz - az) * (spot[0] - ax)) / long


def _on_line(wall: Wall, spot: Point2, wide: float) -> tuple[Point2, Point2]:
    a, b, at = np.array(wall.a), np.array(wall.b), np.array(spot)
    along = (b - a) / (float(np.linalg.norm(b - a)) or 1.0)
    middle = a + along * float((at - a) @ along)
    first, last = middle - along * wide / 2, middle + along * wide / 2
    return (round(first[0], 4), round(first[1], 4)), (round(last[0], 4), round(last[1], 4))


def _head(walls: _Walls, jambs: tuple[Point2, Point2], low: float, otherwise: float) -> float:
    """Return the top of a doorway: the underside of the wall above it, if there is one."""
    over = [w.bottom for w in walls.near(_middle(jambs), 0.02) if w.bottom > low + 1.2]
    return min(over, default=otherwise)


def _leaf(scene: Scene, link: Link) -> Leaf:
    if link.leaf is not None:
        return link.leaf
    out = any(OUTDOORS.search(scene.region_by_id[each].label) for each in (link.a, link.b))
    return "sliding" if out or (link.width or 0.9) > _WIDEST_HINGED else "hinged"


def _swing(
    scene: Scene, link: Link, jambs: tuple[Point2, Point2], thick: float
) -> tuple[Point2, ...]:
    """Return the best swing area of a leaf: fewest items in it, and fewest paths blocked."""
    a, b = np.array(jambs[0]), np.array(jambs[1])
    wide = float(np.linalg.norm(b - a))
    along = (b - a) / wide
    across = np.array([-along[1], along[0]])
    shapes = [Polygon(r.outline) for r in (scene.region_by_id[link.a], scene.region_by_id[link.b])
              if r.outline]  # fmt: skip
    things = [
        Polygon(Box(center=i.position, size=i.size, yaw=i.yaw).corners())
        for each in (link.a, link.b)
        for i in scene.items_in(each)
        if i.size is not None
    ]
    ways = _ways_in(scene, {link.a, link.b})
    best: tuple[float, tuple[Point2, ...]] = (math.inf, ())
    for hinge, latch in ((a, b), (b, a)):
        for side in (across, -across):
            near = side * thick / 2
            far = side * (thick / 2 + wide)
            swing = tuple(
                (float(x), float(z))
                for x, z in (hinge + near, latch + near, latch + far, hinge + far)
            )
            area = Polygon(swing)
            met = sum(area.intersection(thing).area for thing in things)
            inside = max((area.intersection(shape).area for shape in shapes), default=area.area)
            opened = LineString([hinge + near, hinge + far])
            barred = int((shapely.distance(ways, opened) < _PAST).sum())
            cost = met + 2 * (area.area - inside) + _BARRED * barred
            if cost < best[0] - 1e-6:
                best = cost, swing
    return best[1]


def _ways_in(scene: Scene, regions: set[str]) -> NDArray[np.object_]:
    """Return the edges that start or end in regions, as lines on the floor."""
    by_id = scene.viewpoint_by_id
    ends = ((by_id[edge.a], by_id[edge.b]) for edge in scene.edges)
    return np.array([
        LineString([(a.position[0], a.position[2]), (b.position[0], b.position[2])])
        for a, b in ends
        if a.region in regions or b.region in regions
    ], dtype=object)  # fmt: skip
