"""One storey drawn up: cells, doors, windows and walls, within its frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from navloom_worlds.homes.access import CellOpening, neighbours, rounds, tree
from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.doors import Doors
from navloom_worlds.homes.floorplan import (
    Doorway,
    Flight,
    Outline,
    PlannedWall,
    Room,
    Storey,
    Window,
)
from navloom_worlds.homes.frame import SpineFrame
from navloom_worlds.homes.layout import Cell
from navloom_worlds.homes.programme import KINDS
from navloom_worlds.homes.rectilinear import Axis, Stretch, inset, stretches, union
from navloom_worlds.homes.walls import Hole, build_walls

HALF = 50
_LEAST_WAY = 900
"""Walls between cells that are shorter hold no doorway: 600 and its jambs."""
_FRONTS = ("entryway", "hallway", "living room", "family room", "dining room", "kitchen")


@dataclass(frozen=True)
class Gap:
    """Where stairs meet the spine: in a wall of a cell, from ``lo`` to ``hi`` along it."""

    cell: int
    axis: Axis
    at: int
    lo: int
    hi: int
    head: bool


@dataclass
class DrawnStorey:
    """A storey in the making; cells are numbered from 0.

    Attributes:
        storey: its heights and footprint.
        cells: rooms and voids.
        inner: the outlines of rooms, by cell.
        levels: heights of floors, by cell.
        landing: the cell that stairs from below lead to.
    """

    storey: Storey
    cells: list[Cell]
    inner: dict[int, Outline]
    walls: list[Stretch]
    edge: Outline
    levels: dict[int, int]
    outer: int
    doorways: list[Doorway] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    ramps: list[Flight] = field(default_factory=list)
    parapets: list[PlannedWall] = field(default_factory=list)
    landing: int | None = None

    @property
    def kinds(self) -> dict[int, str]:
        """Of rooms alone."""
        return {i: c.kind for i, c in enumerate(self.cells) if c.kind is not None}


def halls_of(dice: Dice, frame: SpineFrame, halls: int) -> list[Cell]:
    """The spine as rooms: the living room, one hall or two."""
    spine = list(frame.spine)
    if halls == 0:
        return [Cell("living room", spine)]
    if halls == 1:
        return [Cell("hallway", spine)]
    if len(spine) > 1:
        return [Cell("hallway", [rect]) for rect in spine[:2]]
    x0, z0, x1, z1 = spine[0]
    if x1 - x0 > z1 - z0:
        cut = x0 + int((x1 - x0) * dice.between(0.35, 0.65)) // 50 * 50
        return [Cell("hallway", [(x0, z0, cut, z1)]), Cell("hallway", [(cut, z0, x1, z1)])]
    cut = z0 + int((z1 - z0) * dice.between(0.35, 0.65)) // 50 * 50
    return [Cell("hallway", [(x0, z0, x1, cut)]), Cell("hallway", [(x0, cut, x1, z1)])]


def draw_storey(storey: Storey, cells: list[Cell], outer: int) -> DrawnStorey | None:
    """Cells as rooms with outlines and walls; None where they make no house."""
    edge = union([rect for cell in cells for rect in cell.rects])
    if edge is None:
        return None
    outlines = {}
    for i, cell in enumerate(cells):
        outline = union(cell.rects)
        if outline is None:
            return None
        outlines[i] = outline
    inner = {i: inset(o, HALF) for i, o in outlines.items() if cells[i].kind is not None}
    whole = replace(storey, footprint=inset(edge, HALF - outer))
    levels = dict.fromkeys(inner, storey.height)
    return DrawnStorey(whole, cells, inner, stretches(outlines), edge, levels, outer)


def put_ways(dice: Dice, drawn: DrawnStorey, gaps: Sequence[Gap], ground: bool, easy: bool) -> bool:
    """Put in doorways; False where people could not live with them.

    Args:
        dice: its own.
        drawn: what they are put into.
        gaps: where stairs meet the spine.
        ground: whether one comes in from outdoors.
        easy: whether all ways are wide and without sills, as for a wheelchair.
    """
    kinds = drawn.kinds
    doors = Doors(drawn.walls, drawn.inner, kinds, drawn.outer, easy)
    for gap in gaps:
        if not _gap(drawn, doors, gap):
            return False
    beside = neighbours(drawn.walls, list(kinds), _LEAST_WAY)
    for cell, kind in kinds.items():
        if kind == "stairwell":
            _sever(beside, cell)
    root = _root(dice, drawn, ground)
    if root is None:
        return False
    indoors = {i: k for i, k in kinds.items() if k != "stairwell"}
    own = {i: drawn.cells[i].own for i in indoors}
    ways = tree(indoors, own, beside, root)
    if ways is None or not _washed(kinds, ways):
        return False
    if ground and not doors.out(dice, root):
        return False
    for way in sorted(ways, key=lambda way: _room(drawn, way)):
        if not doors.between(dice, way.a, way.b):
            return False
    for way in rounds(dice, indoors, own, beside, ways):
        doors.between(dice, way.a, way.b)
    drawn.doorways = doors.built
    return True


def _sever(beside: dict[int, list[int]], cell: int) -> None:
    for other in beside.pop(cell, []):
        beside[other].remove(cell)


def _room(drawn: DrawnStorey, way: CellOpening) -> int:
    """Ways through short walls first: they have least choice."""
    return max(w.length for w in drawn.walls if {w.minus, w.plus} == {way.a, way.b})


def _gap(drawn: DrawnStorey, doors: Doors, gap: Gap) -> bool:
    """An opening at the foot of stairs, or none but the hole at their head."""
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
            doors.fixed(wall, gap.lo, gap.hi, hall, gap.cell)
        return True
    return False


def _root(dice: Dice, drawn: DrawnStorey, ground: bool) -> int | None:
    """Where one comes in: by the front door, or up the stairs."""
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
    """Whether a storey with bathrooms has one that is not reached through a bedroom."""
    baths = [w for w in ways if kinds[w.b] == "bathroom"]
    return not baths or any(kinds[w.a] not in ("bedroom", "dressing room") for w in baths)


def solid(drawn: DrawnStorey) -> list[PlannedWall]:
    """The storey's walls, less all holes."""
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
    return walls + drawn.parapets


def rooms_of(drawn: DrawnStorey, first: int) -> list[Room]:
    """Its rooms, numbered from ``first`` in the order of cells."""
    return [
        Room(first + n, kind, KINDS[kind].zone, drawn.storey.floor, drawn.inner[i], drawn.levels[i])
        for n, (i, kind) in enumerate(sorted(drawn.kinds.items()))
    ]
