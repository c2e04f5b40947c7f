"""Body fields: time to build one, geodesic distances from a goal, and paths, compared with scipy.

The reference for distances is scipy's Dijkstra over the same places with eight neighbours each. Its
graph is built beforehand and passed as directed, which is its faster mode (every edge is stored in
both directions). Its distances are up to 8 % too long. Our distances are checked against the
lengths of paths.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from benchmarks import Claim
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY
from navloom_worlds.geometry.mesh import scene_mesh
from navloom_worlds.motion import geodesic_field
from navloom_worlds.motion.body_field import BodyField, body_field
from navloom_worlds.motion.body_graph import body_graph

HOME, RUNS = "home:7", 40
BUILT_S = 1.5
"""Promised time to build a field, in seconds."""
WANTED = 0.3
"""Wanted fraction of scipy's speed; our field has four times as many neighbours per place."""


def claims() -> list[Claim]:
    """Build a field, compute distances and find paths, with an empty cache."""
    with TemporaryDirectory() as folder, mock.patch.dict(os.environ, NAVLOOM_CACHE=folder):
        return _claims()


def _claims() -> list[Claim]:
    scene = load_scene(HOME)
    scene_mesh(scene)
    began = time.process_time()
    field = body_field(scene, DEFAULT_BODY)
    built = time.process_time() - began
    stands = [v.position for v in scene.viewpoints if field.stands(v.position)]
    goal = next(each for each in stands if field.part[field.at(each)] == 0)
    grid, here = build_neighbour_graph(field), field.at(goal)
    metres = field.distances([goal])
    directed, scipys, marched = measure_best_times(
        lambda: dijkstra(grid, indices=here),
        lambda: dijkstra(grid, directed=False, indices=here),
        lambda: field.distances([goal]),
    )
    ends = [each for each in stands if np.isfinite(metres[field.at(each)])]
    began = time.perf_counter()
    ways = [field.way(goal, [end]) for end in ends]
    asked = (time.perf_counter() - began) / len(ends)
    long = np.array([0.0 if way is None else way.metres for way in ways])
    off = np.abs(long - [metres[field.at(end)] for end in ends])
    began = time.process_time()
    graph = body_graph(scene, DEFAULT_BODY)
    made = time.process_time() - began
    rooms = len(scene.regions)
    return [
        Claim(
            "a body's field",
            f"{BUILT_S} s, as promised; {HOME}, {rooms} rooms, {len(field):,} places",
            BUILT_S / built,
            1.0,
            note=f"{built:.2f} s of one core; its graph of {len(graph.viewpoints)} viewpoints in"
            f" {made:.1f} s more, nearly all of it driving each edge both ways",
        ),
        Claim(
            "metres from everywhere",
            "scipy's dijkstra over eight neighbours, directed",
            directed / marched,
            WANTED,
            equal=bool((off < 0.05 + 0.01 * long).all()),
            note=f"{1e3 * marched:.1f} ms for {np.isfinite(metres).sum():,} places; scipy"
            f" {1e3 * directed:.1f} ms, told that the graph is undirected {1e3 * scipys:.1f} ms;"
            f" a way takes {1e3 * asked:.1f} ms",
        ),
    ]


def build_neighbour_graph(field: BodyField) -> csr_array:
    """Build the graph of a field's places, each joined to its eight neighbours."""
    places = field.places
    rows, columns, cells = [], [], []
    for dx, dz in ((1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1)):
        there = geodesic_field.offset_places(places.beside, dx, dz)
        held = np.flatnonzero(there >= 0)
        rise = places.lift[there[held]] - places.lift[held]
        rows.append(held)
        columns.append(there[held])
        cells.append(np.sqrt(dx * dx + dz * dz + rise * rise))
    ends = (np.concatenate(rows), np.concatenate(columns))
    graph = csr_array((np.concatenate(cells), ends), shape=(len(field), len(field)))
    # csgraph expects int32 and would otherwise copy the indices at every call.
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    return graph


def measure_best_times(*calls: Callable[[], object]) -> list[float]:
    """Return the shortest time of each call in seconds, over interleaved runs."""
    took = [[0.0] * RUNS for _ in calls]
    for run in range(-1, RUNS):
        for k, call in enumerate(calls):
            began = time.perf_counter()
            call()
            took[k][run] = time.perf_counter() - began
    return [min(each) for each in took]
