"""Places to jump back to, and the way there over what was seen (NavGPT).

A navigator that may jump chooses among the places next to it and every place that it has stood on.
It gets there on the shortest way, in metres, over the ways on that were offered where it stood; no
map is asked. A jump is one step; every metre of it counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx

from navloom.tools.navigation.options import Option
from navloom.tools.navigation.steps import Step

MOST_JUMPS = 20
"""Places that are offered, the latest first."""


def jumps(steps: Sequence[Step], now: Step) -> list[Option]:
    """The places it may jump back to, as options that go on where those of this step end.

    Args:
        steps: those that were made.
        now: the step under way, with the places next to it as its options.

    Returns:
        One for each place that it stood on, the latest first, but not where it stands, nor what is
        next to it. A description says which step of the history led there.
    """
    beside, graph = {option.viewpoint for option in now.options}, _known([*steps, now])
    here, found = now.viewpoint or "", list[Option]()
    metres = nx.single_source_dijkstra_path_length(graph, here)
    ways = nx.single_source_dijkstra_path(graph, here)
    for viewpoint, words in reversed(_stood(steps).items()):
        if viewpoint in beside or viewpoint == here or viewpoint not in ways:
            continue
        hops = len(ways[viewpoint]) - 1
        text = f"back to {words}, {hops} moves and {metres[viewpoint]:.1f} m from here"
        number = len(now.options) + len(found) + 1
        found.append(Option(number, viewpoint, "Back", text, hops=hops))
    return found[:MOST_JUMPS]


def way_back(steps: Sequence[Step], now: Step, viewpoint: str) -> list[str]:
    """The viewpoints on the way to one of :func:`jumps`, without the first, where it stands."""
    way: list[str] = nx.dijkstra_path(_known([*steps, now]), now.viewpoint or "", viewpoint)
    return way[1:]


def _stood(steps: Sequence[Step]) -> dict[str, str]:
    """Each place that it stood on, by the step of the history that led there last."""
    found, moves = dict[str, str](), 0
    for step in steps:
        if not moves and step.viewpoint:
            found.setdefault(step.viewpoint, "where you started")
        if step.action.kind == "move" and step.action.viewpoint:
            moves += 1
            found.pop(step.action.viewpoint, None)
            found[step.action.viewpoint] = f"where step {moves} led"
    return found


def _known(steps: Sequence[Step]) -> nx.Graph[str]:
    """The places it stood on and what was next to them, with metres where they were said."""
    graph: nx.Graph[str] = nx.Graph()
    for step in steps:
        graph.add_node(step.viewpoint or "")
        for option in step.options:
            if option.hops == 1:
                metres = 1.0 if option.distance is None else option.distance
                graph.add_edge(step.viewpoint or "", option.viewpoint, weight=metres)
    return graph
