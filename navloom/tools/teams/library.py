"""The efficiency library: what a planner of teams may ask before it decides (CoNavBench 3.1, A.9).

Pure functions over G+ as each body may walk it, with small JSON answers: :func:`reach`,
:func:`travel_time`, :func:`rendezvous`, :func:`recommend`. Beside them stand
:mod:`navloom.tools.teams.interference` and :mod:`navloom.tools.teams.revise_route`;
:mod:`navloom.tools.teams.library_tools` hands all six to agents. Seconds and metres are unrounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navloom.errors import UsageError, did_you_mean
from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Scene, prompt_name
from navloom.tools.forms import MOST_LISTED, listed, quoted
from navloom.tools.navcraft import optimum
from navloom.tools.navcraft.optimum import Measure, Relays
from navloom.tools.navcraft.paths import MAX_QUOTED, Anchor, metric_graph, whereabouts
from navloom.tools.navcraft.task import no_such_item
from navloom.tools.teams.passable import closed_links, first_closed, passable_graph
from navloom.tools.teams.revise_route import BETWEEN, IN, no_way, place_name, transitions
from navloom.tools.teams.team import Robot

MOST_RECOMMENDED = 10
_NO_WAY = "the navigation graph does not join them"


def place_named(scene: Scene, name: str, meant: Sequence[str] = ()) -> Anchor:
    """A place as agents write it: a region, a viewpoint, or a thing as ``desk in Study_4``.

    Args:
        scene: the scene.
        name: what was written.
        meant: ids of instances that a shared name means, the first first; else the lowest id.

    Returns:
        Its anchor on G+; a region is the place where a robot starts in it.

    Raises:
        UsageError: there is no such place, or it cannot be joined to G+.
    """
    graph, asked = metric_graph(scene), name[: 2 * MAX_QUOTED]
    if (viewpoint := scene.viewpoint_by_id.get(asked)) is not None:
        return Anchor(viewpoint.id, graph.table.index[viewpoint.id], 0.0)
    thing, found, region = asked.rpartition(IN)
    if not found:
        if (start := graph.starts.get(asked)) is not None:
            return start
        if asked in scene.region_by_id:
            raise UsageError(f"No robot can stand in {asked}: it has no viewpoint.")
    if region not in scene.region_by_id:
        raise UsageError(
            f"There is no place {quoted(asked)}: name a region, or a thing as 'desk{IN}Study_4'."
            f"{did_you_mean(region, scene.region_by_id)}"
        )
    items = [item for item in scene.items_in(region) if item.prompt_name == prompt_name(thing)]
    if not items:
        raise UsageError(no_such_item(scene, region, thing, "asset"))
    order = {each: i for i, each in enumerate(meant)}
    item = min(items, key=lambda each: (order.get(each.id, len(order)), each.id))
    if (anchor := graph.items.get(item.id)) is None:
        raise UsageError(f"No robot gets to {quoted(asked)}: it has no viewpoint near.")
    return anchor


def reach(scene: Scene, body: Embodiment | None, place: Anchor) -> dict[str, Any]:
    """Which regions a body gets to from a place, and what bars it from the others.

    Args:
        scene: the scene.
        body: whose; None, the papers' robots, passes every link.
        place: where it stands.

    Returns:
        ``body``, ``from``, ``reached`` and ``regions`` (how many of how many), ``cut_off`` (each
        region it does not get to, with the ``link`` that it cannot pass first on the shortest way,
        and the ``barrier`` in words) and ``closed_links`` (every link it cannot pass, likewise).
        Lists hold a dozen; ``more`` says how many are left out.
    """
    graph, everybody = passable_graph(scene, body), metric_graph(scene)
    row = graph.row(place)
    cut_off = []
    for region in scene.regions:
        inside = [graph.table.index[v.id] for v in scene.viewpoints_by_region[region.id]]
        if any(math.isfinite(row[column]) for column in inside):
            continue
        start = graph.starts.get(region.id)
        nodes = None if start is None else everybody.walk(place, start)
        found = first_closed(scene, body, nodes) if nodes and body else None
        link = None if found is None else _link_name(scene, found[0])
        why = "it has no viewpoint" if start is None else _NO_WAY
        cut_off.append({"region": region.id, "link": link, "barrier": found[1] if found else why})
    shut = closed_links(scene, body) if body else {}
    closed = [{"link": _link_name(scene, i), "barrier": why} for i, why in shut.items()]
    return {
        "body": body.name if body else None,
        "from": place_name(scene, place),
        "reached": len(scene.regions) - len(cut_off),
        "regions": len(scene.regions),
        "cut_off": cut_off[:MOST_LISTED],
        "closed_links": closed[:MOST_LISTED],
        "more": max(0, len(cut_off) - MOST_LISTED) + max(0, len(closed) - MOST_LISTED),
    }


def travel_time(scene: Scene, robot: Robot, start: Anchor, goal: Anchor) -> dict[str, Any]:
    """How far and how long it is for one robot.

    Args:
        scene: the scene.
        robot: its body says which links it may use, its speed how long that takes.
        start: from where.
        goal: to where.

    Returns:
        ``robot``, ``metres``, ``seconds`` and ``path``, the regions' transitions.

    Raises:
        UsageError: its body cannot get there; the message names the first barrier.
    """
    graph = robot.graph(scene)
    metres = graph.distance(start, goal)
    if not math.isfinite(metres):
        raise UsageError(no_way(scene, robot, start, goal))
    walked = graph.walk(start, goal) or []
    return {
        "robot": robot.name,
        "metres": metres,
        "seconds": metres / robot.speed,
        "path": transitions(whereabouts(scene, node).region for node in walked),
    }


def rendezvous(
    scene: Scene, fetcher: Robot, receiver: Robot, origin: Anchor, handoff: Anchor, end: Anchor
) -> dict[str, Any]:
    """Who waits for whom at a handoff, and how late each may set out without delaying anybody.

    Both could set out at second 0. The robot that would be early may stay where it is needed, as
    robot_1 does beside its guest in CoNavBench A.9, and leave so that it comes just in time.

    Args:
        scene: the scene.
        fetcher: who brings the object to the handoff.
        receiver: who takes it on.
        origin: where the object lies.
        handoff: where it is put down.
        end: where it goes.

    Returns:
        ``arrive_s`` of each, ``handoff_s`` (both are there), ``waits`` (robot and seconds, as tasks
        record it), ``object_rests_s``, ``latest_departure_s`` of each while the other sets out at
        0, ``makespan_s``.

    Raises:
        UsageError: both are one robot, or a body cannot get there.
    """
    if fetcher.name == receiver.name:
        raise UsageError(f"{fetcher.name} cannot hand over to itself: name two robots.")
    brings = _seconds(scene, fetcher, fetcher.start, origin, handoff)
    comes = _seconds(scene, receiver, receiver.start, handoff)
    on = _seconds(scene, receiver, handoff, end)
    handed, spare = max(brings, comes), comes - brings
    return {
        "arrive_s": {fetcher.name: brings, receiver.name: comes},
        "handoff_s": handed,
        "waits": {"robot": receiver.name if spare < 0 else None, "seconds": max(0.0, -spare)},
        "object_rests_s": max(0.0, spare),
        "latest_departure_s": {fetcher.name: max(0.0, spare), receiver.name: max(0.0, -spare)},
        "makespan_s": handed + on,
    }


def recommend(
    relays: Relays, *, kept: NDArray[np.bool_] | None = None, by: Measure = "alpha", k: int = 3
) -> dict[str, Any]:
    """The k best places for a handoff, each with the best relay over it, its gains, and why.

    Args:
        relays: every guarded relay of a task.
        kept: (n,) those that may be recommended; None: all.
        by: the measure to choose by.
        k: how many, 1 to ``MOST_RECOMMENDED``.

    Returns:
        ``recommended``: the four choices of each, ``alpha``, ``g_rate``, ``gain_alpha``,
        ``gain_g``, ``makespan_s`` and ``why``; best first, none where no relay may be. ``of`` says
        how many relays there were to choose from.

    Raises:
        UsageError: ``k`` is out of bounds, or the measure is not known.
    """
    if not 1 <= k <= MOST_RECOMMENDED:
        raise UsageError(f"k must be 1 to {MOST_RECOMMENDED}, not {k}.")
    if by not in optimum.MEASURES:
        raise UsageError(f"by must be one of {listed(optimum.MEASURES)}, not {quoted(by)}.")
    found = optimum.recommend(relays, "transfer_asset", by=by, k=k, kept=kept)
    return {
        "recommended": [
            {
                "robot_2_start_region": relay.robot_2_start_region,
                "transfer_region": relay.transfer_region,
                "transfer_asset": relay.transfer_asset,
                "collab_type": relay.collab_type,
                "alpha": relay.alpha,
                "g_rate": relay.g_rate,
                "gain_alpha": 1 - relay.alpha,
                "gain_g": 1 - relay.g_rate,
                "makespan_s": relay.makespan_s,
                "why": " ".join(each.reasons),
            }
            for each in found
            for relay in (each.relay,)
        ],
        "of": len(relays) if kept is None else int(kept.sum()),
    }


def _seconds(scene: Scene, robot: Robot, *places: Anchor) -> float:
    graph, metres = robot.graph(scene), 0.0
    for start, goal in pairwise(places):
        leg = graph.distance(start, goal)
        if not math.isfinite(leg):
            raise UsageError(no_way(scene, robot, start, goal))
        metres += leg
    return metres / robot.speed


def _link_name(scene: Scene, link: int) -> str:
    return f"{scene.links[link].a}{BETWEEN}{scene.links[link].b}"
