"""When a navigator's oracle speaks, and what is kept of it (VLN-MME 4.4, VLNVerse 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

from navloom.graphs.navigation import oracle
from navloom.graphs.navigation.context import Context
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator
from navloom.tools.navigation.triggers import struggling


def trigger_of(state: Mapping[str, Any], context: Context, scene: Scene) -> str | None:
    """Why the oracle should speak now: once a place, and within its budget."""
    said, at = state["guidance"], len(state["trajectory"]) - 1
    if context.oracle == "off" or len(said) >= context.oracle_budget:
        return None
    since = said[-1]["at"] if said else 0
    if said and since == at:
        return None
    walked = [str(pose[0]) for pose in state["trajectory"]]
    return struggling(scene, walked, state["goals"], state["path"], since=since)


async def ask_for(
    state: Mapping[str, Any],
    context: Context,
    simulator: Simulator,
    question: str | None,
    trigger: str | None,
) -> tuple[dict[str, Any], list[AIMessage]]:
    """Ask the oracle where the navigator stands.

    Returns:
        ``step``, ``at`` (hops so far), ``trigger``, ``question``, ``answer``, ``leaked`` and
        ``exact``; and the replies it took.
    """
    exact = context.oracle == "path"
    given: oracle.Input = {
        "seed": state["seed"],
        "instruction": state["instruction"],
        "question": question,
        "trigger": trigger,
        "trajectory": [state["pose"]["viewpoint"]],
        "heading": state["pose"]["heading"],
        "goals": state["goals"],
        "path": state["path"],
        "history": sorted([*state["guidance"], *state["dialogue"]], key=lambda said: said["step"]),
        "options": state["draft"]["options"],
    }
    model = context.oracle_model or context.model
    around = oracle.Context(simulator.scene, model, simulator, exact=exact)
    answered = await oracle.graph.ainvoke(given, context=around)
    kept = {key: answered["result"][key] for key in ("trigger", "question", "answer", "leaked")}
    at = len(state["trajectory"]) - 1
    said = {"step": state["draft"]["step"], "at": at, "exact": exact, **kept}
    return said, answered.get("messages", [])
