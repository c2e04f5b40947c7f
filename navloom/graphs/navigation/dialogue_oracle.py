"""The dialogue oracle: a navigator asks, somebody who knows the home answers, a few times at most.

Source: VLNVerse 5.4: "the agent could query an oracle LLM for environmental information and
navigational advice". The paper gives neither prompt nor budget; both are ours.

    START ──> hear ──> answer ──> finish ──> END
               │                    ^
               └── no turns left ───┘

One call is one question. The answer is made of scene graph, pose and shortest path by the answerer
that both oracles share (:mod:`navloom.graphs.navigation.answerer`) and names no viewpoint. With a
checkpointer and one thread a navigator, ``dialogue`` keeps what was said, and ``max_questions``
bounds it.
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
from navloom.graphs.navigation.answerer import MODEL_SECONDS, MOST_QUESTION, ask_oracle
from navloom.scenes.scene import Scene
from navloom.sim.protocol import Simulator
from navloom.tools.untrusted import paragraph

__all__ = ["Context", "Input", "State", "build_graph", "graph"]


class Input(TypedDict, total=False):
    """What a caller gives; ``question`` and ``viewpoint`` are needed."""

    seed: int
    """Shown to the model; 0 where it is left out."""
    instruction: str
    """The navigator's; may be left out."""
    question: str
    """The navigator's words; untrusted."""
    viewpoint: str
    """Where it stands."""
    heading: float
    """Where it looks, radians clockwise from -z; 0 where it is left out."""
    goals: list[str]
    """Ground truth; without it nobody knows the way, and the answer is about the place alone."""
    path: list[str]
    """Ground truth; may be left out."""


class State(Input, total=False):
    """What the graph knows between nodes: ids and texts only."""

    heard: str | None
    """The question as the oracle reads it; None where it is not answered."""
    dialogue: Annotated[list[dict[str, Any]], operator.add]
    """Every ``{"question", "answer", "leaked"}`` so far, oldest first."""
    advice: dict[str, Any] | None
    """What was said last; see :class:`navloom.graphs.navigation.answerer.Advice`."""
    messages: Annotated[list[AIMessage], operator.add]
    """Every reply of the model, with its usage."""
    status: Literal["ok", "failed"]
    """``failed`` where the question was not answered."""
    result: dict[str, Any]
    """``question``, ``answer`` (None where there is none), ``leaked``, ``faults``, ``facts``,
    ``turns`` (questions answered so far), ``leaks`` (of those, how many had one) and ``prompt``."""
    reason: str | None
    """``no_question``, ``no_turns_left``, ``no_words``, or None."""
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
    max_questions: int = 3
    """How many questions are answered."""


async def hear(state: State, runtime: Runtime[Context]) -> State:
    """Read the question, and see whether it may be asked."""
    if not state.get("viewpoint"):
        raise UsageError("the dialogue oracle needs the viewpoint that the navigator stands on")
    begun: State = {"heard": None, "advice": None, "status": "failed"}
    question = paragraph(state.get("question", ""), MOST_QUESTION)
    if not question:
        return {**begun, "reason": "no_question", "message": "the question holds no words"}
    most = runtime.context.max_questions
    if len(state.get("dialogue", [])) >= most:
        return {**begun, "reason": "no_turns_left", "message": f"all {most} questions are asked"}
    return {**begun, "heard": question}


async def answer(state: State, runtime: Runtime[Context]) -> State:
    """Answer it."""
    context = runtime.context
    advice = await ask_oracle(
        scene=context.scene,
        model=context.model,
        simulator=context.simulator,
        seed=state.get("seed", 0),
        instruction=state.get("instruction", ""),
        question=state["heard"],
        viewpoint=state["viewpoint"],
        heading=state.get("heading", 0.0),
        goals=state.get("goals", ()),
        path=state.get("path", ()),
        history=state.get("dialogue", ()),
    )
    kept: dict[str, Any] = {key: value for key, value in advice.items() if key != "messages"}
    turn = {key: kept[key] for key in ("question", "answer", "leaked")}
    words: State = {"status": "ok", "reason": None, "message": None}
    if not kept["answer"]:
        said = "the oracle's model gave no words in two answers"
        words = {"status": "failed", "reason": "no_words", "message": said}
    return {**words, "advice": kept, "dialogue": [turn], "messages": advice["messages"]}


async def finish(state: State) -> State:
    """Put the result together."""
    advice, said = state.get("advice") or {}, state.get("dialogue", [])
    result = {
        "question": state["heard"],
        "answer": advice.get("answer"),
        "leaked": advice.get("leaked", False),
        "faults": advice.get("faults", []),
        "facts": advice.get("facts"),
        "turns": len(said),
        "leaks": sum(turn["leaked"] for turn in said),
        "prompt": advice.get("prompt"),
    }
    return {"result": result}


def after_hear(state: State) -> Literal["answer", "finish"]:
    """Answer what may be asked."""
    return "finish" if state["heard"] is None else "answer"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where its steps are kept; nowhere by default, and every question is a first.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("hear", hear)
    builder.add_node("answer", answer, timeout=MODEL_SECONDS)
    builder.add_node("finish", finish)
    builder.add_edge(START, "hear")
    builder.add_conditional_edges("hear", after_hear)
    builder.add_edge("answer", "finish")
    builder.add_edge("finish", END)
    return builder.compile(checkpointer=checkpointer, name="dialogue_oracle")


graph = build_graph()
