"""One way to take turns: a model proposes, tools answer it, its answer is checked and sent back.

    propose <---------------+--------------+
       |                    |              |
       +-- calls tools --> consult         |
       |                    +- stuck -> END|
       +-- answers ------> check ----------+ (mend)
       |                    +- ok / given up -> END
       +-- out of turns -> END

A conversation in a graph's state holds only what was said after the opening; the opening (system
prompt, scene) is rendered from the context each time, so that no scene is ever checkpointed.

One way to ask: put a question to a model, read the answer, say what is wrong with it, ask again.

    START ──> prompt ──> ask ──> read ──> prompt ──> ... ──> finish ──> END
                          ^       │
                          └───────┘  the exact fault, at most ``max_reasks`` times a question

A graph that asks says two things: how its next question is written down (``prompt``), and what that
question is to the model and to its reader (a `Question`). Every node is a step of its own, so that
an answer that was paid for is kept before it is read. Pictures go along with each call and are kept
nowhere: the state holds texts alone.
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

from navloom.graphs.agent import AgentContext, AgentGraph, Growing, ModelLike, Outcome, off_loop
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.messages import (
    AnswerError,
    answered_turns,
    left_out,
    message_text,
    opening,
    read_json_object,
    with_pictures,
)
from navloom.models.spans import tool_span
from navloom.models.usage import paid_for
from navloom.prompts.load import Rendered
from navloom.tools.forms import Violation


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


_MOST_ARGUMENTS = 2_000
REPEATED = "repeated_call"
REJECTED = "Your answer breaks these rules:"
AGAIN = "Your answer breaks the rules. Answer again."


class TurnCall(NamedTuple):
    """One tool call of a conversation and what came of it."""

    name: str
    args: dict[str, Any]
    result: dict[str, Any] | None
    """The tool's JSON; None where the call was refused or broke."""

    @property
    def signature(self) -> str:
        """Equal for identical calls."""
        return f"{self.name}{json.dumps(self.args, sort_keys=True, default=str)}"


@dataclass(frozen=True, kw_only=True, eq=False)
class TurnLimits(AgentContext):
    """The part of a context that bounds a conversation."""

    max_turns: int = 12
    """Model calls at most."""
    max_reasks: int = 3
    """Answers sent back at most."""
    precise_repairs: bool = True
    """Say what is wrong with an answer that is sent back, not only that it is."""


class Turns(Outcome, total=False):
    """What every graph that takes turns remembers: ids and text, never a scene."""

    messages: Growing[AnyMessage]
    """The conversation after the opening."""
    violations: Growing[str]
    """Codes of the violations told back so far."""
    repairs: Annotated[int, add]
    """How many times an answer was sent back."""


@dataclass(frozen=True)
class Conversation:
    """What makes one conversation differ from another; each is given the state and the context.

    Attributes:
        ask: the opening, and the JSON schema of the answer.
        tools: what may be called; not offered where the context is ``compact``.
        failed: whether an answered call was of no use.
        advise: what to say to a repeated failing call, given it, all earlier calls and the context.
        check: the update that an answer's JSON makes: accepted, sent back, or given up.
    """

    ask: Callable[[Any, Any], tuple[Rendered, dict[str, Any]]]
    tools: Callable[[Any, Any], Sequence[BaseTool]]
    failed: Callable[[TurnCall], bool]
    advise: Callable[[TurnCall, list[TurnCall], Any], str]
    check: Callable[[dict[str, Any], Any, Any], dict[str, Any]]


def add_conversation(builder: AgentGraph[Any, Any, Any], talk: Conversation) -> None:
    """Add a conversation's nodes and what joins them; the caller leads to ``propose``."""

    async def propose(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        reply, paid = await ask_model(prepared, state, runtime.context)
        return {"messages": [reply], **paid}

    def prepared(state: Any, context: Any) -> Asked:
        rendered, schema = talk.ask(state, context)
        bound = bind(
            context.model,
            tools=[] if context.compact else list(talk.tools(state, context)),
            schema=schema,
            constrain=context.constrain,
            job=schema["title"],
            seed=state["seed"],
        )
        return bound, [*opening(rendered), *said(state)[state.get("settled", 0) :]], None

    def consult(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        context = runtime.context
        return tool_turn(
            said(state),
            talk.tools(state, context),
            failed=talk.failed,
            advise=lambda call, before: talk.advise(call, before, context),
        )

    def check(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        try:
            answer = read_json_object(message_text(said(state)[-1].content))
        except AnswerError as error:
            return sent_back(state, [Violation("not_json", str(error))], runtime.context)
        return talk.check(answer, state, runtime.context)

    add_turns(builder, propose, consult, check, out_of_turns)


def add_turns(
    builder: AgentGraph[Any, Any, Any], propose: Any, consult: Any, check: Any, over: Any
) -> None:
    """Add the nodes of turns and what joins them.

    Args:
        builder: the graph's; the caller leads to ``propose``.
        propose: lets the model speak: call tools, or answer.
        consult: answers its calls.
        check: checks its answer; accepts it, sends it back, or gives up.
        over: ends an attempt whose turns are used up.
    """
    builder.add_node("propose", propose)
    builder.add_node("consult", consult)
    builder.add_node("check", check)
    builder.add_node("out_of_turns", over)
    builder.add_conditional_edges("propose", after_propose)
    builder.add_conditional_edges("consult", go_on)
    builder.add_conditional_edges("check", go_on)
    builder.add_edge("out_of_turns", END)


def said(state: Mapping[str, Any]) -> list[AnyMessage]:
    """The conversation so far, after the opening."""
    messages: list[AnyMessage] = state.get("messages", [])
    return messages


def given_up(reason: str, message: str) -> dict[str, Any]:
    """The update that ends an attempt: a code to count by and one line for a person."""
    return {"status": "failed", "reason": reason, "message": message}


def turns(messages: Sequence[AnyMessage]) -> int:
    """How often the model has spoken."""
    return sum(isinstance(message, AIMessage) for message in messages)


def calls_made(messages: Sequence[AnyMessage]) -> list[TurnCall]:
    """Every tool call that was looked at, in the order of the answers; twins of one reply once."""
    made: list[TurnCall] = []
    for spoken in answered_turns(messages):
        calls = [TurnCall(call["name"], call["args"], _json_of(answer)) for call, answer in spoken]
        once: dict[str, TurnCall] = {}
        for call in calls:
            once.setdefault(call.signature, call)
        made += once.values()
    return made


def _json_of(message: ToolMessage) -> dict[str, Any] | None:
    try:
        value = json.loads(message_text(message.content))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def sent_back(
    state: Mapping[str, Any], wrong: Sequence[Violation], limits: TurnLimits
) -> dict[str, Any]:
    """The update that tells the model what is wrong, one line a violation, or gives up."""
    if state.get("repairs", 0) >= limits.max_reasks:
        return given_up(wrong[0].code, wrong[0].message)
    lines = "\n".join(f"- {violation.message}" for violation in wrong)
    text = f"{REJECTED}\n{lines}\nMend it and answer again." if limits.precise_repairs else AGAIN
    return {
        "messages": [HumanMessage(text)],
        "violations": [violation.code for violation in wrong],
        "repairs": 1,
    }


def out_of_turns(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG001
    """Give up: the model had all its turns."""
    most = runtime.context.max_turns
    return given_up("out_of_turns", f"no accepted answer in {most} model calls")


def after_propose(state: Mapping[str, Any]) -> Literal["consult", "check"]:
    """Tool calls are answered, anything else is an answer."""
    last = said(state)[-1]
    calls = isinstance(last, AIMessage) and (last.tool_calls or last.invalid_tool_calls)
    return "consult" if calls else "check"


def go_on(
    state: Mapping[str, Any], runtime: Runtime[Any]
) -> Literal["propose", "out_of_turns", "__end__"]:
    """Back to the model, unless the attempt has ended or the turns are used up."""
    if state.get("status"):
        return "__end__"
    return "out_of_turns" if turns(said(state)) >= runtime.context.max_turns else "propose"


def tool_turn(
    messages: Sequence[AnyMessage],
    tools: Sequence[BaseTool],
    *,
    failed: Callable[[TurnCall], bool],
    advise: Callable[[TurnCall, list[TurnCall]], str],
) -> dict[str, Any]:
    """Answer the tool calls of the last message; the update of the graph's state.

    A call identical to one that failed is answered with what was tried and what is left; when a
    third reply makes it the attempt is given up. Twins within a reply are one call, answered alike.

    Args:
        messages: the conversation; its last message is the model's.
        tools: what may be called.
        failed: whether an answered call was of no use.
        advise: what to say to a repeated failing call, given it and all earlier calls.
    """
    last, before = messages[-1], calls_made(messages[:-1])
    assert isinstance(last, AIMessage)  # noqa: S101  the router sends nothing else here
    answers: list[AnyMessage] = []
    given: dict[str, ToolMessage] = {}
    stuck = False
    node = ToolNode(list(tools), handle_tool_errors=True)
    for call in last.tool_calls:
        asked = TurnCall(call["name"], call["args"], None)
        if asked.signature in given:
            twin = {"tool_call_id": call["id"], "id": None}
            answers.append(given[asked.signature].model_copy(update=twin))
            continue
        refusal = _refusal(asked)
        same = [c for c in before if c.signature == asked.signature]
        # A call that was answered with advice has no result: it failed before as well.
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
    if note := left_out(last):
        answers.append(HumanMessage(note))
    over = given_up(REPEATED, "one failing call came three times") if stuck else {}
    return {"messages": answers, **over}


def _refusal(call: TurnCall) -> str | None:
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
