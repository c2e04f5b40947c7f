"""Is a judge as good as a person? Both against what the other people say.

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

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.evals.agreement import Answers, Estimate, Value, ratio
from navloom.evals.report.intervals import Floats

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

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


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
