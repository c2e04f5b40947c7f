"""The CapNav benchmark on disk: questions, bodies, and the ground truth of both.

A folder holds ``graphs/``, ``traverse/`` and ``qa/`` (docs/formats/capnav.md). Start and end of a
question come from its ``nodes_involved``, looked up by id or (similar) name, never from the
question's text. Questions with unresolved nodes are kept and reported, but cannot be asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from navloom.errors import DataError, SceneError, UsageError, did_you_mean
from navloom.evals.report.formatting import Table
from navloom.scenes.bodies import Embodiment, builtin_bodies, canonical_name, load_bodies
from navloom.scenes.formats.capnav import NodeIndex, list_ids, load
from navloom.scenes.formats.capnav_annotations import load_annotations
from navloom.scenes.safe_files import read_json
from navloom.scenes.scene import Scene
from navloom.scenes.traversability_table import Passage, Traversability
from navloom.tools.capnav.feasibility import (
    Feasibility,
    check_feasibility,
    path_any_body,
    reach_matrices,
)

_MOST_BYTES = 5_000_000
_ENDING = "_QA.json"
_PROFILES = "agent_profiles.json"

_Text = Annotated[str, Field(max_length=2_000)]


class _Involved(BaseModel):
    model_config = ConfigDict(frozen=True)
    start: _Text
    end: _Text
    start_detail: _Text = ""
    end_detail: _Text = ""
    intermediate: Annotated[list[_Text], Field(max_length=200)] = []


class _QuestionRecord(BaseModel):
    model_config = ConfigDict(frozen=True)
    question: Annotated[str, Field(min_length=1, max_length=2_000)]
    nodes_involved: _Involved
    scene_type: _Text = ""


_FILE = TypeAdapter(Annotated[list[_QuestionRecord], Field(max_length=1_000)])


@dataclass(frozen=True, slots=True)
class CapnavQuestion:
    """One question of the benchmark.

    Attributes:
        id: such as ``HM3D00025_q01``; the number is the position in the scene's file, from 1.
        scene: the scene's id.
        text: its text, with ``[Agent]`` for the body.
        start: the start node; None if unresolved.
        end: the end node; None if unresolved.
        said: start and end as written in the file.
        hallucinated: whether the annotators struck it out.
    """

    id: str
    scene: str
    text: str
    start: str | None
    end: str | None
    said: tuple[str, str] = ("", "")
    hallucinated: bool = False

    @property
    def problem(self) -> str | None:
        """The reason why the question cannot be asked, in one line; None if it can be asked."""
        for end, at, text in zip(("start", "end"), (self.start, self.end), self.said, strict=True):
            if at is None:
                return f"{self.id}: nodes_involved.{end} '{text[:80]}' names no node of the graph"
        return None


Pair = tuple[CapnavQuestion, Embodiment]
"""A question and the body that it is asked about."""


@dataclass(frozen=True)
class CapnavBenchmark:
    """Scenes, questions and bodies of the benchmark, with the truth of each pair.

    Attributes:
        folder: folder of the files.
        questions: all questions, including unresolved ones and those struck out.
        bodies: the bodies, in the order of the profiles.
        scenes: scenes by id.
        traversability: tables of passages by scene id.
        compat_edges: whether unlabelled passages count as blocked, as in the public scorer.
        without_graph: ids of scenes with questions but without a graph, which cannot be asked.
    """

    folder: Path
    questions: tuple[CapnavQuestion, ...]
    bodies: tuple[Embodiment, ...]
    scenes: Mapping[str, Scene]
    traversability: Mapping[str, Traversability]
    compat_edges: bool = False
    without_graph: tuple[str, ...] = ()
    _nodes: dict[str, NodeIndex] = field(default_factory=dict, repr=False)
    _reach: dict[str, dict[str, NDArray[np.int8]]] = field(default_factory=dict, repr=False)

    def feasible(self, question: CapnavQuestion, body: Embodiment | str) -> bool | None:
        """Check whether a body can do what a question asks.

        Returns:
            None if it depends on an unlabelled passage; never None with ``compat_edges``.

        Raises:
            DataError: the question is unresolved, or the body is not annotated.
        """
        start, end = self._ends(question)
        table, name = self.traversability[question.scene], _name(body)
        if question.scene not in self._reach:
            self._reach[question.scene] = reach_matrices(table, compat_edges=self.compat_edges)
        tables, rows = self._reach[question.scene], table.nodes
        if name not in tables:
            raise DataError(
                f"{question.id}: nothing is known of {name}.{did_you_mean(name, tables)}"
            )
        answer = int(tables[name][rows.index(start), rows.index(end)])
        return None if answer < 0 else answer == 1

    def truth(self, question: CapnavQuestion, body: Embodiment | str) -> Feasibility:
        """Return the feasibility with the best path, or with the blocking passages.

        Raises:
            DataError: the question is unresolved, or the body is not annotated.
        """
        start, end = self._ends(question)
        table = self.traversability[question.scene]
        try:
            return check_feasibility(table, _name(body), start, end, compat_edges=self.compat_edges)
        except SceneError as error:
            raise DataError(f"{question.id}: {error}") from error

    def hops(self, question: CapnavQuestion) -> int | None:
        """Return the number of passages of the shortest route for any body; None for no route."""
        found = path_any_body(self.traversability[question.scene], *self._ends(question))
        return len(found) - 1 if found else None

    def nodes(self, scene: str) -> NodeIndex:
        """Return the lookup of a scene's nodes by id or name."""
        if scene not in self._nodes:
            self._nodes[scene] = NodeIndex(self.scenes[scene])
        return self._nodes[scene]

    def pairs(self, *, keep_hallucinated: bool = False) -> Iterator[Pair]:
        """Yield each resolved question with each body that is annotated in its scene.

        Args:
            keep_hallucinated: include questions that the annotators struck out.
        """
        for question in self.questions:
            if question.problem or (question.hallucinated and not keep_hallucinated):
                continue
            for body in self.bodies:
                if canonical_name(body.name) in self.traversability[question.scene].bodies:
                    yield question, body

    @cached_property
    def by_id(self) -> dict[str, CapnavQuestion]:
        """Questions by id."""
        return {question.id: question for question in self.questions}

    @cached_property
    def by_body(self) -> dict[str, Embodiment]:
        """Bodies by name."""
        return {body.name: body for body in self.bodies}

    @cached_property
    def unresolved(self) -> tuple[str, ...]:
        """Reasons why questions cannot be asked, one line each."""
        return tuple(q.problem for q in self.questions if q.problem)

    def notes(self, *, keep_hallucinated: bool = False) -> tuple[str, ...]:
        """Return messages about questions and bodies that are left out."""
        struck = [q.id for q in self.questions if q.hallucinated]
        lines = [f"left out: {line}" for line in self.unresolved]
        if self.without_graph:
            lines.append(
                "left out: all questions of scenes without graphs/ID-graph.json:"
                f" {len(self.without_graph)} ({', '.join(self.without_graph[:10])})"
            )
        if struck and not keep_hallucinated:
            lines.append(
                f"left out: {len(struck)} questions that the annotators struck out"
                f" ({', '.join(struck[:10])}); --keep-hallucinated asks them too"
            )
        for body in self.bodies:
            name = canonical_name(body.name)
            without = [s for s, t in self.traversability.items() if name not in t.bodies]
            if without:
                lines.append(
                    f"left out: {body.name} in {len(without)} scenes without annotations of it"
                    f" ({', '.join(without[:10])})"
                )
        return tuple(lines)

    def _ends(self, question: CapnavQuestion) -> tuple[str, str]:
        if question.start is None or question.end is None:
            raise DataError(f"{question.problem}: it has no answer.")
        return question.start, question.end


def load_benchmark(
    folder: Path | str,
    *,
    compat_edges: bool = False,
    scenes: Sequence[str] | None = None,
    bodies: Path | str | None = None,
) -> CapnavBenchmark:
    """Load the benchmark from its folder.

    Args:
        folder: holds ``graphs/``, ``traverse/`` and ``qa/``, and perhaps ``agent_profiles.json``.
        compat_edges: count unlabelled passages as blocked, as the public scorer does.
        scenes: load only these; default: all that have a graph.
        bodies: a JSON file of profiles that replaces the folder's own, or the five that ship with
            Navloom. Every body must be annotated.

    Raises:
        DataError: a file of questions is missing or broken, or a body is not annotated anywhere.
        SceneError: a graph, annotations or profiles are missing or broken.
        UsageError: a scene is unknown.
    """
    where = Path(folder)
    ids = _chosen(where, scenes)
    loaded = {name: load(where, name) for name in ids}
    tables = {name: load_annotations(where, scene) for name, scene in loaded.items()}
    made = CapnavBenchmark(
        where,
        tuple(q for name in ids for q in _questions(where, loaded[name], tables[name])),
        _bodies(where, bodies),
        loaded,
        tables,
        compat_edges,
        () if scenes else tuple(sorted(_asked_about(where) - {*list_ids(where)})),
    )
    known = {body for table in tables.values() for body in table.bodies}
    for body in made.bodies:
        if canonical_name(body.name) not in known:
            raise DataError(
                f"{bodies or where / _PROFILES}: no annotation of {where} speaks of the body"
                f" '{body.name}', so its answers have no truth.{did_you_mean(body.name, known)}"
                f" There are {', '.join(sorted(known))}."
            )
    return made


def _chosen(folder: Path, scenes: Sequence[str] | None) -> list[str]:
    there = list_ids(folder)
    if not there:
        raise DataError(
            f"{folder}: expected graphs/ID-graph.json, found none; give --data the benchmark's"
            " folder (docs/formats/capnav.md)"
        )
    for name in scenes or ():
        if name in _asked_about(folder) - {*there}:
            raise DataError(f"{folder}/graphs/{name}-graph.json: there is no such file.")
        if name not in there:
            raise UsageError(f"no scene '{name}' in {folder}.{did_you_mean(name, there)}")
    return [name for name in there if scenes is None or name in scenes]


def _asked_about(folder: Path) -> set[str]:
    found = [*folder.glob(f"qa/*{_ENDING}"), *folder.glob(f"*{_ENDING}")]
    return {path.name.removesuffix(_ENDING) for path in found}


def _bodies(folder: Path, given: Path | str | None) -> tuple[Embodiment, ...]:
    if given is not None:
        return load_bodies(Path(given))
    own = folder / _PROFILES
    return load_bodies(own) if own.is_file() else builtin_bodies()


def _questions(folder: Path, scene: Scene, table: Traversability) -> Iterator[CapnavQuestion]:
    name = f"{scene.id}{_ENDING}"
    inside = folder / "qa" / name
    path = inside if inside.is_file() or not (folder / name).is_file() else folder / name
    try:
        asked = read_json(path, _FILE, most=_MOST_BYTES)
    except SceneError as error:
        raise DataError(str(error)) from error
    nodes, struck = NodeIndex(scene), {_plain(text) for text in table.hallucinated}
    for number, each in enumerate(asked, 1):
        said = each.nodes_involved
        yield CapnavQuestion(
            id=f"{scene.id}_q{number:02d}",
            scene=scene.id,
            text=each.question,
            start=nodes.resolve(said.start).node,
            end=nodes.resolve(said.end).node,
            said=(said.start, said.end),
            hallucinated=_plain(each.question) in struck,
        )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _name(body: Embodiment | str) -> str:
    return canonical_name(body if isinstance(body, str) else body.name)


_FEASIBLE = {True: "feasible", False: "not", None: "unknown"}


def count_truths(benchmark: CapnavBenchmark) -> dict[str, Any]:
    """Count feasible, infeasible and unknown questions by scene and body, as JSON."""
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


def _of_scene(benchmark: CapnavBenchmark, scene: str) -> dict[str, Any]:
    table = benchmark.traversability[scene]
    asked = [q for q in benchmark.questions if q.scene == scene]
    bodies = {}
    for body in benchmark.bodies:
        if body.name in table.bodies:
            counts = Counter(_FEASIBLE[benchmark.feasible(q, body)] for q in asked if not q.problem)
            bodies[body.name] = {word: counts[word] for word in _FEASIBLE.values()}
    unlabelled = sum(
        table.passage(who, a, b).traversable is None for who in table.bodies for a, b in table.edges
    )
    return {
        "nodes": len(table.nodes),
        "edges": len(table.edges),
        "questions": len(asked),
        "unresolved": sum(q.problem is not None for q in asked),
        "unlabelled_cells": unlabelled,
        "bodies": bodies,
    }


def truth_tables(benchmark: CapnavBenchmark) -> Iterator[Table]:
    """Yield the counts of `count_truths` as a table: a row for each scene, and a total."""
    record = count_truths(benchmark)
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
            *(_in_words(of["bodies"].get(name)) for name in names),
        )
        for scene, of in record["scenes"].items()
    ]
    totals = [
        sum(of[key] for of in record["scenes"].values())
        for key in ("nodes", "edges", "questions", "unresolved", "unlabelled_cells")
    ]
    whole = ("all", *map(str, totals), *(_in_words(record["bodies"][name]) for name in names))
    header = ("scene", "nodes", "edges", "questions", "unresolved", "cells", *names)
    yield Table("Who gets there", note, header, (*rows, whole))


def _in_words(counts: dict[str, int] | None) -> str:
    if counts is None:
        return "–"
    return " / ".join(str(counts.get(word, 0)) for word in _FEASIBLE.values())


def infeasible_pairs(
    benchmark: CapnavBenchmark,
) -> Iterator[tuple[CapnavQuestion, str, list[Passage]]]:
    """Yield infeasible questions and bodies with the blocking passages ([] for no route)."""
    for question in benchmark.questions:
        if question.problem:
            continue
        for body in benchmark.bodies:
            if body.name not in benchmark.traversability[question.scene].bodies:
                continue
            if benchmark.feasible(question, body) is False:
                yield question, body.name, list(benchmark.truth(question, body).blocking)
