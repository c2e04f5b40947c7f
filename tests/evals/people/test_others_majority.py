"""Whether a judge is as good as a person is told of simulated ones."""

from __future__ import annotations

from collections import Counter

import pytest

from navloom.evals.agreement import Estimate, RaterAnswers
from navloom.evals.people.question_results import LeaveOneOut
from tests.evals.people.simulated import simulated

STUDIES = 40


def _verdicts(judge: float, items: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in range(STUDIES):
        answers, its = simulated(seed, judge, items=items)
        found[LeaveOneOut(answers).beside("judge", its).verdict] += 1
    return found


@pytest.mark.slow
def test_judges_better_and_worse_than_people_are_told_apart() -> None:
    # People are right in 80 %, three an item of 150; each study is another.
    better, worse = _verdicts(0.95, 150), _verdicts(0.65, 150)
    assert better["better"] >= 0.9 * STUDIES, better
    assert worse["worse"] >= 0.75 * STUDIES, worse
    assert better["worse"] == worse["better"] == 0
    assert better["as good"] == worse["as good"] == 0


@pytest.mark.slow
def test_a_judge_that_errs_as_people_do_is_rarely_called_anything_else() -> None:
    # At 95 % one study in twenty may err; 40 of them hold at most 5 errors with a chance of .95+.
    level = _verdicts(0.8, 150)
    assert level["better"] + level["worse"] <= 5, level


@pytest.mark.slow
def test_a_larger_study_says_as_good() -> None:
    level = _verdicts(0.8, 400)
    assert level["as good"] >= 0.7 * STUDIES, level
    assert level["better"] + level["worse"] <= 5, level


def test_few_items_tell_nothing() -> None:
    answers, its = simulated(0, 1.0, items=10)
    assert LeaveOneOut(answers).beside("judge", its).verdict == "too few items"
    assert LeaveOneOut(RaterAnswers({})).beside("judge", {}).verdict == "too few items"


def test_a_person_is_held_against_the_others_alone() -> None:
    said = {("a", "1"): "x", ("b", "1"): "x", ("c", "1"): "y"}  # of c the others say x
    said |= {("a", "2"): "x", ("b", "2"): "y", ("c", "2"): "z"}  # nobody has a majority
    said |= {("a", "3"): "x"}  # nobody else answered
    others = LeaveOneOut(RaterAnswers(said))
    assert others.person("c").mean.value == 0.0
    assert (others.person("c").answers, others.person("c").ties) == (1, 1)
    # Without a, b and c are of two minds about item 1; so it is without b.
    assert others.person("a").mean.value is None
    assert others.person("a").ties == 3
    assert (others.people().answers, others.people().ties) == (1, 6)
    judge = others.judge({"1": "x", "2": "x", "3": "y", "nobody's": "x"})
    assert (judge.mean.value, judge.answers, judge.ties) == (0.5, 2, 1)
    # The one answer with a majority of others is c's, which the judge has right and c has not.
    beside = others.beside("judge", {"1": "x"})
    assert (beside.theirs.value, beside.its.value, beside.difference.value) == (0, 1, 1)
    # A value that no person gave is like none of theirs.
    assert others.judge({"1": "q"}).mean.value == 0


def test_a_scale_is_held_against_the_median_in_steps() -> None:
    said = {("a", "1"): 1, ("b", "1"): 3, ("c", "1"): 4}
    others = LeaveOneOut(RaterAnswers(said, "ordinal", (1, 2, 3, 4, 5)))
    assert others.person("a").mean.value == pytest.approx(2.5)  # 3.5 is between 3 and 4
    assert others.judge({"1": 5}).mean.value == 2.0
    # a is 2.5 away, b 0.5, c 2; the judge's 3 is 0.5, 0.5 and 1 away.
    beside = others.beside("judge", {"1": 3})
    assert beside.difference.value == pytest.approx((2.0 + 0 + 1.0) / 3)
    assert others.beside("judge", {"1": 3}, "b").difference.value == 0


@pytest.mark.parametrize(
    ("low", "high", "share", "steps"),
    [
        # A share is level within 10 points, a scale within a quarter of a step.
        (0.01, 0.3, "better", "better"),
        (-0.3, -0.01, "worse", "worse"),
        (0.0, 0.05, "as good", "as good"),
        (-0.05, 0.0, "as good", "as good"),
        (-0.1, 0.1, "as good", "as good"),
        (-0.11, 0.1, "not told apart", "as good"),
        (-0.1, 0.11, "not told apart", "as good"),
        (-0.25, 0.25, "not told apart", "as good"),
        (-0.26, 0.25, "not told apart", "not told apart"),
        (-0.25, 0.26, "not told apart", "not told apart"),
    ],
)
def test_a_verdict_is_read_from_the_interval(
    low: float, high: float, share: str, steps: str
) -> None:
    difference = Estimate((low + high) / 2, low, high)
    names, scale = LeaveOneOut(RaterAnswers({})), LeaveOneOut(RaterAnswers({}, "ordinal", (1, 2)))
    assert names._verdict(difference, 20) == share
    assert scale._verdict(difference, 20) == steps
    assert names._verdict(difference, 19) == "too few items"


@pytest.mark.parametrize(
    "difference", [Estimate(0.5), Estimate(0.5, low=0.4), Estimate(0.5, high=0.6)]
)
def test_without_an_interval_there_are_too_few_items(difference: Estimate) -> None:
    assert LeaveOneOut(RaterAnswers({}))._verdict(difference, 100) == "too few items"


def test_a_judge_beside_people_who_are_right_is_worse_by_what_it_gets_wrong() -> None:
    said = {(who, item): "x" for who in "abc" for item in "12"}
    beside = LeaveOneOut(RaterAnswers(said)).beside("judge", {"1": "x", "2": "y"})
    assert (beside.theirs.value, beside.its.value, beside.difference.value) == (1, 0.5, -0.5)


def test_a_value_that_no_person_gave_is_not_the_first_of_a_scale() -> None:
    said = {(who, "1"): 1 for who in "abc"}
    judge = LeaveOneOut(RaterAnswers(said, "ordinal", (1, 2))).judge({"1": 9})
    assert judge.mean.value == 1
