"""The best plan of six robots over 131 handoffs against a search of the same states.

The reference is a label-setting search over (robots used, place), earliest first, with the same
distances in lists and a heap: what one would write by hand. Trying every plan is out of reach:
131^5 times 720 of five handoffs alone. Robots differ in speed, so that relays gain; the homes are
generated, so that the numbers can be had anywhere. Time is the CPU's. Values are compared in a run
that is not timed.
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
Asked = tuple[Scene, tuple[Robot, ...], TeamErrand]


def claims() -> list[Claim]:
    """Measure the optimum of one errand."""
    asked = teams()
    handoffs = places(asked[0][0])
    tables = [travel_table(*each[:2], errand_places(each[2], handoffs)) for each in asked]
    found = [best_plan(*each, handoffs) for each in asked]
    equal = all(
        math.isclose(best.value, searched(table), abs_tol=1e-6)
        for best, table in zip(found, tables, strict=True)
    )
    ours = _seconds(lambda: [best_plan(*each, handoffs) for each in asked])
    theirs = _seconds(lambda: [searched(table) for table in tables], rounds=1)
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


def teams() -> list[Asked]:
    """Errands and robots that start anywhere, the slow nearest the object."""
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


def places(scene: Scene) -> list[Anchor]:
    """As many assets as the largest home of HM3D's first three has."""
    graph = metric_graph(scene)
    assets = [graph.items[each.id] for each in scene.items if each.kind == "asset"]
    return assets[:HANDOFFS]


def searched(table: TravelTable) -> float:
    """The least makespan, by a heap."""
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
