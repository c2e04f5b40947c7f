"""Ground truth of link traversability, found by driving bodies through the links of a scene.

Paths are searched among the lines of the building's own triangles at the body's height. They are
then driven, every metre and every turn, by :class:`navloom_worlds.motion.collision_motion.Mover`,
an exact sweep of the body's shape that may touch nothing. Only the position and kind of a link are
read, not its width, step or sill.

A body has passed if it came from the core of one region to the core of the other, through this link
and no third region, and back the same way. Bodies that can open doors push their leaves aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from navloom.disk_cache import TABLES
from navloom.errors import SceneError
from navloom.scenes.bodies import (
    Embodiment,
    FloorPose,
    builtin_bodies,
    canonical_name,
    footprint_of,
)
from navloom.scenes.passability import faults_text, link_faults, region_table
from navloom.scenes.scene import Link, Scene
from navloom.scenes.traversability_table import Pair, PassageCell, Traversability
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.field_cache import scene_cache_key
from navloom_worlds.motion.link_free_space import (
    LinkFreeSpace,
    RegionCore,
    elevator_poses,
    stair_foot,
    stair_head,
)
from navloom_worlds.motion.link_paths import LinkPathSearch
from navloom_worlds.motion.se2_lines import PlannedMotion
from navloom_worlds.motion.stair_climbing import drive_stairs, enter_stairs, link_stairs

Result = Literal["passed", "blocked", "gave up"]
_STARTS = 3
_AGAIN = 4
"""Searches around the places where drives of earlier paths ended."""
_ROWS = TypeAdapter(list[tuple[int, Result, float, str, int]])
"""Rows of a body's drives: link, result, metres, obstacle that stopped it, paths tried."""


@dataclass(frozen=True, slots=True)
class LinkResult:
    """Result of driving a body through a link.

    Attributes:
        link: index in ``scene.links``.
        a: the region it came from.
        b: the region it went to.
        body: the body's name.
        result: ``passed``; ``blocked`` if there is no path; ``gave up`` if there may be one, but
            none of those tried could be driven.
        metres: length of the path driven; 0 for none.
        path: its stands at every bend; if it did not pass, the farthest stand, if any.
        stopped_by: first obstacle on the way to the link: an item's id, ``wall``, another owner's
            name; the reason if it cannot even try; empty if it passed.
        tries: number of paths driven.
    """

    link: int
    a: str
    b: str
    body: str
    result: Result
    metres: float = 0.0
    path: tuple[FloorPose, ...] = ()
    stopped_by: str = ""
    tries: int = 0


def drive_links(
    scene: Scene, bodies: Sequence[Embodiment] | None = None, links: Iterable[int] | None = None
) -> tuple[LinkResult, ...]:
    """Drive bodies through the links of a scene.

    Args:
        scene: a scene with geometry; links of regions without outlines are left out.
        bodies: the bodies; the five of CapNav by default.
        links: indices in ``scene.links``; all by default.

    Returns:
        One result per body and link, in the order of bodies, then links.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    chosen = range(len(scene.links)) if links is None else tuple(links)
    return tuple(
        driven
        for body in (builtin_bodies() if bodies is None else bodies)
        for number in chosen
        if (driven := drive_link(scene, body, number)) is not None
    )


def drive_link(scene: Scene, body: Embodiment, number: int) -> LinkResult | None:
    """Drive a body through a link; return the result, or None if its regions have no outlines.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    link = scene.links[number]
    ends = [scene.region_by_id[each] for each in (link.a, link.b)]
    if link.point is None or not all(end.outline for end in ends):
        return None
    drive = _Drive(mover_of(scene, body), link, number)
    if link.kind == "elevator":
        return drive.ridden()
    if link.kind in ("stairs", "ramp") and (scene.stairs or scene.walls):
        return drive.climbed()
    return drive.through()


class _Drive:
    """Drives of one body at one link."""

    def __init__(self, mover: Mover, link: Link, number: int) -> None:
        self.mover, self.link, self.number = mover, link, number
        self.tries = 0
        self._farthest: tuple[float, tuple[FloorPose, ...]] = (-1.0, ())

    def _said(
        self, result: Result, path: Sequence[FloorPose] = (), metres: float = 0.0, by: str = ""
    ) -> LinkResult:
        return LinkResult(
            self.number, self.link.a, self.link.b, self.mover.body.name, result,
            round(metres, 3), tuple(path), by, self.tries,
        )  # fmt: skip

    def ridden(self) -> LinkResult:
        """Check that the body fits in the cabin below and above, at one place."""
        if not self.mover.body.elevator:
            return self._said("blocked", by="cannot operate the elevator")
        stands = elevator_poses(self.mover, self.link)
        if stands is None:
            return self._said("blocked", by="no room in the cabin")
        return self._said("passed", stands)

    def climbed(self) -> LinkResult:
        """Drive the link's stairs up and down; return the result."""
        flight = link_stairs(self.mover, self.link)
        if flight is None:
            return self._said("gave up", by="nobody says where the stairs are")
        path, metres, by, self.tries = drive_stairs(self.mover, flight)
        if by:
            return self._said("blocked", path, metres, by)
        turned = {"a": flight.b, "b": flight.a, "point": flight.line[-1]}
        toward = self.link.model_copy(update=turned)
        found = self._sought(toward, stair_head(flight), climbs=False)
        if found.result != "passed":
            return found
        return self._said("passed", (*path, *found.path[::-1]), metres + found.metres)

    def through(self) -> LinkResult:
        """Search paths through the link and drive them; return the result."""
        flights = [
            each
            for each in self.mover.scene.stairs
            if each.treads and each.a in (self.link.a, self.link.b)
        ]
        if flights and self.mover.body.stairs:
            ground = LinkFreeSpace(self.mover, self.link)
            for flight in flights:
                self.tries += 1
                path, metres = enter_stairs(ground, flight)
                if path:
                    return self._said("passed", path, metres)
            for flight in flights:
                first = self.link.b if flight.a == self.link.a else self.link.a
                toward = self.link.model_copy(update={"a": first, "b": flight.a})
                found = self._sought(toward, stair_foot(flight))
                if found.result == "passed":
                    return found
        return self._sought(self.link)

    def _sought(
        self, link: Link, flight: RegionCore | None = None, *, climbs: bool = True
    ) -> LinkResult:
        """Search and drive paths on a coarse grid, then a finer one; return the result."""
        given_up = False
        for fine in (1, 2):
            ground = LinkFreeSpace(self.mover, link, fine=fine, flight=flight, climbs=climbs)
            search = LinkPathSearch(ground)
            found = self._among(ground, search)
            if isinstance(found, LinkResult):
                return found
            given_up |= found
            if not found and not search.may_pass:
                break
        by, stand = ground.first_blocker()
        met = self._farthest[1] or (() if stand is None else (stand,))
        return self._said("gave up" if given_up else "blocked", met, by=by)

    def _among(self, ground: LinkFreeSpace, search: LinkPathSearch) -> LinkResult | bool:
        """Return the result of the first path that can be driven, else whether any was tried."""
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
                    if isinstance(done, LinkResult):
                        return done
                    met = done if met is None else met
                given_up = True
                if met is not None:
                    stage.block(met)
        return given_up

    def _drive(self, floor: LinkFreeSpace, way: Sequence[PlannedMotion]) -> LinkResult | FloorPose:
        """Drive a path there and back; return the result, or where the drive ended."""
        stand = FloorPose((way[0].x, floor.height_at(way[0].x, way[0].z), way[0].z), way[0].heading)
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
                    return FloorPose((leg.x, path[-1].position[1], leg.z), leg.heading)
                metres += moved.metres
                path.append(moved.stand)
        there = len(way)
        return self._said("passed", path[:there], metres / 2)

    def _got(self, metres: float, stand: FloorPose) -> None:
        """Remember the farthest drive."""
        if metres > self._farthest[0]:
            self._farthest = metres, (stand,)


@dataclass(frozen=True)
class DrivenGroundTruth:
    """Traversability table obtained by driving, with the drives behind it.

    Attributes:
        scene: the scene.
        table: traversability between the scene's regions.
        links: every drive, with its body.
    """

    scene: Scene
    table: Traversability
    links: tuple[tuple[Embodiment, LinkResult], ...]

    def record(self) -> dict[str, object]:
        """Return counts of drives and the overruled estimates, as JSON data.

        An estimate is overruled where the drive had the opposite result.
        """
        return {
            "driven": len(self.links),
            "gave_up": sum(each.result == "gave up" for _, each in self.links),
            "overruled": [
                f"{self.scene.uri} {body.name} {each.a} -> {each.b}:"
                f" {_note(self.scene, body, each)}"
                for body, each in self.links
                if each.result != "gave up"
                and (each.result == "passed")
                == bool(link_faults(self.scene.links[each.link], body))
            ],
        }


def driven_table(scene: Scene, bodies: tuple[Embodiment, ...]) -> Traversability:
    """Return the table of :func:`driven_ground_truth`."""
    return driven_ground_truth(scene, bodies).table


def driven_ground_truth(scene: Scene, bodies: tuple[Embodiment, ...]) -> DrivenGroundTruth:
    """Return the driven traversability of all links; cached on disk, one file per body.

    A drive that passed or was blocked decides. The estimate stands for a drive that gave up, and
    for links whose regions have no outline, which are not driven.

    Args:
        scene: a scene with geometry.
        bodies: the bodies.

    Raises:
        SceneError: the scene has no geometry, or no floor.
    """
    links: list[tuple[Embodiment, LinkResult]] = []
    cells: dict[str, dict[Pair, PassageCell]] = {}
    for body in bodies:
        own = {each.link: each for each in _kept_drives(scene, body)}
        links += [(body, each) for each in own.values()]
        mine = cells.setdefault(canonical_name(body.name), {})
        for number, link in enumerate(scene.links):
            pair, found = (link.a, link.b), link_faults(link, body)
            driven = own.get(number)
            if driven is None or driven.result == "gave up":
                cell = PassageCell(traversable=not found, note=faults_text(found))
            else:
                passed = driven.result == "passed"
                cell = PassageCell(traversable=passed, note=_note(scene, body, driven))
            if pair not in mine or (cell.traversable and not mine[pair].traversable):
                mine[pair] = cell
    return DrivenGroundTruth(scene, region_table(scene, cells), tuple(links))


def _kept_drives(scene: Scene, body: Embodiment) -> list[LinkResult]:
    """Return the results of driving a body through every link between two regions.

    They come from the disk cache, and are computed and stored at the first call. Their paths are
    left out.
    """
    rows = TABLES.kept(
        f"{scene_cache_key(scene, f'driven {body.model_dump_json()}')}.json",
        lambda: [
            (each.link, each.result, each.metres, each.stopped_by, each.tries)
            for each in drive_links(scene, (body,))
        ],
        lambda file, made: file.write(_ROWS.dump_json(made)),
        lambda file: _ROWS.validate_json(file.read()),
    )
    return [
        LinkResult(k, scene.links[k].a, scene.links[k].b, body.name, result, metres, (), by, tries)
        for k, result, metres, by, tries in rows
        if 0 <= k < len(scene.links)
    ]


def _note(scene: Scene, body: Embodiment, driven: LinkResult) -> str:
    """Return the note on a driven link; empty where drive and estimate agree that it is open."""
    figures = faults_text(link_faults(scene.links[driven.link], body))
    if driven.result == "passed":
        return figures and f"driven through, though by its figures {figures}"
    if figures:
        return figures
    by = driven.stopped_by
    if by.startswith(("no room", "cannot")):
        return f"{by}: there is not enough space for it"
    if by in scene.item_by_id:
        by = scene.item_by_id[by].prompt_name.replace("_", " ")
    elif by in ("", "wall") or (by.startswith("door ") and body.doors):
        # It meets only the frame of a door that it pushes open.
        shape = footprint_of(body)
        if shape.round:
            return f"too narrow: no way for a body of {body.width:.2f} m"
        return f"no room to turn: it needs {2 * shape.outer:.2f} m to turn round"
    return f"driven, it does not get through: {by} in the way"
