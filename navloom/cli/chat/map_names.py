"""Where rooms' names stand in a terminal's map: whole and alone, or as a number with a key.

A name goes on one row where its room has a free stretch for it, else a row a word; where neither
fits, a number stands in the room and the name in the key below the map. Nothing is written over a
name, and no name over anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Cell: TypeAlias = tuple[int, int]
_BLANK = "\u00a0"
_ASPECT = 2.0


@dataclass
class Names:
    """Names put on a map.

    Attributes:
        cells: what stands where; a blank within a name is no space.
        key: "1 dressing room" for each number on the map.
    """

    cells: dict[Cell, str] = field(default_factory=dict)
    key: list[str] = field(default_factory=list)


def placed(
    names: Sequence[str], rooms: NDArray[np.int32], drawn: Sequence[str], taken: Set[Cell]
) -> Names:
    """Put every room's name somewhere in the room.

    Args:
        names: by room.
        rooms: (rows, columns) the room at each cell, -1 outside.
        drawn: the map's rows; names go where it has spaces.
        taken: cells to leave free, such as the robot's.
    """
    found = Names()
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
    """Words on free cells, one row each, as near the middle of them as it goes; or nothing."""
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
