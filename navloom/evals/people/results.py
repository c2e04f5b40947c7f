"""What came of a people's study, as blocks: agreement, the judge beside the people, raters.

Raters go by their pseudonyms; no link and no address is in any of it, for none is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from navloom.evals.kinds import Shown
from navloom.evals.people.answer_tables import (
    agreement_table,
    apart_table,
    beside_tables,
    chance_tables,
    cohen_tables,
    mean_tables,
    rater_table,
)
from navloom.evals.people.question_results import Asked, QuestionResult, asked, result_of
from navloom.evals.people.rater_habits import Habits, habits
from navloom.evals.people.study_folder import People, read_people
from navloom.evals.people.walk_scores import walk_table
from navloom.evals.report.blocks import Bars, Block, Fact, Facts, Grid, Prose, Segment, to_sample
from navloom.evals.report.document import Document
from navloom.evals.report.kept_report import KeptReport, keep_report

_SCALE = 11


@dataclass(frozen=True)
class PeopleResults:
    """What came of a study.

    Attributes:
        people: the study, as it was read.
        asked: what was said, by question.
        questions: their results.
        raters: how each went about it.
        strange: answers that are none of the form's.
    """

    people: People
    asked: tuple[Asked, ...]
    questions: tuple[QuestionResult, ...]
    raters: tuple[Habits, ...]
    strange: int

    @property
    def answered(self) -> int:
        """How many times an item was answered."""
        return sum(each.answered for each in self.raters)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        walked = walk_table(self.people)
        return {
            **({"walks": walked.record} if walked else {}),
            "form": self.people.form.name,
            "items": len(self.people.items),
            "answered": self.answered,
            "skipped": sum(each.skipped for each in self.raters),
            "withdrawn": sum(each.withdrawn for each in self.raters),
            "left": _left(self),
            "strange": self.strange,
            "questions": [each.record() for each in self.questions],
            "raters": [asdict(each) | {"warning": each.warning} for each in self.raters],
        }


def people_results(people: People | Path) -> PeopleResults:
    """What came of a study so far.

    Raises:
        RunError: it is no study, or a file of it is broken.
    """
    people = read_people(people) if isinstance(people, Path) else people
    questions, strange = asked(people)
    return PeopleResults(
        people=people,
        asked=tuple(questions),
        questions=tuple(result_of(each, people.items, seed=people.file.seed) for each in questions),
        raters=tuple(habits(people, questions)),
        strange=strange,
    )


def _left(found: PeopleResults) -> int:
    taking_part = [each for each in found.raters if not each.withdrawn]
    return sum(each.asked - each.answered - each.skipped for each in taking_part)


def walk_blocks(found: PeopleResults) -> list[Block]:
    """What walks score, beside blind picks."""
    table = walk_table(found.people)
    if table is None:
        return [Prose(text="Nobody has walked to an end yet.", tone="quiet")]
    return [Grid(table=table)]


def agreement_blocks(found: PeopleResults) -> list[Block]:
    """How far people agree: counts, a table by question and its pictures, means."""
    if not found.answered or not found.questions:
        text = (
            "The form asks nothing that is counted." if found.answered else "Nobody has answered."
        )
        return [_counts(found), Prose(text=text, tone="quiet")]
    blocks: list[Block] = [_counts(found), Grid(table=agreement_table(found.questions))]
    alike = [(each.name, _pairs(each)) for each in found.questions if each.agreed.paired]
    if alike:
        note = "Pairs of people who answered the same item."
        blocks.append(Bars(title="Do two people say the same?", note=note, bars=tuple(alike)))
    said = [(each.name, _counted(each)) for each in found.questions if len(each.counts) <= _SCALE]
    blocks += [Bars(title="What was said", bars=tuple(said), unit="answers")] if said else []
    tables = (*mean_tables(found.questions), *cohen_tables(found.questions))
    blocks += [Grid(table=table) for table in tables]
    return blocks


def judge_blocks(found: PeopleResults) -> list[Block]:
    """Whoever else is known to have answered beside the people, and people against chance."""
    known = any(each.beside for each in found.questions)
    tables = [*beside_tables(found.questions)] if known else []
    tables += chance_tables(found.questions)
    if not tables:
        text = "Of no item that was answered is known what anybody else says: no judge, no truth."
        return [Prose(text=text, tone="quiet")]
    return [Grid(table=table) for table in tables]


def apart_blocks(found: PeopleResults) -> list[Block]:
    """Items that people differ on most; each opens its item."""
    table = apart_table(found.questions)
    to = tuple(to_sample(each[0]) for each in table.rows)
    return [Grid(table=table, to=to)]


RESULTS: Mapping[str, Callable[[PeopleResults], list[Block]]] = {
    "walks": walk_blocks,
    "agreement": agreement_blocks,
    "judge": judge_blocks,
    "differ": apart_blocks,
}
"""What came out, by name."""


def document_of(found: PeopleResults) -> Document:
    """The same in words."""
    held = found.questions
    tables = [agreement_table(held), *beside_tables(held), *chance_tables(held)]
    tables += [*mean_tables(held), apart_table(held), rater_table(found.raters)]
    tables += cohen_tables(held)
    if walked := walk_table(found.people):
        tables.insert(0, walked)
    facts = [f"{each.name} {each.value}" for each in _counts(found).facts]
    return Document(title=found.people.form.title, headline=", ".join(facts), tables=tuple(tables))


def _counts(found: PeopleResults) -> Facts:
    raters = found.raters
    began = sum(each.answered + each.skipped > 0 for each in raters)
    facts = [
        Fact(name="raters", value=f"{began} of {len(raters)}", note="have begun"),
        Fact(name="items", value=str(len(found.people.items))),
        Fact(name="answered", value=str(found.answered), note="an item by a rater"),
        Fact(name="skipped", value=str(sum(each.skipped for each in raters))),
        Fact(name="left", value=str(_left(found))),
        Fact(name="withdrawn", value=str(sum(each.withdrawn for each in raters)), note="raters"),
    ]
    if found.strange:
        facts.append(Fact(name="no answers of this form", value=str(found.strange), tone="bad"))
    return Facts(title=found.people.form.title, facts=tuple(facts))


def _pairs(each: QuestionResult) -> tuple[Segment, ...]:
    alike, pairs = each.pairs
    return Segment(name="the same", count=alike), Segment(name="another", count=pairs - alike)


def _counted(each: QuestionResult) -> tuple[Segment, ...]:
    return tuple(Segment(name=str(value), count=many) for value, many in each.counts.items())


def report_people(folder: Path, out: Path) -> Shown:
    """Write ``report.md``, and ``report.json`` with the same as blocks.

    Args:
        folder: the study's.
        out: where to; made where it is not there.

    Raises:
        RunError: it is no study, a file of it is broken, or nothing can be written.
    """
    found = people_results(folder)
    document = document_of(found)
    apart = Grid(table=apart_table(found.questions))
    raters = Grid(table=rater_table(found.raters))
    walks = walk_blocks(found) if found.people.form.items == "walks" else []
    blocks = (*walks, *agreement_blocks(found), *judge_blocks(found), apart, raters)
    said = KeptReport(title=found.people.form.title, blocks=tuple(blocks))
    files = (document.write(out), keep_report(out, said))
    return Shown(tables=document.screen(), record=found.record(), files=files)
