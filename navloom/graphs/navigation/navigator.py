"""Navigator: one graph for every agent, configured by its context (VLN-MME 3 and D).

    START -> begin -> observe -> think -> act -> move -----> observe ... (one hop)
                      |   |       ^ ^      |
                      |   v       | |      +-- a bad reply: the exact fault, max_reasks times
                      | consult --+ +------+-- reflect: "revise", max_revisions times
                      |    ^               +-- ask (dialogue) -> observe
                      |    +---------------+-- a stop before the goal, under an assistant's eyes
                      +-> finish -> END    <-- stop, out of steps, dead end, no action to be had
                           (by way of point, if it is asked for the target object: REVERIE)

``observe`` looks and lists the options; ``consult`` lets an oracle speak when the agent struggles
(4.4) or would stop too early; ``think`` asks the model; ``act`` parses one action from its reply
(D.8); ``move`` carries it out. No action is guessed from an invalid reply. When the re-prompts are
used up, the episode ends as ``unparsed``, where the agent stands.

If a person navigates (:mod:`navloom.graphs.navigation.human_input`), ``think`` asks that person,
and with continuous motion ``drive`` replaces think, act and move.

``build_decider`` compiles the deciding half, observe to act, for callers that move the body
themselves. A call returns when an action is chosen (``draft["action"]``: a move, a stop or a
question), or when the walk has ended.

``goals``, ``path`` and ``target`` are ground truth. The navigator never reads them; only the oracle
and its callers do. With ``oracle="bound"`` the oracle is no model: it knows the path and speaks at
every step.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Overwrite
from pydantic import BaseModel, Field, WithJsonSchema, create_model
from typing_extensions import TypedDict

from navloom.graphs.agent_graph import AgentGraph, Growing, Merging, Outcome
from navloom.graphs.navigation.context import MOST_INSTRUCTION, Context, read_input
from navloom.graphs.navigation.human_input import human_reply
from navloom.graphs.navigation.prompt_text import (
    PROMPTS,
    front_heading,
    get_memory,
    get_observation,
    render_prompt,
)
from navloom.graphs.navigation.subgraphs import (
    ask,
    bound_guidance,
    consult,
    find_trigger,
    point,
    step_images,
)
from navloom.graphs.navigation.teleoperation import begin_step, drive
from navloom.graphs.tool_loop import Asked, ask_model
from navloom.models.messages import message_text, opening_messages, with_images
from navloom.models.structured_output import bind_schema
from navloom.prompts.prompt_loader import load_prompt
from navloom.sim.agent_handle import AgentHandle, get_agent_handle, trajectory_entry
from navloom.sim.protocol import Contact, Pose
from navloom.tools.model_output import sanitize_line
from navloom.tools.navigation import step_options, step_records
from navloom.tools.navigation.action_parser import (
    ActionError,
    ParsedAction,
    parse_action,
    parse_call,
)

MOST_REPLY_KEPT = 4_000
"""Most characters of a reply that a step's record keeps."""
_DECLINED = frozenset({"refusal", "content_filter"})


@lru_cache(maxsize=256)
def move_tools(options: int, ask: bool) -> tuple[BaseTool, ...]:
    """Build the tools of a step: ``move``, ``stop`` and, if questions are allowed, ``ask``.

    Args:
        options: number of options; they are enumerated, so that a backend that enforces a schema
            cannot name another.
        ask: whether to offer ``ask``.
    """
    # LangChain passes on only what is in a field's annotation.
    numbers = WithJsonSchema({"type": "integer", "enum": list(range(1, options + 1))})
    moved = create_model(
        "move", option=(Annotated[int, numbers], Field(description="The option's number."))
    )
    asked = create_model(
        "ask", question=(str, Field(description="One short question about the way or the place."))
    )
    tools = [
        _tool("move", "Go to one of the action options.", moved),
        _tool("stop", "Stop for good: this is where the instruction ends.", create_model("stop")),
    ]
    return (*tools, _tool("ask", "Ask instead of moving.", asked)) if ask else tuple(tools)


def _tool(name: str, description: str, arguments: type[BaseModel]) -> BaseTool:
    def call(**_: Any) -> str:
        raise NotImplementedError("the navigator's graph carries actions out")

    return StructuredTool.from_function(
        call, name=name, description=description, args_schema=arguments
    )


def read_reply(
    reply: AIMessage, context: Context, options: Sequence[step_options.MoveOption], *, ask: bool
) -> ParsedAction:
    """Parse the action of a reply, in the form that the context asks for.

    Raises:
        ActionError: it has no action among the options.
    """
    in_words = context.act == "text"
    if not in_words and reply.invalid_tool_calls and not reply.tool_calls:
        raise ActionError("unparsed", "The arguments of your tool call are no JSON. Call again.")
    try:
        if in_words:
            return parse_action(reply_words(reply), options, ask=ask)
        return parse_call(reply.tool_calls, options, ask=ask)
    except ActionError as error:
        raise _declined(reply, error) from None


def _declined(reply: AIMessage, error: ActionError) -> ActionError:
    """Return the error as a refusal, if the server marks the reply without action as one."""
    if error.kind != "unparsed":
        return error
    told = reply.response_metadata
    reasons = {told.get("finish_reason"), told.get("stop_reason")}
    if reply.additional_kwargs.get("refusal") or reasons & _DECLINED:
        return ActionError("refusal", f"You declined. {error}")
    return error


def reply_words(reply: AIMessage) -> str:
    """Return a reply's text, or the refusal beside an empty content."""
    said = message_text(reply.content)
    return said if said.strip() else str(reply.additional_kwargs.get("refusal") or "")


def reply_text(reply: AIMessage) -> str:
    """Return a reply's text and tool calls for the record, cut in the middle if long."""
    calls = [
        f"{call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})"
        for call in reply.tool_calls
    ]
    text = "\n".join(part for part in (reply_words(reply), *calls) if part)
    if len(text) <= MOST_REPLY_KEPT:
        return text
    half = MOST_REPLY_KEPT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"


def record_reply(
    step: step_records.NavStep, reply: AIMessage, found: ParsedAction | ActionError
) -> step_records.NavStep:
    """Return the step with a reply, its remarks, and the action or the error."""
    remarks = (
        step_options.read_remarks(reply_words(reply))
        if reply_words(reply)
        else step_options.Remarks()
    )
    failed = isinstance(found, ActionError)
    return step.copy_with(
        reply=reply_text(reply),
        **asdict(remarks),
        action=step_records.NOTHING if isinstance(found, ActionError) else found,
        faults=[*step.faults, f"{found.kind}: {found}"] if failed else step.faults,
    )


def rejection_messages(reply: AIMessage, message: str) -> list[AnyMessage]:
    """Return the messages that reject a reply; servers require every tool call to be answered."""
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    answers: list[AnyMessage] = [
        ToolMessage(
            "Not carried out.",
            tool_call_id=call.get("id") or "",
            name=call.get("name") or "",
            status="error",
        )
        for call in calls
    ]
    return [*answers, HumanMessage(message)]


JOB = "navigator"
MOST_PLAN = 1_000
_Builder = TypeVar("_Builder", bound=AgentGraph[Any, Any, Any])
_RESPOND = "Answer again in the format described."
_REVISE = (
    "On reflection you would choose anew. Nothing was carried out. Choose again; this is the choice"
    " that counts unless you revise it while revisions are left."
)
_LINES: dict[str, str] = {
    "max_steps": "the steps were used up before the agent stopped",
    "unparsed": "no reply held an action, and the re-prompts were used up",
    "dead_end": "nowhere to go from here, and the agent has not stopped",
    "collision": "the body bumped into what was in its way",
}


class Input(TypedDict):
    """Input of the navigator."""

    seed: NotRequired[int]
    """Seed of the baselines, also shown to every model; 0 where it is left out."""
    instruction: Annotated[str, Field(max_length=MOST_INSTRUCTION)]
    """The navigator's instruction; read as one line."""
    start: str
    """The viewpoint it starts on."""
    heading: NotRequired[Annotated[float, Field(allow_inf_nan=False)]]
    """Heading at the start, radians clockwise from -z."""
    goals: NotRequired[list[str]]
    """Ground truth: viewpoints that count as the goal. Never shown to the navigator."""
    path: NotRequired[list[str]]
    """Ground truth: the reference path. Never shown to the navigator."""
    target: NotRequired[str | None]
    """Ground truth: the id of the target object. Shown to the navigator only with
    ``oracle="bound"``."""


class State(Input, Outcome, total=False):
    """State of the navigator: ids and text, never a frame or a scene.

    Its status is ``ok`` where the agent stopped by itself; scores tell whether it reached the goal.
    Otherwise its reason is the way the walk ended. Keys of its result: ``trajectory``, ``stopped``,
    ``end``, ``steps``, ``counts``, ``contacts`` and ``prompt``.
    """

    pose: dict[str, Any]
    """The pose: viewpoint, heading and elevation (radians); a body's position, too."""
    simulator: dict[str, Any]
    """Simulator state that restores a body exactly, if its pose does not suffice."""
    trajectory: Growing[list[Any]]
    """Every pose so far, the start first: [viewpoint, heading, elevation], a body's with x, y and z
    after that."""
    history: Growing[str]
    """One line for each move."""
    seen: Merging[dict[str, Any]]
    """The topological map of ``memory="map"`` (:mod:`navloom.graphs.navigation.prompt_text`)."""
    steps: Growing[dict[str, Any]]
    """One record for each step (:class:`navloom.tools.navigation.step_records.NavStep`)."""
    contacts: Growing[dict[str, Any]]
    """The body's contacts, with the step of each."""
    dialogue: Growing[dict[str, Any]]
    """Questions asked and their answers."""
    guidance: Growing[dict[str, Any]]
    """The oracle's unasked guidance, with its triggers."""
    plan: str | None
    """The navigator's latest plan."""
    draft: dict[str, Any]
    """The record of the step under way."""
    messages: Growing[AnyMessage]
    """This step's exchange with the model; reset at each step."""
    trigger: str | None
    """Reason for consulting the oracle at this step."""
    ending: step_records.Ending | None
    """Reason why the walk ended."""
    pointed: dict[str, Any] | None
    """The object that it named as the target, where it was asked."""
    poses: Growing[list[float]]
    """Poses of a person who drives, every 50 ms: [seconds, x, y, z, heading]."""
    leg: dict[str, Any]
    """Of a driven step: the viewpoint reached so far, its last recorded pose, and its contacts."""
    seconds: float
    """A person's time, without pauses."""


def begin(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Check the input, reset an earlier walk of this thread, and place the body at the start."""
    walker = get_agent_handle(runtime)
    given = read_input(state, runtime.context, walker.scene)
    there = walker.scene.viewpoint_by_id[given["start"]]
    asked = Pose(there.position, given["heading"], 0.0, there.id)
    pose = walker.pose_record(walker.start(asked, given["seed"]).pose)
    grown = ("history", "usage", "steps", "contacts", "dialogue", "guidance")
    fresh = ("plan", "trigger", "ending", "pointed", "reason", "message")
    person = {"poses": Overwrite([]), "seconds": 0.0} if runtime.context.person else {}
    return {
        **given,
        "pose": pose,
        **walker.saved(),
        "trajectory": Overwrite([trajectory_entry(pose)]),
        "seen": Overwrite({}),
        **{name: Overwrite([]) for name in grown},
        **dict.fromkeys(fresh),
        **person,
    }


def observe(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Look, update the memory and list the options, else end; return the state update."""
    context, walker, seen = runtime.context, get_agent_handle(runtime), state.get("seen", {})
    if context.motion == "continuous":
        return begin_step(state, walker, context.max_steps)
    if step_records.count_steps(state["steps"], context.ask_cost) >= context.max_steps:
        # A question used up the last step.
        return {"ending": "max_steps"}
    observation, memory = get_observation(walker, state, context), get_memory(context.memory)
    added = memory.look(seen, observation)
    front, ours = front_heading(context, observation), context.prompts == "navloom"
    options = step_options.options_of(observation, front, apart=ours)
    if not options:
        return {"seen": added, "ending": "dead_end"}
    kept = context.media
    step = step_records.NavStep(
        step=len(state["steps"]) + 1,
        viewpoint=state["pose"]["viewpoint"],
        heading=state["pose"]["heading"],
        options=options,
        media=[kept.put(picture) for picture in walker.pictures(state)] if kept else [],
    )
    back = step_records.jump_options(_steps(state), step) if context.jump else []
    notes = memory.notes({**seen, **added})
    step = step.copy_with(options=step_options.annotate_options([*options, *back], notes))
    if context.oracle == "bound":
        step = step.copy_with(oracle=bound_guidance(state, step, context, walker))
    trigger = find_trigger(state, context, walker.scene)
    return {"seen": added, "draft": step.record(), "messages": Overwrite([]), "trigger": trigger}


async def think(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Ask the model, or the person in its place, and return the state update."""
    if runtime.context.person is not None:
        return await human_reply(state, runtime)
    talk: list[AnyMessage] = []
    reply, paid = await ask_model(_prepared, state, runtime, talk)
    return {"messages": [*talk[len(state["messages"]) :], reply], **paid}


def _prepared(state: State, runtime: Runtime[Context], talk: list[AnyMessage]) -> Asked:
    """Return the model's prepared call, and append the step's exchange so far to ``talk``."""
    context, draft, walker = runtime.context, _draft(state), get_agent_handle(runtime)
    shown = step_images(state, context, walker)
    talk += state["messages"] or _opening(state, draft, context, walker, len(shown))
    ask = _can_ask(state, context)
    tools = move_tools(len(draft.options), ask) if context.act == "tool" else ()
    bound = bind_schema(context.model, tools=tools, images=bool(shown), job=JOB, seed=state["seed"])
    return bound, with_images(talk, shown), "navigator"


def _draft(state: State) -> step_records.NavStep:
    return step_records.NavStep(**state["draft"])


def _steps(state: State) -> list[step_records.NavStep]:
    return [step_records.NavStep(**step) for step in state["steps"]]


def _opening(
    state: State, draft: step_records.NavStep, context: Context, walker: AgentHandle, shown: int
) -> list[AnyMessage]:
    rendered = render_prompt(
        state,
        context,
        get_observation(walker, state, context),
        draft.options,
        can_ask=_can_ask(state, context),
        shortest=draft.oracle.answer if context.oracle == "bound" and draft.oracle else None,
        showing=shown,
    )
    return opening_messages(rendered)


def _can_ask(state: State, context: Context) -> bool:
    return context.dialogue and len(state.get("dialogue", [])) < context.max_questions


def act(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Parse one action from the reply, or send its fault back while re-prompts are left."""
    context, draft, conversation = runtime.context, _draft(state), state["messages"]
    if state["ending"]:
        return {}
    reply = conversation[-1]
    assert isinstance(reply, AIMessage)  # noqa: S101  only think leads here
    found: ParsedAction | ActionError
    try:
        found = read_reply(reply, context, draft.options, ask=_can_ask(state, context))
    except ActionError as error:
        found = error
    step = record_reply(draft, reply, found)
    update: dict[str, Any] = {"draft": step.record()}
    if step.action.kind == "stop":
        update["trigger"] = find_trigger(
            state, context, get_agent_handle(runtime).scene, stopping=True
        )
    if context.plans and step.plan:
        update["plan"] = sanitize_line(step.plan, MOST_PLAN)
    if isinstance(found, ParsedAction):
        return update
    if len(step.faults) > context.max_reasks:
        return {**update, "steps": [update["draft"]], "ending": "unparsed"}
    told = rejection_messages(reply, f"{found} {_RESPOND}")
    return {**update, "messages": told}


def reflect(state: State) -> dict[str, Any]:
    """Return the update that revokes the choice and asks for another, after a reflection."""
    draft, conversation = _draft(state), state["messages"]
    reply = conversation[-1]
    assert isinstance(reply, AIMessage)  # noqa: S101  only act leads here
    changed = draft.revoke_choice().copy_with(revised=draft.revised + 1)
    told = rejection_messages(reply, _REVISE)
    return {"draft": changed.record(), "messages": told}


def move(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Stop, go one hop or jump back, as the action says, and return the state update."""
    context, walker, draft = runtime.context, get_agent_handle(runtime), _draft(state)
    if draft.action.kind == "stop":
        walker.stop(state)
        return {"steps": [state["draft"]], "ending": "stop"}
    before, target = get_observation(walker, state, context), draft.action.viewpoint or ""
    hops = step_records.jump_path(_steps(state), draft, target) if draft.jumped else [target]
    gone, poses, touched = state, list[list[Any]](), list[Contact]()
    for viewpoint in hops:
        after = walker.hop(gone, viewpoint)
        pose, saved = walker.pose_record(after.pose), walker.saved()
        poses.append(trajectory_entry(pose))
        touched += after.contacts
        trail = [*gone["trajectory"], poses[-1]]
        gone = {**gone, **saved, "pose": pose, "trajectory": trail}  # type: ignore[typeddict-item]
        if after.collision or after.pose.viewpoint != viewpoint:
            break
    missed = after.collision or after.pose.viewpoint != target
    bumped = step_records.contact_names(touched, walker.scene)
    draft = draft.copy_with(bumped=bumped or None, missed=missed)
    number, seen = len(state["history"]) + 1, state.get("seen", {})
    memory = get_memory(context.memory)
    if draft.jumped:
        line = memory.jump(number, next(o for o in draft.options if o.viewpoint == target))
    else:
        way = next(each for each in before.candidates if each.viewpoint == target)
        line = memory.step(number, before.pose, after.pose, way, seen)
    if missed or bumped:
        line = f"{line}. {step_records.contact_message(bumped, missed=missed)}"
    done = step_records.count_steps(state["steps"], context.ask_cost) + 1
    over = "max_steps" if done >= context.max_steps else None
    return {
        "pose": pose,
        **saved,
        "trajectory": poses,
        "history": [line],
        "contacts": [
            {
                "step": draft.step,
                "what": contact.what,
                "displacement": contact.displacement,
                "point": [float(value) for value in contact.point],
            }
            for contact in touched
        ],
        "steps": [draft.record()],
        "ending": "collision" if after.collision else over,
    }


def finish(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Return the update with the episode's status and result."""
    ending = state["ending"] or "stop"
    context = runtime.context
    record = load_prompt(PROMPTS[context.prompts]).record
    result = step_records.episode_result(state, record, context.ask_cost)
    if context.person is not None:
        result |= {"motion": context.motion, "person_seconds": state.get("seconds") or 0.0}
        result |= {"poses": state["poses"]} if context.motion == "continuous" else {}
    if context.things is not None:
        result["pointed"] = state["pointed"] or {"object": None, "offered": {}, "faults": []}
    if ending == "stop":
        return {"status": "ok", "result": result, "reason": None, "message": None}
    message = _LINES[ending]
    if ending == "unparsed":
        message = f"{message}: {state['draft']['faults'][-1]}"
    return {"status": "failed", "result": result, "reason": ending, "message": message}


def after_start(state: State) -> Literal["begin", "observe"]:
    """Route to begin if there is no pose yet, else to observe."""
    return "observe" if state.get("pose") else "begin"


def after_observe(
    state: State, runtime: Runtime[Context]
) -> Literal["think", "consult", "drive", "finish"]:
    """Route to the model, first to the oracle if it is to speak, or to the driving person."""
    if state["ending"]:
        return "finish"
    if runtime.context.motion == "continuous":
        return "drive"
    return "consult" if state["trigger"] else "think"


def after_act(
    state: State, runtime: Runtime[Context]
) -> Literal["think", "reflect", "consult", "ask", "move", "finish"]:
    """Route by the action: ask again, reflect, consult, ask the oracle, or move."""
    context, draft = runtime.context, state["draft"]
    if state["ending"]:
        return "finish"
    if draft["action"]["kind"] == "none":
        return "think"
    revise = context.reflect and draft["decision"] == "revise"
    if revise and draft["revised"] < context.max_revisions:
        return "reflect"
    if draft["action"]["kind"] == "stop" and state["trigger"]:
        return "consult"
    return "ask" if draft["action"]["kind"] == "ask" else "move"


def after_move(state: State, runtime: Runtime[Context]) -> Literal["observe", "point", "finish"]:
    """Route to observe, or after the walk to pointing if objects are given, else to finish."""
    if not state["ending"]:
        return "observe"
    asked = runtime.context.things is not None and state["ending"] != "collision"
    return "point" if asked else "finish"


def after_drive(state: State) -> Literal["drive", "observe", "finish"]:
    """Route to more driving of this step, to the next step, or to finish."""
    if state["ending"]:
        return "finish"
    done = len(state["steps"]) >= state["draft"]["step"]
    return "observe" if done else "drive"


def build_decider(
    checkpointer: Checkpointer = None,
) -> CompiledStateGraph[State, Context, State, State]:
    """Compile the deciding half: observe, consult, think, act, reflect. The caller moves the body.

    The first call takes an ``Input`` and starts the walk. Each later one takes the state that the
    caller made of the last: a new pose, and extended ``trajectory`` and ``steps``. The returned
    state has ``draft``, the step with the chosen ``action``, or ``ending``.

    Args:
        checkpointer: keeps its steps; none by default.
    """
    builder = _deciding(AgentGraph(State, Context, State, "decider", output=State))
    builder.add_conditional_edges(START, after_start)
    looked: dict[Hashable, str] = {"think": "think", "consult": "consult", "finish": END}
    builder.add_conditional_edges("observe", after_observe, looked)
    ends: dict[Hashable, str] = dict.fromkeys(("ask", "move", "finish"), END)
    chosen = {"think": "think", "reflect": "reflect", "consult": "consult"} | ends
    builder.add_conditional_edges("act", after_act, chosen)
    return builder.compile(checkpointer)  # type: ignore[no-any-return]


def _deciding(builder: _Builder) -> _Builder:
    builder.add_node("begin", begin)
    builder.add_node("observe", observe)
    builder.add_node("consult", consult)
    builder.add_node("think", think)
    builder.add_node("act", act)
    builder.add_node("reflect", reflect)
    builder.add_edge("begin", "observe")
    builder.add_edge("consult", "think")
    builder.add_edge("think", "act")
    builder.add_edge("reflect", "think")
    return builder


builder = _deciding(AgentGraph(State, Context, Input, "navigator"))
builder.add_node("ask", ask)
builder.add_node("move", move)
builder.add_node("point", point)
builder.add_node("drive", drive)
builder.add_node("finish", finish)
builder.add_edge(START, "begin")
builder.add_conditional_edges("observe", after_observe)
builder.add_conditional_edges("act", after_act)
builder.add_edge("ask", "observe")
builder.add_conditional_edges("move", after_move)
builder.add_conditional_edges("drive", after_drive)
builder.add_edge("point", "finish")
builder.add_edge("finish", END)
build_graph = builder.compile
"""Compiles the graph; takes the checkpointer for its steps, none by default."""
graph = build_graph()
