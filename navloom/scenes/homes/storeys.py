"""One storey drawn up: cells, doors, windows and walls, within its frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from navloom.scenes.homes.access import Way, neighbours, rounds, tree
from navloom.scenes.homes.dice import Dice
from navloom.scenes.homes.doors import Doors
from navloom.scenes.homes.floorplan import Doorway, Outline, PlannedWall, Room, Storey, Window
from navloom.scenes.homes.frame import Frame
from navloom.scenes.homes.layout import Cell
from navloom.scenes.homes.programme import KINDS
from navloom.scenes.homes.rectilinear import Axis, Rect, Stretch, inset, overlap, stretches, union
from navloom.scenes.homes.walls import Hole, build_walls
from navloom.scenes.homes.windows import put_windows

_HALF = 50
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
    landing: int | None = None

    @property
    def kinds(self) -> dict[int, str]:
        """Of rooms alone."""
        return {i: c.kind for i, c in enumerate(self.cells) if c.kind is not None}


def halls_of(dice: Dice, frame: Frame, halls: int) -> list[Cell]:
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
    inner = {i: inset(o, _HALF) for i, o in outlines.items() if cells[i].kind is not None}
    whole = replace(storey, footprint=inset(edge, _HALF - outer))
    levels = dict.fromkeys(inner, storey.height)
    return DrawnStorey(whole, cells, inner, stretches(outlines), edge, levels, outer)


def furnish_ways(
    dice: Dice, drawn: DrawnStorey, gaps: Sequence[Gap], balconies: Sequence[float], ground: bool
) -> bool:
    """Put in doorways, balconies and windows; False where that cannot be done well."""
    kinds = drawn.kinds
    doors = Doors(drawn.walls, drawn.inner, kinds, drawn.outer)
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
    for way in rounds(dice, indoors, beside, ways):
        doors.between(dice, way.a, way.b)
    drawn.doorways = doors.built
    for extent in balconies:
        if not _balcony(dice, drawn, extent):
            return False
    indoor_kinds = {i: k for i, k in drawn.kinds.items() if k != "balcony"}
    drawn.windows = put_windows(dice, drawn.walls, indoor_kinds, drawn.doorways, drawn.outer)
    return True


def _sever(beside: dict[int, list[int]], cell: int) -> None:
    for other in beside.pop(cell, []):
        beside[other].remove(cell)


def _room(drawn: DrawnStorey, way: Way) -> int:
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
        if None in (wall.minus, wall.plus) and wall.length >= 1500
        for cell in (wall.minus, wall.plus)
    }
    for kind in _FRONTS:
        found = [i for i, k in drawn.kinds.items() if k == kind and i in outside]
        if found and (kind != "hallway" or dice.chance(0.9)):
            return dice.pick(found)
    return None


def _washed(kinds: Mapping[int, str], ways: Sequence[Way]) -> bool:
    """Whether a storey with bathrooms has one that is not reached through a bedroom."""
    baths = [w for w in ways if kinds[w.b] == "bathroom"]
    return not baths or any(kinds[w.a] not in ("bedroom", "dressing room") for w in baths)


def _balcony(dice: Dice, drawn: DrawnStorey, extent: float) -> bool:
    """A balcony, or a terrace on the ground, before the outer wall of a room."""
    order = ("living room", "dining room", "kitchen", "family room", "bedroom", "office", "hallway")
    rank = {kind: i for i, kind in enumerate(order)}
    places = []
    for wall in drawn.walls:
        cell = wall.plus if wall.minus is None else wall.minus
        if None not in (wall.minus, wall.plus) or cell not in drawn.kinds or wall.length < 2300:
            continue
        places.append((rank.get(drawn.kinds[cell], 9) + dice.between(0, 2.5), wall, cell))
    for _, wall, cell in sorted(places, key=lambda place: place[0]):
        sign = -wall.inward(cell)
        face = drawn.outer - _HALF
        lo = wall.lo + (0 if dice.chance(0.5) else 100)
        long = min(wall.hi - 100 - lo, 6000)
        deep = min(max(int(extent * 1e6 / long) // 50 * 50, 1300), 3600)
        taken = wall.rect(lo - 100, lo + long + 100, sign * face, sign * (face + deep + 100))
        if any(
            overlap(taken, (r[0] - face, r[1] - face, r[2] + face, r[3] + face))
            for c in drawn.cells
            for r in c.rects
        ):
            continue
        number = len(drawn.cells)
        rect = wall.rect(lo, lo + long, sign * face, sign * (face + deep))
        beyond = Stretch(wall.axis, wall.at, lo, lo + long, *_sides(wall, cell, number))
        doors = Doors([beyond], drawn.inner, {**drawn.kinds, number: "balcony"}, drawn.outer)
        doors.built = drawn.doorways
        doors.swings = [_bounds(d.swing) for d in drawn.doorways if d.swing]
        for doorway in drawn.doorways:
            x0, z0, x1, z1 = _bounds(doorway.jambs)
            doors.before.append((x0 - 300, z0 - 300, x1 + 300, z1 + 300))
        if not doors.between(dice, cell, number, "wide"):
            continue
        drawn.doorways[-1] = _thick(drawn.doorways[-1], wall, sign, drawn.outer)
        drawn.cells.append(Cell("balcony", [rect]))
        drawn.inner[number] = union([rect]) or ()
        drawn.levels[number] = drawn.storey.height - dice.pick((0, 0, 20, 50, 120, 150))
        return True
    return False


def _sides(wall: Stretch, cell: int, beyond: int) -> tuple[int, int]:
    return (cell, beyond) if wall.minus == cell else (beyond, cell)


def _bounds(spots: Outline) -> Rect:
    xs, zs = zip(*spots, strict=True)
    return min(xs), min(zs), max(xs), max(zs)


def _thick(doorway: Doorway, wall: Stretch, sign: int, outer: int) -> Doorway:
    """The same doorway in an outer wall."""
    off = sign * (outer // 2 - _HALF)
    along = 0 if wall.axis == "x" else 1
    ends = [wall.spot(jamb[along], off) for jamb in doorway.jambs]
    return replace(doorway, jambs=(ends[0], ends[1]), thickness=outer)


def solid(drawn: DrawnStorey) -> list[PlannedWall]:
    """The storey's walls, less all holes."""
    holes = list(drawn.holes)
    base = drawn.storey.height
    for doorway in drawn.doorways:
        over = base + doorway.height + doorway.threshold
        holes.append((*doorway.jambs, 0, min(over - base, drawn.storey.ceiling)))
    for window in drawn.windows:
        holes.append((*window.jambs, window.sill, window.head))
    levels = {i: level for i, level in drawn.levels.items() if drawn.kinds[i] != "balcony"}
    return build_walls(drawn.storey, drawn.edge, drawn.walls, levels, holes, drawn.outer)


def rooms_of(drawn: DrawnStorey, first: int) -> list[Room]:
    """Its rooms, numbered from ``first`` in the order of cells."""
    return [
        Room(first + n, kind, KINDS[kind].zone, drawn.storey.floor, drawn.inner[i], drawn.levels[i])
        for n, (i, kind) in enumerate(sorted(drawn.kinds.items()))
    ]
