"""Where a body can be in a scene, how far that is from anywhere, and by which way.

The walkable field of the scene's mesh (:mod:`navloom.scenes.geometry.walkable`) dilated by half the
body's width, with its head room and what it climbs. Places are cells of 5 cm; ways between them are
taut strings, not steps of a grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene
from navloom.scenes.geometry.columns import Grid
from navloom.scenes.geometry.mesh import scene_mesh
from navloom.scenes.geometry.walkable import WalkableField, walkable_field
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.space.marching import Marched, Places, marched

_STAIR = 0.25
_SMOOTHED = 16
"""Times that heights are averaged with those beside them: treads of 0.25 m become a slope."""
_BESIDE = 1.6
"""Cells: a position so near to a place is taken to be on it."""
_EDGE = 0.001
"""Metres: what is so near to the border of a cell is on it."""
_UPRIGHT = 3.0
"""How much more a metre of height counts than one aside where the nearest place is sought."""
_KEPT = 8
"""Marches that a field remembers."""
_OFF = 0.03
"""Metres that a way may be off the floor between its points."""

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Way:
    """A shortest way.

    Attributes:
        points: from the start to the goal, on the floor; straight from one to the next.
        metres: its length, slopes counted.
    """

    points: tuple[Point3, ...]
    metres: float


@dataclass(frozen=True, eq=False)
class BodyField:
    """The places where the middle of a body may be.

    Attributes:
        body: whose.
        ground: what they were found as; part 0 is where most viewpoints are.
        place: (n,) int32, the place of ``ground`` that each free place is.
    """

    body: Embodiment
    ground: WalkableField
    place: Ints

    def __len__(self) -> int:
        return len(self.place)

    @property
    def grid(self) -> Grid:
        """The cells."""
        return self.ground.grid

    @cached_property
    def height(self) -> Floats:
        """(n,) y of the floor of each place, in metres."""
        return self.ground.height[self.place]

    @cached_property
    def part(self) -> Ints:
        """(n,) what each hangs together with; 0 is where most viewpoints are."""
        return self.ground.part[self.place]

    @cached_property
    def at_cells(self) -> Ints:
        """(n,) the cell of each place, in order."""
        return self.ground.cell[self.place]

    @cached_property
    def places(self) -> Places:
        """The places as marches see them."""
        back = np.full(len(self.ground.cell) + 1, -1, dtype=np.int32)
        back[self.place] = np.arange(len(self.place), dtype=np.int32)
        beside = back[self.ground.beside[self.place]]
        along, across = np.divmod(self.at_cells, self.grid.deep)
        lift = _smoothed(self.height, beside) / self.grid.cell
        return Places(along.astype(np.int32), across.astype(np.int32), lift, beside)

    @cached_property
    def _tree(self) -> KDTree:
        at = self.grid.middles(self.at_cells)
        return KDTree(np.stack([at[:, 0], self.height * _UPRIGHT, at[:, 1]], axis=1))

    def position(self, place: int) -> Point3:
        """Where the middle of a place is, in metres."""
        x, z = self.grid.middles(self.at_cells[place : place + 1])[0]
        return round(float(x), 3), round(float(self.height[place]), 3), round(float(z), 3)

    def at(self, position: Point3) -> int:
        """The place at a position (x, y of the floor, z); -1 where the body cannot stand."""
        x, y, z = position
        if not all(map(math.isfinite, position)):
            return -1
        reach = max(_STAIR, self.ground.step)
        # A way along the border of cells is on either side of it.
        cells = {self.grid.at(x + u, z + w) for u in (-_EDGE, _EDGE) for w in (-_EDGE, _EDGE)}
        near: list[tuple[float, int]] = []
        for cell in cells - {-1}:
            first, last = np.searchsorted(self.at_cells, [cell, cell + 1])
            near += [(abs(self.height[k] - y), int(k)) for k in range(first, last)]
        off, place = min(near, default=(math.inf, -1))
        return place if off <= reach else -1

    def stands(self, position: Point3) -> bool:
        """Whether the middle of the body can be at a position (x, y of the floor, z)."""
        return self.at(position) >= 0

    def nearest(self, position: Point3) -> Point3 | None:
        """Where the body can stand nearest to a position; None where there is no place at all."""
        here = self.at(position)
        if here >= 0:
            return position[0], round(float(self.height[here]), 3), position[2]
        if not len(self.place) or not all(map(math.isfinite, position)):
            return None
        x, y, z = position
        return self.position(int(self._tree.query((x, y * _UPRIGHT, z))[1]))

    def _on(self, position: Point3) -> tuple[int, float, float] | None:
        """The place at a position or just beside it, and where that is in cells."""
        here = self.at(position)
        u = (position[0] - self.grid.x) / self.grid.cell
        w = (position[2] - self.grid.z) / self.grid.cell
        if here >= 0:
            return here, u, w
        near = self.nearest(position)
        if near is None:
            return None
        here = self.at(near)
        i, j = float(self.places.along[here]), float(self.places.across[here])
        off = abs(near[1] - position[1])
        beside = math.hypot(u - i, w - j) <= _BESIDE and off <= max(_STAIR, self.ground.step)
        return (here, i, j) if beside else None

    def distances(self, goals: Sequence[Point3]) -> Floats:
        """How far each place is from the nearest goal.

        Args:
            goals: positions; one on which the body cannot stand is none.

        Returns:
            (n,) float64 metres over the floor, slopes counted; infinite where no way leads. That
            of a position is ``distances(goals)[field.at(position)]``, to half a cell.
        """
        metres: Floats = self._march(goals).cells[: len(self)] * self.grid.cell
        return metres

    def way(self, start: Point3, goals: Sequence[Point3]) -> Way | None:
        """The shortest way to the nearest goal, taut round corners; None where there is none.

        Args:
            start: a position on the floor.
            goals: such positions; one on which the body cannot stand is none.
        """
        begun, ends = self._on(start), [self._on(goal) for goal in goals]
        held = [each for each in ends if each is not None]
        if begun is None or not held:
            return None
        found = marched(self.places, [begun], [place for place, _, _ in held])
        best = min((_reached(self.places, found, end) for end in held), key=lambda each: each[0])
        if not math.isfinite(best[0]):
            return None
        turns = list(reversed(_taut(self.places, best[1])))
        length = sum(self.places.sees(a[0], a[1:], b[0], b[1:]) for a, b in pairwise(turns))
        return Way(self._laid(turns), length * self.grid.cell)

    def _march(self, goals: Sequence[Point3]) -> Marched:
        held = [on for goal in goals if (on := self._on(goal)) is not None]
        return marched(self.places, held)

    def _laid(self, turns: Sequence[tuple[int, float, float]]) -> tuple[Point3, ...]:
        return tuple(
            (
                round(self.grid.x + u * self.grid.cell, 3),
                round(float(self.height[place]), 3),
                round(self.grid.z + w * self.grid.cell, 3),
            )
            for place, u, w in turns
        )


_Spot = tuple[int, float, float]


def _reached(places: Places, found: Marched, end: _Spot) -> tuple[float, list[_Spot]]:
    """How far it is to an end, and the turns from there back to the goal of the march."""
    place, u, w = end
    best, first = math.inf, -1
    for k in {int(found.via[place]), place} - {-1}:
        base = int(found.base[k])
        long = places.sees(base, (float(found.x[k]), float(found.z[k])), place, (u, w))
        if long >= 0 and found.cells[k] + long < best:
            best, first = float(found.cells[k]) + long, k
    turns = [end]
    while first >= 0:
        turns.append((int(found.base[first]), float(found.x[first]), float(found.z[first])))
        first = int(found.via[first])
    return best, turns


def _taut(places: Places, turns: list[_Spot]) -> list[_Spot]:
    """The turns that remain when each straight way goes as far as it can."""
    kept, i = [turns[0]], 0
    while i < len(turns) - 1:
        here = turns[i]
        farther = range(len(turns) - 1, i + 1, -1)
        i = next(
            (j for j in farther if places.sees(here[0], here[1:], turns[j][0], turns[j][1:]) >= 0),
            i + 1,
        )
        kept.append(turns[i])
    return kept


def body_field(scene: Scene, body: Embodiment) -> BodyField:
    """Where a body can be in a scene; made once per scene and body.

    Raises:
        SceneError: the scene has no geometry, or covers more ground than a field may have.
        SimulatorError: embreex is not installed.
    """
    return per_scene(scene, f"field {body.model_dump_json()}", lambda: _made(scene, body))


def _made(scene: Scene, body: Embodiment) -> BodyField:
    step = max(body.max_step, _STAIR) if body.stairs else body.max_step
    ground = walkable_field(scene_mesh(scene), body=body.width / 2, head=body.height, step=step)
    return BodyField(body, ground, np.flatnonzero(ground.part >= 0).astype(np.int32))


def _smoothed(height: Floats, beside: Ints) -> Floats:
    """Heights with steps made a slope: a way up stairs is as long as their slope is."""
    there = np.where(beside >= 0, beside, np.arange(len(beside))[:, None])
    uneven: Bools = np.any(np.abs(height[there] - height[:, None]) > 1e-3, axis=1)
    for _ in range(_SMOOTHED):
        uneven = uneven | np.any(uneven[there], axis=1)
    here = np.flatnonzero(uneven)
    smooth, around = height.copy(), there[here]
    for _ in range(_SMOOTHED):
        smooth[here] = (smooth[here] + smooth[around].sum(axis=1)) / 5
    return smooth
