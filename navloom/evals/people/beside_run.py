"""People's answers beside a run's own: of studies over it that lie in its folder or beside it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError
from navloom.evals.people.answer_tables import agreement_table, beside_tables
from navloom.evals.people.question_results import asked
from navloom.evals.people.results import PeopleResults, people_results
from navloom.evals.people.study_folder import ITEMS, PEOPLE, RATINGS, People, is_people, read_people
from navloom.evals.report.blocks import Block, Grid, Prose
from navloom.evals.report.document import NOTHING, Table

_MOST_FOLDERS, _MOST_STUDIES = 500, 5
OF = "of"
"""The tag of an item that says which sample of its source it is."""


def studies_of(run: Path) -> tuple[Path, ...]:
    """Folders of studies of people over a run: in its folder, or beside it."""
    found = []
    for place in (run, run.resolve().parent):
        try:
            folders = sorted(each for each in place.iterdir() if each.is_dir())[:_MOST_FOLDERS]
        except OSError:
            continue
        found += [each for each in folders if is_people(each) and _is_over(each, run)]
    return tuple(dict.fromkeys(found))[:_MOST_STUDIES]


def _is_over(folder: Path, run: Path) -> bool:
    """Whether a study's source is this run; a folder may have been moved with both in it."""
    try:
        sources = _read(folder, state_of(folder)).file.request.get("sources")
    except NavloomError:
        return False
    name = run.resolve().name
    return isinstance(sources, list) and any(Path(str(each)).name == name for each in sources)


def state_of(folder: Path) -> tuple[Any, ...]:
    """What is another as soon as somebody has answered."""
    found = []
    for name in (PEOPLE, ITEMS, RATINGS):
        try:
            said = (folder / name).stat()
        except OSError:
            found.append((0, 0))
        else:
            found.append((said.st_size, said.st_mtime_ns))
    return tuple(found)


@lru_cache(maxsize=8)
def _read(folder: Path, state: tuple[Any, ...]) -> People:
    del state
    return read_people(folder)


@lru_cache(maxsize=4)
def _results(folder: Path, state: tuple[Any, ...]) -> PeopleResults:
    return people_results(_read(folder, state))


def results_of(folder: Path) -> PeopleResults:
    """What came of a study so far; worked out once for as long as nobody answers.

    Raises:
        RunError: it is no study, or broken.
    """
    return _results(folder, state_of(folder))


def run_blocks(run: Path) -> list[Block]:
    """How people's answers agree with each other and with what the run said."""
    blocks: list[Block] = []
    for folder in studies_of(run):
        held = results_of(folder)
        blocks.append(Prose(title=f"People: {held.people.form.title}", text=f"From {folder.name}."))
        blocks += [Grid(table=agreement_table(held.questions))]
        blocks += [Grid(table=table) for table in beside_tables(held.questions)]
    return blocks


def sample_blocks(run: Path, sample: str) -> list[Block]:
    """What people said of one sample, beside what is known of it; empty where nobody was asked."""
    found = []
    for folder in studies_of(run):
        people = _read(folder, state_of(folder))
        names = [name for name, item in people.items.items() if item.tags.get(OF) == sample]
        found += [Grid(table=_said(people, folder, name)) for name in names]
    return list(found)


def _said(people: People, folder: Path, name: str) -> Table:
    questions, _ = asked(people)
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
