"""Navigation graph of a body: viewpoints where it can stand and turn, and edges that it can drive.

A scene's viewpoints suit a slim person. Those where the body can stand and turn are kept, moved by
at most half a metre where needed. An edge is a straight path that its mover passes both ways.
Where that cuts off places that the field can reach, viewpoints are added: on either side of a
narrow passage, and at the turns of paths to them. Elevators carry bodies that can operate them.

A turning area is a connected set of places with room for the circle around the body. The passages
between turning areas are driven straight. A disc's turning areas are all that it can reach, except
for passages hardly wider than itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import shapely
from pydantic import TypeAdapter
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from navloom.disk_cache import BODIES
from navloom.errors import SceneError
from navloom.scenes.bodies import Embodiment, FloorPose, is_lift_or_stairs, outer_radius
from navloom.scenes.distances import scene_cached
from navloom.scenes.floor_graph import LONGEST
from navloom.scenes.scene import Edge, Point3, Region, Scene, Viewpoint, distance_2d, distance_3d
from navloom_worlds.geometry.arrays import I32
from navloom_worlds.geometry.walkable_area import place_adjacency
from navloom_worlds.motion.body_field import BodyField, body_cache_key, body_field, trace_path
from navloom_worlds.motion.collision_motion import Mover, mover_of
from navloom_worlds.motion.field_cache import scene_cache_key
from navloom_worlds.motion.geodesic_field import FieldPlaces, Spot, compute_geodesics, string_pull
from navloom_worlds.motion.inflation import query_nearest
from navloom_worlds.motion.local_obstacles import no_space_message

_SPARE = 0.036
"""Metres more than the circle needs: half a cell's diagonal, so that a straight line over such
places is truly free."""
_LEAST = 0.25
"""Square metres: smaller turning areas are ignored."""
_ACROSS = 3.0
"""Longest narrow passage between turning areas, in metres."""
_TRIES = 12
"""Paths through a narrow passage that are tried, the shortest first."""


@dataclass(frozen=True, eq=False)
class TurningAreas:
    """Turning areas of a field: connected places with room to turn on the spot.

    Attributes:
        ground: the field.
        places: its places, with edges only between those with room to turn.
        label: (n,) int32, the turning area of each place; -1 for none.
    """

    ground: BodyField
    places: FieldPlaces
    label: I32

    @cached_property
    def numbers(self) -> list[int]:
        """Numbers of the turning areas, the largest first."""
        found, many = np.unique(self.label[self.label >= 0], return_counts=True)
        order = np.lexsort((found, -many))
        least = _LEAST / self.ground.grid.cell**2
        return [int(found[k]) for k in order if many[k] >= least]

    def area(self, clearing: int) -> float:
        """Return the size of a turning area in square metres."""
        return float(np.count_nonzero(self.label == clearing)) * self.ground.grid.cell**2

    def middle(self, clearing: int) -> int:
        """Return the place of a turning area with the largest clearance."""
        here = np.flatnonzero(self.label == clearing)
        return int(here[int(np.argmax(self.ground.clear[here]))])

    @cached_property
    def _tree(self) -> tuple[KDTree | None, I32]:
        here = np.flatnonzero(self.label >= 0).astype(np.int32)
        found = self.ground.found
        at = np.stack([found.x[here], found.z[here]], axis=1)
        return (KDTree(at) if len(here) else None), here

    def near(self, position: Point3, reach: float, storey: float) -> Iterator[int]:
        """Yield the places of turning areas around a position, the nearest first.

        Args:
            position: on the floor.
            reach: how far, in metres.
            storey: how much higher or lower, in metres.
        """
        tree, here = self._tree
        if tree is None:
            return
        found = self.ground.found
        x, y, z = position
        there = here[np.sort(np.array(tree.query_ball_point((x, z), reach), dtype=np.int64))]
        there = there[np.abs(found.height[there] - y) <= storey]
        far = np.hypot(found.x[there] - x, found.z[there] - z)
        yield from there[np.argsort(np.round(far, 6), kind="stable")].tolist()

    def way(self, starts: Sequence[Spot], ends: Sequence[Spot]) -> list[Spot] | None:
        """Return the shortest path inside turning areas, with legs short enough for edges."""
        found = compute_geodesics(self.places, starts)
        far, turns = min(
            (trace_path(self.places, found, end) for end in ends), key=lambda each: each[0]
        )
        if not np.isfinite(far):
            return None
        out: list[Spot] = []
        for a, b in pairwise(string_pull(self.places, turns[::-1])):
            under = self.places.under(a[0], a[1:], b[1:])
            far = float(np.hypot(b[1] - a[1], b[2] - a[2])) * self.ground.grid.cell
            count = int(np.ceil(far / LONGEST - 1e-6))
            out.append(a)
            for k in range(1, count):
                place, _ = min(under, key=lambda each: abs(each[1] - k / count))
                out.append((place, float(self.places.x[place]), float(self.places.z[place])))
            last = b
        return [*out, last] if out else None

    def narrow_passages(
        self, passes: Callable[[Point3, Point3], bool]
    ) -> Iterator[tuple[int, int]]:
        """Yield pairs of places on both sides of narrow passages that the body passes straight.

        Args:
            passes: whether the body gets from one position to the other and back.
        """
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(self.numbers)
        found = sorted(self._facing(), key=lambda each: each[0])
        for _, a, b, pairs in found:
            if nx.has_path(graph, a, b):
                continue
            for p, q in pairs:
                if passes(self.ground.position(p), self.ground.position(q)):
                    graph.add_edge(a, b)
                    yield p, q
                    break

    def _facing(self) -> Iterator[tuple[float, int, int, list[tuple[int, int]]]]:
        """Yield nearby pairs of turning areas: distance, numbers, and candidate end places."""
        found, part = self.ground.found, self.ground.part
        at = np.stack([found.x, found.height * 2, found.z], axis=1)
        trees = {k: np.flatnonzero(self.label == k) for k in self.numbers}
        kept = {k: KDTree(at[here]) for k, here in trees.items()}
        for i, a in enumerate(self.numbers):
            for b in self.numbers[i + 1 :]:
                if part[trees[a][0]] != part[trees[b][0]]:
                    continue
                metres, which = query_nearest(kept[b], at[trees[a]], _ACROSS)
                near = np.flatnonzero(np.isfinite(metres))
                near = near[np.argsort(np.round(metres[near], 3), kind="stable")]
                pairs = []
                for k in near.tolist():
                    p, q = int(trees[a][k]), int(trees[b][int(which[k])])
                    one, other = self.ground.spot_of(p), self.ground.spot_of(q)
                    if self.ground.places.line_length(p, one[1:], q, other[1:]) >= 0:
                        pairs.append((p, q))
                    if len(pairs) >= _TRIES or metres[k] > metres[near[0]] + 0.5:
                        break
                if pairs:
                    yield float(metres[near[0]]), a, b, pairs


def find_turning_areas(ground: BodyField, radius: float) -> TurningAreas:
    """Return the turning areas of a body.

    Args:
        ground: the body's field.
        radius: radius of the circle around the body, in metres.
    """
    places = ground.roomy(radius + _SPARE)
    wide = ground.clear >= radius + _SPARE
    graph = place_adjacency(places.beside, places.beside >= 0)
    _, part = connected_components(graph, directed=False)
    return TurningAreas(ground, places, np.where(wide, part, -1).astype(np.int32))


MOVED = 0.5
"""Metres by which a viewpoint may be moved."""
_STOREY = 0.3
"""Height difference in metres within which a place is on a viewpoint's floor."""
_GRAPH = TypeAdapter(tuple[tuple[Viewpoint, ...], tuple[Edge, ...]])
_MOST_BYTES = 16 * 1024 * 1024
_ROOM = 1.0
"""Square metres from which a turning area without a viewpoint gets one."""


def body_graph(scene: Scene, body: Embodiment) -> Scene:
    """Return the scene with a body's own viewpoints and edges; made once and cached on disk.

    Args:
        scene: with geometry. Its other parts stay as they are.
        body: the body; a box needs room to turn on the spot wherever paths meet.

    Returns:
        The copy. Viewpoints that the body can use keep their ids; new ones are called
        ``<region number>_p<index>``. The same scene and body give the same graph.

    Raises:
        SceneError: there is no geometry, or the body can stand and turn nowhere.
    """
    return scene_cached(scene, f"body graph {body_cache_key(body)}", lambda: _kept(scene, body))


def _kept(scene: Scene, body: Embodiment) -> Scene:
    return BODIES.kept(
        f"{scene_cache_key(scene, f'graph {body_cache_key(body)}')}.json",
        lambda: _made(scene, body),
        lambda file, made: file.write(_GRAPH.dump_json((made.viewpoints, made.edges))),
        lambda file: _read(scene, file.read(_MOST_BYTES + 1)),
    )


def _read(scene: Scene, data: bytes) -> Scene:
    if len(data) > _MOST_BYTES:
        raise ValueError("too large")
    viewpoints, edges = _GRAPH.validate_json(data)
    if not viewpoints:
        raise ValueError("no viewpoints")
    return scene.replace(viewpoints=viewpoints, edges=edges)


def _made(scene: Scene, body: Embodiment) -> Scene:
    maker = _BodyGraphBuilder(scene, body, body_field(scene, body), mover_of(scene, body))
    maker.keep()
    maker.join()
    if not maker.stands:
        raise SceneError(no_space_message(scene, body, "with things and walls about"))
    edges = tuple(Edge(a=a, b=b) for a, b in maker.graph.edges)
    own = scene.replace(viewpoints=tuple(maker.stands.values()), edges=edges)
    return _with_carried(own, scene, body)


def _with_carried(own: Scene, whole: Scene, body: Embodiment) -> Scene:
    """Return a body's graph with the edges of elevators that carry it.

    Args:
        own: the scene with the body's viewpoints and edges.
        whole: the scene with those of a slim person.
        body: the body.
    """
    known = {frozenset((edge.a, edge.b)) for edge in own.edges}
    there = own.viewpoint_by_id
    more = tuple(
        Edge(a=edge.a, b=edge.b)
        for edge in whole.edges
        if edge.a in there
        and edge.b in there
        and frozenset((edge.a, edge.b)) not in known
        and is_lift_or_stairs(whole, edge.a, edge.b, body)
    )
    return own.replace(edges=own.edges + more) if more else own


@dataclass
class _BodyGraphBuilder:
    """Navigation graph of a body while it is built.

    Attributes:
        stands: viewpoints by id, in order.
        place: the field place of each viewpoint.
        graph: the viewpoints and edges so far.
    """

    scene: Scene
    body: Embodiment
    ground: BodyField
    mover: Mover
    stands: dict[str, Viewpoint] = field(default_factory=dict)
    place: dict[str, int] = field(default_factory=dict)
    graph: nx.Graph[str] = field(default_factory=nx.Graph)

    def __post_init__(self) -> None:
        # Slightly wider than needed: a mere touch there would be a contact on every path.
        wide = 2 * outer_radius(self.body) + 0.004
        disc = self.body.model_copy(update={"shape": "cylinder", "width": wide, "depth": None})
        self._turner = mover_of(self.scene, disc)
        self._clearings: TurningAreas = find_turning_areas(self.ground, outer_radius(self.body))
        self._outlines = [
            (each, shapely.Polygon(each.outline)) for each in self.scene.regions if each.outline
        ]

    def keep(self) -> None:
        """Keep the viewpoints that the body can use, and the edges between them."""
        for viewpoint in self.scene.viewpoints:
            spot = self._spot(viewpoint)
            if spot is not None:
                self._stand(viewpoint, spot)
        known = {frozenset((edge.a, edge.b)) for edge in self.scene.edges}
        pairs = [(e.a, e.b) for e in self.scene.edges if e.a in self.stands and e.b in self.stands]
        pairs += [pair for pair in self._near() if frozenset(pair) not in known]
        for a, b in pairs:
            if self._passes(self._floor(a), self._floor(b)):
                self.graph.add_edge(a, b)

    def _spot(self, viewpoint: Viewpoint) -> Point3 | None:
        """Return where the body stands for a viewpoint: there or nearby; None for nowhere."""
        x, y, z = viewpoint.position
        foot = (x, y - viewpoint.eye_height, z)
        if self._turns(foot):
            return foot
        outline = next((o for r, o in self._outlines if r.id == viewpoint.region), None)
        for place in self._clearings.near(foot, MOVED, _STOREY):
            there = self.ground.position(place)
            inside = outline is None or shapely.intersects_xy(outline, there[0], there[2])
            if inside and self._turns(there):
                return there
        return None

    def _turns(self, spot: Point3) -> bool:
        here = self.ground.at(spot)
        return here >= 0 and self._turner.fits(FloorPose(spot, 0.0))

    def _stand(self, viewpoint: Viewpoint, spot: Point3) -> None:
        x, y, z = spot
        at = (round(x, 4), round(y + viewpoint.eye_height, 4), round(z, 4))
        self.stands[viewpoint.id] = viewpoint.model_copy(update={"position": at})
        self.place[viewpoint.id] = self.ground.at(spot)
        self.graph.add_node(viewpoint.id)

    def _floor(self, name: str) -> Point3:
        x, y, z = self.stands[name].position
        return x, y - self.stands[name].eye_height, z

    def _near(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of viewpoints in line of sight over places, near enough for an edge."""
        places, part = self.ground.places, self.ground.part
        for a, b in combinations(self.stands, 2):
            p, q = self.place[a], self.place[b]
            if part[p] == part[q] and 0 < distance_2d(self._floor(a), self._floor(b)) <= LONGEST:
                one, other = self.ground.spot(self._floor(a)), self.ground.spot(self._floor(b))
                if places.line_length(p, one[1:], q, other[1:]) >= 0:
                    yield a, b

    def _passes(self, a: Point3, b: Point3) -> bool:
        return self.mover.passes(a, b) and self.mover.passes(b, a)

    def join(self) -> None:
        """Add viewpoints and edges until the graph connects what the field connects."""
        for a, b in self._clearings.narrow_passages(self._passes):
            self._edge(self._at(a), self._at(b))
        for clearing in self._clearings.numbers:
            self._join_within(clearing)

    def _at(self, place: int) -> str:
        """Return the viewpoint at a place: an existing one, else a new one."""
        spot = self.ground.position(place)
        for name, known in self.place.items():
            if known == place and distance_3d(self._floor(name), spot) < 0.05:
                return name
        region = self._region(spot)
        number = region.number if region else "0"
        count = 0
        while f"{number}_p{count}" in self.stands:
            count += 1
        room = region.id if region else None
        made = Viewpoint(id=f"{number}_p{count}", position=spot, region=room)
        self._stand(made, spot)
        return made.id

    def _region(self, spot: Point3) -> Region | None:
        """Return the region that a position is in, or nearest to."""
        point = shapely.Point(spot[0], spot[2])
        off = [(r.center[1] - spot[1], point.distance(o), r) for r, o in self._outlines]
        return min(off, key=lambda each: abs(each[0]) + each[1], default=(0, 0, None))[2]

    def _edge(self, a: str, b: str) -> None:
        if a != b:
            self.graph.add_edge(a, b)

    def _join_within(self, clearing: int) -> None:
        """Connect the viewpoints of one turning area."""
        label = self._clearings.label
        here = [name for name in self.stands if label[self.place[name]] == clearing]
        if not here:
            if self._clearings.area(clearing) >= _ROOM:
                self._at(self._clearings.middle(clearing))
            return
        apart = {name for name in here[1:] if not nx.has_path(self.graph, here[0], name)}
        while apart:
            joined = [name for name in here if name not in apart]
            way = self._clearings.way(
                [self.ground.spot(self._floor(name)) for name in joined],
                [self.ground.spot(self._floor(name)) for name in sorted(apart)],
            )
            if way is None or not self._walked(way):
                return
            apart = {name for name in apart if not nx.has_path(self.graph, here[0], name)}

    def _walked(self, way: Sequence[tuple[int, float, float]]) -> bool:
        """Add viewpoints at a path's turns and check whether that joined parts of the graph."""
        names = [self._named(spot) for spot in way]
        before = nx.number_connected_components(self.graph)
        for a, b in pairwise(names):
            if a != b and self._passes(self._floor(a), self._floor(b)):
                self.graph.add_edge(a, b)
        return nx.number_connected_components(self.graph) < before

    def _named(self, spot: tuple[int, float, float]) -> str:
        place, u, w = spot
        for name, known in self.place.items():
            _, i, j = self.ground.spot(self._floor(name))
            if known == place and abs(i - u) + abs(j - w) < 1e-3:
                return name
        return self._at(place)
