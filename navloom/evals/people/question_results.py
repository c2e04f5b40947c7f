"""What people said to each question of a study: how far they agree, and with whom.

Only what counts is counted: the last answer of a rater and item, of raters who did not withdraw.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from navloom.evals.agreement import Agreed, Answers, Estimate, Value, agreed, ratio
from navloom.evals.people.form import Answer, Question
from navloom.evals.people.others_majority import Against, Beside, Others
from navloom.evals.people.study_folder import Item, People
from navloom.evals.report.intervals import Rate

TRUTH = "truth"
_MOST_GROUPS, _LEAST_OF_GROUP = 20, 5
"""Groups that are listed, and items that they have on average."""


@dataclass
class Asked:
    """What was said to one question, and is known of it.

    Attributes:
        name: the question's; of the thing that a place is with, the same and ``with asset``.
        question: as the form has it.
        said: by rater and item.
        known: by who says it and item.
    """

    name: str
    question: Question
    said: dict[tuple[str, str], Value] = field(default_factory=dict)
    known: defaultdict[str, dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))

    def answers(self) -> Answers:
        """As a table."""
        scale = self.question.kind == "scale"
        order = tuple(range(self.question.low, self.question.high + 1)) if scale else ()
        return Answers(self.said, "ordinal" if scale else "nominal", order)


def asked(people: People) -> tuple[list[Asked], int]:
    """What was said to each question that can be counted, and how many answers are none.

    An answer is none where the form has another question now or another hand changed the file.
    """
    questions = {each.name: each for each in people.form.questions if each.measure}
    found: dict[str, Asked] = {}

    def of(name: str, question: Question) -> Asked:
        return found.setdefault(name, Asked(name, question))

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


def _values(question: Question, answer: Answer, item: Item) -> Mapping[str, Value] | None:
    try:
        question.check(answer, item.places)
    except ValueError:
        return None
    return question.values(answer)


@dataclass(frozen=True)
class Chance:
    """How often what people say is true, against guessing.

    Attributes:
        who: a person; ``all answers``, or ``the majority`` of each item; a judge.
        right: how often.
        guess: the share that guessing has.
        p: of so many or fewer, or of something as rare, by guessing: exact binomial, two-sided.
    """

    who: str
    right: Rate
    guess: float
    p: float


@dataclass(frozen=True)
class Apart:
    """An item that people differ on.

    Attributes:
        item: its id.
        question: which.
        said: each value and how many gave it, most frequent first.
        apart: the share of pairs that differ; of a scale the mean distance of two people, in parts
            of its length.
        majority: what most say; several are a tie.
    """

    item: str
    question: str
    said: tuple[tuple[Value, int], ...]
    apart: float
    majority: tuple[Value, ...]


@dataclass(frozen=True)
class QuestionResult:
    """One question's results.

    Attributes:
        name: the question's.
        text: what was asked.
        agreed: how far people agree.
        pairs: how many pairs of people said the same of an item, and how many pairs are.
        counts: how often each value was said, in their order.
        majorities: items with two answers or more and one value that most said.
        ties: items of which several values were said most.
        steps: whether it is a scale.
        persons: each person against the others.
        people: all of them so.
        judges: each that is known against the majority of all.
        beside: each judge beside all people, then beside each.
        chance: against guessing, where truth is known.
        apart: items that people differ on, most first.
        means: of a scale, by tag and its value; the tag ``""`` is all items.
    """

    name: str
    text: str
    agreed: Agreed
    pairs: tuple[int, int]
    counts: Mapping[Value, int]
    majorities: int
    ties: int
    steps: bool
    persons: Mapping[str, Against]
    people: Against
    judges: Mapping[str, Against]
    beside: tuple[Beside, ...]
    chance: tuple[Chance, ...]
    apart: tuple[Apart, ...]
    means: Mapping[tuple[str, str], tuple[Estimate, int]]

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "question": self.name,
            "agreement": self.agreed.record(),
            "counts": {str(value): many for value, many in self.counts.items()},
            "majorities": self.majorities,
            "ties": self.ties,
            "people": asdict(self.people),
            "persons": {name: asdict(each) for name, each in self.persons.items()},
            "judges": {name: asdict(each) for name, each in self.judges.items()},
            "beside": [each.record() for each in self.beside],
            "chance": [asdict(each) for each in self.chance],
            "means": [
                {"tag": tag, "value": value, "items": many, **asdict(mean)}
                for (tag, value), (mean, many) in self.means.items()
            ],
        }


def result_of(asked: Asked, items: Mapping[str, Item], *, seed: int = 0) -> QuestionResult:
    """The results of one question.

    Args:
        asked: what was said.
        items: the study's.
        seed: of the bootstraps.
    """
    answers = asked.answers()
    others = Others(answers, seed)
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
        text=asked.question.text,
        agreed=agreed(answers, seed=seed),
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


def _chances(asked: Asked, answers: Answers) -> Iterator[Chance]:
    """Of a choice of which the truth is known; one answer of each item in each line but the first.

    Answers to one item hang together, so that all answers are no independent tries.
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


def _chance(who: str, right: Sequence[bool], guess: float) -> Chance:
    from scipy.stats import binomtest

    p = binomtest(sum(right), len(right), guess).pvalue if right else 1.0
    return Chance(who, Rate(sum(right), len(right)), guess, float(p))


def _apart(name: str, answers: Answers) -> Iterator[Apart]:
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
        found.append(Apart(item, name, tuple(said), apart, answers.majority(item)))
    yield from sorted(found, key=lambda each: (-each.apart, each.item))


def _means(
    answers: Answers, items: Mapping[str, Item], seed: int
) -> Iterator[tuple[tuple[str, str], tuple[Estimate, int]]]:
    """Of all items, and by what items are grouped by; items are drawn, with all their answers."""
    values = np.array([float(each) for each in answers.values])
    sums = np.stack([answers.counts @ values, answers.counts.sum(axis=1)], axis=1).astype(float)
    yield ("", ""), (ratio(sums, seed), len(sums))
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, item in enumerate(answers.items):
        for tag, value in items[item].tags.items():
            groups[tag][value].append(at)
    for tag, by_value in groups.items():
        enough = len(answers.items) >= _LEAST_OF_GROUP * len(by_value)
        if 1 < len(by_value) <= _MOST_GROUPS and enough:
            for value, rows in sorted(by_value.items()):
                yield (tag, value), (ratio(sums[rows], seed), len(rows))
