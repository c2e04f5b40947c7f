"""The oracle assistant: watches a navigator, and says what to do next when it struggles.

Source: VLN-MME 4.4: "when the navigator struggled (e.g., looping, moving in a critically wrong
direction, or entering the wrong region), it was allowed to query the Oracle. The Oracle provided
high-level reasoning guidance and suggested potential plans and actions."

    START ──> watch ──> advise ──> finish ──> END
                │                    ^
                └──── all is well ───┘

``watch`` looks for a trigger at the end of the trajectory
(:mod:`navloom.tools.navigation.triggers`); with ``plan`` it asks for a plan where nothing is wrong.
``advise`` is the answerer that both oracles share (:mod:`navloom.graphs.navigation.answerer`). The
navigator graph calls the same two functions in its own nodes; this graph serves other agents and
people.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer

from navloom.errors import UsageError
from navloom.graphs.navigation.answerer import MODEL_SECONDS, ask_oracle
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.sim.protocol import Simulator
from navloom.tools.navigation.triggers import struggling

__all__ = ["Context", "Input", "State", "build_graph", "graph"]


class Input(TypedDict, total=False):
    """What a caller gives; ``instruction``, ``trajectory`` and ``goals`` are needed."""

    seed: int
    """Shown to the model; 0 where it is left out."""
    instruction: str
    """The navigator's."""
    trajectory: list[str]
    """The viewpoints it stood on, first to last; it stands on the last."""
    heading: float
    """Where it looks, radians clockwise from -z; 0 where it is left out."""
    goals: list[str]
    """Ground truth."""
    path: list[str]
    """Ground truth; may be left out."""
    since: int
    """Viewpoints to pass over: those before the last advice."""
    plan: bool
    """Give a plan where nothing is wrong."""
    history: list[dict[str, Any]]
    """Earlier ``{"question", "answer"}``, oldest first."""


class State(Input, total=False):
    """What the graph knows between nodes: ids and texts only."""

    trigger: str | None
    """Why the oracle speaks; None where it does not."""
    advice: dict[str, Any] | None
    """What it said; see :class:`navloom.graphs.navigation.answerer.Advice`."""
    messages: Annotated[list[AIMessage], operator.add]
    """Every reply of the model, with its usage."""
    status: Literal["ok", "failed"]
    """``failed`` where the oracle had to speak and gave no words."""
    result: dict[str, Any]
    """``trigger``, ``answer`` (None where all is well), ``leaked``, ``faults``, ``facts`` and
    ``prompt``."""
    reason: str | None
    """``no_words``, or None."""
    message: str | None
    """The reason for a person."""


@dataclass(frozen=True)
class Context:
    """What does not change during a run."""

    scene: Scene | str
    """The home, or its URI."""
    model: BaseChatModel | str
    """The oracle's model, or its ``provider/name``."""
    simulator: Simulator | None = None
    """Where the navigator walks: its captions are used, nothing in it is moved."""
    visits: int = 3
    """See :func:`navloom.tools.navigation.triggers.struggling`; so are the next two."""
    worse_m: float = 3.0
    away_m: float = 5.0


async def watch(state: State, runtime: Runtime[Context]) -> State:
    """Look for a reason to speak."""
    context = runtime.context
    if not (state.get("instruction") and state.get("trajectory") and state.get("goals")):
        raise UsageError("the oracle needs an instruction, a trajectory of viewpoints, and goals")
    found = struggling(
        scene_of(context.scene),
        state["trajectory"],
        state["goals"],
        state.get("path", ()),
        since=state.get("since", 0),
        visits=context.visits,
        worse_m=context.worse_m,
        away_m=context.away_m,
    )
    return {"trigger": found or ("plan" if state.get("plan") else None)}


async def advise(state: State, runtime: Runtime[Context]) -> State:
    """Ask the model for advice."""
    context = runtime.context
    advice = await ask_oracle(
        scene=context.scene,
        model=context.model,
        simulator=context.simulator,
        seed=state.get("seed", 0),
        instruction=state["instruction"],
        viewpoint=state["trajectory"][-1],
        heading=state.get("heading", 0.0),
        goals=state["goals"],
        path=state.get("path", ()),
        history=state.get("history", ()),
        trigger=state["trigger"],
    )
    kept = {key: value for key, value in advice.items() if key != "messages"}
    return {"advice": kept, "messages": advice["messages"]}


async def finish(state: State) -> State:
    """Put the result together."""
    advice = state.get("advice") or {}
    result = {
        "trigger": state["trigger"],
        "answer": advice.get("answer"),
        "leaked": advice.get("leaked", False),
        "faults": advice.get("faults", []),
        "facts": advice.get("facts"),
        "prompt": advice.get("prompt"),
    }
    if advice and not advice["answer"]:
        said = "the oracle's model gave no words in two answers"
        return {"status": "failed", "reason": "no_words", "message": said, "result": result}
    return {"status": "ok", "reason": None, "message": None, "result": result}


def after_watch(state: State) -> Literal["advise", "finish"]:
    """Speak where there is a reason."""
    return "finish" if state["trigger"] is None else "advise"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where its steps are kept; nowhere by default.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("watch", watch)
    builder.add_node("advise", advise, timeout=MODEL_SECONDS)
    builder.add_node("finish", finish)
    builder.add_edge(START, "watch")
    builder.add_conditional_edges("watch", after_watch)
    builder.add_edge("advise", "finish")
    builder.add_edge("finish", END)
    return builder.compile(checkpointer=checkpointer, name="oracle")


graph = build_graph()
