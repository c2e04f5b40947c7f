"""The navigators there are by name: all of them the one graph, set in different ways.

A new agent is one line of ``AGENTS``. What only prompts differ in (``cot``, ``reflect``, ``plan``,
``act``) goes with every agent and is no agent of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from navloom.errors import UsageError, did_you_mean

__all__ = ["AGENTS", "AgentSettings", "get_agent"]


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How the navigator graph is set for an agent.

    Attributes:
        name: what it is called.
        memory: how it remembers (:mod:`navloom.graphs.navigation.text`).
        model: the model it always thinks with; None takes the caller's.
        show_path: whether it is shown the shortest path, which no fair navigator is.
        description: one line for a table.
    """

    name: str
    memory: Literal["history", "map"] = "history"
    model: str | None = None
    show_path: bool = False
    description: str = ""


AGENTS: dict[str, AgentSettings] = {
    agent.name: agent
    for agent in (
        AgentSettings("navgpt", description="text history as memory (NavGPT)"),
        AgentSettings("mapgpt", memory="map", description="text map as memory (MapGPT)"),
        AgentSettings("heuristic", model="builtin/heuristic", description="rules, not a model"),
        AgentSettings("random", model="builtin/random", description="draws among the options"),
        AgentSettings(
            "shortest-path",
            model="builtin/heuristic",
            show_path=True,
            description="is shown the shortest path: the upper bound",
        ),
        AgentSettings("human", model="builtin/human", description="a person at the terminal"),
    )
}


def get_agent(name: str) -> AgentSettings:
    """The agent of a name.

    Raises:
        UsageError: there is no such agent.
    """
    if name not in AGENTS:
        raise UsageError(
            f"'{name}' is not an agent: expected one of {', '.join(AGENTS)}."
            + did_you_mean(name, AGENTS)
        )
    return AGENTS[name]
