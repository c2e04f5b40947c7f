"""A navigation run as a whole, as blocks: the report's tables; what went wrong (VLN-MME E.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from navloom.errors import NavloomError
from navloom.evals.kinds import read_run_of
from navloom.evals.navigation.episode_map import to_step
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS
from navloom.evals.navigation.failure_cause import CAUSES
from navloom.evals.navigation.failures import Analysis, FailureTally, error_tables, tally_tags
from navloom.evals.navigation.scores import scores_for
from navloom.evals.navigation.shown_episodes import tags_of
from navloom.evals.navigation.tables import Took, run_tables
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
)
from navloom.evals.report.maps import spots_of
from navloom.evals.run_folder import fold_samples
from navloom.evals.run_scenes import run_scene
from navloom.scenes.scene import Scene

_SCENES = 6
"""Scenes on whose plans it is shown where episodes went wrong."""
_STEPS = 20
"""Steps that have a bar of their own."""
_NONE = Prose(text="No episode has ended yet.", tone="quiet")


@dataclass
class _Left:
    """An episode that left its right way: which, in which scene, how it ended."""

    id: str
    scene: str
    tagged: Analysis


@dataclass
class _Read:
    """What went wrong in a run, gathered of its lines one after another."""

    run: Path
    request: dict[str, Any]
    left: list[_Left] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Add a line of ``samples.jsonl``."""
        tagged = tags_of(line, self.load)
        if tagged is not None:
            self.left.append(_Left(line["id"], str(line["result"]["episode"]["scene"]), tagged))

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
    request = read_run_of(run, "navigate")["request"]
    scores, took = scores_for(request), Took()

    def add(line: dict[str, Any]) -> None:
        scores.add(line)
        took.add(line)

    fold_samples(run, add, "an episode")
    if not took.episodes:
        return [_NONE]
    return [Grid(table=table) for table in run_tables(request, scores.record(), took)]


def failures(run: Path) -> list[Block]:
    """What went wrong: behaviour by cause, at which step and where (VLN-MME E.2).

    Args:
        run: its folder; the lines are read one after another.

    Raises:
        RunError: the folder is no run of an evaluation, or is broken.
    """
    read = _Read(run, read_run_of(run, "navigate")["request"])
    fold_samples(run, read.add, "an episode")
    if not read.left:
        return [_NONE]
    tagged = [each.tagged for each in read.left]
    blocks: list[Block] = [*_behaviours(tagged)]
    blocks += [Grid(table=table) for table in error_tables(tagged)]
    blocks += _steps(tagged)
    blocks += _places(read)
    return blocks


def found(*terms: tuple[str, str]) -> str:
    """The address of the samples that all terms hold of: (``cause:``, ``region``)."""
    words = " ".join(f"{name}{_quoted(value)}" for name, value in terms)
    return f"samples?filter={quote(words, safe='')}"


def _quoted(value: str) -> str:
    plain = value.replace('"', "")
    return f'"{plain}"' if not plain or any(letter.isspace() for letter in plain) else plain


def _behaviours(tagged: Sequence[Analysis]) -> Iterator[Bars]:
    """Behaviours by cause, of failures and then of successes, on one scale."""
    bars, said = [], []
    for success, words in ((False, "failed"), (True, "succeeded")):
        tally = tally_tags(tagged, success=success)
        if tally.episodes:
            said.append(f"{tally.episodes} {words}")
        bars += [
            (f"{words}: {kind.replace('_', ' ')}", tuple(_segments(tally, kind, success)))
            for kind in BEHAVIOURS
            if tally.of(kind)
        ]
    if bars:
        yield Bars(
            title=f"Behaviours by cause: of {len(tagged)} episodes {', '.join(said)}",
            note="Each once, under the first of its behaviours. A click shows its episodes.",
            bars=tuple(bars),
            unit="episodes",
        )


def _segments(tally: FailureTally, kind: Any, success: bool) -> Iterator[Segment]:
    for cause in CAUSES:
        count = tally.first[kind, cause]
        if count:
            to = found(("behaviour:", kind), ("cause:", cause), ("status:", _status(success)))
            yield Segment(name=cause.replace("_", " "), count=count, to=to)


def _status(success: bool) -> str:
    return "ok" if success else "failed"


def _steps(tagged: Sequence[Analysis]) -> Iterator[Bars]:
    """At which step the right way was first left."""
    counts = Counter(
        (min(each.deviation.step, _STEPS), each.success) for each in tagged if each.deviation
    )
    if not counts:
        return
    bars = []
    for step in range(max(step for step, _ in counts) + 1):
        term = ("deviation>", str(_STEPS)) if step == _STEPS else ("deviation=", str(step + 1))
        segments = tuple(
            Segment(name=words, count=count, to=found(term, ("status:", _status(success))))
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
    by_scene: defaultdict[str, list[_Left]] = defaultdict(list)
    for each in read.left:
        if each.tagged.deviation is not None and not each.tagged.success:
            by_scene[each.scene].append(each)
    most = sorted(by_scene.items(), key=lambda item: (-len(item[1]), item[0]))[:_SCENES]
    if most:
        more = f" The {_SCENES} scenes with the most of them." if len(by_scene) > _SCENES else ""
        yield Variants(
            title="Where failed episodes left the right way",
            note=f"A mark leads to the episodes that first left it there.{more}",
            variants=tuple(
                (f"{name} ({len(left)})", (_place(read, name, left),)) for name, left in most
            ),
        )


def _place(read: _Read, name: str, left: Sequence[_Left]) -> Block:
    try:
        scene = read.load(name)
    except NavloomError as error:
        return Prose(text=f"There is no plan of {name}: {error}", tone="quiet")
    at: defaultdict[str, list[_Left]] = defaultdict(list)
    for each in left:
        if each.tagged.deviation is not None:
            at[each.tagged.deviation.at].append(each)
    marks = [
        MapMark(
            kind="deviation", at=spot, label=str(len(those)), to=_to_those(viewpoint, name, those)
        )
        for viewpoint, those in at.items()
        for spot in spots_of(scene, [viewpoint])
    ]
    return SceneMap(scene=name, marks=tuple(marks))


def _to_those(viewpoint: str, scene: str, those: Sequence[_Left]) -> str:
    """The episode itself where there is one, else all that first went wrong there."""
    fork = those[0].tagged.deviation
    if len(those) == 1 and fork is not None:
        return to_step(those[0].id, fork.step)
    return found(("left_at=", viewpoint), ("scene=", scene), ("status:", "failed"))
