"""What people said to each question of a study: how far they agree, and with whom.

Only what counts is counted: the last answer of a rater and item, of raters who did not withdraw.

A person is held against the others alone, so a judge that is held against all would have the better
measure. Here each person of each item is left out in turn, and the judge and that person are held
against the same others: a judge that errs as people do comes out level whatever their number is,
and only the difference between the two is judged. Where the others have no majority there is
nothing to hold against; such ties are counted apart. (Leaving one out: Calderon, Reichart and Dror,
The Alternative Annotator Test, 2025; theirs asks each person by a test, this one all by one
interval.)

Of a scale the others' median stands for their majority, and steps from it for being right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.evals.agreement import Agreed, Answers, Estimate, Value, agreed, ratio
from navloom.evals.people.form import Answer, FormQuestion
from navloom.evals.people.study_folder import Item, People
from navloom.evals.report.intervals import Floats, Rate

Verdict = Literal["better", "as good", "worse", "not told apart", "too few items"]
LEAST_ITEMS = 20
"""Below so many a bootstrap's interval is too narrow to say anything of."""
WITHIN_SHARE, WITHIN_STEPS = 0.1, 0.25
"""How far apart is as good as level: of a share that agrees, and of steps of a scale."""


@dataclass(frozen=True)
class Against:
    """Somebody against a majority.

    Attributes:
        mean: the share that is the majority's, or of a scale the mean steps away.
        answers: how many were held against one.
        ties: how many could not be: those asked are of several minds, or nobody.
    """

    mean: Estimate
    answers: int
    ties: int


@dataclass(frozen=True)
class Beside:
    """A judge beside the people, or beside one of them.

    Attributes:
        judge: whose name it is: ``judge:NAME``, ``generator``, ``optimum``, ``truth``.
        person: the person; empty: all of them.
        theirs: the people's, each against the others.
        its: the judge's, against the same.
        items: how many items that is.
        difference: how much better the judge is than the people, less than 0 where worse.
        verdict: what the interval of the difference says.
    """

    judge: str
    person: str
    theirs: Estimate
    its: Estimate
    items: int
    difference: Estimate
    verdict: Verdict


class Others:
    """The answers to one question, each person against the others.

    Args:
        answers: of the people.
        seed: of the bootstraps.
    """

    def __init__(self, answers: Answers, seed: int = 0) -> None:
        self.answers, self._seed = answers, seed
        self.steps = answers.level != "nominal"
        """Whether answers are steps of a scale: less is better."""
        # Of each answer that the others have a majority to: item, rater, worth, that majority.
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
        """The majority of some, or the median of a scale; None where there is none."""
        if not counts.sum():
            return None
        if self.steps:
            return float(np.median(np.repeat(self.answers.places, counts)))
        most = np.flatnonzero(counts == counts.max())
        return float(most[0]) if len(most) == 1 else None

    def _worth(self, place: float, due: float) -> float:
        return abs(place - due) if self.steps else float(place == due)

    def person(self, name: str) -> Against:
        """A person against the others."""
        row = self.answers.raters.index(name)
        mine = self._rater == row
        many = int((self.answers.codes[row] >= 0).sum())
        return self._against(self._item[mine], self._own[mine], many - int(mine.sum()))

    def people(self) -> Against:
        """Every person against the others."""
        return self._against(self._item, self._own, len(self.answers.said) - len(self._own))

    def judge(self, said: Mapping[str, Value]) -> Against:
        """A judge against the majority of all people.

        Args:
            said: by item; items that no person answered do not count.
        """
        places = self._places(said)
        middles = {at: self._middle(self.answers.counts[at]) for at in places}
        due = {at: middle for at, middle in middles.items() if middle is not None}
        worth = [self._worth(places[at], middle) for at, middle in due.items()]
        return self._against(np.array(list(due), np.int64), np.array(worth), len(places) - len(due))

    def beside(self, name: str, said: Mapping[str, Value], person: str = "") -> Beside:
        """A judge beside a person, or beside all, on the items that both answered.

        Args:
            name: the judge's.
            said: by item.
            person: whom; all unless given.
        """
        places = self._places(said)
        shared = np.isin(self._item, list(places))
        if person:
            shared &= self._rater == self.answers.raters.index(person)
        items, own, due = self._item[shared], self._own[shared], self._due[shared]
        its = np.array([self._worth(places[i], d) for i, d in zip(items, due, strict=True)])
        gain = own - its if self.steps else its - own
        difference, many = self._mean(items, gain), len(np.unique(items))
        return Beside(
            judge=name,
            person=person,
            theirs=self._mean(items, own),
            its=self._mean(items, its),
            items=many,
            difference=difference,
            verdict=self._verdict(difference, many),
        )

    def _places(self, said: Mapping[str, Value]) -> dict[int, float]:
        """By the number of the item; a value that no person gave is beside all of theirs."""
        of = {value: self._place(code) for code, value in enumerate(self.answers.values)}
        known = self.answers.columns
        return {known[item]: of.get(value, -1.0) for item, value in said.items() if item in known}

    def _against(self, items: NDArray[np.int64], worth: Floats, ties: int) -> Against:
        return Against(self._mean(items, worth), len(items), ties)

    def _mean(self, items: NDArray[np.int64], worth: Floats) -> Estimate:
        """Over answers, what is drawn are items."""
        sums = np.zeros((len(self.answers.items), 2))
        np.add.at(sums[:, 0], items, worth)
        np.add.at(sums[:, 1], items, 1.0)
        return ratio(sums, self._seed)

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
"""Groups that are listed, and items that they have on average."""


@dataclass
class QuestionAnswers:
    """What was said to one question, and is known of it.

    Attributes:
        name: the question's; of the thing that a place is with, the same and ``with asset``.
        question: as the form has it.
        said: by rater and item.
        known: by who says it and item.
    """

    name: str
    question: FormQuestion
    said: dict[tuple[str, str], Value] = field(default_factory=dict)
    known: defaultdict[str, dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))

    def answers(self) -> Answers:
        """As a table."""
        scale = self.question.kind == "scale"
        order = tuple(range(self.question.low, self.question.high + 1)) if scale else ()
        return Answers(self.said, "ordinal" if scale else "nominal", order)


def asked(people: People) -> tuple[list[QuestionAnswers], int]:
    """What was said to each question that can be counted, and how many answers are none.

    An answer is none where the form has another question now or another hand changed the file.
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


def _values(question: FormQuestion, answer: Answer, item: Item) -> Mapping[str, Value] | None:
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
            "beside": [asdict(each) for each in self.beside],
            "chance": [asdict(each) for each in self.chance],
            "means": [
                {"tag": tag, "value": value, "items": many, **asdict(mean)}
                for (tag, value), (mean, many) in self.means.items()
            ],
        }


def result_of(
    asked: QuestionAnswers, items: Mapping[str, Item], *, seed: int = 0
) -> QuestionResult:
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


def _chances(asked: QuestionAnswers, answers: Answers) -> Iterator[Chance]:
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


FAST = 1 / 3
"""Of the median of all answers: who takes less has hardly read."""
MANY_FAST = 0.25
LEAST_SAME, RARE = 5, 0.01
"""One answer to so many items is a habit where the others' answers make it so unlikely."""


@dataclass(frozen=True)
class Habits:
    """One rater.

    Attributes:
        name: the pseudonym.
        asked: items that are theirs.
        answered: items answered.
        skipped: items passed over, and not answered later.
        withdrawn: whether everything was taken back; then nothing of it counts.
        begun: whether anything was said, if only that they take part.
        seconds: the median an item; None where there is none.
        fast: answers in less than a third of the median of all.
        same: questions to which all answers are one, though the others' are not: straight-lining.
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
        """How far it is, in a word or two."""
        if self.withdrawn:
            return "withdrew"
        if not self.begun:
            return "not begun"
        return "done" if self.answered + self.skipped == self.asked else "under way"

    @property
    def warning(self) -> str:
        """What to look at before these answers are believed; empty: nothing."""
        said = [f"one answer throughout: {', '.join(self.same)}"] if self.same else []
        if self.answered and self.fast / self.answered > MANY_FAST:
            said.append(f"{self.fast} of {self.answered} answers too fast")
        return "; ".join(said)


def habits(people: People, asked: Sequence[QuestionAnswers]) -> list[Habits]:
    """All raters', in the study's order."""
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
            Habits(
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
    """Whether a rater has one answer for all, and hardly by the share that it has elsewhere."""
    mine = [value for (who, _), value in said.items() if who == rater]
    others = [value for (who, _), value in said.items() if who != rater]
    if len(mine) < LEAST_SAME or len(set(mine)) > 1 or not others:
        return False
    share: float = others.count(mine[0]) / len(others)
    return share ** len(mine) < RARE
