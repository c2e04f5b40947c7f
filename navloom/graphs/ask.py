"""One way to ask: put a question to a model, read the answer, say what is wrong with it, ask again.

    START ──> prompt ──> ask ──> read ──> prompt ──> ... ──> finish ──> END
                          ^       │
                          └───────┘  the exact fault, at most ``max_reasks`` times a question

A graph that asks says two things: how its next question is written down (``prompt``), and what that
question is to the model and to its reader (a `Question`). Every node is a step of its own, so that
an answer that was paid for is kept before it is read. Pictures go along with each call and are kept
nowhere: the state holds texts alone.
"""

from __future__ import annotations

import asyncio
import atexit
import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, StateT

from navloom.errors import UsageError
from navloom.models.answer import AnswerError, message_text, with_pictures
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.secrets import redact_traces

MODEL_SECONDS = 1800.0
"""A node that asks a model may take so long, retries included."""
_MOST_STEPS = 200_000
"""LangGraph's default limit has fewer steps than a home has questions; these are bounded by the
home and ``max_reasks``."""


class Asking(TypedDict, total=False):
    """What every graph that asks knows between nodes: ids and texts only."""

    seed: int
    """Drawn upon by baselines, and shown to every model; 0 where it is left out."""
    conversation: list[AnyMessage]
    """What was said about this question, without pictures; starts anew with each."""
    faults: Annotated[list[str], operator.add]
    """What was wrong with each answer that could not be used."""
    messages: Annotated[list[AIMessage], operator.add]
    """Every answer of a model, with its usage."""
    status: Literal["ok", "failed"]
    """Whether there is a result to go on with."""
    reason: str | None
    """Where it failed, the code to count it under; else None."""
    message: str | None
    """The reason for a person; None where there is none."""
    result: dict[str, Any]
    """What came of it; each graph says what is in it."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question, as a model is asked it and as its answer is read.

    Attributes:
        job: what builtin models know it by.
        read: the state's update that an answer's text makes; raises `AnswerError`, in words for
            the model, where the text cannot be used.
        give_up: the update where the last answer that may be asked for cannot be used, given its
            text and what is wrong with it.
        schema: the JSON schema of the answer; None where it is prose.
        role: what the model is used for; None takes that of the settings.
        pictures: makes what the model is shown beside the text.
        about: what stands before a fault in the record.
    """

    job: str
    read: Callable[[str], Mapping[str, Any]]
    give_up: Callable[[str, AnswerError], Mapping[str, Any]]
    schema: Mapping[str, Any] | None = None
    role: str | None = None
    pictures: Callable[[], Sequence[bytes]] = tuple
    about: str = ""


def asks(conversation: Sequence[BaseMessage]) -> int:
    """How often the model has answered."""
    return sum(isinstance(message, AIMessage) for message in conversation)


def is_open(state: Mapping[str, Any]) -> bool:
    """Whether the model is to be asked: the conversation's last word is not its own."""
    return isinstance((state.get("conversation") or [None])[-1], HumanMessage)


def asking(
    builder: StateGraph[StateT, ContextT, InputT, StateT],
    question: Callable[[Any, Any], Question],
    *,
    name: str,
    prompt: Any,
    finish: Any = None,
    many: bool = False,
) -> Callable[..., CompiledStateGraph[StateT, ContextT, InputT, StateT]]:
    """What compiles a graph that asks, given where its steps are kept (nowhere by default).

    Args:
        builder: its schemas: a state that is an `Asking`, and a context with ``model``,
            ``max_reasks`` and, where an answer has a schema, ``constrain``.
        question: what is being asked, from the state and the context.
        name: what the graph is called.
        prompt: the node that writes down the next question as ``conversation``, or leaves it empty
            where there is none.
        finish: the node that ends it; None: the last answer's update does.
        many: whether ``prompt`` is gone back to for another question.
    """
    end = "finish" if finish else END
    after = "prompt" if many else end

    async def ask(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context, asked = runtime.context, question(state, runtime.context)
        talk, shown = state["conversation"], asked.pictures()
        bound = bind(
            context.model,
            schema=asked.schema,
            constrain=getattr(context, "constrain", True),
            images=bool(shown),
            job=asked.job,
            seed=state.get("seed", 0),
        )
        answer = await acall(bound, with_pictures(talk, shown), role=asked.role)
        return {"conversation": [*talk, answer], "messages": [answer]}

    async def read(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context, talk = runtime.context, state["conversation"]
        asked, text = question(state, context), message_text(talk[-1].content)
        try:
            return dict(asked.read(text))
        except AnswerError as error:
            if asks(talk) > context.max_reasks:
                return dict(asked.give_up(text, error))
            told = [*talk, HumanMessage(str(error))]
            return {"faults": [f"{asked.about}{error}"], "conversation": told}

    def after_prompt(state: Any) -> str:
        return "ask" if is_open(state) else end

    def after_read(state: Any) -> str:
        return "ask" if is_open(state) else after

    builder.add_node("prompt", prompt)
    builder.add_node("ask", ask, timeout=MODEL_SECONDS)
    builder.add_node("read", read)
    builder.add_edge(START, "prompt")
    builder.add_conditional_edges("prompt", after_prompt, ["ask", end])
    builder.add_edge("ask", "read")
    builder.add_conditional_edges("read", after_read, ["ask", after])
    if finish:
        builder.add_node("finish", finish, timeout=MODEL_SECONDS)
        builder.add_edge("finish", END)

    def build_graph(
        checkpointer: Checkpointer = None,
    ) -> CompiledStateGraph[StateT, ContextT, InputT, StateT]:
        """The graph, compiled.

        Args:
            checkpointer: where its steps are kept; nowhere by default.
        """
        compiled = builder.compile(checkpointer=checkpointer, name=name)
        return compiled.with_config(recursion_limit=_MOST_STEPS)

    return build_graph


def run(
    graph: Any,
    input: dict[str, Any] | None,  # noqa: A002  LangGraph's own word, and the design's
    *,
    context: Any = None,
    config: Any = None,
) -> dict[str, Any]:
    """Call a graph and wait for its final state.

    All such calls share one event loop in a thread of its own, so that models keep their
    connections between calls, and it works in a notebook, which has a running loop already.

    Args:
        graph: any compiled graph of ``navloom.graphs``.
        input: what it starts from; None goes on from a checkpoint.
        context: its ``Context``.
        config: a LangGraph config, such as ``{"recursion_limit": 50}``.

    Raises:
        UsageError: called from within a graph, where only ``await graph.ainvoke`` can work.
    """
    redact_traces()
    loop = _loop()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if inside:
        raise UsageError("run() waits: inside a graph use `await graph.ainvoke(...)` instead")
    call = asyncio.run_coroutine_threadsafe(graph.ainvoke(input, config, context=context), loop)
    try:
        state: dict[str, Any] = call.result()
    except BaseException:
        call.cancel()
        raise
    return state


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="navloom.run", daemon=True)
    thread.start()

    def close() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)
        if not loop.is_running():
            loop.close()

    atexit.register(close)
    return loop
