"""Cache of obstacle lines and floor heights near a body, in 0.5 m tiles, with collision queries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from navloom.errors import SceneError
from navloom.scenes.bodies import (
    NOBODY,
    Embodiment,
    FloorPose,
    Footprint,
    Others,
    footprint_of,
    max_rise,
)
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene import Point3, Scene
from navloom_worlds.geometry.arrays import F64, I32, I64
from navloom_worlds.geometry.semantic_ids import FLOOR, STAIRS, WALL, owner_name
from navloom_worlds.motion import sweep
from navloom_worlds.motion.collision_mesh import body_mesh, structure_mesh
from navloom_worlds.motion.obstacles import (
    EPS,
    BodyPose,
    FloorMap,
    ObstacleIndex,
    ObstacleLines,
    body_outline,
    build_floor_map,
    check_finite,
    covering_body,
    find_floor_levels,
    surface_columns,
)

EDGE = -10_000_000
"""Owner of the edges of floors."""
STEP = -11_000_000
"""Owner of built faces no higher than a riser."""
_RISER, _BOARD, _SAME = 0.5, 0.05, 0.05
"""Metres: greatest height of a riser, greatest distance of a low face from its wall, and greatest
height difference within one floor, sills included."""
_ASIDE = 0.4
"""Radians to either side in which floor is searched behind a riser, as a corner may be hit."""
_BEHIND = (0.1, 0.25, 0.4)
"""Metres behind a riser where floor is expected; window sills are less deep."""
PIECE = 0.3
"""Longest motion in metres among the lines of one tile."""
_OTHERS = -20_000_000
_TILE = 0.5
_MOST_TILES = 20_000
_REACH = 0.3
"""Height difference in metres within which the floor of a stand is searched."""
_FAR = 10.0
_LEAST = 0.05
"""Metres below its top in which a body meets walls even on steps as high as itself."""


@dataclass(frozen=True, slots=True)
class ObstacleTile:
    """Obstacle lines and floor heights around one tile, for a body at some height.

    Attributes:
        level: whether there is no other floor that the body could step to.
        lines: obstacle lines.
        first: cell of the first of the heights.
        heights: floor height in each cell around; None where there is none to step to.
        steps: (4, n) x, z, height and whether a tread, of steps that lift it and of stairs.
        top: greatest height to which it may be lifted.
        at: transform from (x, z) to cells: cells per metre, and x and z of the first cell's middle.
    """

    level: bool
    lines: ObstacleLines
    first: tuple[int, int]
    heights: list[list[float | None]]
    steps: F64
    top: float
    at: tuple[float, float, float]

    def under(self, x: float, z: float) -> float | None:
        """Return the floor height at a position; None if the body can step to no floor there."""
        i, j = self._cell(x, z)
        if not (0 <= i < len(self.heights) and 0 <= j < len(self.heights[0])):
            return None
        return self.heights[i][j]

    def is_level(self, a: BodyPose, b: BodyPose) -> bool:
        """Check whether all floor between two poses and beside their line is at a's height."""
        (i, j), (k, m) = self._cell(a.x, a.z), self._cell(b.x, b.z)
        if i > k:
            i, k = k, i
        if j > m:
            j, m = m, j
        if i < 0 or j < 0 or k >= len(self.heights) or m >= len(self.heights[0]):
            return False
        rows = self.heights[i : k + 1]
        return all(height == a.y for row in rows for height in row[j : m + 1])

    def _cell(self, x: float, z: float) -> tuple[int, int]:
        many, x0, z0 = self.at
        return round((x - x0) * many) - self.first[0], round((z - z0) * many) - self.first[1]


def obstacles_of(scene: Scene, body: Embodiment) -> ObstacleIndex:
    """Return the obstacles of a body's collision mesh; made once per scene and kind of body."""
    mesh = body_mesh(scene, body)
    return scene_cached(scene, f"obstacles {id(mesh)}", lambda: ObstacleIndex(mesh))


def floors_of(scene: Scene, body: Embodiment) -> FloorMap:
    """Return the floors of a scene for a body; made once per scene and kind of body.

    Raises:
        SceneError: the scene has no geometry, or no floor, or the body is broader than all floors.
    """
    built = structure_mesh(scene, body)
    columns = scene_cached(scene, f"columns {id(built)}", lambda: surface_columns(built))
    key = f"ground {id(columns)} {body.stairs}"
    ground = scene_cached(scene, key, lambda: find_floor_levels(columns, stairs=body.stairs))
    floors = scene_cached(
        scene,
        f"underfoot {id(ground)} {body.stairs} {body.max_step}",
        lambda: build_floor_map(ground, step=body.max_step, stair=max_rise(body)),
    )
    if not floors.layers.size:
        raise SceneError(f"{scene.uri} has no floor: expected level ground to stand on.")
    wide, deep = floors.extent
    if 2 * min(footprint_of(body).ahead, footprint_of(body).aside) > min(wide, deep):
        raise SceneError(
            no_space_message(scene, body, f"whose floors are {wide:.1f} by {deep:.1f} m")
        )
    return floors


def no_space_message(scene: Scene, body: Embodiment, why: str) -> str:
    """Return the error message for a body that fits nowhere in a scene."""
    return (
        f"{body.name} ({body.width:.2f} m wide, {body.height:.2f} m high) can stand and turn"
        f" nowhere in {scene.uri}, {why}: expected a smaller body, or a scene in metres with more"
        " room."
    )


class CollisionWorld:
    """Collision queries of one body in a scene.

    Args:
        scene: a scene with geometry.
        body: the body.
        gone: owners that are ignored as obstacles.

    Raises:
        SceneError: the scene has no geometry, or no floor, or the body is broader than all floors.
    """

    def __init__(self, scene: Scene, body: Embodiment, gone: frozenset[int] = frozenset()) -> None:
        self.scene, self.body = scene, body
        self._gone = np.array(sorted(gone), dtype=np.int32)
        self.shape: Footprint = footprint_of(body)
        mesh = body_mesh(scene, body)
        self.stair = max_rise(body)
        self._mesh = mesh
        self._obstacles = obstacles_of(scene, body)
        self.floors = floors_of(scene, body)
        self._tiles: dict[tuple[int, int, float, float, bool, float, float], ObstacleTile] = {}
        self.ended: tuple[FloorPose, bool] | None = None
        self._lifted: tuple[BodyPose, tuple[float, bool]] | None = None

    def fits(self, stand: FloorPose, others: Others = NOBODY, room: float = -sweep.OVERLAP) -> bool:
        """Check whether the body has floor under it and a margin free around it."""
        pose = self.floor_pose(stand)
        if (
            pose is None
            or self._inside(pose)
            or (others and covering_body(pose, self.body.height, others))
        ):
            return False
        return self._overlapped(pose, others, room + sweep.OVERLAP) is None

    def clearance(self, position: Point3) -> float:
        """Return metres to the nearest obstacle at the body's height, at most 10."""
        pose = self.floor_pose(FloorPose(position, 0.0))
        if pose is None:
            return 0.0
        spot = Footprint(True, 0.0, 0.0)
        reach = 1.0
        while reach <= _FAR:
            x0, z0, x1, z1 = pose.x - reach, pose.z - reach, pose.x + reach, pose.z + reach
            lines = self.lines(pose.y, (x0, z0, x1, z1))
            if len(lines.owners):
                near = float(sweep.clearances(spot, lines.ends, pose.x, pose.z, 0.0, -1.0).min())
                if near <= reach:
                    return near
            reach *= 2
        return _FAR

    def settled(
        self, stand: FloorPose, others: Others = NOBODY, reach: float = 1.0
    ) -> FloorPose | None:
        """Return the nearest pose, heading kept, where the body fits; None if out of ``reach``."""
        x, y, z = stand.position
        for dx, dz in _offsets(reach):
            there = FloorPose((x + dx, y, z + dz), stand.heading)
            if self.fits(there, others, sweep.SKIN):
                pose = self.floor_pose(there)
                return None if pose is None else pose.stand
        return None

    def floor_pose(self, stand: FloorPose) -> BodyPose | None:
        """Return the pose on the floor nearest to a given pose; None if there is no floor."""
        x, y, z = stand.position
        floor = self.floors.floor(x, z, y, _REACH)
        return None if floor is None else BodyPose(x, z, stand.heading, floor)

    def started(self, stand: FloorPose, others: Others) -> BodyPose:
        """Return the pose at which a motion begins.

        Raises:
            SceneError: the body cannot be there; the message names the nearest free position.
        """
        check_finite(x=stand.position[0], y=stand.position[1], z=stand.position[2])
        check_finite(heading=stand.heading)
        pose = self.floor_pose(stand)
        if pose is not None:
            # Where its last motion ended on even floor, the sweep has already cleared it.
            if not others and self.ended == (stand, True):
                return pose
            what = covering_body(pose, self.body.height, others) or self._overlapped(pose, others)
            if what is None:
                return pose
            what = f"it stands in {what}"
        else:
            what = "there is no floor"
        x, y, z = stand.position
        free = self.settled(stand, others)
        offer = (
            f"the nearest free place is ({', '.join(f'{each:.2f}' for each in free.position)})"
            if free
            else "there is no free place within 1 m"
        )
        raise SceneError(
            f"{self.body.name} cannot be at ({x:.2f}, {y:.2f}, {z:.2f}): {what}; {offer}."
        )

    def name(self, owner: int, others: Others) -> str:
        """Return the name of an obstacle's owner."""
        if owner == EDGE:
            return "edge"
        if owner == STEP:
            return "step"
        if owner <= _OTHERS:
            return list(others)[_OTHERS - owner]
        return owner_name(self.scene, owner)

    def _overlapped(self, pose: BodyPose, others: Others, room: float = 0.0) -> str | None:
        """Return the name of an obstacle that overlaps the body grown by ``room``."""
        shape = self.shape
        if room:
            shape = Footprint(shape.round, shape.ahead + room, shape.aside + room)
        lines = self.met(pose, others)
        _, k, how = sweep.limit_motion(shape, lines, pose.at, (0.0, 0.0), None)
        return self.name(int(lines.owners[k]), others) if how == sweep.INSIDE else None

    def _inside(self, pose: BodyPose) -> bool:
        """Check whether the body's middle is inside an item whose sides it does not reach."""
        start = pose.y + max(self.body.max_step, 0.05) + EPS
        face, height = self._obstacles.over(pose.x, start, pose.z)
        if face < 0 or self._mesh.owners[face] in self._gone:
            return False
        if height < pose.y + self.body.height:
            return True
        a, b, c = self._mesh.vertices[self._mesh.faces[face]].astype(np.float64)
        leaves, owner = np.cross(b - a, c - a)[1] > 0, self._mesh.owners[face]
        if not leaves or owner <= 0:
            return False
        # The inner side of a lampshade is hit from below too, but the lamp hangs.
        thing = self._mesh.faces[self._mesh.owners == owner]
        return bool(self._mesh.vertices[thing, 1].min() < start)

    def aside(self, angle: float) -> float:
        """Return the offset to the right of the point about which the body turns by an angle."""
        return math.copysign(self.body.turning_radius or 0.0, angle)

    def lift(self, pose: BodyPose) -> tuple[float, bool]:
        """Return the height to which steps under the body lift it, and whether on stairs."""
        # Where one leg ends the next begins.
        if self._lifted is not None and self._lifted[0] == pose:
            return self._lifted[1]
        steps = self.tile(pose, pose.y, False).steps
        high = (pose.y, False)
        if steps.size:
            high = self.floors.lift_height(self.shape, steps, pose)
        self._lifted = pose, high
        return high

    def met(self, pose: BodyPose, others: Others) -> ObstacleLines:
        """Return the obstacle lines around a pose, other bodies included."""
        near = self.tile(pose, pose.y, False)
        if not near.level:
            high, on_stairs = self.lift(pose)
            near = self.tile(pose, high, on_stairs)
        return self.having(near.lines, pose, others)

    def having(self, lines: ObstacleLines, pose: BodyPose, others: Others) -> ObstacleLines:
        """Return the lines with the outlines of other bodies added."""
        if not others:
            return lines
        more = [lines]
        for k, (body, stand) in enumerate(others.values()):
            low, high = stand.position[1], stand.position[1] + body.height
            if low < pose.y + self.body.height and high > pose.y:
                ends = body_outline(body, stand)
                more.append(ObstacleLines(ends, np.full(len(ends), _OTHERS - k, dtype=np.int32)))
        ends = np.concatenate([each.ends for each in more])
        return ObstacleLines(ends, np.concatenate([each.owners for each in more]))

    def tile(
        self,
        pose: BodyPose,
        high: float,
        on_stairs: bool,
        floor: float = -math.inf,
        top: float = -math.inf,
    ) -> ObstacleTile:
        """Return the tile around a pose for a body lifted to a height; cached.

        The body's top is measured from ``floor``, if that is higher than the floor under its
        middle. Edges of floors count up to ``top``, if that is higher than its lift.
        """
        floor, top = max(floor, pose.y), max(top, high)
        i, j = math.floor(pose.x / _TILE), math.floor(pose.z / _TILE)
        # A tile is a pure function of its key.
        key = i, j, pose.y, high, on_stairs, floor, top
        near = self._tiles.get(key)
        if near is None:
            if len(self._tiles) >= _MOST_TILES:
                self._tiles.clear()
            pad = self.shape.outer + PIECE
            box = (i * _TILE, j * _TILE, (i + 1) * _TILE, (j + 1) * _TILE)
            around = (box[0] - pad, box[1] - pad, box[2] + pad, box[3] + pad)
            first, heights, steps = self.floors.around(*around, pose.y)
            grid = self.floors.grid
            level = steps is None
            steps = np.zeros((4, 0)) if steps is None else steps
            near = ObstacleTile(
                level,
                self._band(pose, high, on_stairs, around, (floor - pose.y, top)),
                first,
                heights,
                steps,
                float(steps[2].max(initial=pose.y)),
                (1 / grid.cell, grid.x, grid.z),
            )
            self._tiles[key] = near
        return near

    def _risers(self, faces: I64, owners: I32, y: float) -> I32:
        """Return the owners of faces, with low built faces marked as `STEP` instead of wall."""
        built = (owners == WALL) | (owners == FLOOR)
        return np.where(built & (self._obstacles.top(faces) <= y + _RISER), STEP, owners)

    def is_riser(self, lines: ObstacleLines, point: Point3, away: tuple[float, float]) -> bool:
        """Check whether a low obstacle is a riser: no wall above it, and floor behind it.

        A skirting board is low too, and so is the wall under a window.

        Args:
            lines: obstacle lines around.
            point: point of the low obstacle; y is that of the floor before it.
            away: direction (x, z) from it to the body.
        """
        x, y, z = point
        walls = lines.ends[lines.owners == WALL]
        if (
            len(walls)
            and sweep.clearances(Footprint(True, _BOARD, 0.0), walls, x, z, 0.0, -1.0).min() <= 0
        ):
            return False
        behind = math.atan2(-away[0], away[1])
        turns = (behind, behind - _ASIDE, behind + _ASIDE)
        return any(self._leads_up(x, z, y, math.sin(turn), -math.cos(turn)) for turn in turns)

    def _leads_up(self, x: float, z: float, y: float, u: float, w: float) -> bool:
        """Check whether there is even floor at most a riser higher behind a point."""
        found = [self.floors.floor(x + u * far, z + w * far, y, _RISER) for far in _BEHIND]
        heights = [each for each in found if each is not None and each > y + EPS]
        return len(heights) == len(found) and max(heights) - min(heights) <= _SAME

    def lines(self, y: float, box: tuple[float, float, float, float]) -> ObstacleLines:
        """Return the obstacle lines over a rectangle (x0, z0, x1, z1) of level floor at y."""
        return self._band(BodyPose(0.0, 0.0, 0.0, y), y, False, box, (0.0, y))

    def _band(
        self,
        pose: BodyPose,
        high: float,
        on_stairs: bool,
        box: tuple[float, float, float, float],
        more: tuple[float, float],
    ) -> ObstacleLines:
        """Return the obstacle lines for a body whose middle is over floor at y and that is lifted.

        Args:
            pose: pose of its middle.
            high: height at which it stands on all that is under it.
            on_stairs: whether it stands on stairs.
            box: x0, z0, x1, z1 of the search area.
            more: extra height of its top, and the height up to which floor edges count.
        """
        x0, z0, x1, z1 = box
        faces = self._obstacles.within(x0, z0, x1, z1)
        owners = self._obstacles.owners(faces)
        if len(self._gone):
            there = ~np.isin(owners, self._gone)
            faces, owners = faces[there], owners[there]
        step, top = self.body.max_step, pose.y + self.body.height + more[0]
        # However it is lifted, a wall higher than its top is in its way.
        over = min(high + (self.stair if on_stairs else step), top - _LEAST)
        low = np.where(owners > 0, pose.y + step, over)
        stairs = high + self.stair if self.body.stairs else pose.y + 5 * EPS
        low = np.where(owners == STAIRS, stairs, low) + EPS
        lines = self._obstacles.lines(faces, low, top, self._risers(faces, owners, pose.y))
        edges = self.floors.edges
        near = (
            (edges[:, 4] >= pose.y - self.stair - EPS)
            & (edges[:, 4] <= more[1] + EPS)
            & (np.minimum(edges[:, 0], edges[:, 2]) <= x1)
            & (np.maximum(edges[:, 0], edges[:, 2]) >= x0)
            & (np.minimum(edges[:, 1], edges[:, 3]) <= z1)
            & (np.maximum(edges[:, 1], edges[:, 3]) >= z0)
        )
        ends = np.concatenate([lines.ends, edges[near, :4]])
        close = (
            (np.minimum(ends[:, 0], ends[:, 2]) <= x1)
            & (np.maximum(ends[:, 0], ends[:, 2]) >= x0)
            & (np.minimum(ends[:, 1], ends[:, 3]) <= z1)
            & (np.maximum(ends[:, 1], ends[:, 3]) >= z0)
        )
        whose = np.concatenate([lines.owners, np.full(int(near.sum()), EDGE, dtype=np.int32)])
        return ObstacleLines(np.ascontiguousarray(ends[close]), whose[close])


def _offsets(reach: float) -> list[tuple[float, float]]:
    """Return offsets on the ground plane, the nearest first."""
    count = int(reach / 0.05)
    axis = np.arange(-count, count + 1) * 0.05
    dx, dz = (each.ravel() for each in np.meshgrid(axis, axis))
    far = np.hypot(dx, dz)
    order = np.argsort(far, kind="stable")
    order = order[far[order] <= reach]
    return list(zip(dx[order].tolist(), dz[order].tolist(), strict=True))
