"""The ``habitat`` backend: habitat-sim's pictures and navmesh behind the protocol.

An agent hops on the navigation graph as on the ``graph`` backend, and leaves it by ``Forward``,
which goes along the navmesh of its body and slides along what is in the way. Off the graph there
are no candidates; within 0.1 m of a viewpoint it stands on it again. Pictures are drawn when they
are read, by a process of habitat's own that all simulators of a scene share: what an agent sees is
asked for with its camera, so that several agents cannot get each other's view.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import SimulatorError
from navloom.scenes.bodies import Embodiment
from navloom.scenes.geometry import has_geometry
from navloom.scenes.scene import Point3, Scene
from navloom.sim.captions import captions_for
from navloom.sim.embedded.camera import Camera
from navloom.sim.embedded.embedded import camera_of
from navloom.sim.embedded.sensors import Rig, Sensor, rig_of
from navloom.sim.graph import STANDING_M, Agent, GraphSimulator, nearest_viewpoint
from navloom.sim.habitat.habitat_process import Place, habitat_at, lacking
from navloom.sim.habitat.habitat_scenes import SceneFiles, scene_files
from navloom.sim.habitat.touching import floor_under, touched
from navloom.sim.habitat.walking import Ground
from navloom.sim.protocol import (
    Action,
    Captions,
    CaptionSource,
    Contact,
    Forward,
    Hop,
    Observation,
    Path,
    Pose,
    RenderedView,
    Velocity,
    View,
)

GPU = "NAVLOOM_GPU_DEVICE"
_MOST_M = 100.0
_LEVEL_M = 0.1
_TOUCH_M = 0.005
"""Whoever gets so much less far than it wanted has touched something."""


def make(
    scene: Scene,
    *,
    captions: CaptionSource | FilePath | str | None = None,
    rig: str | FilePath | Rig = "vln-mme",
    gpu_device_id: int | None = None,
    dataset: FilePath | str | None = None,
) -> HabitatSimulator:
    """The backend as the registry makes it.

    Args:
        scene: the scene; it must have geometry, unless a dataset has it.
        captions: a source of captions, or the file of a caption cache; None takes what there is.
        rig: which pictures are taken (:mod:`navloom.sim.embedded.sensors`); no lidar.
        gpu_device_id: the CUDA device that is drawn on; -1 is any EGL device, software too; None
            is what ``NAVLOOM_GPU_DEVICE`` says, else -1.
        dataset: a scene dataset's config of your own that has the scene by its id.

    Raises:
        SimulatorError: habitat_sim is not there, the scene has no geometry or no viewpoints, there
            is no such rig, the dataset lacks something, or the cache of captions is broken. That
            there is nothing to draw on is found out by whoever looks first
            (:func:`navloom.sim.habitat.habitat_process.check_drawing` asks beforehand).
    """
    if captions is None or isinstance(captions, (str, FilePath)):
        captions = captions_for(scene, captions)
    where = None if dataset is None else FilePath(dataset).expanduser().resolve()
    gpu = gpu_named() if gpu_device_id is None else gpu_device_id
    made = HabitatSimulator(scene, captions, rig_of(rig), gpu, where)
    if why := lacking():
        raise SimulatorError(why)
    if where is not None:
        scene_files(scene, where)
    return made


def gpu_named() -> int:
    """The device that ``NAVLOOM_GPU_DEVICE`` names; -1, any, where it names none.

    Raises:
        SimulatorError: it is no number.
    """
    given = os.environ.get(GPU, "").strip() or "-1"
    try:
        return int(given)
    except ValueError:
        raise SimulatorError(f"{GPU}={given}: expected a device's number, or -1 for any.") from None


@dataclass(frozen=True)
class _Eyes:
    """A scene as the process sees it; a view of it keeps it."""

    scene: Scene
    dataset: FilePath | None
    gpu: int
    modalities: tuple[str, ...]

    @cached_property
    def files(self) -> SceneFiles:
        return scene_files(self.scene, self.dataset)

    @cached_property
    def place(self) -> Place:
        config, handle = str(self.files.config), self.files.handle
        return Place(config, handle, self.gpu, self.modalities, unlit=self.dataset is None)

    def look(self, sensor: Sensor, camera: Camera) -> NDArray[Any]:
        """The picture of one sensor."""
        shape = (sensor.modality, sensor.projection, camera.width, camera.height, camera.fov)
        with habitat_at(self.place) as process:
            answer, raw = process.ask(
                "look",
                shape=shape,
                position=camera.position,
                heading=camera.heading,
                elevation=camera.elevation,
            )
        image: NDArray[Any] = np.frombuffer(raw, dtype=answer["dtype"]).reshape(answer["shape"])
        if sensor.modality == "ids":
            return self.files.owned(image)
        if sensor.modality == "depth" and sensor.far is not None:
            image = np.minimum(image, np.float32(sensor.far))
        return image


class HabitatSimulator(GraphSimulator):
    """See the module's docstring.

    Args:
        scene: with viewpoints.
        captions: where words come from.
        rig: which pictures are taken.
        gpu: the device that is drawn on.
        dataset: the config of a scene dataset; None is an export of the scene.

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
    ) -> None:
        self._dataset = dataset
        super().__init__(scene, captions)
        self._rig = rig_of("vln-mme") if rig is None else rig
        if any(sensor.modality == "lidar" for sensor in self._rig):
            raise SimulatorError(
                "habitat has no lidar: take it out of the rig, or use --backend embedded."
            )
        if isinstance(gpu, bool) or not isinstance(gpu, int) or not -1 <= gpu < 1_000:
            raise SimulatorError(f"gpu_device_id is {gpu}: expected a device's number, or -1.")
        modalities = tuple(sorted({sensor.modality for sensor in self._rig}))
        self._eyes = _Eyes(scene, dataset, gpu, modalities)
        self._grounds: dict[Embodiment, Ground] = {}
        own = GraphSimulator.capabilities | {"collide"} | set(modalities)
        # What a dataset of the user's has cannot be changed.
        self.capabilities = own if dataset is None else own - {"change"}

    def _check(self, scene: Scene) -> None:
        super()._check(scene)
        if self._dataset is None and not has_geometry(scene):
            raise SimulatorError(
                f"{scene.uri} has no geometry for habitat to open: neither walls nor a mesh. Use"
                " --backend graph, or name a scene dataset that has it."
            )

    def geodesic(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """The shortest way: along edges between viewpoints, on the navmesh from anywhere else."""
        if all(self._is_on_graph(each) for each in (start, *goals)):
            return super().geodesic(start, goals, embodiment)
        return self.way_on_foot(start, goals, embodiment)

    def way_on_foot(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """The shortest way on the navmesh of a body, between viewpoints, too.

        Args:
            start: a pose, or a viewpoint's id.
            goals: poses or viewpoint ids; at least one.
            embodiment: whose way it is.

        Returns:
            The way, which goes through no viewpoints; None where there is none.

        Raises:
            SimulatorError: no goal, an unknown viewpoint, or habitat fails.
        """
        if not goals:
            raise SimulatorError("No goal to go to: expected at least one.")
        places = [self._floor(each) for each in (start, *goals)]
        return self._ground(embodiment).way(places[0], places[1:])

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """A changed copy in the place of the scene; it is exported when somebody looks or walks."""
        if "change" not in self.capabilities:
            raise SimulatorError(
                f"{self.scene.uri} is opened out of {self._dataset}, which cannot be changed:"
                " leave the dataset out to have the scene exported."
            )
        return super().change(scene)

    def _now_in(self, scene: Scene, words: CaptionSource) -> None:
        super()._now_in(scene, words)
        self._eyes, self._grounds = replace(self._eyes, scene=scene), {}

    def _observations(self) -> dict[str, Observation]:
        return {
            name: replace(each, images=self._images(each.pose, self._agents[name].body))
            for name, each in super()._observations().items()
        }

    def _observe(self, pose: Pose) -> Observation:
        if pose.viewpoint is None:
            return Observation(pose=pose, captions=Captions())
        return super()._observe(pose)

    def _images(self, pose: Pose, body: Embodiment) -> Mapping[str, tuple[View, ...]]:
        views: dict[str, list[View]] = {}
        for sensor in self._rig:
            camera = camera_of(self.scene, pose, sensor, body.height)
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

    def _after(self, name: str, action: Action) -> Agent:
        agent = self._agent(name)
        if agent.stopped:
            return agent
        match action:
            case Forward(metres):
                pose, contacts = self._gone(name, agent, metres)
                return replace(agent, pose=pose, contacts=contacts)
            case Velocity():
                raise SimulatorError(
                    "The habitat simulator has no Velocity: expected Hop, Forward, Turn, Look or"
                    " Stop."
                )
            case Hop(viewpoint) if agent.pose.viewpoint is None:
                self._known(viewpoint)
                raise SimulatorError(
                    f"{name} stands off the graph, so no edge leads to {viewpoint}: go Forward to"
                    f" within {STANDING_M} m of a viewpoint, or place() it on one."
                )
        return super()._after(name, action)

    def _gone(self, name: str, agent: Agent, metres: float) -> tuple[Pose, tuple[Contact, ...]]:
        """Where one is after going forward, and what it touched."""
        if not 0 <= metres <= _MOST_M:
            raise SimulatorError(f"Forward of {metres} m: expected 0 to {_MOST_M:.0f}.")
        pose, body = agent.pose, agent.body
        found = self._ground(body).walked(pose.position, pose.heading, metres)
        if found is None:
            raise SimulatorError(
                f"{name} cannot go Forward from {_spot(pose)}: no floor that {body.name},"
                f" {body.width:.2f} m wide, can stand on is near."
            )
        end = self._on_floor(found.end, pose.position[1] + found.end[1] - found.start[1])
        sin, cos = math.sin(pose.heading), math.cos(pose.heading)
        along = (end[0] - found.start[0]) * sin - (end[2] - found.start[2]) * cos
        contacts: tuple[Contact, ...] = ()
        if metres - along > _TOUCH_M:
            what, point = touched(self.scene, end, pose.heading, body)
            contacts = (Contact(what, metres - along, point),)
        return replace(pose, position=end, viewpoint=self._viewpoint_at(end)), contacts

    def _on_floor(self, point: Point3, usual: float) -> Point3:
        """A place of a navmesh on the floor itself.

        Args:
            point: the place; it lies some centimetres above the floor, on stairs more.
            usual: how high it would be where the navmesh is as far off as where one came from.
        """
        x, top, z = point
        floor = floor_under(self.scene, point)
        return x, max(top - _LEVEL_M, min(top, usual)) if floor is None else floor, z

    def _viewpoint_at(self, position: Point3) -> str | None:
        nearest, metres = nearest_viewpoint(self.scene, position)
        return nearest if metres <= STANDING_M else None

    def _placed(
        self, name: str, pose: Pose, body: Embodiment, others: Mapping[str, Agent]
    ) -> Agent:
        if self._is_on_graph(pose):
            return super()._placed(name, pose, body, others)
        # Its angles are checked, and its place is not on the graph.
        checked = self._standing(replace(pose, viewpoint=self.scene.viewpoints[0].id))
        found = self._ground(body).snapped(_finite_point(pose.position))
        if found is None:
            raise SimulatorError(
                f"The pose at {_spot(pose)} is neither on a viewpoint nor where {body.name},"
                f" {body.width:.2f} m wide, can stand: expected a place on the floor."
            )
        position = self._on_floor(found, pose.position[1])
        return Agent(replace(checked, position=position, viewpoint=None), body)

    def _may_be_at(self, scene: Scene, pose: Pose) -> bool:
        return pose.viewpoint is None or nearest_viewpoint(scene, pose.position)[1] <= STANDING_M

    def _staying(self, pose: Pose) -> Pose:
        return pose if pose.viewpoint is None else super()._staying(pose)

    def _is_on_graph(self, place: Pose | str) -> bool:
        if isinstance(place, str) or place.viewpoint is not None:
            return True
        return self._viewpoint_at(_finite_point(place.position)) is not None

    def _floor(self, place: Pose | str) -> Point3:
        if isinstance(place, Pose) and place.viewpoint is None:
            return _finite_point(place.position)
        return self._standing(_posed(place)).position

    def _ground(self, body: Embodiment) -> Ground:
        if body not in self._grounds:
            eyes = self._eyes
            self._grounds[body] = Ground(self.scene, eyes.place, eyes.files, body)
        return self._grounds[body]


def _posed(place: Pose | str) -> Pose:
    return Pose((0.0, 0.0, 0.0), viewpoint=place) if isinstance(place, str) else place


def _spot(pose: Pose) -> str:
    x, y, z = pose.position
    return f"({x:.2f}, {y:.2f}, {z:.2f})"


def _finite_point(point: Point3) -> Point3:
    if not all(math.isfinite(each) for each in point):
        raise SimulatorError(f"A pose at {point}: expected three finite numbers, in metres.")
    return point
