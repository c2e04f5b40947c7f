"""Results of each question of a people study: agreement of raters with each other and with judges.

Only valid answers count: the last answer of a rater to an item, of raters who did not withdraw.

A person is compared with the other people, so a judge compared with all people would have an
advantage. Here each person of each item is left out in turn, and the judge and that person are
compared with the same others. A judge that errs as people do then scores the same as people,
whatever their number, and only the difference is tested. Ties, where the others have no majority,
are counted apart. (Leave-one-out follows Calderon, Reichart and Dror, The Alternative Annotator
Test, 2025; they test each person, this module uses one interval for all.)

For a scale, the others' median replaces the majority, and the distance in steps replaces accuracy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.evals.agreement import (
    Estimate,
    RaterAgreement,
    RaterAnswers,
    Value,
    estimate_ratio,
    measure_agreement,
)
from navloom.evals.people.rating_form import Answer, FormQuestion
from navloom.evals.people.study_folder import PeopleStudy, RatedItem
from navloom.evals.report.intervals import Floats, Rate

Verdict = Literal["better", "as good", "worse", "not told apart", "too few items"]
LEAST_ITEMS = 20
"""Minimum number of items: with fewer, bootstrap intervals are too narrow."""
WITHIN_SHARE, WITHIN_STEPS = 0.1, 0.25
"""Margins of equivalence: of a share of agreement, and of steps of a scale."""


@dataclass(frozen=True)
class MajorityScore:
    """Score of a person or judge against a majority.

    Attributes:
        mean: share of answers equal to the majority; for a scale, mean distance in steps.
        answers: number of answers compared with a majority.
        ties: number of answers without a majority to compare with.
    """

    mean: Estimate
    answers: int
    ties: int


@dataclass(frozen=True)
class JudgeComparison:
    """Comparison of a judge with all people or with one person.

    Attributes:
        judge: its name: ``judge:NAME``, ``generator``, ``optimum``, ``truth``.
        person: the person; empty: all people.
        theirs: score of the people, each against the others.
        its: score of the judge against the same others.
        items: number of items.
        difference: advantage of the judge over the people; negative if worse.
        verdict: conclusion from the interval of the difference.
    """

    judge: str
    person: str
    theirs: Estimate
    its: Estimate
    items: int
    difference: Estimate
    verdict: Verdict


class LeaveOneOut:
    """Leave-one-out comparison: each answer to a question against the other people.

    Args:
        answers: answers of the people.
        seed: seed of the bootstraps.
    """

    def __init__(self, answers: RaterAnswers, seed: int = 0) -> None:
        self.answers, self._seed = answers, seed
        self.steps = answers.level != "nominal"
        """True for a scale: scores are distances, and less is better."""
        # For each answer with a majority of others: item, rater, score, that majority.
        held = list(self._held())
        self._item = np.array([each[0] for each in held], np.int64)
        self._rater = np.array([each[1] for each in held], np.int64)
        self._own = np.array([each[2] for each in held])
        self._due = np.array([each[3] for each in held])

    def _held(self) -> Iterator[tuple[int, int, float, float]]:
        for row, column in zip(*np.nonzero(self.answers.codes >= 0), strict=True):
            own = self.answers.codes[row, column]
            counts = self.answers.counts[column].copy()
            counts[own] -= 1
            if (due := self._middle(counts)) is not None:
                yield column, row, self._worth(self._place(own), due), due

    def _place(self, code: int) -> float:
        return self.answers.places[code] if self.steps else float(code)

    def _middle(self, counts: NDArray[np.int64]) -> float | None:
        """Return the majority of values, or the median of a scale; None if there is none."""
        if not counts.sum():
            return None
        if self.steps:
            return float(np.median(np.repeat(self.answers.places, counts)))
        most = np.flatnonzero(counts == counts.max())
        return float(most[0]) if len(most) == 1 else None

    def _worth(self, place: float, due: float) -> float:
        return abs(place - due) if self.steps else float(place == due)

    def person(self, name: str) -> MajorityScore:
        """Return the score of one person against the majority of the other people."""
        row = self.answers.raters.index(name)
        mine = self._rater == row
        many = int((self.answers.codes[row] >= 0).sum())
        return self._against(self._item[mine], self._own[mine], many - int(mine.sum()))

    def people(self) -> MajorityScore:
        """Return the score of all people, each against the majority of the other people."""
        return self._against(self._item, self._own, len(self.answers.said) - len(self._own))

    def judge(self, said: Mapping[str, Value]) -> MajorityScore:
        """Score a judge against the majority of all people.

        Args:
            said: its values by item; items without people's answers are ignored.
        """
        places = self._places(said)
        middles = {at: self._middle(self.answers.counts[at]) for at in places}
        due = {at: middle for at, middle in middles.items() if middle is not None}
        worth = [self._worth(places[at], middle) for at, middle in due.items()]
        return self._against(np.array(list(due), np.int64), np.array(worth), len(places) - len(due))

    def beside(self, name: str, said: Mapping[str, Value], person: str = "") -> JudgeComparison:
        """Return how a judge compares with one person or all, on the items answered by both sides.

        Args:
            name: the judge's name.
            said: its values by item.
            person: the person; default: all.
        """
        places = self._places(said)
        shared = np.isin(self._item, list(places))
        if person:
            shared &= self._rater == self.answers.raters.index(person)
        items, own, due = self._item[shared], self._own[shared], self._due[shared]
        its = np.array([self._worth(places[i], d) for i, d in zip(items, due, strict=True)])
        gain = own - its if self.steps else its - own
        difference, many = self._mean(items, gain), len(np.unique(items))
        return JudgeComparison(
            judge=name,
            person=person,
            theirs=self._mean(items, own),
            its=self._mean(items, its),
            items=many,
            difference=difference,
            verdict=self._verdict(difference, many),
        )

    def _places(self, said: Mapping[str, Value]) -> dict[int, float]:
        """Return values by item number; -1 for a value that no person gave."""
        of = {value: self._place(code) for code, value in enumerate(self.answers.values)}
        known = self.answers.columns
        return {known[item]: of.get(value, -1.0) for item, value in said.items() if item in known}

    def _against(self, items: NDArray[np.int64], worth: Floats, ties: int) -> MajorityScore:
        return MajorityScore(self._mean(items, worth), len(items), ties)

    def _mean(self, items: NDArray[np.int64], worth: Floats) -> Estimate:
        """Estimate the mean over answers; the bootstrap draws items."""
        sums = np.zeros((len(self.answers.items), 2))
        np.add.at(sums[:, 0], items, worth)
        np.add.at(sums[:, 1], items, 1.0)
        return estimate_ratio(sums, self._seed)

    def _verdict(self, difference: Estimate, items: int) -> Verdict:
        if difference.low is None or difference.high is None or items < LEAST_ITEMS:
            return "too few items"
        if difference.low > 0 or difference.high < 0:
            return "better" if difference.low > 0 else "worse"
        within = WITHIN_STEPS if self.steps else WITHIN_SHARE
        level = -within <= difference.low and difference.high <= within
        return "as good" if level else "not told apart"


TRUTH = "truth"
_MOST_GROUPS, _LEAST_OF_GROUP = 20, 5
"""Maximum number of groups, and minimum average number of items in them."""


@dataclass
class QuestionAnswers:
    """Answers and references of one question.

    Attributes:
        name: the question's name; with the suffix ``with asset`` for place and object together.
        question: the question in the form.
        said: answers by rater and item.
        known: reference values by source and item.
    """

    name: str
    question: FormQuestion
    said: dict[tuple[str, str], Value] = field(default_factory=dict)
    known: defaultdict[str, dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))

    def answers(self) -> RaterAnswers:
        """Return the answers as a table."""
        scale = self.question.kind == "scale"
        order = tuple(range(self.question.low, self.question.high + 1)) if scale else ()
        return RaterAnswers(self.said, "ordinal" if scale else "nominal", order)


def collect_answers(people: PeopleStudy) -> tuple[list[QuestionAnswers], int]:
    """Collect answers by countable question; also return the number of invalid answers.

    An answer is invalid if the form or the file was changed since.
    """
    questions = {each.name: each for each in people.form.questions if each.measure}
    found: dict[str, QuestionAnswers] = {}

    def of(name: str, question: FormQuestion) -> QuestionAnswers:
        return found.setdefault(name, QuestionAnswers(name, question))

    for question in questions.values():
        of(question.name, question)
    strange = 0
    for rater, said in people.counted().items():
        for item, rating in said.items():
            for name, answer in rating.answers.items():
                if name in questions:
                    values = _values(questions[name], answer, people.items[item])
                    strange += values is None
                    for key, value in (values or {}).items():
                        of(key, questions[name]).said[rater, item] = value
    for item, each in people.items.items():
        for who, known in each.references.items():
            for name in known.keys() & questions.keys():
                values = _values(questions[name], known[name], each) or {}
                for key, value in values.items():
                    of(key, questions[name]).known[who][item] = value
    return list(found.values()), strange


def _values(question: FormQuestion, answer: Answer, item: RatedItem) -> Mapping[str, Value] | None:
    try:
        question.check(answer, item.places)
    except ValueError:
        return None
    return question.values(answer)


@dataclass(frozen=True)
class ChanceTest:
    """Accuracy of a person, majority or judge, tested against guessing.

    Attributes:
        who: a person, a judge, ``all answers``, or ``the majority`` of each item.
        right: accuracy.
        guess: expected accuracy of guessing.
        p: two-sided p-value of an exact binomial test against guessing.
    """

    who: str
    right: Rate
    guess: float
    p: float


@dataclass(frozen=True)
class DisputedItem:
    """An item on which people disagree.

    Attributes:
        item: its id.
        question: name of the question.
        said: each value with its frequency, descending.
        apart: share of pairs that differ; for a scale, mean distance of two people as a share of
            its length.
        majority: most frequent values; several in a tie.
    """

    item: str
    question: str
    said: tuple[tuple[Value, int], ...]
    apart: float
    majority: tuple[Value, ...]


@dataclass(frozen=True)
class QuestionResult:
    """All results of one question of a people study.

    Attributes:
        name: name of the question.
        agreed: inter-rater agreement.
        pairs: number of pairs of answers to the same item that agree, and of all such pairs.
        counts: frequency of each value, in order of values.
        majorities: number of items with two answers or more and one most frequent value.
        ties: number of items with several most frequent values.
        steps: whether the values are an ordinal scale; then scores are distances in steps.
        persons: score of each person against the other people's majority.
        people: that score over all people.
        judges: score of each judge against the majority of all people.
        beside: leave-one-out comparisons: each judge and the people, or one person, scored against
            the same other people.
        chance: tests against guessing, where truth is known.
        apart: items that people disagree on, largest disagreement first.
        means: for a scale, mean and number of items for each (tag, value of the tag), where items
            have tags; ``("", "")`` is all items.
    """

    name: str
    agreed: RaterAgreement
    pairs: tuple[int, int]
    counts: Mapping[Value, int]
    majorities: int
    ties: int
    steps: bool
    persons: Mapping[str, MajorityScore]
    people: MajorityScore
    judges: Mapping[str, MajorityScore]
    beside: tuple[JudgeComparison, ...]
    chance: tuple[ChanceTest, ...]
    apart: tuple[DisputedItem, ...]
    means: Mapping[tuple[str, str], tuple[Estimate, int]]

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
        return {
            "question": self.name,
            "agreement": self.agreed.record(),
            "counts": {str(value): many for value, many in self.counts.items()},
            "majorities": self.majorities,
            "ties": self.ties,
            "people": asdict(self.people),
            "persons": {name: asdict(each) for name, each in self.persons.items()},
            "judges": {name: asdict(each) for name, each in self.judges.items()},
            "beside": [asdict(each) for each in self.beside],
            "chance": [asdict(each) for each in self.chance],
            "means": [
                {"tag": tag, "value": value, "items": many, **asdict(mean)}
                for (tag, value), (mean, many) in self.means.items()
            ],
        }


def score_question(
    asked: QuestionAnswers, items: Mapping[str, RatedItem], *, seed: int = 0
) -> QuestionResult:
    """Compute all results of one question.

    Args:
        asked: the answers.
        items: the study's items.
        seed: seed of the bootstraps.
    """
    answers = asked.answers()
    others = LeaveOneOut(answers, seed)
    several = np.flatnonzero(answers.counts.sum(axis=1) > 1)
    most = [answers.majority(answers.items[at]) for at in several]
    alike, pairs = answers.pairs.sum(axis=0)
    judges = {name: said for name, said in asked.known.items() if said}
    beside = [
        others.beside(name, said, person)
        for name, said in judges.items()
        for person in ("", *answers.raters)
    ]
    return QuestionResult(
        name=asked.name,
        agreed=measure_agreement(answers, seed=seed),
        pairs=(int(alike), int(pairs)),
        counts=dict(zip(answers.values, answers.counts.sum(axis=0).tolist(), strict=True)),
        majorities=sum(len(each) == 1 for each in most),
        ties=sum(len(each) > 1 for each in most),
        steps=others.steps,
        persons={name: others.person(name) for name in answers.raters},
        people=others.people(),
        judges={name: others.judge(said) for name, said in judges.items()},
        beside=tuple(each for each in beside if each.items),
        chance=tuple(_chances(asked, answers)),
        apart=tuple(_apart(asked.name, answers)),
        means=dict(_means(answers, items, seed)) if others.steps else {},
    )


def _chances(asked: QuestionAnswers, answers: RaterAnswers) -> Iterator[ChanceTest]:
    """Yield accuracies of a choice with known truth: all answers, majority, people, judges.

    Answers to one item are dependent; the lines after the first have one answer for each item.
    """
    truth, options = asked.known.get(TRUTH, {}), asked.question.options
    if not truth or not options:
        return
    guess = 1 / len(options)
    told = {who: value == truth[who[1]] for who, value in asked.said.items() if who[1] in truth}
    yield _chance("all answers", list(told.values()), guess)
    most = {item: answers.majority(item) for item in answers.items if item in truth}
    clear = [said[0] == truth[item] for item, said in most.items() if len(said) == 1]
    yield _chance("the majority", clear, guess)
    for rater in answers.raters:
        mine = [right for (who, _), right in told.items() if who == rater]
        yield _chance(rater, mine, guess)
    for judge, said in asked.known.items():
        if judge != TRUTH:
            its = [value == truth[item] for item, value in said.items() if item in truth]
            yield _chance(judge, its, guess)


def _chance(who: str, right: Sequence[bool], guess: float) -> ChanceTest:
    from scipy.stats import binomtest

    p = binomtest(sum(right), len(right), guess).pvalue if right else 1.0
    return ChanceTest(who, Rate(sum(right), len(right)), guess, float(p))


def _apart(name: str, answers: RaterAnswers) -> Iterator[DisputedItem]:
    found = []
    for item, counts in zip(answers.items, answers.counts, strict=True):
        many = int(counts.sum())
        if many < 2 or counts.max() == many:
            continue
        places = np.repeat(answers.places, counts)
        far = np.abs(places[:, None] - places[None, :])
        far = (far > 0).astype(float) if answers.level == "nominal" else far / answers.places[-1]
        said = [(v, int(n)) for v, n in zip(answers.values, counts, strict=True) if n]
        said.sort(key=lambda each: -each[1])
        apart = float(far.sum() / (many * (many - 1)))
        found.append(DisputedItem(item, name, tuple(said), apart, answers.majority(item)))
    yield from sorted(found, key=lambda each: (-each.apart, each.item))


def _means(
    answers: RaterAnswers, items: Mapping[str, RatedItem], seed: int
) -> Iterator[tuple[tuple[str, str], tuple[Estimate, int]]]:
    """Yield means of a scale over all items and by tag; the bootstrap draws items."""
    values = np.array([float(each) for each in answers.values])
    sums = np.stack([answers.counts @ values, answers.counts.sum(axis=1)], axis=1).astype(float)
    yield ("", ""), (estimate_ratio(sums, seed), len(sums))
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, item in enumerate(answers.items):
        for tag, value in items[item].tags.items():
            groups[tag][value].append(at)
    for tag, by_value in groups.items():
        enough = len(answers.items) >= _LEAST_OF_GROUP * len(by_value)
        if 1 < len(by_value) <= _MOST_GROUPS and enough:
            for value, rows in sorted(by_value.items()):
                yield (tag, value), (estimate_ratio(sums[rows], seed), len(rows))


FAST = 1 / 3
"""Answers faster than this fraction of the median of all count as too fast."""
MANY_FAST = 0.25
LEAST_SAME, RARE = 5, 0.01
"""Minimum number of equal answers, and maximum probability of them, for straight-lining."""


@dataclass(frozen=True)
class RaterHabits:
    """Completion, speed and answer patterns of one rater.

    Attributes:
        name: the pseudonym.
        asked: number of assigned items.
        answered: number of answered items.
        skipped: number of items skipped and not answered later.
        withdrawn: whether the rater withdrew; then no answers count.
        begun: whether the rater has any line, if only the consent.
        seconds: median time for an item; None without answers.
        fast: number of answers in less than a third of the median of all.
        same: questions with the same answer throughout, unlike the others: straight-lining.
    """

    name: str
    asked: int
    answered: int
    skipped: int
    withdrawn: bool
    begun: bool
    seconds: float | None
    fast: int
    same: tuple[str, ...]

    @property
    def state(self) -> str:
        """The state of completion, in a word or two."""
        if self.withdrawn:
            return "withdrew"
        if not self.begun:
            return "not begun"
        return "done" if self.answered + self.skipped == self.asked else "under way"

    @property
    def warning(self) -> str:
        """A warning about suspicious answers; "" for none."""
        said = [f"one answer throughout: {', '.join(self.same)}"] if self.same else []
        if self.answered and self.fast / self.answered > MANY_FAST:
            said.append(f"{self.fast} of {self.answered} answers too fast")
        return "; ".join(said)


def rater_habits(people: PeopleStudy, asked: Sequence[QuestionAnswers]) -> list[RaterHabits]:
    """Return the habits of all raters, in the study's order."""
    counted = people.counted()
    every = [each.seconds for said in counted.values() for each in said.values()]
    least = FAST * median(every) if every else 0.0
    last: dict[str, dict[str, str]] = {name: {} for name in people.raters}
    for rating in people.ratings:
        last[rating.rater][rating.item] = rating.status
    found = []
    for rater in people.file.raters:
        mine = counted[rater.name]
        seconds = [each.seconds for each in mine.values()]
        found.append(
            RaterHabits(
                name=rater.name,
                asked=len(rater.items),
                answered=len(mine),
                skipped=sum(last[rater.name].get(item) == "skipped" for item in rater.items),
                withdrawn=rater.name in people.withdrawn,
                begun=bool(last[rater.name]),
                seconds=median(seconds) if seconds else None,
                fast=sum(each < least for each in seconds),
                same=tuple(each.name for each in asked if _same(each.said, rater.name)),
            )
        )
    return found


def _same(said: Mapping[tuple[str, str], Value], rater: str) -> bool:
    """Check whether a rater gives one answer throughout that is rare among the others."""
    mine = [value for (who, _), value in said.items() if who == rater]
    others = [value for (who, _), value in said.items() if who != rater]
    if len(mine) < LEAST_SAME or len(set(mine)) > 1 or not others:
        return False
    share: float = others.count(mine[0]) / len(others)
    return share ** len(mine) < RARE
