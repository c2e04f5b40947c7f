"""How the rules' weights were found: ``python -m tests.graphs.navigation.tuning [--rounds N]``.

On R2R's train split, on the scans whose words are at hand; no other split is looked at. Two sets of
weights come out: with the prior that R2R's paths have four to six hops (``hops``, ``stop_late``),
and without it.

Three parts, each from where the last ended:

1. A way's score is linear in the weights of choices, given how far along one is: a softmax over the
   ways on, fitted to the steps of the reference paths (L-BFGS, pulled towards the hand-set values).
2. How far along one is (``step_*``, ``stay``, ``skip``, ``eager``) and when to stop: one weight at
   a time is moved, and the move is kept where more of the walks succeed (stop within 3 m).
3. The second again for stopping alone, without the prior.

A walk is that of the navigator's graph, step for step, on views read from its own prompts.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.graphs.navigation.baseline.follower import DEFAULT, Follower, Weights
from navloom.graphs.navigation.baseline.prompt_view import Past, WalkView, read_view
from navloom.graphs.navigation.context import Context
from navloom.graphs.navigation.text import render
from navloom.models.answer import opening
from navloom.models.builtin import Request
from navloom.scenes.distances import metre_table, turn_between
from navloom.scenes.scene import Scene
from navloom.scenes.uri import load_scene
from navloom.sim.captions import captions_for
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Observation, Pose
from navloom.sim.walker import Walker, pose_record
from navloom.tools.navigation.options import Option, options_of, shown

MOST_STEPS, NEAR_M = 15, 3.0
PAIRS = (
    *("turn", "ahead", "likes", "next_likes", "side_likes", "leaves", "way_out", "climbs"),
    *("climbs_next", "wrong_climb", "stairs", "counts", "passage", "goal"),
)
SINGLE = ("end_likes", "back")
ALONG = ("step_words", "step_turn", "step_climb", "stay", "skip", "most_stay", "eager")
STOP = ("stop", "stop_done", "stop_place", "stop_near", "stop_ahead")
PRIOR = ("hops", "stop_late")
PULL = 0.02
"""How strongly a weight is held to its hand-set value, a decision's likelihood being 1."""


@dataclass(frozen=True)
class Stand:
    """Where a walk stands: what is shown, and what each number leads to."""

    view: WalkView
    options: tuple[Option, ...]
    heading: float


class Place:
    """A scan and what is shown in it, by the place and the heading one came with."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.metres = metre_table(scene, "3d")
        self._walker = Walker(GraphSimulator(scene, captions_for(scene)), "navigator")
        self._context = Context(scene=scene)
        self._stands: dict[tuple[str, int], Stand] = {}

    def stand(self, viewpoint: str, heading: float) -> Stand:
        """What a navigator is shown there."""
        key = viewpoint, round(math.degrees(heading) * 100)
        if key not in self._stands:
            spot = self.scene.viewpoint_by_id[viewpoint]
            seen = self._walker.start(Pose(spot.position, heading, 0.0, viewpoint), 0)
            options = options_of(seen, heading)
            self._stands[key] = Stand(self._read(seen, options), tuple(options), heading)
        return self._stands[key]

    def _read(self, seen: Observation, options: Sequence[Option]) -> WalkView:
        state = {"instruction": "Go.", "pose": pose_record(seen.pose), "steps": [], "seen": {}}
        rendered = render(
            {**state, "history": [], "trajectory": [[]]},
            self._context,
            seen,
            options,
            can_ask=False,
            shortest=None,
            showing=0,
        )
        return read_view(Request(opening(rendered)))

    def gone(self, stand: Stand, option: Option) -> tuple[float, Past]:
        """Where one looks after a move, and the move as the history tells of it."""
        assert option.turn is not None
        heading = (stand.heading + option.turn) % (2 * math.pi)
        words = option.description.partition(" (the ")[0]
        turned = math.radians(round(math.degrees(turn_between(stand.heading, heading)), 2))
        return heading, Past(turned, shown(words, 200) or "a place without description")


@dataclass(frozen=True)
class Walk:
    """What a walk came to."""

    viewpoints: tuple[str, ...]
    success: bool


class Course:
    """Episodes to tune on, with the places they are in."""

    def __init__(self, data: Path, split: str) -> None:
        task = load_task("r2r", data / "mp3d", split)
        self.episodes = list(task.episodes)
        self._places = {
            name: Place(load_scene(task.scenes[name])) for name in {e.scene for e in self.episodes}
        }

    def place(self, episode: Episode) -> Place:
        return self._places[episode.scene]

    def walk(self, episode: Episode, weights: Weights) -> Walk:
        """One walk by the rules."""
        place, past = self.place(episode), list[Past]()
        at, heading, stood = episode.start, episode.heading, [episode.start]
        for _ in range(MOST_STEPS):
            stand = place.stand(at, heading)
            view = replace(stand.view, instruction=episode.instruction, past=tuple(past))
            follower = Follower(view, weights)
            if follower.arrived or not follower.ranked:
                return Walk(tuple(stood), self._there(episode, at))
            number = follower.ranked[0][1].id
            option = next(each for each in stand.options if each.id == number)
            heading, made = place.gone(stand, option)
            past.append(made)
            at = option.viewpoint
            stood.append(at)
        return Walk(tuple(stood), success=False)

    def _there(self, episode: Episode, at: str) -> bool:
        table = self.place(episode).metres
        return any(table.distance(at, goal) < NEAR_M for goal in episode.goals)

    def success(self, episodes: Sequence[Episode], weights: Weights) -> float:
        return float(np.mean([self.walk(each, weights).success for each in episodes]))

    def steps(self, episodes: Sequence[Episode]) -> Iterator[tuple[WalkView, int]]:
        """The views on reference paths, each with the number of the right way on."""
        for episode in episodes:
            place, past, heading = self.place(episode), list[Past](), episode.heading
            for at, onward in pairwise(episode.path):
                stand = place.stand(at, heading)
                option = next(each for each in stand.options if each.viewpoint == onward)
                yield (
                    replace(stand.view, instruction=episode.instruction, past=tuple(past)),
                    option.id,
                )
                heading, made = place.gone(stand, option)
                past.append(made)


class Choices:
    """Decisions on reference paths as features of each way on, for a softmax."""

    def __init__(self, steps: Iterator[tuple[WalkView, int]], weights: Weights) -> None:
        self.names = [*[(name, k) for name in PAIRS for k in (0, 1)], *[(n, -1) for n in SINGLE]]
        self.rows: list[tuple[NDArray[np.float64], int]] = []
        for view, right in steps:
            if len(view.choices) > 1:
                self.rows.append(self._row(view, right, weights))

    def _row(self, view: WalkView, right: int, weights: Weights) -> tuple[NDArray[np.float64], int]:
        hand, ids = Follower(view, weights).hand, [choice.id for choice in view.choices]
        found = np.zeros((len(ids), len(self.names)))
        for j, (name, k) in enumerate(self.names):
            if k not in (-1, 1 if view.past else 0):
                continue
            # ``hand`` is not linear in the weights: it is that of the weights as they are.
            probe = Follower(view, self._one(name))
            vars(probe)["hand"] = hand
            found[:, j] = [probe.score(choice) for choice in view.choices]
        return found, ids.index(right)

    @cached_property
    def _zero(self) -> Weights:
        pairs = dict.fromkeys(PAIRS, (0.0, 0.0))
        others = dict.fromkeys((*SINGLE, "visited", "seen", "detour", "new_room"), 0.0)
        advised = dict.fromkeys(("advised_turn", "advised_words", "advised_climb"), 0.0)
        return replace(DEFAULT, **pairs, **others, **advised)  # type: ignore[arg-type]

    def _one(self, name: str) -> Weights:
        return replace(self._zero, **{name: 1.0 if name in SINGLE else (1.0, 1.0)})  # type: ignore[arg-type]

    def fitted(self, weights: Weights) -> Weights:
        """The weights of choices under which the right ways are most likely."""
        before = np.array([_get(weights, name, k) for name, k in self.names])

        def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            total, slope = 0.0, np.zeros_like(w)
            for features, right in self.rows:
                score = features @ w
                score -= score.max()
                share = np.exp(score)
                share /= share.sum()
                total -= math.log(max(share[right], 1e-12))
                slope += share @ features - features[right]
            apart = w - before
            pull = PULL * len(self.rows)
            return total + pull * float(apart @ apart) / len(w), slope + 2 * pull * apart / len(w)

        least = [(0, None)] * len(before)
        found = minimize(loss, before, jac=True, method="L-BFGS-B", bounds=least)
        return _with(weights, dict(zip(self.names, found.x, strict=True)))


def _get(weights: Weights, name: str, k: int) -> float:
    value = getattr(weights, name)
    return float(value if k < 0 else value[k])


def _with(weights: Weights, found: Mapping[tuple[str, int], float]) -> Weights:
    values = {n: _get(weights, n, -1) for n in (*SINGLE, *ALONG, *STOP, *PRIOR)}
    pairs = {n: list(getattr(weights, n)) for n in PAIRS}
    for (name, k), value in found.items():
        if k < 0:
            values[name] = round(float(value), 2)
        else:
            pairs[name][k] = round(float(value), 2)
    return replace(weights, **values, **{n: tuple(pair) for n, pair in pairs.items()})  # type: ignore[arg-type]


def climb(
    course: Course, episodes: Sequence[Episode], weights: Weights, names: Sequence[str], rounds: int
) -> Weights:
    """Move one weight at a time; a move is kept where more of the walks succeed."""
    best, rng = course.success(episodes, weights), random.Random(1)
    print(f"  start {best:.4f}", file=sys.stderr, flush=True)
    for _ in range(rounds):
        for name in rng.sample(list(names), len(names)):
            for factor in (0.7, 1.4):
                value = getattr(weights, name)
                moved = value * factor if abs(value) > 0.05 else value + factor - 1
                tried = replace(weights, **{name: round(moved, 3)})  # type: ignore[arg-type]
                found = course.success(episodes, tried)
                if found > best:
                    best, weights = found, tried
                    print(f"  {name} {moved:.3f}: {best:.4f}", file=sys.stderr, flush=True)
                    break
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    course = Course(Path(os.environ["NAVLOOM_DATA"]), "train")
    every, weights = course.episodes, DEFAULT
    print(f"{len(every)} walks", file=sys.stderr)
    for _ in range(asked.rounds):
        weights = Choices(course.steps(every), weights).fitted(weights)
        weights = climb(course, every, weights, (*ALONG, *STOP, *PRIOR), 1)
    free = climb(course, every, replace(weights, stop_late=0.0, hops=0.0), STOP, 2 * asked.rounds)
    for name, each in (("before", DEFAULT), ("with the prior", weights), ("without it", free)):
        print(f"{name}: success on train {course.success(every, each):.4f}\n  {each}")


if __name__ == "__main__":
    main()
