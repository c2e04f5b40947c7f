"""NavCraft-C: an agent that turns an errand into a relay of two robots (CoNavBench 3.1.3, A.11).

Without a given errand, the graph first crafts one with NavCraft-S. It then checks exactly whether
any relay could shorten robot_1's path: "not worth it" is a finding, not a failure. Otherwise the
model proposes helper start, transfer asset and type, calls ``check_collab_path_efficient``, and
answers with ``phase_2``. The answer must be the relay that the tool confirmed, in the exact
templates.

    START -> errand -> survey -> propose, consult, check (navloom.graphs.tool_loop) -> END
       |       |         |
       |   (failed)  (not worth it)
       |       +-> END <-+
       +- given phase_1 -> survey

``errand`` is NavCraft-S itself, as a subgraph.

The efficiency library is an ablation beside the paper's one tool (``Context.tools``). The prompt
stays the same, word for word, followed by the additional tools (CoNavBench 3.1).

With ``compact`` the relay is asked for in small choices: one of the handoffs that the tool ranks,
or each part of it by name. Of the ranked list a model reads only numbers and robot_1's metres, and
answers with a number. A small model that also reads places, helpers and times chooses a line by its
words instead of the shortest (docs/small-models.md has the figures). Otherwise it names robot_2's
start, the handoff, and the type. See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench
3.1.3.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple, NotRequired

import numpy as np
from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from langgraph.graph import START
from langgraph.runtime import Runtime
from numpy.typing import NDArray
from typing_extensions import TypedDict

from navloom.errors import SimulatorError, UsageError
from navloom.graphs import tool_loop
from navloom.graphs.agent_graph import AgentGraph
from navloom.graphs.invocation import as_node
from navloom.graphs.navcraft import choices
from navloom.graphs.navcraft import single as navcraft_single
from navloom.graphs.navcraft.single import compare_relay, relay_tools
from navloom.plugins import load_plugin
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.bodies import Embodiment, resolve_body
from navloom.scenes.distances import scene_cached
from navloom.scenes.lexicon import scene_json
from navloom.scenes.scene import prompt_name
from navloom.scenes.scene_uri import get_scene
from navloom.sim.registry import get_simulator
from navloom.tools.model_output import Violation, list_names, object_schema, read_part
from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    UNNAMED,
    RelayAnswer,
    RelayChoice,
    RobotName,
    check_collab_path_efficient,
    read_relay,
    relay_answer,
    relay_answer_schema,
)
from navloom.tools.navcraft.relay_optimum import RelayTable, all_relays, relay_record
from navloom.tools.navcraft.relay_spec import (
    NOT_AS_ASKED,
    RelaySpec,
    RelaySpecRecord,
    Types,
    alternative_starts,
    feasible_spec,
    sample_spec,
)
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import SoloTask, read_solo_task

MOST_PLACES = 6
"""Most handoffs that are shown."""
_LONGEST_NUMBER = 20
"""Characters that are read of a number in the model's answer."""


class Handoff(NamedTuple):
    """A place to hand the object over, and a type.

    Attributes:
        place: the asset and its room.
        kind: ``"Type-A1"`` or ``"Type-A2"``.
        metres: length of robot_1's path with it.
        helper: the best start for robot_2; empty where none is named.
    """

    place: choices.NamedItem
    kind: str
    metres: float
    helper: str = ""

    def __str__(self) -> str:
        return f"{self.place} with {self.kind}"


@dataclass(frozen=True)
class RelayOffer:
    """Relay candidates that a model may choose from.

    Attributes:
        relays: every relay of the errand that passes the guards.
        wish: the requested properties of the relay.
        settings: how the model is helped.
        seed: draws and orders a blind list.
    """

    relays: RelayTable
    wish: RelaySpec
    settings: choices.ChoiceSettings
    seed: int

    @property
    def task(self) -> RelayTask:
        """The single-robot task."""
        return self.relays.task

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Mask of the relays that meet the wish and whose transfer asset's name is shown."""
        shown = {(each.region, each.name) for each in self.places}
        named = [(each.region, each.name) in shown for each in self.relays.transfers]
        fits = np.array(named, dtype=np.bool_)[self.relays.transfer]
        return self.wish.satisfied_by(self.relays) & fits

    @cached_property
    def places(self) -> list[choices.NamedItem]:
        """Furniture that can hold the object and may be named."""
        return choices.list_choosable(self.task.scene, "asset", self.task.object_item.prompt_name)

    @cached_property
    def helpers(self) -> list[str]:
        """Regions in which robot_2 may start, in scene order."""
        found = np.unique(self.relays.start[self.kept])
        return [self.relays.starts[i].region for i in found]

    @cached_property
    def handoffs(self) -> list[Handoff]:
        """At most ``MOST_PLACES`` handoffs: the best first, or in the seed's order."""
        return self._ranked() if self.settings.choices == "ranked" else self._blind()

    def _ranked(self) -> list[Handoff]:
        """Return the best handoff of each room and type, with the best helper start for it."""
        solo, found = self.task.solo_metres or 0.0, dict[tuple[str, str], Handoff]()
        ranking = self.relays.ranking("alpha")
        for row in ranking[self.kept[ranking]]:
            relay = self.relays.relay(int(row))
            key = relay.transfer_region, relay.collab_type
            if key not in found:
                found[key] = Handoff(
                    choices.NamedItem(relay.transfer_asset, relay.transfer_region),
                    relay.collab_type,
                    relay.alpha * solo,
                    relay.robot_2_start_region,
                )
            if len(found) == MOST_PLACES:
                break
        return [*found.values()]

    def _blind(self) -> list[Handoff]:
        """Return a random sample of the valid handoffs, not the best ones."""
        solo, found = self.task.solo_metres or 0.0, dict[tuple[int, int], Handoff]()
        for row in np.flatnonzero(self.kept):
            relay = self.relays.relay(int(row))
            place = choices.NamedItem(relay.transfer_asset, relay.transfer_region)
            # Robot_1's path does not depend on robot_2's start.
            key = int(self.relays.transfer[row]), int(self.relays.type_index[row])
            found[key] = Handoff(place, relay.collab_type, relay.alpha * solo)
        ordered = [found[key] for key in sorted(found)]
        return random.Random(self.seed).sample(ordered, min(MOST_PLACES, len(ordered)))

    @cached_property
    def ways(self) -> dict[str, Handoff]:
        """Handoffs by number, robot_1's shortest first; empty where names are asked for."""
        numbered = self.settings.choices == "ranked" and self.settings.show_adjacency
        return {str(n): each for n, each in enumerate(self.handoffs, 1)} if numbered else {}

    def facts(self) -> str:
        """Return the prompt's facts: wish, helper starts and handoffs, or numbers and metres."""
        task = self.task
        if self.ways:
            shown = [f"{number}: {way.metres:.1f} m" for number, way in self.ways.items()]
            # The planner ranks them, so the first is the optimum for the wish.
            return "\n".join([*shown, *(["A good choice: 1."] if self.settings.recommend else [])])
        facts = [f"Alone robot_1 walks {task.solo_metres or 0:.0f} m.", self.wish.told(task)]
        if self.settings.show_adjacency:
            facts += [
                f"robot_2 may start in: {', '.join(self.helpers) or 'nowhere'}.",
                "Some handoffs, and what robot_1 walks then:",
                *(f"{each}: {each.metres:.0f} m" for each in self.handoffs),
            ]
        if self.settings.recommend and self.kept.any():
            ranking = self.relays.ranking("alpha")
            best = self.relays.relay(int(ranking[self.kept[ranking]][0]))
            facts.append(
                f"A good choice: robot_2 in {best.robot_2_start_region}, handoff "
                f"{best.transfer_asset} in {best.transfer_region}, {best.collab_type}."
            )
        return "\n".join(filter(None, facts))

    def schema(self) -> dict[str, Any]:
        """Return the schema of a handoff's number, or of a relay's choices."""
        constrain, scene = self.settings.lists_names, self.task.scene
        if self.ways:
            numbers: dict[str, Any] = {"enum": [*map(int, self.ways)]} if constrain else {}
            return object_schema({"way": {"type": "integer", **numbers}}, "relay_choice")
        barred = self.task.target_region if self.wish.elsewhere else None
        rooms = [region.id for region in scene.regions if region.id != barred]
        kinds = [self.wish.type] if self.wish.type else [*COLLAB_TYPES]
        fields = {
            "robot_2": choices.choice_field(rooms, constrain),
            "handoff": choices.choice_field(self.places, constrain),
            "type": {"type": "string", "enum": kinds},
        }
        return object_schema(fields, "relay_choice")


def relay_question(
    state: Mapping[str, Any], offer: RelayOffer, errand: SoloTask
) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Render the opening of a relay's conversation; return it with the answer's schema."""
    settings = offer.settings
    # The numbered lines say all that the choice needs.
    hidden = offer.ways and not settings.whole_scene
    rendered = load_prompt("navcraft_collab_choices").render(
        scene="" if hidden else choices.scene_text(offer.task.scene, settings),
        errand=f"{errand.instruction} It starts in {errand.start}.",
        facts=offer.facts(),
        ways=bool(offer.ways),
        type=offer.wish.type,
        seed=state["seed"],
    )
    return rendered, choices.drop_refused(offer.schema(), state)


def resolve_relay(
    answer: Mapping[str, Any], state: Mapping[str, Any], offer: RelayOffer, *, strict: bool
) -> tuple[RelayChoice | None, choices.Update]:
    """Return the chosen relay if it is efficient and meets the wish, else the rejection."""
    task, settings = offer.task, offer.settings
    if offer.ways:
        number = str(answer.get("way")).strip()[:_LONGEST_NUMBER]
        if number not in offer.ways:
            fault = f"There is no way {number}. Answer with one of: {list_names([*offer.ways])}."
            return None, choices.reject_choice(number, "way_not_there", fault, state, settings)
        way = offer.ways[number]
        answer = {"robot_2": way.helper, "handoff": str(way.place), "type": way.kind}
    named, kind = answer.get("handoff"), str(answer.get("type"))
    place = choices.read_item(named, task.scene, "asset")
    if isinstance(place, str):
        return None, choices.reject_choice(
            named, "transfer_asset_not_there", place, state, settings
        )
    if kind not in COLLAB_TYPES:
        fault = f"'{kind[:40]}' is no type: choose Type-A1 or Type-A2."
        return None, tool_loop.rejection_update(state, [Violation("wrong_form", fault)], settings)
    choice = RelayChoice(str(answer.get("robot_2")), place.region, place.name, kind)
    found = check_collab_path_efficient(task, *choice, strict=strict)
    code = NOT_AS_ASKED if found["efficient"] else "not_efficient"
    if found["efficient"]:
        why = offer.wish.spec_violation(task, choice, found["r1_rate"], found["g_rate"])
        if why is None:
            return choice, {}
    else:
        alone = task.solo_metres or 0.0
        why = found.get("error") or (
            f"With {place} and {kind} robot_1 walks {found['r1_rate'] * alone:.0f} m, alone "
            f"{alone:.0f} m: no gain."
        )
    # Prefer to change robot_2's start, unless the handoff works with no start.
    starts = alternative_starts(offer.relays, offer.kept, choice)
    if settings.show_adjacency or starts:
        why += f" Choose one of: {list_names(starts or [*map(str, offer.handoffs)])}."
    at_fault = choice.robot_2_start_region if starts else named
    return None, choices.reject_choice(at_fault, code, why, state, settings)


LIBRARY = ("recommend", "reach", "travel_time", "rendezvous", "interference", "revise_route")
"""Names of the efficiency library's tools, which ``navloom-worlds`` provides."""
_PROMPT = "navcraft_collab_library"
_KEPT = 16


def add_library(rendered: RenderedPrompt) -> RenderedPrompt:
    """Return the relay's prompt with the library's tools appended."""
    return load_prompt(_PROMPT).render(rules=rendered.system, question=rendered.human)


def efficiency_tools(
    task: RelayTask, bodies: Sequence[Embodiment], **given: Any
) -> Sequence[BaseTool]:
    """Return the library's tools over one task, built once.

    Args:
        task: the single-robot task.
        bodies: robot_1's and robot_2's; none where relays are not driven.
        given: other arguments of :func:`navloom_worlds.teams.efficiency_library.library_tools`.
    """
    kept = scene_cached(
        task.scene,
        "library_tools",
        lambda: lru_cache(_KEPT)(
            load_plugin("navloom.tools", "library", "--tools library", UsageError)
        ),
    )
    made: Sequence[BaseTool] = kept(task, bodies=tuple(bodies) or (None, None), **given)
    return made


def library_record(messages: Sequence[AnyMessage]) -> dict[str, Any]:
    """Count the calls of each library tool; return them with the record of the library's prompt."""
    asked = Counter(
        call.name for call in tool_loop.executed_calls(messages) if call.name in LIBRARY
    )
    calls = dict(sorted(asked.items()))
    return {"library_calls": calls, "prompt_library": load_prompt(_PROMPT).record}


NOT_WORTH_IT = "not worth it"
NOT_DRIVEN = "not_driven"
RELAY = "relay"
TASKS_KEPT = 16
_NO_SHORTER = "It does not shorten robot_1's way."


class Input(TypedDict):
    """Input of NavCraft-C."""

    seed: int
    """Varies the model's choices; goes into the prompts."""
    phase_1: NotRequired[dict[str, Any] | None]
    """The errand, with the keys of A.10.1; None or left out lets the graph craft one."""
    wish: NotRequired[RelaySpecRecord | None]
    """Requested properties of the relay; None or left out draws them by the seed."""


class State(Input, choices.ChoiceState, total=False):
    """State of NavCraft-C.

    Its result is ``{"phase_1", "phase_2", "verdict", "navloom"}``, without ``phase_2`` where only
    phase 1 succeeded; its reason is ``phase_1:CODE`` where the errand failed.
    """

    errand: dict[str, Any]
    """The errand's record: the ``navloom`` part of NavCraft-S."""
    asked: RelaySpecRecord
    """The properties asked of the relay: the wish, or the nearest that a relay of the errand can
    meet."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Context(navcraft_single.Context):
    """Settings of NavCraft-C, fixed during a run: those of NavCraft-S and the relay's rules."""

    strict_helper: bool = False
    """The text's stricter guard: the helper starts neither next to the target nor the transfer
    region."""
    types: Types = "balanced"
    """Relay types to ask for: both equally often, any, or one."""
    faster: bool = False
    """Only relays that finish before robot_1 alone would."""
    min_gain: float = 0.0
    """Only relays that save robot_1 at least this share of its path, 1 - alpha."""
    verify_sim: bool = False
    """Drive each accepted relay with two bodies (CoNavBench 4.1), by ``navloom-worlds``."""
    robot_1: str = "FETCH"
    """Robot_1's body, by name or as ``FILE.json#NAME``."""
    robot_2: str = "SPOT"
    """Robot_2's body."""
    drop_undriven: bool = False
    """Fail a relay that could not be driven, as ``not_driven``."""


def _crafted(made: dict[str, Any], _: State) -> dict[str, Any]:
    """Return the update from the result of NavCraft-S."""
    if made["status"] == "failed":
        ended = tool_loop.failed_update(f"phase_1:{made['reason']}", made["message"])
        return {"usage": made["usage"], **ended}
    phase_1, record = made["result"]["phase_1"], made["result"]["navloom"]
    return {"usage": made["usage"], "phase_1": phase_1, "errand": record}


def survey(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Check whether any relay shortens robot_1's path, settle the wish, and return the update."""
    context = runtime.context
    wish = feasible_spec(
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


def _wish(state: State) -> RelaySpec:
    given = state.get("wish")
    return sample_spec(state["seed"]) if given is None else RelaySpec(**given)


def _relays(state: State, context: Context) -> RelayTable:
    return all_relays(_task(state, context), strict=context.strict_helper)


def _offer(state: State, context: Context) -> RelayOffer:
    return RelayOffer(_relays(state, context), RelaySpec(**state["asked"]), context, state["seed"])


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


def _errand(state: State, context: Context) -> SoloTask:
    """Return the errand's names; reject a given errand that breaks the rules of A.10.1."""
    given = state["phase_1"]
    task, wrong = read_solo_task({"phase_1": given}, get_scene(context.scene), tau=context.tau)
    if task is None or wrong:
        raise UsageError(f"phase_1 is not a valid single-robot task: {wrong[0].message}")
    return task.errand


def _task(state: State, context: Context) -> RelayTask:
    scene = get_scene(context.scene)
    # Cache a few per scene: the steps of one sample share a task, and memory stays bounded.
    tasks = scene_cached(
        scene, "relay_tasks", lambda: lru_cache(TASKS_KEPT)(partial(RelayTask, scene))
    )
    return tasks(*_errand(state, context))


def ask(state: State, context: Context) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Render the prompt; return it with the schema of the answer or of the choices."""
    scene, constrain, strict = get_scene(context.scene), context.constrain, context.strict_helper
    if context.compact:
        return relay_question(state, _offer(state, context), _errand(state, context))
    rendered = load_prompt(select_prompt(context)).render(
        scene_graph=scene_json(scene),
        phase_1=json.dumps({"phase_1": state["phase_1"]}),
        seed=state["seed"],
        strict_helper=strict,
        asked=RelaySpec(**state["asked"]).told(_task(state, context)),
    )
    schema = relay_answer_schema(scene, constrain=constrain)
    return add_library(rendered) if context.tools == "library" else rendered, schema


def tools(state: State, context: Context) -> Sequence[BaseTool]:
    """Return the tools that the model may call."""
    if context.tools == "none":
        return ()
    # Building a tool's schema costs more than a hundred calls of it.
    kept = scene_cached(
        get_scene(context.scene), "relay_tools", lambda: lru_cache(TASKS_KEPT)(relay_tools)
    )
    task, wish = _task(state, context), RelaySpec(**state["asked"])
    given = {"strict": context.strict_helper, "constrain": context.constrain, "wish": wish}
    made = kept(task, **given)
    if context.tools == "library":
        bodies = [resolve_body(each) for each in (context.robot_1, context.robot_2)]
        return [*made, *efficiency_tools(task, bodies if context.verify_sim else (), **given)]
    return made


def _failed(call: tool_loop.ToolCallResult) -> bool:
    if call.result is not None and call.name in LIBRARY:
        return "error" in call.result
    return call.result is None or not call.result.get("efficient")


def _advice(
    call: tool_loop.ToolCallResult, before: list[tool_loop.ToolCallResult], context: Context
) -> str:
    def part(key: str) -> str:
        tried = {str(c.args.get(key)) for c in before if c.args.get(key)}
        left = [region.id for region in get_scene(context.scene).regions if region.id not in tried]
        return f"{key} tried: {list_names(sorted(tried))}; left: {list_names(left)}."

    why = (call.result or {}).get("error", _NO_SHORTER)
    again = f"This call failed before and fails again. {why}"
    if call.name in LIBRARY:
        return again
    return f"{again} {part('robot_2_start_region')} {part('transfer_region')}"


def confirmed_relay(messages: list[AnyMessage]) -> RelayChoice | None:
    """Return the relay that the tool found efficient last, or None."""
    made = (call for call in tool_loop.executed_calls(messages) if call.name not in LIBRARY)
    good = [call for call in made if not _failed(call)]
    if not good:
        return None
    choice = RelayChoice(**{key: str(good[-1].args[key]) for key in RelayChoice._fields})
    return choice._replace(transfer_asset=prompt_name(choice.transfer_asset))


def check(answer: dict[str, Any], state: State, context: Context) -> dict[str, Any]:
    """Check the model's answer; accept it, send it back, or give up."""
    confirmed, errand = confirmed_relay(tool_loop.messages_of(state)), _errand(state, context)
    if "phase_2" in answer and answer["phase_2"] is None and confirmed is None:
        return _not_worth_it(state, context, by="model")
    if context.compact:
        offer, strict = _offer(state, context), context.strict_helper
        confirmed, update = resolve_relay(answer, state, offer, strict=strict)
        if confirmed is None:
            return update
        answer = relay_answer(errand, confirmed)
    elif context.tools == "none":
        confirmed, refused = _held(answer, state, context)
        if refused:
            return tool_loop.rejection_update(state, refused, context)
    plan, wrong = read_relay(answer, get_scene(context.scene), errand, confirmed)
    if plan is not None and confirmed is not None and not wrong:
        result = _result(plan, confirmed, state, context)
        if not context.verify_sim:
            return {"status": "ok", "reason": None, "result": result}
        driven = _driven(confirmed, state, context)
        result["navloom"]["driven"] = driven
        if driven["done"] or not context.drop_undriven:
            return {"status": "ok", "reason": None, "result": result}
        why = f"The relay could not be driven: {driven['reason']}."
        return {**tool_loop.failed_update(NOT_DRIVEN, why), "result": result}
    return tool_loop.rejection_update(state, wrong, context)


def _held(
    answer: dict[str, Any], state: State, context: Context
) -> tuple[RelayChoice | None, list[Violation]]:
    """Return the relay of an answer without tools, and the errors that the tool reports."""
    plan, wrong = read_part(answer, "phase_2", RelayAnswer)
    if plan is None:
        return None, wrong
    if plan.choice.transfer_asset == UNNAMED:
        said = (
            '"Subtask instruction" of the robot that fetches must read: Take the [object] from'
            " [target region] to the [transfer asset] in [transfer region]."
        )
        return None, [Violation("wrong_instruction", said)]
    task, wish = _task(state, context), RelaySpec(**state["asked"])
    found = compare_relay(task, plan.choice, strict=context.strict_helper, wish=wish)
    if found["efficient"]:
        return plan.choice, []
    return None, [Violation("not_efficient", found.get("error", _NO_SHORTER))]


def _driven(relay: RelayChoice, state: State, context: Context) -> dict[str, Any]:
    """Drive the relay with two bodies; return the record of the drive."""
    task = _task(state, context)
    bodies: dict[RobotName, Embodiment] = {
        "robot_1": resolve_body(context.robot_1),
        "robot_2": resolve_body(context.robot_2),
    }
    simulator = get_simulator("embedded", task.scene, physics="slide")
    try:
        drive = load_plugin("navloom.relays", "drive", "A relay that is driven", SimulatorError)
        driven: dict[str, Any] = drive(simulator, task, relay, bodies)
        return driven
    finally:
        simulator.close()


def select_prompt(context: Context) -> str:
    """Return the name of the prompt that a context asks for a relay with."""
    return f"navcraft_collab{choices.prompt_suffix(context.compact, context.tools)}"


def _result(plan: RelayAnswer, pick: RelayChoice, state: State, context: Context) -> dict[str, Any]:
    before, spoken = state.get("errand", {}), tool_loop.messages_of(state)
    record = {
        **_errand_record(state, context),
        **relay_record(_task(state, context), pick, strict=context.strict_helper),
        **_as_asked(pick, state, context),
        "strict_helper": context.strict_helper,
        "relay_violations_mended": state.get("violations", []),
        "turns": before.get("turns", 0) + tool_loop.count_turns(spoken),
        "tool_calls": before.get("tool_calls", 0) + len(tool_loop.executed_calls(spoken)),
        "prompt_collab": load_prompt(select_prompt(context)).record,
        **(library_record(spoken) if context.tools == "library" else {}),
    }
    return {
        "phase_1": state["phase_1"],
        "phase_2": plan.model_dump(mode="json", by_alias=True),
        "verdict": RELAY,
        "navloom": record,
    }


def _as_asked(relay: RelayChoice, state: State, context: Context) -> dict[str, Any]:
    """Return the wish, the parts of it given up, and the regret among the relays that meet it."""
    relays, asked, wish = _relays(state, context), RelaySpec(**state["asked"]), _wish(state)
    found = check_collab_path_efficient(relays.task, *relay, strict=context.strict_helper)
    best = float(relays.alpha[asked.satisfied_by(relays)].min())
    kept = {**asked.record(), "given_up": asked.dropped_from(wish)}
    return {"asked": kept, "regret_asked": found["r1_rate"] - best}


def begin(state: State) -> Literal["errand", "survey"]:
    """Route past the errand's node where an errand is given."""
    return "survey" if state.get("phase_1") else "errand"


def after_errand(state: State) -> Literal["survey", "__end__"]:
    """Route to the end where no errand was made."""
    return "__end__" if state.get("status") else "survey"


def after_survey(state: State) -> Literal["propose", "__end__"]:
    """Route to the end where no relay helps."""
    return "__end__" if state.get("status") else "propose"


builder = AgentGraph(State, Context, Input, "navcraft_collab")
builder.add_node("errand", as_node(navcraft_single.graph, output=_crafted))
builder.add_node("survey", survey)
tool_loop.add_conversation(builder, tool_loop.Conversation(ask, tools, _failed, _advice, check))
builder.add_conditional_edges(START, begin)
builder.add_conditional_edges("errand", after_errand)
builder.add_conditional_edges("survey", after_survey)
build_graph = builder.compile
"""Compiles the graph; takes the checkpointer for its steps, none by default."""


graph = build_graph()
