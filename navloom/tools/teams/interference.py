"""Where two timed routes get into each other's way (CoNavBench 3.1 and Figure 5c).

Two robots share an edge of G+ while both walk it, a doorway while both walk edges that cross its
link, the spur of an item (``handoff``) while both walk or stand on it, and a viewpoint where one
stands while the other comes by. An edge that crosses a doorway is told as the doorway. Head-on they
come from opposite ends, following from the same, standing one of them waits.

Both fit where the doorway is as wide as both bodies side by side. Nothing is said where the scene
says no width, as HM3D's links, or a robot has no body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

from navloom.scenes.bodies import Embodiment
from navloom.scenes.scene import Scene, Viewpoint
from navloom.tools.navcraft.paths import link_crossed, whereabouts
from navloom.tools.navcraft.schedule import RobotStop, Spell

Kind = Literal["doorway", "edge", "handoff", "viewpoint"]
Manner = Literal["head-on", "following", "standing"]
_EPS = 1e-9


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two robots in one place at one time.

    Attributes:
        kind: ``doorway``, ``edge`` (of G), ``handoff`` (the spur of an item), ``viewpoint``.
        where: its two ends, regions for a doorway and nodes of G+ else; a viewpoint alone.
        from_s: second from which both are there.
        to_s: second until which; equal to ``from_s`` where one walks by while the other stands.
        how: ``head-on``, ``following``, or ``standing`` where one of them stands.
        width: clear width of the doorway in metres; None where nobody says.
        fits: whether both bodies fit side by side; None where nobody says.
    """

    kind: Kind
    where: tuple[str, ...]
    from_s: float
    to_s: float
    how: Manner
    width: float | None
    fits: bool | None

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "where": list(self.where), "seconds": self.to_s - self.from_s}


@dataclass(frozen=True, slots=True)
class _Presence:
    """One robot in one place for a while; ``toward`` is the end it walks to, None: it stands."""

    spell: Spell
    toward: str | None


_Place = tuple[Kind, tuple[str, ...], int]
"""(kind, where, index of the link, or -1)."""


def interference(
    scene: Scene,
    first: Sequence[RobotStop],
    second: Sequence[RobotStop],
    bodies: tuple[Embodiment | None, Embodiment | None] = (None, None),
) -> list[Meeting]:
    """The places that two timed routes share at one time.

    Args:
        scene: the scene both walk in.
        first: one robot's stops, as schedules and revised routes have them.
        second: the other's.
        bodies: both bodies, whose widths are added.

    Returns:
        The meetings, soonest first. Before its first and after its last stop a robot is nowhere.
    """
    sides = None if None in bodies else sum(body.width for body in bodies if body)
    here, there = _presences(scene, first), _presences(scene, second)
    found = [
        _meeting(scene, place, a, b, sides)
        for place in here.keys() & there.keys()
        for a in here[place]
        for b in there[place]
        if _together(place[0], a, b)
    ]
    return sorted(found, key=lambda each: (each.from_s, each.to_s, each.kind, each.where))


def _together(kind: Kind, a: _Presence, b: _Presence) -> bool:
    shared = min(a.spell[1], b.spell[1]) - max(a.spell[0], b.spell[0])
    if kind == "viewpoint":
        # Who stands is passed in no time.
        return shared >= 0 and (a.toward is None or b.toward is None)
    return shared > _EPS


def _meeting(
    scene: Scene, place: _Place, a: _Presence, b: _Presence, sides: float | None
) -> Meeting:
    kind, where, link = place
    width = scene.links[link].width if link >= 0 else None
    how: Manner = "following" if a.toward == b.toward else "head-on"
    if a.toward is None or b.toward is None:
        how = "standing"
    return Meeting(
        kind=kind,
        where=where,
        from_s=max(a.spell[0], b.spell[0]),
        to_s=min(a.spell[1], b.spell[1]),
        how=how,
        width=width,
        fits=None if width is None or sides is None else width + _EPS >= sides,
    )


def _presences(scene: Scene, route: Sequence[RobotStop]) -> dict[_Place, list[_Presence]]:
    """When a robot is in each place, and which way it goes there."""
    found: dict[_Place, list[_Presence]] = {}
    for place, presence in _steps(scene, route):
        found.setdefault(place, []).append(presence)
    return found


def _steps(scene: Scene, route: Sequence[RobotStop]) -> Iterator[tuple[_Place, _Presence]]:
    before: _Place | None = None
    for here, there in pairwise(route):
        place, toward = _between(scene, here, there)
        if here.node not in scene.viewpoint_by_id and here.leave > here.arrive:
            # Who waits at an item stands on its spur, whichever way it came.
            yield before or place, _Presence((here.arrive, here.leave), None)
        yield place, _Presence((here.leave, there.arrive), toward)
        before = place
    for stop in route:
        if stop.node in scene.viewpoint_by_id:
            onward = None if stop.leave > stop.arrive else stop.node
            yield ("viewpoint", (stop.node,), -1), _Presence((stop.arrive, stop.leave), onward)


def _between(scene: Scene, here: RobotStop, there: RobotStop) -> tuple[_Place, str]:
    """The place that a step leads through, and its end that the step leads to."""
    a, b = sorted((here.node, there.node))
    ends = whereabouts(scene, here.node), whereabouts(scene, there.node)
    if not all(isinstance(end, Viewpoint) and end.id in scene.viewpoint_by_id for end in ends):
        return ("handoff", (a, b), -1), there.node
    if here.region and there.region and here.region != there.region:
        link = link_crossed(scene, *(scene.viewpoint_by_id[end.id] for end in ends))
        if link is not None:
            near, far = sorted((here.region, there.region))
            return ("doorway", (near, far), link), there.region
    return ("edge", (a, b), -1), there.node
