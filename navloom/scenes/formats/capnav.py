"""Scenes of the CapNav benchmark: named nodes and the edges between them.

A folder holds ``graphs/ID-graph.json`` (nodes with name, description and position; edges) and,
beside it, ``traverse/`` and ``qa/``, which :mod:`navloom.scenes.formats.capnav_annotations` and
:mod:`navloom.evals.capnav.benchmark_data` read. A node becomes a region and one viewpoint, an edge
a link and an edge of the navigation graph. The file has no storeys, boxes or items. Positions are
an annotator's markers in the file's own axes, taken as y up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import SceneError
from navloom.scenes import safe_files
from navloom.scenes.lexicon import normalize_words
from navloom.scenes.scene import UNKNOWN, Edge, Floor, Link, Region, Scene, Viewpoint, region_id

_ENDING = "-graph.json"
_MOST_BYTES = 5_000_000
_FLOOR_GAP = 1.5
"""Height gap in metres between successive markers above which a new storey begins."""
NEAR = 0.78
"""Least similarity of a name to a node's name for a match (ratio of Ratcliff and Obershelp), as in
the benchmark's scorer."""
_MOST_TEXT = 300
_SPLIT = re.compile(r"^\s*([A-Za-z0-9_]{1,80})\s*(?:—|–|-|:)\s*(.{1,250})$")

_Coordinate = Annotated[float, Field(ge=-10_000, le=10_000, allow_inf_nan=False)]
_NodeId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,80}$")]


class _Position(BaseModel):
    model_config = ConfigDict(frozen=True)
    x: _Coordinate
    y: _Coordinate
    z: _Coordinate


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True)
    id: _NodeId
    name: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=4000)] = ""
    position: _Position


class _Edge(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)
    a: Annotated[_NodeId, Field(alias="from")]
    b: Annotated[_NodeId, Field(alias="to")]


class _Graph(BaseModel):
    model_config = ConfigDict(frozen=True)
    nodes: Annotated[list[_Node], Field(min_length=1, max_length=1_000)]
    edges: Annotated[list[_Edge], Field(max_length=20_000)]


_GRAPH = TypeAdapter(_Graph)


@dataclass(frozen=True, slots=True)
class ResolvedNode:
    """Node that a text refers to.

    Attributes:
        node: the node's id; None if the text names none.
        how: what matched: its id, its name, both (``node_3 — Kitchen``), or a similar name.
    """

    node: str | None
    how: Literal["id", "name", "id-name", "near"] | None


class NodeIndex:
    """Index of a benchmark scene's nodes by id, by name, and by approximate text."""

    def __init__(self, scene: Scene) -> None:
        self.ids = tuple(viewpoint.id for viewpoint in scene.viewpoints)
        """In the file's order."""
        region_of = {v.id: str(v.region) for v in scene.viewpoints}
        self._node = {region: node for node, region in region_of.items()}
        self._name = {n: scene.region_by_id[r].label for n, r in region_of.items()}
        self._description = {
            n: scene.region_by_id[r].description or "" for n, r in region_of.items()
        }
        self._by_id = {node.casefold(): node for node in self.ids}
        self._by_name: dict[str, list[str]] = {}
        for node in self.ids:
            if self._name[node] == UNKNOWN:
                continue
            self._by_name.setdefault(normalize_words(self._name[node]), []).append(node)

    def __contains__(self, node: object) -> bool:
        return node in self._name

    def name(self, node: str) -> str:
        """Return a node's name."""
        return self._name[node]

    def description(self, node: str) -> str:
        """Return a node's description, often empty."""
        return self._description[node]

    def resolve(self, text: object) -> ResolvedNode:
        """Find the node that a text refers to: an id, a name, ``id — name``, or a similar name.

        Args:
            text: from a file or a model; anything but a non-empty bounded string matches none.

        Returns:
            The match; empty if no name is similar enough, or two are equally similar.
        """
        if not isinstance(text, str) or not 0 < len(text) <= _MOST_TEXT:
            return ResolvedNode(None, None)
        if (node := self._by_id.get(text.strip().casefold())) is not None:
            return ResolvedNode(node, "id")
        if (node := self._only(normalize_words(text))) is not None:
            return ResolvedNode(node, "name")
        if (both := _SPLIT.match(text)) and (node := self._by_id.get(both[1].casefold())):
            return ResolvedNode(node, "id-name")
        scored = sorted(
            ((SequenceMatcher(None, normalize_words(text), n).ratio(), n) for n in self._by_name),
            reverse=True,
        )
        alike = bool(scored) and scored[0][0] >= NEAR
        if not alike or (len(scored) > 1 and scored[1][0] == scored[0][0]):
            return ResolvedNode(None, None)
        node = self._only(scored[0][1])
        return ResolvedNode(node, None if node is None else "near")

    def _only(self, plain: str) -> str | None:
        nodes = self._by_name.get(plain, [])
        return nodes[0] if len(nodes) == 1 else None


def list_ids(folder: Path) -> list[str]:
    """Return the sorted scene ids of a folder: those with a graph file."""
    return safe_files.list_file_ids(folder, _ENDING, "graphs")


def load(folder: Path, scene_id: str) -> Scene:
    """Load one scene.

    Args:
        folder: holds ``graphs/``, or the graph files themselves.
        scene_id: for example ``"HM3D00025"``.

    Returns:
        The scene. A viewpoint's id is the node's; a region is ``Name_NUMBER`` with the node's
        number, its label the node's name.

    Raises:
        SceneError: path, field and expectation if the file is missing or broken.
    """
    path = safe_files.find_file(
        folder, "graphs", f"{safe_files.check_scene_id(scene_id, what='capnav')}{_ENDING}"
    )
    graph = safe_files.read_json(path, _GRAPH, most=_MOST_BYTES)
    known = {node.id for node in graph.nodes}
    if len(known) != len(graph.nodes):
        raise SceneError(f"{path}: nodes: expected each id once, found one twice.")
    for i, edge in enumerate(graph.edges):
        for end in (edge.a, edge.b):
            if end not in known:
                raise SceneError(
                    f"{path}: edges[{i}]: expected a node's id, found {safe_files.repr_of(end)}."
                )
        if edge.a == edge.b:
            raise SceneError(
                f"{path}: edges[{i}]: expected two nodes, found {safe_files.repr_of(edge.a)} twice."
            )
    with safe_files.scene_errors(path):
        return _build(graph, scene_id)


def _build(graph: _Graph, scene_id: str) -> Scene:
    floor_of, floors = _storeys(graph.nodes)
    nameless = [n.id for n in graph.nodes if not n.name.strip()]
    at = {n.id: (n.position.x, n.position.y, n.position.z) for n in graph.nodes}
    region_of = {
        n.id: region_id(n.name or UNKNOWN, n.id.removeprefix("node_")) for n in graph.nodes
    }
    return Scene(
        id=scene_id,
        source="capnav",
        floors=floors,
        regions=tuple(
            Region(
                id=region_of[n.id],
                label=n.name.strip() or UNKNOWN,
                floor=floor_of[n.id],
                center=at[n.id],
                description=n.description.strip() or None,
            )
            for n in graph.nodes
        ),
        links=tuple(Link(a=region_of[e.a], b=region_of[e.b]) for e in graph.edges),
        viewpoints=tuple(
            Viewpoint(id=n.id, position=at[n.id], region=region_of[n.id]) for n in graph.nodes
        ),
        edges=tuple(Edge(a=e.a, b=e.b) for e in graph.edges),
        notes=(
            "Nodes are markers that an annotator put in rooms: distances between them are rough.",
            f"Storeys are told apart by gaps of {_FLOOR_GAP} m between the markers' heights.",
            *([f"Nodes without a name: {', '.join(nameless)}."] if nameless else []),
        ),
    )


def _storeys(nodes: list[_Node]) -> tuple[dict[str, int], tuple[Floor, ...]]:
    """Return each node's storey, and the storeys."""
    ordered = sorted(nodes, key=lambda node: node.position.y)
    floor_of: dict[str, int] = {}
    floors: list[Floor] = []
    below = float("-inf")
    for node in ordered:
        if node.position.y - below > _FLOOR_GAP and len(floors) < 99:
            floors.append(Floor(id=len(floors) + 1, height=node.position.y))
        below = node.position.y
        floor_of[node.id] = len(floors)
    return floor_of, tuple(floors)
