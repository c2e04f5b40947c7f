"""Protocol by which a person replaces the navigator's model.

The graph asks the person for a :class:`HumanInput`, once a hop or once per 50 ms of driving
(:mod:`navloom.graphs.navigation.teleoperation`), and waits without a time limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from navloom.graphs.agent_graph import run_off_loop
from navloom.sim.agent_handle import get_agent_handle
from navloom.sim.protocol import Pose
from navloom.tools.navigation.step_options import MoveOption
from navloom.tools.navigation.step_records import NavStep, contact_message


@dataclass(frozen=True)
class HumanObservation:
    """The situation that a person is shown at each step.

    Attributes:
        pose: the body's pose.
        options: the candidates, for motion by hops.
        steps: number of steps taken.
        seconds: duration of the walk, without pauses.
        touched: the latest contact, in words; empty where there was none.
    """

    pose: Pose
    options: tuple[MoveOption, ...]
    steps: int
    seconds: float
    touched: str = ""


@dataclass(frozen=True)
class HumanInput:
    """One input of a person: a hop, a stop or a driving command.

    Attributes:
        seconds: duration of the walk, without pauses.
        said: ``stop`` ends the walk here; ``time``: the time limit is reached.
        option: number of the option to take.
        forward: share of the body's speed, -1 to 1.
        turn: share of its turning speed, -1 to 1, clockwise positive.
    """

    seconds: float
    said: Literal["", "stop", "time"] = ""
    option: int = 0
    forward: float = 0.0
    turn: float = 0.0


@runtime_checkable
class HumanNavigator(Protocol):
    """A person who navigates."""

    async def wish(self, standing: HumanObservation) -> HumanInput:
        """Return the person's next input: a hop or the stop, or the keys of the next 50 ms.

        Args:
            standing: the person's present situation.
        """
        ...


async def human_reply(state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
    """Return a person's choice in the form of a model's reply."""
    walker = await run_off_loop(get_agent_handle, runtime)
    seen = await run_off_loop(walker.look, state)
    step, last = NavStep(**state["draft"]), NavStep.read((state["steps"] or [None])[-1])
    touched = (
        contact_message(last.bumped or "", missed=last.missed) if last.bumped or last.missed else ""
    )
    told = HumanObservation(
        seen.pose, tuple(step.options), len(state["steps"]), state.get("seconds") or 0.0, touched
    )
    wish = await runtime.context.person.wish(told)
    update: dict[str, Any] = {"seconds": wish.seconds}
    if wish.said == "time":
        return {**update, "messages": [AIMessage("")], "ending": "max_steps"}
    said = "Action: Stop." if wish.said == "stop" else f"Action: {wish.option}."
    return {**update, "messages": [AIMessage(said)]}
