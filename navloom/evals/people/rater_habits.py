"""How raters went about it: how many items, how fast, and whether one answer served for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from navloom.evals.agreement import Value
from navloom.evals.people.question_results import Asked
from navloom.evals.people.study_folder import People

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


def habits(people: People, asked: Sequence[Asked]) -> list[Habits]:
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
