"""Embodiments, and queries of how an embodiment fits and moves in a scene.

An embodiment says what an agent's body can pass, climb and open (CapNav, supplementary B.1). Moving
it is the simulator's task. Five bodies are CapNav's own. ``VLNVERSE``, ``FETCH`` and ``SPOT`` are
those of VLNVerse (A.2.4) and CoNavBench (4.1). Others are read from a JSON file: a list of profiles
with either the benchmark's keys (``agent_profiles.json``: ``agent_name``, ``body_width_m``,
``can_open_the_door``, ...) or the field names of :class:`Embodiment`.

Queries of the terrain, from :func:`has_geometry` on, need scene geometry, which another package
implements. They call entry points of the group ``navloom.traversability``, imported on first use.
``navloom-worlds`` provides them all; without it no scene has geometry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError, did_you_mean
from navloom.plugins import find_plugins, load_plugin
from navloom.scenes.safe_files import parse_json, read_bytes, read_yaml, scene_errors
from navloom.scenes.scene import Point3, Scene

ALIASES = {"ROBOT": "HUMANOID"}
"""The benchmark's files use both ``ROBOT`` and ``HUMANOID`` for the same body."""

_MOST_BYTES = 1_000_000
_BENCHMARK = {
    "agent_name": "name",
    "body_shape": "shape",
    "body_height_m": "height",
    "body_width_m": "width",
    "body_depth_m": "depth",
    "max_vertical_cross_height_m": "max_step",
    "can_go_up_or_down_stairs": "stairs",
    "can_operate_elevator": "elevator",
    "can_open_the_door": "doors",
    "turning_radius_m": "turning_radius",
    "description": "description",
}
_Metres = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


class Embodiment(BaseModel):
    """An agent's body and abilities.

    Sizes are in metres. ``width`` is across the direction of travel, ``depth`` along it; of a
    cylinder ``width`` is the diameter and ``depth`` is None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[
        str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]*$")
    ]
    shape: Literal["cylinder", "box"] = "cylinder"
    height: _Metres = 1.5
    width: _Metres = 0.4
    depth: _Metres | None = None
    max_step: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 0.1
    """The highest single step it can cross (``max_vertical_cross_height_m``)."""
    stairs: bool = True
    """Whether it can go up or down stairs."""
    elevator: bool = True
    """Whether it can operate an elevator."""
    doors: bool = True
    """Whether it can open a door."""
    turning_radius: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    """Radius of the arc of its centre, in metres. 0, or None for unknown: it turns on the spot."""
    speed: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = 1.0
    """Maximum speed in metres a second; 0: it does not drive by itself."""
    turn_speed: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = math.pi / 2
    """Maximum turn rate in radians a second; 0: it does not turn by itself."""
    description: Annotated[str, Field(max_length=4000)] = ""


DEFAULT_BODY = Embodiment(name="ROBOT")
"""A slim body that uses stairs, elevators and doors: what R2R's graphs assume."""

VLNVERSE = Embodiment(
    name="VLNVERSE",
    height=1.5,
    width=0.6,
    description="The agent of VLNVerse (A.2.4): 1.50 m high, radius 0.30 m, slides along what it"
    " touches; a contact counts from 0.10 m. What it climbs and opens the paper leaves to us.",
)
"""VLNVerse's agent."""
FETCH = Embodiment(
    name="FETCH",
    height=1.1,
    width=0.56,
    max_step=0.013,
    stairs=False,
    turning_radius=0.0,
    speed=1.0,
    description="Fetch, a mobile manipulator (CoNavBench 4.1): its maker's sheet gives a base of"
    " 0.56 m, 1.10 m of height with the torso down, and 1 m/s (wheels of 0.061 m at 17.4 rad/s,"
    " says the manual); the manual promises what the ADA allows, whose door sills are 0.013 m at"
    " most. It has an arm for doors and buttons.",
)
"""The wheeled robot of CoNavBench."""
SPOT = Embodiment(
    name="SPOT",
    shape="box",
    height=0.84,
    width=0.5,
    depth=1.1,
    max_step=0.3,
    elevator=False,
    doors=False,
    turning_radius=0.0,
    speed=1.6,
    description="Spot, a four-legged robot without an arm (CoNavBench 4.1): 1.1 x 0.5 m, 0.84 m"
    " high where it stands, steps of 0.3 m, stairs of 7 in. rise, 1.6 m/s, as 'About Spot' of its"
    " maker's SDK says.",
)
"""The four-legged robot of CoNavBench."""

_BODIES = TypeAdapter(Annotated[list[Embodiment], Field(min_length=1, max_length=200)])


@lru_cache(maxsize=1)
def builtin_bodies() -> tuple[Embodiment, ...]:
    """Return the five bodies of the CapNav benchmark, in its order."""
    with as_file(files("navloom.scenes").joinpath("bodies.yaml")) as path:
        bodies: list[Embodiment] = read_yaml(path, _BODIES, most=_MOST_BYTES)
    return tuple(bodies)


def body_names() -> tuple[str, ...]:
    """Return the names of the five benchmark bodies."""
    return tuple(body.name for body in builtin_bodies())


def get_body(name: str) -> Embodiment:
    """Return a built-in body by name: one of the five, VLNVERSE, FETCH or SPOT.

    Case is ignored, and ``ROBOT`` is an alias of ``HUMANOID``.

    Raises:
        SceneError: there is no such body.
    """
    known = {body.name: body for body in (*builtin_bodies(), VLNVERSE, FETCH, SPOT)}
    if (body := known.get(canonical_name(name))) is None:
        raise SceneError(
            f"no body '{name}'.{did_you_mean(name, known)} There are {', '.join(known)}; give"
            " others in a JSON file."
        )
    return body


def canonical_name(name: str) -> str:
    """Return a body's canonical name: upper case, aliases resolved."""
    upper = name.strip().upper()
    return ALIASES.get(upper, upper)


def load_bodies(path: Path) -> tuple[Embodiment, ...]:
    """Read one body or a list of bodies from a JSON file in either form.

    Raises:
        SceneError: the file is missing or broken, a size is not positive, a key is unknown, or two
            bodies have one name; the message names the field.
    """
    data = parse_json(read_bytes(path, most=_MOST_BYTES), path)
    data = [data] if isinstance(data, dict) else data
    if not isinstance(data, list):
        raise SceneError(f"{path}: expected a body or a list of them, found {type(data).__name__}.")
    with scene_errors(path):
        bodies = _BODIES.validate_python([_ours(each) for each in data])
    names = [canonical_name(body.name) for body in bodies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SceneError(f"{path}: the body '{twice[0]}' stands twice; names are unique.")
    return tuple(b.model_copy(update={"name": n}) for b, n in zip(bodies, names, strict=True))


def benchmark_profile(body: Embodiment) -> dict[str, Any]:
    """Return a body as a profile with the benchmark's keys; ``turning_radius_m`` only if set."""
    profile = {theirs: getattr(body, ours) for theirs, ours in _BENCHMARK.items()}
    if body.turning_radius is None:
        del profile["turning_radius_m"]
    return profile


def resolve_body(given: str | None) -> Embodiment:
    """Return the body for a user's argument: a name, ``FILE.json`` or ``FILE.json#NAME``.

    Args:
        given: the argument; None is ``DEFAULT_BODY``.

    Raises:
        SceneError: there is no such body, or the file is missing, broken, or has several and none
            was named.
    """
    if given is None:
        return DEFAULT_BODY
    file, _, name = given.partition("#")
    if not file.casefold().endswith(".json"):
        return get_body(given)
    known = {body.name: body for body in load_bodies(Path(file).expanduser())}
    if name and canonical_name(name) in known:
        return known[canonical_name(name)]
    if name or len(known) > 1:
        what = f"has no body '{name}'" if name else f"has {len(known)} bodies"
        raise SceneError(
            f"{file} {what}: expected {file}#NAME with one of {', '.join(list(known)[:10])}."
            + did_you_mean(name, known)
        )
    return next(iter(known.values()))


def _ours(given: Any) -> Any:
    """Return a benchmark profile with our field names and without null values."""
    if not isinstance(given, dict) or "agent_name" not in given:
        return given
    renamed = {_BENCHMARK.get(str(key), str(key)): value for key, value in given.items()}
    return {key: value for key, value in renamed.items() if value is not None}


def body_text(body: Embodiment) -> str:
    """Return a body as text for a model: one ``Key: value`` line each, in the order of B.1."""
    lines: list[tuple[str, object]] = [
        ("Agent name", body.name),
        ("Body shape", body.shape),
        ("Height (m)", body.height),
        ("Width (m)", body.width),
        ("Depth (m)", "-" if body.depth is None else body.depth),
        ("Highest step it can cross (m)", body.max_step),
        ("Can go up or down stairs", body.stairs),
        ("Can operate elevator", body.elevator),
        ("Can open the door", body.doors),
    ]
    if body.turning_radius is not None:
        lines.append(("Turning radius (m)", body.turning_radius))
    lines.append(("Description", " ".join(body.description.split()) or "-"))
    return "\n".join(f"{key}: {value}" for key, value in lines)


STAIR = 0.25
"""Highest riser in metres that a body with ``stairs`` can climb."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Footprint of a body, in metres.

    Attributes:
        round: whether it is a disc.
        ahead: distance from the centre to the front; a disc's radius.
        aside: distance from the centre to the sides; a disc's radius.
    """

    round: bool
    ahead: float
    aside: float

    @property
    def outer(self) -> float:
        """Radius of the circumscribed circle."""
        return self.ahead if self.round else math.hypot(self.ahead, self.aside)


def footprint_of(body: Embodiment) -> Footprint:
    """Return a body's footprint: a disc for a cylinder, ``width`` x ``depth`` for a box.

    A box without a depth is square.
    """
    aside = body.width / 2
    if body.shape == "cylinder":
        return Footprint(True, aside, aside)
    return Footprint(False, aside if body.depth is None else body.depth / 2, aside)


def inner_radius(body: Embodiment) -> float:
    """Return half the width that a body needs to drive straight, in metres."""
    return body.width / 2


def outer_radius(body: Embodiment) -> float:
    """Return the radius that a body needs to turn on the spot, in metres."""
    return footprint_of(body).outer


def max_rise(body: Embodiment) -> float:
    """Return the highest single rise that a body can climb, stairs included, in metres."""
    return max(body.max_step, STAIR) if body.stairs else body.max_step


TERRAIN = "navloom.traversability"
LARGE = 0.75
"""Radius in metres above which a body is first checked to fit between the walls at all."""
SETTLE_M = 1.0
"""Greatest distance in metres from a viewpoint to the pose of a body that does not fit on it."""


@dataclass(frozen=True, slots=True)
class FloorPose:
    """Pose of a body on the floor.

    Attributes:
        position: centre of the footprint; y is the floor under it.
        heading: radians; 0 looks along -z, clockwise seen from above is positive.
    """

    position: Point3
    heading: float


@dataclass(frozen=True, slots=True)
class BodyContact:
    """Contact of a moving body with an obstacle.

    Attributes:
        what: an item's id, ``wall``, the name of another mesh owner or agent, ``step`` before a
            riser that is too high for the body, or ``edge`` where the floor ends.
        displacement: metres of the motion that the contact removed.
        point: position of the contact.
    """

    what: str
    displacement: float
    point: Point3


@dataclass(frozen=True, slots=True)
class MotionResult:
    """Result of a motion.

    Attributes:
        stand: the body's pose at the end.
        metres: length of the path of the body's centre.
        short: metres between the end pose without obstacles and the actual one.
        bumps: every contact, in order.
        path: poses at the start, at each bend, and at the end.
    """

    stand: FloorPose
    metres: float
    short: float
    bumps: tuple[BodyContact, ...]
    path: tuple[FloorPose, ...] = ()


Others = Mapping[str, tuple[Embodiment, FloorPose]]
"""Bodies and poses of other agents, by name."""
NOBODY: Others = {}


class MotionModel(Protocol):
    """Motion model of one body in a scene."""

    def fits(self, stand: FloorPose, others: Others = ...) -> bool:
        """Check whether the body stands on floor and overlaps nothing at a pose."""
        ...

    def settled(
        self, stand: FloorPose, others: Others = ..., reach: float = ...
    ) -> FloorPose | None:
        """Return the nearest pose at which the body fits; None if none is within reach (metres)."""
        ...

    def forward(
        self, stand: FloorPose, metres: float, *, slide: bool = ..., others: Others = ...
    ) -> MotionResult:
        """Return the result of driving straight ahead, or backwards if ``metres`` is negative."""
        ...

    def turn(self, stand: FloorPose, radians: float, *, others: Others = ...) -> MotionResult:
        """Return the result of a clockwise turn, on the spot or on an arc of the turning radius."""
        ...

    def drive(
        self,
        stand: FloorPose,
        forward: float,
        turn: float,
        seconds: float,
        *,
        slide: bool = ...,
        others: Others = ...,
    ) -> MotionResult:
        """Return the result of driving at ``forward`` m/s and ``turn`` rad/s for some seconds."""
        ...

    def follow(
        self, stand: FloorPose, points: Sequence[Point3], *, slide: bool = ..., others: Others = ...
    ) -> MotionResult:
        """Return the result of driving from point to point, facing the direction of travel."""
        ...


class GeometricMotionModel(MotionModel, Protocol):
    """Motion model on a scene's geometry, with clearance queries."""

    def clearance(self, position: Point3) -> float:
        """Return metres from a position to the nearest obstacle at the body's height, at most 10.

        It is the distance of the body's centre, not of its footprint; 0 where there is no floor.
        """
        ...

    def passes(self, a: Point3, b: Point3) -> bool:
        """Check whether the body can drive straight from ``a`` to ``b`` without a contact."""
        ...


def has_geometry(scene: Scene) -> bool:
    """Check whether a scene has geometry besides its graph: walls, a mesh file, or a scan.

    Always False if no package is installed that uses geometry.
    """
    return "geometry" in find_plugins(TERRAIN) and bool(_ask("geometry")(scene))


def motion_model_of(scene: Scene, body: Embodiment) -> GeometricMotionModel:
    """Return the motion model of a body in a scene, created once per scene and body.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    made: GeometricMotionModel = _ask("mover")(scene, body)
    return made


def body_graph(scene: Scene, body: Embodiment) -> Scene:
    """Return the scene with viewpoints and edges that suit a body; cached on disk.

    Args:
        scene: with geometry. Its other parts stay as they are.
        body: the body; a box needs room to turn on the spot wherever edges meet.

    Returns:
        The copy. Viewpoints that the body can use keep their ids.

    Raises:
        SceneError: there is no geometry, or nowhere that the body can stand and turn.
    """
    made: Scene = _ask("graph")(scene, body)
    return made


def check_body_fits(scene: Scene, body: Embodiment) -> None:
    """Raise an error if a body fits nowhere in a scene.

    Raises:
        SceneError: it fits nowhere, or there is no geometry.
    """
    _ask("field")(scene, body)


def has_line_of_sight(scene: Scene, eye: Point3, point: Point3) -> bool:
    """Check whether the line of sight between an eye and a point is free, by scene geometry."""
    return bool(_ask("sight")(scene, eye, point))


def is_lift_or_stairs(scene: Scene, a: str, b: str, body: Embodiment) -> bool:
    """Check whether a lift, or stairs without treads, join two viewpoints that a body may use.

    Such stairs are a link only: nothing can be driven there, so the graph is trusted.

    Args:
        scene: the scene.
        a: a viewpoint.
        b: a viewpoint next to it.
        body: its abilities decide.
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
    return load_plugin(TERRAIN, name, "A body's ground in a scene", SceneError)
