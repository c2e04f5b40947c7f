"""The ``embedded`` backend: an agent on the navigation graph that sees pictures of the scene.

It moves as on the ``graph`` backend. Pictures are rendered when they are read, so that an agent
without eyes pays for none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.scenes.distances import per_scene
from navloom.scenes.geometry import has_geometry, scene_mesh
from navloom.scenes.scene import Scene
from navloom.sim.captions import captions_for
from navloom.sim.embedded.camera import Camera
from navloom.sim.embedded.renderer import Renderer
from navloom.sim.embedded.sensors import Rig, Sensor, rig_of
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import CaptionSource, Observation, Pose, RenderedView, View
from navloom.sim.sight import EYE_M


def make(
    scene: Scene, *, captions: CaptionSource | Path | str | None = None, rig: str | Rig = "vln-mme"
) -> EmbeddedSimulator:
    """The backend as the registry makes it.

    Args:
        scene: the scene; it must have geometry.
        captions: a source of captions, or the file of a caption cache; None takes what there is.
        rig: which pictures are taken, by name or as sensors.

    Raises:
        SimulatorError: the scene has no geometry or no viewpoints, there is no such rig, or the
            cache is broken.
    """
    if captions is None or isinstance(captions, (str, Path)):
        captions = captions_for(scene, captions)
    return EmbeddedSimulator(scene, captions, rig_of(rig))


class EmbeddedSimulator(GraphSimulator):
    """See the module's docstring.

    Args:
        scene: with geometry and viewpoints.
        captions: where words come from.
        rig: which pictures are taken.

    Raises:
        SimulatorError: the scene has no geometry or no viewpoints.
    """

    capabilities = GraphSimulator.capabilities | {"rgb", "depth", "ids"}

    def __init__(
        self, scene: Scene, captions: CaptionSource | None = None, rig: Rig | None = None
    ) -> None:
        super().__init__(scene, captions)
        if not has_geometry(scene):
            raise SimulatorError(
                f"{scene.uri} has no geometry to see: neither walls nor a mesh. "
                "Use --backend graph."
            )
        self._rig = rig_of("vln-mme") if rig is None else rig

    def _observe(self, pose: Pose) -> Observation:
        return replace(super()._observe(pose), images=self._images(pose))

    def _images(self, pose: Pose) -> Mapping[str, tuple[View, ...]]:
        views: dict[str, list[View]] = {}
        for sensor in self._rig:
            views.setdefault(sensor.modality, []).append(self._view(pose, sensor))
        return {modality: tuple(each) for modality, each in views.items()}

    def _view(self, pose: Pose, sensor: Sensor) -> View:
        x, y, z = pose.position
        viewpoint = self.scene.viewpoint_by_id[pose.viewpoint or ""]
        heading = sensor.heading if sensor.compass else sensor.heading + pose.heading
        camera = Camera(
            (x, y + (viewpoint.eye_height or EYE_M), z),
            heading,
            sensor.elevation,
            sensor.width,
            sensor.height,
            sensor.fov,
        )
        render = partial(_read, self.scene, camera, sensor.modality)
        return RenderedView(camera.heading, camera.elevation, camera.fov, render)


def _read(scene: Scene, camera: Camera, modality: str) -> NDArray[Any]:
    renderer = per_scene(scene, "renderer", lambda: Renderer(scene_mesh(scene)))
    return renderer.frame(camera).read(modality)
