"""The report of a navigation run: scores, what went wrong, and a dozen episodes to look at.

``write_nav_report`` puts ``report.html`` into the run's folder (nothing outside it is needed) with
``report.md`` and ``errors.png`` beside it. Whatever a model, a person or a dataset said is text on
the page, escaped and bounded, never markup.

Of each of those it shows what was seen, said and done at each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from navloom.errors import NavloomError
from navloom.evals.kinds import read_run_of
from navloom.evals.made_with import homes_of
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS, reference_of, spelled
from navloom.evals.navigation.failures import Analysis, analyse, error_tables, read_tags
from navloom.evals.navigation.pictures import (
    EpisodeDrawing,
    draw_episode,
    episode_legend,
    errors_picture,
)
from navloom.evals.navigation.published import published_table
from navloom.evals.navigation.scores import read_scores, spoken
from navloom.evals.navigation.tables import headline, request_table, run_tables, title
from navloom.evals.report.document import Document, Shown, Table, data_uri, drawn_or_why, png
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.tasks.episode import Episode
from navloom.files import formed, write_whole
from navloom.scenes.scene import Scene
from navloom.scenes.uri import SceneNames
from navloom.tools.navigation.parse_action import ParsedAction
from navloom.tools.navigation.steps import Step, Walk

SHOWN = 12
"""Episodes that are shown step by step."""


@dataclass(frozen=True)
class ShownCase:
    """One episode as a person looks at it.

    Attributes:
        case: the episode and how it went.
        scene: its scene; None where it could not be loaded.
        problem: why there is no plan; None where there is one.
    """

    case: Case
    scene: Scene | None
    problem: str | None = None


@dataclass(frozen=True)
class NavReport:
    """What is said of a run.

    Attributes:
        title: what the run is.
        headline: what happened, in a sentence or two.
        tables: the request, scores, cost and errors.
        tagged: every episode's tags.
        shown: the episodes to look at.
        published: every row that others published of the task, for the page alone.
    """

    title: str
    headline: str
    tables: tuple[Table, ...]
    tagged: tuple[Analysis, ...]
    shown: tuple[ShownCase, ...]
    published: tuple[Table, ...] = ()


def build_nav_report(run: Path | str) -> NavReport:
    """Read a run and work out what to say of it.

    Raises:
        RunError: the folder is no run, or is broken.
    """
    said, lines = read_run_of(run, "navigate"), read_samples(run)
    finished = {line["id"] for line in lines}
    errors = sum(line["id"] not in finished for line in read_errors(run))
    scenes = RunScenes(said)
    tagged, cases = [], []
    with formed(f"{run}: a sample", "a navigated episode"):
        for line in lines:
            tags = _tags(line, scenes)
            if tags is not None:
                tagged.append(tags)
                case = read_case(line, tags)
                cases += [] if case is None else [case]
        tables = [request_table(said), *run_tables(run, lines), *error_tables(tagged)]
        return NavReport(
            title=title(said, len(lines)),
            headline=headline(said, lines, errors),
            tables=tuple(tables),
            tagged=tuple(tagged),
            shown=tuple(_show(case, scenes) for case in pick_cases(cases, SHOWN)),
            published=tuple(
                published_table(said["request"], read_scores(run).record(), every=True)
            ),
        )


class RunScenes:
    """The scenes of a run, each loaded once."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._names = next(_names(run))
        self._loaded: dict[str, Scene] = {}

    def load(self, name: str) -> Scene:
        """A scene by its portable name.

        Raises:
            SceneError: it cannot be found or loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = self._names.load(name)
        return self._loaded[name]


def _names(run: Mapping[str, Any]) -> Iterator[SceneNames]:
    """Where the scenes may be: where the run had them, else the package and $NAVLOOM_DATA."""
    where = run.get("where")
    if isinstance(where, Mapping):
        for key, form in (("spec", "{}"), ("data", "mp3d:{}")):
            if isinstance(where.get(key), str):
                try:
                    yield SceneNames(form.format(where[key]), homes_of(run))
                except NavloomError:
                    continue
    yield SceneNames(None, homes_of(run))


def _tags(line: Mapping[str, Any], scenes: RunScenes) -> Analysis | None:
    """A line's tags; worked out anew where it has none."""
    result = line.get("result")
    if not isinstance(result, Mapping):
        return None
    tagged = read_tags(result.get("tags"))
    if tagged is not None:
        return tagged
    try:
        episode = Episode.model_validate(result.get("episode"))
        scene = scenes.load(episode.scene)
    except (ValidationError, NavloomError):
        return None
    return read_tags(analyse(result, episode, scene, success=line.get("status") == "ok").tags)


def _show(case: Case, scenes: RunScenes) -> ShownCase:
    try:
        return ShownCase(case, scenes.load(case.episode.scene))
    except NavloomError as error:
        return ShownCase(case, None, str(error))


def document(report: NavReport) -> Document:
    """The report without pictures and steps."""
    cases = tuple((shown.case.id, shown.case.title) for shown in report.shown)
    return Document(report.title, report.headline, report.tables, "Episodes", cases)


def html(report: NavReport) -> str:
    """The report as one page that needs nothing outside it."""
    errors = errors_picture(report.tagged)
    shown = Shown(
        "Behaviours and causes",
        data_uri(errors) if errors else "",
        "Bars: episodes by behaviour, coloured by cause; the numbers are those of the tables"
        " above.",
        "Each episode once, under the first of its behaviours; both parts share one scale.",
    )
    whole = document(replace(report, tables=(*report.tables, *report.published)))
    return whole.html(
        "navigation/report.html",
        pictures={"": shown} if errors else {},
        legend=data_uri(episode_legend()),
        cases=[(each.case, case_steps(each.case), *_plan(each)) for each in report.shown],
    )


def _plan(shown: ShownCase) -> tuple[str | None, str | None]:
    """The plan as a data URI, or why there is none."""
    scene = shown.scene
    if scene is None:
        return None, shown.problem
    drawing = _drawing(shown.case, scene)
    return drawn_or_why(
        lambda: draw_episode(scene, drawing, title=f"{scene.uri} · {shown.case.id}", legend=False)
    )


def _drawing(case: Case, scene: Scene) -> EpisodeDrawing:
    walk, fork = Walk.read(case.result), case.tagged.deviation
    return EpisodeDrawing(
        trajectory=walk.viewpoints,
        reference=reference_of(walk, case.episode, scene),
        goals=case.episode.goals,
        deviation=None if fork is None else fork.at,
    )


def write_nav_report(run: Path | str, out: Path | str | None = None) -> tuple[Document, list[Path]]:
    """Write the report of a navigation run.

    Args:
        run: its folder.
        out: the folder to write to; the run's own unless given.

    Returns:
        What it says, and the files: ``report.md``, ``report.html`` and, of episodes that went
        wrong, ``errors.png``.

    Raises:
        RunError: the folder is no run or is broken, or nothing can be written.
    """
    report = build_nav_report(run)
    folder = Path(run if out is None else out)
    said = document(report)
    written = said.write(folder, html(report))
    errors = errors_picture(report.tagged)
    if errors is not None:
        written.append(write_whole(folder / "errors.png", png(errors)))
    return said, written


_MOST_TEXT = 1200
_MOST_OPTIONS = 24
_MOST_STEPS = 60
_SUCCESSES = 4
"""Places for successes among twelve."""


@dataclass(frozen=True)
class Case:
    """One finished episode of a run.

    Attributes:
        id: the sample's.
        episode: what was to do.
        result: the navigator's result with its scores and tags.
        tagged: what went wrong, or right.
    """

    id: str
    episode: Episode
    result: Mapping[str, Any]
    tagged: Analysis

    @property
    def title(self) -> str:
        """How it ended, in a few words."""
        tagged = self.tagged
        ended = "succeeded" if tagged.success else "failed"
        said = [
            spelled(kind, _mapping(tagged.evidence.get(kind)))
            for kind in tagged.behaviours
            if kind != "none"
        ]
        cause = f"; cause: {tagged.cause.replace('_', ' ')}" if tagged.cause != "none" else ""
        return f"{ended}: {', '.join(said)}{cause}" if said else f"{ended}{cause}"

    @property
    def numbers(self) -> str:
        """Its scores in a line."""
        scores = _mapping(self.result.get("scores"))
        return ", ".join(
            f"{name} {spoken(name, value)}"
            for name, value in scores.items()
            if isinstance(value, float | int) and not isinstance(value, bool)
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def read_case(line: Mapping[str, Any], tagged: Analysis) -> Case | None:
    """A line of ``samples.jsonl`` as a case; None where it does not say which episode it is."""
    result = _mapping(line.get("result"))
    try:
        return Case(line["id"], Episode.model_validate(result.get("episode")), result, tagged)
    except ValidationError:
        return None


def pick_cases(cases: Iterable[Case], most: int = 12) -> list[Case]:
    """Failures of each kind and some successes, the most frequent kinds first, always the same."""
    every = sorted(cases, key=lambda case: case.id)
    failed = list(_in_turn([case for case in every if not case.tagged.success]))
    well = list(_in_turn([case for case in every if case.tagged.success]))
    places = max(min(_SUCCESSES, most // 3), most - len(failed))
    chosen = [*failed[: most - min(places, len(well))], *well[:places]]
    return chosen[:most]


def _in_turn(cases: Sequence[Case]) -> Iterator[Case]:
    """One of each behaviour, then another of each, new causes first."""
    by_kind: dict[str, list[Case]] = {kind: [] for kind in BEHAVIOURS}
    for case in cases:
        by_kind[case.tagged.behaviour].append(case)
    # The plain success shows little: it comes last of its round.
    order = sorted(by_kind, key=lambda kind: (kind == "none", -len(by_kind[kind])))
    queues = {kind: _by_cause(by_kind[kind]) for kind in order}
    for turn in range(max(map(len, queues.values()), default=0)):
        for kind in order:
            if turn < len(queues[kind]):
                yield queues[kind][turn]


def _by_cause(cases: Sequence[Case]) -> list[Case]:
    """Another cause and another goal before the same again."""
    seen: Counter[Any] = Counter()
    ranked = []
    for case in cases:
        cause, goals = case.tagged.cause, (case.episode.scene, case.episode.goals)
        ranked.append((seen[cause] + seen[goals], cause == "unknown", case.id, case))
        seen.update((cause, goals))
    return [case for _, _, _, case in sorted(ranked, key=lambda entry: entry[:3])]


@dataclass(frozen=True)
class ShownOption:
    """One option as the navigator read it."""

    number: str
    direction: str
    description: str
    chosen: bool
    right: bool
    """Whether the ground truth goes there."""


@dataclass(frozen=True)
class Note:
    """Something that was said beside the reply: by whom or what, and its words."""

    who: str
    words: str
    bad: bool = False


@dataclass(frozen=True)
class ShownStep:
    """One step as a person looks at it.

    Attributes:
        number: from 0.
        options: what was offered.
        reply: what the model answered.
        action: what came of it.
        deviates: whether the right way was first left here.
        notes: faults, reasoning, questions, answers and guidance.
    """

    number: int
    options: tuple[ShownOption, ...]
    reply: str
    action: str
    deviates: bool
    notes: tuple[Note, ...] = field(default=())


def case_steps(case: Case) -> list[ShownStep]:
    """The steps of an episode."""
    steps = Walk.read(case.result).steps[:_MOST_STEPS]
    shown = [_step(case, number, step) for number, step in enumerate(steps)]
    pointed = _mapping(case.result.get("pointed"))
    if shown and pointed:
        notes = (*shown[-1].notes, *_pointed(pointed, case.episode.columns))
        shown[-1] = replace(shown[-1], notes=notes)
    return shown


def _pointed(pointed: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[Note]:
    """Which thing was meant at the end, and which was named, of how many in sight."""
    seen, named = _mapping(pointed.get("offered")), pointed.get("object")
    said = "none"
    if isinstance(named, str) and named in seen:
        said = f"{named} ({_text(seen[named])})"
    meant = f"{columns.get('object')} ({_text(columns.get('object_name'))})"
    words = f"named {_text(said)} of {len(seen)} in sight; meant is {_text(meant)}"
    yield Note("which thing", words, bad=str(named) != str(columns.get("object")))


def _step(case: Case, number: int, step: Step) -> ShownStep:
    fork = case.tagged.deviation
    deviates = fork is not None and fork.step == number
    right = fork.expected if fork is not None and deviates else None
    return ShownStep(
        number=number,
        options=tuple(
            ShownOption(
                str(each.id),
                each.direction,
                _text(each.description),
                chosen=step.action.kind == "move" and step.action.viewpoint == each.viewpoint,
                right=each.viewpoint == right,
            )
            for each in step.options[:_MOST_OPTIONS]
        ),
        reply=_text(step.reply),
        action=_action(step.action),
        deviates=deviates,
        notes=tuple(_notes(step)),
    )


def _action(action: ParsedAction) -> str:
    if action.kind == "move":
        return f"moves to option {_text(action.option)}"
    if action.kind == "ask":
        return f"asks: {_text(action.question)}"
    return "stops" if action.kind == "stop" else "no action"


def _notes(step: Step) -> Iterator[Note]:
    for name in ("reasoning", "reflection", "decision"):
        if said := getattr(step, name):
            yield Note(name, _text(said))
    for fault in step.faults:
        yield Note("fault", _text(fault), bad=True)
    for words, who in ((step.asked, "answer"), (step.oracle, "guidance")):
        if words is None:
            continue
        if words.question:
            yield Note("question", _text(words.question))
        if words.answer:
            trigger = getattr(words, "trigger", None)
            yield Note(who + (f" ({_text(trigger)})" if trigger else ""), _text(words.answer))
        if words.told:
            yield Note("gives away", ", ".join(map(_text, words.told)))
        if words.leaked:
            yield Note("leak", "the answer held what it must not", bad=True)


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
