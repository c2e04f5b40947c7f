"""Protocol of all simulators: poses, actions, observations, and contact rules.

Frame: right-handed, y up, metres, radians; heading 0 looks along -z and grows clockwise seen from
above; elevation is positive upwards. A single agent is a mapping of one. Nothing here holds a
scene's pixels for longer than a step: an agent's graph puts images in a media store
(:mod:`navloom.sim.media_store`) and keeps their names.

A backend claims its abilities by names in ``capabilities``:

    hop         Hop: from a viewpoint to one next to it
    discrete    Forward, Turn, Look
    continuous  Velocity
    waypoint    Waypoint
    captions    Observation.captions
    rgb depth ids lidar   Observation.images under that sensor's name
    change      change(): doors open and close, items move (:class:`ChangingSimulator`)
    collide     Observation.contacts are filled in
    restore     state() and restore(): a run continues in another process
                (:class:`RestorableSimulator`)

:class:`PhysicsRules` are the options of a simulator with bodies: the consequences of a contact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from numpy.typing import NDArray

from navloom.errors import SimulatorError, did_you_mean
from navloom.scenes.bodies import Embodiment
from navloom.scenes.safe_files import repr_of
from navloom.scenes.scene import Point3, Scene

MOST_SUMMARY = 400
MOST_CAPTION = 300
MOST_DESCRIPTION = 110
"""Characters of a candidate's description. The median Matterport sector caption has 109."""
MOST_NAME = 60
NEAR_M = 3.0
"""Range in metres of listed objects, as in the Matterport observations."""


CAPABILITIES = frozenset(
    {"hop", "discrete", "continuous", "waypoint", "captions", "rgb", "depth", "ids", "lidar"}
    | {"change", "collide", "restore"}
)
FORWARD_M = 0.25
TURN_RAD = math.radians(30)


@dataclass(frozen=True, slots=True)
class Pose:
    """Pose of an agent: position, heading, elevation, and viewpoint.

    Attributes:
        position: the floor under the body, in metres.
        heading: radians, clockwise from -z seen from above, in [0, 2 pi).
        elevation: radians, positive upwards.
        viewpoint: the viewpoint it stands on, if any.
    """

    position: Point3
    heading: float = 0.0
    elevation: float = 0.0
    viewpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """Action: go to a viewpoint one hop away; the agent ends facing the direction of travel."""

    viewpoint: str


@dataclass(frozen=True, slots=True)
class Forward:
    """Action: drive straight ahead; negative metres drive backwards without turning."""

    metres: float = FORWARD_M


@dataclass(frozen=True, slots=True)
class Turn:
    """Action: turn; clockwise (to the right) is positive.

    The body turns on the spot, or forwards on an arc of its turning radius if it has one.
    """

    radians: float = TURN_RAD


@dataclass(frozen=True, slots=True)
class Look:
    """Action: tilt the head; upwards is positive."""

    radians: float = TURN_RAD


@dataclass(frozen=True, slots=True)
class Velocity:
    """Action: drive at constant velocities for some time.

    Attributes:
        forward: metres a second.
        turn: radians a second, clockwise positive.
        seconds: duration.
    """

    forward: float
    turn: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Waypoint:
    """Action: drive to a point on the floor, by the shortest path for the body.

    Attributes:
        position: in metres.
    """

    position: Point3


@dataclass(frozen=True, slots=True)
class Stop:
    """Action: declare arrival; the pose stays."""


Action: TypeAlias = Hop | Forward | Turn | Look | Velocity | Waypoint | Stop


@dataclass(frozen=True, slots=True)
class SeenObject:
    """Object near the agent.

    Attributes:
        name: the source's own word, bounded; untrusted.
        heading: radians in the scene's frame (not relative to the agent).
        distance: metres.
    """

    name: str
    heading: float
    distance: float


@dataclass(frozen=True, slots=True)
class Captions:
    """Captions of a viewpoint. Texts are untrusted data.

    Attributes:
        summary: one sentence about the whole place; "" if there is none.
        sectors: eight captions, the k-th of the 45 degrees centred on heading k x 45 degrees.
        objects: objects within 3 m, nearest first.
        region: the region's id, if known.
    """

    summary: str = ""
    sectors: tuple[str, ...] = ()
    objects: tuple[SeenObject, ...] = ()
    region: str | None = None


@runtime_checkable
class CaptionSource(Protocol):
    """Source of captions for a simulator."""

    def at(self, viewpoint: str) -> Captions:
        """Return the captions of a viewpoint."""
        ...

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """Return a candidate's description: one line about that direction."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """Viewpoint one hop away.

    Attributes:
        viewpoint: its id.
        heading: direction to it in the scene's frame, radians in [0, 2 pi).
        elevation: radians, positive upwards.
        distance: metres, in space.
        description: one line about that direction; untrusted.
        region: the region it is in, if known.
        hidden: whether something stands between the camera and the viewpoint
            (:func:`navloom.sim.views.hidden_candidates`); None leaves that to the depth images.
    """

    viewpoint: str
    heading: float
    elevation: float
    distance: float
    description: str = ""
    region: str | None = None
    hidden: bool | None = None


@dataclass(frozen=True, slots=True)
class Contact:
    """Contact of the body during the last action.

    Attributes:
        what: what was touched: an item's id, ``"wall"``, ``"door A <-> B"`` and so on as named by
            :func:`navloom_worlds.geometry.semantic_ids.owner_name`, another agent's name,
            ``"step"`` before a riser that is too high, or ``"edge"`` where the floor ends.
        displacement: metres of the body's motion that the contact removed; 0 for a door that the
            body opened on its path.
        point: position of the contact.
    """

    what: str
    displacement: float
    point: Point3


def displacing_contacts(contacts: Iterable[Contact]) -> list[Contact]:
    """Return the contacts that displaced the body; doors that it opened did not."""
    return [contact for contact in contacts if contact.displacement > 0]


@dataclass(frozen=True, slots=True)
class View:
    """Image of one camera view.

    Attributes:
        heading: of its centre in the scene's frame, radians.
        elevation: of its centre, radians.
        fov: horizontal field of view, radians.
        image: (height, width, 3) uint8 for ``rgb``; (height, width) float32 metres along the view
            axis, 0 for no hit, for ``depth`` (the range if it is no pinhole view); (height, width)
            int32 in the numbering of :mod:`navloom_worlds.geometry.semantic_ids` for ``ids``;
            (beams, columns) float32 metres of range, the highest beam first, 0 for no hit, for
            ``lidar``.
        position: of the camera, in metres; None if unknown.
        projection: ``pinhole``, ``equirect`` or ``lidar``.
    """

    heading: float
    elevation: float
    fov: float
    image: NDArray[Any]
    position: Point3 | None = None
    projection: str = "pinhole"


class RenderedView(View):
    """View that is rendered when its image is first read, so that unread views cost nothing.

    Args:
        heading: as a view's.
        elevation: as a view's.
        fov: as a view's.
        render: renders the image; called at most once.
        position: as a view's.
        projection: as a view's.
    """

    __slots__ = ("_made", "_render")
    _made: NDArray[Any] | None
    _render: Callable[[], NDArray[Any]] | None

    def __init__(
        self,
        heading: float,
        elevation: float,
        fov: float,
        render: Callable[[], NDArray[Any]],
        position: Point3 | None = None,
        projection: str = "pinhole",
    ) -> None:
        told: dict[str, Any] = {"heading": heading, "elevation": elevation, "fov": fov}
        told |= {"position": position, "projection": projection}
        told |= {"_render": render, "_made": None}
        for name, value in told.items():
            object.__setattr__(self, name, value)

    @property
    def image(self) -> NDArray[Any]:
        """Image, rendered on first access."""
        if self._render is not None:
            object.__setattr__(self, "_made", self._render())
            # The closure may hold large data.
            object.__setattr__(self, "_render", None)
        assert self._made is not None  # noqa: S101
        return self._made

    @property
    def made(self) -> bool:
        """True if the image has been rendered."""
        return self._made is not None


@dataclass(frozen=True, slots=True)
class Observation:
    """Observation of one agent after a step.

    Attributes:
        pose: its current pose.
        candidates: viewpoints one hop away, sorted by global heading; empty off the graph.
        captions: None if the backend has none.
        images: views by sensor (``rgb``, ``depth``, ``ids``, ``lidar``), in the rig's order.
        contacts: contacts of the last action.
        collision: whether a contact displaced it by the threshold or more under ``strict``
            physics: it stays until it is placed elsewhere.
    """

    pose: Pose
    candidates: tuple[Candidate, ...] = ()
    captions: Captions | None = None
    images: Mapping[str, tuple[View, ...]] = field(default_factory=dict)
    contacts: tuple[Contact, ...] = ()
    collision: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """Shortest path.

    Attributes:
        points: floor positions from start to goal, both included.
        metres: its length.
        viewpoints: the viewpoints on it, if it runs on the graph.
    """

    points: tuple[Point3, ...]
    metres: float
    viewpoints: tuple[str, ...] = ()


@runtime_checkable
class Simulator(Protocol):
    """Simulator of one scene. Not safe to share between tasks: each run leases its own."""

    scene: Scene
    capabilities: frozenset[str]

    def reset(
        self, agents: Mapping[str, tuple[Pose, Embodiment]], *, seed: int = 0
    ) -> Mapping[str, Observation]:
        """Put agents in the scene, forget previous ones, and return the observations.

        A pose that names a viewpoint stands on it, whatever its position is.

        Raises:
            SimulatorError: no agent, or a pose that is nowhere.
        """
        ...

    def place(self, agent: str, pose: Pose) -> Observation:
        """Put one agent at another pose, able to act again; return the observation. Others stay.

        Raises:
            SimulatorError: before ``reset``; an unknown agent; a pose that is nowhere. Then nobody
                has moved.
        """
        ...

    def step(self, actions: Mapping[str, Action]) -> Mapping[str, Observation]:
        """Execute actions and return the observations; agents not named, and stopped ones, stay.

        They act in the mapping's order, each among the others at their current poses.

        Raises:
            SimulatorError: before ``reset``; an unknown agent; an action the backend does not have;
                a hop without an edge; a number that is not finite. Then nobody has moved.
        """
        ...

    def geodesic(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """Return the shortest path to the nearest goal; None if none is reachable.

        Args:
            start: a pose, or a viewpoint's id.
            goals: poses or viewpoint ids; at least one.
            embodiment: the body that follows the path.
        """
        ...

    def close(self) -> None:
        """Release resources; closing twice is fine."""
        ...


@runtime_checkable
class DrivenSimulator(Simulator, Protocol):
    """Simulator that claims ``waypoint``: bodies may also stand off viewpoints."""

    def seen_from(self, viewpoint: str) -> Observation:
        """Return the observation at a viewpoint, without an agent there: candidates and captions.

        Raises:
            SimulatorError: there is no such viewpoint.
        """
        ...


@runtime_checkable
class ChangingSimulator(Simulator, Protocol):
    """Simulator that claims ``change``: its scene can change while agents are in it."""

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """Replace the scene by a changed copy; agents stay.

        Doors are opened or closed, items moved or removed:
        :func:`navloom_worlds.mend.scene_edits.edit_scene` makes such a copy. From then on ``scene``
        is the copy, and images, captions and candidates are of it; ``reset`` does not undo it.

        Args:
            scene: a copy with every viewpoint that an agent stands on.

        Raises:
            SimulatorError: before ``reset``; a viewpoint on which an agent stands is missing. Then
                nothing has changed.
        """
        ...


@runtime_checkable
class RestorableSimulator(Simulator, Protocol):
    """Simulator that claims ``restore``: its state can be saved and restored exactly."""

    def state(self) -> dict[str, Any]:
        """Return the state of agents and items as JSON.

        It holds poses, bodies, stopped agents, last contacts, and the changes of
        :meth:`ChangingSimulator.change`: enough for the same observations.

        Raises:
            SimulatorError: before ``reset``.
        """
        ...

    def restore(self, state: Mapping[str, Any]) -> Mapping[str, Observation]:
        """Continue from a state, also of another process; present agents are forgotten.

        Args:
            state: result of :meth:`state` of a simulator of the same kind and the same scene.
                Untrusted.

        Returns:
            The observations at that state, bit for bit.

        Raises:
            SimulatorError: it is not such a state. Then nothing has changed.
        """
        ...


Physics: TypeAlias = Literal["off", "slide", "strict", "telhop"]
PHYSICS: tuple[Physics, ...] = get_args(Physics)
THRESHOLD_M = 0.1
"""Displacement in metres from which a contact is a collision (VLNVerse A.2.4)."""


@dataclass(frozen=True, slots=True)
class PhysicsRules:
    """Consequences of contacts.

    Attributes:
        physics: ``off``: a hop follows the graph and touches nothing. ``slide``: bodies drive,
            and slide along obstacles. ``strict``: the same, and a contact that displaces the body
            by the threshold ends its run. ``telhop``: a hop puts the body at its end, or at the
            nearest free pose, which counts as a contact.
        threshold: in metres.
    """

    physics: Physics = "off"
    threshold: float = THRESHOLD_M

    @property
    def strict(self) -> bool:
        """True if a contact can end a run."""
        return self.physics == "strict"


def parse_physics(physics: str, threshold: Any) -> PhysicsRules:
    """Return validated physics rules from a backend's options.

    Args:
        physics: one of :data:`PHYSICS`.
        threshold: in metres.

    Raises:
        SimulatorError: there is no such physics, or the threshold is invalid.
    """
    known = next((each for each in PHYSICS if each == physics), None)
    if known is None:
        raise SimulatorError(
            f"There is no physics {repr_of(physics)}: expected one of {', '.join(PHYSICS)}."
            + (did_you_mean(physics, PHYSICS) if isinstance(physics, str) else "")
        )
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not math.isfinite(threshold) or threshold < 0:
        raise SimulatorError(
            f"A collision threshold of {repr_of(threshold)}: expected metres, 0 or more."
        )
    return PhysicsRules(known, float(threshold))


def check_no_physics(backend: str, physics: str, threshold: Any) -> None:
    """Raise an error if physics is requested of a backend without bodies.

    Args:
        backend: the backend's name, for the message.
        physics: as :func:`parse_physics`; only ``off`` passes.
        threshold: as there.

    Raises:
        SimulatorError: it is anything else.
    """
    if parse_physics(physics, threshold).physics != "off":
        raise SimulatorError(
            f"{backend} has nothing to touch, so no physics {physics}: use --backend embedded or"
            " habitat on a scene with geometry."
        )
