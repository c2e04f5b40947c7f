"""Navigation results written by hand, in the demo flat and villa.

The flat's path: entryway (1_0), living room (2_0, 2_6, 2_2), bedroom (4_0, 4_1), study (6_0). 2_2
is 3.39 m from the study's door and 4_0 is 2.49 m. The villa's stairs lead from 2_3 up to 9_5.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from navloom.evals.navigation.failure_analysis import FailureAnalysis, RunTallies, analyse
from navloom.evals.navigation.metrics import score_episodes
from navloom.evals.run_folder import RunFolder
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene

PATH = ("1_0", "2_0", "2_6", "2_2", "4_0", "4_1", "6_0")
SAID = "Walk through the living room and the bedroom and wait in the study."


@cache
def scene(name: str = "demo:flat") -> Scene:
    return load_scene(name)


def episode(said: str = SAID, path: tuple[str, ...] = PATH, **other: Any) -> Episode:
    given = {
        "id": "e1",
        "task": "scene",
        "scene": "demo:flat",
        "start": path[0],
        "instruction": said,
        "goals": (path[-1],),
        "path": path,
    }
    return Episode(**{**given, **other})


def result(*walk: str, end: str = "stop", **other: Any) -> dict[str, Any]:
    """Return a result whose steps offer every neighbour and follow the walk."""
    home = scene("demo:villa" if "9_5" in walk or "2_9" in walk else "demo:flat")
    moves: list[str | None] = [*(b for _, b in pairwise(walk)), *([None] if end == "stop" else [])]
    steps = [_step(home, k, at, to) for k, (at, to) in enumerate(zip(walk, moves, strict=False))]
    return {
        "trajectory": [[name, None, 0.0] for name in walk],
        "stopped": end == "stop",
        "end": end,
        "steps": steps,
        "counts": {"steps": len(moves)},
        **other,
    }


def _step(home: Scene, number: int, at: str, to: str | None) -> dict[str, Any]:
    near = sorted({b for e in home.edges for a, b in ((e.a, e.b), (e.b, e.a)) if a == at})
    options = [
        {"id": k, "viewpoint": name, "direction": "Front", "description": f"the way to {name[0]}"}
        for k, name in enumerate(near, 1)
    ]
    picked = near.index(to) + 1 if to in near else None
    action = {"kind": "stop" if to is None else "move", "option": picked, "viewpoint": to}
    return {
        "step": number,
        "viewpoint": at,
        "options": options,
        "reply": "Action: Stop." if to is None else f"Action: {picked}.",
        "action": action,
        "faults": [],
        "oracle": None,
        "asked": None,
    }


def line(what: Episode, how: dict[str, Any], name: str | None = None) -> dict[str, Any]:
    """Return a finished sample's line, as an evaluation writes it."""
    home = scene(what.scene)
    walked = {what.id: [pose[0] for pose in how["trajectory"]]}
    (score,) = score_episodes([what], walked, lambda _: home)
    tags = analyse(how, what, home, success=score.success).tags
    extra = {"episode": what.model_dump(mode="json"), "scores": score.record(), "tags": tags}
    return {
        "id": name or what.id,
        "epoch": 0,
        "scene": what.scene,
        "status": "ok" if score.success else "failed",
        "reason": None,
        "message": None,
        "result": {**how, **extra},
        "usage": {"calls": 3, "input_tokens": 30, "output_tokens": 6},
        "cost_usd": 0.0,
        "seconds": 0.5,
    }


def run_folder(path: Path, lines: list[dict[str, Any]], **request: Any) -> Path:
    asked = {"task": "scene", "split": "test", "agent": "heuristic", "model": "builtin/heuristic"}
    with RunFolder(path, kind="navigate", request={**asked, **request}, seed=1) as folder:
        for each in lines:
            folder.add_sample(each)
    return path


def count_failures(every: Iterable[FailureAnalysis]) -> RunTallies:
    found = RunTallies()
    for each in every:
        found.add(each)
    return found
