"""Tools for an agent to look around and to move a body: thin wrappers over pure functions.

Viewpoints and regions are enumerated in the argument schemas if there are few enough. An unknown
name still reaches the tool, which answers with near matches. Errors are answered as
``{"error": ...}``, one line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, create_model

from navloom.errors import NavloomError, SimulatorError
from navloom.scenes.bodies import (
    DEFAULT_BODY,
    Embodiment,
    FloorPose,
    has_geometry,
    inner_radius,
    motion_model_of,
    outer_radius,
)
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Pose, Simulator
from navloom.tools.model_output import name_field
from navloom_worlds.moving import driving, surroundings
from navloom_worlds.moving.surroundings import Spot, goal_places

MOST_NAMES = 400
"""Maximum number of names in a schema: more would fill a small model's context window."""
_REACH_M = 1.0

_LOOK = "Say where you stand, what you see in words, what is near, and what you touched last."
_CANDIDATES = "List the viewpoints one hop away: region, metres, turn in degrees (right positive)."
_MOVE_TO = """Go to a place by the shortest way for your body: a viewpoint, a region, or a point.

Returns arrived, planned and driven metres, where you are, contacts, and the reason if you did not
arrive."""
_GEODESIC = """Say how long the shortest way for your body is from where you stand to a place.

Returns reachable, metres and straight (metres as the crow flies)."""
_CLEARANCE = """Say how many metres are free around you, or around a place, and whether you fit."""
_DRIVE_LINK = """Put yourself before the link between two regions and drive through it.

Returns through, planned and driven metres, contacts, and the reason if you did not get through."""


def moving_tools(
    simulator: Simulator,
    agent: str = "robot",
    body: Embodiment = DEFAULT_BODY,
    *,
    constrain: bool = True,
) -> list[BaseTool]:
    """Create the tools of an agent that moves a body: from ``look`` to ``drive_link``.

    Args:
        simulator: any backend; the agent has been put in it by ``reset``.
        agent: name of the agent.
        body: its body, as in ``reset``.
        constrain: enumerate viewpoints and regions in the argument schemas.
    """
    # ToolNode runs the calls of one message in threads, and a simulator is not thread-safe.
    lock = Lock()
    place = _place_arguments(simulator.scene, constrain)
    regions = _names(simulator.scene, constrain)[0]

    def here(place: str, point: Sequence[float] | None) -> Spot:
        if place and point:
            raise SimulatorError("A place and a point were named: name one of them.")
        if not place and not point:
            raise SimulatorError("No place was named: name a viewpoint, a region, or a point.")
        return place or list(point or ())

    def look() -> dict[str, Any]:
        return surroundings.look_around(simulator, agent)

    def candidates() -> dict[str, Any]:
        return surroundings.candidates(simulator, agent)

    def move_to(place: str = "", point: list[float] | None = None) -> dict[str, Any]:
        drive = driving.move_to(simulator, here(place, point), agent, body)
        return drive.record(simulator.scene)

    def geodesic(place: str = "", point: list[float] | None = None) -> dict[str, Any]:
        start = surroundings.observation_of(simulator, agent).pose
        return surroundings.geodesic(simulator, start, here(place, point), body)

    def clear(place: str = "", point: list[float] | None = None) -> dict[str, Any]:
        named = here(place, point) if place or point else None
        spot = named if named is not None else surroundings.observation_of(simulator, agent).pose
        return clearance(simulator.scene, spot, body)

    def drive_link(a: str, b: str) -> dict[str, Any]:
        return driving.drive_link(simulator, a, b, agent, body)

    ends = _arguments(
        "link",
        a=name_field("The region you come from.", regions),
        b=name_field("The region you drive to.", regions),
    )
    nothing = _arguments("nothing")
    made: list[tuple[str, Callable[..., dict[str, Any]], str, type[BaseModel]]] = [
        ("look", look, _LOOK, nothing),
        ("candidates", candidates, _CANDIDATES, nothing),
        ("move_to", move_to, _MOVE_TO, place),
        ("geodesic", geodesic, _GEODESIC, place),
        ("clearance", clear, _CLEARANCE, place),
        ("drive_link", drive_link, _DRIVE_LINK, ends),
    ]
    return [
        StructuredTool.from_function(
            _answering(function, lock), name=name, description=description, args_schema=arguments
        )
        for name, function, description, arguments in made
    ]


def _answering(function: Callable[..., dict[str, Any]], lock: Lock) -> Callable[..., Any]:
    def answered(**asked: Any) -> dict[str, Any]:
        try:
            with lock:
                return function(**asked)
        except NavloomError as error:
            return {"error": " ".join(str(error).split())}

    return answered


def _names(scene: Scene, constrain: bool) -> tuple[list[str] | None, list[str] | None]:
    """Return the regions, and regions and viewpoints together, unless too many for a schema."""
    regions = [each.id for each in scene.regions]
    both = [*regions, *(each.id for each in scene.viewpoints)]
    kept = [names if constrain and len(names) <= MOST_NAMES else None for names in (regions, both)]
    return kept[0], kept[1] or kept[0]


def _place_arguments(scene: Scene, constrain: bool) -> type[BaseModel]:
    held, told = name_field("A region's or viewpoint's id.", _names(scene, constrain)[1])
    point = Field(description="Or a point on the floor: x, y and z in metres.")
    return create_model(
        "place",
        place=(Annotated[held, told], ""),
        point=(Annotated[list[float] | None, point], None),
    )


def _arguments(name: str, **fields: tuple[Any, Any]) -> type[BaseModel]:
    return create_model(name, **fields)  # type: ignore[call-overload, no-any-return]


def clearance(scene: Scene, spot: Spot | Pose, body: Embodiment = DEFAULT_BODY) -> dict[str, Any]:
    """Measure the distance from a place to the nearest obstacle at a body's height.

    Args:
        scene: the scene.
        spot: a viewpoint's id, a region's id (its centre), a point, or a pose.
        body: its height and climb determine the obstacles.

    Returns:
        ``clearance`` in metres, ``to_pass`` and ``to_turn`` (what the body needs from its centre),
        ``fits``, and if it does not fit ``nearest``, a free position within a metre. Without
        geometry ``{"clearance": None, "reason": ...}``.

    Raises:
        SimulatorError: the place is unknown.
    """
    place = spot if isinstance(spot, Pose) else goal_places(scene, spot)[0]
    if not has_geometry(scene):
        why = (
            f"{scene.uri} is a graph without geometry: nobody knows how much room there is. Use a"
            " home, or a scene with walls or a mesh."
        )
        return {"clearance": None, "body": body.name, "reason": why}
    named = place if isinstance(place, str) else place.viewpoint
    at = scene.viewpoint_by_id[named].ground if named and spot is not place else None
    position = at or (place.position if isinstance(place, Pose) else (0.0, 0.0, 0.0))
    heading = place.heading if isinstance(place, Pose) else 0.0
    mover, stand = motion_model_of(scene, body), FloorPose(position, heading)
    fits = mover.fits(stand)
    told: dict[str, Any] = {
        "clearance": round(mover.clearance(position), 3),
        "body": body.name,
        "to_pass": round(inner_radius(body), 3),
        "to_turn": round(outer_radius(body), 3),
        "fits": fits,
    }
    near = None if fits else mover.settled(stand, {}, _REACH_M)
    return told if fits else {**told, "nearest": near and [round(v, 3) for v in near.position]}
