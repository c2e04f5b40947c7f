"""Floor map of a home in the terminal: outlines and names of rooms, doors, the trail, the robot.

Each character cell has four corners on a lattice. An arm of a box character runs between two
corners in different rooms, so outlines of any shape join up. A cell is about twice as high as wide.
The part that does not depend on the robot is drawn once per scene, floor and size.

A name goes on one row if its room has space for it, else on one row per word. If neither fits, the
room gets a number, and the name goes to the key below the map. Names never overlap anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from operator import itemgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import shapely
from numpy.typing import NDArray

from navloom.scenes.distances import cached_on_scene, scene_cached
from navloom.scenes.plan_style import region_shapes, room_tint
from navloom.scenes.scene import Scene
from navloom.tools.chat.places import room_name

if TYPE_CHECKING:
    from rich.text import Text

ARROWS = "↑↗→↘↓↙←↖"
TRAIL, GOAL, DOOR, STAIRS = "·", "◆", "▫", "≡"
_BOX = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"
"""By arms: 1 up, 2 right, 4 down, 8 left."""
_BLANK = "\u00a0"
_ASPECT = 2.0
_MARGIN = 0.3
_LEAST_ROWS = 5
_MOST_KEY = 6
"""Limit of rows for the key of names."""
_OUTSIDE = -1
_INK, _TRAIL_INK, _ROBOT_INK = "#333333", "#0b62a8", "bold #ffffff on #0b62a8"


@dataclass(frozen=True)
class TerminalMap:
    """The part of a floor map that does not depend on the robot.

    Attributes:
        floor: the floor's index.
        cells: one string per row.
        rooms: (rows, columns) the index of each cell's region in ``regions``, -1 outside.
        regions: region ids.
        left: paper x of the first column's left edge, metres.
        top: paper y of the first row's upper edge.
        step: metres per column; a row is twice that.
    """

    floor: int
    cells: tuple[str, ...]
    rooms: NDArray[np.int32]
    regions: tuple[str, ...]
    left: float
    top: float
    step: float

    def cell(self, x: float, z: float) -> tuple[int, int]:
        """Return the (row, column) of a point of the ground plane."""
        row = int((self.top + z) / (self.step * _ASPECT))
        column = int((x - self.left) / self.step)
        return max(0, min(len(self.cells) - 1, row)), max(0, min(len(self.cells[0]) - 1, column))


def draw_floor(scene: Scene, floor: int, width: int, height: int) -> TerminalMap:
    """Return a map of a floor in at most ``width`` by ``height`` characters; cached by scene."""
    return _drawn(scene, floor, max(12, min(width, 300)), max(_LEAST_ROWS, min(height, 150)))


@cached_on_scene
def _drawn(scene: Scene, floor: int, width: int, height: int) -> TerminalMap:
    shapes = region_shapes(scene, floor)
    bounds = np.array([shape.bounds for shape in shapes.values()] or [(-1.0, -1.0, 1.0, 1.0)])
    left, bottom = bounds[:, 0].min() - _MARGIN, bounds[:, 1].min() - _MARGIN
    right, top = bounds[:, 2].max() + _MARGIN, bounds[:, 3].max() + _MARGIN
    step = max((right - left) / width, (top - bottom) / (height * _ASPECT), 0.05)
    # Ignore float errors above a whole number of cells.
    columns = max(1, math.ceil((right - left) / step - 1e-6))
    rows = max(1, math.ceil((top - bottom) / (step * _ASPECT) - 1e-6))
    xs = left + step * np.arange(columns + 1)
    ys = top - step * _ASPECT * np.arange(rows + 1)
    grid = np.meshgrid(xs, ys)
    corners = _rooms_at(shapes, *grid)
    middles = _rooms_at(shapes, grid[0][1:, 1:] - step / 2, grid[1][1:, 1:] + step * _ASPECT / 2)
    upper_left, upper_right = corners[:-1, :-1], corners[:-1, 1:]
    lower_left, lower_right = corners[1:, :-1], corners[1:, 1:]
    arms = (
        (upper_left != upper_right) * 1
        + (upper_right != lower_right) * 2
        + (lower_left != lower_right) * 4
        + (upper_left != lower_left) * 8
    )
    lines = tuple("".join(_BOX[arm] for arm in row) for row in arms)
    made = TerminalMap(floor, lines, middles, tuple(shapes), left, top, step)
    marks = {}
    for link in scene.links:
        ends = {scene.region_by_id[end].floor for end in (link.a, link.b)}
        if link.point is not None and floor in ends:
            mark = STAIRS if link.kind in ("stairs", "elevator") else DOOR
            marks[made.cell(link.point[0], link.point[2])] = mark
    return _put(made, marks)


def _rooms_at(
    shapes: Mapping[str, Any], xs: NDArray[np.float64], ys: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return the index of the region at each point; of overlapping ones the smallest."""
    found = np.full(xs.shape, _OUTSIDE, dtype=np.int32)
    order = sorted(enumerate(shapes.values()), key=lambda each: -each[1].area)
    for index, shape in order:
        found[shapely.contains_xy(shape, xs, ys)] = index
    return found


def _put(drawn: TerminalMap, marks: Mapping[tuple[int, int], str]) -> TerminalMap:
    rows = [list(row) for row in drawn.cells]
    for (row, column), mark in marks.items():
        rows[row][column] = mark
    return replace(drawn, cells=tuple("".join(row) for row in rows))


def _names(scene: Scene, drawn: TerminalMap, taken: Set[Cell]) -> RoomNames:
    """Return the placed room names; they move only if a taken cell is in the way."""
    rooms = [room_name(scene, region) for region in drawn.regions]

    def put(taken: Set[Cell]) -> RoomNames:
        return place_names(rooms, drawn.rooms, drawn.cells, taken)

    key = f"term_names:{drawn.floor}:{drawn.rooms.shape}"
    found = scene_cached(scene, key, lambda: put(frozenset()))
    return put(taken) if taken & found.cells.keys() else found


def _marks(
    scene: Scene, drawn: TerminalMap, trail: Sequence[Sequence[Any]], goal: str | None
) -> tuple[dict[Cell, str], RoomNames]:
    """Return trail, goal and robot on this floor, and the room names around them.

    The last pose of the trail is the robot's.
    """
    marks: dict[Cell, str] = {}

    def at(viewpoint: str) -> Cell | None:
        place = scene.viewpoint_by_id[viewpoint]
        if scene.floor_of(place) != drawn.floor:
            return None
        return drawn.cell(place.position[0], place.position[2])

    if goal and (spot := at(goal)):
        marks[spot] = GOAL
    if trail and (spot := at(trail[-1][0])):
        marks[spot] = ARROWS[round(trail[-1][1] / (math.pi / 4)) % 8]
    names = _names(scene, drawn, marks.keys())
    for row, column in _stretches([at(pose[0]) for pose in trail]):
        # The trail must not overwrite names and doors.
        if drawn.cells[row][column] in _BOX and (row, column) not in names.cells:
            marks.setdefault((row, column), TRAIL)
    return marks, names


def _stretches(spots: Sequence[tuple[int, int] | None]) -> Iterator[tuple[int, int]]:
    """Yield the cells on straight lines between spots; None is a spot on another floor."""
    for before, after in pairwise(spots):
        if before is None or after is None:
            continue
        steps = max(abs(after[0] - before[0]), abs(after[1] - before[1]), 1)
        for step in range(steps + 1):
            share = step / steps
            yield (
                round(before[0] + share * (after[0] - before[0])),
                round(before[1] + share * (after[1] - before[1])),
            )


def map_lines(
    scene: Scene,
    trail: Sequence[Sequence[Any]],
    *,
    width: int = 72,
    height: int = 24,
    goal: str | None = None,
) -> list[str]:
    """Return the map of the robot's floor as plain lines.

    Args:
        scene: the home.
        trail: poses [viewpoint, heading, elevation]; the last one is where the robot is.
        width: limit of columns.
        height: limit of rows, including the key of names.
        goal: the viewpoint that the robot is going to.
    """
    drawn, marks, names, key = _floor_map(scene, trail, width, height, goal)
    put = _put(drawn, {**names.cells, **marks})
    return [row.replace(_BLANK, " ").rstrip() for row in (*put.cells, *key)]


def _floor_map(
    scene: Scene, trail: Sequence[Sequence[Any]], width: int, height: int, goal: str | None
) -> tuple[TerminalMap, dict[Cell, str], RoomNames, list[str]]:
    """Return the robot's floor, marks, names, and a key of names that do not fit."""
    viewpoint = scene.viewpoint_by_id[trail[-1][0]] if trail else scene.viewpoints[0]
    floor = scene.floor_of(viewpoint)
    for rows in range(max(0, min(_MOST_KEY, height - _LEAST_ROWS)) + 1):
        drawn = draw_floor(scene, floor, width, height - rows)
        marks, names = _marks(scene, drawn, trail, goal)
        key = wrap("  ".join(each.replace(" ", _BLANK) for each in names.key), max(width, 12))
        if len(key) <= rows:
            break
    return drawn, marks, names, key[:rows]


def map_text(
    scene: Scene,
    trail: Sequence[Sequence[Any]],
    *,
    width: int,
    height: int,
    goal: str | None = None,
) -> Text:
    """Return the map as coloured text, with room colours as in the drawn plan."""
    from rich.text import Text

    drawn, marks, names, key = _floor_map(scene, trail, width, height, goal)
    put = _put(drawn, {**names.cells, **marks})
    tints = [room_tint(scene.region_by_id[region].label) for region in put.regions]
    text = Text(no_wrap=True)
    for number, row in enumerate(put.cells):
        rooms = put.rooms[number].tolist()
        inks = [
            _ink(marks.get((number, column)), tints[room] if room >= 0 else None)
            for column, room in enumerate(rooms)
        ]
        for ink, run in groupby(zip(inks, row, strict=True), key=itemgetter(0)):
            text.append("".join(letter for _, letter in run).replace(_BLANK, " "), ink)
        text.append("\n")
    text.append("\n".join(key).replace(_BLANK, " "))
    return text


def _ink(mark: str | None, ground: str | None) -> str:
    if mark is not None and mark in ARROWS:
        return _ROBOT_INK
    on = f" on {ground}" if ground else ""
    if mark is not None:
        return f"bold {_TRAIL_INK}{on}"
    return f"{_INK if ground else '#999999'}{on}"


Cell: TypeAlias = tuple[int, int]


@dataclass
class RoomNames:
    """Room names placed on a map.

    Attributes:
        cells: the character at each cell; a blank within a name is a no-break space.
        key: "1 dressing room" for each number on the map.
    """

    cells: dict[Cell, str] = field(default_factory=dict)
    key: list[str] = field(default_factory=list)


def place_names(
    names: Sequence[str], rooms: NDArray[np.int32], drawn: Sequence[str], taken: Set[Cell]
) -> RoomNames:
    """Return every room's name placed on free cells of its room, and a key of numbered rooms.

    Args:
        names: by room.
        rooms: (rows, columns) the room at each cell, -1 outside.
        drawn: the map's rows; names go on its spaces.
        taken: cells to leave free, such as the robot's.
    """
    found = RoomNames()
    for index, name in enumerate(names):
        rows, columns = np.nonzero(rooms == index)
        cells = zip(rows.tolist(), columns.tolist(), strict=True)
        free = {cell for cell in cells if drawn[cell[0]][cell[1]] == " " and cell not in taken}
        if not free:
            continue
        number = str(len(found.key) + 1)
        for lines in ([name], name.split(), [number]):
            put = _fitted(lines, free)
            if put:
                found.cells.update(put)
                found.key += [f"{number} {name}"] if lines == [number] else []
                break
    return found


def _fitted(lines: Sequence[str], free: Set[Cell]) -> Mapping[Cell, str]:
    """Fit lines of text on free cells, near their middle; return nothing if they do not fit."""
    wide = max(map(len, lines))
    middle = np.mean(sorted(free), axis=0)

    def off(corner: Cell) -> float:
        row, column = corner[0] + (len(lines) - 1) / 2, corner[1] + (wide - 1) / 2
        return float(abs(row - middle[0]) * _ASPECT + abs(column - middle[1]))

    corners = {(row, column - shift) for row, column in free for shift in range(wide)}
    for row, column in sorted(corners, key=lambda corner: (off(corner), corner)):
        put = {
            (row + down, column + (wide - len(line)) // 2 + across): letter
            for down, line in enumerate(lines)
            for across, letter in enumerate(line.replace(" ", _BLANK))
        }
        if put.keys() <= free:
            return put
    return {}
