"""Plan of one storey within its footprint: cells, doorways, windows and walls.

Walls are solid pieces: whole lengths, less doorways and windows.

The doorways form a cheapest spanning tree from the entrance. The cost of a doorway says how
acceptable it is to walk through a room of one kind to reach another. A few more close loops.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from navloom.files import package_yaml
from navloom_worlds.homes.doorways import NARROWEST, DoorwayPlacer
from navloom_worlds.homes.floorplan import (
    Doorway,
    Outline,
    PlannedRoom,
    PlannedStorey,
    PlannedWall,
    Spot,
    StairFlight,
    Window,
)
from navloom_worlds.homes.rectilinear import (
    HALF,
    Axis,
    WallStretch,
    inset_outline,
    outline_edges,
    union_outline,
    unit_direction,
    wall_stretches,
)
from navloom_worlds.homes.rng import Rng
from navloom_worlds.homes.room_layout import StoreyCell
from navloom_worlds.homes.room_programme import KINDS
from navloom_worlds.homes.storey_footprint import SpineFrame

NEVER = 1000.0
_MOST_ROUNDS = 4
_HALLS = ("hallway", "entryway")
_BEDS = ("bedroom", "nursery", "kids room")

_ROOMS = package_yaml("navloom_worlds.homes", "rooms.yaml")
_THROUGH: Mapping[str, Mapping[str, float]] = _ROOMS["through"]
_LOOPS: Mapping[frozenset[str], float] = {frozenset(two): often for *two, often in _ROOMS["loops"]}


@dataclass(frozen=True)
class CellOpening:
    """Connection of two cells; in a tree the first is nearer to the entrance."""

    a: int
    b: int


def passage_cost(through: str, to: str, own: bool) -> float:
    """Return the cost of reaching a room through another, by their kinds.

    Args:
        through: kind of the room to pass.
        to: kind of the room to reach.
        own: whether the latter belongs to a bedroom or a kitchen alone.
    """
    if to in ("bathroom", "closet", "dressing room") and own:
        if through in _BEDS:
            return 0.3 if through == "bedroom" else 1.0
        return 2.0 if through == "dressing room" else 7.0
    if through in _BEDS:
        if to in ("closet", "dressing room"):
            return 2.0
        return _THROUGH["bedroom"].get(to, NEVER)
    if through in _HALLS:
        return _THROUGH[through].get(to, 1.0)
    return _THROUGH.get(through, {}).get(to, NEVER)


def cheapest_tree(
    kinds: Mapping[int, str], own: Mapping[int, bool], near: Mapping[int, Sequence[int]], root: int
) -> list[CellOpening] | None:
    """Return the cheapest doorways that reach every cell from a root (Prim's tree, directed costs).

    Returns:
        None if a cell can only be reached through a room that must not be passed.
    """
    reached = {root}
    ways: list[CellOpening] = []
    while len(reached) < len(kinds):
        found = [
            (passage_cost(kinds[a], kinds[b], own[b]), a, b)
            for a in sorted(reached)
            for b in near[a]
            if b not in reached
        ]
        if not found:
            return None
        price, a, b = min(found)
        if price >= NEVER:
            return None
        reached.add(b)
        ways.append(CellOpening(a, b))
    return ways


def draw_loops(
    dice: Rng,
    kinds: Mapping[int, str],
    own: Mapping[int, bool],
    beside: Mapping[int, Sequence[int]],
    ways: Sequence[CellOpening],
) -> list[CellOpening]:
    """Return sampled doorways that close loops in the graph of rooms, as often as in real homes."""
    have = {frozenset((way.a, way.b)) for way in ways}
    found = []
    for a in sorted(beside):
        for b in beside[a]:
            if a > b or frozenset((a, b)) in have or own[a] or own[b]:
                continue
            if dice.chance(_LOOPS.get(frozenset((kinds[a], kinds[b])), 0.0)):
                found.append(CellOpening(a, b))
    return dice.shuffled(found)[:_MOST_ROUNDS]


def adjacent_cells(
    walls: Sequence[WallStretch], cells: Sequence[int], least: int
) -> dict[int, list[int]]:
    """Return the cells that share a wall long enough for a doorway."""
    beside: dict[int, list[int]] = {cell: [] for cell in cells}
    for wall in walls:
        a, b = wall.minus, wall.plus
        if a is None or b is None or a not in beside or b not in beside or wall.length < least:
            continue
        if b not in beside[a]:
            beside[a].append(b)
            beside[b].append(a)
    return {cell: sorted(others) for cell, others in beside.items()}


Hole = tuple[Spot, Spot, int, int]
"""Both ends on the wall's centre line, then its bottom and top above the storey's floor."""


def build_walls(
    storey: PlannedStorey,
    edge: Outline,
    walls: Sequence[WallStretch],
    levels: Mapping[int, int],
    holes: Sequence[Hole],
    outer: int,
) -> Iterator[PlannedWall]:
    """Yield all walls of a storey, without overlaps.

    Args:
        storey: floor and ceiling heights.
        edge: the outline of all cells, clockwise on the page.
        walls: between and around cells.
        levels: floor heights by cell.
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
    for axis, at, lo, hi in lines:
        yield from _pieces(storey, axis, at, lo, hi, 2 * HALF, lows[axis, at], holes)
    lowest = min([storey.height, *levels.values()])
    for axis, at, lo, hi in _outer(edge, outer):
        yield from _pieces(storey, axis, at, lo, hi, outer, lowest, holes)


def _outer(edge: Outline, thick: int) -> Iterator[tuple[Axis, int, int, int]]:
    """Yield the outer walls; those along x include the corners."""
    n = len(edge)
    for i in range(n):
        p, a, b, q = edge[i - 1], edge[i], edge[(i + 1) % n], edge[(i + 2) % n]
        dx, dz = unit_direction(a, b)
        # Clockwise on the page the outside lies to the left: (dz, -dx).
        off = thick // 2 - HALF
        ends = []
        for before, corner, after in ((p, a, b), (a, b, q)):
            ux, uz = unit_direction(before, corner)
            vx, vz = unit_direction(corner, after)
            convex = ux * vz - uz * vx > 0
            if dz == 0:
                ends.append(thick - HALF if convex else HALF)
            else:
                ends.append(-HALF if convex else HALF - thick)
        if dz == 0:
            lo, hi = a[0] - dx * ends[0], b[0] + dx * ends[1]
            yield ("x", a[1] - dx * off, min(lo, hi), max(lo, hi))
        else:
            lo, hi = a[1] - dz * ends[0], b[1] + dz * ends[1]
            yield ("z", a[0] + dz * off, min(lo, hi), max(lo, hi))


def _inner(edge: Outline, walls: Sequence[WallStretch]) -> list[tuple[Axis, int, int, int]]:
    """Return the inner walls; where two meet, the one along x includes the corner."""
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
            ends = [-HALF if _on(edge, (x, at)) else HALF for x in (lo, hi)]
            found.append((axis, at, lo - ends[0], hi + ends[1]))
            continue
        cuts = sorted({z for _, z, a, b in level if a <= at <= b and lo <= z <= hi} | {lo, hi})
        for z0, z1 in itertools.pairwise(cuts):
            found.append((axis, at, z0 + HALF, z1 - HALF))
    return [line for line in found if line[3] > line[2]]


def _on(edge: Outline, spot: Spot) -> bool:
    x, z = spot
    return any(
        min(ax, bx) <= x <= max(ax, bx) and min(az, bz) <= z <= max(az, bz)
        for (ax, az), (bx, bz) in outline_edges(edge)
    )


def _pieces(
    storey: PlannedStorey,
    axis: Axis,
    at: int,
    lo: int,
    hi: int,
    thick: int,
    bottom: int,
    holes: Sequence[Hole],
) -> Iterator[PlannedWall]:
    def spot(along: int) -> Spot:
        return (along, at) if axis == "x" else (at, along)

    top = storey.height + storey.ceiling
    begin = lo
    for start, end, low, high in sorted(_in_line(axis, at, lo, hi, holes)):
        if start > begin:
            yield PlannedWall(spot(begin), spot(start), bottom, top, thick)
        if storey.height + low > bottom:
            yield PlannedWall(spot(start), spot(end), bottom, storey.height + low, thick)
        if storey.height + high < top:
            yield PlannedWall(spot(start), spot(end), storey.height + high, top, thick)
        begin = end
    if hi > begin:
        yield PlannedWall(spot(begin), spot(hi), bottom, top, thick)


def _in_line(
    axis: Axis, at: int, lo: int, hi: int, holes: Sequence[Hole]
) -> Iterator[tuple[int, int, int, int]]:
    for a, b, low, high in holes:
        along, across = (0, 1) if axis == "x" else (1, 0)
        if a[across] == b[across] == at:
            start, end = min(a[along], b[along]), max(a[along], b[along])
            if lo <= start and end <= hi:
                yield (start, end, low, high)


_LEAST_WAY = NARROWEST + 300
"""Minimum length of a wall between cells for a doorway with its jambs."""
_FRONTS = ("entryway", "hallway", "living room", "family room", "dining room", "kitchen")


@dataclass(frozen=True)
class StairGap:
    """Interval ``lo`` to ``hi`` of a cell's wall where stairs meet the spine."""

    cell: int
    axis: Axis
    at: int
    lo: int
    hi: int
    head: bool


@dataclass
class StoreyDraft:
    """Storey being planned; cells are numbered from 0.

    Attributes:
        storey: heights and footprint.
        cells: rooms and voids.
        inner: room outlines by cell.
        levels: floor heights by cell.
        landing: cell to which stairs from below lead.
    """

    storey: PlannedStorey
    cells: list[StoreyCell]
    inner: dict[int, Outline]
    walls: list[WallStretch]
    edge: Outline
    levels: dict[int, int]
    outer: int
    doorways: list[Doorway] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    ramps: list[StairFlight] = field(default_factory=list)
    parapets: list[PlannedWall] = field(default_factory=list)
    landing: int | None = None

    @property
    def kinds(self) -> dict[int, str]:
        """Room kinds by cell, without voids."""
        return {i: c.kind for i, c in enumerate(self.cells) if c.kind is not None}


def hall_cells(dice: Rng, frame: SpineFrame, halls: int) -> list[StoreyCell]:
    """Return the cells of the spine: the living room, one hall or two."""
    spine = list(frame.spine)
    if halls == 0:
        return [StoreyCell("living room", spine)]
    if halls == 1:
        return [StoreyCell("hallway", spine)]
    if len(spine) > 1:
        return [StoreyCell("hallway", spine[:1]), StoreyCell("hallway", spine[1:])]
    x0, z0, x1, z1 = spine[0]
    if x1 - x0 > z1 - z0:
        cut = x0 + int((x1 - x0) * dice.between(0.35, 0.65)) // 50 * 50
        halves = (x0, z0, cut, z1), (cut, z0, x1, z1)
    else:
        cut = z0 + int((z1 - z0) * dice.between(0.35, 0.65)) // 50 * 50
        halves = (x0, z0, x1, cut), (x0, cut, x1, z1)
    return [StoreyCell("hallway", [half]) for half in halves]


def draw_storey(storey: PlannedStorey, cells: list[StoreyCell], outer: int) -> StoreyDraft | None:
    """Return a storey's rooms with outlines and walls; None if a room is no simple polygon."""
    edge = union_outline([rect for cell in cells for rect in cell.rects])
    if edge is None:
        return None
    outlines = {}
    for i, cell in enumerate(cells):
        outline = union_outline(cell.rects)
        if outline is None:
            return None
        outlines[i] = outline
    inner = {i: inset_outline(o, HALF) for i, o in outlines.items() if cells[i].kind is not None}
    whole = replace(storey, footprint=inset_outline(edge, HALF - outer))
    levels = dict.fromkeys(inner, storey.height)
    return StoreyDraft(whole, cells, inner, wall_stretches(outlines), edge, levels, outer)


def add_doorways(
    dice: Rng, drawn: StoreyDraft, gaps: Sequence[StairGap], ground: bool, easy: bool
) -> bool:
    """Add the doorways of a storey; return False if no acceptable set was found.

    Args:
        dice: its own random stream.
        drawn: the storey, modified in place.
        gaps: intervals where stairs meet the spine.
        ground: whether the entrance is from outdoors.
        easy: whether all doorways are wide and without sills, as for a wheelchair.
    """
    kinds = drawn.kinds
    doors = DoorwayPlacer(drawn.walls, drawn.inner, kinds, drawn.outer, easy)
    for gap in gaps:
        if not _gap(drawn, doors, gap):
            return False
    beside = adjacent_cells(drawn.walls, list(kinds), _LEAST_WAY)
    for cell, kind in kinds.items():
        if kind == "stairwell":
            for other in beside.pop(cell, []):
                beside[other].remove(cell)
    root = _root(dice, drawn, ground)
    if root is None:
        return False
    indoors = {i: k for i, k in kinds.items() if k != "stairwell"}
    own = {i: drawn.cells[i].own for i in indoors}
    ways = cheapest_tree(indoors, own, beside, root)
    if ways is None or not _washed(kinds, ways):
        return False
    if ground and not doors.out(dice, root):
        return False
    for way in sorted(ways, key=lambda way: _room(drawn, way)):
        if not doors.between(dice, way.a, way.b):
            return False
    for way in draw_loops(dice, indoors, own, beside, ways):
        doors.between(dice, way.a, way.b)
    drawn.doorways = doors.built
    return True


def _room(drawn: StoreyDraft, way: CellOpening) -> int:
    """Return the length of the longest shared wall; short walls come first, having least choice."""
    return max(w.length for w in drawn.walls if {w.minus, w.plus} == {way.a, way.b})


def _gap(drawn: StoreyDraft, doors: DoorwayPlacer, gap: StairGap) -> bool:
    """Add an opening at the foot of stairs, or a hole in the wall at their head."""
    for wall in drawn.walls:
        if gap.cell not in (wall.minus, wall.plus) or (wall.axis, wall.at) != (gap.axis, gap.at):
            continue
        hall = wall.other(gap.cell)
        if hall is None or not wall.lo <= gap.lo < gap.hi <= wall.hi:
            continue
        if drawn.cells[hall].kind not in ("hallway", "living room"):
            continue
        if gap.head:
            drawn.landing = hall
            ends = wall.spot(gap.lo), wall.spot(gap.hi)
            drawn.holes.append((*ends, 0, drawn.storey.ceiling - 200))
            doors.before.append(wall.rect(gap.lo, gap.hi, -900, 900))
        else:
            doors.add_fixed(wall, gap.lo, gap.hi, hall, gap.cell)
        return True
    return False


def _root(dice: Rng, drawn: StoreyDraft, ground: bool) -> int | None:
    """Return the cell of the entrance: at the front door, or at the head of the stairs."""
    if not ground:
        return drawn.landing
    outside = {
        cell
        for wall in drawn.walls
        if None in (wall.minus, wall.plus) and wall.length >= 1160
        for cell in (wall.minus, wall.plus)
    }
    for kind in _FRONTS:
        found = [i for i, k in drawn.kinds.items() if k == kind and i in outside]
        if found and (kind != "hallway" or dice.chance(0.9)):
            return dice.pick(found)
    return None


def _washed(kinds: Mapping[int, str], ways: Sequence[CellOpening]) -> bool:
    """Check whether a storey with bathrooms has one that is not reached through a bedroom."""
    baths = [w for w in ways if kinds[w.b] == "bathroom"]
    return not baths or any(kinds[w.a] not in ("bedroom", "dressing room") for w in baths)


def cut_walls(drawn: StoreyDraft) -> list[PlannedWall]:
    """Return the storey's walls with all openings cut out."""
    holes = list(drawn.holes)
    base = drawn.storey.height
    for doorway in drawn.doorways:
        sides = [doorway.a] if doorway.b is None else [doorway.a, doorway.b]
        floor = max(drawn.levels[cell] for cell in sides) - base
        head = floor + doorway.threshold + doorway.height
        holes.append((*doorway.jambs, floor, min(head, drawn.storey.ceiling)))
    for window in drawn.windows:
        floor = drawn.levels[window.room] - base
        holes.append((*window.jambs, floor + window.sill, floor + window.head))
    levels = {i: v for i, v in drawn.levels.items() if KINDS[drawn.kinds[i]].zone != "outdoor"}
    walls = build_walls(drawn.storey, drawn.edge, drawn.walls, levels, holes, drawn.outer)
    return [*walls, *drawn.parapets]


def planned_rooms(drawn: StoreyDraft, first: int) -> list[PlannedRoom]:
    """Return the storey's rooms, numbered from ``first`` in the order of cells."""
    return [
        PlannedRoom(
            first + n, kind, KINDS[kind].zone, drawn.storey.floor, drawn.inner[i], drawn.levels[i]
        )
        for n, (i, kind) in enumerate(sorted(drawn.kinds.items()))
    ]
