"""Optimality gaps of plans for several errands: value and lower bound, home by home.

    python -m worlds.tests.teams.gaps home:0-9 --errands 4 --robots 4

The robots fit through every passage. Every other one moves at SPOT's 1.6 m/s, the others at FETCH's
1 m/s. Starts, objects and ends are drawn with a seed. ``--seconds`` limits the search for three
errands or more.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time

from navloom.scenes.bodies import FETCH, SPOT
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import iter_scenes
from navloom.tools.navcraft.task_paths import metric_graph
from navloom_worlds.teams.multi_errand_optimum import best_team_plan
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_plan import TeamErrand


def drawn(
    scene: Scene, robots: int, errands: int, seed: int
) -> tuple[list[Robot], list[TeamErrand]]:
    """Draw a team and its errands for a scene."""
    dice, graph = random.Random(f"{scene.id} {seed}"), metric_graph(scene)
    starts = dice.sample(sorted(graph.starts.values(), key=lambda each: each.node), robots)
    speeds = (FETCH.speed, SPOT.speed)
    team = [Robot(f"robot_{i + 1}", at, None, speeds[i % 2]) for i, at in enumerate(starts)]
    kinds: dict[str, list[str]] = {"object": [], "asset": []}
    for item in scene.items:
        if item.kind in kinds and item.id in graph.items:
            kinds[item.kind].append(item.id)
    things, ends = (dice.sample(kinds[kind], errands) for kind in ("object", "asset"))
    pairs = zip(things, ends, strict=True)
    return team, [TeamErrand(x, graph.items[x], graph.items[end]) for x, end in pairs]


def main(arguments: list[str]) -> None:
    """Print a line per home, and the mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec")
    parser.add_argument("--errands", type=int, default=4)
    parser.add_argument("--robots", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    gaps = []
    for scene in iter_scenes(asked.spec):
        team, errands = drawn(scene, asked.robots, asked.errands, asked.seed)
        begin = time.process_time()
        best = best_team_plan(scene, team, errands, seconds=asked.seconds)
        gaps.append(best.gap)
        print(
            f"{scene.uri}: {best.value:.1f} s, no plan under {best.bound:.1f} s, gap "
            f"{best.gap:.1%}, {len(best.plan.handoffs)} handoffs, "
            f"{time.process_time() - begin:.1f} s of CPU"
        )
    print(
        f"{len(gaps)} teams: mean gap {statistics.mean(gaps):.1%}, most {max(gaps):.1%}, "
        f"{sum(gap < 1e-9 for gap in gaps)} proven best"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
