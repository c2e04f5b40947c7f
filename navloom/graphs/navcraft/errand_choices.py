"""An errand in small choices: object, kind of room, furniture there, and robot_1's start.

A model makes one choice at a time, as a person would want it: one of a few objects drawn by the
seed, a kind of room, for each piece of furniture there whether the object goes on or in it, one of
those that it does, then robot_1's start. Every question stands by itself, and the options are only
in the schema of the answer. A small model tends to choose from a list by position, but answers a
plain question within the schema (docs/small-models.md has the figures).

See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench 3.1.2.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from navloom.graphs.navcraft.choices import (
    ChoiceSettings,
    NamedItem,
    Update,
    choice_field,
    drop_refused,
    list_choosable,
    read_item,
    reject_choice,
    scene_text,
)
from navloom.graphs.tool_loop import messages_of
from navloom.prompts.navcraft.profiles import Profile
from navloom.prompts.prompt_loader import RenderedPrompt, load_prompt
from navloom.scenes.distances import hop_table
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.tools.model_output import list_names, object_schema
from navloom.tools.navcraft import relay_task
from navloom.tools.navcraft.task_paths import SoloTask, min_hops, shortest_path, solo_task_answer

_STEPS = ("object", "room", "end", "start")
_FITS, _YES = "fits", "yes"
MOST_OBJECTS, MOST_PLACES, MOST_IN_A_ROOM = 10, 8, 4
"""Most objects, places in all, and places of one room that are offered."""
MOST_WEIGHED = 6
"""Most pieces of furniture for which the model is asked whether the object goes there."""
Picked = Sequence[Sequence[str]]
"""The choices made so far: an object and its room, a kind of room, an asset and its room."""
Weighed = Sequence[Sequence[str]]
"""Furniture that the model was asked about, each with "yes" or "no"."""


def errand_question(
    state: Mapping[str, Any], settings: ChoiceSettings, profile: Profile | None
) -> tuple[RenderedPrompt, dict[str, Any]]:
    """Render the question of the next choice; return it with the schema of its answer."""
    scene, offers = get_scene(settings.scene), _offers(state, settings)
    picked = state.get("picked", [])
    thing = NamedItem(*picked[0]) if picked else NamedItem("", "")
    step, piece = _STEPS[len(picked)], offers.next_furniture()
    offered = offers.names()
    in_words = settings.show_adjacency and not settings.enforces_names
    whole = settings.whole_scene or not settings.show_adjacency
    rendered = load_prompt("navcraft_single_choices").render(
        step=_FITS if piece else step,
        scene=scene_text(scene, settings) if whole else "",
        profile="" if profile is None else json.dumps(profile.model_dump(by_alias=True)),
        object=_spoken(thing.name),
        room=picked[1][0] if len(picked) > 1 else "",
        furniture=_spoken(piece),
        offered=_in_words(step, offered) if in_words else "",
        near=thing.region,
        least=min_hops(settings.tau),
        hint=_advice(offered, state, settings),
    )
    if piece:
        held = choice_field([_YES, "no"], settings.constrain)
        return rendered, object_schema({_FITS: held}, "errand_fits")
    # The worked turns show how furniture is weighed. They did not help with other questions.
    schema = errand_choice_schema(settings, picked, state["seed"], state.get("weighed", []))
    return rendered._replace(turns=()), drop_refused(schema, state)


def _offers(state: Mapping[str, Any], settings: ChoiceSettings) -> ErrandOptions:
    made = state.get("picked", []), state["seed"], state.get("weighed", [])
    return ErrandOptions(settings, *made)


def _spoken(name: str) -> str:
    """Return a name in plain words, with its article."""
    words = name.replace("_", " ")
    if not words or words.endswith("s"):
        return words
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _in_words(step: str, offered: Sequence[str]) -> str:
    if step == "room":
        return "\n".join(f"- {kind}{_for(kind)}" for kind in offered)
    return ", ".join(offered)


def resolve_errand(
    answer: Mapping[str, Any], state: Mapping[str, Any], settings: ChoiceSettings
) -> tuple[dict[str, Any] | None, Update]:
    """Return the whole answer once all choices are made, else None and the update."""
    picked = state.get("picked", [])
    if piece := _offers(state, settings).next_furniture():
        return None, {**_settled(state), "weighed": [[piece, str(answer.get(_FITS))]]}
    named = answer.get(_STEPS[len(picked)])
    match picked:
        case []:
            return None, _take_object(named, state, settings)
        case [thing]:
            return None, _take_room(str(named), NamedItem(*thing), state, settings)
        case [thing, _]:
            return None, _take_end(named, NamedItem(*thing), state, settings)
    scene, thing, place = get_scene(settings.scene), NamedItem(*picked[0]), NamedItem(*picked[2])
    rooms, start = _offers(state, settings).names(), str(named)
    if start not in rooms:
        fault = f"{_too_near(start, thing.region, settings)} Choose one of: {list_names(rooms)}."
        return None, reject_choice(start, "leg_too_short", fault, state, settings)
    errand = SoloTask(start, thing.region, thing.name, place.region, place.name)
    return solo_task_answer(errand, shortest_path(scene, errand)), {}


def _take_object(named: Any, state: Mapping[str, Any], settings: ChoiceSettings) -> Update:
    scene, least = get_scene(settings.scene), min_hops(settings.tau)
    thing = read_item(named, scene, "object")
    if isinstance(thing, str):
        return reject_choice(named, "object_not_there", thing, state, settings)
    if not _has_a_way(scene, thing, least):
        fault = (
            f"Nothing that holds a {thing.name} is {least} doors away from {thing.region}. "
            "Choose an object elsewhere."
        )
        return reject_choice(named, "leg_too_short", fault, state, settings)
    return {**_settled(state), "picked": [[*thing]]}


def _take_room(
    kind: str, thing: NamedItem, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    kinds = _offers(state, settings).names()
    if kind not in kinds:
        far = f"{min_hops(settings.tau)} doors away from {thing.region}"
        fault = f"No {kind[:80]} that holds a {thing.name} is {far}."
        fault = f"{fault} Choose one of: {list_names(kinds)}."
        return reject_choice(kind, "leg_too_short", fault, state, settings)
    return {**_settled(state), "picked": [[kind, ""]]}


def _take_end(
    named: Any, thing: NamedItem, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    scene, least = get_scene(settings.scene), min_hops(settings.tau)
    place = read_item(named, scene, "asset")
    if isinstance(place, str):
        return reject_choice(named, "end_asset_not_there", place, state, settings)
    offered = _offers(state, settings).names()
    if not relay_task.can_hold(place.name, thing.name):
        why = relay_task.cannot_place_text(*place, thing.name)
        fault = f"{why} Choose one of: {list_names(offered)}."
        return reject_choice(named, relay_task.HOLDS_NOTHING, fault, state, settings)
    far = far_rooms(scene, thing.region, least)
    if place.region not in far or far == [place.region]:
        near = _too_near(place.region, thing.region, settings)
        fault = f"{near} Choose one of: {list_names(offered)}."
        return reject_choice(named, "leg_too_short", fault, state, settings)
    return {**_settled(state), "picked": [[*place]]}


def _settled(state: Mapping[str, Any]) -> Update:
    """Return the update that hides the messages so far from the next question."""
    return {"settled": len(messages_of(state))}


def _for(kind: str) -> str:
    return f": {words}" if (words := relay_task.room_purpose(kind)) else ""


def _advice(offered: Sequence[str], state: Mapping[str, Any], settings: ChoiceSettings) -> str:
    if not (settings.recommend and offered):
        return ""
    return f"A good choice: {random.Random(state['seed']).choice(offered)}. "


def _too_near(room: str, target: str, settings: ChoiceSettings) -> str:
    least = min_hops(settings.tau)
    return f"{room[:80]} will not do: it must be at least {least} doors away from {target}."


class ErrandOptions:
    """Options for the next choice of an errand.

    Args:
        settings: the home, tau, and how the model is helped.
        picked: the choices made so far, 0 to 3.
        seed: draws the objects and the places that are offered, and their order.
        weighed: furniture that the model was asked about; if some fits, only that is offered.
    """

    def __init__(
        self, settings: ChoiceSettings, picked: Picked, seed: int, weighed: Weighed = ()
    ) -> None:
        self._scene, self._least = get_scene(settings.scene), min_hops(settings.tau)
        self._picked, self._seed = picked, seed
        self._weighs = settings.weigh
        self._weighed = {piece: answer for piece, answer in weighed}  # noqa: C416

    def next_furniture(self) -> str:
        """Return the next furniture to ask about; empty if none is left or needs a choice."""
        if not self._weighs or len(self._picked) != 2:
            return ""
        pieces = [*dict.fromkeys(place.name for place in self._places())][:MOST_WEIGHED]
        left = [name for name in pieces if name not in self._weighed]
        return left[0] if left and len(pieces) > 1 else ""

    def names(self) -> list[str]:
        """Return the names that are offered for the next choice of the errand.

        The choices are, in this order: the object, the kind of the destination room, the furniture
        there, and the start region. Objects and furniture are limited samples. Kinds of rooms and
        starts are all valid ones.
        """
        if not self._picked:
            return self._objects()
        thing = NamedItem(*self._picked[0])
        if len(self._picked) == 1:
            places = far_places(self._scene, thing, self._least)
            return sorted({self._scene.region_by_id[place.region].label for place in places})
        if len(self._picked) == 2:
            places = self._places()
            fit = [place for place in places if self._weighed.get(place.name) == _YES]
            return [str(place) for place in fit or places]
        end = self._picked[2][1]
        return [r for r in far_rooms(self._scene, thing.region, self._least) if r != end]

    def _places(self) -> list[NamedItem]:
        """Return furniture in rooms of the chosen kind, a few pieces of each room."""
        places = far_places(self._scene, NamedItem(*self._picked[0]), self._least)
        random.Random(f"{self._seed}:{self._picked[0]}").shuffle(places)
        labels = {region.id: region.label for region in self._scene.regions}
        return _few([each for each in places if labels[each.region] == self._picked[1][0]])

    def _objects(self) -> list[str]:
        """Return objects that have a valid start and end, one of each name."""
        fit = [
            t
            for t in list_choosable(self._scene, "object")
            if _has_a_way(self._scene, t, self._least)
        ]
        random.Random(self._seed).shuffle(fit)
        return [str(thing) for thing in {each.name: each for each in fit}.values()][:MOST_OBJECTS]


def _few(places: Sequence[NamedItem]) -> list[NamedItem]:
    taken, offered = Counter[str](), list[NamedItem]()
    for place in places:
        taken[place.region] += 1
        if taken[place.region] <= MOST_IN_A_ROOM:
            offered.append(place)
    return offered[:MOST_PLACES]


def _has_a_way(scene: Scene, thing: NamedItem, least: int) -> bool:
    return len(far_rooms(scene, thing.region, least)) > 1 and bool(far_places(scene, thing, least))


def errand_choice_schema(
    settings: ChoiceSettings, picked: Picked, seed: int, weighed: Weighed = ()
) -> dict[str, Any]:
    """Return the schema of the next choice of an errand.

    Args:
        settings: the home, and how the model is helped: whether names are listed, and whether only
            the valid ones or all.
        picked: the choices made so far, 0 to 3.
        seed: as of :class:`ErrandOptions`.
        weighed: as of :class:`ErrandOptions`.
    """
    scene, step = get_scene(settings.scene), _STEPS[len(picked)]
    names: Sequence[object] = ErrandOptions(settings, picked, seed, weighed).names()
    if not settings.show_adjacency:
        every: dict[str, Sequence[object]] = {
            "object": list_choosable(scene, "object"),
            "room": sorted({region.label for region in scene.regions}),
            "end": list_choosable(scene, "asset", picked[0][0] if picked else None),
            "start": [region.id for region in scene.regions],
        }
        names = every[step]
    field = choice_field(names, settings.lists_names)
    return object_schema({step: field}, f"errand_{step}")


def far_places(scene: Scene, thing: NamedItem, least: int) -> list[NamedItem]:
    """Return the places that can hold an object, in rooms far enough from the object's room."""
    far = set(far_rooms(scene, thing.region, least))
    return [place for place in list_choosable(scene, "asset", thing.name) if place.region in far]


def far_rooms(scene: Scene, target: str, least: int) -> list[str]:
    """Return the rooms that are at least ``least`` hops from the room ``target``, and reach it."""
    hops = hop_table(scene)
    return [r.id for r in scene.regions if (hops.distance(r.id, target) or 0) >= least]
