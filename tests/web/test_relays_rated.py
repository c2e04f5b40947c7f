"""Thirty relays of homes, planned twice by scripted raters who see what the form shows alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.evals.people.people_study import prepare_study
from navloom.evals.people.rating_form import read_form
from navloom.evals.people.results import people_results
from navloom.evals.people.study_folder import read_people_study
from tests.web.browsing import browser, needs_browser, page_of
from tests.web.raters import asked, link, planner, rate

RULES = {"rater-1": planner("object", "end"), "rater-2": planner("start_1", "start_2")}


@pytest.mark.browser
@pytest.mark.slow
@needs_browser
@pytest.mark.timeout(1800)
def test_thirty_relays_are_rated_twice_and_blind(tmp_path: Path) -> None:
    run = tmp_path / "relays"
    command = ["synth", "collab", "home:0-35", "--n", "36", "--seed", "5", "--display", "none"]
    assert main([*command, "--out", str(run)]) == 0
    people = prepare_study(read_form("relay"), [str(run)], tmp_path / "asked", raters=2, n=30)
    assert len(people.items) == 30
    with asked(people.path) as served, browser() as opened:
        for rater, rule in RULES.items():
            with page_of(opened, served.origin) as watched:
                told: list[str] = []
                watched.page.on("response", lambda each, told=told: told.append(each.url))
                watched.open(link(served, people, rater))
                watched.page.get_by_role("button", name="I agree").click()
                watched.page.wait_for_selector(".rate")
                assert rate(watched, rule) == 30
                assert watched.wrong == []
                assert not [url for url in told if "/doc/" in url or "/links" in url]
    now = read_people_study(people.path)
    assert [len(said) for said in now.counted().values()] == [30, 30]
    found = people_results(now).record()
    print(found)
    kinds = {each["question"]: each for each in found["questions"]}
    assert [kinds[name]["agreement"]["paired"] for name in ("transfer", "type")] == [30, 30]
