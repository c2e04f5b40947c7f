"""Random teams and plans, and a discrete-event simulation that shares no formula with the code."""

from __future__ import annotations

import heapq
import random
from itertools import pairwise

import networkx as nx

from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Edge, Floor, Item, Link, Region, Scene, Viewpoint, distance_2d
from navloom.tools.navcraft.schedule import CarryLeg
from navloom.tools.navcraft.task_paths import Anchor, metric_graph, resolve_node
from navloom_worlds.teams.robots import Robot
from navloom_worlds.teams.team_plan import TeamPlan, resolve_place

SLIM = Embodiment(name="SLIM", width=0.4)
WIDE = Embodiment(name="WIDE", width=0.8)


def random_scene(dice: random.Random, rooms: int = 6, things: int = 3) -> Scene:
    """Draw rooms in a ring with items in each; every link but one is wide enough for all."""
    names = [f"Room_{i}" for i in range(rooms)]
    at = {name: (dice.uniform(-9, 9), 0.0, dice.uniform(-9, 9)) for name in names}
    ring = [*pairwise(names), (names[-1], names[0])]
    items = []
    for name in names:
        for k in range(things):
            x, _, z = at[name]
            spot = (x + dice.uniform(-1, 1), 0.5, z + dice.uniform(-1, 1))
            kind = "object" if k == 0 else "asset"
            items.append(Item(id=f"{name}.{k}", name=kind, kind=kind, region=name, position=spot))
    shut = dice.randrange(len(ring))
    return Scene(
        id="ring",
        source="test",
        floors=(Floor(id=1, height=0.0),),
        regions=tuple(Region(id=name, label=name, center=at[name]) for name in names),
        links=tuple(
            Link(a=a, b=b, kind="opening", width=0.6 if i == shut else 1.0)
            for i, (a, b) in enumerate(ring)
        ),
        viewpoints=tuple(Viewpoint(id=f"v{n}", position=at[n], region=n) for n in names),
        edges=tuple(Edge(a=f"v{a}", b=f"v{b}") for a, b in ring),
        items=tuple(items),
    )


def random_robots(dice: random.Random, scene: Scene, many: int) -> tuple[Robot, ...]:
    """Draw robots with different starts, bodies and speeds."""
    made = []
    for number in range(1, many + 1):
        start: Anchor = dice.choice(list(metric_graph(scene).starts.values()))
        if dice.random() < 0.3:
            x, y, z = resolve_node(scene, start.node).position
            start = resolve_place(scene, (x + dice.uniform(-0.5, 0.5), y, z))
        speed = dice.choice([0.5, 1.0, 1.6])
        made.append(Robot(f"robot_{number}", start, dice.choice([None, SLIM, WIDE]), speed))
    return tuple(made)


def random_plan(dice: random.Random, scene: Scene) -> TeamPlan:
    """Draw a plan of one to five robots that carry one to four objects over handoffs."""
    robots = random_robots(dice, scene, dice.randint(1, 5))
    objects = dice.sample([i.id for i in scene.items if i.kind == "object"], dice.randint(1, 4))
    anchors = metric_graph(scene).items
    places = [anchor for thing, anchor in anchors.items() if thing not in objects]
    ways = []
    for thing in objects:
        stops = [resolve_place(scene, thing), *dice.sample(places, dice.randint(1, 4))]
        stops = list({each.node: each for each in stops}.values())
        if len(stops) < 2:
            stops.append(dice.choice([each for each in places if each != stops[0]]))
        ways.append([CarryLeg(dice.choice(robots).name, thing, a, b) for a, b in pairwise(stops)])
    legs = []
    while ways:  # Mixed, but in order for each object, so that there is no deadlock.
        way = dice.choice(ways)
        legs.append(way.pop(0))
        ways = [each for each in ways if each]
    return TeamPlan(robots, tuple(legs))


def simulated(scene: Scene, plan: TeamPlan) -> tuple[float, dict[CarryLeg, tuple[float, float]]]:
    """Return when the last object arrives, and when each leg's object is picked up and put down.

    Robots process their lists, and the only events are arrivals. A robot that arrives before the
    object waits until it is put down.
    """
    todo = {
        robot.name: [leg for leg in plan.legs if leg.robot == robot.name] for robot in plan.robots
    }
    standing = {robot.name: robot.start for robot in plan.robots}
    starts = {(errand.object, errand.origin.node) for errand in plan.errands}
    lies = set(starts)
    queue: list[tuple[float, str, str]] = []
    waiting: set[str] = set()
    seen: dict[CarryLeg, tuple[float, float]] = {}
    taken: dict[str, float] = {}
    now = 0.0

    def seconds(name: str, b: Anchor) -> float:
        robot = plan.robot_by_name[name]
        return walked(scene, robot, standing[name], b) / robot.speed

    def set_out(name: str) -> None:
        if todo[name]:
            heapq.heappush(queue, (now + seconds(name, todo[name][0].origin), name, "come"))

    def take(name: str) -> None:
        leg = todo[name][0]
        lies.remove((leg.object, leg.origin.node))
        taken[name] = now
        standing[name] = leg.origin
        heapq.heappush(queue, (now + seconds(name, leg.to), name, "bring"))

    for robot in plan.robots:
        set_out(robot.name)
    while queue:
        now, name, what = heapq.heappop(queue)
        leg = todo[name][0]
        if what == "come":
            waiting.add(name)
        else:
            seen[leg] = taken[name], now
            lies.add((leg.object, leg.to.node))
            standing[name] = leg.to
            todo[name].pop(0)
            set_out(name)
        for each in sorted(waiting):
            head = todo[each][0]
            if (head.object, head.origin.node) in lies:
                waiting.remove(each)
                take(each)
    return now, seen


def walked(scene: Scene, robot: Robot, a: Anchor, b: Anchor) -> float:
    """Return the metres between two places on an independent graph without too narrow doors."""
    if a.node == b.node:
        return 0.0
    at = scene.viewpoint_by_id
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(at)
    width = 0.0 if robot.body is None else robot.body.width
    clear = {frozenset((link.a, link.b)): link.width or 9.0 for link in scene.links}
    for edge in scene.edges:
        one, other = at[edge.a], at[edge.b]
        if clear[frozenset((str(one.region), str(other.region)))] >= width:
            graph.add_edge(one.id, other.id, metres=distance_2d(one.position, other.position))
    ends = []
    for place, name in ((a, "from"), (b, "to")):
        here = resolve_node(scene, place.node)
        node = f"v{here.region}"
        graph.add_edge(name, node, metres=distance_2d(here.position, at[node].position))
        ends.append(name)
    return float(nx.shortest_path_length(graph, *ends, weight="metres"))
