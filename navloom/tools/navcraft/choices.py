"""NavCraft in small choices, for models too small to write the whole answer (CoNavBench 3.1).

The model still makes every choice: object, start, end, asset, helper, handoff, type. What follows
from them (paths, sentences, lists) is filled in here, and then checked by the same rules as
anyone's answer. A thing is named with its room, ``cup in Kitchen_4``, so that one name can be wrong
in one way.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from navloom.scenes.distances import hop_table
from navloom.scenes.lexicon import is_surface
from navloom.scenes.prompt import item_names
from navloom.scenes.scene import ItemKind, Scene
from navloom.tools.forms import closed_object
from navloom.tools.navcraft.relay import COLLAB_TYPES, relay_legs
from navloom.tools.navcraft.task import RelayTask

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
