"""NavCraft-C: an agent that lifts an errand to a relay of two robots (CoNavBench 3.1.3, A.11).

Given no errand, the graph first crafts one with NavCraft-S. It then looks, exactly, whether any
relay could spare robot_1 a step: "not worth it" is a finding, not a failure. Otherwise the model
proposes helper start, transfer asset and type, asks ``check_collab_path_efficient``, and answers
with ``phase_2``; the answer must be the relay the tool confirmed, told in the exact templates.

    START -> errand -> survey -> propose, consult, check (navloom.graphs.turns) -> END
       |       |         |
       |   (failed)  (not worth it)
       |       +-> END <-+
       +- given phase_1 -> survey

``errand`` is NavCraft-S itself, a graph within this one.

The efficiency library in the relay's conversation: its tools, their words, what was asked of it.

An arm of its own beside the paper's one tool (``Context.tools``): the prompt stays, word for word,
and says after it what else may be called (CoNavBench 3.1).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from langgraph.graph import START
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from navloom.errors import SimulatorError, UsageError
from navloom.graphs.agent import AgentGraph
from navloom.graphs.calling import as_node
from navloom.graphs.navcraft import single as navcraft_single
from navloom.graphs.navcraft.choices import Choices, prompt_suffix
from navloom.graphs.navcraft.relay_choices import Offer, chosen_relay, relay_question
from navloom.graphs.navcraft.single import compared_relay, relay_tools
from navloom.graphs.turns import (
    Conversation,
    TurnCall,
    add_conversation,
    calls_made,
    given_up,
    said,
    sent_back,
    turns,
)
from navloom.plugins import plugin
from navloom.prompts.load import Rendered, load_prompt
from navloom.scenes.bodies import Embodiment, body_of
from navloom.scenes.distances import per_scene
from navloom.scenes.prompt import scene_json
from navloom.scenes.scene import prompt_name
from navloom.scenes.uri import scene_of
from navloom.sim.registry import get_simulator
from navloom.tools.forms import Violation, listed, read_form
from navloom.tools.navcraft.errand import Errand, read_errand
from navloom.tools.navcraft.optimum import Relays, all_relays, relay_record
from navloom.tools.navcraft.relay import (
    UNNAMED,
    RelayAnswer,
    RelayChoice,
    RobotName,
    check_collab_path_efficient,
    read_relay,
    relay_answer,
    relay_answer_schema,
)
from navloom.tools.navcraft.task import RelayTask
from navloom.tools.navcraft.wish import Asked, Types, Wish, drawn, settled

LIBRARY = ("recommend", "reach", "travel_time", "rendezvous", "interference", "revise_route")
"""The efficiency library's tools by name, which ``navloom-worlds`` has."""
_PROMPT = "navcraft_collab_library"
_KEPT = 16


def with_library(rendered: Rendered) -> Rendered:
    """The relay's prompt with what the library can be asked."""
    return load_prompt(_PROMPT).render(rules=rendered.system, question=rendered.human)


def asked_library(
    task: RelayTask, bodies: Sequence[Embodiment], **given: Any
) -> Sequence[BaseTool]:
    """The library's tools over one task, made once.

    Args:
        task: the single-robot task.
        bodies: robot_1's and robot_2's; none where relays are not driven.
        given: what :func:`navloom_worlds.teams.library.library_tools` takes besides.
    """
    kept = per_scene(
        task.scene,
        "library_tools",
        lambda: lru_cache(_KEPT)(plugin("navloom.tools", "library", "--tools library", UsageError)),
    )
    made: Sequence[BaseTool] = kept(task, bodies=tuple(bodies) or (None, None), **given)
    return made


def library_record(messages: Sequence[AnyMessage]) -> dict[str, Any]:
    """How often each tool of the library was called, and the prompt that told of it."""
    asked = Counter(call.name for call in calls_made(messages) if call.name in LIBRARY)
    return {
        "library_calls": dict(sorted(asked.items())),
        "prompt_library": load_prompt(_PROMPT).record,
    }


NOT_WORTH_IT = "not worth it"
NOT_DRIVEN = "not_driven"
RELAY = "relay"
TASKS_KEPT = 16
_NO_SHORTER = "It does not shorten robot_1's way."


class Input(TypedDict):
    """What a caller gives."""

    seed: int
    """Varies the model's choices; goes into the prompts."""
    phase_1: NotRequired[dict[str, Any] | None]
    """The errand, with the keys of A.10.1; None, or none, lets the graph craft one."""
    wish: NotRequired[Asked | None]
    """What the relay should be beside being valid; None, or none: as the seed draws it."""


class State(Input, Choices, total=False):
    """What a run remembers.

    Its result is ``{"phase_1", "phase_2", "verdict", "navloom"}``, without ``phase_2`` where only
    phase 1 held; its reason is ``phase_1:CODE`` where the errand failed.
    """

    errand: dict[str, Any]
    """What is recorded of the errand: the ``navloom`` part of NavCraft-S."""
    asked: Asked
    """What is asked of the relay: the wish, or the nearest to it that a relay of the errand is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(navcraft_single.Context):
    """What does not change during a run: NavCraft-S's context and the relay's rules."""

    strict_helper: bool = False
    """The text's stricter guard: the helper starts next to neither target nor transfer region."""
    types: Types = "balanced"
    """Which types are asked for: both as often, whichever, or one."""
    faster: bool = False
    """Only relays that are done before robot_1 alone would be."""
    min_gain: float = 0.0
    """Only relays that spare robot_1 so much of its way, 1 - alpha."""
    verify_sim: bool = False
    """Drive each accepted relay with two bodies (CoNavBench 4.1), as ``navloom-worlds`` can."""
    robot_1: str = "FETCH"
    """Robot_1's body, by name or as ``FILE.json#NAME``."""
    robot_2: str = "SPOT"
    """Robot_2's body."""
    drop_undriven: bool = False
    """Whether a relay that could not be driven fails, as ``not_driven``."""


def _crafted(made: dict[str, Any], _: State) -> dict[str, Any]:
    """The update that NavCraft-S makes."""
    if made["status"] == "failed":
        ended = given_up(f"phase_1:{made['reason']}", made["message"])
        return {"paid": made["paid"], **ended}
    phase_1, record = made["result"]["phase_1"], made["result"]["navloom"]
    return {"paid": made["paid"], "phase_1": phase_1, "errand": record}


def survey(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Look, over every relay there is, whether one spares robot_1 a step, and what can be asked."""
    context = runtime.context
    wish = settled(
        _relays(state, context),
        _wish(state),
        types=context.types,
        faster=context.faster,
        min_gain=context.min_gain,
    )
    if wish is None:
        return _not_worth_it(state, context, by="survey")
    kept = {"phase_1": state["phase_1"], "navloom": _errand_record(state, context)}
    return {"asked": wish.record(), "result": kept}


def _wish(state: State) -> Wish:
    given = state.get("wish")
    return drawn(state["seed"]) if given is None else Wish(**given)


def _relays(state: State, context: Context) -> Relays:
    return all_relays(_task(state, context), strict=context.strict_helper)


def _offer(state: State, context: Context) -> Offer:
    return Offer(_relays(state, context), Wish(**state["asked"]), context, state["seed"])


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
    return navcraft_single.errand_record(_task(state, context), context.tau)


def _errand(state: State, context: Context) -> Errand:
    """The errand's names; one that breaks the rules of A.10.1 is a caller's mistake."""
    given = state["phase_1"]
    task, wrong = read_errand({"phase_1": given}, scene_of(context.scene), tau=context.tau)
    if task is None or wrong:
        raise UsageError(f"phase_1 is not a valid single-robot task: {wrong[0].message}")
    return task.errand


def _task(state: State, context: Context) -> RelayTask:
    scene = scene_of(context.scene)
    # A few per scene are kept: the steps of one sample share a task, and memory stays flat.
    tasks = per_scene(
        scene, "relay_tasks", lambda: lru_cache(TASKS_KEPT)(partial(RelayTask, scene))
    )
    return tasks(*_errand(state, context))


def ask(state: State, context: Context) -> tuple[Rendered, dict[str, Any]]:
    """The prompt, and the schema of the answer or of the choices."""
    scene, constrain, strict = scene_of(context.scene), context.constrain, context.strict_helper
    if context.compact:
        return relay_question(state, _offer(state, context), _errand(state, context))
    rendered = load_prompt(prompt_name_of(context)).render(
        scene_graph=scene_json(scene),
        phase_1=json.dumps({"phase_1": state["phase_1"]}),
        seed=state["seed"],
        strict_helper=strict,
        asked=Wish(**state["asked"]).told(_task(state, context)),
    )
    schema = per_scene(
        scene,
        f"phase_2_schema_{constrain}",
        lambda: relay_answer_schema(scene, constrain=constrain),
    )
    return with_library(rendered) if context.tools == "library" else rendered, schema


def tools(state: State, context: Context) -> Sequence[BaseTool]:
    """What the model may call."""
    if context.tools == "none":
        return ()
    # To describe a tool costs more than to call it a hundred times.
    kept = per_scene(
        scene_of(context.scene), "relay_tools", lambda: lru_cache(TASKS_KEPT)(relay_tools)
    )
    task, wish = _task(state, context), Wish(**state["asked"])
    given = {"strict": context.strict_helper, "constrain": context.constrain, "wish": wish}
    made = kept(task, **given)
    if context.tools == "library":
        bodies = [body_of(each) for each in (context.robot_1, context.robot_2)]
        return [*made, *asked_library(task, bodies if context.verify_sim else (), **given)]
    return made


def _failed(call: TurnCall) -> bool:
    if call.result is not None and call.name in LIBRARY:
        return "error" in call.result
    return call.result is None or not call.result.get("efficient")


def _advice(call: TurnCall, before: list[TurnCall], context: Context) -> str:
    def part(key: str) -> str:
        tried = {str(c.args.get(key)) for c in before if c.args.get(key)}
        left = [region.id for region in scene_of(context.scene).regions if region.id not in tried]
        return f"{key} tried: {listed(sorted(tried))}; left: {listed(left)}."

    why = (call.result or {}).get("error", _NO_SHORTER)
    if call.name in LIBRARY:
        return f"This call failed before and fails again. {why}"
    return (
        f"This call failed before and fails again. {why} "
        f"{part('robot_2_start_region')} {part('transfer_region')}"
    )


def confirmed_relay(messages: list[AnyMessage]) -> RelayChoice | None:
    """The relay that the tool found efficient last."""
    made = (call for call in calls_made(messages) if call.name not in LIBRARY)
    good = [call for call in made if not _failed(call)]
    if not good:
        return None
    choice = RelayChoice(**{key: str(good[-1].args[key]) for key in RelayChoice._fields})
    return choice._replace(transfer_asset=prompt_name(choice.transfer_asset))


def check(answer: dict[str, Any], state: State, context: Context) -> dict[str, Any]:
    """Check the model's answer; accept it, send it back, or give up."""
    confirmed, errand = confirmed_relay(said(state)), _errand(state, context)
    if "phase_2" in answer and answer["phase_2"] is None and confirmed is None:
        return _not_worth_it(state, context, by="model")
    if context.compact:
        offer, strict = _offer(state, context), context.strict_helper
        confirmed, update = chosen_relay(answer, state, offer, strict=strict)
        if confirmed is None:
            return update
        answer = relay_answer(errand, confirmed)
    elif context.tools == "none":
        confirmed, refused = _held(answer, state, context)
        if refused:
            return sent_back(state, refused, context)
    plan, wrong = read_relay(answer, scene_of(context.scene), errand, confirmed)
    if plan is not None and confirmed is not None and not wrong:
        result = _result(plan, confirmed, state, context)
        if not context.verify_sim:
            return {"status": "ok", "reason": None, "result": result}
        driven = _driven(confirmed, state, context)
        result["navloom"]["driven"] = driven
        if driven["done"] or not context.drop_undriven:
            return {"status": "ok", "reason": None, "result": result}
        return {
            **given_up(NOT_DRIVEN, f"The relay could not be driven: {driven['reason']}."),
            "result": result,
        }
    return sent_back(state, wrong, context)


def _held(
    answer: dict[str, Any], state: State, context: Context
) -> tuple[RelayChoice | None, list[Violation]]:
    """The relay that an answer without tools means, and what the tool would have said of it."""
    plan, wrong = read_form(answer, "phase_2", RelayAnswer)
    if plan is None:
        return None, wrong
    if plan.choice.transfer_asset == UNNAMED:
        said = (
            '"Subtask instruction" of the robot that fetches must read: Take the [object] from'
            " [target region] to the [transfer asset] in [transfer region]."
        )
        return None, [Violation("wrong_instruction", said)]
    wish = Wish(**state["asked"])
    found = compared_relay(
        _task(state, context), plan.choice, strict=context.strict_helper, wish=wish
    )
    if found["efficient"]:
        return plan.choice, []
    return None, [Violation("not_efficient", found.get("error", _NO_SHORTER))]


def _driven(relay: RelayChoice, state: State, context: Context) -> dict[str, Any]:
    """How the relay went with two bodies."""
    task = _task(state, context)
    bodies: dict[RobotName, Embodiment] = {
        "robot_1": body_of(context.robot_1),
        "robot_2": body_of(context.robot_2),
    }
    simulator = get_simulator("embedded", task.scene, physics="slide")
    try:
        drive = plugin("navloom.relays", "drive", "A relay that is driven", SimulatorError)
        driven: dict[str, Any] = drive(simulator, task, relay, bodies)
        return driven
    finally:
        simulator.close()


def prompt_name_of(context: Context) -> str:
    """Which prompt a context asks for a relay with."""
    return f"navcraft_collab{prompt_suffix(context.compact, context.tools)}"


def _result(
    plan: RelayAnswer, relay: RelayChoice, state: State, context: Context
) -> dict[str, Any]:
    before, spoken = state.get("errand", {}), said(state)
    record = {
        **_errand_record(state, context),
        **relay_record(_task(state, context), relay, strict=context.strict_helper),
        **_as_asked(relay, state, context),
        "strict_helper": context.strict_helper,
        "relay_violations_mended": state.get("violations", []),
        "turns": before.get("turns", 0) + turns(spoken),
        "tool_calls": before.get("tool_calls", 0) + len(calls_made(spoken)),
        "prompt_collab": load_prompt(prompt_name_of(context)).record,
        **(library_record(spoken) if context.tools == "library" else {}),
    }
    return {
        "phase_1": state["phase_1"],
        "phase_2": plan.model_dump(mode="json", by_alias=True),
        "verdict": RELAY,
        "navloom": record,
    }


def _as_asked(relay: RelayChoice, state: State, context: Context) -> dict[str, Any]:
    """What was asked, what was given up of the wish, and regret among the relays as asked."""
    relays, asked, wish = _relays(state, context), Wish(**state["asked"]), _wish(state)
    found = check_collab_path_efficient(relays.task, *relay, strict=context.strict_helper)
    best = float(relays.alpha[asked.kept_by(relays)].min())
    return {
        "asked": {**asked.record(), "given_up": asked.given_up(wish)},
        "regret_asked": found["r1_rate"] - best,
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


builder = AgentGraph(State, Context, Input, "navcraft_collab")
builder.add_node("errand", as_node(navcraft_single.graph, output=_crafted))
builder.add_node("survey", survey)
add_conversation(builder, Conversation(ask, tools, _failed, _advice, check))
builder.add_conditional_edges(START, begin)
builder.add_conditional_edges("errand", after_errand)
builder.add_conditional_edges("survey", after_survey)
build_graph = builder.compile
"""Gives the graph, with where its steps are kept: nowhere by default."""


graph = build_graph()
