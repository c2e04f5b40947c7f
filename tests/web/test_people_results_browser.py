"""What came of a people's study, as a report's pages: no complaint, no rater's link in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.evals.people.study_folder import read_rater_tokens
from tests.evals.people.test_people_results import simulated_study
from tests.web.browsing import browser, needs_browser, page_of

pytestmark = [pytest.mark.browser, needs_browser]

PAGES = {
    "agreement": "Krippendorff",
    "judge": "The judge beside the people",
    "differ": "Items that people differ on most",
    "progress": "one answer throughout: verdict",
    "sample/i0003": "What was said",
}


def test_the_report_of_a_study_is_looked_at(tmp_path: Path) -> None:
    people = simulated_study(tmp_path / "study")
    assert main(["report", str(people.path)]) == 0
    page = people.path / "report.html"
    assert not any(token in page.read_text() for token in read_rater_tokens(people.path).values())
    with browser() as opened:
        for width, scheme in ((1280, "light"), (360, "dark")):
            with page_of(opened, "file://", width=width, scheme=scheme) as watched:
                watched.open(f"file://{page}")
                assert watched.here == "#/source/0/agreement"
                for name, words in PAGES.items():
                    watched.open(f"file://{page}#/source/0/{name}")
                    assert words in watched.page.inner_text("main"), name
                    assert watched.violations() == [], name
                    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
                watched.open(f"file://{page}#/source/0/differ")
                watched.page.locator("main table a").first.click()
                watched.page.wait_for_selector("text=What is known of it")
                assert watched.wrong == []
