"""Text description of a failed trajectory: instruction, reference path, steps and end.

It holds no result of the rules (:mod:`navloom.evals.navigation.failure_cause`), so that people and
models label the cause independently.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import ascii_uppercase

from navloom.evals.navigation.failure_behaviour import metres_to_goal, reference_path
from navloom.evals.tasks.episode import Episode
from navloom.scenes.bodies import DEFAULT_BODY
from navloom.scenes.distances import scene_cached, turn_between
from navloom.scenes.scene import Scene
from navloom.sim.captions import captions_for
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Observation, Pose
from navloom.tools.navigation.step_options import MoveOption, describe_option, options_of, turn_text
from navloom.tools.navigation.step_records import Trajectory

_WHOLE_AFTER = 1
"""Steps after the fork that show all options. Other steps show the chosen one alone."""
_MOST_HOPS = 40
"""Maximum hops described. A longer trajectory is cut there."""


def observe_from(scene: Scene, viewpoint: str, heading: float) -> Observation:
    """Return the observation at a viewpoint with a heading in radians clockwise from -z."""
    simulator = scene_cached(scene, "looker", lambda: GraphSimulator(scene, captions_for(scene)))
    pose = Pose(scene.viewpoint_by_id[viewpoint].ground, heading, 0.0, viewpoint)
    return simulator.reset({"a": (pose, DEFAULT_BODY)})["a"]


def headings_along(scene: Scene, way: Sequence[str], heading: float) -> list[float]:
    """Return the heading at each viewpoint of a path in radians, ``heading`` at the first."""
    found = [heading]
    for here, there in pairwise(way):
        ways = observe_from(scene, here, found[-1]).candidates
        found.append(next((way.heading for way in ways if way.viewpoint == there), found[-1]))
    return found[: len(way)]


def describe_rollout(walk: Trajectory, episode: Episode, scene: Scene) -> str:
    """Describe one trajectory in words.

    Args:
        walk: the trajectory. Viewpoints that the scene lacks are left out.
        episode: its episode.
        scene: its scene.
    """
    return "\n".join(_Account(walk, episode, scene).lines())


class _Account:
    def __init__(self, walk: Trajectory, episode: Episode, scene: Scene) -> None:
        known = scene.viewpoint_by_id
        self.walk, self.episode, self.scene = walk, episode, scene
        self.path = [v for v in reference_path(walk, episode, scene) if v in known]
        self.stood = [v for v in walk.viewpoints if v in known][: _MOST_HOPS + 1]
        pairs = zip(self.stood, self.path, strict=False)
        same = next((k for k, (a, b) in enumerate(pairs) if a != b), None)
        shorter = min(len(self.stood), len(self.path))
        self.fork = (shorter if same is None else same) - 1
        self._rooms: dict[str | None, str] = {None: "room unknown"}

    def lines(self) -> Iterator[str]:
        yield f"Instruction: {' '.join(self.episode.instruction.split())}"
        yield ""
        yield from self._right_way()
        yield ""
        yield from self._walk()

    def _room(self, viewpoint: str) -> str:
        """Return a letter for each room in order of appearance, since types are often unknown."""
        region = self.scene.viewpoint_by_id[viewpoint].region
        number = len(self._rooms) - 1
        letters = ascii_uppercase[number % 26] * (1 + number // 26)
        return self._rooms.setdefault(region, f"room {letters}")

    def _rise(self, start: str, end: str) -> float:
        known = self.scene.viewpoint_by_id
        return known[end].ground[1] - known[start].ground[1]

    def _to_end(self, viewpoint: str) -> str:
        return f"{metres_to_goal(viewpoint, self.episode, self.scene):.1f} m from the end"

    def _right_way(self) -> Iterator[str]:
        path = self.path
        if not path:
            yield "Right way: none is known."
            return
        yield f"Right way ({len(path) - 1} hops):"
        yield f"  starts in {self._room(path[0])}"
        looks = headings_along(self.scene, path, self.episode.heading)
        for hop, (here, there) in enumerate(pairwise(path), 1):
            options = options_of(observe_from(self.scene, here, looks[hop - 1]), looks[hop - 1])
            words = next((describe_option(one) for one in options if one.viewpoint == there), "?")
            yield f"  {hop}. {words} -> {self._room(there)}"
        captions = observe_from(self.scene, path[-1], looks[-1]).captions
        yield f"  ends in {self._room(path[-1])}: {captions.summary if captions else ''}"
        rise = self._rise(path[0], path[-1])
        yield f"  from start to end it rises {rise:+.1f} m"

    def _walk(self) -> Iterator[str]:
        yield f"Walk ({max(0, len(self.stood) - 1)} hops):"
        looks = headings_along(self.scene, self.stood, self.episode.heading)
        for hop, here in enumerate(self.stood):
            yield from self._step(hop, here, looks[hop])
        if self.path and self.stood:
            rise = self._rise(self.path[-1], self.stood[-1])
            off = (
                f"{self._to_end(self.stood[-1])} of the right way, {rise:+.1f} m above or below it"
            )
            yield f"Ended {off}."

    def _step(self, hop: int, here: str, heading: float) -> Iterator[str]:
        seen = observe_from(self.scene, here, heading)
        there = self.stood[hop + 1] if hop + 1 < len(self.stood) else None
        on = "on the right way" if here in self.path else "off the right way"
        yield f"  step {hop + 1}, {self._room(here)}, {on}, {self._to_end(here)}"
        if hop == self.fork:
            yield "    THE WALK LEAVES THE RIGHT WAY HERE"
            yield f"    this place: {seen.captions.summary if seen.captions else ''}"
            yield from _views(seen, heading)
        yield from self._options(options_of(seen, heading), hop, there)
        if there is None:
            ended = "stop" if self.walk.end == "stop" else "nothing: the walk was ended"
            yield f"    - CHOSEN: {ended}"

    def _options(self, options: Sequence[MoveOption], hop: int, there: str | None) -> Iterator[str]:
        on = hop <= self.fork
        right = self.path[hop + 1] if on and hop + 1 < len(self.path) else None
        for option in sorted(options, key=lambda each: each.turn or 0.0):
            marks = [
                name for name, to in (("CHOSEN", there), ("right", right)) if to == option.viewpoint
            ]
            if marks or 0 <= hop - self.fork <= _WHOLE_AFTER:
                named = " and ".join(marks) + ": " if marks else ""
                yield f"    - {named}{describe_option(option)}"
        if on and right is None:
            yield "    - right: stop here"


def _views(seen: Observation, heading: float) -> Iterator[str]:
    """Yield the captions of all directions, from the front clockwise."""
    sectors = seen.captions.sectors if seen.captions else ()
    turns = [turn_between(heading, k * math.tau / len(sectors)) for k in range(len(sectors))]
    for turn, text in sorted(zip(turns, sectors, strict=True), key=lambda pair: pair[0] % math.tau):
        yield f"    view {turn_text(turn)}: {text}"
