"""Whether bodies may use links, by rule and by driving; where the two differ, the drive's word.

A drive that passed, or that found no way, has spoken. One that gave up has not: the rule's word
stands. Links whose regions have no outline are not driven.

Whether a body may use a link, by driving it through.

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
from dataclasses import dataclass, replace
from typing import Literal

from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, Stand, builtin_bodies, canonical
from navloom.scenes.by_rule import Barrier, LinkFault, faults, from_geometry, kinds
from navloom.scenes.scene import Link, Scene
from navloom.scenes.traverse_table import Cell, Pair, Traversability
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
from navloom_worlds.motion.mover import Mover
from navloom_worlds.motion.rails import Motion
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


Reason = Literal["agree", "rule wrong", "driver gave up", "graph and geometry differ"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One link and one body, by rule and driven.

    Attributes:
        scene: the scene's URI.
        driven: what came of driving.
        kinds: of barrier, by rule; none where it is open.
        note: the rule's, for a blocked link.
        items: that the rule blames.
        reason: why the two differ, if they do.
    """

    scene: str
    driven: Driven
    kinds: tuple[Barrier, ...]
    note: str
    items: tuple[str, ...]
    reason: Reason

    @property
    def agrees(self) -> bool:
        """Whether the drive passed what the rule opens, or failed where the rule blocks."""
        return self.reason == "agree"

    @property
    def words(self) -> str:
        """One line on it."""
        one = self.driven
        rule = self.note or "open"
        drove = one.result + (f" by {one.stopped_by}" if one.stopped_by else "")
        if one.result == "passed":
            drove = f"passed in {one.metres:.2f} m"
        return (
            f"{self.scene} {one.body} {one.a} -> {one.b}: {self.reason}: by rule {rule};"
            f" driven: {drove}"
        )


def compared(scene: Scene, driven: Driven, found: Sequence[LinkFault]) -> Compared:
    """One link and one body, with why the two differ."""
    passed = driven.result == "passed"
    reason: Reason = "rule wrong"
    if passed == (not found):
        reason = "agree"
    elif driven.result == "gave up":
        reason = "driver gave up"
    elif not passed and not found and not driven.stopped_by:
        reason = "graph and geometry differ"
    return Compared(
        scene.uri,
        driven,
        kinds(found),
        "; ".join(fault.note for fault in found),
        tuple(item for fault in found for item in fault.items),
        reason,
    )


@dataclass(frozen=True)
class DrivenTruth:
    """A table, and how it came about.

    Attributes:
        table: of the scene's regions.
        links: every link that was driven, by each body.
    """

    table: Traversability
    links: tuple[Compared, ...]

    def record(self) -> dict[str, object]:
        """As JSON: how many were driven, and in words those that the rule took for something else.

        ``gave_up`` are links that the rule opens and whose drive had no word.
        """
        return {
            "driven": len(self.links),
            "gave_up": sum(each.reason == "driver gave up" for each in self.links),
            "overruled": [each.words for each in self.links if _overruled(each)],
        }


def from_driving(scene: Scene, bodies: tuple[Embodiment, ...] | None = None) -> DrivenTruth:
    """Whether bodies may use the links of a scene, each driven.

    Args:
        scene: with geometry, and regions that have outlines.
        bodies: whose; the five of the benchmark unless given.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    rule = from_geometry(scene, bodies)
    cells = {name: dict(mine) for name, mine in rule.cells.items()}
    every: list[Compared] = []
    for body in builtin_bodies() if bodies is None else bodies:
        said: dict[Pair, list[Compared]] = {}
        for number, link in enumerate(scene.links):
            driven = drive_edge(scene, body, number)
            if driven is not None:
                one = compared(scene, driven, faults(scene, link, body))
                said.setdefault((link.a, link.b), []).append(one)
        for pair, found in said.items():
            every += found
            cells[canonical(body.name)][pair] = _cell(scene, found)
    return DrivenTruth(replace(rule, cells=cells), tuple(every))


def _overruled(one: Compared) -> bool:
    return not one.agrees and one.reason != "driver gave up"


def _open(one: Compared) -> bool:
    return (not one.kinds) != _overruled(one)


def _cell(scene: Scene, found: Sequence[Compared]) -> Cell:
    """What is said of the ways between two regions: the first that is open, else the first."""
    one = next((each for each in found if _open(each)), found[0])
    if not _overruled(one):
        return Cell(traversable=_open(one), note=one.note)
    if _open(one):
        return Cell(traversable=True, note=f"driven through, though by rule {one.note}")
    by = one.driven.stopped_by
    what = scene.item_by_id[by].name if by in scene.item_by_id else by
    return Cell(traversable=False, note=f"driven, it does not get through: {what or 'no way'}")
