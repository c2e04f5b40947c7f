"""Agreement of raters, on the literature's own examples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from navloom.errors import UsageError
from navloom.evals.agreement import (
    Estimate,
    Level,
    RaterAnswers,
    cohen_kappa,
    estimate_ratio,
    fleiss_kappa,
    krippendorff_alpha,
    make_estimate,
    measure_agreement,
)

# K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: twelve units, four
# observers, five values, not every observer of every unit; a dot is a missing value.
_KRIPPENDORFF = ("123321412...", "12332241 25.3".replace(" ", ""), ".33323422 51.".replace(" ", ""))
_KRIPPENDORFF = (*_KRIPPENDORFF, "123324412 51.".replace(" ", ""))
# Fourteen psychiatrists, ten patients, five diagnoses: the worked example of Wikipedia's article on
# Fleiss' kappa, which is the one that gives .210.
_FOURTEEN = """0 0 0 0 14/0 2 6 4 2/0 0 3 5 6/0 3 9 2 0/2 2 8 1 1/7 7 0 0 0/3 2 6 3 0/2 5 3 2 2/
6 5 2 1 0/0 2 2 3 7"""


def _krippendorff(level: Level) -> RaterAnswers:
    said = {
        (f"observer {r}", f"unit {u:02}"): int(value)
        for r, row in enumerate(_KRIPPENDORFF)
        for u, value in enumerate(row)
        if value != "."
    }
    return RaterAnswers(said, level)


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_krippendorffs(level: Level, value: float) -> None:
    found = measure_agreement(_krippendorff(level))
    assert found.alpha.value == pytest.approx(value, abs=5e-4)
    assert found.alpha.low is not None
    assert found.alpha.low < value < found.alpha.high
    # Unit 12 has one answer: it is no pair.
    assert (found.items, found.paired, found.answers) == (12, 11, 41)


def test_words_in_an_order_are_ordinal() -> None:
    words = ("very low", "low", "mid", "high", "very high")
    said = {who: words[int(value) - 1] for who, value in _krippendorff("ordinal").said.items()}
    assert measure_agreement(RaterAnswers(said, "ordinal", words)).alpha.value == pytest.approx(
        0.815, abs=5e-4
    )


def test_kappa_is_fleiss() -> None:
    counts = np.array([[int(n) for n in row.split()] for row in _FOURTEEN.split("/")])
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=5e-4)
    said = {
        (f"{k:02}", f"patient {item}"): value
        for item, row in enumerate(counts)
        for k, value in enumerate(np.repeat(range(5), row).tolist())
    }
    found = measure_agreement(RaterAnswers(said))
    assert found.fleiss.value == pytest.approx(0.210, abs=5e-4)
    # Of the article's P-bar: equal numbers, so the share of pairs is the mean over patients.
    assert found.share.value == pytest.approx(0.378, abs=5e-4)


def test_kappa_is_cohens() -> None:
    # 50 proposals and two readers, 20/5/10/15: po .7, pe .5 (Wikipedia's article on Cohen's kappa).
    assert cohen_kappa(np.array([[[20.0, 5.0], [10.0, 15.0]]]))[0] == pytest.approx(0.4)
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    said = {
        (rater, f"{n:02}"): value
        for n, both in enumerate(pairs)
        for rater, value in zip("ab", both, strict=True)
    }
    found = measure_agreement(RaterAnswers(said))
    assert found.cohen["a", "b"].value == pytest.approx(0.4)
    assert found.cohen["a", "b"].low < 0.4 < found.cohen["a", "b"].high
    assert found.shared == {("a", "b"): 50}


@pytest.mark.parametrize(
    "said",
    [
        {},
        {("a", "1"): "x"},
        {("a", "1"): "x", ("a", "2"): "y"},
        {("a", "1"): "x", ("b", "2"): "y"},
        {("a", "1"): "x", ("b", "1"): "x"},
        {(r, i): "x" for r in "abc" for i in "1234"},
        # Only what can be paired counts: the other value has no second answer.
        {("a", "1"): "x", ("b", "1"): "x", ("a", "2"): "y"},
    ],
)
def test_what_is_undefined_says_why(said: dict[tuple[str, str], str]) -> None:
    with np.errstate(all="raise"):
        found = measure_agreement(RaterAnswers(said))
    assert found.alpha.value is None
    assert found.fleiss.value is None
    assert ("two answers" if found.paired == 0 else "the same") in found.why
    assert found.record()["alpha"]["value"] is None
    raters = sorted({rater for rater, _ in said})
    both = {
        (one, two)
        for one, two in combinations(raters, 2)
        if any((one, item) in said and (two, item) in said for _, item in said)
    }
    assert set(found.cohen) == both


def test_one_item_has_a_value_and_no_interval() -> None:
    found = measure_agreement(RaterAnswers({("a", "1"): 1, ("b", "1"): 2}, "interval"))
    assert found.share.value == 0
    assert found.alpha.value == pytest.approx(0)
    assert found.alpha.interval is None
    assert found.why == ""


def test_items_are_drawn_from_the_seed() -> None:
    first, again = (measure_agreement(_krippendorff("ordinal"), seed=3) for _ in range(2))
    assert first == again
    assert (
        first.alpha.interval != measure_agreement(_krippendorff("ordinal"), seed=4).alpha.interval
    )


def test_two_items_have_an_interval_and_one_has_none() -> None:
    assert estimate_ratio(np.array([[1.0, 1.0], [0.0, 1.0]])).interval == (0.0, 1.0)
    assert estimate_ratio(np.array([[1.0, 1.0], [0.0, 0.0]])).interval is None


def test_an_interval_holds_what_it_should() -> None:
    # 300 studies of 60 items in which each pair agrees with a chance of .7.
    held = 0
    for seed in range(300):
        hits = np.random.default_rng(seed).random(60) < 0.7
        low, high = estimate_ratio(
            np.stack([hits, np.ones(60)], axis=1).astype(float), seed
        ).interval
        held += low <= 0.7 <= high
    assert 0.91 <= held / 300 <= 0.98


def test_ties_are_told_from_majorities() -> None:
    answers = RaterAnswers({("a", "1"): "x", ("b", "1"): "y", ("c", "1"): "x", ("a", "2"): "y"})
    assert answers.majority("1") == ("x",)
    assert RaterAnswers({("a", "1"): "x", ("b", "1"): "y"}).majority("1") == ("x", "y")


def test_bad_values_are_one_line() -> None:
    with pytest.raises(UsageError, match="'d' is none of the values: a, b"):
        RaterAnswers({("r", "1"): "d"}, "ordinal", ("a", "b"))
    with pytest.raises(UsageError, match="finite numbers"):
        RaterAnswers({("r", "1"): float("nan")}, "interval")
    assert np.isnan(krippendorff_alpha(np.zeros((0, 2), np.int64), [0, 1], "nominal"))


@pytest.mark.parametrize(
    ("estimate", "interval", "coefficient"),
    [
        (Estimate(None), None, "–"),
        (Estimate(0.5), None, "0.500"),
        (Estimate(0.5, 0.25), None, "0.500"),
        (Estimate(0.5, None, 0.75), None, "0.500"),
        (Estimate(0.5, 0.25, 0.75), (0.25, 0.75), "0.500 [0.25, 0.75]"),
        (Estimate(None, 0.25, 0.75), (0.25, 0.75), "–"),
    ],
)
def test_an_interval_has_both_its_ends(
    estimate: Estimate, interval: tuple[float, float] | None, coefficient: str
) -> None:
    assert (estimate.interval, estimate.coefficient) == (interval, coefficient)


@pytest.mark.parametrize(
    ("undefined", "clusters", "interval"),
    [(2, 2, True), (3, 2, False), (0, 1, False), (0, 2, True)],
)
def test_an_interval_needs_two_clusters_and_half_of_the_draws(
    undefined: int, clusters: int, interval: bool
) -> None:
    drawn = np.array([0.2, 0.4, 0.6, 0.8])
    drawn[:undefined] = np.nan
    found = make_estimate(0.5, drawn, clusters)
    assert found.value == 0.5
    assert (found.interval is not None) == interval


def test_items_of_no_answers_are_not_drawn() -> None:
    empty = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    assert estimate_ratio(empty) == estimate_ratio(empty[:2])
    assert estimate_ratio(np.zeros((3, 2))).value is None


def test_pairs_of_an_item() -> None:
    # Three say x and two y: 3 + 1 pairs agree of 10. The other item has one answer, no pair.
    said = {(rater, "1"): "xxxyy"[n] for n, rater in enumerate("abcde")} | {("a", "2"): "x"}
    answers = RaterAnswers(said)
    assert answers.pairs.tolist() == [[4, 10], [0, 0]]
    assert measure_agreement(answers).share.value == 0.4


def test_a_value_that_nobody_gave_is_no_majority() -> None:
    answers = RaterAnswers({("a", "1"): "x"}, "ordinal", ("w", "x"))
    answers.codes[:] = -1
    assert answers.majority("1") == ()


def test_numbers_come_before_words_and_a_study_has_its_items() -> None:
    answers = RaterAnswers({("a", "1"): "x", ("a", "2"): 10, ("b", "1"): 9})
    assert answers.values == [9, 10, "x"]
    assert (
        measure_agreement(answers).items,
        measure_agreement(answers).paired,
        measure_agreement(answers).answers,
    ) == (2, 1, 3)


def test_interval_values_keep_their_distances() -> None:
    assert RaterAnswers({("a", "1"): 1, ("a", "2"): 5}, "interval").places == [1, 5]
    assert RaterAnswers({("a", "1"): 1, ("a", "2"): 5}, "ordinal").places == [0, 1]
    with pytest.raises(UsageError, match="finite numbers"):
        RaterAnswers({("a", "1"): 1, ("a", "2"): "x"}, "interval")


def test_fleiss_by_hand_leaves_out_items_with_one_answer() -> None:
    # Three pairs, of which two agree; both values have half of the answers: (2/3 - 1/2) / (1/2).
    counts = np.array([[2, 0], [1, 1], [0, 2], [1, 0], [0, 0]])
    assert fleiss_kappa(counts) == pytest.approx(1 / 3)
    # The other value has no second answer: alpha has nothing that chance could have got wrong.
    assert np.isnan(krippendorff_alpha(np.array([[2, 0], [0, 1]]), [0, 1], "nominal"))
