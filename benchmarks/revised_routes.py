"""Revised routes around other robots, compared with a time-expanded graph in networkx.

On a grid of 361 viewpoints every edge is 1 m long, and every reservation begins and ends on a whole
second. So a time-expanded graph with one layer per second gives the same answers: a node is a
viewpoint and a second, reserved nodes and edges are removed, and a breadth-first search finds the
earliest arrival. The graph gets no more layers than the answer needs. It is rebuilt for each call,
because the reservations differ.

The time of one call is compared with 5 ms on the largest MP3D graph, of 348 viewpoints, around
oncoming robots. Without real scenes the largest demo home is used.
"""

from __future__ import annotations

import gc
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import networkx as nx

from benchmarks import Claim
from navloom.scenes.scene import Edge, Floor, Region, Scene, Viewpoint
from navloom.scenes.scene_uri import iter_scenes, load_scene
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.efficiency_library import find_place
from navloom_worlds.teams.revise_route import BETWEEN, Reservation, revise_route, route_reservations
from navloom_worlds.teams.robots import Robot

LARGEST = "B6ByNegPMKs"
SIDE, LEFT_OUT, OTHERS = 19, 0.12, 12
WANTED, MOST_MS = 20.0, 5.0
CALLS, ROUNDS = 12, 7
SEED = 21
RouteCall = tuple[Anchor, Anchor, list[Reservation]]


def claims() -> list[Claim]:
    """Measure one call against the time-expanded graph, and against the promised time."""
    return [_against_layers(_grid()), _in_its_time(_home())]


def _against_layers(scene: Scene) -> Claim:
    asked = _asked(scene, whole=True)
    ends = [_ours(scene, call) for call in asked]
    told = [(*call, end) for call, end in zip(asked, ends, strict=True)]
    theirs = [_by_layers(scene, *call) for call in told]
    slow = statistics.median(_seconds(lambda call: _by_layers(scene, *call), told))
    fast = statistics.median(s for _ in range(ROUNDS) for s in _seconds(_of(scene), asked))
    spells = statistics.mean(len(call[2]) for call in asked)
    return Claim(
        "revise_route",
        f"breadth-first search over a layer a second, networkx; a grid of {len(scene.viewpoints)}"
        f" viewpoints and {len(scene.edges)} edges",
        slow / fast,
        WANTED,
        equal=all(math.isclose(a, b) for a, b in zip(ends, theirs, strict=True)),
        note=f"{slow * 1e3:.0f} ms against {fast * 1e3:.2f} ms a call, medians of {len(asked)}"
        f" calls with {spells:.0f} reservations each",
    )


def _in_its_time(scene: Scene) -> Claim:
    asked = _asked(scene, whole=False)
    for call in asked:
        _ours(scene, call)
    rounds = [_seconds(_of(scene), asked) for _ in range(ROUNDS)]
    each = [statistics.median(times) * 1e3 for times in zip(*rounds, strict=True)]
    spells = statistics.mean(len(call[2]) for call in asked)
    return Claim(
        "revise_route, the slowest call",
        f"{MOST_MS:g} ms; {scene.uri}, {len(scene.viewpoints)} viewpoints",
        MOST_MS / max(each),
        1.0 if scene.id == LARGEST else 0.0,
        note=f"{statistics.median(each):.2f} ms a call, at most {max(each):.2f} ms, of"
        f" {len(asked)} calls with {spells:.0f} reservations each",
    )


def _grid() -> Scene:
    draw = random.Random(SEED)
    cells = [(x, z) for x in range(SIDE) for z in range(SIDE)]
    pairs = [((x, z), there) for x, z in cells for there in ((x + 1, z), (x, z + 1))]
    return Scene(
        id="grid",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=(Region(id="Hall_1", center=(0, 0, 0)),),
        viewpoints=tuple(
            Viewpoint(id=f"{x}.{z}", position=(x, 0.0, z), region="Hall_1") for x, z in cells
        ),
        edges=tuple(
            Edge(a=f"{a[0]}.{a[1]}", b=f"{b[0]}.{b[1]}")
            for a, b in pairs
            if max(b) < SIDE and draw.random() > LEFT_OUT
        ),
    )


def _home() -> Scene:
    folder = os.environ.get("NAVLOOM_DATA")
    if folder and (Path(folder) / "mp3d").is_dir():
        return load_scene(f"mp3d:{folder}/mp3d/{LARGEST}")
    return max(iter_scenes("demo:"), key=lambda home: len(home.viewpoints))


def _asked(scene: Scene, *, whole: bool) -> list[RouteCall]:
    """Draw start and goal pairs far apart, with reservations of one oncoming and other robots."""
    graph, draw, asked = metric_graph(scene), random.Random(SEED), list[RouteCall]()
    names = [viewpoint.id for viewpoint in scene.viewpoints]
    while len(asked) < CALLS:
        ends = [find_place(scene, name) for name in draw.sample(names, 2 * OTHERS)]
        pairs = [(ends[1], ends[0]), *zip(ends[2::2], ends[3::2], strict=True)]
        if not all(10 < graph.distance(*pair) < math.inf for pair in pairs):
            continue
        taken = []
        for a, b in pairs:
            way = revise_route(scene, Robot("robot_2", a), a, b).stops
            # Each robot reserves its route, and every third stop for a little longer.
            stands = [Reservation(s.node, s.arrive - 1, s.arrive + 2) for s in way[2:-2:3]]
            taken += [*route_reservations(way), *stands]
        assert not whole or all(float(each.from_s).is_integer() for each in taken)
        asked.append((ends[0], ends[1], taken))
    return asked


def _of(scene: Scene) -> Callable[[RouteCall], float]:
    return lambda call: _ours(scene, call)


def _ours(scene: Scene, call: RouteCall) -> float:
    start, goal, taken = call
    robot = Robot("robot_1", start)
    return revise_route(scene, robot, start, goal, reserved=taken).stops[-1].arrive


def _by_layers(
    scene: Scene, start: Anchor, goal: Anchor, taken: list[Reservation], end: float
) -> float:
    """Return the earliest arrival over the time-expanded graph."""
    held = {
        (frozenset(where.split(BETWEEN)), second)
        for where, begin, until in taken
        for second in range(round(begin), round(until))
    }
    nodes = [(v.id, frozenset((v.id,))) for v in scene.viewpoints]
    graph: nx.DiGraph[tuple[str, int]] = nx.DiGraph()
    for second in range(round(end) + 1):
        for node, name in nodes:
            if (name, second) not in held:
                graph.add_edge((node, second), (node, second + 1))
        for edge in scene.edges:
            if (frozenset((edge.a, edge.b)), second) in held:
                continue
            for here, there in ((edge.a, edge.b), (edge.b, edge.a)):
                name = frozenset((there,))
                # Reserved just before and just after: no robot may arrive.
                if not ((name, second) in held and (name, second + 1) in held):
                    graph.add_edge((here, second), (there, second + 1))
    layers = nx.single_source_shortest_path_length(graph, (start.node, 0))
    return min((s for (node, s) in layers if node == goal.node), default=math.inf)


def _seconds(answer: Callable[..., float], calls: Sequence[tuple[object, ...]]) -> list[float]:
    seconds = []
    gc.disable()  # as timeit does: a garbage collection would distort the measurement
    try:
        for call in calls:
            # Processor time, so that other processes on the machine do not count.
            begin = time.thread_time()
            answer(call)
            seconds.append(time.thread_time() - begin)
    finally:
        gc.enable()
    return seconds
