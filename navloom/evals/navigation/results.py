"""Report of a navigation run: scores, effort, failures, and the written report files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from navloom.errors import NavloomError, UsageError
from navloom.evals.navigation.embodied_graph import recorded_graph
from navloom.evals.navigation.episode_detail import step_address
from navloom.evals.navigation.episode_display import EpisodeEntry, pick_episodes, read_analysis
from navloom.evals.navigation.failure_analysis import FailureTally, RunTallies
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.published_scores import published_table, published_text
from navloom.evals.navigation.scores import empty_run_scores, format_interval, format_metric
from navloom.evals.progress import Summary, Tally
from navloom.evals.report import blocks as ui
from navloom.evals.report.formatting import NOTHING, Table, format_number, percent
from navloom.evals.report.report_files import write_markdown
from navloom.evals.run_folder import for_each_sample, iter_samples, read_errors, read_run
from navloom.evals.run_kinds import CommandOutput, read_run_of_kind
from navloom.evals.run_scenes import load_run_scene, viewpoints_on_plan
from navloom.files import check_format, package_yaml, truncate, write_run_file
from navloom.models.model_spec import read_spec
from navloom.scenes.scene import Scene

ORDER = (
    *("SR", "SR_visible", "RGS", "RGSPL", "SPL", "SoftSPL", "OSR", "SR_stopped", "SR_end"),
    *("early_stop", "late_stop", "NE", "DTS", "GP", "TL", "nDTW", "SDTW", "CLS", "SPL_gt"),
    *("SR_strict", "SR_telhop", "collided", "contacts", "collision_rate"),
)
"""Order of the metrics in tables."""
_WORDS = package_yaml("navloom.evals.navigation", "meanings.yaml")
_COUNTS: Mapping[str, str] = _WORDS["an_episode"]
_EFFORTS: Mapping[str, str] = _WORDS["in_all"]
_RULES = {
    "builtin/heuristic": "R2R-tuned rules: their weights were fitted on R2R's train split, and they"
    " know how many hops its paths have; a model is told neither",
    "builtin/heuristic-no-length": "R2R-tuned rules: their weights were fitted on R2R's train"
    " split, without the length of its paths; a model is told nothing of it",
    "builtin/random": "a draw among the options",
}
"""Baseline model -> note that describes it."""
_ALWAYS = ("steps", "input_tokens", "output_tokens", "seconds")


def score_table(scores: Mapping[str, Any]) -> Table:
    """Return a table of a run's scores and the effort of an episode, one row a number.

    Args:
        scores: the ``scores`` of a run's ``summary.json``.
    """
    rules = _RULES.get(read_spec(scores["model"]).bare)
    baseline = f", a baseline and no language model ({rules})" if rules else ""
    named = scores.get("rooms_named")
    truth = (
        f" Rooms that prompts name are the scene's own labels, the truth, in {named} scenes."
        if named
        else ""
    )
    note = (
        f"{scores['agent']} with {scores['model']}{baseline}.{truth} 95 %: bootstrap intervals,"
        " over paths. Success: it ended strictly within 3 m of a goal; NE, DTS, GP and TL are"
        " metres. docs/metrics.md defines each."
    )
    title = f"{scores['task']}: {scores['episodes']} episodes"
    return Table(title, note, ("measure", "mean", "95 %"), tuple(_rows(scores)))


def _rows(scores: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    metrics, took = scores["metrics"], scores["an_episode"]
    for name in ORDER:
        if name in metrics:
            yield name, *_cells(name, metrics[name])[:2]
    for key, words in _COUNTS.items():
        if key in _ALWAYS or took.get(key):
            yield f"{words}, an episode", format_number(took.get(key, 0)), ""
    cost = scores["cost_usd"]
    yield "cost in $, in all", "unknown" if cost is None else format_number(cost), ""
    episodes = max(1, scores["episodes"])
    for kind, count in _most(scores["ends"]):
        yield f"ended by: {kind.replace('_', ' ')}", str(count), percent(count / episodes)
    for kind, count in _most(scores["behaviours"]):
        if kind != "none":
            yield f"showed: {kind.replace('_', ' ')}", str(count), percent(count / episodes)
    if scores["invalid"]:
        yield "trajectories nobody can have walked", str(scores["invalid"]), ""
    yield from _given_away(scores.get("oracle") or {})


def _given_away(oracle: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each kind of information that the oracle's answers gave away."""
    for kind, share in oracle.get("told", {}).items():
        if share:
            yield f"oracle's answers that give away: {kind}", percent(share), ""


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


_MOST_CELL = 300


def run_title(run: Mapping[str, Any], episodes: int) -> str:
    """Return the title of a run: task, split, agent, model and number of ended episodes."""
    request = run["request"]
    task = str(request.get("task") or "navigation")
    part = str(request.get("split") or "")
    if task == "scene":
        task, part = "Generated instructions", str((request.get("options") or {}).get("kind") or "")
    named = {"r2r": "R2R", "r4r": "R4R", "reverie": "REVERIE", "objectnav": "ObjectNav"}
    said = [f"{named.get(task, task)} {part}".rstrip()]
    said += [str(request[key]) for key in ("agent", "model") if request.get(key)]
    return " · ".join([*said, f"n = {episodes}"])


def run_headline(run: Mapping[str, Any], ended: int, well: int, errors: int) -> str:
    """Return the outcome of a run in a few sentences.

    Args:
        run: content of ``run.json``.
        ended: number of ended episodes.
        well: number of successes.
        errors: number of episodes with a program error, which are not counted.
    """
    request = run["request"]
    what = " ".join(str(request[key]) for key in ("task", "split") if request.get(key))
    if not ended:
        return f"{what}: no episode has ended."
    said = f"{what}: {well} of {ended} episodes succeeded ({well / ended:.1%})."
    if errors:
        said += f" {errors} ended in an error of the machinery and count for nothing."
    if rules := _RULES.get(str(request.get("model", ""))):
        said += f" The navigator is a baseline and no language model: {rules}."
    return said


def request_table(run: Mapping[str, Any]) -> Table:
    """Return a table of the request's non-empty settings, folded."""
    rows = [
        (str(key)[:_MOST_CELL], truncate(_flat(value), _MOST_CELL))
        for key, value in sorted(run["request"].items())
        if value not in (None, "", [], {}, False)
    ]
    rows.append(("seed", str(run.get("seed"))))
    return Table(
        "Request",
        "As run.json has it.",
        ("key", "value"),
        tuple(dict.fromkeys(rows)),
        folded="What was asked for",
    )


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_flat(part)}" for key, part in value.items())
    return "; ".join(map(_flat, value)) if isinstance(value, list) else str(value)


def ended(run: Path, summary: Summary) -> CommandOutput:
    """Return the score table that the command shows at the end, with published scores."""
    scores = summary.scores
    if not scores["episodes"]:
        return CommandOutput()
    beside = published_text(read_run(run)["request"])
    below = [ui.Prose(text=beside)] if beside else []
    return CommandOutput([ui.Grid(score_table(scores)), *below], whole=True)


def run_tables(
    request: Mapping[str, Any], scores: Mapping[str, Any], took: RunEffort
) -> Iterator[Table]:
    """Yield the tables of scores, published scores, effort and oracle; none without episodes.

    Args:
        request: the request in ``run.json``.
        scores: scores as given by ``RunScores.record``.
        took: effort of all finished episodes.
    """
    if took.episodes:
        yield _scores(scores)
        yield from published_table(request, scores)
        yield took.table()
        if rows := tuple(_given_away(scores["oracle"] or {})):
            note = (
                f"Shares of {scores['oracle']['answers']} answers, withheld or not;"
                " docs/oracles.md defines the kinds. The oracle knows:"
                f" {scores['oracle']['knows']}."
            )
            yield Table(
                "What the oracle gave away", note, ("", "answers"), tuple(r[:2] for r in rows)
            )


def _scores(said: Mapping[str, Any]) -> Table:
    rows = [(name, *_cells(name, measured)) for name, measured in said["metrics"].items()]
    note = (
        "Means over episodes with 95 % bootstrap intervals, the instructions of one path drawn"
        " together. Success: it ended strictly within 3 m of a goal. TL, NE, DTS and GP are metres"
        " and the collision rate is contacts an action."
    )
    if said["invalid"]:
        note += f" {said['invalid']} trajectories that nobody can have walked count as failed."
    return Table("Scores", note, ("metric", "mean", "95 % interval", "episodes"), tuple(rows))


def _cells(name: str, measured: Mapping[str, Any]) -> tuple[str, str, str]:
    interval = measured.get("interval")
    ends = format_interval(name, interval, " to ") if interval else NOTHING
    return format_metric(name, measured["mean"]), ends, str(measured["n"])


@dataclass
class RunEffort:
    """Effort of the finished episodes of a run, added up line by line."""

    episodes: int = 0
    tally: Tally = field(default_factory=Tally)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, line: ui.Line) -> None:
        """Add a line of ``samples.jsonl``."""
        self.episodes += 1
        self.tally.add(dict(line))
        result = line.get("result")
        counts = result.get("counts") if isinstance(result, Mapping) else None
        if isinstance(counts, Mapping):
            known = {key: counts.get(key) for key in _EFFORTS}
            self.counts.update({k: each for k, each in known.items() if isinstance(each, int)})

    def table(self) -> Table:
        """Return the effort as a table: total, and mean of an episode."""
        many, tally = self.episodes, self.tally
        rows = [
            (words, f"{total:,}", f"{total / many:.2f}")
            for key, words in _EFFORTS.items()
            if (total := self.counts[key])
        ]
        for key, words in (
            ("calls", "model calls"),
            ("input_tokens", "input tokens"),
            ("output_tokens", "output tokens"),
        ):
            rows.append((words, f"{tally.usage[key]:,}", f"{tally.usage[key] / many:.1f}"))
        rows.append(("seconds", f"{tally.seconds:.1f}", f"{tally.seconds / many:.2f}"))
        if tally.cost_usd is None:
            rows.append(("cost in $", "unknown", "–"))
        else:
            rows.append(("cost in $", f"{tally.cost_usd:.3f}", f"{tally.cost_usd / many:.4f}"))
        note = "Episodes run side by side: their seconds add up to more than the clock's."
        return Table("What it took", note, ("", "in all", "an episode"), tuple(rows))


_SCENES = 6
"""Maximum number of scenes whose plans show the first deviations."""
_STEPS = 20
"""Maximum step with a bar of its own."""
_STATUS = {"failed": "failed", "succeeded": "ok"}
_NONE = ui.Prose(text="No episode has ended yet.", tone="quiet")


@dataclass
class _Fork:
    """First deviations of failed episodes at one viewpoint.

    Attributes:
        first: id of the first such episode.
        step: step of its deviation.
        count: number of episodes.
    """

    first: str
    step: int
    count: int = 0


@dataclass
class _Wrong:
    """Failures of a run, counted line by line.

    Attributes:
        run: its folder.
        request: its request.
        tallies: counts of behaviours and causes.
        steps: number of first deviations by (step, success).
        forks: scene -> viewpoint -> first deviations of failed episodes there.
        episodes: entries of all episodes, to choose examples from.
    """

    run: Path
    request: dict[str, Any]
    tallies: RunTallies = field(default_factory=RunTallies)
    steps: Counter[tuple[int, bool]] = field(default_factory=Counter)
    forks: dict[str, dict[str, _Fork]] = field(default_factory=dict)
    episodes: list[EpisodeEntry] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Count a line of ``samples.jsonl``."""
        tagged = read_analysis(line, self.load)
        if tagged is None:
            return
        self.tallies.add(tagged)
        named = EpisodeEntry.of(line, tagged)
        self.episodes.append(named)
        left = tagged.deviation
        if left is None:
            return
        self.steps[min(left.step, _STEPS), tagged.success] += 1
        if not tagged.success:
            forks = self.forks.setdefault(named.scene, {})
            forks.setdefault(left.at, _Fork(line["id"], left.step)).count += 1

    def load(self, name: str) -> Scene:
        """Return a scene with the navigation graph of the run."""
        return recorded_graph(self.request)(load_run_scene(self.run, name))


def tables(run: Path) -> list[ui.Block]:
    """Return the blocks of a run's scores and effort.

    Args:
        run: its folder. The lines are read one by one.

    Raises:
        RunError: the folder is not an evaluation run, or is broken.
    """
    return _scored(run, every=True)[0]


def _scored(run: Path, *, every: bool) -> tuple[list[ui.Block], dict[str, Any]]:
    """Return the title, headline and score tables as blocks, and the scores as JSON.

    Args:
        run: its folder.
        every: whether to add all published rows of the task.
    """
    said = read_run_of_kind(run, "navigate")
    request, ended = said["request"], dict[str, bool]()
    scores, took = empty_run_scores(request), RunEffort()

    def add(line: dict[str, Any]) -> None:
        scores.add(line)
        took.add(line)
        ended[line["id"]] = line.get("status") == "ok"

    for_each_sample(run, add, "a navigated episode")
    errors = sum(each["id"] not in ended for each in read_errors(run))
    told = run_headline(said, len(ended), sum(ended.values()), errors)
    first = ui.Prose(title=run_title(said, len(ended)), text=told)
    with check_format(f"{run}: a sample", "a navigated episode"):
        record = scores.record()
    made = [*run_tables(request, record, took)] if ended else []
    if ended and every:
        made += published_table(request, record, every=True)
    return [first, *map(ui.Grid, made)], record


def failures(run: Path) -> list[ui.Block]:
    """Return the blocks of a run's failures: behaviours by cause, steps, places (VLN-MME E.2).

    Args:
        run: its folder. The lines are read one by one.

    Raises:
        RunError: the folder is not an evaluation run, or is broken.
    """
    return [*_failures(_wrong(run))] or [_NONE]


def _wrong(run: Path) -> _Wrong:
    read = _Wrong(run, read_run_of_kind(run, "navigate")["request"])
    for_each_sample(run, read.add, "a navigated episode")
    return read


def _failures(read: _Wrong) -> Iterator[ui.Block]:
    """Yield the failure blocks; none if no episode has ended."""
    if read.tallies.episodes:
        yield from _behaviours(read.tallies)
        yield from map(ui.Grid, read.tallies.tables())
        yield from _steps(read.steps)
        yield from _places(read)
        yield from _to_look_at(read.episodes)


def _to_look_at(episodes: Sequence[EpisodeEntry]) -> Iterator[ui.Grid]:
    """Yield a table of varied failures and some successes, linked to their pages."""
    picked = pick_episodes(episodes)
    if picked:
        rows = tuple((each.id, each.ended, each.scene) for each in picked)
        note = "Failures of each kind and some successes; a row leads to the episode, step by step."
        table = Table("Episodes to look at", note, ("episode", "how it ended", "scene"), rows)
        yield ui.Grid(table, to=tuple(ui.sample_address(each.id) for each in picked))


def samples_address(*terms: tuple[str, str]) -> str:
    """Return the address of the samples that match all terms, such as (``cause:``, ``region``)."""
    words = " ".join(f"{name}{_quoted(value)}" for name, value in terms)
    return f"samples?filter={quote(words, safe='')}"


def _quoted(value: str) -> str:
    plain = value.replace('"', "")
    return f'"{plain}"' if not plain or any(letter.isspace() for letter in plain) else plain


def _behaviours(counted: RunTallies) -> Iterator[ui.Bars]:
    """Yield bars of behaviours by cause, failures then successes, on one scale."""
    bars = [
        (f"{words}: {kind.replace('_', ' ')}", tuple(_segments(tally, kind, words)))
        for words, tally in counted.parts
        for kind in BEHAVIOURS
        if tally.of(kind)
    ]
    said = [f"{tally.episodes} {words}" for words, tally in counted.parts]
    if bars:
        yield ui.Bars(
            title=f"Behaviours by cause: of {counted.episodes} episodes {', '.join(said)}",
            note="Each once, under the first of its behaviours. A click shows its episodes.",
            bars=tuple(bars),
            unit="episodes",
        )


def _segments(tally: FailureTally, kind: Any, words: str) -> Iterator[ui.Segment]:
    for cause in CAUSES:
        count = tally.first[kind, cause]
        if count:
            to = samples_address(
                ("behaviour:", kind), ("cause:", cause), ("status:", _STATUS[words])
            )
            yield ui.Segment(cause.replace("_", " "), count, to=to)


def _steps(counts: Counter[tuple[int, bool]]) -> Iterator[ui.Bars]:
    """Yield bars of the steps at which episodes first left the reference path."""
    if not counts:
        return
    bars = []
    for step in range(max(step for step, _ in counts) + 1):
        term = ("deviation>", str(_STEPS)) if step == _STEPS else ("deviation=", str(step + 1))
        segments = tuple(
            ui.Segment(words, count, to=samples_address(term, ("status:", _STATUS[words])))
            for success, words in ((False, "failed"), (True, "succeeded"))
            if (count := counts[step, success])
        )
        name = f"after step {_STEPS}" if step == _STEPS else f"step {step + 1}"
        bars.append((name, segments))
    yield ui.Bars(
        title="At which step the right way was first left",
        note="An episode that succeeded may have left it too, and come back or taken another.",
        bars=tuple(bars),
        unit="episodes",
    )


def _places(read: _Wrong) -> Iterator[ui.Variants]:
    """Yield one block of floor plans that mark where failed episodes first left the right way.

    It has a plan for each of the ``_SCENES`` scenes with the most such episodes. Without any, no
    block is yielded.
    """
    most = sorted(read.forks.items(), key=lambda item: (-_count(item[1]), item[0]))[:_SCENES]
    if most:
        more = f" The {_SCENES} scenes with the most of them." if len(read.forks) > _SCENES else ""
        yield ui.Variants(
            title="Where failed episodes left the right way",
            note=f"A mark leads to the episodes that first left it there.{more}",
            variants=tuple(
                (f"{name} ({_count(forks)})", (_plan_of(read, name, forks),))
                for name, forks in most
            ),
        )


def _count(forks: Mapping[str, _Fork]) -> int:
    return sum(each.count for each in forks.values())


def _plan_of(read: _Wrong, name: str, forks: Mapping[str, _Fork]) -> ui.Block:
    try:
        scene = read.load(name)
    except NavloomError as error:
        return ui.Prose(text=f"There is no plan of {name}: {error}", tone="quiet")
    marks = [
        ui.MapMark("deviation", spot, str(fork.count), to=_to_those(viewpoint, name, fork))
        for viewpoint, fork in forks.items()
        for spot in viewpoints_on_plan(scene, [viewpoint])
    ]
    return ui.SceneMap(scene=name, marks=tuple(marks))


def _to_those(viewpoint: str, scene: str, fork: _Fork) -> str:
    """Return the address of a fork's single episode, or of all its episodes."""
    if fork.count == 1:
        return step_address(fork.first, fork.step)
    return samples_address(("left_at=", viewpoint), ("scene=", scene), ("status:", "failed"))


SHOWN = 12
"""Number of episodes whose pages a report includes."""


def report(runs: Sequence[Path], out: Path | None) -> CommandOutput:
    """Write a report of each run by :func:`write_report`, and return them all together.

    Raises:
        UsageError: ``out`` is given with several runs.
    """
    if out is not None and len(runs) > 1:
        raise UsageError("--out goes with one run of `navloom eval`: each has its own report")
    made = [write_report(run, out) for run in runs]
    return CommandOutput(
        blocks=[block for each in made for block in each.blocks],
        together=False,
        record={"runs": [each.record for each in made]},
        files=[file for each in made for file in each.files],
        details={name: found for each in made for name, found in each.details.items()},
    )


def write_report(run: Path, out: Path | None = None) -> CommandOutput:
    """Write the report of a run: ``report.md`` and, if there are behaviours, ``errors.png``.

    Args:
        run: its folder.
        out: the folder to write to; by default the run's own.

    Returns:
        Blocks, scores, written files, and pages of the chosen episodes with rendered views.

    Raises:
        RunError: the folder is not a run or is broken, or a file cannot be written.
    """
    from navloom.evals.report.block_chart import chart_png

    request = request_table(read_run_of_kind(run, "navigate"))
    (first, *blocks), scores = _scored(run, every=False)
    read = _wrong(run)
    blocks = [first, ui.Grid(request), *blocks, *(_failures(read) if read.episodes else ())]
    folder = run if out is None else out
    files = [write_markdown(folder, blocks)]
    if drawn := [*_behaviours(read.tallies)]:
        files.append(write_run_file(folder / "errors.png", chart_png(drawn)))
    details = dict(_details(run, read))
    return CommandOutput(blocks=blocks, record=scores, files=files, details=details)


def _details(run: Path, read: _Wrong) -> Iterator[tuple[tuple[Path, str], ui.SampleDetail]]:
    """Yield pages of the chosen episodes with rendered views, for scenes with geometry."""
    from navloom.evals.navigation.episode_detail import detail
    from navloom.sim.scene_images import can_render

    named = {each.id: each.scene for each in pick_episodes(read.episodes, SHOWN)}
    for line in iter_samples(run):
        if line["id"] not in named:
            continue
        try:
            seen = can_render(read.load(named[line["id"]]))
        except NavloomError:
            continue
        if seen:
            yield (run, line["id"]), detail(run, line, renders=True)
