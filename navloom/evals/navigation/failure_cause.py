"""Why an agent left the right way: a stop, an exit, a turn, a room, a thing, or nobody can tell.

Source: VLN-MME E.2, which sorts errors by hand into regions, stairs, objects and directions; the
other causes are ours. Here rules decide, at the first deviation, from the instruction, the geometry
and the words that the options were described by. *Right* is where the ground truth goes on,
*chosen* where the agent went; a stop stays where it is. What each cause is, :data:`MEANS` says; the
first whose rule holds is the cause.

Some rules look at the whole way. The others look at the very next hop first; where none holds
there, at the next three, since two ways often part a little before the door or the stairs that tell
them apart. ``within`` in the evidence says how many. ``unknown`` is left: nothing of the kind.

How far the rules agree with two readings of the same walks, ``docs/errors.md`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from navloom.evals.navigation.failure_behaviour import RADIUS
from navloom.evals.navigation.failure_fork import AHEAD, Fork, leans_of, slope_of, way_of
from navloom.evals.navigation.failure_words import (
    Way,
    later_part,
    near_part,
    one_of_several,
    rooms,
    speaks_of_leaving,
    speaks_of_stairs,
    things,
    ways_at,
)
from navloom.scenes.distances import heading_to, per_scene, turn_between
from navloom.scenes.lexicon import room_types
from navloom.scenes.scene import UNKNOWN, Scene, Viewpoint, distance_2d
from navloom.tools.navigation.options import without_notes

Cause = Literal[
    "premature_stop",
    "late_stop",
    "mismatch",
    "failed_exit",
    "early_turn",
    "vertical",
    "region",
    "direction",
    "object",
    "ambiguous",
    "unknown",
    "none",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""In the order in which they are asked for; ``none`` where the agent never left the right way."""
MEANS: Mapping[Cause, str] = {
    "premature_stop": "it stopped by itself on the right way, 3 m or more before the end",
    "late_stop": "it came by the right way to within 3 m of the end, and walked on",
    "mismatch": "the instruction does not fit the right way there: what it says was done (left, up,"
    " the room it names), and the right way does otherwise",
    "failed_exit": "the instruction tells it to leave the room where it is, and from there to the"
    " end of the walk it never left that room",
    "early_turn": "it took what the instruction asks for (a turn, a door, a room, a thing) too"
    " soon, or another of the kind: the first door where the second is named",
    "vertical": "stairs and floors: of the right way and the chosen one, one goes up or down and"
    " the other does not, or does otherwise",
    "region": "the right way leads to a room that the instruction names, and the chosen one does"
    " not",
    "direction": "about there the instruction says left, right, straight on or around, or says no"
    " turn, which is straight on; the right way lies so, and the chosen one does not",
    "object": "the right way leads to or past a thing that the instruction names, and the chosen"
    " one does not",
    "ambiguous": "what was shown does not tell the right option from the chosen one: they are"
    " described alike or lie alike, and nothing that the instruction names speaks for the right"
    " one",
    "unknown": "none of these",
}
"""What each cause is, in one sentence: of tables, of readers' guides and of prompts."""

_SOON = 3
"""Hops within which the right way takes the turn that was taken too soon."""
_SIDES: tuple[Way, ...] = ("left", "right")
_NEAR = 3.0
"""Metres around a viewpoint within which things count as being there."""

Rule = Callable[[Fork, str, Scene], dict[str, Any] | None]


def find_causes(fork: Fork, instruction: str, scene: Scene) -> dict[Cause, dict[str, Any]]:
    """Every rule that holds at the whole way, and at the nearest reach where any does.

    Returns:
        The cause first, each with its evidence (JSON); ``{"unknown": {}}`` where no rule holds.
    """
    held = _held(_WHOLE, fork, instruction, scene)
    for hops, rules in _STAGES:
        near = _held(rules, fork.within(hops), instruction, scene)
        if near:
            return held | {
                k: {**proof, "within": hops} for k, proof in near.items() if k not in held
            }
    return held or {"unknown": {}}


def _held(
    rules: Mapping[Cause, Rule], fork: Fork, instruction: str, scene: Scene
) -> dict[Cause, dict[str, Any]]:
    found = {kind: rule(fork, instruction, scene) for kind, rule in rules.items()}
    return {kind: proof for kind, proof in found.items() if proof}


def _premature_stop(fork: Fork, _: str, __: Scene) -> dict[str, Any] | None:
    """Also of who left the right way and came back to it further on: the stop is what failed."""
    if not fork.stopped or fork.left < RADIUS or not fork.right:
        return None
    if fork.chosen and fork.end not in fork.right:
        return None
    return {"metres_to_goal": round(fork.left, 2)}


def _late_stop(fork: Fork, _: str, __: Scene) -> dict[str, Any] | None:
    if not fork.chosen or fork.to_goal >= RADIUS:
        return None
    return {"metres_to_goal": round(fork.to_goal, 2)}


def _failed_exit(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    room = fork.at.region if fork.at is not None else None
    if room is None or not fork.chosen or not speaks_of_leaving(instruction, fork.progress):
        return None
    if any(place.region != room for place in fork.chosen):
        return None
    out = next((hop for hop, place in enumerate(fork.right, 1) if place.region != room), None)
    return None if out is None else {"room": room, "right_leaves_after_hops": out}


def _mismatch(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    said = ways_at(instruction, fork.progress)
    right, chosen = way_of(fork, fork.right[:1]), way_of(fork, fork.chosen[:1])
    if right in (None, chosen, *said):
        return None
    if chosen == "straight":
        # Every way has straight parts: the words must be of this very place.
        did = chosen in ways_at(instruction, fork.progress, 0)
    else:
        soon = leans_of(fork, fork.right[:_SOON])
        did = chosen in _SIDES and chosen in said and right != "straight" and chosen not in soon
    return {"said": chosen, "right": right} if did else None


def _early_turn(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = way_of(fork, fork.right[:1]), way_of(fork, fork.chosen[:1])
    if chosen not in _SIDES:
        return None
    ahead = later_part(instruction, fork.progress)
    if chosen == right:
        which = one_of_several(ahead)
        return {"which": which} if which else None
    later = leans_of(fork, fork.right[:_SOON])[1:]
    if chosen not in later or chosen not in ways_at(ahead, 0.0):
        return None
    return {"said": chosen, "hops_too_soon": later.index(chosen) + 1}


def _decoy(fork: Fork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    if not fork.right or not fork.chosen:
        return None
    ahead = later_part(instruction, fork.progress)
    there = _named(fork, fork.right[0]) | _things_on(fork.right[:1], fork, scene)
    decoys = (_named(fork, fork.chosen[0]) - there) & (things(ahead) | rooms(ahead))
    return {"named": sorted(decoys)[:10]} if decoys else None


def _named(fork: Fork, place: Viewpoint) -> frozenset[str]:
    """The things and rooms in the words of the option that leads to a place."""
    words = fork.options.get(place.id, "")
    return things(words) | rooms(words)


def _stairs(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = slope_of(fork.at, fork.right), slope_of(fork.at, fork.chosen)
    if right == chosen or not speaks_of_stairs(instruction):
        return None
    return {"right": right, "chosen": chosen}


def _vertical(fork: Fork, _: str, __: Scene) -> dict[str, Any] | None:
    right, chosen = slope_of(fork.at, fork.right), slope_of(fork.at, fork.chosen)
    return {"right": right, "chosen": chosen} if right != chosen else None


def _region(fork: Fork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    if fork.at is None:
        return None
    right, chosen = _entered(fork.at, fork.right), _entered(fork.at, fork.chosen)
    if fork.right and right is fork.at:
        if _label_types(right, scene):
            return None  # no region is entered: to go on in the same one is no question of regions
        right = fork.right[0]  # what room it is nobody knows: the option's words say
    named = _types(right, fork, scene) & rooms(instruction)
    towards = fork.chosen[0] if fork.chosen and not _label_types(chosen, scene) else chosen
    if not named or named & (_types(chosen, fork, scene) | _types(towards, fork, scene)):
        return None
    return {"named": sorted(named), "by": "label" if _label_types(right, scene) else "description"}


def _entered(at: Viewpoint, way: Sequence[Viewpoint]) -> Viewpoint:
    """The first place on a way that is not in the region one stands in; where one stands, else."""
    return next((v for v in way if v.region is None or v.region != at.region), at)


def _types(viewpoint: Viewpoint, fork: Fork, scene: Scene) -> frozenset[str]:
    """The room types of where a hop leads: by its label, else by the option's words."""
    by_label = _label_types(viewpoint, scene)
    return by_label or rooms(fork.options.get(viewpoint.id, ""))


def _label_types(viewpoint: Viewpoint, scene: Scene) -> frozenset[str]:
    if viewpoint.region is None:
        return frozenset()
    label = scene.region_by_id[viewpoint.region].label
    return frozenset() if label == UNKNOWN else room_types(label)


def _direction(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = way_of(fork, fork.right), way_of(fork, fork.chosen)
    if right is None or chosen is None or right == chosen:
        return None
    if right not in ways_at(instruction, fork.progress):
        return None
    return {"said": right, "chosen": chosen}


def _straight_on(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    """Where no turn is said one goes on; where an agent looks at the start says nothing."""
    right, chosen = way_of(fork, fork.right), way_of(fork, fork.chosen)
    if fork.progress <= 0 or right != "straight" or chosen in (None, "straight"):
        return None
    return None if chosen in ways_at(instruction, fork.progress) else {"chosen": chosen}


def _object(fork: Fork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    named = things(near_part(instruction, fork.progress))
    if not named or fork.at is None:
        return None
    right, chosen = fork.right or (fork.at,), fork.chosen or (fork.at,)
    if fork.goal is not None and not (fork.right and fork.chosen):
        right = (*right, fork.goal)
    missing = (named & _things_on(right, fork, scene)) - _things_on(chosen, fork, scene)
    return {"named": sorted(missing)[:10]} if missing else None


def _things_on(way: Sequence[Viewpoint], fork: Fork, scene: Scene) -> frozenset[str]:
    """What is near the viewpoints of a way, or in the words of the options that lead to them."""
    return frozenset[str]().union(
        *(_near(scene, place) | things(fork.options.get(place.id, "")) for place in way)
    )


def _near(scene: Scene, viewpoint: Viewpoint) -> frozenset[str]:
    kept: dict[str, frozenset[str]] = per_scene(scene, "things_near", dict)
    if viewpoint.id not in kept:
        floor = scene.floor_of(viewpoint)
        floors = {region.id: region.floor for region in scene.regions}
        kept[viewpoint.id] = frozenset[str]().union(
            *(
                things(item.name)
                for item in scene.items
                if floors.get(item.region or "", floor) == floor
                and distance_2d(item.position, viewpoint.position) < _NEAR
            )
        )
    return kept[viewpoint.id]


def _twins(fork: Fork, _: str, __: Scene) -> dict[str, Any] | None:
    right, chosen = _told(fork)
    if not right or not chosen or without_notes(right) != without_notes(chosen):
        return None
    return {"alike": "words"}


def _ambiguous(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    if fork.at is None or None in _told(fork):
        return None
    named = things(instruction) | rooms(instruction)
    ours, theirs = (_named(fork, way[0]) & named for way in (fork.right, fork.chosen))
    if ours - theirs:
        return None
    here, ways = fork.at.position, (fork.right, fork.chosen)
    apart = turn_between(*(heading_to(here, way[0].position) for way in ways))
    alike = "names" if ours else "direction" if abs(apart) < AHEAD else "neither is named"
    return {"alike": alike}


def _told(fork: Fork) -> tuple[str | None, str | None]:
    """The words of the right option and of the chosen one, where there are any."""
    right, chosen = (
        fork.options.get(way[0].id) if way else None for way in (fork.right, fork.chosen)
    )
    return right, chosen


_WHOLE: Mapping[Cause, Rule] = {
    "premature_stop": _premature_stop,
    "late_stop": _late_stop,
    "mismatch": _mismatch,
    "failed_exit": _failed_exit,
    "early_turn": _early_turn,
}
_NEARBY: Mapping[Cause, Rule] = {
    "vertical": _stairs,
    "region": _region,
    "direction": _direction,
    "object": _object,
}
_UNSAID: Mapping[Cause, Rule] = {"vertical": _vertical, "direction": _straight_on}
_STAGES: tuple[tuple[int, Mapping[Cause, Rule]], ...] = (
    (1, _NEARBY),
    (1, {"ambiguous": _twins}),
    (1, _UNSAID),
    (1, {"early_turn": _decoy}),
    (3, _NEARBY),
    (3, _UNSAID),
    (1, {"ambiguous": _ambiguous}),
)
"""Rules with the hops of either way that they look at; the first that hold are the cause."""
