"""How the NavCraft graphs ask for small choices instead of whole answers (``Context.compact``).

The nodes stay the same: what is rendered, bound and read differs. A choice that names something
that is not there is sent back like any wrong answer; a full set of choices becomes the paper's
answer, which is then checked like anyone's.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any

from langchain_core.messages import HumanMessage

from navloom.graphs.turns import TurnLimits, Turns, sent_back
from navloom.prompts.load import Rendered, load_prompt
from navloom.prompts.navcraft.profiles import Profile
from navloom.scenes.distances import per_scene
from navloom.scenes.prompt import scene_json
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.tools.forms import Violation, listed
from navloom.tools.navcraft.choices import (
    Thing,
    compact_scene,
    errand_choice_schema,
    far_places,
    far_rooms,
    handoffs,
    read_thing,
    relay_choice_schema,
    relay_facts,
    things,
)
from navloom.tools.navcraft.errand import Errand, errand_answer, shortest_path
from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.paths import least_hops
from navloom.tools.navcraft.relay import COLLAB_TYPES, RelayChoice, check_collab_path_efficient
from navloom.tools.navcraft.task import RelayTask

Update = dict[str, Any]
"""What a node returns: the answer is not there yet."""


class Choices(Turns, total=False):
    """What a graph that may ask for choices remembers."""

    refused: Annotated[list[str], add]
    """With ``compact``: names that were sent back."""


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(TurnLimits):
    """The part of a context that says how a small model is helped; each an arm of the ablation."""

    scene: Scene | str
    """The home, or its URI."""
    tau: int = 2
    """Hop threshold of 3.1.2: a leg has at least ``max(2, tau)`` hops."""
    constrain: bool = True
    """Hold the model to the answer's schema, where its backend can."""
    hold_names: bool = True
    """With ``constrain`` and ``compact``: the schema lists the names that exist."""
    compact: bool = False
    """Show the home in one line a room, and ask for choices; the rest is filled in."""
    whole_scene: bool = False
    """With ``compact``: show the home's JSON, as the paper does, instead of a line a room."""
    show_adjacency: bool = True
    """With ``compact``: say what is next to what, what is far enough, and how far places are."""
    recommend: bool = False
    """With ``compact``: name a good choice. Then it is the planner's, not the model's."""

    @property
    def lists_names(self) -> bool:
        """Whether a schema of choices lists the names that exist."""
        return self.constrain and self.hold_names


def _shown(scene: Scene, settings: ChoiceSettings) -> str:
    if settings.whole_scene:
        return scene_json(scene)
    adjacency = settings.show_adjacency
    return per_scene(
        scene, f"compact_scene_{adjacency}", lambda: compact_scene(scene, adjacency=adjacency)
    )


def errand_question(
    state: Mapping[str, Any], settings: ChoiceSettings, profile: Profile | None
) -> tuple[Rendered, dict[str, Any]]:
    """The opening of an errand's conversation, and the schema of what is asked now."""
    scene, least, made = scene_of(settings.scene), least_hops(settings.tau), state.get("picked", [])
    rendered = load_prompt("navcraft_single_choices").render(
        scene=_shown(scene, settings),
        profile="" if profile is None else json.dumps(profile.model_dump(by_alias=True)),
        hint=_hinted_object(scene, state["seed"], least) if settings.recommend else "",
        seed=state["seed"],
        min_hops=least,
    )
    schema = errand_choice_schema(scene, len(made), constrain=settings.lists_names)
    return rendered, _without(schema, state)


def _without(schema: dict[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without names that were refused: a failing choice is not made again."""
    refused = set(state.get("refused", []))
    for field in schema["properties"].values():
        left = [name for name in field.get("enum", []) if name not in refused]
        if left:
            field["enum"] = left
    return schema


def _refuse(
    named: Any, code: str, fault: str, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    return {**sent_back(state, [Violation(code, fault)], settings), "refused": [str(named)]}


def chosen_errand(
    answer: Mapping[str, Any], state: Mapping[str, Any], settings: ChoiceSettings
) -> tuple[dict[str, Any] | None, Update]:
    """The whole answer where all choices are made, else what to do next."""
    match state.get("picked", []):
        case []:
            return None, _take_object(answer.get("object"), state, settings)
        case [thing]:
            return None, _take_end(answer.get("end"), Thing(*thing), state, settings)
        case [first, second]:
            thing, place = Thing(*first), Thing(*second)
    scene, least, start = (
        scene_of(settings.scene),
        least_hops(settings.tau),
        str(answer.get("start")),
    )
    rooms = _starts(scene, thing, place, least)
    if start not in rooms:
        fault = f"{_too_near(start, thing.region, least)} Choose one of: {listed(rooms)}."
        return None, _refuse(start, "leg_too_short", fault, state, settings)
    errand = Errand(start, thing.region, thing.name, place.region, place.name)
    return errand_answer(errand, shortest_path(scene, errand)), {}


def _take_object(named: Any, state: Mapping[str, Any], settings: ChoiceSettings) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    thing = read_thing(named, scene, "object")
    if isinstance(thing, str):
        return _refuse(named, "object_not_there", thing, state, settings)
    places = far_places(scene, thing.region, least)
    if len(far_rooms(scene, thing.region, least)) < 2 or not places:
        fault = f"Nothing is {least} doors away from {thing.region}. Choose an object elsewhere."
        return _refuse(named, "leg_too_short", fault, state, settings)
    told = 'Now choose where it goes. Answer with JSON: {"end": "[furniture] in [room]"}'
    far = f"Furniture at least {least} doors away from {thing.region}"
    return _taken(thing, told, far, places, state, settings)


def _take_end(
    named: Any, thing: Thing, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    place = read_thing(named, scene, "asset")
    if isinstance(place, str):
        return _refuse(named, "end_asset_not_there", place, state, settings)
    rooms = _starts(scene, thing, place, least)
    if place.region not in far_rooms(scene, thing.region, least) or not rooms:
        places = far_places(scene, thing.region, least)
        fault = f"{_too_near(place.region, thing.region, least)} Choose one of: {listed(places)}."
        return _refuse(named, "leg_too_short", fault, state, settings)
    told = 'Now choose where robot_1 starts. Answer with JSON: {"start": "[room]"}'
    far = f"Rooms at least {least} doors away from {thing.region}"
    return _taken(place, told, far, rooms, state, settings)


def _taken(
    picked: Thing,
    told: str,
    far: str,
    offered: list[str],
    state: Mapping[str, Any],
    settings: ChoiceSettings,
) -> Update:
    """Keep a choice and ask for the next one."""
    if settings.show_adjacency:
        told = f"{far}: {', '.join(offered)}. {told}"
    if settings.recommend:
        told = f"A good choice: {random.Random(state['seed']).choice(offered)}. {told}"
    return {"messages": [HumanMessage(told)], "picked": [list(picked)]}


def _starts(scene: Scene, thing: Thing, place: Thing, least: int) -> list[str]:
    return [room for room in far_rooms(scene, thing.region, least) if room != place.region]


def _too_near(room: str, target: str, least: int) -> str:
    return f"{room[:80]} will not do: it must be at least {least} doors away from {target}."


def _hinted_object(scene: Scene, seed: int, least: int) -> str:
    offered = [t for t in things(scene, "object") if len(far_rooms(scene, t.region, least)) > 1]
    return f"A good choice: {random.Random(seed).choice(offered)}." if offered else ""


def relay_question(
    state: Mapping[str, Any],
    task: RelayTask,
    errand: Errand,
    settings: ChoiceSettings,
    *,
    strict: bool,
) -> tuple[Rendered, dict[str, Any]]:
    """The opening of a relay's conversation, and the schema of what is asked."""
    facts = relay_facts(task, state["seed"], adjacency=settings.show_adjacency)
    if settings.recommend and (best := all_relays(task, strict=strict).best("alpha")):
        facts += (
            f"\nA good choice: robot_2 in {best.robot_2_start_region}, handoff "
            f"{best.transfer_asset} in {best.transfer_region}, {best.collab_type}."
        )
    rendered = load_prompt("navcraft_collab_choices").render(
        scene=_shown(task.scene, settings),
        errand=f"{errand.instruction} It starts in {errand.start}.",
        facts=facts,
        seed=state["seed"],
    )
    return rendered, _without(
        relay_choice_schema(task.scene, constrain=settings.lists_names), state
    )


def chosen_relay(
    answer: Mapping[str, Any],
    state: Mapping[str, Any],
    task: RelayTask,
    settings: ChoiceSettings,
    *,
    strict: bool,
) -> tuple[RelayChoice | None, Update]:
    """The relay where the tool finds it efficient, else the update that says why it is not."""
    named, kind = answer.get("handoff"), str(answer.get("type"))
    place = read_thing(named, task.scene, "asset")
    if isinstance(place, str):
        return None, _refuse(named, "transfer_asset_not_there", place, state, settings)
    if kind not in COLLAB_TYPES:
        fault = f"'{kind[:40]}' is no type: choose Type-A1 or Type-A2."
        return None, sent_back(state, [Violation("wrong_form", fault)], settings)
    helper = str(answer.get("robot_2"))
    choice = RelayChoice(helper, place.region, place.name, kind)
    found = check_collab_path_efficient(task, *choice, strict=strict)
    if found["efficient"]:
        return choice, {}
    if helper not in task.fit_helpers:
        fault = f"{found.get('error', '')} Choose one of: {listed([*task.fit_helpers])}."
        return None, _refuse(helper, "not_efficient", fault, state, settings)
    alone = task.solo_metres or 0.0
    why = found.get("error") or (
        f"With {place} and {kind} robot_1 walks {found['r1_rate'] * alone:.0f} m, alone "
        f"{alone:.0f} m: no gain."
    )
    if settings.show_adjacency:
        others = [each for each, _ in handoffs(task, state["seed"])]
        why += f" Choose one of: {listed(others)}."
    return None, _refuse(named, "not_efficient", why, state, settings)
