"""Forms in a browser: scripted raters go through each, one is killed half-way and comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from navloom.cli.main import main
from navloom.evals.people.people_study import prepare_study
from navloom.evals.people.rating_form import read_form
from navloom.evals.people.ratings_file import import_answers
from navloom.evals.people.study_folder import PeopleStudy, read_people_study
from navloom.web.offline_forms import write_forms
from tests.web.browsing import browser, needs_browser, page_of
from tests.web.raters import Rule, asked, by_length, link, planner, rate, say

pytestmark = [pytest.mark.browser, pytest.mark.slow, needs_browser, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def judged(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judged") / "trace"
    command = ["judge", "trace", str(runs / "heuristic"), "--model", "builtin/heuristic"]
    assert main([*command, "--out", str(out), "--display", "none"]) == 0
    return out


@pytest.fixture(scope="module")
def opened(judged: Path) -> Iterator[Any]:
    del judged  # made first: an open browser has an event loop
    with browser() as made:
        yield made


def made(form: str, runs: Path, judged: Path, out: Path, raters: int = 2) -> PeopleStudy:
    sources = {
        "relay": [runs / "relays"],
        "instruction": [runs / "heuristic"],
        "author": [runs / "heuristic", runs / "relays"],
        "grade": [judged],
    }[form]
    named = [str(each) for each in sources]
    return prepare_study(read_form(form), named, out, raters=raters, n=4)


RULES: dict[str, Rule] = {
    "relay": planner("object", "end"),
    "instruction": by_length,
    "author": by_length,
    "grade": by_length,
}


@pytest.mark.parametrize("form", RULES)
def test_scripted_raters_go_through_each_form(
    opened: Any, runs: Path, judged: Path, tmp_path: Path, form: str
) -> None:
    people = made(form, runs, judged, tmp_path / form)
    many = len(people.items)
    with asked(people.path) as served:
        for rater in people.raters:
            with page_of(opened, served.origin) as watched:
                watched.open(link(served, people, rater))
                assert watched.violations() == []
                watched.page.get_by_role("button", name="I agree").click()
                watched.page.wait_for_selector(".rate")
                watched.settle()
                assert watched.violations() == []
                assert rate(watched, RULES[form]) == many
                assert watched.page.inner_text("h1") == "Done"
                assert watched.violations() == []
                assert watched.wrong == []
    counted = read_people_study(people.path).counted()
    assert {name: len(said) for name, said in counted.items()} == dict.fromkeys(people.raters, many)
    assert all(each.seconds > 0 for said in counted.values() for each in said.values())
    for file in people.path.iterdir():
        assert "127.0.0.1" not in file.read_text(errors="replace")


def test_who_is_killed_half_way_goes_on_in_another_browser(
    opened: Any, runs: Path, judged: Path, tmp_path: Path
) -> None:
    """The browser goes with an answer half given, then the server; both come back."""
    people = made("relay", runs, judged, tmp_path / "relay")
    rule = planner("start_1", "end")
    with asked(people.path) as served, page_of(opened, served.origin) as watched:
        watched.open(link(served, people, "rater-1"))
        watched.page.get_by_role("button", name="I agree").click()
        watched.page.wait_for_selector(".rate")
        assert rate(watched, rule, most=2) == 2
        watched.page.keyboard.press("1")
        watched.page.context.close()
    before = read_people_study(people.path).counted()["rater-1"]
    assert len(before) == 2
    with asked(people.path) as served, page_of(opened, served.origin) as watched:
        watched.open(link(served, people, "rater-1"))
        watched.page.wait_for_selector(".rate")
        assert watched.here == "#/people/item/3"
        assert rate(watched, rule) == len(people.items) - 2
        watched.page.reload()
        watched.settle()
        assert watched.page.inner_text("h1") == "Done"
    after = read_people_study(people.path).counted()["rater-1"]
    assert len(after) == len(people.items)
    assert {name: after[name] for name in before} == before


def test_a_raters_page_by_hand(opened: Any, runs: Path, judged: Path, tmp_path: Path) -> None:
    """A click on the plan, what is missing, back and another answer, skip, pause, withdraw."""
    people = made("relay", runs, judged, tmp_path / "relay")
    with asked(people.path) as served, page_of(opened, served.origin, width=360) as watched:
        page, keys = watched.page, watched.page.keyboard
        watched.open(link(served, people, "rater-1"))
        page.get_by_role("button", name="I agree").click()
        page.wait_for_selector(".rate")
        watched.settle()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        keys.press("]")
        assert "An answer is missing: Where" in page.inner_text("#told")
        lacking = page.locator(".asked .lacking").evaluate_all(
            "all => all.map((each) => each.dataset.question)"
        )
        assert lacking == ["transfer", "type"]
        able = (
            page.locator(".place select")
            .first.locator("option")
            .evaluate_all("all => all.map((each) => each.value)")
        )
        rooms = page.locator('svg.plan g[data-layer="rooms"] [data-id]').evaluate_all(
            "all => all.map((each) => each.dataset.id)"
        )
        (barred, *_), (free, *_) = (
            [each for each in rooms if (each in able) == among] for among in (False, True)
        )
        for each in (barred, free):
            room = page.locator(f'svg.plan g[data-layer="rooms"] [data-id="{each}"]').first
            room.scroll_into_view_if_needed()
            box = room.bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            if each == barred:
                page.wait_for_selector("text=Nothing can be put down in")
                assert page.locator("svg.plan .picked").count() == 0
        named = page.locator(".place select").first.input_value()
        assert page.locator("svg.plan .picked").first.get_attribute("data-id") == named
        thing = page.locator(".place select").nth(1)
        thing.select_option(index=1)
        assert page.locator(".asked .lacking").count() == 1
        marked = page.locator("svg.plan .picked-thing title").all_text_contents()
        assert {each.lower() for each in marked} == {thing.input_value().replace("_", " ")}
        page.evaluate("document.activeElement.blur()")
        keys.press("1")
        page.reload()  # what is half said stands there still
        page.wait_for_selector(".rate")
        assert page.locator(".place select").first.input_value() == named
        keys.press("]")
        page.wait_for_url("**/item/2")
        watched.settle()
        keys.press("[")
        page.wait_for_url("**/item/1")
        watched.settle()
        page.locator('input[value="A2"]').check()
        keys.press("]")
        page.wait_for_url("**/item/2")
        watched.settle()
        page.get_by_role("button", name="skip").click()
        page.wait_for_url("**/item/3")
        page.get_by_role("button", name="pause").click()
        page.wait_for_url("**/pause")
        assert watched.violations() == []
        now = read_people_study(people.path)
        (said,) = now.counted()["rater-1"].values()
        assert said.answers["type"] == "A2"
        assert said.answers["transfer"]["region"] == named
        page.get_by_role("button", name="go on").click()
        page.wait_for_url("**/item/3")
        page.get_by_role("button", name="withdraw").click()
        page.get_by_role("button", name="yes, withdraw").click()
        page.wait_for_selector("text=never counted. You can close")
        assert read_people_study(people.path).counted()["rater-1"] == {}
        assert watched.wrong == []


def test_next_is_the_next_item_and_what_was_skipped_is_gone_through(
    opened: Any, runs: Path, judged: Path, tmp_path: Path
) -> None:
    people = made("instruction", runs, judged, tmp_path / "instruction")
    many = len(people.items)
    assert many >= 4
    with asked(people.path) as served, page_of(opened, served.origin) as watched:
        page = watched.page
        watched.open(link(served, people, "rater-1"))
        page.get_by_role("button", name="I agree").click()
        for place in range(1, many + 1):
            page.wait_for_url(f"**/item/{place}")
            page.wait_for_selector(".rate")
            watched.settle()
            if place in (2, many):
                page.get_by_role("button", name="skip").click()
            else:
                say(watched, {"": 4})
                page.keyboard.press("]")
            if place == 3:  # back by two, and on again one by one
                for before in (3, 2, 1):
                    page.wait_for_url(f"**/item/{before + 1}")
                    watched.settle()
                    page.keyboard.press("[")
                for again in (1, 3):
                    page.wait_for_url(f"**/item/{again}")
                    watched.settle()
                    page.keyboard.press("]")
                    if again == 1:
                        page.wait_for_url("**/item/2")
                        watched.settle()
                        page.get_by_role("button", name="skip").click()
        page.wait_for_url("**/end")
        page.get_by_role("button", name="go through what I skipped").click()
        for place in (2, many):
            page.wait_for_url(f"**/item/{place}")
            watched.settle()
            say(watched, {"": 2})
            page.keyboard.press("]")
        page.wait_for_url("**/end")
        watched.settle()
        assert page.get_by_text("You skipped").count() == 0
        assert watched.wrong == []
    assert len(read_people_study(people.path).counted()["rater-1"]) == many


def test_what_cannot_be_saved_is_said_and_stands(
    opened: Any, runs: Path, judged: Path, tmp_path: Path
) -> None:
    people = made("instruction", runs, judged, tmp_path / "instruction")
    with asked(people.path) as served, page_of(opened, served.origin) as watched:
        page = watched.page
        watched.open(link(served, people, "rater-1"))
        page.get_by_role("button", name="I agree").click()
        page.wait_for_selector(".rate")
        watched.settle()
        page.route("**/people/say", lambda route: route.abort())
        say(watched, {"": 5})
        page.keyboard.press("]")
        page.wait_for_selector("text=Not saved: The server does not answer")
        page.unroute("**/people/say")
        assert page.locator(".asked input:checked").count() == 3
        page.keyboard.press("]")
        page.wait_for_url("**/item/2")
    (said,) = read_people_study(people.path).counted()["rater-1"].values()
    assert said.answers["clarity"] == 5


def test_seconds_run_only_while_the_page_is_seen(
    opened: Any, runs: Path, judged: Path, tmp_path: Path
) -> None:
    people = made("instruction", runs, judged, tmp_path / "instruction")
    with asked(people.path) as served, page_of(opened, served.origin) as watched:
        page = watched.page
        page.clock.install(time=0)
        watched.page.goto(link(served, people, "rater-1"))
        page.get_by_role("button", name="I agree").click()
        page.wait_for_selector(".rate")
        page.clock.run_for(5_000)
        hide = """(hidden) => {
            Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
            document.dispatchEvent(new Event('visibilitychange'));
        }"""
        page.evaluate(hide, True)
        page.clock.run_for(600_000)
        page.evaluate(hide, False)
        page.clock.run_for(7_000)
        say(watched, {"": 3})
        with page.expect_response("**/people/say"):
            page.keyboard.press("]")
    (said,) = read_people_study(people.path).counted()["rater-1"].values()
    assert 12 <= said.seconds < 60


def test_the_form_as_one_file(opened: Any, runs: Path, judged: Path, tmp_path: Path) -> None:
    people = made("instruction", runs, judged, tmp_path / "instruction")
    paths = list(write_forms(people))
    assert [path.name for path in paths] == ["form-rater-1.html", "form-rater-2.html"]
    with page_of(opened, "file://") as watched:
        page = watched.page
        watched.open(f"file://{paths[0]}")
        page.get_by_role("button", name="I agree").click()
        for n in range(len(people.items)):
            page.wait_for_url(f"**#/people/item/{n + 1}")
            watched.settle()
            say(watched, {"": 4})
            if n == 2:
                page.reload()
                watched.settle()
            page.keyboard.press("]")
        page.wait_for_selector("text=Thank you")
        assert watched.violations() == []
        with page.expect_download() as saved:
            page.get_by_role("button", name="save my answers").click()
        saved.value.save_as(tmp_path / "answers.json")
        assert watched.wrong == []
    file = tmp_path / "answers.json"
    assert json.loads(file.read_text())["rater"] == "rater-1"
    many = len(people.items)
    assert import_answers(people.path, [file]) == [(file, many + 1, many + 1)]
    assert import_answers(people.path, [file]) == [(file, 0, many + 1)]
    said = read_people_study(people.path).counted()["rater-1"]
    assert [each.answers["clarity"] for each in said.values()] == [4] * many


def test_two_raters_and_the_owner_in_one_browser(
    opened: Any, runs: Path, judged: Path, tmp_path: Path
) -> None:
    people = made("instruction", runs, judged, tmp_path / "instruction")
    with asked(people.path) as served, page_of(opened, served.origin) as watched:
        watched.open(served.address("/people/links"))
        links = watched.page.locator("input").evaluate_all("(all) => all.map((one) => one.value)")
        assert links == [link(served, people, rater) for rater in people.raters]
        assert watched.violations() == []
        second = watched.page.context.new_page()
        second.goto(links[0])
        second.wait_for_selector("text=You are rater-1")
        second.evaluate("(to) => { location.href = to; }", links[1])
        second.wait_for_selector("text=You are rater-2")
        second.goto(f"{served.origin}/#/source/0")
        second.wait_for_selector("text=You are rater-2")
        watched.open(f"{served.origin}/#/source/0/progress")
        assert "not begun" in watched.page.inner_text("main")
        assert watched.violations() == []
        assert watched.wrong == []
