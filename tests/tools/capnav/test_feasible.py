"""Feasibility: by hand, by property against plain search, and on the real scenes."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.formats.annotated import annotated
from navloom.scenes.traverse_table import Cell, Traversability
from navloom.scenes.uri import iter_scenes
from navloom.tools.capnav.feasible import feasible, reach, route

Labels = dict[tuple[str, str], bool | None]


def table(labels: Labels) -> Traversability:
    """A scene of one body whose passages have these labels, in the direction given."""
    nodes = tuple(sorted({node for pair in labels for node in pair} | {"a", "z"}))
    edges = tuple(dict.fromkeys((min(p), max(p)) for p in labels))
    cells = {
        p: Cell(traversable=v, note=f"{p[0]}{p[1]}") for p, v in labels.items() if v is not None
    }
    return Traversability(nodes, edges, {n: n for n in nodes}, {"B": cells})


def test_the_best_feasible_path() -> None:
    world = table({("a", "b"): True, ("b", "z"): True, ("a", "z"): False})
    found = feasible(world, "B", "a", "z")
    assert (found.answer, found.path, found.blocking) == (True, ("a", "b", "z"), ())


def test_an_answer_that_hangs_on_an_unlabelled_passage() -> None:
    world = table({("a", "b"): True, ("b", "z"): None})
    found = feasible(world, "B", "a", "z")
    assert found.answer is None
    assert [(p.a, p.b) for p in found.unlabelled] == [("b", "z")]
    strict = feasible(world, "B", "a", "z", compat_edges=True)
    assert strict.answer is False
    assert [(p.a, p.b) for p in strict.blocking] == [("b", "z")]


def test_why_not_names_every_route() -> None:
    world = table({("a", "b"): False, ("b", "z"): False, ("a", "c"): True, ("c", "z"): False})
    found = feasible(world, "B", "a", "z")
    assert len(found.blocking) == 2
    assert [[(p.a, p.b) for p in one] for one in found.alternatives] == [
        [("c", "z")],
        [("a", "b"), ("b", "z")],
    ]


def test_labels_are_directed() -> None:
    world = table({("a", "z"): True, ("z", "a"): False})
    assert feasible(world, "B", "a", "z").answer is True
    assert feasible(world, "B", "z", "a").answer is False
    assert reach(world)["B"].tolist() == [[1, 1], [0, 1]]


def test_places_that_nothing_joins() -> None:
    world = table({("a", "b"): True, ("y", "z"): True})
    found = feasible(world, "B", "a", "z")
    assert (found.answer, found.connected, found.blocking) == (False, False, ())
    assert route(world, "a", "z") == ()


def test_a_node_that_is_not_there() -> None:
    with pytest.raises(SceneError, match="no node 'q'"):
        feasible(table({("a", "z"): True}), "B", "a", "q")


pairs = list(itertools.permutations("abcyz", 2))
worlds = st.dictionaries(
    st.sampled_from(pairs), st.sampled_from([True, False, None]), min_size=1, max_size=12
).map(table)


def _open(world: Traversability, *, unlabelled: bool, more: frozenset[tuple[str, str]]) -> bool:
    graph = nx.DiGraph()
    graph.add_nodes_from(world.nodes)
    for p in world.passages("B"):
        if p.traversable or (unlabelled and p.traversable is None) or (p.a, p.b) in more:
            graph.add_edge(p.a, p.b)
    return nx.has_path(graph, "a", "z")


@given(worlds)
def test_against_plain_search(world: Traversability) -> None:
    found = feasible(world, "B", "a", "z")
    sure = _open(world, unlabelled=False, more=frozenset())
    maybe = _open(world, unlabelled=True, more=frozenset())
    assert found.answer is (True if sure else None if maybe else False)
    index = {node: i for i, node in enumerate(world.nodes)}
    assert reach(world)["B"][index["a"], index["z"]] == {True: 1, None: -1, False: 0}[found.answer]
    compat = feasible(world, "B", "a", "z", compat_edges=True)
    assert compat.answer is sure
    for a, b in zip(found.path, found.path[1:], strict=False):
        assert world.passage("B", a, b).traversable is not False


@given(worlds)
def test_opening_any_alternative_makes_a_way_and_less_does_not(world: Traversability) -> None:
    found = feasible(world, "B", "a", "z")
    if found.answer is not False or not found.connected:
        return
    assert found.alternatives
    for one in found.alternatives:
        steps = frozenset((p.a, p.b) for p in one)
        assert _open(world, unlabelled=True, more=steps)
        for step in steps:
            assert not _open(world, unlabelled=True, more=steps - {step})
    everything = frozenset((p.a, p.b) for p in world.passages("B"))
    cut = frozenset((p.a, p.b) for p in found.blocking)
    assert cut
    assert not _open(world, unlabelled=True, more=everything - cut)


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("each", "least"), [(6, 100), pytest.param(1, 1000, marks=pytest.mark.slow)]
)
def test_every_impossible_pair_of_the_thirty_scenes_says_why(
    each: int, least: int, data_dir: Path
) -> None:
    folder = data_dir / "capnav"
    impossible = 0
    for scene in itertools.islice(iter_scenes(f"capnav:{folder}"), None, None, each):
        world = annotated(folder, scene)
        answers = reach(world)
        for body, (a, b) in itertools.product(world.bodies, itertools.permutations(world.nodes, 2)):
            i, j = world.nodes.index(a), world.nodes.index(b)
            if answers[body][i, j] != 0:
                continue
            found = feasible(world, body, a, b)
            if not found.connected:
                continue
            impossible += 1
            assert found.blocking
            assert all(p.traversable is False for p in found.blocking)
            assert found.alternatives
    assert impossible > least
