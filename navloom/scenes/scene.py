"""The scene model: floors, regions, links, items, viewpoints, walls and stairs, frozen.

Frame: right-handed, y up, metres, radians; heading 0 looks along -z and grows clockwise seen from
above. A format converts at its own border. Ids are stable: the same file gives the same ids. A
field that a format does not know stays None or empty: nothing guesses.

Two graphs live in a scene. ``region_graph()`` is H: regions and links, in hops.
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
"""Metres: no home is larger, and beyond it floats run out of decimals, then out of range."""
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
"""``RegionType_ID``: goes into prompts and sentences as it is, so it can hold no sentence."""
SceneId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
"""Certain to name a file in the folder it is put in."""

ItemKind = Literal["asset", "object", "structure"]
LinkKind = Literal["opening", "door", "stairs", "elevator", "ramp"]
Leaf = Literal["hinged", "sliding", "folding"]
DoorState = Literal["open", "ajar", "closed", "locked"]
"""Ajar is open by a hand's breadth: a body that cannot open doors does not get through."""
RelationKind = Literal["on", "in", "next_to", "in_front_of", "facing", "above", "below"]

UNKNOWN = "Unknown"
"""The label of a region whose type nobody has said."""


def region_id(label: str, number: int | str) -> str:
    """Name a region as models read and write it: ``RegionType_ID``.

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
    """Write an item's name as models read and write it: lower case, one underscore between words.

    The result holds only letters, digits and underscores, so a label in an untrusted scene file
    can carry no instruction, path or markup into a prompt.

    >>> prompt_name("Hot water/cold water knob")
    'hot_water_cold_water_knob'
    """
    return re.sub(r"[^0-9a-z]+", "_", name.casefold()).strip("_")[:80].strip("_") or "item"


def distance_2d(a: Point3, b: Point3) -> float:
    """Euclidean distance on the ground plane in metres (the edge weight of CoNavBench 3.1.3)."""
    return math.hypot(a[0] - b[0], a[2] - b[2])


def distance_3d(a: Point3, b: Point3) -> float:
    """Euclidean distance in metres (the edge weight of R2R's evaluation)."""
    return math.dist(a, b)


class Frozen(BaseModel):
    """Never changes; an unknown field is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Floor(Frozen):
    """One storey."""

    id: int = Field(ge=1, le=99)
    """1 is the lowest."""
    height: Finite
    """y of the storey's floor, in metres."""


class Box(Frozen):
    """A box turned about the vertical axis."""

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
        """Cubic metres."""
        return self.size[0] * self.size[1] * self.size[2]

    def _local(self, x: float, z: float) -> tuple[float, float]:
        dx, dz = x - self.center[0], z - self.center[2]
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return dx * cos + dz * sin, -dx * sin + dz * cos

    def contains(self, point: Point3) -> bool:
        """Whether the point lies in the box or on its skin."""
        u, w = self._local(point[0], point[2])
        return (
            abs(u) <= self.size[0] / 2
            and abs(w) <= self.size[2] / 2
            and self.bottom <= point[1] <= self.top
        )

    def distance(self, point: Point3) -> float:
        """Metres from the point to the box, 0 inside."""
        u, w = self._local(point[0], point[2])
        du = max(0.0, abs(u) - self.size[0] / 2)
        dw = max(0.0, abs(w) - self.size[2] / 2)
        dy = max(0.0, self.bottom - point[1], point[1] - self.top)
        return math.sqrt(du * du + dw * dw + dy * dy)

    def corners(self) -> tuple[Point2, Point2, Point2, Point2]:
        """The four corners of the footprint as (x, z), in order around it."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        half_u, half_w = self.size[0] / 2, self.size[2] / 2

        def turn(u: float, w: float) -> Point2:
            return self.center[0] + u * cos - w * sin, self.center[2] + u * sin + w * cos

        return (
            turn(-half_u, -half_w),
            turn(half_u, -half_w),
            turn(half_u, half_w),
            turn(-half_u, half_w),
        )


class Region(Frozen):
    """A room."""

    id: RegionId
    """``RegionType_ID``; see :func:`region_id`."""
    label: Name = UNKNOWN
    """The type in the source's own words; ``Unknown`` where nobody said."""
    floor: int = Field(default=1, ge=1, le=99)
    center: Point3
    """Where the region is, at floor height where that is known."""
    box: Box | None = None
    polygon: tuple[Point2, ...] | None = Field(default=None, min_length=3)
    """The footprint on the ground plane, where it is known better than as a box."""
    description: str | None = Field(default=None, max_length=4000)

    @property
    def number(self) -> str:
        """The ``ID`` of ``RegionType_ID``."""
        return self.id.rsplit("_", 1)[-1]

    @property
    def outline(self) -> tuple[Point2, ...] | None:
        """The footprint: the polygon, else the box's corners, else nothing."""
        if self.polygon is not None:
            return self.polygon
        return self.box.corners() if self.box is not None else None


class Link(Frozen):
    """Two regions one can walk between, in both directions."""

    a: Name
    b: Name
    kind: LinkKind = "opening"
    point: Point3 | None = None
    """Where one crosses."""
    width: float | None = Field(default=None, gt=0, le=FARTHEST, allow_inf_nan=False)
    """Clear width in metres."""
    step: Finite | None = None
    """Rise from a to b in metres."""
    door: DoorState | None = None
    """The state of the door, where there is one and it is known."""
    leaf: Leaf | None = None
    """How the door moves."""
    height: Extent | None = None
    """Clear height in metres."""
    threshold: Extent | None = None
    """How high the sill is that lies across it, from either side, in metres."""
    jambs: tuple[Point2, Point2] | None = None
    """The two ends of the way through, on the middle line of the wall."""
    swing: tuple[Point2, ...] | None = Field(default=None, min_length=3)
    """The floor that a hinged leaf sweeps; its first corner is the hinge."""


class Item(Frozen):
    """A thing in a place: an asset (fixed furniture), an object (portable), or structure."""

    id: Name
    name: Name
    """The source's own words, for example ``"coffee table"``."""
    kind: ItemKind
    region: str | None = None
    """The id of the region it is in, where it is in one."""
    position: Point3
    """Its centre."""
    size: Extents | None = None
    """Full extents (own x, up, own z) in metres, where they are known."""
    yaw: Finite = 0.0
    """Turn about y in radians, clockwise seen from above."""
    height_known: bool = True
    """False where ``position`` is right on the ground plane alone."""
    on: str | None = None
    """The id of the item it stands on."""
    shape: Name | None = None
    """What body it has, for those who build one: ``bed``, ``chair``, ``box``, ``cylinder``."""
    colour: Name | None = None
    material: Name | None = None
    states: tuple[Name, ...] = Field(default=(), max_length=20)
    """Such as ``open``, ``on``, ``made``."""
    mass: float | None = Field(default=None, gt=0, le=FARTHEST, allow_inf_nan=False)
    """Kilograms."""

    @property
    def prompt_name(self) -> str:
        """The name as models read and write it; see :func:`prompt_name`."""
        return prompt_name(self.name)


class Viewpoint(Frozen):
    """A place an agent can stand: a node of the navigation graph G."""

    id: Name
    position: Point3
    """Where the floor is under it, or the camera, as ``eye_height`` says."""
    region: str | None = None
    inferred: bool = False
    """True where the region was taken from a neighbour, not given."""
    eye_height: float = Field(default=0.0, ge=0, le=FARTHEST, allow_inf_nan=False)
    """How far ``position`` is above the floor, in metres."""

    @property
    def ground(self) -> Point3:
        """The floor under it."""
        x, y, z = self.position
        return x, y - self.eye_height, z


class Edge(Frozen):
    """Two viewpoints one can walk between in a straight line, in both directions."""

    a: Name
    b: Name


class Relation(Frozen):
    """How one thing stands to another, as VLNVerse 3.2 has it: ``a`` is ``kind`` ``b``.

    That a thing stands on another is its own ``on``, and is not repeated here.
    """

    a: Name
    kind: RelationKind
    b: Name


class Opening(Frozen):
    """A hole in an outer wall: a window, or a door that leads out of the scene."""

    kind: Literal["window", "door"]
    region: str
    jambs: tuple[Point2, Point2]
    """Its two ends, on the middle line of the wall."""
    bottom: Finite
    """y of the sill."""
    height: float = Field(gt=0, le=FARTHEST, allow_inf_nan=False)
    leaf: Leaf | None = None
    swing: tuple[Point2, ...] | None = Field(default=None, min_length=3)
    """As a link's; inside the home alone."""


class Stairs(Frozen):
    """What the link of stairs, a ramp or an elevator from region ``a`` up to ``b`` is built of."""

    a: Name
    b: Name
    treads: tuple[Box, ...] = Field(max_length=500)
    """From the lowest up; one steps on their tops."""
    landings: tuple[Box, ...] = Field(default=(), max_length=100)
    line: tuple[Point3, ...] = Field(min_length=2, max_length=500)
    """The middle of the way up, from the floor of ``a`` to the floor of ``b``."""


class Wall(Frozen):
    """A straight wall, as true geometry for renderers and collision."""

    a: Point2
    b: Point2
    bottom: Finite
    height: float = Field(gt=0, le=FARTHEST, allow_inf_nan=False)
    thickness: float = Field(default=0.1, gt=0, le=FARTHEST, allow_inf_nan=False)


class Scene(Frozen):
    """A place: floors, regions, links, items, viewpoints and edges. Nothing in it ever changes.

    Raises:
        pydantic.ValidationError: where ids repeat or something names an id that is not there.
    """

    version: Literal["navloom.scene/1"] = "navloom.scene/1"
    id: SceneId
    source: str = Field(default="scene", pattern=r"^[a-z][a-z0-9_-]{0,39}$")
    """The format it came from: ``hm3d``, ``mp3d``, ``demo``, ..."""
    # The distance tables grow with the square of regions and of viewpoints; the largest of 98 real
    # and demo scenes have 71 and 348.
    floors: tuple[Floor, ...] = Field(min_length=1, max_length=99)
    regions: tuple[Region, ...] = Field(max_length=1_000)
    """None where nobody says which rooms there are: the place is its viewpoints alone."""
    links: tuple[Link, ...] = Field(default=(), max_length=20_000)
    items: tuple[Item, ...] = Field(default=(), max_length=100_000)
    viewpoints: tuple[Viewpoint, ...] = Field(default=(), max_length=10_000)
    edges: tuple[Edge, ...] = Field(default=(), max_length=500_000)
    walls: tuple[Wall, ...] = Field(default=(), max_length=100_000)
    openings: tuple[Opening, ...] = Field(default=(), max_length=20_000)
    """Windows, and doors that lead out."""
    stairs: tuple[Stairs, ...] = Field(default=(), max_length=1_000)
    relations: tuple[Relation, ...] = Field(default=(), max_length=500_000)
    """All but ``on``, which an item says itself."""
    notes: tuple[str, ...] = ()
    """What a reader must know: what was approximated, inferred or left out by the loader."""

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
        """Regions by whole id."""
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
        """Each region's viewpoints, in the scene's order; a region without any has ``()``."""
        groups: dict[str, list[Viewpoint]] = {region.id: [] for region in self.regions}
        for viewpoint in self.viewpoints:
            if viewpoint.region is not None:
                groups[viewpoint.region].append(viewpoint)
        return {region: tuple(members) for region, members in groups.items()}

    def floor_of(self, viewpoint: Viewpoint) -> int:
        """The floor a viewpoint stands on: its region's, else the nearest one not far above it."""
        if viewpoint.region is not None:
            return self.region_by_id[viewpoint.region].floor
        foot = viewpoint.ground[1]
        return min(self.floors, key=lambda floor: (abs(floor.height - foot), floor.id)).id

    def items_in(self, region: str, kind: ItemKind | None = None) -> tuple[Item, ...]:
        """The items of one region, in the scene's order.

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
        """H: one node a region; edges carry ``metres``, centre to crossing to centre (3-D)."""
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
        """G: one node a viewpoint; edges carry ``metres_2d`` and ``metres_3d``."""
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(viewpoint.id for viewpoint in self.viewpoints)
        at = {viewpoint.id: viewpoint.position for viewpoint in self.viewpoints}
        for edge in self.edges:
            a, b = at[edge.a], at[edge.b]
            graph.add_edge(edge.a, edge.b, metres_2d=distance_2d(a, b), metres_3d=distance_3d(a, b))
        return graph

    @property
    def uri(self) -> str:
        """The scene's portable name, free of any folder: ``hm3d:00006-HkseAnWCgqk``."""
        return f"{self.source}:{self.id}"

    @property
    def origin(self) -> str:
        """The URI it was loaded by, folder and all; its `uri` where it was made in Python.

        What belongs to a scene and lies beside its file (captions, annotations) is found by it. It
        is neither compared nor written, and a file cannot set it.
        """
        return str(self.__dict__.get("_origin", self.uri))

    def loaded_by(self, uri: str) -> Self:
        """The scene itself, with its `origin` noted; for whoever loads it."""
        # A frozen model still has a __dict__, as cached_property uses it; pydantic compares and
        # writes fields alone.
        self.__dict__["_origin"] = uri
        return self

    def replace(self, **changes: Any) -> Scene:
        """A new scene, validated, with some fields changed and nothing derived carried over."""
        fields = {name: getattr(self, name) for name in Scene.model_fields}
        changed = Scene(**{**fields, **changes})
        return changed.loaded_by(self.origin) if "_origin" in self.__dict__ else changed


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
