"""Solids of a scene as shapely polygons at a body's heights, independent of the mover's code.

Walls are their own footprints without doorways. Items are the union of their parts' triangles cut
to the heights. Windows are their panes. Doors are the hulls of their frames, and of leaves that
this body cannot push. Other bodies are their outlines.

Low obstacles that the body steps over are left out: items no higher than 5 cm or the body's highest
step, and the part of all else below that step above the floor. If treads or a higher floor are
under the footprint, walls and woodwork count from one step above the highest of them. Floors,
ceilings, treads and railings are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import shapely
from shapely import Polygon
from shapely.affinity import affine_transform
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import BodyContact, Embodiment, FloorPose
from navloom.scenes.scene import Scene
from navloom_worlds.furniture import item_parts
from navloom_worlds.geometry.building import building_of
from navloom_worlds.geometry.finishes import Finishes
from navloom_worlds.geometry.item_pose import drawn_pose
from navloom_worlds.geometry.semantic_ids import opening_owner, owner_name
from navloom_worlds.geometry.solids import Part
from navloom_worlds.geometry.wall_openings import WallOpening
from navloom_worlds.geometry.woodwork import woodwork_parts

MM = 0.001
HIGHEST = 0.5
"""Maximum height of a step, in metres."""
REACHES = {"wall": 0.1, "step": 0.3}
"""Allowed distance of a contact from its solid, in metres; 2 cm for all others. A lift's rail is a
wall and hangs in front of it. A riser may stand in a doorway, which belongs to no room."""


@dataclass(frozen=True)
class Solid:
    """A solid with its height range; its polygon between two heights is computed on demand."""

    name: str
    low: float
    high: float
    area: BaseGeometry
    parts: tuple[Part, ...] = ()

    def at(self, low: float, high: float) -> BaseGeometry:
        if not self.parts:
            return self.area
        cut = [piece for part in self.parts for piece in cut_triangles(part, low, high)]
        return shapely.union_all(cut) if cut else Polygon()


def cut_triangles(part: Part, low: float, high: float) -> Iterator[Polygon]:
    """Yield a part's triangles clipped between two heights (Sutherland and Hodgman)."""
    for face in part.faces:
        ring = [tuple(map(float, part.vertices[k])) for k in face]
        for sign, level in ((1, low), (-1, high)):
            kept = []
            for p, q in pairwise([*ring, *ring[:1]]):
                above = [sign * (each[1] - level) for each in (p, q)]
                if above[0] >= 0:
                    kept.append(p)
                if above[0] * above[1] < 0:
                    t = above[0] / (above[0] - above[1])
                    kept.append(tuple(a + t * (b - a) for a, b in zip(p, q, strict=True)))
            ring = kept
        if len(ring) >= 3:
            flat = Polygon([(x, z) for x, _, z in ring])
            if flat.area > 1e-9:
                yield flat if flat.is_valid else flat.convex_hull


class SceneSolids:
    """Solids of a scene that a body can collide with."""

    def __init__(self, scene: Scene, body: Embodiment) -> None:
        self.scene, self.body = scene, body
        self.solids = [*self._walls(), *self._panes(), *self._doors(), *self._things()]
        self._tree = shapely.STRtree([each.area for each in self.solids])
        self._cut: dict[tuple[int, float, float], BaseGeometry] = {}
        self._steps = [
            (Polygon(box.corners()), box.top)
            for flight in scene.stairs
            for box in (*flight.treads, *flight.landings)
        ]
        self._rooms = [(Polygon(r.outline), r.center[1]) for r in scene.regions if r.outline]

    def _walls(self) -> Iterator[Solid]:
        ways = building_of(self.scene).ways
        for wall in self.scene.walls:
            (ax, az), (bx, bz) = wall.a, wall.b
            low, high = wall.bottom, wall.bottom + wall.height
            line = shapely.LineString([(ax, az), (bx, bz)])
            area = line.buffer(wall.thickness / 2, cap_style="flat")
            for way in ways:
                if way.kind != "window" and way.low < high - 0.01 and way.head > low + 0.01:
                    area = area.difference(way.strip(0.001))
            if area.area > 1e-6:
                yield Solid("wall", low, high, area)

    def _panes(self) -> Iterator[Solid]:
        for k, opening in enumerate(self.scene.openings):
            if opening.kind == "window":
                pane = shapely.LineString(opening.jambs).buffer(0.001, cap_style="flat")
                name = owner_name(self.scene, opening_owner(k))
                yield Solid(name, opening.bottom, opening.bottom + opening.height, pane)

    def _doors(self) -> Iterator[Solid]:
        building = building_of(self.scene)
        for way in building.ways:
            met = replace(building, ways=(way,))
            for owner, part in woodwork_parts(met, Finishes("any"), leaves=not self._pushes(way)):
                y = part.vertices[:, 1]
                hull = shapely.MultiPoint(part.vertices[:, [0, 2]].astype(float)).convex_hull
                name = owner_name(self.scene, owner)
                yield Solid(name, float(y.min()), float(y.max()), hull)

    def _pushes(self, way: WallOpening) -> bool:
        lift = any("elevator" in room.casefold() for room in way.rooms)
        can = self.body.elevator if lift else self.body.doors
        return can and len(way.rooms) > 1 and way.state != "locked"

    def _things(self) -> Iterator[Solid]:
        over = max(0.05, self.body.max_step)
        for item in self.scene.items:
            if item.size is None:
                continue
            x, z, yaw = drawn_pose(self.scene, item)
            foot = item.position[1] - item.size[1] / 2
            floor = self.scene.region_by_id[str(item.region)].center[1]
            if foot + item.size[1] <= floor + over + 1e-6:
                continue
            parts = tuple(part.turned(yaw).moved(x, foot, z) for part in item_parts(item))
            points = np.concatenate([part.vertices for part in parts]).astype(float)
            hull = shapely.MultiPoint(points[:, [0, 2]]).convex_hull
            yield Solid(item.id, points[:, 1].min(), points[:, 1].max(), hull, parts)

    def footprint(self, stand: FloorPose, less: float = 0.0) -> Polygon:
        """Return the body's footprint, shrunk by so many metres."""
        return footprint(self.body, stand, less)

    def support(self, stand: FloorPose) -> float:
        """Return the height of the highest tread or floor that the body stands on or over."""
        foot = self.footprint(stand)
        tops = [top for area, top in (*self._steps, *self._rooms) if area.intersects(foot)]
        high = stand.position[1]
        climb = max(self.body.max_step, 0.25) if self.body.stairs else self.body.max_step
        for top in sorted(tops):
            if high < top <= high + climb + MM:
                high = top
        return high

    def met(self, stand: FloorPose, *, deeper: float = MM) -> dict[str, float]:
        """Return the overlap area in square metres of each solid that a body penetrates.

        An overlap counts if it is more than ``deeper``.
        """
        foot = self.footprint(stand, deeper)
        found: dict[str, float] = {}
        y, lifted = stand.position[1], self.support(stand)
        for k in self._tree.query(foot, predicate="intersects"):
            solid = self.solids[k]
            base = y if solid.parts else lifted
            low = base + self.body.max_step + 2 * MM
            if not solid.parts and lifted > y + MM and self.body.stairs:
                low = lifted + max(self.body.max_step, 0.25) + 2 * MM
            high = y + self.body.height - 2 * MM
            if solid.high <= low or solid.low >= high:
                continue
            area = self._at(int(k), low, high).intersection(foot).area
            if area > 1e-8:
                found[solid.name] = found.get(solid.name, 0.0) + area
        return found

    def near(self, bump: BodyContact, reach: float) -> bool | None:
        """Check that a contact is at its solid; return None if no solid has its name."""
        at = shapely.Point(bump.point[0], bump.point[2])
        if bump.what == "step":
            higher = [a for a, top in self._rooms if MM < top - bump.point[1] <= HIGHEST]
            return any(area.distance(at) <= reach for area in higher)
        those = [k for k, each in enumerate(self.solids) if each.name == bump.what]
        return any(self.solids[k].area.distance(at) <= reach for k in those) if those else None

    def _at(self, k: int, low: float, high: float) -> BaseGeometry:
        key = k, round(low, 3), round(high, 3)
        if key not in self._cut:
            self._cut[key] = self.solids[k].at(low, high)
        return self._cut[key]


def footprint(body: Embodiment, stand: FloorPose, less: float = 0.0) -> Polygon:
    x, _, z = stand.position
    if body.shape == "cylinder":
        return shapely.Point(x, z).buffer(body.width / 2 - less, quad_segs=64)
    long = (body.depth or body.width) / 2 - less
    wide = body.width / 2 - less
    # Body frame: x to the right, y to the back, as in the ground plane at heading 0.
    square = shapely.box(-wide, -long, wide, long)
    cos, sin = math.cos(stand.heading), math.sin(stand.heading)
    return affine_transform(square, [cos, -sin, sin, cos, x, z])
