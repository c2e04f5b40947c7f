"""Image of one item of a scene, from the viewpoint that shows it best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from navloom.scenes.distances import elevation_to, heading_to
from navloom.scenes.scene import Item, Point3, Scene, distance_3d
from navloom.sim.scene_images import EYE_M
from navloom_worlds.geometry.arrays import U8, Bools
from navloom_worlds.geometry.semantic_ids import item_owner
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.embedded import scene_renderer

_HALF = math.tan(math.radians(35))
"""Half the image's width at 1 m from the eye."""
_FARTHEST = 7.0
_MOST_TRIED = 16
_COARSE = (96, 72)
_WIDE, _HIGH = 360, 270
_FEWEST_PIXELS, _ENOUGH_PIXELS = 4, 350
"""Pixels of a coarse image: below the first an item is unrecognisable, the second is enough."""
_RING = (230, 30, 30)


@dataclass(frozen=True, eq=False)
class ItemView:
    """Image of an item, and its viewpoint.

    Attributes:
        pixels: (height, width, 3) uint8, the item framed in red.
        viewpoint: id of the viewpoint.
    """

    pixels: U8
    viewpoint: str


def render_item(scene: Scene, item: str) -> ItemView | None:
    """Render an item from the nearby viewpoint that shows most of it.

    Args:
        scene: with geometry.
        item: id of the item.

    Returns:
        None if no viewpoint within 7 m shows it, such as an item in a drawer.

    Raises:
        SceneError: the scene has no geometry.
        SimulatorError: embreex is not installed.
    """
    index = next(n for n, each in enumerate(scene.items) if each.id == item)
    renderer, owner = scene_renderer(scene, "flat"), item_owner(index)
    best: tuple[tuple[int, float], str, Camera] | None = None
    for metres, viewpoint, camera in _cameras(scene, scene.items[index]):
        pixels = int((renderer.frame(camera).ids == owner).sum())
        worth = (min(pixels, _ENOUGH_PIXELS), metres)
        if pixels >= _FEWEST_PIXELS and (best is None or worth > best[0]):
            best = worth, viewpoint, camera
    if best is None:
        return None
    (pixels, _), viewpoint, camera = best
    # An item that is still small is shown with a narrower field of view.
    closer = min(1.0, max(0.4, math.sqrt(pixels / _ENOUGH_PIXELS)))
    fov = 2 * math.atan(_HALF * closer)
    frame = renderer.frame(replace(camera, width=_WIDE, height=_HIGH, fov=fov))
    return ItemView(_ringed(frame.rgb, frame.ids == owner), viewpoint)


def _cameras(scene: Scene, thing: Item) -> Iterator[tuple[float, str, Camera]]:
    """Yield coarse cameras that look at an item from the nearest viewpoints, with distances."""
    eyes: list[tuple[float, str, Point3]] = []
    for viewpoint in scene.viewpoints:
        x, y, z = viewpoint.position
        eye = (x, y if viewpoint.eye_height else y + EYE_M, z)
        metres = distance_3d(eye, thing.position)
        if metres <= _FARTHEST:
            eyes.append((metres, viewpoint.id, eye))
    for metres, name, eye in sorted(eyes)[:_MOST_TRIED]:
        heading, elevation = heading_to(eye, thing.position), elevation_to(eye, thing.position)
        camera = Camera(eye, heading, elevation, *_COARSE, fov=2 * math.atan(_HALF))
        yield metres, name, camera


def _ringed(pixels: U8, shown: Bools) -> U8:
    from PIL import Image, ImageDraw

    rows, columns = np.nonzero(shown)
    if not len(rows):
        return pixels
    picture = Image.fromarray(pixels)
    box = (columns.min() - 6, rows.min() - 6, columns.max() + 6, rows.max() + 6)
    ImageDraw.Draw(picture).rounded_rectangle(box, 8, outline=_RING, width=2)
    return np.asarray(picture)
