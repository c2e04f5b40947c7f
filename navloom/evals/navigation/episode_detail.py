"""One episode as a person looks at it (VLN-MME E.1): scores, what went wrong, the walk by steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navloom.errors import NavloomError, RunError
from navloom.evals.navigation.episode_facts import score_facts, score_meanings, tag_grid
from navloom.evals.navigation.episode_map import (
    FAULT,
    Stands,
    driven_of,
    goal_marks,
    parted_words,
    truth_of,
    walk_marks,
)
from navloom.evals.navigation.episode_steps import map_options, step_blocks, transcript
from navloom.evals.navigation.episode_strip import Eyes
from navloom.evals.navigation.failure_behaviour import metres_to_goal, reference_of
from navloom.evals.navigation.shown_episodes import (
    Case,
    action_of,
    pointed_notes,
    read_case,
    tags_of,
)
from navloom.evals.navigation.walked import walked_by
from navloom.evals.report.blocks import Block, Detail, Frame, Grid, MapRoute, Prose, SceneMap, Track
from navloom.evals.report.document import NOTHING, Table
from navloom.evals.run_folder import read_run
from navloom.evals.run_scenes import run_scene
from navloom.scenes.scene import Scene
from navloom.tools.navigation.steps import Walk


@dataclass(frozen=True)
class Looked:
    """An episode with all that is needed to look at it.

    Attributes:
        case: the episode and how it went.
        walk: its walk.
        scene: its scene, with the hops that the run goes by; None where it cannot be loaded.
        problem: why there is none.
        eyes: what was to be seen.
        stands: where the body stood; none without a scene.
    """

    case: Case
    walk: Walk
    scene: Scene | None
    problem: str
    eyes: Eyes
    stands: Stands

    @property
    def reference(self) -> tuple[str, ...]:
        """The right way; as the episode has it where there is no scene."""
        if self.scene is None:
            return tuple(self.case.episode.path)
        return reference_of(self.walk, self.case.episode, self.scene)


def look(run: Path, line: Mapping[str, Any], *, renders: bool = False) -> Looked:
    """Read a line of a run.

    Args:
        run: the run's folder.
        line: a line of its ``samples.jsonl``.
        renders: whether views that nobody was shown are made.

    Raises:
        RunError: it is no navigated episode.
    """
    said, problem = read_run(run), ""
    scene: Scene | None = None

    def load(name: str) -> Scene:
        return walked_by(said["request"])(run_scene(run, name))

    tagged = tags_of(line, load)
    case = None if tagged is None else read_case(line, tagged)
    if case is None:
        raise RunError(
            f"{run}: the sample '{str(line.get('id'))[:60]}' has not the form of a navigated"
            " episode: the run was made by another version or changed by other hands"
        )
    try:
        scene = load(case.episode.scene)
    except NavloomError as error:
        problem = str(error)
    walk = Walk.read(case.result)
    stands = Stands((), (), ()) if scene is None else Stands.of(walk, scene)
    return Looked(case, walk, scene, problem, Eyes(run, said, scene, renders), stands)


def detail(run: Path, line: Mapping[str, Any], *, renders: bool = False) -> Detail:
    """What is looked at of an episode; arguments and errors as :func:`look` has them."""
    looked = look(run, line, renders=renders)
    case = looked.case
    blocks: list[Block] = [
        Prose(title="Instruction", text=case.episode.instruction),
        score_facts(case),
        score_meanings(case),
    ]
    tags = tag_grid(case)
    if tags is not None:
        blocks.append(tags)
    blocks += [episode_map(looked), walk_table(looked)]
    return Detail(title=case.id, headline=case.title, blocks=tuple(blocks))


def episode_map(looked: Looked) -> SceneMap:
    """The walk on its plan, step by step; without a scene the steps alone."""
    case, walk, scene, stands = looked.case, looked.walk, looked.scene, looked.stands
    note = f"There is no plan of {case.episode.scene}: {looked.problem}" if scene is None else ""
    frames = (*_frames(looked), _ended(looked))
    if scene is None:
        return SceneMap(title="Walk", note=note, scene=case.episode.scene, frames=frames)
    beside = (truth_of(case, walk, scene), driven_of(case, scene))
    walked = MapRoute(name="walk", style="walk", points=stands.line)
    routes = (*(each for each in beside if each is not None), walked)
    return SceneMap(
        title="Walk",
        scene=case.episode.scene,
        routes=routes,
        marks=(*goal_marks(case, scene), *walk_marks(case, walk, stands, scene)),
        tracks=(Track(name="agent", style="walk", points=stands.track()),),
        frames=frames,
    )


def _frames(looked: Looked) -> Iterator[Frame]:
    fork, parted = looked.case.tagged.deviation, parted_words(looked.case)
    for number, step in enumerate(looked.walk.steps):
        deviates = fork is not None and fork.step == number
        right = fork.expected if fork is not None and deviates else None
        yield Frame(
            at=number,
            title=f"Step {number + 1}: {action_of(step)}" + (f" ({parted})" if deviates else ""),
            options=tuple(map_options(looked.scene, step, right)),
            heading=step.heading,
            strip=looked.eyes.strip(step),
            blocks=(*step_blocks(step, right), *_pointed(looked, number)),
            tone="bad" if (deviates and parted == FAULT) or step.faults else "plain",
        )


def _ended(looked: Looked) -> Frame:
    """The end, with what it is worth."""
    case, walk = looked.case, looked.walk
    moved = bool(walk.steps) and walk.steps[-1].goes_to is not None and bool(walk.poses)
    at, heading = walk.poses[-1] if moved else ("", None)
    return Frame(
        at=len(walk.steps),
        title=f"End ({walk.end.replace('_', ' ') or 'not said'}): {case.title}",
        heading=heading,
        strip=looked.eyes.after(at, heading) if moved else (),
        blocks=(score_facts(case),),
        tone="good" if case.tagged.success else "bad",
    )


def _pointed(looked: Looked, number: int) -> tuple[Block, ...]:
    """What was named at the end stands with the last step."""
    notes = pointed_notes(looked.case) if number == len(looked.walk.steps) - 1 else ()
    return (transcript(notes),) if notes else ()


def walk_table(looked: Looked) -> Grid:
    """The whole walk beside the right way, as numbers."""
    case, walk, scene = looked.case, looked.walk, looked.scene
    reference, rows = looked.reference, []
    for number in range(max(len(walk.viewpoints), len(reference))):
        at = walk.viewpoints[number] if number < len(walk.viewpoints) else ""
        heading = walk.headings[number] if at else None
        to_goal = math.inf if scene is None or not at else metres_to_goal(at, case.episode, scene)
        rows.append((
            str(number),
            str(walk.step_at(number - 1) + 1) if at and number else "",
            at,
            NOTHING if heading is None else f"{math.degrees(heading):.0f}°",
            f"{to_goal:.2f}" if math.isfinite(to_goal) else NOTHING,
            reference[number] if number < len(reference) else "",
        ))  # fmt: skip
    head = ("hop", "step", "stood on", "left looking", "metres to the goal", "right way")
    note = "Viewpoints in their order; metres are over the graph to the nearest goal."
    table = Table("Walk and right way", note, head, tuple(rows))
    return Grid(table=table, folded="Walk and right way, viewpoint by viewpoint")
