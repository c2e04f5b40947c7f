"""What a CapNav run's lines add up to: calls, and groups by the length of the route."""

from navloom.evals.capnav.rules import AnswerScore
from navloom.evals.capnav.scores import GROUPS, CapnavScores


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
