"""Errands in generated homes that no one or two bodies can do, done by three."""

from __future__ import annotations

import random
from itertools import product

import networkx as nx
import numpy as np
import pytest

from navloom.errors import UsageError
from navloom.scenes.bodies import FETCH, SPOT, Embodiment
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import load_scene
from navloom.tools.navcraft.task_paths import Anchor, metric_graph
from navloom_worlds.teams.robots import Robot, closed_links, passable_graph
from navloom_worlds.teams.team_optimum import best_plan, handoff_places
from navloom_worlds.teams.team_plan import TeamErrand

Part = tuple[Embodiment, frozenset[int]]
"""A body, and viewpoints between which it gets about."""


def parts(scene: Scene) -> list[Part]:
    found = []
    for body in (FETCH, SPOT):
        metres = passable_graph(scene, body).table.metres
        found += [
            (body, each) for each in {frozenset(np.flatnonzero(row)) for row in np.isfinite(metres)}
        ]
    return found


def robot(scene: Scene, number: int, part: Part) -> Robot:
    body, viewpoints = part
    where = min(viewpoints)
    node = metric_graph(scene).table.nodes[where]
    return Robot(f"robot_{number}", Anchor(node, where, 0.0), body, body.speed)


def chains(scene: Scene, known: list[Part]) -> nx.Graph:
    """Parts that share a place for a handoff."""
    anchors = metric_graph(scene).items
    shared = {anchors[x.id].viewpoint for x in scene.items if x.kind == "asset" and x.id in anchors}
    graph = nx.Graph()
    graph.add_nodes_from(range(len(known)))
    graph.add_edges_from(
        (i, j)
        for i, j in product(range(len(known)), repeat=2)
        if known[i][1] & known[j][1] & shared
    )
    return graph


def wanted(
    scene: Scene, known: list[Part], many: int, seed: int
) -> list[tuple[TeamErrand, list[Part]]]:
    """Errands whose object gets to its end over three parts and not over fewer."""
    dice, anchors = random.Random(seed), metric_graph(scene).items
    graph = chains(scene, known)
    things = [x for x in scene.items if x.kind == "object" and x.id in anchors]
    assets = [x for x in scene.items if x.kind == "asset" and x.id in anchors]
    pairs = list(product(things, assets))
    dice.shuffle(pairs)
    found = []
    for thing, asset in pairs:
        errand = TeamErrand(thing.id, anchors[thing.id], anchors[asset.id])
        begin, end = (
            [i for i, (_, here) in enumerate(known) if at.viewpoint in here]
            for at in (errand.origin, errand.end)
        )
        ways = [
            nx.shortest_path(graph, i, j)
            for i, j in product(begin, end)
            if nx.has_path(graph, i, j)
        ]
        way = min(ways, key=len, default=[])
        if len(way) == 3:
            try:
                best_plan(
                    scene,
                    [robot(scene, n, known[i]) for n, i in enumerate(way, 1)],
                    errand,
                    handoff_places(scene, errand),
                )
            except UsageError:
                continue  # The papers' guards leave no place to hand it over.
            found.append((errand, [known[i] for i in way]))
        if len(found) == many:
            return found
    raise AssertionError(f"{scene.uri} has {len(found)} such errands")


@pytest.mark.slow
@pytest.mark.parametrize("home", ["home:12", "home:27", "home:80"])
def test_ten_errands_a_home_need_three_bodies(home: str) -> None:
    scene = load_scene(home)
    known = parts(scene)
    for errand, three in wanted(scene, known, 10, seed=3):
        places = handoff_places(scene, errand)
        team = [robot(scene, n, part) for n, part in enumerate(three, 1)]
        best = best_plan(scene, team, errand, places)
        assert len(best.plan.legs) == 3
        assert best.plan.schedule(scene).makespan_s == pytest.approx(best.value)
        for leg, part in zip(best.plan.legs, three, strict=True):
            walk = passable_graph(scene, part[0]).walk(leg.origin, leg.to)
            assert walk is not None
        # Wherever they start: robots of one body that start in one part are alike.
        for some in (*product(known, repeat=1), *product(known, repeat=2)):
            few = [robot(scene, n, part) for n, part in enumerate(some, 1)]
            with pytest.raises(
                UsageError, match=r"brings '[^ ]+' to '[^ ]+': over no handoff does a body"
            ):
                best_plan(scene, few, errand, places)
    assert closed_links(scene, FETCH)
    assert closed_links(scene, SPOT)
