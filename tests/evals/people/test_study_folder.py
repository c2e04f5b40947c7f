"""Forms, who is asked what, and the folder of a people's study."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest

from navloom.errors import RunError, UsageError
from navloom.evals.people.people_study import assign_items
from navloom.evals.people.rating_form import form_names, read_form
from navloom.evals.people.ratings_file import RatingsWriter
from navloom.evals.people.study_folder import (
    LINKS,
    RATINGS,
    PeopleStudy,
    RatedItem,
    Rating,
    read_people_study,
    read_rater_tokens,
    write_people_study,
)

ASKED = "name: a\ntitle: t\nitems: relays\nshows: [plan]\nconsent: c\n"


def study(folder: Path, n: int = 30, raters: int = 7, form: str = "author") -> PeopleStudy:
    folder.mkdir()
    made = [RatedItem(id=f"i{k:03}", scene=f"home:{k % 9}") for k in range(n)]
    asked = read_form(form)
    dealt, _ = assign_items(made, [f"rater-{k}" for k in range(raters)], asked, 3)
    return write_people_study(folder, asked, made, dealt, seed=3, request={})


def test_the_forms_of_the_house_are_forms() -> None:
    assert form_names() == ("author", "grade", "instruction", "relay", "walk")
    names = [each.name for each in read_form("instruction").questions]
    assert names[:3] == ["clarity", "naturalness", "accuracy"]  # VLNVerse 3.3.2
    assert read_form("walk").each == 50  # VLNVerse D


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ASKED.replace("items", "item"), "no key 'item'; did you mean 'items'"),
        (ASKED + "questions: [{name: q, kind: scale, text: t}]", "a scale names its ends"),
        (ASKED + "questions: [{name: q, kind: choice, text: t, optoins: []}]", "'options'"),
        (ASKED.replace("[plan]", "[plann]") + "questions: []", "no part 'plann' of relays"),
        (ASKED + "questions: [{name: q, kind: text, text: t, low: 3}]", "'low' is of a scale"),
        (ASKED + "questions: []", "expected one or more"),
        (ASKED + "title: again\n", "stands twice"),
        ("a: &x [1]\nb: *x\n", "an alias stands here"),
    ],
)
def test_a_broken_form_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as told:
        read_form(str(path))
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert str(path) in str(told.value)


def test_each_item_goes_to_three_and_the_load_is_even(tmp_path: Path) -> None:
    people = study(tmp_path / "one")
    counts = Counter(item for rater in people.file.raters for item in rater.items)
    assert set(counts.values()) == {3}
    loads = [len(rater.items) for rater in people.file.raters]
    assert max(loads) - min(loads) <= 1
    again = study(tmp_path / "two")
    assert again.file.raters == people.file.raters
    assert len({rater.items for rater in people.file.raters}) == 7


def test_a_walker_is_never_twice_in_one_home(tmp_path: Path) -> None:
    people = study(tmp_path / "one", n=27, raters=3, form="walk")
    for rater in people.file.raters:
        homes = [people.items[name].scene for name in rater.items]
        assert len(set(homes)) == len(homes)
    assert sum(len(rater.items) for rater in people.file.raters) == 27


def test_two_raters_of_three_rate_all(tmp_path: Path) -> None:
    people = study(tmp_path / "one", raters=2)
    assert [len(rater.items) for rater in people.file.raters] == [30, 30]


def test_the_last_line_counts_and_who_withdraws_is_not_counted(tmp_path: Path) -> None:
    people = study(tmp_path / "one")
    (one, other) = people.file.raters[:2]
    said = [(one, "writer_1", "answered"), (one, "writer_2", "answered"), (other, "", "skipped")]
    said.append((other, "writer_1", "answered"))
    with RatingsWriter(people.path) as file:
        for n, (rater, writer, status) in enumerate(said):
            answers = {"writer": writer, "maker": "model"} if writer else {}
            line = Rating(id=f"{n:08}", rater=rater.name, item=rater.items[0], status=status,
                          answers=answers, seconds=2.5)  # fmt: skip
            file.say(line)
    counted = read_people_study(people.path).counted()
    assert counted[one.name][one.items[0]].answers["writer"] == "writer_2"
    assert len(counted[other.name]) == 1
    with RatingsWriter(people.path) as file:
        line = Rating(id="w" * 8, rater=other.name, status="withdrawn")
        file.say(line)
    now = read_people_study(people.path)
    assert now.counted()[other.name] == {}
    assert now.counted()[one.name]
    assert now.withdrawn == {other.name}


def test_tokens_are_the_owners_alone_and_in_no_other_file(tmp_path: Path) -> None:
    people = study(tmp_path / "one")
    assert (people.path / LINKS).stat().st_mode & 0o777 == 0o600
    tokens = read_rater_tokens(people.path)
    assert len(set(tokens.values())) == 7
    for file in people.path.iterdir():
        if file.name != LINKS:
            assert not any(token in file.read_text() for token in tokens.values())


def test_a_line_of_another_study_is_refused(tmp_path: Path) -> None:
    one, two = study(tmp_path / "one"), study(tmp_path / "two")
    rater = one.file.raters[0]
    with RatingsWriter(one.path) as file:
        line = Rating(id="a" * 8, rater=rater.name, item=rater.items[0], status="skipped")
        file.say(line)
    (two.path / RATINGS).write_bytes((one.path / RATINGS).read_bytes())
    with pytest.raises(RunError, match="line 1: it was changed"):
        read_people_study(two.path)


@pytest.mark.parametrize(
    ("name", "answer", "fits"),
    [
        ("transfer", {"region": "Kitchen_1", "asset": "table"}, True),
        ("transfer", {"region": "Kitchen_1"}, False),
        ("transfer", {"region": "Kitchen_1", "asset": "bed"}, False),
        ("transfer", "Kitchen_1", False),
        ("type", "A1", True),
        ("type", "A3", False),
        ("type", 1, False),
        ("why", "x" * 1000, True),
        ("why", "x" * 1001, False),
    ],
)
def test_answers_are_held_to_their_questions(name: str, answer, fits: bool) -> None:
    question = next(each for each in read_form("relay").questions if each.name == name)
    with nullcontext() if fits else pytest.raises(ValueError, match=f"^{name}: "):
        question.check(answer, {"Kitchen_1": ("table",), "Bedroom_1": ("bed",)})


def test_a_place_counts_by_its_room_and_with_its_thing() -> None:
    transfer = read_form("relay").questions[0]
    counted = transfer.values({"region": "Kitchen_1", "asset": "table"})
    assert counted == {"transfer": "Kitchen_1", "transfer with asset": "Kitchen_1: table"}
