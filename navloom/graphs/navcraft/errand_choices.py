"""An errand in small choices: which object, to what kind of room, onto what there, and from where.

A model is asked what a person would want, one thing at a time: which of a few objects drawn by the
seed, which kind of room, of each piece of furniture there whether the thing goes on or in it, which
of those that do, then robot_1's start. Every question stands by itself, and what is offered stands
in the schema of the answer alone: a small model that reads a list takes from it by place, and one
that answers a plain question is held to what there is (docs/small-models.md has the figures).

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
    NamedThing,
    Update,
    choice_field,
    read_thing,
    refuse,
    shown_scene,
    things,
    without_refused,
)
from navloom.graphs.turns import said
from navloom.prompts.load import Rendered, load_prompt
from navloom.prompts.navcraft.profiles import Profile
from navloom.scenes.distances import hop_table
from navloom.scenes.scene import Scene
from navloom.scenes.uri import scene_of
from navloom.tools.forms import closed_object, listed
from navloom.tools.navcraft.paths import Errand, errand_answer, least_hops, shortest_path
from navloom.tools.navcraft.task import HOLDS_NOTHING, can_hold, holds_nothing, purpose

_STEPS = ("object", "room", "end", "start")
_FITS, _YES = "fits", "yes"
MOST_OBJECTS, MOST_PLACES, MOST_IN_A_ROOM = 10, 8, 4
"""How many objects, places in all and places of one room are offered to choose from."""
MOST_WEIGHED = 6
"""Of how many pieces of furniture it is asked whether the object goes there."""
Picked = Sequence[Sequence[str]]
"""The choices that were made: an object and its room, a kind of room, an asset and its room."""
Weighed = Sequence[Sequence[str]]
"""Furniture that was asked of, each with "yes" or "no"."""


def errand_question(
    state: Mapping[str, Any], settings: ChoiceSettings, profile: Profile | None
) -> tuple[Rendered, dict[str, Any]]:
    """The question of the next choice, by itself, and the schema of its answer."""
    scene, picked, offers = (
        scene_of(settings.scene),
        state.get("picked", []),
        _offers(state, settings),
    )
    thing = NamedThing(*picked[0]) if picked else NamedThing("", "")
    step, piece = _STEPS[len(picked)], offers.unweighed()
    offered = offers.names()
    in_words = settings.show_adjacency and not settings.schema_holds
    whole = settings.whole_scene or not settings.show_adjacency
    rendered = load_prompt("navcraft_single_choices").render(
        step=_FITS if piece else step,
        scene=shown_scene(scene, settings) if whole else "",
        profile="" if profile is None else json.dumps(profile.model_dump(by_alias=True)),
        object=_spoken(thing.name),
        room=picked[1][0] if len(picked) > 1 else "",
        furniture=_spoken(piece),
        offered=_in_words(step, offered) if in_words else "",
        near=thing.region,
        least=least_hops(settings.tau),
        hint=_advice(offered, state, settings),
    )
    if piece:
        held = choice_field([_YES, "no"], settings.constrain)
        return rendered, closed_object({_FITS: held}, "errand_fits")
    # The worked turns show how furniture is weighed; before other questions they did not help.
    schema = errand_choice_schema(settings, picked, state["seed"], state.get("weighed", []))
    return rendered._replace(turns=()), without_refused(schema, state)


def _offers(state: Mapping[str, Any], settings: ChoiceSettings) -> Offers:
    made = state.get("picked", []), state["seed"], state.get("weighed", [])
    return Offers(settings, *made)


def _spoken(name: str) -> str:
    """A name as people say it, with its article."""
    words = name.replace("_", " ")
    if not words or words.endswith("s"):
        return words
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _in_words(step: str, offered: Sequence[str]) -> str:
    if step == "room":
        return "\n".join(f"- {kind}{_for(kind)}" for kind in offered)
    return ", ".join(offered)


def chosen_errand(
    answer: Mapping[str, Any], state: Mapping[str, Any], settings: ChoiceSettings
) -> tuple[dict[str, Any] | None, Update]:
    """The whole answer where all choices are made, else what to do next."""
    picked = state.get("picked", [])
    if piece := _offers(state, settings).unweighed():
        return None, {**_settled(state), "weighed": [[piece, str(answer.get(_FITS))]]}
    named = answer.get(_STEPS[len(picked)])
    match picked:
        case []:
            return None, _take_object(named, state, settings)
        case [thing]:
            return None, _take_room(str(named), NamedThing(*thing), state, settings)
        case [thing, _]:
            return None, _take_end(named, NamedThing(*thing), state, settings)
    scene, thing, place = scene_of(settings.scene), NamedThing(*picked[0]), NamedThing(*picked[2])
    rooms, start = _offers(state, settings).names(), str(named)
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
    return {**_settled(state), "picked": [[*thing]]}


def _take_room(
    kind: str, thing: NamedThing, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    kinds = _offers(state, settings).names()
    if kind not in kinds:
        far = f"{least_hops(settings.tau)} doors away from {thing.region}"
        fault = (
            f"No {kind[:80]} that holds a {thing.name} is {far}. Choose one of: {listed(kinds)}."
        )
        return refuse(kind, "leg_too_short", fault, state, settings)
    return {**_settled(state), "picked": [[kind, ""]]}


def _take_end(
    named: Any, thing: NamedThing, state: Mapping[str, Any], settings: ChoiceSettings
) -> Update:
    scene, least = scene_of(settings.scene), least_hops(settings.tau)
    place = read_thing(named, scene, "asset")
    if isinstance(place, str):
        return refuse(named, "end_asset_not_there", place, state, settings)
    offered = _offers(state, settings).names()
    if not can_hold(place.name, thing.name):
        fault = f"{holds_nothing(*place, thing.name)} Choose one of: {listed(offered)}."
        return refuse(named, HOLDS_NOTHING, fault, state, settings)
    far = far_rooms(scene, thing.region, least)
    if place.region not in far or far == [place.region]:
        fault = (
            f"{_too_near(place.region, thing.region, settings)} Choose one of: {listed(offered)}."
        )
        return refuse(named, "leg_too_short", fault, state, settings)
    return {**_settled(state), "picked": [[*place]]}


def _settled(state: Mapping[str, Any]) -> Update:
    """What was said so far is not shown again: the next question stands by itself."""
    return {"settled": len(said(state))}


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
        weighed: furniture that the model was asked of; where some goes, only that is offered.
    """

    def __init__(
        self, settings: ChoiceSettings, picked: Picked, seed: int, weighed: Weighed = ()
    ) -> None:
        self._scene, self._least = scene_of(settings.scene), least_hops(settings.tau)
        self._picked, self._seed = picked, seed
        self._weighs = settings.weigh
        self._weighed = {piece: answer for piece, answer in weighed}  # noqa: C416

    def unweighed(self) -> str:
        """The furniture that is asked of next; empty where there is none, or nothing to choose."""
        if not self._weighs or len(self._picked) != 2:
            return ""
        pieces = [*dict.fromkeys(place.name for place in self._places())][:MOST_WEIGHED]
        left = [name for name in pieces if name not in self._weighed]
        return left[0] if left and len(pieces) > 1 else ""

    def names(self) -> list[str]:
        """The names that are offered; of starts and kinds of rooms all there are."""
        if not self._picked:
            return self._objects()
        thing = NamedThing(*self._picked[0])
        if len(self._picked) == 1:
            places = far_places(self._scene, thing, self._least)
            return sorted({self._scene.region_by_id[place.region].label for place in places})
        if len(self._picked) == 2:
            places = self._places()
            fit = [place for place in places if self._weighed.get(place.name) == _YES]
            return [str(place) for place in fit or places]
        end = self._picked[2][1]
        return [r for r in far_rooms(self._scene, thing.region, self._least) if r != end]

    def _places(self) -> list[NamedThing]:
        """The furniture of the kind of room, a few of each room."""
        places = far_places(self._scene, NamedThing(*self._picked[0]), self._least)
        random.Random(f"{self._seed}:{self._picked[0]}").shuffle(places)
        labels = {region.id: region.label for region in self._scene.regions}
        return _few([each for each in places if labels[each.region] == self._picked[1][0]])

    def _objects(self) -> list[str]:
        """One of each name, of those that have a way on."""
        fit = [t for t in things(self._scene, "object") if _has_a_way(self._scene, t, self._least)]
        random.Random(self._seed).shuffle(fit)
        return [str(thing) for thing in {each.name: each for each in fit}.values()][:MOST_OBJECTS]


def _few(places: Sequence[NamedThing]) -> list[NamedThing]:
    taken, offered = Counter[str](), list[NamedThing]()
    for place in places:
        taken[place.region] += 1
        if taken[place.region] <= MOST_IN_A_ROOM:
            offered.append(place)
    return offered[:MOST_PLACES]


def _has_a_way(scene: Scene, thing: NamedThing, least: int) -> bool:
    return len(far_rooms(scene, thing.region, least)) > 1 and bool(far_places(scene, thing, least))


def errand_choice_schema(
    settings: ChoiceSettings, picked: Picked, seed: int, weighed: Weighed = ()
) -> dict[str, Any]:
    """The schema of the next choice of an errand.

    Args:
        settings: the home, and how the model is helped: whether names are listed, and whether those
            that will do or all there are.
        picked: the choices that were made, 0 to 3.
        seed: as of :class:`Offers`.
        weighed: likewise.
    """
    scene, step = scene_of(settings.scene), _STEPS[len(picked)]
    names: Sequence[object] = Offers(settings, picked, seed, weighed).names()
    if not settings.show_adjacency:
        every: dict[str, Sequence[object]] = {
            "object": things(scene, "object"),
            "room": sorted({region.label for region in scene.regions}),
            "end": things(scene, "asset", picked[0][0] if picked else None),
            "start": [region.id for region in scene.regions],
        }
        names = every[step]
    field = choice_field(names, settings.lists_names)
    return closed_object({step: field}, f"errand_{step}")


def far_places(scene: Scene, thing: NamedThing, least: int) -> list[NamedThing]:
    """The places that hold a thing, in the rooms far enough from its own."""
    far = set(far_rooms(scene, thing.region, least))
    return [place for place in things(scene, "asset", thing.name) if place.region in far]


def far_rooms(scene: Scene, target: str, least: int) -> list[str]:
    """The rooms one can reach from a room in so many hops or more."""
    hops = hop_table(scene)
    return [r.id for r in scene.regions if (hops.distance(r.id, target) or 0) >= least]
