"""What a promise is measured against still stands: references are built, nothing is timed."""

from __future__ import annotations

from benchmarks.navigator import _bare_graph
from navloom.graphs.navigation import navigator


def test_the_bare_graph_of_a_navigators_step_has_the_navigators_nodes() -> None:
    assert set(_bare_graph(None).nodes) == set(navigator.build_graph().nodes)
