"""JSON documents of the pages, by path; the server and bundles use the same ones.

    list                     the sources: runs, datasets, homes
    source/N                 one source: its kind, columns, tabs, number of rows
    source/N/rows/K          its K-th thousand rows
    source/N/tab/NAME        its scores, cost, request
    source/N/sample/ID       one row: title, blocks
    source/N/calls/ID        its model calls
    plan/KEY                 a scene from above
    compare/A/B              differences of two comparable sources
    compare/A/B/ID           one pair of samples

A path is split into numbers and ids, which are looked up; no part of it ever names a file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from navloom.disk_cache import content_key
from navloom.errors import NavloomError, RunError
from navloom.evals.report.blocks import Prose, SampleDetail, SceneMap, block_to_json
from navloom.evals.report.comparison_report import comparison_blocks, pair_detail
from navloom.evals.run_folder import package_version
from navloom.models.redaction import redact_value
from navloom.web.run_source import CHUNK, LICENSED, LIST_COLUMNS, Source

_MOST_PLANS = 12
_HOLDS = (dict, list)
MOST_COMPARED, _MOST_PAIRS = 40, 500
"""Limits of a bundle: comparisons of two runs, and pairs of samples in all of them."""
_NOT_GIVEN = (
    "Left out: the licence of this scene keeps its plan, captions, prompts and pictures from being"
    " given on. Whoever may have them makes the bundle with --with-licensed."
)


class NoDocumentError(NavloomError):
    """No document exists at this path, or not any more."""


class WithheldError(NavloomError):
    """A plan that is withheld because of its scene's licence."""


class Documents:
    """The JSON documents of a list of sources.

    Args:
        sources: the sources.
        given: whether the documents go to others; local paths are then removed.
        licensed: whether to show data that scene licences restrict, as on the owner's machine.
        details: details of some samples that replace those of their source, by folder and id.

    Attributes:
        kept_back: scenes of which some data was withheld because of the licence.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        given: bool = False,
        licensed: bool = True,
        details: Mapping[tuple[Path, str], SampleDetail] | None = None,
    ) -> None:
        self.sources = list(sources)
        self.licensed = licensed
        self.kept_back: set[str] = set()
        self._details = details or {}
        self._compared: tuple[Any, ...] = ()
        self._licences: dict[Source, tuple[Any, ...]] = {}
        self._places = sorted(self._named_places(), key=len, reverse=True) if given else []
        self._drawn = lru_cache(maxsize=_MOST_PLANS)(_drawn)
        self._scenes: dict[str, tuple[Source, str]] = {}
        # Worker threads read sources and scenes; one at a time is fast enough.
        self._lock = threading.RLock()

    def _named_places(self) -> Iterator[str]:
        for source in self.sources:
            found = {str(source.path.resolve().parent), str(source.path.absolute().parent)}
            yield from found - {"/"}

    def get(self, path: str) -> Any:
        """Return the document of a path, as JSON.

        Raises:
            NoDocumentError: there is no such document; the message says what is missing.
            NavloomError: its source cannot be read; the message is one line.
        """
        with self._lock:
            found = redact_value(self._made(path))
        if not self._places:
            return found
        said = json.dumps(found, ensure_ascii=False)
        lies = any(json.dumps(place, ensure_ascii=False)[1:-1] in said for place in self._places)
        return self.with_relative_paths(found) if lies else found

    def with_relative_paths(self, made: Any) -> Any:
        """Return JSON in which paths are relative to the sources' folders."""
        if isinstance(made, str):
            for place in self._places:
                made = made.replace(f"{place}/", "").replace(place, "…")
            return made
        if isinstance(made, list):
            return [self.with_relative_paths(each) for each in made]
        if isinstance(made, dict):
            return {key: self.with_relative_paths(each) for key, each in made.items()}
        return made

    def _made(self, path: str) -> Any:
        match path.split("/"):
            case ["list"]:
                return self._list()
            case ["source", n]:
                return self._source(n)
            case ["source", n, "rows", k]:
                return self._rows(n, k)
            case ["source", n, "tab", name]:
                return self._tab(n, name)
            case ["source", n, "sample", name]:
                return self._sample(n, name)
            case ["source", n, "calls", name]:
                return self._calls(n, name)
            case ["plan", key]:
                return self._plan(key)
            case ["compare", a, b]:
                return self._compare(a, b)
            case ["compare", a, b, name]:
                return self._pair(a, b, name)
        raise NoDocumentError(f"there is no page of '{path[:80]}': go back to the list of runs")

    def paths(self) -> Iterator[str]:
        """Yield all paths of a bundle; plans come last, when it is known which are needed."""
        yield "list"
        for n, source in enumerate(self.sources):
            yield f"source/{n}"
            rows = source.rows()
            for k in range(-(-len(rows) // CHUNK)):
                yield f"source/{n}/rows/{k}"
            for name, _ in source.header().tabs:
                yield f"source/{n}/tab/{name}"
            for row in rows:
                yield f"source/{n}/sample/{row.id}"
                yield f"source/{n}/calls/{row.id}"
        room = _MOST_PAIRS
        for a, b in self.pairs()[:MOST_COMPARED]:
            yield f"compare/{a}/{b}"
            if not self.can_compare(a, b):
                continue
            theirs = {row.id for row in self.sources[b].rows()}
            both = [row.id for row in self.sources[a].rows() if row.id in theirs][:room]
            room -= len(both)
            yield from (f"compare/{a}/{b}/{name}" for name in both)
        for key in list(self._scenes):
            yield f"plan/{key}"

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs of sources, by number, whose kinds can be compared."""
        kinds = [source.header().pairs for source in self.sources]
        every = combinations(range(len(kinds)), 2)
        return [(a, b) for a, b in every if kinds[a] and kinds[a] == kinds[b]]

    def can_compare(self, a: int, b: int) -> bool:
        """Check whether the comparison of two sources can be made."""
        try:
            self._compare(str(a), str(b))
        except NavloomError:
            return False
        return True

    def _of(self, n: str) -> Source:
        if n.isascii() and n.isdigit() and len(n) < 6 and int(n) < len(self.sources):
            return self.sources[int(n)]
        raise NoDocumentError(f"there is no source {n[:20]}: {len(self.sources)} are open")

    def _list(self) -> Any:
        names = [column.name for column in LIST_COLUMNS]
        rows = []
        for n, source in enumerate(self.sources):
            head = source.header()
            values = {**head.cells, "$": head.cells.get("usd")}
            rows.append({"id": str(n), "cells": [values.get(each) for each in names],
                         "pairs": head.pairs, "kind": head.kind})  # fmt: skip
        return {
            "navloom": package_version("navloom"),
            "columns": [_column(each) for each in LIST_COLUMNS],
            "rows": rows,
        }

    def _source(self, n: str) -> Any:
        source = self._of(n)
        head, rows = source.header(), source.rows()
        return {
            **asdict(head), "n": int(n), "rows": len(rows), "chunk": CHUNK,
            "columns": [_column(each) for each in source.columns],
        }  # fmt: skip

    def _rows(self, n: str, k: str) -> Any:
        rows = self._of(n).rows()
        if not (k.isascii() and k.isdigit() and len(k) < 9):
            raise NoDocumentError(f"there are no rows '{k[:20]}'")
        begin = int(k) * CHUNK
        # Lines were redacted when they were written.
        return [[row.id, row.cells] for row in rows[begin : begin + CHUNK]]

    def _tab(self, n: str, name: str) -> Any:
        source = self._of(n)
        if name not in dict(source.header().tabs):
            raise NoDocumentError(f"'{source.header().name}' has no page '{name[:40]}'")
        blocks = source.tab(name)
        return self._shown(source, blocks, self._scene_of(source, blocks))

    def _sample(self, n: str, name: str) -> Any:
        source = self._of(n)
        try:
            detail = self._details.get((source.path, name)) or source.detail(name)
        except KeyError:
            raise NoDocumentError(
                f"'{source.header().name}' has no sample '{name[:80]}': it may have been retried"
            ) from None
        return self._shown(source, detail, self._scene_of(source, detail))

    def _calls(self, n: str, name: str) -> Any:
        source = self._of(n)
        try:
            blocks = source.calls(name)
        except KeyError:
            raise NoDocumentError(f"no calls of '{name[:80]}' are kept") from None
        return self._shown(source, blocks, self._scene_of(source, blocks))

    def _compare(self, a: str, b: str) -> Any:
        first, second = self._pairing(a, b)
        now = (a, b), first.state(), second.state()
        if self._compared[:1] != (now,):
            self._compared = now, self._shown(first, comparison_blocks(first.path, second.path), "")
        return self._compared[1]

    def _pair(self, a: str, b: str, name: str) -> Any:
        first, second = self._pairing(a, b)
        try:
            lines = first.line(name), second.line(name)
        except KeyError:
            raise NoDocumentError(f"one of both runs has no sample '{name[:80]}'") from None
        detail = pair_detail(first.path, second.path, name, lines)
        return self._shown(first, detail, self._scene_of(first, detail))

    def _pairing(self, a: str, b: str) -> tuple[Source, Source]:
        first, second = self._of(a), self._of(b)
        kinds = first.header().pairs, second.header().pairs
        if not kinds[0] or kinds[0] != kinds[1]:
            names = first.header().name, second.header().name
            raise RunError(f"{names[0]} and {names[1]} are of kinds that are not compared")
        return first, second

    def _scene_of(self, source: Source, detail: Any) -> str:
        """Return the scene whose licence may cover some blocks; empty if none can."""
        if self.licensed or not detail:
            return ""
        for block in _maps(detail):
            return block.scene
        # Cached: else each of ten thousand samples would search the scenes of all.
        now = source.state()
        if self._licences.get(source, (None,))[0] != now:
            found = (scene for scene in source.scenes() if scene.startswith(LICENSED))
            self._licences[source] = now, next(found, "")
        return str(self._licences[source][1])

    def _shown(self, source: Source, value: Any, scene: str) -> Any:
        """Return blocks as JSON, with plan keys for scenes and without restricted data."""
        made = block_to_json(value)
        if not self.licensed and scene.startswith(LICENSED):
            self.kept_back.add(scene)
            made = _without_private(made)
        runs = {name: self._number(path) for name, path in source.runs().items()}
        self._keyed(made, runs, source)
        return made

    def _keyed(self, made: Any, runs: Mapping[str, int | None], source: Source) -> None:
        """Insert plan keys into maps and run addresses into links, in place."""
        inside = made.items() if made.__class__ is dict else enumerate(made)
        for key, each in inside:
            if key == "to" and runs:
                made[key] = _led(each, runs)
            elif each.__class__ in _HOLDS:
                self._keyed(each, runs, source)
        if made.__class__ is dict and made.get("block") == "SceneMap":
            made["plan"] = self.key(made["scene"])
            self._scenes[made["plan"]] = source, made["scene"]

    def _number(self, path: Path) -> int | None:
        """Return the number of the source that shows a run's folder; None if none does."""
        there = path.resolve()
        return next((n for n, of in enumerate(self.sources) if of.path.resolve() == there), None)

    @staticmethod
    def key(scene: str) -> str:
        """Return the key of a scene's plan in paths."""
        return content_key(scene)[:16]

    def _plan(self, key: str) -> Any:
        if key not in self._scenes:
            self._find(key)
        source, uri = self._scenes[key]
        if not self.licensed and uri.startswith(LICENSED):
            self.kept_back.add(uri)
            raise WithheldError(_NOT_GIVEN)
        return self._drawn(source, uri)

    def _find(self, key: str) -> None:
        """Register the plans of all scenes; needed when a link asks for a plan after a restart."""
        for source in self.sources:
            for uri in source.scenes():
                self._scenes[self.key(uri)] = source, uri
        if key not in self._scenes:
            raise NoDocumentError("there is no such plan: load the sample's page again")


def _drawn(source: Source, uri: str) -> Any:
    from navloom.scenes.plan_data import plan_data
    from navloom.scenes.plan_svg import plan_drawing

    return plan_drawing(plan_data(source.load(uri)), graph=True).record()


def _column(column: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(column).items() if key != "of"}


def _led(to: Any, runs: Mapping[str, int | None]) -> Any:
    """Resolve addresses ``run/NAME/...`` to the page's root; empty if that run is not open."""
    if isinstance(to, list):
        return [_led(each, runs) for each in to]
    if not str(to).startswith("run/"):
        return to
    name, _, rest = str(to).removeprefix("run/").partition("/")
    number = runs.get(unquote(name))
    return "" if number is None else f"#/source/{number}/{rest}"


def _maps(value: Any) -> Iterator[SceneMap]:
    """Yield all maps within blocks."""
    if isinstance(value, SceneMap):
        yield value
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _maps(each)
    elif not isinstance(value, type):
        for name in ("blocks", "columns", "variants", "frames"):
            if hasattr(value, name):
                yield from _maps(getattr(value, name))


def _without_private(made: Any) -> Any:
    if isinstance(made, list):
        return [_without_private(each) for each in made]
    if isinstance(made, dict):
        if made.get("block") == "SceneMap":
            return _steps_alone(made)
        if made.get("private"):
            return block_to_json(Prose(text=_NOT_GIVEN, title=str(made.get("title", ""))))
        return {key: _without_private(each) for key, each in made.items()}
    return made


def _steps_alone(made: dict[str, Any]) -> dict[str, Any]:
    """Return a map without its scene's plan, pictures and captions."""
    shown = ("block", "title", "scene", "lanes", "unit")
    kept: dict[str, Any] = {key: made[key] for key in shown if key in made}
    frames = [
        {key: value for key, value in frame.items() if key not in ("options", "strip")}
        for frame in made.get("frames", ())
    ]
    return {**kept, "frames": _without_private(frames)}
