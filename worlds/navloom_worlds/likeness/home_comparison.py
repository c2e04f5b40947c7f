"""Comparison of two sets of homes: the distance of each statistic, and whether it is within bounds.

Two halves of one set of real homes differ, too, so a distance is compared with that of such halves.
The second set is split at random many times, three sevenths against the rest (15 of 35 homes
against 20). The bound is the 95th percentile of the splits' distances, or `CLOSE` if that is
larger. Values are pooled over homes, as rooms, pairs of rooms or tasks: a large home counts for
more.

Real homes come as boxes. So a room's area is that of its box, or of the box around its outline.
Distances are measured within the boxes, from one to the next where they are nearest, through walls
and furniture. On a home's true floor paths are longer.

``structure`` is left out everywhere, since sources differ most in what they count as one. A label
that fits several of the paper's room types (``kitchen/living room``) counts as a part of each.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

import networkx as nx
import numpy as np

from navloom.evals.report.formatting import NOTHING, Table
from navloom.scenes.bodies import builtin_bodies
from navloom.scenes.box_graph import build_box_graph
from navloom.scenes.distances import hop_table
from navloom.scenes.formats.hm3d import crossing_point
from navloom.scenes.lexicon import item_names, lexicon_name, room_types
from navloom.scenes.passability import estimate_links
from navloom.scenes.scene import Box, Region, Scene
from navloom.tools.navcraft.relay_optimum import all_relays
from navloom.tools.navcraft.relay_task import RelayTask
from navloom.tools.navcraft.task_paths import admissible_triples
from navloom_worlds.geometry.arrays import F64, Bools

SPREADS = {
    "rooms": "rooms a home",
    "areas": "area of a room, m²",
    "degrees": "doors of a room (degree of H)",
    "cycles": "cycles a home",
    "hops": "hops between two rooms",
    "room_things": "things a room",
    "things": "things a home",
    "portable": "share of things that are portable",
    "alpha": "alpha of a task's best relay",
    "makespan": "makespan of a task's best relay, s",
}
"""Statistics that are compared by their whole distribution -> their descriptions."""
_MOST_TRIPLES = 200_000


@dataclass(frozen=True)
class HomeFigures:
    """Statistics of one home.

    Attributes:
        scene: its URI.
        spreads: key of :data:`SPREADS` -> the values of the home, its rooms, pairs of rooms or
            sampled tasks.
        types: room type -> number of rooms; fractions for compounds.
        holding: (name, room type) -> number of rooms of that type with such an item.
        bodies: CapNav's body -> the share of ordered pairs of rooms that it can travel between;
            empty for a home of one room.
        door_widths: known clear widths of doors, in metres.
    """

    scene: str
    spreads: dict[str, tuple[float, ...]]
    types: dict[str, float] = field(default_factory=dict)
    holding: dict[tuple[str, str], float] = field(default_factory=dict)
    bodies: dict[str, float] = field(default_factory=dict)
    door_widths: tuple[float, ...] = ()


def home_figures(scene: Scene, *, tasks: int = 10, seed: int = 0) -> HomeFigures:
    """Compute the statistics of a home.

    Args:
        scene: the home.
        tasks: number of random tasks whose best relays are searched.
        seed: seed of the tasks.
    """
    graph = scene.region_graph()
    things = {
        room.id: [i for i in scene.items_in(room.id) if i.kind != "structure"]
        for room in scene.regions
    }
    every = [item for found in things.values() for item in found]
    hops = hop_table(scene).hops
    parts = nx.number_connected_components(graph)
    alpha, makespan = _best_relays(_on_boxes(scene), tasks, seed)
    spreads: dict[str, tuple[float, ...]] = {
        "rooms": (len(scene.regions),),
        "areas": tuple(area for room in scene.regions if (area := box_area(room)) is not None),
        "degrees": tuple(degree for _, degree in graph.degree()),
        "cycles": (graph.number_of_edges() - graph.number_of_nodes() + parts,),
        "hops": tuple(hops[hops > 0].tolist()),
        "room_things": tuple(len(found) for found in things.values()),
        "things": (len(every),),
        "portable": (sum(i.kind == "object" for i in every) / len(every),) if every else (),
        "alpha": alpha,
        "makespan": makespan,
    }
    types: defaultdict[str, float] = defaultdict(float)
    holding: defaultdict[tuple[str, str], float] = defaultdict(float)
    for room in scene.regions:
        names = {name for i in things[room.id] if (name := lexicon_name(i.name)) is not None}
        fitting = room_types(room.label)
        for kind in sorted(fitting):
            types[kind] += 1 / len(fitting)
            for name in names:
                holding[name, kind] += 1 / len(fitting)
    widths = tuple(link.width for link in scene.links if link.kind == "door" and link.width)
    return HomeFigures(scene.uri, spreads, types, holding, body_pair_shares(scene), widths)


def box_area(room: Region) -> float | None:
    """Return the area in m2 of a room's box, else of its outline's bounding box; else None."""
    box = _upright(room)
    return None if box is None else box.size[0] * box.size[2]


def _upright(room: Region) -> Box | None:
    if room.box is not None and not room.box.yaw:
        return room.box
    if (outline := room.outline) is None:
        return None
    xs, zs = [x for x, _ in outline], [z for _, z in outline]
    middle = ((min(xs) + max(xs)) / 2, room.center[1], (min(zs) + max(zs)) / 2)
    return Box(center=middle, size=(max(xs) - min(xs), 0.0, max(zs) - min(zs)))


def _on_boxes(scene: Scene) -> Scene:
    """Return the scene with the graph of scenes known as boxes only, if all rooms have boxes."""
    boxes = {room.id: box for room in scene.regions if (box := _upright(room)) is not None}
    if len(boxes) < len(scene.regions):
        return scene
    rooms = [room.model_copy(update={"box": boxes[room.id]}) for room in scene.regions]
    links = [
        link.model_copy(update={"point": crossing_point(boxes[link.a], boxes[link.b])})
        for link in scene.links
    ]
    viewpoints, edges = build_box_graph(rooms, links)
    return scene.replace(viewpoints=viewpoints, edges=edges)


def body_pair_shares(scene: Scene) -> dict[str, float]:
    """Return for each of CapNav's bodies the share of ordered room pairs that it can travel."""
    rooms = len(scene.regions)
    if rooms < 2:
        return {}
    table = estimate_links(scene)
    shares = {}
    for body in table.bodies:
        open_: nx.Graph[str] = nx.Graph()
        open_.add_nodes_from(table.nodes)
        open_.add_edges_from((p.a, p.b) for p in table.passages(body) if p.traversable)
        sizes = [len(part) for part in nx.connected_components(open_)]
        shares[body] = sum(n * (n - 1) for n in sizes) / (rooms * (rooms - 1))
    return shares


def _best_relays(scene: Scene, n: int, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the minimum alpha and the minimum makespan (seconds) of tasks that have a relay."""
    if not n:
        return (), ()
    draw = random.Random(f"{seed}/{scene.uri}")
    triples = [t for t, _ in zip(admissible_triples(scene), range(_MOST_TRIPLES), strict=False)]
    alphas, makespans = [], []
    for start, target, end in draw.sample(triples, min(n, len(triples))):
        thing = draw.choice(item_names(scene, target, "object"))
        asset = draw.choice(item_names(scene, end, "asset"))
        relays = all_relays(RelayTask(scene, start, target, thing, end, asset))
        if len(relays) and math.isfinite(best := float(relays.alpha.min())):
            alphas.append(best)
            makespans.append(float(relays.makespan.min()))
    return tuple(alphas), tuple(makespans)


K = TypeVar("K")
Measure = Literal["KS", "total variation", "rank correlation", "share"]

CLOSE = 0.15
"""Kolmogorov-Smirnov distance that is always accepted."""
MOST_VARIATION = 0.2
"""Maximum total variation between the shares of room types."""
LEAST_CORRELATION = 0.5
"""Minimum rank correlation of the items' log odds, if halves of the second set have more."""
SPLIT_BODIES = ("WHEELCHAIR", "HUMANOID", "SWEEPER")
BODIES_BETWEEN = (0.15, 0.95)
"""Range of the share of room pairs for bodies that homes should discriminate."""
NEAR_BODY = 0.05
"""Maximum difference in metres of a door's and a body's width that makes a question hard."""
LEAST_NEAR = 0.1
"""Minimum share of such doors."""
SPLITS = 1_000
_FEWER_SPLITS = 200
"""Number of splits for slow measures."""
FEWEST_TO_SPLIT = 10
_PART = 3 / 7
_LEAST_ROOMS = 5
"""Minimum number of rooms with an item, and of rooms of a type, in either set."""


@dataclass(frozen=True)
class FigureComparison:
    """Comparison of one statistic of both sets.

    Attributes:
        figure: description of the statistic.
        first: median or share of the first set.
        second: that of the second set; None if it is unknown or not compared.
        measure: the measure of comparison; ``share`` uses the first set only.
        value: the distance, correlation or share; None if either set has no such statistic.
        least: lower bound; None if there is none.
        most: upper bound; None if there is none.
    """

    figure: str
    first: float | None
    second: float | None
    measure: Measure
    value: float | None
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool | None:
        """Return whether the value is within its bounds; None if there is no value."""
        if self.value is None:
            return None
        low = -math.inf if self.least is None else self.least
        high = math.inf if self.most is None else self.most
        return low <= self.value <= high


def compare_homes(
    first: Sequence[HomeFigures], second: Sequence[HomeFigures], *, seed: int = 0
) -> list[FigureComparison]:
    """Compare two sets of homes; return a comparison for each statistic.

    Args:
        first: the homes to evaluate.
        second: the reference homes.
        seed: seed of the splits.
    """
    draws = _splits(len(second), SPLITS, seed)
    lines = [_spread(key, first, second, draws) for key in SPREADS]
    lines.append(_type_line(first, second))
    lines.append(_holding_line(first, second, draws[:_FEWER_SPLITS]))
    return lines + _body_lines(first, second) + [_width_line(first, second)]


def _splits(homes: int, count: int, seed: int) -> Bools:
    """Sample splits, (count, homes): True in the smaller part; no rows for too few homes."""
    if homes < FEWEST_TO_SPLIT:
        return np.zeros((0, homes), dtype=np.bool_)
    order = np.random.default_rng(seed).random((count, homes)).argsort(axis=1)
    return order < round(_PART * homes)


def _spread(
    key: str, first: Sequence[HomeFigures], second: Sequence[HomeFigures], draws: Bools
) -> FigureComparison:
    ours, theirs = ([v for home in part for v in home.spreads[key]] for part in (first, second))
    if not ours or not theirs:
        middle, other = (statistics.median(each) if each else None for each in (ours, theirs))
        return FigureComparison(SPREADS[key], middle, other, "KS", None)
    values = np.unique(np.round([*ours, *theirs], 9))
    counts = np.array([_counted(home, key, values) for home in second])
    most = CLOSE
    if len(draws):
        parts = draws.astype(np.float64)
        halves = _distances(parts @ counts, (1 - parts) @ counts)
        most = max(most, float(np.percentile(halves, 95)))
    mine = sum(_counted(home, key, values) for home in first)
    value = float(_distances(np.atleast_2d(mine), counts.sum(axis=0, keepdims=True))[0])
    return FigureComparison(
        SPREADS[key], statistics.median(ours), statistics.median(theirs), "KS", value, None, most
    )


def _counted(home: HomeFigures, key: str, values: F64) -> F64:
    """Return the count of each value in a home."""
    found = np.searchsorted(values, np.round(home.spreads[key], 9))
    return np.bincount(found, minlength=len(values)).astype(np.float64)


def _distances(a: F64, b: F64) -> F64:
    """Return Kolmogorov-Smirnov distances between rows of counts over the same sorted values."""
    shares = [one.cumsum(axis=1) / np.maximum(one.sum(axis=1, keepdims=True), 1) for one in (a, b)]
    result: F64 = np.abs(shares[0] - shares[1]).max(axis=1)
    return result


def _summed(counts: Iterable[Mapping[K, float]]) -> dict[K, float]:
    """Sum counts by key."""
    found: defaultdict[K, float] = defaultdict(float)
    for each in counts:
        for key, count in each.items():
            found[key] += count
    return found


def type_shares(homes: Sequence[HomeFigures]) -> dict[str, float]:
    """Return each room type's share of all rooms whose type is known."""
    found = _summed(home.types for home in homes)
    total = sum(found.values())
    return {kind: count / total for kind, count in found.items()} if total else {}


def _type_line(first: Sequence[HomeFigures], second: Sequence[HomeFigures]) -> FigureComparison:
    mixes = type_shares(first), type_shares(second)
    value = None
    if all(mixes):
        kinds = sorted({*mixes[0], *mixes[1]})
        value = sum(abs(mixes[0].get(kind, 0.0) - mixes[1].get(kind, 0.0)) for kind in kinds) / 2
    return FigureComparison(
        "mix of room types", None, None, "total variation", value, None, MOST_VARIATION
    )


def log_odds(homes: Sequence[HomeFigures]) -> dict[tuple[str, str], float]:
    """Return (item, room type) -> log odds ratio of rooms of the type having the item.

    Half a room is added to each of the four counts. Rare items and types are left out.
    """
    rooms = _summed(home.types for home in homes)
    holding = _summed(home.holding for home in homes)
    names = _summed({name: count} for (name, _), count in holding.items())
    total = sum(rooms.values())
    odds = {}
    for name, everywhere in sorted(names.items()):
        for kind, many in sorted(rooms.items()):
            if everywhere < _LEAST_ROOMS or many < _LEAST_ROOMS:
                continue
            here = holding.get((name, kind), 0.0)
            there = everywhere - here
            ours = (here + 0.5) / (many - here + 0.5)
            others = (there + 0.5) / (total - many - there + 0.5)
            odds[name, kind] = math.log(ours / others)
    return odds


def _correlation(
    a: Mapping[tuple[str, str], float], b: Mapping[tuple[str, str], float]
) -> float | None:
    """Return Spearman's rank correlation over the pairs in both sets."""
    from scipy.stats import spearmanr

    pairs = sorted(set(a) & set(b))
    ours, theirs = ([each[pair] for pair in pairs] for each in (a, b))
    if len(pairs) < 3 or len(set(ours)) < 2 or len(set(theirs)) < 2:
        return None
    return float(spearmanr(ours, theirs).statistic)


def _holding_line(
    first: Sequence[HomeFigures], second: Sequence[HomeFigures], draws: Bools
) -> FigureComparison:
    halves = []
    for row in draws:
        parts = [[h for h, inside in zip(second, row, strict=True) if inside is side]
                 for side in (np.True_, np.False_)]  # fmt: skip
        if (value := _correlation(*map(log_odds, parts))) is not None:
            halves.append(value)
    least = min([LEAST_CORRELATION, *([float(np.percentile(halves, 5))] if halves else [])])
    value = _correlation(log_odds(first), log_odds(second))
    words = "which thing is in which room (log odds)"
    return FigureComparison(words, None, None, "rank correlation", value, least)


def _body_lines(a: Sequence[HomeFigures], b: Sequence[HomeFigures]) -> list[FigureComparison]:
    lines = []
    for body in builtin_bodies():
        mean, theirs = (
            statistics.fmean(found) if found else None
            for found in ([h.bodies[body.name] for h in part if h.bodies] for part in (a, b))
        )
        least, most = BODIES_BETWEEN if body.name in SPLIT_BODIES else (None, None)
        words = f"pairs of rooms that {body.name} can travel"
        lines.append(FigureComparison(words, mean, theirs, "share", mean, least, most))
    return lines


def _width_line(first: Sequence[HomeFigures], second: Sequence[HomeFigures]) -> FigureComparison:
    bodies = [body.width for body in builtin_bodies()]

    def near(homes: Sequence[HomeFigures]) -> float | None:
        widths = [width for home in homes for width in home.door_widths]
        close = [min(abs(w - body) for body in bodies) <= NEAR_BODY + 1e-9 for w in widths]
        return statistics.fmean(close) if close else None

    words = f"doors within {100 * NEAR_BODY:.0f} cm of a body's width"
    return FigureComparison(words, near(first), near(second), "share", near(first), LEAST_NEAR)


QUANTILES = (0, 5, 25, 50, 75, 95, 100)
_MOST_PAIRS = 400


def figure_table(lines: Sequence[FigureComparison], first: str, second: str) -> Table:
    """Return a table of every statistic: medians or shares, distance, bound and verdict."""
    rows = []
    for line in lines:
        holds = {None: NOTHING, True: "holds", False: "does not"}[line.holds]
        bounds = [f">= {line.least:.2f}"] if line.least is not None else []
        bounds += [f"<= {line.most:.2f}"] if line.most is not None else []
        cells = (_number(line.first), _number(line.second), line.measure, _number(line.value))
        rows.append((line.figure, *cells, ", ".join(bounds), holds if bounds else ""))
    header = ("figure", first, second, "compared by", "value", "bound", "")
    return Table("", "", header, tuple(rows))


def type_table(
    homes: Sequence[HomeFigures], others: Sequence[HomeFigures], first: str, second: str
) -> Table:
    """Return a table of room type shares in both sets, the second set's most frequent first."""
    mixes = type_shares(homes), type_shares(others)
    kinds = sorted({*mixes[0], *mixes[1]}, key=lambda k: (-mixes[1].get(k, 0.0), k))
    rows = tuple((k, *(f"{100 * mix.get(k, 0.0):.1f} %" for mix in mixes)) for k in kinds)
    return Table("", "", ("room type", first, second), rows)


def likeness_record(
    lines: Sequence[FigureComparison], homes: Sequence[HomeFigures], others: Sequence[HomeFigures]
) -> dict[str, Any]:
    """Return the comparison as JSON, with quantiles and the items whose rooms differ most."""
    odds = log_odds(homes), log_odds(others)
    pairs = sorted(set(odds[0]) & set(odds[1]), key=lambda p: (-abs(odds[0][p] - odds[1][p]), p))
    return {
        "homes": [len(homes), len(others)],
        "figures": [
            {
                **asdict(line),
                "holds": line.holds if (line.least, line.most) != (None, None) else None,
            }
            for line in lines
        ],
        "percents": QUANTILES,
        "quantiles": {
            key: {"first": _quantiles(homes, key), "second": _quantiles(others, key)}
            for key in SPREADS
        },
        "room_types": {"first": type_shares(homes), "second": type_shares(others)},
        "log_odds": [
            {"thing": pair[0], "room": pair[1], "first": odds[0][pair], "second": odds[1][pair]}
            for pair in pairs[:_MOST_PAIRS]
        ],
    }


def _quantiles(homes: Sequence[HomeFigures], key: str) -> list[float]:
    values = [value for home in homes for value in home.spreads[key]]
    return [round(float(v), 4) for v in np.percentile(values, QUANTILES)] if values else []


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"
