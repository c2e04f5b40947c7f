"""Everything that a page can ask for: one list, path to JSON document, served or bundled.

    list                     the sources: runs, datasets, homes
    source/N                 one of them: what it is, its columns, tabs, how many rows
    source/N/rows/K          its K-th thousand rows
    source/N/tab/NAME        its scores, cost, request
    source/N/sample/ID       one row: title, blocks
    source/N/calls/ID        the model's calls of it
    plan/KEY                 a scene from above
    compare/A/B              two sources that pair: differences
    compare/A/B/ID           one pair

A path is taken apart into numbers and ids and looked up; no part of it ever names a file.
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
from navloom.evals.report.blocks import Detail, Prose, SceneMap, record_of
from navloom.evals.report.paired import comparison_blocks, pair_detail
from navloom.evals.run_folder import package_version
from navloom.models.secrets import redacted
from navloom.web.run_source import CHUNK, LICENSED, LIST_COLUMNS, Source

_MOST_PLANS = 12
_HOLDS = (dict, list)
MOST_COMPARED, _MOST_PAIRS = 40, 500
"""Comparisons of two runs that a bundle has, and pairs of samples in all of them."""
_NOT_GIVEN = (
    "Left out: the licence of this scene keeps its plan, captions, prompts and pictures from being"
    " given on. Whoever may have them makes the bundle with --with-licensed."
)


class NotThereError(NavloomError):
    """No document of this path: a link to what is gone, or to what never was."""


class NotGivenError(NavloomError):
    """A plan that a licence keeps from being given on."""


class Documents:
    """The documents of some sources.

    Args:
        sources: what is looked at.
        given: whether they are to be given to others, who are not told where files lay here.
        licensed: whether what scenes' licences keep is shown; on one's own machine it is.
        details: what is shown of some samples in place of their source's detail, by folder and id.

    Attributes:
        kept_back: scenes of which something was not shown, for their licence.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        given: bool = False,
        licensed: bool = True,
        details: Mapping[tuple[Path, str], Detail] | None = None,
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
        # Sources and scenes are read in worker threads; one at a time is quick enough.
        self._lock = threading.RLock()

    def _named_places(self) -> Iterator[str]:
        for source in self.sources:
            found = {str(source.path.resolve().parent), str(source.path.absolute().parent)}
            yield from found - {"/"}

    def get(self, path: str) -> Any:
        """The document of a path, as JSON.

        Raises:
            NotThereError: there is none; the message says what is not there.
            NavloomError: what it is about cannot be read; in one line.
        """
        with self._lock:
            found = redacted(self._made(path))
        if not self._places:
            return found
        said = json.dumps(found, ensure_ascii=False)
        lies = any(json.dumps(place, ensure_ascii=False)[1:-1] in said for place in self._places)
        return self.without_places(found) if lies else found

    def without_places(self, made: Any) -> Any:
        """JSON without the folders in which sources lie: what is below them is said from there."""
        if isinstance(made, str):
            for place in self._places:
                made = made.replace(f"{place}/", "").replace(place, "…")
            return made
        if isinstance(made, list):
            return [self.without_places(each) for each in made]
        if isinstance(made, dict):
            return {key: self.without_places(each) for key, each in made.items()}
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
        raise NotThereError(f"there is no page of '{path[:80]}': go back to the list of runs")

    def paths(self) -> Iterator[str]:
        """All paths of a bundle, scenes' plans last, when it is known which are needed."""
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
            if not self.comparable(a, b):
                continue
            theirs = {row.id for row in self.sources[b].rows()}
            both = [row.id for row in self.sources[a].rows() if row.id in theirs][:room]
            room -= len(both)
            yield from (f"compare/{a}/{b}/{name}" for name in both)
        for key in list(self._scenes):
            yield f"plan/{key}"

    def pairs(self) -> list[tuple[int, int]]:
        """Which two sources can be held against each other: the first with each, and so on."""
        kinds = [source.header().pairs for source in self.sources]
        every = combinations(range(len(kinds)), 2)
        return [(a, b) for a, b in every if kinds[a] and kinds[a] == kinds[b]]

    def comparable(self, a: int, b: int) -> bool:
        """Whether samples of one id are one thing in both, so that there is something to say."""
        try:
            self._compare(str(a), str(b))
        except NavloomError:
            return False
        return True

    def _of(self, n: str) -> Source:
        if n.isascii() and n.isdigit() and len(n) < 6 and int(n) < len(self.sources):
            return self.sources[int(n)]
        raise NotThereError(f"there is no source {n[:20]}: {len(self.sources)} are open")

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
            raise NotThereError(f"there are no rows '{k[:20]}'")
        begin = int(k) * CHUNK
        # Lines were redacted as they were written.
        return [[row.id, row.cells] for row in rows[begin : begin + CHUNK]]

    def _tab(self, n: str, name: str) -> Any:
        source = self._of(n)
        if name not in dict(source.header().tabs):
            raise NotThereError(f"'{source.header().name}' has no page '{name[:40]}'")
        blocks = source.tab(name)
        return self._shown(source, blocks, self._scene_of(source, blocks))

    def _sample(self, n: str, name: str) -> Any:
        source = self._of(n)
        try:
            detail = self._details.get((source.path, name)) or source.detail(name)
        except KeyError:
            raise NotThereError(
                f"'{source.header().name}' has no sample '{name[:80]}': it may have been retried"
            ) from None
        return self._shown(source, detail, self._scene_of(source, detail))

    def _calls(self, n: str, name: str) -> Any:
        source = self._of(n)
        try:
            blocks = source.calls(name)
        except KeyError:
            raise NotThereError(f"no calls of '{name[:80]}' are kept") from None
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
            raise NotThereError(f"one of both runs has no sample '{name[:80]}'") from None
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
        """Whose licence what is shown may be under: a map's scene, or any that the source names."""
        if self.licensed or not detail:
            return ""
        for block in _maps(detail):
            return block.scene
        # Of ten thousand samples with calls each would look through the scenes of all.
        now = source.state()
        if self._licences.get(source, (None,))[0] != now:
            found = (scene for scene in source.scenes() if scene.startswith(LICENSED))
            self._licences[source] = now, next(found, "")
        return str(self._licences[source][1])

    def _shown(self, source: Source, value: Any, scene: str) -> Any:
        """Blocks as JSON, scenes by their keys; without what may not be given on."""
        made = record_of(value)
        if not self.licensed and scene.startswith(LICENSED):
            self.kept_back.add(scene)
            made = _without_private(made)
        runs = {name: self._number(path) for name, path in source.runs().items()}
        self._keyed(made, runs, source)
        return made

    def _keyed(self, made: Any, runs: Mapping[str, int | None], source: Source) -> None:
        """Put plans' keys into maps, and where runs are into addresses, in place."""
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
        """Which source a run is."""
        there = path.resolve()
        return next(
            (n for n, each in enumerate(self.sources) if each.path.resolve() == there), None
        )

    @staticmethod
    def key(scene: str) -> str:
        """What a scene's plan is called in paths."""
        return content_key(scene)[:16]

    def _plan(self, key: str) -> Any:
        if key not in self._scenes:
            self._find(key)
        source, uri = self._scenes[key]
        if not self.licensed and uri.startswith(LICENSED):
            self.kept_back.add(uri)
            raise NotGivenError(_NOT_GIVEN)
        return self._drawn(source, uri)

    def _find(self, key: str) -> None:
        """After a restart a link asks for a plan before the sample that named its scene."""
        for source in self.sources:
            for uri in source.scenes():
                self._scenes[self.key(uri)] = source, uri
        if key not in self._scenes:
            raise NotThereError("there is no such plan: load the sample's page again")


def _drawn(source: Source, uri: str) -> Any:
    from navloom.scenes.plan_data import plan_data
    from navloom.scenes.plan_svg import plan_drawing

    return plan_drawing(plan_data(source.load(uri)), graph=True).record()


def _column(column: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(column).items() if key != "of"}


def _led(to: Any, runs: Mapping[str, int | None]) -> Any:
    """Addresses ``run/NAME/...`` from the page's root; empty where that run is not open."""
    if isinstance(to, list):
        return [_led(each, runs) for each in to]
    if not str(to).startswith("run/"):
        return to
    name, _, rest = str(to).removeprefix("run/").partition("/")
    number = runs.get(unquote(name))
    return "" if number is None else f"#/source/{number}/{rest}"


def _maps(value: Any) -> Iterator[SceneMap]:
    """All maps within blocks."""
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
            return record_of(Prose(text=_NOT_GIVEN, title=str(made.get("title", ""))))
        return {key: _without_private(each) for key, each in made.items()}
    return made


def _steps_alone(made: dict[str, Any]) -> dict[str, Any]:
    """A map without its scene: what is on no plan, no picture and no caption of it."""
    shown = ("block", "title", "scene", "lanes", "unit")
    kept: dict[str, Any] = {key: made[key] for key in shown if key in made}
    frames = [
        {key: value for key, value in frame.items() if key not in ("options", "strip")}
        for frame in made.get("frames", ())
    ]
    return {**kept, "frames": _without_private(frames)}
