"""What comes of a people's study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from navloom.errors import RunError
from navloom.evals.agreement import RaterAnswers, measure_agreement
from navloom.evals.people.question_results import (
    QuestionAnswers,
    RaterHabits,
    collect_answers,
    rater_habits,
    score_question,
)
from navloom.evals.people.rating_form import FormOption, FormQuestion
from navloom.evals.people.results import (
    RESULTS,
    agreement_blocks,
    judge_blocks,
    people_results,
    write_people_report,
)
from navloom.evals.people.study_folder import LINKS, PeopleStudy, RatedItem, read_rater_tokens
from navloom.evals.report.blocks import SceneMap, block_to_json
from navloom.evals.report.report_files import read_report
from navloom.web.documents import Documents
from navloom.web.source_discovery import open_sources
from tests.evals.people.simulated import CLARITY, VERDICT, make_study, said_of, say


def simulated_study(folder: Path, n: int = 40) -> PeopleStudy:
    """Four raters: one slow, one hasty, one who always says yes, and one who withdraws."""
    lots = np.random.default_rng(7)
    truth = [int(lots.integers(0, 3)) for _ in range(n)]
    items = [
        RatedItem(
            id=f"i{k:04}",
            tags={"author": ("people", "a model")[k % 2]},
            references={
                "truth": {"verdict": ("yes", "no", "na")[truth[k]]},
                "judge:builtin/heuristic": {"verdict": said_of(truth[k], 0.95, lots), "clarity": 4},
            },
        )
        for k in range(n)
    ]
    people = make_study(folder, (VERDICT, CLARITY), items, raters=6)
    lines = []
    for number, rater in enumerate(people.file.raters):
        lines.append((rater.name, "", "consented"))
        for item in rater.items:
            k = int(item[1:])
            verdict = "yes" if number == 1 else said_of(truth[k], 0.8, lots)
            clarity = int(np.clip(2 + 2 * (k % 2) + lots.integers(-1, 2), 1, 5))
            lines.append((rater.name, item, {"verdict": verdict, "clarity": clarity}))
    lines.append(("rater-3", "", "withdrawn"))
    lines.append(("rater-4", people.file.raters[4].items[0], "skipped"))
    return say(people, lines, {"rater-2": 1.5})


def test_a_study_says_how_far_people_agree_and_with_whom(tmp_path: Path) -> None:
    people = simulated_study(tmp_path / "study")
    found = people_results(people.path)
    verdict, clarity = found.questions
    assert verdict.agreed.level == "nominal"
    assert clarity.agreed.level == "ordinal"
    assert "rater-3" not in verdict.persons
    assert verdict.majorities + verdict.ties == verdict.agreed.paired
    # Who says yes throughout is no help.
    honest = RaterAnswers(
        {who: said for who, said in found.asked[0].said.items() if who[0] != "rater-1"}
    )
    assert verdict.agreed.alpha.value < measure_agreement(honest).alpha.value
    # Truth and the judge are each beside all people and beside each.
    whole = {one.judge: one for one in verdict.beside if not one.person}
    assert set(whole) == {"truth", "judge:builtin/heuristic"}
    assert whole["truth"].difference.value > 0
    assert len(verdict.beside) == 2 * (1 + 5)
    people_mean, model_mean = (
        clarity.means["author", who][0].value for who in ("people", "a model")
    )
    assert model_mean - people_mean == pytest.approx(2, abs=0.4)
    assert {one.apart for one in verdict.apart} == {1.0, 2 / 3}
    assert all(0 < one.apart <= 1 for one in clarity.apart)
    record = found.record()
    assert record["withdrawn"] == 1
    assert record["skipped"] == 1
    assert record["left"] == 0


def test_who_clicks_through_is_said(tmp_path: Path) -> None:
    found = people_results(simulated_study(tmp_path / "study"))
    said = {each.name: each.warning for each in found.raters}
    assert said["rater-1"] == "one answer throughout: verdict"
    assert "too fast" in said["rater-2"]
    assert said["rater-0"] == said["rater-4"] == ""


def test_all_the_same_is_no_habit_where_all_say_it(tmp_path: Path) -> None:
    items = [RatedItem(id=f"i{n}") for n in range(12)]
    people = make_study(tmp_path / "study", (VERDICT,), items)
    lines = [(r.name, i, {"verdict": "yes"}) for r in people.file.raters for i in r.items]
    found = people_results(say(people, lines))
    assert [each.warning for each in found.raters] == [""] * 4
    assert found.questions[0].agreed.alpha.value is None
    words = str(block_to_json(agreement_blocks(found)))
    assert "all answers are the same" in words


def test_guessing_is_told_from_knowing_by_the_exact_binomial(tmp_path: Path) -> None:
    writers = tuple(FormOption(name=f"writer_{n}", text="w") for n in (1, 2))
    question = FormQuestion(name="writer", kind="choice", text="Who?", options=writers)
    items = [
        RatedItem(id=f"i{n:02}", references={"truth": {"writer": "writer_1"}}) for n in range(10)
    ]
    people = make_study(tmp_path / "study", (question,), items, raters=1)
    (rater,) = people.file.raters
    lines = [
        (rater.name, item, {"writer": f"writer_{1 + (n == 9)}"})
        for n, item in enumerate(rater.items)
    ]
    (result,) = people_results(say(people, lines)).questions
    every, most, one = result.chance
    assert every.right.hits == most.right.hits == one.right.hits == 9
    # Nine of ten or rarer, both sides: 2 (10 + 1) / 2^10.
    assert every.p == most.p == one.p == pytest.approx(22 / 1024)
    assert (one.who, one.guess) == (rater.name, 0.5)


def test_a_place_is_its_room_and_with_a_thing_both(tmp_path: Path) -> None:
    question = FormQuestion(name="transfer", kind="place", text="Where?", asset=True)
    places = {"Kitchen_1": ("table_1",), "Hall_1": ("shelf_1",)}
    known = {"generator": {"transfer": {"region": "Hall_1", "asset": "shelf_1"}}}
    items = [RatedItem(id=f"i{n}", places=places, references=known) for n in range(3)]
    people = make_study(tmp_path / "study", (question,), items, raters=2)
    there = {"transfer": {"region": "Hall_1", "asset": "shelf_1"}}
    strange = {"transfer": {"region": "Nowhere"}}
    lines = [(r.name, i, there) for r in people.file.raters for i in r.items[:2]]
    lines.append((people.raters[0], people.file.raters[0].items[2], strange))
    people = say(people, lines)
    questions, left_out = collect_answers(people)
    assert left_out == 1
    assert [each.name for each in questions] == ["transfer", "transfer with asset"]
    found = people_results(people)
    assert found.strange == 1
    assert found.questions[0].judges["generator"].mean.value == 1
    assert set(found.questions[1].counts) == {"Hall_1: shelf_1"}


@pytest.mark.parametrize("raters", [1, 2])
def test_a_study_that_nobody_has_answered_is_shown(tmp_path: Path, raters: int) -> None:
    people = make_study(tmp_path / "study", (VERDICT, CLARITY), [RatedItem(id="i1")], raters)
    found = people_results(people)
    for blocks in RESULTS.values():
        assert block_to_json(blocks(found))
    assert {each.state for each in found.raters} == {"not begun"}
    one = people_results(say(people, [("rater-0", "i1", {"verdict": "yes", "clarity": 3})]))
    assert "no item has two answers" in str(block_to_json(agreement_blocks(one)))
    assert "no judge" in str(block_to_json(judge_blocks(one)))
    assert one.raters[0].state == "done"


def test_a_report_is_kept_and_has_no_link_in_it(tmp_path: Path) -> None:
    people = simulated_study(tmp_path / "study")
    shown = write_people_report(people.path, tmp_path / "out")
    assert [path.name for path in shown.files] == ["report.md", "report.json"]
    kept = read_report(tmp_path / "out")
    assert kept.title == "Is it right?"
    tokens = read_rater_tokens(people.path).values()
    assert (people.path / LINKS).exists()
    for path in shown.files:
        assert not any(token in path.read_text() for token in tokens)
    assert "Krippendorff" in shown.files[0].read_text()


def test_what_is_no_study_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"people\.json"):
        people_results(tmp_path)


def test_a_study_as_a_bundle_has_the_plans_of_its_items(tmp_path: Path) -> None:
    shown = block_to_json(SceneMap(scene="home:4"))
    items = [RatedItem(id=f"i{n}", scene="home:4", blocks=(shown,)) for n in range(2)]
    people = make_study(tmp_path / "study", (VERDICT,), items)
    documents = Documents(open_sources([str(people.path)], print), given=True)
    made = {path: documents.get(path) for path in documents.paths()}
    (plan,) = {block["plan"] for block in made["source/0/sample/i0"]["blocks"] if "plan" in block}
    assert f"plan/{plan}" in made
    assert not any(token in str(made) for token in read_rater_tokens(people.path).values())


def test_a_form_without_a_question_is_shown_by_its_counts(tmp_path: Path) -> None:
    walked = make_study(tmp_path / "study", (), [RatedItem(id="i1"), RatedItem(id="i2")], 1)
    people = say(walked, [("rater-0", "i1", {})])
    found = people_results(people.path)
    assert "nothing that is counted" in str(block_to_json(agreement_blocks(found)))
    assert write_people_report(people.path, tmp_path / "out").record["left"] == 1


def questioned(question: FormQuestion, *rows: str, **known: str) -> QuestionAnswers:
    """Answers of raters a, b, ... to items 0, 1, ...: a row a rater, a dot where there is none."""
    number = question.kind == "scale"
    found = QuestionAnswers(question.name, question)
    options = {each.name[0]: each.name for each in question.options}
    for rater, row in zip("abcdefgh", rows, strict=False):
        for k, value in enumerate(row):
            if value != ".":
                found.said[rater, str(k)] = int(value) if number else options[value]
    for who, row in known.items():
        found.known[who] = {str(k): options[value] for k, value in enumerate(row) if value != "."}
    return found


TWO = FormQuestion.model_validate(
    {
        "name": "right",
        "kind": "choice",
        "text": "Is it right?",
        "options": [{"name": name, "text": name} for name in ("yes", "no")],
    }
)


def test_majorities_ties_and_pairs_are_of_items_with_two_answers() -> None:
    # Items: yes yes no, yes no, yes alone, yes yes.
    found = score_question(questioned(TWO, "yyyy", "yn.y", "n..."), {})
    assert (found.majorities, found.ties, found.pairs) == (2, 1, (2, 5))
    assert found.counts == {"no": 2, "yes": 6}


def test_items_that_people_differ_on_are_told_by_how_far() -> None:
    found = score_question(questioned(TWO, "yyyy", "yn.y", "n...", "y..."), {}).apart
    # Item 1: its one pair differs. Item 0: of six pairs three differ.
    assert [(each.item, each.apart) for each in found] == [("1", 1.0), ("0", 0.5)]
    assert found[1].said == (("yes", 3), ("no", 1))
    assert (found[0].majority, found[1].majority) == (("no", "yes"), ("yes",))


def test_on_a_scale_items_are_apart_by_parts_of_its_length() -> None:
    # 1 and 5 are the ends of the scale; 1, 1 and 3: two of three pairs are half of it apart.
    found = score_question(
        questioned(CLARITY, "11", "51", ".3"), {"0": RatedItem(id="0"), "1": RatedItem(id="1")}
    )
    assert [(each.item, each.apart) for each in found.apart] == [
        ("0", 1.0),
        ("1", pytest.approx(1 / 3)),
    ]


def test_chance_is_of_items_whose_truth_is_known() -> None:
    found = score_question(
        questioned(TWO, "yyyy", "ynyy", "yn..", truth="yny.", model="nny."), {}
    ).chance
    hits = {each.who: (each.right.hits, each.right.of) for each in found}
    assert hits == {
        "all answers": (7, 8),  # a is wrong about item 1
        "the majority": (3, 3),
        "a": (2, 3),
        "b": (3, 3),
        "c": (2, 2),
        "model": (2, 3),
    }
    assert {each.guess for each in found} == {0.5}
    # Three of three by guessing, and as rare: none of three.
    assert found[1].p == pytest.approx(0.25)


def test_a_rater_without_known_truth_has_chance_one() -> None:
    found = {
        each.who: each
        for each in score_question(questioned(TWO, "y.", ".y", truth="y."), {}).chance
    }
    assert (found["b"].p, found["b"].right.of) == (1.0, 0)
    assert score_question(questioned(TWO, "yy", "yn"), {}).chance == ()


def means_of(values: int, items: int) -> set[tuple[str, str]]:
    row = "3" * items
    tagged = {str(k): RatedItem(id=str(k), tags={"t": f"v{k % values:02}"}) for k in range(items)}
    return set(score_question(questioned(CLARITY, row), tagged).means)


@pytest.mark.parametrize(
    ("values", "items", "groups"), [(2, 10, 2), (2, 9, 0), (1, 10, 0), (20, 100, 20), (21, 105, 0)]
)
def test_means_by_tag_need_five_items_a_value_and_few_values(
    values: int, items: int, groups: int
) -> None:
    found = means_of(values, items)
    assert ("", "") in found
    assert len(found) == 1 + groups


def test_means_are_of_all_answers() -> None:
    items = {str(k): RatedItem(id=str(k)) for k in range(3)}
    (mean, many) = score_question(questioned(CLARITY, "125", "3.."), items).means["", ""]
    assert (mean.value, many) == (pytest.approx((1 + 3 + 2 + 5) / 4), 3)


@pytest.mark.parametrize(
    ("answered", "skipped", "withdrawn", "begun", "state"),
    [
        (3, 1, False, True, "done"),
        (2, 1, False, True, "under way"),
        (0, 0, False, True, "under way"),
        (0, 0, False, False, "not begun"),
        (0, 0, True, True, "withdrew"),
    ],
)
def test_how_far_a_rater_is(
    answered: int, skipped: int, withdrawn: bool, begun: bool, state: str
) -> None:
    rater = RaterHabits("a", 4, answered, skipped, withdrawn, begun, None, 0, ())
    assert rater.state == state


@pytest.mark.parametrize(
    ("fast", "answered", "warning"), [(1, 4, ""), (2, 7, "2 of 7 answers too fast"), (0, 0, "")]
)
def test_more_than_a_quarter_of_fast_answers_is_a_warning(
    fast: int, answered: int, warning: str
) -> None:
    assert RaterHabits("a", 9, answered, 0, False, True, 1.0, fast, ()).warning == warning


@pytest.mark.parametrize(
    ("mine", "others", "same"),
    [
        # The others say yes to half: five times yes has 1/32, seven times 1/128.
        ("yyyyyyy", "ynynynyn", ("right",)),
        ("yyyyy", "ynynynyn", ()),
        ("yyyyy", "ynnnn", ("right",)),
        ("yyyy", "nnnnn", ()),
        ("yyyyyyn", "nnnnnnn", ()),
        ("yyyyyyy", "", ()),
        # Six times 1/2 is 1/64.
        ("yyyyyy", "ynynynyn", ()),
    ],
)
def test_one_answer_throughout_is_a_habit_where_it_is_unlikely(
    tmp_path: Path, mine: str, others: str, same: tuple[str, ...]
) -> None:
    people = make_study(tmp_path / "study", (TWO,), [RatedItem(id=str(k)) for k in range(8)], 1)
    said = questioned(TWO, mine, others)
    said.said = {("rater-0" if who == "a" else who, k): v for (who, k), v in said.said.items()}
    assert [each.same for each in rater_habits(people, [said])] == [same]


def test_a_fast_answer_takes_less_than_a_third_of_the_median(tmp_path: Path) -> None:
    people = make_study(tmp_path / "study", (TWO,), [RatedItem(id=f"i{k}") for k in range(9)], 3)
    lines = [
        (rater.name, item, {"right": "yes"}) for rater in people.file.raters for item in rater.items
    ]
    # Two of three raters take 12 s: the median is 12 s, and a third of it 4 s.
    for seconds, fast in ((4.0, 0), (3.9, len(people.file.raters[1].items))):
        folder = tmp_path / f"{seconds}"
        again = make_study(folder, (TWO,), [RatedItem(id=f"i{k}") for k in range(9)], 3)
        found = rater_habits(say(again, lines, {"rater-1": seconds}), [])
        assert [each.fast for each in found] == [0, fast, 0]
        assert found[1].seconds == seconds
    assert [each.seconds for each in rater_habits(people, [])] == [None] * 3
    assert {each.state for each in rater_habits(people, [])} == {"not begun"}
