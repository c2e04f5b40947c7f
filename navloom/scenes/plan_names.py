"""Which words stand for a room, and where: inside it, off lines and marks, so that one reads them.

Rooms in real homes overlap, are a metre wide, and have routes through them. Each name is tried in
ever smaller settings over the spots of its room; a name that fits nowhere gives way to its room's
number, and the numbers are explained below the floor.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiPolygon, Polygon, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import unary_union

from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import UNKNOWN

_SIZES = (7.5, 6.5, 5.6)
"""Points; smaller than the last nobody reads."""
_MOST_NAMED = 80
"""Rooms of one floor that are named; where there are more, numbers stand alone."""
_GOOD, _BAD = 0.12, 0.55
"""Penalties below which a spot is taken at once, and above which it is not taken at all."""

_BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 1), (-0.8, 1), (0.8, -1), (-0.8, -1))
"""Where a word may stand, seen from its point."""

Disc = tuple[float, float, float]
"""(x, y, radius) in paper metres."""


class Setting(NamedTuple):
    """Words as they are set: their lines, their size in points, and whether they are the name."""

    text: str
    size: float
    full: bool


Extent = Callable[[Setting], tuple[float, float]]
"""Width and height of words in paper metres."""


class Name(NamedTuple):
    """What is written for a room, and where its middle is on paper."""

    room: str
    setting: Setting
    at: tuple[float, float]


@dataclass
class NameObstacles:
    """What a floor's names must keep off."""

    lines: BaseGeometry
    taken: list[Polygon]

    @classmethod
    def of(cls, lines: Sequence[LineString], spots: Sequence[Disc]) -> Self:
        """What routes and marks leave free."""
        boxes = [box(x - r, y - r, x + r, y + r) for x, y, r in spots]
        return cls(unary_union(list(lines)), boxes)

    def penalties(self, spots: Any, room: BaseGeometry) -> NDArray[np.float64]:
        """One number a spot (an array of boxes): 0 is perfect, 1 and more unreadable."""
        outside = 1 - shapely.area(shapely.intersection(spots, room)) / shapely.area(spots)
        low, high = shapely.bounds(spots)[:, 1], shapely.bounds(spots)[:, 3]
        crossed = shapely.length(shapely.intersection(spots, self.lines)) / (high - low)
        hidden = np.zeros(len(spots), dtype=bool)
        # Of hundreds of names few are near: the others are told by their bounds.
        around = box(*shapely.total_bounds(spots))
        for other in np.array(self.taken)[shapely.intersects(self.taken, around)]:
            hidden |= shapely.intersects(spots, other)
        cost = outside * 1.2 + np.minimum(0.5, 0.12 * crossed)
        return np.asarray(np.where(hidden, 2.0 + cost, cost))


def choose_names(
    shapes: Mapping[str, BaseGeometry],
    extent: Extent,
    *,
    lines: Sequence[LineString] = (),
    spots: Sequence[Disc] = (),
    taken: Sequence[Polygon] = (),
    notes: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Name], list[str]]:
    """What to write for the rooms of a floor.

    Args:
        shapes: region id to what it covers, in paper metres.
        extent: how large words are.
        lines: routes, which names avoid where they can.
        spots: (x, y, radius) of marks, which names never cover.
        taken: other ground that names never cover.
        notes: what helps to know a room of unknown type by, by its id.

    Returns:
        A name for every room, and the rooms whose numbers have to be explained.
    """
    if len(shapes) > _MOST_NAMED:
        # So many names nobody could read.
        points = {room: shape.representative_point() for room, shape in shapes.items()}
        return [
            Name(room, Setting(room.rsplit("_", 1)[-1], _SIZES[-1], False), (at.x, at.y))
            for room, at in points.items()
        ], []
    ground = NameObstacles.of(lines, spots)
    ground.taken += taken
    seen = _visible(shapes)
    names: list[Name] = []
    numbered: list[str] = []
    # The tightest rooms choose first.
    for region in sorted(shapes, key=lambda r: (seen[r].area, r)):
        setting, at = _choose(extent, region, seen[region], ground, notes.get(region))
        if not setting.full and not region.startswith(f"{UNKNOWN}_"):
            numbered.append(region)
        names.append(Name(region, setting, at))
    return names, sorted(numbered)


class Word(NamedTuple):
    """What is written beside a point (x, y) of the plan: a name, a way to stairs, a step's number.

    ``radius`` is what a mark takes there; words of a lower ``rank`` are placed first.
    """

    setting: Setting
    x: float
    y: float
    ink: str
    radius: float = 0.0
    rank: int = 0
    italic: bool = False


def place_words(
    words: Sequence[Word],
    extent: Extent,
    panel: Polygon,
    rooms: Sequence[BaseGeometry],
    *,
    lines: Sequence[LineString],
    spots: Sequence[Disc],
) -> list[tuple[Word, tuple[float, float], Polygon]]:
    """Find places for words beside their points.

    Args:
        words: what is written.
        extent: how large words are.
        panel: the paper.
        rooms: words stay in the room of their point where they can.
        lines: routes, which words avoid where they can.
        spots: (x, y, radius) of marks, which words never cover.

    Returns:
        Each word, its middle, and the ground that it takes.
    """
    ground = NameObstacles.of(lines, spots)
    found = []
    for word in sorted(words, key=lambda word: word.rank):
        wide, high = extent(word.setting)
        reach = word.radius + 0.15 * high + np.array([wide, high]) / 2
        rings = np.repeat([1.0, 1.35, 1.8, 2.4], len(_BESIDE))
        at = np.array([word.x, word.y]) + np.tile(_BESIDE, (4, 1)) * reach * rings[:, None]
        half = np.array([wide, high]) / 2
        boxes = shapely.box(*(at - half).T, *(at + half).T)
        here = shapely.Point(word.x, word.y)
        room = next((each for each in rooms if each.intersects(here)), panel)
        abroad = 1 - shapely.area(shapely.intersection(boxes, room)) / shapely.area(boxes)
        cost = ground.penalties(boxes, panel) + 0.2 * abroad + 0.25 * (rings - 1)
        best = int(np.argmin(cost))
        ground.taken.append(boxes[best])
        found.append((word, (float(at[best, 0]), float(at[best, 1])), boxes[best]))
    return found


def explained(rooms: int, numbered: Sequence[str]) -> list[str]:
    """What the numbers on a floor of so many rooms mean, entry by entry."""
    if rooms > _MOST_NAMED:
        return [f"{rooms:,} rooms by their numbers"]
    return [f"{region.rsplit('_', 1)[-1]} {readable(region)}" for region in numbered]


def _visible(shapes: Mapping[str, BaseGeometry]) -> dict[str, BaseGeometry]:
    """Each room without the smaller rooms that are drawn over it; whole where nothing is left."""
    order = sorted(shapes, key=lambda r: shapes[r].area)
    seen: dict[str, BaseGeometry] = {}
    near = shapely.STRtree([shapes[r] for r in order])
    for i, region in enumerate(order):
        over = sorted(k for k in near.query(shapes[region], predicate="intersects") if k < i)
        left = shapes[region].difference(unary_union([shapes[order[k]] for k in over]))
        seen[region] = left if left.area > 0.2 * shapes[region].area else shapes[region]
    return seen


def _choose(
    extent: Extent, region: str, room: BaseGeometry, ground: NameObstacles, note: str | None
) -> tuple[Setting, tuple[float, float]]:
    best: tuple[float, Setting, tuple[float, float], Polygon] | None = None
    inside = _spots(room)
    for setting in _settings(region, note):
        # Better a small name than a number, but not a name across other rooms.
        if best is not None and best[1].full and not setting.full and best[0] <= _BAD:
            break
        wide, high = extent(setting)
        # A number that marks would hide may stand beside its room.
        spots = inside if setting.full else np.vstack([inside, _beside(room, wide, high)])
        x, y = spots[:, 0], spots[:, 1]
        boxes = shapely.box(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)
        costs = ground.penalties(boxes, room)
        i = int(np.argmin(costs))
        if best is None or costs[i] < best[0] - 1e-9:
            best = (float(costs[i]), setting, (float(x[i]), float(y[i])), boxes[i])
        if best[0] <= _GOOD:
            break
    assert best is not None  # noqa: S101 - there is always a setting and a spot
    _, setting, at, spot = best
    ground.taken.append(spot)
    return setting, at


def _settings(region: str, note: str | None) -> Iterator[Setting]:
    if region.startswith(f"{UNKNOWN}_"):
        for width in (16, 10) if note else ():
            words = "\n".join([region.rsplit("_", 1)[-1], wrapped(note or "", width)])
            yield Setting(words, 5.6, True)
        yield Setting(region.rsplit("_", 1)[-1], 7.5, False)
        return
    words = readable(region if len(region) <= 40 else f"{region[:30]}… {region[-8:]}")
    head, _, number = words.rpartition(" ")
    # The number stays with the last word, but for the narrowest layout.
    kept = f"{head}\u00a0{number}" if head else words
    layouts = dict.fromkeys([wrapped(kept, 14), wrapped(kept, 9), words, wrapped(words, 4)])
    for size in _SIZES:
        for layout in layouts:
            yield Setting(layout, size, True)
    yield Setting(region.rsplit("_", 1)[-1], 6.5, False)


def wrapped(words: str, width: int) -> str:
    """Words in lines of at most so many letters, but for longer words."""
    return "\n".join(textwrap.wrap(words, width, break_long_words=False))


def _spots(room: BaseGeometry) -> NDArray[np.float64]:
    """(n, 2) points inside a room, the roomiest first."""
    parts = list(room.geoms) if isinstance(room, MultiPolygon) else [room]
    largest = max((part for part in parts if isinstance(part, Polygon)), key=lambda p: p.area)
    circle = shapely.maximum_inscribed_circle(largest, max(0.05, largest.length / 200))
    low_x, low_y, high_x, high_y = room.bounds
    xs, ys = np.linspace(low_x, high_x, 13)[1:-1], np.linspace(low_y, high_y, 13)[1:-1]
    grid = np.array([(x, y) for x in xs for y in ys])
    grid = grid[shapely.contains_xy(room, grid[:, 0], grid[:, 1])]
    depth = np.asarray(shapely.distance(shapely.points(grid), room.boundary))
    return np.vstack([circle.coords[0], largest.centroid.coords[0], grid[np.argsort(-depth)]])


def _beside(room: BaseGeometry, wide: float, high: float) -> NDArray[np.float64]:
    low_x, low_y, high_x, high_y = room.bounds
    middle_x, middle_y = (low_x + high_x) / 2, (low_y + high_y) / 2
    right, up = (high_x - low_x + wide) / 2, (high_y - low_y + high) / 2
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
    return np.array([(middle_x + a * right, middle_y + b * up) for a, b in sides])
