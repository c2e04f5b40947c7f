"""Scene model: floors, regions, links, items, viewpoints, walls and stairs, all immutable.

Frame: right-handed, y up, metres, radians; heading 0 looks along -z and grows clockwise seen from
above. Each format converts to this frame when it loads. Ids are stable: the same file gives the
same ids. Fields that a format does not know stay None or empty; nothing is guessed.

A scene has two graphs. ``region_graph()`` is H: regions and links, in hops.
``navigation_graph()`` is G: viewpoints and walkable edges, in metres (CoNavBench 3.1.1). The
all-pairs tables over both are in :mod:`navloom.scenes.distances`.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import networkx as nx
from pydantic import BaseModel, ConfigDict, Field, model_validator

FARTHEST = 10_000.0
"""Largest coordinate in metres: no home is larger, and larger floats lose precision."""
Finite = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST, allow_inf_nan=False)]
Point3 = tuple[Finite, Finite, Finite]
"""(x, y, z) in metres, y up."""
Point2 = tuple[Finite, Finite]
"""(x, z) in metres on the ground plane."""
Extent = Annotated[float, Field(ge=0, le=FARTHEST, allow_inf_nan=False)]
Extents = tuple[Extent, Extent, Extent]
"""Full sizes along a body's own x, up, and own z, in metres."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
RegionId = Annotated[
    str, Field(max_length=200, pattern=r"^[A-Z0-9][0-9A-Za-z]*(_[0-9A-Za-z]+)*_[0-9A-Za-z]+$")
]
"""``RegionType_ID``. It goes into prompts verbatim, so its pattern excludes sentences."""
SceneId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
"""Safe as a file name: it cannot lead out of its folder."""

ItemKind = Literal["asset", "object", "structure"]
LinkKind = Literal["opening", "door", "stairs", "elevator", "ramp"]
Leaf = Literal["hinged", "sliding", "folding"]
DoorState = Literal["open", "ajar", "closed", "locked"]
"""``ajar`` is open by a hand's breadth: a body that cannot open doors does not pass."""
RelationKind = Literal["on", "in", "next_to", "in_front_of", "facing", "above", "below"]

UNKNOWN = "Unknown"
"""Label of a region of unknown type."""


def region_id(label: str, number: int | str) -> str:
    """Return a region's id as models read and write it: ``RegionType_ID``.

    Args:
        label: the region's type in its source's words, for example ``"kitchen/living room"``.
        number: the region's stable number within its scene.

    Returns:
        The label with everything but letters and digits as underscores and its first letter
        capital, then the number: ``"Kitchen_living_room_5"``.
    """
    words = re.sub(r"[^0-9A-Za-z]+", "_", label)[:80].strip("_") or UNKNOWN
    return f"{words[0].upper()}{words[1:]}_{number}"


def prompt_name(name: str) -> str:
    """Return an item's name as models read and write it: lower case, words joined by underscores.

    The result holds only letters, digits and underscores. A label in an untrusted scene file thus
    carries no instruction, path or markup into a prompt.

    >>> prompt_name("Hot water/cold water knob")
    'hot_water_cold_water_knob'
    """
    return re.sub(r"[^0-9a-z]+", "_", name.casefold()).strip("_")[:80].strip("_") or "item"


def distance_2d(a: Point3, b: Point3) -> float:
    """Return the distance on the ground plane in metres (CoNavBench 3.1.3's edge weight)."""
    return math.hypot(a[0] - b[0], a[2] - b[2])


def distance_3d(a: Point3, b: Point3) -> float:
    """Return the Euclidean distance in metres (the edge weight of R2R's evaluation)."""
    return math.dist(a, b)


class FrozenModel(BaseModel):
    """Base of immutable models that refuse unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Floor(FrozenModel):
    """Storey."""

    id: int = Field(ge=1, le=99)
    """1 is the lowest."""
    height: Finite
    """y of the storey's floor, in metres."""


class Box(FrozenModel):
    """Box turned about the vertical axis."""

    center: Point3
    size: Extents
    """Full extents (along the box's own x, up, along its own z) in metres."""
    yaw: Finite = 0.0
    """Turn about y in radians, clockwise seen from above."""

    @property
    def bottom(self) -> float:
        """Height (y) of the underside."""
        return self.center[1] - self.size[1] / 2

    @property
    def top(self) -> float:
        """Height (y) of the upper side."""
        return self.center[1] + self.size[1] / 2

    @property
    def volume(self) -> float:
        """Volume in cubic metres."""
        return self.size[0] * self.size[1] * self.size[2]

    def _local(self, x: float, z: float) -> tuple[float, float]:
        dx, dz = x - self.center[0], z - self.center[2]
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return dx * cos + dz * sin, -dx * sin + dz * cos

    def contains(self, point: Point3) -> bool:
        """Check whether a point lies in the box or on its surface."""
        u, w = self._local(point[0], point[2])
        return (
            abs(u) <= self.size[0] / 2
            and abs(w) <= self.size[2] / 2
            and self.bottom <= point[1] <= self.top
        )

    def distance(self, point: Point3) -> float:
        """Return metres from a point to the box, 0 inside."""
        u, w = self._local(point[0], point[2])
        du = max(0.0, abs(u) - self.size[0] / 2)
        dw = max(0.0, abs(w) - self.size[2] / 2)
        dy = max(0.0, self.bottom - point[1], point[1] - self.top)
        return math.sqrt(du * du + dw * dw + dy * dy)

    def corners(self) -> tuple[Point2, Point2, Point2, Point2]:
        """Return the four corners of the footprint as (x, z), in order around it."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        du, dw = self.size[0] / 2, self.size[2] / 2

        def turn(u: float, w: float) -> Point2:
            return self.center[0] + u * cos - w * sin, self.center[2] + u * sin + w * cos

        return (turn(-du, -dw), turn(du, -dw), turn(du, dw), turn(-du, dw))


class Region(FrozenModel):
    """Room or other region."""

    id: RegionId
    """``RegionType_ID``; see :func:`region_id`."""
    label: Name = UNKNOWN
    """The type in the source's own words, or ``Unknown``."""
    floor: int = Field(default=1, ge=1, le=99)
    center: Point3
    """Centre of the region, at floor height if that is known."""
    box: Box | None = None
    polygon: tuple[Point2, ...] | None = Field(default=None, min_length=3)
    """Footprint on the ground plane, if it is known better than as a box."""
    description: str | None = Field(default=None, max_length=4000)

    @property
    def number(self) -> str:
        """Number part ``ID`` of ``RegionType_ID``."""
        return self.id.rsplit("_", 1)[-1]

    @property
    def outline(self) -> tuple[Point2, ...] | None:
        """Footprint: the polygon, else the box's corners, else None."""
        if self.polygon is not None:
            return self.polygon
        return self.box.corners() if self.box is not None else None


class Link(FrozenModel):
    """Connection between two regions, walkable in both directions."""

    a: Name
    b: Name
    kind: LinkKind = "opening"
    point: Point3 | None = None
    """Crossing point."""
    width: float | None = Field(default=None, gt=0, le=FARTHEST, allow_inf_nan=False)
    """Clear width in metres."""
    step: Finite | None = None
    """Rise from a to b in metres."""
    door: DoorState | None = None
    """State of the door, if there is one and it is known."""
    leaf: Leaf | None = None
    """Kind of door leaf."""
    height: Extent | None = None
    """Clear height in metres."""
    threshold: Extent | None = None
    """Height of the sill across it, from either side, in metres."""
    jambs: tuple[Point2, Point2] | None = None
    """Two ends of the opening, on the centre line of the wall."""
    swing: tuple[Point2, ...] | None = Field(default=None, min_length=3)
    """Floor area that a hinged leaf sweeps; its first corner is the hinge."""


class Item(FrozenModel):
    """Item: an asset (fixed furniture), an object (portable), or structure."""

    id: Name
    name: Name
    """The source's own words, for example ``"coffee table"``."""
    kind: ItemKind
    region: str | None = None
    """Id of its region, if it is in one."""
    position: Point3
    """Its centre."""
    size: Extents | None = None
    """Full extents (own x, up, own z) in metres, if known."""
    yaw: Finite = 0.0
    """Turn about y in radians, clockwise seen from above."""
    height_known: bool = True
    """False if ``position`` is valid only on the ground plane."""
    on: str | None = None
    """Id of the item that supports it."""
    shape: Name | None = None
    """Shape for mesh builders: ``bed``, ``chair``, ``box``, ``cylinder``."""
    colour: Name | None = None
    material: Name | None = None
    states: tuple[Name, ...] = Field(default=(), max_length=20)
    """States such as ``open``, ``on``, ``made``."""
    mass: float | None = Field(default=None, gt=0, le=FARTHEST, allow_inf_nan=False)
    """Mass in kilograms."""

    @property
    def prompt_name(self) -> str:
        """Name as models read and write it; see :func:`prompt_name`."""
        return prompt_name(self.name)


class Viewpoint(FrozenModel):
    """Position where an agent can stand: a node of the navigation graph G."""

    id: Name
    position: Point3
    """The floor point (``eye_height`` 0) or the camera ``eye_height`` above it."""
    region: str | None = None
    inferred: bool = False
    """True if the region was inferred from a neighbour, not given."""
    eye_height: float = Field(default=0.0, ge=0, le=FARTHEST, allow_inf_nan=False)
    """Height of ``position`` above the floor, in metres."""

    @property
    def ground(self) -> Point3:
        """Point on the floor under the viewpoint."""
        x, y, z = self.position
        return x, y - self.eye_height, z


class Edge(FrozenModel):
    """Two viewpoints with a straight walkable path between them, in both directions."""

    a: Name
    b: Name


class Relation(FrozenModel):
    """Spatial relation of two items (VLNVerse 3.2): ``a`` is ``kind`` ``b``.

    An item's support is its own field ``on`` and is not repeated here.
    """

    a: Name
    kind: RelationKind
    b: Name


class Opening(FrozenModel):
    """Opening in an outer wall: a window, or a door that leads out of the scene."""

    kind: Literal["window", "door"]
    region: str
    jambs: tuple[Point2, Point2]
    """Its two ends, on the centre line of the wall."""
    bottom: Finite
    """y of the sill."""
    height: float = Field(gt=0, le=FARTHEST, allow_inf_nan=False)
    leaf: Leaf | None = None
    swing: tuple[Point2, ...] | None = Field(default=None, min_length=3)
    """As a link's; only the part inside the home."""


class Stairs(FrozenModel):
    """Geometry of a stairs, ramp or elevator link from region ``a`` up to ``b``."""

    a: Name
    b: Name
    treads: tuple[Box, ...] = Field(max_length=500)
    """From the lowest up; bodies step on their tops."""
    landings: tuple[Box, ...] = Field(default=(), max_length=100)
    line: tuple[Point3, ...] = Field(min_length=2, max_length=500)
    """Centre line of the ascent, from the floor of ``a`` to the floor of ``b``."""


class Wall(FrozenModel):
    """Straight wall, as true geometry for renderers and collision."""

    a: Point2
    b: Point2
    bottom: Finite
    height: float = Field(gt=0, le=FARTHEST, allow_inf_nan=False)
    thickness: float = Field(default=0.1, gt=0, le=FARTHEST, allow_inf_nan=False)


class Scene(FrozenModel):
    """Immutable scene: floors, regions, links, items, viewpoints and edges.

    Raises:
        pydantic.ValidationError: ids repeat, or a field refers to an id that does not exist.
    """

    version: Literal["navloom.scene/1"] = "navloom.scene/1"
    id: SceneId
    source: str = Field(default="scene", pattern=r"^[a-z][a-z0-9_-]{0,39}$")
    """The format it came from: ``hm3d``, ``mp3d``, ``demo``, ..."""
    # The distance tables grow with the square of regions and of viewpoints; the largest of 98 real
    # and demo scenes have 71 and 348.
    floors: tuple[Floor, ...] = Field(min_length=1, max_length=99)
    regions: tuple[Region, ...] = Field(max_length=1_000)
    """Empty if rooms are unknown: the scene then has viewpoints only."""
    links: tuple[Link, ...] = Field(default=(), max_length=20_000)
    items: tuple[Item, ...] = Field(default=(), max_length=100_000)
    viewpoints: tuple[Viewpoint, ...] = Field(default=(), max_length=10_000)
    edges: tuple[Edge, ...] = Field(default=(), max_length=500_000)
    walls: tuple[Wall, ...] = Field(default=(), max_length=100_000)
    openings: tuple[Opening, ...] = Field(default=(), max_length=20_000)
    """Windows, and doors that lead out."""
    stairs: tuple[Stairs, ...] = Field(default=(), max_length=1_000)
    relations: tuple[Relation, ...] = Field(default=(), max_length=500_000)
    """All relations but ``on``, which is a field of the item."""
    notes: tuple[str, ...] = ()
    """Remarks of the loader: what it approximated, inferred or left out."""

    @model_validator(mode="after")
    def _ids_hold_together(self) -> Self:
        if not (self.regions or self.viewpoints):
            raise ValueError("regions: expected at least 1, or viewpoints")
        floors = _unique("floor", [f.id for f in self.floors])
        regions = _unique("region", [r.id for r in self.regions])
        _unique("region number", [r.number for r in self.regions])
        viewpoints = _unique("viewpoint", [v.id for v in self.viewpoints])
        items = _unique("item", [i.id for i in self.items])
        for region in self.regions:
            _known("floor", region.floor, floors, f"region {region.id}")
        for link in self.links:
            for end in (link.a, link.b):
                _known("region", end, regions, f"link {link.a} <-> {link.b}")
            if link.a == link.b:
                raise ValueError(f"link {link.a} <-> {link.b} leads nowhere")
        for item in self.items:
            if item.region is not None:
                _known("region", item.region, regions, f"item {item.id}")
            if item.on is not None:
                _known("item", item.on, items, f"item {item.id} (on)")
        for viewpoint in self.viewpoints:
            if viewpoint.region is not None:
                _known("region", viewpoint.region, regions, f"viewpoint {viewpoint.id}")
        for opening in self.openings:
            _known("region", opening.region, regions, f"{opening.kind} of {opening.region}")
        for flight in self.stairs:
            for end in (flight.a, flight.b):
                _known("region", end, regions, f"stairs {flight.a} - {flight.b}")
        for relation in self.relations:
            for end in (relation.a, relation.b):
                _known("item", end, items, f"relation {relation.a} {relation.kind} {relation.b}")
        for edge in self.edges:
            for end in (edge.a, edge.b):
                _known("viewpoint", end, viewpoints, f"edge {edge.a} - {edge.b}")
        return self

    @cached_property
    def region_by_id(self) -> dict[str, Region]:
        """Regions by id."""
        return {region.id: region for region in self.regions}

    @cached_property
    def viewpoint_by_id(self) -> dict[str, Viewpoint]:
        """Viewpoints by id."""
        return {viewpoint.id: viewpoint for viewpoint in self.viewpoints}

    @cached_property
    def item_by_id(self) -> dict[str, Item]:
        """Items by id."""
        return {item.id: item for item in self.items}

    @cached_property
    def viewpoints_by_region(self) -> dict[str, tuple[Viewpoint, ...]]:
        """Viewpoints of each region, in the scene's order; ``()`` for a region without any."""
        groups: dict[str, list[Viewpoint]] = {region.id: [] for region in self.regions}
        for viewpoint in self.viewpoints:
            if viewpoint.region is not None:
                groups[viewpoint.region].append(viewpoint)
        return {region: tuple(members) for region, members in groups.items()}

    def floor_of(self, viewpoint: Viewpoint) -> int:
        """Return a viewpoint's floor id: its region's, else the floor nearest in height."""
        if viewpoint.region is not None:
            return self.region_by_id[viewpoint.region].floor
        foot = viewpoint.ground[1]
        return min(self.floors, key=lambda floor: (abs(floor.height - foot), floor.id)).id

    def items_in(self, region: str, kind: ItemKind | None = None) -> tuple[Item, ...]:
        """Return the items of one region, in the scene's order.

        Args:
            region: a whole region id.
            kind: keep only this kind.
        """
        members = self._items_by_region.get(region, ())
        return members if kind is None else tuple(i for i in members if i.kind == kind)

    @cached_property
    def _items_by_region(self) -> dict[str, tuple[Item, ...]]:
        groups: dict[str, list[Item]] = {}
        for item in self.items:
            if item.region is not None:
                groups.setdefault(item.region, []).append(item)
        return {region: tuple(members) for region, members in groups.items()}

    def region_graph(self) -> nx.Graph[str]:
        """Build H: a node a region; edges carry 3-D ``metres``, centre to crossing to centre."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(region.id for region in self.regions)
        for link in self.links:
            a, b = self.region_by_id[link.a].center, self.region_by_id[link.b].center
            through = a if link.point is None else link.point
            metres = distance_3d(a, through) + distance_3d(through, b)
            if not graph.has_edge(link.a, link.b) or metres < graph.edges[link.a, link.b]["metres"]:
                graph.add_edge(link.a, link.b, metres=metres)
        return graph

    def navigation_graph(self) -> nx.Graph[str]:
        """Build G: a node a viewpoint; edges carry ``metres_2d`` and ``metres_3d``."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(viewpoint.id for viewpoint in self.viewpoints)
        at = {viewpoint.id: viewpoint.position for viewpoint in self.viewpoints}
        for edge in self.edges:
            a, b = at[edge.a], at[edge.b]
            graph.add_edge(edge.a, edge.b, metres_2d=distance_2d(a, b), metres_3d=distance_3d(a, b))
        return graph

    @property
    def uri(self) -> str:
        """Portable name, free of any folder: ``hm3d:00006-HkseAnWCgqk``."""
        return f"{self.source}:{self.id}"

    @property
    def origin(self) -> str:
        """URI that the scene was loaded by, with its folder; else its `uri`.

        Files that belong to a scene (captions, annotations) are found by it. It is neither compared
        nor written, and a scene file cannot set it.
        """
        return str(self.__dict__.get("_origin", self.uri))

    def set_origin(self, uri: str) -> Self:
        """Record the `origin` URI on the scene and return the scene itself."""
        # A frozen model still has a __dict__, as cached_property uses it. Pydantic compares and
        # writes fields only.
        self.__dict__["_origin"] = uri
        return self

    def replace(self, **changes: Any) -> Scene:
        """Return a new validated scene with some fields changed; cached values are dropped."""
        fields = {name: getattr(self, name) for name in Scene.model_fields}
        changed = Scene(**{**fields, **changes})
        return changed.set_origin(self.origin) if "_origin" in self.__dict__ else changed


def _unique(what: str, ids: list[Any]) -> set[Any]:
    seen: set[Any] = set()
    for each in ids:
        if each in seen:
            raise ValueError(f"{what} id {each!r} stands twice")
        seen.add(each)
    return seen


def _known(what: str, name: Any, known: set[Any], where: str) -> None:
    if name not in known:
        raise ValueError(f"{where} names {what} {name!r}, which is not there")
