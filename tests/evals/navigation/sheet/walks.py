"""Failed walks of the sheet: drawn once from runs, stored as ids, and rebuilt from the scene.

A line of ``walks.jsonl`` has ids only: the episode, the viewpoints walked, the end, the walker, and
the half it belongs to. The options of each step follow from the scene.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from navloom.evals.navigation.failure_narrative import (
    describe_rollout,
    headings_along,
    observe_from,
)
from navloom.evals.navigation.run import spread_episodes
from navloom.evals.run_folder import read_samples
from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.scenes.distances import metre_table
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navigation.step_options import options_of
from navloom.tools.navigation.step_records import Trajectory

HERE = Path(__file__).parent
SEED = 13
HALVES = ("tuning", "reported")
SHARES = {"prevalent": 40, "heuristic": 30, "mapgpt": 20, "random": 10}
"""Number of walks of each walker; a published run of a trained agent comes first."""


@dataclass(frozen=True)
class Kept:
    """One walk of the sheet.

    Attributes:
        id: its number on the sheet.
        episode: R2R's ``PATHID_K``.
        by: name of the walker.
        half: one of :data:`HALVES`.
        end: reason of the end, ``stop`` or ``max_steps``.
        walk: the viewpoints of the walk.
    """

    id: str
    episode: str
    by: str
    half: str
    end: str
    walk: tuple[str, ...]


def read_walks(path: Path = HERE / "walks.jsonl") -> list[Kept]:
    """Read the walks of the sheet, in its order."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Kept(**{**line, "walk": tuple(line["walk"])}) for line in lines]


@cache
def episodes(split: str = "val_unseen") -> dict[str, Episode]:
    """Return the episodes of a split of R2R by id."""
    task = load_task("r2r", Path(os.environ["NAVLOOM_DATA"]) / "mp3d", split)
    return {episode.id: episode for episode in task.episodes}


@cache
def scene(name: str) -> Scene:
    """Load a scan."""
    return load_scene(name)


def result_of(kept: Kept, episode: Episode) -> dict[str, Any]:
    """Return a walk as a navigator's result, as the rules read it."""
    home = scene(episode.scene)
    looks = headings_along(home, kept.walk, episode.heading)
    after = [*kept.walk[1:], *([None] if kept.end == "stop" else [])]
    steps = [
        {
            "step": number,
            "viewpoint": here,
            "heading": look,
            "options": [asdict(each) for each in options_of(observe_from(home, here, look), look)],
            "action": {"kind": "stop" if there is None else "move", "viewpoint": there},
        }
        for number, (here, look, there) in enumerate(zip(kept.walk, looks, after, strict=False), 1)
    ]
    return {
        "trajectory": [[here, look, 0.0] for here, look in zip(kept.walk, looks, strict=True)],
        "stopped": kept.end == "stop",
        "end": kept.end,
        "steps": steps,
    }


def line_of(kept: Kept, episode: Episode) -> dict[str, Any]:
    """Return a walk as a line of a navigation run."""
    result = {**result_of(kept, episode), "episode": episode.model_dump(mode="json")}
    return {"id": kept.id, "scene": episode.scene, "status": "failed", "result": result}


def account_of(kept: Kept, episode: Episode) -> str:
    """Format one entry of the sheet as Markdown."""
    told = describe_rollout(
        Trajectory.read(result_of(kept, episode)), episode, scene(episode.scene)
    )
    return f"## {kept.id}\n\n{told}\n"


def draw(runs: Path, published: Path) -> list[Kept]:
    """Draw the sheet: a number of failures per walker, each path once, in alternating halves.

    Args:
        runs: a folder with a run of R2R's val_unseen under each walker's name but the first.
        published: the first walker's trajectories, as R2R submits them.
    """
    every, taken, sheet = episodes(), set[Any](), list[Kept]()
    for by, count in SHARES.items():
        walks = dict(_published(published) if by == "prevalent" else _walked(runs / by))
        order = [e for e in spread_episodes(list(every.values()), SEED) if e.id in walks]
        before = len(sheet)
        for episode in order:
            end, walk = walks[episode.id]
            if len(sheet) - before == count:
                break
            if episode.columns["path_id"] in taken or not failed(walk, episode):
                continue
            taken.add(episode.columns["path_id"])
            sheet.append(Kept("", episode.id, by, HALVES[len(sheet) % 2], end, walk))
    random.Random(SEED).shuffle(sheet)
    return [replace(kept, id=f"s{number:03}") for number, kept in enumerate(sheet, 1)]


def failed(walk: Sequence[str], episode: Episode) -> bool:
    """Check that a walk ends 3 m or more from its goals."""
    table = metre_table(scene(episode.scene), "3d")
    return min(table.distance(walk[-1], goal) for goal in episode.goals) >= 3.0


def _published(path: Path) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    for line in json.loads(path.read_text(encoding="utf-8")):
        yield line["instr_id"], ("stop", _stands(line["trajectory"]))


def _walked(run: Path) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    for line in read_samples(run):
        yield line["id"], (line["result"]["end"], _stands(line["result"]["trajectory"]))


def _stands(trajectory: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the viewpoints of a trajectory; turns on the spot repeat a viewpoint."""
    stood = [pose[0] for pose in trajectory]
    return tuple(here for k, here in enumerate(stood) if not k or here != stood[k - 1])
