"""What holds for every path through every scene, and a second opinion in plain Python."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import _METRICS, _Walk
from navloom.evals.navigation.metrics import (
    EpisodeScore,
    NavigationScorer,
    score_episodes,
    score_paths,
)
from navloom.evals.navigation.path_metrics import METRES, PATH_METRICS
from navloom.evals.tasks.episode import Episode
from navloom.scenes.scene import Edge, Floor, Region, Scene, Viewpoint

FRACTIONS = [name for name in PATH_METRICS if name not in METRES]
metre = st.floats(-20, 20, allow_nan=False, width=32)


@dataclass
class Case:
    scene: Scene
    walk: list[str]
    reference: list[str]
    goals: list[str]

    def episode(self, **changes: object) -> Episode:
        return Episode.model_validate(
            {
                "id": "e",
                "task": "made",
                "scene": self.scene.uri,
                "start": self.walk[0],
                "instruction": "walk",
                "goals": self.goals,
                "path": self.reference,
                **changes,
            }
        )

    def score(self, walk: list[str] | None = None, **changes: object) -> EpisodeScore:
        walked = {"e": self.walk if walk is None else walk}
        (found,) = score_episodes([self.episode(**changes)], walked, lambda _: self.scene)
        return found


@st.composite
def cases(draw: st.DrawFn, *, connected: bool = False) -> Case:
    count = draw(st.integers(1, 8))
    names = [f"v{k}" for k in range(count)]
    points = draw(st.lists(st.tuples(metre, metre, metre), min_size=count, max_size=count))
    pairs = list(itertools.combinations(names, 2))
    edges = set(draw(st.lists(st.sampled_from(pairs), max_size=12))) if pairs else set()
    if connected:
        edges |= set(itertools.pairwise(names))
    scene = Scene(
        id="drawn",
        source="made",
        floors=(Floor(id=1, height=0.0),),
        regions=(Region(id="Room_0", center=(0, 0, 0)),),
        viewpoints=tuple(Viewpoint(id=v, position=p) for v, p in zip(names, points, strict=True)),
        edges=tuple(Edge(a=a, b=b) for a, b in sorted(edges)),
    )
    graph = scene.navigation_graph()
    start = draw(st.sampled_from(names))
    walk, reference = (_walk(draw, graph, start) for _ in range(2))
    others = draw(st.lists(st.sampled_from(names), max_size=2))
    return Case(scene, walk, reference, [reference[-1], *others])


def _walk(draw: st.DrawFn, graph: nx.Graph[str], start: str) -> list[str]:
    walk = [start]
    for _ in range(draw(st.integers(0, 7))):
        if near := sorted(graph[walk[-1]]):
            walk.append(draw(st.sampled_from(near)))
    return walk


@given(cases())
def test_bounds_and_order(case: Case) -> None:
    found = case.score()
    assert found.invalid is None
    values = {name: found.values[name] for name in FRACTIONS}
    assert all(value is not None and 0 <= value <= 1 for value in values.values())
    assert values["SDTW"] <= values["nDTW"]  # type: ignore[operator]
    assert values["SPL"] <= values["SR"] <= values["OSR"]  # type: ignore[operator]
    assert values["SR_stopped"] + values["early_stop"] + values["late_stop"] == 1  # type: ignore[operator]
    assert found.values["TL"] >= 0  # type: ignore[operator]
    json.dumps(found.record(), allow_nan=False)


@given(cases())
def test_the_reference_itself_is_perfect(case: Case) -> None:
    values = case.score(case.reference).values
    assert values["NE"] == 0
    for name in ("SR", "OSR", "SPL_gt", "SDTW", "nDTW", "CLS"):
        assert values[name] == pytest.approx(1)


@given(cases(), st.data())
def test_standing_still_for_a_while_changes_nothing(case: Case, data: st.DataObject) -> None:
    walk = [v for v in case.walk for _ in range(data.draw(st.integers(1, 3)))]
    assert case.score(walk).values == case.score().values


@given(cases(connected=True), st.floats(0, 6.3), st.tuples(metre, metre, metre))
def test_turning_and_moving_a_scene_changes_nothing(
    case: Case, angle: float, shift: tuple[float, float, float]
) -> None:
    cos, sin = math.cos(angle), math.sin(angle)

    def moved(v: Viewpoint) -> Viewpoint:
        x, y, z = v.position
        there = (x * cos - z * sin + shift[0], y + shift[1], x * sin + z * cos + shift[2])
        return v.model_copy(update={"position": there})

    scene = case.scene.replace(viewpoints=tuple(map(moved, case.scene.viewpoints)))
    before, after = case.score(), Case(scene, case.walk, case.reference, case.goals).score()
    for name in ("TL", "NE", "nDTW", "CLS"):
        assert after.values[name] == pytest.approx(before.values[name], abs=1e-6)


@given(cases(), cases())
def test_a_path_scores_alone_as_in_company(one: Case, other: Case) -> None:
    walks = [one.walk, one.reference, one.walk[:1]]
    together = score_paths(one.scene, walks, [one.reference] * 3, [one.goals] * 3)
    (alone,) = score_episodes([one.episode()], {"e": one.walk}, lambda _: one.scene)
    for name in PATH_METRICS:
        value = float(together[name][0])
        assert alone.values[name] == (
            pytest.approx(value, abs=1e-12) if math.isfinite(value) else None
        )
    scenes = {"made:one": one.scene, "made:other": other.scene}
    episodes = [one.episode(id="a", scene="made:one"), other.episode(id="b", scene="made:other")]
    both = score_episodes(episodes, {"a": one.walk, "b": other.walk}, scenes.__getitem__)
    # Small scenes share one set of tables.
    assert len(NavigationScorer(episodes, scenes.__getitem__)._groups) == 1
    for mine, expected in zip(both, (alone, other.score()), strict=True):
        assert mine.values == pytest.approx(expected.values, abs=1e-12)


@given(cases(connected=True))
def test_a_second_opinion(case: Case) -> None:
    graph = case.scene.navigation_graph()
    table = dict(nx.all_pairs_dijkstra_path_length(graph, weight="metres_3d"))
    walk = _Walk(table, case.walk, case.episode())
    values = case.score().values
    for name, metric in _METRICS.items():
        assert values[name] == pytest.approx(metric(walk), abs=1e-9), name


@given(
    cases(),
    st.lists(st.text(max_size=3) | st.sampled_from([f"v{k}" for k in range(8)]), max_size=9),
)
def test_no_trajectory_whatever_is_a_crash(case: Case, walk: list[str]) -> None:
    found = case.score(walk)
    graph = case.scene.navigation_graph()
    sound = (
        walk[:1] == [case.walk[0]]
        and all(v in graph for v in walk)
        and all(a == b or graph.has_edge(a, b) for a, b in itertools.pairwise(walk))
    )
    assert (found.invalid is None) == sound
    json.dumps(found.record(), allow_nan=False)
