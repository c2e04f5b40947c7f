"""Placement of doorways: position in the wall, width, door leaf and the floor that it sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from navloom.scenes.scene import Leaf
from navloom_worlds.homes.floorplan import Doorway, Outline
from navloom_worlds.homes.rectilinear import (
    Rect,
    WallStretch,
    covers_rect,
    rect_outline,
    rects_overlap,
)
from navloom_worlds.homes.rng import Rng

_JAMB = 150
"""Minimum distance of a jamb from the next corner's centre line: half a wall, and a frame."""
_STAIRS_HEAD = 2150
"""A person of 1.75 m with one foot on the second step still passes below it."""
_FREE = 450
"""Distance in front of a doorway within which no other leaf may sweep."""
NARROWEST = 680
"""Minimum clear width of a doorway: HUMAN passes between the strips of its frame."""
_SERVICE = ("closet", "storage", "pantry", "toilet")
_OPEN = ("living room", "dining room", "kitchen", "family room", "hallway", "entryway", "library")
_OUTDOORS = {"balcony", "patio"}
_WIDTHS: Mapping[str, tuple[int, ...]] = {
    "small": (680, 680, 690, 690, 700, 720, 750, 800),
    "bath": (680, 690, 700, 720, 750, 800, 850, 900),
    "room": (700, 740, 760, 800, 820, 860, 880, 900, 920, 950, 1000),
    "front": (860, 900, 950, 1000, 1050, 1100),
    "wide": (900, 950, 1000, 1100, 1200),
    "easy": (900, 950, 1000),
}
_SILLS = {0: 0.64, 8: 0.05, 10: 0.07, 13: 0.04, 15: 0.06, 18: 0.05, 20: 0.04, 30: 0.03, 50: 0.02}
_WET_SILLS = {0: 0.4, 10: 0.12, 15: 0.14, 18: 0.1, 20: 0.1, 30: 0.09, 50: 0.05}


@dataclass
class DoorwayPlacer:
    """Placer of the doorways of one storey, added one after the other.

    Attributes:
        walls: of the storey.
        inner: room outlines by cell.
        kinds: room kinds by cell.
        outer: thickness of outer walls.
        easy: whether all doorways are wide and without sills, as for a wheelchair.
    """

    walls: Sequence[WallStretch]
    inner: Mapping[int, Outline]
    kinds: Mapping[int, str]
    outer: int
    easy: bool = False
    built: list[Doorway] = field(default_factory=list)
    swings: list[Rect] = field(default_factory=list)
    before: list[Rect] = field(default_factory=list)
    """Floor in front of and in each doorway."""

    def between(self, dice: Rng, a: int, b: int, wish: str | None = None) -> bool:
        """Add a doorway between two cells; return False if none fits."""
        walls = [w for w in self.walls if {w.minus, w.plus} == {a, b}]
        walls = sorted(walls, key=lambda w: -w.length)[:2]
        kinds = (self.kinds[a], self.kinds[b])
        how = wish or ("opening" if self._joined(a, b) else _how(dice, kinds))
        if how == "opening":
            return any(self._opening(dice, wall, a, b) for wall in walls) or self.between(
                dice, a, b, "wide"
            )
        # A wider leaf would leave a small room no wall for its main furniture.
        easy = "easy" if how == "small" else "wide"
        widths = _WIDTHS[easy if self.easy else how]
        return any(self._door(dice, wall, a, b, widths) for wall in walls)

    def _joined(self, a: int, b: int) -> bool:
        """Check whether an open plan joins the kitchen with a dining or living area."""
        kinds = {self.kinds[a], self.kinds[b]}
        if "hallway" in self.kinds.values() or "kitchen" not in kinds:
            return False
        return bool(kinds & {*_OPEN[:4]} - {"kitchen"})

    def out(self, dice: Rng, cell: int, widths: tuple[int, ...] = _WIDTHS["front"]) -> bool:
        """Add a front door; return False if none fits."""
        walls = [w for w in self.walls if {w.minus, w.plus} == {cell, None}]
        order = dice.shuffled(walls)
        return any(self._door(dice, wall, cell, None, widths) for wall in order)

    def add_fixed(self, wall: WallStretch, lo: int, hi: int, a: int, b: int) -> None:
        """Add an opening at a given position, for example at the end of stairs."""
        ends = (wall.spot(lo), wall.spot(hi))
        self._keep(Doorway(a, b, None, ends, 100, _STAIRS_HEAD), wall, lo, hi)

    def _keep(self, doorway: Doorway, wall: WallStretch, lo: int, hi: int) -> None:
        self.built.append(doorway)
        self.before.append(wall.rect(lo, hi, -_FREE, _FREE))

    def _opening(self, dice: Rng, wall: WallStretch, a: int, b: int) -> bool:
        joined = self._joined(a, b)
        most = min(wall.length - 2 * _JAMB, 3600 if joined else 3200)
        if most < 900:
            return False
        least = 900 if "hallway" in (self.kinds[a], self.kinds[b]) else 1800 if joined else 1200
        if most < least:
            least = 900
        wide = least + 10 * dice.whole(0, (most - least) // 10)
        for _ in range(3):
            lo = wall.lo + _JAMB + 10 * dice.whole(0, (wall.length - 2 * _JAMB - wide) // 10)
            if self._free(wall, lo, lo + wide):
                height = dice.pick((2050, 2100, 2300))
                ends = (wall.spot(lo), wall.spot(lo + wide))
                self._keep(Doorway(a, b, None, ends, 100, height), wall, lo, lo + wide)
                return True
            wide = max(900, wide * 2 // 3 // 10 * 10)
        return False

    def _free(self, wall: WallStretch, lo: int, hi: int) -> bool:
        ways = wall.rect(lo, hi, -_FREE, _FREE)
        clear = wall.rect(lo - 100, hi + 100, -100, 100)
        return not any(rects_overlap(ways, s) for s in self.swings) and not any(
            rects_overlap(clear, b) for b in self.before
        )

    def _door(
        self, dice: Rng, side: WallStretch, a: int, b: int | None, sizes: tuple[int, ...]
    ) -> bool:
        first, last = (_JAMB, _JAMB) if b is not None else self._outer_jambs(side, a)
        long = side.length - first - last
        fitting = [w for w in sizes if w <= long]
        if not fitting:
            if long < NARROWEST or b is None:
                return False
            fitting = [NARROWEST]
        wide = dice.pick(fitting)
        leaf = self._leaf(dice, a, b)
        spare = long - wide
        places = [0, spare, min(150, spare), max(0, spare - 150), spare // 2]
        places += [10 * dice.whole(0, spare // 10) for _ in range(3)]
        order = dice.shuffled(places[:4]) + places[4:] if dice.chance(0.7) else places[::-1]
        for place in order:
            lo = side.lo + first + place
            if not self._free(side, lo, lo + wide):
                continue
            if leaf == "hinged" and self._hinged(dice, side, lo, lo + wide, a, b):
                return True
        for place in order:
            lo = side.lo + first + place
            if b is not None and self._free(side, lo, lo + wide):
                kind: Leaf = leaf if leaf != "hinged" else "sliding"
                doorway = self._doorway(dice, side, lo, lo + wide, a, b, kind)
                self._keep(doorway, side, lo, lo + wide)
                return True
        return False

    def _outer_jambs(self, wall: WallStretch, cell: int) -> tuple[int, int]:
        """Return the minimum jamb distance at both ends of an outer wall: more at inner corners."""
        out = -wall.inward(cell)
        found = []
        for end in (wall.lo, wall.hi):
            inner_corner = any(
                w.axis != wall.axis and w.at == end and w.lo < wall.at + out < w.hi
                for w in self.walls
            )
            found.append(self.outer if inner_corner else _JAMB)
        return found[0], found[1]

    def _leaf(self, dice: Rng, a: int, b: int | None) -> Leaf:
        kinds = {self.kinds[a], self.kinds[b] if b is not None else "out"}
        if kinds & _OUTDOORS:
            return "sliding" if dice.chance(0.7) else "hinged"
        if "elevator" in kinds:
            return "sliding"
        if kinds & {"closet", "pantry", "laundry", "dressing room", "storage"}:
            weights: dict[Leaf, float] = {"hinged": 0.55, "folding": 0.25, "sliding": 0.2}
            return dice.weighted(weights)
        return "sliding" if b is not None and dice.chance(0.08) else "hinged"

    def _hinged(
        self, dice: Rng, wall: WallStretch, lo: int, hi: int, a: int, b: int | None
    ) -> bool:
        """Add a hinged door that opens into the room where its leaf obstructs least."""
        thick = 100 if b is not None else self.outer
        choices = [a] if b is None else [b, a]
        if b is not None and self.kinds[b] in _SERVICE and self.kinds[a] not in _SERVICE:
            # A leaf that opens into a toilet leaves no room for the fixtures.
            out = self.kinds[b] == "toilet" or dice.chance(0.4)
            choices = [a, b] if out else [b, a]
        choices = [
            c for c in choices if c in self.inner and self.kinds[c] not in ("stairwell", "elevator")
        ]
        for into in choices:
            sign = wall.inward(into)
            swing = wall.rect(lo, hi, sign * 50, sign * (50 + hi - lo))
            if not covers_rect(self.inner[into], swing):
                continue
            if any(rects_overlap(swing, other) for other in (*self.swings, *self.before)):
                continue
            hinge = self._hinge(dice, wall, lo, hi)
            doorway = self._doorway(dice, wall, lo, hi, a, b, "hinged", thick)
            turned = replace(doorway, hinge=hinge, swings_into=into, swing=rect_outline(swing))
            self.swings.append(swing)
            self._keep(turned, wall, lo, hi)
            return True
        return False

    def _hinge(self, dice: Rng, wall: WallStretch, lo: int, hi: int) -> Literal[0, 1]:
        """Return the jamb of the hinge: a leaf opens against the nearer corner."""
        if abs((lo - wall.lo) - (wall.hi - hi)) < 300:
            return 1 if dice.whole(0, 1) else 0
        return 0 if lo - wall.lo < wall.hi - hi else 1

    def _doorway(
        self,
        dice: Rng,
        wall: WallStretch,
        lo: int,
        hi: int,
        a: int,
        b: int | None,
        leaf: Leaf,
        thick: int = 100,
    ) -> Doorway:
        kinds = {self.kinds[a], self.kinds[b] if b is not None else "out"}
        wet = kinds & {"bathroom", "toilet", "balcony", "patio", "garage", "laundry", "out"}
        level = self.easy or "elevator" in kinds
        sill = 0 if level else dice.weighted(_WET_SILLS if wet else _SILLS)
        shut = b is None or dice.chance(
            0.5 if kinds & {"garage", "closet", "balcony", "patio", "storage"} else 0.2
        )
        off = 0 if b is not None else -wall.inward(a) * (self.outer // 2 - 50)
        return Doorway(
            a,
            b,
            leaf,
            (wall.spot(lo, off), wall.spot(hi, off)),
            thick,
            dice.pick((2000, 2030, 2050, 2100)),
            sill,
            "closed" if shut else "open",
        )


def _how(dice: Rng, kinds: tuple[str, str]) -> str:
    """Sample the type of doorway between two kinds of room: an opening or a class of widths."""
    if all(kind in _OPEN for kind in kinds):
        share = 0.75 if "hallway" not in kinds else 0.45
        if kinds == ("hallway", "hallway") or "entryway" in kinds:
            share = 0.7
        if "library" in kinds:
            share = 0.2
        return "opening" if dice.chance(share) else "wide"
    if "stairwell" in kinds:
        return "wide"
    if _OUTDOORS & {*kinds}:
        return "wide"
    if any(kind in _SERVICE for kind in kinds):
        return "small"
    if "bathroom" in kinds or "laundry" in kinds:
        return "bath"
    return "room"
