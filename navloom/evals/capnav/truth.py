"""What is true of a benchmark: how many questions each body can do, and why not.

Everything is computed from the files, nothing is asked of a model (CapNav, the traversability
annotations; ``tools/traverse``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from navloom.evals.capnav.data import Benchmark, Question
from navloom.evals.report.table import Table
from navloom.scenes.traverse import Passage

__all__ = ["truth_record", "truth_tables", "why_not"]

_WORDS = {True: "feasible", False: "not", None: "unknown"}


def truth_record(benchmark: Benchmark) -> dict[str, Any]:
    """Per scene and body: how many questions are feasible, not, or unknown; and what is there."""
    scenes = {name: _of_scene(benchmark, name) for name in benchmark.scenes}
    bodies: dict[str, Counter[str]] = {body.name: Counter() for body in benchmark.bodies}
    for found in scenes.values():
        for name, counts in found["bodies"].items():
            bodies[name].update(counts)
    return {
        "folder": str(benchmark.folder),
        "compat_edges": benchmark.compat_edges,
        "questions": len(benchmark.questions),
        "hallucinated": [q.id for q in benchmark.questions if q.hallucinated],
        "unresolved": list(benchmark.unresolved),
        "bodies": {name: dict(counts) for name, counts in bodies.items()},
        "scenes": scenes,
    }


def _of_scene(benchmark: Benchmark, scene: str) -> dict[str, Any]:
    table = benchmark.traversability[scene]
    asked = [q for q in benchmark.questions if q.scene == scene]
    bodies = {}
    for body in benchmark.bodies:
        if body.name in table.bodies:
            counts = Counter(_WORDS[benchmark.feasible(q, body)] for q in asked if not q.problem)
            bodies[body.name] = {word: counts[word] for word in _WORDS.values()}
    unlabelled = sum(
        table.passage(name, a, b).traversable is None
        for name in table.bodies
        for a, b in table.edges
    )
    return {
        "nodes": len(table.nodes),
        "edges": len(table.edges),
        "questions": len(asked),
        "unresolved": sum(q.problem is not None for q in asked),
        "unlabelled_cells": unlabelled,
        "bodies": bodies,
    }


def truth_tables(benchmark: Benchmark) -> Iterator[Table]:
    """The same as tables: a row a scene, and all together."""
    record = truth_record(benchmark)
    names = [body.name for body in benchmark.bodies]
    how = "blocked" if benchmark.compat_edges else "unknown"
    note = (
        "feasible / not / unknown, of each scene's questions, those struck out included. An"
        f" unlabelled passage is taken as {how}. Cells: pairs of edge and body without a label."
    )
    rows = [
        (
            scene,
            *(str(of[key]) for key in ("nodes", "edges", "questions", "unresolved")),
            str(of["unlabelled_cells"]),
            *(_counts(of["bodies"].get(name)) for name in names),
        )
        for scene, of in record["scenes"].items()
    ]
    totals = [
        sum(of[key] for of in record["scenes"].values())
        for key in ("nodes", "edges", "questions", "unresolved", "unlabelled_cells")
    ]
    whole = ("all", *map(str, totals), *(_counts(record["bodies"][name]) for name in names))
    header = ("scene", "nodes", "edges", "questions", "unresolved", "cells", *names)
    yield Table("Who gets there", note, header, (*rows, whole))


def _counts(counts: dict[str, int] | None) -> str:
    if counts is None:
        return "–"
    return " / ".join(str(counts.get(word, 0)) for word in _WORDS.values())


def why_not(benchmark: Benchmark) -> Iterator[tuple[Question, str, list[Passage]]]:
    """Each infeasible question and body with what blocks it; nothing where no route leads there."""
    for question in benchmark.questions:
        if question.problem:
            continue
        for body in benchmark.bodies:
            if body.name not in benchmark.traversability[question.scene].bodies:
                continue
            if benchmark.feasible(question, body) is False:
                yield question, body.name, list(benchmark.truth(question, body).blocking)
