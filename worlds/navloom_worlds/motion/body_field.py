"""Field of a body: grid places where it can stand, and shortest paths and distances over them.

Places are cells of 5 cm where no obstacle is nearer than half the body's width
(:mod:`navloom_worlds.motion.inflation`). Paths between them are pulled straight
(:mod:`navloom_worlds.motion.geodesic_field`), so they are no staircases of grid steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import shapely
from scipy.spatial import KDTree

from navloom.disk_cache import BODIES
from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, max_rise
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Point3, Scene, Viewpoint
from navloom_worlds.geometry.arrays import F64, I32, Bools
from navloom_worlds.geometry.mesh import CellGrid
from navloom_worlds.geometry.wall_openings import OUTDOORS
from navloom_worlds.motion.collision_mesh import body_mesh
from navloom_worlds.motion.field_cache import load_places, save_places, scene_cache_key
from navloom_worlds.motion.geodesic_field import (
    FieldPlaces,
    GeodesicField,
    Spot,
    compute_geodesics,
    string_pull,
)
from navloom_worlds.motion.inflation import FreeSpace, inflate_obstacles, query_nearest
from navloom_worlds.motion.local_obstacles import floors_of, no_space_message, obstacles_of

_REACH = 0.25
"""Least vertical distance in metres within which the floor under a position is searched."""
_SEED = 0.5
"""Metres within which a viewpoint belongs to a part."""
_SMOOTHED = 16
"""Smoothing passes over heights: treads of 0.25 m become a slope."""
_BESIDE = 1.6
"""Distance in cells within which a position counts as on a place."""
_EDGE = 0.001
"""Metres within which a position counts as on the border of a cell."""
_UPRIGHT = 3.0
"""Weight of a metre of height against a horizontal one in nearest-place searches."""
_SPARES = (0.036, 0.015)
"""Extra clearance in metres of a path to be driven. With half a cell's diagonal, a straight line
over places is truly free."""
_ENDS = 0.3
"""Metres around the ends of a path where the extra clearance is not needed."""
_OFF = 1.0
"""Cells by which a path may differ in height from the straight slope between its points."""


@dataclass(frozen=True)
class FloorPath:
    """Shortest path over the floor, with its length.

    Attributes:
        points: from the start to the goal, on the floor; straight from one to the next.
        metres: its length, slopes included.
    """

    points: tuple[Point3, ...]
    metres: float


@dataclass(frozen=True, eq=False)
class BodyField:
    """Grid places where the middle of a body may be, with clearance and connectivity.

    Attributes:
        body: the body.
        found: the places.
        part: (n,) int32, connected component of each place: 0 holds most viewpoints, the others
            follow by number of viewpoints and then by size.
    """

    body: Embodiment
    found: FreeSpace
    part: I32

    def __len__(self) -> int:
        return len(self.part)

    @property
    def grid(self) -> CellGrid:
        """Grid of the cells."""
        return self.found.grid

    @property
    def clear(self) -> F64:
        """Clearance of each place, (n,): metres to the nearest obstacle, at most a metre."""
        return self.found.clearance

    @property
    def climb(self) -> float:
        """Highest rise that the body climbs anywhere, in metres."""
        return max(max_rise(self.body), _REACH)

    @cached_property
    def places(self) -> FieldPlaces:
        """Places in cell units, as shortest-path searches use them."""
        grid, found = self.grid, self.found
        rows, cols = np.divmod(found.cell, grid.deep)
        lift = _smoothed(found.height, found.beside) / grid.cell
        x, z = (found.x - grid.x) / grid.cell, (found.z - grid.z) / grid.cell
        return FieldPlaces(rows.astype(np.int32), cols.astype(np.int32), x, z, lift, found.beside)

    def roomy(self, clearance: float) -> FieldPlaces:
        """Return the places with edges only between those of at least this clearance.

        Args:
            clearance: in metres.
        """
        key = round(clearance, 4)
        if key not in self._roomy:
            wide = self.clear >= key
            beside = self.places.beside
            held = (beside >= 0) & wide[:, None] & wide[beside]
            self._roomy[key] = replace(self.places, beside=np.where(held, beside, -1))
        return self._roomy[key]

    @cached_property
    def _roomy(self) -> dict[float, FieldPlaces]:
        return {}

    @cached_property
    def _tree(self) -> KDTree:
        found = self.found
        return KDTree(np.stack([found.x, found.height * _UPRIGHT, found.z], axis=1))

    def position(self, place: int) -> Point3:
        """Return the position of a place in metres."""
        found = self.found
        x, y, z = (float(each[place]) for each in (found.x, found.height, found.z))
        return round(x, 4), round(y, 3), round(z, 4)

    def at(self, position: Point3) -> int:
        """Return the place at (x, y of the floor, z); -1 where the body cannot stand."""
        x, y, z = position
        if not all(map(math.isfinite, position)):
            return -1
        # A path along the border of two cells may be in either.
        cells = {self.grid.at(x + u, z + w) for u in (-_EDGE, _EDGE) for w in (-_EDGE, _EDGE)}
        near: list[tuple[float, int]] = []
        for cell in cells - {-1}:
            first, last = np.searchsorted(self.found.cell, [cell, cell + 1])
            near += [(abs(float(self.found.height[k]) - y), k) for k in range(first, last)]
        off, place = min(near, default=(math.inf, -1))
        return place if off <= self.climb else -1

    def stands(self, position: Point3) -> bool:
        """Check whether the middle of the body can be at a position (x, y of the floor, z)."""
        return self.at(position) >= 0

    def clearance(self, position: Point3) -> float:
        """Return metres from a position to the nearest obstacle, at most 1; 0 off the field."""
        here = self.at(position)
        return float(self.clear[here]) if here >= 0 else 0.0

    def nearest(self, position: Point3) -> Point3 | None:
        """Return the standing position nearest to a position; None if the field is empty."""
        here = self.at(position)
        if here >= 0:
            return position[0], round(float(self.found.height[here]), 3), position[2]
        if not len(self.part) or not all(map(math.isfinite, position)):
            return None
        x, y, z = position
        return self.position(int(self._tree.query((x, y * _UPRIGHT, z))[1]))

    def spot(self, at: Point3) -> Spot:
        """Return a position as (place, x, z) in cells; place is -1 where the body cannot stand."""
        cell = self.grid.cell
        return (self.at(at), (at[0] - self.grid.x) / cell, (at[2] - self.grid.z) / cell)

    def spot_of(self, place: int) -> Spot:
        """Return the middle of a place as (place, x, z) in cells."""
        return place, float(self.places.x[place]), float(self.places.z[place])

    def _on(self, position: Point3) -> Spot | None:
        """Return the place at or just beside a position as (place, x, z) in cells; None if none."""
        here, u, w = self.spot(position)
        if here >= 0:
            return here, u, w
        if not len(self.part) or not all(map(math.isfinite, position)):
            return None
        x, y, z = position
        here = int(self._tree.query((x, y * _UPRIGHT, z))[1])
        _, i, j = self.spot_of(here)
        off = abs(float(self.found.height[here]) - y)
        return (here, i, j) if math.hypot(u - i, w - j) <= _BESIDE and off <= self.climb else None

    def distances(self, goals: Sequence[Point3]) -> F64:
        """Return the geodesic distance of each place to the nearest goal.

        Args:
            goals: positions; those on which the body cannot stand are ignored.

        Returns:
            (n,) float64 metres over the floor, slopes included; infinite if unreachable. The value
            for a position is ``distances(goals)[field.at(position)]``, to half a cell.
        """
        metres: F64 = self._march(goals).cells[: len(self)]
        metres *= self.grid.cell
        return metres

    def way(
        self, start: Point3, goals: Sequence[Point3], *, driven: bool = False
    ) -> FloorPath | None:
        """Return the shortest path to the nearest goal, pulled straight; None if there is none.

        Args:
            start: a position on the floor.
            goals: such positions; those on which the body cannot stand are ignored.
            driven: keep some centimetres of extra clearance where there is room.
        """
        begun, ends = self._on(start), [self._on(goal) for goal in goals]
        held = [each for each in ends if each is not None]
        if begun is None or not held:
            return None
        turns: list[Spot] = []
        for spare in _SPARES if driven else ():
            places = self._spared(spare, [start, *goals])
            turns = turns or _turns(places, begun, held)
        turns = turns or _turns(self.places, begun, held)
        # A step that cuts a corner has no line of sight: it counts as one cell.
        legs = (self.places.line_length(a[0], a[1:], b[0], b[1:]) for a, b in pairwise(turns))
        cells = sum(abs(float(each)) for each in legs)
        return FloorPath(self._laid(turns), cells * self.grid.cell) if turns else None

    def _spared(self, spare: float, ends: Sequence[Point3]) -> FieldPlaces:
        """Return the places with edges only where there is room to spare or near the ends."""
        held = self.clear >= self.body.width / 2 + spare
        for x, y, z in ends:
            near = np.abs(self.found.height - y) <= self.climb
            near &= np.hypot(self.found.x - x, self.found.z - z) <= _ENDS
            held = held | near
        beside = self.places.beside
        joined = (beside >= 0) & held[:, None] & held[beside]
        return replace(self.places, beside=np.where(joined, beside, -1).astype(np.int32))

    def _march(self, goals: Sequence[Point3]) -> GeodesicField:
        held = [on for goal in goals if (on := self._on(goal)) is not None]
        return compute_geodesics(self.places, held)

    def _laid(self, turns: Sequence[Spot]) -> tuple[Point3, ...]:
        """Return the path's turns as positions, with those where stairs begin and end added."""
        points = [self._placed(turns[0])]
        for a, b in pairwise(turns):
            flat = math.hypot(b[1] - a[1], b[2] - a[2])
            if self.places.line_length(a[0], a[1:], b[0], b[1:]) - flat > 1e-3:
                spots = self.places.under(a[0], a[1:], b[1:])
                kept = _bends([(share * flat, float(self.places.lift[k])) for k, share in spots])
                for k, share in (spots[i] for i in kept):
                    along = a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])
                    points.append(self._placed((k, *along)))
            points.append(self._placed(b))
        return tuple(dict.fromkeys(points))

    def _placed(self, spot: Spot) -> Point3:
        place, u, w = spot
        x, z = self.grid.x + u * self.grid.cell, self.grid.z + w * self.grid.cell
        return round(x, 4), round(float(self.found.height[place]), 3), round(z, 4)


def _bends(line: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices where a line of (along, height), in cells, changes slope; no ends."""
    if len(line) < 3:
        return []
    (x0, y0), (x1, y1) = line[0], line[-1]
    slope = (y1 - y0) / max(x1 - x0, 1e-9)
    off = [abs(y - y0 - slope * (x - x0)) for x, y in line]
    far = max(range(len(line)), key=lambda k: off[k])
    if off[far] <= _OFF:
        return []
    later = [far + k for k in _bends(line[far:])]
    return [*_bends(line[: far + 1]), far, *later]


def _turns(places: FieldPlaces, begun: Spot, ends: Sequence[Spot]) -> list[Spot]:
    """Return the turns of the shortest path over some places; none if there is no path."""
    found = compute_geodesics(places, [begun])
    best = min((trace_path(places, found, end) for end in ends), key=lambda each: each[0])
    return string_pull(places, best[1][::-1]) if math.isfinite(best[0]) else []


def trace_path(places: FieldPlaces, found: GeodesicField, end: Spot) -> tuple[float, list[Spot]]:
    """Return the distance to an end and the turns from there back to the search's goal."""
    place, u, w = end
    best, first = math.inf, -1
    for k in {int(found.via[place]), place} - {-1}:
        long = places.line_length(int(found.base[k]), (found.x[k], found.z[k]), place, (u, w))
        if long >= 0 and found.cells[k] + long < best:
            best, first = float(found.cells[k]) + long, k
    turns = [end]
    while first >= 0:
        turns.append((int(found.base[first]), float(found.x[first]), float(found.z[first])))
        first = int(found.via[first])
    return best, turns


def body_field(scene: Scene, body: Embodiment) -> BodyField:
    """Return the field of a body in a scene; made once per scene and body, and cached on disk.

    Raises:
        SceneError: the scene has no geometry, or covers more ground than a field may have.
    """
    return scene_cached(scene, f"field {body_cache_key(body)}", lambda: _kept(scene, body))


def _kept(scene: Scene, body: Embodiment) -> BodyField:
    found, part = BODIES.kept(
        f"{scene_cache_key(scene, f'field {body_cache_key(body)}')}.npz",
        lambda: _made(scene, body),
        lambda file, made: save_places(file, *made),
        load_places,
    )
    return BodyField(body, found, part)


def body_cache_key(body: Embodiment) -> str:
    """Return the body parameters that determine a field, as JSON: all but names and speeds."""
    told = body.model_dump_json(exclude={"name", "description", "speed", "turn_speed"})
    return str(told)


def _made(scene: Scene, body: Embodiment) -> tuple[FreeSpace, I32]:
    seeds = [floor_position(each) for each in scene.viewpoints]
    floors = floors_of(scene, body)
    outdoors = [each.outline for each in scene.regions if OUTDOORS.search(each.label.casefold())]
    lot = shapely.union_all([shapely.Polygon(each) for each in outdoors if each])
    found = inflate_obstacles(
        body_mesh(scene, body), obstacles_of(scene, body), floors, body, seeds, lot
    )
    if not len(found.part):
        raise SceneError(no_space_message(scene, body, "with things and walls about"))
    return found, _ranked(found, seeds)


def floor_position(viewpoint: Viewpoint) -> Point3:
    """Return the floor position below a viewpoint."""
    x, y, z = viewpoint.position
    return x, y - viewpoint.eye_height, z


def _ranked(found: FreeSpace, seeds: Sequence[Point3]) -> I32:
    """Return the parts renumbered by how many seeds they hold, then by size."""
    count = int(found.part.max(initial=-1)) + 1
    size = np.bincount(found.part, minlength=count)
    held = np.zeros(count, dtype=np.int64)
    if seeds and len(found.part):
        tree = KDTree(np.stack([found.x, found.height, found.z], axis=1))
        metres, nearest = query_nearest(tree, np.array(seeds), _SEED)
        held = np.bincount(found.part[nearest[np.isfinite(metres)]], minlength=count)
    rank: I32 = np.empty(count, dtype=np.int32)
    rank[np.lexsort((-size, -held))] = np.arange(count, dtype=np.int32)
    return np.asarray(rank[found.part], dtype=np.int32)


def _smoothed(height: F64, beside: I32) -> F64:
    """Return heights with steps made slopes, so that stairs count with their slope's length."""
    there = np.where(beside >= 0, beside, np.arange(len(beside))[:, None])
    uneven: Bools = np.any(np.abs(height[there] - height[:, None]) > 1e-3, axis=1)
    for _ in range(_SMOOTHED):
        uneven = np.logical_or(uneven, np.any(uneven[there], axis=1))
    here = np.flatnonzero(uneven)
    smooth, around = height.copy(), there[here]
    for _ in range(_SMOOTHED):
        smooth[here] = (smooth[here] + smooth[around].sum(axis=1)) / 5
    return smooth
