"""Pages of every kind of run, of a dataset and of homes: looked at by axe, and again in bundles."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.run_kinds import KINDS
from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources
from tests.evals.every_kind import make_every_kind
from tests.web.browsing import addresses, browser, needs_browser, page_of, static_host
from tests.web.conftest import Served, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of all kinds; relays that were driven, walks with pictures and with contacts."""
    at = tmp_path_factory.mktemp("all")
    make_every_kind(at)
    homes = ("scenes", "render", "demo:flat", "--size", "64", "--light", "flat")
    assert main([*homes, "--out", str(at / "_panoramas")]) == 0
    walk, quiet = ("eval", "scene", "demo:flat", "--n", "2"), ("--display", "none")
    bodily = ("--physics", "strict", "--body", "VLNVERSE", "--backend", "embedded")
    assert main([*walk, *bodily, *quiet, "--out", str(at / "touching")]) == 0
    seen = ("--panoramas", str(at / "_panoramas"))
    assert main([*walk, *seen, *quiet, "--out", str(at / "pictures")]) == 0
    driven = ("synth", "collab", "demo:flat", "--n", "1", "--verify-sim")
    assert main([*driven, *quiet, "--out", str(at / "driven")]) == 0
    assert main(["export", str(at / "collab"), "--out", str(at / "relays.jsonl")]) == 0
    return at


@pytest.fixture(scope="module")
def sources(folder: Path) -> list[str]:
    """All of them, a home, and last a copy of each kind of run to hold it against."""
    again = folder / "again"
    for name in KINDS:
        shutil.copytree(folder / name, again / name)
    first = [*KINDS, "touching", "pictures", "driven", "relays.jsonl"]
    return [*(str(folder / each) for each in first), "home:4", str(again)]


@pytest.fixture(scope="module")
def every(sources: list[str]) -> Documents:
    return Documents(open_sources(sources, print))


@pytest.fixture(scope="module")
def pages(every: Documents) -> list[str]:
    """One of each kind of page of each source, and a comparison of each kind of run."""
    return addresses(every, of=len(every.sources) - len(KINDS))


@pytest.fixture(scope="module")
def host(every: Documents) -> Iterator[Served]:
    with serving(every) as made:
        yield made


@pytest.fixture(scope="module")
def opened(host: Served) -> Iterator[Any]:
    """After the runs are made: where a browser is driven, no other loop of events can run."""
    del host
    with browser() as made:
        yield made


def test_there_is_a_page_of_each(every: Documents, pages: list[str]) -> None:
    kinds = {source.header().cells["kind"] for source in every.sources}
    assert len(kinds) >= len(KINDS)
    assert sum(to.startswith("/compare/") for to in pages) >= 2 * len(KINDS)
    assert sum("/sample/" in to for to in pages) >= len(KINDS) + 4


@pytest.mark.parametrize("width", [1280, 360])
def test_axe_and_the_console_find_nothing(
    opened: Any, host: Served, pages: list[str], width: int
) -> None:
    """Light with all rules; dark with those on colours, which are all that it changes."""
    with page_of(opened, host.origin, width=width) as watched:
        for to in pages:
            watched.page.emulate_media(color_scheme="light")
            watched.open(host.address(to))
            assert "Not here" not in watched.page.title(), to
            assert watched.page.locator("main [role=alert]").count() == 0, to
            assert watched.violations() == [], to
            watched.page.emulate_media(color_scheme="dark")
            assert watched.violations("color-contrast") == [], to
            assert watched.wrong == [], to
            wide = watched.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{to} is {wide} pixels wide"


def test_bundles_show_the_same(
    opened: Any, host: Served, every: Documents, pages: list[str], tmp_path: Path
) -> None:
    write_bundle(every, tmp_path / "bundle", print)
    write_bundle(every, tmp_path / "all.html", print)
    with static_host(tmp_path) as static, ExitStack() as held:
        starts = {
            "": host.origin,
            f"file://{tmp_path}/bundle/index.html#": static,
            f"{static}/bundle/index.html#": static,
            f"file://{tmp_path}/all.html#": static,
        }
        watching = {
            start: held.enter_context(page_of(opened, origin)) for start, origin in starts.items()
        }
        for to in pages:
            shown = {}
            for start, watched in watching.items():
                watched.open(f"{start}{to}" if start else host.address(to))
                shown[start] = watched.page.inner_text("main")
                assert watched.wrong == [], f"{start}{to}"
            for start, text in shown.items():
                assert text == shown[""], f"{start}{to}"


def test_a_barrier_and_what_bars_the_way_are_on_the_plan(
    opened: Any, host: Served, every: Documents
) -> None:
    """A wheelchair that does not get there: the passage, the note, and both on the map."""
    at = next(n for n, s in enumerate(every.sources) if s.header().cells["kind"] == "eval capnav")
    source = every.sources[at]
    names = [column.name for column in source.columns]
    row = next(
        row
        for row in source.rows()
        if row.cells[names.index("body")] == "WHEELCHAIR" and "no" in row.cells
    )
    with page_of(opened, host.origin) as watched:
        watched.open(host.address(f"/source/{at}/sample/{row.id}"))
        assert "In the way" in watched.page.inner_text("main")
        titles = watched.page.locator(".map-floor svg title").all_text_contents()
        assert any("turning space" in title for title in titles), titles


def test_pictures_have_the_options_on_them(opened: Any, host: Served, every: Documents) -> None:
    at = next(n for n, s in enumerate(every.sources) if s.header().name == "pictures")
    row = every.sources[at].rows()[0]
    with page_of(opened, host.origin) as watched:
        watched.open(host.address(f"/source/{at}/sample/{row.id}"))
        figures = watched.page.locator(".strip figure")
        names = [text.split("·")[0].strip() for text in figures.all_inner_texts()][:4]
        assert [name.splitlines()[-1].strip() for name in names] == [
            "Left",
            "Front",
            "Right",
            "Back",
        ]
        assert watched.page.locator(".strip img").count() >= 4
        assert watched.page.locator(".strip .marker").count() >= 1
