"""A human study as its owner sees it: progress of the raters, and results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from navloom.evals.people import study_folder
from navloom.evals.people.question_results import collect_answers, rater_habits
from navloom.evals.people.results import RESULTS, cached_results, rater_table
from navloom.evals.report.blocks import Block, Column, Fact, Facts, Grid, Line, Prose, SampleDetail
from navloom.evals.report.formatting import NOTHING, Table
from navloom.files import LinePosition
from navloom.web.documents import Documents
from navloom.web.line_index import IndexRow, row_cells
from navloom.web.run_source import Source, SourceHeader, field_getter, file_stamp

_NOWHERE = LinePosition(0, 0, 0)
_RESULTS = (
    ("agreement", "Agreement"),
    ("judge", "Judge beside people"),
    ("differ", "Where people differ"),
)


COLUMNS: tuple[Column, ...] = (
    Column("id", field_getter("id"), "text"),
    Column("home", field_getter("home"), "text", facet=True),
    Column("of", field_getter("of"), "text", help="What it is called in its source."),
    Column("author", field_getter("author"), "text", facet=True),
    Column("answers", field_getter("answers"), "count", help="Raters whose answer counts."),
    Column("skipped", field_getter("skipped"), "count"),
    Column("seconds", field_getter("seconds"), "seconds", help="Mean of its raters."),
)


def item_blocks(item: study_folder.RatedItem) -> list[dict[str, Any]]:
    """Return an item's blocks as a page draws them, with plan keys in maps."""
    return [
        {**block, "plan": Documents.key(str(block.get("scene")))}
        if block.get("block") == "SceneMap"
        else block
        for block in item.blocks
    ]


def form_record(people: study_folder.PeopleStudy, rater: str) -> dict[str, Any]:
    """Return the form as JSON for a rater's page."""
    kept = {"title", "consent", "thanks", "questions"}
    told = people.form.model_dump(mode="json", include=kept)
    return {"study": people.file.study, "rater": rater, **told}


def rater_item(item: study_folder.RatedItem) -> dict[str, Any]:
    """Return an item as JSON for a rater, without its tags and reference answers."""
    return {
        "id": item.id,
        "page": item.page,
        "blocks": item_blocks(item),
        "places": {region: list(things) for region, things in item.places.items()},
    }


def plan_keys(people: study_folder.PeopleStudy, rater: study_folder.Rater) -> dict[str, str]:
    """Return the scenes of a rater's items, by plan key."""
    scenes = (people.items[name].scene for name in rater.items)
    return {Documents.key(scene): scene for scene in scenes if scene}


class StudySource(Source):
    """A human study as a source of pages.

    Raises:
        RunError: its folder is broken.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._was: tuple[Any, ...] | None = None
        self.people = self._now()

    def _now(self) -> study_folder.PeopleStudy:
        """Return the study; read its folder again if it has changed."""
        if self.state() != self._was:
            self._was, self.people = self.state(), study_folder.read_people_study(self.path)
        return self.people

    def state(self) -> tuple[Any, ...]:
        """Return the sizes and times of the study's files."""
        return *file_stamp(self.path / study_folder.PEOPLE), *file_stamp(
            self.path / study_folder.RATINGS
        )

    @property
    def columns(self) -> Sequence[Column]:
        """Columns of an item."""
        return COLUMNS

    def rows(self) -> Sequence[IndexRow]:
        """Return the items with their numbers of answers."""
        people = self._now()
        said: defaultdict[str, list[study_folder.Rating]] = defaultdict(list)
        for each in people.counted().values():
            for name, rating in each.items():
                said[name].append(rating)
        last = {(each.rater, each.item): each.status for each in people.ratings}
        skipped = Counter(item for (_, item), status in last.items() if status == "skipped")
        return [
            IndexRow(name, row_cells(COLUMNS, _line(item, said[name], skipped[name])), _NOWHERE)
            for name, item in people.items.items()
        ]

    def header(self) -> SourceHeader:
        """Return the study's title and progress."""
        people = self._now()
        whole = sum(len(each.items) for each in people.file.raters)
        said = sum(map(len, people.counted().values()))
        name = self.path.resolve().name
        cells = {
            "name": name,
            "kind": "people",
            "task": people.form.title,
            "state": "done" if said == whole else f"{said} of {whole} answered",
            "samples": len(people.items),
        }
        walks = (("walks", "Walks"),) if people.form.items == "walks" else ()
        asks = _RESULTS if people.form.questions else ()
        tabs = (("progress", "Progress"), *walks, *asks)
        return SourceHeader(name=name, kind="people", cells=cells, tabs=tabs, things="items")

    def tab(self, name: str) -> Sequence[Block]:
        """Return the progress of the raters, or one of the result tabs."""
        if name == "progress":
            return progress_blocks(self._now())
        return RESULTS[name](cached_results(self.path))

    def detail(self, name: str) -> SampleDetail:
        """Return an item: its tags, each rater's answers, and the blocks that raters see."""
        people = self._now()
        item = people.items[name]
        shown = Prose(text="What raters are shown stands below, as they see it.")
        blocks: list[Any] = [_known(item), _said(people, item), shown, *item_blocks(item)]
        return SampleDetail(title=name, headline=item.tags.get("of", ""), blocks=tuple(blocks))

    def scenes(self) -> Iterable[str]:
        """Return the scenes of the study's items."""
        return dict.fromkeys(each.scene for each in self._now().items.values() if each.scene)


def _line(item: study_folder.RatedItem, said: Sequence[study_folder.Rating], skipped: int) -> Line:
    seconds = sum(each.seconds for each in said) / len(said) if said else None
    counts = {"answers": len(said), "skipped": skipped, "seconds": seconds}
    return {"id": item.id, **item.tags, **counts}


def progress_blocks(people: study_folder.PeopleStudy) -> list[Block]:
    """Return the progress and answering habits of each rater."""
    links = Fact("links", "give out the links", to="#/people/links")
    form = people.form
    facts = (
        Fact("form", form.name, note=form.title),
        Fact("items", str(len(people.items))),
        Fact("raters an item", str(min(form.overlap, len(people.raters)))),
        links,
    )
    return [Facts(facts=facts), Grid(rater_table(rater_habits(people, collect_answers(people)[0])))]


def _known(item: study_folder.RatedItem) -> Facts:
    """Return an item's tags and reference answers, which no rater sees."""
    found = [Fact(name, value) for name, value in item.tags.items()]
    for who, answers in item.references.items():
        said = "; ".join(f"{name}: {_words(answer)}" for name, answer in answers.items())
        found.append(Fact(who, said))
    return Facts(title="What is known of it, and shown to no rater", facts=tuple(found))


def _said(people: study_folder.PeopleStudy, item: study_folder.RatedItem) -> Block:
    names = [each.name for each in people.form.questions]
    rows = [
        (
            rater,
            *(_words(said[item.id].answers.get(name)) for name in names),
            f"{said[item.id].seconds:.0f}",
        )
        for rater, said in people.counted().items()
        if item.id in said
    ]
    if not rows:
        return Prose(title="What was said", text="Nobody has answered it yet.")
    return Grid(Table("What was said", "", ("rater", *names, "seconds"), tuple(rows)))


def _words(answer: Any) -> str:
    if isinstance(answer, dict):
        return ", ".join(map(str, answer.values()))
    return NOTHING if answer is None else str(answer)
