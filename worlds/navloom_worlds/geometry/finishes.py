"""Interior finishes of rooms: paint, tiles and floors, by the room's use and by home.

Scenes do not specify finishes, so they are drawn from hashes: the same for the same home and region
on every machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from navloom.files import package_yaml
from navloom.scenes.scene import Region
from navloom_worlds.geometry.colours import material_surface, shade_colour, stable_hash
from navloom_worlds.geometry.solids import RGB, Surface
from navloom_worlds.geometry.textures import texture_repeat

TRIM = Surface((0.93, 0.92, 0.90), gloss=0.15)
"""Surface of frames, skirting boards and window sills."""
CEILING = Surface((0.95, 0.95, 0.94), "plaster", 1.5)
ROOF = Surface((0.33, 0.31, 0.31), "roof", 2.4)
GRASS = Surface((0.41, 0.48, 0.29), "grass", 1.6)
STEEL = Surface((0.72, 0.73, 0.75), "metal", 0.5, 0.4)
DARK_STEEL = Surface((0.25, 0.26, 0.28), "metal", 0.5, 0.3)
STONE = Surface((0.68, 0.66, 0.62), "concrete", 2.0)

T = TypeVar("T")

_TABLES = package_yaml("navloom_worlds.geometry", "colours.yaml")


def _chosen(rows: list[list[float]]) -> tuple[RGB, ...]:
    return tuple((r, g, b) for r, g, b in rows)


_PAINTS = {room: _chosen(rows) for room, rows in _TABLES["paints"].items()}
_WOODS, _TILES = _chosen(_TABLES["planks"]), _chosen(_TABLES["tiles"])
_CARPETS, _WALL_TILES = _chosen(_TABLES["carpets"]), _chosen(_TABLES["wall_tiles"])
_FACADES = tuple(Surface(tuple(rgb), *look_of) for rgb, *look_of in _TABLES["facades"])
_KINDS: tuple[tuple[str, str, str], ...] = (
    # Pattern of a region's label, its paint, its floor; the first match counts.
    (r"elevator|lift", "cabin", "cabin"),
    (r"balcony|terrace|patio|deck|garden|outdoor|porch|yard|veranda|pool", "bare", "outdoor"),
    (r"garage|storage|workshop|utility|basement|cellar|boiler|junk", "bare", "concrete"),
    (r"bath|toilet|shower|wc|sauna|spa|wash", "wet", "wet"),
    (r"laundry", "wet", "tiles"),
    (r"kitchen|pantry", "kitchen", "kitchen"),
    (r"kid|child|nursery|play", "children", "soft"),
    (r"bedroom|sleep", "sleeping", "soft"),
    (r"dressing|closet|wardrobe", "calm", "soft"),
    (r"gym|workout|exercise", "bare", "rubber"),
    (r"office|study|library|media|music|cinema|tv", "study", "soft"),
    (r"entry|foyer|lobby|vestibule", "calm", "entry"),
    (r"living|family|lounge|dining|rec", "living", "wood"),
)


@dataclass(frozen=True)
class WallFinish:
    """Finish of a room's walls.

    Attributes:
        paint: surface above the tiles.
        tiles: surface of the tiles; None for none.
        tiled: height of the tiles above the floor, in metres.
        skirting: whether there are skirting boards.
    """

    paint: Surface
    tiles: Surface | None = None
    tiled: float = 0.0
    skirting: bool = True


class Finishes:
    """Finishes of one home.

    Args:
        home: seed text that identifies the home.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self.facade = self._pick(_FACADES, "facade")
        self.wood = _surface(self._pick(_WOODS, "wood"), "planks", 0.15)
        if stable_hash(f"{home} parquet") % 4 == 0:
            self.wood = _surface(self.wood.rgb, "parquet", 0.2)
        self.threshold = material_surface(None, "walnut")
        self.stairs = Surface(shade_colour(self.wood.rgb, 0.92), "wood", 0.6, 0.15)
        doors = (TRIM, TRIM, TRIM, material_surface(None, "oak"), material_surface(None, "walnut"))
        self.doors = self._pick(doors, "doors")
        front = ((0.34, 0.14, 0.12), (0.14, 0.22, 0.30), (0.16, 0.26, 0.20), (0.36, 0.24, 0.16))
        self.front = Surface(self._pick(front, "front"), gloss=0.25)

    def _pick(self, choices: tuple[T, ...], why: str) -> T:
        return choices[stable_hash(f"{self._home} {why}") % len(choices)]

    def wall(self, region: Region) -> WallFinish:
        """Return the finish of a region's walls."""
        kind = _kind(region.label)[0]
        if kind == "cabin":
            return WallFinish(STEEL, skirting=False)
        paint = self._pick(_PAINTS[kind], f"{region.id} paint")
        surface = _surface(paint, "plaster")
        if kind == "wet":
            tiles = self._pick(_WALL_TILES, f"{region.id} tiles")
            name = self._pick(("bathroom tiles", "wall tiles"), f"{region.id} kind")
            high = self._pick((1.3, 2.1, 9.0), f"{region.id} high")
            return WallFinish(surface, _surface(tiles, name, 0.45), high, skirting=False)
        if kind == "kitchen":
            tiles = self._pick(_WALL_TILES, "kitchen tiles")
            return WallFinish(surface, _surface(tiles, "wall tiles", 0.4), 1.5, skirting=False)
        return WallFinish(surface)

    def floor(self, region: Region) -> Surface:
        """Return the surface of a region's floor."""
        kind = _kind(region.label)[1]
        if kind == "concrete":
            return _surface((0.60, 0.60, 0.59), "concrete", 0.1)
        if kind == "rubber":
            return _surface((0.25, 0.26, 0.28), "granite")
        if kind == "cabin":
            return _surface((0.42, 0.42, 0.43), "granite", 0.2)
        if kind == "outdoor":
            wood, stone = ((0.62, 0.50, 0.38), "planks"), ((0.70, 0.68, 0.64), "tiles")
            return _surface(*self._pick((wood, stone, stone), f"{region.id} floor"))
        if kind == "wet":
            name = self._pick(("bathroom tiles", "mosaic", "tiles"), f"{region.id} floor")
            return _surface(self._pick(_TILES, f"{region.id} tone"), name, 0.3)
        if kind == "tiles":
            return _surface(self._pick(_TILES, "tiles"), "tiles", 0.25)
        if kind == "kitchen" and stable_hash(f"{self._home} kitchen") % 3:
            return _surface(self._pick(_TILES, "tiles"), "tiles", 0.25)
        if kind == "entry" and stable_hash(f"{self._home} entry") % 2:
            return _surface(self._pick(_TILES, "tiles"), "tiles", 0.25)
        if kind == "soft" and stable_hash(f"{self._home} carpets") % 2:
            return _surface(self._pick(_CARPETS, f"{region.label} carpet"), "carpet")
        return self.wood


def _surface(rgb: RGB, texture: str, gloss: float = 0.0) -> Surface:
    return Surface(rgb, texture, texture_repeat(texture), gloss)


def _kind(label: str) -> tuple[str, str]:
    """Return the paint and floor kind of a region's label."""
    words = label.casefold()
    for pattern, paint, floor in _KINDS:
        if re.search(pattern, words):
            return paint, floor
    return "calm", "wood"
