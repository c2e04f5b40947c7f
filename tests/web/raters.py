"""Scripted raters: programs that answer from what a rater's page shows.

A rater of relays plans on the map only. It hands over halfway between two places, and the robot
that starts nearer to the object fetches it. Other raters answer by the length of a text. They use
nothing that the page does not show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from navloom.evals.people.study_folder import PeopleStudy, read_rater_tokens
from navloom.web.documents import Documents
from navloom.web.rating_service import RatingService
from navloom.web.source_discovery import open_sources
from tests.web.browsing import Watched
from tests.web.conftest import Served, serving

Rule = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
"""Function from an item, as the page gets it, and its floor plan to a rater's answers."""


@contextmanager
def asked(*studies: Path) -> Iterator[Served]:
    """Serve studies as ``navloom view`` does."""
    documents = Documents(open_sources([str(each) for each in studies], print))
    with serving(documents, [RatingService(studies)]) as served:
        yield served


def link(served: Served, people: PeopleStudy, rater: str) -> str:
    """Return a rater's link."""
    return f"{served.origin}/#rater={read_rater_tokens(people.path)[rater]}"


def marks_of(item: dict[str, Any]) -> dict[str, tuple[int, float, float]]:
    """Return the positions of the marks on the map of an item."""
    (shown,) = [each for each in item["blocks"] if each["block"] == "SceneMap"]
    return {each["kind"]: tuple(each["at"]) for each in shown["marks"]}


def rooms_of(plan: dict[str, Any]) -> dict[str, tuple[int, float, float]]:
    """Return the position of each room's name on the plan."""
    return {
        name[1]["data-id"]: (floor["id"], float(name[1]["x"]), float(name[1]["y"]))
        for floor in plan["floors"]
        for name in floor["names"]
        if "data-id" in name[1]
    }


def _apart(a: tuple[int, float, float], b: tuple[int, float, float]) -> float:
    return math.dist(a[1:], b[1:]) + 8 * abs(a[0] - b[0])


def planner(one: str, other: str) -> Rule:
    """Return a rater of relays that hands over halfway between two of the marks."""

    def rule(item: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
        marks, rooms = marks_of(item), rooms_of(plan)
        able = {name: at for name, at in rooms.items() if item["places"].get(name)}
        at = min(able, key=lambda name: (_apart(able[name], marks[one])
                                         + _apart(able[name], marks[other]), name))  # fmt: skip
        nearer = _apart(marks["start_2"], marks["object"]) < _apart(
            marks["start_1"], marks["object"]
        )
        place = {"region": at, "asset": item["places"][at][0]}
        return {"transfer": place, "type": "A1" if nearer else "A2", "why": "by the map"}

    return rule


def by_length(item: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Answer by the length of the first text, and press that key."""
    del plan
    text = str(item["blocks"][0].get("text") or "")
    return {"": 1 + len(text) % 2}


def rate(watched: Watched, rule: Rule, most: int = 10_000) -> int:
    """Answer the items from the current one on, by mouse and keyboard; return how many."""
    page, done = watched.page, 0
    while done < most and page.locator(".rate").count():
        watched.settle()
        place = int(watched.here.rsplit("/", 1)[-1])
        item = page.evaluate("(n) => Navloom.room('people/item/' + n)", place - 1)
        keys = [each["plan"] for each in item["blocks"] if "plan" in each]
        plan = page.evaluate("(key) => Navloom.room('people/plan/' + key)", keys[0]) if keys else {}
        say(watched, rule(item, plan))
        with page.expect_response("**/people/say") as told:
            page.keyboard.press("]")
        assert told.value.ok, told.value.text()
        page.wait_for_function("(was) => location.hash !== was", arg=f"#/people/item/{place}")
        watched.settle()
        done += 1
    return done


def say(watched: Watched, answers: dict[str, Any]) -> None:
    """Enter answers as a rater does: lists, typed text, and digit keys for the rest."""
    page = watched.page
    for name, answer in answers.items():
        field = page.locator(f'fieldset[data-question="{name}"]')
        if isinstance(answer, dict):
            field.locator("select").nth(0).select_option(answer["region"])
            field.locator("select").nth(1).select_option(answer["asset"])
        elif name == "why":
            field.locator("textarea").fill(answer)
            page.keyboard.press("Escape")
        elif name:
            field.locator(f'input[value="{answer}"]').check()
    page.evaluate("document.activeElement.blur()")
    if "" in answers:
        for _ in range(page.locator("fieldset:has(input[type=radio])").count()):
            page.keyboard.press(str(answers[""]))
