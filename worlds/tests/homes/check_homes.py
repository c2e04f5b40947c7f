"""``python -m worlds.tests.homes.check_homes FOLDER``: check the homes in its scene.json files.

Nothing of navloom is imported. Only the content of the files is checked, with json and shapely. It
prints a table of faults and one of counts, and exits with 1 if there is a fault.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import shapely
from shapely import LineString, Point, Polygon, STRtree, unary_union

MM = 0.001
BODY = 0.3
"""Radius of the body that viewpoints and edges are made for."""
HEAD, FLAT = 1.8, 0.05
"""A person walks under items above the first height, and over items below the second."""
THICKEST_WALL = 0.5
BODIES = {
    "HUMAN": (0.6, 1.7, 0.3, True, True, True),
    "WHEELCHAIR": (0.7, 1.2, 0.013, False, True, True),
    "HUMANOID": (0.9, 1.5, 0.4, False, True, True),
    "QUADRUPEDAL": (0.5, 0.7, 0.3, True, False, False),
    "SWEEPER": (0.4, 0.15, 0.02, False, False, False),
}
"""CapNav's bodies (its agent profiles): width, height and highest step in metres; use of stairs,
elevators and doors."""
Json = dict[str, Any]


class Home:
    """Content of one file, with shapes made of it."""

    def __init__(self, data: Json) -> None:
        self.data = data
        self.name = f"{data['source']}:{data['id']}"
        self.regions = {r["id"]: r for r in data["regions"]}
        self.shapes = {r["id"]: Polygon(r["polygon"]) for r in data["regions"]}
        self.floor_of = {r["id"]: r["floor"] for r in data["regions"]}
        self.height = {r["id"]: r["center"][1] for r in data["regions"]}
        self.items = data["items"]
        self.feet = [footprint(i["position"], i["size"], i["yaw"]) for i in self.items]
        self.faults: list[tuple[str, str]] = []

    def fault(self, kind: str, what: str) -> None:
        self.faults.append((kind, what))

    def check(self) -> list[tuple[str, str]]:
        for rule in (
            rooms, items_apart, items_inside, doors, swings, stairs, links_reach_all,
            viewpoints, edges, relations,
        ):  # fmt: skip
            rule(self)
        return self.faults


def footprint(position: list[float], size: list[float], yaw: float) -> Polygon:
    cos, sin = math.cos(yaw), math.sin(yaw)
    u, w = size[0] / 2, size[2] / 2
    return Polygon(
        [
            (position[0] + a * cos - b * sin, position[2] + a * sin + b * cos)
            for a, b in ((-u, -w), (u, -w), (u, w), (-u, w))
        ]
    )


def span(item: Json) -> tuple[float, float]:
    return item["position"][1] - item["size"][1] / 2, item["position"][1] + item["size"][1] / 2


def is_rug(home: Home, item: Json) -> bool:
    return span(item)[1] <= home.height[item["region"]] + FLAT


def rooms(home: Home) -> None:
    for name, shape in home.shapes.items():
        if not shape.is_valid or shape.area < 0.5:
            home.fault("room", f"{name} has no true outline")
    for a, b in combinations(home.shapes, 2):
        together = home.floor_of[a] == home.floor_of[b]
        if together and home.shapes[a].intersection(home.shapes[b]).area > MM**2:
            home.fault("rooms overlap", f"{a} and {b}")


def items_apart(home: Home) -> None:
    """Check that no two boxes overlap, except items in or on others, and rugs."""
    inside = {(r["a"], r["b"]) for r in home.data["relations"] if r["kind"] == "in"}
    inside |= {(i["id"], i["on"]) for i in home.items}
    near = STRtree(home.feet).query(home.feet, predicate="intersects") if home.feet else ((), ())
    for i, j in zip(*near, strict=True):
        if i >= j:
            continue
        a, b = home.items[i], home.items[j]
        (low, high), (bottom, top) = span(a), span(b)
        if min(high, top) - max(low, bottom) <= 2 * MM or is_rug(home, a) or is_rug(home, b):
            continue
        if (a["id"], b["id"]) in inside or (b["id"], a["id"]) in inside:
            continue
        # Two boxes that turn by an angle meet to a millimetre, not exactly.
        if home.feet[i].buffer(-2 * MM).intersects(home.feet[j].buffer(-2 * MM)):
            home.fault("items overlap", f"{a['name']} {a['id']} and {b['name']} {b['id']}")


def items_inside(home: Home) -> None:
    for item, foot in zip(home.items, home.feet, strict=True):
        region = item["region"]
        low, high = span(item)
        box = home.regions[region]["box"]
        ceiling = box["center"][1] + box["size"][1] / 2
        if not home.shapes[region].buffer(2 * MM).covers(foot):
            home.fault("item outside its room", f"{item['name']} {item['id']} of {region}")
        if low < home.height[region] - 2 * MM or high > ceiling + 2 * MM:
            home.fault("item in floor or ceiling", f"{item['name']} {item['id']} of {region}")


def ways(home: Home) -> list[Json]:
    return [link for link in home.data["links"] if link["jambs"] is not None]


def doors(home: Home) -> None:
    """Check that doorways are in the wall between their rooms, of the given width, and separate."""
    by_floor: dict[int, list[tuple[str, LineString]]] = defaultdict(list)
    for link in ways(home):
        gap, name = LineString(link["jambs"]), f"{link['a']} - {link['b']}"
        if abs(gap.length - link["width"]) > MM:
            home.fault("door", f"{name} is {gap.length:.3f} m wide and says {link['width']}")
        middle = gap.interpolate(0.5, normalized=True)
        for side in (link["a"], link["b"]):
            # All along the gap the room is just beyond half a wall.
            off = middle.distance(home.shapes[side])
            face = gap.buffer(off + 2 * MM, cap_style="flat").intersection(home.shapes[side])
            if off > THICKEST_WALL / 2 or face.area < gap.length * MM * 0.9:
                home.fault("door", f"{name} is not at the wall of {side}")
        by_floor[home.floor_of[link["a"]]].append((name, gap))
    for opening in home.data["openings"]:
        gap = LineString(opening["jambs"])
        name = f"{opening['kind']} of {opening['region']}"
        if gap.distance(home.shapes[opening["region"]]) > THICKEST_WALL:
            home.fault("door", f"{name} is not at its wall")
        by_floor[home.floor_of[opening["region"]]].append((name, gap))
    for gaps in by_floor.values():
        for (a, first), (b, second) in combinations(gaps, 2):
            if first.distance(second) < 0.02:
                home.fault("doors overlap", f"{a} and {b}")


def swings(home: Home) -> None:
    """Check that no item is in the swing of a door, and that no two swings overlap."""
    found = []
    for each in [*home.data["links"], *home.data["openings"]]:
        if each["swing"] is None:
            continue
        shape = Polygon(each["swing"])
        sides = [each["a"], each["b"]] if "a" in each else [each["region"]]
        inner = [s for s in sides if home.shapes[s].buffer(0.26).covers(shape)]
        if not inner:
            home.fault("swing", f"of {' - '.join(sides)} is not inside a room")
            continue
        into = max(inner, key=lambda s: home.shapes[s].intersection(shape).area)
        found.append((into, shape.buffer(-2 * MM), f"{' - '.join(sides)}", each["height"] or 2.0))
    for (a, first, one, _), (b, second, two, _) in combinations(found, 2):
        if a == b and first.intersects(second):
            home.fault("swings overlap", f"{one} and {two} in {a}")
    for into, shape, name, height in found:
        floor = home.height[into]
        for item, foot in zip(home.items, home.feet, strict=True):
            low, high = span(item)
            swept = item["region"] == into and low < floor + height and high > floor + FLAT
            if swept and foot.intersects(shape):
                home.fault("item in a swing", f"{item['name']} {item['id']} at {name}")


def stairs(home: Home) -> None:
    """Check that stairs are climbable from floor to floor, with nothing on them."""
    for flight in home.data["stairs"]:
        name = f"{flight['a']} - {flight['b']}"
        low, high = home.height[flight["a"]], home.height[flight["b"]]
        line = flight["line"]
        if abs(line[0][1] - low) > 2 * MM or abs(line[-1][1] - high) > 2 * MM:
            home.fault("stairs", f"{name} do not reach from floor to floor")
        for end, side in ((line[0], flight["a"]), (line[-1], flight["b"])):
            if home.shapes[side].distance(Point(end[0], end[2])) > THICKEST_WALL:
                home.fault("stairs", f"{name} do not begin or end at {side}")
        blocks = [*flight["treads"], *flight["landings"]]
        tops = sorted({round(b["center"][1] + b["size"][1] / 2, 3) for b in blocks})
        kind = next(
            x["kind"] for x in home.data["links"] if [x["a"], x["b"]] == [flight["a"], flight["b"]]
        )
        if kind == "stairs":
            rises = [b - a for a, b in pairwise([low, *tops, high])]
            if not tops or max(rises) > 0.22:
                home.fault("stairs", f"{name} have a rise of {max(rises):.3f} m")
        feet = [footprint(b["center"], b["size"], b["yaw"]) for b in blocks]
        for a, b in combinations(feet, 2):
            if a.buffer(-2 * MM).intersects(b.buffer(-2 * MM)):
                home.fault("stairs", f"{name}: treads overlap")
                break
        if feet:
            whole = unary_union(feet).buffer(-2 * MM)
            for item, foot in zip(home.items, home.feet, strict=True):
                if item["region"] == flight["a"] and foot.intersects(whole):
                    home.fault("stairs", f"{name}: {item['name']} {item['id']} on the treads")


def links_reach_all(home: Home) -> None:
    graph = nx.Graph([(x["a"], x["b"]) for x in home.data["links"] if x["door"] != "locked"])
    graph.add_nodes_from(home.regions)
    if not nx.is_connected(graph):
        home.fault(
            "region not reachable", f"{nx.number_connected_components(graph)} parts by links"
        )


def stepped(home: Home) -> dict[str, Any]:
    """Return for each region the shape that a person cannot walk through."""
    blocks: dict[str, list[Polygon]] = defaultdict(list)
    for item, foot in zip(home.items, home.feet, strict=True):
        low, high = span(item)
        floor = home.height[item["region"]]
        if high > floor + FLAT and low < floor + HEAD:
            blocks[item["region"]].append(foot)
    return {name: unary_union(shapes) for name, shapes in blocks.items()}


def viewpoints(home: Home) -> None:
    blocks = stepped(home)
    lines = {f["a"]: LineString([(p[0], p[2]) for p in f["line"]]) for f in home.data["stairs"]}
    treads = {
        f["a"]: unary_union(
            [footprint(b["center"], b["size"], b["yaw"]) for b in f["treads"]]
        ).buffer(-MM)
        for f in home.data["stairs"]
        if f["treads"]
    }
    counted: Counter[str] = Counter()
    for v in home.data["viewpoints"]:
        region, at = v["region"], Point(v["position"][0], v["position"][2])
        counted[region] += 1
        level = abs(v["position"][1] - home.height[region]) < MM
        if not level and (region not in lines or lines[region].distance(at) > 0.01):
            home.fault("viewpoint", f"{v['id']} is in the air")
        if level and region in treads and treads[region].contains(at):
            home.fault("viewpoint", f"{v['id']} is in a tread")
        if home.shapes[region].distance(at) > MM:
            home.fault("viewpoint", f"{v['id']} is not in {region}")
        if region in blocks and blocks[region].distance(at) < BODY - 3 * MM:
            home.fault("viewpoint", f"{v['id']} is too near to furniture")
    for region in home.regions:
        if not counted[region]:
            home.fault("region without a viewpoint", region)


def edges(home: Home) -> None:
    """Check that edges are on free floor, through doorways or on stairs, and form one graph."""
    at = {v["id"]: v for v in home.data["viewpoints"]}
    graph = nx.Graph([(e["a"], e["b"]) for e in home.data["edges"]])
    graph.add_nodes_from(at)
    if not nx.is_connected(graph):
        home.fault("not reachable on foot", f"{nx.number_connected_components(graph)} parts")
    for region in home.regions:
        mine = graph.subgraph(v for v in at if at[v]["region"] == region)
        if len(mine) and not nx.is_connected(mine):
            home.fault("not reachable on foot", f"{region} falls apart")
    blocks = stepped(home)
    climbs = [
        (f["a"], f["b"], LineString([(p[0], p[2]) for p in f["line"]])) for f in home.data["stairs"]
    ]
    gaps: dict[frozenset[str], list[Polygon]] = defaultdict(list)
    for link in ways(home):
        gap = LineString(link["jambs"])
        gaps[frozenset((link["a"], link["b"]))].append(
            gap.buffer(THICKEST_WALL / 2, cap_style="flat")
        )
    floor: dict[frozenset[str], Any] = {}
    for e in home.data["edges"]:
        a, b = at[e["a"]], at[e["b"]]
        line = LineString([(v["position"][0], v["position"][2]) for v in (a, b)])
        pair = frozenset((a["region"], b["region"]))
        climb = next(
            (c for x, y, c in climbs if {x, y} >= pair and c.buffer(1.0).covers(line)), None
        )
        flat = all(abs(v["position"][1] - home.height[v["region"]]) < MM for v in (a, b))
        if climb is not None and (not flat or len(pair) == 2) and pair not in gaps:
            continue
        if not flat and climb is not None:
            continue
        if not flat:
            home.fault("edge", f"{e['a']} - {e['b']} leaves the stairs")
        if pair not in floor:
            floor[pair] = unary_union(
                [*(home.shapes[r] for r in sorted(pair)), *gaps[pair]]
            ).buffer(MM)
            shapely.prepare(floor[pair])
        if not floor[pair].covers(line):
            home.fault("edge", f"{e['a']} - {e['b']} goes through a wall")
        for region in sorted(pair):
            if region in blocks and blocks[region].distance(line) < BODY - 3 * MM:
                home.fault("edge", f"{e['a']} - {e['b']} goes through furniture of {region}")


def relations(home: Home) -> None:
    """Check that an item on another stands on its footprint, not below its underside."""
    index = {item["id"]: i for i, item in enumerate(home.items)}
    for item, foot in zip(home.items, home.feet, strict=True):
        if item["on"] is None:
            continue
        below = index[item["on"]]
        (low, _), (bottom, top) = span(item), span(home.items[below])
        if not home.feet[below].buffer(0.005).covers(foot.centroid):
            home.fault("on", f"{item['name']} {item['id']} is beside what it is on")
        if not bottom < low <= top + 2 * MM:
            home.fault("on", f"{item['name']} {item['id']} is not on its surface")


def counts(homes: list[Home]) -> Counter[str]:
    """Count the features of the homes that the checks of a whole set need."""
    found: Counter[str] = Counter()
    for home in homes:
        graph = nx.Graph([(x["a"], x["b"]) for x in home.data["links"]])
        found["looped"] += len(graph.edges) >= len(graph)
        found["crooked"] += any(not rectangle(home, storey["id"]) for storey in home.data["floors"])
        found["bodies differ"] += len({travelled(home, body) for body in BODIES}) > 1
        found[f"storeys: {len(home.data['floors'])}"] += 1
        for link in home.data["links"]:
            found[link["leaf"] or link["kind"]] += 1
            found["closed"] += link["door"] == "closed"
            found["with a sill"] += bool(link["threshold"])
            found["with a single step"] += bool(link["jambs"] and link["step"])
            if link["jambs"]:
                found["widths"] += 1
                near = min(abs(link["width"] - body[0]) for body in BODIES.values())
                found["widths near a body"] += near <= 0.05 + 1e-9
    return found


def travelled(home: Home, body: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of rooms between which a body can travel, according to the links."""
    width, height, step, climbs, lifts, opens = BODIES[body]
    graph = nx.Graph()
    graph.add_nodes_from(home.regions)
    for link in home.data["links"]:
        kind = link["kind"]
        allowed = {"stairs": climbs, "elevator": lifts}.get(kind, True)
        allowed &= link["door"] is None or link["door"] == "open" or opens
        allowed &= link["door"] != "locked" and link["width"] >= width - 1e-9
        allowed &= link["height"] is None or link["height"] >= height
        allowed &= (link["threshold"] or 0) <= step + 1e-9
        allowed &= kind in ("stairs", "elevator", "ramp") or abs(link["step"] or 0) <= step + 1e-9
        if allowed:
            graph.add_edge(link["a"], link["b"])
    parts = [sorted(part) for part in nx.connected_components(graph)]
    return frozenset(pair for part in parts for pair in combinations(part, 2))


def figures(homes: list[Home]) -> list[tuple[str, str]]:
    """Return statistics of the homes, as rows of a table."""
    found, number = counts(homes), len(homes)
    rooms_ = sorted(len(home.regions) for home in homes)
    widths = [link["width"] for home in homes for link in ways(home)]
    kinds = (
        "opening", "hinged", "sliding", "folding", "closed", "with a sill", "with a single step",
        "stairs", "elevator", "ramp",
    )  # fmt: skip
    pairs = {
        body: sum(len(travelled(home, body)) for home in homes)
        / sum(n * (n - 1) / 2 for n in rooms_)
        for body in BODIES
    }
    return [
        ("homes", f"{number:,}"),
        ("regions", f"{rooms_[0]} to {rooms_[-1]}, median {rooms_[number // 2]}"),
        ("storeys", ", ".join(f"{n}: {found[f'storeys: {n}']}" for n in (1, 2, 3))),
        ("items a home", f"{sum(len(home.items) for home in homes) / number:.0f}"),
        ("viewpoints a home", f"{sum(len(h.data['viewpoints']) for h in homes) / number:.0f}"),
        ("footprint no rectangle", f"{found['crooked'] / number:.1%} (at least 30 %)"),
        ("a loop of rooms", f"{found['looped'] / number:.1%} (at least 20 %)"),
        ("ways between rooms", ", ".join(f"{kind} {found[kind]:,}" for kind in kinds)),
        ("widths", f"{min(widths):.2f} to {max(widths):.2f} m"),
        (
            "within 5 cm of a body's",
            f"{found['widths near a body'] / found['widths']:.1%} (at least 10 %)",
        ),
        ("two bodies that differ", f"{found['bodies differ'] / number:.1%}"),
        ("pairs a body travels", ", ".join(f"{body} {share:.0%}" for body, share in pairs.items())),
    ]


def rectangle(home: Home, storey: int) -> bool:
    """Check that a storey's rooms and the walls between them fill their bounding box."""
    shapes = [s for name, s in home.shapes.items() if home.floor_of[name] == storey]
    whole = unary_union([s.buffer(0.3, join_style="mitre") for s in shapes])
    return bool(whole.area > 0.985 * shapely.box(*whole.bounds).area)


def main(folder: str) -> int:
    homes = [Home(json.loads(p.read_text("utf-8"))) for p in sorted(Path(folder).glob("*.json"))]
    if not homes:
        sys.exit(f"{folder} holds no scene.json: write some with `navloom scenes export`.")
    faults: dict[str, list[str]] = defaultdict(list)
    for home in homes:
        for kind, what in home.check():
            faults[kind].append(f"{home.name}: {what}")
    for name, value in figures(homes):
        print(f"{name:26} {value}")
    print(f"{'faults':26} {sum(len(each) for each in faults.values())}")
    for kind, each in sorted(faults.items()):
        places = len({line.split(": ")[0] for line in each})
        print(f"  {kind:24} {len(each)} in {places} homes, such as {each[0]}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
