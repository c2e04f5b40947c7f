"""What valid tasks are worth as a set: plausible, plain, how hard, and how varied.

Instructions are of one form, and a room's number is no variety: sentences are compared by their
words, room types without their numbers ("take the cup from kitchen to the desk in office").
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from navloom.evals.report.intervals import Rate, Spread
from navloom.tools.navcraft.worth import SENSIBLE

_PATH = "Single robot travel path"
_NUMBER = re.compile(r"_\d+\b")
_WORD = re.compile(r"[a-z]+")
MOST_COMPARED = 200
"""Sentences that self-BLEU compares, each with each other."""
_BLEU = 4
"""Words in the longest run that self-BLEU compares; distinct-n counts runs of two."""


@dataclass(frozen=True)
class Merits:
    """Of the valid tasks of a run, or of several.

    Attributes:
        tasks: how many.
        plausible: how far a person would ask for each (docs/dataset.md), of those that say.
        sensible: those about which nothing is odd.
        unambiguous: those whose sentence fits one object and one asset.
        hops: links on the way of each.
        metres: the way of each for one robot alone.
        doors: on the way of each, where the home names doors.
        storeys: that the way of each touches.
        namesakes: things of the same names elsewhere in the home.
        sentences: what is compared, in words.
        distinct_2: different pairs of neighbouring words over all pairs (Li et al. 2016), 0 to 1.
        rooms: entropy of the end rooms' types, in bits.
        objects: entropy of the objects' names, in bits.
        types: entropy of the relays' types, in bits; None where there is no relay.
    """

    tasks: int
    plausible: Spread
    sensible: Rate
    unambiguous: Rate
    hops: Spread
    metres: Spread
    doors: Spread
    storeys: Spread
    namesakes: Spread
    sentences: tuple[str, ...]
    distinct_2: float | None
    rooms: float
    objects: float
    types: float | None

    @cached_property
    def self_bleu(self) -> float | None:
        """Mean BLEU-4 of each sentence against the others (Zhu et al. 2018), 0 to 1.

        The lower, the more varied; None of fewer than two, and of many over an even share of
        ``MOST_COMPARED``.
        """
        return self_bleu(self.sentences[:: -(-len(self.sentences) // MOST_COMPARED) or 1])

    def record(self) -> dict[str, Any]:
        """As JSON: means, shares and entropies."""
        means = {
            name: {"mean": spread.mean, "mean_95": spread.interval, "n": len(spread.values)}
            for name in ("plausible", "hops", "metres", "doors", "storeys", "namesakes")
            for spread in [getattr(self, name)]
        }
        rates = {
            name: {**asdict(rate), "share": rate.share, "share_95": rate.interval}
            for name in ("sensible", "unambiguous")
            for rate in [getattr(self, name)]
        }
        plain = ("tasks", "distinct_2", "self_bleu", "rooms", "objects", "types")
        return {**means, **rates, **{name: getattr(self, name) for name in plain}}


def merits(results: Sequence[Mapping[str, Any]]) -> Merits:
    """What valid tasks are worth.

    Args:
        results: of samples that ended ok: ``{"phase_1", "phase_2", "navloom"}``; ``phase_2`` absent
            or None where there is no relay. Runs of earlier versions have no ``worth``.
    """
    tasks = [result["phase_1"] for result in results]
    known = [worth for result in results if (worth := result["navloom"].get("worth"))]
    said = [_words(task["Task instruction"]) for task in tasks]
    pairs = [pair for words in said for pair in pairwise(words)]
    kinds = [plan["Collaborative type"] for r in results if (plan := r.get("phase_2") or {})]
    ends = [_NUMBER.sub("", task["Single robot end region"]["robot_1"]) for task in tasks]
    return Merits(
        tasks=len(tasks),
        plausible=_spread(known, "plausible"),
        sensible=Rate(sum(each["plausible"] >= SENSIBLE for each in known), len(known)),
        unambiguous=Rate(sum(each["unambiguous"] for each in known), len(known)),
        hops=Spread(tuple(float(len(task[_PATH]["robot_1"])) for task in tasks)),
        metres=_spread([result["navloom"] for result in results], "solo_metres"),
        doors=_spread(known, "doors"),
        storeys=_spread(known, "storeys"),
        namesakes=_spread(known, "namesakes"),
        sentences=tuple(" ".join(words) for words in said),
        distinct_2=len(set(pairs)) / len(pairs) if pairs else None,
        rooms=entropy(ends),
        objects=entropy(task["Target object"] for task in tasks),
        types=entropy(kinds) if kinds else None,
    )


def _spread(records: Sequence[Mapping[str, Any]], key: str) -> Spread:
    found = (record.get(key) for record in records)
    return Spread(tuple(float(value) for value in found if value is not None))


def self_bleu(sentences: Sequence[str]) -> float | None:
    """Mean BLEU-4 of each sentence against all others, 0 to 1; None of fewer than two."""
    from sacrebleu.metrics.bleu import BLEU

    if len(sentences) < 2:
        return None
    metric = BLEU(tokenize="none", effective_order=True, max_ngram_order=_BLEU)
    scores = [
        metric.sentence_score(each, [*sentences[:i], *sentences[i + 1 :]]).score
        for i, each in enumerate(sentences)
    ]
    return sum(scores) / len(scores) / 100


def entropy(values: Iterable[str]) -> float:
    """Shannon's entropy of how often each value occurs, in bits; 0 of none."""
    counts = Counter(values)
    shares = [count / counts.total() for count in counts.values()]
    return -sum(share * math.log2(share) for share in shares) + 0.0


def _words(sentence: str) -> list[str]:
    return _WORD.findall(_NUMBER.sub("", sentence).casefold().replace("_", " "))


NO_MERITS = merits([])
"""Of no task."""
