"""The light of lamps: what glows, as balls that throw soft shadows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from navloom_worlds.geometry.solids import Floats, Ints
from navloom_worlds.rendering.charts import Layout
from navloom_worlds.rendering.facets import Facets

_REACH_M = 7.0
_POWER = np.float32(1.7)
"""The light that a lamp gives a plane a metre away that faces it."""
_COLOUR = np.array([1.0, 0.93, 0.82], dtype=np.float32)
_LEAST_GLOW = 0.3
_LEAST_M2 = 0.005
"""What is smaller is a pilot light."""
_PATTERNS = 16


@dataclass(frozen=True, eq=False)
class Lamp:
    """What glows of one owner.

    Attributes:
        owner: whose it is.
        where: (3,) its middle.
        radius: metres.
        power: in parts of a lamp's.
    """

    owner: int
    where: Floats
    radius: float
    power: float


def lamps_of(facets: Facets) -> list[Lamp]:
    """The lamps of a mesh, one an owner, in the owners' order."""
    mesh = facets.mesh
    glowing = np.flatnonzero(facets.glow >= _LEAST_GLOW)
    found = []
    for owner in np.unique(mesh.owners[glowing]):
        faces = glowing[mesh.owners[glowing] == owner]
        area = facets.area[faces].astype(np.float64)
        if area.sum() < _LEAST_M2:
            continue
        middles = mesh.vertices[mesh.faces[faces]].mean(axis=1).astype(np.float64)
        where = np.average(middles, axis=0, weights=area)
        spread = np.sqrt(np.average(((middles - where) ** 2).sum(axis=1), weights=area))
        glow = float(np.average(facets.glow[faces], weights=area))
        power = min(1.0, glow) * min(1.0, 0.45 + float(area.sum()) * 4)
        found.append(
            Lamp(int(owner), where.astype(np.float32), float(np.clip(spread, 0.08, 0.4)), power)
        )
    return found


def lamplight(facets: Facets, layout: Layout, normal: Floats, pattern: Ints) -> Floats:
    """The light of all lamps on each spot, (spots, 3).

    Args:
        facets: of the mesh.
        layout: its spots.
        normal: (spots, 3) the way each spot is open.
        pattern: (spots,) 0 to 15, differing between neighbours: which part of a lamp each sees.
    """
    total = np.zeros(len(normal), dtype=np.float32)
    parts = _ball()
    start = layout.where + normal * np.float32(0.004)
    owners = facets.mesh.owners
    for lamp in lamps_of(facets):
        near = np.flatnonzero(((layout.where - lamp.where) ** 2).sum(axis=1) < _REACH_M**2)
        target = lamp.where + parts[pattern[near]] * np.float32(lamp.radius)
        way = target - start[near]
        away = np.sqrt((way**2).sum(axis=1))
        facing = (way * normal[near]).sum(axis=1) / np.maximum(away, 1e-3)
        lit = facing > 0
        near, way, away, facing = near[lit], way[lit], away[lit], facing[lit]
        hits = facets.mesh.caster.cast(start[near], way)
        # A lamp's own shade and arms let its light through.
        free = (hits.distance >= 0.999) | (owners.take(hits.face, mode="clip") == lamp.owner)
        fade = np.clip(1 - (away / _REACH_M) ** 2, 0, 1)
        light = _POWER * lamp.power * facing * fade / (away**2 + np.float32(0.35))
        total[near] += np.where(free, light, 0).astype(np.float32)
    return total[:, None] * _COLOUR


def _ball() -> Floats:
    """(16, 3) places in a ball of radius 1, spread evenly."""
    index = np.arange(_PATTERNS) + 0.5
    height = 1 - 2 * index / _PATTERNS
    angle = index * np.pi * (3 - np.sqrt(5))
    level = np.sqrt(1 - height**2)
    # In an order in which neighbours in a square of four by four differ much.
    order = np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5])
    ball = np.stack([level * np.cos(angle), height, level * np.sin(angle)], axis=1)
    return np.asarray(ball[order] * 0.9, dtype=np.float32)
