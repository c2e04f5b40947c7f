"""A relay in small choices: one of the ways that the tool ranks, or each part of it by name.

Of the ranked list a model reads numbers and robot_1's metres alone and answers with a number: a
small model that reads places, helpers and times beside them takes a line by its words, not the
shortest (docs/small-models.md has the figures). Otherwise it names where robot_2 starts, where the
object is handed over, and the type. See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench
3.1.3.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from navloom.graphs.turns import sent_back
from navloom.prompts.load import Rendered, load_prompt
from navloom.tools.forms import Violation, closed_object, listed
from navloom.tools.navcraft.errand import Errand
from navloom.tools.navcraft.optimum import Relays
from navloom.tools.navcraft.relay import COLLAB_TYPES, RelayChoice, check_collab_path_efficient
from navloom.tools.navcraft.task import RelayTask
from navloom.tools.navcraft.wish import NOT_AS_ASKED, Wish, starts_instead

MOST_PLACES = 6
"""Handoffs that are shown."""
_LONGEST_NUMBER = 20
"""Characters that are read of a number that a model answers with."""


class Handoff(NamedTuple):
    """A place to hand the object over, and a type.

    Attributes:
        place: the asset and its room.
        kind: ``"Type-A1"`` or ``"Type-A2"``.
        metres: what robot_1 walks then.
        helper: where robot_2 best starts; empty where none is named.
    """

    place: NamedThing
    kind: str
    metres: float
    helper: str = ""

    def __str__(self) -> str:
        return f"{self.place} with {self.kind}"


@dataclass(frozen=True)
class Offer:
    """What a model is offered to make a relay of.

    Attributes:
        relays: every guarded relay of the errand.
        wish: what is asked.
        settings: how the model is helped.
        seed: draws and orders a blind list.
    """

    relays: Relays
    wish: Wish
    settings: ChoiceSettings
    seed: int

    @property
    def task(self) -> RelayTask:
        """The single-robot task."""
        return self.relays.task

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which relays are as asked, and at a place whose name is shown."""
        shown = {(each.region, each.name) for each in self.places}
        named = [(each.region, each.name) in shown for each in self.relays.transfers]
        return (
            self.wish.kept_by(self.relays) & np.array(named, dtype=np.bool_)[self.relays.transfer]
        )

    @cached_property
    def places(self) -> list[NamedThing]:
        """The furniture that may be named: it holds the object."""
        return things(self.task.scene, "asset", self.task.object_item.prompt_name)

    @cached_property
    def helpers(self) -> list[str]:
        """Where robot_2 may start, in scene order."""
        found = np.unique(self.relays.start[self.kept])
        return [self.relays.starts[i].region for i in found]

    @cached_property
    def handoffs(self) -> list[Handoff]:
        """At most ``MOST_PLACES``: the best first, or in the seed's order."""
        return self._ranked() if self.settings.choices == "ranked" else self._blind()

    def _ranked(self) -> list[Handoff]:
        """The best handoff of each room and type, with the helper start that is best for it."""
        solo, found = self.task.solo_metres or 0.0, dict[tuple[str, str], Handoff]()
        ranking = self.relays.ranking("alpha")
        for row in ranking[self.kept[ranking]]:
            relay = self.relays.relay(int(row))
            key = relay.transfer_region, relay.collab_type
            if key not in found:
                found[key] = Handoff(
                    NamedThing(relay.transfer_asset, relay.transfer_region),
                    relay.collab_type,
                    relay.alpha * solo,
                    relay.robot_2_start_region,
                )
            if len(found) == MOST_PLACES:
                break
        return [*found.values()]

    def _blind(self) -> list[Handoff]:
        """Some of those there are: what may be, not what is best."""
        solo, found = self.task.solo_metres or 0.0, dict[tuple[int, int], Handoff]()
        for row in np.flatnonzero(self.kept):
            relay = self.relays.relay(int(row))
            place = NamedThing(relay.transfer_asset, relay.transfer_region)
            # What robot_1 walks is the same wherever robot_2 comes from.
            key = int(self.relays.transfer[row]), int(self.relays.type_index[row])
            found[key] = Handoff(place, relay.collab_type, relay.alpha * solo)
        ordered = [found[key] for key in sorted(found)]
        return random.Random(self.seed).sample(ordered, min(MOST_PLACES, len(ordered)))

    @cached_property
    def ways(self) -> dict[str, Handoff]:
        """What is chosen from by number, the shortest for robot_1 first; empty: names are asked."""
        numbered = self.settings.choices == "ranked" and self.settings.show_adjacency
        return {str(n): each for n, each in enumerate(self.handoffs, 1)} if numbered else {}

    def facts(self) -> str:
        """What is asked, who may start where, and some handoffs; or the ways and their metres."""
        task = self.task
        if self.ways:
            shown = [f"{number}: {way.metres:.1f} m" for number, way in self.ways.items()]
            # Its first is the optimum of what is asked for: the ranking is the planner's.
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
        """The schema of a way's number, or of the choices of a relay."""
        constrain, scene = self.settings.lists_names, self.task.scene
        if self.ways:
            numbers: dict[str, Any] = {"enum": [*map(int, self.ways)]} if constrain else {}
            return {
                "title": "relay_choice",
                **closed_object({"way": {"type": "integer", **numbers}}),
            }
        barred = self.task.target_region if self.wish.elsewhere else None
        rooms = [region.id for region in scene.regions if region.id != barred]
        kinds = [self.wish.type] if self.wish.type else [*COLLAB_TYPES]
        fields = {
            "robot_2": choice_field(rooms, constrain),
            "handoff": choice_field(self.places, constrain),
            "type": {"type": "string", "enum": kinds},
        }
        return {"title": "relay_choice", **closed_object(fields)}


def relay_question(
    state: Mapping[str, Any], offer: Offer, errand: Errand
) -> tuple[Rendered, dict[str, Any]]:
    """The opening of a relay's conversation, and the schema of what is asked."""
    settings = offer.settings
    # A way's line says all that its choice needs.
    hidden = offer.ways and not settings.whole_scene
    rendered = load_prompt("navcraft_collab_choices").render(
        scene="" if hidden else shown_scene(offer.task.scene, settings),
        errand=f"{errand.instruction} It starts in {errand.start}.",
        facts=offer.facts(),
        ways=bool(offer.ways),
        type=offer.wish.type,
        seed=state["seed"],
    )
    return rendered, without_refused(offer.schema(), state)


def chosen_relay(
    answer: Mapping[str, Any], state: Mapping[str, Any], offer: Offer, *, strict: bool
) -> tuple[RelayChoice | None, Update]:
    """The relay where the tool finds it efficient and it is as asked, else why it is not."""
    task, settings = offer.task, offer.settings
    if offer.ways:
        number = str(answer.get("way")).strip()[:_LONGEST_NUMBER]
        if number not in offer.ways:
            fault = f"There is no way {number}. Answer with one of: {listed([*offer.ways])}."
            return None, refuse(number, "way_not_there", fault, state, settings)
        way = offer.ways[number]
        answer = {"robot_2": way.helper, "handoff": str(way.place), "type": way.kind}
    named, kind = answer.get("handoff"), str(answer.get("type"))
    place = read_thing(named, task.scene, "asset")
    if isinstance(place, str):
        return None, refuse(named, "transfer_asset_not_there", place, state, settings)
    if kind not in COLLAB_TYPES:
        fault = f"'{kind[:40]}' is no type: choose Type-A1 or Type-A2."
        return None, sent_back(state, [Violation("wrong_form", fault)], settings)
    choice = RelayChoice(str(answer.get("robot_2")), place.region, place.name, kind)
    found = check_collab_path_efficient(task, *choice, strict=strict)
    code = NOT_AS_ASKED if found["efficient"] else "not_efficient"
    if found["efficient"]:
        why = offer.wish.why_not(task, choice, found["r1_rate"], found["g_rate"])
        if why is None:
            return choice, {}
    else:
        alone = task.solo_metres or 0.0
        why = found.get("error") or (
            f"With {place} and {kind} robot_1 walks {found['r1_rate'] * alone:.0f} m, alone "
            f"{alone:.0f} m: no gain."
        )
    # What is best changed is the start, unless the handoff will not do with any.
    starts = starts_instead(offer.relays, offer.kept, choice)
    if settings.show_adjacency or starts:
        why += f" Choose one of: {listed(starts or [*map(str, offer.handoffs)])}."
    at_fault = choice.robot_2_start_region if starts else named
    return None, refuse(at_fault, code, why, state, settings)
