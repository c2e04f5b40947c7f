"""CapNav answerer: says whether a body can get to a place, along which path, or why not.

Source: CapNav, supplementary B (the model's input and its answer) and C (its reason, graded by a
judge).

The nodes are those of :mod:`navloom.graphs.tool_loop`. The model reads the question, the body's
profile and all places, and sees frames of a tour where there are any. It is not told which places
are joined. A reply without an answer is sent back with its faults, and then counts as unparsed.
With ground truth and a judge, the reason of a "no" is graded against the record of the path it
names. The answerer sees nothing of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs import tool_loop
from navloom.graphs.agent_graph import AgentGraph, ModelLike, Picture, PythonField, SceneLike
from navloom.graphs.invocation import as_node
from navloom.graphs.judging import reasoning_judge
from navloom.judges.traversability import build_record
from navloom.models.messages import opening_messages
from navloom.models.model_registry import resolve_model
from navloom.prompts.prompt_loader import load_prompt
from navloom.scenes.bodies import Embodiment, body_text, get_body
from navloom.scenes.distances import cached_on_scene
from navloom.scenes.formats.capnav import NodeIndex
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.scenes.traversability_table import Traversability
from navloom.tools.capnav.answer_parser import MOST_PATH, CapnavAnswer, parse_answer
from navloom.tools.model_output import object_schema, sanitize_line

JOB = "capnav_answer"
PROMPT = "capnav_answer"
_MOST_QUESTION, _MOST_LINE = 1_000, 600
_MOST_PLACES = 1_000


class Input(TypedDict):
    """Input of the answerer graph."""

    question: str
    """The question, with ``[Agent]`` for the body, as in the benchmark."""
    seed: NotRequired[int]
    """Seed of the baselines, also shown to every model; 0 where it is left out."""


class State(tool_loop.QuestionState, total=False):
    """State of the answerer graph between its nodes."""

    question: str
    """See :class:`Input`."""
    answer: dict[str, Any] | None
    """The model's ``answer``, ``path`` and ``reason``; None until a reply could be read."""
    form: str | None
    """The form that the answer was written in."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(tool_loop.AskContext):
    """Settings of the answerer graph, fixed during a run."""

    scene: SceneLike
    """The scene, or its URI."""
    body: Annotated[Embodiment | str, PythonField("WHEELCHAIR")] = "WHEELCHAIR"
    """The body that the question is about, or the name of one of the benchmark's five."""
    frames: tuple[Picture, ...] = ()
    """Frames of a tour (PNG or JPEG), in order; none means text alone."""
    thinking: bool = False
    """Ask for reasoning before the answer. It cannot be combined with a schema."""
    traversability: Annotated[Traversability | None, PythonField()] = None
    """Ground truth, for the judge alone; None disables grading."""
    judge_model: ModelLike | None = None
    """The model that grades the reason of a "no"; None disables grading."""


def prompt(state: State, runtime: Runtime[Context]) -> State:
    """Render the prompt with the question, the body and the places."""
    context = runtime.context
    body = _body(context)
    rendered = load_prompt(PROMPT).render(
        seed=state.get("seed", 0),
        question=sanitize_line(state["question"], _MOST_QUESTION),
        profile=body_text(body),
        agent=body.name,
        nodes="\n".join(
            sanitize_line(f"{place} - {name}" + (f" ({said})" if said else ""), _MOST_LINE)
            for place, name, said in list_nodes(get_scene(context.scene))
        ),
        frames=len(context.frames),
        thinking=context.thinking,
    )
    return {"messages": opening_messages(rendered), "answer": None, "form": None}


def question(state: State, context: Context) -> tool_loop.ModelQuestion:
    """Build the question about the body, with the frames of the tour."""

    def read(text: str) -> State:
        answer = parse_answer(text, question=state["question"], agent=_body(context).name)
        return _ended(state, context, text, answer, None)

    return tool_loop.ModelQuestion(
        job=JOB,
        read=read,
        give_up=lambda text, error: _ended(state, context, text, None, str(error)),
        schema=None if context.thinking else answer_schema(get_scene(context.scene)),
        role="navigator",
        pictures=lambda: context.frames,
    )


def _to_judge(state: State, runtime: Runtime[Context]) -> reasoning_judge.Input | None:
    """Return the judge's input for the reason of a "no"; None where there is nothing to grade."""
    result = state["result"]
    answer = result["answer"]
    if runtime.context.judge_model is None or answer is None or answer["answer"] != "no":
        return None
    # Without a path or a reason there is nothing to grade; the score reports that.
    if result["record"] is None or not answer["reason"]:
        return None
    reason, record = answer["reason"], result["record"]
    return {"seed": state.get("seed", 0), "explanation": reason, "record": record}


judge = as_node(
    reasoning_judge.graph,
    context=lambda _, runtime: reasoning_judge.Context(
        model=resolve_model(runtime.context.judge_model)
    ),
    input=_to_judge,
    output=lambda graded, state: {
        "result": {**state["result"], "verdict": graded["result"]},
        "usage": graded["usage"],
    },
)


build_graph = tool_loop.question_builder(
    AgentGraph(State, Context, Input, "capnav_answer"), question, prompt=prompt, finish=judge
)


def answer_schema(scene: Scene) -> dict[str, Any]:
    """Return the JSON schema of one answer, whose path consists of the scene's places."""
    ids = [place for place, _, _ in list_nodes(scene)]
    place, most = {"type": "string", "enum": ids}, min(MOST_PATH, len(ids))
    result = object_schema(
        {
            "answer": {"type": "string", "enum": ["yes", "no"]},
            "path": {"type": "array", "items": place, "maxItems": most},
            "reason": {"type": "string"},
        }
    )
    about = "Whether one body can get from one place to another."
    text = {"type": "string"}
    return object_schema({"question": text, "agent": text, "result": result}, JOB, about)


def list_nodes(scene: Scene) -> list[tuple[str, str, str]]:
    """Return id, name and description of each place: a benchmark's nodes, else the regions."""
    if scene.source != "capnav":
        return [(r.id, r.label, r.description or "") for r in scene.regions[:_MOST_PLACES]]
    nodes = _nodes(scene)
    return [(node, nodes.name(node), nodes.description(node)) for node in nodes.ids]


def resolve_path(scene: Scene, path: Sequence[str]) -> list[str | None]:
    """Match a model's path to place ids, by id or name, or nearly; None for each unknown place."""
    if scene.source == "capnav":
        nodes = _nodes(scene)
        return [nodes.resolve(text).node for text in path]
    known = {place.casefold(): place for place, _, _ in list_nodes(scene)}
    return [known.get(text.strip().casefold()) for text in path]


def _ended(
    state: State, context: Context, raw: str, answer: CapnavAnswer | None, fault: str | None
) -> State:
    """Return the update that ends the run: ``failed`` as ``unparsed`` where no reply could be read.

    Keys of the result: ``answer``, ``form``, ``raw`` (the last reply), ``nodes`` (the path's, None
    where one is unknown), ``record`` (the path's traversability), ``verdict`` (on its reason),
    ``asks``, ``faults``, ``frames`` and ``prompt``.
    """
    faults = [] if fault is None else [fault]
    path = [] if answer is None else resolve_path(get_scene(context.scene), answer.path)
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
        "asks": tool_loop.count_turns(state["messages"]),
        "faults": [*state.get("faults", []), *faults],
        "frames": len(context.frames),
        "prompt": load_prompt(PROMPT).record,
    }
    return {
        "status": "failed" if answer is None else "ok",
        "answer": said,
        "form": form,
        "reason": "unparsed" if answer is None else None,
        "message": fault,
        "faults": faults,
        "result": result,
    }


def _body(context: Context) -> Embodiment:
    return get_body(context.body) if isinstance(context.body, str) else context.body


_nodes = cached_on_scene(NodeIndex)


graph = build_graph()
