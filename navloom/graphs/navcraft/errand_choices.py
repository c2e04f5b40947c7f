"""An errand in small choices: which object, then where it goes, then where robot_1 starts.

See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench 3.1.2.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import HumanMessage

from navloom.graphs.navcraft.choices import (
    ChoiceSettings,
    Thing,
    Update,
    choice_field,
    read_thing,
    refuse,
    shown_scene,
    things,
    without_refused,
)
from navloom.prompts.load import Rendered, load_prompt
from navloom.prompts.navcraft.profiles import Profile
from navloom.scenes.distances import hop_table
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.tools.forms import closed_object, listed
from navloom.tools.navcraft.errand import Errand, errand_answer, shortest_path
from navloom.tools.navcraft.paths import least_hops
from navloom.tools.navcraft.worth import HOLDS_NOTHING, can_hold, holds_nothing


def errand_question(
    state: Mapping[str, Any], settings: ChoiceSettings, profile: Profile | None
) -> tuple[Rendered, dict[str, Any]]:
    """The opening of an errand's conversation, and the schema of what is asked now."""
    scene, least, made = scene_of(settings.scene), least_hops(settings.tau), state.get("picked", [])
    rendered = load_prompt("navcraft_single_choices").render(
        scene=shown_scene(scene, settings),
        profile="" if profile is None else json.dumps(profile.model_dump(by_alias=True)),
        hint=_hinted_object(scene, state["seed"], least) if settings.recommend else "",
        seed=state["seed"],
        min_hops=least,
    )
    schema = errand_choice_schema(scene, made, constrain=settings.lists_names)
    return rendered, without_refused(schema, state)


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
        return None, refuse(start, "leg_too_short", fault, state, settings)
    errand = Errand(start, thing.region, thing.name, place.region, place.name)
    return errand_answer(errand, shortest_path(scene, errand)), {}


def _take_object(named: Any, state: Mapping[str, Any], settings: ChoiceSettings) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    thing = read_thing(named, scene, "object")
    if isinstance(thing, str):
        return refuse(named, "object_not_there", thing, state, settings)
    places = far_places(scene, thing, least)
    if len(far_rooms(scene, thing.region, least)) < 2 or not places:
        fault = (
            f"Nothing that holds a {thing.name} is {least} doors away from {thing.region}. "
            "Choose an object elsewhere."
        )
        return refuse(named, "leg_too_short", fault, state, settings)
    told = 'Now choose where it goes. Answer with JSON: {"end": "[furniture] in [room]"}'
    far = f"Furniture at least {least} doors away from {thing.region}"
    return _taken(thing, told, far, places, state, settings)


def _take_end(
    named: Any, thing: Thing, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    place = read_thing(named, scene, "asset")
    if isinstance(place, str):
        return refuse(named, "end_asset_not_there", place, state, settings)
    if not can_hold(place.name, thing.name):
        places = far_places(scene, thing, least)
        fault = f"{holds_nothing(*place, thing.name)} Choose one of: {listed(places)}."
        return refuse(named, HOLDS_NOTHING, fault, state, settings)
    rooms = _starts(scene, thing, place, least)
    if place.region not in far_rooms(scene, thing.region, least) or not rooms:
        places = far_places(scene, thing, least)
        fault = f"{_too_near(place.region, thing.region, least)} Choose one of: {listed(places)}."
        return refuse(named, "leg_too_short", fault, state, settings)
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


def errand_choice_schema(
    scene: Scene, made: Sequence[Sequence[str]], *, constrain: bool
) -> dict[str, Any]:
    """The schema of the next choice of an errand: which object, then onto what, then from where.

    Args:
        scene: where names come from.
        made: the choices that were made, 0 to 2, each a name and a room.
        constrain: list the names that there are.
    """
    what, names = (
        ("object", things(scene, "object")),
        ("end", things(scene, "asset", made[0][0] if made else None)),
        ("start", [region.id for region in scene.regions]),
    )[len(made)]
    return {"title": f"errand_{what}", **closed_object({what: choice_field(names, constrain)})}


def far_places(scene: Scene, thing: Thing, least: int) -> list[str]:
    """One place to put a thing in each room far enough from its own, the better surface first."""
    far, first = set(far_rooms(scene, thing.region, least)), dict[str, Thing]()
    for place in things(scene, "asset", thing.name):
        if place.region in far:
            first.setdefault(place.region, place)
    return [str(place) for place in first.values()]


def far_rooms(scene: Scene, target: str, least: int) -> list[str]:
    """The rooms one can reach from a room in so many hops or more."""
    hops = hop_table(scene)
    return [r.id for r in scene.regions if (hops.distance(r.id, target) or 0) >= least]
