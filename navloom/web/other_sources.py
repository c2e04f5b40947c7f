"""Sources other than runs: a dataset, a report of several runs, a home."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from navloom.evals.navcraft import dataset_page
from navloom.evals.report.blocks import Block, Column, SampleDetail
from navloom.evals.report.report_files import NAME, SavedReport, read_report
from navloom.evals.run_scenes import scene_blocks
from navloom.files import LinePosition
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import SceneLookup, get_scene, list_scenes, load_scene
from navloom.web.line_index import IndexRow, row_cells
from navloom.web.run_source import FIRST, Source, SourceHeader, file_stamp

_NOWHERE = LinePosition(0, 0, 0)


class DatasetSource(Source):
    """A dataset file, with the findings of ``navloom validate``.

    Args:
        path: the file.
        scenes: specs of its homes; the package and ``$NAVLOOM_DATA`` unless given.

    Raises:
        UsageError: it cannot be read; SceneError: ``scenes`` names no home.
    """

    def __init__(self, path: Path, scenes: Sequence[str] = ()) -> None:
        self.path = path
        self._where = tuple(scenes) or None
        self._columns = (*FIRST, *dataset_page.dataset_columns())
        self._read: tuple[int, int] | None = None
        self._lines: dict[str, Any] = {}
        self._rows: list[IndexRow] = []
        self.rows()

    @property
    def columns(self) -> Sequence[Column]:
        """Columns of a task, as in a run of NavCraft, and its findings."""
        return self._columns

    def rows(self) -> Sequence[IndexRow]:
        """Return all lines; read the file again if it has changed."""
        now = file_stamp(self.path)
        if now != self._read:
            found = dataset_page.dataset_rows(self.path, self._where)
            self._lines = {row["id"]: row for row in found}
            lines = self._lines.values()
            self._rows = [IndexRow(x["id"], row_cells(self._columns, x), _NOWHERE) for x in lines]
            self._read = now
        return self._rows

    def state(self) -> tuple[Any, ...]:
        """Return the file's size and modification time."""
        return file_stamp(self.path)

    def header(self) -> SourceHeader:
        """Return the number of tasks, and how many are valid."""
        rows = self.rows()
        wrong = sum(bool(line["findings"]) for line in self._lines.values())
        score = f"valid {len(rows) - wrong} of {len(rows)}" if rows else None
        cells = {"name": self.path.name, "kind": "dataset", "samples": len(rows), "score": score}
        tabs = (("dataset", "What it comes to"),)
        return SourceHeader(
            name=self.path.name, kind="dataset", cells=cells, tabs=tabs, things="tasks"
        )

    def tab(self, name: str) -> Sequence[Block]:
        """Return tables of the dataset's findings and task quality."""
        del name
        self.rows()
        return dataset_page.dataset_tables(self.path, list(self._lines.values()))

    def detail(self, name: str) -> SampleDetail:
        """Return the detail of one task."""
        return dataset_page.dataset_detail(self.path, self._lines[name], self._where)

    def scenes(self) -> Iterable[str]:
        """Return the scenes that the lines name."""
        return dict.fromkeys(line["scene"] for line in self._lines.values() if line["scene"])

    def load(self, uri: str) -> Scene:
        """Load a scene by its name in the file."""
        return self._homes.load(uri)

    @cached_property
    def _homes(self) -> SceneLookup:
        return SceneLookup(self._where)


class ReportSource(Source):
    """A report of several runs together, or of a home's mends.

    Args:
        path: the report's folder.
        said: the report; None reads it from the folder's ``report.json``.
        runs: folders of the runs, by name; those in the folder unless given.

    Raises:
        RunError: ``report.json`` cannot be read.
    """

    def __init__(
        self, path: Path, said: SavedReport | None = None, runs: Mapping[str, Path] | None = None
    ) -> None:
        self.path = path
        self._given, self._runs = said, runs
        self._said = said or read_report(path)
        self._was = self.state()

    def state(self) -> tuple[Any, ...]:
        """Return the size and time of ``report.json``; empty for a given report."""
        return () if self._given else file_stamp(self.path / NAME)

    def header(self) -> SourceHeader:
        """Return the title of the report."""
        said, kind = self._now(), "report" if self._given else self._said.what
        name = said.title if self._given else self.path.resolve().name
        cells = {"name": name, "kind": kind, "task": said.title}
        tabs = (("report", "Report"),)
        return SourceHeader(name=name, kind=kind, cells=cells, tabs=tabs)

    def tab(self, name: str) -> Sequence[Block]:
        """Return the blocks of the report."""
        del name
        return self._now().blocks

    def scenes(self) -> Iterable[str]:
        """Return the scenes whose licences cover private blocks of the report."""
        return self._now().scenes

    def runs(self) -> Mapping[str, Path]:
        """Return the folders of the report's runs, by name."""
        if self._runs is not None:
            return self._runs
        return {each.name: each for each in self.path.iterdir() if (each / "run.json").is_file()}

    def _now(self) -> SavedReport:
        """Return the current report; a study that is still running rewrites its file."""
        if self.state() != self._was:
            self._said, self._was = read_report(self.path), self.state()
        return self._said


class HomeSource(Source):
    """A scene, given by its URI.

    Raises:
        SceneError: there is no such scene.
    """

    def __init__(self, uri: str) -> None:
        self.path = Path(uri)
        self.uri = uri
        load_scene(uri)

    def header(self) -> SourceHeader:
        """Return the home's URI as its name."""
        cells = {"name": self.uri, "kind": "home"}
        return SourceHeader(name=self.uri, kind="home", cells=cells, tabs=(("home", "Home"),))

    def tab(self, name: str) -> Sequence[Block]:
        """Return the home's plan, rooms and items."""
        del name
        return scene_blocks(get_scene(self.uri), self.uri)

    def scenes(self) -> Iterable[str]:
        """Return the home's own URI."""
        return (self.uri,)


def home_sources(spec: str) -> list[Source]:
    """Return the homes of a spec as sources, at most fifty."""
    return [HomeSource(uri) for uri in list_scenes(spec)[:50]]
