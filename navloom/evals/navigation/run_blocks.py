"""A navigation run as a whole, as blocks: the report's tables; what went wrong (VLN-MME E.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any
from urllib.parse import quote

from navloom.errors import NavloomError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.episode_map import to_step
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.failures import FailureTally, Tallies
from navloom.evals.navigation.published import published_table
from navloom.evals.navigation.scores import scores_for
from navloom.evals.navigation.shown_episodes import ended_as, pick_cases, place_of, tags_of
from navloom.evals.navigation.tables import Took, headline, run_tables, title
from navloom.evals.navigation.walked import walked_by
from navloom.evals.report.blocks import (
    Bars,
    Block,
    Grid,
    MapMark,
    Prose,
    SceneMap,
    Segment,
    Variants,
    to_sample,
)
from navloom.evals.report.document import Table
from navloom.evals.report.maps import spots_of
from navloom.evals.run_folder import fold_samples, read_errors
from navloom.evals.run_scenes import run_scene
from navloom.scenes.scene import Scene

_SCENES = 6
"""Scenes on whose plans it is shown where episodes went wrong."""
_STEPS = 20
"""Steps that have a bar of their own."""
_STATUS = {"failed": "failed", "succeeded": "ok"}
_NONE = Prose(text="No episode has ended yet.", tone="quiet")


@dataclass
class _Fork:
    """A viewpoint at which failed episodes first left the right way: how many, the first of them.

    Attributes:
        first: an episode's id.
        step: at which it left.
        count: how many left there.
    """

    first: str
    step: int
    count: int = 0


@dataclass(slots=True)
class _Episode:
    """What it takes to name some of a run's episodes.

    Attributes:
        id: the sample's.
        scene: where.
        place: where it was to lead.
        ended: in a few words.
        behaviour: the first of its behaviours.
        cause: of it.
        success: whether it succeeded.
    """

    id: str
    scene: str
    place: str
    ended: str
    behaviour: str
    cause: str
    success: bool


@dataclass
class _Read:
    """What went wrong in a run, counted of its lines one after another.

    Attributes:
        run: its folder.
        request: what was asked.
        tallies: behaviours and causes.
        steps: how many first left the right way at a step, by whether they succeeded.
        forks: by scene and viewpoint, where those that failed left it.
        episodes: of which some are named.
    """

    run: Path
    request: dict[str, Any]
    tallies: Tallies = field(default_factory=Tallies)
    steps: Counter[tuple[int, bool]] = field(default_factory=Counter)
    forks: dict[str, dict[str, _Fork]] = field(default_factory=dict)
    episodes: list[_Episode] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Count a line of ``samples.jsonl``."""
        tagged = tags_of(line, self.load)
        if tagged is None:
            return
        self.tallies.add(tagged)
        scene, place = str(line["result"]["episode"]["scene"]), place_of(line["result"])
        # Of ten thousand episodes most of these are the same few texts.
        where, ended = (intern(scene), intern(place)), intern(ended_as(tagged))
        behaviour, cause, success = tagged.behaviour, tagged.cause, tagged.success
        self.episodes.append(_Episode(line["id"], *where, ended, behaviour, cause, success))
        left = tagged.deviation
        if left is None:
            return
        self.steps[min(left.step, _STEPS), tagged.success] += 1
        if not tagged.success:
            forks = self.forks.setdefault(scene, {})
            forks.setdefault(left.at, _Fork(line["id"], left.step)).count += 1

    def load(self, name: str) -> Scene:
        """A scene with the hops that the run goes by."""
        return walked_by(self.request)(run_scene(self.run, name))


def tables(run: Path) -> list[Block]:
    """What is seen of a run: its scores, and what they took.

    Args:
        run: its folder; the lines are read one after another.

    Raises:
        RunError: the folder is no run of an evaluation, or is broken.
    """
    said = read_run_of(run, "navigate")
    request, ended = said["request"], dict[str, bool]()
    scores, took = scores_for(request), Took()

    def add(line: dict[str, Any]) -> None:
        scores.add(line)
        took.add(line)
        ended[line["id"]] = line.get("status") == "ok"

    fold_samples(run, add, "an episode")
    errors = sum(each["id"] not in ended for each in read_errors(run))
    told = headline(said, len(ended), sum(ended.values()), errors)
    first = Prose(title=title(said, len(ended)), text=told)
    if not ended:
        return [first]
    record = scores.record()
    made = [*run_tables(request, record, took), *published_table(request, record, every=True)]
    return [first, *(Grid(table=table) for table in made)]


def failures(run: Path) -> list[Block]:
    """What went wrong: behaviour by cause, at which step and where (VLN-MME E.2).

    Args:
        run: its folder; the lines are read one after another.

    Raises:
        RunError: the folder is no run of an evaluation, or is broken.
    """
    read = _Read(run, read_run_of(run, "navigate")["request"])
    fold_samples(run, read.add, "an episode")
    if not read.tallies.episodes:
        return [_NONE]
    blocks: list[Block] = [*_behaviours(read.tallies)]
    blocks += [Grid(table=table) for table in read.tallies.tables()]
    blocks += _steps(read.steps)
    blocks += _places(read)
    blocks += _to_look_at(read.episodes)
    return blocks


def _to_look_at(episodes: Sequence[_Episode]) -> Iterator[Grid]:
    """Failures of each kind and some successes, as the report names them."""
    picked = pick_cases(episodes)
    if picked:
        rows = tuple((each.id, each.ended, each.scene) for each in picked)
        note = "Failures of each kind and some successes; a row leads to the episode, step by step."
        table = Table("Episodes to look at", note, ("episode", "how it ended", "scene"), rows)
        yield Grid(table=table, to=tuple(to_sample(each.id) for each in picked))


def found(*terms: tuple[str, str]) -> str:
    """The address of the samples that all terms hold of: (``cause:``, ``region``)."""
    words = " ".join(f"{name}{_quoted(value)}" for name, value in terms)
    return f"samples?filter={quote(words, safe='')}"


def _quoted(value: str) -> str:
    plain = value.replace('"', "")
    return f'"{plain}"' if not plain or any(letter.isspace() for letter in plain) else plain


def _behaviours(counted: Tallies) -> Iterator[Bars]:
    """Behaviours by cause, of failures and then of successes, on one scale."""
    bars = [
        (f"{words}: {kind.replace('_', ' ')}", tuple(_segments(tally, kind, words)))
        for words, tally in counted.parts
        for kind in BEHAVIOURS
        if tally.of(kind)
    ]
    said = [f"{tally.episodes} {words}" for words, tally in counted.parts]
    if bars:
        yield Bars(
            title=f"Behaviours by cause: of {counted.episodes} episodes {', '.join(said)}",
            note="Each once, under the first of its behaviours. A click shows its episodes.",
            bars=tuple(bars),
            unit="episodes",
        )


def _segments(tally: FailureTally, kind: Any, words: str) -> Iterator[Segment]:
    for cause in CAUSES:
        count = tally.first[kind, cause]
        if count:
            to = found(("behaviour:", kind), ("cause:", cause), ("status:", _STATUS[words]))
            yield Segment(name=cause.replace("_", " "), count=count, to=to)


def _steps(counts: Counter[tuple[int, bool]]) -> Iterator[Bars]:
    """At which step the right way was first left."""
    if not counts:
        return
    bars = []
    for step in range(max(step for step, _ in counts) + 1):
        term = ("deviation>", str(_STEPS)) if step == _STEPS else ("deviation=", str(step + 1))
        segments = tuple(
            Segment(name=words, count=count, to=found(term, ("status:", _STATUS[words])))
            for success, words in ((False, "failed"), (True, "succeeded"))
            if (count := counts[step, success])
        )
        name = f"after step {_STEPS}" if step == _STEPS else f"step {step + 1}"
        bars.append((name, segments))
    yield Bars(
        title="At which step the right way was first left",
        note="An episode that succeeded may have left it too, and come back or taken another.",
        bars=tuple(bars),
        unit="episodes",
    )


def _places(read: _Read) -> Iterator[Variants]:
    """Where on the plan failed episodes left the right way, of the scenes with the most of them."""
    most = sorted(read.forks.items(), key=lambda item: (-_count(item[1]), item[0]))[:_SCENES]
    if most:
        more = f" The {_SCENES} scenes with the most of them." if len(read.forks) > _SCENES else ""
        yield Variants(
            title="Where failed episodes left the right way",
            note=f"A mark leads to the episodes that first left it there.{more}",
            variants=tuple(
                (f"{name} ({_count(forks)})", (_place(read, name, forks),)) for name, forks in most
            ),
        )


def _count(forks: Mapping[str, _Fork]) -> int:
    return sum(each.count for each in forks.values())


def _place(read: _Read, name: str, forks: Mapping[str, _Fork]) -> Block:
    try:
        scene = read.load(name)
    except NavloomError as error:
        return Prose(text=f"There is no plan of {name}: {error}", tone="quiet")
    marks = [
        MapMark(
            kind="deviation", at=spot, label=str(fork.count), to=_to_those(viewpoint, name, fork)
        )
        for viewpoint, fork in forks.items()
        for spot in spots_of(scene, [viewpoint])
    ]
    return SceneMap(scene=name, marks=tuple(marks))


def _to_those(viewpoint: str, scene: str, fork: _Fork) -> str:
    """The episode itself where there is one, else all that first went wrong there."""
    if fork.count == 1:
        return to_step(fork.first, fork.step)
    return found(("left_at=", viewpoint), ("scene=", scene), ("status:", "failed"))
