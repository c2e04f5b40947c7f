"""What a CapNav run's lines add up to: calls, and groups by the length of the route."""

import numpy as np
import pytest

from navloom.evals.capnav.answer_scoring import AnswerScore
from navloom.evals.capnav.official_scorer import OfficialScore
from navloom.evals.capnav.scores import GROUPS, METRICS, CapnavScores, RateEstimate, _rates
from navloom.scenes.bodies import body_names


def score(hops: int | None) -> AnswerScore:
    return AnswerScore("q1", "S", "HUMAN", "yes", True, hops=hops)


def test_routes_of_five_passages_and_more_stand_together():
    group = GROUPS["passages"]
    assert [group(score(hops)) for hops in (None, 1, 4, 5, 9)] == [
        ("no route",),
        ("1",),
        ("4",),
        ("5 or more",),
        ("5 or more",),
    ]


def test_calls_and_tokens_add_up():
    found = CapnavScores("m", None)
    for asks, tokens in ((1, 10), (3, 30)):
        found.add(
            {
                "result": {
                    "score": score(2).record(),
                    "official": [],
                    "asks": asks,
                    "frames": asks - 1,
                },
                "usage": {"input_tokens": tokens, "output_tokens": 2},
                "seconds": 0.5,
                "cost_usd": 0.25,
            }
        )
    assert (found.asks, found.texts_only) == (4, 1)


def test_a_measure_has_an_interval_where_it_has_both_ends():
    assert RateEstimate(0.5, 0.25, 0.75, 3).record() == {
        "value": 0.5,
        "interval": [0.25, 0.75],
        "n": 3,
    }
    assert RateEstimate(0.5, None, 0.75, 3).record()["interval"] is None
    assert RateEstimate(0.5, 0.25, None, 3).record()["interval"] is None


def answered(question, body="HUMAN", *, faults=(), hops=1, barriers=(), **official):
    mine = AnswerScore(question, "S", body, "yes", True, hops=hops, faults=faults,
                       barriers=barriers)  # fmt: skip
    theirs = OfficialScore(**official).record() if official else {"error": "empty_question"}
    return {"result": {"score": mine.record(), "official": [theirs], "asks": 1, "frames": 1}}


def test_lines_add_up_by_both_rules_with_the_faults_of_paths():
    found = CapnavScores("m", "judge")
    found.add(answered("q1", faults=("a", "b"), answer="yes", truth=True, bucket="TP", valid=True))
    found.add(answered("q2", faults=("b",), answer="no", truth=True, bucket="FN"))
    found.add(answered("q3"))
    assert found.faults == {"a": 1, "b": 2}
    assert [question for question, _ in found.official] == ["q1", "q2", "q3"]
    told = found.record()
    assert (told["answers"], told["asks"], told["text_only"]) == (3, 3, 0)
    assert told["path_faults"] == {"a": 1, "b": 2}
    official = told["official"]
    # The one without ends is not counted.
    assert (official["answers"], official["not_counted"]) == (3, 1)
    assert official["confusion"] == {"TP": 1, "FP": 0, "FN": 1, "TN": 0}
    assert (official["accuracy"]["value"], official["accuracy"]["n"]) == (0.5, 2)
    assert official["unscored_reasons"] == 1
    assert official["composite_over"] == ["F1", "PV", "RTA", "RV"]
    assert CapnavScores("m", None).judged is False
    assert found.judged


def test_groups_stand_in_the_order_of_tables():
    found = CapnavScores("m", None)
    for question, body, hops, barriers in (
        ("q1", "ZZZ", 3, ("stairs",)),
        ("q2", "HUMAN", None, ("no route",)),
        ("q3", "SWEEPER", 3, ("clutter", "stairs")),
        ("q4", "AAA", 1, ()),
    ):
        found.add(answered(question, body, hops=hops, barriers=barriers))
    names = {kind: [name for name, _ in found.by(kind)] for kind in GROUPS}
    bodies = [body for body in body_names() if body in ("HUMAN", "SWEEPER")]
    assert names["body"] == [*bodies, "AAA", "ZZZ"]
    assert names["barrier"] == ["stairs", "clutter", "no route"]
    assert names["passages"] == ["1", "3", "no route"]
    assert {name: each.answers for name, each in found.by("barrier")} == {
        "stairs": 2, "clutter": 1, "no route": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "truth", "bucket", "right"),
    [
        ("yes", True, "TP", True), ("yes", False, "FP", False), ("no", True, "FN", False),
        ("no", False, "TN", True), (None, True, "FN", False), (None, False, "FP", False),
        ("yes", None, None, None), (None, None, None, None),
    ],
)  # fmt: skip
def test_an_answer_is_right_where_it_is_the_truth(answer, truth, bucket, right):
    found = AnswerScore("q", "S", "HUMAN", answer, truth)
    assert (found.bucket, found.right) == (bucket, right)


def test_rates_and_what_they_are_of_by_hand():
    # 3 and 4 of ten answers right, 1 feasible by mistake and 2 not; then 5/8, 1/4 and 3/6.
    rates, of = _rates(np.array([[3.0, 1, 2, 4, 5, 8, 1, 4, 3, 6]]), ("F1", "accuracy"))
    told = {name: (rates[0, k], of[0, k]) for k, name in enumerate(METRICS)}
    assert told == {
        "precision": (3 / 4, 4),
        "recall": (3 / 5, 5),
        "F1": (pytest.approx(6 / 9), 10),
        "accuracy": (7 / 10, 10),
        "balanced": (pytest.approx((3 / 5 + 4 / 5) / 2), 10),
        "PV": (5 / 8, 8),
        "RTA": (1 / 4, 4),
        "RV": (3 / 6, 6),
        "composite": (pytest.approx((6 / 9 + 7 / 10) / 2), 10),
    }
