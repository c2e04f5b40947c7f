"""Why a body cannot get somewhere: the first barrier on the way that a slim one would take.

What a link says of itself (:mod:`navloom.scenes.by_rule`) is told first; where no link on
the way says anything, there is merely too little room somewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from navloom.scenes.bodies import Embodiment
from navloom.scenes.by_rule import from_geometry
from navloom.scenes.distances import heading_to, metre_table, per_scene
from navloom.scenes.scene import Scene
from navloom.scenes.terrain import Bump, Stand, has_geometry, mover_of
from navloom.scenes.traverse_table import Traversability
from navloom.sim.graph import floor_of, nearest_viewpoint
from navloom.sim.protocol import Pose, Simulator
from navloom.sim.words import label_words
from navloom.tools.forms import quoted
from navloom.tools.moving.surroundings import Spot, goals_of

_STEP_M = 0.5
"""A viewpoint on which a body does not fit is passed beside it, so far off at most."""
_KINDS = {"opening": "way", "door": "door", "stairs": "stairs", "elevator": "elevator"}


@dataclass(frozen=True)
class Barrier:
    """What a body cannot pass.

    Attributes:
        a: the region before it.
        b: the region behind it.
        kind: of the link: ``door``, ``stairs``, ...
        note: why not, in words.
    """

    a: str
    b: str
    kind: str
    note: str

    def words(self, scene: Scene) -> str:
        """As a person says it: ``the door between the hallway and the kitchen``."""
        one, other = (label_words(scene.region_by_id[each]) for each in (self.a, self.b))
        return f"the {_KINDS.get(self.kind, self.kind)} between the {one} and the {other}"


def first_barrier(scene: Scene, start: str, goal: str, body: Embodiment) -> Barrier | None:
    """The first link on the shortest way along the graph that a body cannot pass.

    Args:
        scene: with the graph of a slim body.
        start: the viewpoint it comes from.
        goal: the viewpoint it goes to.
        body: whose way it is.

    Returns:
        None where no way leads there for anybody, or no link on it says anything against it.
    """
    at = scene.viewpoint_by_id
    passed = [at[each].region for each in metre_table(scene, "3d").path(start, goal) or ()]
    rules = per_scene(scene, f"barred {body.model_dump_json()}", lambda: _rules(scene, body))
    for a, b in pairwise(passed):
        if a is None or b is None or a == b:
            continue
        found = rules.passage(body.name, a, b)
        if found.traversable is False:
            kinds = [link.kind for link in scene.links if {link.a, link.b} == {a, b}]
            return Barrier(a, b, kinds[0] if kinds else "opening", found.note)
    return None


def first_obstacle(scene: Scene, start: str, goal: str, body: Embodiment) -> Bump | None:
    """What stops a body that drives from viewpoint to viewpoint along the graph of a slim one.

    Args:
        scene: with geometry, and the graph of a slim body.
        start: the viewpoint it comes from.
        goal: the viewpoint it goes to.
        body: which cannot get there.

    Returns:
        What takes most of its way where it gets no farther; None where nothing does.
    """
    mover, at = mover_of(scene, body), scene.viewpoint_by_id
    way = [floor_of(at[each]) for each in metre_table(scene, "3d").path(start, goal) or ()]
    for a, b in pairwise(way):
        stand = mover.settled(Stand(a, heading_to(a, b)), {}, _STEP_M)
        if stand is None:
            continue
        gone = mover.follow(stand, [b])
        if gone.bumps and math.dist(gone.stand.position, b) > _STEP_M:
            return max(gone.bumps, key=lambda each: each.displacement)
    return None


def why_not(simulator: Simulator, start: Pose, place: Spot, body: Embodiment) -> str:
    """One line on why no way leads somewhere for a body."""
    scene = simulator.scene
    here = start.viewpoint or nearest_viewpoint(scene, start.position)[0]
    end = goals_of(scene, place)[0]
    there = end if isinstance(end, str) else nearest_viewpoint(scene, end.position)[0]
    barrier = first_barrier(scene, here, there, body)
    named = quoted(place) if isinstance(place, str) else "that point"
    why = f": {barrier.words(scene)}: {barrier.note}" if barrier else ""
    if barrier is None and has_geometry(scene):
        obstacle = first_obstacle(scene, here, there, body)
        why = f": {obstacle.what} leaves it too little room" if obstacle else ""
    return f"No way leads from here to {named} for {body.name}{why}."


def _rules(scene: Scene, body: Embodiment) -> Traversability:
    return from_geometry(scene, (body,))
