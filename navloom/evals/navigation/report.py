"""The report of a navigation run: scores, what went wrong, and a dozen episodes to look at.

``write_nav_report`` puts ``report.html`` into the run's folder (nothing outside it is needed) with
``report.md`` and ``errors.png`` beside it. Whatever a model, a person or a dataset said is text on
the page, escaped and bounded, never markup.

Of each of those it shows what was seen, said and done at each step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, SimulatorError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.failure_behaviour import reference_of
from navloom.evals.navigation.failures import Analysis, tallies_of
from navloom.evals.navigation.pictures import (
    EpisodeDrawing,
    draw_episode,
    episode_legend,
    errors_picture,
)
from navloom.evals.navigation.posed import stood_at
from navloom.evals.navigation.published import published_table
from navloom.evals.navigation.scores import read_scores
from navloom.evals.navigation.shown_episodes import (
    Case,
    ShownStep,
    case_steps,
    pick_cases,
    read_case,
    tags_of,
)
from navloom.evals.navigation.tables import Took, headline, request_table, run_tables, title
from navloom.evals.navigation.walked import walked_by
from navloom.evals.report.document import (
    Document,
    Shown,
    Table,
    data_uri,
    drawn_or_why,
    photo_uri,
    png,
)
from navloom.evals.run_folder import read_errors, read_samples
from navloom.evals.run_scenes import names_of
from navloom.files import formed, write_whole
from navloom.scenes.scene import Scene
from navloom.sim.embedded.lookout import can_look, panorama_at
from navloom.sim.media import FolderMedia
from navloom.tools.navigation.steps import Step, Walk

SHOWN = 12
"""Episodes that are shown step by step."""
_VIEW = 224
"""Pixels of each of the four views of what was seen at a step."""


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
        took, scores = Took(), read_scores(run).record()
        for line in lines:
            took.add(line)
            tags = tags_of(line, scenes.load)
            if tags is not None:
                tagged.append(tags)
                case = read_case(line, tags)
                cases += [] if case is None else [case]
        tables = [
            request_table(said),
            *run_tables(said["request"], scores, took),
            *tallies_of(tagged).tables(),
        ]
        return NavReport(
            title=title(said, len(lines)),
            headline=headline(said, lines, errors),
            tables=tuple(tables),
            tagged=tuple(tagged),
            shown=tuple(_show(case, scenes) for case in pick_cases(cases, SHOWN)),
            published=tuple(published_table(said["request"], scores, every=True)),
        )


class RunScenes:
    """The scenes of a run, each loaded once."""

    def __init__(self, run: Mapping[str, Any]) -> None:
        self._names = next(names_of(run))
        self._walked = walked_by(run.get("request") or {})
        self._loaded: dict[str, Scene] = {}

    def load(self, name: str) -> Scene:
        """A scene by its portable name.

        Raises:
            SceneError: it cannot be found or loaded.
        """
        if name not in self._loaded:
            self._loaded[name] = self._walked(self._names.load(name))
        return self._loaded[name]


def _show(case: Case, scenes: RunScenes) -> ShownCase:
    try:
        return ShownCase(case, scenes.load(case.episode.scene))
    except NavloomError as error:
        return ShownCase(case, None, str(error))


def document(report: NavReport) -> Document:
    """The report without pictures and steps."""
    cases = tuple((shown.case.id, shown.case.title) for shown in report.shown)
    return Document(report.title, report.headline, report.tables, "Episodes", cases)


def html(report: NavReport, run: Path) -> str:
    """The report of a run's folder as one page that needs nothing outside it."""
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
        legend=data_uri(episode_legend(bumps=any(_walk(each.case).bumps for each in report.shown))),
        cases=[(each.case, _seen_steps(each, run), *_plan(each)) for each in report.shown],
    )


def _seen_steps(shown: ShownCase, run: Path) -> list[ShownStep]:
    """The steps of an episode with what was seen at each of them."""
    steps = Walk.read(shown.case.result).steps
    return [
        replace(each, photo=_photo(steps[each.number], shown.scene, run))
        for each in case_steps(shown.case)
    ]


def _photo(step: Step, scene: Scene | None, run: Path) -> str | None:
    """What the model was shown; where it was shown nothing, what there was to see."""
    try:
        if step.media:
            return photo_uri(FolderMedia(run / "media").get(step.media[0]))
        if scene is None or step.viewpoint is None or not can_look(scene):
            return None
        ways = [option.viewpoint for option in step.options if option.viewpoint]
        seen = panorama_at(scene, step.viewpoint, step.heading or 0.0, ways, size=_VIEW)
        return photo_uri(seen)
    except SimulatorError:
        return None


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
    walk, fork = _walk(case), case.tagged.deviation
    stood = stood_at([viewpoint for viewpoint, _ in walk.poses], walk.points, scene)
    return EpisodeDrawing(
        trajectory=walk.viewpoints,
        reference=reference_of(walk, case.episode, scene),
        goals=case.episode.goals,
        deviation=None if fork is None else fork.at,
        points=stood,
        bumps=walk.bumps,
    )


def _walk(case: Case) -> Walk:
    return Walk.read(case.result)


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
    written = said.write(folder, html(report, Path(run)))
    errors = errors_picture(report.tagged)
    if errors is not None:
        written.append(write_whole(folder / "errors.png", png(errors)))
    return said, written
