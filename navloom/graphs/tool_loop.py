"""Tool-calling loop and question loop shared by the agents.

In the tool loop a model proposes, tools answer its calls, and its answer is checked.

    propose <---------------+--------------+
       |                    |              |
       +-- calls tools --> consult         |
       |                    +- stuck -> END|
       +-- answers ------> check ----------+ (mend)
       |                    +- ok / given up -> END
       +-- out of turns -> END

The conversation in a graph's state holds only the messages after the opening. The opening (system
prompt, scene) is rendered from the context each time, so that no scene is ever checkpointed.

In the question loop a model is asked a question. An invalid answer is rejected with its fault.

    START ──> prompt ──> ask ──> read ──> prompt ──> ... ──> finish ──> END
                          ^       │
                          └───────┘  the exact fault, at most ``max_reasks`` times a question

A graph that asks defines two parts: the node ``prompt`` that writes the next question, and a
`Question` with its schema and answer reader. Every node is a step of its own, so that a reply that
was paid for is stored before it is read. Images are sent with each call and stored nowhere: the
state holds only texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, Literal, NamedTuple

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, StateT

from navloom.graphs import agent_graph
from navloom.models.messages import (
    AnswerError,
    answered_turns,
    cut_calls_notice,
    message_text,
    opening_messages,
    read_json_object,
    tool_answer,
    with_images,
)
from navloom.models.model_call import acall
from navloom.models.spans import tool_span
from navloom.models.structured_output import bind_schema
from navloom.models.usage import reply_usage
from navloom.prompts.prompt_loader import RenderedPrompt
from navloom.tools.model_output import Violation


@dataclass(frozen=True, kw_only=True, eq=False)
class AskContext(agent_graph.AgentContext):
    """Context part of a graph that asks: the model and the number of retries."""

    model: agent_graph.ModelLike = "builtin/heuristic"
    """The model that is asked, or its ``provider/name``."""
    max_reasks: int = 1
    """Maximum number of retries after an unusable reply."""
    constrain: bool = True
    """Constrain the reply to the answer's schema if the backend can."""


class QuestionState(agent_graph.Outcome, total=False):
    """State of every graph that asks questions: ids and texts only."""

    seed: int
    """Seed of baselines, also shown to every model; 0 if left out."""
    messages: list[AnyMessage]
    """Messages about the current question, without images."""
    faults: agent_graph.Growing[str]
    """Fault of each unusable answer."""


@dataclass(frozen=True, kw_only=True)
class ModelQuestion:
    """One question: its settings for the model call, and the reader of its answer.

    Attributes:
        job: name by which builtin models select their policy.
        read: returns the state update of an answer's text. Raises `AnswerError`, with a message for
            the model, if the text cannot be used.
        give_up: returns the update after the last retry, from the unusable text and its error.
        schema: JSON schema of the answer; None for prose.
        role: role of the model call; None for that of the settings.
        pictures: returns the images to show with the text.
        about: prefix of a recorded fault.
    """

    job: str
    read: Callable[[str], Mapping[str, Any]]
    give_up: Callable[[str, AnswerError], Mapping[str, Any]]
    schema: Mapping[str, Any] | None = None
    role: str | None = None
    pictures: Callable[[], Sequence[bytes]] = tuple
    about: str = ""


def is_reply_due(state: Mapping[str, Any]) -> bool:
    """Check whether the model must reply: the last message is not its own."""
    return isinstance((state.get("messages") or [None])[-1], HumanMessage)


Asked = tuple[Any, Sequence[BaseMessage], str | None]
"""A bound model, its messages, and its role (None for that of the settings)."""


async def ask_model(
    prepare: Callable[..., Asked], *given: Any
) -> tuple[AIMessage, dict[str, list[dict[str, Any]]]]:
    """Call a model once. The call is prepared off the event loop.

    Args:
        prepare: prepares the call: loads the model, renders prompt and images.
        given: its arguments.

    Returns:
        The reply, and the part of a state update with its usage.
    """
    bound, shown, role = await agent_graph.run_off_loop(prepare, *given)
    answer = await acall(bound, shown, role=role)
    return answer, {"usage": [await agent_graph.run_off_loop(reply_usage, answer)]}


def question_builder(
    builder: agent_graph.AgentGraph[StateT, ContextT, InputT],
    question: Callable[[Any, Any], ModelQuestion],
    *,
    prompt: Any,
    finish: Any = None,
    many: bool = False,
) -> Callable[..., CompiledStateGraph[StateT, ContextT, InputT, Any]]:
    """Add a question loop to a graph, and return the function that compiles the graph.

    Args:
        builder: the graph, with a state that is an `QuestionState`, and a context with ``model``,
            ``max_reasks`` and, if an answer has a schema, ``constrain``.
        question: returns the current question from state and context.
        prompt: node that writes the next question as ``messages``, empty if there is none.
        finish: node that ends the graph; None if the last answer's update ends it.
        many: whether to return to ``prompt`` for another question.
    """
    end = "finish" if finish else END
    after = "prompt" if many else end

    async def ask(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        answer, paid = await ask_model(prepared, state, runtime.context)
        return {"messages": [*state["messages"], answer], **paid}

    def prepared(state: Any, context: Any) -> Asked:
        asked = question(state, context)
        shown = asked.pictures()
        bound = bind_schema(
            context.model,
            schema=asked.schema,
            constrain=getattr(context, "constrain", True),
            images=bool(shown),
            job=asked.job,
            seed=state.get("seed", 0),
        )
        return bound, with_images(state["messages"], shown), asked.role

    def read(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context, talk = runtime.context, state["messages"]
        asked, text = question(state, context), message_text(talk[-1].content)
        try:
            return dict(asked.read(text))
        except AnswerError as error:
            if count_turns(talk) > context.max_reasks:
                return dict(asked.give_up(text, error))
            told = [*talk, HumanMessage(str(error))]
            return {"faults": [f"{asked.about}{error}"], "messages": told}

    def after_prompt(state: Any) -> str:
        return "ask" if is_reply_due(state) else end

    def after_read(state: Any) -> str:
        return "ask" if is_reply_due(state) else after

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
        """Return the compiled graph.

        Args:
            checkpointer: store of its steps; by default none.
        """
        made: CompiledStateGraph[StateT, ContextT, InputT, Any] = builder.compile(checkpointer)
        return made

    return build_graph


_MOST_ARGUMENTS = 2_000
REPEATED = "repeated_call"
REJECTED = "Your answer breaks these rules:"
AGAIN = "Your answer breaks the rules. Answer again."


class ToolCallResult(NamedTuple):
    """One tool call of a conversation with its result."""

    name: str
    args: dict[str, Any]
    result: dict[str, Any] | None
    """The tool's JSON; None if the call was refused or failed."""

    @property
    def signature(self) -> str:
        """Key that is equal for identical calls."""
        return f"{self.name}{json.dumps(self.args, sort_keys=True, default=str)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class TurnLimits(agent_graph.AgentContext):
    """Context part that bounds a conversation."""

    max_turns: int = 12
    """Maximum number of model calls."""
    max_reasks: int = 3
    """Maximum number of rejected answers."""
    precise_repairs: bool = True
    """Explain the violations of a rejected answer, not only that it is rejected."""


class ToolLoopState(agent_graph.Outcome, total=False):
    """State of every graph with a tool loop: ids and text, never a scene."""

    messages: agent_graph.Growing[AnyMessage]
    """The conversation after the opening."""
    violations: agent_graph.Growing[str]
    """Codes of the violations reported to the model so far."""
    repairs: Annotated[int, add]
    """Number of rejected answers."""


@dataclass(frozen=True)
class Conversation:
    """Definition of one conversation; its functions get the state and the context.

    Attributes:
        ask: returns the rendered opening and the JSON schema of the answer.
        tools: returns the tools; they are not offered if the context is ``compact``.
        failed: checks whether an answered call has failed.
        advise: returns the answer to a repeated failing call, from it, all earlier calls and the
            context.
        check: returns the update of an answer's JSON: accepted, rejected, or given up.
    """

    ask: Callable[[Any, Any], tuple[RenderedPrompt, dict[str, Any]]]
    tools: Callable[[Any, Any], Sequence[BaseTool]]
    failed: Callable[[ToolCallResult], bool]
    advise: Callable[[ToolCallResult, list[ToolCallResult], Any], str]
    check: Callable[[dict[str, Any], Any, Any], dict[str, Any]]


def add_conversation(builder: agent_graph.AgentGraph[Any, Any, Any], talk: Conversation) -> None:
    """Add a conversation's nodes and edges. The caller adds the edge to ``propose``."""

    async def propose(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        reply, paid = await ask_model(prepared, state, runtime.context)
        return {"messages": [reply], **paid}

    def prepared(state: Any, context: Any) -> Asked:
        rendered, schema = talk.ask(state, context)
        bound = bind_schema(
            context.model,
            tools=[] if context.compact else list(talk.tools(state, context)),
            schema=schema,
            constrain=context.constrain,
            job=schema["title"],
            seed=state["seed"],
        )
        settled = messages_of(state)[state.get("settled", 0) :]
        return bound, [*opening_messages(rendered), *settled], None

    def consult(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context = runtime.context
        return answer_tool_calls(
            messages_of(state),
            talk.tools(state, context),
            failed=talk.failed,
            advise=lambda call, before: talk.advise(call, before, context),
        )

    def check(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        try:
            answer = read_json_object(message_text(messages_of(state)[-1].content))
        except AnswerError as error:
            return rejection_update(state, [Violation("not_json", str(error))], runtime.context)
        return talk.check(answer, state, runtime.context)

    add_tool_loop(builder, propose, consult, check, out_of_turns)


def add_tool_loop(
    builder: agent_graph.AgentGraph[Any, Any, Any],
    propose: Any,
    consult: Any,
    check: Any,
    over: Any,
) -> None:
    """Add the nodes and edges of a tool loop.

    Args:
        builder: the graph. The caller adds the edge to ``propose``.
        propose: node that calls the model, which calls tools or answers.
        consult: node that answers its tool calls.
        check: node that accepts or rejects its answer, or gives up.
        over: node that ends an attempt without turns left.
    """
    builder.add_node("propose", propose)
    builder.add_node("consult", consult)
    builder.add_node("check", check)
    builder.add_node("out_of_turns", over)
    builder.add_conditional_edges("propose", after_propose)
    builder.add_conditional_edges("consult", go_on)
    builder.add_conditional_edges("check", go_on)
    builder.add_edge("out_of_turns", END)


def messages_of(state: Mapping[str, Any]) -> list[AnyMessage]:
    """Return the messages of a state after the opening."""
    messages: list[AnyMessage] = state.get("messages", [])
    return messages


def failed_update(reason: str, message: str) -> dict[str, Any]:
    """Return the update that ends an attempt: a code for counting and one line of text."""
    return {"status": "failed", "reason": reason, "message": message}


def count_turns(messages: Sequence[BaseMessage]) -> int:
    """Return the number of model replies in a conversation."""
    return sum(isinstance(message, AIMessage) for message in messages)


def executed_calls(messages: Sequence[AnyMessage]) -> list[ToolCallResult]:
    """Return all answered tool calls in order. Identical calls of one reply count once."""
    made: list[ToolCallResult] = []
    for spoken in answered_turns(messages):
        calls = [ToolCallResult(c["name"], c["args"], tool_answer(a)) for c, a in spoken]
        once: dict[str, ToolCallResult] = {}
        for call in calls:
            once.setdefault(call.signature, call)
        made += once.values()
    return made


def rejection_update(
    state: Mapping[str, Any], wrong: Sequence[Violation], limits: TurnLimits
) -> dict[str, Any]:
    """Return the update that rejects an answer, one line for each violation, or gives up."""
    if state.get("repairs", 0) >= limits.max_reasks:
        return failed_update(wrong[0].code, wrong[0].message)
    lines = "\n".join(f"- {violation.message}" for violation in wrong)
    text = f"{REJECTED}\n{lines}\nMend it and answer again." if limits.precise_repairs else AGAIN
    return {"messages": [HumanMessage(text)], "violations": [v.code for v in wrong], "repairs": 1}


def out_of_turns(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG001
    """Return the update that ends the attempt, since the model has used all its turns."""
    most = runtime.context.max_turns
    return failed_update("out_of_turns", f"no accepted answer in {most} model calls")


def after_propose(state: Mapping[str, Any]) -> Literal["consult", "check"]:
    """Route a reply: tool calls to ``consult``, anything else to ``check``."""
    last = messages_of(state)[-1]
    calls = isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls)
    return "consult" if calls else "check"


def go_on(
    state: Mapping[str, Any], runtime: Runtime[Any]
) -> Literal["propose", "out_of_turns", "__end__"]:
    """Route to the model, unless the attempt has ended or no turns are left."""
    if state.get("status"):
        return "__end__"
    taken = count_turns(messages_of(state))
    return "out_of_turns" if taken >= runtime.context.max_turns else "propose"


def answer_tool_calls(
    messages: Sequence[AnyMessage],
    tools: Sequence[BaseTool],
    *,
    failed: Callable[[ToolCallResult], bool],
    advise: Callable[[ToolCallResult, list[ToolCallResult]], str],
) -> dict[str, Any]:
    """Answer the tool calls of the last message and return the state update.

    A call identical to a failed one is answered by ``advise``. If a third reply repeats it, the
    attempt ends. Identical calls within one reply are run once and get the same answer.

    Args:
        messages: the conversation, ending with a message of the model.
        tools: the available tools.
        failed: checks whether an answered call has failed.
        advise: returns the answer to a repeated failing call, from it and all earlier calls.
    """
    last, before = messages[-1], executed_calls(messages[:-1])
    assert isinstance(last, AIMessage)  # noqa: S101  the router sends nothing else here
    answers: list[AnyMessage] = []
    given: dict[str, ToolMessage] = {}
    stuck = False
    node = ToolNode(list(tools), handle_tool_errors=True)
    for call in last.tool_calls:
        asked = ToolCallResult(call["name"], call["args"], None)
        if asked.signature in given:
            twin = {"tool_call_id": call["id"], "id": None}
            answers.append(given[asked.signature].model_copy(update=twin))
            continue
        refusal = _refusal(asked)
        same = [c for c in before if c.signature == asked.signature]
        # A call that was answered with advice has no result, so it failed before as well.
        repeats = len(same) if any(failed(c) for c in same) else 0
        if refusal is None and repeats >= 2:
            stuck, refusal = True, "This call failed three times. The attempt ends here."
        elif refusal is None and repeats == 1:
            refusal = advise(next(c for c in same if failed(c)), before)
        if refusal is None:
            given[asked.signature] = _run(node, call)
        else:
            given[asked.signature] = _answer(call["id"], call["name"], refusal)
        answers.append(given[asked.signature])
    for broken in last.invalid_tool_calls:
        text = "The arguments are not valid JSON. Call again with a JSON object."
        answers.append(_answer(broken.get("id"), broken.get("name"), text))
    if note := cut_calls_notice(last):
        answers.append(HumanMessage(note))
    over = failed_update(REPEATED, "one failing call came three times") if stuck else {}
    return {"messages": answers, **over}


def _refusal(call: ToolCallResult) -> str | None:
    if len(json.dumps(call.args, default=str)) > _MOST_ARGUMENTS:
        return f"The arguments are over {_MOST_ARGUMENTS} characters long. Pass plain names."
    return None


def _run(node: ToolNode, call: ToolCall) -> ToolMessage:
    with tool_span(call, call["name"] in node.tools_by_name) as answered:
        found = node.invoke({"messages": [AIMessage("", tool_calls=[call])]})
        message: ToolMessage = found["messages"][0]
        answered(message)
    return message


def _answer(call_id: str | None, name: str | None, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id or "", name=name or "", status="error")
