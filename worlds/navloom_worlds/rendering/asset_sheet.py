"""Contact sheets of catalogue items, each rendered alone on a plain floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from navloom.scenes.scene import Extents, Item, ItemKind, prompt_name
from navloom_worlds.furniture import item_parts
from navloom_worlds.furniture.item_builders import find_builder
from navloom_worlds.geometry.arrays import F32, U8
from navloom_worlds.geometry.mesh import SceneMesh, merge_parts
from navloom_worlds.geometry.ray_casting import RayHits
from navloom_worlds.geometry.semantic_ids import FLOOR, item_owner
from navloom_worlds.geometry.solids import Part, Surface, quad
from navloom_worlds.homes.catalogue import ItemSpec, active_catalogue
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer

_FLOOR = Surface((0.82, 0.81, 0.79))
_LABEL = 18
"""Pixels below a tile for its name."""
_FOV = math.radians(28)
_TURN = math.radians(32)
"""Angle of the camera to the right of an item's front."""
_ABOVE = math.radians(22)
_SUN = (0.55, 1.0, -0.75)
_RAYS = 4
"""Rays of each kind of light from each of the four samples of a pixel."""
_BLUR = 6
"""Radius in pixels over which light is smoothed."""


def catalogue_items(kind: ItemKind) -> list[Item]:
    """Return one item of each catalogue entry, of medium size, in its most frequent state.

    Args:
        kind: ``asset`` (parts of the building included) or ``object``.

    Returns:
        Items at the origin, in the catalogue's order, without entries that look like another one.
    """
    entries = active_catalogue().entries
    found: dict[str, Item] = {}
    for entry in entries.values():
        builder = find_builder(prompt_name(entry.name), entry.shape)
        twins = (name for name in entry.called if name in found)
        if (entry.kind == "object") == (kind == "object") and not any(
            find_builder(prompt_name(name), entries[name].shape) is builder for name in twins
        ):
            found[entry.name] = _example(entry)
    return list(found.values())


def _example(entry: ItemSpec) -> Item:
    w, h, d = ((low + high) / 2000 for low, high in entry.size)
    states = [max(each, key=lambda state: each[state]) for each in entry.states]
    return Item(
        id=f"{entry.name} 1",
        name=entry.name,
        kind=entry.kind,
        position=(0.0, h / 2, 0.0),
        size=(w, h, d),
        shape=entry.shape,
        states=tuple(state for state in states if state),
    )


def render_tile(item: Item, pixels: int = 220, *, turn: float = _TURN) -> U8:
    """Render one item alone, from the front, slightly from the side and from above.

    Args:
        item: an item with a size.
        pixels: width and height of the image.
        turn: angle of the camera to its right in radians; pi shows its back.

    Raises:
        ValueError: its size is unknown.
        SimulatorError: embreex is not installed.
    """
    if item.size is None:
        raise ValueError(f"{item.id}: no size, nothing to draw")
    w, h, d = item.size
    hung = d < 0.15 * max(w, h)
    mesh = _alone(item_parts(item), item.size, hung=hung)
    reach = max(math.sqrt(w * w + h * h + d * d) / 2, 0.02)
    # Flat items are seen from higher up, wall items more from the front.
    above = math.radians(12) if hung else _ABOVE + (0.45 if h < 0.15 * max(w, d) else 0.0)
    away = reach / math.sin(_FOV / 2) * (0.95 if hung else 1.0)
    level = away * math.cos(above)
    eye = (level * math.sin(turn), h / 2 + away * math.sin(above), -level * math.cos(turn))
    camera = Camera(eye, math.atan2(-eye[0], eye[2]), -above, pixels * 2, pixels * 2, _FOV)
    shot = Renderer(mesh, light="flat").frame(camera)
    lit = shot.rgb * _light(mesh, shot.hits, camera, reach)[..., None]
    halved = lit.reshape(pixels, 2, pixels, 2, 3).mean(axis=(1, 3))
    picture: U8 = np.clip(halved, 0, 255).astype(np.uint8)
    return picture


def _alone(parts: Iterable[Part], size: Extents, *, hung: bool) -> SceneMesh:
    """Build the mesh of an item on a floor, and in front of a wall if it is flat."""
    far = 40 * max(size)
    ground = [quad([(-far, 0, far), (far, 0, far), (far, 0, -far), (-far, 0, -far)], _FLOOR)]
    if hung:
        z = size[2] / 2 + 0.001
        ground = [quad([(far, -far, z), (-far, -far, z), (-far, far, z), (far, far, z)], _FLOOR)]
    owned = [(item_owner(0), part) for part in parts]
    return merge_parts([*((FLOOR, part.moved(0, -0.0005, 0)) for part in ground), *owned])


def _light(mesh: SceneMesh, hits: RayHits, camera: Camera, reach: float) -> F32:
    """Return the light of each pixel, 0 to 1: soft light from all around and from one side."""
    start, along = camera.rays()
    seen = np.flatnonzero(hits.face >= 0)
    points = start + along[seen] * hits.distance[seen, None]
    corners = mesh.vertices[mesh.faces[hits.face[seen]]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    normals *= -np.sign((normals * along[seen]).sum(axis=1))[:, None]
    near = (np.abs(points) < 4 * reach).all(axis=1)
    points = (points + normals * 0.003 * reach)[near].astype(np.float32)
    normals = normals[near]
    chance = np.random.default_rng(0)
    dark = np.zeros(len(points), dtype=np.float32)
    sun = np.array(_SUN) / np.linalg.norm(_SUN)
    for _ in range(_RAYS):
        ways = chance.normal(size=points.shape)
        ways = normals + ways / np.linalg.norm(ways, axis=1, keepdims=True)
        limit = np.full(len(points), 0.7 * reach, dtype=np.float32)
        dark += 0.55 / _RAYS * mesh.caster.blocked(points, ways.astype(np.float32), limit)
        ways = sun + chance.uniform(-0.25, 0.25, points.shape)
        limit = np.full(len(points), 6 * reach, dtype=np.float32)
        turned = (ways * normals).sum(axis=1) < 0
        shade = turned | mesh.caster.blocked(points, ways.astype(np.float32), limit)
        dark += 0.22 / _RAYS * shade
    tone = np.zeros((camera.height * camera.width, 5), dtype=np.float32)
    tone[:, 0] = 1.0
    kept = seen[near]
    tone[kept, 0] = 1.0 - dark
    tone[kept, 1:4] = normals
    tone[kept, 4] = hits.distance[kept] / (0.04 * reach)
    return _smoothed(tone.reshape(camera.height, camera.width, 5))


def _smoothed(tone: F32) -> F32:
    """Return denoised light: the mean of nearby pixels on the same side of an item.

    Args:
        tone: (height, width, 5) light, normal, and distance in units that separate two items.
    """
    total, count = np.zeros(tone.shape[:2]), np.zeros(tone.shape[:2])
    for down in range(-_BLUR, _BLUR + 1, 2):
        for across in range(-_BLUR, _BLUR + 1, 2):
            other = np.roll(tone, (down, across), axis=(0, 1))
            alike = (other[..., 1:4] * tone[..., 1:4]).sum(axis=2) > 0.9
            alike &= np.abs(other[..., 4] - tone[..., 4]) < 1
            total += np.where(alike, other[..., 0], 0)
            count += alike
    return np.where(count > 0, total / np.maximum(count, 1), tone[..., 0]).astype(np.float32)


def draw_catalogue(*, assets: bool, objects: bool, labels: bool) -> tuple[Image.Image, int]:
    """Return an image of the catalogue's assets, objects or both, and the number of items."""
    items = (catalogue_items("asset") if assets else []) + (
        catalogue_items("object") if objects else []
    )
    return draw_items(items, labels=labels), len(items)


def draw_items(
    items: Sequence[Item], *, labels: bool = True, pixels: int = 220, across: int = 10
) -> Image.Image:
    """Return an image of items in rows, each alone, with their names or numbers below.

    Args:
        items: items with sizes, in reading order; at least one.
        labels: write the names; otherwise numbers from 1.
        pixels: width of a tile.
        across: tiles in a row.

    Raises:
        ValueError: there are no items.
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
        sheet.paste(Image.fromarray(render_tile(item, pixels)), (x, y))
        word = item.name if labels else str(number + 1)
        pen.text((x + pixels / 2, y + pixels + 2), word, fill="black", font=font, anchor="ma")
    return sheet
