"""The ``embedded`` backend: bodies that move in a scene's mesh and observe rendered images of it.

Motion is that of :mod:`navloom_worlds.motion.body_simulator`, with the exact mover of the mesh.
Images are rendered when they are read, so an agent that reads none costs nothing: not even the mesh
is built. Agents see one another. In id frames the others are ``agent_owner`` of their index among
all agents' sorted names. An agent inside another body sees through it.

Colour, depth and ids of one camera share their rays. Observations from before a change of the scene
still show the old scene.

``render_views`` renders the view from a place given by a user: a viewpoint, or a point and a
heading.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Point, Polygon

from navloom.errors import SimulatorError
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment, FloorPose, MotionResult, footprint_of
from navloom.scenes.distances import scene_cached, wrap_angle
from navloom.scenes.safe_files import repr_of
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.viewpoint_hints import viewpoint_hint
from navloom.sim.captions import captions_for
from navloom.sim.protocol import (
    THRESHOLD_M,
    CaptionSource,
    Observation,
    PhysicsRules,
    Pose,
    RenderedView,
    Simulator,
    View,
    parse_physics,
)
from navloom.sim.registry import get_simulator
from navloom.sim.scene_images import EYE_M
from navloom.sim.views import view_pngs
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.geometry.arrays import F32
from navloom_worlds.motion.body_field import FloorPath, body_field
from navloom_worlds.motion.body_planner import drive_to_goal
from navloom_worlds.motion.body_simulator import BodySimulator
from navloom_worlds.motion.collision_mesh import SHUT, find_moved_doors
from navloom_worlds.motion.collision_motion import mover_of
from navloom_worlds.motion.motion_backend import MotionBackend
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.other_agents import Bodies, BodiesRenderer, add_bodies, visible_bodies
from navloom_worlds.rendering.renderer import CameraFrame, Lighting, Renderer, parse_lighting
from navloom_worlds.rendering.sensors import Rig, Sensor, resolve_rig
from navloom_worlds.rendering.visible_captions import viewpoint_sight

_LEVEL = math.pi / 2


def make(
    scene: Scene,
    *,
    captions: CaptionSource | Path | str | None = None,
    rig: str | Path | Rig = "vln-mme",
    light: str = "baked",
    physics: str = "off",
    collision_threshold: float = THRESHOLD_M,
) -> EmbeddedSimulator:
    """Create the backend, as the registry requires.

    Args:
        scene: the scene; it must have geometry.
        captions: a source of captions, or the file of a caption cache; None for the default source.
        rig: the sensors: names, a file, or sensor objects
            (:mod:`navloom_worlds.rendering.sensors`).
        light: ``baked``, computed with rays once per home, or ``flat``, which needs no time.
        physics: the effect of contacts (:class:`navloom.sim.protocol.PhysicsRules`).
        collision_threshold: metres of displacement that end a run under ``strict``.

    Raises:
        SimulatorError: the scene has no geometry or no viewpoints, the rig, light or physics is
            unknown, the threshold is invalid, or the cache is broken.
    """
    rules = parse_physics(physics, collision_threshold)
    if captions is None or isinstance(captions, (str, Path)):
        captions = captions_for(scene, captions)
    return EmbeddedSimulator(scene, captions, resolve_rig(rig), parse_lighting(light), rules)


class EmbeddedSimulator(BodySimulator):
    """Simulator backend that renders images of the scene's mesh; see the module's docstring.

    Args:
        scene: with geometry and viewpoints.
        captions: the source of captions.
        rig: the sensors.
        light: as in :func:`make`.
        rules: the effect of contacts.

    Raises:
        SimulatorError: the scene has no geometry or no viewpoints.
    """

    capabilities = BodySimulator.capabilities | {"rgb", "depth", "ids"}

    def __init__(
        self,
        scene: Scene,
        captions: CaptionSource | None = None,
        rig: Rig | None = None,
        light: Lighting = "baked",
        rules: PhysicsRules | None = None,
    ) -> None:
        super().__init__(scene, captions, rules)
        self._rig = resolve_rig("vln-mme") if rig is None else rig
        self.capabilities = BodySimulator.capabilities | {each.modality for each in self._rig}
        self._light = light

    def _check(self, scene: Scene) -> None:
        super()._check(scene)
        if not has_geometry(scene):
            raise SimulatorError(
                f"{scene.uri} has no geometry to see: neither walls nor a mesh. "
                "Use --backend graph."
            )

    def _made_footing(self, body: Embodiment) -> MotionBackend:
        scene = self.scene
        return MotionBackend(
            lambda: mover_of(scene, body),
            lambda start, goals: _way(scene, body, start, goals),
            lambda path, goal: _route(scene, body, path, goal),
        )

    def _observations(self) -> dict[str, Observation]:
        seen = super()._observations()
        return {
            name: replace(each, images=self._images(name, each.pose)) for name, each in seen.items()
        }

    def _images(self, name: str, pose: Pose) -> Mapping[str, tuple[View, ...]]:
        height = self._agents[name].body.height
        others = {
            number: (agent.body, FloorPose(agent.pose.position, agent.pose.heading))
            for number, (who, agent) in enumerate(sorted(self._agents.items()))
            if who != name
        }
        stands = tuple((each.body, each.pose.position) for each in self._agents.values())
        views: dict[str, list[View]] = {}
        shots: dict[Camera, _Shot] = {}
        for sensor in self._rig:
            camera = sensor_camera(self.scene, pose, sensor, height)
            if sensor.modality != "rgb":
                # Samples affect colour only: other modalities share the rays of an image from here.
                alike = (each for each in shots if replace(each, samples=camera.samples) == camera)
                camera = next(alike, camera)
            shot = shots.setdefault(camera, _Shot(self.scene, camera, self._light, others, stands))
            views.setdefault(sensor.modality, []).append(_view(sensor, shot))
        return {modality: tuple(each) for modality, each in views.items()}


def _way(scene: Scene, body: Embodiment, at: Point3, goals: Sequence[Point3]) -> FloorPath | None:
    return body_field(scene, body).way(at, goals, driven=True)


def _route(
    scene: Scene, body: Embodiment, path: Sequence[FloorPose], goal: Point3
) -> MotionResult | None:
    """Continue a stopped drive on a planned route; return its result, or None (also for a disc)."""
    found = None if footprint_of(body).round else drive_to_goal(scene, body, path, goal)
    if found is None or not found.arrived:
        return None
    metres = sum(math.dist(a.position, b.position) for a, b in pairwise(found.path))
    return MotionResult(found.path[-1], metres, 0.0, found.bumps, found.path)


def sensor_camera(scene: Scene, pose: Pose, sensor: Sensor, height: float) -> Camera:
    """Return the camera of a sensor at a pose.

    Args:
        scene: the scene.
        pose: pose of the agent, at a viewpoint or on the floor.
        sensor: the sensor.
        height: height of the body in metres; no eye is higher.
    """
    viewpoint = scene.viewpoint_by_id.get(pose.viewpoint or "")
    own = viewpoint.eye_height if viewpoint else 0.0
    right, up, ahead = sensor.position
    up = min(up if up is not None else own or EYE_M, height)
    turned = 0.0 if sensor.follows == "compass" else pose.heading
    tilt = pose.elevation if sensor.follows == "head" else 0.0
    sin, cos = math.sin(turned), math.cos(turned)
    x, y, z = pose.position
    place: Point3 = (x + right * cos + ahead * sin, y + up, z + right * sin - ahead * cos)
    return Camera(
        place,
        wrap_angle(turned + sensor.heading),
        max(-_LEVEL, min(_LEVEL, sensor.elevation + tilt)),
        sensor.width,
        sensor.height,
        sensor.fov,
        "equirect" if sensor.projection == "equirect" else "pinhole",
        samples=sensor.samples,
    )


@dataclass(frozen=True)
class _Shot:
    """View of one camera, rendered when it is first read."""

    scene: Scene
    camera: Camera
    light: Lighting
    others: Bodies
    stands: tuple[tuple[Embodiment, Point3], ...]

    @cached_property
    def drawn(self) -> Renderer | BodiesRenderer:
        renderer = scene_renderer(_opened(self.scene, self.stands), self.light)
        return add_bodies(renderer, visible_bodies(self.camera, self.others))

    @cached_property
    def frame(self) -> CameraFrame:
        return self.drawn.frame(self.camera)


def _opened(scene: Scene, stands: Sequence[tuple[Embodiment, Point3]]) -> Scene:
    """Return the scene with those doors open in whose leaves a body stands."""
    moved = {k for body, at in stands for k in find_moved_doors(scene, body, [at])}
    shut = [k for k in sorted(moved) if scene.links[k].door in SHUT]
    if not shut:
        return scene
    links = list(scene.links)
    for k in shut:
        links[k] = links[k].model_copy(update={"door": "open"})
    return scene_cached(scene, f"opened {shut}", lambda: scene.replace(links=tuple(links)))


def _view(sensor: Sensor, shot: _Shot) -> View:
    camera = shot.camera
    return RenderedView(
        camera.heading,
        camera.elevation,
        camera.fov,
        lambda: _read(sensor, shot),
        camera.position,
        sensor.projection,
    )


def _read(sensor: Sensor, shot: _Shot) -> NDArray[Any]:
    if sensor.modality == "lidar":
        return _ranges(sensor, shot)
    image: NDArray[Any] = shot.frame.read(sensor.modality)
    if sensor.modality == "depth" and sensor.far is not None:
        image = np.minimum(image, np.float32(sensor.far))
    return image


def _ranges(sensor: Sensor, shot: _Shot) -> F32:
    """Return ranges in metres, (beams, columns): highest beam first, clockwise from the left."""
    right, up, ahead = shot.camera.axes
    turn = ((np.arange(sensor.width) + 0.5) / sensor.width - 0.5) * sensor.fov
    tilt = np.linspace(sensor.vertical / 2, -sensor.vertical / 2, sensor.height)
    turns, tilts = np.meshgrid(turn, tilt if sensor.height > 1 else np.zeros(1))
    level = np.cos(tilts)
    local = (level * np.sin(turns), np.sin(tilts), level * np.cos(turns))
    rays = np.stack([each.ravel() for each in local], axis=1) @ np.stack([right, up, ahead])
    place = np.asarray(shot.camera.position, dtype=np.float32)
    hits = shot.drawn.caster.cast(place, rays.astype(np.float32))
    metres = np.where(hits.face >= 0, hits.distance, np.float32(0))
    if sensor.far is not None:
        metres = np.minimum(metres, np.float32(sensor.far))
    ranges: F32 = metres.astype(np.float32).reshape(sensor.height, sensor.width)
    return ranges


_SIZE = 512
_NUMBER = r"\s*[-+]?\d+(?:\.\d+)?\s*"
_PLACE = re.compile(rf"{_NUMBER}(?:,{_NUMBER}){{1,3}}")


def render_views(scene: Scene, place: str, *, light: str = "baked") -> bytes:
    """Render the panorama from a place: Left, Front, Right and Back in a row.

    Args:
        scene: with geometry.
        place: a viewpoint's id, whose candidates are marked by numbers, ``ID,heading``, or
            ``x,z``, ``x,z,heading`` or ``x,y,z,heading`` in metres and degrees clockwise from -z.
            Without y, the lowest floor under x and z is used. A room is seen from its viewpoint
            with the richest view. Without a heading, Front of a viewpoint is the direction with
            the richest view.
        light: ``baked`` or ``flat``.

    Returns:
        A PNG file.

    Raises:
        SimulatorError: the viewpoint, place or light is invalid, or the scene has no geometry.
    """
    name, _, turn = place.rpartition(",")
    if place in scene.region_by_id:
        inside = [each for each in scene.viewpoints if each.region == place]
        if not inside:
            raise SimulatorError(f"{place} of {scene.uri} has no viewpoint to be seen from.")
        place = max(inside, key=lambda each: (best_outlook(scene, each.id)[0], each.id)).id
    if place in scene.viewpoint_by_id:
        return panorama_at(scene, place, best_outlook(scene, place)[1], light=light)
    if name in scene.viewpoint_by_id:
        return panorama_at(scene, name, _degrees(turn), light=light)
    if not _PLACE.fullmatch(place):
        raise SimulatorError(
            f"{scene.uri} has no viewpoint {repr_of(place)}: expected a viewpoint's id, a room's,"
            f" or x,z,heading in metres and degrees.{viewpoint_hint(scene, place)}"
        )
    return _from_point(scene, [float(each) for each in place.split(",")], light)


_CAP_SR = 0.1
"""Cap on the solid angle of one item in the richness of a view, in steradians."""


def best_outlook(scene: Scene, viewpoint: str) -> tuple[float, float]:
    """Rate the view from a viewpoint, and find the quarter with the richest view.

    Args:
        scene: with geometry.
        viewpoint: of the scene.

    Returns:
        The solid angle in steradians of all visible items, each capped at a tenth, so that many
        items at a distance count more than a wardrobe in front of the eyes. And a heading in
        radians: 0, 90, 180 or 270 degrees.
    """
    seen = [each for each in viewpoint_sight(scene, viewpoint).seen if each.owner > 0]
    worth = [0.0] * 4
    for each in seen:
        worth[round(each.heading / _LEVEL) % 4] += min(each.steradians, _CAP_SR)
    return sum(worth), worth.index(max(worth)) * _LEVEL


def _degrees(words: str) -> float:
    try:
        return wrap_angle(math.radians(float(words)))
    except (ValueError, OverflowError) as error:
        raise SimulatorError(
            f"{repr_of(words)} is no heading: expected degrees clockwise from -z."
        ) from error


def panorama_at(
    scene: Scene,
    viewpoint: str,
    heading: float,
    options: Sequence[str] | None = None,
    *,
    size: int = _SIZE,
    at: Sequence[float] | None = None,
    light: str = "baked",
) -> bytes:
    """Render the panorama from a viewpoint, with its candidates numbered.

    Args:
        scene: with geometry.
        viewpoint: id of the viewpoint.
        heading: radians; it is rounded to its quarter.
        options: candidate viewpoints in the order of their numbers; clockwise from north by
            default.
        size: width and height of a view in pixels.
        at: another position to look from, x, y of the floor and z; no candidates are numbered.
        light: ``baked`` or ``flat``.

    Returns:
        A PNG file: Left, Front, Right and Back in a row.

    Raises:
        SimulatorError: the scene has no such viewpoint, or no geometry.
    """
    if at is not None:
        return _from_point(scene, [*at, math.degrees(heading)], light)
    simulator = square_simulator(scene, size, light=light)
    try:
        pose = Pose((0.0, 0.0, 0.0), heading, 0.0, viewpoint)
        seen = simulator.reset({"eye": (pose, DEFAULT_BODY)})["eye"]
        if options is not None:
            ways = {way.viewpoint: way for way in seen.candidates}
            shown = tuple(ways[each] for each in options if each in ways)
            seen = replace(seen, candidates=shown)
        return view_pngs(seen, heading, 4, markers=True)[0]
    finally:
        simulator.close()


def square_simulator(scene: Scene, size: int, *, light: str = "baked") -> Simulator:
    """Create a simulator whose four level views are squares of this size; close it after use.

    Raises:
        SimulatorError: the scene has no geometry, or the light is unknown.
    """
    rig = tuple(replace(each, width=size, height=size) for each in resolve_rig("vln-mme"))
    return get_simulator("embedded", scene, rig=rig, light=light)


def _from_point(scene: Scene, numbers: list[float], light: str) -> bytes:
    x, z = numbers[0], numbers[-2 if len(numbers) > 2 else -1]
    y = numbers[1] if len(numbers) == 4 else floor_at(scene, x, z)
    heading = numbers[-1] if len(numbers) > 2 else 0.0
    heading = wrap_angle(math.radians(heading))
    views = []
    for k in range(4):
        camera = Camera(
            (x, y + EYE_M, z), wrap_angle(heading + k * math.pi / 2), width=_SIZE, height=_SIZE
        )
        frame = scene_renderer(scene, parse_lighting(light)).frame(camera)
        # Front is the exact heading, not its quarter.
        turned = k * math.pi / 2
        views.append(RenderedView(turned, 0.0, camera.fov, partial(frame.read, "rgb")))
    seen = Observation(Pose((x, y, z)), images={"rgb": tuple(views)})
    return view_pngs(seen, 0.0, 4)[0]


def floor_at(scene: Scene, x: float, z: float) -> float:
    """Return the y of the lowest floor under a point, or of the lowest floor if none is known."""
    heights = {floor.id: floor.height for floor in scene.floors}
    under = [
        heights[region.floor]
        for region in scene.regions
        if region.outline and Polygon(region.outline).covers(Point(x, z))
    ]
    return min(under) if under else min(heights.values())


def scene_renderer(scene: Scene, light: Lighting = "baked") -> Renderer:
    """Return the renderer of a scene, cached per scene and light."""
    name = f"renderer {light}"
    return scene_cached(scene, name, lambda: Renderer(scene_mesh(scene), light=light))


def can_render(scene: Scene) -> bool:
    """Check whether images of a scene can be rendered: it has geometry and embreex is installed."""
    return has_geometry(scene) and find_spec("embreex") is not None
