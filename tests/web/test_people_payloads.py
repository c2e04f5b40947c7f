"""A hundred payloads in every text of form, item and answer: none is ever more than text."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from navloom.evals.people.people_study import assign_items
from navloom.evals.people.rated_items import read_relays, relay_items
from navloom.evals.people.rating_form import RatingForm, read_form
from navloom.evals.people.ratings_file import RatingsWriter
from navloom.evals.people.study_folder import (
    PeopleStudy,
    RatedItem,
    Rating,
    read_people_study,
    write_people_study,
)
from navloom.web.offline_forms import write_forms
from navloom.web.study_source import StudySource
from tests.web.browsing import browser, needs_browser, page_of
from tests.web.raters import asked, link
from tests.web.test_payloads import PAYLOADS, harmless

_CODE = {"id", "name", "kind", "items", "shows", "page", "block", "scene", "style", "robot", "task"}


def spoiled(value: Any, payloads: Any, key: str = "") -> Any:
    """Every text with a payload in it; what code goes by stays."""
    if isinstance(value, dict):
        return {name: spoiled(each, payloads, name) for name, each in value.items()}
    if isinstance(value, list | tuple) and key not in _CODE:
        return [spoiled(each, payloads, key) for each in value]
    if isinstance(value, str) and key not in _CODE and value:
        return value + next(payloads)
    return value


@pytest.fixture
def people(runs: Path, tmp_path: Path) -> PeopleStudy:
    """A study of relays whose every text has payloads, and answers with them."""
    payloads = cycle(PAYLOADS)
    form = read_form("relay")
    found = list(relay_items(form, read_relays(str(runs / "relays"), print), print))
    items = [
        RatedItem.model_validate(spoiled(each.model_dump(mode="json"), payloads)) for each in found
    ]
    told = form.model_dump(mode="json", exclude_defaults=True)
    form = RatingForm.model_validate(spoiled(told, payloads) | {"overlap": 2})
    dealt, _ = assign_items(items, ["rater-1", "rater-2"], form, 0)
    folder = tmp_path / "asked"
    folder.mkdir()
    made = write_people_study(folder, form, items, dealt, seed=0, request={})
    with RatingsWriter(folder) as file:
        for n, item in enumerate(items):
            region, things = next(iter(item.places.items()))
            why = "".join(next(payloads) for _ in range(12))
            answers = {"transfer": {"region": region, "asset": things[0]}, "type": "A1", "why": why}
            file.say(Rating(id=f"{n:08}", rater="rater-2", item=item.id, status="answered",
                            answers=answers, seconds=1.0))  # fmt: skip
    assert len(read_people_study(folder).counted()["rater-2"]) == len(items)
    return made


@pytest.mark.browser
@pytest.mark.slow
@needs_browser
@pytest.mark.timeout(600)
def test_no_script_of_a_form_or_an_answer_runs(people: PeopleStudy) -> None:
    written = list(write_forms(people))
    kept = [
        people.form.model_dump_json(),
        *(each.model_dump_json() for each in people.items.values()),
    ]
    told = "".join(kept)
    assert all(json.dumps(each, ensure_ascii=False)[1:-1] in told for each in PAYLOADS)
    shown = 0
    with browser() as opened, asked(people.path) as served:
        with page_of(opened, served.origin) as watched:
            for rater in people.raters:
                shown += _rater(
                    watched, link(served, people, rater), served.origin, len(people.items)
                )
        with page_of(opened, served.origin) as watched:
            tabs = [name for name, _ in StudySource(people.path).header().tabs]
            tos = ["/people/links", "/source/0/samples", *(f"/source/0/{name}" for name in tabs)]
            for to in [*tos, *(f"/source/0/sample/{name}" for name in people.items)]:
                watched.open(served.address(to))
                shown += harmless(watched, to, served.origin)
        with page_of(opened, "file://") as watched:
            shown += _rater(watched, f"file://{written[1]}", "file://", len(people.items))
    assert shown > 300


def _rater(watched: Any, address: str, home: str, many: int) -> int:
    """Through a rater's pages; how many payloads are seen."""
    # The one file's own scripts and styles stand in it, beside what it shows.
    where = "main *" if home == "file://" else "*"
    page = watched.page
    watched.open(address)
    shown = harmless(watched, "consent", home, where)
    if page.get_by_role("button", name="I agree").count():
        page.get_by_role("button", name="I agree").click()
        page.wait_for_selector(".leave")
    for n in range(many):
        page.evaluate("(to) => { location.hash = to; }", f"#/people/item/{n + 1}")
        page.wait_for_selector(f"text=item {n + 1} of {many}")
        watched.settle()
        page.locator(".place select").first.select_option(index=1)
        page.keyboard.press("]")
        shown += harmless(watched, f"item {n + 1}", home, where)
    page.evaluate("location.hash = '#/people/end'")
    page.wait_for_selector("text=All items")
    return shown + harmless(watched, "end", home, where)
