"""Structural edits of scenes: wider doorways, removed sills, ramps and lifts.

With a doorway its walls, lintel and leaf are changed. A ramp is built like those of generated
homes, on the lower side of a step. A lift is a platform through a floor. Viewpoints and edges are
not recomputed here (:func:`navloom_worlds.mend.scene_edits.rebuild_graph` does that).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from shapely import Polygon

from navloom.errors import SceneError
from navloom.scenes.scene import Box, Item, Link, Point2, Scene, Stairs, Wall
from navloom_worlds.geometry.wall_openings import wall_footprint

SLOPES = (12, 10, 8)
"""Metres of ramp per metre of rise, the gentlest first; 12 is usual in public buildings."""
LIFT = (1.1, 1.4)
"""Metres: a platform for a wheelchair (ISO 9386-1 requires at least 0.9 by 1.25)."""
_ON_LINE = 0.03
_STUB = 0.03
"""Minimum length of wall between a doorway and a corner in metres."""
_WIDEST_HINGED = 1.25
_SLICE = 0.012
"""Maximum height of a ramp's slices in metres: wheels get over each."""
_WIDEST_RAMP = 1.4
_STOREY = 1.9


@dataclass(frozen=True)
class _DoorwayLine:
    """Line of a doorway on the ground: its midpoint, direction, and half its width."""

    x: float
    z: float
    u: float
    w: float
    half: float

    @classmethod
    def of(cls, jambs: tuple[Point2, Point2]) -> _DoorwayLine:
        (x0, z0), (x1, z1) = jambs
        wide = math.hypot(x1 - x0, z1 - z0)
        return cls((x0 + x1) / 2, (z0 + z1) / 2, (x1 - x0) / wide, (z1 - z0) / wide, wide / 2)

    def along(self, point: Point2) -> float:
        """Return the signed distance from the midpoint along the line, in metres."""
        return (point[0] - self.x) * self.u + (point[1] - self.z) * self.w

    def aside(self, point: Point2) -> float:
        """Return the signed distance from the line, in metres."""
        return (point[1] - self.z) * self.u - (point[0] - self.x) * self.w

    def off(self, point: Point2) -> float:
        """Return the distance from the line in metres."""
        return abs(self.aside(point))

    def at(self, along: float, aside: float = 0.0) -> Point2:
        """Return the point at these distances along the line and to its side."""
        x = self.x + along * self.u - aside * self.w
        z = self.z + along * self.w + aside * self.u
        return round(x, 4), round(z, 4)

    def rect(self, along: tuple[float, float], aside: tuple[float, float]) -> Polygon:
        """Return the rectangle of two such ranges."""
        (a, b), (c, d) = along, aside
        return Polygon([self.at(a, c), self.at(b, c), self.at(b, d), self.at(a, d)])


def widen_doorway(scene: Scene, link: Link, width: float) -> Scene:
    """Return a copy with a wider doorway.

    Args:
        scene: a scene with walls.
        link: one of its links, with jambs.
        width: clear metres; it grows to both sides, or to one if a corner or a window is near.

    Raises:
        SceneError: it has no jambs, or its wall is too short.
    """
    if link.jambs is None or not math.isfinite(width):
        raise SceneError(f"{link.a}<->{link.b}: nobody says where this way is in a wall.")
    line = _DoorwayLine.of(link.jambs)
    more = width - 2 * line.half
    if more <= 0:
        raise SceneError(f"{link.a}<->{link.b} is {2 * line.half:.2f} m wide already.")
    here = list(_of_line(scene, link, line))
    left, right = (_spare(scene, link, line, here, side) for side in (-1.0, 1.0))
    if left + right + 1e-6 < more:
        raise SceneError(
            f"{link.a}<->{link.b} cannot be {width:.2f} m wide: its wall has room for"
            f" {2 * line.half + left + right:.2f} m."
        )
    to_left = min(left, max(more / 2, more - right))
    span = (-line.half - to_left, line.half + more - to_left)
    walls = tuple(
        piece
        for wall in scene.walls
        for piece in (_cut(wall, line, span) if wall in here else (wall,))
    )
    jambs = (line.at(span[0]), line.at(span[1]))
    x, z = line.at(sum(span) / 2)
    leaf = link.leaf
    if leaf == "hinged" and width > _WIDEST_HINGED:
        leaf = "sliding"
    changed = link.model_copy(
        update={
            "jambs": jambs,
            "width": round(width, 4),
            "leaf": leaf,
            "swing": _swing(link.jambs, link.swing, jambs)
            if leaf == "hinged" and link.swing
            else None,
            "point": (x, link.point[1], z) if link.point else None,
        }
    )
    return scene.replace(walls=walls, links=replace_link(scene, link, changed))


def replace_link(scene: Scene, link: Link, changed: Link) -> tuple[Link, ...]:
    """Return a scene's links with one link replaced."""
    return tuple(changed if each is link else each for each in scene.links)


def max_door_width(scene: Scene, link: Link) -> float:
    """Return the greatest width in metres of a doorway in its wall; 0 if it has no jambs."""
    if link.jambs is None:
        return 0.0
    line = _DoorwayLine.of(link.jambs)
    here = list(_of_line(scene, link, line))
    return 2 * line.half + sum(_spare(scene, link, line, here, side) for side in (-1.0, 1.0))


def _level(scene: Scene, link: Link) -> float:
    return max(scene.region_by_id[each].center[1] for each in (link.a, link.b))


def _of_line(scene: Scene, link: Link, line: _DoorwayLine) -> Iterator[Wall]:
    """Yield the wall pieces of a doorway's line, on its storey."""
    low = _level(scene, link)
    for wall in scene.walls:
        level = wall.bottom < low + _STOREY + 0.8 and wall.bottom + wall.height > low - 0.05
        if level and wall.bottom > low - 1.0 and max(map(line.off, (wall.a, wall.b))) < _ON_LINE:
            yield wall


def _spare(
    scene: Scene, link: Link, line: _DoorwayLine, here: Sequence[Wall], side: float
) -> float:
    """Return how far a doorway can grow to a side: to a corner, an opening, or the wall's end."""
    low = _level(scene, link)
    whole = [
        sorted((side * line.along(w.a), side * line.along(w.b)))
        for w in here
        if w.bottom <= low + 0.05 and w.bottom + w.height >= low + _STOREY
    ]
    reach = line.half
    while grown := [far for near, far in whole if near <= reach + 0.02 and far > reach + 0.02]:
        reach = max(grown)
    thick = max((w.thickness for w in here), default=0.1)
    for wall in scene.walls:
        if wall in here or not (low - 1.0 < wall.bottom < low + _STOREY):
            continue
        shape = wall_footprint(wall)
        across = -thick / 2 - 0.01, thick / 2 + 0.01
        beside = line.rect((side * line.half, side * reach), across)
        if shape.is_empty or not shape.intersects(beside):
            continue
        near = min(side * line.along(p) for p in shapely.get_coordinates(shape).tolist())
        if near > line.half - 0.05:
            reach = min(reach, near)
    return max(0.0, reach - _STUB - line.half)


def _cut(wall: Wall, line: _DoorwayLine, span: tuple[float, float]) -> Iterator[Wall]:
    """Yield the rest of a wall piece; a piece above or below the doorway grows with it."""
    a, b = line.along(wall.a), line.along(wall.b)
    low, high = min(a, b), max(a, b)
    if abs(low + line.half) < _ON_LINE and abs(high - line.half) < _ON_LINE:
        yield wall.model_copy(update={"a": line.at(span[0]), "b": line.at(span[1])})
        return
    if high <= span[0] + 1e-6 or low >= span[1] - 1e-6:
        yield wall
        return
    for first, last in ((low, span[0]), (span[1], high)):
        if last - first > 0.005:
            ends = (line.at(first), line.at(last))
            if a > b:
                ends = (ends[1], ends[0])
            yield wall.model_copy(update={"a": ends[0], "b": ends[1]})


def _swing(
    before: tuple[Point2, Point2], swept: Sequence[Point2], jambs: tuple[Point2, Point2]
) -> tuple[Point2, ...]:
    """Return the floor swept by the leaf of the new doorway, with the same hinge and direction."""
    old, new = _DoorwayLine.of(before), _DoorwayLine.of(jambs)
    side = 1.0 if old.along(swept[0]) > 0 else -1.0
    middle = np.mean(swept, axis=0)
    into = 1.0 if old.aside(middle) > 0 else -1.0
    wall = min(old.off(point) for point in swept)
    hinge, latch = side * new.half, -side * new.half
    far = wall + 2 * new.half
    corners = ((hinge, wall), (latch, wall), (latch, far), (hinge, far))
    return tuple(new.at(along, into * aside) for along, aside in corners)


def remove_sill(scene: Scene, link: Link) -> Scene:
    """Return a copy without the sill of a link."""
    flat = link.model_copy(update={"threshold": 0.0})
    return scene.replace(links=replace_link(scene, link, flat))


@dataclass(frozen=True)
class Ramp:
    """Ramp over the step of a link.

    Attributes:
        low: region that contains it.
        high: region that it leads to.
        rise: metres.
        slope: metres of ramp per metre of rise.
        floor: floor area that it takes, (x, z).
        flight: its geometry.
    """

    low: str
    high: str
    rise: float
    slope: int
    floor: Polygon
    flight: Stairs


def plan_ramp(scene: Scene, link: Link) -> Ramp:
    """Return a ramp over a step: on its lower side, as gentle as the space allows.

    Raises:
        SceneError: there is no step, no jambs, no outline, or no space.
    """
    at = {each: scene.region_by_id[each].center[1] for each in (link.a, link.b)}
    low, high = sorted(at, key=lambda each: at[each])
    rise = round(at[high] - at[low], 4)
    outline = scene.region_by_id[low].outline
    if link.jambs is None or outline is None or rise <= 0 or link.kind not in ("door", "opening"):
        raise SceneError(f"{link.a}<->{link.b}: there is no step that a ramp could lie over.")
    line = _DoorwayLine.of(link.jambs)
    room = Polygon(outline)
    near = max((w.thickness for w in _of_line(scene, link, line)), default=0.1) / 2
    side = 1.0 if shapely.intersects_xy(room, *line.at(0, near + 0.1)) else -1.0
    wide = min(2 * line.half, _WIDEST_RAMP) / 2
    for slope in SLOPES:
        far = near + rise * slope
        floor = line.rect((-wide, wide), (side * near, side * far))
        if room.buffer(0.02).covers(floor):
            flight = _sloped(line, (low, high), (at[low], rise), (side, near, far), wide)
            return Ramp(low, high, rise, slope, floor, flight)
    raise SceneError(f"{link.a}<->{link.b}: {low} has no room for a ramp of {rise:.2f} m.")


def _sloped(
    line: _DoorwayLine,
    ends: tuple[str, str],
    rises: tuple[float, float],
    aside: tuple[float, float, float],
    wide: float,
) -> Stairs:
    (low, rise), (side, near, far) = rises, aside
    count = math.ceil(rise / _SLICE)
    yaw = math.atan2(line.w, line.u)
    treads = []
    for k in range(count):
        first, last = (far - (far - near) * part / count for part in (k, k + 1))
        x, z = line.at(0, side * (first + last) / 2)
        high = rise * (k + 1) / count
        treads.append(
            Box(center=(x, round(low + high / 2, 4), z), yaw=yaw,
                size=(round(2 * wide, 4), round(high, 4), round(first - last, 4)))
        )  # fmt: skip
    heights = ((far, low), (near, low + rise), (-near, low + rise))
    way = []
    for off, y in heights:
        x, z = line.at(0, side * off)
        way.append((x, round(y, 4), z))
    return Stairs(a=ends[0], b=ends[1], treads=tuple(treads), line=tuple(way))


def add_ramp(scene: Scene, link: Link) -> Scene:
    """Return a copy with a ramp over a link's step; its door then opens to the upper side.

    Raises:
        SceneError: there is no step or no space, or items block it.
    """
    ramp = plan_ramp(scene, link)
    if there := items_on_area(scene, ramp.floor, ramp.low):
        named = ", ".join(f"{item.name} {item.id}" for item in there[:4])
        raise SceneError(f"{link.a}<->{link.b}: {named} stands where the ramp would lie.")
    update = {"a": ramp.low, "b": ramp.high, "kind": "ramp", "step": ramp.rise}
    changed = link.model_copy(update={**update, "swing": _upward(link, ramp)})
    links = replace_link(scene, link, changed)
    return scene.replace(links=links, stairs=(*scene.stairs, ramp.flight))


def _upward(link: Link, ramp: Ramp) -> tuple[Point2, ...] | None:
    """Return the floor swept by the leaf, mirrored if it would sweep the ramp."""
    swept, jambs = link.swing, link.jambs
    if swept is None or jambs is None:
        return swept
    if not Polygon(swept).intersects(ramp.floor.buffer(-0.02)):
        return swept
    line = _DoorwayLine.of(jambs)
    return tuple(line.at(line.along(p), -line.aside(p)) for p in swept)


def items_on_area(scene: Scene, area: Polygon, region: str) -> tuple[Item, ...]:
    """Return the items of a region that stand on an area."""
    low = scene.region_by_id[region].center[1]
    return tuple(
        item
        for item in scene.items_in(region)
        if item.size is not None
        and item.on is None
        and item.position[1] - item.size[1] / 2 < low + 1.0
        and item.position[1] + item.size[1] / 2 > low + 0.05
        and Polygon(Box(center=item.position, size=item.size, yaw=item.yaw).corners()).intersects(
            area
        )
    )


def add_lift(scene: Scene, low: str, high: str, at: Point2) -> Scene:
    """Return a copy with a lift: a platform through the floor between two regions.

    Args:
        scene: any.
        low: the lower region.
        high: the upper region.
        at: its centre, (x, z); an area of :data:`LIFT` is free on both floors.
    """
    below, above = scene.region_by_id[low].center[1], scene.region_by_id[high].center[1]
    link = Link(
        a=low,
        b=high,
        kind="elevator",
        point=(at[0], round((below + above) / 2, 4), at[1]),
        width=LIFT[0],
        step=round(above - below, 4),
    )
    return scene.replace(links=(*scene.links, link))
