"""Whether a body gets from one region to the next on a plan, and if not, what is in the way.

A body has passed where it can come from where it gets about in one region to where it does in the
other, through their one doorway and through no third region. It is in a region where nothing of it
sticks out. Furniture may part a region: its largest part counts, and any with a quarter as much
room. Who can open doors pushes the leaves of other doors aside: only that of its own stands open.

Where a body of any shape fits on a floor, heading by heading, and how it gets about there.

For one heading the places where a box fits are the floor less each of its edges, grown by the box
(the Minkowski sum of an edge and a box is convex). A body turns from one heading to the next where
it fits with both. A disc has one heading.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from navloom.scenes.bodies import Embodiment
from navloom.scenes.distances import per_scene
from navloom.scenes.scene import Link, Scene, Stairs
from navloom_worlds.geometry.owners import owner_name
from navloom_worlds.geometry.wall_holes import WallHole
from navloom_worlds.motion.box_places import (
    HAIR,
    KEPT,
    TINY,
    BoxGround,
    Ints,
    Patches,
    Shape,
    edges_of,
    parts_of,
    shape_of,
)
from navloom_worlds.motion.rule_floor import (
    climb,
    doorway_axis,
    inner,
    obstacles_in,
    outline,
    own_leaf,
    steps_of,
    strip,
    stubs,
    taken,
    too_low,
    way_of,
)

_QUARTER = (0, 4, 8, 13, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 77, 82, 86)
TURNS = tuple(math.radians(turn + more) for more in (0, 90) for turn in _QUARTER)
"""Headings from that of the doorway, over half a turn: a box is the same from behind. They lie
closer where a body goes straight through a doorway, and must lean past the handle of its leaf."""
EVERY = tuple(range(len(TURNS)))
FEW = (*range(0, 15, 2), *range(17, 32, 2))
"""Enough of them to get about in most rooms, as numbers in ``TURNS``."""
_WIDER = (range(-2, 3), range(-2, len(TURNS) // 2 + 1), range(len(TURNS)))
"""Headings that are looked at one after another: straight on, a quarter to one side, all."""
_WIDEST = math.radians(6)
"""Between two headings, at most."""
_MAIN = 0.25
"""The share of the largest part of a floor that another has to have to count as being there."""
_APART = 0.02
"""Metres between the lines that a body goes along at one heading."""
_NECK = 2e-4
"""Metres that a neck is wide which has a line of its own."""
_SHORT = 0.02
"""Metres of such a line that count."""
_ARC = 32
"""Edges of a quarter of a circle: they lie a tenth of a millimetre off for half a metre."""
_NONE: Patches = np.zeros(0, dtype=object)


@dataclass(frozen=True, eq=False)
class Fits:
    """Where the middle of a body may be.

    Attributes:
        heading: (n,) int, which of the headings each patch is of.
        patch: (n,) polygons of a disc; of a rectangle, which goes ahead and back alone, lines along
            its heading or strips.
        part: (n,) int, patches that one gets about between have one number.
        round: whether it is a disc's, which has one heading.
    """

    heading: NDArray[np.int_]
    patch: NDArray[np.object_]
    part: NDArray[np.integer[Any]]
    round: bool
    _whole: dict[int, BaseGeometry] = field(default_factory=dict, init=False)

    def main(self) -> Fits:
        """The part with the most floor, and any with a quarter as much."""
        if not len(self.part):
            return self
        area = np.bincount(self.part, weights=shapely.area(self.patch))
        keep = np.isin(self.part, np.flatnonzero(area >= _MAIN * area.max()))
        return Fits(self.heading[keep], self.patch[keep], self.part[keep], self.round)

    def turned(self, quarters: int) -> Fits:
        """The same with headings counted from another first one, so many right angles on."""
        if self.round or quarters % 2 == 0:
            return self
        heading = (self.heading - len(TURNS) // 2) % len(TURNS)
        return Fits(heading, self.patch, self.part, False)

    def meets(self, other: Fits) -> set[int]:
        """The parts of this one that a patch of another overlaps, at one heading.

        Args:
            other: of the same shape; or of a disc, which fits at any heading.
        """
        found: set[int] = set()
        for heading in set(self.heading.tolist()):
            theirs = other._floor(-1 if other.round else heading)
            mine = np.flatnonzero(self.heading == heading)
            shared = self.patch[mine]
            # Most are in it whole or not at all, which is known sooner than what they share.
            near = shapely.intersects(theirs, shared)
            mine, shared = mine[near], shared[near]
            part = ~shapely.covers(theirs, shared)
            shared[part] = shapely.intersection(shared[part], theirs)
            over = (shapely.area(shared) > TINY) | (shapely.length(shared) > _SHORT)
            found.update(self.part[mine[over]].tolist())
        return found

    def _floor(self, heading: int) -> BaseGeometry:
        """All patches of a heading as one; of all for a negative one."""
        if heading not in self._whole:
            held = self.patch if heading < 0 else self.patch[self.heading == heading]
            self._whole[heading] = shapely.union_all(held)
            shapely.prepare(self._whole[heading])
        return self._whole[heading]


def fits(
    floor: BaseGeometry,
    shape: Shape,
    axis: float,
    window: Polygon | None = None,
    turns: Sequence[int] = EVERY,
) -> Fits:
    """Where a shape fits.

    Args:
        floor: what is free, (x, z) metres; it may not stick out over an edge.
        shape: of the body.
        axis: the first heading, an angle from +x toward +z.
        window: look at the places within only.
        turns: which of the headings to look at, in order.
    """
    if shape.long is None:
        free: BaseGeometry = floor.buffer(-(shape.wide + KEPT) / 2, quad_segs=_ARC)
        if window is not None:
            free = shapely.intersection(free, window)
        parts = parts_of(free)
        return Fits(np.zeros(len(parts), np.int64), parts, np.arange(len(parts)), True)
    ground = BoxGround(floor, shape, window)
    angles = [axis + TURNS[k] for k in turns]
    patches = [ground.patches(angle) for angle in angles]
    lines, of = zip(*map(_lines, patches, angles), strict=True)
    found = _railed(turns, patches, lines, [_NONE] * len(turns), closed=True)
    count = np.array([len(some) for some in patches])
    return _filled(
        found,
        np.concatenate(patches),
        np.concatenate(of) + np.repeat(np.cumsum(count) - count, [len(some) for some in lines]),
        np.repeat(np.array(turns), count),
    )


def _filled(found: Fits, patches: Patches, of: Ints, heading: Ints) -> Fits:
    """Patches in place of lines that hang together; strips as wide as others lie apart.

    Args:
        found: lines.
        patches: that they lie on.
        of: (lines,) which of them.
        heading: (patches,) theirs.
    """
    low, high = np.full(len(patches), len(of)), np.full(len(patches), -1)
    np.minimum.at(low, of, found.part)
    np.maximum.at(high, of, found.part)
    whole = low == high
    parted = ~whole[of]
    strips = shapely.buffer(found.patch[parted], _APART / 2 + HAIR, cap_style="flat")
    return Fits(
        np.concatenate([heading[whole], found.heading[parted]]),
        np.concatenate([patches[whole], np.asarray(strips)]),
        np.concatenate([low[whole], found.part[parted]]),
        False,
    )


def straight(floor: BaseGeometry, shape: Shape, axis: float, window: Polygon | None) -> Fits:
    """Where a rectangle fits that neither turns nor goes aside; arguments as of :func:`fits`."""
    patches = BoxGround(floor, shape, window).patches(axis)
    return _railed((0,), [patches], [_lines(patches, axis)[0]], [])


def ahead(floor: BaseGeometry, shape: Shape, axis: float, window: Polygon | None) -> Iterator[Fits]:
    """Where a rectangle fits that goes along its heading, and aside where it can turn to the next.

    Args:
        floor: see :func:`fits`, likewise the others.
        shape: a rectangle.
        axis: the first heading.
        window: look at the places within only.

    Yields:
        The same for ever more headings about the first, all of them at last; what hangs together
        by some does by more.
    """
    # Between two headings its corners come out farther than at either.
    more = 2 * shape.outer * (1 - math.cos(_WIDEST / 2))
    ground = BoxGround(floor, shape.grown(more), window)
    known: dict[int, tuple[Patches, Patches, Patches]] = {}
    for some in _WIDER:
        turns = [k % len(TURNS) for k in some]
        angles = [axis + TURNS[k] for k in turns]
        for k, angle in zip(turns, angles, strict=True):
            if k not in known:
                patches = ground.patches(angle)
                swung = ground.swung(angle, axis + (*TURNS, math.pi)[k + 1])
                known[k] = patches, _lines(patches, angle)[0], swung
        patches_, lines, swung_ = zip(*(known[k] for k in turns), strict=True)
        yield _railed(turns, patches_, lines, swung_, closed=len(turns) == len(TURNS))


def _shared(mine: Patches, next_: Patches, swung: Patches) -> Patches:
    """What patches of two headings share, less where a corner swings over something."""
    i, j = shapely.STRtree(next_).query(mine, predicate="intersects")
    both = shapely.intersection(mine[i], next_[j])
    if len(swung):
        tree = shapely.STRtree(swung)
        for k, one in enumerate(both):
            if len(met := tree.query(one, predicate="intersects")):
                both[k] = shapely.difference(one, shapely.union_all(swung[met]))
    shared = shapely.get_parts(both)
    big: Patches = shared[shapely.area(shared) > TINY]
    return big


def _railed(
    turns: Sequence[int],
    patches: Sequence[Patches],
    lines: Sequence[Patches],
    swung: Sequence[Patches],
    *,
    closed: bool = False,
) -> Fits:
    """Lines along each heading, and which hang together: where it can turn from one to the next.

    Args:
        turns: the headings.
        patches: the places of each.
        lines: over the places of each.
        swung: where it may not turn from each to the next, though it fits with both.
        closed: whether the first comes after the last.
    """
    count = [len(each) for each in lines]
    first = np.cumsum([0, *count])
    total, rows, columns = int(first[-1]), [], []
    for k in range(len(turns) if closed else len(turns) - 1):
        other = (k + 1) % len(turns)
        shared = _shared(patches[k], patches[other], swung[k])
        tree = shapely.STRtree(shared)
        for one in (k, other):
            i, j = tree.query(lines[one], predicate="intersects")
            rows.append(i + first[one])
            columns.append(j + total)
        total += len(shared)
    patch, heading = np.concatenate(lines), np.repeat(np.array(turns), count)
    return Fits(heading, patch, _numbered(total, rows, columns)[: len(patch)], False)


def _lines(patches: Patches, angle: float) -> tuple[Patches, Ints]:
    """Lines along an angle over patches, three at least over each, and which each is over."""
    along = np.array([math.cos(angle), math.sin(angle)])
    aside = np.array([-along[1], along[0]])
    out = [np.zeros((0, 2, 2))]
    for patch in patches:
        edges = edges_of(patch)
        off, far = edges @ aside, edges @ along
        low, high = float(off.min()), float(off.max())
        count = max(3, math.ceil((high - low) / _APART))
        rows = low + (high - low) * (np.arange(count) + 0.5) / count
        # Between corners, too, where no line is: else narrow necks would have none.
        met = np.unique(off[:, 0])
        missed = np.searchsorted(rows, met[1:]) == np.searchsorted(rows, met[:-1])
        missed &= np.diff(met) > _NECK
        rows = np.concatenate([rows, (met[1:] + met[:-1])[missed] / 2])
        # Every line comes in over one edge and goes out over another.
        over = (off[:, :1] <= rows) != (off[:, 1:] <= rows)
        edge, row = np.nonzero(over)
        share = (rows[row] - off[edge, 0]) / (off[edge, 1] - off[edge, 0])
        reach = far[edge, 0] + share * (far[edge, 1] - far[edge, 0])
        order = np.lexsort((reach, row))
        at = rows[row[order], None] * aside + reach[order, None] * along
        out.append(at.reshape(-1, 2, 2))
    of = np.repeat(np.arange(len(patches)), [len(lines) for lines in out[1:]])
    return np.asarray(shapely.linestrings(np.concatenate(out))), of


def _numbered(count: int, rows: Sequence[Ints], columns: Sequence[Ints]) -> Ints:
    """(count,) numbers of what hangs together."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    i, j = (np.concatenate([np.zeros(0, np.int64), *each]) for each in (rows, columns))
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


Cause = Literal["narrow", "turning room", "furniture", "stairs", "head room"]
_NEAR = 2.0
"""Metres from the middle of a doorway within which bodies come to it."""
_TRIED = 5
"""Things near a doorway that are thought away, one by one, to find what stands in it."""


def in_the_way(
    scene: Scene, link: Link, body: Embodiment
) -> tuple[Cause, str, tuple[str, ...]] | None:
    """What keeps a body from passing a link, as a plan shows it; None where nothing does.

    Args:
        scene: whose regions have outlines; nothing is said of others.
        link: what its own figures let the body pass.
        body: whose shape and heights count.

    Returns:
        The kind of barrier, a note, and the ids of the things to blame.
    """
    plan = _Plan.of(scene, link, body)
    if plan is None:
        return None
    if body.stairs and (low := too_low(scene, link, body)) is not None:
        return "head room", low, ()
    if plan.opens():
        return None
    slim, shape = Shape(body.width), shape_of(body)
    if not plan.opens(slim):
        if not plan.opens(slim, bare=True):
            return plan.too_narrow()
        blamed = plan.blamed(slim)
        return "furniture", f"{_named(scene, blamed)} in the way {plan.where}", blamed
    note = f"no room to turn {plan.where}: it needs {2 * shape.outer:.2f} m to turn round"
    if not plan.opens(bare=True):
        return "turning room", note, ()
    beside = plan.near()
    return "turning room", f"{note}, and {_named(scene, beside)} there", beside


def _named(scene: Scene, ids: tuple[str, ...]) -> str:
    names = [scene.item_by_id[each].prompt_name.replace("_", " ") for each in ids]
    if not names:
        return "things stand"
    if len(names) == 1:
        return f"{'an' if names[0][0] in 'aeiou' else 'a'} {names[0]} stands"
    return f"{', '.join(names[:-1])} and {names[-1]} stand"


def _is_ramp(scene: Scene, flight: Stairs) -> bool:
    """Whether everybody goes over it."""
    ends = {flight.a, flight.b}
    return any(link.kind == "ramp" and {link.a, link.b} == ends for link in scene.links)


class _Plan:
    """The floors on both sides of a link, for one body."""

    def __init__(
        self,
        scene: Scene,
        link: Link,
        body: Embodiment,
        way: WallHole | None,
        flight: Stairs | None,
    ) -> None:
        self.scene, self.link, self.body = scene, link, body
        self.way, self.flight = way, flight
        self.axis = doorway_axis(way)
        self._known: dict[tuple[Shape, bool, tuple[str, ...]], bool] = {}
        self._floors: dict[tuple[bool, tuple[str, ...]], BaseGeometry] = {}
        self.where = f"before the way from {link.a} to {link.b}"

    @classmethod
    def of(cls, scene: Scene, link: Link, body: Embodiment) -> _Plan | None:
        """None where too little is known of how the regions lie."""
        if not all(scene.region_by_id[each].outline for each in (link.a, link.b)):
            return None
        ends = {link.a, link.b}
        flight = next((each for each in scene.stairs if {each.a, each.b} == ends), None)
        way = way_of(scene, link)
        stairs = link.kind in ("stairs", "ramp")
        if (stairs and flight is None) or (link.kind in ("door", "opening") and way is None):
            return None
        return cls(scene, link, body, way, flight if stairs else None)

    def opens(
        self, shape: Shape | None = None, *, bare: bool = False, but: Collection[str] = ()
    ) -> bool:
        """Whether a shape passes.

        Args:
            shape: the body's own unless given.
            bare: without any thing.
            but: without these.
        """
        shape = shape_of(self.body) if shape is None else shape
        key = shape, bare, tuple(but)
        if key not in self._known:
            self._known[key] = self._opens(shape, bare, but)
        return self._known[key]

    def _opens(self, shape: Shape, bare: bool, but: Collection[str]) -> bool:
        if self.link.kind == "elevator":
            return all(len(self.core(r, shape, bare, but).part) for r in self.ends)
        if shape.long is None:
            near = fits(self.floor(bare, but), shape, self.axis, self.window)
            return self._joined(near, shape, bare, but)
        if not self.opens(Shape(shape.wide), bare=bare, but=but):
            return False
        wide = Shape(2 * shape.outer)
        if self.opens(wide, bare=bare, but=but):
            return True
        # Most pass straight, from one place where they can turn round to another: found at once.
        floor = self.floor(bare, but)
        # Who turns on an arc passes straight, at whatever angle.
        leans = TURNS if self.body.turning_radius else TURNS[:1]
        for lean in leans:
            near = straight(floor, shape, self.axis + lean, self.window)
            if self._joined(near, wide, bare, but):
                return True
        if self.body.turning_radius:
            return False
        for near in ahead(floor, shape, self.axis, self.window):
            if self._joined(near, shape, bare, but) or self._joined(near, wide, bare, but):
                return True
        # Where no way is found the rooms are looked at as closely as the doorway.
        return self._joined(near, shape, bare, but, EVERY)

    def _joined(
        self, near: Fits, shape: Shape, bare: bool, but: Collection[str], turns: Sequence[int] = FEW
    ) -> bool:
        """Whether places near the doorway join where a shape gets about on both sides."""
        parts: set[int] = set(near.part.tolist())
        for region in self.ends:
            parts &= near.meets(self.core(region, shape, bare, but, turns)) if parts else parts
        return bool(parts)

    @property
    def ends(self) -> tuple[str, str]:
        return self.link.a, self.link.b

    @property
    def window(self) -> Polygon | None:
        """The floor about the doorway."""
        if self.way is None:
            return None
        middle = np.mean([self.way.a, self.way.b], axis=0)
        return Point(*middle).buffer(_NEAR, cap_style="square")

    def core(
        self,
        region: str,
        shape: Shape,
        bare: bool,
        but: Collection[str],
        turns: Sequence[int] = FEW,
    ) -> Fits:
        """The parts of a region that a shape gets about in."""

        def found() -> Fits:
            return fits(self._free(region, bare, but), shape, axis, turns=turns).main()

        # The headings of a doorway are those of one at right angles to it, in another order.
        axis = self.axis % (math.pi / 2)
        axis = 0.0 if min(axis, math.pi / 2 - axis) < 1e-6 else axis
        quarters = round((self.axis - axis) / (math.pi / 2))
        if but:
            return found().turned(quarters)
        key = f"{shape}:{self._heights}:{bare}:{0.0 if shape.long is None else round(axis, 3)}"
        key = f"rule:core:{region}:{len(turns)}:{key}"
        return per_scene(
            self.scene,
            f"{key}:{quarters % 2}",
            lambda: per_scene(self.scene, key, found).turned(quarters),
        )

    def _free(self, region: str, bare: bool, but: Collection[str]) -> BaseGeometry:
        """A region less what things, leaves and, for those who cannot climb them, treads take."""

        def found() -> BaseGeometry:
            area = inner(self.scene, region, self.body)
            less = [taken(self.scene, region, self.body, but, bare=bare)]
            for flight in self.scene.stairs:
                if region == flight.a and flight.treads and not _is_ramp(self.scene, flight):
                    steps, sides = steps_of(flight, area)
                    less.append(sides if self.body.stairs else steps)
            return area.difference(shapely.union_all(less))

        if but:
            return found()
        return per_scene(self.scene, f"rule:free:{region}:{self._heights}:{bare}", found)

    @property
    def _heights(self) -> str:
        body = self.body
        return f"{climb(body)}:{body.max_step}:{body.height}:{body.stairs}:{body.doors}"

    def floor(self, bare: bool, but: Collection[str]) -> BaseGeometry:
        """Both regions and what joins them."""
        key = bare, tuple(but)
        if key not in self._floors:
            self._floors[key] = self._floor(bare, but)
        return self._floors[key]

    def _floor(self, bare: bool, but: Collection[str]) -> BaseGeometry:
        free = [self._free(region, bare, but) for region in self.ends]
        if self.flight is not None:
            return shapely.union_all([*free, self._steps(self.flight)])
        areas = [outline(self.scene, region) for region in self.ends]
        joints = [] if self.way is None else [strip(self.way, *areas)]
        others = [stub for region in self.ends for stub in stubs(self.scene, region, self.way)]
        things = [taken(self.scene, region, self.body, but, bare=bare) for region in self.ends]
        # Leaves and things reach into the doorway, too.
        joined = shapely.union_all([*joints, *others]).difference(shapely.union_all(things))
        more = [own_leaf(self.scene, region, self.way, self.body, but) for region in self.ends]
        return shapely.union_all([*free, joined]).difference(shapely.union_all(more))

    def _steps(self, flight: Stairs) -> BaseGeometry:
        """Treads and landings, and where they end above."""
        foot = outline(self.scene, flight.a)
        area, sides = steps_of(flight, foot)
        (x0, _, z0), (x1, _, z1) = flight.line[-2], flight.line[-1]
        wide = self.link.width or self.body.width
        head = LineString([(x0, z0), (x1 + (x1 - x0) * 0.2, z1 + (z1 - z0) * 0.2)])
        return shapely.union_all([area.difference(sides), head.buffer(wide / 2, cap_style="flat")])

    def near(self, within: float = 1.2) -> tuple[str, ...]:
        """The things nearest to the doorway, two at most."""
        return tuple(each for far, each in self._by_distance() if far <= within)[:2]

    def _by_distance(self) -> list[tuple[float, str]]:
        """Things of both regions that the body meets, by how far they are from the doorway."""
        point = self.link.point
        if point is None:
            return []
        middle = Point(point[0], point[2])
        far: dict[str, float] = {}
        for region in self.ends:
            for each in obstacles_in(self.scene, region):
                if each.what in self.scene.item_by_id and each.meets(self.body):
                    metres = middle.distance(each.area)
                    far[each.what] = min(metres, far.get(each.what, metres))
        return sorted((metres, what) for what, metres in far.items())

    def blamed(self, shape: Shape) -> tuple[str, ...]:
        """The things without which it would pass: one where that is enough, else several."""
        ids = [each for _, each in self._by_distance()[: 2 * _TRIED]]
        for each in ids[:_TRIED]:
            if self.opens(shape, but=(each,)):
                return (each,)
        gone: list[str] = []
        for each in ids:
            gone.append(each)
            if self.opens(shape, but=gone):
                return self._fewest(gone, shape)
        return ()

    def _fewest(self, gone: list[str], shape: Shape) -> tuple[str, ...]:
        """Some of these things, none of which may stay."""
        kept = list(gone)
        for each in gone[:-1]:
            fewer = [other for other in kept if other != each]
            if self.opens(shape, but=fewer):
                kept = fewer
        return tuple(kept)

    def too_narrow(self) -> tuple[Cause, str, tuple[str, ...]]:
        """What is too narrow, in words: the doorway, a region, or what an open door leaves."""
        wide = self.body.width
        own = owner_name(self.scene, self.way.owner) if self.way is not None else ""
        for region in self.ends:
            for what in dict.fromkeys(each.what for each in obstacles_in(self.scene, region)):
                leaf = what not in self.scene.item_by_id and what != own
                if not self.body.doors and leaf and self.opens(Shape(wide), bare=True, but=(what,)):
                    return "furniture", f"the open {what} stands in the way {self.where}", ()
        for region in self.ends:
            if not len(self.core(region, Shape(wide), True, ()).part):
                if any(flight.a == region and flight.treads for flight in self.scene.stairs):
                    return "stairs", f"stairs fill {region}: no room for it beside them", ()
                return "narrow", f"too narrow: no room for a body of {wide:.2f} m in {region}", ()
        if self.way is not None and self.way.width < wide + 0.2:
            leaf_ = " with its leaf open" if self.way.leaf else ""
            return (
                "narrow",
                f"too narrow: the doorway of {self.way.width:.2f} m{leaf_} leaves no"
                f" {wide:.2f} m for the body",
                (),
            )
        return "narrow", f"too narrow: no way for a body of {wide:.2f} m {self.where}", ()
