"""Fit the weights of the rule-based follower: ``python -m tests.graphs.navigation.tuning``.

It uses R2R's train split only. It prints two sets of weights: with the prior that R2R's paths have
four to six hops (``hops``, ``stop_late``), and without it. ``--rounds`` sets the
repeats of parts 1 and 2.

Four parts, each starting from the result of the one before:

1. The score of a candidate is linear in the weights of choices, given the progress along the
   instruction. A softmax over the candidates is fitted to the steps of the reference paths (L-BFGS,
   regularised towards the hand-set values).
2. Progress (``step_*``, ``stay``, ``skip``, ``eager``) and stopping: one weight at a time is
   changed, and the change is kept if more walks succeed (stop within 3 m).
3. ``visited``, ``seen`` and ``detour``, which only a map needs, on walks with a map.
4. Stopping without the prior: a logistic fit of the ends of paths, then part 2 again for stopping.

A walk equals that of the navigator's graph, step by step, on views parsed from its own prompts.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.graphs.navigation.baseline.follower import TUNED, Follower, FollowerWeights
from navloom.graphs.navigation.baseline.prompt_parser import PastStep, PromptView, read_view
from navloom.graphs.navigation.context import Context
from navloom.graphs.navigation.prompt_text import get_memory, render_prompt
from navloom.models.builtin import PolicyRequest
from navloom.models.messages import opening_messages
from navloom.scenes.distances import metre_table, turn_between
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.sim.agent_handle import AgentHandle, pose_record
from navloom.sim.captions import captions_for
from navloom.sim.graph import GraphSimulator
from navloom.sim.protocol import Pose
from navloom.tools.navigation.step_options import (
    MoveOption,
    annotate_options,
    caption_text,
    options_of,
)

MOST_STEPS, NEAR_M = 15, 3.0
PAIRS = (
    *("turn", "ahead", "likes", "next_likes", "side_likes", "leaves", "way_out", "climbs"),
    *("climbs_next", "wrong_climb", "stairs", "counts", "passage", "goal"),
)
SINGLE = ("end_likes", "back")
ALONG = ("step_words", "step_turn", "step_climb", "stay", "skip", "most_stay", "eager")
STOP = ("stop", "stop_done", "stop_place", "stop_near", "stop_ahead")
PRIOR = ("hops", "stop_late")
MAP = ("visited", "seen", "detour")
PULL = 0.02
"""Strength of the regularisation towards the hand-set values, per decision."""


@dataclass(frozen=True)
class Stand:
    """A position in a walk: the view, and the viewpoint of each option number."""

    view: PromptView
    options: tuple[MoveOption, ...]
    heading: float


class Place:
    """A scan, with cached views by viewpoint and heading."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.metres = metre_table(scene, "3d")
        self._walker = AgentHandle(GraphSimulator(scene, captions_for(scene)), "navigator")
        self._stands: dict[tuple[str, int], Stand] = {}

    def stand(self, viewpoint: str, heading: float) -> Stand:
        """Return the view of a navigator without a map."""
        key = viewpoint, round(math.degrees(heading) * 100)
        if key not in self._stands:
            self._stands[key] = self._stand(viewpoint, heading, "history", {})
        return self._stands[key]

    def stand_with_map(self, viewpoint: str, heading: float, seen: dict[str, Any]) -> Stand:
        """Return the view of a navigator with a map, and add it to ``seen``."""
        return self._stand(viewpoint, heading, "map", seen)

    def _stand(
        self, viewpoint: str, heading: float, name: Literal["history", "map"], seen: dict[str, Any]
    ) -> Stand:
        spot = self.scene.viewpoint_by_id[viewpoint]
        around = self._walker.start(Pose(spot.position, heading, 0.0, viewpoint), 0)
        memory, options = get_memory(name), options_of(around, heading)
        seen |= memory.look(seen, around)
        state = {"instruction": "Go.", "pose": pose_record(around.pose), "steps": [], "seen": seen}
        rendered = render_prompt(
            {**state, "history": [], "trajectory": [[]]},
            Context(scene=self.scene, memory=name),
            around,
            annotate_options(options, memory.notes(seen)),
            can_ask=False,
            shortest=None,
            showing=0,
        )
        return Stand(read_view(PolicyRequest(opening_messages(rendered))), tuple(options), heading)

    def gone(self, stand: Stand, option: MoveOption) -> tuple[float, PastStep]:
        """Return the heading after a move, and the move as the history describes it."""
        assert option.turn is not None
        heading = (stand.heading + option.turn) % (2 * math.pi)
        words = option.description.partition(" (the ")[0]
        turned = math.radians(round(math.degrees(turn_between(stand.heading, heading)), 2))
        return heading, PastStep(turned, caption_text(words, 200) or "a place without description")


@dataclass(frozen=True)
class Walk:
    """Result of a walk."""

    viewpoints: tuple[str, ...]
    success: bool


class Course:
    """Episodes to tune on, with their scans."""

    def __init__(self, data: Path, split: str) -> None:
        task = load_task("r2r", data / "mp3d", split)
        self.episodes = list(task.episodes)
        self._places = {
            name: Place(load_scene(task.scenes[name])) for name in {e.scene for e in self.episodes}
        }

    def place(self, episode: Episode) -> Place:
        return self._places[episode.scene]

    def walk(self, episode: Episode, weights: FollowerWeights, *, mapped: bool = False) -> Walk:
        """Run one walk of the rule-based follower."""
        place, past, seen = self.place(episode), list[PastStep](), dict[str, Any]()
        at, heading, stood = episode.start, episode.heading, [episode.start]
        for _ in range(MOST_STEPS):
            stand = place.stand_with_map(at, heading, seen) if mapped else place.stand(at, heading)
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

    def success(
        self, episodes: Sequence[Episode], weights: FollowerWeights, *, mapped: bool = False
    ) -> float:
        """Return the share of walks that succeed."""
        found = (self.walk(each, weights, mapped=mapped).success for each in episodes)
        return sum(found) / len(episodes)

    def steps(self, episodes: Sequence[Episode]) -> Iterator[tuple[PromptView, int | None]]:
        """Yield the views on reference paths with the number of the right option; None at ends."""
        for episode in episodes:
            place, past, heading = self.place(episode), list[PastStep](), episode.heading
            for at, onward in zip_longest(episode.path, episode.path[1:]):
                stand = place.stand(at, heading)
                view = replace(stand.view, instruction=episode.instruction, past=tuple(past))
                option = next((o for o in stand.options if o.viewpoint == onward), None)
                yield view, option and option.id
                if option is not None:
                    heading, made = place.gone(stand, option)
                    past.append(made)


class Choices:
    """Decisions on reference paths as features of each candidate, for a softmax."""

    def __init__(
        self, steps: Iterable[tuple[PromptView, int | None]], weights: FollowerWeights
    ) -> None:
        self.names = [*[(name, k) for name in PAIRS for k in (0, 1)], *[(n, -1) for n in SINGLE]]
        self.rows: list[tuple[NDArray[np.float64], int]] = []
        for view, right in steps:
            if len(view.choices) > 1 and right is not None:
                self.rows.append(self._row(view, right, weights))

    def _row(
        self, view: PromptView, right: int, weights: FollowerWeights
    ) -> tuple[NDArray[np.float64], int]:
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
    def _zero(self) -> FollowerWeights:
        pairs = dict.fromkeys(PAIRS, (0.0, 0.0))
        others = dict.fromkeys((*SINGLE, "visited", "seen", "detour", "new_room"), 0.0)
        advised = dict.fromkeys(("advised_turn", "advised_words", "advised_climb"), 0.0)
        return replace(TUNED, **pairs, **others, **advised)  # type: ignore[arg-type]

    def _one(self, name: str) -> FollowerWeights:
        return replace(self._zero, **{name: 1.0 if name in SINGLE else (1.0, 1.0)})  # type: ignore[arg-type]

    def fitted(self, weights: FollowerWeights) -> FollowerWeights:
        """Return the weights of choices that make the right candidates most likely."""
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


def stopping(
    steps: Iterable[tuple[PromptView, int | None]], weights: FollowerWeights
) -> FollowerWeights:
    """Fit the weights of stopping so that only the ends of the paths are stops."""
    none = replace(weights, **dict.fromkeys((*STOP, *PRIOR), 0.0))  # type: ignore[arg-type]
    ones = [replace(none, **{name: 1.0}) for name in STOP]  # type: ignore[arg-type]
    rows, ends = [], []
    for view, right in steps:
        if view.past:
            rows.append([_stopping(view, one, weights) for one in ones])
            ends.append(right is None)
    features, end = np.array(rows), np.array(ends, dtype=float)

    def loss(w: NDArray[np.float64]) -> float:
        score = features @ w
        return float(np.sum(np.logaddexp(0.0, score) - end * score))

    found = minimize(loss, np.zeros(len(STOP)), method="L-BFGS-B")
    return replace(none, **{n: round(float(v), 2) for n, v in zip(STOP, found.x, strict=True)})  # type: ignore[arg-type]


def _stopping(view: PromptView, one: FollowerWeights, weights: FollowerWeights) -> float:
    whole, probe = Follower(view, weights), Follower(view, one)
    vars(probe).update(hand=whole.hand, ranked=whole.ranked)
    return probe.stopping


def _get(weights: FollowerWeights, name: str, k: int) -> float:
    value = getattr(weights, name)
    return float(value if k < 0 else value[k])


def _with(weights: FollowerWeights, found: Mapping[tuple[str, int], float]) -> FollowerWeights:
    values = {n: _get(weights, n, -1) for n in (*SINGLE, *ALONG, *STOP, *PRIOR)}
    pairs = {n: list(getattr(weights, n)) for n in PAIRS}
    for (name, k), value in found.items():
        if k < 0:
            values[name] = round(float(value), 2)
        else:
            pairs[name][k] = round(float(value), 2)
    return replace(weights, **values, **{n: tuple(pair) for n, pair in pairs.items()})  # type: ignore[arg-type]


def climb(
    success: Callable[[FollowerWeights], float], weights: FollowerWeights, names: Sequence[str]
) -> FollowerWeights:
    """Change one weight at a time and keep the change if more walks succeed."""
    best = success(weights)
    print(f"  from {best:.4f}", file=sys.stderr, flush=True)
    for name in random.Random(1).sample(list(names), len(names)):
        for factor in (0.7, 1.4):
            tried = replace(weights, **{name: round(getattr(weights, name) * factor, 3)})
            if (found := success(tried)) > best:
                best, weights = found, tried
                print(f"  {name} {getattr(tried, name)}: {best:.4f}", file=sys.stderr, flush=True)
                break
    return weights


def main() -> None:
    """Tune and print both sets of weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    course = Course(Path(os.environ["NAVLOOM_DATA"]), "train")
    every, weights = course.episodes, TUNED
    walks = partial(course.success, every)
    for _ in range(asked.rounds):
        weights = Choices(course.steps(every), weights).fitted(weights)
        weights = climb(walks, weights, (*ALONG, *STOP, *PRIOR))
    weights = climb(partial(course.success, every[::3], mapped=True), weights, MAP)
    free = stopping(course.steps(every), weights)
    for _ in range(asked.rounds):
        free = climb(walks, free, STOP)
    for name, each in (("before", TUNED), ("with the prior", weights), ("without it", free)):
        print(f"{name}: success on train {walks(each):.4f}\n  {each}")


if __name__ == "__main__":
    main()
