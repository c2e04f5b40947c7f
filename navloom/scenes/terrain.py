"""A scene as terrain for bodies: where they fit, how they move, what stands in their way.

Geometry answers, which is another package's: each function below asks the entry point of its name
in the group ``navloom.traversability``, imported when it is first asked for. ``navloom-worlds`` has
them all; without it no scene has geometry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from navloom.errors import SceneError
from navloom.plugins import plugin, plugins
from navloom.scenes.bodies import Embodiment
from navloom.scenes.parts import Point3
from navloom.scenes.scene import Link, Scene

GROUP = "navloom.traversability"
LARGE = 0.75
"""Metres of radius: for a larger body it is asked first whether walls leave it any place."""
SETTLE_M = 1.0
"""So far from its viewpoint a body stands at most that does not fit on it."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a body stands.

    Attributes:
        position: its middle; y is the floor under it.
        heading: where it faces, radians; 0 looks along -z, clockwise seen from above is positive.
    """

    position: Point3
    heading: float


@dataclass(frozen=True, slots=True)
class Bump:
    """A contact.

    Attributes:
        what: an item's id, ``wall``, another owner's name, another agent's name, ``step`` before a
            riser that is too high for the body, or ``edge`` where the floor ends.
        displacement: metres of the motion that it took.
        point: where.
    """

    what: str
    displacement: float
    point: Point3


@dataclass(frozen=True, slots=True)
class Moved:
    """What came of a motion.

    Attributes:
        stand: where the body is now.
        metres: how far its middle went.
        short: metres between where it would have ended freely and where it is.
        bumps: every contact, in order.
        path: where it was: at the start, at each bend, and at the end.
    """

    stand: Stand
    metres: float
    short: float
    bumps: tuple[Bump, ...]
    path: tuple[Stand, ...] = ()


Others = Mapping[str, tuple[Embodiment, Stand]]
"""Who stands in the way, by name."""
NOBODY: Others = {}


class Moves(Protocol):
    """How one body moves in a scene."""

    def fits(self, stand: Stand, others: Others = ...) -> bool:
        """Whether the body overlaps nothing there, with floor beneath."""
        ...

    def settled(self, stand: Stand, others: Others = ..., reach: float = ...) -> Stand | None:
        """The nearest place where it fits; None where there is none within reach, in metres."""
        ...

    def forward(
        self, stand: Stand, metres: float, *, slide: bool = ..., others: Others = ...
    ) -> Moved:
        """Straight on, or back where metres are negative."""
        ...

    def turn(self, stand: Stand, radians: float, *, others: Others = ...) -> Moved:
        """Clockwise, on the spot or on the arc of the body's turning radius."""
        ...

    def drive(
        self,
        stand: Stand,
        forward: float,
        turn: float,
        seconds: float,
        *,
        slide: bool = ...,
        others: Others = ...,
    ) -> Moved:
        """Metres and radians a second, for so many seconds."""
        ...

    def follow(
        self, stand: Stand, points: Sequence[Point3], *, slide: bool = ..., others: Others = ...
    ) -> Moved:
        """From point to point on the floor, looking the way it goes."""
        ...


class SurveyedMoves(Moves, Protocol):
    """Moves by a scene's own geometry, which also says how much room there is."""

    def clearance(self, position: Point3) -> float:
        """Metres from a place to the nearest obstacle at the body's height; 10 where all is far."""
        ...

    def passes(self, a: Point3, b: Point3) -> bool:
        """Whether it gets straight from a place to another, facing along, and touches nothing."""
        ...


def has_geometry(scene: Scene) -> bool:
    """Whether there is more to a scene than its graph: walls, a mesh file, or a scan.

    Never where no package is installed that makes use of them.
    """
    return "geometry" in plugins(GROUP) and bool(_ask("geometry")(scene))


def mover_of(scene: Scene, body: Embodiment) -> SurveyedMoves:
    """What moves a body through a scene; made once per scene and body.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    made: SurveyedMoves = _ask("mover")(scene, body)
    return made


def body_graph(scene: Scene, body: Embodiment) -> Scene:
    """A scene with the viewpoints and edges that are a body's; made once, and kept on disk.

    Args:
        scene: with geometry. Its other parts stay as they are.
        body: whose; a box needs room to turn on the spot wherever ways meet.

    Returns:
        The copy. Viewpoints that the body can use keep their ids.

    Raises:
        SceneError: there is no geometry, or nowhere that the body can stand and turn.
        SimulatorError: embreex is not installed.
    """
    made: Scene = _ask("graph")(scene, body)
    return made


def check_room(scene: Scene, body: Embodiment) -> None:
    """Refuse a scene in which a body fits nowhere.

    Raises:
        SceneError: it fits nowhere, or there is no geometry.
        SimulatorError: embreex is not installed.
    """
    _ask("field")(scene, body)


def in_the_way(
    scene: Scene, link: Link, body: Embodiment
) -> tuple[Any, str, tuple[str, ...]] | None:
    """What keeps a body from passing a link, as a plan shows it; None where nothing does.

    Args:
        scene: of regions without outlines nothing is said.
        link: what its own figures let the body pass.
        body: whose shape and heights count.

    Returns:
        The kind of barrier, a note, and the ids of the things to blame.
    """
    if not all(scene.region_by_id[each].outline for each in (link.a, link.b)):
        return None
    found: tuple[Any, str, tuple[str, ...]] | None = _ask("plan")(scene, link, body)
    return found


def code_folders() -> tuple[str, ...]:
    """Return the folders of the code that answers here, for the key of what is kept of it."""
    found = {entry.module.partition(".")[0] for entry in plugins(GROUP).values()}
    specs = [find_spec(name) for name in sorted(found)]
    return tuple(str(Path(spec.origin).parent) for spec in specs if spec and spec.origin)


def in_sight(scene: Scene, eye: Point3, point: Point3) -> bool:
    """Whether nothing of a scene with geometry stands between an eye and a point."""
    return bool(_ask("sight")(scene, eye, point))


def is_carried(scene: Scene, a: str, b: str, body: Embodiment) -> bool:
    """Whether a body gets from viewpoint to viewpoint without driving: by a lift, or by stairs.

    A scene may know of stairs as a link alone: nothing can be driven there, and the graph is
    believed.

    Args:
        scene: where.
        a: a viewpoint.
        b: one next to it.
        body: whose way it is.
    """
    at = scene.viewpoint_by_id
    ends = {at[a].region, at[b].region}
    flights = {frozenset((flight.a, flight.b)) for flight in scene.stairs if flight.treads}
    for link in scene.links:
        if {link.a, link.b} == ends:
            if link.kind == "elevator" and body.elevator:
                return True
            if link.kind == "stairs" and body.stairs and frozenset(ends) not in flights:
                return True
    return False


def _ask(name: str) -> Any:
    return plugin(GROUP, name, "A body's ground in a scene", SceneError)
