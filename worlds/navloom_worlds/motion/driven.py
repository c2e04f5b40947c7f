"""Whether a body may use a link, by driving it through.

Ways are sought among the lines that the building's own triangles make at the body's height, and
then driven: every metre and every turn of a way by :class:`navloom_worlds.motion.mover.Mover`, an
exact sweep of the body's shape that may touch nothing. Of a link only where it is and what kind it
is are read; its width, its step and its sill are not, and no rule is.

A body has passed where it came from where it gets about in one region to where it does in the
other, through this link and no third region, and back the same way. Who can open doors pushes the
leaves of other doors aside: only that of the link's own stands in its way, open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, builtin_bodies
from navloom.scenes.scene import Link, Scene
from navloom.scenes.terrain import Stand
from navloom_worlds.geometry.owners import door_owner
from navloom_worlds.motion.lattice_ways import Search
from navloom_worlds.motion.link_ground import (
    Core,
    LinkGround,
    elevator_stands,
    foot_of,
    head_of,
    pushed,
)
from navloom_worlds.motion.motions import Motion
from navloom_worlds.motion.mover import Mover
from navloom_worlds.motion.stair_drive import climbed, entered, flight_of

Result = Literal["passed", "blocked", "gave up"]
_STARTS = 3
_AGAIN = 4
"""Times that a way is sought anew around a place where the drive of the last one ended."""


@dataclass(frozen=True, slots=True)
class Driven:
    """What came of driving a body through a link.

    Attributes:
        link: which of ``scene.links``.
        a: the region it came from.
        b: the region it went to.
        body: its name.
        result: ``passed``; ``blocked`` where there is no way; ``gave up`` where there may be one,
            and none that was tried could be driven.
        metres: of the way driven; 0 for none.
        path: where it was, at every bend; where it did not pass, how far it got, if anywhere.
        stopped_by: what it met first on its way to the link: an item's id, ``wall``, another
            owner's name; why not where it cannot even try; empty where it passed.
        tries: ways driven.
    """

    link: int
    a: str
    b: str
    body: str
    result: Result
    metres: float = 0.0
    path: tuple[Stand, ...] = ()
    stopped_by: str = ""
    tries: int = 0


def drive_edges(
    scene: Scene, bodies: Sequence[Embodiment] | None = None, links: Iterable[int] | None = None
) -> tuple[Driven, ...]:
    """Drive bodies through the links of a scene.

    Args:
        scene: with geometry, and regions that have outlines; links of others are left out.
        bodies: who drives; the five of CapNav unless given.
        links: numbers of ``scene.links``; all unless given.

    Returns:
        One a body and link, in the order of bodies, then links.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    chosen = range(len(scene.links)) if links is None else tuple(links)
    return tuple(
        driven
        for body in (builtin_bodies() if bodies is None else bodies)
        for number in chosen
        if (driven := drive_edge(scene, body, number)) is not None
    )


def drive_edge(scene: Scene, body: Embodiment, number: int) -> Driven | None:
    """Drive a body through one link; None where nobody says where its regions lie.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    link = scene.links[number]
    ends = [scene.region_by_id[each] for each in (link.a, link.b)]
    if link.point is None or not all(end.outline for end in ends):
        return None
    drive = _Drive(Mover(scene, body, pushed(scene, body) - {door_owner(number)}), link, number)
    if link.kind == "elevator":
        return drive.ridden()
    if link.kind in ("stairs", "ramp") and (scene.stairs or scene.walls):
        return drive.climbed()
    return drive.through()


class _Drive:
    """One body at one link."""

    def __init__(self, mover: Mover, link: Link, number: int) -> None:
        self.mover, self.link, self.number = mover, link, number
        self.tries = 0
        self._farthest: tuple[float, tuple[Stand, ...]] = (-1.0, ())

    def _said(
        self, result: Result, path: Sequence[Stand] = (), metres: float = 0.0, by: str = ""
    ) -> Driven:
        return Driven(
            self.number, self.link.a, self.link.b, self.mover.body.name, result,
            round(metres, 3), tuple(path), by, self.tries,
        )  # fmt: skip

    def ridden(self) -> Driven:
        """Stand in the cabin below and in the cabin above, at one place."""
        if not self.mover.body.elevator:
            return self._said("blocked", by="cannot operate the elevator")
        stands = elevator_stands(self.mover, self.link)
        if stands is None:
            return self._said("blocked", by="no room in the cabin")
        return self._said("passed", stands)

    def climbed(self) -> Driven:
        """Go up the stairs, and down."""
        flight = flight_of(self.mover, self.link)
        if flight is None:
            return self._said("gave up", by="nobody says where the stairs are")
        path, metres, by, self.tries = climbed(self.mover, flight)
        if by:
            return self._said("blocked", path, metres, by)
        toward = self.link.model_copy(
            update={"a": flight.b, "b": flight.a, "point": flight.line[-1]}
        )
        found = self._sought(toward, head_of(flight), climbs=False)
        if found.result != "passed":
            return found
        return self._said("passed", (*path, *found.path[::-1]), metres + found.metres)

    def through(self) -> Driven:
        """Find ways and drive them."""
        flights = [
            each
            for each in self.mover.scene.stairs
            if each.treads and each.a in (self.link.a, self.link.b)
        ]
        if flights and self.mover.body.stairs:
            ground = LinkGround(self.mover, self.link)
            for flight in flights:
                self.tries += 1
                path, metres = entered(ground, flight)
                if path:
                    return self._said("passed", path, metres)
            for flight in flights:
                first = self.link.b if flight.a == self.link.a else self.link.a
                toward = self.link.model_copy(update={"a": first, "b": flight.a})
                found = self._sought(toward, foot_of(flight))
                if found.result == "passed":
                    return found
        return self._sought(self.link)

    def _sought(self, link: Link, flight: Core | None = None, *, climbs: bool = True) -> Driven:
        """Find ways and drive them, on a grid and on finer ones."""
        given_up = False
        for fine in (1, 2):
            ground = LinkGround(self.mover, link, fine=fine, flight=flight, climbs=climbs)
            search = Search(ground)
            found = self._among(ground, search)
            if isinstance(found, Driven):
                return found
            given_up |= found
            if not found and not search.may_pass:
                break
        by, stand = ground.stopper()
        met = self._farthest[1] or (() if stand is None else (stand,))
        return self._said("gave up" if given_up else "blocked", met, by=by)

    def _among(self, ground: LinkGround, search: Search) -> Driven | bool:
        """The first way that can be driven; else whether there was any to try."""
        given_up = False
        for stage in search.stages():
            for _ in range(_AGAIN):
                ways = stage.ways(_STARTS)
                if not ways:
                    break
                met = None
                for way in ways:
                    self.tries += 1
                    done = self._drive(ground, way)
                    if isinstance(done, Driven):
                        return done
                    met = done if met is None else met
                given_up = True
                if met is not None:
                    stage.block(met)
        return given_up

    def _drive(self, ground: LinkGround, way: Sequence[Motion]) -> Driven | Stand:
        """Drive a way there and back; where it ended where it could not be driven."""
        stand = Stand((way[0].x, ground.height_at(way[0].x, way[0].z), way[0].z), way[0].heading)
        if not self.mover.fits(stand):
            return stand
        path, metres = [stand], 0.0
        for legs in (way[1:], [*way[-2::-1]]):
            for leg in legs:
                try:
                    moved = leg.drive(self.mover, path[-1])
                except SceneError:
                    self._got(metres, path[-1])
                    return path[-1]
                if moved is None:
                    self._got(metres, path[-1])
                    return Stand((leg.x, path[-1].position[1], leg.z), leg.heading)
                metres += moved.metres
                path.append(moved.stand)
        there = len(way)
        return self._said("passed", path[:there], metres / 2)

    def _got(self, metres: float, stand: Stand) -> None:
        """Keep how far a drive came."""
        if metres > self._farthest[0]:
            self._farthest = metres, (stand,)
