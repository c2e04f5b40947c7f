"""Free space around a link for one body: obstacle lines, floor areas, and cores of its regions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from scipy import ndimage
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from navloom.errors import SceneError
from navloom.scenes.bodies import FloorPose, Footprint
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Link, Region, Stairs
from navloom_worlds.geometry.arrays import F64, I64, Bools
from navloom_worlds.geometry.semantic_ids import STAIRS
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.local_obstacles import floors_of
from navloom_worlds.motion.planar_obstacles import CELL, CELL_ROUND, GridFrame, PlanarObstacles
from navloom_worlds.motion.se2_lines import LineSpacing, SE2Lines

NEAR = 2.3
"""Metres from the middle of a link within which paths through it are searched."""
CLOSE = 1.35
"""The same for the finest line spacing."""
_GAP = 1.0
"""Metres from the link within which floor of no region belongs to its doorway."""
_FOOT = 1.0
"""Metres up a flight within which a body counts as being in its region."""
HEADINGS = 36
"""Headings of a box over half a turn."""
_ROOM, _PARTED = LineSpacing(0.02, HEADINGS), LineSpacing(0.01, HEADINGS)
"""Line spacing in a region, and in one that seems to be divided."""
_LEAST = 0.05
"""Least area of a core in square metres."""
_MOST = 1_000
"""Largest number of places along a side of a region's grid."""
MAIN = 0.25
"""Share of the largest part's size from which another part of a region counts, too."""
_MOST_OF = 0.97
"""Share of the turning places that must be connected for them alone to be the core."""


@dataclass(frozen=True, eq=False)
class RegionCore:
    """Core of a region: poses where a body moves freely, with its whole footprint inside.

    Attributes:
        places: (n, 2) positions of the body's middle.
        headings: (n,) heading index over half a turn; -1 for any.
        count: number of headings over half a turn.
    """

    places: F64
    headings: I64
    count: int = 1

    def near(self, x: float, z: float, reach: float) -> RegionCore:
        """Return the part of the core within a distance of a position along x and along z."""
        close = (np.abs(self.places[:, 0] - x) <= reach) & (np.abs(self.places[:, 1] - z) <= reach)
        return RegionCore(self.places[close], self.headings[close], self.count)


def stair_foot(flight: Stairs) -> RegionCore:
    """Return the core at the foot of stairs: places of their line at most a metre up."""
    low = [(x, z) for x, y, z in flight.line if abs(y - flight.line[0][1]) < _FOOT]
    way = shapely.LineString(low if len(low) > 1 else low * 2)
    far = np.arange(0.0, way.length + CELL, CELL)
    return _anywhere(np.asarray(shapely.get_coordinates(shapely.line_interpolate_point(way, far))))


def stair_head(flight: Stairs) -> RegionCore:
    """Return the core at the top of stairs."""
    x, _, z = flight.line[-1]
    return _anywhere(np.array([[x, z]]))


def _anywhere(places: F64) -> RegionCore:
    """Return a core of places with any heading."""
    return RegionCore(places, np.full(len(places), -1))


def planning_shape(mover: Mover) -> Footprint:
    """Return the shape for path search: a box for discs that turn on an arc."""
    shape = mover.shape
    return Footprint(False, shape.ahead, shape.aside) if mover.body.turning_radius else shape


def region_polygon(region: Region) -> Polygon:
    """Return the polygon of a region seen from above, (x, z)."""
    return Polygon(region.outline)


def _corners(places: F64) -> tuple[F64, F64]:
    """Return the least and the greatest corner of some positions."""
    flat = places.reshape(-1, 2)
    return flat.min(axis=0), flat.max(axis=0)


def _edges(area: Polygon) -> F64:
    at = shapely.get_coordinates(area.exterior)
    return np.concatenate([at[:-1], at[1:]], axis=1)


class LinkFreeSpace:
    """Free space around one link for one body.

    Args:
        mover: motion of the body.
        link: a link with a point; its regions have outlines.
        fine: factor by which the grid is finer; from 2 on, cores hold all places where the body
            moves freely, not only those where it can turn round.
        flight: core at the start or end of stairs in the second region, in place of its core.
        climbs: whether the body comes to the stairs from below, over treads.
    """

    def __init__(
        self,
        mover: Mover,
        link: Link,
        *,
        fine: int = 1,
        flight: RegionCore | None = None,
        climbs: bool = True,
    ) -> None:
        scene = mover.scene
        self.mover, self.link, self.fine = mover, link, fine
        self.shape = planning_shape(mover)
        self.ends = tuple(scene.region_by_id[each] for each in (link.a, link.b))
        self.areas = tuple(region_polygon(each) for each in self.ends)
        x, _, z = link.point or self.ends[0].center
        self.middle = (x, z)
        self.axis = self._axis()
        self.frame = self._framed()
        if flight is None:
            self.cores = tuple(self._core(each) for each in self.ends)
        else:
            self.cores = (self._core(self.ends[0]), flight)
            if climbs:
                # Treads are climbed; the drive finds those that are too high.
                mover = mover_of(scene, mover.body, frozenset({STAIRS}))
        low, high = (each.tolist() for each in _corners(self.frame.places))
        far = self.shape.outer + 0.05
        box = (low[0] - far, low[1] - far, high[0] + far, high[1] + far)
        storey = self.ends[0].center[1]
        heights = {each.center[1] for each in self.ends}
        # Obstacles below a ramp or stairs are not in the way up there.
        level = 0.0 if link.kind in ("stairs", "ramp") else _FOOT
        heights = {y for y in heights if abs(y - storey) <= level}
        lines = [mover.lines(y, box) for y in sorted(heights)]
        if flight is not None and climbs:
            lines.append(self._treads_ends(storey))
        self.lines = np.concatenate(lines)
        self.plane = PlanarObstacles(self.frame, self.lines)

    def _treads_ends(self, floor: float) -> F64:
        """Return (n, 4) edges of treads that the body climbs onto, open at their sides."""
        edges = floors_of(self.mover.scene, self.mover.body).edges
        return edges[(edges[:, 4] > floor) & (edges[:, 4] < floor + _FOOT), :4]

    def _axis(self) -> tuple[float, float]:
        """Return the direction of the grid's first axis: through the link, or across it."""
        spot = Point(*self.middle)
        a, b = (nearest_points(area, spot)[0] for area in self.areas)
        dx, dz = b.x - a.x, b.y - a.y
        if math.hypot(dx, dz) < 0.01:
            at = shapely.get_coordinates(self.areas[0].exterior)
            sides = shapely.linestrings(np.stack([at[:-1], at[1:]], axis=1))
            k = int(np.argmin(shapely.distance(sides, spot)))
            dx, dz = at[k + 1] - at[k]
        angle = math.atan2(dz, dx) % (math.pi / 2)
        angle = 0.0 if angle > math.pi / 2 - 1e-3 or angle < 1e-9 else angle
        return math.cos(angle), math.sin(angle)

    def _gap_middle(self, box: tuple[float, float, float, float]) -> tuple[float, float]:
        """Return the middle of the gap that holds the link's point, across both grid axes."""
        y = self.ends[0].center[1]
        lines = self.mover.lines(y, box)
        frame = GridFrame(self.middle, self.axis, 1, 1)
        own = frame.inside(lines)
        off = []
        for across in (0, 1):
            along = 1 - across
            beside = own[:, [along, along + 2]]
            near = own[(beside.min(axis=1) <= 0.15) & (beside.max(axis=1) >= -0.15)]
            first = near[:, [across, across + 2]].min(axis=1)
            last = near[:, [across, across + 2]].max(axis=1)
            before, after = last[last <= 0], first[first >= 0]
            inside = ((first < 0) & (last > 0)).any()
            if inside or not len(before) or not len(after):
                off.append(0.0)
                continue
            left, right = before.max(), after.min()
            off.append((left + right) / 2 if right - left < 2.5 else 0.0)
        first_axis, second = np.array(frame.along), np.array(frame.aside)
        x, z = np.array(self.middle) + off[0] * first_axis + off[1] * second
        return float(x), float(z)

    def _framed(self) -> GridFrame:
        """Return the grid around the link, centred on its gap."""
        x, z = self.middle
        at = self.gap = self._gap_middle((x - 1.5, z - 1.5, x + 1.5, z + 1.5))
        frame = GridFrame(at, self.axis, 1, 1)
        cell = (CELL_ROUND if self.shape.round else CELL) / self.fine
        reach = math.ceil(NEAR / cell)
        low, count = -reach, 2 * reach + 1
        along, aside = np.array(frame.along), np.array(frame.aside)
        first = np.array(at) + cell * low * (along + aside)
        return GridFrame((float(first[0]), float(first[1])), self.axis, count, count, cell)

    def _core(self, region: Region) -> RegionCore:
        scene, body = self.mover.scene, self.mover.body
        fully = self.fine > 1
        key = f"driven:core:{region.id}:{body.model_dump_json()}:{self.axis}:{fully}"
        return scene_cached(
            scene, key, lambda: find_region_core(self.mover, region, self.axis, fully=fully)
        )

    def allowed(self) -> Bools:
        """Return (wide, deep) whether the middle of the body may be at each place."""
        at = self.frame.places
        out: Bools = shapely.contains_xy(self.floor, at[..., 0], at[..., 1])
        return out

    @cached_property
    def floor(self) -> BaseGeometry:
        """Area where the middle of the body may be: both regions and the doorway between them."""
        near: BaseGeometry = Point(*self.middle).buffer(_GAP)
        storeys = {each.floor for each in self.ends}
        others = [
            region_polygon(region)
            for region in self.mover.scene.regions
            if region.floor in storeys and region not in self.ends and region.outline
        ]
        near = near.difference(shapely.union_all(others))
        return shapely.union_all([*self.areas, near])

    def inside(self, end: int) -> Bools:
        """Return (wide, deep) whether each place is in the core of the region numbered ``end``."""
        near = self.cores[end].near(*self.gap, 1.5 * NEAR)
        i, j = np.rint(self.frame.own(near.places) / self.frame.cell).astype(np.int64).T
        held = (i >= 0) & (j >= 0) & (i < self.frame.wide) & (j < self.frame.deep)
        out = np.zeros((self.frame.wide, self.frame.deep), dtype=np.bool_)
        out[i[held], j[held]] = True
        return out

    def height_at(self, x: float, z: float) -> float:
        """Return the floor height at a position: the floor of the nearer of the two regions."""
        spot = Point(x, z)
        k = int(self.areas[1].distance(spot) < self.areas[0].distance(spot))
        return float(self.ends[k].center[1])

    def first_blocker(self) -> tuple[str, FloorPose | None]:
        """Return the first obstacle on straight drives from the core to the link, and where."""
        for core, end in zip(self.cores, self.ends, strict=True):
            if not len(core.places):
                return f"no room in {end.id}", None
        core, end = self.cores[0], self.ends[0]
        to = np.array(self.middle) - core.places
        turned = np.arctan2(to[:, 1], to[:, 0]) - math.atan2(self.axis[1], self.axis[0])
        facing = np.rint(turned / math.pi * core.count).astype(np.int64) % core.count
        places = core.places[(core.headings < 0) | (core.headings == facing)]
        far = np.hypot(*(places - np.array(self.middle)).T)
        for k in np.argsort(far, kind="stable")[:200:20]:
            x, z = places[k].tolist()
            dx, dz = self.middle[0] - x, self.middle[1] - z
            stand = FloorPose((x, end.center[1], z), math.atan2(dx, -dz))
            if not self.mover.fits(stand):
                continue
            try:
                moved = self.mover.forward(stand, math.hypot(dx, dz) + 1.0, slide=False)
            except SceneError:
                continue
            if moved.bumps:
                return moved.bumps[0].what, moved.stand
        return "", None


def find_region_core(
    mover: Mover, region: Region, axis: tuple[float, float], *, fully: bool = False
) -> RegionCore:
    """Return the core of a region: where a body can turn round, if that is connected.

    Furniture may divide a region. Its largest part counts, and any with a quarter as many places:
    reaching half a room is reaching the room.

    Args:
        mover: motion of the body.
        region: a region with an outline.
        axis: first axis of the grid.
        fully: find all places where it moves freely, not only those where it can turn round.
    """
    area, shape = region_polygon(region), planning_shape(mover)
    origin = GridFrame((0.0, 0.0), axis, 1, 1)
    own = origin.own(shapely.get_coordinates(area))
    cell = CELL_ROUND if shape.round else CELL
    low = np.floor(own.min(axis=0) / cell) * cell
    wide, deep = (np.ceil((own.max(axis=0) - low) / cell).astype(int) + 1).tolist()
    first = low[0] * np.array(axis) + low[1] * np.array(origin.aside)
    frame = GridFrame(
        (float(first[0]), float(first[1])), axis, min(wide, _MOST), min(deep, _MOST), cell
    )
    x0, z0, x1, z1 = area.bounds
    lines = mover.lines(region.center[1], (x0 - 0.1, z0 - 0.1, x1 + 0.1, z1 + 0.1))
    plane = PlanarObstacles(frame, np.concatenate([lines, _edges(area)]))
    places = frame.places
    within = shapely.contains_xy(area, places[..., 0], places[..., 1])
    slim = within & plane.disc(shape.aside - cell / 2)
    plane = plane.seen_from(slim)
    free = slim & plane.disc(shape.outer)
    label, count = ndimage.label(free, structure=np.ones((3, 3)))
    arcs = bool(mover.body.turning_radius)
    if count and (arcs or shape.round or not fully):
        sizes = np.bincount(label.ravel())[1:]
        if arcs or shape.round or sizes.max() >= max(_LEAST / cell**2, _MOST_OF * sizes.sum()):
            main = np.concatenate([[False], sizes >= MAIN * sizes.max()])
            held = places[main[label]]
            return RegionCore(held, np.full(len(held), -1))
    # A body that turns on an arc needs the room to go back and forth.
    if arcs or shape.round or not slim.any():
        return RegionCore(np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    key = f"driven:rails:{region.id}:{mover.body.model_dump_json()}:{axis}"
    return scene_cached(mover.scene, key, lambda: _tight_core(plane.lines, shape, area, axis))


def _tight_core(
    lines: F64, shape: Footprint, area: Polygon, axis: tuple[float, float]
) -> RegionCore:
    """Return the core with separate places for every heading."""
    rails = SE2Lines(lines, shape, area, axis, _ROOM)
    if len(rails.row) and rails.sizes().max() < _MOST_OF * rails.sizes().sum():
        rails = SE2Lines(lines, shape, area, axis, _PARTED)
    if not len(rails.row):
        return RegionCore(np.zeros((0, 2)), np.zeros(0, dtype=np.int64))
    sizes = rails.sizes()
    main = np.flatnonzero((sizes >= MAIN * sizes.max())[rails.part])
    places, which, _ = rails.sample_places(main, CELL)
    return RegionCore(places, rails.heading[which], HEADINGS)


def elevator_poses(mover: Mover, link: Link) -> tuple[FloorPose, FloorPose] | None:
    """Return poses in the cabin below and above, at one (x, z); None if the body fits nowhere."""
    ends = [mover.scene.region_by_id[each] for each in (link.a, link.b)]
    core = find_region_core(mover, ends[0], (1.0, 0.0))
    middle = np.array([ends[0].center[0], ends[0].center[2]])
    order = np.argsort(np.hypot(*(core.places - middle).T), kind="stable")
    for k in order[:40]:
        x, z = core.places[k].tolist()
        heading = math.pi / 2 + math.pi * max(int(core.headings[k]), 0) / core.count
        stands = [FloorPose((x, end.center[1], z), heading) for end in ends]
        if all(mover.fits(stand) for stand in stands):
            return stands[0], stands[1]
    return None
