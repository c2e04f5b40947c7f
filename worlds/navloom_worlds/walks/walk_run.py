"""Evaluation run of agent ``human``: walks of raters, with lines, checkpoints and scores.

The run is the folder ``walks`` of the study. A sample is an episode and the rater who walks it,
whose pseudonym is in the line as ``rater``. If several walk one episode, ids end in -e1, -e2, ...
like epochs. After a kill a walk resumes at the last step, or within half a second of it in
continuous motion.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from langgraph.runtime import RunControl

from navloom.errors import RunError, UsageError
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.navigation.run import EvalJob, EvalPlan, finish
from navloom.evals.people.study_folder import BY_LOT, WALKS, PeopleStudy
from navloom.evals.progress import Summary
from navloom.evals.run_folder import RunFolder, line_form, read_run
from navloom.evals.runner import run_batch
from navloom.evals.sample_runner import run_sample
from navloom.evals.session import Sample, sample_seed
from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.files import complete_lines, encode_line, parse_line, write_run_file
from navloom.graphs.agent_graph import open_checkpoints, started_threads
from navloom.graphs.navigation.human_input import HumanNavigator
from navloom.models.model_call import CallSettings
from navloom.scenes.bodies import SETTLE_M, FloorPose, resolve_body
from navloom.scenes.scene import Scene
from navloom.scenes.scene_uri import SceneLookup, get_scene
from navloom_worlds.motion.body_field import body_field
from navloom_worlds.motion.collision_motion import mover_of
from navloom_worlds.rendering.embedded import can_render

PRACTICE = "demo:flat"
"""Scene of the practice."""
Motion = Literal["hops", "continuous"]
MOST_STEPS = 1_000
"""Step limit of continuous motion, where time is the actual limit."""
_TAKEN = ("task", "body", "physics", "collision_threshold", "waypoints", "max_steps")
"""Request fields that walks take over from the run of their episodes."""


def walk_plan(people: PeopleStudy) -> EvalPlan:
    """Return the evaluation plan that a study's raters walk.

    Args:
        people: the study; its items are episodes, and its form gives the kind of motion.
    """
    motion = people.form.motion
    source = str(people.file.request.get("sources", [""])[0])
    episodes = {
        name: Episode.model_validate(each.task["episode"]) for name, each in people.items.items()
    }
    request = _request(source, people.file.seed, motion)
    samples, walked = list[Sample](), dict[str, Episode]()
    counts = Counter(each.id for each in episodes.values())
    for rater, item, turn in _turns(people):
        episode = episodes[item]
        name = episode.id if counts[episode.id] == 1 else f"{episode.id}.{item}"
        name = name if people.form.overlap == 1 else f"{name}-e{turn + 1}"
        columns = {"rater": rater, "item": item}
        seed = sample_seed(request.seed, name)
        samples.append(Sample(name, seed, episode.scene, turn, columns, epoch=turn))
        walked[name] = episode
    told = [episode.model_dump(mode="json") for episode in walked.values()]
    whole = sha256(encode_line({"episodes": told})).hexdigest()
    record = {"split": _split(source), "episodes": {"count": len(walked), "sha256": whole}}
    return EvalPlan(
        request=request,
        samples=samples,
        record=record,
        episodes=walked,
        scenes=_SceneUris(source),
        touches=request.physics != "off",
    )


def _turns(people: PeopleStudy) -> Iterator[tuple[str, str, int]]:
    """Yield raters and their items, with the number of earlier raters of each item."""
    taken: Counter[str] = Counter()
    for rater in people.file.raters:
        for item in rater.items:
            yield (rater.name, item, taken[item])
            taken[item] += 1


def _request(source: str, seed: int, motion: Motion) -> EvalRequest:
    """Return the request of an agent's run with its episodes and bodies, for a person."""
    given: dict[str, Any] = {"task": "scene", "max_steps": 30}
    said = _run_of(source)
    if said.get("kind") == EvalRequest.KIND:
        asked = EvalRequest.read(source)
        given = {name: getattr(asked, name) for name in _TAKEN}
    elif not Path(source).exists():
        given["options"] = {"spec": source}
    request = EvalRequest(**given, seed=seed, agent="human", views=0)
    if motion == "hops":
        return request
    return replace(request, motion=motion, physics="slide", max_steps=MOST_STEPS)


def _split(source: str) -> str:
    said = _run_of(source).get("request") or {}
    return str(said.get("split") or "generated")


def _run_of(source: str) -> dict[str, Any]:
    return read_run(source) if (Path(source) / "run.json").is_file() else {}


def is_walkable(scene: Scene, episode: Episode, motion: Motion) -> bool:
    """Check whether a person's body reaches a goal from the start, by driving if it must drive.

    Hops follow the graph itself, which comes closer to items than a body does.
    """
    if motion == "hops":
        return True
    body = resolve_body(None)
    place = scene.viewpoint_by_id[episode.start].ground
    stand = mover_of(scene, body).settled(FloorPose(place, episode.heading), reach=SETTLE_M)
    goals = [scene.viewpoint_by_id[goal].ground for goal in episode.goals]
    return stand is not None and (
        body_field(scene, body).way(stand.position, goals, driven=True) is not None
    )


class _SceneUris(dict[str, str]):
    """URI of each scene, resolved on demand: a study may have a hundred."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._names = SceneLookup(None if Path(source).exists() else source)

    def __missing__(self, name: str) -> str:
        self[name] = self._names.load(name).origin
        return self[name]


def prepare_study(people: PeopleStudy) -> None:
    """Create the missing runs of a new study of walks: the raters' run, and a random baseline.

    Raises:
        UsageError: a scene cannot be rendered, since it has no geometry.
        SceneError: a scene is missing.
        RunError: a folder cannot be used.
    """
    if not (people.path / WALKS / "run.json").exists():
        create_run(people)
    if not (people.path / BY_LOT / "summary.json").exists():
        run_random_walks(people)


def create_run(people: PeopleStudy) -> Path:
    """Create the run of a new study, so that it can be inspected before anybody walks.

    Returns:
        Its folder.

    Raises:
        UsageError: a scene cannot be rendered, since it has no geometry.
        SceneError: a scene is missing.
    """
    plan, path = walk_plan(people), people.path / WALKS
    for name in sorted({each.scene for each in plan.samples}):
        if not can_render(get_scene(plan.scenes[name])):
            raise UsageError(
                f"{name} cannot be walked by people: there is no geometry to be seen (or embreex"
                " is not installed): give homes, or HM3D with its meshes"
            )

    async def made() -> None:
        walks = WalkRun(path, plan)
        await walks.open()
        await walks.close()

    asyncio.run(made())
    return path


def run_random_walks(people: PeopleStudy) -> Path:
    """Run a random baseline on a new study's episodes, to compare people's success rate with.

    It is a run of agent ``random``: a random candidate at each hop, with the step limit of the
    run that the episodes come from.

    Returns:
        Its folder.

    Raises:
        RunError: the folder cannot be used.
    """
    walked, path = walk_plan(people), people.path / BY_LOT
    source = str(people.file.request.get("sources", [""])[0])
    request = replace(_request(source, people.file.seed, "hops"), agent="random")
    samples = [replace(each, columns={}) for each in walked.samples]
    touches = request.physics != "off"
    plan = replace(walked, request=request, samples=samples, touches=touches)

    async def drawn() -> None:
        kept, where = {**request.record(), **plan.record}, request.where()
        seed = request.seed
        with RunFolder(path, kind=request.KIND, request=kept, seed=seed, where=where) as folder:
            summary = await run_batch(folder, samples, EvalJob(plan))
            folder.write_summary(replace(summary, found=finish(plan, path)).record())

    asyncio.run(drawn())
    return path


@dataclass(frozen=True)
class WalkJob(EvalJob):
    """Evaluation job in which a person replaces the model.

    Attributes:
        persons: current persons by sample.
    """

    persons: dict[str, HumanNavigator] = field(default_factory=dict)

    def person(self, sample: Sample) -> HumanNavigator | None:
        """Return the person who replaces the model."""
        return self.persons.get(sample.id)

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of the sample's line; seconds are the person's, without pauses."""
        said = super().record(sample, state)
        return {**said, "seconds": round(state.get("seconds") or 0.0, 3)}


class WalkRun:
    """Run of a study's raters, held open by the process that serves them.

    Args:
        path: the run's folder.
        plan: the plan of the walks.
    """

    def __init__(self, path: Path, plan: EvalPlan) -> None:
        self.path, self.plan = path, plan
        self._samples = {
            (str(each.columns["rater"]), str(each.columns["item"])): each for each in plan.samples
        }
        self._job = WalkJob(plan)
        self._opened = AsyncExitStack()
        self._began = time.monotonic()
        self._graph: Any = None

    async def open(self) -> None:
        """Lock and open the folder.

        Raises:
            RunError: another process has locked it, or it belongs to another study.
        """
        async with AsyncExitStack() as stack:
            self._folder = self._hold()
            stack.callback(lambda: self._folder.close())
            self._saver = await stack.enter_async_context(
                open_checkpoints(self._folder.checkpoints)
            )
            self._graph = self._job.build(self._saver)
            self._begun = await started_threads(self._saver)
            for name in sorted(self._begun & self._folder.finished):
                # The process was killed between writing the line and deleting its thread.
                await self._saver.adelete_thread(name)
            self._begun -= self._folder.finished
            self._opened = stack.pop_all()

    def _hold(self) -> RunFolder:
        request = self.plan.request
        asked = {**request.record(), **self.plan.record}
        return RunFolder(
            self.path, kind="navigate", request=asked, seed=request.seed, where=request.where()
        )

    async def close(self) -> None:
        """Write the summary and release the folder."""
        if self._graph is not None:
            self._summarise()
        await self._opened.aclose()

    @property
    def motion(self) -> Motion:
        """Kind of motion."""
        motion: Motion = self.plan.request.motion
        return motion

    @cached_property
    def practice(self) -> EvalPlan:
        """Practice episode for learning the keys, which is not part of the run."""
        made = load_task("scene", spec=PRACTICE, n=1, kind="fine")
        (episode,) = made.episodes
        request = replace(self.plan.request, task="scene", options={}, body=None)
        sample = Sample(episode.id, 0, episode.scene)
        return EvalPlan(
            request=request,
            samples=[sample],
            episodes={sample.id: episode},
            scenes=made.scenes,
            touches=self.plan.touches,
        )

    async def walk_practice(self, person: HumanNavigator) -> dict[str, Any]:
        """Run the practice with a person; return its line, which is not written to a file."""
        (sample,) = self.practice.samples
        job = WalkJob(self.practice, {sample.id: person})
        return await run_sample(job, sample, job.build(None), settings=CallSettings())

    def sample(self, rater: str, item: str) -> Sample:
        """Return the sample of a rater and an item.

        Raises:
            UsageError: the item is not assigned to the rater.
        """
        found = self._samples.get((rater, item))
        if found is None:
            raise UsageError(f"{rater} is not asked to walk '{item[:80]}'")
        return found

    def done(self, sample: Sample) -> bool:
        """Check whether a sample is finished."""
        return sample.id in self._folder.finished

    async def seconds(self, sample: Sample) -> float:
        """Return the earlier duration of a sample in seconds."""
        if sample.id not in self._begun:
            return 0.0
        there = await self._graph.aget_state({"configurable": {"thread_id": sample.id}})
        return float(there.values.get("seconds") or 0.0)

    async def walk(
        self, sample: Sample, person: HumanNavigator, control: RunControl | None = None
    ) -> dict[str, Any]:
        """Run a sample with a person to its end, from where it was interrupted.

        Args:
            sample: an unfinished sample.
            person: the person.
            control: can drain the run from outside, at its next step.

        Returns:
            The written line.

        Raises:
            GraphDrained: it was drained; the same call resumes it. Likewise StoppedError, which
                a person who leaves raises.
            RunError: it cannot be written, or it failed; the message is one line.
        """
        self._job.persons[sample.id] = person
        resumed = sample.id in self._begun
        self._begun.add(sample.id)
        try:
            line = await run_sample(
                self._job, sample, self._graph,
                settings=CallSettings(), control=control, resumed=resumed,
            )  # fmt: skip
        finally:
            del self._job.persons[sample.id]
        if line["status"] == "error":
            raise RunError(f"{sample.id}: {line['message']}")
        self._folder.add_sample(line)
        await self._saver.adelete_thread(sample.id)
        self._begun.discard(sample.id)
        await asyncio.to_thread(self._summarise)
        return line

    def _summarise(self) -> None:
        folder = self._folder
        left = len({each.id for each in self.plan.samples} - folder.finished)
        summary = Summary.of(
            folder.tally, samples=len(self.plan.samples), left=left, model="builtin/human",
            stopped=left > 0, seconds=time.monotonic() - self._began, limit=None,
        )  # fmt: skip
        found = finish(self.plan, self.path)
        folder.write_summary(replace(summary, found=found).record())

    async def forget(self, rater: str) -> None:
        """Delete all walks of a rater who withdraws."""
        mine = {each.id for (name, _), each in self._samples.items() if name == rater}
        for name in sorted(mine & self._begun):
            await self._saver.adelete_thread(name)
            self._begun.discard(name)
        if mine & self._folder.finished:
            file = self.path / "samples.jsonl"
            form = line_form(self.path, file.name)
            kept = [
                line
                for place, line in complete_lines(file)
                if line and parse_line(line, file, place.number, form)["id"] not in mine
            ]
            self._folder.close()
            write_run_file(file, b"".join(kept))
            self._folder = self._hold()
            self._summarise()
