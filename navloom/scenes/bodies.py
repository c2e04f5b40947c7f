"""Embodiments, and a scene as terrain for them: where they fit, how they move, what bars them.

An embodiment says what an agent's body can pass, climb and open (CapNav, supplementary B.1); moving
it is the simulator's. Five bodies are CapNav's own; ``VLNVERSE``, ``FETCH`` and ``SPOT`` are those
of VLNVerse (A.2.4) and CoNavBench (4.1); any other comes from a file. Two forms of a JSON file are
read, a list of profiles each: the benchmark's own (``agent_profiles.json``: ``agent_name``,
``body_width_m``, ``can_open_the_door``, ...) and :class:`Embodiment`'s field names.

Geometry answers questions of terrain, from :func:`has_geometry` on, and is another package's: they
ask entry points of the group ``navloom.traversability``, imported when first asked for.
``navloom-worlds`` has them all; without it no scene has geometry.
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
from navloom.plugins import plugin, plugins
from navloom.scenes.checked_files import checked, parse_json, read_bytes, read_yaml
from navloom.scenes.scene import Point3, Scene

ALIASES = {"ROBOT": "HUMANOID"}
"""The benchmark's files call the humanoid ``ROBOT`` in one place and ``HUMANOID`` in another."""

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
    """Of the arc that its middle follows where it cannot turn on the spot; None where nobody said,
    and 0: it turns on the spot."""
    speed: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = 1.0
    """The fastest that it goes, metres a second; 0: it does not drive by itself."""
    turn_speed: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = math.pi / 2
    """The fastest that it turns, radians a second; 0: it does not turn by itself."""
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
    """The five bodies of the benchmark, in its order."""
    with as_file(files("navloom.scenes").joinpath("bodies.yaml")) as path:
        bodies: list[Embodiment] = read_yaml(path, _BODIES, most=_MOST_BYTES)
    return tuple(bodies)


def body_names() -> tuple[str, ...]:
    """The names of the five."""
    return tuple(body.name for body in builtin_bodies())


def get_body(name: str) -> Embodiment:
    """A body by name: the five, VLNVERSE, FETCH or SPOT.

    Case is forgiven, and ``ROBOT`` is ``HUMANOID``.

    Raises:
        SceneError: there is no such body.
    """
    known = {body.name: body for body in (*builtin_bodies(), VLNVERSE, FETCH, SPOT)}
    if (body := known.get(canonical(name))) is None:
        raise SceneError(
            f"no body '{name}'.{did_you_mean(name, known)} There are {', '.join(known)}; give"
            " others in a JSON file."
        )
    return body


def canonical(name: str) -> str:
    """A body's name as Navloom writes it: upper case, aliases resolved."""
    upper = name.strip().upper()
    return ALIASES.get(upper, upper)


def load_bodies(path: Path) -> tuple[Embodiment, ...]:
    """Read bodies, or one alone, from a JSON file in either form.

    Raises:
        SceneError: the file is missing or broken, a size is not positive, a key is unknown, or two
            bodies have one name; the message names the field.
    """
    data = parse_json(read_bytes(path, most=_MOST_BYTES), path)
    data = [data] if isinstance(data, dict) else data
    if not isinstance(data, list):
        raise SceneError(f"{path}: expected a body or a list of them, found {type(data).__name__}.")
    with checked(path):
        bodies = _BODIES.validate_python([_ours(each) for each in data])
    names = [canonical(body.name) for body in bodies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SceneError(f"{path}: the body '{twice[0]}' stands twice; names are unique.")
    return tuple(
        body.model_copy(update={"name": name}) for body, name in zip(bodies, names, strict=True)
    )


def as_benchmark(body: Embodiment) -> dict[str, Any]:
    """A profile in the benchmark's keys; a turning radius only where somebody gave one."""
    profile = {theirs: getattr(body, ours) for theirs, ours in _BENCHMARK.items()}
    if body.turning_radius is None:
        del profile["turning_radius_m"]
    return profile


def body_of(given: str | None) -> Embodiment:
    """The body that a person means: a name, or ``FILE.json``, with ``#NAME`` where it has several.

    Args:
        given: what was typed; None is ``DEFAULT_BODY``.

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
    if name and canonical(name) in known:
        return known[canonical(name)]
    if name or len(known) > 1:
        what = f"has no body '{name}'" if name else f"has {len(known)} bodies"
        raise SceneError(
            f"{file} {what}: expected {file}#NAME with one of {', '.join(list(known)[:10])}."
            + did_you_mean(name, known)
        )
    return next(iter(known.values()))


def _ours(given: Any) -> Any:
    """A profile with our field names; values that JSON writes as null are left to their default."""
    if not isinstance(given, dict) or "agent_name" not in given:
        return given
    renamed = {_BENCHMARK.get(str(key), str(key)): value for key, value in given.items()}
    return {key: value for key, value in renamed.items() if value is not None}


def body_text(body: Embodiment) -> str:
    """A body as a model reads it: one ``Key: value`` line each, in the order of B.1."""
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
"""Metres: the highest riser that a body takes which goes up stairs."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a body covers of the floor, in metres.

    Attributes:
        round: whether it is a disc.
        ahead: from its middle to its front; a disc's radius.
        aside: from its middle to its sides; a disc's radius.
    """

    round: bool
    ahead: float
    aside: float

    @property
    def outer(self) -> float:
        """The radius of the circle around it."""
        return self.ahead if self.round else math.hypot(self.ahead, self.aside)


def shape_of(body: Embodiment) -> Shape:
    """The footprint of a body: of a cylinder a disc, of a box ``width`` across and ``depth`` along.

    A box that does not say how deep it is is square.
    """
    aside = body.width / 2
    if body.shape == "cylinder":
        return Shape(True, aside, aside)
    return Shape(False, aside if body.depth is None else body.depth / 2, aside)


def inner(body: Embodiment) -> float:
    """Half of what it needs straight ahead, in metres."""
    return body.width / 2


def outer(body: Embodiment) -> float:
    """The radius of what it needs to turn on the spot, in metres."""
    return shape_of(body).outer


def climbs(body: Embodiment) -> float:
    """The highest single rise that a body takes anywhere, stairs included, in metres."""
    return max(body.max_step, STAIR) if body.stairs else body.max_step


TERRAIN = "navloom.traversability"
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
    return "geometry" in plugins(TERRAIN) and bool(_ask("geometry")(scene))


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
    """
    made: Scene = _ask("graph")(scene, body)
    return made


def check_room(scene: Scene, body: Embodiment) -> None:
    """Refuse a scene in which a body fits nowhere.

    Raises:
        SceneError: it fits nowhere, or there is no geometry.
    """
    _ask("field")(scene, body)


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
    return plugin(TERRAIN, name, "A body's ground in a scene", SceneError)
