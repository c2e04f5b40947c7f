"""Sources of pages: the interface of a run, dataset or home, and its implementation for a run.

The rows of a run are its lines, errors included. Its tabs show scores, failures, cost and request.
"""

from __future__ import annotations

import fcntl
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.call_log import call_blocks, call_latencies, read_calls
from navloom.evals.people.results import run_blocks, sample_blocks
from navloom.evals.report.blocks import Block, Column, Fact, Facts, Grid, Line, Prose, SampleDetail
from navloom.evals.report.formatting import Table, format_number, percent
from navloom.evals.run_folder import line_form, package_version, read_run, read_summary
from navloom.evals.run_kinds import RunKind, kind_of
from navloom.evals.run_scenes import load_run_scene
from navloom.files import check_format
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import get_scene
from navloom.web.line_index import IndexRow, LineIndex

CHUNK = 1000
"""Number of rows in one document."""
LICENSED = ("hm3d:", "mp3d:", "capnav:", "r2r:")
"""Schemes of scenes whose licence forbids passing on plans, captions and pictures."""


@dataclass(frozen=True, kw_only=True)
class SourceHeader:
    """Summary of a source in the list of sources; a missing value is None.

    Attributes:
        name: the folder's or file's.
        kind: ``run``, ``dataset``, ``home``, ``study``, ``mends``, ``report``.
        cells: values of :data:`LIST_COLUMNS`, by name.
        state: of a run: running, done, stopped, limit, left.
        notes: faults of the source, a line each.
        pairs: sources with the same value can be compared; empty: it cannot be compared.
        tabs: its tabs, each as key and title.
        things: plural noun for its rows.
    """

    name: str
    kind: str
    cells: dict[str, Any]
    state: str = ""
    notes: Sequence[str] = ()
    pairs: str = ""
    tabs: Sequence[tuple[str, str]] = ()
    things: str = "samples"


def field_getter(name: str) -> Any:
    """Return a function that reads a field of a line."""
    return lambda line: line.get(name)


LIST_COLUMNS: tuple[Column, ...] = (
    Column("name", field_getter("name"), "text"),
    Column("kind", field_getter("kind"), "text", facet=True),
    Column("task", field_getter("task"), "text", facet=True),
    Column("agent", field_getter("agent"), "text", facet=True),
    Column("state", field_getter("state"), "text", facet=True),
    Column("score", field_getter("score"), "text", help="Its first score, 95 % interval."),
    Column("ended", field_getter("ended"), "count"),
    Column("errors", field_getter("errors"), "count"),
    Column("models", field_getter("models"), "tags", facet=True),
    Column("split", field_getter("split"), "text", shown=False),
    Column("samples", field_getter("samples"), "count"),
    Column("tokens", field_getter("tokens"), "count", help="In and out."),
    Column("$", field_getter("usd"), "dollars"),
    Column("seconds", field_getter("seconds"), "seconds", help="Of all samples together."),
    Column("date", field_getter("date"), "text"),
)


class Source(ABC):
    """Something to look at on pages; errors are NavloomErrors with a one-line message."""

    path: Path

    @abstractmethod
    def header(self) -> SourceHeader:
        """Return the current summary for the list of sources."""

    @property
    def columns(self) -> Sequence[Column]:
        """Columns of the source's rows."""
        return ()

    def rows(self) -> Sequence[IndexRow]:
        """Return all current rows in order; empty for sources without rows."""
        return ()

    @abstractmethod
    def tab(self, name: str) -> Sequence[Block]:
        """Return the blocks of one of the source's tabs."""

    def detail(self, name: str) -> SampleDetail:
        """Return the detail of one row; raise KeyError if no row has the id."""
        raise KeyError(name)

    def line(self, name: str) -> Line:
        """Return the full line of a finished row; raise KeyError if there is none."""
        raise KeyError(name)

    def calls(self, name: str) -> Sequence[Block]:
        """Return the model calls of one row."""
        del name
        return ()

    def scenes(self) -> Iterable[str]:
        """Return the URIs of the scenes that the source's maps may refer to."""
        return ()

    def runs(self) -> Mapping[str, Path]:
        """Return the folders of a report's runs, by the names in its addresses."""
        return {}

    def load(self, uri: str) -> Scene:
        """Load a scene of the source's maps; raise SceneError if the scene is gone."""
        return get_scene(uri)

    def state(self) -> tuple[Any, ...]:
        """Return a value that changes when the source changes: sizes and times of its files."""
        return ()


def file_stamp(path: Path) -> tuple[int, int]:
    """Return a file's size and modification time in ns; zeros if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_size, found.st_mtime_ns


_MOST_NOTES = 5
_MOST_COMMAND = 10_000
_TABS = (("scores", "Scores"), ("failures", "Failures"), ("cost", "Cost"), ("request", "Request"))
_STUMBLES = (LookupError, TypeError, ValueError, AttributeError)


def _tokens(line: Line) -> int:
    used = line["usage"]
    return int(used.get("input_tokens", 0)) + int(used.get("output_tokens", 0))


FIRST: tuple[Column, ...] = (
    Column("id", lambda line: line["id"], "text"),
    Column("status", lambda line: line.get("status"), "text", facet=True),
    Column("scene", lambda line: line.get("scene"), "text", facet=True),
)
LAST: tuple[Column, ...] = (
    Column("reason", lambda line: line.get("reason"), "text", facet=True),
    Column("message", lambda line: line.get("message"), "text", shown=False),
    Column("tokens", _tokens, "count", help="In and out."),
    Column("$", lambda line: line.get("cost_usd"), "dollars"),
    Column("s", lambda line: line.get("seconds"), "seconds"),
)


class RunSource(Source):
    """A run's folder; nothing is ever written to it.

    Args:
        path: the folder.
        kept: whether its index is cached in the user's cache folder.

    Raises:
        RunError: the folder holds no run, or a run of an unknown kind.
    """

    def __init__(self, path: Path, *, kept: bool = True) -> None:
        self.path = path
        self.said = read_run(path)
        self.kind: RunKind = kind_of(path)
        with check_format(f"{path / 'run.json'}", f"a run of `navloom {self.kind.command}`"):
            own = tuple(self.kind.columns(self.said))
        taken = {column.name for column in own}
        self._columns = (*FIRST, *own, *(each for each in LAST if each.name not in taken))
        key = f"{package_version('navloom')} {self.said.get('line_check')}"
        self._index = LineIndex(
            path / "samples.jsonl", self._columns, line_form(path, "samples.jsonl"), key, kept
        )
        self._errors = self._errors_index()
        self._errors_were: tuple[int, int] | None = None
        self._scenes: list[str] = []
        self._scenes_at: tuple[Any, ...] | None = None
        self._made: dict[str, tuple[tuple[Any, ...] | None, Sequence[Block]]] = {}

    def _errors_index(self) -> LineIndex:
        form = line_form(self.path, "errors.jsonl")
        return LineIndex(self.path / "errors.jsonl", self._columns, form, kept=False)

    @property
    def columns(self) -> Sequence[Column]:
        """Columns of every line, with the columns of this kind of run between them."""
        return self._columns

    def rows(self) -> Sequence[IndexRow]:
        """Return finished samples in the order in which they ended, then those with errors."""
        self._index.update()
        now = file_stamp(self._errors.path)
        if now != self._errors_were:
            # A retry removes errors from this file; it is short, so all of it is read again.
            self._errors, self._errors_were = self._errors_index(), now
            self._errors.update()
        return [*self._index.rows, *self._errors.rows]

    def state(self) -> tuple[Any, ...]:
        """Return the sizes and times of the growing files, and whether the run is running."""
        names = ("samples.jsonl", "errors.jsonl", "summary.json")
        return (*(file_stamp(self.path / each) for each in names), self._running())

    def header(self) -> SourceHeader:
        """Return the current summary of the run for the list of sources."""
        rows, summary, asked = self.rows(), self.summary(), self.said["request"]
        done, errors = len(self._index.rows), len(self._errors.rows)
        state = self._state(summary, len(rows))
        usage = summary.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        tokens = [_number(usage.get(each)) for each in ("input_tokens", "output_tokens")]
        cells = {
            "name": self.path.resolve().name,
            "kind": self.kind.command,
            "task": _text(asked.get("task") or asked.get("kind")),
            "agent": _text(asked.get("agent")),
            "models": self._models(summary),
            "split": _text(asked.get("split")),
            "state": state,
            "samples": _number(summary.get("samples")) if state != "running" else None,
            "ended": done,
            "errors": errors,
            "score": self._score(summary),
            "tokens": sum(each or 0 for each in tokens) if usage else None,
            "usd": _number(summary.get("cost_usd")),
            "seconds": _number(summary.get("sample_seconds")),
            "date": _text(self.said.get("created"))[:16].replace("T", " "),
        }
        broken = [*self._index.broken, *self._errors.broken]
        if len(broken) > _MOST_NOTES:
            broken = [*broken[:_MOST_NOTES], f"and {len(broken) - _MOST_NOTES} lines more"]
        return SourceHeader(
            name=str(cells["name"]),
            kind="run",
            cells=cells,
            state=state,
            notes=broken,
            pairs=self.kind.name if self.kind.pairing else "",
            tabs=tuple(tab for tab in _TABS if tab[0] != "failures" or self.kind.failures),
            things=self.kind.things[0],
        )

    def tab(self, name: str) -> Sequence[Block]:
        """Return the blocks of the tab for scores, failures, cost or request."""
        made = {"scores": self.kind.tables, "failures": self.kind.failures}.get(name)
        if made is not None:
            now, (then, blocks) = self.state(), self._made.get(name, (None, ()))
            if now != then:
                # These read all lines, so they are cached until a line is added.
                with check_format(
                    f"a sample of {self.path}", f"one of `navloom {self.kind.command}`"
                ):
                    blocks = made(self.path)
                self._made[name] = now, blocks
            return [*blocks, *run_blocks(self.path)] if name == "scores" else blocks
        if name == "cost":
            with check_format(f"{self.path / 'summary.json'}", "a summary"):
                return self._cost()
        with check_format(f"{self.path / 'run.json'}", f"a run of `navloom {self.kind.command}`"):
            return self._request()

    def detail(self, name: str) -> SampleDetail:
        """Return the detail of a sample; for a sample with an error, its message."""
        # A link may lead here before the rows were read.
        self.rows()
        index = self._index if name in self._index else self._errors
        line = index.line(name)
        if line.get("status") == "error" or self.kind.detail is None:
            return _plain_detail(line)
        with check_format(
            f"{self.path}: the sample '{name}'", f"one of `navloom {self.kind.command}`"
        ):
            detail: SampleDetail = self.kind.detail(self.path, line)
        people = sample_blocks(self.path, name)
        return replace(detail, blocks=(*detail.blocks[:1], *people, *detail.blocks[1:]))

    def line(self, name: str) -> Line:
        """Return the line of a finished sample."""
        self.rows()
        return self._index.line(name)

    def calls(self, name: str) -> Sequence[Block]:
        """Return the stored prompts, tools, schemas and replies of a sample."""
        return call_blocks(read_calls(self.path, name))

    def scenes(self) -> Iterable[str]:
        """Return the scenes that the run's lines name."""
        rows, now = self.rows(), (len(self._index.rows), self._errors_were)
        if now != self._scenes_at:
            at = next(i for i, column in enumerate(self._columns) if column.name == "scene")
            named = dict.fromkeys(row.cells[at] for row in rows)
            self._scenes, self._scenes_at = [each for each in named if each], now
        return self._scenes

    def load(self, uri: str) -> Scene:
        """Load a scene by its portable name, from the location that the run used."""
        return load_run_scene(self.path, uri)

    def summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``; empty if the file cannot be read."""
        return read_summary(self.path)

    def _score(self, summary: Mapping[str, Any]) -> str | None:
        try:
            first = self.kind.first(summary)
        except _STUMBLES:
            first = None
        ok, ended = summary.get("ok"), len(self._index.rows)
        if first is None and isinstance(ok, int) and ended >= ok > 0:
            return f"ok {percent(ok / ended)}"
        return first

    def _models(self, summary: Mapping[str, Any]) -> list[str]:
        told = summary.get("models")
        found = [
            f"{each.get('role')}: {each.get('model')}"
            for each in (told if isinstance(told, list) else [])
            if isinstance(each, dict)
        ]
        model = self.said["request"].get("model")
        return found or ([str(model)] if model else [])

    def _running(self) -> bool:
        return _locked(self.path / ".lock")

    def _state(self, summary: Mapping[str, Any], rows: int) -> str:
        if self._running():
            return "running"
        if summary.get("limit"):
            return "limit"
        if summary.get("left") == 0 and summary.get("samples") == rows:
            return "done"
        return "stopped"

    def _cost(self) -> Sequence[Block]:
        summary = self.summary()
        head = ("model", "role", "calls", "from the cache", "retries", "tokens in", "tokens out",
                "$", "s a call")  # fmt: skip
        rows = []
        for each in summary.get("models") or []:
            calls = each.get("calls") or 0
            cost = each.get("cost_usd")
            rows.append((
                str(each.get("model")), str(each.get("role")), f"{calls:,}",
                f"{each.get('cached_calls') or 0:,}", f"{each.get('retries') or 0:,}",
                f"{each.get('input_tokens') or 0:,}", f"{each.get('output_tokens') or 0:,}",
                "unknown" if cost is None else f"{cost:.4g}",
                format_number((each.get("seconds") or 0.0) / calls) if calls else "–",
            ))  # fmt: skip
        if not rows:
            return (Prose(text="No session of this run has ended yet: costs are summed then."),)
        note = "Of all sessions that ended; prices are those of the day of each call."
        whole = Grid(Table("By model and role", note, head, tuple(rows)))
        return (whole, *self._latency())

    def _latency(self) -> Sequence[Block]:
        """Return a table of call durations, if calls were stored."""
        rows = []
        for (model, role), seconds in call_latencies(self.path).items():
            places = [seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.9, 1.0)]
            told = (f"{each:.3g} s" for each in places)
            rows.append((model, role, f"{len(seconds):,}", *told))
        if not rows:
            return ()
        head = ("model", "role", "answered", "median", "nine in ten below", "longest")
        note = "Of each call that a model answered, waits between attempts included."
        return (Grid(Table("How long calls took", note, head, tuple(rows))),)

    def _request(self) -> Sequence[Block]:
        said = self.said
        made = {key: said.get(key) for key in ("navloom", "created", "seed")}
        where = dict(said.get("where") or {})
        blocks = [
            _named("What was asked", said["request"]),
            _named("Where its files were", where),
            _named("Made with", {**made, **(said.get("versions") or {}), "git": said.get("git")}),
        ]
        again = _text(said.get("command"), most=_MOST_COMMAND)
        command = [Prose(title="The command again", text=again, exact=True)] if again else []
        return [*command, *(each for each in blocks if each.facts)]


def _named(title: str, values: Mapping[str, Any]) -> Facts:
    facts = [
        Fact(str(key), value if isinstance(value, str) else json.dumps(value))
        for key, value in values.items()
        if value is not None
    ]
    return Facts(title=title, facts=tuple(facts))


def _plain_detail(line: Line) -> SampleDetail:
    """Return the detail of a line with an error, or of a kind without its own details."""
    left = {key: line.get(key) for key in ("status", "reason", "message", "scene", "attempt")}
    blocks: list[Block] = [_named("", {key: value for key, value in left.items() if value})]
    if line.get("result"):
        told = json.dumps(line["result"], indent=1, ensure_ascii=False)[:200_000]
        blocks.append(Prose(title="Result", text=told, exact=True))
    return SampleDetail(title=str(line["id"]), blocks=tuple(blocks))


def _number(value: Any) -> float | None:
    """Return a value if it is a number, else None: the file may have been edited."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18
    return value if fits else None


def _text(value: Any, most: int = 200) -> str:
    return "" if value is None else str(value)[:most]


def _locked(path: Path) -> bool:
    """Check whether a process holds a file's lock; read from ``/proc/locks`` where it exists.

    Elsewhere a shared lock is taken for an instant, which could block a writer that starts then.
    """
    try:
        there = path.stat()
    except OSError:
        return False
    device = f"{os.major(there.st_dev):02x}:{os.minor(there.st_dev):02x}:{there.st_ino}"
    try:
        held = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        pass
    else:
        return any(" FLOCK " in line and f" {device} " in line for line in held.splitlines())
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, NavloomError):
        return False
    return False
