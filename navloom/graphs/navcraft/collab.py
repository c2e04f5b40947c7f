"""NavCraft-C: an agent that lifts an errand to a relay of two robots (CoNavBench 3.1.3, A.11).

Given no errand, the graph first crafts one with NavCraft-S. It then looks, exactly, whether any
relay could spare robot_1 a step: "not worth it" is a finding, not a failure. Otherwise the model
proposes helper start, transfer asset and type, asks ``check_collab_path_efficient``, and answers
with ``phase_2``; the answer must be the relay the tool confirmed, told in the exact templates.

    START -> errand -> survey -> propose <---------------+--------------+
       |       |         |          |                    |              |
       |   (failed)  (not worth it) +-- calls tools --> consult         |
       |       +-> END <-+          |                    +- stuck -> END|
       +- given phase_1 -> survey   +-- answers ------> check ----------+ (mend)
                                    |                    +- ok / given up -> END
                                    +-- out of turns -> END
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import add
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from navloom.errors import UsageError
from navloom.graphs.ask import MODEL_SECONDS, opening
from navloom.graphs.navcraft import single as navcraft_single
from navloom.graphs.navcraft.choices import relay_choice, relay_question, scene_json
from navloom.graphs.turns import (
    Call,
    after_propose,
    calls_made,
    given_up,
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
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Scene, prompt_name
from navloom.scenes.uri import scene_of
from navloom.tools.navcraft.errand import Phase1, end_asset_of, read_phase_1
from navloom.tools.navcraft.relay import RelayTask
from navloom.tools.navcraft.relay_answer import (
    Errand,
    Phase2,
    RelayChoice,
    phase_2_of,
    phase_2_schema,
    read_phase_2,
)
from navloom.tools.navcraft.relay_record import is_worth_it, relay_record
from navloom.tools.navcraft.tools import relay_tools
from navloom.tools.violations import Violation, listed

__all__ = ["Context", "State", "build_graph", "graph"]

NOT_WORTH_IT = "not worth it"
RELAY = "relay"
TASKS_KEPT = 16


class Input(TypedDict):
    """What a caller gives."""

    seed: int
    """Varies the model's choices; goes into the prompts."""
    phase_1: dict[str, Any] | None
    """The errand, with the keys of A.10.1; None lets the graph craft one."""


class State(Input, total=False):
    """What a run remembers: ids and text, never a scene."""

    errand_messages: Annotated[list[AnyMessage], add_messages]
    """The conversation that crafted the errand, where there was one."""
    errand: dict[str, Any]
    """What is recorded of the errand: the ``navloom`` part of NavCraft-S."""
    messages: Annotated[list[AnyMessage], add_messages]
    """The conversation about the relay, after the opening."""
    violations: Annotated[list[str], add]
    """Codes of the violations told back so far."""
    refused: Annotated[list[str], add]
    """With ``compact``: names that were sent back."""
    repairs: Annotated[int, add]
    """How many times an answer was sent back."""
    status: Literal["ok", "failed"]
    """How the attempt ended."""
    reason: str | None
    """Where it failed: the code to count it under; ``phase_1:CODE`` where the errand failed."""
    message: str | None
    """Where it failed: one line for a person."""
    result: dict[str, Any]
    """``{"phase_1", "phase_2", "verdict", "navloom"}``; without phase_2 where only phase 1 held."""


@dataclass(frozen=True, kw_only=True)
class Context(navcraft_single.Context):
    """What does not change during a run: NavCraft-S's context and the relay's rules."""

    strict_helper: bool = False
    """The text's stricter guard: the helper starts next to neither target nor transfer region."""


async def errand(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Craft the errand with NavCraft-S, on the same context."""
    made = await navcraft_single.graph.ainvoke({"seed": state["seed"]}, context=runtime.context)
    spoken = {"errand_messages": made["messages"]}
    if made["status"] == "failed":
        return {**spoken, **given_up(f"phase_1:{made['reason']}", made["message"])}
    return {**spoken, "phase_1": made["result"]["phase_1"], "errand": made["result"]["navloom"]}


async def survey(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Look, over every relay there is, whether one could spare robot_1 a step."""
    context = runtime.context
    task = _task(state, context)
    if is_worth_it(task, strict=context.strict_helper):
        return {"result": {"phase_1": state["phase_1"], "navloom": _errand_record(state, context)}}
    return _not_worth_it(state, context, by="survey")


def _not_worth_it(state: State, context: Context, *, by: str) -> dict[str, Any]:
    record = {**_errand_record(state, context), "decided_by": by}
    if by == "model":
        record |= relay_record(_task(state, context), None, strict=context.strict_helper)
    return {
        "status": "ok",
        "reason": None,
        "result": {
            "phase_1": state["phase_1"],
            "phase_2": None,
            "verdict": NOT_WORTH_IT,
            "navloom": record,
        },
    }


def _errand_record(state: State, context: Context) -> dict[str, Any]:
    if "errand" in state:
        return dict(state["errand"])
    task = _task(state, context)
    return {
        "object_id": task.object_item.id,
        "end_asset": _errand(state, context).end_asset,
        "end_asset_id": task.end_item.id,
        "solo_metres": task.solo_metres,
        "tau": context.tau,
    }


def _errand(state: State, context: Context) -> Errand:
    """The errand's names; one that breaks the rules of A.10.1 is a caller's mistake."""
    given = state["phase_1"]
    task, wrong = read_phase_1({"phase_1": given}, scene_of(context.scene), tau=context.tau)
    if task is None or wrong:
        raise UsageError(f"phase_1 is not a valid single-robot task: {wrong[0].message}")
    return Errand(*_names(task))


def _names(task: Phase1) -> tuple[str, str, str, str, str]:
    asset = end_asset_of(task) or ""
    return task.start.robot_1, task.target.robot_1, task.object, task.end.robot_1, asset


def _task(state: State, context: Context) -> RelayTask:
    scene = scene_of(context.scene)
    # A few per scene are kept: the steps of one sample share a task, and memory stays flat.
    tasks = per_scene(scene, "relay_tasks", lambda: lru_cache(TASKS_KEPT)(partial(_lay_out, scene)))
    return tasks(_errand(state, context))


def _lay_out(scene: Scene, names: Errand) -> RelayTask:
    return RelayTask(
        scene=scene,
        start_region=names.start,
        target_region=names.target,
        object_name=names.object,
        end_region=names.end,
        end_asset=names.end_asset,
    )


async def propose(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Let the model speak: call tools, or answer."""
    context = runtime.context
    scene = scene_of(context.scene)
    if context.compact:
        task, names, strict = _task(state, context), _errand(state, context), context.strict_helper
        rendered, schema = relay_question(state, task, names, context, strict=strict)
    else:
        rendered, schema = _prompt(scene, state, context), _schema(scene, context.constrain)
    bound = bind(
        model_of(context.model),
        tools=[] if context.compact else _tools(state, context),
        schema=schema,
        constrain=context.constrain,
    )
    reply = await acall(bound, [*opening(rendered), *said(state)])
    return {"messages": [reply]}


def _schema(scene: Scene, constrain: bool) -> dict[str, Any]:
    return per_scene(
        scene, f"phase_2_schema_{constrain}", lambda: phase_2_schema(scene, constrain=constrain)
    )


def _tools(state: State, context: Context) -> list[BaseTool]:
    scene = scene_of(context.scene)
    # To describe a tool costs more than to call it a hundred times.
    kept = per_scene(scene, "relay_tools", lambda: lru_cache(TASKS_KEPT)(relay_tools))
    return kept(_task(state, context), strict=context.strict_helper, constrain=context.constrain)


def _prompt(scene: Scene, state: State, context: Context) -> Rendered:
    return load_prompt("navcraft_collab").render(
        scene_graph=scene_json(scene),
        phase_1=json.dumps({"phase_1": state["phase_1"]}),
        seed=state["seed"],
        strict_helper=context.strict_helper,
    )


def _failed(call: Call) -> bool:
    return call.result is None or not call.result.get("efficient")


async def consult(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer the model's tool calls from the scene graph."""
    context = runtime.context
    scene = scene_of(context.scene)
    return await tool_turn(
        said(state),
        _tools(state, context),
        failed=_failed,
        advise=lambda call, before: _advice(call, before, scene),
    )


def _advice(call: Call, before: list[Call], scene: Scene) -> str:
    def part(key: str) -> str:
        tried = {str(c.args.get(key)) for c in before if c.args.get(key)}
        left = [region.id for region in scene.regions if region.id not in tried]
        return f"{key} tried: {listed(sorted(tried))}; left: {listed(left)}."

    why = (call.result or {}).get("error", "It does not shorten robot_1's way.")
    return (
        f"This call failed before and fails again. {why} "
        f"{part('robot_2_start_region')} {part('transfer_region')}"
    )


def confirmed_relay(messages: list[AnyMessage]) -> RelayChoice | None:
    """The relay that the tool found efficient last."""
    good = [call for call in calls_made(messages) if not _failed(call)]
    if not good:
        return None
    choice = RelayChoice(**{key: str(good[-1].args[key]) for key in RelayChoice._fields})
    return choice._replace(transfer_asset=prompt_name(choice.transfer_asset))


async def check(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Check the model's answer; accept it, send it back, or give up."""
    context = runtime.context
    confirmed = confirmed_relay(said(state))
    names = _errand(state, context)
    try:
        answer = read_json_object(message_text(said(state)[-1].content))
    except AnswerError as error:
        return sent_back(state, [Violation("not_json", str(error))], context)
    if "phase_2" in answer and answer["phase_2"] is None and confirmed is None:
        return _not_worth_it(state, context, by="model")
    if context.compact:
        task, strict = _task(state, context), context.strict_helper
        confirmed, update = relay_choice(answer, state, task, context, strict=strict)
        if confirmed is None:
            return update
        answer = {"phase_2": phase_2_of(names, confirmed).model_dump(mode="json", by_alias=True)}
    plan, wrong = read_phase_2(answer, scene_of(context.scene), names, confirmed)
    if plan is not None and confirmed is not None and not wrong:
        return {"status": "ok", "reason": None, "result": _result(plan, confirmed, state, context)}
    return sent_back(state, wrong, context)


def prompt_name_of(context: Context) -> str:
    """Which prompt a context asks for a relay with."""
    return "navcraft_collab_choices" if context.compact else "navcraft_collab"


def _result(plan: Phase2, relay: RelayChoice, state: State, context: Context) -> dict[str, Any]:
    spoken = [*state.get("errand_messages", []), *said(state)]
    record = {
        **_errand_record(state, context),
        **relay_record(_task(state, context), relay, strict=context.strict_helper),
        "strict_helper": context.strict_helper,
        "relay_violations_mended": state.get("violations", []),
        "turns": turns(spoken),
        "tool_calls": len(calls_made(spoken)),
        "prompt_collab": load_prompt(prompt_name_of(context)).record,
    }
    return {
        "phase_1": state["phase_1"],
        "phase_2": plan.model_dump(mode="json", by_alias=True),
        "verdict": RELAY,
        "navloom": record,
    }


def begin(state: State) -> Literal["errand", "survey"]:
    """An errand that was given is not crafted again."""
    return "survey" if state.get("phase_1") else "errand"


def after_errand(state: State) -> Literal["survey", "__end__"]:
    """Without an errand there is no relay."""
    return "__end__" if state.get("status") else "survey"


def after_survey(state: State) -> Literal["propose", "__end__"]:
    """Where no relay helps there is nothing to ask a model."""
    return "__end__" if state.get("status") else "propose"


def build_graph(
    checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
) -> CompiledStateGraph[State, Context, Input, State]:
    """Compile the graph.

    Args:
        checkpointer: where each step is kept, the errand's included; None keeps nothing.
    """
    builder = StateGraph(State, context_schema=Context, input_schema=Input)
    builder.add_node("errand", errand)
    builder.add_node("survey", survey)
    builder.add_node("propose", propose, timeout=MODEL_SECONDS)
    builder.add_node("consult", consult)
    builder.add_node("check", check)
    builder.add_node("out_of_turns", out_of_turns)
    builder.add_conditional_edges(START, begin)
    builder.add_conditional_edges("errand", after_errand)
    builder.add_conditional_edges("survey", after_survey)
    builder.add_conditional_edges("propose", after_propose)
    builder.add_conditional_edges("consult", go_on)
    builder.add_conditional_edges("check", go_on)
    builder.add_edge("out_of_turns", END)
    return builder.compile(checkpointer=checkpointer, name="navcraft_collab")


graph = build_graph()
