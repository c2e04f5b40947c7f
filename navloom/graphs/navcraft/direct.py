"""A two-robot task made in one step, as CoNavBench tried before its two stages (A.13.1).

One answer holds errand and relay, by the keys and rules of version 1 or 2 of the paper's prompt. An
answer that breaks its prompt's rules is sent back with its violations, a limited number of times.
Answers are not repaired. Their validity by the rules of the two stages, the work of both robots and
their coordination are measured and recorded. No answer is sent back for the first two. Version 2
may use the two stages' tools.

    START -> propose, consult, check (navloom.graphs.tool_loop) -> END
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import START
from pydantic import create_model
from typing_extensions import TypedDict

from navloom.errors import UsageError
from navloom.graphs import tool_loop
from navloom.graphs.agent_graph import AgentGraph, ModelLike, SceneLike
from navloom.graphs.navcraft.single import RELAY_TOOL, path_tools
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.distances import cached_on_scene
from navloom.scenes.lexicon import item_names, scene_json
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.tools.model_output import Violation, list_names, name_field
from navloom.tools.navcraft.direct_plan import DirectPlan, Variant, direct_schema, read_direct_plan
from navloom.tools.navcraft.direct_quality import check_direct_relay, direct_record
from navloom.tools.navcraft.direct_rules import direct_violations
from navloom.tools.navcraft.relay import COLLAB_TYPES
from navloom.tools.navcraft.task_paths import min_hops


class Input(TypedDict):
    """Input of the one-step graph."""

    seed: int
    """Varies the model's choices; goes into the prompt."""


class State(Input, tool_loop.ToolLoopState, total=False):
    """State of the one-step graph.

    Its result is ``{"answer": ..., "navloom": ...}``: the last answer with the required keys and
    its measurements, also where it failed. Without such an answer there is no result.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(tool_loop.TurnLimits):
    """Settings of the one-step graph, fixed during a run."""

    compact: ClassVar[bool] = False
    """Small choices are not supported."""

    scene: SceneLike
    """The home, or its URI."""
    model: ModelLike = "builtin/heuristic"
    """The generator, or its ``provider/name``."""
    variant: Variant = "v1"
    """The version of the prompt in A.13.1."""
    tools: Literal["check", "none"] = "none"
    """With version 2: the tools of the two stages, or none as in the paper."""
    tau: int = 2
    """Hop threshold of 3.1.2, by which an answer's validity is measured."""
    constrain: bool = True
    """Enforce the answer's schema, where the model's backend can."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "v1" and self.tools == "check":
            raise UsageError("version 1 has no tools: ask for v2, or for no tools")


def ask(state: State, context: Context) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Render the prompt; return it with the answer's schema."""
    scene, variant = get_scene(context.scene), context.variant
    more: dict[str, Any] = {}
    if variant == "v2":
        more = {"tools": context.tools == "check", "min_hops": min_hops(context.tau)}
    rendered = load_prompt(select_prompt(context)).render(
        scene_graph=scene_json(scene), seed=state["seed"], **more
    )
    return rendered, direct_schema(scene, variant, constrain=context.constrain)


def select_prompt(context: Context) -> str:
    """Return the name of the prompt that a context asks with."""
    return f"navcraft_direct_{context.variant}"


def tools(_: State, context: Context) -> Sequence[BaseTool]:
    """Return the tools that the model may call."""
    if context.tools == "none":
        return ()
    return direct_tools(get_scene(context.scene), tau=context.tau, constrain=context.constrain)


def _failed(call: tool_loop.ToolCallResult) -> bool:
    result = call.result or {}
    return not result.get("efficient", result.get("valid"))


def _advice(
    call: tool_loop.ToolCallResult, before: list[tool_loop.ToolCallResult], context: Context
) -> str:
    def left(key: str) -> str:
        tried = {str(each.args.get(key)) for each in before}
        free = [r.id for r in get_scene(context.scene).regions if r.id not in tried]
        return f"{key} not tried: {list_names(free)}."

    why = (call.result or {}).get("error", "It gains nothing.")
    keys = [key for key in call.args if key.endswith("_region")]
    return f"This call failed before and fails again. {why} {' '.join(map(left, keys))}"


def check(answer: dict[str, Any], state: State, context: Context) -> dict[str, Any]:
    """Check an answer by its prompt's rules; record its measurements in any case."""
    scene = get_scene(context.scene)
    plan, wrong = read_direct_plan(answer, scene, context.variant)
    if plan is None:
        return tool_loop.rejection_update(state, wrong, context)
    wrong = direct_violations(plan, scene, context.variant)
    result = _result(answer, plan, wrong, state, context)
    if not wrong:
        return {"status": "ok", "reason": None, "result": result}
    return {**tool_loop.rejection_update(state, wrong, context), "result": result}


def _result(
    answer: dict[str, Any],
    plan: DirectPlan,
    wrong: Sequence[Violation],
    state: State,
    context: Context,
) -> dict[str, Any]:
    spoken = tool_loop.messages_of(state)
    return {
        "answer": answer,
        "navloom": {
            "variant": context.variant,
            "tools": context.tools,
            "tau": context.tau,
            **direct_record(plan, get_scene(context.scene), tau=context.tau),
            "broken": [*dict.fromkeys(each.code for each in wrong)],
            "violations_mended": state.get("violations", []),
            "turns": tool_loop.count_turns(spoken),
            "tool_calls": len(tool_loop.executed_calls(spoken)),
            "prompt": load_prompt(select_prompt(context)).record,
        },
    }


builder = AgentGraph(State, Context, Input, "navcraft_direct")
tool_loop.add_conversation(builder, tool_loop.Conversation(ask, tools, _failed, _advice, check))
builder.add_edge(START, "propose")
build_graph = builder.compile
"""Compiles the graph; takes the checkpointer for its steps, none by default."""


@cached_on_scene
def direct_tools(scene: Scene, *, tau: int = 2, constrain: bool = True) -> list[BaseTool]:
    """Build the two stages' tools for one answer; the relay's tool also takes the errand's names.

    Args:
        scene: the scene to look in.
        tau: fewest hops of a leg.
        constrain: enumerate names in the argument schema.
    """
    regions = [region.id for region in scene.regions]
    names = {
        kind: sorted({name for region in regions for name in item_names(scene, region, kind)})
        for kind in ("object", "asset")
    }

    def held(words: str, known: Sequence[str]) -> tuple[Any, Any]:
        return name_field(words, known if constrain else None)

    arguments: Any = create_model(
        "direct_relay",
        start_region=held("Region robot_1 starts in.", regions),
        target_region=held("Region that holds the object.", regions),
        object=held("The object.", names["object"]),
        end_region=held("Region the object is delivered to.", regions),
        end_asset=held("Asset of that region to put it on.", names["asset"]),
        robot_2_start_region=held("Region robot_2 starts in.", regions),
        transfer_region=held("Region where the object is handed over.", regions),
        transfer_asset=held("Asset of that region to hand it over on.", names["asset"]),
        collab_type=held("Type-A2: robot_1 fetches, robot_2 delivers.", list(COLLAB_TYPES)),
    )
    two_paths = path_tools(scene, tau=tau, constrain=constrain)[0]
    relay = StructuredTool.from_function(
        lambda **asked: check_direct_relay(scene, asked),
        name="check_collab_path_efficient",
        description=RELAY_TOOL,
        args_schema=arguments,
    )
    return [two_paths, relay]


graph = build_graph()
