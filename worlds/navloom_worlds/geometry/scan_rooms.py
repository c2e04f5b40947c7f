"""Rooms of a scan: the outline and height of each region's floor, and the storeys they form.

A scan gives the region of each floor face, and nothing more. Furniture hides floor, so the
footprint of items that stand on a floor counts as floor of its region. A region without any floor
gets the convex hull of its contents.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from navloom.errors import SceneError
from navloom.scenes.scene import UNKNOWN, Box, Floor, Point2, Region, region_id
from navloom_worlds.geometry.arrays import F32, F64, I32
from navloom_worlds.geometry.scan_boxes import convex_hull
from navloom_worlds.geometry.scan_reader import Scan

FLOOR_NAME = re.compile(r"\b(floor|flooring)$")
"""Names of floors, but not of rugs and lamps on them."""
CEILING_NAME = re.compile(r"\bceiling$")
_THROUGH = re.compile(r"\b(wall|ceiling|door|window|curtain|blinds?|frame|beam|roof|stairs?)\b")
"""Names of objects that reach into walls and do not bound a floor."""
STOREY_GAP = 1.5
"""Metres above the lowest room of a storey from which a room belongs to the next storey."""
_STANDS = 0.15
"""Metres above the floor within which an item's underside stands on it."""
_SPECK = 0.05
"""Half the greatest width of a crack or a speck of floor, in metres."""
_CLOSED = 0.15
"""Half the width up to which gaps in a floor are closed, in metres."""
_STRAIGHT = 0.02
"""Tolerance in metres to which an outline is simplified."""
_NICHE = 0.3
"""Greatest depth of a niche that a floor has in a doorway; `_WAY` is its greatest width."""
_WAY = 4.0
_LEVEL = 0.7
_GRID = 0.001
_LEAST = 0.05
"""Least area of a floor in square metres."""
_HEIGHT = 2.5
_MOST_REGIONS = 1_000
_MOST_AREA = 20_000.0


Labels = Callable[[Mapping[int, Region]], Mapping[int, str]]
"""Function from regions by number to room types by number."""


@dataclass(frozen=True, eq=False)
class ScanRooms:
    """Regions and storeys found in a scan.

    Attributes:
        regions: in the order of their numbers.
        floors: the storeys.
        by_number: region by the release's number.
        guessed: ids of regions whose outline is the hull of their contents.
        lost: numbers of regions without a known location.
    """

    regions: tuple[Region, ...]
    floors: tuple[Floor, ...]
    by_number: dict[int, Region]
    guessed: tuple[str, ...]
    lost: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Outline:
    polygon: Polygon
    level: float
    top: float
    guessed: bool


def find_rooms(scan: Scan, labels: Labels | None = None) -> ScanRooms:
    """Find the rooms of a scan.

    Args:
        scan: the scan.
        labels: gives the types of rooms by number, if known.

    Raises:
        SceneError: it has no region, or more than a scene may have.
    """
    numbers = sorted({line.region for line in scan.lines if line.region >= 0})
    if len(numbers) > _MOST_REGIONS:
        raise SceneError(
            f"{scan.files.numbers}: expected at most {_MOST_REGIONS:,} regions, found "
            f"{len(numbers):,}."
        )
    # The mitre of a degenerate line divides by zero and is bevelled then.
    with np.errstate(all="ignore"):
        found = {number: each for number, each in _outlines(scan, numbers) if each is not None}
    area = sum(each.polygon.area for each in found.values())
    if area > _MOST_AREA:
        raise SceneError(
            f"{scan.files.semantic}: expected at most {_MOST_AREA:,.0f} square metres of floor, "
            f"found {area:,.0f}."
        )
    storeys = _storeys({number: each.level for number, each in found.items()})
    floors = tuple(
        Floor(id=i, height=round(statistics.median_low(found[n].level for n in storey), 3))
        for i, storey in enumerate(storeys, start=1)
    )
    on = {number: i for i, storey in enumerate(storeys, start=1) for number in storey}
    regions = {n: _region(n, each, on[n], UNKNOWN) for n, each in found.items()}
    if labels is not None:
        named = labels(regions)
        for n in named.keys() & regions.keys():
            regions[n] = _region(n, found[n], on[n], named[n])
    guessed = tuple(regions[number].id for number, each in found.items() if each.guessed)
    lost = tuple(number for number in numbers if number not in found)
    return ScanRooms(tuple(regions.values()), floors, regions, guessed, lost)


def _region(number: int, outline: _Outline, floor: int, label: str) -> Region:
    left, near, right, far = outline.polygon.bounds
    x, z = _inside(outline.polygon)
    level = round(outline.level, 3)
    height = max(outline.top - outline.level, 0.0)
    return Region(
        id=region_id(label, number),
        label=label,
        floor=floor,
        center=(x, level, z),
        box=Box(
            center=(
                round((left + right) / 2, 4),
                round(level + height / 2, 4),
                round((near + far) / 2, 4),
            ),
            size=(round(right - left, 4), round(height, 4), round(far - near, 4)),
        ),
        polygon=_corners(outline.polygon),
    )


def _inside(polygon: Polygon) -> Point2:
    """Return the polygon's centroid, or a point inside it if the centroid is outside."""
    spot = polygon.centroid
    if not polygon.contains(spot):
        spot = shapely.point_on_surface(polygon)
    return round(spot.x, 3), round(spot.y, 3)


def _corners(polygon: Polygon) -> tuple[Point2, ...]:
    ring = orient(polygon).exterior.coords[:-1]
    return tuple((round(x, 3), round(z, 3)) for x, z in ring)


def _outlines(scan: Scan, numbers: Iterable[int]) -> Iterable[tuple[int, _Outline | None]]:
    """Yield each region's outline, from its floors, or from its contents if it has no floor."""
    region_of, kinds = _by_line(scan)
    face_region = region_of[scan.numbers]
    kind = kinds[scan.numbers]
    low, high = (f(scan.vertices[scan.faces][:, :, 1], axis=1) for f in (np.min, np.max))
    order = np.argsort(face_region, kind="stable")
    first = np.searchsorted(face_region[order], [*numbers], side="left")
    last = np.searchsorted(face_region[order], [*numbers], side="right")
    for number, a, b in zip(numbers, first, last, strict=True):
        mine = order[a:b]
        flat = scan.rise[mine] >= _LEVEL
        floor = mine[(kind[mine] == _FLOOR) & flat]
        ceiling = mine[(kind[mine] == _CEILING) & flat]
        if scan.areas[floor].sum() >= _LEAST:
            level = _middle((low[floor] + high[floor]) / 2, scan.areas[floor])
            things = np.unique(scan.numbers[mine[kind[mine] == _THING]]).tolist()
            parts = [_whole(_seen(scan, floor)), *_standing(scan, things, level)]
            polygon = _closed(shapely.union_all(parts))
            guessed = False
        else:
            things = mine[kind[mine] != _CEILING]
            if not len(things):
                yield number, None
                continue
            level = float(np.quantile(low[things], 0.02))
            polygon = _hull(scan, things)
            guessed = True
        if polygon is None:
            yield number, None
            continue
        top = level + _HEIGHT
        if scan.areas[ceiling].sum() >= _LEAST:
            top = _middle((low[ceiling] + high[ceiling]) / 2, scan.areas[ceiling])
        if top < level + 0.5:
            top = level + _HEIGHT
        yield number, _Outline(polygon, level, top, guessed)


_OTHER, _FLOOR, _CEILING, _THING = range(4)


def _by_line(scan: Scan) -> tuple[I32, NDArray[np.int8]]:
    """Return the region and the kind of each object number; row 0 is for no object."""
    most = max((line.number for line in scan.lines), default=0)
    region = np.full(most + 1, -2, dtype=np.int32)
    kind = np.zeros(most + 1, dtype=np.int8)
    for line in scan.lines:
        region[line.number] = line.region
        if FLOOR_NAME.search(line.name):
            kind[line.number] = _FLOOR
        elif CEILING_NAME.search(line.name):
            kind[line.number] = _CEILING
        elif not _THROUGH.search(line.name) and line.name != "unknown":
            kind[line.number] = _THING
    return region, kind


def _standing(scan: Scan, things: Iterable[int], level: float) -> list[BaseGeometry]:
    """Return the footprints of the items that stand on a floor."""
    found = (scan.item_outlines[number] for number in things)
    on_it = (each for each in found if abs(each.box.bottom - level) <= _STANDS)
    return [each.hull for each in on_it if each.hull is not None]


def _whole(seen: BaseGeometry) -> BaseGeometry:
    """Return a floor without cracks, and without specks from label bleeding."""
    closed = seen.buffer(_SPECK, join_style="mitre").buffer(-_SPECK, join_style="mitre")
    opened = closed.buffer(-_SPECK, join_style="mitre").buffer(_SPECK, join_style="mitre")
    return closed if opened.is_empty else opened


def _seen(scan: Scan, faces: NDArray[np.intp]) -> BaseGeometry:
    """Return the union of triangles seen from above."""
    corners = scan.vertices[scan.faces[faces]][:, :, [0, 2]].astype(np.float64)
    (u, w), (p, q) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    corners = corners[np.abs(u * q - w * p) > 1e-7]
    shapes = shapely.polygons(np.concatenate([corners, corners[:, :1]], axis=1))
    try:
        return shapely.union_all(shapes)
    except shapely.errors.GEOSException:
        return shapely.union_all(shapes, grid_size=_GRID)


def _closed(seen: BaseGeometry) -> Polygon | None:
    """Return the largest part of a floor with its gaps and holes filled."""
    if seen.is_empty:
        return None
    for wide in (_CLOSED, 3 * _CLOSED):
        out = seen.buffer(wide, join_style="mitre").buffer(-wide, join_style="mitre")
        parts = [Polygon(p.exterior) for p in shapely.get_parts(out) if isinstance(p, Polygon)]
        if not parts:
            return None
        best = max(parts, key=lambda each: each.area)
        if best.area >= 0.8 * sum(each.area for each in parts):
            break
    plain = shapely.set_precision(best.simplify(_STRAIGHT), _GRID)
    whole = [p for p in shapely.get_parts(plain) if isinstance(p, Polygon) and p.area > 0]
    return _without_niches(max(whole, key=lambda each: each.area)) if whole else None


def _without_niches(polygon: Polygon) -> Polygon:
    """Return an outline without the floor's niches into doorways: walls become straight."""
    ring = np.array(orient(polygon).exterior.coords[:-1])
    at = 0
    while at < len(ring) and len(ring) > 4:
        ring = np.roll(ring, -1, axis=0) if at else ring
        skipped = _niche(ring)
        if skipped:
            ring = np.concatenate([ring[:2], ring[2 + skipped :]])
            at = 0
        else:
            at += 1
    for _ in range(2):
        # A straight side stays one side, wherever the ring begins.
        plain = Polygon(np.roll(ring, 1, axis=0)).simplify(0)
        if not isinstance(plain, Polygon) or plain.is_empty:
            return polygon
        ring = np.array(plain.exterior.coords[:-1])
    out = Polygon(ring)
    return out if out.is_valid and out.area > 0.5 * polygon.area else polygon


def _niche(ring: F64) -> int:
    """Return how many corners after the second form a niche in the wall between the first two."""
    a, b = ring[0], ring[1]
    long = float(np.hypot(*(b - a)))
    if long < _STRAIGHT:
        return 0
    u, w = (b - a) / long
    along = (ring - b) @ np.array([u, w])
    aside = (ring - b) @ np.array([w, -u])
    for last in range(3, min(8, len(ring) - 1)):
        inner = aside[2:last]
        if inner.max() > _NICHE or inner.min() < -_STRAIGHT or along[2:last].min() < -_STRAIGHT:
            return 0
        onward = ring[(last + 1) % len(ring)]
        goes_on = abs((onward - b) @ np.array([w, -u])) <= _STRAIGHT
        if abs(aside[last]) <= _STRAIGHT and 0 < along[last] <= _WAY and goes_on:
            return last - 2
    return 0


def _hull(scan: Scan, faces: NDArray[np.intp]) -> Polygon | None:
    corners = scan.vertices[scan.faces[faces]].reshape(-1, 3)[:, [0, 2]].astype(np.float64)
    found = convex_hull(corners)
    hull = None if found is None else shapely.set_precision(found, _GRID)
    return hull if isinstance(hull, Polygon) and hull.area >= _LEAST else None


def _middle(heights: F32, areas: F64) -> float:
    """Return the area-weighted median height."""
    order = np.argsort(heights, kind="stable")
    share = np.cumsum(areas[order])
    return float(heights[order][np.searchsorted(share, share[-1] / 2)])


def _storeys(levels: Mapping[int, float]) -> Sequence[list[int]]:
    """Group regions into storeys from the lowest, by height above a storey's lowest room."""
    storeys: list[list[int]] = []
    for number in sorted(levels, key=lambda n: (levels[n], n)):
        if not storeys or levels[number] - levels[storeys[-1][0]] > STOREY_GAP:
            storeys.append([])
        storeys[-1].append(number)
    return storeys[:99]
