"""Generated episodes in any homes: home:, demo:, hm3d:, mp3d:, a scene.json.

Three kinds, the grains of VLN-MME A.1; ``mixed`` takes them in turn:

    fine      step by step, from the geometry of a path (:mod:`navloom.evals.tasks.instructions`)
    goal      an object in a room, as REVERIE: "Go to the kitchen and find the fridge."
    object    any object of one of 21 categories: "Find a chair."

The path is the shortest from the start to the nearest goal, 5 to 30 m long. In a home too small for
that it is longer than 3 m, so that standing still is no success. Everything follows from the seed,
and the first episodes stay the same if more are asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np

from navloom.errors import DataError, SceneError, UsageError, did_you_mean
from navloom.evals.session import sample_seed
from navloom.evals.tasks.episode import Episode, Stands, TaskData, Walked
from navloom.evals.tasks.instructions import write_instruction
from navloom.evals.tasks.objectnav import phrase_category
from navloom.evals.tasks.targets import (
    CATEGORIES,
    SearchTarget,
    category_targets,
    phrase_target,
    targets_by_name,
)
from navloom.files import join_some
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import list_scenes, load_scene

KINDS = ("fine", "goal", "object")
SPLITS = ("generated",)
DEFAULT_SPLIT = "generated"
SOURCE = "any homes: home:, demo:, hm3d:DIR, mp3d:DIR, a scene.json"
SUCCESS, NEAREST, FARTHEST = 3.0, 5.0, 30.0
_TRIES = 50
_MOST = 1_000_000


def load(
    data: Path,
    split: str,
    *,
    spec: str = "home:",
    kind: str = "mixed",
    n: int = 60,
    seed: int = 0,
    walked: Walked | None = None,
    stands: Stands | None = None,
) -> TaskData:
    """Generate episodes.

    Args:
        data: ignored; ``spec`` names the homes.
        split: ``generated``.
        spec: the homes: ``home:0-9``, ``hm3d:DIR``, a scene.json, ...
        kind: one of ``KINDS``, or ``mixed``.
        n: the total number of episodes, taken from homes and kinds in turn.
        seed: of all random choices.
        walked: returns each home with the viewpoints and edges to navigate on; default: its own.
        stands: checks where an episode may start; default: anywhere.

    Returns:
        Episodes by home: ``SCENE.KIND.K``. ``columns`` has ``item``, ``kind``, ``path_metres`` and
        ``generated``.

    Raises:
        SceneError: ``spec`` names no home.
        UsageError: unknown kind, or n is out of range.
        DataError: no episode can be made in any of the homes.
    """
    del data
    _check(kind, n)
    homes, notes = _homes(spec, walked or (lambda scene: scene))
    kinds = KINDS if kind == "mixed" else (kind,)
    makers = [_EpisodeMaker(scene, each, seed, stands) for each in kinds for scene in homes]
    episodes = _in_turn(makers, n)
    if not episodes:
        raise DataError(
            f"{spec}: no episode can be made (kind {kind}): there is nothing to go to, or no path "
            f"longer than {SUCCESS:g} m. {' '.join(notes[1:])}".rstrip()
        )
    notes += _left_out(makers, episodes, n)
    order = {scene.uri: i for i, scene in enumerate(homes)}
    episodes.sort(key=lambda episode: (order[episode.scene], _place(episode.id)))
    origins = {scene.uri: scene.origin for scene in homes}
    used = {episode.scene: origins[episode.scene] for episode in episodes}
    return TaskData("scene", split, tuple(episodes), used, tuple(notes))


def _check(kind: str, n: int) -> None:
    known = (*KINDS, "mixed")
    if kind not in known:
        raise UsageError(
            f"kind is '{kind}': expected one of {', '.join(known)}.{did_you_mean(kind, known)}"
        )
    if not 0 < n <= _MOST:
        raise UsageError(f"n is {n}: expected a number from 1 to {_MOST:,}.")


def _homes(spec: str, walked: Walked) -> tuple[list[Scene], list[str]]:
    """Load the homes of a spec; return them with notes about those that are left out."""
    homes: dict[str, Scene] = {}
    notes = ["Generated: instructions and goals follow from the homes' geometry and labels."]
    uris = list_scenes(spec)
    for uri in uris:
        try:
            scene = walked(load_scene(uri))
        except SceneError as error:
            if len(uris) == 1:
                raise
            notes.append(f"A home is left out: {error}")
            continue
        if scene.uri in homes:
            notes.append(f"{uri} is left out: {scene.uri} is there already.")
        homes.setdefault(scene.uri, scene)
    return list(homes.values()), notes


def _in_turn(makers: Sequence[_EpisodeMaker], n: int) -> list[Episode]:
    """Return one episode of each maker in turn, until there are ``n`` or no maker has another."""
    episodes: list[Episode] = []
    left = [maker.episodes() for maker in makers]
    while left and len(episodes) < n:
        made = [list(islice(each, 1)) for each in left[: n - len(episodes)]]
        episodes += [episode for one in made for episode in one]
        left = [each for each, one in zip(left, made, strict=False) if one] + left[len(made) :]
    return episodes


def _place(name: str) -> tuple[int, int]:
    _, kind, k = name.rsplit(".", 2)
    return KINDS.index(kind), int(k)


def _left_out(makers: Sequence[_EpisodeMaker], episodes: Sequence[Episode], n: int) -> list[str]:
    made = Counter((episode.scene, episode.columns["kind"]) for episode in episodes)
    asked = [(maker.scene.uri, maker.kind) for maker in makers if maker.tried]
    none = [f"{uri} ({kind})" for uri, kind in asked if not made[uri, kind]]
    notes = []
    if none:
        notes.append(f"No episode could be made in {join_some(none, 5)}.")
    if len(episodes) < n:
        notes.append(f"{n} episodes were asked for; {len(episodes)} different ones could be made.")
    return notes


@dataclass
class _EpisodeMaker:
    """Generator of the episodes of one kind in one home."""

    scene: Scene
    kind: str
    seed: int
    stands: Stands | None
    tried: bool = False
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    def episodes(self) -> Iterator[Episode]:
        """Yield different episodes until ``_TRIES`` draws in a row give nothing new."""
        self.tried = True
        k, failed = 0, 0
        while failed < _TRIES:
            name = f"{self._stem}.{self.kind}.{k}"
            # Each episode and attempt has its own seed, so earlier failures do not change it.
            rng = Random(sample_seed(self.seed, f"{name}.{failed}"))
            episode = self._draw(name, rng)
            if episode is None:
                failed += 1
                continue
            yield episode
            k, failed = k + 1, 0

    @property
    def _stem(self) -> str:
        return re.sub(r"[^A-Za-z0-9._+=@]+", "-", self.scene.uri).strip("-.")

    def _draw(self, name: str, rng: Random) -> Episode | None:
        goal = self._goal(rng)
        start = None if goal is None else self._start(goal.goals, rng)
        if goal is None or start is None:
            return None
        table = metre_table(self.scene, "3d")
        end = min(goal.goals, key=lambda each: (table.distance(start, each), each))
        path = tuple(table.path(start, end) or ())
        heading = round(rng.uniform(0, 2 * math.pi), 3)
        text = self._text(goal, path, heading, rng)
        if (start, *goal.goals) in self._seen:
            return None
        if self.stands is not None and not self.stands(self.scene, start, heading):
            return None
        self._seen.add((start, *goal.goals))
        return Episode(
            id=name,
            task="scene",
            scene=self.scene.uri,
            start=start,
            heading=heading,
            instruction=text,
            goals=goal.goals,
            path=path,
            visible_from=goal.visible_from,
            category=goal.words if self.kind == "object" else None,
            columns={
                "item": name,
                "kind": self.kind,
                "path_metres": round(table.distance(start, end), 4),
                "generated": True,
            },
        )

    def _goal(self, rng: Random) -> SearchTarget | None:
        if self.kind == "fine":
            ids = sorted(viewpoint.id for viewpoint in self.scene.viewpoints)
            return SearchTarget("", None, (), (rng.choice(ids),), ()) if ids else None
        return rng.choice(self._targets) if self._targets else None

    @cached_property
    def _targets(self) -> list[SearchTarget]:
        if self.kind == "goal":
            return targets_by_name(self.scene)
        found = category_targets(self.scene)
        return [found[category] for category in CATEGORIES if category in found]

    def _start(self, goals: Sequence[str], rng: Random) -> str | None:
        table = metre_table(self.scene, "3d")
        nearest = table.metres[:, [table.index[goal] for goal in goals]].min(axis=1)
        fit = np.flatnonzero((nearest >= NEAREST) & (nearest <= FARTHEST))
        if not fit.size:
            fit = np.flatnonzero((nearest > SUCCESS) & (nearest <= FARTHEST))
        return rng.choice(sorted(table.nodes[i] for i in fit)) if fit.size else None

    def _text(self, goal: SearchTarget, path: Sequence[str], heading: float, rng: Random) -> str:
        if self.kind == "fine":
            return write_instruction(self.scene, path, heading, rng)
        return phrase_category(goal.words) if self.kind == "object" else phrase_target(goal, rng)
