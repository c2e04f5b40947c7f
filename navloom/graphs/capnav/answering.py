"""One question about one body: can it get there, by which way, and if not, why not?

Source: CapNav, supplementary B (what a model is given and what it answers) and C (its reason,
graded by a judge).

    START ──> prompt ──> ask ──> read ──> judge ──> END
                          ^       │
                          └───────┘  the exact fault, at most ``max_reasks`` times

The model reads the question, the body's profile and all places, and sees frames of a tour where
there are any; which places are joined it is not told. A reply that holds no answer is sent back
with what is wrong with it, and then counts as unparsed. Where the truth and a judge are at hand,
the reason of a "no" is graded against what holds along the path it names; the answerer sees nothing
of that.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer

from navloom.graphs.judging import reasoning
from navloom.judges.traversability import build_record
from navloom.models.answer import AnswerError, message_text
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.images import image_block
from navloom.prompts.load import load_prompt
from navloom.scenes.bodies import body_text, get_body
from navloom.scenes.distances import per_scene
from navloom.scenes.embodiment import Embodiment
from navloom.scenes.formats.capnav import Nodes
from navloom.scenes.scene import Scene
from navloom.scenes.traverse import Traversability
from navloom.tools.capnav.answers import MOST_PATH, Answer, parse_answer
from navloom.tools.resolve import model_of, scene_of
from navloom.tools.untrusted import paragraph

__all__ = [
    "JOB",
    "PROMPT",
    "Context",
    "Input",
    "State",
    "answer_schema",
    "build_graph",
    "graph",
    "nodes_of",
    "resolve_path",
]

JOB = "capnav_answer"
"""What builtin models know the job by: the schema's title and the prompt's ``Job:`` line."""
PROMPT = "capnav_answer"
_MODEL_SECONDS = 1800.0
_MOST_QUESTION, _MOST_LINE = 1_000, 600
_MOST_PLACES = 1_000


class Input(TypedDict):
    """What a caller gives."""

    question: str
    """With ``[Agent]`` for the body, as the benchmark has it."""
    seed: int
    """Drawn upon by baselines, and shown to every model; 0 where it is left out."""


class State(TypedDict, total=False):
    """What the graph knows between nodes: ids and texts, no picture."""

    question: str
    """See :class:`Input`."""
    seed: int
    """See :class:`Input`."""
    conversation: list[AnyMessage]
    """Without the frames, which go along with each call."""
    answer: dict[str, Any] | None
    """``answer``, ``path`` and ``reason`` as the model gave them; None until one could be read."""
    form: str | None
    """How the answer was written."""
    faults: Annotated[list[str], operator.add]
    """What was wrong with each reply that could not be read."""
    messages: Annotated[list[AIMessage], operator.add]
    """Every reply, the judge's too, with its usage."""
    status: Literal["ok", "failed"]
    """``failed``: no reply could be read."""
    reason: str | None
    """``unparsed``, or None."""
    message: str | None
    """What was wrong with the last reply, or None."""
    result: dict[str, Any]
    """``answer``, ``form``, ``raw`` (the last reply), ``nodes`` (the path's, None where one is
    unknown), ``record`` (what holds along it), ``verdict`` (of its reason), ``asks``, ``faults``,
    ``frames`` and ``prompt``."""


@dataclass(frozen=True)
class Context:
    """What does not change during a run."""

    scene: Scene | str
    """The scene, or its URI."""
    model: BaseChatModel | str
    """The model, or its ``provider/name``."""
    body: Embodiment | str = "WHEELCHAIR"
    """Whose question it is, or the name of one of the benchmark's five."""
    frames: tuple[bytes, ...] = ()
    """Pictures of a tour (PNG or JPEG), in order; none: text alone."""
    thinking: bool = False
    """Ask for a thought before the answer. It cannot be had together with a schema."""
    constrain: bool = True
    """Whether to hold the model to the answer's schema where its backend can."""
    max_reasks: int = 1
    """How often a reply that cannot be read is sent back."""
    traversability: Traversability | None = None
    """The truth, for the judge alone; None grades nothing."""
    judge_model: BaseChatModel | str | None = None
    """Grades the reason of a "no"; None grades nothing."""


async def prompt(state: State, runtime: Runtime[Context]) -> State:
    """Write down the question."""
    context = runtime.context
    body = _body(context)
    system, human = load_prompt(PROMPT).render(
        seed=state.get("seed", 0),
        question=paragraph(state["question"], _MOST_QUESTION),
        profile=body_text(body),
        agent=body.name,
        nodes="\n".join(paragraph(line, _MOST_LINE) for line in _lines(scene_of(context.scene))),
        frames=len(context.frames),
        thinking=context.thinking,
    )
    return {
        "conversation": [SystemMessage(system), HumanMessage(human)],
        "answer": None,
        "form": None,
    }


async def ask(state: State, runtime: Runtime[Context]) -> State:
    """Ask the model; the frames go along and are kept nowhere."""
    context = runtime.context
    schema = None if context.thinking else answer_schema(scene_of(context.scene))
    bound = bind(
        model_of(context.model),
        schema=schema,
        constrain=context.constrain,
        images=bool(context.frames),
    )
    reply = await acall(bound, with_frames(state["conversation"], context.frames), role="navigator")
    return {"conversation": [*state["conversation"], reply], "messages": [reply]}


async def read(state: State, runtime: Runtime[Context]) -> State:
    """Read the reply; say what is wrong with it while there are asks left."""
    context, conversation = runtime.context, state["conversation"]
    raw = message_text(conversation[-1].content)
    try:
        answer = parse_answer(raw, question=state["question"], agent=_body(context).name)
    except AnswerError as error:
        fault: State = {"faults": [str(error)]}
        if _asks(conversation) <= context.max_reasks:
            return {**fault, "conversation": [*conversation, HumanMessage(str(error))]}
        failed = _ended(state, context, raw, None, [*state.get("faults", []), str(error)])
        return {**fault, **failed, "reason": "unparsed", "message": str(error)}
    return _ended(state, context, raw, answer, state.get("faults", []))


async def judge(state: State, runtime: Runtime[Context]) -> State:
    """Have the reason of a "no" graded against what holds along its path."""
    context, result = runtime.context, state["result"]
    assert context.judge_model is not None  # noqa: S101  the router has looked
    given: reasoning.Input = {
        "seed": state.get("seed", 0),
        "explanation": result["answer"]["reason"],
        "record": result["record"],
    }
    # The graph itself and not `judge_reason`: here its steps are kept with ours, so that a judge
    # that was paid is not asked again.
    graded = await reasoning.graph.ainvoke(
        given, context=reasoning.Context(model_of(context.judge_model))
    )
    return {
        "result": {**result, "verdict": graded["result"]},
        "messages": graded.get("messages", []),
    }


def after_read(state: State, runtime: Runtime[Context]) -> Literal["ask", "judge", "__end__"]:
    """Ask again, have the reason graded where there is something to grade, or end."""
    if "status" not in state:
        return "ask"
    result, context = state["result"], runtime.context
    answer = result["answer"]
    if context.judge_model is None or answer is None or answer["answer"] != "no":
        return "__end__"
    # Without a route, or without a word, there is nothing to grade: the score says so.
    return "judge" if result["record"] is not None and answer["reason"] else "__end__"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where its steps are kept; nowhere by default.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("prompt", prompt)
    builder.add_node("ask", ask, timeout=_MODEL_SECONDS)
    builder.add_node("read", read)
    builder.add_node("judge", judge, timeout=_MODEL_SECONDS)
    builder.add_edge(START, "prompt")
    builder.add_edge("prompt", "ask")
    builder.add_edge("ask", "read")
    builder.add_conditional_edges("read", after_read)
    builder.add_edge("judge", END)
    return builder.compile(checkpointer=checkpointer, name="capnav_answer")


def answer_schema(scene: Scene) -> dict[str, Any]:
    """The JSON schema of one answer, its path made of the scene's places."""
    ids = [place for place, _, _ in nodes_of(scene)]
    result = {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "enum": ["yes", "no"]},
            "path": {
                "type": "array",
                "items": {"type": "string", "enum": ids},
                "maxItems": min(MOST_PATH, len(ids)),
            },
            "reason": {"type": "string"},
        },
        "required": ["answer", "path", "reason"],
        "additionalProperties": False,
    }
    return {
        "title": JOB,
        "description": "Whether one body can get from one place to another.",
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "agent": {"type": "string"},
            "result": result,
        },
        "required": ["question", "agent", "result"],
        "additionalProperties": False,
    }


def nodes_of(scene: Scene) -> list[tuple[str, str, str]]:
    """A scene's places: id, name, description. A benchmark's nodes, else the regions."""
    if scene.source != "capnav":
        return [(r.id, r.label, r.description or "") for r in scene.regions[:_MOST_PLACES]]
    nodes = _nodes(scene)
    return [(node, nodes.name(node), nodes.description(node)) for node in nodes.ids]


def resolve_path(scene: Scene, path: Sequence[str]) -> list[str | None]:
    """The places of a path as a model wrote it: by id, by name, or nearly; None for an unknown."""
    if scene.source == "capnav":
        nodes = _nodes(scene)
        return [nodes.resolve(text).node for text in path]
    known = {place.casefold(): place for place, _, _ in nodes_of(scene)}
    return [known.get(text.strip().casefold()) for text in path]


def with_frames(messages: Sequence[BaseMessage], frames: Sequence[bytes]) -> list[BaseMessage]:
    """A conversation with pictures at the end of its first human message.

    Raises:
        ModelError: a frame is no picture, or too large for a provider.
    """
    if not frames:
        return list(messages)
    at = next(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    text = {"type": "text", "text": message_text(messages[at].content)}
    shown = HumanMessage([text, *(image_block(frame) for frame in frames)])
    return [*messages[:at], shown, *messages[at + 1 :]]


def _ended(
    state: State, context: Context, raw: str, answer: Answer | None, faults: Sequence[str]
) -> State:
    path = [] if answer is None else resolve_path(scene_of(context.scene), answer.path)
    known = [node for node in path if node is not None]
    truth, record = context.traversability, None
    if truth is not None and answer is not None and len(known) > 1:
        record = build_record(truth, _body(context).name, known)
    said = None if answer is None else answer.record()
    form = None if answer is None else answer.form
    result = {
        "answer": said,
        "form": form,
        "raw": raw,
        "nodes": path,
        "record": record,
        "verdict": None,
        "asks": _asks(state["conversation"]),
        "faults": list(faults),
        "frames": len(context.frames),
        "prompt": load_prompt(PROMPT).record,
    }
    return {
        "status": "failed" if answer is None else "ok",
        "answer": said,
        "form": form,
        "reason": None,
        "message": None,
        "result": result,
    }


def _asks(conversation: Sequence[BaseMessage]) -> int:
    return sum(isinstance(message, AIMessage) for message in conversation)


def _body(context: Context) -> Embodiment:
    return get_body(context.body) if isinstance(context.body, str) else context.body


def _nodes(scene: Scene) -> Nodes:
    return per_scene(scene, "capnav_nodes", lambda: Nodes(scene))


def _lines(scene: Scene) -> list[str]:
    return [
        f"{place} - {name}" + (f" ({said})" if said else "")
        for place, name, said in nodes_of(scene)
    ]


graph = build_graph()
