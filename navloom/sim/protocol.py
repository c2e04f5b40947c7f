"""The protocol of all simulators: poses, actions, observations, and the rules of contacts.

Frame: right-handed, y up, metres, radians; heading 0 looks along -z and grows clockwise seen from
above; elevation is positive upwards. One agent is a mapping of one. Nothing in here holds a scene's
pixels for longer than a step: an agent's graph puts images in a media store
(:mod:`navloom.sim.media`) and keeps their names.

A backend claims what it can do by names in ``capabilities``:

    hop         Hop: from a viewpoint to one next to it
    discrete    Forward, Turn, Look
    continuous  Velocity
    waypoint    Waypoint
    captions    Observation.captions
    rgb depth ids lidar   Observation.images under that sensor's name
    change      change(): doors open and close, things move (:class:`ChangingSimulator`)
    collide     Observation.contacts mean something
    restore     state() and restore(): a run goes on in another process
                (:class:`RestorableSimulator`)

:class:`PhysicsRules` says what a contact comes to: the options of a simulator with bodies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from numpy.typing import NDArray

from navloom.errors import SimulatorError, did_you_mean
from navloom.scenes.bodies import Embodiment
from navloom.scenes.checked_files import short
from navloom.scenes.scene import Point3, Scene

MOST_SUMMARY = 400
MOST_CAPTION = 300
MOST_DESCRIPTION = 110
"""Of a candidate. The median caption of a Matterport sector has 109 characters."""
MOST_NAME = 60
NEAR_M = 3.0
"""Objects within so many metres are listed, as the Matterport observations do."""


CAPABILITIES = frozenset(
    {"hop", "discrete", "continuous", "waypoint", "captions", "rgb", "depth", "ids", "lidar"}
    | {"change", "collide", "restore"}
)
FORWARD_M = 0.25
TURN_RAD = math.radians(30)


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a body is and where it looks.

    Attributes:
        position: the floor under the body, in metres.
        heading: radians, clockwise from -z seen from above, in [0, 2 pi).
        elevation: radians, positive upwards.
        viewpoint: the viewpoint it stands on, where it stands on one.
    """

    position: Point3
    heading: float = 0.0
    elevation: float = 0.0
    viewpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """Go to a viewpoint next to the one the agent stands on; it ends looking the way it went."""

    viewpoint: str


@dataclass(frozen=True, slots=True)
class Forward:
    """Go straight on; backwards where it is negative, looking ahead all the same."""

    metres: float = FORWARD_M


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn; clockwise (to the right) is positive.

    On the spot, or forwards on an arc of its turning radius where the body has one.
    """

    radians: float = TURN_RAD


@dataclass(frozen=True, slots=True)
class Look:
    """Tilt the head; upwards is positive."""

    radians: float = TURN_RAD


@dataclass(frozen=True, slots=True)
class Velocity:
    """Drive for a while.

    Attributes:
        forward: metres a second.
        turn: radians a second, clockwise positive.
        seconds: how long.
    """

    forward: float
    turn: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Waypoint:
    """Drive to a point on the floor, by the shortest way that the body has.

    Attributes:
        position: in metres.
    """

    position: Point3


@dataclass(frozen=True, slots=True)
class Stop:
    """The agent says it has arrived; its pose stays."""


Action: TypeAlias = Hop | Forward | Turn | Look | Velocity | Waypoint | Stop


@dataclass(frozen=True, slots=True)
class SeenObject:
    """Something near.

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
    """What can be said in words about where an agent stands. Texts are untrusted data.

    Attributes:
        summary: one sentence about the whole place; "" where there is none.
        sectors: eight captions, the k-th of the 45 degrees centred on heading k x 45 degrees.
        objects: what is within 3 m, nearest first.
        region: the region's id, where it is known.
    """

    summary: str = ""
    sectors: tuple[str, ...] = ()
    objects: tuple[SeenObject, ...] = ()
    region: str | None = None


@runtime_checkable
class CaptionSource(Protocol):
    """Where a simulator without pictures has its words from."""

    def at(self, viewpoint: str) -> Captions:
        """What can be said about a viewpoint of the scene."""
        ...

    def towards(self, viewpoint: str, neighbour: str) -> str:
        """One line about what lies that way: the description of a candidate."""
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A viewpoint one hop away.

    Attributes:
        viewpoint: its id.
        heading: direction to it in the scene's frame, radians in [0, 2 pi).
        elevation: radians, positive upwards.
        distance: metres, in space.
        description: one line about what lies that way; untrusted.
        region: the region it is in, where that is known.
        hidden: whether something stands between the camera and the place
            (:func:`navloom.sim.views.hidden_ways`); None leaves that to the depth pictures.
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
    """The body touched something during the last action.

    Attributes:
        what: what was touched: an item's id, ``"wall"``, ``"door A <-> B"`` and so on as
            :func:`navloom_worlds.geometry.owners.owner_name` has it, another agent's name,
            ``"step"`` before a riser that is too high, or ``"edge"`` where the floor ends.
        displacement: how far it displaced the body, in metres: what it took of its motion; 0 of a
            door that the body opened on its way.
        point: where.
    """

    what: str
    displacement: float
    point: Point3


def touches(contacts: Iterable[Contact]) -> list[Contact]:
    """Those that displaced the body: doors that it opened did not."""
    return [contact for contact in contacts if contact.displacement > 0]


@dataclass(frozen=True, slots=True)
class View:
    """One picture.

    Attributes:
        heading: of its centre in the scene's frame, radians.
        elevation: of its centre, radians.
        fov: horizontal field of view, radians.
        image: (height, width, 3) uint8 for ``rgb``; (height, width) float32 metres along the view's
            middle, 0 where nothing was hit, for ``depth`` (the range where it is no pinhole);
            (height, width) int32 as :mod:`navloom_worlds.geometry.owners` has it for ``ids``;
            (beams, columns) float32 metres of range, the highest beam first, 0 where nothing was
            hit, for ``lidar``.
        position: where the camera is, in metres; None where nobody knows.
        projection: ``pinhole``, or what else it is: ``equirect``, ``lidar``.
    """

    heading: float
    elevation: float
    fov: float
    image: NDArray[Any]
    position: Point3 | None = None
    projection: str = "pinhole"


class RenderedView(View):
    """A picture that is made when it is first read, so that whoever does not look pays nothing.

    Args:
        heading: as a view's.
        elevation: as a view's.
        fov: as a view's.
        render: makes the image; called at most once.
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
        """The picture."""
        if self._render is not None:
            object.__setattr__(self, "_made", self._render())
            # What it was made from may be large.
            object.__setattr__(self, "_render", None)
        assert self._made is not None  # noqa: S101
        return self._made

    @property
    def made(self) -> bool:
        """Whether somebody has looked."""
        return self._made is not None


@dataclass(frozen=True, slots=True)
class Observation:
    """What one agent gets from a step.

    Attributes:
        pose: where it is now.
        candidates: viewpoints one hop away, sorted by global heading; empty off the graph.
        captions: None where the backend has none.
        images: views by sensor (``rgb``, ``depth``, ``ids``, ``lidar``), in the rig's order.
        contacts: what it touched during the last action.
        collision: whether a contact displaced it by the threshold or more where that has
            consequences: it stays until it is placed elsewhere.
    """

    pose: Pose
    candidates: tuple[Candidate, ...] = ()
    captions: Captions | None = None
    images: Mapping[str, tuple[View, ...]] = field(default_factory=dict)
    contacts: tuple[Contact, ...] = ()
    collision: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A way.

    Attributes:
        points: floor positions from start to goal, both included.
        metres: its length.
        viewpoints: the viewpoints it goes through, where it runs on the graph.
    """

    points: tuple[Point3, ...]
    metres: float
    viewpoints: tuple[str, ...] = ()


@runtime_checkable
class Simulator(Protocol):
    """A place that agents move in. Not safe to share between tasks: each run leases its own."""

    scene: Scene
    capabilities: frozenset[str]

    def reset(
        self, agents: Mapping[str, tuple[Pose, Embodiment]], *, seed: int = 0
    ) -> Mapping[str, Observation]:
        """Put agents in the scene, and forget those that were there.

        A pose that names a viewpoint stands on it, whatever its position says.

        Raises:
            SimulatorError: no agent, or a pose that is nowhere.
        """
        ...

    def place(self, agent: str, pose: Pose) -> Observation:
        """Put one agent somewhere else, as ``reset`` would; the others stay. It may act again.

        Raises:
            SimulatorError: before ``reset``; an unknown agent; a pose that is nowhere. Nobody has
                moved then.
        """
        ...

    def step(self, actions: Mapping[str, Action]) -> Mapping[str, Observation]:
        """Let agents act; those that are not named stay. An agent that stopped stays, too.

        They act in the mapping's order, each among the others where they then stand.

        Raises:
            SimulatorError: before ``reset``; an unknown agent; an action the backend does not have;
                a hop to where no edge leads; a number that is not finite. Nobody has moved then.
        """
        ...

    def geodesic(
        self, start: Pose | str, goals: Sequence[Pose | str], embodiment: Embodiment
    ) -> Path | None:
        """The shortest way to the nearest goal; None where there is none.

        Args:
            start: a pose, or a viewpoint's id.
            goals: poses or viewpoint ids; at least one.
            embodiment: whose way it is.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds; closing twice is fine."""
        ...


@runtime_checkable
class DrivenSimulator(Simulator, Protocol):
    """A simulator whose bodies also stand beside viewpoints: it claims ``waypoint``."""

    def seen_from(self, viewpoint: str) -> Observation:
        """What is perceived on a viewpoint, whoever stands there: its ways and its words.

        Raises:
            SimulatorError: there is no such viewpoint.
        """
        ...


@runtime_checkable
class ChangingSimulator(Simulator, Protocol):
    """A simulator that claims ``change``: what is in its scene can be changed while agents are."""

    def change(self, scene: Scene) -> Mapping[str, Observation]:
        """Put a changed copy of the scene in the place of the one there is; agents stay.

        Doors opened or closed, things moved or gone: :func:`navloom_worlds.mend.edit.edit` makes
        such a copy. From now on ``scene`` is the copy, and pictures, words and ways are of it;
        ``reset`` does not undo it.

        Args:
            scene: with every viewpoint that an agent stands on.

        Raises:
            SimulatorError: before ``reset``; a viewpoint on which an agent stands is gone. Nothing
                has changed then.
        """
        ...


@runtime_checkable
class RestorableSimulator(Simulator, Protocol):
    """A simulator that claims ``restore``: where everybody is can be written down, exactly."""

    def state(self) -> dict[str, Any]:
        """Where agents and things are, as JSON.

        Poses, bodies, who stopped, what was touched last, and what
        :meth:`ChangingSimulator.change` changed: enough for the same observations.

        Raises:
            SimulatorError: before ``reset``.
        """
        ...

    def restore(self, state: Mapping[str, Any]) -> Mapping[str, Observation]:
        """Go on from a state, in another process, too; who was there before is forgotten.

        Args:
            state: what :meth:`state` of a simulator of the same kind gave, made of the same
                scene. Nobody vouches for it.

        Returns:
            What was observed there, bit for bit.

        Raises:
            SimulatorError: it is not such a state. Nothing has changed then.
        """
        ...


Physics: TypeAlias = Literal["off", "slide", "strict", "telhop"]
PHYSICS: tuple[Physics, ...] = get_args(Physics)
THRESHOLD_M = 0.1
"""A contact that displaces a body by so much is a collision (VLNVerse A.2.4)."""


@dataclass(frozen=True, slots=True)
class PhysicsRules:
    """What a touch comes to.

    Attributes:
        physics: ``off``: a hop follows the graph and touches nothing. ``slide``: bodies drive,
            and slide along what is in the way. ``strict``: the same, and a contact that displaces
            the body by the threshold ends its run. ``telhop``: a hop puts the body at its end, or
            at the nearest free place, which counts as a contact.
        threshold: in metres.
    """

    physics: Physics = "off"
    threshold: float = THRESHOLD_M

    @property
    def strict(self) -> bool:
        """Whether a contact can end a run."""
        return self.physics == "strict"


def physics_rules(physics: str, threshold: Any) -> PhysicsRules:
    """The rules that a backend's options say.

    Args:
        physics: one of :data:`PHYSICS`.
        threshold: in metres.

    Raises:
        SimulatorError: there is no such physics, or the threshold is none.
    """
    known = next((each for each in PHYSICS if each == physics), None)
    if known is None:
        raise SimulatorError(
            f"There is no physics {short(physics)}: expected one of {', '.join(PHYSICS)}."
            + (did_you_mean(physics, PHYSICS) if isinstance(physics, str) else "")
        )
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not math.isfinite(threshold) or threshold < 0:
        raise SimulatorError(
            f"A collision threshold of {short(threshold)}: expected metres, 0 or more."
        )
    return PhysicsRules(known, float(threshold))


def check_no_physics(backend: str, physics: str, threshold: Any) -> None:
    """Refuse physics where nothing can be touched.

    Args:
        backend: the one that has no bodies.
        physics: as :func:`physics_rules`; ``off`` is what it has.
        threshold: as there.

    Raises:
        SimulatorError: it is anything else.
    """
    if physics_rules(physics, threshold).physics != "off":
        raise SimulatorError(
            f"{backend} has nothing to touch, so no physics {physics}: use --backend embedded or"
            " habitat on a scene with geometry."
        )
