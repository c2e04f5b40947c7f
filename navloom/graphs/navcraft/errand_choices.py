"""An errand in small choices: which object, to what kind of room, onto what there, and from where.

A model is asked what a person would want, one thing at a time: a few objects drawn by the seed, the
kinds of rooms that are far enough with what they are for, the places there, then robot_1's start.

See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench 3.1.2.
"""

from __future__ import annotations

import json
import random
from collections import Counter
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
from navloom.tools.navcraft.worth import HOLDS_NOTHING, can_hold, holds_nothing, purpose

_STEPS = ("object", "room", "end", "start")
MOST_OBJECTS, MOST_PLACES, MOST_IN_A_ROOM = 10, 8, 2
"""How many objects, places in all and places of one room are offered to choose from."""
Picked = Sequence[Sequence[str]]
"""The choices that were made: an object and its room, a kind of room, an asset and its room."""


def errand_question(
    state: Mapping[str, Any], settings: ChoiceSettings, profile: Profile | None
) -> tuple[Rendered, dict[str, Any]]:
    """The opening of an errand's conversation, and the schema of what is asked now."""
    offered = Offers(settings, [], state["seed"]).names()
    hint = f"Objects: {listed(offered)}." if settings.show_adjacency and offered else ""
    rendered = load_prompt("navcraft_single_choices").render(
        scene=shown_scene(scene_of(settings.scene), settings),
        profile="" if profile is None else json.dumps(profile.model_dump(by_alias=True)),
        hint=" ".join(part for part in (hint, _advice(offered, state, settings)) if part),
        seed=state["seed"],
        min_hops=least_hops(settings.tau),
    )
    schema = errand_choice_schema(settings, state.get("picked", []), state["seed"])
    return rendered, without_refused(schema, state)


def chosen_errand(
    answer: Mapping[str, Any], state: Mapping[str, Any], settings: ChoiceSettings
) -> tuple[dict[str, Any] | None, Update]:
    """The whole answer where all choices are made, else what to do next."""
    picked = state.get("picked", [])
    named = answer.get(_STEPS[len(picked)])
    match picked:
        case []:
            return None, _take_object(named, state, settings)
        case [thing]:
            return None, _take_room(str(named), Thing(*thing), state, settings)
        case [thing, _]:
            return None, _take_end(named, Thing(*thing), state, settings)
    scene, thing, place = scene_of(settings.scene), Thing(*picked[0]), Thing(*picked[2])
    rooms, start = Offers(settings, picked, state["seed"]).names(), str(named)
    if start not in rooms:
        fault = f"{_too_near(start, thing.region, settings)} Choose one of: {listed(rooms)}."
        return None, refuse(start, "leg_too_short", fault, state, settings)
    errand = Errand(start, thing.region, thing.name, place.region, place.name)
    return errand_answer(errand, shortest_path(scene, errand)), {}


def _take_object(named: Any, state: Mapping[str, Any], settings: ChoiceSettings) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    thing = read_thing(named, scene, "object")
    if isinstance(thing, str):
        return refuse(named, "object_not_there", thing, state, settings)
    if not _has_a_way(scene, thing, least):
        fault = (
            f"Nothing that holds a {thing.name} is {least} doors away from {thing.region}. "
            "Choose an object elsewhere."
        )
        return refuse(named, "leg_too_short", fault, state, settings)
    return _taken([*thing], state, settings)


def _take_room(
    kind: str, thing: Thing, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    kinds = Offers(settings, [thing], state["seed"]).names()
    if kind not in kinds:
        far = f"{least_hops(settings.tau)} doors away from {thing.region}"
        fault = (
            f"No {kind[:80]} that holds a {thing.name} is {far}. Choose one of: {listed(kinds)}."
        )
        return refuse(kind, "leg_too_short", fault, state, settings)
    return _taken([kind, ""], state, settings)


def _take_end(
    named: Any, thing: Thing, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    place = read_thing(named, scene, "asset")
    if isinstance(place, str):
        return refuse(named, "end_asset_not_there", place, state, settings)
    offered = Offers(settings, state["picked"], state["seed"]).names()
    if not can_hold(place.name, thing.name):
        fault = f"{holds_nothing(*place, thing.name)} Choose one of: {listed(offered)}."
        return refuse(named, HOLDS_NOTHING, fault, state, settings)
    far = far_rooms(scene, thing.region, least)
    if place.region not in far or far == [place.region]:
        fault = (
            f"{_too_near(place.region, thing.region, settings)} Choose one of: {listed(offered)}."
        )
        return refuse(named, "leg_too_short", fault, state, settings)
    return _taken([*place], state, settings)


def _taken(picked: list[str], state: Mapping[str, Any], settings: ChoiceSettings) -> Update:
    """Keep a choice and ask for the next one."""
    made = [*state.get("picked", []), picked]
    (thing, region), step = made[0], _STEPS[len(made)]
    offered = Offers(settings, made, state["seed"]).names()
    far = f"at least {least_hops(settings.tau)} doors away from {region}"
    lists, told = {
        "room": (
            "Kinds of rooms that are far enough, and what they are for:\n"
            + "".join(f"- {kind}{_for(kind)}\n" for kind in offered),
            f"A person asks to have the {thing} brought to where it is used or kept. In which kind"
            ' of room is that? Answer with JSON: {"room": "[kind of room]"}',
        ),
        "end": (
            f"Furniture of the {picked[0]}, {far}: {', '.join(offered)}.\n",
            f"On or in which would a person want the {thing}?"
            ' Answer with JSON: {"end": "[furniture] in [room]"}',
        ),
        "start": (
            f"Rooms {far}: {', '.join(offered)}.\n",
            'Now choose where robot_1 starts. Answer with JSON: {"start": "[room]"}',
        ),
    }[step]
    shown = lists if settings.show_adjacency else ""
    return {
        "messages": [HumanMessage(f"{shown}{_advice(offered, state, settings)}{told}")],
        "picked": [picked],
    }


def _for(kind: str) -> str:
    return f": {words}" if (words := purpose(kind)) else ""


def _advice(offered: Sequence[str], state: Mapping[str, Any], settings: ChoiceSettings) -> str:
    if not (settings.recommend and offered):
        return ""
    return f"A good choice: {random.Random(state['seed']).choice(offered)}. "


def _too_near(room: str, target: str, settings: ChoiceSettings) -> str:
    least = least_hops(settings.tau)
    return f"{room[:80]} will not do: it must be at least {least} doors away from {target}."


class Offers:
    """What may be chosen next of an errand.

    Args:
        settings: the home, tau, and how the model is helped.
        picked: the choices that were made, 0 to 3.
        seed: draws the objects and the places that are offered, and their order.
    """

    def __init__(self, settings: ChoiceSettings, picked: Picked, seed: int) -> None:
        self._scene, self._least = scene_of(settings.scene), least_hops(settings.tau)
        self._picked, self._seed = picked, seed

    def names(self) -> list[str]:
        """The names that are offered; of starts and kinds of rooms all there are."""
        if not self._picked:
            return self._objects()
        thing, draw = Thing(*self._picked[0]), random.Random(f"{self._seed}:{self._picked[0]}")
        places = far_places(self._scene, thing, self._least)
        labels = {region.id: region.label for region in self._scene.regions}
        if len(self._picked) == 1:
            return sorted({labels[place.region] for place in places})
        if len(self._picked) == 2:
            draw.shuffle(places)
            return _few([p for p in places if labels[p.region] == self._picked[1][0]])
        end = self._picked[2][1]
        return [r for r in far_rooms(self._scene, thing.region, self._least) if r != end]

    def _objects(self) -> list[str]:
        """One of each name, of those that have a way on."""
        fit = [t for t in things(self._scene, "object") if _has_a_way(self._scene, t, self._least)]
        random.Random(self._seed).shuffle(fit)
        return [str(thing) for thing in {each.name: each for each in fit}.values()][:MOST_OBJECTS]


def _few(places: Sequence[Thing]) -> list[str]:
    taken, offered = Counter[str](), list[str]()
    for place in places:
        taken[place.region] += 1
        if taken[place.region] <= MOST_IN_A_ROOM:
            offered.append(str(place))
    return offered[:MOST_PLACES]


def _has_a_way(scene: Scene, thing: Thing, least: int) -> bool:
    return len(far_rooms(scene, thing.region, least)) > 1 and bool(far_places(scene, thing, least))


def errand_choice_schema(settings: ChoiceSettings, picked: Picked, seed: int) -> dict[str, Any]:
    """The schema of the next choice of an errand.

    Args:
        settings: the home, and how the model is helped: whether names are listed, and whether those
            that will do or all there are.
        picked: the choices that were made, 0 to 3.
        seed: as of :class:`Offers`.
    """
    scene, step = scene_of(settings.scene), _STEPS[len(picked)]
    names: Sequence[object] = Offers(settings, picked, seed).names()
    if not settings.show_adjacency:
        every: dict[str, Sequence[object]] = {
            "object": things(scene, "object"),
            "room": sorted({region.label for region in scene.regions}),
            "end": things(scene, "asset", picked[0][0] if picked else None),
            "start": [region.id for region in scene.regions],
        }
        names = every[step]
    field = choice_field(names, settings.lists_names)
    return {"title": f"errand_{step}", **closed_object({step: field})}


def far_places(scene: Scene, thing: Thing, least: int) -> list[Thing]:
    """The places that hold a thing, in the rooms far enough from its own."""
    far = set(far_rooms(scene, thing.region, least))
    return [place for place in things(scene, "asset", thing.name) if place.region in far]


def far_rooms(scene: Scene, target: str, least: int) -> list[str]:
    """The rooms one can reach from a room in so many hops or more."""
    hops = hop_table(scene)
    return [r.id for r in scene.regions if (hops.distance(r.id, target) or 0) >= least]
