"""CapNav: ground truth for every pair of places and every body, and scoring of 10,000 answers.

The ground truth is measured on the scene with the most places. It is compared with one
breadth-first search per pair in plain Python, and with the promised 0.2 s. Scoring is compared with
the promised 3 s. Without real data, a generated scene of 25 places is used.
"""

from __future__ import annotations

import gc
import json
import os
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import Claim
from navloom.evals.capnav.answer_scoring import AnswerScorer
from navloom.evals.capnav.benchmark_data import CapnavBenchmark, Pair, load_benchmark
from navloom.evals.capnav.official_scorer import OfficialScorer, reply_to_outputs
from navloom.evals.capnav.scores import official_totals, sum_scores
from navloom.scenes.traversability_table import Traversability
from navloom.tools.capnav.answer_parser import parse_answer
from navloom.tools.capnav.feasibility import reach_matrices

TRUTH_S, SCORING_S = 0.2, 3.0
ANSWERS = 10_000
ROUNDS = 5
SEED = 7
_BODIES = ("HUMAN", "WHEELCHAIR", "ROBOT", "QUADRUPEDAL", "SWEEPER")


def claims() -> list[Claim]:
    """Time the ground truth of all pairs, and scoring by our rules and by the public scorer's."""
    folder = os.environ.get("NAVLOOM_DATA")
    data = Path(folder) / "capnav" if folder else None
    if data is not None and (data / "graphs").is_dir():
        return _claims(load_benchmark(data), "the thirty scenes")
    with TemporaryDirectory() as made:
        return _claims(load_benchmark(_made(Path(made))), "a made-up scene")


def _claims(benchmark: CapnavBenchmark, where: str) -> list[Claim]:
    return [*_truth(benchmark), *_scoring(benchmark, where)]


def _truth(benchmark: CapnavBenchmark) -> list[Claim]:
    table = max(benchmark.traversability.values(), key=lambda each: len(each.nodes))
    ours = min(_seconds(lambda: reach_matrices(table)) for _ in range(ROUNDS))
    began = time.thread_time()
    expected = _plain(table)
    plain = time.thread_time() - began
    found = reach_matrices(table)
    equal = all(np.array_equal(found[body], expected[body]) for body in table.bodies)
    size = f"{len(table.nodes)} places, {len(table.bodies)} bodies, every pair in both directions"
    note = f"{ours * 1e3:.1f} ms"
    return [
        Claim("who gets where in a scene", f"the promise, 0.2 s; {size}", TRUTH_S / ours, 1.0,
              equal=equal, note=note),
        Claim("who gets where in a scene", "plain Python, a search a pair, for information",
              plain / ours, 0.0, equal=equal, note=f"{plain * 1e3:.1f} ms against {note}"),
    ]  # fmt: skip


def _plain(table: Traversability) -> dict[str, np.ndarray[Any, Any]]:
    """Return per body a matrix: 1 reachable, 0 not, -1 only over an unlabelled passage."""
    found = {}
    for body in table.bodies:
        steps: dict[str, list[tuple[str, bool | None]]] = {node: [] for node in table.nodes}
        for a, b in table.edges:
            for here, there in ((a, b), (b, a)):
                steps[here].append((there, table.passage(body, here, there).traversable))
        found[body] = np.array(
            [[_search(steps, start, end) for end in table.nodes] for start in table.nodes]
        )
    return found


def _search(steps: dict[str, list[tuple[str, bool | None]]], start: str, end: str) -> int:
    for answer, usable in ((1, (True,)), (-1, (True, None))):
        seen, ahead = {start}, deque([start])
        while ahead:
            here = ahead.popleft()
            if here == end:
                return answer
            for there, open_ in steps[here]:
                if open_ in usable and there not in seen:
                    seen.add(there)
                    ahead.append(there)
    return 0


def _scoring(benchmark: CapnavBenchmark, where: str) -> list[Claim]:
    replies = _replies(benchmark)
    ours = min(_seconds(lambda: _by_our_rules(benchmark, replies)) for _ in range(3))
    theirs = min(_seconds(lambda: _by_public_rules(benchmark, replies)) for _ in range(3))
    size = f"{ANSWERS:,} replies about {where}"
    said = "read, scored, added up with intervals, nothing kept from before"
    return [
        Claim(f"{ANSWERS:,} answers scored", f"the promise, 3 s; {size}", SCORING_S / ours, 1.0,
              note=f"{ours:.2f} s; {said}"),
        Claim("the same by the public scorer's rules", f"the promise, 3 s; {size}",
              SCORING_S / theirs, 1.0, note=f"{theirs:.2f} s; {said}"),
    ]  # fmt: skip


def _by_our_rules(benchmark: CapnavBenchmark, replies: Sequence[tuple[Pair, str]]) -> None:
    fresh = load_benchmark(benchmark.folder)
    scorer = AnswerScorer(fresh)
    scores = [
        scorer.score(question, body, parse_answer(reply, question=question.text, agent=body.name))
        for (question, body), reply in replies
    ]
    assert sum_scores(scores, judged=False).answers == ANSWERS


def _by_public_rules(benchmark: CapnavBenchmark, replies: Sequence[tuple[Pair, str]]) -> None:
    scenes = {
        name: OfficialScorer(benchmark.nodes(name), table)
        for name, table in benchmark.traversability.items()
    }
    scored = []
    for (question, _), reply in replies:
        for asked, agent, output in reply_to_outputs(reply):
            score = scenes[question.scene].score(str(asked), str(agent), str(output))
            scored.append((question.id, score))
    assert official_totals(scored, judged=False).answers == ANSWERS


def _replies(benchmark: CapnavBenchmark) -> list[tuple[Pair, str]]:
    """Draw replies whose paths hold ids or names, some with the last letter missing."""
    draw, pairs = random.Random(SEED), list(benchmark.pairs())
    made = []
    for _ in range(ANSWERS):
        question, body = draw.choice(pairs)
        nodes = benchmark.nodes(question.scene)
        between = [draw.choice(nodes.ids) for _ in range(draw.randint(0, 4))]
        path = [str(question.start), *between, str(question.end)]
        if draw.random() < 0.4:
            path = [nodes.name(each) for each in path]
        if draw.random() < 0.2:
            path = [each[:-1] for each in path]
        result = {"answer": draw.choice(("yes", "no")), "path": path, "reason": "stairs"}
        item = {"question": question.text, "agent": body.name, "result": result}
        made.append(((question, body), json.dumps([item])))
    return made


def _made(folder: Path) -> Path:
    """Write the files of one scene of 25 places: a ring with three chords."""
    for part in ("graphs", "traverse", "qa"):
        (folder / part).mkdir()
    names = [f"Room number {k}" for k in range(25)]
    nodes = [
        {"id": f"node_{k}", "name": name, "position": {"x": k, "y": 0, "z": 0}}
        for k, name in enumerate(names)
    ]
    pairs = [(k, (k + 1) % 25) for k in range(25)] + [(0, 12), (5, 20), (8, 16)]
    edges = [{"from": f"node_{a}", "to": f"node_{b}"} for a, b in pairs]
    draw = random.Random(SEED)
    cells = {
        body: {
            f"node_{a}|node_{b}": {"traversable": draw.random() < 0.8, "note": "door too narrow"}
            for a, b in pairs
            if draw.random() < 0.95
        }
        for body in _BODIES
    }
    asked = [
        {
            "question": f"Can [Agent] move from {names[k]} to {names[24 - k]}?",
            "nodes_involved": {"start": f"node_{k}", "end": f"node_{24 - k}"},
        }
        for k in range(10)
    ]
    for name, value in (
        ("graphs/MADE-graph.json", {"nodes": nodes, "edges": edges}),
        ("traverse/MADE-traverse.json", cells),
        ("qa/MADE_QA.json", asked),
    ):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder


def _seconds(work: Callable[[], Any]) -> float:
    gc.collect()
    # Processor time, so that other processes on the machine do not count.
    begin = time.thread_time()
    work()
    return time.thread_time() - begin
