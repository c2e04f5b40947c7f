"""A contact sheet of kinds of things, each alone on a plain floor: what homes are furnished with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from navloom.scenes.geometry.furniture import item_parts
from navloom.scenes.geometry.mesh import SceneMesh, assembled
from navloom.scenes.geometry.owners import FLOOR, item_owner
from navloom.scenes.geometry.solids import Part, Surface, quad
from navloom.scenes.homes.catalogue import Entry, catalogue
from navloom.scenes.parts import Extents, Item, ItemKind
from navloom.sim.embedded.camera import Camera
from navloom.sim.embedded.renderer import Renderer

_FLOOR = Surface((0.82, 0.81, 0.79))
_LABEL = 18
"""Pixels below a tile for its name."""
_FOV = math.radians(28)
_TURN = math.radians(32)
"""How far to its right of a thing's front one stands."""
_ABOVE = math.radians(22)


def kinds(kind: ItemKind) -> list[Item]:
    """One thing of each kind that the catalogue has, of its middle size, in its usual state.

    Args:
        kind: ``asset`` (and what belongs to the building) or ``object``.

    Returns:
        Items at the origin, in the catalogue's order; kinds of one name and shape are one.
    """
    found: dict[tuple[str, str], Item] = {}
    for entry in catalogue().entries.values():
        name = entry.called[0] if entry.called else entry.name
        if (entry.kind == "object") == (kind == "object"):
            found.setdefault((name, entry.shape), _example(entry, name))
    return list(found.values())


def _example(entry: Entry, name: str) -> Item:
    w, h, d = ((low + high) / 2000 for low, high in entry.size)
    states = [max(each, key=lambda state: each[state]) for each in entry.states]
    return Item(
        id=f"{entry.name} 1",
        name=name,
        kind=entry.kind,
        position=(0.0, h / 2, 0.0),
        size=(w, h, d),
        shape=entry.shape,
        states=tuple(state for state in states if state),
    )


def tile(item: Item, pixels: int = 220, *, turn: float = _TURN) -> NDArray[np.uint8]:
    """One thing alone, seen from before it, a little from the side and from above.

    Args:
        item: a thing with a size.
        pixels: width and height of the picture.
        turn: radians that one stands to its right; pi looks at its back.

    Raises:
        ValueError: its size is not known.
        SimulatorError: embreex is not installed.
    """
    if item.size is None:
        raise ValueError(f"{item.id}: no size, nothing to draw")
    mesh = _alone(item_parts(item), item.size)
    w, h, d = item.size
    reach = max(math.sqrt(w * w + h * h + d * d) / 2, 0.02)
    # What is flat on its floor or against a wall is looked at straighter.
    above = _ABOVE + (0.45 if h < 0.15 * max(w, d) else 0.0)
    if d < 0.12 * max(w, h):
        turn, above = turn * 0.6, math.radians(8)
    away = reach / math.sin(_FOV / 2) * 1.02
    eye = (
        away * math.cos(above) * math.sin(turn),
        h / 2 + away * math.sin(above),
        -away * math.cos(above) * math.cos(turn),
    )
    camera = Camera(eye, math.pi - turn * -1 + 0.0, -above, pixels * 2, pixels * 2, _FOV)
    camera = replace(camera, heading=math.atan2(-eye[0], eye[2]))
    shot = Renderer(mesh, light="unbaked").frame(camera)
    return _shadowed(shot.rgb, mesh, shot.hits.face.reshape(pixels * 2, -1), camera, reach)


def _alone(parts: Iterable[Part], size: Extents) -> SceneMesh:
    far = 40 * max(size)
    floor = quad([(-far, 0, far), (far, 0, far), (far, 0, -far), (-far, 0, -far)], _FLOOR)
    owned = [(item_owner(0), part) for part in parts]
    return assembled([(FLOOR, floor.moved(0, -0.0005, 0)), *owned])


def _shadowed(
    picture: NDArray[np.uint8],
    mesh: SceneMesh,
    face: NDArray[np.int32],
    camera: Camera,
    reach: float,
) -> NDArray[np.uint8]:
    """The picture at half its size, the floor darker where the thing keeps light from it."""
    start, along = camera.rays()
    floor = (face >= 0) & (mesh.owners[np.maximum(face, 0)] == FLOOR)
    spots = np.flatnonzero(floor.ravel())
    tone = np.ones(face.size, dtype=np.float32)
    if len(spots):
        y = np.float32(start[1]) if start.ndim == 1 else start[spots, 1]
        points = start + along[spots] * (-(y + 0.0005) / along[spots, 1])[:, None]
        points = points.astype(np.float32) + np.float32([0, 0.001, 0])
        near = np.hypot(points[:, 0], points[:, 2]) < 3 * reach
        seen = np.ones(len(points), dtype=np.float32)
        chance = np.random.default_rng(0)
        towards = [(0.55, 1.0, -0.45), (0.35, 1.0, 0.1), (-0.3, 1.0, -0.4), (0.0, 1.0, 0.3)]
        count = 4 * len(towards)
        for n in range(count):
            way = np.array(towards[n % len(towards)]) + chance.uniform(-0.35, 0.35, 3)
            rays = np.broadcast_to(way.astype(np.float32), (int(near.sum()), 3))
            limit = np.full(len(rays), 6 * reach, dtype=np.float32)
            dark = mesh.caster.blocked(points[near], rays, limit)
            seen[near] -= 0.6 * dark / count
        tone[spots] = seen
    lit = picture.astype(np.float32) * tone.reshape(face.shape)[..., None]
    high, wide = face.shape
    halved = lit.reshape(high // 2, 2, wide // 2, 2, 3).mean(axis=(1, 3))
    return np.clip(halved, 0, 255).astype(np.uint8)


def asset_sheet(
    items: Sequence[Item], *, labels: bool = True, pixels: int = 220, across: int = 10
) -> Image.Image:
    """Things in rows, each alone, their names or their numbers below them.

    Args:
        items: things with sizes, in reading order; at least one.
        labels: say the names; else number them from 1.
        pixels: width of a tile.
        across: tiles in a row.

    Raises:
        ValueError: there is nothing to draw.
        SimulatorError: embreex is not installed.
    """
    if not items:
        raise ValueError("expected at least one thing to draw")
    across = min(across, len(items))
    down = -(-len(items) // across)
    sheet = Image.new("RGB", (across * pixels, down * (pixels + _LABEL)), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for number, item in enumerate(items):
        row, column = divmod(number, across)
        x, y = column * pixels, row * (pixels + _LABEL)
        sheet.paste(Image.fromarray(tile(item, pixels)), (x, y))
        word = item.name if labels else str(number + 1)
        pen.text((x + pixels / 2, y + pixels + 2), word, fill="black", font=font, anchor="ma")
    return sheet
