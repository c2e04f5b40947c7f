"""Ways that carry a body, which drives on them not at all: lifts, and stairs without any treads.

A scene may know of stairs as a link alone: nothing can be driven there, and the graph is believed.
"""

from __future__ import annotations

from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Edge, Scene


def is_carried(scene: Scene, a: str, b: str, body: Embodiment) -> bool:
    """Whether a body gets from viewpoint to viewpoint without driving.

    Args:
        scene: where.
        a: a viewpoint.
        b: one next to it.
        body: whose way it is.
    """
    at = scene.viewpoint_by_id
    ends = {at[a].region, at[b].region}
    flights = {frozenset((flight.a, flight.b)) for flight in scene.stairs if flight.treads}
    for link in scene.links:
        if {link.a, link.b} == ends:
            if link.kind == "elevator" and body.elevator:
                return True
            if link.kind == "stairs" and body.stairs and frozenset(ends) not in flights:
                return True
    return False


def with_carried(own: Scene, whole: Scene, body: Embodiment) -> Scene:
    """The graph of a body with the ways that carry it.

    Args:
        own: with the viewpoints and edges that are the body's.
        whole: with those of a slim one.
        body: whose.
    """
    known = {frozenset((edge.a, edge.b)) for edge in own.edges}
    there = own.viewpoint_by_id
    more = tuple(
        Edge(a=edge.a, b=edge.b)
        for edge in whole.edges
        if edge.a in there
        and edge.b in there
        and frozenset((edge.a, edge.b)) not in known
        and is_carried(whole, edge.a, edge.b, body)
    )
    return own.replace(edges=own.edges + more) if more else own
