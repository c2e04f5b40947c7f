"""Classification of the cause for which an agent left the reference path, by rules.

Source: VLN-MME E.2, which sorts errors by hand into regions, stairs, objects and directions; the
other causes are ours. The rules are applied at the first deviation. They use the instruction, the
geometry and the descriptions of the options. *Right* is the rest of the reference path, *chosen*
the path that the agent took; both are empty for a stop. :data:`MEANS` defines each cause. The first
cause whose rule holds is taken.

Some rules look at the whole path. The others look at the next hop first. If none holds there, they
look at the next three hops, since two paths often part before the door or stairs that tell them
apart. ``within`` in the evidence is the number of hops. The cause is ``unknown`` if no rule holds.

``docs/errors.md`` reports how far the rules agree with two sets of labels by language models.

Texts come from datasets, captions and people. They are cut to a bounded length, and every pattern
runs in linear time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args

from navloom.evals.navigation import failure_behaviour
from navloom.evals.tasks.episode import Episode
from navloom.files import package_yaml
from navloom.scenes.distances import heading_to, scene_cached, turn_between
from navloom.scenes.lexicon import classify, room_types
from navloom.scenes.scene import UNKNOWN, Scene, Viewpoint, distance_2d
from navloom.tools.navigation.step_options import strip_notes
from navloom.tools.navigation.step_records import Trajectory

Way = Literal["left", "right", "straight", "around"]

_MOST_CHARACTERS = 4000
_ROOM_WORDS = 3
"""Maximum words of a room name."""
_WORD = re.compile(r"[a-z]+")
_NOT_A_ROOM = frozenset(
    _WORD.findall(
        "bar bath game garden outdoor passage rec stairs staircase stairwell storage toilet tv"
        " wardrobe workout"
    )
)
"""Room labels that in a sentence mostly mean an object, a path or an action."""
_NOT_A_THING = frozenset(
    _WORD.findall(
        "bath can case closet drawer glass letter light range rest scale seat shower stand step"
        " throw top weight wine"
    )
)
"""Item names that in an instruction are mostly verbs, rooms or materials."""

_BREAK = re.compile(r"[.,;:!?\n]|\b(?:and|then)\b")
_STAIRS = re.compile(
    r"\b(?:stairs?|staircases?|stairways?|stairwells?|steps|upstairs|downstairs|escalators?"
    r"|elevators?|ladders?|(?:first|second|third|top|bottom|ground|upper|lower) (?:floor|level))\b"
)
_LEAVE = re.compile(
    r"\b(?:exit|leave|leaving|exiting"
    r"|(?:walk|go|get|come|step|head|move)(?:\s+\w+)?\s+out(?:side)?\b(?!\s+to the)"
    r"|out (?:of|the|through)|through the (?:door|doorway)|outside)\b"
)
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|next|last|other|farthest|furthest|closest|nearest|1st|2nd|3rd)"
    r"(?:\s+\w+){0,2}?\s+"
    r"(?:doors?|doorways?|left|right|rooms?|openings?|hallways?|halls?|entrances?|archways?|arch)\b"
)
_VERB = (
    r"\b(?:turn|turning|take|make|go|head|veer|bear|walk|hang|move|exit|step|enter|face|continue)"
)
_FILL = (
    r"(?:\s+(?:a|an|the|to|your|slight|slightly|sharp|hard|quick|immediate|immediately|first"
    r"|second|next|toward|towards)){0,4}"
)
_WAYS: tuple[tuple[Way, re.Pattern[str]], ...] = (
    ("left", re.compile(_VERB + _FILL + r"\s+left\b(?!\s+of\b)")),
    ("right", re.compile(_VERB + _FILL + r"\s+right\b(?!\s+of\b)")),
    (
        "around",
        re.compile(
            r"\bturn(?:ing)?\s+(?:all the way\s+|completely\s+)?(?:around|back)\b|\bu-?turn"
        ),
    ),
    ("straight", re.compile(r"\b(?:straight|forward|ahead)\b")),
)


@dataclass(frozen=True)
class DirectionClause:
    """Part of an instruction between two breaks, with the directions it gives.

    Attributes:
        text: its words in lower case.
        ways: the directions that it gives, each at most once.
    """

    text: str
    ways: tuple[Way, ...]


@lru_cache(maxsize=4096)
def split_clauses(instruction: str) -> tuple[DirectionClause, ...]:
    """Split an instruction into its clauses, in order.

    >>> [(c.text, c.ways) for c in split_clauses("Turn left, then walk past the bed.")]
    [('turn left', ('left',)), ('walk past the bed', ())]
    """
    parts = [part.strip() for part in _BREAK.split(_folded(instruction))]
    return tuple(
        DirectionClause(part, tuple(way for way, says in _WAYS if says.search(part)))
        for part in parts
        if part
    )


def directions_at(instruction: str, progress: float, around: int = 1) -> tuple[Way, ...]:
    """Return the directions that an instruction gives around a point of the path.

    Args:
        instruction: the whole instruction.
        progress: fraction of the path behind the agent, 0 to 1.
        around: number of clauses to include on either side of the clause at that point.

    Returns:
        The directions of these clauses, in order.
    """
    return _ways(_around(instruction, progress, around, around))


def remaining_text(instruction: str, progress: float) -> str:
    """Return the text of an instruction from the clause at a point of the path on."""
    return ". ".join(part.text for part in _around(instruction, progress, 0, len(instruction)))


def find_ordinal(instruction: str) -> str | None:
    """Return the words that select one of several doors, turns or rooms, or None.

    >>> find_ordinal("Take the second door on the left.")
    'second door'
    """
    said = _ORDINAL.search(". ".join(part.text for part in split_clauses(instruction)[:2]))
    return said.group() if said else None


def _around(text: str, progress: float, before: int, after: int) -> Sequence[DirectionClause]:
    """Return the clause at a point of the path, with some clauses before and after it."""
    parts = split_clauses(text)
    here = min(int(progress * len(parts)), len(parts) - 1)
    return parts[max(0, here - before) : here + after + 1] if parts else ()


def _ways(parts: Sequence[DirectionClause]) -> tuple[Way, ...]:
    return tuple(dict.fromkeys(way for part in parts for way in part.ways))


def mentions_leaving(instruction: str, progress: float) -> bool:
    """Check whether an instruction says to leave a place around a point of the path.

    >>> mentions_leaving("Exit the bedroom. Turn left.", 0.0)
    True
    """
    return any(_LEAVE.search(part.text) for part in _around(instruction, progress, 1, 1))


def mentions_stairs(instruction: str) -> bool:
    """Check whether an instruction mentions stairs or another storey."""
    return _STAIRS.search(_folded(instruction)) is not None


@lru_cache(maxsize=16_384)
def named_rooms(text: str) -> frozenset[str]:
    """Return the room types that a text names (:func:`navloom.scenes.lexicon.room_types`).

    >>> sorted(named_rooms("Leave the bedroom by the living room, wait on the stairs"))
    ['Bedroom', 'Living Room']
    """
    return frozenset(kind for name in _room_names(_words(text)) for kind in room_types(name))


def _room_names(words: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(words):
        for size in range(_ROOM_WORDS, 0, -1):
            name = " ".join(words[at : at + size])
            if name not in _NOT_A_ROOM and room_types(name):
                yield name
                at += size - 1
                break
        at += 1


@lru_cache(maxsize=16_384)
def named_items(text: str) -> frozenset[str]:
    """Return the assets and objects that a text names, each as one singular word.

    >>> sorted(named_items("Stand between the two couches and the coffee table"))
    ['couch', 'table']
    """
    return frozenset(
        one
        for word in _words(text)
        if (one := _singular(word)) not in _NOT_A_THING and classify(one) in ("asset", "object")
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(_folded(text))


def _folded(text: str) -> str:
    return text[:_MOST_CHARACTERS].casefold()


def _singular(word: str) -> str:
    for ending, instead in (("ves", "f"), ("ies", "y"), ("es", ""), ("s", "")):
        one = word.removesuffix(ending) + instead
        if word.endswith(ending) and len(one) > 1 and classify(one) is not None:
            return one
    return word


_LEAN = math.radians(30)
"""Minimum turn (radians) for which a hop counts as left or right."""
_RISE = 0.3
"""Minimum height difference in metres of a path that leads up or down."""
AHEAD, _BEHIND = math.radians(45), math.radians(135)
"""Turns up to the first are "straight", from the second on "around" (radians)."""


@dataclass(frozen=True)
class PathFork:
    """Point at which an agent left the reference path, with all inputs of the rules.

    Attributes:
        at: viewpoint of the agent; None if the scene lacks it.
        right: rest of the reference path, hop by hop; empty if the agent should have stopped.
        chosen: rest of the trajectory, hop by hop; empty if the agent did not move on.
        heading: heading of the agent in radians.
        progress: fraction of the reference path behind the agent, 0 to 1.
        end: last viewpoint of the trajectory.
        goal: last viewpoint of the reference path.
        options: viewpoint of each option -> its description.
        stopped: whether the agent ended the episode by a stop.
        to_goal: metres over the graph from the fork to the goal.
        left: metres over the graph from the end of the trajectory to the goal.
    """

    at: Viewpoint | None
    right: tuple[Viewpoint, ...]
    chosen: tuple[Viewpoint, ...]
    heading: float | None
    progress: float
    end: Viewpoint | None
    goal: Viewpoint | None
    options: Mapping[str, str]
    stopped: bool = False
    to_goal: float = math.inf
    left: float = math.inf

    def within(self, hops: int) -> PathFork:
        """Return the fork with at most ``hops`` hops of either path."""
        return replace(self, right=self.right[:hops], chosen=self.chosen[:hops])


def build_fork(
    walk: Trajectory,
    deviation: failure_behaviour.Deviation,
    reference: tuple[str, ...],
    episode: Episode,
    scene: Scene,
) -> PathFork:
    """Build the fork of a deviation. Viewpoints that the scene lacks are left out."""
    known, on = scene.viewpoint_by_id, deviation.hop + 1
    done = failure_behaviour.metres_along(reference[:on], scene)
    whole = failure_behaviour.metres_along(reference, scene)
    return PathFork(
        at=known.get(deviation.at),
        right=_known(reference[on:], scene),
        chosen=_known(walk.viewpoints[on:], scene),
        heading=_heading(walk, deviation.hop, episode, scene),
        progress=done / whole if whole > 0 else 1.0,
        end=known.get(walk.viewpoints[-1]) if walk.viewpoints else None,
        goal=known.get(reference[-1]) if reference else None,
        options=_descriptions(walk, deviation),
        stopped=walk.stopped,
        to_goal=failure_behaviour.metres_to_goal(deviation.at, episode, scene),
        left=failure_behaviour.metres_to_goal(walk.viewpoints[-1], episode, scene),
    )


def _known(names: Sequence[str], scene: Scene) -> tuple[Viewpoint, ...]:
    at = scene.viewpoint_by_id
    return tuple(at[name] for name in names if name in at)


def _heading(walk: Trajectory, hop: int, episode: Episode, scene: Scene) -> float | None:
    """Return the heading as recorded, else the direction of the hop before."""
    said = walk.headings[hop] if 0 <= hop < len(walk.headings) else None
    if said is not None or hop == 0:
        return episode.heading if said is None else said
    before = _known(walk.viewpoints[hop - 1 : hop + 1], scene)
    return heading_to(before[0].position, before[1].position) if len(before) == 2 else None


def _descriptions(walk: Trajectory, deviation: failure_behaviour.Deviation) -> dict[str, str]:
    if deviation.step >= len(walk.steps):
        return {}
    return {option.viewpoint: option.description for option in walk.steps[deviation.step].options}


def path_slope(a: Viewpoint | None, way: Sequence[Viewpoint]) -> Literal["up", "down", "level"]:
    """Return whether the end of a path lies above or below a viewpoint."""
    if a is None or not way:
        return "level"
    rise = way[-1].ground[1] - a.ground[1]
    return "level" if abs(rise) < _RISE else "up" if rise > 0 else "down"


def path_direction(fork: PathFork, way: Sequence[Viewpoint]) -> Way | None:
    """Return the direction of a path's end as seen from the fork."""
    if fork.at is None or not way or fork.heading is None:
        return None
    return _quarter(turn_between(fork.heading, heading_to(fork.at.position, way[-1].position)))


def _quarter(turn: float) -> Way:
    if abs(turn) <= AHEAD:
        return "straight"
    if abs(turn) >= _BEHIND:
        return "around"
    return "right" if turn > 0 else "left"


def hop_directions(fork: PathFork, way: Sequence[Viewpoint]) -> list[Way]:
    """Return the turn of each hop along a path: left, right or straight."""
    if fork.at is None or fork.heading is None:
        return []
    looks, stands = fork.heading, (fork.at, *way)
    found: list[Way] = []
    for here, there in pairwise(stands):
        bearing = heading_to(here.position, there.position)
        turn, looks = turn_between(looks, bearing), bearing
        found.append("straight" if abs(turn) < _LEAN else "right" if turn > 0 else "left")
    return found


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
"""All causes in display order; ``none`` if the agent never left the reference path."""
MEANS: Mapping[Cause, str] = package_yaml("navloom.evals.navigation", "meanings.yaml")["causes"]
"""Cause -> definition in one sentence, for tables, labelling guides and prompts."""

_SOON = 3
"""Hops within which the reference path makes the turn that was made too soon."""
_SIDES: tuple[Way, ...] = ("left", "right")
_NEAR = 3.0
"""Radius in metres within which items count as near a viewpoint."""

Rule = Callable[[PathFork, str, Scene], dict[str, Any] | None]


def find_causes(fork: PathFork, instruction: str, scene: Scene) -> dict[Cause, dict[str, Any]]:
    """Return the causes whose rules hold: whole-path rules, then the first stage with any.

    Returns:
        Cause -> evidence (JSON), the chosen cause first; ``{"unknown": {}}`` if no rule holds.
    """
    held = _held(_WHOLE, fork, instruction, scene)
    for hops, rules in _STAGES:
        near = _held(rules, fork.within(hops), instruction, scene)
        if near:
            return held | {k: {**why, "within": hops} for k, why in near.items() if k not in held}
    return held or {"unknown": {}}


def _held(
    rules: Mapping[Cause, Rule], fork: PathFork, instruction: str, scene: Scene
) -> dict[Cause, dict[str, Any]]:
    found = {kind: rule(fork, instruction, scene) for kind, rule in rules.items()}
    return {kind: proof for kind, proof in found.items() if proof}


def _premature_stop(fork: PathFork, _: str, __: Scene) -> dict[str, Any] | None:
    """Check for a stop too early, also after leaving the path and returning to it further on."""
    if not fork.stopped or fork.left < failure_behaviour.RADIUS or not fork.right:
        return None
    if fork.chosen and fork.end not in fork.right:
        return None
    return {"metres_to_goal": round(fork.left, 2)}


def _late_stop(fork: PathFork, _: str, __: Scene) -> dict[str, Any] | None:
    if not fork.chosen or fork.to_goal >= failure_behaviour.RADIUS:
        return None
    return {"metres_to_goal": round(fork.to_goal, 2)}


def _failed_exit(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    room = fork.at.region if fork.at is not None else None
    if room is None or not fork.chosen or not mentions_leaving(instruction, fork.progress):
        return None
    if any(place.region != room for place in fork.chosen):
        return None
    out = next((hop for hop, place in enumerate(fork.right, 1) if place.region != room), None)
    return None if out is None else {"room": room, "right_leaves_after_hops": out}


def _mismatch(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    said = directions_at(instruction, fork.progress)
    right, chosen = path_direction(fork, fork.right[:1]), path_direction(fork, fork.chosen[:1])
    if right in (None, chosen, *said):
        return None
    if chosen == "straight":
        # Every path has straight parts, so the clause of this very point must say it.
        did = chosen in directions_at(instruction, fork.progress, 0)
    else:
        soon = hop_directions(fork, fork.right[:_SOON])
        did = chosen in _SIDES and chosen in said and right != "straight" and chosen not in soon
    return {"said": chosen, "right": right} if did else None


def _early_turn(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = path_direction(fork, fork.right[:1]), path_direction(fork, fork.chosen[:1])
    if chosen not in _SIDES:
        return None
    ahead = remaining_text(instruction, fork.progress)
    if chosen == right:
        which = find_ordinal(ahead)
        return {"which": which} if which else None
    later = hop_directions(fork, fork.right[:_SOON])[1:]
    if chosen not in later or chosen not in directions_at(ahead, 0.0):
        return None
    return {"said": chosen, "hops_too_soon": later.index(chosen) + 1}


def _decoy(fork: PathFork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    if not fork.right or not fork.chosen:
        return None
    ahead = remaining_text(instruction, fork.progress)
    there = _named(fork, fork.right[0]) | _things_on(fork.right[:1], fork, scene)
    decoys = (_named(fork, fork.chosen[0]) - there) & (named_items(ahead) | named_rooms(ahead))
    return {"named": sorted(decoys)[:10]} if decoys else None


def _named(fork: PathFork, place: Viewpoint) -> frozenset[str]:
    """Return the items and rooms in the description of the option that leads to a viewpoint."""
    words = fork.options.get(place.id, "")
    return named_items(words) | named_rooms(words)


def _stairs(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = path_slope(fork.at, fork.right), path_slope(fork.at, fork.chosen)
    if right == chosen or not mentions_stairs(instruction):
        return None
    return {"right": right, "chosen": chosen}


def _vertical(fork: PathFork, _: str, __: Scene) -> dict[str, Any] | None:
    right, chosen = path_slope(fork.at, fork.right), path_slope(fork.at, fork.chosen)
    return {"right": right, "chosen": chosen} if right != chosen else None


def _region(fork: PathFork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    if fork.at is None:
        return None
    right, chosen = _entered(fork.at, fork.right), _entered(fork.at, fork.chosen)
    if fork.right and right is fork.at:
        if _label_types(right, scene):
            return None  # the right path enters no region, so regions cannot be the cause
        right = fork.right[0]  # its room is unlabelled: use the option's description
    named = _types(right, fork, scene) & named_rooms(instruction)
    towards = fork.chosen[0] if fork.chosen and not _label_types(chosen, scene) else chosen
    if not named or named & (_types(chosen, fork, scene) | _types(towards, fork, scene)):
        return None
    return {"named": sorted(named), "by": "label" if _label_types(right, scene) else "description"}


def _entered(at: Viewpoint, way: Sequence[Viewpoint]) -> Viewpoint:
    """Return the first viewpoint of a path outside the region of ``at``, else ``at``."""
    return next((v for v in way if v.region is None or v.region != at.region), at)


def _types(viewpoint: Viewpoint, fork: PathFork, scene: Scene) -> frozenset[str]:
    """Return the room types of a viewpoint by its label, else by the option's description."""
    by_label = _label_types(viewpoint, scene)
    return by_label or named_rooms(fork.options.get(viewpoint.id, ""))


def _label_types(viewpoint: Viewpoint, scene: Scene) -> frozenset[str]:
    if viewpoint.region is None:
        return frozenset()
    label = scene.region_by_id[viewpoint.region].label
    return frozenset() if label == UNKNOWN else room_types(label)


def _direction(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = path_direction(fork, fork.right), path_direction(fork, fork.chosen)
    if right is None or chosen is None or right == chosen:
        return None
    if right not in directions_at(instruction, fork.progress):
        return None
    return {"said": right, "chosen": chosen}


def _straight_on(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    """Check for a turn where the instruction gives none; the start heading means nothing."""
    right, chosen = path_direction(fork, fork.right), path_direction(fork, fork.chosen)
    if fork.progress <= 0 or right != "straight" or chosen in (None, "straight"):
        return None
    return None if chosen in directions_at(instruction, fork.progress) else {"chosen": chosen}


def _object(fork: PathFork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    named = named_items(". ".join(part.text for part in _around(instruction, fork.progress, 1, 2)))
    if not named or fork.at is None:
        return None
    right, chosen = fork.right or (fork.at,), fork.chosen or (fork.at,)
    if fork.goal is not None and not (fork.right and fork.chosen):
        right = (*right, fork.goal)
    missing = (named & _things_on(right, fork, scene)) - _things_on(chosen, fork, scene)
    return {"named": sorted(missing)[:10]} if missing else None


def _things_on(way: Sequence[Viewpoint], fork: PathFork, scene: Scene) -> frozenset[str]:
    """Return the items near the viewpoints of a path or in the options leading to them."""
    return frozenset[str]().union(
        *(_near(scene, place) | named_items(fork.options.get(place.id, "")) for place in way)
    )


def _near(scene: Scene, viewpoint: Viewpoint) -> frozenset[str]:
    kept: dict[str, frozenset[str]] = scene_cached(scene, "things_near", dict)
    if viewpoint.id not in kept:
        floor = scene.floor_of(viewpoint)
        floors = {region.id: region.floor for region in scene.regions}
        kept[viewpoint.id] = frozenset[str]().union(
            *(
                named_items(item.name)
                for item in scene.items
                if floors.get(item.region or "", floor) == floor
                and distance_2d(item.position, viewpoint.position) < _NEAR
            )
        )
    return kept[viewpoint.id]


def _twins(fork: PathFork, _: str, __: Scene) -> dict[str, Any] | None:
    right, chosen = _told(fork)
    if not right or not chosen or strip_notes(right) != strip_notes(chosen):
        return None
    return {"alike": "words"}


def _ambiguous(fork: PathFork, instruction: str, _: Scene) -> dict[str, Any] | None:
    if fork.at is None or None in _told(fork):
        return None
    named = named_items(instruction) | named_rooms(instruction)
    ours, theirs = (_named(fork, way[0]) & named for way in (fork.right, fork.chosen))
    if ours - theirs:
        return None
    here, ways = fork.at.position, (fork.right, fork.chosen)
    apart = turn_between(*(heading_to(here, way[0].position) for way in ways))
    alike = "names" if ours else "direction" if abs(apart) < AHEAD else "neither is named"
    return {"alike": alike}


def _told(fork: PathFork) -> tuple[str | None, str | None]:
    """Return the descriptions of the right and of the chosen option, where present."""
    right, chosen = (fork.options.get(to[0].id) if to else None for to in (fork.right, fork.chosen))
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
"""Stages of rules with the number of hops they look at. The first stage that holds is taken."""
