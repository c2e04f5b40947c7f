"""Orthographic top view of a floor without its ceiling: the background of a plan's routes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np
from PIL import Image, ImageDraw

from navloom.scenes.distances import scene_cached
from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_svg import TopDownImage
from navloom.scenes.scene import Scene
from navloom_worlds.geometry.arrays import Bools
from navloom_worlds.geometry.mesh import SceneMesh, is_procedural, scene_mesh
from navloom_worlds.geometry.semantic_ids import CEILING, GROUND, NOTHING, STAIRS, item_owner
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer

MOST_PIXELS = 2_000
"""Maximum pixels on the longer side."""
_A_METRE = 80
_OVER = 0.02
_HANGING = 1.9
"""Metres above a floor at which items count as hanging; they would hide items below."""
_UNDER, _UNDER_SCANNED = 0.03, 0.4
"""Metres below the lowest floor of a storey at which another one begins; scans are uneven."""
_WALL = (235, 235, 231)
_MARGIN = 0.4


def render_floor(scene: Scene, floor: int, *, a_metre: int = _A_METRE) -> TopDownImage:
    """Render a floor from above.

    Args:
        scene: with geometry.
        floor: the floor's id.
        a_metre: pixels per metre; fewer if the home is large.

    Raises:
        SceneError: the scene has no geometry.
        SimulatorError: embreex is not installed.
    """
    mesh = scene_mesh(scene)
    height, top = _storey(scene, floor)
    opened = mesh.without(_hidden(scene, mesh, height, top) | _below(scene, mesh, floor))
    low_x, low_z, high_x, high_z = _ground(scene, floor, mesh)
    wide, deep = high_x - low_x, high_z - low_z
    scale = min(a_metre, MOST_PIXELS / max(wide, deep))
    camera = Camera(
        ((low_x + high_x) / 2, top + 1.0, (low_z + high_z) / 2),
        elevation=-math.pi / 2,
        width=max(1, round(wide * scale)),
        height=max(1, round(deep * scale)),
        projection="orthographic",
        span=wide,
    )
    # Flat daylight: light baked without ceilings would not be that of the rooms.
    frame = Renderer(opened, light="flat").frame(camera)
    bounds = (low_x, -high_z, high_x, -low_z)
    pixels = frame.rgb
    pixels[_within_walls(scene, floor, bounds, frame.ids.shape) & (frame.ids == NOTHING)] = _WALL
    return TopDownImage(pixels, bounds)


def render_floors(
    scene: Scene, floors: Iterable[int] | None = None, *, a_metre: int = _A_METRE
) -> dict[int, TopDownImage]:
    """Render floors from above, each cached per scene.

    Args:
        scene: with geometry.
        floors: ids of floors; all by default.
        a_metre: pixels per metre.
    """
    wanted = [f.id for f in scene.floors] if floors is None else list(floors)
    found = {}
    for floor in wanted:
        render = partial(render_floor, scene, floor, a_metre=a_metre)
        found[floor] = scene_cached(scene, f"from_above:{floor}:{a_metre}", render)
    return found


def _storey(scene: Scene, floor: int) -> tuple[float, float]:
    """Return the height of a floor, and of the top of its walls."""
    height = next(each.height for each in scene.floors if each.id == floor)
    above = min((f.height for f in scene.floors if f.height > height + 0.5), default=height + 6.0)
    tops = [w.bottom + w.height for w in scene.walls if height + 1.0 < w.bottom + w.height <= above]
    return height, max(tops, default=height + 2.2)


def _hidden(scene: Scene, mesh: SceneMesh, height: float, top: float) -> Bools:
    """Return which faces are above a floor: ceiling, hanging items, and all storeys above."""
    lowest = mesh.vertices[mesh.faces][:, :, 1].min(axis=1)
    hanging = [
        item_owner(index)
        for index, item in enumerate(scene.items)
        if item.size and item.position[1] - item.size[1] / 2 > height + _HANGING
    ]
    over = (lowest > top + _OVER) | (mesh.owners == CEILING) | np.isin(mesh.owners, hanging)
    return np.asarray(over | (mesh.owners == GROUND))


def _within_walls(
    scene: Scene, floor: int, bounds: tuple[float, float, float, float], shape: tuple[int, ...]
) -> Bools:
    """Return which pixels lie in walls, (height, width); rays see their hollow inside."""
    low_x, _, high_x, high_y = bounds
    picture = Image.new("1", (shape[1], shape[0]))
    draw, scale = ImageDraw.Draw(picture), shape[1] / (high_x - low_x)
    for storey in plan_data(scene).floors:
        for wall in storey.walls if storey.id == floor else ():
            if wall.cut:
                ring = [((x - low_x) * scale, (high_y - y) * scale) for x, y in wall.corners]
                draw.polygon(ring, 1)
    return np.asarray(picture, dtype=np.bool_)


def _below(scene: Scene, mesh: SceneMesh, floor: int) -> Bools:
    """Return which faces are of storeys below, except the stairs from the next one below."""
    on = {region.id: region.center[1] for region in scene.regions if region.floor == floor}
    if not on:
        return np.zeros(len(mesh.faces), dtype=np.bool_)
    least = min(on.values()) - (_UNDER if is_procedural(scene) else _UNDER_SCANNED)
    feet = [y for each in scene.stairs if {each.a, each.b} & on.keys() for _, y, _ in each.line]
    highest = mesh.vertices[mesh.faces][:, :, 1].max(axis=1)
    stairs = (mesh.owners == STAIRS) & (highest > min(feet, default=least))
    return np.asarray((highest < least) & ~stairs)


def _ground(scene: Scene, floor: int, mesh: SceneMesh) -> tuple[float, float, float, float]:
    """Return minimum x, minimum z, maximum x and maximum z of a floor, with a margin."""
    rooms = [r.outline for r in scene.regions if r.floor == floor and r.outline]
    if rooms:
        xs, zs = ([x for each in rooms for x, _ in each], [z for each in rooms for _, z in each])
    else:
        low, high = mesh.bounds
        xs, zs = [float(low[0]), float(high[0])], [float(low[2]), float(high[2])]
    return min(xs) - _MARGIN, min(zs) - _MARGIN, max(xs) + _MARGIN, max(zs) + _MARGIN
