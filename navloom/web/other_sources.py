"""A home as a page looks at it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from navloom.evals.report.blocks import Block, Detail, SceneMap
from navloom.evals.report.line_columns import Column
from navloom.scenes.uri import list_scenes, load_scene
from navloom.web.index import Row
from navloom.web.source import Header, Source


class HomeSource(Source):
    """A scene, by its URI.

    Raises:
        SceneError: there is none, or the name says several.
    """

    def __init__(self, name: str) -> None:
        self.uri = list_scenes(name)[0]

    @property
    def columns(self) -> Sequence[Column]:
        """It has no rows."""
        return ()

    def rows(self) -> Sequence[Row]:
        """None."""
        return ()

    def header(self) -> Header:
        """Its name."""
        load_scene(self.uri)
        cells = {"name": self.uri, "kind": "home"}
        return Header(name=self.uri, kind="home", cells=cells, tabs=(("home", "Home"),))

    def tab(self, name: str) -> Sequence[Block]:
        """Its plan."""
        del name
        return (SceneMap(scene=self.uri),)

    def detail(self, name: str) -> Detail:
        """It has no rows."""
        raise KeyError(name)

    def scenes(self) -> Iterable[str]:
        """Itself."""
        return (self.uri,)
