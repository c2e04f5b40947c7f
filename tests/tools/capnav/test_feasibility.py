"""Feasibility: by hand, by property against plain search, and on the real scenes."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import SceneError
from navloom.scenes.formats.capnav_annotations import load_annotations
from navloom.scenes.scene_uri import iter_scenes
from navloom.scenes.traversability_table import Passage, PassageCell, Traversability
from navloom.tools.capnav.feasibility import (
    barrier_kinds,
    blocking_kinds,
    check_feasibility,
    path_any_body,
    path_once_open,
    reach_matrices,
)

Labels = dict[tuple[str, str], bool | None]


def table(labels: Labels) -> Traversability:
    """A scene of one body whose passages have these labels, in the direction given."""
    nodes = tuple(sorted({node for pair in labels for node in pair} | {"a", "z"}))
    edges = tuple(dict.fromkeys((min(p), max(p)) for p in labels))
    cells = {
        p: PassageCell(traversable=v, note=f"{p[0]}{p[1]}")
        for p, v in labels.items()
        if v is not None
    }
    return Traversability(nodes, edges, {n: n for n in nodes}, {"B": cells})


def test_the_best_feasible_path() -> None:
    world = table({("a", "b"): True, ("b", "z"): True, ("a", "z"): False})
    found = check_feasibility(world, "B", "a", "z")
    assert (found.answer, found.path, found.blocking) == (True, ("a", "b", "z"), ())


def test_an_answer_that_hangs_on_an_unlabelled_passage() -> None:
    world = table({("a", "b"): True, ("b", "z"): None})
    found = check_feasibility(world, "B", "a", "z")
    assert found.answer is None
    assert [(p.a, p.b) for p in found.unlabelled] == [("b", "z")]
    strict = check_feasibility(world, "B", "a", "z", compat_edges=True)
    assert strict.answer is False
    assert [(p.a, p.b) for p in strict.blocking] == [("b", "z")]


def test_why_not_names_every_route() -> None:
    world = table({("a", "b"): False, ("b", "z"): False, ("a", "c"): True, ("c", "z"): False})
    found = check_feasibility(world, "B", "a", "z")
    assert len(found.blocking) == 2
    assert [[(p.a, p.b) for p in one] for one in found.alternatives] == [
        [("c", "z")],
        [("a", "b"), ("b", "z")],
    ]


def test_labels_are_directed() -> None:
    world = table({("a", "z"): True, ("z", "a"): False})
    assert check_feasibility(world, "B", "a", "z").answer is True
    assert check_feasibility(world, "B", "z", "a").answer is False
    assert reach_matrices(world)["B"].tolist() == [[1, 1], [0, 1]]


def test_places_that_nothing_joins() -> None:
    world = table({("a", "b"): True, ("y", "z"): True})
    found = check_feasibility(world, "B", "a", "z")
    assert (found.answer, found.connected, found.blocking) == (False, False, ())
    assert path_any_body(world, "a", "z") == ()


def test_a_node_that_is_not_there() -> None:
    with pytest.raises(SceneError, match="no node 'q'"):
        check_feasibility(table({("a", "z"): True}), "B", "a", "q")


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
    found = check_feasibility(world, "B", "a", "z")
    sure = _open(world, unlabelled=False, more=frozenset())
    maybe = _open(world, unlabelled=True, more=frozenset())
    assert found.answer is (True if sure else None if maybe else False)
    index = {node: i for i, node in enumerate(world.nodes)}
    assert (
        reach_matrices(world)["B"][index["a"], index["z"]]
        == {True: 1, None: -1, False: 0}[found.answer]
    )
    compat = check_feasibility(world, "B", "a", "z", compat_edges=True)
    assert compat.answer is sure
    for a, b in zip(found.path, found.path[1:], strict=False):
        assert world.passage("B", a, b).traversable is not False


@given(worlds)
def test_opening_any_alternative_makes_a_way_and_less_does_not(world: Traversability) -> None:
    found = check_feasibility(world, "B", "a", "z")
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
        world = load_annotations(folder, scene)
        answers = reach_matrices(world)
        for body, (a, b) in itertools.product(world.bodies, itertools.permutations(world.nodes, 2)):
            i, j = world.nodes.index(a), world.nodes.index(b)
            if answers[body][i, j] != 0:
                continue
            found = check_feasibility(world, body, a, b)
            if not found.connected:
                continue
            impossible += 1
            assert found.blocking
            assert all(p.traversable is False for p in found.blocking)
            assert found.alternatives
    assert impossible > least


@pytest.mark.parametrize(("routes", "named"), [(19, 19), (20, 20), (21, 20)])
def test_twenty_alternatives_are_named(routes: int, named: int) -> None:
    labels: Labels = {}
    for k in range(routes):
        labels |= {("a", f"m{k:02}"): True, (f"m{k:02}", "z"): False}
    found = check_feasibility(table(labels), "B", "a", "z")
    assert [(p.a, p.b) for (p,) in found.alternatives] == [(f"m{k:02}", "z") for k in range(named)]
    assert len(found.blocking) == routes


def test_an_alternative_that_holds_a_smaller_one_is_none() -> None:
    labels: Labels = {("a", "c"): False, ("c", "z"): True, ("c", "d"): True, ("d", "z"): False}
    found = check_feasibility(table(labels), "B", "a", "z")
    assert [[(p.a, p.b) for p in each] for each in found.alternatives] == [[("a", "c")]]


def test_the_cut_takes_blocked_passages_alone() -> None:
    # Two blocked passages, then one that is open: the cut is the two.
    world = table({("a", "b"): False, ("a", "c"): False, ("b", "d"): True, ("c", "d"): True,
                   ("d", "z"): True})  # fmt: skip
    assert {(p.a, p.b) for p in check_feasibility(world, "B", "a", "z").blocking} == {
        ("a", "b"),
        ("a", "c"),
    }


def test_an_unlabelled_passage_blocks_where_that_is_asked_for_alone() -> None:
    world = table({("a", "b"): None, ("b", "z"): False})
    found = check_feasibility(world, "B", "a", "z")
    assert [(p.a, p.b) for p in found.blocking] == [("b", "z")]
    assert [[(p.a, p.b) for p in each] for each in found.alternatives] == [[("b", "z")]]
    strict = check_feasibility(world, "B", "a", "z", compat_edges=True)
    assert [[(p.a, p.b) for p in each] for each in strict.alternatives] == [
        [("a", "b"), ("b", "z")]
    ]


def test_a_path_has_few_passages_and_then_few_unlabelled_ones() -> None:
    short = {("a", "b"): None, ("b", "z"): None}
    long = {("a", "c"): True, ("c", "d"): True, ("d", "z"): None}
    assert check_feasibility(table({**short, **long}), "B", "a", "z").path == ("a", "b", "z")
    other = {("a", "e"): True, ("e", "z"): None}
    found = check_feasibility(table({**short, **other}), "B", "a", "z")
    assert (found.path, [(p.a, p.b) for p in found.unlabelled]) == (("a", "e", "z"), [("e", "z")])


def test_a_way_is_there_once_passages_are_open() -> None:
    world = table({("a", "b"): False, ("b", "c"): False, ("c", "z"): True})
    (both,) = check_feasibility(world, "B", "a", "z").alternatives
    assert path_once_open(world, "B", "a", "z", both) == ("a", "b", "c", "z")
    assert path_once_open(world, "B", "a", "z", both[:1]) == ()
    assert path_once_open(world, "B", "a", "z", ()) == ()


@pytest.mark.parametrize(
    ("note", "kinds"),
    [
        ("", ("no note",)),
        (" \n", ("no note",)),
        ("who knows", ("other",)),
        ("the sill is high", ("sill or height",)),
        ("a tiny step", ("sill or height",)),
        ("cannot use the lift", ("elevator",)),
        ("stairs", ("stairs",)),
        ("a bench on the stairs landing", ("clutter",)),
        ("the door is locked", ("closed door",)),
        ("cannot turn at the narrow door", ("turning space",)),
        ("narrow door", ("door width",)),
        ("narrow", ("narrow passage",)),
        ("a door", ("other",)),
        ("narrow; the door", ("narrow passage",)),
        ("rug. door too narrow; stairs", ("stairs", "door width", "surface")),
        ("x" * 493 + " gravel", ("surface",)),
        ("x" * 494 + " gravel", ("other",)),
    ],
)
def test_kinds_of_barriers_in_a_note(note: str, kinds: tuple[str, ...]) -> None:
    assert barrier_kinds(note) == kinds


def test_kinds_of_several_passages_are_named_once() -> None:
    notes = ["rug", "stairs", "stairs; rug"]
    passages = [Passage("a", "b", False, note, "cell") for note in notes]
    assert blocking_kinds(passages) == ("stairs", "surface")
