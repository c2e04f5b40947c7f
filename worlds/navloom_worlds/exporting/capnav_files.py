"""Scenes in the CapNav benchmark's own form: graph, traversability and profiles.

``graphs/ID-graph.json`` has a node a room and an edge a pair of joined rooms;
``traverse/ID-traverse.json`` has for each body a cell an edge and direction, with a note where it
is blocked; ``agent_profiles.json`` the bodies. Questions are written by
:mod:`navloom_worlds.exporting.question_sampler`. The benchmark's cells also have the minute when an
annotator clicked; rules click at no minute, so there is no ``timestamp``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from navloom.scenes.bodies import ALIASES, Embodiment, as_benchmark
from navloom.scenes.formats.capnav_nodes import Node, nodes_of
from navloom.scenes.scene import Scene
from navloom.scenes.traverse_table import Traversability
from navloom_worlds.exporting.hm3d_files import release_name
from navloom_worlds.exporting.written import write_files

_WRITTEN = {ours: theirs for theirs, ours in ALIASES.items()}
PROFILES = "agent_profiles.json"


def capnav_files(
    scene: Scene, truth: Traversability, details: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, bytes]:
    """A scene's graph and traversability, by their paths in the benchmark's folder.

    Args:
        scene: any with regions.
        truth: of the scene's regions, for each body.
        details: of each body cells ``startDetail:node_N`` and ``endDetail:node_N``, to be added.
    """
    nodes, name = nodes_of(scene), release_name(scene)
    return {
        f"graphs/{name}-graph.json": as_json(_graph(truth, nodes)),
        f"traverse/{name}-traverse.json": as_json(_cells(truth, nodes, details or {})),
    }


def save_profiles(bodies: Sequence[Embodiment], folder: Path) -> None:
    """Write ``agent_profiles.json``, in the benchmark's keys.

    Raises:
        SceneError: it cannot be written.
    """
    write_files(folder, {PROFILES: as_json([as_benchmark(body) for body in bodies])})


def _graph(truth: Traversability, nodes: Mapping[str, Node]) -> dict[str, Any]:
    return {
        "nodes": [
            {
                "id": node.id,
                "name": node.name,
                "description": node.description,
                "position": dict(zip("xyz", node.position, strict=True)),
            }
            for node in nodes.values()
        ],
        "edges": [
            {"id": f"edge_{number}", "from": nodes[a].id, "to": nodes[b].id}
            for number, (a, b) in enumerate(_once(truth))
        ],
    }


def _once(truth: Traversability) -> list[tuple[str, str]]:
    """Joined rooms, each pair once, whichever way round the scene has it."""
    return list({frozenset(pair): pair for pair in truth.edges}.values())


def _cells(
    truth: Traversability, nodes: Mapping[str, Node], details: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for body in truth.bodies:
        cells = written.setdefault(_WRITTEN.get(body, body), {})
        for a, b in _once(truth):
            for passage in (truth.passage(body, a, b), truth.passage(body, b, a)):
                if passage.traversable is not None:
                    key = f"{nodes[passage.a].id}|{nodes[passage.b].id}"
                    cells[key] = {"traversable": passage.traversable, "note": passage.note}
        cells.update(details.get(body, {}))
    return written


def as_json(content: Any) -> bytes:
    """A file's content."""
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
