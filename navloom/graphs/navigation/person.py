"""A person in the place of the navigator's model.

The graph asks whoever walks for a :class:`PersonWish`, once a hop or once in 50 ms of driving
(:mod:`navloom.graphs.navigation.driven_walk`), and waits: time belongs to the person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from navloom.graphs.agent import off_loop
from navloom.sim.protocol import Pose
from navloom.sim.walker import walker_of
from navloom.tools.navigation.options import Option
from navloom.tools.navigation.steps import Step, told_of


@dataclass(frozen=True)
class Standing:
    """What a person is told where they stand.

    Attributes:
        pose: where the body is and looks.
        options: the ways on, where they are hopped.
        steps: how many were taken.
        seconds: that the walk took, pauses left out.
        touched: what the body touched a moment ago, in words; empty: nothing.
    """

    pose: Pose
    options: tuple[Option, ...]
    steps: int
    seconds: float
    touched: str = ""


@dataclass(frozen=True)
class PersonWish:
    """What a person wants.

    Attributes:
        seconds: that the walk took, pauses left out.
        said: ``stop``: here it ends; ``time``: the time is up.
        option: the number of the way to hop.
        forward: the part of the body's speed, -1 to 1.
        turn: the part of its turning speed, -1 to 1, clockwise positive.
    """

    seconds: float
    said: Literal["", "stop", "time"] = ""
    option: int = 0
    forward: float = 0.0
    turn: float = 0.0


@runtime_checkable
class Person(Protocol):
    """Whoever walks."""

    async def wish(self, standing: Standing) -> PersonWish:
        """What they want next: a hop or the stop, or what the keys of the next 50 ms say.

        Args:
            standing: where they are.
        """
        ...


async def chosen(state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
    """What a person chooses, as a model's reply."""
    walker = await off_loop(walker_of, runtime)
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
