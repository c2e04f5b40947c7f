"""What is seen from a place that a person names: a viewpoint, or a point and a heading."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

from shapely import Point, Polygon

from navloom.errors import SimulatorError
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.checked_files import short
from navloom.scenes.distances import per_scene, wrapped
from navloom.scenes.hints import viewpoint_hint
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Observation, Pose, RenderedView, Simulator
from navloom.sim.registry import get_simulator
from navloom.sim.viewer import EYE_M
from navloom.sim.views import strip
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.renderer import Renderer
from navloom_worlds.rendering.sensors import rig_of

_SIZE = 512
_NUMBER = r"\s*[-+]?\d+(?:\.\d+)?\s*"
_PLACE = re.compile(rf"{_NUMBER}(?:,{_NUMBER}){{1,3}}")


def look_from(scene: Scene, place: str) -> bytes:
    """The panorama from a place: Left, Front, Right and Back in a row.

    Args:
        scene: with geometry.
        place: a viewpoint's id, whose ways on are marked by numbers, ``ID,heading``, or
            ``x,z``, ``x,z,heading`` or ``x,y,z,heading`` in metres and degrees clockwise from -z.
            Where y is not said, the lowest floor under x and z is meant.

    Returns:
        A PNG file.

    Raises:
        SimulatorError: the scene has no such viewpoint, nobody can read the place, or there is no
            geometry.
    """
    name, _, turn = place.rpartition(",")
    if place in scene.viewpoint_by_id or name in scene.viewpoint_by_id:
        there = place in scene.viewpoint_by_id
        return panorama_at(scene, place if there else name, 0.0 if there else _degrees(turn))
    if not _PLACE.fullmatch(place):
        raise SimulatorError(
            f"{scene.uri} has no viewpoint {short(place)}: expected a viewpoint's id, or "
            f"x,z,heading in metres and degrees.{viewpoint_hint(scene, place)}"
        )
    return _from_point(scene, [float(each) for each in place.split(",")])


def _degrees(words: str) -> float:
    try:
        return wrapped(math.radians(float(words)))
    except (ValueError, OverflowError) as error:
        raise SimulatorError(
            f"{short(words)} is no heading: expected degrees clockwise from -z."
        ) from error


def panorama_at(
    scene: Scene,
    viewpoint: str,
    heading: float,
    options: Sequence[str] | None = None,
    *,
    size: int = _SIZE,
    at: Sequence[float] | None = None,
) -> bytes:
    """The panorama from a viewpoint with its ways on numbered.

    Args:
        scene: with geometry.
        viewpoint: where.
        heading: radians; it is brought to its quarter.
        options: the viewpoints next to it in the order of their numbers; clockwise from north
            unless given.
        size: pixels that a view is wide and high.
        at: another place to look from, x, y of the floor and z, whence no ways are numbered.

    Returns:
        A PNG file: Left, Front, Right and Back in a row.

    Raises:
        SimulatorError: the scene has no such viewpoint, or no geometry.
    """
    if at is not None:
        return _from_point(scene, [*at, math.degrees(heading)])
    simulator = looking(scene, size)
    try:
        pose = Pose((0.0, 0.0, 0.0), heading, 0.0, viewpoint)
        seen = simulator.reset({"eye": (pose, DEFAULT_BODY)})["eye"]
        if options is not None:
            ways = {way.viewpoint: way for way in seen.candidates}
            shown = tuple(ways[each] for each in options if each in ways)
            seen = replace(seen, candidates=shown)
        return strip(seen, heading, 4, markers=True)[0]
    finally:
        simulator.close()


def looking(scene: Scene, size: int) -> Simulator:
    """A simulator whose four level views are squares of so many pixels; to be closed.

    Raises:
        SimulatorError: there is no geometry.
    """
    rig = tuple(replace(each, width=size, height=size) for each in rig_of("vln-mme"))
    return get_simulator("embedded", scene, rig=rig)


def _from_point(scene: Scene, numbers: list[float]) -> bytes:
    x, z = numbers[0], numbers[-2 if len(numbers) > 2 else -1]
    y = numbers[1] if len(numbers) == 4 else floor_at(scene, x, z)
    heading = numbers[-1] if len(numbers) > 2 else 0.0
    heading = wrapped(math.radians(heading))
    views = []
    for k in range(4):
        camera = Camera(
            (x, y + EYE_M, z), wrapped(heading + k * math.pi / 2), width=_SIZE, height=_SIZE
        )
        frame = renderer_of(scene).frame(camera)
        # Front is ahead itself, not the quarter that it would be brought to.
        turned = k * math.pi / 2
        views.append(RenderedView(turned, 0.0, camera.fov, partial(frame.read, "rgb")))
    seen = Observation(Pose((x, y, z)), images={"rgb": tuple(views)})
    return strip(seen, 0.0, 4)[0]


def floor_at(scene: Scene, x: float, z: float) -> float:
    """The y of the lowest floor under a point; of the lowest there is where none is known."""
    heights = {floor.id: floor.height for floor in scene.floors}
    under = [
        heights[region.floor]
        for region in scene.regions
        if region.outline and Polygon(region.outline).covers(Point(x, z))
    ]
    return min(under) if under else min(heights.values())


def renderer_of(scene: Scene) -> Renderer:
    """The renderer of a scene as it stands, made once per scene."""
    return per_scene(scene, "renderer", lambda: Renderer(scene_mesh(scene)))


def can_look(scene: Scene) -> bool:
    """Whether pictures of a scene can be made here: it has geometry, and embreex is installed."""
    return has_geometry(scene) and find_spec("embreex") is not None
