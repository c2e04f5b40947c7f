"""Nodes of the navigator that call other graphs: the oracle, and pointing at the end.

``consult``, ``ask`` and ``point`` are nodes of the navigator's own graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from navloom.errors import SimulatorError
from navloom.graphs.invocation import as_node
from navloom.graphs.navigation import oracle, pointing
from navloom.graphs.navigation.context import Context
from navloom.graphs.navigation.prompt_text import get_observation, render_prompt, shortest_hint
from navloom.models.structured_output import sees_images
from navloom.scenes.scene import Scene
from navloom.sim.agent_handle import AgentHandle, get_agent_handle
from navloom.tools.navigation.disclosures import disclosed_kinds
from navloom.tools.navigation.oracle_triggers import detect_struggle, is_early_stop
from navloom.tools.navigation.step_records import NavStep, OracleAnswer, OracleGuidance


def find_trigger(
    state: Mapping[str, Any], context: Context, scene: Scene, *, stopping: bool = False
) -> str | None:
    """Return why the assistant should speak now, once per place and within its budget, or None.

    Args:
        state: the navigator's.
        context: its settings.
        scene: the scene it walks in.
        stopping: whether it has just chosen to stop; then only an early stop counts.
    """
    said, at = state["guidance"], len(state["trajectory"]) - 1
    if context.oracle != "assistant" or len(said) >= context.oracle_budget:
        return None
    since = said[-1]["at"] if said else 0
    if said and since == at:
        return None
    walked = [str(pose[0]) for pose in state["trajectory"]]
    # If arrival must stay secret, speaking at a stop or near the goal would give it away.
    watched = stopping or not context.oracle_arrival
    near = watched and not is_early_stop(scene, walked[-1], state["goals"])
    if near or (stopping and not context.oracle_arrival):
        return None
    if stopping:
        return "early_stop"
    return detect_struggle(scene, walked, state["goals"], state["path"], since=since)


def step_images(
    state: Mapping[str, Any], context: Context, walker: AgentHandle
) -> tuple[bytes, ...]:
    """Return the images of this step: the stored ones, or new renderings."""
    if context.media is not None:
        with suppress(SimulatorError):
            return tuple(context.media.get(name) for name in state["draft"]["media"])
    return walker.pictures(state)


def _context(state: Any, runtime: Runtime[Context]) -> oracle.Context:
    """Build the oracle's context from a navigator's."""
    context, walker = runtime.context, get_agent_handle(runtime)
    return oracle.Context(
        scene=walker.scene,
        model=context.oracle_model or context.model,
        simulator=walker.simulator,
        knows=context.oracle_knows,
        arrival=context.oracle_arrival,
        pictures=_for_oracle(state, context, walker),
    )


def _for_oracle(
    state: Mapping[str, Any], context: Context, walker: AgentHandle
) -> tuple[bytes, ...]:
    """Return the navigator's images, if the oracle's model takes images too."""
    other = context.oracle_model
    return step_images(state, context, walker) if other is None or sees_images(other) else ()


def _read_here(state: Mapping[str, Any], runtime: Runtime[Context]) -> str:
    """Return the navigator's prompt of this step, as the oracle may read it.

    The oracle's earlier answers and guidance, and the answer format at the end, are left out.
    """
    context, walker = runtime.context, get_agent_handle(runtime)
    rendered = render_prompt(
        {**state, "guidance": [], "dialogue": []},
        replace(context, dialogue=False, oracle="off", failures=()),
        get_observation(walker, state, context),
        NavStep(**state["draft"]).options,
        can_ask=False,
        shortest=None,
        showing=len(_for_oracle(state, context, walker)),
    )
    return rendered.human.rpartition("\n\n")[0]


def _input(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    *,
    question: str | None = None,
    trigger: str | None = None,
) -> oracle.Input:
    """Build the oracle's input from the navigator's state."""
    return {
        "seed": state["seed"],
        "instruction": state["instruction"],
        "question": question,
        "trigger": trigger,
        "trajectory": [state["pose"]["viewpoint"]],
        "heading": state["pose"]["heading"],
        "goals": state["goals"],
        "path": state["path"],
        "history": sorted([*state["guidance"], *state["dialogue"]], key=lambda said: said["step"]),
        "seen": _read_here(state, runtime),
        "options": state["draft"]["options"],
    }


def _said(answered: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the navigator's record of an oracle's outcome; ``at`` is the number of hops so far."""
    at, result = len(state["trajectory"]) - 1, answered["result"]
    kept = {key: result[key] for key in ("trigger", "question", "answer", "leaked", "told")}
    return {"step": state["draft"]["step"], "at": at, **kept}


def _consulted(answered: dict[str, Any], state: Any) -> dict[str, Any]:
    """Return the update after unasked guidance; a stop that triggered it is taken back."""
    said, draft = _said(answered, state), NavStep(**state["draft"])
    if draft.action.kind == "stop":
        draft = draft.revoke_choice()
    draft = draft.copy_with(oracle=OracleGuidance.read(said))
    update = {"guidance": [said], "draft": draft.record(), "usage": answered["usage"]}
    return {**update, "messages": Overwrite([])}


consult = as_node(
    oracle.graph,
    context=_context,
    input=lambda state, runtime: _input(state, runtime, trigger=state["trigger"]),
    output=_consulted,
)
"""The node in which the oracle speaks unasked."""


def _asked(answered: dict[str, Any], state: Any) -> dict[str, Any]:
    """Return the update after an answer of the oracle; the navigator stays where it is."""
    draft, said = NavStep(**state["draft"]), _said(answered, state)
    question = draft.action.question
    asked = OracleAnswer.read({**said, "question": question})
    record = draft.copy_with(asked=asked).record()
    return {"dialogue": [{**said, **asked.record()}], "steps": [record], "usage": answered["usage"]}


ask = as_node(
    oracle.graph,
    context=_context,
    input=lambda state, runtime: _input(
        state, runtime, question=state["draft"]["action"]["question"]
    ),
    output=_asked,
)
"""The node that puts the navigator's question to the oracle."""


def bound_guidance(
    state: Mapping[str, Any], step: NavStep, context: Context, walker: AgentHandle
) -> OracleGuidance | None:
    """Return the upper bound's guidance: the option on the shortest path, or to stop."""
    way = walker.simulator.geodesic(step.viewpoint or "", state["goals"], context.embodiment)
    words = shortest_hint(way, step.options)
    if words is None:
        return None
    told = disclosed_kinds(words, step.options, walker.scene)
    return OracleGuidance(trigger="bound", answer=words, told=told)


def _to_point(state: Any, runtime: Runtime[Context]) -> pointing.Input | None:
    """Return the pointing graph's input where the navigator stopped; None where nothing is seen."""
    context, walker = runtime.context, get_agent_handle(runtime)
    here, captions = state["pose"], walker.look(state).captions
    things = (context.things or {}).get(here["viewpoint"])
    if not things:
        return None
    return {
        "seed": state["seed"],
        "instruction": state["instruction"],
        "summary": captions.summary if captions else "",
        "heading": here["heading"],
        "things": [*things],
        "told": state.get("target") if context.oracle == "bound" else None,
    }


point = as_node(
    pointing.graph,
    context=lambda _, runtime: pointing.Context(
        model=runtime.context.model, max_reasks=runtime.context.max_reasks
    ),
    input=_to_point,
    output=lambda answered, _: {"pointed": answered["result"], "usage": answered["usage"]},
)
"""The node that asks which object the instruction means."""
