"""Graph contextual typing: a model names the type of every region still ``Unknown``.

Source: CoNavBench 3.1.1 (graph contextual typing) and A.12 (inputs, the twenty types, the answer).

    START ──> choose ──> ask ──> read ──> choose ──> ... ──> finish ──> END
                          ^        │
                          └────────┘  the exact fault, at most ``max_reasks`` times a region

One pass: every Unknown region is typed once, the one with the most evidence first. Evidence is its
number of objects plus its adjacent regions that have a type; it is counted anew before each choice,
so a later region sees the types of earlier ones. Ties go to the first region of the scene.

What the model reads: (i) how many adjacent regions have which type, adjacent meaning joined by a
link of H or an edge of G; (ii) the five most frequent objects with their counts, structure (walls,
doors) left out. Of equally frequent objects the one that is rarer in the whole home comes first,
since it says more. A region the model cannot name in so many asks stays Unknown and is counted.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer

from navloom.graphs.invoke import model_of, scene_of
from navloom.models.answer import AnswerError, message_text, read_json_object
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.prompts.load import load_prompt
from navloom.scenes.annotate import retype
from navloom.scenes.distances import per_scene
from navloom.scenes.lexicon import ROOM_TYPES, room_types
from navloom.scenes.scene import UNKNOWN, Scene, prompt_name

__all__ = [
    "ANSWER_KEY",
    "SCHEMA",
    "Context",
    "State",
    "build_graph",
    "graph",
    "read_type",
    "retype",
]

ANSWER_KEY = "Unknown room type"
SCHEMA: dict[str, Any] = {
    "title": "room_type",
    "description": "The type of one room.",
    "type": "object",
    "properties": {ANSWER_KEY: {"type": "string", "enum": list(ROOM_TYPES)}},
    "required": [ANSWER_KEY],
    "additionalProperties": False,
}
"""The answer's JSON schema; the title tells builtin models their job."""
_TOP = 5
_MODEL_SECONDS = 1800.0
_MOST_STEPS = 100_000


class Input(TypedDict):
    """What a caller gives."""

    seed: int
    """Drawn upon by baselines, and shown to every model; 0 where it is left out."""


class State(TypedDict, total=False):
    """What the graph knows between nodes: ids and texts only."""

    seed: int
    """See :class:`Input`."""
    region: str | None
    """The region being typed; None when none is left."""
    conversation: list[AnyMessage]
    """What was said about this region; starts anew with each region."""
    types: Annotated[dict[str, str | None], operator.or_]
    """Region id -> room type, None where the model found none; grows by one a region."""
    faults: Annotated[list[str], operator.add]
    """Every answer that could not be read, as ``REGION: what was wrong``."""
    messages: Annotated[list[AIMessage], operator.add]
    """Every answer of the model, with its usage."""
    status: Literal["ok", "failed"]
    """Always ``ok``: a region that stays Unknown is a finding."""
    result: dict[str, Any]
    """``types``, ``unknown`` (how many stayed so), ``reasks``, ``faults`` and ``prompt``."""
    reason: str | None
    """Always None; here because every graph has it."""


@dataclass(frozen=True)
class Context:
    """What does not change during a run."""

    scene: Scene | str
    """The scene, or its URI."""
    model: BaseChatModel | str
    """The model, or its ``provider/name``."""
    max_reasks: int = 2
    """How often a region whose answer cannot be read is asked about again."""
    constrain: bool = True
    """Whether to hold the model to the answer's schema where its backend can."""


async def choose(state: State, runtime: Runtime[Context]) -> State:
    """Take the untyped region with the most evidence and write down the question."""
    scene, types = scene_of(runtime.context.scene), state.get("types", {})
    left = [r.id for r in scene.regions if r.label == UNKNOWN and r.id not in types]
    if not left:
        return {"region": None, "conversation": []}
    region = max(left, key=lambda r: _evidence(scene, types, r))
    system, human = load_prompt("room_typing").render(
        seed=state.get("seed", 0),
        region=region,
        neighbours=_neighbours_text(scene, types, region),
        objects=_objects_text(scene, region),
    )
    return {"region": region, "conversation": [SystemMessage(system), HumanMessage(human)]}


async def ask(state: State, runtime: Runtime[Context]) -> State:
    """Ask the model."""
    context = runtime.context
    bound = bind(model_of(context.model), tools=[], schema=SCHEMA, constrain=context.constrain)
    answer = await acall(bound, state["conversation"])
    return {"conversation": [*state["conversation"], answer], "messages": [answer]}


async def read(state: State, runtime: Runtime[Context]) -> State:
    """Read the answer; say what is wrong with it while there are asks left, else give up on it."""
    conversation, region = state["conversation"], state["region"] or ""
    try:
        kind = read_type(message_text(conversation[-1].content))
    except AnswerError as error:
        asks = sum(isinstance(message, AIMessage) for message in conversation)
        fault: State = {"faults": [f"{region}: {error}"]}
        if asks > runtime.context.max_reasks:
            return {**fault, "types": {region: None}}
        return {**fault, "conversation": [*conversation, HumanMessage(str(error))]}
    return {"types": {region: kind}}


async def finish(state: State) -> State:
    """Put the result together."""
    types, faults = state.get("types", {}), state.get("faults", [])
    result = {
        "types": types,
        "unknown": sum(kind is None for kind in types.values()),
        "reasks": len(state.get("messages", [])) - len(types),
        "faults": faults,
        "prompt": load_prompt("room_typing").record,
    }
    return {"status": "ok", "result": result, "reason": None}


def after_choose(state: State) -> Literal["ask", "finish"]:
    """Ask about the chosen region, or end where none is left."""
    return "finish" if state["region"] is None else "ask"


def after_read(state: State) -> Literal["ask", "choose"]:
    """Ask again about the same region, or take the next."""
    return "choose" if state["region"] in state.get("types", {}) else "ask"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where its steps are kept; nowhere by default.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("choose", choose)
    builder.add_node("ask", ask, timeout=_MODEL_SECONDS)
    builder.add_node("read", read)
    builder.add_node("finish", finish)
    builder.add_edge(START, "choose")
    builder.add_conditional_edges("choose", after_choose)
    builder.add_edge("ask", "read")
    builder.add_conditional_edges("read", after_read)
    builder.add_edge("finish", END)
    compiled = builder.compile(checkpointer=checkpointer, name="room_typing")
    # A home may hold more Unknown regions than LangGraph's default limit has steps; the number of
    # asks is bounded here by the number of regions and max_reasks.
    return compiled.with_config(recursion_limit=_MOST_STEPS)


def read_type(text: str) -> str:
    """The room type in a model's answer: case, spacing, fences and common synonyms are forgiven.

    Args:
        text: what the model said.

    Returns:
        One of ``ROOM_TYPES``.

    Raises:
        AnswerError: where there is no answer, or it fits none or several of the types; the message
            is written for the model.
    """
    answer = read_json_object(text)
    values = [value for key, value in answer.items() if _plain(key) == _plain(ANSWER_KEY)]
    if len(values) != 1 or not isinstance(values[0], str):
        raise AnswerError(
            f'The JSON object must have the one key "{ANSWER_KEY}" with the name of a room type.'
        )
    named = [kind for kind in ROOM_TYPES if _plain(kind) == _plain(values[0])]
    fitting = named or sorted(room_types(values[0][:200]))
    if len(fitting) != 1:
        what = "fits several room types" if fitting else "is not one of the room types"
        raise AnswerError(f"'{_plain(values[0])[:60]}' {what}. Choose one of: {_choices(fitting)}.")
    return fitting[0]


def _choices(fitting: list[str]) -> str:
    return ", ".join(fitting or ROOM_TYPES)


def _plain(words: object) -> str:
    return re.sub(r"[^0-9a-z]+", " ", str(words)[:200].casefold()).strip()


def _adjacent(scene: Scene) -> dict[str, set[str]]:
    def make() -> dict[str, set[str]]:
        region = {v.id: v.region for v in scene.viewpoints}
        pairs = [(link.a, link.b) for link in scene.links]
        pairs += [
            (a, b)
            for a, b in ((region[e.a], region[e.b]) for e in scene.edges)
            if a is not None and b is not None and a != b
        ]
        near: dict[str, set[str]] = {r.id: set() for r in scene.regions}
        for a, b in pairs:
            near[a].add(b)
            near[b].add(a)
        return near

    return per_scene(scene, "adjacent_regions", make)


def _label(scene: Scene, types: dict[str, str | None], region: str) -> str:
    return types.get(region) or scene.region_by_id[region].label


def _objects(scene: Scene, region: str) -> list[str]:
    return [item.prompt_name for item in scene.items_in(region) if item.kind != "structure"]


def _evidence(scene: Scene, types: dict[str, str | None], region: str) -> int:
    typed = [r for r in _adjacent(scene)[region] if _label(scene, types, r) != UNKNOWN]
    return len(_objects(scene, region)) + len(typed)


def _neighbours_text(scene: Scene, types: dict[str, str | None], region: str) -> str:
    near = _adjacent(scene)[region]
    counts = Counter(_words(_label(scene, types, r)) for r in near)
    return f"{len(near)} in all{_histogram(sorted(counts.items(), key=lambda c: (-c[1], c[0])))}"


def _objects_text(scene: Scene, region: str) -> str:
    counts = Counter(_objects(scene, region))
    home = per_scene(
        scene, "name_counts", lambda: Counter(item.prompt_name for item in scene.items)
    )
    top = sorted(counts.items(), key=lambda c: (-c[1], home[c[0]], c[0]))[:_TOP]
    kinds = f"{counts.total()} in all, {len(counts)} kinds"
    return kinds + _histogram([(_words(name), count) for name, count in top])


def _histogram(counts: list[tuple[str, int]]) -> str:
    return ": " + ", ".join(f"{count} x {name}" for name, count in counts) if counts else ""


def _words(label: str) -> str:
    return prompt_name(label).replace("_", " ")


graph = build_graph()
