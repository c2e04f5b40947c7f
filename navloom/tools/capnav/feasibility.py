"""Feasibility of routes for a body, and what blocks them (CapNav, supplementary B and C).

All checks use the scene's places and directed passages. An unlabelled passage is neither open nor
blocked: an answer that depends on one is None, unless such passages count as blocked
(``compat_edges``), as in the benchmark's scorer.

A blockage is described in two ways. ``blocking`` is a minimum cut: the fewest blocked passages such
that every route crosses at least one. ``alternatives`` are minimal repairs: each is a set of
blocked passages such that opening all of them gives a path, and opening fewer does not. A reason
that names every cut is complete. A reason that names one alternative is right about one route.

The benchmark's notes on blocked passages are free text, often misspelt, and may name several
barriers at once. A note is mapped to one or more of ``KINDS``. A barrier outside these kinds is
``other``, and a blocked passage without a note is ``no note``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from navloom.errors import SceneError, did_you_mean
from navloom.scenes.traversability_table import Passage, Traversability

MOST_ALTERNATIVES = 20
_MOST_ROUTES = 5_000
"""Routes searched for alternatives; benchmark scenes have a few dozen between two nodes."""


@dataclass(frozen=True)
class Feasibility:
    """Feasibility of one route for a body, with the path or what blocks it.

    Attributes:
        answer: True, False, or None if it depends on an unlabelled passage.
        path: the feasible path of fewest passages, both ends included; () if there is none. For an
            answer None it is the shortest that uses unlabelled passages.
        blocking: a minimum cut of blocked passages; () if the answer is not False, or if no
            passages lead there at all.
        alternatives: minimal sets of blocked passages to open, the smallest first, at most
            ``MOST_ALTERNATIVES``.
        unlabelled: the unlabelled passages on ``path``, for an answer None.
        connected: whether any route leads there, blocked or not.
    """

    answer: bool | None
    path: tuple[str, ...] = ()
    blocking: tuple[Passage, ...] = ()
    alternatives: tuple[tuple[Passage, ...], ...] = ()
    unlabelled: tuple[Passage, ...] = ()
    connected: bool = True


def check_feasibility(
    traversability: Traversability, body: str, start: str, end: str, *, compat_edges: bool = False
) -> Feasibility:
    """Check whether a body can get from one node to another.

    Args:
        traversability: every passage of the scene.
        body: the body's name.
        start: a node's id.
        end: a node's id; equal to ``start`` is feasible.
        compat_edges: treat unlabelled passages as blocked.

    Raises:
        SceneError: unknown node or body.
    """
    for node in (start, end):
        if node not in set(traversability.nodes):
            hint = did_you_mean(node, traversability.nodes)
            raise SceneError(f"no node '{node}' in this scene.{hint}")
    passages = {(p.a, p.b): p for p in traversability.passages(body)}
    sure = _walk(passages.values(), start, end, unlabelled=False)
    if sure:
        return Feasibility(True, sure)
    maybe = () if compat_edges else _walk(passages.values(), start, end, unlabelled=True)
    if maybe:
        on_path = (passages[step] for step in pairwise(maybe))
        return Feasibility(None, maybe, unlabelled=tuple(p for p in on_path if not p.traversable))
    graph = _graph(passages, compat_edges=compat_edges)
    if start not in graph or end not in graph or not nx.has_path(graph, start, end):
        return Feasibility(False, connected=False)
    cut = _cut(graph, passages, start, end)
    others = _alternatives(graph, passages, start, end)
    return Feasibility(False, blocking=cut, alternatives=others)


def path_once_open(
    traversability: Traversability, body: str, start: str, end: str, opened: Iterable[Passage]
) -> tuple[str, ...]:
    """Return the shortest path once some passages are open; () if there is still none."""
    steps = {(p.a, p.b) for p in opened}
    passages = (
        replace(p, traversable=True) if (p.a, p.b) in steps else p
        for p in traversability.passages(body)
    )
    return _walk(passages, start, end, unlabelled=True)


def path_any_body(traversability: Traversability, start: str, end: str) -> tuple[str, ...]:
    """Return the path of fewest passages, ignoring what bodies can pass; () if there is none."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(traversability.nodes)
    graph.add_edges_from(traversability.edges)
    try:
        return tuple(nx.shortest_path(graph, start, end))
    except (nx.NetworkXNoPath, nx.NodeNotFound):
        return ()


def reach_matrices(
    traversability: Traversability, *, compat_edges: bool = False
) -> dict[str, NDArray[np.int8]]:
    """Compute the feasibility of every pair of nodes, for each body.

    Returns:
        By body, an (n, n) matrix over ``traversability.nodes`` from row to column: 1 feasible, 0
        not feasible, -1 if it depends on an unlabelled passage.
    """
    index = {node: i for i, node in enumerate(traversability.nodes)}
    answers: dict[str, NDArray[np.int8]] = {}
    for body in traversability.bodies:
        passages = list(traversability.passages(body))
        sure = _closure(passages, index, unlabelled=False)
        maybe = sure if compat_edges else _closure(passages, index, unlabelled=True)
        answers[body] = np.where(sure, 1, np.where(maybe, -1, 0)).astype(np.int8)
    return answers


def _closure(
    passages: Iterable[Passage], index: Mapping[str, int], *, unlabelled: bool
) -> NDArray[np.bool_]:
    used = [p for p in passages if p.traversable or (unlabelled and p.traversable is None)]
    rows = np.array([index[p.a] for p in used], dtype=np.int64)
    columns = np.array([index[p.b] for p in used], dtype=np.int64)
    n = len(index)
    matrix = csr_array((np.ones(len(used)), (rows, columns)), shape=(n, n))
    reached: NDArray[np.bool_] = np.isfinite(dijkstra(matrix, unweighted=True))
    return reached


def _walk(links: Iterable[Passage], start: str, end: str, *, unlabelled: bool) -> tuple[str, ...]:
    """Return the path of fewest passages; ties go to the one with fewest unlabelled passages."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from((start, end))
    for p in links:
        if p.traversable:
            graph.add_edge(p.a, p.b, weight=1.0)
        elif unlabelled and p.traversable is None:
            graph.add_edge(p.a, p.b, weight=1.0 + 1e-6)
    try:
        return tuple(nx.shortest_path(graph, start, end, weight="weight"))
    except nx.NetworkXNoPath:
        return ()


def _graph(passages: Mapping[tuple[str, str], Passage], *, compat_edges: bool) -> nx.DiGraph[str]:
    """Build the graph of all passages; blocked ones have capacity 1, the others no bound."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for (a, b), p in passages.items():
        blocked = p.traversable is False or (compat_edges and p.traversable is None)
        graph.add_edge(a, b, capacity=1 if blocked else math.inf, blocked=blocked)
    return graph


def _cut(
    graph: nx.DiGraph[str], passages: Mapping[tuple[str, str], Passage], start: str, end: str
) -> tuple[Passage, ...]:
    _, (near, far) = nx.minimum_cut(graph, start, end)
    crossing = ((a, b) for a, b in graph.edges if a in near and b in far)
    return tuple(passages[step] for step in crossing)


def _alternatives(
    graph: nx.DiGraph[str], passages: Mapping[tuple[str, str], Passage], start: str, end: str
) -> tuple[tuple[Passage, ...], ...]:
    sets = {frozenset(found) for found in _barriers(graph, start, end)}
    kept: list[frozenset[tuple[str, str]]] = []
    for each in sorted(sets, key=lambda s: (len(s), sorted(s))):
        if not any(other <= each for other in kept):
            kept.append(each)
        if len(kept) == MOST_ALTERNATIVES:
            break
    return tuple(tuple(passages[step] for step in sorted(each)) for each in kept)


def _barriers(net: nx.DiGraph[str], start: str, end: str) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield the blocked passages of each simple route."""
    for nodes in islice(nx.shortest_simple_paths(net, start, end), _MOST_ROUTES):
        steps = pairwise(nodes)
        yield tuple(step for step in steps if net.edges[step]["blocked"])


KINDS = (
    "stairs",
    "door width",
    "narrow passage",
    "sill or height",
    "elevator",
    "closed door",
    "turning space",
    "clutter",
    "surface",
    "other",
    "no note",
)
"""Every kind, in the order of tables."""
_MOST = 500
_PARTS = re.compile(r"[;.]")
_TINY_STEP = re.compile(r"\btiny step\b")
_HEIGHT = re.compile(r"\bsills?\b|\bheight\b|\bthreshold\b|\btoo high\b|\brise of\b|\bget onto\b")
_TURN = re.compile(r"\bturn")
_ELEVATOR = re.compile(r"\b(?:elevator|lift)\b")
_STAIRS = re.compile(r"\bstairs?\b|\bstaircase\b|\bsteps\b")
_LANDING = re.compile(r"\bstairs?[ -](?:landing|side)\b|\b(?:next to|between) (?:the )?stairs?\b")
_CLOSED = re.compile(r"\bcannot open\b|\blocked\b|\bdoor is closed\b")
_DOOR = re.compile(r"\b(?:doors?|dooe|foor|doorway|gate)\b")
_NARROW = re.compile(r"\bnar+ow\b")
_TIGHT = re.compile(
    r"\bnar+ow\b|\bspace\b[^;.]{0,80}\b(?:small|enough)\b|\b(?:no|not) enough (?:space|room)\b"
)
_CLUTTER = re.compile(
    r"\bclutter|\bblocks?\b|\bin the way\b|\bbench\b|\bfurnitur|\biron board\b|\bstop th\b"
)
_SURFACE = re.compile(r"\brugs?\b|\bterrain\b|\bsteep\b|\bgrass\b|\bgravel\b")


def barrier_kinds(note: str) -> tuple[str, ...]:
    """Return the kinds of barrier that a note names.

    Args:
        note: an annotator's words or ours; untrusted.

    Returns:
        At least one kind, in the order of ``KINDS``.
    """
    text = " ".join(note.casefold()[:_MOST].split())
    if not text:
        return ("no note",)
    found = {kind for part in _PARTS.split(text) for kind in _of_part(part.strip())}
    return tuple(kind for kind in KINDS if kind in found) or ("other",)


def blocking_kinds(passages: Iterable[Passage]) -> tuple[str, ...]:
    """Return the distinct barrier kinds of several blocked passages, in the order of ``KINDS``."""
    found = {kind for each in passages for kind in barrier_kinds(each.note)}
    return tuple(kind for kind in KINDS if kind in found)


def _of_part(text: str) -> set[str]:
    found = set()
    if _HEIGHT.search(text) or _TINY_STEP.search(text):
        found.add("sill or height")
    if _ELEVATOR.search(text):
        found.add("elevator")
    if _STAIRS.search(_LANDING.sub(" ", text)):
        found.add("stairs")
    if _CLOSED.search(text):
        found.add("closed door")
    if _TURN.search(text):
        found.add("turning space")
    elif _DOOR.search(text) and _NARROW.search(text):
        found.add("door width")
    elif _TIGHT.search(text):
        found.add("narrow passage")
    if _CLUTTER.search(text):
        found.add("clutter")
    if _SURFACE.search(text):
        found.add("surface")
    return found
