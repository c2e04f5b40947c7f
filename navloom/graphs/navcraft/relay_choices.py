"""A relay in small choices: where robot_2 starts, where the object is handed over, and the type.

See :mod:`navloom.graphs.navcraft.choices`; source: CoNavBench 3.1.3.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

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
from navloom.graphs.turns import sent_back
from navloom.prompts.load import Rendered, load_prompt
from navloom.scenes.scene import Scene
from navloom.tools.forms import Violation, closed_object, listed
from navloom.tools.navcraft.errand import Errand
from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    RelayChoice,
    check_collab_path_efficient,
    relay_legs,
)
from navloom.tools.navcraft.task import RelayTask

MOST_PLACES = 6
"""Admissible handoffs that are shown."""


def relay_question(
    state: Mapping[str, Any],
    task: RelayTask,
    errand: Errand,
    settings: ChoiceSettings,
    *,
    strict: bool,
) -> tuple[Rendered, dict[str, Any]]:
    """The opening of a relay's conversation, and the schema of what is asked."""
    facts = relay_facts(task, state["seed"], settings, strict=strict)
    if settings.recommend and (best := all_relays(task, strict=strict).best("alpha")):
        facts += (
            f"\nA good choice: robot_2 in {best.robot_2_start_region}, handoff "
            f"{best.transfer_asset} in {best.transfer_region}, {best.collab_type}."
        )
    rendered = load_prompt("navcraft_collab_choices").render(
        scene=shown_scene(task.scene, settings),
        errand=f"{errand.instruction} It starts in {errand.start}.",
        facts=facts,
        seed=state["seed"],
    )
    return rendered, without_refused(
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
        return None, refuse(named, "transfer_asset_not_there", place, state, settings)
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
        return None, refuse(helper, "not_efficient", fault, state, settings)
    alone = task.solo_metres or 0.0
    why = found.get("error") or (
        f"With {place} and {kind} robot_1 walks {found['r1_rate'] * alone:.0f} m, alone "
        f"{alone:.0f} m: no gain."
    )
    if settings.show_adjacency:
        others = map(str, offered_handoffs(task, state["seed"], settings, strict=strict))
        why += f" Choose one of: {listed([*others])}."
    return None, refuse(named, "not_efficient", why, state, settings)


def relay_choice_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
    """The schema of the choices of a relay."""
    fields = {
        "robot_2": choice_field([region.id for region in scene.regions], constrain),
        "handoff": choice_field(things(scene, "asset"), constrain),
        "type": {"type": "string", "enum": list(COLLAB_TYPES)},
    }
    return {"title": "relay_choice", **closed_object(fields)}


class Handoff(NamedTuple):
    """A place to hand the object over, and a type.

    Attributes:
        place: the asset and its room.
        kind: ``"Type-A1"`` or ``"Type-A2"``.
        metres: what robot_1 walks then.
        helper: where robot_2 best starts; empty where none is named.
        seconds: until the object lies where it belongs, both robots at 1 m/s, with that helper.
    """

    place: Thing
    kind: str
    metres: float
    helper: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.place} with {self.kind}"

    @property
    def told(self) -> str:
        """The line that a model reads."""
        if not self.helper:
            return f"{self}: {self.metres:.0f} m"
        return (
            f"{self}, robot_2 from {self.helper}: robot_1 walks {self.metres:.0f} m, "
            f"done after {self.seconds:.0f} s"
        )


def relay_facts(
    task: RelayTask, seed: int, settings: ChoiceSettings, *, strict: bool = False
) -> str:
    """Who may start where, and some handoffs that spare robot_1 a part of its way."""
    alone = f"Alone robot_1 walks {task.solo_metres or 0:.0f} m."
    if not settings.show_adjacency:
        return alone
    heading = {
        "ranked": "The best handoffs, the one in which robot_1 walks least first:",
        "blind": "Some handoffs, and what robot_1 walks then:",
    }
    return "\n".join(
        [
            alone,
            f"robot_2 may start in: {', '.join(task.fit_helpers) or 'nowhere'}.",
            heading[settings.choices],
            *(each.told for each in offered_handoffs(task, seed, settings, strict=strict)),
        ]
    )


def offered_handoffs(
    task: RelayTask, seed: int, settings: ChoiceSettings, *, strict: bool = False
) -> list[Handoff]:
    """The handoffs that a model is shown, at most ``MOST_PLACES``; each spares robot_1 some way."""
    if settings.choices == "ranked":
        return ranked_handoffs(task, strict=strict)
    return blind_handoffs(task, seed)


def ranked_handoffs(task: RelayTask, *, strict: bool = False) -> list[Handoff]:
    """The best handoff of each room and type with the helper start that is best for it.

    Best first by what robot_1 walks, then by the time; the first is the best there is among the
    assets that are shown.
    """
    relays = all_relays(task, strict=strict)
    solo, shown = task.solo_metres or 0.0, set(things(task.scene, "asset"))
    found: dict[tuple[str, str], Handoff] = {}
    for row in relays.ranking("alpha"):
        relay = relays.relay(int(row))
        place = Thing(relay.transfer_asset, relay.transfer_region)
        metres, key = relay.alpha * solo, (relay.transfer_region, relay.collab_type)
        if metres >= task.shorter or len(found) == MOST_PLACES:
            break
        if place in shown and key not in found:
            helper, seconds = relay.robot_2_start_region, relay.g_rate * solo
            found[key] = Handoff(place, relay.collab_type, metres, helper, seconds)
    return [*found.values()]


def blind_handoffs(task: RelayTask, seed: int) -> list[Handoff]:
    """Some of the handoffs there are, drawn and ordered by the seed: what may be, not the best."""
    shown = set(things(task.scene, "asset"))
    found = []
    for transfer in task.fit_transfers.values():
        place = Thing(transfer.name, transfer.region)
        for kind in COLLAB_TYPES if place in shown else ():
            # What robot_1 walks is the same wherever robot_2 comes from.
            fetch, come = task.start_to_object + transfer.from_object, transfer.from_start
            _, _, metres = relay_legs(fetch, fetch, come, come, transfer.to_end, kind)
            if metres < task.shorter:
                found.append(Handoff(place, kind, metres))
    return random.Random(seed).sample(found, min(MOST_PLACES, len(found)))
