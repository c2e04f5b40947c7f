"""Simulated raters and judges: each is right with a given probability, else wrong at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from navloom.evals.agreement import RaterAnswers
from navloom.evals.people.people_study import assign_items
from navloom.evals.people.question_results import LeaveOneOut
from navloom.evals.people.rating_form import Answer, FormQuestion, RatingForm
from navloom.evals.people.study_folder import (
    RATINGS,
    PeopleStudy,
    RatedItem,
    Rating,
    ratings_line_form,
    read_people_study,
    write_people_study,
)
from navloom.files import JsonlFile

VERDICT = FormQuestion.model_validate(
    {
        "name": "verdict",
        "kind": "choice",
        "text": "Is it right?",
        "options": [{"name": name, "text": name} for name in ("yes", "no", "na")],
    }
)
CLARITY = FormQuestion.model_validate(
    {"name": "clarity", "kind": "scale", "text": "Is it clear?", "ends": ["no", "yes"]}
)
_OPTIONS = [option.name for option in VERDICT.options]


def said_of(truth: int, right: float, lots: np.random.Generator) -> str:
    """Return the true option with a given probability, else another one."""
    other = (truth + 1 + lots.integers(0, 2)) % 3
    return _OPTIONS[truth if lots.random() < right else other]


def simulated(
    seed: int, judge: float, *, people: float = 0.8, items: int = 150
) -> tuple[RaterAnswers, dict[str, str]]:
    """Draw answers of three of six equally good raters per item, and of a judge."""
    lots = np.random.default_rng(seed)
    said: dict[tuple[str, str], str] = {}
    its: dict[str, str] = {}
    for n in range(items):
        truth = int(lots.integers(0, 3))
        for rater in lots.choice(6, 3, replace=False):
            said[f"rater-{rater}", f"i{n:04}"] = said_of(truth, people, lots)
        its[f"i{n:04}"] = said_of(truth, judge, lots)
    return RaterAnswers(said), its


def make_study(
    folder: Path,
    questions: tuple[FormQuestion, ...],
    items: list[RatedItem],
    raters: int = 4,
    source: str = "",
) -> PeopleStudy:
    """Make a study without answers."""
    folder.mkdir(parents=True)
    placed = any(each.kind == "place" for each in questions)
    about = (
        {"items": "relays", "shows": ["plan"]} if placed else {"items": "grades", "shows": ["item"]}
    )
    told = {"name": "mine", "title": "Is it right?", "consent": "yes", **about}
    form = RatingForm.model_validate({**told, "questions": questions})
    dealt, _ = assign_items(items, [f"rater-{n}" for n in range(raters)], form, 5)
    return write_people_study(folder, form, items, dealt, seed=5, request={"sources": [source]})


def say(
    people: PeopleStudy,
    lines: list[tuple[str, str, Mapping[str, Answer] | str]],
    seconds: Mapping[str, float] | None = None,
) -> PeopleStudy:
    """Write raters' answers or other statuses to a study; no item means all items."""
    begin = len(people.ratings)
    with JsonlFile(people.path / RATINGS, form=ratings_line_form(people.file)) as file:
        for n, (rater, item, said) in enumerate(lines, begin):
            status = said if isinstance(said, str) else "answered"
            line = Rating.model_validate(
                {"id": f"{n:08}", "rater": rater, "item": item, "status": status,
                 "answers": {} if isinstance(said, str) else said,
                 "seconds": (seconds or {}).get(rater, 12.0) if item else 0.0}
            )  # fmt: skip
            file.append(line.model_dump(mode="json"))
    return read_people_study(people.path)


if __name__ == "__main__":  # the table of docs/people.md; minutes
    for many in (100, 200, 400):
        for right in (0.65, 0.8, 0.95):
            told = Counter(
                LeaveOneOut(answers).beside("judge", its).verdict
                for answers, its in (simulated(seed, right, items=many) for seed in range(200))
            )
            print(many, right, dict(told), flush=True)
