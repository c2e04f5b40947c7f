"""The best plan of six robots over 131 handoffs, compared with a search over the same states.

The reference is a label-setting search over (robots used, place), earliest first, with the same
distances in lists and a heap, as one would write it by hand. Trying every plan is infeasible: five
handoffs alone give 131^5 times 720 plans. The robots differ in speed, so that relays gain time. The
home is generated, so that anyone can reproduce the numbers. Times are processor times. The values
are compared in a run that is not timed.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import statistics
import time
from collections.abc import Callable

from benchmarks import Claim
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_optimum import TravelTable, best_plan, errand_places, travel_table
from navloom_worlds.teams.team_plan import TeamErrand

HOME = "home:2"
ROBOTS, HANDOFFS, TEAMS, ROUNDS = 6, 131, 8, 5
WANTED = 20.0
SPEEDS = (0.5, 0.7, 1.0, 1.0, 1.3, 1.6)
TeamTask = tuple[Scene, tuple[Robot, ...], TeamErrand]


def claims() -> list[Claim]:
    """Measure the optimum of one errand."""
    asked = draw_team_tasks()
    handoffs = list_handoffs(asked[0][0])
    tables = [travel_table(*each[:2], errand_places(each[2], handoffs)) for each in asked]
    found = [best_plan(*each, handoffs) for each in asked]
    equal = all(
        math.isclose(best.value, search_least_makespan(table), abs_tol=1e-6)
        for best, table in zip(found, tables, strict=True)
    )
    ours = _seconds(lambda: [best_plan(*each, handoffs) for each in asked])
    theirs = _seconds(lambda: [search_least_makespan(table) for table in tables], rounds=1)
    legs = max(len(best.plan.legs) for best in found)
    return [
        Claim(
            f"the best plan of {ROBOTS} robots over {len(handoffs)} handoffs, exactly",
            "a label-setting search of (robots used, place) in plain Python",
            theirs / ours,
            WANTED,
            equal=equal,
            note=f"{ours / len(asked) * 1e3:.1f} ms of CPU a plan, its table made anew; "
            f"plans of up to {legs} legs",
        )
    ]


def draw_team_tasks() -> list[TeamTask]:
    """Draw errands, and robots at random starts, the slowest nearest to the object."""
    scene, dice = load_scene(HOME), random.Random(6)
    graph = metric_graph(scene)
    objects = [graph.items[each.id] for each in scene.items if each.kind == "object"]
    ends = [graph.items[each.id] for each in scene.items if each.kind == "asset"][HANDOFFS:]
    asked = []
    for _ in range(TEAMS):
        origin, end = dice.choice(objects), dice.choice(ends)
        starts = dice.sample(list(graph.starts.values()), ROBOTS)
        starts.sort(key=lambda each: graph.distance(each, origin))
        robots = (
            Robot(f"robot_{i}", start, None, speed)
            for i, (start, speed) in enumerate(zip(starts, SPEEDS, strict=True), 1)
        )
        asked.append((scene, tuple(robots), TeamErrand("thing", origin, end)))
    return asked


def list_handoffs(scene: Scene) -> list[Anchor]:
    """Return the first 131 assets of the home, the number of the largest of HM3D's first three."""
    graph = metric_graph(scene)
    assets = [graph.items[each.id] for each in scene.items if each.kind == "asset"]
    return assets[:HANDOFFS]


def search_least_makespan(table: TravelTable) -> float:
    """Return the least makespan, by a label-setting search with a heap."""
    start = (table.start / table.speed[:, None]).tolist()
    takes = (table.metres / table.speed[:, None, None]).tolist()
    many, n = table.start.shape
    heap = [(0.0, 0, 0)]
    known = {(0, 0): 0.0}
    while heap:
        at, used, place = heapq.heappop(heap)
        if place == 1:
            return at
        if at > known[used, place]:
            continue
        for r in range(many):
            if used >> r & 1:
                continue
            row, begins, after = takes[r][place], max(at, start[r][place]), used | 1 << r
            for to in range(1, n):
                ends = begins + row[to]
                if ends < known.get((after, to), math.inf):
                    known[after, to] = ends
                    heapq.heappush(heap, (ends, after, to))
    return math.inf


def _seconds(job: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    taken = []
    for _ in itertools.repeat(None, rounds):
        begin = time.process_time()
        job()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)
