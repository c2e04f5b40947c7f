"""A people's study as tables of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from navloom.evals.people.others_majority import LEAST_ITEMS, WITHIN_SHARE, WITHIN_STEPS, Against
from navloom.evals.people.question_results import QuestionResult
from navloom.evals.people.rater_habits import Habits
from navloom.evals.report.document import NOTHING, Table, number, percent, rate_cell

MOST_APART = 30
_MOST_PAIRS = 200
_INTERVALS = "Brackets: 95 % intervals, by bootstrap over items."


def agreement_table(questions: Sequence[QuestionResult]) -> Table:
    """A row a question."""
    rows = []
    for each in questions:
        held = each.agreed
        cohen = [one.value for one in held.cohen.values() if one.value is not None]
        spread = f"{min(cohen):.2f} to {max(cohen):.2f}" if cohen else NOTHING
        rows.append(
            (
                each.name,
                held.level,
                str(held.answers),
                str(held.paired),
                str(held.share),
                held.alpha.coefficient if not held.why else f"{NOTHING} {held.why}",
                held.fleiss.coefficient,
                spread,
                str(each.majorities),
                str(each.ties),
            )
        )
    note = (
        f"{_INTERVALS} Items: with two answers or more. Alpha is Krippendorff's, of the level; a"
        " scale is ordinal. Fleiss' and Cohen's kappa know no order; Cohen's is the least and the"
        " most of two raters. A tie: several values were said most."
    )
    header = (
        *("question", "level", "answers", "items", "same", "alpha", "Fleiss' kappa"),
        *("Cohen's kappa", "majorities", "ties"),
    )
    return Table("How far people agree", note, header, tuple(rows))


def mean_tables(questions: Sequence[QuestionResult]) -> Iterator[Table]:
    """Means of scales: of all items, and by what items are grouped by."""
    scales = [each for each in questions if each.means and each.agreed.answers]
    groups = dict.fromkeys(group for each in scales for group in each.means)
    if not groups:
        return
    rows = []
    for tag, value in groups:
        cells = [each.means.get((tag, value)) for each in scales]
        items = max(many for _, many in filter(None, cells))
        means = (NOTHING if cell is None else _steps(cell[0]) for cell in cells)
        rows.append((f"{tag}: {value}" if tag else "all items", str(items), *means))
    header = ("", "items", *(each.name for each in scales))
    yield Table("Means of scales", _INTERVALS, header, tuple(rows))


def _steps(mean: Any) -> str:
    if mean.value is None or mean.interval is None:
        return NOTHING if mean.value is None else f"{mean.value:.2f}"
    return f"{mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}]"


def cohen_tables(questions: Sequence[QuestionResult]) -> Iterator[Table]:
    """Each two raters who share an item."""
    rows = [
        (f"{one} and {two}", each.name, str(each.agreed.shared[one, two]), kappa.coefficient)
        for each in questions
        for (one, two), kappa in each.agreed.cohen.items()
    ]
    if rows:
        left = f" {len(rows) - _MOST_PAIRS} more are not listed." if len(rows) > _MOST_PAIRS else ""
        note = f"{_INTERVALS} Where both say one and the same throughout, kappa is undefined.{left}"
        header = ("raters", "question", "items", "Cohen's kappa")
        title, folded = "Cohen's kappa of two raters", "each two raters"
        yield Table(title, note, header, tuple(rows[:_MOST_PAIRS]), folded=folded)


def beside_tables(questions: Sequence[QuestionResult]) -> Iterator[Table]:
    """Each judge beside all people, and beside each of them."""
    note = (
        f"{_INTERVALS} Against all: with the majority of all people; ties have none. Then each"
        " person is left out in turn, and that person and the judge are held against the majority"
        " of the others, the same for both; where they have none, nothing is. Of a scale it is the"
        " others' median, and what counts is steps away from it: less is better. Better or worse:"
        " the interval of the difference does not reach 0. As good: all of it is within"
        f" {100 * WITHIN_SHARE:g} % or {WITHIN_STEPS:g} steps. Else, and with fewer than"
        f" {LEAST_ITEMS} items, the study cannot tell."
    )
    header = (
        *("who", "question", "items", "against all", "ties", "against the others"),
        *("people", "difference", "it is"),
    )
    whole = [(each, one) for each in questions for one in each.beside if not one.person]
    rows = []
    for each, one in whole:
        all_of_them = each.judges[one.judge]
        rows.append((
            one.judge, each.name, str(one.items), _mean(each, all_of_them.mean),
            str(all_of_them.ties), _mean(each, one.its), _mean(each, one.theirs),
            _signed(each, one.difference), one.verdict,
        ))  # fmt: skip
    if rows:
        yield Table("The judge beside the people", note, header, tuple(rows))
    yield from _person_tables(questions)


def _person_tables(questions: Sequence[QuestionResult]) -> Iterator[Table]:
    rows = []
    for each in questions:
        for name, person in each.persons.items():
            rows.append((name, each.name, *_against(each, person), NOTHING, NOTHING, NOTHING))
            for one in each.beside:
                if one.person == name:
                    cells = (str(one.items), "", _mean(each, one.theirs), _mean(each, one.its))
                    told = (_signed(each, one.difference), one.verdict)
                    rows.append((f"{name}, {one.judge}", each.name, *cells, *told))
    if rows:
        note = "Each person against the majority of the others, and whoever else on the same items."
        header = (
            *("person", "question", "answers", "ties", "the person", "it"),
            *("difference", "it is"),
        )
        title, folded = "Each person against the others", "each person"
        yield Table(title, note, header, tuple(rows), folded=folded)


def _against(each: QuestionResult, held: Against) -> tuple[str, str, str]:
    return str(held.answers), str(held.ties), _mean(each, held.mean)


def _mean(each: QuestionResult, mean: Any) -> str:
    """A share, or steps away."""
    return _steps(mean) if each.steps else str(mean)


def _signed(each: QuestionResult, mean: Any) -> str:
    if mean.value is None:
        return NOTHING
    scale = 1 if each.steps else 100
    said = f"{scale * mean.value:+.{2 if each.steps else 1}f}"
    ends = mean.interval
    if ends is None:
        return said
    digits = 2 if each.steps else 1
    return f"{said} [{scale * ends[0]:+.{digits}f}, {scale * ends[1]:+.{digits}f}]"


def chance_tables(questions: Sequence[QuestionResult]) -> Iterator[Table]:
    """What is true, against guessing."""
    rows = [
        (each.name, one.who, rate_cell(one.right), percent(one.guess), _p(one.p))
        for each in questions
        for one in each.chance
    ]
    if rows:
        note = (
            "How often people are right. Brackets: Wilson's 95 % interval. p: exact binomial test"
            " against guessing, two-sided. All answers together are no independent tries where"
            " several are of one item; the majority and each person are one try an item."
        )
        header = ("question", "who", "right", "guessing", "p")
        yield Table("Against chance", note, header, tuple(rows))


def _p(p: float) -> str:
    return "under 0.0001" if p < 0.0001 else f"{p:.4f}"


def apart_table(questions: Sequence[QuestionResult]) -> Table:
    """Items that people differ on most, over all questions."""
    every = sorted(
        (one for each in questions for one in each.apart),
        key=lambda one: (-one.apart, -sum(many for _, many in one.said), one.item, one.question),
    )
    rows = []
    for one in every[:MOST_APART]:
        said = ", ".join(f"{many} × {value}" for value, many in one.said)
        most = str(one.majority[0]) if len(one.majority) == 1 else "a tie"
        rows.append((one.item, one.question, said, percent(one.apart), most))
    left = f" {len(every) - MOST_APART} more are not listed." if len(every) > MOST_APART else ""
    note = (
        "Apart: the share of pairs that differ, of a scale the mean distance of two people in parts"
        f" of its length. An item opens.{left}"
    )
    header = ("item", "question", "said", "apart", "majority")
    return Table("Items that people differ on most", note, header, tuple(rows))


def rater_table(raters: Sequence[Habits]) -> Table:
    """A row a rater."""
    rows = tuple(
        (
            each.name,
            each.state,
            f"{each.answered} of {each.asked}",
            str(each.skipped),
            NOTHING if each.seconds is None else number(each.seconds),
            str(each.fast),
            each.warning or NOTHING,
        )
        for each in raters
    )
    note = (
        "Seconds: the median an item. Fast: answers in under a third of the median of all. One"
        " answer throughout is said where the others' answers make it unlikely (under 1 %)."
    )
    header = ("rater", "state", "answered", "skipped", "seconds", "fast", "look at")
    return Table("Raters", note, header, rows)
