"""The efficiency library in an agent's hands: thin LangChain tools over one relay's task.

The task says where robot_1 starts, what is carried and where to; the agent names the rest. What is
wrong is answered as ``{"error": ...}``, one line. The papers' robots have no bodies: they pass
every link at 1 m/s, so that what these tools say agrees with ``check_collab_path_efficient``. Where
relays are driven the robots have bodies, with their speeds and the links they cannot pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, create_model

from navloom.errors import NavloomError, UsageError
from navloom.scenes.bodies import FETCH, SPOT, VLNVERSE, Embodiment, body_names, get_body
from navloom.scenes.scene import Scene
from navloom.tools.forms import name_argument, quoted
from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.paths import MAX_QUOTED, Anchor, unknown_region
from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    RelayChoice,
    RobotName,
    find_transfer,
    roles_of,
)
from navloom.tools.navcraft.schedule import Carrier, Leg, schedule_legs
from navloom.tools.navcraft.task import RelayTask, no_such_item
from navloom.tools.navcraft.wish import Wish
from navloom.tools.teams import library
from navloom.tools.teams.interference import interference
from navloom.tools.teams.revise_route import MOST_CLOSED, MOST_RESERVED, Reservation, revise_route
from navloom.tools.teams.team import Robot

LIBRARY = ("recommend", "reach", "travel_time", "rendezvous", "interference", "revise_route")
"""The tools by name."""
ROBOTS: tuple[RobotName, RobotName] = ("robot_1", "robot_2")
Bodies = tuple[Embodiment | None, Embodiment | None]
BODIES = (*body_names(), VLNVERSE.name, FETCH.name, SPOT.name)
_MOST_MEETINGS, _MOST_HANDOFFS, _DIGITS = 8, 5, 3

_RECOMMEND = """Name the best handoffs for this errand that are as asked, each with the best relay.

Returns recommended (robot_2_start_region, transfer_region, transfer_asset, collab_type, alpha,
g_rate, gains, makespan_s, why), best first. alpha is robot_1's share of its own route."""
_REACH = """Say which regions a body gets to from a place.

Returns reached, cut_off (each region it does not get to, with the link and the barrier) and
closed_links (every link it cannot pass, with the barrier)."""
_TRAVEL = """Say how long one robot takes from a place to another.

Returns metres, seconds and path (transitions "A_1 -> B_2")."""
_RENDEZVOUS = """Say who waits for whom at a relay's handoff.

Returns arrive_s, handoff_s, waits, object_rests_s, latest_departure_s (how late each robot may set
out without delaying anybody) and makespan_s."""
_INTERFERENCE = """Say where the two robots of a relay are in each other's way.

Returns meetings: doorways and edges that both use at one time, from_s, to_s, how (head-on,
following, standing), the doorway's width, and whether both bodies fit side by side."""
_REVISE = """Find the way that gets there first around what is closed or reserved; it may wait.

A thing is a link "A_1 <-> B_2", or a viewpoint's id. Returns metres, arrive_s, waits and path."""


class Reserved(BaseModel):
    """Something that the other robot has to itself for a while."""

    where: str = Field(description="A link 'A_1 <-> B_2', or a viewpoint's id.", max_length=500)
    from_s: float = Field(description="Second from which.")
    to_s: float = Field(description="Second until which.")


@dataclass(frozen=True, eq=False)
class RelayLibrary:
    """What the tools answer of one task; every method raises ``NavloomError`` for a wrong name.

    Attributes:
        task: the single-robot task.
        strict: hold the helper to the stricter rule.
        wish: what a recommended relay should be.
        bodies: robot_1's and robot_2's; None passes everywhere at 1 m/s.
    """

    task: RelayTask
    strict: bool = False
    wish: Wish = field(default_factory=Wish)
    bodies: Bodies = (None, None)

    @property
    def scene(self) -> Scene:
        """The scene."""
        return self.task.scene

    @cached_property
    def meant(self) -> list[str]:
        """The ids of the instances that shared names mean."""
        transfers = (transfer.item.id for transfer in self.task.transfers.values())
        return [self.task.object_item.id, self.task.end_item.id, *transfers]

    def recommend(self, k: int = 3) -> dict[str, Any]:
        """The k best handoffs that are as asked."""
        if not 1 <= k <= _MOST_HANDOFFS:
            raise UsageError(f"k must be 1 to {_MOST_HANDOFFS}, not {k}.")
        relays = all_relays(self.task, strict=self.strict)
        return library.recommend(relays, kept=self.wish.kept_by(relays), k=k)

    def reach(self, body: str, place: str) -> dict[str, Any]:
        """Where a body, or one of the robots, gets to from a place."""
        known = self._body(body) if body in ROBOTS else get_body(body[:MAX_QUOTED])
        return library.reach(self.scene, known, self._place(place))

    def travel_time(self, robot: str, start: str, goal: str) -> dict[str, Any]:
        """How long one robot takes from a place to another."""
        begin, end = self._place(start), self._place(goal)
        return library.travel_time(self.scene, self._robot_at(robot, begin), begin, end)

    def rendezvous(self, **asked: str) -> dict[str, Any]:
        """Who waits at a relay's handoff."""
        fetcher, receiver, handoff = self._relay(RelayChoice(**asked))
        origin, end = self._ends()
        return library.rendezvous(self.scene, fetcher, receiver, origin, handoff, end)

    def interference(self, **asked: str) -> dict[str, Any]:
        """Where the two robots of a relay meet."""
        choice = RelayChoice(**asked)
        fetcher, receiver, handoff = self._relay(choice)
        origin, end = self._ends()
        library.rendezvous(self.scene, fetcher, receiver, origin, handoff, end)
        thing = self.task.object_item.id
        legs = (Leg(fetcher.name, thing, origin, handoff), Leg(receiver.name, thing, handoff, end))
        carriers = {
            robot.name: Carrier(robot.start, robot.graph(self.scene), robot.speed)
            for robot in (fetcher, receiver)
        }
        routes = schedule_legs(self.scene, carriers, legs).routes
        one, two = (routes[name] for name in ROBOTS)
        found = interference(self.scene, one, two, self.bodies)
        return {
            "meetings": [each.record() for each in found[:_MOST_MEETINGS]],
            "more": max(0, len(found) - _MOST_MEETINGS),
        }

    def revise_route(
        self,
        robot: str,
        start: str,
        goal: str,
        closed: list[str],
        reserved: list[Reserved],
        depart_s: float,
    ) -> dict[str, Any]:
        """The way that gets there first around what is closed or reserved."""
        begin, end = self._place(start), self._place(goal)
        spells = [Reservation(each.where, each.from_s, each.to_s) for each in reserved]
        mover = self._robot_at(robot, begin)
        route = revise_route(
            self.scene, mover, begin, end, closed=closed, reserved=spells, depart_s=depart_s
        )
        return route.record()

    def _body(self, name: str) -> Embodiment | None:
        if name not in ROBOTS:
            asked = quoted(name[:MAX_QUOTED])
            raise UsageError(f"There is no robot {asked}: use {' or '.join(ROBOTS)}.")
        return self.bodies[name == ROBOTS[1]]

    def _place(self, name: str) -> Anchor:
        return library.place_named(self.scene, name, self.meant)

    def _robot_at(self, name: str, start: Anchor) -> Robot:
        body = self._body(name)
        return Robot(name, start, body, body.speed if body else 1.0)

    def _ends(self) -> tuple[Anchor, Anchor]:
        origin, end = self.task.object_anchor, self.task.end_anchor
        if origin is None or end is None:
            raise UsageError("The object or the end asset has no place on the navigation graph.")
        return origin, end

    def _relay(self, choice: RelayChoice) -> tuple[Robot, Robot, Anchor]:
        """Who fetches, who receives, and where the object is handed over."""
        if choice.collab_type not in COLLAB_TYPES:
            raise UsageError(
                f"collab_type {quoted(choice.collab_type)} is not known: use Type-A1 or Type-A2."
            )
        for argument in ("robot_2_start_region", "transfer_region"):
            if (name := getattr(choice, argument)) not in self.scene.region_by_id:
                raise UsageError(unknown_region(self.scene, name, argument=argument))
        transfer = find_transfer(self.task, choice.transfer_region, choice.transfer_asset)
        if transfer is None:
            asked = choice.transfer_region, choice.transfer_asset
            raise UsageError(no_such_item(self.scene, *asked, "asset"))
        start = self._place(self.task.start_region), self._place(choice.robot_2_start_region)
        robots = {name: self._robot_at(name, at) for name, at in zip(ROBOTS, start, strict=True)}
        fetcher, receiver = (robots[name] for name in roles_of(choice.collab_type))
        if transfer.anchor is None:
            raise UsageError(f"No robot gets to the {transfer.name} in {transfer.region}.")
        return fetcher, receiver, transfer.anchor


def library_tools(
    task: RelayTask,
    *,
    strict: bool = False,
    wish: Wish | None = None,
    bodies: Bodies = (None, None),
    constrain: bool = True,
) -> list[BaseTool]:
    """The library's six tools over one single-robot task.

    Args:
        task: the task a relay would replace.
        strict: hold the helper to the stricter rule.
        wish: what a recommended relay should be; None: anything that is efficient.
        bodies: robot_1's and robot_2's; None passes everywhere at 1 m/s.
        constrain: enumerate region ids, asset names, robots and bodies in the argument schemas.
    """
    kept = RelayLibrary(task, strict, wish or Wish(), bodies)
    regions = [region.id for region in task.scene.regions] if constrain else None
    assets = [*dict.fromkeys(name for _, name in task.transfers)] if constrain else None
    place = name_argument("A region, or a thing as 'desk in Study_4'.", None)
    robot = name_argument("Which robot.", ROBOTS if constrain else None)
    relay = {
        "robot_2_start_region": name_argument("Region robot_2 starts in.", regions),
        "transfer_region": name_argument("Region where the object is handed over.", regions),
        "transfer_asset": name_argument("Asset of that region to put it on.", assets),
        "collab_type": name_argument(
            "Type-A1: robot_2 fetches, robot_1 delivers. Type-A2: the other way round.",
            list(COLLAB_TYPES),
        ),
    }
    body = name_argument("A body's name.", [*ROBOTS, *BODIES] if constrain else None)
    ways = {
        "closed": (
            Annotated[list[str], Field(description="What is shut.", max_length=MOST_CLOSED)],
            [],
        ),
        "reserved": (
            Annotated[
                list[Reserved],
                Field(description="What the other has to itself.", max_length=MOST_RESERVED),
            ],
            [],
        ),
        "depart_s": (Annotated[float, Field(description="Second of setting out.")], 0.0),
    }
    k = Annotated[int, Field(description=f"How many, at most {_MOST_HANDOFFS}.")]
    return [
        answering_tool("recommend", _RECOMMEND, kept.recommend, k=(k, 3)),
        answering_tool("reach", _REACH, kept.reach, body=body, place=place),
        answering_tool(
            "travel_time", _TRAVEL, kept.travel_time, robot=robot, start=place, goal=place
        ),
        answering_tool("rendezvous", _RENDEZVOUS, kept.rendezvous, **relay),
        answering_tool("interference", _INTERFERENCE, kept.interference, **relay),
        answering_tool(
            "revise_route", _REVISE, kept.revise_route, robot=robot, start=place, goal=place, **ways
        ),
    ]


def answering_tool(
    name: str, description: str, function: Callable[..., dict[str, Any]], **arguments: Any
) -> BaseTool:
    """A tool over a function whose mistakes of names are answered as ``{"error": ...}``.

    Args:
        name: its name.
        description: what the agent is told of it.
        function: what it does; it raises ``NavloomError`` for what is asked wrongly.
        arguments: type and field of each.
    """

    def answered(**asked: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = _short(function(**asked))
            return answer
        except NavloomError as error:
            return {"error": " ".join(str(error).split())}

    schema: type[BaseModel] = create_model(name, **arguments)
    return StructuredTool.from_function(
        answered,
        name=name,
        description=description,
        args_schema=schema,
        handle_validation_error=_misread,
    )


def _short(value: Any) -> Any:
    """An answer whose numbers a model can read: millimetres and milliseconds will do."""
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, list) else value


def _misread(error: Any) -> str:
    """A call whose arguments have the wrong form, as one line that the model can act on."""
    wrong = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in wrong["loc"])
    return json.dumps({"error": f"{where}: {wrong['msg']}; found {quoted(wrong['input'])}."})
