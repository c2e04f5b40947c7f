"""The navigator: one graph for every agent, set by its context (VLN-MME 3 and D).

    START -> begin -> observe -> think -> act -> move -----> observe ... (one hop)
                      |   |       ^ ^      |
                      |   v       | |      +-- a bad reply: the exact fault, max_reprompts times
                      | consult --+ +------+-- reflect: "revise", max_revisions times
                      |                    +-- ask (dialogue) -> observe
                      +-> finish -> END    <-- stop, out of steps, dead end, no action to be had

``observe`` looks and lists the options; ``consult`` lets an oracle speak where the agent struggles
(4.4); ``think`` asks the model; ``act`` reads one action out of its reply (D.8); ``move`` carries
it out. A reply that names no action is never taken for one: when the re-prompts are used up, the
episode ends as ``unparsed``, where the agent stands.

``goals`` and ``path`` are ground truth. The navigator never reads them; the oracle does, what calls
it, and ``show_path`` (the upper bound).
"""

from __future__ import annotations

import operator
from contextlib import suppress
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Overwrite

from navloom.errors import SimulatorError
from navloom.graphs.ask import MODEL_SECONDS, opening
from navloom.graphs.navigation.body import (
    hop,
    look,
    pictures,
    place,
    pose_record,
    simulator_of,
    stay,
)
from navloom.graphs.navigation.consult import ask_for, trigger_of
from navloom.graphs.navigation.memory import get_memory
from navloom.graphs.navigation.replies import move_tools, read_reply, told_back
from navloom.graphs.navigation.settings import Settings
from navloom.graphs.navigation.start import read_input
from navloom.graphs.navigation.steps import (
    NOTHING,
    draft_of,
    options_in,
    result_of,
    with_reply,
)
from navloom.graphs.navigation.text import facing, render, shortest_words
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.images import with_pictures
from navloom.models.registry import model_of
from navloom.scenes.bodies import DEFAULT_BODY, Embodiment
from navloom.scenes.scene import Scene
from navloom.sim.media import MediaStore
from navloom.sim.protocol import Contact, Observation, Simulator
from navloom.tools.navigation.options import noted, options_of
from navloom.tools.navigation.parse_action import ActionError, ParsedAction
from navloom.tools.untrusted import paragraph

__all__ = ["Context", "Input", "State", "build_graph", "graph"]

MOST_PLAN = 1_000
_MOST_STEPS = 1_000_000
_RESPOND = "Answer again in the format described."
_REVISE = (
    "On reflection you would choose anew. Nothing was carried out. Choose again; this is the choice"
    " that counts unless you revise it while revisions are left."
)
Ending = Literal["stop", "max_steps", "unparsed", "dead_end"]
_LINES: dict[str, str] = {
    "max_steps": "the steps were used up before the agent stopped",
    "unparsed": "no reply held an action, and the re-prompts were used up",
    "dead_end": "nowhere to go from here, and the agent has not stopped",
}


class Input(TypedDict, total=False):
    """What a caller gives; ``instruction`` and ``start`` are needed."""

    seed: int
    """Drawn upon by baselines, and shown to every model; 0 where it is left out."""
    instruction: str
    """What the navigator is told; read as one line."""
    start: str
    """The viewpoint it starts on."""
    heading: float
    """Where it looks at the start, radians clockwise from -z."""
    goals: list[str]
    """Ground truth: viewpoints that count as the goal. Never shown to the navigator."""
    path: list[str]
    """Ground truth: the reference path. Never shown to the navigator."""


class State(Input, total=False):
    """What a run remembers: ids and text, never a frame or a scene."""

    pose: dict[str, Any]
    """Where it is: viewpoint, heading and elevation (radians)."""
    trajectory: Annotated[list[list[Any]], add]
    """Every pose it stood in, the start first: [viewpoint, heading, elevation]."""
    history: Annotated[list[str], add]
    """One line a move."""
    seen: Annotated[dict[str, dict[str, Any]], operator.or_]
    """The topological map of ``memory="map"`` (:mod:`navloom.graphs.navigation.memory`)."""
    messages: Annotated[list[AIMessage], add]
    """Every reply of every model, with its usage."""
    steps: Annotated[list[dict[str, Any]], add]
    """One record a step (:mod:`navloom.graphs.navigation.steps`)."""
    contacts: Annotated[list[dict[str, Any]], add]
    """What the body touched, with the step."""
    dialogue: Annotated[list[dict[str, Any]], add]
    """Questions asked and their answers."""
    guidance: Annotated[list[dict[str, Any]], add]
    """What the oracle said of itself, and why."""
    plan: str | None
    """The navigator's own plan, as it last wrote it."""
    draft: dict[str, Any]
    """The record of the step under way."""
    conversation: list[AnyMessage]
    """This step's exchange with the model; starts anew each step."""
    trigger: str | None
    """Why the oracle is to be asked at this step."""
    ending: Ending | None
    """How the walk ended."""
    status: Literal["ok", "failed"]
    """``ok`` where the agent stopped by itself; whether at the goal is for scores to say."""
    reason: str | None
    """Where it failed: how the walk ended."""
    message: str | None
    """Where it failed: one line for a person."""
    result: dict[str, Any]
    """``trajectory``, ``stopped``, ``end``, ``steps``, ``counts``, ``contacts`` and ``prompt``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(Settings):
    """What does not change during a run. Two contexts are equal only if they are one."""

    simulator: Simulator | None = None
    """Where it walks; each run under way needs its own. None makes one from ``scene``."""
    scene: Scene | str | None = None
    """The scene or its URI, for a simulator on its navigation graph, without pictures."""
    model: BaseChatModel | str = "builtin/heuristic"
    """Who navigates, or its ``provider/name``."""
    oracle_model: BaseChatModel | str | None = None
    """Who answers as the oracle; the navigator's own model where it is None."""
    media: MediaStore | None = None
    """Where pictures are kept; None keeps none."""
    embodiment: Embodiment = DEFAULT_BODY
    """Whose body it is."""


async def begin(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Check what was given, forget an earlier walk of this thread, and stand at the start."""
    context = runtime.context
    given = read_input(state, context)
    asked = {"viewpoint": given["start"], "heading": given["heading"], "elevation": 0.0}
    pose = pose_record(place(context, asked, given["seed"]).pose)
    grown = ("history", "messages", "steps", "contacts", "dialogue", "guidance")
    fresh = ("plan", "trigger", "ending", "reason", "message")
    return {
        **given,
        "pose": pose,
        "trajectory": Overwrite([list(pose.values())]),
        "seen": Overwrite({}),
        **{name: Overwrite([]) for name in grown},
        **dict.fromkeys(fresh),
    }


def _look(state: State, context: Context) -> Observation:
    return look(context, state["pose"], state["seed"], len(state["trajectory"]) - 1)


async def observe(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Look, remember, list the options; end where there are none."""
    context, seen = runtime.context, state.get("seen", {})
    observation, memory = _look(state, context), get_memory(context.memory)
    added = memory.look(seen, observation)
    options = options_of(observation, facing(context, observation))
    if not options:
        return {"seen": added, "ending": "dead_end"}
    noticed = noted(options, memory.notes({**seen, **added}))
    draft = draft_of(
        len(state["steps"]) + 1, state["pose"], noticed, _keep_pictures(state, context)
    )
    return {
        "seen": added,
        "draft": draft,
        "conversation": [],
        "trigger": trigger_of(state, context),
    }


def _keep_pictures(state: State, context: Context) -> list[str]:
    if context.media is None:
        return []
    return [context.media.put(picture) for picture in _pictures(state, context)]


def _pictures(state: State, context: Context) -> tuple[bytes, ...]:
    return pictures(context, state["pose"], state["seed"], len(state["trajectory"]) - 1)


async def consult(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Let the oracle speak of itself."""
    said, messages = await ask_for(state, runtime.context, None, state["trigger"])
    kept = {key: said[key] for key in ("trigger", "question", "answer", "leaked")}
    draft = {**state["draft"], "oracle": kept}
    return {"guidance": [said], "draft": draft, "messages": messages}


async def think(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Ask the model."""
    context, draft = runtime.context, state["draft"]
    shown = _shown(state, context)
    conversation = state["conversation"] or _opening(state, context, len(shown))
    ask = _can_ask(state, context)
    tools = move_tools(len(draft["options"]), ask) if context.act == "tool" else ()
    bound = bind(model_of(context.model), tools=tools, images=bool(shown))
    reply = await acall(bound, with_pictures(conversation, shown), role="navigator")
    return {"conversation": [*conversation, reply], "messages": [reply]}


def _opening(state: State, context: Context, shown: int) -> list[AnyMessage]:
    observation, options = _look(state, context), options_in(state["draft"])
    shortest = None
    if context.show_path:
        here, body = state["pose"]["viewpoint"], context.embodiment
        way = simulator_of(context).geodesic(here, state["goals"], body)
        shortest = shortest_words(way, options)
    rendered = render(
        state,
        context,
        observation,
        options,
        can_ask=_can_ask(state, context),
        shortest=shortest,
        showing=shown,
    )
    return opening(rendered)


def _can_ask(state: State, context: Context) -> bool:
    return context.dialogue and len(state.get("dialogue", [])) < context.max_questions


def _shown(state: State, context: Context) -> tuple[bytes, ...]:
    """The pictures of this step: as they were kept, or taken again."""
    if context.media is not None:
        with suppress(SimulatorError):
            return tuple(context.media.get(name) for name in state["draft"]["media"])
    return _pictures(state, context)


async def act(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Read one action out of the reply; say what is wrong with it while there are re-prompts."""
    context, draft, conversation = runtime.context, state["draft"], state["conversation"]
    reply = conversation[-1]
    assert isinstance(reply, AIMessage)  # noqa: S101  only think leads here
    ask = _can_ask(state, context)
    found: ParsedAction | ActionError
    try:
        found = read_reply(reply, context, options_in(draft), ask=ask)
    except ActionError as error:
        found = error
    noted_down = with_reply(draft, reply, found)
    update: dict[str, Any] = {"draft": noted_down}
    if context.plan and noted_down["plan"]:
        update["plan"] = paragraph(noted_down["plan"], MOST_PLAN)
    if isinstance(found, ParsedAction):
        return update
    if len(noted_down["faults"]) > context.max_reprompts:
        return {**update, "steps": [noted_down], "ending": "unparsed"}
    told = told_back(reply, f"{found} {_RESPOND}")
    return {**update, "conversation": [*conversation, *told]}


async def reflect(state: State) -> dict[str, Any]:
    """The reflection says revise: take the choice back and ask for another."""
    draft, conversation = state["draft"], state["conversation"]
    reply = conversation[-1]
    assert isinstance(reply, AIMessage)  # noqa: S101  only act leads here
    taken_back = {key: draft[key] for key in ("action", "reflection", "reply")}
    changed = {
        **draft,
        "action": NOTHING,
        "revised": draft["revised"] + 1,
        "revisions": [*draft["revisions"], taken_back],
    }
    return {"draft": changed, "conversation": [*conversation, *told_back(reply, _REVISE)]}


async def ask(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Put the navigator's question to the oracle; it stays where it is."""
    draft = state["draft"]
    said, messages = await ask_for(state, runtime.context, draft["action"]["question"], None)
    asked = {
        "question": draft["action"]["question"],
        "answer": said["answer"],
        "leaked": said["leaked"],
    }
    record = {**draft, "asked": asked}
    return {"dialogue": [{**said, **asked}], "steps": [record], "messages": messages}


async def move(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Carry the action out: stop, or go one hop."""
    context, draft, hops = runtime.context, state["draft"], len(state["trajectory"]) - 1
    if draft["action"]["kind"] == "stop":
        stay(context, state["pose"], state["seed"], hops)
        return {"steps": [draft], "ending": "stop"}
    before, target = _look(state, context), draft["action"]["viewpoint"]
    way = next(each for each in before.candidates if each.viewpoint == target)
    after = hop(context, state["pose"], state["seed"], hops, target)
    pose, memory = pose_record(after.pose), get_memory(context.memory)
    line = memory.step(hops + 1, before.pose, after.pose, way, state.get("seen", {}))
    done = sum(step["action"]["kind"] != "ask" for step in state["steps"]) + 1
    return {
        "pose": pose,
        "trajectory": [list(pose.values())],
        "history": [line],
        "contacts": [_contact(draft["step"], each) for each in after.contacts],
        "steps": [draft],
        "ending": "max_steps" if done >= context.max_steps else None,
    }


def _contact(step: int, contact: Contact) -> dict[str, Any]:
    point = [float(value) for value in contact.point]
    return {
        "step": step,
        "what": contact.what,
        "displacement": contact.displacement,
        "point": point,
    }


async def finish(state: State) -> dict[str, Any]:
    """Put the result together."""
    ending = state["ending"] or "stop"
    result = result_of(state)
    if ending == "stop":
        return {"status": "ok", "result": result, "reason": None, "message": None}
    message = _LINES[ending]
    if ending == "unparsed":
        message = f"{message}: {state['draft']['faults'][-1]}"
    return {"status": "failed", "result": result, "reason": ending, "message": message}


def after_observe(state: State) -> Literal["think", "consult", "finish"]:
    """To the model, by way of the oracle where it is to speak."""
    if state["ending"]:
        return "finish"
    return "consult" if state["trigger"] else "think"


def after_act(
    state: State, runtime: Runtime[Context]
) -> Literal["think", "reflect", "ask", "move", "finish"]:
    """Ask again, think again, ask somebody, or go."""
    context, draft = runtime.context, state["draft"]
    if state["ending"]:
        return "finish"
    if draft["action"]["kind"] == "none":
        return "think"
    revise = context.reflect and draft["decision"] == "revise"
    if revise and draft["revised"] < context.max_revisions:
        return "reflect"
    return "ask" if draft["action"]["kind"] == "ask" else "move"


def after_move(state: State) -> Literal["observe", "finish"]:
    """Look around again, unless the walk has ended."""
    return "finish" if state["ending"] else "observe"


def build_graph(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """The graph, compiled.

    Args:
        checkpointer: where its steps are kept; nowhere by default.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("begin", begin)
    builder.add_node("observe", observe)
    builder.add_node("consult", consult, timeout=MODEL_SECONDS)
    builder.add_node("think", think, timeout=MODEL_SECONDS)
    builder.add_node("act", act)
    builder.add_node("reflect", reflect)
    builder.add_node("ask", ask, timeout=MODEL_SECONDS)
    builder.add_node("move", move)
    builder.add_node("finish", finish)
    builder.add_edge(START, "begin")
    builder.add_edge("begin", "observe")
    builder.add_conditional_edges("observe", after_observe)
    builder.add_edge("consult", "think")
    builder.add_edge("think", "act")
    builder.add_conditional_edges("act", after_act)
    builder.add_edge("reflect", "think")
    builder.add_edge("ask", "observe")
    builder.add_conditional_edges("move", after_move)
    builder.add_edge("finish", END)
    compiled = builder.compile(checkpointer=checkpointer, name="navigator")
    # A walk has more nodes than LangGraph's default limit; max_steps and the budgets bound it.
    return compiled.with_config(recursion_limit=_MOST_STEPS)


graph = build_graph()
