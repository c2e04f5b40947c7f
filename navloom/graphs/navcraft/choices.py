"""How the NavCraft graphs ask for small choices instead of whole answers (``Context.compact``).

For models too small to write the whole answer (CoNavBench 3.1). The model still makes every choice:
object, start, end, asset, helper, handoff, type; paths, sentences and lists are filled in here. A
thing is named with its room, ``cup in Kitchen_4``, so that one name can be wrong in one way.

The nodes stay the same: what is rendered, bound and read differs. A choice that names something
that is not there is sent back like any wrong answer; a full set of choices becomes the paper's
answer, which is then checked like anyone's.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage

from navloom.graphs.agent import Growing, SceneLike
from navloom.graphs.turns import TurnLimits, Turns, sent_back
from navloom.prompts.load import Rendered, load_prompt
from navloom.prompts.navcraft.profiles import Profile
from navloom.scenes.distances import hop_table, per_scene
from navloom.scenes.lexicon import is_surface
from navloom.scenes.prompt import item_names, scene_json
from navloom.scenes.scene import ItemKind, Scene
from navloom.scenes.uri import scene_of
from navloom.tools.forms import Violation, closed_object, listed
from navloom.tools.navcraft.errand import Errand, errand_answer, shortest_path
from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.paths import least_hops
from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    RelayChoice,
    check_collab_path_efficient,
    relay_legs,
)
from navloom.tools.navcraft.task import RelayTask

Update = dict[str, Any]
"""What a node returns: the answer is not there yet."""


class Choices(Turns, total=False):
    """What a graph that may ask for choices remembers."""

    refused: Growing[str]
    """With ``compact``: names that were sent back."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChoiceSettings(TurnLimits):
    """The part of a context that says how a small model is helped; each an arm of the ablation."""

    scene: SceneLike
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


MOST_A_ROOM = 6
"""Names of each kind that are shown of a room."""
MOST_PLACES = 6
"""Admissible handoffs that are shown."""

LONGEST_NAME = 100
"""Characters of a thing and its room where the schema does not list them: without a bound a small
model may never close the quotation marks."""


class Thing(NamedTuple):
    """An object or asset by name, and its room."""

    name: str
    region: str

    def __str__(self) -> str:
        return f"{self.name} in {self.region}"


def things(scene: Scene, kind: ItemKind) -> list[Thing]:
    """What may be chosen: at most ``MOST_A_ROOM`` names a room; of assets, surfaces first."""
    found = []
    for region in scene.regions:
        names = item_names(scene, region.id, kind)
        if kind == "asset":
            names.sort(key=lambda name: not is_surface(name.replace("_", " ")))
        found += [Thing(name, region.id) for name in names[:MOST_A_ROOM]]
    return found


def compact_scene(scene: Scene, *, adjacency: bool) -> str:
    """The scene in one line a room.

    Args:
        scene: the scene.
        adjacency: say which rooms each leads to.
    """
    graph = scene.region_graph()
    shown = {kind: things(scene, kind) for kind in ("asset", "object")}
    lines = []
    for region in scene.regions:
        parts = [f"{region.id}:"]
        if adjacency:
            parts.append(f"leads to {', '.join(sorted(graph[region.id])) or 'nowhere'};")
        for words, kind in (("furniture", "asset"), ("objects", "object")):
            names = [thing.name for thing in shown[kind] if thing.region == region.id]
            if names:
                parts.append(f"{words} {', '.join(names)};")
        lines.append(" ".join(parts).rstrip(";"))
    return "\n".join(lines)


def _choice(names: Sequence[Any], constrain: bool) -> dict[str, Any]:
    listed = [str(name) for name in names]
    if constrain and listed:
        return {"type": "string", "enum": listed}
    return {"type": "string", "maxLength": LONGEST_NAME}


def errand_choice_schema(scene: Scene, made: int, *, constrain: bool) -> dict[str, Any]:
    """The schema of the next choice of an errand: which object, then onto what, then from where.

    Args:
        scene: where names come from.
        made: choices that were made, 0 to 2.
        constrain: list the names that there are.
    """
    what, names = (
        ("object", things(scene, "object")),
        ("end", things(scene, "asset")),
        ("start", [region.id for region in scene.regions]),
    )[made]
    return {"title": f"errand_{what}", **closed_object({what: _choice(names, constrain)})}


def relay_choice_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
    """The schema of the choices of a relay."""
    fields = {
        "robot_2": _choice([region.id for region in scene.regions], constrain),
        "handoff": _choice(things(scene, "asset"), constrain),
        "type": {"type": "string", "enum": list(COLLAB_TYPES)},
    }
    return {"title": "relay_choice", **closed_object(fields)}


def read_thing(text: Any, scene: Scene, kind: ItemKind) -> Thing | str:
    """The thing a model named, or one sentence that says why there is none."""
    name, _, region = str(text).strip().rpartition(" in ")
    if region not in scene.region_by_id:
        return f"'{str(text)[:80]}' names no room of the home. Write it as [thing] in [room]."
    names = item_names(scene, region, kind)
    if name not in names:
        there = ", ".join(names[:MOST_A_ROOM]) or "none"
        return f"There is no {kind} '{name[:60]}' in {region}. There: {there}."
    return Thing(name, region)


def far_places(scene: Scene, target: str, least: int) -> list[str]:
    """One place to put things in each room far enough from a room, the better surface first."""
    far, first = set(far_rooms(scene, target, least)), dict[str, Thing]()
    for place in things(scene, "asset"):
        if place.region in far:
            first.setdefault(place.region, place)
    return [str(place) for place in first.values()]


def far_rooms(scene: Scene, target: str, least: int) -> list[str]:
    """The rooms one can reach from a room in so many hops or more."""
    hops = hop_table(scene)
    return [r.id for r in scene.regions if (hops.distance(r.id, target) or 0) >= least]


def relay_facts(task: RelayTask, seed: int, *, adjacency: bool) -> str:
    """Who may start where, and some handoffs that spare robot_1 a part of its way."""
    alone = f"Alone robot_1 walks {task.solo_metres or 0:.0f} m."
    if not adjacency:
        return alone
    shown = [f"{each}: {metres:.0f} m" for each, metres in handoffs(task, seed)]
    return "\n".join(
        [
            alone,
            f"robot_2 may start in: {', '.join(task.fit_helpers) or 'nowhere'}.",
            "Some handoffs, and what robot_1 walks then:",
            *shown,
        ]
    )


def handoffs(task: RelayTask, seed: int) -> list[tuple[str, float]]:
    """Some handoffs that shorten robot_1's way, ``table in Hall_2 with Type-A1``, and its metres.

    At most ``MOST_PLACES`` of all there are, drawn and ordered by the seed: what is admissible, not
    what is best.
    """
    offered = {(thing.region, thing.name) for thing in things(task.scene, "asset")}
    found = []
    for key, place in task.fit_transfers.items():
        for kind in COLLAB_TYPES if key in offered else ():
            # What robot_1 walks is the same wherever robot_2 comes from.
            fetch, come = task.start_to_object + place.from_object, place.from_start
            _, _, metres = relay_legs(fetch, fetch, come, come, place.to_end, kind)
            if metres < task.shorter:
                found.append((f"{place.name} in {place.region} with {kind}", metres))
    return random.Random(seed).sample(found, min(MOST_PLACES, len(found)))
