"""What of a home is compared with other homes: counts of its rooms, things, tasks and bodies.

Real homes come as boxes, so a room's area is that of its box, or of the box around its outline, and
metres are walked as they are there: within the boxes, from one to the next where they are
nearest, through walls and furniture. On a home's true floor ways are longer.
``structure`` is left out everywhere: what a source counts as a thing differs most there. A label
that fits several of the paper's room types (``kitchen/living room``) counts as a part of each.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import dataclass, field

import networkx as nx

from navloom.scenes.box_graph import place_in_boxes
from navloom.scenes.distances import hop_table
from navloom.scenes.formats.hm3d import crossing
from navloom.scenes.lexicon import listed_name, room_types
from navloom.scenes.prompt import item_names
from navloom.scenes.scene import Box, Region, Scene
from navloom.scenes.traverse.by_rule import from_geometry
from navloom.tools.navcraft.errand import admissible_triples
from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.task import RelayTask

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
"""What is compared by its whole distribution -> in words."""
_MOST_TRIPLES = 200_000


@dataclass(frozen=True)
class HomeFigures:
    """A home in figures.

    Attributes:
        scene: its URI.
        spreads: key of :data:`SPREADS` -> a value each, of the home or of all of its rooms, pairs
            of rooms or sampled tasks.
        types: room type -> how many rooms; fractions of compounds.
        holding: (name, room type) -> in how many rooms of that type such a thing is.
        bodies: CapNav's body -> the share of ordered pairs of rooms that it can travel between;
            empty for a home of one room.
        door_widths: clear widths of doors, in metres, where they are known.
    """

    scene: str
    spreads: dict[str, tuple[float, ...]]
    types: dict[str, float] = field(default_factory=dict)
    holding: dict[tuple[str, str], float] = field(default_factory=dict)
    bodies: dict[str, float] = field(default_factory=dict)
    door_widths: tuple[float, ...] = ()


def home_figures(scene: Scene, *, tasks: int = 10, seed: int = 0) -> HomeFigures:
    """The figures of a home.

    Args:
        scene: the home.
        tasks: of how many tasks, drawn by ``seed``, to find the best relays.
        seed: of that draw.
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
        names = {name for i in things[room.id] if (name := listed_name(i.name)) is not None}
        fitting = room_types(room.label)
        for kind in sorted(fitting):
            types[kind] += 1 / len(fitting)
            for name in names:
                holding[name, kind] += 1 / len(fitting)
    widths = tuple(link.width for link in scene.links if link.kind == "door" and link.width)
    return HomeFigures(scene.uri, spreads, types, holding, body_shares(scene), widths)


def box_area(room: Region) -> float | None:
    """Square metres of a room's box, or of the box around its outline; None where it has none."""
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
    """The scene with the graph that is made where no more than boxes is known, if they are."""
    boxes = {room.id: box for room in scene.regions if (box := _upright(room)) is not None}
    if len(boxes) < len(scene.regions):
        return scene
    rooms = [room.model_copy(update={"box": boxes[room.id]}) for room in scene.regions]
    links = [
        link.model_copy(update={"point": crossing(boxes[link.a], boxes[link.b])})
        for link in scene.links
    ]
    viewpoints, edges = place_in_boxes(rooms, links)
    return scene.replace(viewpoints=viewpoints, edges=edges)


def body_shares(scene: Scene) -> dict[str, float]:
    """Of each of CapNav's bodies the share of ordered pairs of rooms that it can travel between."""
    rooms = len(scene.regions)
    if rooms < 2:
        return {}
    table = from_geometry(scene)
    shares = {}
    for body in table.bodies:
        open_: nx.Graph[str] = nx.Graph()
        open_.add_nodes_from(table.nodes)
        open_.add_edges_from((p.a, p.b) for p in table.passages(body) if p.traversable)
        sizes = [len(part) for part in nx.connected_components(open_)]
        shares[body] = sum(n * (n - 1) for n in sizes) / (rooms * (rooms - 1))
    return shares


def _best_relays(
    scene: Scene, count: int, seed: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The least alpha and the least makespan (seconds) of some tasks that have a relay."""
    if not count:
        return (), ()
    draw = random.Random(f"{seed}/{scene.uri}")
    triples = [t for t, _ in zip(admissible_triples(scene), range(_MOST_TRIPLES), strict=False)]
    alphas, makespans = [], []
    for start, target, end in draw.sample(triples, min(count, len(triples))):
        thing = draw.choice(item_names(scene, target, "object"))
        asset = draw.choice(item_names(scene, end, "asset"))
        relays = all_relays(RelayTask(scene, start, target, thing, end, asset))
        if len(relays) and math.isfinite(best := float(relays.alpha.min())):
            alphas.append(best)
            makespans.append(float(relays.makespan.min()))
    return tuple(alphas), tuple(makespans)
