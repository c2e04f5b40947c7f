"""The walls of a storey as solid pieces: whole lengths, less doorways and windows."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from navloom_worlds.homes.floorplan import Outline, PlannedWall, Spot, Storey
from navloom_worlds.homes.rectilinear import Axis, Stretch

_HALF = 50
Hole = tuple[Spot, Spot, int, int]
"""Both ends on the wall's middle line, where it begins above the storey's floor, where it ends."""


def build_walls(
    storey: Storey,
    edge: Outline,
    walls: Sequence[Stretch],
    levels: Mapping[int, int],
    holes: Sequence[Hole],
    outer: int,
) -> list[PlannedWall]:
    """All wall of a storey, no piece in another.

    Args:
        storey: its heights.
        edge: the outline of all cells, clockwise on the page.
        walls: between and around cells.
        levels: floors' heights by cell.
        holes: doorways and windows.
        outer: thickness of outer walls in mm.
    """
    lines = _inner(edge, walls)
    lows: dict[tuple[Axis, int], int] = defaultdict(lambda: storey.height)
    for wall in walls:
        for cell in (wall.minus, wall.plus):
            if cell is not None:
                key = wall.axis, wall.at
                lows[key] = min(lows[key], levels.get(cell, storey.height))
    found = []
    for axis, at, lo, hi in lines:
        found += _pieces(storey, axis, at, lo, hi, 2 * _HALF, lows[axis, at], holes)
    lowest = min([storey.height, *levels.values()])
    for axis, at, lo, hi in _outer(edge, outer):
        found += _pieces(storey, axis, at, lo, hi, outer, lowest, holes)
    return found


def _outer(edge: Outline, thick: int) -> list[tuple[Axis, int, int, int]]:
    """Outer walls; those along x have the corners."""
    found: list[tuple[Axis, int, int, int]] = []
    n = len(edge)
    for i in range(n):
        p, a, b, q = edge[i - 1], edge[i], edge[(i + 1) % n], edge[(i + 2) % n]
        dx, dz = _unit(a, b)
        # Clockwise on the page the outside lies to the left: (dz, -dx).
        off = thick // 2 - _HALF
        ends = []
        for before, corner, after in ((p, a, b), (a, b, q)):
            ux, uz = _unit(before, corner)
            vx, vz = _unit(corner, after)
            convex = ux * vz - uz * vx > 0
            if dz == 0:
                ends.append(thick - _HALF if convex else _HALF)
            else:
                ends.append(-_HALF if convex else _HALF - thick)
        if dz == 0:
            lo, hi = a[0] - dx * ends[0], b[0] + dx * ends[1]
            found.append(("x", a[1] - dx * off, min(lo, hi), max(lo, hi)))
        else:
            lo, hi = a[1] - dz * ends[0], b[1] + dz * ends[1]
            found.append(("z", a[0] + dz * off, min(lo, hi), max(lo, hi)))
    return found


def _unit(a: Spot, b: Spot) -> Spot:
    dx, dz = b[0] - a[0], b[1] - a[1]
    return (dx > 0) - (dx < 0), (dz > 0) - (dz < 0)


def _inner(edge: Outline, walls: Sequence[Stretch]) -> list[tuple[Axis, int, int, int]]:
    """Inner walls; where two meet, the one along x has the corner."""
    runs: list[tuple[Axis, int, int, int]] = []
    for wall in walls:
        if wall.minus is None or wall.plus is None:
            continue
        if runs and runs[-1][:2] == (wall.axis, wall.at) and runs[-1][3] == wall.lo:
            runs[-1] = (wall.axis, wall.at, runs[-1][2], wall.hi)
        else:
            runs.append((wall.axis, wall.at, wall.lo, wall.hi))
    found: list[tuple[Axis, int, int, int]] = []
    level = [run for run in runs if run[0] == "x"]
    for axis, at, lo, hi in runs:
        if axis == "x":
            ends = [-_HALF if _on(edge, (x, at)) else _HALF for x in (lo, hi)]
            found.append((axis, at, lo - ends[0], hi + ends[1]))
            continue
        cuts = sorted({z for _, z, a, b in level if a <= at <= b and lo <= z <= hi} | {lo, hi})
        for z0, z1 in itertools.pairwise(cuts):
            found.append((axis, at, z0 + _HALF, z1 - _HALF))
    return [line for line in found if line[3] > line[2]]


def _on(edge: Outline, spot: Spot) -> bool:
    x, z = spot
    return any(
        min(ax, bx) <= x <= max(ax, bx) and min(az, bz) <= z <= max(az, bz)
        for (ax, az), (bx, bz) in zip(edge, edge[1:] + edge[:1], strict=True)
    )


def _pieces(
    storey: Storey,
    axis: Axis,
    at: int,
    lo: int,
    hi: int,
    thick: int,
    bottom: int,
    holes: Sequence[Hole],
) -> list[PlannedWall]:
    def spot(along: int) -> Spot:
        return (along, at) if axis == "x" else (at, along)

    top = storey.height + storey.ceiling
    found = []
    begin = lo
    for start, end, low, high in sorted(_in_line(axis, at, lo, hi, holes)):
        if start > begin:
            found.append(PlannedWall(spot(begin), spot(start), bottom, top, thick))
        if storey.height + low > bottom:
            found.append(PlannedWall(spot(start), spot(end), bottom, storey.height + low, thick))
        if storey.height + high < top:
            found.append(PlannedWall(spot(start), spot(end), storey.height + high, top, thick))
        begin = end
    if hi > begin:
        found.append(PlannedWall(spot(begin), spot(hi), bottom, top, thick))
    return found


def _in_line(
    axis: Axis, at: int, lo: int, hi: int, holes: Sequence[Hole]
) -> list[tuple[int, int, int, int]]:
    found = []
    for a, b, low, high in holes:
        along, across = (0, 1) if axis == "x" else (1, 0)
        if a[across] == b[across] == at:
            start, end = min(a[along], b[along]), max(a[along], b[along])
            if lo <= start and end <= hi:
                found.append((start, end, low, high))
    return found
