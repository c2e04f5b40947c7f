"""The ``habitat`` backend: habitat-sim's images and navmesh behind the simulator protocol.

Agents move as in :mod:`navloom_worlds.motion.body_simulator`, on the navmeshes of their bodies.
Images are rendered when they are read, by habitat's own process, which all simulators of a scene
share. Each image is requested with its camera, so that several agents cannot get each other's view.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Scene
from navloom.sim.captions import captions_for
from navloom.sim.protocol import (
    THRESHOLD_M,
    CaptionSource,
    Observation,
    PhysicsRules,
    Pose,
    RenderedView,
    View,
    parse_physics,
)
from navloom_worlds.geometry import has_geometry
from navloom_worlds.habitat.habitat_process import (
    OpenScene,
    check_rendering,
    habitat_session,
    missing_reason,
)
from navloom_worlds.habitat.habitat_scenes import SceneFiles, scene_files
from navloom_worlds.habitat.navmesh_motion import NavmeshMotion
from navloom_worlds.habitat.navmesh_paths import WalkableScene
from navloom_worlds.motion.body_simulator import BodySimulator
from navloom_worlds.motion.motion_backend import MotionBackend
from navloom_worlds.rendering.camera import Camera
from navloom_worlds.rendering.embedded import sensor_camera
from navloom_worlds.rendering.sensors import Rig, Sensor, resolve_rig

GPU = "NAVLOOM_GPU_DEVICE"


def make(
    scene: Scene,
    *,
    captions: CaptionSource | FilePath | str | None = None,
    rig: str | FilePath | Rig = "vln-mme",
    gpu_device_id: int | None = None,
    dataset: FilePath | str | None = None,
    physics: str = "off",
    collision_threshold: float = THRESHOLD_M,
) -> HabitatSimulator:
    """Create the backend, as the registry requires.

    Args:
        scene: the scene; it must have geometry, unless a dataset has it.
        captions: a source of captions, or the file of a caption cache; None for the default source.
        rig: the sensors (:mod:`navloom_worlds.rendering.sensors`); no lidar.
        gpu_device_id: the CUDA device to render on; -1 is any EGL device, including software; None
            is the value of ``NAVLOOM_GPU_DEVICE``, else -1.
        dataset: config of a user's scene dataset that has the scene by its id.
        physics: the effect of contacts (:class:`navloom.sim.protocol.PhysicsRules`).
        collision_threshold: metres of displacement that end a run under ``strict``.

    Raises:
        SimulatorError: habitat_sim is missing, the scene has no geometry or no viewpoints, the rig
            or physics is unknown, the dataset is incomplete, or the caption cache is broken. A
            missing render device is reported at the first image
            (:func:`navloom_worlds.habitat.habitat_process.check_rendering` checks it in advance).
    """
    rules = parse_physics(physics, collision_threshold)
    if captions is None or isinstance(captions, (str, FilePath)):
        captions = captions_for(scene, captions)
    where = None if dataset is None else FilePath(dataset).expanduser().resolve()
    gpu = configured_gpu() if gpu_device_id is None else gpu_device_id
    made = HabitatSimulator(scene, captions, resolve_rig(rig), gpu, where, rules)
    if why := missing_reason():
        raise SimulatorError(why)
    if where is not None:
        scene_files(scene, where)
    return made


def check() -> str:
    """Return the version of habitat_sim after a test rendering, cached per device.

    Raises:
        SimulatorError: there is no habitat_sim, or no render device.
    """
    return check_rendering(configured_gpu())


def configured_gpu() -> int:
    """Return the device of ``NAVLOOM_GPU_DEVICE``; -1, any, if it is not set.

    Raises:
        SimulatorError: it is not a number.
    """
    given = os.environ.get(GPU, "").strip() or "-1"
    try:
        return int(given)
    except ValueError:
        raise SimulatorError(f"{GPU}={given}: expected a device's number, or -1 for any.") from None


@dataclass(frozen=True)
class _Eyes:
    """Scene as habitat's process renders it; its views keep a reference to it."""

    scene: Scene
    dataset: FilePath | None
    gpu: int
    modalities: tuple[str, ...]

    @cached_property
    def files(self) -> SceneFiles:
        return scene_files(self.scene, self.dataset)

    @cached_property
    def place(self) -> OpenScene:
        config, handle = str(self.files.config), self.files.handle
        return OpenScene(config, handle, self.gpu, self.modalities, unlit=self.dataset is None)

    def look(self, sensor: Sensor, camera: Camera) -> NDArray[Any]:
        """Return the image of one sensor."""
        shape = (sensor.modality, sensor.projection, camera.width, camera.height, camera.fov)
        with habitat_session(self.place) as process:
            answer, raw = process.ask(
                "look",
                shape=shape,
                position=camera.position,
                heading=camera.heading,
                elevation=camera.elevation,
            )
        image: NDArray[Any] = np.frombuffer(raw, dtype=answer["dtype"]).reshape(answer["shape"])
        if sensor.modality == "ids":
            return self.files.owner_ids(image)
        if sensor.modality == "depth" and sensor.far is not None:
            image = np.minimum(image, np.float32(sensor.far))
        return image


class HabitatSimulator(BodySimulator):
    """Simulator backend that renders and moves with habitat-sim; see the module's docstring.

    Args:
        scene: with viewpoints.
        captions: the source of captions.
        rig: the sensors.
        gpu: the render device.
        dataset: the config of a scene dataset; None is an export of the scene.
        rules: the effect of contacts.

    Raises:
        SimulatorError: the scene has no viewpoints or no geometry, or the rig a lidar.
    """

    def __init__(
        self,
        scene: Scene,
        captions: CaptionSource | None = None,
        rig: Rig | None = None,
        gpu: int = -1,
        dataset: FilePath | None = None,
        rules: PhysicsRules | None = None,
    ) -> None:
        self._dataset = dataset
        super().__init__(scene, captions, rules)
        self._rig = resolve_rig("vln-mme") if rig is None else rig
        if any(sensor.modality == "lidar" for sensor in self._rig):
            raise SimulatorError(
                "habitat has no lidar: take it out of the rig, or use --backend embedded."
            )
        if isinstance(gpu, bool) or not isinstance(gpu, int) or not -1 <= gpu < 1_000:
            raise SimulatorError(f"gpu_device_id is {gpu}: expected a device's number, or -1.")
        modalities = tuple(sorted({sensor.modality for sensor in self._rig}))
        self._eyes = _Eyes(scene, dataset, gpu, modalities)
        own = BodySimulator.capabilities | set(modalities)
        # Scenes of a user's dataset cannot be changed.
        self.capabilities = own if dataset is None else own - {"change"}

    def _check(self, scene: Scene) -> None:
        super()._check(scene)
        if self._dataset is None and not has_geometry(scene):
            raise SimulatorError(
                f"{scene.uri} has no geometry for habitat to open: neither walls nor a mesh. Use"
                " --backend graph, or name a scene dataset that has it."
            )

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """Replace the scene by a changed copy, exported at the next image or motion."""
        if "change" not in self.capabilities:
            raise SimulatorError(
                f"{self.scene.uri} is opened out of {self._dataset}, which cannot be changed:"
                " leave the dataset out to have the scene exported."
            )
        return super().change(scene)

    def _now_in(self, scene: Scene, words: CaptionSource) -> None:
        super()._now_in(scene, words)
        self._eyes = replace(self._eyes, scene=scene)

    def _observations(self) -> dict[str, Observation]:
        return {
            name: replace(each, images=self._images(each.pose, self._agents[name].body))
            for name, each in super()._observations().items()
        }

    def _images(self, pose: Pose, body: Embodiment) -> Mapping[str, tuple[View, ...]]:
        views: dict[str, list[View]] = {}
        for sensor in self._rig:
            camera = sensor_camera(self.scene, pose, sensor, body.height)
            view = RenderedView(
                camera.heading,
                camera.elevation,
                camera.fov,
                partial(self._eyes.look, sensor, camera),
                camera.position,
                sensor.projection,
            )
            views.setdefault(sensor.modality, []).append(view)
        return {modality: tuple(each) for modality, each in views.items()}

    def _made_footing(self, body: Embodiment) -> MotionBackend:
        eyes, scene = self._eyes, self.scene
        ground = WalkableScene(scene, eyes.place, eyes.files, body)
        return MotionBackend(lambda: NavmeshMotion(scene, ground, body), ground.way)
