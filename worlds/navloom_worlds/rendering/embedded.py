"""The ``embedded`` backend: bodies that move in a scene's mesh and see pictures of it.

They move as :mod:`navloom_worlds.motion.bodied` says, by the exact mover of the mesh. Pictures are
rendered when they are read, so that an agent without eyes pays for none: not even the mesh is made
before. Agents see one another; in frames of ids the others are ``agent_owner`` of where they stand
among all agents' names in order. Who stands inside another sees through it.
Colour, depth and ids of one camera share their rays. What was seen before a change of the scene
still shows what was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError, did_you_mean
from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene, wrapped
from navloom.scenes.scene import Point3, Scene
from navloom.scenes.terrain import Stand
from navloom.sim.captions import captions_for
from navloom.sim.physics import THRESHOLD_M, PhysicsRules, physics_rules
from navloom.sim.protocol import CaptionSource, Observation, Pose, RenderedView, View
from navloom.sim.viewer import EYE_M
from navloom_worlds.geometry import has_geometry, scene_mesh
from navloom_worlds.motion.bodied import BodySimulator
from navloom_worlds.motion.body_field import Way, body_field
from navloom_worlds.motion.footing import Footing
from navloom_worlds.motion.mover import mover_of
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.company import Bodies, Company, beside, with_bodies
from navloom_worlds.rendering.renderer import Frame, Lighting, Renderer
from navloom_worlds.rendering.sensors import Rig, Sensor, rig_of

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
    """The backend as the registry makes it.

    Args:
        scene: the scene; it must have geometry.
        captions: a source of captions, or the file of a caption cache; None takes what there is.
        rig: which pictures are taken: names, a file, or sensors
            (:mod:`navloom_worlds.rendering.sensors`).
        light: ``baked``, worked out with rays once a home, or ``unbaked``, which needs no time.
        physics: what a touch comes to (:class:`navloom.sim.physics.PhysicsRules`).
        collision_threshold: metres of displacement that end a run under ``strict``.

    Raises:
        SimulatorError: the scene has no geometry or no viewpoints, there is no such rig, light or
            physics, the threshold is none, or the cache is broken.
    """
    rules = physics_rules(physics, collision_threshold)
    if captions is None or isinstance(captions, (str, Path)):
        captions = captions_for(scene, captions)
    known: dict[str, Lighting] = {"baked": "baked", "unbaked": "unbaked"}
    if light not in known:
        raise SimulatorError(
            f"There is no light '{light}': expected {' or '.join(known)}."
            + did_you_mean(light, known)
        )
    return EmbeddedSimulator(scene, captions, rig_of(rig), known[light], rules)


class EmbeddedSimulator(BodySimulator):
    """See the module's docstring.

    Args:
        scene: with geometry and viewpoints.
        captions: where words come from.
        rig: which pictures are taken.
        light: as :func:`make` has it.
        rules: what a touch comes to.

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
        self._rig = rig_of("vln-mme") if rig is None else rig
        self.capabilities = BodySimulator.capabilities | {each.modality for each in self._rig}
        self._light: Lighting = light

    def _check(self, scene: Scene) -> None:
        super()._check(scene)
        if not has_geometry(scene):
            raise SimulatorError(
                f"{scene.uri} has no geometry to see: neither walls nor a mesh. "
                "Use --backend graph."
            )

    def _made_footing(self, body: Embodiment) -> Footing:
        scene = self.scene
        return Footing(
            lambda: mover_of(scene, body), lambda start, goals: _way(scene, body, start, goals)
        )

    def _observations(self) -> dict[str, Observation]:
        seen = super()._observations()
        return {
            name: replace(each, images=self._images(name, each.pose)) for name, each in seen.items()
        }

    def _images(self, name: str, pose: Pose) -> Mapping[str, tuple[View, ...]]:
        height = self._agents[name].body.height
        others = {
            number: (agent.body, Stand(agent.pose.position, agent.pose.heading))
            for number, (who, agent) in enumerate(sorted(self._agents.items()))
            if who != name
        }
        views: dict[str, list[View]] = {}
        shots: dict[Camera, _Shot] = {}
        for sensor in self._rig:
            camera = camera_of(self.scene, pose, sensor, height)
            shot = shots.setdefault(camera, _Shot(self.scene, camera, self._light, others))
            views.setdefault(sensor.modality, []).append(_view(sensor, shot))
        return {modality: tuple(each) for modality, each in views.items()}


def _way(scene: Scene, body: Embodiment, start: Point3, goals: Sequence[Point3]) -> Way | None:
    return body_field(scene, body).way(start, goals, driven=True)


def camera_of(scene: Scene, pose: Pose, sensor: Sensor, height: float) -> Camera:
    """Where a sensor's camera is and looks.

    Args:
        scene: where it is.
        pose: the agent's, on a viewpoint or on the floor.
        sensor: the sensor.
        height: the body's, in metres; no eye is higher.
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
        wrapped(turned + sensor.heading),
        max(-_LEVEL, min(_LEVEL, sensor.elevation + tilt)),
        sensor.width,
        sensor.height,
        sensor.fov,
        "equirect" if sensor.projection == "equirect" else "pinhole",
    )


@dataclass(frozen=True)
class _Shot:
    """What one camera sees, rendered when it is first read."""

    scene: Scene
    camera: Camera
    light: Lighting
    others: Bodies

    @cached_property
    def drawn(self) -> Renderer | Company:
        renderer = _renderer(self.scene, self.light)
        return with_bodies(renderer, beside(self.camera, self.others))

    @cached_property
    def frame(self) -> Frame:
        return self.drawn.frame(self.camera)


def _renderer(scene: Scene, light: Lighting) -> Renderer:
    name = "renderer" if light == "baked" else f"renderer {light}"
    return per_scene(scene, name, lambda: Renderer(scene_mesh(scene), light=light))


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


def _ranges(sensor: Sensor, shot: _Shot) -> NDArray[np.float32]:
    """Metres of range, (beams, columns): the highest beam first, clockwise from the left edge."""
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
    ranges: NDArray[np.float32] = metres.astype(np.float32).reshape(sensor.height, sensor.width)
    return ranges
