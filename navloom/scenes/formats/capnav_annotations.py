"""CapNav annotations: which passages of a benchmark scene human annotators found traversable.

The benchmark's ``traverse/ID-traverse.json`` holds, for each body, cells ``node_a|node_b`` with
``traversable`` and a note. ``startDetail:`` and ``endDetail:`` cells are about a question's places
within a node. The body HUMANOID of the profiles is ROBOT here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from navloom.errors import SceneError
from navloom.scenes.bodies import canonical_name
from navloom.scenes.safe_files import check_scene_id, find_file, read_json, repr_of
from navloom.scenes.scene import Scene
from navloom.scenes.traversability_table import Pair, PassageCell, Traversability

_ENDING = "-traverse.json"
_MOST_CELLS_BYTES = 20_000_000
_HALLUCINATED = "_hallucinatedQuestions"
_DETAILS = {"startDetail": "start", "endDetail": "end"}
_FILE = TypeAdapter(
    dict[str, dict[str, PassageCell] | list[Annotated[str, Field(max_length=4_000)]]]
)


def load_annotations(folder: Path, scene: Scene) -> Traversability:
    """Load the annotations of a benchmark scene.

    Args:
        folder: holds ``traverse/``, or the files themselves.
        scene: as :mod:`navloom.scenes.formats.capnav` loads it; nodes are its viewpoints.

    Raises:
        SceneError: the file is missing or broken, or refers to an unknown node.
    """
    path = find_file(folder, "traverse", f"{check_scene_id(scene.id, what='capnav')}{_ENDING}")
    data = read_json(path, _FILE, most=_MOST_CELLS_BYTES)
    nodes = tuple(viewpoint.id for viewpoint in scene.viewpoints)
    cells: dict[str, dict[Pair, PassageCell]] = {}
    details: dict[str, dict[tuple[str, str], PassageCell]] = {}
    hallucinated: tuple[str, ...] = ()
    for body, said in data.items():
        if isinstance(said, list):
            hallucinated += tuple(said) if body == _HALLUCINATED else ()
            continue
        key = canonical_name(body)
        cells[key], details[key] = _cells(said, set(nodes), f"{path}: {repr_of(body)}")
    if not cells:
        raise SceneError(f"{path}: expected cells for at least one body, found none.")
    return Traversability(
        nodes,
        tuple((edge.a, edge.b) for edge in scene.edges),
        {v.id: scene.region_by_id[str(v.region)].label for v in scene.viewpoints},
        cells,
        details,
        hallucinated,
    )


def _cells(
    said: Mapping[str, PassageCell], nodes: set[str], where: str
) -> tuple[dict[Pair, PassageCell], dict[tuple[str, str], PassageCell]]:
    cells: dict[Pair, PassageCell] = {}
    details: dict[tuple[str, str], PassageCell] = {}
    for key, cell in said.items():
        first, bar, second = key.partition("|")
        kind, colon, node = key.partition(":")
        if bar and first in nodes and second in nodes:
            cells[first, second] = cell
        elif colon and kind in _DETAILS and node in nodes:
            details[_DETAILS[kind], node] = cell
        else:
            raise SceneError(
                f"{where}: expected node_a|node_b, startDetail:node or endDetail:node with nodes of"
                f" the graph, found {repr_of(key)}."
            )
    return cells, details
