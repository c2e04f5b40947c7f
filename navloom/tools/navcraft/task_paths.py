"""Shortest paths over H in hops and over G+ in metres, and single-robot tasks along them.

H is the region graph (CoNavBench 3.1.2, A.10.2): whether one region can be reached from another,
and over how many links; ties are broken by metres. Regions are matched by whole id, so
``Kitchen_4`` is never ``Bedroom_4``. An unknown name gives an answer with an ``error`` that names
near matches, because the caller may be a model that can correct its call. All-pairs paths are
cached per scene. Every answer is a fresh dict with fresh lists, so a caller may modify it.

G+ is the augmented metric graph (3.1.3): the navigation graph G with 2-D weights, plus an anchor
for each item at its own position, joined by a straight spur to the nearest viewpoint of its region.
A distance between two anchors is therefore spur + table + spur; no graph is ever built. If a region
has no viewpoint, its items are joined to the nearest viewpoint of the same floor. If the floor has
none either, they cannot be reached and have no anchor. A robot starts at the viewpoint nearest its
region's centre; in a region without viewpoints none can start. Among equally near viewpoints the
first in the scene counts.

An `SoloTask` is NavCraft-S's task for one robot. `read_solo_task` takes an answer as JSON and
returns an :class:`SoloTaskAnswer` and its violations. The rules are those of CoNavBench 3.1.2 and
A.10.1: both legs connected, at least ``max(2, tau)`` hops, start and end different, the path
hop-shortest over links, the object and the end asset in the regions named, and the exact sentence
as instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from navloom.errors import did_you_mean
from navloom.scenes.distances import DistanceTable, cached_on_scene, hop_table, metre_table
from navloom.scenes.lexicon import item_names
from navloom.scenes.scene import Item, Link, Point3, Region, Scene, Viewpoint, distance_2d
from navloom.tools.model_output import (
    AnswerPart,
    Violation,
    list_names,
    object_schema,
    quote,
    read_part,
)

Ways = dict[tuple[str, str], tuple[str, ...]]
"""The transitions from region to region; () to itself, no entry if not connected."""
MAX_QUOTED = 80
"""Characters of an unknown name that a message repeats."""


class PathAnswer(TypedDict):
    """Result of :func:`check_path_and_adjacency`; ``error`` only if a name is unknown."""

    connect: bool
    adjacency: bool
    path_length: int
    path: list[str]
    error: NotRequired[str]


class TwoPathAnswer(TypedDict):
    """Result of :func:`check_two_path_and_adjacency`; ``error`` only if there is one."""

    start_2_target: PathAnswer
    target_2_end: PathAnswer
    s2t_valid: bool
    t2e_valid: bool
    valid: bool
    error: NotRequired[str]


def check_path_and_adjacency(scene: Scene, region_a: str, region_b: str) -> PathAnswer:
    """Return the shortest path from one region to another (CoNavBench A.10.2).

    Args:
        scene: the scene.
        region_a: whole region id to start from.
        region_b: whole region id to reach.

    Returns:
        ``connect`` (whether a path exists), ``adjacency`` (whether one link joins them),
        ``path_length`` (links crossed; 0 without a path, and from a region to itself) and ``path``
        (the transitions, ``"Kitchen_4 -> Hallway_6"``). An unknown region gives ``connect: False``
        and an ``error``.
    """
    way = region_paths(scene).get((region_a, region_b))
    if way is not None:
        return {
            "connect": True,
            "adjacency": len(way) == 1,
            "path_length": len(way),
            "path": [*way],
        }
    answer: PathAnswer = {"connect": False, "adjacency": False, "path_length": 0, "path": []}
    unknown = _unknown_regions(scene, (region_a, region_b))
    if unknown:
        answer["error"] = unknown
    return answer


def check_two_path_and_adjacency(
    scene: Scene, start_region: str, target_region: str, end_region: str, *, tau: int = 2
) -> TwoPathAnswer:
    """Check whether a single-robot task may go start, target, end (CoNavBench 3.1.2 and A.10.2).

    A leg is valid if it is connected and at least ``max(2, tau)`` hops long. The task is valid if
    both legs are, and start and end differ.

    Args:
        scene: the scene.
        start_region: where the robot starts.
        target_region: where the object is.
        end_region: where the object goes.
        tau: fewest hops of a leg; below 2 it changes nothing.

    Returns:
        ``start_2_target`` and ``target_2_end`` (see :func:`check_path_and_adjacency`),
        ``s2t_valid``, ``t2e_valid`` and ``valid``. An ``error`` is added if a region is unknown or
        start and end are the same.
    """
    needed = min_hops(tau)
    s2t = check_path_and_adjacency(scene, start_region, target_region)
    t2e = check_path_and_adjacency(scene, target_region, end_region)
    s2t_valid = s2t["path_length"] >= needed
    t2e_valid = t2e["path_length"] >= needed
    answer: TwoPathAnswer = {
        "start_2_target": s2t,
        "target_2_end": t2e,
        "s2t_valid": s2t_valid,
        "t2e_valid": t2e_valid,
        "valid": s2t_valid and t2e_valid and start_region != end_region,
    }
    if "error" in s2t or "error" in t2e:
        answer["error"] = _unknown_regions(scene, (start_region, target_region, end_region))
    elif start_region == end_region:
        answer["error"] = (
            f"start_region and end_region are both {start_region}: a task must end in another "
            "region than it starts in. Choose another start or another end region."
        )
    return answer


def min_hops(tau: int) -> int:
    """Return the fewest hops of an admissible leg: ``max(2, tau)`` (CoNavBench 3.1.2)."""
    return max(2, tau)


def region_not_found(scene: Scene, name: str, *, argument: str = "region") -> str:
    """Return a message that a region does not exist, with near matches.

    Args:
        scene: the scene.
        name: the unknown name.
        argument: the argument's name in the message.
    """
    asked = name[:MAX_QUOTED]
    return (
        f"{argument} {asked!r} is not a region of this scene; use a whole region id."
        f"{did_you_mean(asked, scene.region_by_id)}"
    )


def _unknown_regions(scene: Scene, names: tuple[str, ...]) -> str:
    missing = dict.fromkeys(name for name in names if name not in scene.region_by_id)
    return " ".join(region_not_found(scene, name) for name in missing)


@cached_on_scene
def region_paths(scene: Scene) -> Ways:
    """Compute the shortest transitions between every connected pair of regions (cached)."""
    table = hop_table(scene)
    ways: Ways = {}
    # Nearest first, so that the path to the previous region is known and extended by one.
    order = np.argsort(table.hops, axis=1, kind="stable").tolist()
    for a, (columns, before, hops) in enumerate(
        zip(order, table.before.tolist(), table.hops.tolist(), strict=True)
    ):
        start = table.nodes[a]
        for b in columns:
            end = table.nodes[b]
            if a == b:
                ways[start, end] = ()
            elif hops[b] > 0:
                last = table.nodes[before[b]]
                ways[start, end] = (*ways[start, last], f"{last} -> {end}")
    return ways


ITEM_NODE = "item "
"""Prefix of an item's node name, which separates it from viewpoint ids."""
POINT_NODE = "point "
"""Prefix of a point's node name, before its coordinates and region."""
MOST_TIES = 256
"""Maximum number of combinations of tied viewpoints that are tried."""
_TIE, _MOST_TYING = 1e-9, 4
"""Metres by which viewpoints may differ and still tie, and how many tied ones count."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A position on G+.

    Attributes:
        node: its name on a route: a viewpoint id, or an item's or a point's after ``ITEM_NODE`` or
            ``POINT_NODE``.
        viewpoint: row of its viewpoint in the metre table.
        spur: metres on the ground plane from the position to that viewpoint.
    """

    node: str
    viewpoint: int
    spur: float


@dataclass(frozen=True)
class MetricGraph:
    """Anchors of one scene and the distances between them.

    Attributes:
        table: the all-pairs table of G with 2-D weights.
        items: each item's anchor by item id; items without an anchor are missing.
        starts: each region's start anchor; regions without viewpoints are missing.
    """

    table: DistanceTable
    items: dict[str, Anchor]
    starts: dict[str, Anchor]
    _rows: dict[int, list[float]] = field(default_factory=dict, repr=False, compare=False)

    def distance(self, a: Anchor, b: Anchor) -> float:
        """Return the metres between two anchors over G+; ``inf`` if not connected."""
        if a.node == b.node:
            return 0.0
        return a.spur + self.table.metres.item(a.viewpoint, b.viewpoint) + b.spur

    def row(self, anchor: Anchor) -> list[float]:
        """Return the metres from an anchor's viewpoint to every viewpoint, for single lookups."""
        # For single lookups, a list is several times faster than an array.
        kept = self._rows.get(anchor.viewpoint)
        if kept is None:
            kept = self._rows[anchor.viewpoint] = self.table.metres[anchor.viewpoint].tolist()
        return kept

    def distances(self, rows: list[Anchor], columns: list[Anchor]) -> NDArray[np.float64]:
        """Return (rows, columns) metres between different anchors; ``inf`` if not connected."""
        down = np.array([a.viewpoint for a in rows], dtype=np.intp)
        across = np.array([a.viewpoint for a in columns], dtype=np.intp)
        spurs = np.add.outer([a.spur for a in rows], [a.spur for a in columns])
        metres: NDArray[np.float64] = self.table.metres[np.ix_(down, across)] + spurs
        return metres

    def walk(self, a: Anchor, b: Anchor) -> list[str] | None:
        """Return the nodes of the shortest path between two anchors (positions on G+).

        Both are included. None if they are not connected.
        """
        if a.node == b.node:
            return [a.node]
        nodes = self.table.nodes
        path = self.table.path(nodes[a.viewpoint], nodes[b.viewpoint])
        if path is None:
            return None
        before = [] if a.node == path[0] else [a.node]
        after = [] if b.node == path[-1] else [b.node]
        return [*before, *path, *after]


@cached_on_scene
def metric_graph(scene: Scene) -> MetricGraph:
    """Return G+ of a scene (cached)."""
    table = metre_table(scene, "2d")
    starts = {region.id: _starts_of(scene, table, region) for region in scene.regions}
    items = {item.id: _anchors_of(scene, table, item) for item in scene.items}
    return MetricGraph(
        table,
        items={name: anchors[0] for name, anchors in items.items() if anchors},
        starts={name: anchors[0] for name, anchors in starts.items() if anchors},
    )


def anchor_at(scene: Scene, point: Point3, region: str) -> Anchor | None:
    """Return a point as an anchor: a position joined to the nearest viewpoint of its region.

    Without a viewpoint in the region, the nearest one on its floor is used, as for items.

    Args:
        scene: the scene.
        point: (x, y, z) in metres.
        region: the id of the region it lies in.

    Returns:
        Its anchor; None if neither the region nor its floor has a viewpoint.
    """
    viewpoints = scene.viewpoints_by_region[region] or _on_floor(scene, region)
    if not viewpoints:
        return None
    viewpoint, spur = _nearest(point, viewpoints)[0]
    x, y, z = point
    # repr keeps every bit, so that the node name alone gives the exact point.
    node = f"{POINT_NODE}{x!r} {y!r} {z!r} {region}"
    return Anchor(node, metre_table(scene, "2d").index[viewpoint.id], spur)


def resolve_node(scene: Scene, node: str) -> Viewpoint | Item:
    """Return a G+ node's viewpoint or item; for a point (:func:`anchor_at`) a new viewpoint."""
    if node.startswith(POINT_NODE) and node not in scene.viewpoint_by_id:
        x, y, z, region = node.removeprefix(POINT_NODE).split(" ", 3)
        return Viewpoint(id=node, position=(float(x), float(y), float(z)), region=region)
    return scene.viewpoint_by_id.get(node) or scene.item_by_id[node.removeprefix(ITEM_NODE)]


def crossed_link(scene: Scene, here: Viewpoint, there: Viewpoint) -> int | None:
    """Return the link that an edge of G crosses: the one nearest the edge's middle.

    Returns:
        Its index in ``scene.links``; None if the edge stays in a region, or no link joins its two
        regions.
    """
    regions = {here.region, there.region}
    x, _, z = ((one + other) / 2 for one, other in zip(here.position, there.position, strict=True))

    def off(numbered: tuple[int, Link]) -> tuple[float, int]:
        number, link = numbered
        metres = 0.0 if link.point is None else distance_2d((x, 0.0, z), link.point)
        return metres, number

    links = [(i, link) for i, link in enumerate(scene.links) if {link.a, link.b} == regions]
    return min(links, key=off)[0] if links else None


def plan_position(scene: Scene, node: str) -> tuple[int, float, float]:
    """Return the position of a G+ node on a plan: its floor, and x and z in metres."""
    place = resolve_node(scene, node)
    if isinstance(place, Viewpoint):
        floor = scene.floor_of(place)
    else:
        floor = scene.region_by_id[place.region or ""].floor
    return floor, place.position[0], place.position[2]


def tied_graphs(
    scene: Scene, regions: Sequence[str], items: Sequence[str]
) -> Iterator[MetricGraph]:
    """Yield G+ for each choice among viewpoints that tie, the scene's own choice first.

    If two viewpoints tie up to rounding, both are right, and the authors of a dataset may have used
    the other.

    Args:
        scene: the scene.
        regions: the regions whose start anchors may vary.
        items: the ids of items whose anchors may vary.
    """
    graph = metric_graph(scene)
    starts = [_starts_of(scene, graph.table, scene.region_by_id[region]) for region in regions]
    anchors = [_anchors_of(scene, graph.table, scene.item_by_id[item]) for item in items]
    tied: list[list[Anchor | None]] = [[*found] or [None] for found in (*starts, *anchors)]
    for choice in islice(product(*tied), MOST_TIES):
        placed = dict(zip((*regions, *items), choice, strict=True))
        known = {name: anchor for name, anchor in placed.items() if anchor is not None}
        yield replace(
            graph,
            starts={**graph.starts, **{r: known[r] for r in regions if r in known}},
            items={**graph.items, **{i: known[i] for i in items if i in known}},
        )


def _starts_of(scene: Scene, table: DistanceTable, region: Region) -> list[Anchor]:
    """Return a region's possible start anchors: one, more on a tie, none without a viewpoint."""
    nearest = _nearest(region.center, scene.viewpoints_by_region[region.id])
    return [Anchor(viewpoint.id, table.index[viewpoint.id], 0.0) for viewpoint, _ in nearest]


def _anchors_of(scene: Scene, table: DistanceTable, item: Item) -> list[Anchor]:
    """Return an item's possible anchors: one, more on a tie, none without a viewpoint nearby."""
    if item.region is None:
        return []
    viewpoints = scene.viewpoints_by_region[item.region]
    nearest = _nearest(item.position, viewpoints or _on_floor(scene, item.region))
    node = f"{ITEM_NODE}{item.id}"
    return [Anchor(node, table.index[viewpoint.id], spur) for viewpoint, spur in nearest]


def _on_floor(scene: Scene, region: str) -> tuple[Viewpoint, ...]:
    regions = scene.region_by_id
    return tuple(
        viewpoint
        for viewpoint in scene.viewpoints
        if viewpoint.region and regions[viewpoint.region].floor == regions[region].floor
    )


def _nearest(point: Point3, viewpoints: tuple[Viewpoint, ...]) -> list[tuple[Viewpoint, float]]:
    """Return the nearest viewpoints on the ground plane with metres; ties in scene order."""
    far = sorted(
        ((viewpoint, distance_2d(viewpoint.position, point)) for viewpoint in viewpoints),
        key=lambda pair: pair[1],
    )
    return [(v, m) for v, m in far[:_MOST_TYING] if m <= far[0][1] + _TIE]


MOST_PATH = 400
"""Maximum length of a path in an answer, in transitions."""
_Short = Annotated[str, Field(min_length=1, max_length=200)]
_FETCH = re.compile(r"Take the (\S+) from (\S+) to the (\S+) in (\S+)\.")
_START = 'phase_1 "Single robot start region"'
_TARGET = 'phase_1 "Single robot target object region"'
_END = 'phase_1 "Single robot end region"'
_PATH = 'phase_1 "Single robot travel path"'
_INSTRUCTION = 'phase_1 "Task instruction"'


class SoloTask(NamedTuple):
    """A single-robot fetch task, as names."""

    start: str
    target: str
    object: str
    end: str
    end_asset: str

    @property
    def instruction(self) -> str:
        """The sentence of A.10.1, with whole region ids and verbatim names."""
        return fetch_sentence(self.object, self.target, self.end_asset, self.end)


def fetch_sentence(obj: str, region: str, asset: str, there: str) -> str:
    """Return the sentence that tells a robot to bring an object to an asset (A.10.1, A.11.1)."""
    return f"Take the {obj} from {region} to the {asset} in {there}."


def parse_fetch_asset(sentence: str) -> str | None:
    """Return the asset that a fetching sentence names; None if it does not match the template."""
    match = _FETCH.fullmatch(sentence)
    return match.group(3) if match else None


class _RobotRegion(AnswerPart):
    robot_1: _Short


class _RobotPath(AnswerPart):
    robot_1: tuple[_Short, ...] = Field(max_length=MOST_PATH)


class SoloTaskAnswer(AnswerPart):
    """Single-robot task with exactly the output keys of A.10.1; dump it ``by_alias``."""

    start: _RobotRegion = Field(alias="Single robot start region")
    target: _RobotRegion = Field(alias="Single robot target object region")
    object: _Short = Field(alias="Target object")
    end: _RobotRegion = Field(alias="Single robot end region")
    path: _RobotPath = Field(alias="Single robot travel path")
    instruction: Annotated[str, Field(max_length=1000)] = Field(alias="Task instruction")

    @property
    def errand(self) -> SoloTask:
        """The task's names; the end asset is parsed from the instruction, "" if that fails."""
        asset = parse_fetch_asset(self.instruction) or ""
        return SoloTask(
            self.start.robot_1, self.target.robot_1, self.object, self.end.robot_1, asset
        )


def solo_task_answer(errand: SoloTask, path: Sequence[str]) -> dict[str, Any]:
    """Return the A.10.1 answer that describes a single-robot task, as JSON."""
    return {
        "phase_1": {
            "Single robot start region": {"robot_1": errand.start},
            "Single robot target object region": {"robot_1": errand.target},
            "Target object": errand.object,
            "Single robot end region": {"robot_1": errand.end},
            "Single robot travel path": {"robot_1": [*path]},
            "Task instruction": errand.instruction,
        }
    }


def shortest_path(scene: Scene, errand: SoloTask) -> list[str]:
    """Return the transitions of a task's shortest path; a leg without a path contributes none."""
    ways, (start, target, _, end, _) = region_paths(scene), errand
    return [*ways.get((start, target), ()), *ways.get((target, end), ())]


@cached_on_scene
def solo_task_schema(scene: Scene, *, constrain: bool) -> dict[str, Any]:
    """Return the JSON schema of the answer, titled by the job's name.

    Args:
        scene: the scene whose names are used.
        constrain: restrict regions, objects and transitions to those of the scene.
    """

    def name(values: list[str]) -> dict[str, Any]:
        return {"type": "string", "enum": values} if constrain and values else {"type": "string"}

    def robot_1(value: dict[str, Any]) -> dict[str, Any]:
        return object_schema({"robot_1": value})

    regions = [region.id for region in scene.regions]
    objects = sorted({n for r in regions for n in item_names(scene, r, "object")})
    pairs = [(link.a, link.b) for link in scene.links]
    steps = {f"{a} -> {b}" for one, other in pairs for a, b in ((one, other), (other, one))}
    fields = {
        "Single robot start region": robot_1(name(regions)),
        "Single robot target object region": robot_1(name(regions)),
        "Target object": name(objects),
        "Single robot end region": robot_1(name(regions)),
        "Single robot travel path": robot_1(
            # Two shortest paths are never longer. Without a bound, decoding may never end.
            {"type": "array", "items": name(sorted(steps)), "maxItems": 2 * len(regions)}
        ),
        "Task instruction": {"type": "string"},
    }
    return object_schema({"phase_1": object_schema(fields)}, "phase_1")


def read_solo_task(
    answer: dict[str, Any], scene: Scene, *, tau: int = 2
) -> tuple[SoloTaskAnswer | None, list[Violation]]:
    """Validate an answer's form and then every rule against the scene.

    Args:
        answer: the answer: ``{"phase_1": {...}}``.
        scene: the ground truth.
        tau: the hop threshold; a leg has at least ``max(2, tau)`` hops.

    Returns:
        The task and no violations, or the task as far as its form allows and the violations.
    """
    task, faults = read_part(answer, "phase_1", SoloTaskAnswer)
    if task is None:
        return None, faults
    return task, [*_wrong_regions(task.errand, scene)] or [
        *_wrong_legs(task.errand, scene, min_hops(tau)),
        *_wrong_items(task, scene),
        *_wrong_path(task, scene),
    ]


def _wrong_regions(errand: SoloTask, scene: Scene) -> Iterator[Violation]:
    for where, region in ((_START, errand.start), (_TARGET, errand.target), (_END, errand.end)):
        if region not in scene.region_by_id:
            said = region_not_found(scene, region, argument=where.removeprefix("phase_1 "))
            found = f"{region!r} is not a region of {scene.uri}"
            yield Violation("unknown_region", said, where, found)


def _wrong_legs(errand: SoloTask, scene: Scene, least: int) -> Iterator[Violation]:
    start, target, end = errand.start, errand.target, errand.end
    for from_name, a, to_name, b, where in (
        ("start", start, "target", target, _TARGET),
        ("target", target, "end", end, _END),
    ):
        length = hop_table(scene).distance(a, b)
        if length is None:
            said = f"{from_name} {a} and {to_name} {b} are not connected."
            found = f"there is no way from {a} to {b} in {scene.uri}"
            yield Violation("not_connected", said, where, found)
        elif length < least:
            near = "adjacent" if length == 1 else f"{length} links apart"
            said = f"{from_name} {a} and {to_name} {b} are {near}; at least {least} are needed."
            found = f"{b} is {length} links from {a}: at least {least} are needed"
            yield Violation("leg_too_short", said, where, found)
    if start == end:
        said = f"Start and end are both {start}; they must differ."
        yield Violation("same_start_end", said, _END, f"{end} is the start region too")


def _wrong_items(task: SoloTaskAnswer, scene: Scene) -> Iterator[Violation]:
    errand = task.errand
    objects = item_names(scene, errand.target, "object")
    if errand.object not in objects:
        yield Violation(
            "object_not_there",
            f'"Target object": {quote(errand.object)} is not an object of {errand.target}. '
            f"Objects there: {list_names(objects, near=errand.object)}.",
            'phase_1 "Target object"',
            f"{errand.object!r} is not an object of {errand.target}",
        )
    asset, assets = errand.end_asset, item_names(scene, errand.end, "asset")
    template = errand._replace(end_asset=asset or "[asset]").instruction
    if task.instruction != template:
        yield Violation(
            "wrong_instruction",
            f'"Task instruction" must read exactly: {template}',
            _INSTRUCTION,
            f"{task.instruction!r} is said and the template gives {template!r}",
        )
    if asset and asset not in assets:
        yield Violation(
            "end_asset_not_there",
            f'"Task instruction": {quote(asset)} is not an asset of {errand.end}. '
            f"Assets there: {list_names(assets, near=asset)}.",
            _INSTRUCTION,
            # If the template does not match, the asset name was not parsed reliably.
            f"{asset!r} is not an asset of {errand.end}" if task.instruction == template else "",
        )


def _wrong_path(task: SoloTaskAnswer, scene: Scene) -> Iterator[Violation]:
    hops, errand = hop_table(scene), task.errand
    start, target, end = errand.start, errand.target, errand.end
    first, second = hops.distance(start, target), hops.distance(target, end)
    if first is None or second is None:
        return
    walked = [start]
    for step in task.path.robot_1:
        a, arrow, b = step.partition(" -> ")
        if not arrow or a != walked[-1] or hops.index.get(b) is None or hops.distance(a, b) != 1:
            yield Violation(
                "broken_path",
                f"{_PATH.removeprefix('phase_1 ')}: {quote(step)} does not follow a link from "
                f"{walked[-1]}. Copy the tool's start_2_target and target_2_end paths.",
                _PATH,
                f"{step!r} is not a link of {scene.uri}"
                if a == walked[-1]
                else f"{step!r} does not go on from {walked[-1]}",
            )
            return
        walked.append(b)
    steps = len(walked) - 1
    if steps == first + second and walked[first] == target and walked[-1] == end:
        return
    if walked[-1] != end:
        found = f"it ends in {walked[-1]} and not in the end region {end}"
    elif steps != first + second:
        found = (
            f"it has {steps} steps and the shortest has {first + second} "
            f"({first} to {target}, {second} on to {end})"
        )
    else:
        found = (
            f"it is in {walked[first]} after {first} steps "
            f"and should be in the target region {target}"
        )
    yield Violation(
        "path_not_shortest",
        f"{_PATH.removeprefix('phase_1 ')} has {steps} steps and ends in {walked[-1]}; "
        f"it must lead from {start} to {target} in {first} steps and on to {end} in "
        f"{second}. Copy the tool's paths.",
        _PATH,
        found,
    )


def admissible_triples(scene: Scene, tau: int = 2) -> Iterator[tuple[str, str, str]]:
    """Yield every admissible (start, target, end) of a task (CoNavBench 3.1.2), in scene order.

    Both legs have at least ``max(2, tau)`` hops, the target holds an object, the end holds an
    asset, and start and end differ.
    """
    far, objects, assets = _legs(scene, tau)
    names = hop_table(scene).nodes
    for start in range(len(names)):
        for target in np.flatnonzero(far[start] & objects):
            for end in np.flatnonzero(far[target] & assets):
                if end != start:
                    yield names[start], names[target], names[end]


def count_admissible_triples(scene: Scene, tau: int = 2) -> int:
    """Return the number of :func:`admissible_triples`, without listing them."""
    far, objects, assets = _legs(scene, tau)
    starts = far[:, objects].sum(axis=0)
    ends = far[objects] & assets
    # Subtract the triples that end where they start: one for every end, as hops are symmetric.
    return int((starts * ends.sum(axis=1)).sum() - ends.sum())


def _legs(scene: Scene, tau: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    table = hop_table(scene)
    objects = np.array([bool(scene.items_in(r, "object")) for r in table.nodes], dtype=np.bool_)
    assets = np.array([bool(scene.items_in(r, "asset")) for r in table.nodes], dtype=np.bool_)
    return table.hops >= min_hops(tau), objects, assets
