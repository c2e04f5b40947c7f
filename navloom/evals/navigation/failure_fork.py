"""Where an agent left the right way: both ways from there on, and how they lie to each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from navloom.evals.navigation.failure_behaviour import Deviation, metres_along, metres_to_goal
from navloom.evals.navigation.failure_words import Way
from navloom.evals.tasks.episode import Episode
from navloom.scenes.distances import heading_to, turn_between
from navloom.scenes.scene import Scene, Viewpoint
from navloom.tools.navigation.steps import Walk

_LEAN = math.radians(30)
"""From here on a hop of the right way is a turn that may have been meant."""
_RISE = 0.3
"""Metres of height that a way must win or lose to go up or down."""
AHEAD, _BEHIND = math.radians(45), math.radians(135)
"""What lies nearer than the first is straight on; what lies beyond the second, around."""


@dataclass(frozen=True)
class Fork:
    """The point where an agent left the right way, with all that the rules look at.

    Attributes:
        at: where it stood; None where the scene does not know the place.
        right: where the ground truth goes on, hop by hop to its end; empty where that was to stop.
        chosen: where the agent went, likewise; empty where it did not go on.
        heading: radians as it stood there.
        progress: the part of the ground truth that was behind it, 0 to 1.
        end: where the episode ended.
        goal: where it should have ended.
        options: each offered viewpoint's description.
        stopped: whether the agent said stop in the end.
        to_goal: metres over the graph from there to the goal.
        left: metres over the graph from where the episode ended to the goal.
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

    def within(self, hops: int) -> Fork:
        """The same with no more than so many hops of either way."""
        return replace(self, right=self.right[:hops], chosen=self.chosen[:hops])


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
        stopped=walk.stopped,
        to_goal=metres_to_goal(deviation.at, episode, scene),
        left=metres_to_goal(walk.viewpoints[-1], episode, scene),
    )


def _known(names: Sequence[str], scene: Scene) -> tuple[Viewpoint, ...]:
    at = scene.viewpoint_by_id
    return tuple(at[name] for name in names if name in at)


def _heading(walk: Walk, hop: int, episode: Episode, scene: Scene) -> float | None:
    """Where it looked: as recorded, else the way the hop before went."""
    said = walk.headings[hop] if 0 <= hop < len(walk.headings) else None
    if said is not None or hop == 0:
        return episode.heading if said is None else said
    before = _known(walk.viewpoints[hop - 1 : hop + 1], scene)
    return heading_to(before[0].position, before[1].position) if len(before) == 2 else None


def _descriptions(walk: Walk, deviation: Deviation) -> dict[str, str]:
    if deviation.step >= len(walk.steps):
        return {}
    return {option.viewpoint: option.description for option in walk.steps[deviation.step].options}


def slope_of(a: Viewpoint | None, way: Sequence[Viewpoint]) -> Literal["up", "down", "level"]:
    """Whether the last place of a way lies higher than a viewpoint, or lower."""
    if a is None or not way:
        return "level"
    rise = foot_of(way[-1]) - foot_of(a)
    return "level" if abs(rise) < _RISE else "up" if rise > 0 else "down"


def foot_of(viewpoint: Viewpoint) -> float:
    """How high the floor is at a viewpoint, metres."""
    return viewpoint.position[1] - viewpoint.eye_height


def way_of(fork: Fork, way: Sequence[Viewpoint]) -> Way | None:
    """Which way a stretch leads for somebody who stands at the fork."""
    if fork.at is None or not way or fork.heading is None:
        return None
    return _quarter(turn_between(fork.heading, heading_to(fork.at.position, way[-1].position)))


def _quarter(turn: float) -> Way:
    if abs(turn) <= AHEAD:
        return "straight"
    if abs(turn) >= _BEHIND:
        return "around"
    return "right" if turn > 0 else "left"


def leans_of(fork: Fork, way: Sequence[Viewpoint]) -> list[Way]:
    """Which side each hop leans to for somebody who walks them; "straight" where to neither."""
    if fork.at is None or fork.heading is None:
        return []
    looks, stands = fork.heading, (fork.at, *way)
    found: list[Way] = []
    for here, there in pairwise(stands):
        bearing = heading_to(here.position, there.position)
        turn, looks = turn_between(looks, bearing), bearing
        found.append("straight" if abs(turn) < _LEAN else "right" if turn > 0 else "left")
    return found
