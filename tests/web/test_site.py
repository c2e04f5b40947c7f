"""The documents as a site: built without a warning, and read from the disk in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.browsing import browser, needs_browser, page_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser, pytest.mark.timeout(1200)]
ROOT = Path(__file__).parents[2]
GRADED = ["index.html", "real-runs.html", "evaluate.html", "api/scenes.html"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="make docs installs what writes the site")
    out = tmp_path_factory.mktemp("site")
    made = subprocess.run(
        [sys.executable, str(ROOT / "docs/site/pages.py"), str(out)], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return out


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as made:
        yield made


def test_every_page_reads_well_from_the_disk(opened: Any, site: Path) -> None:
    """One heading, every picture, nothing asked beyond the site, nothing wider than a phone."""
    pages = [*site.glob("*.html"), *site.glob("formats/*.html"), *site.glob("api/*.html")]
    assert len(pages) > 50
    with page_of(opened, site.as_uri(), width=360) as watched:
        for page in pages:
            watched.page.goto(page.as_uri())
            headings, wide, missing = watched.page.evaluate(
                """async () => {
                    const all = [...document.querySelectorAll("article img")];
                    all.forEach((each) => { each.loading = "eager"; });
                    await Promise.allSettled(all.map((each) => each.decode()));
                    return [document.querySelectorAll("h1").length,
                        document.documentElement.scrollWidth,
                        all.filter((each) => !each.naturalWidth).map((each) => each.src)];
                }"""
            )
            assert missing == [], page.name
            assert headings == 1 or page.name == "search.html", page.name
            assert wide <= 360, f"{page.name} is {wide} pixels wide"
        assert watched.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened: Any, site: Path, scheme: str) -> None:
    with page_of(opened, site.as_uri(), scheme=scheme) as watched:
        for page in GRADED:
            watched.page.goto((site / page).as_uri())
            assert watched.violations() == [], page


def test_a_search_from_the_disk_leads_to_the_page(opened: Any, site: Path) -> None:
    with page_of(opened, site.as_uri()) as watched:
        watched.page.goto((site / "index.html").as_uri())
        watched.page.fill("input[name=q]", "collision rate")
        watched.page.press("input[name=q]", "Enter")
        watched.page.click("#search-results a:has-text('Evaluate navigators')")
        assert "evaluate.html" in watched.page.url
        assert "collision rate is all contacts over all actions" in watched.page.inner_text("body")
        assert watched.wrong == []


def test_runs_are_clicked_through(opened: Any, site: Path) -> None:
    with page_of(opened, site.as_uri()) as watched:
        home = (site / "real-runs.html").as_uri()
        watched.page.goto(home)
        links = watched.page.eval_on_selector_all("a.shown", "all => all.map((a) => a.href)")
        assert len(links) == 5
        for link in links:
            watched.open(link)
            assert watched.page.locator("main a[href^='#/source/']").count() > 0, link
        assert watched.wrong == []
