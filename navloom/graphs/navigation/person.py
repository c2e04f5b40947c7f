"""Protocol by which a person replaces the navigator's model.

The graph asks the person for a :class:`PersonWish`, once a hop or once per 50 ms of driving
(:mod:`navloom.graphs.navigation.driven_walk`), and waits without a time limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from navloom.graphs.agent import off_loop
from navloom.sim.agent_handle import get_agent_handle
from navloom.sim.protocol import Pose
from navloom.tools.navigation.options import Option
from navloom.tools.navigation.steps import Step, told_of


@dataclass(frozen=True)
class Standing:
    """The situation that a person is shown at each step.

    Attributes:
        pose: the body's pose.
        options: the candidates, for motion by hops.
        steps: number of steps taken.
        seconds: duration of the walk, without pauses.
        touched: the latest contact, in words; empty where there was none.
    """

    pose: Pose
    options: tuple[Option, ...]
    steps: int
    seconds: float
    touched: str = ""


@dataclass(frozen=True)
class PersonWish:
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
class Person(Protocol):
    """A person who navigates."""

    async def wish(self, standing: Standing) -> PersonWish:
        """Return the person's next input: a hop or the stop, or the keys of the next 50 ms.

        Args:
            standing: the person's present situation.
        """
        ...


async def chosen(state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
    """Return a person's choice in the form of a model's reply."""
    walker = await off_loop(get_agent_handle, runtime)
    seen = await off_loop(walker.look, state)
    step, last = Step(**state["draft"]), Step.read((state["steps"] or [None])[-1])
    touched = told_of(last.bumped or "", missed=last.missed) if last.bumped or last.missed else ""
    told = Standing(
        seen.pose, tuple(step.options), len(state["steps"]), state.get("seconds") or 0.0, touched
    )
    wish = await runtime.context.person.wish(told)
    update: dict[str, Any] = {"seconds": wish.seconds}
    if wish.said == "time":
        return {**update, "messages": [AIMessage("")], "ending": "max_steps"}
    said = "Action: Stop." if wish.said == "stop" else f"Action: {wish.option}."
    return {**update, "messages": [AIMessage(said)]}
