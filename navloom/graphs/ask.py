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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, StateT

from navloom.graphs.agent import AgentContext, AgentGraph, Growing, ModelLike, Outcome, off_loop
from navloom.models.answer import AnswerError, message_text
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.messages import with_pictures
from navloom.models.usage import paid_for


@dataclass(frozen=True, kw_only=True, eq=False)
class AskContext(AgentContext):
    """The part of a context that says whom a graph asks, and how often."""

    model: ModelLike = "builtin/heuristic"
    """The model that is asked, or its ``provider/name``."""
    max_reasks: int = 1
    """How often a reply that cannot be used is asked for again."""
    constrain: bool = True
    """Whether to hold the model to the answer's schema where its backend can."""


class Asking(Outcome, total=False):
    """What every graph that asks knows between nodes: ids and texts only."""

    seed: int
    """Drawn upon by baselines, and shown to every model; 0 where it is left out."""
    messages: list[AnyMessage]
    """What was said about this question, without pictures; starts anew with each."""
    faults: Growing[str]
    """What was wrong with each answer that could not be used."""


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
    return isinstance((state.get("messages") or [None])[-1], HumanMessage)


Asked = tuple[Any, Sequence[BaseMessage], str | None]
"""A bound model, what it is shown, and its role (None takes that of the settings)."""


async def ask_model(
    prepare: Callable[..., Asked], *given: Any
) -> tuple[AIMessage, dict[str, list[dict[str, Any]]]]:
    """Ask a model once: all that precedes the call is done off the event loop.

    Args:
        prepare: makes what is asked: loads the model, renders, draws.
        given: its arguments.

    Returns:
        The answer, and the part of an update that says what it came to.
    """
    bound, shown, role = await off_loop(prepare, *given)
    answer = await acall(bound, shown, role=role)
    return answer, {"paid": [await off_loop(paid_for, answer)]}


def asking(
    builder: AgentGraph[StateT, ContextT, InputT],
    question: Callable[[Any, Any], Question],
    *,
    prompt: Any,
    finish: Any = None,
    many: bool = False,
) -> Callable[..., CompiledStateGraph[StateT, ContextT, InputT, Any]]:
    """What compiles a graph that asks, given where its steps are kept (nowhere by default).

    Args:
        builder: its schemas: a state that is an `Asking`, and a context with ``model``,
            ``max_reasks`` and, where an answer has a schema, ``constrain``.
        question: what is being asked, from the state and the context.
        prompt: the node that writes down the next question as ``messages``, or leaves it empty
            where there is none.
        finish: the node that ends it; None: the last answer's update does.
        many: whether ``prompt`` is gone back to for another question.
    """
    end = "finish" if finish else END
    after = "prompt" if many else end

    async def ask(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        answer, paid = await ask_model(prepared, state, runtime.context)
        return {"messages": [*state["messages"], answer], **paid}

    def prepared(state: Any, context: Any) -> Asked:
        asked = question(state, context)
        shown = asked.pictures()
        bound = bind(
            context.model,
            schema=asked.schema,
            constrain=getattr(context, "constrain", True),
            images=bool(shown),
            job=asked.job,
            seed=state.get("seed", 0),
        )
        return bound, with_pictures(state["messages"], shown), asked.role

    def read(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context, talk = runtime.context, state["messages"]
        asked, text = question(state, context), message_text(talk[-1].content)
        try:
            return dict(asked.read(text))
        except AnswerError as error:
            if asks(talk) > context.max_reasks:
                return dict(asked.give_up(text, error))
            told = [*talk, HumanMessage(str(error))]
            return {"faults": [f"{asked.about}{error}"], "messages": told}

    def after_prompt(state: Any) -> str:
        return "ask" if is_open(state) else end

    def after_read(state: Any) -> str:
        return "ask" if is_open(state) else after

    builder.add_node("prompt", prompt)
    builder.add_node("ask", ask)
    builder.add_node("read", read)
    builder.add_edge(START, "prompt")
    builder.add_conditional_edges("prompt", after_prompt, ["ask", end])
    builder.add_edge("ask", "read")
    builder.add_conditional_edges("read", after_read, ["ask", after])
    if finish:
        builder.add_node("finish", finish)
        builder.add_edge("finish", END)

    def build_graph(
        checkpointer: Checkpointer = None,
    ) -> CompiledStateGraph[StateT, ContextT, InputT, Any]:
        """The graph, compiled.

        Args:
            checkpointer: where its steps are kept; nowhere by default.
        """
        made: CompiledStateGraph[StateT, ContextT, InputT, Any] = builder.compile(checkpointer)
        return made

    return build_graph
