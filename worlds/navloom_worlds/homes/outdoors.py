"""Balconies and patios: a room outdoors before an outer wall, a door onto it, and a parapet."""

from __future__ import annotations

from dataclasses import replace

from navloom_worlds.homes.dice import Dice
from navloom_worlds.homes.doors import Doors
from navloom_worlds.homes.floorplan import Doorway, PlannedWall
from navloom_worlds.homes.layout import Cell
from navloom_worlds.homes.rectilinear import Stretch, corners, overlap, rect_of
from navloom_worlds.homes.storeys import HALF, DrawnStorey

_ORDER = ("living room", "dining room", "kitchen", "family room", "bedroom", "office", "hallway")
_LEAST_WALL = 2300
_LONGEST, _LEAST_DEPTH, _MOST_DEPTH = 6000, 1300, 3600
_PARAPET = 100
_LOWER = (0, 0, 20, 50, 120, 150)
"""How far its floor lies below the storey's, in mm."""


def put_outdoors(dice: Dice, drawn: DrawnStorey, extent: float) -> bool:
    """A balcony, or a patio on the ground, of about so many square metres; False: no place."""
    kind = "patio" if drawn.storey.floor == 1 else "balcony"
    rank = {kind: i for i, kind in enumerate(_ORDER)}
    places = []
    for wall in drawn.walls:
        cell = wall.plus if wall.minus is None else wall.minus
        if None not in (wall.minus, wall.plus) or cell not in drawn.kinds:
            continue
        if wall.length >= _LEAST_WALL and drawn.kinds[cell] in rank:
            places.append((rank[drawn.kinds[cell]] + dice.between(0, 2.5), wall, cell))
    for _, wall, cell in sorted(places, key=lambda place: place[0]):
        if _built(dice, drawn, kind, extent, wall, cell):
            return True
    return False


def _built(
    dice: Dice, drawn: DrawnStorey, kind: str, extent: float, wall: Stretch, cell: int
) -> bool:
    sign, face = -wall.inward(cell), drawn.outer - HALF
    lo = wall.lo + _PARAPET
    long = min(wall.hi - _PARAPET - lo, _LONGEST)
    deep = min(max(int(extent * 1e6 / long) // 50 * 50, _LEAST_DEPTH), _MOST_DEPTH)
    rect = wall.rect(lo, lo + long, sign * face, sign * (face + deep))
    taken = wall.rect(
        lo - _PARAPET, lo + long + _PARAPET, sign * face, sign * (face + deep + _PARAPET)
    )
    house = (r for c in drawn.cells for r in c.rects)
    if any(overlap(taken, (r[0] - face, r[1] - face, r[2] + face, r[3] + face)) for r in house):
        return False
    number = len(drawn.cells)
    ends = (cell, number) if wall.minus == cell else (number, cell)
    beyond = Stretch(wall.axis, wall.at, lo, lo + long, *ends)
    doors = Doors([beyond], drawn.inner, {**drawn.kinds, number: kind}, drawn.outer)
    doors.swings = [rect_of(d.swing) for d in drawn.doorways if d.swing]
    for doorway in drawn.doorways:
        x0, z0, x1, z1 = rect_of(doorway.jambs)
        doors.before.append((x0 - 300, z0 - 300, x1 + 300, z1 + 300))
    if not doors.between(dice, cell, number, "wide"):
        return False
    drawn.doorways.append(_thick(doors.built[0], wall, sign, drawn.outer))
    drawn.cells.append(Cell(kind, [rect]))
    drawn.inner[number] = corners(rect)
    drawn.levels[number] = drawn.storey.height - dice.pick(_LOWER)
    if kind == "balcony":
        drawn.parapets += _parapet(drawn, beyond, sign * face, sign * (face + deep))
    return True


def _thick(doorway: Doorway, wall: Stretch, sign: int, outer: int) -> Doorway:
    """The same doorway in an outer wall."""
    along = 0 if wall.axis == "x" else 1
    ends = [wall.spot(jamb[along], sign * (outer // 2 - HALF)) for jamb in doorway.jambs]
    return replace(doorway, jambs=(ends[0], ends[1]), thickness=outer)


def _parapet(drawn: DrawnStorey, wall: Stretch, near: int, far: int) -> list[PlannedWall]:
    """Low walls on the three free sides, none in another."""
    half = _PARAPET // 2
    out = half if far > near else -half
    bottom, top = drawn.storey.height - max(_LOWER), drawn.storey.height + 1000
    lines = [(wall.spot(wall.lo - _PARAPET, far + out), wall.spot(wall.hi + _PARAPET, far + out))]
    lines += [(wall.spot(at, near), wall.spot(at, far)) for at in (wall.lo - half, wall.hi + half)]
    return [PlannedWall(a, b, bottom, top, _PARAPET) for a, b in lines]
