"""NavCraft-S: an agent that crafts one long errand for one robot (CoNavBench 3.1.2, A.10).

The model proposes an object, a start and an end, asks ``check_two_path_and_adjacency``, follows the
paper's repair rule (keep what is valid, sample the rest anew) and answers with ``phase_1``. Every
claim is then checked against the scene; what is wrong is told back in plain sentences, a set number
of times.

    START -> propose <---------------+--------------+
                |                    |              |
                +-- calls tools --> consult         |
                |                    +- stuck -> END|
                +-- answers ------> check ----------+ (mend)
                |                    +- ok / given up -> END
                +-- out of turns -> END
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from navloom.graphs.ask import MODEL_SECONDS, opening
from navloom.graphs.navcraft.choices import (
    ChoiceSettings,
    errand_answer,
    errand_question,
    scene_json,
)
from navloom.graphs.turns import (
    Call,
    after_propose,
    calls_made,
    go_on,
    out_of_turns,
    said,
    sent_back,
    tool_turn,
    turns,
)
from navloom.models.answer import AnswerError, message_text, read_json_object
from navloom.models.binding import bind
from navloom.models.call import acall
from navloom.models.registry import model_of
from navloom.prompts.load import Rendered, load_prompt
from navloom.prompts.navcraft.profiles import Profile, load_profile
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.tools.navcraft.errand import Phase1, end_asset_of, phase_1_schema, read_phase_1
from navloom.tools.navcraft.relay import RelayTask
from navloom.tools.navcraft.tools import path_tools
from navloom.tools.violations import Violation, listed

__all__ = ["Context", "State", "build_graph", "graph", "profile_of"]


class Input(TypedDict):
    """What a caller gives."""

    seed: int
    """Varies the model's choices; goes into the prompt."""


class State(Input, total=False):
    """What a run remembers: ids and text, never a scene."""

    messages: Annotated[list[AnyMessage], add_messages]
    """The conversation after the opening."""
    violations: Annotated[list[str], add]
    """Codes of the violations told back so far."""
    refused: Annotated[list[str], add]
    """With ``compact``: names that were sent back."""
    picked: Annotated[list[list[str]], add]
    """With ``compact``: the object chosen, then the end asset, each as [name, region]."""
    repairs: Annotated[int, add]
    """How many times an answer was sent back."""
    status: Literal["ok", "failed"]
    """How the attempt ended."""
    reason: str | None
    """Where it failed: the code to count it under."""
    message: str | None
    """Where it failed: one line for a person."""
    result: dict[str, Any]
    """``{"phase_1": ..., "navloom": ...}`` where the attempt succeeded."""


@dataclass(frozen=True, kw_only=True)
class Context(ChoiceSettings):
    """What does not change during a run."""

    scene: Scene | str
    """The home, or its URI."""
    model: BaseChatModel | str = "builtin/heuristic"
    """The generator, or its ``provider/name``."""
    profile: Profile | str | None = None
    """Who the errand is for: a profile, its name or file, or nobody."""
    tau: int = 2
    """Hop threshold of 3.1.2: a leg has at least ``max(2, tau)`` hops."""


def profile_of(context: Context) -> Profile | None:
    """The context's profile, loaded if it was given by name or file."""
    profile = context.profile
    return load_profile(profile) if isinstance(profile, str) else profile


async def propose(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Let the model speak: call tools, or answer."""
    context = runtime.context
    scene = scene_of(context.scene)
    if context.compact:
        least, profile = max(2, context.tau), profile_of(context)
        rendered, schema = errand_question(state, scene, context, profile, least)
    else:
        rendered, schema = _prompt(scene, state, context), _schema(scene, context.constrain)
    bound = bind(
        model_of(context.model),
        tools=[] if context.compact else _tools(scene, context),
        schema=schema,
        constrain=context.constrain,
    )
    reply = await acall(bound, [*opening(rendered), *said(state)])
    return {"messages": [reply]}


def _tools(scene: Scene, context: Context) -> list[BaseTool]:
    return per_scene(
        scene,
        f"path_tools_{context.tau}_{context.constrain}",
        lambda: path_tools(scene, tau=context.tau, constrain=context.constrain),
    )


def _schema(scene: Scene, constrain: bool) -> dict[str, Any]:
    return per_scene(
        scene, f"phase_1_schema_{constrain}", lambda: phase_1_schema(scene, constrain=constrain)
    )


def _prompt(scene: Scene, state: State, context: Context) -> Rendered:
    profile = profile_of(context)
    return load_prompt("navcraft_single").render(
        scene_graph=scene_json(scene),
        profile=json.dumps(profile and profile.model_dump(by_alias=True)),
        seed=state["seed"],
        min_hops=max(2, context.tau),
    )


async def consult(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer the model's tool calls from the scene graph."""
    context = runtime.context
    scene = scene_of(context.scene)
    return await tool_turn(
        said(state),
        _tools(scene, context),
        failed=_failed,
        advise=lambda call, before: _advice(call, before, scene),
    )


def _failed(call: Call) -> bool:
    # Of the two tools only the one over three regions says "valid"; the other says "connect".
    result = call.result or {}
    return not result.get("valid", result.get("connect"))


def _advice(call: Call, before: list[Call], scene: Scene) -> str:
    """What was tried and what is left, by the paper's repair rule (A.10.1, step 4)."""
    if call.result is None or "start_region" not in call.args:
        return "This call failed before. Call check_two_path_and_adjacency with three region ids."
    kept, free = _repair(call)
    tried = {
        str(c.args.get(free)) for c in before if all(c.args.get(k) == call.args[k] for k in kept)
    }
    used = tried | set(map(str, call.args.values()))
    left = [region.id for region in scene.regions if region.id not in used]
    keep = " and ".join(f"{key} {call.args[key]}" for key in kept) or "nothing"
    return (
        f"This call failed before and fails again. Keep {keep}; pick another {free}. "
        f"Tried: {listed(sorted(tried))}. Left: {listed(left)}."
    )


def _repair(call: Call) -> tuple[tuple[str, ...], str]:
    result = call.result or {}
    if result.get("s2t_valid"):
        return ("start_region", "target_region"), "end_region"
    if result.get("t2e_valid"):
        return ("target_region", "end_region"), "start_region"
    return (), "target_region"


async def check(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Check the model's answer against the scene; accept it, send it back, or give up."""
    context = runtime.context
    scene = scene_of(context.scene)
    try:
        answer = read_json_object(message_text(said(state)[-1].content))
    except AnswerError as error:
        task, wrong = None, [Violation("not_json", str(error))]
    else:
        if context.compact:
            whole, update = errand_answer(answer, state, scene, context, max(2, context.tau))
            if whole is None:
                return update
            answer = whole
        task, wrong = read_phase_1(answer, scene, tau=context.tau)
        wrong += [] if wrong or task is None else _cannot_walk(_laid_out(task, scene))
    if task is not None and not wrong:
        return {"status": "ok", "reason": None, "result": _result(task, scene, state, context)}
    return sent_back(state, wrong, context)


def _laid_out(task: Phase1, scene: Scene) -> RelayTask:
    return RelayTask(
        scene=scene,
        start_region=task.start.robot_1,
        target_region=task.target.robot_1,
        object_name=task.object,
        end_region=task.end.robot_1,
        end_asset=end_asset_of(task) or "",
    )


def _cannot_walk(task: RelayTask) -> list[Violation]:
    # Regions may be linked and still have parts that the navigation graph does not connect.
    return [Violation("not_walkable", reason) for reason in task.broken[:1]]


def _result(task: Phase1, scene: Scene, state: State, context: Context) -> dict[str, Any]:
    start, target, end = task.start.robot_1, task.target.robot_1, task.end.robot_1
    placed = _laid_out(task, scene)
    calls = calls_made(said(state))
    asked = {"start_region": start, "target_region": target, "end_region": end}
    return {
        "phase_1": task.model_dump(mode="json", by_alias=True),
        "navloom": {
            "object_id": placed.object_item.id,
            "end_asset": placed.end_item.prompt_name,
            "end_asset_id": placed.end_item.id,
            "solo_metres": placed.solo_metres,
            "tau": context.tau,
            "legs": _legs(task, target),
            "tool_confirmed": any(c.args == asked and (c.result or {}).get("valid") for c in calls),
            "repairs": _repairs(calls),
            "violations_mended": state.get("violations", []),
            "turns": turns(said(state)),
            "tool_calls": len(calls),
            "prompt": load_prompt(prompt_name_of(context)).record,
        },
    }


def prompt_name_of(context: Context) -> str:
    """Which prompt a context asks with."""
    return "navcraft_single_choices" if context.compact else "navcraft_single"


def _legs(task: Phase1, target: str) -> list[int]:
    arrivals = [step.partition(" -> ")[2] for step in task.path.robot_1]
    first = arrivals.index(target) + 1
    return [first, len(arrivals) - first]


def _repairs(calls: list[Call]) -> dict[str, int]:
    """How often each branch of the paper's repair rule was due."""
    count = {"end": 0, "start": 0, "all": 0}
    for call in calls:
        if call.result is not None and call.result.get("valid") is False:
            _, free = _repair(call)
            count[{"end_region": "end", "start_region": "start"}.get(free, "all")] += 1
    return count


def build_graph(
    checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """Compile the graph.

    Args:
        checkpointer: where each step is kept; None keeps nothing.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("propose", propose, timeout=MODEL_SECONDS)
    builder.add_node("consult", consult)
    builder.add_node("check", check)
    builder.add_node("out_of_turns", out_of_turns)
    builder.add_edge(START, "propose")
    builder.add_conditional_edges("propose", after_propose)
    builder.add_conditional_edges("consult", go_on)
    builder.add_conditional_edges("check", go_on)
    builder.add_edge("out_of_turns", END)
    return builder.compile(checkpointer=checkpointer, name="navcraft_single")


graph = build_graph()
