"""``python -m tests.scenes.demo.home_builder``: build the demo homes into the package.

A home is one YAML file in this folder: rooms with a corner and a size (or an outline), items
relative to that corner, and doors. Names and usual sizes are in ``catalogue.yaml``. Lengths are in
metres, turns in degrees clockwise seen from above. x grows to the east and z to the south.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.formats.scene_json import list_ids, save
from navloom.scenes.safe_files import read_yaml
from navloom.scenes.scene import (
    Box,
    Extents,
    Finite,
    Floor,
    Item,
    ItemKind,
    Link,
    Point2,
    Point3,
    Region,
    Scene,
    region_id,
)
from navloom.scenes.scene_uri import HOMES
from tests.scenes.demo.home_layout import Opening, StairFlight, lay_out

_FOLDER = Path(__file__).parent
_CATALOGUE = "catalogue"
Metres = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
Sizes = tuple[Metres, Metres, Metres]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Placed(_Strict):
    """One item: its centre relative to the room's corner, and the items on it."""

    at: Point2
    turn: Finite = 0.0
    up: Finite = 0.0
    size: Sizes | None = None
    holds: dict[str, Point2] = {}


class _Room(_Strict):
    type: str
    floor: int = 1
    corner: Point2
    size: tuple[Metres, Metres] | None = None
    outline: tuple[Point2, ...] | None = None
    outdoor: bool = False
    items: tuple[dict[str, _Placed], ...]

    @property
    def polygon(self) -> tuple[Point2, ...]:
        """Footprint as (x, z) in the home's frame."""
        x, z = self.corner
        width, depth = self.size or (0.0, 0.0)
        outline = self.outline or ((0, 0), (width, 0), (width, depth), (0, depth))
        # To the micrometre, so that rooms that meet in the file meet in the plan.
        return tuple((round(x + u, 6), round(z + w, 6)) for u, w in outline)


class _Door(_Strict):
    between: tuple[int, int]
    at: Point2 | None = None
    foot: Point2 | None = None
    head: Point2 | None = None
    width: Metres
    kind: Literal["opening", "door", "stairs"] = "opening"
    door: Literal["open", "closed", "locked"] | None = None
    step: Finite | None = None


class _Home(_Strict):
    title: str
    storeys: dict[int, Finite]
    ceiling: Metres
    rooms: dict[int, _Room]
    doors: tuple[_Door, ...]


class _Catalogue(_Strict):
    asset: dict[str, tuple[Metres, ...]]
    object: dict[str, tuple[Metres, ...]]
    structure: dict[str, tuple[Metres, ...]]

    def find(self, name: str) -> tuple[ItemKind, tuple[float, ...]]:
        """Return a name's kind and size; a fourth value, if given, is the height of its surface."""
        kinds: dict[ItemKind, dict[str, tuple[float, ...]]] = {
            "asset": self.asset,
            "object": self.object,
            "structure": self.structure,
        }
        for kind, sizes in kinds.items():
            if name in sizes:
                return kind, sizes[name]
        known = [*self.asset, *self.object, *self.structure]
        raise SceneError(f"catalogue.yaml has no '{name}'.{did_you_mean(name, known)}")


def build(scene_id: str) -> Scene:
    """Build one home.

    Args:
        scene_id: ``flat``, ``house`` or ``villa``.

    Raises:
        SceneError: its file is broken, or cannot be laid out.
    """
    home = read_yaml(_FOLDER / f"{scene_id}.yaml", TypeAdapter(_Home))
    regions = {n: _region(n, room, home) for n, room in home.rooms.items()}
    items = tuple(
        item
        for number, room in home.rooms.items()
        for item in _items(number, room, regions[number], home.storeys[room.floor])
    )
    openings, flights = _ways(home, regions)
    plan = lay_out(
        tuple(regions.values()),
        items,
        openings,
        flights,
        ceiling=home.ceiling,
        outdoor=frozenset(regions[n].id for n, room in home.rooms.items() if room.outdoor),
    )
    return Scene(
        id=scene_id,
        source="demo",
        floors=tuple(Floor(id=i, height=y) for i, y in sorted(home.storeys.items())),
        regions=tuple(regions.values()),
        links=tuple(_link(door, regions) for door in home.doors),
        items=items,
        viewpoints=plan.viewpoints,
        edges=plan.edges,
        walls=plan.walls,
        notes=(f"Written by hand: {home.title}.",),
    )


@cache
def _catalogue() -> _Catalogue:
    return read_yaml(_FOLDER / f"{_CATALOGUE}.yaml", TypeAdapter(_Catalogue))


def _region(number: int, room: _Room, home: _Home) -> Region:
    y = home.storeys[room.floor]
    xs, zs = zip(*room.polygon, strict=True)
    left, right, near, far = min(xs), max(xs), min(zs), max(zs)
    x, z = (left + right) / 2, (near + far) / 2
    middle = (x, y + home.ceiling / 2, z)
    return Region(
        id=region_id(room.type, number),
        label=room.type,
        floor=room.floor,
        center=(x, y, z),
        box=Box(center=middle, size=(right - left, home.ceiling, far - near)),
        polygon=room.polygon,
    )


def _items(number: int, room: _Room, region: Region, floor: float) -> list[Item]:
    """Return a room's items, each followed by the items on it."""
    found: list[Item] = []
    for line in room.items:
        for name, placed in line.items():
            kind, sizes = _catalogue().find(name)
            size = placed.size or _extents(sizes)
            yaw = math.radians(placed.turn)
            x, z = room.corner[0] + placed.at[0], room.corner[1] + placed.at[1]
            bottom = floor + placed.up
            below = Item(
                id=f"{number}.{len(found) + 1}",
                name=name,
                kind=kind,
                region=region.id,
                position=(x, bottom + size[1] / 2, z),
                size=size,
                yaw=yaw,
            )
            found.append(below)
            surface = bottom + (sizes[3] if len(sizes) > 3 else size[1])
            for thing, offset in placed.holds.items():
                found.append(_standing(thing, offset, below, surface, f"{number}.{len(found) + 1}"))
    return found


def _standing(name: str, offset: Point2, below: Item, surface: float, item_id: str) -> Item:
    kind, sizes = _catalogue().find(name)
    size = _extents(sizes)
    cos, sin = math.cos(below.yaw), math.sin(below.yaw)
    x = below.position[0] + offset[0] * cos - offset[1] * sin
    z = below.position[2] + offset[0] * sin + offset[1] * cos
    return Item(
        id=item_id,
        name=name,
        kind=kind,
        region=below.region,
        position=(x, surface + size[1] / 2, z),
        size=size,
        yaw=below.yaw,
        on=below.id,
    )


def _extents(sizes: tuple[float, ...]) -> Extents:
    return sizes[0], sizes[1], sizes[2]


def _ways(home: _Home, regions: dict[int, Region]) -> tuple[list[Opening], list[StairFlight]]:
    openings: list[Opening] = []
    flights: list[StairFlight] = []
    for door in home.doors:
        a, b = (regions[n].id for n in door.between)
        if door.at is not None:
            openings.append(Opening(a, b, door.at, door.width))
        elif door.foot is not None and door.head is not None:
            flights.append(StairFlight(a, b, door.foot, door.head))
        else:
            raise SceneError(f"demo home: {a} <-> {b}: expected 'at', or 'foot' and 'head'.")
    return openings, flights


def _link(door: _Door, regions: dict[int, Region]) -> Link:
    a, b = (regions[n] for n in door.between)
    low, high = a.center[1], b.center[1]
    if door.at is not None:
        point: Point3 = (door.at[0], max(low, high), door.at[1])
    else:
        foot, head = door.foot or (0.0, 0.0), door.head or (0.0, 0.0)
        point = ((foot[0] + head[0]) / 2, (low + high) / 2, (foot[1] + head[1]) / 2)
    return Link(
        a=a.id,
        b=b.id,
        kind=door.kind,
        point=point,
        width=door.width,
        step=door.step,
        door=door.door,
    )


def main() -> None:
    """Write every home into the package."""
    for name in list_ids(HOMES):
        print(save(build(name), HOMES / f"{name}.json"))


if __name__ == "__main__":
    main()
