"""Two trajectories of one episode compared: one map, the first difference, both transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import quote

from navloom.evals.navigation.episode_detail import (
    EpisodeView,
    goal_marks,
    map_options,
    open_episode,
    step_blocks,
    tag_grid,
    truth_route,
)
from navloom.evals.navigation.episode_display import LESS, NEITHER, action_text
from navloom.evals.navigation.metrics import METRICS
from navloom.evals.navigation.scores import EFFORT, format_metric, read_effort
from navloom.evals.report import blocks as ui
from navloom.evals.run_scenes import viewpoints_on_plan
from navloom.tools.navigation.step_records import NavStep

_COUNTED = (
    *("SR", "SR_stopped", "SR_end", "OSR", "early_stop", "late_stop"),
    *("SR_visible", "RGS", "collided", "SR_strict", "SR_telhop"),
)
_IDENTITY = ("scene", "start", "goals", "instruction")
_DRAWN = ("SPL", "NE", "nDTW", "steps")


def pairing() -> ui.Pairing:
    """Return how to pair episodes: equal id and task, bootstrapped by whole paths."""
    return ui.Pairing(
        identity=_identity,
        scores=_scores,
        what="an episode",
        less=LESS,
        neither=NEITHER,
        effort=frozenset({*EFFORT, "contacts"}),
        counted=frozenset(_COUNTED),
        cluster=_path,
        cluster_name="path",
        order=(*METRICS, *EFFORT),
        drawn=_DRAWN,
        said=format_metric,
        holds="episode and scores",
        beside=pair_detail,
    )


def _identity(line: ui.Line) -> Any:
    episode = line["result"]["episode"]
    return {key: episode[key] for key in _IDENTITY}


def _scores(line: ui.Line) -> Mapping[str, float | None]:
    scores = line["result"]["scores"]
    return {**{name: scores[name] for name in METRICS if name in scores}, **read_effort(line)}


def _path(line: ui.Line) -> Any:
    return line["result"]["scores"].get("cluster")


def pair_detail(a: Path, first: ui.Line, b: Path, second: ui.Line) -> ui.SampleDetail:
    """Return the page that compares one episode of two runs.

    Args:
        a: folder of the first run.
        first: its sample line.
        b: folder of the second run.
        second: its sample line of the same episode.

    Raises:
        RunError: a line is not a navigated episode.
    """
    one, other = open_episode(a, first), open_episode(b, second)
    parted = first_difference(one, other)
    ends = (("A", one), ("B", other))
    facts = [ui.Fact(mark, each.case.title, tone=_tone(each)) for mark, each in ends]
    if parted is None:
        facts.append(ui.Fact("they part", "never: both walks are the same"))
    else:
        value = f"at step {parted + 1}: {_did('A', one, parted)}; {_did('B', other, parted)}"
        to = f"pair/{quote(one.case.id, safe='')}?step={parted + 1}"
        facts.append(ui.Fact("they part", value, to=to))
    columns = tuple((_name(m, each), *_tags(m, each), _transcript(each)) for m, each in ends)
    blocks: tuple[ui.Block, ...] = (
        ui.Prose(title="Instruction", text=one.case.episode.instruction),
        ui.Facts(facts=tuple(facts)),
        _map(one, other, parted),
        ui.Columns(title="What was said and done", columns=columns),
    )
    return ui.SampleDetail(title=one.case.id, headline=_headline(one, other), blocks=blocks)


def first_difference(one: EpisodeView, other: EpisodeView) -> int | None:
    """Return the first step, from 0, at which two trajectories differ, or None."""
    steps = zip_longest(one.walk.steps, other.walk.steps)
    for number, (a, b) in enumerate(steps):
        if a is None or b is None or _deed(a) != _deed(b):
            return number
    return None


def _deed(step: NavStep) -> tuple[Any, ...]:
    return step.action.kind, step.move_target, step.missed


def _headline(one: EpisodeView, other: EpisodeView) -> str:
    well = (one.case.tagged.success, other.case.tagged.success)
    said = {(True, True): "both succeeded", (False, False): "both failed"}
    return said.get(well, "only A succeeded" if well[0] else "only B succeeded")


def _tone(looked: EpisodeView) -> Any:
    return "good" if looked.case.tagged.success else "bad"


def _step(looked: EpisodeView, number: int) -> NavStep | None:
    return looked.walk.steps[number] if number < len(looked.walk.steps) else None


def _did(mark: str, looked: EpisodeView, number: int) -> str:
    step = _step(looked, number)
    return f"{mark} has ended" if step is None else f"{mark} {action_text(step)}"


def _name(mark: str, looked: EpisodeView) -> ui.Prose:
    return ui.Prose(title=mark, text=looked.case.title)


def _tags(mark: str, looked: EpisodeView) -> Iterator[ui.Block]:
    tags = tag_grid(looked.case)
    if tags is not None:
        table = replace(tags.table, title=f"Tags of {mark}")
        yield replace(tags, table=table, to=tuple(to and f"{mark.lower()}/{to}" for to in tags.to))


def _transcript(looked: EpisodeView) -> ui.Transcript:
    said = tuple(
        ui.Utterance(
            f"step {number}",
            "\n".join(filter(None, (step.reply.strip(), f"→ {action_text(step)}"))),
            tone="bad" if step.faults else "plain",
        )
        for number, step in enumerate(looked.walk.steps, 1)
    )
    return ui.Transcript(title="Replies", said=said, private=True)


def _map(one: EpisodeView, other: EpisodeView, parted: int | None) -> ui.SceneMap:
    case, scene = one.case, one.scene
    frames = tuple(_frames(one, other, parted))
    if scene is None:
        note = f"There is no plan of {case.episode.scene}: {one.problem}"
        return ui.SceneMap(title="Both walks", note=note, scene=case.episode.scene, frames=frames)
    truth = truth_route(case, one.walk, scene)
    marks = [*goal_marks(case, scene)]
    for mark, each in (("A", one), ("B", other)):
        marks += [ui.MapMark("stop", s, f"{mark} ended") for s in each.stands.spots[-1:]]
    step = None if parted is None else _step(one, parted) or _step(other, parted)
    if step is not None and step.viewpoint is not None:
        spots = viewpoints_on_plan(scene, [step.viewpoint])
        marks += [ui.MapMark("other_way", spot, "they part") for spot in spots]
    return ui.SceneMap(
        title="Both walks",
        scene=case.episode.scene,
        routes=(
            *([truth] if truth else []),
            ui.MapRoute("A", "walk", one.stands.line),
            ui.MapRoute("B", "other", other.stands.line),
        ),
        marks=tuple(marks),
        tracks=(
            ui.Track("A", "walk", one.stands.track()),
            ui.Track("B", "other", other.stands.track()),
        ),
        frames=frames,
    )


def _frames(one: EpisodeView, other: EpisodeView, parted: int | None) -> Iterator[ui.MapFrame]:
    for number in range(max(len(one.walk.steps), len(other.walk.steps))):
        steps = _step(one, number), _step(other, number)
        title = f"Step {number + 1}: {_did('A', one, number)}; {_did('B', other, number)}"
        columns = tuple(
            (
                ui.Prose(text=mark),
                *(step_blocks(step, None, f" of {mark}") if step is not None else ()),
            )
            for mark, step in zip("AB", steps, strict=True)
        )
        yield ui.MapFrame(
            at=number,
            title=title + (" (they part)" if number == parted else ""),
            options=tuple(_options(one, other, number)),
            heading=steps[0].heading if steps[0] is not None else None,
            blocks=(ui.Columns(columns=columns),),
            tone="bad" if number == parted else "plain",
        )


def _options(one: EpisodeView, other: EpisodeView, number: int) -> Iterator[ui.MapOption]:
    """Yield the candidates of both trajectories; one set if they share the viewpoint."""
    a, b = _step(one, number), _step(other, number)
    if a is not None and b is not None and a.viewpoint == b.viewpoint:
        for option in map_options(one.scene, a, b.move_target):
            yield replace(option, right=False, chosen=option.chosen or option.right)
        return
    for mark, looked, step in (("A", one, a), ("B", other, b)):
        if step is not None:
            for option in map_options(looked.scene, step, None):
                yield replace(option, number=f"{mark}{option.number}")
