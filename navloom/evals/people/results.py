"""Results of a people study as tables and blocks, for its report and beside a rated run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.navigation.scores import RunScores, empty_run_scores, metric_cell
from navloom.evals.people import question_results, study_folder
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import (
    NOTHING,
    Table,
    format_number,
    percent,
    rate_cell,
    with_interval,
)
from navloom.evals.report.report_files import SavedReport, save_report, write_markdown
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.run_kinds import CommandOutput

MOST_APART = 30
_MOST_PAIRS = 200
_INTERVALS = "Brackets: 95 % intervals, by bootstrap over items."


def agreement_table(questions: Sequence[question_results.QuestionResult]) -> Table:
    """Return the agreement table, one row for each question."""
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


def mean_tables(questions: Sequence[question_results.QuestionResult]) -> Iterator[Table]:
    """Yield the table of means of scales, over all items and by tag."""
    scales = [each for each in questions if each.means and each.agreed.answers]
    groups = dict.fromkeys(group for each in scales for group in each.means)
    if not groups:
        return
    rows = []
    for tag, value in groups:
        cells = [each.means.get((tag, value)) for each in scales]
        items = max(many for _, many in filter(None, cells))
        means = (
            NOTHING if cell is None else with_interval(cell[0].value, cell[0].interval, 2)
            for cell in cells
        )
        rows.append((f"{tag}: {value}" if tag else "all items", str(items), *means))
    header = ("", "items", *(each.name for each in scales))
    yield Table("Means of scales", _INTERVALS, header, tuple(rows))


def cohen_tables(questions: Sequence[question_results.QuestionResult]) -> Iterator[Table]:
    """Yield the table of Cohen's kappa for each two raters who share an item."""
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


def judge_tables(questions: Sequence[question_results.QuestionResult]) -> Iterator[Table]:
    """Yield tables that compare each judge with all people, and with each person."""
    note = (
        f"{_INTERVALS} Against all: with the majority of all people; ties have none. Then each"
        " person is left out in turn, and that person and the judge are held against the majority"
        " of the others, the same for both; where they have none, nothing is. Of a scale it is the"
        " others' median, and what counts is steps away from it: less is better. Better or worse:"
        " the interval of the difference does not reach 0. As good: all of it is within"
        f" {100 * question_results.WITHIN_SHARE:g} % or {question_results.WITHIN_STEPS:g} steps."
        f" Else, and with fewer than {question_results.LEAST_ITEMS} items, the study cannot tell."
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


def _person_tables(questions: Sequence[question_results.QuestionResult]) -> Iterator[Table]:
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
        head = ("person", "question", "answers", "ties", "the person", "it", "difference", "it is")
        title, folded = "Each person against the others", "each person"
        yield Table(title, note, head, tuple(rows), folded=folded)


def _against(
    each: question_results.QuestionResult, held: question_results.MajorityScore
) -> tuple[str, str, str]:
    return str(held.answers), str(held.ties), _mean(each, held.mean)


def _mean(each: question_results.QuestionResult, mean: Any) -> str:
    """Format a share, or a distance in steps."""
    return with_interval(mean.value, mean.interval, 2) if each.steps else str(mean)


def _signed(each: question_results.QuestionResult, mean: Any) -> str:
    if mean.value is None:
        return NOTHING
    scale, digits = (1, 2) if each.steps else (100, 1)
    numbers = (mean.value, *(mean.interval or ()))
    said, *ends = (f"{scale * one:+.{digits}f}" for one in numbers)
    return f"{said} [{', '.join(ends)}]" if ends else said


def chance_tables(questions: Sequence[question_results.QuestionResult]) -> Iterator[Table]:
    """Yield the table of accuracies tested against guessing."""
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


def disputed_table(questions: Sequence[question_results.QuestionResult]) -> Table:
    """Return the table of items that people disagree on most, over all questions."""
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


def rater_table(raters: Sequence[question_results.RaterHabits]) -> Table:
    """Return the table of raters."""
    rows = tuple(
        (
            each.name,
            each.state,
            f"{each.answered} of {each.asked}",
            str(each.skipped),
            NOTHING if each.seconds is None else format_number(each.seconds),
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


_SHOWN = ("SR", "OSR", "SPL", "nDTW", "NE", "TL")


def walk_table(people: study_folder.PeopleStudy) -> Table | None:
    """Return the table of walk scores: people, each rater, blind picks, agent; None without.

    Raises:
        RunError: a run of the study is broken.
    """
    run = people.path / study_folder.WALKS
    lines = read_samples(run) if (run / "run.json").is_file() else []
    if not lines:
        return None
    asked, walked = read_run(run)["request"], {line["id"] for line in lines}
    episodes = {str(line["result"]["episode"]["id"]) for line in lines}
    raters = list(dict.fromkeys(str(line["rater"]) for line in lines))
    found = [("people", _scores(asked, lines))]
    if len(raters) > 1:
        mine = ([line for line in lines if line["rater"] == rater] for rater in raters)
        found += [(rater, _scores(asked, some)) for rater, some in zip(raters, mine, strict=True)]
    found += _run_row(people.path / study_folder.BY_LOT, "blind picks", walked)
    source = Path(str(people.file.request.get("sources", [""])[0]))
    found += _run_row(source, "", episodes)
    note = (
        "Over the episodes that were walked; 95 % bootstrap intervals. Success: it ended strictly"
        " within 3 m of a goal; NE and TL are metres. Blind picks are a draw among the ways on at"
        " each hop (`by-lot` in the study)."
    )
    header = ("who", "walks", *_SHOWN)
    rows = tuple(_row(name, scores) for name, scores in found)
    return Table("Walks", note, header, rows, record={name: each.record() for name, each in found})


def _scores(asked: dict[str, Any], lines: Iterable[dict[str, Any]]) -> RunScores:
    found = empty_run_scores(asked)
    for line in lines:
        found.add(line)
    return found


def _run_row(run: Path, name: str, ids: set[str]) -> Iterator[tuple[str, RunScores]]:
    """Yield a run's scores over the samples with the given ids; nothing if it has none."""
    try:
        asked = read_run(run)["request"] if (run / "run.json").is_file() else None
        lines = [line for line in read_samples(run) if line["id"] in ids] if asked else []
    except NavloomError:
        return
    if asked and lines:
        yield name or f"agent {asked.get('agent')} ({run.name})", _scores(asked, lines)


def _row(name: str, scores: RunScores) -> tuple[str, ...]:
    measured = scores.record()["metrics"]
    cells = [metric_cell(metric, measured.get(metric)) for metric in _SHOWN]
    return name, str(scores.episodes), *cells


_SCALE = 11


@dataclass(frozen=True)
class PeopleResults:
    """All results of a people study.

    Attributes:
        people: the study.
        asked: answers by question.
        questions: results by question.
        raters: habits of each rater.
        strange: number of answers that are invalid for the form.
    """

    people: study_folder.PeopleStudy
    asked: tuple[question_results.QuestionAnswers, ...]
    questions: tuple[question_results.QuestionResult, ...]
    raters: tuple[question_results.RaterHabits, ...]
    strange: int

    @property
    def answered(self) -> int:
        """The number of answered items, summed over raters."""
        return sum(each.answered for each in self.raters)

    def record(self) -> dict[str, Any]:
        """Return all values as JSON."""
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


def people_results(people: study_folder.PeopleStudy | Path) -> PeopleResults:
    """Compute the results of a study so far.

    Raises:
        RunError: it is no study, or a file of it is broken.
    """
    people = study_folder.read_people_study(people) if isinstance(people, Path) else people
    questions, strange = question_results.collect_answers(people)
    return PeopleResults(
        people=people,
        asked=tuple(questions),
        questions=tuple(
            question_results.score_question(each, people.items, seed=people.file.seed)
            for each in questions
        ),
        raters=tuple(question_results.rater_habits(people, questions)),
        strange=strange,
    )


def _left(found: PeopleResults) -> int:
    taking_part = [each for each in found.raters if not each.withdrawn]
    return sum(each.asked - each.answered - each.skipped for each in taking_part)


def walk_blocks(found: PeopleResults) -> list[ui.Block]:
    """Return the walk scores as blocks."""
    table = walk_table(found.people)
    if table is None:
        return [ui.Prose(text="Nobody has walked to an end yet.", tone="quiet")]
    return [ui.Grid(table)]


def agreement_blocks(found: PeopleResults) -> list[ui.Block]:
    """Return the agreement of people as blocks: counts, table by question, bars, means."""
    if not found.answered or not found.questions:
        text = (
            "The form asks nothing that is counted." if found.answered else "Nobody has answered."
        )
        return [_counts(found), ui.Prose(text=text, tone="quiet")]
    blocks: list[ui.Block] = [_counts(found), ui.Grid(agreement_table(found.questions))]
    alike = [(each.name, _pairs(each)) for each in found.questions if each.agreed.paired]
    if alike:
        note = "Pairs of people who answered the same item."
        blocks.append(ui.Bars(title="Do two people say the same?", note=note, bars=tuple(alike)))
    said = [(each.name, _counted(each)) for each in found.questions if len(each.counts) <= _SCALE]
    blocks += [ui.Bars(title="What was said", bars=tuple(said), unit="answers")] if said else []
    tables = (*mean_tables(found.questions), *cohen_tables(found.questions))
    blocks += [*map(ui.Grid, tables)]
    return blocks


def judge_blocks(found: PeopleResults) -> list[ui.Block]:
    """Return comparisons of judges with people, and of people with chance, as blocks."""
    known = any(each.beside for each in found.questions)
    tables = [*judge_tables(found.questions)] if known else []
    tables += chance_tables(found.questions)
    if not tables:
        text = "Of no item that was answered is known what anybody else says: no judge, no truth."
        return [ui.Prose(text=text, tone="quiet")]
    return [*map(ui.Grid, tables)]


def disputed_blocks(found: PeopleResults) -> list[ui.Block]:
    """Return the items that people disagree on most; each row links to its item."""
    table = disputed_table(found.questions)
    to = tuple(ui.sample_address(each[0]) for each in table.rows)
    return [ui.Grid(table, to=to)]


RESULTS: Mapping[str, Callable[[PeopleResults], list[ui.Block]]] = {
    "walks": walk_blocks,
    "agreement": agreement_blocks,
    "judge": judge_blocks,
    "differ": disputed_blocks,
}
"""Blocks of results, by name."""


def _counts(found: PeopleResults) -> ui.Facts:
    raters = found.raters
    began = sum(each.answered + each.skipped > 0 for each in raters)
    facts = [
        ui.Fact("raters", f"{began} of {len(raters)}", note="have begun"),
        ui.Fact("items", str(len(found.people.items))),
        ui.Fact("answered", str(found.answered), note="an item by a rater"),
        ui.Fact("skipped", str(sum(each.skipped for each in raters))),
        ui.Fact("left", str(_left(found))),
        ui.Fact("withdrawn", str(sum(each.withdrawn for each in raters)), note="raters"),
    ]
    if found.strange:
        facts.append(ui.Fact("no answers of this form", str(found.strange), tone="bad"))
    return ui.Facts(title=found.people.form.title, facts=tuple(facts))


def _pairs(each: question_results.QuestionResult) -> tuple[ui.Segment, ...]:
    alike, pairs = each.pairs
    return ui.Segment("the same", alike), ui.Segment("another", pairs - alike)


def _counted(each: question_results.QuestionResult) -> tuple[ui.Segment, ...]:
    return tuple(ui.Segment(str(value), many) for value, many in each.counts.items())


def write_people_report(folder: Path, out: Path) -> CommandOutput:
    """Write ``report.md``, and ``report.json`` with the same blocks.

    Args:
        folder: the study's folder.
        out: the output folder; created if missing.

    Raises:
        RunError: it is no study, a file of it is broken, or nothing can be written.
    """
    found = people_results(folder)
    title, held = found.people.form.title, found.questions
    walks = walk_blocks(found) if found.people.form.items == "walks" else []
    tables = [ui.Grid(disputed_table(held)), ui.Grid(rater_table(found.raters))]
    blocks = [*walks, *agreement_blocks(found), *judge_blocks(found), *tables]
    # A document begins with its title and the counts.
    counted = next(each for each in blocks if isinstance(each, ui.Facts))
    told = [counted, *(each for each in blocks if each is not counted)]
    kept = SavedReport(title=title, blocks=tuple(blocks))
    files = [write_markdown(out, told), save_report(out, kept)]
    return CommandOutput(told, record=found.record(), files=files)


_MOST_FOLDERS, _MOST_STUDIES = 500, 5
OF = "of"
"""Tag of an item with the id of its sample in the source."""


def find_studies(run: Path) -> tuple[Path, ...]:
    """Return the folders of people studies over a run, in the run's folder or beside the folder."""
    found = []
    for place in (run, run.resolve().parent):
        try:
            beside = sorted(each for each in place.iterdir() if each.is_dir())[:_MOST_FOLDERS]
        except OSError:
            continue
        found += [f for f in beside if study_folder.is_people_study(f) and _is_over(f, run)]
    return tuple(dict.fromkeys(found))[:_MOST_STUDIES]


def _is_over(folder: Path, run: Path) -> bool:
    """Check whether a study's source is this run, by name: both may have been moved together."""
    try:
        sources = _read(folder, file_stamps(folder)).file.request.get("sources")
    except NavloomError:
        return False
    name = run.resolve().name
    return isinstance(sources, list) and any(Path(str(each)).name == name for each in sources)


def file_stamps(folder: Path) -> tuple[Any, ...]:
    """Return sizes and times of a study's files, as a cache key that changes with each answer."""
    found = []
    for name in (study_folder.PEOPLE, study_folder.ITEMS, study_folder.RATINGS):
        try:
            said = (folder / name).stat()
        except OSError:
            found.append((0, 0))
        else:
            found.append((said.st_size, said.st_mtime_ns))
    return tuple(found)


@lru_cache(maxsize=8)
def _read(folder: Path, state: tuple[Any, ...]) -> study_folder.PeopleStudy:
    del state
    return study_folder.read_people_study(folder)


@lru_cache(maxsize=4)
def _results(folder: Path, state: tuple[Any, ...]) -> PeopleResults:
    return people_results(_read(folder, state))


def cached_results(folder: Path) -> PeopleResults:
    """Return the results of a study so far, cached until an answer is added.

    Raises:
        RunError: it is no study, or broken.
    """
    return _results(folder, file_stamps(folder))


def run_blocks(run: Path) -> list[ui.Block]:
    """Return agreement and judge comparisons of all people studies over a run."""
    blocks: list[ui.Block] = []
    for folder in find_studies(run):
        held = cached_results(folder)
        title = f"People: {held.people.form.title}"
        blocks.append(ui.Prose(title=title, text=f"From {folder.name}."))
        tables = agreement_table(held.questions), *judge_tables(held.questions)
        blocks += map(ui.Grid, tables)
    return blocks


def sample_blocks(run: Path, sample: str) -> list[ui.Block]:
    """Return people's answers about one sample, beside known values; [] without answers."""
    found = []
    for folder in find_studies(run):
        people = _read(folder, file_stamps(folder))
        names = [name for name, item in people.items.items() if item.tags.get(OF) == sample]
        found += [ui.Grid(_said(people, folder, name)) for name in names]
    return list(found)


def _said(people: study_folder.PeopleStudy, folder: Path, name: str) -> Table:
    questions, _ = question_results.collect_answers(people)
    rows = []
    for each in questions:
        said = [value for (_, item), value in each.said.items() if item == name]
        counts = sorted({(-said.count(value), str(value)) for value in said})
        words = ", ".join(f"{-many} × {value}" for many, value in counts)
        top = [value for many, value in counts if many == counts[0][0]]
        majority = (top[0] if len(top) == 1 else "a tie") if top else NOTHING
        known = {who: of[name] for who, of in each.known.items() if name in of}
        others = ", ".join(f"{who}: {value}" for who, value in known.items())
        rows.append((each.name, words or NOTHING, majority, others or NOTHING))
    note = f"From the study of people in {folder.name}, where it is {name}."
    header = ("question", "people", "majority", "known")
    return Table("What people said", note, header, tuple(rows))
