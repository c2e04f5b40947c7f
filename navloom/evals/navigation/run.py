"""Evaluation of navigators: every episode of a task through one agent, as a run.

``evaluate`` plans one sample an episode and epoch and takes them through the engine of
:mod:`navloom.evals.engine`: kill it at any moment, the same command goes on in the middle of an
episode. Each sample makes its own simulator over a scene that is loaded once; samples run scene
after scene, so that memory stays flat however many there are.

A line's ``status`` is ``ok`` where the episode is a success (VLN-MME 4: it ended strictly within
3 m of a goal) and ``failed`` where it is not. An agent whose reply could not be read to the end
never counts as one that stopped: its scores of success are 0 wherever it stands.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from navloom.errors import SceneError, UsageError
from navloom.evals.captions.run import caption_file
from navloom.evals.engine import run_batch
from navloom.evals.navigation.failure_examples import Example, choose, read_examples
from navloom.evals.navigation.request import KIND, EvalRequest
from navloom.evals.navigation.scores import RunScores, read_scores, scored
from navloom.evals.navigation.subset import load_subset
from navloom.evals.run_folder import RunFolder
from navloom.evals.sample import Sample, sample_seed
from navloom.evals.session import Session
from navloom.evals.summary import Summary
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.evals.tasks.registry import load_task
from navloom.graphs.navigation import navigator
from navloom.models.registry import model_of
from navloom.models.spec import read_spec
from navloom.scenes.distances import per_scene
from navloom.scenes.files import read_bytes
from navloom.scenes.uri import list_scenes, scene_of
from navloom.sim.captions import captions_for
from navloom.sim.media import FolderMedia
from navloom.sim.protocol import Simulator
from navloom.sim.registry import get_simulator

__all__ = [
    "EvalJob",
    "EvalPlan",
    "EvalRequest",
    "EvalSummary",
    "aevaluate",
    "evaluate",
    "plan",
]

_COPIED = (
    "cot",
    "reflect",
    "plan",
    "act",
    "dialogue",
    "oracle",
    "oracle_budget",
    "max_questions",
    "max_steps",
    "max_reprompts",
    "max_revisions",
    "views",
)
"""What the navigator's context takes from the request as it stands."""
_MOST_NAMED = 5
"""Scenes that a note names."""


@dataclass(frozen=True)
class EvalSummary(Summary):
    """A run's totals with what its trajectories score; ``summary.json`` has the same keys."""

    scores: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EvalPlan:
    """What an evaluation will do.

    Attributes:
        samples: one an episode and epoch, in the dataset's order, epoch after epoch.
        episodes: by sample id.
        scenes: the URI each scene is loaded by, by its portable name.
        notes: what a reader must know of the dataset and its captions.
        record: what decides the outcome besides the request's own words, by content.
        failures: of another run, to choose examples from.
    """

    samples: list[Sample]
    episodes: dict[str, Episode]
    scenes: Mapping[str, str]
    notes: tuple[str, ...]
    record: dict[str, Any]
    failures: tuple[Example, ...] = ()


@dataclass(frozen=True)
class EvalJob:
    """How :func:`run_batch` runs one episode."""

    request: EvalRequest
    plan: EvalPlan
    media: Path | None = None
    """Where pictures are kept, where the simulator has any."""
    touches: bool = False
    """Whether the simulator reports contacts."""

    @property
    def model(self) -> str:
        """The model whose calls are counted where a reply does not say."""
        return self.request.thinks_with

    def build(self, checkpointer: Any) -> Any:
        """The navigator's graph."""
        return navigator.build_graph(checkpointer)

    def input(self, sample: Sample) -> dict[str, Any]:
        """The episode; goals and path are never shown to the navigator."""
        episode = self.plan.episodes[sample.id]
        return {
            "seed": sample.seed,
            "instruction": episode.instruction,
            "start": episode.start,
            "heading": episode.heading,
            "goals": list(episode.goals),
            "path": list(episode.path),
        }

    def context(self, sample: Sample, model: Any = None) -> navigator.Context:
        """The navigator's context, which makes its simulator; ``model`` stands in for all."""
        request, settings = self.request, self.request.settings
        own = {name: getattr(request, name) for name in _COPIED}
        return navigator.Context(
            simulator=partial(simulator_of, request, self.plan.scenes[sample.scene]),
            model=model or model_of(request.thinks_with),
            oracle_model=model or (request.oracle_model and model_of(request.oracle_model)),
            memory=settings.memory,
            show_path=settings.show_path,
            failures=self._failures(sample),
            media=None if self.media is None else FolderMedia(self.media),
            **own,
        )

    def _failures(self, sample: Sample) -> tuple[str, ...]:
        count = self.request.few_shot_failures
        return choose(self.plan.failures, count, [self.plan.episodes[sample.id]]) if count else ()

    def record(self, sample: Sample, state: Mapping[str, Any]) -> dict[str, Any]:
        """How the episode ended, what it scores, and what went wrong."""
        episode = self.plan.episodes[sample.id]
        scene = scene_of(self.plan.scenes[sample.scene])
        return scored(episode, state, scene, touches=self.touches)


def simulator_of(request: EvalRequest, uri: str) -> Simulator:
    """A simulator over a scene, as a request asks; cheap, since what a scene gives is kept.

    Raises:
        SceneError: the scene cannot be loaded.
        SimulatorError: there is no such backend, or the caption cache is broken.
    """
    scene = scene_of(uri)
    if request.backend != "graph" and request.captions is None:
        return get_simulator(request.backend, scene)
    kept = caption_file(request.captions, scene)
    words = per_scene(scene, f"captions:{kept}", lambda: captions_for(scene, kept))
    return get_simulator(request.backend, scene, captions=words)


def plan(request: EvalRequest) -> EvalPlan:
    """Every sample that a request means.

    Raises:
        DataError: a file of the dataset is missing or broken.
        SceneError: a scan is missing.
        UsageError: no such task, split, subset or agent.
    """
    data = load_task(
        request.task,
        None if request.data is None else Path(request.data),
        request.split,
        **dict(request.options),
    )
    subset: dict[str, Any] = {}
    whole = {"count": len(data.episodes), "sha256": _digest(data.episodes)}
    if request.subset is not None:
        index = load_subset(request.subset)
        data, subset = index.pick(data), {"subset_ids": _hashed(index.ids)}
    _check_scenes(data)
    episodes: dict[str, Episode] = {}
    samples = []
    for epoch in range(1, request.epochs + 1):
        for episode in data.episodes:
            name = episode.id if request.epochs == 1 else f"{episode.id}-e{epoch}"
            episodes[name] = episode
            seed = sample_seed(request.seed, name)
            samples.append(Sample(name, seed, episode.scene, epoch - 1, epoch=epoch - 1))
    record = {
        "split": data.split,
        "episodes": whole,
        "scenes": _scenes(data),
        **subset,
        **_captions(request),
    }
    failures: tuple[Example, ...] = ()
    if request.failures_from is not None:
        failures = read_examples(request.failures_from)
        record["failure_examples"] = _hashed([example.text for example in failures])
    notes = (*data.notes, *_without_captions(request.captions, data))
    return EvalPlan(samples, episodes, data.scenes, notes, record, failures)


def _hashed(texts: Sequence[str]) -> dict[str, Any]:
    whole = sha256(json.dumps(texts).encode(errors="surrogatepass")).hexdigest()
    return {"count": len(texts), "sha256": whole}


def _digest(episodes: Sequence[Episode]) -> str:
    whole = sha256()
    for episode in episodes:
        whole.update(episode.model_dump_json().encode())
    return whole.hexdigest()


def _scenes(data: TaskData) -> dict[str, Any]:
    """The places themselves: another connectivity is another run."""
    names = sorted({episode.scene for episode in data.episodes})
    return _hashed([scene_of(data.scenes[name]).model_dump_json() for name in names])


def _check_scenes(data: TaskData) -> None:
    """Name a missing scan now: thousands of errors, one an episode, would say it too late."""
    for name in sorted({episode.scene for episode in data.episodes}):
        if name not in data.scenes:
            raise SceneError(f"{data.task} {data.split} has episodes in {name}, and no such scene")
        list_scenes(data.scenes[name])


def _captions(request: EvalRequest) -> dict[str, Any]:
    if request.captions is None:
        return {}
    path = Path(request.captions)
    files = sorted(path.glob("captions/*.json")) if path.is_dir() else [path]
    whole = sha256()
    try:
        for file in files:
            whole.update(file.name.encode() + b"\0" + read_bytes(file))
    except SceneError as error:
        raise UsageError(f"--captions {error}") from error
    if not files:
        raise UsageError(
            f"--captions {path} holds no captions: give a file, or a run of `navloom caption`"
        )
    return {"caption_files": {"count": len(files), "sha256": whole.hexdigest()}}


def _without_captions(captions: str | None, data: TaskData) -> list[str]:
    """Which scenes a run of captions says nothing about."""
    scenes = sorted({episode.scene for episode in data.episodes})
    none = [] if captions is None else [s for s in scenes if caption_file(captions, s) is None]
    if not none:
        return []
    more = f" and {len(none) - _MOST_NAMED} more" if len(none) > _MOST_NAMED else ""
    return [
        f"--captions {captions} has no captions of {', '.join(none[:_MOST_NAMED])}{more}"
        f" ({len(none)} of {len(scenes)} scenes): their own are used there."
    ]


async def aevaluate(
    request: EvalRequest,
    out: Path | str,
    session: Session | None = None,
) -> EvalSummary:
    """Make a run, or go on with one that was stopped.

    Args:
        request: what to evaluate.
        out: the run's folder.
        session: how to go through it; one of its own unless given.

    Raises:
        DataError: a file of the dataset is missing or broken.
        RunError: the folder cannot be used.
        SceneError: a scan is missing.
        UsageError: a sample is not in the run, or the request makes no sense.
        ModelError: a model cannot be named or used.
    """
    session = session or Session()
    # Whatever is wrong with the request is said before a folder is made or claimed for it.
    session.check_models(request.thinks_with, request.oracle_model)
    if read_spec(request.thinks_with).bare == "builtin/human":
        # A person answers one question at a time.
        session = replace(session, max_connections=1)
    made = plan(request)
    touches = _reports_contacts(request, made)
    session.picked(made.samples)
    asked = {**request.record(), **made.record}
    place = request.where()
    with RunFolder(out, kind=KIND, request=asked, seed=request.seed, where=place) as folder:
        for line in made.notes:
            session.display.note(line)
        job = EvalJob(request, made, folder.path / "media", touches)
        summary = await run_batch(folder, made.samples, job, session)
        return _with_scores(summary, read_scores(folder.path), folder)


def _reports_contacts(request: EvalRequest, made: EvalPlan) -> bool:
    """Whether the simulator does; also the moment when a wrong name of one is found out."""
    simulator = simulator_of(request, made.scenes[made.samples[0].scene])
    simulator.close()
    return "collide" in simulator.capabilities


def _with_scores(summary: Summary, scores: RunScores, folder: RunFolder) -> EvalSummary:
    held = {each.name: getattr(summary, each.name) for each in fields(Summary)}
    whole = EvalSummary(**held, scores=scores.record())
    folder.write_summary(asdict(whole))
    return whole


def evaluate(request: EvalRequest, out: Path | str, session: Session | None = None) -> EvalSummary:
    """:func:`aevaluate` for callers without an event loop: the same arguments and errors."""
    return asyncio.run(aevaluate(request, out, session))
