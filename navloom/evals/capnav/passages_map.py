"""Passages of a CapNav scene on its plan: what a body can use, what bars it, the ways that matter.

A benchmark's scene is a graph of places, and its plan is no more than that. One that was written
from a home (``navloom scenes export home:7 --format capnav``) says so in ``notes/ID.json``, and
its plan is the home's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from navloom.errors import SceneError
from navloom.evals.report.blocks import MapMark, MapRoute, RouteStyle, SceneMap, Spot
from navloom.evals.report.maps import spots_of
from navloom.scenes.exporting.capnav_nodes import nodes_of
from navloom.scenes.plan_shapes import readable
from navloom.scenes.scene import Scene
from navloom.scenes.traverse.traverse_table import Passage, Traversability
from navloom.tools.capnav.feasible import Feasibility, barrier_kinds, way_once_open

_MOST_NOTES = 20_000_000
_NAMES = {True: "open", False: "blocked", None: "unlabelled"}
_STYLES: dict[bool | None, RouteStyle] = {True: "other", False: "cut", None: "unknown"}


@dataclass(frozen=True)
class Ground:
    """What a question's map stands on.

    Attributes:
        scene: the plan's.
        spots: where each node is on it.
        doors: where one goes from one node to another, in both orders, as far as it is known.
        names: each node as the plan has it: a page calls it so wherever it speaks itself.
    """

    scene: str
    spots: dict[str, Spot]
    doors: Mapping[tuple[str, str], Spot] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, node: object) -> str:
        """A node as the plan has it; as it is where the plan has none."""
        return self.names.get(str(node), str(node))

    def between(self, a: str, b: str) -> tuple[Spot, ...]:
        """The way from node to node: straight, or through the door that is on their floor."""
        here, there = self.spots[a], self.spots[b]
        door = self.doors.get((a, b))
        return (here, there) if door is None or here[0] != there[0] else (here, door, there)


def ground_of(folder: Path, scene: Scene, load: Callable[[str], Scene]) -> Ground:
    """The plan on which a benchmark scene's nodes stand: of the home it was made from, if any.

    Args:
        folder: the benchmark's.
        scene: as :mod:`navloom.scenes.formats.capnav` loads it.
        load: gives a scene by its portable name, or raises a SceneError.
    """
    own = own_ground(scene)
    made_from = _made_from(str(folder), scene.id)
    if made_from is None:
        return own
    try:
        home = load(made_from)
    except SceneError:
        return own
    by_region = own_ground(home)
    name_of = {region: node.id for region, node in nodes_of(home).items()}
    found = {name: by_region.spots[region] for region, name in name_of.items()}
    # Notes may be another home's by now: all nodes must stand where the graph has them.
    same = all(
        name in found and abs(found[name][1] - x) + abs(found[name][2] - z) < 1e-3
        for name, (_, x, z) in own.spots.items()
    )
    doors = {(name_of[a], name_of[b]): spot for (a, b), spot in by_region.doors.items()}
    names = {name_of[region]: name for region, name in by_region.names.items()}
    return Ground(home.uri, found, doors, names) if same else own


def own_ground(scene: Scene) -> Ground:
    """Where the places that questions name are in a scene: a benchmark's nodes, else regions."""
    if scene.source == "capnav":
        places = {v.id: spot for v in scene.viewpoints for spot in spots_of(scene, [v.id])}
        names = {v.id: readable(v.region) for v in scene.viewpoints if v.region is not None}
        return Ground(scene.uri, places, names=names)
    spots = {
        region: (scene.region_by_id[region].floor, node.position[0], node.position[2])
        for region, node in nodes_of(scene).items()
    }
    doors = {
        pair: (scene.region_by_id[link.a].floor, link.point[0], link.point[2])
        for link in scene.links
        if link.point is not None
        for pair in ((link.a, link.b), (link.b, link.a))
    }
    return Ground(scene.uri, spots, doors, {region: readable(region) for region in spots})


@lru_cache(maxsize=64)
def _made_from(folder: str, scene: str) -> str | None:
    """The home that a benchmark's scene was written from, as its notes say; None: none."""
    file = Path(folder) / "notes" / f"{scene}.json"
    try:
        if file.stat().st_size > _MOST_NOTES:
            return None
        name = json.loads(file.read_bytes())["asked"]["scene"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return name if isinstance(name, str) and name.startswith(("home:", "demo:")) else None


def passages_map(
    ground: Ground,
    truth: Traversability,
    body: str,
    found: Feasibility,
    ends: tuple[str, str],
    answered: Sequence[str | None] = (),
) -> SceneMap:
    """What a body can use of a scene, what bars it, and the ways that matter.

    Args:
        ground: where nodes are.
        truth: every passage.
        body: whose.
        found: whether it can get from the question's start to its end.
        ends: those two nodes.
        answered: the nodes of the path that was answered, None for what is no node.
    """
    spots = ground.spots
    routes = [
        MapRoute(name=f"{_NAMES[can]} to {body}", style=_STYLES[can], points=ground.between(a, b))
        for a, b, can in _both_ways(truth, body)
        if a in spots and b in spots
    ]
    if found.path:
        name = {True: "the way there is", None: "a way, if what is unlabelled is open"}.get(
            found.answer, "a way"
        )
        routes += _way(ground, found.path, name, "true")
    must, way = must_open(truth, body, found, ends)
    routes += _way(ground, way, "the way, once these are open", "true")
    said = [node for node in answered if node is not None]
    routes += _way(ground, said, "the way that was answered", "walk")
    marks = [
        MapMark(kind=kind, at=spots[node])
        for kind, node in (("start", ends[0]), ("goal", ends[1]))
        if node in spots
    ]
    marks += _barred(ground, found, must)
    return SceneMap(scene=ground.scene, routes=tuple(routes), marks=tuple(marks))


def must_open(
    truth: Traversability, body: str, found: Feasibility, ends: tuple[str, str]
) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    """The fewest blocked passages that make a way once all are open, as one meets them; the way."""
    fewest = found.alternatives[0] if found.alternatives else ()
    way = way_once_open(truth, body, *ends, fewest) if fewest else ()
    steps = list(pairwise(way))
    return tuple(sorted(fewest, key=lambda p: steps.index((p.a, p.b)))), way


def _barred(ground: Ground, found: Feasibility, must: Sequence[Passage]) -> Iterator[MapMark]:
    """What must open, numbered as beside the map; of the minimum cut what is not among it."""

    def at(passage: Passage) -> Iterator[Spot]:
        if passage.a in ground.spots and passage.b in ground.spots:
            yield _middle(ground.between(passage.a, passage.b))

    for number, passage in enumerate(must, 1):
        kinds = ", ".join(barrier_kinds(passage.note))
        yield from (
            MapMark(kind="barrier", at=spot, label=f"{number}: {kinds}") for spot in at(passage)
        )
    for passage in found.blocking:
        if passage not in must:
            yield from (MapMark(kind="cut", at=spot) for spot in at(passage))


def _both_ways(truth: Traversability, body: str) -> Iterator[tuple[str, str, bool | None]]:
    """Each passage once: blocked where it is in one direction."""
    for a, b in truth.edges:
        there, back = (truth.passage(body, *pair).traversable for pair in ((a, b), (b, a)))
        both = {there, back}
        yield a, b, False if False in both else None if None in both else True


def _way(ground: Ground, nodes: Sequence[str], name: str, style: RouteStyle) -> Iterator[MapRoute]:
    known = [node for node in nodes if node in ground.spots]
    legs = [ground.between(a, b) for a, b in pairwise(known)]
    if legs:
        points = (legs[0][0], *(spot for leg in legs for spot in leg[1:]))
        yield MapRoute(name=name, style=style, points=points)


def _middle(way: Sequence[Spot]) -> Spot:
    """At the door, else half way; between two floors where the first is left."""
    a, b = way[0], way[-1]
    if len(way) > 2 or a[0] != b[0]:
        return way[len(way) - 2]
    return a[0], (a[1] + b[1]) / 2, (a[2] + b[2]) / 2
