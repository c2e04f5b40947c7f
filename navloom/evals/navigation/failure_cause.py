"""Why an agent left the right way: region, vertical, object, direction, or unknown.

Source: VLN-MME E.2, which sorts errors by hand; here rules decide, at the first deviation, from the
instruction, the geometry and the words that the options were described by. *Right* is where the
ground truth goes on, *chosen* where the agent went; a stop stays where it is. The rules, the first
that holds being the cause:

- vertical: right and chosen do not go up, down or level alike; or the instruction speaks of stairs
  and the episode ended on another level than the goal's;
- region: right enters a region of a type the instruction names, and chosen does not;
- direction: about that point the instruction says left, right, straight on or around, right lies
  that way and chosen does not;
- object: a thing the instruction names is at right or in its description (at the goal, where the
  question was to stop or not) and not at chosen.

They look at the very next hop first; where none holds there, at the next three, since two ways
often part a little before the door or the stairs that tell them apart. ``within`` in the evidence
says how many. ``unknown`` is left: nothing of the kind.

What an instruction speaks of is read by plain word lists, no model. Texts come from datasets,
captions and people: they are cut to a bounded length and every pattern runs in linear time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from navloom.evals.navigation.failure_behaviour import Deviation, metres_along
from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import per_scene, turn_between
from navloom.scenes.lexicon import classify, room_types
from navloom.scenes.scene import UNKNOWN, Scene, Viewpoint, distance_2d
from navloom.tools.navigation.steps import Walk

Way = Literal["left", "right", "straight", "around"]

_MOST_CHARACTERS = 4000
_ROOM_WORDS = 3
"""Words in the longest name of a room."""
_WORD = re.compile(r"[a-z]+")
_NOT_A_ROOM = frozenset(
    _WORD.findall(
        "bar bath game garden outdoor passage rec stairs staircase stairwell storage toilet tv"
        " wardrobe workout"
    )
)
"""Labels of rooms that in a sentence mean a thing, a way or a deed more often than a room."""
_NOT_A_THING = frozenset(
    _WORD.findall(
        "bath can case closet drawer glass letter light range rest scale seat shower stand step"
        " throw top weight wine"
    )
)
"""Names of things that in an instruction are mostly verbs, rooms or matter."""

_BREAK = re.compile(r"[.,;:!?\n]|\b(?:and|then)\b")
_STAIRS = re.compile(
    r"\b(?:stairs?|staircases?|stairways?|stairwells?|steps|upstairs|downstairs|escalators?"
    r"|elevators?|ladders?|(?:first|second|third|top|bottom|ground|upper|lower) (?:floor|level))\b"
)
_VERB = (
    r"\b(?:turn|turning|take|make|go|head|veer|bear|walk|hang|move|exit|step|enter|face|continue)"
)
_FILL = (
    r"(?:\s+(?:a|an|the|to|your|slight|slightly|sharp|hard|quick|immediate|immediately|first"
    r"|second|next|toward|towards)){0,4}"
)
_WAYS: tuple[tuple[Way, re.Pattern[str]], ...] = (
    ("left", re.compile(_VERB + _FILL + r"\s+left\b")),
    ("right", re.compile(_VERB + _FILL + r"\s+right\b")),
    (
        "around",
        re.compile(
            r"\bturn(?:ing)?\s+(?:all the way\s+|completely\s+)?(?:around|back)\b|\bu-?turn"
        ),
    ),
    ("straight", re.compile(r"\b(?:straight|forward|ahead)\b")),
)


@dataclass(frozen=True)
class Clause:
    """A part of an instruction between two breaks.

    Attributes:
        text: its words, in lower case.
        ways: which ways it says to go, each at most once.
    """

    text: str
    ways: tuple[Way, ...]


@lru_cache(maxsize=4096)
def clauses(instruction: str) -> tuple[Clause, ...]:
    """The parts of an instruction, in order.

    >>> [(c.text, c.ways) for c in clauses("Turn left, then walk past the bed.")]
    [('turn left', ('left',)), ('walk past the bed', ())]
    """
    parts = [part.strip() for part in _BREAK.split(_folded(instruction))]
    return tuple(
        Clause(part, tuple(way for way, says in _WAYS if says.search(part)))
        for part in parts
        if part
    )


def ways_at(instruction: str, progress: float) -> tuple[Way, ...]:
    """Which ways an instruction says to go about some point of the way.

    Args:
        instruction: the whole of it.
        progress: the part of the way that is done, 0 to 1.

    Returns:
        The ways of the clause at that point and of its two neighbours, in order.
    """
    parts = clauses(instruction)
    here = min(int(progress * len(parts)), len(parts) - 1)
    around: Sequence[Clause] = parts[max(0, here - 1) : here + 2] if parts else ()
    return tuple(dict.fromkeys(way for part in around for way in part.ways))


def speaks_of_stairs(instruction: str) -> bool:
    """Whether an instruction speaks of stairs or of another storey."""
    return _STAIRS.search(_folded(instruction)) is not None


@lru_cache(maxsize=16_384)
def rooms(text: str) -> frozenset[str]:
    """The room types a text names, as :func:`navloom.scenes.lexicon.room_types` has them.

    >>> sorted(rooms("Leave the bedroom by the living room, wait on the stairs"))
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
def things(text: str) -> frozenset[str]:
    """The assets and objects a text names, each by one word in the singular.

    >>> sorted(things("Stand between the two couches and the coffee table"))
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


Cause = Literal["vertical", "region", "direction", "object", "unknown", "none"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""``none`` where the agent never left the right way."""

_REACHES = (1, 3)
"""Hops of either way that the rules look at, one after the other."""
_RISE = 0.3
"""Metres of height that a way must win or lose to go up or down."""
_STOREY = 1.0
"""Metres of height between two places on different levels."""
_NEAR = 3.0
"""Metres around a viewpoint within which things count as being there."""
_AHEAD, _BEHIND = math.radians(45), math.radians(135)


@dataclass(frozen=True)
class Fork:
    """The point where an agent left the right way, with all that the rules look at.

    Attributes:
        at: where it stood; None where the scene does not know the place.
        right: where the ground truth goes on, hop by hop; empty where that was to stop.
        chosen: where the agent went; empty where it did not go on.
        heading: radians as it stood there.
        progress: the part of the ground truth that was behind it, 0 to 1.
        end: where the episode ended.
        goal: where it should have ended.
        options: each offered viewpoint's description.
    """

    at: Viewpoint | None
    right: tuple[Viewpoint, ...]
    chosen: tuple[Viewpoint, ...]
    heading: float | None
    progress: float
    end: Viewpoint | None
    goal: Viewpoint | None
    options: Mapping[str, str]

    def within(self, hops: int) -> Fork:
        """The same with no more than so many hops of either way."""
        return replace(self, right=self.right[:hops], chosen=self.chosen[:hops])


Rule = Callable[[Fork, str, Scene], dict[str, Any] | None]


def fork_of(
    walk: Walk, deviation: Deviation, reference: tuple[str, ...], episode: Episode, scene: Scene
) -> Fork:
    """Put together what is known about a deviation; viewpoints the scene lacks are left out."""
    known, on = scene.viewpoint_by_id, deviation.hop + 1
    done = metres_along(reference[:on], scene)
    whole = metres_along(reference, scene)
    return Fork(
        at=known.get(deviation.at),
        right=_known(reference[on:], scene),
        chosen=_known(walk.viewpoints[on:], scene),
        heading=_heading(walk, deviation.hop, episode, scene),
        progress=done / whole if whole > 0 else 1.0,
        end=known.get(walk.viewpoints[-1]) if walk.viewpoints else None,
        goal=known.get(reference[-1]) if reference else None,
        options=_descriptions(walk, deviation),
    )


def _known(names: Sequence[str], scene: Scene) -> tuple[Viewpoint, ...]:
    at = scene.viewpoint_by_id
    return tuple(at[name] for name in names[: max(_REACHES)] if name in at)


def _heading(walk: Walk, hop: int, episode: Episode, scene: Scene) -> float | None:
    """Where it looked: as recorded, else the way the hop before went."""
    said = walk.headings[hop] if 0 <= hop < len(walk.headings) else None
    if said is not None or hop == 0:
        return episode.heading if said is None else said
    before = _known(walk.viewpoints[hop - 1 : hop + 1], scene)
    return _bearing(*before) if len(before) == 2 else None


def _bearing(a: Viewpoint, b: Viewpoint) -> float:
    return math.atan2(b.position[0] - a.position[0], a.position[2] - b.position[2])


def _descriptions(walk: Walk, deviation: Deviation) -> dict[str, str]:
    if deviation.step >= len(walk.steps):
        return {}
    return {option.viewpoint: option.description for option in walk.steps[deviation.step].options}


def find_causes(fork: Fork, instruction: str, scene: Scene) -> dict[Cause, dict[str, Any]]:
    """Every rule that holds at the nearest reach where any does, with its evidence (JSON).

    Returns:
        The cause first; ``{"unknown": {}}`` where no rule holds.
    """
    for hops in _REACHES:
        near = fork.within(hops)
        found = {kind: rule(near, instruction, scene) for kind, rule in _RULES.items()}
        held = {kind: {**proof, "within": hops} for kind, proof in found.items() if proof}
        if held:
            return held
    return {"unknown": {}}


def _vertical(fork: Fork, instruction: str, _: Scene) -> dict[str, Any] | None:
    right, chosen = _slope(fork.at, fork.right), _slope(fork.at, fork.chosen)
    if right != chosen:
        return {"right": right, "chosen": chosen}
    if fork.end is None or fork.goal is None or not speaks_of_stairs(instruction):
        return None
    off = _foot(fork.end) - _foot(fork.goal)
    return {"ended_metres_above_goal": round(off, 2)} if abs(off) >= _STOREY else None


def _slope(a: Viewpoint | None, way: Sequence[Viewpoint]) -> Literal["up", "down", "level"]:
    if a is None or not way:
        return "level"
    rise = _foot(way[-1]) - _foot(a)
    return "level" if abs(rise) < _RISE else "up" if rise > 0 else "down"


def _foot(viewpoint: Viewpoint) -> float:
    return viewpoint.position[1] - viewpoint.eye_height


def _region(fork: Fork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    if fork.at is None:
        return None
    right, chosen = _entered(fork.at, fork.right), _entered(fork.at, fork.chosen)
    if fork.right and right is fork.at:
        return None  # no region is entered: to go on in the same one is no question of regions
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
    right, chosen = _way(fork, fork.right), _way(fork, fork.chosen)
    if right is None or chosen is None or right == chosen:
        return None
    if right not in ways_at(instruction, fork.progress):
        return None
    return {"said": right, "chosen": chosen}


def _way(fork: Fork, way: Sequence[Viewpoint]) -> Way | None:
    """Which way a stretch leads for somebody who stands at the fork."""
    if fork.at is None or not way or fork.heading is None:
        return None
    turn = turn_between(fork.heading, _bearing(fork.at, way[-1]))
    if abs(turn) <= _AHEAD:
        return "straight"
    if abs(turn) >= _BEHIND:
        return "around"
    return "right" if turn > 0 else "left"


def _object(fork: Fork, instruction: str, scene: Scene) -> dict[str, Any] | None:
    named = things(instruction)
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


_RULES: dict[Cause, Rule] = {
    "vertical": _vertical,
    "region": _region,
    "direction": _direction,
    "object": _object,
}
