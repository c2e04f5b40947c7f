"""The pages in a browser: by keyboard, light and dark, wide and narrow, without a complaint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from navloom.web.bundle import write_bundle
from navloom.web.documents import Documents
from tests.web.browsing import addresses, browser, needs_browser, page_of, static_host
from tests.web.conftest import Served

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as made:
        yield made


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")]
)
def test_every_page_is_without_a_complaint(
    opened: Any, served: Served, documents: Documents, width: int, scheme: str
) -> None:
    with page_of(opened, served.origin, width=width, scheme=scheme) as watched:
        for to in addresses(documents):
            watched.open(served.address(to))
            assert "Not here" not in watched.page.title(), to
            assert watched.violations() == [], to
            assert watched.wrong == [], to
            wide = watched.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{to} is {wide} pixels wide"


def test_three_hundred_and_twenty_pixels_do_not_scroll_sideways(
    opened: Any, served: Served, documents: Documents
) -> None:
    with page_of(opened, served.origin, width=320) as watched:
        for to in addresses(documents):
            watched.open(served.address(to))
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= 320, to


def test_all_is_reached_by_keys(opened: Any, served: Served, documents: Documents) -> None:
    with page_of(opened, served.origin) as watched:
        keys = watched.page.keyboard
        watched.open(served.address("/?all=1"))
        keys.press("j")
        keys.press("Enter")
        watched.page.wait_for_function("() => location.hash.startsWith('#/source/0')")
        watched.settle()
        keys.press("/")
        keys.type("status=ok")
        keys.press("Escape")
        shown = watched.page.inner_text(".count")
        assert "of" in shown
        assert "filter=status" in watched.here
        keys.press("j")
        keys.press("Enter")
        watched.page.wait_for_function("() => location.hash.includes('/sample/')")
        watched.settle()
        first = watched.here
        box = "document.querySelector('.map-floor:not([hidden]) svg').getAttribute('viewBox')"
        whole = watched.page.evaluate(box)
        keys.press("+")
        assert watched.page.evaluate(box) != whole
        keys.press("0")
        assert watched.page.evaluate(box) == whole
        keys.press("ArrowRight")
        keys.press("ArrowRight")
        watched.page.wait_for_function("() => location.hash.includes('step=3')")
        keys.press("]")
        watched.page.wait_for_function(f"() => !location.hash.startsWith({first.split('?')[0]!r})")
        watched.settle()
        keys.press("?")
        assert watched.page.is_visible("dialog")
        keys.press("Escape")
        keys.press("Escape")
        watched.page.wait_for_function("() => location.hash.includes('/samples')")
        assert "filter=status" in watched.here
        assert watched.wrong == []


def test_a_link_shows_the_same_from_the_server_and_from_every_bundle(
    opened: Any, served: Served, documents: Documents, tmp_path: Path
) -> None:
    write_bundle(documents, tmp_path / "bundle", print)
    write_bundle(documents, tmp_path / "all.html", print)
    with static_host(tmp_path) as host:
        for to in addresses(documents):
            with page_of(opened, served.origin) as watched:
                watched.open(served.address(to))
                expected = watched.page.inner_text("main")
            for start in (
                f"file://{tmp_path}/bundle/index.html",
                f"{host}/bundle/index.html",
                f"file://{tmp_path}/all.html",
            ):
                with page_of(opened, host) as watched:
                    watched.open(f"{start}#{to}")
                    assert watched.page.inner_text("main") == expected, f"{start}#{to}"
                    assert watched.wrong == [], f"{start}#{to}"


def test_few_rows_stand_in_the_page(opened: Any, served: Served) -> None:
    made = """() => {
      const columns = [{name: 'id', form: 'text'}, {name: 'SPL', form: 'share'}];
      const rows = Array.from({length: 10000},
        (_, i) => ({id: 's' + i, cells: ['s' + i, i / 10000]}));
      const table = Navloom.table({columns, rows, state: {}, told() {}, open() {}, label: 'rows'});
      document.querySelector('main').replaceChildren(table.node);
      window.made = table;
    }"""
    with page_of(opened, served.origin) as watched:
        watched.open(served.address("/?all=1"))
        watched.page.evaluate(made)
        for top in (0, 90_000, 10_000_000):
            watched.page.evaluate(f"document.querySelector('.rows').scrollTop = {top}")
            watched.page.wait_for_timeout(200)
            assert watched.page.locator(".rows tbody tr").count() < 200
        assert "s9999" in watched.page.inner_text(".rows")
        watched.page.evaluate("made.change({filter: 'SPL<0.001', sort: '-SPL'})")
        shown = watched.page.inner_text(".rows tbody").split()
        assert shown[0] == "s9"
        assert watched.page.inner_text(".count") == "10 of 10,000 rows"
