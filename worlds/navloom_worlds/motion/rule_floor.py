"""The floor that a rule reads: outlines, doorways, open leaves, and what stands in the way.

All of it is what a scene says of itself, as polygons seen from above. Nothing here asks the
triangles of the building.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPoint, Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Box, Item, Link, Scene, Stairs
from navloom_worlds.furniture import item_parts
from navloom_worlds.geometry.building import building_of
from navloom_worlds.geometry.door_leaves import leaf_parts
from navloom_worlds.geometry.finishes import Finishes
from navloom_worlds.geometry.hung import pose_of
from navloom_worlds.geometry.owners import door_owner, owner_name
from navloom_worlds.geometry.solids import Part, Surface
from navloom_worlds.geometry.wall_holes import WallHole, footprint
from navloom_worlds.motion.box_places import hulls_of

LEAST_CLIMB = 0.05
"""Metres: a rug is gone over by everybody."""
_STOP = (0.012, 0.045, 0.075)
"""Metres that the strips are wide which a closed leaf lies against, on both sides of a doorway, and
from where to where in from the face of the wall they are."""
_CASING = (0.07, 0.018)
_BOARD = (0.08, 0.012)
"""Metres that casings are wide and stand out of the wall, that skirting boards are high and do."""
_STUB = 0.3
"""Metres: so far a body may stick out through the other doorways of a region while it turns."""

_ROUGH = 0.006
"""Metres that the outlines of round things may be off."""

_RAIL = 0.06
"""Metres of a tread that its handrail takes."""
_SEAM = 0.01
_FLAT, _SIMPLER, _THIN = 0.002, 0.004, 1e-9
"""Metres that what is flat is taken to be thick on either side, that outlines are made simpler by,
and that count for nothing."""
_KEPT = 0.002
"""Metres that a body keeps from the head of a doorway."""
_LEAP = 0.3
"""Metres: nobody goes from one tread to another that is so much higher."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Obstacle:
    """Something that stands on a floor, seen from above.

    Attributes:
        what: an item's id, or what :func:`navloom_worlds.geometry.owners.owner_name` calls the
            door whose leaf it is.
        points: (n, 2) corners of its convex outline, (x, z) metres.
        low: where it begins, metres above the floor.
        high: where it ends.
        opener: whether it is there for bodies that open doors alone, or for others alone; None:
            for all.
        edges: (m, 2, 3) of what does not stand upright, (x, metres above the floor, z).
    """

    what: str
    points: Floats
    low: float
    high: float
    opener: bool | None = None
    edges: Floats | None = None

    @cached_property
    def area(self) -> Polygon:
        """What it takes of the floor."""
        return Polygon(self.points)

    def taken(self, body: Embodiment) -> BaseGeometry:
        """What it takes of the floor from a body: a leg that leans, at the heights of the body."""
        low, high = climb(body), body.height
        if self.edges is None or (low <= self.low and self.high <= high):
            return self.area
        start, along = self.edges[:, 0], self.edges[:, 1] - self.edges[:, 0]
        rise = np.where(along[:, 1] == 0, _THIN, along[:, 1])
        shares = np.clip((np.array([[low], [high]]) - start[:, 1]) / rise, 0, 1)
        ends = start + shares[..., None] * along
        held = (ends[..., 1] > low - _THIN) & (ends[..., 1] < high + _THIN)
        area: BaseGeometry = MultiPoint(ends[held][:, [0, 2]]).convex_hull
        if not area.area:
            area = area.buffer(_FLAT, cap_style="square")
        return area.simplify(_SIMPLER).intersection(self.area)

    def meets(self, body: Embodiment) -> bool:
        """Whether a body that passes there touches it: it neither steps over nor goes under it."""
        there = self.opener is None or self.opener == body.doors
        return there and self.high > climb(body) and self.low < body.height


def climb(body: Embodiment) -> float:
    """What of a thing a body steps over, in metres."""
    return max(LEAST_CLIMB, body.max_step)


def taken(
    scene: Scene, region: str, body: Embodiment, but: Collection[str] = (), *, bare: bool = False
) -> BaseGeometry:
    """The floor of a region that things take from a body, and leaves that it cannot push aside.

    Args:
        scene: the scene.
        region: its id.
        body: whose heights count.
        but: what is thought away.
        bare: think all items away.
    """
    items = scene.item_by_id

    def found() -> BaseGeometry:
        met = [
            each.taken(body)
            for each in obstacles_in(scene, region)
            if not each.opener
            and each.meets(body)
            and each.what not in but
            and not (bare and each.what in items)
        ]
        return shapely.union_all(met).simplify(_ROUGH)

    if but and any(each.what in but for each in obstacles_in(scene, region)):
        return found()
    key = f"rule:taken:{region}:{climb(body)}:{body.height}:{body.doors}:{bare}"
    return per_scene(scene, key, found)


def own_leaf(
    scene: Scene, region: str, way: WallHole | None, body: Embodiment, but: Collection[str] = ()
) -> BaseGeometry:
    """The floor that the open leaf of a doorway takes from a body that opens it.

    Args:
        scene: the scene.
        region: on one side.
        way: the doorway; None for none.
        body: whose heights count.
        but: what is thought away.
    """
    if way is None or not body.doors:
        return Polygon()
    own = owner_name(scene, way.owner)
    return shapely.union_all(
        [
            each.taken(body)
            for each in obstacles_in(scene, region)
            if each.opener and each.what == own and own not in but and each.meets(body)
        ]
    )


def inner(scene: Scene, region: str, body: Embodiment) -> BaseGeometry:
    """A region seen from above, less walls and the skirting boards that a body does not step over.

    Outlines of some scenes lie on the middle lines of walls.
    """
    area = outline(scene, region)
    high, deep = _BOARD
    boards = scene.walls and Finishes(scene.id).wall(scene.region_by_id[region]).skirting
    more = deep if boards and body.max_step < high else 0.0
    solid = shapely.buffer(_walls_in(scene, region, body), more, join_style="mitre")
    return area.buffer(-more, join_style="mitre").difference(shapely.union_all(solid))


def _walls_in(scene: Scene, region: str, body: Embodiment) -> list[Polygon]:
    """The walls that stand on a region's outline or in it, at the heights of a body."""
    area, floor = outline(scene, region).buffer(-_SEAM / 2), scene.region_by_id[region].center[1]
    tree = per_scene(
        scene, "rule:walls", lambda: shapely.STRtree([footprint(wall) for wall in scene.walls])
    )
    met = [scene.walls[k] for k in tree.query(area, predicate="intersects")]
    low, high = floor + climb(body), floor + body.height
    return [
        footprint(wall) for wall in met if wall.bottom < high and wall.bottom + wall.height > low
    ]


def obstacles_in(scene: Scene, region: str) -> tuple[Obstacle, ...]:
    """What stands in a region, with leaves as each kind of body meets them, and casings."""
    return per_scene(scene, f"rule:obstacles:{region}", lambda: tuple(_obstacles(scene, region)))


def _obstacles(scene: Scene, region: str) -> Iterator[Obstacle]:
    floor = scene.region_by_id[region].center[1]
    for item in scene.items_in(region):
        if item.size is not None and item.position[1] - item.size[1] / 2 < floor + 2.5:
            yield from _of_item(scene, item, floor)
    for way in _ways(scene).get(region, ()):
        if way.leaf is not None and way.kind != "window":
            what = owner_name(scene, way.owner)
            still = "closed" if way.kind == "way out" else way.state
            fixed = way.kind == "way out" or still == "locked"
            for opener, state in [(None, still)] if fixed else [(True, "open"), (False, still)]:
                leaf = leaf_parts(replace(way, state=state), Surface())
                yield from _of_parts(what, [*leaf], way.low, opener)
                for points in _casings(way):
                    yield Obstacle(what, points, 0.0, way.head - way.low, opener)


def _casings(way: WallHole) -> Iterator[Floats]:
    """What stands out of the wall on both sides of a doorway."""
    wide, deep = _CASING
    along, across = way.along, np.array([-way.along[1], way.along[0]])
    for jamb, out in ((np.array(way.a), -along), (np.array(way.b), along)):
        for side in (-1, 1):
            face = jamb + across * side * way.thick / 2
            more, proud = out * wide, across * side * deep
            yield np.array([face, face + more, face + more + proud, face + proud])


def _of_item(scene: Scene, item: Item, floor: float) -> Iterator[Obstacle]:
    """An item part by part: a table is a top on legs, and one may go between them."""
    x, z, yaw = pose_of(scene, item)
    foot = item.position[1] - (item.size[1] / 2 if item.size else 0.0)
    at = [part.turned(yaw).moved(x, foot, z) for part in item_parts(item)]
    yield from _of_parts(item.id, at, floor)


def _of_parts(
    what: str, parts: Sequence[Part], floor: float, opener: bool | None = None
) -> Iterator[Obstacle]:
    """The convex outline of each part, and from where to where it reaches."""
    if not parts:
        return
    at = np.concatenate([part.vertices for part in parts]).astype(np.float64)
    at[:, 1] -= floor
    number = np.repeat(np.arange(len(parts)), [len(part.vertices) for part in parts])
    first = np.flatnonzero(np.diff(number, prepend=-1))
    low, high = (extreme.reduceat(at[:, 1], first) for extreme in (np.minimum, np.maximum))
    hulls = hulls_of(at[:, [0, 2]], number)
    upright = np.ones(len(parts), dtype=np.bool_)
    for end in (low, high):
        # Twice, for what ends in a point.
        there = np.repeat(np.flatnonzero(np.abs(at[:, 1] - end[number]) < _FLAT), 2)
        ends = hulls_of(at[there][:, [0, 2]], number[there])
        upright &= shapely.area(ends) > shapely.area(hulls) - _FLAT**2
    flat = shapely.get_dimensions(hulls) < 2
    hulls[flat] = shapely.buffer(hulls[flat], _FLAT, cap_style="square")
    for k, hull in enumerate(shapely.simplify(hulls, _SIMPLER)):
        points = shapely.get_coordinates(hull)[:-1]
        edges = None
        if not upright[k]:
            faces = parts[k].faces
            edges = at[first[k] + np.concatenate([faces[:, :2], faces[:, 1:], faces[:, [2, 0]]])]
        yield Obstacle(what, points, float(low[k]), float(high[k]), opener, edges)


def _ways(scene: Scene) -> dict[str, list[WallHole]]:
    """The doorways of each region."""

    def found() -> dict[str, list[WallHole]]:
        out: dict[str, list[WallHole]] = {}
        for way in building_of(scene).ways:
            for room in way.rooms:
                out.setdefault(room, []).append(way)
        return out

    return per_scene(scene, "rule:ways", found)


def way_of(scene: Scene, link: Link) -> WallHole | None:
    """The hole in a wall that a link leads through; None where it leads through none."""
    owner = door_owner(scene.links.index(link))
    return next((way for way in _ways(scene).get(link.a, ()) if way.owner == owner), None)


def outline(scene: Scene, region: str) -> Polygon:
    """A region seen from above; empty where nobody says how it lies."""
    return Polygon(scene.region_by_id[region].outline)


def strip(way: WallHole, *areas: BaseGeometry, beyond: float = 0.0) -> BaseGeometry:
    """The floor of a doorway, from the outline of one region to that of the other.

    Args:
        way: the hole in the wall.
        areas: the outlines; it reaches 1 cm into each.
        beyond: metres that it is made longer on either side.
    """
    a, b = np.array(way.a), np.array(way.b)
    along = way.along
    middle = shapely.Point(*((a + b) / 2))
    far = max(way.thick / 2, *(middle.distance(area) for area in areas), 0.0) + _BOARD[1]
    across = np.array([-along[1], along[0]]) * (far + _SEAM + beyond)
    floor = Polygon([a + across, b + across, b - across, a - across])
    return floor.difference(shapely.union_all([*_stops(way)]))


def _stops(way: WallHole) -> Iterator[Polygon]:
    """What a closed leaf lies against; a body at a slant gets past with a corner beside it."""
    if way.leaf != "hinged" or not way.swing:
        return
    wide, *deep = _STOP
    across = np.array([-way.along[1], way.along[0]])
    side = 1.0 if (np.mean(way.swing, axis=0) - np.array(way.a)) @ across >= 0 else -1.0
    near, far = (across * side * (way.thick / 2 - each) for each in deep)
    for jamb, out in ((np.array(way.a), way.along), (np.array(way.b), -way.along)):
        yield Polygon([jamb + near, jamb + far, jamb + far + out * wide, jamb + near + out * wide])


def stubs(scene: Scene, region: str, but: WallHole | None) -> list[BaseGeometry]:
    """The other doorways of a region, as far as a body may stick out through them."""
    return [
        strip(way, beyond=_STUB)
        for way in _ways(scene).get(region, ())
        if way is not but and way.kind not in ("window", "way out")
    ]


def doorway_axis(way: WallHole | None) -> float:
    """The direction straight through a doorway, as an angle from +x toward +z; 0 for none."""
    return 0.0 if way is None else math.atan2(way.along[0], -way.along[1])


def steps_of(flight: Stairs, foot: BaseGeometry) -> tuple[BaseGeometry, BaseGeometry]:
    """Treads and landings seen from above, and what nobody goes over: rails, and sides of steps.

    Args:
        flight: stairs.
        foot: the outline of the region that they stand in.
    """
    steps = sorted((*flight.treads, *flight.landings), key=lambda box: box.top)
    shapes = np.array([Polygon(box.corners()) for box in steps])
    tops = np.array([box.top for box in steps])
    area = shapely.union_all(shapes).buffer(_SEAM)
    ends = shapely.union_all([shapes[0], shapes[-1]]).buffer(0.02)
    sides = area.boundary.intersection(foot.buffer(-_SEAM)).difference(ends).buffer(_RAIL)
    grown = shapely.buffer(shapes, _SEAM)
    i, j = np.nonzero(np.triu(tops[None, :] - tops[:, None] > _LEAP))
    between = shapely.intersection(grown[i], grown[j])
    return area, shapely.union_all([sides, *between])


def too_low(scene: Scene, link: Link, body: Embodiment) -> str | None:
    """Why a body that climbs hits the head of a doorway which stairs begin right behind.

    Its head is over the tread under its middle while its back is still in the doorway.
    """
    long = body.width if body.shape == "cylinder" or body.depth is None else body.depth
    for flight in scene.stairs:
        if {flight.a, flight.b} != {link.a, link.b} or not flight.treads:
            continue
        foot = shapely.Point(flight.line[0][0], flight.line[0][2])
        for way in _ways(scene).get(flight.a, ()):
            near = shapely.LineString([way.a, way.b]).distance(foot)
            if way.kind in ("window", "way out") or near > long:
                continue
            hole = way.strip()
            # Treads over its head belong to a flight that passes above.
            steps = [box for box in flight.treads if box.top < way.head]
            under = [box.top for box in steps if _reached(hole, box, long / 2)]
            if under and max(under) + body.height > way.head - _KEPT:
                return (
                    f"too low: {way.head - max(under):.2f} m over the treads behind the doorway for"
                    f" a body of {body.height:.2f} m"
                )
    return None


def _reached(hole: Polygon, tread: Box, half: float) -> bool:
    """Whether the middle of a body of some length is on a tread, and its back in a doorway."""
    return bool(hole.distance(Polygon(tread.corners())) < half - 2 * _SEAM)
