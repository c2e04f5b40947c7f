"""NavCraft-S: an agent that crafts one long errand for one robot (CoNavBench 3.1.2, A.10).

The model proposes an object, a start and an end, calls ``check_two_path_and_adjacency``, follows
the paper's repair rule (keep what is valid, sample the rest again) and answers with ``phase_1``.
Every claim is then checked against the scene. Errors are sent back in plain sentences, a limited
number of times.

    START -> propose, consult, check (navloom.graphs.tool_loop) -> END

The tools of both agents are thin LangChain tools over pure functions. A factory closes over what
does not change in a run (scene, tau, task), so a model fills in names alone. With ``constrain`` the
argument schema enumerates the existing names, for backends that enforce a schema. A name outside
it still reaches the tool and is answered with near matches.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict

from navloom.graphs import tool_loop
from navloom.graphs.agent_graph import AgentGraph, Growing, PythonField
from navloom.graphs.navcraft.choices import ChoiceSettings, ChoiceState, prompt_suffix
from navloom.graphs.navcraft.errand_choices import errand_question, resolve_errand
from navloom.prompts.navcraft.profiles import Profile, load_profile
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.distances import cached_on_scene
from navloom.scenes.lexicon import item_names, scene_json
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.tools.model_output import Violation, list_names, name_field
from navloom.tools.navcraft import task_paths
from navloom.tools.navcraft.relay import COLLAB_TYPES, RelayChoice, check_collab_path_efficient
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_spec import RelaySpec, relay_advice
from navloom.tools.navcraft.relay_task import (
    HOLDS_NOTHING,
    RelayTask,
    can_hold,
    cannot_place_text,
    solo_task_quality,
)


class Input(TypedDict):
    """Input of NavCraft-S."""

    seed: int
    """Varies the model's choices; goes into the prompt."""


class State(Input, ChoiceState, total=False):
    """State of NavCraft-S; its result is ``{"phase_1": ..., "navloom": ...}``."""

    picked: Growing[list[str]]
    """With ``compact``: the object, the kind of room, the end asset, each as [name, region]."""
    weighed: Growing[list[str]]
    """With ``compact``: furniture, and whether the object goes there: [name, "yes" or "no"]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(ChoiceSettings):
    """Settings of NavCraft-S, fixed during a run."""

    profile: Annotated[Profile | str, PythonField("elderly")] | None = None
    """The user whom the errand is for: a profile, its name or file, or None."""


def ask(state: State, context: Context) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Render the prompt; return it with the schema of the answer or of the next choice."""
    scene, profile = get_scene(context.scene), context.profile
    profile = load_profile(profile) if isinstance(profile, str) else profile
    if context.compact:
        return errand_question(state, context, profile)
    rendered = load_prompt(select_prompt(context)).render(
        scene_graph=scene_json(scene),
        profile=json.dumps(profile and profile.model_dump(by_alias=True)),
        seed=state["seed"],
        min_hops=task_paths.min_hops(context.tau),
    )
    return rendered, task_paths.solo_task_schema(scene, constrain=context.constrain)


def tools(_: State, context: Context) -> Sequence[BaseTool]:
    """Return the tools that the model may call."""
    if context.tools == "none":
        return ()
    return path_tools(get_scene(context.scene), tau=context.tau, constrain=context.constrain)


def _failed(call: tool_loop.ToolCallResult) -> bool:
    # The tool over three regions returns "valid", the one over two returns "connect".
    result = call.result or {}
    return not result.get("valid", result.get("connect"))


def _advice(
    call: tool_loop.ToolCallResult, before: list[tool_loop.ToolCallResult], context: Context
) -> str:
    """Return advice on what was tried and is left, by the paper's repair rule (A.10.1, step 4)."""
    if call.result is None or "start_region" not in call.args:
        return "This call failed before. Call check_two_path_and_adjacency with three region ids."
    kept, free = _repair(call)
    tried = {
        str(c.args.get(free)) for c in before if all(c.args.get(k) == call.args[k] for k in kept)
    }
    used = tried | set(map(str, call.args.values()))
    left = [region.id for region in get_scene(context.scene).regions if region.id not in used]
    keep = " and ".join(f"{key} {call.args[key]}" for key in kept) or "nothing"
    return (
        f"This call failed before and fails again. Keep {keep}; pick another {free}. "
        f"Tried: {list_names(sorted(tried))}. Left: {list_names(left)}."
    )


def _repair(call: tool_loop.ToolCallResult) -> tuple[tuple[str, ...], str]:
    result = call.result or {}
    if result.get("s2t_valid"):
        return ("start_region", "target_region"), "end_region"
    if result.get("t2e_valid"):
        return ("target_region", "end_region"), "start_region"
    return (), "target_region"


def check(answer: dict[str, Any], state: State, context: Context) -> dict[str, Any]:
    """Check the model's answer against the scene; accept it, reject it, or ask further."""
    scene = get_scene(context.scene)
    if context.compact:
        whole, update = resolve_errand(answer, state, context)
        if whole is None:
            return update
        answer = whole
    task, wrong = task_paths.read_solo_task(answer, scene, tau=context.tau)
    if task is None or wrong:
        return tool_loop.rejection_update(state, wrong, context)
    if odd := _odd_end(task.errand, scene):
        return tool_loop.rejection_update(state, [odd], context)
    placed = RelayTask(scene, *task.errand)
    if placed.broken:
        # Linked regions may have parts that the navigation graph does not connect.
        fault = Violation("not_walkable", placed.broken[0].message)
        return tool_loop.rejection_update(state, [fault], context)
    return {"status": "ok", "reason": None, "result": _result(task, placed, state, context)}


def _odd_end(errand: task_paths.SoloTask, scene: Scene) -> Violation | None:
    """Return a violation where the end asset, such as a toilet, cannot hold the object."""
    if can_hold(errand.end_asset, errand.object):
        return None
    there = item_names(scene, errand.end, "asset")
    left = [name for name in there if can_hold(name, errand.object)]
    advice = (
        f"In {errand.end} choose one of: {list_names(left)}." if left else "Choose another end."
    )
    said = f"{cannot_place_text(errand.end_asset, errand.end, errand.object)} {advice}"
    return Violation(HOLDS_NOTHING, said)


def _result(
    task: task_paths.SoloTaskAnswer, placed: RelayTask, state: State, context: Context
) -> dict[str, Any]:
    start, target, _, end, _ = task.errand
    calls = tool_loop.executed_calls(tool_loop.messages_of(state))
    asked = {"start_region": start, "target_region": target, "end_region": end}
    return {
        "phase_1": task.model_dump(mode="json", by_alias=True),
        "navloom": {
            **errand_record(placed, context.tau),
            "legs": _legs(task, target),
            "tool_confirmed": any(c.args == asked and (c.result or {}).get("valid") for c in calls),
            "repairs": _repairs(calls),
            "violations_mended": state.get("violations", []),
            "turns": tool_loop.count_turns(tool_loop.messages_of(state)),
            "tool_calls": len(calls),
            "prompt": load_prompt(select_prompt(context)).record,
        },
    }


def errand_record(task: RelayTask, tau: int) -> dict[str, Any]:
    """Return the record of an errand beside its answer: instances, metres, quality."""
    obj, place = task.object_item.prompt_name, task.end_item.prompt_name
    errand = task_paths.SoloTask(task.start_region, task.target_region, obj, task.end_region, place)
    return {
        "object_id": task.object_item.id,
        "end_asset": task.end_item.prompt_name,
        "end_asset_id": task.end_item.id,
        "solo_metres": task.solo_metres,
        "worth": solo_task_quality(task.scene, errand),
        "tau": tau,
    }


def select_prompt(context: Context) -> str:
    """Return the name of the prompt that a context asks with."""
    return f"navcraft_single{prompt_suffix(context.compact, context.tools)}"


def _legs(task: task_paths.SoloTaskAnswer, target: str) -> list[int]:
    arrivals = [step.partition(" -> ")[2] for step in task.path.robot_1]
    first = arrivals.index(target) + 1
    return [first, len(arrivals) - first]


def _repairs(calls: list[tool_loop.ToolCallResult]) -> dict[str, int]:
    """Count how often each branch of the paper's repair rule applied."""
    count = {"end": 0, "start": 0, "all": 0}
    for call in calls:
        if call.result is not None and call.result.get("valid") is False:
            _, free = _repair(call)
            count[{"end_region": "end", "start_region": "start"}.get(free, "all")] += 1
    return count


builder = AgentGraph(State, Context, Input, "navcraft_single")
tool_loop.add_conversation(builder, tool_loop.Conversation(ask, tools, _failed, _advice, check))
builder.add_edge(START, "propose")
build_graph = builder.compile
"""Compiles the graph; takes the checkpointer for its steps, none by default."""


_PATH = """Say whether two regions are connected and adjacent, and give the shortest path.

Returns connect, adjacency, path_length (links crossed) and path (transitions "A_1 -> B_2")."""

_TWO_PATHS = """Validate the regions of a single-robot task: start, target and end.

Returns start_2_target and target_2_end (connect, adjacency, path_length, path), s2t_valid,
t2e_valid and valid. A leg is valid when it is connected and at least {least} links long."""

RELAY_TOOL = """Compare a relay of robot_1 and robot_2 with robot_1 doing the whole task alone.

Returns efficient, and r1_rate and g_rate: robot_1's walk and the time of both, as shares of
robot_1's own route (below 1 is a gain). An error says which rule is broken and what to change."""
"""The tool description of ``check_collab_path_efficient`` that a model reads."""


@cached_on_scene
def path_tools(scene: Scene, *, tau: int = 2, constrain: bool = True) -> list[BaseTool]:
    """Build ``check_path_and_adjacency`` and ``check_two_path_and_adjacency`` over one scene.

    Args:
        scene: the scene to search.
        tau: fewest hops of a leg.
        constrain: enumerate the region ids in the argument schema.
    """
    regions = [region.id for region in scene.regions] if constrain else None

    return [
        StructuredTool.from_function(
            lambda **asked: dict(task_paths.check_two_path_and_adjacency(scene, **asked, tau=tau)),
            name="check_two_path_and_adjacency",
            description=_TWO_PATHS.format(least=task_paths.min_hops(tau)),
            args_schema=_arguments(
                "two_paths",
                start_region=name_field("Region robot_1 starts in.", regions),
                target_region=name_field("Region that holds the object.", regions),
                end_region=name_field("Region the object is delivered to.", regions),
            ),
        ),
        StructuredTool.from_function(
            lambda **asked: dict(task_paths.check_path_and_adjacency(scene, **asked)),
            name="check_path_and_adjacency",
            description=_PATH,
            args_schema=_arguments(
                "one_path",
                region_a=name_field("Region to start from.", regions),
                region_b=name_field("Region to reach.", regions),
            ),
        ),
    ]


def relay_tools(
    task: RelayTask, *, strict: bool = False, constrain: bool = True, wish: RelaySpec | None = None
) -> list[BaseTool]:
    """Build ``check_collab_path_efficient`` over one single-robot task.

    Args:
        task: the task a relay would replace.
        strict: apply the stricter rule for the helper.
        wish: properties that an efficient relay must also have, or it is rejected.
        constrain: enumerate region ids and asset names in the argument schema.
    """
    regions = [region.id for region in task.scene.regions] if constrain else None
    names = [name for region, name in task.transfers] if constrain else []

    return [
        StructuredTool.from_function(
            lambda **asked: compare_relay(task, RelayChoice(**asked), strict=strict, wish=wish),
            name="check_collab_path_efficient",
            description=RELAY_TOOL,
            args_schema=_arguments(
                "relay",
                robot_2_start_region=name_field("Region robot_2 starts in.", regions),
                transfer_region=name_field("Region where the object is handed over.", regions),
                transfer_asset=name_field(
                    "Asset of that region to put it on.", [*dict.fromkeys(names)]
                ),
                collab_type=name_field(
                    "Type-A1: robot_2 fetches, robot_1 delivers. Type-A2: the other way round.",
                    list(COLLAB_TYPES),
                ),
            ),
        )
    ]


def compare_relay(
    task: RelayTask, relay: RelayChoice, *, strict: bool = False, wish: RelaySpec | None = None
) -> dict[str, Any]:
    """Return the result of ``check_collab_path_efficient``, checked against the wish as well."""
    found = check_collab_path_efficient(task, *relay, strict=strict)
    if wish is None or not found["efficient"]:
        return found
    why = wish.spec_violation(task, relay, found["r1_rate"], found["g_rate"])
    if why is None:
        return found
    said = f"{why} {relay_advice(all_relays(task, strict=strict), wish, relay)}"
    return {**found, "efficient": False, "error": said}


def _arguments(name: str, **fields: tuple[Any, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(name, **fields)  # type: ignore[call-overload]
    return model


graph = build_graph()
