"""What a place is: one frozen model of a scene, whatever format it came from.

Frame: right-handed, y up, metres, radians; heading 0 looks along -z and grows clockwise seen from
above. A format converts at its own border. Ids are stable: the same file gives the same ids.

Two graphs live in a scene. ``region_graph()`` is H: regions and links, in hops.
``navigation_graph()`` is G: viewpoints and walkable edges, in metres (CoNavBench 3.1.1). The
all-pairs tables over both are in :mod:`navloom.scenes.distances`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, Self

import networkx as nx
from pydantic import Field, model_validator

from navloom.scenes.parts import (
    FARTHEST,
    UNKNOWN,
    Box,
    Edge,
    Extents,
    Finite,
    Floor,
    Frozen,
    Item,
    ItemKind,
    Leaf,
    Link,
    LinkKind,
    Name,
    Opening,
    Point2,
    Point3,
    Region,
    RegionId,
    Relation,
    RelationKind,
    SceneId,
    Stairs,
    Viewpoint,
    Wall,
    distance_2d,
    distance_3d,
    prompt_name,
    region_id,
)

__all__ = [
    "FARTHEST",
    "UNKNOWN",
    "Box",
    "Edge",
    "Extents",
    "Finite",
    "Floor",
    "Item",
    "ItemKind",
    "Leaf",
    "Link",
    "LinkKind",
    "Name",
    "Opening",
    "Point2",
    "Point3",
    "Region",
    "RegionId",
    "Relation",
    "RelationKind",
    "Scene",
    "SceneId",
    "Stairs",
    "Viewpoint",
    "Wall",
    "distance_2d",
    "distance_3d",
    "prompt_name",
    "region_id",
]


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
        foot = viewpoint.position[1] - viewpoint.eye_height
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
