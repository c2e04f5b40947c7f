"""One question about one body: can it get there, by which way, and if not, why not?

Source: CapNav, supplementary B (what a model is given and what it answers) and C (its reason,
graded by a judge).

The nodes are those of :mod:`navloom.graphs.turns`. The model reads the question, the body's profile
and all places, and sees frames of a tour where there are any; which places are joined it is not
told. A reply that holds no answer is sent back with what is wrong with it, and then counts as
unparsed. Where the truth and a judge are at hand,
the reason of a "no" is graded against what holds along the path it names; the answerer sees nothing
of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.graphs.agent import AgentGraph, FromPython, ModelLike, Picture, SceneLike
from navloom.graphs.calling import as_node
from navloom.graphs.judging import reasoning
from navloom.graphs.turns import AskContext, Asking, Question, asking, asks
from navloom.judges.traversability import build_record
from navloom.models.messages import opening
from navloom.models.registry import model_of
from navloom.prompts.load import load_prompt
from navloom.scenes.bodies import Embodiment, body_text, get_body
from navloom.scenes.distances import kept_per_scene
from navloom.scenes.formats.capnav import Nodes
from navloom.scenes.scene import Scene
from navloom.scenes.traverse_table import Traversability
from navloom.scenes.uri import scene_of
from navloom.tools.capnav.answers import MOST_PATH, Answer, parse_answer
from navloom.tools.forms import closed_object, paragraph

JOB = "capnav_answer"
PROMPT = "capnav_answer"
_MOST_QUESTION, _MOST_LINE = 1_000, 600
_MOST_PLACES = 1_000


class Input(TypedDict):
    """What a caller gives."""

    question: str
    """With ``[Agent]`` for the body, as the benchmark has it."""
    seed: NotRequired[int]
    """Drawn upon by baselines, and shown to every model; 0 where it is left out."""


class State(Asking, total=False):
    """What the graph knows between nodes."""

    question: str
    """See :class:`Input`."""
    answer: dict[str, Any] | None
    """``answer``, ``path`` and ``reason`` as the model gave them; None until one could be read."""
    form: str | None
    """How the answer was written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(AskContext):
    """What does not change during a run."""

    scene: SceneLike
    """The scene, or its URI."""
    body: Annotated[Embodiment | str, FromPython("WHEELCHAIR")] = "WHEELCHAIR"
    """Whose question it is, or the name of one of the benchmark's five."""
    frames: tuple[Picture, ...] = ()
    """Pictures of a tour (PNG or JPEG), in order; none: text alone."""
    thinking: bool = False
    """Ask for a thought before the answer. It cannot be had together with a schema."""
    traversability: Annotated[Traversability | None, FromPython()] = None
    """The truth, for the judge alone; None grades nothing."""
    judge_model: ModelLike | None = None
    """Grades the reason of a "no"; None grades nothing."""


def prompt(state: State, runtime: Runtime[Context]) -> State:
    """Write down the question."""
    context = runtime.context
    body = _body(context)
    rendered = load_prompt(PROMPT).render(
        seed=state.get("seed", 0),
        question=paragraph(state["question"], _MOST_QUESTION),
        profile=body_text(body),
        agent=body.name,
        nodes="\n".join(
            paragraph(f"{place} - {name}" + (f" ({said})" if said else ""), _MOST_LINE)
            for place, name, said in nodes_of(scene_of(context.scene))
        ),
        frames=len(context.frames),
        thinking=context.thinking,
    )
    return {"messages": opening(rendered), "answer": None, "form": None}


def question(state: State, context: Context) -> Question:
    """What is asked about the body, with the frames of the tour."""

    def read(text: str) -> State:
        answer = parse_answer(text, question=state["question"], agent=_body(context).name)
        return _ended(state, context, text, answer, None)

    return Question(
        job=JOB,
        read=read,
        give_up=lambda text, error: _ended(state, context, text, None, str(error)),
        schema=None if context.thinking else answer_schema(scene_of(context.scene)),
        role="navigator",
        pictures=lambda: context.frames,
    )


def _to_judge(state: State, runtime: Runtime[Context]) -> reasoning.Input | None:
    """The reason of a "no", and what holds along its path; None where nothing is to be graded."""
    result = state["result"]
    answer = result["answer"]
    if runtime.context.judge_model is None or answer is None or answer["answer"] != "no":
        return None
    # Without a route, or without a word, there is nothing to grade: the score says so.
    if result["record"] is None or not answer["reason"]:
        return None
    reason, record = answer["reason"], result["record"]
    return {"seed": state.get("seed", 0), "explanation": reason, "record": record}


judge = as_node(
    reasoning.graph,
    context=lambda _, runtime: reasoning.Context(model=model_of(runtime.context.judge_model)),
    input=_to_judge,
    output=lambda graded, state: {
        "result": {**state["result"], "verdict": graded["result"]},
        "paid": graded["paid"],
    },
)


build_graph = asking(
    AgentGraph(State, Context, Input, "capnav_answer"), question, prompt=prompt, finish=judge
)


def answer_schema(scene: Scene) -> dict[str, Any]:
    """The JSON schema of one answer, its path made of the scene's places."""
    ids = [place for place, _, _ in nodes_of(scene)]
    place, most = {"type": "string", "enum": ids}, min(MOST_PATH, len(ids))
    result = closed_object(
        {
            "answer": {"type": "string", "enum": ["yes", "no"]},
            "path": {"type": "array", "items": place, "maxItems": most},
            "reason": {"type": "string"},
        }
    )
    about = "Whether one body can get from one place to another."
    text = {"type": "string"}
    return closed_object({"question": text, "agent": text, "result": result}, JOB, about)


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


def _ended(
    state: State, context: Context, raw: str, answer: Answer | None, fault: str | None
) -> State:
    """The update that ends it: ``failed`` as ``unparsed`` where no reply could be read.

    Keys of the result: ``answer``, ``form``, ``raw`` (the last reply), ``nodes`` (the path's, None
    where one is unknown), ``record`` (what holds along it), ``verdict`` (of its reason), ``asks``,
    ``faults``, ``frames`` and ``prompt``.
    """
    faults = [] if fault is None else [fault]
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
        "asks": asks(state["messages"]),
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


_nodes = kept_per_scene(Nodes)


graph = build_graph()
