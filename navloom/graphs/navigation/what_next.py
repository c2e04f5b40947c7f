"""Which node of the navigator's graph comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.runtime import Runtime

from navloom.graphs.navigation.context import Context

State = Mapping[str, Any]


def at_first(state: State) -> Literal["begin", "observe"]:
    """A walk begins where it has no pose."""
    return "observe" if state.get("pose") else "begin"


def after_observe(
    state: State, runtime: Runtime[Context]
) -> Literal["think", "consult", "drive", "finish"]:
    """To the model, by way of the oracle where it is to speak; or to whoever drives."""
    if state["ending"]:
        return "finish"
    if runtime.context.motion == "continuous":
        return "drive"
    return "consult" if state["trigger"] else "think"


def after_act(
    state: State, runtime: Runtime[Context]
) -> Literal["think", "reflect", "consult", "ask", "move", "finish"]:
    """Ask again, think again, hear or ask somebody, or go."""
    context, draft = runtime.context, state["draft"]
    if state["ending"]:
        return "finish"
    if draft["action"]["kind"] == "none":
        return "think"
    revise = context.reflect and draft["decision"] == "revise"
    if revise and draft["revised"] < context.max_revisions:
        return "reflect"
    if draft["action"]["kind"] == "stop" and state["trigger"]:
        return "consult"
    return "ask" if draft["action"]["kind"] == "ask" else "move"


def after_move(state: State, runtime: Runtime[Context]) -> Literal["observe", "point", "finish"]:
    """Look around again, unless the walk has ended: then say which thing is meant, if asked."""
    if not state["ending"]:
        return "observe"
    asked = runtime.context.things is not None and state["ending"] != "collision"
    return "point" if asked else "finish"


def after_drive(state: State) -> Literal["drive", "observe", "finish"]:
    """On with the same step, or with the next."""
    if state["ending"]:
        return "finish"
    done = len(state["steps"]) >= state["draft"]["step"]
    return "observe" if done else "drive"
