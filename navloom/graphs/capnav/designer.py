"""CapNav question designer: an agent whose questions are each checked against the scene.

The model reads a guideline, the nodes and, where there is a video and it takes images, frames. It
may call ``nodes``, ``items``, ``route`` and ``feasible``, and answers with questions in the
benchmark's form. Each is checked alone. Good ones are kept; for bad ones others are requested, with
every violation named, a limited number of times. Source: CapNav, supplementary A.1 to A.4.

    START -> propose <---------------+--------------+
                |                    |              |
                +-- calls tools --> consult         |
                |                    +- stuck -> END|
                +-- answers ------> check ----------+ (some are wrong, or too few)
                |                    +- enough / given up -> END
                +-- out of turns -> END

With ``compact`` start and end are drawn, the model chooses an item at each, and the sentence is
filled in. No tools are offered, and a prompt stays within about 2,000 characters, for small models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, NotRequired, cast

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph import START
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.errors import SceneError
from navloom.graphs import agent_graph, tool_loop
from navloom.graphs.capnav import designer_prompt
from navloom.models.messages import AnswerError, message_text, opening_messages, with_images
from navloom.models.structured_output import bind_schema
from navloom.prompts.prompt_loader import load_prompt
from navloom.scenes.distances import scene_cached
from navloom.scenes.scene_uri import get_scene
from navloom.scenes.traversability_table import Traversability
from navloom.tools.capnav.answer_parser import compact_schema, read_questions, response_schema
from navloom.tools.capnav.named_places import NamedPlaces, traversability_of
from navloom.tools.capnav.question_grounding import check_question
from navloom.tools.model_output import Violation

_MOST_KEPT = 100
"""Most rejected questions that the result lists."""
_ADVICE = "This call failed before and fails again: call nodes for the ids that there are."
_COMPACT_SAID = 2
"""With ``compact``: messages after the opening that the model is shown."""


class Input(TypedDict):
    """Input of the question designer."""

    seed: int
    """Varies the model's choices; goes into the prompt."""
    routes: NotRequired[list[list[str]]]
    """[start, end] to prefer, one for each question; none unless given."""
    taken: NotRequired[list[dict[str, Any]]]
    """Existing questions of the scene, which must not be repeated."""


class State(Input, agent_graph.Outcome, total=False):
    """State of the question designer: ids and text, never a scene or an image.

    Its status is ``ok`` where at least one question was accepted. Keys of its result:
    ``questions`` (in the benchmark's form), ``grounding`` (evidence for each), ``asked``, ``short``
    (how many are missing, and ``why``), ``rejected``, and statistics of the run.
    """

    messages: agent_graph.Growing[AnyMessage]
    """The conversation after the opening."""
    accepted: agent_graph.Growing[dict[str, Any]]
    """``{"question": ..., "grounding": ...}`` each."""
    rejected: agent_graph.Growing[dict[str, Any]]
    """``{"said": ..., "violations": [{"code", "message"}, ...]}`` each."""
    repairs: Annotated[int, add]
    """Number of times that replacements were requested."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(tool_loop.TurnLimits):
    """Settings of the question designer, fixed during a run."""

    scene: agent_graph.SceneLike
    """The scene, or its URI."""
    model: agent_graph.ModelLike = "builtin/heuristic"
    """The generator, or its ``provider/name``."""
    truth: Annotated[Traversability | None, agent_graph.PythonField()] = None
    """Passages and the bodies that can use them; None looks beside the scene's URI, else at its
    links."""
    frames: tuple[agent_graph.Picture, ...] = ()
    """Frames of a video through the scene (PNG or JPEG), in order."""
    min_questions: int = 5
    """Number of questions to request; a model may give more."""
    constrain: bool = True
    """Enumerate the node ids in the schemas of tools and answers."""
    compact: bool = False
    """Ask for one question at a time in small choices."""


def load_places(context: Context) -> NamedPlaces:
    """Return the context's places, built once per scene."""
    scene = get_scene(context.scene)
    truth = context.truth or traversability_of(context.scene)
    # The value keeps the object alive, so that no other one can get the id in the key.
    return scene_cached(scene, f"capnav_places_{id(truth)}", lambda: NamedPlaces(scene, truth))


async def propose(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Return the model's tool calls or answer as an update. Frames are sent but not stored."""
    reply, paid = await tool_loop.ask_model(_prepared, state, runtime.context)
    return {"messages": [reply], **paid}


def _prepared(state: State, context: Context) -> tool_loop.Asked:
    places, seed = load_places(context), state["seed"]
    if context.compact:
        # A different seed for each turn: an engine seeded by the prompt would repeat itself.
        seed += tool_loop.count_turns(tool_loop.messages_of(state))
        talk, schema = _compact_talk(state, context, places, seed)
    else:
        least = context.min_questions
        rendered = designer_prompt.render_prompt(
            places,
            seed=seed,
            least=least,
            frames=len(context.frames),
            routes=state.get("routes", []),
            taken=state.get("taken", []),
        )
        talk = [*opening_messages(rendered), *tool_loop.messages_of(state)]
        schema = response_schema(places.ids, constrain=context.constrain, least=least)
    bound = bind_schema(
        context.model,
        tools=[] if context.compact else _tools(places, context),
        schema=schema,
        constrain=context.constrain,
        images=bool(context.frames),
        job=schema["title"],
        seed=seed,
    )
    return bound, with_images(talk, context.frames), None


def _compact_talk(
    state: State, context: Context, places: NamedPlaces, seed: int
) -> tuple[list[BaseMessage], dict[str, Any]]:
    """Build the messages and schema for one question, with only the last rejection."""
    route, taken = _route(state, places), _taken(state)
    rendered = designer_prompt.render_compact(
        places, seed=seed, frames=len(context.frames), route=route, taken=taken
    )
    frames = len(context.frames)
    things = [designer_prompt.landmark_choices(places, place, frames=frames) for place in route]
    schema = compact_schema(route, things, constrain=context.constrain)
    last = tool_loop.messages_of(state)[-_COMPACT_SAID:]
    if not last or not isinstance(last[-1], HumanMessage) or last[-1].content == _GO:
        last = []
    return [*opening_messages(rendered), *last], schema


def _route(state: State, places: NamedPlaces) -> Sequence[str]:
    """Return the next question's start and end: a preferred pair, else a drawn one."""
    done, routes = len(state.get("accepted", [])), state.get("routes", [])
    if done < len(routes):
        return routes[done]
    drawn = designer_prompt.draw_route(places, _taken(state), state["seed"] + done)
    if drawn is None:
        raise SceneError(f"{places.scene.uri}: no two named places are joined: nothing to ask")
    return drawn


_GO = "Accepted. Another."


def _taken(state: State) -> list[dict[str, Any]]:
    return [*state.get("taken", []), *(each["question"] for each in state.get("accepted", []))]


def _tools(places: NamedPlaces, context: Context) -> list[BaseTool]:
    key = f"capnav_tools_{id(places)}_{context.constrain}"
    return scene_cached(
        places.scene, key, lambda: designer_prompt.capnav_tools(places, constrain=context.constrain)
    )


def consult(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer the model's tool calls from the scene, and return the state update."""
    tools = _tools(load_places(runtime.context), runtime.context)
    update = tool_loop.answer_tool_calls(
        tool_loop.messages_of(state),
        tools,
        failed=lambda call: call.result is None or "error" in call.result,
        # The tools' own errors describe what is wrong with the call.
        advise=lambda *_: _ADVICE,
    )
    stuck = update.get("status") == "failed"
    return {**update, **_ended(state, runtime.context, update)} if stuck else update


def check(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Check each question of an answer; keep the good ones, and request others or end."""
    context, places = runtime.context, load_places(runtime.context)
    try:
        given = read_questions(message_text(tool_loop.messages_of(state)[-1].content))
    except AnswerError as error:
        fault = Violation("not_json", str(error))
        return _go_on(state, context, [], [{"said": {}, "violations": [fault]}], str(error))
    if context.compact:
        given = [designer_prompt.complete_question(each, places) for each in given[:1]]
    good, bad, numbers, taken = [], [], [], _taken(state)
    for number, each in enumerate(given, 1):
        checked = check_question(each, places, taken)
        if checked.violations or checked.question is None:
            said = designer_prompt.shorten_question(each)
            bad.append({"said": said, "violations": checked.violations})
            numbers.append((number, checked.violations))
            continue
        good.append({"question": checked.question, "grounding": checked.grounding()})
        taken.append(checked.question)
    wrong = {number for number, _ in numbers}
    kept = [number for number in range(1, len(given) + 1) if number not in wrong]
    still = context.min_questions - len(state.get("accepted", [])) - len(good)
    text = designer_prompt.repair_message(numbers, kept, still, precise=context.precise_repairs)
    return _go_on(state, context, good, bad, _GO if context.compact and good else text)


def _go_on(
    state: State, context: Context, good: list[dict[str, Any]], bad: list[dict[str, Any]], text: str
) -> dict[str, Any]:
    """Keep the good questions, end or send the others back, and return the state update."""
    rejected = [
        {**each, "violations": [{"code": v.code, "message": v.message[:400]} for v in wrong]}
        for each in bad
        for wrong in [each["violations"]]
    ]
    update: dict[str, Any] = {"accepted": good, "rejected": rejected}
    held = {
        "accepted": [*state.get("accepted", []), *good],
        "rejected": [*state.get("rejected", []), *rejected],
    }
    after = cast(State, {**state, **held})
    if len(after["accepted"]) >= context.min_questions:
        return {**update, **_ended(after, context, {})}
    if context.compact and good:
        return {**update, "messages": [HumanMessage(text)]}
    if state.get("repairs", 0) >= context.max_reasks:
        first = bad[0]["violations"][0] if bad else Violation("too_few", "too few questions")
        failed = tool_loop.failed_update(first.code, first.message)
        return {**update, **_ended(after, context, failed)}
    return {**update, "messages": [HumanMessage(text)], "repairs": 1}


def _ended(state: State, context: Context, why: Mapping[str, Any]) -> dict[str, Any]:
    """Return the update that ends an attempt, with the questions accepted so far."""
    accepted, rejected = state.get("accepted", []), state.get("rejected", [])
    calls = tool_loop.executed_calls(tool_loop.messages_of(state))
    result = {
        "questions": [each["question"] for each in accepted],
        "grounding": [each["grounding"] for each in accepted],
        "asked": context.min_questions,
        "short": max(0, context.min_questions - len(accepted)),
        "why": why.get("reason"),
        "rejected": rejected[:_MOST_KEPT],
        "rejected_in_all": len(rejected),
        "repairs": state.get("repairs", 0),
        "turns": tool_loop.count_turns(tool_loop.messages_of(state)),
        "tool_calls": len(calls),
        "frames": len(context.frames),
        "guideline": None if context.compact else designer_prompt.guideline_record(),
        "prompt": load_prompt(
            designer_prompt.COMPACT_PROMPT if context.compact else designer_prompt.PROMPT
        ).record,
    }
    if not accepted:
        return {**why, "status": "failed", "result": result}
    return {"status": "ok", "reason": None, "message": None, "result": result}


def out_of_turns(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Return the update that ends the run after the model has used all its turns."""
    most = runtime.context.max_turns
    why = tool_loop.failed_update("out_of_turns", f"no accepted question in {most} model calls")
    return _ended(state, runtime.context, why)


builder = agent_graph.AgentGraph(State, Context, Input, "capnav_tasks")
tool_loop.add_tool_loop(builder, propose, consult, check, out_of_turns)
builder.add_edge(START, "propose")
build_graph = builder.compile
"""Compiles the graph; takes the checkpointer for its steps, none by default."""


graph = build_graph()
